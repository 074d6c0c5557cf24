/* SPDX-License-Identifier: Apache-2.0
 *
 * link: a connection (io) with a wire (wire) on it. Bytes go up into the wire; what the wire has
 * for the peer goes down. A client's link finds out first which protocol is spoken: ALPN says it,
 * or the first bytes do.
 *
 *   accepted --bytes--> speaking --finish, expired or gone--> freed
 *   connected (the wire is there from the start; what it sends waits for the connection)
 *
 * 1. A link is freed only from an event of its connection or by the worker, never from within an
 *    event of its wire.
 * 2. Before a link goes, its wire has told the owners of all streams (wire_broken). */
#include "io/sys.h"
#include "proxy/link_int.h"

enum { RESET_LOOKS = 1000, RESET_LOOK_NS = 5 * 1000 * 1000 };
static const int64_t FINISH_NS = 5000000000; /* for the last bytes, without progress */
static const int64_t SILENT_NS = 3000000000; /* then a client that says nothing is told of */

static const struct conn_events client_events, service_events;

static const struct limits *limits_of(const struct link *l)
{
    return &l->generation->setup->config->limits;
}

static const struct door *door_of(const struct link *l)
{
    return &l->generation->setup->door[l->upstream->door];
}

static struct link *link_new(struct worker *w, struct generation *g)
{
    struct link *l = mem_zero(sizeof *l);
    l->worker = w;
    l->generation = generation_hold(g);
    l->next = w->links;
    l->self = &w->links;
    if (l->next)
        l->next->self = &l->next;
    w->links = l;
    return l;
}

/* The connection is gone or going; only what is ours is left. */
static void link_free(struct link *l)
{
    struct worker *w = l->worker;
    l->leaving = true;
    if (l->upstream)
        upstream_forget(l);
    else
        atomic_fetch_sub(&w->plane->n_clients, 1);
    if (l->wire) {
        wire_broken(l->wire);
        wire_free(l->wire);
    }
    *l->self = l->next;
    if (l->next)
        l->next->self = l->self;
    generation_drop(l->generation);
    mem_free(l);
    worker_check_done(w);
}

static void link_close(struct link *l)
{
    conn_close(l->conn);
    link_free(l);
}

void link_kill(struct link *l)
{
    l->killed = true;
    conn_reset(l->conn);
    link_free(l);
}

void link_refresh(struct link *l)
{
    if (l->wire)
        conn_read(l->conn, wire_reads(l->wire));
    conn_touch(l->conn);
}

void link_shutdown(struct link *l)
{
    if (!l->wire) {
        link_close(l);
        return;
    }
    wire_shutdown(l->wire);
    link_touch(l);
}

void link_part(struct link *l)
{
    if (l->parted || !l->used || !l->wire || !l->wire->ops->multiplexed || l->n_calls)
        return;
    l->parted = true;
    wire_part(l->wire);
    link_touch(l);
}

/* ---- deadlines ---- */

/* Whoever has nothing to say to an HTTP server may be waiting for it to speak first. */
static bool looks_soon(const struct link *l)
{
    return !l->upstream && !l->looked && limits_of(l)->head_ns > SILENT_NS;
}

/* While calls are open, exchange_sweep watches them. Else: to write the last bytes, to send a head,
 * or simply without a call, also when the peer does not take what is left of the last one. What is
 * left of calls, in either direction, counts as part of the last one, however it drips. */
static void set_deadline(struct link *l)
{
    const struct limits *limits = limits_of(l);
    int64_t now = l->conn->loop->now_ns;
    struct wire *w = l->wire;
    bool heading = !w || (!wire_idle(w) && w->n_streams == 0 && l->conn->out.n == 0);
    if (l->n_calls || !heading)
        l->heading = false;
    if (l->n_calls) {
        conn_expire(l->conn, 0);
    } else if (w && w->finish != FINISH_NOT) {
        conn_expire(l->conn, now + (l->upstream ? 0 : FINISH_NS));
    } else if (!heading) {
        int64_t idle = now + (l->upstream ? limits->upstream_idle_ns : limits->idle_ns);
        int64_t total = w->draining || w->n_streams ? l->call_ns + limits->total_ns : idle;
        conn_expire(l->conn, total < idle ? total : idle);
    } else if (!l->heading) {
        l->heading = true;
        conn_expire(l->conn, now + (looks_soon(l) ? SILENT_NS : limits->head_ns));
    }
}

void link_use(struct link *l)
{
    l->n_calls++;
    l->used = true;
    if (!l->upstream)
        l->site->spoken = true;
    l->call_ns = l->conn->loop->now_ns;
    if (l->ready)
        conn_expire(l->conn, 0);
}

void link_unuse(struct link *l)
{
    l->n_calls--;
    if (l->leaving)
        return;
    conn_touch(l->conn); /* the wire has something to say, or is done */
    if (l->n_calls == 0 && l->ready)
        set_deadline(l);
}

/* ---- what is no HTTP ---- */

/* Other protocols hang or fail here in ways that nobody understands: so it is said, once for each
 * listener, who does what and what to do. */
static void warn_foreign(const struct link *l, const char *does, const char *remedy)
{
    const struct door *door = &l->generation->setup->door[l->site->door];
    slice caller = door->spec->caller;
    struct buf text = BUF_INIT(1000), to = BUF_INIT(200);
    addr_print(&door->to, &to);
    buf_addf(&text, "%.*s %s. Here only HTTP/1.1, HTTP/2 and gRPC pass; ",
             SLICE_ARG(caller.n ? caller : SLICE("a client")), does);
    buf_addf(&text, "%s %s", remedy, buf_text(&to));
    plane_warn(l->worker->plane, door->spec->service.p, buf_text(&text));
    buf_deinit(&text);
    buf_deinit(&to);
}

static const char past_us[] = "for another protocol let it connect to the service itself, at";

/* Where calls came before it is a spare connection of somebody's pool. */
static void warn_silent(struct link *l)
{
    if (l->heard || l->site->told_silent || l->site->spoken)
        return;
    warn_foreign(l, "has connected, and sent nothing for 3s", past_us);
    l->site->told_silent = true;
}

/* The first bytes that a client sends are no request: without an end that HTTP knows, it would be
 * waited for until the limit `head-time`. So what has come counts as all, and is refused. */
static void refuse_foreign(struct link *l, slice bytes)
{
    bool tls = bytes.n > 1 && bytes.p[0] == 0x16 && bytes.p[1] == 3;
    struct buf does = BUF_INIT(200);
    buf_adds(&does,
             tls ? "speaks TLS where plain HTTP is expected" : "sent something that is not HTTP: ");
    for (size_t i = 0; !tls && i < bytes.n && i < 24; i++) {
        char c = bytes.p[i];
        buf_adds(&does, c == '\r' ? "\\r" : c == '\n' ? "\\n" : "");
        if (c != '\r' && c != '\n')
            buf_addc(&does, c >= ' ' && c < 0x7f ? c : '?');
    }
    if (!l->site->told_foreign)
        warn_foreign(l, buf_text(&does),
                     tls ? "write http:// where it has https://. The service is at" : past_us);
    l->site->told_foreign = true;
    buf_deinit(&does);
    wire_feed(l->wire, SLICE("\r\n\r\n"));
}

/* ---- events of the connection ---- */

static void speak(struct link *l, bool h2)
{
    const struct wire_limits *limits = &l->generation->setup->wire_limits;
    bool server = !l->upstream;
    l->wire =
        (h2 ? h2_new : h1_new)(server, server ? &down_events : &up_events, limits, &l->conn->out);
    l->wire->owner = l;
    if (server && !h2 && l->generation->setup->config->fresh)
        wire_part(l->wire);
}

static void on_client_ready(struct conn *c)
{
    struct link *l = c->user;
    if (c->tls && tls_alpn(c->tls) == ALPN_H2)
        speak(l, true);
    else if (c->tls)
        speak(l, false);
    l->ready = true;
    if (l->wire) {
        set_deadline(l);
        link_touch(l);
    }
}

/* The first bytes say which protocol it is. */
static void sniff(struct link *l, slice bytes)
{
    size_t n = sizeof l->sniffed - l->n_sniffed;
    if (n > bytes.n)
        n = bytes.n;
    memcpy(l->sniffed + l->n_sniffed, bytes.p, n);
    int version = wire_sniff((slice){l->sniffed, l->n_sniffed + n});
    if (version == 0) {
        l->n_sniffed = (uint8_t)(l->n_sniffed + n);
        set_deadline(l);
        return;
    }
    speak(l, version == 2);
    if (l->n_sniffed)
        wire_feed(l->wire, (slice){l->sniffed, l->n_sniffed});
    wire_feed(l->wire, bytes);
}

/* Is the rest of a message on its way? Of HTTP/1.1, where many send a head and a body apart. */
static bool wants_more(const struct link *l)
{
    if (!l->wire || l->wire->ops->multiplexed)
        return false;
    return l->upstream ? l->n_calls > 0 : l->unfinished;
}

/* A service's first bytes, in case that they are of another protocol. */
static void listen_in(struct link *l, slice bytes)
{
    l->upstream->heard = true;
    l->n_sniffed = (uint8_t)(bytes.n < sizeof l->sniffed ? bytes.n : sizeof l->sniffed);
    memcpy(l->sniffed, bytes.p, l->n_sniffed);
}

static void on_bytes(struct conn *c, slice bytes)
{
    struct link *l = c->user;
    bool foreign = !l->upstream && !l->heard && !wire_may_be_http(bytes);
    if (l->upstream && !l->heard)
        listen_in(l, bytes);
    l->heard = true;
    if (l->wire)
        wire_feed(l->wire, bytes);
    else
        sniff(l, bytes);
    if (foreign && l->wire && !l->wire->ops->multiplexed && l->wire->finish == FINISH_NOT)
        refuse_foreign(l, bytes);
    if (wants_more(l))
        sys_ack(c->fd);
    link_refresh(l);
}

static void on_eof(struct conn *c)
{
    struct link *l = c->user;
    if (!l->wire) {
        link_close(l);
        return;
    }
    wire_eof(l->wire);
    link_touch(l);
}

static void on_flush(struct conn *c)
{
    struct link *l = c->user;
    if (!l->wire)
        return;
    if (l->wire->resume)
        wire_resume(l->wire);
    wire_pump(l->wire);
}

/* The wire is done and its last bytes are with the system. A reset would throw away those that the
 * peer has not got yet, so it waits for them. */
static void finish(struct link *l)
{
    if (l->wire->finish == FINISH_CLOSE && l->served) {
        conn_leave(l->conn);
        link_free(l);
    } else if (l->wire->finish == FINISH_CLOSE) {
        link_close(l);
    } else if (sys_unsent(l->conn->fd) == 0 || l->resetting > RESET_LOOKS) {
        link_kill(l);
    } else {
        l->resetting++;
        conn_read(l->conn, false);
        conn_expire(l->conn, l->conn->loop->now_ns + RESET_LOOK_NS);
    }
}

static void on_wrote(struct conn *c)
{
    struct link *l = c->user;
    struct wire *w = l->wire;
    if (!w)
        return;
    wire_wrote(w);
    if (w->finish != FINISH_NOT && c->out.n == 0) {
        finish(l);
        return;
    }
    conn_read(c, wire_reads(w));
    if (l->upstream)
        upstream_settle(l);
    if (!l->upstream || l->ready)
        set_deadline(l);
    if (w->resume)
        link_touch(l);
}

static void warn_unreachable(const struct link *l, const char *why)
{
    struct buf text = BUF_INIT(600);
    buf_addf(&text, "it cannot be reached at %s (%s): does it run, and listen there?",
             door_of(l)->to.text, why);
    plane_warn(l->worker->plane, door_of(l)->spec->service.p, buf_text(&text));
    buf_deinit(&text);
}

static void on_gone(struct conn *c, enum conn_gone why, const char *text)
{
    struct link *l = c->user;
    l->failed = why != GONE_RESET && !l->ready;
    l->why = text;
    if (l->failed && l->upstream && why == GONE_CONNECT)
        warn_unreachable(l, text);
    else if (l->failed)
        plane_warn(l->worker->plane, l->upstream ? door_of(l)->spec->service.p : NULL, text);
    link_free(l);
}

static void on_expired(struct conn *c)
{
    struct link *l = c->user;
    if (l->upstream && !l->ready) {
        on_gone(c, GONE_CONNECT, "connecting took too long (limit `connect`)");
        conn_reset(c);
        return;
    }
    if (l->resetting) {
        finish(l);
        return;
    }
    if (l->heading && looks_soon(l)) {
        l->looked = true;
        warn_silent(l);
        conn_expire(c, c->loop->now_ns + limits_of(l)->head_ns - SILENT_NS);
        return;
    }
    if (!l->wire || !wire_idle(l->wire) || l->wire->finish != FINISH_NOT || c->out.n) {
        link_kill(l);
        return;
    }
    link_shutdown(l);
    set_deadline(l);
}

static const struct conn_events client_events = {
    .ready = on_client_ready,
    .bytes = on_bytes,
    .eof = on_eof,
    .flush = on_flush,
    .wrote = on_wrote,
    .gone = on_gone,
    .expired = on_expired,
};

void link_accept(struct site *site, int fd)
{
    struct worker *w = site->worker;
    struct generation *g = w->current;
    if (atomic_fetch_add(&w->plane->n_clients, 1) >=
        (uint64_t)g->setup->config->limits.connections) {
        atomic_fetch_sub(&w->plane->n_clients, 1);
        plane_warn(w->plane, g->setup->door[site->door].spec->service.p,
                   "a client was turned away: too many connections (limit `connections`)");
        sys_close(fd);
        return;
    }
    struct link *l = link_new(w, g);
    l->site = site;
    l->conn = conn_accept(&w->loop, fd, g->setup->door[site->door].listen_tls, &client_events, l);
    set_deadline(l);
    conn_read(l->conn, true);
}

/* ---- to a service ---- */

static void on_service_ready(struct conn *c)
{
    struct link *l = c->user;
    if (c->tls && l->wire->ops->multiplexed && tls_alpn(c->tls) != ALPN_H2) {
        on_gone(c, GONE_TLS, "the service does not speak HTTP/2 over TLS (ALPN)");
        conn_reset(c);
        return;
    }
    l->ready = true;
    set_deadline(l);
    link_touch(l);
}

static const struct conn_events service_events = {
    .ready = on_service_ready,
    .bytes = on_bytes,
    .eof = on_eof,
    .flush = on_flush,
    .wrote = on_wrote,
    .gone = on_gone,
    .expired = on_expired,
};

struct link *link_connect(struct upstream *u, bool h2)
{
    struct worker *w = u->worker;
    const struct door *door = &u->generation->setup->door[u->door];
    struct link *l = link_new(w, u->generation);
    l->upstream = u;
    l->conn =
        conn_connect(&w->loop, &door->to, door->to_tls, h2 ? ALPN_H2 : ALPN_H1, &service_events, l);
    speak(l, h2);
    conn_expire(l->conn, w->loop.now_ns + limits_of(l)->connect_ns);
    conn_read(l->conn, true);
    return l;
}
