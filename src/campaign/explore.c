/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/explore.h"

#include "base/clock.h"
#include "campaign/tally.h"

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
    progress->show(progress->ctx, stats.runs, stats.queued, tally_failed(tally));
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

int explore(struct search *search, struct names *names, struct faultloads *faultloads,
            const struct runner *runner, const struct explore_budget *budget,
            const struct explore_progress *progress, struct summary *out, struct err *e)
{
    struct tally *tally = tally_new(search, faultloads, out);
    struct run run = {0};
    int64_t start_ns = clock_ns();
    int status = 0;
    faultload f;
    out->names = names;
    out->faultloads = faultloads;
    for (uint64_t number = 0; !out->broken; number++) {
        if (progress && number % SHOW_EVERY == 0)
            show(search, tally, progress);
        out->stopped = used_up(budget, number, start_ns);
        if (out->stopped || !search_next(search, &f))
            break;
        status = runner->run(runner->ctx, f, number, &run.trace, &run.verdict, e);
        if (status) {
            out->stopped = "error";
            name_faultload(faultloads, names, f, e);
            break;
        }
        search_observe(search, f, &run.trace, &run.verdict);
        tally_run(tally, &run);
        if (f == FAULTLOAD_EMPTY && !run.verdict.pass)
            out->broken = run.verdict.why;
    }
    tally_finish(tally);
    tally_free(tally);
    vec_deinit(&run.trace.calls);
    return status;
}
