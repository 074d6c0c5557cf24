/* SPDX-License-Identifier: Apache-2.0
 *
 * The steps of a campaign, on a system without sockets: a simulated one in memory carries its orders
 * out, and misbehaves as the test wants. What it was told to do is written down:
 *
 *   R a run begins   w one is waited for   h services are started again   H all of them
 *   r it is let be   d runs are given up   . nothing is left */
#include "base/file.h"
#include "campaign/campaign.h"
#include "campaign/explore.h"
#include "report/report.h"
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
    int64_t rested_ns; /* the last time */
    bool reversed;     /* runs end in the opposite order */

    /* how it misbehaves */
    const char *kills;      /* a fault, as text: a service dies of it */
    const char *breaks;     /* ... alone: all runs fail until all services are started again */
    const char *misses;     /* ... it never fires */
    const char *fails_once; /* ... it fails the first time */
    uint64_t signal_at;     /* after so many runs somebody wants to stop; 0: nobody */
    uint64_t stop_at;       /* ... says so to the campaign */
    bool watched;           /* somebody looks after every step */
    struct campaign_view view;
    struct judging judging;
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

static bool fake_usage(const struct live *f, uint32_t service, struct process_usage *out,
                       int64_t *process)
{
    (void)f, (void)service, (void)out, (void)process;
    return false;
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
                                .log_mark = fake_log_mark,
                                .usage = fake_usage};
}

static void fake_close(struct live *f)
{
    campaign_view_deinit(&f->view);
    campaign_free(f->campaign);
    judging_close(&f->judging);
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
    buf_addc(&f->log, order.kind == ORDER_HEAL && order.all ? 'H' : "Rwrhd.t"[order.kind]);
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
        if (f->stop_at && f->runs >= f->stop_at)
            campaign_stop(f->campaign);
        if (fake_signal(f) || (f->stop_at && f->runs >= f->stop_at))
            a.status = STATUS_INTERRUPTED;
        else
            take_one(f, &a);
        break;
    case ORDER_REST: f->rested_ns = order.rest_ns; break;
    case ORDER_TURN: break;
    }
    campaign_took(f->campaign, &a);
    return f->runs < RUNS_MAX;
}

static const struct summary *go_on(struct live *f)
{
    struct err e = {0};
    campaign_begin(f->campaign, &f->target);
    while (step(f))
        if (f->watched)
            campaign_look(f->campaign, &f->view);
    if (campaign_ended(f->campaign, &e) == STATUS_FAILED)
        fail_msg("%s", e.text);
    assert_int_equal(f->n_pending, 0);
    return campaign_finish(f->campaign);
}

static const struct summary *explore_fake(struct live *f)
{
    f->campaign = campaign_new(&f->options);
    return go_on(f);
}

/* Oracles look at its runs. */
static void judge_fake(struct live *f)
{
    struct err e = {0};
    assert_int_equal(judging_open(&f->judging, NULL, NULL, 0, &f->words, &e), 0);
    judging_wire_sim(&f->judging, f->lab.sim);
    f->options.judging = &f->judging;
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
    assert_int_equal(explore(&x, 1, NULL, &(struct summary *){&wanted}, &e), 0);
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

/* It is told to stop, at every step: as by a signal, and what is left can still be done. */
static void test_stop(void **state)
{
    (void)state;
    for (uint64_t at = 1;; at++) {
        struct live f;
        fake_open(&f, needs_a);
        f.stop_at = at;
        const struct summary *s = explore_fake(&f);
        assert_true(f.runs <= at);
        assert_true(f.runs < at || !s->stopped || strcmp(s->stopped, "interrupt") == 0);
        bool all = f.runs < at, learned = at >= 3;
        f.stop_at = 0;
        if (!all && learned)
            assert_as_in_memory(needs_a, go_on(&f));
        fake_close(&f);
        if (all)
            break;
    }
}

/* A budget that was used up is raised: it goes on as if there had been none. */
static void test_more_budget(void **state)
{
    (void)state;
    for (uint64_t runs = 1; runs < 6; runs++) {
        struct live f;
        fake_open(&f, content);
        f.options.max_runs = runs;
        uint32_t notes = explore_fake(&f)->notes.n;
        campaign_set_budget(f.campaign, runs + 1, 0);
        const struct summary *s = go_on(&f);
        assert_string_equal(s->stopped, "runs");
        assert_int_equal(s->runs, 1 + runs + 1);
        campaign_set_budget(f.campaign, 0, 0);
        assert_as_in_memory(content, go_on(&f));
        assert_int_equal(s->notes.n, notes);
        fake_close(&f);
    }
}

/* ---- looked at ---- */

static void print_campaign(struct live *f, struct buf *out)
{
    struct summary *s = campaign_summary(f->campaign);
    s->system = s->scenario = s->file = s->order = "fake";
    s->ids = "";
    s->took_ns = 0;
    report_json(s, out);
}

/* What came of two campaigns is the same to the last byte. */
static void assert_same_reports(struct buf text[2])
{
    assert_string_equal(buf_text(&text[0]), buf_text(&text[1]));
    buf_deinit(&text[0]);
    buf_deinit(&text[1]);
}

/* Explores a system that was opened, as the test has set it up, and tells what came of it. */
static void tell_and_close(struct live *f, bool watched, struct buf *out)
{
    judge_fake(f);
    f->watched = watched;
    explore_fake(f);
    print_campaign(f, out);
    fake_close(f);
}

/* Whoever looks after every step changes nothing. */
static void test_looked_at(void **state)
{
    static const struct {
        const char *system, *kills, *breaks, *fails_once, *misses;
    } rows[] = {{needs_a, NULL, NULL, NULL, NULL},
                {content, NULL, NULL, NULL, NULL},
                {content, "z GET / : 503", NULL, NULL, NULL},
                {content, NULL, "z GET / : 503", NULL, NULL},
                {content, NULL, NULL, "z GET / : 503", NULL},
                {content, NULL, NULL, NULL, "y GET / : reset"}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof rows / sizeof *rows; i++) {
        struct buf text[2] = {BUF_INIT(1 << 20), BUF_INIT(1 << 20)};
        for (int watched = 0; watched < 2; watched++) {
            struct live f;
            fake_open(&f, rows[i / 2].system);
            f.options.jobs = i % 2 ? 3 : 1;
            f.kills = rows[i / 2].kills;
            f.breaks = rows[i / 2].breaks;
            f.fails_once = rows[i / 2].fails_once;
            f.misses = rows[i / 2].misses;
            tell_and_close(&f, watched, &text[watched]);
        }
        assert_same_reports(text);
    }
}

/* The same of systems of which oracles have much to say, some of which is taken back at the end. */
static void test_corpus_looked_at(void **state)
{
    static const char *const systems[] = {"corpus/netflix",   "corpus/netflix-bugs",
                                          "corpus/cinema-8",  "corpus/expedia",
                                          "corpus/mailchimp", "shop/shop"};
    const char *top = getenv("TOP");
    (void)state;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        struct buf yaml = BUF_INIT(1 << 20), path = BUF_INIT(1 << 12);
        struct buf text[2] = {BUF_INIT(1 << 22), BUF_INIT(1 << 22)};
        buf_addf(&path, "%s/examples/%s.yaml", top ? top : ".", systems[i]);
        if (file_read(buf_text(&path), &yaml))
            fail_msg("%s cannot be read", buf_text(&path));
        for (int watched = 0; watched < 2; watched++) {
            struct live f;
            fake_open(&f, buf_text(&yaml));
            f.options.max_runs = 1200;
            tell_and_close(&f, watched, &text[watched]);
        }
        assert_same_reports(text);
        buf_deinit(&yaml);
        buf_deinit(&path);
    }
}

/* What is seen in the middle is what is known by then. */
static void test_look(void **state)
{
    struct live f;
    uint32_t findings = 0;
    uint64_t runs = 0;
    (void)state;
    fake_open(&f, needs_a);
    f.campaign = campaign_new(&f.options);
    campaign_begin(f.campaign, &f.target);
    while (step(&f)) {
        campaign_look(f.campaign, &f.view);
        const struct summary *s = &f.view.summary;
        assert_true(s->runs >= runs && s->findings.n >= findings);
        assert_non_null(s->stopped);
        runs = s->runs;
        findings = s->findings.n;
    }
    const struct summary *end = campaign_finish(f.campaign);
    assert_int_equal(runs, end->runs);
    assert_int_equal(findings, end->findings.n);
    assert_int_equal(f.view.summary.findings.at[0].state, FINDING_CONFIRMED);
    assert_null(end->stopped);
    fake_close(&f);
}

/* An oracle is turned off: what it said is gone from the report, and back when it is on again. */
static void test_oracle_off(void **state)
{
    struct live f;
    (void)state;
    fake_open(&f, content);
    judge_fake(&f);
    f.breaks = "z GET / : 503";
    f.config.search.check_every = 1;
    const struct summary *s = explore_fake(&f);
    enum severity *severity = &f.judging.settings.severity[ORACLE_BLAST_RADIUS];
    enum severity was = *severity;
    assert_int_equal(s->findings.n, 1);
    *severity = SEVERITY_OFF;
    campaign_judge_again(f.campaign);
    assert_int_equal(s->findings.n, 0);
    *severity = was;
    campaign_judge_again(f.campaign);
    assert_int_equal(s->findings.n, 1);
    fake_close(&f);
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

/* A system that is slow, or waits before it tries again, may also do so after its answer: before a
 * campaign ends, it is waited for the longer. */
static void test_slow_end(void **state)
{
#define SLOW(handler)                                                                              \
    "system: slow\nmodes: [500]\nservices:\n  front: { GET /: " handler " }\n  a: { GET /: }\n"    \
    "scenarios: { s: { request: front GET /, expect: [ { then: status == 200 } ] } }\n"
    static const char *const systems[] = {
        content,
        SLOW("[ { sleep: 300ms }, { call: a GET /, as: a } ]"),
        SLOW(
            "[ { call: a GET /, as: a }, { if: a.failed, then: [ { sleep: 300ms }, { call: a GET / } ] } ]"),
    };
    int64_t rested_ns[3];
    struct live f;
    (void)state;
    for (int i = 0; i < 3; i++) {
        fake_open(&f, systems[i]);
        (void)explore_fake(&f);
        rested_ns[i] = f.rested_ns;
        fake_close(&f);
    }
    assert_in_range(rested_ns[0], 100000000, 200000000);
    assert_in_range(rested_ns[1], 1500000000, 2500000000);
    assert_in_range(rested_ns[2], 1500000000, 2500000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),     cmocka_unit_test(test_jobs),
        cmocka_unit_test(test_confirm),    cmocka_unit_test(test_flaky),
        cmocka_unit_test(test_crash),      cmocka_unit_test(test_blast),
        cmocka_unit_test(test_suspect),    cmocka_unit_test(test_budget),
        cmocka_unit_test(test_interrupt),  cmocka_unit_test(test_interleaved),
        cmocka_unit_test(test_stop),       cmocka_unit_test(test_more_budget),
        cmocka_unit_test(test_looked_at),  cmocka_unit_test(test_look),
        cmocka_unit_test(test_oracle_off), cmocka_unit_test(test_corpus_looked_at),
        cmocka_unit_test(test_slow_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
