/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/explore.h"

#include "base/clock.h"
#include "findings/tally.h"

struct event event_of_run(const struct run *run, const struct search *search, bool asked)
{
    struct event event = {.type = EVENT_RUN,
                          .number = run->number,
                          .purpose = run->purpose,
                          .faultload = run->faultload,
                          .pass = run->verdict.pass,
                          .status = run->verdict.status,
                          .why = run->verdict.pass ? NULL : run->verdict.why,
                          .detail = run->verdict.detail,
                          .took_ns = run->took_ns,
                          .calls = run->trace.calls.n,
                          .hung = run->flags & RUN_HUNG,
                          .crashed = run->flags & RUN_CRASHED,
                          .repeated = run->flags & RUN_REPEATED,
                          .run = run};
    search_progress(search, &event.runs, &event.queued);
    if (asked) {
        const struct search_run *last = search_last(search);
        event.counted = last->repeat                 ? COUNTED_REPEAT
                        : last->purpose == FOR_AUDIT ? COUNTED_AUDIT
                                                     : COUNTED_RUN;
        event.fired = last->fired;
        event.size = last->size;
        event.hits = last->hits;
    }
    return event;
}

/* One run, made and told to whom it concerns. */
static int explore_once(const struct exploration *x, struct tally *tally, faultload f,
                        uint64_t number, struct run *run, struct summary *out, struct err *e)
{
    if (x->runner.run(x->runner.ctx, f, number, run, e)) {
        struct buf text = BUF_INIT(sizeof e->text - 1); /* impossible: under which faultload? */
        buf_addf(&text, "%s, under: ", e->text);
        faultload_print(x->names, x->faultloads, f, &text);
        memcpy(e->text, buf_text(&text), text.n + 1);
        buf_deinit(&text);
        out->stopped = "error";
        return -1;
    }
    run->faultload = f;
    run->purpose = f == FAULTLOAD_EMPTY ? RUN_BASELINE : RUN_SEARCH;
    run->number = number + 1;
    search_observe(x->search, f, &run->trace, &run->verdict);
    tally_run(tally, run);
    if (x->judge)
        judge_run(x->judge, run);
    if (f == FAULTLOAD_EMPTY && !run->verdict.pass)
        out->broken = run->verdict.why;
    if (x->sink && x->sink->take) {
        struct event event = event_of_run(run, x->search, true);
        event.scenario = out->scenario;
        event.found = tally_findings(tally);
        event.failed = out->failed_runs;
        event_send(x->sink, &event);
    }
    return 0;
}

int explore(const struct exploration *x, struct summary *out, struct err *e)
{
    struct tally *tally = tally_new(x->search, x->names, x->faultloads, out);
    struct run run = {0};
    int64_t start_ns = clock_ns();
    int status = 0;
    faultload f;
    out->names = x->names;
    out->faultloads = x->faultloads;
    for (uint64_t number = 0; !out->broken && !status; number++) {
        out->stopped = NULL; /* or the budget that is used up */
        if (x->budget.interrupted && *x->budget.interrupted)
            out->stopped = "interrupt";
        else if (x->budget.max_runs && number >= x->budget.max_runs)
            out->stopped = "runs";
        else if (x->budget.max_time_ns && clock_ns() - start_ns >= x->budget.max_time_ns)
            out->stopped = "time";
        if (out->stopped || !search_next(x->search, &f))
            break;
        status = explore_once(x, tally, f, number, &run, out, e);
    }
    tally_finish(tally);
    if (x->judge)
        judge_finish(x->judge, tally_exhaustive(tally), out);
    summary_tell(out, x->sink);
    tally_free(tally);
    vec_deinit(&run.trace.calls);
    return status;
}
