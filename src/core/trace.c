/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trace.h"

bool call_flags_take(uint8_t flags, mode m)
{
    static const uint8_t only_at[] = {
        [AT_HTTP] = CALL_HTTP, [AT_GRPC] = CALL_GRPC, [AT_HTTP2] = CALL_GRPC | CALL_HTTP2};
    uint8_t kind = flags & (CALL_HTTP | CALL_GRPC);
    enum mode_at at = mode_rows[mode_kind(m) % MODE_KINDS].at;
    if (flags & CALL_EXEMPT)
        return false;
    if (kind == 0 || kind == (CALL_HTTP | CALL_GRPC))
        return true;
    if (kind == CALL_GRPC && mode_field(m).n > 0)
        return false; /* the fields of JSON */
    return at == AT_ANY || (flags & only_at[at]);
}

bool call_late(const struct call *c)
{
    enum outcome_kind kind = outcome_kind(c->seen);
    if (!c->handled)
        return false;
    if (c->mode == MODE_NONE)
        return c->seen != c->reply;
    return (kind == OUT_TIMEOUT || kind == OUT_CANCELLED) &&
           outcome_kind(mode_outcome(c->mode)) != OUT_TIMEOUT;
}

/* Fills first[] and child[] so that each call's children stand together, in order of start. */
static void group_children(const struct trace *trace, struct trace_order *out)
{
    uint32_t n = trace->calls.n;
    while (out->first.n < n + 2)
        vec_push(&out->first, 0);
    while (out->child.n < n)
        vec_push(&out->child, 0);
    uint32_t *first = out->first.at;
    for (uint32_t i = 0; i < n + 2; i++)
        first[i] = 0;
    /* first[i + 2] counts, then first[i + 1] is where the next child of i goes */
    for (uint32_t i = 0; i < n; i++)
        if (trace->calls.at[i].parent != CALL_NONE)
            first[trace->calls.at[i].parent + 2]++;
    for (uint32_t i = 2; i < n + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < n; i++)
        if (trace->calls.at[i].parent != CALL_NONE)
            out->child.at[first[trace->calls.at[i].parent + 1]++] = i;
}

static bool comes_before(const struct call *a, const struct call *b, const struct names *names)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return element_cmp(names, names->uids.at[a->uid].element, names->uids.at[b->uid].element) < 0;
}

/* Insertion sort: children stand nearly in order already. */
static void sort_children(const struct call *calls, const struct names *names, uint32_t *child,
                          uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t moved = child[i], k = i;
        for (; k > 0 && comes_before(&calls[moved], &calls[child[k - 1]], names); k--)
            child[k] = child[k - 1];
        child[k] = moved;
    }
}

void trace_order(const struct trace *trace, const struct names *names, struct trace_order *out)
{
    group_children(trace, out);
    for (uint32_t i = 0; i < trace->calls.n; i++)
        sort_children(trace->calls.at, names, out->child.at + out->first.at[i],
                      out->first.at[i + 1] - out->first.at[i]);
}

void trace_order_deinit(struct trace_order *order)
{
    vec_deinit(&order->first);
    vec_deinit(&order->child);
}

void trace_copy(const struct trace *from, struct trace *out)
{
    out->calls.n = 0;
    for (uint32_t i = 0; i < from->calls.n; i++)
        vec_push(&out->calls, from->calls.at[i]);
}

void trace_copy_tested(const struct trace *from, struct trace *out)
{
    VEC(uint32_t) place = {0}; /* of each call in *out */
    out->calls.n = 0;
    for (uint32_t i = 0; i < from->calls.n; i++) {
        struct call c = from->calls.at[i];
        vec_push(&place, out->calls.n);
        if (c.flags & CALL_HUSHED)
            continue;
        if (c.parent != CALL_NONE)
            c.parent = place.at[c.parent]; /* not hushed either: what is below such a call is */
        vec_push(&out->calls, c);
    }
    vec_deinit(&place);
}
