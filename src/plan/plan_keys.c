/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of a plan, of its nodes and of its clients: tables. Here and in the other files of keys
 * only what one map says is looked at; what must hold between them is plan.c's. */
#include <arpa/inet.h>

#include "base/clock.h"
#include "plan/plan_int.h"

/* clang-format off */
static int read_disk(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    return keys_name(r, *(slice *)key_field(key, into), value->line, value->col,
                     "the directory of a disk", false);
}

static const struct key node_rows[] = {
    {"start", KEY_TEXT, offsetof(struct plan_node, start), .needed = "start: COMMAND",
     .doc = "command that is the node, run by /bin/sh; it stays in the foreground; required"},
    {"ready", KEY_TEXT, offsetof(struct plan_node, ready),
     .fallback = "ready when started", .doc = "command that is tried until it succeeds"},
    {"ready-within", KEY_DURATION, offsetof(struct plan_node, ready_ns), .least = 1,
     .fallback = "30s", .doc = "time limit of ready"},
    {"dir", KEY_TEXT, offsetof(struct plan_node, dir),
     .fallback = "that of the plan", .doc = "directory of the node, made if it is not there"},
    {"disk", KEY_TEXT, offsetof(struct plan_node, disk), .fallback = "none", .read = read_disk,
     .doc = "name of a directory that is a disk of its own, which faults can harm: $OUTFOX_DISK"},
    {"tags", KEY_TEXTS, offsetof(struct plan_node, tags),
     .fallback = "none", .doc = "words by which targets name several nodes: tag:WORD"},
    {"env", KEY_PAIRS, offsetof(struct plan_node, env), .pair = plan_check_env,
     .doc = "variables of its environment"},
    {"on", KEY_TEXT, offsetof(struct plan_node, on), .fallback = "this machine",
     .doc = "host where it runs: a name of hosts"},
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
    {"env", KEY_PAIRS, offsetof(struct plan_client, env), .pair = plan_check_env,
     .doc = "variables of its environment"},
    {"on", KEY_TEXT, offsetof(struct plan_client, on), .fallback = "this machine",
     .doc = "host where it runs: a name of hosts"},
};
static const struct keys client_keys = {"a client", "client", KEY_ROWS(client_rows)};
/* clang-format on */

static int read_node(struct keys_reader *r, const struct key *key, void *into,
                     const struct node_pair *pair)
{
    struct plan *p = into;
    struct plan_node n = {
        .name = pair->key, .ready_ns = SECONDS(30), .at = {pair->line, pair->col}};
    int status = plan_pair_name(r, key, pair, "the name of a node") ||
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
    if (plan_pair_name(r, key, pair, "the name of a role") ||
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
    int status = plan_pair_name(r, key, pair, "the name of a client") ||
                         keys_want(r, key->name, pair->value, NODE_MAP) ||
                         keys_read(r, &client_keys, &c, pair->value)
                     ? -1
                     : 0;
    vec_push(&p->clients, c);
    return status;
}

/* ---- the file ---- */

/* A.B.C.0/24. */
static int read_network(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    uint32_t *network = key_field(key, into);
    char text[INET_ADDRSTRLEN] = "";
    slice s = value->text;
    struct in_addr at;
    if (value->type == NODE_STR && s.n > 3 && s.n - 3 < sizeof text &&
        !memcmp(s.p + s.n - 3, "/24", 3))
        memcpy(text, s.p, s.n - 3);
    *network = inet_pton(AF_INET, text, &at) == 1 ? ntohl(at.s_addr) : 0;
    uint32_t first = *network >> 24;
    return first != 0 && first != 127 && first < 224 && (*network & 255) == 0
               ? 0
               : keys_fail(r, value, "\"%s\" must be a network of IPv4 such as 198.18.77.0/24",
                           key->name);
}

/* clang-format off */
static const struct key plan_rows[] = {
    {"version", KEY_U32, offsetof(struct plan, version), .least = 1, .most = 1, .needed = "version: 1",
     .doc = "of this format: 1; required"},
    {"plan", KEY_TEXT, offsetof(struct plan, name), .needed = "plan: NAME", .doc = "name of the plan; required"},
    {"extends", KEY_TEXT, offsetof(struct plan, extends),
     .doc = "another plan, a file: what it has holds here too, where this file does not say otherwise; commands run in its directory"},
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
    {"env", KEY_PAIRS, offsetof(struct plan, env), .pair = plan_check_env,
     .doc = "variables of the environment of all commands"},
    {"before", KEY_TEXT, offsetof(struct plan, before), .doc = "command before each run, when no node is started"},
    {"after", KEY_TEXT, offsetof(struct plan, after), .doc = "command after each run, when all nodes have ended"},
    {"within", KEY_DURATION, offsetof(struct plan, within_ns), .least = 1,
     .fallback = "30s", .doc = "time limit of before and after"},
    {"network", KEY_OTHER, offsetof(struct plan, network), .read = read_network, .schema = AS_TEXT,
     .fallback = "that of this machine",
     .doc = "a network of its own, such as 198.18.77.0/24: nodes, then clients, have .1, .2, ... in it"},
    {"hosts", KEY_EACH, .pair = plan_read_host, .inner = &plan_host_keys, .most = PLAN_HOSTS_MAX,
     .schema = "\"$ref\": \"#/$defs/host\"", .doc = "other places where nodes and clients can run, and how commands get there"},
    {"nodes", KEY_EACH, .pair = read_node, .inner = &node_keys, .most = PLAN_NODES_MAX,
     .schema = "\"$ref\": \"#/$defs/node\"", .doc = "processes of the system, started in this order"},
    {"doors", KEY_EACH, .pair = plan_read_door, .inner = &plan_door_keys, .most = PLAN_DOORS_MAX,
     .schema = "\"$ref\": \"#/$defs/door\"",
     .doc = "proxies of ours, between those that call and what they call: faults and triggers of connections and calls"},
    {"ready", KEY_TEXT, offsetof(struct plan, ready),
     .fallback = "when all nodes are", .doc = "command that is tried until it succeeds, when all nodes are ready: the system is"},
    {"ready-within", KEY_DURATION, offsetof(struct plan, ready_ns), .least = 1,
     .fallback = "60s", .doc = "time limit of ready"},
    {"roles", KEY_EACH, .pair = read_role, .most = 100, .schema = AS_TEXT,
     .doc = "nodes that are found when they are needed: a command that prints the node's name"},
    {"clients", KEY_EACH, .pair = read_client, .inner = &client_keys, .least = 1, .most = PLAN_CLIENTS_MAX,
     .schema = "\"$ref\": \"#/$defs/client\"", .doc = "what exercises the system; required"},
    {"events", KEY_LIST, .read = plan_read_event, .inner = &plan_event_keys, .most = PLAN_EVENTS_MAX,
     .schema = "\"$ref\": \"#/$defs/event\"", .doc = "the faults: what happens to whom, and when"},
    {"collect", KEY_LIST, .read = plan_read_collect, .inner = &plan_collect_keys, .most = PLAN_COLLECTORS_MAX,
     .schema = "\"$ref\": \"#/$defs/collect\"", .doc = "where numbers come from while a run lasts, besides those of each node"},
    {"explore", KEY_MAP, 0, .inner = &plan_explore_keys, .schema = "\"$ref\": \"#/$defs/explore\"",
     .doc = "which other plans outfox plan explore derives from this one"},
    {"expect", KEY_LIST, .read = plan_read_expect, .inner = &plan_expect_keys, .least = 1,
     .schema = "\"$ref\": \"#/$defs/expect\"", .doc = "what must hold all the same; required"},
};
const struct keys plan_keys = {"a plan", "plan", KEY_ROWS(plan_rows)};
/* clang-format on */

void plan_schema(struct buf *out)
{
    keys_schema(&plan_keys, "a failure plan of outfox", out);
}
