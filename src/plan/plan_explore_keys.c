/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of `explore`: which other plans are derived from this one. */
#include "base/clock.h"
#include "data/yaml.h"
#include "plan/injector.h"
#include "plan/plan_int.h"

/* An event without its trigger; its target may be left out. What it says is checked as an event. */
static int read_template(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct plan *p = into;
    const struct node *fault = node_get(value, SLICE("fault"));
    const struct node *type = fault ? node_get(fault, SLICE("type")) : NULL;
    if (keys_want(r, key->name, value, NODE_MAP))
        return -1;
    if (!type || type->type != NODE_STR)
        return keys_fail(r, value, "each of \"faults\" needs fault: { type: kill }, say");
    if (!injector_find(type->text))
        return keys_fail(r, type, "there is no fault \"%.*s\"; outfox plan faults lists them",
                         SHORT(type->text));
    if (node_get(value, SLICE("trigger")))
        return keys_fail(r, node_get(value, SLICE("trigger")),
                         "the triggers of \"faults\" are derived: leave \"trigger\" out");
    vec_push(&p->explore.faults, value);
    return 0;
}

/* clang-format off */
static const struct key explore_rows[] = {
    {"faults", KEY_LIST, .read = read_template, .most = 50, .schema = "\"type\": \"object\"",
     .fallback = "kill and freeze, and where there are a network partition, doors of http http (delay), doors of tcp tcp-hold, each for a fifth of the run",
     .doc = "events without triggers; those without a target are aimed at each node in turn, those without a door at each door"},
    {"slots", KEY_U32, offsetof(struct plan, explore.slots), .most = 1000,
     .fallback = "3", .doc = "each fault at so many moments of the run"},
    {"lines", KEY_SWITCH, offsetof(struct plan, explore.lines),
     .fallback = "true", .doc = "each fault when a node prints a line, for each kind of line"},
    {"events", KEY_SWITCH, offsetof(struct plan, explore.events),
     .fallback = "true", .doc = "each fault at each event that clients tell of"},
    {"calls", KEY_SWITCH, offsetof(struct plan, explore.calls),
     .fallback = "true", .doc = "each fault at each call that services tell of by traces"},
    {"door-calls", KEY_U32, offsetof(struct plan, explore.door_calls), .most = 1000,
     .fallback = "2", .doc = "each fault at each call of doors of http, the first so many of each kind; a fault of calls is then meant for that call alone"},
    {"pairs", KEY_SWITCH, offsetof(struct plan, explore.pairs),
     .fallback = "false", .doc = "then also two faults in one run, of which each alone does no harm"},
    {"max-faults", KEY_U32, offsetof(struct plan, explore.most_faults), .least = 1, .most = 10,
     .fallback = "2", .doc = "faults of a run: what is new while a fault is on triggers another one, up to so many"},
    {"commands", KEY_TEXTS, offsetof(struct plan, explore.commands),
     .fallback = "none", .doc = "commands that derive more: what came of the reference on standard input, lists of events on standard output, as JSON"},
    {"max-runs", KEY_U64, offsetof(struct plan, explore.max_runs), .least = 1, .most = 1000000,
     .fallback = "100", .doc = "runs with faults, at most"},
    {"max-time", KEY_DURATION, offsetof(struct plan, explore.max_time_ns), .least = 1,
     .fallback = "1h", .doc = "time for all of them, at most"},
    {"repeat", KEY_U32, offsetof(struct plan, explore.repeat), .most = 100,
     .fallback = "1", .doc = "what breaks something is run so often again, to see whether it always does"},
};
/* clang-format on */
const struct keys plan_explore_keys = {"the exploration", "explore", KEY_ROWS(explore_rows)};

/* What holds where nothing is said. */
int plan_explore_defaults(struct plan *p, struct err *e)
{
    struct buf text = BUF_INIT(1000);
    const struct node *list;
    int64_t ms = p->duration_ns / 5000000;
    if (p->explore.faults.n)
        return 0;
    ms = ms ? ms : 1;
    buf_addf(&text,
             "- { fault: { type: kill }, duration: %lldms }\n"
             "- { fault: { type: freeze }, duration: %lldms }\n",
             (long long)ms, (long long)ms);
    if (p->network)
        buf_addf(&text, "- { fault: { type: partition }, duration: %lldms }\n", (long long)ms);
    bool tcp = false, http = false;
    for (uint32_t i = 0; i < p->doors.n; i++) {
        http = http || p->doors.at[i].protocol == DOOR_HTTP;
        tcp = tcp || p->doors.at[i].protocol == DOOR_TCP;
    }
    if (http)
        buf_addf(&text, "- { fault: { type: http, mode: delay:%lldms }, duration: %lldms }\n",
                 (long long)ms, (long long)ms);
    if (tcp)
        buf_addf(&text, "- { fault: { type: tcp-hold }, duration: %lldms }\n", (long long)ms);
    slice kept = buf_keep(&text, &p->arena);
    if (yaml_parse(kept, &p->arena, &list, e))
        return -1;
    for (uint32_t i = 0; i < list->n; i++)
        vec_push(&p->explore.faults, list->list[i]);
    return 0;
}
