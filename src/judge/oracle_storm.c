/* SPDX-License-Identifier: Apache-2.0
 *
 * retry-storm: a failure that lasts multiplies the calls to the service that fails.
 *
 * Of one handler a run shows it. Nested retries are put together at the end: of a handler that
 * gives up its caller sees something, and how that reacts to it is known by itself. So it takes no
 * run in which all of them fail, and something that the caller does not try again after ends the
 * multiplication.
 *
 * 1. What counts is calls under a lasting failure divided by calls without faults. */
#include <assert.h>
#include <inttypes.h>

#include "judge/oracle_int.h"

enum {
    STORM = 5,            /* so many calls for one are enough */
    STORM_DEPTH_MAX = 64, /* handlers above each other */
    STORMS_MAX = 300,     /* that are said */
    TIMES_MAX = 1000000   /* nobody needs it more exactly */
};

/* ---- one handler ---- */

/* Calls equal to calls[c], all of which failed: how many more than without faults? */
static void see_call(const struct view *v, uint32_t handler, uint32_t c)
{
    struct judge *j = v->judge;
    uid call = v->calls[c].uid;
    uint32_t made = 0;
    struct witness shown[] = {{CALL_NONE, "fails"}, {CALL_NONE, "the last try"}};
    for (uint32_t k = 0; k < view_children(v, handler); k++) {
        uint32_t i = view_child(v, handler, k);
        const struct call *x = &v->calls[i];
        if (!view_equal(v, c, i))
            continue;
        shown[0].call = shown[0].call == CALL_NONE ? i : shown[0].call;
        shown[1].call = i;
        if (x->request && v->calls[c].request && x->request != v->calls[c].request)
            continue;
        if (!call_failed(x) || !call_sure(x))
            return;
        made++;
    }
    uint32_t usual = calm_equal(j, call, v->calls[c].request);
    uint32_t times = made / (usual ? usual : 1);
    if (times <= STORM || !remark_due(v, ORACLE_RETRY_STORM, call))
        return;
    remark_write(v, ORACLE_RETRY_STORM, call, shown, 2,
                 "a failing %s is called %" PRIu32 " times instead of once: %" PRIu32
                 " tries by %s",
                 say_name(j, call), times, times, say_service(j, v->calls[handler].uid));
}

void oracle_storm(const struct view *v)
{
    for (uint32_t i = 0; i < v->n; i++) {
        uint32_t n = view_children(v, i);
        if (n <= STORM || !v->faults.at[i])
            continue;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t c = view_child(v, i, k);
            const struct element *e = uid_element(v->names, v->calls[c].uid);
            if ((e->n == STORM || e->before) && call_failed(&v->calls[c]))
                see_call(v, i, c);
        }
    }
}

/* ---- nested ---- */

struct storm {
    const struct reaction *inner;
    uint32_t times;
    uint32_t n; /* handlers that try again, innermost first */
    struct {
        uid handler;
        uint32_t times;
    } by[STORM_DEPTH_MAX];
};

struct storms {
    struct judge *judge;
    struct map limits; /* group -> how often it is tried at most */
    struct map at;     /* group -> its storm */
    VEC(struct storm) found;
};

/* How often a call is made for once. Where it was tried again after this failure, but no run shows
 * how often, it is taken to be as often as after others. */
static uint32_t factor(const struct storms *all, const struct reaction *r)
{
    const uint32_t *limit = map_get(&all->limits, r->group);
    uint32_t usual = calm_equal(all->judge, r->call, 0);
    uint32_t tries =
        r->tries > 1 && !r->persistent && limit && *limit > r->tries ? *limit : r->tries;
    return usual ? (usual + tries - 1) / usual : tries; /* tries >= 1 */
}

/* What comes of a call that keeps failing: up from the handler that makes it, as long as what is
 * seen of a handler is a failure to which the reaction of the one above is known. The client of the
 * scenario may try as often as it likes. */
static struct storm storm_of(const struct storms *all, const struct reaction *inner)
{
    const struct judge *j = all->judge;
    struct storm s = {.inner = inner, .times = 1};
    const struct reaction *r = inner;
    for (uint32_t depth = 0; r && depth < STORM_DEPTH_MAX; depth++) {
        uint32_t at = calm_find(&j->calm, r->call);
        if (at != CALL_NONE && j->calm.trace.calls.at[at].flags & CALL_EXEMPT)
            break;
        uid handler = uid_parent(j->opt.names, r->group);
        uint32_t times = factor(all, r);
        s.times = s.times > TIMES_MAX / times ? TIMES_MAX : s.times * times;
        if (times > 1 && s.n < STORM_DEPTH_MAX) {
            s.by[s.n].handler = handler;
            s.by[s.n++].times = times;
        }
        /* how the handler above reacts to that, as much as is known of it */
        bool gives_up = r->persistent && !outcome_ok(r->seen);
        label seen = r->seen;
        r = NULL;
        for (int kind = 3; kind >= 0 && gives_up && !r; kind--)
            r = reaction_find(j, names_uid_all(j->opt.names, handler), seen, kind & 2, kind & 1);
    }
    return s;
}

void oracle_storm_end(struct judge *j)
{
    struct storms all = {.judge = j};
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        const uint32_t *limit = map_get(&all.limits, r->group);
        if (r->persistent && (!limit || *limit < r->tries))
            map_set(&all.limits, r->group, r->tries);
    }
    for (uint32_t i = 0; i < j->reactions.n && all.found.n < STORMS_MAX; i++) {
        const struct reaction *r = &j->reactions.at[i];
        if (!r->persistent || factor(&all, r) <= 1)
            continue;
        struct storm s = storm_of(&all, r);
        if (s.times <= STORM)
            continue;
        uint32_t at = map_index(&all.at, r->group, all.found.n);
        if (at == all.found.n)
            vec_push(&all.found, s);
        assert(at < all.found.n);
        const struct storm *kept = &all.found.at[at]; /* of one call the largest is said */
        if (s.times != kept->times ? s.times > kept->times : s.inner->label < kept->inner->label)
            all.found.at[at] = s;
    }
    for (uint32_t i = 0; i < all.found.n; i++) {
        const struct storm *s = &all.found.at[i];
        bool part = false; /* of one that begins further down */
        for (uint32_t k = 0; k < all.found.n && !part; k++)
            part =
                k != i && uid_contains(j->opt.names, s->inner->call, all.found.at[k].inner->call);
        if (part)
            continue;
        struct buf by = BUF_INIT(600);
        for (uint32_t k = 0; k < s->n; k++)
            buf_addf(&by, "%s%" PRIu32 " %sby %s", k ? " times " : "", s->by[k].times,
                     k ? "" : "tries ", say_service(j, s->by[k].handler));
        remark_conclude(j, ORACLE_RETRY_STORM, s->inner->call, s->inner,
                        "a failing %s is called %" PRIu32 " times instead of once: %s",
                        say_name(j, s->inner->call), s->times, buf_text(&by));
        buf_deinit(&by);
    }
    vec_deinit(&all.found);
    map_deinit(&all.limits);
    map_deinit(&all.at);
}
