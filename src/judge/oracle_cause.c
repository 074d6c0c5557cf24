/* SPDX-License-Identifier: Apache-2.0
 *
 * failure-without-cause: a service fails although nothing below it did. The deepest such call is
 * the one; those above it have a cause.
 *
 * 1. A failed call below is a cause, whatever made it fail.
 * 2. A fault elsewhere is one where it may reach the service without a call: through an earlier
 *    call to the same service (its circuit breaker is open, it is still busy), or by the time that
 *    is left (an answer "too late"); an event of a plan may reach any.
 * 3. 4xx is an answer like others: a cache misses, a name is taken. Only where the scenario itself
 *    fails without any fault, the one that it fails because of is named. */
#include "judge/oracle_int.h"

/* Nobody got the request, and no fault kept it away. */
static bool unreachable(const struct view *v, uint32_t i)
{
    const struct call *c = &v->calls[i];
    enum outcome_kind kind = outcome_kind(c->seen);
    return i > 0 && !c->handled && call_failed(c) && kind != OUT_NONE && kind != OUT_TIMEOUT &&
           kind != OUT_CANCELLED;
}

static bool fails_alone(const struct view *v, uint32_t i)
{
    const struct call *c = &v->calls[i];
    bool error = (c->handled || i == 0) && answer_is_error(c->reply);
    if (v->faults.at[i] || c->flags & CALL_OPEN || !(error || unreachable(v, i)))
        return false;
    for (uint32_t k = i + 1; k < v->n; k++)
        if (call_failed(&v->calls[k]) && view_below(v, i, k))
            return false;
    if (!v->n_faults)
        return true;
    /* can one of the run's faults, none of which is at or below the call, have reached it? */
    if (c->reply == OUTCOME(OUT_STATUS, 504) || c->reply == OUTCOME(OUT_GRPC, 4))
        return false; /* too late */
    if (view_harmed(v))
        return false;
    for (uint32_t k = 0; k < v->n; k++)
        if ((k < i && view_service(v, k) == view_service(v, i) && v->faults.at[k]) ||
            (call_failed(&v->calls[k]) && v->calls[k].flags & CALL_AMBIGUOUS))
            return false;
    return true;
}

static bool fails(outcome o)
{
    return outcome_kind(o) == OUT_STATUS ? outcome_code(o) >= 400 : !outcome_ok(o);
}

void oracle_cause(const struct view *v)
{
    struct judge *j = v->judge;
    bool calm = v->run->faultload == FAULTLOAD_EMPTY && v->n_faults == 0;
    if (v->run->flags & RUN_CRASHED || (!calm && v->n_faults == 0))
        return; /* it died of something; or faults that are not there would be named */
    for (uint32_t i = v->n; i-- > 0;) {
        const struct call *c = &v->calls[i];
        struct witness witness = {i, "failed"};
        if ((c->reply == OUTCOME_OK && c->seen == OUTCOME_OK) || /* most are, and seen at once */
            !fails_alone(v, i) || !remark_due(v, ORACLE_FAILURE_WITHOUT_CAUSE, c->uid))
            continue;
        if (unreachable(v, i))
            remark_write(v, ORACLE_FAILURE_WITHOUT_CAUSE, c->uid, &witness, 1,
                         "%s cannot be reached, although no fault blocks it", say_name(j, c->uid));
        else
            remark_write(v, ORACLE_FAILURE_WITHOUT_CAUSE, c->uid, &witness, 1,
                         "%s answers %s although nothing below it failed", say_name(j, c->uid),
                         say_outcome(j, c->reply));
    }
    outcome client = v->calls[0].reply;
    if (!calm || run_expected(v->run) || outcome_kind(client) == OUT_EXIT || !fails(client))
        return;
    /* the scenario fails without any fault: from the client's answer down to where it comes from,
     * the last call that failed, each time */
    uint32_t i = 0, below = 0;
    do {
        i = below;
        for (uint32_t k = view_children(v, i); k-- > 0 && below == i;)
            if (fails(v->calls[view_child(v, i, k)].seen))
                below = view_child(v, i, k);
    } while (below != i);
    const struct call *c = &v->calls[i];
    enum outcome_kind kind = outcome_kind(c->seen);
    bool left = kind == OUT_TIMEOUT || kind == OUT_CANCELLED; /* at a door they are the same */
    if (fails_alone(v, i) || (kind != OUT_STATUS && kind != OUT_GRPC && !left) ||
        !remark_due(v, ORACLE_FAILURE_WITHOUT_CAUSE, c->uid))
        return;
    struct witness witness = {i, "failed"};
    const char *answers = left ? "does not answer in time" : "answers ";
    remark_write(v, ORACLE_FAILURE_WITHOUT_CAUSE, c->uid, &witness, 1,
                 "%s %s%s even without faults, so the scenario fails", say_name(j, c->uid), answers,
                 left ? "" : say_outcome(j, c->seen));
}
