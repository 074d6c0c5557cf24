/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that happen instead of the service's answer, or before the service gets the call. One row
 * per mode; what has no row lets the call go to the service, and reply.c does the rest. */
#include "proxy/exchange_int.h"

#include "base/clock.h"

/* The fields that every injected answer has: what the rule says, and which rule it was. */
static void dress_up(const struct exchange *x, struct head *h, struct field *fields)
{
    const struct rule_dress *dress = x->dress;
    for (uint32_t i = 0; i < dress->n_fields; i++)
        fields[h->n_fields++] = dress->fields[i];
    if (exchange_setup(x)->config->fault_header)
        fields[h->n_fields++] = (struct field){SLICE("x-outfox-fault"), x->fault};
    h->fields = fields;
}

static void answer_grpc(struct exchange *x, uint32_t code)
{
    const struct rule_dress *dress = x->dress;
    struct field fields[FIELDS_MORE];
    struct head h = {0};
    dress_up(x, &h, fields);
    exchange_answer_grpc(x, code, dress->has_message ? dress->message : SLICE("Injected fault"),
                         h.fields, h.n_fields);
}

static void act_grpc(struct exchange *x)
{
    answer_grpc(x, mode_argument(x->mode));
}

static void act_status(struct exchange *x)
{
    const struct rule_dress *dress = x->dress;
    uint16_t status = (uint16_t)mode_argument(x->mode);
    if (x->grpc) {
        answer_grpc(x, grpc_of_status(status));
        return;
    }
    struct field fields[1 + FIELDS_MORE];
    struct head h = {.status = status};
    slice body = dress->has_body ? dress->body : SLICE("Injected fault\n");
    if (status == 204 || status == 304) {
        h.bodiless = true;
        body = (slice){0};
    } else {
        h.has_length = true;
        h.length = body.n;
        struct head own = {.fields = dress->fields, .n_fields = dress->n_fields};
        if (!head_get(&own, SLICE("content-type")).p)
            fields[h.n_fields++] = (struct field){SLICE("content-type"), SLICE("text/plain")};
    }
    dress_up(x, &h, fields);
    exchange_answer(x, &h, body, OUTCOME(OUT_STATUS, status));
}

/* How a stream is broken off: on HTTP/1.1, and with which code on HTTP/2. */
static void act_break(struct exchange *x)
{
    static const struct {
        enum wire_finish how;
        uint32_t code;
    } breaks[MODE_KINDS] = {
        [MODE_REFUSE] = {FINISH_RESET, H2_REFUSED_STREAM},
        [MODE_RESET] = {FINISH_RESET, H2_INTERNAL_ERROR},
        [MODE_CLOSE] = {FINISH_CLOSE, H2_CANCEL},
    };
    enum mode_kind kind = mode_kind(x->mode);
    exchange_break(x, breaks[kind].how, breaks[kind].code, mode_outcome(x->mode));
}

static void act_rst_stream(struct exchange *x)
{
    exchange_break(x, FINISH_RESET, mode_argument(x->mode), mode_outcome(x->mode));
}

static void act_goaway(struct exchange *x)
{
    struct stream *down = x->down;
    struct link *l = link_of(down);
    x->down = NULL;
    stream_goaway(down);
    link_unuse(l);
    exchange_finish(x, mode_outcome(x->mode));
}

static void act_hold(struct exchange *x)
{
    x->state = EX_HELD;
    timer_start(&x->worker->loop, &x->timer, clock_ns() + exchange_limits(x)->hold_ns);
}

static void (*const acts[MODE_KINDS])(struct exchange *) = {
    [MODE_STATUS] = act_status, [MODE_GRPC] = act_grpc,     [MODE_REFUSE] = act_break,
    [MODE_RESET] = act_break,   [MODE_CLOSE] = act_break,   [MODE_RST_STREAM] = act_rst_stream,
    [MODE_HOLD] = act_hold,     [MODE_GOAWAY] = act_goaway,
};

void act_begin(struct exchange *x)
{
    mode m = x->mode;
    if (mode_kind(m) == MODE_DELAY) {
        x->fired = true;
        x->state = EX_WAIT;
        timer_start(&x->worker->loop, &x->timer, clock_ns() + mode_delay_ns(m));
    } else if (mode_lost(m) || mode_kind(m) == MODE_DUPLICATE) {
        x->way = &way_drop;
        exchange_forward(x);
    } else if (mode_reached(m)) {
        x->way = reply_way_for(m);
        exchange_forward(x);
    } else {
        x->fired = true;
        acts[mode_kind(m)](x);
    }
}

void act_after_reply(struct exchange *x)
{
    timer_stop(&x->worker->loop, &x->timer);
    exchange_leave(x);
    x->fired = true;
    if (mode_lost(x->mode)) {
        x->mode = mode_without_lost(x->mode);
        acts[mode_kind(x->mode)](x);
        return;
    }
    x->way = &way_pass;
    x->answer_begun = x->answer_ended = false;
    x->sending.tries = 0;
    exchange_forward(x);
}
