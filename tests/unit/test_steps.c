/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a campaign, on a system without sockets: a simulated one in memory carries its orders
 * out, and misbehaves as the test wants. What it was told to do is written down:
 *
 *   R a run begins   w one is waited for   h services are started again   H all of them
 *   r it is let be   d runs are given up   . nothing is left */
#include "campaign/campaign.h"
#include "campaign/explore.h"
#include "support/lab.h"
#include "support/unit.h"

/* Fails with a; b is not needed. */
static const char *const needs_a =
    "system: one\nmodes: [500, 503]\nservices:\n"
    "  front:\n    GET /:\n"
    "      - call: a GET /\n        on: { failed: { reply: 500 } }\n"
    "      - call: b GET /\n        as: b\n"
    "  a: { GET /: }\n  b: { GET /: }\n"
    "scenarios: { s: { request: front GET /, expect: [ { then: status == 200, say: a is needed } ] } }\n";

/* Needs nothing. */
static const char *const content =
    "system: two\nmodes: [500, 503, reset]\nservices:\n"
    "  front:\n    GET /:\n"
    "      - call: x GET /\n        as: x\n"
    "      - if: x.failed\n        then: { call: y GET /, as: y }\n"
    "      - call: z GET /\n        as: z\n"
    "  x: { GET /: }\n  y: { GET /: }\n  z: { GET /: }\n"
    "scenarios: { s: { request: front GET /, expect: [ { then: status == 200 } ] } }\n";

enum { RUNS_MAX = 10000, PENDING_MAX = 64 };

/* A system in the place of that of live/live.c, which is linked but not used here. */
struct live {
    struct lab lab;
    struct scenario_spec scenario;
    struct service_spec service;
    struct campaign_config config;
    struct vocabulary words;
    struct campaign_options options;
    struct campaign *campaign;
    struct target target;
    struct buf log;
    struct execution_order pending[PENDING_MAX];
    uint32_t n_pending;
    struct execution_result result; /* of the last run */
    uint64_t runs;
    bool reversed; /* runs end in the opposite order */

    /* how it misbehaves */
    const char *kills;      /* a fault, as text: a service dies of it */
    const char *breaks;     /* ... alone: all runs fail until all services are started again */
    const char *misses;     /* ... it never fires */
    const char *fails_once; /* ... it fails the first time */
    uint64_t signal_at;     /* after so many runs somebody wants to stop; 0: nobody */
    bool hurt, broken, failed_once;
};

static int fake_signal(const struct live *f)
{
    return f->signal_at && f->runs >= f->signal_at ? 2 : 0;
}

static bool fake_hurt(const struct live *f)
{
    return f->hurt;
}

static const char *fake_death(const struct live *f)
{
    (void)f;
    return NULL; /* services die during runs only */
}

static bool fake_has_own(const struct live *f)
{
    (void)f;
    return true;
}

static void fake_log_mark(struct live *f)
{
    (void)f;
}

static void fake_open(struct live *f, const char *yaml)
{
    struct err e = {0};
    *f = (struct live){.log = BUF_INIT(1 << 20)};
    if (lab_init_text(&f->lab, yaml, &e))
        fail_msg("%u:%u: %s", (unsigned)e.line, (unsigned)e.col, e.text);
    f->scenario = (struct scenario_spec){.name = SLICE("s"), .timeout_ns = 1000000000};
    f->service = (struct service_spec){.name = SLICE("front"), .run = SLICE("front")};
    f->config.name = SLICE("fake");
    f->config.source = "fake.yaml";
    f->config.simulate = SLICE("fake.yaml");
    f->config.search.check_every = 100;
    vec_push(&f->config.scenarios, f->scenario);
    vec_push(&f->config.services, f->service);
    f->words = (struct vocabulary){.names = &f->lab.names};
    f->options = (struct campaign_options){.config = &f->config,
                                           .names = &f->lab.names,
                                           .words = &f->words,
                                           .faultloads = &f->lab.fl,
                                           .search = lab_options(&f->lab),
                                           .jobs = 1};
    f->target = (struct target){.live = f,
                                .signal = fake_signal,
                                .hurt = fake_hurt,
                                .death = fake_death,
                                .has_own = fake_has_own,
                                .log_mark = fake_log_mark};
}

static void fake_close(struct live *f)
{
    campaign_free(f->campaign);
    vec_deinit(&f->config.scenarios);
    vec_deinit(&f->config.services);
    buf_deinit(&f->log);
    lab_deinit(&f->lab);
}

static bool has(const struct live *f, faultload load, const char *fault)
{
    struct buf text = BUF_INIT(1 << 16);
    faultload_print(&f->lab.names, &f->lab.fl, load, &text);
    bool found = fault && strstr(buf_text(&text), fault);
    buf_deinit(&text);
    return found;
}

/* One run, as the system behaves today. */
static void carry_out(struct live *f, const struct execution_order *order, struct run *run)
{
    struct aim none = {0};
    struct err e = {0};
    bool misses = has(f, order->faultload, f->misses);
    *run = (struct run){.purpose = order->purpose, .faultload = order->faultload};
    if (sim_run(f->lab.sim, 0, misses ? &none : order->aim, f->runs++, &run->trace, &run->verdict,
                NULL, &e))
        fail_msg("%s", e.text);
    bool fails = f->broken || (has(f, order->faultload, f->fails_once) && !f->failed_once);
    if (has(f, order->faultload, f->kills)) {
        run->flags = RUN_CRASHED;
        run->event = "a died (signal 11)";
        f->hurt = fails = true;
    }
    f->failed_once |= has(f, order->faultload, f->fails_once);
    f->broken |=
        has(f, order->faultload, f->breaks) && faultload_size(&f->lab.fl, order->faultload) == 1;
    if (fails)
        run->verdict = (struct verdict){.why = run->event ? run->event : "it does not work"};
    aim_deinit(&none);
}

static void take_one(struct live *f, struct answer *a)
{
    struct execution_result *r = &f->result;
    *r = (struct execution_result){0};
    assert_true(f->n_pending > 0);
    uint32_t i = f->reversed ? f->n_pending - 1 : 0;
    r->order = f->pending[i];
    for (f->n_pending--; i < f->n_pending; i++)
        f->pending[i] = f->pending[i + 1];
    carry_out(f, &r->order, &r->run);
    a->result = r;
    a->alone = f->n_pending == 0;
}

/* One order. False: nothing is left. */
static bool step(struct live *f)
{
    struct order order;
    struct answer a = {0};
    campaign_next(f->campaign, &order);
    buf_addc(&f->log, order.kind == ORDER_HEAL && order.all ? 'H' : "Rwrhd."[order.kind]);
    switch (order.kind) {
    case ORDER_RUN:
        assert_true(f->n_pending < PENDING_MAX && (!order.alone || f->n_pending == 0));
        f->pending[f->n_pending++] = order.run;
        return true;
    case ORDER_DROP: f->n_pending = 0; return true;
    case ORDER_DONE: return false;
    case ORDER_HEAL:
        f->hurt = false;
        f->broken &= !order.all;
        break;
    case ORDER_WAIT:
        if (fake_signal(f))
            a.status = STATUS_INTERRUPTED;
        else
            take_one(f, &a);
        break;
    case ORDER_REST: break;
    }
    campaign_took(f->campaign, &a);
    return f->runs < RUNS_MAX;
}

static const struct summary *explore_fake(struct live *f)
{
    struct err e = {0};
    f->campaign = campaign_new(&f->options);
    campaign_begin(f->campaign, &f->target);
    while (step(f))
        ;
    if (campaign_ended(f->campaign, &e) == STATUS_FAILED)
        fail_msg("%s", e.text);
    assert_int_equal(f->n_pending, 0);
    return campaign_finish(f->campaign);
}

/* ---- as in memory ---- */

static int run_lab(void *ctx, faultload f, uint64_t number, struct run *run, struct err *e)
{
    struct lab *lab = ctx;
    aim_set(&lab->aim, &lab->names, &lab->fl, f);
    return sim_run(lab->sim, 0, &lab->aim, number, &run->trace, &run->verdict, NULL, e);
}

static void assert_as_in_memory(const char *yaml, const struct summary *s)
{
    struct lab lab;
    struct err e = {0};
    struct summary wanted = {0};
    assert_int_equal(lab_init_text(&lab, yaml, &e), 0);
    struct search_options options = lab_options(&lab);
    struct exploration x = {.search = search_new(&lab.names, &lab.fl, &options),
                            .names = &lab.names,
                            .faultloads = &lab.fl,
                            .runner = {&lab, run_lab}};
    assert_int_equal(explore(&x, &wanted, &e), 0);
    assert_int_equal(s->runs, wanted.runs);
    assert_int_equal(s->points, wanted.points);
    assert_int_equal(s->conditional, wanted.conditional);
    assert_int_equal(s->transcripts, wanted.transcripts);
    assert_int_equal(s->failed_runs, wanted.failed_runs);
    assert_int_equal(s->findings.n, wanted.findings.n);
    assert_null(s->stopped);
    summary_deinit(&wanted);
    search_free(x.search);
    lab_deinit(&lab);
}

static void test_counts(void **state)
{
    static const char *const systems[] = {needs_a, content};
    (void)state;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        for (uint32_t jobs = 1; jobs <= 4; jobs += 3) {
            struct live f;
            fake_open(&f, systems[i]);
            f.options.jobs = jobs;
            f.reversed = jobs > 1;
            assert_as_in_memory(systems[i], explore_fake(&f));
            if (jobs == 1) /* three fault-free runs, each waited for before the next */
                assert_memory_equal(buf_text(&f.log), "RwRwRw", 6);
            fake_close(&f);
        }
}

/* Several runs are under way at once, until there is nothing more to give. */
static void test_jobs(void **state)
{
    struct live f;
    (void)state;
    fake_open(&f, content);
    f.options.jobs = 4;
    explore_fake(&f);
    assert_non_null(strstr(buf_text(&f.log), "RRRRw"));
    assert_null(strstr(buf_text(&f.log), "RRRRR"));
    fake_close(&f);
}

/* ---- findings ---- */

static void test_confirm(void **state)
{
    struct live f;
    (void)state;
    fake_open(&f, needs_a);
    const struct summary *s = explore_fake(&f);
    assert_int_equal(s->findings.n, 1);
    assert_int_equal(s->findings.at[0].state, FINDING_CONFIRMED);
    assert_int_equal(summary_conclusion(s), CONCLUSION_FINDINGS);
    fake_close(&f);
}

static void test_flaky(void **state)
{
    struct live f;
    (void)state;
    fake_open(&f, content);
    f.fails_once = "z GET / : 503";
    const struct summary *s = explore_fake(&f);
    assert_int_equal(s->findings.n, 1);
    assert_int_equal(s->findings.at[0].state, FINDING_FLAKY);
    fake_close(&f);
}

/* The dead service is started again before anything else is run. */
static void test_crash(void **state)
{
    struct live f;
    (void)state;
    fake_open(&f, content);
    f.kills = "z GET / : 503";
    const struct summary *s = explore_fake(&f);
    assert_int_equal(s->findings.n, 1);
    assert_int_equal(s->findings.at[0].kind, FINDING_CRASH);
    assert_int_equal(s->findings.at[0].state, FINDING_CONFIRMED);
    assert_false(f.hurt);
    assert_non_null(strchr(buf_text(&f.log), 'h'));
    assert_null(strchr(buf_text(&f.log), 'H'));
    fake_close(&f);
}

/* What leaves the system broken is told apart from what fails because of that. */
static void test_blast(void **state)
{
    struct live f;
    (void)state;
    fake_open(&f, content);
    f.breaks = "z GET / : 503";
    f.config.search.check_every = 1;
    const struct summary *s = explore_fake(&f);
    assert_int_equal(s->findings.n, 1);
    assert_int_equal(s->findings.at[0].kind, FINDING_BLAST);
    assert_int_equal(s->findings.at[0].state, FINDING_CONFIRMED);
    assert_true(has(&f, s->findings.at[0].faultload, "z GET / : 503"));
    assert_non_null(strchr(buf_text(&f.log), 'H'));
    fake_close(&f);
}

static void test_suspect(void **state)
{
    struct live f;
    (void)state;
    fake_open(&f, content);
    f.misses = "y GET / : reset";
    const struct summary *s = explore_fake(&f);
    assert_int_equal(s->findings.n, 0);
    assert_true(s->all_suspects > 0);
    assert_int_equal(summary_conclusion(s), CONCLUSION_INCONCLUSIVE);
    fake_close(&f);
}

/* ---- ends ---- */

static void test_budget(void **state)
{
    struct live f;
    (void)state;
    fake_open(&f, content);
    f.options.max_runs = 4;
    const struct summary *s = explore_fake(&f);
    assert_string_equal(s->stopped, "runs");
    assert_int_equal(s->runs, 1 + 4);
    assert_true(s->queued > 0);
    fake_close(&f);
}

/* At every step: it ends at once, and says by what. */
static void test_interrupt(void **state)
{
    (void)state;
    for (uint64_t at = 1;; at++) {
        struct live f;
        fake_open(&f, needs_a);
        f.options.jobs = 2;
        f.signal_at = at;
        const struct summary *s = explore_fake(&f);
        bool stopped = s->stopped && strcmp(s->stopped, "interrupt") == 0;
        assert_true(f.runs <= at);
        assert_true(stopped || f.runs == at || !s->stopped);
        assert_non_null(strchr(buf_text(&f.log), 'd'));
        bool all = f.runs < at;
        fake_close(&f);
        if (all)
            break;
    }
}

/* ---- in turns ---- */

/* Two campaigns, step by step: neither sees anything of the other. */
static void test_interleaved(void **state)
{
    static const char *const systems[] = {needs_a, content};
    struct live f[2];
    bool more[2] = {true, true};
    struct err e = {0};
    (void)state;
    for (int i = 0; i < 2; i++) {
        fake_open(&f[i], systems[i]);
        f[i].campaign = campaign_new(&f[i].options);
        campaign_begin(f[i].campaign, &f[i].target);
    }
    while (more[0] || more[1])
        for (int i = 0; i < 2; i++)
            more[i] = more[i] && step(&f[i]);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(campaign_ended(f[i].campaign, &e), STATUS_OK);
        assert_as_in_memory(systems[i], campaign_finish(f[i].campaign));
        fake_close(&f[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),    cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_confirm),   cmocka_unit_test(test_flaky),
        cmocka_unit_test(test_crash),     cmocka_unit_test(test_blast),
        cmocka_unit_test(test_suspect),   cmocka_unit_test(test_budget),
        cmocka_unit_test(test_interrupt), cmocka_unit_test(test_interleaved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
