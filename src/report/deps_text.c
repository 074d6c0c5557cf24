/* SPDX-License-Identifier: Apache-2.0
 *
 * Dependencies for people: a matrix with a row for each call and a column for each mode. Modes that
 * every call meets in the same way share a column. */
#include "report/deps.h"
#include "report/words.h"

enum { CALL_COLUMNS = 96, HEAD_COLUMNS = 12, PAIRS_SHOWN = 20 };

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
    [CELL_VALUE] = {"v", "a value stands in, or nothing"},
    [CELL_OTHER] = {"o", "another call is made instead"},
    [CELL_RETRY] = {"r", "a retry absorbs it; that it fails for good was not tried"},
    [CELL_SAME] = {"=", "its caller saw no failure"},
    [CELL_LATE] = {".", "the request has failed before"},
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

/* ---- columns ---- */

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

static void make_heads(struct matrix *m)
{
    for (uint32_t k = 0; k < m->columns.n; k++) {
        struct buf *head = &m->columns.at[k].head;
        add_head(m, k, true, head);
        if (head->n <= HEAD_COLUMNS)
            continue;
        buf_clear(head);
        add_head(m, k, false, head);
    }
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
    make_heads(m);
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

static void matrix_deinit(struct matrix *m)
{
    for (uint32_t k = 0; k < m->columns.n; k++)
        buf_deinit(&m->columns.at[k].head);
    vec_deinit(&m->columns);
    vec_deinit(&m->column_of);
}

/* ---- printing ---- */

static const char *colour_of(const struct dep *d, const struct style *st)
{
    return d->kind == DEP_HARD ? st->red : d->kind == DEP_SOFT ? st->green : st->yellow;
}

static void print_row(const struct matrix *m, const struct summary *s, const struct dep *d,
                      const struct style *st, FILE *out)
{
    struct buf call = BUF_INIT(1 << 16), words = BUF_INIT(1 << 16);
    words_dep_call(s->names, d->call, &call);
    words_dep(s, d, &words);
    fprintf(out, "  %s%-11s%s  %-*s", colour_of(d, st), dep_kind_names[d->kind], st->off,
            (int)m->width, buf_text(&call));
    bool plain = d->kind == DEP_HARD && !d->retried; /* the cells say it all */
    for (uint32_t k = 0; k < m->columns.n; k++) {
        bool last = plain && k + 1 == m->columns.n;
        fprintf(out, "  %-*s", last ? 1 : (int)m->columns.at[k].head.n,
                cell_rows[cell_of(d, m->d->labels.at[m->columns.at[k].first])].mark);
    }
    fprintf(out, "%s%s\n", plain ? "" : "  ", plain ? "" : buf_text(&words));
    buf_deinit(&call);
    buf_deinit(&words);
}

static void print_legend(const struct matrix *m, FILE *out)
{
    bool first = true;
    for (int i = 0; i < CELLS; i++)
        if (m->used[i]) {
            fprintf(out, "%s  %s  %s\n", first ? "\n" : "", cell_rows[i].mark, cell_rows[i].words);
            first = false;
        }
    for (uint32_t k = 0; k < m->columns.n; k++) {
        struct buf whole = BUF_INIT(1 << 14);
        add_head(m, k, true, &whole);
        if (whole.n > HEAD_COLUMNS && m->columns.at[k].n > 1)
            fprintf(out, "  %s: %s\n", buf_text(&m->columns.at[k].head), buf_text(&whole));
        buf_deinit(&whole);
    }
}

static void print_matrix(const struct deps_report *r, const struct style *st, FILE *out)
{
    struct matrix m;
    matrix_init(&m, &r->deps, r->summary->names);
    if (r->deps.rows.n) {
        fprintf(out, "\n  %-11s  %-*s", "", (int)m.width, "");
        for (uint32_t k = 0; k < m.columns.n; k++)
            fprintf(out, "  %s", buf_text(&m.columns.at[k].head));
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < r->deps.rows.n; i++)
        print_row(&m, r->summary, &r->deps.rows.at[i], st, out);
    print_legend(&m, out);
    matrix_deinit(&m);
}

static void print_pairs(const struct deps_report *r, const struct style *st, FILE *out)
{
    const struct summary *s = r->summary;
    if (r->deps.pairs.n)
        fputs("\n  absorbed one at a time, but not together\n", out);
    for (uint32_t i = 0; i < r->deps.pairs.n && i < PAIRS_SHOWN; i++) {
        const struct dep_pair *p = &r->deps.pairs.at[i];
        struct remark as = {.faultload = p->faultload, .number = p->number};
        struct buf text = BUF_INIT(1 << 16);
        words_dep_call(s->names, p->a, &text);
        buf_adds(&text, " and ");
        words_dep_call(s->names, p->b, &text);
        buf_adds(&text, outcome_kind(p->status) == OUT_EXIT ? ": the command ends with "
                                                            : ": the client gets ");
        outcome_print(p->status, &text);
        fprintf(out, "    %s\n", buf_text(&text));
        buf_clear(&text);
        words_remark_replay(s, &as, &text);
        fprintf(out, "      %s%s%s\n", st->dim, buf_text(&text), st->off);
        buf_deinit(&text);
    }
    if (r->deps.pairs.n > PAIRS_SHOWN)
        fprintf(out, "    ... and %u more; --json lists them\n",
                (unsigned)(r->deps.pairs.n - PAIRS_SHOWN));
}

static void print_redundant(const struct deps_report *r, FILE *out)
{
    if (r->deps.redundant.n)
        fputs("\n  made more than once with the same request, without any fault\n", out);
    for (uint32_t i = 0; i < r->deps.redundant.n && i < PAIRS_SHOWN; i++) {
        const struct dep_twice *x = &r->deps.redundant.at[i];
        struct buf text = BUF_INIT(1 << 16);
        words_dep_call(r->summary->names, x->call, &text);
        fprintf(out, "    %s: %u times%s\n", buf_text(&text), (unsigned)x->times,
                x->one_handler ? ", by one handler" : "");
        buf_deinit(&text);
    }
    if (r->deps.redundant.n > PAIRS_SHOWN)
        fprintf(out, "    ... and %u more; --json lists them\n",
                (unsigned)(r->deps.redundant.n - PAIRS_SHOWN));
}

static void print_title(const struct deps_report *r, const struct style *st, FILE *out)
{
    const struct summary *s = r->summary;
    uint32_t n = r->deps.rows.n;
    const char *before = ": ";
    fprintf(out, "%s%s / %s%s: ", st->bold, s->system, s->scenario, st->off);
    if (s->broken) {
        fprintf(out, "%sfails without any fault%s: %s\n", st->red, st->off, s->broken);
        return;
    }
    fprintf(out, "%u %s", (unsigned)n, plural(n, "dependency", "dependencies"));
    for (int kind = 0; kind < DEP_KINDS; kind++) {
        uint32_t of = deps_count(&r->deps, (enum dep_kind)kind);
        if (of) {
            fprintf(out, "%s%u %s", before, (unsigned)of, dep_kind_names[kind]);
            before = ", ";
        }
    }
    if (s->stopped || s->doubt)
        fprintf(out, "; %sincomplete%s: %s", st->yellow, st->off, words_unsure(s));
    fputc('\n', out);
}

void report_deps_text(const struct deps_report *list, uint32_t n, const struct style *style,
                      FILE *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            fputc('\n', out);
        print_title(&list[i], style, out);
        print_matrix(&list[i], style, out);
        print_pairs(&list[i], style, out);
        print_redundant(&list[i], out);
    }
}
