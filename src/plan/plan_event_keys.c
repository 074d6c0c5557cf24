/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of events: what is done to whom, and when. */
#include "plan/injector.h"
#include "plan/plan_int.h"

static int read_type(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct plan_event *e = into;
    const char *names[64];
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
    t->at = plan_place_of(value);
    return plan_read_names(r, key, &t->names, value);
}

static int read_from(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct plan_from *f = &((struct plan_event *)into)->from;
    f->at = plan_place_of(value);
    return plan_read_names(r, key, &f->names, value);
}

static int read_trigger_line(struct keys_reader *r, const struct key *key, void *into,
                             const struct node *value)
{
    struct plan_trigger *t = into;
    return keys_regex(r, key->name, value, &t->pattern, &t->regex);
}

static int read_above(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct plan_trigger *t = into;
    bool above = strcmp(key->name, "above") == 0;
    *(above ? &t->has_above : &t->has_below) = true;
    return plan_read_value(r, key->name, value, above ? &t->above : &t->below);
}

#define NAMES_SCHEMA                                                                               \
    "\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"array\", \"items\": {\"type\": \"string\"}}]"
#define LINK_LATENCY_MAX UINT64_C(600000000000)
static const char *const answers[] = {"none", "nxdomain", "servfail", "refused", NULL};
static const char *signal_name(size_t i)
{
    return i < PLAN_SIGNALS ? plan_signals[i].name : NULL;
}
static const char *const directions[] = {"both", "out", "in", NULL};

/* clang-format off */
static const struct key fault_rows[] = {
    {"type", KEY_TEXT, offsetof(struct plan_event, type), .needed = "type: kill", .read = read_type,
     .doc = "what happens: outfox plan faults lists them; required"},
    {"target", KEY_OTHER, .read = read_target,
     .schema = NAMES_SCHEMA,
     .doc = "to whom: a node, a list of them, tag:WORD, host:NAME, role:NAME, all, any, any tag:WORD, match_trigger or not_trigger"},
    {"start", KEY_TEXT, offsetof(struct plan_event, start), .doc = "of exec: the command that does it"},
    {"undo", KEY_TEXT, offsetof(struct plan_event, undo),
     .doc = "of exec: the command that undoes it; it may be run twice"},
    {"path", KEY_TEXT, offsetof(struct plan_event, path), .doc = "of disk-full: a directory of a file system, instead of a target; of syscall: only files of this path, or below it, with `*` for anything"},
    {"size", KEY_OTHER, offsetof(struct plan_event, size), .read = plan_read_size,
     .schema = "\"type\": [\"string\", \"number\"]",
     .doc = "of memory and disk-full: how many bytes, such as 500M; of disk-full with a target: that are left"},
    {"count", KEY_U32, offsetof(struct plan_event, count), .least = 1, .most = 1000,
     .fallback = "1", .doc = "of cpu: how many processes"},
    {"signal", KEY_WORD, offsetof(struct plan_event, signal), .word = signal_name,
     .fallback = "of kill: KILL", .doc = "of kill and signal: which one"},
    {"code", KEY_U32, offsetof(struct plan_event, code), .most = 255,
     .fallback = "1", .doc = "of exit: the exit code"},
    {"offset", KEY_OTHER, offsetof(struct plan_event, clock.offset_ns), .read = plan_read_offset,
     .schema = AS_TEXT, .doc = "of clock: how wrong it is, such as 2h or -30s"},
    {"drift", KEY_OTHER, offsetof(struct plan_event, clock.drift_ppb), .read = plan_read_drift,
     .schema = "\"type\": [\"string\", \"number\"]",
     .doc = "of clock: how fast it is from then on, such as 1.5 or 0.5, or what it gains, such as 500ppm"},
    {"more", KEY_U32, offsetof(struct plan_event, more), .most = 100000,
     .fallback = "0", .doc = "of descriptors: how many each process can open on top of those that it has"},
    {"cpu", KEY_OTHER, offsetof(struct plan_event, limit.cpu), .read = plan_read_percent,
     .schema = AS_TEXT, .doc = "of limit: percent of one processor, such as 10%"},
    {"memory", KEY_OTHER, offsetof(struct plan_event, limit.memory), .read = plan_read_rate,
     .schema = "\"type\": [\"string\", \"number\"]",
     .doc = "of limit: how many bytes the node may take from then on, such as 100M"},
    {"processes", KEY_U32, offsetof(struct plan_event, limit.processes), .least = 1, .most = 4194304,
     .doc = "of limit: how many processes and threads the node may have"},
    {"on", KEY_TEXT, offsetof(struct plan_event, on), .fallback = "where the target is; without one, this machine",
     .doc = "of cpu, memory, disk-full and exec: the host where it happens"},
    {"from", KEY_OTHER, .read = read_from, .schema = NAMES_SCHEMA,
     .fallback = "all that are no targets; with target: all, all",
     .doc = "of partition, reset and link, the other side; of dns, who asks: nodes and clients, tag:WORD, all, nodes, clients, or any (one other node)"},
    {"direction", KEY_WORD, offsetof(struct plan_event, link.direction), .words = directions,
     .fallback = "both", .doc = "of partition and link: only what the target sends (out) or gets (in); of tcp, tcp-hold and tcp-limit: what the service does"},
    {"latency", KEY_DURATION, offsetof(struct plan_event, link.latency_ns), .least = 1, .most = LINK_LATENCY_MAX,
     .doc = "of link and tcp: how much later packets, or bytes, arrive; of dns: how much later answers do; of syscall: how much later the call is done; of disk-slow: how long operations take"},
    {"lookup", KEY_TEXT, offsetof(struct plan_event, lookup), .fallback = "all",
     .doc = "of dns: only of names that match this, with *"},
    {"answer", KEY_WORD, offsetof(struct plan_event, answer), .words = answers, .fallback = "as it is",
     .doc = "of dns: what is answered: nxdomain (there is no such name), servfail, refused, or none (nothing at all)"},
    {"jitter", KEY_DURATION, offsetof(struct plan_event, link.jitter_ns), .least = 1, .most = LINK_LATENCY_MAX,
     .doc = "of link, tcp and disk-slow: and up to so much more, by the seed; packets and bytes keep their order"},
    {"loss", KEY_OTHER, offsetof(struct plan_event, link.loss), .read = plan_read_chance,
     .schema = "\"type\": \"number\", \"minimum\": 0, \"maximum\": 1",
     .doc = "of link: how probable it is that a packet is lost"},
    {"bandwidth", KEY_OTHER, offsetof(struct plan_event, link.bandwidth), .read = plan_read_rate,
     .schema = "\"type\": [\"string\", \"number\"]",
     .doc = "of link and tcp: bytes per second each way, such as 64K; of disk-slow: bytes per second"},
    {"operation", KEY_WORD, offsetof(struct plan_event, disk.operation), .words = plan_operations,
     .fallback = "all", .doc = "of disk-slow and disk-error: which operations"},
    {"file", KEY_TEXT, offsetof(struct plan_event, disk.file), .fallback = "all",
     .doc = "of disk-slow and disk-error: only files whose path on the disk is like this: pg_wal/*"},
    {"call", KEY_OTHER, .read = plan_read_call, .schema = NAMES_SCHEMA,
     .doc = "of syscall: which calls, by name or by group (writes, syncs ...): outfox plan calls lists them"},
    {"error", KEY_OTHER, .read = plan_read_error, .schema = "\"type\": \"string\"",
     .doc = "of syscall: they are not done, and fail with it: EIO, ENOSPC ...; of disk-error: which one, EIO if none is named"},
    {"short", KEY_OTHER, .read = plan_read_short, .schema = "\"type\": [\"boolean\", \"number\"]",
     .doc = "of syscall: so much of the bytes is read or written, and the call says so; true: a half"},
    {"descriptor", KEY_OTHER, .read = plan_read_descriptor, .schema = "\"type\": \"integer\", \"minimum\": 0",
     .fallback = "any", .doc = "of syscall: only calls on this descriptor"},
    {"nth", KEY_U32, offsetof(struct plan_event, calls.nth), .least = 1, .most = 1000000000,
     .fallback = "1; all at doors", .doc = "of syscall: from the nth call that is meant on, since the fault began; of faults of doors: the nth connection or call alone"},
    {"times", KEY_U32, offsetof(struct plan_event, calls.times), .least = 1, .most = 1000000000,
     .fallback = "as long as the fault lasts", .doc = "of syscall: so many calls, and then no more; of disk-error: operations"},
    {"chance", KEY_OTHER, offsetof(struct plan_event, calls.chance), .read = plan_read_millionths,
     .schema = "\"type\": \"number\", \"minimum\": 0, \"maximum\": 1",
     .fallback = "1", .doc = "of syscall and http: how probable it is for each call; by the seed"},
    {"door", KEY_TEXT, offsetof(struct plan_event, steer.door),
     .doc = "of tcp, tcp-hold, tcp-reset, tcp-limit, tcp-down and http: the door where it happens"},
    {"slice", KEY_OTHER, offsetof(struct plan_event, steer.slice), .read = plan_read_rate,
     .schema = "\"type\": [\"string\", \"number\"]", .doc = "of tcp: so many bytes are written at once, at most"},
    {"pause", KEY_DURATION, offsetof(struct plan_event, steer.pause_ns), .least = 1, .most = LINK_LATENCY_MAX,
     .fallback = "none", .doc = "of tcp: time between slices"},
    {"slow-close", KEY_DURATION, offsetof(struct plan_event, steer.close_ns), .least = 1, .most = LINK_LATENCY_MAX,
     .doc = "of tcp: how much later the other side is told that a connection has ended"},
    {"bytes", KEY_OTHER, offsetof(struct plan_event, steer.bytes), .read = plan_read_rate,
     .schema = "\"type\": [\"string\", \"number\"]", .doc = "of tcp-limit: how many pass, such as 1M"},
    {"every", KEY_U32, offsetof(struct plan_event, steer.every), .least = 1, .most = 1000000,
     .fallback = "1", .doc = "of faults of doors: only each so-manieth of them"},
    {"mode", KEY_OTHER, offsetof(struct plan_event, steer.mode), .read = plan_read_mode,
     .schema = "\"type\": [\"string\", \"number\"]", .doc = "of http: how calls fail, a mode such as 503, reset or delay:2s"},
    {"calls", KEY_OTHER, offsetof(struct plan_event, steer.calls), .read = plan_read_calls, .schema = "\"type\": \"string\"",
     .fallback = "all", .doc = "of http: which calls, such as POST /charge or GET /items/*"},
};
const struct keys plan_fault_keys = {"a fault", "fault", KEY_ROWS(fault_rows)};

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
    {"metric", KEY_TEXT, offsetof(struct plan_trigger, metric),
     .doc = "when a sample of this metric crosses the bound that above or below says"},
    {"above", KEY_OTHER, .read = read_above, .schema = AS_VALUE, .doc = "of metric: it comes to be more than this"},
    {"below", KEY_OTHER, .read = read_above, .schema = AS_VALUE, .doc = "of metric: it comes to be less than this"},
    {"span", KEY_TEXT, offsetof(struct plan_trigger, span),
     .doc = "when a service tells of a call by a trace: \"SERVICE NAME\", in which * stands for anything"},
    {"call", KEY_OTHER, offsetof(struct plan_trigger, calls), .read = plan_read_calls, .schema = "\"type\": \"string\"",
     .doc = "when such a call arrives at a door of http, as POST /charge or GET /items/*: before it goes on"},
    {"connection", KEY_TEXT, offsetof(struct plan_trigger, door), .doc = "when somebody connects to this door of tcp"},
    {"door", KEY_TEXT, offsetof(struct plan_trigger, door), .fallback = "all", .doc = "of call: only at this door"},
    {"manual", KEY_SWITCH, offsetof(struct plan_trigger, manual),
     .doc = "true: when outfox plan fire says so"},
    {"of", KEY_TEXT, offsetof(struct plan_trigger, of),
     .fallback = "all", .doc = "of line and event: only what this node or client prints; of metric: only whose it is"},
    {"nth", KEY_U32, offsetof(struct plan_trigger, nth), .least = 1, .most = 1000000,
     .fallback = "1", .doc = "which time"},
    {"delay", KEY_DURATION, offsetof(struct plan_trigger, delay_ns),
     .fallback = "none", .doc = "how long to wait then"},
    {"chance", KEY_OTHER, offsetof(struct plan_trigger, chance), .read = plan_read_chance,
     .schema = "\"type\": \"number\", \"minimum\": 0, \"maximum\": 1",
     .fallback = "1", .doc = "how probable it is that it happens then; by the seed"},
};
static const struct keys trigger_keys = {"a trigger", "trigger", KEY_ROWS(trigger_rows)};
/* clang-format on */

static int read_fault(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    ((struct plan_event *)into)->fault = value;
    return keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &plan_fault_keys, into, value)
               ? -1
               : 0;
}

/* Which of its keys says when. */
static int read_trigger(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    static const struct {
        const char *key;
        enum plan_trigger_kind kind;
    } kinds[] = {
        {"at", TRIGGER_TIME},      {"line", TRIGGER_LINE},   {"event", TRIGGER_EVENT},
        {"began", TRIGGER_BEGAN},  {"ended", TRIGGER_ENDED}, {"metric", TRIGGER_METRIC},
        {"span", TRIGGER_SPAN},    {"call", TRIGGER_CALL},   {"connection", TRIGGER_CONNECTION},
        {"manual", TRIGGER_MANUAL}};
    struct plan_trigger *t = &((struct plan_event *)into)->trigger;
    uint32_t found = 0;
    if (keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &trigger_keys, t, value))
        return -1;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (node_get(value, slice_of(kinds[i].key))) {
            t->kind = kinds[i].kind;
            found++;
        }
    t->written = value;
    t->place = plan_place_of(value);
    if (found != 1)
        return keys_fail(r, value,
                         "a trigger has exactly one of at, line, event, metric, span, began, "
                         "ended, call, connection and manual");
    if (t->kind == TRIGGER_MANUAL && !t->manual)
        return keys_fail(r, value, "\"manual\" is true, or left out");
    if (t->has_above + t->has_below != (t->kind == TRIGGER_METRIC))
        return keys_fail(r, value,
                         "a trigger of a metric, and no other, has either above or below");
    return 0;
}

/* clang-format off */
static const struct key event_rows[] = {
    {"name", KEY_TEXT, offsetof(struct plan_event, name),
     .fallback = "its type", .doc = "what it is called; needed where two have the same type"},
    {"fault", KEY_OTHER, .read = read_fault, .inner = &plan_fault_keys, .needed = "fault: { type: kill, target: NODE }",
     .schema = "\"$ref\": \"#/$defs/fault\"", .doc = "what is done to whom; required"},
    {"trigger", KEY_OTHER, .read = read_trigger, .inner = &trigger_keys, .needed = "trigger: { at: 3s }",
     .schema = "\"$ref\": \"#/$defs/trigger\"", .doc = "when; required"},
    {"duration", KEY_DURATION, offsetof(struct plan_event, duration_ns), .least = 1,
     .fallback = "until the run ends", .doc = "how long"},
    {"until", KEY_TEXT, offsetof(struct plan_event, until),
     .doc = "end it when a client prints \"event NAME\", at the latest after duration"},
};
const struct keys plan_event_keys = {"an event", "event", KEY_ROWS(event_rows)};
/* clang-format on */

int plan_read_event(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct plan *p = into;
    struct plan_event e = {
        .at = plan_place_of(value),
        .answer = LOOKUP_TRUE,
        .calls = {.fd = -1, .nth = 1, .chance = SYSCALL_MILLION},
        .code = 1,
        .trigger = {.nth = 1, .chance = 1, .node = PLAN_NONE, .client = PLAN_NONE}};
    int status =
        keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &plan_event_keys, &e, value) ? -1
                                                                                              : 0;
    if (!e.name.n)
        e.name = e.type;
    vec_push(&p->events, e);
    return status;
}
