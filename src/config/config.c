/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of a campaign: found, its variables expanded, put together by the rows of
 * config_keys.c. Then what can be said only of the whole is checked: names of services, in
 * placeholders, in requests and in what is ignored; and, for `outfox validate`, what is not wrong
 * and will hardly work. */
#include "config/config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/config_int.h"
#include "config/placeholder.h"
#include "config/reach.h"
#include "data/yaml.h"
#include "judge/judge.h"
#include "sim/sim.h"

#define FILE_NAME "outfox.yaml"
enum { LEVELS_UP = 40, GROWTH_MAX = 4 << 20, VARIABLE_MAX = 200 };

/* ---- making and freeing ---- */

static struct campaign_config *config_make(const char *source)
{
    static const char *const propagate[] = {"traceparent", "tracestate", "baggage"};
    struct campaign_config *c = mem_zero(sizeof *c);
    const char *slash = strrchr(source, '/');
    slice dir =
        !slash ? SLICE(".") : (slice){source, slash == source ? 1 : (size_t)(slash - source)};
    c->source = arena_copy(&c->arena, source, strlen(source));
    c->dir = slice_copy(&c->arena, dir);
    c->name = c->simulate = SLICE("");
    c->search.options.order = order_find(SLICE("soon"));
    c->search.options.baselines = 3;
    c->search.jobs = 1;
    c->search.check_every = 100;
    c->quiet_ns = -1;
    c->settle_ns = SECONDS(5);
    c->fault_header = true;
    for (size_t i = 0; i < sizeof propagate / sizeof *propagate; i++)
        vec_push(&c->propagate, slice_of(propagate[i]));
    return c;
}

static void expect_deinit(struct expect_spec *x)
{
    for (uint32_t i = 0; i < x->any_of.n; i++)
        expect_deinit(&x->any_of.at[i]);
    vec_deinit(&x->status);
    vec_deinit(&x->json);
    vec_deinit(&x->headers);
    vec_deinit(&x->where);
    vec_deinit(&x->any_of);
}

static void scenario_deinit(struct scenario_spec *s)
{
    vec_deinit(&s->headers);
    vec_deinit(&s->env);
    expect_deinit(&s->expect);
    expect_deinit(&s->under_faults);
}

void campaign_config_free(struct campaign_config *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->services.n; i++) {
        vec_deinit(&c->services.at[i].env);
        vec_deinit(&c->services.at[i].files);
    }
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        if (!c->scenarios.at[i].test.n) /* what tests have is their suite's */
            scenario_deinit(&c->scenarios.at[i]);
    scenario_deinit(&c->suite.each);
    if (c->plan)
        plan_free(c->plan);
    mem_free(c->plan);
    vec_deinit(&c->suite.only);
    vec_deinit(&c->suite.skip);
    vec_deinit(&c->env);
    vec_deinit(&c->services);
    vec_deinit(&c->scenarios);
    vec_deinit(&c->propagate);
    vec_deinit(&c->ignore);
    vec_deinit(&c->secrets.hide);
    vec_deinit(&c->secrets.show);
    vec_deinit(&c->identify.normalise);
    vec_deinit(&c->identify.headers);
    arena_deinit(&c->arena);
    mem_free(c);
}

/* ---- looking things up ---- */

const struct service_spec *config_renewed(const struct campaign_config *c)
{
    for (uint32_t i = 0; i < c->services.n; i++)
        if (c->services.at[i].restart == RESTART_EACH_RUN)
            return &c->services.at[i];
    return NULL;
}

uint32_t config_service(const struct campaign_config *c, slice name)
{
    for (uint32_t i = 0; i < c->services.n; i++)
        if (slice_eq(c->services.at[i].name, name))
            return i;
    return UINT32_MAX;
}

uint32_t config_scenario(const struct campaign_config *c, slice name)
{
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        if (slice_eq(c->scenarios.at[i].name, name))
            return i;
    return UINT32_MAX;
}

bool config_has_many(const struct campaign_config *c)
{
    return c->scenarios.n > 1 || c->suite.given;
}

struct vocabulary config_vocabulary(const struct campaign_config *c, struct names *names,
                                    const struct rewrite *rules, struct arena *a)
{
    const char **services = arena_zero(a, (c->services.n + 1) * sizeof *services);
    struct vocabulary v = {.names = names, .rules = rules, .services = services};
    for (uint32_t i = 0; i < c->services.n; i++)
        if (!(c->simulate.n && c->services.at[i].run.n)) /* that is the simulator */
            services[v.n_services++] = c->services.at[i].name.p;
    return v;
}

struct rewrite *config_rules(const struct campaign_config *c)
{
    struct rewrite *rules = rewrite_new();
    struct err ignored = {0};
    for (uint32_t i = 0; i < c->identify.normalise.n; i++)
        (void)!rewrite_add(rules, c->identify.normalise.at[i], &ignored);
    return rules;
}

/* ---- variables ----
 *
 * Nodes do not change: what holds an expanded text is built anew, the rest is shared. A value is
 * taken as it is: nothing in it is expanded again. All texts together grow by at most GROWTH_MAX
 * bytes, whatever the environment holds. */

struct expansion {
    struct arena *arena;
    struct err *e;
    size_t grown;
};

/* `inside` is what stands between ${ and }. */
static int add_variable(struct expansion *x, const struct node *at, slice inside, struct buf *out)
{
    slice name = inside, fallback = {0};
    size_t colon = slice_find(inside, ':');
    if (colon + 1 < inside.n && inside.p[colon + 1] == '-') {
        name.n = colon;
        fallback = slice_from(inside, colon + 2);
    }
    bool valid = name.n > 0 && name.n <= VARIABLE_MAX && !is_digit(name.p[0]);
    for (size_t i = 0; valid && i < name.n; i++)
        valid = is_letter(name.p[i]) || is_digit(name.p[i]) || name.p[i] == '_';
    if (!valid)
        return err_set(x->e, at->line, at->col,
                       "\"${%.*s}\" is neither ${NAME} nor ${NAME:-default}; write $${ to "
                       "pass ${ on to the shell",
                       SHORT(inside));
    char text[VARIABLE_MAX + 1];
    memcpy(text, name.p, name.n);
    text[name.n] = 0;
    const char *value = getenv(text);
    if (!value && !fallback.p)
        return err_set(x->e, at->line, at->col,
                       "environment variable %s is not set: set it, or write ${%s:-default}", text,
                       text);
    /* as in shells, :- also stands in for an empty value */
    slice used = value && (*value || !fallback.p) ? slice_of(value) : fallback;
    x->grown += used.n;
    if (x->grown > GROWTH_MAX)
        return err_set(x->e, at->line, at->col,
                       "the file exceeds 4 MiB once its environment variables are expanded");
    buf_add(out, used);
    return 0;
}

static int expand_text(struct expansion *x, const struct node *at, struct buf *out)
{
    slice rest = at->text;
    while (rest.n) {
        size_t n = slice_find(rest, '$');
        buf_add(out, (slice){rest.p, n});
        rest = slice_from(rest, n);
        if (rest.n > 1 && rest.p[1] == '$') {
            buf_addc(out, '$');
            rest = slice_from(rest, 2);
        } else if (rest.n > 1 && rest.p[1] == '{') {
            slice inside = slice_from(rest, 2);
            inside.n = slice_find(inside, '}');
            if (inside.n + 2 == rest.n)
                return err_set(x->e, at->line, at->col,
                               "\"%.*s\" has no }: write ${NAME}, or $$ for a dollar sign",
                               SHORT(rest));
            if (add_variable(x, at, inside, out))
                return -1;
            rest = slice_from(rest, inside.n + 3);
        } else if (rest.n) {
            buf_addc(out, '$');
            rest = slice_from(rest, 1);
        }
    }
    return 0;
}

/* NULL: an error. The node itself when nothing in it changes. */
static const struct node *expand(struct expansion *x, const struct node *node)
{
    bool list = node->type == NODE_LIST;
    struct node *copy = NULL;
    if (node->type == NODE_STR && slice_find(node->text, '$') < node->text.n) {
        struct buf out = BUF_INIT((size_t)GROWTH_MAX * 3);
        if (expand_text(x, node, &out) == 0) {
            copy = arena_alloc(x->arena, sizeof *copy);
            *copy = *node;
            copy->text = slice_copy(x->arena, buf_slice(&out));
        }
        buf_deinit(&out);
        return copy;
    }
    for (uint32_t i = 0; (list || node->type == NODE_MAP) && i < node->n; i++) {
        const struct node *item = list ? node->list[i] : node->map[i].value;
        const struct node *now = expand(x, item);
        if (!now)
            return NULL;
        if (now == item)
            continue;
        if (!copy) {
            copy = list ? node_list(x->arena, node->n) : node_map(x->arena, node->n);
            copy->line = node->line;
            copy->col = node->col;
            if (list)
                memcpy(copy->list, node->list, node->n * sizeof *copy->list);
            else
                memcpy(copy->map, node->map, node->n * sizeof *copy->map);
        }
        if (list)
            copy->list[i] = now;
        else
            copy->map[i].value = now;
    }
    if (!copy)
        return node;
    node_seal(copy);
    return copy;
}

const struct node *conf_env(const struct node *root, struct arena *a, struct err *e)
{
    struct expansion x = {.arena = a, .e = e};
    return expand(&x, root);
}

/* Puts the variables of all into the `env` of one, which wins. */
static void env_inherit(const struct text_pairs *all, struct text_pairs *own, bool listens)
{
    for (uint32_t i = 0; i < all->n; i++) {
        bool skip = !listens && placeholder_own(all->at[i].value);
        for (uint32_t k = 0; k < own->n && !skip; k++)
            skip = slice_eq(own->at[k].name, all->at[i].name);
        if (!skip)
            vec_push(own, all->at[i]);
    }
}

/* ---- names of services ---- */

/* Is it a service? Where none is known, every name is one. */
static int service_check(const struct conf_reader *c, slice name, uint32_t line, uint32_t col,
                         struct err *e)
{
    if (c->any_name || config_service(c->c, name) != UINT32_MAX)
        return 0;
    struct arena arena = {0};
    struct vocabulary v = config_vocabulary(c->c, NULL, NULL, &arena);
    (void)!vocabulary_check(&v, name, e); /* "there is no service ..." with the nearest name */
    arena_deinit(&arena);
    return err_place(e, line, col);
}

static int placeholder_check(struct keys_reader *r, const struct conf_text *t,
                             const struct placeholder *p)
{
    switch (p->kind) {
    case PLACEHOLDER_NONE:
    case PLACEHOLDER_TEXT: return 0;
    case PLACEHOLDER_WRONG:
        return err_set(r->e, t->line, t->col,
                       "\"%s\": %.*s is not a placeholder; did you mean {%s:%.*s}? (write "
                       "{%.*s} for the literal text)",
                       t->key, SHORT(p->text), p->near, SHORT(p->name), SHORT(p->text));
    case PLACEHOLDER_URL:
    case PLACEHOLDER_PORT:
    case PLACEHOLDER_HOST:
    case PLACEHOLDER_ADDRESS: break;
    }
    if (p->name.n)
        return service_check(r->ctx, p->name, t->line, t->col, r->e);
    if (t->own && p->kind != PLACEHOLDER_URL)
        return 0;
    slice word = {p->text.p + 1, p->text.n - 2};
    return err_set(r->e, t->line, t->col,
                   "\"%s\": %.*s of which service? Write {%.*s:NAME}, or {%.*s} for "
                   "the literal text",
                   t->key, SHORT(p->text), SHORT(word), SHORT(p->text));
}

/* ---- requests ---- */

static int request_fail(struct keys_reader *r, const struct node *at)
{
    return keys_fail(r, at,
                     "\"request\" must be METHOD {url:SERVICE}/path, SERVICE METHOD "
                     "/path or SERVICE package.Service/Method, not \"%.*s\"",
                     SHORT(at->text));
}

/* Of a simulated system whose file was not read every name is a service. */
static int request_service(struct keys_reader *r, const struct node *at, slice name,
                           struct scenario_spec *s)
{
    const struct conf_reader *c = r->ctx;
    s->service = config_service(c->c, name);
    if (c->any_name && s->service == UINT32_MAX)
        s->service = 0;
    return service_check(c, name, at->line, at->col, r->e);
}

static int request_set(struct keys_reader *r, const struct node *at, slice method, slice target,
                       struct scenario_spec *s)
{
    if (!slice_is_token(method))
        return request_fail(r, at);
    if (conf_method(r, at, method))
        return -1;
    if (!conf_target_ok(target))
        return keys_fail(r, at,
                         "the path of \"request\" must start with / and be ASCII without "
                         "spaces or #, not \"%.*s\"; write other characters as %%XX",
                         SHORT(target));
    s->method = slice_copy(r->arena, method);
    s->target = slice_copy(r->arena, target);
    return 0;
}

/* METHOD {url:SERVICE}/path */
static int request_by_url(struct keys_reader *r, const struct node *at, slice method, slice url,
                          struct scenario_spec *s)
{
    struct placeholder p;
    slice literal, path = url;
    if (!placeholder_next(&path, &literal, &p) || literal.n || p.kind != PLACEHOLDER_URL ||
        !p.name.n)
        return request_fail(r, at);
    if (request_service(r, at, p.name, s))
        return -1;
    if (path.n && path.p[0] == '/')
        return request_set(r, at, method, path, s);
    struct buf target = BUF_INIT(1 << 16);
    buf_addc(&target, '/');
    buf_add(&target, path);
    int status = target.full || (path.n && path.p[0] != '?')
                     ? request_fail(r, at)
                     : request_set(r, at, method, buf_slice(&target), s);
    buf_deinit(&target);
    return status;
}

/* SERVICE package.Service/Method */
static int request_grpc(struct keys_reader *r, const struct node *at, slice service, slice target,
                        struct scenario_spec *s)
{
    size_t slash = slice_find(target, '/');
    bool ok = slash > 0 && slash + 1 < target.n &&
              slice_find(slice_from(target, slash + 1), '/') == target.n - slash - 1;
    for (size_t i = 0; ok && i < target.n; i++)
        ok = target.p[i] > 0x20 && target.p[i] < 0x7f && !strchr("{}:?#", target.p[i]);
    if (!ok)
        return request_fail(r, at);
    s->target = slice_copy(r->arena, target);
    return request_service(r, at, service, s);
}

static int request_read(struct keys_reader *r, const struct node *at, struct scenario_spec *s)
{
    const struct campaign_config *c = ((struct conf_reader *)r->ctx)->c;
    slice rest = at->text, word[4] = {{0}};
    size_t n = 0;
    while (n < 4 && slice_word(&rest, &word[n]))
        n++;
    if (n == 3)
        return request_service(r, at, word[0], s) ? -1 : request_set(r, at, word[1], word[2], s);
    if (n != 2)
        return request_fail(r, at);
    bool tls = slice_starts(word[1], SLICE("https://"));
    if (tls || slice_starts(word[1], SLICE("http://"))) { /* it would go past the proxies */
        slice path = slice_from(word[1], tls ? 8 : 7);
        path = slice_from(path, slice_find(path, '/'));
        return keys_fail(
            r, at, "\"request\" names a service, not an address: write %.*s {url:%s}%.*s",
            SHORT(word[0]), c->services.n ? c->services.at[0].name.p : "NAME", SHORT(path));
    }
    if (word[1].p[0] == '{')
        return request_by_url(r, at, word[0], word[1], s);
    return request_grpc(r, at, word[0], word[1], s);
}

/* ---- patterns ---- */

static int ignore_check(struct keys_reader *r, const struct vocabulary *v, const struct node *at)
{
    struct pattern p = {0};
    struct err inner = {0};
    int status = pattern_parse(&p, v, PATTERN_CALLS, at->text, &inner);
    const struct pattern_step *last = &p.steps.at[p.steps.n - 1];
    bool all = slice_is(slice_trim(at->text), "*");
    bool more = all || p.steps.n != 2 || p.mode != MODE_NONE || last->element.n != N_ANY ||
                last->element.payload || last->element.before;
    pattern_deinit(&p);
    if (status)
        return keys_fail(r, at, "\"ignore\": %s", inner.text);
    return more ? keys_fail(r, at,
                            "\"ignore\" takes calls such as SERVICE METHOD /path, SERVICE "
                            "package.Service/Method or SERVICE, with * for any service, method "
                            "or part of a path, not \"%.*s\"",
                            SHORT(at->text))
                : 0;
}

/* Patterns may name services: those of `ignore` (NULL: there are none) and of `judge`. */
static int patterns_check(struct keys_reader *r, const struct node *ignore)
{
    const struct campaign_config *c = ((struct conf_reader *)r->ctx)->c;
    struct arena arena = {0};
    struct names names;
    struct judge_settings settings;
    int status = 0;
    names_init(&names);
    judge_settings_init(&settings);
    struct vocabulary v = config_vocabulary(c, &names, NULL, &arena);
    for (uint32_t i = 0; !status && ignore && i < ignore->n; i++)
        status = ignore_check(r, &v, ignore->list[i]);
    if (!status && c->judge)
        status = judge_settings_load(c->judge, &v, &settings, r->e);
    judge_settings_deinit(&settings);
    names_deinit(&names);
    arena_deinit(&arena);
    return status;
}

/* ---- addresses ---- */

/* HOST:PORT, :PORT or PORT in parts; false: it is none of them, or any port will do. */
static bool listen_parts(slice listen, slice *host, uint64_t *port)
{
    size_t colon = listen.n;
    while (colon > 0 && listen.p[colon - 1] != ':')
        colon--;
    *host = colon == 0   ? SLICE("127.0.0.1")
            : colon == 1 ? SLICE("0.0.0.0")
                         : (slice){listen.p, colon - 1};
    return !slice_starts(listen, SLICE("unix:")) &&
           slice_to_u64(slice_from(listen, colon), 65535, port) && *port > 0;
}

static bool same_place(slice a, slice b)
{
    return slice_eq(a, b) || slice_is(a, "0.0.0.0") || slice_is(b, "0.0.0.0");
}

/* Can both services have the addresses that the file gives them? `a` stands behind `b`, or is it.
 * `listen` is the address of a proxy: nothing else can have it. */
static int addresses_check(const struct service_spec *a, const struct service_spec *b, bool behind,
                           struct err *e)
{
    slice host, other;
    uint64_t port, port_b;
    if (behind && a->run.n && b->run.n && a->port && a->port == b->port &&
        slice_eq(a->host, b->host))
        return err_set(e, a->line, a->col,
                       "services \"%.*s\" and \"%.*s\" have the same port %u: change one, "
                       "or leave it out and use {port}",
                       SHORT(b->name), SHORT(a->name), a->port);
    if (!listen_parts(a->listen, &host, &port))
        return 0;
    if (behind && listen_parts(b->listen, &other, &port_b) && port == port_b &&
        same_place(host, other))
        return err_set(e, a->line, a->col,
                       "services \"%.*s\" and \"%.*s\" have the same `listen` port %u: "
                       "each proxy needs its own address; change one",
                       SHORT(b->name), SHORT(a->name), (unsigned)port);
    bool itself = b->run.n ? b->port == port && same_place(host, b->host)
                           : listen_parts(b->address, &other, &port_b) && port == port_b &&
                                 same_place(host, other);
    return itself ? err_set(e, a->line, a->col,
                            "`listen` of \"%.*s\" is where \"%.*s\" itself listens, port %u; "
                            "it is the address of the proxy in front of it: choose another port",
                            SHORT(a->name), SHORT(b->name), (unsigned)port)
                  : 0;
}

/* ---- the whole ---- */

static int config_check(struct keys_reader *r)
{
    struct conf_reader *c = r->ctx;
    for (uint32_t i = 0; i < c->texts.n; i++) {
        slice rest = c->texts.at[i].text, literal;
        struct placeholder p;
        while (placeholder_next(&rest, &literal, &p))
            if (placeholder_check(r, &c->texts.at[i], &p))
                return -1;
    }
    for (uint32_t i = 0; i < c->c->scenarios.n; i++)
        if (c->requests.at[i] && request_read(r, c->requests.at[i], &c->c->scenarios.at[i]))
            return -1;
    const struct service_spec *services = c->c->services.at;
    for (uint32_t i = 0; i < c->c->services.n; i++)
        for (uint32_t k = 0; k < c->c->services.n; k++)
            if (addresses_check(&services[i], &services[k], k < i, r->e))
                return -1;
    return patterns_check(r, c->ignore);
}

static bool is_on(const struct node *n)
{
    return slice_is(n->text, "on") || slice_is(n->text, "true");
}

/* What the file of a simulated system says, and this one does not: how calls are named (`own` is
 * the key `identify` of this one; NULL: it has none), modes, judge. */
static void simulated_defaults(struct campaign_config *c, const struct node *root,
                               const struct sim *sim, const struct node *own)
{
    const struct node *identify = node_get(root, SLICE("identify"));
    const struct node *payload = identify ? node_get(identify, SLICE("payload")) : NULL;
    const struct node *before = identify ? node_get(identify, SLICE("predecessors")) : NULL;
    const struct node *rules = node_get(root, SLICE("normalise"));
    if (payload && !(own && node_get(own, SLICE("payload"))))
        c->identify.payload = is_on(payload) ? PAYLOAD_ON : PAYLOAD_OFF;
    if (before && !(own && node_get(own, SLICE("predecessors"))))
        c->identify.predecessors = is_on(before);
    if (own && node_get(own, SLICE("normalise")))
        rules = NULL;
    for (uint32_t i = 0; rules && i < rules->n; i++)
        vec_push(&c->identify.normalise, slice_copy(&c->arena, rules->list[i]->text));
    if (!c->modes_given)
        c->modes = sim->modes;
    if (!c->judge)
        c->judge = sim->judge;
}

/* Its services, by name. The file is checked in full, so that what is wrong with it is said now. */
static int simulated_services(struct keys_reader *r, const struct node *own)
{
    struct campaign_config *c = ((struct conf_reader *)r->ctx)->c;
    const struct node *root;
    struct names names;
    struct sim *sim = NULL;
    struct err inner = {0};
    struct keys_reader within = {&inner, r->arena, r->ctx};
    bool judged = c->judge;
    names_init(&names);
    int status = yaml_load(c->simulate.p, &c->arena, &root, &inner);
    if (status == 0)
        status = sim_load(root, &names, &sim, &inner);
    const struct node *services = status == 0 ? node_get(root, SLICE("services")) : NULL;
    for (uint32_t i = 0; services && i < services->n; i++)
        vec_push(&c->services, conf_service(c, &services->map[i]));
    if (status == 0) {
        simulated_defaults(c, root, sim, own);
        status = judged ? 0 : patterns_check(&within, NULL);
    }
    sim_free(sim);
    names_deinit(&names);
    if (status && !r->e->text[0])
        *r->e = inner;
    return status;
}

static int config_read(struct keys_reader *r, const struct node *root, bool files)
{
    struct conf_reader *reading = r->ctx;
    struct campaign_config *c = reading->c;
    root = conf_env(root, &c->arena, r->e);
    if (!root || keys_read(r, &config_keys, c, root))
        return -1;
    const struct node *simulate = node_get(root, SLICE("simulate"));
    const struct node *services = node_get(root, SLICE("services"));
    if (simulate && services)
        return keys_fail(r, simulate, "\"simulate\" replaces \"services\": remove one of them");
    if (!simulate && !services)
        return keys_fail(r, root, "\"services\" is missing (or \"simulate\" instead)");
    if (!simulate && !c->suite.given && !node_get(root, SLICE("scenarios")))
        return keys_fail(r, root, "\"scenarios\" is missing (or \"suite\"): add what to exercise");
    if (!c->store.n)
        c->store = conf_path(c, SLICE(".outfox/campaign.db"));
    if (!c->logs.n)
        c->logs = conf_path(c, SLICE(".outfox/logs"));
    if (!c->modes_given)
        mode_list_add_set(&c->modes, SET_ERRORS);
    if (simulate && files && simulated_services(r, node_get(root, SLICE("identify"))))
        return -1;
    reading->any_name = simulate && !files;
    if (config_check(r))
        return -1;
    if (files &&
        (config_load_plan(c, r->e) || config_check_modes(c, c->modes.at, c->modes.n, r->e)))
        return -1;
    for (uint32_t i = 0; i < c->services.n; i++)
        if (c->services.at[i].run.n)
            env_inherit(&c->env, &c->services.at[i].env, true);
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        env_inherit(&c->env, &c->scenarios.at[i].env, false);
    env_inherit(&c->env, &c->suite.each.env, false);
    if (simulate)
        c->services.n = 0; /* they were needed for their names alone */
    return 0;
}

/* ---- the file ---- */

/* status: of reading the nodes. `files`: may others be read? */
static int config_end(struct campaign_config *c, int status, const struct node *root, bool files,
                      struct campaign_config **out, struct err *e)
{
    struct conf_reader reading = {.c = c, .own = true};
    struct keys_reader r = {e, &c->arena, &reading};
    if (status == 0)
        status = config_read(&r, root, files);
    vec_deinit(&reading.texts);
    vec_deinit(&reading.requests);
    *out = status ? NULL : c;
    if (status)
        campaign_config_free(c);
    return status;
}

int campaign_config_parse(slice text, const char *source, struct campaign_config **out,
                          struct err *e)
{
    struct campaign_config *c = config_make(source);
    const struct node *root;
    if (!e->text[0])
        snprintf(e->source, sizeof e->source, "%s", source);
    int status = yaml_parse(text, &c->arena, &root, e);
    return config_end(c, status, root, false, out, e);
}

/* Looks for the file here and in the directories above. */
static int config_find(char path[PATH_MAX], struct err *e)
{
    char up[PATH_MAX] = "";
    struct stat here, above;
    for (int i = 0; i < LEVELS_UP; i++) {
        snprintf(path, PATH_MAX, "%.*s" FILE_NAME, 3 * LEVELS_UP, up);
        if (access(path, F_OK) == 0)
            return 0;
        char *end = up + 3 * i;
        if (stat(i ? up : ".", &here))
            break;
        memcpy(end, "../", 4);
        if (stat(up, &above) || (here.st_ino == above.st_ino && here.st_dev == above.st_dev))
            break;
    }
    return err_set(e, 0, 0,
                   "there is no " FILE_NAME " in this directory or above it: name a file, or "
                   "create one with outfox init");
}

int campaign_config_load(const char *path, struct campaign_config **out, struct err *e)
{
    char found[PATH_MAX], full[PATH_MAX];
    *out = NULL;
    if (!path && config_find(found, e))
        return -1;
    struct campaign_config *c = config_make(path ? path : found);
    const struct node *root;
    int status = yaml_load(c->source, &c->arena, &root, e);
    if (config_end(c, status, root, true, out, e))
        return -1;
    if (!c->name.n) { /* that of the directory */
        const char *last = realpath(c->dir.p, full) ? strrchr(full, '/') : NULL;
        slice name = slice_of(last && last[1] ? last + 1 : "system");
        c->name = slice_copy(&c->arena, name.n <= 100 ? name : SLICE("system"));
    }
    return 0;
}

/* ---- what is not wrong, and will hardly work ---- */

bool config_tells_port(const struct service_spec *s)
{
    bool told = !s->run.n || s->port || s->ready == READY_NONE || placeholder_own(s->run);
    for (uint32_t i = 0; i < s->env.n && !told; i++)
        told = placeholder_own(s->env.at[i].value);
    return told;
}

static void warn_dir(const char *what, slice name, slice dir,
                     void (*tell)(void *ctx, const char *text), void *ctx)
{
    struct stat about;
    struct buf text = BUF_INIT(600);
    if (dir.n && (stat(dir.p, &about) || !S_ISDIR(about.st_mode))) {
        buf_addf(&text,
                 "`dir` of %s %.*s: no directory %.*s; paths are relative to the "
                 "directory of this file",
                 what, SLICE_ARG(name), SLICE_ARG(dir));
        tell(ctx, buf_text(&text));
    }
    buf_deinit(&text);
}

void config_warn(const struct campaign_config *c, void (*tell)(void *ctx, const char *text),
                 void *ctx)
{
    for (uint32_t i = 0; i < c->services.n; i++) {
        const struct service_spec *s = &c->services.at[i];
        struct buf text = BUF_INIT(600);
        if (!config_tells_port(s)) {
            buf_addf(&text,
                     "%s is not told where to listen: neither `run` nor `env` contains {port}. "
                     "Put it where %s reads its port from, for example `env: { PORT: \"{port}\" "
                     "}`, or add `port: N` if it always listens on port N",
                     s->name.p, s->name.p);
            tell(ctx, buf_text(&text));
        }
        buf_deinit(&text);
        if (s->run.n)
            warn_dir("service", s->name, s->dir, tell, ctx);
    }
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        warn_dir("scenario", c->scenarios.at[i].name, c->scenarios.at[i].dir, tell, ctx);
    if (c->suite.given)
        warn_dir("the tests of", SLICE("suite"), c->suite.each.dir, tell, ctx);
    reach_check(c, tell, ctx);
}
