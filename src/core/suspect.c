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
#include "core/suspect.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/index.h"

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

static void add_call(const struct names *names, struct reason *r, uid call)
{
    uint32_t kept = r->n_calls < REASON_CALLS ? r->n_calls : REASON_CALLS;
    const struct element *y = uid_element(names, call);
    for (uint32_t i = 0; i < kept; i++) {
        const struct element *x = uid_element(names, r->call[i]);
        if (x->service == y->service && x->interface == y->interface)
            return;
    }
    if (r->n_calls < REASON_CALLS)
        r->call[r->n_calls] = call;
    r->n_calls++;
}

static void add_example(struct reason *r, const struct suspect *x)
{
    if (!r->example || (r->example->faultload == FAULTLOAD_EMPTY && x->faultload))
        r->example = x;
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

static void add_suspect(const struct names *names, struct group *g, const struct suspect *x,
                        bool turns)
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
    uint64_t first = x->shown & (~(uint64_t)x->shown + 1);
    if (x->kind != SUSPECT_MISSING)
        g->last[x->last]++;
    else if (turns)
        g->now_and_then++;
    else if (x->shown == 1)
        g->at_first++;
    else if (!(x->shown & 1) && x->shown + first == (uint64_t)1 << x->of)
        g->later++; /* not in the first fault-free runs, and in all later ones */
    else
        g->now_and_then++;
}

/* The kind of what the runs without faults have shown. */
static enum reason_kind kind_without_faults(const struct group *g)
{
    if (g->most > 0) {
        /* more such calls in every run than in the one before, and few enough to be counted by what
         * is there, not by time? */
        uint64_t all_but_first = ((uint64_t)1 << g->of) - 2;
        bool grows = !g->at_first && !g->now_and_then && !g->causes[CAUSE_COUNT] &&
                     g->starts == all_but_first && g->most < POLLS_MIN;
        return grows ? REASON_GROWTH : REASON_POLLING;
    }
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

/* One that the same is to be done about is extended; else it is a further one. */
static void add_reason(const struct names *names, struct reasons *out, const struct reason *r)
{
    static const bool by_caller[REASON_KINDS] = {
        [REASON_BREAKER] = true, [REASON_CACHE] = true,     [REASON_GROWTH] = true,
        [REASON_PAYLOAD] = true, [REASON_SOMETIMES] = true, [REASON_ORDER] = true,
        [REASON_TIMING] = true};
    for (uint32_t i = 0; i < out->n && by_caller[r->kind]; i++) {
        struct reason *known = &out->at[i];
        if (known->kind != r->kind ||
            uid_element(names, known->handler)->service != uid_element(names, r->handler)->service)
            continue;
        for (uint32_t k = 0; k < r->n_calls && k < REASON_CALLS; k++)
            add_call(names, known, r->call[k]);
        known->times += r->times;
        known->given_up |= r->given_up;
        add_example(known, r->example);
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
        const struct suspect *x = &list[i];
        uid handler = x->call ? uid_parent(names, x->call) : x->point;
        uint64_t key;
        if (x->kind == SUSPECT_AUDIT)
            key = hash_slice(slice_of(x->reduction));
        else
            key = hash_mix(x->kind == SUSPECT_NOT_SHOWN, uid_element(names, handler)->service);
        if (x->call && x->kind != SUSPECT_AUDIT) { /* paths that differ are one thing */
            const struct element *e = uid_element(names, x->call);
            key =
                hash_mix(hash_mix(key, e->service), x->cause == CAUSE_INTERFACE ? 0 : e->interface);
        }
        const uint32_t *known = map_get(&at, key);
        uint32_t group = known ? *known : n_groups++;
        bool turns = x->kind == SUSPECT_MISSING && takes_turns(names, list, n, x);
        map_set(&at, key, group);
        add_suspect(names, &groups[group], x, turns);
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
