/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/2, the ordinary life of a connection: messages, many at once, flow control, streams that are
 * cut, ends, limits. Two wires of ours talk to each other; hostile peers are in test_h2_hostile.c. */
#include "support/h2_ends.h"

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
