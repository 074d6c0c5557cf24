/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * What scenarios cover: runs written by hand, and random suites held against sets. */
#include "core/coverage.h"

#include <stdio.h>

#include "support/core_lab.h"

enum { SCENARIOS_MAX = 12 };

/* A call in few words. */
struct row {
    uint32_t depth;   /* 0: the scenario's own request */
    const char *name; /* an element */
    const char *mode; /* NULL: no fault */
    uint32_t status;  /* that its caller sees; 0: as the mode says */
    uint8_t flags;
};

#define ROWS(...) ((const struct row[]){__VA_ARGS__, {0, NULL, NULL, 0, 0}})

struct desk {
    struct names names;
    struct coverage of[SCENARIOS_MAX];
    const struct coverage *list[SCENARIOS_MAX];
    struct suite_coverage suite;
};

static void open_desk(struct desk *d)
{
    *d = (struct desk){0};
    names_init(&d->names);
    for (uint32_t i = 0; i < SCENARIOS_MAX; i++) {
        coverage_init(&d->of[i], &d->names);
        d->list[i] = &d->of[i];
    }
}

static void close_desk(struct desk *d)
{
    for (uint32_t i = 0; i < SCENARIOS_MAX; i++)
        coverage_deinit(&d->of[i]);
    suite_coverage_deinit(&d->suite);
    names_deinit(&d->names);
}

/* Tells a scenario of a run. It is one without faults unless a row has a mode. */
static void tell(struct desk *d, uint32_t scenario, const struct row *rows, struct event event)
{
    struct run run = {.number = 1, .verdict = {.pass = event.pass, .status = event.status}};
    VEC(uint32_t) above = {0};
    for (; rows->name; rows++) {
        struct element el;
        struct err e = {0};
        slice text = slice_of(rows->name);
        assert_int_equal(element_parse(&d->names, &text, &el, &e), 0);
        struct call c = {.parent = rows->depth ? above.at[rows->depth - 1] : CALL_NONE,
                         .mode = rows->mode ? parse_mode(rows->mode) : MODE_NONE,
                         .flags = rows->flags,
                         .start_ns = run.trace.calls.n,
                         .end_ns = run.trace.calls.n + 1};
        uid parent = rows->depth ? run.trace.calls.at[c.parent].uid : UID_NONE;
        c.uid = names_uid(&d->names, parent, names_element(&d->names, el));
        c.handled = !rows->mode || mode_reached(c.mode);
        c.seen = rows->status ? OUTCOME(OUT_STATUS, rows->status) : mode_outcome(c.mode);
        c.reply = c.handled ? c.seen : 0;
        run.faultload |= c.mode != MODE_NONE;
        above.n = rows->depth;
        vec_push(&above, run.trace.calls.n);
        vec_push(&run.trace.calls, c);
    }
    event.type = EVENT_RUN;
    event.run = &run;
    coverage_event(&d->of[scenario], &event);
    vec_deinit(&above);
    vec_deinit(&run.trace.calls);
}

static const struct event counts = {
    .counted = COUNTED_RUN, .fired = true, .pass = true, .status = OUTCOME_OK};

static void join(struct desk *d, uint32_t n, const struct suite_facts *facts)
{
    suite_coverage_deinit(&d->suite);
    suite_cover(d->list, n, facts, &d->suite);
}

static const struct suite_facts nothing;

/* The runs of a shop, by their numbers. */
static const struct row *const shop[] = {
    ROWS({0, "front GET /a", NULL, 200, 0}, {1, "cart GET /c", NULL, 200, 0},
         {2, "db GET /q", NULL, 200, 0}),
    ROWS({0, "front GET /a", NULL, 503, 0}, {1, "cart GET /c", "503", 0, 0}),
    ROWS({0, "front GET /a", NULL, 200, 0}, {1, "cart GET /c", NULL, 200, 0},
         {2, "db GET /q", "503", 0, 0}, {2, "db GET /q #1", NULL, 200, 0}),
};

/* ---- one scenario ---- */

static void test_calls_handlers_and_edges(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    struct coverage *c = &d.of[0];
    tell(&d, 0, shop[0], counts);
    /* front: cart is fine, 200; cart: db is fine, 200; db: 200 */
    assert_int_equal(c->calls.n, 2);
    assert_int_equal(coverage_failed(c), 0);
    assert_int_equal(c->handlers.n, 3);
    assert_int_equal(c->edges.items.n, 5);
    tell(&d, 0, shop[0], counts);
    assert_int_equal(c->edges.items.n, 5);
    tell(&d, 0, shop[1], counts);
    assert_int_equal(coverage_failed(c), 1);
    assert_int_equal(c->handlers.n, 3);
    assert_int_equal(c->edges.items.n, 7); /* front: cart fails, 503 */
    tell(&d, 0, shop[2], counts);
    assert_int_equal(c->calls.n, 2); /* a retry is no other call */
    assert_int_equal(coverage_failed(c), 2);
    assert_int_equal(c->edges.items.n, 10); /* cart: db fails, its retry is fine, 200 */
    assert_int_equal(c->handlers.at[1].edges, 5);
    assert_int_equal(c->runs, 4);
    tell(&d, 0,
         ROWS({0, "front GET /a", NULL, 503, 0}, {1, "cart GET /c", "503", 0, 0},
              {1, "cart GET /c #1", "503", 0, 0}),
         counts);
    assert_int_equal(c->calls.at[0].failed, 2); /* runs, not tries */
    close_desk(&d);
}

static void test_what_does_not_count(void **state)
{
    struct desk d;
    struct event of_campaign = counts, unfired = counts;
    (void)state;
    open_desk(&d);
    of_campaign.counted = COUNTED_NOT;
    unfired.fired = false;
    tell(&d, 0, shop[1], of_campaign);
    tell(&d, 0, shop[1], unfired);
    assert_int_equal(d.of[0].runs, 0);
    assert_int_equal(d.of[0].edges.items.n, 0);
    tell(&d, 0, shop[0], counts);
    assert_int_equal(d.of[0].runs, 1);
    coverage_event(&d.of[0], &(struct event){.type = EVENT_AGAIN});
    assert_int_equal(d.of[0].runs, 0);
    assert_int_equal(d.of[0].edges.items.n, 0);
    tell(&d, 0, shop[0], counts);
    assert_int_equal(d.of[0].edges.items.n, 5);
    close_desk(&d);
}

/* What a test does itself is not what the system does, and hushed calls are not tested. */
static void test_client_and_hushed(void **state)
{
    struct desk d;
    struct event command = counts;
    (void)state;
    open_desk(&d);
    command.status = OUTCOME(OUT_EXIT, 0);
    tell(&d, 0,
         ROWS({0, "client test", NULL, 200, 0}, {1, "front GET /a", NULL, 200, CALL_EXEMPT},
              {2, "cart GET /c", NULL, 200, 0}, {2, "log POST /l", NULL, 200, CALL_HUSHED},
              {3, "db GET /q", NULL, 200, CALL_HUSHED}),
         command);
    assert_int_equal(d.of[0].calls.n, 1);
    assert_int_equal(d.of[0].handlers.n, 2);
    assert_int_equal(d.of[0].edges.items.n, 3);
    close_desk(&d);
}

static void test_bounds(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    for (uint32_t i = 0; i < COVERAGE_NAMES_MAX + 10; i++) {
        char name[32];
        snprintf(name, sizeof name, "s%u GET /", (unsigned)i);
        tell(&d, 0, ROWS({0, "front GET /a", NULL, 200, 0}, {1, name, NULL, 200, 0}), counts);
    }
    assert_int_equal(d.of[0].calls.n, COVERAGE_NAMES_MAX);
    assert_int_equal(d.of[0].handlers.n, COVERAGE_NAMES_MAX);
    assert_int_equal(d.of[0].call_at.items.n, COVERAGE_NAMES_MAX);
    assert_int_equal(d.of[0].left_out, 11); /* the client's handler is one of them */
    tell(&d, 1, ROWS({0, "front GET /a", NULL, 200, 0}, {1, "s1 GET /", NULL, 200, 0}), counts);
    join(&d, 2, &nothing);
    assert_false(d.suite.scenarios.at[0].adds_nothing); /* not all of it is known */
    assert_true(d.suite.scenarios.at[1].adds_nothing);
    close_desk(&d);
}

static void test_bound_of_edges(void **state)
{
    enum { WIDE = 5000, RUNS = COVERAGE_EDGES_MAX / (WIDE + 1) + 2 };
    struct desk d;
    struct row *rows = calloc(WIDE + 2, sizeof *rows);
    char(*names)[24] = calloc(WIDE + 1, sizeof *names);
    (void)state;
    assert_true(rows && names);
    open_desk(&d);
    for (uint32_t i = 0; i <= WIDE; i++) {
        snprintf(names[i], sizeof names[i], "s GET / #%u", (unsigned)i);
        rows[i] = (struct row){i > 0, names[i], NULL, 200, 0};
    }
    for (uint32_t run = 0; run < RUNS; run++) { /* each of another handler */
        snprintf(names[0], sizeof names[0], "front GET /%u", (unsigned)run + 1);
        tell(&d, 0, rows, counts);
    }
    assert_int_equal(d.of[0].edges.items.n, COVERAGE_EDGES_MAX);
    assert_int_equal(d.of[0].left_out, 2);
    assert_int_equal(d.of[0].runs, RUNS);
    free(names);
    free(rows);
    close_desk(&d);
}

/* ---- suites ---- */

static void test_equal_scenarios(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    for (uint32_t i = 0; i < 3; i++)
        tell(&d, i, shop[0], counts);
    join(&d, 3, &nothing);
    assert_false(d.suite.scenarios.at[0].adds_nothing);
    for (uint32_t i = 1; i < 3; i++) {
        assert_true(d.suite.scenarios.at[i].adds_nothing);
        assert_int_equal(d.suite.scenarios.at[i].n_shown_by, 1);
        assert_int_equal(d.suite.scenarios.at[i].shown_by[0], 0);
    }
    assert_int_equal(d.suite.edges, 5);
    assert_int_equal(d.suite.scenarios.at[0].only_edges, 0);
    assert_int_equal(d.suite.calls.at[0].scenarios, 3);
    close_desk(&d);
}

/* A scenario whose own request is a call of another one adds nothing to it. */
static void test_part_of_another(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    tell(&d, 0, ROWS({0, "cart GET /c", NULL, 200, 0}, {1, "db GET /q", NULL, 200, 0}), counts);
    tell(&d, 1, shop[0], counts);
    tell(&d, 1, shop[1], counts);
    join(&d, 2, &nothing);
    assert_true(d.suite.scenarios.at[0].adds_nothing);
    assert_int_equal(d.suite.scenarios.at[0].shown_by[0], 1);
    assert_false(d.suite.scenarios.at[1].adds_nothing);
    assert_int_equal(d.suite.scenarios.at[1].only_edges, 4); /* those of front */
    assert_int_equal(d.suite.scenarios.at[1].only_calls, 1);
    assert_int_equal(d.suite.scenarios.at[1].only_handlers, 1);
    assert_int_equal(d.suite.handlers.n, 3);
    /* another payload is another handler, another number is not */
    tell(&d, 0, ROWS({0, "cart GET /c {0000000a}", NULL, 200, 0}), counts);
    join(&d, 2, &nothing);
    assert_false(d.suite.scenarios.at[0].adds_nothing);
    assert_int_equal(d.suite.scenarios.at[0].only_handlers, 1);
    close_desk(&d);
}

static void test_shown_by_several(void **state)
{
    struct desk d;
    (void)state;
    open_desk(&d);
    for (uint32_t i = 0; i < 3; i++)
        tell(&d, 0, shop[i], counts);
    for (uint32_t i = 1; i < 3; i++) {
        tell(&d, i, shop[i], counts);
        tell(&d, i, ROWS({0, i == 1 ? "own GET /1" : "own GET /2", NULL, 200, 0}), counts);
    }
    tell(&d, 3, shop[0], counts);
    tell(&d, 3, ROWS({0, "own GET /3", NULL, 200, 0}), counts);
    join(&d, 4, &nothing);
    const struct suite_scenario *s = &d.suite.scenarios.at[0];
    assert_true(s->adds_nothing);
    assert_int_equal(s->n_shown_by, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(s->shown_by[i], i + 1);
    assert_false(s->shown_by_more);
    close_desk(&d);
}

/* A scenario that fails without faults is no reason to leave another out, nor is it left out. */
static void test_broken(void **state)
{
    struct desk d;
    struct event fails = counts;
    (void)state;
    open_desk(&d);
    fails.pass = false;
    tell(&d, 0, shop[0], fails);
    tell(&d, 1, shop[0], counts);
    join(&d, 3, &nothing); /* nothing is known of the third */
    for (uint32_t i = 0; i < 3; i++)
        assert_false(d.suite.scenarios.at[i].adds_nothing);
    close_desk(&d);
}

static void test_unreached(void **state)
{
    static const char *const services[] = {"front", "cart", "db", "mail", "spare"};
    static struct known_way ways[] = {
        {{"front", 5}, {"cart", 4}, {"GET /*", 6}},  {{"front", 5}, {"cart", 4}, {"POST /*", 7}},
        {{"front", 5}, {"mail", 4}, {"POST /m", 7}}, {{"cart", 4}, {"db", 2}, {NULL, 0}},
        {{"cart", 4}, {"spare", 5}, {NULL, 0}},      {{"spare", 5}, {"db", 2}, {NULL, 0}},
    };
    const struct suite_facts facts = {services, 5, {ways, LENGTH(ways), LENGTH(ways)}};
    struct desk d;
    (void)state;
    open_desk(&d);
    tell(&d, 0, shop[0], counts);
    /* a call that fails in place of the service is an attempt to call it */
    tell(&d, 1, ROWS({0, "front GET /b", NULL, 200, 0}, {1, "mail POST /m", "503", 0, 0}), counts);
    join(&d, 2, &facts);
    assert_int_equal(d.suite.services.n, 1);
    assert_string_equal(d.suite.services.at[0], "spare");
    assert_int_equal(d.suite.not_made.n, 2); /* not that of spare, which nobody reaches */
    assert_true(slice_is(d.suite.not_made.at[0].interface, "POST /*"));
    assert_true(slice_is(d.suite.not_made.at[1].service, "spare"));
    assert_int_equal(d.suite.calls.n, 3);
    assert_int_equal(d.suite.failed, 1);
    assert_true(d.suite.calls.at[0].call.usual);
    assert_false(d.suite.calls.at[2].call.usual); /* front > mail: only in a run with faults */
    close_desk(&d);
}

/* Thousands of scenarios are compared in no time. */
static void test_many(void **state)
{
    enum { MANY = 20000 };
    struct desk d;
    const struct coverage **list = malloc(MANY * sizeof *list);
    (void)state;
    assert_non_null(list);
    open_desk(&d);
    for (uint32_t i = 0; i < 3; i++) { /* two halves, and a whole */
        tell(&d, i, i != 1 ? shop[0] : shop[1], counts);
        tell(&d, i, i != 0 ? shop[1] : shop[0], counts);
    }
    tell(&d, 0, ROWS({0, "own GET /0", NULL, 200, 0}), counts);
    tell(&d, 1, ROWS({0, "own GET /1", NULL, 200, 0}), counts);
    for (uint32_t i = 0; i < MANY; i++)
        list[i] = d.list[i < 2 ? i : 2];
    suite_cover(list, MANY, &nothing, &d.suite);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct suite_scenario *s = &d.suite.scenarios.at[i];
        assert_int_equal(s->adds_nothing, i >= 2);
        assert_int_equal(s->n_shown_by, i < 2 ? 0 : 2);
    }
    free(list);
    close_desk(&d);
}

/* ---- random suites ---- */

/* Edges of random scenarios, as bits: scenario i makes the requests in set[i], each of which has an
 * edge of its own. */
static void check_random(struct desk *d, const uint32_t *set, uint32_t n)
{
    uint32_t all = 0, left = 0;
    join(d, n, &nothing);
    for (uint32_t i = 0; i < n; i++) {
        all |= set[i];
        left |= d->suite.scenarios.at[i].adds_nothing ? 0 : set[i];
    }
    assert_int_equal(left, all);
    assert_int_equal(d->suite.edges, (uint32_t)__builtin_popcount(all));
    for (uint32_t i = 0; i < n; i++) {
        const struct suite_scenario *s = &d->suite.scenarios.at[i];
        uint32_t others = 0, rest = 0, by = 0;
        for (uint32_t k = 0; k < n; k++) {
            others |= k == i ? 0 : set[k];
            rest |= k == i || d->suite.scenarios.at[k].adds_nothing ? 0 : set[k];
        }
        assert_int_equal(s->only_edges, (uint32_t)__builtin_popcount(set[i] & ~others));
        if (set[i]) /* those that are left: each shows something that no other of them does */
            assert_int_equal(s->adds_nothing, (set[i] & ~rest) == 0);
        for (uint32_t k = 0; k < s->n_shown_by; k++) {
            assert_false(d->suite.scenarios.at[s->shown_by[k]].adds_nothing);
            assert_int_not_equal(set[s->shown_by[k]] & set[i], 0);
            assert_true(k == 0 || s->shown_by[k - 1] < s->shown_by[k]);
            by |= set[s->shown_by[k]];
        }
        if (s->adds_nothing && !s->shown_by_more)
            assert_int_equal(set[i] & ~by, 0);
        for (uint32_t k = 0; k < n && s->adds_nothing; k++) /* one is enough where one shows all */
            if (!d->suite.scenarios.at[k].adds_nothing && (set[i] & ~set[k]) == 0)
                assert_true(s->n_shown_by <= 1);
    }
}

static void test_random(void **state)
{
    struct rng rng = {7};
    (void)state;
    for (uint32_t round = 0; round < volume(2000); round++) {
        struct desk d;
        uint32_t set[SCENARIOS_MAX] = {0}, n = 1 + rng_below(&rng, SCENARIOS_MAX);
        uint32_t edges = 1 + rng_below(&rng, 20);
        open_desk(&d);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = rng_below(&rng, edges + 1); k > 0; k--) {
                char name[32];
                uint32_t edge = rng_below(&rng, edges);
                set[i] |= 1u << edge;
                snprintf(name, sizeof name, "front GET /%u", (unsigned)edge);
                tell(&d, i, ROWS({0, name, NULL, 200, 0}), counts);
            }
        check_random(&d, set, n);
        close_desk(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_handlers_and_edges),
        cmocka_unit_test(test_what_does_not_count),
        cmocka_unit_test(test_client_and_hushed),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_bound_of_edges),
        cmocka_unit_test(test_equal_scenarios),
        cmocka_unit_test(test_part_of_another),
        cmocka_unit_test(test_shown_by_several),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_unreached),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
