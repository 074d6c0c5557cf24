/* SPDX-License-Identifier: Apache-2.0
 *
 * What the orders are worth on a suite, and what they cost: the train ticket shop in memory, within
 * several budgets of runs with faults, over 20 seeds. Prints the table of docs/search.md, then figures.
 * Exit code 0 whatever they are: a benchmark measures, tests/unit/test_orders.c judges. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "figures.h"
#include "support/ticket_lab.h"

enum { SEEDS = 20, BUDGETS = 6, REPEATS = 15, LONG = 2000 };

static const uint32_t budgets[BUDGETS] = {100, 150, 200, 300, 534, 1000};

struct sample {
    double sum, squares;
};

static void add(struct sample *s, double x)
{
    s->sum += x;
    s->squares += x * x;
}

static void print_row(const char *order, const char *what, const struct sample *samples)
{
    printf("| `%s` | %s |", order, what);
    for (int i = 0; i < BUDGETS; i++) {
        double mean = samples[i].sum / SEEDS, variance = samples[i].squares / SEEDS - mean * mean;
        printf(" %.1f ± %.1f |", mean, sqrt(variance > 0 ? variance : 0));
    }
    printf("\n");
}

static void compare(struct ticket_lab *t)
{
    printf("| order | runs |");
    for (int i = 0; i < BUDGETS; i++)
        printf(" %u |", (unsigned)budgets[i]);
    printf("\n");
    for (uint32_t order = 0; order < order_count; order++) {
        struct sample failures[BUDGETS] = {0}, paths[BUDGETS] = {0};
        for (uint32_t seed = 0; seed < SEEDS; seed++) {
            ticket_lab_begin(t, order_rows[order].name, seed);
            for (int i = 0; i < BUDGETS; i++) {
                ticket_lab_until(t, budgets[i]);
                add(&failures[i], t->n_failures);
                add(&paths[i], t->n_reached);
            }
            ticket_lab_end(t);
        }
        print_row(order_rows[order].name, "failures", failures);
        print_row(order_rows[order].name, "paths", paths);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* CPU time per run in microseconds, without the runs themselves: these are made once more for that,
 * after the search has ended. The median of several, for the runs differ with the seed. */
static double search_us(struct ticket_lab *t, const char *order)
{
    double us[REPEATS];
    for (uint64_t i = 0; i < REPEATS; i++) {
        int64_t start_ns = cpu_ns();
        ticket_lab_begin(t, order, i);
        ticket_lab_until(t, LONG);
        ticket_lab_end(t);
        int64_t all_ns = cpu_ns() - start_ns;
        start_ns = cpu_ns();
        for (uint32_t k = 0; k < t->suite.runs.n; k++) {
            const struct suite_run *run = &t->suite.runs.at[k];
            t->suite.lab.scenario = t->suite.seats.at[run->seat].scenario;
            lab_run_only(&t->suite.lab, run->faultload);
        }
        us[i] = (double)(all_ns - (cpu_ns() - start_ns)) / 1e3 / t->suite.runs.n;
    }
    qsort(us, REPEATS, sizeof *us, by_value);
    return us[REPEATS / 2];
}

int main(void)
{
    static const char *const learning[][2] = {
        {"lineage", "order_lineage"}, {"fitness", "order_fitness"}, {"auto", "order_auto"}};
    struct ticket_lab t;
    struct err e = {0};
    if (ticket_lab_init(&t, ".", &e)) {
        fprintf(stderr, "bench: %s:%u: %s\n", e.source, (unsigned)e.line, e.text);
        return 2;
    }
    compare(&t);
    double size = search_us(&t, "size");
    report("order_size", "us CPU of the search per run by size, 2,000 runs of 24 scenarios", size,
           0);
    for (size_t i = 0; i < sizeof learning / sizeof *learning; i++)
        report(learning[i][1], "us CPU per run more than by size",
               search_us(&t, learning[i][0]) - size, 20);
    figures_print();
    ticket_lab_deinit(&t);
    return 0;
}
