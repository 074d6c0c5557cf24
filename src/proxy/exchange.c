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
 * 4. A call is sent again by the rule of http/link.h, and only if all of it was kept. */
#include "proxy/exchange_int.h"

#include "base/clock.h"

enum { SPARE_MAX = 256, SWEEP_NS = 1000 * 1000 * 1000 };

static void on_timer(struct timer *t);

/* ---- beginning and end ---- */

struct exchange *exchange_new(struct worker *w, struct stream *down)
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
    struct caller *k = caller_of(link_of(down));
    *x = (struct exchange){
        .worker = w,
        .generation = generation_hold(w->current),
        .door = k->site->door,
        .down = down,
        .arena = arena,
        .timer.fire = on_timer,
        .body = CHAIN_INIT(&w->loop.blocks),
        .held = CHAIN_INIT(&w->loop.blocks),
        .told_body = CHAIN_INIT(&w->loop.blocks),
        .way = &way_pass,
        .replayable = true,
        .promised = UINT64_MAX,
        .start_ns = clock_ns(),
        .active_ns = w->loop.now_ns,
        .next = w->exchanges,
        .self = &w->exchanges,
    };
    if (x->next)
        x->next->self = &x->next;
    if (!w->sweep.at_ns)
        timer_start(&w->loop, &w->sweep, w->loop.now_ns + SWEEP_NS);
    w->exchanges = x;
    k->site->spoken = true;
    link_use(&k->link);
    down->user = x;
    return x;
}

void exchange_leave(struct exchange *x)
{
    struct stream *up = x->up;
    x->up = NULL;
    if (!up)
        return;
    struct link *l = link_of(up);
    if (x->request_ended && x->answer_ended)
        stream_release(up);
    else
        stream_abort(up, FINISH_NOT, H2_CANCEL);
    link_unuse(l);
}

void exchange_finish(struct exchange *x, outcome seen)
{
    struct worker *w = x->worker;
    x->state = EX_DONE;
    x->seen = seen;
    timer_stop(&w->loop, &x->timer);
    exchange_leave(x);
    if (x->down) {
        struct link *l = link_of(x->down);
        stream_release(x->down);
        link_unuse(l);
    }
    if (x->fired && x->rule)
        rule_fired(x->rule);
    record_call(x);
    if (x->fate.run)
        exchange_tell(x);
    chain_clear(&x->body);
    chain_clear(&x->held);
    chain_clear(&x->told_body);
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
        struct link *l = link_of(down);
        stream_abort(down, how, code);
        link_unuse(l);
    }
    exchange_finish(x, seen);
}

void exchange_answer(struct exchange *x, const struct head *h, slice body, outcome seen)
{
    if (slice_is(x->request->method, "HEAD"))
        body = (slice){0};
    stream_head(x->down, h, body.n == 0);
    if (body.n) {
        stream_data(x->down, body);
        stream_end(x->down, NULL);
        x->response_bytes += body.n;
    }
    exchange_finish(x, seen);
}

void exchange_answer_grpc(struct exchange *x, uint32_t code, slice message,
                          const struct field *more, uint32_t n_more)
{
    struct field fields[3 + FIELDS_MORE];
    struct buf text = BUF_INIT(16 * 1024);
    char digits[DIGITS_MOST];
    grpc_message_encode(message, &text);
    fields[0] = (struct field){SLICE("content-type"), SLICE("application/grpc")};
    fields[1] = (struct field){SLICE("grpc-status"), slice_of_u64(code, digits)};
    fields[2] = (struct field){SLICE("grpc-message"), buf_slice(&text)};
    for (uint32_t i = 0; i < n_more; i++)
        fields[3 + i] = more[i];
    struct head h = {.status = 200, .fields = fields, .n_fields = 3 + n_more};
    exchange_answer(x, &h, (slice){0}, OUTCOME(OUT_GRPC, code));
    buf_deinit(&text);
}

void exchange_fail(struct exchange *x, uint16_t status, const char *text)
{
    x->error = arena_copy(&x->arena, text, strlen(text));
    if (x->told) {
        exchange_break(x, FINISH_RESET, H2_INTERNAL_ERROR, OUTCOME(OUT_RESET, 0));
        return;
    }
    if (x->grpc) {
        exchange_answer_grpc(x, status == 504 ? 4 : 14, slice_of(text), NULL, 0);
        return;
    }
    slice body = slice_of(arena_printf(&x->arena, "outfox: %s\n", text));
    struct field type = {SLICE("content-type"), SLICE("text/plain")};
    struct head h = {
        .status = status, .fields = &type, .n_fields = 1, .has_length = true, .length = body.n};
    exchange_answer(x, &h, body, OUTCOME(OUT_STATUS, status));
}

/* ---- time ---- */

static void on_timer(struct timer *t)
{
    struct exchange *x = OWNER(t, struct exchange, timer);
    switch (x->state) {
    case EX_COLLECT: exchange_collected(x); break;
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
        bool waits = x->timer.at_ns != 0; /* for us, not for a peer */
        bool stalled = x->state == EX_FORWARD && !waits && now - x->active_ns > limits->stall_ns;
        if (stalled)
            exchange_fail(x, 504, "no byte came for too long (limit `stall`)");
        else if (now - x->start_ns > limits->total_ns)
            exchange_fail(x, 504, "the call lasted too long (limit `total`)");
    }
    if (w->exchanges)
        timer_start(&w->loop, &w->sweep, now + SWEEP_NS);
}

void exchange_cut(struct worker *w, uint64_t run)
{
    for (struct exchange *x = w->exchanges, *next; x; x = next) {
        next = x->next;
        if (x->fate.run && x->fate.run == run)
            exchange_break(x, FINISH_CLOSE, H2_CANCEL, OUTCOME(OUT_CLOSED, 0));
    }
}
