/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenarios of a configuration. A request names a service, so it is only kept here and understood
 * when all services are known (config_check.c). */
#include "config/config_int.h"

enum { BODY_MAX = 16 << 20 };

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

/* ---- a scenario ---- */

static const struct conf_fit fits[] = {{"headers", false}, {"body", false}};

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
    if (conf_fits(r, map, s->is_command, fits, sizeof fits / sizeof *fits) ||
        conf_expect_check(r, node_get(map, SLICE("expect")), s->is_command) ||
        conf_expect_check(r, node_get(map, SLICE("under-faults")), s->is_command))
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
