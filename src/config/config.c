/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of a campaign: found, read, expanded, and put together by the rows of
 * config_keys.c; what depends on the whole is checked last (config_check.c). */
#include "config/config.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "config/config_int.h"
#include "config/placeholder.h"
#include "data/yaml.h"
#include "sim/sim.h"

#define FILE_NAME "outfox.yaml"
enum { LEVELS_UP = 40 };

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
    c->search.order = SLICE("soon");
    c->search.jobs = 1;
    c->search.baselines = 3;
    c->search.check_every = 100;
    c->quiet_ns = -1;
    c->settle_ns = SECONDS(5);
    c->fault_header = true;
    for (size_t i = 0; i < sizeof propagate / sizeof *propagate; i++)
        vec_push(&c->propagate, slice_of(propagate[i]));
    mode_list_add_set(&c->modes, SET_ERRORS);
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

void campaign_config_free(struct campaign_config *c)
{
    if (!c)
        return;
    for (uint32_t i = 0; i < c->services.n; i++)
        vec_deinit(&c->services.at[i].env);
    for (uint32_t i = 0; i < c->scenarios.n; i++) {
        vec_deinit(&c->scenarios.at[i].headers);
        vec_deinit(&c->scenarios.at[i].env);
        expect_deinit(&c->scenarios.at[i].expect);
        expect_deinit(&c->scenarios.at[i].under_faults);
    }
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

/* ---- a simulated system ---- */

static bool is_on(const struct node *n)
{
    return slice_is(n->text, "on") || slice_is(n->text, "true");
}

/* How the file of the simulated system names calls, where `own`, the key `identify` of this one
 * (NULL: it has none), says nothing else. It was checked by its own reader. */
static void simulated_names(struct campaign_config *c, const struct node *root,
                            const struct node *own)
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
        return;
    for (uint32_t i = 0; rules && i < rules->n; i++)
        vec_push(&c->identify.normalise, slice_copy(&c->arena, rules->list[i]->text));
}

/* What the file of the simulated system says, and this one does not. */
static int simulated_defaults(struct campaign_config *c, const struct node *root,
                              const struct sim *sim, const struct node *own, struct err *e)
{
    simulated_names(c, root, own);
    if (!c->modes_given)
        c->modes = sim->modes;
    if (c->judge)
        return 0;
    c->judge = sim->judge;
    return conf_judge_check(c, c->judge, e);
}

/* Its services, by name. The file is checked in full, so that what is wrong with it is said now. */
static int simulated_services(struct campaign_config *c, const struct node *own, struct err *e)
{
    const struct node *root;
    struct names names;
    struct sim *sim = NULL;
    struct err inner = {0};
    names_init(&names);
    int status = yaml_load(c->simulate.p, &c->arena, &root, &inner);
    if (status == 0)
        status = sim_load(root, &names, &sim, &inner);
    const struct node *services = status == 0 ? node_get(root, SLICE("services")) : NULL;
    for (uint32_t i = 0; services && i < services->n; i++)
        vec_push(&c->services, conf_service(c, &services->map[i]));
    if (status == 0)
        status = simulated_defaults(c, root, sim, own, &inner);
    sim_free(sim);
    names_deinit(&names);
    if (status && !e->text[0])
        *e = inner;
    return status;
}

/* ---- variables for all ---- */

static bool has_variable(const struct text_pairs *env, slice name)
{
    for (uint32_t i = 0; i < env->n; i++)
        if (slice_eq(env->at[i].name, name))
            return true;
    return false;
}

/* Puts the variables of all into the `env` of one, which wins. */
static void env_inherit(const struct text_pairs *all, struct text_pairs *own, bool listens)
{
    for (uint32_t i = 0; i < all->n; i++)
        if (!has_variable(own, all->at[i].name) && (listens || !placeholder_own(all->at[i].value)))
            vec_push(own, all->at[i]);
}

static void env_share(struct campaign_config *c)
{
    for (uint32_t i = 0; i < c->services.n; i++)
        if (c->services.at[i].run.n)
            env_inherit(&c->env, &c->services.at[i].env, true);
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        env_inherit(&c->env, &c->scenarios.at[i].env, false);
}

/* ---- the file ---- */

static const char *environment(const char *name)
{
    return getenv(name);
}

/* Keys that the whole cannot do without. */
static int whole_check(struct keys_reader *r, const struct node *root)
{
    const struct node *simulate = node_get(root, SLICE("simulate"));
    const struct node *services = node_get(root, SLICE("services"));
    if (simulate && services)
        return keys_fail(r, simulate,
                         "\"simulate\" stands in place of \"services\": leave one out");
    if (!simulate && !services)
        return keys_fail(r, root, "\"services\" is missing, or \"simulate\" in its place");
    if (!simulate && !node_get(root, SLICE("scenarios")))
        return keys_fail(r, root, "\"scenarios\" is missing: what shall be exercised?");
    return 0;
}

static int config_build(struct keys_reader *r, const struct node *root, bool files)
{
    struct conf_reader *reading = r->ctx;
    struct campaign_config *c = reading->c;
    root = conf_env(root, &c->arena, environment, r->e);
    if (!root || keys_read(r, &config_keys, c, root) || whole_check(r, root))
        return -1;
    if (!c->store.n)
        c->store = conf_path(c, SLICE(".outfox/campaign.db"));
    if (!c->logs.n)
        c->logs = conf_path(c, SLICE(".outfox/logs"));
    if (c->simulate.n && files && simulated_services(c, node_get(root, SLICE("identify")), r->e))
        return -1;
    reading->any_name = c->simulate.n && !files;
    if (conf_finish(r))
        return -1;
    env_share(c);
    if (c->simulate.n)
        c->services.n = 0; /* they were needed for their names alone */
    return 0;
}

static int config_read_nodes(struct campaign_config *c, const struct node *root, bool files,
                             struct err *e)
{
    struct conf_reader reading = {.c = c};
    struct keys_reader r = {e, &c->arena, &reading};
    int status = config_build(&r, root, files);
    vec_deinit(&reading.texts);
    vec_deinit(&reading.requests);
    return status;
}

static int config_end(struct campaign_config *c, int status, struct campaign_config **out)
{
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
    if (status == 0)
        status = config_read_nodes(c, root, false, e);
    return config_end(c, status, out);
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
                   "there is no " FILE_NAME " in this directory or above it: name a file, or let "
                   "outfox init write one");
}

/* The name of the directory, for a system that was given none. */
static slice name_default(struct campaign_config *c)
{
    char full[PATH_MAX];
    if (!realpath(c->dir.p, full))
        return SLICE("system");
    const char *last = strrchr(full, '/');
    slice name = slice_of(last && last[1] ? last + 1 : "system");
    return slice_copy(&c->arena, name.n <= 100 ? name : SLICE("system"));
}

int campaign_config_load(const char *path, struct campaign_config **out, struct err *e)
{
    char found[PATH_MAX];
    *out = NULL;
    if (!path && config_find(found, e))
        return -1;
    struct campaign_config *c = config_make(path ? path : found);
    const struct node *root;
    int status = yaml_load(c->source, &c->arena, &root, e);
    if (status == 0)
        status = config_read_nodes(c, root, true, e);
    if (status == 0 && !c->name.n)
        c->name = name_default(c);
    return config_end(c, status, out);
}
