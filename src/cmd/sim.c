/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox sim ...: simulated systems from the command line. */
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/outlet.h"
#include "campaign/explore.h"
#include "campaign/judging.h"
#include "cmd/deps.h"
#include "cmd/search_args.h"
#include "data/yaml.h"
#include "report/report.h"
#include "report/words.h"
#include "sim/sim.h"

/* A loaded system with what is needed to run it. */
struct bench {
    struct arena arena;
    struct names names;
    struct vocabulary words;
    struct faultloads faultloads;
    struct sim *sim;
    struct aim aim;
    uint32_t scenario;
    uint64_t seed;
    struct judging judging;
    struct judge *judge;
    struct buf body; /* what the client received, as text */
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

static void bench_deinit(struct bench *b)
{
    judge_free(b->judge);
    judging_close(&b->judging);
    buf_deinit(&b->body);
    sim_free(b->sim);
    aim_deinit(&b->aim);
    faultloads_deinit(&b->faultloads);
    names_deinit(&b->names);
    arena_deinit(&b->arena);
}

static int choose_scenario(struct bench *b, const char *name, struct err *e)
{
    b->scenario = sim_scenario(b->sim, name);
    if (!name && sim_scenarios(b->sim) > 1)
        fprintf(stderr, "outfox: scenario %s, the first of %u; choose another with --scenario\n",
                sim_scenario_name(b->sim, 0), (unsigned)sim_scenarios(b->sim));
    if (b->scenario != UINT32_MAX)
        return 0;
    struct buf all = BUF_INIT(300);
    for (uint32_t i = 0; i < sim_scenarios(b->sim); i++)
        buf_addf(&all, "%s%s", i ? ", " : "", sim_scenario_name(b->sim, i));
    err_set(e, 0, 0, "there is no scenario \"%s\"; the file has: %s", name, buf_text(&all));
    buf_deinit(&all);
    return -1;
}

/* Its services and rules, and what users say about it. */
static int bench_judging(struct bench *b, const struct args *args, struct err *e)
{
    uint32_t n = sim_service_count(b->sim);
    const char **services = arena_zero(&b->arena, (n + 1) * sizeof *services);
    for (uint32_t i = 0; i < n; i++)
        services[i] = sim_service_name(b->sim, i);
    b->words = (struct vocabulary){&b->names, sim_rules(b->sim), services, n};
    return judging_open(&b->judging, sim_judge_settings(b->sim), args->oracles.at, args->oracles.n,
                        &b->words, e);
}

/* 0, or an exit code after the error was printed. */
static int bench_load(struct bench *b, const struct args *args)
{
    const struct node *root;
    struct err e = {0};
    *b = (struct bench){.seed = args->seed, .body = BUF_INIT(RUN_BODY_MAX)};
    names_init(&b->names);
    faultloads_init(&b->faultloads);
    b->aim = (struct aim){0};
    if (yaml_load(args->positional[0], &b->arena, &root, &e) ||
        sim_load(root, &b->names, &b->sim, &e) || choose_scenario(b, args->scenario, &e) ||
        bench_judging(b, args, &e)) {
        bench_deinit(b);
        return cmd_fail(&e);
    }
    return 0;
}

/* ---- check ---- */

int cmd_sim_check(const struct args *args)
{
    struct bench b;
    int code = bench_load(&b, args);
    if (code)
        return code;
    if (args->json)
        printf("{\n  \"schema_version\": %d,\n  \"system\": \"%s\",\n  \"services\": %u,\n"
               "  \"scenarios\": %u\n}\n",
               REPORT_SCHEMA_VERSION, sim_name(b.sim), (unsigned)sim_services(b.sim),
               (unsigned)sim_scenarios(b.sim));
    else
        printf("%s: %u %s, %u %s: right\n", sim_name(b.sim), (unsigned)sim_services(b.sim),
               plural(sim_services(b.sim), "service", "services"), (unsigned)sim_scenarios(b.sim),
               plural(sim_scenarios(b.sim), "scenario", "scenarios"));
    bench_deinit(&b);
    return EXIT_OK;
}

/* ---- run ---- */

static int warn_unfired(const struct bench *b, const struct args *args)
{
    int unfired = 0;
    for (uint32_t i = 0; i < b->aim.patterns.n; i++)
        if (b->aim.patterns.at[i].fired == 0) {
            fprintf(stderr,
                    "outfox: the fault '%s' did not fire: no call was left that matches it\n",
                    args->faults.at[i]);
            unfired++;
        }
    return unfired;
}

static int print_run(struct bench *b, const struct args *args)
{
    struct trace trace = {0};
    struct verdict verdict;
    const struct node *body;
    struct err e = {0};
    int code;
    if (sim_run(b->sim, b->scenario, &b->aim, b->seed, &trace, &verdict, &body, &e)) {
        code = cmd_fail(&e);
    } else {
        if (args->json)
            report_tree_json(sim_name(b->sim), sim_scenario_name(b->sim, b->scenario), &trace,
                             &b->names, &verdict, body, stdout);
        else
            report_tree(&trace, &b->names, &verdict, body, style_for(1, args->color), stdout);
        int unfired = warn_unfired(b, args);
        code = !verdict.pass ? EXIT_FINDINGS : unfired ? EXIT_INCONCLUSIVE : EXIT_OK;
    }
    vec_deinit(&trace.calls);
    return code;
}

int cmd_sim_run(const struct args *args)
{
    struct bench b;
    struct err e = {0};
    int code = bench_load(&b, args);
    if (code)
        return code;
    for (uint32_t i = 0; i < args->faults.n && !code; i++)
        if (aim_add(&b.aim, &b.words, sim_request(b.sim, b.scenario), slice_of(args->faults.at[i]),
                    &e))
            code = cmd_fail(&e);
    if (!code)
        code = print_run(&b, args);
    bench_deinit(&b);
    return code;
}

/* ---- explore ---- */

static int run_in_memory(void *ctx, faultload f, uint64_t number, struct run *run, struct err *e)
{
    struct bench *b = ctx;
    const struct node *body;
    aim_set(&b->aim, &b->names, &b->faultloads, f);
    if (sim_run(b->sim, b->scenario, &b->aim, run_seed(b->seed, number), &run->trace, &run->verdict,
                &body, e))
        return -1;
    buf_clear(&b->body);
    if (b->judge && body->type != NODE_NULL)
        node_print(body, &b->body);
    run->body = buf_slice(&b->body);
    return 0;
}

static void make_judge(struct bench *b)
{
    judging_wire_sim(&b->judging, b->sim);
    struct judge_options options = {.names = &b->names,
                                    .faultloads = &b->faultloads,
                                    .settings = &b->judging.settings,
                                    .wires = b->judging.wires.at,
                                    .n_wires = b->judging.wires.n,
                                    .limit_ns = sim_scenario_limit(b->sim, b->scenario)};
    b->judge = judge_new(&options);
}

/* Progress on stderr: a line that is rewritten on a terminal, a new line every few seconds
 * elsewhere. */
struct progress {
    bool terminal, shown;
    int64_t next_ns;
};

static void show_progress(void *ctx, uint64_t runs, uint64_t queued, uint64_t failed)
{
    struct progress *p = ctx;
    int64_t now_ns = clock_ns();
    if (now_ns < p->next_ns)
        return;
    p->next_ns = now_ns + (p->terminal ? 200000000 : 5000000000);
    p->shown = true;
    struct buf line = BUF_INIT(256);
    buf_addf(&line,
             p->terminal ? "\r\033[K%llu runs, %llu queued, %llu failed"
                         : "%llu runs, %llu queued, %llu failed\n",
             (unsigned long long)runs, (unsigned long long)queued, (unsigned long long)failed);
    outlet_raw(stderr, buf_slice(&line));
    buf_deinit(&line);
}

/* Explores; the caller frees the search, which the summary refers to. */
static int explore_bench(struct bench *b, const struct args *args, struct mode_list *modes,
                         struct search **search, struct summary *summary, struct err *e)
{
    struct search_options options;
    const struct mode_list *of_file = sim_modes(b->sim);
    options = (struct search_options){.modes = of_file->at, .n_modes = of_file->n};
    if (search_args(args, sim_speaks(b->sim), modes, &options, e))
        return -1;
    make_judge(b);
    *search = search_new(&b->names, &b->faultloads, &options);
    *summary = (struct summary){.system = sim_name(b->sim),
                                .scenario = sim_scenario_name(b->sim, b->scenario),
                                .file = args->positional[0],
                                .modes = options.modes,
                                .n_modes = options.n_modes,
                                .order = order_rows[options.order].name,
                                .seed = args->seed,
                                .quick = search_is_quick(&options),
                                .random = sim_random(b->sim)};
    struct progress state = {.terminal = style_terminal(2), .next_ns = clock_ns() + 500000000};
    struct explore_progress progress = {&state, show_progress};
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    struct exploration x = {.search = *search,
                            .names = &b->names,
                            .faultloads = &b->faultloads,
                            .runner = {b, run_in_memory},
                            .budget = {args->max_runs, args->max_time_ns, &interrupted},
                            .progress = args->quiet ? NULL : &progress,
                            .judge = b->judge};
    int status = explore(&x, summary, e);
    if (state.shown && state.terminal)
        outlet_raw(stderr, SLICE("\r\033[K"));
    search_assumptions(&options, &b->arena, summary);
    return status;
}

static int exit_code(const struct summary *s)
{
    return interrupted ? signal_code() : cmd_code(s);
}

int cmd_sim_explore(const struct args *args)
{
    struct bench b;
    struct search *search = NULL;
    struct summary summary = {0};
    struct err e = {0};
    struct mode_list modes;
    int code = bench_load(&b, args);
    if (code)
        return code;
    int failed = explore_bench(&b, args, &modes, &search, &summary, &e);
    code = failed ? cmd_fail(&e) : exit_code(&summary);
    if (!failed || summary.runs > 0) { /* what is known is told even when a run was impossible */
        if (args->json)
            report_json(&summary, stdout);
        else
            report_text(&summary, style_for(1, args->color), stdout);
    }
    summary_deinit(&summary);
    search_free(search);
    bench_deinit(&b);
    return code;
}

/* ---- explain ---- */

static void print_explanations(const struct bench *b, const struct search *search,
                               const faultload *meant, uint32_t n, const struct args *args)
{
    struct explanation x[MEANT_MAX];
    for (uint32_t i = 0; i < n; i++)
        search_explain(search, meant[i], &x[i]);
    struct explanations all = {.system = sim_name(b->sim),
                               .scenario = sim_scenario_name(b->sim, b->scenario),
                               .names = &b->names,
                               .faultloads = &b->faultloads,
                               .n = n,
                               .faultload = meant,
                               .explanation = x};
    report_explanations(&all, args->json, stdout);
}

int cmd_sim_explain(const struct args *args)
{
    struct bench b;
    struct search *search = NULL;
    struct summary summary = {0};
    struct err e = {0};
    struct mode_list modes;
    faultload meant[MEANT_MAX];
    uint32_t n;
    int code = bench_load(&b, args);
    if (code)
        return code;
    if (explore_bench(&b, args, &modes, &search, &summary, &e) ||
        search_meant(search, &b.words, sim_request(b.sim, b.scenario),
                     slice_of(args->positional[1]), meant, &n, &e)) {
        code = cmd_fail(&e);
    } else {
        print_explanations(&b, search, meant, n, args);
        code = interrupted ? signal_code() : summary.broken ? EXIT_ENVIRONMENT : EXIT_OK;
    }
    summary_deinit(&summary);
    search_free(search);
    bench_deinit(&b);
    return code;
}

/* ---- deps ---- */

int cmd_sim_deps(const struct args *args)
{
    struct bench b;
    struct search *search = NULL;
    struct summary summary = {0};
    struct err e = {0};
    struct mode_list modes;
    int code = deps_check(args);
    if (!code)
        code = bench_load(&b, args);
    if (code)
        return code;
    if (explore_bench(&b, args, &modes, &search, &summary, &e)) {
        code = cmd_fail(&e);
    } else {
        struct deps_report report = {.summary = &summary};
        deps_build(b.judge, &report.deps);
        code = deps_print(args, &report, 1);
        code = interrupted ? signal_code() : code;
        deps_deinit(&report.deps);
    }
    summary_deinit(&summary);
    search_free(search);
    bench_deinit(&b);
    return code;
}
