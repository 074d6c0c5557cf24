// SPDX-License-Identifier: Apache-2.0
//
// Any bytes, sent by a client to a server's wire of HTTP/1.1. The first bytes say how its owner
// deals with the requests (one byte each, in turn) and how the rest is cut into pieces.
//
// What must hold besides not crashing and not leaking:
// 1. Events come in their order, the last is the end or an abort, and a wire with an error is
//    finished.
// 2. However the bytes are cut, the events, the bytes out and the end are the same.
// 3. A complete request that the wire accepts, llhttp accepts too, and sees the same in it.
// 4. Such a request, passed on, is one request when it is read again, and the same one.

#include "fuzz/h1_fuzz.h"

enum { SCRIPT = 4, BYTES_MAX = 32 << 10, SMALL = 2 << 10 };

// What an owner does with a request, by the bits of its byte of the script.
enum {
    ANSWER = 7,        // see answers
    AT_HEAD = 1 << 3,  // at the head, not at the end
    LATE = 1 << 4,     // when all bytes are there
    KEEPS = 1 << 5,    // nothing is consumed
    RELEASES = 1 << 6, // at once after what it did
};

enum {
    ANSWER_LENGTH,
    ANSWER_CHUNKS,
    ANSWER_EMPTY,
    ANSWER_NONE,
    ANSWER_SHORT,
    ANSWER_INTERIM,
    ANSWER_ABORT,
    ANSWER_UPGRADE
};

struct play {
    const uint8_t *script; // NULL: everything is answered at its end
    struct messages messages;
    struct message *now;
    struct stream *stream; // the one that is open
    struct buf out;
    bool in_ended, out_ended, answered;
    bool roomy; // heads may be larger, as those are that were passed on
    size_t given, sent;
};

static uint8_t script_of(const struct play *p)
{
    return p->script && p->messages.list.n ? p->script[(p->messages.list.n - 1) % SCRIPT]
                                           : ANSWER_LENGTH;
}

static void let_go(struct play *p)
{
    struct stream *s = p->stream;
    p->stream = NULL;
    stream_release(s);
}

static void send_head(struct play *p, uint16_t status, uint64_t length, bool end)
{
    struct field field = {SLICE("X-Name"), SLICE("value")};
    struct head h = {.status = status,
                     .fields = &field,
                     .n_fields = 1,
                     .has_length = length > 0,
                     .length = length};
    if (status == 101)
        h.upgrade = p->now->head->upgrade;
    stream_head(p->stream, &h, end);
}

static void send_body(struct play *p, slice bytes, const struct head *trailers)
{
    p->given += bytes.n;
    stream_data(p->stream, bytes);
    stream_end(p->stream, trailers);
}

static void answer_once(struct play *p)
{
    struct field field = {SLICE("x-sum"), SLICE("1")};
    struct head trailers = {.fields = &field, .n_fields = 1};
    p->out_ended = true;
    switch (script_of(p) & ANSWER) {
    case ANSWER_NONE: p->out_ended = false; return;
    case ANSWER_EMPTY: send_head(p, 404, 0, true); return;
    case ANSWER_CHUNKS:
        send_head(p, 200, 0, false);
        send_body(p, SLICE("hello"), &trailers);
        return;
    case ANSWER_SHORT:
        send_head(p, 200, 9, false);
        send_body(p, SLICE("hello"), NULL);
        return;
    case ANSWER_ABORT: {
        struct stream *s = p->stream;
        p->stream = NULL;
        stream_abort(s, p->given & 1 ? FINISH_RESET : FINISH_CLOSE, 0);
        return;
    }
    case ANSWER_INTERIM: send_head(p, 100, 0, false); break;
    case ANSWER_UPGRADE:
        if (p->now->head->upgrade.n && p->in_ended) {
            p->in_ended = p->out_ended = false;
            p->now->tunnel = true;
            send_head(p, 101, 0, false);
            stream_data(p->stream, SLICE("tunnel"));
            p->given += 6;
            return;
        }
        break;
    default: break;
    }
    send_head(p, 200, 2, false);
    send_body(p, SLICE("ok"), NULL);
}

static void answer(struct play *p)
{
    if (!p->stream || p->answered)
        return;
    p->answered = true;
    answer_once(p);
    if (p->stream && ((script_of(p) & RELEASES) || (p->in_ended && p->out_ended)))
        let_go(p);
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
    MUST(!p->in_ended);
    p->in_ended = true;
    if (!p->now->tunnel) {
        p->now->complete = true;
        if (trailers)
            p->now->trailers = head_copy(&p->messages.arena, trailers);
    }
    if (!(script_of(p) & (AT_HEAD | LATE)))
        answer(p);
    if (p->stream && p->in_ended && p->out_ended)
        let_go(p);
}

static void on_head(struct stream *s, const struct head *h, bool end)
{
    struct play *p = s->wire->owner;
    MUST(!p->stream && s->wire->n_streams == 1);
    MUST(h->status == 0 && h->method.n && h->target.n && h->bodiless == end);
    MUST(!end || !h->has_length || h->length == 0);
    check_fields(h);
    s->user = p;
    p->stream = s;
    p->now = messages_add(&p->messages, h);
    p->in_ended = p->out_ended = p->answered = false;
    p->given = p->sent = 0;
    if ((script_of(p) & (AT_HEAD | LATE)) == AT_HEAD)
        answer(p);
    if (end && p->stream == s && s->user)
        in_ended(p, NULL);
}

static void on_data(struct stream *s, slice bytes)
{
    struct play *p = play_of(s);
    MUST(bytes.n > 0 && !p->in_ended);
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
    struct play *p = play_of(s);
    p->sent += n;
    MUST(n > 0 && p->sent <= p->given);
}

static void settle(struct wire *w)
{
    struct play *p = w->owner;
    do {
        if (w->resume)
            wire_resume(w);
        wire_pump(w);
        for (slice piece; (piece = chain_front(w->out)).n; chain_drop(w->out, piece.n))
            buf_add(&p->out, piece);
        wire_wrote(w);
    } while (w->resume && w->finish == FINISH_NOT);
    MUST(w->n_streams <= 1);
    MUST(!w->error || w->finish != FINISH_NOT);
}

// What came of it, as text.
static void play(struct play *p, slice bytes, uint64_t cuts, struct buf *result)
{
    static const struct wire_events events = {on_head, on_data, on_end, on_abort, on_sent};
    const struct wire_limits limits = {.head_bytes = p->roomy ? 4096 : 512,
                                       .head_fields = 20,
                                       .streams = 1,
                                       .resets = 1,
                                       .interims = 4};
    struct blocks blocks = {0};
    struct chain chain = CHAIN_INIT(&blocks);
    struct wire *w = h1_new(true, &events, &limits, &chain);
    w->owner = p;
    p->out = BUF_INIT(TEXT_MAX);
    feed_pieces(w, bytes, cuts, settle);
    for (uint32_t n = UINT32_MAX; p->stream && n != p->messages.list.n;) {
        n = p->messages.list.n; // those that are answered late, and those that waited for them
        answer(p);
        settle(w);
    }
    wire_eof(w);
    settle(w);
    MUST(p->stream == NULL || p->now->tunnel || p->in_ended);
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

static void check_cuts(const uint8_t *script, slice bytes, uint8_t seed)
{
    struct buf results[3];
    for (uint64_t i = 0; i < 3; i++) {
        struct play p = {.script = script};
        results[i] = BUF_INIT(TEXT_MAX);
        if (i != 1 || bytes.n <= SMALL)
            play(&p, bytes, i < 2 ? i : seed + 2u, &results[i]);
        else
            buf_add(&results[i], buf_slice(&results[0]));
        play_deinit(&p);
    }
    MUST(slice_eq(buf_slice(&results[0]), buf_slice(&results[1])));
    MUST(slice_eq(buf_slice(&results[0]), buf_slice(&results[2])));
    for (int i = 0; i < 3; i++)
        buf_deinit(&results[i]);
}

static void check_against_llhttp(const struct messages *ours, slice bytes)
{
    struct witness w = {0};
    witness_read(&w, true, bytes, false);
    for (uint32_t i = 0; i < ours->list.n && ours->list.at[i]->complete; i++) {
        if (i + 1 >= w.messages.list.n && witness_parts(&w))
            break;
        MUST(i < w.messages.list.n);
        const struct message *m = ours->list.at[i], *theirs = w.messages.list.at[i];
        check_witness(m, theirs);
        slice url = theirs->head->target, target = m->head->target;
        if (url.p[0] != '/' && !slice_is(url, "*")) { // absolute: its end is our target
            MUST(slice_starts(url, SLICE("http")) || slice_starts(url, SLICE("HTTP")) || url.n > 8);
            if (url.n >= target.n && !slice_is(target, "/"))
                url = slice_from(url, url.n - target.n);
            else
                url = target;
        }
        MUST(slice_eq(url, target));
    }
    witness_deinit(&w);
}

static void check_passing_on(const struct message *m)
{
    struct buf bytes = BUF_INIT(TEXT_MAX), before = BUF_INIT(TEXT_MAX), after = BUF_INIT(TEXT_MAX);
    struct buf result = BUF_INIT(TEXT_MAX);
    struct play p = {.roomy = true};
    message_pass_on(m, &bytes);
    play(&p, buf_slice(&bytes), 0, &result);
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
    if (size < SCRIPT + 1 || size > BYTES_MAX)
        return 0;
    slice bytes = {(const char *)data + SCRIPT + 1, size - SCRIPT - 1};
    check_cuts(data, bytes, data[SCRIPT]);

    struct buf result = BUF_INIT(TEXT_MAX);
    struct play p = {0};
    play(&p, bytes, 0, &result);
    check_against_llhttp(&p.messages, bytes);
    for (uint32_t i = 0; i < p.messages.list.n && i < 8; i++)
        if (p.messages.list.at[i]->complete)
            check_passing_on(p.messages.list.at[i]);
    play_deinit(&p);
    buf_deinit(&result);
    return 0;
}
