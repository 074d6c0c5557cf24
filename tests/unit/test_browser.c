/* SPDX-License-Identifier: Apache-2.0
 *
 * What a browser asks for by itself, and what becomes of it in a run. */
#include "support/track_lab.h"
#include "track/browser.h"

/* A request; header fields are "name: value" lines. */
static struct head request(struct lab *l, const char *method, const char *target, const char *lines)
{
    struct field *fields = arena_zero(&l->arena, 8 * sizeof *fields);
    struct head h = {.method = slice_of(method), .target = slice_of(target), .fields = fields};
    slice rest = slice_of(lines), line;
    while (rest.n && slice_cut(&rest, '\n', &line)) {
        size_t colon = slice_find(line, ':');
        fields[h.n_fields++] =
            (struct field){{line.p, colon}, slice_trim(slice_from(line, colon + 1))};
    }
    return h;
}

static void test_asks(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target, *fields;
        bool file;
    } cases[] = {
        {"GET", "/", "Sec-Fetch-Dest: document", true},
        {"HEAD", "/", "Sec-Fetch-Dest: document", true},
        {"GET", "/app", "sec-fetch-dest: script", true},
        {"GET", "/favicon.ico", "Sec-Fetch-Dest: image\nSec-Fetch-Mode: no-cors", true},
        {"GET", "/f", "Sec-Fetch-Dest: font", true},
        {"GET", "/api/trips", "Sec-Fetch-Dest: empty", false},
        {"GET", "/data.js", "Sec-Fetch-Dest: empty", false}, /* a script has asked for it */
        {"GET", "/", "Sec-Fetch-Dest: empty\nAccept: text/html", false},
        {"GET", "/live", "Sec-Fetch-Dest: websocket", false},
        {"POST", "/login", "Sec-Fetch-Dest: document", false}, /* a form */
        {"OPTIONS", "/api/orders", "Access-Control-Request-Method: POST", true},
        {"OPTIONS", "/api/orders", "", false},
        /* one that does not say what it wants it for */
        {"GET", "/", "Accept: text/html,application/xhtml+xml", true},
        {"GET", "/x", "Accept: image/avif,*/*", true},
        {"GET", "/x", "Accept: */*", false},
        {"GET", "/x", "Accept: application/json", false},
        {"GET", "/static/app.JS?v=1.2", "Accept: */*", true},
        {"GET", "/fonts/a.woff2", "", true},
        {"GET", "/orders/1.5", "", false},
        {"GET", "/v1.js/orders", "", false},
        {"GET", "/report.json", "", false},
        {"GET", "/x?file=a.js", "", false},
        {"GET", "js", "", false},
        {"GET", "", "", false},
        {"DELETE", "/app.js", "", false},
    };
    struct lab l;
    lab_open(&l, (struct track_options){0});
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct head h = request(&l, cases[i].method, cases[i].target, cases[i].fields);
        if (browser_asks(&h) != cases[i].file)
            fail_msg("%s %s %s", cases[i].method, cases[i].target, cases[i].fields);
    }
    lab_close(&l);
}

/* The client gets something of b. */
static struct call_fate get(struct lab *l, const char *interface, const char *wanted,
                            struct head *sent)
{
    struct head h = request(l, "GET", "/", wanted);
    return arrive(
        l,
        (struct arrival){.service = B, .caller = CALLER_CLIENT, .head = &h, .interface = interface},
        sent);
}

#define FILE_ "Sec-Fetch-Dest: image"
#define PAGE  "Sec-Fetch-Dest: document"
#define DATA  "Sec-Fetch-Dest: empty"

/* Files are in no trace; a page that others are called for is. */
static void test_files(void **state)
{
    (void)state;
    struct lab l;
    struct head sent;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin_in(&l, 0, CALLER_CLIENT, false);
    struct call_fate file = get(&l, "GET /logo", FILE_, NULL);
    struct call_fate page = get(&l, "GET /page", PAGE, &sent);
    struct head from = passed(&l, &sent, STATE);
    struct call_fate below =
        arrive(&l, (struct arrival){.service = C, .caller = B, .head = &from}, NULL);
    struct call_fate data = get(&l, "GET /data", DATA, NULL);
    struct call_fate open = get(&l, "GET /video", FILE_, NULL);
    assert_int_equal(open.run, r->key);
    assert_true(track_is_file(&r->all.calls.at[file.call]));
    assert_false(track_is_file(&r->all.calls.at[page.call]));
    ended(&l, file);
    ended(&l, below);
    ended(&l, page);
    ended(&l, data);
    finish(&l, r);
    static const char *const wanted[] = {"client GET /", "client GET / > b GET /page",
                                         "client GET / > b GET /page > c GET /",
                                         "client GET / > b GET /data"};
    static const uint32_t parents[] = {CALL_NONE, 0, 1, 0};
    assert_int_equal(l.trace.calls.n, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_name(&l, l.trace.calls.at[i].uid, wanted[i]);
        assert_int_equal(l.trace.calls.at[i].parent, parents[i]);
    }
    lab_close(&l);
}

/* A service that does not say for whom it calls does it rather for data than for a file, whichever
 * was asked for last. */
static void test_none(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){.best = TRACK_NONE});
    struct track_run *r = begin_in(&l, 0, CALLER_CLIENT, false);
    struct call_fate early = get(&l, "GET /early", FILE_, NULL);
    struct call_fate data = get(&l, "GET /data", DATA, NULL);
    struct call_fate late = get(&l, "GET /late", FILE_, NULL);
    struct call_fate c = arrive(&l, (struct arrival){.service = C, .caller = B}, NULL);
    assert_int_equal(call_at(r, c.call)->parent, data.call);
    assert_false(call_at(r, c.call)->flags & CALL_AMBIGUOUS);
    ended(&l, c);
    ended(&l, data);
    c = arrive(&l, (struct arrival){.service = C, .caller = B}, NULL); /* only files are open */
    assert_int_equal(call_at(r, c.call)->parent, late.call);
    assert_true(call_at(r, c.call)->flags & CALL_AMBIGUOUS);
    ended(&l, c);
    ended(&l, early);
    ended(&l, late);
    finish(&l, r);
    assert_int_equal(l.trace.calls.n, 5); /* all but the first file */
    lab_close(&l);
}

/* A page goes on when an answer has begun: what it asks for then follows that, and is not beside
 * it. Only requests count, and only if the answer had begun. */
static void test_going_on(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin_in(&l, 0, CALLER_CLIENT, false);
    struct call_fate first = get(&l, "GET /first", DATA, NULL);
    ended(&l, get(&l, "GET /beside", DATA, NULL));
    int64_t told_ns = ++l.now;
    ended(&l, get(&l, "GET /logo", FILE_, NULL));
    struct call_fate then = get(&l, "GET /then", DATA, NULL);
    int64_t then_ns = l.now, end_ns = l.now + 100;
    ended(&l, get(&l, "GET /later", DATA, NULL));
    assert_int_equal(track_went_on(l.t, r->key, first.call, told_ns, end_ns), then_ns);
    assert_int_equal(track_went_on(l.t, r->key, first.call, then_ns + 50, end_ns), end_ns);
    assert_int_equal(track_went_on(l.t, r->key, first.call, 0, end_ns), end_ns);
    assert_int_equal(track_went_on(l.t, r->key, first.call, told_ns, told_ns), told_ns);
    assert_int_equal(track_went_on(l.t, r->key + 2, first.call, told_ns, end_ns), end_ns);
    int64_t active_ns = r->active_ns;
    track_ended(l.t, first.run, first.call, OUTCOME_OK, OUTCOME_OK, true, false, then_ns);
    assert_int_equal(r->active_ns, active_ns); /* heard of last */
    ended(&l, then);
    finish(&l, r);
    lab_close(&l);
}

/* Names are the same in runs that teach and in those that follow, files or not. */
static void test_learning(void **state)
{
    (void)state;
    struct lab l;
    struct track_lesson *lessons[2];
    lab_open(&l, (struct track_options){.predecessors = true});
    for (uint32_t i = 0; i < 3; i++) {
        struct track_run *r = begin_in(&l, 0, CALLER_CLIENT, i < 2);
        ended(&l, get(&l, "GET /page", PAGE, NULL));
        if (i != 1) /* only some runs get it */
            ended(&l, get(&l, "GET /logo", FILE_, NULL));
        ended(&l, get(&l, "GET /page", DATA, NULL));
        track_answered(r, OUTCOME_OK, ++l.now);
        if (i < 2)
            lessons[i] = track_end_learning(l.t, r, ++l.now);
        else
            track_end(l.t, r, &l.trace, ++l.now);
        if (i == 1)
            track_decide(l.t, l.lessons, lessons, 2);
    }
    assert_int_equal(l.trace.calls.n, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct trace *t = track_lesson_trace(lessons[i]);
        assert_int_equal(t->calls.n, 2);
        assert_int_equal(t->calls.at[1].uid, l.trace.calls.at[1].uid);
        track_lesson_free(lessons[i]);
    }
    assert_name(&l, l.trace.calls.at[1].uid, "client GET / > b GET /page #1");
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_asks),     cmocka_unit_test(test_files),
        cmocka_unit_test(test_none),     cmocka_unit_test(test_going_on),
        cmocka_unit_test(test_learning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
