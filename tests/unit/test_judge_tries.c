/* SPDX-License-Identifier: Apache-2.0
 *
 * What oracles about tries and times say of runs that no simulated system makes: real ones, calls
 * of which it is not known what they ask for or who made them. */
#include "support/court.h"
#include "support/unit.h"

enum { MS = 1000 * 1000 };

/* One more call, answered 200 after ms. */
static struct call *court_call(struct court *c, uint32_t parent, const char *service,
                               const char *interface, uint32_t n, int64_t start_ms, int64_t ms)
{
    return court_add(c, parent, service, interface, n, start_ms * MS, ms * MS);
}

/* A fault fires at the call: a lost reply where it is done, else 503. */
static struct fault fire(struct call *c, bool done)
{
    struct err e = {0};
    assert_int_equal(mode_parse(done ? SLICE("lost-reply:503") : SLICE("503"), &c->mode, &e), 0);
    c->fault_point = c->uid;
    c->handled = done;
    c->seen = OUTCOME(OUT_STATUS, 503);
    return (struct fault){c->uid, c->mode};
}

/* How often the oracle speaks. */
static uint32_t court_count(struct court *c, const char *oracle)
{
    uint32_t n = 0;
    judge_finish(c->judge, true, &c->summary);
    for (uint32_t i = 0; i < c->summary.remarks.n; i++)
        n += strcmp(c->summary.remarks.at[i].oracle, oracle) == 0;
    return n;
}

/* ---- slow-elsewhere ---- */

/* The call to a fails, and b takes so many milliseconds. */
static void run_beside(struct court *c, int64_t ms)
{
    court_call(c, CALL_NONE, "web", "GET /", 0, 0, ms + 90);
    struct fault f = fire(court_call(c, 0, "a", "GET /", 0, 0, 10), false);
    court_call(c, 0, "b", "GET /", 0, 20, ms);
    court_judge(c, faultload_extend(&c->faultloads, FAULTLOAD_EMPTY, f));
}

static void slow_run(struct court *c)
{
    run_beside(c, 1010);
}

static void usual_run(struct court *c)
{
    court_call(c, CALL_NONE, "web", "GET /", 0, 0, 40);
    court_call(c, 0, "a", "GET /", 0, 0, 10);
    court_call(c, 0, "b", "GET /", 0, 20, 10);
    court_judge(c, FAULTLOAD_EMPTY);
}

static void a_machine_may_be_slow_once(void **state)
{
    struct court c;
    faultload doubts[4];
    (void)state;
    court_open(&c);
    c.run.wall_ns = 1;
    usual_run(&c);
    assert_int_equal(judge_doubts(c.judge, doubts, 4), 0);
    slow_run(&c);
    assert_int_equal(court_count(&c, "slow-elsewhere"), 0);
    assert_int_equal(judge_doubts(c.judge, doubts, 4), 1); /* it is worth another run */
    slow_run(&c);
    assert_int_equal(court_count(&c, "slow-elsewhere"), 0);
    slow_run(&c);
    assert_int_equal(court_count(&c, "slow-elsewhere"), 1);
    assert_int_equal(judge_doubts(c.judge, doubts, 4), 0);
    court_close(&c);

    court_open(&c); /* fast runs with the same fault count as well */
    c.run.wall_ns = 1;
    usual_run(&c);
    for (uint32_t i = 0; i < 3; i++) {
        slow_run(&c);
        run_beside(&c, 10);
    }
    assert_int_equal(court_count(&c, "slow-elsewhere"), 0);
    assert_int_equal(judge_doubts(c.judge, doubts, 4), 0);
    court_close(&c);

    court_open(&c); /* in memory */
    usual_run(&c);
    slow_run(&c);
    assert_int_equal(court_count(&c, "slow-elsewhere"), 1);
    court_close(&c);
}

/* The client's service pauses before it calls anybody, or before b: with a fault at a, or at b. */
static void pause_run(struct court *c, bool before_a, bool at_b)
{
    int64_t a = before_a ? 500 : 0, b = a + (before_a ? 20 : 520);
    court_call(c, CALL_NONE, "web", "GET /", 0, 0, 560);
    struct call *first = court_call(c, 0, "a", "GET /", 0, a, 10);
    struct fault f = {0};
    if (!at_b)
        f = fire(first, false);
    struct call *second = court_call(c, 0, "b", "GET /", 0, b, 10);
    if (at_b)
        f = fire(second, false);
    court_judge(c, faultload_extend(&c->faultloads, FAULTLOAD_EMPTY, f));
}

static void pauses_that_the_fault_did_not_make(void **state)
{
    struct court c;
    (void)state;
    court_open(&c); /* before the fault */
    c.run.wall_ns = 1;
    usual_run(&c);
    for (uint32_t i = 0; i < 4; i++)
        pause_run(&c, true, false);
    assert_int_equal(court_count(&c, "slow-elsewhere"), 0);
    for (uint32_t i = 0; i < 4; i++)
        pause_run(&c, false, true);
    assert_int_equal(court_count(&c, "slow-elsewhere"), 0);
    court_close(&c);

    court_open(&c); /* after it, in all runs with it: so it is told */
    c.run.wall_ns = 1;
    usual_run(&c);
    for (uint32_t i = 0; i < 3; i++)
        pause_run(&c, false, false);
    assert_int_equal(court_count(&c, "slow-elsewhere"), 1);
    court_close(&c);
}

static void a_run_that_was_cut_off_is_no_measure(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    usual_run(&c);
    c.run.flags = RUN_HUNG;
    slow_run(&c);
    assert_int_equal(court_count(&c, "slow-elsewhere"), 0);
    court_close(&c);
}

/* Two items, of which the first takes long. It is tried again, under the name of the second. */
static void the_name_of_a_retry_may_be_that_of_another_item(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    court_call(&c, CALL_NONE, "web", "GET /", 0, 0, 1100);
    court_call(&c, 0, "a", "GET /[id]", 0, 0, 1000);
    court_call(&c, 0, "a", "GET /[id]", 1, 1010, 10);
    court_judge(&c, FAULTLOAD_EMPTY);

    court_call(&c, CALL_NONE, "web", "GET /", 0, 0, 1200);
    struct fault f = fire(court_call(&c, 0, "a", "GET /[id]", 0, 0, 10), false);
    court_call(&c, 0, "a", "GET /[id]", 1, 20, 1000);
    court_call(&c, 0, "a", "GET /[id]", 2, 1030, 10);
    court_judge(&c, faultload_extend(&c.faultloads, FAULTLOAD_EMPTY, f));
    assert_int_equal(court_count(&c, "slow-elsewhere"), 0);
    court_close(&c);
}

/* ---- inverted-timeouts ---- */

/* A test asks web, which asks a. Where a is held, the test is gone before web is. */
static void tested_run(struct court *c, bool held)
{
    struct err e = {0};
    court_call(c, CALL_NONE, "client", "scenario/x", 0, 0, held ? 4000 : 100);
    struct call *web = court_call(c, 0, "web", "GET /", 0, 0, held ? 4000 : 100);
    struct call *a = court_call(c, 1, "a", "GET /", 0, 10, held ? 8000 : 80);
    web->flags |= CALL_EXEMPT;
    if (!held) {
        court_judge(c, FAULTLOAD_EMPTY);
        return;
    }
    assert_int_equal(mode_parse(SLICE("hold"), &a->mode, &e), 0);
    a->fault_point = a->uid;
    a->seen = web->seen = OUTCOME(OUT_CANCELLED, 0);
    struct fault f = {a->uid, a->mode};
    court_judge(c, faultload_extend(&c->faultloads, FAULTLOAD_EMPTY, f));
}

/* A test that is killed because the run takes too long has no timeout of its own. */
static void a_test_that_is_killed_does_not_give_up(void **state)
{
    struct court c;
    (void)state;
    for (uint32_t hung = 0; hung < 2; hung++) {
        court_open(&c);
        tested_run(&c, false);
        c.run.flags = hung ? RUN_HUNG : 0;
        tested_run(&c, true);
        assert_int_equal(court_count(&c, "inverted-timeouts"), 1 - hung);
        court_close(&c);
    }
}

/* ---- tries ---- */

/* Without faults `usual` calls to a; then `tries`, which all fail, one right after the other. */
static void failing_tries(struct court *c, uint32_t usual, uint32_t tries)
{
    faultload f = FAULTLOAD_EMPTY;
    court_call(c, CALL_NONE, "web", "GET /", 0, 0, 100);
    for (uint32_t i = 0; i < usual; i++)
        court_call(c, 0, "a", "GET /[id]", i, i, 1);
    court_judge(c, FAULTLOAD_EMPTY);
    court_call(c, CALL_NONE, "web", "GET /", 0, 0, 100);
    for (uint32_t i = 0; i < tries; i++) {
        struct fault fault = fire(court_call(c, 0, "a", "GET /[id]", i, i, 1), false);
        f = faultload_extend(&c->faultloads, f, fault);
    }
    court_judge(c, f);
}

static const struct {
    uint32_t usual, tries;
    uint8_t flags;
    uint32_t in_vain, storm; /* how often is it said? */
} tries_cases[] = {
    {1, 2, 0, 1, 0},           {1, 5, 0, 1, 0},  {1, 6, 0, 1, 1}, {2, 2, 0, 0, 0}, /* a loop */
    {2, 3, 0, 0, 0}, /* which of them is tried again is not known */
    {2, 11, 0, 0, 0},          {2, 12, 0, 0, 1}, {7, 7, 0, 0, 0}, {1, 6, CALL_AMBIGUOUS, 0, 0},
    {1, 6, CALL_EXEMPT, 0, 0}, /* a test tries again */
};

static void tries_of_unknown_requests(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tries_cases / sizeof *tries_cases; i++) {
        struct court c;
        court_open(&c);
        c.flags = tries_cases[i].flags;
        failing_tries(&c, tries_cases[i].usual, tries_cases[i].tries);
        assert_int_equal(court_count(&c, "retry-without-effect"), tries_cases[i].in_vain);
        assert_int_equal(court_count(&c, "retry-storm"), tries_cases[i].storm);
        court_close(&c);
    }
}

/* ---- duplicate-effect ---- */

/* Without faults `usual` calls; then the reply of the first is lost and there is one more. */
static uint32_t duplicates(uint32_t usual, uint8_t flags, int64_t gap_ms)
{
    struct court c;
    court_open(&c);
    c.flags = flags;
    for (uint32_t run = 0; run < 2; run++) {
        faultload f = FAULTLOAD_EMPTY;
        court_call(&c, CALL_NONE, "web", "POST /", 0, 0, 1000);
        for (uint32_t i = 0; i < usual + run; i++) {
            struct call *call = court_call(&c, 0, "card", "POST /", i, i * gap_ms, 10);
            if (run && i == 0)
                f = faultload_extend(&c.faultloads, f, fire(call, true));
        }
        court_judge(&c, f);
    }
    uint32_t n = court_count(&c, "duplicate-effect");
    court_close(&c);
    return n;
}

static void duplicates_of_unknown_requests(void **state)
{
    (void)state;
    assert_int_equal(duplicates(1, 0, 20), 1);
    assert_int_equal(duplicates(3, 0, 20), 1); /* one more than the three items */
    assert_int_equal(duplicates(1, 0, 5), 0);  /* beside the first: not because of it */
    assert_int_equal(duplicates(1, CALL_AMBIGUOUS, 20), 0); /* it may be somebody else's */
    assert_int_equal(duplicates(1, CALL_EXEMPT, 20), 0);    /* a test tries again */
}

/* ---- real doors ---- */

/* Both tries of a call fail, the second so long after the first. */
static void two_tries(struct court *c, int64_t wait_ms)
{
    faultload f = FAULTLOAD_EMPTY;
    court_call(c, CALL_NONE, "web", "GET /", 0, 0, 300);
    f = faultload_extend(&c->faultloads, f, fire(court_call(c, 0, "a", "POST /", 0, 0, 1), false));
    f = faultload_extend(&c->faultloads, f,
                         fire(court_call(c, 0, "a", "POST /", 1, 1 + wait_ms, 1), false));
    court_judge(c, f);
}

static void calm_run(struct court *c, uint32_t request)
{
    court_call(c, CALL_NONE, "web", "GET /", 0, 0, 10);
    court_call(c, 0, "a", "POST /", 0, 0, 1)->request = request;
    court_judge(c, FAULTLOAD_EMPTY);
}

static void a_random_back_off_is_short_now_and_then(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    c.run.wall_ns = 1;
    calm_run(&c, 0);
    two_tries(&c, 80);
    two_tries(&c, 1);
    assert_int_equal(court_count(&c, "retry-without-effect"), 0);
    two_tries(&c, 30);
    assert_int_equal(court_count(&c, "retry-without-effect"), 0);
    court_close(&c);

    court_open(&c); /* a machine is slow now and then */
    c.run.wall_ns = 1;
    calm_run(&c, 0);
    two_tries(&c, 1);
    two_tries(&c, 30);
    two_tries(&c, 1);
    two_tries(&c, 1);
    assert_int_equal(court_count(&c, "retry-without-effect"), 1);
    court_close(&c);
}

/* Most retries at once take longer than 5 ms there. A wait shows in the least of them. */
static void a_busy_machine_hides_no_habit(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    c.run.wall_ns = 1;
    calm_run(&c, 0);
    for (int64_t wait = 12; wait > 0; wait -= 2)
        two_tries(&c, wait);
    assert_int_equal(court_count(&c, "retry-without-effect"), 1);
    court_close(&c);

    court_open(&c);
    c.run.wall_ns = 1;
    calm_run(&c, 0);
    for (int64_t wait = 12; wait >= 6; wait -= 2)
        two_tries(&c, wait);
    assert_int_equal(court_count(&c, "retry-without-effect"), 0);
    court_close(&c);
}

/* Between a retry at once and a wait, one more run is asked for, and tells. */
static void an_undecided_retry_is_looked_at_again(void **state)
{
    struct court c;
    faultload doubts[4];
    (void)state;
    court_open(&c);
    c.settings.severity[ORACLE_SLOW_ELSEWHERE] = SEVERITY_OFF;
    c.run.wall_ns = 1;
    calm_run(&c, 0);
    two_tries(&c, 8);
    assert_int_equal(court_count(&c, "retry-without-effect"), 0);
    assert_int_equal(judge_doubts(c.judge, doubts, 4), 1);
    assert_int_equal(faultload_size(&c.faultloads, doubts[0]), 2);
    two_tries(&c, 1);
    assert_int_equal(judge_doubts(c.judge, doubts, 4), 0);
    assert_int_equal(court_count(&c, "retry-without-effect"), 1);
    court_close(&c);

    court_open(&c); /* a wait is one */
    c.settings.severity[ORACLE_SLOW_ELSEWHERE] = SEVERITY_OFF;
    c.run.wall_ns = 1;
    calm_run(&c, 0);
    two_tries(&c, 40);
    assert_int_equal(judge_doubts(c.judge, doubts, 4), 0);
    court_close(&c);
}

/* a is tried again, after so long, and then answers; b is not. */
static void run_one_retried(struct court *c, int64_t wait_ms)
{
    court_call(c, CALL_NONE, "web", "GET /", 0, 0, 300);
    struct fault f = fire(court_call(c, 0, "a", "GET /", 0, 0, 1), false);
    court_call(c, 0, "a", "GET /", 1, 1 + wait_ms, 1);
    court_call(c, 0, "b", "GET /", 0, 100, 1);
    court_judge(c, faultload_extend(&c->faultloads, FAULTLOAD_EMPTY, f));

    court_call(c, CALL_NONE, "web", "GET /", 0, 0, 300)->reply = OUTCOME(OUT_STATUS, 502);
    court_call(c, 0, "a", "GET /", 0, 0, 1);
    f = fire(court_call(c, 0, "b", "GET /", 0, 100, 1), false);
    court_judge(c, faultload_extend(&c->faultloads, FAULTLOAD_EMPTY, f));
}

/* What takes 8 ms once may be at once on a busy machine: no measure for others. */
static void uneven_retries_are_measured_by_waits(void **state)
{
    static const struct {
        int64_t wait_ms[3];
        uint32_t said;
    } cases[] = {{{8, 8, 8}, 0}, {{40, 8, 40}, 0}, {{40, 25, 60}, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct court c;
        court_open(&c);
        c.run.wall_ns = 1;
        usual_run(&c);
        for (size_t k = 0; k < 3; k++)
            run_one_retried(&c, cases[i].wait_ms[k]);
        assert_int_equal(court_count(&c, "uneven-retry"), cases[i].said);
        court_close(&c);
    }
}

/* A fault is acted out before the request is read. */
static const struct {
    uint32_t usual, again, retry; /* requests: of two fault-free runs, and of the retry */
    uint32_t said;
} asked_cases[] = {
    {5, 5, 5, 1}, {5, 5, 6, 0}, /* something else is asked */
    {5, 7, 6, 1},               /* it differs from run to run: not known */
    {0, 0, 6, 1}, {5, 5, 0, 1},
};

static void what_was_asked_is_known_from_other_runs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof asked_cases / sizeof *asked_cases; i++) {
        struct court c;
        court_open(&c);
        calm_run(&c, asked_cases[i].usual);
        calm_run(&c, asked_cases[i].again);
        court_call(&c, CALL_NONE, "web", "GET /", 0, 0, 10);
        struct fault f = fire(court_call(&c, 0, "a", "POST /", 0, 0, 1), false);
        court_call(&c, 0, "a", "POST /", 1, 1, 1)->request = asked_cases[i].retry;
        court_judge(&c, faultload_extend(&c.faultloads, FAULTLOAD_EMPTY, f));
        two_tries(&c, 0);
        assert_int_equal(court_count(&c, "retry-without-effect"), asked_cases[i].said);
        court_close(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_may_be_slow_once),
        cmocka_unit_test(pauses_that_the_fault_did_not_make),
        cmocka_unit_test(a_run_that_was_cut_off_is_no_measure),
        cmocka_unit_test(a_test_that_is_killed_does_not_give_up),
        cmocka_unit_test(the_name_of_a_retry_may_be_that_of_another_item),
        cmocka_unit_test(tries_of_unknown_requests),
        cmocka_unit_test(duplicates_of_unknown_requests),
        cmocka_unit_test(a_random_back_off_is_short_now_and_then),
        cmocka_unit_test(a_busy_machine_hides_no_habit),
        cmocka_unit_test(an_undecided_retry_is_looked_at_again),
        cmocka_unit_test(uneven_retries_are_measured_by_waits),
        cmocka_unit_test(what_was_asked_is_known_from_other_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
