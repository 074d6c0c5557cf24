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
 *   decide()            by the rules; from then on the mode decides (act_begin, answer.c)
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
#include "base/hash.h"

enum { SPARE_MAX = 256 };

static const int64_t SWEEP_NS = SECONDS(1);
static const int64_t EVENT_NS = SECONDS(20); /* beyond what the director waits for an event */

static void on_timer(struct timer *t);

/* ---- beginning and end ---- */

/* A call that a client has begun. */
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

/* Done with the service, for now or for good. */
static void exchange_leave(struct exchange *x)
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

/* Tells the director how the call ended. */
static void tell_director(const struct exchange *x)
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
                           .told_ns = x->told_ns,
                           .end_ns = clock_ns()};
    d->ended(d->ctx, &x->arrival, &x->fate, &end);
}

static void record_exchange(const struct exchange *x)
{
    mode planned = x->rule ? x->rule->mode : x->fate.mode;
    struct call_record r = {.service = exchange_setup(x)->door[x->door].spec->service,
                            .interface = x->interface,
                            .protocol = x->grpc ? SLICE("grpc")
                                        : x->h2 ? SLICE("http/2")
                                                : SLICE("http/1.1"),
                            .payload = x->payload,
                            .n = x->n,
                            .fault = planned ? x->fault : SLICE(""),
                            .mode = planned,
                            .fired = x->fired,
                            .resent = x->sending.resent,
                            .seen = x->seen,
                            .reply = x->reply,
                            .start_ns = x->start_ns,
                            .forward_ns = x->forward_ns,
                            .answer_ns = x->answer_ns,
                            .request_bytes = x->request_bytes,
                            .response_bytes = x->response_bytes,
                            .error = x->error};
    record_call(x->worker, &r);
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
    if (w->current->setup->log)
        record_exchange(x);
    if (x->fate.run)
        tell_director(x);
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

/* Answers in place of the service. */
static void exchange_answer(struct exchange *x, const struct head *h, slice body, outcome seen)
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

/* The same as a gRPC server that has nothing to say but a status: one head with the trailers, and
 * at most FIELDS_MORE fields more. */
enum { FIELDS_MORE = RULE_FIELDS_MAX + 1 };
static void exchange_answer_grpc(struct exchange *x, uint32_t code, slice message,
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

/* ---- faults instead of the service ----
 *
 * Or before the service gets the call. One row per act of mode.list; what has no row lets the call go
 * to the service, and answer.c does the rest. */

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

static void act_answer(struct exchange *x)
{
    const struct rule_dress *dress = x->dress;
    uint32_t code = mode_argument(x->mode);
    uint16_t status = (uint16_t)code;
    struct field fields[1 + FIELDS_MORE];
    struct head h = {.status = status};
    if (x->grpc || mode_kind(x->mode) == MODE_GRPC) {
        dress_up(x, &h, fields);
        exchange_answer_grpc(x, mode_kind(x->mode) == MODE_GRPC ? code : grpc_of_status(status),
                             dress->has_message ? dress->message : SLICE("Injected fault"), fields,
                             h.n_fields);
        return;
    }
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

static void act_wait(struct exchange *x)
{
    bool held =
        mode_act(x->mode) == ACT_HOLD; /* until the caller leaves; else the service is next */
    x->state = held ? EX_HELD : EX_WAIT;
    timer_start(&x->worker->loop, &x->timer,
                clock_ns() + (held ? exchange_limits(x)->hold_ns : mode_delay_ns(x->mode)));
}

/* Something else begins; the call goes on when it has, or when it takes too long. A caller that leaves
 * meanwhile may do so because of it: then the fault has fired. */
static void act_event(struct exchange *x)
{
    const struct director *d = x->worker->plane->director;
    x->state = EX_WAIT;
    timer_start(&x->worker->loop, &x->timer, clock_ns() + EVENT_NS);
    d->event(d->ctx, &x->arrival, &x->fate);
}

void exchange_go_on(struct worker *w, uint64_t run, bool begun)
{
    for (struct exchange *x = w->exchanges, *next; x; x = next) {
        next = x->next;
        if (x->state != EX_WAIT || x->fate.run != run || mode_act(x->mode) != ACT_EVENT)
            continue;
        timer_stop(&w->loop, &x->timer);
        x->fired = begun;
        exchange_forward(x);
    }
}

/* What happens in place of the service's answer, or before the service gets the call. */
static void (*const acts[ACTS])(struct exchange *) = {
    [ACT_ANSWER] = act_answer, [ACT_BREAK] = act_break, [ACT_GOAWAY] = act_goaway,
    [ACT_HOLD] = act_wait,     [ACT_DELAY] = act_wait,  [ACT_EVENT] = act_event,
};

/* A mode was chosen for the call, or none: acts it out, or lets it go on. */
static void act_begin(struct exchange *x)
{
    enum mode_act act = mode_act(x->mode);
    if (x->mode == MODE_NONE) {
        exchange_forward(x);
    } else if (mode_lost(x->mode) || act == ACT_TWICE) {
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

/* ---- the caller's side ----
 *
 * Its request arrives, is named, and its fate is decided. The body is waited for only when it is part
 * of the name. */

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

/* How many calls of its name came before it, for the log. */
static void count_name(struct exchange *x)
{
    const struct setup *setup = exchange_setup(x);
    x->n =
        naming_count(setup->naming, setup->door[x->door].spec->service, x->interface, x->payload);
}

static void direct(struct exchange *x, const struct director *d, bool waited)
{
    static const struct rule_dress plain;
    switch (ask_director(x, d, waited)) {
    case ARRIVED_WAIT_FOR_BODY: collect(x); break;
    case ARRIVED_DECIDED:
        if (exchange_setup(x)->log)
            count_name(x);
        x->mode = x->fate.mode;
        x->fault = d->fault;
        x->dress = &plain;
        act_begin(x);
        break;
    }
}

/* ---- rules decide ---- */

static void decide(struct exchange *x)
{
    const struct setup *setup = exchange_setup(x);
    const struct rules *rules = &setup->door[x->door].spec->rules;
    struct request_facts facts = facts_of(x);
    if (setup->log)
        count_name(x);
    x->rule = x->interface.n ? rules_find(rules, &facts) : NULL;
    if (x->rule) {
        x->mode = x->rule->mode;
        x->dress = &x->rule->dress;
        x->fault = x->rule->id;
    }
    act_begin(x);
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

/* The body has arrived as far as it is waited for. */
static void collected(struct exchange *x)
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
            collected(x);
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
        collected(x);
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
        x->error = "the request exceeds a limit";
    if (link_of(s)->killed) {
        x->error = "the call was cut off because the proxy was stopped (limit `drain`)";
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

/* ---- time ---- */

static void on_timer(struct timer *t)
{
    struct exchange *x = OWNER(t, struct exchange, timer);
    switch (x->state) {
    case EX_COLLECT: collected(x); break;
    case EX_WAIT:
        x->fired = mode_act(x->mode) != ACT_EVENT; /* which did not begin in time */
        exchange_forward(x);
        break;
    case EX_FORWARD:
        if (x->way->tick)
            x->way->tick(x);
        break;
    case EX_HELD: /* a caller with more patience than the limit */
        exchange_break(x, FINISH_CLOSE, H2_CANCEL, OUTCOME(OUT_TIMEOUT, 0));
        break;
    case EX_DONE: break;
    }
}

void exchange_sweep(struct timer *t)
{
    struct worker *w = OWNER(t, struct worker, sweep);
    int64_t now = w->loop.now_ns;
    for (struct exchange *x = w->exchanges, *next; x; x = next) {
        next = x->next;
        const struct limits *limits = exchange_limits(x);
        bool waits = x->timer.at_ns != 0; /* for us, not for a peer */
        bool stalled = x->state == EX_FORWARD && !waits && now - x->active_ns > limits->stall_ns;
        if (stalled)
            exchange_fail(x, 504, "no byte was transferred for too long (limit `stall`)");
        else if (now - x->start_ns > limits->total_ns)
            exchange_fail(x, 504, "the call took too long (limit `total`)");
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
