/* SPDX-License-Identifier: Apache-2.0
 *
 * A system from its YAML: the file's own keys, services, scenarios. Steps are load_step.c. */
#include "sim/sim_int.h"

int keys_check(const struct node *map, const char *const *allowed, size_t n, const char *what,
               struct err *e)
{
    for (uint32_t i = 0; i < map->n; i++) {
        const struct node_pair *pair = &map->map[i];
        bool known = false;
        for (size_t k = 0; k < n; k++)
            known |= slice_is(pair->key, allowed[k]);
        if (known)
            continue;
        return err_set(e, pair->line, pair->col, "unknown key \"%.*s\" in %s%s", SHORT(pair->key),
                       what, err_hint(pair->key, allowed, n).text);
    }
    return 0;
}

/* Names that mean something in every handler. */
static const char *const taken[] = {"payload", "state", "data", "random", "time"};

int name_check(slice name, uint32_t line, uint32_t col, const char *what, struct err *e)
{
    bool ok = name.n > 0 && name.n <= 100;
    for (size_t i = 0; i < name.n && ok; i++) {
        unsigned char c = (unsigned char)name.p[i];
        ok = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             c == '-' || c == '_';
    }
    if (ok)
        return 0;
    return err_set(e, line, col,
                   "%s has 1 to 100 letters, digits, \"-\" and \"_\"; \"%.*s\" has not", what,
                   SHORT(name));
}

int variable_check(slice name, uint32_t line, uint32_t col, const char *what, struct err *e)
{
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (slice_is(name, taken[i]))
            return err_set(e, line, col, "\"%s\" has a meaning already: take another name",
                           taken[i]);
    return name_check(name, line, col, what, e);
}

int duration_load(const struct node *node, const char *what, int64_t *out, struct err *e)
{
    if (!slice_to_ns(node->text, out) || *out > 1000LL * 3600 * 1000000000)
        return err_set(e, node->line, node->col,
                       "\"%s\" must be a duration such as 200ms, 2s or 1m", what);
    return 0;
}

static int want(const struct node *node, enum node_type type, const char *what, struct err *e)
{
    if (node->type == type)
        return 0;
    return err_set(e, node->line, node->col, "\"%s\" must be %s, not %s", what,
                   node_type_name(type), node_type_name(node->type));
}

/* ---- top-level keys, in the order in which they are loaded ---- */

static int load_name(struct sim *sim, const struct node *value, struct err *e)
{
    sim->name = value->text;
    return name_check(value->text, value->line, value->col, "the name of a system", e);
}

static int load_about(struct sim *sim, const struct node *value, struct err *e)
{
    (void)sim;
    return want(value, NODE_STR, "about", e);
}

static int load_modes(struct sim *sim, const struct node *value, struct err *e)
{
    bool list = value->type != NODE_STR && value->type != NODE_NUM; /* one may stand alone */
    if (list && want(value, NODE_LIST, "modes", e))
        return -1;
    if (list && (value->n == 0 || value->n > MODE_LIST_MAX))
        return err_set(e, value->line, value->col, "\"modes\" must have 1 to %d entries",
                       MODE_LIST_MAX);
    sim->modes = (struct mode_list){0};
    for (uint32_t i = 0; i < (list ? value->n : 1); i++) {
        const struct node *item = list ? value->list[i] : value;
        struct err inner = {0};
        if (mode_list_add(&sim->modes, item->text, &inner))
            return err_set(e, item->line, item->col, "%s", inner.text);
    }
    return 0;
}

static int load_data(struct sim *sim, const struct node *value, struct err *e)
{
    sim->data = value;
    return want(value, NODE_MAP, "data", e);
}

static int load_normalise(struct sim *sim, const struct node *value, struct err *e)
{
    if (want(value, NODE_LIST, "normalise", e))
        return -1;
    if (value->n > 100)
        return err_set(e, value->line, value->col, "\"normalise\" has more than 100 rules");
    for (uint32_t i = 0; i < value->n; i++) {
        struct err inner = {0};
        if (rewrite_add(sim->rewrite, value->list[i]->text, &inner))
            return err_set(e, value->list[i]->line, value->list[i]->col, "%s", inner.text);
    }
    return 0;
}

/* `on` and `off`, also as true and false */
static int load_switch(const struct node *map, const char *key, bool *out, struct err *e)
{
    const struct node *node = node_get(map, slice_of(key));
    if (!node)
        return 0;
    *out = slice_is(node->text, "on") || slice_is(node->text, "true");
    if (!*out && !slice_is(node->text, "off") && !slice_is(node->text, "false"))
        return err_set(e, node->line, node->col, "\"%s\" is on or off", key);
    return 0;
}

static int load_identify(struct sim *sim, const struct node *value, struct err *e)
{
    static const char *const allowed[] = {"payload", "predecessors"};
    return want(value, NODE_MAP, "identify", e) || keys_check(value, allowed, 2, "identify", e) ||
                   load_switch(value, "payload", &sim->name_payload, e) ||
                   load_switch(value, "predecessors", &sim->name_before, e)
               ? -1
               : 0;
}

static int load_keep_state(struct sim *sim, const struct node *value, struct err *e)
{
    if (want(value, NODE_BOOL, "keep-state", e))
        return -1;
    sim->keep_state = value->boolean;
    return 0;
}

static int load_judge(struct sim *sim, const struct node *value, struct err *e)
{
    sim->judge = value;
    return want(value, NODE_MAP, "judge", e);
}

/* ---- services ---- */

static bool is_endpoint(slice key)
{
    return slice_find(key, '/') < key.n;
}

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

static int load_parameters(struct sim *sim, struct endpoint *ep, struct err *e)
{
    ep->slot = arena_zero(&sim->arena, ep->n_segments * sizeof *ep->slot);
    for (uint32_t i = 0; i < ep->n_segments; i++) {
        slice s = ep->segment[i];
        if (slice_find(s, '{') == s.n && slice_find(s, '}') == s.n)
            continue;
        if (s.p[0] != '{' || s.p[s.n - 1] != '}')
            return err_set(e, ep->line, ep->col,
                           "a parameter is a whole segment: /{name}/, not \"%.*s\"", SLICE_ARG(s));
        slice name = {s.p + 1, s.n - 2};
        if (variable_check(name, ep->line, ep->col, "the name of a parameter", e))
            return -1;
        for (uint32_t k = 0; k < ep->n_slots; k++)
            if (slice_eq(ep->slot[k].name, name))
                return err_set(e, ep->line, ep->col, "parameter \"%.*s\" is there twice",
                               SLICE_ARG(name));
        ep->slot[ep->n_slots++] = (struct slot_name){name, false};
    }
    ep->n_params = ep->n_slots;
    return 0;
}

static int load_endpoint(struct sim *sim, struct service *service, const struct node_pair *pair,
                         struct err *e)
{
    struct endpoint *ep = &service->endpoint[service->n_endpoints];
    if (service->n_endpoints == SIM_ENDPOINTS_MAX)
        return err_set(e, pair->line, pair->col, "a service has at most %d endpoints",
                       SIM_ENDPOINTS_MAX);
    slice rest = pair->key, word, last = {0};
    int words = 0;
    for (; slice_word(&rest, &word); words++)
        last = word;
    bool odd = memchr(">:&#{^*", pair->key.p[0], 7); /* would not be read back as a name */
    if (odd || words > 2 || (words == 2 && last.p[0] != '/'))
        return err_set(
            e, pair->line, pair->col,
            "an endpoint is written METHOD /path or package.Service/Method, not \"%.*s\"",
            SHORT(pair->key));
    endpoint_split(&sim->arena, pair->key, ep);
    ep->source = pair->value;
    ep->line = pair->line;
    ep->col = pair->col;
    for (uint32_t i = 0; i < service->n_endpoints; i++)
        if (same_shape(&service->endpoint[i], ep))
            return err_set(e, pair->line, pair->col,
                           "the endpoint \"%.*s\" is there already, at line %u",
                           SLICE_ARG(ep->text), service->endpoint[i].line);
    service->n_endpoints++;
    return load_parameters(sim, ep, e) || steps_names(pair->value, sim, ep, e) ? -1 : 0;
}

/* `external: true`, `external: 503` */
static int load_external(struct service *service, const struct node *value, struct err *e)
{
    service->external = value->type != NODE_BOOL || value->boolean;
    service->external_reply = OUTCOME_OK;
    struct err inner = {0};
    if (value->type != NODE_BOOL && outcome_parse(value->text, &service->external_reply, &inner))
        return err_set(e, value->line, value->col,
                       "\"external\" is true or the status that it answers with");
    return 0;
}

static int load_service_key(struct sim *sim, struct service *service, const struct node_pair *pair,
                            struct err *e)
{
    static const char *const known[] = {"state", "latency", "external", "METHOD /path"};
    if (is_endpoint(pair->key))
        return load_endpoint(sim, service, pair, e);
    if (slice_is(pair->key, "state")) {
        service->state = pair->value;
        return want(pair->value, NODE_MAP, "state", e);
    }
    service->latency_given |= slice_is(pair->key, "latency");
    if (slice_is(pair->key, "latency"))
        return duration_load(pair->value, "latency", &service->latency_ns, e);
    if (slice_is(pair->key, "external"))
        return load_external(service, pair->value, e);
    return err_set(e, pair->line, pair->col,
                   "unknown key \"%.*s\" in a service; it has endpoints (METHOD /path), state, "
                   "latency and external%s",
                   SHORT(pair->key), err_hint(pair->key, known, 4).text);
}

static int load_service(struct sim *sim, const struct node_pair *pair, struct service *out,
                        struct err *e)
{
    out->name = pair->key;
    out->line = pair->line;
    out->col = pair->col;
    out->latency_ns = SIM_LATENCY_NS;
    if (name_check(pair->key, pair->line, pair->col, "the name of a service", e))
        return -1;
    out->sym = names_sym(sim->names, pair->key);
    map_set(&sim->service_of, out->sym, (uint32_t)(out - sim->service));
    if (pair->value->type == NODE_STR && slice_is(pair->value->text, "external"))
        return load_external(out, &node_true, e);
    if (pair->value->type == NODE_NULL)
        return 0;
    if (want(pair->value, NODE_MAP, "a service", e))
        return -1;
    out->endpoint = arena_zero(&sim->arena, pair->value->n * sizeof *out->endpoint);
    for (uint32_t i = 0; i < pair->value->n; i++)
        if (load_service_key(sim, out, &pair->value->map[i], e))
            return -1;
    if (out->external && out->n_endpoints)
        return err_set(e, out->line, out->col, "an external service has no endpoints here");
    return 0;
}

/* Second pass, when all services are known: the steps of their endpoints. */
static int load_handlers(struct sim *sim, struct err *e)
{
    for (uint32_t i = 0; i < sim->n_services; i++) {
        struct service *service = &sim->service[i];
        for (uint32_t k = 0; k < service->n_endpoints; k++) {
            struct endpoint *ep = &service->endpoint[k];
            struct scope scope = {sim, ep, i};
            if (steps_load(&scope, ep->source, true, &ep->steps, e))
                return -1;
        }
    }
    return 0;
}

static int load_services(struct sim *sim, const struct node *value, struct err *e)
{
    if (want(value, NODE_MAP, "services", e))
        return -1;
    if (value->n == 0)
        return err_set(e, value->line, value->col, "\"services\" has no service");
    if (value->n > SIM_SERVICES_MAX)
        return err_set(e, value->line, value->col, "a system has at most %d services",
                       SIM_SERVICES_MAX);
    sim->n_services = value->n;
    sim->service = arena_zero(&sim->arena, value->n * sizeof *sim->service);
    for (uint32_t i = 0; i < value->n; i++)
        if (load_service(sim, &value->map[i], &sim->service[i], e))
            return -1;
    return load_handlers(sim, e);
}

/* ---- scenarios ---- */

static int load_rule(struct sim *sim, const struct node *node, struct rule *out, struct err *e)
{
    static const char *const allowed[] = {"when", "then", "say"};
    struct scope scope = {.sim = sim};
    if (want(node, NODE_MAP, "expect", e) || keys_check(node, allowed, 3, "expect", e))
        return -1;
    const struct node *when = node_get(node, SLICE("when")), *then = node_get(node, SLICE("then"));
    const struct node *say = node_get(node, SLICE("say"));
    if (!then)
        return err_set(e, node->line, node->col, "a rule of \"expect\" needs \"then\"");
    struct buf text = BUF_INIT(1000);
    buf_addf(&text, "expected %.*s", SLICE_ARG(then->text));
    if (when)
        buf_addf(&text, " when %.*s", SLICE_ARG(when->text));
    if (say && want(say, NODE_STR, "say", e)) {
        buf_deinit(&text);
        return -1;
    }
    slice sentence = say ? say->text : buf_slice(&text);
    char *line = arena_copy(&sim->arena, sentence.p, sentence.n);
    for (size_t i = 0; i < sentence.n; i++) /* one line, whatever is in it */
        if ((unsigned char)line[i] < 0x20 || line[i] == 0x7f)
            line[i] = ' ';
    out->say = line;
    buf_deinit(&text);
    if (when && expr_condition(&scope, when, &out->when, e))
        return -1;
    return expr_condition(&scope, then, &out->then, e);
}

static int load_scenario(struct sim *sim, const struct node_pair *pair, struct scenario *out,
                         struct err *e)
{
    static const char *const allowed[] = {"request", "payload", "expect", "limit"};
    const struct node *node = pair->value;
    out->name = pair->key;
    if (name_check(pair->key, pair->line, pair->col, "the name of a scenario", e) ||
        want(node, NODE_MAP, "a scenario", e) || keys_check(node, allowed, 4, "a scenario", e))
        return -1;
    const struct node *request = node_get(node, SLICE("request"));
    const struct node *payload = node_get(node, SLICE("payload"));
    const struct node *expect = node_get(node, SLICE("expect"));
    const struct node *limit = node_get(node, SLICE("limit"));
    if (!request || request->type != NODE_STR)
        return err_set(e, pair->line, pair->col,
                       "a scenario needs \"request: SERVICE METHOD /path\"");
    struct scope scope = {.sim = sim};
    out->line = request->line;
    out->col = request->col;
    if (expr_value(&scope, request, &out->request, e) ||
        (payload && expr_value(&scope, payload, &out->payload, e)) ||
        (limit && duration_load(limit, "limit", &out->limit_ns, e)))
        return -1;
    if (!expect)
        return 0;
    if (want(expect, NODE_LIST, "expect", e))
        return -1;
    out->n_rules = expect->n;
    out->rule = arena_zero(&sim->arena, expect->n * sizeof *out->rule);
    for (uint32_t i = 0; i < expect->n; i++)
        if (load_rule(sim, expect->list[i], &out->rule[i], e))
            return -1;
    return 0;
}

static int load_scenarios(struct sim *sim, const struct node *value, struct err *e)
{
    if (want(value, NODE_MAP, "scenarios", e))
        return -1;
    if (value->n == 0)
        return err_set(e, value->line, value->col, "\"scenarios\" has no scenario");
    sim->n_scenarios = value->n;
    sim->scenario = arena_zero(&sim->arena, value->n * sizeof *sim->scenario);
    for (uint32_t i = 0; i < value->n; i++)
        if (load_scenario(sim, &value->map[i], &sim->scenario[i], e))
            return -1;
    return 0;
}

static const struct {
    const char *key;
    int (*load)(struct sim *sim, const struct node *value, struct err *e);
    bool required;
} keys[] = {
    {"system", load_name, true},
    {"about", load_about, false},
    {"modes", load_modes, false},
    {"data", load_data, false},
    {"normalise", load_normalise, false},
    {"identify", load_identify, false},
    {"keep-state", load_keep_state, false},
    {"judge", load_judge, false},
    {"services", load_services, true},
    {"scenarios", load_scenarios, true},
};

static int load_all(struct sim *sim, const struct node *root, struct err *e)
{
    const char *allowed[sizeof keys / sizeof *keys];
    size_t n = sizeof keys / sizeof *keys;
    for (size_t i = 0; i < n; i++)
        allowed[i] = keys[i].key;
    if (root->type != NODE_MAP)
        return err_set(
            e, root->line, root->col,
            "a simulated system is a map with the keys system, services and scenarios, not %s",
            node_type_name(root->type));
    if (keys_check(root, allowed, n, "a simulated system", e))
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct node *value = node_get(root, slice_of(keys[i].key));
        if (!value && keys[i].required)
            return err_set(e, root->line, root->col, "\"%s\" is missing", keys[i].key);
        if (value && keys[i].load(sim, value, e))
            return -1;
    }
    return sim_check(sim, e);
}

int sim_load(const struct node *root, struct names *names, struct sim **out, struct err *e)
{
    struct sim *sim = mem_zero(sizeof *sim);
    sim->names = names;
    sim->rewrite = rewrite_new();
    mode_list_add_set(&sim->modes, SET_ERRORS);
    if (load_all(sim, root, e)) {
        sim_free(sim);
        return -1;
    }
    mode_list_fit(&sim->modes, sim_speaks(sim));
    sim->state = arena_zero(&sim->arena, sim->n_services * sizeof *sim->state);
    for (uint32_t i = 0; i < sim->n_services; i++) {
        const struct node *init = sim->service[i].state;
        sim->state[i] = arena_zero(&sim->arena, (init ? init->n : 0) * sizeof **sim->state);
        for (uint32_t k = 0; init && k < init->n; k++)
            sim->state[i][k] = init->map[k].value;
    }
    *out = sim;
    return 0;
}
