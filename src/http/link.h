/* SPDX-License-Identifier: Apache-2.0
 *
 * link: a connection (io) with a wire (wire) on it, in a loop. Bytes go up into the wire; what the
 * wire has for the peer goes down. An accepted link finds out first which protocol is spoken: ALPN
 * says it, or the first bytes do. Those that we open belong to a pool, which has the rule when a
 * request may be sent again.
 *
 *   accepted --bytes--> speaking --finish, expired or gone--> freed
 *   connected (the wire is there from the start; what it sends waits for the connection)
 *
 * 1. A link is freed only from an event of its connection or by its owner, never from within an
 *    event of its wire.
 * 2. Before a link goes, its wire has told the owners of all streams (wire_broken).
 * 3. While calls are open on it, whoever made them watches the time; a link has a deadline of its
 *    own only without a call. */
#ifndef OUTFOX_HTTP_LINK_H
#define OUTFOX_HTTP_LINK_H

#include "base/clock.h"
#include "io/conn.h"
#include "wire/wire.h"

/* HTTP/2 error codes for stream_abort. */
enum { H2_INTERNAL_ERROR = 2, H2_REFUSED_STREAM = 7, H2_CANCEL = 8 };

struct link;
struct link_pool;

/* What its owner is told of a link. Each may be NULL. */
struct link_hooks {
    void (*opened)(struct link *l);
    /* It never came to stand. Not said where its owner gave it up. */
    void (*failed)(struct link *l, enum conn_gone why, const char *text);
    /* Accepted: the first bytes are no HTTP; what has come is refused as it is. */
    void (*foreign)(struct link *l, slice bytes);
    /* Accepted: it has sent nothing for LINK_SILENT_NS. */
    void (*silent)(struct link *l);
    /* It is in no list any more, and its memory is about to go. */
    void (*freed)(struct link *l);
};

#define LINK_SILENT_NS SECONDS(3)

/* What links of one kind have in common. Outlives them. */
struct link_terms {
    void *user;
    struct loop *loop;
    struct link **all; /* the list that they are in */
    const struct link_hooks *hooks;
    const struct wire_events *events;
    const struct wire_limits *limits;
    int64_t connect_ns; /* to come to stand; 0: as long as it takes */
    int64_t head_ns;    /* to send a head */
    int64_t idle_ns;    /* without a call */
    int64_t total_ns;   /* since the last call began, for what is left of it */
    bool fresh;         /* HTTP/1.1, accepted: each answer asks for another connection */
};

struct link {
    const struct link_terms *terms;
    struct conn *conn;
    struct wire *wire; /* NULL: not known yet which protocol */
    struct link *next, **self;
    struct link_pool *pool;              /* NULL: it was accepted */
    struct link *next_idle, **idle_self; /* in pool->idle or pool->shared */
    int64_t idle_ns;                     /* since when it is idle */
    int64_t call_ns;                     /* when its last call began */
    char sniffed[24];                    /* the first bytes of the peer */
    uint8_t n_sniffed;
    uint32_t n_calls;   /* that have a stream on it */
    uint32_t resetting; /* how often it was looked whether the peer has all bytes before a reset */
    bool unfinished;    /* accepted, HTTP/1.1: its request has begun, and not ended */
    bool killed;        /* by us, in the middle of calls */
    bool heard;         /* the peer has sent something */
    bool looked;        /* it was looked whether it says something at all */
    bool leaving;       /* is being freed */
    bool heading;       /* the deadline of a head is running */
    bool pooled;        /* when it was last taken, it had been idle before */
    bool alone;         /* for one call, and not to be used again */
    bool served;        /* HTTP/1.1: that call has had all of its answer */
    bool used;          /* it has carried a call */
    bool parted;        /* HTTP/2: the peer was asked to take another one */
    bool ready;         /* the connection stands */
    bool failed;        /* it never came to stand */
    const char *why;    /* then: why; valid during the event */
};

/* A client has connected. *l is zero but for what is its owner's, and the first member of memory
 * that mem_free takes. Takes over fd. */
void link_accept(struct link *l, const struct link_terms *terms, int fd, struct tls_context *tls);

/* There is something to write. */
static inline void link_touch(struct link *l)
{
    conn_touch(l->conn);
}

/* The same; and whether to read may have changed. */
void link_refresh(struct link *l);

static inline struct link *link_of(const struct stream *s)
{
    return s->wire->owner;
}

/* A call has taken a stream on it, or let go of it. */
void link_use(struct link *l);
void link_unuse(struct link *l);

/* No new calls on it; closes it when none is left. */
void link_shutdown(struct link *l);

/* At once: what the wire has said is still written; or nothing is. Not from within an event of its
 * wire. */
void link_close(struct link *l);
void link_kill(struct link *l);

/* An accepted one that has carried calls, and carries none now: asks for another one in its place.
 * What the client has sent already is still answered. One that was never used is as good as new,
 * and whoever has just opened it is about to use it: clients do not forgive being sent away twice.
 */
void link_part(struct link *l);

/* ---- pools ----
 *
 * The connections to one service. HTTP/1.1: those that are idle, the last used first, so that the
 * rest can grow old and be closed. HTTP/2: all, since each carries many calls. A connection for one
 * call alone is in neither list.
 *
 *     struct sending s = {...};
 *     stream = pool_open(pool, h2, &s);                     first try
 *     abort: if (pool_may_resend(&s, stream, why)) stream = pool_open(pool, h2, &s);    again */

struct link_pool {
    const struct link_terms *terms;
    const struct addr *to;
    struct tls_context *tls; /* NULL: plain */
    struct link *idle;       /* HTTP/1.1, not in use; the last used first */
    struct link *shared;     /* HTTP/2 */
    uint32_t n_links, most;
    bool heard;  /* the service has sent a byte, ever */
    bool closed; /* what is kept was let go of; calls may still begin, and end their connection */
};

/* One request, over all of its tries. */
struct sending {
    bool repeatable; /* the service may get it twice */
    bool alone;      /* each try has a connection that no other call will have, and is the last */
    bool resent;     /* it was sent again */
    bool pooled;     /* this try is on a connection that had served others before */
    uint32_t tries;
    uint64_t acked; /* what the service's system had acknowledged before; UINT64_MAX: unknown */
};

/* A stream to the service, on a connection that is there or is being made; NULL when there are too
 * many. The next try of this request. */
struct stream *pool_open(struct link_pool *p, bool h2, struct sending *s);

/* What is known when a try was cut off. */
struct resend {
    enum wire_cut why;
    uint32_t tries;
    bool repeatable;
    bool begun;     /* something of an answer was seen */
    bool whole;     /* all of the request is still there */
    bool pooled;    /* the connection had served others before */
    bool alone;     /* it was for this call alone */
    bool failed;    /* it never came to stand */
    bool ended;     /* it is at its end; else only the stream is */
    bool untouched; /* the service's system is known not to have taken a byte of it */
};

/* The rule. A request is sent again only when nothing of an answer was seen, and
 *
 *   - the service says that it did not look at it (REFUSED_STREAM, GOAWAY), or
 *   - the connection had been used before and has broken, so that it was probably stale, and doing
 *     the request twice does no harm (`repeatable`) or the service cannot have begun.
 *
 * A connection that breaks with a request that is not repeatable proves nothing by a reset, which
 * may overtake the word that bytes were taken; an orderly end does not. */
bool resend_allowed(const struct resend *r);

/* The rule for this try, whose stream was just aborted. Marks it as sent again when it may be. */
bool pool_may_resend(struct sending *s, const struct stream *stream, enum wire_cut why, bool begun,
                     bool whole);

/* No connection is kept any more; those in use end with their calls. */
void pool_close(struct link_pool *p);

#endif
