/* SPDX-License-Identifier: Apache-2.0 */
#include "data/condition.h"

#include <math.h>
#include <stdlib.h>

#include "data/json.h"

enum { MATCHED_BYTES = 64 << 10, NUMBER_BYTES = 60 };

/* ---- what can hold ---- */

static bool is_present(const struct condition *c, const struct node *v)
{
    (void)c;
    return v != NULL;
}

static bool is_absent(const struct condition *c, const struct node *v)
{
    (void)c;
    return v == NULL;
}

static bool is_of_type(const struct condition *c, const struct node *v);

static bool is_empty_value(const struct node *v)
{
    return v->type == NODE_STR ? v->text.n == 0
                               : (v->type == NODE_LIST || v->type == NODE_MAP) && v->n == 0;
}

static bool is_empty(const struct condition *c, const struct node *v)
{
    (void)c;
    return v && is_empty_value(v);
}

static bool is_full(const struct condition *c, const struct node *v)
{
    (void)c;
    return v && v->type != NODE_NULL && !is_empty_value(v);
}

static bool is_other(const struct condition *c, const struct node *v)
{
    return v && !node_eq(v, c->other);
}

static bool is_at_least(const struct condition *c, const struct node *v)
{
    return v && v->type == NODE_NUM && v->num >= c->low;
}

static bool is_at_most(const struct condition *c, const struct node *v)
{
    return v && v->type == NODE_NUM && v->num <= c->low;
}

static bool is_more(const struct condition *c, const struct node *v)
{
    return v && v->type == NODE_NUM && v->num > c->low;
}

static bool is_less(const struct condition *c, const struct node *v)
{
    return v && v->type == NODE_NUM && v->num < c->low;
}

static bool is_between(const struct condition *c, const struct node *v)
{
    return v && v->type == NODE_NUM && v->num >= c->low && v->num <= c->high;
}

/* A text as it is, other values as JSON writes them. */
static void add_text(const struct node *v, struct buf *out)
{
    slice text = {v->text.p, v->text.n < MATCHED_BYTES ? v->text.n : MATCHED_BYTES};
    if (v->type == NODE_STR)
        buf_add(out, text);
    else
        node_print(v, out);
}

static bool does_match(const struct condition *c, const struct node *v)
{
    if (!v || v->type == NODE_NULL || v->type == NODE_LIST || v->type == NODE_MAP)
        return false;
    struct buf text = BUF_INIT(MATCHED_BYTES + 1);
    add_text(v, &text);
    bool found = regex_found(c->regex, buf_slice(&text));
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

static bool does_contain(const struct condition *c, const struct node *v)
{
    if (v && v->type == NODE_STR)
        return v->text.n && memmem(v->text.p, v->text.n, c->argument.p, c->argument.n);
    return v && v->type == NODE_LIST && has_item(v, c->argument);
}

/* ---- the language ---- */

enum argument { NOTHING, NUMBER, RANGE, VALUE, TEXT, REGEX };

static const struct row {
    const char *words, *shown; /* as they are written, with the argument */
    enum argument argument;
    enum node_type type; /* is_of_type */
    bool (*holds)(const struct condition *c, const struct node *v);
    const char *refusal; /* the argument follows */
} rows[] = {
    {"present", "present", NOTHING, 0, is_present, "is missing"},
    {"absent", "absent", NOTHING, 0, is_absent, "is there"},
    {"null", "null", NOTHING, NODE_NULL, is_of_type, "is not null"},
    {"number", "number", NOTHING, NODE_NUM, is_of_type, "is not a number"},
    {"text", "text", NOTHING, NODE_STR, is_of_type, "is not a text"},
    {"boolean", "boolean", NOTHING, NODE_BOOL, is_of_type, "is neither true nor false"},
    {"list", "list", NOTHING, NODE_LIST, is_of_type, "is not a list"},
    {"object", "object", NOTHING, NODE_MAP, is_of_type, "is not an object"},
    {"empty", "empty", NOTHING, 0, is_empty, "is not empty"},
    {"not empty", "not empty", NOTHING, 0, is_full, "is empty, null or missing"},
    {"not", "not VALUE", VALUE, 0, is_other, "is missing, or is"},
    {"at least", "at least N", NUMBER, 0, is_at_least, "is not at least"},
    {"at most", "at most N", NUMBER, 0, is_at_most, "is not at most"},
    {"more than", "more than N", NUMBER, 0, is_more, "is not more than"},
    {"less than", "less than N", NUMBER, 0, is_less, "is not less than"},
    {"from", "from N to M", RANGE, 0, is_between, "is not a number from"},
    {"matches", "matches REGEX", REGEX, 0, does_match, "does not match"},
    {"contains", "contains TEXT", TEXT, 0, does_contain, "does not contain"},
};

enum { ROWS = sizeof rows / sizeof *rows };

static bool is_of_type(const struct condition *c, const struct node *v)
{
    return v && v->type == rows[c->kind].type;
}

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
    case NOTHING: return 0;
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
    case TEXT: return 0;
    case REGEX: return regex_parse(out->argument, a, &out->regex, e);
    }
    return 0;
}

void condition_words(struct buf *out)
{
    for (size_t i = 0; i < ROWS; i++)
        buf_addf(out, "%s%s", i == 0 ? "" : i + 1 == ROWS ? " or " : ", ", rows[i].shown);
}

static int unknown(slice text, struct err *e)
{
    const char *words[ROWS];
    struct buf all = BUF_INIT(400);
    for (size_t i = 0; i < ROWS; i++)
        words[i] = rows[i].words;
    condition_words(&all);
    int status = err_set(e, 0, 0, "\"%.*s\" is no condition: write %s%s", SHORT(text),
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

bool condition_holds(const struct condition *c, const struct node *value)
{
    return rows[c->kind].holds(c, value);
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
