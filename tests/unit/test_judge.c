/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * The judge on random systems that are right: it must say nothing, whatever fails. And on the same
 * systems with one flaw each: the oracle for that flaw must speak, so that the silence means
 * something. With OUTFOX_MISSED in the environment, those whose flaw is not seen are shown. */

#include <stdio.h>
#include <stdlib.h>

#include "campaign/explore.h"
#include "support/correct_system.h"
#include "support/lab.h"
#include "support/unit.h"

enum { SYSTEMS = 200, RUNS_MAX = 1500, FLAW_SYSTEMS = 30, FLAW_RUNS_MAX = 600, SHOWN_MAX = 5 };

/* ---- one system, judged ---- */

/* How it is explored. */
enum depth {
    DEPTH_EXACT,
    DEPTH_LASTING, /* a failure of all tries of a call counts as one fault, and is tried early */
    DEPTH_PAIRS,   /* so too, and at most two faults */
};

/* What is needed to explore a system under a judge, as `outfox sim explore` does. */
struct court {
    struct lab lab;
    struct judge_settings settings;
    VEC(struct judge_wire) wires;
    struct buf body;
};

struct judgement {
    bool said[ORACLES];
    uint32_t remarks, findings;
    uint64_t runs;
    bool complete;
    uint64_t suspects;
    struct buf text; /* the first remarks, for people */
};

static int run_lab(void *ctx, faultload f, uint64_t number, struct run *run, struct err *e)
{
    struct court *c = ctx;
    const struct node *body;
    aim_set(&c->lab.aim, &c->lab.names, &c->lab.fl, f);
    if (sim_run(c->lab.sim, 0, &c->lab.aim, run_seed(1, number), &run->trace, &run->verdict, &body,
                e))
        return -1;
    buf_clear(&c->body);
    if (body->type != NODE_NULL)
        node_print(body, &c->body);
    run->body = buf_slice(&c->body);
    return 0;
}

static void add_wires(struct court *c)
{
    uint32_t n = c->lab.sim->n_services;
    for (uint32_t i = 0; i < n * n; i++)
        if (sim_may_call(c->lab.sim, i / n, i % n))
            vec_push(&c->wires, (struct judge_wire){c->lab.sim->service[i / n].name,
                                                    c->lab.sim->service[i % n].name});
}

static void add_remark(const struct court *c, const struct remark *r, struct judgement *out)
{
    out->said[oracle_find(slice_of(r->oracle))] = true;
    if (out->remarks++ >= 5)
        return;
    buf_addf(&out->text, "%s: %s\n  under: ", r->oracle, r->why);
    faultload_print(&c->lab.names, &c->lab.fl, r->faultload, &out->text);
    buf_adds(&out->text, "\n");
}

static void explore_court(struct court *c, enum depth depth, uint64_t max_runs,
                          struct judgement *out)
{
    struct search_options options = lab_options(&c->lab);
    options.assume = depth == DEPTH_EXACT ? 0 : 1u << REDUCE_RETRIES;
    if (depth == DEPTH_PAIRS) {
        options.assume |= 1u << REDUCE_MAX_FAULTS;
        options.max_faults = 2;
    }
    struct judge_options with = {.names = &c->lab.names,
                                 .faultloads = &c->lab.fl,
                                 .settings = &c->settings,
                                 .wires = c->wires.at,
                                 .n_wires = c->wires.n};
    struct exploration x = {.search = search_new(&c->lab.names, &c->lab.fl, &options),
                            .names = &c->lab.names,
                            .faultloads = &c->lab.fl,
                            .runner = {c, run_lab},
                            .budget = {.max_runs = max_runs},
                            .judge = judge_new(&with)};
    struct summary summary = {0};
    struct err e = {0};
    if (explore(&x, 1, NULL, &(struct summary *){&summary}, &e))
        fail_msg("%s", e.text);
    for (uint32_t i = 0; i < summary.remarks.n; i++)
        add_remark(c, &summary.remarks.at[i], out);
    out->findings = summary.findings.n;
    out->runs = summary.runs;
    out->complete = !summary.stopped;
    out->suspects = summary.all_suspects;
    if (summary.broken)
        buf_addf(&out->text, "fails without faults: %s\n", summary.broken);
    summary_deinit(&summary);
    judge_free(x.judge);
    search_free(x.search);
}

/* The caller frees out->text. */
static void judge_system(const struct correct_system *s, enum depth depth, uint64_t max_runs,
                         struct judgement *out)
{
    struct court c = {.body = BUF_INIT(RUN_BODY_MAX)};
    struct buf yaml = BUF_INIT(1 << 20);
    struct err e = {0};
    *out = (struct judgement){.text = BUF_INIT(1 << 20)};
    correct_system_print(s, &yaml);
    if (lab_init_text(&c.lab, buf_text(&yaml), &e))
        fail_msg("%u:%u: %s\n%s", (unsigned)e.line, (unsigned)e.col, e.text, buf_text(&yaml));
    judge_settings_init(&c.settings);
    bool hurried = s->flaw == FLAW_LIMIT;
    c.settings.limit_ns =
        1000000LL * (hurried ? correct_system_usual_ms(s) + 5 : correct_system_worst_ms(s) + 1);
    add_wires(&c);
    explore_court(&c, depth, max_runs, out);
    judge_settings_deinit(&c.settings);
    vec_deinit(&c.wires);
    buf_deinit(&c.body);
    buf_deinit(&yaml);
    lab_deinit(&c.lab);
}

/* ---- right ones ---- */

/* Is anything said of it? */
static bool is_blamed(const struct correct_system *s, enum depth depth)
{
    struct judgement j;
    judge_system(s, depth, RUNS_MAX, &j);
    buf_deinit(&j.text);
    return j.remarks > 0;
}

/* Leaves out parts as long as something is still said. */
static void shrink(struct correct_system *s, enum depth depth)
{
    for (uint32_t part = s->n; part-- > 1;) {
        struct correct_system fewer;
        correct_system_without(s, part, &fewer);
        if (is_blamed(&fewer, depth)) {
            *s = fewer;
            part = s->n;
        }
    }
}

static void show_blamed(struct correct_system *s, enum depth depth)
{
    struct buf yaml = BUF_INIT(1 << 20);
    struct judgement j;
    shrink(s, depth);
    judge_system(s, depth, RUNS_MAX, &j);
    correct_system_print(s, &yaml);
    fprintf(stderr, "seed %llu: a correct system, and yet\n%sshrunken system:\n%s\n",
            (unsigned long long)s->seed, buf_text(&j.text), buf_text(&yaml));
    buf_deinit(&yaml);
    buf_deinit(&j.text);
}

/* How many of the systems have what can go wrong. */
struct census {
    uint32_t retries, effects, sagas, groups, values, spares, grpc, complete;
    uint64_t runs;
};

static void census_add(struct census *c, const struct correct_system *s, const struct judgement *j)
{
    c->retries += correct_system_retries(s);
    c->effects += correct_system_effects(s);
    c->sagas += correct_system_saga(s);
    c->groups += correct_system_parallel(s);
    c->values += correct_system_cares(s, CARE_VALUE);
    c->spares += correct_system_cares(s, CARE_SPARE);
    c->grpc += s->grpc;
    c->complete += j->complete;
    c->runs += j->runs;
}

static void judge_correct(enum depth depth, struct census *c)
{
    uint32_t blamed = 0;
    for (uint64_t seed = 0; seed < volume(SYSTEMS); seed++) {
        struct correct_system s;
        struct judgement j;
        correct_system(seed, &s);
        judge_system(&s, depth, RUNS_MAX, &j);
        census_add(c, &s, &j);
        buf_deinit(&j.text);
        assert_int_equal(j.findings, 0);
        assert_int_equal(j.suspects, 0);
        if (j.remarks && blamed++ < SHOWN_MAX)
            show_blamed(&s, depth);
    }
    assert_int_equal(blamed, 0);
}

static void test_correct_systems(void **state)
{
    struct census c = {0};
    (void)state;
    judge_correct(DEPTH_EXACT, &c);
    print_message("# %u systems, %llu runs: %u explored to the end, %u with retries, %u effects, "
                  "%u sagas, %u groups, %u values, %u spares, %u gRPC\n",
                  volume(SYSTEMS), (unsigned long long)c.runs, (unsigned)c.complete,
                  (unsigned)c.retries, (unsigned)c.effects, (unsigned)c.sagas, (unsigned)c.groups,
                  (unsigned)c.values, (unsigned)c.spares, (unsigned)c.grpc);
    /* the systems are worth judging; each figure is for 20 of them */
    uint32_t n = volume(SYSTEMS) / 20;
    assert_true(c.complete >= 12 * n && c.retries >= 12 * n && c.effects >= 6 * n);
    assert_true(c.sagas >= 4 * n && c.groups >= 2 * n && c.values >= 6 * n && c.spares >= 6 * n);
    assert_true(c.grpc >= 2 * n && c.runs > 6000ull * n);
}

/* What fails for good fails in few runs then: these get deeper. */
static void test_lasting_failures(void **state)
{
    struct census c = {0};
    (void)state;
    judge_correct(DEPTH_LASTING, &c);
    assert_true(c.complete >= 12 * (volume(SYSTEMS) / 20));
}

/* ---- flawed ones ---- */

static const struct {
    const char *name, *oracle;
} flaws[FLAWS] = {
#define FLAW(id, oracle) {#id, oracle},
    FLAWS_LIST
#undef FLAW
};

/* The first part that can have the flaw, from one that the seed chooses on; false: none. */
static bool choose_flawed(struct correct_system *s, enum flaw flaw)
{
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t part = (uint32_t)((s->seed + i) % s->n);
        if (correct_system_fits(s, flaw, part)) {
            s->flaw = flaw;
            s->flawed = part;
            s->modes = (1u << MODES_ALL) - 1;
            return true;
        }
    }
    return false;
}

/* What is never called is known only of a system that was explored to its end; retries that
 * multiply show only when all of them fail. */
static enum depth flaw_depth(enum flaw flaw)
{
    return flaw == FLAW_UNREACHED  ? DEPTH_EXACT
           : flaw == FLAW_MULTIPLY ? DEPTH_LASTING
                                   : DEPTH_PAIRS;
}

static void show_missed(const struct correct_system *s, const struct judgement *j)
{
    struct buf yaml = BUF_INIT(1 << 20);
    correct_system_print(s, &yaml);
    fprintf(stderr, "seed %llu: %s at s%u is not seen by %s\n%sin:\n%s\n",
            (unsigned long long)s->seed, flaws[s->flaw].name, (unsigned)s->flawed,
            flaws[s->flaw].oracle, buf_text(&j->text), buf_text(&yaml));
    buf_deinit(&yaml);
}

/* How many of FLAW_SYSTEMS systems with this flaw are found out. */
static uint32_t find_out(enum flaw flaw)
{
    enum oracle oracle = oracle_find(slice_of(flaws[flaw].oracle));
    uint32_t found = 0, tried = 0;
    assert_true(oracle < ORACLES);
    for (uint64_t seed = 0; seed < 100000 && tried < FLAW_SYSTEMS; seed++) {
        struct correct_system s;
        struct judgement j;
        correct_system(seed, &s);
        if (!choose_flawed(&s, flaw))
            continue;
        judge_system(&s, flaw_depth(flaw), FLAW_RUNS_MAX, &j);
        bool counts = j.complete || flaw_depth(flaw) != DEPTH_EXACT;
        tried += counts;
        found += counts && j.said[oracle];
        if (counts && !j.said[oracle] && tried - found <= SHOWN_MAX && getenv("OUTFOX_MISSED"))
            show_missed(&s, &j);
        buf_deinit(&j.text);
    }
    assert_int_equal(tried, FLAW_SYSTEMS);
    return found;
}

static void test_flawed_systems(void **state)
{
    uint32_t blind = 0;
    (void)state;
    for (uint32_t flaw = 0; flaw < FLAWS; flaw++) {
        uint32_t found = find_out((enum flaw)flaw);
        print_message("# %-16s %-22s seen in %u of %d\n", flaws[flaw].name, flaws[flaw].oracle,
                      (unsigned)found, FLAW_SYSTEMS);
        blind += found * 10 < FLAW_SYSTEMS * 9;
    }
    assert_int_equal(blind, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_correct_systems),
        cmocka_unit_test(test_lasting_failures),
        cmocka_unit_test(test_flawed_systems),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
