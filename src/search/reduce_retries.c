/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduction `retries`. A call is a retry when only a fault brings it about and it repeats, in the same handler, a
 * call that failed. What may happen at it is then either nothing (the first failure was transient) or the same
 * failure again, and again: a lasting fault, written #*, that stands in place of the first one. */
#include "search/search_int.h"

/* The call of the same handler that `call` repeats, if that failed; else CALL_NONE. */
static uint32_t repeated(const struct search *s, const struct trace *trace, uint32_t call)
{
    const struct call *c = &trace->calls.at[call];
    const struct element *el = uid_element(s->names, c->uid);
    const struct reading *r = &s->reading;
    if (el->n == 0 || s->happy.at[c->uid])
        return CALL_NONE;
    for (uint32_t i = r->order.first.at[c->parent]; i < r->order.first.at[c->parent + 1]; i++) {
        const struct call *b = &trace->calls.at[r->order.child.at[i]];
        const struct element *other = uid_element(s->names, b->uid);
        if (other->service == el->service && other->interface == el->interface &&
            other->payload == el->payload && other->n + 1 == el->n)
            return outcome_ok(b->seen) ? CALL_NONE : r->order.child.at[i];
    }
    return CALL_NONE;
}

bool retries_admit(struct search *s, const struct trace *trace, uint32_t call, struct candidate *c)
{
    uint32_t first = repeated(s, trace, call), before = first;
    if (first == CALL_NONE)
        return true;
    while ((before = repeated(s, trace, first)) != CALL_NONE)
        first = before;
    const struct call *origin = &trace->calls.at[first];
    if (mode_label(c->fault.mode) != call_label(origin))
        return false;
    uint32_t causes = s->reading.causes.at[first];
    c->fault.point = names_uid_all(s->names, origin->uid);
    c->causes = s->reading.prefix.at[causes];
    c->size = causes + 1;
    return true;
}
