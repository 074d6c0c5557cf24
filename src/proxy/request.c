/* SPDX-License-Identifier: Apache-2.0
 *
 * The caller's side of an exchange: its request arrives, is named, and its fate is decided. The
 * body is waited for only when it is part of the name. */
#include "proxy/exchange_int.h"

#include "base/clock.h"
#include "base/hash.h"

static struct request_facts facts_of(const struct exchange *x)
{
    static const slice health = {"grpc.health.", 12};
    return (struct request_facts){.service = exchange_setup(x)->door[x->door].spec->service,
                                  .interface = x->interface,
                                  .health = x->grpc && slice_starts(x->interface, health),
                                  .payload = x->payload,
                                  .head = x->request,
                                  .now_ns = x->start_ns};
}

static void carry_out(struct exchange *x)
{
    if (x->mode == MODE_NONE)
        exchange_forward(x);
    else
        act_begin(x);
}

/* ---- a director decides ---- */

static void collect(struct exchange *x);

/* The call arrives; asked once, or a second time when the body has been waited for. */
static enum arrived ask_director(struct exchange *x, const struct director *d, bool waited)
{
    struct caller *k = caller_of(link_of(x->down));
    if (!x->arrival.head)
        x->arrival = (struct call_arrival){.door = x->door,
                                           .fd = k->link.conn->fd,
                                           .memo = &k->memo,
                                           .head = x->request,
                                           .interface = x->interface,
                                           .grpc = x->grpc,
                                           .h2 = x->h2,
                                           .body = &x->body,
                                           .start_ns = x->start_ns,
                                           .arena = &x->arena};
    x->arrival.waited = waited;
    x->arrival.whole = x->request_ended || x->framing.messages > 0;
    return d->arrived(d->ctx, &x->arrival, &x->fate);
}

static void direct(struct exchange *x, const struct director *d, bool waited)
{
    static const struct rule_dress plain;
    switch (ask_director(x, d, waited)) {
    case ARRIVED_WAIT_FOR_BODY: collect(x); break;
    case ARRIVED_DECIDED:
        x->mode = x->fate.mode;
        x->fault = d->fault;
        x->dress = &plain;
        carry_out(x);
        break;
    }
}

void exchange_tell(const struct exchange *x)
{
    const struct director *d = x->worker->plane->director;
    struct call_end end = {.seen = x->seen,
                           .reply = x->reply,
                           .handled = x->sending.tries > 0 && outcome_kind(x->reply) != OUT_REFUSED,
                           .fired = x->fired,
                           .kept = x->request_ended && x->body.n == x->request_bytes,
                           .unfit = x->fate.mode != MODE_NONE && !x->fired ? x->error : NULL,
                           .answer = &x->told_body,
                           .coding = x->coding,
                           .end_ns = clock_ns()};
    d->ended(d->ctx, &x->arrival, &x->fate, &end);
}

/* ---- rules decide ---- */

static void decide(struct exchange *x)
{
    const struct setup *setup = exchange_setup(x);
    const struct rules *rules = &setup->door[x->door].spec->rules;
    struct request_facts facts = facts_of(x);
    if (setup->log)
        x->n = naming_count(x);
    x->rule = x->interface.n ? rules_find(rules, &facts) : NULL;
    if (x->rule) {
        x->mode = x->rule->mode;
        x->dress = &x->rule->dress;
        x->fault = x->rule->id;
    }
    carry_out(x);
}

/* The hash of the body; beyond the limit, of its beginning and the length; of gRPC, of the first
 * message. However the bytes were cut on their way, it is the same. */
static uint32_t payload_hash(const struct exchange *x)
{
    size_t limit = (size_t)exchange_limits(x)->payload;
    bool first = x->grpc && x->framing.messages > 0 && x->named < limit;
    size_t most = first ? x->named : limit;
    struct buf text = BUF_INIT(most);
    chain_print(&x->body, &text);
    uint64_t sum = hash_slice(buf_slice(&text));
    bool whole = x->request_ended && x->body.n <= limit;
    if (!first && !whole)
        sum = hash_mix(sum, x->request->has_length ? x->request->length : UINT64_MAX);
    buf_deinit(&text);
    return hash_fold(sum);
}

void exchange_collected(struct exchange *x)
{
    const struct director *d = x->worker->plane->director;
    timer_stop(&x->worker->loop, &x->timer);
    if (d) {
        direct(x, d, true);
        return;
    }
    x->payload = x->body.n ? payload_hash(x) : 0; /* without a body there is nothing to name */
    decide(x);
}

/* Is the body, as far as it is there, enough to name the call by? Of a gRPC call the first message
 * is: a caller that streams may wait for an answer to it. */
static bool body_suffices(struct exchange *x, slice more)
{
    while (x->grpc && more.n && x->framing.messages == 0) {
        size_t n = grpc_feed(&x->framing, more);
        x->named += n;
        more = slice_from(more, n);
    }
    return x->request_ended || x->framing.messages > 0 ||
           x->body.n >= (size_t)exchange_limits(x)->payload;
}

static void collect(struct exchange *x)
{
    if (body_suffices(x, (slice){0})) {
        exchange_collected(x);
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
    struct caller *k = caller_of(link_of(s));
    struct worker *w = k->site->worker;
    if (k->site->gone) {
        stream_abort(s, FINISH_CLOSE, H2_REFUSED_STREAM);
        return;
    }
    struct exchange *x = exchange_new(w, s);
    const struct setup *setup = exchange_setup(x);
    const struct proxy_spec *spec = setup->door[x->door].spec;
    x->request = head_copy(&x->arena, h);
    x->request_ended = end;
    k->link.unfinished = !end;
    x->h2 = s->wire->ops->multiplexed;
    x->grpc = x->h2 && grpc_is_call(h);
    if (spec->rules.list.n || setup->log || w->plane->director)
        naming_interface(x);
    if (w->plane->director) {
        direct(x, w->plane->director, false);
        return;
    }
    struct request_facts facts = facts_of(x);
    if (setup->config->identify_payload || rules_want_payload(&spec->rules, &facts))
        collect(x); /* the body is part of what the rules decide by */
    else
        decide(x);
}

static void down_data(struct stream *s, slice bytes)
{
    struct exchange *x = s->user;
    x->active_ns = x->worker->loop.now_ns;
    x->request_bytes += bytes.n;
    if (x->state == EX_HELD) { /* nobody will want it, but the caller's leaving is to be seen */
        stream_consume(s, bytes.n);
        link_refresh(link_of(s));
        return;
    }
    /* once forwarded, it is kept while it may have to be sent again */
    bool over = x->answer_begun && mode_act(x->mode) != ACT_TWICE;
    bool fits = x->body.n + bytes.n <= (size_t)exchange_limits(x)->payload;
    if (!x->up || (x->replayable && !over && fits)) {
        chain_add(&x->body, bytes);
    } else {
        x->replayable = false;
        chain_clear(&x->body);
    }
    if (x->up) {
        exchange_give(x, bytes);
    } else if (x->state == EX_COLLECT) {
        stream_consume(s, bytes.n); /* so that more can come; the limit bounds it */
        x->consumed += bytes.n;
        link_refresh(link_of(s));
        if (body_suffices(x, bytes))
            exchange_collected(x);
    }
}

static void down_end(struct stream *s, const struct head *trailers)
{
    struct exchange *x = s->user;
    link_of(s)->unfinished = false;
    x->request_ended = true;
    if (trailers)
        x->request_trailers = head_copy(&x->arena, trailers);
    if (x->up) {
        stream_end(x->up, trailers);
        link_touch(link_of(x->up));
        if (x->tunnel)
            exchange_finish(x, x->reply);
    } else if (x->state == EX_COLLECT) {
        exchange_collected(x);
    }
}

static void down_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct exchange *x = s->user;
    const struct director *d = x->worker->plane->director;
    (void)code;
    if (d && x->state == EX_COLLECT) /* it is to know of the call, though nothing comes of it */
        (void)ask_director(x, d, true);
    x->down = NULL;
    link_unuse(link_of(s));
    if (why == CUT_BAD)
        x->error = "the request is malformed";
    else if (why == CUT_LIMIT)
        x->error = "the request is beyond a limit";
    if (link_of(s)->killed) {
        x->error = "the call was cut off by the proxy, which was told to stop (limit `drain`)";
        exchange_finish(x, OUTCOME(OUT_RESET, 0));
        return;
    }
    bool whole = x->tunnel || x->response_bytes == x->promised; /* it left when it had all */
    exchange_finish(x, whole ? x->reply : OUTCOME(OUT_CANCELLED, 0));
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
