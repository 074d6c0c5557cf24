/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox run: campaigns from the command line, and what is told of them while they last. */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/outlet.h"
#include "cmd/report_file.h"
#include "cmd/ui.h"
#include "report/report.h"

/* ---- while it lasts ---- */

/* Which of the session's scenarios an event is of; there is one. */
static uint32_t scenario_of(const struct session *s, const struct event *event)
{
    uint32_t i = 0;
    while (strcmp(session_scenario(s, i), event->scenario) != 0)
        i++;
    return i;
}

/* A finding as it comes, with what its calls were if that can be read. */
static void announce(struct session *s, const struct event *event)
{
    struct buf text = BUF_INIT(1 << 20);
    struct run plain = {0}, seen = {0};
    struct arena keep = {0};
    struct err ignored = {0};
    uint32_t i = scenario_of(s, event);
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
    ui_event(s->ui, event);
    if (event->type == EVENT_RUN || event->type == EVENT_AGAIN)
        ledger_event(s->ledgers.at[scenario_of(s, event)], event);
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

/* From the store, or from where they were, to the end of the last run. 0, or an exit code. */
static int run_campaigns(struct session *s, bool restore, struct err *e)
{
    bool left = true;
    struct ui *ui = s->ui;
    int code = restore ? session_restore(s, &left, e) : 0;
    if (code)
        return code;
    if (!left) { /* nothing is to be started, but something may be left */
        session_clear_up();
        return 0;
    }
    code = s->live ? 0 : session_start(s, e);
    if (code)
        return code;
    ui_ready(ui);
    struct target target = drive_target(s->live);
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        ui_begins(ui, i);
        campaign_begin(s->campaigns.at[i], &target);
    }
    if (drive(s->live, s->campaigns.at, s->campaigns.n, ui ? &ui->steer : NULL, e) == STATUS_FAILED)
        code = EXIT_ENVIRONMENT;
    for (uint32_t i = 0; i < s->campaigns.n; i++)
        ui_ended(ui, i);
    s->signal = live_signal(s->live);
    return code;
}

/* The campaigns, and what is reported of them. *stays: the page is there, and may be left there. */
static int run_and_report(struct session *s, bool restore, bool *stays)
{
    struct watch *w = &s->watch;
    struct err why = {0};
    if (!s->args->quiet)
        w->progress = progress_new(stderr, style_terminal(2));
    int failed = run_campaigns(s, restore, &why);
    *stays = s->ui && s->ui->stays && !s->signal && failed != EXIT_USAGE && failed < 128;
    if (!*stays || failed)
        session_end(s);
    progress_end(w->progress);
    w->progress = NULL;
    if (failed)
        cmd_fail(&why);
    if (failed == EXIT_USAGE)
        return failed;
    ui_rests(s->ui, failed ? why.text : NULL);
    if (s->ui)
        s->ui->muted = true;
    int code = reports_make(s, failed ? why.text : NULL);
    if (s->ui)
        s->ui->muted = false;
    return failed && (code == EXIT_OK || code == EXIT_INCONCLUSIVE) ? failed : code;
}

/* What the services are, for a later campaign that asks what has changed. Of one without an identity
 * nothing is said before somebody asks, but a `files` that does not work is a mistake. */
static void take_identities(struct session *s)
{
    const struct campaign_config *c = s->config;
    identities_take(&s->identities, c, s->simulated);
    for (uint32_t i = 0; i < c->services.n; i++)
        if (c->services.at[i].files.n && s->identities.list.at[i].none)
            fprintf(stderr, "outfox: service \"%s\" has no identity for --since: %s\n",
                    c->services.at[i].name.p, s->identities.list.at[i].none);
}

static int run_session(struct session *s, struct err *e)
{
    const char *file = s->args->events;
    struct watch *w = &s->watch;
    bool stays, restore = s->args->resume;
    if (restore && s->args->since) {
        err_set(e, 0, 0,
                "--resume goes on with what a campaign was built on; leave out --since, or start a "
                "new one without --resume");
        return EXIT_USAGE;
    }
    int code = reports_spare(s, e);
    code = code ? code : reports_earlier(s, e);
    if (code)
        return code;
    if (store_open(s->config->store.p, STORE_WRITE, &s->store, e) ||
        (s->args->resume && session_adopt(s, e)))
        return EXIT_ENVIRONMENT;
    if (tests_compare(s, e))
        return EXIT_ENVIRONMENT;
    errno = 0;
    if (file)
        w->events = strcmp(file, "-") == 0 ? stdout : outlet_open(file, OUTLET_TEXT);
    if (file && !w->events)
        return report_refuse("--events", file, errno);
    take_identities(s);
    code = s->args->since ? session_since(s, e) : s->args->resume ? session_recall(s, e) : 0;
    if (code)
        return code;
    if (s->trusts)
        fprintf(stderr, "outfox: %s\n", s->trusts);
    session_make_campaigns(s);
    if (s->args->ui && ui_open(s, isatty(STDERR_FILENO), e))
        return EXIT_ENVIRONMENT;
    if (s->ui)
        ui_tell(s->ui);
    do {
        code = run_and_report(s, restore, &stays);
        restore = false;
        if (stays)
            fputs("outfox: the page stays until Ctrl-C\n", stderr);
    } while (stays && ui_serve(s->ui));
    session_end(s);
    errno = 0;
    if (w->events && w->events != stdout && fclose(w->events) && !w->failed)
        w->failed = errno ? errno : EIO;
    w->events = NULL;
    if (w->failed)
        code = report_refuse("--events", file, w->failed);
    return s->signal == SIGTERM ? EXIT_TERMINATED : s->signal ? EXIT_INTERRUPTED : code;
}

int cmd_run(const struct args *args)
{
    int code = reports_check(args);
    if (!code)
        code = ui_check(args);
    return code ? code : session_do(args, args->positional[0], true, run_session);
}
