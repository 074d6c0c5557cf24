/* SPDX-License-Identifier: Apache-2.0 */
#include "support/ledger_lab.h"

#include "campaign/explore.h"
#include "data/json.h"
#include "support/unit.h"

static const struct ledger *ledger_of(void *ctx, uint32_t scenario)
{
    struct ledger_lab *l = ctx;
    return scenario == 0 ? l->ledger : NULL;
}

static void calls_of(void *ctx, uint32_t scenario, struct known_calls *out)
{
    struct ledger_lab *l = ctx;
    (void)scenario;
    ledger_calls(l->ledger, out);
}

static int runs_from(void *ctx, uint32_t scenario, uint64_t number, report_each each,
                     void *each_ctx)
{
    struct ledger_lab *l = ctx;
    struct err e = {0};
    int status = 0;
    (void)scenario;
    for (uint32_t i = 0; i < l->runs.n && !status; i++)
        if (l->runs.at[i].number >= number)
            status = each(each_ctx, &l->runs.at[i], &e);
    return status;
}

static void open_ledger(struct ledger_lab *l)
{
    l->ledger = ledger_new(&l->lab.names, &l->lab.fl);
    l->summary =
        (struct summary){.scenario = "main", .names = &l->lab.names, .faultloads = &l->lab.fl};
    l->scenarios[0] = &l->summary;
    l->source = (struct report_source){.n = 1,
                                       .scenarios = l->scenarios,
                                       .ctx = l,
                                       .calls = calls_of,
                                       .ledger = ledger_of,
                                       .runs_from = runs_from};
}

void ledger_lab_init(struct ledger_lab *l, const struct node *system)
{
    struct err e = {0};
    *l = (struct ledger_lab){0};
    if (lab_init(&l->lab, system, &e))
        fail_msg("%s", e.text);
    open_ledger(l);
}

void ledger_lab_init_text(struct ledger_lab *l, const char *yaml)
{
    struct err e = {0};
    *l = (struct ledger_lab){0};
    if (lab_init_text(&l->lab, yaml, &e))
        fail_msg("%s", e.text);
    open_ledger(l);
}

void ledger_lab_init_file(struct ledger_lab *l, const char *file)
{
    struct err e = {0};
    struct buf path = BUF_INIT(4096);
    const char *top = getenv("TOP");
    *l = (struct ledger_lab){0};
    buf_addf(&path, "%s/%s", top ? top : ".", file);
    if (lab_init_file(&l->lab, buf_text(&path), &e))
        fail_msg("%s: %s", file, e.text);
    buf_deinit(&path);
    open_ledger(l);
}

void ledger_lab_deinit(struct ledger_lab *l)
{
    for (uint32_t i = 0; i < l->runs.n; i++)
        vec_deinit(&l->runs.at[i].trace.calls);
    vec_deinit(&l->runs);
    search_free(l->search);
    ledger_free(l->ledger);
    arena_deinit(&l->arena);
    lab_deinit(&l->lab);
}

/* The run that was made last, as it is kept. */
static const struct run *keep(struct ledger_lab *l, faultload f, enum run_purpose purpose)
{
    const struct trace *trace = &l->lab.trace;
    struct run run = {.number = l->runs.n + 1,
                      .purpose = purpose,
                      .faultload = f,
                      .verdict = l->lab.verdict,
                      .took_ns = trace->calls.at[0].end_ns - trace->calls.at[0].start_ns};
    trace_copy(trace, &run.trace);
    vec_push(&l->runs, run);
    return &vec_last(&l->runs);
}

void ledger_lab_explore(struct ledger_lab *l, const struct search_options *options,
                        uint64_t max_runs)
{
    faultload f;
    if (!l->search)
        l->search = search_new(&l->lab.names, &l->lab.fl, options);
    for (uint64_t n = 0; (!max_runs || n < max_runs) && search_next(l->search, &f); n++) {
        lab_run(&l->lab, f);
        const struct run *run = keep(l, f, f == FAULTLOAD_EMPTY ? RUN_BASELINE : RUN_SEARCH);
        search_observe(l->search, f, &l->lab.trace, &l->lab.verdict);
        struct event event = event_of_run(run, l->search, true);
        ledger_event(l->ledger, &event);
    }
}

void ledger_lab_run(struct ledger_lab *l, faultload f, enum run_purpose purpose)
{
    lab_run(&l->lab, f);
    struct event event = event_of_run(keep(l, f, purpose), l->search, false);
    ledger_event(l->ledger, &event);
}

const struct node *ledger_lab_read(struct ledger_lab *l, const char *name, uint64_t from)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    struct err e = {0};
    const struct node *document = NULL;
    enum status status = document_print(&l->source, slice_of(name), from, &out, &e);
    assert_in_range(status, STATUS_OK, STATUS_NONE);
    if (status == STATUS_OK && node_parse_json(&l->arena, buf_keep(&out, &l->arena), &document))
        fail_msg("%s is no JSON", name);
    buf_deinit(&out);
    return document;
}

const struct node *value_at(const struct node *document, const char *path)
{
    const struct node *value = node_at(document, slice_of(path));
    if (value == &node_null)
        fail_msg("there is no %s", path);
    return value;
}

int64_t number_at(const struct node *document, const char *path)
{
    const struct node *value = value_at(document, path);
    assert_int_equal(value->type, NODE_NUM);
    return (int64_t)value->num;
}
