/* SPDX-License-Identifier: Apache-2.0
 *
 * The names of a model's protocol and ours, as tables. In a model everything is text, times are
 * milliseconds, and a duration of 0 lasts to the end. */
#include "plan/yafi.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "data/json.h"
#include "plan/injector.h"

#define FAIL(e, at, ...) err_set(e, (at)->line, (at)->col, __VA_ARGS__)

/* Which fault a type is, and what its `config` says. The first row of ours is how it is written. */
static const struct fault_row {
    const char *yafi, *ours, *key, *unit;
    /* key: of the config; NULL: it has none. unit: written behind it */
    const char *direction;
} faults[] = {
    {"delay", "link", "latency", "ms", NULL},
    {"loss", "link", "loss", "", NULL},
    {"bandwidth", "link", "bandwidth", "", NULL},
    {"partition", "partition", NULL, NULL, NULL},
    {"full_partition", "partition", NULL, NULL, NULL},
    {"partial_partition", "partition", "from", "", NULL},
    {"simplex_partition", "partition", NULL, NULL, "out"},
    {"reset", "reset", NULL, NULL, NULL},
    {"kill", "kill", NULL, NULL, NULL},
    {"crash", "kill", NULL, NULL, NULL},
    {"restart", "restart", NULL, NULL, NULL},
    {"stop", "freeze", NULL, NULL, NULL},
    {"freeze", "freeze", NULL, NULL, NULL},
    {"cpu", "cpu", "count", "", NULL},
    {"memory", "memory", "size", "", NULL},
};
enum { FAULTS = sizeof faults / sizeof *faults };

static slice text_of(const struct node *map, const char *key)
{
    const struct node *value = map ? node_get(map, slice_of(key)) : NULL;
    return value && value->type != NODE_LIST && value->type != NODE_MAP ? value->text : SLICE("");
}

/* ---- a model into a plan ---- */

/* The type and the config stand beside `occurrence` or in it: both are written. */
static slice fault_text(const struct node *fault, const char *key)
{
    slice own = text_of(fault, key);
    return own.n ? own : text_of(node_get(fault, SLICE("occurrence")), key);
}

static const struct fault_row *find_fault(slice type)
{
    for (size_t i = 0; i < FAULTS; i++)
        if (slice_eq_nocase(type, slice_of(faults[i].yafi)))
            return &faults[i];
    return NULL;
}

/* all, any, match_trigger, or names with commas between. */
static void put_target(struct json_out *j, const char *key, slice text)
{
    slice name;
    bool several = slice_find(text, ',') < text.n;
    if (several)
        json_list(j, key);
    while (slice_cut(&text, ',', &name))
        json_str(j, several ? NULL : key, slice_trim(name));
    if (several)
        json_list_end(j);
}

static int put_fault(struct json_out *j, const struct node *event, struct err *e)
{
    const struct node *fault = node_get(event, SLICE("fault"));
    slice type = fault_text(fault, "type"), config = fault_text(fault, "config");
    slice target = text_of(node_get(fault, SLICE("occurrence")), "target");
    const struct fault_row *row = find_fault(type);
    if (!row)
        return FAIL(
            e, fault,
            "the fault \"%.*s\" has none that is like it here: outfox plan faults lists those "
            "there are",
            SHORT(type));
    if (row->key && !config.n)
        return FAIL(e, fault, "the fault \"%.*s\" needs \"config\"", SHORT(type));
    json_map(j, "fault");
    json_text(j, "type", row->ours);
    if (target.n && injector_aims(injector_find(slice_of(row->ours))))
        put_target(j, "target", target);
    if (row->key) {
        char room[200];
        (void)snprintf(room, sizeof room, "%.*s%s", SHORT(config), row->unit);
        uint64_t number;
        if (!row->unit[0] && slice_to_u64(config, UINT32_MAX, &number))
            json_uint(j, row->key, number);
        else if (slice_is(slice_of(row->key), "loss"))
            json_num(j, row->key, strtod(room, NULL));
        else
            put_target(j, row->key, slice_of(room));
    }
    if (row->direction)
        json_text(j, "direction", row->direction);
    json_map_end(j);
    return 0;
}

static int put_ms(struct json_out *j, const char *key, const struct node *at, slice text,
                  struct err *e)
{
    char room[40];
    uint64_t ms;
    if (!slice_to_u64(text, UINT32_MAX, &ms))
        return FAIL(e, at, "\"%s\" of a trigger is milliseconds, not \"%.*s\"", key, SHORT(text));
    (void)snprintf(room, sizeof room, "%" PRIu64 "ms", ms);
    json_text(j, key, room);
    return 0;
}

/* clock and time wait for a moment; any other type is the name of an event, NAME or NAME:VALUE. */
static int put_trigger(struct json_out *j, const struct node *event, struct err *e)
{
    const struct node *trigger = node_get(event, SLICE("trigger"));
    const struct node *arguments = trigger ? node_get(trigger, SLICE("arguments")) : NULL;
    slice type = text_of(trigger, "type"), time = text_of(arguments, "time");
    slice name, duration = text_of(arguments, "duration");
    int status = 0;
    if (!type.n)
        return FAIL(e, event, "an event needs \"trigger\" with a \"type\"");
    json_map(j, "trigger");
    if (slice_is(type, "clock") || slice_is(type, "time")) {
        status = put_ms(j, "at", trigger, time.n ? time : SLICE("0"), e);
    } else {
        (void)slice_cut(&type, ':', &name);
        json_str(j, "event", name);
        if (type.n)
            json_str(j, "value", type);
        if (time.n && !slice_is(time, "0"))
            status = put_ms(j, "delay", trigger, time, e);
    }
    json_map_end(j);
    if (!status && duration.n && !slice_is(duration, "0"))
        status = put_ms(j, "duration", trigger, duration, e);
    return status;
}

/* Does some fault harm links? Then hosts need addresses of their own. */
static bool needs_network(const struct node *events)
{
    for (uint32_t i = 0; i < events->n; i++) {
        const struct fault_row *row =
            find_fault(fault_text(node_get(events->list[i], SLICE("fault")), "type"));
        const struct injector *in = row ? injector_find(slice_of(row->ours)) : NULL;
        if (in && in->kind == INJECT_LINK)
            return true;
    }
    return false;
}

static int put_events(struct json_out *j, const struct node *events, struct err *e)
{
    json_list(j, "events");
    for (uint32_t i = 0; i < events->n; i++) {
        const struct node *event = events->list[i];
        if (event->type != NODE_MAP || !node_get(event, SLICE("fault")))
            return FAIL(e, event, "an event is a map with \"fault\" and \"trigger\"");
        char name[40];
        (void)snprintf(name, sizeof name, "event-%u", i + 1);
        json_map(j, NULL);
        json_text(j, "name", name);
        if (put_fault(j, event, e) || put_trigger(j, event, e))
            return -1;
        json_map_end(j);
    }
    json_list_end(j);
    return 0;
}

/* What only the user knows is written so that it fails until it is filled in. */
static void put_hosts(struct json_out *j, const struct node *hosts, bool network)
{
    if (network)
        json_text(j, "network", "198.18.77.0/24");
    json_map(j, "nodes");
    for (uint32_t i = 0; hosts && hosts->type == NODE_LIST && i < hosts->n; i++) {
        const struct node *tags = node_get(hosts->list[i], SLICE("tags"));
        json_key(j, text_of(hosts->list[i], "uid"));
        json_map(j, NULL);
        json_text(j, "start", "echo fill in the command that starts this host >&2; exit 1");
        if (tags && tags->type == NODE_LIST)
            json_node(j, "tags", tags);
        json_map_end(j);
    }
    json_map_end(j);
    json_map(j, "clients");
    json_map(j, "workload");
    json_text(j, "command", "echo fill in what exercises the system >&2; exit 1");
    json_text(j, "every", "1s");
    json_map_end(j);
    json_map_end(j);
    json_list(j, "expect");
    json_map(j, NULL);
    json_int(j, "availability", 99);
    json_map_end(j);
    json_list_end(j);
}

int yafi_to_plan(const struct node *model, const char *name, const char *system, struct buf *out,
                 struct err *e)
{
    const struct node *events = node_get(model, SLICE("events"));
    struct json_out j = json_out(out, JSON_PRETTY);
    if (!events || events->type != NODE_LIST)
        return FAIL(e, model, "a fault model of YAFI has a list of \"events\"");
    json_map(&j, NULL);
    json_int(&j, "version", 1);
    json_text(&j, "plan", name);
    if (system)
        json_text(&j, "extends", system);
    else
        put_hosts(&j, node_get(model, SLICE("hosts")), needs_network(events));
    if (put_events(&j, events, e))
        return -1;
    json_map_end(&j);
    buf_addc(out, '\n');
    return 0;
}

/* ---- a plan into a model ---- */

static void host_put(struct json_out *j, const struct plan *p, uint32_t i)
{
    const struct plan_node *n = &p->nodes.at[i];
    char ip[40] = "127.0.0.1";
    if (p->network)
        (void)snprintf(ip, sizeof ip, "%u.%u.%u.%u", p->network >> 24, p->network >> 16 & 255,
                       p->network >> 8 & 255, i + 1);
    json_map(j, NULL);
    json_str(j, "uid", n->name);
    json_text(j, "ip", ip);
    json_int(j, "port", 0);
    json_list(j, "tags");
    for (uint32_t k = 0; k < n->tags.n; k++)
        json_str(j, NULL, n->tags.at[k]);
    json_list_end(j);
    json_map_end(j);
}

/* The row that says most of the fault. */
static const struct fault_row *row_of(const struct plan_event *e)
{
    const struct fault_row *plain = NULL;
    for (size_t i = FAULTS; i-- > 0;) {
        const struct fault_row *r = &faults[i];
        if (!slice_is(e->type, r->ours) || (r->direction && e->link.direction != LINK_OUT))
            continue;
        if (r->direction || (r->key && node_get(e->fault, slice_of(r->key))))
            return r;
        plain = r->key ? plain : r;
    }
    return plain;
}

static void put_joined(struct json_out *j, const char *key, const struct texts *names)
{
    struct buf text = BUF_INIT(10000);
    for (uint32_t i = 0; i < names->n; i++)
        buf_addf(&text, "%s%.*s", i ? "," : "", SLICE_ARG(names->at[i]));
    json_take(j, key, &text);
    buf_deinit(&text);
}

static void put_config(struct json_out *j, const struct plan_event *e, const struct fault_row *r)
{
    char room[40];
    if (slice_is(slice_of(r->key), "from")) {
        put_joined(j, "config", &e->from.names);
    } else if (slice_is(slice_of(r->key), "latency")) {
        (void)snprintf(room, sizeof room, "%" PRId64, e->link.latency_ns / 1000000);
        json_text(j, "config", room);
    } else {
        json_str(j, "config", text_of(e->fault, r->key));
    }
}

static void put_number(struct json_out *j, const char *key, int64_t ns)
{
    char room[40];
    (void)snprintf(room, sizeof room, "%" PRId64, ns / 1000000);
    json_text(j, key, room);
}

static bool event_put(struct json_out *j, const struct plan_event *e)
{
    const struct fault_row *r = row_of(e);
    const struct plan_trigger *t = &e->trigger;
    if (!r || (t->kind != TRIGGER_TIME && t->kind != TRIGGER_EVENT))
        return false;
    json_map(j, NULL);
    json_map(j, "fault");
    json_text(j, "type", r->yafi);
    if (r->key)
        put_config(j, e, r);
    json_map(j, "occurrence");
    json_text(j, "timing", "once");
    put_joined(j, "target", &e->target.names);
    json_map_end(j);
    json_map_end(j);
    json_map(j, "trigger");
    struct buf type = BUF_INIT(1000);
    if (t->kind == TRIGGER_TIME)
        buf_adds(&type, "clock");
    else
        buf_addf(&type, "%.*s%s%.*s", SLICE_ARG(t->event), t->value.n ? ":" : "",
                 SLICE_ARG(t->value));
    json_take(j, "type", &type);
    buf_deinit(&type);
    json_map(j, "arguments");
    put_number(j, "time", t->kind == TRIGGER_TIME ? t->at_ns + t->delay_ns : t->delay_ns);
    put_number(j, "duration", e->duration_ns);
    json_map_end(j);
    json_map_end(j);
    json_map_end(j);
    return true;
}

void yafi_from_plan(const struct plan *p, struct buf *out, struct buf *lost)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_list(&j, "hosts");
    for (uint32_t i = 0; i < p->nodes.n; i++)
        host_put(&j, p, i);
    json_list_end(&j);
    json_list(&j, "events");
    for (uint32_t i = 0; i < p->events.n; i++)
        if (!event_put(&j, &p->events.at[i]))
            buf_addf(lost, "%.*s: a fault model cannot say this fault or trigger\n",
                     SLICE_ARG(p->events.at[i].name));
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
}
