/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox run: campaigns from the command line, and what is told of them while they last. */
#include <errno.h>
#include <signal.h>

#include "base/clock.h"
#include "base/outlet.h"
#include "cmd/session.h"
#include "report/report.h"

/* ---- while it lasts ---- */

/* A finding as it comes, with what its calls were if that can be read. */
static void announce(struct session *s, const struct event *event)
{
    struct buf text = BUF_INIT(1 << 20);
    struct run plain = {0}, seen = {0};
    struct arena keep = {0};
    struct err ignored = {0};
    uint32_t i = 0;
    while (strcmp(session_scenario(s, i), event->scenario) != 0)
        i++;
    struct campaign *c = s->campaigns.at[i];
    bool known = campaign_run_of(c, FAULTLOAD_EMPTY, &keep, &plain, &ignored) == 0 &&
                 campaign_run_of(c, event->faultload, &keep, &seen, &ignored) == 0;
    report_found(reports_title(s, i), event->as_finding, event->as_remark,
                 known ? &plain.trace : NULL, known ? &seen.trace : NULL,
                 style_for(2, s->args->color), &text);
    progress_note(s->watch.progress, buf_text(&text));
    vec_deinit(&plain.trace.calls);
    vec_deinit(&seen.trace.calls);
    arena_deinit(&keep);
    buf_deinit(&text);
}

static void watch_event(void *ctx, const struct event *event)
{
    struct session *s = ctx;
    struct watch *w = &s->watch;
    struct buf line = BUF_INIT(1 << 22);
    bool told =
        (event->type == EVENT_FINDING || event->type == EVENT_REMARK) && event->stage == STAGE_TOLD;
    if (event->type == EVENT_WARNING) {
        uint32_t n = w->warned.text.n;
        bool news = intern_put(&w->warned, slice_of(event->text)) == n;
        buf_addf(&line, "outfox: %s", event->text);
        if (news && w->progress)
            progress_note(w->progress, buf_text(&line));
        else if (news)
            fprintf(stderr, "%s\n", buf_text(&line));
    } else if (w->progress && told) {
        announce(s, event);
    } else if (w->progress) {
        progress_event(w->progress, event, clock_ns());
    }
    if (w->events) { /* each line is written as it comes: somebody may be reading along */
        buf_clear(&line);
        event_print(event, &s->names, &s->faultloads, &line);
        buf_addc(&line, '\n');
        errno = 0;
        if (!w->failed && (fwrite(line.p, 1, line.n, w->events) != line.n || fflush(w->events)))
            w->failed = errno ? errno : EIO;
    }
    buf_deinit(&line);
}

struct event_sink watch_sink(struct session *s)
{
    return (struct event_sink){s, watch_event};
}

/* ---- the verb ---- */

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
    /* one after the other: what one does to the system would be held against the other */
    struct target target = drive_target(s->live);
    for (uint32_t i = 0; i < s->campaigns.n && !code && !live_signal(s->live); i++) {
        campaign_begin(s->campaigns.at[i], &target);
        if (drive(s->live, &s->campaigns.at[i], 1, e) == STATUS_FAILED)
            code = EXIT_ENVIRONMENT;
    }
    s->signal = live_signal(s->live);
    live_close(s->live);
    s->live = NULL;
    return code;
}

static int run_session(struct session *s, struct err *e)
{
    const char *file = s->args->events;
    struct watch *w = &s->watch;
    struct err why = {0};
    if (store_open(s->config->store.p, STORE_WRITE, &s->store, e) ||
        (s->args->resume && session_adopt(s, e)))
        return EXIT_ENVIRONMENT;
    errno = 0;
    if (file)
        w->events = strcmp(file, "-") == 0 ? stdout : outlet_open(file, false);
    if (file && !w->events)
        return reports_refuse("--events", file, errno);
    if (!s->args->quiet)
        w->progress = progress_new(stderr, style_terminal(2));
    session_make_campaigns(s);
    int failed = run_campaigns(s, &why);
    progress_end(w->progress);
    w->progress = NULL;
    if (failed)
        cmd_fail(&why);
    int code = failed == EXIT_USAGE ? failed : reports_make(s, failed ? why.text : NULL);
    if (failed && (code == EXIT_OK || code == EXIT_INCONCLUSIVE))
        code = failed;
    errno = 0;
    if (w->events && w->events != stdout && fclose(w->events) && !w->failed)
        w->failed = errno ? errno : EIO;
    w->events = NULL;
    if (w->failed)
        code = reports_refuse("--events", file, w->failed);
    return s->signal == SIGTERM ? EXIT_TERMINATED : s->signal ? EXIT_INTERRUPTED : code;
}

int cmd_run(const struct args *args)
{
    int code = reports_check(args);
    return code ? code : session_do(args, args->positional[0], run_session);
}
