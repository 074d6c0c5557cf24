/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenarios of a configuration and their expectations. A request names a service, so it is only
 * kept here and understood when all services are known (config_check.c). */
#include "base/pointer.h"
#include "campaign/config_int.h"

enum { BODY_MAX = 16 << 20, STATUSES_MAX = 100, GRPC_CODES = 16 };

/* ---- the request ---- */

int conf_request(struct conf_reader *r, const struct conf_key *key, void *into,
                 const struct node *value)
{
    (void)into;
    if (conf_want_scalar(r, key->name, value))
        return -1;
    r->requests.at[r->requests.n - 1] = value;
    return 0;
}

int conf_body(struct conf_reader *r, const struct conf_key *key, void *into,
              const struct node *value)
{
    struct scenario_spec *s = into;
    if (value->type != NODE_LIST && value->type != NODE_MAP) {
        s->body = value->text;
        return conf_want_scalar(r, key->name, value);
    }
    struct buf json = BUF_INIT(BODY_MAX);
    node_print(value, &json);
    if (!json.full)
        s->body = slice_copy(&r->c->arena, buf_slice(&json));
    s->content_type = SLICE("application/json");
    int status = json.full ? conf_fail(r, value, "\"%s\" has more than 16 MiB", key->name) : 0;
    buf_deinit(&json);
    return status;
}

/* ---- what is expected ---- */

/* 200, 2xx, grpc:0 */
static bool status_parse(slice text, struct expect_status *out)
{
    uint64_t code;
    *out = (struct expect_status){.grpc = slice_starts(text, SLICE("grpc:"))};
    slice digits = out->grpc ? slice_from(text, 5) : text;
    if (!out->grpc && text.n == 3 && text.p[0] >= '2' && text.p[0] <= '5' && text.p[1] == 'x' &&
        text.p[2] == 'x') {
        out->low = (uint32_t)(text.p[0] - '0') * 100;
        out->high = out->low + 99;
        return true;
    }
    if (!slice_to_u64(digits, out->grpc ? GRPC_CODES : 999, &code) || (!out->grpc && code < 200))
        return false;
    out->low = out->high = (uint32_t)code;
    return true;
}

static int status_add(struct conf_reader *r, const struct conf_key *key, struct expect_spec *expect,
                      const struct node *value)
{
    struct expect_status status;
    if (conf_want_scalar(r, key->name, value))
        return -1;
    if (!status_parse(value->text, &status))
        return conf_fail(
            r, value,
            "\"%s\" is a status such as 200, 2xx to 5xx, or grpc:0 to grpc:16, not \"%.*s\"",
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

int conf_json(struct conf_reader *r, const struct conf_key *key, void *into,
              const struct node *value)
{
    struct expect_spec *expect = into;
    if (conf_want(r, key->name, value, NODE_MAP))
        return -1;
    for (uint32_t i = 0; i < value->n; i++) {
        const struct node_pair *pair = &value->map[i];
        if (!pointer_valid(pair->key))
            return err_set(r->e, pair->line, pair->col,
                           "\"%.*s\" is no JSON pointer: it starts with \"/\", as in /items/0/id, "
                           "and ~ is written ~0",
                           SHORT(pair->key));
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

/* ---- a scenario ---- */

/* Which keys go with a request, which with a command. */
static const struct fit {
    const char *key;
    bool command;
} scenario_fits[] = {{"headers", false}, {"body", false}},
  expect_fits[] = {
      {"status", false}, {"json", false}, {"headers", false}, {"body", false}, {"exit", true},
};

static int fits_check(struct conf_reader *r, const struct node *map, bool command,
                      const struct fit *fits, size_t n)
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

static bool has_content_type(const struct scenario_spec *s)
{
    static const char name[] = "content-type";
    for (uint32_t i = 0; i < s->headers.n; i++) {
        slice given = s->headers.at[i].name;
        size_t k = 0;
        while (k < given.n && k < sizeof name - 1 && (given.p[k] | 32) == name[k])
            k++;
        if (k == sizeof name - 1 && given.n == k)
            return true;
    }
    return false;
}

static int scenario_check(struct conf_reader *r, struct scenario_spec *s, const struct node *map)
{
    bool request = node_get(map, SLICE("request")) != NULL;
    s->is_command = s->command.n > 0;
    if (request == s->is_command)
        return err_set(r->e, s->line, s->col,
                       request
                           ? "the scenario \"%.*s\" has \"request\" and \"command\": leave one out"
                           : "the scenario \"%.*s\" needs \"request\" or \"command\"",
                       SHORT(s->name));
    if (fits_check(r, map, s->is_command, scenario_fits, 2) ||
        fits_check(r, node_get(map, SLICE("expect")), s->is_command, expect_fits, 5) ||
        fits_check(r, node_get(map, SLICE("under-faults")), s->is_command, expect_fits, 5))
        return -1;
    s->expect.given = node_get(map, SLICE("expect")) != NULL;
    s->under_faults.given = node_get(map, SLICE("under-faults")) != NULL;
    if (has_content_type(s))
        s->content_type = SLICE("");
    s->timeout_given = s->timeout_ns != 0;
    if (!s->timeout_given)
        s->timeout_ns = (s->is_command ? 120 : 30) * INT64_C(1000000000);
    return 0;
}

static int scenario_read(struct conf_reader *r, const struct node_pair *pair)
{
    struct scenario_spec s = {.name = pair->key,
                              .service = UINT32_MAX,
                              .method = SLICE(""),
                              .target = SLICE(""),
                              .body = SLICE(""),
                              .content_type = SLICE(""),
                              .command = SLICE(""),
                              .dir = r->c->dir,
                              .before = SLICE(""),
                              .after = SLICE(""),
                              .expect = {.body = SLICE(""), .contains = SLICE("")},
                              .under_faults = {.body = SLICE(""), .contains = SLICE("")},
                              .line = pair->line,
                              .col = pair->col};
    int status = -1;
    vec_push(&r->requests, NULL);
    if (conf_name(r, pair, "the name of a scenario") == 0 &&
        conf_want(r, pair->key.p, pair->value, NODE_MAP) == 0 &&
        conf_map(r, IN_SCENARIO, &s, pair->value) == 0)
        status = scenario_check(r, &s, pair->value);
    vec_push(&r->c->scenarios, s); /* also a wrong one: its vectors are freed with the whole */
    return status;
}

int conf_scenarios(struct conf_reader *r, const struct conf_key *key, void *into,
                   const struct node *value)
{
    (void)into;
    if (conf_want(r, key->name, value, NODE_MAP))
        return -1;
    if (value->n == 0 || value->n > SCENARIOS_MAX)
        return conf_fail(r, value, "\"%s\" must have 1 to %d scenarios", key->name, SCENARIOS_MAX);
    for (uint32_t i = 0; i < value->n; i++)
        if (scenario_read(r, &value->map[i]))
            return -1;
    return 0;
}
