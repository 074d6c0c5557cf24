/* SPDX-License-Identifier: Apache-2.0 */
#include "core/dependency.h"

const char *const dep_kind_names[DEP_KINDS] = {
    [DEP_HARD] = "hard",
    [DEP_CONDITIONAL] = "conditional",
    [DEP_SOFT] = "soft",
    [DEP_UNKNOWN] = "unknown",
};

const char *const dep_by_names[DEP_BYS] = {
    [DEP_BY_NOTHING] = "nothing",
    [DEP_BY_VALUE] = "value",
    [DEP_BY_OTHER] = "other",
    [DEP_BY_RETRY] = "retry",
};

void deps_deinit(struct deps *d)
{
    for (uint32_t i = 0; i < d->rows.n; i++)
        vec_deinit(&d->rows.at[i].ways);
    vec_deinit(&d->rows);
    vec_deinit(&d->pairs);
    vec_deinit(&d->redundant);
    vec_deinit(&d->labels);
}

uint32_t deps_count(const struct deps *d, enum dep_kind kind)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->rows.n; i++)
        n += d->rows.at[i].kind == kind;
    return n;
}
