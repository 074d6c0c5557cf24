/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox run, outfox report: campaigns from the command line. */
#include <signal.h>

#include "campaign/drive.h"
#include "cmd/reports.h"

/* One after the other: what one does to the system would be held against the other. */
static int explore_all(struct session *s, struct err *e)
{
    struct target target = drive_target(s->live);
    for (uint32_t i = 0; i < s->campaigns.n && !live_signal(s->live); i++) {
        campaign_begin(s->campaigns.at[i], &target);
        if (drive(s->live, &s->campaigns.at[i], 1, e) == STATUS_FAILED)
            return -1;
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
    if (session_open_store(s, STORE_WRITE, &e) || (s->args->resume && session_adopt(s, &e))) {
        cmd_fail(&e);
        return EXIT_ENVIRONMENT;
    }
    int code = watch_begin(s);
    if (code)
        return code;
    session_make_campaigns(s);
    int failed = run_campaigns(s, &e);
    progress_end(s->watch.progress);
    s->watch.progress = NULL;
    if (failed)
        cmd_fail(&e);
    code = failed == EXIT_USAGE ? failed : reports_make(s, failed ? e.text : NULL);
    int unwritten = watch_end(s);
    code = failed && (code == EXIT_OK || code == EXIT_INCONCLUSIVE) ? failed : code;
    code = unwritten ? unwritten : code;
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
