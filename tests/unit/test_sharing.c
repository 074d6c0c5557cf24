/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * Searches of several scenarios that share what they know of handlers: together they show what each
 * shows alone, with fewer runs; what contradicts is noticed, and explored after all. And a campaign
 * that builds on an earlier one. */

#include <stdio.h>

#include "base/hash.h"
#include "search/knowledge.h"
#include "search/suite.h"
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

enum { SCENARIOS_MAX = 4, RUNS_MAX = 3000 };

/* One system with several scenarios, and what was seen: (handler, transcript, reply), where a handler is
 * the same wherever it is called from, but for the scenario's own. */
struct club {
    struct lab lab;
    struct arena arena;
    struct sim *was; /* before it was changed */
    uint32_t n;      /* scenarios */
    struct map facts;
    uint64_t runs;
    struct suite *suite;
    struct search *searches[SCENARIOS_MAX];
    bool over[SCENARIOS_MAX];
    VEC(struct club_run {
        uint32_t seat;
        faultload faultload;
    })
    made;
};

__attribute__((format(printf, 2, 3))) static slice text(struct arena *a, const char *format, ...)
{
    struct buf b = BUF_INIT(100);
    va_list args;
    va_start(args, format);
    buf_addv(&b, format, args);
    va_end(args);
    slice kept = slice_copy(a, buf_slice(&b));
    buf_deinit(&b);
    return kept;
}

static const struct node *pair(struct arena *a, const char *key, const struct node *value)
{
    struct node *map = node_map(a, 1);
    map->map[0] = (struct node_pair){.key = slice_of(key), .value = value};
    return map;
}

/* The system with several scenarios: each asks another one of its services directly; or, fronts, each
 * asks a service of its own that does nothing but to call the first. */
static const struct node *with_scenarios(struct arena *a, const struct node *system, bool fronts)
{
    const struct node *services = node_get(system, SLICE("services"));
    uint32_t n = services->n < SCENARIOS_MAX ? services->n : SCENARIOS_MAX;
    struct node *all = node_map(a, n), *more = node_map(a, services->n + n);
    memcpy(more->map, services->map, services->n * sizeof *more->map);
    more->n = services->n + (fronts ? n : 0);
    for (uint32_t i = 0; i < n; i++) {
        slice name = fronts ? text(a, "f%u", i) : services->map[i].key;
        const struct node *request = node_str(a, text(a, "%.*s GET /", SLICE_ARG(name)));
        struct node *steps = node_list(a, 1);
        steps->list[0] = pair(a, "call", node_str(a, SLICE("s00 GET /")));
        more->map[services->n + i] =
            (struct node_pair){.key = name, .value = pair(a, "GET /", steps)};
        all->map[i] = (struct node_pair){.key = name, .value = pair(a, "request", request)};
    }
    system = node_replace(a, system, SLICE("services"), more);
    return node_replace(a, system, SLICE("scenarios"), all);
}

static void club_init(struct club *c, const struct node *system, bool fronts)
{
    struct err e = {0};
    *c = (struct club){0};
    if (lab_init(&c->lab, with_scenarios(&c->arena, system, fronts), &e))
        fail_msg("%s", e.text);
    c->n = c->lab.sim->n_scenarios;
}

static void club_init_text(struct club *c, const char *yaml)
{
    struct err e = {0};
    *c = (struct club){0};
    if (lab_init_text(&c->lab, yaml, &e))
        fail_msg("%s", e.text);
    c->n = c->lab.sim->n_scenarios;
}

static void club_close(struct club *c)
{
    for (uint32_t i = 0; i < c->n; i++) {
        search_free(c->searches[i]);
        c->searches[i] = NULL;
        c->over[i] = false;
    }
    suite_free(c->suite);
    c->suite = NULL;
}

static void club_deinit(struct club *c)
{
    club_close(c);
    map_deinit(&c->facts);
    vec_deinit(&c->made);
    sim_free(c->was);
    lab_deinit(&c->lab);
    arena_deinit(&c->arena);
}

static void add_facts(struct club *c, uint32_t scenario)
{
    struct lab *lab = &c->lab;
    trace_order(&lab->trace, &lab->names, &lab->order);
    struct element own = *uid_element(&lab->names, lab->trace.calls.at[0].uid);
    for (uint32_t h = 0; h < lab->trace.calls.n; h++) {
        const struct call *handler = &lab->trace.calls.at[h];
        if (!handler->handled)
            continue;
        struct element el = *uid_element(&lab->names, handler->uid);
        el.n = el.before = 0;
        bool is_own = el.service == own.service && el.interface == own.interface;
        uint64_t fact = hash_mix(names_element(&lab->names, el), is_own ? scenario + 1 : 0);
        fact = hash_mix(fact, handler->reply);
        for (uint32_t i = lab->order.first.at[h]; i < lab->order.first.at[h + 1]; i++) {
            const struct call *call = &lab->trace.calls.at[lab->order.child.at[i]];
            fact =
                hash_mix(hash_mix(fact, lab->names.uids.at[call->uid].element), call_label(call));
        }
        map_count(&c->facts, fact);
    }
}

static void club_run(struct club *c, uint32_t seat, faultload f)
{
    struct lab *lab = &c->lab;
    struct err e = {0};
    aim_set(&lab->aim, &lab->names, &lab->fl, f);
    if (sim_run(lab->sim, seat, &lab->aim, 0, &lab->trace, &lab->verdict, NULL, &e))
        fail_msg("%s", e.text);
    add_facts(c, seat);
    c->runs++;
    vec_push(&c->made, (struct club_run){seat, f});
    search_observe(c->searches[seat], f, &lab->trace, &lab->verdict);
}

static struct search_options club_options(const struct club *c)
{
    struct search_options o = lab_options(&c->lab);
    o.assume = 1u << REDUCE_STATELESS;
    return o;
}

static void club_open(struct club *c, struct search_options o, bool together)
{
    c->suite = together ? suite_new(c->n, &o) : NULL;
    for (uint32_t i = 0; i < c->n; i++) {
        o.suite = c->suite;
        o.seat = i;
        o.scenario = c->lab.sim->scenario[i].name.p;
        c->searches[i] = search_new(&c->lab.names, &c->lab.fl, &o);
    }
}

/* False: there is more to do than so many runs. */
static bool club_go(struct club *c, uint64_t most)
{
    bool ready[SCENARIOS_MAX];
    uint32_t left = c->n;
    faultload f;
    for (uint64_t n = 0; left && n < most;) {
        uint32_t seat = 0;
        left = 0;
        for (uint32_t i = 0; i < c->n; i++)
            left += ready[i] = !c->over[i];
        if (!left)
            break;
        if (c->suite)
            seat = suite_turn(c->suite, ready);
        else
            while (!ready[seat])
                seat++;
        assert_true(seat < c->n); /* nobody waits for ever */
        if (search_next(c->searches[seat], &f)) {
            club_run(c, seat, f);
            n++;
        } else {
            c->over[seat] = search_done(c->searches[seat]);
            search_retire(c->searches[seat], c->over[seat]);
        }
    }
    return left == 0;
}

/* How many facts of a are not among those of b. */
static uint32_t missing(const struct map *a, const struct map *b)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->items.n; i++)
        n += !map_get(b, a->items.at[i].key);
    return n;
}

static uint64_t suspects_of(const struct club *c)
{
    uint64_t all = 0, some;
    uint32_t n;
    for (uint32_t i = 0; i < c->n; i++) {
        (void)search_suspects(c->searches[i], &n, &some);
        all += some;
    }
    return all;
}

/* ---- scenarios of one campaign ---- */

struct sharing_totals {
    uint64_t systems, alone, together, lost, suspects, losers;
};

/* Explores each alone, and all together. */
static void compare(const struct node *system, bool fronts, const char *order, uint64_t seed,
                    uint32_t max_faults, struct sharing_totals *totals)
{
    struct club c;
    club_init(&c, system, fronts);
    struct search_options o = club_options(&c);
    o.seed = seed;
    o.order = order_find(slice_of(order));
    if (max_faults) {
        o.assume |= 1u << REDUCE_MAX_FAULTS;
        o.max_faults = max_faults;
    }
    club_open(&c, o, false);
    bool done = club_go(&c, RUNS_MAX);
    struct map alone = c.facts;
    uint64_t runs = c.runs, suspects = suspects_of(&c);
    club_close(&c);
    c.facts = (struct map){0};
    c.runs = 0;
    club_open(&c, o, true);
    if (done && club_go(&c, RUNS_MAX)) {
        uint32_t lost = missing(&alone, &c.facts);
        totals->systems++;
        totals->alone += runs;
        totals->together += c.runs;
        totals->lost += lost;
        totals->losers += lost > 0;
        totals->suspects += suspects_of(&c) > suspects;
        if (lost)
            printf("seed %u, %s, %u faults, fronts %d: %u of %u facts are lost\n", (unsigned)seed,
                   order, (unsigned)max_faults, fronts, (unsigned)lost, (unsigned)alone.items.n);
        if (suspects_of(&c) > suspects)
            printf("seed %u, %s: suspects\n", (unsigned)seed, order);
    }
    map_deinit(&alone);
    club_deinit(&c);
}

/* What is claimed of one in a hundred systems is asked of enough of them, whatever the volume. */
enum { TIMED_LEAST = 200 };

/* order: NULL: all of them, in turns. */
static struct sharing_totals compare_all(bool timed, bool fronts, const char *order,
                                         uint32_t max_faults)
{
    struct sharing_totals totals = {0};
    uint32_t systems = volume(400);
    if (timed && systems < TIMED_LEAST)
        systems = TIMED_LEAST;
    for (uint64_t seed = 0; seed < systems; seed++) {
        struct arena a = {0};
        const struct node *system = timed ? random_timed_system(seed, &a) : random_system(seed, &a);
        compare(system, fronts, order ? order : order_rows[seed % order_count].name, seed,
                max_faults, &totals);
        arena_deinit(&a);
    }
    assert_true(totals.systems > systems / 2);
    assert_int_equal(totals.suspects, 0);
    assert_true(totals.together <= totals.alone + totals.alone / 20);
    if (timed)
        assert_true(totals.losers * 100 <= totals.systems);
    else
        assert_int_equal(totals.lost, 0);
    return totals;
}

static void test_nothing_lost(void **state)
{
    (void)state;
    compare_all(false, false, NULL, 0);
    struct sharing_totals totals = compare_all(false, true, NULL, 0);
    assert_true(totals.together * 3 < totals.alone);
}

/* By size: other orders may find a way with more faults first, also alone. */
static void test_bounded(void **state)
{
    (void)state;
    for (uint32_t most = 1; most <= 3; most++) {
        compare_all(false, false, "size", most);
        compare_all(false, true, "size", most);
    }
}

/* Where answers come too late, handlers that are left are not shared. How fast a service can be made to
 * answer is then known from others, but for rare cases: one in a hundred of these systems at most. */
static void test_late(void **state)
{
    (void)state;
    compare_all(true, false, NULL, 0);
    compare_all(true, true, NULL, 0);
}

/* ---- an earlier campaign ---- */

/* The system with one of its services as it is in another system; NULL: there is no such service. */
static const struct node *changed(struct arena *a, const struct node *system,
                                  const struct node *other, slice service)
{
    const struct node *services = node_get(system, SLICE("services"));
    const struct node *to = node_get(node_get(other, SLICE("services")), service);
    const struct node *from = node_get(services, service);
    if (!to || !from || node_eq(to, from))
        return NULL;
    return node_replace(a, system, SLICE("services"), node_replace(a, services, service, to));
}

static bool loads(struct arena *a, const struct node *system, bool fronts)
{
    struct names names;
    struct sim *sim = NULL;
    struct err e = {0};
    names_init(&names);
    int failed = sim_load(with_scenarios(a, system, fronts), &names, &sim, &e);
    sim_free(sim);
    names_deinit(&names);
    return !failed;
}

/* Puts another system in its place; names and modes stay. */
static void club_change(struct club *c, const struct node *system, bool fronts)
{
    struct err e = {0};
    c->was = c->lab.sim;
    if (sim_load(with_scenarios(&c->arena, system, fronts), &c->lab.names, &c->lab.sim, &e))
        fail_msg("%s", e.text);
}

/* What a journal would teach: all that was made so far, on the system as it is. */
static void club_teach(struct club *c, struct knowledge *k)
{
    struct lab *lab = &c->lab;
    struct err e = {0};
    for (uint32_t i = 0; i < c->made.n; i++) {
        struct club_run run = c->made.at[i];
        aim_set(&lab->aim, &lab->names, &lab->fl, run.faultload);
        if (sim_run(lab->sim, run.seat, &lab->aim, 0, &lab->trace, &lab->verdict, NULL, &e))
            fail_msg("%s", e.text);
        slice name = slice_of(lab->sim->scenario[run.seat].name.p);
        struct lesson lesson = {.scenario = knowledge_scenario(k, name),
                                .faultload = run.faultload,
                                .trace = &lab->trace,
                                .keep = true,
                                .follow = true};
        knowledge_learn(k, &lab->names, &lab->fl, &lesson);
    }
}

struct since_totals {
    uint64_t systems, full, since, lost, caught, blind;
};

static void club_verify(struct club *c, struct knowledge *k)
{
    uint32_t n = c->made.n / 20 / c->n + 2;
    faultload *list = mem_zero(n * sizeof *list);
    for (uint32_t i = 0; i < c->n; i++) {
        slice name = slice_of(c->lab.sim->scenario[i].name.p);
        uint32_t got = knowledge_verify(k, knowledge_scenario(k, name), n, list);
        search_verify(c->searches[i], list, got);
    }
    mem_free(list);
}

/* Explores all of it; the facts are the caller's. False: it is too large. */
static bool explore_all(struct club *c, const struct search_options *o, struct map *facts,
                        uint64_t *runs)
{
    club_open(c, *o, o->assume);
    bool done = club_go(c, RUNS_MAX);
    club_close(c);
    *facts = c->facts;
    *runs = c->runs;
    c->facts = (struct map){0};
    c->runs = 0;
    return done;
}

/* What is known after a campaign that built on an earlier one, against all that there is to know. */
static void compare_since(struct club *c, struct knowledge *k, const struct map *before,
                          const struct map *full, bool told, struct since_totals *t)
{
    uint32_t n, lost;
    struct map all = {0};
    (void)knowledge_contradictions(k, &n);
    for (uint32_t i = 0; i < before->items.n; i++)
        map_set(&all, before->items.at[i].key, 1);
    for (uint32_t i = 0; i < c->facts.items.n; i++)
        map_set(&all, c->facts.items.at[i].key, 1);
    lost = missing(full, &all);
    map_deinit(&all);
    t->systems++;
    t->since += c->runs;
    t->lost += told || n ? lost : 0;
    t->caught += n > 0;
    t->blind += missing(full, before) + missing(before, full) == 0; /* the change shows nowhere */
    assert_true(!told || !n);
}

/* A campaign on a system, then one service is changed, then a campaign that builds on the first.
 * told: that it has changed is known. */
static void change_one(const struct node *was, const struct node *is, slice service, bool told,
                       bool stateless, bool fronts, struct since_totals *t)
{
    struct club c;
    struct map before, full;
    uint64_t runs;
    club_init(&c, was, fronts);
    struct search_options o = club_options(&c);
    o.assume = stateless ? 1u << REDUCE_STATELESS : 0;
    bool done = explore_all(&c, &o, &before, &runs);
    uint32_t made = c.made.n;
    struct knowledge *k = knowledge_new(stateless);
    club_teach(&c, k);
    knowledge_age(k);
    club_change(&c, is, fronts);
    done &= explore_all(&c, &o, &full, &runs);
    c.made.n = made;
    if (told)
        knowledge_distrust(k, names_sym(&c.lab.names, service));
    o.knowledge = k;
    club_open(&c, o, true);
    club_verify(&c, k);
    if (done && club_go(&c, RUNS_MAX)) {
        compare_since(&c, k, &before, &full, told, t);
        t->full += runs;
    }
    map_deinit(&before);
    map_deinit(&full);
    club_deinit(&c);
    knowledge_free(k);
}

static struct since_totals change_all(bool told, bool stateless, bool fronts)
{
    static const char *const services[] = {"s10", "s11", "s20", "s21", "s30", "s31"};
    struct since_totals t = {0};
    for (uint64_t seed = 0; seed < volume(300); seed++) {
        struct arena a = {0};
        const struct node *was = random_system(seed, &a);
        slice service = slice_of(services[seed % (sizeof services / sizeof *services)]);
        const struct node *is = changed(&a, was, random_system(seed + 1000, &a), service);
        if (is && loads(&a, was, fronts) && loads(&a, is, fronts))
            change_one(was, is, service, told, stateless, fronts, &t);
        arena_deinit(&a);
    }
    printf("told %d, stateless %d, fronts %d: %u systems, %u runs, %u since; %u lost, %u caught, "
           "%u blind\n",
           told, stateless, fronts, (unsigned)t.systems, (unsigned)t.full, (unsigned)t.since,
           (unsigned)t.lost, (unsigned)t.caught, (unsigned)t.blind);
    assert_true(t.systems > volume(300) / 10);
    assert_true(t.since < t.full);
    return t;
}

/* What an earlier campaign knows of the services that have not changed need not be shown again. */
static void test_since(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(change_all(true, i & 1, i & 2).lost, 0);
}

/* A service that has changed although nothing says so: a few runs of the earlier campaign are made
 * again, and in nearly every case one of them goes otherwise. Then all is found. */
static void test_unannounced(void **state)
{
    uint64_t caught = 0, there = 0, lost = 0;
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct since_totals t = change_all(false, i & 1, i & 2);
        caught += t.caught;
        there += t.systems - t.blind;
        lost += t.lost;
    }
    assert_true(caught * 100 >= there * 95);
    assert_int_equal(lost, 0);
}

/* Nothing has changed: only what verifies is run. */
static void test_unchanged(void **state)
{
    uint64_t full = 0, since = 0;
    (void)state;
    for (uint64_t seed = 0; seed < volume(100); seed++) {
        struct arena a = {0};
        struct since_totals t = {0};
        const struct node *system = random_system(seed, &a);
        change_one(system, system, SLICE("nobody"), true, seed & 1, seed & 2, &t);
        assert_int_equal(t.lost, 0);
        full += t.full;
        since += t.since;
        arena_deinit(&a);
    }
    assert_true(since * 5 < full);
}

/* ---- what is not as it is assumed to be ---- */

/* The price of a thing depends on what was asked before, not on its request: the scenarios disagree on
 * what the handler does, and both explore it. */
static const char moody[] =
    "system: moody\nmodes: [503]\nservices:\n"
    "  front:\n"
    "    GET /one: [ { call: shop GET /price } ]\n"
    "    GET /two: [ { call: shop POST /mood }, { call: shop GET /price } ]\n"
    "  shop:\n"
    "    state: { mood: 0 }\n"
    "    POST /mood: [ { set: { state.mood: 1 } } ]\n"
    "    GET /price:\n"
    "      - if: state.mood == 1\n"
    "        then: [ { call: bank GET /rate } ]\n"
    "      - call: stock GET /left\n"
    "  stock: { GET /left: }\n"
    "  bank: { GET /rate: }\n"
    "scenarios:\n"
    "  one: { request: front GET /one }\n"
    "  two: { request: front GET /two }\n";

static void test_contradiction(void **state)
{
    struct club c;
    struct map alone;
    (void)state;
    club_init_text(&c, moody);
    struct search_options o = club_options(&c);
    club_open(&c, o, false);
    assert_true(club_go(&c, RUNS_MAX));
    club_close(&c);
    alone = c.facts;
    c.facts = (struct map){0};
    club_open(&c, o, true);
    assert_true(club_go(&c, RUNS_MAX));
    assert_int_equal(missing(&alone, &c.facts), 0);
    uint32_t n, told = 0;
    uint64_t all;
    const struct suspect *list = search_suspects(c.searches[1], &n, &all);
    for (uint32_t i = 0; i < n; i++)
        told += list[i].kind == SUSPECT_AUDIT && strcmp(list[i].reduction, "stateless") == 0;
    assert_int_equal(told, 1);
    map_deinit(&alone);
    club_deinit(&c);
}

/* ---- audits, and going on ---- */

/* An audit of what was skipped says nothing where the assumption holds. */
static void test_audit(void **state)
{
    uint64_t audited = 0;
    (void)state;
    for (uint64_t seed = 0; seed < volume(100); seed++) {
        struct arena a = {0};
        struct club c;
        club_init(&c, random_system(seed, &a), seed & 1);
        struct search_options o = club_options(&c);
        o.audit = 20;
        o.seed = seed;
        club_open(&c, o, true);
        if (club_go(&c, RUNS_MAX))
            assert_int_equal(suspects_of(&c), 0);
        for (uint32_t i = 0; i < c.n; i++) {
            struct search_stats stats;
            search_stats(c.searches[i], &stats);
            audited += stats.audited;
        }
        club_deinit(&c);
        arena_deinit(&a);
    }
    assert_true(audited > 100);
}

/* Stopped anywhere, and gone on with from its runs in their order: the very same runs. */
static void test_resumed(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < volume(100); seed++) {
        struct arena a = {0};
        struct club c;
        club_init(&c, random_system(seed, &a), seed & 1);
        struct search_options o = club_options(&c);
        o.order = order_find(SLICE("size"));
        club_open(&c, o, true);
        bool done = club_go(&c, RUNS_MAX);
        uint32_t n = c.made.n, part = n ? (uint32_t)(seed * 7 % n) : 0;
        club_close(&c);
        club_open(&c, o, true);
        for (uint32_t i = 0; i < part; i++)
            club_run(&c, c.made.at[i].seat, c.made.at[i].faultload);
        done = done && club_go(&c, RUNS_MAX);
        for (uint32_t i = 0; i < n && done; i++) {
            assert_int_equal(c.made.at[n + i].seat, c.made.at[i].seat);
            assert_int_equal(lab_key(&c.lab, c.made.at[n + i].faultload),
                             lab_key(&c.lab, c.made.at[i].faultload));
        }
        assert_true(!done || c.made.n == 2 * n);
        club_deinit(&c);
        arena_deinit(&a);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_lost),  cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_late),          cmocka_unit_test(test_since),
        cmocka_unit_test(test_unannounced),   cmocka_unit_test(test_unchanged),
        cmocka_unit_test(test_contradiction), cmocka_unit_test(test_audit),
        cmocka_unit_test(test_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
