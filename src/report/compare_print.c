/* SPDX-License-Identifier: Apache-2.0
 *
 * A comparison as a section of the summary and of the Markdown report, which print the same rows, and
 * as JSON. */
#include "report/compare.h"
#include "report/escape.h"
#include "report/report.h"

enum {
    ROWS_SHOWN = 20,
    DETAILS_MAX = DIFFERENCES_MAX + 2,
    SECTION_MAX = 100 * 1000,
    ROW_MAX = 2000
};

static slice text_of(const struct node *map, const char *key)
{
    const struct node *value = node_get(map, slice_of(key));
    return value && value->type == NODE_STR ? value->text : (slice){0};
}

static int64_t number_of(const struct node *map, const char *key)
{
    const struct node *value = node_get(map, slice_of(key));
    bool fits = value && value->type == NODE_NUM && value->num >= 0 && value->num < 9e18;
    return fits ? (int64_t)value->num : 0;
}

/* As it is now, or was. */
static const struct node *latest(const struct changed *c)
{
    return c->after ? c->after : c->before;
}

/* ---- rows for people ---- */

/* One difference: its head, what it is about, and lines below that. */
struct row {
    const char *head;   /* "new finding" */
    enum change change; /* for its colour */
    struct buf title;
    struct buf details[DETAILS_MAX];
    uint32_t n;
};

static const char *const heads[SUBJECTS][CHANGES] = {
    [SUBJECT_FINDING] = {"new finding", "fixed finding", "", "finding not seen", "changed finding"},
    [SUBJECT_WARNING] = {"new warning", "fixed warning", "", "warning not seen", "changed warning"},
    [SUBJECT_CALL] = {"new call", "", "call gone", "call not seen", "changed call"},
    [SUBJECT_DEPENDENCY] = {"new dependency", "", "dependency gone", "dependency not seen",
                            "changed dependency"},
    [SUBJECT_PAIR] = {"new pair", "", "pair gone", "pair not seen", ""},
    [SUBJECT_LATENCY] = {"", "", "", "", "slower"},
};

static struct buf *add_detail(struct row *r)
{
    r->details[r->n] = BUF_INIT(ROW_MAX);
    return &r->details[r->n++];
}

/* "payment > shipping POST /shipments": the last call of a path, with who makes it. */
static void add_call(const struct node *call, struct buf *out)
{
    slice path = text_of(call, "call"), caller = text_of(call, "caller"), last = path;
    for (size_t i = 0; i + 3 <= path.n; i++)
        if (memcmp(path.p + i, " > ", 3) == 0)
            last = slice_from(path, i + 3);
    buf_addf(out, "%.*s%s%.*s", SLICE_ARG(caller), caller.n ? " > " : "", SLICE_ARG(last));
}

static void add_differences(struct row *r, const struct changed *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        const struct difference *d = &c->differences[i];
        slice none = SLICE("none"), before = d->before.n ? d->before : none;
        slice after = d->after.n ? d->after : none;
        if (strcmp(d->field, "faultload") == 0)
            continue; /* `when` is the same in words */
        struct buf *line = add_detail(r);
        for (const char *p = d->field; *p; p++)
            buf_addc(line, *p == '_' ? ' ' : *p);
        buf_addf(line, ": was %.*s, is %.*s", SLICE_ARG(before), SLICE_ARG(after));
    }
}

static void add_finding(struct row *r, const struct changed *c)
{
    const struct node *now = latest(c);
    slice oracle = text_of(now, "oracle"), replay = text_of(c->after, "replay");
    slice when = text_of(now, "when"), why = text_of(now, "why");
    buf_addf(&r->title, "%.*s%s%.*s", SLICE_ARG(oracle), oracle.n ? ": " : "", SLICE_ARG(why));
    if (c->change != CHANGE_CHANGED && when.n)
        buf_addf(add_detail(r), "when %.*s", SLICE_ARG(when));
    add_differences(r, c);
    if (replay.n)
        buf_addf(add_detail(r), "%.*s", SLICE_ARG(replay));
}

static void add_dependency(struct row *r, const struct changed *c)
{
    slice kind = text_of(latest(c), "kind");
    add_call(latest(c), &r->title);
    if (c->change != CHANGE_CHANGED && kind.n)
        buf_addf(&r->title, " (%.*s)", SLICE_ARG(kind));
    add_differences(r, c);
}

static void add_pair(struct row *r, const struct changed *c)
{
    const struct node *calls = node_get(latest(c), SLICE("calls"));
    for (uint32_t i = 0; calls && calls->type == NODE_LIST && i < calls->n && i < 2; i++)
        if (calls->list[i]->type == NODE_STR)
            buf_addf(&r->title, "%s%.*s", i ? " and " : "", SLICE_ARG(calls->list[i]->text));
    buf_adds(add_detail(r), "absorbed one at a time, but not together");
}

static void add_latency(struct row *r, const struct changed *c)
{
    int64_t before = number_of(c->before, "took_ns"), after = number_of(c->after, "took_ns");
    r->head = after > before ? "slower" : "faster";
    add_call(c->after, &r->title);
    buf_adds(&r->title, ": was ");
    buf_add_ns(&r->title, before);
    buf_adds(&r->title, ", is ");
    buf_add_ns(&r->title, after);
}

static void row_init(struct row *r, enum subject subject, const struct changed *c)
{
    *r = (struct row){
        .head = heads[subject][c->change], .change = c->change, .title = BUF_INIT(ROW_MAX)};
    switch (subject) {
    case SUBJECT_FINDING:
    case SUBJECT_WARNING: add_finding(r, c); break;
    case SUBJECT_CALL:
        add_call(latest(c), &r->title);
        add_differences(r, c);
        break;
    case SUBJECT_DEPENDENCY: add_dependency(r, c); break;
    case SUBJECT_PAIR: add_pair(r, c); break;
    case SUBJECT_LATENCY:
    case SUBJECTS: add_latency(r, c); break;
    }
}

static void row_deinit(struct row *r)
{
    buf_deinit(&r->title);
    for (uint32_t i = 0; i < r->n; i++)
        buf_deinit(&r->details[i]);
}

/* "checkout: was findings, is ok": what became of a scenario, in a line. */
static void add_verdict(const struct compared_scenario *s, struct buf *out)
{
    slice before = text_of(s->before, "verdict"), after = text_of(s->after, "verdict");
    uint32_t n = 0;
    for (int k = 0; k < SUBJECTS; k++)
        n += s->lists[k].n;
    if (!s->before)
        buf_addf(out, "new scenario, %.*s", SLICE_ARG(after));
    else if (!s->after)
        buf_addf(out, "not in this campaign, was %.*s", SLICE_ARG(before));
    else if (!slice_eq(before, after))
        buf_addf(out, "was %.*s, is %.*s", SLICE_ARG(before), SLICE_ARG(after));
    else
        buf_addf(out, "%.*s%s", SLICE_ARG(after), n ? ", as before" : ", no difference");
}

/* ---- the summary ---- */

static void text_row(const struct row *r, const struct style *st, struct buf *out)
{
    const char *const colours[CHANGES] = {[CHANGE_NEW] = st->bold,
                                          [CHANGE_FIXED] = st->green,
                                          [CHANGE_GONE] = st->bold,
                                          [CHANGE_UNSEEN] = st->yellow,
                                          [CHANGE_CHANGED] = st->yellow};
    buf_addf(out, "    %s%s%s  %s\n", colours[r->change], r->head, st->off, buf_text(&r->title));
    for (uint32_t i = 0; i < r->n; i++)
        buf_addf(out, "      %s\n", buf_text(&r->details[i]));
}

void compare_text(const struct comparison *c, const struct style *st, struct buf *out)
{
    slice version = text_of(c->before, "version");
    buf_addf(out, "%sCOMPARED WITH%s  %s%s%.*s%s\n", st->bold, st->off, c->file,
             version.n ? " (outfox " : "", SHORT(version), version.n ? ")" : "");
    for (uint32_t i = 0; i < c->notes.n; i++)
        buf_addf(out, "  - %s\n", c->notes.at[i]);
    for (uint32_t i = 0; i < c->scenarios.n; i++) {
        const struct compared_scenario *s = &c->scenarios.at[i];
        buf_addf(out, "  %s%.*s%s: ", st->bold, SLICE_ARG(s->name), st->off);
        add_verdict(s, out);
        buf_addc(out, '\n');
        for (int subject = 0; subject < SUBJECTS; subject++) {
            uint32_t n = s->lists[subject].n;
            for (uint32_t k = 0; k < n && k < ROWS_SHOWN; k++) {
                struct row r;
                row_init(&r, (enum subject)subject, &s->lists[subject].at[k]);
                text_row(&r, st, out);
                row_deinit(&r);
            }
            if (n > ROWS_SHOWN)
                buf_addf(out, "    ... and %u more of %s; --json lists all\n",
                         (unsigned)(n - ROWS_SHOWN), subject_fields[subject]);
        }
        for (uint32_t k = 0; k < s->notes.n; k++)
            buf_addf(out, "    - %s\n", s->notes.at[k]);
    }
}

/* ---- Markdown ---- */

#define put(out, ...) escape_addf(out, escape_markdown, __VA_ARGS__)

static void markdown_scenario(const struct compared_scenario *s, struct buf *out)
{
    struct buf verdict = BUF_INIT(ROW_MAX);
    add_verdict(s, &verdict);
    buf_adds(out, "**");
    escape_markdown(s->name, out);
    put(out, "**: %s\n\n", buf_text(&verdict));
    buf_deinit(&verdict);
    for (int subject = 0; subject < SUBJECTS; subject++) {
        uint32_t n = s->lists[subject].n;
        for (uint32_t k = 0; k < n && k < ROWS_SHOWN; k++) {
            struct row r;
            row_init(&r, (enum subject)subject, &s->lists[subject].at[k]);
            buf_addf(out, "- **%s** ", r.head);
            put(out, "%s\n", buf_text(&r.title));
            for (uint32_t i = 0; i < r.n; i++)
                put(out, "  - %s\n", buf_text(&r.details[i]));
            row_deinit(&r);
        }
        if (n > ROWS_SHOWN)
            buf_addf(out, "- ... and %u more of %s\n", (unsigned)(n - ROWS_SHOWN),
                     subject_fields[subject]);
    }
    for (uint32_t k = 0; k < s->notes.n; k++)
        put(out, "- %s\n", s->notes.at[k]);
    buf_addc(out, '\n');
}

void compare_markdown(const struct comparison *c, struct buf *out)
{
    struct buf all = BUF_INIT(SECTION_MAX);
    uint32_t left = 0;
    put(&all, "## Compared with %s\n\n", c->file);
    for (uint32_t i = 0; i < c->notes.n; i++)
        put(&all, "%s\n\n", c->notes.at[i]);
    for (uint32_t i = 0; i < c->scenarios.n; i++) { /* each as a whole, or not */
        struct buf one = BUF_INIT(SECTION_MAX);
        markdown_scenario(&c->scenarios.at[i], &one);
        bool fits = !one.full && all.n + one.n + ROW_MAX < all.max;
        left += !fits;
        buf_add(&all, fits ? buf_slice(&one) : (slice){0});
        buf_deinit(&one);
    }
    if (left)
        buf_addf(&all, "... and %u more %s.\n\n", (unsigned)left,
                 plural(left, "scenario", "scenarios"));
    buf_add(out, buf_slice(&all));
    buf_deinit(&all);
}

/* ---- JSON ---- */

/* null where there is none. */
static void put_text(struct json_out *j, const char *key, slice text)
{
    if (text.p)
        json_str(j, key, text);
    else
        json_nil(j, key);
}

static void put_fields(struct json_out *j, const struct node *from, const char *const *names)
{
    for (; *names; names++)
        json_node(j, *names, node_get(from, slice_of(*names)));
}

static void put_changed(struct json_out *j, enum subject subject, const struct changed *c)
{
    static const char *const finding[] = {"oracle", "why", "when", "faultload", NULL};
    static const char *const call[] = {"call", "caller", "service", NULL};
    static const char *const dependency[] = {"call", "caller", "service", "kind", NULL};
    static const char *const pair[] = {"calls", NULL};
    static const char *const *const fields[SUBJECTS] = {
        [SUBJECT_FINDING] = finding,       [SUBJECT_WARNING] = finding, [SUBJECT_CALL] = call,
        [SUBJECT_DEPENDENCY] = dependency, [SUBJECT_PAIR] = pair,       [SUBJECT_LATENCY] = call};
    json_map(j, NULL);
    json_text(j, "change", change_names[c->change]);
    put_fields(j, latest(c), fields[subject]);
    if (subject == SUBJECT_FINDING || subject == SUBJECT_WARNING) {
        put_text(j, "id_before", text_of(c->before, "id"));
        put_text(j, "id_after", text_of(c->after, "id"));
        put_text(j, "replay", text_of(c->after, "replay"));
    }
    if (subject == SUBJECT_LATENCY) {
        json_int(j, "before_ns", number_of(c->before, "took_ns"));
        json_int(j, "after_ns", number_of(c->after, "took_ns"));
    }
    json_list(j, "differences");
    for (uint32_t i = 0; i < c->n; i++) {
        json_map(j, NULL);
        json_text(j, "field", c->differences[i].field);
        put_text(j, "before", c->differences[i].before);
        put_text(j, "after", c->differences[i].after);
        json_map_end(j);
    }
    json_list_end(j);
    json_map_end(j);
}

static void put_notes(struct json_out *j, const char *const *at, uint32_t n)
{
    json_list(j, "notes");
    for (uint32_t i = 0; i < n; i++)
        json_text(j, NULL, at[i]);
    json_list_end(j);
}

static void put_side(struct json_out *j, const char *key, const char *file,
                     const struct node *document)
{
    json_map(j, key);
    json_text(j, "file", file);
    put_text(j, "version", text_of(document, "version"));
    put_text(j, "system", text_of(document, "system"));
    put_text(j, "verdict", text_of(document, "verdict"));
    json_map_end(j);
}

void compare_put(const struct comparison *c, struct json_out *j, const char *key)
{
    json_map(j, key);
    json_int(j, "schema_version", REPORT_SCHEMA_VERSION);
    json_bool(j, "same", compare_same(c));
    put_side(j, "before", c->file, c->before);
    put_side(j, "after", NULL, c->after);
    put_notes(j, c->notes.at, c->notes.n);
    json_list(j, "scenarios");
    for (uint32_t i = 0; i < c->scenarios.n; i++) {
        const struct compared_scenario *s = &c->scenarios.at[i];
        json_map(j, NULL);
        json_str(j, "scenario", s->name);
        json_text(j, "change",
                  !s->before  ? change_names[CHANGE_NEW]
                  : !s->after ? change_names[CHANGE_GONE]
                              : NULL);
        put_text(j, "verdict_before", text_of(s->before, "verdict"));
        put_text(j, "verdict_after", text_of(s->after, "verdict"));
        for (int subject = 0; subject < SUBJECTS; subject++) {
            json_list(j, subject_fields[subject]);
            for (uint32_t k = 0; k < s->lists[subject].n; k++)
                put_changed(j, (enum subject)subject, &s->lists[subject].at[k]);
            json_list_end(j);
        }
        put_notes(j, s->notes.at, s->notes.n);
        json_map_end(j);
    }
    json_list_end(j);
    json_map_end(j);
}
