/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a rule, read word by word:
 *
 *   [SERVICE] INTERFACE    words_read, then target_read (rule_target.c) says which word is what
 *   {PAYLOAD} #COUNT ...   marks and conditions, in any order, up to a lone `:`
 *   MODE [WITH]...
 *
 * Quotes mean something only in conditions and after the mode, at the start of a word or right
 * after its `=`: in paths, and inside of JSON, they are what they are. */
#include "proxy/rule_int.h"

static const int64_t window_max_ns = INT64_C(1000) * 3600 * 1000000000;

/* The column of errors about something that is missing. */
#define END(p) ((uint32_t)(p)->text.n + 1)

/* `header:accept=text/plain`: name "header", argument "accept", value "text/plain". */
struct option {
    slice word;           /* from its start to its end, for messages */
    slice name, argument; /* around the first `:` before any `=` */
    slice value;          /* behind the `=`, without quotes */
    bool has_argument, has_value;
};

/* ---- words ---- */

/* The text in quotes at the start of *rest, which moves behind them. */
static int quoted_read(struct parser *p, slice *rest, slice *out)
{
    slice inside = slice_from(*rest, 1);
    inside.n = slice_find(inside, rest->p[0]);
    if (inside.n + 1 == rest->n)
        return err_set(p->e, 0, END(p), "the quote that opens before \"%.*s\" is not closed",
                       SHORT(inside));
    *rest = slice_from(*rest, inside.n + 2);
    if (rest->n && !memchr(" \t\r\n", rest->p[0], 4))
        return err_set(p->e, 0, column(p, *rest),
                       "behind the quote that closes comes a blank, not \"%.*s\"", SHORT(*rest));
    *out = inside;
    return 0;
}

static bool is_quote(slice s)
{
    return s.n && (s.p[0] == '\'' || s.p[0] == '"');
}

/* The next word, cut up; out->word is empty at the end. */
static int option_read(struct parser *p, struct option *out)
{
    slice rest = slice_trim(p->rest), word = {rest.p, 0};
    *out = (struct option){.word = {rest.p, 0}};
    if (is_quote(rest)) {
        if (quoted_read(p, &rest, &word))
            return -1;
    } else {
        slice_word(&rest, &word);
    }
    size_t equals = slice_find(word, '=');
    out->name = (slice){word.p, equals};
    out->has_value = equals < word.n;
    if (out->has_value) {
        out->value = slice_from(word, equals + 1);
        slice behind = {out->value.p, (size_t)(p->text.p + p->text.n - out->value.p)};
        if (is_quote(out->value) && word.p == out->word.p) {
            if (quoted_read(p, &behind, &out->value))
                return -1;
            rest = behind;
        }
    }
    out->word.n = (size_t)(rest.p - out->word.p);
    size_t colon = slice_find(out->name, ':');
    out->has_argument = colon < out->name.n && out->name.n > 1; /* a lone `:` is itself */
    if (out->has_argument) {
        out->argument = slice_from(out->name, colon + 1);
        out->name.n = colon;
    }
    p->rest = rest;
    return 0;
}

static int twice(struct parser *p, slice word)
{
    return err_set(p->e, 0, column(p, word), "\"%.*s\": there was one already", SHORT(word));
}

/* ---- conditions ---- */

static int header_read(struct parser *p, const struct option *o)
{
    struct rule *rule = p->rule;
    struct err inner = {0};
    if (field_name_check(o->argument, &inner))
        return err_set(p->e, 0, column(p, o->word), "%s", inner.text);
    if (rule->n_headers == RULE_HEADERS_MAX)
        return err_set(p->e, 0, column(p, o->word), "a rule looks at most at %d headers",
                       RULE_HEADERS_MAX);
    struct rule_header header = {.name = o->argument, .any = !o->has_value, .value = o->value};
    header.open = header.value.n && header.value.p[header.value.n - 1] == '*';
    header.value.n -= header.open;
    rule->headers = rule_grown(&p->book->arena, rule->headers, rule->n_headers, sizeof header);
    rule->headers[rule->n_headers++] = header;
    return 0;
}

/* A decimal fraction as parts of 10^9. */
static bool fraction_read(slice text, uint32_t *out)
{
    slice whole = {text.p, slice_find(text, '.')};
    slice digits = whole.n < text.n ? slice_from(text, whole.n + 1) : SLICE("0");
    uint64_t units = 0, parts = 0;
    if (digits.n > 9 || (whole.n && !slice_to_u64(whole, 1, &units)) ||
        !slice_to_u64(digits, UINT32_MAX, &parts))
        return false;
    for (size_t i = digits.n; i < 9; i++)
        parts *= 10;
    *out = (uint32_t)(units * 1000000000 + parts);
    return *out > 0 && *out <= 1000000000;
}

static int chance_read(struct parser *p, const struct option *o)
{
    if (p->has_chance)
        return twice(p, o->word);
    p->has_chance = true;
    if (!o->has_value && fraction_read(o->argument, &p->rule->chance))
        return 0;
    return err_set(p->e, 0, column(p, o->word),
                   "p: takes a probability above 0 and up to 1, such as p:0.25, not \"%.*s\"",
                   SHORT(o->argument));
}

static int window_read(struct parser *p, const struct option *o, bool *there, int64_t *out)
{
    if (*there)
        return twice(p, o->word);
    *there = true;
    if (!o->has_value && slice_to_ns(o->argument, out) && *out > 0 && *out <= window_max_ns)
        return 0;
    return err_set(p->e, 0, column(p, o->word),
                   "%.*s: takes a time such as 500ms, 10s or 5m, not \"%.*s\"", SLICE_ARG(o->name),
                   SHORT(o->argument));
}

static int after_read(struct parser *p, const struct option *o)
{
    return window_read(p, o, &p->has_after, &p->rule->after_ns);
}

static int for_read(struct parser *p, const struct option *o)
{
    return window_read(p, o, &p->has_for, &p->rule->for_ns);
}

/* ---- WITH ---- */

static int body_read(struct parser *p, const struct option *o)
{
    return rule_set_body(p->book, p->rule, o->value, p->e);
}

static int field_read(struct parser *p, const struct option *o)
{
    size_t colon = slice_find(o->value, ':');
    if (colon == o->value.n)
        return err_set(p->e, 0, column(p, o->word), "header= takes NAME:VALUE, not \"%.*s\"",
                       SHORT(o->value));
    return rule_add_field(p->book, p->rule, (slice){o->value.p, colon},
                          slice_from(o->value, colon + 1), p->e);
}

static int message_read(struct parser *p, const struct option *o)
{
    return rule_set_message(p->book, p->rule, o->value, p->e);
}

static int id_read(struct parser *p, const struct option *o)
{
    return rule_set_id(p->book, p->rule, o->value, p->e);
}

typedef int option_reader(struct parser *p, const struct option *o);

static const struct option_row {
    const char *name;
    option_reader *before; /* NAME:ARGUMENT, a condition; NULL: there is none of the name */
    option_reader *after;  /* NAME=VALUE, behind the mode */
} rows[] = {
    {"header", header_read, field_read},
    {"p", chance_read, NULL},
    {"after", after_read, NULL},
    {"for", for_read, NULL},
    {"body", NULL, body_read},
    {"message", NULL, message_read},
    {"id", NULL, id_read},
};

enum { ROWS = sizeof rows / sizeof *rows };

static const struct option_row *row_find(slice name)
{
    for (size_t i = 0; i < ROWS; i++)
        if (slice_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

static int condition_unknown(struct parser *p, const struct option *o)
{
    static const char *const names[] = {"header:", "p:", "after:", "for:"};
    const struct option_row *row = row_find(o->name);
    if (row && row->after)
        return err_set(p->e, 0, column(p, o->word), "%s= comes after the mode", row->name);
    return err_set(p->e, 0, column(p, o->word),
                   "\"%.*s\" is not understood: behind the interface come {payload}, #count, "
                   "header:NAME, p:0.25, after:10s or for:30s, then \" : MODE\" with blanks around "
                   "the \":\"%s",
                   SHORT(o->word), o->has_argument ? err_hint(o->name, names, 4).text : "");
}

static int with_unknown(struct parser *p, const struct option *o)
{
    static const char *const names[] = {"body=", "header=", "message=", "id="};
    const struct option_row *row = row_find(o->name);
    if (row && row->before && o->has_argument)
        return err_set(p->e, 0, column(p, o->word), "%s: comes before the \" : MODE\"", row->name);
    return err_set(
        p->e, 0, column(p, o->word),
        "\"%.*s\" is not understood: behind the mode come body=TEXT, "
        "header=NAME:VALUE, message=TEXT or id=NAME; text with blanks is put in quotes%s",
        SHORT(o->word), err_hint(o->name, names, 4).text);
}

/* ---- marks ---- */

static int payload_read(struct parser *p, const struct option *o)
{
    static const char digits[] = "0123456789abcdef";
    slice hex = {o->word.p + 1, o->word.n - 2};
    uint32_t value = 0;
    bool ok = o->word.n == 10 && o->word.p[9] == '}';
    for (size_t i = 0; ok && i < hex.n; i++) {
        const char *at = memchr(digits, hex.p[i], 16);
        ok = at;
        value = value << 4 | (at ? (uint32_t)(at - digits) : 0);
    }
    if (p->has_payload)
        return twice(p, o->word);
    if (!ok || !value)
        return err_set(p->e, 0, column(p, o->word),
                       "a payload is written {0a1b2c3d}: 8 hex digits, as the log shows them");
    p->has_payload = true;
    p->rule->payload = value;
    return 0;
}

/* N, N-M, N-, *, and * with /N behind it */
static bool count_parse(slice text, struct rule *rule)
{
    size_t dash = slice_find(text, '-');
    slice first = {text.p, dash}, last = dash < text.n ? slice_from(text, dash + 1) : first;
    if (slice_starts(text, SLICE("*/")))
        return slice_to_u64(slice_from(text, 2), UINT32_MAX, &rule->every) && rule->every > 0;
    if (slice_is(text, "*"))
        return true;
    return slice_to_u64(first, UINT32_MAX, &rule->first) &&
           (last.n == 0 || slice_to_u64(last, UINT32_MAX, &rule->last)) &&
           rule->first <= rule->last;
}

static int count_read(struct parser *p, const struct option *o)
{
    if (p->has_count)
        return twice(p, o->word);
    p->has_count = true;
    if (count_parse(slice_from(o->word, 1), p->rule))
        return 0;
    return err_set(p->e, 0, column(p, o->word),
                   "\"%.*s\" is no count: #2 is the third call, #0-2 the first three, #3- from the "
                   "fourth on, #*/3 every third, #* all",
                   SHORT(o->word));
}

/* ---- the whole ---- */

/* Is this word behind [SERVICE] INTERFACE? */
static bool ends_target(slice word)
{
    slice name = {word.p, slice_find(word, ':')};
    bool has_slash = slice_find(word, '/') < word.n;
    const struct option_row *row = row_find(name);
    return word.p[0] == '{' || word.p[0] == '#' ||
           (name.n < word.n && (!has_slash || (row && row->before)));
}

/* The words of the target: up to one with a slash, or to what cannot be one of them. */
static size_t words_read(struct parser *p, slice *word)
{
    size_t n = 0;
    slice rest = p->rest;
    while (n < WORDS_MAX && slice_word(&rest, &word[n]) && !ends_target(word[n])) {
        p->rest = rest;
        slice last = word[n++];
        if (slice_find(last, '/') < last.n)
            break;
    }
    return n;
}

static int conditions_read(struct parser *p)
{
    for (;;) {
        struct option o;
        if (option_read(p, &o))
            return -1;
        if (o.word.n == 0)
            return err_set(p->e, 0, END(p),
                           "the mode is missing: a rule ends with \" : MODE\", such as \" : 503\"");
        if (slice_is(o.word, ":"))
            return 0;
        const struct option_row *row = o.has_argument ? row_find(o.name) : NULL;
        int status;
        if (o.word.p[0] == '{')
            status = payload_read(p, &o);
        else if (o.word.p[0] == '#')
            status = count_read(p, &o);
        else
            status = row && row->before ? row->before(p, &o) : condition_unknown(p, &o);
        if (status)
            return -1;
    }
}

static int mode_read(struct parser *p)
{
    slice word;
    struct err inner = {0};
    if (!slice_word(&p->rest, &word))
        return err_set(p->e, 0, END(p), "the mode is missing after \":\"");
    if (mode_parse(word, &p->rule->mode, &inner))
        return err_set(p->e, 0, column(p, word), "%s", inner.text);
    return 0;
}

static int withs_read(struct parser *p)
{
    for (;;) {
        struct option o;
        if (option_read(p, &o))
            return -1;
        if (o.word.n == 0)
            return 0;
        const struct option_row *row = o.has_value && !o.has_argument ? row_find(o.name) : NULL;
        struct err inner = {0}, *e = p->e;
        p->e = &inner;
        int status = row && row->after ? row->after(p, &o) : with_unknown(p, &o);
        p->e = e;
        if (status)
            return err_set(e, 0, column(p, o.word), "%s", inner.text);
    }
}

int rule_parse(struct rulebook *book, slice text, struct rule *rule, struct err *e)
{
    struct parser p = {.book = book, .rule = rule, .text = text, .rest = text, .e = e};
    slice word[WORDS_MAX];
    size_t n = words_read(&p, word);
    return target_read(&p, word, n) || conditions_read(&p) || mode_read(&p) || withs_read(&p) ? -1
                                                                                              : 0;
}
