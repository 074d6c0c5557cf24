/* SPDX-License-Identifier: Apache-2.0
 *
 * A loaded system, seen from outside: what its scenarios ask for, and what they expect of a run in
 * memory or of one made elsewhere. */
#include "base/hash.h"
#include "sim/handler.h"
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

uint32_t sim_scenario(const struct sim *sim, const char *name)
{
    for (uint32_t i = 0; i < sim->n_scenarios; i++)
        if (!name || slice_is(sim->scenario[i].name, name))
            return i;
    return UINT32_MAX;
}

uint32_t sim_service_find(const struct sim *sim, slice name)
{
    const uint32_t *i = map_get(&sim->service_of, hash_slice(name));
    return i && slice_eq(sim->service[*i].name, name) ? *i : UINT32_MAX;
}

void scenario_judge(const struct sim_scenario *sc, struct env *env, struct verdict *out)
{
    *out = (struct verdict){.pass = true, .status = env->status, .why = ""};
    for (uint32_t i = 0; i < sc->n_rules && out->pass; i++) {
        const struct rule *rule = &sc->rule[i];
        if (rule->when && !expr_true(rule->when, env))
            continue;
        out->pass = expr_true(rule->then, env);
        if (!out->pass)
            out->why = rule->say;
    }
}

void sim_judge(const struct sim *sim, uint32_t scenario, outcome status, const struct node *body,
               const struct trace *trace, const struct node *state, struct verdict *out)
{
    struct arena a = {0};
    struct rng rng = {0};
    const struct node ***all = arena_zero(&a, sim->n_services * sizeof *all);
    for (uint32_t i = 0; i < sim->n_services; i++) {
        const struct node *init = sim->service[i].state;
        const struct node *told = node_get(state, sim->service[i].name);
        all[i] = arena_zero(&a, (init ? init->n : 0) * sizeof **all);
        for (uint32_t k = 0; init && k < init->n; k++) {
            const struct node *value = node_get(told, init->map[k].key);
            all[i][k] = value ? value : init->map[k].value;
        }
    }
    struct env env = {.sim = sim,
                      .arena = &a,
                      .rng = &rng,
                      .state = all,
                      .payload = &node_null,
                      .body = body ? body : &node_null,
                      .status = status,
                      .trace = trace};
    scenario_judge(&sim->scenario[scenario], &env, out);
    arena_deinit(&a);
}

static bool wants_state(const struct expr *ex)
{
    if (!ex)
        return false;
    bool wants = ex->op == EX_REF && ex->ref.kind == REF_STATE;
    for (uint32_t i = 0; i < ex->n && !wants; i++)
        wants = wants_state(ex->part[i]);
    return wants;
}

bool sim_wants_state(const struct sim *sim, uint32_t scenario)
{
    const struct sim_scenario *sc = &sim->scenario[scenario];
    bool wants = false;
    for (uint32_t i = 0; i < sc->n_rules && !wants; i++)
        wants = wants_state(sc->rule[i].when) || wants_state(sc->rule[i].then);
    return wants;
}

void sim_request_parts(const struct sim *sim, uint32_t scenario, struct arena *a, uint32_t *service,
                       slice *method, slice *target, slice *payload_json)
{
    const struct sim_scenario *sc = &sim->scenario[scenario];
    struct rng rng = {0};
    struct env env = {.sim = sim, .arena = a, .rng = &rng, .payload = &node_null};
    struct target_text parts;
    *service = UINT32_MAX;
    if (target_split(node_as_text(expr_eval(sc->request, &env), a), &parts))
        *service = sim_service_find(sim, parts.service);
    *method = slice_copy(a, parts.method);
    *target = slice_copy(a, sim_path_encode(a, parts.path));
    *payload_json = SLICE("");
    const struct node *payload = sc->payload ? expr_eval(sc->payload, &env) : &node_null;
    if (payload->type != NODE_NULL) {
        struct buf text = BUF_INIT(SIM_BYTES_MAX);
        node_print(payload, &text);
        *payload_json = buf_keep(&text, a);
    }
}
