/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/2, hostile and merely odd peers: a wire of ours talks to a raw peer, whose frames the test
 * writes and reads one by one; or to one that cancels all it has asked for. */
#include "support/h2_ends.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- a flood of cancelled streams ---- */

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
        cmocka_unit_test(test_rapid_reset),       cmocka_unit_test(test_many_resets),
        cmocka_unit_test(test_raw_settings),      cmocka_unit_test(test_raw_requests),
        cmocka_unit_test(test_raw_malformed),     cmocka_unit_test(test_raw_bad_bodies),
        cmocka_unit_test(test_raw_errors),        cmocka_unit_test(test_raw_preface),
        cmocka_unit_test(test_raw_floods),        cmocka_unit_test(test_raw_bombs),
        cmocka_unit_test(test_raw_turns),         cmocka_unit_test(test_raw_turns_and_resets),
        cmocka_unit_test(test_raw_blocked_peer),  cmocka_unit_test(test_raw_no_flow_control),
        cmocka_unit_test(test_raw_made_resets),   cmocka_unit_test(test_raw_deaf_peer),
        cmocka_unit_test(test_raw_late_goaway),   cmocka_unit_test(test_raw_odd_frames),
        cmocka_unit_test(test_raw_client_leaves), cmocka_unit_test(test_raw_responses),
        cmocka_unit_test(test_raw_server_errors), cmocka_unit_test(test_raw_server_leaves),
        cmocka_unit_test(test_raw_late_request),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
