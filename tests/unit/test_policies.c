/* SPDX-License-Identifier: Apache-2.0
 *
 * Policies: each by itself, then all of them on a model of a system, over many seeds: how many trials
 * until each of its bugs shows. more-in-soak: more seeds, and the table (POLICY_TABLE=1 prints it).
 *
 * The model is what Figure 10 of Legolas is about. Of three nodes each has a state with most of the
 * requests, some with a few dozen, many with one to four, and some that come in one trial of three
 * only. Bugs sit at one site of one state; a third of them not at the first request in it. */
#include <stdio.h>

#include "base/vec.h"
#include "support/unit.h"
#include "trial/policy.h"

enum { NODES = 3, HOT = 1, WARM = 3, COLD = 12, RARE = 4, KINDS = 4, BUGS = 12, TRIALS = 400 };
enum { STATES = HOT + WARM + COLD + RARE, SITES_MAX = 6, REQUESTS_MAX = 5000, POINTS_MAX = 1000 };

/* ---- the model ---- */

struct model_state {
    uint32_t least, most;    /* requests in a trial */
    uint32_t sites, callers; /* of them different ones */
    uint32_t in;             /* in one of so many trials */
};

struct model_bug {
    uint32_t node, state, site, from; /* not before this request in the state, from 1 */
};

struct request {
    struct outfox_point point; /* `requests`: which one of the point */
    uint32_t in_state;         /* which one of the state */
};

struct model {
    struct model_state state[NODES][STATES];
    struct model_bug bug[BUGS];
    struct request request[REQUESTS_MAX];
    uint32_t n;
    struct outfox_point point[POINTS_MAX];
    uint32_t n_points;
    struct rng rng;
};

static uint32_t between(struct rng *r, uint32_t least, uint32_t most)
{
    return least + rng_below(r, most - least + 1);
}

static void make_model(struct model *m, uint64_t seed)
{
    m->rng = (struct rng){seed};
    for (uint32_t n = 0; n < NODES; n++)
        for (uint32_t s = 0; s < STATES; s++) {
            struct model_state *x = &m->state[n][s];
            *x = s < HOT                 ? (struct model_state){800, 1200, 6, 4, 1}
                 : s < HOT + WARM        ? (struct model_state){20, 60, 4, 4, 1}
                 : s < HOT + WARM + COLD ? (struct model_state){1, 4, 2, 2, 1}
                                         : (struct model_state){1, 3, 2, 2, 3};
        }
    for (uint32_t i = 0; i < BUGS; i++) { /* 1 hot, 1 warm, 8 cold, 2 rare */
        uint32_t s = i < 1    ? 0
                     : i < 2  ? between(&m->rng, HOT, HOT + WARM - 1)
                     : i < 10 ? between(&m->rng, HOT + WARM, HOT + WARM + COLD - 1)
                              : between(&m->rng, HOT + WARM + COLD, STATES - 1);
        uint32_t node = rng_below(&m->rng, NODES);
        m->bug[i] =
            (struct model_bug){node, s, rng_below(&m->rng, m->state[node][s].sites), 1 + i % 2};
    }
}

static struct outfox_point *point_of(struct model *m, const struct outfox_point *wanted)
{
    for (uint32_t i = 0; i < m->n_points; i++)
        if (m->point[i].key == wanted->key)
            return &m->point[i];
    assert_true(m->n_points < POINTS_MAX);
    m->point[m->n_points] = *wanted;
    m->point[m->n_points].requests = 0;
    return &m->point[m->n_points++];
}

/* All requests of a trial, in an order of its own. */
static void make_requests(struct model *m)
{
    m->n = m->n_points = 0;
    for (uint32_t n = 0; n < NODES; n++)
        for (uint32_t s = 0; s < STATES; s++) {
            const struct model_state *x = &m->state[n][s];
            uint32_t count = rng_below(&m->rng, x->in) ? 0 : between(&m->rng, x->least, x->most);
            for (uint32_t i = 0; i < count; i++) {
                struct outfox_point p = {.node = (uint16_t)n,
                                         .state = s,
                                         .site = s * SITES_MAX + rng_below(&m->rng, x->sites),
                                         .caller = 1 + rng_below(&m->rng, x->callers)};
                p.key = outfox_point_key(&p);
                m->request[m->n++] = (struct request){.point = p};
            }
        }
    for (uint32_t i = m->n - 1; i > 0; i--) {
        uint32_t k = rng_below(&m->rng, i + 1);
        struct request swap = m->request[i];
        m->request[i] = m->request[k];
        m->request[k] = swap;
    }
    uint32_t in_state[NODES][STATES] = {0};
    for (uint32_t i = 0; i < m->n; i++) {
        struct request *r = &m->request[i];
        r->in_state = ++in_state[r->point.node][r->point.state];
        r->point.requests = ++point_of(m, &r->point)->requests;
    }
}

/* What programs do with a rule. */
static bool grants(const struct trial_policy *p, const struct trial_order *o,
                   const struct request *r, uint32_t nth, struct rng *dice)
{
    switch (o->rule) {
    case OUTFOX_RULE_NONE: return false;
    case OUTFOX_RULE_POINT: return r->point.key == o->key && r->point.requests >= o->nth;
    case OUTFOX_RULE_STATE:
        return policy_state(&r->point) == o->key && (uint32_t)rng_next(dice) < o->chance;
    case OUTFOX_RULE_NEW: return !policy_knows(p, policy_state(&r->point));
    case OUTFOX_RULE_REQUEST: return nth >= o->nth;
    }
    return false;
}

/* One trial. The bug that showed; BUGS: none. */
static uint32_t carry_out(struct model *m, struct trial_policy *p, const struct trial_order *o)
{
    struct outfox_injection in = {0};
    struct rng dice = {o->seed};
    const struct request *hit = NULL;
    make_requests(m);
    for (uint32_t i = 0; i < m->n && !hit; i++)
        hit = grants(p, o, &m->request[i], i + 1, &dice) ? &m->request[i] : NULL;
    if (hit)
        in = (struct outfox_injection){.done = 1, .point = hit->point};
    const struct trial_seen seen = {.point = m->point,
                                    .n_points = m->n_points,
                                    .requests = m->n,
                                    .injection = hit ? &in : NULL};
    policy_took(p, o, &seen);
    for (uint32_t i = 0; hit && i < BUGS; i++) {
        const struct model_bug *b = &m->bug[i];
        if (b->node == hit->point.node && b->state == hit->point.state &&
            hit->point.site == b->state * SITES_MAX + b->site && hit->in_state >= b->from)
            return i;
    }
    return BUGS;
}

/* ---- how many trials each needs ---- */

struct score {
    uint32_t found;        /* bugs within TRIALS */
    uint32_t at[BUGS];     /* trials until each; 0: not found */
    uint32_t trials, made; /* until it was over; with a fault */
};

static struct score play(const char *name, bool total, uint64_t seed)
{
    struct model *m = mem_zero(sizeof *m);
    struct score score = {0};
    const struct policy_setup setup = {.seed = seed,
                                       .act = OUTFOX_ERROR,
                                       .nodes = UINT64_MAX,
                                       .budget = 5,
                                       .epsilon = 0.01,
                                       .total = total};
    struct trial_policy *p = policy_new(policy_find(slice_of(name)), &setup);
    make_model(m, seed);
    for (uint32_t i = 0; i < 3; i++) { /* references */
        struct trial_order o = {.rule = OUTFOX_RULE_NONE};
        (void)carry_out(m, p, &o);
    }
    for (uint32_t i = 1; i <= TRIALS; i++) {
        struct trial_order o = {.number = i, .seed = outfox_mix(seed, i)};
        if (!policy_next(p, &o))
            break;
        uint32_t bug = carry_out(m, p, &o);
        score.trials = i;
        if (bug < BUGS && !score.at[bug]) {
            score.at[bug] = i;
            score.found++;
        }
    }
    policy_free(p);
    mem_free(m);
    return score;
}

static int by_number(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static uint32_t median(uint32_t *numbers, uint32_t n)
{
    qsort(numbers, n, sizeof *numbers, by_number);
    return numbers[n / 2];
}

enum { SEEDS_MAX = 100 };

static const struct {
    const char *name;
    bool total;
    const char *title;
} players[] = {{"bsrr", false, "bsrr"},
               {"bsrr", true, "bsrr, c of all trials"},
               {"new-state", false, "new-state"},
               {"random", false, "random"},
               {"exhaustive", false, "exhaustive"}};
enum { PLAYERS = sizeof players / sizeof *players };

/* Trials of a bug that was not found count as TRIALS + 1. */
static void tell(uint32_t player, const struct score *scores, uint32_t seeds)
{
    static const uint32_t first[KINDS + 1] = {0, 1, 2, 10, BUGS};
    uint32_t found[SEEDS_MAX], trials[SEEDS_MAX * BUGS];
    for (uint32_t i = 0; i < seeds; i++)
        found[i] = scores[i].found;
    printf("| %s | %u |", players[player].title, median(found, seeds));
    for (uint32_t k = 0; k < KINDS; k++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < seeds; i++)
            for (uint32_t b = first[k]; b < first[k + 1]; b++)
                trials[n++] = scores[i].at[b] ? scores[i].at[b] : TRIALS + 1;
        uint32_t middle = median(trials, n);
        printf(middle > TRIALS ? " more than %u |" : " %u |", middle > TRIALS ? TRIALS : middle);
    }
    printf("\n");
}

static void test_race(void **state)
{
    uint32_t seeds = volume(20), found[PLAYERS] = {0};
    static struct score scores[PLAYERS][SEEDS_MAX];
    (void)state;
    seeds = seeds < 10 ? 10 : seeds;
    for (uint32_t p = 0; p < PLAYERS; p++)
        for (uint32_t i = 0; i < seeds; i++) {
            scores[p][i] = play(players[p].name, players[p].total, 1000 + i);
            found[p] += scores[p][i].found;
        }
    if (getenv("POLICY_TABLE"))
        for (uint32_t p = 0; p < PLAYERS; p++)
            tell(p, scores[p], seeds);
    assert_true(found[0] >= 2 * found[3]);
    assert_true(found[0] >= 2 * found[2]);
    assert_true(found[0] >= 2 * found[1]);
}

/* ---- each by itself ---- */

static struct outfox_point point_at(uint16_t node, uint32_t state, uint32_t site, uint32_t requests)
{
    struct outfox_point p = {.node = node, .state = state, .site = site};
    p.key = outfox_point_key(&p);
    p.requests = requests;
    return p;
}

static struct trial_policy *open_policy(const char *name, uint32_t budget, policy_errors *errors)
{
    const struct policy_setup setup = {
        .seed = 7, .act = OUTFOX_ERROR, .budget = budget, .epsilon = 0.01, .errors = errors};
    return policy_new(policy_find(slice_of(name)), &setup);
}

static void tell_policy(struct trial_policy *p, const struct trial_order *o,
                        const struct outfox_point *points, uint32_t n,
                        const struct outfox_point *harmed)
{
    struct outfox_injection in = {.done = 1};
    uint64_t requests = 0;
    for (uint32_t i = 0; i < n; i++)
        requests += points[i].requests;
    if (harmed)
        in.point = *harmed;
    const struct trial_seen seen = {points, n, requests, harmed ? &in : NULL};
    policy_took(p, o, &seen);
}

static const struct trial_order quiet = {.rule = OUTFOX_RULE_NONE};

static uint32_t two_errors(void *user, uint32_t module, uint32_t site, int errors[OUTFOX_ERRORS])
{
    (void)user, (void)module;
    errors[0] = 5;
    errors[1] = 28;
    return site == 1 ? 2 : 0;
}

static void test_exhaustive(void **state)
{
    struct trial_policy *p = open_policy("exhaustive", 5, two_errors);
    const struct outfox_point points[] = {point_at(0, 1, 1, 3), point_at(0, 1, 2, 1)};
    const struct outfox_point late = point_at(1, 0, 9, 1);
    struct trial_order o = {0};
    (void)state;
    assert_true(policy_next(p, &o) && o.rule == OUTFOX_RULE_NONE); /* it knows nothing */
    tell_policy(p, &o, points, 2, NULL);
    assert_true(policy_next(p, &o) && o.rule == OUTFOX_RULE_POINT && o.key == points[0].key);
    assert_true(o.error == 5 && o.nth == 1);
    assert_true(policy_next(p, &o) && o.key == points[0].key && o.error == 28);
    assert_true(policy_next(p, &o) && o.key == points[1].key && o.error == 0);
    assert_false(policy_next(p, &o));
    tell_policy(p, &o, &late, 1, NULL); /* what comes late is tried, too */
    assert_true(policy_next(p, &o) && o.key == late.key);
    assert_false(policy_next(p, &o));
    policy_free(p);
}

static void test_random(void **state)
{
    struct trial_policy *p = open_policy("random", 5, NULL);
    const struct outfox_point points[] = {point_at(0, 1, 1, 7), point_at(0, 1, 2, 3)};
    const struct outfox_point cut = point_at(0, 1, 1, 1);
    uint32_t seen[12] = {0};
    struct trial_order o = {0};
    (void)state;
    assert_true(policy_next(p, &o) && o.rule == OUTFOX_RULE_NONE);
    tell_policy(p, &o, points, 2, NULL);
    tell_policy(p, &o, &cut, 1, &cut); /* a fault cut it short: that says nothing */
    for (uint32_t i = 0; i < 2000; i++) {
        assert_true(policy_next(p, &o) && o.rule == OUTFOX_RULE_REQUEST);
        assert_in_range(o.nth, 1, 10);
        seen[o.nth]++;
    }
    for (uint32_t i = 1; i <= 10; i++)
        assert_in_range(seen[i], 140, 260);
    policy_free(p);
}

static void test_new_state(void **state)
{
    struct trial_policy *p = open_policy("new-state", 5, NULL);
    const struct outfox_point a = point_at(0, 1, 1, 7);
    struct trial_order o = {0};
    uint32_t idle = 0;
    (void)state;
    assert_true(policy_next(p, &o) && o.rule == OUTFOX_RULE_NEW);
    assert_false(policy_knows(p, policy_state(&a)));
    tell_policy(p, &o, &a, 1, &a);
    assert_true(policy_knows(p, policy_state(&a)));
    while (policy_next(p, &o) && idle < 100) {
        tell_policy(p, &o, &a, 1, NULL);
        idle++;
    }
    assert_int_equal(idle, 20); /* then it has given up */
    policy_free(p);
}

static void test_point(void **state)
{
    const struct policy_setup setup = {.point = {.key = 3, .nth = 4, .error = 5, .seed = 6}};
    struct trial_policy *p = policy_new(policy_find(SLICE("point")), &setup);
    struct trial_order o = {0};
    (void)state;
    assert_true(policy_next(p, &o) && o.rule == OUTFOX_RULE_POINT);
    assert_true(o.key == 3 && o.nth == 4 && o.error == 5 && o.seed == 6);
    assert_false(policy_next(p, &o));
    policy_free(p);
}

/* ---- bsrr, step by step ---- */

static uint64_t focus(struct trial_policy *p, struct trial_order *o)
{
    assert_true(policy_next(p, o));
    assert_int_equal(o->rule, OUTFOX_RULE_STATE);
    return o->key;
}

static void test_chance(void **state)
{
    (void)state;
    /* of c + 1 requests all are refused in 1 trial of 100 */
    for (uint32_t c = 0; c < 500; c += 7) {
        double p = policy_chance(0.01, c), refused = 1;
        for (uint32_t i = 0; i < c + 1; i++)
            refused *= 1 - p;
        assert_true(refused > 0.0099 && refused < 0.0101);
    }
    assert_true(policy_chance(0.01, 0) > 0.98 && policy_chance(0.01, 0) < 1);
}

static void test_bsrr_round(void **state)
{
    struct trial_policy *p = open_policy("bsrr", 2, NULL);
    const struct outfox_point points[] = {point_at(0, 1, 1, 9), point_at(0, 2, 2, 1),
                                          point_at(1, 1, 1, 1)};
    uint64_t a = policy_state(&points[0]), b = policy_state(&points[1]),
             c = policy_state(&points[2]);
    struct trial_order o = {0};
    (void)state;
    assert_true(policy_next(p, &o) && o.rule == OUTFOX_RULE_NONE);
    tell_policy(p, &quiet, points, 3, NULL);
    assert_true(focus(p, &o) == a); /* nothing was in focus before */
    uint32_t chance = (uint32_t)(policy_chance(0.01, 9) * 0x1p32);
    assert_int_equal(o.chance, chance);
    tell_policy(p, &o, points, 3, &points[0]);
    assert_true(focus(p, &o) == b);
    tell_policy(p, &o, points, 3, NULL); /* not met: keeps its budget */
    assert_true(focus(p, &o) == c);
    tell_policy(p, &o, points, 3, &points[2]);
    assert_true(focus(p, &o) == a);
    assert_int_equal(o.chance, chance);        /* c is of one trial */
    tell_policy(p, &o, points, 3, &points[0]); /* a has used its budget, and leaves the round: */
    /* as Algorithm 2 is written, the next one then goes to the end, and is passed over once */
    assert_true(focus(p, &o) == c);
    tell_policy(p, &o, points, 3, &points[2]);
    assert_true(focus(p, &o) == b);
    tell_policy(p, &o, points, 3, &points[1]);
    assert_true(focus(p, &o) == b); /* the only one left */
    tell_policy(p, &o, points, 3, &points[1]);
    assert_true(focus(p, &o) == a); /* all were used: anew, in the order of discovery */
    policy_free(p);
}

/* States that come late join at the end; several trials at a time have different states in focus. */
static void test_bsrr_late(void **state)
{
    struct trial_policy *p = open_policy("bsrr", 5, NULL);
    const struct outfox_point a = point_at(0, 1, 1, 9), b = point_at(0, 2, 2, 1);
    struct outfox_point none = point_at(0, OUTFOX_NO_STATE, 2, 1);
    struct trial_order one = {0}, two = {0};
    (void)state;
    none.state_module = OUTFOX_NO_MODULE;
    tell_policy(p, &quiet, &a, 1, NULL);
    assert_true(focus(p, &one) == policy_state(&a));
    tell_policy(p, &one, &b, 1, NULL);
    assert_true(focus(p, &one) == policy_state(&b));
    assert_true(focus(p, &two) == policy_state(&a));
    tell_policy(p, &two, &none, 1, &none); /* in no state: one more of the node's */
    tell_policy(p, &one, &b, 1, &b);
    assert_true(focus(p, &one) == policy_state(&b));
    assert_true(focus(p, &one) == policy_state(&none) || focus(p, &two) == policy_state(&none));
    policy_free(p);
}

static void test_same_again(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PLAYERS; i++) {
        struct score a = play(players[i].name, players[i].total, 5);
        struct score b = play(players[i].name, players[i].total, 5);
        assert_memory_equal(&a, &b, sizeof a);
    }
}

static void test_found(void **state)
{
    (void)state;
    assert_null(policy_find(SLICE("bsr")));
    for (size_t i = 0; policies[i]; i++)
        assert_ptr_equal(policy_find(slice_of(policies[i]->name)), policies[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),      cmocka_unit_test(test_exhaustive),
        cmocka_unit_test(test_random),     cmocka_unit_test(test_new_state),
        cmocka_unit_test(test_point),      cmocka_unit_test(test_chance),
        cmocka_unit_test(test_bsrr_round), cmocka_unit_test(test_bsrr_late),
        cmocka_unit_test(test_same_again), cmocka_unit_test(test_race),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
