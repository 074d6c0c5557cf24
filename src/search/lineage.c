/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of queued faultloads in a heap, by tier, size, tries and age. Whatever a run shows may change
 * the tiers of thousands of groups, but hardly any of them comes to its turn before the next run does.
 * So a group is looked at again when it is on top, and what changes meanwhile changes in one direction:
 *
 *   hits --> hypothesis     when a new support makes it minimal: hitting_add lists such sets, and
 *                           their groups are looked up and moved at once
 *   hypothesis --> hits     when it was tried
 *   hits, hypothesis --> rest --> superset, from each of them: for ever, found when it is on top
 *
 * 1. A group is in the heap while it has items; its key is never above what it will be when it is
 *    looked at. So what is on top and stays there when looked at comes first.
 * 2. All keys are different, so what comes next does not depend on when groups were looked at. */
#include "search/lineage.h"

#include "search/hitting.h"
#include "search/search_int.h"

enum {
    HYPOTHESES_MAX = 1024, /* that are listed at a time */
    POINTS_MAX = 64        /* of a faultload that has more, the others are not looked at */
};

struct group {
    faultload points;   /* of the first item; all have the same, in other modes */
    uint32_t first;     /* item + 1; 0: none */
    uint32_t last;      /* item + 1 */
    uint32_t place;     /* in the heap + 1; 0: not in it */
    uint32_t looked_at; /* in this epoch */
    uint16_t size, tried;
    uint8_t tier;
};

struct lineage {
    struct search *search;
    struct hitting hitting;
    outcome good; /* what the client sees when nothing fails */
    bool learned; /* that is known */

    VEC(struct group) groups;
    struct map group_of; /* key of the points -> group */
    VEC(uint32_t) heap;  /* groups */
    VEC(struct lineage_item {
        struct frontier_item item;
        uint32_t next; /* of the same group, or free, + 1 */
    })
    items;
    uint32_t free; /* + 1 */

    VEC(uint32_t) number_of; /* by uid: its point in `hitting` + 1 */
    VEC(uid) uid_of;         /* the other way round */
    VEC(uid) wide;         /* points that stand for several calls: services, all tries of a call */
    VEC(uint32_t) support; /* of the run that is being observed */

    /* Sets of points that broke the scenario: no part of them did. Found by their lowest point. */
    VEC(struct broken {
        faultload points;
        uint32_t next; /* + 1 */
    })
    broken;
    VEC(uint32_t) broken_by; /* by point: broken + 1 */

    uint32_t epoch; /* changes when tiers may */

    bool plan_holds;                /* nothing has changed since it was made */
    VEC(struct frontier_item) plan; /* what comes next, */
    VEC(struct planned {            /* and the groups of which one comes after that */
                         uint64_t key;
                         uint32_t item; /* its next, + 1 */
    })
    planned;
};

/* ---- points ---- */

/* Calls have a longer path. */
static bool is_service(const struct names *names, uid point)
{
    return uid_parent(names, point) == UID_NONE;
}

/* Does a fault at this point, which is a service or all tries of a call, make that call fail? */
static bool covers(struct names *names, uid point, uid call)
{
    if (is_service(names, point))
        return uid_element(names, point)->service == uid_element(names, call)->service;
    return names_uid_all(names, call) == point;
}

static uint32_t new_point(struct lineage *l, uid u)
{
    while (l->number_of.n <= u)
        vec_push(&l->number_of, 0);
    vec_push(&l->uid_of, u);
    vec_push(&l->broken_by, 0);
    return (l->number_of.at[u] = l->uid_of.n) - 1;
}

/* The number of a call. */
static uint32_t call_point(struct lineage *l, uid u)
{
    return u < l->number_of.n && l->number_of.at[u] ? l->number_of.at[u] - 1 : new_point(l, u);
}

/* The number of what a fault is at. A service, or a call with all its tries, is in every support that
 * has one of its calls. */
static uint32_t fault_point(struct lineage *l, uid u)
{
    struct names *names = l->search->names;
    bool known = u < l->number_of.n && l->number_of.at[u];
    uint32_t point = call_point(l, u);
    if (known || (!is_service(names, u) && uid_element(names, u)->n != N_ANY))
        return point;
    VEC(uint32_t) calls = {0};
    for (uint32_t i = 0; i < point; i++)
        if (covers(names, u, l->uid_of.at[i]))
            vec_push(&calls, i);
    hitting_join(&l->hitting, point, calls.at, calls.n);
    vec_deinit(&calls);
    vec_push(&l->wide, u);
    return point;
}

/* The points of a faultload by number; how many. */
static uint32_t read_points(struct lineage *l, faultload f, uint32_t out[POINTS_MAX])
{
    uint32_t n = 0;
    for (; f != FAULTLOAD_EMPTY && n < POINTS_MAX; f = l->search->fl->rows.at[f].rest)
        out[n++] = fault_point(l, l->search->fl->rows.at[f].last.point);
    return n;
}

/* A key for the points of a faultload, whatever the modes and the order. */
static uint64_t point_key(uid point)
{
    return hash_mix(0, point);
}

static uint64_t points_key(const struct lineage *l, faultload f)
{
    uint64_t sum = 0;
    for (; f != FAULTLOAD_EMPTY; f = l->search->fl->rows.at[f].rest)
        sum += point_key(l->search->fl->rows.at[f].last.point);
    return sum;
}

/* ---- what broke the scenario ---- */

static bool has_point(const uint32_t *points, uint32_t n, uint32_t point)
{
    for (uint32_t i = 0; i < n; i++)
        if (points[i] == point)
            return true;
    return false;
}

/* Did these points, fewer than `below` of them, break the scenario? */
static bool broke(struct lineage *l, const uint32_t *points, uint32_t n, uint32_t below)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t b = l->broken_by.at[points[i]]; b; b = l->broken.at[b - 1].next) {
            faultload f = l->broken.at[b - 1].points;
            if (faultload_size(l->search->fl, f) >= below)
                continue;
            while (f != FAULTLOAD_EMPTY &&
                   has_point(points, n, fault_point(l, l->search->fl->rows.at[f].last.point)))
                f = l->search->fl->rows.at[f].rest;
            if (f == FAULTLOAD_EMPTY)
                return true;
        }
    return false;
}

static void add_broken(struct lineage *l, faultload f)
{
    uint32_t points[POINTS_MAX], n = read_points(l, f, points), lowest = UINT32_MAX;
    if (n == 0 || broke(l, points, n, UINT32_MAX))
        return;
    for (uint32_t i = 0; i < n; i++)
        lowest = points[i] < lowest ? points[i] : lowest;
    vec_push(&l->broken, (struct broken){f, l->broken_by.at[lowest]});
    l->broken_by.at[lowest] = l->broken.n;
    l->epoch++;
}

/* ---- the heap ---- */

static uint64_t key_of(const struct lineage *l, uint32_t group)
{
    const struct group *g = &l->groups.at[group];
    uint64_t size = g->size < 255 ? g->size : 255;
    return (uint64_t)g->tier << 56 | size << 48 | (uint64_t)g->tried << 32 | group;
}

static void put(struct lineage *l, uint32_t place, uint32_t group)
{
    l->heap.at[place] = group;
    l->groups.at[group].place = place + 1;
}

/* The group at this place has another key now: it goes where it belongs. */
static void sift(struct lineage *l, uint32_t place)
{
    uint32_t group = l->heap.at[place], n = l->heap.n;
    uint64_t key = key_of(l, group);
    for (; place > 0 && key < key_of(l, l->heap.at[(place - 1) / 2]); place = (place - 1) / 2)
        put(l, place, l->heap.at[(place - 1) / 2]);
    for (uint32_t child = 2 * place + 1; child < n; child = 2 * place + 1) {
        if (child + 1 < n && key_of(l, l->heap.at[child + 1]) < key_of(l, l->heap.at[child]))
            child++;
        if (key < key_of(l, l->heap.at[child]))
            break;
        put(l, place, l->heap.at[child]);
        place = child;
    }
    put(l, place, group);
}

static void enter_heap(struct lineage *l, uint32_t group)
{
    vec_push(&l->heap, group);
    sift(l, l->heap.n - 1);
}

static void leave_heap(struct lineage *l, uint32_t group)
{
    uint32_t place = l->groups.at[group].place - 1, last = vec_last(&l->heap);
    l->groups.at[group].place = 0;
    l->heap.n--;
    if (last == group)
        return;
    put(l, place, last);
    sift(l, place);
}

/* The tier as it is now, where the group was in `tier` before. */
static enum lineage_tier tier_now(struct lineage *l, const struct group *g)
{
    uint32_t points[POINTS_MAX], n = read_points(l, g->points, points);
    if (g->tier == TIER_SUPERSET || broke(l, points, n, g->size))
        return TIER_SUPERSET;
    if (g->tier == TIER_REST)
        return TIER_REST;
    enum hitting_answer answer = hitting_ask(&l->hitting, points, n);
    if (answer == HITS_NOT_ALL)
        return TIER_REST;
    return answer == HITS_MINIMALLY && g->tried == 0 ? TIER_HYPOTHESIS : TIER_HITS;
}

/* Looks at a group again; true: it has moved. */
static bool look(struct lineage *l, uint32_t group)
{
    struct group *g = &l->groups.at[group];
    if (g->looked_at == l->epoch)
        return false;
    uint8_t before = g->tier;
    g->looked_at = l->epoch;
    g->tier = (uint8_t)tier_now(l, g);
    if (g->tier != before && g->place)
        sift(l, g->place - 1);
    return g->tier != before;
}

/* The group that comes next. */
static uint32_t top(struct lineage *l)
{
    while (look(l, l->heap.at[0]))
        ;
    return l->heap.at[0];
}

/* ---- items ---- */

void lineage_push(struct lineage *l, struct frontier_item item)
{
    uint32_t group = map_index(&l->group_of, points_key(l, item.faultload), l->groups.n);
    if (group == l->groups.n) {
        uint32_t size = faultload_size(l->search->fl, item.faultload);
        vec_push(&l->groups, (struct group){.points = item.faultload,
                                            .looked_at = l->epoch,
                                            .size = size < UINT16_MAX ? (uint16_t)size : UINT16_MAX,
                                            .tier = TIER_HITS});
        l->groups.at[group].tier = (uint8_t)tier_now(l, &l->groups.at[group]);
    }
    uint32_t at = l->free ? l->free : l->items.n + 1;
    if (l->free)
        l->free = l->items.at[at - 1].next;
    else
        vec_push(&l->items, (struct lineage_item){0});
    l->items.at[at - 1] = (struct lineage_item){item, 0};
    struct group *g = &l->groups.at[group];
    if (g->first)
        l->items.at[g->last - 1].next = at;
    else
        g->first = at;
    g->last = at;
    l->plan_holds = false;
    if (!g->place)
        enter_heap(l, group);
}

/* Takes the item after `before` (0: the first) out of its group. `tries`: it is run. */
static struct frontier_item remove_item(struct lineage *l, uint32_t group, uint32_t before,
                                        bool tries)
{
    struct group *g = &l->groups.at[group];
    uint32_t at = before ? l->items.at[before - 1].next : g->first;
    struct lineage_item *own = &l->items.at[at - 1];
    if (before)
        l->items.at[before - 1].next = own->next;
    else
        g->first = own->next;
    if (g->last == at)
        g->last = before;
    own->next = l->free;
    l->free = at;
    if (tries && g->tried < UINT16_MAX)
        g->tried++;
    if (tries && g->tier == TIER_HYPOTHESIS)
        g->tier = TIER_HITS;
    l->plan_holds = false;
    if (g->first)
        sift(l, g->place - 1);
    else
        leave_heap(l, group);
    return own->item;
}

/* Does its run show something? What was seen meanwhile is dropped, and does not count as a try. */
static bool is_try(const struct lineage *l, struct frontier_item item)
{
    return item.edge == NODE_NONE || l->search->tree.nodes.at[item.edge].state != EDGE_SEEN;
}

struct frontier_item lineage_pop(struct lineage *l)
{
    uint32_t group = top(l);
    struct frontier_item item = l->items.at[l->groups.at[group].first - 1].item;
    return remove_item(l, group, 0, is_try(l, item));
}

bool lineage_take(struct lineage *l, faultload f, struct frontier_item *out)
{
    const uint32_t *group = map_get(&l->group_of, points_key(l, f));
    if (!group)
        return false;
    uint32_t before = 0;
    for (uint32_t at = l->groups.at[*group].first; at; at = l->items.at[at - 1].next) {
        if (faultload_eq(l->search->fl, l->items.at[at - 1].item.faultload, f)) {
            *out = remove_item(l, *group, before, true);
            return true;
        }
        before = at;
    }
    return false;
}

enum lineage_tier lineage_next_tier(struct lineage *l, uint32_t *size)
{
    const struct group *g = &l->groups.at[top(l)];
    *size = g->size;
    return (enum lineage_tier)g->tier;
}

/* ---- what would come next ---- */

/* Plans one more, of the groups that are in `planned`: the lowest key. */
static void plan_one(struct lineage *l)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < l->planned.n; i++)
        if (l->planned.at[i].key < l->planned.at[best].key)
            best = i;
    struct planned *p = &l->planned.at[best];
    struct lineage_item own = l->items.at[p->item - 1];
    vec_push(&l->plan, own.item);
    if (is_try(l, own.item))
        p->key += (1ull << 32) + (p->key >> 56 == TIER_HYPOTHESIS ? 1ull << 56 : 0);
    p->item = own.next;
    if (!own.next) {
        *p = vec_last(&l->planned);
        l->planned.n--;
    }
}

/* Plans the next n, or all: they are in the first n groups. */
static void plan(struct lineage *l, uint64_t n)
{
    l->plan.n = l->planned.n = 0;
    while (l->planned.n < n && l->heap.n > 0) {
        uint32_t group = top(l);
        vec_push(&l->planned, (struct planned){key_of(l, group), l->groups.at[group].first});
        leave_heap(l, group);
    }
    for (uint32_t i = 0; i < l->planned.n; i++)
        enter_heap(l, (uint32_t)l->planned.at[i].key);
    while (l->plan.n < n && l->planned.n > 0)
        plan_one(l);
    l->plan_holds = true;
}

struct frontier_item lineage_peek(struct lineage *l, uint64_t after)
{
    if (!l->plan_holds || after >= l->plan.n)
        plan(l, 2 * after + 16);
    return l->plan.at[after];
}

/* ---- what a run shows ---- */

/* The calls that succeeded, and the wide points that would have kept one of them from that. */
static void read_support(struct lineage *l, const struct trace *trace)
{
    l->support.n = 0;
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        if (c->flags & (CALL_EXEMPT | CALL_HUSHED) || !outcome_ok(c->seen))
            continue;
        vec_push(&l->support, call_point(l, c->uid));
        for (uint32_t k = 0; k < l->wide.n; k++)
            if (covers(l->search->names, l->wide.at[k], c->uid))
                vec_push(&l->support, call_point(l, l->wide.at[k]));
    }
}

/* Sets that have become minimal hypotheses: those that are queued come to the front. */
static void move_hypotheses(struct lineage *l)
{
    const struct hitting *h = &l->hitting;
    for (uint32_t i = 0; i < h->sets.n; i++) {
        uint64_t key = 0;
        if (h->sets.at[i].born != h->steps)
            continue;
        for (uint32_t k = 0; k < h->sets.at[i].n; k++)
            key += point_key(l->uid_of.at[h->points.at[h->sets.at[i].first + k]]);
        const uint32_t *group = map_get(&l->group_of, key);
        if (group)
            (void)look(l, *group);
    }
}

void lineage_observed(struct lineage *l, struct frontier_item item, const struct trace *trace,
                      const struct verdict *verdict)
{
    if (!vec_last(&l->search->runs).fired)
        return;
    if (!l->learned && item.faultload == FAULTLOAD_EMPTY && verdict->pass) {
        l->good = verdict->status;
        l->learned = true;
    }
    l->plan_holds = false;
    if (!verdict->pass) {
        add_broken(l, item.faultload);
    } else if (l->learned && verdict->status == l->good) {
        read_support(l, trace);
        if (hitting_add(&l->hitting, l->support.at, l->support.n)) {
            l->epoch++;
            move_hypotheses(l);
        }
    }
}

/* ---- the order ---- */

struct lineage *lineage_new(struct search *s)
{
    struct lineage *l = mem_zero(sizeof *l);
    l->search = s;
    hitting_init(&l->hitting, HYPOTHESES_MAX);
    return l;
}

void lineage_free(struct lineage *l)
{
    if (!l)
        return;
    hitting_deinit(&l->hitting);
    vec_deinit(&l->groups);
    map_deinit(&l->group_of);
    vec_deinit(&l->heap);
    vec_deinit(&l->items);
    vec_deinit(&l->number_of);
    vec_deinit(&l->uid_of);
    vec_deinit(&l->wide);
    vec_deinit(&l->support);
    vec_deinit(&l->broken);
    vec_deinit(&l->broken_by);
    vec_deinit(&l->plan);
    vec_deinit(&l->planned);
    mem_free(l);
}

static void open_order(struct search *s)
{
    s->frontier.own = lineage_new(s);
}

static void close_order(struct search *s)
{
    lineage_free(s->frontier.own);
    s->frontier.own = NULL;
}

static uint32_t score(const struct search *s, faultload f)
{
    return faultload_size(s->fl, f);
}

static void push(struct frontier *f, struct frontier_item item, uint32_t size)
{
    (void)size;
    lineage_push(f->own, item);
}

static struct frontier_item pop(struct frontier *f)
{
    return lineage_pop(f->own);
}

static struct frontier_item peek(const struct frontier *f, uint64_t after)
{
    return lineage_peek(f->own, after);
}

static bool take(struct search *s, faultload f, struct frontier_item *out)
{
    return lineage_take(s->frontier.own, f, out);
}

static void observed(struct search *s, struct frontier_item item, const struct trace *trace,
                     const struct verdict *verdict)
{
    lineage_observed(s->frontier.own, item, trace, verdict);
}

static uint64_t rank(const struct search *s)
{
    uint32_t size;
    enum lineage_tier tier = lineage_next_tier(s->frontier.own, &size);
    return (uint64_t)tier << 32 | size;
}

const struct order_ops lineage_ops = {
    .open = open_order,
    .close = close_order,
    .score = score,
    .push = push,
    .pop = pop,
    .peek = peek,
    .take = take,
    .observed = observed,
    .rank = rank,
};
