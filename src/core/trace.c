/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trace.h"

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

static bool sequential(const struct call *calls, const uint32_t *child, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++)
        if (calls[child[i - 1]].end_ns > calls[child[i]].start_ns)
            return false;
    return true;
}

/* Selection sort by the rule in the header: quadratic, on groups of overlapping calls only. */
static void order_overlapping(const struct call *calls, const struct names *names, uint32_t *child,
                              uint32_t n)
{
    for (; n > 1; child++, n--) {
        uint32_t best = 0;
        bool found = false;
        int64_t first_end = INT64_MAX;
        for (uint32_t i = 0; i < n; i++)
            if (calls[child[i]].end_ns < first_end)
                first_end = calls[child[i]].end_ns;
        for (uint32_t i = 0; i < n; i++) {
            const struct call *c = &calls[child[i]];
            if (c->start_ns >= first_end)
                continue; /* something that is left ended before it started */
            if (!found || element_cmp(names, names->uids.at[c->uid].element,
                                      names->uids.at[calls[child[best]].uid].element) < 0)
                best = i;
            found = true;
        }
        uint32_t chosen = child[best];
        for (uint32_t i = best; i > 0; i--)
            child[i] = child[i - 1];
        child[0] = chosen;
    }
}

void trace_order(const struct trace *trace, const struct names *names, struct trace_order *out)
{
    group_children(trace, out);
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        uint32_t *child = out->child.at + out->first.at[i];
        uint32_t n = out->first.at[i + 1] - out->first.at[i];
        if (n > 1 && !sequential(trace->calls.at, child, n))
            order_overlapping(trace->calls.at, names, child, n);
    }
}

void trace_order_deinit(struct trace_order *order)
{
    vec_deinit(&order->first);
    vec_deinit(&order->child);
}
