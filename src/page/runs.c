/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs for pages that show a hundred thousand of them: an index of all by columns, with texts by
 * their places in lists, and the calls of a page of them. Written for size: a column is nearly
 * always the same value, or the last one plus one, which deflate makes small. */
#include "data/json.h"
#include "page/ledger_int.h"

/* Values in the order in which they were met: a number becomes its place, and the list of them is
 * printed at the end. */
struct places {
    struct map at;
    VEC(uint32_t) list;
};

static uint32_t place_of(struct places *p, uint32_t value)
{
    uint32_t at = map_index(&p->at, value, p->list.n);
    if (at == p->list.n)
        vec_push(&p->list, value);
    return at;
}

static void places_deinit(struct places *p)
{
    map_deinit(&p->at);
    vec_deinit(&p->list);
}

typedef void (*place_printer)(const struct names *names, uint32_t value, struct buf *out);

static void print_mode(const struct names *names, uint32_t value, struct buf *out)
{
    (void)names;
    mode_print(value, out);
}

static void print_outcome(const struct names *names, uint32_t value, struct buf *out)
{
    (void)names;
    outcome_print(value, out);
}

static void put_places(struct json_out *j, const char *key, const struct places *p,
                       const struct names *names, place_printer print)
{
    struct buf text = BUF_INIT(1 << 20);
    json_list(j, key);
    for (uint32_t i = 0; i < p->list.n; i++) {
        print(names, p->list.at[i], &text);
        json_take(j, NULL, &text);
    }
    json_list_end(j);
    buf_deinit(&text);
}

static struct json_out begin(const struct report_source *source, const struct document_place *place,
                             struct buf *out)
{
    struct json_out j = json_out(out, JSON_COMPACT);
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_text(&j, "scenario", source->scenarios[place->scenario]->scenario);
    return j;
}

/* ---- the index ---- */

/* The lines that are printed. */
struct lines {
    const struct run_line *at;
    uint32_t n;
};

static struct lines lines_from(const struct ledger *l, uint64_t number)
{
    uint32_t low = 0, high = l->runs.n; /* numbers rise */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (l->runs.at[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return (struct lines){l->runs.n ? l->runs.at + low : NULL, l->runs.n - low};
}

/* Of each run its faults as pairs of call and mode, in the order of the faultload's text. */
static void put_faults(struct json_out *j, const struct ledger *l, struct lines lines,
                       struct places *calls, struct places *modes)
{
    VEC(struct fault) faults = {0};
    json_list(j, "faults");
    for (uint32_t i = 0; i < lines.n; i++) {
        faults.n = 0;
        for (faultload f = lines.at[i].faultload; f != FAULTLOAD_EMPTY; f = l->fl->rows.at[f].rest)
            vec_push(&faults, l->fl->rows.at[f].last);
        json_list(j, NULL);
        while (faults.n) {
            struct fault fault = faults.at[--faults.n];
            json_uint(j, NULL, place_of(calls, fault.point));
            json_uint(j, NULL, place_of(modes, fault.mode));
        }
        json_list_end(j);
    }
    json_list_end(j);
    vec_deinit(&faults);
}

static int64_t number_of(const struct run_line *line)
{
    return (int64_t)line->number;
}

static int64_t purpose_of(const struct run_line *line)
{
    return line->purpose;
}

static int64_t pass_of(const struct run_line *line)
{
    return line->pass;
}

static int64_t why_of(const struct run_line *line)
{
    return line->why == INTERN_NONE ? -1 : (int64_t)line->why;
}

static int64_t took_us_of(const struct run_line *line)
{
    return line->took_ns / 1000;
}

static int64_t calls_of(const struct run_line *line)
{
    return line->calls;
}

static int64_t flags_of(const struct run_line *line)
{
    return line->marks;
}

/* The columns that are numbers of their own. */
static const struct {
    const char *key;
    int64_t (*of)(const struct run_line *line);
} columns[] = {{"number", number_of}, {"purpose", purpose_of}, {"pass", pass_of},
               {"why", why_of},       {"took_us", took_us_of}, {"calls", calls_of},
               {"flags", flags_of}};

static void put_columns(struct json_out *j, const struct ledger *l, struct lines lines,
                        struct places *calls, struct places *modes, struct places *statuses)
{
    json_map(j, "runs");
    for (size_t k = 0; k < sizeof columns / sizeof *columns; k++) {
        json_list(j, columns[k].key);
        for (uint32_t i = 0; i < lines.n; i++)
            json_int(j, NULL, columns[k].of(&lines.at[i]));
        json_list_end(j);
    }
    json_list(j, "status");
    for (uint32_t i = 0; i < lines.n; i++)
        json_uint(j, NULL, place_of(statuses, lines.at[i].status));
    json_list_end(j);
    put_faults(j, l, lines, calls, modes);
    json_map_end(j);
}

enum status runs_print(const struct report_source *source, const struct document_place *place,
                       struct buf *out, struct err *e)
{
    const struct ledger *l = ledger_of(source, place->scenario);
    struct places calls = {0}, modes = {0}, statuses = {0};
    (void)e;
    if (!l)
        return STATUS_NONE;
    struct json_out j = begin(source, place, out);
    json_uint(&j, "total", l->n_runs);
    json_uint(&j, "page_size", DOCUMENT_PAGE);
    put_columns(&j, l, lines_from(l, place->from), &calls, &modes, &statuses);
    put_places(&j, "calls", &calls, l->names, uid_print);
    put_places(&j, "modes", &modes, l->names, print_mode);
    put_places(&j, "statuses", &statuses, l->names, print_outcome);
    json_list(&j, "sentences");
    for (uint32_t i = 0; i < l->sentences.text.n; i++)
        json_str(&j, NULL, intern_text(&l->sentences, i));
    json_list_end(&j);
    json_list(&j, "purposes");
    for (uint32_t i = 0; i < RUN_PURPOSES; i++)
        json_text(&j, NULL, run_purpose_names[i]);
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
    places_deinit(&calls);
    places_deinit(&modes);
    places_deinit(&statuses);
    return STATUS_OK;
}

/* ---- the calls of a page ---- */

struct calls_page {
    struct json_out j;
    struct places points, outcomes, modes;
    uint64_t last; /* number of its last run */
};

static int64_t place_or_none(struct places *p, uint32_t value, bool there)
{
    return there ? (int64_t)place_of(p, value) : -1;
}

static int put_run(void *ctx, const struct run *run, struct err *e)
{
    struct calls_page *page = ctx;
    struct json_out *j = &page->j;
    (void)e;
    if (run->number > page->last)
        return 1;
    json_map(j, NULL);
    json_uint(j, "number", run->number);
    json_list(j, "calls");
    for (uint32_t i = 0; i < run->trace.calls.n; i++) {
        const struct call *c = &run->trace.calls.at[i];
        json_uint(j, NULL, place_of(&page->points, c->uid));
        json_int(j, NULL, c->parent == CALL_NONE ? -1 : (int64_t)c->parent);
        json_uint(j, NULL, place_of(&page->outcomes, c->seen));
        json_int(j, NULL, place_or_none(&page->outcomes, c->reply, c->handled));
        json_int(j, NULL, place_or_none(&page->modes, c->mode, c->mode != MODE_NONE));
        json_int(j, NULL, c->start_ns / 1000);
        json_int(j, NULL, c->end_ns / 1000);
    }
    json_list_end(j);
    json_map_end(j);
    return run->number == page->last; /* nothing more is read */
}

enum status run_calls_print(const struct report_source *source, const struct document_place *place,
                            struct buf *out, struct err *e)
{
    const struct ledger *l = ledger_of(source, place->scenario);
    uint64_t first = (uint64_t)place->page * DOCUMENT_PAGE;
    if (!l || !source->runs_from || first >= l->runs.n)
        return STATUS_NONE;
    uint64_t last = first + DOCUMENT_PAGE < l->runs.n ? first + DOCUMENT_PAGE : l->runs.n;
    struct calls_page page = {.j = begin(source, place, out), .last = l->runs.at[last - 1].number};
    json_uint(&page.j, "page", place->page);
    json_list(&page.j, "runs");
    int failed = source->runs_from(source->ctx, place->scenario, l->runs.at[first].number, put_run,
                                   &page) < 0;
    json_list_end(&page.j);
    put_places(&page.j, "points", &page.points, l->names, uid_print);
    put_places(&page.j, "outcomes", &page.outcomes, l->names, print_outcome);
    put_places(&page.j, "modes", &page.modes, l->names, print_mode);
    json_map_end(&page.j);
    buf_addc(out, '\n');
    places_deinit(&page.points);
    places_deinit(&page.outcomes);
    places_deinit(&page.modes);
    return failed ? err_set(e, 0, 0, "the runs of this page cannot be read from the store")
                  : STATUS_OK;
}
