/* SPDX-License-Identifier: Apache-2.0
 *
 * A simulated system in place of services: its services become those of the configuration, its
 * scenarios too, and one process more, which is us again (`outfox sim serve`), serves them all. */
#include <limits.h>
#include <stdlib.h>

#include "live/live_int.h"

#include "base/clock.h"

static int add_scenario(struct campaign_config *c, const struct sim *sim, uint32_t i, struct err *e)
{
    struct scenario_spec spec = {.name = slice_copy(&c->arena, sim->scenario[i].name),
                                 .timeout_ns = SECONDS(30),
                                 .limit_ns = sim->scenario[i].limit_ns};
    sim_request_parts(sim, i, &c->arena, &spec.service, &spec.method, &spec.target, &spec.body);
    if (spec.service == UINT32_MAX)
        return err_set(e, 0, 0, "the request of scenario \"%s\" goes to no service", spec.name.p);
    if (spec.body.n)
        spec.content_type =
            spec.method.n ? SLICE("application/json") : SLICE("application/grpc+json");
    vec_push(&c->scenarios, spec);
    return 0;
}

int sim_adopt(struct campaign_config *c, const struct sim *sim, const char *program, struct err *e)
{
    uint32_t n = sim->n_services;
    c->services.n = 0; /* those that the file's reader has put there have a name only */
    for (uint32_t i = 0; i < n; i++)
        vec_push(&c->services, (struct service_spec){.name = sim->service[i].name,
                                                     .host = SLICE("127.0.0.1"),
                                                     .ready = READY_NONE});
    vec_push(&c->services, (struct service_spec){.name = SLICE("simulator"),
                                                 .host = SLICE("127.0.0.1"),
                                                 /* its file is named as we reach it from here */
                                                 .dir = SLICE("."),
                                                 .run = slice_copy(&c->arena, slice_of(program)),
                                                 .ready = READY_TCP,
                                                 .ready_ns = SECONDS(30),
                                                 .stop_ns = SECONDS(3)});
    c->simulated_scenarios = c->scenarios.n == 0;
    for (uint32_t i = 0; c->simulated_scenarios && i < sim->n_scenarios; i++)
        if (add_scenario(c, sim, i, e))
            return -1;
    return 0;
}

void sim_command(const struct live *l, struct buf *out)
{
    const struct wiring *w = l->wiring;
    const struct campaign_config *c = l->config;
    buf_adds(out, "exec ");
    buf_add_shell(out, slice_of(l->opt.program));
    buf_adds(out, " sim serve ");
    char path[PATH_MAX]; /* the process may start elsewhere */
    buf_add_shell(out, realpath(c->simulate.p, path) ? slice_of(path) : c->simulate);
    buf_addf(out, " --control %u", (unsigned)addr_port(&w->address[l->sim_process]));
    for (uint32_t i = 0; i < l->sim_process; i++)
        if (!l->opt.sim->service[i].external)
            buf_addf(out, " --port %s=%u", w->name[i].p, (unsigned)addr_port(&w->address[i]));
    for (uint32_t i = 0; i < w->doors.n; i++) {
        const struct wiring_door *d = &w->doors.at[i];
        if (d->caller < w->n_services)
            buf_addf(out, " --to '%s>%s=http://%s'", w->name[d->caller].p, w->name[d->callee].p,
                     d->address);
    }
    buf_adds(out, " --propagate ");
    for (uint32_t i = 0; i < c->propagate.n; i++)
        buf_addf(out, "%s%.*s", i ? "," : "", SLICE_ARG(c->propagate.at[i]));
    if (!c->propagate.n)
        buf_adds(out, "none");
}
