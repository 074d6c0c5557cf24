/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox sim ...: simulated systems from the command line. */
#include <pthread.h>
#include <signal.h>

#include "base/clock.h"
#include "campaign/explore.h"
#include "campaign/judging.h"
#include "cmd/cmd.h"
#include "data/yaml.h"
#include "report/progress.h"
#include "report/report.h"
#include "search/suite.h"
#include "serve/serve.h"

struct bench;

/* A scenario that is explored, and what came of it. */
struct trip {
    struct bench *bench;
    uint32_t scenario;
    struct judge *judge;
    struct search *search;
    struct summary summary; /* refers to the search */
    struct coverage coverage;
    uint64_t found; /* so far */
    struct event_sink sink;
};

/* A loaded system with what is needed to run it. */
struct bench {
    const struct args *args;
    struct arena arena;
    struct names names;
    struct vocabulary words;
    struct faultloads faultloads;
    struct sim *sim;
    struct aim aim;
    uint32_t scenario; /* that was chosen, or the first */
    uint64_t seed;
    struct judging judging;
    struct buf body; /* what the client received, as text */
    struct mode_list modes;
    struct suite *suite; /* NULL: one scenario is explored */
    VEC(struct trip) trips;
    struct progress *progress; /* what is shown of it meanwhile; NULL: nothing */
    int64_t start_ns;
};

static volatile sig_atomic_t interrupted; /* the signal that did it, or 0 */

static void on_interrupt(int signal_number)
{
    interrupted = signal_number;
}

static int signal_code(void)
{
    return interrupted == SIGTERM ? EXIT_TERMINATED : EXIT_INTERRUPTED;
}

/* The file, the scenario that was chosen, and what users say about them. -1 with *e. */
static int bench_read(struct bench *b, struct err *e)
{
    const struct args *args = b->args;
    const struct node *root;
    if (yaml_load(args->positional[0], &b->arena, &root, e) ||
        sim_load(root, &b->names, &b->sim, e))
        return -1;
    uint32_t n = b->sim->n_services, scenarios = b->sim->n_scenarios;
    b->scenario = sim_scenario(b->sim, args->scenario);
    if (b->scenario == UINT32_MAX) {
        struct buf all = BUF_INIT(300);
        for (uint32_t i = 0; i < scenarios; i++)
            buf_addf(&all, "%s%s", i ? ", " : "", b->sim->scenario[i].name.p);
        err_set(e, 0, 0, "there is no scenario \"%s\"; the file has: %s", args->scenario,
                buf_text(&all));
        buf_deinit(&all);
        return -1;
    }
    const char **services = arena_zero(&b->arena, (n + 1) * sizeof *services);
    for (uint32_t i = 0; i < n; i++)
        services[i] = b->sim->service[i].name.p;
    b->words = (struct vocabulary){&b->names, b->sim->rewrite, services, n};
    return judging_open(&b->judging, b->sim->judge, args->oracles.at, args->oracles.n, &b->words,
                        e);
}

/* A verb for one scenario: which is it? */
static void name_scenario(const struct bench *b)
{
    if (!b->args->scenario && b->sim->n_scenarios > 1)
        fprintf(stderr, "outfox: scenario %s, the first of %u; choose another with --scenario\n",
                b->sim->scenario[0].name.p, (unsigned)b->sim->n_scenarios);
}

static void free_trips(struct bench *b)
{
    for (uint32_t i = 0; i < b->trips.n; i++) {
        struct trip *t = &b->trips.at[i];
        summary_deinit(&t->summary);
        coverage_deinit(&t->coverage);
        search_free(t->search);
        judge_free(t->judge);
    }
    vec_deinit(&b->trips);
    suite_free(b->suite);
}

/* Loads the system, lets the verb do its work, and frees it. An exit code: the verb's, after its error
 * was printed if there is one. */
static int bench_do(const struct args *args, int (*verb)(struct bench *b, struct err *e))
{
    struct bench b = {.args = args, .seed = search_seed(args), .body = BUF_INIT(RUN_BODY_MAX)};
    struct err e = {0};
    names_init(&b.names);
    faultloads_init(&b.faultloads);
    int code = EXIT_USAGE;
    if (bench_read(&b, &e) == 0) {
        e = (struct err){0}; /* it knows the file by now, and what is wrong then is not in it */
        code = verb(&b, &e);
    }
    if (code && e.text[0])
        cmd_fail(&e);
    free_trips(&b);
    judging_close(&b.judging);
    buf_deinit(&b.body);
    sim_free(b.sim);
    aim_deinit(&b.aim);
    faultloads_deinit(&b.faultloads);
    names_deinit(&b.names);
    arena_deinit(&b.arena);
    return code;
}

/* ---- check ---- */

static int check(struct bench *b, struct err *e)
{
    const struct args *args = b->args;
    unsigned services = b->sim->n_inside, scenarios = b->sim->n_scenarios;
    (void)e;
    if (args->json)
        printf("{\n  \"schema_version\": %d,\n  \"system\": \"%s\",\n  \"services\": %u,\n"
               "  \"scenarios\": %u\n}\n",
               REPORT_SCHEMA_VERSION, b->sim->name, services, scenarios);
    else
        printf("%s is valid: %u %s, %u %s\n", b->sim->name, services,
               plural(services, "service", "services"), scenarios,
               plural(scenarios, "scenario", "scenarios"));
    return EXIT_OK;
}

int cmd_sim_check(const struct args *args)
{
    return bench_do(args, check);
}

/* ---- run ---- */

static int run_once(struct bench *b, struct err *e)
{
    const struct args *args = b->args;
    struct trace trace = {0};
    struct verdict verdict;
    const struct node *body;
    struct buf out = BUF_INIT(SIZE_MAX);
    bool unfired = false;
    name_scenario(b);
    for (uint32_t i = 0; i < args->faults.n; i++)
        if (aim_add(&b->aim, &b->words, sim_request(b->sim, b->scenario),
                    slice_of(args->faults.at[i]), e))
            return EXIT_USAGE;
    int code = EXIT_USAGE;
    if (sim_run(b->sim, b->scenario, &b->aim, b->seed, &trace, &verdict, &body, e) == 0) {
        if (args->json)
            report_tree_json(b->sim->name, b->sim->scenario[b->scenario].name.p, &trace, &b->names,
                             &verdict, body, &out);
        else
            report_tree(&trace, &b->names, &verdict, body, style_for(1, args->color), &out);
        cmd_print(&out, stdout);
        for (uint32_t i = 0; i < b->aim.patterns.n; i++) {
            if (b->aim.patterns.at[i].fired)
                continue;
            fprintf(stderr, "outfox: the fault '%s' did not fire: no call was left to match it\n",
                    args->faults.at[i]);
            unfired = true;
        }
        code = !verdict.pass ? EXIT_FINDINGS : unfired ? EXIT_INCONCLUSIVE : EXIT_OK;
    }
    vec_deinit(&trace.calls);
    return code;
}

int cmd_sim_run(const struct args *args)
{
    return bench_do(args, run_once);
}

/* ---- explore ---- */

static int run_in_memory(void *ctx, faultload f, uint64_t number, struct run *run, struct err *e)
{
    const struct trip *t = ctx;
    struct bench *b = t->bench;
    const struct node *body;
    aim_set(&b->aim, &b->names, &b->faultloads, f);
    if (sim_run(b->sim, t->scenario, &b->aim, run_seed(b->seed, number), &run->trace, &run->verdict,
                &body, e))
        return -1;
    buf_clear(&b->body);
    if (t->judge && body->type != NODE_NULL)
        node_print(body, &b->body);
    run->body = buf_slice(&b->body);
    return 0;
}

/* Runs in memory are made by the thousand: a log gets its first line soon, and the clock is looked at
 * only so often, since that costs something. */
static const int64_t FIRST_LINE_NS = MS(500);
enum { SHOW_EVERY = 64 };

static void on_event(void *ctx, const struct event *event)
{
    struct trip *t = ctx;
    const struct bench *b = t->bench;
    uint64_t runs = 0, queued = 0, findings = 0;
    if (b->suite)
        coverage_event(&t->coverage, event);
    if (event->type != EVENT_RUN || !b->progress)
        return;
    t->found = event->found;
    if (event->number % SHOW_EVERY != 1)
        return;
    for (uint32_t i = 0; i < b->trips.n; i++) {
        uint64_t made, left;
        search_progress(b->trips.at[i].search, &made, &left);
        runs += made;
        queued += left;
        findings += b->trips.at[i].found;
    }
    int64_t now_ns = clock_ns();
    struct progress_facts facts = {.runs = runs,
                                   .queued = queued,
                                   .findings = findings,
                                   .elapsed_ns = now_ns - b->start_ns,
                                   .max_time_ns = b->args->max_time_ns,
                                   .max_runs = b->args->max_runs};
    progress_show(b->progress, &facts, now_ns);
}

/* The scenario's search, and who judges its runs. */
static void plan_trip(struct bench *b, uint32_t i, struct search_options options)
{
    struct trip *t = &b->trips.at[i];
    options.suite = b->suite;
    options.seat = i;
    options.scenario = b->sim->scenario[t->scenario].name.p;
    t->judge = judge_new(&(struct judge_options){
        .names = &b->names,
        .faultloads = &b->faultloads,
        .settings = &b->judging.settings,
        .wires = b->judging.wires.at,
        .n_wires = b->judging.wires.n,
        .limit_ns = b->sim->scenario[t->scenario].limit_ns,
    });
    t->search = search_new(&b->names, &b->faultloads, &options);
    t->summary = (struct summary){.system = b->sim->name,
                                  .scenario = b->sim->scenario[t->scenario].name.p,
                                  .file = b->args->positional[0],
                                  .random = b->sim->random};
    search_describe(&options, &b->arena, &t->summary);
    coverage_init(&t->coverage, &b->names);
}

/* The trips that were planned. */
static int go(struct bench *b, struct err *e)
{
    const struct args *args = b->args;
    uint32_t n = b->trips.n;
    struct exploration *x = arena_zero(&b->arena, n * sizeof *x);
    struct summary **out = arena_zero(&b->arena, n * sizeof *out);
    b->start_ns = clock_ns();
    if (!args->quiet) {
        b->progress = progress_new(stderr, style_terminal(2));
        progress_first(b->progress, FIRST_LINE_NS);
    }
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    for (uint32_t i = 0; i < n; i++) {
        struct trip *t = &b->trips.at[i];
        out[i] = &t->summary;
        t->sink = (struct event_sink){t, on_event};
        x[i] = (struct exploration){
            .search = t->search,
            .names = &b->names,
            .faultloads = &b->faultloads,
            .runner = {t, run_in_memory},
            .budget = {args->max_runs, args->max_time_ns, &interrupted},
            .sink = args->quiet && !b->suite ? NULL : &t->sink,
            .judge = t->judge,
        };
    }
    int status = explore(x, n, b->suite, out, e);
    progress_end(b->progress);
    return status;
}

/* Explores the scenario that was chosen; all: every one, when none was. */
/* A simulated system has no processes that an event of a plan could harm. */
static int events_refused(const struct search_options *o, struct err *e)
{
    for (uint32_t i = 0; i < o->n_modes; i++)
        if (mode_event(o->modes[i]).n)
            return err_set(e, 0, 0,
                           "mode \"event:%.*s\" is one of outfox run: a simulated system "
                           "has no processes to harm",
                           SHORT(mode_event(o->modes[i])));
    return 0;
}

static int explore_bench(struct bench *b, bool all, struct err *e)
{
    const struct mode_list *of_file = &b->sim->modes;
    struct search_options options = {.modes = of_file->at, .n_modes = of_file->n};
    uint32_t n = all && !b->args->scenario ? b->sim->n_scenarios : 1;
    if (n > 1 && !b->args->search[SEARCH_T_WAY])
        options.order = order_find(SLICE("auto"));
    if (search_args(b->args, b->sim->speaks, &b->modes, &options, e) || events_refused(&options, e))
        return -1;
    judging_wire_sim(&b->judging, b->sim);
    if (n > 1)
        b->suite = suite_new(n, &options);
    else
        name_scenario(b);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&b->trips, (struct trip){.bench = b, .scenario = n > 1 ? i : b->scenario});
    for (uint32_t i = 0; i < n; i++)
        plan_trip(b, i, options);
    return go(b, e);
}

/* The worst of all scenarios. */
static int trips_code(const struct bench *b)
{
    int worst = EXIT_OK;
    for (uint32_t i = 0; i < b->trips.n; i++)
        worst = cmd_worse(worst, cmd_code(&b->trips.at[i].summary));
    return worst;
}

static void suite_of(void *ctx, struct suite_coverage *out)
{
    struct bench *b = ctx;
    VEC(const struct coverage *) list = {0};
    struct suite_facts facts = {.services = b->words.services, .n_services = b->words.n_services};
    for (uint32_t i = 0; i < b->trips.n; i++)
        vec_push(&list, &b->trips.at[i].coverage);
    sim_ways(b->sim, &b->arena, &facts.ways);
    suite_cover(list.at, list.n, &facts, out);
    vec_deinit(&facts.ways);
    vec_deinit(&list);
}

static int explore_and_report(struct bench *b, struct err *e)
{
    const struct args *args = b->args;
    struct buf out = BUF_INIT(SIZE_MAX);
    int failed = explore_bench(b, true, e);
    uint32_t n = b->trips.n;
    const struct summary **all = arena_zero(&b->arena, (n + 1) * sizeof *all);
    uint64_t runs = 0;
    for (uint32_t i = 0; i < n; i++) {
        all[i] = &b->trips.at[i].summary;
        runs += all[i]->runs;
    }
    if (!failed || runs > 0) { /* what is known is told even when a run was impossible */
        struct report_source source = {.system = n > 1 ? b->sim->name : NULL,
                                       .file = args->positional[0],
                                       .version = outfox_version,
                                       .n = n,
                                       .scenarios = all,
                                       .ctx = b,
                                       .suite = suite_of};
        if (args->json && n > 1)
            report_campaign_json(&source, &out);
        else if (args->json)
            report_json(all[0], &out);
        else
            report_text(&source, style_for(1, args->color), &out);
    }
    cmd_print(&out, stdout);
    return failed ? EXIT_USAGE : interrupted ? signal_code() : trips_code(b);
}

int cmd_sim_explore(const struct args *args)
{
    return bench_do(args, explore_and_report);
}

static int explain(struct bench *b, struct err *e)
{
    const struct args *args = b->args;
    faultload meant[MEANT_MAX];
    uint32_t n;
    if (explore_bench(b, false, e) ||
        search_meant(b->trips.at[0].search, &b->words, sim_request(b->sim, b->scenario),
                     slice_of(args->positional[1]), meant, &n, e))
        return EXIT_USAGE;
    const struct trip *t = &b->trips.at[0];
    explain_print(args, &t->summary, t->search, NULL, meant, n);
    return interrupted ? signal_code() : t->summary.broken ? EXIT_ENVIRONMENT : EXIT_OK;
}

int cmd_sim_explain(const struct args *args)
{
    return bench_do(args, explain);
}

static int deps(struct bench *b, struct err *e)
{
    const struct args *args = b->args;
    struct deps_report report = {0};
    if (explore_bench(b, false, e))
        return EXIT_USAGE;
    report.summary = &b->trips.at[0].summary;
    deps_build(b->trips.at[0].judge, &report.deps);
    int code = deps_print(args, &report, 1);
    deps_deinit(&report.deps);
    return interrupted ? signal_code() : code;
}

int cmd_sim_deps(const struct args *args)
{
    int code = deps_check(args);
    return code ? code : bench_do(args, deps);
}

/* ---- serve ---- */

static int serve(struct serve *s, const struct args *args)
{
    struct err e = {0};
    int failed = 0;
    for (uint32_t i = 0; i < args->settings.n && !failed; i++)
        failed = serve_option(s, slice_of(args->settings.at[i].name),
                              slice_of(args->settings.at[i].value), &e);
    if (failed || serve_choose(s, &e))
        return cmd_fail(&e);
    if (serve_listen(s, &e)) {
        cmd_fail(&e);
        return EXIT_ENVIRONMENT;
    }
    struct buf lines = BUF_INIT(1 << 22);
    serve_print(s, &lines);
    cmd_print(&lines, stdout);
    if (fflush(stdout))
        return EXIT_ENVIRONMENT;
    return serve_run(s) ? EXIT_OK : EXIT_ENVIRONMENT;
}

int cmd_sim_serve(const struct args *args)
{
    struct arena arena = {0};
    struct names names;
    struct sim *sim = NULL;
    const struct node *root;
    struct err e = {0};
    int code;
    sigset_t signals; /* they wait until serve_run looks at them: in every thread, from the start */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);
    names_init(&names);
    if (yaml_load(args->positional[0], &arena, &root, &e) || sim_load(root, &names, &sim, &e)) {
        code = cmd_fail(&e);
    } else {
        struct serve *s = serve_new(sim);
        code = serve(s, args);
        serve_free(s);
    }
    sim_free(sim);
    names_deinit(&names);
    arena_deinit(&arena);
    return code;
}
