/* SPDX-License-Identifier: Apache-2.0
 *
 * Every key of the file, with all that is known about it: the reader, the JSON Schema and the
 * checks of docs/config.md go by these rows. */
#include <stdlib.h>

#include "config/config_int.h"
#include "config/config_words.h"
#include "core/interface.h"
#include "judge/judge.h"
#include "search/search.h"

const char *const identify_level_names[4] = {"auto", "state", "trace", "none"};
const char *const identify_payload_names[3] = {"auto", "on", "off"};
const char *const connections_names[2] = {"fresh", "reuse"};
const char *const restart_names[2] = {"when-dead", "each-run"};

const char *const conf_place_names[CONF_PLACES] = {
    [IN_FILE] = "the configuration", [IN_SIMULATE] = "simulate", [IN_SERVICE] = "a service",
    [IN_SCENARIO] = "a scenario",    [IN_EXPECT] = "expect",     [IN_SEARCH] = "search",
    [IN_IDENTIFY] = "identify",      [IN_JUDGE] = "judge",       [IN_SECRETS] = "secrets",
};

/* ---- words ---- */

static const char *level_word(size_t i)
{
    return i < 4 ? identify_level_names[i] : NULL;
}

static const char *payload_word(size_t i)
{
    return i < 3 ? identify_payload_names[i] : NULL;
}

static const char *connections_word(size_t i)
{
    return i < 2 ? connections_names[i] : NULL;
}

static const char *restart_word(size_t i)
{
    return i < 2 ? restart_names[i] : NULL;
}

static const char *order_word(size_t i)
{
    return i < order_count ? order_rows[i].name : NULL;
}

static enum reduction reduction_of(size_t i)
{
    for (enum reduction k = 0; k < REDUCTIONS; k++)
        if (reduction_rows[k].flag && i-- == 0)
            return k;
    return REDUCTIONS;
}

static const char *reduction_word(size_t i)
{
    enum reduction k = reduction_of(i);
    return k < REDUCTIONS ? reduction_rows[k].name : NULL;
}

/* ---- values that no type covers ---- */

static int read_version(struct conf_reader *r, const struct conf_key *key, void *into,
                        const struct node *value)
{
    (void)into;
    if (slice_is(value->text, "1"))
        return 0;
    return conf_fail(r, value, "\"%s\" must be 1, the only version of this file that there is",
                     key->name);
}

static int check_name(struct conf_reader *r, const struct conf_key *key, void *into,
                      const struct node *value)
{
    (void)into;
    bool ok = value->text.n <= 100;
    for (size_t i = 0; i < value->text.n; i++)
        ok &= (unsigned char)value->text.p[i] >= 0x20 && value->text.p[i] != 0x7f;
    return ok ? 0 : conf_fail(r, value, "\"%s\" is one line of at most 100 bytes", key->name);
}

static int read_modes(struct conf_reader *r, const struct conf_key *key, void *into,
                      const struct node *value)
{
    struct campaign_config *c = into;
    bool list = value->type != NODE_STR && value->type != NODE_NUM; /* one may stand alone */
    if (list && conf_want(r, key->name, value, NODE_LIST))
        return -1;
    if (list && (value->n == 0 || value->n > MODE_LIST_MAX))
        return conf_fail(r, value, "\"%s\" must have 1 to %d entries", key->name, MODE_LIST_MAX);
    c->modes_given = true;
    c->modes = (struct mode_list){0};
    for (uint32_t i = 0; i < (list ? value->n : 1); i++) {
        const struct node *item = list ? value->list[i] : value;
        struct err inner = {0};
        if (conf_want_scalar(r, key->name, item))
            return -1;
        if (mode_list_add(&c->modes, item->text, &inner))
            return conf_fail(r, item, "%s", inner.text);
    }
    return 0;
}

static int keep_ignore(struct conf_reader *r, const struct conf_key *key, void *into,
                       const struct node *value)
{
    (void)key;
    (void)into;
    r->ignore = value; /* its services are checked when all are known */
    return 0;
}

static int read_assume(struct conf_reader *r, const struct conf_key *key, void *into,
                       const struct node *value)
{
    struct campaign_config *c = into;
    if (conf_want(r, key->name, value, NODE_LIST))
        return -1;
    for (uint32_t i = 0; i < value->n; i++) {
        uint32_t word;
        if (conf_word(r, key, value->list[i], &word))
            return -1;
        c->search.assume |= 1u << reduction_of(word);
    }
    return 0;
}

static int read_audit(struct conf_reader *r, const struct conf_key *key, void *into,
                      const struct node *value)
{
    struct campaign_config *c = into;
    char *end;
    if (conf_want_scalar(r, key->name, value))
        return -1;
    double number = strtod(value->text.p, &end);
    if (!value->text.n || *end || !(number >= 0 && number <= 100))
        return conf_fail(r, value, "\"%s\" is a percentage from 0 to 100, not \"%.*s\"", key->name,
                         SHORT(value->text));
    c->search.audit = number;
    return 0;
}

static int read_order(struct conf_reader *r, const struct conf_key *key, void *into,
                      const struct node *value)
{
    struct campaign_config *c = into;
    uint32_t word;
    if (conf_word(r, key, value, &word))
        return -1;
    c->search.order = value->text;
    c->search.order_given = true;
    return 0;
}

static int read_quiet(struct conf_reader *r, const struct conf_key *key, void *into,
                      const struct node *value)
{
    struct campaign_config *c = into;
    c->quiet_ns = -1;
    return slice_is(value->text, "auto") ? 0 : conf_duration(r, key->name, value, &c->quiet_ns);
}

static int check_normalise(struct conf_reader *r, const struct conf_key *key, void *into,
                           const struct node *value)
{
    struct rewrite *rules = rewrite_new();
    int status = 0;
    (void)into;
    if (value->n > 100)
        status = conf_fail(r, value, "\"%s\" has more than 100 rules", key->name);
    for (uint32_t i = 0; status == 0 && i < value->n; i++) {
        struct err inner = {0};
        if (rewrite_add(rules, value->list[i]->text, &inner))
            status = conf_fail(r, value->list[i], "%s", inner.text);
    }
    rewrite_free(rules);
    return status;
}

static int check_fields(struct conf_reader *r, const struct conf_key *key, void *into,
                        const struct node *value)
{
    (void)into;
    for (uint32_t i = 0; i < value->n; i++)
        if (!conf_token_ok(value->list[i]->text))
            return conf_fail(r, value->list[i], "\"%s\": \"%.*s\" is no name of a header",
                             key->name, SHORT(value->list[i]->text));
    return 0;
}

int conf_judge_check(const struct campaign_config *c, const struct node *judge, struct err *e)
{
    struct names names;
    struct arena arena = {0};
    struct judge_settings settings;
    names_init(&names);
    judge_settings_init(&settings);
    struct vocabulary v = config_vocabulary(c, &names, NULL, &arena);
    int status = judge_settings_load(judge, &v, &settings, e);
    judge_settings_deinit(&settings);
    names_deinit(&names);
    arena_deinit(&arena);
    return status;
}

static int read_judge(struct conf_reader *r, const struct conf_key *key, void *into,
                      const struct node *value)
{
    struct campaign_config *c = into;
    (void)r;
    (void)key;
    c->judge = value; /* it is checked when all services are known */
    return 0;
}

/* ---- the rows ---- */

#define CALLS    "\"type\": \"array\", \"maxItems\": 1000, \"items\": {\"type\": \"string\"}"
#define POINTERS CALLS
#define SCALARS  "\"type\": [\"string\", \"integer\"]"
#define FILE(m)  offsetof(struct campaign_config, m)
#define SERVE(m) offsetof(struct service_spec, m)
#define SCENE(m) offsetof(struct scenario_spec, m)
#define HOPE(m)  offsetof(struct expect_spec, m)

/* clang-format off */
const struct conf_key conf_keys[] = {
    {IN_FILE, "version", CONF_OTHER, .read = read_version, .schema = "\"const\": 1",
     .fallback = "", .doc = "version of the file's format: 1; must be there"},
    {IN_FILE, "name", CONF_TEXT, FILE(name), .read = check_name,
     .fallback = "the directory's name", .doc = "name of the system, in reports"},
    {IN_FILE, "env", CONF_ENV, FILE(env),
     .fallback = "", .doc = "environment variables of all services with run and of all commands; their own env wins"},
    {IN_FILE, "services", CONF_OTHER, .read = conf_services,
     .schema = "\"type\": \"object\", \"minProperties\": 1, \"additionalProperties\": {\"$ref\": \"#/$defs/service\"}",
     .fallback = "", .doc = "the services, by name"},
    {IN_FILE, "simulate", CONF_OTHER, .read = conf_simulate,
     .schema = "\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/$defs/simulate\"}]",
     .fallback = "", .doc = "instead of services: the file of a simulated system, which is served"},
    {IN_FILE, "scenarios", CONF_OTHER, .read = conf_scenarios,
     .schema = "\"type\": \"object\", \"minProperties\": 1, \"additionalProperties\": {\"$ref\": \"#/$defs/scenario\"}",
     .fallback = "of a simulated system: those of its file", .doc = "what is exercised, by name"},
    {IN_FILE, "modes", CONF_OTHER, .read = read_modes,
     .schema = "\"anyOf\": [{" SCALARS "}, {\"type\": \"array\", \"minItems\": 1, \"maxItems\": 64, \"items\": {" SCALARS "}}]",
     .fallback = "errors", .doc = "ways to fail that are tried, or sets of them: errors, standard, thorough"},
    {IN_FILE, "ignore", CONF_TEXTS, FILE(ignore), .read = keep_ignore,
     .fallback = "none", .doc = "calls that are let through unseen: SERVICE INTERFACE, with *"},
    {IN_FILE, "search", CONF_MAP, 0, .inner = IN_SEARCH,
     .fallback = "exact", .doc = "how combinations are searched"},
    {IN_FILE, "identify", CONF_MAP, 0, .inner = IN_IDENTIFY,
     .fallback = "found out", .doc = "how calls are named"},
    {IN_FILE, "judge", CONF_MAP, 0, .inner = IN_JUDGE, .read = read_judge,
     .fallback = "of a simulated system: as its file says", .doc = "what the oracles need to know, and which of them are heard"},
    {IN_FILE, "secrets", CONF_MAP, 0, .inner = IN_SECRETS,
     .fallback = "password, token, cookie ...", .doc = "names of headers, fields and variables whose values are not kept"},
    {IN_FILE, "quiet", CONF_OTHER, .read = read_quiet,
     .schema = "\"anyOf\": [{\"const\": \"auto\"}, {\"$ref\": \"#/$defs/duration\"}]",
     .fallback = "auto", .doc = "after the answer: how long calls that begin later are waited for; auto learns it"},
    {IN_FILE, "settle", CONF_DURATION, FILE(settle_ns), .least = 1,
     .fallback = "5s", .doc = "at the end of a run: how long open calls are waited for"},
    {IN_FILE, "store", CONF_PATH, FILE(store),
     .fallback = ".outfox/campaign.db", .doc = "file in which runs and findings are kept"},
    {IN_FILE, "logs", CONF_PATH, FILE(logs),
     .fallback = ".outfox/logs", .doc = "directory for the output of services"},
    {IN_FILE, "connections", CONF_WORD, FILE(connections), .words = connections_word,
     .fallback = "fresh", .doc = "fresh: every call of a run has a connection of its own; reuse: connections are kept, as pools do"},
    {IN_FILE, "fault-header", CONF_SWITCH, FILE(fault_header),
     .fallback = "true", .doc = "injected answers carry the header x-outfox-fault"},

    {IN_SIMULATE, "file", CONF_PATH, FILE(simulate),
     .fallback = "", .doc = "the file; must be there"},
    {IN_SIMULATE, "propagate", CONF_TEXTS, FILE(propagate), .read = check_fields,
     .fallback = "traceparent, tracestate, baggage", .doc = "headers that its services pass on"},

    {IN_SERVICE, "port", CONF_U16, SERVE(port), .least = 0, .most = 65535,
     .fallback = "0", .doc = "where it listens; 0: a free port, in {port}"},
    {IN_SERVICE, "host", CONF_TEXT, SERVE(host), .read = conf_host,
     .fallback = "127.0.0.1", .doc = "address at which it listens"},
    {IN_SERVICE, "address", CONF_TEXT, SERVE(address), .read = conf_address,
     .fallback = "", .doc = "of a service that runs already: HOST:PORT or unix:PATH"},
    {IN_SERVICE, "tls", CONF_SWITCH, SERVE(tls),
     .fallback = "false", .doc = "it speaks TLS"},
    {IN_SERVICE, "host-header", CONF_TEXT, SERVE(host_header), .read = conf_host_header,
     .fallback = "the address's", .doc = "Host that it gets: NAME, or keep for the one that the caller sent"},
    {IN_SERVICE, "insecure", CONF_SWITCH, SERVE(insecure),
     .fallback = "false", .doc = "its certificate is not verified"},
    {IN_SERVICE, "ca", CONF_PATH, SERVE(ca),
     .fallback = "the system's", .doc = "authority of its certificate, PEM"},
    {IN_SERVICE, "listen", CONF_TEXT, SERVE(listen), .read = conf_address,
     .fallback = "any port", .doc = "where callers that Outfox does not start reach it: the proxy's address"},
    {IN_SERVICE, "run", CONF_COMMAND, SERVE(run),
     .fallback = "", .doc = "command that starts it, for /bin/sh"},
    {IN_SERVICE, "dir", CONF_PATH, SERVE(dir),
     .fallback = "the file's directory", .doc = "working directory of the command"},
    {IN_SERVICE, "env", CONF_ENV, SERVE(env),
     .fallback = "", .doc = "environment variables of the command"},
    {IN_SERVICE, "ready", CONF_OTHER, .read = conf_ready, .schema = "\"type\": \"string\"",
     .fallback = "tcp", .doc = "when it is ready: tcp (it accepts connections), none (at once), or a request such as GET /health that is answered with 2xx or 3xx"},
    {IN_SERVICE, "ready-within", CONF_DURATION, SERVE(ready_ns), .least = 1,
     .fallback = "30s", .doc = "time to get ready"},
    {IN_SERVICE, "stop-within", CONF_DURATION, SERVE(stop_ns), .least = 0,
     .fallback = "3s", .doc = "time to end by itself after SIGTERM"},
    {IN_SERVICE, "restart", CONF_WORD, SERVE(restart), .words = restart_word,
     .fallback = "when-dead", .doc = "each-run: it is started anew before every run, so that a cache or circuit breaker in it forgets the runs before; when-dead: only when it died"},

    {IN_SCENARIO, "request", CONF_OTHER, .read = conf_request, .schema = "\"type\": \"string\"",
     .fallback = "", .doc = "METHOD {url:SERVICE}/path, SERVICE METHOD /path, or SERVICE package.Service/Method (gRPC)"},
    {IN_SCENARIO, "headers", CONF_FIELDS, SCENE(headers),
     .fallback = "", .doc = "headers of the request"},
    {IN_SCENARIO, "body", CONF_OTHER, .read = conf_body,
     .schema = "\"type\": [\"string\", \"number\", \"boolean\", \"object\", \"array\"]",
     .fallback = "", .doc = "body of the request; a map or list is sent as JSON"},
    {IN_SCENARIO, "command", CONF_COMMAND, SCENE(command),
     .fallback = "", .doc = "instead of a request: a command, for /bin/sh"},
    {IN_SCENARIO, "dir", CONF_PATH, SCENE(dir),
     .fallback = "the file's directory", .doc = "working directory of its commands"},
    {IN_SCENARIO, "env", CONF_ENV, SCENE(env),
     .fallback = "", .doc = "environment variables of its commands"},
    {IN_SCENARIO, "before", CONF_COMMAND, SCENE(before),
     .fallback = "", .doc = "command before every run: brings state back"},
    {IN_SCENARIO, "after", CONF_COMMAND, SCENE(after),
     .fallback = "", .doc = "command after every run"},
    {IN_SCENARIO, "timeout", CONF_DURATION, SCENE(timeout_ns), .least = 1,
     .fallback = "30s, of a command 2m", .doc = "time for a run; one that takes longer hangs"},
    {IN_SCENARIO, "limit", CONF_DURATION, SCENE(limit_ns), .least = 1,
     .fallback = "that of judge", .doc = "how long it may take under one fault; slower is what the oracle over-limit says"},
    {IN_SCENARIO, "expect", CONF_MAP, SCENE(expect), .inner = IN_EXPECT,
     .fallback = "status 2xx, or exit 0", .doc = "what must hold"},
    {IN_SCENARIO, "under-faults", CONF_MAP, SCENE(under_faults), .inner = IN_EXPECT,
     .fallback = "as expect", .doc = "what must hold instead when a fault was injected"},
    {IN_SCENARIO, "contract", CONF_PATH, SCENE(contract),
     .fallback = "resilience/NAME.yaml", .doc = "file that says what happens under faults, for --contract"},

    {IN_EXPECT, "status", CONF_OTHER, .read = conf_status,
     .schema = "\"anyOf\": [{" SCALARS "}, {\"type\": \"array\", \"minItems\": 1, \"items\": {" SCALARS "}}]",
     .fallback = "2xx, grpc:0", .doc = "status of the answer, or a list of them: 200, 2xx, 400-499, grpc:0"},
    {IN_EXPECT, "json", CONF_OTHER, .read = conf_json, .schema = "\"type\": \"object\"",
     .fallback = "", .doc = "values in the answer, each under its JSON pointer"},
    {IN_EXPECT, "headers", CONF_FIELDS, HOPE(headers),
     .fallback = "", .doc = "headers of the answer and their values"},
    {IN_EXPECT, "body", CONF_OTHER, .read = conf_body_expected, .schema = "\"$ref\": \"#/$defs/text\"",
     .fallback = "", .doc = "the whole body of the answer"},
    {IN_EXPECT, "contains", CONF_TEXT, HOPE(contains),
     .fallback = "", .doc = "text that is in the answer, or in what the command prints"},
    {IN_EXPECT, "within", CONF_DURATION, HOPE(within_ns), .least = 1,
     .fallback = "the timeout", .doc = "time in which the answer comes, or the command ends"},
    {IN_EXPECT, "where", CONF_OTHER, .read = conf_where,
     .schema = "\"type\": \"object\", \"additionalProperties\": {\"type\": [\"string\", \"null\", \"array\"], \"items\": {\"type\": [\"string\", \"null\"]}}",
     .fallback = "", .doc = "conditions on values: /pointer, header NAME, body or output: present, at least 10, matches REGEX ..."},
    {IN_EXPECT, "exit", CONF_U32, HOPE(exit), .least = 0, .most = 255, .read = conf_exit,
     .fallback = "0", .doc = "exit code of the command"},
    {IN_EXPECT, "any-of", CONF_OTHER, .read = conf_any_of,
     .schema = "\"type\": \"array\", \"minItems\": 2, \"maxItems\": 20, \"items\": {\"$ref\": \"#/$defs/expect\"}",
     .fallback = "", .doc = "alternatives: maps with these keys, of which one must hold"},

    {IN_SEARCH, "assume", CONF_WORDS, .read = read_assume, .words = reduction_word,
     .fallback = "none", .doc = "reductions: less work under an assumption each"},
    {IN_SEARCH, "max-faults", CONF_U32, FILE(search.max_faults), .least = 1, .most = UINT32_MAX,
     .fallback = "no bound", .doc = "at most so many faults at a time"},
    {IN_SEARCH, "t-way", CONF_U32, FILE(search.t_way), .least = 2, .most = 4,
     .fallback = "off", .doc = "faults that are absorbed on their own: every 2, 3 or 4 of them together"},
    {IN_SEARCH, "audit", CONF_OTHER, .read = read_audit,
     .schema = "\"type\": \"number\", \"minimum\": 0, \"maximum\": 100",
     .fallback = "0", .doc = "per cent of what the reductions skip that is run after all, and compared"},
    {IN_SEARCH, "order", CONF_OTHER, .read = read_order, .words = order_word,
     .fallback = "soon", .doc = "which faultload comes next"},
    {IN_SEARCH, "seed", CONF_U64, FILE(search.seed), .least = 0, .most = INT64_MAX,
     .fallback = "0", .doc = "for everything that is drawn at random"},
    {IN_SEARCH, "max-runs", CONF_U64, FILE(search.max_runs), .least = 1, .most = INT64_MAX,
     .fallback = "no bound", .doc = "stop after so many runs of a scenario"},
    {IN_SEARCH, "budget", CONF_DURATION, FILE(search.budget_ns), .least = 1,
     .fallback = "no bound", .doc = "stop after this time"},
    {IN_SEARCH, "jobs", CONF_U32, FILE(search.jobs), .least = 1, .most = 64,
     .fallback = "1", .doc = "runs at a time, where the services pass a trace context on"},
    {IN_SEARCH, "baselines", CONF_U32, FILE(search.baselines), .least = 1, .most = 16,
     .fallback = "3", .doc = "fault-free runs at the beginning, to learn what is stable"},
    {IN_SEARCH, "check-every", CONF_U32, FILE(search.check_every), .least = 0, .most = UINT32_MAX,
     .fallback = "100", .doc = "runs between two that check without faults that the system still works; 0: never"},

    {IN_IDENTIFY, "level", CONF_WORD, FILE(identify.level), .words = level_word,
     .fallback = "auto", .doc = "how the caller of a call is known; auto finds it out"},
    {IN_IDENTIFY, "payload", CONF_WORD, FILE(identify.payload), .words = payload_word,
     .fallback = "auto", .doc = "is the body part of a call's name? auto: where it is stable and tells calls apart"},
    {IN_IDENTIFY, "predecessors", CONF_SWITCH, FILE(identify.predecessors),
     .fallback = "false", .doc = "are the calls before it part of a call's name?"},
    {IN_IDENTIFY, "normalise", CONF_TEXTS, FILE(identify.normalise), .read = check_normalise,
     .fallback = "none", .doc = "rules REGEX -> TEXT for paths"},
    {IN_IDENTIFY, "headers", CONF_TEXTS, FILE(identify.headers), .read = check_fields,
     .fallback = "none", .doc = "further headers that carry a trace id"},

    {IN_SECRETS, "hide", CONF_TEXTS, FILE(secrets.hide), .read = check_fields,
     .fallback = "none", .doc = "further names whose values are kept and printed as [secret]"},
    {IN_SECRETS, "show", CONF_TEXTS, FILE(secrets.show), .read = check_fields,
     .fallback = "none", .doc = "names that are no secret after all"},

    {IN_JUDGE, "oracles", CONF_OTHER,
     .schema = "\"type\": \"object\", \"additionalProperties\": {\"enum\": [\"off\", \"warning\", \"finding\", false]}",
     .fallback = "as outfox oracles lists them", .doc = "how serious what an oracle says is, by its name or all: off, warning or finding"},
    {IN_JUDGE, "reads", CONF_OTHER, .schema = CALLS,
     .fallback = "by method and name", .doc = "calls without side effects"},
    {IN_JUDGE, "idempotent", CONF_OTHER, .schema = CALLS,
     .fallback = "by method and name", .doc = "calls that may be made twice"},
    {IN_JUDGE, "effects", CONF_OTHER,
     .schema = "\"type\": \"array\", \"maxItems\": 1000, \"items\": {\"type\": [\"string\", \"object\"]}",
     .fallback = "by method and name", .doc = "calls with side effects, and how often they must be made: CALL: exactly 1 when status 200, otherwise 0"},
    {IN_JUDGE, "undo", CONF_OTHER,
     .schema = "\"type\": \"object\", \"maxProperties\": 1000, \"additionalProperties\": {\"type\": \"string\"}",
     .fallback = "by name", .doc = "calls that take a side effect back: CALL: CALL"},
    {IN_JUDGE, "limit", CONF_OTHER, .schema = "\"$ref\": \"#/$defs/duration\"",
     .fallback = "none", .doc = "how long a scenario may take under one fault"},
    {IN_JUDGE, "volatile", CONF_OTHER, .schema = POINTERS,
     .fallback = "what differs without faults", .doc = "JSON pointers: values of answers that are not compared"},
    {IN_JUDGE, "stable", CONF_OTHER, .schema = POINTERS,
     .fallback = "none", .doc = "JSON pointers: values that are compared although they look like a time or a generated id"},
    {IN_JUDGE, "optional", CONF_OTHER, .schema = POINTERS,
     .fallback = "none", .doc = "JSON pointers: values that may be null, empty or missing under faults"},
};
/* clang-format on */

const size_t conf_key_count = sizeof conf_keys / sizeof *conf_keys;
