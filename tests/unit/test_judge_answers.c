/* SPDX-License-Identifier: Apache-2.0
 *
 * What oracles about answers read out of words and bodies, and what they say of runs that no
 * simulated system shows: services that nobody reaches, callers that were guessed. */
#include "judge/oracle_int.h"
#include "support/court.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- words ---- */

static void words_of_texts(void **state)
{
    static const struct {
        const char *text, *words;
    } cases[] = {
        {"", ""},
        {"12 34", ""},
        {"/health-check", "health check "},
        {"grpc.health.v1.Health/Check", "grpc health v health check "},
        {"userError", "user error "},
        {"USER_ERROR", "user error "},
        {"IOException", "io exception "},
        {"NullPointerException: x", "null pointer exception x "},
        {"terror exceptional", "terror exceptional "},
        {"a\xc3\xa9z\x01q", "a z q "},
        {"ABC", "abc "},
        {"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b "},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct buf seen = BUF_INIT(200);
        slice rest = slice_of(cases[i].text);
        for (char word[WORD_MAX]; word_next(&rest, word);)
            buf_addf(&seen, "%s ", word);
        assert_string_equal(buf_text(&seen), cases[i].words);
        buf_deinit(&seen);
    }
}

static void health_checks(void **state)
{
    static const char *const checks[] = {"GET /health-check", "GET /healthz", "GET /api/ping",
                                         "grpc.health.v1.Health/Check", "GET /status"};
    static const char *const others[] = {"GET /bookings/[id]",   "POST /checkout", "GET /delivery",
                                         "shop.Cart/GetAlready", "GET /shipping",  ""};
    (void)state;
    for (size_t i = 0; i < LENGTH(checks); i++)
        assert_true(sounds_like_check(slice_of(checks[i])));
    for (size_t i = 0; i < LENGTH(others); i++)
        assert_false(sounds_like_check(slice_of(others[i])));
}

static void what_answers_say(void **state)
{
    static const struct {
        outcome answer;
        bool error, blames;
    } cases[] = {
        {OUTCOME(OUT_STATUS, 200), false, false},    {OUTCOME(OUT_STATUS, 302), false, false},
        {OUTCOME(OUT_STATUS, 404), false, true},     {OUTCOME(OUT_STATUS, 408), false, false},
        {OUTCOME(OUT_STATUS, 424), false, false},    {OUTCOME(OUT_STATUS, 429), false, false},
        {OUTCOME(OUT_STATUS, 500), true, false},     {OUTCOME(OUT_STATUS, 599), true, false},
        {OUTCOME(OUT_GRPC, 0), false, false},        {OUTCOME(OUT_GRPC, 1), false, false},
        {OUTCOME(OUT_GRPC, 3), false, true},         {OUTCOME(OUT_GRPC, 8), false, false},
        {OUTCOME(OUT_GRPC, 10), false, false},       {OUTCOME(OUT_GRPC, 13), true, false},
        {OUTCOME(OUT_GRPC, 16), false, true},        {OUTCOME(OUT_GRPC, 17), false, false},
        {OUTCOME(OUT_GRPC, 0xffffff), false, false}, {OUTCOME(OUT_RESET, 0), false, false},
        {OUTCOME(OUT_EXIT, 1), false, false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        assert_int_equal(answer_is_error(cases[i].answer), cases[i].error);
        assert_int_equal(answer_blames(cases[i].answer), cases[i].blames);
    }
}

/* ---- bodies ---- */

static void errors_in_bodies(void **state)
{
    static const struct {
        const char *now, *was, *values,
            *keys; /* what is found, with values and without; NULL: nothing */
    } cases[] = {
        {"{\"a\":1}", "{\"a\":2}", NULL, NULL},
        {"{\"alert\":\"cannot\"}", "{}", "\"alert\": \"cannot\"", "\"alert\": \"cannot\""},
        {"{\"note\":\"it failed\"}", "{\"note\":\"fine\"}", "\"note\": \"it failed\"", NULL},
        {"{\"note\":\"it failed\"}", "{\"note\":\"it failed\"}", NULL, NULL},
        {"{\"errors\":[]}", "{}", NULL, NULL},
        {"{\"errors\":0}", "{}", NULL, NULL},
        {"{\"error\":null}", "{}", NULL, NULL},
        {"{\"error\":false}", "{}", NULL, NULL},
        {"{\"hasError\":true}", "{\"hasError\":false}", "\"hasError\": true", "\"hasError\": true"},
        {"{\"error\":\"b\"}", "{\"error\":\"a\"}", NULL, NULL},
        {"{\"b\":{\"error\":{\"x\":1}}}", "{\"b\":{\"error\":null}}", "\"error\": {\"x\": 1}",
         "\"error\": {\"x\": 1}"},
        {"[1,[\"timed out\"]]", "[1,[2]]", "\"timed out\"", NULL},
        {"[1,[\"it is out\"]]", "[1,[2]]", NULL, NULL},
        {"\"it failed\"", "\"well\"", "\"it failed\"", NULL},
        {"oh: an Error", "all is well", "error", NULL},
        {"oh: an Error", "no error", NULL, NULL},
        {"oh: an Error", "{}", "error", NULL},
        {"oh: an Error", "", "error", NULL},
        {"", "x", NULL, NULL},
        {"{\"x\":\"failed\\u0007\\n\"}", "{}", "\"x\": \"failed\\u0007\\u000a\"", NULL},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++)
        for (int values = 0; values <= 1; values++) {
            const char *want = values ? cases[i].values : cases[i].keys;
            struct body_error error = {""};
            struct mask was = {0};
            mask_learn(&was, slice_of(cases[i].was), 0);
            bool found = body_find_error(&was, slice_of(cases[i].now), values, &error);
            mask_deinit(&was);
            assert_int_equal(found, want != NULL);
            assert_string_equal(error.quote, want ? want : "");
        }
}

static void long_quotes_are_cut(void **state)
{
    struct buf body = BUF_INIT(1 << 12);
    struct body_error error;
    struct mask was = {0};
    (void)state;
    mask_learn(&was, SLICE("1"), 0);
    for (uint32_t shift = 0; shift < 4; shift++) {
        buf_clear(&body);
        buf_addf(&body, "\"failed %.*s", (int)shift, "xxxx");
        while (body.n < 1000)
            buf_adds(&body, "\xe2\x82\xac");
        buf_adds(&body, "\"");
        assert_true(body_find_error(&was, buf_slice(&body), true, &error));
        size_t n = strlen(error.quote);
        assert_true(n < BODY_QUOTE_MAX && n > BODY_QUOTE_MAX - 10);
        assert_string_equal(error.quote + n - 3, "...");
        assert_memory_equal(error.quote + n - 6, "\xe2\x82\xac", 3);
    }
    mask_deinit(&was);
    buf_deinit(&body);
}

/* ---- runs that are made by hand ---- */

static struct call *court_call(struct court *c, uint32_t parent, const char *service)
{
    return court_add(c, parent, service, "GET /", 0, (int64_t)c->run.trace.calls.n * 10, 5);
}

/* The sentences of one oracle, each with a "; " behind it. */
static void court_says(struct court *c, const char *oracle, const char *want)
{
    struct buf text = BUF_INIT(1000);
    judge_finish(c->judge, true, &c->summary);
    for (uint32_t i = 0; i < c->summary.remarks.n; i++)
        if (strcmp(c->summary.remarks.at[i].oracle, oracle) == 0)
            buf_addf(&text, "%s; ", c->summary.remarks.at[i].why);
    assert_string_equal(buf_text(&text), want);
    buf_deinit(&text);
}

static void end_as(struct call *c, outcome seen, bool handled)
{
    c->seen = c->reply = seen;
    c->handled = handled;
}

static void nobody_is_there(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    court_call(&c, CALL_NONE, "web");
    end_as(court_call(&c, 0, "store"), OUTCOME(OUT_REFUSED, 0), false);
    end_as(court_call(&c, 0, "slow"), OUTCOME(OUT_TIMEOUT, 0), false);
    end_as(court_call(&c, 0, "left"), OUTCOME(OUT_CANCELLED, 0), false);
    court_judge(&c, FAULTLOAD_EMPTY);
    court_says(&c, "failure-without-cause",
               "store GET / cannot be reached, although no fault blocks it; ");
    court_close(&c);
}

/* Two calls of web; under a fault at the first the second answers 500. */
static void sibling_fails(struct court *c, bool guessed, bool fired)
{
    court_call(c, CALL_NONE, "web");
    court_call(c, 0, "a");
    court_call(c, 0, "b");
    court_judge(c, FAULTLOAD_EMPTY);

    court_call(c, CALL_NONE, "web");
    struct call *a = court_call(c, 0, "a");
    struct fault fault = {a->uid, mode_make(MODE_STATUS, 503)};
    if (fired) {
        a->mode = fault.mode;
        a->fault_point = fault.point;
        end_as(a, OUTCOME(OUT_STATUS, 503), false);
    }
    a->flags = guessed ? CALL_AMBIGUOUS : 0;
    end_as(court_call(c, 0, "b"), OUTCOME(OUT_STATUS, 500), true);
    court_judge(c, faultload_extend(&c->faultloads, FAULTLOAD_EMPTY, fault));
}

static void guessed_callers_are_no_proof(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    sibling_fails(&c, false, true);
    court_says(&c, "failure-without-cause",
               "b GET / answers 500 although nothing below it failed; ");
    court_close(&c);
    court_open(&c);
    sibling_fails(&c, true, true);
    court_says(&c, "failure-without-cause", "");
    court_close(&c);
}

static void faults_that_did_not_fire_are_not_named(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    sibling_fails(&c, false, false);
    court_says(&c, "failure-without-cause", "");
    court_close(&c);
}

static void a_test_that_fails_is_no_service(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    c.run.verdict = (struct verdict){.status = OUTCOME(OUT_EXIT, 1), .why = "the test fails"};
    end_as(court_call(&c, CALL_NONE, "test"), OUTCOME(OUT_EXIT, 1), true);
    end_as(court_call(&c, 0, "store"), OUTCOME(OUT_STATUS, 404), true);
    court_judge(&c, FAULTLOAD_EMPTY);
    court_says(&c, "failure-without-cause", "");
    court_close(&c);
}

static void a_service_that_died_is_told_of_elsewhere(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    c.run.flags = RUN_CRASHED;
    court_call(&c, CALL_NONE, "web");
    end_as(court_call(&c, 0, "store"), OUTCOME(OUT_REFUSED, 0), false);
    court_judge(&c, FAULTLOAD_EMPTY);
    court_says(&c, "failure-without-cause", "");
    court_close(&c);
}

/* A run of web, which calls a, b and s, with faults at those that are named in `failing`, and text
 * of an error in the body. */
static void run_failing(struct court *c, const char *failing, uint32_t status)
{
    faultload f = FAULTLOAD_EMPTY;
    c->run.body = SLICE("{\"error\": \"oh\"}");
    court_call(c, CALL_NONE, "web");
    for (const char *name = "abs"; *name; name++) {
        struct call *call = court_call(c, 0, (char[]){*name, 0});
        if (!strchr(failing, *name))
            continue;
        call->mode = mode_make(MODE_STATUS, status);
        call->fault_point = call->uid;
        end_as(call, mode_outcome(call->mode), false);
        f = faultload_extend(&c->faultloads, f, (struct fault){call->uid, call->mode});
    }
    court_judge(c, f);
}

static void run_without_faults(struct court *c)
{
    c->run.body = SLICE("{}");
    court_call(c, CALL_NONE, "web");
    for (const char *name = "abs"; *name; name++)
        court_call(c, 0, (char[]){*name, 0});
    court_judge(c, FAULTLOAD_EMPTY);
}

#define READS(name)                                                                                \
    "the client gets 200 although " name                                                           \
    " GET / failed; only the body mentions an error: \"error\": \"oh\"; "

/* The larger faultload comes first: of what the smaller one shows alone, nothing stays. */
static void the_order_of_runs_does_not_matter(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    run_without_faults(&c);
    run_failing(&c, "as", 500);
    court_says(&c, "hidden-error", READS("s"));
    run_failing(&c, "a", 502);
    court_says(&c, "hidden-error", READS("a"));
    court_close(&c);
}

/* "as" is no more than "a", "bs" is something else; of the two, "as" would be the first. */
static void a_larger_faultload_takes_no_place(void **state)
{
    struct court c;
    (void)state;
    court_open(&c);
    run_without_faults(&c);
    run_failing(&c, "a", 500);
    run_failing(&c, "as", 500);
    run_failing(&c, "bs", 500);
    court_says(&c, "hidden-error", READS("a") READS("s"));
    court_close(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_texts),
        cmocka_unit_test(health_checks),
        cmocka_unit_test(what_answers_say),
        cmocka_unit_test(errors_in_bodies),
        cmocka_unit_test(long_quotes_are_cut),
        cmocka_unit_test(nobody_is_there),
        cmocka_unit_test(guessed_callers_are_no_proof),
        cmocka_unit_test(faults_that_did_not_fire_are_not_named),
        cmocka_unit_test(a_test_that_fails_is_no_service),
        cmocka_unit_test(a_service_that_died_is_told_of_elsewhere),
        cmocka_unit_test(the_order_of_runs_does_not_matter),
        cmocka_unit_test(a_larger_faultload_takes_no_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
