/* SPDX-License-Identifier: Apache-2.0
 *
 * Ways that the service's answer can take to the caller: as it is, or not. Each is a row of
 * functions for the head, the body and the end. */
#include "proxy/exchange_int.h"

#include "base/clock.h"
#include "base/rng.h"
#include "data/json.h"
#include "data/json_out.h"
#include "wire/coding.h"

static struct stream *down(struct exchange *x)
{
    link_touch(link_of(x->down));
    return x->down;
}

static void no_tick(struct exchange *x)
{
    (void)x;
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

const struct reply_way way_pass = {exchange_pass_head, exchange_pass_data, exchange_pass_end,
                                   no_tick, false};

/* ---- drop: the caller gets none of it (lost-reply, duplicate) ---- */

static void drop_head(struct exchange *x, const struct head *h, bool end)
{
    bool again = mode_act(x->mode) == ACT_TWICE && !mode_lost(x->mode);
    if (again && !(x->replayable && x->request_ended)) {
        x->error = x->request_ended
                       ? "the request's body is too large to be sent twice (limit `payload`)"
                       : "the service answered before it had the whole request";
        x->way = &way_pass;
        exchange_pass_head(x, h, end);
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
        stream_end(down(x), x->answer_trailers);
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
    exchange_pass_head(x, h, end);
    if (!end && x->budget == 0)
        cut_off(x);
}

static void cut_data(struct exchange *x, slice bytes)
{
    size_t n = bytes.n < x->budget ? bytes.n : (size_t)x->budget;
    bool first = !x->fired;
    x->budget -= n;
    if (n)
        exchange_pass_data(x, (slice){bytes.p, n});
    exchange_consume(x, bytes.n - n);
    if (first && bytes.n > n)
        cut_off(x);
}

static void cut_end(struct exchange *x, const struct head *trailers)
{
    if (!x->fired) { /* no longer than the caller may have */
        exchange_pass_end(x, trailers);
        return;
    }
    keep_end(x, trailers);
    cut_now(x);
}

static const struct reply_way way_cut = {cut_head, cut_data, cut_end, no_tick, false};

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
        exchange_pass_data(x, piece);
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
        exchange_pass_head(x, x->answer, true);
        return;
    }
    exchange_pass_head(x, x->answer, false);
    give_held(x, x->held.n);
    if (ended)
        exchange_pass_end(x, x->answer_trailers);
}

static const struct reply_way way_late = {late_head, hold_data, keep_end, let_go, false};

/* ---- pace: so many bytes in a second (slow) ---- */

/* A piece is at most PACE_BYTES, so that it fits into a window whatever the rate. */
enum { PACE_BYTES = 16 * 1024, PACE_MOST_NS = 50 * 1000 * 1000, PACE_LEAST_NS = 1000 * 1000 };

static int64_t pace_ns(uint64_t rate)
{
    int64_t ns = (int64_t)(PACE_BYTES * 1000000000LL / rate);
    return ns > PACE_MOST_NS ? PACE_MOST_NS : ns < PACE_LEAST_NS ? PACE_LEAST_NS : ns;
}

static void pace_next(struct exchange *x)
{
    struct loop *loop = &x->worker->loop;
    timer_start(loop, &x->timer, loop->now_ns + pace_ns(mode_argument(x->mode)));
}

static void pace_head(struct exchange *x, const struct head *h, bool end)
{
    x->fired = !end;
    exchange_pass_head(x, h, end);
    if (!end)
        pace_next(x);
}

static void pace_tick(struct exchange *x)
{
    uint64_t rate = mode_argument(x->mode);
    uint64_t share = rate * (uint64_t)(pace_ns(rate) / 1000) / 1000; /* thousandths of bytes */
    x->budget += share;
    size_t n = (size_t)(x->budget / 1000);
    if (n > x->held.n)
        n = x->held.n;
    x->budget -= n * 1000;
    if (x->budget >= 1000 && x->budget > share)
        x->budget = share; /* whole bytes that the service did not use are not saved up */
    give_held(x, n);
    if (x->held.n == 0 && x->answer_ended)
        exchange_pass_end(x, x->answer_trailers);
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
        exchange_pass_head(x, h, true);
    } else if (x->grpc) { /* one message, and then the service's own trailers */
        grpc_prefix(0, nothing);
        exchange_pass_head(x, h, false);
        exchange_pass_data(x, (slice){nothing, sizeof nothing});
    } else {
        told.has_length = true;
        told.length = 0;
        exchange_pass_head(x, &told, true);
    }
}

static const struct reply_way way_empty = {empty_head, drop_data, exchange_pass_end, no_tick, true};

/* ---- garble: as many bytes, but others (corrupt:garbage). Messages of gRPC keep their frame ----
 */

static void garble_head(struct exchange *x, const struct head *h, bool end)
{
    x->fired = !end;
    x->framing = (struct grpc_framing){0};
    x->dice = x->worker->seed ^ (x->rule ? x->rule->number : 0);
    exchange_pass_head(x, h, end);
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
        exchange_pass_data(x, (slice){piece, n});
        bytes = slice_from(bytes, n);
    }
    x->dice = rng.state;
}

static const struct reply_way way_garble = {garble_head, garble_data, exchange_pass_end, no_tick,
                                            false};

/* ---- json: one field is gone or null (corrupt:remove=FIELD, corrupt:null=FIELD) ---- */

/* Spoils the body that is held, which stays as it is when that is not possible: NULL, or why. */
static const char *spoil_json(struct exchange *x, slice text)
{
    const struct node *root, *spoilt;
    if (node_parse_json(&x->arena, text, &root))
        return "the body is no JSON";
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
        exchange_pass_head(x, h, end);
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

static const struct reply_way way_json = {json_head, json_data, json_end, no_tick, true};

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
