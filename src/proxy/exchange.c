/* SPDX-License-Identifier: Apache-2.0
 *
 * exchange: one call, from the caller's request to the end of its answer. It sits between two
 * streams and does not know which protocol they speak.
 *
 *                       +--> EX_COLLECT --+
 *   request arrives ----+-----------------+--> decide --> EX_FORWARD --> answer --> EX_DONE
 *                                                 |           ^  |                     ^
 *                                                 +--> EX_WAIT--+ +--> EX_HELD ---------+
 *                                                 +--> a fault answers at once ---------+
 *
 *   decide()            by the rules; from then on the mode decides (act.c, reply.c)
 *   exchange_forward()  the only way to EX_FORWARD; again when a pooled connection was stale
 *   exchange_finish()   the only way to EX_DONE: exactly one record for every call
 *
 * 1. The request's head is kept to the end. Its body is kept as long as it may have to be sent
 *    again: until the answer begins, and up to the limit `payload`.
 * 2. Bytes of a body count as consumed when they have left on the other side: the slower side sets
 *    the pace.
 * 3. A caller that leaves cancels the call at the service.
 * 4. A call is sent again only when nothing of an answer was seen, and the connection had been used
 *    before (or the service said that it did not look at the call). */
#include "proxy/proxy_int.h"

#include "base/clock.h"
#include "base/hash.h"

enum { ATTEMPTS_MAX = 3, SPARE_MAX = 256 };

static void on_timer(struct timer *t);

/* ---- beginning and end ---- */

static struct exchange *exchange_new(struct worker *w, struct stream *down)
{
    struct exchange *x = w->spare;
    struct arena arena = {0};
    if (x) {
        w->spare = x->next;
        w->n_spare--;
        arena = x->arena;
    } else {
        x = mem_alloc(sizeof *x);
    }
    struct link *l = link_of(down);
    *x = (struct exchange){
        .worker = w,
        .generation = generation_hold(w->current),
        .door = l->site->door,
        .down = down,
        .arena = arena,
        .timer.fire = on_timer,
        .body = CHAIN_INIT(&w->loop.blocks),
        .held = CHAIN_INIT(&w->loop.blocks),
        .way = &way_pass,
        .replayable = true,
        .start_ns = clock_ns(),
        .active_ns = w->loop.now_ns,
        .next = w->exchanges,
        .self = &w->exchanges,
    };
    if (x->next)
        x->next->self = &x->next;
    else
        timer_start(&w->loop, &w->sweep, w->loop.now_ns + 1000000000);
    w->exchanges = x;
    down->user = x;
    return x;
}

void exchange_leave(struct exchange *x)
{
    struct stream *up = x->up;
    x->up = NULL;
    if (!up)
        return;
    link_touch(link_of(up));
    if (x->request_ended && x->answer_ended)
        stream_release(up);
    else
        stream_abort(up, FINISH_CLOSE, H2_CANCEL);
}

void exchange_finish(struct exchange *x, outcome seen)
{
    struct worker *w = x->worker;
    x->state = EX_DONE;
    x->seen = seen;
    timer_stop(&w->loop, &x->timer);
    exchange_leave(x);
    if (x->down) {
        link_touch(link_of(x->down));
        stream_release(x->down);
    }
    if (x->fired)
        rule_fired(x->rule);
    record_call(x);
    chain_clear(&x->body);
    chain_clear(&x->held);
    *x->self = x->next;
    if (x->next)
        x->next->self = x->self;
    generation_drop(x->generation);
    if (w->n_spare < SPARE_MAX) {
        arena_reset(&x->arena);
        x->next = w->spare;
        w->spare = x;
        w->n_spare++;
    } else {
        arena_deinit(&x->arena);
        mem_free(x);
    }
    worker_check_done(w);
}

void exchange_break(struct exchange *x, enum wire_finish how, uint32_t code, outcome seen)
{
    struct stream *down = x->down;
    x->down = NULL;
    if (down) {
        link_touch(link_of(down));
        stream_abort(down, how, code);
    }
    exchange_finish(x, seen);
}

void exchange_answer(struct exchange *x, const struct head *h, slice body, outcome seen)
{
    stream_head(x->down, h, body.n == 0);
    if (body.n) {
        stream_data(x->down, body);
        stream_end(x->down, NULL);
        x->response_bytes += body.n;
    }
    exchange_finish(x, seen);
}

void exchange_fail(struct exchange *x, uint16_t status, const char *text)
{
    struct buf body = BUF_INIT(1024);
    struct field fields[3] = {{SLICE("content-type"), SLICE("text/plain")}};
    struct head h = {.status = status, .fields = fields, .n_fields = 1, .has_length = true};
    outcome seen = OUTCOME(OUT_STATUS, status);
    x->error = arena_copy(&x->arena, text, strlen(text));
    if (x->told) {
        exchange_break(x, FINISH_RESET, H2_INTERNAL_ERROR, OUTCOME(OUT_RESET, 0));
    } else if (x->grpc) {
        uint32_t code = status == 504 ? 4 : 14;
        grpc_message_encode(slice_of(text), &body);
        fields[0].value = SLICE("application/grpc");
        fields[1] = (struct field){SLICE("grpc-status"), status == 504 ? SLICE("4") : SLICE("14")};
        fields[2] = (struct field){SLICE("grpc-message"), buf_slice(&body)};
        h = (struct head){.status = 200, .fields = fields, .n_fields = 3};
        exchange_answer(x, &h, (slice){0}, OUTCOME(OUT_GRPC, code));
    } else {
        buf_addf(&body, "outfox: %s\n", text);
        h.length = body.n;
        exchange_answer(x, &h, buf_slice(&body), seen);
    }
    buf_deinit(&body);
}

/* ---- the request ---- */

static void decide(struct exchange *x)
{
    const struct setup *setup = exchange_setup(x);
    const struct door *door = &setup->door[x->door];
    struct request_facts facts = {.service = door->spec->service,
                                  .interface = x->interface,
                                  .health =
                                      x->grpc && slice_starts(x->interface, SLICE("grpc.health.")),
                                  .payload = x->payload,
                                  .head = x->request,
                                  .now_ns = x->start_ns};
    if (setup->log)
        x->n = record_count(x);
    x->rule = x->interface.n ? rules_find(&door->spec->rules, &facts) : NULL;
    x->mode = x->rule ? x->rule->mode : MODE_NONE;
    if (x->mode == MODE_NONE)
        exchange_forward(x);
    else
        act_begin(x);
}

/* The hash of the body as far as it is there; beyond the limit, of its beginning and the length. */
static uint32_t payload_hash(const struct exchange *x)
{
    uint64_t sum = 0;
    size_t left = (size_t)exchange_limits(x)->payload;
    struct buf text = BUF_INIT(left + 32);
    for (const struct block *b = x->body.first; b && text.n < left; b = b->next)
        buf_add(&text, (slice){b->bytes + b->start, b->end - b->start});
    if (text.n > left)
        text.n = left;
    sum = hash_slice(buf_slice(&text));
    if (x->body.n > left)
        sum = hash_mix(sum, x->request->has_length ? x->request->length : left);
    buf_deinit(&text);
    return hash_fold(sum);
}

static void collected(struct exchange *x)
{
    timer_stop(&x->worker->loop, &x->timer);
    x->payload = payload_hash(x);
    decide(x);
}

/* Is the body, as far as it is there, enough to name the call by? Of a gRPC call the first message
 * is: a caller that streams may wait for an answer to it. */
static bool body_suffices(struct exchange *x, slice more)
{
    if (x->request_ended || x->body.n >= (size_t)exchange_limits(x)->payload)
        return true;
    if (!x->grpc)
        return false;
    while (more.n && x->framing.messages == 0)
        more = slice_from(more, grpc_feed(&x->framing, more));
    return x->framing.messages > 0;
}

static void collect(struct exchange *x)
{
    if (body_suffices(x, (slice){0})) {
        collected(x);
        return;
    }
    x->state = EX_COLLECT;
    timer_start(&x->worker->loop, &x->timer,
                x->worker->loop.now_ns + exchange_limits(x)->payload_wait_ns);
    if (x->request->expects) { /* the caller waits for a word before it sends the body */
        stream_head(x->down, &(struct head){.status = 100}, false);
        link_touch(link_of(x->down));
        x->continued = true;
        x->request->expects = false;
    }
}

static void down_head(struct stream *s, const struct head *h, bool end)
{
    struct link *l = link_of(s);
    if (l->site->gone) {
        stream_abort(s, FINISH_CLOSE, H2_REFUSED_STREAM);
        return;
    }
    struct exchange *x = exchange_new(l->worker, s);
    const struct setup *setup = exchange_setup(x);
    const struct proxy_spec *spec = setup->door[x->door].spec;
    x->request = head_copy(&x->arena, h);
    x->request_ended = end;
    x->h2 = s->wire->ops->multiplexed;
    x->grpc = x->h2 && grpc_is_call(h);
    if (spec->rules.list.n || setup->log)
        record_name(x);
    if (setup->config->identify_payload || spec->rules.needs_payload)
        collect(x);
    else
        decide(x);
}

static void give_body(struct exchange *x, slice bytes)
{
    stream_data(x->up, bytes);
    link_touch(link_of(x->up));
}

/* Once forwarded, is the body still worth keeping, with n bytes more? */
static bool may_be_needed(const struct exchange *x, size_t n)
{
    bool over = x->answer_begun && mode_kind(x->mode) != MODE_DUPLICATE;
    return x->replayable && !over && x->body.n + n <= (size_t)exchange_limits(x)->payload;
}

static void down_data(struct stream *s, slice bytes)
{
    struct exchange *x = s->user;
    x->active_ns = x->worker->loop.now_ns;
    x->request_bytes += bytes.n;
    if (!x->up || may_be_needed(x, bytes.n)) {
        chain_add(&x->body, bytes);
    } else {
        x->replayable = false;
        chain_clear(&x->body);
    }
    if (x->up)
        give_body(x, bytes);
    else if (x->state == EX_COLLECT && body_suffices(x, bytes))
        collected(x);
}

static void down_end(struct stream *s, const struct head *trailers)
{
    struct exchange *x = s->user;
    x->request_ended = true;
    if (trailers)
        x->request_trailers = head_copy(&x->arena, trailers);
    if (x->up) {
        stream_end(x->up, trailers);
        link_touch(link_of(x->up));
        if (x->tunnel)
            exchange_finish(x, x->reply);
    } else if (x->state == EX_COLLECT) {
        collected(x);
    }
}

static void down_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct exchange *x = s->user;
    (void)code;
    x->down = NULL;
    if (why == CUT_BAD)
        x->error = "the request is malformed";
    else if (why == CUT_LIMIT)
        x->error = "the request is beyond a limit";
    exchange_finish(x, x->tunnel ? x->reply : OUTCOME(OUT_CANCELLED, 0));
}

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

static void down_sent(struct stream *s, size_t n)
{
    struct exchange *x = s->user;
    x->active_ns = x->worker->loop.now_ns;
    if (!x->way->takes_over)
        exchange_consume(x, n);
}

const struct wire_events down_events = {
    .head = down_head,
    .data = down_data,
    .end = down_end,
    .abort = down_abort,
    .sent = down_sent,
};

/* ---- to the service ---- */

void exchange_forward(struct exchange *x)
{
    struct upstream *u = &x->generation->upstream[x->door];
    x->state = EX_FORWARD;
    x->up = upstream_open(u, x->h2, x->retried && (!x->h2 || x->attempts > 1));
    if (!x->up) {
        exchange_fail(x, 502,
                      "there are too many connections to the service (limit "
                      "`upstream-connections`)");
        return;
    }
    x->up->user = x;
    x->attempts++;
    x->passed = x->unread = 0;
    if (!x->forward_ns)
        x->forward_ns = clock_ns();
    const struct door *door = &exchange_setup(x)->door[x->door];
    x->request->scheme = door->to_tls ? SLICE("https") : SLICE("http");
    if (x->request->authority.n == 0)
        x->request->authority = slice_of(door->to.text);
    bool end = x->request_ended && x->body.n == 0 && !x->request_trailers;
    stream_head(x->up, x->request, end);
    for (const struct block *b = x->body.first; b; b = b->next)
        give_body(x, (slice){b->bytes + b->start, b->end - b->start});
    if (x->request_ended && !end)
        stream_end(x->up, x->request_trailers);
}

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

static bool may_retry(const struct exchange *x, enum wire_cut why)
{
    const struct link *l = link_of(x->up);
    bool stale = l->used && (why == CUT_CLOSED || why == CUT_RESET);
    return !x->answer_begun && x->replayable && x->attempts < ATTEMPTS_MAX && !l->failed &&
           (stale || why == CUT_REFUSED);
}

static void up_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct exchange *x = s->user;
    const struct link *l = link_of(s);
    bool again = may_retry(x, why);
    x->up = NULL;
    if (again) {
        x->retried = true;
        exchange_forward(x);
        return;
    }
    x->answer_ended = true;
    if (l->failed) {
        const struct door *door = &exchange_setup(x)->door[x->door];
        struct buf text = BUF_INIT(400);
        x->reply = OUTCOME(OUT_REFUSED, 0);
        buf_addf(&text, "%.*s at %s cannot be reached: %s", SLICE_ARG(door->spec->service),
                 door->to.text, l->why ? l->why : "");
        exchange_fail(x, 502, buf_text(&text));
        buf_deinit(&text);
        return;
    }
    bool reset = why == CUT_RESET || why == CUT_REFUSED;
    x->reply = OUTCOME(reset ? OUT_RESET : OUT_CLOSED, 0);
    if (why == CUT_BAD || why == CUT_LIMIT) {
        exchange_fail(x, 502,
                      why == CUT_BAD ? "the service's answer is malformed"
                                     : "the head of the service's answer is too large");
        return;
    }
    x->error = "the service ended the connection before its answer was complete";
    exchange_break(x, reset ? FINISH_RESET : FINISH_CLOSE,
                   code    ? code
                   : reset ? H2_INTERNAL_ERROR
                           : H2_CANCEL,
                   x->reply);
}

/* ---- the answer ---- */

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
        if (x->way == &way_pass && !(h->status == 100 && x->continued)) {
            stream_head(x->down, h, false);
            link_touch(link_of(x->down));
        }
        return;
    }
    x->answer_begun = true;
    x->answer_ended = end;
    x->answer_ns = clock_ns();
    int code = x->grpc ? grpc_status(h) : -1;
    x->reply = code >= 0 ? OUTCOME(OUT_GRPC, code) : OUTCOME(OUT_STATUS, h->status);
    x->way->head(x, h, end);
}

static void up_data(struct stream *s, slice bytes)
{
    struct exchange *x = s->user;
    x->active_ns = x->worker->loop.now_ns;
    x->unread += bytes.n;
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

void exchange_pass_head(struct exchange *x, const struct head *h, bool end)
{
    x->told = true;
    stream_head(x->down, h, end);
    if (end)
        exchange_finish(x, x->reply);
    else
        link_touch(link_of(x->down));
}

void exchange_pass_data(struct exchange *x, slice bytes)
{
    x->response_bytes += bytes.n;
    stream_data(x->down, bytes);
    link_touch(link_of(x->down));
}

void exchange_pass_end(struct exchange *x, const struct head *trailers)
{
    stream_end(x->down, trailers);
    exchange_finish(x, x->reply);
}

/* ---- time ---- */

static void on_timer(struct timer *t)
{
    struct exchange *x = (struct exchange *)((char *)t - offsetof(struct exchange, timer));
    switch (x->state) {
    case EX_COLLECT: collected(x); break;
    case EX_WAIT: exchange_forward(x); break;
    case EX_FORWARD: x->way->tick(x); break;
    case EX_HELD: /* a caller with more patience than the limit */
        exchange_break(x, FINISH_CLOSE, H2_CANCEL, OUTCOME(OUT_TIMEOUT, 0));
        break;
    case EX_DONE: break;
    }
}

void exchange_sweep(struct worker *w)
{
    int64_t now = w->loop.now_ns;
    for (struct exchange *x = w->exchanges, *next; x; x = next) {
        next = x->next;
        const struct limits *limits = exchange_limits(x);
        bool stalled = x->state == EX_FORWARD && now - x->active_ns > limits->stall_ns;
        if (stalled)
            exchange_fail(x, 504, "no byte came for too long (limit `stall`)");
        else if (now - x->start_ns > limits->total_ns)
            exchange_fail(x, 504, "the call lasted too long (limit `total`)");
    }
    if (w->exchanges)
        timer_start(&w->loop, &w->sweep, now + 1000000000);
}
