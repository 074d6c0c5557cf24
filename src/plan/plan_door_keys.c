/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of doors: proxies of ours between clients and what they call; what must hold of them, and
 * of faults and triggers that name one. */
#include "core/interface.h"
#include "plan/injector.h"
#include "plan/plan_int.h"

enum { CALLS_BYTES_MAX = 2000 };

/* HOST:PORT; the host is looked up when the door is opened. */
static int read_address(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    slice s = *(slice *)key_field(key, into);
    size_t colon = s.n;
    uint64_t port;
    while (colon && s.p[colon - 1] != ':')
        colon--;
    bool scheme = slice_find(s, '/') < s.n;
    bool good = colon > 1 && !scheme && slice_to_u64(slice_from(s, colon), 65535, &port);
    return good ? 0
                : keys_fail(r, value, "\"%s\" must be HOST:PORT, such as 127.0.0.1:7411%s",
                            key->name, scheme ? ", without a scheme: protocol says that" : "");
}

static const char *const protocols[] = {"tcp", "http", NULL};

/* clang-format off */
static const struct key door_rows[] = {
    {"to", KEY_TEXT, offsetof(struct plan_door, to), .needed = "to: 127.0.0.1:7411", .read = read_address,
     .doc = "address of the service behind it, HOST:PORT; required"},
    {"listen", KEY_TEXT, offsetof(struct plan_door, listen), .read = read_address,
     .fallback = "a port of 127.0.0.1 that is free", .doc = "its own address"},
    {"protocol", KEY_WORD, offsetof(struct plan_door, protocol), .words = protocols,
     .fallback = "tcp", .doc = "what is spoken there: http, which is gRPC too, or anything (tcp)"},
    {"node", KEY_TEXT, offsetof(struct plan_door, node), .fallback = "none",
     .doc = "the node behind it: who match_trigger is at triggers of this door"},
};
/* clang-format on */
const struct keys plan_door_keys = {"a door", "door", KEY_ROWS(door_rows)};

int plan_read_door(struct keys_reader *r, const struct key *key, void *into,
                   const struct node_pair *pair)
{
    struct plan *p = into;
    struct plan_door d = {.name = pair->key,
                          .listen = SLICE("127.0.0.1:0"),
                          .behind = PLAN_NONE,
                          .at = {pair->line, pair->col}};
    int status = plan_pair_name(r, key, pair, "the name of a door") ||
                         keys_want(r, key->name, pair->value, NODE_MAP) ||
                         keys_read(r, &plan_door_keys, &d, pair->value)
                     ? -1
                     : 0;
    vec_push(&p->doors, d);
    return status;
}

int plan_read_calls(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    slice *calls = key_field(key, into), rest, word[3];
    struct buf text = BUF_INIT(CALLS_BYTES_MAX);
    uint32_t n = 0;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    rest = value->text;
    while (n < 3 && slice_word(&rest, &word[n]))
        n++;
    if (n < 1 || n > 2 || (n == 2 && word[1].p[0] != '/' && word[1].p[0] != '*'))
        return keys_fail(r, value,
                         "\"%s\" must be calls: \"METHOD /path\", /path or package.Service/Method, "
                         "in which * stands for anything",
                         key->name);
    interface_read(value->text, NULL, &text);
    *calls = buf_keep(&text, r->arena);
    return calls->n ? 0 : keys_fail(r, value, "\"%s\" is too long", key->name);
}

int plan_read_mode(struct keys_reader *r, const struct key *key, void *into,
                   const struct node *value)
{
    struct err inner = {0};
    if (keys_want_scalar(r, key->name, value))
        return -1;
    mode *m = key_field(key, into);
    if (mode_parse(value->text, m, &inner))
        return keys_fail(r, value, "\"%s\": %s", key->name, inner.text);
    return mode_act(*m) == ACT_EVENT
               ? keys_fail(
                     r, value,
                     "\"%s\": an event is a trigger here: give the other fault a trigger with "
                     "call",
                     key->name)
               : 0;
}

/* ---- what must hold ---- */

static int32_t find(struct plan *p, slice name, struct plan_place at, struct err *e)
{
    struct hint hint;
    for (uint32_t i = 0; i < p->doors.n; i++)
        if (slice_eq(p->doors.at[i].name, name))
            return (int32_t)i;
    HINT(p->doors, name, &hint);
    (void)FAIL(e, at, "there is no door \"%.*s\"%s", SHORT(name), hint.text);
    return PLAN_NONE;
}

static bool any_http(const struct plan *p)
{
    for (uint32_t i = 0; i < p->doors.n; i++)
        if (p->doors.at[i].protocol == DOOR_HTTP)
            return true;
    return false;
}

int plan_check_doors(struct plan *p, struct err *e)
{
    for (uint32_t i = 0; i < p->doors.n; i++) {
        struct plan_door *d = &p->doors.at[i];
        d->behind = plan_node(p, d->node);
        if (d->node.n && d->behind == PLAN_NONE)
            return FAIL(e, d->at, "the door \"%.*s\": there is no node \"%.*s\"", SHORT(d->name),
                        SHORT(d->node));
    }
    return p->network && p->doors.n
               ? FAIL(e, p->doors.at[0].at,
                      "a plan has doors or a network of its own, not both: members of a network "
                      "do not reach doors, and faults of links need none")
               : 0;
}

static int check_trigger(struct plan *p, struct plan_trigger *t, struct err *e)
{
    t->at_door = PLAN_NONE;
    if (t->kind == TRIGGER_CALL && !any_http(p))
        return FAIL(e, t->place, "\"call\" needs a door with protocol: http to be seen at");
    if (t->door.n && t->kind != TRIGGER_CALL && t->kind != TRIGGER_CONNECTION)
        return FAIL(e, t->place, "\"door\" of a trigger goes with \"call\"");
    if (!t->door.n)
        return 0;
    t->at_door = find(p, t->door, t->place, e);
    if (t->at_door == PLAN_NONE)
        return -1;
    bool http = p->doors.at[t->at_door].protocol == DOOR_HTTP;
    return http == (t->kind == TRIGGER_CALL)
               ? 0
               : FAIL(e, t->place, "the door \"%.*s\" has protocol: %s: its trigger is \"%s\"",
                      SHORT(t->door), http ? "http" : "tcp", http ? "call" : "connection");
}

bool plan_trigger_has_node(const struct plan *p, const struct plan_trigger *t)
{
    if (t->kind == TRIGGER_TIME || t->kind == TRIGGER_MANUAL)
        return false;
    if (t->kind != TRIGGER_CALL && t->kind != TRIGGER_CONNECTION)
        return true;
    for (uint32_t i = 0; i < p->doors.n; i++)
        if ((t->at_door == PLAN_NONE || t->at_door == (int32_t)i) &&
            p->doors.at[i].behind != PLAN_NONE)
            return true;
    return false;
}

int plan_check_at_door(struct plan *p, struct plan_event *ev, struct err *e)
{
    struct plan_steer *s = &ev->steer;
    if (check_trigger(p, &ev->trigger, e))
        return -1;
    if (ev->injector->kind != INJECT_DOOR)
        return 0;
    int32_t door = find(p, s->door, ev->at, e);
    if (door == PLAN_NONE)
        return -1;
    s->at_door = (uint32_t)door;
    s->nth = node_get(ev->fault, SLICE("nth")) ? ev->calls.nth : 0;
    s->chance = (double)ev->calls.chance / SYSCALL_MILLION;
    bool http = p->doors.at[door].protocol == DOOR_HTTP;
    if (http != slice_is(ev->type, "http"))
        return FAIL(e, ev->at, "\"%s\" needs a door with protocol: %s: \"%.*s\" %s",
                    ev->injector->name, http ? "tcp" : "http", SHORT(s->door),
                    http ? "speaks http; take http" : "passes bytes on; take tcp or tcp-reset");
    return s->pause_ns && !s->slice
               ? FAIL(e, ev->at, "\"pause\" is a time between slices: say \"slice\" too")
               : 0;
}
