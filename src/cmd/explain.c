/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox explain: why a faultload of a stored campaign was run, or not. */
#include "cmd/reports.h"
#include "cmd/subject.h"
#include "report/report.h"

void explain_print(const struct args *args, const struct summary *s, const struct search *search,
                   const faultload *meant, uint32_t n)
{
    struct explanation x[MEANT_MAX];
    struct buf out = BUF_INIT(SIZE_MAX);
    for (uint32_t i = 0; i < n; i++)
        search_explain(search, meant[i], &x[i]);
    struct explanations all = {s, n, meant, x};
    (args->json ? report_explanations_json : report_explanations)(&all, &out);
    cmd_print(&out, stdout);
}

/* The faultloads that are meant: of a finding, or by what was written. */
static int read_meant(struct session *s, struct campaign *c, faultload out[MEANT_MAX], uint32_t *n,
                      struct err *e)
{
    const char *what = s->args->positional[0];
    slice text;
    struct run plain = {0};
    struct err ignored = {0};
    uint64_t id;
    const struct summary *summary = campaign_finish(c);
    if (slice_to_u64(slice_of(what), UINT32_MAX, &id)) {
        if (id == 0 || id > summary->findings.n)
            return err_set(e, 0, 0, "there is no finding %s; outfox report lists them", what);
        *n = 1;
        out[0] = summary->findings.at[id - 1].faultload;
        return 0;
    }
    if (subject_text(s, what, &text, e))
        return -1;
    bool known = campaign_run_of(c, FAULTLOAD_EMPTY, &s->arena, &plain, &ignored) == 0;
    uid request = known && plain.trace.calls.n ? plain.trace.calls.at[0].uid : UID_NONE;
    vec_deinit(&plain.trace.calls);
    return search_meant(campaign_search(c), &s->words, request, text, out, n, e);
}

/* 0, or an exit code, with *e. */
static int explain(struct session *s, struct err *e)
{
    faultload meant[MEANT_MAX];
    uint32_t n = 0;
    struct campaign *c = s->campaigns.at[0];
    int status = campaign_restore(c, e);
    if (status < 0)
        return EXIT_ENVIRONMENT;
    if (status > 0 && status != STATUS_OTHER)
        err_set(e, 0, 0, "no campaign of \"%s\" is stored: outfox run makes one",
                session_scenario(s, 0));
    if (status || read_meant(s, c, meant, &n, e))
        return EXIT_USAGE;
    explain_print(s->args, reports_title(s, 0), campaign_search(c), meant, n);
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
        session_make_campaigns(&s);
        code = explain(&s, &e);
        if (code)
            cmd_fail(&e);
    }
    session_close(&s);
    return code;
}
