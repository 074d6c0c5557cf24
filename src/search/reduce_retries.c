/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduction `retries`. A call is a retry when only a fault brings it about and it repeats, in the
 * same handler, a call that failed. What may happen at it is then either nothing (the first failure
 * was transient) or the same failure again, and again: a lasting fault, written #*, that stands in
 * place of the first one. */
#include "search/search_int.h"

static bool only_faults_bring(const struct search *s, const struct call *c)
{
    return uid_element(s->names, c->uid)->n > 0 && !s->happy.at[c->uid];
}

/* The first of the calls of the same handler that `call` repeats, each of which failed before the
 * next one; CALL_NONE: it repeats none. Equal calls stand in the order of their n, so one way back
 * meets all of them. */
static uint32_t origin_of(const struct search *s, const struct trace *trace, uint32_t call)
{
    const struct reading *r = &s->reading;
    const struct call *c = &trace->calls.at[call];
    uint32_t origin = CALL_NONE, first = r->order.first.at[c->parent];
    for (uint32_t i = r->order.first.at[c->parent + 1]; i-- > first && only_faults_bring(s, c);) {
        const struct call *b = &trace->calls.at[r->order.child.at[i]];
        const struct element *el = uid_element(s->names, c->uid);
        const struct element *other = uid_element(s->names, b->uid);
        if (other->service != el->service || other->interface != el->interface ||
            other->payload != el->payload || other->n + 1 != el->n)
            continue;
        if (outcome_ok(b->seen) || b->end_ns > c->start_ns)
            break;
        origin = r->order.child.at[i];
        c = b;
    }
    return origin;
}

/* Would a lasting fault here keep a fault at this point from firing? */
static bool hidden_by(struct search *s, uid lasting, uid point)
{
    for (uid u = point; u != UID_NONE; u = uid_parent(s->names, u))
        if (names_uid_all(s->names, u) == lasting)
            return true;
    return false;
}

/* The causes of `call` with a lasting fault in place of all that made the tries before it fail. */
static void make_lasting(struct search *s, uint32_t call, uid first, struct candidate *c)
{
    struct reading *r = &s->reading;
    struct fault last = {names_uid_all(s->names, first), c->fault.mode};
    uid lasting = last.point;
    search_set_flags(s, lasting, s->flags.at[first]);
    faultload f = FAULTLOAD_EMPTY;
    for (uint32_t i = 0; i < r->causes.at[call]; i++) {
        if (hidden_by(s, lasting, r->fired.at[i].point))
            continue;
        f = faultload_extend(s->fl, f, last);
        last = r->fired.at[i];
    }
    c->causes = f;
    c->fault = last;
}

/* Is the last fault below a call that a lasting one of the others hits already? */
static bool out_of_reach(struct search *s, const struct candidate *c)
{
    for (faultload f = c->causes; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        uid point = s->fl->rows.at[f].last.point;
        if (uid_element(s->names, point)->n == N_ANY &&
            hidden_by(s, point, uid_parent(s->names, c->fault.point)))
            return true;
    }
    return false;
}

bool retries_admit(struct search *s, const struct trace *trace, uint32_t call, struct candidate *c)
{
    if (out_of_reach(s, c))
        return false;
    uint32_t first = call == CALL_NONE ? CALL_NONE : origin_of(s, trace, call);
    if (first == CALL_NONE)
        return true;
    const struct call *origin = &trace->calls.at[first];
    if (uid_element(s->names, origin->uid)->n > 0)
        return true; /* the handler makes this call for other reasons too, which #* would hit */
    label wanted = s->tree.nodes.at[c->edge].label;
    if (c->fault.point != trace->calls.at[call].uid) /* brought about from below */
        return wanted == call_label(origin) || (!(wanted & LABEL_MODE) && outcome_ok(wanted));
    if (wanted != call_label(origin))
        return false;
    make_lasting(s, call, origin->uid, c);
    return true;
}
