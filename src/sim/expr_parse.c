/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles values and conditions. References are resolved when a file is loaded, so that a name that
 * does not exist is an error of the file and not of a run.
 *
 *   condition  := or ;  or := and { "or" and } ;  and := not { "and" not }
 *   not        := "not" not | compared
 *   compared   := operand [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "in") operand ]
 *   operand    := "(" or ")" | "[" or { "," or } "]" | constant | reference
 *   constant   := number | 'text' | true | false | null */
#include <stdlib.h>

#include "sim/sim_int.h"

/* Text under compilation. */
struct source {
    const struct scope *scope;
    const struct node *node; /* whose text it is, for the position of errors */
    slice rest;
    struct err *err;
    int depth;
    int pairs; /* joined by operators so far */
};

static struct expr *expr_new(const struct scope *scope, enum expr_op op, uint32_t n)
{
    struct expr *ex = arena_zero(&scope->sim->arena, sizeof *ex);
    ex->op = op;
    ex->n = n;
    ex->part = n ? arena_zero(&scope->sim->arena, n * sizeof *ex->part) : NULL;
    return ex;
}

static struct expr *expr_const(const struct scope *scope, const struct node *value)
{
    struct expr *ex = expr_new(scope, EX_CONST, 0);
    ex->constant = value;
    return ex;
}

static struct expr *expr_text(const struct scope *scope, slice text)
{
    return expr_const(scope, node_str(&scope->sim->arena, text));
}

static struct expr *expr_ref(const struct scope *scope, struct ref ref)
{
    struct expr *ex = expr_new(scope, EX_REF, 0);
    ex->ref = ref;
    return ex;
}

/* Fails with "what "word"" at the source's place. */
static int expr_fail(const struct source *src, const char *what, slice word)
{
    return err_set(src->err, src->node->line, src->node->col, "%s \"%.*s\"", what, SHORT(word));
}

/* Says that `word` is unknown, and what of the handler's names it may have been meant to be. */
static int fail_name(const struct source *src, slice word)
{
    static const char *const in_handler[] = {"payload", "state", "data", "random", "time"};
    static const char *const in_scenario[] = {"status", "body", "faults", "data"};
    const struct endpoint *ep = src->scope->endpoint;
    const char *words[64];
    size_t n = 0;
    for (; n < (ep ? 5u : 4u); n++)
        words[n] = ep ? in_handler[n] : in_scenario[n];
    for (uint32_t i = 0; ep && i < ep->n_slots && n < 64; i++)
        words[n++] = arena_copy(&src->scope->sim->arena, ep->slot[i].name.p, ep->slot[i].name.n);
    return err_set(src->err, src->node->line, src->node->col, "unknown name \"%.*s\"%s",
                   SHORT(word), err_hint(word, words, n).text);
}

static int resolve_state(const struct source *src, uint32_t service, slice name, slice path,
                         struct expr **out)
{
    const struct sim_service *s = &src->scope->sim->service[service];
    uint32_t slot = state_find(s, name);
    if (slot == SLOT_NONE)
        return err_set(src->err, src->node->line, src->node->col,
                       "service \"%.*s\" has no state \"%.*s\": add it with an initial value "
                       "under \"state:\"",
                       SLICE_ARG(s->name), SHORT(name));
    *out =
        expr_ref(src->scope,
                 (struct ref){.kind = REF_STATE, .service = service, .slot = slot, .path = path});
    return 0;
}

static const char *const answer_fields[ANS_FIELDS] = {
    "status", "body", "ok", "failed", "error", "conn", "timeout", "json", "called"};

static int resolve_answer(const struct source *src, uint32_t slot, slice field, slice path,
                          struct expr **out)
{
    for (enum answer_field f = 0; f < ANS_FIELDS; f++)
        if (slice_is(field, answer_fields[f])) {
            *out =
                expr_ref(src->scope,
                         (struct ref){.kind = REF_ANSWER, .slot = slot, .field = f, .path = path});
            return 0;
        }
    return err_set(
        src->err, src->node->line, src->node->col,
        "an answer has no \"%.*s\"; it has status, body, ok, failed, error, conn, timeout, "
        "json and called%s",
        SHORT(field), err_hint(field, answer_fields, ANS_FIELDS).text);
}

static int resolve_slot(const struct source *src, slice head, slice tail, slice path,
                        struct expr **out)
{
    const struct endpoint *ep = src->scope->endpoint;
    for (uint32_t i = 0; i < ep->n_slots; i++) {
        if (!slice_eq(ep->slot[i].name, head))
            continue;
        if (ep->slot[i].answer && !tail.p)
            return err_set(
                src->err, src->node->line, src->node->col,
                "\"%.*s\" is an answer: say which part, for example %.*s.ok or %.*s.body",
                SLICE_ARG(head), SLICE_ARG(head), SLICE_ARG(head));
        if (ep->slot[i].answer)
            return resolve_answer(src, i, tail, path, out);
        if (tail.p)
            return err_set(src->err, src->node->line, src->node->col,
                           "\"%.*s\" is a value, not an answer: it has no \".%.*s\"",
                           SLICE_ARG(head), SHORT(tail));
        *out = expr_ref(src->scope, (struct ref){.kind = REF_VALUE, .slot = i, .path = path});
        return 0;
    }
    return fail_name(src, head);
}

/* Names that exist in a scenario's expectations only. */
static int resolve_scenario(const struct source *src, slice head, slice tail, slice path,
                            struct expr **out)
{
    if (slice_is(head, "faults")) {
        struct ref ref = {.kind = REF_FAULTS, .service = UINT32_MAX, .path = path};
        if (tail.p && (ref.service = sim_service_find(src->scope->sim, tail)) == UINT32_MAX)
            return expr_fail(src, "unknown service", tail);
        *out = expr_ref(src->scope, ref);
        return 0;
    }
    slice word, rest = tail;
    uint32_t service = sim_service_find(src->scope->sim, head);
    if (service == UINT32_MAX || !slice_cut(&rest, '.', &word) || !slice_is(word, "state") ||
        !rest.p)
        return fail_name(src, head);
    return resolve_state(src, service, rest, path, out);
}

/* References of one word. */
static const struct {
    const char *word;
    enum ref_kind kind;
    bool in_handler; /* or in a scenario */
} plain[] = {
    {"payload", REF_PAYLOAD, true}, {"random", REF_RANDOM, true}, {"time", REF_TIME, true},
    {"status", REF_STATUS, false},  {"body", REF_BODY, false},
};

/* head[.tail][/path] to what it refers to. */
static int expr_resolve(const struct source *src, slice text, struct expr **out)
{
    const struct scope *scope = src->scope;
    slice path = text, head, tail, url = SLICE("url:");
    if (slice_starts(text, url)) {
        slice name = slice_from(text, url.n);
        if (sim_service_find(scope->sim, name) == UINT32_MAX)
            return expr_fail(src, "unknown service", name);
        *out = expr_text(
            scope, slice_of(arena_printf(&scope->sim->arena, "http://%.*s", SLICE_ARG(name))));
        return 0;
    }
    if (!slice_cut(&path, '/', &tail) || !slice_cut(&tail, '.', &head) || head.n == 0)
        return expr_fail(src, "expected a name, not", text);
    if (slice_is(head, "data")) {
        const struct node *value = tail.p ? node_get(scope->sim->data, tail) : NULL;
        if (!value)
            return expr_fail(src, "no such value under \"data:\":", tail);
        *out = expr_const(scope, node_at(value, path));
        return 0;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
        if (plain[i].in_handler != (scope->endpoint != NULL) || !slice_is(head, plain[i].word))
            continue;
        if (tail.p)
            return expr_fail(src, "fields are reached with \"/\", not with \".\":", text);
        if (plain[i].kind == REF_RANDOM || plain[i].kind == REF_TIME)
            scope->sim->random = true;
        *out = expr_ref(scope, (struct ref){.kind = plain[i].kind, .path = path});
        return 0;
    }
    if (!scope->endpoint)
        return resolve_scenario(src, head, tail, path, out);
    if (slice_is(head, "state") && tail.p)
        return resolve_state(src, scope->service, tail, path, out);
    return resolve_slot(src, head, tail, path, out);
}

/* ---- values ---- */

/* Reads literal text up to the next reference; {{ is a {. */
static slice literal(struct source *src)
{
    struct buf text = BUF_INIT(1 << 20);
    while (src->rest.n) {
        char c = src->rest.p[0];
        bool doubled = src->rest.n > 1 && src->rest.p[1] == c;
        if (c == '{' && !doubled)
            break;
        buf_addc(&text, c);
        src->rest = slice_from(src->rest, (c == '{' || c == '}') && doubled ? 2 : 1);
    }
    return buf_keep(&text, &src->scope->sim->arena);
}

static int compile_text(const struct scope *scope, const struct node *node, struct expr **out,
                        struct err *e)
{
    struct source src = {.scope = scope, .node = node, .rest = node->text, .err = e};
    if (slice_find(node->text, '{') == node->text.n) {
        *out = expr_const(scope, node);
        return 0;
    }
    VEC(struct expr *) parts = {0};
    int status = 0;
    while (status == 0 && src.rest.n) {
        slice text = literal(&src);
        if (text.n)
            vec_push(&parts, expr_text(scope, text));
        if (!src.rest.n)
            break;
        size_t end = slice_find(src.rest, '}');
        struct expr *part = NULL;
        if (end == src.rest.n)
            status = err_set(e, node->line, node->col, "unclosed \"{\" (write {{ for a plain {)");
        else
            status = expr_resolve(&src, (slice){src.rest.p + 1, end - 1}, &part);
        if (status == 0) {
            vec_push(&parts, part);
            src.rest = slice_from(src.rest, end + 1);
        }
    }
    if (status == 0 && parts.n == 1) {
        *out = parts.at[0];
    } else if (status == 0) {
        *out = expr_new(scope, EX_TEXT, parts.n);
        for (uint32_t i = 0; i < parts.n; i++)
            (*out)->part[i] = parts.at[i];
    }
    vec_deinit(&parts);
    return status;
}

int expr_value(const struct scope *scope, const struct node *node, struct expr **out, struct err *e)
{
    if (node->type == NODE_STR)
        return compile_text(scope, node, out, e);
    if (node->type != NODE_LIST && node->type != NODE_MAP) {
        *out = expr_const(scope, node);
        return 0;
    }
    bool list = node->type == NODE_LIST, constant = true;
    struct expr *ex = expr_new(scope, list ? EX_LIST : EX_MAP, node->n);
    for (uint32_t i = 0; i < node->n; i++) {
        const struct node *item = list ? node->list[i] : node->map[i].value;
        if (expr_value(scope, item, &ex->part[i], e))
            return -1;
        constant &= ex->part[i]->op == EX_CONST && ex->part[i]->constant == item;
    }
    ex->constant = node;
    *out = constant ? expr_const(scope, node) : ex;
    return 0;
}

/* ---- conditions ---- */

static bool ends_word(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || memchr("()[],=!<>'\"", c, 11);
}

/* The next token without taking it; empty at the end. */
static slice peek(struct source *src)
{
    src->rest = slice_trim(src->rest);
    slice s = src->rest;
    if (s.n == 0)
        return s;
    if (s.p[0] == '\'' || s.p[0] == '"') {
        size_t end = slice_find(slice_from(s, 1), s.p[0]);
        return (slice){s.p, end + 2 <= s.n ? end + 2 : s.n};
    }
    if (s.n > 1 && s.p[1] == '=' && memchr("=!<>", s.p[0], 4))
        return (slice){s.p, 2};
    if (ends_word(s.p[0]))
        return (slice){s.p, 1};
    size_t n = 0;
    while (n < s.n && !ends_word(s.p[n]))
        n++;
    return (slice){s.p, n};
}

static bool take(struct source *src, const char *token)
{
    slice next = peek(src);
    if (!slice_is(next, token))
        return false;
    src->rest = slice_from(src->rest, next.n);
    return true;
}

static int parse_or(struct source *src, struct expr **out);

static int parse_items(struct source *src, struct expr **out)
{
    VEC(struct expr *) items = {0};
    int status = 0;
    bool more = !take(src, "]");
    while (status == 0 && more) {
        struct expr *item = NULL;
        status = parse_or(src, &item);
        vec_push(&items, item);
        more = take(src, ",");
        if (status == 0 && !more && !take(src, "]"))
            status = expr_fail(src, "expected \"]\", not", peek(src));
    }
    *out = expr_new(src->scope, EX_LIST, items.n);
    for (uint32_t i = 0; i < items.n; i++)
        (*out)->part[i] = items.at[i];
    vec_deinit(&items);
    return status;
}

/* A constant or a reference. */
static int parse_token(struct source *src, struct expr **out)
{
    static const struct {
        const char *word;
        const struct node *value;
    } constants[] = {{"true", &node_true}, {"false", &node_false}, {"null", &node_null}};
    slice token = peek(src);
    if (token.n == 0)
        return expr_fail(src, "the condition ends too early:", src->node->text);
    src->rest = slice_from(src->rest, token.n);
    if (token.p[0] == '\'' || token.p[0] == '"') {
        if (token.n < 2 || token.p[token.n - 1] != token.p[0])
            return expr_fail(src, "unclosed quote in", token);
        *out = expr_text(src->scope, (slice){token.p + 1, token.n - 2});
        return 0;
    }
    if ((token.p[0] >= '0' && token.p[0] <= '9') || token.p[0] == '-') {
        char digits[32] = {0}, *end = digits;
        if (token.n < sizeof digits)
            memcpy(digits, token.p, token.n);
        double number = strtod(digits, &end);
        if (!digits[0] || *end)
            return expr_fail(src, "expected a number, not", token);
        *out = expr_const(src->scope, node_num(&src->scope->sim->arena, number));
        return 0;
    }
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (slice_is(token, constants[i].word)) {
            *out = expr_const(src->scope, constants[i].value);
            return 0;
        }
    if (ends_word(token.p[0]))
        return expr_fail(src, "expected a value, not", token);
    return expr_resolve(src, token, out);
}

static int parse_operand(struct source *src, struct expr **out)
{
    if (take(src, "["))
        return parse_items(src, out);
    if (!take(src, "("))
        return parse_token(src, out);
    if (parse_or(src, out))
        return -1;
    return take(src, ")") ? 0 : expr_fail(src, "expected \")\", not", peek(src));
}

static struct expr *expr_pair(const struct scope *scope, enum expr_op op, struct expr *a,
                              struct expr *b)
{
    struct expr *ex = expr_new(scope, op, 2);
    ex->part[0] = a;
    ex->part[1] = b;
    return ex;
}

static int parse_compared(struct source *src, struct expr **out)
{
    static const struct {
        const char *token;
        enum expr_op op;
    } operators[] = {{"==", EX_EQ}, {"!=", EX_NE}, {"<=", EX_LE}, {">=", EX_GE},
                     {"<", EX_LT},  {">", EX_GT},  {"in", EX_IN}};
    struct expr *right;
    if (parse_operand(src, out))
        return -1;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (take(src, operators[i].token)) {
            if (parse_operand(src, &right))
                return -1;
            *out = expr_pair(src->scope, operators[i].op, *out, right);
            return 0;
        }
    return 0;
}

static int parse_not(struct source *src, struct expr **out)
{
    bool negate = false;
    while (take(src, "not"))
        negate = !negate;
    if (parse_compared(src, out))
        return -1;
    if (negate) {
        struct expr *ex = expr_new(src->scope, EX_NOT, 1);
        ex->part[0] = *out;
        *out = ex;
    }
    return 0;
}

/* Evaluation recurses over what is joined. */
static bool too_long(struct source *src)
{
    return ++src->pairs > EXPR_PAIRS_MAX && expr_fail(src, "too many parts in", src->node->text);
}

static int parse_and(struct source *src, struct expr **out)
{
    struct expr *right;
    if (parse_not(src, out))
        return -1;
    while (take(src, "and")) {
        if (too_long(src) || parse_not(src, &right))
            return -1;
        *out = expr_pair(src->scope, EX_AND, *out, right);
    }
    return 0;
}

static int parse_or(struct source *src, struct expr **out)
{
    struct expr *right;
    if (++src->depth > EXPR_DEPTH_MAX)
        return expr_fail(src, "nested too deeply:", src->node->text);
    if (parse_and(src, out))
        return -1;
    while (take(src, "or")) {
        if (too_long(src) || parse_and(src, &right))
            return -1;
        *out = expr_pair(src->scope, EX_OR, *out, right);
    }
    src->depth--;
    return 0;
}

int expr_condition(const struct scope *scope, const struct node *node, struct expr **out,
                   struct err *e)
{
    if (node->type == NODE_LIST || node->type == NODE_MAP)
        return err_set(e, node->line, node->col, "expected a condition, not %s",
                       node_type_name(node->type));
    struct source src = {.scope = scope, .node = node, .rest = node->text, .err = e};
    if (parse_or(&src, out))
        return -1;
    if (peek(&src).n)
        return expr_fail(&src, "expected \"and\", \"or\" or the end of the condition, not",
                         peek(&src));
    return 0;
}
