/* SPDX-License-Identifier: Apache-2.0
 *
 * The control address: requests in, status and JSON out. A `desk` is a tracker with runs of a
 * command that calls `shop`, which calls `pay` twice and `mail` once. */
#include "live/control.h"

#include <stdio.h>

#include "data/json.h"
#include "http/client.h"
#include "support/unit.h"

enum { SHOP, PAY, MAIL, SERVICES };

static const slice services[SERVICES] = {{"shop", 4}, {"pay", 3}, {"mail", 4}};

struct desk {
    struct names names;
    struct arena arena;
    struct tracker *t;
    struct lessons *lessons;
    struct aim aim;
    struct track_run *run;
    struct buf answer;
    uint16_t status;
    bool answered;
    struct head head; /* of the next question, but for method and target */
};

static struct call_fate arrive(struct desk *d, uint32_t service, uint32_t caller,
                               const char *interface)
{
    struct track_arrival a = {
        .service = service, .caller = caller, .interface = slice_of(interface), .start_ns = 1};
    struct call_fate out;
    (void)track_arrive(d->t, &a, &out);
    return out;
}

static void desk_open(struct desk *d, const char *fault)
{
    struct err e = {0};
    *d = (struct desk){.answer = BUF_INIT(CONTROL_ANSWER_MAX)};
    names_init(&d->names);
    struct track_options o = {
        .names = &d->names, .services = services, .n_services = SERVICES, .seed = 7};
    d->t = tracker_new(&o);
    d->lessons = lessons_new(SERVICES);
    if (fault)
        assert_int_equal(aim_add(&d->aim, ANY_VOCABULARY(&d->names), UID_NONE, slice_of(fault), &e),
                         0);
    d->run = track_begin(d->t, 0, CALLER_CLIENT, SLICE("buy"), 0, &d->aim, d->lessons, false, 0);
}

static void desk_close(struct desk *d)
{
    tracker_free(d->t);
    lessons_drop(d->lessons);
    aim_deinit(&d->aim);
    arena_deinit(&d->arena);
    names_deinit(&d->names);
    buf_deinit(&d->answer);
}

/* The test buys something. */
static void buy(struct desk *d)
{
    arrive(d, SHOP, CALLER_CLIENT, "POST /orders");
    arrive(d, PAY, SHOP, "POST /charge");
    arrive(d, PAY, SHOP, "POST /charge");
    arrive(d, MAIL, SHOP, "Mail/Send");
}

/* METHOD below the address of the run; the answer is JSON whatever was asked. */
static const char *ask_as(struct desk *d, const char *method, const char *below)
{
    const struct node *json;
    char target[20000];
    (void)snprintf(target, sizeof target, "/runs/%016llx%s", (unsigned long long)d->run->secret,
                   below);
    buf_clear(&d->answer);
    d->head.method = slice_of(method);
    d->head.target = slice_of(target);
    d->status = control_answer(d->t, ANY_VOCABULARY(&d->names), &d->head, &d->answer);
    assert_int_equal(node_parse_json(&d->arena, buf_slice(&d->answer), &json), 0);
    assert_false(d->answer.full);
    return buf_text(&d->answer);
}

static const char *ask(struct desk *d, const char *below)
{
    return ask_as(d, "GET", below);
}

static void assert_refused(struct desk *d, const char *method, const char *below, int status,
                           const char *word)
{
    const char *said = ask_as(d, method, below);
    if (d->status != status || !strstr(said, word) || !strstr(said, "{\"error\": \""))
        fail_msg("%s %s: %d %s, not %d with \"%s\"", method, below, d->status, said, status, word);
}

static void test_injected(void **state)
{
    (void)state;
    struct desk d;
    desk_open(&d, "pay POST /charge #1 : 503");
    assert_string_equal(ask(&d, "/injected"),
                        "{\"injected\": false, \"count\": 0, \"faults\": []}\n");
    assert_int_equal(d.status, 200);
    buy(&d);
    const char *yes = "{\"injected\": true, \"count\": 1, \"faults\": [\"client buy > shop POST "
                      "/orders > pay POST /charge #1 : 503\"]}\n";
    static const char *const matching[] = {
        "/injected",
        "/injected?",
        "/injected?pattern=",
        "/injected?pay",
        "/injected?pattern=pay",
        "/injected?pay%20POST%20/charge",
        "/injected?pay+POST+%2Fcharge",
        "/injected?pay%20*%20:%20503",
        "/injected?*%20POST%20/ch*",
        "/injected?pay%20POST%20/charge%20%231",
        "/injected?shop+%3E+pay",
        "/injected?client+buy+%3e+shop+POST+/orders+%3e+pay+POST+/charge+%231+:+503",
        "/injected?*",
    };
    for (size_t i = 0; i < sizeof matching / sizeof *matching; i++)
        assert_string_equal(ask(&d, matching[i]), yes);
    static const char *const others[] = {
        "/injected?mail",
        "/injected?shop",
        "/injected?nobody",
        "/injected?pay%20:%20500",
        "/injected?pay%20:%20lost-reply:503",
        "/injected?pay%20POST%20/charge%20%230",
        "/injected?pay%20POST%20/charge%20%7b12345678%7d",
        "/injected?mail+%3e+pay",
        "/injected?pay%20GET%20/charge",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_string_equal(ask(&d, others[i]),
                            "{\"injected\": false, \"count\": 0, \"faults\": []}\n");
    assert_string_equal(ask(&d, "/injected/"),
                        ""
                        "{\"error\": \"no such address; a run has /injected, "
                        "/calls and /no-faults\"}\n");
    desk_close(&d);
}

static void test_calls(void **state)
{
    (void)state;
    static const struct {
        const char *below;
        int n;
    } rows[] = {{"/calls", 4},
                {"/calls?*", 4},
                {"/calls?pay", 2},
                {"/calls?client", 0},
                {"/calls?mail", 1},
                {"/calls?pay+POST+/charge+%230", 1},
                {"/calls?shop+%3e+*+%3e+pay", 2},
                {"/calls?mail+Mail/Send", 1},
                {"/calls?pay+:+503", 2},
                {"/calls?*+:+reset", 0}};
    struct desk d;
    desk_open(&d, "pay * #* : 503");
    buy(&d);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char wanted[40];
        (void)snprintf(wanted, sizeof wanted, "{\"calls\": %d}\n", rows[i].n);
        assert_string_equal(ask(&d, rows[i].below), wanted);
    }
    assert_non_null(strstr(ask(&d, ""), "\"hushed\": false, \"calls\": 4, \"injected\": true, "
                                        "\"count\": 2, \"faults\": [\"client"));
    desk_close(&d);
}

/* What is called in a block is not counted, and not failed. */
static void check_blocks(const char *path)
{
    struct desk d;
    desk_open(&d, "pay * #* : 503");
    assert_string_equal(ask(&d, path), "{\"hushed\": false}\n");
    assert_string_equal(ask_as(&d, "POST", path), "{\"hushed\": true}\n");
    assert_string_equal(ask_as(&d, "POST", path), "{\"hushed\": true}\n");
    buy(&d);
    assert_string_equal(ask(&d, "/calls"), "{\"calls\": 0}\n");
    assert_string_equal(ask(&d, "/injected"),
                        "{\"injected\": false, \"count\": 0, \"faults\": []}\n");
    assert_string_equal(ask_as(&d, "DELETE", path), "{\"hushed\": true}\n");
    assert_string_equal(ask_as(&d, "DELETE", path), "{\"hushed\": false}\n");
    assert_refused(&d, "DELETE", path, 409, "no block is open");
    buy(&d);
    assert_string_equal(ask(&d, "/calls"), "{\"calls\": 4}\n");
    assert_non_null(strstr(ask(&d, "/injected"), "\"count\": 2,"));
    for (int i = 0; i < TRACK_BLOCKS_MAX; i++)
        assert_string_equal(ask_as(&d, "POST", path), "{\"hushed\": true}\n");
    assert_refused(&d, "POST", path, 409, "too many");
    desk_close(&d);
}

static void test_blocks(void **state)
{
    (void)state;
    check_blocks("/no-faults");
    check_blocks("/hush"); /* what it was called before 0.9 */
}

static void test_refused(void **state)
{
    (void)state;
    struct desk d;
    desk_open(&d, NULL);
    buy(&d);
    assert_refused(&d, "GET", "/injected?pay%20:", 400, "the mode is missing");
    assert_refused(&d, "GET", "/injected?pay%20:%20nonsense", 400, "unknown mode");
    assert_refused(&d, "GET", "/injected?pay%20POST%20/charge%20now", 400, "unexpected");
    assert_refused(&d, "GET", "/injected?%3E", 400, "a call is missing");
    assert_refused(&d, "GET", "/calls?pay%2", 400, "two hex digits");
    assert_refused(&d, "GET", "/calls?pay%", 400, "two hex digits");
    assert_refused(&d, "GET", "/calls?pay%zz", 400, "two hex digits");
    assert_refused(&d, "GET", "/calls?pay%20%ff%fe%20now%20%00", 400, "");
    assert_refused(&d, "GET", "?pay", 400, "takes no pattern");
    assert_refused(&d, "POST", "/hush?pay", 400, "takes no pattern");
    assert_refused(&d, "GET", "/nothing", 404, "/injected, /calls and /no-faults");
    assert_refused(&d, "GET", "0/calls", 404, "no such run");
    assert_refused(&d, "POST", "/injected", 405, "method");
    assert_refused(&d, "DELETE", "", 405, "method");
    assert_refused(&d, "PUT", "/hush", 405, "method");
    assert_refused(&d, "get", "/calls", 405, "method");
    static const char *const targets[] = {"",
                                          "*",
                                          "/",
                                          "/runs",
                                          "/runs/",
                                          "/runs/0",
                                          "/runs//hush",
                                          "/runs/0000000000000000/hush",
                                          "/runs/x/calls",
                                          "/runs?pay",
                                          "http://127.0.0.1/runs/"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        buf_clear(&d.answer);
        struct head head = {.method = SLICE("POST"), .target = slice_of(targets[i])};
        assert_int_equal(control_answer(d.t, ANY_VOCABULARY(&d.names), &head, &d.answer), 404);
    }
    desk_close(&d);
}

/* Patterns are bounded, leave nothing in the campaign's names, and the answer is whole JSON however
 * many faults there were. */
static void test_bounds(void **state)
{
    (void)state;
    char below[CONTROL_PATTERN_MAX + 100];
    struct desk d;
    desk_open(&d, "* * #* : 503");
    buy(&d);
    uint32_t syms = d.names.syms.text.n, elements = d.names.elements.n, uids = d.names.uids.n;
    for (int i = 0; i < 100; i++) {
        (void)snprintf(below, sizeof below, "/injected?s%d+GET+/path/%d+%%3e+t%d", i, i, i);
        ask(&d, below);
        assert_int_equal(d.status, 200);
    }
    assert_int_equal(d.names.syms.text.n, syms);
    assert_int_equal(d.names.elements.n, elements);
    assert_int_equal(d.names.uids.n, uids);
    const char *start = "/calls?";
    for (int more = 0; more < 2; more++) {
        memset(below, 'x', sizeof below);
        memcpy(below, start, strlen(start));
        below[strlen(start) + CONTROL_PATTERN_MAX + (size_t)more] = 0;
        ask(&d, below);
        assert_int_equal(d.status, more ? 400 : 200);
    }
    assert_non_null(strstr(buf_text(&d.answer), "at most 4096 bytes"));
    for (int i = 0; i < 3000; i++)
        arrive(&d, PAY, SHOP, "POST /charge");
    const char *all = ask(&d, "");
    assert_non_null(strstr(all, "\"count\": 3003,"));
    assert_true(d.answer.n > CONTROL_ANSWER_MAX - 1000);
    desk_close(&d);
}

/* Pages of the web reach addresses of this machine by a browser, or by a name made to lead here. */
static void test_strangers(void **state)
{
    static const struct {
        const char *host, *name, *value;
        int status;
    } cases[] = {
        {"127.0.0.1:4711", NULL, NULL, 200},
        {"[::1]:4711", NULL, NULL, 200},
        {"LOCALHOST:4711", NULL, NULL, 200},
        {"host.docker.internal:4711", NULL, NULL, 200},
        {"builder:4711", NULL, NULL, 200},
        {"", NULL, NULL, 200},
        {"evil.example:4711", NULL, NULL, 403},
        {"127.0.0.1.evil.example:4711", NULL, NULL, 403},
        {"evil.example", NULL, NULL, 403},
        {"localhost.evil.example:1", NULL, NULL, 403},
        {"127.0.0.1:4711", "Origin", "http://127.0.0.1:4711", 200},
        {"127.0.0.1:4711", "Origin", "http://evil.example", 403},
        {"127.0.0.1:4711", "origin", "null", 403},
        {"127.0.0.1:4711", "Origin", "", 403},
        {"127.0.0.1:4711", "Origin", "https://127.0.0.1:4711", 403},
        {"127.0.0.1:4711", "Sec-Fetch-Site", "cross-site", 403},
        {"127.0.0.1:4711", "Sec-Fetch-Site", "none", 200},
    };
    (void)state;
    struct desk d;
    desk_open(&d, NULL);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct field field = {0};
        d.head = (struct head){.authority = slice_of(cases[i].host)};
        if (cases[i].name) {
            field =
                (struct field){.name = slice_of(cases[i].name), .value = slice_of(cases[i].value)};
            d.head.fields = &field;
            d.head.n_fields = 1;
        }
        ask_as(&d, "POST", "/hush");
        if (d.status != cases[i].status)
            fail_msg("%s %s: %d", cases[i].host, cases[i].name ? cases[i].value : "", d.status);
    }
    d.head = (struct head){0};
    desk_close(&d);
}

/* The key is in nothing that services are sent, and no two are alike. */
static void test_keys(void **state)
{
    (void)state;
    struct desk d;
    desk_open(&d, NULL);
    struct track_run *other =
        track_begin(d.t, 1, CALLER_CLIENT, SLICE("buy"), 0, &d.aim, d.lessons, false, 0);
    uint64_t key = d.run->secret;
    assert_true(key != 0 && key != other->secret);
    assert_true(key != d.run->key && key != d.run->id.high);
    assert_null(track_find_secret(d.t, d.run->key));
    desk_close(&d);
}

/* Each key is one run; one that has ended is none. */
static void test_runs(void **state)
{
    (void)state;
    struct desk d;
    struct trace trace = {0};
    desk_open(&d, NULL);
    buy(&d);
    struct track_run *first = d.run;
    d.run = track_begin(d.t, 1, CALLER_CLIENT, SLICE("buy"), 0, &d.aim, d.lessons, false, 0);
    assert_string_equal(ask(&d, "/calls"), "{\"calls\": 0}\n");
    ask_as(&d, "POST", "/hush");
    struct track_run *second = d.run;
    d.run = first;
    assert_string_equal(ask(&d, "/calls"), "{\"calls\": 4}\n");
    assert_string_equal(ask(&d, "/hush"), "{\"hushed\": false}\n");
    uint64_t key = second->secret;
    track_end(d.t, second, &trace, 9);
    char target[60];
    (void)snprintf(target, sizeof target, "/runs/%016llx/calls", (unsigned long long)key);
    buf_clear(&d.answer);
    struct head head = {.method = SLICE("GET"), .target = slice_of(target)};
    assert_int_equal(control_answer(d.t, ANY_VOCABULARY(&d.names), &head, &d.answer), 404);
    vec_deinit(&trace.calls);
    desk_close(&d);
}

static void on_answer(void *user, const struct client_answer *a)
{
    struct desk *d = user;
    assert_null(a->error);
    d->status = a->head->status;
    assert_true(slice_is(head_get(a->head, SLICE("content-type")), "application/json"));
    buf_clear(&d->answer);
    buf_add(&d->answer, a->body);
    d->answered = true;
}

/* The same over a connection, at an address that is known when it is open. */
static void test_address(void **state)
{
    (void)state;
    static const struct {
        const char *method, *host, *below, *body;
        uint16_t status;
        const char *word;
    } rows[] = {
        {"GET", "", "/calls", "", 200, "{\"calls\": 4}"},
        {"POST", "", "/hush", "a body that nobody wants", 200, "true"},
        {"DELETE", "", "/hush", "", 200, "false"},
        {"PUT", "", "/hush", "", 405, "error"},
        {"GET", "", "/nowhere", "", 404, "error"},
        {"POST", "evil.example", "/hush", "", 403, "error"},
    };
    struct desk d;
    struct loop loop;
    struct err e = {0};
    desk_open(&d, NULL);
    buy(&d);
    assert_int_equal(loop_init(&loop, NULL), 0);
    struct control c = {.tracker = d.t, .words = ANY_VOCABULARY(&d.names)};
    assert_int_equal(control_open(&c, &loop, &e), 0);
    assert_int_not_equal(addr_port(&c.at), 0);
    struct client *client = client_new(&loop, false);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char target[100];
        (void)snprintf(target, sizeof target, "/runs/%016llx%s", (unsigned long long)d.run->secret,
                       rows[i].below);
        struct head head = {.method = slice_of(rows[i].method),
                            .authority = slice_of(rows[i].host),
                            .target = slice_of(target)};
        struct client_request r = {.to = &c.at,
                                   .head = &head,
                                   .body = slice_of(rows[i].body),
                                   .timeout_ns = INT64_C(60000000000),
                                   .body_max = CONTROL_ANSWER_MAX};
        d.answered = false;
        client_send(client, &r, on_answer, &d);
        while (!d.answered)
            (void)uv_run(&loop.uv, UV_RUN_ONCE);
        if (d.status != rows[i].status || !strstr(buf_text(&d.answer), rows[i].word))
            fail_msg("%s %s: %d %s", rows[i].method, target, d.status, buf_text(&d.answer));
    }
    assert_int_equal(d.run->blocks, 0);
    client_free(client);
    control_close(&c);
    while (loop.n_handles)
        (void)uv_run(&loop.uv, UV_RUN_ONCE);
    loop_deinit(&loop);
    desk_close(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_injected), cmocka_unit_test(test_calls),
        cmocka_unit_test(test_blocks),   cmocka_unit_test(test_refused),
        cmocka_unit_test(test_bounds),   cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_keys),     cmocka_unit_test(test_runs),
        cmocka_unit_test(test_address),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
