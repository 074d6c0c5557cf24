// SPDX-License-Identifier: Apache-2.0
//
// HTTP/2 from a peer that sends anything. The first byte says which side the wire is on and how the
// bytes are cut; the next SCRIPT bytes, read in a circle, are what the owner of the streams and the
// connection below do; the rest is what the peer sends.
//
// 1. Events come in order: heads of status 1xx, a head, data, the end; nothing after the end or an
//    abort, and nothing of a stream that was let go.
// 2. More than WIRE_WINDOW bytes are never unread in a stream; what left was given.
// 3. Heads keep to the limits and hold nothing that would change its meaning in HTTP/1.1.
// 4. `out` and the number of streams stay within their bounds; a wire that was given up finishes.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/must.h"
#include "wire/wire.h"

enum {
    SCRIPT = 8,
    CALLS = 64, /* more are let go at once */
    OUT_MAX = 256 * 1024 + 32 * 1024,
    GIVEN_MAX = 256 * 1024,
};

// A stream as its owner sees it.
struct call {
    struct stream *s; // NULL: not in use
    bool head, ended, given_head, given_end, hoards, echoes;
    size_t unread, given, sent;
};

static struct {
    struct wire *w;
    struct chain out;
    struct blocks blocks;
    struct call calls[CALLS];
    const uint8_t *script;
    uint32_t at; // of the script
    bool more;   // the last pump put something into `out`
    bool done;   // the wire is about to be freed
} fuzz;

static const struct wire_limits limits = {
    .head_bytes = 2048, .head_fields = 16, .streams = 16, .resets = 8, .interims = 4};

static uint8_t next(void)
{
    // never the same twice around
    uint8_t byte = (uint8_t)(fuzz.script[fuzz.at % SCRIPT] + 37 * (fuzz.at / SCRIPT));
    fuzz.at++;
    return byte;
}

// ---- what the owner does ----

static void forget(struct call *c)
{
    *c = (struct call){0};
}

static struct call *call_new(struct stream *s)
{
    for (size_t i = 0; i < CALLS; i++)
        if (!fuzz.calls[i].s) {
            fuzz.calls[i] = (struct call){.s = s};
            s->user = &fuzz.calls[i];
            return &fuzz.calls[i];
        }
    return NULL;
}

static void give_head(struct call *c, bool end, uint16_t status)
{
    struct field f[] = {{SLICE("Content-Type"), SLICE("text/plain")},
                        {SLICE("Connection"), SLICE("close")},
                        {SLICE("x-empty"), {NULL, 0}}};
    struct head head = {
        .status = fuzz.w->server ? status : 0, .fields = f, .n_fields = next() % 4u};
    if (!fuzz.w->server) {
        static const char *const methods[] = {"GET", "HEAD", "POST", "OPTIONS"};
        head.method = slice_of(methods[next() % 4]);
        head.authority = SLICE("host");
        head.target = SLICE("/");
    }
    head.has_length = next() % 4 == 0;
    head.length = next();
    if (head.status >= 200 || head.status == 0) {
        c->given_end |= end && !c->given_head;
        c->given_head = true;
    }
    stream_head(c->s, &head, end);
}

static void give_data(struct call *c, size_t n)
{
    static const char bytes[40000];
    if (!c->given_head || c->given_end || c->given + n > GIVEN_MAX)
        return;
    c->given += n;
    stream_data(c->s, (slice){bytes, n});
}

static void give_end(struct call *c)
{
    struct field f[] = {{SLICE("Grpc-Status"), SLICE("0")}, {SLICE("te"), SLICE("gzip")}};
    struct head trailers = {.fields = f, .n_fields = next() % 3u};
    c->given_end |= c->given_head;
    stream_end(c->s, next() % 2 ? &trailers : NULL);
}

// One thing that an owner may do with a stream.
static void act(struct call *c)
{
    uint8_t what = next();
    switch (what % 16) {
    case 0:
    case 1: give_head(c, what & 16, 200); break;
    case 2: give_head(c, true, (uint16_t)(100 + 5 * next())); break;
    case 3: give_head(c, false, 100); break;
    case 4:
    case 5: give_data(c, next()); break;
    case 6: give_data(c, 156u * next()); break;
    case 7:
    case 8: give_end(c); break;
    case 9: c->hoards = !c->hoards; break;
    case 10: c->echoes = !c->echoes; break;
    case 11: {
        struct stream *s = c->s;
        forget(c);
        stream_abort(s, (enum wire_finish)(next() % 3), next() % 16u);
        break;
    }
    case 12:
        if (what < 64) {
            struct stream *s = c->s;
            forget(c);
            stream_goaway(s);
        }
        break;
    case 13: {
        struct stream *s = c->s;
        forget(c);
        stream_release(s);
        break;
    }
    case 14:
        stream_consume(c->s, c->unread);
        c->unread = 0;
        break;
    default: break;
    }
}

static void act_some(struct call *c)
{
    for (unsigned n = next() % 4u; n && c->s; n--)
        act(c);
}

// ---- what the owner is told ----

static void check_text(slice s, bool empty_is_fine)
{
    MUST(empty_is_fine || s.n > 0);
    for (size_t i = 0; i < s.n; i++)
        MUST(s.p[i] != '\r' && s.p[i] != '\n' && s.p[i] != 0);
}

static void check_fields(const struct head *h)
{
    static const char *const banned[] = {"connection",        "keep-alive", "proxy-connection",
                                         "transfer-encoding", "upgrade",    "http2-settings",
                                         "content-length",    "host"};
    size_t bytes = 0;
    MUST(h->n_fields <= limits.head_fields);
    for (uint32_t i = 0; i < h->n_fields; i++) {
        struct field f = h->fields[i];
        check_text(f.name, false);
        check_text(f.value, true);
        MUST(f.name.p[0] != ':');
        for (size_t k = 0; k < sizeof banned / sizeof *banned; k++)
            MUST(!slice_is(f.name, banned[k]));
        for (size_t k = 0; k < f.name.n; k++)
            MUST(f.name.p[k] > ' ' && f.name.p[k] != ':' &&
                 (f.name.p[k] < 'A' || f.name.p[k] > 'Z'));
        bytes += f.name.n + f.value.n;
    }
    MUST(bytes <= limits.head_bytes);
}

static void check_head(const struct head *h)
{
    check_fields(h);
    if (h->status) {
        MUST(!fuzz.w->server && h->status >= 100 && h->status != 101 && h->status <= 999);
        return;
    }
    MUST(fuzz.w->server);
    check_text(h->method, false);
    check_text(h->scheme, false);
    check_text(h->target, false);
    check_text(h->authority, true);
    MUST(slice_find(h->method, ' ') == h->method.n && slice_find(h->target, ' ') == h->target.n);
    MUST(!slice_is(h->method, "CONNECT"));
}

static void saw_head(struct stream *s, const struct head *h, bool end)
{
    struct call *c = s->user;
    MUST(s->wire == fuzz.w && !fuzz.done);
    if (!c && !(c = call_new(s))) {
        stream_release(s);
        return;
    }
    MUST(c->s == s && !c->head && !c->ended);
    check_head(h);
    MUST(!(end && h->status >= 100 && h->status < 200));
    c->head = h->status == 0 || h->status >= 200;
    c->ended = end;
    act_some(c);
}

static void saw_data(struct stream *s, slice bytes)
{
    struct call *c = s->user;
    MUST(c->s == s && c->head && !c->ended && bytes.n > 0);
    c->unread += bytes.n;
    MUST(c->unread <= WIRE_WINDOW);
    if (c->echoes && c->given_head && !c->given_end && c->given + bytes.n <= GIVEN_MAX) {
        c->given += bytes.n;
        stream_data(s, bytes);
    }
    if (!c->hoards) {
        stream_consume(s, c->unread);
        c->unread = 0;
    }
    act_some(c);
}

static void saw_end(struct stream *s, const struct head *trailers)
{
    struct call *c = s->user;
    MUST(c->s == s && c->head && !c->ended);
    c->ended = true;
    if (trailers)
        check_fields(trailers);
    act_some(c);
}

static void saw_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct call *c = s->user;
    MUST(c->s == s);
    MUST(why <= CUT_LIMIT && (code == 0 || why == CUT_RESET || why == CUT_REFUSED));
    forget(c);
    for (size_t i = 0; i < CALLS && next() % 4 == 0; i++) // others suffer
        if (fuzz.calls[i].s)
            act(&fuzz.calls[i]);
}

static void saw_sent(struct stream *s, size_t n)
{
    struct call *c = s->user;
    MUST(c->s == s && n > 0);
    c->sent += n;
    MUST(c->sent <= c->given);
    act_some(c);
}

static const struct wire_events events = {saw_head, saw_data, saw_end, saw_abort, saw_sent};

// ---- what the connection below does ----

static void check_wire(void)
{
    uint32_t held = 0;
    for (size_t i = 0; i < CALLS; i++)
        held += fuzz.calls[i].s != NULL;
    MUST(fuzz.w->n_streams >= held);
    MUST(wire_idle(fuzz.w) == (fuzz.w->n_streams == 0));
    MUST(wire_room(fuzz.w) <= 1000);
    MUST(!fuzz.w->finish || !held || !fuzz.w->error);
}

static void pump(bool all)
{
    wire_pump(fuzz.w);
    MUST(fuzz.out.n <= OUT_MAX);
    fuzz.more = fuzz.out.n > 0;
    if (all || next() % 4) {
        chain_clear(&fuzz.out);
        wire_wrote(fuzz.w);
    }
}

static void open_call(void)
{
    if (fuzz.w->server || wire_room(fuzz.w) == 0)
        return;
    struct stream *s = stream_open(fuzz.w);
    struct call *c = call_new(s);
    if (!c) {
        stream_release(s);
        return;
    }
    give_head(c, next() % 2, 0);
    act_some(c);
}

static void between(void)
{
    uint8_t what = next();
    if (what % 8 < 5)
        pump(false);
    if (what % 32 == 6)
        open_call();
    if (what == 7)
        wire_shutdown(fuzz.w);
    if (what == 15)
        wire_eof(fuzz.w);
    if (what == 23)
        wire_broken(fuzz.w);
    if (what % 8 == 5) {
        struct call *c = &fuzz.calls[next() % CALLS];
        if (c->s)
            act(c);
    }
    if (fuzz.w->resume)
        wire_resume(fuzz.w);
    check_wire();
}

static void feed(slice bytes, unsigned cut)
{
    static const size_t most[] = {SIZE_MAX, 1, 7, 0};
    while (bytes.n) {
        size_t n = most[cut] ? most[cut] : 1u + next();
        if (n > bytes.n)
            n = bytes.n;
        // a block of its own size, so that a read past its end is seen
        char *copy = mem_alloc(n);
        memcpy(copy, bytes.p, n);
        wire_feed(fuzz.w, (slice){copy, n});
        mem_free(copy);
        bytes = slice_from(bytes, n);
        check_wire();
        between();
    }
}

// What is pending leaves, as far as the peer allows it.
static void end(bool eof)
{
    do
        pump(true);
    while (fuzz.more);
    if (fuzz.w->error && !fuzz.w->closing)
        MUST(fuzz.w->finish);
    if (eof)
        wire_eof(fuzz.w);
    for (size_t i = 0; eof && i < CALLS; i++)
        MUST(!fuzz.calls[i].s);
    fuzz.done = true;
    wire_free(fuzz.w);
    chain_clear(&fuzz.out);
    blocks_deinit(&fuzz.blocks);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 + SCRIPT)
        return 0;
    bool server = data[0] & 1, begun = data[0] & 8;
    memset(&fuzz, 0, sizeof fuzz);
    fuzz.script = data + 1;
    fuzz.out = CHAIN_INIT(&fuzz.blocks);
    fuzz.w = h2_new(server, &events, &limits, &fuzz.out);
    if (!server)
        open_call();
    if (begun && server)
        wire_feed(fuzz.w, SLICE("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    if (begun)
        wire_feed(fuzz.w, SLICE("\0\0\0\4\0\0\0\0\0\0\0\0\4\1\0\0\0\0"));
    feed((slice){(const char *)data + 1 + SCRIPT, size - 1 - SCRIPT}, data[0] >> 1 & 3);
    end(data[0] & 16);
    return 0;
}
