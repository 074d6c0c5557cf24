/* SPDX-License-Identifier: Apache-2.0 */
#include "support/report_desk.h"

#include <stdlib.h>

#include "support/unit.h"

static outcome outcome_of(const char *text)
{
    return OUTCOME(OUT_STATUS, strtoul(text, NULL, 10));
}

static mode mode_of(const char *text)
{
    struct err e = {0};
    mode m = MODE_NONE;
    assert_int_equal(mode_parse(slice_of(text), &m, &e), 0);
    return m;
}

static uid uid_of(struct desk *d, const char *text)
{
    struct err e = {0};
    uid u = UID_NONE;
    assert_int_equal(uid_parse(&d->names, slice_of(text), &u, &e), 0);
    return u;
}

faultload desk_load(struct desk *d, const char *text)
{
    struct err e = {0};
    faultload f = FAULTLOAD_EMPTY;
    assert_int_equal(faultload_parse(&d->names, &d->fl, slice_of(text), &f, &e), 0);
    return f;
}

void desk_calls(struct desk *d, const struct desk_call *rows, struct trace *out)
{
    for (uint32_t i = 0; i < DESK_CALLS && rows[i].uid; i++) {
        struct call c = {.uid = uid_of(d, rows[i].uid),
                         .parent = CALL_NONE,
                         .seen = outcome_of(rows[i].seen),
                         .start_ns = i,
                         .end_ns = i + 1};
        for (uint32_t k = 0; k < out->calls.n; k++)
            if (out->calls.at[k].uid == uid_parent(&d->names, c.uid))
                c.parent = k;
        if (rows[i].injected) {
            c.mode = mode_of(rows[i].injected);
            c.fault_point = c.uid;
        }
        vec_push(&out->calls, c);
    }
}

struct run *desk_run(struct desk *d, faultload f, const char *why, const struct desk_call *rows)
{
    struct run run = {.number = d->runs.n + 1,
                      .purpose = f == FAULTLOAD_EMPTY ? RUN_BASELINE : RUN_SEARCH,
                      .faultload = f,
                      .verdict = {.pass = !why, .why = why ? why : "", .status = OUTCOME_OK},
                      .took_ns = 2000000};
    if (rows)
        desk_calls(d, rows, &run.trace);
    vec_push(&d->runs, run);
    return &vec_last(&d->runs);
}

struct finding *desk_finding(struct desk *d, faultload f, const char *why)
{
    vec_push(&d->summary.findings, (struct finding){.faultload = f,
                                                    .why = why,
                                                    .status = {OUTCOME_OK},
                                                    .n_statuses = 1,
                                                    .runs = 1,
                                                    .number = 1,
                                                    .state = FINDING_CONFIRMED});
    return &vec_last(&d->summary.findings);
}

struct remark *desk_remark(struct desk *d, const char *oracle, enum severity severity,
                           const char *why, const char *call, const char *other)
{
    uid u = uid_of(d, call);
    mode m = mode_of("lost-reply:503");
    struct fault fault = {u, m};
    struct remark r = {
        .oracle = oracle,
        .severity = severity,
        .why = why,
        .faultload = faultload_extend(&d->fl, FAULTLOAD_EMPTY, fault),
        .number = 2,
        .runs = 1,
        .n_evidence = 2,
        .evidence = {{u, m, outcome_of("503"), 1000000, 2000000, "the reply is lost"},
                     {uid_of(d, other), MODE_NONE, OUTCOME_OK, 2000000, 3000000, "the retry"}}};
    vec_push(&d->summary.remarks, r);
    return &vec_last(&d->summary.remarks);
}

static int run_of(void *ctx, uint32_t scenario, faultload f, struct run *out)
{
    struct desk *d = ctx;
    (void)scenario;
    for (uint32_t i = 0; i < d->runs.n; i++) {
        if (!faultload_eq(&d->fl, d->runs.at[i].faultload, f))
            continue;
        *out = d->runs.at[i];
        out->trace = (struct trace){0};
        for (uint32_t k = 0; k < d->runs.at[i].trace.calls.n; k++)
            vec_push(&out->trace.calls, d->runs.at[i].trace.calls.at[k]);
        return 0;
    }
    return 1;
}

static int each_run(void *ctx, uint32_t scenario, report_each each, void *each_ctx)
{
    struct desk *d = ctx;
    struct err e = {0};
    (void)scenario;
    for (uint32_t i = 0; i < d->runs.n; i++) {
        int status = each(each_ctx, &d->runs.at[i], &e);
        if (status)
            return status;
    }
    return 0;
}

void desk_init(struct desk *d)
{
    static const mode modes[1];
    *d = (struct desk){0};
    names_init(&d->names);
    faultloads_init(&d->fl);
    d->summary = (struct summary){.system = "shop",
                                  .scenario = "buy",
                                  .file = "outfox.yaml",
                                  .names = &d->names,
                                  .faultloads = &d->fl,
                                  .modes = modes,
                                  .order = "size",
                                  .line = 7,
                                  .ids = "",
                                  .replay = ""};
    vec_push(&d->summary.runs_by_size, 1);
    d->scenarios[0] = d->scenarios[1] = &d->summary;
    d->source = (struct report_source){.system = "shop",
                                       .file = "outfox.yaml",
                                       .version = "1.2",
                                       .n = 1,
                                       .scenarios = d->scenarios,
                                       .ctx = d,
                                       .run_of = run_of,
                                       .each_run = each_run};
}

void desk_deinit(struct desk *d)
{
    for (uint32_t i = 0; i < d->runs.n; i++)
        vec_deinit(&d->runs.at[i].trace.calls);
    vec_deinit(&d->runs);
    summary_deinit(&d->summary);
    faultloads_deinit(&d->fl);
    names_deinit(&d->names);
    arena_deinit(&d->text);
}

const char *desk_print(struct desk *d, void (*print)(const struct report_source *, struct buf *))
{
    struct buf out = BUF_INIT(SIZE_MAX);
    print(&d->source, &out);
    const char *copy = arena_copy(&d->text, buf_text(&out), out.n);
    buf_deinit(&out);
    return copy;
}

uint32_t text_count(const char *text, const char *words)
{
    uint32_t n = 0;
    for (; (text = strstr(text, words)); text += strlen(words))
        n++;
    return n;
}

void assert_has(const char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in:\n%.4000s", words, text);
}
