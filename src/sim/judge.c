/* SPDX-License-Identifier: Apache-2.0
 *
 * What a scenario asks for and what it expects: of a run in memory, or of one made elsewhere. */
#include "sim/handler.h"
#include "sim/sim_int.h"

void scenario_judge(const struct scenario *sc, struct env *env, struct verdict *out)
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

/* The state of all services: as in `state`, {service: {name: value}}, else as in the file. */
static const struct node ***state_of(const struct sim *sim, const struct node *state,
                                     struct arena *a)
{
    const struct node ***all = arena_zero(a, sim->n_services * sizeof *all);
    for (uint32_t i = 0; i < sim->n_services; i++) {
        const struct service *service = &sim->service[i];
        const struct node *told = node_get(state, service->name);
        uint32_t n = service->state ? service->state->n : 0;
        all[i] = arena_zero(a, n * sizeof **all);
        for (uint32_t k = 0; k < n; k++) {
            const struct node *value = node_get(told, service->state->map[k].key);
            all[i][k] = value ? value : service->state->map[k].value;
        }
    }
    return all;
}

void sim_judge(const struct sim *sim, uint32_t scenario, outcome status, const struct node *body,
               const struct trace *trace, const struct node *state, struct verdict *out)
{
    struct arena a = {0};
    struct rng rng = {0};
    struct env env = {.sim = sim,
                      .arena = &a,
                      .rng = &rng,
                      .state = state_of(sim, state, &a),
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
    const struct scenario *sc = &sim->scenario[scenario];
    bool wants = false;
    for (uint32_t i = 0; i < sc->n_rules && !wants; i++)
        wants = wants_state(sc->rule[i].when) || wants_state(sc->rule[i].then);
    return wants;
}

void sim_request_parts(const struct sim *sim, uint32_t scenario, struct arena *a, uint32_t *service,
                       slice *method, slice *target, slice *payload_json)
{
    const struct scenario *sc = &sim->scenario[scenario];
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

/* ---- who may call whom ---- */

static bool target_may_be(const struct expr *target, slice callee)
{
    struct arena a = {0};
    struct target_text parts;
    slice text = target_pattern(&a, target);
    bool split = target_split(text, &parts), may = false;
    if (split)
        may = slice_eq(parts.service, callee) || slice_find(parts.service, '{') < parts.service.n ||
              (!parts.url && parts.path.n && parts.path.p[0] == '{'); /* METHOD {url} */
    else
        may = slice_find(text, '{') < text.n;
    arena_deinit(&a);
    return may;
}

static bool steps_may_call(const struct steps *steps, slice callee)
{
    bool may = false;
    for (uint32_t i = 0; i < steps->n && !may; i++) {
        const struct step *step = &steps->at[i];
        may = (step->kind == STEP_CALL && target_may_be(step->value, callee)) ||
              steps_may_call(&step->then, callee) || steps_may_call(&step->other, callee);
        for (uint32_t k = 0; k < step->n_branches && !may; k++)
            may = steps_may_call(&step->branch[k], callee);
        for (uint32_t k = 0; k < step->on.n && !may; k++)
            may = steps_may_call(&step->on.at[k].steps, callee);
    }
    return may;
}

bool sim_may_call(const struct sim *sim, uint32_t caller, uint32_t callee)
{
    const struct service *service = &sim->service[caller];
    bool may = false;
    for (uint32_t i = 0; i < service->n_endpoints && !may; i++)
        may = steps_may_call(&service->endpoint[i].steps, sim->service[callee].name);
    return may;
}
