/* SPDX-License-Identifier: Apache-2.0
 *
 * A system from its YAML: the tables of the file's own keys, of services and of scenarios. Steps are
 * load_step.c. */
#include "base/hash.h"
#include "sim/sim_int.h"

static int want_text(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    (void)into;
    return keys_want(r, key->name, value, NODE_STR);
}

/* ---- services ---- */

/* The same method and path but for the names of parameters? */
static bool same_shape(const struct endpoint *a, const struct endpoint *b)
{
    bool same = a->n_segments == b->n_segments && slice_eq(a->method, b->method);
    for (uint32_t i = 0; same && i < a->n_segments; i++)
        same = (a->segment[i].n && a->segment[i].p[0] == '{' && b->segment[i].n &&
                b->segment[i].p[0] == '{') ||
               slice_eq(a->segment[i], b->segment[i]);
    return same;
}

/* METHOD /path: STEPS, or package.Service/Method: STEPS */
static int add_endpoint(struct keys_reader *r, const struct key *key, void *into,
                        const struct node_pair *pair)
{
    const struct loading *l = r->ctx;
    struct sim *sim = l->scope->sim;
    struct sim_service *service = into;
    (void)key;
    if (slice_find(pair->key, '/') == pair->key.n)
        return 1;
    struct endpoint *ep = &service->endpoint[service->n_endpoints];
    if (service->n_endpoints == SIM_ENDPOINTS_MAX)
        return err_set(r->e, pair->line, pair->col, "a service can have at most %d endpoints",
                       SIM_ENDPOINTS_MAX);
    slice rest = pair->key, word, last = {0};
    int words = 0;
    for (; slice_word(&rest, &word); words++)
        last = word;
    bool odd = memchr(">:&#{^*", pair->key.p[0], 7); /* would not be read back as a name */
    if (odd || words > 2 || (words == 2 && last.p[0] != '/'))
        return err_set(r->e, pair->line, pair->col,
                       "write an endpoint as METHOD /path or package.Service/Method, not \"%.*s\"",
                       SHORT(pair->key));
    endpoint_split(&sim->arena, pair->key, ep);
    ep->source = pair->value;
    ep->line = pair->line;
    ep->col = pair->col;
    for (uint32_t i = 0; i < service->n_endpoints; i++)
        if (same_shape(&service->endpoint[i], ep))
            return err_set(r->e, pair->line, pair->col,
                           "the endpoint \"%.*s\" is already defined at line %u",
                           SLICE_ARG(ep->text), service->endpoint[i].line);
    service->n_endpoints++;
    for (uint32_t i = 0; i < ep->n_segments; i++) { /* its parameters */
        slice s = ep->segment[i];
        if (slice_find(s, '{') == s.n && slice_find(s, '}') == s.n)
            continue;
        if (s.p[0] != '{' || s.p[s.n - 1] != '}')
            return err_set(r->e, ep->line, ep->col,
                           "a parameter must be a whole segment, /{name}/, not \"%.*s\"",
                           SLICE_ARG(s));
        slice name = {s.p + 1, s.n - 2};
        if (slot_of(ep, name) != SLOT_NONE)
            return err_set(r->e, ep->line, ep->col, "parameter \"%.*s\" is used twice",
                           SLICE_ARG(name));
        if (slot_add(sim, ep, name, false, "the name of a parameter", pair->line, pair->col, r->e))
            return -1;
    }
    ep->n_params = ep->n_slots;
    return steps_names(pair->value, sim, ep, r->e);
}

/* `external: true`, `external: 503` */
static int read_external(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct sim_service *service = into;
    struct err ignored = {0};
    service->external = value->type != NODE_BOOL || value->boolean;
    service->external_reply = OUTCOME_OK;
    if (value->type != NODE_BOOL && outcome_parse(value->text, &service->external_reply, &ignored))
        return keys_fail(r, value, "\"%s\" must be true or the status to answer with", key->name);
    return 0;
}

static const struct key service_rows[] = {
    {"state", KEY_NODE, offsetof(struct sim_service, state), .doc = "values that it keeps"},
    {"latency", KEY_DURATION, offsetof(struct sim_service, latency_ns), .fallback = "1ms",
     .doc = "how long an answer takes"},
    {"external", KEY_OTHER, .read = read_external,
     .doc = "outside of the system: true, or the status it answers with"},
};
static const struct keys service_keys = {"a service", "service", KEY_ROWS(service_rows),
                                         .other = add_endpoint, .others = "METHOD /path"};

static int add_service(struct keys_reader *r, const struct key *key, void *into,
                       const struct node_pair *pair)
{
    struct sim *sim = into;
    (void)key;
    sim->service = arena_grown(&sim->arena, sim->service, sim->n_services, sizeof *sim->service);
    struct sim_service *out = &sim->service[sim->n_services];
    *out = (struct sim_service){
        .name = pair->key, .line = pair->line, .col = pair->col, .latency_ns = SIM_LATENCY_NS};
    if (keys_name(r, pair->key, pair->line, pair->col, "the name of a service", false))
        return -1;
    out->sym = names_sym(sim->names, pair->key);
    map_set(&sim->service_of, hash_slice(pair->key), sim->n_services++);
    if (pair->value->type == NODE_STR && slice_is(pair->value->text, "external"))
        return read_external(r, NULL, out, &node_true);
    if (pair->value->type == NODE_NULL)
        return 0;
    out->endpoint = arena_zero(&sim->arena, pair->value->n * sizeof *out->endpoint);
    out->latency_given = node_get(pair->value, SLICE("latency"));
    if (keys_read(r, &service_keys, out, pair->value))
        return -1;
    if (out->external && out->n_endpoints)
        return err_set(r->e, out->line, out->col, "an external service cannot have endpoints");
    return 0;
}

/* Second pass, when all services are known: the steps of their endpoints. */
static int read_handlers(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct sim *sim = into;
    (void)key;
    (void)value;
    for (uint32_t i = 0; i < sim->n_services; i++)
        for (uint32_t k = 0; k < sim->service[i].n_endpoints; k++) {
            struct endpoint *ep = &sim->service[i].endpoint[k];
            struct scope scope = {sim, ep, i};
            if (steps_load(&scope, ep->source, true, &ep->steps, r->e))
                return -1;
        }
    return 0;
}

/* ---- scenarios ---- */

static const struct key rule_rows[] = {
    {"when", KEY_OTHER, offsetof(struct rule, when), .read = read_condition, .fallback = "always",
     .doc = "when it holds"},
    {"then", KEY_OTHER, offsetof(struct rule, then), .read = read_condition,
     .needed = "then: CONDITION", .doc = "what must hold"},
    {"say", KEY_OTHER, .read = want_text, .doc = "the sentence to report when it does not"},
};
static const struct keys rule_keys = {"a rule of expect", "rule", KEY_ROWS(rule_rows)};

static int add_rule(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct sim_scenario *scenario = into;
    (void)key;
    scenario->rule =
        arena_grown(r->arena, scenario->rule, scenario->n_rules, sizeof *scenario->rule);
    struct rule *out = &scenario->rule[scenario->n_rules++];
    if (keys_read(r, &rule_keys, out, value))
        return -1;
    const struct node *when = node_get(value, SLICE("when")), *say = node_get(value, SLICE("say"));
    struct buf text = BUF_INIT(1000);
    buf_addf(&text, "expected %.*s", SLICE_ARG(node_get(value, SLICE("then"))->text));
    if (when)
        buf_addf(&text, " when %.*s", SLICE_ARG(when->text));
    slice sentence = say ? say->text : buf_slice(&text);
    char *line = arena_copy(r->arena, sentence.p, sentence.n);
    for (size_t i = 0; i < sentence.n; i++) /* one line, whatever is in it */
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = ' ';
    out->say = line;
    buf_deinit(&text);
    return 0;
}

static int read_request(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    struct sim_scenario *scenario = into;
    scenario->line = value->line;
    scenario->col = value->col;
    return keys_want(r, key->name, value, NODE_STR) ? -1 : read_value(r, key, into, value);
}

static const struct key scenario_rows[] = {
    {"request", KEY_OTHER, offsetof(struct sim_scenario, request), .read = read_request,
     .needed = "request: SERVICE METHOD /path", .doc = "the call that it begins with"},
    {"payload", KEY_OTHER, offsetof(struct sim_scenario, payload), .read = read_value,
     .doc = "its body"},
    {"limit", KEY_DURATION, offsetof(struct sim_scenario, limit_ns), .doc = "how long it may take"},
    {"expect", KEY_LIST, .most = UINT32_MAX, .read = add_rule, .inner = &rule_keys,
     .doc = "what must hold"},
};
static const struct keys scenario_keys = {"a scenario", "scenario", KEY_ROWS(scenario_rows)};

static int add_scenario(struct keys_reader *r, const struct key *key, void *into,
                        const struct node_pair *pair)
{
    struct sim *sim = into;
    (void)key;
    sim->scenario =
        arena_grown(&sim->arena, sim->scenario, sim->n_scenarios, sizeof *sim->scenario);
    struct sim_scenario *out = &sim->scenario[sim->n_scenarios++];
    out->name = pair->key;
    return keys_name(r, pair->key, pair->line, pair->col, "the name of a scenario", false) ||
                   keys_read(r, &scenario_keys, out, pair->value)
               ? -1
               : 0;
}

/* ---- the file ---- */

static int read_name(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct sim *sim = into;
    (void)key;
    sim->name = value->text.p;
    return keys_name(r, value->text, value->line, value->col, "the name of a system", false);
}

static int add_mode(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct sim *sim = into;
    (void)key;
    if (mode_list_add(&sim->modes, value->text, r->e))
        return err_place(r->e, value->line, value->col);
    return mode_event(sim->modes.at[sim->modes.n - 1]).n
               ? keys_fail(r, value, "a simulated system has no processes that an event could harm")
               : 0;
}

static int add_rewrite(struct keys_reader *r, const struct key *key, void *into,
                       const struct node *value)
{
    struct sim *sim = into;
    (void)key;
    return rewrite_add(sim->rewrite, value->text, r->e) ? err_place(r->e, value->line, value->col)
                                                        : 0;
}

static const struct key identify_rows[] = {
    {"payload", KEY_SWITCH, offsetof(struct sim, name_payload), .fallback = "off",
     .doc = "is the payload part of a call's name?"},
    {"predecessors", KEY_SWITCH, offsetof(struct sim, name_before), .fallback = "off",
     .doc = "are the calls before it part of a call's name?"},
};
static const struct keys identify_keys = {"identify", "identify", KEY_ROWS(identify_rows)};

static const struct key file_rows[] = {
    {"system", KEY_OTHER, .read = read_name, .needed = "system", .doc = "name of the system"},
    {"about", KEY_OTHER, .read = want_text, .doc = "what it is, for people"},
    {"modes", KEY_LIST, .least = 1, .most = MODE_LIST_MAX, .alone = true, .read = add_mode,
     .fallback = "errors", .doc = "ways to fail to try"},
    {"data", KEY_NODE, offsetof(struct sim, data), .doc = "values that handlers can read"},
    {"normalise", KEY_LIST, .most = 100, .read = add_rewrite,
     .doc = "rules REGEX -> TEXT for paths"},
    {"identify", KEY_MAP, .inner = &identify_keys, .doc = "how calls are named"},
    {"keep-state", KEY_SWITCH, offsetof(struct sim, keep_state), .fallback = "false",
     .doc = "keep state from run to run"},
    {"judge", KEY_NODE, offsetof(struct sim, judge), .doc = "as in outfox.yaml"},
    {"services", KEY_EACH, .least = 1, .most = SIM_SERVICES_MAX, .pair = add_service,
     .read = read_handlers, .inner = &service_keys, .needed = "services", .doc = "the services"},
    {"scenarios", KEY_EACH, .least = 1, .most = SIM_SCENARIOS_MAX, .pair = add_scenario,
     .inner = &scenario_keys, .needed = "scenarios", .doc = "what to exercise"},
};
static const struct keys file_keys = {"a simulated system", "system", KEY_ROWS(file_rows)};

int sim_load(const struct node *root, struct names *names, struct sim **out, struct err *e)
{
    struct sim *sim = mem_zero(sizeof *sim);
    sim->names = names;
    sim->rewrite = rewrite_new();
    struct scope scope = {.sim = sim};
    struct keys_reader r = {e, &sim->arena, &(struct loading){.scope = &scope}};
    if (keys_read(&r, &file_keys, sim, root) || sim_check(sim, e)) {
        sim_free(sim);
        return -1;
    }
    if (!sim->modes.n)
        mode_list_add_set(&sim->modes, SET_ERRORS);
    sim->state = arena_zero(&sim->arena, sim->n_services * sizeof *sim->state);
    for (uint32_t i = 0; i < sim->n_services; i++) {
        const struct sim_service *service = &sim->service[i];
        const struct node *init = service->state;
        sim->n_inside += !service->external;
        for (uint32_t k = 0; k < service->n_endpoints; k++)
            sim->speaks |= service->endpoint[k].method.n ? CALL_HTTP : CALL_GRPC;
        sim->state[i] = arena_zero(&sim->arena, (init ? init->n : 0) * sizeof **sim->state);
        for (uint32_t k = 0; init && k < init->n; k++)
            sim->state[i][k] = init->map[k].value;
    }
    mode_list_fit(&sim->modes, sim->speaks);
    *out = sim;
    return 0;
}
