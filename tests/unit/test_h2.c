/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/2. Two wires of ours talk to each other in memory, their bytes cut in all ways; or one of
 * them talks to a raw peer, whose frames the test writes and reads one by one. */
#include "wire/h2_int.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- an end: a wire and what its owner saw ---- */

enum { CALLS_MAX = 4096 };

struct end;

/* A stream, as its owner sees it. */
struct call {
    struct end *end;
    struct stream *s; /* NULL: released or aborted */
    struct buf log;   /* events, but for data and sent */
    struct buf in;    /* the body that came */
    size_t sent, given;
    bool in_ended, aborted, hoards; /* hoards: consumes nothing */
    enum wire_cut why;
    uint32_t code;
};

struct end {
    struct wire *w;
    struct chain out;
    struct call *calls[CALLS_MAX];
    uint32_t n_calls;
    void (*on_head)(struct call *c, const struct head *h, bool end);
    void (*on_end)(struct call *c);
    void (*on_data)(struct call *c);
    void (*on_sent)(struct call *c);
    bool hoards;
};

struct pair {
    struct blocks blocks;
    struct end client, server;
    struct wire_limits limits;
    struct rng rng;
    int split;       /* how bytes travel: 0 as they are, 1 one by one, 2 in random pieces */
    size_t most_out; /* that was ever in `out` */
};

static struct call *call_new(struct end *e, struct stream *s)
{
    assert_true(e->n_calls < CALLS_MAX);
    struct call *c = mem_zero(sizeof *c);
    c->end = e;
    c->s = s;
    c->log = BUF_INIT(1 << 20);
    c->in = BUF_INIT(64 << 20);
    c->hoards = e->hoards;
    s->user = c;
    e->calls[e->n_calls++] = c;
    return c;
}

static void log_fields(struct buf *log, const struct head *h)
{
    for (uint32_t i = 0; i < h->n_fields; i++)
        buf_addf(log, " %.*s=%.*s", SLICE_ARG(h->fields[i].name), SLICE_ARG(h->fields[i].value));
}

static void saw_head(struct stream *s, const struct head *h, bool end)
{
    struct end *e = s->wire->owner;
    struct call *c = s->user ? s->user : call_new(e, s);
    assert_false(c->in_ended || c->aborted);
    if (h->status)
        buf_addf(&c->log, "%u", (unsigned)h->status);
    else
        buf_addf(&c->log, "%.*s %.*s://%.*s%.*s", SLICE_ARG(h->method), SLICE_ARG(h->scheme),
                 SLICE_ARG(h->authority), SLICE_ARG(h->target));
    log_fields(&c->log, h);
    if (h->has_length)
        buf_addf(&c->log, " length:%llu", (unsigned long long)h->length);
    buf_adds(&c->log, h->expects ? " expects" : "");
    buf_adds(&c->log, h->bodiless ? " bodiless" : "");
    buf_adds(&c->log, end ? " end\n" : "\n");
    c->in_ended = end;
    if (e->on_head)
        e->on_head(c, h, end);
}

static void saw_data(struct stream *s, slice bytes)
{
    struct call *c = s->user;
    assert_false(c->in_ended || c->aborted);
    assert_true(bytes.n > 0);
    buf_add(&c->in, bytes);
    assert_false(c->in.full);
    if (!c->hoards)
        stream_consume(s, bytes.n);
    if (c->end->on_data)
        c->end->on_data(c);
}

static void saw_end(struct stream *s, const struct head *trailers)
{
    struct call *c = s->user;
    assert_false(c->in_ended || c->aborted);
    c->in_ended = true;
    buf_adds(&c->log, "end");
    if (trailers) {
        assert_true(trailers->n_fields > 0);
        log_fields(&c->log, trailers);
    }
    buf_adds(&c->log, "\n");
    if (c->end->on_end)
        c->end->on_end(c);
}

static void saw_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    static const char *const names[] = {"closed", "reset", "refused", "bad", "limit"};
    struct call *c = s->user;
    assert_false(c->aborted);
    c->aborted = true;
    c->why = why;
    c->code = code;
    c->s = NULL;
    buf_addf(&c->log, "abort %s %u\n", names[why], (unsigned)code);
}

static void saw_sent(struct stream *s, size_t n)
{
    struct call *c = s->user;
    assert_false(c->aborted);
    assert_true(n > 0);
    c->sent += n;
    if (c->end->on_sent)
        c->end->on_sent(c);
}

static const struct wire_events events = {saw_head, saw_data, saw_end, saw_abort, saw_sent};

static void release(struct call *c)
{
    assert_non_null(c->s);
    stream_release(c->s);
    c->s = NULL;
}

static void end_init(struct end *e, struct pair *p, bool server)
{
    memset(e, 0, sizeof *e);
    e->out = CHAIN_INIT(&p->blocks);
    e->w = h2_new(server, &events, &p->limits, &e->out);
    e->w->owner = e;
}

static void end_deinit(struct end *e)
{
    wire_free(e->w);
    chain_clear(&e->out);
    for (uint32_t i = 0; i < e->n_calls; i++) {
        buf_deinit(&e->calls[i]->log);
        buf_deinit(&e->calls[i]->in);
        mem_free(e->calls[i]);
    }
}

static const struct wire_limits usual = {
    .head_bytes = 64 * 1024, .head_fields = 200, .streams = 256, .resets = 1000, .interims = 100};

static struct pair *pair_new(int split, struct wire_limits limits)
{
    struct pair *p = mem_zero(sizeof *p);
    p->split = split;
    p->limits = limits;
    p->rng = (struct rng){(uint64_t)split + 7};
    end_init(&p->client, p, false);
    end_init(&p->server, p, true);
    return p;
}

static void pair_free(struct pair *p)
{
    end_deinit(&p->client);
    end_deinit(&p->server);
    blocks_deinit(&p->blocks);
    mem_free(p);
}

/* ---- bytes from one end to the other ---- */

static size_t piece_of(struct pair *p, size_t n)
{
    if (p->split == 0)
        return n;
    size_t most = p->split == 1 ? 1 : 1 + rng_below(&p->rng, 5000);
    return most < n ? most : n;
}

/* What is ready goes over; false when nothing was. */
static bool carry(struct pair *p, struct end *from, struct end *to)
{
    wire_pump(from->w);
    if (from->out.n > p->most_out)
        p->most_out = from->out.n;
    bool any = from->out.n > 0;
    while (from->out.n) {
        slice front = chain_front(&from->out);
        size_t n = piece_of(p, front.n);
        /* a copy of its exact size, so that a sanitizer sees what reads past it */
        char *copy = mem_alloc(n);
        memcpy(copy, front.p, n);
        wire_feed(to->w, (slice){copy, n});
        mem_free(copy);
        chain_drop(&from->out, n);
        wire_wrote(from->w);
    }
    return any;
}

static void run(struct pair *p)
{
    bool any = true;
    for (int rounds = 0; any; rounds++) {
        assert_true(rounds < 100000);
        any = carry(p, &p->client, &p->server);
        any |= carry(p, &p->server, &p->client);
    }
}

/* ---- calls ---- */

static struct head request(const char *method, const char *target)
{
    return (struct head){.method = slice_of(method),
                         .scheme = SLICE("http"),
                         .authority = SLICE("host:80"),
                         .target = slice_of(target)};
}

static struct head response(uint16_t status)
{
    return (struct head){.status = status};
}

static struct call *call_open(struct pair *p, struct head head, bool end)
{
    assert_true(wire_room(p->client.w) > 0);
    struct call *c = call_new(&p->client, stream_open(p->client.w));
    stream_head(c->s, &head, end);
    return c;
}

static struct call *call_get(struct pair *p)
{
    return call_open(p, request("GET", "/"), true);
}

/* The newest call that the server saw. */
static struct call *at_server(struct pair *p)
{
    run(p);
    assert_true(p->server.n_calls > 0);
    return p->server.calls[p->server.n_calls - 1];
}

static void check_log_at(const struct call *c, const char *want, int line)
{
    if (strcmp(buf_text(&c->log), want) != 0)
        fail_msg("line %d: saw\n%snot\n%s", line, buf_text(&c->log), want);
}
#define check_log(call, want) check_log_at(call, want, __LINE__)

static void check_body(const struct call *c, const char *want)
{
    assert_string_equal(buf_text(&c->in), want);
}

static void answer(struct call *c, struct head head, const char *body)
{
    stream_head(c->s, &head, !body);
    if (body) {
        stream_data(c->s, slice_of(body));
        stream_end(c->s, NULL);
    }
}

/* n bytes that tell where they stand. */
static void give(struct call *c, size_t from, size_t n)
{
    char piece[1000];
    while (n) {
        size_t now = n < sizeof piece ? n : sizeof piece;
        for (size_t i = 0; i < now; i++)
            piece[i] = (char)((from + i) % 251);
        stream_data(c->s, (slice){piece, now});
        from += now;
        n -= now;
    }
}

static void check_given(const struct call *c, size_t n)
{
    assert_int_equal(c->in.n, n);
    for (size_t i = 0; i < n; i++)
        if (c->in.p[i] != (char)(i % 251))
            fail_msg("byte %zu is wrong", i);
}

/* Runs a test with bytes cut in each way. */
#define EACH_SPLIT(p) for (int split = 0; split < 3 && (p = pair_new(split, usual)); split++)

static void check_quiet(struct pair *p)
{
    assert_int_equal(p->client.w->n_streams, 0);
    assert_int_equal(p->server.w->n_streams, 0);
    assert_true(wire_idle(p->client.w) && wire_idle(p->server.w));
    assert_null(p->client.w->error);
    assert_null(p->server.w->error);
    assert_int_equal(p->client.w->finish, FINISH_NOT);
    assert_int_equal(p->server.w->finish, FINISH_NOT);
}

/* ---- messages ---- */

static void test_get(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        struct call *c = call_get(p), *s = at_server(p);
        check_log(s, "GET http://host:80/ bodiless end\n");
        answer(s, response(200), "hello");
        release(s);
        run(p);
        check_log(c, "200\nend\n");
        check_body(c, "hello");
        release(c);
        run(p);
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

static void test_post(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        struct field f[] = {{SLICE("Content-Type"), SLICE("text/plain")},
                            {SLICE("x-empty"), SLICE("")}};
        struct head head = request("POST", "/a?b=c");
        head.fields = f;
        head.n_fields = 2;
        head.has_length = true;
        head.length = 11;
        struct call *c = call_open(p, head, false);
        stream_data(c->s, SLICE("hello "));
        struct call *s = at_server(p);
        check_body(s, "hello ");
        stream_data(c->s, SLICE("world"));
        stream_end(c->s, NULL);
        run(p);
        check_log(s, "POST http://host:80/a?b=c content-type=text/plain x-empty= length:11\nend\n");
        check_body(s, "hello world");
        assert_int_equal(c->sent, 11);
        struct head reply = response(201);
        reply.has_length = true;
        reply.length = 3;
        answer(s, reply, "yes");
        run(p);
        assert_int_equal(s->sent, 3);
        check_log(c, "201 length:3\nend\n");
        check_body(c, "yes");
        release(c);
        release(s);
        run(p);
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

static void test_trailers(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        struct field f[] = {{SLICE("Grpc-Status"), SLICE("14")}, {SLICE("x"), SLICE("")}};
        struct head trailers = {.fields = f, .n_fields = 2}, none = {0};
        struct call *c = call_open(p, request("POST", "/"), false);
        stream_data(c->s, SLICE("body"));
        stream_end(c->s, &trailers);
        struct call *s = at_server(p);
        check_log(s, "POST http://host:80/\nend grpc-status=14 x=\n");
        check_body(s, "body");
        /* after everything else has left, and together with the rest */
        struct head head = response(200);
        stream_head(s->s, &head, false);
        stream_data(s->s, SLICE("one"));
        run(p);
        stream_end(s->s, &trailers);
        run(p);
        check_log(c, "200\nend grpc-status=14 x=\n");
        check_body(c, "one");
        release(c);
        release(s);

        c = call_get(p);
        s = at_server(p);
        stream_head(s->s, &head, false);
        stream_end(s->s, &trailers);
        run(p);
        check_log(c, "200\nend grpc-status=14 x=\n");
        release(c);
        release(s);

        c = call_get(p);
        s = at_server(p);
        stream_head(s->s, &head, false);
        stream_end(s->s, &none);
        run(p);
        check_log(c, "200\nend\n");
        release(c);
        release(s);
        run(p);
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

static void test_interim(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        struct field link = {SLICE("link"), SLICE("x")};
        struct head head = request("PUT", "/");
        head.expects = true;
        struct call *c = call_open(p, head, false), *s = at_server(p);
        check_log(s, "PUT http://host:80/ expects\n");
        struct head hints = response(103), go = response(100), switching = response(101);
        hints.fields = &link;
        hints.n_fields = 1;
        stream_head(s->s, &go, false);
        stream_head(s->s, &switching, false); /* does not exist in HTTP/2 */
        run(p);
        check_log(c, "100 bodiless\n");
        stream_data(c->s, SLICE("x"));
        stream_end(c->s, NULL);
        stream_head(s->s, &hints, false);
        answer(s, response(200), "y");
        run(p);
        check_log(c, "100 bodiless\n103 link=x bodiless\n200\nend\n");
        check_body(s, "x");
        check_body(c, "y");
        release(c);
        release(s);
        run(p);
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

static void test_bodiless(void **state)
{
    static const struct {
        const char *method;
        uint16_t status;
        bool length;
        const char *log;
    } rows[] = {
        {"HEAD", 200, true, "200 length:9 bodiless end\n"},
        {"HEAD", 200, false, "200 bodiless end\n"},
        {"GET", 204, false, "204 bodiless end\n"},
        {"GET", 304, true, "304 length:9 bodiless end\n"},
        {"GET", 200, false, "200 bodiless end\n"},
    };
    struct pair *p;
    EACH_SPLIT(p)
    {
        for (size_t i = 0; i < LENGTH(rows); i++) {
            struct call *c = call_open(p, request(rows[i].method, "/"), true), *s = at_server(p);
            struct head head = response(rows[i].status);
            head.has_length = rows[i].length;
            head.length = 9;
            answer(s, head, NULL);
            release(s);
            run(p);
            check_log(c, rows[i].log);
            release(c);
        }
        /* its end comes apart from its head */
        struct call *c = call_open(p, request("HEAD", "/"), true), *s = at_server(p);
        struct head head = response(200);
        stream_head(s->s, &head, false);
        stream_end(s->s, NULL);
        run(p);
        check_log(c, "200 bodiless\nend\n");
        release(c);
        release(s);
        run(p);
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

static void test_fields(void **state)
{
    struct field f[] = {
        {SLICE("Connection"), SLICE("close")},
        {SLICE("Keep-Alive"), SLICE("timeout=5")},
        {SLICE("Proxy-Connection"), SLICE("close")},
        {SLICE("Transfer-Encoding"), SLICE("chunked")},
        {SLICE("Upgrade"), SLICE("h2c")},
        {SLICE("HTTP2-Settings"), SLICE("AAAA")},
        {SLICE("Host"), SLICE("other")},
        {SLICE("Content-Length"), SLICE("7")},
        {SLICE(":path"), SLICE("/other")},
        {SLICE("TE"), SLICE("gzip")},
        {SLICE("TE"), SLICE("trailers")},
        {SLICE("Cookie"), SLICE("a=1")},
        {SLICE("Cookie"), SLICE("b=2")},
        {SLICE("X-Thing"), SLICE("MiXed")},
    };
    struct pair *p = pair_new(0, usual);
    struct head head = request("GET", "/");
    head.fields = f;
    head.n_fields = LENGTH(f);
    head.scheme = (slice){0};
    head.target = (slice){0};
    call_open(p, head, true);
    check_log(at_server(p),
              "GET http://host:80/ te=trailers cookie=a=1 cookie=b=2 x-thing=MiXed bodiless end\n");
    pair_free(p);
    (void)state;
}

static void test_large_head(void **state)
{
    enum { N = 60000, FIELDS = 8 };
    struct wire_limits limits = usual;
    char *text = mem_alloc(N);
    for (int i = 0; i < 6; i++) {
        limits.head_bytes = i < 3 ? usual.head_bytes : 1 << 20;
        struct pair *p = pair_new(i % 3, limits);
        for (size_t k = 0; k < N; k++) /* what Huffman's code makes no shorter */
            text[k] = (char)('!' + rng_below(&p->rng, 90));
        struct field f[FIELDS];
        for (size_t k = 0; k < FIELDS; k++)
            f[k] = (struct field){SLICE("x-large"), {text, N}};
        struct head head = request("GET", "/"), back = response(200);
        head.fields = back.fields = f;
        head.n_fields = back.n_fields = i < 3 ? 1 : FIELDS;
        struct call *c = call_open(p, head, true), *s = at_server(p);
        answer(s, back, NULL);
        run(p);
        assert_true(s->log.n > N * head.n_fields && memmem(s->log.p, s->log.n, text, N));
        assert_true(c->log.n > N * head.n_fields && memmem(c->log.p, c->log.n, text, N));
        release(c);
        release(s);
        run(p);
        check_quiet(p);
        pair_free(p);
    }
    mem_free(text);
    (void)state;
}

/* ---- many at once ---- */

static void echo_data(struct call *c)
{
    stream_data(c->s, slice_from(buf_slice(&c->in), c->given));
    c->given = c->in.n;
}

static void echo_head(struct call *c, const struct head *h, bool end)
{
    struct head back = response(200);
    (void)h;
    stream_head(c->s, &back, end);
    if (end)
        release(c);
}

static void echo_end(struct call *c)
{
    struct field f = {SLICE("x-sum"), SLICE("1")};
    stream_end(c->s, &(struct head){.fields = &f, .n_fields = 1});
    release(c);
}

static void test_many(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        enum { N = 300 };
        size_t want[N], given[N] = {0};
        struct call *calls[N] = {0};
        int todo = N;
        p->server.on_head = echo_head;
        p->server.on_end = echo_end;
        for (int i = 0; i < N; i++)
            want[i] = rng_below(&p->rng, split == 1 ? 100 : 30000);
        while (todo) {
            int i = (int)rng_below(&p->rng, N);
            if (!calls[i] && wire_room(p->client.w) > 0) {
                calls[i] = call_open(p, request("POST", "/"), false);
            } else if (calls[i] && given[i] < want[i]) {
                size_t n = 1 + rng_below(&p->rng, (uint32_t)(want[i] - given[i]));
                give(calls[i], given[i], n);
                given[i] += n;
            } else if (calls[i] && calls[i]->s && !calls[i]->code) {
                calls[i]->code = 1; /* its end was given */
                stream_end(calls[i]->s, NULL);
            } else if (calls[i] && calls[i]->s && calls[i]->in_ended) {
                release(calls[i]);
                todo--;
            }
            if (rng_below(&p->rng, 10) == 0)
                run(p);
        }
        run(p);
        for (int i = 0; i < N; i++) {
            check_log(calls[i], "200\nend x-sum=1\n");
            assert_int_equal(calls[i]->in.n, 0);
        }
        for (uint32_t i = 0; i < p->server.n_calls; i++)
            check_given(p->server.calls[i], p->server.calls[i]->in.n);
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

static void test_echo(void **state)
{
    struct pair *p = pair_new(2, usual);
    p->server.on_head = echo_head;
    p->server.on_end = echo_end;
    p->server.on_data = echo_data;
    struct call *c[8];
    for (size_t i = 0; i < LENGTH(c); i++)
        c[i] = call_open(p, request("POST", "/"), false);
    for (size_t k = 0; k < 40; k++)
        for (size_t i = 0; i < LENGTH(c); i++) {
            give(c[i], k * 9000, 9000);
            if (rng_below(&p->rng, 5) == 0)
                run(p);
        }
    for (size_t i = 0; i < LENGTH(c); i++)
        stream_end(c[i]->s, NULL);
    run(p);
    for (size_t i = 0; i < LENGTH(c); i++) {
        check_log(c[i], "200\nend x-sum=1\n");
        check_given(c[i], 40 * 9000);
        assert_int_equal(c[i]->sent, 40 * 9000);
        release(c[i]);
    }
    run(p);
    check_quiet(p);
    pair_free(p);
    (void)state;
}

/* ---- flow control ---- */

static void test_unread(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        size_t n = split == 1 ? 200000 : 3000000;
        p->server.hoards = true;
        struct call *c = call_open(p, request("POST", "/slow"), false), *s = at_server(p);
        give(c, 0, n);
        stream_end(c->s, NULL);
        run(p);
        /* more than the window does not come, and does not leave */
        assert_true(s->in.n <= WIRE_WINDOW && s->in.n > WIRE_WINDOW / 2);
        assert_int_equal(c->sent, s->in.n);
        /* others pass */
        p->server.hoards = false;
        struct call *c2 = call_open(p, request("POST", "/fast"), false), *s2 = at_server(p);
        give(c2, 0, n);
        stream_end(c2->s, NULL);
        run(p);
        check_given(s2, n);
        /* a little room gives a little */
        size_t before = s->in.n;
        stream_consume(s->s, 40000);
        run(p);
        assert_true(s->in.n > before && s->in.n <= before + 40000);
        stream_consume(s->s, s->in.n - 40000);
        s->hoards = false;
        run(p);
        check_given(s, n);
        assert_int_equal(c->sent, n);
        check_log(s, "POST http://host:80/slow\nend\n");
        assert_true(p->most_out <= H2_OUT_MAX + 32 * 1024);
        pair_free(p);
    }
    (void)state;
}

static void test_unread_response(void **state)
{
    struct pair *p = pair_new(2, usual);
    p->client.hoards = true;
    struct call *c = call_get(p), *s = at_server(p);
    struct head head = response(200);
    stream_head(s->s, &head, false);
    give(s, 0, 5000000);
    run(p);
    assert_true(c->in.n <= WIRE_WINDOW && c->in.n > WIRE_WINDOW / 2);
    assert_int_equal(s->sent, c->in.n);
    stream_consume(c->s, c->in.n);
    c->hoards = false;
    run(p);
    stream_end(s->s, NULL);
    run(p);
    check_given(c, 5000000);
    check_log(c, "200\nend\n");
    pair_free(p);
    (void)state;
}

/* A reader that stands still: `out` does not grow without bound, nor does `sent` run ahead. */
static void test_full_out(void **state)
{
    struct pair *p = pair_new(0, usual);
    struct call *c[64], *s[64];
    struct head head = response(200);
    for (size_t i = 0; i < LENGTH(c); i++) {
        c[i] = call_get(p);
        s[i] = at_server(p);
    }
    for (size_t i = 0; i < LENGTH(s); i++) {
        stream_head(s[i]->s, &head, false);
        give(s[i], 0, 60000);
        stream_end(s[i]->s, NULL);
    }
    for (int i = 0; i < 10; i++)
        wire_pump(p->server.w);
    assert_true(p->server.out.n >= H2_OUT_MAX && p->server.out.n < H2_OUT_MAX + 32 * 1024);
    size_t sent = 0;
    for (size_t i = 0; i < LENGTH(s); i++)
        sent += s[i]->sent;
    assert_true(sent <= p->server.out.n);
    run(p);
    for (size_t i = 0; i < LENGTH(c); i++)
        check_given(c[i], 60000);
    pair_free(p);
    (void)state;
}

/* ---- streams that are cut ---- */

static void test_abort_after_bytes(void **state)
{
    static const struct {
        size_t bytes;
        enum wire_finish how;
        uint32_t code;
        bool pump; /* the bytes leave before the abort */
        const char *log;
    } rows[] = {
        {0, FINISH_RESET, 2, false, "200 length:1000000\nabort reset 2\n"},
        {0, FINISH_CLOSE, 8, true, "200 length:1000000\nabort reset 8\n"},
        {1, FINISH_RESET, 2, false, "200 length:1000000\nabort reset 2\n"},
        {10, FINISH_CLOSE, 8, false, "200 length:1000000\nabort reset 8\n"},
        {10, FINISH_RESET, 2, true, "200 length:1000000\nabort reset 2\n"},
        {20000, FINISH_RESET, 2, false, "200 length:1000000\nabort reset 2\n"},
        {500000, FINISH_RESET, 13, false, "200 length:1000000\nabort reset 13\n"},
    };
    struct pair *p;
    EACH_SPLIT(p)
    {
        for (size_t i = 0; i < LENGTH(rows); i++) {
            struct call *c = call_get(p), *s = at_server(p);
            struct head head = response(200);
            head.has_length = true;
            head.length = 1000000;
            stream_head(s->s, &head, false);
            give(s, 0, rows[i].bytes);
            if (rows[i].pump)
                run(p);
            stream_abort(s->s, rows[i].how, rows[i].code);
            run(p);
            check_log(c, rows[i].log);
            check_given(c, rows[i].bytes);
        }
        run(p);
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

static void test_abort_at_once(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        /* nothing given */
        struct call *c = call_get(p), *s = at_server(p);
        stream_abort(s->s, FINISH_RESET, 2);
        run(p);
        check_log(c, "abort reset 2\n");
        /* bytes given, but not to be waited for */
        c = call_get(p);
        s = at_server(p);
        struct head head = response(200);
        stream_head(s->s, &head, false);
        run(p);
        give(s, 0, 100000);
        stream_abort(s->s, FINISH_NOT, 5);
        run(p);
        check_log(c, "200\nabort reset 5\n");
        assert_int_equal(c->in.n, 0);
        /* refused: it may be tried again */
        c = call_get(p);
        s = at_server(p);
        stream_abort(s->s, FINISH_RESET, NGHTTP2_REFUSED_STREAM);
        run(p);
        check_log(c, "abort refused 7\n");
        /* with code 0 */
        c = call_get(p);
        s = at_server(p);
        stream_abort(s->s, FINISH_RESET, 0);
        run(p);
        check_log(c, "abort reset 0\n");
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

/* An answer that was promised to be longer. nghttp2 at the other end counts, and complains. */
static void test_truncated(void **state)
{
    struct pair *p = pair_new(0, usual);
    struct call *c = call_get(p), *s = at_server(p);
    struct head head = response(200);
    head.has_length = true;
    head.length = 100;
    answer(s, head, "short");
    run(p);
    check_log(c, "200 length:100\nabort bad 0\n");
    check_body(c, "short");
    pair_free(p);
    (void)state;
}

static void test_cancel(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        /* before anything left, in the middle of the request, of the response */
        struct call *c = call_get(p);
        release(c);
        run(p);
        assert_int_equal(p->server.n_calls, 0);
        c = call_open(p, request("POST", "/"), false);
        give(c, 0, 100);
        struct call *s = at_server(p);
        stream_abort(c->s, FINISH_NOT, NGHTTP2_CANCEL);
        run(p);
        check_log(s, "POST http://host:80/\nabort reset 8\n");
        c = call_get(p);
        s = at_server(p);
        struct head head = response(200);
        stream_head(s->s, &head, false);
        give(s, 0, 1000);
        run(p);
        release(c);
        run(p);
        check_log(s, "GET http://host:80/ bodiless end\nabort reset 8\n");
        check_log(c, "200\n");
        /* opened, and let go without a request */
        c = call_new(&p->client, stream_open(p->client.w));
        assert_int_equal(p->client.w->n_streams, 1);
        release(c);
        c = call_new(&p->client, stream_open(p->client.w));
        stream_abort(c->s, FINISH_RESET, 8);
        run(p);
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

static void test_release_early(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        /* the answer is complete before the request: it arrives, and the request is stopped */
        struct call *c = call_open(p, request("POST", "/"), false), *s = at_server(p);
        give(c, 0, 1000);
        answer(s, response(413), "too long");
        release(s);
        run(p);
        check_log(c, "413\nend\nabort reset 0\n");
        check_body(c, "too long");
        /* with trailers; without a body */
        struct field f = {SLICE("a"), SLICE("b")};
        struct head trailers = {.fields = &f, .n_fields = 1}, head = response(200);
        c = call_open(p, request("POST", "/"), false);
        s = at_server(p);
        stream_head(s->s, &head, false);
        give(s, 0, 100000);
        stream_end(s->s, &trailers);
        release(s);
        run(p);
        check_log(c, "200\nend a=b\nabort reset 0\n");
        check_given(c, 100000);
        c = call_open(p, request("POST", "/"), false);
        s = at_server(p);
        answer(s, response(401), NULL);
        release(s);
        run(p);
        check_log(c, "401 bodiless end\nabort reset 0\n");
        /* released when it had left already */
        c = call_open(p, request("POST", "/"), false);
        s = at_server(p);
        answer(s, response(200), "x");
        run(p);
        check_log(c, "200\nend\n");
        release(s);
        run(p);
        check_log(c, "200\nend\nabort reset 0\n");
        /* no answer, or half of one */
        c = call_get(p);
        release(at_server(p));
        run(p);
        check_log(c, "abort reset 2\n");
        c = call_get(p);
        s = at_server(p);
        stream_head(s->s, &head, false);
        run(p);
        release(s);
        run(p);
        check_log(c, "200\nabort reset 2\n");
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

/* A client that first sends everything, and only then reads. */
static void test_release_unread(void **state)
{
    for (int hoards = 0; hoards < 2; hoards++) {
        struct pair *p = pair_new(0, usual);
        p->server.hoards = hoards;
        p->client.hoards = true;
        struct call *c = call_open(p, request("POST", "/"), false), *s = at_server(p);
        struct head head = response(200);
        give(c, 0, 1000000);
        stream_end(c->s, NULL);
        if (hoards)
            run(p);
        stream_head(s->s, &head, false);
        give(s, 0, 1000000);
        stream_end(s->s, NULL);
        release(s);
        run(p);
        assert_int_equal(c->sent, 1000000);
        c->hoards = false;
        stream_consume(c->s, c->in.n);
        run(p);
        check_given(c, 1000000);
        check_log(c, "200\nend\n");
        release(c);
        run(p);
        check_quiet(p);
        pair_free(p);
    }
    (void)state;
}

static int depth;

static void pump_again(struct call *c)
{
    assert_int_equal(++depth, 1);
    give(c, c->given, 100);
    c->given += 100;
    wire_pump(c->end->w);
    depth--;
}

/* Events may pump their own wire; it does not give events within events for that. */
static void test_pump_in_event(void **state)
{
    struct pair *p = pair_new(0, usual);
    struct call *c = call_get(p), *s = at_server(p);
    struct head head = response(200);
    p->server.on_sent = pump_again;
    stream_head(s->s, &head, false);
    depth = 0;
    s->given = 100;
    give(s, 0, 100);
    for (int i = 0; i < 5; i++)
        carry(p, &p->server, &p->client);
    assert_true(s->sent > 10000);
    p->server.on_sent = NULL;
    run(p);
    check_given(c, s->given);
    pair_free(p);
    (void)state;
}

/* The request ends by itself before the answer has left: no RST_STREAM is needed. */
static void test_release_in_time(void **state)
{
    struct pair *p = pair_new(0, usual);
    struct call *c = call_open(p, request("POST", "/"), false), *s = at_server(p);
    answer(s, response(200), "x");
    release(s);
    stream_end(c->s, NULL);
    carry(p, &p->client, &p->server);
    run(p);
    check_log(c, "200\nend\n");
    release(c);
    check_quiet(p);
    pair_free(p);
    (void)state;
}

/* ---- the end of connections ---- */

static void test_goaway(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        struct call *c[4], *s[4];
        struct head head = response(200);
        for (size_t i = 0; i < LENGTH(c); i++) {
            c[i] = call_get(p);
            s[i] = at_server(p);
        }
        stream_head(s[1]->s, &head, false);
        give(s[1], 0, 100);
        stream_goaway(s[1]->s);
        assert_true(p->server.w->closing);
        run(p);
        check_log(s[0], "GET http://host:80/ bodiless end\n");
        check_log(s[1], "GET http://host:80/ bodiless end\n");
        check_log(s[2], "GET http://host:80/ bodiless end\nabort closed 0\n");
        assert_true(p->client.w->closing);
        assert_int_equal(wire_room(p->client.w), 0);
        assert_int_equal(p->client.w->finish, FINISH_NOT);
        assert_int_equal(p->server.w->finish, FINISH_NOT);
        check_log(c[0], "");
        check_log(c[2], "abort refused 0\n");
        check_log(c[3], "abort refused 0\n");
        assert_true(c[1]->aborted && c[1]->why == CUT_REFUSED);
        assert_int_equal(c[1]->in.n, 0);
        answer(s[0], head, "still here");
        release(s[0]);
        run(p);
        check_log(c[0], "200\nend\n");
        assert_int_equal(p->server.w->finish, FINISH_CLOSE);
        release(c[0]);
        assert_int_equal(p->client.w->finish, FINISH_CLOSE);
        assert_null(p->client.w->error);
        pair_free(p);
    }
    (void)state;
}

static void test_goaway_first(void **state)
{
    struct pair *p = pair_new(0, usual);
    struct call *c = call_get(p);
    stream_goaway(at_server(p)->s);
    run(p);
    check_log(c, "abort refused 0\n");
    assert_int_equal(p->server.w->finish, FINISH_CLOSE);
    assert_int_equal(p->client.w->finish, FINISH_CLOSE);
    pair_free(p);
    /* two before anything is sent: the number does not grow; and these do not count as resets */
    struct wire_limits limits = usual;
    limits.resets = 1;
    p = pair_new(0, limits);
    struct call *d[3], *s[3];
    for (size_t i = 0; i < LENGTH(d); i++) {
        d[i] = call_get(p);
        s[i] = at_server(p);
    }
    stream_goaway(s[0]->s);
    stream_goaway(s[2]->s);
    run(p);
    for (size_t i = 0; i < LENGTH(d); i++)
        check_log(d[i], "abort refused 0\n");
    assert_null(p->client.w->error);
    assert_null(p->server.w->error);
    assert_int_equal(p->client.w->finish, FINISH_CLOSE);
    pair_free(p);
    (void)state;
}

/* On a client's wire it only ends the connection. */
static void test_goaway_of_client(void **state)
{
    struct pair *p = pair_new(0, usual);
    struct call *c[2] = {call_get(p), call_get(p)};
    struct call *s = at_server(p);
    stream_goaway(c[0]->s);
    run(p);
    check_log(p->server.calls[0], "GET http://host:80/ bodiless end\nabort reset 8\n");
    assert_int_equal(p->server.w->finish, FINISH_NOT);
    answer(s, response(200), "x");
    release(s);
    run(p);
    check_log(c[1], "200\nend\n");
    release(c[1]);
    run(p);
    assert_int_equal(p->server.w->finish, FINISH_CLOSE);
    assert_int_equal(p->client.w->finish, FINISH_CLOSE);
    pair_free(p);
    (void)state;
}

static void test_shutdown(void **state)
{
    struct pair *p;
    EACH_SPLIT(p)
    {
        struct call *c = call_get(p), *s = at_server(p);
        wire_shutdown(p->server.w);
        /* under way when the server said it */
        struct call *late = call_get(p);
        carry(p, &p->client, &p->server);
        run(p);
        check_log(late, "abort refused 0\n");
        assert_int_equal(p->server.n_calls, 1);
        assert_int_equal(wire_room(p->client.w), 0);
        assert_int_equal(p->server.w->finish, FINISH_NOT);
        answer(s, response(200), "x");
        release(s);
        run(p);
        check_log(c, "200\nend\n");
        assert_int_equal(p->server.w->finish, FINISH_CLOSE);
        release(c);
        assert_int_equal(p->client.w->finish, FINISH_CLOSE);
        pair_free(p);
    }
    (void)state;
}

static void test_shutdown_idle(void **state)
{
    for (int client = 0; client < 2; client++) {
        struct pair *p = pair_new(0, usual);
        struct call *c = call_get(p), *s = at_server(p);
        answer(s, response(200), NULL);
        release(s);
        run(p);
        release(c);
        wire_shutdown(client ? p->client.w : p->server.w);
        wire_shutdown(client ? p->client.w : p->server.w);
        run(p);
        assert_int_equal(p->server.w->finish, FINISH_CLOSE);
        assert_int_equal(p->client.w->finish, FINISH_CLOSE);
        assert_null(p->server.w->error);
        assert_null(p->client.w->error);
        pair_free(p);
    }
    (void)state;
}

static void test_eof_and_broken(void **state)
{
    for (int broken = 0; broken < 2; broken++) {
        struct pair *p = pair_new(0, usual);
        struct call *c[3];
        for (size_t i = 0; i < LENGTH(c); i++)
            c[i] = call_open(p, request("POST", "/"), false);
        run(p);
        (broken ? wire_broken : wire_eof)(p->client.w);
        (broken ? wire_broken : wire_eof)(p->server.w);
        for (size_t i = 0; i < LENGTH(c); i++) {
            check_log(c[i], broken ? "abort reset 0\n" : "abort closed 0\n");
            check_log(p->server.calls[i], broken ? "POST http://host:80/\nabort reset 0\n"
                                                 : "POST http://host:80/\nabort closed 0\n");
        }
        assert_int_not_equal(p->client.w->finish, FINISH_NOT);
        assert_int_not_equal(p->server.w->finish, FINISH_NOT);
        assert_int_equal(p->client.w->n_streams, 0);
        assert_int_equal(wire_room(p->client.w), 0);
        wire_pump(p->server.w);
        wire_feed(p->server.w, SLICE("more"));
        pair_free(p);
    }
    (void)state;
}

static struct wire *victim;

static void break_at_head(struct call *c, const struct head *h, bool end)
{
    (void)c, (void)h, (void)end;
    wire_broken(victim);
}

static void break_at(struct call *c)
{
    (void)c;
    wire_broken(victim);
}

/* The connection is found broken while its bytes are being read. */
static void test_broken_in_event(void **state)
{
    struct pair *p = pair_new(0, usual);
    for (int i = 0; i < 5; i++)
        call_get(p);
    p->server.on_head = break_at_head;
    victim = p->server.w;
    run(p);
    assert_int_equal(p->server.n_calls, 1);
    check_log(p->server.calls[0], "GET http://host:80/ bodiless end\nabort reset 0\n");
    pair_free(p);
    for (int i = 0; i < 2; i++) {
        p = pair_new(0, usual);
        for (int k = 0; k < 5; k++) {
            struct call *c = call_open(p, request("POST", "/"), false);
            give(c, 0, 40000);
            stream_end(c->s, NULL);
        }
        *(i ? &p->server.on_end : &p->server.on_data) = break_at;
        victim = p->server.w;
        run(p);
        for (uint32_t k = 0; k < p->server.n_calls; k++)
            assert_true(p->server.calls[k]->aborted);
        pair_free(p);
    }
    (void)state;
}

/* Streams in every state when the wire goes. The sanitizers judge. */
static void test_free_open(void **state)
{
    struct pair *p = pair_new(0, usual);
    struct head head = response(200);
    struct call *c[6];
    for (size_t i = 0; i < LENGTH(c); i++)
        c[i] = call_open(p, request("POST", "/"), false);
    run(p);
    struct call **s = p->server.calls;
    stream_head(s[0]->s, &head, false);
    give(s[0], 0, 100000);
    stream_head(s[1]->s, &head, false);
    give(s[1], 0, 100000);
    stream_abort(s[1]->s, FINISH_RESET, 2);
    answer(s[2], head, "x");
    release(s[2]);
    stream_goaway(s[3]->s);
    struct field f = {SLICE("a"), SLICE("b")};
    stream_head(s[4]->s, &head, false);
    stream_end(s[4]->s, &(struct head){.fields = &f, .n_fields = 1});
    give(c[0], 0, 100000);
    release(c[1]);
    pair_free(p);
    (void)state;
}

/* ---- limits ---- */

static void test_request_limits(void **state)
{
    static struct field f[40];
    static char text[4000];
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < LENGTH(f); i++)
        f[i] = (struct field){SLICE("x-name"), {text, 100}};
    struct wire_limits limits = usual;
    limits.head_bytes = 2000;
    limits.head_fields = 10;
    for (int split = 0; split < 3; split++) {
        struct pair *p = pair_new(split, limits);
        struct head head = request("POST", "/");
        head.fields = f;
        head.n_fields = 10;
        struct call *c = call_open(p, head, false), *s = at_server(p);
        assert_int_equal(p->server.n_calls, 1);
        /* one field too many; too many bytes; and the connection goes on */
        head.n_fields = 11;
        c = call_open(p, head, false);
        stream_data(c->s, SLICE("body"));
        run(p);
        assert_string_equal(buf_text(&c->log), "431 bodiless end\nabort reset 0\n");
        head.n_fields = 1;
        f[0].value.n = 4000;
        c = call_open(p, head, true);
        run(p);
        check_log(c, "431 bodiless end\n");
        release(c);
        f[0].value.n = 100;
        assert_int_equal(p->server.n_calls, 1);
        answer(s, response(200), "x");
        run(p);
        check_log(p->client.calls[0], "200\nend\n");
        assert_null(p->server.w->error);
        pair_free(p);
    }
    (void)state;
}

static void test_response_limits(void **state)
{
    static struct field f[11];
    for (size_t i = 0; i < LENGTH(f); i++)
        f[i] = (struct field){SLICE("x-name"), SLICE("value")};
    struct wire_limits limits = usual;
    limits.head_fields = 10;
    struct pair *p = pair_new(0, limits);
    for (int trailers = 0; trailers < 2; trailers++) {
        struct call *c = call_get(p), *s = at_server(p);
        struct head head = response(200);
        struct head large = {.status = 200, .fields = f, .n_fields = 11};
        stream_head(s->s, trailers ? &head : &large, false);
        if (trailers)
            stream_end(s->s, &large);
        run(p);
        check_log(c, trailers ? "200\nabort limit 0\n" : "abort limit 0\n");
        if (trailers) /* it had ended */
            release(s);
        else
            check_log(s, "GET http://host:80/ bodiless end\nabort reset 11\n");
    }
    /* trailers of a request */
    struct call *c = call_open(p, request("POST", "/"), false), *s = at_server(p);
    stream_end(c->s, &(struct head){.fields = f, .n_fields = 11});
    run(p);
    check_log(s, "POST http://host:80/\nabort limit 0\n");
    check_log(c, "abort reset 11\n");
    pair_free(p);
    (void)state;
}

/* A head that is too large even to be sent. */
static void test_unsendable(void **state)
{
    struct pair *p = pair_new(0, usual);
    char *text = mem_zero(H2_HEAD_OUT_MAX);
    memset(text, 'a', H2_HEAD_OUT_MAX);
    struct field f = {SLICE("x"), {text, H2_HEAD_OUT_MAX}};
    struct head large = {.fields = &f, .n_fields = 1}, head = request("GET", "/");
    head.fields = &f;
    head.n_fields = 1;
    struct call *c = call_open(p, head, true);
    run(p);
    check_log(c, "abort limit 0\n");
    c = call_get(p);
    struct call *s = at_server(p);
    head = response(200);
    head.fields = &f;
    head.n_fields = 1;
    stream_head(s->s, &head, false);
    give(s, 0, 100);
    run(p);
    check_log(s, "GET http://host:80/ bodiless end\nabort limit 0\n");
    check_log(c, "abort reset 2\n");
    c = call_get(p);
    s = at_server(p);
    head = response(200);
    stream_head(s->s, &head, false);
    stream_end(s->s, &large);
    run(p);
    check_log(s, "GET http://host:80/ bodiless end\nabort limit 0\n");
    check_log(c, "200\nabort reset 2\n");
    mem_free(text);
    check_quiet(p);
    pair_free(p);
    (void)state;
}

/* The numbers of streams run out. */
static void test_last_stream(void **state)
{
    struct pair *p = pair_new(0, usual);
    assert_false(
        nghttp2_session_set_next_stream_id(((struct h2 *)p->client.w)->session, INT32_MAX - 2));
    struct call *c[3];
    for (size_t i = 0; i < LENGTH(c); i++)
        c[i] = call_new(&p->client, stream_open(p->client.w));
    struct head head = request("GET", "/");
    for (size_t i = 0; i < LENGTH(c); i++) {
        assert_int_equal(p->client.w->closing, i == 2);
        stream_head(c[i]->s, &head, true);
    }
    run(p);
    check_log(c[2], "abort refused 0\n");
    assert_int_equal(wire_room(p->client.w), 0);
    for (size_t i = 0; i < 2; i++) {
        answer(p->server.calls[i], response(200), "x");
        release(p->server.calls[i]);
        run(p);
        check_log(c[i], "200\nend\n");
        release(c[i]);
    }
    assert_int_equal(p->client.w->finish, FINISH_CLOSE);
    pair_free(p);
    (void)state;
}

static void test_room(void **state)
{
    struct wire_limits limits = usual;
    limits.streams = 3;
    struct pair *p = pair_new(0, limits);
    assert_int_equal(wire_room(p->client.w), 100);
    run(p);
    assert_int_equal(wire_room(p->client.w), 3);
    struct call *c[3];
    for (size_t i = 0; i < 3; i++) {
        c[i] = call_get(p);
        assert_int_equal(wire_room(p->client.w), 2 - i);
    }
    run(p);
    assert_int_equal(p->server.n_calls, 3);
    answer(p->server.calls[1], response(200), "x");
    release(p->server.calls[1]);
    run(p);
    release(c[1]);
    assert_int_equal(wire_room(p->client.w), 1);
    pair_free(p);
    /* opened before the server could say how many it takes: the rest is refused */
    p = pair_new(0, limits);
    for (int i = 0; i < 5; i++)
        call_get(p);
    run(p);
    assert_int_equal(p->server.n_calls, 3);
    check_log(p->client.calls[2], "");
    check_log(p->client.calls[3], "abort refused 7\n");
    check_log(p->client.calls[4], "abort refused 7\n");
    pair_free(p);
    limits.streams = 1000000;
    p = pair_new(0, limits);
    run(p);
    assert_int_equal(wire_room(p->client.w), H2_STREAMS_MAX);
    pair_free(p);
    (void)state;
}

static void test_many_resets(void **state)
{
    struct wire_limits limits = usual;
    limits.resets = 100000;
    struct pair *p = pair_new(0, limits);
    for (int i = 0; i < 3000; i++) {
        struct call *c = call_get(p);
        run(p);
        release(c);
        run(p);
    }
    check_quiet(p);
    pair_free(p);
    (void)state;
}

static void test_rapid_reset(void **state)
{
    struct wire_limits limits = usual;
    limits.resets = 20;
    struct pair *p = pair_new(0, limits);
    /* as many as are allowed, when as many end well */
    for (int i = 0; i < 200; i++) {
        struct call *c = call_get(p), *s = at_server(p);
        if (i % 2) {
            release(c);
            run(p);
            assert_true(s->aborted);
        } else {
            answer(s, response(200), NULL);
            release(s);
            run(p);
            release(c);
        }
    }
    assert_int_equal(p->server.w->finish, FINISH_NOT);
    /* those that the server itself cuts do not count */
    for (int i = 0; i < 50; i++) {
        call_get(p);
        stream_abort(at_server(p)->s, FINISH_RESET, 2);
        run(p);
    }
    assert_int_equal(p->server.w->finish, FINISH_NOT);
    struct call *kept = call_get(p);
    int n = 0;
    for (; n < 100 && wire_room(p->client.w) > 0; n++) {
        struct call *c = call_get(p);
        run(p);
        if (c->s)
            release(c);
        run(p);
    }
    assert_in_range(n, 20, 22);
    assert_true(p->server.calls[250]->aborted || p->server.calls[200]->aborted);
    assert_int_equal(p->server.w->finish, FINISH_CLOSE);
    assert_string_equal(p->server.w->error, "a flood of cancelled streams");
    assert_string_equal(p->client.w->error, "the peer gave up: ENHANCE_YOUR_CALM");
    assert_true(!kept->aborted || kept->why == CUT_REFUSED);
    wire_eof(p->client.w);
    assert_true(kept->aborted);
    pair_free(p);
    (void)state;
}

/* ---- a raw peer ---- */

struct raw {
    struct pair *p; /* of which one end is used */
    struct end *end;
    nghttp2_hd_deflater *deflater;
    nghttp2_hd_inflater *inflater;
    struct buf to;   /* frames for the wire */
    struct buf from; /* bytes of the wire that are no whole frame yet */
    struct buf log;  /* its frames, but for the usual ones at the beginning */
};

static void raw_frame(struct raw *r, uint8_t type, uint8_t flags, uint32_t id, slice payload)
{
    const char head[] = {
        (char)(payload.n >> 16), (char)(payload.n >> 8), (char)payload.n, (char)type, (char)flags,
        (char)(id >> 24),        (char)(id >> 16),       (char)(id >> 8), (char)id};
    buf_add(&r->to, (slice){head, sizeof head});
    buf_add(&r->to, payload);
}

static void raw_number(struct raw *r, uint8_t type, uint32_t id, uint32_t n)
{
    const char payload[] = {(char)(n >> 24), (char)(n >> 16), (char)(n >> 8), (char)n};
    raw_frame(r, type, 0, id, (slice){payload, 4});
}

/* fields: "name=value|name=value"; a value may hold any other byte. */
static struct buf raw_block(struct raw *r, const char *fields)
{
    nghttp2_nv nva[64];
    size_t n = 0;
    slice rest = slice_of(fields), part;
    struct buf block = BUF_INIT(1 << 20);
    while (rest.n && slice_cut(&rest, '|', &part)) {
        size_t at = slice_find(part, '=');
        nva[n++] = (nghttp2_nv){(uint8_t *)(uintptr_t)part.p, (uint8_t *)(uintptr_t)part.p + at + 1,
                                at, part.n - at - 1, NGHTTP2_NV_FLAG_NO_INDEX};
    }
    static uint8_t bytes[100000];
    ssize_t size = nghttp2_hd_deflate_hd(r->deflater, bytes, sizeof bytes, nva, n);
    assert_true(size >= 0);
    buf_add(&block, (slice){(const char *)bytes, (size_t)size});
    return block;
}

static void raw_headers(struct raw *r, uint8_t flags, uint32_t id, const char *fields)
{
    struct buf block = raw_block(r, fields);
    raw_frame(r, NGHTTP2_HEADERS, flags, id, buf_slice(&block));
    buf_deinit(&block);
}

enum { END_STREAM = NGHTTP2_FLAG_END_STREAM, END_HEADERS = NGHTTP2_FLAG_END_HEADERS };
#define GET ":method=GET|:scheme=http|:authority=a|:path=/"

static void raw_get(struct raw *r, uint32_t id)
{
    raw_headers(r, END_STREAM | END_HEADERS, id, GET);
}

static struct raw *raw_new(bool server, struct wire_limits limits)
{
    struct raw *r = mem_zero(sizeof *r);
    r->p = pair_new(0, limits);
    r->end = server ? &r->p->server : &r->p->client;
    r->to = BUF_INIT(64 << 20);
    r->from = BUF_INIT(64 << 20);
    r->log = BUF_INIT(16 << 20);
    assert_false(nghttp2_hd_deflate_new(&r->deflater, 4096));
    assert_false(nghttp2_hd_inflate_new(&r->inflater));
    if (server)
        buf_adds(&r->to, NGHTTP2_CLIENT_MAGIC);
    raw_frame(r, NGHTTP2_SETTINGS, 0, 0, (slice){"", 0});
    raw_frame(r, NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, (slice){"", 0});
    return r;
}

static void raw_free(struct raw *r)
{
    nghttp2_hd_deflate_del(r->deflater);
    nghttp2_hd_inflate_del(r->inflater);
    buf_deinit(&r->to);
    buf_deinit(&r->from);
    buf_deinit(&r->log);
    pair_free(r->p);
    mem_free(r);
}

static uint32_t number_at(slice s, size_t at)
{
    const unsigned char *p = (const unsigned char *)s.p + at;
    assert_true(at + 4 <= s.n);
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static void log_block(struct raw *r, slice block)
{
    for (;;) {
        nghttp2_nv nv;
        int flags = 0;
        ssize_t n =
            nghttp2_hd_inflate_hd2(r->inflater, &nv, &flags, (const uint8_t *)block.p, block.n, 1);
        assert_true(n >= 0);
        block = slice_from(block, (size_t)n);
        if (flags & NGHTTP2_HD_INFLATE_EMIT)
            buf_addf(&r->log, " %.*s=%.*s", (int)nv.namelen, (const char *)nv.name,
                     (int)nv.valuelen, (const char *)nv.value);
        if (flags & NGHTTP2_HD_INFLATE_FINAL)
            break;
    }
    nghttp2_hd_inflate_end_headers(r->inflater);
}

static void log_frame(struct raw *r, uint8_t type, uint8_t flags, uint32_t id, slice payload)
{
    switch (type) {
    case NGHTTP2_DATA: buf_addf(&r->log, "DATA %u %zu", (unsigned)id, payload.n); break;
    case NGHTTP2_HEADERS:
        buf_addf(&r->log, "HEADERS %u", (unsigned)id);
        log_block(r, payload);
        break;
    case NGHTTP2_RST_STREAM:
        buf_addf(&r->log, "RST %u %u", (unsigned)id, (unsigned)number_at(payload, 0));
        break;
    case NGHTTP2_GOAWAY:
        buf_addf(&r->log, "GOAWAY %u %u", (unsigned)number_at(payload, 0),
                 (unsigned)number_at(payload, 4));
        break;
    case NGHTTP2_PING: buf_addf(&r->log, "PING %s", flags & NGHTTP2_FLAG_ACK ? "ack" : ""); break;
    default: return; /* SETTINGS, WINDOW_UPDATE */
    }
    bool ends = type <= NGHTTP2_HEADERS && flags & END_STREAM;
    buf_adds(&r->log, ends ? " end\n" : "\n");
}

static void raw_read(struct raw *r)
{
    wire_pump(r->end->w);
    while (r->end->out.n) {
        slice front = chain_front(&r->end->out);
        buf_add(&r->from, front);
        chain_drop(&r->end->out, front.n);
        wire_pump(r->end->w);
    }
    slice rest = buf_slice(&r->from);
    if (!r->end->w->server && r->log.n == 0 && rest.n >= 24 && rest.p[0] == 'P')
        rest = slice_from(rest, 24);
    while (rest.n >= 9) {
        size_t n = number_at(rest, 0) >> 8;
        if (rest.n < 9 + n)
            break;
        log_frame(r, (uint8_t)rest.p[3], (uint8_t)rest.p[4], number_at(rest, 5) & INT32_MAX,
                  (slice){rest.p + 9, n});
        rest = slice_from(rest, 9 + n);
    }
    memmove(r->from.p, rest.p, rest.n);
    r->from.n = rest.n;
}

static void raw_go(struct raw *r)
{
    wire_feed(r->end->w, buf_slice(&r->to));
    buf_clear(&r->to);
    while (r->end->w->resume)
        wire_resume(r->end->w);
    raw_read(r);
}

static void check_frames_at(struct raw *r, const char *want, int line)
{
    if (strcmp(buf_text(&r->log), want) != 0)
        fail_msg("line %d: the wire sent\n%snot\n%s", line, buf_text(&r->log), want);
    buf_clear(&r->log);
}
#define check_frames(r, want) check_frames_at(r, want, __LINE__)

static void test_raw_requests(void **state)
{
    static const struct {
        const char *fields, *log;
    } rows[] = {
        {GET, "GET http://a/ bodiless end\n"},
        {":method=GET|:scheme=https|:path=/x|host=h", "GET https://h/x bodiless end\n"},
        {":method=GET|:scheme=http|:authority=a|:path=/|host=h", "GET http://a/ bodiless end\n"},
        {":method=OPTIONS|:scheme=http|:authority=a|:path=*", "OPTIONS http://a* bodiless end\n"},
        {GET "|expect=100-Continue", "GET http://a/ expects bodiless end\n"},
        {GET "|expect=more", "GET http://a/ expect=more bodiless end\n"},
        {GET "|te=trailers|http2-settings=x|content-length=0",
         "GET http://a/ te=trailers length:0 bodiless end\n"},
    };
    struct raw *r = raw_new(true, usual);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        raw_headers(r, END_STREAM | END_HEADERS, (uint32_t)i * 2 + 1, rows[i].fields);
        raw_go(r);
        assert_int_equal(r->end->n_calls, i + 1);
        check_log(r->end->calls[i], rows[i].log);
    }
    check_frames(r, "");
    raw_free(r);
    (void)state;
}

/* Requests that never reach an owner. */
static void test_raw_malformed(void **state)
{
    static const struct {
        const char *fields, *frames;
    } rows[] = {
        {":method=CONNECT|:authority=a", "HEADERS 1 :status=501 end\n"},
        {":method=CONNECT|:authority=a|:scheme=http|:path=/|:protocol=websocket", "RST 1 1\n"},
        {":method=GET|:scheme=http|:authority=a", "RST 1 1\n"},
        {":method=GET|:scheme=http|:path=/", "RST 1 1\n"},
        {":method=GET|:scheme=http|:authority=a|:path=x", "RST 1 1\n"},
        {":method=GET|:scheme=http|:authority=a|:path=", "RST 1 1\n"},
        {":method=GET|:scheme=ftp|:authority=a|:path=x", "RST 1 1\n"},
        {":method=GET|:scheme=ftp|:authority=a|:path=*", "RST 1 1\n"},
        {":method=GET|:scheme=http|:authority=u@a|:path=/", "RST 1 1\n"},
        {":method=GET|:scheme=http|:path=/|host=u@a", "RST 1 1\n"},
        {":method=G T|:scheme=http|:authority=a|:path=/", "RST 1 1\n"},
        {":method=GET|:scheme=http|:authority=a|:path=/ HTTP/1.1\r\nx: y", "RST 1 1\n"},
        {":method=GET|:scheme=http|:authority=a\r\nb|:path=/", "RST 1 1\n"},
        {GET "|:path=/", "RST 1 1\n"},
        {GET "|x=1|:status=200", "RST 1 1\n"},
        {GET "|:unknown=1", "RST 1 1\n"},
        {GET "|Upper=1", "RST 1 1\n"},
        {GET "|a b=1", "RST 1 1\n"},
        {GET "|=1", "RST 1 1\n"},
        {GET "|x=a\nb", "RST 1 1\n"},
        {GET "|connection=close", "RST 1 1\n"},
        {GET "|transfer-encoding=chunked", "RST 1 1\n"},
        {GET "|keep-alive=1", "RST 1 1\n"},
        {GET "|upgrade=h2c", "RST 1 1\n"},
        {GET "|te=gzip", "RST 1 1\n"},
        {GET "|content-length=1", "RST 1 1\n"},
        {GET "|content-length=1|content-length=1", "RST 1 1\n"},
        {GET "|content-length=-1", "RST 1 1\n"},
        {GET "|content-length=99999999999999999999", "RST 1 1\n"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct raw *r = raw_new(true, usual);
        raw_headers(r, END_STREAM | END_HEADERS, 1, rows[i].fields);
        raw_go(r);
        if (r->end->n_calls)
            fail_msg("%s: accepted: %s", rows[i].fields, buf_text(&r->end->calls[0]->log));
        check_frames(r, rows[i].frames);
        assert_int_equal(r->end->w->n_streams, 0);
        assert_int_equal(r->end->w->finish, FINISH_NOT);
        raw_get(r, 3);
        raw_go(r);
        assert_int_equal(r->end->n_calls, 1);
        raw_free(r);
    }
    /* while a body is still to come */
    struct raw *r = raw_new(true, usual);
    raw_headers(r, END_HEADERS, 1, ":method=CONNECT|:authority=a");
    raw_frame(r, NGHTTP2_DATA, 0, 1, SLICE("hello"));
    raw_go(r);
    check_frames(r, "HEADERS 1 :status=501 end\nRST 1 0\n");
    raw_frame(r, NGHTTP2_DATA, 0, 1, SLICE("hello"));
    raw_go(r);
    check_frames(r, "");
    raw_free(r);
    (void)state;
}

/* A body that is not as long as was said, and trailers that end nothing. */
static void test_raw_bad_bodies(void **state)
{
    struct raw *r = raw_new(true, usual);
    raw_headers(r, END_HEADERS, 1, GET "|content-length=3");
    raw_frame(r, NGHTTP2_DATA, 0, 1, SLICE("four"));
    raw_headers(r, END_HEADERS, 3, GET "|content-length=3");
    raw_frame(r, NGHTTP2_DATA, END_STREAM, 3, SLICE("tw"));
    raw_headers(r, END_HEADERS, 5, GET);
    raw_headers(r, END_HEADERS, 5, "a=b");
    raw_headers(r, END_HEADERS, 7, GET);
    raw_headers(r, END_STREAM | END_HEADERS, 7, ":path=/");
    raw_headers(r, END_HEADERS, 9, GET);
    raw_number(r, NGHTTP2_WINDOW_UPDATE, 9, 0x7fffffff);
    raw_go(r);
    check_frames(r, "RST 1 1\nRST 3 1\nRST 5 1\nRST 7 1\nRST 9 3\n");
    check_log(r->end->calls[0], "GET http://a/ length:3\nabort bad 0\n");
    check_log(r->end->calls[1], "GET http://a/ length:3\nabort bad 0\n");
    for (size_t i = 2; i < 5; i++)
        check_log(r->end->calls[i], "GET http://a/\nabort bad 0\n");
    assert_int_equal(r->end->w->n_streams, 0);
    raw_free(r);
    (void)state;
}

/* What ends the connection. */
static void test_raw_errors(void **state)
{
    static const char zeros[20000];
    static const struct {
        uint8_t type, flags;
        uint32_t id;
        size_t size; /* of the payload, zeros */
        const char *frames;
    } rows[] = {
        {NGHTTP2_DATA, 0, 0, 1, "GOAWAY 1 1\n"},
        {NGHTTP2_DATA, 0, 7, 1, "GOAWAY 1 1\n"},
        {NGHTTP2_DATA, 0, 1, 1, "GOAWAY 1 5\n"}, /* it has ended */
        {NGHTTP2_DATA, 0, 1, 16385, "GOAWAY 1 6\n"},
        {NGHTTP2_HEADERS, END_HEADERS, 0, 1, "GOAWAY 1 1\n"},
        {NGHTTP2_HEADERS, END_HEADERS, 2, 1, "GOAWAY 1 1\n"},
        {NGHTTP2_HEADERS, END_HEADERS, 3, 1, "GOAWAY 3 9\n"},
        {NGHTTP2_RST_STREAM, 0, 0, 4, "GOAWAY 1 1\n"},
        {NGHTTP2_RST_STREAM, 0, 1, 3, "GOAWAY 1 6\n"},
        {NGHTTP2_RST_STREAM, 0, 9, 4, "GOAWAY 1 1\n"},
        {NGHTTP2_SETTINGS, 0, 1, 0, "GOAWAY 1 1\n"},
        {NGHTTP2_SETTINGS, 0, 0, 5, "GOAWAY 1 6\n"},
        {NGHTTP2_SETTINGS, NGHTTP2_FLAG_ACK, 0, 0, "GOAWAY 1 1\n"},
        {NGHTTP2_PING, 0, 0, 7, "GOAWAY 1 6\n"},
        {NGHTTP2_PUSH_PROMISE, END_HEADERS, 1, 8, "GOAWAY 1 1\n"},
        {NGHTTP2_WINDOW_UPDATE, 0, 0, 4, "GOAWAY 1 1\n"},
        {NGHTTP2_CONTINUATION, 0, 1, 4, "GOAWAY 1 1\n"},
        {NGHTTP2_GOAWAY, 0, 0, 4, "GOAWAY 1 6\n"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct raw *r = raw_new(true, usual);
        raw_get(r, 1);
        raw_go(r);
        raw_frame(r, rows[i].type, rows[i].flags, rows[i].id, (slice){zeros, rows[i].size});
        raw_get(r, 11);
        raw_go(r);
        check_frames(r, rows[i].frames);
        assert_int_equal(r->end->n_calls, 1);
        check_log(r->end->calls[0], "GET http://a/ bodiless end\nabort bad 0\n");
        assert_int_equal(r->end->w->finish, FINISH_CLOSE);
        assert_non_null(r->end->w->error);
        assert_int_equal(r->end->w->n_streams, 0);
        assert_false(wire_reads(r->end->w));
        raw_free(r);
    }
    (void)state;
}

static void test_raw_preface(void **state)
{
    static const char *const texts[] = {"GET / HTTP/1.1\r\n\r\n",
                                        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\x01"};
    for (size_t i = 0; i < LENGTH(texts); i++) {
        struct raw *r = raw_new(true, usual);
        buf_clear(&r->to);
        buf_adds(&r->to, texts[i]);
        raw_go(r);
        check_frames(r, "GOAWAY 0 1\n");
        assert_int_equal(r->end->w->finish, FINISH_CLOSE);
        assert_non_null(strstr(r->end->w->error, "does not start"));
        raw_free(r);
    }
    struct raw *r = raw_new(true, usual);
    buf_clear(&r->to);
    buf_adds(&r->to, NGHTTP2_CLIENT_MAGIC);
    raw_get(r, 1);
    raw_go(r);
    check_frames(r, "GOAWAY 0 1\n");
    assert_string_equal(r->end->w->error, "PROTOCOL_ERROR: SETTINGS expected");
    raw_free(r);
    (void)state;
}

static void test_raw_floods(void **state)
{
    struct raw *r = raw_new(true, usual);
    raw_get(r, 1);
    raw_go(r);
    for (int i = 0; i < 900; i++)
        raw_frame(r, NGHTTP2_PING, 0, 0, SLICE("12345678"));
    raw_go(r);
    assert_int_equal(r->end->w->finish, FINISH_NOT);
    buf_clear(&r->log);
    for (int i = 0; i < 1100; i++)
        raw_frame(r, i % 2 ? NGHTTP2_PING : NGHTTP2_SETTINGS, 0, 0,
                  i % 2 ? SLICE("12345678") : (slice){"", 0});
    raw_go(r);
    assert_non_null(strstr(buf_text(&r->log), "GOAWAY 1 11\n"));
    check_log(r->end->calls[0], "GET http://a/ bodiless end\nabort limit 0\n");
    assert_int_equal(r->end->w->finish, FINISH_CLOSE);
    raw_free(r);

    /* a head that never ends */
    r = raw_new(true, usual);
    raw_headers(r, 0, 1, GET);
    for (int i = 0; i < 1000; i++)
        raw_frame(r, NGHTTP2_CONTINUATION, 0, 1, (slice){"", 0});
    raw_go(r);
    check_frames(r, "GOAWAY 1 11\n");
    assert_int_equal(r->end->w->finish, FINISH_CLOSE);
    assert_int_equal(r->end->n_calls, 0);
    raw_free(r);

    (void)state;
}

/* A request in which one byte stands for a field of 3900, so many times. */
static void raw_bomb(struct raw *r, uint32_t id, size_t n)
{
    static char ones[16000];
    memset(ones, 0x80 | 62, sizeof ones);
    struct buf block = raw_block(r, GET);
    buf_add(&block, SLICE("\x40\x01x\x7f\xbd\x1d")); /* x: 127 + 0x3d + (0x1d << 7) bytes */
    for (int i = 0; i < 3900; i++)
        buf_addc(&block, 'v');
    raw_frame(r, NGHTTP2_HEADERS, END_STREAM, id, buf_slice(&block));
    raw_frame(r, NGHTTP2_CONTINUATION, END_HEADERS, id, (slice){ones, n});
    buf_deinit(&block);
}

static void test_raw_bombs(void **state)
{
    /* too much is refused, and the connection goes on */
    struct raw *r = raw_new(true, usual);
    raw_bomb(r, 1, 100);
    raw_go(r);
    check_frames(r, "HEADERS 1 :status=431 end\n");
    assert_true(((struct h2 *)r->end->w)->text.used < 100000);
    raw_get(r, 3);
    raw_go(r);
    assert_int_equal(r->end->n_calls, 1);
    raw_free(r);

    /* far too much, at once or bit by bit, ends it; and is not decoded to its end */
    for (size_t n = 16000; n > 15; n /= 10) {
        r = raw_new(true, usual);
        for (uint32_t id = 1; id < 199 && !r->end->w->finish; id += 2) {
            raw_bomb(r, id, n);
            raw_go(r);
        }
        assert_non_null(strstr(buf_text(&r->log), " 11\n"));
        assert_string_equal(r->end->w->error, "a flood of header fields");
        assert_true(((struct h2 *)r->end->w)->waste < (H2_WASTE_HEADS + 1) * usual.head_bytes);
        raw_free(r);
    }

    /* what is of use makes up for what is not */
    r = raw_new(true, usual);
    for (uint32_t id = 1; id < 2001 && !r->end->w->finish; id += 2) {
        raw_bomb(r, id, id % 20 == 1 ? 30 : 10);
        raw_go(r);
        struct call *c = r->end->n_calls ? r->end->calls[r->end->n_calls - 1] : NULL;
        if (c && c->s) {
            stream_head(c->s, &(struct head){.status = 204}, true);
            stream_release(c->s);
            c->s = NULL;
        }
    }
    assert_int_equal(r->end->w->finish, FINISH_NOT);
    raw_free(r);
    (void)state;
}

/* What is decoded in one turn has a bound; the rest waits, and nothing is lost. */
static void test_raw_turns(void **state)
{
    struct raw *r = raw_new(true, usual);
    for (uint32_t i = 0; i < 200; i++)
        raw_bomb(r, 1 + 2 * i, 10);
    struct h2 *h = (struct h2 *)r->end->w;
    slice all = buf_slice(&r->to);
    enum { TURN_BYTES = 64 * 1024 };
    uint32_t turns = 0;
    for (size_t at = 0; at < all.n; at += TURN_BYTES) {
        slice piece = {all.p + at, all.n - at < TURN_BYTES ? all.n - at : TURN_BYTES};
        uint32_t before = r->end->n_calls;
        wire_feed(r->end->w, piece);
        while (r->end->w->resume) {
            assert_true(h->paused && !wire_reads(r->end->w));
            assert_true(r->end->n_calls - before <= 1 + H2_TURN / (10 * 3900));
            before = r->end->n_calls;
            turns++;
            wire_resume(r->end->w);
        }
        assert_false(h->paused);
    }
    assert_int_equal(r->end->n_calls, 200);
    assert_true(turns > 200 * 10 * 3900 / H2_TURN / 2);
    raw_free(r);
    (void)state;
}

static void refuse_posts(struct call *c, const struct head *h, bool end)
{
    (void)h;
    if (end)
        return;
    stream_abort(c->s, FINISH_NOT, NGHTTP2_CANCEL);
    c->s = NULL;
}

/* A turn ends behind DATA of a stream that was reset while nghttp2 had the bytes. */
static void test_raw_turns_and_resets(void **state)
{
    struct raw *r = raw_new(true, usual);
    r->end->on_head = refuse_posts;
    raw_headers(r, END_HEADERS, 1, GET);
    raw_frame(r, NGHTTP2_DATA, 0, 1, SLICE("under way"));
    for (uint32_t i = 0; i < 100; i++)
        raw_get(r, 3 + 2 * i);
    wire_feed(r->end->w, buf_slice(&r->to));
    buf_clear(&r->to);
    assert_true(r->end->w->resume && r->end->n_calls < 100);
    raw_go(r);
    assert_int_equal(r->end->n_calls, 101);
    assert_null(r->end->w->error);
    raw_free(r);
    (void)state;
}

/* A peer that reads nothing: `out` is not even filled, as the connection below is blocked. */
static void test_raw_blocked_peer(void **state)
{
    struct raw *r = raw_new(true, usual);
    r->to.n -= 9; /* the limit of streams is not acknowledged: each more is refused with a frame */
    uint32_t n = 0;
    while (n < 100000 && wire_reads(r->end->w)) {
        raw_get(r, 1 + 2 * n++);
        wire_feed(r->end->w, buf_slice(&r->to));
        buf_clear(&r->to);
    }
    assert_in_range(n, H2_FRAMES_MAX, H2_FRAMES_MAX + usual.streams + 10);
    assert_true(r->end->out.n < H2_OUT_MAX);
    raw_free(r);

    /* few frames, but large: answers to calls that the peer cancels */
    struct wire_limits limits = usual;
    limits.resets = 100000;
    static char large[60000];
    memset(large, 'x', sizeof large);
    struct field field = {SLICE("x"), {large, sizeof large}};
    struct head head = {.status = 200, .fields = &field, .n_fields = 1};
    r = raw_new(true, limits);
    for (n = 0; n < 4000 && wire_reads(r->end->w); n++) {
        raw_get(r, 1 + 2 * n);
        wire_feed(r->end->w, buf_slice(&r->to));
        buf_clear(&r->to);
        stream_head(r->end->calls[n]->s, &head, true);
        raw_number(r, NGHTTP2_RST_STREAM, 1 + 2 * n, NGHTTP2_CANCEL);
        wire_feed(r->end->w, buf_slice(&r->to));
        buf_clear(&r->to);
    }
    assert_in_range(n, 10, 2 * (H2_MEMORY_MAX + usual.streams * H2_STREAM_MEMORY) / sizeof large);
    raw_free(r);
    (void)state;
}

/* A peer that does not care about windows. */
static void test_raw_no_flow_control(void **state)
{
    static const char bytes[16384];
    struct raw *r = raw_new(true, usual);
    r->end->hoards = true;
    raw_headers(r, END_HEADERS, 1, GET);
    raw_headers(r, END_HEADERS, 3, GET);
    for (int i = 0; i < 5; i++)
        raw_frame(r, NGHTTP2_DATA, 0, 1, (slice){bytes, sizeof bytes});
    raw_frame(r, NGHTTP2_DATA, END_STREAM, 3, SLICE("x"));
    raw_go(r);
    check_log(r->end->calls[0], "GET http://a/\nabort bad 0\n");
    assert_in_range(r->end->calls[0]->in.n, WIRE_WINDOW - sizeof bytes, WIRE_WINDOW);
    check_log(r->end->calls[1], "GET http://a/\nend\n");
    check_frames(r, "RST 1 3\n");
    raw_free(r);
    /* of the connection: many streams that nobody reads may come, as their windows bound them */
    r = raw_new(true, usual);
    r->end->hoards = true;
    for (uint32_t i = 0; i < 100; i++) {
        raw_headers(r, END_HEADERS, 1 + 2 * i, GET);
        for (int k = 0; k < 3; k++)
            raw_frame(r, NGHTTP2_DATA, 0, 1 + 2 * i, (slice){bytes, sizeof bytes});
        raw_go(r);
    }
    check_frames(r, "");
    for (uint32_t i = 0; i < 100; i++)
        assert_int_equal(r->end->calls[i]->in.n, 3 * sizeof bytes);
    raw_free(r);
    (void)state;
}

/* The peer makes nghttp2 reset stream after stream by breaking the rules on each. */
static void test_raw_made_resets(void **state)
{
    struct wire_limits limits = usual;
    limits.resets = 30;
    struct raw *r = raw_new(true, limits);
    uint32_t n = 0;
    while (n < 100 && !r->end->w->finish) {
        raw_get(r, 1 + 2 * n++);
        raw_number(r, NGHTTP2_WINDOW_UPDATE, 2 * n - 1, 0x7fffffff);
        raw_go(r);
    }
    assert_int_equal(n, 31);
    assert_non_null(strstr(buf_text(&r->log), "GOAWAY 61 11\n"));
    raw_free(r);
    (void)state;
}

/* A peer that makes us answer and does not read. */
static void test_raw_deaf_peer(void **state)
{
    struct wire_limits limits = usual;
    limits.streams = 1;
    struct raw *r = raw_new(true, limits);
    struct head head = response(200);
    buf_clear(&r->to);
    buf_adds(&r->to, NGHTTP2_CLIENT_MAGIC);
    /* never acknowledges the limit of streams, so that each more is refused with a frame */
    raw_frame(r, NGHTTP2_SETTINGS, 0, 0, SLICE("\x00\x04\x7f\xff\xff\xff"));
    raw_number(r, NGHTTP2_WINDOW_UPDATE, 0, 0x70000000);
    raw_get(r, 1);
    wire_feed(r->end->w, buf_slice(&r->to));
    stream_head(r->end->calls[0]->s, &head, false);
    give(r->end->calls[0], 0, 1000000);
    wire_pump(r->end->w);
    uint32_t n = 0;
    while (n < 100000 && wire_reads(r->end->w)) {
        buf_clear(&r->to);
        raw_get(r, 3 + 2 * n++);
        wire_feed(r->end->w, buf_slice(&r->to));
        wire_pump(r->end->w);
    }
    assert_in_range(n, H2_FRAMES_MAX - 10, H2_FRAMES_MAX + 10);
    assert_true(r->end->out.n < H2_OUT_MAX + 32 * 1024);
    buf_clear(&r->to);
    raw_read(r);
    assert_true(wire_reads(r->end->w));
    assert_int_equal(r->end->n_calls, 1);
    raw_free(r);
    (void)state;
}

/* A wire that gives up while `out` is full has not finished before its GOAWAY is in there. */
static void test_raw_late_goaway(void **state)
{
    struct raw *r = raw_new(true, usual);
    struct head head = response(200);
    buf_clear(&r->to);
    buf_adds(&r->to, NGHTTP2_CLIENT_MAGIC);
    raw_frame(r, NGHTTP2_SETTINGS, 0, 0, SLICE("\x00\x04\x7f\xff\xff\xff"));
    raw_number(r, NGHTTP2_WINDOW_UPDATE, 0, 0x70000000);
    raw_get(r, 1);
    wire_feed(r->end->w, buf_slice(&r->to));
    stream_head(r->end->calls[0]->s, &head, false);
    give(r->end->calls[0], 0, 1000000);
    wire_pump(r->end->w);
    buf_clear(&r->to);
    for (int i = 0; i < 1100; i++)
        raw_frame(r, NGHTTP2_PING, 0, 0, SLICE("12345678"));
    wire_feed(r->end->w, buf_slice(&r->to));
    wire_pump(r->end->w);
    check_log(r->end->calls[0], "GET http://a/ bodiless end\nabort limit 0\n");
    assert_int_equal(r->end->w->finish, FINISH_NOT);
    raw_read(r);
    assert_int_equal(r->end->w->finish, FINISH_CLOSE);
    assert_non_null(strstr(buf_text(&r->log), "GOAWAY 1 11\n"));
    raw_free(r);
    (void)state;
}

static void test_raw_odd_frames(void **state)
{
    struct raw *r = raw_new(true, usual);
    raw_frame(r, 0xbe, 0xff, 77, SLICE("unknown"));
    raw_frame(r, NGHTTP2_PRIORITY, 0, 9, SLICE("\x00\x00\x00\x0b\x10"));
    raw_frame(r, NGHTTP2_PING, 0, 0, SLICE("12345678"));
    raw_headers(r, END_HEADERS, 1, GET);
    raw_frame(r, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED, 1,
              SLICE("\x03"
                    "abcXXX"));
    raw_frame(r, NGHTTP2_DATA, 0, 1, (slice){"", 0});
    raw_frame(r, NGHTTP2_DATA, NGHTTP2_FLAG_PADDED | END_STREAM, 1, SLICE("\x01Y"));
    raw_go(r);
    check_log(r->end->calls[0], "GET http://a/\nend\n");
    check_body(r->end->calls[0], "abc");
    check_frames(r, "PING ack\n");
    /* frames of a stream that is over are no error: they may have been under way */
    stream_abort(r->end->calls[0]->s, FINISH_NOT, 8);
    raw_read(r);
    raw_number(r, NGHTTP2_RST_STREAM, 1, 8);
    raw_number(r, NGHTTP2_WINDOW_UPDATE, 1, 8);
    raw_go(r);
    check_frames(r, "RST 1 8\n");
    assert_int_equal(r->end->w->finish, FINISH_NOT);
    raw_free(r);
    (void)state;
}

/* GOAWAY of a client: its calls end, then the connection does. */
static void test_raw_client_leaves(void **state)
{
    struct raw *r = raw_new(true, usual);
    raw_get(r, 1);
    raw_frame(r, NGHTTP2_GOAWAY, 0, 0, SLICE("\0\0\0\0\0\0\0\0"));
    raw_go(r);
    assert_int_equal(r->end->w->finish, FINISH_NOT);
    answer(r->end->calls[0], response(200), "x");
    release(r->end->calls[0]);
    raw_read(r);
    check_frames(r, "HEADERS 1 :status=200\nDATA 1 1 end\n");
    assert_int_equal(r->end->w->finish, FINISH_CLOSE);
    assert_null(r->end->w->error);
    raw_free(r);
    (void)state;
}

/* ---- a raw server ---- */

static void test_raw_responses(void **state)
{
    static const struct {
        const char *first, *second; /* HEADERS; the second ends the stream */
        const char *body, *log, *frames;
    } rows[] = {
        {":status=200", NULL, "x", "200\nend\n", ""},
        {":status=200|content-length=2", NULL, "x", "200 length:2\nabort bad 0\n", "RST 1 1\n"},
        {":status=200|content-length=0", NULL, "x", "200 length:0\nabort bad 0\n", "RST 1 1\n"},
        {":status=200", "a=b", "x", "200\nend a=b\n", ""},
        {":status=100", ":status=200", NULL, "100 bodiless\n200 bodiless end\n", ""},
        {":status=100", NULL, "x", "100 bodiless\nabort bad 0\n", "RST 1 1\n"},
        {":status=101", ":status=200", NULL, "abort bad 0\n", "RST 1 1\n"},
        {":status=204", NULL, "x", "204 bodiless\nabort bad 0\n", "RST 1 1\n"},
        {":status=099", NULL, NULL, "abort bad 0\n", "RST 1 1\n"},
        {":status=20", NULL, NULL, "abort bad 0\n", "RST 1 1\n"},
        {":status=+20", NULL, NULL, "abort bad 0\n", "RST 1 1\n"},
        {"a=b", NULL, NULL, "abort bad 0\n", "RST 1 1\n"},
        {":status=200|connection=close", NULL, NULL, "abort bad 0\n", "RST 1 1\n"},
        {":status=200|:method=GET", NULL, NULL, "abort bad 0\n", "RST 1 1\n"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct raw *r = raw_new(false, usual);
        struct call *c = call_get(r->p);
        raw_go(r);
        check_frames(r, "HEADERS 1 :method=GET :scheme=http :authority=host:80 :path=/ end\n");
        raw_headers(r, END_HEADERS, 1, rows[i].first);
        if (rows[i].body)
            raw_frame(r, NGHTTP2_DATA, rows[i].second ? 0 : END_STREAM, 1, slice_of(rows[i].body));
        if (rows[i].second)
            raw_headers(r, END_STREAM | END_HEADERS, 1, rows[i].second);
        raw_go(r);
        check_log(c, rows[i].log);
        check_frames(r, rows[i].frames);
        assert_int_equal(r->end->w->finish, FINISH_NOT);
        if (c->s)
            release(c);
        assert_int_equal(r->end->w->n_streams, 0);
        raw_free(r);
    }
    (void)state;
}

static void test_raw_server_errors(void **state)
{
    static const struct {
        uint8_t type, flags;
        uint32_t id;
        const char *log, *frames;
    } rows[] = {
        {NGHTTP2_DATA, END_STREAM, 1, "abort bad 0\n", "GOAWAY 0 1\n"}, /* before a head */
        {NGHTTP2_DATA, END_STREAM, 3, "abort bad 0\n", "GOAWAY 0 1\n"},
        {NGHTTP2_PUSH_PROMISE, END_HEADERS, 1, "abort bad 0\n", "GOAWAY 0 1\n"},
        {NGHTTP2_HEADERS, END_HEADERS, 2, "abort bad 0\n", "GOAWAY 0 1\n"},
        {NGHTTP2_RST_STREAM, 0, 1, "abort reset 2\n", ""},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct raw *r = raw_new(false, usual);
        struct call *c = call_get(r->p);
        raw_go(r);
        buf_clear(&r->log);
        raw_frame(r, rows[i].type, rows[i].flags, rows[i].id, SLICE("\0\0\0\2"));
        raw_go(r);
        check_log(c, rows[i].log);
        check_frames(r, rows[i].frames);
        assert_int_equal(r->end->w->finish, rows[i].frames[0] ? FINISH_CLOSE : FINISH_NOT);
        raw_free(r);
    }
    (void)state;
}

/* GOAWAY of a server with an error: what it did not look at may be tried again. */
static void test_raw_server_leaves(void **state)
{
    struct raw *r = raw_new(false, usual);
    struct call *c[3] = {call_get(r->p), call_get(r->p), call_get(r->p)};
    raw_go(r);
    raw_frame(r, NGHTTP2_GOAWAY, 0, 0, SLICE("\0\0\0\3\0\0\0\2"));
    raw_go(r);
    check_log(c[2], "abort refused 0\n");
    assert_string_equal(r->end->w->error, "the peer gave up: INTERNAL_ERROR");
    raw_headers(r, END_STREAM | END_HEADERS, 1, ":status=200");
    raw_number(r, NGHTTP2_RST_STREAM, 3, 7);
    raw_go(r);
    check_log(c[0], "200 bodiless end\n");
    check_log(c[1], "abort refused 7\n");
    assert_int_equal(r->end->w->finish, FINISH_NOT);
    release(c[0]);
    raw_read(r);
    assert_int_equal(r->end->w->finish, FINISH_CLOSE);
    raw_free(r);
    (void)state;
}

/* A request that was opened before GOAWAY came and is given after it. */
static void test_raw_late_request(void **state)
{
    struct raw *r = raw_new(false, usual);
    struct call *c = call_new(r->end, stream_open(r->end->w));
    raw_frame(r, NGHTTP2_GOAWAY, 0, 0, SLICE("\0\0\0\0\0\0\0\0"));
    raw_go(r);
    struct head head = request("POST", "/");
    stream_head(c->s, &head, false);
    stream_data(c->s, SLICE("body"));
    stream_end(c->s, NULL);
    raw_read(r);
    check_log(c, "abort refused 0\n");
    check_frames(r, "");
    assert_int_equal(r->end->w->finish, FINISH_CLOSE);
    raw_free(r);
    (void)state;
}

/* The settings that we tell, and the windows. */
static void test_raw_settings(void **state)
{
    static const struct {
        bool server;
        const char *want; /* of the first frames */
        size_t n;
    } rows[] = {
        {true,
         "\0\0\x12\4\0\0\0\0\0"
         "\0\4\0\1\0\0"
         "\0\6\0\1\0\0"
         "\0\3\0\0\1\0"
         "\0\0\4\x8\0\0\0\0\0\0\xf\0\1",
         9 + 18 + 13},
        {false,
         "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
         "\0\0\x12\4\0\0\0\0\0"
         "\0\4\0\1\0\0"
         "\0\6\0\1\0\0"
         "\0\2\0\0\0\0"
         "\0\0\4\x8\0\0\0\0\0\0\xf\0\1",
         24 + 9 + 18 + 13},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct pair *p = pair_new(0, usual);
        struct end *e = rows[i].server ? &p->server : &p->client;
        wire_pump(e->w);
        slice out = chain_front(&e->out);
        assert_int_equal(out.n, rows[i].n);
        assert_memory_equal(out.p, rows[i].want, rows[i].n);
        pair_free(p);
    }
    (void)state;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_get),
        cmocka_unit_test(test_post),
        cmocka_unit_test(test_trailers),
        cmocka_unit_test(test_interim),
        cmocka_unit_test(test_bodiless),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_large_head),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_echo),
        cmocka_unit_test(test_unread),
        cmocka_unit_test(test_unread_response),
        cmocka_unit_test(test_full_out),
        cmocka_unit_test(test_abort_after_bytes),
        cmocka_unit_test(test_abort_at_once),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_cancel),
        cmocka_unit_test(test_release_early),
        cmocka_unit_test(test_release_in_time),
        cmocka_unit_test(test_release_unread),
        cmocka_unit_test(test_pump_in_event),
        cmocka_unit_test(test_goaway),
        cmocka_unit_test(test_goaway_first),
        cmocka_unit_test(test_goaway_of_client),
        cmocka_unit_test(test_shutdown),
        cmocka_unit_test(test_shutdown_idle),
        cmocka_unit_test(test_eof_and_broken),
        cmocka_unit_test(test_broken_in_event),
        cmocka_unit_test(test_free_open),
        cmocka_unit_test(test_request_limits),
        cmocka_unit_test(test_response_limits),
        cmocka_unit_test(test_unsendable),
        cmocka_unit_test(test_last_stream),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_rapid_reset),
        cmocka_unit_test(test_many_resets),
        cmocka_unit_test(test_raw_settings),
        cmocka_unit_test(test_raw_requests),
        cmocka_unit_test(test_raw_malformed),
        cmocka_unit_test(test_raw_bad_bodies),
        cmocka_unit_test(test_raw_errors),
        cmocka_unit_test(test_raw_preface),
        cmocka_unit_test(test_raw_floods),
        cmocka_unit_test(test_raw_bombs),
        cmocka_unit_test(test_raw_turns),
        cmocka_unit_test(test_raw_turns_and_resets),
        cmocka_unit_test(test_raw_blocked_peer),
        cmocka_unit_test(test_raw_no_flow_control),
        cmocka_unit_test(test_raw_made_resets),
        cmocka_unit_test(test_raw_deaf_peer),
        cmocka_unit_test(test_raw_late_goaway),
        cmocka_unit_test(test_raw_odd_frames),
        cmocka_unit_test(test_raw_client_leaves),
        cmocka_unit_test(test_raw_responses),
        cmocka_unit_test(test_raw_server_errors),
        cmocka_unit_test(test_raw_server_leaves),
        cmocka_unit_test(test_raw_late_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
