/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * What is done to connections of a door from one moment to another: real sockets of one process, a
 * client, the plane and a service, all turned by hand. */
#include "proxy/steer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/random.h"
#include "io/addr.h"
#include "io/loop.h"
#include "proxy/proxy.h"
#include "support/unit.h"

enum { PEERS_MAX = 40, BULK = 200 * 1024 };

static struct stage {
    struct plane *plane;
    struct timer timer;
    int service; /* listens */
    uint16_t port;
} stage;

static void on_time(struct timer *t)
{
    (void)t;
    loop_stop(plane_loop(stage.plane));
}

/* Lets the plane work for so long. */
static void turn(int64_t ns)
{
    stage.timer.fire = on_time;
    timer_start(plane_loop(stage.plane), &stage.timer, clock_ns() + ns);
    loop_run(plane_loop(stage.plane));
}

static void stage_open(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    char to[64];
    struct err e = {0};
    stage.service = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(stage.service, (struct sockaddr *)&at, n), 0);
    assert_int_equal(listen(stage.service, PEERS_MAX), 0);
    assert_int_equal(getsockname(stage.service, (struct sockaddr *)&at, &n), 0);
    snprintf(to, sizeof to, "tcp://127.0.0.1:%u", ntohs(at.sin_port));
    struct proxy_config *c = config_new();
    int i = config_add_proxy(c, &e);
    assert_int_equal(proxy_set(c, (uint32_t)i, SLICE("listen"), SLICE("tcp://127.0.0.1:0"), &e), 0);
    assert_int_equal(proxy_set(c, (uint32_t)i, SLICE("to"), slice_of(to), &e), 0);
    assert_int_equal(config_finish(c, &e), 0);
    assert_int_equal(plane_embed(c, NULL, NULL, NULL, &stage.plane, &e), 0);
    stage.port = addr_port(plane_listens(stage.plane, 0));
}

static void stage_close(void)
{
    plane_stop(stage.plane, true);
    loop_run(plane_loop(stage.plane));
    plane_free(stage.plane);
    close(stage.service);
}

/* A client's socket; -1: it was refused. */
static int dial(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                             .sin_port = htons(stage.port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, (struct sockaddr *)&at, sizeof at)) {
        assert_int_equal(errno, ECONNREFUSED);
        close(fd);
        return -1;
    }
    return fd;
}

/* The service's socket of the next connection. */
static int take(void)
{
    int fd = -1;
    for (int i = 0; i < 5000 && (fd = accept4(stage.service, NULL, NULL, SOCK_NONBLOCK)) < 0; i++)
        turn(MS(1));
    assert_true(fd >= 0);
    return fd;
}

/* Nothing comes for a moment. */
static void assert_silent(int fd)
{
    char c;
    turn(MS(30));
    assert_int_equal(recv(fd, &c, 1, MSG_DONTWAIT), -1);
    assert_int_equal(errno, EAGAIN);
}

/* n bytes come, or how it ends: 0, or -errno. */
static ssize_t get(int fd, char *into, size_t n)
{
    size_t have = 0;
    for (int i = 0; i < 10000 && have < n; i++) {
        ssize_t got = recv(fd, into + have, n - have, MSG_DONTWAIT);
        if (got == 0)
            return (ssize_t)have;
        if (got < 0 && errno != EAGAIN)
            return -errno;
        if (got > 0)
            have += (size_t)got;
        else
            turn(MS(1));
    }
    return (ssize_t)have;
}

static void assert_comes(int fd, const char *text)
{
    char got[64];
    assert_int_equal(get(fd, got, strlen(text)), strlen(text));
    assert_memory_equal(got, text, strlen(text));
}

static void steer(struct steer *s)
{
    struct err e = {0};
    assert_int_equal(plane_steer(stage.plane, 0, s, &e), 0);
}

static void release(struct steer *s)
{
    struct err e = {0};
    assert_int_equal(plane_release(stage.plane, 0, s, &e), 0);
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* Held and late bytes go on when that is over; one way does not touch the other. */
static void test_open(void **state)
{
    (void)state;
    stage_open();
    struct steer hold = {.hold = true, .in = true, .out = true};
    struct steer out = {.late_ns = SECONDS(500), .jitter_ns = SECONDS(1), .out = true};
    int client = dial(), service = take();
    say(client, "one");
    assert_comes(service, "one");
    steer(&hold);
    say(client, "two");
    say(service, "TWO");
    assert_silent(service);
    assert_silent(client);
    assert_int_equal(hold.struck, 1);
    steer(&out);
    release(&hold);
    assert_comes(service, "two");
    assert_comes(client, "TWO"); /* it came before it was to be late */
    say(service, "THREE");
    say(client, "three");
    assert_comes(service, "three");
    assert_silent(client);
    close(service); /* an end does not overtake what came before it */
    assert_silent(client);
    release(&out);
    assert_comes(client, "THREE");
    char c;
    assert_int_equal(get(client, &c, 1), 0);
    assert_int_equal(out.struck, 1);
    close(client);
    stage_close();
}

/* New connections wait in silence, and the service hears of them when it is over. */
static void test_new(void **state)
{
    (void)state;
    stage_open();
    struct steer hold = {.hold = true, .in = true, .out = true},
                 reset = {.reset = true, .in = true};
    steer(&hold);
    int client = dial();
    say(client, "hello");
    assert_silent(client);
    assert_int_equal(accept(stage.service, NULL, NULL), -1);
    release(&hold);
    int service = take();
    assert_comes(service, "hello");
    steer(&reset);
    char c;
    assert_int_equal(get(client, &c, 1), -ECONNRESET);
    assert_int_equal(get(service, &c, 1), -ECONNRESET);
    close(client);
    close(service);
    client = dial();
    assert_int_equal(get(client, &c, 1), -ECONNRESET);
    close(client);
    assert_int_equal(reset.struck, 2);
    release(&reset);
    stage_close();
}

/* The address is kept, also one that the system has chosen; two may want it refused. */
static void test_down(void **state)
{
    (void)state;
    stage_open();
    struct steer down = {.down = true, .in = true}, again = down;
    for (int i = 0; i < 3; i++) {
        int client = dial(), service = take();
        char c;
        assert_true(client >= 0);
        steer(&down);
        assert_int_equal(get(client, &c, 1), -ECONNRESET);
        steer(&again);
        assert_int_equal(dial(), -1);
        release(&down);
        turn(MS(5));
        assert_int_equal(dial(), -1);
        release(&again);
        close(client);
        close(service);
    }
    int client = dial(), service = take();
    say(client, "back");
    assert_comes(service, "back");
    close(client);
    close(service);
    stage_close();
}

/* Exactly so many bytes, then the end; of what is said from then on. */
static void test_limit(void **state)
{
    (void)state;
    static char bytes[5000];
    stage_open();
    struct steer limit = {.limit = 1000, .out = true};
    int client = dial(), service = take();
    say(service, "before");
    assert_comes(client, "before");
    steer(&limit);
    assert_int_equal(send(service, bytes, sizeof bytes, MSG_NOSIGNAL), sizeof bytes);
    assert_int_equal(get(client, bytes, sizeof bytes), 1000);
    assert_int_equal(limit.struck, 1);
    close(client);
    close(service);
    client = dial();
    service = take();
    release(&limit);
    assert_int_equal(send(service, bytes, sizeof bytes, MSG_NOSIGNAL), sizeof bytes);
    assert_int_equal(get(client, bytes, sizeof bytes), sizeof bytes);
    close(client);
    close(service);
    stage_close();
}

/* The open ones count first, the oldest of them first; then new ones. */
static void test_counts(void **state)
{
    (void)state;
    stage_open();
    struct steer third = {.reset = true, .in = true, .every = 3};
    struct steer second = {.reset = true, .in = true, .nth = 2};
    int client[7], service[7];
    for (int i = 0; i < 4; i++) {
        client[i] = dial();
        service[i] = take();
    }
    steer(&third); /* the third */
    for (int i = 4; i < 7; i++) {
        client[i] = dial();
        if (i != 5) /* the sixth */
            service[i] = take();
    }
    for (int i = 0; i < 7; i++) {
        char c;
        if (i % 3 == 2) {
            assert_int_equal(get(client[i], &c, 1), -ECONNRESET);
            continue;
        }
        say(client[i], "x");
        assert_comes(service[i], "x");
    }
    assert_int_equal(third.struck, 2);
    release(&third);
    steer(&second);
    char c;
    assert_int_equal(get(client[1], &c, 1), -ECONNRESET);
    assert_int_equal(second.struck, 1);
    release(&second);
    for (int i = 0; i < 7; i++) {
        close(client[i]);
        if (i != 5)
            close(service[i]);
    }
    stage_close();
}

/* There is room for so many at once. */
static void test_most(void **state)
{
    (void)state;
    static struct steer all[STEERS_MAX], more;
    struct err e = {0};
    stage_open();
    int client = dial(), service = take();
    for (int i = 0; i < STEERS_MAX; i++) {
        all[i] = (struct steer){.late_ns = 1, .in = true};
        steer(&all[i]);
    }
    assert_int_equal(plane_steer(stage.plane, 0, &more, &e), -1);
    say(client, "x");
    assert_comes(service, "x");
    for (int i = 0; i < STEERS_MAX; i++) {
        assert_int_equal(all[i].struck, 1);
        release(&all[(i * 7) % STEERS_MAX]);
    }
    close(client);
    close(service);
    stage_close();
}

/* What is held is bounded: then the sender is not read, and loses nothing. */
static void test_room(void **state)
{
    (void)state;
    enum { MOST = 24 << 20 }; /* the kernel's buffers are the larger part of it */
    static char bytes[65536], got[65536];
    stage_open();
    struct steer hold = {.hold = true, .in = true};
    int client = dial(), service = take();
    size_t said = 0, heard = 0;
    steer(&hold);
    for (int idle = 0; idle < 50 && said < 2 * (size_t)MOST;) {
        ssize_t n = send(client, bytes, sizeof bytes, MSG_DONTWAIT | MSG_NOSIGNAL);
        said += n > 0 ? (size_t)n : 0;
        idle = n > 0 ? 0 : idle + 1;
        turn(MS(1) / 4);
    }
    assert_true(said > 64 * 1024 && said < MOST);
    release(&hold);
    for (int i = 0; i < 10000 && heard < said; i++) {
        ssize_t n = recv(service, got, sizeof got, MSG_DONTWAIT);
        heard += n > 0 ? (size_t)n : 0;
        if (n <= 0)
            turn(MS(1) / 4);
    }
    assert_int_equal(heard, said);
    close(client);
    close(service);
    stage_close();
}

static struct steer random_steer(struct rng *r)
{
    struct steer s = {.in = rng_below(r, 3) != 0, .out = rng_below(r, 3) != 0};
    switch (rng_below(r, 5)) {
    case 0: s.late_ns = MS(1 + rng_below(r, 5)); break;
    case 1: s.jitter_ns = MS(1 + rng_below(r, 5)); break;
    case 2: s.rate = 100000 + rng_below(r, 10000000); break;
    case 3:
        s.slice = 1 + rng_below(r, 5000);
        s.pause_ns = rng_below(r, 2) ? MS(1) : 0;
        break;
    default: s.hold = true; break;
    }
    return s;
}

struct way {
    int from, to;
    size_t said, heard;
    const char *bytes;
};

static void move(struct way *w, struct rng *r)
{
    static char got[65536];
    size_t most = 1 + rng_below(r, 20000), left = BULK - w->said;
    ssize_t n = left ? send(w->from, w->bytes + w->said, most < left ? most : left,
                            MSG_NOSIGNAL | MSG_DONTWAIT)
                     : 0;
    w->said += n > 0 ? (size_t)n : 0;
    n = recv(w->to, got, sizeof got, MSG_DONTWAIT);
    if (n > 0) {
        assert_true(w->heard + (size_t)n <= w->said);
        assert_memory_equal(got, w->bytes + w->heard, (size_t)n);
        w->heard += (size_t)n;
    }
}

/* Whatever is done, and however it changes, bytes come whole and in their order. */
static void test_order(void **state)
{
    (void)state;
    static char bytes[2][BULK];
    struct rng r = {7};
    stage_open();
    for (int i = 0; i < BULK; i++) {
        bytes[0][i] = (char)rng_next(&r);
        bytes[1][i] = (char)rng_next(&r);
    }
    for (uint32_t round = 0; round < volume(10); round++) {
        struct steer on[4];
        uint32_t n = 0;
        int client = dial(), service = take();
        struct way up = {client, service, .bytes = bytes[0]},
                   down = {service, client, .bytes = bytes[1]};
        for (int i = 0; i < 60; i++) {
            if (n < 4 && rng_below(&r, 2)) {
                on[n] = random_steer(&r);
                steer(&on[n++]);
            } else if (n && rng_below(&r, 2)) {
                release(&on[--n]);
            }
            move(&up, &r);
            move(&down, &r);
            turn(MS(rng_below(&r, 3)));
        }
        while (n)
            release(&on[--n]);
        for (int i = 0; i < 10000 && (up.heard < BULK || down.heard < BULK); i++) {
            move(&up, &r);
            move(&down, &r);
            turn(MS(1) / 4);
        }
        assert_int_equal(up.heard, BULK);
        assert_int_equal(down.heard, BULK);
        shutdown(client, SHUT_WR);
        char c;
        assert_int_equal(get(service, &c, 1), 0);
        close(client);
        close(service);
    }
    stage_close();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_open),  cmocka_unit_test(test_new),    cmocka_unit_test(test_down),
        cmocka_unit_test(test_limit), cmocka_unit_test(test_counts), cmocka_unit_test(test_most),
        cmocka_unit_test(test_room),  cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
