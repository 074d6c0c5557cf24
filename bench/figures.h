/* SPDX-License-Identifier: Apache-2.0
 *
 * What a benchmark has measured: gathered while it runs, printed at its end as a table for people
 * and as JSON lines. One list per program. */
#ifndef OUTFOX_BENCH_FIGURES_H
#define OUTFOX_BENCH_FIGURES_H

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/vec.h"

struct figure {
    const char *name, *unit;
    double value, target; /* at most so much; 0: there is no target */
};

static VEC(struct figure) figures;

static void report(const char *name, const char *unit, double value, double target)
{
    vec_push(&figures, (struct figure){name, unit, value, target});
}

/* The processor time of this process. */
static int64_t cpu_ns(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t))
        abort();
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline double resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %ld", &pages) != 1)
        abort();
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void figures_print(void)
{
    printf("%-18s %12s %10s  %s\n", "figure", "measured", "target", "");
    for (uint32_t i = 0; i < figures.n; i++) {
        const struct figure *x = &figures.at[i];
        char target[32] = "";
        if (x->target > 0)
            snprintf(target, sizeof target, "<= %g", x->target);
        printf("%-18s %12.3f %10s  %s\n", x->name, x->value, target, x->unit);
    }
    for (uint32_t i = 0; i < figures.n; i++)
        printf("{\"bench\": \"%s\", \"value\": %.4f, \"target\": %g, \"unit\": \"%s\"}\n",
               figures.at[i].name, figures.at[i].value, figures.at[i].target, figures.at[i].unit);
    vec_deinit(&figures);
}

#endif
