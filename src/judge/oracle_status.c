/* SPDX-License-Identifier: Apache-2.0
 *
 * wrong-status: an answer that does not say what happened.
 *
 *   forwarded  a callee's 503 or 504 is passed on as one's own. 503 says that the work was not
 *              begun and may be tried again at once: that is untrue of a service that has had an
 *              effect by then. Of one that only reads it is as good an answer as any
 *   blamed     a 4xx says that the request is wrong, but without faults the same one is answered
 *   hidden     success after one error of a callee, an error after another: at the end
 *
 * A callee's 4xx that is passed on is mostly right: what is not there is not there. It is wrong
 * where an earlier call of the same handler had found the request to be good. */
#include "judge/oracle_int.h"

/* ---- forwarded ---- */

static const char EFFECT_ROLE[] = "was done";

/* The call whose failure is answered: the last that failed. But what is written only because
 * something could not be read, an alert say, gives no answer. CALL_NONE: it cannot be told, because
 * calls that were made side by side failed in different ways. */
static uint32_t last_failed(const struct view *v, uint32_t handler)
{
    uint32_t k = view_failure(v, handler, view_children(v, handler));
    if (k == CALL_NONE)
        return CALL_NONE;
    uint32_t last = view_child(v, handler, k), before = view_failure(v, handler, k);
    if (before == CALL_NONE)
        return last;
    uint32_t other = view_child(v, handler, before);
    if (!view_reads(v, last) && !view_usual(v, last) && view_reads(v, other))
        return other;
    bool beside = v->calls[other].end_ns > v->calls[last].start_ns;
    return beside && v->calls[other].seen != v->calls[last].seen ? CALL_NONE : last;
}

/* An effect that must not be had twice, and that the handler leaves behind when it says that its
 * work was not begun. What a callee did that answers so itself is that one's to say. */
static void see_forwarded(const struct view *v, uint32_t h)
{
    struct judge *j = v->judge;
    const struct call *c = &v->calls[h];
    uint32_t callee = last_failed(v, h);
    if (callee == CALL_NONE || v->calls[callee].seen != c->reply)
        return;
    for (uint32_t e = h + 1; e < v->n; e++) {
        const struct call *done = &v->calls[e];
        if (!call_done(done) || !call_sure(done) || done->key || !view_usual(v, e) ||
            done->start_ns >= c->end_ns || judge_effect(j, done->uid) != EFFECT_ONCE ||
            !view_below(v, h, e) || (view_below(v, callee, e) && !call_done(&v->calls[callee])) ||
            view_undone(v, e, v->n))
            continue;
        topic t = topic_of(c->uid, judge_path(j, done->uid));
        if (!remark_due(v, ORACLE_WRONG_STATUS, t))
            continue;
        struct witness witness[] = {{callee, "answered"}, {h, "passed on as"}, {e, EFFECT_ROLE}};
        const char *status = say_outcome(j, c->reply);
        remark_write(v, ORACLE_WRONG_STATUS, t, witness, 3,
                     "%s answers %s as its own after %s answered %s: a caller that retries it "
                     "cannot know that %s was done",
                     say_service(j, c->uid), status, say_name(j, v->calls[callee].uid), status,
                     say_name(j, done->uid));
    }
}

static uid forwarder(const struct remark *r)
{
    bool forwarded = r->n_evidence && r->evidence[r->n_evidence - 1].role == EFFECT_ROLE;
    return forwarded ? r->evidence[1].call : UID_NONE;
}

/* ---- blamed ---- */

/* The call because of which the caller is blamed; CALL_NONE: it may be right. */
static uint32_t blame_cause(const struct view *v, uint32_t handler)
{
    uint32_t k = view_children(v, handler);
    while ((k = view_failure(v, handler, k)) != CALL_NONE) {
        uint32_t i = view_child(v, handler, k);
        if (!answer_blames(v->calls[i].seen))
            return v->faults.at[i] ? i : CALL_NONE;
        if (!v->faults.at[i])
            continue; /* it refuses, with no fault at it: what failed before is why */
        if (v->calls[i].mode == MODE_NONE)
            return CALL_NONE; /* it comes from below, and that one is told of */
        while (k-- > 0) {     /* had a call before, other than a health check, found it good? */
            uint32_t before = view_child(v, handler, k);
            if (!call_failed(&v->calls[before]) && !sounds_like_check(view_interface(v, before)))
                return i;
        }
        return CALL_NONE;
    }
    return CALL_NONE;
}

static void see_blamed(const struct view *v, uint32_t h)
{
    struct judge *j = v->judge;
    const struct call *c = &v->calls[h];
    if (v->twin.at[h] == CALL_NONE)
        return;
    const struct call *twin = &j->calm.trace.calls.at[v->twin.at[h]];
    if (!outcome_ok(twin->reply) || twin->request != c->request)
        return;
    uint32_t callee = blame_cause(v, h);
    if (callee == CALL_NONE || !remark_due(v, ORACLE_WRONG_STATUS, c->uid))
        return;
    struct witness witness[] = {{callee, "failed"}, {h, "blamed on its caller"}};
    remark_write(
        v, ORACLE_WRONG_STATUS, c->uid, witness, 2,
        "%s answers %s after %s %s: the same request is fine without faults, so its caller "
        "is not to blame",
        say_service(j, c->uid), say_outcome(j, c->reply), say_name(j, v->calls[callee].uid),
        say_fate(j, v->calls[callee].seen));
}

void oracle_status(const struct view *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct call *c = &v->calls[i];
        if (!v->faults.at[i] || c->reply == OUTCOME_OK || !(c->handled || i == 0))
            continue;
        /* answers that callers take for "may be tried again" */
        if (c->reply == OUTCOME(OUT_STATUS, 503) || c->reply == OUTCOME(OUT_STATUS, 504) ||
            c->reply == OUTCOME(OUT_GRPC, 14) || c->reply == OUTCOME(OUT_GRPC, 4))
            see_forwarded(v, i);
        else if (answer_blames(c->reply))
            see_blamed(v, i);
    }
}

/* ---- hidden ---- */

static enum contrast status_side(const struct judge *j, const struct reaction *r)
{
    (void)j;
    if (outcome_ok(r->reply))
        return r->instead == UID_NONE ? CONTRAST_SILENT : CONTRAST_NEITHER;
    return outcome_error(r->reply) ? CONTRAST_SHOWS : CONTRAST_NEITHER;
}

static void tell_hidden(struct judge *j, const struct reaction *hidden,
                        const struct reaction *shown)
{
    uid handler = uid_parent(j->opt.names, hidden->group);
    remark_conclude(j, ORACLE_WRONG_STATUS, topic_of(handler, UINT32_MAX), hidden,
                    "%s answers %s when %s answers %s, but %s when the latter answers %s: its "
                    "caller cannot tell success from failure",
                    say_service(j, handler), say_outcome(j, hidden->reply),
                    say_name(j, hidden->call), say_outcome(j, hidden->label),
                    say_outcome(j, shown->reply), say_outcome(j, shown->label));
}

void oracle_status_end(struct judge *j)
{
    /* of the effects that a handler leaves behind, those that it can do without do not count, and
     * one of the others is enough */
    for (struct remark *r = NULL; (r = remark_next(j, ORACLE_WRONG_STATUS, r));) {
        if (forwarder(r) == UID_NONE)
            continue;
        uid effect = r->evidence[r->n_evidence - 1].call;
        if (reaction_soft(j, effect) && !effect_listed(j->set, j->opt.names, effect))
            r->why = NULL;
    }
    remarks_pick(j, ORACLE_WRONG_STATUS, forwarder);
    contrast_find(j, status_side, tell_hidden);
}
