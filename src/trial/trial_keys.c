/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of a trials file: tables. Only what one map says is looked at here; what must hold between
 * them is trial.c's. */
#include "base/clock.h"
#include "trial/policy.h"
#include "trial/trial_int.h"

#define AS_TEXT   "\"type\": \"string\""
#define AS_NUMBER "\"type\": \"number\""
#define AS_SWITCH "\"type\": \"boolean\""

enum { KEYS_DEFAULT = 10, VALUE_DEFAULT = 100, COUNT_DEFAULT = 50, VALUE_MAX = 1 << 20 };

static int check_env(struct keys_reader *r, const struct key *key, void *into,
                     const struct node_pair *pair)
{
    (void)key, (void)into;
    return keys_want_scalar(r, "env", pair->value);
}

static struct plan_place place_of(const struct node *n)
{
    return (struct plan_place){n->line, n->col};
}

/* One text of a list, to a struct texts. */
static int read_item(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct texts *list = key_field(key, into);
    if (keys_want_scalar(r, key->name, value))
        return -1;
    if (!value->text.n)
        return keys_fail(r, value, "\"%s\" has an empty entry; leave it out", key->name);
    vec_push(list, value->text);
    return 0;
}

/* One pattern of a list: a regular expression, or for slice_glob. */
static int read_pattern(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    struct trials_patterns *list = key_field(key, into);
    struct trials_pattern p = {0};
    if (keys_regex(r, key->name, value, &p.text, &p.regex))
        return -1;
    vec_push(list, p);
    return 0;
}

static int read_site(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct trials_patterns *list = key_field(key, into);
    slice rest = value->text, part;
    uint32_t parts = 0;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    while (slice_cut(&rest, ':', &part))
        parts++;
    if (parts != 3)
        return keys_fail(r, value,
                         "\"%s\" names sites as FILE:FUNCTION:CALLEE, each with * for anything: "
                         "*:*:fsync, *aof.c:*:*",
                         key->name);
    vec_push(list, (struct trials_pattern){.text = value->text});
    return 0;
}

/* ---- nodes ---- */

/* The name of a port, of which the key says what is spoken there. */
static int read_talk(struct keys_reader *r, const struct key *key, const struct node *value,
                     enum trials_talk *talk, slice *port, bool already)
{
    if (already)
        return keys_fail(r, value, "only one of command, redis and memcached can be there");
    if (keys_want_scalar(r, key->name, value))
        return -1;
    *talk = strcmp(key->name, "redis") == 0 ? TALKS_REDIS : TALKS_MEMCACHED;
    *port = value->text;
    return 0;
}

static int read_alive_talk(struct keys_reader *r, const struct key *key, void *into,
                           const struct node *value)
{
    struct trials_alive *a = into;
    return read_talk(r, key, value, &a->talk, &a->port, a->port.n || a->command.n);
}

static int read_port(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    if (keys_want_scalar(r, key->name, value) ||
        keys_name(r, value->text, value->line, value->col, "the name of a port", false))
        return -1;
    return read_item(r, key, into, value);
}

/* clang-format off */
static const struct key alive_rows[] = {
    {"command", KEY_TEXT, offsetof(struct trials_alive, command), .doc = "command that succeeds while the node is alive"},
    {"redis", KEY_OTHER, .read = read_alive_talk, .schema = AS_TEXT, .doc = "name of a port: PING is answered"},
    {"memcached", KEY_OTHER, .read = read_alive_talk, .schema = AS_TEXT, .doc = "name of a port: version is answered"},
    {"within", KEY_DURATION, offsetof(struct trials_alive, within_ns), .least = 1, .fallback = "2s", .doc = "time limit of the answer"},
};
static const struct keys alive_keys = {"\"alive\"", "alive", KEY_ROWS(alive_rows)};

static const struct key node_rows[] = {
    {"start", KEY_TEXT, offsetof(struct trials_node, start), .needed = "start: COMMAND",
     .doc = "command that is the node, run by /bin/sh; it stays in the foreground; required"},
    {"ready", KEY_TEXT, offsetof(struct trials_node, ready),
     .fallback = "ready when started", .doc = "command that is tried until it succeeds; before, no fault is made"},
    {"ready-within", KEY_DURATION, offsetof(struct trials_node, ready_ns), .least = 1,
     .fallback = "30s", .doc = "time limit of ready"},
    {"data", KEY_TEXT, offsetof(struct trials_node, data), .fallback = "it begins empty",
     .doc = "directory that is copied for each trial, to be the node's own: {dir}"},
    {"dir", KEY_TEXT, offsetof(struct trials_node, dir), .fallback = "its own, {dir}", .doc = "directory where it runs"},
    {"binary", KEY_LIST, offsetof(struct trials_node, binary), .alone = true, .read = read_item, .schema = AS_TEXT,
     .fallback = "the program that start runs", .doc = "its instrumented programs and libraries, one or a list"},
    {"ports", KEY_LIST, offsetof(struct trials_node, ports), .alone = true, .read = read_port, .schema = AS_TEXT,
     .most = TRIALS_PORTS_MAX, .doc = "names; each stands for a port that is free: {port:NAME}, for others {port:NODE.NAME}"},
    {"logs", KEY_LIST, offsetof(struct trials_node, logs), .alone = true, .read = read_item, .schema = AS_TEXT,
     .fallback = "what it prints", .doc = "files in its directory that it logs to, besides what it prints"},
    {"env", KEY_PAIRS, offsetof(struct trials_node, env), .pair = check_env, .doc = "variables of its environment"},
    {"alive", KEY_MAP, offsetof(struct trials_node, alive), .inner = &alive_keys, .schema = "\"$ref\": \"#/$defs/alive\"",
     .fallback = "it is not asked", .doc = "how it says that it is alive: command, redis or memcached"},
};
static const struct keys node_keys = {"a node", "node", KEY_ROWS(node_rows)};
/* clang-format on */

static int read_node(struct keys_reader *r, const struct key *key, void *into,
                     const struct node_pair *pair)
{
    struct trials *t = into;
    struct trials_node n = {.name = pair->key,
                            .ready_ns = SECONDS(30),
                            .alive = {.within_ns = SECONDS(2), .at_port = TRIALS_NONE},
                            .written = pair->value,
                            .at = {pair->line, pair->col}};
    int status = keys_name(r, pair->key, pair->line, pair->col, "the name of a node", false) ||
                         keys_want(r, key->name, pair->value, NODE_MAP) ||
                         keys_read(r, &node_keys, &n, pair->value)
                     ? -1
                     : 0;
    vec_push(&t->nodes, n); /* also after an error: it is freed with the file */
    return status;
}

/* ---- clients and phases ---- */

static int read_client_talk(struct keys_reader *r, const struct key *key, void *into,
                            const struct node *value)
{
    struct trials_client *c = into;
    return read_talk(r, key, value, &c->talk, &c->port, c->port.n || c->command.n);
}

/* clang-format off */
static const struct key client_rows[] = {
    {"node", KEY_TEXT, offsetof(struct trials_client, of), .fallback = "the one that has its name", .doc = "whose client it is"},
    {"command", KEY_TEXT, offsetof(struct trials_client, command),
     .doc = "what it does, run by /bin/sh; it prints ok and fail lines, and ends with exit code 0 when it is done"},
    {"redis", KEY_OTHER, .read = read_client_talk, .schema = AS_TEXT, .doc = "instead of command: name of a port where operations are sent to, as commands of Redis"},
    {"memcached", KEY_OTHER, .read = read_client_talk, .schema = AS_TEXT, .doc = "the same, as commands of memcached"},
    {"operations", KEY_LIST, offsetof(struct trials_client, operations), .alone = true, .read = read_item, .schema = AS_TEXT,
     .doc = "of redis and memcached: operations, in turn; {key}, {value} and {n} stand for a key, a value and the operation's number"},
    {"count", KEY_U32, offsetof(struct trials_client, count), .least = 1, .most = 100000, .fallback = "50", .doc = "so many operations"},
    {"keys", KEY_U32, offsetof(struct trials_client, keys), .least = 1, .most = 1000000, .fallback = "10", .doc = "so many different keys: key0, key1 ..., in turn"},
    {"value", KEY_U32, offsetof(struct trials_client, value_bytes), .least = 1, .most = VALUE_MAX, .fallback = "100", .doc = "bytes of a value"},
    {"every", KEY_DURATION, offsetof(struct trials_client, every_ns), .fallback = "one after the other", .doc = "from the beginning of an operation to that of the next"},
    {"timeout", KEY_DURATION, offsetof(struct trials_client, timeout_ns), .least = 1, .fallback = "2s", .doc = "time limit of one operation"},
    {"env", KEY_PAIRS, offsetof(struct trials_client, env), .pair = check_env, .doc = "variables of its environment"},
};
static const struct keys client_keys = {"a client", "client", KEY_ROWS(client_rows)};
/* clang-format on */

static int read_client_as(struct keys_reader *r, const struct key *key, struct trials_phase *phase,
                          slice name, slice node, const struct node *value, struct plan_place at)
{
    struct trials_client c = {.name = name,
                              .of = node,
                              .count = COUNT_DEFAULT,
                              .keys = KEYS_DEFAULT,
                              .value_bytes = VALUE_DEFAULT,
                              .timeout_ns = SECONDS(2),
                              .at_port = TRIALS_NONE,
                              .written = value,
                              .at = at};
    int status =
        keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &client_keys, &c, value) ? -1 : 0;
    vec_push(&phase->clients, c);
    return status;
}

static int read_client(struct keys_reader *r, const struct key *key, void *into,
                       const struct node_pair *pair)
{
    return keys_name(r, pair->key, pair->line, pair->col, "the name of a client", false) ||
                   read_client_as(r, key, into, pair->key, pair->key, pair->value,
                                  (struct plan_place){pair->line, pair->col})
               ? -1
               : 0;
}

/* The same client for each node, called as the node is. */
static int read_each(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    const struct trials *t = r->ctx;
    struct plan_place at = {value->line, value->col};
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        slice name = t->nodes.at[i].name;
        if (read_client_as(r, key, into, name, name, value, at))
            return -1;
    }
    return node_get(value, SLICE("node"))
               ? keys_fail(r, value, "\"each\" is a client of each node: leave out \"node\"")
               : 0;
}

/* clang-format off */
static const struct key phase_rows[] = {
    {"phase", KEY_TEXT, offsetof(struct trials_phase, name), .needed = "phase: NAME", .doc = "name of the phase; required"},
    {"within", KEY_DURATION, offsetof(struct trials_phase, within_ns), .least = 1, .fallback = "10s",
     .doc = "clients that have not ended by then are stuck"},
    {"always", KEY_SWITCH, offsetof(struct trials_phase, always), .fallback = "false",
     .doc = "also when clients of an earlier phase failed: shows whether the system has recovered"},
    {"clients", KEY_EACH, .pair = read_client, .inner = &client_keys, .most = TRIALS_CLIENTS_MAX,
     .schema = "\"$ref\": \"#/$defs/client\"", .doc = "run side by side; each belongs to one node"},
    {"each", KEY_OTHER, .read = read_each, .inner = &client_keys, .schema = "\"$ref\": \"#/$defs/client\"",
     .doc = "one more client for each node, all alike"},
};
static const struct keys phase_keys = {"a phase", "phase", KEY_ROWS(phase_rows)};
/* clang-format on */

static int read_phase(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct trials *t = into;
    struct trials_phase p = {.within_ns = SECONDS(10), .at = place_of(value)};
    r->ctx = t;
    int status =
        keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &phase_keys, &p, value) ? -1 : 0;
    vec_push(&t->phases, p);
    return status;
}

/* ---- checkers ---- */

/* clang-format off */
static const struct key invariant_rows[] = {
    {"name", KEY_TEXT, offsetof(struct trials_invariant, name), .fallback = "the command", .doc = "what it is called in reports"},
    {"command", KEY_TEXT, offsetof(struct trials_invariant, command), .needed = "command: COMMAND",
     .doc = "succeeds when it holds; run after the last phase, before nodes end; required"},
    {"within", KEY_DURATION, offsetof(struct trials_invariant, within_ns), .least = 1, .fallback = "10s", .doc = "time limit of it"},
};
static const struct keys invariant_keys = {"an invariant", "invariant", KEY_ROWS(invariant_rows)};
/* clang-format on */

static int read_invariant(struct keys_reader *r, const struct key *key, void *into,
                          const struct node *value)
{
    struct trials_checkers *c = into;
    struct trials_invariant v = {.within_ns = SECONDS(10), .at = place_of(value)};
    if (keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &invariant_keys, &v, value))
        return -1;
    v.name = v.name.n ? v.name : v.command;
    vec_push(&c->invariants, v);
    return 0;
}

static int read_code(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    uint64_t code;
    if (!slice_to_u64(value->text, 125, &code))
        return keys_fail(r, value, "\"%s\" has exit codes, from 0 to 125", key->name);
    return read_item(r, key, into, value);
}

/* clang-format off */
static const struct key checker_rows[] = {
    {"crash", KEY_SWITCH, offsetof(struct trials_checkers, crash), .fallback = "true", .doc = "nodes that end by themselves"},
    {"clean", KEY_LIST, offsetof(struct trials_checkers, clean), .alone = true, .read = read_code, .schema = AS_NUMBER,
     .fallback = "0 to 125", .doc = "exit codes with which a node may give up after a fault in it, if it says why in its log"},
    {"restart", KEY_SWITCH, offsetof(struct trials_checkers, restart), .fallback = "true",
     .doc = "a node that has ended is started once more, on its data: it must become ready"},
    {"client", KEY_SWITCH, offsetof(struct trials_checkers, client), .fallback = "true", .doc = "operations of clients: who fails, for how long"},
    {"slow", KEY_DURATION, offsetof(struct trials_checkers, slow_ns), .least = 1, .fallback = "1s",
     .doc = "operations are slow that take longer, and longer than twice the longest without faults"},
    {"log", KEY_SWITCH, offsetof(struct trials_checkers, log), .fallback = "true", .doc = "warnings and errors that are new"},
    {"patterns", KEY_LIST, offsetof(struct trials_checkers, log_patterns), .alone = true, .read = read_pattern, .schema = AS_TEXT,
     .fallback = "warn, error, fail, fatal, panic, assert in all their forms", .doc = "regular expressions: lines that are warnings or errors"},
    {"ignore", KEY_LIST, offsetof(struct trials_checkers, log_ignore), .alone = true, .read = read_pattern, .schema = AS_TEXT,
     .doc = "regular expressions: lines that are none of them"},
    {"resources", KEY_SWITCH, offsetof(struct trials_checkers, resources), .fallback = "true", .doc = "threads and descriptors at the end"},
    {"threads", KEY_U32, offsetof(struct trials_checkers, threads), .most = 100000, .fallback = "2", .doc = "so many more than without faults are no growth"},
    {"descriptors", KEY_U32, offsetof(struct trials_checkers, descriptors), .most = 100000, .fallback = "10", .doc = "the same of descriptors"},
    {"invariants", KEY_LIST, .read = read_invariant, .inner = &invariant_keys, .most = 100, .schema = "\"$ref\": \"#/$defs/invariant\"",
     .doc = "commands that must succeed after each trial"},
};
static const struct keys checker_keys = {"the checkers", "checkers", KEY_ROWS(checker_rows)};
/* clang-format on */

/* ---- what is tried ---- */

static int read_act(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct trials *t = into;
    uint32_t act = strcmp(key->name, "error") == 0 ? OUTFOX_ERROR : OUTFOX_SHORT;
    if (keys_want(r, key->name, value, NODE_BOOL))
        return -1;
    t->acts |= value->boolean ? act : 0;
    return 0;
}

static int read_delay(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct trials *t = into;
    t->acts |= OUTFOX_DELAY;
    return keys_duration(r, key, value, &t->delay_ns);
}

static int read_policy(struct keys_reader *r, const struct key *key, void *into,
                       const struct node *value)
{
    const char *names[TRIALS_POLICIES_MAX];
    size_t n = 0;
    for (; n < TRIALS_POLICIES_MAX && policies[n]; n++)
        names[n] = policies[n]->name;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    const struct policy_ops *ops = policy_find(value->text);
    if (!ops)
        return keys_fail(r, value, "there is no policy \"%.*s\"%s", SHORT(value->text),
                         err_hint(value->text, names, n).text);
    if (slice_is(value->text, "point"))
        return keys_fail(r, value, "\"point\" is for outfox replay; a file has the others");
    return read_item(r, key, into, value);
}

static int read_epsilon(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    return keys_number(r, key->name, value, 1e-6, 0.9, key_field(key, into));
}

/* clang-format off */
static const struct key registrar_rows[] = {
    {"function", KEY_TEXT, offsetof(struct trials_registrar, function), .needed = "function: NAME",
     .doc = "that is given a function; a * at its end stands for the rest; required"},
    {"argument", KEY_U32, offsetof(struct trials_registrar, argument), .most = 30, .needed = "argument: 2", .doc = "which argument that is, from 0; required"},
    {"kind", KEY_TEXT, offsetof(struct trials_registrar, kind), .fallback = "callback", .doc = "what it becomes: thread, callback"},
};
static const struct keys registrar_keys = {"a registrar", "registrar", KEY_ROWS(registrar_rows)};

static const struct key experiment_rows[] = {
    {"error", KEY_OTHER, .read = read_act, .schema = AS_SWITCH, .fallback = "false", .doc = "calls and functions return an error"},
    {"delay", KEY_OTHER, .read = read_delay, .schema = AS_TEXT, .least = 1, .fallback = "none", .doc = "calls that can block take so much longer"},
    {"short", KEY_OTHER, .read = read_act, .schema = AS_SWITCH, .fallback = "false", .doc = "reads and writes do less than they were asked for"},
};
static const struct keys experiment_keys = {"the experiments", "experiments", KEY_ROWS(experiment_rows)};
/* clang-format on */

static int read_registrar(struct keys_reader *r, const struct key *key, void *into,
                          const struct node *value)
{
    struct trials *t = into;
    struct trials_registrar g = {.kind = SLICE("callback")};
    if (keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &registrar_keys, &g, value))
        return -1;
    vec_push(&t->registrars, g);
    return 0;
}

/* clang-format off */
static const struct key file_rows[] = {
    {"version", KEY_U32, offsetof(struct trials, version), .least = 1, .most = 1, .needed = "version: 1", .doc = "of this format: 1; required"},
    {"trials", KEY_TEXT, offsetof(struct trials, name), .needed = "trials: NAME", .doc = "name of the whole; required"},
    {"about", KEY_TEXT, offsetof(struct trials, about), .doc = "what is tried, for people"},
    {"env", KEY_PAIRS, offsetof(struct trials, env), .pair = check_env, .doc = "variables of the environment of all commands"},
    {"before", KEY_TEXT, offsetof(struct trials, before), .doc = "command before each trial, when no node is started"},
    {"after", KEY_TEXT, offsetof(struct trials, after), .doc = "command after each trial, when all nodes have ended"},
    {"within", KEY_DURATION, offsetof(struct trials, within_ns), .least = 1, .fallback = "30s", .doc = "time limit of before and after"},
    {"nodes", KEY_EACH, .pair = read_node, .inner = &node_keys, .needed = "nodes: {NAME: {start: COMMAND}}", .least = 1, .most = TRIALS_NODES_MAX,
     .schema = "\"$ref\": \"#/$defs/node\"", .doc = "processes of the system, started side by side; required"},
    {"workload", KEY_LIST, .read = read_phase, .inner = &phase_keys, .needed = "workload: [{phase: NAME, clients: ...}]", .least = 1, .most = TRIALS_PHASES_MAX,
     .schema = "\"$ref\": \"#/$defs/phase\"", .doc = "what clients do, phase by phase; required"},
    {"essential", KEY_LIST, offsetof(struct trials, essential), .alone = true, .read = read_item, .schema = AS_TEXT,
     .fallback = "all", .doc = "operations whose failures count, by the first word: SET"},
    {"settle", KEY_DURATION, offsetof(struct trials, settle_ns), .fallback = "0s", .doc = "time between the last phase and what is looked at then"},
    {"checkers", KEY_MAP, offsetof(struct trials, checkers), .inner = &checker_keys, .schema = "\"$ref\": \"#/$defs/checkers\"", .doc = "what counts as suspicious"},
    {"experiments", KEY_MAP, 0, .inner = &experiment_keys, .schema = "\"$ref\": \"#/$defs/experiments\"",
     .fallback = "error: true", .doc = "what is done at a site; each is tried by itself"},
    {"policies", KEY_LIST, offsetof(struct trials, policy_names), .alone = true, .read = read_policy, .schema = AS_TEXT,
     .most = TRIALS_POLICIES_MAX, .fallback = "bsrr", .doc = "who chooses what fails: bsrr, random, new-state, exhaustive; each by itself"},
    {"budget", KEY_U32, offsetof(struct trials, budget), .least = 1, .most = 1000, .fallback = "5", .doc = "of bsrr: faults in a state, before others are preferred"},
    {"epsilon", KEY_OTHER, offsetof(struct trials, epsilon), .read = read_epsilon, .schema = AS_NUMBER, .fallback = "0.01",
     .doc = "of bsrr: share of trials in which the state in focus is met and nothing is done"},
    {"references", KEY_U32, offsetof(struct trials, references), .least = 1, .most = 100, .fallback = "3", .doc = "trials without faults, to begin with: what is usual"},
    {"control", KEY_U32, offsetof(struct trials, control), .most = 1000, .fallback = "0", .doc = "trials without faults that are judged like others: nothing should be suspicious"},
    {"repeat", KEY_U32, offsetof(struct trials, repeats), .most = 100, .fallback = "3", .doc = "what is suspicious is tried so often again, and then varied; 0: neither"},
    {"max-trials", KEY_U64, offsetof(struct trials, max_trials), .least = 1, .most = 1000000, .fallback = "200", .doc = "of each policy and experiment, at most"},
    {"max-time", KEY_DURATION, offsetof(struct trials, max_time_ns), .least = 1, .fallback = "1h", .doc = "of all trials, at most"},
    {"seed", KEY_U64, offsetof(struct trials, seed), .most = UINT64_MAX >> 1, .fallback = "0", .doc = "of all that is chosen by chance"},
    {"parallel", KEY_U32, offsetof(struct trials, parallel), .least = 1, .most = 64, .fallback = "1", .doc = "trials at a time"},
    {"harm", KEY_LIST, offsetof(struct trials, harmed), .alone = true, .read = read_item, .schema = AS_TEXT, .fallback = "all", .doc = "nodes in which faults are made"},
    {"only", KEY_LIST, offsetof(struct trials, only), .alone = true, .read = read_site, .schema = AS_TEXT, .fallback = "all",
     .doc = "sites that may fail: FILE:FUNCTION:CALLEE, each with * for anything; the callee of a function that fails itself is empty, as in *:parse:"},
    {"except", KEY_LIST, offsetof(struct trials, except), .alone = true, .read = read_site, .schema = AS_TEXT, .fallback = "none", .doc = "sites that may not"},
    {"registrars", KEY_LIST, .read = read_registrar, .inner = &registrar_keys, .most = 200, .schema = "\"$ref\": \"#/$defs/registrar\"",
     .doc = "functions that are given functions to run as tasks, besides those that outfox knows"},
    {"depth", KEY_U32, offsetof(struct trials, depth), .most = 10, .fallback = "2", .doc = "states of functions count that a task reaches by so many calls"},
};
/* clang-format on */
const struct keys trials_keys = {"a file of trials", "trials", KEY_ROWS(file_rows)};

void trials_schema(struct buf *out)
{
    keys_schema(&trials_keys, "a file of trials of outfox", out);
}
