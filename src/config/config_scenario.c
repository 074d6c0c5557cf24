/* SPDX-License-Identifier: Apache-2.0
 *
 * Scenarios of a configuration, and what they expect of answers and commands.
 *
 * A request names a service, so it is only kept here and understood when all services are known
 * (config.c). Values that must be equal stand under `status`, `headers`, `json` and `body` as
 * they are; what is not equality stands apart, in words, under `where`, so that neither is ever taken
 * for the other. */
#include "base/clock.h"
#include "config/config_int.h"
#include "data/node.h"

enum { BODY_MAX = 16 << 20, STATUSES_MAX = 100, GRPC_CODES = 16, CONDITIONS_MAX = 1000 };

/* ---- headers ---- */

static int check_field(struct keys_reader *r, const struct key *key, void *into,
                       const struct node_pair *pair)
{
    static const char *const ours[] = {
        "content-length", "transfer-encoding", "connection", "te", "upgrade", "host"};
    (void)key;
    (void)into;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (slice_eq_nocase(pair->key, slice_of(ours[i])))
            return err_set(r->e, pair->line, pair->col,
                           "header \"%s\" is set for each connection: remove it", ours[i]);
    if (!slice_is_token(pair->key))
        return err_set(r->e, pair->line, pair->col, "\"%.*s\" is not a valid header name",
                       SHORT(pair->key));
    for (size_t i = 0; i < pair->value->text.n; i++) {
        unsigned char c = (unsigned char)pair->value->text.p[i];
        if (c < 0x20 || c == 0x7f)
            return keys_fail(r, pair->value, "the value of a header must be one line");
    }
    return 0;
}

/* ---- what is expected ---- */

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

static int add_status(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct expect_spec *expect = into;
    struct expect_status status;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    if (!status_parse(value->text, &status))
        return keys_fail(r, value,
                         "\"%s\" must be a status such as 200, 2xx to 5xx, 400-499, or "
                         "grpc:0 to grpc:16, not \"%.*s\"",
                         key->name, SHORT(value->text));
    vec_push(&expect->status, status);
    return 0;
}

static int pointer_check(struct keys_reader *r, const struct node_pair *pair)
{
    if (pointer_valid(pair->key))
        return 0;
    return err_set(r->e, pair->line, pair->col,
                   "\"%.*s\" is not a JSON pointer: start it with \"/\", as in "
                   "/items/0/id, and write ~ as ~0",
                   SHORT(pair->key));
}

static int add_value(struct keys_reader *r, const struct key *key, void *into,
                     const struct node_pair *pair)
{
    struct expect_spec *expect = into;
    (void)key;
    if (pointer_check(r, pair))
        return -1;
    vec_push(&expect->json, (struct expect_value){pair->key, pair->value, pair->line, pair->col});
    return 0;
}

static int read_body_expected(struct keys_reader *r, const struct key *key, void *into,
                              const struct node *value)
{
    struct expect_spec *expect = into;
    if (value->type == NODE_MAP || value->type == NODE_LIST)
        return keys_fail(r, value,
                         "\"%s\" must be text; for values in JSON write json: { /pointer: value }",
                         key->name);
    expect->body = value->text;
    return keys_want_scalar(r, key->name, value);
}

static int condition_add(struct keys_reader *r, struct expect_spec *expect,
                         struct expect_where where, const struct node *value)
{
    struct err inner = {0};
    if (value->type == NODE_LIST || value->type == NODE_MAP)
        return keys_fail(r, value,
                         "a condition must be text, such as at least 10; quote text that "
                         "contains [ or {");
    if (condition_parse(value->text, r->arena, &where.condition, &inner))
        return keys_fail(r, value, "%s%s", inner.text,
                         value->type == NODE_STR ? "" : "; for equality use `json`");
    vec_push(&expect->where, where);
    return 0;
}

/* What the key of a condition names: /pointer, header NAME, body, output. */
static int about_parse(struct keys_reader *r, const struct node_pair *pair,
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
    if (!slice_is(word, "header") || !slice_word(&rest, &name) || !slice_is_token(name) ||
        slice_trim(rest).n)
        return err_set(r->e, pair->line, pair->col,
                       "\"where\" takes /pointer, header NAME, body or, for a command, "
                       "output; not \"%.*s\"",
                       SHORT(pair->key));
    out->about = ABOUT_HEADER;
    out->name = slice_copy(r->arena, name);
    return 0;
}

static int add_where(struct keys_reader *r, const struct key *key, void *into,
                     const struct node_pair *pair)
{
    struct expect_spec *expect = into;
    const struct node *wanted = pair->value;
    struct expect_where where;
    bool several = wanted->type == NODE_LIST;
    if (about_parse(r, pair, &where))
        return -1;
    if (several && wanted->n == 0)
        return keys_fail(r, wanted, "the list of conditions is empty");
    for (uint32_t k = 0; k < (several ? wanted->n : 1); k++)
        if (condition_add(r, expect, where, several ? wanted->list[k] : wanted))
            return -1;
    if (expect->where.n > CONDITIONS_MAX)
        return keys_fail(r, wanted, "\"%s\" has more than %d conditions", key->name,
                         CONDITIONS_MAX);
    return 0;
}

static const struct keys expect_keys;

static int add_alternative(struct keys_reader *r, const struct key *key, void *into,
                           const struct node *value)
{
    struct expect_spec *expect = into;
    struct expect_spec one = {.given = true, .body = SLICE(""), .contains = SLICE("")};
    int status = -1;
    if (value->type != NODE_MAP || value->n == 0)
        keys_fail(r, value, "an alternative of \"%s\" must be a map such as { status: 503 }",
                  key->name);
    else if (node_get(value, SLICE("any-of")))
        keys_fail(r, value, "an alternative cannot have its own \"%s\"", key->name);
    else
        status = keys_read(r, &expect_keys, &one, value);
    vec_push(&expect->any_of, one); /* also a wrong one: it is freed with the whole */
    return status;
}

/* clang-format off */
#define SCALAR "\"type\": [\"string\", \"integer\"]"

static const struct key expect_rows[] = {
    {"status", KEY_LIST, .least = 1, .most = STATUSES_MAX, .alone = true, .read = add_status, .schema = SCALAR,
     .fallback = "2xx, grpc:0", .doc = "status of the answer, or a list of them: 200, 2xx, 400-499, grpc:0"},
    {"json", KEY_EACH, .pair = add_value, .schema = "",
     .doc = "values in the answer, by JSON pointer"},
    {"headers", KEY_PAIRS, offsetof(struct expect_spec, headers), .pair = check_field,
     .doc = "headers of the answer and their values"},
    {"body", KEY_OTHER, .read = read_body_expected, .given = offsetof(struct expect_spec, has_body),
     .schema = "\"$ref\": \"#/$defs/text\"",
     .doc = "the whole body of the answer"},
    {"contains", KEY_TEXT, offsetof(struct expect_spec, contains),
     .doc = "text that the answer, or the output of the command, contains"},
    {"within", KEY_DURATION, offsetof(struct expect_spec, within_ns), .least = 1,
     .fallback = "the timeout", .doc = "time within which the answer arrives, or the command ends"},
    {"where", KEY_EACH, .pair = add_where,
     .schema = "\"type\": [\"string\", \"null\", \"array\"], \"items\": {\"type\": [\"string\", \"null\"]}",
     .doc = "conditions on values: /pointer, header NAME, body or output: present, at least 10, matches REGEX ..."},
    {"exit", KEY_U32, offsetof(struct expect_spec, exit), .least = 0, .most = 255, .given = offsetof(struct expect_spec, exit_given),
     .fallback = "0", .doc = "exit code of the command"},
    {"any-of", KEY_LIST, .least = 2, .most = ALTERNATIVES_MAX, .read = add_alternative, .inner = &expect_keys,
     .doc = "alternatives: maps with these keys, of which one must hold"},
};
static const struct keys expect_keys = {"expect", "expect", KEY_ROWS(expect_rows)};
/* clang-format on */

/* ---- what goes with what ---- */

/* Which keys go with a request, which with a command. */
struct conf_fit {
    const char *key;
    bool command;
};

static int conf_fits(struct keys_reader *r, const struct node *map, bool command,
                     const struct conf_fit *fits, size_t n)
{
    for (uint32_t i = 0; map && map->type == NODE_MAP && i < map->n; i++)
        for (size_t k = 0; k < n; k++)
            if (slice_is(map->map[i].key, fits[k].key) && fits[k].command != command)
                return err_set(r->e, map->map[i].line, map->map[i].col,
                               "\"%s\" applies to a scenario with \"%s\", but this one has \"%s\"",
                               fits[k].key, command ? "request" : "command",
                               command ? "command" : "request");
    return 0;
}

/* Does what is expected go with a command, or with a request? `map`: as it is in the file, or NULL. */
static int conf_expect_check(struct keys_reader *r, const struct node *map, bool command)
{
    static const struct conf_fit fits[] = {
        {"status", false}, {"json", false}, {"headers", false}, {"body", false}, {"exit", true},
    };
    static const char *const single[] = {"status", "exit", "body"};
    if (!map)
        return 0;
    const struct node *any = node_get(map, SLICE("any-of")), *where = node_get(map, SLICE("where"));
    if (conf_fits(r, map, command, fits, sizeof fits / sizeof *fits))
        return -1;
    for (uint32_t i = 0; where && i < where->n; i++) /* of a command only what it prints is seen */
        if (slice_is(where->map[i].key, "output") != command)
            return err_set(r->e, where->map[i].line, where->map[i].col,
                           command ? "for a command, \"where\" takes output, not \"%.*s\""
                                   : "\"%.*s\" applies to a command; for a request write body",
                           SHORT(where->map[i].key));
    for (uint32_t i = 0; any && i < any->n; i++) {
        /* what is set beside `any-of` holds for all: another one in there could never hold too */
        for (size_t k = 0; k < sizeof single / sizeof *single; k++) {
            const struct node *inner = node_get(any->list[i], slice_of(single[k]));
            if (inner && node_get(map, slice_of(single[k])))
                return keys_fail(r, inner,
                                 "\"%s\" is also set next to \"any-of\", where it applies to all "
                                 "alternatives: remove one",
                                 single[k]);
        }
        if (conf_expect_check(r, any->list[i], command))
            return -1;
    }
    return 0;
}

/* ---- a scenario ---- */

static int keep_request(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    struct conf_reader *c = r->ctx;
    (void)into;
    vec_last(&c->requests) = value;
    return keys_want_scalar(r, key->name, value);
}

static int read_body(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct scenario_spec *s = into;
    if (value->type != NODE_LIST && value->type != NODE_MAP) {
        s->body = value->text;
        return keys_want_scalar(r, key->name, value);
    }
    struct buf json = BUF_INIT(BODY_MAX);
    node_print(value, &json);
    if (!json.full)
        s->body = slice_copy(r->arena, buf_slice(&json));
    s->content_type = SLICE("application/json");
    int status = json.full ? keys_fail(r, value, "\"%s\" exceeds 16 MiB", key->name) : 0;
    buf_deinit(&json);
    return status;
}

/* clang-format off */
static const struct key scenario_rows[] = {
    {"request", KEY_OTHER, .read = keep_request, .schema = "\"type\": \"string\"",
     .doc = "METHOD {url:SERVICE}/path, SERVICE METHOD /path, or SERVICE package.Service/Method (gRPC)"},
    {"headers", KEY_PAIRS, offsetof(struct scenario_spec, headers), .pair = check_field,
     .doc = "headers of the request"},
    {"body", KEY_OTHER, .read = read_body,
     .schema = "\"type\": [\"string\", \"number\", \"boolean\", \"object\", \"array\"]",
     .doc = "body of the request; a map or list is sent as JSON"},
    {"command", KEY_TEXT, offsetof(struct scenario_spec, command), .read = as_command,
     .doc = "instead of a request: a command, run by /bin/sh"},
    {"dir", KEY_TEXT, offsetof(struct scenario_spec, dir), .read = as_path,
     .fallback = "the file's directory", .doc = "working directory of its commands"},
    {"env", KEY_PAIRS, offsetof(struct scenario_spec, env), .pair = as_variable,
     .doc = "environment variables of its commands"},
    {"before", KEY_TEXT, offsetof(struct scenario_spec, before), .read = as_command,
     .doc = "command before every run, to reset state"},
    {"after", KEY_TEXT, offsetof(struct scenario_spec, after), .read = as_command,
     .doc = "command after every run"},
    {"timeout", KEY_DURATION, offsetof(struct scenario_spec, timeout_ns), .least = 1,
     .given = offsetof(struct scenario_spec, timeout_given),
     .fallback = "30s, for a command 2m", .doc = "time limit of a run; one that takes longer hangs"},
    {"limit", KEY_DURATION, offsetof(struct scenario_spec, limit_ns), .least = 1,
     .fallback = "as in judge", .doc = "how long it may take under one fault; the oracle over-limit reports slower runs"},
    {"expect", KEY_MAP, offsetof(struct scenario_spec, expect), .inner = &expect_keys,
     .given = offsetof(struct scenario_spec, expect.given),
     .fallback = "status 2xx, or exit 0", .doc = "what must hold"},
    {"under-faults", KEY_MAP, offsetof(struct scenario_spec, under_faults), .inner = &expect_keys,
     .given = offsetof(struct scenario_spec, under_faults.given),
     .fallback = "as expect", .doc = "what must hold instead when a fault was injected"},
    {"contract", KEY_TEXT, offsetof(struct scenario_spec, contract), .read = as_path,
     .fallback = "resilience/NAME.yaml", .doc = "file that describes what happens under faults, for --contract"},
};
const struct keys scenario_keys = {"a scenario", "scenario", KEY_ROWS(scenario_rows),
    .schema = "\"oneOf\": [{\"required\": [\"request\"]}, {\"required\": [\"command\"]}]"};
/* clang-format on */

static const struct conf_fit fits[] = {{"headers", false}, {"body", false}};

static int scenario_check(struct keys_reader *r, struct scenario_spec *s, const struct node *map)
{
    bool request = node_get(map, SLICE("request")) != NULL;
    s->is_command = s->command.n > 0;
    if (request == s->is_command)
        return err_set(r->e, s->line, s->col,
                       request
                           ? "scenario \"%.*s\" has both \"request\" and \"command\": remove one"
                           : "scenario \"%.*s\" needs \"request\" or \"command\"",
                       SHORT(s->name));
    if (conf_fits(r, map, s->is_command, fits, sizeof fits / sizeof *fits) ||
        conf_expect_check(r, node_get(map, SLICE("expect")), s->is_command) ||
        conf_expect_check(r, node_get(map, SLICE("under-faults")), s->is_command))
        return -1;
    for (uint32_t i = 0; i < s->headers.n; i++)
        if (slice_eq_nocase(s->headers.at[i].name, SLICE("content-type")))
            s->content_type = SLICE("");
    if (!s->timeout_given)
        s->timeout_ns = SECONDS(s->is_command ? 120 : 30);
    return 0;
}

struct scenario_spec conf_scenario_new(const struct campaign_config *c, slice name, uint32_t line,
                                       uint32_t col)
{
    return (struct scenario_spec){.name = name,
                                  .service = UINT32_MAX,
                                  .method = SLICE(""),
                                  .target = SLICE(""),
                                  .body = SLICE(""),
                                  .content_type = SLICE(""),
                                  .command = SLICE(""),
                                  .dir = c->dir,
                                  .before = SLICE(""),
                                  .after = SLICE(""),
                                  .expect = {.body = SLICE(""), .contains = SLICE("")},
                                  .under_faults = {.body = SLICE(""), .contains = SLICE("")},
                                  .test = SLICE(""),
                                  .line = line,
                                  .col = col};
}

int conf_scenario_read(struct keys_reader *r, struct scenario_spec *s, const struct node *map)
{
    return keys_read(r, &scenario_keys, s, map) || scenario_check(r, s, map) ? -1 : 0;
}

int conf_scenario(struct keys_reader *r, const struct key *key, void *into,
                  const struct node_pair *pair)
{
    struct conf_reader *c = r->ctx;
    (void)key;
    (void)into;
    struct scenario_spec s = conf_scenario_new(c->c, pair->key, pair->line, pair->col);
    c->own = false;
    vec_push(&c->requests, NULL);
    int status = keys_name(r, pair->key, pair->line, pair->col, "the name of a scenario", false) ||
                         conf_scenario_read(r, &s, pair->value)
                     ? -1
                     : 0;
    vec_push(&c->c->scenarios, s); /* also a wrong one: its vectors are freed with the whole */
    return status;
}
