/* SPDX-License-Identifier: Apache-2.0 */
#include "page/ledger.h"

#include <stdlib.h>

#include "page/ledger_int.h"

struct ledger *ledger_new(const struct names *names, const struct faultloads *fl)
{
    struct ledger *l = mem_zero(sizeof *l);
    l->names = names;
    l->fl = fl;
    l->most = LEDGER_RUNS_MAX;
    handlers_init(&l->handlers, LEDGER_NODES_MAX);
    coverage_init(&l->coverage, names);
    return l;
}

static void ledger_deinit(struct ledger *l)
{
    handlers_deinit(&l->handlers);
    coverage_deinit(&l->coverage);
    vec_deinit(&l->runs);
    intern_deinit(&l->sentences);
    vec_deinit(&l->asked);
    vec_deinit(&l->calls);
    map_deinit(&l->call_at);
    vec_deinit(&l->tested.calls);
    trace_order_deinit(&l->order);
}

void ledger_free(struct ledger *l)
{
    if (!l)
        return;
    ledger_deinit(l);
    mem_free(l);
}

/* ---- adding ---- */

/* Did the fault fire at some call? */
static bool fault_fired(const struct ledger *l, const struct trace *trace, struct fault fault)
{
    for (uint32_t i = 0; i < trace->calls.n; i++)
        if (call_hit_by(&trace->calls.at[i], l->names, fault))
            return true;
    return false;
}

static void add_line(struct ledger *l, const struct run *run, bool asked)
{
    struct run_line line = {.number = run->number,
                            .took_ns = run->took_ns,
                            .faultload = run->faultload,
                            .status = run->verdict.status,
                            .why = INTERN_NONE,
                            .calls = run->trace.calls.n,
                            .purpose = (uint8_t)run->purpose,
                            .pass = run->verdict.pass};
    line.marks |= run->flags & RUN_HUNG ? MARK_HUNG : 0;
    line.marks |= run->flags & RUN_CRASHED ? MARK_CRASHED : 0;
    for (faultload f = run->faultload; f != FAULTLOAD_EMPTY; f = l->fl->rows.at[f].rest)
        if (!fault_fired(l, &run->trace, l->fl->rows.at[f].last))
            line.marks |= MARK_UNFIRED;
    l->n_runs++;
    if (l->runs.n >= l->most)
        return;
    if (!line.pass && run->verdict.why)
        line.why = intern_put(&l->sentences, slice_of(run->verdict.why));
    if (asked)
        vec_push(&l->asked, l->runs.n);
    vec_push(&l->runs, line);
}

/* Which calls there are, and how long they take where nothing is made to fail. */
static void add_calls(struct ledger *l, const struct run *run)
{
    bool plain = run->faultload == FAULTLOAD_EMPTY && run->verdict.pass;
    if (plain && !l->plain)
        l->plain = run->number;
    for (uint32_t i = 0; i < l->tested.calls.n; i++) {
        const struct call *c = &l->tested.calls.at[i];
        uint32_t at = map_index(&l->call_at, c->uid, (uint32_t)l->n_calls);
        l->n_calls += at == l->n_calls;
        if (at >= LEDGER_CALLS_MAX)
            continue;
        if (at == l->calls.n)
            vec_push(&l->calls, (struct call_line){.call = c->uid});
        struct call_line *k = &l->calls.at[at];
        if (!plain || k->last == run->number)
            continue;
        k->last = run->number;
        k->first |= l->plain == run->number;
        if (k->runs < LEDGER_TIMES)
            k->took_ns[k->runs] = c->end_ns - c->start_ns;
        k->runs++;
    }
}

static void add_run(struct ledger *l, const struct run *run, bool asked)
{
    trace_copy_tested(&run->trace, &l->tested);
    add_line(l, run, asked);
    add_calls(l, run);
    if (!asked || !l->tested.calls.n)
        return;
    l->is_command |= outcome_kind(run->verdict.status) == OUT_EXIT;
    if (l->is_command) /* how it ended is what it answers */
        l->tested.calls.at[0].reply = run->verdict.status;
    trace_order(&l->tested, l->names, &l->order);
    handlers_add(&l->handlers, l->names, run->number, &l->tested, &l->order);
}

void ledger_event(struct ledger *l, const struct event *event)
{
    if (event->type == EVENT_AGAIN) {
        struct ledger was = *l;
        ledger_deinit(l);
        *l = (struct ledger){
            .names = was.names, .fl = was.fl, .most = was.most, .version = was.version + 1};
        handlers_init(&l->handlers, was.handlers.most);
        coverage_init(&l->coverage, was.names);
    } else if (event->type == EVENT_RUN && event->run) {
        add_run(l, event->run, event->counted != COUNTED_NOT);
        coverage_event(&l->coverage, event);
        l->version++;
    }
}

/* ---- asking ---- */

uint64_t ledger_version(const struct ledger *l)
{
    return l->version;
}

uint32_t ledger_runs(const struct ledger *l)
{
    return l->runs.n;
}

uint32_t ledger_failed(const struct ledger *l, uint32_t page)
{
    uint32_t failed = 0;
    uint64_t first = (uint64_t)page * DOCUMENT_PAGE;
    for (uint64_t i = first; i < l->runs.n && i < first + DOCUMENT_PAGE; i++)
        failed += !l->runs.at[i].pass;
    return failed;
}

uint64_t ledger_transcripts(const struct ledger *l)
{
    return l->handlers.ends.n - 1;
}

const struct coverage *ledger_coverage(const struct ledger *l)
{
    return &l->coverage;
}

const struct ledger *ledger_of(const struct report_source *source, uint32_t scenario)
{
    return source->ledger ? source->ledger(source->ctx, scenario) : NULL;
}

void ledger_number_run(const struct ledger *l, struct explanation *x)
{
    uint64_t number = x->run < l->asked.n ? l->runs.at[l->asked.at[x->run]].number : 0;
    x->run = number && number < UINT32_MAX ? (uint32_t)number - 1 : UINT32_MAX;
}

/* ---- calls ---- */

static int compare_times(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static int64_t median_of(const struct call_line *c)
{
    int64_t times[LEDGER_TIMES];
    uint32_t n = c->runs < LEDGER_TIMES ? (uint32_t)c->runs : LEDGER_TIMES;
    if (!n)
        return 0;
    memcpy(times, c->took_ns, n * sizeof *times);
    qsort(times, n, sizeof *times, compare_times);
    return times[n / 2];
}

static int compare_calls(const void *a, const void *b)
{
    const struct known_call *x = a, *y = b;
    return uid_cmp(x->names, x->call, y->call);
}

void ledger_calls(const struct ledger *l, struct known_calls *out)
{
    *out = (struct known_calls){.total = l->n_calls};
    for (uint32_t i = 0; i < l->calls.n; i++) {
        const struct call_line *c = &l->calls.at[i];
        vec_push(out, (struct known_call){l->names, c->call, !c->first, c->runs, median_of(c)});
    }
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, compare_calls);
}
