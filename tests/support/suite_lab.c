/* SPDX-License-Identifier: Apache-2.0 */
#include "support/suite_lab.h"

#include <stdlib.h>

#include "data/yaml.h"
#include "support/random_system.h"

enum { SEATS_MAX = 64 };

static int add_sim(struct suite_lab *l, const struct node *system, struct err *e)
{
    struct sim *sim;
    if (sim_load(system, &l->lab.names, &sim, e))
        return -1;
    vec_push(&l->sims, sim);
    for (uint32_t i = 0; i < sim->n_scenarios && l->seats.n < SEATS_MAX; i++)
        vec_push(&l->seats, (struct suite_seat){.sim = sim, .scenario = i});
    return 0;
}

void suite_lab_random(struct suite_lab *l, uint64_t seed, uint32_t n)
{
    struct err e = {0};
    *l = (struct suite_lab){0};
    if (lab_init(&l->lab, NULL, &e))
        abort(); /* nothing is loaded */
    for (uint32_t i = 0; i < n; i++)
        if (add_sim(l, random_system(seed * n + i, &l->arena), &e))
            abort(); /* random systems load */
}

int suite_lab_file(struct suite_lab *l, const char *path, struct err *e)
{
    const struct node *root;
    *l = (struct suite_lab){0};
    if (lab_init(&l->lab, NULL, e) || yaml_load(path, &l->arena, &root, e))
        return -1;
    return add_sim(l, root, e);
}

void suite_lab_forget(struct suite_lab *l)
{
    for (uint32_t i = 0; i < l->seats.n; i++)
        map_deinit(&l->seats.at[i].facts);
    map_deinit(&l->lab.faultloads);
    l->runs.n = 0;
}

void suite_lab_deinit(struct suite_lab *l)
{
    suite_lab_forget(l);
    for (uint32_t i = 0; i < l->sims.n; i++)
        sim_free(l->sims.at[i]);
    l->lab.sim = NULL; /* it was one of them */
    vec_deinit(&l->sims);
    vec_deinit(&l->seats);
    vec_deinit(&l->runs);
    lab_deinit(&l->lab);
    arena_deinit(&l->arena);
}

void suite_lab_open(struct suite_lab *l, const char *order, uint64_t seed)
{
    l->lab.sim = l->sims.at[0];
    struct search_options options = lab_options(&l->lab);
    options.order = order_find(slice_of(order));
    options.seed = seed;
    options.max_faults = l->max_faults;
    options.assume = l->max_faults ? 1u << REDUCE_MAX_FAULTS : 0;
    l->suite = suite_new(l->seats.n, &options);
    for (uint32_t i = 0; i < l->seats.n; i++) {
        struct suite_seat *seat = &l->seats.at[i];
        options.suite = l->seats.n > 1 ? l->suite : NULL;
        options.seat = i;
        if (!l->lab.modes) {
            options.modes = seat->sim->modes.at;
            options.n_modes = seat->sim->modes.n;
        }
        seat->search = search_new(&l->lab.names, &l->lab.fl, &options);
    }
}

void suite_lab_close(struct suite_lab *l)
{
    for (uint32_t i = 0; i < l->seats.n; i++) {
        search_free(l->seats.at[i].search);
        l->seats.at[i].search = NULL;
    }
    suite_free(l->suite);
    l->suite = NULL;
}

void suite_lab_run(struct suite_lab *l, uint32_t at, faultload f)
{
    struct suite_seat *seat = &l->seats.at[at];
    struct map none = l->lab.facts;
    l->lab.sim = seat->sim;
    l->lab.scenario = seat->scenario;
    l->lab.facts = seat->facts;
    if (l->no_facts)
        lab_run_only(&l->lab, f);
    else
        lab_run(&l->lab, f);
    seat->facts = l->lab.facts;
    l->lab.facts = none;
    search_observe(seat->search, f, &l->lab.trace, &l->lab.verdict);
    vec_push(&l->runs, (struct suite_run){at, f});
    if (l->visit)
        l->visit(l->ctx, l, at);
}

bool suite_lab_explore(struct suite_lab *l, uint32_t most)
{
    bool ready[SEATS_MAX];
    uint32_t left = l->seats.n;
    for (uint32_t i = 0; i < left; i++)
        ready[i] = true;
    for (uint32_t n = 0; left && n < most;) {
        uint32_t seat = suite_turn(l->suite, ready);
        faultload f;
        if (!ready[seat])
            abort(); /* suite.h */
        if (search_next(l->seats.at[seat].search, &f)) {
            suite_lab_run(l, seat, f);
            n++;
        } else {
            ready[seat] = false;
            left--;
        }
    }
    return left == 0;
}
