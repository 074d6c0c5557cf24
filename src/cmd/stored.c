/* SPDX-License-Identifier: Apache-2.0
 *
 * What a stored campaign says: outfox explain (why a faultload was run, or not), outfox deps (which
 * calls the scenarios depend on). Their printers are also those of simulated systems. */
#include "cmd/session.h"
#include "report/report.h"

/* ---- explain ---- */

static void explain_to(bool json, const struct summary *s, const struct search *search,
                       const struct ledger *ledger, const faultload *meant, uint32_t n,
                       struct buf *out)
{
    struct explanation x[MEANT_MAX];
    for (uint32_t i = 0; i < n; i++) {
        search_explain(search, meant[i], &x[i]);
        if (ledger)
            ledger_number_run(ledger, &x[i]);
    }
    struct explanations all = {s, n, meant, x};
    (json ? report_explanations_json : report_explanations)(&all, out);
}

void explain_print(const struct args *args, const struct summary *s, const struct search *search,
                   const struct ledger *ledger, const faultload *meant, uint32_t n)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    explain_to(args->json, s, search, ledger, meant, n, &out);
    cmd_print(&out, stdout);
}

/* The faultloads that are meant by what was written. */
static int find_meant(struct session *s, struct campaign *c, slice text, faultload out[MEANT_MAX],
                      uint32_t *n, struct err *e)
{
    struct run plain = {0};
    struct err ignored = {0};
    struct arena keep = {0};
    bool known = campaign_run_of(c, FAULTLOAD_EMPTY, &keep, &plain, &ignored) == 0;
    uid request = known && plain.trace.calls.n ? plain.trace.calls.at[0].uid : UID_NONE;
    vec_deinit(&plain.trace.calls);
    arena_deinit(&keep);
    return search_meant(campaign_search(c), &s->words, request, text, out, n, e);
}

int explain_json(struct session *s, uint32_t i, slice text, struct buf *out, struct err *e)
{
    faultload meant[MEANT_MAX] = {0};
    uint32_t n = 0;
    struct campaign *c = s->campaigns.at[i];
    if (find_meant(s, c, text, meant, &n, e))
        return -1;
    explain_to(true, reports_title(s, i), campaign_search(c), s->ledgers.at[i], meant, n, out);
    return 0;
}

/* Of the finding `id`, or by what was written. */
static int read_meant(struct session *s, uint32_t campaign, uint32_t id, faultload out[MEANT_MAX],
                      uint32_t *n, struct err *e)
{
    const char *what = s->args->positional[0];
    slice text;
    struct replay_subject finding;
    struct campaign *c = s->campaigns.at[campaign];
    const struct summary *summary = campaign_finish(c);
    if (id) {
        if (!subject_finding(s, campaign, summary, id, &finding))
            return err_set(e, 0, 0, "there is no finding %s; see outfox report", what);
        out[0] = finding.faultload;
        *n = 1;
        return 0;
    }
    return subject_text(s, what, &text, e) || find_meant(s, c, text, out, n, e) ? -1 : 0;
}

/* 0, or an exit code, with *e. */
static int explain(struct session *s, struct err *e)
{
    faultload meant[MEANT_MAX] = {0};
    uint32_t n = 0, i = 0, id = 0;
    if (store_open(s->config->store.p, STORE_READ, &s->store, e) || session_adopt(s, e))
        return EXIT_ENVIRONMENT;
    session_make_campaigns(s);
    (void)subject_id(s, slice_of(s->args->positional[0]), &i, &id);
    struct campaign *c = s->campaigns.at[i];
    int status = campaign_restore(c, e);
    if (status < 0)
        return EXIT_ENVIRONMENT;
    if (status > 0 && status != STATUS_OTHER)
        err_set(e, 0, 0, "no campaign of \"%s\" is stored; make one with outfox run",
                session_scenario(s, i));
    if (status || read_meant(s, i, id, meant, &n, e))
        return EXIT_USAGE;
    explain_print(s->args, reports_title(s, i), campaign_search(c), s->ledgers.at[i], meant, n);
    return EXIT_OK;
}

int cmd_explain(const struct args *args)
{
    return session_do(args, args->positional[1], false, explain);
}

/* ---- deps ---- */

int deps_check(const struct args *args)
{
    struct err e = {0};
    if (!args->json || !args->dot)
        return 0;
    err_set(&e, 0, 0, "--json and --dot cannot be used together");
    return cmd_fail(&e);
}

int deps_print(const struct args *args, const struct deps_report *list, uint32_t n)
{
    int code = EXIT_OK;
    struct buf out = BUF_INIT(SIZE_MAX);
    for (uint32_t i = 0; i < n; i++) {
        /* a broken scenario says nothing about faults; one that was not done leaves some unknown */
        const struct summary *s = list[i].summary;
        code = cmd_worse(code, s->broken           ? EXIT_ENVIRONMENT
                               : summary_unsure(s) ? EXIT_INCONCLUSIVE
                                                   : EXIT_OK);
    }
    if (args->json)
        report_deps_json(list, n, &out);
    else if (args->dot)
        report_deps_dot(list, n, &out);
    else
        report_deps_text(list, n, style_for(1, args->color), &out);
    cmd_print(&out, stdout);
    return code;
}

static int print_deps(struct session *s, struct err *e)
{
    VEC(struct deps_report) list = {0};
    int code = session_take_up(s, e);
    if (code)
        return code;
    struct report_source source = reports_source(s, NULL, NULL);
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        struct deps_report one = {.summary = reports_summary(s, i)};
        source.deps(source.ctx, i, &one.deps);
        vec_push(&list, one);
    }
    code = deps_print(s->args, list.at, list.n);
    for (uint32_t i = 0; i < list.n; i++)
        deps_deinit(&list.at[i].deps);
    vec_deinit(&list);
    return code;
}

int cmd_deps(const struct args *args)
{
    int code = deps_check(args);
    return code ? code : session_do(args, args->positional[0], false, print_deps);
}
