// SPDX-License-Identifier: Apache-2.0
//
// What the two targets of HTTP/1.1 share: messages that a wire brought, as values that can be
// compared, passed on and read again, and what llhttp says of the same bytes.
#ifndef OUTFOX_TESTS_H1_FUZZ_H
#define OUTFOX_TESTS_H1_FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include <llhttp.h>

#include "base/random.h"
#include "base/vec.h"
#include "fuzz/must.h"
#include "wire/wire.h"

enum { TEXT_MAX = 4 << 20 };

// One message; of a response also the interim ones before it are messages.
struct message {
    struct head *head;
    struct buf body;
    struct head *trailers;
    bool complete, tunnel;
    bool to_head; // a response to HEAD
};

struct messages {
    struct arena arena;
    VEC(struct message *) list;
};

static inline struct message *messages_add(struct messages *m, const struct head *h)
{
    struct message *one = arena_zero(&m->arena, sizeof *one);
    one->head = head_copy(&m->arena, h);
    one->body = BUF_INIT(TEXT_MAX);
    vec_push(&m->list, one);
    return one;
}

static inline void messages_deinit(struct messages *m)
{
    for (uint32_t i = 0; i < m->list.n; i++)
        buf_deinit(&m->list.at[i]->body);
    vec_deinit(&m->list);
    arena_deinit(&m->arena);
}

static inline void print_fields(const struct head *h, struct buf *out)
{
    for (uint32_t i = 0; h && i < h->n_fields; i++) {
        buf_add(out, h->fields[i].name);
        buf_addc(out, ':');
        buf_add(out, h->fields[i].value);
        buf_addc(out, '\n');
    }
}

// Fields that frame a message or concern one connection never reach an owner.
static inline void check_fields(const struct head *h)
{
    static const char *const names[] = {
        "connection",     "keep-alive",       "upgrade",           "te",
        "content-length", "proxy-connection", "transfer-encoding", "http2-settings"};
    for (uint32_t i = 0; h && i < h->n_fields; i++) {
        MUST(h->fields[i].name.n > 0);
        for (size_t k = 0; k < sizeof names / sizeof *names; k++)
            MUST(!slice_eq_nocase(h->fields[i].name, slice_of(names[k])));
    }
}

// Everything of a message that is the same on whatever connection it travels.
static inline void message_print(const struct message *m, struct buf *out)
{
    const struct head *h = m->head;
    buf_addf(out, "%d %.*s %.*s %.*s|%.*s%s%s\n", h->status, SLICE_ARG(h->method),
             SLICE_ARG(h->target), SLICE_ARG(h->authority), SLICE_ARG(h->upgrade),
             h->expects ? " expects" : "", h->te ? " te" : "");
    print_fields(h, out);
    buf_addc(out, '\n');
    buf_add(out, buf_slice(&m->body));
    buf_addc(out, '\n');
    print_fields(m->trailers, out);
    buf_adds(out, m->complete ? "complete\n" : "cut\n");
}

// ---- bytes in pieces ----

// cuts: 0 whole, 1 byte by byte, else a seed. Each piece has a block of its own, freed at once.
static inline void feed_pieces(struct wire *w, slice bytes, uint64_t cuts,
                               void (*settle)(struct wire *w))
{
    struct rng rng = {cuts};
    while (bytes.n) {
        size_t n = cuts == 0 ? bytes.n : cuts == 1 ? 1 : 1 + rng_below(&rng, 1u << (cuts & 7));
        if (n > bytes.n)
            n = bytes.n;
        char *piece = mem_alloc(n);
        memcpy(piece, bytes.p, n);
        wire_feed(w, (slice){piece, n});
        mem_free(piece);
        settle(w);
        bytes = slice_from(bytes, n);
    }
}

// ---- passing on ----

static inline void pass_head(struct stream *s, const struct head *h, bool end)
{
    (void)h, (void)end;
    s->user = s;
    *(struct stream **)s->wire->owner = s;
}

static inline void pass_data(struct stream *s, slice bytes)
{
    (void)s, (void)bytes;
}

static inline void pass_end(struct stream *s, const struct head *trailers)
{
    (void)s, (void)trailers;
}

static inline void pass_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    (void)s, (void)why, (void)code;
}

static inline void pass_sent(struct stream *s, size_t n)
{
    (void)s, (void)n;
}

// Appends the bytes that a wire sends when it is given this message.
static inline void message_pass_on(const struct message *m, struct buf *out)
{
    static const struct wire_events events = {pass_head, pass_data, pass_end, pass_abort,
                                              pass_sent};
    static const struct wire_limits limits = {1 << 20, 512, 1, 1, 1};
    struct blocks blocks = {0};
    struct chain chain = CHAIN_INIT(&blocks);
    struct stream *stream = NULL;
    bool response = m->head->status != 0;
    struct wire *w = h1_new(response, &events, &limits, &chain);
    w->owner = &stream;
    if (response)
        wire_feed(w, slice_of(m->to_head ? "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"
                                         : "GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
    else
        stream = stream_open(w);
    MUST(stream && chain.n == 0);
    stream_head(stream, m->head, m->head->bodiless);
    if (!m->head->bodiless) {
        stream_data(stream, buf_slice(&m->body));
        stream_end(stream, m->trailers);
    }
    for (slice piece; (piece = chain_front(&chain)).n; chain_drop(&chain, piece.n))
        buf_add(out, piece);
    wire_free(w);
    blocks_deinit(&blocks);
}

// ---- what llhttp says ----

struct witness {
    llhttp_t parser;
    bool to_head; // responses are to HEAD
    struct messages messages;
    bool apart; // something came that llhttp and we take differently, see witness_parts
    struct buf url, name, value;
    VEC(struct field) fields;
};

static inline struct witness *witness_of(llhttp_t *p)
{
    return p->data;
}

static inline int saw_begin(llhttp_t *p)
{
    struct witness *w = witness_of(p);
    buf_clear(&w->url);
    buf_clear(&w->name);
    buf_clear(&w->value);
    w->fields.n = 0;
    return 0;
}

static inline int saw_url(llhttp_t *p, const char *at, size_t n)
{
    buf_add(&witness_of(p)->url, (slice){at, n});
    return 0;
}

static inline int saw_name(llhttp_t *p, const char *at, size_t n)
{
    static const char *const names[] = {"content-length", "transfer-encoding", "connection",
                                        "proxy-connection", "upgrade"};
    slice name = {at, n};
    buf_add(&witness_of(p)->name, name);
    for (size_t i = 0; p->flags & F_TRAILING && i < sizeof names / sizeof *names; i++)
        if (slice_eq_nocase(name, slice_of(names[i])))
            witness_of(p)->apart = true;
    return 0;
}

static inline int saw_value(llhttp_t *p, const char *at, size_t n)
{
    buf_add(&witness_of(p)->value, (slice){at, n});
    return 0;
}

static inline int saw_field(llhttp_t *p)
{
    struct witness *w = witness_of(p);
    struct arena *a = &w->messages.arena;
    vec_push(&w->fields, (struct field){slice_copy(a, buf_slice(&w->name)),
                                        slice_trim(slice_copy(a, buf_slice(&w->value)))});
    buf_clear(&w->name);
    buf_clear(&w->value);
    return 0;
}

static inline int saw_head(llhttp_t *p)
{
    struct witness *w = witness_of(p);
    struct head h = {.fields = w->fields.at, .n_fields = w->fields.n};
    if (p->type == HTTP_RESPONSE)
        h.status = p->status_code;
    else
        h.method = slice_of(llhttp_method_name((llhttp_method_t)p->method));
    h.target = buf_slice(&w->url);
    messages_add(&w->messages, &h);
    // llhttp leaves it to its user which responses have no body
    return w->to_head || h.status / 100 == 1 || h.status == 204 || h.status == 304;
}

static inline int saw_body(llhttp_t *p, const char *at, size_t n)
{
    buf_add(&vec_last(&witness_of(p)->messages.list)->body, (slice){at, n});
    return 0;
}

static inline int saw_end(llhttp_t *p)
{
    vec_last(&witness_of(p)->messages.list)->complete = true;
    return 0;
}

static inline int saw_extension(llhttp_t *p, const char *at, size_t n)
{
    (void)at, (void)n;
    witness_of(p)->apart = true;
    return 0;
}

// Reads all of the bytes, up to what llhttp refuses. `ends`: the connection ends behind them.
static inline void witness_read(struct witness *w, bool request, slice bytes, bool ends)
{
    static const llhttp_settings_t settings = {
        .on_message_begin = saw_begin,
        .on_url = saw_url,
        .on_header_field = saw_name,
        .on_header_value = saw_value,
        .on_header_value_complete = saw_field,
        .on_headers_complete = saw_head,
        .on_body = saw_body,
        .on_chunk_extension_name = saw_extension,
        .on_message_complete = saw_end,
    };
    w->url = w->name = w->value = BUF_INIT(TEXT_MAX);
    llhttp_init(&w->parser, request ? HTTP_REQUEST : HTTP_RESPONSE, &settings);
    w->parser.data = w;
    const char *at = bytes.p, *end = bytes.p + bytes.n;
    llhttp_errno_t code;
    while ((code = llhttp_execute(&w->parser, at, (size_t)(end - at))) == HPE_PAUSED_UPGRADE) {
        at = llhttp_get_error_pos(&w->parser);
        llhttp_resume_after_upgrade(&w->parser);
    }
    if (code == HPE_OK && ends)
        llhttp_finish(&w->parser);
}

// Do llhttp and we part ways here on purpose? It refuses extensions of chunks that are well formed
// (8.1 fails at the second one), which we drop; it lets trailers frame the message, which we do
// not; and it lets an interim response close the connection, which only the final one can.
static inline bool witness_parts(const struct witness *w)
{
    const char *why = llhttp_get_error_reason(&w->parser);
    bool interim = w->messages.list.n && vec_last(&w->messages.list)->head->status / 100 == 1;
    return w->apart || (why && strstr(why, "chunk extension")) ||
           (interim && llhttp_get_errno(&w->parser) == HPE_CLOSED_CONNECTION);
}

static inline void witness_deinit(struct witness *w)
{
    buf_deinit(&w->url);
    buf_deinit(&w->name);
    buf_deinit(&w->value);
    vec_deinit(&w->fields);
    messages_deinit(&w->messages);
}

// A complete message of ours, as llhttp sees it. Our fields are those of llhttp without some.
static inline void check_witness(const struct message *ours, const struct message *theirs)
{
    MUST(theirs->complete);
    MUST(slice_eq(buf_slice(&ours->body), buf_slice(&theirs->body)));
    MUST(ours->head->status == theirs->head->status);
    MUST(slice_eq(ours->head->method, theirs->head->method));
    uint32_t at = 0;
    for (uint32_t i = 0; i < ours->head->n_fields; i++, at++) {
        const struct field *f = &ours->head->fields[i], *g = theirs->head->fields;
        while (at < theirs->head->n_fields &&
               !(slice_eq(g[at].name, f->name) && slice_eq(g[at].value, f->value)))
            at++;
        MUST(at < theirs->head->n_fields);
    }
}

#endif
