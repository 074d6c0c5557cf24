/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox replay: one faultload again, or all findings of a campaign, one after the other. */
#include <signal.h>

#include "campaign/drive.h"
#include "cmd/contracts.h"
#include "cmd/reports.h"
#include "cmd/subject.h"
#include "report/report.h"
#include "report/words.h"

/* The damage may show only afterwards. */
static void print_after(const struct args *args, const struct replay *r)
{
    fprintf(args->json ? stderr : stdout,
            "afterwards, without faults, the system stays broken: %s%s%s%s\n", r->after.verdict.why,
            r->after.verdict.detail ? " (" : "",
            r->after.verdict.detail ? r->after.verdict.detail : "",
            r->after.verdict.detail ? ")" : "");
}

static void print_doubt(const struct summary *s)
{
    fprintf(stderr, "outfox: %s\n", s->doubt);
    for (uint32_t i = 0; i < s->notes.n; i++)
        fprintf(stderr, "outfox: %s\n", s->notes.at[i]);
}

static bool any_fired(const struct run *run)
{
    for (uint32_t i = 0; i < run->trace.calls.n; i++)
        if (run->trace.calls.at[i].mode != MODE_NONE)
            return true;
    return false;
}

/* What came of it: is something wrong, and is it the finding that was asked for? */
static struct replayed conclude(struct session *s, const struct subject *subject,
                                const struct replay *r)
{
    struct campaign *c = s->campaigns.at[subject->campaign];
    const struct summary *summary = campaign_summary(c);
    bool wanted = subject->patterns.n || subject->faultload != FAULTLOAD_EMPTY;
    bool damage = r->before.verdict.pass && !r->after.verdict.pass, said = false, found = false;
    for (uint32_t i = 0; i < summary->remarks.n; i++) {
        const struct remark *m = &summary->remarks.at[i];
        found |= m->severity == SEVERITY_FINDING;
        said |= oracle_find(slice_of(m->oracle)) == subject->oracle;
    }
    bool failed = !r->faulty.verdict.pass || damage;
    if (subject->oracle == ORACLE_BLAST_RADIUS)
        said |= damage || r->faulty.event;
    struct replayed out = {.id = subject->id,
                           .scenario = session_scenario(s, subject->campaign),
                           .why = subject->why,
                           .faultload = subject->faultload,
                           .wrong = failed || found,
                           .damage = damage,
                           .unfired = campaign_unfired(c) || (wanted && !any_fired(&r->faulty)),
                           .shows = subject->oracle == ORACLES ? failed : said};
    out.wrong |= subject->id && out.shows;
    out.unsure = !out.shows && (out.unfired || summary->doubt ||
                                (subject->oracle != ORACLES && oracle_compares(subject->oracle)));
    return out;
}

static int code_of(const struct replayed *r)
{
    return r->wrong ? EXIT_FINDINGS : r->unsure ? EXIT_INCONCLUSIVE : EXIT_OK;
}

/* The whole of it, with its tree. */
static int print_replay(struct session *s, const struct subject *subject, const struct replay *r)
{
    const struct args *args = s->args;
    struct replayed result = conclude(s, subject, r);
    const struct summary *summary = reports_title(s, subject->campaign);
    struct buf out = BUF_INIT(SIZE_MAX);
    if (args->json)
        report_replay_json(s->config->name.p, summary, &result, &r->before, &r->faulty, &out);
    else
        report_replay(summary, &r->before, &r->faulty, style_for(1, args->color), &out);
    cmd_print(&out, stdout);
    if (result.damage)
        print_after(args, r);
    if (subject->id && !args->json)
        report_shown(&result, style_for(1, args->color), &out);
    cmd_print(&out, stdout);
    if (result.unfired)
        fputs("outfox: not every fault fired: no call was left that matches it\n", stderr);
    if (summary->doubt)
        print_doubt(summary);
    return code_of(&result);
}

/* 0, or an exit code after the error was printed. */
static int run_again(struct session *s, const struct subject *subject, struct replay *r)
{
    struct err e = {0};
    struct campaign *c = s->campaigns.at[subject->campaign];
    if (s->store && campaign_recall(c, &e) < 0)
        e = (struct err){0}; /* what cannot be read is learned anew */
    struct target target = drive_target(s->live);
    campaign_replay(c, &target, subject->faultload, subject->patterns.at, subject->patterns.n, r);
    enum status status = drive(s->live, &c, 1, &e);
    if (status == STATUS_OK)
        return 0;
    if (status != STATUS_FAILED)
        return live_signal(s->live) == SIGTERM ? EXIT_TERMINATED : EXIT_INTERRUPTED;
    cmd_fail(&e);
    return EXIT_ENVIRONMENT;
}

static void replay_deinit(struct replay *r)
{
    vec_deinit(&r->before.trace.calls);
    vec_deinit(&r->faulty.trace.calls);
    vec_deinit(&r->after.trace.calls);
}

static int replay_one(struct session *s, const struct subject *subject)
{
    struct replay r = {0};
    session_make_campaigns(s);
    int code = run_again(s, subject, &r);
    if (!code)
        code = print_replay(s, subject, &r);
    replay_deinit(&r);
    return code;
}

/* Each finding is judged by itself, so each has campaigns of its own. */
static int replay_all(struct session *s, const struct subjects *subjects)
{
    const struct style *style = style_for(1, s->args->color);
    struct replays all = {
        .system = s->config->name.p, .names = &s->names, .faultloads = &s->faultloads};
    struct buf out = BUF_INIT(SIZE_MAX);
    int code = 0;
    for (uint32_t i = 0; i < subjects->list.n && !code; i++) {
        struct replay r = {0};
        session_make_campaigns(s);
        code = run_again(s, &subjects->list.at[i], &r);
        if (!code) {
            struct replayed result = conclude(s, &subjects->list.at[i], &r);
            vec_push(&all.list, result);
            if (!s->args->json)
                report_shown(&result, style, &out);
            cmd_print(&out, stdout);
            fflush(stdout);
        }
        replay_deinit(&r);
        session_drop_campaigns(s);
    }
    (s->args->json ? report_replays_json : report_replays)(&all, &out);
    cmd_print(&out, stdout);
    for (uint32_t i = 0; i < all.list.n && !code; i++)
        code = all.list.at[i].wrong ? EXIT_FINDINGS : 0;
    for (uint32_t i = 0; i < all.list.n && !code; i++)
        code = code_of(&all.list.at[i]);
    vec_deinit(&all.list);
    return code;
}

static int replay(struct session *s, const struct subjects *subjects)
{
    struct err e = {0};
    int code = subjects->list.n ? session_start(s, &e) : 0;
    if (code) {
        cmd_fail(&e);
        return code;
    }
    return subjects->all ? replay_all(s, subjects) : replay_one(s, &subjects->list.at[0]);
}

int cmd_replay(const struct args *args)
{
    struct session s;
    struct subjects subjects = {0};
    struct err e = {0}, no_store = {0};
    int code = session_open(&s, args, args->positional[1]);
    if (code)
        return code;
    if (session_open_store(&s, STORE_READ, &no_store))
        s.store = NULL; /* nothing was stored: a faultload can still be replayed */
    s.jobs = 1;
    bool failed = (!args->contract && contracts_were_used(&s) && contracts_load(&s, true, &e)) ||
                  subjects_read(&s, args->positional[0], no_store.text, &subjects, &e);
    code = failed ? cmd_fail(&e) : replay(&s, &subjects);
    subjects_deinit(&subjects);
    session_close(&s);
    return code;
}
