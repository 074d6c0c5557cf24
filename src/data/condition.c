/* SPDX-License-Identifier: Apache-2.0 */
#include "data/condition.h"

#include <math.h>
#include <stdlib.h>

#include "data/json.h"

enum { MATCHED_BYTES = 64 << 10, NUMBER_BYTES = 60 };

/* ---- the language ---- */

enum argument { NOTHING, NUMBER, RANGE, VALUE, TEXT, REGEX };

static const char *const shown[] = {"", " N", " N to M", " VALUE", " TEXT", " REGEX"};

enum test {
    PRESENT,
    ABSENT,
    OF_TYPE,
    EMPTY,
    FULL,
    OTHER,
    AT_LEAST,
    AT_MOST,
    MORE,
    LESS,
    BETWEEN,
    MATCHES,
    CONTAINS,
};

static const struct row {
    const char *words;
    enum argument argument; /* behind them */
    enum test test;
    enum node_type type; /* OF_TYPE */
    const char *refusal; /* the argument follows */
} rows[] = {
    {"present", NOTHING, PRESENT, 0, "is missing"},
    {"absent", NOTHING, ABSENT, 0, "is there"},
    {"null", NOTHING, OF_TYPE, NODE_NULL, "is not null"},
    {"number", NOTHING, OF_TYPE, NODE_NUM, "is not a number"},
    {"text", NOTHING, OF_TYPE, NODE_STR, "is not a text"},
    {"boolean", NOTHING, OF_TYPE, NODE_BOOL, "is neither true nor false"},
    {"list", NOTHING, OF_TYPE, NODE_LIST, "is not a list"},
    {"object", NOTHING, OF_TYPE, NODE_MAP, "is not an object"},
    {"empty", NOTHING, EMPTY, 0, "is not empty"},
    {"not empty", NOTHING, FULL, 0, "is empty, null or missing"},
    {"not", VALUE, OTHER, 0, "is missing, or is"},
    {"at least", NUMBER, AT_LEAST, 0, "is not at least"},
    {"at most", NUMBER, AT_MOST, 0, "is not at most"},
    {"more than", NUMBER, MORE, 0, "is not more than"},
    {"less than", NUMBER, LESS, 0, "is not less than"},
    {"from", RANGE, BETWEEN, 0, "is not a number from"},
    {"matches", REGEX, MATCHES, 0, "does not match"},
    {"contains", TEXT, CONTAINS, 0, "does not contain"},
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ---- reading ---- */

static bool read_number(slice text, double *out)
{
    char copy[NUMBER_BYTES + 1], *end;
    text = slice_trim(text);
    if (text.n == 0 || text.n > NUMBER_BYTES || slice_find(text, 'x') < text.n)
        return false;
    memcpy(copy, text.p, text.n);
    copy[text.n] = 0;
    *out = strtod(copy, &end);
    return end == copy + text.n && isfinite(*out);
}

/* N to M */
static bool read_range(slice text, struct condition *out)
{
    const char *to = memmem(text.p, text.n, " to ", 4);
    return to && read_number((slice){text.p, (size_t)(to - text.p)}, &out->low) &&
           read_number(slice_from(text, (size_t)(to - text.p) + 4), &out->high) &&
           out->low <= out->high;
}

static int read_argument(enum argument argument, struct arena *a, struct condition *out,
                         struct err *e)
{
    switch (argument) {
    case NOTHING:
    case TEXT: return 0;
    case NUMBER:
        return read_number(out->argument, &out->low)
                   ? 0
                   : err_set(e, 0, 0, "\"%s\" is followed by a number, as in \"%s 10\"",
                             rows[out->kind].words, rows[out->kind].words);
    case RANGE:
        return read_range(out->argument, out)
                   ? 0
                   : err_set(e, 0, 0, "a range is written from N to M, as in \"from 1 to 10\"");
    case VALUE:
        if (node_parse_json(a, out->argument, &out->other)) /* paid is the text "paid" */
            out->other = node_str(a, out->argument);
        return 0;
    case REGEX: return regex_parse(out->argument, a, &out->regex, e);
    }
    return 0;
}

/* All that can be written: "present, absent, ..., or contains TEXT". */
static void condition_words(struct buf *out)
{
    for (size_t i = 0; i < ROWS; i++)
        buf_addf(out, "%s%s%s",
                 i == 0          ? ""
                 : i + 1 == ROWS ? " or "
                                 : ", ",
                 rows[i].words, shown[rows[i].argument]);
}

static int unknown(slice text, struct err *e)
{
    const char *words[ROWS];
    struct buf all = BUF_INIT(400);
    for (size_t i = 0; i < ROWS; i++)
        words[i] = rows[i].words;
    condition_words(&all);
    int status = err_set(e, 0, 0, "\"%.*s\" is not a condition; write %s%s", SHORT(text),
                         buf_text(&all), err_hint(text, words, ROWS).text);
    buf_deinit(&all);
    return status;
}

int condition_parse(slice text, struct arena *a, struct condition *out, struct err *e)
{
    text = slice_trim(text);
    for (uint32_t i = 0; i < ROWS; i++) {
        slice words = slice_of(rows[i].words);
        if (!slice_starts(text, words))
            continue;
        slice rest = slice_from(text, words.n);
        bool apart = rest.n && (rest.p[0] == ' ' || rest.p[0] == '\t');
        if (rows[i].argument == NOTHING ? rest.n > 0 : !apart)
            continue;
        *out = (struct condition){.kind = i, .argument = slice_trim(rest)};
        return read_argument(rows[i].argument, a, out, e);
    }
    return unknown(text, e);
}

/* ---- asking ---- */

/* A text as it is, other values as JSON writes them. */
static void add_text(const struct node *v, struct buf *out)
{
    slice text = {v->text.p, v->text.n < MATCHED_BYTES ? v->text.n : MATCHED_BYTES};
    if (v->type == NODE_STR)
        buf_add(out, text);
    else
        node_print(v, out);
}

static bool matches(const struct regex *regex, const struct node *v)
{
    if (!v || v->type == NODE_NULL || v->type == NODE_LIST || v->type == NODE_MAP)
        return false;
    struct buf text = BUF_INIT(MATCHED_BYTES + 1);
    add_text(v, &text);
    bool found = regex_found(regex, buf_slice(&text));
    buf_deinit(&text);
    return found;
}

static bool has_item(const struct node *list, slice wanted)
{
    bool found = false;
    for (uint32_t i = 0; i < list->n && !found; i++) {
        struct buf text = BUF_INIT(MATCHED_BYTES + 1);
        if (list->list[i]->type != NODE_LIST && list->list[i]->type != NODE_MAP)
            add_text(list->list[i], &text);
        found = slice_eq(buf_slice(&text), wanted);
        buf_deinit(&text);
    }
    return found;
}

bool condition_holds(const struct condition *c, const struct node *v)
{
    const struct row *row = &rows[c->kind];
    bool number = v && v->type == NODE_NUM;
    bool empty =
        v && (v->type == NODE_STR ? v->text.n == 0
                                  : (v->type == NODE_LIST || v->type == NODE_MAP) && !v->n);
    switch (row->test) {
    case PRESENT: return v;
    case ABSENT: return !v;
    case OF_TYPE: return v && v->type == row->type;
    case EMPTY: return empty;
    case FULL: return v && v->type != NODE_NULL && !empty;
    case OTHER: return v && !node_eq(v, c->other);
    case AT_LEAST: return number && v->num >= c->low;
    case AT_MOST: return number && v->num <= c->low;
    case MORE: return number && v->num > c->low;
    case LESS: return number && v->num < c->low;
    case BETWEEN: return number && v->num >= c->low && v->num <= c->high;
    case MATCHES: return matches(c->regex, v);
    case CONTAINS:
        if (v && v->type == NODE_STR)
            return v->text.n && memmem(v->text.p, v->text.n, c->argument.p, c->argument.n);
        return v && v->type == NODE_LIST && has_item(v, c->argument);
    }
    return false;
}

bool condition_is_numeric(const struct condition *c)
{
    const struct row *row = &rows[c->kind];
    return row->argument == NUMBER || row->argument == RANGE || row->type == NODE_NUM;
}

void condition_refusal(const struct condition *c, struct buf *out)
{
    buf_adds(out, rows[c->kind].refusal);
    if (!c->argument.n)
        return;
    buf_addc(out, ' ');
    buf_add(out, c->argument);
}
