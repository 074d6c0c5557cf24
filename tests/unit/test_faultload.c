/* SPDX-License-Identifier: Apache-2.0
 *
 * Faultloads: text that is read back to what was printed, sets and their parts, and how a call fails
 * by them. */
#include <stdio.h>

#include "core/trace.h"
#include "support/core_lab.h"

/* ---- faultloads ---- */

struct faults {
    struct names names;
    struct faultloads fl;
};

static void faults_init(struct faults *f)
{
    names_init(&f->names);
    faultloads_init(&f->fl);
}

static void faults_deinit(struct faults *f)
{
    names_deinit(&f->names);
    faultloads_deinit(&f->fl);
}

static faultload parse_faultload(struct faults *f, const char *text)
{
    struct err e = {0};
    faultload result = FAULTLOAD_EMPTY;
    if (faultload_parse(&f->names, &f->fl, slice_of(text), &result, &e))
        fail_msg("%s: %s", text, e.text);
    return result;
}

static void test_faultload_text(void **state)
{
    static const struct {
        const char *text, *canonical;
        uint32_t size;
    } rows[] = {
        {"none", NULL, 0},
        {" none\n", "none", 0},
        {"a GET / > b GET /x : 503", NULL, 1},
        {"a GET / > b GET /x #* : lost-reply:reset", NULL, 1},
        {"a GET / > b GET /x : 503 & a GET / > b GET /x #1 : reset", NULL, 2},
        {"a GET / > b GET /x #1 : reset & a GET / > b GET /x : 503", NULL,
         2}, /* as it was written */
        {"a GET / > b GET /x : 503 & a GET / > b GET /x #* : 503", NULL, 2},
        {"  a  GET  /  :  status:503  ", "a GET / : 503", 1},
        {"a p.S/M {0123abcd} ^0123abcd #3 : delay:2000ms & b GET /:x : hold",
         "a p.S/M {0123abcd} ^0123abcd #3 : delay:2s & b GET /:x : hold", 2},
        {"payment down", NULL, 1},
        {" payment  down & a GET / : 503", "payment down & a GET / : 503", 2},
        {"a GET / > b GET /x : refuse & a down & b down", NULL, 3},
        {"a down : refuse", "a down", 1}, /* a call of that name would be the scenario's own */
        {"a down : 503 & a down #1 : refuse", NULL, 2},
        {"a GET / > b down : refuse", NULL, 1},
        {"a slow & b overloaded & c overloaded:7 & d hanging & e gone & f crashing", NULL, 6},
        {"a overloaded:18446744073709551615", NULL, 1},
        {"a slow : delay:5s", "a slow", 1},
        {"a slow : 503 & a gone", NULL, 2},
    };
    struct faults f;
    (void)state;
    faults_init(&f);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(1000);
        faultload load = parse_faultload(&f, rows[i].text);
        assert_int_equal(faultload_size(&f.fl, load), rows[i].size);
        faultload_print(&f.names, &f.fl, load, &text);
        assert_string_equal(buf_text(&text), rows[i].canonical ? rows[i].canonical : rows[i].text);
        buf_deinit(&text);
    }
    faults_deinit(&f);
}

static void test_faultload_errors(void **state)
{
    static const char *const rows[] = {
        "",
        "  ",
        "none & a GET / : 503",
        "a GET /",
        "a GET / :",
        "a GET / : nothing",
        "a GET / : 503 &",
        "a GET / : 503 & ",
        "& a GET / : 503",
        "a GET / : 503 b GET / : 503",
        "a GET / : 503 500",
        "a GET / & b GET / : 503",
        "a : 503",
        ": 503",
        "a GET / : 503 & a GET / : 503",
        "a GET / : 503 & b GET / : 503 & a GET / #0 : 500",
        "a GET /:503",
        "a GET / : 503& b GET / : 503",
        "down",
        "a down & a down",
        "a down & a slow", /* a service can fail as a whole in one way only */
        "a overloaded & b GET / : 503 & a overloaded:7",
        "a down:7", /* no dice decide */
        "a overloaded:0",
        "a overloaded:07",
        "a overloaded:",
        "a overloaded:x",
        "a overloaded:18446744073709551616",
        "a down b GET / : 503",
        "a down #1",
        "a* down",
        "> down",
        "a > b down",
        "payment signal STOP",
        "a -x- b",
        "a at read.c:7",
    };
    struct faults f;
    (void)state;
    faults_init(&f);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        faultload load;
        if (faultload_parse(&f.names, &f.fl, slice_of(rows[i]), &load, &e) == 0)
            fail_msg("\"%s\" is accepted", rows[i]);
        assert_true(e.text[0]);
    }
    faults_deinit(&f);
}

static void test_faultload_sets(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal, within; /* a in b */
    } rows[] = {
        {"none", "none", true, true},
        {"none", "a GET / : 503", false, true},
        {"a GET / : 503", "none", false, false},
        {"a GET / : 503", "a GET / : 503", true, true},
        {"a GET / : 503", "a GET / : 500", false, false},
        {"a GET / : 503", "a GET / #1 : 503", false, false},
        {"a down", "a down", true, true},
        {"a down", "b down", false, false},
        {"a down", "a GET / : refuse", false, false},
        {"a down & b GET / : 503", "b GET / : 503 & a down", true, true},
        {"a down", "b GET / : 503 & a down", false, true},
        {"a GET / : 503", "a GET / #* : 503", false, false},
        {"a GET / : 503", "b GET / : 503", false, false},
        {"a GET / : 503 & b GET / : 500", "b GET / : 500 & a GET / : 503", true, true},
        {"a GET / : 503 & b GET / : 500", "a GET / : 500 & b GET / : 503", false, false},
        {"b GET / : 500", "a GET / : 503 & b GET / : 500", false, true},
        {"a GET / : 503 & b GET / : 500", "b GET / : 500", false, false},
        {"a GET / : 503 & c GET / : 500", "a GET / : 503 & b GET / : 500", false, false},
    };
    struct faults f;
    (void)state;
    faults_init(&f);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        faultload a = parse_faultload(&f, rows[i].a), b = parse_faultload(&f, rows[i].b);
        if (faultload_eq(&f.fl, a, b) != rows[i].equal ||
            faultload_eq(&f.fl, b, a) != rows[i].equal ||
            faultload_within(&f.fl, a, b) != rows[i].within)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        assert_true(faultload_eq(&f.fl, a, a) && faultload_within(&f.fl, b, b));
    }
    faults_deinit(&f);
}

static void test_faultload_at(void **state)
{
    struct faults f;
    (void)state;
    faults_init(&f);
    faultload load = parse_faultload(&f, "a GET / : 503 & b GET / #* : reset & c GET / : hold");
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "a GET /")), parse_mode("503"));
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "b GET / #*")),
                     parse_mode("reset"));
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "c GET /")), parse_mode("hold"));
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "b GET /")), MODE_NONE);
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "a GET / #1")), MODE_NONE);
    assert_int_equal(faultload_at(&f.fl, FAULTLOAD_EMPTY, parse_uid(&f.names, "a GET /")),
                     MODE_NONE);
    faultload less = f.fl.rows.at[load].rest; /* the tree: others are built on it and it stays */
    faultload other = faultload_extend(
        &f.fl, less, (struct fault){parse_uid(&f.names, "d GET /"), parse_mode("500")});
    assert_int_equal(faultload_size(&f.fl, less), 2);
    assert_int_equal(faultload_size(&f.fl, other), 3);
    assert_true(faultload_within(&f.fl, less, other) && faultload_within(&f.fl, less, load));
    assert_false(faultload_within(&f.fl, other, load));
    faults_deinit(&f);
}

/* How calls fail: by the most special fault. */
static void test_faultload_mode(void **state)
{
    static const struct {
        const char *call, *mode, *point;
    } rows[] = {
        {"s GET / > a GET /", "refuse", "s GET / > a GET /"},
        {"s GET / > a GET /x > a p.S/M #3", "refuse", "s GET / > a GET /x > a p.S/M #3"},
        {"s GET / > a GET /x", "503", "s GET / > a GET /x"},
        {"s GET / > a GET /y #2", "reset", "s GET / > a GET /y #*"},
        {"s GET / > b GET /", NULL, "s GET / > b GET /"},
        {"s GET / > b down", NULL, "s GET / > b down"},
    };
    struct faults f;
    uid point;
    (void)state;
    faults_init(&f);
    faultload load = parse_faultload(
        &f, "s GET / > a GET /x : 503 & a down & s GET / > a GET /y #* : reset & c down");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mode wanted = rows[i].mode ? parse_mode(rows[i].mode) : MODE_NONE;
        mode m =
            faultload_mode(&f.names, &f.fl, load, parse_uid(&f.names, rows[i].call), 0, &point);
        if (m != wanted || point != parse_uid(&f.names, rows[i].point))
            fail_msg("%s", rows[i].call);
    }
    faults_deinit(&f);
}

/* Services that fail as a whole: every row in its mode, that of gRPC at gRPC calls. Dice decide by the
 * name of the call alone, and about as often as they should. */
static void test_services(void **state)
{
    static const struct {
        const char *fault, *http, *grpc;
    } rows[] = {
        {"a down", "refuse", "refuse"},   {"a slow", "delay:5s", "delay:5s"},
        {"a hanging", "hold", "hold"},    {"a gone", "404", "grpc:12"},
        {"a crashing", "reset", "reset"},
    };
    struct faults f, again;
    uid point;
    (void)state;
    faults_init(&f);
    faults_init(&again);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        faultload load = parse_faultload(&f, rows[i].fault);
        uid call = parse_uid(&f.names, "s GET / > a GET /x");
        mode http = faultload_mode(&f.names, &f.fl, load, call, CALL_HTTP, &point);
        mode grpc = faultload_mode(&f.names, &f.fl, load, call, CALL_GRPC, &point);
        assert_int_equal(point, call);
        if (http != parse_mode(rows[i].http) || grpc != parse_mode(rows[i].grpc))
            fail_msg("%s", rows[i].fault);
    }
    faultload one = parse_faultload(&f, "a overloaded"),
              other = parse_faultload(&f, "a overloaded:7");
    uint32_t late = 0, differ = 0;
    for (int i = 0; i < 1000; i++) {
        char text[64];
        snprintf(text, sizeof text, "s GET / > a GET /%d", i);
        uid call = parse_uid(&f.names, text);
        mode m = faultload_mode(&f.names, &f.fl, one, call, CALL_HTTP, &point);
        late += m == parse_mode("delay:5s");
        differ += m != faultload_mode(&f.names, &f.fl, other, call, CALL_HTTP, &point);
        assert_true(m == parse_mode("delay:5s") || m == parse_mode("503"));
        /* the same where names have other numbers */
        uid there = parse_uid(&again.names, text);
        faultload same = parse_faultload(&again, "b down & a overloaded");
        assert_int_equal(faultload_mode(&again.names, &again.fl, same, there, CALL_HTTP, &point),
                         m);
    }
    assert_in_range(late, 150, 250); /* 200 are to be expected; these are dice that do not change */
    assert_in_range(differ, 200, 440);
    assert_true(faultload_of_services(
        &f.names, &f.fl, parse_faultload(&f, "b GET / : 503 & a gone & c GET / : 503")));
    assert_false(faultload_of_services(&f.names, &f.fl, parse_faultload(&f, "b GET / : 503")));
    faults_deinit(&again);
    faults_deinit(&f);
}

/* Random faultloads: read back, equal in any order, unequal to those with one change. */
static void test_faultload_round_trip(void **state)
{
    struct rng rng = {5};
    (void)state;
    for (int round = 0; round < 500; round++) {
        struct faults f;
        struct fault fault[8];
        uint32_t n = rng_below(&rng, 8);
        faultload forward = FAULTLOAD_EMPTY, backward = FAULTLOAD_EMPTY;
        struct buf text = BUF_INIT(1 << 16);
        faults_init(&f);
        for (uint32_t i = 0; i < n; i++) {
            do
                fault[i] = (struct fault){random_uid(&rng, &f.names, 50), random_mode(&rng)};
            while (faultload_at(&f.fl, forward, fault[i].point) != MODE_NONE);
            forward = faultload_extend(&f.fl, forward, fault[i]);
        }
        for (uint32_t i = n; i-- > 0;)
            backward = faultload_extend(&f.fl, backward, fault[i]);
        assert_true(faultload_eq(&f.fl, forward, backward));
        faultload_print(&f.names, &f.fl, forward, &text);
        faultload again = parse_faultload(&f, buf_text(&text));
        assert_true(faultload_eq(&f.fl, forward, again));
        if (n) {
            assert_true(faultload_within(&f.fl, f.fl.rows.at[backward].rest, forward));
            assert_false(faultload_within(&f.fl, forward, f.fl.rows.at[backward].rest));
        }
        buf_deinit(&text);
        faults_deinit(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_faultload_text),       cmocka_unit_test(test_faultload_errors),
        cmocka_unit_test(test_faultload_sets),       cmocka_unit_test(test_faultload_at),
        cmocka_unit_test(test_faultload_mode),       cmocka_unit_test(test_services),
        cmocka_unit_test(test_faultload_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
