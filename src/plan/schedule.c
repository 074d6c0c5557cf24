/* SPDX-License-Identifier: Apache-2.0
 *
 * The schedule: a state per event, and a row per kind of trigger in what it listens to. Plans have
 * few events, so that all of them are looked at each time. */
#include "plan/schedule.h"

#include "base/random.h"
#include "plan/injector.h"

enum stage { STAGE_WAITING, STAGE_DUE, STAGE_BEGINNING, STAGE_ON, STAGE_ENDING, STAGE_OVER };

struct state {
    enum stage stage;
    int64_t due_ns; /* DUE: its begin; ON: its end, or INT64_MAX */
    uint32_t seen;  /* how often the trigger held */
    int32_t trigger_node;
};

struct schedule {
    const struct plan *plan;
    uint64_t seed;
    struct state *state; /* of each event */
};

struct schedule *schedule_new(const struct plan *p, uint64_t seed)
{
    struct schedule *s = mem_zero(sizeof *s);
    s->plan = p;
    s->seed = seed;
    s->state = mem_zero((p->events.n + 1) * sizeof *s->state);
    return s;
}

void schedule_free(struct schedule *s)
{
    if (!s)
        return;
    mem_free(s->state);
    mem_free(s);
}

/* A die of this event alone. */
static struct rng dice(const struct schedule *s, uint32_t event, uint64_t purpose)
{
    struct rng r = {s->seed * 0x9e3779b97f4a7c15u + event * 3 + purpose};
    rng_next(&r);
    return r;
}

/* The trigger of an event held once more. */
static void held(struct schedule *s, uint32_t event, int64_t now_ns, int32_t node)
{
    const struct plan_trigger *t = &s->plan->events.at[event].trigger;
    struct state *st = &s->state[event];
    if (st->stage != STAGE_WAITING || ++st->seen < t->nth)
        return;
    struct rng r = dice(s, event, 0);
    if ((double)(rng_next(&r) >> 11) / (double)(UINT64_C(1) << 53) >= t->chance) {
        st->stage = STAGE_OVER;
        return;
    }
    st->stage = STAGE_DUE;
    st->due_ns = now_ns + t->delay_ns;
    st->trigger_node = node;
}

void schedule_start(struct schedule *s)
{
    for (uint32_t i = 0; i < s->plan->events.n; i++)
        if (s->plan->events.at[i].trigger.kind == TRIGGER_TIME)
            held(s, i, s->plan->events.at[i].trigger.at_ns, PLAN_NONE);
}

static bool said_by(const struct plan_trigger *t, int32_t node, int32_t client)
{
    return t->of.n == 0 || (t->node != PLAN_NONE && t->node == node) ||
           (t->client != PLAN_NONE && t->client == client);
}

void schedule_line(struct schedule *s, int64_t now_ns, int32_t node, int32_t client, slice text)
{
    for (uint32_t i = 0; i < s->plan->events.n; i++) {
        const struct plan_trigger *t = &s->plan->events.at[i].trigger;
        if (t->kind == TRIGGER_LINE && s->state[i].stage == STAGE_WAITING &&
            said_by(t, node, client) && regex_found(t->regex, text))
            held(s, i, now_ns, node);
    }
}

void schedule_event(struct schedule *s, int64_t now_ns, int32_t client, slice name, slice value)
{
    for (uint32_t i = 0; i < s->plan->events.n; i++) {
        const struct plan_event *e = &s->plan->events.at[i];
        const struct plan_trigger *t = &e->trigger;
        struct state *st = &s->state[i];
        if (st->stage == STAGE_ON && e->until.n && slice_eq(e->until, name))
            st->due_ns = now_ns;
        if (t->kind == TRIGGER_EVENT && slice_eq(t->event, name) &&
            (!t->value.n || slice_eq(t->value, value)) && said_by(t, PLAN_NONE, client))
            held(s, i, now_ns, plan_node(s->plan, value));
    }
}

static bool is_beyond(const struct plan_trigger *t, double value)
{
    return t->has_above ? value > t->above : value < t->below;
}

void schedule_metric(struct schedule *s, int64_t now_ns, int32_t node, slice metric, slice of,
                     double value, double before)
{
    for (uint32_t i = 0; i < s->plan->events.n; i++) {
        const struct plan_trigger *t = &s->plan->events.at[i].trigger;
        if (t->kind == TRIGGER_METRIC && slice_eq(t->metric, metric) &&
            (!t->of.n || slice_eq(t->of, of)) && is_beyond(t, value) && !is_beyond(t, before))
            held(s, i, now_ns, node);
    }
}

void schedule_span(struct schedule *s, int64_t now_ns, int32_t node, slice span)
{
    for (uint32_t i = 0; i < s->plan->events.n; i++) {
        const struct plan_trigger *t = &s->plan->events.at[i].trigger;
        if (t->kind == TRIGGER_SPAN && slice_glob(t->span, span))
            held(s, i, now_ns, node);
    }
}

/* Something comes to a door. Its node is that behind the door. */
static void come(struct schedule *s, int64_t now_ns, enum plan_trigger_kind kind, uint32_t door,
                 slice interface)
{
    for (uint32_t i = 0; i < s->plan->events.n; i++) {
        const struct plan_trigger *t = &s->plan->events.at[i].trigger;
        if (t->kind == kind && (t->at_door == PLAN_NONE || t->at_door == (int32_t)door) &&
            (kind != TRIGGER_CALL || slice_glob(t->calls, interface)))
            held(s, i, now_ns, s->plan->doors.at[door].behind);
    }
}

void schedule_call(struct schedule *s, int64_t now_ns, uint32_t door, slice interface)
{
    come(s, now_ns, TRIGGER_CALL, door, interface);
}

void schedule_connection(struct schedule *s, int64_t now_ns, uint32_t door)
{
    come(s, now_ns, TRIGGER_CONNECTION, door, (slice){0});
}

bool schedule_waits(const struct schedule *s, uint32_t event)
{
    return s->plan->events.at[event].trigger.kind == TRIGGER_MANUAL &&
           s->state[event].stage == STAGE_WAITING;
}

bool schedule_fire(struct schedule *s, int64_t now_ns, uint32_t event)
{
    bool waits = schedule_waits(s, event);
    if (waits)
        held(s, event, now_ns, PLAN_NONE);
    return waits;
}

/* What waits for another fault. Its node is that of the other's trigger. */
static void follow(struct schedule *s, int64_t now_ns, uint32_t event, enum plan_trigger_kind kind)
{
    for (uint32_t i = 0; i < s->plan->events.n; i++) {
        const struct plan_trigger *t = &s->plan->events.at[i].trigger;
        if (t->kind == kind && t->after == event)
            held(s, i, now_ns, s->state[event].trigger_node);
    }
}

void schedule_began(struct schedule *s, int64_t now_ns, uint32_t event)
{
    const struct plan_event *e = &s->plan->events.at[event];
    struct state *st = &s->state[event];
    st->stage = STAGE_ON;
    st->due_ns = e->injector->momentary ? now_ns
                 : e->duration_ns       ? now_ns + e->duration_ns
                                        : INT64_MAX;
    follow(s, now_ns, event, TRIGGER_BEGAN);
}

void schedule_ended(struct schedule *s, int64_t now_ns, uint32_t event)
{
    s->state[event].stage = STAGE_OVER;
    follow(s, now_ns, event, TRIGGER_ENDED);
}

void schedule_failed(struct schedule *s, uint32_t event)
{
    s->state[event].stage = STAGE_OVER;
}

/* The state whose action is due first; PLAN_NONE: there is none. */
static int32_t first_due(const struct schedule *s)
{
    int32_t best = PLAN_NONE;
    for (uint32_t i = 0; i < s->plan->events.n; i++) {
        const struct state *st = &s->state[i];
        if ((st->stage == STAGE_DUE || st->stage == STAGE_ON) && st->due_ns != INT64_MAX &&
            (best == PLAN_NONE || st->due_ns < s->state[best].due_ns))
            best = (int32_t)i;
    }
    return best;
}

int64_t schedule_next_ns(const struct schedule *s)
{
    int32_t i = first_due(s);
    return i == PLAN_NONE ? INT64_MAX : s->state[i].due_ns;
}

bool schedule_take(struct schedule *s, int64_t now_ns, struct schedule_action *out)
{
    int32_t i = first_due(s);
    if (i == PLAN_NONE || s->state[i].due_ns > now_ns)
        return false;
    struct state *st = &s->state[i];
    bool begins = st->stage == STAGE_DUE;
    *out = (struct schedule_action){begins ? SCHEDULE_BEGIN : SCHEDULE_END, (uint32_t)i, st->due_ns,
                                    st->trigger_node};
    st->stage = begins ? STAGE_BEGINNING : STAGE_ENDING;
    return true;
}

void schedule_aim(const struct schedule *s, const struct schedule_action *a, int32_t role,
                  struct schedule_nodes *out)
{
    const struct plan_target *t = &s->plan->events.at[a->event].target;
    out->n = 0;
    switch (t->kind) {
    case TARGET_NONE: break;
    case TARGET_ALL:
    case TARGET_SET:
        for (uint32_t i = 0; i < t->nodes.n; i++)
            vec_push(out, t->nodes.at[i]);
        break;
    case TARGET_ANY: {
        struct rng r = dice(s, a->event, 1);
        vec_push(out, t->nodes.at[rng_below(&r, t->nodes.n)]);
        break;
    }
    case TARGET_ROLE:
        if (role != PLAN_NONE)
            vec_push(out, (uint32_t)role);
        break;
    case TARGET_MATCH_TRIGGER:
    case TARGET_NOT_TRIGGER:
        for (uint32_t i = 0; i < s->plan->nodes.n; i++)
            if (((int32_t)i == a->trigger_node) == (t->kind == TARGET_MATCH_TRIGGER))
                vec_push(out, i);
        break;
    }
}

static bool is_in(const struct schedule_nodes *nodes, uint32_t node)
{
    for (uint32_t i = 0; i < nodes->n; i++)
        if (nodes->at[i] == node)
            return true;
    return false;
}

void schedule_from(const struct schedule *s, uint32_t event, const struct schedule_nodes *aim,
                   uint32_t node, struct schedule_nodes *out)
{
    const struct plan_from *f = &s->plan->events.at[event].from;
    bool targets = f->kind == FROM_ALL || f->kind == FROM_NODES || f->kind == FROM_SET;
    bool nodes_only = f->kind == FROM_NODES || f->kind == FROM_ANY;
    uint32_t n = f->kind == FROM_SET ? f->members.n
                 : nodes_only        ? s->plan->nodes.n
                                     : plan_members(s->plan);
    out->n = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t member = f->kind == FROM_SET ? f->members.at[i] : i;
        if (member != node && (targets || !is_in(aim, member)) && !is_in(out, member))
            vec_push(out, member);
    }
    if (f->kind == FROM_ANY && out->n) {
        struct rng r = dice(s, event, 2);
        out->at[0] = out->at[rng_below(&r, out->n)];
        out->n = 1;
    }
}
