/* SPDX-License-Identifier: Apache-2.0
 *
 * Explanations in words. */
#include "report/report.h"
#include "report/words.h"

const char *const explain_names[EXPLAIN_KINDS] = {
    [EXPLAIN_RUN] = "run",
    [EXPLAIN_REDUNDANT] = "redundant",
    [EXPLAIN_IMPOSSIBLE] = "impossible",
    [EXPLAIN_REDUCED] = "reduced",
    [EXPLAIN_OPEN] = "open",
    [EXPLAIN_UNSEEN] = "unseen",
    [EXPLAIN_TIMING] = "timing",
};

const char *const policy_names[POLICIES] = {
    [POLICY_NONE] = "none",
    [POLICY_DOWNSTREAM] = "downstream dependency",
    [POLICY_EXCLUSION] = "point exclusion",
    [POLICY_INCLUSION] = "point inclusion",
    [POLICY_UNREACHABLE] = "unreachability",
    [POLICY_PROPAGATION] = "upstream propagation",
    [POLICY_ENCAPSULATION] = "service encapsulation",
};

static void in_run(const struct names *names, const struct faultloads *fl,
                   const struct explanation *x, struct buf *out)
{
    if (x->run == UINT32_MAX)
        return;
    buf_addf(out, " (seen in run %u, under: ", (unsigned)x->run + 1);
    faultload_print(names, fl, x->run_faultload, out);
    buf_addc(out, ')');
}

static void impossible(const struct names *names, const struct explanation *x, const char *after,
                       struct buf *out)
{
    uid call = x->fault.point;
    buf_adds(out, "cannot happen: ");
    if (x->policy == POLICY_DOWNSTREAM)
        words_add(out, names,
                  "%c is only called by a service that is itself never reached, because %c fails "
                  "before it gets the request",
                  call, x->after);
    else if (x->policy == POLICY_EXCLUSION)
        words_add(out, names, "%v does not call %e any more when %s", x->handler, call, after);
    else if (x->policy == POLICY_INCLUSION)
        words_add(out, names,
                  "%v calls %e only after a failure that nothing here causes, for example when %s",
                  x->handler, call, after);
    else
        words_add(out, names,
                  "%c is not reached: under the other faults %v does not make the call that leads "
                  "to it",
                  call, x->handler);
}

void words_explanation(const struct names *names, const struct faultloads *fl,
                       const struct explanation *x, struct buf *out)
{
    struct buf after = BUF_INIT(1 << 16);
    words_add(&after, names,
              x->after == UID_NONE ? "its calls end as they do here" : "%e ends with %l", x->after,
              x->outcome);
    switch (x->kind) {
    case EXPLAIN_RUN: buf_addf(out, "was run, as run %u", (unsigned)x->run + 1); break;
    case EXPLAIN_REDUNDANT:
        buf_adds(out, "shows nothing new: ");
        words_add(out, names,
                  x->handler == UID_NONE ? "every service involved has met these outcomes before"
                  : x->policy == POLICY_PROPAGATION
                      ? "%v has met this outcome of %e before, as an error that the service itself "
                        "passed up"
                      : "%v has met these outcomes up to %e before, and so has every other service "
                        "involved",
                  x->handler, x->fault.point);
        in_run(names, fl, x, out);
        break;
    case EXPLAIN_IMPOSSIBLE:
        impossible(names, x, buf_text(&after), out);
        in_run(names, fl, x, out);
        break;
    case EXPLAIN_REDUCED:
        buf_addf(out, "was skipped under the assumption \"%s\"; without it, it would be run",
                 x->reduction);
        break;
    case EXPLAIN_OPEN:
        if (x->outcome == OUT_NONE)
            words_add(out, names, "was not tried: no run has shown what %e answers by itself there",
                      x->after);
        else
            words_add(out, names,
                      "was not tried: what %v does after %s is not known (the budget "
                      "ended first, or the mode is not in use)",
                      x->handler, buf_text(&after));
        break;
    case EXPLAIN_UNSEEN:
        buf_adds(out, "cannot be judged: no run has shown a call ");
        uid_print(names, x->fault.point, out);
        break;
    case EXPLAIN_TIMING:
        words_add(out, names,
                  "was not run, and what it shows is not known: the answer of %c may "
                  "arrive in time or too late for its caller, depending on how long "
                  "the faults take; replay it to see",
                  x->after);
        break;
    case EXPLAIN_KINDS: break;
    }
    buf_deinit(&after);
}

void report_explanations(const struct explanations *all, struct buf *out)
{
    const struct names *names = all->s->names;
    const struct faultloads *fl = all->s->faultloads;
    if (all->n > 1)
        buf_addf(out,
                 "This matches %u faultloads:\n"
                 "\n",
                 (unsigned)all->n);
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
            buf_addf(out, "Other tools call this: %s.\n", policy_names[x->policy]);
    }
}
