/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that happen instead of the service's answer, or before the service gets the call. One row
 * per act of mode.list; what has no row lets the call go to the service, and reply.c does the rest. */
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

static void act_answer(struct exchange *x)
{
    const struct rule_dress *dress = x->dress;
    uint32_t code = mode_argument(x->mode);
    uint16_t status = (uint16_t)code;
    if (x->grpc || mode_kind(x->mode) == MODE_GRPC) {
        answer_grpc(x, mode_kind(x->mode) == MODE_GRPC ? code : grpc_of_status(status));
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
    } breaks[OUT_KINDS] = {
        [OUT_REFUSED] = {FINISH_RESET, H2_REFUSED_STREAM},
        [OUT_RESET] = {FINISH_RESET, H2_INTERNAL_ERROR},
        [OUT_CLOSED] = {FINISH_CLOSE, H2_CANCEL},
    };
    outcome seen = mode_outcome(x->mode);
    bool coded = mode_rows[mode_kind(x->mode)].argument == ARG_ERROR;
    exchange_break(x, breaks[outcome_kind(seen)].how,
                   coded ? mode_argument(x->mode) : breaks[outcome_kind(seen)].code, seen);
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

static void act_delay(struct exchange *x)
{
    x->state = EX_WAIT;
    timer_start(&x->worker->loop, &x->timer, clock_ns() + mode_delay_ns(x->mode));
}

/* What happens in place of the service's answer, or before the service gets the call. */
static void (*const acts[ACTS])(struct exchange *) = {
    [ACT_ANSWER] = act_answer, [ACT_BREAK] = act_break, [ACT_GOAWAY] = act_goaway,
    [ACT_HOLD] = act_hold,     [ACT_DELAY] = act_delay,
};

void act_begin(struct exchange *x)
{
    enum mode_act act = mode_act(x->mode);
    if (mode_lost(x->mode) || act == ACT_TWICE) {
        x->way = &way_drop;
        exchange_forward(x);
    } else if (acts[act]) {
        x->fired = true;
        acts[act](x);
    } else {
        x->way = reply_way_for(x->mode);
        exchange_forward(x);
    }
}

void act_after_reply(struct exchange *x)
{
    timer_stop(&x->worker->loop, &x->timer);
    exchange_leave(x);
    x->fired = true;
    if (mode_lost(x->mode)) {
        x->mode = mode_without_lost(x->mode);
        acts[mode_act(x->mode)](x);
        return;
    }
    x->way = &way_pass;
    x->answer_begun = x->answer_ended = false;
    x->sending.tries = 0;
    exchange_forward(x);
}
