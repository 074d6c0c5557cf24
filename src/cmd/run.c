/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox run, outfox report: campaigns from the command line. */
#include <signal.h>

#include "base/clock.h"
#include "cmd/reports.h"
#include "report/progress.h"
#include "report/report.h"

/* ---- running ---- */

struct watch {
    struct progress *progress;
    struct session *session;
};

static void show(void *ctx, const struct campaign_facts *f)
{
    const struct watch *w = ctx;
    const struct args *args = w->session->args;
    const struct campaign_config *c = w->session->config;
    struct progress_facts facts = {.runs = f->runs,
                                   .queued = f->queued,
                                   .findings = f->findings,
                                   .elapsed_ns = f->elapsed_ns,
                                   .max_time_ns =
                                       args->max_time_ns ? args->max_time_ns : c->search.budget_ns,
                                   .max_runs = args->max_runs ? args->max_runs : c->search.max_runs,
                                   .scenario = f->scenario,
                                   .phase = f->phase};
    progress_show(w->progress, &facts, clock_ns());
}

static void found(void *ctx, struct campaign *c, const struct finding *finding,
                  const struct remark *remark)
{
    const struct watch *w = ctx;
    struct buf text = BUF_INIT(1 << 20);
    struct run plain = {0}, seen = {0};
    struct arena keep = {0};
    struct err ignored = {0};
    faultload f = finding ? finding->faultload : remark->faultload;
    uint32_t i = 0;
    while (w->session->campaigns.at[i] != c)
        i++;
    bool known = campaign_run_of(c, FAULTLOAD_EMPTY, &keep, &plain, &ignored) == 0 &&
                 campaign_run_of(c, f, &keep, &seen, &ignored) == 0;
    report_found(reports_title(w->session, i), finding, remark, known ? &plain.trace : NULL,
                 known ? &seen.trace : NULL, style_for(2, w->session->args->color), &text);
    progress_note(w->progress, buf_text(&text));
    vec_deinit(&plain.trace.calls);
    vec_deinit(&seen.trace.calls);
    arena_deinit(&keep);
    buf_deinit(&text);
}

static int explore_all(struct session *s, struct err *e)
{
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        struct campaign *c = s->campaigns.at[i];
        if (campaign_explore(c, s->live, e) || campaign_confirm(c, s->live, e))
            return -1;
        if (live_signal(s->live))
            break;
    }
    return 0;
}

/* From the store to the end of the last run. 0, or an exit code. */
static int run_campaigns(struct session *s, struct err *e)
{
    bool left = true;
    int code = s->args->resume ? session_restore(s, &left, e) : 0;
    if (code)
        return code;
    if (!left) { /* nothing is to be started, but something may be left */
        session_clear_up();
        return 0;
    }
    code = session_start(s, e);
    if (code)
        return code;
    code = explore_all(s, e) ? EXIT_ENVIRONMENT : 0;
    s->signal = live_signal(s->live);
    live_close(s->live);
    s->live = NULL;
    return code;
}

static int run_session(struct session *s)
{
    struct err e = {0};
    struct watch watch = {.session = s};
    if (session_open_store(s, STORE_WRITE, &e) || (s->args->resume && session_adopt(s, &e))) {
        cmd_fail(&e);
        return EXIT_ENVIRONMENT;
    }
    if (!s->args->quiet)
        watch.progress = progress_new(stderr, style_terminal(2));
    s->found = s->args->quiet ? NULL : found;
    session_make_campaigns(s, &watch, s->args->quiet ? NULL : show);
    session_watch(watch.progress);
    int failed = run_campaigns(s, &e);
    session_watch(NULL);
    progress_end(watch.progress);
    if (failed)
        cmd_fail(&e);
    int code = failed == EXIT_USAGE ? failed : reports_make(s, failed ? e.text : NULL);
    code = failed && (code == EXIT_OK || code == EXIT_INCONCLUSIVE) ? failed : code;
    return s->signal == SIGTERM ? EXIT_TERMINATED : s->signal ? EXIT_INTERRUPTED : code;
}

int cmd_run(const struct args *args)
{
    struct session s;
    int code = reports_check(args);
    if (!code)
        code = session_open(&s, args, args->positional[0]);
    if (code)
        return code;
    code = run_session(&s);
    session_close(&s);
    return code;
}

static int tell_reports(struct session *s)
{
    return reports_make(s, NULL);
}

int cmd_report(const struct args *args)
{
    int code = reports_check(args);
    return code ? code : session_stored(args, args->positional[0], tell_reports);
}
