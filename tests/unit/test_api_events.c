/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of the API as a browser gets them: numbers, types, catching up, the state, readers that are
 * slow, idle or many. */
#include <sys/resource.h>
#include <time.h>

#include "api/api_int.h"
#include "support/api_lab.h"

/* Begins to read, with these fields; `answer` gets what comes first. room: of the socket, 0: as
 * usual. */
static int listen_small(struct lab *b, const char *query, const char *fields, int room,
                        struct buf *answer)
{
    struct buf text = BUF_INIT(4096);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (room)
        assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&b->at.sa, b->at.n), 0);
    buf_addf(&text, "GET /api/v1/events%s HTTP/1.1\r\nHost: localhost\r\n%s\r\n", query, fields);
    raw_say(fd, buf_slice(&text));
    buf_clear(answer);
    raw_hear(b, fd, "retry: 2000\n\n", answer);
    buf_deinit(&text);
    return fd;
}

static int listen_with(struct lab *b, const char *query, const char *fields, struct buf *answer)
{
    return listen_small(b, query, fields, 0, answer);
}

static void note(struct lab *b, const char *text)
{
    struct event event = {.type = EVENT_NOTE, .scenario = "checkout", .text = text};
    api_event(b->api, &event);
}

static void warn(struct lab *b, const char *text)
{
    struct event event = {.type = EVENT_WARNING, .text = text};
    api_event(b->api, &event);
}

/* How often a word is in a text. */
static int count(const struct buf *text, const char *word)
{
    int n = 0;
    for (const char *at = buf_text(text); (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* The number of the last event in it. */
static unsigned long long last_id(const struct buf *text)
{
    unsigned long long id = 0;
    for (const char *at = buf_text(text); (at = strstr(at, "id: ")); at++)
        id = strtoull(at + 4, NULL, 10);
    return id;
}

static void wait_ns(struct lab *b, int64_t ns)
{
    for (int64_t end_ns = clock_ns() + ns; clock_ns() < end_ns;)
        turn(b);
}

/* ---- what a reader gets ---- */

static void test_reader(void **state)
{
    (void)state;
    struct lab b;
    struct buf text = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    int fd = listen_with(&b, "", "", &text);
    assert_true(says(&text, "content-type: text/event-stream\r\n"));
    assert_true(says(&text, "cache-control: no-store\r\n"));
    raw_hear(&b, fd, "\"commands\":[\"pause\"]}\n\n", &text); /* the state comes by itself */
    assert_true(says(&text, "event: state\ndata: {\"schema_version\":1,\"system\":\"shop\""));
    unsigned long long before = last_id(&text);
    note(&b, "a </script>\n\ndata: x");
    raw_hear(&b, fd,
             "event: note\ndata: {\"outfox\": \"event\", \"version\": 1, \"type\": \"note\"",
             &text);
    raw_hear(&b, fd, "}\n\n", &text);
    assert_int_equal(count(&text, "\ndata: x"), 0); /* one line, whatever is in it */
    assert_true(last_id(&text) == before + 1);
    api_replayed(b.api, 9);
    raw_hear(&b, fd, "event: replay\ndata: {\"id\":9}\n\n", &text);
    assert_int_equal(api_listeners(b.api), 1);
    close(fd);
    PUMP(&b, api_listeners(b.api) == 0);
    buf_deinit(&text);
    lab_deinit(&b);
}

static void test_types(void **state)
{
    (void)state;
    struct lab b;
    struct buf text = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    int fd = listen_with(&b, "?types=warning,replay", "", &text);
    note(&b, "not this");
    warn(&b, "but this");
    note(&b, "nor this");
    api_replayed(b.api, 1);
    raw_hear(&b, fd, "event: replay", &text);
    assert_true(says(&text, "but this"));
    assert_false(says(&text, "not this") || says(&text, "nor this"));
    assert_int_equal(count(&text, "event: note"), 0);
    assert_int_equal(count(&text, "event: state"), 0);
    close(fd);
    buf_deinit(&text);
    lab_deinit(&b);
}

/* At most two a second, however much happens; and the last one is the newest. */
static void test_state(void **state)
{
    (void)state;
    struct lab b;
    struct buf text = BUF_INIT(8 << 20);
    lab_init(&b, NULL);
    int fd = listen_with(&b, "?types=state", "", &text);
    int64_t began_ns = clock_ns();
    while (clock_ns() - began_ns < MS(1700)) {
        api_changed(b.api);
        turn(&b);
    }
    double seconds = (double)(clock_ns() - began_ns) / 1e9;
    b.state.phase = API_PAUSED;
    api_changed(b.api);
    raw_hear(&b, fd, "\"state\":\"paused\"", &text);
    int n = count(&text, "event: state\n");
    assert_true(n >= 2 && n <= (int)(seconds * 2) + 3);
    int before = n;
    wait_ns(&b, MS(300)); /* nothing new: nothing is sent */
    raw_say(fd, SLICE(" "));
    assert_int_equal(count(&text, "event: state\n"), before);
    close(fd);
    buf_deinit(&text);
    lab_deinit(&b);
}

static void test_ping(void **state)
{
    (void)state;
    struct lab b;
    struct buf text = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    b.api->feed.ping_ns = MS(50);
    int fd = listen_with(&b, "?types=warning", "", &text);
    raw_hear(&b, fd, ": ping\n\n", &text);
    close(fd);
    buf_deinit(&text);
    lab_deinit(&b);
}

/* ---- catching up ---- */

static void test_catch_up(void **state)
{
    (void)state;
    struct lab b;
    struct buf text = BUF_INIT(1 << 20), field = BUF_INIT(100);
    lab_init(&b, NULL);
    int fd = listen_with(&b, "?types=note,warning", "", &text);
    note(&b, "first");
    raw_hear(&b, fd, "first", &text);
    raw_hear(&b, fd, "}\n\n", &text);
    buf_addf(&field, "Last-Event-ID: %llu\r\n", last_id(&text));
    close(fd);
    PUMP(&b, api_listeners(b.api) == 0);
    note(&b, "second"); /* nobody listens, but somebody may come back */
    warn(&b, "third");
    fd = listen_with(&b, "?types=note,warning", buf_text(&field), &text);
    raw_hear(&b, fd, "third", &text);
    assert_true(says(&text, "second"));
    assert_false(says(&text, "first"));
    assert_false(says(&text, "reset"));
    close(fd);
    /* one that wants what nobody wanted then is told that it missed something */
    struct event died = {.type = EVENT_DIED, .text = "x"};
    api_event(b.api, &died);
    fd = listen_with(&b, "?types=died", buf_text(&field), &text);
    raw_hear(&b, fd, "event: reset\ndata: {}\n\n", &text);
    assert_false(says(&text, "event: died"));
    close(fd);
    buf_deinit(&text);
    buf_deinit(&field);
    lab_deinit(&b);
}

static void test_reset(void **state)
{
    (void)state;
    static const char *const unknown[] = {
        "0", "1", "99999999999999999999", "18446744073709551614", "-1", "x", ""};
    struct lab b;
    struct buf text = BUF_INIT(64 << 20), field = BUF_INIT(100);
    lab_init(&b, NULL);
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        buf_clear(&field);
        buf_addf(&field, "Last-Event-ID: %s\r\n", unknown[i]);
        int fd = listen_with(&b, "", buf_text(&field), &text);
        assert_int_equal(count(&text, "event: reset\n"), 1);
        raw_hear(&b, fd, "event: state", &text);
        close(fd);
    }
    /* the ring has moved on */
    int fd = listen_with(&b, "?types=note", "", &text);
    note(&b, "first");
    raw_hear(&b, fd, "first", &text);
    buf_clear(&field);
    buf_addf(&field, "Last-Event-ID: %llu\r\n", last_id(&text));
    for (int i = 0; i < FEED_RING + 10; i++)
        note(&b, "more");
    int late = listen_with(&b, "?types=note", buf_text(&field), &text);
    assert_int_equal(count(&text, "event: reset\n"), 1);
    note(&b, "last");
    raw_hear(&b, late, "last", &text);
    assert_false(says(&text, "more"));
    close(late);
    close(fd);
    buf_deinit(&text);
    buf_deinit(&field);
    lab_deinit(&b);
}

/* ---- what it costs ---- */

static void test_nobody(void **state)
{
    (void)state;
    struct lab b;
    struct buf text = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    for (int i = 0; i < 1000; i++)
        note(&b, "nobody reads this");
    assert_int_equal(b.api->feed.bytes, 0);
    int fd = listen_with(&b, "?types=warning", "", &text);
    note(&b, "nor this");
    assert_int_equal(b.api->feed.bytes, 0);
    assert_int_equal(b.api->feed.printed, 0);
    warn(&b, "but this");
    assert_true(b.api->feed.bytes > 0);
    close(fd);
    buf_deinit(&text);
    lab_deinit(&b);
}

/* Who does not read holds nobody up and no memory beyond the ring; when it reads again, it is told
 * that it missed something. */
static void test_slow(void **state)
{
    (void)state;
    static char long_text[8000];
    struct lab b;
    struct buf text = BUF_INIT(256 << 20), quick_text = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    memset(long_text, 'x', sizeof long_text - 1);
    int slow = listen_small(&b, "?types=note", "", 4096, &text);
    int quick = listen_with(&b, "?types=warning", "", &quick_text);
    buf_clear(&text);
    for (int i = 0; i < 4000; i++) { /* until the sockets are full and the ring has gone round */
        note(&b, long_text);
        assert_true(b.api->feed.bytes <= FEED_RING_BYTES);
        if (i < 2000)
            wait_ns(&b, MS(1));
    }
    warn(&b, "quick");
    raw_hear(&b, quick, "quick", &quick_text);
    note(&b, "the end");
    raw_hear(&b, slow, "event: reset", &text);
    note(&b, "after all");
    raw_hear(&b, slow, "after all", &text);
    close(slow);
    close(quick);
    buf_deinit(&text);
    buf_deinit(&quick_text);
    lab_deinit(&b);
}

static void hurried(struct api_options *o)
{
    o->patience_ns = MS(300);
}

/* Who takes nothing at all is let go of. */
static void test_stuck(void **state)
{
    (void)state;
    static char long_text[8000];
    struct lab b;
    struct buf text = BUF_INIT(1 << 20);
    lab_init(&b, hurried);
    memset(long_text, 'x', sizeof long_text - 1);
    int fd = listen_small(&b, "?types=note", "", 4096, &text);
    for (int64_t end_ns = clock_ns() + PATIENCE; api_listeners(b.api) && clock_ns() < end_ns;) {
        note(&b, long_text);
        wait_ns(&b, MS(1));
    }
    assert_int_equal(api_listeners(b.api), 0);
    close(fd);
    buf_deinit(&text);
    lab_deinit(&b);
}

/* The processor time of this thread: what others do on the machine is no part of it. */
static int64_t processor_ns(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t), 0);
    return SECONDS(t.tv_sec) + t.tv_nsec;
}

/* A thousand readers that do nothing: all are served in turn, others are answered, one too many is
 * told to come back. */
static void test_thousand(void **state)
{
    (void)state;
    enum { MANY = 500 };
    struct lab b;
    struct rlimit limit;
    struct buf text = BUF_INIT(256 << 20);
    static int fd[API_STREAMS];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_cur < 3 * API_STREAMS)
        skip(); /* both ends of each connection are ours */
    lab_init(&b, NULL);
    for (int i = 0; i < API_STREAMS; i++) {
        fd[i] = raw_connect(&b);
        raw_say(fd[i], SLICE("GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        turn(&b);
    }
    PUMP(&b, api_listeners(b.api) == API_STREAMS);
    ask(&b, "GET /api/v1/events", "", "", &text);
    assert_int_equal(status_of(&text), 503);
    assert_true(says(&text, "retry-after: 1"));
    ask(&b, "GET /api/v1/report", "", "", &text);
    assert_int_equal(status_of(&text), 200);
    ask(&b, "GET /metrics", "", "", &text);
    assert_true(says(&text, "outfox_event_streams 1024\n"));
    /* events for all of them take little time from whoever sends them */
    int64_t spent_ns = 0;
    for (int i = 0; i < MANY; i++) {
        int64_t now_ns = processor_ns();
        note(&b, "to all");
        spent_ns += processor_ns() - now_ns;
        turn(&b);
    }
    assert_true(spent_ns / MANY < MS(1));
    note(&b, "the last one");
    for (int i = 0; i < API_STREAMS; i += 31) {
        buf_clear(&text);
        raw_hear(&b, fd[i], "the last one", &text);
    }
    close(fd[0]);
    PUMP(&b, api_listeners(b.api) == API_STREAMS - 1);
    fd[0] = listen_with(&b, "", "", &text); /* there is room again */
    for (int i = 0; i < API_STREAMS; i++)
        close(fd[i]);
    PUMP(&b, api_listeners(b.api) == 0);
    buf_deinit(&text);
    lab_deinit(&b);
}

/* The end of a campaign: what was said last still arrives, and the connection ends. */
static void test_end(void **state)
{
    (void)state;
    struct lab b;
    struct buf text = BUF_INIT(1 << 20);
    lab_init(&b, NULL);
    int fd = listen_with(&b, "?types=note", "", &text);
    wait_ns(&b, MS(20));
    note(&b, "the last word");
    api_free(b.api);
    b.api = NULL;
    raw_hear(&b, fd, NULL, &text);
    assert_true(says(&text, "the last word"));
    close(fd);
    buf_deinit(&text);
    lab_deinit(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reader),   cmocka_unit_test(test_types),
        cmocka_unit_test(test_state),    cmocka_unit_test(test_ping),
        cmocka_unit_test(test_catch_up), cmocka_unit_test(test_reset),
        cmocka_unit_test(test_nobody),   cmocka_unit_test(test_slow),
        cmocka_unit_test(test_stuck),    cmocka_unit_test(test_thousand),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
