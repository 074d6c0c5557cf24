/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of a plan: tables, and how values of their own kind are read. Here only what one map says
 * is looked at; what must hold between them is plan.c's. */
#include "base/clock.h"
#include "plan/injector.h"
#include "plan/plan_int.h"

/* ---- small values ---- */

static struct plan_place place_of(const struct node *n)
{
    return (struct plan_place){n->line, n->col};
}

/* A number from least to most, to a double of the struct. */
static int read_number(struct keys_reader *r, const char *key, const struct node *value,
                       double least, double most, double *out)
{
    if (value->type != NODE_NUM || !(value->num >= least && value->num <= most))
        return keys_fail(r, value, "\"%s\" must be a number from %g to %g", key, least, most);
    *out = value->num;
    return 0;
}

static int read_chance(struct keys_reader *r, const struct key *key, void *into,
                       const struct node *value)
{
    return read_number(r, key->name, value, 0, 1, key_field(key, into));
}

static int read_percentile(struct keys_reader *r, const struct key *key, void *into,
                           const struct node *value)
{
    return read_number(r, key->name, value, 0, 100, key_field(key, into));
}

static int read_regex(struct keys_reader *r, const char *key, const struct node *value,
                      slice *pattern, const struct regex **out)
{
    struct err inner = {0};
    if (keys_want_scalar(r, key, value))
        return -1;
    *pattern = value->text;
    if (regex_parse(value->text, r->arena, out, &inner))
        return keys_fail(r, value, "\"%s\": %s", key, inner.text);
    return 0;
}

/* A size as head and fallocate take it. */
static int read_size(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    slice *size = key_field(key, into), digits = value->text;
    uint64_t number;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    if (digits.n && strchr("KMG", digits.p[digits.n - 1]))
        digits.n--;
    if (!slice_to_u64(digits, 1 << 30, &number) || !number)
        return keys_fail(r, value, "\"%s\" must be a size such as 4096, 64K, 500M or 2G",
                         key->name);
    *size = value->text;
    return 0;
}

static int read_pair_name(struct keys_reader *r, const struct key *key,
                          const struct node_pair *pair, const char *what)
{
    (void)key;
    return keys_name(r, pair->key, pair->line, pair->col, what, false);
}

static int check_env(struct keys_reader *r, const struct key *key, void *into,
                     const struct node_pair *pair)
{
    (void)key, (void)into;
    return keys_want_scalar(r, "env", pair->value);
}

/* ---- nodes, roles, clients ---- */

/* clang-format off */
static const struct key node_rows[] = {
    {"start", KEY_TEXT, offsetof(struct plan_node, start), .needed = "start: COMMAND",
     .doc = "command that is the node, run by /bin/sh; it stays in the foreground; required"},
    {"ready", KEY_TEXT, offsetof(struct plan_node, ready),
     .fallback = "ready when started", .doc = "command that is tried until it succeeds"},
    {"ready-within", KEY_DURATION, offsetof(struct plan_node, ready_ns), .least = 1,
     .fallback = "30s", .doc = "time limit of ready"},
    {"dir", KEY_TEXT, offsetof(struct plan_node, dir),
     .fallback = "that of the plan", .doc = "directory of the node, made if it is not there"},
    {"tags", KEY_TEXTS, offsetof(struct plan_node, tags),
     .fallback = "none", .doc = "words by which targets name several nodes: tag:WORD"},
    {"env", KEY_PAIRS, offsetof(struct plan_node, env), .pair = check_env,
     .doc = "variables of its environment"},
};
static const struct keys node_keys = {"a node", "node", KEY_ROWS(node_rows)};

static const struct key client_rows[] = {
    {"command", KEY_TEXT, offsetof(struct plan_client, command), .needed = "command: COMMAND",
     .doc = "what the client does, run by /bin/sh; required"},
    {"every", KEY_DURATION, offsetof(struct plan_client, every_ns), .least = 1000000,
     .fallback = "it runs once, as long as the run lasts, and prints ok, fail and event lines",
     .doc = "run the command this often: each time is an operation, which succeeds with exit code 0"},
    {"within", KEY_DURATION, offsetof(struct plan_client, within_ns), .least = 1,
     .fallback = "5s", .doc = "with every: time limit of an operation"},
    {"dir", KEY_TEXT, offsetof(struct plan_client, dir),
     .fallback = "that of the plan", .doc = "directory of the client, made if it is not there"},
    {"env", KEY_PAIRS, offsetof(struct plan_client, env), .pair = check_env,
     .doc = "variables of its environment"},
};
static const struct keys client_keys = {"a client", "client", KEY_ROWS(client_rows)};
/* clang-format on */

static int read_node(struct keys_reader *r, const struct key *key, void *into,
                     const struct node_pair *pair)
{
    struct plan *p = into;
    struct plan_node n = {
        .name = pair->key, .ready_ns = SECONDS(30), .at = {pair->line, pair->col}};
    int status = read_pair_name(r, key, pair, "the name of a node") ||
                         keys_want(r, key->name, pair->value, NODE_MAP) ||
                         keys_read(r, &node_keys, &n, pair->value)
                     ? -1
                     : 0;
    vec_push(&p->nodes, n); /* also after an error: it is freed with the plan */
    return status;
}

static int read_role(struct keys_reader *r, const struct key *key, void *into,
                     const struct node_pair *pair)
{
    struct plan *p = into;
    if (read_pair_name(r, key, pair, "the name of a role") ||
        keys_want_scalar(r, key->name, pair->value))
        return -1;
    vec_push(&p->roles, (struct plan_role){pair->key, pair->value->text, {pair->line, pair->col}});
    return 0;
}

static int read_client(struct keys_reader *r, const struct key *key, void *into,
                       const struct node_pair *pair)
{
    struct plan *p = into;
    struct plan_client c = {
        .name = pair->key, .within_ns = SECONDS(5), .at = {pair->line, pair->col}};
    int status = read_pair_name(r, key, pair, "the name of a client") ||
                         keys_want(r, key->name, pair->value, NODE_MAP) ||
                         keys_read(r, &client_keys, &c, pair->value)
                     ? -1
                     : 0;
    vec_push(&p->clients, c);
    return status;
}

/* ---- events ---- */

static int read_type(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct plan_event *e = into;
    const char *names[32];
    (void)key;
    for (size_t i = 0; i < n_injectors; i++)
        names[i] = injectors[i].name;
    e->injector = injector_find(e->type);
    return e->injector
               ? 0
               : keys_fail(r, value, "there is no fault \"%.*s\"; outfox plan faults lists them%s",
                           SHORT(e->type), err_hint(e->type, names, n_injectors).text);
}

static int read_target(struct keys_reader *r, const struct key *key, void *into,
                       const struct node *value)
{
    struct plan_target *t = &((struct plan_event *)into)->target;
    t->at = place_of(value);
    if (value->type != NODE_LIST) {
        if (keys_want_scalar(r, key->name, value))
            return -1;
        vec_push(&t->names, value->text);
        return 0;
    }
    for (uint32_t i = 0; i < value->n; i++) {
        if (keys_want_scalar(r, key->name, value->list[i]))
            return -1;
        vec_push(&t->names, value->list[i]->text);
    }
    return value->n ? 0 : keys_fail(r, value, "\"target\" is empty: name a node, or all");
}

static int read_trigger_line(struct keys_reader *r, const struct key *key, void *into,
                             const struct node *value)
{
    struct plan_trigger *t = into;
    return read_regex(r, key->name, value, &t->pattern, &t->regex);
}

/* clang-format off */
static const struct key fault_rows[] = {
    {"type", KEY_TEXT, offsetof(struct plan_event, type), .needed = "type: kill", .read = read_type,
     .doc = "what happens: outfox plan faults lists them; required"},
    {"target", KEY_OTHER, .read = read_target,
     .schema = "\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": \"string\"}}]",
     .doc = "to whom: a node, a list of them, tag:WORD, role:NAME, all, any, any tag:WORD, match_trigger or not_trigger"},
    {"start", KEY_TEXT, offsetof(struct plan_event, start), .doc = "of exec: the command that does it"},
    {"undo", KEY_TEXT, offsetof(struct plan_event, undo),
     .doc = "of exec: the command that undoes it; it may be run twice"},
    {"path", KEY_TEXT, offsetof(struct plan_event, path), .doc = "of disk-full: a directory of the file system"},
    {"size", KEY_OTHER, offsetof(struct plan_event, size), .read = read_size,
     .schema = "\"type\": [\"string\", \"number\"]",
     .doc = "of memory and disk-full: how many bytes, such as 500M"},
    {"count", KEY_U32, offsetof(struct plan_event, count), .least = 1, .most = 1000,
     .fallback = "1", .doc = "of cpu: how many processes"},
};
static const struct keys fault_keys = {"a fault", "fault", KEY_ROWS(fault_rows)};

static const struct key trigger_rows[] = {
    {"at", KEY_DURATION, offsetof(struct plan_trigger, at_ns),
     .doc = "so long after the clients were started and warm"},
    {"line", KEY_OTHER, .read = read_trigger_line, .schema = "\"type\": \"string\"",
     .doc = "when a node or a client prints a line in which this regular expression is found"},
    {"event", KEY_TEXT, offsetof(struct plan_trigger, event),
     .doc = "when a client prints \"event NAME\" or \"event NAME VALUE\""},
    {"value", KEY_TEXT, offsetof(struct plan_trigger, value),
     .fallback = "any", .doc = "of event: only with this value"},
    {"began", KEY_TEXT, offsetof(struct plan_trigger, other), .doc = "when another fault, by its name, has begun"},
    {"ended", KEY_TEXT, offsetof(struct plan_trigger, other), .doc = "when another fault, by its name, has ended"},
    {"of", KEY_TEXT, offsetof(struct plan_trigger, of),
     .fallback = "all", .doc = "of line and event: only what this node or client prints"},
    {"nth", KEY_U32, offsetof(struct plan_trigger, nth), .least = 1, .most = 1000000,
     .fallback = "1", .doc = "which time"},
    {"delay", KEY_DURATION, offsetof(struct plan_trigger, delay_ns),
     .fallback = "none", .doc = "how long to wait then"},
    {"chance", KEY_OTHER, offsetof(struct plan_trigger, chance), .read = read_chance,
     .schema = "\"type\": \"number\", \"minimum\": 0, \"maximum\": 1",
     .fallback = "1", .doc = "how probable it is that it happens then; by the seed"},
};
static const struct keys trigger_keys = {"a trigger", "trigger", KEY_ROWS(trigger_rows)};
/* clang-format on */

static int read_fault(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    return keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &fault_keys, into, value) ? -1
                                                                                              : 0;
}

/* Which of its keys says when. */
static int read_trigger(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    static const struct {
        const char *key;
        enum plan_trigger_kind kind;
    } kinds[] = {{"at", TRIGGER_TIME},
                 {"line", TRIGGER_LINE},
                 {"event", TRIGGER_EVENT},
                 {"began", TRIGGER_BEGAN},
                 {"ended", TRIGGER_ENDED}};
    struct plan_trigger *t = &((struct plan_event *)into)->trigger;
    uint32_t found = 0;
    if (keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &trigger_keys, t, value))
        return -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (node_get(value, slice_of(kinds[i].key))) {
            t->kind = kinds[i].kind;
            found++;
        }
    t->place = place_of(value);
    return found == 1 ? 0
                      : keys_fail(r, value,
                                  "a trigger has exactly one of at, line, event, began and "
                                  "ended");
}

/* clang-format off */
static const struct key event_rows[] = {
    {"name", KEY_TEXT, offsetof(struct plan_event, name),
     .fallback = "its type", .doc = "what it is called; needed where two have the same type"},
    {"fault", KEY_OTHER, .read = read_fault, .inner = &fault_keys, .needed = "fault: { type: kill, target: NODE }",
     .schema = "\"$ref\": \"#/$defs/fault\"", .doc = "what is done to whom; required"},
    {"trigger", KEY_OTHER, .read = read_trigger, .inner = &trigger_keys, .needed = "trigger: { at: 3s }",
     .schema = "\"$ref\": \"#/$defs/trigger\"", .doc = "when; required"},
    {"duration", KEY_DURATION, offsetof(struct plan_event, duration_ns), .least = 1,
     .fallback = "until the run ends", .doc = "how long"},
    {"until", KEY_TEXT, offsetof(struct plan_event, until),
     .doc = "end it when a client prints \"event NAME\", at the latest after duration"},
};
static const struct keys event_keys = {"an event", "event", KEY_ROWS(event_rows)};
/* clang-format on */

static int read_event(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct plan *p = into;
    struct plan_event e = {
        .at = place_of(value),
        .trigger = {.nth = 1, .chance = 1, .node = PLAN_NONE, .client = PLAN_NONE}};
    int status =
        keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &event_keys, &e, value) ? -1 : 0;
    if (!e.name.n)
        e.name = e.type;
    vec_push(&p->events, e);
    return status;
}

/* ---- expectations ---- */

/* What a kind's own key holds. */
enum value_kind {
    VALUE_PERCENT,
    VALUE_COUNT,
    VALUE_FACTOR,
    VALUE_DURATION,
    VALUE_PATTERN,
    VALUE_TRUE,
    VALUE_COMMAND
};

static const struct {
    const char *key;
    enum plan_expect_kind kind;
    enum value_kind value;
} expect_kinds[] = {
    {"availability", EXPECT_AVAILABILITY, VALUE_PERCENT},
    {"lost", EXPECT_LOST, VALUE_COUNT},
    {"gap", EXPECT_GAP, VALUE_DURATION},
    {"recovery", EXPECT_RECOVERY, VALUE_DURATION},
    {"latency", EXPECT_LATENCY, VALUE_DURATION},
    {"slowdown", EXPECT_SLOWDOWN, VALUE_FACTOR},
    {"new-lines", EXPECT_NEW_LINES, VALUE_PATTERN},
    {"alive", EXPECT_ALIVE, VALUE_TRUE},
    {"command", EXPECT_COMMAND, VALUE_COMMAND},
};

/* The key that says what is expected: the only one of its kind in the map. */
static int read_expected(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct plan_expect *x = into;
    size_t i = 0;
    while (strcmp(expect_kinds[i].key, key->name) != 0)
        i++;
    if (x->name.n)
        return keys_fail(r, value, "an expectation says one thing: \"%.*s\" and \"%s\" are two",
                         SHORT(x->name), key->name);
    x->kind = expect_kinds[i].kind;
    x->name = slice_of(expect_kinds[i].key);
    switch (expect_kinds[i].value) {
    case VALUE_PERCENT: return read_number(r, key->name, value, 0, 100, &x->number);
    case VALUE_COUNT: return read_number(r, key->name, value, 0, 1e9, &x->number);
    case VALUE_FACTOR: return read_number(r, key->name, value, 1, 1e6, &x->number);
    case VALUE_DURATION: return keys_duration(r, key, value, &x->most_ns);
    case VALUE_PATTERN: return read_regex(r, key->name, value, &x->pattern, &x->regex);
    case VALUE_TRUE:
        return value->type == NODE_BOOL && value->boolean
                   ? 0
                   : keys_fail(r, value, "\"%s\" can only be true", key->name);
    case VALUE_COMMAND: x->command = value->text; return keys_want_scalar(r, key->name, value);
    }
    return 0;
}

#define EXPECTED(key, schema_, doc_)                                                               \
    {                                                                                              \
        (key), KEY_OTHER, .most = UINT64_C(1000) * 3600 * 1000000000, .read = read_expected,       \
                          .schema = (schema_), .doc = (doc_)                                       \
    }
#define AS_NUMBER "\"type\": \"number\""
#define AS_TEXT   "\"type\": \"string\""

/* clang-format off */
static const struct key expect_rows[] = {
    EXPECTED("availability", AS_NUMBER, "percent of the operations that succeed, at least"),
    EXPECTED("lost", AS_NUMBER, "operations that fail, at most"),
    EXPECTED("gap", AS_TEXT, "longest time without a success, at most"),
    EXPECTED("recovery", AS_TEXT, "time from the end of the last fault to the first success, at most"),
    EXPECTED("latency", AS_TEXT, "a percentile of the time that operations take, at most"),
    EXPECTED("slowdown", AS_NUMBER, "the same as a multiple of the reference, at most; with a confidence of 95 %"),
    EXPECTED("new-lines", AS_TEXT, "regular expression: no line with it that no reference run has printed"),
    EXPECTED("alive", "\"const\": true", "no node ends by itself"),
    EXPECTED("command", AS_TEXT, "run when all is over and the system has settled: it succeeds"),
    {"percentile", KEY_OTHER, offsetof(struct plan_expect, percentile), .read = read_percentile, .schema = AS_NUMBER,
     .fallback = "99", .doc = "of latency and slowdown"},
    {"within", KEY_DURATION, offsetof(struct plan_expect, within_ns), .least = 1,
     .fallback = "30s", .doc = "time limit of command"},
    {"of", KEY_TEXT, offsetof(struct plan_expect, of),
     .fallback = "all", .doc = "only operations of this client"},
};
static const struct keys expect_keys = {"an expectation", "expect", KEY_ROWS(expect_rows)};
/* clang-format on */

static int read_expect(struct keys_reader *r, const struct key *key, void *into,
                       const struct node *value)
{
    struct plan *p = into;
    struct plan_expect x = {
        .at = place_of(value), .percentile = 99, .within_ns = SECONDS(30), .client = PLAN_NONE};
    if (keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &expect_keys, &x, value))
        return -1;
    if (!x.name.n)
        return keys_fail(r, value,
                         "an expectation needs one of availability, lost, gap, recovery, "
                         "latency, slowdown, new-lines, alive and command");
    vec_push(&p->expects, x);
    return 0;
}

/* ---- the file ---- */

/* clang-format off */
static const struct key plan_rows[] = {
    {"version", KEY_U32, offsetof(struct plan, version), .least = 1, .most = 1, .needed = "version: 1",
     .doc = "of this format: 1; required"},
    {"plan", KEY_TEXT, offsetof(struct plan, name), .needed = "plan: NAME", .doc = "name of the plan; required"},
    {"about", KEY_TEXT, offsetof(struct plan, about), .doc = "what is tried, for people"},
    {"seed", KEY_U64, offsetof(struct plan, seed), .most = UINT64_MAX >> 1,
     .fallback = "0", .doc = "of all that is chosen by chance"},
    {"duration", KEY_DURATION, offsetof(struct plan, duration_ns), .least = 1,
     .fallback = "10s", .doc = "of one run"},
    {"warm-up", KEY_DURATION, offsetof(struct plan, warmup_ns),
     .fallback = "1s", .doc = "of the clients, before the run; what happens meanwhile does not count"},
    {"settle", KEY_DURATION, offsetof(struct plan, settle_ns),
     .fallback = "1s", .doc = "time between the end of a run and the commands that check what is left"},
    {"references", KEY_U32, offsetof(struct plan, references), .least = 1, .most = 100,
     .fallback = "1", .doc = "runs without faults, to begin with"},
    {"repeat", KEY_U32, offsetof(struct plan, repeats), .least = 1, .most = 1000,
     .fallback = "1", .doc = "runs with the faults"},
    {"env", KEY_PAIRS, offsetof(struct plan, env), .pair = check_env,
     .doc = "variables of the environment of all commands"},
    {"before", KEY_TEXT, offsetof(struct plan, before), .doc = "command before each run, when no node is started"},
    {"after", KEY_TEXT, offsetof(struct plan, after), .doc = "command after each run, when all nodes have ended"},
    {"within", KEY_DURATION, offsetof(struct plan, within_ns), .least = 1,
     .fallback = "30s", .doc = "time limit of before and after"},
    {"nodes", KEY_EACH, .pair = read_node, .inner = &node_keys, .most = PLAN_NODES_MAX,
     .schema = "\"$ref\": \"#/$defs/node\"", .doc = "processes of the system, started in this order"},
    {"roles", KEY_EACH, .pair = read_role, .most = 100, .schema = AS_TEXT,
     .doc = "nodes that are found when they are needed: a command that prints the node's name"},
    {"clients", KEY_EACH, .pair = read_client, .inner = &client_keys, .least = 1, .most = PLAN_CLIENTS_MAX,
     .needed = "clients", .schema = "\"$ref\": \"#/$defs/client\"", .doc = "what exercises the system; required"},
    {"events", KEY_LIST, .read = read_event, .inner = &event_keys, .most = PLAN_EVENTS_MAX,
     .schema = "\"$ref\": \"#/$defs/event\"", .doc = "the faults: what happens to whom, and when"},
    {"expect", KEY_LIST, .read = read_expect, .inner = &expect_keys, .least = 1,
     .needed = "expect", .schema = "\"$ref\": \"#/$defs/expect\"", .doc = "what must hold all the same; required"},
};
const struct keys plan_keys = {"a plan", "plan", KEY_ROWS(plan_rows)};
/* clang-format on */

void plan_schema(struct buf *out)
{
    keys_schema(&plan_keys, "a failure plan of outfox", out);
}
