/* SPDX-License-Identifier: Apache-2.0
 *
 * Compiles values and conditions.
 *
 *   condition  := or ;  or := and { "or" and } ;  and := not { "and" not }
 *   not        := "not" not | compared
 *   compared   := operand [ ("==" | "!=" | "<" | "<=" | ">" | ">=" | "in") operand ]
 *   operand    := "(" or ")" | "[" or { "," or } "]" | constant | reference
 *   constant   := number | 'text' | true | false | null */
#include "sim/sim_int.h"

#include <stdlib.h>

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
            status = err_set(e, node->line, node->col,
                             "a \"{\" is not closed (a plain { is written {{)");
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
            status = expr_fail(src, "\"]\" was expected, not", peek(src));
    }
    *out = expr_new(src->scope, EX_LIST, items.n);
    for (uint32_t i = 0; i < items.n; i++)
        (*out)->part[i] = items.at[i];
    vec_deinit(&items);
    return status;
}

static int parse_quoted(struct source *src, slice token, struct expr **out)
{
    if (token.n < 2 || token.p[token.n - 1] != token.p[0])
        return expr_fail(src, "a quote is not closed in", token);
    *out = expr_text(src->scope, (slice){token.p + 1, token.n - 2});
    return 0;
}

static int parse_number(struct source *src, slice token, struct expr **out)
{
    char digits[32], *end;
    if (token.n >= sizeof digits)
        return expr_fail(src, "a number was expected, not", token);
    memcpy(digits, token.p, token.n);
    digits[token.n] = 0;
    double num = strtod(digits, &end);
    if (*end)
        return expr_fail(src, "a number was expected, not", token);
    *out = expr_const(src->scope, node_num(&src->scope->sim->arena, num));
    return 0;
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
    if (token.p[0] == '\'' || token.p[0] == '"')
        return parse_quoted(src, token, out);
    if ((token.p[0] >= '0' && token.p[0] <= '9') || token.p[0] == '-')
        return parse_number(src, token, out);
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (slice_is(token, constants[i].word)) {
            *out = expr_const(src->scope, constants[i].value);
            return 0;
        }
    if (ends_word(token.p[0]))
        return expr_fail(src, "a value was expected, not", token);
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
    return take(src, ")") ? 0 : expr_fail(src, "\")\" was expected, not", peek(src));
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
        return err_set(e, node->line, node->col, "a condition was expected, not %s",
                       node_type_name(node->type));
    struct source src = {.scope = scope, .node = node, .rest = node->text, .err = e};
    if (parse_or(&src, out))
        return -1;
    if (peek(&src).n)
        return expr_fail(&src, "\"and\", \"or\" or the end of the condition was expected, not",
                         peek(&src));
    return 0;
}
