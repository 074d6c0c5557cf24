/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan as a whole: loading it, what must hold between its parts, and its end. */
#include <limits.h>
#include <stdlib.h>

#include "base/clock.h"
#include "data/yaml.h"
#include "plan/injector.h"
#include "plan/plan_int.h"

#define FIND(list, wanted)                                                                         \
    for (uint32_t i = 0; i < (list).n; i++)                                                        \
        if (slice_eq((list).at[i].name, wanted))                                                   \
            return (int32_t)i;                                                                     \
    return PLAN_NONE

int32_t plan_node(const struct plan *p, slice name)
{
    FIND(p->nodes, name);
}

int32_t plan_client(const struct plan *p, slice name)
{
    FIND(p->clients, name);
}

int32_t plan_event(const struct plan *p, slice name)
{
    FIND(p->events, name);
}

static int32_t role_find(const struct plan *p, slice name)
{
    FIND(p->roles, name);
}

#define FAIL(e, at, ...) err_set(e, (at).line, (at).col, __VA_ARGS__)

/* The end of a message about a name that nothing has. */
#define HINT(list, wanted, out)                                                                    \
    do {                                                                                           \
        const char *names_[PLAN_EVENTS_MAX] = {0};                                                 \
        uint32_t n_ = 0;                                                                           \
        for (uint32_t i_ = 0; i_ < (list).n && n_ < PLAN_EVENTS_MAX; i_++)                         \
            names_[n_++] = arena_copy(&p->arena, (list).at[i_].name.p, (list).at[i_].name.n);      \
        *(out) = err_hint(wanted, names_, n_);                                                     \
    } while (0)

/* ---- targets ---- */

static bool has_tag(const struct plan_node *n, slice tag)
{
    for (uint32_t i = 0; i < n->tags.n; i++)
        if (slice_eq(n->tags.at[i], tag))
            return true;
    return false;
}

static void add_node(struct plan_target *t, uint32_t node)
{
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (t->nodes.at[i] == node)
            return;
    vec_push(&t->nodes, node);
}

/* A node's name, or tag:WORD. */
static int add_named(struct plan *p, struct plan_target *t, slice name, struct err *e)
{
    slice tag = slice_from(name, name.n < 4 ? name.n : 4);
    uint32_t before = t->nodes.n;
    if (slice_starts(name, SLICE("tag:"))) {
        for (uint32_t i = 0; i < p->nodes.n; i++)
            if (has_tag(&p->nodes.at[i], tag))
                add_node(t, i);
        return t->nodes.n > before || before
                   ? 0
                   : FAIL(e, t->at, "no node has the tag \"%.*s\"", SHORT(tag));
    }
    int32_t node = plan_node(p, name);
    struct hint hint;
    if (node == PLAN_NONE) {
        HINT(p->nodes, name, &hint);
        return FAIL(e, t->at, "there is no node \"%.*s\"%s", SHORT(name), hint.text);
    }
    add_node(t, (uint32_t)node);
    return 0;
}

static int check_role(struct plan *p, struct plan_target *t, slice name, struct err *e)
{
    int32_t role = role_find(p, name);
    struct hint hint;
    HINT(p->roles, name, &hint);
    if (role == PLAN_NONE)
        return FAIL(e, t->at, "there is no role \"%.*s\": roles says how its node is found%s",
                    SHORT(name), hint.text);
    t->kind = TARGET_ROLE;
    t->role = (uint32_t)role;
    return 0;
}

/* One word that stands for the whole target; 1: it is none. */
static int check_word(struct plan *p, struct plan_event *ev, slice word, struct err *e)
{
    struct plan_target *t = &ev->target;
    bool whole = slice_is(word, "all"), any = slice_is(word, "any");
    if (whole || any) {
        t->kind = whole ? TARGET_ALL : TARGET_ANY;
        for (uint32_t i = 0; i < p->nodes.n; i++)
            add_node(t, i);
        return t->nodes.n ? 0 : FAIL(e, t->at, "the plan has no nodes to aim at");
    }
    if (slice_starts(word, SLICE("any "))) {
        t->kind = TARGET_ANY;
        return add_named(p, t, slice_trim(slice_from(word, 4)), e);
    }
    if (slice_starts(word, SLICE("role:")))
        return check_role(p, t, slice_from(word, 5), e);
    bool match = slice_is(word, "match_trigger");
    if (!match && !slice_is(word, "not_trigger"))
        return 1;
    t->kind = match ? TARGET_MATCH_TRIGGER : TARGET_NOT_TRIGGER;
    if (ev->trigger.kind == TRIGGER_TIME)
        return FAIL(e, t->at,
                    "\"%.*s\" needs a trigger that fires on a node: line, or event with a node's "
                    "name as its value",
                    SHORT(word));
    return 0;
}

static int check_target(struct plan *p, struct plan_event *ev, struct err *e)
{
    struct plan_target *t = &ev->target;
    const struct injector *in = ev->injector;
    if (!t->names.n)
        return 0;
    if (!((in->needs | in->may) & INJECT_TARGET))
        return FAIL(e, t->at, "\"%s\" has no target: it harms %s", in->name, in->blast);
    int status = t->names.n == 1 ? check_word(p, ev, t->names.at[0], e) : 1;
    if (status != 1)
        return status;
    t->kind = TARGET_SET;
    for (uint32_t i = 0; i < t->names.n; i++)
        if (add_named(p, t, t->names.at[i], e))
            return -1;
    return 0;
}

/* ---- events ---- */

static int check_fault(const struct plan_event *ev, struct err *e)
{
    const struct {
        uint32_t bit;
        bool given;
        const char *key, *why;
    } keys[] = {
        {INJECT_TARGET, ev->target.names.n > 0, "target", "the node that it happens to"},
        {INJECT_START, ev->start.n > 0, "start", "the command that does it"},
        {INJECT_UNDO, ev->undo.n > 0, "undo",
         "the command that undoes it; where there is nothing to undo, undo: \"true\""},
        {INJECT_PATH, ev->path.n > 0, "path", "a directory of the file system"},
        {INJECT_SIZE, ev->size.n > 0, "size", "how many bytes, such as 500M"},
        {INJECT_COUNT, ev->count > 0, "count", "how many"},
    };
    const struct injector *in = ev->injector;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if ((in->needs & keys[i].bit) && !keys[i].given)
            return FAIL(e, ev->at, "\"%s\" needs \"%s\": %s", in->name, keys[i].key, keys[i].why);
        if (!((in->needs | in->may) & keys[i].bit) && keys[i].given && keys[i].bit != INJECT_TARGET)
            return FAIL(e, ev->at, "\"%s\" does not take \"%s\"", in->name, keys[i].key);
    }
    if (in->momentary && (ev->duration_ns || ev->until.n))
        return FAIL(e, ev->at, "\"%s\" is over at once: leave out \"%s\", or take kill", in->name,
                    ev->duration_ns ? "duration" : "until");
    return 0;
}

static int check_trigger(struct plan *p, struct plan_event *ev, struct err *e)
{
    struct plan_trigger *t = &ev->trigger;
    if (t->kind == TRIGGER_TIME && t->at_ns + t->delay_ns >= p->duration_ns)
        return FAIL(e, t->place, "this is after the end of a run: \"duration\" of the plan is %gs",
                    (double)p->duration_ns / 1e9);
    if (t->of.n) {
        t->node = plan_node(p, t->of);
        t->client = plan_client(p, t->of);
        if (t->node == PLAN_NONE && t->client == PLAN_NONE)
            return FAIL(e, t->place, "\"of\": there is no node and no client \"%.*s\"",
                        SHORT(t->of));
    }
    if (t->kind != TRIGGER_BEGAN && t->kind != TRIGGER_ENDED)
        return 0;
    int32_t other = plan_event(p, t->other);
    struct hint hint;
    HINT(p->events, t->other, &hint);
    if (other == PLAN_NONE)
        return FAIL(e, t->place, "there is no event \"%.*s\"%s", SHORT(t->other), hint.text);
    const struct plan_event *o = &p->events.at[other];
    if (t->kind == TRIGGER_ENDED && !o->duration_ns && !o->until.n && !o->injector->momentary)
        return FAIL(e, t->place, "\"%.*s\" does not end before the run does: give it a duration",
                    SHORT(t->other));
    t->after = (uint32_t)other;
    return 0;
}

/* Follows an event back over what triggers it: more steps than there are events are a cycle. */
static int check_cycle(const struct plan *p, const struct plan_event *ev, struct err *e)
{
    const struct plan_event *at = ev;
    for (uint32_t steps = 0; steps <= p->events.n; steps++) {
        if (at->trigger.kind != TRIGGER_BEGAN && at->trigger.kind != TRIGGER_ENDED)
            return 0;
        at = &p->events.at[at->trigger.after];
    }
    return FAIL(e, ev->trigger.place,
                "\"%.*s\" never happens: it waits for \"%.*s\", and that waits for it in the end",
                SHORT(ev->name), SHORT(ev->trigger.other));
}

/* The same fault to the same nodes at the same occasion. */
static bool same(const struct plan_event *a, const struct plan_event *b)
{
    const struct plan_trigger *s = &a->trigger, *t = &b->trigger;
    bool equal = a->injector == b->injector && a->target.names.n == b->target.names.n &&
                 slice_eq(a->start, b->start) && slice_eq(a->path, b->path) &&
                 slice_eq(a->size, b->size) && a->count == b->count && s->kind == t->kind &&
                 s->at_ns == t->at_ns && slice_eq(s->pattern, t->pattern) &&
                 slice_eq(s->event, t->event) && slice_eq(s->value, t->value) &&
                 slice_eq(s->other, t->other) && slice_eq(s->of, t->of) && s->nth == t->nth &&
                 s->delay_ns == t->delay_ns;
    for (uint32_t i = 0; i < a->target.names.n && equal; i++)
        equal = slice_eq(a->target.names.at[i], b->target.names.at[i]);
    return equal;
}

static int check_twice(const struct plan *p, uint32_t event, struct err *e)
{
    const struct plan_event *ev = &p->events.at[event];
    for (uint32_t i = 0; i < event; i++) {
        const struct plan_event *other = &p->events.at[i];
        if (same(other, ev))
            return FAIL(e, ev->at,
                        "this is \"%.*s\" of line %u once more: the same fault twice needs another "
                        "trigger",
                        SHORT(other->name), other->at.line);
        if (slice_eq(other->name, ev->name))
            return FAIL(e, ev->at, "another event is called \"%.*s\": give this one a name",
                        SHORT(ev->name));
    }
    return 0;
}

static int check_expect(const struct plan *p, struct plan_expect *x, struct err *e)
{
    if (!x->of.n)
        return 0;
    x->client = plan_client(p, x->of);
    return x->client != PLAN_NONE
               ? 0
               : FAIL(e, x->at, "\"of\": there is no client \"%.*s\"", SHORT(x->of));
}

static int plan_check(struct plan *p, struct err *e)
{
    for (uint32_t i = 0; i < p->clients.n; i++)
        if (plan_node(p, p->clients.at[i].name) != PLAN_NONE)
            return FAIL(e, p->clients.at[i].at,
                        "\"%.*s\" is the name of a node too: call the client something else",
                        SHORT(p->clients.at[i].name));
    for (uint32_t i = 0; i < p->events.n; i++) {
        struct plan_event *ev = &p->events.at[i];
        if (check_fault(ev, e) || check_target(p, ev, e) || check_trigger(p, ev, e) ||
            check_twice(p, i, e))
            return -1;
    }
    for (uint32_t i = 0; i < p->events.n; i++)
        if (check_cycle(p, &p->events.at[i], e))
            return -1;
    for (uint32_t i = 0; i < p->expects.n; i++)
        if (check_expect(p, &p->expects.at[i], e))
            return -1;
    return 0;
}

/* ---- the whole ---- */

/* The directory of the file, where commands are run: absolute, because an undo may be run from
 * anywhere. */
static slice directory_of(struct plan *p, const char *path)
{
    char real[PATH_MAX];
    const char *slash = strrchr(path, '/');
    const char *dir = !slash ? "." : arena_copy(&p->arena, path, (size_t)(slash - path) + 1);
    if (!realpath(dir, real))
        return slice_of(dir); /* the file cannot be read either */
    return slice_copy(&p->arena, slice_of(real));
}

static void plan_init(struct plan *p)
{
    *p = (struct plan){.references = 1,
                       .repeats = 1,
                       .duration_ns = SECONDS(10),
                       .warmup_ns = SECONDS(1),
                       .settle_ns = SECONDS(1),
                       .within_ns = SECONDS(30),
                       .dir = SLICE(".")};
}

static int plan_read(struct plan *p, const struct node *root, struct err *e)
{
    struct keys_reader r = {.e = e, .arena = &p->arena};
    if (keys_want(&r, "a plan", root, NODE_MAP) || keys_read(&r, &plan_keys, p, root))
        return -1;
    if (!name_valid(p->name, true))
        return FAIL(e, *node_get(root, SLICE("plan")),
                    "the name of a plan has letters, digits, \"-\", \"_\" and \".\", at most %d",
                    NAME_BYTES_MAX);
    return plan_check(p, e);
}

int plan_parse(struct plan *p, slice text, struct err *e)
{
    const struct node *root;
    plan_init(p);
    return yaml_parse(text, &p->arena, &root, e) || plan_read(p, root, e) ? -1 : 0;
}

int plan_load(struct plan *p, const char *path, struct err *e)
{
    const struct node *root;
    plan_init(p);
    p->dir = directory_of(p, path);
    return yaml_load(path, &p->arena, &root, e) || plan_read(p, root, e) ? -1 : 0;
}

void plan_free(struct plan *p)
{
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        vec_deinit(&p->nodes.at[i].tags);
        vec_deinit(&p->nodes.at[i].env);
    }
    for (uint32_t i = 0; i < p->clients.n; i++)
        vec_deinit(&p->clients.at[i].env);
    for (uint32_t i = 0; i < p->events.n; i++) {
        vec_deinit(&p->events.at[i].target.names);
        vec_deinit(&p->events.at[i].target.nodes);
    }
    vec_deinit(&p->env);
    vec_deinit(&p->nodes);
    vec_deinit(&p->roles);
    vec_deinit(&p->clients);
    vec_deinit(&p->events);
    vec_deinit(&p->expects);
    arena_deinit(&p->arena);
}
