/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/explore.h"

#include "base/clock.h"
#include "findings/tally.h"
#include "search/suite.h"

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

/* One scenario on its way. */
struct trip {
    const struct exploration *x;
    struct tally *tally;
    struct summary *out;
    struct run run;
    uint64_t number;
    bool over; /* nothing is left of it */
};

/* One run, made and told to whom it concerns. */
static int explore_once(struct trip *t, faultload f, struct err *e)
{
    const struct exploration *x = t->x;
    struct run *run = &t->run;
    if (x->runner.run(x->runner.ctx, f, t->number, run, e)) {
        struct buf text = BUF_INIT(sizeof e->text - 1); /* impossible: under which faultload? */
        buf_addf(&text, "%s, under: ", e->text);
        faultload_print(x->names, x->faultloads, f, &text);
        memcpy(e->text, buf_text(&text), text.n + 1);
        buf_deinit(&text);
        t->out->stopped = "error";
        return -1;
    }
    run->faultload = f;
    run->purpose = f == FAULTLOAD_EMPTY ? RUN_BASELINE : RUN_SEARCH;
    run->number = ++t->number;
    search_observe(x->search, f, &run->trace, &run->verdict);
    tally_run(t->tally, run);
    if (x->judge)
        judge_run(x->judge, run);
    if (f == FAULTLOAD_EMPTY && !run->verdict.pass) {
        t->out->broken = run->verdict.why;
        t->over = true;
    }
    if (x->sink && x->sink->take) {
        struct event event = event_of_run(run, x->search, true);
        event.scenario = t->out->scenario;
        event.found = tally_findings(t->tally);
        event.failed = t->out->failed_runs;
        event_send(x->sink, &event);
    }
    return 0;
}

/* Which budget is used up; NULL: none. */
static const char *stopped_by(const struct exploration *x, uint64_t runs, int64_t start_ns)
{
    if (x->budget.interrupted && *x->budget.interrupted)
        return "interrupt";
    if (x->budget.max_runs && runs >= x->budget.max_runs)
        return "runs";
    if (x->budget.max_time_ns && clock_ns() - start_ns >= x->budget.max_time_ns)
        return "time";
    return NULL;
}

/* The trip that makes the next run; NULL: all are over. */
static struct trip *next_trip(struct trip *trips, uint32_t n, struct suite *suite, bool *ready)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < n; i++) {
        left += ready[i] = !trips[i].over;
        search_retire(trips[i].x->search, trips[i].over);
    }
    uint32_t next = left && suite ? suite_turn(suite, ready) : 0;
    return !left || next == SUITE_NOBODY ? NULL : &trips[next];
}

static int explore_trips(struct trip *trips, uint32_t n, struct suite *suite, bool *ready,
                         struct err *e)
{
    int64_t start_ns = clock_ns();
    const char *by = NULL;
    uint64_t runs = 0;
    int status = 0;
    faultload f;
    struct trip *t;
    while (!status && (t = next_trip(trips, n, suite, ready))) {
        by = stopped_by(trips->x, runs, start_ns);
        if (by)
            break;
        if (search_next(t->x->search, &f)) {
            status = explore_once(t, f, e);
            runs++;
        } else {
            t->over = search_done(t->x->search);
        }
    }
    for (uint32_t i = 0; i < n && by; i++)
        if (!trips[i].over)
            trips[i].out->stopped = by;
    return status;
}

int explore(const struct exploration *x, uint32_t n, struct suite *suite,
            struct summary *const *out, struct err *e)
{
    struct trip *trips = mem_zero(n * sizeof *trips);
    bool *ready = mem_zero(n * sizeof *ready);
    for (uint32_t i = 0; i < n; i++) {
        trips[i] = (struct trip){.x = &x[i], .out = out[i]};
        trips[i].tally = tally_new(x[i].search, x[i].names, x[i].faultloads, out[i]);
        out[i]->names = x[i].names;
        out[i]->faultloads = x[i].faultloads;
    }
    int status = explore_trips(trips, n, suite, ready, e);
    for (uint32_t i = 0; i < n; i++) {
        tally_finish(trips[i].tally);
        if (x[i].judge)
            judge_finish(x[i].judge, tally_exhaustive(trips[i].tally), out[i]);
        summary_tell(out[i], x[i].sink);
        tally_free(trips[i].tally);
        vec_deinit(&trips[i].run.trace.calls);
    }
    mem_free(ready);
    mem_free(trips);
    return status;
}
