/* SPDX-License-Identifier: Apache-2.0
 *
 * pool: the connections to one service, and the rule when a request may be sent again.
 *
 * HTTP/1.1: those that are idle, the last used first, so that the rest can grow old and be closed.
 * HTTP/2: all, since each carries many calls. A connection for one call alone is in neither list.
 *
 *     struct sending s = {...};
 *     stream = pool_open(pool, h2, &s);                     first try
 *     abort: if (pool_may_resend(&s, stream, why)) stream = pool_open(pool, h2, &s);    again */
#ifndef OUTFOX_HTTP_POOL_H
#define OUTFOX_HTTP_POOL_H

#include "http/link.h"

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

/* ---- link.c says so ---- */

/* It was written or read: is it idle now? */
void pool_settle(struct link *l);
void pool_forget(struct link *l);

#endif
