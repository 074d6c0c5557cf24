/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/judging.h"

#include <stdio.h>

#include "config/placeholder.h"

int judging_open(struct judging *x, const struct node *map, const char *const *oracles, uint32_t n,
                 const struct vocabulary *v, struct err *e)
{
    *x = (struct judging){0};
    judge_settings_init(&x->settings);
    int status = judge_settings_load(map, v, &x->settings, e);
    if (status)
        return -1;
    for (uint32_t i = 0; i < n && !status; i++)
        status = judge_settings_set(&x->settings, slice_of(oracles[i]), e);
    if (status) /* it is not the file that is wrong */
        snprintf(e->source, sizeof e->source, "--oracle");
    return status;
}

void judging_close(struct judging *x)
{
    judge_settings_deinit(&x->settings);
    vec_deinit(&x->wires);
}

void judging_wire_sim(struct judging *x, const struct sim *sim)
{
    uint32_t n = sim->n_services;
    for (uint32_t i = 0; i < n * n; i++)
        if (sim_may_call(sim, i / n, i % n) && !sim->service[i % n].external)
            vec_push(&x->wires,
                     (struct judge_wire){sim->service[i / n].name, sim->service[i % n].name});
}

static void wire_text(struct judging *x, const struct service_spec *caller, slice text)
{
    struct placeholder p;
    slice literal;
    while (placeholder_next(&text, &literal, &p))
        if (p.kind != PLACEHOLDER_TEXT && p.name.n && !slice_eq(p.name, caller->name))
            vec_push(&x->wires, (struct judge_wire){caller->name, p.name});
}

void judging_wire_config(struct judging *x, const struct campaign_config *config)
{
    for (uint32_t i = 0; i < config->services.n; i++) {
        const struct service_spec *s = &config->services.at[i];
        wire_text(x, s, s->run);
        for (uint32_t k = 0; k < s->env.n; k++)
            wire_text(x, s, s->env.at[k].value);
    }
}
