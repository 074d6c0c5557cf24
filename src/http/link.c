/* SPDX-License-Identifier: Apache-2.0 */
#include "http/link.h"

#include "base/clock.h"
#include "io/sys.h"

enum { RESET_LOOKS = 1000, TRIES_MAX = 3 };
static const int64_t RESET_LOOK_NS = MS(5);
static const int64_t FINISH_NS = SECONDS(5); /* for the last bytes, without progress */
static const int64_t SAFE_NS = MS(500);      /* idle for so long, it may be about to be closed */

static const struct conn_events link_events;

static void link_init(struct link *l, const struct link_terms *terms)
{
    l->terms = terms;
    l->next = *terms->all;
    l->self = terms->all;
    if (l->next)
        l->next->self = &l->next;
    *terms->all = l;
}

/* In pool->idle or pool->shared. */
static void list_remove(struct link *l)
{
    if (!l->idle_self)
        return;
    *l->idle_self = l->next_idle;
    if (l->next_idle)
        l->next_idle->idle_self = l->idle_self;
    l->idle_self = NULL;
    l->next_idle = NULL;
}

static void list_add(struct link **list, struct link *l)
{
    l->next_idle = *list;
    l->idle_self = list;
    if (l->next_idle)
        l->next_idle->idle_self = &l->next_idle;
    *list = l;
}

/* The connection is gone or going; only what is ours is left. */
static void link_free(struct link *l)
{
    l->leaving = true;
    if (l->pool) {
        list_remove(l);
        l->pool->n_links--;
    }
    if (l->wire) {
        wire_broken(l->wire);
        wire_free(l->wire);
    }
    *l->self = l->next;
    if (l->next)
        l->next->self = l->self;
    if (l->terms->hooks->freed)
        l->terms->hooks->freed(l);
    mem_free(l);
}

void link_close(struct link *l)
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
    return !l->pool && !l->looked && l->terms->head_ns > LINK_SILENT_NS;
}

/* To write the last bytes, to send a head, or simply without a call, also when the peer does not
 * take what is left of the last one. What is left of calls, in either direction, counts as part of
 * the last one, however it drips. */
static void set_deadline(struct link *l)
{
    const struct link_terms *terms = l->terms;
    int64_t now = l->conn->loop->now_ns;
    struct wire *w = l->wire;
    bool heading = !w || (!wire_idle(w) && w->n_streams == 0 && l->conn->out.n == 0);
    if (l->n_calls || !heading)
        l->heading = false;
    if (l->n_calls) {
        conn_expire(l->conn, 0);
    } else if (w && w->finish != FINISH_NOT) {
        conn_expire(l->conn, now + (l->pool ? 0 : FINISH_NS));
    } else if (!heading) {
        int64_t idle = now + terms->idle_ns;
        int64_t total = w->draining || w->n_streams ? l->call_ns + terms->total_ns : idle;
        conn_expire(l->conn, total < idle ? total : idle);
    } else if (!l->heading) {
        l->heading = true;
        conn_expire(l->conn, now + (looks_soon(l) ? LINK_SILENT_NS : terms->head_ns));
    }
}

void link_use(struct link *l)
{
    l->n_calls++;
    l->used = true;
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

/* ---- events of the connection ---- */

static void speak(struct link *l, bool h2)
{
    const struct link_terms *terms = l->terms;
    bool server = !l->pool;
    l->wire = (h2 ? h2_new : h1_new)(server, terms->events, terms->limits, &l->conn->out);
    l->wire->owner = l;
    if (server && !h2 && terms->fresh)
        wire_part(l->wire);
}

/* It never came to stand, or broke. */
static void on_gone(struct conn *c, enum conn_gone why, const char *text)
{
    struct link *l = c->user;
    l->failed = why != GONE_RESET && !l->ready;
    l->why = text;
    if (l->failed && l->terms->hooks->failed)
        l->terms->hooks->failed(l, why, text);
    link_free(l);
}

static void on_ready(struct conn *c)
{
    struct link *l = c->user;
    bool h2 = c->tls && tls_alpn(c->tls) == ALPN_H2;
    if (c->tls && l->pool && l->wire->ops->multiplexed && !h2) {
        on_gone(c, GONE_TLS, "the service does not speak HTTP/2 over TLS (ALPN)");
        conn_reset(c);
        return;
    }
    if (c->tls && !l->pool)
        speak(l, h2);
    l->ready = true;
    if (l->wire) {
        set_deadline(l);
        link_touch(l);
    }
}

static void on_bytes(struct conn *c, slice bytes)
{
    struct link *l = c->user;
    bool foreign = !l->pool && !l->heard && !wire_may_be_http(bytes);
    if (l->pool && !l->heard) { /* in case that they are of another protocol */
        l->pool->heard = true;
        l->n_sniffed = (uint8_t)(bytes.n < sizeof l->sniffed ? bytes.n : sizeof l->sniffed);
        memcpy(l->sniffed, bytes.p, l->n_sniffed);
    }
    l->heard = true;
    slice before = {l->sniffed, 0};
    if (!l->wire) { /* the first bytes of a client say which protocol it is */
        size_t n = sizeof l->sniffed - l->n_sniffed;
        if (n > bytes.n)
            n = bytes.n;
        memcpy(l->sniffed + l->n_sniffed, bytes.p, n);
        int version = wire_sniff((slice){l->sniffed, l->n_sniffed + n});
        if (version) {
            speak(l, version == 2);
            before.n = l->n_sniffed;
        } else {
            l->n_sniffed = (uint8_t)(l->n_sniffed + n);
            set_deadline(l);
        }
    }
    if (before.n)
        wire_feed(l->wire, before);
    if (l->wire)
        wire_feed(l->wire, bytes);
    if (foreign && l->wire && !l->wire->ops->multiplexed && l->wire->finish == FINISH_NOT) {
        /* without an end that HTTP knows it would be waited for until head_ns */
        if (l->terms->hooks->foreign)
            l->terms->hooks->foreign(l, bytes);
        wire_feed(l->wire, SLICE("\r\n\r\n"));
    }
    if (l->wire && !l->wire->ops->multiplexed && (l->pool ? l->n_calls > 0 : l->unfinished))
        sys_ack(c->fd); /* the rest of a message follows: many send a head and a body apart */
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

/* A connection of a pool was written or read: is it idle now? */
static void pool_settle(struct link *l)
{
    struct link_pool *p = l->pool;
    struct wire *w = l->wire;
    if (!wire_idle(w) || !l->ready || w->finish != FINISH_NOT)
        return;
    bool wanted = !w->closing && !l->alone && !p->closed;
    if (!wanted && !w->closing) {
        l->served = l->alone && !w->ops->multiplexed;
        link_shutdown(l); /* nobody will ask for it any more */
    } else if (wanted && !w->ops->multiplexed && !l->idle_self) {
        l->idle_ns = l->conn->loop->now_ns;
        list_add(&p->idle, l);
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
    if (l->pool)
        pool_settle(l);
    if (!l->pool || l->ready)
        set_deadline(l);
    if (w->resume)
        link_touch(l);
}

static void on_expired(struct conn *c)
{
    struct link *l = c->user;
    if (l->pool && !l->ready) {
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
        if (!l->heard && l->terms->hooks->silent)
            l->terms->hooks->silent(l);
        conn_expire(c, c->loop->now_ns + l->terms->head_ns - LINK_SILENT_NS);
        return;
    }
    if (!l->wire || !wire_idle(l->wire) || l->wire->finish != FINISH_NOT || c->out.n) {
        link_kill(l);
        return;
    }
    link_shutdown(l);
    set_deadline(l);
}

static const struct conn_events link_events = {
    .ready = on_ready,
    .bytes = on_bytes,
    .eof = on_eof,
    .flush = on_flush,
    .wrote = on_wrote,
    .gone = on_gone,
    .expired = on_expired,
};

void link_accept(struct link *l, const struct link_terms *terms, int fd, struct tls_context *tls)
{
    link_init(l, terms);
    l->conn = conn_accept(terms->loop, fd, tls, &link_events, l);
    set_deadline(l);
    conn_read(l->conn, true);
    if (terms->hooks->opened)
        terms->hooks->opened(l);
}

/* ---- pools ---- */

/* A service closes connections that were idle for long, perhaps at this very moment, and what
 * cannot be sent again must not meet that. The clock itself: a call may begin between two batches
 * of events. */
static bool is_safe(const struct link *l)
{
    return clock_ns() - l->idle_ns < SAFE_NS && sys_quiet(l->conn->fd);
}

/* One more connection; NULL: there are too many. */
static struct link *new_link(struct link_pool *p, bool h2, bool fresh, const struct sending *s)
{
    const struct link_terms *terms = p->terms;
    struct link *old = p->idle;
    if (p->n_links >= p->most)
        return NULL;
    if (!fresh && !s->repeatable && !h2 && old && !is_safe(old)) {
        /* it makes room: kept, it would be one more with every call that comes after a pause */
        list_remove(old);
        link_shutdown(old);
    }
    struct link *l = mem_zero(sizeof *l);
    l->pool = p;
    link_init(l, terms);
    l->conn = conn_connect(terms->loop, p->to, p->tls, h2 ? ALPN_H2 : ALPN_H1, &link_events, l);
    speak(l, h2);
    if (terms->connect_ns)
        conn_expire(l->conn, terms->loop->now_ns + terms->connect_ns);
    conn_read(l->conn, true);
    if (terms->hooks->opened)
        terms->hooks->opened(l);
    p->n_links++;
    l->alone = s->alone;
    if (h2 && !l->alone)
        list_add(&p->shared, l);
    return l;
}

struct stream *pool_open(struct link_pool *p, bool h2, struct sending *s)
{
    bool fresh = s->alone || (s->resent && (!h2 || s->tries > 1));
    struct link *l = fresh ? NULL : h2 ? p->shared : p->idle;
    while (l && (l->wire->finish != FINISH_NOT || wire_room(l->wire) == 0))
        l = l->next_idle;
    if (l && (h2 || s->repeatable || is_safe(l))) {
        l->pooled = l->wire->n_streams == 0;
        if (!h2)
            list_remove(l);
    } else {
        l = new_link(p, h2, fresh, s);
        if (!l)
            return NULL;
    }
    s->tries++;
    s->pooled = l->pooled;
    s->acked = l->pooled && !s->repeatable ? sys_acked(l->conn->fd) : UINT64_MAX;
    link_use(l);
    link_touch(l);
    return stream_open(l->wire);
}

bool resend_allowed(const struct resend *r)
{
    if (r->begun || !r->whole || r->tries >= TRIES_MAX || r->failed || r->alone)
        return false;
    if (r->why == CUT_REFUSED)
        return true;
    bool broken = r->why == CUT_CLOSED || (r->why == CUT_RESET && r->ended);
    return r->pooled && broken && (r->repeatable || (r->why == CUT_CLOSED && r->untouched));
}

bool pool_may_resend(struct sending *s, const struct stream *stream, enum wire_cut why, bool begun,
                     bool whole)
{
    const struct link *l = link_of(stream);
    bool again = resend_allowed(&(struct resend){
        .why = why,
        .tries = s->tries,
        .repeatable = s->repeatable,
        .begun = begun,
        .whole = whole,
        .pooled = s->pooled,
        .alone = l->alone,
        .failed = l->failed,
        .ended = l->wire->finish != FINISH_NOT,
        .untouched = s->acked != UINT64_MAX && s->acked == sys_acked(l->conn->fd),
    });
    s->resent |= again;
    return again;
}

void pool_close(struct link_pool *p)
{
    p->closed = true;
    for (struct link *l; (l = p->idle ? p->idle : p->shared);) {
        list_remove(l);
        link_shutdown(l);
    }
}
