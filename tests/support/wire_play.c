/* SPDX-License-Identifier: Apache-2.0
 *
 * 1. Each piece of bytes lies in a block of its own that is freed at once: a wire that keeps text
 *    too long, or reads too far, is caught by the sanitizer.
 * 2. What goes out is taken after each piece, as a connection does whose peer reads at once. */
#include "support/wire_play.h"

#include "base/random.h"
#include "support/wire_frames.h"
#include "support/wire_text.h"

enum { TEXT_MAX = 16 << 20 };

/* ---- messages as text ---- */

static void print_fields(const struct head *h, struct buf *out)
{
    for (uint32_t i = 0; h && i < h->n_fields; i++) {
        buf_adds(out, " | ");
        buf_add(out, h->fields[i].name);
        buf_adds(out, ": ");
        buf_add(out, h->fields[i].value);
    }
}

static void print_start(const struct head *h, struct buf *out)
{
    if (h->status) {
        buf_addf(out, "head %u", h->status);
        if (h->reason.n)
            buf_addf(out, " \"%.*s\"", SLICE_ARG(h->reason));
        return;
    }
    buf_adds(out, "head ");
    buf_add(out, h->method);
    buf_addc(out, ' ');
    buf_add(out, h->target);
    buf_addc(out, ' ');
    buf_add(out, h->authority.n ? h->authority : SLICE("-"));
}

static void print_marks(const struct head *h, struct buf *out)
{
    if (h->upgrade.n)
        buf_addf(out, " upgrade=%.*s", SLICE_ARG(h->upgrade));
    if (h->expects)
        buf_adds(out, " expects");
    if (h->te)
        buf_adds(out, " te");
}

static void print_head(const struct head *h, bool end, struct buf *out)
{
    print_start(h, out);
    if (h->scheme.n && !slice_is(h->scheme, "http"))
        buf_addf(out, " scheme=%.*s", SLICE_ARG(h->scheme));
    if (h->has_length)
        buf_addf(out, " length=%llu", (unsigned long long)h->length);
    print_marks(h, out);
    if (h->http10)
        buf_adds(out, " http10");
    bool bodiless = end || (h->status && h->status < 200);
    if (h->bodiless != bodiless)
        buf_adds(out, bodiless ? " not-bodiless" : " bodiless");
    if (end)
        buf_adds(out, " end");
    print_fields(h, out);
}

/* The head without what each hop says in its own way: the reason, and TE, which is a field in
 * HTTP/2. */
static struct head hopless(struct arena *a, const struct head *h)
{
    struct head copy = *h;
    struct field *fields = arena_alloc(a, h->n_fields * sizeof *fields + 1);
    copy.reason = (slice){0};
    copy.fields = fields;
    copy.n_fields = 0;
    for (uint32_t i = 0; i < h->n_fields; i++) {
        if (slice_eq_nocase(h->fields[i].name, SLICE("te")))
            copy.te = true;
        else
            fields[copy.n_fields++] = h->fields[i];
    }
    return copy;
}

void played_print(const struct played *s, struct buf *out)
{
    if (!s->head)
        return;
    struct head h = hopless(&s->play->arena, s->head);
    print_start(&h, out);
    print_marks(&h, out);
    print_fields(&h, out);
    buf_adds(out, "\nbody ");
    buf_add(out, buf_slice(&s->body));
    buf_adds(out, "\nend");
    print_fields(s->trailers, out);
    buf_adds(out, s->complete ? "\n" : " is missing\n");
}

/* ---- what the owner does ---- */

static void release_when_done(struct played *s)
{
    if (!s->stream || !s->in_ended || !s->out_ended || s->play->given->hands_off)
        return;
    struct stream *stream = s->stream;
    s->stream = NULL;
    stream_release(stream);
}

static slice unescaped(struct wire_play *p, slice text)
{
    struct buf b = BUF_INIT(TEXT_MAX);
    if (!text_unescape(text, &b))
        buf_adds(&p->events, "an action is malformed\n");
    slice copy = slice_copy(&p->arena, buf_slice(&b));
    buf_deinit(&b);
    return copy;
}

/* The fields behind the bars of an action. */
static void read_fields(struct wire_play *p, slice parts, struct head *h)
{
    enum { FIELDS_MAX = 64 };
    struct field *fields = arena_alloc(&p->arena, FIELDS_MAX * sizeof *fields);
    slice part;
    h->fields = fields;
    while (h->n_fields < FIELDS_MAX && text_cut_bar(&parts, &part)) {
        slice name, value;
        if (!text_cut_name(part, &name, &value))
            continue;
        fields[h->n_fields++] = (struct field){unescaped(p, name), unescaped(p, value)};
    }
}

static void read_mark(struct wire_play *p, slice word, struct head *h, bool *end)
{
    if (slice_is(word, "end"))
        *end = true;
    else if (slice_is(word, "bodiless"))
        h->bodiless = true;
    else if (slice_is(word, "expects"))
        h->expects = true;
    else if (slice_is(word, "te"))
        h->te = true;
    else if (slice_starts(word, SLICE("upgrade=")))
        h->upgrade = slice_from(word, 8);
    else if (slice_starts(word, SLICE("scheme=")))
        h->scheme = slice_from(word, 7);
    else if (slice_starts(word, SLICE("length=")))
        h->has_length = slice_to_u64(slice_from(word, 7), UINT64_MAX, &h->length);
    else
        buf_addf(&p->events, "what is %.*s?\n", SLICE_ARG(word));
}

/* `200 length=2 end | a: b` or `GET /x example.org end | a: b` */
static void act_head(struct played *s, slice text)
{
    struct wire_play *p = s->play;
    struct head h = {.scheme = SLICE("http")};
    slice words, word;
    uint64_t status;
    bool end = false;
    text_cut_bar(&text, &words);
    slice_word(&words, &word);
    if (slice_to_u64(word, 999, &status)) {
        h.status = (uint16_t)status;
    } else {
        h.method = word;
        slice_word(&words, &h.target);
        slice_word(&words, &h.authority);
        h.target = unescaped(p, h.target);
        s->head_only = slice_is(h.method, "HEAD");
    }
    while (slice_word(&words, &word))
        read_mark(p, word, &h, &end);
    read_fields(p, text, &h);
    s->tunnel |= h.status == 101;
    s->in_ended &= h.status != 101; /* now the tunnel's bytes follow */
    s->out_ended |= end;
    stream_head(s->stream, &h, end);
}

static void act_data(struct played *s, slice text)
{
    slice bytes = unescaped(s->play, slice_trim(text));
    s->given += bytes.n;
    stream_data(s->stream, bytes);
}

static void act_end(struct played *s, slice text)
{
    struct head trailers = {0};
    slice front;
    text_cut_bar(&text, &front);
    read_fields(s->play, text, &trailers);
    s->out_ended = true;
    stream_end(s->stream, trailers.n_fields ? &trailers : NULL);
}

static void act_abort(struct played *s, slice text)
{
    struct stream *stream = s->stream;
    slice how;
    uint64_t code = 0;
    slice_word(&text, &how);
    text = slice_trim(text);
    if (text.n && !slice_to_u64(text, UINT32_MAX, &code))
        buf_adds(&s->play->events, "abort with what?\n");
    s->stream = NULL;
    stream_abort(stream, slice_is(how, "reset") ? FINISH_RESET : FINISH_CLOSE, (uint32_t)code);
}

static void act_goaway(struct played *s, slice text)
{
    struct stream *stream = s->stream;
    (void)text;
    s->stream = NULL;
    stream_goaway(stream);
}

static void act_release(struct played *s, slice text)
{
    struct stream *stream = s->stream;
    (void)text;
    s->stream = NULL;
    stream_release(stream);
}

static void act_consume(struct played *s, slice text)
{
    uint64_t n = 0;
    if (slice_to_u64(slice_trim(text), UINT32_MAX, &n))
        stream_consume(s->stream, (size_t)n);
}

static const struct {
    const char *word;
    void (*act)(struct played *s, slice text);
} acts[] = {
    {"head", act_head},       {"data", act_data},     {"end", act_end},
    {"abort", act_abort},     {"goaway", act_goaway}, {"release", act_release},
    {"consume", act_consume},
};

static struct played *new_played(struct wire_play *p, struct stream *stream)
{
    struct played *s = arena_zero(&p->arena, sizeof *s);
    s->play = p;
    s->stream = stream;
    s->body = s->events = BUF_INIT(TEXT_MAX);
    vec_push(&p->streams, s);
    s->number = p->streams.n;
    stream->user = s;
    return s;
}

/* Returns the stream that later actions of a list are for. */
static struct played *act_one(struct wire_play *p, struct played *s, slice text)
{
    slice word, rest = text;
    if (!slice_word(&rest, &word))
        return s;
    if (slice_is(word, "request")) {
        if (!wire_room(p->wire)) {
            buf_adds(&p->events, "no room\n");
            return NULL;
        }
        s = new_played(p, stream_open(p->wire));
        act_head(s, rest);
        return s;
    }
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        if (!slice_is(word, acts[i].word))
            continue;
        if (s && s->stream)
            acts[i].act(s, rest);
        else
            buf_addf(&p->events, "no stream to %.*s\n", SLICE_ARG(word));
        return s;
    }
    buf_addf(&p->events, "what is %.*s?\n", SLICE_ARG(word));
    return s;
}

/* `2 head 200; data ok; end`: on stream 2, or `s`. A stream that goes away ends the list. */
static void act(struct wire_play *p, struct played *s, slice text)
{
    slice word, rest = text, part;
    uint64_t number;
    if (slice_word(&rest, &word) && slice_to_u64(word, UINT32_MAX, &number)) {
        text = rest;
        s = number && number <= p->streams.n ? p->streams.at[number - 1] : NULL;
    }
    while (slice_cut(&text, ';', &part))
        s = act_one(p, s, part);
    if (s)
        release_when_done(s);
}

/* ---- events ---- */

static struct buf *begin_event(struct played *s)
{
    if (s->play->given->h2)
        buf_addf(&s->events, "%u ", s->number);
    s->data_last = false;
    return &s->events;
}

static void in_ended(struct played *s, const struct head *trailers)
{
    s->in_ended = s->complete = true;
    if (trailers)
        s->trailers = head_copy(&s->play->arena, trailers);
    if (s->play->given->on_end.p)
        act(s->play, s, s->play->given->on_end);
    release_when_done(s);
}

static void on_head(struct stream *stream, const struct head *h, bool end)
{
    struct wire_play *p = stream->wire->owner;
    struct played *s = stream->user ? stream->user : new_played(p, stream);
    struct buf *text = begin_event(s);
    print_head(h, end, text);
    buf_addc(text, '\n');
    s->head = head_copy(&p->arena, h);
    s->tunnel |= h->status == 101;
    s->out_ended &= h->status != 101;
    if (p->given->on_head.p)
        act(p, s, p->given->on_head);
    if (end)
        in_ended(s, NULL);
}

static void on_data(struct stream *stream, slice bytes)
{
    struct played *s = stream->user;
    if (s->data_last)
        s->events.n--; /* the end of the line */
    else
        buf_adds(begin_event(s), "data ");
    buf_add(&s->events, bytes);
    buf_addc(&s->events, '\n');
    s->data_last = true;
    if (!s->tunnel)
        buf_add(&s->body, bytes);
    if (!s->play->given->hands_off)
        stream_consume(stream, bytes.n);
}

static void on_end(struct stream *stream, const struct head *trailers)
{
    struct played *s = stream->user;
    struct buf *text = begin_event(s);
    buf_adds(text, "end");
    print_fields(trailers, text);
    buf_addc(text, '\n');
    in_ended(s, trailers);
}

static void on_abort(struct stream *stream, enum wire_cut why, uint32_t code)
{
    static const char *const names[] = {"closed", "reset", "refused", "bad", "limit"};
    struct played *s = stream->user;
    struct buf *text = begin_event(s);
    buf_addf(text, "abort %s", names[why]);
    if (code)
        buf_addf(text, " %u", code);
    buf_addc(text, '\n');
    s->stream = NULL;
    s->complete = false;
}

static void on_sent(struct stream *stream, size_t n)
{
    struct played *s = stream->user;
    s->sent += n;
    if (s->sent > s->given)
        buf_adds(begin_event(s), "more was sent than given\n");
}

static const struct wire_events events = {on_head, on_data, on_end, on_abort, on_sent};

/* ---- the connection ---- */

static void settle(struct wire_play *p)
{
    do {
        if (p->wire->resume)
            wire_resume(p->wire);
        wire_pump(p->wire);
        size_t n = p->chain.n;
        while (p->chain.n) {
            slice piece = chain_front(&p->chain);
            buf_add(&p->out, piece);
            chain_drop(&p->chain, piece.n);
        }
        if (n)
            wire_wrote(p->wire);
        wire_pump(p->wire);
    } while (p->chain.n || (p->wire->resume && p->wire->finish == FINISH_NOT));
}

static void feed(struct wire_play *p, slice bytes, uint64_t cuts, struct rng *rng)
{
    while (bytes.n) {
        size_t n = bytes.n;
        if (cuts == PLAY_BYTES)
            n = 1;
        else if (cuts != PLAY_WHOLE)
            n = 1 + rng_below(rng, 1u << rng_below(rng, 12));
        if (n > bytes.n)
            n = bytes.n;
        char *piece = mem_alloc(n);
        memcpy(piece, bytes.p, n);
        wire_feed(p->wire, (slice){piece, n});
        mem_free(piece);
        settle(p);
        bytes = slice_from(bytes, n);
    }
}

static void take_step(struct wire_play *p, const struct wire_step *step, uint64_t cuts,
                      struct rng *rng)
{
    switch (step->kind) {
    case STEP_FEED: feed(p, step->text, cuts, rng); break;
    case STEP_ACT: act(p, p->streams.n ? vec_last(&p->streams) : NULL, step->text); break;
    case STEP_EOF: wire_eof(p->wire); break;
    case STEP_BROKEN: wire_broken(p->wire); break;
    case STEP_SHUTDOWN: wire_shutdown(p->wire); break;
    case STEP_PART: wire_part(p->wire); break;
    }
    settle(p);
}

void wire_play(struct wire_play *p, const struct wire_case *c, uint64_t cuts)
{
    struct rng rng = {cuts};
    *p = (struct wire_play){.given = c, .events = BUF_INIT(TEXT_MAX), .out = BUF_INIT(TEXT_MAX)};
    p->chain = CHAIN_INIT(&p->blocks);
    p->wire = (c->h2 ? h2_new : h1_new)(c->server, &events, &c->limits, &p->chain);
    p->wire->owner = p;
    settle(p);
    if (c->h2 && !c->bare) {
        struct buf first = BUF_INIT(256);
        buf_adds(&first, c->server ? FRAMES_PREFACE : "");
        buf_add(&first, (slice){"\0\0\0\4\0\0\0\0\0", 9}); /* SETTINGS without any */
        feed(p, buf_slice(&first), cuts, &rng);
        buf_deinit(&first);
    }
    for (uint32_t i = 0; i < c->steps.n; i++)
        take_step(p, &c->steps.at[i], cuts, &rng);
    for (uint32_t i = 0; i < p->streams.n; i++)
        buf_add(&p->events, buf_slice(&p->streams.at[i]->events));
}

void wire_play_deinit(struct wire_play *p)
{
    wire_free(p->wire);
    chain_clear(&p->chain);
    blocks_deinit(&p->blocks);
    for (uint32_t i = 0; i < p->streams.n; i++) {
        buf_deinit(&p->streams.at[i]->body);
        buf_deinit(&p->streams.at[i]->events);
    }
    vec_deinit(&p->streams);
    buf_deinit(&p->events);
    buf_deinit(&p->out);
    arena_deinit(&p->arena);
}
