/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections and listeners over real sockets: plain, unix and TLS; what comes through, in which
 * order, what is noticed, and that nothing spins. One side is a conn, the other one too, or a plain
 * socket that the test drives by hand. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/random.h"
#include "io/conn.h"
#include "io/sys.h"
#include "support/unit.h"

#define MS_NS      1000000LL
#define PATIENCE   (120000 * MS_NS) /* of a test; far more than anything takes on a busy machine */
#define LENGTH(of) (sizeof(of) / sizeof *(of))

enum { KIB = 1024, MIB = 1024 * 1024, OUT_HIGH = 256 * KIB, OUT_LOW = 64 * KIB };
enum transport { TCP, TCP6, UNIX, TLS };

static const char *const transports[] = {"tcp", "tcp6", "unix", "tls"};

/* --- What is tested with --------------------------------------------------------------------- */

/* One end of a connection: what it shall do, and what it has seen. */
struct side {
    struct net *net;
    struct conn *c;       /* NULL: before, or after the end */
    size_t to_send, sent; /* bytes of the pattern, from `flush` */
    size_t n_got;         /* bytes of the pattern that came */
    size_t most_out;      /* most that `out` has held */
    bool echo;            /* sends back what comes, and closes at the end */
    bool idle;            /* does not read at first */
    bool close_when_sent; /* conn_close behind the last byte of to_send */
    bool bad;             /* bytes came that are not the pattern's, or events in a wrong order */
    int ready, eof, gone, expired, bytes;
    int64_t deadline_ns; /* `expired` before it is wrong */
    enum conn_gone why;
    char text[256];
    void (*on_bytes)(struct side *s); /* on top of the rest */
};

struct net {
    struct loop l;
    struct listener listener;
    struct addr at;
    enum transport transport;
    struct tls_context *server, *client;
    struct side *next; /* what the next connection that is accepted shall be */
    struct side server_side;
    int accepted;
    int turns;
    uv_prepare_t turn;
};

static char pattern(size_t i)
{
    return (char)(i * 7 + (i >> 8) * 31 + (i >> 16) * 13);
}

static void side_ready(struct conn *c)
{
    struct side *s = c->user;
    s->bad |= s->ready++ > 0;
    if (!s->idle)
        conn_read(c, true);
    if (s->to_send)
        conn_touch(c);
}

static void side_note_out(struct side *s)
{
    if (s->c && s->c->out.n > s->most_out)
        s->most_out = s->c->out.n;
}

static void side_bytes(struct conn *c, slice bytes)
{
    struct side *s = c->user;
    s->bytes++;
    s->bad |= !s->ready || s->eof || s->gone || bytes.n == 0 || !c->reading;
    for (size_t i = 0; i < bytes.n; i++)
        s->bad |= bytes.p[i] != pattern(s->n_got++);
    if (s->echo) {
        chain_add(&c->out, bytes);
        conn_touch(c);
        if (c->out.n > OUT_HIGH)
            conn_read(c, false);
        side_note_out(s);
    }
    if (s->on_bytes)
        s->on_bytes(s);
}

static void side_eof(struct conn *c)
{
    struct side *s = c->user;
    s->bad |= !s->ready || s->eof++ > 0;
    if (s->echo) {
        s->c = NULL;
        conn_close(c);
    }
}

static void side_flush(struct conn *c)
{
    struct side *s = c->user;
    while (s->sent < s->to_send && c->out.n < OUT_LOW) {
        char piece[3000];
        size_t n = 0;
        while (n < sizeof piece && s->sent < s->to_send)
            piece[n++] = pattern(s->sent++);
        chain_add(&c->out, (slice){piece, n});
    }
    side_note_out(s);
    if (s->close_when_sent && s->sent == s->to_send) {
        s->c = NULL;
        conn_close(c);
    }
}

static void side_wrote(struct conn *c)
{
    struct side *s = c->user;
    if (s->sent < s->to_send)
        conn_touch(c);
    if (s->echo && !s->idle && c->out.n < OUT_LOW)
        conn_read(c, true);
}

static void side_gone(struct conn *c, enum conn_gone why, const char *text)
{
    struct side *s = c->user;
    s->bad |= s->gone++ > 0;
    s->why = why;
    snprintf(s->text, sizeof s->text, "%s", text);
    s->c = NULL;
}

static void side_expired(struct conn *c)
{
    struct side *s = c->user;
    s->expired++;
    s->bad |= clock_ns() < s->deadline_ns;
}

static const struct conn_events side_events = {
    .ready = side_ready,
    .bytes = side_bytes,
    .eof = side_eof,
    .flush = side_flush,
    .wrote = side_wrote,
    .gone = side_gone,
    .expired = side_expired,
};

static void on_accepted(struct listener *l, int fd)
{
    struct net *n = l->user;
    n->accepted++;
    struct side *s = n->next;
    s->net = n;
    s->c = conn_accept(&n->l, fd, n->server, &side_events, s);
    s->bad |= s->ready > 0;
}

static void count_turn(uv_prepare_t *p)
{
    struct net *n = p->data;
    n->turns++;
}

static int listen_at(const char *text, struct addr *at)
{
    struct err e = {0};
    if (addr_parse(slice_of(text), "test", at, &e))
        fail_msg("%s", e.text);
    int fd = addr_listen(at, false, &e);
    if (fd < 0)
        fail_msg("%s", e.text);
    return fd;
}

static void net_tls(struct net *n)
{
    struct err e = {0};
    char path[] = "conn-cert-XXXXXX";
    close(mkstemp(path));
    n->server = tls_server(NULL, NULL, NULL, NULL, &e);
    if (!n->server || tls_write_cert(n->server, path, &e))
        fail_msg("%s", e.text);
    n->client = tls_client(&(struct tls_client_options){.ca = path, .name = "localhost"}, &e);
    if (!n->client)
        fail_msg("%s", e.text);
    unlink(path);
}

static void net_init(struct net *n, enum transport transport)
{
    *n = (struct net){.transport = transport, .next = &n->server_side};
    assert_int_equal(loop_init(&n->l, NULL), 0);
    char name[64];
    snprintf(name, sizeof name, "unix:@outfox-test-conn-%d", (int)getpid());
    const char *where[] = {"127.0.0.1:0", "[::1]:0", name, "127.0.0.1:0"};
    int fd = listen_at(where[transport], &n->at);
    if (transport == TLS)
        net_tls(n);
    assert_int_equal(listener_init(&n->listener, &n->l, fd, on_accepted, n), 0);
    assert_int_equal(uv_prepare_init(&n->l.uv, &n->turn), 0);
    n->turn.data = n;
    uv_prepare_start(&n->turn, count_turn);
}

static void turn(struct net *n)
{
    uv_run(&n->l.uv, UV_RUN_NOWAIT);
    sched_yield();
}

/* Turns the loop until the condition holds. */
#define PUMP(n, condition)                                                                         \
    do {                                                                                           \
        int64_t end_ns = clock_ns() + PATIENCE;                                                    \
        while (!(condition)) {                                                                     \
            if (clock_ns() > end_ns)                                                               \
                fail_msg("never: %s (%s)", #condition, transports[(n)->transport]);                \
            turn(n);                                                                               \
        }                                                                                          \
    } while (0)

/* Lets go of the sides, waits until all connections are freed by themselves, and ends. */
static void net_deinit(struct net *n)
{
    listener_close(&n->listener, NULL);
    PUMP(n, n->l.n_handles == 0);
    assert_null(n->l.touched);
    uv_close((uv_handle_t *)&n->turn, NULL);
    loop_deinit(&n->l);
    tls_context_free(n->server);
    tls_context_free(n->client);
    sys_chunk = 0;
}

static void side_dial(struct side *s, struct net *n)
{
    s->net = n;
    s->c = conn_connect(&n->l, &n->at, n->client, ALPN_H1, &side_events, s);
    assert_true(s->ready == 0 && s->gone == 0);
}

static void side_close(struct side *s)
{
    if (s->c)
        conn_close(s->c);
    s->c = NULL;
}

static void side_reset(struct side *s)
{
    if (s->c)
        conn_reset(s->c);
    s->c = NULL;
}

/* --- Sockets that the test drives by hand ---------------------------------------------------- */

/* A blocking client of the listener; the connection is accepted when it returns. */
static int raw_dial(struct net *n)
{
    int before = n->accepted;
    int fd = socket(n->at.sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&n->at.sa, n->at.n), 0);
    PUMP(n, n->accepted > before);
    return fd;
}

static void raw_reset(int fd)
{
    sys_linger_reset(fd);
    close(fd);
}

static void raw_write(int fd, size_t from, size_t n)
{
    while (n > 0) {
        char piece[4000];
        size_t m = n < sizeof piece ? n : sizeof piece;
        for (size_t i = 0; i < m; i++)
            piece[i] = pattern(from + i);
        ssize_t put = send(fd, piece, m, MSG_NOSIGNAL);
        assert_true(put > 0);
        from += (size_t)put;
        n -= (size_t)put;
    }
}

/* Reads the pattern up to the end, while the loop runs. Returns how many bytes; *end is 0 for an
 * EOF, or the errno. */
static size_t raw_read_all(struct net *n, int fd, int *end)
{
    size_t at = 0;
    int64_t end_ns = clock_ns() + PATIENCE;
    for (;;) {
        char piece[16 * KIB];
        ssize_t got = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN)) {
            *end = got == 0 ? 0 : errno;
            return at;
        }
        for (ssize_t i = 0; i < got; i++)
            assert_int_equal(piece[i], pattern(at++));
        assert_true(clock_ns() < end_ns);
        turn(n);
    }
}

struct ender {
    struct timer t;
    struct loop *l;
};

static void ender_fire(struct timer *t)
{
    loop_stop(((struct ender *)t)->l);
}

/* How often the loop turns in a while in which nothing happens. */
static int turns_in(struct net *n, int64_t ns)
{
    struct ender e = {.t.fire = ender_fire, .l = &n->l};
    int before = n->turns;
    timer_start(&n->l, &e.t, clock_ns() + ns);
    loop_run(&n->l);
    return n->turns - before;
}

#define ASSERT_CALM(n) assert_in_range(turns_in(n, 30 * MS_NS), 0, 12)

/* --- Bytes come through ---------------------------------------------------------------------- */

static void test_echo(void **state)
{
    (void)state;
    static const struct {
        size_t bytes, chunk;
    } rows[] = {{1, 0}, {100, 1}, {1200, 1}, {40000, 7}, {200 * KIB, 1000}, {8 * MIB, 0}};
    for (enum transport t = TCP; t <= TLS; t++) {
        for (size_t i = 0; i < LENGTH(rows); i++) {
            struct net n;
            net_init(&n, t);
            n.server_side.echo = true;
            sys_chunk = rows[i].chunk;
            struct side client = {.to_send = rows[i].bytes};
            side_dial(&client, &n);
            PUMP(&n, client.n_got == rows[i].bytes || client.gone);
            assert_int_equal(client.gone, 0);
            assert_int_equal(client.ready, 1);
            assert_int_equal(n.server_side.n_got, rows[i].bytes);
            assert_false(client.bad || n.server_side.bad);
            /* the other side stops: what waits stays bounded */
            assert_true(n.server_side.most_out <= OUT_HIGH + LOOP_READ_BYTES);
            assert_true(client.most_out <= OUT_LOW + 3000);
            if (t == TLS)
                assert_int_equal(tls_alpn(client.c->tls), ALPN_H1);
            side_close(&client);
            PUMP(&n, n.server_side.eof == 1);
            net_deinit(&n);
        }
    }
}

/* Neither does an event come from within a function, nor do idle connections hold memory. */
static void test_idle_connections_are_cheap(void **state)
{
    (void)state;
    assert_true(sizeof(struct conn) < 400);
    enum { MANY = 300 };
    static struct side clients[MANY], servers[MANY];
    memset(clients, 0, sizeof clients);
    memset(servers, 0, sizeof servers);
    struct net n;
    net_init(&n, TCP);
    for (int i = 0; i < MANY; i++) {
        n.next = &servers[i];
        servers[i].echo = true;
        clients[i].to_send = 10;
        side_dial(&clients[i], &n);
        PUMP(&n, clients[i].n_got == 10);
    }
    for (int i = 0; i < MANY; i++)
        assert_true(!clients[i].c->out.first && !servers[i].c->out.first);
    assert_int_equal(n.l.n_handles, 2 * MANY + 1);
    ASSERT_CALM(&n);
    for (int i = 0; i < MANY; i++)
        side_close(&clients[i]);
    net_deinit(&n);
}

/* A reader that takes nothing holds the writer up, not the loop. */
static void test_slow_reader(void **state)
{
    (void)state;
    for (enum transport t = TCP; t <= TLS; t++) {
        struct net n;
        net_init(&n, t);
        n.server_side.idle = true;
        struct side client = {.to_send = 32 * MIB};
        side_dial(&client, &n);
        PUMP(&n, client.c->blocked);
        ASSERT_CALM(&n);
        size_t sent = client.sent;
        assert_true(sent < 32 * MIB);
        assert_true(client.most_out <= OUT_LOW + 3000);
        assert_int_equal(n.server_side.bytes, 0);
        conn_read(n.server_side.c, true);
        PUMP(&n, n.server_side.n_got > 2 * MIB);
        conn_read(n.server_side.c, false);
        int before = n.server_side.bytes;
        ASSERT_CALM(&n);
        assert_int_equal(n.server_side.bytes, before);
        conn_read(n.server_side.c, true);
        PUMP(&n, n.server_side.n_got == 32 * MIB);
        assert_false(client.bad || n.server_side.bad);
        side_close(&client);
        PUMP(&n, n.server_side.eof);
        side_close(&n.server_side);
        net_deinit(&n);
    }
}

static void stop_reading(struct side *s)
{
    conn_read(s->c, false);
}

/* Reading is stopped from within `bytes` each time: nothing is lost, and TLS tells of bytes that
 * the socket knows nothing of. The end is not told before reading is on again. */
static void test_stop_and_go(void **state)
{
    (void)state;
    for (enum transport t = TCP; t <= TLS; t++) {
        struct net n;
        net_init(&n, t);
        n.server_side.on_bytes = stop_reading;
        struct side client = {.to_send = 300 * KIB, .close_when_sent = true};
        side_dial(&client, &n);
        while (n.server_side.n_got < 300 * KIB) {
            int before = n.server_side.bytes;
            PUMP(&n, n.server_side.bytes > before);
            turn(&n);
            assert_int_equal(n.server_side.bytes, before + 1);
            assert_int_equal(n.server_side.eof, 0);
            conn_read(n.server_side.c, true);
        }
        PUMP(&n, n.server_side.eof == 1);
        assert_false(n.server_side.bad);
        side_close(&n.server_side);
        net_deinit(&n);
    }
}

static void test_half_close(void **state)
{
    (void)state;
    for (enum transport t = TCP; t <= UNIX; t++) {
        struct net n;
        net_init(&n, t);
        struct side *s = &n.server_side;
        int fd = raw_dial(&n);
        raw_write(fd, 0, 3);
        shutdown(fd, SHUT_WR);
        PUMP(&n, s->eof);
        assert_int_equal(s->n_got, 3);
        ASSERT_CALM(&n); /* the end is readable for ever */
        s->to_send = 5;
        conn_touch(s->c);
        PUMP(&n, s->sent == 5 && s->c->out.n == 0);
        assert_int_equal(s->gone, 0);
        side_close(s); /* the peer has ended already: nothing to wait for */
        int end = -1;
        assert_int_equal(raw_read_all(&n, fd, &end), 5);
        assert_int_equal(end, 0);
        PUMP(&n, n.l.n_handles == 1);
        assert_int_equal(s->eof, 1);
        assert_false(s->bad);
        close(fd);
        net_deinit(&n);
    }
}

/* We end first, behind all that we have written, and still hear what the peer says. */
static void test_shut(void **state)
{
    (void)state;
    for (enum transport t = TCP; t <= UNIX; t++) {
        struct net n;
        net_init(&n, t);
        struct side *s = &n.server_side;
        int fd = raw_dial(&n), end = -1;
        PUMP(&n, s->ready);
        s->to_send = 700 * KIB; /* more than the socket takes at once */
        conn_touch(s->c);
        PUMP(&n, s->sent > OUT_LOW / 2);
        while (s->sent < s->to_send) { /* all of it is in `out`, then the end */
            char byte = pattern(s->sent++);
            chain_add(&s->c->out, (slice){&byte, 1});
        }
        conn_shut(s->c);
        assert_int_equal(raw_read_all(&n, fd, &end), 700 * KIB);
        assert_int_equal(end, 0);
        assert_int_equal(s->gone + s->eof, 0);
        ASSERT_CALM(&n);
        raw_write(fd, 0, 9);
        PUMP(&n, s->n_got == 9);
        shutdown(fd, SHUT_WR);
        PUMP(&n, s->eof);
        side_close(s); /* both have ended */
        PUMP(&n, n.l.n_handles == 1);
        assert_false(s->bad);
        close(fd);
        net_deinit(&n);
    }
}

/* --- Resets ---------------------------------------------------------------------------------- */

/* How the connection is when the peer resets it. */
enum plight { STOPPED, STOPPED_LAZILY, UNREAD, AFTER_EOF, BLOCKED, READING, PLIGHTS };

static void test_client_resets(void **state)
{
    (void)state;
    for (enum plight p = 0; p < PLIGHTS; p++) {
        struct net n;
        net_init(&n, TCP);
        struct side *s = &n.server_side;
        s->idle = p == STOPPED || p == UNREAD;
        int fd = raw_dial(&n);
        PUMP(&n, s->ready);
        if (p == UNREAD || p == STOPPED_LAZILY)
            raw_write(fd, 0, 10);
        if (p == STOPPED_LAZILY) {
            PUMP(&n, s->n_got == 10);
            conn_read(s->c, false);
            assert_true(s->c->armed & UV_READABLE);
        }
        if (p == AFTER_EOF) {
            shutdown(fd, SHUT_WR);
            PUMP(&n, s->eof);
        }
        if (p == BLOCKED) {
            s->to_send = 64 * MIB;
            conn_touch(s->c);
            PUMP(&n, s->c->blocked);
        }
        ASSERT_CALM(&n);
        assert_int_equal(s->gone, 0);
        raw_reset(fd);
        PUMP(&n, s->gone);
        assert_int_equal(s->why, GONE_RESET);
        assert_string_equal(s->text, strerror(p == AFTER_EOF ? EPIPE : ECONNRESET));
        assert_int_equal(s->n_got, p == STOPPED_LAZILY ? 10 : 0);
        assert_false(s->bad);
        PUMP(&n, n.l.n_handles == 1);
        net_deinit(&n);
    }
}

/* A side that dialled a listener which the test serves by hand. */
static int raw_serve(struct net *n, struct side *s)
{
    struct addr at;
    int listening =
        listen_at(n->transport == UNIX ? "unix:@outfox-test-conn-raw" : "127.0.0.1:0", &at);
    s->net = n;
    s->c = conn_connect(&n->l, &at, n->client, ALPN_H2, &side_events, s);
    int fd = -1;
    PUMP(n, (fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) >= 0);
    close(listening);
    return fd;
}

static int outgoing(int fd)
{
    int n = -1;
    assert_int_equal(ioctl(fd, SIOCOUTQ, &n), 0);
    return n;
}

/* What a service has said before it broke off is not lost, whether reading was on or off. */
static void test_service_resets_after_answer(void **state)
{
    (void)state;
    static const size_t sizes[] = {10, 40 * KIB}; /* fits what TCP sends at once */
    for (int row = 0; row < 8; row++) {
        struct net n;
        net_init(&n, row & 4 ? UNIX : TCP);
        bool idle = row & 1;
        size_t size = sizes[row >> 1 & 1];
        struct side s = {.idle = idle};
        int fd = raw_serve(&n, &s);
        PUMP(&n, s.ready);
        /* a request that the service does not read makes its close a reset */
        s.to_send = 5;
        conn_touch(s.c);
        PUMP(&n, s.sent == 5);
        raw_write(fd, 0, size);
        if (n.transport == TCP) /* its own system would drop what it has not sent */
            PUMP(&n, outgoing(fd) == 0);
        close(fd);
        if (idle) {
            ASSERT_CALM(&n);
            assert_int_equal(s.gone, 0);
            assert_int_equal(s.n_got, 0);
            conn_read(s.c, true);
        }
        PUMP(&n, s.gone);
        assert_int_equal(s.n_got, size);
        assert_int_equal(s.why, GONE_RESET);
        assert_string_equal(s.text, "Connection reset by peer");
        assert_false(s.bad);
        net_deinit(&n);
    }
}

/* The same, found out by writing. */
static void test_service_answers_early(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TCP);
    struct side s = {.idle = true, .to_send = 64 * MIB};
    int fd = raw_serve(&n, &s);
    PUMP(&n, s.ready && s.c->blocked);
    raw_write(fd, 0, 1000);
    PUMP(&n, outgoing(fd) == 0);
    close(fd);
    /* not a turn of the loop in between: it learns of both at once */
    conn_read(s.c, true);
    PUMP(&n, s.gone);
    assert_int_equal(s.n_got, 1000);
    assert_false(s.bad);
    net_deinit(&n);
}

/* Where nothing is left to be noticed nothing is reported for ever. */
static void test_stopped_does_not_spin(void **state)
{
    (void)state;
    for (int row = 0; row < 4; row++) {
        struct net n;
        net_init(&n, row & 1 ? UNIX : TCP);
        struct side *s = &n.server_side;
        s->idle = true;
        int fd = raw_dial(&n);
        PUMP(&n, s->ready);
        raw_write(fd, 0, 7);
        if (row == 0) /* urgent data; Linux gives unix sockets none */
            assert_int_equal(send(fd, "!", 1, MSG_OOB), 1);
        else
            close(fd);
        ASSERT_CALM(&n);
        assert_int_equal(s->gone + s->eof + s->bytes, 0);
        conn_read(s->c, true);
        PUMP(&n, s->n_got == 7 && (row == 0 || s->eof));
        ASSERT_CALM(&n);
        if (row == 0)
            close(fd);
        side_close(s);
        net_deinit(&n);
    }
}

/* A reset gives the peer ECONNRESET, and before that what was written. */
static void test_reset(void **state)
{
    (void)state;
    for (int row = 0; row < 2; row++) {
        struct net n;
        net_init(&n, TCP);
        struct side *s = &n.server_side;
        int fd = raw_dial(&n);
        PUMP(&n, s->ready);
        size_t size = row ? 20000 : 0;
        s->to_send = size;
        conn_touch(s->c);
        PUMP(&n, s->sent == size && s->c->out.n == 0);
        chain_adds(&s->c->out, "never written");
        conn_touch(s->c);
        side_reset(s);
        int end = 0;
        assert_int_equal(raw_read_all(&n, fd, &end), size);
        assert_int_equal(end, ECONNRESET);
        close(fd);
        net_deinit(&n);
    }
}

/* --- Connecting ------------------------------------------------------------------------------ */

static void expect_no_connection(const char *to, const char *words)
{
    struct net n;
    struct addr at;
    struct err e = {0};
    net_init(&n, TCP);
    if (addr_parse(slice_of(to), "test", &at, &e))
        fail_msg("%s", e.text);
    struct side s = {.net = &n};
    s.c = conn_connect(&n.l, &at, NULL, ALPN_NONE, &side_events, &s);
    chain_adds(&s.c->out, "a request");
    conn_touch(s.c);
    conn_read(s.c, true);
    assert_int_equal(s.gone, 0);
    PUMP(&n, s.gone);
    assert_int_equal(s.why, GONE_CONNECT);
    assert_string_equal(s.text, words);
    assert_int_equal(s.ready, 0);
    /* closed by the owner before it was told */
    s = (struct side){.net = &n};
    s.c = conn_connect(&n.l, &at, NULL, ALPN_NONE, &side_events, &s);
    side_close(&s);
    PUMP(&n, n.l.n_handles == 1);
    assert_int_equal(s.gone, 0);
    net_deinit(&n);
}

static void test_connect_fails(void **state)
{
    (void)state;
    struct addr at;
    struct err e = {0};
    char text[32];
    close(listen_at("127.0.0.1:0", &at)); /* a port at which nobody listens */
    snprintf(text, sizeof text, "127.0.0.1:%d", addr_port(&at));
    expect_no_connection(text, "Connection refused");
    expect_no_connection("unix:/nonexistent/socket", "No such file or directory");
    /* an address that is not to be reached: what the system says of it differs */
    assert_int_equal(addr_parse(SLICE("255.255.255.255:80"), "test", &at, &e), 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at.sa, at.n), -1);
    const char *words = strerror(errno);
    close(fd);
    expect_no_connection("255.255.255.255:80", words);
}

static void test_tls_fails(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TLS);
    /* a service that speaks no TLS */
    struct side s = {0};
    int fd = raw_serve(&n, &s);
    raw_write(fd, 0, 2000);
    PUMP(&n, s.gone);
    assert_int_equal(s.why, GONE_TLS);
    assert_true(strlen(s.text) > 5);
    close(fd);
    /* a service that resets during the handshake */
    s = (struct side){0};
    fd = raw_serve(&n, &s);
    PUMP(&n, s.c->state == CONN_SHAKING);
    raw_reset(fd);
    PUMP(&n, s.gone);
    assert_int_equal(s.why, GONE_TLS);
    assert_int_equal(s.ready, 0);
    /* a client that speaks no TLS */
    fd = raw_dial(&n);
    raw_write(fd, 0, 2000);
    PUMP(&n, n.server_side.gone);
    assert_int_equal(n.server_side.why, GONE_TLS);
    close(fd);
    /* a certificate that nobody vouches for */
    struct err e = {0};
    tls_context_free(n.client);
    n.client = tls_client(&(struct tls_client_options){.name = "localhost"}, &e);
    assert_non_null(n.client);
    s = (struct side){0};
    n.server_side = (struct side){0};
    side_dial(&s, &n);
    PUMP(&n, s.gone && n.server_side.gone);
    assert_int_equal(s.why, GONE_TLS);
    assert_non_null(strstr(s.text, "certificate"));
    net_deinit(&n);
}

/* TLS that breaks when it is open is a reset, and what came before is not lost. */
static void test_tls_reset(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TLS);
    struct side client = {.idle = true};
    n.server_side.to_send = 50000;
    side_dial(&client, &n);
    PUMP(&n, client.ready && n.server_side.ready && n.server_side.sent == 50000 &&
                 n.server_side.c->out.n == 0);
    side_reset(&n.server_side);
    ASSERT_CALM(&n);
    assert_int_equal(client.gone, 0);
    conn_read(client.c, true);
    PUMP(&n, client.gone);
    assert_int_equal(client.why, GONE_RESET);
    assert_string_equal(client.text, "Connection reset by peer");
    assert_int_equal(client.n_got, 50000);
    net_deinit(&n);
}

/* --- Deadlines ------------------------------------------------------------------------------- */

static void test_deadlines(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TLS); /* also while a handshake is waited for */
    struct side *s = &n.server_side;
    int fd = raw_dial(&n);
    int64_t start_ns = clock_ns();
    conn_expire(s->c, start_ns + 3600 * 1000 * MS_NS);
    conn_expire(s->c, start_ns + 30 * MS_NS); /* earlier counts */
    PUMP(&n, s->expired);
    assert_true(clock_ns() >= start_ns + 30 * MS_NS);
    ASSERT_CALM(&n);
    assert_int_equal(s->expired, 1); /* once */
    assert_int_equal(s->ready, 0);

    for (int i = 0; i < 10; i++) { /* put off again and again */
        s->deadline_ns = clock_ns() + 20 * MS_NS;
        conn_expire(s->c, s->deadline_ns);
        turns_in(&n, 5 * MS_NS);
    }
    PUMP(&n, s->c->expires_ns == 0);
    assert_false(s->bad);

    int before = s->expired;
    conn_expire(s->c, clock_ns() + 10 * MS_NS);
    conn_expire(s->c, 0); /* none after all */
    turns_in(&n, 20 * MS_NS);
    assert_int_equal(s->expired, before);
    conn_expire(s->c, 1); /* long past */
    PUMP(&n, s->expired == before + 1);
    side_reset(s);
    close(fd);
    net_deinit(&n);
}

/* A service that does not take the connection: the owner's deadline ends it. */
static void test_connecting_expires(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TCP);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof at;
    int full = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(full, (const struct sockaddr *)&at, sizeof at), 0);
    assert_int_equal(listen(full, 0), 0);
    assert_int_equal(getsockname(full, (struct sockaddr *)&at, &length), 0);
    struct addr to = {.n = length};
    memcpy(&to.sa, &at, sizeof at);
    struct side sides[4];
    for (size_t i = 0; i < LENGTH(sides); i++) {
        sides[i] = (struct side){.net = &n};
        sides[i].c = conn_connect(&n.l, &to, NULL, ALPN_NONE, &side_events, &sides[i]);
        conn_expire(sides[i].c, clock_ns() + 50 * MS_NS);
    }
    struct side *last = &sides[LENGTH(sides) - 1];
    PUMP(&n, last->expired);
    assert_int_equal(last->ready, 0);
    assert_int_equal(last->c->state, CONN_CONNECTING);
    for (size_t i = 0; i < LENGTH(sides); i++)
        side_reset(&sides[i]);
    close(full);
    net_deinit(&n);
}

/* --- Closing --------------------------------------------------------------------------------- */

static void add_pattern(struct conn *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char byte = pattern(i);
        chain_add(&c->out, (slice){&byte, 1});
    }
    conn_touch(c);
}

/* All that was to be written is, although the peer is slow to read. */
static void test_close_delivers(void **state)
{
    (void)state;
    for (int row = 0; row < 4; row++) {
        struct net n;
        net_init(&n, row & 1 ? UNIX : TCP);
        struct side *s = &n.server_side;
        s->idle = row & 2; /* whether it had been reading */
        int fd = raw_dial(&n);
        PUMP(&n, s->ready);
        raw_write(fd, 0, 1000);
        add_pattern(s->c, 12 * MIB);
        struct conn *c = s->c;
        side_close(s);
        PUMP(&n, c->blocked);
        raw_write(fd, 1000, 100 * KIB); /* goes on sending, which nobody reads any more */
        int end = -1;
        assert_int_equal(raw_read_all(&n, fd, &end), 12 * MIB);
        assert_int_equal(end, 0);
        assert_int_equal(s->gone + s->eof + s->expired, 0);
        assert_int_equal(c->state, CONN_LINGERING);
        conn_expire(c, clock_ns() + 3600 * 1000 * MS_NS); /* only the peer's end can end it */
        shutdown(fd, SHUT_WR);
        PUMP(&n, n.l.n_handles == 1);
        close(fd);
        net_deinit(&n);
    }
}

static void test_close_tells_tls(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TLS);
    n.server_side.to_send = 3 * MIB;
    n.server_side.close_when_sent = true;
    struct side client = {0};
    side_dial(&client, &n);
    PUMP(&n, client.eof);
    assert_int_equal(client.n_got, 3 * MIB);
    assert_false(client.bad);
    side_close(&client);
    net_deinit(&n);
}

/* A peer that does not end is not waited for long; one that floods even less. */
static void test_lingering_is_bounded(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TCP);
    struct side *s = &n.server_side;
    int fd = raw_dial(&n);
    PUMP(&n, s->ready);
    int64_t start_ns = clock_ns();
    side_close(s);
    ASSERT_CALM(&n);
    assert_int_equal(n.l.n_handles, 2);
    PUMP(&n, n.l.n_handles == 1);
    assert_true(clock_ns() >= start_ns + 1000 * MS_NS);
    close(fd);

    *s = (struct side){0};
    fd = raw_dial(&n);
    PUMP(&n, s->ready);
    struct conn *c = s->c;
    side_close(s);
    PUMP(&n, c->state == CONN_LINGERING);
    conn_expire(c, clock_ns() + 3600 * 1000 * MS_NS); /* only the bytes can end it */
    size_t sent = 0;
    while (n.l.n_handles > 1) {
        char piece[16 * KIB] = {0};
        ssize_t put = send(fd, piece, sizeof piece, MSG_DONTWAIT | MSG_NOSIGNAL);
        sent += put > 0 ? (size_t)put : 0;
        turn(&n);
    }
    assert_true(sent > MIB);
    close(fd);
    net_deinit(&n);
}

/* The peer takes nothing: a reset, so that a part does not look like the whole. The deadline of the
 * closing connection is brought forward, the rest is as it is. */
static void test_close_gives_up(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TCP);
    struct side *s = &n.server_side;
    int fd = raw_dial(&n);
    PUMP(&n, s->ready);
    add_pattern(s->c, 32 * MIB);
    PUMP(&n, s->c->blocked);
    struct conn *c = s->c;
    conn_expire(c, clock_ns() + 60000 * MS_NS); /* the owner had more patience than usual */
    side_close(s);
    assert_true(c->expires_ns > clock_ns() + 50000 * MS_NS);
    /* it takes something: goes on */
    char piece[64 * KIB];
    for (size_t got = 0; got < 8 * MIB; turn(&n)) {
        ssize_t more = recv(fd, piece, sizeof piece, MSG_DONTWAIT);
        got += more > 0 ? (size_t)more : 0;
    }
    conn_expire(c, clock_ns());
    turns_in(&n, 20 * MS_NS);
    assert_int_equal(c->state, CONN_CLOSING);
    assert_true(c->expires_ns > clock_ns() + 50000 * MS_NS);
    /* it takes nothing: the end */
    conn_expire(c, clock_ns());
    PUMP(&n, n.l.n_handles == 1);
    ssize_t got;
    while ((got = recv(fd, piece, sizeof piece, 0)) > 0)
        ;
    assert_int_equal(got, -1);
    assert_int_equal(errno, ECONNRESET);
    close(fd);
    net_deinit(&n);
}

/* The loop ends although connections linger. */
static void test_deinit_drops(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TLS);
    struct side client = {0};
    side_dial(&client, &n);
    PUMP(&n, client.ready && n.server_side.ready);
    struct side early = {0}; /* in the midst of its handshake */
    side_dial(&early, &n);
    side_close(&client);
    listener_close(&n.listener, NULL);
    uv_close((uv_handle_t *)&n.turn, NULL);
    loop_deinit(&n.l);
    tls_context_free(n.server);
    tls_context_free(n.client);
}

/* --- Events that close connections ----------------------------------------------------------- */

static struct side *both[2];

static void reset_both(struct side *s)
{
    for (int i = 0; i < 2; i++) {
        assert_non_null(both[i]->c);
        chain_adds(&both[i]->c->out, "x");
        conn_touch(both[i]->c);
        side_reset(both[i]);
    }
    assert_null(s->c);
}

/* Both have bytes at once; whoever comes first resets both, and the other hears nothing more. */
static void test_closing_from_events(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TCP);
    struct side a = {.on_bytes = reset_both}, b = a;
    both[0] = &a;
    both[1] = &b;
    n.next = &a;
    int one = raw_dial(&n);
    n.next = &b;
    int two = raw_dial(&n);
    PUMP(&n, a.ready && b.ready);
    raw_write(one, 0, 5);
    raw_write(two, 0, 5);
    PUMP(&n, a.bytes || b.bytes);
    turn(&n);
    assert_true(!a.c && !b.c);
    assert_int_equal(a.bytes + b.bytes, 1);
    assert_int_equal(a.gone + b.gone, 0);
    PUMP(&n, n.l.n_handles == 1);
    close(one);
    close(two);
    net_deinit(&n);
}

struct babbler {
    struct conn *c;
    int flushes;
};

static void babbler_flush(struct conn *c)
{
    struct babbler *b = c->user;
    b->flushes++;
    conn_touch(c); /* never content */
}

/* A connection that is always touched keeps neither the loop from I/O nor the loop awake for ever
 * after it is gone. */
static void test_flush_is_bounded(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TCP);
    struct conn_events events = side_events;
    events.flush = babbler_flush;
    events.wrote = events.ready = events.eof = babbler_flush;
    int fds[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    struct babbler b = {0};
    b.c = conn_accept(&n.l, fds[0], NULL, &events, &b);
    n.server_side.echo = true;
    struct side client = {.to_send = 1 * MIB};
    side_dial(&client, &n);
    int64_t end_ns = clock_ns() + PATIENCE;
    while (client.n_got < 1 * MIB && clock_ns() < end_ns)
        uv_run(&n.l.uv, UV_RUN_ONCE); /* would wait if the loop forgot what is touched */
    assert_int_equal(client.n_got, 1 * MIB);
    int before = b.flushes;
    turn(&n);
    assert_int_equal(uv_backend_timeout(&n.l.uv), 0); /* does not wait */
    turn(&n);
    assert_true(b.flushes > before);
    conn_reset(b.c); /* while it is touched */
    turns_in(&n, 5 * MS_NS);
    ASSERT_CALM(&n);
    close(fds[1]);
    side_close(&client);
    net_deinit(&n);
}

/* --- Listeners ------------------------------------------------------------------------------- */

static int accepted_fd = -1;

static void keep_fd(struct listener *l, int fd)
{
    (void)l;
    accepted_fd = fd;
}

static void close_listener(struct listener *l, int fd)
{
    close(fd);
    listener_close(l, NULL);
}

static int n_closed;

static void count_closed(struct listener *l)
{
    (void)l;
    n_closed++;
}

static int raw_connect(const struct addr *at)
{
    int fd = socket(at->sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&at->sa, at->n), 0);
    return fd;
}

static void test_listener(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TCP);
    struct listener l;
    struct addr at;
    assert_int_equal(listener_init(&l, &n.l, listen_at("127.0.0.1:0", &at), keep_fd, NULL), 0);
    int client = raw_connect(&at);
    PUMP(&n, accepted_fd >= 0);
    int on = 0;
    socklen_t length = sizeof on;
    assert_int_equal(getsockopt(accepted_fd, IPPROTO_TCP, TCP_NODELAY, &on, &length), 0);
    assert_int_not_equal(on, 0);
    assert_true(fcntl(accepted_fd, F_GETFL) & O_NONBLOCK);
    assert_true(fcntl(accepted_fd, F_GETFD) & FD_CLOEXEC);
    close(accepted_fd);
    accepted_fd = -1;
    close(client);
    n_closed = 0;
    listener_close(&l, count_closed);
    listener_close(&l, count_closed);
    assert_int_equal(n_closed, 0);
    PUMP(&n, n_closed == 1);

    /* closed from within */
    assert_int_equal(listener_init(&l, &n.l, listen_at("127.0.0.1:0", &at), close_listener, NULL),
                     0);
    client = raw_connect(&at);
    int second = raw_connect(&at);
    PUMP(&n, n.l.n_handles == 1);
    close(client);
    close(second);

    /* what is no socket is refused, and closed */
    int regular = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(listener_init(&l, &n.l, regular, keep_fd, NULL), -EPERM);
    assert_int_equal(fcntl(regular, F_GETFD), -1);
    net_deinit(&n);
}

/* Out of descriptors: neither spins nor forgets who waits. */
static void test_out_of_descriptors(void **state)
{
    (void)state;
    struct net n;
    net_init(&n, TCP);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct rlimit before, few;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    few = before;
    int next = dup(fd); /* the lowest that is free */
    close(next);
    few.rlim_cur = (rlim_t)next;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(connect(fd, (const struct sockaddr *)&n.at.sa, n.at.n), 0);
    int turns = turns_in(&n, 250 * MS_NS);
    int accepted = n.accepted;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    assert_int_equal(accepted, 0);
    assert_in_range(turns, 0, 30);
    PUMP(&n, n.server_side.ready);
    close(fd);
    side_close(&n.server_side);
    net_deinit(&n);
}

/* --- Anything at any time -------------------------------------------------------------------- */

enum { PAIRS = 6 };

static void disturb(struct rng *rng, struct side *s)
{
    if (!s->c)
        return;
    switch (rng_below(rng, 12)) {
    case 0:
    case 1: conn_read(s->c, false); break;
    case 2:
    case 3:
    case 4: conn_read(s->c, true); break;
    case 5:
    case 6:
        s->to_send += s->echo ? 0 : rng_below(rng, 100000);
        conn_touch(s->c);
        break;
    case 7: conn_expire(s->c, clock_ns() + rng_below(rng, 3 * MS_NS)); break;
    case 8: conn_touch(s->c); break;
    case 9: sys_chunk = rng_below(rng, 2) ? 0 : 1 + rng_below(rng, 5000); break;
    default:
        if (rng_below(rng, 8) == 0)
            side_reset(s);
        else if (rng_below(rng, 4) == 0)
            side_close(s);
    }
}

/* Whatever is done in whatever order: bytes come in order or not at all, events in order, and in
 * the end nothing is left. */
static void test_anything(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rng rng = {seed};
        struct net n;
        net_init(&n, (enum transport)rng_below(&rng, 4));
        struct side client[PAIRS], server[PAIRS];
        for (int i = 0; i < PAIRS; i++) {
            client[i] = (struct side){.to_send = rng_below(&rng, 100000)};
            server[i] = (struct side){.echo = rng_below(&rng, 2)};
            int accepted = n.accepted;
            n.next = &server[i];
            side_dial(&client[i], &n);
            PUMP(&n, n.accepted > accepted);
        }
        for (int step = 0; step < 600; step++) {
            for (int i = 0; i < PAIRS; i++)
                disturb(&rng, rng_below(&rng, 2) ? &client[i] : &server[i]);
            turn(&n);
        }
        for (int i = 0; i < PAIRS; i++) {
            assert_false(client[i].bad || server[i].bad);
            assert_true(server[i].n_got <= client[i].sent);
            side_close(&client[i]);
            side_close(&server[i]);
        }
        sys_chunk = 0;
        net_deinit(&n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_idle_connections_are_cheap),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_stop_and_go),
        cmocka_unit_test(test_half_close),
        cmocka_unit_test(test_shut),
        cmocka_unit_test(test_client_resets),
        cmocka_unit_test(test_service_resets_after_answer),
        cmocka_unit_test(test_service_answers_early),
        cmocka_unit_test(test_stopped_does_not_spin),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_connect_fails),
        cmocka_unit_test(test_tls_fails),
        cmocka_unit_test(test_tls_reset),
        cmocka_unit_test(test_deadlines),
        cmocka_unit_test(test_connecting_expires),
        cmocka_unit_test(test_close_delivers),
        cmocka_unit_test(test_close_tells_tls),
        cmocka_unit_test(test_lingering_is_bounded),
        cmocka_unit_test(test_close_gives_up),
        cmocka_unit_test(test_deinit_drops),
        cmocka_unit_test(test_closing_from_events),
        cmocka_unit_test(test_flush_is_bounded),
        cmocka_unit_test(test_listener),
        cmocka_unit_test(test_out_of_descriptors),
        cmocka_unit_test(test_anything),
    };
    return cmocka_run_group_tests_name("conn", tests, NULL, NULL);
}
