/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * Answers that come too late under some faultloads and in time under others. The search against
 * brute force, over random systems with latencies, pauses and timeouts: what it does not show, it
 * announces, and that is rare.
 *
 * One thing it cannot know: that a caller has a timeout which no run has reached (docs/search.md,
 * "Late answers"). What is missed for that reason alone is told apart, is rarer still, and is shown
 * once `hold` is among the modes. */

#include "base/hash.h"
#include "data/yaml.h"
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

enum { SYSTEMS = 5000 };
enum { BRUTE_MAX = 700 };

/* One system, explored and then run under every faultload. */
struct trial {
    struct lab lab;
    struct search *search;
    struct map explored;  /* facts */
    struct map steps;     /* every prefix of a transcript that the search has seen, */
    struct map left;      /* and every call that it has seen its caller leave */
    uint32_t missed;      /* facts that only brute force has shown */
    uint32_t unexplained; /* runs that show something new otherwise than by */
    VEC(uint64_t) hidden; /* steps by which a caller left a call that the search never saw left */
    bool late;            /* some answer came after its caller's timeout, under any faultload */
    uint64_t suspects;
    const char *wrong; /* what explain said that is not so */
};

/* Walks the last run in causal order. With `learn`, its steps are noted; else the walk ends at the
 * first that was not: its call, or CALL_NONE. */
static uint32_t walk(struct trial *t, uint32_t handler, bool learn, uint64_t *step)
{
    const struct lab *lab = &t->lab;
    uint64_t prefix = lab->trace.calls.at[handler].uid;
    for (uint32_t i = lab->order.first.at[handler]; i < lab->order.first.at[handler + 1]; i++) {
        uint32_t call = lab->order.child.at[i];
        const struct call *c = &lab->trace.calls.at[call];
        uint32_t below = c->handled ? walk(t, call, learn, step) : CALL_NONE;
        if (below != CALL_NONE)
            return below;
        *step = prefix = hash_mix(hash_mix(prefix, c->uid), call_label(c));
        if (!learn && !map_get(&t->steps, prefix))
            return call;
        if (learn)
            map_set(&t->steps, prefix, 1);
        if (learn && call_late(c))
            map_set(&t->left, c->uid, 1);
    }
    return CALL_NONE;
}

/* Does the last run show something new by a hidden timeout, and else nothing? */
static bool new_by_hidden(struct trial *t)
{
    uint64_t step;
    uint32_t call = walk(t, 0, false, &step);
    if (call == CALL_NONE)
        return false;
    const struct call *c = &t->lab.trace.calls.at[call];
    bool hidden = call_late(c) && !map_get(&t->left, c->uid);
    if (hidden)
        vec_push(&t->hidden, step);
    t->unexplained += !hidden;
    return hidden;
}

static void visit(void *ctx, faultload f, bool fired)
{
    struct trial *t = ctx;
    struct explanation why;
    for (uint32_t i = 1; i < t->lab.trace.calls.n; i++)
        t->late |= call_late(&t->lab.trace.calls.at[i]);
    if (!t->search || new_by_hidden(t))
        return;
    search_explain(t->search, f, &why);
    if (fired && why.kind == EXPLAIN_IMPOSSIBLE)
        t->wrong = "explain: a possible faultload is said to be impossible";
    if (fired && (why.kind == EXPLAIN_OPEN || why.kind == EXPLAIN_UNSEEN))
        t->wrong = "explain: a budget is blamed, and there was none";
    if (!fired && (why.kind == EXPLAIN_RUN || why.kind == EXPLAIN_REDUNDANT))
        t->wrong = "explain: an impossible faultload is said to show nothing new";
}

static struct search *explore(struct trial *t, const struct search_options *options)
{
    struct search *search = search_new(&t->lab.names, &t->lab.fl, options);
    faultload f;
    uint64_t step;
    for (uint32_t n = 0; n < 2 * BRUTE_MAX && search_next(search, &f); n++) {
        lab_run(&t->lab, f);
        walk(t, 0, true, &step);
        search_observe(search, f, &t->lab.trace, &t->lab.verdict);
    }
    return search;
}

/* Is all that was hidden shown when callers are made to wait, too? */
static bool hold_shows(struct trial *t, struct search_options options)
{
    struct mode_list modes = t->lab.sim->modes;
    modes.at[modes.n++] = mode_make(MODE_HOLD, 0);
    options.modes = modes.at;
    options.n_modes = modes.n;
    options.baselines = 1;
    search_free(explore(t, &options));
    for (uint32_t i = 0; i < t->hidden.n; i++)
        if (!map_get(&t->steps, t->hidden.at[i]))
            return false;
    return true;
}

/* False when the system is too large for brute force, or does not load. */
static bool trial_run(struct trial *t, const struct node *system, struct search_options options)
{
    struct err e = {0};
    uint32_t n;
    *t = (struct trial){0};
    if (lab_init(&t->lab, system, &e) || !lab_brute_force(&t->lab, BRUTE_MAX, visit, t)) {
        lab_deinit(&t->lab);
        return false;
    }
    map_deinit(&t->lab.facts);
    map_deinit(&t->lab.faultloads);
    options.modes = lab_options(&t->lab).modes;
    options.n_modes = lab_options(&t->lab).n_modes;
    options.baselines = 1;
    t->search = explore(t, &options);
    t->explored = t->lab.facts;
    t->lab.facts = (struct map){0};
    (void)search_suspects(t->search, &n, &t->suspects);
    assert_true(lab_brute_force(&t->lab, BRUTE_MAX, visit, t));
    for (uint32_t i = 0; i < t->lab.facts.items.n; i++)
        t->missed += !map_get(&t->explored, t->lab.facts.items.at[i].key);
    return true;
}

static void trial_end(struct trial *t)
{
    search_free(t->search);
    map_deinit(&t->explored);
    map_deinit(&t->steps);
    map_deinit(&t->left);
    vec_deinit(&t->hidden);
    lab_deinit(&t->lab);
}

static const char *judge(const struct trial *t)
{
    struct search_stats stats;
    search_stats(t->search, &stats);
    if (t->missed && !t->suspects && (t->unexplained || !t->hidden.n))
        return "the search missed something without a word";
    if (t->suspects && !t->late)
        return "something was suspect although no answer is ever late";
    if (!stats.complete)
        return "the search did not end";
    return t->wrong;
}

struct shrinking {
    struct search_options options;
};

static bool is_wrong(const struct node *system, void *ctx)
{
    struct trial t;
    if (!trial_run(&t, system, ((struct shrinking *)ctx)->options))
        return false;
    bool wrong = judge(&t) != NULL;
    trial_end(&t);
    return wrong;
}

static void fail_with(const struct node *system, struct arena *a, uint64_t seed, const char *wrong,
                      struct search_options options)
{
    struct shrinking s = {options};
    struct buf text = BUF_INIT(1 << 20);
    node_print(shrink_system(system, a, is_wrong, &s), &text);
    fail_msg("seed %llu: %s\nshrunken system: %s\n", (unsigned long long)seed, wrong,
             buf_text(&text));
}

/* Systems of which some have late answers; fewer than one in a hundred of these may be announced,
 * and hardly any may have a timeout that stays hidden. */
static void try_systems(uint32_t wanted, uint64_t seed, struct search_options options)
{
    uint32_t n = 0, late = 0, announced = 0, missed = 0, hidden = 0;
    for (; n < wanted; seed++) {
        struct arena a = {0};
        struct trial t;
        const struct node *system = random_timed_system(seed, &a);
        if (trial_run(&t, system, options)) {
            const char *wrong = judge(&t);
            n++;
            late += t.late;
            announced += t.suspects > 0;
            missed += t.missed > 0 && t.suspects;
            hidden += t.hidden.n > 0;
            if (!wrong && t.hidden.n && !hold_shows(&t, options))
                wrong = "a hidden timeout is not shown with `hold` either";
            trial_end(&t);
            if (wrong)
                fail_with(system, &a, seed, wrong, options);
        }
        arena_deinit(&a);
    }
    print_message("# %u systems, %u with late answers: %u announced, %u of them missed something; "
                  "%u with a hidden timeout\n",
                  n, late, announced, missed, hidden);
    assert_true(late * 5 > n); /* they are worth testing */
    assert_true(announced * 100 <= late);
    assert_true(hidden * 1000 <= n);
}

static void test_exact(void **state)
{
    (void)state;
    try_systems(volume(SYSTEMS), 0, (struct search_options){0});
}

static void test_orders(void **state)
{
    uint32_t n = volume(SYSTEMS / 8);
    (void)state;
    try_systems(n, 100000, (struct search_options){.order = 1});
    try_systems(n, 200000, (struct search_options){.order = 2, .seed = 7});
}

/* A search that is given its past runs again goes on as if it had never stopped. */
static void test_resume(void **state)
{
    (void)state;
    uint32_t late = 0;
    for (uint64_t seed = 0; seed < volume(SYSTEMS / 10); seed++) {
        struct arena a = {0};
        struct lab lab;
        struct err e = {0};
        assert_int_equal(lab_init(&lab, random_timed_system(seed, &a), &e), 0);
        struct search_options options = lab_options(&lab);
        struct search *whole = lab_explore(&lab, &options, 300);
        struct search *resumed = search_new(&lab.names, &lab.fl, &options);
        uint32_t n;
        faultload f;
        const struct search_run *runs = search_runs(whole, &n);
        for (uint32_t i = 0; i < n; i++) {
            if (i >= n / 2) { /* what was observed before was not asked for */
                assert_true(search_next(resumed, &f));
                assert_true(faultload_eq(&lab.fl, f, runs[i].faultload));
            }
            lab_run(&lab, runs[i].faultload);
            search_observe(resumed, runs[i].faultload, &lab.trace, &lab.verdict);
        }
        struct search_space space;
        search_space(whole, &space);
        late += space.late;
        search_free(whole);
        search_free(resumed);
        lab_deinit(&lab);
        arena_deinit(&a);
    }
    assert_true(late > volume(SYSTEMS / 10) / 5);
}

/* ---- systems that show one thing each ---- */

static const struct {
    const char *what, *yaml;
    bool complete;       /* all that brute force shows is shown; else it is once there is `hold` */
    uint32_t runs;       /* at most */
    uint32_t n_suspects; /* of SUSPECT_NOT_SHOWN, each with */
    uint32_t tries;      /* so many other causes */
} cases[] = {
    {"an answer is in time only when what delays it fails too",
     "system: x\n"
     "modes: [503]\n"
     "services:\n"
     "  front: { GET /: [{ call: a GET /, as: a }, { call: b GET /, as: b, timeout: 50ms },\n"
     "                   { if: a.failed and b.status == 404, then: { reply: 500 } }] }\n"
     "  a: { GET /: }\n"
     "  b: { GET /: [{ call: c GET /, on: { failed: [{ call: d GET / }, { reply: 404 }] } }] }\n"
     "  c: { GET /: }\n"
     "  d: { latency: 100ms, GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 9, 0, 0},
    {"without faults the answer is late, faults make it come in time",
     "system: x\n"
     "modes: [503]\n"
     "services:\n"
     "  front: { GET /: [{ parallel: [{ call: y GET /, as: y, timeout: 7500us }, { call: x GET / }],\n"
     "                     until: first-error }, { if: y.called, then: { reply: 500 } }] }\n"
     "  y: { GET /: [{ call: x GET / }] }\n"
     "  x: { GET /: [{ call: d GET / }] }\n"
     "  d: { GET /: [{ sleep: 10ms }] }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 8, 0, 0},
    {"the answer is the same, but a genuine error makes it late and an injected one does not",
     "system: x\n"
     "modes: [503]\n"
     "services:\n"
     "  front: { GET /: [{ call: b GET /, timeout: 20ms, on: { 404: { reply: 500 } } }] }\n"
     "  b: { GET /: [{ call: c GET /, on: { failed: { reply: 404 } } }, { sleep: 30ms }] }\n"
     "  c: { GET /: [{ call: d GET /, on: { failed: [{ sleep: 30ms }, { reply: 503 }] } }] }\n"
     "  d: { GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 4, 0, 0},
    {"one call with two timeouts: what is a timeout in one place is none in the other",
     "system: x\n"
     "modes: [503]\n"
     "services:\n"
     "  front: { GET /: [{ call: a GET /, as: a },\n"
     "                   { if: a.ok, then: { call: b GET /, timeout: 20ms },\n"
     "                     else: { call: b GET /, timeout: 60ms, on: { timeout: { reply: 500 } } } }] }\n"
     "  a: { GET /: }\n"
     "  b: { GET /: [{ call: c GET /, on: { failed: { sleep: 30ms } } },\n"
     "               { call: d GET /, on: { failed: { sleep: 50ms } } }] }\n"
     "  c: { GET /: }\n"
     "  d: { GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 10, 0, 0},
    {"a lost reply that is too late is left like any other",
     "system: x\n"
     "modes: [\"lost-reply:503\", hold]\n"
     "services:\n"
     "  front: { GET /: [{ call: b GET /, timeout: 20ms, retry: { times: 1, on: 503 } }] }\n"
     "  b: { GET /: [{ call: c GET / }] }\n"
     "  c: { GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 12, 0, 0},
    {"a service that is too slow whatever fails needs no other cause",
     "system: x\n"
     "modes: [503, reset]\n"
     "services:\n"
     "  front: { GET /: [{ call: b GET /, timeout: 4ms }] }\n"
     "  b: { latency: 30ms, GET /: [{ call: c GET / }, { call: d GET / }, { call: e GET / }] }\n"
     "  c: { GET /: [{ call: x GET /, on: { failed: { reply: 503 } } }] }\n"
     "  d: { GET /: [{ call: x GET /, on: { failed: { reply: 503 } } }] }\n"
     "  e: { GET /: [{ call: x GET /, on: { failed: { reply: 503 } } }] }\n"
     "  x: { GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 32, 0, 0},
    {"too many causes to try them all: announced",
     "system: x\n"
     "modes: [503]\n"
     "services:\n"
     "  front: { GET /: [{ call: b GET /, timeout: 4ms }] }\n"
     "  b: { GET /: [{ call: c GET / }, { call: c GET / }, { call: c GET / }, { call: c GET / },\n"
     "               { call: c GET / }, { sleep: 30ms }] }\n"
     "  c: { GET /: [{ call: x GET /, on: { failed: { reply: 503 } } }] }\n"
     "  x: { GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 60, 1, 24},
    {"a timeout that only two slow answers at once would reach, as the faster one counts: hidden",
     "system: x\n"
     "modes: [\"lost-reply:503\"]\n"
     "services:\n"
     "  s00: { GET /: [{ call: s10 GET /, timeout: 7500us }] }\n"
     "  s10: { GET /: [{ parallel: [{ call: s20 GET / }, { call: s20 GET / }],\n"
     "                   until: first-error }] }\n"
     "  s20: { GET /: [{ call: s30 GET /, as: c, retry: { times: 1 } },\n"
     "                 { if: c.ok, then: [{ call: s30 GET / }] }, { reply: 500 }] }\n"
     "  s30: { latency: 2ms, GET /: }\n"
     "scenarios: { go: { request: s00 GET / } }\n",
     false, 13, 0, 0},
    {"a lost reply is as fast as what is below it: in time when that fails, too",
     "system: x\n"
     "modes: [\"lost-reply:503\"]\n"
     "services:\n"
     "  front: { GET /: [{ call: b GET /, timeout: 4ms }] }\n"
     "  b: { GET /: [{ call: c GET /, on: { ok: { reply: 404 }, failed: { reply: 200 } } }] }\n"
     "  c: { GET /: [{ call: d GET /, on: { failed: { reply: 200 } } }, { sleep: 10ms }] }\n"
     "  d: { GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 6, 0, 0},
    {"the answer in time that is lost is one that a mode gives as well",
     "system: x\n"
     "modes: [\"lost-reply:503\", 500]\n"
     "services:\n"
     "  front: { GET /: [{ call: b GET /, timeout: 4ms }] }\n"
     "  b: { GET /: [{ call: c GET /, on: { 500: { reply: 500 } } }] }\n"
     "  c: { latency: 10ms, GET /: [{ call: d GET /, on: { failed: { reply: 500 } } }] }\n"
     "  d: { GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 9, 0, 0},
    {"a caller that is known to leave, and an answer that took longer elsewhere: not guessed",
     "system: x\n"
     "modes: [hold, 500]\n"
     "services:\n"
     "  front: { GET /: [{ call: b GET /, timeout: 60ms, retry: { times: 1, on: 5xx },\n"
     "                     on: { failed: { call: b GET / } } }] }\n"
     "  b: { GET /: [{ call: c GET / }] }\n"
     "  c: { GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 16, 0, 0},
    {"a service that is always too late, and a mode that gives what it would answer: not guessed",
     "system: x\n"
     "modes: [503, reset]\n"
     "services:\n"
     "  front: { GET /: [{ call: b GET /, timeout: 4ms,\n"
     "                     on: { 503: { reply: 200 }, failed: { call: b GET / } } }] }\n"
     "  b: { latency: 5ms, GET /: { reply: 503 } }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 8, 0, 0},
    {"a service that looks at its payload, which is not part of its name: announced",
     "system: x\n"
     "modes: [503]\n"
     "services:\n"
     "  front: { GET /: [{ call: a GET /, as: a },\n"
     "                   { if: a.ok, then: { call: b GET /, payload: { n: 0 } },\n"
     "                     else: { call: b GET /, payload: { n: 1 } } }] }\n"
     "  a: { GET /: }\n"
     "  b: { GET /: [{ call: c GET /, as: c },\n"
     "               { if: c.failed and payload/n == 0, then: { reply: 404 } }] }\n"
     "  c: { GET /: }\n"
     "scenarios: { go: { request: front GET / } }\n",
     true, 10, 1, 0},
};

static void test_cases(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arena a = {0};
        struct err e = {0};
        const struct node *root;
        struct trial t;
        struct search_stats stats;
        uint32_t n, not_shown = 0;
        uint64_t all;
        if (yaml_parse(slice_of(cases[i].yaml), &a, &root, &e))
            fail_msg("%s: %s", cases[i].what, e.text);
        if (!trial_run(&t, root, (struct search_options){0}))
            fail_msg("%s: not loaded", cases[i].what);
        search_stats(t.search, &stats);
        const struct suspect *suspects = search_suspects(t.search, &n, &all);
        for (uint32_t k = 0; k < n; k++)
            if (suspects[k].kind == SUSPECT_NOT_SHOWN) {
                not_shown++;
                assert_int_equal(suspects[k].n, cases[i].tries);
            }
        bool as_said = cases[i].complete ? t.missed == 0
                                         : t.missed && !t.unexplained &&
                                               hold_shows(&t, (struct search_options){0});
        if (!as_said || not_shown != cases[i].n_suspects || stats.runs > cases[i].runs ||
            !stats.complete || t.wrong)
            fail_msg("%s: %u missed, %u not shown, %llu runs%s%s", cases[i].what,
                     (unsigned)t.missed, (unsigned)not_shown, (unsigned long long)stats.runs,
                     t.wrong ? ", " : "", t.wrong ? t.wrong : "");
        trial_end(&t);
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_orders),
        cmocka_unit_test(test_resume),
        cmocka_unit_test(test_cases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
