/* SPDX-License-Identifier: Apache-2.0 */
#include "http/pool.h"

#include "base/clock.h"
#include "io/sys.h"

enum { SAFE_NS = 500 * 1000 * 1000, TRIES_MAX = 3 };

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

/* A service closes connections that were idle for long, perhaps at this very moment, and what
 * cannot be sent again must not meet that. The clock itself: a call may begin between two batches
 * of events. */
static bool is_safe(const struct link *l)
{
    return clock_ns() - l->idle_ns < SAFE_NS && sys_quiet(l->conn->fd);
}

static struct link *new_link(struct link_pool *p, bool h2, bool fresh, const struct sending *s)
{
    struct link *old = p->idle;
    if (p->n_links >= p->most)
        return NULL;
    if (!fresh && !s->repeatable && !h2 && old && !is_safe(old)) {
        /* it makes room: kept, it would be one more with every call that comes after a pause */
        list_remove(old);
        link_shutdown(old);
    }
    struct link *l = link_connect(p, h2);
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

void pool_settle(struct link *l)
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

void pool_forget(struct link *l)
{
    list_remove(l);
    l->pool->n_links--;
}

void pool_close(struct link_pool *p)
{
    p->closed = true;
    for (struct link *l; (l = p->idle ? p->idle : p->shared);) {
        list_remove(l);
        link_shutdown(l);
    }
}
