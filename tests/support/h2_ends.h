/* SPDX-License-Identifier: Apache-2.0
 *
 * Two wires of HTTP/2 that talk to each other in memory, their bytes cut in all ways, and what their
 * owners saw. */
#ifndef OUTFOX_TESTS_H2_ENDS_H
#define OUTFOX_TESTS_H2_ENDS_H

#include "base/random.h"
#include "support/unit.h"
#include "wire/h2_int.h"

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

static inline struct call *call_new(struct end *e, struct stream *s)
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

static inline void log_fields(struct buf *log, const struct head *h)
{
    for (uint32_t i = 0; i < h->n_fields; i++)
        buf_addf(log, " %.*s=%.*s", SLICE_ARG(h->fields[i].name), SLICE_ARG(h->fields[i].value));
}

static inline void saw_head(struct stream *s, const struct head *h, bool end)
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

static inline void saw_data(struct stream *s, slice bytes)
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

static inline void saw_end(struct stream *s, const struct head *trailers)
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

static inline void saw_abort(struct stream *s, enum wire_cut why, uint32_t code)
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

static inline void saw_sent(struct stream *s, size_t n)
{
    struct call *c = s->user;
    assert_false(c->aborted);
    assert_true(n > 0);
    c->sent += n;
    if (c->end->on_sent)
        c->end->on_sent(c);
}

static const struct wire_events events = {saw_head, saw_data, saw_end, saw_abort, saw_sent};

static inline void release(struct call *c)
{
    assert_non_null(c->s);
    stream_release(c->s);
    c->s = NULL;
}

static inline void end_init(struct end *e, struct pair *p, bool server)
{
    memset(e, 0, sizeof *e);
    e->out = CHAIN_INIT(&p->blocks);
    e->w = h2_new(server, &events, &p->limits, &e->out);
    e->w->owner = e;
}

static inline void end_deinit(struct end *e)
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

static inline struct pair *pair_new(int split, struct wire_limits limits)
{
    struct pair *p = mem_zero(sizeof *p);
    p->split = split;
    p->limits = limits;
    p->rng = (struct rng){(uint64_t)split + 7};
    end_init(&p->client, p, false);
    end_init(&p->server, p, true);
    return p;
}

static inline void pair_free(struct pair *p)
{
    end_deinit(&p->client);
    end_deinit(&p->server);
    blocks_deinit(&p->blocks);
    mem_free(p);
}

/* ---- bytes from one end to the other ---- */

static inline size_t piece_of(struct pair *p, size_t n)
{
    if (p->split == 0)
        return n;
    size_t most = p->split == 1 ? 1 : 1 + rng_below(&p->rng, 5000);
    return most < n ? most : n;
}

/* What is ready goes over; false when nothing was. */
static inline bool carry(struct pair *p, struct end *from, struct end *to)
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

static inline void run(struct pair *p)
{
    bool any = true;
    for (int rounds = 0; any; rounds++) {
        assert_true(rounds < 100000);
        any = carry(p, &p->client, &p->server);
        any |= carry(p, &p->server, &p->client);
    }
}

/* ---- calls ---- */

static inline struct head request(const char *method, const char *target)
{
    return (struct head){.method = slice_of(method),
                         .scheme = SLICE("http"),
                         .authority = SLICE("host:80"),
                         .target = slice_of(target)};
}

static inline struct head response(uint16_t status)
{
    return (struct head){.status = status};
}

static inline struct call *call_open(struct pair *p, struct head head, bool end)
{
    assert_true(wire_room(p->client.w) > 0);
    struct call *c = call_new(&p->client, stream_open(p->client.w));
    stream_head(c->s, &head, end);
    return c;
}

static inline struct call *call_get(struct pair *p)
{
    return call_open(p, request("GET", "/"), true);
}

/* The newest call that the server saw. */
static inline struct call *at_server(struct pair *p)
{
    run(p);
    assert_true(p->server.n_calls > 0);
    return p->server.calls[p->server.n_calls - 1];
}

static inline void check_log_at(const struct call *c, const char *want, int line)
{
    if (strcmp(buf_text(&c->log), want) != 0)
        fail_msg("line %d: saw\n%snot\n%s", line, buf_text(&c->log), want);
}
#define check_log(call, want) check_log_at(call, want, __LINE__)

static inline void check_body(const struct call *c, const char *want)
{
    assert_string_equal(buf_text(&c->in), want);
}

static inline void answer(struct call *c, struct head head, const char *body)
{
    stream_head(c->s, &head, !body);
    if (body) {
        stream_data(c->s, slice_of(body));
        stream_end(c->s, NULL);
    }
}

/* n bytes that tell where they stand. */
static inline void give(struct call *c, size_t from, size_t n)
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

static inline void check_given(const struct call *c, size_t n)
{
    assert_int_equal(c->in.n, n);
    for (size_t i = 0; i < n; i++)
        if (c->in.p[i] != (char)(i % 251))
            fail_msg("byte %zu is wrong", i);
}

/* Runs a test with bytes cut in each way. */
#define EACH_SPLIT(p) for (int split = 0; split < 3 && (p = pair_new(split, usual)); split++)

static inline void check_quiet(struct pair *p)
{
    assert_int_equal(p->client.w->n_streams, 0);
    assert_int_equal(p->server.w->n_streams, 0);
    assert_true(wire_idle(p->client.w) && wire_idle(p->server.w));
    assert_null(p->client.w->error);
    assert_null(p->server.w->error);
    assert_int_equal(p->client.w->finish, FINISH_NOT);
    assert_int_equal(p->server.w->finish, FINISH_NOT);
}

#endif
