/* SPDX-License-Identifier: Apache-2.0
 *
 * A `lab` is a tracker for the services a, b, c and d; what a service would pass on of a request is
 * said by copying fields of what the tracker wrote. */
#ifndef OUTFOX_SUPPORT_TRACK_LAB_H
#define OUTFOX_SUPPORT_TRACK_LAB_H

#include "support/unit.h"
#include "track/track.h"

enum { A, B, C, D, SERVICES };

static const slice services[SERVICES] = {{"a", 1}, {"b", 1}, {"c", 1}, {"d", 1}};

struct lab {
    struct names names;
    struct arena arena;
    struct tracker *t;
    struct lessons *lessons;
    struct aim aim;
    struct trace trace;
    int64_t now;
    uint32_t owner; /* whose process has the other end; SERVICES: nobody's */
};

static inline bool owns(void *ctx, uint32_t service)
{
    const struct lab *l = ctx;
    return service == l->owner;
}

static inline void lab_open(struct lab *l, struct track_options o)
{
    *l = (struct lab){.owner = SERVICES};
    names_init(&l->names);
    o.names = &l->names;
    o.services = services;
    o.n_services = SERVICES;
    o.seed = 7;
    l->t = tracker_new(&o);
    l->lessons = lessons_new(SERVICES);
    l->aim = (struct aim){0};
}

/* Another scenario is about to be learned about. */
static inline void forget(struct lab *l)
{
    lessons_drop(l->lessons);
    l->lessons = lessons_new(SERVICES);
}

static inline void lab_close(struct lab *l)
{
    tracker_free(l->t);
    lessons_drop(l->lessons);
    aim_deinit(&l->aim);
    vec_deinit(&l->trace.calls);
    arena_deinit(&l->arena);
    names_deinit(&l->names);
}

static inline struct track_run *begin_in(struct lab *l, uint32_t slot, uint32_t service,
                                         bool learning)
{
    return track_begin(l->t, slot, service, SLICE("GET /"), 0, &l->aim, l->lessons, learning,
                       ++l->now);
}

static inline struct track_run *begin(struct lab *l)
{
    return begin_in(l, 0, A, false);
}

/* What the scenario's own request carries. */
static inline struct head asked(struct lab *l, const struct track_run *r)
{
    struct head h = {0};
    track_write_head(l->t, r, 0, NULL, &h, &l->arena);
    return h;
}

/* Of a request that was received, what a service passes on: fields whose names are in the list. */
static inline struct head passed(struct lab *l, const struct head *from, const char *list)
{
    struct field *fields = arena_zero(&l->arena, (from->n_fields + 1) * sizeof *fields);
    struct head out = {.fields = fields};
    for (uint32_t i = 0; i < from->n_fields; i++)
        if (strstr(list, slice_copy(&l->arena, from->fields[i].name).p))
            fields[out.n_fields++] = from->fields[i];
    return out;
}

#define STATE "traceparent tracestate"

struct arrival {
    uint32_t service, caller;
    const struct head *head;
    const char *interface, *body;
    bool crowded, whole, idle;
};

/* One call; *sent: the head as it goes on to the service. */
static inline struct call_fate arrive(struct lab *l, struct arrival x, struct head *sent)
{
    static const struct head none;
    struct track_arrival a = {.service = x.service,
                              .caller = x.caller,
                              .interface = slice_of(x.interface ? x.interface : "GET /"),
                              .flags = CALL_HTTP,
                              .body = slice_of(x.body ? x.body : ""),
                              .whole = x.whole,
                              .start_ns = ++l->now,
                              .crowded = x.crowded,
                              .idle = x.idle,
                              .owns = owns,
                              .ctx = l};
    struct head head = x.head ? *x.head : none;
    struct call_fate out;
    track_read_head(l->t, &head, &a);
    a.content_type = SLICE("application/json");
    const struct track_run *r = track_arrive(l->t, &a, &out);
    if (r)
        track_write_head(l->t, r, out.call, &a.context, &head, &l->arena);
    if (sent)
        *sent = head;
    return out;
}

static inline void ended(struct lab *l, struct call_fate a)
{
    track_ended(l->t, a.run, a.call, OUTCOME_OK, OUTCOME_OK, true, false, ++l->now);
}

static inline void finish(struct lab *l, struct track_run *r)
{
    track_answered(r, OUTCOME_OK, ++l->now);
    track_end(l->t, r, &l->trace, ++l->now);
}

static inline void assert_name(const struct lab *l, uid u, const char *wanted)
{
    struct buf text = BUF_INIT(10000);
    uid_print(&l->names, u, &text);
    assert_string_equal(buf_text(&text), wanted);
    buf_deinit(&text);
}

static const struct call *call_at(const struct track_run *r, uint32_t i)
{
    assert_true(i < r->all.trace.calls.n);
    return &r->all.trace.calls.at[i];
}

#endif
