/* SPDX-License-Identifier: Apache-2.0
 *
 * Candidates as nodes, as if somebody had written them: so a finding is a file that can be read, and
 * whatever a plan can say can be derived. */
#include "plan/derive.h"

#include <stdio.h>

#include "base/hash.h"
#include "base/index.h"
#include "data/json.h"
#include "plan/injector.h"
#include "plan/result.h"

enum { SHAPE_BYTES_MAX = 160, WHY_BYTES_MAX = 60, TRIGGER_KEYS_MAX = 4 };

struct derive {
    const struct plan *plan;
    struct arena arena;
    struct intern keys;   /* of candidates, as text */
    struct intern sights; /* likewise */
    VEC(struct candidate *) queue;
    VEC(const struct candidate *) held;
    uint32_t next; /* in the queue */
    bool slots_done, left_out;
};

void derive_free(struct derive *d)
{
    if (!d)
        return;
    intern_deinit(&d->keys);
    intern_deinit(&d->sights);
    vec_deinit(&d->queue);
    vec_deinit(&d->held);
    arena_deinit(&d->arena);
    mem_free(d);
}

/* ---- nodes that are made ---- */

static void put(struct node *map, const char *key, const struct node *value)
{
    map->map[map->n++] = (struct node_pair){slice_of(key), 0, 0, value};
}

static void put_text(struct derive *d, struct node *map, const char *key, slice text)
{
    put(map, key, node_str(&d->arena, text));
}

/* As if it had been read: keys look at the text. */
static const struct node *number_of(struct derive *d, uint32_t number)
{
    struct node *node = arena_alloc(&d->arena, sizeof *node);
    *node = *node_num(&d->arena, number);
    node->text = slice_of(arena_printf(&d->arena, "%u", number));
    return node;
}

static struct node *new_map(struct derive *d, uint32_t room)
{
    struct node *map = node_map(&d->arena, room);
    map->n = 0;
    return map;
}

/* ---- candidates ---- */

/* Puts it at the end of the queue, if it is new. */
static void queue_put(struct derive *d, const struct node *events, slice why)
{
    struct buf key = BUF_INIT(1 << 20);
    struct json_out j = json_out(&key, JSON_COMPACT);
    json_node(&j, NULL, events);
    uint32_t known = d->keys.text.n;
    bool is_new = intern_put_in(&d->keys, &d->keys.arena, buf_slice(&key)) == known;
    buf_deinit(&key);
    if (!is_new)
        return;
    if (d->queue.n == DERIVE_CANDIDATES_MAX) {
        d->left_out = true;
        return;
    }
    struct candidate *c = arena_alloc(&d->arena, sizeof *c);
    *c = (struct candidate){events, events->n, slice_copy(&d->arena, why)};
    vec_push(&d->queue, c);
}

/* What a fault is aimed at: texts that it has not. */
struct aim {
    slice target, door;
    slice calls; /* of calls: the next one of these */
};

enum { AIM_KEYS = 3 };

/* The fault of a template with its aim, and what the event has besides. */
static const struct node *event_of(struct derive *d, const struct node *template,
                                   const struct aim *at, slice name, const struct node *trigger)
{
    const struct node *fault = node_get(template, SLICE("fault"));
    struct node *own = new_map(d, fault->n + AIM_KEYS), *event = new_map(d, template->n + 3);
    for (uint32_t i = 0; i < fault->n; i++)
        own->map[own->n++] = fault->map[i];
    if (at->target.n)
        put_text(d, own, "target", at->target);
    if (at->door.n)
        put_text(d, own, "door", at->door);
    if (at->calls.n) {
        put_text(d, own, "calls", at->calls);
        put(own, "nth", number_of(d, 1));
    }
    node_seal(own);
    put_text(d, event, "name", name);
    put(event, "fault", own);
    put(event, "trigger", trigger);
    for (uint32_t i = 0; i < template->n; i++)
        if (!slice_is(template->map[i].key, "fault") && !slice_is(template->map[i].key, "name"))
            event->map[event->n++] = template->map[i];
    node_seal(event);
    return event;
}

/* One event after those that there are. */
static const struct node *events_with(struct derive *d, const struct node *before,
                                      const struct node *event)
{
    uint32_t n = before ? before->n : 0;
    struct node *all = node_list(&d->arena, n + 1);
    for (uint32_t i = 0; i < n; i++)
        all->list[i] = before->list[i];
    all->list[n] = event;
    node_seal(all);
    return all;
}

/* On which node it happened; PLAN_NONE: on none that is known. */
static int32_t sight_node(const struct plan *p, const struct sight *s)
{
    return s->node != PLAN_NONE     ? s->node
           : s->kind == SIGHT_EVENT ? plan_node(p, s->value)
                                    : PLAN_NONE;
}

static void aim_put(struct derive *d, const struct node *before, const struct node *template,
                    const struct aim *at, const struct node *trigger, slice why)
{
    slice type = node_get(node_get(template, SLICE("fault")), SLICE("type"))->text;
    slice whom = at->target.n ? at->target : at->door;
    const char *number = before ? arena_printf(&d->arena, "-%u", before->n + 1) : "";
    const char *name = arena_printf(&d->arena, "%.*s%s%.*s%s", SLICE_ARG(type), whom.n ? "-" : "",
                                    SLICE_ARG(whom), number);
    queue_put(d, events_with(d, before, event_of(d, template, at, slice_of(name), trigger)), why);
}

/* At each door that it can happen at; of calls, where one was seen, at that one. */
static void aim_doors(struct derive *d, const struct node *before, const struct node *template,
                      const struct sight *s, const struct node *trigger, slice why)
{
    const struct plan *p = d->plan;
    const struct node *fault = node_get(template, SLICE("fault"));
    bool calls = slice_is(node_get(fault, SLICE("type"))->text, "http");
    bool this = calls && s && s->kind == SIGHT_CALL && !node_get(fault, SLICE("calls"));
    for (uint32_t i = 0; i < p->doors.n; i++) {
        struct aim at = {.door = p->doors.at[i].name};
        if ((p->doors.at[i].protocol == DOOR_HTTP) != calls ||
            (this && !slice_eq(at.door, s->value)))
            continue;
        if (this)
            at.calls = slice_copy(&d->arena, s->text);
        aim_put(d, before, template, &at, trigger, why);
    }
}

/* The template with this trigger, after the events that there are, aimed at what was seen (NULL:
 * nothing), at each node or door in turn, or at what it says itself. */
static void aim(struct derive *d, const struct node *before, const struct node *template,
                const struct sight *s, const struct node *trigger, slice why)
{
    const struct plan *p = d->plan;
    const struct node *fault = node_get(template, SLICE("fault"));
    const struct injector *in = injector_find(node_get(fault, SLICE("type"))->text);
    if (injector_at_door(in) && !node_get(fault, SLICE("door"))) {
        aim_doors(d, before, template, s, trigger, why);
        return;
    }
    bool aims = injector_aims(in) && !node_get(fault, SLICE("target")) &&
                !node_get(fault, SLICE("path")); /* which is instead of a target */
    int32_t node = s ? sight_node(p, s) : PLAN_NONE;
    uint32_t from = aims && node != PLAN_NONE ? (uint32_t)node : 0;
    uint32_t to = !aims ? 1 : node != PLAN_NONE ? from + 1 : p->nodes.n;
    for (uint32_t i = from; i < to; i++) {
        struct aim at = {.target = aims ? p->nodes.at[i].name : SLICE("")};
        aim_put(d, before, template, &at, trigger, why);
    }
}

/* ---- time slots ---- */

static void derive_slots(struct derive *d)
{
    const struct plan *p = d->plan;
    uint32_t slots = p->explore.slots;
    for (uint32_t s = 1; s <= slots; s++)
        for (uint32_t i = 0; i < p->explore.faults.n; i++) {
            struct node *trigger = new_map(d, 1);
            int64_t ms = p->duration_ns / 1000000 * s / (slots + 1);
            put_text(d, trigger, "at", slice_of(arena_printf(&d->arena, "%lldms", (long long)ms)));
            node_seal(trigger);
            aim(d, NULL, p->explore.faults.at[i], NULL, trigger,
                slice_of(arena_printf(&d->arena, "time slot %u of %u", s, slots)));
        }
}

struct derive *derive_new(const struct plan *p)
{
    struct derive *d = mem_zero(sizeof *d);
    d->plan = p;
    derive_slots(d);
    return d;
}

/* ---- sights ---- */

/* The end of what changes: #, and #.#:# as one. */
static size_t changing(slice shape, size_t at)
{
    while (at + 2 < shape.n && strchr(".:-", shape.p[at + 1]) && shape.p[at + 2] == '#')
        at += 2;
    return at;
}

/* A regular expression that finds lines of this shape: `#` stands for what changes. */
static slice pattern_of(struct derive *d, slice line)
{
    static const char special[] = "\\.[](){}*+?^$|";
    struct buf out = BUF_INIT(REGEX_BYTES_MAX);
    struct arena scratch = {0};
    const struct regex *regex;
    struct err e = {0};
    slice shape = plan_line_shape(&scratch, line), kept = {0};
    for (size_t i = 0; i < shape.n && i < SHAPE_BYTES_MAX; i++) {
        if (shape.p[i] == '#') {
            buf_adds(&out, "[\\w.:-]+");
            i = changing(shape, i);
            continue;
        }
        if (strchr(special, shape.p[i]))
            buf_addc(&out, '\\');
        buf_addc(&out, shape.p[i]);
    }
    if (!out.full && out.n && !regex_parse(buf_slice(&out), &scratch, &regex, &e) &&
        regex_found(regex, line))
        kept = slice_copy(&d->arena, buf_slice(&out));
    buf_deinit(&out);
    arena_deinit(&scratch);
    return kept;
}

static slice printer_of(const struct plan *p, const struct sight *s)
{
    return s->node != PLAN_NONE     ? p->nodes.at[s->node].name
           : s->client != PLAN_NONE ? p->clients.at[s->client].name
                                    : SLICE("");
}

/* The trigger that waits for such a sight; NULL: it cannot be told by a regular expression. */
static const struct node *trigger_of(struct derive *d, const struct sight *s)
{
    struct node *trigger = new_map(d, TRIGGER_KEYS_MAX);
    slice pattern;
    switch (s->kind) {
    case SIGHT_LINE:
        pattern = pattern_of(d, s->text);
        if (!pattern.n)
            return NULL;
        put_text(d, trigger, "line", pattern);
        break;
    case SIGHT_EVENT:
        put_text(d, trigger, "event", slice_copy(&d->arena, s->text));
        if (s->value.n)
            put_text(d, trigger, "value", slice_copy(&d->arena, s->value));
        break;
    case SIGHT_SPAN: put_text(d, trigger, "span", slice_copy(&d->arena, s->text)); break;
    case SIGHT_CALL:
        put_text(d, trigger, "call", slice_copy(&d->arena, s->text));
        put_text(d, trigger, "door", slice_copy(&d->arena, s->value));
        if (s->nth > 1)
            put(trigger, "nth", number_of(d, s->nth));
        break;
    }
    if (printer_of(d->plan, s).n && s->kind != SIGHT_SPAN && s->kind != SIGHT_CALL)
        put_text(d, trigger, "of", printer_of(d->plan, s));
    node_seal(trigger);
    return trigger;
}

static bool sight_is_new(struct derive *d, const struct sight *s)
{
    struct buf key = BUF_INIT(64 * 1024);
    struct arena scratch = {0};
    slice text = s->kind == SIGHT_LINE ? plan_line_shape(&scratch, s->text) : s->text;
    uint32_t known = d->sights.text.n;
    buf_addf(&key, "%d %d %d %u %.*s ", (int)s->kind, s->node, s->client, s->nth, SLICE_ARG(text));
    buf_add(&key, s->value);
    bool is_new = known < DERIVE_SIGHTS_MAX &&
                  intern_put_in(&d->sights, &d->sights.arena, buf_slice(&key)) == known;
    d->left_out = d->left_out || known >= DERIVE_SIGHTS_MAX;
    buf_deinit(&key);
    arena_deinit(&scratch);
    return is_new;
}

static bool is_wanted(const struct plan_explore *x, const struct sight *s)
{
    switch (s->kind) {
    case SIGHT_LINE: return x->lines;
    case SIGHT_EVENT: return x->events;
    case SIGHT_SPAN: return x->calls;
    case SIGHT_CALL: return s->nth && s->nth <= x->door_calls;
    }
    return false;
}

/* Where a candidate comes from, in words. */
static slice why_of(struct derive *d, const struct sight *s, bool meanwhile)
{
    static const char *const verbs[] = {
        [SIGHT_LINE] = "prints", [SIGHT_EVENT] = "says", [SIGHT_SPAN] = "tells of"};
    slice printer = s->kind == SIGHT_SPAN ? SLICE("a service") : printer_of(d->plan, s);
    const char *before = meanwhile ? "new meanwhile: " : "";
    bool is_long = s->text.n > WHY_BYTES_MAX;
    int n = is_long ? WHY_BYTES_MAX : (int)s->text.n;
    const char *dots = is_long ? "..." : "";
    if (s->kind == SIGHT_CALL)
        return slice_of(arena_printf(&d->arena, "%s%.*s%s at %.*s, call %u of its kind", before, n,
                                     s->text.p, dots, SLICE_ARG(s->value), s->nth));
    return slice_of(arena_printf(&d->arena, "%s%.*s %s \"%.*s%s\"", before, SLICE_ARG(printer),
                                 verbs[s->kind], n, s->text.p, dots));
}

bool derive_see(struct derive *d, const struct candidate *during, const struct sight *s)
{
    const struct plan_explore *x = &d->plan->explore;
    if (!is_wanted(x, s) || !sight_is_new(d, s))
        return false;
    if (during && during->faults >= x->most_faults)
        return true;
    const struct node *trigger = trigger_of(d, s);
    for (uint32_t i = 0; trigger && i < x->faults.n; i++)
        aim(d, during ? during->events : NULL, x->faults.at[i], s, trigger,
            why_of(d, s, during != NULL));
    return true;
}

/* A fault of doors needs one of its kind. */
static int check_has_door(const struct plan *p, const struct node *template, struct err *e)
{
    const struct node *type = node_at(template, SLICE("fault/type"));
    bool calls = slice_is(type->text, "http"), found = false;
    for (uint32_t i = 0; i < p->doors.n; i++)
        found = found || (p->doors.at[i].protocol == DOOR_HTTP) == calls;
    return found || !injector_at_door(injector_find(type->text))
               ? 0
               : err_set(e, type->line, type->col,
                         "\"%.*s\" needs a door with protocol: %s, and the plan has none",
                         SHORT(type->text), calls ? "http" : "tcp");
}

int derive_check(const struct plan *p, struct err *e)
{
    struct derive *d = mem_zero(sizeof *d);
    const struct sight first = {.kind = SIGHT_LINE};
    struct node *trigger = new_map(d, 1);
    int status = 0;
    d->plan = p;
    put_text(d, trigger, "at", SLICE("0ms"));
    node_seal(trigger);
    for (uint32_t i = 0; i < p->explore.faults.n; i++)
        aim(d, NULL, p->explore.faults.at[i], p->nodes.n ? &first : NULL, trigger, SLICE(""));
    for (uint32_t i = 0; i < p->explore.faults.n && !status; i++)
        status = check_has_door(p, p->explore.faults.at[i], e);
    for (uint32_t i = 0; i < d->queue.n && !status; i++) {
        struct plan other;
        status = plan_with_events(&other, p, d->queue.at[i]->events, e);
        plan_free(&other);
    }
    derive_free(d);
    return status;
}

/* ---- of others ---- */

int derive_take(struct derive *d, slice json, const char *who, struct err *e)
{
    const struct node *all;
    slice text = slice_copy(&d->arena, json), why = slice_of(arena_printf(&d->arena, "of %s", who));
    if (node_parse_json(&d->arena, text, &all) || all->type != NODE_LIST)
        return err_set(e, 0, 0, "%s must print a JSON list, with a list of events for each plan",
                       who);
    for (uint32_t i = 0; i < all->n; i++) {
        const struct node *events = all->list[i];
        struct plan p;
        struct err inner = {0};
        bool list = events->type == NODE_LIST && events->n;
        int status = list ? plan_with_events(&p, d->plan, events, &inner) : -1;
        if (list)
            plan_free(&p);
        if (status)
            return err_set(e, 0, 0, "item %u of what %s printed is no list of events%s%s", i, who,
                           list ? ": " : "", inner.text);
        queue_put(d, events, why);
    }
    return 0;
}

/* ---- what is next ---- */

const struct candidate *derive_next(struct derive *d)
{
    return d->next < d->queue.n ? d->queue.at[d->next++] : NULL;
}

/* Both, with names that differ; NULL: an event of one is in the other. */
static const struct node *joined(struct derive *d, const struct candidate *a,
                                 const struct candidate *b)
{
    const struct node *events = a->events, *second = b->events->list[0];
    struct node *event = new_map(d, second->n);
    for (uint32_t i = 0; i < events->n; i++)
        if (node_eq(events->list[i], second))
            return NULL;
    for (uint32_t i = 0; i < second->n; i++)
        event->map[event->n++] = second->map[i];
    for (uint32_t i = 0; i < event->n; i++)
        if (slice_is(event->map[i].key, "name"))
            event->map[i].value =
                node_str(&d->arena, slice_of(arena_printf(&d->arena, "%.*s-%u",
                                                          SLICE_ARG(event->map[i].value->text),
                                                          events->n + 1)));
    node_seal(event);
    return events_with(d, events, event);
}

void derive_held(struct derive *d, const struct candidate *c)
{
    const struct plan_explore *x = &d->plan->explore;
    if (!x->pairs || c->faults != 1)
        return;
    for (uint32_t i = 0; i < d->held.n; i++) {
        const struct node *both = joined(d, d->held.at[i], c);
        if (both)
            queue_put(d, both, SLICE("a pair of which each part holds"));
    }
    vec_push(&d->held, c);
}

struct derive_count derive_count(const struct derive *d)
{
    return (struct derive_count){d->sights.text.n, d->queue.n, d->left_out};
}
