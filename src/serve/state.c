/* SPDX-License-Identifier: Apache-2.0
 *
 * What services remember: one set of states per trace, so that runs at the same time do not see
 * each other. A set begins as in the file when its trace is first seen; the newest are kept.
 *
 * 1. One lock for all, which a thread may take again: an expression that changes state may read it.
 * 2. Values live in the arena of their set. Values that were replaced stay there until it is
 *    large: then those in use move to a new one. */
#include "serve/serve_int.h"

#include "data/json.h"

enum { COMPACT_BYTES = 256 * 1024, COMPACT_TIMES = 4 };

struct set {
    bool used;
    uint64_t trace, age;
    struct arena arena;
    size_t least;               /* bytes after the last move */
    const struct node ***value; /* [service][slot] */
};

struct states {
    const struct sim *sim;
    pthread_mutex_t lock;
    struct arena arena; /* of the tables of values */
    struct set set[SERVE_STATES_MAX + 1];
    uint64_t age;
};

struct states *states_new(const struct sim *sim)
{
    struct states *st = mem_zero(sizeof *st);
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&st->lock, &attr);
    pthread_mutexattr_destroy(&attr);
    st->sim = sim;
    return st;
}

void states_free(struct states *st)
{
    if (!st)
        return;
    for (uint32_t i = 0; i <= SERVE_STATES_MAX; i++)
        arena_deinit(&st->set[i].arena);
    arena_deinit(&st->arena);
    pthread_mutex_destroy(&st->lock);
    mem_free(st);
}

static uint32_t slots_of(const struct sim *sim, uint32_t service)
{
    const struct node *init = sim->service[service].state;
    return init ? init->n : 0;
}

static void set_clear(struct states *st, struct set *set, uint64_t trace)
{
    uint32_t n = st->sim->n_services;
    if (!set->value) {
        set->value = arena_zero(&st->arena, n * sizeof *set->value);
        for (uint32_t i = 0; i < n; i++)
            set->value[i] = arena_zero(&st->arena, slots_of(st->sim, i) * sizeof **set->value);
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < slots_of(st->sim, i); k++)
            set->value[i][k] = st->sim->service[i].state->map[k].value;
    arena_reset(&set->arena);
    set->least = 0;
    set->used = true;
    set->trace = trace;
    set->age = ++st->age;
}

/* The set of a trace, or NULL. The first is that of trace 0, which is never displaced. */
static struct set *find(struct states *st, uint64_t trace)
{
    for (uint32_t i = 0; i <= SERVE_STATES_MAX; i++)
        if (st->set[i].used && st->set[i].trace == trace)
            return &st->set[i];
    return NULL;
}

static struct set *find_or_make(struct states *st, uint64_t trace)
{
    if (st->sim->keep_state)
        trace = 0;
    struct set *set = find(st, trace);
    if (set)
        return set;
    set = &st->set[trace ? 1 : 0];
    for (uint32_t i = 1; trace && i <= SERVE_STATES_MAX && set->used; i++)
        if (!st->set[i].used || st->set[i].age < set->age)
            set = &st->set[i];
    set_clear(st, set, trace);
    return set;
}

const struct node **states_begin(struct states *st, uint64_t trace, uint32_t service)
{
    pthread_mutex_lock(&st->lock);
    return find_or_make(st, trace)->value[service];
}

static void compact(struct states *st, struct set *set)
{
    struct arena fresh = {0};
    for (uint32_t i = 0; i < st->sim->n_services; i++)
        for (uint32_t k = 0; k < slots_of(st->sim, i); k++)
            set->value[i][k] = node_copy(&fresh, set->value[i][k]);
    arena_deinit(&set->arena);
    set->arena = fresh;
    set->least = fresh.used;
}

void states_end(struct states *st, uint64_t trace, uint32_t service, uint32_t slot)
{
    if (slot != UINT32_MAX) {
        struct set *set = find_or_make(st, trace);
        set->value[service][slot] = node_copy(&set->arena, set->value[service][slot]);
        if (set->arena.used > COMPACT_BYTES && set->arena.used > COMPACT_TIMES * set->least)
            compact(st, set);
    }
    pthread_mutex_unlock(&st->lock);
}

void states_reset(struct states *st)
{
    pthread_mutex_lock(&st->lock);
    for (uint32_t i = 0; i <= SERVE_STATES_MAX; i++)
        st->set[i].used = false;
    pthread_mutex_unlock(&st->lock);
}

void states_forget(struct states *st, uint64_t trace)
{
    pthread_mutex_lock(&st->lock);
    struct set *set = find(st, trace);
    if (set)
        set->used = false;
    pthread_mutex_unlock(&st->lock);
}

void states_print(struct states *st, uint64_t trace, const bool *served, struct buf *out)
{
    pthread_mutex_lock(&st->lock);
    struct set *set = find(st, trace);
    set = set ? set : find_or_make(st, 0);
    struct json_out j = json_out(out, JSON_SPACED);
    json_map(&j, NULL);
    for (uint32_t i = 0; i < st->sim->n_services; i++) {
        const struct node *init = st->sim->service[i].state;
        if (!served[i] || !init || !init->n)
            continue;
        json_map(&j, st->sim->service[i].name.p);
        for (uint32_t k = 0; k < init->n; k++) {
            json_key(&j, init->map[k].key);
            json_node(&j, NULL, set->value[i][k]);
        }
        json_map_end(&j);
    }
    json_map_end(&j);
    pthread_mutex_unlock(&st->lock);
}
