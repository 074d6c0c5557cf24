// SPDX-License-Identifier: Apache-2.0
//
// Any bytes, sent by a service to a client's wire of HTTP/1.1 that has a request open. The first
// bytes say which requests those are (one byte each, in turn), how the connection ends, and how the
// rest is cut into pieces.
//
// What must hold besides not crashing and not leaking:
// 1. Events come in their order, the last is the end or an abort, and a wire with an error is
//    finished.
// 2. However the bytes are cut, the events, the bytes out and the end are the same.
// 3. A complete response that the wire accepts, llhttp accepts too, and sees the same in it.
// 4. Such a response, passed on, is one response when it is read again, and the same one.

#include "fuzz/h1_fuzz.h"

enum { SCRIPT = 2, FIRST = SCRIPT + 2, BYTES_MAX = 32 << 10, SMALL = 2 << 10, REQUESTS_MAX = 6 };

// A request, by the bits of its byte of the script.
enum {
    KIND = 3,          // GET, HEAD, one that asks to upgrade, a POST that never ends
    KEEPS = 1 << 2,    // nothing is consumed
    RELEASES = 1 << 3, // at the head
    ABORTS = 1 << 4,   // at the head
    FOLLOWED = 1 << 5, // the next request is opened when this one is over
};
enum { KIND_GET, KIND_HEAD, KIND_UPGRADE, KIND_POST };

struct play {
    const uint8_t *script;
    uint32_t n_requests;
    struct messages messages;
    struct message *now;
    struct stream *stream;
    struct buf out;
    bool in_ended, out_ended, headed;
    bool roomy; // heads may be larger, as those are that were passed on
};

static uint8_t script_of(const struct play *p)
{
    return p->script[(p->n_requests - 1) % SCRIPT];
}

static void open_request(struct play *p, struct wire *w)
{
    struct field field = {SLICE("X-Name"), SLICE("value")};
    struct head h = {
        .target = SLICE("/"), .authority = SLICE("a"), .fields = &field, .n_fields = 1};
    if (p->n_requests == REQUESTS_MAX || !wire_room(w))
        return;
    p->n_requests++;
    uint8_t kind = script_of(p) & KIND;
    h.method = kind == KIND_HEAD ? SLICE("HEAD") : kind == KIND_POST ? SLICE("POST") : SLICE("GET");
    if (kind == KIND_UPGRADE)
        h.upgrade = SLICE("websocket");
    p->in_ended = p->headed = false;
    p->out_ended = kind != KIND_POST;
    p->stream = stream_open(w);
    p->stream->user = p;
    stream_head(p->stream, &h, p->out_ended);
    if (kind == KIND_POST)
        stream_data(p->stream, SLICE("hello"));
}

static void let_go(struct play *p)
{
    struct stream *s = p->stream;
    p->stream = NULL;
    uint8_t script = script_of(p);
    if (script & ABORTS && !p->in_ended)
        stream_abort(s, FINISH_RESET, 0);
    else
        stream_release(s);
    if (script & FOLLOWED)
        open_request(p, s->wire);
}

// ---- events ----

static struct play *play_of(struct stream *s)
{
    struct play *p = s->wire->owner;
    MUST(p->stream == s);
    return p;
}

static void in_ended(struct play *p, const struct head *trailers)
{
    MUST(!p->in_ended && p->headed);
    p->in_ended = true;
    if (!p->now->tunnel) {
        p->now->complete = true;
        if (trailers)
            p->now->trailers = head_copy(&p->messages.arena, trailers);
    }
    if (p->out_ended)
        let_go(p);
}

static void on_head(struct stream *s, const struct head *h, bool end)
{
    struct play *p = play_of(s);
    MUST(h->status >= 100 && h->status <= 999 && !p->headed);
    MUST(h->bodiless == (end || h->status < 200));
    check_fields(h);
    p->now = messages_add(&p->messages, h);
    p->now->to_head = (script_of(p) & KIND) == KIND_HEAD;
    if (h->status == 101) {
        MUST((script_of(p) & KIND) == KIND_UPGRADE);
        p->now->tunnel = true;
        p->out_ended = false;
        p->headed = true;
        stream_data(s, SLICE("tunnel"));
    } else if (h->status < 200) {
        MUST(!end);
        p->now->complete = true;
    } else {
        p->headed = true;
        if (!end && script_of(p) & (RELEASES | ABORTS))
            let_go(p);
        else if (end)
            in_ended(p, NULL);
    }
}

static void on_data(struct stream *s, slice bytes)
{
    struct play *p = play_of(s);
    MUST(bytes.n > 0 && !p->in_ended && p->headed);
    if (!p->now->tunnel)
        buf_add(&p->now->body, bytes);
    if (!(script_of(p) & KEEPS))
        stream_consume(s, bytes.n);
}

static void on_end(struct stream *s, const struct head *trailers)
{
    MUST(!trailers || trailers->n_fields > 0);
    check_fields(trailers);
    in_ended(play_of(s), trailers);
}

static void on_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct play *p = play_of(s);
    MUST(code == 0 && why != CUT_REFUSED && s->wire->finish != FINISH_NOT);
    p->stream = NULL;
}

static void on_sent(struct stream *s, size_t n)
{
    MUST(play_of(s)->stream == s && n > 0);
}

static void settle(struct wire *w)
{
    struct play *p = w->owner;
    if (w->resume)
        wire_resume(w);
    wire_pump(w);
    for (slice piece; (piece = chain_front(w->out)).n; chain_drop(w->out, piece.n))
        buf_add(&p->out, piece);
    wire_wrote(w);
    MUST(w->n_streams <= 1);
    MUST(!w->error || w->finish != FINISH_NOT);
}

// What came of it, as text.
static void play(struct play *p, slice bytes, uint64_t cuts, bool breaks, struct buf *result)
{
    static const struct wire_events events = {on_head, on_data, on_end, on_abort, on_sent};
    const struct wire_limits limits = {.head_bytes = p->roomy ? 4096 : 512,
                                       .head_fields = 20,
                                       .streams = 1,
                                       .resets = 1,
                                       .interims = 4};
    struct blocks blocks = {0};
    struct chain chain = CHAIN_INIT(&blocks);
    struct wire *w = h1_new(false, &events, &limits, &chain);
    w->owner = p;
    p->out = BUF_INIT(TEXT_MAX);
    open_request(p, w);
    feed_pieces(w, bytes, cuts, settle);
    if (breaks)
        wire_broken(w);
    else
        wire_eof(w);
    settle(w);
    MUST(!p->stream || p->in_ended);
    for (uint32_t i = 0; i < p->messages.list.n; i++)
        message_print(p->messages.list.at[i], result);
    buf_addf(result, "finish %d error %s streams %u\n", (int)w->finish,
             w->error ? w->error : "none", w->n_streams);
    buf_add(result, buf_slice(&p->out));
    wire_free(w);
    chain_clear(&chain);
    blocks_deinit(&blocks);
}

static void play_deinit(struct play *p)
{
    messages_deinit(&p->messages);
    buf_deinit(&p->out);
}

// ---- what must hold ----

static void check_cuts(const uint8_t *script, slice bytes, uint8_t seed, bool breaks)
{
    struct buf results[3];
    for (uint64_t i = 0; i < 3; i++) {
        struct play p = {.script = script};
        results[i] = BUF_INIT(TEXT_MAX);
        if (i != 1 || bytes.n <= SMALL)
            play(&p, bytes, i < 2 ? i : seed + 2u, breaks, &results[i]);
        else
            buf_add(&results[i], buf_slice(&results[0]));
        play_deinit(&p);
    }
    MUST(slice_eq(buf_slice(&results[0]), buf_slice(&results[1])));
    MUST(slice_eq(buf_slice(&results[0]), buf_slice(&results[2])));
    for (int i = 0; i < 3; i++)
        buf_deinit(&results[i]);
}

// All responses are to the same kind of request here, as llhttp knows nothing of requests.
static void check_against_llhttp(const struct messages *ours, slice bytes, bool to_head)
{
    struct witness w = {.to_head = to_head};
    witness_read(&w, false, bytes, true);
    for (uint32_t i = 0; i < ours->list.n && ours->list.at[i]->complete; i++) {
        if (i + 1 >= w.messages.list.n && witness_parts(&w))
            break;
        MUST(i < w.messages.list.n);
        check_witness(ours->list.at[i], w.messages.list.at[i]);
    }
    witness_deinit(&w);
}

static void check_passing_on(const struct message *m)
{
    struct buf bytes = BUF_INIT(TEXT_MAX), before = BUF_INIT(TEXT_MAX), after = BUF_INIT(TEXT_MAX);
    struct buf result = BUF_INIT(TEXT_MAX);
    const uint8_t script[SCRIPT] = {m->to_head ? KIND_HEAD : KIND_GET};
    struct play p = {.script = script, .roomy = true};
    message_pass_on(m, &bytes);
    play(&p, buf_slice(&bytes), 0, false, &result);
    MUST(p.messages.list.n == 1);
    struct message same = *m;
    if (m->head->has_length)
        same.trailers = NULL;
    message_print(&same, &before);
    message_print(p.messages.list.at[0], &after);
    MUST(slice_eq(buf_slice(&before), buf_slice(&after)));
    play_deinit(&p);
    buf_deinit(&bytes);
    buf_deinit(&before);
    buf_deinit(&after);
    buf_deinit(&result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < FIRST || size > BYTES_MAX)
        return 0;
    slice bytes = {(const char *)data + FIRST, size - FIRST};
    check_cuts(data, bytes, data[SCRIPT], data[SCRIPT + 1] & 1);

    bool to_head = (data[0] & KIND) == KIND_HEAD;
    const uint8_t script[SCRIPT] = {(to_head ? KIND_HEAD : KIND_GET) | FOLLOWED,
                                    (to_head ? KIND_HEAD : KIND_GET) | FOLLOWED};
    struct buf result = BUF_INIT(TEXT_MAX);
    struct play p = {.script = script};
    play(&p, bytes, 0, false, &result);
    check_against_llhttp(&p.messages, bytes, to_head);
    for (uint32_t i = 0; i < p.messages.list.n && i < 8; i++) {
        const struct message *m = p.messages.list.at[i];
        if (m->complete && m->head->status >= 200)
            check_passing_on(m);
    }
    play_deinit(&p);
    buf_deinit(&result);
    return 0;
}
