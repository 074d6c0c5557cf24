/* SPDX-License-Identifier: Apache-2.0
 *
 * A plan as a whole: loading it, what must hold between its parts, and its end. */
#include <stdio.h>

#include "base/clock.h"
#include "base/file.h"
#include "data/yaml.h"
#include "plan/derive.h"
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

uint32_t plan_members(const struct plan *p)
{
    return p->nodes.n + p->clients.n;
}

slice plan_member_name(const struct plan *p, uint32_t member)
{
    return member < p->nodes.n ? p->nodes.at[member].name : p->clients.at[member - p->nodes.n].name;
}

static int32_t role_find(const struct plan *p, slice name)
{
    FIND(p->roles, name);
}

/* ---- targets ---- */

static bool has_word(const struct texts *words, slice word)
{
    for (uint32_t i = 0; i < words->n; i++)
        if (slice_eq(words->at[i], word))
            return true;
    return false;
}

/* A node has the tags of its host too. */
static bool has_tag(const struct plan *p, const struct plan_node *n, slice tag)
{
    return has_word(&n->tags, tag) ||
           (n->host != PLAN_NONE && has_word(&p->hosts.at[n->host].tags, tag));
}

static void add_node(struct plan_target *t, uint32_t node)
{
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (t->nodes.at[i] == node)
            return;
    vec_push(&t->nodes, node);
}

/* host:NAME: all nodes that are there. */
static int add_host(struct plan *p, struct plan_target *t, slice name, struct err *e)
{
    uint32_t before = t->nodes.n;
    struct hint hint;
    HINT(p->hosts, name, &hint);
    bool known = false;
    for (uint32_t i = 0; i < p->hosts.n; i++)
        known = known || slice_eq(p->hosts.at[i].name, name);
    if (!known)
        return FAIL(e, t->at, "there is no host \"%.*s\"%s", SHORT(name), hint.text);
    for (uint32_t i = 0; i < p->nodes.n; i++)
        if (slice_eq(p->nodes.at[i].on, name))
            add_node(t, i);
    return t->nodes.n > before || before
               ? 0
               : FAIL(e, t->at, "no node is on the host \"%.*s\"", SHORT(name));
}

/* A node's name, tag:WORD or host:NAME. */
static int add_named(struct plan *p, struct plan_target *t, slice name, struct err *e)
{
    slice tag = slice_from(name, name.n < 4 ? name.n : 4);
    uint32_t before = t->nodes.n;
    if (slice_starts(name, SLICE("tag:"))) {
        for (uint32_t i = 0; i < p->nodes.n; i++)
            if (has_tag(p, &p->nodes.at[i], tag))
                add_node(t, i);
        return t->nodes.n > before || before
                   ? 0
                   : FAIL(e, t->at, "no node has the tag \"%.*s\"", SHORT(tag));
    }
    if (slice_starts(name, SLICE("host:")))
        return add_host(p, t, slice_from(name, 5), e);
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
    if (!plan_trigger_has_node(p, &ev->trigger))
        return FAIL(e, t->at,
                    "\"%.*s\" needs a trigger that fires on a node: line, event with a node's "
                    "name as its value, or call and connection of a door that names its node",
                    SHORT(word));
    return 0;
}

static int check_target(struct plan *p, struct plan_event *ev, struct err *e)
{
    struct plan_target *t = &ev->target;
    if (!t->names.n)
        return 0;
    int status = t->names.n == 1 ? check_word(p, ev, t->names.at[0], e) : 1;
    if (status != 1)
        return status;
    t->kind = TARGET_SET;
    for (uint32_t i = 0; i < t->names.n; i++)
        if (add_named(p, t, t->names.at[i], e))
            return -1;
    return 0;
}

/* ---- the other side of a link ---- */

static int add_member(struct plan *p, struct plan_from *f, slice name, struct err *e)
{
    uint32_t before = f->members.n;
    bool clients = slice_is(name, "clients"), tag = slice_starts(name, SLICE("tag:"));
    for (uint32_t i = 0; i < plan_members(p); i++)
        if (i < p->nodes.n && tag ? has_tag(p, &p->nodes.at[i], slice_from(name, 4))
            : clients             ? i >= p->nodes.n
                                  : slice_eq(plan_member_name(p, i), name))
            vec_push(&f->members, i);
    return f->members.n > before
               ? 0
               : FAIL(e, f->at, "there is no node and no client \"%.*s\" to be cut off from",
                      SHORT(name));
}

static int check_from(struct plan *p, struct plan_event *ev, struct err *e)
{
    static const struct {
        const char *word;
        enum plan_from_kind kind;
    } words[] = {{"all", FROM_ALL}, {"nodes", FROM_NODES}, {"any", FROM_ANY}};
    struct plan_from *f = &ev->from;
    if (ev->injector->kind != INJECT_LINK && ev->injector->kind != INJECT_NAMES)
        return 0;
    if (!p->network)
        return FAIL(
            e, ev->at,
            "\"%s\" needs a network of the plan's own: add network: 198.18.77.0/24, and let "
            "nodes listen on $OUTFOX_IP",
            ev->injector->name);
    if (ev->injector->kind == INJECT_NAMES && ev->target.names.n && f->names.n)
        return FAIL(e, ev->at,
                    "\"%s\" takes a target, which is nodes, or from, which may be clients",
                    ev->injector->name);
    f->kind = f->names.n ? FROM_SET : ev->target.kind == TARGET_ALL ? FROM_ALL : FROM_OTHERS;
    for (size_t i = 0; f->names.n == 1 && i < sizeof words / sizeof *words; i++)
        if (slice_is(f->names.at[0], words[i].word)) {
            f->kind = words[i].kind;
            return 0;
        }
    for (uint32_t i = 0; i < f->names.n; i++)
        if (add_member(p, f, f->names.at[i], e))
            return -1;
    return 0;
}

/* ---- events ---- */

static int check_fault(const struct plan_event *ev, struct err *e)
{
    const struct injector *in = ev->injector;
    if (injector_check(ev, e))
        return -1;
    if (in->momentary && (ev->duration_ns || ev->until.n))
        return FAIL(e, ev->at, "\"%s\" is over at once: leave out \"%s\", or take kill", in->name,
                    ev->duration_ns ? "duration" : "until");
    if (slice_is(ev->type, "signal") && ev->signal <= PLAN_SIGNAL_TERM)
        return FAIL(e, ev->at, "\"signal\" is for what a node survives: to end it, take %s",
                    ev->signal == PLAN_SIGNAL_KILL ? "kill" : "terminate");
    return 0;
}

static int check_trigger(struct plan *p, struct plan_event *ev, struct err *e)
{
    struct plan_trigger *t = &ev->trigger;
    if (t->kind == TRIGGER_TIME && t->at_ns + t->delay_ns >= p->duration_ns)
        return FAIL(e, t->place, "this is after the end of a run: \"duration\" of the plan is %gs",
                    (double)p->duration_ns / 1e9);
    if (t->kind == TRIGGER_METRIC)
        return plan_check_metric(p, t->metric, t->of, t->place, e);
    if (t->kind == TRIGGER_SPAN)
        return plan_check_spans(p, t->place, e);
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

static int check_twice(const struct plan *p, uint32_t event, struct err *e)
{
    const struct plan_event *ev = &p->events.at[event];
    for (uint32_t i = 0; i < event; i++) {
        const struct plan_event *other = &p->events.at[i];
        if (node_eq(other->fault, ev->fault) &&
            node_eq(other->trigger.written, ev->trigger.written))
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

static int check_expect(struct plan *p, struct plan_expect *x, struct err *e)
{
    if (x->kind == EXPECT_METRIC)
        return plan_check_metric(p, x->metric, x->of, x->at, e);
    if (!x->of.n)
        return 0;
    x->client = plan_client(p, x->of);
    return x->client != PLAN_NONE
               ? 0
               : FAIL(e, x->at, "\"of\": there is no client \"%.*s\"", SHORT(x->of));
}

/* Keys that may also come from the plan that this one extends: the schema cannot ask for them. */
static int check_whole(const struct plan *p, const struct node *root, struct err *e)
{
    const char *missing = !p->clients.n ? "clients" : !p->expects.n ? "expect" : NULL;
    return missing ? FAIL(e, *root, "\"%s\" is missing from a plan", missing) : 0;
}

static int plan_check(struct plan *p, struct err *e)
{
    for (uint32_t i = 0; i < p->clients.n; i++)
        if (plan_node(p, p->clients.at[i].name) != PLAN_NONE)
            return FAIL(e, p->clients.at[i].at,
                        "\"%.*s\" is the name of a node too: call the client something else",
                        SHORT(p->clients.at[i].name));
    if (!p->clients.n)
        return FAIL(e, *p->root, "a plan needs clients: what exercises the system");
    if (!p->expects.n)
        return FAIL(e, *p->root, "a plan needs expect: what must hold all the same");
    if (plan_check_hosts(p, e) || plan_check_doors(p, e) || plan_check_collects(p, e))
        return -1;
    if (p->network && plan_members(p) > PLAN_MEMBERS_MAX)
        return FAIL(e, p->nodes.at[0].at, "a network has room for %d nodes and clients, not %u",
                    PLAN_MEMBERS_MAX, plan_members(p));
    for (uint32_t i = 0; i < p->events.n; i++) {
        struct plan_event *ev = &p->events.at[i];
        if (check_fault(ev, e) || plan_check_at_door(p, ev, e) || check_target(p, ev, e) ||
            check_from(p, ev, e) || inject_disk_check(p, ev, e) || check_trigger(p, ev, e) ||
            check_twice(p, i, e))
            return -1;
    }
    for (uint32_t i = 0; i < p->events.n; i++)
        if (check_cycle(p, &p->events.at[i], e))
            return -1;
    for (uint32_t i = 0; i < p->expects.n; i++)
        if (check_expect(p, &p->expects.at[i], e))
            return -1;
    return p->derived || (!plan_explore_defaults(p, e) && !derive_check(p, e)) ? 0 : -1;
}

/* ---- the whole ---- */

static void plan_init(struct plan *p)
{
    *p = (struct plan){.references = 1,
                       .repeats = 1,
                       .duration_ns = SECONDS(10),
                       .warmup_ns = SECONDS(1),
                       .settle_ns = SECONDS(1),
                       .within_ns = SECONDS(30),
                       .ready_ns = SECONDS(60),
                       .dir = SLICE("."),
                       .explore = {.slots = 3,
                                   .most_faults = 2,
                                   .repeat = 1,
                                   .door_calls = 2,
                                   .lines = true,
                                   .events = true,
                                   .calls = true,
                                   .max_runs = 100,
                                   .max_time_ns = SECONDS(3600)}};
}

static int plan_read(struct plan *p, const struct node *root, struct err *e)
{
    struct keys_reader r = {.e = e, .arena = &p->arena};
    p->root = root;
    if (keys_want(&r, "a plan", root, NODE_MAP) || keys_read(&r, &plan_keys, p, root))
        return -1;
    if (!name_valid(p->name, true))
        return FAIL(e, *node_get(root, SLICE("plan")),
                    "the name of a plan has letters, digits, \"-\", \"_\" and \".\", at most %d",
                    NAME_BYTES_MAX);
    return check_whole(p, root, e) || plan_check(p, e) ? -1 : 0;
}

int plan_parse(struct plan *p, slice text, struct err *e)
{
    const struct node *root;
    plan_init(p);
    p->text = slice_copy(&p->arena, text);
    return yaml_parse(text, &p->arena, &root, e) || plan_read(p, root, e) ? -1 : 0;
}

/* ---- plans that extend others ---- */

enum { EXTENDED_MAX = 5 };

/* The path of a file that another file names. */
static const char *path_beside(struct plan *p, const char *path, slice name)
{
    const char *slash = strrchr(path, '/');
    int before = slash && name.p[0] != '/' ? (int)(slash - path) + 1 : 0;
    return arena_printf(&p->arena, "%.*s%.*s", before, path, SLICE_ARG(name));
}

/* The plan that another one extends: it must be right by itself, so that what is wrong has its place
 * in one of the files. */
static int check_base(const char *path, uint32_t depth, struct err *e);

/* Reads the file and all that it extends, to *root. */
static int load_root(struct plan *p, const char *path, uint32_t depth, const struct node **root,
                     struct err *e)
{
    const struct node *own, *base, *other;
    p->dir = file_directory(&p->arena, path);
    if (yaml_load(path, &p->arena, &own, e))
        return -1;
    *root = own;
    base = node_get(own, SLICE("extends"));
    if (!base || base->type != NODE_STR || !base->text.n)
        return 0; /* what is wrong with it is said by its row */
    (void)snprintf(e->source, sizeof e->source, "%s", path);
    if (depth == EXTENDED_MAX)
        return FAIL(e, *base, "more than %d plans extend each other", EXTENDED_MAX);
    const char *other_path = path_beside(p, path, base->text);
    if (check_base(other_path, depth + 1, e) || load_root(p, other_path, depth + 1, &other, e))
        return -1;
    *root = plan_extend(&p->arena, other, own);
    return 0;
}

static int load_at(struct plan *p, const char *path, uint32_t depth, struct err *e)
{
    const struct node *root;
    plan_init(p);
    if (load_root(p, path, depth, &root, e))
        return -1;
    (void)snprintf(e->source, sizeof e->source, "%s", strcmp(path, "-") ? path : "standard input");
    return plan_read(p, root, e);
}

static int check_base(const char *path, uint32_t depth, struct err *e)
{
    struct plan p;
    int status = load_at(&p, path, depth, e);
    plan_free(&p);
    return status;
}

/* What is written is kept for reports. */
static void keep_text(struct plan *p, const char *path)
{
    struct buf text = BUF_INIT(YAML_BYTES_MAX);
    p->file = slice_copy(&p->arena, slice_of(path));
    if (strcmp(path, "-") == 0 || file_read(path, &text))
        buf_clear(&text);
    p->text = buf_keep(&text, &p->arena);
}

int plan_load(struct plan *p, const char *path, struct err *e)
{
    int status = load_at(p, path, 0, e);
    keep_text(p, path);
    return status;
}

int plan_with_events(struct plan *out, const struct plan *p, const struct node *events,
                     struct err *e)
{
    plan_init(out);
    struct node *root = node_map(&out->arena, p->root->n + 1);
    root->n = 0;
    for (uint32_t i = 0; i < p->root->n; i++)
        if (!slice_is(p->root->map[i].key, "events"))
            root->map[root->n++] = p->root->map[i];
    root->map[root->n++] = (struct node_pair){SLICE("events"), 0, 0, events};
    node_seal(root);
    out->dir = p->dir;
    out->derived = true;
    return plan_read(out, root, e);
}

void plan_free(struct plan *p)
{
    for (uint32_t i = 0; i < p->hosts.n; i++)
        vec_deinit(&p->hosts.at[i].tags);
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        vec_deinit(&p->nodes.at[i].tags);
        vec_deinit(&p->nodes.at[i].env);
    }
    for (uint32_t i = 0; i < p->clients.n; i++)
        vec_deinit(&p->clients.at[i].env);
    for (uint32_t i = 0; i < p->events.n; i++) {
        vec_deinit(&p->events.at[i].target.names);
        vec_deinit(&p->events.at[i].target.nodes);
        vec_deinit(&p->events.at[i].from.names);
        vec_deinit(&p->events.at[i].from.members);
    }
    for (uint32_t i = 0; i < p->collects.n; i++) {
        vec_deinit(&p->collects.at[i].keep);
        vec_deinit(&p->collects.at[i].kept);
    }
    vec_deinit(&p->collects);
    vec_deinit(&p->explore.faults);
    vec_deinit(&p->explore.commands);
    vec_deinit(&p->env);
    vec_deinit(&p->hosts);
    vec_deinit(&p->nodes);
    vec_deinit(&p->doors);
    vec_deinit(&p->roles);
    vec_deinit(&p->clients);
    vec_deinit(&p->events);
    vec_deinit(&p->expects);
    arena_deinit(&p->arena);
}
