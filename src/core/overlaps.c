/* SPDX-License-Identifier: Apache-2.0 */
#include "core/overlaps.h"

#include "base/hash.h"

enum { LOOK_BACK = 256 }; /* calls of the run before one that it is compared with */

void overlaps_deinit(struct overlaps *o)
{
    map_deinit(&o->pairs);
}

/* The same for (a, b) and (b, a). */
static uint64_t pair_key(const struct names *names, uid handler, const struct call *a,
                         const struct call *b)
{
    uint32_t x = names->uids.at[a->uid].element, y = names->uids.at[b->uid].element;
    return hash_mix(handler, hash_mix(x < y ? x : y, x < y ? y : x));
}

static bool tells(const struct call *c)
{
    return c->mode == MODE_NONE && !(c->flags & CALL_OPEN) &&
           outcome_kind(c->seen) != OUT_CANCELLED;
}

void overlaps_learn(struct overlaps *o, const struct names *names, const struct trace *trace)
{
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        const struct call *b = &trace->calls.at[i];
        for (uint32_t k = i; k-- > 1 && i - k <= LOOK_BACK;) {
            const struct call *a = &trace->calls.at[k];
            if (a->parent != b->parent || a->end_ns <= b->start_ns || !tells(a))
                continue;
            map_set(&o->pairs, pair_key(names, trace->calls.at[b->parent].uid, a, b), 1);
        }
    }
}

void trace_align(struct trace *trace, const struct overlaps *o, const struct names *names)
{
    if (!o->pairs.items.n)
        return;
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        struct call *b = &trace->calls.at[i];
        int64_t group = INT64_MIN; /* when the last group of the handler began */
        for (uint32_t k = i; k-- > 1 && i - k <= LOOK_BACK;) {
            const struct call *a = &trace->calls.at[k];
            if (a->parent != b->parent)
                continue;
            if (group == INT64_MIN)
                group = a->start_ns;
            if (a->start_ns != group)
                break;
            if (map_get(&o->pairs, pair_key(names, trace->calls.at[b->parent].uid, a, b))) {
                b->start_ns = a->start_ns;
                break;
            }
        }
    }
}
