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
 * 4. What its caller can do without (telemetry, say) may be done twice, unless it is listed. */
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

/* Does the second take back what was done after the first? */
static bool undoes_another(const struct view *v, uint32_t first, uint32_t second)
{
    for (uint32_t i = first + 1; i < second; i++)
        if (call_done(&v->calls[i]) && judge_effect(v->judge, v->calls[i].uid) != EFFECT_READ &&
            view_undoes(v, i, second))
            return true;
    return false;
}

/* Is the second a repetition of the first, because something failed? */
static bool doubles(const struct view *v, uint32_t first, uint32_t second, struct doubled *out)
{
    uint32_t a = first, b = second;
    while (v->calls[a].parent != v->calls[b].parent) {
        a = v->calls[a].parent;
        b = v->calls[b].parent;
        if (judge_effect(v->judge, v->calls[b].uid) == EFFECT_ONCE && done_twice(v, a, b))
            return false;
    }
    *out = (struct doubled){first, second, a, b};
    return call_sure(&v->calls[a]) && call_sure(&v->calls[b]) && call_failed(&v->calls[a]) &&
           v->calls[b].start_ns >= v->calls[a].end_ns && same_request(&v->calls[a], &v->calls[b]) &&
           !view_undone(v, first, second) && !undoes_another(v, first, second);
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

static bool more_than_usual(const struct view *v, const struct call *like)
{
    const struct trace *base = &v->judge->base.trace;
    return count_done(v, v->calls, v->n, like) > count_done(v, base->calls.at, base->calls.n, like);
}

/* What stands for a call and its repetitions: the one that is made without faults. */
static uid subject_of(const struct judge *j, uid call)
{
    const struct trace *base = &j->base.trace;
    for (uint32_t i = 1; i < base->calls.n; i++)
        if (uid_alike(j->opt.names, base->calls.at[i].uid, call))
            return base->calls.at[i].uid;
    return call;
}

static void tell(const struct view *v, const struct doubled *d, uid subject)
{
    struct judge *j = v->judge;
    const struct call *above = &v->calls[d->above];
    bool lost = call_failed(&v->calls[d->first]);
    const char *name = judge_name(j, subject);
    const char *who = judge_service(j, v->calls[above->parent].uid);
    const char *saw = judge_outcome(j, above->seen);
    struct witness shown[3] = {{d->first, lost ? "done, but its answer was lost" : "done"}};
    uint32_t n = 1;
    if (d->above != d->first)
        shown[n++] = (struct witness){d->above, "fails nevertheless"};
    shown[n++] = (struct witness){d->second, "done again"};
    if (d->above == d->first)
        judge_tell(j, v, ORACLE_DUPLICATE_EFFECT, subject, shown, n,
                   "%s is done twice: %s sees %s although it was done, and makes it again", name,
                   who, saw);
    else
        judge_tell(j, v, ORACLE_DUPLICATE_EFFECT, subject, shown, n,
                   "%s is done twice: it was done when %s failed with %s, and %s makes that again",
                   name, judge_name(j, above->uid), saw, who);
}

/* Is there a number on its path? Otherwise it is the repetition of nothing. */
static bool numbered(const struct view *v, uint32_t i)
{
    for (; i != CALL_NONE; i = v->calls[i].parent) {
        const struct element *e = uid_element(v->names, v->calls[i].uid);
        if (e->n || e->before)
            return true;
    }
    return false;
}

/* Did a service see it fail, or a call on whose behalf it was made? Only then it is repeated. */
static bool seen_to_fail(const struct view *v, uint32_t i)
{
    while (i > 0 && !call_failed(&v->calls[i]))
        i = v->calls[i].parent;
    return i > 0 && i != CALL_NONE;
}

/* Is calls[i] one of these done again? */
static void see_repetition(const struct view *v, const uint32_t *failed, uint32_t n, uint32_t i)
{
    const struct call *c = &v->calls[i];
    struct doubled d;
    for (uint32_t k = 0; k < n && failed[k] < i; k++) {
        uint32_t first = failed[k];
        if (!done_twice(v, first, i) || !uid_alike(v->names, v->calls[first].uid, c->uid) ||
            !doubles(v, first, i, &d) || !more_than_usual(v, c))
            continue;
        uid subject = subject_of(v->judge, c->uid);
        if (judge_wants(v->judge, v, ORACLE_DUPLICATE_EFFECT, subject))
            tell(v, &d, subject);
        return;
    }
}

void oracle_duplicate(const struct view *v)
{
    VEC(uint32_t) failed = {0}; /* done nevertheless: few, in a run of however many calls */
    for (uint32_t i = 1; i < v->n; i++) {
        const struct call *c = &v->calls[i];
        if (!call_done(c) || judge_effect(v->judge, c->uid) != EFFECT_ONCE)
            continue;
        if (failed.n && numbered(v, i))
            see_repetition(v, failed.at, failed.n, i);
        if (seen_to_fail(v, i))
            vec_push(&failed, i);
    }
    vec_deinit(&failed);
}

/* The handler that makes this call answers with success when it fails, with all its tries, and does
 * nothing instead. (That the client does not notice is not enough: it may be tried again above.) */
static bool absorbed(const struct reaction *r)
{
    return r->persistent && outcome_ok(r->reply) && r->instead == UID_NONE;
}

void oracle_duplicate_end(struct judge *j)
{
    struct map soft = {0};
    for (uint32_t i = 0; i < j->reactions.n; i++)
        if (absorbed(&j->reactions.at[i]))
            map_set(&soft, j->reactions.at[i].group, 1);
    for (uint32_t i = 0; i < j->said.n; i++) {
        const struct remark *r = &j->said.at[i];
        if (r->oracle != oracle_rows[ORACLE_DUPLICATE_EFFECT].name || !r->why)
            continue;
        uid subject = subject_of(j, r->evidence[0].call);
        if (map_get(&soft, names_uid_all(j->opt.names, subject)) &&
            !effect_listed(j->set, j->opt.names, subject))
            judge_unsay(j, ORACLE_DUPLICATE_EFFECT, subject);
    }
    map_deinit(&soft);
}
