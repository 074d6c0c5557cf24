/* SPDX-License-Identifier: Apache-2.0
 *
 * The service's side of an exchange: the call is brought to the service, again where a pooled
 * connection turns out to be stale, and the answer goes to the caller the way that the mode
 * prescribes: as it is, or not. Each way is a row of functions for the head, the body and the end. */
#include "proxy/exchange_int.h"

#include "base/clock.h"
#include "base/random.h"
#include "core/run.h"
#include "data/json.h"
#include "wire/coding.h"

/* ---- ways ---- */

/* n bytes of the answer are done with. */
void exchange_consume(struct exchange *x, size_t n)
{
    if (n > x->unread)
        n = x->unread;
    if (!x->up || n == 0)
        return;
    x->unread -= n;
    stream_consume(x->up, n);
    link_refresh(link_of(x->up));
}

static void pass_head(struct exchange *x, const struct head *h, bool end)
{
    x->told = true;
    x->told_ns = x->fate.client ? clock_ns() : 0;
    x->promised = h->has_length ? h->length : UINT64_MAX;
    stream_head(x->down, h, end);
    if (end)
        exchange_finish(x, x->reply);
    else
        link_touch(link_of(x->down));
}

static void pass_data(struct exchange *x, slice bytes)
{
    x->response_bytes += bytes.n;
    if (x->fate.client && x->told_body.n < RUN_BODY_MAX) {
        size_t room = RUN_BODY_MAX - x->told_body.n;
        chain_add(&x->told_body, (slice){bytes.p, bytes.n < room ? bytes.n : room});
    }
    stream_data(x->down, bytes);
    link_touch(link_of(x->down));
}

static void pass_end(struct exchange *x, const struct head *trailers)
{
    stream_end(x->down, trailers);
    exchange_finish(x, x->reply);
}

static void keep_head(struct exchange *x, const struct head *h, bool end)
{
    (void)end;
    x->answer = head_copy(&x->arena, h);
}

static void keep_end(struct exchange *x, const struct head *trailers)
{
    if (trailers)
        x->answer_trailers = head_copy(&x->arena, trailers);
}

/* ---- pass: as it is ---- */

const struct reply_way way_pass = {pass_head, pass_data, pass_end, NULL, false};

/* ---- drop: the caller gets none of it (lost-reply, duplicate) ---- */

static void drop_head(struct exchange *x, const struct head *h, bool end)
{
    bool again = mode_act(x->mode) == ACT_TWICE && !mode_lost(x->mode);
    if (again && !(x->replayable && x->request_ended)) {
        x->error = x->request_ended
                       ? "the request's body is too large to send twice (limit `payload`)"
                       : "the service answered before it had the whole request";
        x->way = &way_pass;
        pass_head(x, h, end);
    } else if (end) {
        act_after_reply(x);
    } else { /* a stream that does not end is not waited for for ever */
        struct loop *loop = &x->worker->loop;
        timer_start(loop, &x->timer, loop->now_ns + exchange_limits(x)->hold_ns);
    }
}

static void drop_data(struct exchange *x, slice bytes)
{
    (void)x;
    (void)bytes;
}

static void drop_end(struct exchange *x, const struct head *trailers)
{
    (void)trailers;
    act_after_reply(x);
}

const struct reply_way way_drop = {drop_head, drop_data, drop_end, act_after_reply, true};

/* ---- cut: so many bytes of the body, then no more (reset:N, close:N, truncate:N) ---- */

/* The caller's connection after the last byte. */
static void cut_now(struct exchange *x)
{
    if (mode_kind(x->mode) == MODE_RESET) {
        exchange_break(x, FINISH_RESET, H2_INTERNAL_ERROR, OUTCOME(OUT_RESET, 0));
    } else if (mode_kind(x->mode) == MODE_TRUNCATE && x->h2) {
        stream_end(x->down, x->answer_trailers);
        link_touch(link_of(x->down));
        exchange_finish(x, OUTCOME(OUT_CLOSED, 0));
    } else {
        exchange_break(x, FINISH_CLOSE, H2_CANCEL, OUTCOME(OUT_CLOSED, 0));
    }
}

/* There is more than the caller gets: only now the fault has fired. A body of gRPC that is truncated
 * ends with the service's own trailers, so they are waited for. */
static void cut_off(struct exchange *x)
{
    x->fired = true;
    if (mode_kind(x->mode) != MODE_TRUNCATE || !x->grpc)
        cut_now(x);
}

static void cut_head(struct exchange *x, const struct head *h, bool end)
{
    x->budget = mode_argument(x->mode);
    pass_head(x, h, end);
    if (!end && x->budget == 0)
        cut_off(x);
}

static void cut_data(struct exchange *x, slice bytes)
{
    size_t n = bytes.n < x->budget ? bytes.n : (size_t)x->budget;
    bool first = !x->fired;
    x->budget -= n;
    if (n)
        pass_data(x, (slice){bytes.p, n});
    exchange_consume(x, bytes.n - n);
    if (first && bytes.n > n)
        cut_off(x);
}

static void cut_end(struct exchange *x, const struct head *trailers)
{
    if (!x->fired) { /* no longer than the caller may have */
        pass_end(x, trailers);
        return;
    }
    keep_end(x, trailers);
    cut_now(x);
}

static const struct reply_way way_cut = {cut_head, cut_data, cut_end, NULL, false};

/* ---- late: all of it, so much later (delay-reply) ---- */

static void late_head(struct exchange *x, const struct head *h, bool end)
{
    x->fired = true;
    keep_head(x, h, end);
    timer_start(&x->worker->loop, &x->timer, clock_ns() + mode_delay_ns(x->mode));
}

static void hold_data(struct exchange *x, slice bytes)
{
    chain_add(&x->held, bytes);
}

static void give_held(struct exchange *x, size_t n)
{
    while (n) {
        slice piece = chain_front(&x->held);
        if (piece.n > n)
            piece.n = n;
        pass_data(x, piece);
        chain_drop(&x->held, piece.n);
        n -= piece.n;
    }
}

/* What was held goes on its way, and the rest follows as it comes. */
static void let_go(struct exchange *x)
{
    bool ended = x->answer_ended;
    x->way = &way_pass;
    if (ended && x->held.n == 0 && !x->answer_trailers) {
        pass_head(x, x->answer, true);
        return;
    }
    pass_head(x, x->answer, false);
    give_held(x, x->held.n);
    if (ended)
        pass_end(x, x->answer_trailers);
}

static const struct reply_way way_late = {late_head, hold_data, keep_end, let_go, false};

/* ---- pace: so many bytes in a second (slow) ---- */

static void pace_next(struct exchange *x)
{
    struct loop *loop = &x->worker->loop;
    timer_start(loop, &x->timer, loop->now_ns + pace_ns(&x->pace));
}

static void pace_head(struct exchange *x, const struct head *h, bool end)
{
    x->fired = !end;
    x->pace = (struct pace){.rate = mode_argument(x->mode)};
    pass_head(x, h, end);
    if (!end)
        pace_next(x);
}

static void pace_tick(struct exchange *x)
{
    give_held(x, pace_share(&x->pace, x->held.n));
    if (x->held.n == 0 && x->answer_ended)
        pass_end(x, x->answer_trailers);
    else
        pace_next(x);
}

static const struct reply_way way_pace = {pace_head, hold_data, keep_end, pace_tick, false};

/* ---- empty: the body is gone (corrupt:empty) ---- */

static void empty_head(struct exchange *x, const struct head *h, bool end)
{
    struct head told = *h;
    char nothing[GRPC_PREFIX];
    x->fired = !end;
    if (end) {
        pass_head(x, h, true);
    } else if (x->grpc) { /* one message, and then the service's own trailers */
        grpc_prefix(0, nothing);
        pass_head(x, h, false);
        pass_data(x, (slice){nothing, sizeof nothing});
    } else {
        told.has_length = true;
        told.length = 0;
        pass_head(x, &told, true);
    }
}

static const struct reply_way way_empty = {empty_head, drop_data, pass_end, NULL, true};

/* ---- garble: as many bytes, but others (corrupt:garbage). Messages of gRPC keep their frame ----
 */

static void garble_head(struct exchange *x, const struct head *h, bool end)
{
    x->fired = !end;
    x->framing = (struct grpc_framing){0};
    x->dice = x->worker->seed ^ (x->rule ? x->rule->number : 0);
    pass_head(x, h, end);
}

/* Printable noise: what it breaks is the meaning, not the terminal. */
static void garble_data(struct exchange *x, slice bytes)
{
    struct rng rng = {x->dice};
    while (bytes.n) {
        char piece[4096];
        size_t n = bytes.n < sizeof piece ? bytes.n : sizeof piece;
        bool frame = x->grpc && x->framing.left == 0;
        if (frame)
            n = n < GRPC_PREFIX - x->framing.have ? n : GRPC_PREFIX - x->framing.have;
        else if (x->grpc && n > x->framing.left)
            n = x->framing.left;
        for (size_t i = 0; i < n; i++)
            piece[i] = frame ? bytes.p[i] : (char)('!' + rng_below(&rng, 94));
        if (x->grpc)
            grpc_feed(&x->framing, (slice){bytes.p, n});
        pass_data(x, (slice){piece, n});
        bytes = slice_from(bytes, n);
    }
    x->dice = rng.state;
}

static const struct reply_way way_garble = {garble_head, garble_data, pass_end, NULL, false};

/* ---- json: one field is gone or null (corrupt:remove=FIELD, corrupt:null=FIELD) ---- */

/* Spoils the body that is held, which stays as it is when that is not possible: NULL, or why. */
static const char *spoil_json(struct exchange *x, slice text)
{
    const struct node *root, *spoilt;
    if (node_parse_json(&x->arena, text, &root))
        return "the body is not valid JSON";
    spoilt = node_replace(&x->arena, root, mode_field(x->mode),
                          mode_corrupt(x->mode) == CORRUPT_REMOVE ? NULL : &node_null);
    if (spoilt == root)
        return "the body has no such field";
    struct buf out = BUF_INIT(SIZE_MAX);
    struct json_out j = json_out(&out, JSON_COMPACT);
    json_node(&j, NULL, spoilt);
    chain_clear(&x->held);
    chain_add(&x->held, buf_slice(&out));
    buf_deinit(&out);
    return NULL;
}

static const char *spoil(struct exchange *x)
{
    slice coding = coding_of(x->answer);
    struct buf text = BUF_INIT(x->held.n + 1), plain = BUF_INIT(exchange_limits(x)->payload);
    chain_print(&x->held, &text);
    const char *why = coding.n ? coding_decode(coding, buf_slice(&text), &plain) : NULL;
    if (why)
        why = arena_printf(&x->arena, "the body (%.*s) %s", SLICE_ARG(coding), why);
    else
        why = spoil_json(x, buf_slice(coding.n ? &plain : &text));
    if (!why && coding.n) { /* it is told without its coding: the body is plain from now on */
        struct field *fields = arena_alloc(&x->arena, (x->answer->n_fields + 1) * sizeof *fields);
        uint32_t n = 0;
        for (uint32_t i = 0; i < x->answer->n_fields; i++)
            if (!slice_eq_nocase(x->answer->fields[i].name, SLICE("content-encoding")))
                fields[n++] = x->answer->fields[i];
        x->answer->fields = fields;
        x->answer->n_fields = n;
        x->coding = (slice){0};
    }
    buf_deinit(&text);
    buf_deinit(&plain);
    return why;
}

static void json_head(struct exchange *x, const struct head *h, bool end)
{
    if (end || x->grpc) {
        x->error = "there is no JSON body to corrupt";
        x->way = &way_pass;
        pass_head(x, h, end);
        return;
    }
    keep_head(x, h, end);
}

static void json_data(struct exchange *x, slice bytes)
{
    chain_add(&x->held, bytes);
    if (x->held.n > (size_t)exchange_limits(x)->payload) {
        x->error = "the body is too large to corrupt (limit `payload`)";
        let_go(x);
    }
}

static void json_end(struct exchange *x, const struct head *trailers)
{
    keep_end(x, trailers);
    const char *why = spoil(x);
    x->fired = !why;
    if (why)
        x->error = why;
    if (x->answer->has_length)
        x->answer->length = x->held.n;
    let_go(x);
}

static const struct reply_way way_json = {json_head, json_data, json_end, NULL, true};

const struct reply_way *reply_way_for(mode m)
{
    static const struct reply_way *const corrupt[] = {
        [CORRUPT_EMPTY] = &way_empty,
        [CORRUPT_GARBAGE] = &way_garble,
        [CORRUPT_REMOVE] = &way_json,
        [CORRUPT_NULL] = &way_json,
    };
    static const struct reply_way *const ways[ACTS] = {
        [ACT_LATE] = &way_late, [ACT_PACE] = &way_pace, [ACT_CUT] = &way_cut};
    return mode_act(m) == ACT_CORRUPT ? corrupt[mode_corrupt(m)] : ways[mode_act(m)];
}

/* ---- to the service ---- */

void exchange_give(struct exchange *x, slice bytes)
{
    stream_data(x->up, bytes);
    link_touch(link_of(x->up));
}

void exchange_forward(struct exchange *x)
{
    x->state = EX_FORWARD;
    /* never a call of a run: a crash that a second try heals is what a campaign is there to show */
    x->sending.repeatable = head_idempotent(x->request) && !x->fate.run;
    x->sending.alone = x->fate.run && exchange_setup(x)->config->fresh;
    x->up = pool_open(&x->generation->upstream[x->door].pool, x->h2, &x->sending);
    if (!x->up) {
        exchange_fail(x, 502, "too many connections to the service (limit `upstream-connections`)");
        return;
    }
    x->up->user = x;
    x->passed = x->unread = 0;
    if (!x->forward_ns)
        x->forward_ns = clock_ns();
    const struct door *door = &exchange_setup(x)->door[x->door];
    x->request->scheme = door->to_tls ? SLICE("https") : SLICE("http");
    if (door->spec->host.n)
        x->request->authority = door->spec->host;
    else if (x->request->authority.n == 0)
        x->request->authority =
            addr_is_unix(&door->to) ? SLICE("localhost") : slice_of(door->to.text);
    bool end = x->request_ended && x->body.n == 0 && !x->request_trailers;
    stream_head(x->up, x->request, end);
    for (const struct block *b = x->body.first; b; b = b->next)
        exchange_give(x, (slice){b->bytes + b->start, b->end - b->start});
    if (x->request_ended && !end)
        stream_end(x->up, x->request_trailers);
}

/* ---- from the service ---- */

static void up_sent(struct stream *s, size_t n)
{
    struct exchange *x = s->user;
    x->active_ns = x->worker->loop.now_ns;
    x->passed += n;
    if (x->down && x->passed > x->consumed) {
        stream_consume(x->down, (size_t)(x->passed - x->consumed));
        x->consumed = x->passed;
        link_refresh(link_of(x->down));
    }
}

#define ENDED_EARLY "the service closed the connection before its answer was complete"
#define HTTP2_HINT                                                                                 \
    " (a call that arrives over HTTP/2 is forwarded over HTTP/2: if the service speaks only "      \
    "HTTP/1.1, see --http1)"

static const struct tls_terms *terms_of(const struct exchange *x)
{
    const struct tls_terms *own = exchange_setup(x)->config->terms;
    return own ? own : &tls_options;
}

/* Does the service speak TLS where we do not? Then its first bytes are of TLS, or it says so in
 * words, as nginx and Go do; or it says nothing at all. */
static bool is_plain(const struct exchange *x)
{
    return !exchange_setup(x)->door[x->door].to_tls;
}

static void hint_tls(struct exchange *x, const char *what)
{
    char *text = arena_printf(&x->arena, "%s %s", what, terms_of(x)->tls);
    plane_warn(x->worker->plane, exchange_setup(x)->door[x->door].spec->service.p, text);
}

/* What came is no answer; of a service that never answered in HTTP/2 it may be HTTP/1.1. */
static void fail_malformed(struct exchange *x, const struct link *l, enum wire_cut why)
{
    struct buf text = BUF_INIT(400);
    buf_adds(
        &text,
        why == CUT_BAD
            ? "the service's answer is malformed"
            : "the service's answer exceeds a limit (`head-bytes`, `head-fields` or `interims`)");
    bool tls = is_plain(x) && l->n_sniffed >= 2 && l->sniffed[1] == 3 &&
               (l->sniffed[0] == 0x15 || l->sniffed[0] == 0x16);
    if (tls)
        buf_addf(&text, ": it speaks TLS; %s", terms_of(x)->tls);
    else if (l->wire->error)
        buf_addf(&text, ": %s", l->wire->error);
    if (tls)
        hint_tls(x, "the service speaks TLS:");
    if (why == CUT_BAD && !tls && x->h2 && !x->answer_begun)
        buf_adds(&text, HTTP2_HINT);
    exchange_fail(x, 502, buf_text(&text));
    buf_deinit(&text);
}

/* The caller sees what happened to the service's connection, or to its stream. */
static void mirror(struct exchange *x, const struct link *l, enum wire_cut why, uint32_t code)
{
    bool reset = why == CUT_RESET || why == CUT_REFUSED;
    bool lost = why == CUT_CLOSED || l->wire->finish != FINISH_NOT;
    if (lost && !l->heard && !l->pool->heard && is_plain(x))
        hint_tls(x, "the service closed the connection without an answer. If it speaks TLS,");
    if (x->grpc && lost && x->told) {
        /* a caller of gRPC that loses its connection sees UNAVAILABLE; its connection is to us and
         * stays, so it is told */
        struct field fields[] = {{SLICE("grpc-status"), SLICE("14")},
                                 {SLICE("grpc-message"), SLICE(ENDED_EARLY)}};
        x->error = ENDED_EARLY;
        stream_end(x->down, &(struct head){.fields = fields, .n_fields = 2});
        exchange_finish(x, OUTCOME(OUT_GRPC, 14));
    } else if (x->grpc && lost) {
        exchange_fail(x, 502, ENDED_EARLY);
    } else if (x->h2 && lost && !l->heard && !x->told) {
        exchange_fail(x, 502, "the service closed the connection without an answer" HTTP2_HINT);
    } else {
        x->error = ENDED_EARLY;
        exchange_break(x, reset ? FINISH_RESET : FINISH_CLOSE,
                       code    ? code
                       : reset ? H2_INTERNAL_ERROR
                               : H2_CANCEL,
                       x->reply);
    }
}

static void up_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct exchange *x = s->user;
    const struct link *l = link_of(s);
    bool again = pool_may_resend(&x->sending, s, why, x->answer_begun, x->replayable);
    x->up = NULL;
    link_unuse(link_of(s));
    if (x->answer_ended) /* all of it is here already, and only waits to go on */
        return;
    if (again) {
        exchange_forward(x);
        return;
    }
    x->answer_ended = true;
    x->reply = OUTCOME(why == CUT_RESET || why == CUT_REFUSED ? OUT_RESET : OUT_CLOSED, 0);
    if (l->failed) { /* there is no connection at all */
        const struct door *door = &exchange_setup(x)->door[x->door];
        x->reply = OUTCOME(OUT_REFUSED, 0);
        exchange_fail(x, 502,
                      arena_printf(&x->arena, "%.*s at %s cannot be reached: %s",
                                   SLICE_ARG(door->spec->service), door->to.text,
                                   l->why ? l->why : ""));
    } else if (why == CUT_BAD || why == CUT_LIMIT) {
        fail_malformed(x, l, why);
    } else {
        mirror(x, l, why, code);
    }
}

static void up_head(struct stream *s, const struct head *h, bool end)
{
    struct exchange *x = s->user;
    x->active_ns = x->worker->loop.now_ns;
    if (h->status == 101) {
        x->tunnel = x->answer_begun = x->told = true;
        x->way = &way_pass;
        x->reply = OUTCOME(OUT_STATUS, 101);
        chain_clear(&x->body);
        stream_head(x->down, h, false);
        link_touch(link_of(x->down));
        return;
    }
    if (h->status < 200) {
        /* 100 is about the request, and due once; others belong to the answer */
        if (h->status == 100 ? !x->continued : x->way == &way_pass) {
            x->continued |= h->status == 100;
            stream_head(x->down, h, false);
            link_touch(link_of(x->down));
        }
        return;
    }
    x->answer_begun = true;
    x->answer_ended = end;
    x->answer_ns = clock_ns();
    if (x->fate.client)
        x->coding = slice_copy(&x->arena, coding_of(h));
    int code = x->grpc ? grpc_status(h) : -1;
    x->reply = code >= 0 ? OUTCOME(OUT_GRPC, code) : OUTCOME(OUT_STATUS, h->status);
    x->way->head(x, h, end);
}

static void up_data(struct stream *s, slice bytes)
{
    struct exchange *x = s->user;
    x->active_ns = x->worker->loop.now_ns;
    x->unread += bytes.n;
    if (x->reply == OUTCOME(OUT_STATUS, 400) && is_plain(x) && memmem(bytes.p, bytes.n, "HTTPS", 5))
        hint_tls(x, "the service answers 400 and mentions HTTPS:");
    if (x->way->takes_over)
        exchange_consume(x, bytes.n);
    x->way->data(x, bytes);
}

static void up_end(struct stream *s, const struct head *trailers)
{
    struct exchange *x = s->user;
    x->answer_ended = true;
    if (x->tunnel) {
        stream_end(x->down, NULL);
        exchange_finish(x, x->reply);
        return;
    }
    int code = x->grpc && trailers ? grpc_status(trailers) : -1;
    if (code >= 0)
        x->reply = OUTCOME(OUT_GRPC, code);
    x->way->end(x, trailers);
}

const struct wire_events up_events = {
    .head = up_head,
    .data = up_data,
    .end = up_end,
    .abort = up_abort,
    .sent = up_sent,
};
