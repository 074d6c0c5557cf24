/* SPDX-License-Identifier: Apache-2.0
 *
 * Dependencies: the words for them; for people, as a matrix with a row for each call and a column
 * for each mode, in which modes that every call meets in the same way share a column; and for
 * Graphviz, as a graph of services with an edge for each call. */
#include "base/index.h"
#include "report/escape.h"
#include "report/report.h"
#include "report/words.h"

enum { CALL_COLUMNS = 96, HEAD_COLUMNS = 12, PAIRS_SHOWN = 20, CAUSES_SHOWN = 4 };

/* ---- words ---- */

/* "users > bookings GET /bookings/[id]" */
static void words_dep_call(const struct names *names, uid u, struct buf *out)
{
    uid parent = uid_parent(names, u);
    words_add(out, names, parent == UID_NONE ? "" : "%v > ", parent);
    element_print(names, uid_element(names, u), out);
}

/* Of a mode that decides, or of all: what becomes of the request, and what absorbs a failure. */
static void add_effect(const struct summary *s, const struct dep *d, struct buf *out)
{
    static const char *const by[DEP_BYS] = {[DEP_BY_VALUE] = "%v continues without it",
                                            [DEP_BY_RETRY] = "%v retries",
                                            [DEP_BY_OTHER] = "%v calls %e instead"};
    bool soft = d->by != DEP_BY_NOTHING && d->at != UID_NONE;
    uint32_t hard = 0, n = 0;
    for (uint32_t i = 0; i < d->ways.n; i++)
        hard += d->ways.at[i].fails;
    if (hard)
        buf_adds(out, soft ? "the request fails with " : "the request fails");
    for (uint32_t i = 0; i < d->ways.n && soft; i++) /* "500, 502 and 503" */
        if (d->ways.at[i].fails) {
            buf_adds(out, n == 0 ? "" : n + 1 < hard ? ", " : " and ");
            label_print(d->ways.at[i].label, out);
            n++;
        }
    if (soft) {
        buf_adds(out, hard ? "; otherwise " : "");
        words_add(out, s->names, by[d->by], d->at, d->instead);
    }
}

/* Was nothing seen but failures that pass? */
static bool only_passing(const struct dep *d)
{
    for (uint32_t i = 0; i < d->ways.n; i++)
        if (d->ways.at[i].lasting)
            return false;
    return d->ways.n > 0;
}

/* "a", "a or b", "a and b, or c, or in other cases": the calls whose failure leads to it. */
static void add_causes(const struct summary *s, const struct dep_causes *all, struct buf *out)
{
    uint32_t n = all->n < CAUSES_SHOWN ? all->n : CAUSES_SHOWN;
    bool single = n > 0 && all->at[n - 1].n == 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct dep_cause *c = &all->at[i];
        if (i > 0)
            buf_adds(out, single ? " or " : ", or ");
        for (uint32_t k = 0; k < c->n; k++) {
            buf_adds(out, k ? " and " : "");
            words_call(s->names, c->calls[k], out);
        }
        if (!single || i + 1 == n)
            buf_adds(out, plural(c->n, " fails", " fail"));
    }
    if (all->more || all->n > n)
        buf_adds(out, ", or in other cases");
}

void words_dep(const struct summary *s, const struct dep *d, struct buf *out)
{
    if (d->after_fault) {
        buf_adds(out, "only called when ");
        add_causes(s, &d->causes, out);
        buf_adds(out, d->too_late ? ", and then the request fails anyway"
                      : d->ways.n ? "; if it fails too, "
                                  : "");
    } else if (d->kind == DEP_UNKNOWN) {
        buf_adds(out, "it never failed alone");
        return;
    }
    if (d->ways.n)
        add_effect(s, d, out);
    if (only_passing(d) && d->by == DEP_BY_RETRY)
        buf_adds(out, "; a lasting failure was not tried");
    else if (d->retried)
        buf_adds(out, "; a retry absorbs a transient failure");
}

/* ---- the matrix: cells ---- */

/* What stands in a cell. */
enum cell {
    CELL_HARD,
    CELL_VALUE,
    CELL_OTHER,
    CELL_RETRY,
    CELL_SAME,
    CELL_LATE,
    CELL_UNTRIED,
    CELLS
};

static const struct {
    const char *mark, *words;
} cell_rows[CELLS] = {
    [CELL_HARD] = {"X", "the request fails"},
    [CELL_VALUE] = {"v", "a default value, or nothing, takes its place"},
    [CELL_OTHER] = {"o", "another call is made instead"},
    [CELL_RETRY] = {"r", "a retry absorbs it; a lasting failure was not tried"},
    [CELL_SAME] = {"=", "its caller saw no failure"},
    [CELL_LATE] = {".", "the request has already failed"},
    [CELL_UNTRIED] = {"-", "not tried"},
};

static enum cell cell_of(const struct dep *d, label l)
{
    static const enum cell cells[DEP_BYS] = {[DEP_BY_NOTHING] = CELL_SAME,
                                             [DEP_BY_VALUE] = CELL_VALUE,
                                             [DEP_BY_OTHER] = CELL_OTHER,
                                             [DEP_BY_RETRY] = CELL_RETRY};
    for (uint32_t i = 0; i < d->ways.n; i++)
        if (d->ways.at[i].label == l)
            return d->ways.at[i].fails ? CELL_HARD : cells[d->ways.at[i].by];
    return d->too_late ? CELL_LATE : CELL_UNTRIED;
}

/* ---- the matrix: columns ---- */

struct column {
    uint32_t first, n; /* labels: the first of them, and how many share it */
    struct buf head;
};

struct matrix {
    const struct deps *d;
    VEC(uint32_t) column_of; /* by label */
    VEC(struct column) columns;
    uint32_t width; /* of calls */
    bool used[CELLS];
};

static bool same_column(const struct deps *d, label a, label b)
{
    for (uint32_t i = 0; i < d->rows.n; i++)
        if (cell_of(&d->rows.at[i], a) != cell_of(&d->rows.at[i], b))
            return false;
    return true;
}

/* "500, 502", or "500+3" where that is too long. */
static void add_head(const struct matrix *m, uint32_t column, bool whole, struct buf *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->d->labels.n; i++) {
        if (m->column_of.at[i] != column || (n++ > 0 && !whole))
            continue;
        buf_adds(out, n > 1 ? ", " : "");
        label_print(m->d->labels.at[i], out);
    }
    if (!whole && n > 1)
        buf_addf(out, "+%u", (unsigned)n - 1);
}

static void matrix_init(struct matrix *m, const struct deps *d, const struct names *names)
{
    *m = (struct matrix){.d = d};
    for (uint32_t i = 0; i < d->labels.n; i++) {
        uint32_t k = 0;
        while (k < m->columns.n &&
               !same_column(d, d->labels.at[m->columns.at[k].first], d->labels.at[i]))
            k++;
        if (k == m->columns.n)
            vec_push(&m->columns, (struct column){.first = i, .head = BUF_INIT(4096)});
        m->columns.at[k].n++;
        vec_push(&m->column_of, k);
    }
    for (uint32_t k = 0; k < m->columns.n; k++) {
        struct buf *head = &m->columns.at[k].head;
        add_head(m, k, true, head);
        if (head->n <= HEAD_COLUMNS)
            continue;
        buf_clear(head);
        add_head(m, k, false, head);
    }
    for (uint32_t i = 0; i < d->rows.n; i++) {
        struct buf call = BUF_INIT(1 << 16);
        words_dep_call(names, d->rows.at[i].call, &call);
        m->width = call.n > m->width ? (uint32_t)call.n : m->width;
        buf_deinit(&call);
        for (uint32_t k = 0; k < m->columns.n; k++)
            m->used[cell_of(&d->rows.at[i], d->labels.at[m->columns.at[k].first])] = true;
    }
    m->width = m->width < CALL_COLUMNS ? m->width : CALL_COLUMNS;
}

/* ---- the matrix: printing ---- */

static void print_row(const struct matrix *m, const struct summary *s, const struct dep *d,
                      const struct style *st, struct buf *out)
{
    struct buf call = BUF_INIT(1 << 16), words = BUF_INIT(1 << 16);
    words_dep_call(s->names, d->call, &call);
    words_dep(s, d, &words);
    const char *colour = d->kind == DEP_HARD   ? st->red
                         : d->kind == DEP_SOFT ? st->green
                                               : st->yellow;
    buf_addf(out, "  %s%-11s%s  %-*s", colour, dep_kind_names[d->kind], st->off, (int)m->width,
             buf_text(&call));
    bool plain = d->kind == DEP_HARD && !d->retried; /* the cells say it all */
    for (uint32_t k = 0; k < m->columns.n; k++) {
        bool last = plain && k + 1 == m->columns.n;
        buf_addf(out, "  %-*s", last ? 1 : (int)m->columns.at[k].head.n,
                 cell_rows[cell_of(d, m->d->labels.at[m->columns.at[k].first])].mark);
    }
    buf_addf(out, "%s%s\n", plain ? "" : "  ", plain ? "" : buf_text(&words));
    buf_deinit(&call);
    buf_deinit(&words);
}

static void print_legend(const struct matrix *m, struct buf *out)
{
    bool first = true;
    for (int i = 0; i < CELLS; i++)
        if (m->used[i]) {
            buf_addf(out, "%s  %s  %s\n", first ? "\n" : "", cell_rows[i].mark, cell_rows[i].words);
            first = false;
        }
    for (uint32_t k = 0; k < m->columns.n; k++) {
        struct buf whole = BUF_INIT(1 << 14);
        add_head(m, k, true, &whole);
        if (whole.n > HEAD_COLUMNS && m->columns.at[k].n > 1)
            buf_addf(out, "  %s: %s\n", buf_text(&m->columns.at[k].head), buf_text(&whole));
        buf_deinit(&whole);
    }
}

static void print_matrix(const struct deps_report *r, const struct style *st, struct buf *out)
{
    struct matrix m;
    matrix_init(&m, &r->deps, r->summary->names);
    if (r->deps.rows.n) {
        buf_addf(out, "\n  %-11s  %-*s", "", (int)m.width, "");
        for (uint32_t k = 0; k < m.columns.n; k++)
            buf_addf(out, "  %s", buf_text(&m.columns.at[k].head));
        buf_addc(out, '\n');
    }
    for (uint32_t i = 0; i < r->deps.rows.n; i++)
        print_row(&m, r->summary, &r->deps.rows.at[i], st, out);
    print_legend(&m, out);
    for (uint32_t k = 0; k < m.columns.n; k++)
        buf_deinit(&m.columns.at[k].head);
    vec_deinit(&m.columns);
    vec_deinit(&m.column_of);
}

static void print_more(uint32_t n, struct buf *out)
{
    if (n > PAIRS_SHOWN)
        buf_addf(out, "    ... and %u more; --json lists them\n", (unsigned)(n - PAIRS_SHOWN));
}

static void print_pairs(const struct deps_report *r, const struct style *st, struct buf *out)
{
    const struct summary *s = r->summary;
    if (r->deps.pairs.n)
        buf_adds(out, "\n  absorbed one at a time, but not together\n");
    for (uint32_t i = 0; i < r->deps.pairs.n && i < PAIRS_SHOWN; i++) {
        const struct dep_pair *p = &r->deps.pairs.at[i];
        buf_adds(out, "    ");
        words_dep_call(s->names, p->a, out);
        buf_adds(out, " and ");
        words_dep_call(s->names, p->b, out);
        words_add(out, s->names,
                  outcome_kind(p->status) == OUT_EXIT ? ": the command ends with %o\n      %s"
                                                      : ": the client gets %o\n      %s",
                  p->status, st->dim);
        words_replay_run(s, p->faultload, p->number, out);
        buf_addf(out, "%s\n", st->off);
    }
    print_more(r->deps.pairs.n, out);
}

static void print_redundant(const struct deps_report *r, struct buf *out)
{
    if (r->deps.redundant.n)
        buf_adds(out, "\n  made more than once with the same request, without any fault\n");
    for (uint32_t i = 0; i < r->deps.redundant.n && i < PAIRS_SHOWN; i++) {
        const struct dep_twice *x = &r->deps.redundant.at[i];
        buf_adds(out, "    ");
        words_dep_call(r->summary->names, x->call, out);
        buf_addf(out, ": %u times%s\n", (unsigned)x->times,
                 x->one_handler ? ", by one handler" : "");
    }
    print_more(r->deps.redundant.n, out);
}

static void print_title(const struct deps_report *r, const struct style *st, struct buf *out)
{
    const struct summary *s = r->summary;
    uint32_t n = r->deps.rows.n;
    const char *before = ": ";
    buf_addf(out, "%s%s / %s%s: ", st->bold, s->system, s->scenario, st->off);
    if (s->broken) {
        buf_addf(out, "%sfails without any fault%s: %s\n", st->red, st->off, s->broken);
        return;
    }
    buf_addf(out, "%u %s", (unsigned)n, plural(n, "dependency", "dependencies"));
    for (int kind = 0; kind < DEP_KINDS; kind++) {
        uint32_t of = deps_count(&r->deps, (enum dep_kind)kind);
        if (of) {
            buf_addf(out, "%s%u %s", before, (unsigned)of, dep_kind_names[kind]);
            before = ", ";
        }
    }
    if (s->stopped || s->doubt)
        buf_addf(out, "; %sincomplete%s: %s", st->yellow, st->off, words_unsure(s));
    buf_addc(out, '\n');
}

void report_deps_text(const struct deps_report *list, uint32_t n, const struct style *style,
                      struct buf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_addc(out, '\n');
        print_title(&list[i], style, out);
        print_matrix(&list[i], style, out);
        print_pairs(&list[i], style, out);
        print_redundant(&list[i], out);
    }
}

/* ---- a graph ----
 *
 * Hard dependencies are solid and red, soft ones dashed and labelled with what absorbs a failure. */

/* Text within quotes: only a quote and a backslash mean something there. */
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

/* A graph, in which each %s is such a text. */
#define put(out, ...) escape_addf(out, add_quoted, __VA_ARGS__)

static const char *service_of(const struct names *names, uid u)
{
    return names_text(names, uid_element(names, u)->service).p;
}

/* A service is drawn once for each scenario, which its node is named by too. */
static void put_nodes(const struct deps_report *r, const char *scenario, struct buf *out)
{
    const struct names *names = r->summary->names;
    struct map told = {0};
    for (uint32_t i = 0; i < 2 * r->deps.rows.n; i++) {
        uid u = r->deps.rows.at[i / 2].call;
        u = i % 2 ? u : uid_parent(names, u);
        if (u == UID_NONE || map_count(&told, uid_element(names, u)->service) > 1)
            continue;
        put(out, "    \"%s/%s\" [label=\"%s\"];\n", scenario, service_of(names, u),
            service_of(names, u));
    }
    map_deinit(&told);
}

static void put_edge(const struct deps_report *r, const struct dep *d, const char *scenario,
                     struct buf *out)
{
    static const char *const styles[DEP_KINDS] = {
        [DEP_HARD] = "style=solid, color=red",
        [DEP_CONDITIONAL] = "style=solid, color=orange",
        [DEP_SOFT] = "style=dashed, color=darkgreen",
        [DEP_UNKNOWN] = "style=dotted, color=gray",
    };
    static const char *const by[DEP_BYS] = {[DEP_BY_NOTHING] = "",
                                            [DEP_BY_VALUE] = " (value)",
                                            [DEP_BY_OTHER] = " (instead: %v)",
                                            [DEP_BY_RETRY] = " (retry)"};
    const struct names *names = r->summary->names;
    struct buf text = BUF_INIT(1 << 16);
    buf_add(&text, names_text(names, uid_element(names, d->call)->interface));
    words_add(&text, names, by[d->by], d->instead);
    put(out, "    \"%s/%s\" -> \"%s/%s\" [%s, label=\"%s\"];\n", scenario,
        service_of(names, uid_parent(names, d->call)), scenario, service_of(names, d->call),
        d->after_fault ? "style=dotted, color=orange" : styles[d->kind], buf_text(&text));
    buf_deinit(&text);
}

void report_deps_dot(const struct deps_report *list, uint32_t n, struct buf *out)
{
    put(out, "digraph \"%s\" {\n  rankdir=LR;\n  node [shape=box];\n",
        n ? list[0].summary->system : "");
    for (uint32_t i = 0; i < n; i++) {
        char number[DIGITS_MOST + 1] = {0};
        const char *scenario = slice_of_u64(i, number).p;
        put(out, "  subgraph cluster_%s {\n    label=\"%s\";\n", scenario,
            list[i].summary->scenario);
        put_nodes(&list[i], scenario, out);
        for (uint32_t k = 0; k < list[i].deps.rows.n; k++)
            put_edge(&list[i], &list[i].deps.rows.at[k], scenario, out);
        buf_adds(out, "  }\n");
    }
    buf_adds(out, "}\n");
}
