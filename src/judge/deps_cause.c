/* SPDX-License-Identifier: Apache-2.0
 *
 * What leads to a call that is not made without faults: sets of calls that fail. Kept are those of
 * which no part is enough, in an order that does not depend on that of the runs. */
#include "judge/deps_int.h"

static bool contains(const struct dep_cause *all, const struct dep_cause *part)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < all->n && found < part->n; i++)
        found += all->calls[i] == part->calls[found];
    return found == part->n;
}

static int compare(const struct names *names, const struct dep_cause *a, const struct dep_cause *b)
{
    int order = a->n < b->n ? -1 : a->n > b->n;
    for (uint32_t i = 0; i < a->n && order == 0; i++)
        order = a->calls[i] == b->calls[i] ? 0 : uid_cmp(names, a->calls[i], b->calls[i]);
    return order;
}

void dep_causes_add(const struct names *names, struct dep_causes *all, const struct dep_cause *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        struct dep_cause *known = &all->at[i];
        if (contains(c, known)) {
            known->fails &= c->fails || known->n < c->n;
            return;
        }
        if (!contains(known, c))
            all->at[kept++] = *known;
    }
    all->n = kept;
    uint32_t at = 0;
    while (at < all->n && compare(names, &all->at[at], c) < 0)
        at++;
    all->more |= all->n == DEP_CAUSES;
    if (at == DEP_CAUSES)
        return;
    all->n += all->n < DEP_CAUSES;
    for (uint32_t i = all->n - 1; i > at; i--)
        all->at[i] = all->at[i - 1];
    all->at[at] = *c;
}
