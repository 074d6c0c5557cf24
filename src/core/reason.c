/* SPDX-License-Identifier: Apache-2.0
 *
 * From suspects to reasons. What is suspect of one caller's calls to one interface is looked at
 * together, and what the runs without faults have shown counts more than what faults have:
 *
 *   another path or payload came instead                          path, payload
 *   without faults: only in the first run, nor under faults       cache
 *                   one of several, and more in each run          growth
 *                   one of several, now and then                  polling
 *                   now and then                                  sometimes
 *   under faults, three times in a row:
 *                   not made, and the last such call had failed   circuit breaker
 *                   not made, and the last one had succeeded      cache
 *                   fewer equal ones                              polling
 *
 * Then reasons of one kind that the same service is to blame for become one. */
#include "core/reason.h"

#include "base/hash.h"
#include "base/index.h"

#include <stdlib.h>

const char *const reason_names[REASON_KINDS] = {
    [REASON_BREAKER] = "circuit-breaker", [REASON_CACHE] = "cache",
    [REASON_GROWTH] = "data-left",        [REASON_POLLING] = "polling",
    [REASON_PATH] = "changing-path",      [REASON_PAYLOAD] = "changing-payload",
    [REASON_ORDER] = "changing-order",    [REASON_SOMETIMES] = "unknown",
    [REASON_REPLY] = "changing-answer",   [REASON_UNFIT] = "mode-without-effect",
    [REASON_TIMING] = "timing",           [REASON_ASSUMPTION] = "assumption-wrong",
};

enum { POLLS_MIN = 10 };

/* All that is suspect of one caller's calls to one interface. */
struct group {
    struct reason reason;
    uint32_t causes[CAUSES], kinds[SUSPECT_KINDS], last[LAST_FAILED + 1];
    uint32_t at_first, later, now_and_then; /* SUSPECT_MISSING: in which fault-free runs */
    uint32_t starts, of; /* and with which of them such calls began to come: bits */
    uint32_t most;       /* equal calls before it */
};

static sym caller_of(const struct names *names, const struct suspect *x)
{
    uid handler = x->call ? uid_parent(names, x->call) : x->point;
    return uid_element(names, handler)->service;
}

static uint64_t key_of(const struct names *names, const struct suspect *x)
{
    if (x->kind == SUSPECT_AUDIT)
        return hash_slice(slice_of(x->reduction));
    uint64_t key = hash_mix(x->kind == SUSPECT_NOT_SHOWN, caller_of(names, x));
    if (!x->call)
        return key;
    const struct element *e = uid_element(names, x->call);
    /* paths that differ are one thing */
    return hash_mix(hash_mix(key, e->service), x->cause == CAUSE_INTERFACE ? 0 : e->interface);
}

static bool same_call(const struct names *names, uid a, uid b)
{
    const struct element *x = uid_element(names, a), *y = uid_element(names, b);
    return x->service == y->service && x->interface == y->interface;
}

static void add_call(const struct names *names, struct reason *r, uid call)
{
    uint32_t kept = r->n_calls < REASON_CALLS ? r->n_calls : REASON_CALLS;
    for (uint32_t i = 0; i < kept; i++)
        if (same_call(names, r->call[i], call))
            return;
    if (r->n_calls < REASON_CALLS)
        r->call[r->n_calls] = call;
    r->n_calls++;
}

static void add_example(struct reason *r, const struct suspect *x)
{
    if (!r->example || (r->example->faultload == FAULTLOAD_EMPTY && x->faultload))
        r->example = x;
}

/* Not in the first fault-free runs, and in all later ones. */
static bool lasts(const struct suspect *x)
{
    uint64_t first = x->shown & (~(uint64_t)x->shown + 1);
    return !(x->shown & 1) && x->shown + first == (uint64_t)1 << x->of;
}

/* Is another call of this caller in just those fault-free runs that this one is not in? Then they
 * take turns, and nothing is remembered. */
static bool takes_turns(const struct names *names, const struct suspect *list, uint32_t n,
                        const struct suspect *x)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].kind == SUSPECT_MISSING && !(list[i].shown & x->shown) &&
            ((uint64_t)list[i].shown | x->shown) + 1 == (uint64_t)1 << x->of &&
            uid_parent(names, list[i].call) == uid_parent(names, x->call))
            return true;
    return false;
}

static void add(const struct names *names, struct group *g, const struct suspect *x, bool turns)
{
    struct reason *r = &g->reason;
    r->times++;
    r->handler = x->call ? uid_parent(names, x->call) : x->point;
    r->given_up |= x->kind == SUSPECT_BLOCKED;
    add_example(r, x);
    if (x->call) {
        add_call(names, r, x->call);
        uint32_t before = uid_element(names, x->call)->n;
        g->most = before > g->most ? before : g->most;
    }
    g->causes[x->cause]++;
    g->kinds[x->kind]++;
    g->starts |= x->shown & (~x->shown + 1);
    g->of = x->of > g->of ? x->of : g->of;
    if (x->kind != SUSPECT_MISSING)
        g->last[x->last]++;
    else if (turns)
        g->now_and_then++;
    else if (x->shown == 1)
        g->at_first++;
    else if (lasts(x))
        g->later++;
    else
        g->now_and_then++;
}

/* More such calls in every fault-free run than in the one before, and few enough to be counted by
 * what is there, not by time. */
static bool grows(const struct group *g)
{
    uint64_t all_but_first = ((uint64_t)1 << g->of) - 2;
    return !g->at_first && !g->now_and_then && !g->causes[CAUSE_COUNT] &&
           g->starts == all_but_first && g->most < POLLS_MIN;
}

static enum reason_kind kind_without_faults(const struct group *g)
{
    if (g->most > 0)
        return grows(g) ? REASON_GROWTH : REASON_POLLING;
    bool once = g->at_first && !g->later && !g->now_and_then; /* and never again? */
    return once && g->kinds[SUSPECT_NOT_FIRED] ? REASON_CACHE : REASON_SOMETIMES;
}

static enum reason_kind kind_of(const struct group *g)
{
    if (g->kinds[SUSPECT_AUDIT])
        return REASON_ASSUMPTION;
    if (g->kinds[SUSPECT_NOT_SHOWN])
        return REASON_TIMING;
    if (g->causes[CAUSE_UNFIT])
        return REASON_UNFIT;
    if (g->causes[CAUSE_PAYLOAD] || g->causes[CAUSE_INTERFACE])
        return g->causes[CAUSE_PAYLOAD] ? REASON_PAYLOAD : REASON_PATH;
    if (g->kinds[SUSPECT_MISSING])
        return kind_without_faults(g);
    if (g->reason.n_calls == 0)
        return REASON_REPLY;
    if (!g->kinds[SUSPECT_NOT_FIRED]) /* other calls of the same run may be why */
        return g->causes[CAUSE_ORDER] ? REASON_ORDER : REASON_SOMETIMES;
    if (g->last[LAST_FAILED] > g->last[LAST_OK])
        return REASON_BREAKER;
    return g->causes[CAUSE_COUNT] ? REASON_POLLING : REASON_CACHE;
}

/* Is the same to be done about both? */
static bool belong_together(const struct names *names, const struct reason *a,
                            const struct reason *b)
{
    static const bool by_caller[REASON_KINDS] = {
        [REASON_BREAKER] = true, [REASON_CACHE] = true,     [REASON_GROWTH] = true,
        [REASON_PAYLOAD] = true, [REASON_SOMETIMES] = true, [REASON_ORDER] = true,
        [REASON_TIMING] = true};
    return a->kind == b->kind && by_caller[a->kind] &&
           uid_element(names, a->handler)->service == uid_element(names, b->handler)->service;
}

static void merge(const struct names *names, struct reason *r, const struct reason *from)
{
    for (uint32_t i = 0; i < from->n_calls && i < REASON_CALLS; i++)
        add_call(names, r, from->call[i]);
    r->times += from->times;
    r->given_up |= from->given_up;
    add_example(r, from->example);
}

static void add_reason(const struct names *names, struct reasons *out, const struct reason *r)
{
    for (uint32_t i = 0; i < out->n; i++)
        if (belong_together(names, &out->at[i], r)) {
            merge(names, &out->at[i], r);
            return;
        }
    vec_push(out, *r);
}

static bool is_known(enum reason_kind kind)
{
    return kind != REASON_ORDER && kind != REASON_SOMETIMES && kind != REASON_REPLY;
}

static int by_worth(const void *a, const void *b)
{
    const struct reason *x = a, *y = b;
    if (is_known(x->kind) != is_known(y->kind))
        return is_known(x->kind) ? -1 : 1;
    if (x->times != y->times)
        return x->times > y->times ? -1 : 1;
    return x->example < y->example ? -1 : 1;
}

void reasons_find(const struct names *names, const struct suspect *list, uint32_t n,
                  struct reasons *out)
{
    struct group *groups = mem_zero((n + 1) * sizeof *groups);
    uint32_t n_groups = 0;
    struct map at = {0};
    for (uint32_t i = 0; i < n; i++) {
        uint64_t key = key_of(names, &list[i]);
        const uint32_t *known = map_get(&at, key);
        uint32_t group = known ? *known : n_groups++;
        bool turns = list[i].kind == SUSPECT_MISSING && takes_turns(names, list, n, &list[i]);
        map_set(&at, key, group);
        add(names, &groups[group], &list[i], turns);
    }
    for (uint32_t i = 0; i < n_groups; i++) {
        groups[i].reason.kind = kind_of(&groups[i]);
        add_reason(names, out, &groups[i].reason);
    }
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, by_worth);
    mem_free(groups);
    map_deinit(&at);
}
