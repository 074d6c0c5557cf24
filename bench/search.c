/* SPDX-License-Identifier: Apache-2.0
 *
 * What the search costs: CPU time of this process and resident memory, on one campaign that is long
 * enough to tell whether either grows. Prints a table, then the same as JSON lines. Exit code 0
 * whatever the figures: a benchmark measures, tests judge. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "figures.h"
#include "support/lab.h"

enum { FAN = 10, RUNS = 1000000, EARLY = 10000, REPEATS = 21 };

static void load(struct lab *lab, const char *yaml, const char *path)
{
    struct err e = {0};
    if (yaml ? lab_init_text(lab, yaml, &e) : lab_init_file(lab, path, &e)) {
        fprintf(stderr, "bench: %s:%u: %s\n", e.source, (unsigned)e.line, e.text);
        exit(2);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* One run without the bookkeeping of tests. */
static void step(struct lab *lab, faultload f)
{
    struct err e = {0};
    aim_set(&lab->aim, &lab->names, &lab->fl, f);
    if (sim_run(lab->sim, 0, &lab->aim, 0, &lab->trace, &lab->verdict, NULL, &e))
        abort();
}

/* Median CPU time of exploring a system completely, loading excluded. */
static double explore_ms(const char *path, uint64_t *runs)
{
    double ms[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        struct lab lab;
        load(&lab, NULL, path);
        struct search_options options = lab_options(&lab);
        options.baselines = 3;
        int64_t start_ns = cpu_ns();
        struct search *s = search_new(&lab.names, &lab.fl, &options);
        faultload f;
        while (search_next(s, &f)) {
            step(&lab, f);
            search_observe(s, f, &lab.trace, &lab.verdict);
        }
        ms[i] = (double)(cpu_ns() - start_ns) / 1e6;
        struct search_stats stats;
        search_stats(s, &stats);
        *runs = stats.runs;
        search_free(s);
        lab_deinit(&lab);
    }
    qsort(ms, REPEATS, sizeof *ms, by_value);
    return ms[REPEATS / 2];
}

/* A service that calls FAN others one after the other, whatever they answer: 5^FAN different runs.
 */
static void fan_out(struct buf *yaml)
{
    buf_adds(yaml, "system: fan-out\nservices:\n  top:\n    GET /:\n");
    for (int i = 0; i < FAN; i++)
        buf_addf(yaml, "      - call: s%d GET /\n", i);
    for (int i = 0; i < FAN; i++)
        buf_addf(yaml, "  s%d: { GET /: }\n", i);
    buf_adds(yaml, "scenarios: { main: { request: top GET / } }\n");
}

/* The first `runs` runs of that campaign. Returns CPU time per run; the lab and search are kept for
 * the caller. */
static double campaign_us(uint32_t runs, struct lab *lab, struct search **search, faultload *last)
{
    struct buf yaml = BUF_INIT(1 << 16);
    fan_out(&yaml);
    load(lab, buf_text(&yaml), NULL);
    buf_deinit(&yaml);
    struct search_options options = lab_options(lab);
    int64_t start_ns = cpu_ns();
    *search = search_new(&lab->names, &lab->fl, &options);
    for (uint32_t run = 0; run < runs; run++) {
        if (!search_next(*search, last))
            abort();
        step(lab, *last);
        search_observe(*search, *last, &lab->trace, &lab->verdict);
    }
    return (double)(cpu_ns() - start_ns) / 1e3 / runs;
}

static void long_campaign(void)
{
    struct lab lab;
    struct search *s;
    faultload last;
    double before = resident_bytes();
    double late_us = campaign_us(RUNS, &lab, &s, &last);
    double after = resident_bytes();
    struct search_stats stats;
    search_stats(s, &stats);
    int64_t sim_ns = cpu_ns(); /* the same runs without the search, to tell its part */
    for (uint32_t run = 0; run < RUNS; run++)
        step(&lab, last);
    sim_ns = cpu_ns() - sim_ns;
    search_free(s);
    lab_deinit(&lab);
    double early[REPEATS];
    for (int i = 0; i < REPEATS; i++) {
        early[i] = campaign_us(EARLY, &lab, &s, &last);
        search_free(s);
        lab_deinit(&lab);
    }
    qsort(early, REPEATS, sizeof *early, by_value);
    double early_us = early[REPEATS / 2];
    report("run_10k", "us CPU per run of a campaign of 10,000 runs, median of 21", early_us, 0);
    report("run_1m", "us CPU per run of a campaign of 1,000,000 runs", late_us, 0);
    report("run_growth", "the latter / the former", late_us / early_us, 1.2);
    report("memory_per_run", "bytes of resident memory per run, of a million",
           (after - before) / RUNS, 1024);
    report("search_per_edge", "us CPU of the search per generated edge",
           (late_us * RUNS - (double)sim_ns / 1e3) / (double)stats.edges, 20);
    report("simulated_call", "ns CPU per simulated call", (double)sim_ns / RUNS / (FAN + 1), 0);
}

int main(void)
{
    uint64_t runs;
    double ms = explore_ms("examples/corpus/netflix.yaml", &runs);
    report("netflix_exact", "ms CPU, all 2440 runs, median of 21", ms, 50);
    report("netflix_per_run", "us CPU per run", ms * 1e3 / (double)runs, 0);
    ms = explore_ms("examples/corpus/audible.yaml", &runs);
    report("audible_exact", "ms CPU, all 30 runs, median of 21", ms, 0);
    long_campaign();
    figures_print();
    return 0;
}
