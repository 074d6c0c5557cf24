/* SPDX-License-Identifier: Apache-2.0
 *
 * Exchanges of the proxy in memory: a request arrives, a director decides, a service answers or does
 * not. For each mode and protocol, what the caller saw, what the service saw, and what the director
 * was told.
 *
 * There are no sockets here, and no time passes. The seam is io/conn.h: this file implements it a
 * second time, and base/clock.h as well, and the linker takes them from here before it looks into the
 * library. A connection of the proxy ends in a wire that the test holds; the clock jumps to the next
 * timer when nothing else is left to do. So the proxy is run as it is, and pays nothing for it. */
#include "proxy/exchange_int.h"

#include <stdio.h>

#include "base/clock.h"
#include "proxy/proxy.h"
#include "support/unit.h"

/* ---- the clock ---- */

static int64_t now_ns;

int64_t clock_ns(void)
{
    return now_ns;
}

int64_t clock_wall_ns(void)
{
    return now_ns;
}

/* ---- the lab ---- */

enum protocol { HTTP1, HTTP2, GRPC };

/* What the service does with a request. */
enum service {
    ANSWERS,
    ANSWERS_JSON,
    ANSWERS_NOTHING, /* 204, or trailers alone */
    REFUSES,         /* the connection */
    HANGS,
    CLOSES,
    RESETS,
    CLOSES_HALFWAY,
    RESETS_HALFWAY,
    RESETS_STREAM,
    CLOSES_ONCE, /* and answers the next request */
};

static struct lab {
    enum protocol protocol;
    enum service service;
    const char *method;
    struct worker worker;
    struct plane plane;
    struct listener *listener; /* the worker's */
    struct director director;
    mode mode;
    bool waits;           /* the director wants to see the body */
    struct line *lines;   /* all connections */
    struct line *from;    /* the caller's */
    struct stream *asked; /* the caller's; NULL: it is over */
    uint32_t n_arrived, n_connections;
    struct buf caller, seen, told; /* what happened to each of them */
    struct blocks blocks;
} lab;

static const struct wire_limits limits = {
    .head_bytes = 65536, .head_fields = 100, .streams = 100, .resets = 100, .interims = 10};

/* ---- connections in memory ---- */

/* A connection of the proxy, and the wire at its other end. */
struct line {
    struct conn conn; /* first */
    struct line *next;
    struct wire *wire;
    struct chain out; /* of that wire */
    bool reset;       /* the proxy has reset it */
    bool ended;       /* the other end has ended it */
};

static void on_deadline(struct timer *t)
{
    struct conn *c = OWNER(t, struct conn, deadline);
    if (!c->expires_ns)
        return;
    c->expires_ns = 0;
    c->events->expired(c);
}

static struct line *line_new(struct loop *l, const struct conn_events *events, void *user,
                             const struct wire_events *wire_events, bool server)
{
    struct line *line = mem_zero(sizeof *line);
    line->conn = (struct conn){.loop = l,
                               .events = events,
                               .user = user,
                               .out = CHAIN_INIT(&l->blocks),
                               .deadline.fire = on_deadline,
                               .fd = -1};
    line->out = CHAIN_INIT(&lab.blocks);
    line->wire =
        (lab.protocol == HTTP1 ? h1_new : h2_new)(server, wire_events, &limits, &line->out);
    line->wire->owner = line;
    line->next = lab.lines;
    lab.lines = line;
    conn_touch(&line->conn);
    return line;
}

static const struct wire_events caller_events, service_events;

struct conn *conn_accept(struct loop *l, int fd, struct tls_context *ctx,
                         const struct conn_events *events, void *user)
{
    (void)fd, (void)ctx;
    return &line_new(l, events, user, &caller_events, false)->conn;
}

struct conn *conn_connect(struct loop *l, const struct addr *to, struct tls_context *ctx,
                          enum tls_alpn alpn, const struct conn_events *events, void *user)
{
    (void)to, (void)ctx, (void)alpn;
    struct line *line = line_new(l, events, user, &service_events, true);
    line->conn.dialled = true;
    lab.n_connections++;
    return &line->conn;
}

int listener_init(struct listener *l, struct loop *loop, int fd,
                  void (*accepted)(struct listener *, int fd), void *user)
{
    *l = (struct listener){.loop = loop, .fd = fd, .accepted = accepted, .user = user};
    lab.listener = l;
    return 0;
}

int listener_refuse(struct listener *l)
{
    (void)l;
    return -1;
}

int listener_again(struct listener *l)
{
    (void)l;
    return -1;
}

void listener_close(struct listener *l, void (*closed)(struct listener *l))
{
    if (closed)
        closed(l);
}

void conn_read(struct conn *c, bool on)
{
    c->reading = on;
}

void conn_touch(struct conn *c)
{
    if (c->touched)
        return;
    c->touched = true;
    c->next_touched = c->loop->touched;
    c->loop->touched = c;
}

void conn_expire(struct conn *c, int64_t at_ns)
{
    c->expires_ns = at_ns;
    timer_stop(c->loop, &c->deadline);
    if (at_ns)
        timer_start(c->loop, &c->deadline, at_ns);
}

void conn_close(struct conn *c)
{
    conn_expire(c, 0);
    c->state = CONN_CLOSING;
    conn_touch(c);
}

void conn_leave(struct conn *c)
{
    conn_close(c);
}

void conn_shut(struct conn *c)
{
    fail_msg("%p: only connections of tcp:// end one side", (void *)c);
}

void conn_reset(struct conn *c)
{
    chain_clear(&c->out);
    ((struct line *)c)->reset = true;
    conn_close(c);
}

/* Everything of a chain, as the other side reads it. */
static void hand_over(struct chain *from, struct buf *to)
{
    chain_print(from, to);
    chain_clear(from);
}

static void line_flush(struct line *line)
{
    struct conn *c = &line->conn;
    struct buf bytes = BUF_INIT(SIZE_MAX);
    c->touched = false;
    if (c->state == CONN_CLOSED)
        return;
    if (c->dialled && lab.service == REFUSES && c->state != CONN_CLOSING) {
        conn_expire(c, 0);
        c->state = CONN_CLOSED;
        c->events->gone(c, GONE_CONNECT, "connection refused");
        return;
    }
    if (c->state < CONN_OPEN) {
        c->state = CONN_OPEN;
        c->events->ready(c);
    }
    if (c->state == CONN_OPEN)
        c->events->flush(c);
    hand_over(&c->out, &bytes);
    if (bytes.n)
        wire_feed(line->wire, buf_slice(&bytes));
    buf_deinit(&bytes);
    if (c->state == CONN_OPEN) {
        c->events->wrote(c);
        return;
    }
    c->state = CONN_CLOSED;
    if (line->reset)
        wire_broken(line->wire);
    else
        wire_eof(line->wire);
}

void conns_flush(struct loop *l)
{
    while (l->touched) {
        struct conn *c = l->touched;
        l->touched = c->next_touched;
        line_flush((struct line *)c);
    }
}

void conns_drop(struct loop *l)
{
    l->touched = NULL;
}

/* What the other end has for the proxy; false: nothing. */
static bool line_talk(struct line *line)
{
    struct conn *c = &line->conn;
    struct wire *w = line->wire;
    struct buf bytes = BUF_INIT(SIZE_MAX);
    if (c->state != CONN_OPEN || !c->reading || line->ended)
        return false;
    if (w->resume)
        wire_resume(w);
    wire_pump(w);
    hand_over(&line->out, &bytes);
    wire_wrote(w);
    bool talks = bytes.n || w->finish != FINISH_NOT;
    if (bytes.n)
        c->events->bytes(c, buf_slice(&bytes));
    buf_deinit(&bytes);
    if (w->finish == FINISH_NOT || c->state != CONN_OPEN)
        return talks;
    line->ended = true;
    if (w->finish == FINISH_CLOSE) {
        c->events->eof(c);
    } else {
        conn_expire(c, 0);
        c->state = CONN_CLOSED;
        c->events->gone(c, GONE_RESET, "connection reset by peer");
    }
    return true;
}

/* Until nobody has anything to say. */
static void settle(void)
{
    bool busy = true;
    while (busy) {
        lab.worker.loop.now_ns = now_ns;
        conns_flush(&lab.worker.loop);
        busy = lab.worker.loop.touched != NULL;
        for (struct line *l = lab.lines; l; l = l->next)
            busy |= line_talk(l);
    }
}

/* On to the next timer; false: none is running, or it is more than ten minutes away. */
static bool leap(void)
{
    struct loop *l = &lab.worker.loop;
    if (l->timers.n == 0 || l->timers.at[0]->at_ns > now_ns + MINUTES(10))
        return false;
    struct timer *t = l->timers.at[0];
    now_ns = t->at_ns > now_ns ? t->at_ns : now_ns;
    l->now_ns = now_ns;
    timer_stop(l, t);
    t->fire(t);
    settle();
    return true;
}

/* ---- what both ends note ---- */

static void note_text(struct buf *out, slice text)
{
    for (size_t i = 0; i < text.n; i++) /* the prefix of a gRPC message is a dot for each byte */
        buf_addc(out, text.p[i] >= ' ' && text.p[i] < 127 ? text.p[i] : '.');
}

/* How a stream ended without an end. */
static void note_cut(struct buf *out, enum wire_cut why, uint32_t code)
{
    static const char *const words[] = {[CUT_CLOSED] = "closed",
                                        [CUT_RESET] = "reset",
                                        [CUT_REFUSED] = "refused",
                                        [CUT_BAD] = "bad",
                                        [CUT_LIMIT] = "limit"};
    buf_addf(out, " %s", words[why]);
    if (code)
        buf_addf(out, "(%u)", (unsigned)code);
}

static void note_grpc(struct buf *out, const struct head *h)
{
    if (h && grpc_status(h) >= 0)
        buf_addf(out, " grpc:%d", grpc_status(h));
}

static void on_sent(struct stream *s, size_t n)
{
    (void)s, (void)n;
}

/* ---- the caller ---- */

static void caller_over(struct stream *s)
{
    lab.asked = NULL;
    stream_release(s);
}

static void caller_head(struct stream *s, const struct head *h, bool end)
{
    buf_addf(&lab.caller, "%s%u", lab.caller.n ? " " : "", (unsigned)h->status);
    if (head_get(h, SLICE("x-outfox-fault")).p)
        buf_addc(&lab.caller, '!');
    note_grpc(&lab.caller, h);
    if (h->status >= 200 && !end)
        buf_addc(&lab.caller, ' ');
    if (end) {
        buf_adds(&lab.caller, ".");
        caller_over(s);
    }
}

static void caller_data(struct stream *s, slice bytes)
{
    note_text(&lab.caller, bytes);
    stream_consume(s, bytes.n);
}

static void caller_end(struct stream *s, const struct head *trailers)
{
    note_grpc(&lab.caller, trailers);
    buf_addc(&lab.caller, '.');
    caller_over(s);
}

static void caller_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    (void)s;
    lab.asked = NULL;
    note_cut(&lab.caller, why, code);
}

static const struct wire_events caller_events = {caller_head, caller_data, caller_end, caller_abort,
                                                 on_sent};

static void add_message(struct stream *s, const char *text)
{
    char prefix[GRPC_PREFIX];
    grpc_prefix((uint32_t)strlen(text), prefix);
    if (lab.protocol == GRPC)
        stream_data(s, (slice){prefix, sizeof prefix});
    stream_data(s, slice_of(text));
}

/* Sends the head, and all of the body but its last two bytes. */
static void ask(void)
{
    struct field type = {SLICE("content-type"),
                         lab.protocol == GRPC ? SLICE("application/grpc") : SLICE("text/plain")};
    struct head h = {.method = slice_of(lab.method),
                     .scheme = SLICE("http"),
                     .authority = SLICE("service"),
                     .target = lab.protocol == GRPC ? SLICE("/p.S/M") : SLICE("/x"),
                     .fields = &type,
                     .n_fields = 1,
                     .has_length = lab.protocol != GRPC,
                     .length = 4};
    char prefix[GRPC_PREFIX];
    lab.asked = stream_open(lab.from->wire);
    lab.asked->user = &lab;
    stream_head(lab.asked, &h, false);
    grpc_prefix(4, prefix);
    if (lab.protocol == GRPC)
        stream_data(lab.asked, (slice){prefix, sizeof prefix});
    stream_data(lab.asked, SLICE("pi"));
    settle();
}

static void ask_rest(void)
{
    if (!lab.asked)
        return; /* it was answered already */
    stream_data(lab.asked, SLICE("ng"));
    stream_end(lab.asked, NULL);
    settle();
}

/* ---- the service ---- */

static void service_answer(struct stream *s)
{
    bool grpc = lab.protocol == GRPC;
    const char *body = lab.service == ANSWERS_JSON ? "{\"a\":1,\"b\":2}" : "pong";
    struct field type = {SLICE("content-type"),
                         grpc ? SLICE("application/grpc") : SLICE("application/json")};
    struct field ok = {SLICE("grpc-status"), SLICE("0")};
    struct head h = {.status = 200, .fields = &type, .n_fields = 1};
    struct head trailers = {.fields = &ok, .n_fields = 1};
    bool halfway = lab.service == CLOSES_HALFWAY || lab.service == RESETS_HALFWAY;
    switch (lab.service) {
    case REFUSES:
    case HANGS: return;
    case CLOSES:
    case CLOSES_ONCE:
        lab.service = lab.service == CLOSES ? CLOSES : ANSWERS;
        s->wire->finish = FINISH_CLOSE;
        return;
    case RESETS: s->wire->finish = FINISH_RESET; return;
    case RESETS_STREAM: stream_abort(s, FINISH_RESET, H2_INTERNAL_ERROR); return;
    case ANSWERS_NOTHING:
        h.status = grpc ? 200 : 204;
        h.bodiless = !grpc;
        h.fields = grpc ? &ok : NULL;
        h.n_fields = grpc;
        stream_head(s, &h, true);
        stream_release(s);
        return;
    case ANSWERS:
    case ANSWERS_JSON:
    case CLOSES_HALFWAY:
    case RESETS_HALFWAY:
        h.has_length = !grpc;
        h.length = strlen(body);
        stream_head(s, &h, false);
        if (halfway) {
            stream_data(s, SLICE("po"));
            wire_pump(s->wire);
            s->wire->finish = lab.service == CLOSES_HALFWAY ? FINISH_CLOSE : FINISH_RESET;
            return;
        }
        add_message(s, body);
        stream_end(s, grpc ? &trailers : NULL);
        stream_release(s);
        return;
    }
}

static void service_head(struct stream *s, const struct head *h, bool end)
{
    s->user = &lab;
    buf_addf(&lab.seen, "%s%.*s %.*s ", lab.seen.n ? "; " : "", SLICE_ARG(h->method),
             SLICE_ARG(h->target));
    if (end)
        service_answer(s);
}

static void service_data(struct stream *s, slice bytes)
{
    note_text(&lab.seen, bytes);
    stream_consume(s, bytes.n);
}

static void service_end(struct stream *s, const struct head *trailers)
{
    (void)trailers;
    buf_addc(&lab.seen, '.');
    service_answer(s);
}

static void service_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    (void)s;
    note_cut(&lab.seen, why, code);
}

static const struct wire_events service_events = {service_head, service_data, service_end,
                                                  service_abort, on_sent};

/* ---- the director ---- */

static enum arrived arrived(void *ctx, struct call_arrival *a, struct call_fate *fate)
{
    (void)ctx;
    lab.n_arrived++;
    if (lab.waits && !a->waited)
        return ARRIVED_WAIT_FOR_BODY;
    if (lab.waits) {
        struct buf body = BUF_INIT(100);
        chain_print(a->body, &body);
        buf_addf(&lab.told, "%.*s ", SLICE_ARG(a->interface));
        note_text(&lab.told, buf_slice(&body));
        buf_adds(&lab.told, a->whole ? " whole; " : "; ");
        buf_deinit(&body);
    }
    *fate = (struct call_fate){.run = 1, .mode = lab.mode};
    return ARRIVED_DECIDED;
}

static void note_outcome(struct buf *out, outcome o)
{
    if (o)
        outcome_print(o, out);
    else
        buf_addc(out, '-');
}

static void ended(void *ctx, const struct call_arrival *a, const struct call_fate *fate,
                  const struct call_end *end)
{
    (void)ctx, (void)a;
    assert_int_equal(fate->run, 1);
    note_outcome(&lab.told, end->seen);
    buf_addc(&lab.told, ' ');
    note_outcome(&lab.told, end->reply);
    buf_adds(&lab.told, end->handled ? " handled" : "");
    buf_adds(&lab.told, end->fired ? " fired" : "");
    if (end->unfit)
        buf_addf(&lab.told, ": %s", end->unfit);
}

/* An event begins at once, or in vain, or never says. */
static void event(void *ctx, const struct call_arrival *a, const struct call_fate *fate)
{
    slice name = mode_event(fate->mode);
    (void)ctx, (void)a;
    if (!slice_is(name, "never"))
        exchange_go_on(&lab.worker, fate->run, slice_is(name, "begins"));
}

/* ---- one exchange ---- */

/* A worker with one door. Its setup is made by hand, since a plane would bind sockets. rule NULL: a
 * director decides. */
static void lab_init(enum protocol protocol, enum service service, const char *mode_text,
                     const char *rule)
{
    struct proxy_config *config = config_new();
    struct setup *setup = mem_zero(sizeof *setup);
    struct err e = {0};
    now_ns = SECONDS(1000);
    lab = (struct lab){
        .protocol = protocol,
        .service = service,
        .method = "POST",
        .caller = BUF_INIT(10000),
        .seen = BUF_INIT(10000),
        .told = BUF_INIT(10000),
        .director = {.fault = SLICE("test"), .arrived = arrived, .event = event, .ended = ended}};
    if (mode_text[0] && mode_parse(slice_of(mode_text), &lab.mode, &e))
        fail_msg("%s", e.text);
    assert_int_equal(config_add_proxy(config, &e), 0);
    assert_int_equal(proxy_set(config, 0, SLICE("listen"), SLICE("127.0.0.1:0"), &e), 0);
    assert_int_equal(proxy_set(config, 0, SLICE("to"), SLICE("127.0.0.1:9"), &e), 0);
    if (rule)
        config_add_fault(config, slice_of(rule));
    if (config_finish(config, &e))
        fail_msg("%s", e.text);
    rulebook_start(&config->book, now_ns);
    *setup = (struct setup){.refs = 1,
                            .config = config,
                            .n_doors = 1,
                            .workers = 1,
                            .wire_limits = limits,
                            .door = mem_zero(sizeof *setup->door)};
    setup->door[0].spec = &config->proxies.at[0];
    setup->door[0].fd = mem_alloc(sizeof(int));
    setup->door[0].fd[0] = -1;
    assert_int_equal(addr_parse(SLICE("127.0.0.1:9"), "to", &setup->door[0].to, &e), 0);
    lab.plane.embedded = true;
    lab.plane.director = rule ? NULL : &lab.director;
    if (worker_init(&lab.worker, &lab.plane, 0, setup, &e))
        fail_msg("%s", e.text);
    setup_drop(setup); /* the worker holds it */
    lab.listener->accepted(lab.listener, -1);
    lab.from = lab.lines;
}

static void lab_deinit(void)
{
    while (lab.worker.links)
        link_kill(lab.worker.links);
    settle();
    assert_null(lab.worker.exchanges);
    while (lab.lines) {
        struct line *l = lab.lines;
        lab.lines = l->next;
        wire_free(l->wire);
        chain_clear(&l->out);
        chain_clear(&l->conn.out);
        timer_stop(&lab.worker.loop, &l->conn.deadline);
        mem_free(l);
    }
    worker_join(&lab.worker);
    blocks_deinit(&lab.blocks);
    buf_deinit(&lab.caller);
    buf_deinit(&lab.seen);
    buf_deinit(&lab.told);
}

/* The whole of it: the caller asks, and waits for as long as it takes. What took time says so. */
static void play(void)
{
    int64_t start_ns = now_ns;
    ask();
    ask_rest();
    while (lab.asked && leap())
        ;
    if (lab.asked)
        buf_adds(&lab.caller, " hangs");
    if (now_ns != start_ns) {
        buf_adds(&lab.caller, " after ");
        buf_add_ns(&lab.caller, now_ns - start_ns);
    }
}

/* ---- modes ---- */

struct row {
    const char *mode;
    enum service service;
    const char *protocols; /* 1: HTTP/1.1, 2: HTTP/2, g: gRPC */
    const char *caller;    /* its answer: `!` is injected, the dot at the end is an end in order */
    const char *seen;      /* by the service */
    const char *told;      /* to the director: outcome, reply, handled, fired */
};

#define ONCE  "POST /x ping."
#define CALL  "POST /p.S/M .....ping."
#define PONG  "200 .....pong grpc:0."
#define UNFIT "grpc:0 grpc:0 handled: there is no JSON body to corrupt"
#define EARLY "the service closed the connection before its answer was complete"

static const struct row rows[] = {
    {"", ANSWERS, "12", "200 pong.", ONCE, "200 200 handled"},
    {"", ANSWERS, "g", PONG, CALL, "grpc:0 grpc:0 handled"},
    {"", ANSWERS_NOTHING, "12", "204.", ONCE, "204 204 handled"},
    {"", ANSWERS_NOTHING, "g", "200 grpc:0.", CALL, "grpc:0 grpc:0 handled"},
    /* in place of the service */
    {"503", ANSWERS, "12", "503! Injected fault..", "", "503 - fired"},
    {"503", ANSWERS, "g", "200! grpc:14.", "", "grpc:14 - fired"},
    {"204", ANSWERS, "12", "204!.", "", "204 - fired"},
    {"204", ANSWERS, "g", "200! grpc:2.", "", "grpc:2 - fired"},
    {"grpc:14", ANSWERS, "12g", "200! grpc:14.", "", "grpc:14 - fired"},
    {"refuse", ANSWERS, "1", " reset", "", "refused - fired"},
    {"refuse", ANSWERS, "2g", " refused(7)", "", "refused - fired"},
    {"reset", ANSWERS, "1", " reset", "", "reset - fired"},
    {"reset", ANSWERS, "2g", " reset(2)", "", "reset - fired"},
    {"close", ANSWERS, "1", " closed", "", "closed - fired"},
    {"close", ANSWERS, "2g", " reset(8)", "", "closed - fired"},
    {"rst-stream:5", ANSWERS, "1", " reset", "", "reset - fired"},
    {"rst-stream:5", ANSWERS, "2g", " reset(5)", "", "reset - fired"},
    {"goaway", ANSWERS, "1", " closed", "", "closed - fired"},
    {"goaway", ANSWERS, "2g", " refused", "", "closed - fired"},
    {"hold", ANSWERS, "1", " closed after 1m", "", "timeout - fired"},
    {"hold", ANSWERS, "2g", " reset(8) after 1m", "", "timeout - fired"},
    /* before the service gets it, or on the way back */
    {"delay:2s", ANSWERS, "12", "200 pong. after 2s", ONCE, "200 200 handled fired"},
    {"delay:2s", ANSWERS, "g", PONG " after 2s", CALL, "grpc:0 grpc:0 handled fired"},
    {"delay-reply:2s", ANSWERS, "12", "200 pong. after 2s", ONCE, "200 200 handled fired"},
    {"delay-reply:2s", ANSWERS, "g", PONG " after 2s", CALL, "grpc:0 grpc:0 handled fired"},
    {"delay-reply:2s", ANSWERS_NOTHING, "12", "204. after 2s", ONCE, "204 204 handled fired"},
    {"slow:2", ANSWERS, "12", "200 pong. after 2s", ONCE, "200 200 handled fired"},
    {"slow:2", ANSWERS, "g", PONG " after 4.5s", CALL, "grpc:0 grpc:0 handled fired"},
    {"slow:2", ANSWERS_NOTHING, "12", "204.", ONCE, "204 204 handled"},
    {"truncate:2", ANSWERS, "1", "200 po closed", ONCE, "closed 200 handled fired"},
    {"truncate:2", ANSWERS, "2", "200 po bad", ONCE, "closed 200 handled fired"},
    {"truncate:2", ANSWERS, "g", "200 .. grpc:0.", CALL, "closed grpc:0 handled fired"},
    {"truncate:9", ANSWERS, "12", "200 pong.", ONCE, "200 200 handled"},
    {"truncate:9", ANSWERS, "g", PONG, CALL, "grpc:0 grpc:0 handled"},
    {"reset:2", ANSWERS, "1", "200 po reset", ONCE, "reset 200 handled fired"},
    {"reset:2", ANSWERS, "2", "200 po reset(2)", ONCE, "reset 200 handled fired"},
    {"reset:2", ANSWERS, "g", "200 .. reset(2)", CALL, "reset 200 handled fired"},
    {"close:2", ANSWERS, "1", "200 po closed", ONCE, "closed 200 handled fired"},
    {"close:2", ANSWERS, "2", "200 po reset(8)", ONCE, "closed 200 handled fired"},
    {"close:2", ANSWERS, "g", "200 .. reset(8)", CALL, "closed 200 handled fired"},
    {"corrupt:empty", ANSWERS, "12", "200.", ONCE, "200 200 handled fired"},
    {"corrupt:empty", ANSWERS, "g", "200 ..... grpc:0.", CALL, "grpc:0 grpc:0 handled fired"},
    {"corrupt:remove=a", ANSWERS_JSON, "12", "200 {\"b\":2}.", ONCE, "200 200 handled fired"},
    {"corrupt:remove=a", ANSWERS_JSON, "g", "200 .....{\"a\":1,\"b\":2} grpc:0.", CALL, UNFIT},
    {"corrupt:null=b", ANSWERS_JSON, "12", "200 {\"a\":1,\"b\":null}.", ONCE,
     "200 200 handled fired"},
    {"corrupt:null=c", ANSWERS_JSON, "12", "200 {\"a\":1,\"b\":2}.", ONCE,
     "200 200 handled: the body has no such field"},
    {"corrupt:null=c", ANSWERS, "12", "200 pong.", ONCE,
     "200 200 handled: the body is not valid JSON"},
    /* after it */
    {"duplicate", ANSWERS, "12", "200 pong.", ONCE "; " ONCE, "200 200 handled fired"},
    {"duplicate", ANSWERS, "g", PONG, CALL "; " CALL, "grpc:0 grpc:0 handled fired"},
    {"lost-reply:503", ANSWERS, "12", "503! Injected fault..", ONCE, "503 200 handled fired"},
    {"lost-reply:503", ANSWERS, "g", "200! grpc:14.", CALL, "grpc:14 grpc:0 handled fired"},
    {"lost-reply:reset", ANSWERS, "1", " reset", ONCE, "reset 200 handled fired"},
    {"lost-reply:reset", ANSWERS, "2", " reset(2)", ONCE, "reset 200 handled fired"},
    {"lost-reply:reset", ANSWERS, "g", " reset(2)", CALL, "reset grpc:0 handled fired"},
    {"lost-reply:hold", ANSWERS, "1", " closed after 1m", ONCE, "timeout 200 handled fired"},
    /* when something else has begun */
    {"event:begins", ANSWERS, "12", "200 pong.", ONCE, "200 200 handled fired"},
    {"event:begins", ANSWERS, "g", PONG, CALL, "grpc:0 grpc:0 handled fired"},
    {"event:vain", ANSWERS, "12", "200 pong.", ONCE, "200 200 handled"},
    {"event:never", ANSWERS, "12", "200 pong. after 20s", ONCE, "200 200 handled"},
    {"event:begins", CLOSES, "1", " closed", ONCE " closed", "closed closed handled fired"},
    /* services that fail by themselves: the caller sees the same */
    {"", REFUSES, "12",
     "502 outfox: service at 127.0.0.1:9 cannot be reached: connection refused..", "",
     "502 refused"},
    {"", REFUSES, "g", "200 grpc:14.", "", "grpc:14 refused"},
    {"", HANGS, "1",
     "504 outfox: no byte was transferred for too long (limit `stall`).. after 5.0m",
     ONCE " closed", "504 - handled"},
    {"", HANGS, "2",
     "504 outfox: no byte was transferred for too long (limit `stall`).. after 5.0m",
     ONCE " reset(8)", "504 - handled"},
    {"", HANGS, "g", "200 grpc:4. after 5.0m", CALL " reset(8)", "grpc:4 - handled"},
    {"", CLOSES, "1", " closed", ONCE " closed", "closed closed handled"},
    {"", CLOSES, "2", " reset(8)", ONCE " closed", "closed closed handled"},
    {"", CLOSES, "g", "200 grpc:14.", CALL " closed", "grpc:14 closed handled"},
    {"", RESETS, "1", " reset", ONCE, "reset reset handled"},
    {"", RESETS, "2", " reset(2)", ONCE, "reset reset handled"},
    {"", RESETS, "g", "200 grpc:14.", CALL, "grpc:14 reset handled"},
    {"", RESETS_STREAM, "1", " reset", ONCE, "reset reset handled"},
    {"", RESETS_STREAM, "2", " reset(2)", ONCE, "reset reset handled"},
    {"", RESETS_STREAM, "g", " reset(2)", CALL, "reset reset handled"},
    {"", CLOSES_HALFWAY, "1", "200 po closed", ONCE " closed", "closed closed handled"},
    {"", CLOSES_HALFWAY, "2", "200 po reset(8)", ONCE " closed", "closed closed handled"},
    {"", CLOSES_HALFWAY, "g", "200 po grpc:14.", CALL " closed", "grpc:14 closed handled"},
    {"", RESETS_HALFWAY, "1", "200 po reset", ONCE, "reset reset handled"},
    {"", RESETS_HALFWAY, "2", "200 po reset(2)", ONCE, "reset reset handled"},
    {"", RESETS_HALFWAY, "g", "200 po grpc:14.", CALL, "grpc:14 reset handled"},
    {"duplicate", CLOSES, "1", " closed", ONCE " closed", "closed closed handled: " EARLY},
    {"corrupt:empty", CLOSES, "1", " closed", ONCE " closed", "closed closed handled: " EARLY},
    {"lost-reply:503", REFUSES, "1",
     "502 outfox: service at 127.0.0.1:9 cannot be reached: connection refused..", "",
     "502 refused: service at 127.0.0.1:9 cannot be reached: connection refused"},
};

/* Who decides, and on which connections. */
enum decides { A_DIRECTOR, A_DIRECTOR_FRESH, A_RULE, DECIDES };

static void check_row(const struct row *r, enum protocol protocol, enum decides decides)
{
    char rule[100] = "GET /never : 503";
    if (r->mode[0])
        snprintf(rule, sizeof rule, "%s : %s", protocol == GRPC ? "p.S/M" : "POST /x", r->mode);
    lab_init(protocol, r->service, r->mode, decides == A_RULE ? rule : NULL);
    lab.worker.current->setup->config->fresh = decides == A_DIRECTOR_FRESH;
    play();
    const char *told = decides == A_RULE ? "" : r->told;
    if (strcmp(buf_text(&lab.caller), r->caller) != 0 ||
        strcmp(buf_text(&lab.seen), r->seen) != 0 || strcmp(buf_text(&lab.told), told) != 0)
        fail_msg(
            "mode \"%s\", service %d, protocol %d, decides %d:\n\"%s\", not \"%s\"\n\"%s\", not "
            "\"%s\"\n\"%s\", not \"%s\"",
            r->mode, r->service, protocol, decides, buf_text(&lab.caller), r->caller,
            buf_text(&lab.seen), r->seen, buf_text(&lab.told), told);
    lab_deinit();
}

static void test_modes(void **state)
{
    (void)state;
    static const char letters[] = "12g";
    bool tried[MODE_KINDS][3] = {0};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mode m = MODE_NONE;
        struct err e = {0};
        if (rows[i].mode[0])
            assert_int_equal(mode_parse(slice_of(rows[i].mode), &m, &e), 0);
        for (enum protocol p = HTTP1; p <= GRPC; p++) {
            if (!strchr(rows[i].protocols, letters[p]))
                continue;
            tried[mode_kind(m)][p] = true;
            for (enum decides d = A_DIRECTOR; d < DECIDES - (mode_event(m).n > 0); d++)
                check_row(&rows[i], p, d);
        }
    }
    for (int kind = 0; kind < MODE_KINDS; kind++)
        for (int p = 0; p < 3; p++)
            if (!tried[kind][p])
                fail_msg("no row for mode %d and protocol %d", kind, p);
}

/* Garbage is drawn by lot: as much of it, in the same frame. */
static void test_garbage(void **state)
{
    (void)state;
    for (enum protocol p = HTTP1; p <= GRPC; p++) {
        lab_init(p, ANSWERS, "corrupt:garbage", NULL);
        play();
        bool grpc = p == GRPC;
        assert_int_equal(strlen(buf_text(&lab.caller)), strlen(grpc ? PONG : "200 pong."));
        assert_null(strstr(buf_text(&lab.caller), "pong"));
        if (grpc)
            assert_non_null(strstr(buf_text(&lab.caller), " grpc:0."));
        lab_deinit();
    }
}

/* ---- the director waits for the body ---- */

static void test_wait_for_body(void **state)
{
    (void)state;
    static const char *const told[] = {"POST /x ping whole; 200 200 handled",
                                       "POST /x ping whole; 200 200 handled",
                                       "p.S/M .....ping whole; grpc:0 grpc:0 handled"};
    for (enum protocol p = HTTP1; p <= GRPC; p++) {
        lab_init(p, ANSWERS, "", NULL);
        lab.waits = true;
        ask();
        assert_int_equal(lab.n_arrived, 1);
        assert_string_equal(buf_text(&lab.seen), ""); /* nothing has gone on */
        assert_int_equal(lab.n_connections, 0);
        ask_rest();
        assert_int_equal(lab.n_arrived, 2);
        assert_string_equal(buf_text(&lab.seen), p == GRPC ? CALL : ONCE);
        assert_string_equal(buf_text(&lab.told), told[p]);
        lab_deinit();
    }
}

/* A body that does not come is waited for no longer than the limit says. */
static void test_wait_ends(void **state)
{
    (void)state;
    lab_init(HTTP1, ANSWERS, "", NULL);
    lab.waits = true;
    ask();
    int64_t start_ns = now_ns;
    while (lab.n_arrived == 1 && leap())
        ;
    assert_int_equal(now_ns - start_ns, SECONDS(1));
    assert_string_equal(buf_text(&lab.seen), "POST /x pi");
    ask_rest();
    assert_string_equal(buf_text(&lab.caller), "200 pong.");
    assert_string_equal(buf_text(&lab.told), "POST /x pi; 200 200 handled");
    lab_deinit();
}

/* ---- calls that are broken off ---- */

/* The caller leaves: so does the call from the service, and the director knows. */
static void test_caller_leaves(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        bool waits, seen;
        const char *told;
    } calls[] = {
        {"", false, true, "cancelled - handled"},
        {"", true, false, "POST /x pi; cancelled -"},
        {"hold", false, false, "cancelled - fired"},
        {"delay:2s", false, false, "cancelled - fired"},
        {"slow:2", false, true, "cancelled - handled"},
        {"lost-reply:503", false, true, "cancelled - handled"},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (enum protocol p = HTTP1; p <= HTTP2; p++) {
            lab_init(p, ANSWERS, calls[i].mode, NULL);
            lab.waits = calls[i].waits;
            ask();
            stream_abort(lab.asked, FINISH_NOT, H2_CANCEL);
            settle();
            assert_string_equal(buf_text(&lab.seen), !calls[i].seen ? ""
                                                     : p == HTTP1   ? "POST /x pi closed"
                                                                    : "POST /x pi reset(8)");
            assert_string_equal(buf_text(&lab.told), calls[i].told);
            assert_null(lab.worker.exchanges);
            lab_deinit();
        }
}

/* A run is over: what is left of its calls is broken off, of other runs nothing. */
static void test_cut(void **state)
{
    (void)state;
    for (enum protocol p = HTTP1; p <= GRPC; p++) {
        lab_init(p, HANGS, "", NULL);
        ask();
        ask_rest();
        exchange_cut(&lab.worker, 2);
        settle();
        assert_string_equal(buf_text(&lab.told), "");
        exchange_cut(&lab.worker, 1);
        settle();
        assert_string_equal(buf_text(&lab.caller), p == HTTP1 ? " closed" : " reset(8)");
        assert_string_equal(buf_text(&lab.told), "closed - handled");
        lab_deinit();
    }
}

/* A kept connection that breaks was probably stale: what may be sent twice is sent again, what may
 * not had a connection of its own to begin with; and a call of a run is never sent twice. */
static void test_sent_again(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        bool directed;
        const char *caller, *seen;
        uint32_t connections;
    } calls[] = {
        {"PUT", false, "200 pong. 200 pong.", "PUT /x ping.; PUT /x ping.; PUT /x ping. closed", 2},
        {"PUT", true, "200 pong. closed", "PUT /x ping.; PUT /x ping. closed", 2},
        {"POST", false, "200 pong. closed", ONCE "; " ONCE " closed", 2},
    };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        lab_init(HTTP1, ANSWERS, "", calls[i].directed ? NULL : "GET /never : 503");
        lab.method = calls[i].method;
        play();
        lab.service = CLOSES_ONCE;
        play();
        assert_string_equal(buf_text(&lab.caller), calls[i].caller);
        assert_string_equal(buf_text(&lab.seen), calls[i].seen);
        assert_int_equal(lab.n_connections, calls[i].connections);
        lab_deinit();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_modes),         cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_wait_for_body), cmocka_unit_test(test_wait_ends),
        cmocka_unit_test(test_caller_leaves), cmocka_unit_test(test_cut),
        cmocka_unit_test(test_sent_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
