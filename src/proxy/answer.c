/* SPDX-License-Identifier: Apache-2.0
 *
 * The service's side of an exchange: the call is brought to the service, again where a pooled
 * connection turns out to be stale, and the answer goes the way that the mode prescribes. */
#include "proxy/exchange_int.h"

#include "base/clock.h"
#include "core/run.h"
#include "wire/coding.h"

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
        exchange_fail(x, 502,
                      "there are too many connections to the service (limit "
                      "`upstream-connections`)");
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

#define ENDED_EARLY "the service ended the connection before its answer was complete"
#define HTTP2_HINT                                                                                 \
    " (a call that comes in HTTP/2 goes on in HTTP/2: if the service speaks HTTP/1.1 alone, see "  \
    "--http1)"

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
    buf_adds(&text, why == CUT_BAD ? "the service's answer is malformed"
                                   : "the service's answer is beyond a limit (`head-bytes`, "
                                     "`head-fields` or `interims`)");
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

/* A caller of gRPC that loses its connection sees UNAVAILABLE. Its connection is to us and stays,
 * so it is told. */
static void fail_grpc(struct exchange *x)
{
    struct field fields[] = {{SLICE("grpc-status"), SLICE("14")},
                             {SLICE("grpc-message"), SLICE(ENDED_EARLY)}};
    if (!x->told) {
        exchange_fail(x, 502, ENDED_EARLY);
        return;
    }
    x->error = ENDED_EARLY;
    stream_end(x->down, &(struct head){.fields = fields, .n_fields = 2});
    exchange_finish(x, OUTCOME(OUT_GRPC, 14));
}

/* The caller sees what happened to the service's connection, or to its stream. */
static void mirror(struct exchange *x, const struct link *l, enum wire_cut why, uint32_t code)
{
    bool reset = why == CUT_RESET || why == CUT_REFUSED;
    bool lost = why == CUT_CLOSED || l->wire->finish != FINISH_NOT;
    if (lost && !l->heard && !l->pool->heard && is_plain(x))
        hint_tls(x, "the service ended the connection without a word. If it speaks TLS,");
    if (x->grpc && lost) {
        fail_grpc(x);
    } else if (x->h2 && lost && !l->heard && !x->told) {
        exchange_fail(x, 502, "the service ended the connection without a word" HTTP2_HINT);
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
        hint_tls(x, "the service answers 400 and speaks of HTTPS:");
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
    x->promised = h->has_length ? h->length : UINT64_MAX;
    stream_head(x->down, h, end);
    if (end)
        exchange_finish(x, x->reply);
    else
        link_touch(link_of(x->down));
}

void exchange_pass_data(struct exchange *x, slice bytes)
{
    x->response_bytes += bytes.n;
    if (x->fate.client && x->told_body.n < RUN_BODY_MAX) {
        size_t room = RUN_BODY_MAX - x->told_body.n;
        chain_add(&x->told_body, (slice){bytes.p, bytes.n < room ? bytes.n : room});
    }
    stream_data(x->down, bytes);
    link_touch(link_of(x->down));
}

void exchange_pass_end(struct exchange *x, const struct head *trailers)
{
    stream_end(x->down, trailers);
    exchange_finish(x, x->reply);
}
