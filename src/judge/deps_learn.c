/* SPDX-License-Identifier: Apache-2.0
 *
 * What one run says about dependencies. */
#include "base/hash.h"
#include "judge/deps_int.h"
#include "judge/view_int.h"

/* Beyond these a run says nothing, and nothing new is kept. */
enum {
    FAULTS_MAX = DEP_CAUSE_CALLS,
    EXTRA_MAX = 1 << 14,
    MADE_MAX = 1 << 18,
    FACTS_MAX = 1 << 16,
    BOTH_MAX = 1 << 16
};

/* One run, with the calls that were faulted. */
struct lesson {
    const struct view *v;
    struct dep_memory *m;
    uid group[FAULTS_MAX]; /* each once */
    uint32_t n_groups;
};

static uid plain_call(const struct lesson *l, uint32_t call)
{
    return judge_path(l->v->judge, l->v->calls[call].uid);
}

/* ---- calls without faults ---- */

static void learn_usual(const struct lesson *l, uint32_t call)
{
    const struct view *v = l->v;
    uid u = plain_call(l, call);
    uint32_t siblings = 0, parent = v->calls[call].parent;
    for (uint32_t k = 0; k < view_children(v, parent); k++)
        siblings += view_equal(v, call, view_child(v, parent, k));
    const uint32_t *at = map_get(&l->m->usual_at, u);
    if (at && siblings > l->m->usual.at[*at].siblings)
        l->m->usual.at[*at].siblings = siblings;
    if (at)
        return;
    map_set(&l->m->usual_at, u, l->m->usual.n);
    vec_push(&l->m->usual, (struct dep_usual){u, siblings, v->calls[call].seen,
                                              (v->calls[call].flags & CALL_EXEMPT) != 0});
}

/* In causal order: of calls that are made at the same time another one starts first each time. */
static void learn_calm(const struct lesson *l)
{
    VEC(uint32_t) left = {0}; /* the next one last */
    vec_push(&left, 0);
    while (left.n) {
        uint32_t call = left.at[--left.n];
        if (call)
            learn_usual(l, call);
        for (uint32_t k = view_children(l->v, call); k-- > 0;)
            vec_push(&left, view_child(l->v, call, k));
    }
    vec_deinit(&left);
}

static uint32_t usual_siblings(const struct lesson *l, uid u)
{
    const uint32_t *at = map_get(&l->m->usual_at, u);
    return at ? l->m->usual.at[*at].siblings : 0;
}

/* Did it fail, and not as it does without faults? */
static bool went_wrong(const struct lesson *l, uint32_t call)
{
    const struct view *v = l->v;
    const struct call *c = &v->calls[call];
    uint32_t twin = v->twin.at[call];
    const uint32_t *at = map_get(&l->m->usual_at, plain_call(l, call));
    outcome usual = twin != CALL_NONE ? v->judge->base.trace.calls.at[twin].seen
                    : at              ? l->m->usual.at[*at].seen
                                      : OUTCOME_OK;
    return call_failed(c) && c->seen != usual;
}

/* ---- calls that are only made with faults ---- */

/* A number for the faulted calls that are not at or below `but`. */
static uint64_t cause_of(const struct lesson *l, uid but)
{
    uint64_t cause = 1;
    for (uint32_t i = 0; i < l->n_groups; i++)
        if (but == UID_NONE || !uid_contains(l->v->names, but, l->group[i]))
            cause += hash_mix(0, l->group[i]);
    return cause;
}

static bool request_fails(const struct lesson *l)
{
    outcome status = view_status(l->v);
    return !outcome_ok(status) && status != l->v->judge->base.status;
}

/* Which calls failed that lead to calls[extra]: those with faults, or what failed above because of
 * them. */
static void find_cause(const struct lesson *l, uint32_t extra, struct dep_cause *out)
{
    const struct view *v = l->v;
    *out = (struct dep_cause){.fails = request_fails(l)};
    for (uint32_t i = 1; i < v->n; i++) {
        if (v->calls[i].mode == MODE_NONE || view_below(v, extra, i))
            continue;
        uint32_t top = i, k = 0;
        while (went_wrong(l, v->calls[top].parent) && !view_below(v, v->calls[top].parent, extra))
            top = v->calls[top].parent;
        uid call = plain_call(l, top);
        while (k < out->n && out->calls[k] != call && uid_cmp(v->names, out->calls[k], call) < 0)
            k++;
        if ((k < out->n && out->calls[k] == call) || out->n == DEP_CAUSE_CALLS)
            continue;
        memmove(&out->calls[k + 1], &out->calls[k], (out->n - k) * sizeof *out->calls);
        out->calls[k] = call;
        out->n++;
    }
}

static void learn_extra(const struct lesson *l, uint32_t call)
{
    struct dep_memory *m = l->m;
    const struct faultloads *fl = l->v->judge->opt.faultloads;
    uid u = plain_call(l, call);
    struct dep_extra x = {u, l->v->run->faultload, cause_of(l, UID_NONE), request_fails(l), {0}};
    const uint32_t *at = map_get(&m->extra_at, u);
    if (!at && m->extra.n < EXTRA_MAX) {
        map_set(&m->extra_at, u, m->extra.n);
        vec_push(&m->extra, x);
        at = map_get(&m->extra_at, u);
    }
    if (at) {
        struct dep_extra *known = &m->extra.at[*at];
        struct dep_cause cause;
        if (uid_element(l->v->names, l->v->calls[call].uid)->n == 0) { /* the rest as well */
            find_cause(l, call, &cause);
            dep_causes_add(l->v->names, &known->causes, &cause);
        }
        x.causes = known->causes;
        if (faultload_size(fl, x.after) < faultload_size(fl, known->after))
            *known = x;
    }
    if (m->made.items.n < MADE_MAX)
        map_set(&m->made, hash_mix(x.cause, u), 1);
}

/* Is it made because of that failure, and not anyway? */
static bool made_because(const struct lesson *l, uint64_t others, uid u)
{
    return !map_get(&l->m->usual_at, u) && !map_get(&l->m->made, hash_mix(others, u));
}

/* ---- how a failure is met ---- */

/* The handler went on: what did it do about the call that failed? others: the cause of what it does
 * anyway. */
static void look_at_handler(const struct lesson *l, uint32_t handler, uint32_t call,
                            uint64_t others, struct dep_way *way)
{
    const struct view *v = l->v;
    struct judge *j = v->judge;
    bool read = judge_effect(j, v->calls[call].uid) == EFFECT_READ, again = false;
    uint32_t made = 0;
    uid other = UID_NONE, fitting = UID_NONE;
    for (uint32_t k = 0; k < view_children(v, handler); k++) {
        uint32_t c = view_child(v, handler, k);
        bool ok = !call_failed(&v->calls[c]);
        if (view_equal(v, call, c)) {
            made++;
            again |= c > call && ok;
        } else if (ok && c > call && made_because(l, others, plain_call(l, c))) {
            uid u = plain_call(l, c);
            other = other == UID_NONE ? u : other;
            /* what stands in for a read is a read: the other may only log the failure */
            if (fitting == UID_NONE && (judge_effect(j, v->calls[c].uid) == EFFECT_READ) == read)
                fitting = u;
        }
    }
    bool retry = again && made > usual_siblings(l, plain_call(l, call));
    way->instead = retry ? UID_NONE : fitting != UID_NONE ? fitting : other;
    way->by = retry ? DEP_BY_RETRY : way->instead != UID_NONE ? DEP_BY_OTHER : DEP_BY_VALUE;
    way->at = plain_call(l, handler);
}

/* The request did not fail: whose handler has made up for it? */
static void look_up(const struct lesson *l, uint32_t call, uint64_t others, struct dep_way *way)
{
    const struct call *calls = l->v->calls;
    uint32_t handler = calls[call].parent;
    if (!went_wrong(l, call))
        return; /* late, say, but not failed */
    while (handler != 0 && went_wrong(l, handler)) {
        call = handler;
        handler = calls[handler].parent;
    }
    look_at_handler(l, handler, call, others, way);
}

/* Does this run show it better? The request fails (of one that passes, it may depend on which call
 * it is), it was faulted itself, few faults. */
static uint32_t worth_of(const struct lesson *l, const struct dep_way *way)
{
    uint32_t size = faultload_size(l->v->judge->opt.faultloads, l->v->run->faultload);
    return (uint32_t)way->fails << 9 | (uint32_t)way->injected << 8 | (size < 255 ? 255 - size : 0);
}

static void keep_fact(struct dep_memory *m, const struct dep_fact *f)
{
    uint64_t key = hash_mix(hash_mix(f->call, f->way.label), f->way.lasting);
    const uint32_t *at = map_get(&m->fact_at, key);
    if (at && m->facts.at[*at].worth < f->worth) {
        m->facts.at[*at] = *f;
    } else if (!at && m->facts.n < FACTS_MAX) {
        map_set(&m->fact_at, key, m->facts.n);
        vec_push(&m->facts, *f);
    }
}

static void learn_fact(const struct lesson *l, uid u)
{
    const struct view *v = l->v;
    struct dep_fact f = {.call = u,
                         .way = {.lasting = true,
                                 .status = view_status(v),
                                 .fails = request_fails(l),
                                 .faultload = v->run->faultload,
                                 .number = v->run->number}};
    uint32_t first = CALL_NONE;
    bool uniform = true;
    for (uint32_t i = 1; i < v->n; i++) {
        const struct call *c = &v->calls[i];
        if (plain_call(l, i) != u)
            continue;
        if (c->mode == MODE_NONE && !went_wrong(l, i)) {
            f.way.lasting = false;
            continue;
        }
        first = first == CALL_NONE ? i : first;
        uniform &= call_way(c) == call_way(&v->calls[first]);
        f.way.injected |= c->mode != MODE_NONE;
    }
    if (first == CALL_NONE || (f.way.lasting && !uniform))
        return; /* one mode and then another is no failure of either mode that lasts */
    f.way.label = call_way(&v->calls[first]);
    uint32_t handler = v->calls[first].parent;
    f.way.above = handler ? call_way(&v->calls[handler]) : 0;
    f.worth = worth_of(l, &f.way);
    if (!f.way.fails)
        look_up(l, first, cause_of(l, u), &f.way);
    keep_fact(l->m, &f);
}

/* ---- a run with faults ---- */

static uid common_call(const struct names *names, uid a, uid b)
{
    while (a != UID_NONE && !uid_contains(names, a, b))
        a = uid_parent(names, a);
    return a;
}

/* Of one that is only called after faults: the others lead to it, and do nothing else. */
static void learn_extra_facts(const struct lesson *l, uid group)
{
    const struct names *names = l->v->names;
    for (uid u = group; u != UID_NONE; u = uid_parent(names, u)) {
        const uint32_t *at = map_get(&l->m->extra_at, u);
        if (at && !l->m->extra.at[*at].fails && l->m->extra.at[*at].cause == cause_of(l, u))
            learn_fact(l, u);
    }
}

static void learn_both(const struct lesson *l, uid a, uid b)
{
    outcome status = view_status(l->v);
    uint64_t key = a < b ? hash_mix(a, b) : hash_mix(b, a);
    const uint32_t *at = map_get(&l->m->both_at, key);
    if (!request_fails(l) || at || l->m->both.n == BOTH_MAX)
        return;
    map_set(&l->m->both_at, key, l->m->both.n);
    vec_push(&l->m->both, (struct dep_pair){a, b, status, l->v->run->faultload, l->v->run->number});
}

/* False: there are too many. */
static bool find_groups(struct lesson *l)
{
    for (uint32_t i = 1; i < l->v->n; i++) {
        if (l->v->calls[i].mode == MODE_NONE)
            continue;
        uid u = plain_call(l, i);
        uint32_t k = 0;
        while (k < l->n_groups && l->group[k] != u)
            k++;
        if (k == FAULTS_MAX)
            return false;
        l->group[k] = u;
        l->n_groups += k == l->n_groups;
    }
    return l->n_groups > 0;
}

static void learn_faulty(struct lesson *l)
{
    const struct names *names = l->v->names;
    if (!find_groups(l))
        return;
    for (uint32_t i = 1; i < l->v->n; i++)
        if (!usual_siblings(l, plain_call(l, i)))
            learn_extra(l, i);
    uid common = l->group[0];
    for (uint32_t i = 1; i < l->n_groups; i++)
        common = common_call(names, common, l->group[i]);
    for (; common != UID_NONE && uid_parent(names, common) != UID_NONE;
         common = uid_parent(names, common))
        if (usual_siblings(l, common))
            learn_fact(l, common);
    for (uint32_t i = 0; i < l->n_groups; i++)
        learn_extra_facts(l, l->group[i]);
    if (l->n_groups == 2)
        learn_both(l, l->group[0], l->group[1]);
}

void deps_learn(const struct view *v)
{
    struct lesson l = {.v = v, .m = v->judge->deps};
    if (v->n_faults)
        learn_faulty(&l);
    if (v->n_faults || v->run->faultload != FAULTLOAD_EMPTY)
        return;
    learn_calm(&l);
}

struct dep_memory *deps_memory_new(void)
{
    return mem_zero(sizeof(struct dep_memory));
}

void deps_memory_free(struct dep_memory *m)
{
    vec_deinit(&m->usual);
    vec_deinit(&m->extra);
    vec_deinit(&m->facts);
    vec_deinit(&m->both);
    map_deinit(&m->usual_at);
    map_deinit(&m->extra_at);
    map_deinit(&m->made);
    map_deinit(&m->fact_at);
    map_deinit(&m->both_at);
    mem_free(m);
}
