/* SPDX-License-Identifier: Apache-2.0
 *
 * On behalf of which call of which run is this one made? What the request says comes first; where
 * it says nothing, the calling service's open call is meant. */
#include "track/track_int.h"

static struct track_run *only_run(const struct tracker *t, const struct track_arrival *a)
{
    for (uint32_t i = 0; t->n_runs == 1 && !a->crowded && i < SLOTS_MAX; i++)
        if (t->slot[i])
            return t->slot[i];
    return NULL;
}

/* Could the caller be the service that handles this call? */
static bool may_be(const struct track_arrival *a, bool by_address, uint32_t service)
{
    if (by_address)
        return service == a->caller;
    return a->owns && service != CALLER_CLIENT && a->owns(a->ctx, service);
}

/* The newest call of the caller that is open, or that has ended; *n counts them. */
static uint32_t call_of_caller(const struct track_run *r, const struct track_arrival *a,
                               bool by_address, bool open, uint32_t *n)
{
    uint32_t found = CALL_NONE;
    *n = 0;
    for (uint32_t i = 0; i < r->all.calls.n; i++) {
        const struct track_call *c = &r->all.calls.at[i];
        if (c->open != open || !may_be(a, by_address, c->service))
            continue;
        found = i;
        ++*n;
    }
    return found;
}

/* By address, then by process; open calls, then those that have ended (work that goes on after the
 * answer). A guess of last resort is the scenario's own request. */
static void find_by_caller(const struct track_arrival *a, struct track_parent *out)
{
    uint32_t n;
    bool addressed = a->caller != CALLER_UNKNOWN;
    for (int open = 1; open >= 0; open--)
        for (int by_address = addressed; by_address >= 0; by_address--) {
            out->call = call_of_caller(out->run, a, by_address, open, &n);
            if (n > 0) {
                out->ambiguous = n > 1;
                return;
            }
        }
    out->call = 0;
    out->ambiguous = true;
}

/* Does the request say on behalf of which call of this run it is made? */
static bool says_call(const struct tracker *t, const struct track_run *r, const struct context *c)
{
    return t->opt.best == TRACK_STATE && c->run == r->key && c->call < r->all.calls.n;
}

/* A client that was given addresses of its own is known by them, unless it has handed them on to a
 * service that says so. */
static bool find_client(const struct tracker *t, const struct track_arrival *a,
                        struct track_parent *out)
{
    if (a->caller == CALLER_UNKNOWN || !(a->caller & CALLER_CLIENT))
        return false;
    out->run = t->slot[a->caller & ~CALLER_CLIENT];
    out->call = 0;
    if (out->run && says_call(t, out->run, &a->context)) {
        out->call = a->context.call;
        out->by = TRACK_STATE;
    }
    return true;
}

void parent_find(const struct tracker *t, const struct track_arrival *a, struct track_parent *out)
{
    *out = (struct track_parent){.call = CALL_NONE, .by = TRACK_NONE};
    const struct context *c = &a->context;
    if (find_client(t, a, out))
        return;
    if (c->run)
        out->run = track_find(t, c->run);
    else
        out->run = only_run(t, a);
    if (!out->run)
        return;
    if (says_call(t, out->run, c)) {
        out->call = c->call;
        out->by = TRACK_STATE;
        return;
    }
    out->by = c->run ? TRACK_TRACE : TRACK_NONE;
    find_by_caller(a, out);
}
