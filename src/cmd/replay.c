/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox replay, outfox explain: one faultload of a campaign. */
#include <errno.h>
#include <signal.h>

#include "base/yaml.h"
#include "cmd/contracts.h"
#include "report/report.h"
#include "report/words.h"

enum { FILE_MAX = 64 * 1024 };

/* What is to be replayed: a finding, or a faultload as text. */
struct subject {
    uint32_t campaign; /* which of the session's */
    faultload faultload;
    VEC(const char *) patterns;
    struct err no_store; /* why there is no store, when there is none */
};

/* 3, or SCENARIO/3. */
static bool is_id(const struct session *s, slice what, uint32_t *campaign, uint32_t *id)
{
    uint64_t n;
    size_t slash = what.n;
    *campaign = 0;
    while (slash > 0 && what.p[slash - 1] != '/')
        slash--;
    if (!slice_to_u64(slice_from(what, slash), UINT32_MAX, &n) || n == 0)
        return false;
    *id = (uint32_t)n;
    for (uint32_t i = 0; slash > 0 && i < s->scenarios.n; i++)
        if (slice_is((slice){what.p, slash - 1}, session_scenario(s, i))) {
            *campaign = i;
            return true;
        }
    return slash == 0;
}

static int read_finding(struct session *s, struct subject *out, uint32_t id, struct err *e)
{
    struct store_finding finding;
    uint64_t campaign;
    slice name = slice_of(session_scenario(s, out->campaign));
    if (!s->store)
        return err_set(e, 0, 0, "finding %u is not known: %s", (unsigned)id, out->no_store.text);
    if (store_find(s->store, name, &campaign, e))
        return -1;
    int status = campaign ? store_finding(s->store, campaign, id, &s->names, &s->faultloads,
                                          &s->arena, &finding, e)
                          : 1;
    if (status > 0)
        return err_set(e, 0, 0,
                       "there is no finding %u of \"%s\" to replay by its number; outfox report "
                       "lists them, and has the commands for what oracles say",
                       (unsigned)id, name.p);
    out->faultload = finding.faultload;
    return status;
}

/* Before anything is started for it. */
static int check_patterns(struct session *s, const struct subject *subject, struct err *e)
{
    struct plan plan;
    int failed = 0;
    plan = (struct plan){0};
    for (uint32_t i = 0; i < subject->patterns.n && !failed; i++)
        failed = plan_add(&plan, &s->words, UID_NONE, slice_of(subject->patterns.at[i]), e);
    plan_deinit(&plan);
    return failed;
}

/* A faultload as people write it: faults joined by " & ", each of which may be a pattern. */
static int read_faults(struct session *s, struct subject *out, slice text, struct err *e)
{
    text = slice_trim(text);
    if (slice_is(text, "none"))
        return 0;
    if (!text.n)
        return err_set(
            e, 0, 0,
            "there is nothing to replay: give the id of a finding, a faultload, \"none\" "
            "or @FILE with a faultload in it");
    while (text.n) {
        size_t end = 0;
        while (end < text.n && !(text.n - end >= 3 && memcmp(text.p + end, " & ", 3) == 0))
            end++;
        vec_push(&out->patterns, slice_copy(&s->arena, slice_trim((slice){text.p, end})).p);
        text = end < text.n ? slice_from(text, end + 3) : (slice){0};
    }
    return check_patterns(s, out, e);
}

static int read_file(struct session *s, const char *path, struct subject *out, struct err *e)
{
    FILE *f = fopen(path, "re");
    if (!f)
        return err_set(e, 0, 0, "%s cannot be read: %s", path, strerror(errno));
    char *bytes = arena_alloc(&s->arena, FILE_MAX + 1);
    size_t n = fread(bytes, 1, FILE_MAX + 1, f);
    int number = ferror(f) ? errno : 0;
    fclose(f);
    if (number)
        return err_set(e, 0, 0, "%s cannot be read: %s", path, strerror(number));
    if (n > FILE_MAX)
        return err_set(e, 0, 0, "%s is no faultload: it has more than %d bytes", path, FILE_MAX);
    for (size_t i = 0; i < n; i++) /* a faultload may be spread over lines */
        bytes[i] = bytes[i] == '\n' || bytes[i] == '\r' ? ' ' : bytes[i];
    return read_faults(s, out, (slice){bytes, n}, e);
}

static int read_subject(struct session *s, const char *what, struct subject *out, struct err *e)
{
    uint32_t id;
    if (is_id(s, slice_of(what), &out->campaign, &id))
        return read_finding(s, out, id, e);
    if (what[0] != '@')
        return read_faults(s, out, slice_of(what), e);
    return read_file(s, what + 1, out, e);
}

/* The damage may show only afterwards. */
static bool print_after(const struct args *args, const struct replay *r)
{
    bool damage = r->before.verdict.pass && !r->after.verdict.pass;
    if (damage)
        fprintf(args->json ? stderr : stdout,
                "afterwards, without faults, the system stays broken: %s%s%s%s\n",
                r->after.verdict.why, r->after.verdict.detail ? " (" : "",
                r->after.verdict.detail ? r->after.verdict.detail : "",
                r->after.verdict.detail ? ")" : "");
    return damage;
}

static void print_doubt(const struct summary *s)
{
    fprintf(stderr, "outfox: %s\n", s->doubt);
    for (uint32_t i = 0; i < s->notes.n; i++)
        fprintf(stderr, "outfox: %s\n", s->notes.at[i]);
}

static int print_replay(struct session *s, const struct subject *subject, const struct replay *r)
{
    const struct args *args = s->args;
    const struct run *plain = &r->before, *faulty = &r->faulty;
    const char *scenario = session_scenario(s, subject->campaign);
    const struct summary *summary = campaign_summary(s->campaigns.at[subject->campaign]);
    if (args->json)
        report_replay_json(s->config->name.p, scenario, summary, plain, faulty, stdout);
    else
        report_replay(summary, plain, faulty, style_for(1, args->color), stdout);
    bool damage = print_after(args, r);
    uint32_t unfired = campaign_unfired(s->campaigns.at[subject->campaign]);
    bool fired = false;
    for (uint32_t i = 0; i < faulty->trace.calls.n; i++)
        fired |= faulty->trace.calls.at[i].mode != MODE_NONE;
    bool wanted = subject->patterns.n || subject->faultload != FAULTLOAD_EMPTY;
    if (unfired || (wanted && !fired))
        fputs("outfox: not every fault fired: no call was left that matches it\n", stderr);
    if (summary->doubt)
        print_doubt(summary);
    return !faulty->verdict.pass || damage                   ? EXIT_FINDINGS
           : unfired || (wanted && !fired) || summary->doubt ? EXIT_INCONCLUSIVE
                                                             : EXIT_OK;
}

static int replay(struct session *s, const struct subject *subject, struct err *e)
{
    struct replay r = {0};
    struct campaign *c = s->campaigns.at[subject->campaign];
    if (s->store && campaign_recall(c, e) < 0)
        *e = (struct err){0}; /* what cannot be read is learned anew */
    int code = session_start(s, e);
    if (code) {
        cmd_fail(e);
        return code;
    }
    int status = campaign_replay(c, s->live, subject->faultload, subject->patterns.at,
                                 subject->patterns.n, &r, e);
    if (status == 0) {
        code = print_replay(s, subject, &r);
    } else if (status > 0) {
        code = live_signal(s->live) == SIGTERM ? EXIT_TERMINATED : EXIT_INTERRUPTED;
    } else {
        cmd_fail(e);
        code = EXIT_ENVIRONMENT;
    }
    vec_deinit(&r.before.trace.calls);
    vec_deinit(&r.faulty.trace.calls);
    vec_deinit(&r.after.trace.calls);
    return code;
}

int cmd_replay(const struct args *args)
{
    struct session s;
    struct subject subject = {0};
    struct err e = {0};
    int code = session_open(&s, args, args->positional[1]);
    if (code)
        return code;
    if (session_open_store(&s, STORE_READ, &subject.no_store))
        s.store = NULL; /* nothing was stored: a faultload can still be replayed */
    s.jobs = 1;
    if (!args->contract && contracts_were_used(&s) && contracts_load(&s, true, &e)) {
        code = cmd_fail(&e);
        session_close(&s);
        return code;
    }
    session_make_campaigns(&s, NULL, NULL);
    code = read_subject(&s, args->positional[0], &subject, &e) ? cmd_fail(&e)
                                                               : replay(&s, &subject, &e);
    vec_deinit(&subject.patterns);
    session_close(&s);
    return code;
}

/* ---- explain ---- */

/* 0, or an exit code, with *e. */
static int explain(struct session *s, struct err *e)
{
    const struct args *args = s->args;
    struct explanation x;
    faultload f;
    struct campaign *c = s->campaigns.at[0];
    int status = campaign_restore(c, e);
    if (status < 0)
        return EXIT_ENVIRONMENT;
    if (status > 0 && status != CAMPAIGN_OTHER)
        err_set(e, 0, 0, "no campaign of \"%s\" is stored: outfox run makes one",
                session_scenario(s, 0));
    if (status || faultload_parse(&s->names, &s->faultloads, slice_of(args->positional[0]), &f, e))
        return EXIT_USAGE;
    search_explain(campaign_search(c), f, &x);
    report_explanation(s->config->name.p, session_scenario(s, 0), &s->names, &s->faultloads, f, &x,
                       args->json, stdout);
    return EXIT_OK;
}

int cmd_explain(const struct args *args)
{
    struct session s;
    struct err e = {0};
    int code = session_open(&s, args, args->positional[1]);
    if (code)
        return code;
    if (session_open_store(&s, STORE_READ, &e) || session_adopt(&s, &e)) {
        cmd_fail(&e);
        code = EXIT_ENVIRONMENT;
    } else {
        session_make_campaigns(&s, NULL, NULL);
        code = explain(&s, &e);
        if (code)
            cmd_fail(&e);
    }
    session_close(&s);
    return code;
}
