/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/session.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/random.h"
#include "base/secret.h"
#include "base/yaml.h"
#include "campaign/config_words.h"
#include "campaign/expect.h"
#include "cmd/contracts.h"

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

static int read_shard(const char *text, struct search_options *out, struct err *e)
{
    slice rest = slice_of(text), part;
    uint64_t i = 0, n = 0;
    slice_cut(&rest, '/', &part);
    if (!rest.p || !slice_to_u64(part, UINT32_MAX, &i) || !slice_to_u64(rest, 10000, &n) || i < 1 ||
        i > n)
        return err_set(e, 0, 0, "--shard takes I/N with 1 <= I <= N, such as 2/4, not \"%s\"",
                       text);
    out->shard = (uint32_t)i - 1;
    out->shards = (uint32_t)n;
    return 0;
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

static uint32_t order_of(slice name)
{
    for (uint32_t i = 0; i < order_count; i++)
        if (slice_is(name, order_rows[i].name))
            return i;
    return 0;
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
    s->config->logs = slice_copy(&s->arena, buf_slice(&logs));
    buf_deinit(&logs);
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
                                 .order = order_of(c->search.order),
                                 .seed = c->search.seed,
                                 .baselines = c->search.baselines};
    if (o->max_faults)
        o->assume |= 1u << REDUCE_MAX_FAULTS;
    if (o->t_way)
        o->assume |= 1u << REDUCE_T_WAY;
    if ((o->t_way || args->t_way) && !c->search.order_given)
        o->order = order_of(SLICE("size")); /* its phases are sizes */
    s->jobs = args->jobs ? (uint32_t)(args->jobs < 64 ? args->jobs : 64) : c->search.jobs;
    if (args->identify && read_level(args->identify, &c->identify.level, e))
        return -1;
    if (args->store)
        use_store(s, args->store);
    if (args->shard && read_shard(args->shard, o, e))
        return -1;
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
    *s = (struct session){.args = args};
    names_init(&s->names);
    faultloads_init(&s->faultloads);
    s->sentences = sentences_new();
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
    for (uint32_t i = 0; i < s->campaigns.n; i++)
        campaign_free(s->campaigns.at[i]);
    vec_deinit(&s->campaigns);
    contracts_free(s);
    judging_close(&s->judging);
    rewrite_free(s->rules);
    vec_deinit(&s->scenarios);
    if (s->store)
        store_close(s->store);
    sentences_free(s->sentences);
    sim_free(s->sim);
    if (s->config)
        campaign_config_free(s->config);
    faultloads_deinit(&s->faultloads);
    names_deinit(&s->names);
    arena_deinit(&s->arena);
}

const char *session_scenario(const struct session *s, uint32_t i)
{
    return s->config->scenarios.at[s->scenarios.at[i]].name.p;
}

/* ---- options as text: a campaign is only resumed with equal ones ---- */

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
    print_expect(&spec->expect, &text);
    if (spec->under_faults.given)
        print_expect(&spec->under_faults, &text);
    buf_addf(out, "scenario: %016llx\n", (unsigned long long)hash_slice(buf_slice(&text)));
    buf_deinit(&text);
}

static const char *options_text(struct session *s, uint32_t scenario)
{
    const struct campaign_config *c = s->config;
    const struct search_options *o = &s->search;
    struct buf text = BUF_INIT(1 << 20);
    buf_adds(&text, "modes:");
    for (uint32_t i = 0; i < o->n_modes; i++) {
        buf_addc(&text, ' ');
        mode_print(o->modes[i], &text);
    }
    buf_adds(&text, "\nassume:");
    for (enum reduction r = 0; r < REDUCTIONS; r++)
        if (o->assume >> r & 1)
            buf_addf(&text, " %s", reduction_rows[r].name);
    buf_addf(&text, "\nmax-faults: %u\nt-way: %u\naudit: %g\norder: %s\nseed: %llu\nshard: %u/%u\n",
             (unsigned)o->max_faults, (unsigned)o->t_way, o->audit, order_rows[o->order].name,
             (unsigned long long)o->seed, (unsigned)o->shard, (unsigned)o->shards);
    buf_addf(&text, "baselines: %u\n", (unsigned)o->baselines);
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
    const char *out = arena_copy(&s->arena, buf_text(&text), text.n);
    buf_deinit(&text);
    return out;
}

/* ---- and back. A store is input: what search_args would refuse is refused here, too ---- */

static bool parse_modes(struct session *s, slice text)
{
    struct search_options *o = &s->search;
    struct err ignored = {0};
    slice word;
    for (s->modes = (struct mode_list){0}; slice_word(&text, &word);)
        if (mode_list_add(&s->modes, word, &ignored))
            return false;
    o->modes = s->modes.at;
    o->n_modes = s->modes.n;
    return o->n_modes > 0;
}

static bool parse_assume(struct search_options *o, slice text)
{
    slice word;
    for (o->assume = 0; slice_word(&text, &word);) {
        uint32_t bit = 0;
        for (enum reduction r = 0; r < REDUCTIONS; r++)
            bit |= slice_is(word, reduction_rows[r].name) ? 1u << r : 0;
        if (!bit)
            return false;
        o->assume |= bit;
    }
    return true;
}

static bool parse_audit(struct search_options *o, slice text)
{
    char number[40], *end;
    snprintf(number, sizeof number, "%.*s", (int)(text.n < 39 ? text.n : 39), text.p);
    o->audit = strtod(number, &end);
    return end > number && !*end && o->audit >= 0 && o->audit <= 100;
}

static bool parse_shard(struct search_options *o, slice text)
{
    slice part;
    uint64_t i, all;
    slice_cut(&text, '/', &part);
    if (!slice_to_u64(part, UINT32_MAX, &i) || !text.p || !slice_to_u64(text, UINT32_MAX, &all))
        return false;
    o->shard = (uint32_t)i;
    o->shards = (uint32_t)all;
    return all ? i < all : i == 0;
}

/* The options of a search, from the lines of options_text; lines about other things are passed
 * over. */
static bool parse_line(struct session *s, slice name, slice value)
{
    struct search_options *o = &s->search;
    uint64_t n = 0;
    bool number = slice_to_u64(value, UINT64_MAX, &n), small = number && n <= UINT32_MAX;
    if (slice_is(name, "modes"))
        return parse_modes(s, value);
    if (slice_is(name, "assume"))
        return parse_assume(o, value);
    if (slice_is(name, "audit"))
        return parse_audit(o, value);
    if (slice_is(name, "shard"))
        return parse_shard(o, value);
    if (slice_is(name, "max-faults")) {
        o->max_faults = (uint32_t)n;
        return small;
    }
    if (slice_is(name, "t-way")) {
        o->t_way = (uint32_t)n;
        return number && (n == 0 || (n >= 2 && n <= 4));
    }
    if (slice_is(name, "order")) {
        o->order = order_of(value);
        return slice_is(value, order_rows[o->order].name);
    }
    if (slice_is(name, "seed")) {
        o->seed = n;
        return number;
    }
    return true;
}

int session_adopt(struct session *s, struct err *e)
{
    const struct args *a = s->args;
    if (a->modes || a->quick || a->assume || a->max_faults || a->t_way || a->audit > 0 ||
        a->order || a->seed || a->shard)
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
        if (line.p && !parse_line(s, name, slice_trim(line))) {
            err_set(e, 0, 0,
                    "%s is damaged or was edited (the campaign of \"%s\" has \"%.*s: %.*s\"); "
                    "remove it, or restore a copy",
                    s->config->store.p, scenario, SLICE_ARG(name), (int)(line.n < 60 ? line.n : 60),
                    line.p);
            return EXIT_ENVIRONMENT;
        }
    }
    return 0;
}

/* ---- starting ---- */

int session_open_store(struct session *s, enum store_access access, struct err *e)
{
    return store_open(s->config->store.p, access, &s->store, e);
}

static struct progress *watched; /* the line that is redrawn on standard error, if there is one */

void session_watch(struct progress *line)
{
    watched = line;
}

static void note(const char *text)
{
    struct buf line = BUF_INIT(4096);
    buf_addf(&line, "outfox: %s", text);
    if (watched)
        progress_note(watched, buf_text(&line));
    else
        fprintf(stderr, "%s\n", buf_text(&line));
    buf_deinit(&line);
}

void session_clear_up(void)
{
    uint32_t n = live_clear_up();
    if (n)
        fprintf(stderr,
                "outfox: ended %u %s that an earlier outfox left behind when it was killed\n",
                (unsigned)n, n == 1 ? "process" : "processes");
}

int session_start(struct session *s, struct err *e)
{
    static const enum track_level levels[] = {TRACK_STATE, TRACK_STATE, TRACK_TRACE, TRACK_NONE};
    struct live_options o = {.names = &s->names,
                             .words = &s->words,
                             .sentences = s->sentences,
                             .sim = s->sim,
                             .slots = s->jobs ? s->jobs : 1,
                             .best = levels[s->config->identify.level],
                             .seed = random_key(),
                             .program = s->program,
                             .note = note};
    session_clear_up();
    int status = live_open(s->config, &o, &s->live, e);
    return status > 0 ? 128 + status : status ? EXIT_ENVIRONMENT : 0;
}

void session_make_campaigns(struct session *s, void *ctx,
                            void (*show)(void *ctx, const struct campaign_facts *facts))
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
            .options = options_text(s, s->scenarios.at[i]),
            .ctx = ctx,
            .show = show,
            .found = s->found};
        vec_push(&s->campaigns, campaign_new(&o));
    }
}

int session_restore(struct session *s, bool *left, struct err *e)
{
    *left = false;
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        int status = campaign_restore(s->campaigns.at[i], e);
        if (status < 0 || status == CAMPAIGN_OTHER)
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
        session_make_campaigns(&s, NULL, NULL);
        code = session_restore(&s, &left, &e);
    }
    if (code)
        cmd_fail(&e);
    else
        code = tell(&s);
    session_close(&s);
    return code;
}
