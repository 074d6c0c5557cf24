/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/session_int.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/random.h"
#include "cmd/contracts.h"
#include "config/config.h"
#include "data/secret.h"
#include "data/yaml.h"
#include "findings/expect.h"

/* ---- reading ---- */

static int load_simulated(struct session *s, struct err *e)
{
    const struct node *root;
    if (!s->config->simulate.n)
        return 0;
    if (yaml_load(s->config->simulate.p, &s->arena, &root, e) ||
        sim_load(root, &s->names, &s->sim, e))
        return -1;
    return sim_adopt(s->config, s->sim, s->program, e);
}

static int choose_scenarios(struct session *s, struct err *e)
{
    const struct campaign_config *c = s->config;
    const char *name = s->args->scenario;
    uint32_t one = name ? config_scenario(c, slice_of(name)) : UINT32_MAX;
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        if (!name || i == one)
            vec_push(&s->scenarios, i);
    if (s->scenarios.n)
        return 0;
    if (!name)
        return err_set(e, 0, 0, "%s has no scenarios", c->source);
    struct buf all = BUF_INIT(300);
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        buf_addf(&all, "%s%s", i ? ", " : "", c->scenarios.at[i].name.p);
    err_set(e, 0, 0, "there is no scenario \"%s\"; the file has: %s", name, buf_text(&all));
    buf_deinit(&all);
    return -1;
}

static int read_level(const char *text, enum identify_level *out, struct err *e)
{
    for (int i = 0; i < 4; i++)
        if (strcmp(text, identify_level_names[i]) == 0) {
            *out = (enum identify_level)i;
            return 0;
        }
    return err_set(e, 0, 0, "--identify is auto, state, trace or none, not \"%s\"", text);
}

/* The logs lie next to it. */
static void use_store(struct session *s, const char *path)
{
    struct buf logs = BUF_INIT(4096);
    slice dir = slice_of(path);
    while (dir.n > 0 && dir.p[dir.n - 1] != '/')
        dir.n--;
    buf_addf(&logs, "%.*slogs", SLICE_ARG(dir));
    s->config->store = slice_of(path);
    s->config->logs = buf_keep(&logs, &s->arena);
}

/* Flags over the file over defaults. */
static int read_options(struct session *s, struct err *e)
{
    struct campaign_config *c = s->config;
    const struct args *args = s->args;
    struct search_options *o = &s->search;
    *o = (struct search_options){.modes = c->modes.at,
                                 .n_modes = c->modes.n,
                                 .assume = c->search.assume,
                                 .max_faults = c->search.max_faults,
                                 .t_way = c->search.t_way,
                                 .audit = c->search.audit,
                                 .order = order_find(c->search.order),
                                 .seed = c->search.seed,
                                 .baselines = c->search.baselines};
    if (o->max_faults)
        o->assume |= 1u << REDUCE_MAX_FAULTS;
    if (o->t_way)
        o->assume |= 1u << REDUCE_T_WAY;
    s->origin = session_origin(s);
    if ((o->t_way || args->search[SEARCH_T_WAY]) && !c->search.order_given)
        o->order = order_find(SLICE("size")); /* its phases are sizes */
    s->jobs = args->jobs ? (uint32_t)(args->jobs < 64 ? args->jobs : 64) : c->search.jobs;
    if (args->identify && read_level(args->identify, &c->identify.level, e))
        return -1;
    if (args->store)
        use_store(s, args->store);
    return search_args(args, 0, &s->modes, o, e);
}

static const char *own_path(struct arena *a)
{
    char path[4096];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path);
    return n > 0 ? arena_copy(a, path, (size_t)n) : "outfox";
}

static int open_judging(struct session *s, struct err *e)
{
    const struct arg_list *oracles = &s->args->oracles;
    s->rules = config_rules(s->config);
    s->words = config_vocabulary(s->config, &s->names, s->rules, &s->arena);
    if (judging_open(&s->judging, s->config->judge, oracles->at, oracles->n, &s->words, e))
        return -1;
    if (s->sim)
        judging_wire_sim(&s->judging, s->sim);
    judging_wire_config(&s->judging, s->config);
    return 0;
}

/* Before anything is read that may hold one. */
static void know_secrets(const struct campaign_config *c)
{
    for (uint32_t i = 0; i < c->secrets.hide.n; i++)
        secret_hide(c->secrets.hide.at[i]);
    for (uint32_t i = 0; i < c->secrets.show.n; i++)
        secret_show(c->secrets.show.at[i]);
}

int session_open(struct session *s, const struct args *args, const char *file)
{
    struct err e = {0};
    *s = (struct session){.args = args, .file = file};
    names_init(&s->names);
    faultloads_init(&s->faultloads);
    s->program = own_path(&s->arena);
    if (campaign_config_load(file, &s->config, &e) || load_simulated(s, &e) ||
        choose_scenarios(s, &e) || read_options(s, &e) || open_judging(s, &e) ||
        (args->contract && contracts_load(s, true, &e))) {
        session_close(s);
        return cmd_fail(&e);
    }
    know_secrets(s->config);
    return 0;
}

void session_close(struct session *s)
{
    live_close(s->live);
    session_drop_campaigns(s);
    vec_deinit(&s->campaigns);
    contracts_free(s);
    judging_close(&s->judging);
    rewrite_free(s->rules);
    vec_deinit(&s->scenarios);
    if (s->store)
        store_close(s->store);
    intern_deinit(&s->sentences);
    sim_free(s->sim);
    if (s->config)
        campaign_config_free(s->config);
    faultloads_deinit(&s->faultloads);
    names_deinit(&s->names);
    arena_deinit(&s->arena);
}

void session_drop_campaigns(struct session *s)
{
    for (uint32_t i = 0; i < s->campaigns.n; i++)
        campaign_free(s->campaigns.at[i]);
    s->campaigns.n = 0;
}

const char *session_scenario(const struct session *s, uint32_t i)
{
    return s->config->scenarios.at[s->scenarios.at[i]].name.p;
}

/* ---- starting ---- */

void session_clear_up(void)
{
    uint32_t n = live_clear_up();
    if (n)
        fprintf(stderr,
                "outfox: ended %u %s that an earlier outfox left behind when it was killed\n",
                (unsigned)n, plural(n, "process", "processes"));
}

int session_open_store(struct session *s, enum store_access access, struct err *e)
{
    return store_open(s->config->store.p, access, &s->store, e);
}

int session_start(struct session *s, struct err *e)
{
    static const enum track_level levels[] = {TRACK_STATE, TRACK_STATE, TRACK_TRACE, TRACK_NONE};
    struct live_options o = {.names = &s->names,
                             .words = &s->words,
                             .sentences = &s->sentences,
                             .sim = s->sim,
                             .slots = s->jobs ? s->jobs : 1,
                             .best = levels[s->config->identify.level],
                             .seed = random_key(),
                             .program = s->program,
                             .sink = watch_sink(s)};
    session_clear_up();
    int status = live_open(s->config, &o, &s->live, e);
    return status > 0 ? 128 + status : status ? EXIT_ENVIRONMENT : 0;
}

void session_make_campaigns(struct session *s)
{
    const struct args *args = s->args;
    const struct campaign_config *c = s->config;
    for (uint32_t i = 0; i < s->scenarios.n; i++) {
        struct campaign_options o = {
            .config = c,
            .scenario = s->scenarios.at[i],
            .names = &s->names,
            .words = &s->words,
            .faultloads = &s->faultloads,
            .search = s->search,
            .jobs = s->jobs,
            .max_runs = args->max_runs ? args->max_runs : c->search.max_runs,
            .max_time_ns = args->max_time_ns ? args->max_time_ns : c->search.budget_ns,
            .fail_fast = args->fail_fast,
            .judging = &s->judging,
            .contract = s->contracts.n ? s->contracts.at[i] : NULL,
            .contract_watches = s->contract_watches,
            .store = s->store,
            .options = session_options(s, s->scenarios.at[i]),
            .origin = s->origin,
            .origin_counts = args->resume && !session_is_told(args),
            .sink = watch_sink(s)};
        vec_push(&s->campaigns, campaign_new(&o));
    }
}

int session_restore(struct session *s, bool *left, struct err *e)
{
    *left = false;
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        int status = campaign_restore(s->campaigns.at[i], e);
        if (status < 0 || status == STATUS_OTHER)
            return status < 0 ? EXIT_ENVIRONMENT : EXIT_USAGE;
        if (s->args->resume && campaign_had_contract(s->campaigns.at[i]) && !s->args->contract) {
            err_set(e, 0, 0, "the campaign of \"%s\" is judged by a contract: give --contract, too",
                    session_scenario(s, i));
            return EXIT_USAGE;
        }
        *left |= !campaign_complete(s->campaigns.at[i]);
    }
    return 0;
}

int session_stored(const struct args *args, const char *file, int (*tell)(struct session *s))
{
    struct session s;
    struct err e = {0};
    bool left;
    int code = session_open(&s, args, file);
    if (code)
        return code;
    code = session_open_store(&s, STORE_READ, &e) ? EXIT_ENVIRONMENT : session_adopt(&s, &e);
    if (!code) {
        session_make_campaigns(&s);
        code = session_restore(&s, &left, &e);
    }
    if (code)
        cmd_fail(&e);
    else
        code = tell(&s);
    session_close(&s);
    return code;
}
