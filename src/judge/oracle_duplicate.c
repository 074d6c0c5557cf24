/* SPDX-License-Identifier: Apache-2.0
 *
 * duplicate-effect: a call that must be made once was done, somebody above saw a failure all the
 * same and tried again, and it was done again.
 *
 *   gateway > orders POST /orders        seen: timeout       `above`, the sibling that failed
 *             > card POST /charges       done                `first`
 *   gateway > orders POST /orders #1     the retry           `retry`
 *             > card POST /charges       done again          `second`
 *
 * `first` and `above` are the same where the caller itself tries again.
 *
 * 1. Two calls with the same idempotency key are one, and so are two that ask for different things.
 * 2. An effect that was undone in between does not count, and neither does what undoes one that was
 *    made again in between.
 * 3. Where the retry itself is an effect done twice, only that is said, not what is below it.
 * 4. What its caller can do without (telemetry, say) may be done twice, unless it is listed.
 * 5. Whoever tries again is a mistake of its own: two that repeat the same effect are told both. */
#include "judge/oracle_int.h"

struct doubled {
    uint32_t first, second, above, retry;
};

/* May one be the other again, as far as it is known what they ask for? */
static bool same_request(const struct call *a, const struct call *b)
{
    return !a->request || !b->request || a->request == b->request;
}

/* Both were done, and nothing says that the second has no further effect. */
static bool done_twice(const struct view *v, uint32_t a, uint32_t b)
{
    const struct call *x = &v->calls[a], *y = &v->calls[b];
    return call_done(x) && call_done(y) && call_sure(x) && call_sure(y) &&
           (!x->key || x->key != y->key) && same_request(x, y);
}

/* Is the second a repetition of the first, because something failed? Finds `above` and `retry`. */
static bool doubles(const struct view *v, struct doubled *d)
{
    while (v->calls[d->above].parent != v->calls[d->retry].parent) {
        d->above = v->calls[d->above].parent;
        d->retry = v->calls[d->retry].parent;
        if (judge_effect(v->judge, v->calls[d->retry].uid) == EFFECT_ONCE &&
            done_twice(v, d->above, d->retry))
            return false; /* that is said of this one */
    }
    const struct call *a = &v->calls[d->above], *b = &v->calls[d->retry];
    if (!call_sure(a) || !call_sure(b) || !call_failed(a) || b->start_ns < a->end_ns ||
        !same_request(a, b) || view_undone(v, d->first, d->second))
        return false;
    for (uint32_t i = d->first + 1; i < d->second; i++) /* does it take back what was done since? */
        if (call_done(&v->calls[i]) && !view_reads(v, i) && view_undoes(v, i, d->second))
            return false;
    return true;
}

/* How many calls that may be repetitions of this one were done. */
static uint32_t count_done(const struct view *v, const struct call *calls, uint32_t n,
                           const struct call *like)
{
    uint32_t count = 0;
    for (uint32_t i = 1; i < n; i++)
        count += call_done(&calls[i]) && same_request(&calls[i], like) &&
                 uid_alike(v->names, calls[i].uid, like->uid);
    return count;
}

/* What stands for a call and its repetitions: the one that is made without faults. */
static uid usual_call(const struct judge *j, uid call)
{
    const struct trace *calm = &j->calm.trace;
    for (uint32_t i = 1; i < calm->calls.n; i++)
        if (uid_alike(j->opt.names, calm->calls.at[i].uid, call))
            return calm->calls.at[i].uid;
    return call;
}

static void tell_duplicate(const struct view *v, const struct doubled *d)
{
    struct judge *j = v->judge;
    const struct call *above = &v->calls[d->above];
    uid effect = usual_call(j, v->calls[d->second].uid);
    topic t = topic_of(effect, judge_path(j, v->calls[d->retry].uid));
    if (!remark_due(v, ORACLE_DUPLICATE_EFFECT, t))
        return;
    bool lost = call_failed(&v->calls[d->first]);
    const char *name = say_name(j, effect);
    const char *who = say_service(j, v->calls[above->parent].uid);
    const char *saw = say_outcome(j, above->seen);
    struct witness shown[3] = {{d->first, lost ? "done, but its answer was lost" : "done"}};
    uint32_t n = 1;
    if (d->above != d->first)
        shown[n++] = (struct witness){d->above, "fails anyway"};
    shown[n++] = (struct witness){d->second, "done again"};
    if (d->above == d->first)
        remark_write(v, ORACLE_DUPLICATE_EFFECT, t, shown, n,
                     "%s is done twice: %s sees %s although it was done, and retries it", name, who,
                     saw);
    else
        remark_write(
            v, ORACLE_DUPLICATE_EFFECT, t, shown, n,
            "%s is done twice: it was done when %s failed with %s, and %s retries that call", name,
            say_name(j, above->uid), saw, who);
}

/* Is calls[i] one of these done again? The last of them is told of for each retry above it. */
static void see_repetition(const struct view *v, const uint32_t *failed, uint32_t n, uint32_t i)
{
    const struct call *c = &v->calls[i];
    const struct trace *calm = &v->judge->calm.trace;
    uint32_t told = CALL_NONE;
    while (n-- > 0) {
        struct doubled d = {failed[n], i, failed[n], i};
        if (!done_twice(v, d.first, i) || !uid_alike(v->names, v->calls[d.first].uid, c->uid) ||
            !doubles(v, &d) || d.retry == told ||
            count_done(v, v->calls, v->n, c) <= count_done(v, calm->calls.at, calm->calls.n, c))
            continue;
        tell_duplicate(v, &d);
        told = d.retry;
    }
}

void oracle_duplicate(const struct view *v)
{
    VEC(uint32_t) failed = {0}; /* done nevertheless: few, in a run of however many calls */
    for (uint32_t i = 1; i < v->n; i++) {
        const struct call *c = &v->calls[i];
        if (!call_done(c) || judge_effect(v->judge, c->uid) != EFFECT_ONCE)
            continue;
        bool numbered =
            false; /* somewhere on its path: otherwise it is the repetition of nothing */
        for (uint32_t k = i; failed.n && k != CALL_NONE && !numbered; k = v->calls[k].parent) {
            const struct element *e = uid_element(v->names, v->calls[k].uid);
            numbered = e->n || e->before;
        }
        if (numbered)
            see_repetition(v, failed.at, failed.n, i);
        /* did a service see it fail, or a call on whose behalf it was made? only then is it made
         * again */
        uint32_t top = i;
        while (top > 0 && top != CALL_NONE && !call_failed(&v->calls[top]))
            top = v->calls[top].parent;
        if (top > 0 && top != CALL_NONE)
            vec_push(&failed, i);
    }
    vec_deinit(&failed);
}

void oracle_duplicate_end(struct judge *j)
{
    for (struct remark *r = NULL; (r = remark_next(j, ORACLE_DUPLICATE_EFFECT, r));) {
        uid effect = usual_call(j, r->evidence[0].call);
        if (reaction_soft(j, effect) && !effect_listed(j->set, j->opt.names, effect))
            r->why = NULL;
    }
}
