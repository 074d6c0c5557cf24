/* SPDX-License-Identifier: Apache-2.0
 *
 * Two scenarios of one live system whose runs take turns in one process: each comes to what it comes
 * to alone, and its events, told as text, to its summary. Somebody steers them: pauses, stops, and has
 * something replayed in between. The system is simulated, and served. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/index.h"
#include "campaign/campaign_int.h"
#include "campaign/steer.h"
#include "config/config.h"
#include "data/yaml.h"
#include "live/live_int.h"
#include "support/unit.h"

/* The scenarios share services, of which one learns that payloads tell calls apart, and the other
 * meets failures. */
static const char system_text[] =
    "system: pair\nmodes: [500, 503]\nservices:\n"
    "  front:\n"
    "    GET /buy:\n"
    "      - call: stock GET /item\n        on: { failed: { reply: 500 } }\n"
    "      - call: pay POST /charge\n        as: p\n"
    "      - if: p.failed\n        then: { call: pay POST /charge }\n"
    "    GET /look:\n"
    "      - call: stock GET /item\n        as: s\n"
    "      - call: hints GET /hints\n        as: h\n"
    "      - if: s.failed\n        then: { call: hints GET /other }\n"
    "  stock: { GET /item: }\n  pay: { POST /charge: }\n"
    "  hints: { GET /hints: , GET /other: }\n"
    "scenarios:\n"
    "  buy:\n    request: front GET /buy\n"
    "    expect: [ { then: status == 200, say: buying works } ]\n"
    "  look:\n    request: front GET /look\n"
    "    expect: [ { then: status == 200, say: looking works } ]\n";

struct bench {
    char dir[64];
    struct arena arena;
    struct names names;
    struct faultloads faultloads;
    struct campaign_config *config;
    struct sim *sim;
    struct rewrite *rules;
    struct vocabulary words;
    struct intern sentences;
    struct live *live;
};

static void write_file(const char *path, const char *text)
{
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

/* The program that belongs to this test: it serves the system. */
static const char *program(struct arena *a)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self);
    assert_true(n > 0);
    slice dir = {self, (size_t)n};
    struct buf path = BUF_INIT(PATH_MAX);
    for (int up = 0; up < 3; up++) { /* build/VARIANT/tests/test_interleaved */
        while (dir.p[--dir.n] != '/')
            ;
        buf_clear(&path);
        buf_addf(&path, "%.*s/outfox", SLICE_ARG(dir));
        if (up && access(buf_text(&path), X_OK) == 0)
            break;
    }
    const char *found = arena_copy(a, buf_text(&path), path.n);
    buf_deinit(&path);
    return found;
}

static void bench_open(struct bench *b, uint32_t slots)
{
    const struct node *root;
    struct err e = {0};
    struct buf path = BUF_INIT(PATH_MAX);
    *b = (struct bench){.dir = "outfox-test-XXXXXX"};
    assert_non_null(mkdtemp(b->dir));
    names_init(&b->names);
    faultloads_init(&b->faultloads);
    buf_addf(&path, "%s/pair.yaml", b->dir);
    write_file(buf_text(&path), system_text);
    buf_clear(&path);
    buf_addf(&path, "%s/outfox.yaml", b->dir);
    write_file(buf_text(&path), "version: 1\nsimulate: pair.yaml\n");
    if (campaign_config_load(buf_text(&path), &b->config, &e) ||
        yaml_load(b->config->simulate.p, &b->arena, &root, &e) ||
        sim_load(root, &b->names, &b->sim, &e) ||
        sim_adopt(b->config, b->sim, program(&b->arena), &e))
        fail_msg("%s", e.text);
    b->rules = config_rules(b->config);
    b->words = config_vocabulary(b->config, &b->names, b->rules, &b->arena);
    struct live_options o = {.names = &b->names,
                             .words = &b->words,
                             .sentences = &b->sentences,
                             .sim = b->sim,
                             .slots = slots,
                             .seed = 7,
                             .program = program(&b->arena)};
    if (live_open(b->config, &o, &b->live, &e))
        fail_msg("%s", e.text);
    buf_deinit(&path);
}

static void bench_close(struct bench *b)
{
    static const char *const files[] = {"pair.yaml", "outfox.yaml"};
    live_close(b->live);
    rewrite_free(b->rules);
    sim_free(b->sim);
    campaign_config_free(b->config);
    intern_deinit(&b->sentences);
    faultloads_deinit(&b->faultloads);
    names_deinit(&b->names);
    arena_deinit(&b->arena);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct buf path = BUF_INIT(PATH_MAX);
        buf_addf(&path, "%s/%s", b->dir, files[i]);
        unlink(buf_text(&path));
        buf_deinit(&path);
    }
    rmdir(b->dir);
}

/* A campaign, with what its events come to. */
struct told {
    struct bench *bench;
    struct campaign *campaign;
    struct arena arena;
    struct summary summary;
    uint64_t changes; /* how often a run of the other scenario came between */
    struct helm *helm;
};

/* Somebody who steers. */
struct helm {
    struct steer steer;
    struct timer timer;
    struct bench *bench;
    struct told *replayer;
    struct replay replay;
    uint64_t runs; /* that have begun */
    char what;     /* is done when so many have: 'p' pause, 's' stop, 'r' replay, 'b' both */
    uint64_t at;
    uint64_t runs_then;    /* when it was paused, replayed or stopped */
    uint64_t searched;     /* runs of the search that have begun since it was stopped */
    bool still;            /* no run was under way when a pause was last looked at */
    uint64_t runs_at_once; /* that have begun by its end */
    uint32_t replayed;
    enum status status;
};

static void helm_take(struct helm *h, const struct event *event);

static uint32_t last_scenario;

static void take(void *ctx, const struct event *event)
{
    struct told *t = ctx;
    struct buf line = BUF_INIT(1 << 20);
    struct event read;
    struct err e = {0};
    uint32_t scenario = t->campaign->opt.scenario;
    t->changes += event->type == EVENT_RUN_BEGINS && last_scenario != scenario;
    last_scenario = event->type == EVENT_RUN_BEGINS ? scenario : last_scenario;
    if (t->helm)
        helm_take(t->helm, event);
    event_print(event, &t->bench->names, &t->bench->faultloads, &line);
    slice kept = slice_copy(&t->arena, buf_slice(&line));
    if (event_parse(kept, &t->bench->names, &t->bench->faultloads, &t->arena, &read, &e))
        fail_msg("%s: %s", buf_text(&line), e.text);
    summary_event(&t->summary, &read, &t->arena);
    buf_deinit(&line);
}

static void told_open(struct told *t, struct bench *b, uint32_t scenario, uint32_t jobs)
{
    *t = (struct told){.bench = b};
    struct campaign_options o = {
        .config = b->config,
        .scenario = scenario,
        .names = &b->names,
        .words = &b->words,
        .faultloads = &b->faultloads,
        .search = {.modes = b->config->modes.at, .n_modes = b->config->modes.n},
        .jobs = jobs,
        .sink = {t, take}};
    t->campaign = campaign_new(&o);
}

static void told_close(struct told *t)
{
    campaign_free(t->campaign);
    summary_deinit(&t->summary);
    arena_deinit(&t->arena);
}

static void assert_same(const struct summary *a, const struct summary *b)
{
    assert_int_equal(a->runs, b->runs);
    assert_int_equal(a->repeats, b->repeats);
    assert_int_equal(a->points, b->points);
    assert_int_equal(a->conditional, b->conditional);
    assert_int_equal(a->transcripts, b->transcripts);
    assert_int_equal(a->failed_runs, b->failed_runs);
    assert_int_equal(a->all_suspects, b->all_suspects);
    assert_int_equal(a->levels.n, b->levels.n);
    assert_int_equal(summary_conclusion(a), summary_conclusion(b));
    assert_int_equal(a->findings.n, b->findings.n);
    for (uint32_t i = 0; i < a->findings.n; i++) {
        assert_string_equal(a->findings.at[i].why, b->findings.at[i].why);
        assert_int_equal(a->findings.at[i].state, b->findings.at[i].state);
        assert_int_equal(a->findings.at[i].runs, b->findings.at[i].runs);
    }
}

/* ---- somebody who steers ---- */

static const char failing[] = "stock GET /item : 500";
static const int64_t PAUSE_NS = MS(250);

static void on_replayed(void *ctx, struct campaign *c, enum status status, const struct err *why)
{
    struct helm *h = ctx;
    assert_ptr_equal(c, h->replayer->campaign);
    if (status == STATUS_FAILED)
        fail_msg("%s", why->text);
    assert_null(h->steer.replay);
    h->status = status;
    h->replayed++;
    h->runs_at_once = h->runs;
    h->steer.stay = false;
}

static void begin_replay(struct helm *h)
{
    static const char *const patterns[] = {failing};
    static struct target target; /* stays until it is done */
    target = drive_target(h->bench->live);
    h->replay = (struct replay){.mend = true};
    campaign_replay(h->replayer->campaign, &target, FAULTLOAD_EMPTY, patterns, 1, &h->replay);
    h->steer.replay = h->replayer->campaign;
    h->runs_then = h->runs;
}

/* Clocks stand still from the end of the runs under way: only a pause from then on can be measured. */
static void on_resume(struct timer *t)
{
    struct helm *h = OWNER(t, struct helm, timer);
    bool was_still = h->still;
    h->still = live_running(h->bench->live) == 0;
    if (h->what == 'p' && !was_still) {
        timer_start(h->bench->live->loop, t, clock_ns() + PAUSE_NS);
        return;
    }
    h->runs_at_once = h->runs;
    h->steer.paused = false;
    steer_poke(&h->steer);
}

/* From within the loop, as a request is answered. */
static void on_helm(struct timer *t)
{
    struct helm *h = OWNER(t, struct helm, timer);
    h->runs_then = h->runs;
    if (h->what == 'p' || h->what == 'b') {
        h->steer.paused = true;
        h->timer.fire = on_resume;
        timer_start(h->bench->live->loop, &h->timer, clock_ns() + PAUSE_NS);
    }
    if (h->what == 'r' || h->what == 'b')
        begin_replay(h);
    h->steer.stop = h->what == 's';
    steer_poke(&h->steer);
}

static void helm_take(struct helm *h, const struct event *event)
{
    h->runs += event->type == EVENT_RUN_BEGINS;
    h->searched += event->type == EVENT_RUN_BEGINS && h->steer.stop && event->purpose == RUN_SEARCH;
    if (event->type != EVENT_RUN_BEGINS || h->runs != h->at)
        return;
    h->timer.fire = on_helm;
    timer_start(h->bench->live->loop, &h->timer, clock_ns());
}

static void helm_open(struct helm *h, struct bench *b, char what, uint64_t at,
                      struct told *replayer)
{
    *h = (struct helm){.bench = b, .what = what, .at = at, .replayer = replayer};
    h->steer = (struct steer){.replayed = on_replayed, .ctx = h};
    told_open(replayer, b, 0, 1);
}

static void helm_close(struct helm *h)
{
    timer_stop(h->bench->live->loop, &h->timer);
    vec_deinit(&h->replay.before.trace.calls);
    vec_deinit(&h->replay.faulty.trace.calls);
    vec_deinit(&h->replay.after.trace.calls);
    told_close(h->replayer);
}

static void explore_steered(struct bench *b, struct told *t, struct helm *h)
{
    struct target target = drive_target(b->live);
    struct err e = {0};
    t->helm = h;
    campaign_begin(t->campaign, &target);
    if (drive(b->live, &t->campaign, 1, &h->steer, &e))
        fail_msg("%s", e.text);
    (void)campaign_finish(t->campaign);
}

static void assert_replayed(const struct helm *h)
{
    assert_int_equal(h->replayed, 1);
    assert_int_equal(h->status, STATUS_OK);
    assert_true(h->replay.before.verdict.pass);
    assert_false(h->replay.faulty.verdict.pass);
    assert_true(h->replay.after.verdict.pass);
    assert_int_equal(h->replay.unfired, 0);
}

/* Whatever is asked for, at whatever moment: the campaign comes to what it comes to alone. */
static void hold_steered(char what, uint32_t jobs)
{
    struct bench b;
    struct told alone;
    bench_open(&b, jobs);
    told_open(&alone, &b, 0, jobs);
    struct target target = drive_target(b.live);
    struct err e = {0};
    campaign_begin(alone.campaign, &target);
    assert_int_equal(drive(b.live, &alone.campaign, 1, NULL, &e), STATUS_OK);
    for (uint64_t at = 1; at < 12; at += 5) {
        struct told t, replayer;
        struct helm h;
        told_open(&t, &b, 0, jobs);
        helm_open(&h, &b, what, at, &replayer);
        int64_t begun = clock_ns();
        explore_steered(&b, &t, &h);
        assert_true(h.runs > at);
        assert_same(campaign_finish(t.campaign), campaign_finish(alone.campaign));
        if (what == 'p') {
            assert_int_equal(h.runs_at_once, h.runs_then);
            int64_t took = clock_ns() - begun, counted = campaign_summary(t.campaign)->took_ns;
            assert_true(took >= PAUSE_NS && took - counted > PAUSE_NS / 2);
        }
        if (what != 'p')
            assert_replayed(&h);
        helm_close(&h);
        told_close(&t);
    }
    told_close(&alone);
    bench_close(&b);
}

static void test_paused(void **state)
{
    (void)state;
    hold_steered('p', 1);
    hold_steered('p', 3);
}

static void test_replayed(void **state)
{
    (void)state;
    hold_steered('r', 1);
    hold_steered('r', 3);
}

static void test_replayed_while_paused(void **state)
{
    (void)state;
    hold_steered('b', 1);
}

/* It ends, and says by what; what is left is done when it is begun again. */
static void test_stopped(void **state)
{
    struct bench b;
    (void)state;
    bench_open(&b, 2);
    for (uint64_t at = 1; at < 12; at += 5) {
        struct told t, replayer;
        struct helm h;
        told_open(&t, &b, 0, 2);
        helm_open(&h, &b, 's', at, &replayer);
        explore_steered(&b, &t, &h);
        assert_string_equal(campaign_finish(t.campaign)->stopped, "interrupt");
        assert_true(h.searched <= 2); /* ordered before; a failure may want a look more */
        assert_true(h.runs <= h.runs_then + 2 + 2);
        assert_int_equal(live_running(b.live), 0);
        if (at > 3) {
            h.steer.stop = false;
            explore_steered(&b, &t, &h);
            assert_null(campaign_finish(t.campaign)->stopped);
            assert_true(campaign_complete(t.campaign));
        }
        helm_close(&h);
        told_close(&t);
    }
    bench_close(&b);
}

/* Nothing is left to be explored, but somebody wants to see something again. */
static void test_stays(void **state)
{
    struct bench b;
    struct helm h;
    struct told replayer;
    struct err e = {0};
    (void)state;
    bench_open(&b, 1);
    helm_open(&h, &b, 'r', 0, &replayer);
    h.steer.stay = true;
    h.timer.fire = on_helm;
    timer_start(b.live->loop, &h.timer, clock_ns() + MS(50));
    assert_int_equal(drive(b.live, NULL, 0, &h.steer, &e), STATUS_OK);
    assert_replayed(&h);
    helm_close(&h);
    bench_close(&b);
}

/* ---- in turns ---- */

static void explore(struct bench *b, struct told *told, uint32_t n)
{
    struct target target = drive_target(b->live);
    struct campaign *list[2];
    struct err e = {0};
    for (uint32_t i = 0; i < n; i++) {
        list[i] = told[i].campaign;
        campaign_begin(list[i], &target);
    }
    if (drive(b->live, list, n, NULL, &e))
        fail_msg("%s", e.text);
    for (uint32_t i = 0; i < n; i++) {
        struct event_sink sink = {&told[i], take};
        summary_tell(campaign_finish(list[i]), &sink);
        assert_same(&told[i].summary, campaign_finish(list[i]));
    }
}

static void hold_together(uint32_t jobs)
{
    struct bench b;
    struct told alone[2], both[2];
    bench_open(&b, jobs);
    for (uint32_t i = 0; i < 2; i++) {
        told_open(&alone[i], &b, i, jobs);
        told_open(&both[i], &b, i, jobs);
        explore(&b, &alone[i], 1);
    }
    explore(&b, both, 2);
    for (uint32_t i = 0; i < 2; i++) {
        assert_true(both[i].changes > 5);
        assert_same(campaign_finish(both[i].campaign), campaign_finish(alone[i].campaign));
        told_close(&alone[i]);
        told_close(&both[i]);
    }
    bench_close(&b);
}

static void test_one_job(void **state)
{
    (void)state;
    hold_together(1);
}

static void test_several_jobs(void **state)
{
    (void)state;
    hold_together(4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_job),
        cmocka_unit_test(test_several_jobs),
        cmocka_unit_test(test_paused),
        cmocka_unit_test(test_replayed),
        cmocka_unit_test(test_replayed_while_paused),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
