/* SPDX-License-Identifier: Apache-2.0
 *
 * A session is read, started and taken up again. What its campaigns were made with is kept with
 * them as text:
 *
 *   options   what determines its runs, by file and command line; equal when it is taken up again
 *   origin    the services, and what the file alone says of the search. Where the command line says
 *             nothing, the options are adopted from the store; a file that was changed since then
 *             is told from one that was not by this */
#include "cmd/ui.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/random.h"
#include "config/config.h"
#include "data/condition.h"
#include "data/secret.h"
#include "data/yaml.h"
#include "findings/expect.h"
#include "search/suite.h"

/* ---- options as text ---- */

static void print_expect(const struct expect_spec *x, struct buf *out)
{
    for (uint32_t i = 0; i < x->status.n; i++)
        buf_addf(out, " %s%u-%u", x->status.at[i].grpc ? "grpc:" : "",
                 (unsigned)x->status.at[i].low, (unsigned)x->status.at[i].high);
    for (uint32_t i = 0; i < x->json.n; i++) {
        buf_addf(out, " %s=", x->json.at[i].pointer.p);
        node_print(x->json.at[i].value, out);
    }
    for (uint32_t i = 0; i < x->headers.n; i++)
        buf_addf(out, " %s:%s", x->headers.at[i].name.p, x->headers.at[i].value.p);
    buf_addf(out, " %d%s %s %lld %u", x->has_body, x->has_body ? x->body.p : "",
             x->contains.n ? x->contains.p : "", (long long)x->within_ns, (unsigned)x->exit);
    for (uint32_t i = 0; i < x->where.n; i++) {
        buf_addf(out, " where %d %.*s ", (int)x->where.at[i].about, SLICE_ARG(x->where.at[i].name));
        condition_refusal(&x->where.at[i].condition, out);
    }
    for (uint32_t i = 0; i < x->any_of.n; i++) {
        buf_adds(out, " or");
        print_expect(&x->any_of.at[i], out);
    }
}

static void print_scenario(const struct scenario_spec *spec, struct buf *out)
{
    struct buf text = BUF_INIT(1 << 20);
    buf_addf(&text, "%u %.*s %.*s %.*s %.*s %.*s", (unsigned)spec->service, SLICE_ARG(spec->method),
             SLICE_ARG(spec->target), SLICE_ARG(spec->command), SLICE_ARG(spec->before),
             SLICE_ARG(spec->after));
    for (uint32_t i = 0; i < spec->headers.n; i++)
        buf_addf(&text, " %s:%s", spec->headers.at[i].name.p, spec->headers.at[i].value.p);
    buf_addf(&text, " %.*s %lld ", SLICE_ARG(spec->content_type), (long long)spec->timeout_ns);
    buf_add(&text, spec->body);
    if (spec->test.n)
        buf_addf(&text, " test %.*s ", SLICE_ARG(spec->test));
    print_expect(&spec->expect, &text);
    if (spec->under_faults.given)
        print_expect(&spec->under_faults, &text);
    buf_addf(out, "scenario: %016llx\n", (unsigned long long)hash_slice(buf_slice(&text)));
    buf_deinit(&text);
}

static const char *options_text(struct session *s, uint32_t scenario)
{
    const struct campaign_config *c = s->config;
    struct buf text = BUF_INIT(1 << 20);
    search_options_print(&s->search, &text);
    buf_addf(&text, "identify: %s payload=%s predecessors=%d\n",
             identify_level_names[c->identify.level], identify_payload_names[c->identify.payload],
             c->identify.predecessors);
    if (c->connections != CONNECTIONS_FRESH) /* campaigns before there was a choice go on too */
        buf_addf(&text, "connections: %s\n", connections_names[c->connections]);
    for (uint32_t i = 0; i < c->services.n; i++)
        if (c->services.at[i].restart == RESTART_EACH_RUN)
            buf_addf(&text, "restart: %s\n", c->services.at[i].name.p);
    for (uint32_t i = 0; i < c->identify.normalise.n; i++)
        buf_addf(&text, "normalise: %s\n", c->identify.normalise.at[i].p);
    for (uint32_t i = 0; i < c->ignore.n; i++)
        buf_addf(&text, "ignore: %s\n", c->ignore.at[i].p);
    print_scenario(&c->scenarios.at[scenario], &text);
    return buf_keep(&text, &s->arena).p;
}

static const char *origin_text(struct session *s)
{
    const struct campaign_config *c = s->config;
    struct buf text = BUF_INIT(1 << 20);
    buf_adds(&text, "services:");
    for (uint32_t i = 0; i < c->services.n; i++)
        buf_addf(&text, " %s", c->services.at[i].name.p);
    buf_addc(&text, '\n');
    search_options_print(&s->search, &text);
    return buf_keep(&text, &s->arena).p;
}

/* NULL: they were not taken, or are too many to be kept. */
static const char *identities_text(struct session *s)
{
    struct buf text = BUF_INIT(1 << 20);
    identities_print(&s->identities, &text);
    bool known = text.n && !text.full;
    slice kept = buf_keep(&text, &s->arena);
    return known ? kept.p : NULL;
}

/* Does the command line say anything of the search? */
static bool search_is_told(const struct args *a)
{
    bool told = a->quick;
    for (uint32_t i = 0; i < SEARCH_OPTIONS; i++)
        told |= a->search[i] != NULL;
    return told;
}

/* ---- reading ---- */

static int choose_scenarios(struct session *s, struct err *e)
{
    const struct campaign_config *c = s->config;
    const char *name = s->args->scenario;
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        if (!name || tests_chosen(&c->scenarios.at[i], name))
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

/* Flags over the file over defaults. */
static int read_options(struct session *s, struct err *e)
{
    struct campaign_config *c = s->config;
    const struct args *args = s->args;
    struct search_options *o = &s->search;
    *o = c->search.options;
    o->modes = c->modes.at;
    o->n_modes = c->modes.n;
    if (o->max_faults)
        o->assume |= 1u << REDUCE_MAX_FAULTS;
    if (o->t_way)
        o->assume |= 1u << REDUCE_T_WAY;
    s->origin = origin_text(s);
    if ((o->t_way || args->search[SEARCH_T_WAY]) && !c->search.order_given)
        o->order = order_find(SLICE("size")); /* its phases are sizes */
    else if (s->scenarios.n > 1 && !c->search.order_given)
        o->order = order_find(SLICE("auto"));
    s->jobs = args->jobs ? (uint32_t)(args->jobs < 64 ? args->jobs : 64) : c->search.jobs;
    if (args->identify) {
        int level = 0;
        while (level < 4 && strcmp(args->identify, identify_level_names[level]) != 0)
            level++;
        if (level == 4)
            return err_set(e, 0, 0, "--identify must be auto, state, trace or none, not \"%s\"",
                           args->identify);
        c->identify.level = (enum identify_level)level;
    }
    if (args->store) { /* the logs lie next to it */
        const char *slash = strrchr(args->store, '/');
        int dir = slash ? (int)(slash - args->store) + 1 : 0;
        c->store = slice_of(args->store);
        c->logs = slice_of(arena_printf(&s->arena, "%.*slogs", dir, args->store));
    }
    return search_args(args, 0, &s->modes, o, e) || config_check_modes(c, o->modes, o->n_modes, e)
               ? -1
               : 0;
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

const char *session_scenario(const struct session *s, uint32_t i)
{
    return s->config->scenarios.at[s->scenarios.at[i]].name.p;
}

void session_drop_campaigns(struct session *s)
{
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        campaign_free(s->campaigns.at[i]);
        ledger_free(s->ledgers.at[i]);
    }
    s->campaigns.n = s->ledgers.n = 0;
    suite_free(s->suite);
    s->suite = NULL;
    s->share = (struct campaign_share){0};
}

/* Reads everything; nothing is started, but what lists tests may be. 0, or an exit code. */
static int session_open(struct session *s, const struct args *args, const char *file, bool ask,
                        struct err *e)
{
    *s = (struct session){.args = args, .file = file};
    names_init(&s->names);
    faultloads_init(&s->faultloads);
    s->program = file_program(&s->arena);
    if (campaign_config_load(file, &s->config, e))
        return EXIT_USAGE;
    struct campaign_config *c = s->config;
    int code = tests_take(s, ask, e), failed = 0;
    if (code)
        return code;
    if (c->simulate.n)
        failed = yaml_load(c->simulate.p, &s->arena, &s->simulated, e) ||
                 sim_load(s->simulated, &s->names, &s->sim, e) ||
                 sim_adopt(c, s->sim, s->program, e);
    if (failed || choose_scenarios(s, e) || read_options(s, e) || open_judging(s, e) ||
        (args->contract && contracts_load(s, true, e)))
        return EXIT_USAGE;
    for (uint32_t i = 0; i < c->secrets.hide.n; i++) /* before anything is read that holds one */
        secret_hide(c->secrets.hide.at[i]);
    for (uint32_t i = 0; i < c->secrets.show.n; i++)
        secret_show(c->secrets.show.at[i]);
    return 0;
}

static void session_close(struct session *s)
{
    session_end(s);
    ui_close(s->ui);
    session_drop_campaigns(s);
    vec_deinit(&s->campaigns);
    vec_deinit(&s->ledgers);
    contracts_free(s);
    judging_close(&s->judging);
    rewrite_free(s->rules);
    vec_deinit(&s->scenarios);
    if (s->store)
        store_close(s->store);
    since_free(&s->since);
    intern_deinit(&s->sentences);
    sim_free(s->sim);
    identities_deinit(&s->identities);
    if (s->config)
        campaign_config_free(s->config);
    faultloads_deinit(&s->faultloads);
    names_deinit(&s->names);
    arena_deinit(&s->shown);
    arena_deinit(&s->read);
    intern_deinit(&s->watch.warned);
    arena_deinit(&s->arena);
}

int session_do(const struct args *args, const char *file, bool ask,
               int (*verb)(struct session *s, struct err *e))
{
    struct session s;
    struct err e = {0};
    int code = session_open(&s, args, file, ask, &e);
    if (!code) {
        e = (struct err){0}; /* it knows the file by now, and what is wrong then is not in it */
        code = verb(&s, &e);
    }
    if (code && e.text[0])
        cmd_fail(&e);
    session_close(&s);
    return code;
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
                             .sink = watch_sink(s),
                             .beside = s->ui ? &s->ui->loop : NULL};
    session_clear_up();
    int status = live_open(s->config, &o, &s->live, e);
    return status > 0 ? 128 + status : status ? EXIT_ENVIRONMENT : 0;
}

void session_end(struct session *s)
{
    ui_gone(s->ui);
    live_close(s->live);
    s->live = NULL;
}

static struct campaign_options campaign_options_of(struct session *s, uint32_t i)
{
    const struct args *args = s->args;
    const struct campaign_config *c = s->config;
    return (struct campaign_options){
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
        .share = &s->share,
        .judging = &s->judging,
        .contract = s->contracts.n ? s->contracts.at[i] : NULL,
        .contract_watches = s->contract_watches,
        .store = s->store,
        .options = options_text(s, s->scenarios.at[i]),
        .origin = s->origin,
        .identities = identities_text(s),
        .origin_counts = args->resume && !search_is_told(args),
        .since = s->search.knowledge ? &s->since : NULL,
        .part = i,
        .sink = watch_sink(s)};
}

struct campaign *session_replayer(struct session *s, uint32_t i, struct contract *contract)
{
    struct campaign_options o = campaign_options_of(s, i);
    o.jobs = 1;
    o.contract = contract;
    o.sink = (struct event_sink){0};
    o.share = NULL;
    return campaign_new(&o);
}

void session_make_campaigns(struct session *s)
{
    if (s->scenarios.n > 1)
        s->suite = suite_new(s->scenarios.n, &s->search);
    for (uint32_t i = 0; i < s->scenarios.n; i++) {
        struct campaign_options o = campaign_options_of(s, i);
        o.search.suite = s->suite;
        o.search.seat = i;
        o.search.scenario = session_scenario(s, i);
        vec_push(&s->campaigns, campaign_new(&o));
        vec_push(&s->ledgers, ledger_new(&s->names, &s->faultloads));
    }
}

int session_adopt(struct session *s, struct err *e)
{
    if (search_is_told(s->args))
        return 0;
    uint64_t campaign = 0;
    slice text = {0}, line, name;
    const char *scenario = "";
    for (uint32_t i = 0; i < s->scenarios.n && !campaign; i++)
        if (store_find(s->store, slice_of(scenario = session_scenario(s, i)), &campaign, e))
            return EXIT_ENVIRONMENT;
    if (campaign && store_get(s->store, campaign, SLICE("options"), &s->arena, &text, e))
        return EXIT_ENVIRONMENT;
    while (slice_cut(&text, '\n', &line)) {
        slice_cut(&line, ':', &name);
        if (line.p && !search_options_restore(name, slice_trim(line), &s->modes, &s->search)) {
            err_set(e, 0, 0,
                    "%s is damaged or was edited (the campaign of \"%s\" has \"%.*s: %.*s\"); "
                    "remove it, or restore a copy",
                    s->config->store.p, scenario, SLICE_ARG(name), SHORT(line));
            return EXIT_ENVIRONMENT;
        }
    }
    return 0;
}

int session_restore(struct session *s, bool *left, struct err *e)
{
    *left = false;
    int status = campaigns_restore(s->campaigns.at, s->campaigns.n, e);
    if (status)
        return status < 0 ? EXIT_ENVIRONMENT : EXIT_USAGE;
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        if (s->args->resume && campaign_had_contract(s->campaigns.at[i]) && !s->args->contract) {
            err_set(e, 0, 0, "the campaign of \"%s\" is judged by a contract; add --contract",
                    session_scenario(s, i));
            return EXIT_USAGE;
        }
        *left |= !campaign_complete(s->campaigns.at[i]);
    }
    return 0;
}

static struct since_options since_options_of(struct session *s)
{
    struct since_scenario *scenarios = arena_zero(&s->arena, s->scenarios.n * sizeof *scenarios);
    for (uint32_t i = 0; i < s->scenarios.n; i++)
        scenarios[i] = (struct since_scenario){slice_of(session_scenario(s, i)),
                                               options_text(s, s->scenarios.at[i])};
    return (struct since_options){.config = s->config,
                                  .names = &s->names,
                                  .faultloads = &s->faultloads,
                                  .stateless = s->search.assume >> REDUCE_STATELESS & 1,
                                  .scenarios = scenarios,
                                  .n = s->scenarios.n,
                                  .identities = &s->identities};
}

int session_since(struct session *s, struct err *e)
{
    struct since_options o = since_options_of(s);
    struct buf text = BUF_INIT(1 << 14);
    if (s->search.shards > 1 || s->search.t_way) {
        err_set(e, 0, 0,
                "--since does not go with %s: what one run leaves out there depends on others; "
                "leave out one of the two",
                s->search.t_way ? "t-way" : "--shard");
        return EXIT_USAGE;
    }
    if (since_open(&s->since, s->args->since, &o, e))
        return EXIT_ENVIRONMENT;
    if (since_knows(&s->since)) {
        s->search.knowledge = s->since.knowledge;
        s->search.assume |= 1u << REDUCE_SINCE;
    }
    since_print(&s->since, &text);
    s->trusts = buf_keep(&text, &s->arena).p;
    buf_deinit(&text);
    return 0;
}

int session_recall(struct session *s, struct err *e)
{
    struct since_options o = since_options_of(s);
    if (!(s->search.assume >> REDUCE_SINCE & 1))
        return 0;
    if (since_recall(&s->since, s->store, &o, e))
        return EXIT_ENVIRONMENT;
    s->search.knowledge = s->since.knowledge;
    return 0;
}

int session_take_up(struct session *s, struct err *e)
{
    bool left;
    if (store_open(s->config->store.p, STORE_READ, &s->store, e))
        return EXIT_ENVIRONMENT;
    int code = session_adopt(s, e);
    code = code ? code : session_recall(s, e);
    if (code)
        return code;
    session_make_campaigns(s);
    return session_restore(s, &left, e);
}
