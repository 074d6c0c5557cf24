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
#include "judge/contrast_int.h"
#include "judge/oracle_int.h"
#include "judge/words_int.h"

/* ---- forwarded ---- */

static const char EFFECT_ROLE[] = "was done";

/* Answers that callers take for "may be tried again". */
static bool asks_to_retry(outcome o)
{
    return o == OUTCOME(OUT_STATUS, 503) || o == OUTCOME(OUT_STATUS, 504) ||
           o == OUTCOME(OUT_GRPC, 14) || o == OUTCOME(OUT_GRPC, 4);
}

static bool is_read(const struct view *v, uint32_t i)
{
    return judge_effect(v->judge, v->calls[i].uid) == EFFECT_READ;
}

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
    if (!is_read(v, last) && !view_usual(v, handler, v->calls[last].uid) && is_read(v, other))
        return other;
    bool beside = v->calls[other].end_ns > v->calls[last].start_ns;
    return beside && v->calls[other].seen != v->calls[last].seen ? CALL_NONE : last;
}

/* Is calls[e] an effect that must not be had twice, and that the handler leaves behind when it says
 * that its work was not begun? What a callee did that answers so itself is that one's to say. */
static bool is_left(const struct view *v, uint32_t h, uint32_t callee, uint32_t e)
{
    const struct call *c = &v->calls[e];
    bool usual = v->twin.at[e] != CALL_NONE || view_usual(v, c->parent, c->uid);
    return call_done(c) && call_sure(c) && !c->key && usual && c->start_ns < v->calls[h].end_ns &&
           judge_effect(v->judge, c->uid) == EFFECT_ONCE && view_below(v, h, e) &&
           (!view_below(v, callee, e) || call_done(&v->calls[callee])) && !view_undone(v, e, v->n);
}

static void tell_forwarded(const struct view *v, uint32_t h, uint32_t callee, uint32_t e)
{
    struct judge *j = v->judge;
    const struct call *c = &v->calls[h];
    topic t = topic_of(c->uid, judge_path(j, v->calls[e].uid));
    if (!judge_wants(j, v, ORACLE_WRONG_STATUS, t))
        return;
    struct witness witness[] = {{callee, "answered"}, {h, "passed on as"}, {e, EFFECT_ROLE}};
    const char *status = judge_outcome(j, c->reply);
    judge_tell(j, v, ORACLE_WRONG_STATUS, t, witness, 3,
               "%s answers %s as its own after %s answered %s: whoever retries it does not know "
               "that %s was done",
               judge_service(j, c->uid), status, judge_name(j, v->calls[callee].uid), status,
               judge_name(j, v->calls[e].uid));
}

static void see_forwarded(const struct view *v, uint32_t h)
{
    uint32_t callee = last_failed(v, h);
    if (callee == CALL_NONE || v->calls[callee].seen != v->calls[h].reply)
        return;
    for (uint32_t e = h + 1; e < v->n; e++)
        if (is_left(v, h, callee, e))
            tell_forwarded(v, h, callee, e);
}

static bool is_forwarded(const struct remark *r)
{
    return r->n_evidence && r->evidence[r->n_evidence - 1].role == EFFECT_ROLE;
}

static uid forwarder(struct judge *j, const struct remark *r)
{
    (void)j;
    return is_forwarded(r) ? r->evidence[1].call : UID_NONE;
}

/* Of the effects that a handler leaves behind, those that it can do without do not count, and one
 * of the others is enough. */
static void pick_forwarded(struct judge *j)
{
    for (uint32_t i = 0; i < j->said.n; i++) {
        struct remark *r = &j->said.at[i];
        if (!r->why || r->oracle != oracle_rows[ORACLE_WRONG_STATUS].name || !is_forwarded(r))
            continue;
        uid effect = r->evidence[r->n_evidence - 1].call;
        if (reaction_soft(j, effect) && !effect_listed(j->set, j->opt.names, effect))
            r->why = NULL;
    }
    judge_pick(j, ORACLE_WRONG_STATUS, forwarder);
}

/* ---- blamed ---- */

/* Had a call before child k of the handler, other than a health check, found the request good? */
static bool found_good(const struct view *v, uint32_t handler, uint32_t k)
{
    while (k-- > 0) {
        const struct call *c = &v->calls[view_child(v, handler, k)];
        slice interface = names_text(v->names, uid_element(v->names, c->uid)->interface);
        if (!call_failed(c) && !words_check(interface))
            return true;
    }
    return false;
}

/* The call because of which the caller is blamed; CALL_NONE: it may be right. */
static uint32_t blame_cause(const struct view *v, uint32_t handler)
{
    uint32_t k = view_children(v, handler);
    while ((k = view_failure(v, handler, k)) != CALL_NONE) {
        uint32_t i = view_child(v, handler, k);
        const struct call *c = &v->calls[i];
        if (!answer_blames(c->seen))
            return v->faults.at[i] ? i : CALL_NONE;
        if (v->faults.at[i]) /* not at it: then it comes from below, and that one is told of */
            return c->mode != MODE_NONE && found_good(v, handler, k) ? i : CALL_NONE;
        /* it refuses, with no fault at it: what failed before is why */
    }
    return CALL_NONE;
}

static void see_blamed(const struct view *v, uint32_t h)
{
    struct judge *j = v->judge;
    const struct call *c = &v->calls[h];
    if (v->twin.at[h] == CALL_NONE)
        return;
    const struct call *twin = &j->base.trace.calls.at[v->twin.at[h]];
    if (!outcome_ok(twin->reply) || twin->request != c->request)
        return;
    uint32_t callee = blame_cause(v, h);
    if (callee == CALL_NONE || !judge_wants(j, v, ORACLE_WRONG_STATUS, c->uid))
        return;
    struct witness witness[] = {{callee, "failed"}, {h, "blamed on its caller"}};
    judge_tell(j, v, ORACLE_WRONG_STATUS, c->uid, witness, 2,
               "%s answers %s after %s %s: the same request is fine without faults, so its caller "
               "is not to blame",
               judge_service(j, c->uid), judge_outcome(j, c->reply),
               judge_name(j, v->calls[callee].uid), words_fate(j, v->calls[callee].seen));
}

void oracle_status(const struct view *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        const struct call *c = &v->calls[i];
        if (!v->faults.at[i] || c->reply == OUTCOME_OK || !(c->handled || i == 0))
            continue;
        if (asks_to_retry(c->reply))
            see_forwarded(v, i);
        else if (answer_blames(c->reply))
            see_blamed(v, i);
    }
}

/* ---- hidden ---- */

static bool silent(const struct judge *j, const struct reaction *r)
{
    (void)j;
    return outcome_ok(r->reply) && r->instead == UID_NONE;
}

static bool shows(const struct judge *j, const struct reaction *r)
{
    (void)j;
    return outcome_error(r->reply);
}

static void tell_hidden(struct judge *j, const struct reaction *hidden,
                        const struct reaction *shown)
{
    uid handler = uid_parent(j->opt.names, hidden->group);
    judge_conclude(j, ORACLE_WRONG_STATUS, topic_of(handler, UINT32_MAX), hidden,
                   "%s answers %s when %s answers %s, but %s when that answers %s: its caller "
                   "cannot tell success from failure",
                   judge_service(j, handler), judge_outcome(j, hidden->reply),
                   judge_name(j, hidden->call), judge_outcome(j, hidden->label),
                   judge_outcome(j, shown->reply), judge_outcome(j, shown->label));
}

void oracle_status_end(struct judge *j)
{
    pick_forwarded(j);
    contrast_find(j, &(struct contrast){silent, shows, tell_hidden});
}
