/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/explore.h"

#include "base/clock.h"
#include "findings/tally.h"

enum { SHOW_EVERY = 64 }; /* runs between reports of progress */

/* Which budget is used up, if any. */
static const char *used_up(const struct explore_budget *budget, uint64_t number, int64_t start_ns)
{
    if (budget->interrupted && *budget->interrupted)
        return "interrupt";
    if (budget->max_runs && number >= budget->max_runs)
        return "runs";
    if (budget->max_time_ns && clock_ns() - start_ns >= budget->max_time_ns)
        return "time";
    return NULL;
}

static void show(const struct search *search, const struct tally *tally,
                 const struct explore_progress *progress)
{
    struct search_stats stats;
    search_stats(search, &stats);
    progress->show(progress->ctx, stats.runs, stats.queued, tally_findings(tally));
}

/* Says under which faultload a run was impossible. */
static void name_faultload(const struct faultloads *fl, const struct names *names, faultload f,
                           struct err *e)
{
    struct buf text = BUF_INIT(sizeof e->text - 1);
    buf_addf(&text, "%s, under: ", e->text);
    faultload_print(names, fl, f, &text);
    memcpy(e->text, buf_text(&text), text.n + 1);
    buf_deinit(&text);
}

/* One run, made and told to whom it concerns. */
static int explore_once(const struct exploration *x, struct tally *tally, faultload f,
                        uint64_t number, struct run *run, struct summary *out, struct err *e)
{
    if (x->runner.run(x->runner.ctx, f, number, run, e)) {
        out->stopped = "error";
        name_faultload(x->faultloads, x->names, f, e);
        return -1;
    }
    run->faultload = f;
    run->number = number + 1;
    search_observe(x->search, f, &run->trace, &run->verdict);
    tally_run(tally, run);
    if (x->judge)
        judge_run(x->judge, run);
    if (f == FAULTLOAD_EMPTY && !run->verdict.pass)
        out->broken = run->verdict.why;
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
        if (x->progress && number % SHOW_EVERY == 0)
            show(x->search, tally, x->progress);
        out->stopped = used_up(&x->budget, number, start_ns);
        if (out->stopped || !search_next(x->search, &f))
            break;
        status = explore_once(x, tally, f, number, &run, out, e);
    }
    tally_finish(tally);
    if (x->judge)
        judge_finish(x->judge, tally_exhaustive(tally), out);
    tally_free(tally);
    vec_deinit(&run.trace.calls);
    return status;
}
