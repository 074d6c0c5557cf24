/* SPDX-License-Identifier: Apache-2.0
 *
 * States: of each task its functions, the entry first; of each function its branches with the blocks that they
 * lead to. Where sources are at hand their lines stand beside. */
#include <stdio.h>
#include <stdlib.h>

#include "base/printable.h"
#include "data/json.h"
#include "report/escape.h"
#include "report/native.h"

enum { COLUMNS = 100, SOURCE_AT = 46, NAMES_SHOWN = 40 };

/* Functions by tasks, and what of it is wanted. */
struct overview {
    const struct native *n;
    slice only;
    VEC(uint32_t) order; /* functions with states: by task, depth, then as they are */
    VEC(uint32_t) first; /* of a task: where its functions begin in `order`; one more at the end */
    VEC(uint32_t) n_states; /* of a task */
    VEC(uint32_t) tasks;    /* those that are shown, with most states first */
    uint32_t belonging;     /* states that belong to a task */
    struct arena scratch;
};

static int by_task(const void *a, const void *b, void *ctx)
{
    const struct overview *v = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct native_function *x = &v->n->functions.at[i], *y = &v->n->functions.at[k];
    if (x->task != y->task)
        return x->task < y->task ? -1 : 1;
    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return i < k ? -1 : i > k;
}

static int by_states(const void *a, const void *b, void *ctx)
{
    const struct overview *v = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    if (v->n_states.at[i] != v->n_states.at[k])
        return v->n_states.at[i] > v->n_states.at[k] ? -1 : 1;
    return i < k ? -1 : i > k;
}

static void overview_init(struct overview *v, const struct native *n, slice only)
{
    *v = (struct overview){.n = n, .only = only};
    for (uint32_t i = 0; i < n->functions.n; i++)
        if (n->functions.at[i].task != NATIVE_NONE && n->functions.at[i].n_states)
            vec_push(&v->order, i);
    if (v->order.n)
        qsort_r(v->order.at, v->order.n, sizeof *v->order.at, by_task, v);
    for (uint32_t t = 0, i = 0; t <= n->tasks.n; t++) {
        uint32_t states = 0;
        vec_push(&v->first, i);
        for (; i < v->order.n && n->functions.at[v->order.at[i]].task == t; i++)
            states += n->functions.at[v->order.at[i]].n_states;
        v->belonging += states;
        vec_push(&v->n_states, states);
        slice name =
            t < n->tasks.n ? native_demangled(n->tasks.at[t].name, &v->scratch) : SLICE("");
        if (t < n->tasks.n &&
            (!only.n || slice_glob(only, name) || slice_glob(only, n->tasks.at[t].name)))
            vec_push(&v->tasks, t);
    }
    if (v->tasks.n)
        qsort_r(v->tasks.at, v->tasks.n, sizeof *v->tasks.at, by_states, v);
}

static void overview_deinit(struct overview *v)
{
    vec_deinit(&v->order);
    vec_deinit(&v->first);
    vec_deinit(&v->n_states);
    vec_deinit(&v->tasks);
    arena_deinit(&v->scratch);
}

/* ---- sources ---- */

/* The line of a file, without blanks around; nothing where it is not to be had. */
static slice source_line(const struct native_sources *sources, slice file, uint32_t line)
{
    slice rest = sources && line ? sources->file(sources->ctx, file) : (slice){NULL, 0}, one = {0};
    while (line && rest.p && slice_cut(&rest, '\n', &one))
        line--;
    return line ? (slice){NULL, 0} : slice_trim(one);
}

/* So much of a text as is left in the line. */
static void add_source(slice text, size_t column, struct buf *out)
{
    struct buf line = BUF_INIT(1 << 16);
    size_t most = column < COLUMNS - 4 ? COLUMNS - column : 4, shown = 0;
    for (slice rest = text; rest.n && shown < most; shown++) {
        struct glyph c = glyph_take(&rest);
        bool last = shown + 1 == most && rest.n;
        buf_add(&line, last ? SLICE("\u2026") : c.code == '\t' ? SLICE(" ") : c.bytes);
    }
    escape_line(buf_slice(&line), out);
    buf_deinit(&line);
}

/* "  1790  server.x          if (server.x == -1) {" */
static void add_line(const struct native_sources *sources, slice file, int width, uint32_t line,
                     slice words, struct buf *out)
{
    struct buf left = BUF_INIT(1 << 16);
    slice text = source_line(sources, file, line);
    if (line)
        buf_addf(&left, "%*u  ", width, (unsigned)line);
    else
        buf_addf(&left, "%*s  ", width, "?");
    escape_line(words, &left);
    if (text.n) {
        size_t at = left.n;
        for (; at < SOURCE_AT; at++)
            buf_addc(&left, ' ');
        buf_addc(&left, ' ');
        add_source(text, at + 1, &left);
    }
    buf_add(out, buf_slice(&left));
    buf_addc(out, '\n');
    buf_deinit(&left);
}

/* ---- for people ---- */

static void add_name(const struct overview *v, slice name, struct buf *out)
{
    struct arena a = {0};
    (void)v;
    escape_line(native_demangled(name, &a), out);
    arena_deinit(&a);
}

static void add_place(slice file, uint32_t line, struct buf *out)
{
    if (!file.n)
        return;
    buf_adds(out, "  ");
    escape_line(file, out);
    if (line)
        buf_addf(out, ":%u", (unsigned)line);
}

/* Blocks that one branch leads to are below it. */
static void add_states(const struct overview *v, const struct native_function *f,
                       const struct native_sources *sources, struct buf *out)
{
    const struct native_state *before = NULL;
    for (uint32_t i = 0; i < f->n_states; i++) {
        const struct native_state *s = &v->n->states.at[f->first_state + i];
        if (s->variable.n == 0 && s->branch == 0) {
            add_line(sources, f->file, 10, s->line, SLICE("its beginning"), out);
            continue;
        }
        if (!before || before->branch != s->branch || !slice_eq(before->variable, s->variable))
            add_line(sources, f->file, 10, s->branch, s->variable, out);
        bool there = s->line == s->branch; /* its text stands in the line above */
        add_line(there ? NULL : sources, f->file, 14, s->line, SLICE(""), out);
        before = s;
    }
}

static void add_function(const struct overview *v, const struct native_function *f,
                         const struct native_sources *sources, struct buf *out)
{
    buf_adds(out, "  ");
    add_name(v, f->name, out);
    buf_addf(out, "  %u %s", (unsigned)f->n_states, plural(f->n_states, "state", "states"));
    if (f->depth)
        buf_addf(out, ", %u %s away", (unsigned)f->depth, plural(f->depth, "call", "calls"));
    add_place(f->file, f->line, out);
    buf_addc(out, '\n');
    add_states(v, f, sources, out);
}

static void add_task(const struct overview *v, uint32_t t, const struct native_sources *sources,
                     const struct style *st, struct buf *out)
{
    const struct native_task *task = &v->n->tasks.at[t];
    uint32_t n = v->first.at[t + 1] - v->first.at[t];
    buf_addf(out, "%s", st->bold);
    add_name(v, task->name, out);
    buf_addf(out, "%s: ", st->off);
    escape_line(task->why, out);
    buf_addf(out, ", %u %s in %u %s", (unsigned)v->n_states.at[t],
             plural(v->n_states.at[t], "state", "states"), (unsigned)n,
             plural(n, "function", "functions"));
    add_place(task->file, task->line, out);
    buf_addc(out, '\n');
    for (uint32_t i = 0; i < n; i++)
        add_function(v, &v->n->functions.at[v->order.at[v->first.at[t] + i]], sources, out);
    buf_addc(out, '\n');
}

/* "12 more tasks have no states: a, b, c" */
static void add_stateless(const struct overview *v, uint32_t from, struct buf *out)
{
    uint32_t n = v->tasks.n - from;
    size_t column;
    if (n == 0)
        return;
    size_t before = out->n;
    buf_addf(out, "%u %s no states:", (unsigned)n, plural(n, "task has", "tasks have"));
    column = out->n - before;
    for (uint32_t i = 0; i < n && i < NAMES_SHOWN; i++) {
        struct buf name = BUF_INIT(1 << 16);
        add_name(v, v->n->tasks.at[v->tasks.at[from + i]].name, &name);
        bool full = column + name.n + 2 > COLUMNS;
        buf_addf(out, "%s%s%s", full ? "\n  " : " ", buf_text(&name),
                 i + 1 == n             ? ""
                 : i + 1 == NAMES_SHOWN ? " ..."
                                        : ",");
        column = (full ? 3 : column + 2) + name.n;
        buf_deinit(&name);
    }
    buf_adds(out, "\n\n");
}

static void add_summary(const struct overview *v, const struct style *st, struct buf *out)
{
    const struct native *n = v->n;
    uint32_t apart = 0;
    for (uint32_t i = 0; i < n->functions.n; i++)
        apart += n->functions.at[i].task == NATIVE_NONE && n->functions.at[i].n_states;
    buf_addf(out, "%s", st->bold);
    escape_line(n->path, out);
    buf_addf(out, "%s: %u %s, %u %s", st->off, (unsigned)n->tasks.n,
             plural(n->tasks.n, "task", "tasks"), (unsigned)v->belonging,
             plural(v->belonging, "state", "states"));
    if (apart)
        buf_addf(out, "; %u more of %u %s that %s to no task",
                 (unsigned)(n->states.n - v->belonging), (unsigned)apart,
                 plural(apart, "function", "functions"), plural(apart, "belongs", "belong"));
    buf_addc(out, '\n');
    if (!n->has_facts)
        buf_addf(
            out,
            "%sIts facts are gone, so only main is known to be a task:%s strip it with strip of binutils, "
            "which keeps\nthe section outfox_facts, or not at all.\n",
            st->yellow, st->off);
}

static void print_states(const struct native *n, slice only, const struct native_sources *sources,
                         const struct style *st, struct buf *out)
{
    struct overview v;
    uint32_t i = 0;
    overview_init(&v, n, only);
    for (; i < v.tasks.n && v.n_states.at[v.tasks.at[i]]; i++)
        add_task(&v, v.tasks.at[i], sources, st, out);
    add_stateless(&v, i, out);
    add_summary(&v, st, out);
    overview_deinit(&v);
}

void report_states(const struct native *list, uint32_t n, slice only,
                   const struct native_sources *sources, const struct style *style, struct buf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_addc(out, '\n');
        print_states(&list[i], only, sources, style, out);
    }
}

/* ---- for programs ---- */

static void json_state(struct json_out *j, const struct native *n, uint32_t index)
{
    const struct native_state *s = &n->states.at[index];
    json_map(j, NULL);
    json_uint(j, "index", index);
    json_str(j, "variable", s->variable);
    json_uint(j, "line", s->line);
    json_uint(j, "branch", s->branch);
    json_map_end(j);
}

static void json_function(struct json_out *j, const struct native *n, uint32_t index)
{
    const struct native_function *f = &n->functions.at[index];
    json_map(j, NULL);
    json_uint(j, "index", index);
    json_str(j, "name", f->name);
    json_str(j, "file", f->file);
    json_uint(j, "line", f->line);
    if (f->depth == NATIVE_NONE)
        json_nil(j, "depth");
    else
        json_uint(j, "depth", f->depth);
    json_list(j, "states");
    for (uint32_t i = 0; i < f->n_states; i++)
        json_state(j, n, f->first_state + i);
    json_list_end(j);
    json_map_end(j);
}

static void json_task(struct json_out *j, const struct overview *v, uint32_t t)
{
    const struct native_task *task = &v->n->tasks.at[t];
    json_map(j, NULL);
    json_str(j, "entry", task->name);
    json_str(j, "why", task->why);
    json_str(j, "file", task->file);
    json_uint(j, "line", task->line);
    json_uint(j, "n_states", v->n_states.at[t]);
    json_list(j, "functions");
    for (uint32_t i = v->first.at[t]; i < v->first.at[t + 1]; i++)
        json_function(j, v->n, v->order.at[i]);
    json_list_end(j);
    json_map_end(j);
}

static void json_binary(struct json_out *j, const struct overview *v)
{
    const struct native *n = v->n;
    char id[17];
    snprintf(id, sizeof id, "%016llx", (unsigned long long)n->id);
    json_map(j, NULL);
    json_str(j, "path", n->path);
    json_text(j, "id", id);
    json_bool(j, "facts", n->has_facts);
    json_uint(j, "n_states", n->states.n);
    json_uint(j, "n_belonging", v->belonging);
    json_list(j, "tasks");
    for (uint32_t i = 0; i < v->tasks.n; i++)
        json_task(j, v, v->tasks.at[i]);
    json_list_end(j);
    json_list(j, "apart");
    for (uint32_t i = 0; i < n->functions.n && !v->only.n; i++)
        if (n->functions.at[i].task == NATIVE_NONE && n->functions.at[i].n_states)
            json_function(j, n, i);
    json_list_end(j);
    json_map_end(j);
}

void report_states_json(const struct native *list, uint32_t n, slice only, struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_uint(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_list(&j, "binaries");
    for (uint32_t i = 0; i < n; i++) {
        struct overview v;
        overview_init(&v, &list[i], only);
        json_binary(&j, &v);
        overview_deinit(&v);
    }
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
}

/* ---- graphs ---- */

/* Text within quotes of DOT: only a quote and a backslash mean something there. */
static void add_quoted(slice text, struct buf *out)
{
    struct buf line = BUF_INIT(1 << 16);
    escape_line(text, &line);
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] == '"' || line.p[i] == '\\')
            buf_addc(out, '\\');
        buf_addc(out, line.p[i]);
    }
    buf_deinit(&line);
}

/* A box with a line for each branch: "1790 server.x: 1793, 1799". */
static void dot_function(const struct overview *v, uint32_t binary, uint32_t index, struct buf *out)
{
    const struct native_function *f = &v->n->functions.at[index];
    const struct native_state *before = NULL;
    struct buf name = BUF_INIT(1 << 16);
    add_name(v, f->name, &name);
    buf_addf(out, "    f%u_%u [label=\"", (unsigned)binary, (unsigned)index);
    add_quoted(buf_slice(&name), out);
    buf_adds(out, "\\l");
    for (uint32_t i = 0; i < f->n_states; i++) {
        const struct native_state *s = &v->n->states.at[f->first_state + i];
        if (s->variable.n == 0 && s->branch == 0)
            continue;
        bool same =
            before && before->branch == s->branch && slice_eq(before->variable, s->variable);
        if (!same) {
            buf_addf(out, "%s%u ", before ? "\\l" : "", (unsigned)s->branch);
            add_quoted(s->variable, out);
        }
        buf_addf(out, "%s %u", same ? "," : ":", (unsigned)s->line);
        before = s;
    }
    buf_addf(out, "%s\"];\n", before ? "\\l" : "");
    buf_deinit(&name);
}

static void dot_task(const struct overview *v, uint32_t binary, uint32_t t, struct buf *out)
{
    const struct native_task *task = &v->n->tasks.at[t];
    struct buf name = BUF_INIT(1 << 16);
    add_name(v, task->name, &name);
    buf_addf(out, "  subgraph cluster_%u_%u {\n    label=\"", (unsigned)binary, (unsigned)t);
    add_quoted(buf_slice(&name), out);
    buf_adds(out, "\\n");
    add_quoted(task->why, out);
    buf_adds(out, "\";\n");
    for (uint32_t i = v->first.at[t]; i < v->first.at[t + 1]; i++)
        dot_function(v, binary, v->order.at[i], out);
    for (uint32_t i = v->first.at[t]; i < v->first.at[t + 1]; i++) {
        uint32_t f = v->order.at[i], from = v->n->functions.at[f].caller;
        if (from != NATIVE_NONE && v->n->functions.at[from].n_states)
            buf_addf(out, "    f%u_%u -> f%u_%u;\n", (unsigned)binary, (unsigned)from,
                     (unsigned)binary, (unsigned)f);
    }
    buf_adds(out, "  }\n");
    buf_deinit(&name);
}

void report_states_dot(const struct native *list, uint32_t n, slice only, struct buf *out)
{
    buf_adds(out, "digraph states {\n  rankdir=LR;\n  node [shape=box, fontname=monospace];\n");
    for (uint32_t i = 0; i < n; i++) {
        struct overview v;
        overview_init(&v, &list[i], only);
        for (uint32_t k = 0; k < v.tasks.n && v.n_states.at[v.tasks.at[k]]; k++)
            dot_task(&v, i, v.tasks.at[k], out);
        overview_deinit(&v);
    }
    buf_adds(out, "}\n");
}
