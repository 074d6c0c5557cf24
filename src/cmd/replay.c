/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox replay: one faultload again, or all findings of a campaign, one after the other. What is
 * replayed is a finding by its number, all findings, or a faultload as text, on the command line or
 * in a file. */
#include <errno.h>
#include <signal.h>

#include "base/file.h"
#include "cmd/session.h"
#include "cmd/trials.h"
#include "report/report.h"
#include "report/words.h"

enum { FILE_MAX = 64 * 1024 };

struct subjects {
    VEC(struct replay_subject) list;
    bool all; /* findings were asked for */
};

/* ---- findings ---- */

static struct replay_subject finding_subject(struct session *s, uint32_t campaign, uint32_t id,
                                             enum oracle oracle, faultload f, const char *why)
{
    bool many = config_has_many(s->config);
    return (struct replay_subject){.campaign = campaign,
                                   .id = arena_printf(&s->arena, "%s%s%u",
                                                      many ? session_scenario(s, campaign) : "",
                                                      many ? "/" : "", (unsigned)id),
                                   .why = slice_copy(&s->arena, slice_of(why)).p,
                                   .oracle = oracle,
                                   .faultload = f};
}

bool subject_finding(struct session *s, uint32_t campaign, const struct summary *summary,
                     uint32_t id, struct replay_subject *out)
{
    uint64_t n = summary->findings.n + summary->more_findings;
    if (id && id <= summary->findings.n) {
        const struct finding *f = &summary->findings.at[id - 1];
        *out = finding_subject(s, campaign, id, ORACLES, f->faultload, f->why);
        return true;
    }
    for (uint32_t i = 0; i < summary->remarks.n; i++) {
        const struct remark *r = &summary->remarks.at[i];
        if (r->severity != SEVERITY_FINDING || ++n != id)
            continue;
        *out = finding_subject(s, campaign, id, oracle_find(slice_of(r->oracle)), r->faultload,
                               r->why);
        return true;
    }
    return false;
}

/* What oracles say as a finding is not stored: the campaign is taken up whole, and left again. In
 * reports they are numbered after the others, of which there are n. */
static int add_oracles(struct session *s, uint32_t campaign, uint32_t id, uint32_t n,
                       struct subjects *out, struct err *e)
{
    uint32_t contracts = s->contracts.n; /* no oracle looks at them */
    s->contracts.n = 0;
    int status = session_adopt(s, e) ? -1 : 0;
    if (!status) {
        session_make_campaigns(s);
        status = campaign_restore(s->campaigns.at[campaign], e);
    }
    const struct summary *summary = status ? NULL : campaign_finish(s->campaigns.at[campaign]);
    for (uint32_t i = 0; summary && i < summary->remarks.n; i++) {
        const struct remark *r = &summary->remarks.at[i];
        if (r->severity == SEVERITY_FINDING && (++n == id || !id))
            vec_push(&out->list, finding_subject(s, campaign, n, oracle_find(slice_of(r->oracle)),
                                                 r->faultload, r->why));
    }
    session_drop_campaigns(s);
    s->contracts.n = contracts;
    return status < 0 || status == STATUS_OTHER ? -1 : 0;
}

/* Those of one scenario, or of all (UINT32_MAX); with this number, or all (0). */
static int read_findings(struct session *s, uint32_t only, uint32_t id, struct subjects *out,
                         struct err *e)
{
    for (uint32_t i = 0; i < s->scenarios.n; i++) {
        struct store_finding f;
        struct err inner = {0};
        uint64_t stored;
        uint32_t n = 0; /* that are stored */
        if (only != UINT32_MAX && i != only)
            continue;
        int status = store_find(s->store, slice_of(session_scenario(s, i)), &stored, e);
        for (; !status && stored; n++) {
            status =
                store_finding(s->store, stored, n + 1, &s->names, &s->faultloads, &s->arena, &f, e);
            if (status)
                break;
            if (!id || id == n + 1)
                vec_push(&out->list, finding_subject(s, i, n + 1, ORACLES, f.faultload, f.why.p));
        }
        if (status < 0)
            return -1;
        if ((!id || !out->list.n) && add_oracles(s, i, id, n, out, &inner))
            fprintf(stderr, "outfox: the findings of oracles are left out: %s\n", inner.text);
    }
    if (!id || out->list.n)
        return 0;
    return err_set(e, 0, 0, "there is no finding %u of \"%s\"; see outfox report", (unsigned)id,
                   session_scenario(s, only));
}

/* ---- text ---- */

int subject_text(struct session *s, const char *what, slice *out, struct err *e)
{
    *out = slice_of(what);
    if (what[0] != '@')
        return 0;
    struct buf bytes = BUF_INIT(FILE_MAX);
    int number = file_read(what + 1, &bytes);
    bool full = bytes.full;
    for (size_t i = 0; i < bytes.n; i++) /* a faultload may be spread over lines */
        bytes.p[i] = bytes.p[i] == '\n' || bytes.p[i] == '\r' ? ' ' : bytes.p[i];
    *out = buf_keep(&bytes, &s->arena);
    if (number)
        return err_set(e, 0, 0, "%s cannot be read: %s", what + 1, strerror(number));
    if (full)
        return err_set(e, 0, 0, "%s is not a faultload: it is larger than %d bytes", what + 1,
                       FILE_MAX);
    return 0;
}

static int read_name(void *ctx, const struct run *run, struct err *e)
{
    (void)ctx;
    (void)run;
    (void)e;
    return 0;
}

/* Was it seen, if a campaign is stored? Reading its runs makes their names known, unless campaigns are
 * there that know them. Where no call came to the service at all its name is not to blame, and the run
 * will say what is. */
static int check_seen(struct session *s, const struct aim *aim, struct err *e)
{
    uint64_t stored = 0;
    struct err ignored = {0};
    if (!s->campaigns.n &&
        (!s->store || !aim->patterns.n ||
         store_find(s->store, slice_of(session_scenario(s, 0)), &stored, &ignored) || !stored ||
         store_each_run(s->store, stored, &s->names, &s->faultloads, &s->arena, read_name, NULL,
                        &ignored) < 0))
        return 0;
    for (uint32_t i = 0; i < aim->patterns.n; i++)
        if (pattern_seen(&aim->patterns.at[i].pattern, &s->names, e) < 0)
            return -1;
    return 0;
}

int subject_faults(struct session *s, slice text, struct replay_subject *out, struct err *e)
{
    struct aim aim = {0};
    int failed = 0;
    *out = (struct replay_subject){.oracle = ORACLES};
    slice fault;
    text = slice_trim(text);
    if (!text.n)
        return err_set(e, 0, 0,
                       "there is nothing to replay: give the number of a finding, all, a "
                       "faultload, none, or @FILE with a faultload in it");
    if (slice_is(text, "none"))
        text = (slice){0};
    while (!failed && pattern_cut(&text, &fault)) {
        struct fault other;
        struct err ignored = {0};
        failed = aim_add(&aim, &s->words, UID_NONE, fault, e);
        if (failed || fault_parse_other(&s->names, fault, &other, &ignored))
            vec_push(&out->patterns, slice_copy(&s->arena, fault).p);
        else if (faultload_at(&s->faultloads, out->faultload, other.point) == MODE_NONE)
            out->faultload = faultload_extend(&s->faultloads, out->faultload, other);
    }
    failed = failed || check_seen(s, &aim, e) ? -1 : 0;
    aim_deinit(&aim);
    return failed;
}

bool subject_id(const struct session *s, slice what, uint32_t *campaign, uint32_t *id)
{
    uint64_t n;
    uint32_t i = 0;
    size_t slash = what.n;
    while (slash > 0 && what.p[slash - 1] != '/')
        slash--;
    if (!slice_to_u64(slice_from(what, slash), UINT32_MAX, &n) || n == 0)
        return false;
    if (slash > 0)
        while (i < s->scenarios.n && !slice_is((slice){what.p, slash - 1}, session_scenario(s, i)))
            i++;
    if (i == s->scenarios.n)
        return false;
    *campaign = i;
    *id = (uint32_t)n;
    return true;
}

/* WHAT: `3`, `SCENARIO/3`, `all`, `CALL : MODE & ...`, `none` or `@FILE`. no_store: why there is no
 * store, when there is none. 0, or -1 with *e. */
static int read_subjects(struct session *s, const char *what, const char *no_store,
                         struct subjects *out, struct err *e)
{
    uint32_t campaign = UINT32_MAX, id = 0;
    slice text;
    out->all = strcmp(what, "all") == 0;
    bool number = !out->all && subject_id(s, slice_of(what), &campaign, &id);
    if (out->all && !s->store)
        return err_set(e, 0, 0, "no findings are known: %s", no_store);
    if (number && !s->store)
        return err_set(e, 0, 0, "finding %u is unknown: %s", (unsigned)id, no_store);
    if (out->all || number)
        return read_findings(s, campaign, id, out, e);
    if (subject_text(s, what, &text, e))
        return -1;
    vec_push(&out->list, (struct replay_subject){0});
    return subject_faults(s, text, &out->list.at[0], e);
}

/* ---- the verb ---- */

/* What came of it: is something wrong, and is it the finding that was asked for? */
static struct replayed conclude(struct session *s, struct campaign *c,
                                const struct replay_subject *subject, const struct replay *r)
{
    const struct summary *summary = campaign_summary(c);
    bool wanted = subject->patterns.n || subject->faultload != FAULTLOAD_EMPTY;
    bool damage = r->before.verdict.pass && !r->after.verdict.pass, said = false, found = false;
    for (uint32_t i = 0; i < summary->remarks.n; i++) {
        const struct remark *m = &summary->remarks.at[i];
        found |= m->severity == SEVERITY_FINDING;
        said |= oracle_find(slice_of(m->oracle)) == subject->oracle;
    }
    bool failed = !r->faulty.verdict.pass || damage, fired = false;
    for (uint32_t i = 0; i < r->faulty.trace.calls.n; i++)
        fired |= r->faulty.trace.calls.at[i].mode != MODE_NONE;
    if (subject->oracle == ORACLE_BLAST_RADIUS)
        said |= damage || r->faulty.event;
    struct replayed out = {.id = subject->id,
                           .scenario = session_scenario(s, subject->campaign),
                           .why = subject->why,
                           .faultload = subject->faultload,
                           .wrong = failed || found,
                           .damage = damage,
                           .unfired = r->unfired || (wanted && !fired),
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

void replay_json(struct session *s, struct campaign *c, const struct replay_subject *subject,
                 const struct replay *r, struct buf *out)
{
    struct replayed result = conclude(s, c, subject, r);
    reports_entitle(s, subject->campaign, campaign_summary(c));
    report_replay_json(s->config->name.p, campaign_summary(c), &result, &r->before, &r->faulty,
                       out);
}

/* The whole of it, with its tree. */
static int print_replay(struct session *s, const struct replay_subject *subject,
                        const struct replay *r)
{
    const struct args *args = s->args;
    struct replayed result = conclude(s, s->campaigns.at[subject->campaign], subject, r);
    const struct summary *summary = reports_title(s, subject->campaign);
    struct buf out = BUF_INIT(SIZE_MAX);
    if (args->json)
        report_replay_json(s->config->name.p, summary, &result, &r->before, &r->faulty, &out);
    else
        report_replay(summary, &r->before, &r->faulty, style_for(1, args->color), &out);
    cmd_print(&out, stdout);
    const struct verdict *after = &r->after.verdict;
    if (result.damage) /* it may show only afterwards */
        fprintf(args->json ? stderr : stdout,
                "afterwards, without faults, the system stays broken: %s%s%s%s\n", after->why,
                after->detail ? " (" : "", after->detail ? after->detail : "",
                after->detail ? ")" : "");
    if (subject->id && !args->json)
        report_shown(&result, style_for(1, args->color), &out);
    cmd_print(&out, stdout);
    if (result.unfired)
        fputs("outfox: not every fault fired: no call was left to match\n", stderr);
    if (summary->doubt)
        fprintf(stderr, "outfox: %s\n", summary->doubt);
    for (uint32_t i = 0; summary->doubt && i < summary->notes.n; i++)
        fprintf(stderr, "outfox: %s\n", summary->notes.at[i]);
    return code_of(&result);
}

/* 0, or an exit code after the error was printed. */
static int run_again(struct session *s, const struct replay_subject *subject, struct replay *r)
{
    struct err e = {0};
    struct campaign *c = s->campaigns.at[subject->campaign];
    if (s->store && campaign_recall(c, &e) < 0)
        e = (struct err){0}; /* what cannot be read is learned anew */
    struct target target = drive_target(s->live);
    campaign_replay(c, &target, subject->faultload, subject->patterns.at, subject->patterns.n, r);
    enum status status = drive(s->live, &c, 1, NULL, &e);
    if (status == STATUS_OK)
        return 0;
    if (status != STATUS_FAILED)
        return live_signal(s->live) == SIGTERM ? EXIT_TERMINATED : EXIT_INTERRUPTED;
    cmd_fail(&e);
    return EXIT_ENVIRONMENT;
}

void replay_deinit(struct replay *r)
{
    vec_deinit(&r->before.trace.calls);
    vec_deinit(&r->faulty.trace.calls);
    vec_deinit(&r->after.trace.calls);
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
            const struct replay_subject *subject = &subjects->list.at[i];
            struct replayed result = conclude(s, s->campaigns.at[subject->campaign], subject, &r);
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
    int worst = EXIT_OK;
    for (uint32_t i = 0; i < all.list.n; i++)
        worst = cmd_worse(worst, code_of(&all.list.at[i]));
    vec_deinit(&all.list);
    return code ? code : worst;
}

static int replay(struct session *s, struct err *e)
{
    const struct args *args = s->args;
    struct subjects subjects = {0};
    struct replay r = {0};
    struct err no_store = {0};
    if (store_open(s->config->store.p, STORE_READ, &s->store, &no_store))
        s->store = NULL; /* nothing was stored: a faultload can still be replayed */
    s->jobs = 1;
    bool wrong = (!args->contract && contracts_were_used(s) && contracts_load(s, true, e)) ||
                 read_subjects(s, args->positional[0], no_store.text, &subjects, e);
    int code = wrong ? EXIT_USAGE : subjects.list.n ? session_start(s, e) : 0;
    if (!code && subjects.all) {
        code = replay_all(s, &subjects);
    } else if (!code && subjects.list.n) {
        session_make_campaigns(s);
        code = run_again(s, &subjects.list.at[0], &r);
        if (!code)
            code = print_replay(s, &subjects.list.at[0], &r);
        replay_deinit(&r);
    }
    for (uint32_t i = 0; i < subjects.list.n; i++)
        vec_deinit(&subjects.list.at[i].patterns);
    vec_deinit(&subjects.list);
    return code;
}

int cmd_replay(const struct args *args)
{
    if (args->n_positional == 1 && trials_finding_named(args->positional[0]))
        return cmd_trials_replay(args);
    return session_do(args, args->positional[1], false, replay);
}
