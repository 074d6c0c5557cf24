/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules held against a call. What costs least to know is asked first. */
#include "base/hash.h"
#include "base/random.h"
#include "harm/calls_int.h"

static bool is_met(const struct syscall_rule *r, const struct calls_view *c)
{
    uint32_t kinds = r->error ? syscall_fails(c->id, r->error) : FD_ANY;
    if (!syscall_set_has(&r->calls, c->id) || (r->fd >= 0 && c->fd != r->fd) || !kinds)
        return false;
    if (!(kinds & FD_ANY) && !(c->kind(c->user) & kinds))
        return false;
    return !r->path.n || c->meant(c->user, r->path);
}

/* It was met: is it struck too? */
static bool is_struck(const struct syscall_rule *r, const struct calls_count *count)
{
    struct rng dice = {hash_mix(r->seed, count->met)};
    return count->met >= r->nth && (!r->times || count->struck < r->times) &&
           (r->chance >= SYSCALL_MILLION || rng_below(&dice, SYSCALL_MILLION) < r->chance);
}

void calls_decide(const struct calls_state *s, struct calls_count counts[CALLS_SLOTS],
                  const struct calls_view *call, struct calls_verdict *out)
{
    out->error = 0;
    out->part = out->slot = out->n = 0;
    out->latency_ns = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        const struct syscall_rule *r = &s->at[i].rule;
        struct calls_count *count = &counts[s->at[i].slot];
        if (!is_met(r, call))
            continue;
        count->met++;
        if (!is_struck(r, count))
            continue;
        count->struck++;
        out->slots[out->n++] = s->at[i].slot;
        out->latency_ns += r->latency_ns;
        if (!out->error && !out->part) {
            out->error = r->error;
            out->part = r->part;
            out->slot = s->at[i].slot;
        }
    }
}
