/* SPDX-License-Identifier: Apache-2.0 */
#include "live/usage.h"

enum {
    QUARTERS = 4,
    QUARTER_LEAST = 2, /* samples */
    RUNS_LEAST = 20,   /* for every further run that is made beside */
    SWOLLEN = 30,      /* descriptors */
    SWOLLEN_LEAST = 4, /* samples */
    MIB = 1 << 20
};

/* What counts as growth, from the first quarter to the last: so much, and more for every further
 * run that is made beside; and such a part of what it was. */
static const struct {
    uint64_t least, beside, part;
} growth[USAGE_KINDS] = {
    [USAGE_DESCRIPTORS] = {10, 10, 8},
    [USAGE_MEMORY] = {16 * MIB, MIB, 8},
};

bool usage_due(const struct usage *u, uint64_t run)
{
    return u->n == 0 || run >= u->at[u->n - 1].run + (u->stride ? u->stride : 1);
}

void usage_add(struct usage *u, int64_t process, const struct usage_sample *sample)
{
    if (process != u->process)
        *u = (struct usage){.process = process};
    if (u->n == USAGE_SAMPLES) {
        for (uint32_t i = 0; i < USAGE_SAMPLES / 2; i++)
            u->at[i] = u->at[2 * i];
        u->n = USAGE_SAMPLES / 2;
        u->stride = u->stride ? 2 * u->stride : 2;
    }
    u->at[u->n++] = *sample;
}

bool usage_grows(const struct usage *u, enum usage_kind kind, uint32_t jobs,
                 const struct usage_sample **from)
{
    uint32_t skip = (u->n + QUARTERS) / (QUARTERS + 1); /* it gets warm */
    uint32_t size = (u->n - skip) / QUARTERS;
    uint64_t least[QUARTERS];
    if (size < QUARTER_LEAST)
        return false;
    skip = u->n - QUARTERS * size;
    for (uint32_t q = 0; q < QUARTERS; q++) {
        least[q] = UINT64_MAX;
        for (uint32_t i = skip + q * size; i < skip + (q + 1) * size; i++)
            least[q] = u->at[i].value[kind] < least[q] ? u->at[i].value[kind] : least[q];
        if (q > 0 && least[q] <= least[q - 1])
            return false;
    }
    uint64_t all = least[3] - least[0], first = least[1] - least[0], last = least[3] - least[2];
    uint64_t beside = jobs - 1, runs = u->at[u->n - 1].run - u->at[skip].run;
    *from = &u->at[skip];
    return runs >= beside * RUNS_LEAST &&
           all >= growth[kind].least + beside * growth[kind].beside &&
           all >= least[0] / growth[kind].part && 2 * last >= first;
}

bool usage_swells(const struct usage *u)
{
    const uint32_t n = u->n, k = USAGE_DESCRIPTORS;
    return n >= SWOLLEN_LEAST && u->at[n - 1].value[k] >= u->at[0].value[k] + SWOLLEN &&
           u->at[n - 1].value[k] > u->at[2 * n / 3].value[k];
}

void usage_print(enum usage_kind kind, const struct usage_sample *from,
                 const struct usage_sample *to, struct buf *out)
{
    static const char *const names[] = {"open descriptors", "MiB of memory"};
    uint64_t unit = kind == USAGE_MEMORY ? MIB : 1;
    buf_addf(out, "%llu %s after run %llu, %llu after run %llu",
             (unsigned long long)(from->value[kind] / unit), names[kind],
             (unsigned long long)from->run, (unsigned long long)(to->value[kind] / unit),
             (unsigned long long)to->run);
}
