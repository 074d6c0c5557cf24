/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections of the client, and the pools that keep them.
 *
 *     connected --ready--> speaking <--> idle in its pool --60 s, eof, finish or gone--> freed
 *
 * 1. A link is freed only from an event of its connection, by client_link_left or with the client;
 *    never from within an event of its wire.
 * 2. Before a link goes, its wire has told the owners of all streams (wire_broken).
 * 3. Calls have deadlines of their own; a link needs one only while it has no call. */
#include <string.h>

#include "io/sys.h"
#include "live/client_int.h"

enum { KIB = 1024 };

#define MS_NS     1000000LL
#define SAFE_NS   (500 * MS_NS)
#define IDLE_NS   (60 * 1000 * MS_NS)
#define FINISH_NS (5 * 1000 * MS_NS) /* to take the last bytes */

/* Services under test may send much, and may reset as many streams as faults make them. */
static const struct wire_limits wire_limits = {.head_bytes = 256 * KIB,
                                               .head_fields = 512,
                                               .streams = 1,
                                               .resets = UINT32_MAX,
                                               .interims = 100};

static const struct conn_events link_events;

/* ---- pools ---- */

static bool same_place(const struct addr *a, const struct addr *b)
{
    return a == b || (a->n == b->n && memcmp(&a->sa, &b->sa, a->n) == 0);
}

struct client_pool *client_pool_for(struct client *c, const struct addr *to,
                                    struct tls_context *tls, bool h2)
{
    for (struct client_pool *p = c->pools; p; p = p->next)
        if (p->tls == tls && p->h2 == h2 && same_place(p->to, to))
            return p;
    struct client_pool *p = mem_zero(sizeof *p);
    *p = (struct client_pool){.next = c->pools,
                              .client = c,
                              .to = to,
                              .tls = tls ? tls_context_hold(tls) : NULL,
                              .h2 = h2};
    c->pools = p;
    return p;
}

static void free_remove(struct client_link *l)
{
    if (!l->free_self)
        return;
    *l->free_self = l->next_free;
    if (l->next_free)
        l->next_free->free_self = l->free_self;
    l->free_self = NULL;
    l->next_free = NULL;
}

static void free_add(struct client_link *l)
{
    struct client_link **list = &l->pool->free;
    l->next_free = *list;
    l->free_self = list;
    if (l->next_free)
        l->next_free->free_self = &l->next_free;
    *list = l;
}

/* ---- life of a link ---- */

static struct client_link *link_connect(struct client_pool *p)
{
    struct client *c = p->client;
    struct client_link *l = mem_zero(sizeof *l);
    *l = (struct client_link){.pool = p, .next = c->links, .self = &c->links};
    if (l->next)
        l->next->self = &l->next;
    c->links = l;
    l->conn = conn_connect(c->loop, p->to, p->tls, p->h2 ? ALPN_H2 : ALPN_H1, &link_events, l);
    l->wire = (p->h2 ? h2_new : h1_new)(false, &client_wire_events, &wire_limits, &l->conn->out);
    l->wire->owner = l;
    conn_read(l->conn, true);
    if (p->h2 && !c->fresh)
        free_add(l);
    return l;
}

/* The connection is gone or going; only what is ours is left. */
static void link_free(struct client_link *l)
{
    free_remove(l);
    wire_broken(l->wire);
    wire_free(l->wire);
    *l->self = l->next;
    if (l->next)
        l->next->self = l->self;
    mem_free(l);
}

static void link_close(struct client_link *l)
{
    conn_close(l->conn);
    link_free(l);
}

/* It broke, or never came to stand. */
static void link_gone(struct client_link *l, bool failed, const char *text)
{
    struct client *c = l->pool->client;
    l->failed = failed;
    l->why = text;
    link_free(l);
    client_deliver(c);
}

/* The wire has changed: closes the link when it is done for (`out` is still written); one on which
 * nothing is under way waits for the next call, for a while. */
static void link_turn(struct client_link *l)
{
    struct wire *w = l->wire;
    if (w->finish != FINISH_NOT && l->n_calls == 0) {
        link_close(l);
        return;
    }
    conn_read(l->conn, wire_reads(w));
    if (l->n_calls || !l->ready || l->idle_ns)
        return;
    if (!wire_idle(w) || l->conn->out.n) { /* the service answered before it had all */
        if (!l->conn->expires_ns)
            conn_expire(l->conn, l->conn->loop->now_ns + FINISH_NS);
        return;
    }
    if (l->pool->client->fresh) {
        conn_leave(l->conn);
        link_free(l);
        return;
    }
    l->idle_ns = l->conn->loop->now_ns;
    conn_expire(l->conn, l->idle_ns + (w->closing ? FINISH_NS : IDLE_NS));
    if (!w->closing && !l->free_self)
        free_add(l);
}

/* ---- taking one ---- */

/* A service closes connections that were idle for long, perhaps at this very moment, and what
 * cannot be sent again must not meet that. And what has come unasked is no answer. */
static bool is_usable(const struct client_link *l)
{
    if (l->wire->finish != FINISH_NOT || wire_room(l->wire) == 0)
        return false;
    if (l->wire->ops->multiplexed)
        return true;
    /* the clock itself: a call may begin between two batches of events */
    return sys_quiet(l->conn->fd) && clock_ns() - l->idle_ns < SAFE_NS;
}

static struct client_link *find_link(struct client_pool *p)
{
    struct client_link *l = p->free;
    while (l && !is_usable(l))
        l = l->next_free;
    return l;
}

struct stream *client_link_open(struct client_pool *p, bool fresh)
{
    struct client_link *l = fresh || p->client->fresh ? NULL : find_link(p);
    if (!l) {
        if (!fresh && !p->h2 && p->free)
            link_close(p->free); /* too old: else there would be one more with each such call */
        l = link_connect(p);
    } else {
        l->pooled = l->n_calls == 0 && l->ready;
        conn_expire(l->conn, 0);
        if (!p->h2)
            free_remove(l);
    }
    l->idle_ns = 0;
    l->n_calls++;
    conn_touch(l->conn);
    return stream_open(l->wire);
}

void client_link_lost(struct client_link *l)
{
    l->n_calls--;
}

void client_link_left(struct client_link *l)
{
    l->n_calls--;
    if (l->n_calls == 0 && (!l->ready || l->wire->finish != FINISH_NOT))
        link_close(l);
    else
        conn_touch(l->conn);
}

void client_pools_free(struct client *c)
{
    while (c->links)
        link_close(c->links);
    while (c->pools) {
        struct client_pool *p = c->pools;
        c->pools = p->next;
        tls_context_free(p->tls);
        mem_free(p);
    }
}

/* ---- events of the connection ---- */

static void on_ready(struct conn *c)
{
    struct client_link *l = c->user;
    if (c->tls && l->pool->h2 && tls_alpn(c->tls) != ALPN_H2) {
        conn_reset(c);
        link_gone(l, true, "the service does not speak HTTP/2 over TLS (ALPN)");
        return;
    }
    l->ready = true;
    conn_touch(c);
}

static void after_wire(struct client_link *l)
{
    struct client *c = l->pool->client;
    conn_touch(l->conn); /* it may have something to say */
    link_turn(l);
    client_deliver(c);
}

static void on_bytes(struct conn *c, slice bytes)
{
    struct client_link *l = c->user;
    l->only_h2 |= !l->heard && !l->wire->ops->multiplexed && wire_is_settings(bytes);
    l->heard = true;
    wire_feed(l->wire, bytes);
    if (l->n_calls && !l->wire->ops->multiplexed)
        sys_ack(c->fd); /* the rest of the answer */
    after_wire(l);
}

static void on_eof(struct conn *c)
{
    struct client_link *l = c->user;
    wire_eof(l->wire);
    after_wire(l);
}

static void on_flush(struct conn *c)
{
    struct client_link *l = c->user;
    if (l->wire->resume)
        wire_resume(l->wire);
    wire_pump(l->wire);
}

static void on_wrote(struct conn *c)
{
    struct client_link *l = c->user;
    struct client *client = l->pool->client;
    wire_wrote(l->wire);
    if (l->wire->resume)
        conn_touch(c);
    link_turn(l);
    client_deliver(client);
}

static void on_gone(struct conn *c, enum conn_gone why, const char *text)
{
    struct client_link *l = c->user;
    link_gone(l, why != GONE_RESET && !l->ready, text);
}

/* It has no call. The first time it ends politely, the second time at once. */
static void on_expired(struct conn *c)
{
    struct client_link *l = c->user;
    if (l->wire->closing || c->out.n) {
        conn_reset(c);
        link_free(l);
        return;
    }
    free_remove(l);
    wire_shutdown(l->wire);
    conn_expire(c, c->loop->now_ns + FINISH_NS);
    conn_touch(c);
    link_turn(l);
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
