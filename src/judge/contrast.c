/* SPDX-License-Identifier: Apache-2.0
 *
 * One pass: of every dependency the gravest error that is silent and the mildest that shows are
 * kept. If any two contrast, these do. */
#include "judge/contrast_int.h"

#include <assert.h>

enum { NOT_BEGUN = 1, PERHAPS, WENT_WRONG };

static const struct {
    outcome answer;
    int grave;
} answers[] = {
    {OUTCOME(OUT_STATUS, 503), NOT_BEGUN}, {OUTCOME(OUT_STATUS, 502), PERHAPS},
    {OUTCOME(OUT_STATUS, 504), PERHAPS},   {OUTCOME(OUT_STATUS, 500), WENT_WRONG},
    {OUTCOME(OUT_GRPC, 14), NOT_BEGUN},    {OUTCOME(OUT_GRPC, 4), PERHAPS},
    {OUTCOME(OUT_GRPC, 2), WENT_WRONG},    {OUTCOME(OUT_GRPC, 13), WENT_WRONG},
};

/* 0: nothing that can be compared. A label that is a mode is none: then there is more to the call
 * than its answer. */
static int grave(const struct reaction *r)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].answer == r->label)
            return answers[i].grave;
    return 0;
}

struct pair {
    uint32_t silent, shows; /* reactions; UINT32_MAX: none yet */
};

struct pairs {
    struct map at; /* by group */
    VEC(struct pair) all;
};

/* The pair of this group, new if there is none; good until the next is asked for. */
static struct pair *pair_of(struct pairs *pairs, uid group)
{
    const uint32_t *known = map_get(&pairs->at, group);
    uint32_t at = known ? *known : pairs->all.n;
    if (!known) {
        map_set(&pairs->at, group, at);
        vec_push(&pairs->all, (struct pair){UINT32_MAX, UINT32_MAX});
    }
    assert(at < pairs->all.n);
    return &pairs->all.at[at];
}

/* Is a to be kept rather than b? sign 1: the graver, -1: the milder; then the smaller status, and
 * the one where the fault is at the call itself, so that the order of runs does not matter. */
static bool rather(const struct judge *j, uint32_t a, uint32_t b, int sign)
{
    if (b == UINT32_MAX)
        return true;
    const struct reaction *x = &j->reactions.at[a], *y = &j->reactions.at[b];
    int order = sign * (grave(x) - grave(y));
    if (order || x->label != y->label)
        return order ? order > 0 : x->label < y->label;
    return x->injected && !y->injected;
}

void contrast_find(struct judge *j, const struct contrast *c)
{
    struct pairs pairs = {0};
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        if (!r->persistent || !grave(r))
            continue;
        bool silent = c->silent(j, r), shows = c->shows(j, r);
        if (!silent && !shows)
            continue;
        struct pair *p = pair_of(&pairs, r->group);
        if (silent && rather(j, i, p->silent, 1))
            p->silent = i;
        if (shows && rather(j, i, p->shows, -1))
            p->shows = i;
    }
    for (uint32_t i = 0; i < pairs.all.n; i++) {
        struct pair p = pairs.all.at[i];
        if (p.silent == UINT32_MAX || p.shows == UINT32_MAX)
            continue;
        const struct reaction *silent = &j->reactions.at[p.silent],
                              *shows = &j->reactions.at[p.shows];
        if (grave(silent) >= grave(shows))
            c->tell(j, silent, shows);
    }
    map_deinit(&pairs.at);
    vec_deinit(&pairs.all);
}
