/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of doors, which are ours: orders to their plane, or what becomes of calls. Nothing is left of
 * them when we end. */
#include "lab/doors.h"
#include "lab/lab_int.h"
#include "proxy/steer.h"

/* One of both. */
struct door_harm {
    struct steer steer;
    struct door_calls calls;
};

static bool is_call(const struct plan_event *e)
{
    return slice_is(e->type, "http");
}

static struct steer steer_of(const struct plan_event *e)
{
    const struct plan_steer *s = &e->steer;
    return (struct steer){.name = e->name,
                          .in = e->link.direction != LINK_OUT,
                          .out = e->link.direction != LINK_IN,
                          .late_ns = e->link.latency_ns,
                          .jitter_ns = e->link.jitter_ns,
                          .rate = e->link.bandwidth,
                          .slice = (uint32_t)(s->slice < UINT32_MAX ? s->slice : UINT32_MAX),
                          .pause_ns = s->pause_ns,
                          .close_ns = s->close_ns,
                          .limit = s->bytes,
                          .hold = slice_is(e->type, "tcp-hold"),
                          .reset = slice_is(e->type, "tcp-reset"),
                          .down = slice_is(e->type, "tcp-down"),
                          .nth = s->nth,
                          .every = s->every};
}

static void door_begin(struct harm *h)
{
    struct lab *lab = h->lab;
    const struct plan_event *e = harm_event(h);
    struct err why = {0};
    h->at_door = mem_zero(sizeof *h->at_door);
    if (is_call(e)) {
        h->at_door->calls = (struct door_calls){
            .event = e,
            .dice = {(lab->plan->seed + lab->run->number) * 0x9e3779b97f4a7c15u +
                     harm_spell(h)->event}};
        doors_add(lab->doors, &h->at_door->calls);
    } else {
        h->at_door->steer = steer_of(e);
        if (plane_steer(doors_plane(lab->doors), e->steer.at_door, &h->at_door->steer, &why)) {
            harm_fail(h, slice_of(why.text));
            harm_over(h);
            return;
        }
    }
    harm_on(h);
}

static void door_end(struct harm *h)
{
    const struct plan_event *e = harm_event(h);
    struct err why = {0};
    if (is_call(e))
        doors_remove(h->lab->doors, &h->at_door->calls);
    else if (plane_release(doors_plane(h->lab->doors), e->steer.at_door, &h->at_door->steer, &why))
        harm_fail(h, slice_of(why.text));
    harm_spell(h)->struck += h->at_door->calls.struck + h->at_door->steer.struck;
    harm_over(h);
}

const struct harm_kind harm_door = {door_begin, door_end, false};
