/* SPDX-License-Identifier: Apache-2.0 */
#include "core/trace.h"

#include "base/hash.h"

bool call_flags_take(uint8_t flags, mode m)
{
    static const uint8_t only_at[] = {
        [AT_HTTP] = CALL_HTTP, [AT_GRPC] = CALL_GRPC, [AT_HTTP2] = CALL_GRPC | CALL_HTTP2};
    uint8_t kind = flags & (CALL_HTTP | CALL_GRPC);
    enum mode_at at = mode_rows[mode_kind(m)].at;
    if (flags & CALL_EXEMPT)
        return false;
    if (kind == 0 || kind == (CALL_HTTP | CALL_GRPC))
        return true;
    if (kind == CALL_GRPC && mode_field(m).n > 0)
        return false; /* the fields of JSON */
    return at == AT_ANY || (flags & only_at[at]);
}

bool call_hit_by(const struct call *c, const struct names *names, struct fault fault)
{
    struct service_fault how = fault_service(names, fault);
    if (c->mode == MODE_NONE || !how.row)
        return c->mode == fault.mode && c->mode != MODE_NONE && c->fault_point == fault.point;
    return c->fault_point == c->uid &&
           uid_element(names, c->uid)->service == uid_element(names, fault.point)->service &&
           c->mode == service_fault_mode(how, names, c->uid, c->flags);
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

static bool comes_before(const struct call *a, const struct call *b, const struct names *names)
{
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns;
    return element_cmp(names, names->uids.at[a->uid].element, names->uids.at[b->uid].element) < 0;
}

void trace_order(const struct trace *trace, const struct names *names, struct trace_order *out)
{
    const struct call *calls = trace->calls.at;
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
        if (calls[i].parent != CALL_NONE)
            first[calls[i].parent + 2]++;
    for (uint32_t i = 2; i < n + 2; i++)
        first[i] += first[i - 1];
    for (uint32_t i = 0; i < n; i++)
        if (calls[i].parent != CALL_NONE)
            out->child.at[first[calls[i].parent + 1]++] = i;
    for (uint32_t i = 0; i < n; i++) { /* insertion sort: they stand nearly in order already */
        uint32_t *child = out->child.at + first[i], n_children = first[i + 1] - first[i];
        for (uint32_t c = 1; c < n_children; c++) {
            uint32_t moved = child[c], k = c;
            for (; k > 0 && comes_before(&calls[moved], &calls[child[k - 1]], names); k--)
                child[k] = child[k - 1];
            child[k] = moved;
        }
    }
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

int64_t trace_pause(const struct trace *trace)
{
    VEC(int64_t) heard = {0}; /* of each handler: when its last call had ended, or it began */
    int64_t longest = 0;
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        vec_push(&heard, c->start_ns);
        if (c->parent == CALL_NONE)
            continue;
        int64_t *above = &heard.at[c->parent];
        if (c->flags & CALL_EXEMPT)
            *above = INT64_MAX; /* who makes it is no service */
        longest = c->start_ns - *above > longest ? c->start_ns - *above : longest;
        *above = c->end_ns > *above ? c->end_ns : *above;
    }
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        bool works = c->mode == MODE_NONE && c->handled && !(c->flags & CALL_OPEN);
        if (works && c->end_ns - heard.at[i] > longest)
            longest = c->end_ns - heard.at[i];
    }
    vec_deinit(&heard);
    return longest;
}

/* ---- calls that are made at the same time ---- */

/* Calls that are made at the same time. The calls of a handler are a partial order: one comes
 * before another when it started first and the two were never seen to overlap. Each call gets the
 * lowest level that is above the levels of all that come before it, and the calls of one level
 * start together.
 *
 * 1. A call that depends on the outcome of another never overlaps with it, so it is on a higher
 *    level.
 * 2. The first start of a level is later than that of the level below, because each of its calls
 *    started after one of those below. */

static uint64_t pair_key(uid handler, uint32_t a, uint32_t b)
{
    return hash_mix(hash_mix(handler, a < b ? a : b), (uint64_t)(a < b ? b : a) + 1);
}

static uint64_t handler_key(uid handler)
{
    return hash_mix(hash_mix(handler, 0), 0);
}

static uint32_t element_of(const struct names *names, const struct call *c)
{
    return names->uids.at[c->uid].element;
}

/* The second of them starts while the first, and `most` of them in all, are under way. */
static void learn_equal(struct overlaps *o, const struct names *names, uid handler,
                        const struct call *first, const struct call *second, uint32_t most)
{
    const struct element *el = uid_element(names, first->uid);
    uint64_t key =
        hash_mix(hash_mix(handler, (uint64_t)el->service << 32 | el->interface), el->payload);
    const uint32_t *at = map_get(&o->equal_at, key);
    uint32_t i = at ? *at : o->equal.n;
    if (!at) {
        map_set(&o->equal_at, key, i);
        vec_push(&o->equal,
                 (struct overlap_equal){.handler = handler, .element = element_of(names, first)});
    }
    struct overlap_equal *e = &o->equal.at[i];
    e->most = most > e->most ? most : e->most;
    e->differ |= first->request && second->request && first->request != second->request;
    e->together |= second->start_ns - first->start_ns < OVERLAP_TOGETHER_NS;
}

/* The calls of one handler, in order of start. Those that are under way when another starts are
 * few, unless they overlap. */
static void learn_handler(struct overlaps *o, const struct names *names, const struct call *calls,
                          uid handler, const uint32_t *child, uint32_t n)
{
    VEC(uint32_t) open = {0};
    for (uint32_t i = 0; i < n && o->pairs.items.n < OVERLAPS_MAX; i++) {
        const struct call *c = &calls[child[i]];
        uint32_t kept = 0, equal = 1;
        for (uint32_t k = 0; k < open.n; k++) {
            const struct call *other = &calls[open.at[k]];
            if (other->end_ns <= c->start_ns)
                continue;
            open.at[kept++] = open.at[k];
            if (!(c->flags & CALL_HUSHED) && element_alike(names, other->uid, c->uid))
                learn_equal(o, names, handler, other, c, ++equal);
            uint64_t key = pair_key(handler, element_of(names, other), element_of(names, c));
            if (!map_get(&o->pairs, key)) {
                map_set(&o->pairs, key, 1);
                map_set(&o->pairs, handler_key(handler), 1);
            }
        }
        open.n = kept;
        enum outcome_kind seen = outcome_kind(c->seen);
        if (!(c->flags & CALL_OPEN) && seen != OUT_TIMEOUT && seen != OUT_CANCELLED)
            vec_push(&open, child[i]); /* its caller waits for its end */
    }
    vec_deinit(&open);
}

void overlaps_learn(struct overlaps *o, const struct names *names, const struct trace *trace)
{
    trace_order(trace, names, &o->order);
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        uint32_t first = o->order.first.at[i], n = o->order.first.at[i + 1] - first;
        if (n > 1 && n <= ALIGN_MAX)
            learn_handler(o, names, trace->calls.at, trace->calls.at[i].uid,
                          o->order.child.at + first, n);
    }
}

void overlaps_deinit(struct overlaps *o)
{
    map_deinit(&o->pairs);
    map_deinit(&o->equal_at);
    vec_deinit(&o->equal);
    trace_order_deinit(&o->order);
}

/* The calls of one handler, in order of start. */
static void align_handler(struct overlaps *o, const struct names *names, struct call *calls,
                          uid handler, const uint32_t *child, uint32_t n)
{
    uint32_t level[ALIGN_MAX], highest = 0; /* of the calls so far, + 1 */
    int64_t start_ns[ALIGN_MAX], level_ns[ALIGN_MAX];
    for (uint32_t i = 0; i < n; i++) {
        const struct call *c = &calls[child[i]];
        level[i] = 0;
        start_ns[i] = c->start_ns;
        for (uint32_t k = i; k-- > 0 && level[i] < highest;)
            if (level[k] >= level[i] && start_ns[k] < start_ns[i] &&
                !map_get(&o->pairs, pair_key(handler, element_of(names, &calls[child[k]]),
                                             element_of(names, c))))
                level[i] = level[k] + 1;
        if (level[i] == highest)
            level_ns[highest++] = start_ns[i];
    }
    for (uint32_t i = 0; i < n; i++)
        calls[child[i]].start_ns = level_ns[level[i]];
}

void trace_align(struct trace *trace, struct overlaps *o, const struct names *names)
{
    if (o->pairs.items.n == 0)
        return;
    trace_order(trace, names, &o->order);
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        uint32_t first = o->order.first.at[i], n = o->order.first.at[i + 1] - first;
        if (n > 1 && n <= ALIGN_MAX && map_get(&o->pairs, handler_key(trace->calls.at[i].uid)))
            align_handler(o, names, trace->calls.at, trace->calls.at[i].uid,
                          o->order.child.at + first, n);
    }
}
