/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections to one service, for one worker. HTTP/1.1: those that are idle, the last used first,
 * so that the rest can grow old and be closed. HTTP/2: all, since each carries many calls. A
 * connection for one call alone (CARE_ALONE) is in neither list. */
#include "io/sys.h"
#include "proxy/link_int.h"

enum { SAFE_NS = 500 * 1000 * 1000 };

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
 * cannot be sent again must not meet that. */
static bool is_safe(const struct link *l)
{
    return l->conn->loop->now_ns - l->idle_ns < SAFE_NS && sys_quiet(l->conn->fd);
}

static struct link *find_link(struct upstream *u, bool h2, bool careful)
{
    for (struct link *l = h2 ? u->shared : u->idle; l; l = l->next_idle)
        if (l->wire->finish == FINISH_NOT && wire_room(l->wire) > 0)
            return careful && !h2 && !is_safe(l) ? NULL : l;
    return NULL;
}

/* What is not safe any more makes room for a new one: kept, it would be one more with every call
 * that comes after a pause, for as long as connections may be idle. */
static void drop_unsafe(struct upstream *u)
{
    struct link *l = u->idle;
    if (!l || is_safe(l))
        return;
    list_remove(l);
    link_shutdown(l);
}

static const struct limits *limits_of(const struct upstream *u)
{
    return &u->generation->setup->config->limits;
}

struct stream *upstream_open(struct upstream *u, bool h2, enum upstream_care care)
{
    struct link *l = care >= CARE_FRESH ? NULL : find_link(u, h2, care == CARE_ONCE);
    if (!l) {
        if (u->n_links >= (uint32_t)limits_of(u)->upstream_connections)
            return NULL;
        if (care == CARE_ONCE && !h2)
            drop_unsafe(u);
        l = link_connect(u, h2);
        u->n_links++;
        l->alone = care == CARE_ALONE;
        if (h2 && !l->alone)
            list_add(&u->shared, l);
    } else {
        l->pooled = l->wire->n_streams == 0;
        if (!h2)
            list_remove(l);
    }
    link_touch(l);
    return stream_open(l->wire);
}

void upstream_settle(struct link *l)
{
    struct wire *w = l->wire;
    if (!wire_idle(w) || !l->ready || w->finish != FINISH_NOT)
        return;
    bool wanted =
        !w->closing && !l->alone && !l->worker->stopping && l->generation == l->worker->current;
    if (!wanted && !w->closing) {
        l->served = l->alone && !w->ops->multiplexed;
        link_shutdown(l); /* nobody will ask for it any more */
    } else if (wanted && !w->ops->multiplexed && !l->idle_self) {
        l->idle_ns = l->conn->loop->now_ns;
        list_add(&l->upstream->idle, l);
    }
}

void upstream_forget(struct link *l)
{
    list_remove(l);
    l->upstream->n_links--;
}

void upstream_close(struct upstream *u)
{
    while (u->idle) {
        struct link *l = u->idle;
        list_remove(l);
        link_shutdown(l);
    }
    for (struct link *l = u->shared, *next; l; l = next) {
        next = l->next_idle;
        list_remove(l);
        link_shutdown(l);
    }
}
