// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the file of a simulated system: they are parsed, loaded and, when they are a system,
// explored for a few runs, explained and reported. The options of the exploration follow from the
// bytes, so that one input always does the same.
//
// What must hold besides not crashing:
// 1. A file that is refused is refused with a sentence, and one that is accepted has no error.
// 2. The text of a faultload that was run reads back as that faultload.
// 3. The JSON report is one JSON document.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/hash.h"
#include "campaign/explore.h"
#include "data/yaml.h"
#include "fuzz/json_text.h"
#include "fuzz/must.h"
#include "report/report.h"
#include "sim/sim.h"

enum { BYTES_MAX = 64 << 10, RUNS_MAX = 20, EXPLAINED_MAX = 40 };
#define RUN_NS_MAX 200000000 // a system with a slower run is run once

struct fuzzed {
    struct names names;
    struct faultloads faultloads;
    struct aim aim;
    struct sim *sim;
    uint32_t scenario;
    volatile sig_atomic_t enough;
};

static int run_once(void *ctx, faultload f, uint64_t number, struct run *run, struct err *e)
{
    struct fuzzed *z = ctx;
    int64_t start_ns = clock_ns();
    aim_set(&z->aim, &z->names, &z->faultloads, f);
    int status = sim_run(z->sim, z->scenario, &z->aim, number, &run->trace, &run->verdict, NULL, e);
    if (clock_ns() - start_ns > RUN_NS_MAX)
        z->enough = 1;
    MUST(status == 0 || e->text[0]);
    return status;
}

static void check_text(struct fuzzed *z, faultload f)
{
    struct buf text = BUF_INIT(1 << 20);
    struct err e = {0};
    faultload back;
    faultload_print(&z->names, &z->faultloads, f, &text);
    if (!text.full) {
        MUST(faultload_parse(&z->names, &z->faultloads, buf_slice(&text), &back, &e) == 0);
        MUST(faultload_eq(&z->faultloads, f, back));
    }
    buf_deinit(&text);
}

static void check_explanations(struct fuzzed *z, const struct search *search)
{
    uint32_t n;
    const struct search_run *runs = search_runs(search, &n);
    struct explanation x;
    for (uint32_t i = 0; i < n && i < EXPLAINED_MAX; i++) {
        check_text(z, runs[i].faultload);
        search_explain(search, runs[i].faultload, &x);
        MUST(!runs[i].fired || x.kind == EXPLAIN_RUN);
        // two runs' faults together: mostly redundant, impossible or open
        faultload both = runs[i].faultload;
        for (faultload f = runs[n - 1 - i].faultload; f != FAULTLOAD_EMPTY;
             f = z->faultloads.rows.at[f].rest) {
            struct fault fault = z->faultloads.rows.at[f].last;
            if (faultload_at(&z->faultloads, both, fault.point) == MODE_NONE)
                both = faultload_extend(&z->faultloads, both, fault);
        }
        search_explain(search, both, &x);
        MUST(x.kind < EXPLAIN_KINDS && x.policy < POLICIES);
    }
}

static void check_reports(const struct summary *summary)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    struct report_source source = {.n = 1, .scenarios = &summary};
    report_json(summary, &out);
    MUST(json_text_whole(buf_slice(&out)) && buf_text(&out)[0] == '{');
    buf_clear(&out);
    report_text(&source, &style_plain, &out);
    MUST(out.n > 0);
    buf_deinit(&out);
}

// Options that follow from a hash; half of the inputs are explored without any reduction.
static struct search_options options_for(const struct sim *sim, uint64_t hash)
{
    struct search_options options = {.order = (uint32_t)(hash >> 8) % order_count, .seed = hash};
    options.modes = sim->modes.at;
    options.n_modes = sim->modes.n;
    if (hash & 1) {
        options.assume = (uint32_t)(hash >> 16) & ((1u << REDUCTIONS) - 1);
        options.max_faults = 1 + (uint32_t)(hash >> 24) % 3;
        options.t_way = 2 + (uint32_t)(hash >> 28) % 3;
        options.audit = (double)((hash >> 32) % 3) * 50;
    }
    return options;
}

static void explore_scenario(struct fuzzed *z, uint64_t hash)
{
    struct search_options options = options_for(z->sim, hash);
    struct search *search = search_new(&z->names, &z->faultloads, &options);
    struct judge_settings settings;
    judge_settings_init(&settings);
    struct judge_options judging = {
        .names = &z->names, .faultloads = &z->faultloads, .settings = &settings};
    struct exploration x = {.search = search,
                            .names = &z->names,
                            .faultloads = &z->faultloads,
                            .runner = {z, run_once},
                            .budget = {RUNS_MAX, 0, &z->enough},
                            .judge = judge_new(&judging)};
    struct summary summary = {.system = z->sim->name,
                              .scenario = z->sim->scenario[z->scenario].name.p,
                              .file = "a file's.yaml",
                              .modes = options.modes,
                              .n_modes = options.n_modes,
                              .order = order_rows[options.order].name};
    struct err e = {0};
    z->enough = 0;
    if (explore(&x, 1, NULL, &(struct summary *){&summary}, &e) == 0) {
        check_explanations(z, search);
        check_reports(&summary);
    } else {
        MUST(e.text[0]);
    }
    summary_deinit(&summary);
    judge_free(x.judge);
    judge_settings_deinit(&settings);
    search_free(search);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > BYTES_MAX)
        return 0;
    slice text = {(const char *)data, size};
    struct fuzzed z = {0};
    struct arena arena = {0};
    struct err e = {0};
    const struct node *root;
    names_init(&z.names);
    faultloads_init(&z.faultloads);
    z.aim = (struct aim){0};
    bool right =
        yaml_parse(text, &arena, &root, &e) == 0 && sim_load(root, &z.names, &z.sim, &e) == 0;
    MUST(right == !e.text[0]);
    for (z.scenario = 0; right && z.scenario < z.sim->n_scenarios && z.scenario < 2; z.scenario++)
        explore_scenario(&z, hash_slice(text));
    sim_free(z.sim);
    aim_deinit(&z.aim);
    faultloads_deinit(&z.faultloads);
    names_deinit(&z.names);
    arena_deinit(&arena);
    return 0;
}
