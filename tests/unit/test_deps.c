/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * Dependencies: the exact matrix of systems that are known, and on random systems what is said
 * against what happens when a call is made to fail for good. */
#include "judge/judge.h"

#include <stdio.h>
#include <stdlib.h>

#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

/* ---- a system, explored under a judge ---- */

struct study {
    struct lab lab;
    struct judge_settings settings;
    struct judge *judge;
    struct deps deps;
    struct arena text;
    bool complete;
};

static void study_explore(struct study *s, const struct search_options *options, uint64_t max_runs)
{
    struct judge_options with = {
        .names = &s->lab.names, .faultloads = &s->lab.fl, .settings = &s->settings};
    struct search *search = search_new(&s->lab.names, &s->lab.fl, options);
    faultload f;
    uint64_t n = 0;
    judge_settings_init(&s->settings);
    s->judge = judge_new(&with);
    for (; (!max_runs || n < max_runs) && search_next(search, &f); n++) {
        lab_run(&s->lab, f);
        search_observe(search, f, &s->lab.trace, &s->lab.verdict);
        struct run run = {.number = n + 1,
                          .purpose = RUN_SEARCH,
                          .faultload = f,
                          .trace = s->lab.trace,
                          .verdict = s->lab.verdict};
        judge_run(s->judge, &run);
    }
    s->complete = !max_runs || n < max_runs;
    deps_build(s->judge, &s->deps);
    search_free(search);
}

static void study_deinit(struct study *s)
{
    deps_deinit(&s->deps);
    judge_free(s->judge);
    judge_settings_deinit(&s->settings);
    lab_deinit(&s->lab);
    arena_deinit(&s->text);
}

/* ---- what is said, in few words ---- */

static void add_call(const struct study *s, uid u, struct buf *out)
{
    const struct names *names = &s->lab.names;
    buf_add(out, names_text(names, uid_element(names, uid_parent(names, u))->service));
    buf_adds(out, " > ");
    buf_add(out, names_text(names, uid_element(names, u)->service));
}

static void add_interface(const struct study *s, uid u, struct buf *out)
{
    buf_addc(out, ' ');
    buf_add(out, names_text(&s->lab.names, uid_element(&s->lab.names, u)->interface));
}

static void add_way(const struct study *s, const struct dep_way *way, struct buf *out)
{
    if (way->fails) {
        buf_adds(out, way->lasting ? "fails" : "fails-once");
        return;
    }
    buf_adds(out, dep_by_names[way->by]);
    if (way->by == DEP_BY_OTHER) {
        buf_addc(out, ':');
        buf_add(out, names_text(&s->lab.names, uid_element(&s->lab.names, way->instead)->service));
    }
    if (way->at != UID_NONE) {
        buf_addc(out, '@');
        buf_add(out, names_text(&s->lab.names, uid_element(&s->lab.names, way->at)->service));
    }
    if (!way->lasting)
        buf_adds(out, "-once");
}

/* How all failures are met, where they are met alike; else each. */
static void add_ways(const struct study *s, const struct dep *d, struct buf *out)
{
    struct buf first = BUF_INIT(200), each = BUF_INIT(2000);
    bool alike = true;
    for (uint32_t i = 0; i < d->ways.n; i++) {
        struct buf one = BUF_INIT(200);
        add_way(s, &d->ways.at[i], &one);
        if (i == 0)
            buf_add(&first, buf_slice(&one));
        alike &= slice_eq(buf_slice(&first), buf_slice(&one));
        buf_addc(&each, ' ');
        label_print(d->ways.at[i].label, &each);
        buf_addf(&each, "=%s", buf_text(&one));
        buf_deinit(&one);
    }
    if (alike && first.n)
        buf_addf(out, " %s", buf_text(&first));
    else
        buf_add(out, buf_slice(&each));
    buf_deinit(&first);
    buf_deinit(&each);
}

static const char *study_text(struct study *s)
{
    struct buf out = BUF_INIT(1 << 16);
    for (uint32_t i = 0; i < s->deps.rows.n; i++) {
        const struct dep *d = &s->deps.rows.at[i];
        buf_addf(&out, "%s ", dep_kind_names[d->kind]);
        add_call(s, d->call, &out);
        buf_addc(&out, ':');
        add_ways(s, d, &out);
        if (d->retried)
            buf_adds(&out, " retried");
        if (d->after_fault)
            buf_addf(&out, " after-%u", (unsigned)faultload_size(&s->lab.fl, d->after));
        if (d->too_late)
            buf_adds(&out, " late");
        buf_addc(&out, '\n');
    }
    for (uint32_t i = 0; i < s->deps.pairs.n; i++) {
        buf_adds(&out, "pair ");
        add_call(s, s->deps.pairs.at[i].a, &out);
        buf_adds(&out, " & ");
        add_call(s, s->deps.pairs.at[i].b, &out);
        buf_adds(&out, " = ");
        outcome_print(s->deps.pairs.at[i].status, &out);
        buf_addc(&out, '\n');
    }
    for (uint32_t i = 0; i < s->deps.redundant.n; i++) {
        const struct dep_twice *x = &s->deps.redundant.at[i];
        buf_addf(&out, "redundant %u%s", (unsigned)x->times, x->one_handler ? " here" : "");
        add_interface(s, x->call, &out);
        buf_addc(&out, '\n');
    }
    const char *text = arena_copy(&s->text, buf_text(&out), out.n);
    buf_deinit(&out);
    return text;
}

/* ---- the corpus ---- */

static const struct {
    const char *file, *says;
} corpus[] = {
    {"cinema-1", "hard users > bookings: fails\n"
                 "hard users > movies: fails\n"},
    {"cinema-2", "hard users > bookings: fails\n"
                 "hard bookings > movies: fails\n"},
    {"cinema-3", "hard users > bookings: fails retried\n"
                 "hard bookings > movies: fails retried\n"},
    {"cinema-4", "hard users > bookings: fails\n"
                 "hard bookings > movies: fails\n"},
    {"cinema-5", "soft users > bookings: value@users\n"
                 "soft users > movies: value@users\n"},
    {"cinema-6", "hard users > movies: fails\n"
                 "soft users > bookings-primary: other:bookings-secondary@users\n"
                 "conditional users > bookings-secondary: fails after-1\n"
                 "pair users > bookings-primary & users > bookings-secondary = 503\n"},
    {"cinema-7", "hard users > bookings-primary: fails\n"
                 "hard users > movies: fails\n"
                 "soft users > bookings-primary: other:bookings-secondary@users\n"
                 "conditional users > bookings-secondary: fails after-1\n"
                 "pair users > bookings-primary & users > bookings-secondary = 503\n"},
    {"cinema-8", "hard api-server > monolith: fails retried\n"},
    {"expedia", "soft api-gateway > review-ml: other:review-time@api-gateway\n"
                "conditional api-gateway > review-time: fails after-1\n"
                "pair api-gateway > review-ml & api-gateway > review-time = 503\n"},
    {"audible", "hard audible-app > content-delivery-engine: fails\n"
                "hard audible-app > content-delivery-service: fails\n"
                "hard content-delivery-service > audible-download-service: fails\n"
                "hard audible-download-service > ownership: fails\n"
                "hard audible-download-service > activation: fails\n"
                "hard content-delivery-service > asset-metadata: fails\n"
                "hard content-delivery-service > audio-assets: fails\n"
                "soft audible-download-service > stats: value@audible-download-service\n"},
    {"mailchimp",
     "conditional load-balancer > app-server: 500=value@load-balancer 502=fails 503=fails "
     "504=fails\n"
     "soft app-server > requestmapper: value@load-balancer\n"
     "soft app-server > db-primary: other:db-secondary@app-server\n"
     "soft app-server > db-primary: value@app-server\n"
     "conditional app-server > db-secondary: value@load-balancer after-1\n"
     "conditional app-server > db-secondary: value@app-server after-1\n"},
    {"netflix",
     "hard mobile-client > api-gateway: fails\n"
     "hard api-gateway > user-profile: fails\n"
     "hard api-gateway > my-list: fails\n"
     "hard api-gateway > ratings: fails\n"
     "soft api-gateway > bookmarks: other:trending@api-gateway\n"
     "soft api-gateway > user-recommendations: other:global-recommendations@api-gateway\n"
     "conditional api-gateway > telemetry: value@api-gateway after-1\n"
     "conditional api-gateway > trending: fails after-1\n"
     "conditional api-gateway > global-recommendations: other:trending@api-gateway "
     "after-1\n"
     "pair api-gateway > bookmarks & api-gateway > trending = 503\n"},
};

static void load_corpus(struct study *s, const char *name)
{
    struct buf path = BUF_INIT(4096);
    struct err e = {0};
    const char *top = getenv("TOP");
    buf_addf(&path, "%s/examples/corpus/%s.yaml", top ? top : ".", name);
    *s = (struct study){0};
    if (lab_init_file(&s->lab, buf_text(&path), &e))
        fail_msg("%s: %s", name, e.text);
    buf_deinit(&path);
}

static void load_text(struct study *s, const char *yaml)
{
    struct err e = {0};
    *s = (struct study){0};
    if (lab_init_text(&s->lab, yaml, &e))
        fail_msg("%u:%u: %s", (unsigned)e.line, (unsigned)e.col, e.text);
}

static void assert_says(struct study *s, const char *what, const char *says)
{
    const char *text = study_text(s);
    if (strcmp(text, says) != 0)
        fail_msg("%s says:\n%s\nand not:\n%s", what, text, says);
}

static void test_corpus(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof corpus / sizeof *corpus; i++) {
        struct study s;
        load_corpus(&s, corpus[i].file);
        struct search_options options = lab_options(&s.lab);
        study_explore(&s, &options, 0);
        assert_says(&s, corpus[i].file, corpus[i].says);
        study_deinit(&s);
    }
}

/* ---- what is not known ---- */

static void test_budget(void **state)
{
    (void)state;
    struct study s;
    load_corpus(&s, "audible");
    struct search_options options = lab_options(&s.lab);
    study_explore(&s, &options, 1);
    assert_int_equal(deps_count(&s.deps, DEP_UNKNOWN), 8);
    assert_int_equal(s.deps.labels.n, 0);
    study_deinit(&s);
    load_corpus(&s, "audible");
    options = lab_options(&s.lab);
    study_explore(&s, &options, 0);
    assert_int_equal(deps_count(&s.deps, DEP_UNKNOWN), 0);
    assert_int_equal(s.deps.labels.n, 4);
    study_deinit(&s);
    struct deps none;
    struct judge_settings settings;
    judge_settings_init(&settings);
    struct judge_options with = {.settings = &settings};
    struct judge *j = judge_new(&with);
    deps_build(j, &none); /* no run at all */
    assert_int_equal(none.rows.n, 0);
    deps_deinit(&none);
    judge_free(j);
    judge_settings_deinit(&settings);
}

/* With one fault at a time no failure lasts where there is a retry. */
static void test_passing(void **state)
{
    (void)state;
    struct study s;
    load_corpus(&s, "cinema-8");
    struct search_options options = lab_options(&s.lab);
    options.assume = 1u << REDUCE_MAX_FAULTS;
    options.max_faults = 1;
    study_explore(&s, &options, 0);
    assert_says(&s, "cinema-8", "soft api-server > monolith: retry@api-server-once retried\n");
    study_deinit(&s);
}

/* ---- small systems ---- */

#define HEAD       "system: s\nservices:\n"
#define TAIL       "scenarios: { go: { request: a GET / } }\n"
#define LEAF(name) "  " name ": { GET /: { reply: 200 }, GET /x: { reply: 200 } }\n"

static const struct {
    const char *name, *yaml, *says;
} systems[] = {
    {"two that are absorbed one at a time",
     HEAD "  a:\n    GET /:\n"
          "      - { call: b GET /, as: b }\n"
          "      - { call: c GET /, as: c }\n"
          "      - { if: b.failed and c.failed, then: { reply: 503 } }\n"
          "      - { reply: 200 }\n" LEAF("b") LEAF("c") "modes: [500]\n" TAIL,
     "soft a > b: value@a\n"
     "soft a > c: value@a\n"
     "pair a > b & a > c = 503\n"},
    {"a hard one is in no pair",
     HEAD "  a:\n    GET /:\n"
          "      - { call: b GET /, as: b }\n"
          "      - { call: c GET /, on: { failed: { reply: 503 } } }\n"
          "      - { reply: 200 }\n" LEAF("b") LEAF("c") "modes: [500]\n" TAIL,
     "hard a > c: fails\n"
     "soft a > b: value@a\n"},
    {"a chain of three",
     HEAD "  a:\n    GET /:\n"
          "      - call: b GET /\n"
          "        on:\n"
          "          failed:\n"
          "            - call: c GET /\n"
          "              on:\n"
          "                failed: { call: d GET /, on: { failed: { reply: 503 } } }\n"
          "      - { reply: 200 }\n" LEAF("b") LEAF("c") LEAF("d") "modes: [500]\n" TAIL,
     "soft a > b: other:c@a\n"
     "conditional a > c: other:d@a after-1\n"
     "conditional a > d: fails after-2\n"},
    {"a loop that needs one of its items",
     HEAD "  a:\n    GET /:\n"
          "      - set: { n: 0 }\n"
          "      - each: [1, 2]\n"
          "        as: i\n"
          "        do: { call: b GET /, on: { ok: { add: { n: 1 } } } }\n"
          "      - { if: n == 0, then: { reply: 503 } }\n"
          "      - { reply: 200 }\n" LEAF("b") "modes: [500]\n" TAIL,
     "hard a > b: fails\n"
     "redundant 2 here GET /\n"},
    {"a loop that needs none of them",
     HEAD "  a:\n    GET /:\n"
          "      - each: [1, 2]\n"
          "        as: i\n"
          "        do: { call: b GET / }\n"
          "      - { reply: 200 }\n" LEAF("b") "modes: [500]\n" TAIL,
     "soft a > b: value@a\n"
     "redundant 2 here GET /\n"},
    {"a delay that is waited for says nothing",
     HEAD "  a:\n    GET /:\n"
          "      - { call: b GET /, timeout: 10s, on: { failed: { reply: 503 } } }\n"
          "      - { call: c GET /, timeout: 10s }\n"
          "      - { reply: 200 }\n" LEAF("b") LEAF("c") "modes: [500, \"delay:1s\"]\n" TAIL,
     "hard a > b: 500=fails delay:1s=nothing\n"
     "soft a > c: 500=value@a delay:1s=nothing\n"},
    {"only a delay: it never failed",
     HEAD "  a:\n    GET /:\n"
          "      - { call: b GET /, timeout: 10s, on: { failed: { reply: 503 } } }\n"
          "      - { reply: 200 }\n" LEAF("b") "modes: [\"delay:1s\"]\n" TAIL,
     "unknown a > b: nothing\n"},
    {"only called when it is too late",
     HEAD "  a:\n    GET /:\n"
          "      - { call: b GET /, on: { failed: [ { call: c GET / }, { reply: 503 } ] } }\n"
          "      - { reply: 200 }\n" LEAF("b") LEAF("c") "modes: [500]\n" TAIL,
     "hard a > b: fails\n"
     "conditional a > c: after-1 late\n"},
    {"what logs the failure does not stand in for it",
     HEAD "  a:\n    GET /:\n"
          "      - { call: b GET /, on: { failed: { call: c POST /log } } }\n"
          "      - { reply: 200 }\n" LEAF("b") "  c: { POST /log: { reply: 200 } }\n"
                                               "modes: [500]\n" TAIL,
     "soft a > b: other:c@a\n"
     "conditional a > c: value@a after-1\n"},
    {"calls that are made twice",
     HEAD
     "  a:\n    GET /:\n"
     "      - { call: b GET /, on: { failed: { reply: 503 } } }\n"
     "      - { call: c GET /, on: { failed: { reply: 503 } } }\n"
     "      - { call: c GET /, on: { failed: { reply: 503 } } }\n"
     "      - { call: d GET /x/1, on: { failed: { reply: 503 } } }\n"
     "      - { call: d GET /x/2, on: { failed: { reply: 503 } } }\n"
     "      - { reply: 200 }\n"
     "  b: { GET /: [ { call: d GET /x/1, on: { failed: { reply: 503 } } }, { reply: 200 } ] }\n" LEAF(
         "c") "  d: { \"GET /x/{n}\": { reply: 200 } }\nmodes: [500]\n" TAIL,
     "hard a > b: fails\n"
     "hard b > d: fails\n"
     "hard a > c: fails\n"
     "hard a > d: fails\n"
     "redundant 2 GET /x/[id]\n"
     "redundant 2 here GET /\n"},
};

static void test_systems(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++) {
        struct study s;
        load_text(&s, systems[i].yaml);
        struct search_options options = lab_options(&s.lab);
        study_explore(&s, &options, 0);
        assert_says(&s, systems[i].name, systems[i].says);
        study_deinit(&s);
    }
}

/* ---- a test that makes requests of its own ---- */

static uint8_t exempt_first(const struct names *names, uid u)
{
    return uid_depth(names, u) == 2 ? CALL_EXEMPT : 0;
}

/* Its requests are no dependencies, and what it asks for twice is not made twice by a service. A
 * failure counts that fails it, whichever of its requests that is. */
static void test_client(void **state)
{
    (void)state;
    struct study s;
    load_text(&s, HEAD "  a:\n    GET /:\n"
                       "      - { call: b GET / }\n"
                       "      - { call: b GET /, on: { failed: { reply: 503 } } }\n"
                       "      - { reply: 200 }\n"
                       "  b: { GET /: [ { call: c GET /, on: { failed: { reply: 502 } } }, "
                       "{ call: d GET / }, { call: d GET / }, { reply: 200 } ] }\n" LEAF("c")
                           LEAF("d") "modes: [500, 503]\n" TAIL);
    s.lab.flags = exempt_first;
    struct search_options options = lab_options(&s.lab);
    study_explore(&s, &options, 0);
    assert_says(&s, "a test",
                "hard b > c: 500=fails 503=fails-once\n"
                "soft b > d: value@b-once\n"
                "redundant 2 here GET /\n"
                "redundant 2 here GET /\n");
    study_deinit(&s);
}

/* ---- random systems ---- */

enum { SYSTEMS = 400, RUNS_MAX = 4000 };

/* The same but for numbers, all the way up. */
static bool alike(const struct names *names, uid a, uid b)
{
    for (; a != UID_NONE && b != UID_NONE; a = uid_parent(names, a), b = uid_parent(names, b)) {
        const struct element *x = uid_element(names, a), *y = uid_element(names, b);
        if (x->service != y->service || x->interface != y->interface || x->payload != y->payload)
            return false;
    }
    return a == b;
}

/* f with a fault at every call to it that is made under f. */
static faultload fail_calls(struct lab *lab, faultload f, uid call, mode m)
{
    uint32_t n = lab->trace.calls.n;
    for (uint32_t i = 1; i < n; i++) {
        uid u = lab->trace.calls.at[i].uid;
        if (alike(&lab->names, u, call) && !faultload_at(&lab->fl, f, u))
            f = faultload_extend(&lab->fl, f, (struct fault){u, m});
    }
    return f;
}

/* The mode that gives this label; MODE_NONE: none does. */
static mode mode_of(const struct lab *lab, label l)
{
    const struct mode_list *modes = &lab->sim->modes;
    for (uint32_t i = 0; i < modes->n; i++)
        if (mode_label(modes->at[i]) == l)
            return modes->at[i];
    return MODE_NONE;
}

/* Makes a call fail for good, and compares what the client gets. False: that was not tried. */
static bool check_way(struct study *s, const struct dep *d, const struct dep_way *way,
                      uint64_t seed)
{
    mode m = mode_of(&s->lab, way->label);
    faultload before, f = FAULTLOAD_EMPTY;
    if (m == MODE_NONE || !way->lasting)
        return false;
    do {
        before = f;
        lab_run(&s->lab, f);
        f = fail_calls(&s->lab, f, d->call, m);
    } while (f != before);
    bool fails = !outcome_ok(s->lab.verdict.status);
    if (fails != way->fails) {
        struct buf text = BUF_INIT(1 << 16);
        faultload_print(&s->lab.names, &s->lab.fl, f, &text);
        fail_msg("system %llu: the request %s under %s, and it is said to %s",
                 (unsigned long long)seed, fails ? "fails" : "does not fail", buf_text(&text),
                 way->fails ? "fail" : "be absorbed");
    }
    return true;
}

/* Does it succeed in the run without faults that was made last? */
static bool succeeds(const struct study *s, uid call)
{
    bool ok = true;
    for (uint32_t i = 1; i < s->lab.trace.calls.n; i++)
        if (alike(&s->lab.names, s->lab.trace.calls.at[i].uid, call))
            ok &= outcome_ok(s->lab.trace.calls.at[i].seen);
    return ok;
}

static uint32_t check_system(const struct node *system, uint64_t seed)
{
    struct study s = {0};
    struct err e = {0};
    uint32_t checked = 0;
    if (lab_init(&s.lab, system, &e))
        fail_msg("%s", e.text);
    struct search_options options = lab_options(&s.lab);
    study_explore(&s, &options, RUNS_MAX);
    lab_run(&s.lab, FAULTLOAD_EMPTY);
    bool right = outcome_ok(s.lab.verdict.status); /* else nothing can fail */
    for (uint32_t i = 0; i < s.deps.rows.n; i++) {
        const struct dep *d = &s.deps.rows.at[i];
        if (s.complete && !d->after_fault && d->ways.n == 0 && succeeds(&s, d->call))
            fail_msg("system %llu: a call never failed:\n%s", (unsigned long long)seed,
                     study_text(&s));
    }
    for (uint32_t i = 0; i < s.deps.rows.n && right; i++) {
        const struct dep *d = &s.deps.rows.at[i];
        for (uint32_t k = 0; k < d->ways.n && !d->after_fault; k++)
            checked += check_way(&s, d, &d->ways.at[k], seed);
    }
    study_deinit(&s);
    return checked;
}

static void test_random(void **state)
{
    (void)state;
    uint32_t checked = 0;
    for (uint64_t seed = 1; seed <= volume(SYSTEMS); seed++) {
        struct arena a = {0};
        checked += check_system(random_system(seed, &a), seed);
        arena_deinit(&a);
    }
    printf("%u failures of %u systems\n", (unsigned)checked, (unsigned)volume(SYSTEMS));
    assert_true(checked > 2 * volume(SYSTEMS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),  cmocka_unit_test(test_budget),
        cmocka_unit_test(test_passing), cmocka_unit_test(test_systems),
        cmocka_unit_test(test_client),  cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
