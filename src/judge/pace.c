/* SPDX-License-Identifier: Apache-2.0 */
#include "judge/pace_int.h"

#include "base/hash.h"
#include "judge/oracle_int.h"

#define MS 1000000

enum {
    WAITS_NS = 20 * MS, /* of real runs: no retry at once comes so late each time */
    HABIT_PART = 4,     /* of real runs: but for one in so many, retries at once come sooner */
    ENOUGH = 24,        /* retries, to stay undecided about */
};

static const outcome ANY_FAILURE = OUTCOME(OUT_NONE, 0);

static uint64_t pace_key(struct judge *j, uid call, outcome seen)
{
    return hash_mix(hash_mix(1, judge_path(j, call)), seen);
}

static struct pace *pace_at(struct judge *j, uint64_t key)
{
    const uint32_t *at = map_get(&j->pace_at, key);
    return at ? &j->paces.at[*at] : NULL;
}

static void add(struct judge *j, uint64_t key, int64_t gap_ns)
{
    struct pace *p = pace_at(j, key);
    if (!p) {
        map_set(&j->pace_at, key, j->paces.n);
        vec_push(&j->paces, (struct pace){.least_ns = gap_ns});
        p = &j->paces.at[j->paces.n - 1];
    }
    p->least_ns = gap_ns < p->least_ns ? gap_ns : p->least_ns;
    p->n++;
    p->late += gap_ns >= WAITS_NS;
}

/* A timeout was a wait: what follows it says nothing about other failures. */
static bool is_wait(outcome o)
{
    return outcome_kind(o) == OUT_TIMEOUT || outcome_kind(o) == OUT_CANCELLED;
}

void pace_learn(const struct view *v, uid call, outcome seen, int64_t gap_ns)
{
    struct judge *j = v->judge;
    add(j, pace_key(j, call, seen), gap_ns);
    if (!is_wait(seen))
        add(j, pace_key(j, call, ANY_FAILURE), gap_ns);
}

/* The failures of one kind may be few: that the call can be made again at once is asked of all. */
bool pace_at_once(struct judge *j, uid call, outcome seen)
{
    const struct pace *own = pace_at(j, pace_key(j, call, seen));
    const struct pace *all = pace_at(j, pace_key(j, call, ANY_FAILURE));
    if (!own || !all)
        return false;
    return !j->timed ? own->least_ns < PACE_AT_ONCE_NS
                     : own->least_ns < WAITS_NS && all->least_ns < PACE_AT_ONCE_NS &&
                           all->late * HABIT_PART <= all->n;
}

void pace_failed_again(const struct view *v, uid call, outcome seen)
{
    struct pace *p = pace_at(v->judge, pace_key(v->judge, call, seen));
    if (p && p->again == FAULTLOAD_EMPTY && v->run->verdict.pass)
        p->again = v->run->faultload;
}

static bool is_undecided(const struct pace *p)
{
    return p->n < ENOUGH && p->least_ns >= PACE_AT_ONCE_NS && p->least_ns < WAITS_NS;
}

uint32_t pace_doubts(const struct judge *j, faultload *out, uint32_t n, uint32_t most)
{
    for (uint32_t i = 0; j->timed && i < j->paces.n && n < most; i++) {
        const struct pace *p = &j->paces.at[i];
        if (p->again != FAULTLOAD_EMPTY && is_undecided(p))
            n = doubt_add(out, n, p->again);
    }
    return n;
}

bool pace_waits(struct judge *j, uid call, outcome seen)
{
    const struct pace *own = pace_at(j, pace_key(j, call, seen));
    return own && own->least_ns >= (j->timed ? WAITS_NS : PACE_AT_ONCE_NS);
}
