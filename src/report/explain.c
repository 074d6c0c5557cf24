/* SPDX-License-Identifier: Apache-2.0
 *
 * Explanations in words. */
#include "report/report.h"
#include "report/words.h"

const char *explain_name(enum explain_kind kind)
{
    static const char *const names[EXPLAIN_KINDS] = {
        [EXPLAIN_RUN] = "run",
        [EXPLAIN_REDUNDANT] = "redundant",
        [EXPLAIN_IMPOSSIBLE] = "impossible",
        [EXPLAIN_REDUCED] = "reduced",
        [EXPLAIN_OPEN] = "open",
        [EXPLAIN_UNSEEN] = "unseen",
        [EXPLAIN_TIMING] = "timing",
    };
    return names[kind];
}

const char *policy_name(enum policy policy)
{
    static const char *const names[POLICIES] = {
        [POLICY_NONE] = "none",
        [POLICY_DOWNSTREAM] = "downstream dependency",
        [POLICY_EXCLUSION] = "point exclusion",
        [POLICY_INCLUSION] = "point inclusion",
        [POLICY_UNREACHABLE] = "unreachability",
        [POLICY_PROPAGATION] = "upstream propagation",
        [POLICY_ENCAPSULATION] = "service encapsulation",
    };
    return names[policy];
}

static void service_of(const struct names *names, uid u, struct buf *out)
{
    buf_add(out, u == UID_NONE ? SLICE("the client")
                               : names_text(names, uid_element(names, u)->service));
}

static void after(const struct names *names, const struct explanation *x, struct buf *out)
{
    if (x->after == UID_NONE) {
        buf_adds(out, "its calls end as they do here");
        return;
    }
    element_print(names, uid_element(names, x->after), out);
    buf_adds(out, " ends with ");
    label_print(x->outcome, out);
}

static void in_run(const struct names *names, const struct faultloads *fl,
                   const struct explanation *x, struct buf *out)
{
    if (x->run == UINT32_MAX)
        return;
    buf_addf(out, " (seen in run %u, under: ", (unsigned)x->run + 1);
    faultload_print(names, fl, x->run_faultload, out);
    buf_addc(out, ')');
}

static void impossible(const struct names *names, const struct explanation *x, struct buf *out)
{
    buf_adds(out, "cannot happen: ");
    switch (x->policy) {
    case POLICY_DOWNSTREAM:
        words_call(names, x->fault.point, out);
        buf_adds(out, " is only called by a service that is itself never reached, because ");
        words_call(names, x->after, out);
        buf_adds(out, " fails before it gets the request");
        return;
    case POLICY_EXCLUSION:
        service_of(names, x->handler, out);
        buf_adds(out, " does not call ");
        element_print(names, uid_element(names, x->fault.point), out);
        buf_adds(out, " any more when ");
        after(names, x, out);
        return;
    case POLICY_INCLUSION:
        service_of(names, x->handler, out);
        buf_adds(out, " calls ");
        element_print(names, uid_element(names, x->fault.point), out);
        buf_adds(out, " only after a failure that nothing here brings about, for example when ");
        after(names, x, out);
        return;
    default:
        words_call(names, x->fault.point, out);
        buf_adds(out, " is not reached: under the other faults ");
        service_of(names, x->handler, out);
        buf_adds(out, " does not make the call that leads to it");
    }
}

void words_explanation(const struct names *names, const struct faultloads *fl,
                       const struct explanation *x, struct buf *out)
{
    switch (x->kind) {
    case EXPLAIN_RUN: buf_addf(out, "was run, as run %u", (unsigned)x->run + 1); return;
    case EXPLAIN_REDUNDANT:
        buf_adds(out, "shows nothing new: ");
        if (x->handler != UID_NONE) {
            service_of(names, x->handler, out);
            buf_adds(out, x->policy == POLICY_PROPAGATION ? " has met this outcome of "
                                                          : " has met these outcomes up to ");
            element_print(names, uid_element(names, x->fault.point), out);
            buf_adds(out, x->policy == POLICY_PROPAGATION
                              ? " before, as an error that the service itself passed up"
                              : " before, and so has every other service involved");
        } else {
            buf_adds(out, "every service involved has met these outcomes before");
        }
        in_run(names, fl, x, out);
        return;
    case EXPLAIN_IMPOSSIBLE:
        impossible(names, x, out);
        in_run(names, fl, x, out);
        return;
    case EXPLAIN_REDUCED:
        buf_addf(out, "was skipped under the assumption \"%s\"; without it, it would be run",
                 x->reduction);
        return;
    case EXPLAIN_OPEN:
        if (x->outcome == OUT_NONE) {
            buf_adds(out, "was not tried: no run has shown what ");
            element_print(names, uid_element(names, x->after), out);
            buf_adds(out, " answers by itself there");
            return;
        }
        buf_adds(out, "was not tried: what ");
        service_of(names, x->handler, out);
        buf_adds(out, " does after ");
        after(names, x, out);
        buf_adds(out,
                 " is not known (the budget ended before, or the mode is not among those in use)");
        return;
    case EXPLAIN_UNSEEN:
        buf_adds(out, "cannot be judged: no run has shown a call ");
        uid_print(names, x->fault.point, out);
        return;
    case EXPLAIN_TIMING:
        buf_adds(out, "was not run, and what it shows is not known: the answer of ");
        words_call(names, x->after, out);
        buf_adds(out, " may come in time or too late for its caller, which depends on how long the "
                      "faults take; replay it to see");
        return;
    case EXPLAIN_KINDS: return;
    }
}

void report_explanations(const struct explanations *all, struct buf *out)
{
    const struct names *names = all->s->names;
    const struct faultloads *fl = all->s->faultloads;
    if (all->n > 1)
        buf_addf(out, "This means %u faultloads:\n\n", (unsigned)all->n);
    for (uint32_t i = 0; i < all->n; i++) {
        const struct explanation *x = &all->explanation[i];
        if (all->n > 1) {
            buf_adds(out, i ? "\n" : "");
            faultload_print(names, fl, all->faultload[i], out);
            buf_addc(out, '\n');
        }
        buf_adds(out, "This faultload ");
        words_explanation(names, fl, x, out);
        buf_adds(out, ".\n");
        if (x->policy != POLICY_NONE)
            buf_addf(out, "Other tools call this: %s.\n", policy_name(x->policy));
    }
}
