/* SPDX-License-Identifier: Apache-2.0
 *
 * Which calls a scenario depends on: what each run says about that is remembered, and put together
 * when somebody asks.
 *
 * A run says something about a dependency when all its faults are at or below calls of it, whatever
 * their numbers; or, of one that is only called after faults, all but those that lead to it. */
#include <assert.h>
#include <stdlib.h>

#include "base/hash.h"
#include "judge/oracle_int.h"

/* Beyond these a run says nothing, and nothing new is kept. */
enum {
    FAULTS_MAX = DEP_CAUSE_CALLS,
    EXTRA_MAX = 1 << 14,
    MADE_MAX = 1 << 18,
    FACTS_MAX = 1 << 16,
    BOTH_MAX = 1 << 16
};

/* A call that is made without faults. */
struct dep_usual {
    uid call;
    uint32_t siblings; /* how often one handler makes it */
    outcome seen;
    bool exempt;
};

/* A call that is only made with faults. */
struct dep_extra {
    uid call;
    faultload after;
    uint64_t cause; /* a number for the calls that are faulted in it */
    bool fails;     /* the request, of that alone */
    struct dep_causes causes;
};

struct dep_fact {
    uid call;
    uint32_t worth; /* a run that shows it better replaces it */
    struct dep_way way;
};

struct dep_memory {
    VEC(struct dep_usual) usual;
    VEC(struct dep_extra) extra;
    VEC(struct dep_fact) facts;
    VEC(struct dep_pair) both;     /* the only ones that were faulted in a run that failed */
    struct map usual_at, extra_at; /* call */
    struct map made;               /* (cause, call): it is made then, if nothing else fails */
    struct map fact_at;            /* (call, label, lasting) */
    struct map both_at;            /* (call, call) */
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

/* In causal order: of calls that are made at the same time another one starts first each time. */
static void learn_calm(const struct lesson *l)
{
    const struct view *v = l->v;
    struct dep_memory *m = l->m;
    VEC(uint32_t) left = {0}; /* the next one last */
    vec_push(&left, 0);
    while (left.n) {
        uint32_t call = left.at[--left.n];
        for (uint32_t k = view_children(v, call); k-- > 0;)
            vec_push(&left, view_child(v, call, k));
        if (call == 0)
            continue;
        const struct call *c = &v->calls[call];
        uid u = plain_call(l, call);
        uint32_t siblings = 0, at = map_index(&m->usual_at, u, m->usual.n);
        for (uint32_t k = 0; k < view_children(v, c->parent); k++)
            siblings += view_equal(v, call, view_child(v, c->parent, k));
        if (at == m->usual.n)
            vec_push(&m->usual,
                     (struct dep_usual){u, siblings, c->seen, (c->flags & CALL_EXEMPT) != 0});
        else if (siblings > m->usual.at[at].siblings)
            m->usual.at[at].siblings = siblings;
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
    outcome usual = twin != CALL_NONE ? v->judge->calm.trace.calls.at[twin].seen
                    : at              ? l->m->usual.at[*at].seen
                                      : OUTCOME_OK;
    return call_failed(c) && c->seen != usual;
}

/* ---- calls that are only made with faults ---- */

static bool cause_contains(const struct dep_cause *all, const struct dep_cause *part)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < all->n && found < part->n; i++)
        found += all->calls[i] == part->calls[found];
    return found == part->n;
}

/* What leads to a call that is not made without faults: sets of calls that fail. Kept are those of
 * which no part is enough, in an order that does not depend on that of the runs. */
static void dep_causes_add(const struct names *names, struct dep_causes *all,
                           const struct dep_cause *c)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < all->n; i++) {
        struct dep_cause *known = &all->at[i];
        if (cause_contains(c, known)) {
            known->fails &= c->fails || known->n < c->n;
            return;
        }
        if (!cause_contains(known, c))
            all->at[kept++] = *known;
    }
    all->n = kept;
    uint32_t at = 0;
    for (; at < all->n; at++) { /* the smaller ones first, then by names */
        const struct dep_cause *known = &all->at[at];
        int order = known->n < c->n ? -1 : known->n > c->n;
        for (uint32_t i = 0; i < c->n && order == 0; i++)
            order = uid_cmp(names, known->calls[i], c->calls[i]);
        if (order >= 0)
            break;
    }
    all->more |= all->n == DEP_CAUSES;
    if (at == DEP_CAUSES)
        return;
    all->n += all->n < DEP_CAUSES;
    for (uint32_t i = all->n - 1; i > at; i--)
        all->at[i] = all->at[i - 1];
    all->at[at] = *c;
}

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
    return !outcome_ok(status) && status != l->v->judge->calm.status;
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
    if (m->extra.n < EXTRA_MAX && map_index(&m->extra_at, u, m->extra.n) == m->extra.n)
        vec_push(&m->extra, x);
    const uint32_t *at = map_get(&m->extra_at, u);
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
        } else if (ok && c > call && !usual_siblings(l, plain_call(l, c)) &&
                   !map_get(&l->m->made, hash_mix(others, plain_call(l, c)))) {
            uid u = plain_call(l, c); /* made because of that failure, and not anyway */
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

/* A run shows it better when the request fails (of one that passes, it may depend on which call it
 * is), when it was faulted itself, and with few faults. */
static void learn_fact(const struct lesson *l, uid u)
{
    const struct view *v = l->v;
    struct dep_memory *m = l->m;
    struct dep_way way = {.lasting = true,
                          .status = view_status(v),
                          .fails = request_fails(l),
                          .faultload = v->run->faultload,
                          .number = v->run->number};
    uint32_t first = CALL_NONE, size = faultload_size(v->judge->opt.faultloads, way.faultload);
    bool uniform = true;
    for (uint32_t i = 1; i < v->n; i++) {
        const struct call *c = &v->calls[i];
        if (plain_call(l, i) != u)
            continue;
        if (c->mode == MODE_NONE && !went_wrong(l, i)) {
            way.lasting = false;
            continue;
        }
        first = first == CALL_NONE ? i : first;
        uniform &= call_way(c) == call_way(&v->calls[first]);
        way.injected |= c->mode != MODE_NONE;
    }
    if (first == CALL_NONE || (way.lasting && !uniform))
        return; /* one mode and then another is no failure of either mode that lasts */
    uint32_t call = first, handler = v->calls[first].parent;
    way.label = call_way(&v->calls[first]);
    way.above = handler ? call_way(&v->calls[handler]) : 0;
    if (!way.fails && went_wrong(l, call)) { /* else it was late, say, but has not failed */
        while (handler != 0 && went_wrong(l, handler)) {
            call = handler;
            handler = v->calls[handler].parent;
        }
        look_at_handler(l, handler, call, cause_of(l, u), &way);
    }
    struct dep_fact f = {u, (uint32_t)way.fails << 9 | (uint32_t)way.injected << 8, way};
    f.worth |= size < 255 ? 255 - size : 0;
    uint64_t key = hash_mix(hash_mix(u, way.label), way.lasting);
    const uint32_t *at = map_get(&m->fact_at, key);
    if (at && m->facts.at[*at].worth < f.worth) {
        m->facts.at[*at] = f;
    } else if (!at && m->facts.n < FACTS_MAX) {
        map_set(&m->fact_at, key, m->facts.n);
        vec_push(&m->facts, f);
    }
}

/* ---- a run with faults ---- */

void deps_learn(const struct view *v)
{
    const struct names *names = v->names;
    if (!v->judge->deps)
        v->judge->deps = mem_zero(sizeof *v->judge->deps);
    struct dep_memory *m = v->judge->deps;
    struct lesson l = {.v = v, .m = m};
    if (!v->n_faults) {
        if (v->run->faultload == FAULTLOAD_EMPTY)
            learn_calm(&l);
        return;
    }
    for (uint32_t i = 1; i < v->n; i++) {
        if (v->calls[i].mode == MODE_NONE)
            continue;
        uid u = plain_call(&l, i);
        uint32_t k = 0;
        while (k < l.n_groups && l.group[k] != u)
            k++;
        if (k == FAULTS_MAX)
            return;
        l.group[k] = u;
        l.n_groups += k == l.n_groups;
    }
    if (!l.n_groups)
        return;
    for (uint32_t i = 1; i < v->n; i++)
        if (!usual_siblings(&l, plain_call(&l, i)))
            learn_extra(&l, i);
    uid common = l.group[0]; /* what all that were faulted are part of */
    for (uint32_t i = 1; i < l.n_groups; i++)
        while (common != UID_NONE && !uid_contains(names, common, l.group[i]))
            common = uid_parent(names, common);
    for (; common != UID_NONE && uid_parent(names, common) != UID_NONE;
         common = uid_parent(names, common))
        if (usual_siblings(&l, common))
            learn_fact(&l, common);
    /* of one that is only called after faults: the others lead to it, and do nothing else */
    for (uint32_t i = 0; i < l.n_groups; i++)
        for (uid u = l.group[i]; u != UID_NONE; u = uid_parent(names, u)) {
            const uint32_t *at = map_get(&m->extra_at, u);
            if (at && !m->extra.at[*at].fails && m->extra.at[*at].cause == cause_of(&l, u))
                learn_fact(&l, u);
        }
    if (l.n_groups != 2 || !request_fails(&l) || m->both.n == BOTH_MAX)
        return;
    uid a = l.group[0], b = l.group[1];
    if (map_count(&m->both_at, a < b ? hash_mix(a, b) : hash_mix(b, a)) == 1)
        vec_push(&m->both,
                 (struct dep_pair){a, b, view_status(v), v->run->faultload, v->run->number});
}

void deps_memory_free(struct dep_memory *m)
{
    if (!m)
        return;
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

/* ---- what all runs together say of one dependency ---- */

static int compare_labels(label a, label b)
{
    struct buf x = BUF_INIT(MODE_TEXT_MAX), y = BUF_INIT(MODE_TEXT_MAX);
    label_print(a, &x);
    label_print(b, &y);
    int order = strcmp(buf_text(&x), buf_text(&y));
    buf_deinit(&x);
    buf_deinit(&y);
    return order;
}

static int compare_label_items(const void *a, const void *b)
{
    return compare_labels(*(const label *)a, *(const label *)b);
}

static int compare_ways(const void *a, const void *b)
{
    return compare_labels(((const struct dep_way *)a)->label, ((const struct dep_way *)b)->label);
}

/* That a failure which passes is absorbed says little where one that lasts was tried. */
static void set_kind(struct dep *row)
{
    uint32_t hard = 0, soft = 0, lasting = 0;
    for (uint32_t i = 0; i < row->ways.n; i++)
        lasting += row->ways.at[i].lasting;
    for (uint32_t i = 0; i < row->ways.n; i++) {
        const struct dep_way *way = &row->ways.at[i];
        hard += way->fails;
        if (way->fails || way->by == DEP_BY_NOTHING || (lasting && !way->lasting))
            continue;
        if (soft++ == 0) {
            row->by = way->by;
            row->instead = way->instead;
            row->at = way->at;
        }
    }
    row->kind = row->after_fault || (hard && soft) ? DEP_CONDITIONAL
                : hard                             ? DEP_HARD
                : soft                             ? DEP_SOFT
                                                   : DEP_UNKNOWN;
}

static void add_row(const struct judge *j, struct dep row, struct deps *out)
{
    const struct dep_memory *m = j->deps;
    for (uint32_t i = 0; i < m->facts.n; i++) {
        const struct dep_way *way = &m->facts.at[i].way;
        if (m->facts.at[i].call != row.call)
            continue;
        row.retried |= !way->lasting && !way->fails && way->by == DEP_BY_RETRY;
        uint32_t k = 0;
        while (k < row.ways.n && row.ways.at[k].label != way->label)
            k++;
        if (k == row.ways.n)
            vec_push(&row.ways, *way);
        else if (way->fails != row.ways.at[k].fails ? way->fails : way->lasting)
            row.ways.at[k] = *way; /* what lasts decides; what passes only where it is worse */
    }
    if (row.ways.n)
        qsort(row.ways.at, row.ways.n, sizeof *row.ways.at, compare_ways);
    /* failures that its caller answers alike are alike to all above it: where those absorb one that
     * passes, the search does not try each of them for good, and what it has tried counts for the
     * others */
    for (uint32_t i = 0; i < row.ways.n; i++) {
        struct dep_way *way = &row.ways.at[i];
        bool above = way->by == DEP_BY_RETRY && way->at != uid_parent(j->opt.names, row.call);
        for (uint32_t k = 0; k < row.ways.n && above && !way->lasting; k++) {
            label own = way->label;
            if (!row.ways.at[k].lasting || row.ways.at[k].above != way->above)
                continue;
            *way = row.ways.at[k];
            way->label = own;
        }
    }
    set_kind(&row);
    vec_push(&out->rows, row);
}

/* ---- all of them ---- */

static void add_rows(const struct judge *j, struct deps *out)
{
    /* single points of failure first; what is only called after a fault behind the rest */
    enum { AFTER_FAULT = 3, PLACES = 5 };
    static const int places[DEP_KINDS] = {
        [DEP_HARD] = 0, [DEP_CONDITIONAL] = 1, [DEP_SOFT] = 2, [DEP_UNKNOWN] = 4};
    const struct dep_memory *m = j->deps;
    struct deps all = {0};
    for (uint32_t i = 0; i < m->usual.n; i++)
        if (!m->usual.at[i].exempt)
            add_row(j, (struct dep){.call = m->usual.at[i].call}, &all);
    for (uint32_t i = 0; i < m->extra.n; i++) {
        const struct dep_extra *x = &m->extra.at[i];
        bool too_late = x->fails; /* whatever leads to it, the request fails then */
        for (uint32_t k = 0; k < x->causes.n; k++)
            too_late &= x->causes.at[k].fails;
        if (!map_get(&m->usual_at, x->call))
            add_row(j,
                    (struct dep){.call = x->call,
                                 .after_fault = true,
                                 .too_late = too_late,
                                 .after = x->after,
                                 .causes = x->causes},
                    &all);
    }
    for (int place = 0; place < PLACES; place++)
        for (uint32_t i = 0; i < all.rows.n; i++) {
            const struct dep *row = &all.rows.at[i];
            if ((row->after_fault ? AFTER_FAULT : places[row->kind]) == place)
                vec_push(&out->rows, *row);
        }
    vec_deinit(&all.rows); /* the ways have moved */
}

/* ---- redundant calls ---- */

static void add_redundant(const struct judge *j, struct deps *out)
{
    const struct trace *t = &j->calm.trace;
    struct map at = {0};
    VEC(uint32_t) first = {0}; /* grows with out->redundant */
    for (uint32_t i = 1; i < t->calls.n; i++) {
        const struct call *c = &t->calls.at[i];
        const struct element *e = uid_element(j->opt.names, c->uid);
        if (!c->request || call_failed(c) || c->flags & CALL_EXEMPT)
            continue;
        uint32_t top = i; /* what a test asks for twice is its own affair */
        while (t->calls.at[top].parent != 0)
            top = t->calls.at[top].parent;
        bool client = t->calls.at[top].flags & CALL_EXEMPT;
        uint32_t k = map_index(
            &at,
            hash_mix(hash_mix(hash_mix(e->service, e->interface), c->request), client ? top : 0),
            out->redundant.n);
        if (k == out->redundant.n) {
            vec_push(&out->redundant, (struct dep_twice){j->paths.at[c->uid], 1, true});
            vec_push(&first, i);
            continue;
        }
        assert(k < first.n);
        out->redundant.at[k].times++;
        out->redundant.at[k].one_handler &= t->calls.at[first.at[k]].parent == c->parent;
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < out->redundant.n; i++)
        if (out->redundant.at[i].times > 1)
            out->redundant.at[n++] = out->redundant.at[i];
    out->redundant.n = n;
    vec_deinit(&first);
    map_deinit(&at);
}

void deps_build(const struct judge *j, struct deps *out)
{
    const struct dep_memory *m = j->deps;
    *out = (struct deps){0};
    if (!j->calm.known)
        return;
    add_rows(j, out);
    for (uint32_t i = 0; i < m->facts.n; i++) {
        uint32_t k = 0;
        while (k < out->labels.n && out->labels.at[k] != m->facts.at[i].way.label)
            k++;
        if (k == out->labels.n && m->facts.at[i].way.injected)
            vec_push(&out->labels, m->facts.at[i].way.label);
    }
    if (out->labels.n)
        qsort(out->labels.at, out->labels.n, sizeof *out->labels.at, compare_label_items);
    struct map soft = {0}; /* those, and what is called when one of them fails */
    for (uint32_t i = 0; i < out->rows.n; i++)
        if (out->rows.at[i].kind == DEP_SOFT || out->rows.at[i].after_fault)
            map_set(&soft, out->rows.at[i].call, 1);
    for (uint32_t i = 0; i < m->both.n; i++)
        if (map_get(&soft, m->both.at[i].a) && map_get(&soft, m->both.at[i].b))
            vec_push(&out->pairs, m->both.at[i]);
    map_deinit(&soft);
    add_redundant(j, out);
}
