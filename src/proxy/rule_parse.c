/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of a rule, read word by word:
 *
 *   [SERVICE] INTERFACE    words_read, then target_read says which word is what
 *   {PAYLOAD} #COUNT ...   marks and conditions, in any order, up to a lone `:`
 *   MODE [WITH]...
 *
 * Quotes mean something only in conditions and after the mode, at the start of a word or right
 * after its `=`: in paths, and inside of JSON, they are what they are. */
#include "base/clock.h"
#include "data/keys.h"
#include "proxy/rule.h"

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
        return err_set(e, 0, 0, "\"%.*s\" cannot be the name of a header", SHORT(name));
    enum field_kind kind = field_kind(name);
    if (kind != FIELD_ORDINARY && kind != FIELD_HOST && kind != FIELD_EXPECT)
        return err_set(e, 0, 0,
                       "the header \"%.*s\" belongs to one connection, not to the message: rules "
                       "neither see it nor set it",
                       SHORT(name));
    return 0;
}

/* Refuses a WITH that the rule has already or that its mode cannot show. */
static int with_check(const struct rule *rule, const char *what, bool there, bool fits,
                      struct err *e)
{
    struct buf text = BUF_INIT(300);
    if (there)
        return err_set(e, 0, 0, "the rule has two of \"%s\"", what);
    if (fits)
        return 0;
    mode_print(rule->mode, &text);
    err_set(e, 0, 0, "\"%s\" goes with an answer such as 503: the mode \"%s\" has none", what,
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
            "an id has 1 to 100 letters, digits, \"_\", \".\" and \"-\", and is no number; "
            "\"%.*s\" is not one",
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
        return err_set(e, 0, 0, "a body has at most %d MiB", BODY_MAX >> 20);
    rule->dress.body = slice_copy(&book->arena, body);
    rule->dress.has_body = true;
    return 0;
}

int rule_set_message(struct rulebook *book, struct rule *rule, slice text, struct err *e)
{
    if (with_check(rule, "message", rule->dress.has_message, answers(rule), e))
        return -1;
    if (text.n > MESSAGE_MAX)
        return err_set(e, 0, 0, "a message has at most %d bytes", MESSAGE_MAX);
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
            return err_set(e, 0, 0, "the value of header \"%.*s\" has a control character",
                           SLICE_ARG(name));
    if (value.n > VALUE_MAX || dress->n_fields == RULE_FIELDS_MAX)
        return err_set(e, 0, 0, "a rule sets at most %d headers of at most %d bytes",
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
                       "a \"*\" stands at the end, for any rest: write \"%.*s*\"", SHORT(head));
    if (slice_find(stem, '?') < stem.n)
        return err_set(
            p->e, 0, column(p, path),
            "calls are told apart without their query: leave out what follows the \"?\"");
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
            "\"%.*s\" is no method (they are written in capitals): write \"METHOD /path\", "
            "with * for any method",
            SHORT(method));
    if (path.p[0] != '/' && !slice_is(path, "*"))
        return err_set(p->e, 0, column(p, path), "a path starts with \"/\"; \"%.*s\" does not",
                       SHORT(path));
    return any && path.p[0] == '*' ? interface_set(p, SLICE(""), path)
                                   : interface_set(p, method, path);
}

static int word_read(struct parser *p, slice word)
{
    if (word.p[0] == '/')
        return err_set(
            p->e, 0, column(p, word),
            "a path has a method before it: \"GET %.*s\", or \"* %.*s\" for any; calls of "
            "gRPC are written package.Service/Method",
            SHORT(word), SHORT(word));
    if (slice_find(word, ':') < word.n || slice_find(word, '=') < word.n ||
        (slice_find(word, '/') == word.n && word.p[word.n - 1] != '*'))
        return err_set(
            p->e, 0, column(p, word),
            "\"%.*s\" is no interface: write \"METHOD /path\", package.Service/Method, or "
            "\"*\" for any",
            SHORT(word));
    return interface_set(p, SLICE(""), word);
}

static int service_read(struct parser *p, slice word)
{
    if (!slice_is(word, "*") && !name_valid(word, true))
        return err_set(p->e, 0, column(p, word), "\"%.*s\" cannot be the name of a service",
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

static const int64_t window_max_ns = HOURS(1000);

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
