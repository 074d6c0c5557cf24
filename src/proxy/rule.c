/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a rule, read word by word:
 *
 *   [SERVICE] INTERFACE    rule_parse, then target_read says which word is what
 *   {PAYLOAD} #COUNT ...   marks and conditions, in any order, up to a lone `:`
 *   MODE [WITH]...
 *
 * Quotes mean something only in conditions and after the mode, at the start of a word or right
 * after its `=`: in paths, and inside of JSON, they are what they are.
 *
 * The rulebook, and finding the rule for a call. A rule is tested by its cheapest part first, the
 * interface, which nearly all rules do not share with a given call. */
#include "proxy/rule.h"

#include <stdatomic.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/index.h"
#include "data/keys.h"

enum { CHANCE_ALWAYS = 1000000000 };

enum { WORDS_MAX = 3 }; /* SERVICE METHOD /path */

struct parser {
    struct rulebook *book;
    struct rule *rule;
    slice text, rest; /* all of it; what is still to be read */
    bool has_payload, has_count, has_chance, has_after, has_for;
    struct err *e;
};

static uint32_t column(const struct parser *p, slice word)
{
    return (uint32_t)(word.p - p->text.p) + 1;
}

/* ---- what the injected answer looks like ---- */

enum { BODY_MAX = 1 << 20, MESSAGE_MAX = 4096, VALUE_MAX = 8192 };

/* A name that a header may have, and that is not of the connection but of the message. */
static int field_name_check(slice name, struct err *e)
{
    if (!slice_is_token(name))
        return err_set(e, 0, 0, "\"%.*s\" is not a valid header name", SHORT(name));
    enum field_kind kind = field_kind(name);
    if (kind != FIELD_ORDINARY && kind != FIELD_HOST && kind != FIELD_EXPECT)
        return err_set(
            e, 0, 0,
            "the header \"%.*s\" belongs to one connection, not to the message: rules can neither "
            "match nor set it",
            SHORT(name));
    return 0;
}

/* Refuses a WITH that the rule has already or that its mode cannot show. */
static int with_check(const struct rule *rule, const char *what, bool there, bool fits,
                      struct err *e)
{
    struct buf text = BUF_INIT(300);
    if (there)
        return err_set(e, 0, 0, "the rule has \"%s\" twice", what);
    if (fits)
        return 0;
    mode_print(rule->mode, &text);
    err_set(e, 0, 0,
            "\"%s\" does not fit the mode \"%s\": use one that answers with it, such as 503", what,
            buf_text(&text));
    buf_deinit(&text);
    return -1;
}

static bool answers(const struct rule *rule)
{
    return mode_kind(rule->mode) == MODE_STATUS || mode_kind(rule->mode) == MODE_GRPC;
}

int rule_set_id(struct rulebook *book, struct rule *rule, slice id, struct err *e)
{
    uint64_t number;
    if (with_check(rule, "id", rule->named, true, e))
        return -1;
    if (!name_valid(id, true) || slice_to_u64(id, UINT64_MAX, &number))
        return err_set(
            e, 0, 0,
            "invalid id \"%.*s\": use 1 to 100 letters, digits, \"_\", \".\" or \"-\", and not "
            "digits alone",
            SHORT(id));
    rule->id = slice_copy(&book->arena, id);
    rule->named = true;
    return 0;
}

int rule_set_body(struct rulebook *book, struct rule *rule, slice body, struct err *e)
{
    uint32_t status = mode_argument(rule->mode);
    bool fits = mode_kind(rule->mode) == MODE_STATUS && status != 204 && status != 304;
    if (with_check(rule, "body", rule->dress.has_body, fits, e))
        return -1;
    if (body.n > BODY_MAX)
        return err_set(e, 0, 0, "a body may have at most %d MiB", BODY_MAX >> 20);
    rule->dress.body = slice_copy(&book->arena, body);
    rule->dress.has_body = true;
    return 0;
}

int rule_set_message(struct rulebook *book, struct rule *rule, slice text, struct err *e)
{
    if (with_check(rule, "message", rule->dress.has_message, answers(rule), e))
        return -1;
    if (text.n > MESSAGE_MAX)
        return err_set(e, 0, 0, "a message may have at most %d bytes", MESSAGE_MAX);
    rule->dress.message = slice_copy(&book->arena, text);
    rule->dress.has_message = true;
    return 0;
}

int rule_add_field(struct rulebook *book, struct rule *rule, slice name, slice value, struct err *e)
{
    struct rule_dress *dress = &rule->dress;
    if (with_check(rule, "header", false, answers(rule), e) || field_name_check(name, e))
        return -1;
    value = slice_trim(value);
    for (size_t i = 0; i < value.n; i++)
        if (((unsigned char)value.p[i] < 0x20 && value.p[i] != '\t') || value.p[i] == 0x7f)
            return err_set(e, 0, 0, "the value of header \"%.*s\" contains a control character",
                           SLICE_ARG(name));
    if (value.n > VALUE_MAX || dress->n_fields == RULE_FIELDS_MAX)
        return err_set(e, 0, 0, "a rule may set at most %d headers of at most %d bytes",
                       RULE_FIELDS_MAX, VALUE_MAX);
    dress->fields =
        arena_grown(&book->arena, dress->fields, dress->n_fields, sizeof *dress->fields);
    dress->fields[dress->n_fields++] =
        (struct field){slice_copy(&book->arena, name), slice_copy(&book->arena, value)};
    return 0;
}

/* ---- [SERVICE] INTERFACE ---- */

/* The interface is a path, behind a method, or one word. A `*` at its end stands for any rest; what
 * stands before the last slash is then normalised, and the piece behind it is what it is. */
static int interface_set(struct parser *p, slice method, slice path)
{
    struct rule *rule = p->rule;
    struct buf text = BUF_INIT(1 << 16);
    uint64_t number;
    rule->open = path.p[path.n - 1] == '*';
    rule->any_method = slice_is(method, "*");
    rule->one_word = method.n == 0 && path.n > 1; /* a lone `*` is any */
    slice stem = {path.p, path.n - rule->open}, piece = SLICE("");
    slice head = {stem.p, slice_find(stem, '*')};
    if (head.n < stem.n)
        return err_set(p->e, 0, column(p, path),
                       "\"*\" is only allowed at the end: write \"%.*s*\"", SHORT(head));
    if (slice_find(stem, '?') < stem.n)
        return err_set(
            p->e, 0, column(p, path),
            "the query is not part of the name of a call: remove the \"?\" and what follows it");
    while (rule->open && stem.n && stem.p[stem.n - 1] != '/')
        piece = (slice){stem.p + --stem.n, piece.n + 1};
    if (piece.n && stem.n && slice_to_u64(piece, UINT64_MAX, &number))
        return err_set(p->e, 0, column(p, piece),
                       "segments of digits are named [id]: write \"%.*s[id]\" or \"%.*s*\"",
                       SHORT(stem), SHORT(stem));
    if (stem.n)
        interface_make(rule->any_method ? SLICE("X") : method, stem, p->book->normalise, &text);
    else if (method.n)
        buf_addf(&text, "%.*s ", SLICE_ARG(method));
    buf_add(&text, piece);
    slice whole = buf_slice(&text);
    rule->interface = slice_copy(&p->book->arena, slice_from(whole, rule->any_method ? 2 : 0));
    buf_deinit(&text);
    return 0;
}

static bool is_method(slice s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= 'A' && s.p[i] <= 'Z') && !(i && memchr("0123456789-_", s.p[i], 12)))
            return false;
    return s.n > 0;
}

static int path_read(struct parser *p, slice method, slice path)
{
    bool any = slice_is(method, "*");
    if (!any && !is_method(method))
        return err_set(
            p->e, 0, column(p, method),
            "\"%.*s\" is not a method (methods are in capitals): write \"METHOD /path\", with * "
            "for any method",
            SHORT(method));
    if (path.p[0] != '/' && !slice_is(path, "*"))
        return err_set(p->e, 0, column(p, path), "\"%.*s\" is not a path: it must start with \"/\"",
                       SHORT(path));
    return any && path.p[0] == '*' ? interface_set(p, SLICE(""), path)
                                   : interface_set(p, method, path);
}

static int word_read(struct parser *p, slice word)
{
    if (word.p[0] == '/')
        return err_set(
            p->e, 0, column(p, word),
            "a path needs a method in front of it: \"GET %.*s\", or \"* %.*s\" for any; gRPC "
            "calls are written package.Service/Method",
            SHORT(word), SHORT(word));
    if (slice_find(word, ':') < word.n || slice_find(word, '=') < word.n ||
        (slice_find(word, '/') == word.n && word.p[word.n - 1] != '*' && !slice_is(word, RULE_TCP)))
        return err_set(
            p->e, 0, column(p, word),
            "\"%.*s\" is not an interface: write \"METHOD /path\", package.Service/Method, "
            "\"" RULE_TCP "\" for a connection, or \"*\" for any",
            SHORT(word));
    return interface_set(p, SLICE(""), word);
}

static int service_read(struct parser *p, slice word)
{
    if (!slice_is(word, "*") && !name_valid(word, true))
        return err_set(p->e, 0, column(p, word), "\"%.*s\" is not a valid service name",
                       SHORT(word));
    p->rule->service = word;
    p->rule->bare = false;
    return 0;
}

/* Sets service and interface of the rule from the first n <= WORDS_MAX words of its text. */
static int target_read(struct parser *p, const slice *word, size_t n)
{
    p->rule->service = SLICE("*");
    p->rule->bare = true;
    bool star = n > 0 && slice_is(word[n - 1], "*");
    bool path = n > 0 && word[n - 1].p[0] == '/';
    if (n == 0)
        return err_set(p->e, 0, 1,
                       "a rule is written \"METHOD /path : MODE\", or \"package.Service/Method : "
                       "MODE\"; \"* : MODE\" is for any call");
    if (n == 1)
        return word_read(p, word[0]);
    if (n == 3)
        return service_read(p, word[0]) || path_read(p, word[1], word[2]) ? -1 : 0;
    if (path || (star && is_method(word[0])))
        return path_read(p, word[0], word[1]);
    return service_read(p, word[0]) || word_read(p, word[1]) ? -1 : 0;
}

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
        return err_set(p->e, 0, END(p), "the quote in front of \"%.*s\" is not closed",
                       SHORT(inside));
    *rest = slice_from(*rest, inside.n + 2);
    if (rest->n && !memchr(" \t\r\n", rest->p[0], 4))
        return err_set(p->e, 0, column(p, *rest),
                       "expected a space after the closing quote, not \"%.*s\"", SHORT(*rest));
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
    return err_set(p->e, 0, column(p, word), "\"%.*s\" is set twice", SHORT(word));
}

/* ---- conditions ---- */

static int header_read(struct parser *p, const struct option *o)
{
    struct rule *rule = p->rule;
    struct err inner = {0};
    if (field_name_check(o->argument, &inner))
        return err_set(p->e, 0, column(p, o->word), "%s", inner.text);
    if (rule->n_headers == RULE_HEADERS_MAX)
        return err_set(p->e, 0, column(p, o->word), "a rule may match at most %d headers",
                       RULE_HEADERS_MAX);
    struct rule_header header = {.name = o->argument, .any = !o->has_value, .value = o->value};
    header.open = header.value.n && header.value.p[header.value.n - 1] == '*';
    header.value.n -= header.open;
    rule->headers = arena_grown(&p->book->arena, rule->headers, rule->n_headers, sizeof header);
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

/* after:10s, for:30s */
static int window_read(struct parser *p, const struct option *o)
{
    bool after = slice_is(o->name, "after"), *there = after ? &p->has_after : &p->has_for;
    int64_t *out = after ? &p->rule->after_ns : &p->rule->for_ns;
    if (*there)
        return twice(p, o->word);
    *there = true;
    if (!o->has_value && slice_to_ns(o->argument, out) && *out > 0 && *out <= HOURS(1000))
        return 0;
    return err_set(p->e, 0, column(p, o->word),
                   "%.*s: takes a time such as 500ms, 10s or 5m, not \"%.*s\"", SLICE_ARG(o->name),
                   SHORT(o->argument));
}

static int field_set(struct rulebook *book, struct rule *rule, slice value, struct err *e)
{
    size_t colon = slice_find(value, ':');
    if (colon == value.n)
        return err_set(e, 0, 0, "header= takes NAME:VALUE, not \"%.*s\"", SHORT(value));
    return rule_add_field(book, rule, (slice){value.p, colon}, slice_from(value, colon + 1), e);
}

static const struct option_row {
    const char *name;
    /* NAME:ARGUMENT, a condition; NULL: there is none of the name */
    int (*before)(struct parser *p, const struct option *o);
    /* NAME=VALUE, behind the mode */
    int (*after)(struct rulebook *book, struct rule *rule, slice value, struct err *e);
} rows[] = {
    {"header", header_read, field_set}, {"p", chance_read, NULL},
    {"after", window_read, NULL},       {"for", window_read, NULL},
    {"body", NULL, rule_set_body},      {"message", NULL, rule_set_message},
    {"id", NULL, rule_set_id},
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
    return err_set(
        p->e, 0, column(p, o->word),
        "unexpected \"%.*s\": after the interface come {payload}, #count, "
        "header:NAME, p:0.25, after:10s or for:30s, then \" : MODE\" with spaces around the "
        "\":\"%s",
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
        "unexpected \"%.*s\": after the mode come body=TEXT, "
        "header=NAME:VALUE, message=TEXT or id=NAME; put text that contains spaces in quotes%s",
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

/* #N, #N-M, #N-, #*, and #* with /N behind it */
static int count_read(struct parser *p, const struct option *o)
{
    struct rule *rule = p->rule;
    slice text = slice_from(o->word, 1);
    size_t dash = slice_find(text, '-');
    slice first = {text.p, dash}, last = dash < text.n ? slice_from(text, dash + 1) : first;
    if (p->has_count)
        return twice(p, o->word);
    p->has_count = true;
    if (slice_is(text, "*"))
        return 0;
    bool every = slice_starts(text, SLICE("*/"));
    if (every ? slice_to_u64(slice_from(text, 2), UINT32_MAX, &rule->every) && rule->every > 0
              : slice_to_u64(first, UINT32_MAX, &rule->first) &&
                    (last.n == 0 || slice_to_u64(last, UINT32_MAX, &rule->last)) &&
                    rule->first <= rule->last)
        return 0;
    return err_set(
        p->e, 0, column(p, o->word),
        "\"%.*s\" is not a count: #2 is the third call, #0-2 the first three, #3- from the "
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

static int withs_read(struct parser *p)
{
    for (;;) {
        struct option o;
        if (option_read(p, &o))
            return -1;
        if (o.word.n == 0)
            return 0;
        const struct option_row *row = o.has_value && !o.has_argument ? row_find(o.name) : NULL;
        struct err inner = {0};
        if (!row || !row->after)
            return with_unknown(p, &o);
        if (row->after(p->book, p->rule, o.value, &inner))
            return err_set(p->e, 0, column(p, o.word), "%s", inner.text);
    }
}

/* Fills the zeroed *rule from its text, which lives as long as the rulebook. */
static int rule_parse(struct rulebook *book, slice text, struct rule *rule, struct err *e)
{
    struct parser p = {.book = book, .rule = rule, .text = text, .rest = text, .e = e};
    slice target[WORDS_MAX], rest = text, word;
    struct err inner = {0};
    size_t n = 0;
    /* the words of the target: up to one with a slash, or to what cannot be one of them */
    while (n < WORDS_MAX && slice_word(&rest, &target[n]) && !ends_target(target[n])) {
        p.rest = rest;
        word = target[n++];
        if (slice_find(word, '/') < word.n)
            break;
    }
    if (target_read(&p, target, n) || conditions_read(&p))
        return -1;
    if (!slice_word(&p.rest, &word))
        return err_set(e, 0, END(&p), "the mode is missing after \":\"");
    if (mode_parse(word, &rule->mode, &inner))
        return err_set(e, 0, column(&p, word), "%s", inner.text);
    return withs_read(&p);
}

/* ---- the tally ---- */

static void tally_release(struct rule_tally *tally)
{
    if (tally && atomic_fetch_sub_explicit(&tally->refs, 1, memory_order_acq_rel) == 1)
        mem_free(tally);
}

void rule_fired(const struct rule *rule)
{
    atomic_fetch_add_explicit(&rule->tally->fired, 1, memory_order_relaxed);
}

uint64_t rule_count_seen(const struct rule *rule)
{
    return atomic_load_explicit(&rule->tally->seen, memory_order_relaxed);
}

uint64_t rule_count_fired(const struct rule *rule)
{
    return atomic_load_explicit(&rule->tally->fired, memory_order_relaxed);
}

/* ---- the rulebook ---- */

void rulebook_deinit(struct rulebook *book)
{
    for (uint32_t i = 0; i < book->list.n; i++)
        tally_release(book->list.at[i]->tally);
    vec_deinit(&book->list);
    arena_deinit(&book->arena);
}

int rule_add(struct rulebook *book, slice text, struct rule **out, struct err *e)
{
    if (book->list.n == RULES_MAX)
        return err_set(e, 0, 0, "more than %d rules", RULES_MAX);
    struct rule *rule = arena_zero(&book->arena, sizeof *rule);
    rule->last = UINT64_MAX;
    rule->every = 1;
    rule->chance = CHANCE_ALWAYS;
    rule->for_ns = INT64_MAX;
    rule->text = slice_copy(&book->arena, slice_trim(text));
    if (rule_parse(book, rule->text, rule, e))
        return -1;
    rule->tally = mem_zero(sizeof *rule->tally);
    atomic_init(&rule->tally->refs, 1);
    rule->tally->since_ns = RULE_NOT_YET;
    vec_push(&book->list, rule);
    *out = rule;
    return 0;
}

static bool id_eq(const void *owner, uint32_t i, const void *key)
{
    const struct rulebook *book = owner;
    return slice_eq(book->list.at[i]->id, *(const slice *)key);
}

int rulebook_seal(struct rulebook *book, uint64_t seed, const struct rule **wrong, struct err *e)
{
    struct index index = {0};
    int status = 0;
    for (uint32_t i = 0; i < book->list.n && status == 0; i++) {
        struct rule *rule = book->list.at[i];
        char number[16];
        rule->number = i + 1;
        if (!rule->named) {
            snprintf(number, sizeof number, "%u", (unsigned)rule->number);
            rule->id = slice_copy(&book->arena, slice_of(number));
        }
        uint64_t hash = hash_slice(rule->id);
        rule->salt = hash_mix(seed, hash);
        if (index_get(&index, hash, id_eq, book, &rule->id) != INDEX_NONE) {
            *wrong = rule;
            status = err_set(e, 0, 0, "two rules have the id \"%.*s\": give them different ones",
                             SLICE_ARG(rule->id));
        }
        index_put(&index, hash, i);
    }
    index_deinit(&index);
    return status;
}

/* The rules of an old rulebook that nobody inherited yet. */
struct estate {
    const struct rulebook *old;
    struct index index;
    bool *taken;
};

static slice explicit_id(const struct rule *rule)
{
    return rule->named ? rule->id : SLICE("");
}

static uint64_t same_hash(const struct rule *rule)
{
    uint64_t hash = hash_mix(hash_slice(rule->service), hash_slice(rule->text));
    return hash_mix(hash, hash_slice(explicit_id(rule)));
}

static bool same_rule(const void *owner, uint32_t i, const void *key)
{
    const struct estate *estate = owner;
    const struct rule *old = estate->old->list.at[i], *rule = key;
    return !estate->taken[i] && slice_eq(old->text, rule->text) &&
           slice_eq(old->service, rule->service) && slice_eq(explicit_id(old), explicit_id(rule));
}

void rulebook_inherit(struct rulebook *book, const struct rulebook *old)
{
    struct estate estate = {.old = old, .taken = mem_zero(old->list.n + 1)};
    for (uint32_t i = 0; i < old->list.n; i++)
        index_put(&estate.index, same_hash(old->list.at[i]), i);
    for (uint32_t i = 0; i < book->list.n; i++) {
        struct rule *rule = book->list.at[i];
        uint32_t from = index_get(&estate.index, same_hash(rule), same_rule, &estate, rule);
        if (from == INDEX_NONE)
            continue;
        estate.taken[from] = true;
        tally_release(rule->tally);
        rule->tally = old->list.at[from]->tally;
        atomic_fetch_add_explicit(&rule->tally->refs, 1, memory_order_relaxed);
    }
    index_deinit(&estate.index);
    mem_free(estate.taken);
}

void rulebook_start(struct rulebook *book, int64_t now_ns)
{
    for (uint32_t i = 0; i < book->list.n; i++)
        if (book->list.at[i]->tally->since_ns == RULE_NOT_YET)
            book->list.at[i]->tally->since_ns = now_ns;
}

/* ---- the rules of a proxy ---- */

void rules_put(struct rules *rules, const struct rule *rule)
{
    vec_push(&rules->list, rule);
    rules->needs_payload |= rule->payload != 0;
}

void rules_deinit(struct rules *rules)
{
    vec_deinit(&rules->list);
}

static bool interface_matches(const struct rule *rule, const struct request_facts *facts)
{
    slice text = facts->interface;
    if (rule->any_method) {
        size_t blank = slice_find(text, ' ');
        if (blank == text.n)
            return false;
        text = slice_from(text, blank + 1);
    }
    if (!rule->open)
        return slice_eq(text, rule->interface);
    return slice_starts(text, rule->interface) &&
           (!rule->one_word || slice_find(text, ' ') == text.n) &&
           (!facts->health || slice_starts(rule->interface, SLICE("grpc.health.")));
}

static bool value_matches(const struct rule_header *want, slice value)
{
    return want->any ||
           (want->open ? slice_starts(value, want->value) : slice_eq(value, want->value));
}

/* One field of that name is enough. Host is not among the fields. */
static bool header_matches(const struct rule_header *want, const struct head *head)
{
    if (!head)
        return false;
    if (head->authority.n && slice_eq_nocase(want->name, SLICE("host")))
        return value_matches(want, head->authority);
    for (uint32_t i = 0; i < head->n_fields; i++)
        if (slice_eq_nocase(head->fields[i].name, want->name) &&
            value_matches(want, head->fields[i].value))
            return true;
    return false;
}

/* All but the payload. */
static bool rest_matches(const struct rule *rule, const struct request_facts *facts)
{
    if (!interface_matches(rule, facts))
        return false;
    if (rule->service.p[0] != '*' && !slice_eq(rule->service, facts->service))
        return false;
    for (uint32_t i = 0; i < rule->n_headers; i++)
        if (!header_matches(&rule->headers[i], facts->head))
            return false;
    if (rule->after_ns == 0 && rule->for_ns == INT64_MAX)
        return true;
    int64_t since = rule->tally->since_ns; /* the window is counted from when it came into force */
    int64_t age = since == RULE_NOT_YET || facts->now_ns < since ? 0 : facts->now_ns - since;
    return age >= rule->after_ns && age - rule->after_ns < rule->for_ns;
}

bool rules_want_payload(const struct rules *rules, const struct request_facts *facts)
{
    for (uint32_t i = 0; rules->needs_payload && i < rules->list.n; i++)
        if (rules->list.at[i]->payload && rest_matches(rules->list.at[i], facts))
            return true;
    return false;
}

const struct rule *rules_find(const struct rules *rules, const struct request_facts *facts)
{
    const struct rule *found = NULL;
    for (uint32_t i = 0; i < rules->list.n; i++) {
        const struct rule *rule = rules->list.at[i];
        if (!rest_matches(rule, facts) || (rule->payload && rule->payload != facts->payload))
            continue;
        uint64_t n = atomic_fetch_add_explicit(&rule->tally->seen, 1, memory_order_relaxed);
        bool due = n >= rule->first && n <= rule->last && n % rule->every == rule->every - 1;
        if (!found && due && (hash_mix(rule->salt, n) >> 32) * CHANCE_ALWAYS >> 32 < rule->chance)
            found = rule;
    }
    return found;
}
