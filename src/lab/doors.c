/* SPDX-License-Identifier: Apache-2.0
 *
 * Doors as a plane of proxies, which asks us about each call: first the schedule hears of it, so that a
 * fault that it triggers can be meant for this very call; then the faults that are on decide. */
#include "lab/doors.h"

#include "base/hash.h"
#include "base/index.h"
#include "io/addr.h"
#include "lab/lab_int.h"
#include "proxy/proxy.h"

struct doors {
    struct lab *lab;
    struct plane *plane;
    struct guest guest;
    struct director director;
    struct door_calls *calls; /* that fail */
    struct map counts;        /* of calls, by door and interface, since the clock was started */
};

struct plane *doors_plane(struct doors *d)
{
    return d->plane;
}

/* ---- calls ---- */

void doors_add(struct doors *d, struct door_calls *c)
{
    c->next = d->calls;
    d->calls = c;
}

void doors_remove(struct doors *d, struct door_calls *c)
{
    for (struct door_calls **at = &d->calls; *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            return;
        }
}

/* Does this one fail? It counts what it is asked about. */
static bool fails(struct door_calls *c, uint32_t door, slice interface)
{
    const struct plan_steer *s = &c->event->steer;
    if (s->at_door != door || (s->calls.n && !slice_glob(s->calls, interface)))
        return false;
    c->seen++;
    if ((s->nth && c->seen != s->nth) || (s->every && c->seen % s->every != 0))
        return false;
    return (double)(rng_next(&c->dice) >> 11) / (double)(UINT64_C(1) << 53) < s->chance;
}

/* May it be the value of a header? */
static bool is_plain(slice name)
{
    for (size_t i = 0; i < name.n; i++)
        if (name.p[i] < ' ' || name.p[i] > '~')
            return false;
    return true;
}

static enum arrived on_arrived(void *ctx, struct call_arrival *a, struct call_fate *fate)
{
    struct doors *d = ctx;
    uint32_t nth = 0;
    if (d->lab->watching)
        nth = map_count(&d->counts, hash_mix(hash_slice(a->interface), a->door));
    lab_called(d->lab, a->door, a->interface, nth);
    for (struct door_calls *c = d->calls; c; c = c->next)
        if (fails(c, a->door, a->interface) && fate->mode == MODE_NONE) {
            c->struck++;
            fate->mode = c->event->steer.mode;
            d->director.fault = is_plain(c->event->name) ? c->event->name : SLICE("plan");
        }
    return ARRIVED_DECIDED;
}

static void on_connected(void *ctx, uint32_t door)
{
    lab_connected(((struct doors *)ctx)->lab, door);
}

/* ---- opening and closing ---- */

/* Port 0 is chosen anew for each: so it is right that doors have names of their own. */
static int add_door(struct proxy_config *c, const struct plan_door *d, struct err *e)
{
    const char *scheme = d->protocol == DOOR_HTTP ? "http" : "tcp";
    int i = config_add_proxy(c, e);
    if (i < 0)
        return -1;
    struct arena *a = &c->arena;
    slice listen = slice_of(arena_printf(a, "%s://%.*s", scheme, SLICE_ARG(d->listen)));
    slice to = slice_of(arena_printf(a, "%s://%.*s", scheme, SLICE_ARG(d->to)));
    return proxy_set(c, (uint32_t)i, SLICE("service"), d->name, e) ||
                   proxy_set(c, (uint32_t)i, SLICE("listen"), listen, e) ||
                   proxy_set(c, (uint32_t)i, SLICE("to"), to, e)
               ? -1
               : 0;
}

static int embed(struct doors *d, struct err *e)
{
    const struct lab *lab = d->lab;
    struct proxy_config *c = config_new();
    struct buf log = BUF_INIT(8192);
    int status = 0;
    buf_addf(&log, "%.*s/calls.jsonl", SLICE_ARG(lab->dir));
    c->seed = lab->plan->seed + lab->run->number;
    status = config_set(c, SLICE("log"), buf_slice(&log), e);
    for (uint32_t i = 0; i < lab->plan->doors.n && !status; i++)
        status = add_door(c, &lab->plan->doors.at[i], e);
    if (status || config_finish(c, e) || plane_embed(c, &d->director, NULL, NULL, &d->plane, e)) {
        config_free(c);
        status = -1;
    }
    buf_deinit(&log);
    return status;
}

static void add_variable(struct lab *lab, uint32_t door)
{
    struct arena *a = &lab->arena;
    struct buf address = BUF_INIT(200);
    char *name = arena_printf(a, "OUTFOX_DOOR_%.*s", SLICE_ARG(lab->plan->doors.at[door].name));
    for (char *c = name; *c; c++)
        *c = *c == '-' || *c == '.' ? '_' : *c;
    addr_print(plane_listens(lab->doors->plane, door), &address);
    vec_push(&lab->env, ((struct text_pair){slice_of(name), slice_copy(a, buf_slice(&address))}));
    buf_deinit(&address);
}

int doors_open(struct lab *lab, struct err *e)
{
    if (!lab->plan->doors.n)
        return 0;
    struct doors *d = mem_zero(sizeof *d);
    d->lab = lab;
    d->director = (struct director){
        .ctx = d, .fault = SLICE("plan"), .arrived = on_arrived, .connected = on_connected};
    lab->doors = d;
    if (embed(d, e))
        return -1;
    for (uint32_t i = 0; i < lab->plan->doors.n; i++)
        add_variable(lab, i);
    int code = guest_open(&d->guest, &lab->loop, plane_loop(d->plane));
    return code ? err_set(e, 0, 0, "the doors cannot be opened: %s", uv_strerror(code)) : 0;
}

void doors_close(struct doors *d)
{
    if (!d)
        return;
    guest_close(&d->guest);
    for (int i = 0; i < 2; i++) /* the first may only find that loop_stop was said */
        (void)uv_run(&d->lab->loop.uv, UV_RUN_NOWAIT);
    if (d->plane) {
        plane_stop(d->plane, true);
        loop_run(plane_loop(d->plane));
        plane_free(d->plane);
    }
    map_deinit(&d->counts);
    mem_free(d);
}
