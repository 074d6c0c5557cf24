/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a plan as the one document that all reports are printed from. Operations become
 * columns, percentiles and a histogram here, so that its size does not grow with them.
 *
 * 1. Only operations that ended within what was measured are counted, as in plan/analyze.c.
 * 2. VALUES_MAX bounds the figures of all columns: many runs get wider ones.
 * 3. What others wrote is masked: secrets do not leave the directory of the run. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "base/index.h"
#include "data/json.h"
#include "data/secret.h"
#include "plan/injector.h"
#include "report/plan_int.h"
#include "report/words.h"

enum {
    VALUES_MAX = 300000,
    COLUMNS_MOST = 240,
    COLUMNS_LEAST = 20,
    COLUMNS_FINE = 60, /* with fewer of them, clients have none of their own */
    COLUMN_VALUES = 7,
    CLIENTS_MOST = 16, /* that have columns */
    NEW_LINES_MOST = 50,
    LINE_BYTES = 500,
    TAIL_BYTES = 300000, /* of all logs */
    TEXT_BYTES = 200000, /* of the plan */
    DECADE = 10,         /* bars of a histogram for a power of ten */
};

/* To be used as a VEC. */
struct times {
    int64_t *at;
    uint32_t n, cap;
};

struct sheet {
    struct json_out *j;
    const struct plan_result *result;
    const struct plan *plan;
    uint32_t columns, clients;  /* of each run; clients that have columns */
    size_t tail_bytes;          /* left for logs */
    const struct plan_run *run; /* the one that is printed */
    uint32_t first, last;       /* its operations that count: from first to before last */
};

static void put_ms(struct json_out *j, const char *key, int64_t ns)
{
    json_num(j, key, (double)(ns / 1000) / 1000);
}

/* At most `most` bytes, with no secret and no character cut in two. */
static void put_masked(struct json_out *j, const char *key, slice text, size_t most)
{
    struct buf masked = BUF_INIT(SIZE_MAX);
    secret_mask(text, &masked);
    slice whole = buf_slice(&masked);
    if (whole.n > most) {
        whole.n = most;
        while (whole.n > 0 && ((uint8_t)whole.p[whole.n] & 0xc0) == 0x80)
            whole.n--;
    }
    json_str(j, key, whole);
    buf_deinit(&masked);
}

/* ---- operations ---- */

/* The first operation that ended at this moment or later: they are in the order of their ends. */
static uint32_t op_from(const struct plan_run *r, int64_t at_ns)
{
    uint32_t low = 0, high = r->ops.n;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (r->ops.at[mid].at_ns < at_ns)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static int64_t column_begin(const struct sheet *s, uint32_t column)
{
    const struct plan_run *r = s->run;
    return r->from_ns + (r->to_ns - r->from_ns) * column / s->columns;
}

static uint32_t count_failed(const struct plan_run *r, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++)
        n += !r->ops.at[i].ok;
    return n;
}

static int compare_times(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* How long those took that succeeded, sorted. */
static void take_times(const struct plan_run *r, uint32_t from, uint32_t to, struct times *out)
{
    out->n = 0;
    for (uint32_t i = from; i < to; i++)
        if (r->ops.at[i].ok)
            vec_push(out, r->ops.at[i].took_ns);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, compare_times);
}

static void put_percentiles(struct json_out *j, const struct times *t)
{
    static const struct {
        const char *key;
        double percentile;
    } rows[] = {{"p50_ms", 50}, {"p95_ms", 95}, {"p99_ms", 99}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (t->n)
            put_ms(j, rows[i].key, plan_percentile(t->at, t->n, rows[i].percentile));
        else
            json_nil(j, rows[i].key);
    }
}

/* A row of a list, in one line. */
static void row_begin(struct json_out *j)
{
    json_map(j, NULL);
    j->style = JSON_SPACED;
}

static void row_end(struct json_out *j)
{
    json_map_end(j);
    j->style = JSON_PRETTY;
}

static void put_columns(struct sheet *s)
{
    struct times times = {0};
    json_list(s->j, "series");
    for (uint32_t i = 0, from = s->first, to; i < s->columns && s->run->to_ns > s->run->from_ns;
         i++, from = to) {
        to = i + 1 == s->columns ? s->last : op_from(s->run, column_begin(s, i + 1));
        uint32_t failed = count_failed(s->run, from, to);
        take_times(s->run, from, to, &times);
        row_begin(s->j);
        put_ms(s->j, "at_ms", column_begin(s, i));
        json_uint(s->j, "ok", to - from - failed);
        json_uint(s->j, "failed", failed);
        put_percentiles(s->j, &times);
        row_end(s->j);
    }
    json_list_end(s->j);
    vec_deinit(&times);
}

/* The upper end of the bar that this time is in. */
static int bar_of(int64_t took_ns)
{
    return (int)floor(log10((double)(took_ns < 1 ? 1 : took_ns)) * DECADE) + 1;
}

static void put_histogram(struct json_out *j, const struct times *t)
{
    json_list(j, "histogram");
    for (uint32_t i = 0, n; i < t->n; i += n) {
        int bar = bar_of(t->at[i]);
        for (n = 1; i + n < t->n && bar_of(t->at[i + n]) == bar; n++)
            ;
        row_begin(j);
        json_num(j, "below_ms", round(pow(10, (double)bar / DECADE)) / 1e6);
        json_uint(j, "n", n);
        row_end(j);
    }
    json_list_end(j);
}

static void put_operations(struct sheet *s)
{
    struct times all = {0};
    take_times(s->run, s->first, s->last, &all);
    json_uint(s->j, "operations", s->last - s->first);
    json_uint(s->j, "failures", count_failed(s->run, s->first, s->last));
    if (all.n) {
        json_map(s->j, "latency");
        put_percentiles(s->j, &all);
        put_ms(s->j, "max_ms", all.at[all.n - 1]);
        json_map_end(s->j);
    } else {
        json_nil(s->j, "latency");
    }
    put_histogram(s->j, &all);
    vec_deinit(&all);
}

/* ---- clients ---- */

struct client_columns {
    uint32_t ok[COLUMNS_MOST], failed[COLUMNS_MOST], operations, failures;
};

static void count_clients(const struct sheet *s, struct client_columns *list)
{
    const struct plan_run *r = s->run;
    uint32_t column = 0;
    for (uint32_t i = s->first; i < s->last; i++) {
        const struct plan_op *op = &r->ops.at[i];
        struct client_columns *c = &list[op->client];
        while (column + 1 < s->columns && op->at_ns >= column_begin(s, column + 1))
            column++;
        c->operations++;
        c->failures += !op->ok;
        ++*(op->ok ? &c->ok[column] : &c->failed[column]);
    }
}

static void put_counts(struct json_out *j, const char *key, const uint32_t *counts, uint32_t n)
{
    json_list(j, key);
    j->style = JSON_SPACED;
    for (uint32_t i = 0; i < n; i++)
        json_uint(j, NULL, counts[i]);
    json_list_end(j);
    j->style = JSON_PRETTY;
}

static void put_clients(struct sheet *s)
{
    uint32_t n = s->plan->clients.n;
    struct client_columns *list = mem_zero((n + 1) * sizeof *list);
    count_clients(s, list);
    json_list(s->j, "clients");
    for (uint32_t i = 0; i < n; i++) {
        json_map(s->j, NULL);
        json_str(s->j, "name", s->plan->clients.at[i].name);
        json_uint(s->j, "operations", list[i].operations);
        json_uint(s->j, "failures", list[i].failures);
        if (i < s->clients) {
            put_counts(s->j, "ok_columns", list[i].ok, s->columns);
            put_counts(s->j, "failed_columns", list[i].failed, s->columns);
        }
        json_map_end(s->j);
    }
    json_list_end(s->j);
    mem_free(list);
}

/* ---- faults, deaths, expectations ---- */

static void put_what(struct json_out *j, const struct plan_event *e)
{
    struct buf what = BUF_INIT(10000), masked = BUF_INIT(20000);
    injector_describe(e, &what);
    secret_mask(buf_slice(&what), &masked);
    json_take(j, "what", &masked);
    buf_deinit(&what);
    buf_deinit(&masked);
}

static void put_spell(const struct sheet *s, const struct plan_spell *spell)
{
    struct json_out *j = s->j;
    const struct plan *p = s->plan;
    const struct plan_event *e = &p->events.at[spell->event];
    int64_t to_ns = s->run->to_ns;
    /* one that never began or ended is told with the run's end */
    int64_t begin_ns = spell->begin_ns == INT64_MAX ? to_ns : spell->begin_ns;
    int64_t end_ns =
        spell->end_ns == INT64_MAX ? (to_ns > begin_ns ? to_ns : begin_ns) : spell->end_ns;
    uint32_t from = op_from(s->run, begin_ns), to = op_from(s->run, end_ns + 1);
    from = from < s->first ? s->first : from;
    to = to > s->last ? s->last : to;
    to = to < from || spell->failed.n ? from : to;
    json_map(j, NULL);
    json_str(j, "event", e->name);
    put_what(j, e);
    json_list(j, "nodes");
    for (uint32_t i = 0; i < spell->nodes.n; i++)
        json_str(j, NULL, p->nodes.at[spell->nodes.at[i]].name);
    json_list_end(j);
    put_ms(j, "begin_ms", begin_ns);
    put_ms(j, "end_ms", end_ns);
    json_uint(j, "operations", to - from);
    json_uint(j, "failures", count_failed(s->run, from, to));
    if (e->injector->kind == INJECT_LINK)
        json_uint(j, "packets", spell->struck);
    if (e->injector->kind == INJECT_DOOR)
        json_uint(j, slice_is(e->type, "http") ? "calls" : "connections", spell->struck);
    if (spell->failed.n)
        put_masked(j, "failed", spell->failed, LINE_BYTES);
    json_map_end(j);
}

static void put_deaths(const struct sheet *s)
{
    json_list(s->j, "deaths");
    for (uint32_t i = 0; i < s->run->deaths.n; i++) {
        const struct plan_death *d = &s->run->deaths.at[i];
        struct buf how = BUF_INIT(100);
        if (WIFSIGNALED(d->status))
            buf_addf(&how, "signal %d", WTERMSIG(d->status));
        else
            buf_addf(&how, "exit code %d", WEXITSTATUS(d->status));
        row_begin(s->j);
        json_str(s->j, "node", s->plan->nodes.at[d->node].name);
        put_ms(s->j, "at_ms", d->at_ns);
        json_take(s->j, "how", &how);
        row_end(s->j);
        buf_deinit(&how);
    }
    json_list_end(s->j);
}

/* "latency of get": each in its run once, so that runs and results can be held against each other. */
static void put_name(const struct sheet *s, uint32_t expect)
{
    const struct plan_expect *x = &s->plan->expects.at[expect];
    uint32_t same = 1;
    struct buf name = BUF_INIT(1000);
    for (uint32_t i = 0; i < expect; i++)
        same += slice_eq(plan_expect_called(&s->plan->expects.at[i]), plan_expect_called(x)) &&
                (x->called.n || slice_eq(s->plan->expects.at[i].of, x->of));
    buf_add(&name, plan_expect_called(x));
    if (x->of.n && !x->called.n)
        buf_addf(&name, " of %.*s", SLICE_ARG(x->of));
    if (same > 1)
        buf_addf(&name, " #%u", same);
    json_take(s->j, "name", &name);
    buf_deinit(&name);
}

static void put_answers(const struct sheet *s)
{
    json_list(s->j, "expectations");
    for (uint32_t i = 0; i < s->run->answers.n; i++) {
        const struct plan_answer *a = &s->run->answers.at[i];
        const struct plan_expect *x = &s->plan->expects.at[a->expect];
        json_map(s->j, NULL);
        put_name(s, a->expect);
        json_uint(s->j, "line", x->at.line);
        json_bool(s->j, "holds", a->holds);
        json_text(s->j, "verdict", a->holds ? "holds" : "violated");
        put_masked(s->j, "seen", a->seen, 4 * LINE_BYTES);
        json_map_end(s->j);
    }
    json_list_end(s->j);
}

/* ---- what was printed ---- */

static bool put_shape(struct intern *shapes, struct arena *scratch, slice text)
{
    uint32_t known = shapes->text.n;
    arena_reset(scratch);
    return intern_put_in(shapes, &shapes->arena, plan_line_shape(scratch, text)) == known;
}

static void put_line(const struct sheet *s, const struct plan_line *line)
{
    slice by = line->node >= 0     ? s->plan->nodes.at[line->node].name
               : line->client >= 0 ? s->plan->clients.at[line->client].name
                                   : SLICE("");
    row_begin(s->j);
    json_str(s->j, "by", by);
    put_ms(s->j, "at_ms", line->at_ns);
    put_masked(s->j, "text", line->text, LINE_BYTES);
    row_end(s->j);
}

/* Those that no reference run has printed, each shape once. */
static void put_new_lines(const struct sheet *s)
{
    struct intern shapes = {0};
    struct arena scratch = {0};
    const struct plan_result *r = s->result;
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->runs.n && !s->run->reference && s->run->lines.n; i++)
        for (uint32_t k = 0; r->runs.at[i]->reference && k < r->runs.at[i]->lines.n; k++)
            (void)put_shape(&shapes, &scratch, r->runs.at[i]->lines.at[k].text);
    json_list(s->j, "new_lines");
    for (uint32_t k = 0; k < s->run->lines.n && !s->run->reference && n < NEW_LINES_MOST; k++)
        if (put_shape(&shapes, &scratch, s->run->lines.at[k].text)) {
            put_line(s, &s->run->lines.at[k]);
            n++;
        }
    json_list_end(s->j);
    arena_deinit(&scratch);
    intern_deinit(&shapes);
}

static void put_logs(struct sheet *s)
{
    json_list(s->j, "logs");
    for (uint32_t i = 0; i < s->run->tails.n; i++) {
        const struct plan_tail *t = &s->run->tails.at[i];
        slice rest = t->text, line;
        if (t->text.n > s->tail_bytes)
            continue;
        s->tail_bytes -= t->text.n;
        if (rest.n && rest.p[rest.n - 1] == '\n')
            rest.n--;
        json_map(s->j, NULL);
        json_str(s->j, "name", t->name);
        json_list(s->j, "lines");
        while (slice_cut(&rest, '\n', &line))
            put_masked(s->j, NULL, line, LINE_BYTES);
        json_list_end(s->j);
        json_map_end(s->j);
    }
    json_list_end(s->j);
}

/* ---- a run ---- */

static void put_run(struct sheet *s)
{
    struct json_out *j = s->j;
    const struct plan_run *r = s->run;
    struct buf name = BUF_INIT(100);
    buf_addf(&name, "%s-%u", r->reference ? "reference" : "faulty", r->number);
    s->first = op_from(r, r->from_ns);
    s->last = op_from(r, r->to_ns);
    json_map(j, NULL);
    json_take(j, "name", &name);
    json_text(j, "kind", r->reference ? "reference" : "faulty");
    json_uint(j, "number", r->number);
    json_bool(j, "holds", plan_run_holds(r));
    if (r->broken.n)
        put_masked(j, "broken", r->broken, 4 * LINE_BYTES);
    json_str(j, "dir", r->dir);
    put_ms(j, "from_ms", r->from_ns);
    put_ms(j, "to_ms", r->to_ns);
    json_bool(j, "truncated", r->truncated);
    put_operations(s);
    if (r->first_failure.client < s->result->plan->clients.n) {
        json_map(j, "first_failure");
        json_str(j, "client", s->result->plan->clients.at[r->first_failure.client].name);
        put_ms(j, "at_ms", r->first_failure.at_ns);
        put_masked(j, "said", r->first_failure.said, LINE_BYTES);
        json_map_end(j);
    }
    json_list(j, "faults");
    for (uint32_t i = 0; i < r->spells.n; i++)
        put_spell(s, &r->spells.at[i]);
    json_list_end(j);
    put_deaths(s);
    put_answers(s);
    put_new_lines(s);
    put_clients(s);
    plan_put_measures(j, s->result, r);
    put_columns(s);
    put_logs(s);
    json_map_end(j);
    buf_deinit(&name);
}

/* ---- the whole ---- */

static void put_began(struct json_out *j, int64_t wall_ns)
{
    time_t seconds = (time_t)(wall_ns / SECONDS(1));
    struct tm tm;
    char text[40] = "";
    if (gmtime_r(&seconds, &tm))
        (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
    json_text(j, "began", text);
}

static void put_events(const struct sheet *s)
{
    json_list(s->j, "events");
    for (uint32_t i = 0; i < s->plan->events.n; i++) {
        const struct plan_event *e = &s->plan->events.at[i];
        struct buf when = BUF_INIT(10000);
        json_map(s->j, NULL);
        json_str(s->j, "name", e->name);
        put_what(s->j, e);
        plan_print_trigger(s->plan, &e->trigger, &when);
        json_take(s->j, "when", &when);
        if (e->duration_ns && !e->injector->momentary)
            put_ms(s->j, "duration_ms", e->duration_ns);
        else
            json_nil(s->j, "duration_ms");
        json_map_end(s->j);
        buf_deinit(&when);
    }
    json_list_end(s->j);
}

static void put_plan(const struct sheet *s, const char *version)
{
    static const char *const verdicts[] = {"holds", "violated", "unsure", "sick"};
    struct json_out *j = s->j;
    const struct plan *p = s->plan;
    struct buf command = BUF_INIT(10000);
    buf_adds(&command, "outfox plan run ");
    words_quoted(p->file.n ? p->file : SLICE("-"), &command);
    json_uint(j, "schema_version", REPORT_SCHEMA_VERSION);
    json_text(j, "outfox", version);
    json_str(j, "plan", p->name);
    json_str(j, "about", p->about);
    json_str(j, "file", p->file);
    json_take(j, "command", &command);
    json_uint(j, "seed", p->seed);
    json_text(j, "verdict", verdicts[plan_verdict(s->result)]);
    if (s->result->signal)
        json_int(j, "signal", s->result->signal);
    else
        json_nil(j, "signal");
    put_began(j, s->result->began_ns);
    put_ms(j, "took_ms", s->result->took_ns);
    put_ms(j, "duration_ms", p->duration_ns);
    buf_deinit(&command);
}

static void put_processes(const struct sheet *s)
{
    json_list(s->j, "nodes");
    for (uint32_t i = 0; i < s->plan->nodes.n; i++) {
        json_map(s->j, NULL);
        json_str(s->j, "name", s->plan->nodes.at[i].name);
        put_masked(s->j, "command", s->plan->nodes.at[i].start, 4 * LINE_BYTES);
        json_map_end(s->j);
    }
    json_list_end(s->j);
    json_list(s->j, "clients");
    for (uint32_t i = 0; i < s->plan->clients.n; i++) {
        json_map(s->j, NULL);
        json_str(s->j, "name", s->plan->clients.at[i].name);
        put_masked(s->j, "command", s->plan->clients.at[i].command, 4 * LINE_BYTES);
        json_map_end(s->j);
    }
    json_list_end(s->j);
}

/* As fine as all runs together allow. */
static void choose_columns(struct sheet *s)
{
    uint32_t n = s->plan->clients.n, runs = s->result->runs.n ? s->result->runs.n : 1;
    s->clients = n < CLIENTS_MOST ? n : CLIENTS_MOST;
    s->columns = VALUES_MAX / (runs * (COLUMN_VALUES + 2 * s->clients));
    if (s->columns < COLUMNS_FINE) {
        s->clients = 0;
        s->columns = VALUES_MAX / (runs * COLUMN_VALUES);
    }
    s->columns = s->columns > COLUMNS_MOST    ? COLUMNS_MOST
                 : s->columns < COLUMNS_LEAST ? COLUMNS_LEAST
                                              : s->columns;
}

void plan_print_json(const struct plan_result *r, const char *version, struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    struct sheet s = {.j = &j, .result = r, .plan = r->plan, .tail_bytes = TAIL_BYTES};
    choose_columns(&s);
    json_map(&j, NULL);
    put_plan(&s, version);
    put_processes(&s);
    put_events(&s);
    json_list(&j, "runs");
    for (uint32_t i = 0; i < r->runs.n; i++) {
        s.run = r->runs.at[i];
        put_run(&s);
    }
    json_list_end(&j);
    put_masked(&j, "text", r->plan->text, TEXT_BYTES);
    json_map_end(&j);
    buf_addc(out, '\n');
}
