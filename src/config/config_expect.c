/* SPDX-License-Identifier: Apache-2.0
 *
 * What a configuration expects of answers and commands. Values that must be equal stand under
 * `status`, `headers`, `json` and `body` as they are; what is not equality stands apart, in words,
 * under `where`, so that neither is ever taken for the other. */
#include "config/config_int.h"
#include "data/pointer.h"

enum { STATUSES_MAX = 100, GRPC_CODES = 16, CONDITIONS_MAX = 1000 };

/* ---- statuses ---- */

static bool code_parse(slice digits, bool grpc, uint32_t *out)
{
    uint64_t code;
    if (!slice_to_u64(digits, grpc ? GRPC_CODES : 999, &code) || (!grpc && code < 200))
        return false;
    *out = (uint32_t)code;
    return true;
}

/* 200, 2xx, 400-499, grpc:0, grpc:1-16 */
static bool status_parse(slice text, struct expect_status *out)
{
    *out = (struct expect_status){.grpc = slice_starts(text, SLICE("grpc:"))};
    if (!out->grpc && text.n == 3 && text.p[0] >= '2' && text.p[0] <= '5' && text.p[1] == 'x' &&
        text.p[2] == 'x') {
        out->low = (uint32_t)(text.p[0] - '0') * 100;
        out->high = out->low + 99;
        return true;
    }
    slice low, high = out->grpc ? slice_from(text, 5) : text;
    (void)slice_cut(&high, '-', &low);
    return code_parse(low, out->grpc, &out->low) &&
           code_parse(high.p ? high : low, out->grpc, &out->high) && out->low <= out->high;
}

static int status_add(struct conf_reader *r, const struct conf_key *key, struct expect_spec *expect,
                      const struct node *value)
{
    struct expect_status status;
    if (conf_want_scalar(r, key->name, value))
        return -1;
    if (!status_parse(value->text, &status))
        return conf_fail(r, value,
                         "\"%s\" is a status such as 200, 2xx to 5xx, 400-499, or grpc:0 to "
                         "grpc:16, not \"%.*s\"",
                         key->name, SHORT(value->text));
    vec_push(&expect->status, status);
    return 0;
}

int conf_status(struct conf_reader *r, const struct conf_key *key, void *into,
                const struct node *value)
{
    if (value->type != NODE_LIST)
        return status_add(r, key, into, value);
    if (value->n == 0 || value->n > STATUSES_MAX)
        return conf_fail(r, value, "\"%s\" must have 1 to %d entries", key->name, STATUSES_MAX);
    for (uint32_t i = 0; i < value->n; i++)
        if (status_add(r, key, into, value->list[i]))
            return -1;
    return 0;
}

int conf_exit(struct conf_reader *r, const struct conf_key *key, void *into,
              const struct node *value)
{
    struct expect_spec *expect = into;
    (void)r;
    (void)key;
    (void)value;
    expect->exit_given = true;
    return 0;
}

/* ---- values ---- */

static int pointer_check(struct conf_reader *r, const struct node_pair *pair)
{
    if (pointer_valid(pair->key))
        return 0;
    return err_set(r->e, pair->line, pair->col,
                   "\"%.*s\" is no JSON pointer: it starts with \"/\", as in /items/0/id, "
                   "and ~ is written ~0",
                   SHORT(pair->key));
}

int conf_json(struct conf_reader *r, const struct conf_key *key, void *into,
              const struct node *value)
{
    struct expect_spec *expect = into;
    if (conf_want(r, key->name, value, NODE_MAP))
        return -1;
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node_pair *pair = &value->map[i];
        if (pointer_check(r, pair))
            return -1;
        vec_push(&expect->json,
                 (struct expect_value){pair->key, pair->value, pair->line, pair->col});
    }
    return 0;
}

int conf_body_expected(struct conf_reader *r, const struct conf_key *key, void *into,
                       const struct node *value)
{
    struct expect_spec *expect = into;
    if (value->type == NODE_MAP || value->type == NODE_LIST)
        return conf_fail(r, value,
                         "\"%s\" is text; for values in JSON write json: { /pointer: value }",
                         key->name);
    expect->has_body = true;
    expect->body = value->text;
    return conf_want_scalar(r, key->name, value);
}

/* ---- conditions ---- */

static int condition_add(struct conf_reader *r, struct expect_spec *expect,
                         struct expect_where where, const struct node *value)
{
    struct err inner = {0};
    if (value->type == NODE_LIST || value->type == NODE_MAP)
        return conf_fail(r, value,
                         "a condition is text, such as at least 10; put text with [ or { in "
                         "quotes");
    if (condition_parse(value->text, &r->c->arena, &where.condition, &inner))
        return conf_fail(r, value, "%s%s", inner.text,
                         value->type == NODE_STR ? "" : "; values that are equal stand in `json`");
    vec_push(&expect->where, where);
    return 0;
}

/* What the key of a condition names: /pointer, header NAME, body, output. */
static int about_parse(struct conf_reader *r, const struct node_pair *pair,
                       struct expect_where *out)
{
    slice rest = pair->key, word = SLICE(""), name;
    (void)slice_word(&rest, &word);
    *out = (struct expect_where){.about = ABOUT_JSON, .name = pair->key};
    if (pair->key.n == 0 || pair->key.p[0] == '/')
        return pointer_check(r, pair);
    if (slice_is(pair->key, "body") || slice_is(pair->key, "output")) {
        out->about = ABOUT_BODY;
        return 0;
    }
    if (!slice_is(word, "header") || !slice_word(&rest, &name) || !conf_token_ok(name) ||
        slice_trim(rest).n)
        return err_set(r->e, pair->line, pair->col,
                       "\"where\" is about /pointer, header NAME, body, or of a command output, "
                       "not \"%.*s\"",
                       SHORT(pair->key));
    out->about = ABOUT_HEADER;
    out->name = slice_copy(&r->c->arena, name);
    return 0;
}

int conf_where(struct conf_reader *r, const struct conf_key *key, void *into,
               const struct node *value)
{
    struct expect_spec *expect = into;
    if (conf_want(r, key->name, value, NODE_MAP))
        return -1;
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node *wanted = value->map[i].value;
        struct expect_where where;
        bool several = wanted->type == NODE_LIST;
        if (about_parse(r, &value->map[i], &where))
            return -1;
        if (several && wanted->n == 0)
            return conf_fail(r, wanted, "there is no condition in it");
        for (uint32_t k = 0; k < (several ? wanted->n : 1); k++)
            if (condition_add(r, expect, where, several ? wanted->list[k] : wanted))
                return -1;
        if (expect->where.n > CONDITIONS_MAX)
            return conf_fail(r, value, "\"%s\" has more than %d conditions", key->name,
                             CONDITIONS_MAX);
    }
    return 0;
}

/* ---- alternatives ---- */

int conf_any_of(struct conf_reader *r, const struct conf_key *key, void *into,
                const struct node *value)
{
    struct expect_spec *expect = into;
    if (conf_want(r, key->name, value, NODE_LIST))
        return -1;
    if (value->n < 2 || value->n > ALTERNATIVES_MAX)
        return conf_fail(r, value, "\"%s\" has 2 to %d alternatives", key->name, ALTERNATIVES_MAX);
    for (uint32_t i = 0; i < value->n; i++) {
        struct expect_spec one = {.given = true, .body = SLICE(""), .contains = SLICE("")};
        int status = -1;
        if (value->list[i]->type != NODE_MAP || value->list[i]->n == 0)
            conf_fail(r, value->list[i],
                      "an alternative of \"%s\" is a map such as { status: 503 }", key->name);
        else if (node_get(value->list[i], SLICE("any-of")))
            conf_fail(r, value->list[i], "an alternative has no \"%s\" of its own", key->name);
        else
            status = conf_map(r, IN_EXPECT, &one, value->list[i]);
        vec_push(&expect->any_of, one); /* also a wrong one: it is freed with the whole */
        if (status)
            return -1;
    }
    return 0;
}

/* ---- what goes with what ---- */

int conf_fits(struct conf_reader *r, const struct node *map, bool command,
              const struct conf_fit *fits, size_t n)
{
    for (uint32_t i = 0; map && map->type == NODE_MAP && i < map->n; i++)
        for (size_t k = 0; k < n; k++)
            if (slice_is(map->map[i].key, fits[k].key) && fits[k].command != command)
                return err_set(r->e, map->map[i].line, map->map[i].col,
                               "\"%s\" is for a scenario with \"%s\", and this one has \"%s\"",
                               fits[k].key, command ? "request" : "command",
                               command ? "command" : "request");
    return 0;
}

/* Of a command only what it prints can be looked at, of a request everything else. */
static int where_check(struct conf_reader *r, const struct node *where, bool command)
{
    for (uint32_t i = 0; where && i < where->n; i++)
        if (slice_is(where->map[i].key, "output") != command)
            return err_set(r->e, where->map[i].line, where->map[i].col,
                           command ? "of a command \"where\" is about output, not \"%.*s\""
                                   : "\"%.*s\" is of a command: of a request write body",
                           SHORT(where->map[i].key));
    return 0;
}

/* A key beside `any-of` holds for all alternatives: another one in there could never hold too. */
static int twice_check(struct conf_reader *r, const struct node *map, const struct node *one)
{
    static const char *const single[] = {"status", "exit", "body"};
    for (size_t i = 0; i < sizeof single / sizeof *single; i++) {
        const struct node *inner = node_get(one, slice_of(single[i]));
        if (inner && node_get(map, slice_of(single[i])))
            return conf_fail(r, inner,
                             "\"%s\" stands beside \"any-of\" too, where it is for all "
                             "alternatives: leave one out",
                             single[i]);
    }
    return 0;
}

int conf_expect_check(struct conf_reader *r, const struct node *map, bool command)
{
    static const struct conf_fit fits[] = {
        {"status", false}, {"json", false}, {"headers", false}, {"body", false}, {"exit", true},
    };
    const struct node *any = map ? node_get(map, SLICE("any-of")) : NULL;
    if (!map)
        return 0;
    if (conf_fits(r, map, command, fits, sizeof fits / sizeof *fits) ||
        where_check(r, node_get(map, SLICE("where")), command))
        return -1;
    for (uint32_t i = 0; any && i < any->n; i++)
        if (twice_check(r, map, any->list[i]) || conf_expect_check(r, any->list[i], command))
            return -1;
    return 0;
}
