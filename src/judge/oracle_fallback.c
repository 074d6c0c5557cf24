/* SPDX-License-Identifier: Apache-2.0
 *
 * fallback-to-failed, fallback-worse, fallback-unreached: what stands in for a call that failed.
 *
 * A fallback is a call that a handler makes after a failed one and does not make without faults. So
 * is a compensation, a probe or a word to the log; those are told from it by what they do:
 *
 * 1. Something that reads is only replaced by something that reads. Of calls that write, nothing
 *    is known but that the same interface of the same service is the same thing.
 * 2. All faults of the run are at the call that failed (or below it) and at calls that were made
 *    because of it: what follows is its consequence.
 * 3. Only a service that does not work has failed. One that answers 404 works. */
#include "judge/oracle_int.h"

#include "base/clock.h"

enum {
    SLOWER_TIMES = 10, /* a fallback that makes a handler so many times slower is worse, */
};
static const int64_t SLOW_NS = SECONDS(1); /* from here on, */
static const int64_t AT_ONCE_NS = MS(100); /* where the failure itself took no longer */

/* ---- what is a fallback ---- */

/* A call f that the handler made only because c had failed, in place of it. */
static bool is_fallback(const struct view *v, uint32_t c, uint32_t f)
{
    return f != c && v->calls[f].start_ns >= v->calls[c].end_ns && !view_equal(v, c, f) &&
           !view_usual(v, f) && view_reads(v, c) == view_reads(v, f) &&
           !sounds_like_check(view_interface(v, f)) && !view_undoes(v, c, f);
}

/* ---- fallback-to-failed ---- */

/* f, or the first call below it, that needs what failed, t: is the same thing. CALL_NONE: none. */
static uint32_t needing(const struct view *v, uint32_t t, uint32_t f)
{
    const struct element *a = uid_element(v->names, v->calls[t].uid);
    for (uint32_t g = f; g < v->n; g++) {
        const struct element *b = uid_element(v->names, v->calls[g].uid);
        if (a->service != b->service || !view_below(v, f, g) ||
            sounds_like_check(view_interface(v, g)))
            continue;
        if (a->interface == b->interface /* a retry that sends something else is no fallback */
                ? v->calls[t].parent != v->calls[g].parent
                : view_reads(v, t) && view_reads(v, g))
            return g;
    }
    return CALL_NONE;
}

static void tell_to_failed(const struct view *v, uint32_t t, uint32_t c, uint32_t f, uint32_t g)
{
    struct judge *j = v->judge;
    uid fallback = v->calls[f].uid;
    struct witness witness[4] = {{c, "failed"}};
    uint32_t n = 1;
    if (!remark_due(v, ORACLE_FALLBACK_TO_FAILED, fallback))
        return;
    if (t != c)
        witness[n++] = (struct witness){t, "because of"};
    witness[n++] = (struct witness){f, "the fallback"};
    if (g != f)
        witness[n++] = (struct witness){g, "needs it too"};
    const char *who = say_service(j, v->calls[v->calls[c].parent].uid);
    const char *from = say_name(j, v->calls[c].uid), *to = say_name(j, fallback);
    const char *down = say_service(j, v->calls[t].uid);
    remark_write(v, ORACLE_FALLBACK_TO_FAILED, fallback, witness, n,
                 "%s falls back from %s to %s%s%s: when %s is down, both fail", who, from, to,
                 g == f ? "" : ", which needs ", g == f ? "" : say_name(j, v->calls[g].uid), down);
}

/* ---- fallback-worse ---- */

/* The first fallback of c; CALL_NONE: there is none, or something else failed too. */
static uint32_t good_fallback(const struct view *v, uint32_t c)
{
    uint32_t handler = v->calls[c].parent, first = CALL_NONE;
    for (uint32_t k = 0; k < view_children(v, handler); k++) {
        uint32_t f = view_child(v, handler, k);
        bool again = view_equal(v, c, f);
        if (call_failed(&v->calls[f]) != again || (!again && v->faults.at[f]))
            return CALL_NONE;
        if (!again && first == CALL_NONE && view_reads(v, c) && is_fallback(v, c, f))
            first = f;
    }
    return first;
}

/* Slower: the failure came at once, and the handler took long, for the most part because of f. */
static void see_worse(const struct view *v, uint32_t c)
{
    uint32_t handler = v->calls[c].parent, twin = v->twin.at[handler], f = good_fallback(v, c);
    if (f == CALL_NONE)
        return;
    const struct call *h = &v->calls[handler];
    struct judge *j = v->judge;
    int64_t took = call_took(h);
    bool error = h->handled && call_failed(h) && !outcome_ok(h->reply);
    bool slow = twin != CALL_NONE && took >= SLOW_NS &&
                took > SLOWER_TIMES * j->calm.took.at[twin] &&
                call_took(&v->calls[c]) <= AT_ONCE_NS && call_took(&v->calls[f]) > took / 2;
    if ((!error && run_expected(v->run) && !slow) ||
        !remark_due(v, ORACLE_FALLBACK_WORSE, v->calls[f].uid))
        return;
    struct witness witness[] = {
        {c, "failed"}, {f, "the fallback"}, {handler, error ? "answered" : "took"}};
    const char *who = say_service(j, h->uid), *from = say_name(j, v->calls[c].uid);
    const char *to = say_name(j, v->calls[f].uid);
    uint32_t n = error || slow ? 3 : 2;
    if (error)
        remark_write(v, ORACLE_FALLBACK_WORSE, v->calls[f].uid, witness, n,
                     "%s answers %s although %s stood in for %s and succeeded", who,
                     say_outcome(j, h->reply), to, from);
    else if (slow)
        remark_write(v, ORACLE_FALLBACK_WORSE, v->calls[f].uid, witness, n,
                     "%s fails at once, but its fallback %s makes %s more than %d times slower",
                     from, to, who, SLOWER_TIMES);
    else
        remark_write(v, ORACLE_FALLBACK_WORSE, v->calls[f].uid, witness, n,
                     "%s stands in for %s and succeeds, but the answer of %s is not as expected",
                     to, from, who);
}

void oracle_fallback(const struct view *v)
{
    for (uint32_t t = 1; t < v->n; t++) {
        if (v->calls[t].mode == MODE_NONE)
            continue;
        /* c failed because of t, at it or below it */
        for (uint32_t c = t; c > 0; c = v->calls[c].parent) {
            enum outcome_kind kind = outcome_kind(v->calls[c].seen);
            if (kind == OUT_NONE ||
                ((kind == OUT_STATUS || kind == OUT_GRPC) && !answer_is_error(v->calls[c].seen)))
                break; /* an answer, of a service that works */
            uint32_t handler = v->calls[c].parent, sum = 0;
            for (uint32_t k = 0; k < view_children(v, handler); k++) {
                uint32_t other = view_child(v, handler, k);
                if (v->faults.at[other] && (view_equal(v, c, other) || !view_usual(v, other)))
                    sum += v->faults.at[other];
            }
            if (sum != v->faults.at[handler])
                break; /* not all are at c and its tries, or at calls made because of it */
            if (v->faults.at[handler] != v->n_faults || v->twin.at[handler] == CALL_NONE)
                continue;
            for (uint32_t k = 0; k < view_children(v, handler); k++) {
                uint32_t f = view_child(v, handler, k), g;
                if (is_fallback(v, c, f) && (g = needing(v, t, f)) != CALL_NONE)
                    tell_to_failed(v, t, c, f, g);
            }
            see_worse(v, c);
        }
    }
}

/* ---- fallback-unreached ---- */

/* Of the failures of what a service calls, the one that shows best that nothing stands in; NULL:
 * nothing that it calls has failed for good. */
static const struct reaction *best_failure(const struct judge *j, slice caller)
{
    const struct reaction *best = NULL;
    const struct names *names = j->opt.names;
    sym s = names_sym(j->opt.names, caller);
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        if (!r->persistent || !r->injected ||
            uid_element(names, uid_parent(names, r->call))->service != s)
            continue;
        if (!best || (r->ok != best->ok       ? best->ok
                      : r->call != best->call ? uid_cmp(names, r->call, best->call) < 0
                                              : r->label < best->label))
            best = r;
    }
    return best;
}

void oracle_fallback_end(struct judge *j)
{
    /* a service that is not called may be for other scenarios; one with such a word in its name is
     * there to stand in */
    static const struct word standby[] = {
        {"secondary", NULL}, {"backup", NULL},   {"fallback", NULL}, {"standby", NULL},
        {"by", "stand"},     {"failover", NULL}, {"replica", NULL},  {NULL, NULL},
    };
    struct map told = {0}; /* one caller of each is enough */
    for (uint32_t i = 0; j->complete && i < j->opt.n_wires; i++) {
        const struct judge_wire *w = &j->opt.wires[i];
        if (!word_find(standby, w->callee))
            continue;
        sym callee = names_sym(j->opt.names, w->callee);
        if (map_get(&j->called, callee) ||
            callee == uid_element(j->opt.names, j->calm.trace.calls.at[0].uid)->service ||
            map_get(&told, callee))
            continue;
        const struct reaction *r = best_failure(j, w->caller);
        if (!r)
            continue;
        map_set(&told, callee, 1);
        remark_conclude(j, ORACLE_FALLBACK_UNREACHED, UID_NONE, r,
                        "%.*s can call %.*s but never does, whatever fails", SLICE_ARG(w->caller),
                        SLICE_ARG(w->callee));
    }
    map_deinit(&told);
}
