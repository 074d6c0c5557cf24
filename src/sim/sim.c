/* SPDX-License-Identifier: Apache-2.0
 *
 * A loaded system, seen from outside. */
#include "sim/sim_int.h"

void sim_free(struct sim *sim)
{
    if (!sim)
        return;
    rewrite_free(sim->rewrite);
    vec_deinit(&sim->targets);
    map_deinit(&sim->target_of);
    map_deinit(&sim->service_of);
    map_deinit(&sim->equal);
    arena_deinit(&sim->run_arena);
    arena_deinit(&sim->state_arena[0]);
    arena_deinit(&sim->state_arena[1]);
    arena_deinit(&sim->arena);
    mem_free(sim);
}

const char *sim_name(const struct sim *sim)
{
    return sim->name.p;
}

const struct mode_list *sim_modes(const struct sim *sim)
{
    return &sim->modes;
}

uint8_t sim_speaks(const struct sim *sim)
{
    uint8_t flags = 0;
    for (uint32_t i = 0; i < sim->n_services; i++)
        for (uint32_t k = 0; k < sim->service[i].n_endpoints; k++)
            flags |= sim->service[i].endpoint[k].method.n ? CALL_HTTP : CALL_GRPC;
    return flags;
}

uint32_t sim_scenarios(const struct sim *sim)
{
    return sim->n_scenarios;
}

const char *sim_scenario_name(const struct sim *sim, uint32_t scenario)
{
    return sim->scenario[scenario].name.p;
}

uint32_t sim_scenario(const struct sim *sim, const char *name)
{
    for (uint32_t i = 0; i < sim->n_scenarios; i++)
        if (!name || slice_is(sim->scenario[i].name, name))
            return i;
    return UINT32_MAX;
}

const struct node *sim_judge_settings(const struct sim *sim)
{
    return sim->judge;
}

int64_t sim_scenario_limit(const struct sim *sim, uint32_t scenario)
{
    return sim->scenario[scenario].limit_ns;
}

bool sim_random(const struct sim *sim)
{
    return sim->random;
}

uint32_t sim_services(const struct sim *sim)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < sim->n_services; i++)
        n += !sim->service[i].external;
    return n;
}

uint32_t sim_service_count(const struct sim *sim)
{
    return sim->n_services;
}

const char *sim_service_name(const struct sim *sim, uint32_t service)
{
    return sim->service[service].name.p; /* text of a file ends with a NUL */
}

bool sim_service_external(const struct sim *sim, uint32_t service)
{
    return sim->service[service].external;
}

uint32_t sim_service_find(const struct sim *sim, slice name)
{
    for (uint32_t i = 0; i < sim->n_services; i++)
        if (slice_eq(sim->service[i].name, name))
            return i;
    return UINT32_MAX;
}

const struct node *sim_service_state(const struct sim *sim, uint32_t service)
{
    return sim->service[service].state;
}

bool sim_keep_state(const struct sim *sim)
{
    return sim->keep_state;
}

const struct rewrite *sim_rules(const struct sim *sim)
{
    return sim->rewrite;
}
