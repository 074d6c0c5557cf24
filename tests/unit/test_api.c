/* SPDX-License-Identifier: Apache-2.0
 *
 * The API over sockets, with a host that has no campaign: every route, every request that is
 * refused, documents and their versions, commands, metrics. */
#include "api/api.h"

#include <openssl/pem.h>

#include "api/api_int.h"
#include "data/json.h"
#include "http/client.h"
#include "io/cert.h"
#include "support/api_lab.h"

#define JSON "Content-Type: application/json\r\n"

/* ---- every route, and what is refused ---- */

static const struct row {
    const char *line, *fields, *body;
    int status;
    const char *says;
} rows[] = {
    {"GET /", "", "", 200, "<!doctype html>"},
    {"HEAD /", "", "", 200, "content-type: text/html"},
    {"GET /livez", "", "", 200, "\r\n\r\nok\n"},
    {"GET /readyz", "", "", 200, "\r\n\r\nok\n"},
    {"GET /metrics", "", "", 200, "outfox_info{version=\"1.2.3\",system=\"shop\"} 1\n"},
    {"GET /api/v1/openapi.json", "", "", 200, "\"openapi\": \"3.1.0\""},
    {"GET /api/v1/schemas/report", "", "", 200, "/draft/2020-12/schema\""},
    {"GET /api/v1/schemas/rep%6Frt", "", "", 200, "/draft/2020-12/schema\""},
    {"GET /api/v1/schemas/other", "", "", 404, "no schema of this name"},
    {"GET /api/v1/campaign", "", "", 200, "\"system\":\"shop\""},
    {"HEAD /api/v1/events", "", "", 200, "text/event-stream"},
    {"GET /api/v1/report", "", "", 200, "{\"kind\":0,"},
    {"GET /api/v1/dependencies", "", "", 200, "{\"kind\":1,"},
    {"GET /api/v1/handlers/1", "", "", 200, "{\"kind\":2,\"scenario\":1,"},
    {"GET /api/v1/runs/0", "", "", 200, "{\"kind\":3,\"scenario\":0,\"page\":0,\"from\":0"},
    {"GET /api/v1/runs/1?from=201", "", "", 200, "\"scenario\":1,\"page\":0,\"from\":201"},
    {"GET /api/v1/runs/1/3", "", "", 200, "{\"kind\":4,\"scenario\":1,\"page\":3,"},
    {"GET /api/v1/explanations/0", "", "", 200, "{\"kind\":5,"},
    {"GET /api/v1/explain?scenario=1&faultload=a+GET+%2F+%3A+503", "", "", 200, "{\"kind\":6,"},
    {"GET /api/v1/modes", "", "", 200, "{\"kind\":7,"},
    {"GET /api/v1/oracles", "", "", 200, "{\"kind\":8,"},
    {"GET /api/v1/validate", "", "", 200, "{\"kind\":9,"},
    {"GET /api/v1/version", "", "", 200, "{\"kind\":10,"},
    {"GET /api/v1/replays/7", "", "", 200,
     "{\"schema_version\":1,\"id\":7,\"state\":\"done\",\"error\":null,\"result\":{\"shows\":true}}"},
    {"GET /api/v1/replays/8", "", "", 404, "no such replay"},
    {"POST /api/v1/pause", JSON, "{}", 200, "\"commands\":[\"pause\"]"},
    {"POST /api/v1/resume", JSON, "", 200, "\"state\":"},
    {"POST /api/v1/stop", JSON, " {} ", 200, "\"state\":"},
    {"POST /api/v1/budget", JSON, "{\"max_runs\": 100}", 200, "\"state\":"},
    {"POST /api/v1/budget", JSON, "{\"max_time\": \"10m\", \"max_runs\": null}", 200, "\"state\":"},
    {"POST /api/v1/oracles/slow", JSON, "{\"severity\": \"off\"}", 200, "\"state\":"},
    {"POST /api/v1/replays", JSON, "{\"finding\": \"F1\"}", 202, "location: /api/v1/replays/7"},
    {"POST /api/v1/replays", JSON, "{\"scenario\": 1, \"run\": 17}", 202, "{\"id\":7}"},
    {"POST /api/v1/replays", "content-type: Application/JSON; charset=utf-8\r\n",
     "{\"faultload\": \"none\"}", 202, "{\"id\":7}"},

    /* addresses */
    {"GET /x", "", "", 404, "no such address"},
    {"GET //", "", "", 404, "no such address"},
    {"GET /api/v1", "", "", 404, "no such address"},
    {"GET /api/v1/report/", "", "", 404, "no such address"},
    {"GET /api/v1/runs/", "", "", 404, "no such address"},
    {"GET /api/v1/runs/x", "", "", 404, "no such address"},
    {"GET /api/v1/runs/-1", "", "", 404, "no such address"},
    {"GET /api/v1/runs/2", "", "", 404, "no such scenario"},
    {"GET /api/v1/runs/4294967296", "", "", 404, "no such address"},
    {"GET /api/v1/runs/0/0/0", "", "", 404, "no such address"},
    {"GET /api/v1/schemas/%2e%2e%2f%2e%2e%2fetc%2fpasswd", "", "", 404, "no schema"},
    {"GET /api/v1/schemas/%zz", "", "", 404, "no such address"},
    {"GET /../../etc/passwd", "", "", 404, "no such address"},
    {"GET /api/v1/runs/0?from=x", "", "", 400, "\\\"from\\\" must be a whole number"},
    {"GET /api/v1/runs/0?from=1&from=2", "", "", 400, "there twice"},
    {"GET /api/v1/runs/0?form=1", "", "", 400, "takes no parameter \\\"form\\\""},
    {"GET /api/v1/report?x", "", "", 400, "takes no parameter"},
    {"GET /?token=abc", "", "", 400, "takes no parameter \\\"token\\\"; write it behind a #"},
    {"GET /api/v1/explain?scenario=0", "", "", 400, "needs parameter \\\"faultload\\\""},
    {"GET /api/v1/explain?scenario=0&faultload=%4", "", "", 400, "percent-encoding"},
    {"GET /api/v1/events?types=run,staet", "", "", 400, "did you mean \\\"state\\\"?"},
    {"GET /api/v1/events?types=", "", "", 400, "no events of type"},

    /* methods */
    {"GET /api/v1/pause", "", "", 405, "allow: POST"},
    {"GET /api/v1/pause", "", "", 405, "this address takes POST, not GET"},
    {"POST /api/v1/report", JSON, "{}", 405, "allow: GET, HEAD"},
    {"DELETE /api/v1/report", "", "", 405, "allow: GET, HEAD"},
    {"PUT /api/v1/budget", JSON, "{}", 405, "allow: POST"},
    {"OPTIONS /api/v1/pause", "", "", 405, "allow: POST"},

    /* bodies */
    {"POST /api/v1/pause", "", "{}", 415, "application/json"},
    {"POST /api/v1/pause", "Content-Type: text/plain\r\n", "{}", 415, "application/json"},
    {"POST /api/v1/pause", "Content-Type: application/x-www-form-urlencoded\r\n", "a=b", 415, ""},
    {"POST /api/v1/pause", "Content-Type: application/jsonx\r\n", "{}", 415, ""},
    {"POST /api/v1/pause", JSON, "{\"x\": 1}", 400, "unknown"},
    {"POST /api/v1/pause", JSON, "[]", 400, "must be a JSON object, not a list"},
    {"POST /api/v1/pause", JSON, "{\"a\":", 400, "not JSON"},
    {"POST /api/v1/pause", JSON, "{} {}", 400, "not JSON"},
    {"POST /api/v1/budget", JSON, "{}", 400, "sets nothing"},
    {"POST /api/v1/budget", JSON, "{\"max_runs\": -1}", 400, "whole number"},
    {"POST /api/v1/budget", JSON, "{\"max_runs\": 1.5}", 400, "whole number"},
    {"POST /api/v1/budget", JSON, "{\"max_runs\": \"9\"}", 400, "max_runs"},
    {"POST /api/v1/budget", JSON, "{\"max_time\": 5}", 400, "max_time"},
    {"POST /api/v1/budget", JSON, "{\"max_tiem\": \"5m\"}", 400, "max_time"},
    {"POST /api/v1/oracles/slow", JSON, "{}", 400, "\"\\\"severity\\\" is missing from the body\""},
    {"POST /api/v1/oracles/slow", JSON, "{\"severity\": \"on\"}", 400, "\\\"off\\\""},
    {"POST /api/v1/replays", JSON, "{}", 400, "one of"},
    {"POST /api/v1/replays", JSON, "{\"run\": 0}", 400, "from 1"},
    {"POST /api/v1/replays", JSON, "{\"run\": 1, \"finding\": \"F1\"}", 400, "one of"},
    {"POST /api/v1/replays", JSON, "{\"finding\": 1}", 400, "finding"},
    {"POST /api/v1/replays", JSON, "{\"scenario\": -1, \"run\": 1}", 400, "from 0"},

    /* who asks: Host, as after DNS rebinding */
    {"GET /api/v1/report", "Host: evil.example\r\n", "", 403, "not to this Host"},
    {"GET /", "Host: evil.example\r\n", "", 403, "not to this Host; to reach it by other names"},
    {"GET /livez", "Host: evil.example:80\r\n", "", 403, "not to this Host"},
    {"GET /livez", "Host: localhost.evil.example\r\n", "", 403, ""},
    {"GET /livez", "Host: evillocalhost\r\n", "", 403, ""},
    {"GET /livez", "Host: 10.0.0.1\r\n", "", 403, ""},
    {"GET /livez", "Host: 127.0.0.1.evil.example\r\n", "", 403, ""},
    {"GET /livez", "Host: [::2]:80\r\n", "", 403, ""},
    {"GET /livez", "Host: \r\n", "", 403, ""},
    {"GET /livez", "Host: [::1].evil.example\r\n", "", 403, ""},
    {"GET /livez", "Host: [::1\r\n", "", 403, ""},
    {"GET /livez", "Host: 127.0.0.1:1\r\n", "", 200, ""},
    {"GET /livez", "Host: 127.1.2.3\r\n", "", 200, ""},
    {"GET /livez", "Host: [::1]:80\r\n", "", 200, ""},
    {"GET /livez", "Host: LocalHost:99\r\n", "", 200, ""},
    {"GET /livez", "Host: outfox.localhost\r\n", "", 200, ""},

    /* who asks: pages of other sites */
    {"GET /api/v1/report", "Origin: http://evil.example\r\n", "", 403, "other sites"},
    {"GET /api/v1/report", "Origin: null\r\n", "", 403, "other sites"},
    {"GET /api/v1/report", "Origin: https://localhost\r\n", "", 403, "other sites"},
    {"GET /api/v1/report", "Origin: http://localhost:1\r\n", "", 403, "other sites"},
    {"GET /api/v1/report", "Origin: http://localhost\r\n", "", 200, ""},
    {"GET /api/v1/report", "Sec-Fetch-Site: cross-site\r\n", "", 403, "other sites"},
    {"GET /api/v1/report", "Sec-Fetch-Site: same-site\r\n", "", 403, "other sites"},
    {"GET /api/v1/report", "Sec-Fetch-Site: same-origin\r\n", "", 200, ""},
    {"GET /api/v1/report", "Sec-Fetch-Site: none\r\n", "", 200, ""},
    {"POST /api/v1/pause", JSON "Origin: http://evil.example\r\n", "{}", 403, "other sites"},
    {"POST /api/v1/pause", JSON "Sec-Fetch-Site: cross-site\r\n", "{}", 403, "other sites"},
    {"POST /api/v1/x", "Sec-Fetch-Site: cross-site\r\n", "", 403, "other sites"},
    {"GET /", "Sec-Fetch-Site: cross-site\r\n", "", 403, "other sites"},
    {"GET /",
     "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n", "",
     200, "html"},
    {"GET /",
     "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: iframe\r\n", "",
     403, ""},
    {"GET /api/v1/report",
     "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document\r\n", "",
     403, "other sites"},
};

/* What every answer tells browsers. */
static void assert_guarded(const struct buf *answer, const char *line)
{
    static const char *const fields[] = {
        "x-content-type-options: nosniff\r\n",
        "x-frame-options: DENY\r\n",
        "referrer-policy: no-referrer\r\n",
        "cross-origin-resource-policy: same-origin\r\n",
        "frame-ancestors 'none'",
        "cache-control: no-",
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (!says(answer, fields[i]))
            fail_msg("%s: no %s in %s", line, fields[i], buf_text(answer));
    if (says(answer, "access-control-"))
        fail_msg("%s: other sites are let in: %s", line, buf_text(answer));
}

static void test_requests(void **state)
{
    (void)state;
    struct lab b;
    struct buf answer = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    for (const struct row *r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
        int before = b.commands;
        ask(&b, r->line, r->fields, r->body, &answer);
        if (status_of(&answer) != r->status || !says(&answer, r->says))
            fail_msg("%s, %s%s: %s", r->line, r->fields, r->body, buf_text(&answer));
        assert_guarded(&answer, r->line);
        bool commands = r->status < 300 && strncmp(r->line, "POST", 4) == 0;
        assert_int_equal(b.commands - before, commands); /* and nothing else changes anything */
    }
    buf_deinit(&answer);
    lab_deinit(&b);
}

/* Each row of the table of routes is asked for above. */
static void test_all_routes(void **state)
{
    (void)state;
    struct arena a = {0};
    for (uint32_t i = 0; i < n_routes; i++) {
        bool asked = false;
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
            struct asked k;
            const char *allow;
            slice target = slice_of(rows[r].line), method, path;
            slice_word(&target, &method);
            target = slice_trim(target);
            slice_cut(&target, '?', &path);
            asked |= rows[r].status < 300 && route_find(method, path, &a, &k, &allow) == 200 &&
                     k.route == &routes[i];
        }
        if (!asked)
            fail_msg("nobody asks for %s %s", routes[i].method, routes[i].path);
        for (uint32_t other = 0; other < i; other++)
            assert_string_not_equal(routes[i].path, routes[other].path);
    }
    arena_deinit(&a);
}

/* ---- what the host gets ---- */

static void test_commands(void **state)
{
    (void)state;
    struct lab b;
    struct buf answer = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    ask(&b, "POST /api/v1/budget", JSON, "{\"max_time\": \"10m\"}", &answer);
    assert_int_equal(b.command.kind, API_BUDGET);
    assert_true(b.command.has_time && !b.command.has_runs);
    assert_int_equal(b.command.max_time_ns, MINUTES(10));
    ask(&b, "POST /api/v1/budget", JSON, "{\"max_runs\": null}", &answer);
    assert_true(b.command.has_runs && !b.command.has_time && b.command.max_runs == 0);
    ask(&b, "POST /api/v1/oracles/retry%2Dstorm", JSON, "{\"severity\": \"warning\"}", &answer);
    assert_int_equal(b.command.kind, API_ORACLE);
    assert_string_equal(b.oracle, "retry-storm");
    assert_int_equal(b.command.severity, SEVERITY_WARNING);
    ask(&b, "POST /api/v1/replays", JSON, "{\"scenario\": 1, \"finding\": \"F2\"}", &answer);
    assert_int_equal(b.command.kind, API_REPLAY);
    assert_int_equal(b.command.scenario, 1);
    assert_string_equal(b.finding, "F2");
    ask(&b, "POST /api/v1/replays", JSON, "{\"run\": 4000000000}", &answer);
    assert_true(b.command.run == 4000000000u && !b.command.finding.p && !b.command.faultload.p);
    ask(&b, "POST /api/v1/replays", JSON, "{\"faultload\": \"a GET / : 503\"}", &answer);
    assert_string_equal(b.faultload, "a GET / : 503");
    ask(&b, "GET /api/v1/explain?scenario=0&faultload=a+GET+%2F+%3A+503", "", "", &answer);
    assert_string_equal(b.faultload, "a GET / : 503");
    buf_deinit(&answer);
    lab_deinit(&b);
}

static void test_results(void **state)
{
    (void)state;
    static const struct {
        enum api_result result;
        int status;
    } results[] = {
        {API_BAD, 400}, {API_NONE, 404}, {API_NOT_NOW, 409}, {API_LATER, 503}, {API_BROKEN, 500}};
    struct lab b;
    struct buf answer = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        b.result = results[i].result;
        ask(&b, "GET /api/v1/report", "", "", &answer);
        assert_int_equal(status_of(&answer), results[i].status);
        assert_true(says(&answer, "\"message\":\"the host says <no>\""));
        assert_true(says(&answer, "retry-after: 1") == (results[i].status == 503));
        ask(&b, "POST /api/v1/pause", JSON, "{}", &answer);
        assert_int_equal(status_of(&answer), results[i].status);
    }
    b.state.ready = false;
    ask(&b, "GET /readyz", "", "", &answer);
    assert_int_equal(status_of(&answer), 503);
    b.replay = API_REPLAY_FAILED;
    ask(&b, "GET /api/v1/replays/7", "", "", &answer);
    assert_true(
        says(&answer, "\"failed\",\"error\":\"\\\"it\\\" did not start\",\"result\":null}"));
    b.replay = API_REPLAY_RUNNING;
    ask(&b, "GET /api/v1/replays/7", "", "", &answer);
    assert_true(says(&answer, "\"running\",\"error\":null,\"result\":null}"));
    buf_deinit(&answer);
    lab_deinit(&b);
}

/* ---- versions ---- */

static void add_etag(const struct buf *answer, struct buf *out)
{
    const char *mark = strcasestr(buf_text(answer), "etag: ");
    assert_non_null(mark);
    buf_clear(out);
    buf_addf(out, "If-None-Match: W/\"x\", %.*s\r\n", (int)strcspn(mark + 6, "\r"), mark + 6);
}

static void test_versions(void **state)
{
    (void)state;
    struct lab b;
    struct buf answer = BUF_INIT(1 << 20), known = BUF_INIT(1000);
    lab_init(&b, NULL);
    ask(&b, "GET /api/v1/report", "", "", &answer);
    add_etag(&answer, &known);
    ask(&b, "GET /api/v1/report", "", "", &answer); /* the same text, not printed again */
    assert_int_equal(status_of(&answer), 200);
    assert_int_equal(b.printed, 1);
    ask(&b, "GET /api/v1/report", buf_text(&known), "", &answer);
    assert_int_equal(status_of(&answer), 304);
    assert_true(says(&answer, "etag: "));
    assert_guarded(&answer, "304");
    b.version++;
    ask(&b, "GET /api/v1/report", buf_text(&known), "", &answer);
    assert_int_equal(status_of(&answer), 200);
    assert_true(says(&answer, "\"version\":6"));
    assert_int_equal(b.printed, 2);
    ask(&b, "GET /api/v1/runs/0?from=1", "", "", &answer); /* others have places of their own */
    ask(&b, "GET /api/v1/runs/0?from=2", "", "", &answer);
    ask(&b, "GET /api/v1/runs/0?from=1", "", "", &answer);
    assert_true(says(&answer, "\"from\":1,"));
    assert_int_equal(b.printed, 4);
    b.version = 0; /* may be another one each time */
    ask(&b, "GET /api/v1/report", "If-None-Match: *\r\n", "", &answer);
    assert_int_equal(status_of(&answer), 200);
    assert_false(says(&answer, "etag: "));
    ask(&b, "GET /", "If-None-Match: *\r\n", "", &answer);
    assert_int_equal(status_of(&answer), 304);
    buf_deinit(&answer);
    buf_deinit(&known);
    lab_deinit(&b);
}

/* What is expensive is printed seldom while the campaign runs, and at once when it has ended. */
static void test_expensive(void **state)
{
    (void)state;
    struct lab b;
    struct buf answer = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    b.cost_ns = MS(100);
    int64_t began_ns = clock_ns();
    for (int i = 0; i < 20; i++, b.version++)
        ask(&b, "GET /api/v1/report", "", "", &answer);
    if (clock_ns() - began_ns < SECONDS(4)) { /* a machine that crawls proves nothing */
        assert_int_equal(b.printed, 1);
        assert_true(says(&answer, "\"version\":5"));
    }
    int before = b.printed;
    b.state.phase = API_FINISHED;
    ask(&b, "GET /api/v1/report", "", "", &answer);
    assert_int_equal(b.printed, before + 1);
    assert_true(says(&answer, "\"version\":25"));
    buf_deinit(&answer);
    lab_deinit(&b);
}

/* A large one comes in pieces, whole, to readers of any speed; who leaves costs nothing. */
static void test_large(void **state)
{
    (void)state;
    enum { SIZE = 5 << 20, READERS = 20 };
    struct lab b;
    int fd[READERS];
    struct buf answer = BUF_INIT(16 << 20);
    lab_init(&b, NULL);
    b.size = SIZE;
    b.state.phase = API_FINISHED;
    for (int i = 0; i < READERS; i++) {
        fd[i] = raw_connect(&b);
        raw_say(fd[i], SLICE("GET /api/v1/report HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        for (int t = 0; t < 10; t++)
            turn(&b);
    }
    b.version++;
    ask(&b, "GET /api/v1/report", "", "", &answer); /* a newer one, meanwhile */
    assert_true(says(&answer, "\"version\":6"));
    assert_true(answer.n > SIZE);
    assert_int_equal(b.printed, 2);
    for (int i = 0; i < READERS; i++) {
        if (i % 2) {
            close(fd[i]);
            continue;
        }
        buf_clear(&answer);
        raw_hear(&b, fd[i], "\r\n0\r\n\r\n", &answer);
        assert_true(says(&answer, "\"version\":5"));
        assert_true(answer.n > SIZE);
        close(fd[i]);
    }
    ask(&b, "HEAD /api/v1/report", "", "", &answer);
    assert_true(says(&answer, "content-length: 5242880\r\n"));
    buf_deinit(&answer);
    lab_deinit(&b);
}

/* ---- the token, TLS ---- */

#define SECRET "0123456789abcdef-secret"

static void with_token(struct api_options *o)
{
    o->token = SECRET;
}

static void test_token(void **state)
{
    (void)state;
    static const struct {
        const char *line, *fields;
        int status;
    } tries[] = {
        {"GET /", "", 200},
        {"GET /livez", "", 200},
        {"GET /readyz", "", 200},
        {"GET /metrics", "", 401},
        {"GET /api/v1/report", "", 401},
        {"GET /api/v1/events", "", 401},
        {"GET /api/v1/openapi.json", "", 401},
        {"GET /api/v1/nothing", "", 401},
        {"POST /api/v1/pause", JSON, 401},
        {"GET /api/v1/report", "Authorization: Bearer " SECRET "\r\n", 200},
        {"GET /api/v1/report", "Authorization: bearer  " SECRET " \r\n", 200},
        {"POST /api/v1/pause", JSON "Authorization: Bearer " SECRET "\r\n", 200},
        {"GET /api/v1/nothing", "Authorization: Bearer " SECRET "\r\n", 404},
        {"GET /api/v1/report", "Authorization: Bearer " SECRET "x\r\n", 401},
        {"GET /api/v1/report", "Authorization: Bearer 0123456789abcdef\r\n", 401},
        {"GET /api/v1/report", "Authorization: Bearer \r\n", 401},
        {"GET /api/v1/report", "Authorization: Basic " SECRET "\r\n", 401},
        {"GET /api/v1/report?token=" SECRET, "", 401},
        {"GET /api/v1/report", "Origin: http://x\r\nAuthorization: Bearer " SECRET "\r\n", 403},
        {"GET /api/v1/report", "Host: evil.example\r\nAuthorization: Bearer " SECRET "\r\n", 403},
    };
    struct lab b;
    struct buf answer = BUF_INIT(1 << 20);
    lab_init(&b, with_token);
    assert_non_null(strstr(api_address(b.api), "/#token=" SECRET));
    for (size_t i = 0; i < sizeof tries / sizeof *tries; i++) {
        ask(&b, tries[i].line, tries[i].fields, "", &answer);
        if (status_of(&answer) != tries[i].status)
            fail_msg("%s %s: %s", tries[i].line, tries[i].fields, buf_text(&answer));
        assert_true(says(&answer, "www-authenticate: Bearer") == (tries[i].status == 401));
        assert_false(says(&answer, SECRET));
    }
    buf_deinit(&answer);
    lab_deinit(&b);
}

static void test_addresses(void **state)
{
    (void)state;
    static const struct {
        const char *listen, *token, *says;
    } refused[] = {
        {"0.0.0.0:0", NULL, "needs a token: set OUTFOX_TOKEN or --token-file"},
        {":0", NULL, "needs a token"},
        {"[::]:0", NULL, "needs a token"},
        {"10.1.2.3:0", NULL, "needs a token"},
        {"0.0.0.0:0", "short", "16 to 1000 characters"},
        {"127.0.0.1:0", "", "16 to 1000 characters"},
        {"127.0.0.1:0", "blanks in a long token", "that HTTP cannot carry"},
        {"127.0.0.1:0", "0123456789abcdef\r\nx: y", "that HTTP cannot carry"},
        {"nowhere", NULL, "--listen"},
    };
    struct lab b = {0};
    struct api_host host;
    struct buf answer = BUF_INIT(1 << 20);
    assert_int_equal(loop_init(&b.loop, NULL), 0);
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        struct err e = {0};
        struct api_options o = lab_options(&b, &host);
        o.listen = refused[i].listen;
        o.token = refused[i].token;
        assert_int_equal(api_new(&o, &b.api, &e), -1);
        if (!strstr(e.text, refused[i].says))
            fail_msg("%s: %s", refused[i].listen, e.text);
    }
    PUMP(&b, b.loop.n_handles == 0);
    loop_deinit(&b.loop);
    buf_deinit(&answer);
}

static void everywhere(struct api_options *o)
{
    o->listen = "0.0.0.0:0";
    o->token = SECRET;
}

/* Beyond loopback any name may lead here: the token stands for it. */
static void test_beyond(void **state)
{
    (void)state;
    struct lab b;
    struct buf answer = BUF_INIT(1 << 20);
    lab_init(&b, everywhere);
    assert_non_null(strstr(api_address(b.api), "http://127.0.0.1:"));
    assert_true(api_is_everywhere(b.api));
    ask(&b, "GET /api/v1/report", "Host: ci.example:80\r\nAuthorization: Bearer " SECRET "\r\n", "",
        &answer);
    assert_int_equal(status_of(&answer), 200);
    ask(&b, "GET /api/v1/report", "Host: ci.example:80\r\n", "", &answer);
    assert_int_equal(status_of(&answer), 401);
    ask(&b, "GET /api/v1/report",
        "Host: ci.example:80\r\nOrigin: http://evil.example\r\nAuthorization: Bearer " SECRET
        "\r\n",
        "", &answer);
    assert_int_equal(status_of(&answer), 403);
    ask(&b, "GET /api/v1/report", /* a proxy that does TLS is in front */
        "Host: ci.example\r\nOrigin: https://ci.example\r\nAuthorization: Bearer " SECRET "\r\n",
        "", &answer);
    assert_int_equal(status_of(&answer), 200);
    buf_deinit(&answer);
    lab_deinit(&b);
}

/* ---- TLS ---- */

static char pem[] = "/tmp/outfox-api-XXXXXX";

static void with_tls(struct api_options *o)
{
    o->tls_cert = pem;
}

struct got {
    int n;
    outcome seen;
    char error[200];
};

static void on_done(void *user, const struct client_answer *a)
{
    struct got *g = user;
    g->n++;
    g->seen = a->seen;
    copy_text(g->error, sizeof g->error, slice_of(a->error ? a->error : ""));
}

static struct got ask_tls(struct lab *b, struct tls_context *tls, const char *origin)
{
    struct client *client = client_new(&b->loop, true);
    struct field field = {SLICE("origin"), slice_of(origin)};
    struct head head = {.method = SLICE("GET"),
                        .target = SLICE("/api/v1/report"),
                        .authority = SLICE("localhost"),
                        .fields = &field,
                        .n_fields = 1};
    struct client_request r = {
        .to = &b->at, .tls = tls, .head = &head, .timeout_ns = PATIENCE, .body_max = 3999};
    struct got g = {0};
    client_send(client, &r, on_done, &g);
    PUMP(b, g.n == 1);
    client_free(client);
    return g;
}

static void test_tls(void **state)
{
    (void)state;
    struct lab b;
    struct err e = {0};
    EVP_PKEY *key = NULL;
    X509 *cert = cert_generate(NULL, CERT_TEST_DAYS, &key);
    int fd = mkstemp(pem);
    FILE *file = fdopen(fd, "w");
    assert_int_equal(PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL), 1);
    assert_int_equal(PEM_write_X509(file, cert), 1);
    assert_int_equal(fclose(file), 0);
    lab_init(&b, with_tls);
    assert_int_equal(strncmp(api_address(b.api), "https://127.0.0.1:", 18), 0);
    struct tls_context *tls =
        tls_client(&(struct tls_client_options){.ca = pem, .name = "localhost"}, &e);
    assert_non_null(tls);
    struct got g = ask_tls(&b, tls, "https://localhost");
    if (g.seen != OUTCOME(OUT_STATUS, 200))
        fail_msg("%s", g.error);
    g = ask_tls(&b, tls, "http://localhost"); /* another origin than https:// */
    assert_int_equal(g.seen, OUTCOME(OUT_STATUS, 403));
    g = ask_tls(&b, NULL, "https://localhost"); /* without TLS nothing is said */
    assert_true(outcome_kind(g.seen) != OUT_STATUS);
    assert_int_equal(b.printed, 1);
    tls_context_free(tls);
    lab_deinit(&b);
    assert_int_equal(unlink(pem), 0);
    struct api_host host;
    struct lab without = {0};
    struct api_options o = lab_options(&without, &host);
    o.tls_cert = pem;
    assert_int_equal(api_new(&o, &without.api, &e), -1);
    if (!strstr(e.text, "--tls-cert"))
        fail_msg("%s", e.text);
    X509_free(cert);
    EVP_PKEY_free(key);
}

/* ---- limits ---- */

static void hurried(struct api_options *o)
{
    o->patience_ns = MS(400);
}

static void test_limits(void **state)
{
    (void)state;
    struct lab b;
    struct buf answer = BUF_INIT(1 << 20), big = BUF_INIT(1 << 20);
    lab_init(&b, hurried);
    while (big.n <= API_BODY_MAX)
        buf_adds(&big, "                ");
    ask(&b, "POST /api/v1/pause", JSON, buf_text(&big), &answer); /* too large */
    assert_int_equal(status_of(&answer), 413);
    assert_true(
        says(&answer, "{\"error\":{\"status\":413,\"message\":\"the body is too large\"}}"));
    assert_guarded(&answer, "413");
    big.p[API_BODY_MAX] = 0; /* as large as may be */
    ask(&b, "POST /api/v1/pause", JSON, buf_text(&big), &answer);
    assert_int_equal(status_of(&answer), 200);
    int slow = raw_connect(&b), mute = raw_connect(&b), dripping = raw_connect(&b);
    raw_say(slow, SLICE("POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\n" JSON
                        "Content-Length: 9\r\n\r\n{"));
    raw_say(dripping, SLICE("GET /api/v1/rep"));
    buf_clear(&answer);
    raw_hear(&b, slow, "too long", &answer);
    assert_int_equal(status_of(&answer), 408);
    buf_clear(&answer);
    raw_hear(&b, mute, NULL, &answer);
    raw_hear(&b, dripping, NULL, &answer);
    assert_int_equal(answer.n, 0);
    close(slow);
    close(mute);
    close(dripping);
    buf_clear(&big);
    buf_adds(&big, "GET /api/v1/explain?scenario=0&faultload=");
    while (big.n < 70 * 1024)
        buf_adds(&big, "xxxxxxxxxxxxxxxx");
    ask(&b, buf_text(&big), "", "", &answer);
    assert_true(status_of(&answer) == 414 || status_of(&answer) == 431);
    assert_int_equal(b.commands, 1);
    buf_deinit(&answer);
    buf_deinit(&big);
    lab_deinit(&b);
}

/* ---- what is told ---- */

/* The document, read as JSON. */
static const struct node *campaign(struct lab *b, struct arena *a)
{
    struct buf answer = BUF_INIT(1 << 20);
    const struct node *map;
    ask(b, "GET /api/v1/campaign", "", "", &answer);
    slice body = slice_of(strstr(buf_text(&answer), "\r\n\r\n") + 4);
    if (node_parse_json(a, slice_copy(a, body), &map))
        fail_msg("%s", buf_text(&answer));
    buf_deinit(&answer);
    return map;
}

static void assert_at(const struct node *map, const char *path, const char *text)
{
    const struct node *value = node_at(map, slice_of(path));
    struct buf out = BUF_INIT(1000);
    node_print(value, &out);
    if (strcmp(buf_text(&out), text) != 0)
        fail_msg("%s: %s, not %s", path, buf_text(&out), text);
    buf_deinit(&out);
}

static struct event event_of(enum event_type type)
{
    return (struct event){.type = type, .scenario = "checkout", .at_ns = MS(10)};
}

static void run_events(struct lab *b, enum run_purpose purpose, uint64_t number, bool pass)
{
    struct event event = event_of(EVENT_RUN_BEGINS);
    event.purpose = purpose;
    event.runs = number - 1;
    event.queued = 30;
    api_event(b->api, &event);
    event.type = EVENT_RUN;
    event.number = event.runs = number;
    event.pass = pass;
    event.failed = !pass;
    event.status = OUTCOME(OUT_STATUS, 200);
    event.took_ns = MS(3);
    event.calls = 4;
    event.found = !pass;
    api_event(b->api, &event);
}

static void test_campaign(void **state)
{
    (void)state;
    struct lab b;
    struct arena a = {0};
    lab_init(&b, NULL);
    b.state.phase = API_STARTING;
    assert_at(campaign(&b, &a), "state", "\"starting\"");
    b.state.phase = API_RUNNING;
    struct event event = event_of(EVENT_CAMPAIGN);
    event.max_runs = 100;
    api_event(b.api, &event);
    run_events(&b, RUN_BASELINE, 1, true);
    assert_at(campaign(&b, &a), "state", "\"learning\"");
    event = event_of(EVENT_LEARNED);
    api_event(b.api, &event);
    run_events(&b, RUN_SEARCH, 2, false);
    event = event_of(EVENT_RUN_BEGINS);
    event.purpose = RUN_SEARCH;
    event.runs = 2;
    event.queued = 29;
    event.found = 1;
    api_event(b.api, &event);
    event = event_of(EVENT_REMARK);
    event.severity = SEVERITY_WARNING;
    api_event(b.api, &event);
    const struct node *map = campaign(&b, &a);
    assert_at(map, "state", "\"exploring\"");
    assert_at(map, "scenario", "0");
    assert_at(map, "scenarios/0/state", "\"running\"");
    assert_at(map, "scenarios/0/runs", "2");
    assert_at(map, "scenarios/0/queued", "29");
    assert_at(map, "scenarios/0/findings", "1");
    assert_at(map, "scenarios/0/failed_runs", "1");
    assert_at(map, "scenarios/0/warnings", "1");
    assert_at(map, "scenarios/0/max_runs", "100");
    assert_at(map, "scenarios/0/verdict", "null");
    assert_at(map, "scenarios/1/state", "\"waiting\"");
    assert_at(map, "in_flight/0/purpose", "\"search\"");
    assert_at(map, "in_flight/0/faultload", "\"none\"");
    assert_at(map, "in_flight/1", "null");
    assert_at(map, "oracles/1/severity", "\"warning\"");
    assert_at(map, "commands/0", "\"pause\"");
    b.state.has_bounds = true;
    b.state.max_runs = 500;
    b.state.phase = API_PAUSED;
    map = campaign(&b, &a);
    assert_at(map, "scenarios/0/max_runs", "500");
    assert_at(map, "state", "\"paused\"");
    event = event_of(EVENT_REPORT);
    api_event(b.api, &event);
    event = event_of(EVENT_END);
    event.conclusion = CONCLUSION_FINDINGS;
    event.runs = 3;
    event.took_ns = HOURS(1);
    api_event(b.api, &event);
    b.state.phase = API_FAILED;
    b.state.error = "the \"store\" is gone";
    map = campaign(&b, &a);
    assert_at(map, "state", "\"failed\"");
    assert_at(map, "error", "\"the \\\"store\\\" is gone\"");
    assert_at(map, "scenario", "null");
    assert_at(map, "scenarios/0/state", "\"done\"");
    assert_at(map, "scenarios/0/verdict", "\"findings\"");
    assert_at(map, "scenarios/0/warnings", "0");
    assert_at(map, "scenarios/0/left_ns", "null");
    assert_at(map, "in_flight/0", "null");
    assert_at(map, "took_ns", "3600000000000");
    arena_deinit(&a);
    lab_deinit(&b);
}

static void test_metrics(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "# TYPE outfox_runs_total counter\noutfox_runs_total{scenario=\"checkout\"} 2\n"
        "outfox_runs_total{scenario=\"a \\\"b\\\" \\\\ c\"} 0\n",
        "outfox_failed_runs_total{scenario=\"checkout\"} 1\n",
        "outfox_calls_total{scenario=\"checkout\"} 8\n",
        "outfox_findings{scenario=\"checkout\"} 1\n",
        "outfox_queue{scenario=\"checkout\"} 30\n",
        "outfox_run_seconds_bucket{scenario=\"checkout\",le=\"0.002\"} 0\n"
        "outfox_run_seconds_bucket{scenario=\"checkout\",le=\"0.005\"} 2\n",
        "outfox_run_seconds_bucket{scenario=\"checkout\",le=\"+Inf\"} 2\n",
        "outfox_run_seconds_count{scenario=\"checkout\"} 2\n",
        "outfox_campaign_state{state=\"exploring\"} 1\n",
        "outfox_campaign_state{state=\"paused\"} 0\n",
        "outfox_ready 1\n",
        "outfox_event_streams 0\n",
        "content-type: text/plain; version=0.0.4",
    };
    struct lab b;
    struct buf answer = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    run_events(&b, RUN_SEARCH, 1, true);
    run_events(&b, RUN_SEARCH, 2, false);
    ask(&b, "GET /metrics", "", "", &answer);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!says(&answer, lines[i]))
            fail_msg("no %s in %s", lines[i], buf_text(&answer));
    buf_deinit(&answer);
    lab_deinit(&b);
}

/* Each reference leads to one of the schemas. */
static void assert_refs(const struct node *node, const struct node *all)
{
    static const slice prefix = {"#/components/schemas/", 21};
    for (uint32_t i = 0; node->type == NODE_LIST && i < node->n; i++)
        assert_refs(node->list[i], all);
    for (uint32_t i = 0; node->type == NODE_MAP && i < node->n; i++) {
        const struct node_pair *pair = &node->map[i];
        if (!slice_is(pair->key, "$ref")) {
            assert_refs(pair->value, all);
        } else if (!slice_starts(pair->value->text, prefix) ||
                   !node_get(all, slice_from(pair->value->text, prefix.n))) {
            fail_msg("%.*s leads nowhere", SLICE_ARG(pair->value->text));
        }
    }
}

/* The OpenAPI document: JSON, every route in it, references that lead somewhere inside. */
static void test_openapi(void **state)
{
    (void)state;
    struct arena a = {0};
    struct buf text = BUF_INIT(1 << 20);
    const struct node *map;
    api_openapi("1.2.3", &text);
    assert_int_equal(node_parse_json(&a, buf_slice(&text), &map), 0);
    const struct node *paths = node_get(map, SLICE("paths"));
    const struct node *all = node_at(map, SLICE("components/schemas"));
    assert_int_equal(paths->n, n_routes);
    for (uint32_t i = 0; i < n_routes; i++) {
        const struct node *path = node_get(paths, slice_of(routes[i].path));
        const struct node *operation =
            node_get(path, routes[i].body ? SLICE("post") : SLICE("get"));
        assert_non_null(operation);
        const struct node *summary = node_get(operation, SLICE("summary"));
        assert_true(slice_is(summary->text, routes[i].summary));
        assert_int_equal(node_at(operation, SLICE("responses/403"))->type, NODE_MAP);
        bool schema = routes[i].schema[0] && strcmp(routes[i].schema, "any") != 0;
        if (schema && !node_get(all, slice_of(routes[i].schema)))
            fail_msg("%s: there is no schema %s", routes[i].path, routes[i].schema);
    }
    assert_at(map, "components/schemas/budget-body/properties/max_runs/minimum", "0");
    assert_refs(map, all);
    arena_deinit(&a);
    buf_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),  cmocka_unit_test(test_all_routes),
        cmocka_unit_test(test_commands),  cmocka_unit_test(test_results),
        cmocka_unit_test(test_versions),  cmocka_unit_test(test_expensive),
        cmocka_unit_test(test_large),     cmocka_unit_test(test_token),
        cmocka_unit_test(test_addresses), cmocka_unit_test(test_beyond),
        cmocka_unit_test(test_tls),       cmocka_unit_test(test_limits),
        cmocka_unit_test(test_campaign),  cmocka_unit_test(test_metrics),
        cmocka_unit_test(test_openapi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
