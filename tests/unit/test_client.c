/* SPDX-License-Identifier: Apache-2.0
 *
 * The client of scenarios against peers on real sockets. HTTP/1.1 is answered by plain sockets that
 * the test drives by hand, byte by byte where that matters; HTTP/2 and TLS by a server made of conn
 * and wire in the same loop. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "http/client.h"
#include "io/sys.h"
#include "support/pump.h"
#include "wire/grpc.h"

#define MS_NS      1000000LL
#define PATIENCE   (120000 * MS_NS) /* of a test; far more than anything takes on a busy machine */
#define LONG_NS    (15000 * MS_NS)  /* of a call that is to end before */
#define LENGTH(of) (sizeof(of) / sizeof *(of))
#define OK_ANSWER  "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

enum { PEERS_MAX = 64, KIB = 1024, MIB = 1024 * 1024 };

/* --- A service that the test drives by hand --------------------------------------------------- */

enum after { KEEP, CLOSE, RESET };

/* What it does with a request. */
struct act {
    const char *answer; /* NULL: none */
    size_t n;           /* bytes of it that are sent; 0: all */
    enum after after;
};

struct peer {
    int fd; /* -1: none (any more) */
    char got[4 * KIB];
    size_t n;
    bool eof;
    uint32_t requests;
};

struct raw {
    int listening;
    struct addr at;
    struct peer peer[PEERS_MAX];
    uint32_t n_peers;
    const struct act *acts; /* one per request over all connections; the last one goes on */
    uint32_t n_acts, requests, reads;
    bool deaf;          /* neither accepts nor reads */
    char last[4 * KIB]; /* the last request */
};

static void raw_init(struct raw *r)
{
    static const struct act ok = {.answer = OK_ANSWER};
    struct err e = {0};
    *r = (struct raw){.acts = &ok, .n_acts = 1};
    if (addr_parse(SLICE("127.0.0.1:0"), "test", &r->at, &e))
        fail_msg("%s", e.text);
    r->listening = addr_listen(&r->at, false, &e);
    if (r->listening < 0)
        fail_msg("%s", e.text);
}

static void raw_write(int fd, const char *p, size_t n)
{
    while (n > 0) {
        ssize_t put = send(fd, p, n, MSG_NOSIGNAL);
        if (put < 0 && errno == EAGAIN)
            continue;
        assert_true(put > 0);
        p += put;
        n -= (size_t)put;
    }
}

static void peer_end(struct peer *p, enum after how)
{
    if (how == KEEP || p->fd < 0)
        return;
    if (how == RESET)
        sys_linger_reset(p->fd);
    close(p->fd);
    p->fd = -1;
}

static void raw_close(struct raw *r)
{
    for (uint32_t i = 0; i < r->n_peers; i++)
        peer_end(&r->peer[i], CLOSE);
    r->n_peers = 0;
    close(r->listening);
}

/* The length of the request at the front; 0: it is not whole. */
static size_t request_length(struct peer *p)
{
    p->got[p->n] = 0;
    const char *end = strstr(p->got, "\r\n\r\n"), *length = strstr(p->got, "Content-Length: ");
    if (!end)
        return 0;
    size_t n = (size_t)(end - p->got) + 4;
    if (length && length < end)
        n += (size_t)strtoul(length + 16, NULL, 10);
    return n <= p->n ? n : 0;
}

static void answer(struct raw *r, struct peer *p, size_t n)
{
    const struct act *a = &r->acts[r->requests < r->n_acts ? r->requests : r->n_acts - 1];
    r->requests++;
    p->requests++;
    memcpy(r->last, p->got, n);
    r->last[n] = 0;
    memmove(p->got, p->got + n, p->n - n);
    p->n -= n;
    if (a->answer)
        raw_write(p->fd, a->answer, a->n ? a->n : strlen(a->answer));
    peer_end(p, a->after);
}

static void peer_read(struct raw *r, struct peer *p)
{
    ssize_t got = recv(p->fd, p->got + p->n, sizeof p->got - 1 - p->n, MSG_DONTWAIT);
    if (got == 0 || (got < 0 && errno != EAGAIN)) {
        p->eof = true;
        peer_end(p, CLOSE);
    }
    if (got <= 0)
        return;
    r->reads++;
    p->n += (size_t)got;
    for (size_t n; p->fd >= 0 && (n = request_length(p)) > 0;)
        answer(r, p, n);
}

static void raw_serve(struct raw *r)
{
    if (r->deaf)
        return;
    int fd = accept4(r->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (fd >= 0) {
        assert_true(r->n_peers < PEERS_MAX);
        r->peer[r->n_peers++] = (struct peer){.fd = fd};
    }
    for (uint32_t i = 0; i < r->n_peers; i++)
        if (r->peer[i].fd >= 0)
            peer_read(r, &r->peer[i]);
}

/* --- A server of conn and wire -----------------------------------------------------------------
 */

struct server_reply {
    uint16_t status;
    bool trailers_only, rst, no_status, two, cut;
    int goaways; /* before it answers */
    int code;
    const char *message;
};

struct server {
    struct listener listener;
    struct addr at;
    struct tls_context *tls;
    bool h1; /* else HTTP/2 */
    struct server_reply reply;
    struct server_conn *conns;
    int accepted, requests;
    char target[200], te[20], type[60], authority[60];
    struct buf body; /* of the last request */
};

struct server_conn {
    struct server_conn *next;
    struct server *server;
    struct conn *conn;
    struct wire *wire;
};

static const struct wire_limits server_limits = {
    .head_bytes = 64 * KIB, .head_fields = 100, .streams = 100, .resets = 1000, .interims = 100};

static void server_forget(struct server_conn *sc)
{
    struct server_conn **at = &sc->server->conns;
    while (*at != sc)
        at = &(*at)->next;
    *at = sc->next;
    wire_broken(sc->wire);
    wire_free(sc->wire);
    mem_free(sc);
}

static void add_message(struct stream *s, const char *text, size_t less)
{
    char prefix[GRPC_PREFIX];
    grpc_prefix((uint32_t)strlen(text), prefix);
    stream_data(s, (slice){prefix, sizeof prefix});
    stream_data(s, (slice){text, strlen(text) - less});
}

static void server_answer_grpc(struct stream *s, const struct server_reply *r)
{
    char digits[DIGITS_MOST];
    struct field f[] = {{SLICE("content-type"), SLICE("application/grpc")},
                        {SLICE("grpc-status"), slice_of_u64((uint64_t)r->code, digits)}};
    struct head h = {.status = r->status, .fields = f, .n_fields = r->trailers_only ? 2 : 1};
    stream_head(s, &h, r->trailers_only);
    if (!r->trailers_only) {
        if (r->message)
            add_message(s, r->message, r->cut);
        if (r->two)
            add_message(s, "second", 0);
        if (r->rst) {
            stream_abort(s, FINISH_RESET, 2);
            return;
        }
        stream_end(s, r->no_status ? NULL : &(struct head){.fields = f + 1, .n_fields = 1});
    }
    stream_release(s);
}

static void server_respond(struct stream *s)
{
    struct server_conn *sc = s->wire->owner;
    struct server *server = sc->server;
    server->requests++;
    if (server->h1) {
        stream_head(s, &(struct head){.status = 200, .has_length = true, .length = 6}, false);
        stream_data(s, SLICE("secure"));
        stream_end(s, NULL);
        stream_release(s);
    } else if (server->reply.goaways > 0) {
        server->reply.goaways--;
        stream_goaway(s);
    } else {
        server_answer_grpc(s, &server->reply);
    }
}

static void server_head(struct stream *s, const struct head *h, bool end)
{
    struct server_conn *sc = s->wire->owner;
    struct server *server = sc->server;
    s->user = sc;
    buf_clear(&server->body);
    copy_text(server->target, sizeof server->target, h->target);
    copy_text(server->authority, sizeof server->authority, h->authority);
    copy_text(server->te, sizeof server->te, head_get(h, SLICE("te")));
    copy_text(server->type, sizeof server->type, head_get(h, SLICE("content-type")));
    if (end)
        server_respond(s);
}

static void server_data(struct stream *s, slice bytes)
{
    struct server_conn *sc = s->wire->owner;
    buf_add(&sc->server->body, bytes);
    stream_consume(s, bytes.n);
}

static void server_end(struct stream *s, const struct head *trailers)
{
    (void)trailers;
    server_respond(s);
}

static void server_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    (void)s, (void)why, (void)code;
}

static void server_sent(struct stream *s, size_t n)
{
    (void)s, (void)n;
}

static const struct wire_events server_wire_events = {
    .head = server_head,
    .data = server_data,
    .end = server_end,
    .abort = server_abort,
    .sent = server_sent,
};

static void sc_ready(struct conn *c)
{
    conn_read(c, true);
}

static void sc_bytes(struct conn *c, slice bytes)
{
    struct server_conn *sc = c->user;
    wire_feed(sc->wire, bytes);
    conn_touch(c);
}

static void sc_eof(struct conn *c)
{
    conn_close(c);
    server_forget(c->user);
}

static void sc_flush(struct conn *c)
{
    struct server_conn *sc = c->user;
    wire_pump(sc->wire);
}

static void sc_wrote(struct conn *c)
{
    struct server_conn *sc = c->user;
    wire_wrote(sc->wire);
    if (sc->wire->finish != FINISH_NOT && c->out.n == 0) {
        conn_close(c);
        server_forget(sc);
    }
}

static void sc_gone(struct conn *c, enum conn_gone why, const char *text)
{
    (void)why, (void)text;
    server_forget(c->user);
}

static void sc_expired(struct conn *c)
{
    (void)c;
}

static const struct conn_events sc_events = {
    .ready = sc_ready,
    .bytes = sc_bytes,
    .eof = sc_eof,
    .flush = sc_flush,
    .wrote = sc_wrote,
    .gone = sc_gone,
    .expired = sc_expired,
};

static void server_accepted(struct listener *l, int fd)
{
    struct server *s = l->user;
    struct server_conn *sc = mem_zero(sizeof *sc);
    s->accepted++;
    sc->server = s;
    sc->next = s->conns;
    s->conns = sc;
    sc->conn = conn_accept(l->loop, fd, s->tls, &sc_events, sc);
    sc->wire = (s->h1 ? h1_new : h2_new)(true, &server_wire_events, &server_limits, &sc->conn->out);
    sc->wire->owner = sc;
}

static void server_init(struct server *s, struct loop *l, struct tls_context *tls, bool h1)
{
    struct err e = {0};
    *s = (struct server){.tls = tls,
                         .h1 = h1,
                         .body = BUF_INIT(1 * MIB),
                         .reply = {.status = 200, .message = "pong"}};
    if (addr_parse(SLICE("127.0.0.1:0"), "test", &s->at, &e))
        fail_msg("%s", e.text);
    int fd = addr_listen(&s->at, false, &e);
    assert_true(fd >= 0);
    assert_int_equal(listener_init(&s->listener, l, fd, server_accepted, s), 0);
}

static void server_close(struct server *s)
{
    while (s->conns) {
        conn_reset(s->conns->conn);
        server_forget(s->conns);
    }
    listener_close(&s->listener, NULL);
    buf_deinit(&s->body);
}

/* --- The client's side --------------------------------------------------------------------------
 */

struct lab {
    struct loop l;
    struct client *c;
    struct raw raw;
};

/* What a call gave. */
struct got {
    int n; /* how often it was told */
    outcome seen;
    uint16_t status;
    slice body;
    bool cut, failed;
    char text[4 * KIB], error[500], trailer[100];
    int64_t took_ns;
    void (*then)(struct got *g);
    void *more;
};

static void lab_init(struct lab *b)
{
    assert_int_equal(loop_init(&b->l, NULL), 0);
    b->c = client_new(&b->l, false);
    raw_init(&b->raw);
}

static void turn(struct lab *b)
{
    uv_run(&b->l.uv, UV_RUN_NOWAIT);
    raw_serve(&b->raw);
    sched_yield();
}

static void lab_deinit(struct lab *b)
{
    client_free(b->c);
    raw_close(&b->raw);
    PUMP(b, b->l.n_handles == 0);
    loop_deinit(&b->l);
    sys_chunk = 0;
}

static void on_done(void *user, const struct client_answer *a)
{
    struct got *g = user;
    g->n++;
    g->seen = a->seen;
    g->status = a->head ? a->head->status : 0;
    g->cut = a->cut;
    g->failed = a->error != NULL;
    copy_text(g->text, sizeof g->text, a->body);
    g->body = (slice){g->text, a->body.n};
    snprintf(g->error, sizeof g->error, "%s", a->error ? a->error : "");
    if (a->trailers)
        copy_text(g->trailer, sizeof g->trailer, head_get(a->trailers, SLICE("x-sum")));
    g->took_ns = a->end_ns - a->start_ns;
    assert_true(g->took_ns >= 0);
    if (g->then)
        g->then(g);
}

static struct client_request request_to(const struct addr *to, const struct head *h)
{
    return (struct client_request){.to = to,
                                   .head = h,
                                   .timeout_ns = LONG_NS,
                                   .body_max = sizeof(((struct got *)0)->text) - 1};
}

static const struct head get_head = {.method = {"GET", 3}, .target = {"/x?y=1", 6}};
static const struct head post_head = {.method = {"POST", 4}, .target = {"/x", 2}};

static struct client_call *send_get(struct lab *b, struct got *g)
{
    struct client_request r = request_to(&b->raw.at, &get_head);
    int before = g->n;
    struct client_call *call = client_send(b->c, &r, on_done, g);
    assert_int_equal(g->n, before);
    return call;
}

static void call_get(struct lab *b, struct got *g)
{
    *g = (struct got){0};
    send_get(b, g);
    PUMP(b, g->n == 1);
}

static void call_post(struct lab *b, struct got *g, slice body)
{
    struct client_request r = request_to(&b->raw.at, &post_head);
    r.body = body;
    *g = (struct got){0};
    client_send(b->c, &r, on_done, g);
    PUMP(b, g->n == 1);
}

static void raw_script(struct lab *b, const struct act *acts, uint32_t n)
{
    b->raw.acts = acts;
    b->raw.n_acts = n;
    b->raw.requests = 0;
}

static uint32_t links_of(const struct client *c)
{
    uint32_t n = 0;
    for (const struct link *l = c->links; l; l = l->next)
        n++;
    return n;
}

#define EXPECT_OK(g)                                                                               \
    do {                                                                                           \
        assert_string_equal((g)->error, "");                                                       \
        assert_int_equal((g)->seen, OUTCOME_OK);                                                   \
        assert_string_equal((g)->text, "ok");                                                      \
        assert_false((g)->cut);                                                                    \
    } while (0)

static void expect_failed(const struct got *g, enum outcome_kind kind, const char *words)
{
    assert_int_equal(g->n, 1);
    assert_int_equal(g->seen, OUTCOME(kind, 0));
    if (!g->failed || !strstr(g->error, words))
        fail_msg("\"%s\" lacks \"%s\"", g->error, words);
}

/* --- Answers -------------------------------------------------------------------------------------
 */

static const struct {
    const char *method, *answer, *body;
    uint16_t status;
    enum after after;
    const char *trailer;
} answers[] = {
    {"GET", OK_ANSWER, "ok", 200, KEEP, ""},
    {"GET", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", "", 503, KEEP, ""},
    {"GET", "HTTP/1.1 204 No Content\r\n\r\n", "", 204, KEEP, ""},
    {"GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n", "", 304, KEEP, ""},
    {"HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 12345\r\n\r\n", "", 200, KEEP, ""},
    {"HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "", 200, KEEP, ""},
    {"GET", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" OK_ANSWER,
     "ok", 200, KEEP, ""},
    {"GET",
     "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4;x=y\r\ndefg\r\n0\r\n\r\n",
     "abcdefg", 200, KEEP, ""},
    {"GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX-Sum: 17\r\n\r\n",
     "a", 200, KEEP, "17"},
    {"GET", "HTTP/1.1 200 OK\r\n\r\nuntil the end", "until the end", 200, CLOSE, ""},
    {"GET", "HTTP/1.0 200 OK\r\n\r\nold", "old", 200, CLOSE, ""},
    {"GET", "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok", "ok", 200, KEEP,
     ""},
};

static void test_answers(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    for (size_t chunk = 0; chunk < 3; chunk++) {
        for (size_t i = 0; i < LENGTH(answers); i++) {
            struct act act = {.answer = answers[i].answer, .after = answers[i].after};
            struct head h = {.method = slice_of(answers[i].method), .target = SLICE("/")};
            struct client_request r = request_to(&b.raw.at, &h);
            struct got g = {0};
            raw_script(&b, &act, 1);
            sys_chunk = chunk;
            client_send(b.c, &r, on_done, &g);
            PUMP(&b, g.n == 1);
            assert_string_equal(g.error, "");
            assert_int_equal(g.seen, OUTCOME(OUT_STATUS, answers[i].status));
            assert_int_equal(g.status, answers[i].status);
            assert_string_equal(g.text, answers[i].body);
            assert_string_equal(g.trailer, answers[i].trailer);
            assert_false(g.cut);
            assert_int_equal(b.raw.requests, 1);
        }
    }
    lab_deinit(&b);
}

static void test_request(void **state)
{
    (void)state;
    struct lab b;
    struct got g;
    char text[300];
    lab_init(&b);
    call_get(&b, &g);
    EXPECT_OK(&g);
    snprintf(text, sizeof text, "GET /x?y=1 HTTP/1.1\r\nHost: 127.0.0.1:%u\r\n\r\n",
             (unsigned)addr_port(&b.raw.at));
    assert_string_equal(b.raw.last, text);
    call_post(&b, &g, SLICE("{}"));
    EXPECT_OK(&g);
    assert_non_null(strstr(b.raw.last, "\r\nContent-Length: 2\r\n\r\n{}"));
    call_post(&b, &g, (slice){0});
    assert_non_null(strstr(b.raw.last, "\r\nContent-Length: 0\r\n\r\n"));
    /* what frames a message is not the caller's to say, the host is */
    struct field f[] = {{SLICE("Content-Length"), SLICE("17")},
                        {SLICE("traceparent"), SLICE("00-1-2-01")},
                        {SLICE("host"), SLICE("shop.test")},
                        {SLICE("Transfer-Encoding"), SLICE("chunked")},
                        {SLICE("connection"), SLICE("close")}};
    struct head h = {.method = SLICE("PATCH"),
                     .target = SLICE("no-slash"),
                     .authority = SLICE("localhost"),
                     .fields = f,
                     .n_fields = LENGTH(f)};
    struct client_request r = request_to(&b.raw.at, &h);
    g = (struct got){0};
    client_send(b.c, &r, on_done, &g);
    h = (struct head){0}; /* all of it was copied */
    memset(f, 0, sizeof f);
    PUMP(&b, g.n == 1);
    assert_string_equal(b.raw.last, "PATCH /no-slash HTTP/1.1\r\nHost: shop.test\r\n"
                                    "traceparent: 00-1-2-01\r\nContent-Length: 0\r\n\r\n");
    assert_int_equal(b.raw.n_peers, 1);
    assert_int_equal(b.raw.reads, 4); /* each came in one piece */
    lab_deinit(&b);
}

/* What would make two requests of one, or none. */
static void test_request_flaws(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    const struct {
        const char *target, *name, *value;
    } rows[] = {{"/a b", "x", "y"}, {"/a\r\nX: y", "x", "y"}, {"/", "x", "y\r\nz: 1"},
                {"/", "x\n", "y"},  {"/", "", "y"},           {"/\t", "x", "y"}};
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct field f = {slice_of(rows[i].name), slice_of(rows[i].value)};
        struct head h = {.method = SLICE("GET"),
                         .target = slice_of(rows[i].target),
                         .fields = &f,
                         .n_fields = 1};
        struct client_request r = request_to(&b.raw.at, &h);
        struct got g = {0};
        client_send(b.c, &r, on_done, &g);
        assert_int_equal(g.n, 0);
        PUMP(&b, g.n == 1);
        expect_failed(&g, OUT_REFUSED, "the request");
    }
    assert_int_equal(b.raw.requests, 0);
    lab_deinit(&b);
}

/* An answer that ends early is none, wherever it is cut and however. */
static void test_cut_anywhere(void **state)
{
    (void)state;
    static const char *const whole[] = {
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 1\r\n\r\n"};
    for (size_t i = 0; i < LENGTH(whole); i++) {
        for (size_t n = 1; n <= strlen(whole[i]); n++) {
            for (enum after after = CLOSE; after <= RESET; after++) {
                struct lab b;
                struct got g;
                struct act act = {.answer = whole[i], .n = n, .after = after};
                lab_init(&b);
                raw_script(&b, &act, 1);
                call_get(&b, &g);
                assert_int_equal(b.raw.requests, 1);
                if (n == strlen(whole[i]))
                    assert_int_equal(g.seen, OUTCOME_OK);
                else if (after == CLOSE)
                    expect_failed(&g, OUT_CLOSED, "the connection was closed");
                else
                    expect_failed(&g, OUT_RESET, "the connection was reset");
                lab_deinit(&b);
            }
        }
    }
}

static void test_no_answer(void **state)
{
    (void)state;
    struct lab b;
    struct got g;
    lab_init(&b);
    raw_script(&b, &(struct act){.after = CLOSE}, 1);
    call_get(&b, &g);
    expect_failed(&g, OUT_CLOSED, "the connection was closed before the answer");
    raw_script(&b, &(struct act){.after = RESET}, 1);
    call_get(&b, &g);
    expect_failed(&g, OUT_RESET, "the connection was reset before the answer");
    close(b.raw.listening);
    b.raw.deaf = true;
    call_get(&b, &g);
    expect_failed(&g, OUT_REFUSED, "cannot be reached: Connection refused");
    b.raw.listening = -1;
    assert_int_equal(links_of(b.c), 0);
    lab_deinit(&b);
}

static void test_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *answer, *words;
    } rows[] = {
        {"HTTP/1.1 200 OK\nContent-Length: 2\n\nok", "malformed"},
        {"SSH-2.0-OpenSSH_9.2\r\n\r\n", "malformed"},
        {"HTTP/1.1 200 OK\r\nContent-Length: two\r\n\r\nok", "malformed"},
        {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok",
         "malformed"},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "malformed"},
        {"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
         "malformed"},
    };
    struct lab b;
    struct got g;
    lab_init(&b);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        raw_script(&b, &(struct act){.answer = rows[i].answer}, 1);
        call_get(&b, &g);
        expect_failed(&g, OUT_CLOSED, rows[i].words);
        assert_int_equal(links_of(b.c), 0);
    }
    struct buf large = BUF_INIT(1 * MIB);
    buf_adds(&large, "HTTP/1.1 200 OK\r\n");
    while (large.n < 300 * KIB)
        buf_addf(&large, "X-%zu: %0200d\r\n", large.n, 1);
    raw_script(&b, &(struct act){.answer = buf_text(&large)}, 1);
    call_get(&b, &g);
    expect_failed(&g, OUT_CLOSED, "too large");
    buf_clear(&large);
    for (int i = 0; i < 101; i++) /* interim answers, one too many */
        buf_adds(&large, "HTTP/1.1 102 Processing\r\n\r\n");
    buf_adds(&large, OK_ANSWER);
    raw_script(&b, &(struct act){.answer = buf_text(&large)}, 1);
    call_get(&b, &g);
    expect_failed(&g, OUT_CLOSED, "too many interim answers");
    buf_deinit(&large);
    raw_script(&b, &(struct act){.answer = OK_ANSWER}, 1);
    call_get(&b, &g);
    EXPECT_OK(&g);
    lab_deinit(&b);
}

static void test_body_max(void **state)
{
    (void)state;
    struct lab b;
    struct buf large = BUF_INIT(8 * MIB);
    lab_init(&b);
    buf_addf(&large, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", 300 * KIB);
    for (int i = 0; i < 300 * KIB; i++)
        buf_addc(&large, (char)('a' + i % 26));
    raw_script(&b, &(struct act){.answer = buf_text(&large)}, 1);
    static const size_t most[] = {0, 1, 10, 26};
    for (size_t i = 0; i < LENGTH(most); i++) {
        struct client_request r = request_to(&b.raw.at, &get_head);
        struct got g = {0};
        r.body_max = most[i];
        client_send(b.c, &r, on_done, &g);
        PUMP(&b, g.n == 1);
        assert_int_equal(g.seen, OUTCOME_OK);
        assert_true(g.cut);
        assert_int_equal(g.body.n, most[i]);
        assert_memory_equal(g.text, "abcdefghijklmnopqrstuvwxyz", most[i]);
    }
    assert_int_equal(b.raw.n_peers, 1);
    buf_deinit(&large);
    lab_deinit(&b);
}

/* --- Kept connections ----------------------------------------------------------------------------
 */

struct row {
    struct lab *b;
    int left;
    bool grpc;
    const struct addr *to;
};

static void send_next(struct got *g)
{
    struct row *row = g->more;
    static const struct head grpc_head = {.target = {"/p.S/M", 6}};
    if (g->failed)
        fail_msg("%s", g->error);
    if (--row->left == 0)
        return;
    struct client_request r = request_to(row->to, row->grpc ? &grpc_head : &get_head);
    r.grpc = row->grpc;
    r.body = row->grpc ? SLICE("ping") : (slice){0};
    client_send(row->b->c, &r, on_done, g);
}

/* The next one is sent from within `done`, as a campaign does it. */
static void test_thousand_calls(void **state)
{
    (void)state;
    struct lab b;
    lab_init(&b);
    struct row row = {&b, 1000, false, &b.raw.at};
    struct got g = {.then = send_next, .more = &row};
    send_get(&b, &g);
    PUMP(&b, row.left == 0);
    assert_int_equal(g.n, 1000);
    assert_int_equal(b.raw.requests, 1000);
    assert_int_equal(b.raw.n_peers, 1);
    assert_int_equal(b.raw.reads, 1000);
    assert_int_equal(links_of(b.c), 1);
    assert_in_range(b.c->n_spare, 1, 2);
    assert_null(b.c->calls);
    lab_deinit(&b);
}

/* Each has its own connection, and the next ones take those, the last used first. */
static void test_at_once(void **state)
{
    (void)state;
    enum { MANY = 40 };
    struct lab b;
    static struct got g[MANY];
    lab_init(&b);
    for (int round = 0; round < 3; round++) {
        memset(g, 0, sizeof g);
        for (int i = 0; i < MANY; i++)
            send_get(&b, &g[i]);
        for (int i = 0; i < MANY; i++)
            PUMP(&b, g[i].n == 1);
        for (int i = 0; i < MANY; i++)
            EXPECT_OK(&g[i]);
        assert_int_equal(b.raw.n_peers, MANY);
    }
    for (int i = 0; i < 10; i++)
        call_get(&b, &g[0]);
    uint32_t most = 0;
    for (int i = 0; i < MANY; i++)
        most = b.raw.peer[i].requests > most ? b.raw.peer[i].requests : most;
    assert_int_equal(most, 3 + 10);
    lab_deinit(&b);
}

/* One pool for one place, by whatever struct it is named. */
static void test_same_place(void **state)
{
    (void)state;
    struct lab b;
    struct got g;
    lab_init(&b);
    call_get(&b, &g);
    struct addr other = b.raw.at;
    struct client_request r = request_to(&other, &get_head);
    g = (struct got){0};
    client_send(b.c, &r, on_done, &g);
    PUMP(&b, g.n == 1);
    assert_int_equal(b.raw.n_peers, 1);
    lab_deinit(&b);
}

/* The service has closed a kept connection, and nobody has noticed yet. */
static void test_stale_unseen(void **state)
{
    (void)state;
    for (enum after after = CLOSE; after <= RESET; after++) {
        for (int post = 0; post < 2; post++) {
            struct lab b;
            struct got g;
            lab_init(&b);
            call_get(&b, &g);
            peer_end(&b.raw.peer[0], after);
            if (post)
                call_post(&b, &g, SLICE("x"));
            else
                call_get(&b, &g);
            EXPECT_OK(&g);
            assert_int_equal(b.raw.n_peers, 2);
            assert_int_equal(b.raw.requests, 2);
            lab_deinit(&b);
        }
    }
}

/* It closes when the request has arrived: it may have begun its work, or it is what crashes it. */
static void test_stale_race(void **state)
{
    (void)state;
    static const enum outcome_kind seen[] = {[CLOSE] = OUT_CLOSED, [RESET] = OUT_RESET};
    for (enum after after = CLOSE; after <= RESET; after++) {
        const struct act acts[] = {{.answer = OK_ANSWER}, {.after = after}, {.answer = OK_ANSWER}};
        struct lab b;
        struct got g;
        lab_init(&b);
        raw_script(&b, acts, 3);
        call_get(&b, &g);
        call_get(&b, &g);
        expect_failed(&g, seen[after], "before the answer");
        assert_int_equal(b.raw.requests, 2);
        raw_script(&b, acts, 3);
        call_get(&b, &g);
        call_post(&b, &g, SLICE("pay"));
        expect_failed(&g, seen[after], "before the answer");
        assert_int_equal(b.raw.requests, 2);
        /* on a new connection it is not sent again either */
        raw_script(&b, acts + 1, 2);
        call_get(&b, &g);
        expect_failed(&g, seen[after], "before the answer");
        assert_int_equal(b.raw.requests, 1);
        lab_deinit(&b);
    }
}

/* Each request has a connection of its own, which ends with the answer. */
static void test_fresh(void **state)
{
    (void)state;
    enum { MANY = 20 };
    struct lab b;
    struct got g;
    lab_init(&b);
    client_free(b.c);
    b.c = client_new(&b.l, true);
    for (uint32_t i = 0; i < MANY; i++) {
        call_get(&b, &g);
        EXPECT_OK(&g);
        assert_int_equal(b.raw.n_peers, i + 1);
        PUMP(&b, b.raw.peer[i].eof);
    }
    assert_int_equal(links_of(b.c), 0);
    raw_script(&b, &(struct act){.after = CLOSE}, 1);
    call_get(&b, &g);
    expect_failed(&g, OUT_CLOSED, "before the answer");
    assert_int_equal(b.raw.requests, 1);
    lab_deinit(&b);
}

/* What is not to be done twice does not trust a connection that was idle for long. */
static void test_stale_age(void **state)
{
    (void)state;
    struct lab b;
    struct got g;
    lab_init(&b);
    call_get(&b, &g);
    call_post(&b, &g, SLICE("x"));
    assert_int_equal(b.raw.n_peers, 1);
    int64_t until = clock_ns() + 600 * MS_NS;
    PUMP(&b, clock_ns() > until);
    call_post(&b, &g, SLICE("x"));
    EXPECT_OK(&g);
    assert_int_equal(b.raw.n_peers, 2);
    lab_deinit(&b);
}

/* Bytes behind an answer: with it, later, and later but not yet read. */
static void test_garbage(void **state)
{
    (void)state;
    struct lab b;
    struct got g;
    lab_init(&b);
    raw_script(
        &b, &(struct act){.answer = OK_ANSWER "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n"}, 1);
    struct row row = {&b, 5, false, &b.raw.at};
    g = (struct got){.then = send_next, .more = &row};
    send_get(&b, &g);
    PUMP(&b, row.left == 0);
    EXPECT_OK(&g);
    assert_int_equal(b.raw.n_peers, 5);
    PUMP(&b, links_of(b.c) == 0);
    raw_script(&b, &(struct act){.answer = OK_ANSWER}, 1);
    call_get(&b, &g);
    raw_write(b.raw.peer[5].fd, "junk", 4);
    PUMP(&b, links_of(b.c) == 0);
    call_get(&b, &g);
    raw_write(b.raw.peer[6].fd, "HTTP/1.1 500 No\r\n\r\n", 19);
    call_get(&b, &g);
    EXPECT_OK(&g);
    assert_int_equal(b.raw.n_peers, 8);
    lab_deinit(&b);
}

static void test_idle_ends(void **state)
{
    (void)state;
    struct lab b;
    struct got g;
    lab_init(&b);
    call_get(&b, &g);
    PUMP(&b, b.c->links && b.c->links->conn->expires_ns);
    int64_t left = b.c->links->conn->expires_ns - clock_ns();
    assert_in_range(left, 50000 * MS_NS, 60000 * MS_NS);
    conn_expire(b.c->links->conn, clock_ns());
    PUMP(&b, links_of(b.c) == 0 && b.raw.peer[0].eof);
    call_get(&b, &g);
    EXPECT_OK(&g);
    lab_deinit(&b);
}

/* The service answers before it has read all: no connection to go on with. */
static void test_early_answer(void **state)
{
    (void)state;
    struct lab b;
    static char body[8 * MIB];
    lab_init(&b);
    memset(body, 'x', sizeof body);
    struct client_request r = request_to(&b.raw.at, &post_head);
    r.body = (slice){body, sizeof body};
    struct got g = {0};
    client_send(b.c, &r, on_done, &g);
    PUMP(&b, b.raw.n_peers == 1 && b.raw.peer[0].n > 100);
    b.raw.deaf = true;
    PUMP(&b, b.c->links->conn->blocked);
    raw_write(b.raw.peer[0].fd, "HTTP/1.1 413 Too Large\r\nContent-Length: 0\r\n\r\n", 45);
    PUMP(&b, g.n == 1);
    assert_int_equal(g.seen, OUTCOME(OUT_STATUS, 413));
    assert_null(b.c->pools->pool.idle);
    assert_int_equal(links_of(b.c), 1);
    assert_true(b.c->links->conn->expires_ns > 0);
    conn_expire(b.c->links->conn, clock_ns());
    PUMP(&b, links_of(b.c) == 0);
    lab_deinit(&b);
}

/* --- Deadlines and cancelling
 * ---------------------------------------------------------------------- */

/* How far a call has come. */
enum stage { CONNECTING, SENT, HEADED, HALFWAY, OVER, STAGES };

static void fill_backlog(struct raw *r, int *fds, int n)
{
    for (int i = 0; i < n; i++) {
        fds[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)!connect(fds[i], (const struct sockaddr *)&r->at.sa, r->at.n);
    }
}

enum { CROWD = 6 };

static void bring_to(struct lab *b, struct client_call **call, struct got *g, enum stage stage,
                     int64_t timeout_ns, int crowd[CROWD])
{
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n";
    struct client_request r = request_to(&b->raw.at, &get_head);
    r.timeout_ns = timeout_ns;
    if (stage == CONNECTING) {
        b->raw.deaf = true;
        assert_int_equal(listen(b->raw.listening, 0), 0);
        fill_backlog(&b->raw, crowd, CROWD);
    }
    raw_script(b, &(struct act){0}, 1);
    *call = client_send(b->c, &r, on_done, g);
    if (stage == CONNECTING) {
        for (int i = 0; i < 5; i++)
            turn(b);
        assert_false(b->c->links->ready);
        return;
    }
    PUMP(b, b->raw.requests == 1);
    if (stage >= HEADED)
        raw_write(b->raw.peer[0].fd, head, strlen(head));
    if (stage >= HALFWAY)
        raw_write(b->raw.peer[0].fd, "01234", 5);
    for (int i = 0; i < 20; i++)
        turn(b);
}

static void test_timeouts(void **state)
{
    (void)state;
    for (enum stage stage = CONNECTING; stage < OVER; stage++) {
        struct lab b;
        struct client_call *call;
        struct got g = {0};
        int crowd[CROWD];
        lab_init(&b);
        bring_to(&b, &call, &g, stage, 60 * MS_NS, crowd);
        PUMP(&b, g.n == 1);
        expect_failed(&g, OUT_TIMEOUT,
                      stage < HEADED ? "no answer within 60ms"
                                     : "the answer was not complete within 60ms");
        assert_in_range(g.took_ns, 60 * MS_NS, 10000 * MS_NS);
        assert_string_equal(g.text, stage == HALFWAY ? "01234" : "");
        assert_int_equal(links_of(b.c), 0);
        if (stage > CONNECTING)
            PUMP(&b, b.raw.peer[0].eof);
        for (int i = 0; i < CROWD && stage == CONNECTING; i++)
            close(crowd[i]);
        lab_deinit(&b);
    }
}

/* Bytes that come do not put a deadline off. */
static void test_drip(void **state)
{
    (void)state;
    struct lab b;
    struct client_call *call;
    struct got g = {0};
    lab_init(&b);
    bring_to(&b, &call, &g, SENT, 80 * MS_NS, NULL);
    static const char drip[] = "HTTP/1.1 200 OK\r\nX: ";
    size_t at = 0;
    int64_t next = 0, end = clock_ns() + PATIENCE;
    while (g.n == 0) {
        assert_true(clock_ns() < end);
        if (clock_ns() > next && b.raw.peer[0].fd >= 0) {
            next = clock_ns() + 5 * MS_NS;
            raw_write(b.raw.peer[0].fd, at < sizeof drip - 1 ? &drip[at++] : "y", 1);
        }
        turn(&b);
    }
    expect_failed(&g, OUT_TIMEOUT, "no answer within 80ms");
    lab_deinit(&b);
}

struct canceller {
    struct client_call *victim;
};

static void cancel_other(struct got *g)
{
    struct canceller *c = g->more;
    client_cancel(c->victim);
}

static void test_cancel(void **state)
{
    (void)state;
    for (enum stage stage = CONNECTING; stage < OVER; stage++) {
        for (int whole = 0; whole < 2; whole++) { /* the client goes with it */
            struct lab b;
            struct client_call *call;
            struct got g = {0};
            int crowd[CROWD];
            lab_init(&b);
            bring_to(&b, &call, &g, stage, LONG_NS, crowd);
            if (whole) {
                client_free(b.c);
                b.c = client_new(&b.l, false);
            } else {
                client_cancel(call);
            }
            assert_int_equal(links_of(b.c), 0);
            if (stage > CONNECTING)
                PUMP(&b, b.raw.peer[0].eof);
            for (int i = 0; i < CROWD && stage == CONNECTING; i++)
                close(crowd[i]);
            assert_int_equal(g.n, 0);
            if (stage > CONNECTING) {
                struct got next;
                raw_script(&b, &(struct act){.answer = OK_ANSWER}, 1);
                call_get(&b, &next);
                EXPECT_OK(&next);
                assert_int_equal(g.n, 0);
            }
            lab_deinit(&b);
        }
    }
}

/* Two calls are over by one event; the first one's owner cancels the second. */
static void test_cancel_over(void **state)
{
    (void)state;
    struct lab b;
    struct server s;
    lab_init(&b);
    server_init(&s, &b.l, NULL, false);
    struct canceller c = {0};
    struct got g1 = {.then = cancel_other, .more = &c}, g2 = {0};
    struct head h = {.target = SLICE("p.S/M")};
    struct client_request r = request_to(&s.at, &h);
    r.grpc = true;
    client_send(b.c, &r, on_done, &g1);
    c.victim = client_send(b.c, &r, on_done, &g2);
    PUMP(&b, g1.n == 1);
    for (int i = 0; i < 50; i++)
        turn(&b);
    assert_int_equal(g2.n, 0);
    assert_int_equal(s.accepted, 1);
    assert_int_equal(s.requests, 2);
    server_close(&s);
    lab_deinit(&b);
}

/* --- gRPC, TLS
 * ------------------------------------------------------------------------------------- */

static void call_grpc(struct lab *b, const struct addr *to, struct tls_context *tls, struct got *g)
{
    struct head h = {.target = SLICE("p.Shop/Buy")};
    struct client_request r = request_to(to, &h);
    r.grpc = true;
    r.tls = tls;
    r.body = SLICE("ping");
    *g = (struct got){0};
    client_send(b->c, &r, on_done, g);
    PUMP(b, g->n == 1);
}

static void test_grpc(void **state)
{
    (void)state;
    static const struct {
        struct server_reply reply;
        outcome seen;
        const char *text;
        bool cut;
    } rows[] = {
        {{200, .message = "pong"}, OUTCOME(OUT_GRPC, 0), "pong", false},
        {{200, .message = ""}, OUTCOME(OUT_GRPC, 0), "", false},
        {{200, .code = 5}, OUTCOME(OUT_GRPC, 5), "", false},
        {{200, .message = "pong", .code = 16}, OUTCOME(OUT_GRPC, 16), "pong", false},
        {{200, .trailers_only = true, .code = 14}, OUTCOME(OUT_GRPC, 14), "", false},
        {{200, .message = "pong", .two = true}, OUTCOME(OUT_GRPC, 0), "pong", true},
        {{200, .message = "pong", .cut = true}, OUTCOME(OUT_GRPC, 0), "pon", true},
        {{200, .message = "pong", .no_status = true}, OUTCOME(OUT_GRPC, 2), "pong", false},
        {{503, .no_status = true}, OUTCOME(OUT_STATUS, 503), "", false},
    };
    struct lab b;
    struct server s;
    struct got g;
    lab_init(&b);
    server_init(&s, &b.l, NULL, false);
    for (size_t chunk = 0; chunk < 3; chunk++) {
        for (size_t i = 0; i < LENGTH(rows); i++) {
            sys_chunk = chunk;
            s.reply = rows[i].reply;
            call_grpc(&b, &s.at, NULL, &g);
            assert_string_equal(g.error, "");
            assert_int_equal(g.seen, rows[i].seen);
            assert_string_equal(g.text, rows[i].text);
            assert_int_equal(g.cut, rows[i].cut);
            assert_string_equal(s.target, "/p.Shop/Buy");
            assert_string_equal(s.te, "trailers");
            assert_string_equal(s.type, "application/grpc");
            assert_int_equal(s.body.n, 9);
            assert_memory_equal(s.body.p, "\0\0\0\0\4ping", 9);
        }
    }
    assert_int_equal(s.accepted, 1);
    server_close(&s);
    lab_deinit(&b);
}

static void test_grpc_many(void **state)
{
    (void)state;
    struct lab b;
    struct server s;
    lab_init(&b);
    server_init(&s, &b.l, NULL, false);
    struct row row = {&b, 1001, true, &s.at};
    struct got g = {.then = send_next, .more = &row};
    send_next(&g);
    PUMP(&b, row.left == 0);
    assert_int_equal(g.n, 1000);
    assert_int_equal(s.accepted, 1);
    assert_in_range(b.c->n_spare, 1, 2);
    server_close(&s);
    lab_deinit(&b);
}

static void test_grpc_failures(void **state)
{
    (void)state;
    struct lab b;
    struct server s;
    struct got g;
    lab_init(&b);
    server_init(&s, &b.l, NULL, false);
    s.reply = (struct server_reply){200, .message = "pong", .rst = true};
    for (int i = 0; i < 3; i++) {
        call_grpc(&b, &s.at, NULL, &g);
        expect_failed(&g, OUT_RESET, "HTTP/2 error 2");
    }
    assert_int_equal(s.accepted, 1);
    /* a call that the service says it did not look at goes to a new connection */
    s.reply = (struct server_reply){200, .message = "pong", .goaways = 2};
    s.requests = 0;
    call_grpc(&b, &s.at, NULL, &g);
    assert_int_equal(g.seen, OUTCOME(OUT_GRPC, 0));
    assert_int_equal(s.accepted, 3);
    assert_int_equal(s.requests, 3);
    /* but not for ever */
    s.reply.goaways = 100;
    s.requests = 0;
    call_grpc(&b, &s.at, NULL, &g);
    expect_failed(&g, OUT_RESET, "refused the call");
    assert_int_equal(s.requests, 3);
    /* a service that speaks HTTP/1.1 */
    raw_script(&b, &(struct act){.answer = "HTTP/1.1 400 Bad Request\r\n\r\n", .after = CLOSE}, 1);
    call_grpc(&b, &b.raw.at, NULL, &g);
    expect_failed(&g, OUT_CLOSED, "gRPC requires a service that speaks HTTP/2");
    server_close(&s);
    lab_deinit(&b);
}

static struct tls_context *trusting(struct tls_context *server, const char *name)
{
    struct err e = {0};
    char path[] = "client-cert-XXXXXX";
    close(mkstemp(path));
    if (tls_write_cert(server, path, &e))
        fail_msg("%s", e.text);
    struct tls_context *ctx =
        tls_client(&(struct tls_client_options){.ca = path, .name = name}, &e);
    if (!ctx)
        fail_msg("%s", e.text);
    unlink(path);
    return ctx;
}

static void test_tls(void **state)
{
    (void)state;
    struct err e = {0};
    struct lab b;
    struct server h1, h2;
    struct got g = {0};
    lab_init(&b);
    struct tls_context *server = tls_server(NULL, NULL, NULL, NULL, &e);
    struct tls_context *old = tls_server(NULL, NULL, NULL, NULL, &e);
    tls_http1_only(old);
    struct tls_context *ours = trusting(server, "localhost"), *theirs = trusting(old, "localhost");
    server_init(&h2, &b.l, server, false);
    server_init(&h1, &b.l, old, true);
    for (int i = 0; i < 3; i++)
        call_grpc(&b, &h2.at, ours, &g);
    assert_int_equal(g.seen, OUTCOME(OUT_GRPC, 0));
    assert_string_equal(g.text, "pong");
    assert_int_equal(h2.accepted, 1);
    struct client_request r = request_to(&h1.at, &get_head);
    r.tls = theirs;
    for (int i = 0; i < 3; i++) {
        g = (struct got){0};
        client_send(b.c, &r, on_done, &g);
        PUMP(&b, g.n == 1);
        assert_int_equal(g.seen, OUTCOME_OK);
        assert_string_equal(g.text, "secure");
    }
    assert_int_equal(h1.accepted, 1);
    /* the wrong authority */
    r.tls = ours;
    g = (struct got){0};
    client_send(b.c, &r, on_done, &g);
    PUMP(&b, g.n == 1);
    expect_failed(&g, OUT_REFUSED, "certificate");
    /* gRPC where HTTP/1.1 alone is spoken */
    call_grpc(&b, &h1.at, theirs, &g);
    expect_failed(&g, OUT_REFUSED, "cannot be reached");
    server_close(&h1);
    server_close(&h2);
    tls_context_free(ours);
    tls_context_free(theirs);
    lab_deinit(&b);
    tls_context_free(server);
    tls_context_free(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),       cmocka_unit_test(test_request),
        cmocka_unit_test(test_request_flaws), cmocka_unit_test(test_cut_anywhere),
        cmocka_unit_test(test_no_answer),     cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_body_max),      cmocka_unit_test(test_thousand_calls),
        cmocka_unit_test(test_at_once),       cmocka_unit_test(test_same_place),
        cmocka_unit_test(test_stale_unseen),  cmocka_unit_test(test_stale_race),
        cmocka_unit_test(test_fresh),         cmocka_unit_test(test_stale_age),
        cmocka_unit_test(test_garbage),       cmocka_unit_test(test_idle_ends),
        cmocka_unit_test(test_early_answer),  cmocka_unit_test(test_timeouts),
        cmocka_unit_test(test_drip),          cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_cancel_over),   cmocka_unit_test(test_grpc),
        cmocka_unit_test(test_grpc_many),     cmocka_unit_test(test_grpc_failures),
        cmocka_unit_test(test_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
