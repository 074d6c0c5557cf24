/* SPDX-License-Identifier: Apache-2.0
 *
 * The HTTP server on the loop: routes, bodies, limits, who asks, and answers that come in parts. The
 * client is that of campaigns, on the same loop; what must misbehave is a bare socket. */
#include "http/server.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/client.h"
#include "support/pump.h"

#define PATIENCE (120 * INT64_C(1000000000))

enum { QUEUE = 64 * 1024, BODY_MAX = 1000, CONNECTIONS = 4 };

struct lab {
    struct loop loop;
    struct server *server;
    struct addr at;
    struct client *client;
    /* the stream that a handler has begun */
    struct server_request *events;
    int gone, room, handled;
    char body[2 * BODY_MAX];
};

static void turn(struct lab *b)
{
    (void)uv_run(&b->loop.uv, UV_RUN_NOWAIT);
    sched_yield();
}

/* ---- what it answers ---- */

static void on_hello(struct server_request *q)
{
    struct lab *b = q->ctx;
    b->handled++;
    server_answer(q, q->query.n ? 202 : 200, "text/plain",
                  q->query.n ? q->query : SLICE("hello\n"));
}

static void on_echo(struct server_request *q)
{
    struct lab *b = q->ctx;
    b->handled++;
    server_answer(q, 200, "application/json", q->body);
}

static void on_secret(struct server_request *q)
{
    struct lab *b = q->ctx;
    b->handled++;
    server_answer(q, q->local ? 204 : 403, "text/plain", SLICE("for programs alone\n"));
}

static void on_below(struct server_request *q)
{
    struct lab *b = q->ctx;
    b->handled++;
    server_answer(q, 200, "text/html", q->path);
}

static void on_gone(void *user)
{
    struct lab *b = user;
    b->events = NULL;
    b->gone++;
}

static void on_room(void *user)
{
    struct lab *b = user;
    b->room++;
}

static void on_events(struct server_request *q)
{
    struct lab *b = q->ctx;
    b->handled++;
    server_begin(q, 200, "text/event-stream", on_gone, on_room, b);
    b->events = q;
}

/* Begun and ended before the handler returns. */
static void on_brief(struct server_request *q)
{
    server_begin(q, 200, "text/plain", NULL, NULL, NULL);
    assert_true(server_send(q, SLICE("brief")));
    server_end(q);
}

static const struct server_route routes[] = {
    {"GET", "/", 0, on_hello},          {"POST", "/echo", BODY_MAX, on_echo},
    {NULL, "/secret", 0, on_secret},    {"GET", "/events", 0, on_events},
    {"GET", "/brief", 0, on_brief},     {"GET", "/files/*", 0, on_below},
    {"POST", "/files/*", 10, on_below},
};

static void lab_init(struct lab *b, int64_t patience_ns)
{
    struct err e = {0};
    *b = (struct lab){0};
    assert_int_equal(loop_init(&b->loop, NULL), 0);
    assert_int_equal(addr_parse(SLICE("127.0.0.1:0"), "listen", &b->at, &e), 0);
    struct server_options o = {.loop = &b->loop,
                               .routes = routes,
                               .n_routes = sizeof routes / sizeof *routes,
                               .ctx = b,
                               .connections = CONNECTIONS,
                               .queue = QUEUE,
                               .patience_ns = patience_ns};
    assert_int_equal(server_new(&o, &b->at, &b->server, &e), 0);
    b->client = client_new(&b->loop, false);
}

static void lab_deinit(struct lab *b)
{
    client_free(b->client);
    server_free(b->server);
    PUMP(b, b->loop.n_handles == 0);
    loop_deinit(&b->loop);
}

/* ---- asking ---- */

struct got {
    int n;
    outcome seen;
    char type[100], body[4000], error[200];
    bool has_length;
    uint64_t length;
};

static void on_done(void *user, const struct client_answer *a)
{
    struct got *g = user;
    g->n++;
    g->seen = a->seen;
    copy_text(g->body, sizeof g->body, a->body);
    copy_text(g->error, sizeof g->error, slice_of(a->error ? a->error : ""));
    if (a->head) {
        copy_text(g->type, sizeof g->type, head_get(a->head, SLICE("content-type")));
        g->has_length = a->head->has_length;
        g->length = a->head->length;
    }
}

static struct got ask_with(struct lab *b, struct head head, slice body)
{
    struct got g = {0};
    struct client_request r = {
        .to = &b->at, .head = &head, .body = body, .timeout_ns = PATIENCE, .body_max = 3999};
    client_send(b->client, &r, on_done, &g);
    PUMP(b, g.n == 1);
    return g;
}

static struct got ask(struct lab *b, const char *method, const char *target, slice body)
{
    return ask_with(b, (struct head){.method = slice_of(method), .target = slice_of(target)}, body);
}

static int raw_connect(struct lab *b)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), small = 4096;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&b->at.sa, b->at.n), 0);
    return fd;
}

static void raw_say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* All that has come so far, up to the end of the connection or until `word` is in it. */
static void raw_hear(struct lab *b, int fd, const char *word, char *text, size_t size)
{
    size_t n = 0;
    ssize_t got = -1;
    int64_t end_ns = clock_ns() + PATIENCE;
    text[0] = 0;
    while (got != 0 && !(word && strstr(text, word)) && n + 1 < size) {
        if (clock_ns() > end_ns)
            fail_msg("never heard \"%s\", but \"%s\"", word, text);
        turn(b);
        got = recv(fd, text + n, size - 1 - n, MSG_DONTWAIT);
        if (got > 0)
            text[n += (size_t)got] = 0;
    }
}

/* ---- routes ---- */

static void test_routes(void **state)
{
    (void)state;
    static const struct {
        const char *method, *target, *body;
        uint16_t status;
        const char *type, *answer;
    } rows[] = {
        {"GET", "/", "", 200, "text/plain", "hello\n"},
        {"GET", "/?a=b?c", "", 202, "text/plain", "a=b?c"},
        {"GET", "/?", "", 200, "text/plain", "hello\n"},
        {"GET", "/x", "", 404, "text/plain", "not found\n"},
        {"POST", "/", "x", 405, "text/plain", "method not allowed\n"},
        {"POST", "/echo", "{}", 200, "application/json", "{}"},
        {"POST", "/echo?x", "", 200, "application/json", ""},
        {"GET", "/echo", "", 405, "text/plain", "method not allowed\n"},
        {"GET", "/files/a/b", "", 200, "text/html", "/files/a/b"},
        {"POST", "/files/", "0123456789", 200, "text/html", "/files/"},
        {"POST", "/files/", "0123456789+", 413, "text/plain", "the body is too large\n"},
        {"GET", "/files", "", 404, "text/plain", "not found\n"},
        {"DELETE", "/secret", "", 204, "", ""},
        {"GET", "/brief", "", 200, "text/plain", "brief"},
    };
    struct lab b;
    lab_init(&b, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct got g = ask(&b, rows[i].method, rows[i].target, slice_of(rows[i].body));
        if (g.seen != OUTCOME(OUT_STATUS, rows[i].status) || strcmp(g.body, rows[i].answer) != 0 ||
            strcmp(g.type, rows[i].type) != 0)
            fail_msg("%s %s: %u \"%s\" %s", rows[i].method, rows[i].target,
                     (unsigned)outcome_code(g.seen), g.body, g.type);
    }
    lab_deinit(&b);
}

/* HEAD is GET without the body, of which the length is told. */
static void test_head(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b, 0);
    struct got g = ask(&b, "HEAD", "/", SLICE(""));
    assert_int_equal(g.seen, OUTCOME(OUT_STATUS, 200));
    assert_string_equal(g.body, "");
    assert_true(g.has_length && g.length == 6);
    g = ask(&b, "GET", "/", SLICE(""));
    assert_string_equal(g.body, "hello\n");
    lab_deinit(&b);
}

/* ---- who asks ---- */

static void test_local(void **state)
{
    (void)state;
    static const struct {
        const char *authority, *name, *value;
        uint16_t status;
    } rows[] = {
        {"127.0.0.1:80", NULL, NULL, 204},
        {"localhost", NULL, NULL, 204},
        {"evil.example", NULL, NULL, 403},
        {"localhost", "origin", "http://evil.example", 403},
        {"localhost", "sec-fetch-site", "cross-site", 403},
    };
    struct lab b;
    lab_init(&b, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field field = {slice_of(rows[i].name ? rows[i].name : "x"),
                              slice_of(rows[i].value ? rows[i].value : "x")};
        struct head head = {.method = SLICE("GET"),
                            .target = SLICE("/secret"),
                            .authority = slice_of(rows[i].authority),
                            .fields = &field,
                            .n_fields = 1};
        struct got g = ask_with(&b, head, SLICE(""));
        if (g.seen != OUTCOME(OUT_STATUS, rows[i].status))
            fail_msg("%s, %s: %u", rows[i].authority, rows[i].value,
                     (unsigned)outcome_code(g.seen));
    }
    lab_deinit(&b);
}

/* ---- limits ---- */

#define TO_ECHO "POST /echo HTTP/1.1\r\nHost: localhost\r\n"

static void test_bodies(void **state)
{
    (void)state;
    struct lab b;
    char text[4000], big[BODY_MAX + 2] = {0};
    lab_init(&b, 0);
    /* too long, as it says itself: told at once, without a byte of it */
    int fd = raw_connect(&b);
    raw_say(fd, TO_ECHO "Content-Length: 1001\r\nExpect: 100-continue\r\n\r\n");
    raw_hear(&b, fd, "too large", text, sizeof text);
    assert_non_null(strstr(text, "HTTP/1.1 413"));
    assert_null(strstr(text, "100 Continue"));
    close(fd);
    /* too long, as it turns out */
    fd = raw_connect(&b);
    memset(big, 'x', BODY_MAX + 1);
    raw_say(fd, TO_ECHO "Transfer-Encoding: chunked\r\n\r\n3e9\r\n");
    raw_say(fd, big);
    raw_hear(&b, fd, "too large", text, sizeof text);
    assert_non_null(strstr(text, "HTTP/1.1 413"));
    close(fd);
    assert_int_equal(b.handled, 0);
    /* as long as it may be, after a word */
    fd = raw_connect(&b);
    raw_say(fd, TO_ECHO "Content-Length: 1000\r\nExpect: 100-continue\r\n\r\n");
    raw_hear(&b, fd, "100 Continue", text, sizeof text);
    big[BODY_MAX] = 0;
    raw_say(fd, big);
    raw_hear(&b, fd, big, text, sizeof text);
    assert_non_null(strstr(text, "HTTP/1.1 200"));
    close(fd);
    assert_int_equal(b.handled, 1);
    /* one that nobody wants does not delay the answer, nor harm the next one */
    fd = raw_connect(&b);
    raw_say(fd, "PUT /secret HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab");
    raw_hear(&b, fd, "204", text, sizeof text);
    raw_say(fd, "cdeGET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    raw_hear(&b, fd, "hello", text, sizeof text);
    close(fd);
    lab_deinit(&b);
}

static void test_patience(void **state)
{
    (void)state;
    struct lab b;
    char text[4000];
    lab_init(&b, 500 * 1000 * 1000);
    int late = raw_connect(&b), mute = raw_connect(&b);
    raw_say(late, TO_ECHO "Content-Length: 10\r\n\r\nabc");
    raw_hear(&b, late, "too long", text, sizeof text);
    assert_non_null(strstr(text, "HTTP/1.1 408"));
    raw_hear(&b, mute, NULL, text, sizeof text); /* no head: closed without a word */
    assert_string_equal(text, "");
    assert_int_equal(b.handled, 0);
    close(late);
    close(mute);
    lab_deinit(&b);
}

static void test_heads(void **state)
{
    (void)state;
    struct lab b;
    static char text[100000], target[70000];
    lab_init(&b, 0);
    memset(target, 'x', sizeof target - 1);
    int fd = raw_connect(&b);
    raw_say(fd, "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n");
    raw_hear(&b, fd, NULL, text, sizeof text);
    assert_non_null(strstr(text, "HTTP/1.1 400"));
    close(fd);
    fd = raw_connect(&b);
    raw_say(fd, "GET /");
    raw_say(fd, target);
    raw_hear(&b, fd, "HTTP/1.1 4", text, sizeof text);
    close(fd);
    fd = raw_connect(&b);
    raw_say(fd, "\x16\x03\x01");
    raw_hear(&b, fd, "HTTP/1.1 400", text, sizeof text);
    close(fd);
    assert_int_equal(b.handled, 0);
    lab_deinit(&b);
}

static void test_connections(void **state)
{
    (void)state;
    struct lab b;
    int fd[CONNECTIONS + 1];
    char text[400];
    lab_init(&b, 0);
    for (int i = 0; i <= CONNECTIONS; i++) {
        fd[i] = raw_connect(&b);
        if (i < CONNECTIONS) {
            raw_say(fd[i], "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
            raw_hear(&b, fd[i], "hello", text, sizeof text);
        }
    }
    raw_hear(&b, fd[CONNECTIONS], NULL, text, sizeof text);
    assert_string_equal(text, "");
    close(fd[0]); /* makes room */
    close(fd[CONNECTIONS]);
    bool served = false;
    for (int64_t end_ns = clock_ns() + PATIENCE; !served && clock_ns() < end_ns;) {
        fd[0] = raw_connect(&b);
        (void)send(fd[0], "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 28, MSG_NOSIGNAL);
        raw_hear(&b, fd[0], "hello", text, sizeof text);
        served = strstr(text, "hello") != NULL;
        if (!served)
            close(fd[0]);
    }
    assert_true(served);
    for (int i = 0; i < CONNECTIONS; i++)
        close(fd[i]);
    lab_deinit(&b);
}

/* ---- answers in parts ---- */

static int begin_events(struct lab *b)
{
    int fd = raw_connect(b);
    raw_say(fd, "GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    PUMP(b, b->events);
    return fd;
}

static void test_events(void **state)
{
    (void)state;
    struct lab b;
    char text[4000];
    lab_init(&b, 0);
    int fd = begin_events(&b);
    raw_hear(&b, fd, "\r\n\r\n", text, sizeof text); /* the head comes by itself */
    assert_non_null(strstr(text, "text/event-stream"));
    for (int i = 0; i < 5; i++) {
        char event[40], n = (char)('0' + i);
        snprintf(event, sizeof event, "data: %c\n\n", n);
        assert_true(server_send(b.events, slice_of(event)));
        raw_hear(&b, fd, event, text, sizeof text);
        PUMP(&b, b.room == i + 1);
    }
    server_end(b.events);
    raw_hear(&b, fd, "0\r\n\r\n", text, sizeof text);
    assert_int_equal(b.gone, 0);
    raw_say(fd, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"); /* and the connection goes on */
    raw_hear(&b, fd, "hello", text, sizeof text);
    close(fd);
    lab_deinit(&b);
}

/* Sends until it is refused; how many bytes were taken. */
static size_t fill(struct lab *b)
{
    static char event[1000];
    size_t n = 0;
    memset(event, 'e', sizeof event);
    while (b->events && server_send(b->events, (slice){event, sizeof event})) {
        n += sizeof event;
        turn(b);
        if (n > 64 << 20)
            fail_msg("it takes everything");
    }
    return n;
}

static void test_slow_reader(void **state)
{
    (void)state;
    struct lab b;
    static char text[1 << 20];
    lab_init(&b, 0);
    int slow = begin_events(&b);
    struct server_request *slows = b.events;
    size_t taken = fill(&b);
    assert_true(taken > 0);
    assert_false(server_send(slows, SLICE("one more of a thousand bytes or so")) &&
                 server_send(slows, (slice){text, QUEUE}));
    /* others are served meanwhile */
    struct got g = ask(&b, "GET", "/", SLICE(""));
    assert_string_equal(g.body, "hello\n");
    assert_int_equal(b.gone, 0);
    /* it reads again: there is room again */
    int room = b.room;
    for (int64_t end_ns = clock_ns() + PATIENCE; b.room == room && clock_ns() < end_ns;) {
        (void)!recv(slow, text, sizeof text, MSG_DONTWAIT);
        turn(&b);
    }
    assert_true(b.room > room);
    assert_true(server_send(slows, SLICE("data: again\n\n")));
    close(slow);
    PUMP(&b, b.gone == 1);
    lab_deinit(&b);
}

static void test_reader_stops(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b, 50 * 1000 * 1000);
    int fd = begin_events(&b);
    int64_t end_ns = clock_ns() + PATIENCE;
    while (b.events && clock_ns() < end_ns)
        (void)fill(&b), turn(&b);
    assert_int_equal(b.gone, 1);
    close(fd);
    lab_deinit(&b);
}

/* A stream without a word may last: only who takes nothing is cut off. */
static void test_quiet_stream(void **state)
{
    (void)state;
    struct lab b;
    char text[400];
    lab_init(&b, 1000 * 1000 * 1000);
    int fd = begin_events(&b);
    for (int64_t end_ns = clock_ns() + INT64_C(1500000000); clock_ns() < end_ns;)
        turn(&b);
    assert_int_equal(b.gone, 0);
    assert_true(server_send(b.events, SLICE("data: late\n\n")));
    raw_hear(&b, fd, "late", text, sizeof text);
    close(fd);
    PUMP(&b, b.gone == 1);
    lab_deinit(&b);
}

static void test_leaving(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b, 0);
    int fd = begin_events(&b);
    close(fd); /* the client leaves */
    PUMP(&b, b.gone == 1);
    assert_null(b.events);
    fd = begin_events(&b);
    server_free(b.server); /* or the server does */
    b.server = NULL;
    assert_int_equal(b.gone, 2);
    close(fd);
    lab_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routes),       cmocka_unit_test(test_head),
        cmocka_unit_test(test_local),        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_patience),     cmocka_unit_test(test_heads),
        cmocka_unit_test(test_connections),  cmocka_unit_test(test_events),
        cmocka_unit_test(test_slow_reader),  cmocka_unit_test(test_reader_stops),
        cmocka_unit_test(test_quiet_stream), cmocka_unit_test(test_leaving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
