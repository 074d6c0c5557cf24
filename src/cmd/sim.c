/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox sim ...: simulated systems from the command line. */
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/yaml.h"
#include "campaign/explore.h"
#include "cmd/cmd.h"
#include "report/report.h"
#include "report/words.h"
#include "sim/sim.h"

/* A loaded system with what is needed to run it. */
struct bench {
    struct arena arena;
    struct names names;
    struct faultloads faultloads;
    struct sim *sim;
    struct plan plan;
    uint32_t scenario;
    uint64_t seed;
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
    sim_free(b->sim);
    plan_deinit(&b->plan);
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

/* 0, or an exit code after the error was printed. */
static int bench_load(struct bench *b, const struct args *args)
{
    const struct node *root;
    struct err e = {0};
    *b = (struct bench){.seed = args->seed};
    names_init(&b->names);
    faultloads_init(&b->faultloads);
    plan_init(&b->plan, &b->names);
    if (yaml_load(args->positional[0], &b->arena, &root, &e) ||
        sim_load(root, &b->names, &b->sim, &e) || choose_scenario(b, args->scenario, &e)) {
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
        printf("%s: %u services, %u %s: right\n", sim_name(b.sim), (unsigned)sim_services(b.sim),
               (unsigned)sim_scenarios(b.sim),
               sim_scenarios(b.sim) == 1 ? "scenario" : "scenarios");
    bench_deinit(&b);
    return EXIT_OK;
}

/* ---- run ---- */

static int warn_unfired(const struct bench *b, const struct args *args)
{
    int unfired = 0;
    for (uint32_t i = 0; i < b->plan.patterns.n; i++)
        if (b->plan.patterns.at[i].fired == 0) {
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
    if (sim_run(b->sim, b->scenario, &b->plan, b->seed, &trace, &verdict, &body, &e)) {
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
        if (plan_add(&b.plan, &b.names, sim_request(b.sim, b.scenario),
                     slice_of(args->faults.at[i]), &e))
            code = cmd_fail(&e);
    if (!code)
        code = print_run(&b, args);
    bench_deinit(&b);
    return code;
}

/* ---- explore ---- */

static int run_in_memory(void *ctx, faultload f, uint64_t number, struct trace *trace,
                         struct verdict *verdict, struct err *e)
{
    struct bench *b = ctx;
    plan_set(&b->plan, &b->names, &b->faultloads, f);
    return sim_run(b->sim, b->scenario, &b->plan, run_seed(b->seed, number), trace, verdict, NULL,
                   e);
}

static int parse_modes(const char *list, mode *out, uint32_t max, uint32_t *n, struct err *e)
{
    slice rest = slice_of(list), word;
    *n = 0;
    while (slice_cut(&rest, ',', &word)) {
        if (*n == max)
            return err_set(e, 0, 0, "--modes takes at most %u modes", (unsigned)max);
        if (mode_parse(word, &out[*n], e))
            return -1;
        for (uint32_t i = 0; i < *n; i++)
            if (out[i] == out[*n])
                return err_set(e, 0, 0, "--modes names \"%.*s\" twice", SLICE_ARG(word));
        ++*n;
    }
    return 0;
}

static int parse_assume(const char *list, uint32_t *bits, struct err *e)
{
    slice rest = slice_of(list), word;
    while (slice_cut(&rest, ',', &word)) {
        const char *names[REDUCTIONS];
        size_t n = 0;
        bool found = false;
        word = slice_trim(word);
        for (enum reduction r = 0; r < REDUCTIONS; r++) {
            if (!reduction_rows[r].flag)
                continue;
            names[n++] = reduction_rows[r].name;
            if (slice_is(word, reduction_rows[r].name)) {
                *bits |= 1u << r;
                found = true;
            }
        }
        const char *near = err_nearest(word, names, n);
        if (!found)
            return err_set(
                e, 0, 0,
                "--assume knows stateless, modes, modes-once and retries, not \"%.*s\"%s%s%s",
                SLICE_ARG(word), near ? "; did you mean \"" : "", near ? near : "",
                near ? "\"?" : "");
    }
    return 0;
}

static int parse_order(const char *name, uint32_t *out, struct err *e)
{
    for (*out = 0; *out < order_count; ++*out)
        if (strcmp(name, order_rows[*out].name) == 0)
            return 0;
    return err_set(e, 0, 0, "--order is size, depth or random, not \"%s\"", name);
}

enum { MODES_MAX = 64 };

static int search_options(const struct bench *b, const struct args *args, mode *modes,
                          struct search_options *out, struct err *e)
{
    *out = (struct search_options){.audit = args->audit, .seed = args->seed};
    out->modes = sim_modes(b->sim, &out->n_modes);
    if (args->modes) {
        out->modes = modes;
        if (parse_modes(args->modes, modes, MODES_MAX, &out->n_modes, e))
            return -1;
    }
    if ((args->assume && parse_assume(args->assume, &out->assume, e)) ||
        (args->order && parse_order(args->order, &out->order, e)))
        return -1;
    if (args->t_way && (args->t_way < 2 || args->t_way > 4))
        return err_set(e, 0, 0, "--t-way takes 2, 3 or 4");
    if (args->audit > 0 && !out->assume && !args->max_faults && !args->t_way)
        return err_set(
            e, 0, 0,
            "--audit runs what reductions skip, and none is in use: add --assume, --max-faults or --t-way");
    if (args->max_faults) {
        out->assume |= 1u << REDUCE_MAX_FAULTS;
        out->max_faults = args->max_faults > UINT32_MAX ? UINT32_MAX : (uint32_t)args->max_faults;
    }
    if (args->t_way) {
        out->assume |= 1u << REDUCE_T_WAY;
        out->t_way = (uint32_t)args->t_way;
    }
    return 0;
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
    fprintf(stderr,
            p->terminal ? "\r\033[K%llu runs, %llu queued, %llu failed"
                        : "%llu runs, %llu queued, %llu failed\n",
            (unsigned long long)runs, (unsigned long long)queued, (unsigned long long)failed);
}

/* The assumptions in use, in words. A t-way search may have done less than it was asked for. */
static void add_assumptions(struct bench *b, const struct args *args, const struct search *search,
                            const struct search_options *options, struct summary *summary)
{
    struct search_stats stats;
    search_stats(search, &stats);
    if (args->t_way && stats.t_way < args->t_way)
        fprintf(stderr, "outfox: --t-way %u would take too many rows; %s\n", (unsigned)args->t_way,
                stats.t_way < 2 ? "the search was exact" : "a smaller one was done");
    for (enum reduction r = 0; r < REDUCTIONS; r++) {
        if (!(options->assume >> r & 1))
            continue;
        struct buf text = BUF_INIT(1000);
        buf_addf(&text, "%s", reduction_rows[r].name);
        if (r == REDUCE_MAX_FAULTS)
            buf_addf(&text, " %u", (unsigned)options->max_faults);
        if (r == REDUCE_T_WAY)
            buf_addf(&text, " %u", (unsigned)stats.t_way);
        buf_addf(&text, ": %s", reduction_rows[r].assumption);
        vec_push(&summary->assumptions, arena_copy(&b->arena, text.p, text.n));
        buf_deinit(&text);
    }
}

/* Explores; the caller frees the search, which the summary refers to. */
static int explore_bench(struct bench *b, const struct args *args, mode *modes,
                         struct search **search, struct summary *summary, struct err *e)
{
    struct search_options options;
    if (search_options(b, args, modes, &options, e))
        return -1;
    *search = search_new(&b->names, &b->faultloads, &options);
    *summary = (struct summary){.system = sim_name(b->sim),
                                .scenario = sim_scenario_name(b->sim, b->scenario),
                                .file = args->positional[0],
                                .modes = options.modes,
                                .n_modes = options.n_modes,
                                .order = order_rows[options.order].name,
                                .seed = args->seed,
                                .random = sim_random(b->sim)};
    struct runner runner = {b, run_in_memory};
    struct explore_budget budget = {args->max_runs, args->max_time_ns, &interrupted};
    struct progress state = {.terminal = style_terminal(2), .next_ns = clock_ns() + 500000000};
    struct explore_progress progress = {&state, show_progress};
    signal(SIGINT, on_interrupt);
    signal(SIGTERM, on_interrupt);
    int status = explore(*search, &b->names, &b->faultloads, &runner, &budget,
                         args->quiet ? NULL : &progress, summary, e);
    if (state.shown && state.terminal)
        fputs("\r\033[K", stderr);
    add_assumptions(b, args, *search, &options, summary);
    return status;
}

static int exit_code(const struct summary *s)
{
    if (interrupted)
        return signal_code();
    if (s->broken)
        return EXIT_ENVIRONMENT;
    if (s->findings.n)
        return EXIT_FINDINGS;
    return s->stopped || s->all_suspects ? EXIT_INCONCLUSIVE : EXIT_OK;
}

int cmd_sim_explore(const struct args *args)
{
    struct bench b;
    struct search *search = NULL;
    struct summary summary = {0};
    struct err e = {0};
    mode modes[MODES_MAX];
    int code = bench_load(&b, args);
    if (code)
        return code;
    int failed = explore_bench(&b, args, modes, &search, &summary, &e);
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

static void print_explanation(const struct bench *b, const struct args *args, faultload f,
                              const struct explanation *x)
{
    if (args->json) {
        report_explanation_json(sim_name(b->sim), sim_scenario_name(b->sim, b->scenario), &b->names,
                                &b->faultloads, f, x, stdout);
        return;
    }
    struct buf text = BUF_INIT(1 << 16);
    words_explanation(&b->names, &b->faultloads, x, &text);
    printf("This faultload %s.\n", buf_text(&text));
    if (x->policy != POLICY_NONE)
        printf("Other tools call this: %s.\n", policy_name(x->policy));
    buf_deinit(&text);
}

int cmd_sim_explain(const struct args *args)
{
    struct bench b;
    struct search *search = NULL;
    struct summary summary = {0};
    struct explanation x;
    struct err e = {0};
    mode modes[MODES_MAX];
    faultload f;
    int code = bench_load(&b, args);
    if (code)
        return code;
    if (faultload_parse(&b.names, &b.faultloads, slice_of(args->positional[1]), &f, &e) ||
        explore_bench(&b, args, modes, &search, &summary, &e)) {
        code = cmd_fail(&e);
    } else {
        search_explain(search, f, &x);
        print_explanation(&b, args, f, &x);
        code = interrupted ? signal_code() : summary.broken ? EXIT_ENVIRONMENT : EXIT_OK;
    }
    summary_deinit(&summary);
    search_free(search);
    bench_deinit(&b);
    return code;
}
