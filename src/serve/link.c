/* SPDX-License-Identifier: Apache-2.0
 *
 * link: a connection with a wire on it. All links are known to their server, which ends them when
 * it stops. */
#include <errno.h>

#include "base/clock.h"
#include "io/blocking.h"
#include "io/sys.h"
#include "serve/serve_int.h"

enum { READ_BYTES = 64 * 1024 };

struct link *link_new(struct serve *s, int fd)
{
    struct link *l = mem_zero(sizeof *l);
    l->serve = s;
    l->fd = fd;
    l->out = CHAIN_INIT(&l->blocks);
    l->patience_ns = SERVE_SILENCE_NS;
    block_patience(fd, l->patience_ns, SERVE_WAIT_NS);
    pthread_mutex_lock(&s->lock);
    l->all_next = s->links;
    l->all_self = &s->links;
    if (l->all_next)
        l->all_next->all_self = &l->all_next;
    s->links = l;
    bool late = atomic_load(&s->stopping);
    pthread_mutex_unlock(&s->lock);
    if (late)
        block_end(fd);
    return l;
}

void link_wire(struct link *l, struct wire *w)
{
    l->wire = w;
    w->owner = l;
}

void link_free(struct link *l)
{
    pthread_mutex_lock(&l->serve->lock);
    *l->all_self = l->all_next;
    if (l->all_next)
        l->all_next->all_self = l->all_self;
    pthread_mutex_unlock(&l->serve->lock);
    if (l->wire && l->wire->finish == FINISH_RESET)
        sys_linger_reset(l->fd);
    sys_close(l->fd);
    wire_free(l->wire);
    chain_clear(&l->out);
    blocks_deinit(&l->blocks);
    mem_free(l);
}

/* The patience of the socket is set only when it must change: it is a little longer than asked for,
 * so that the next call, which asks for the same, finds it as it needs it. */
bool link_patience(struct link *l, int64_t deadline_ns)
{
    int64_t left = deadline_ns - clock_ns();
    if (left <= 0)
        return false;
    if (l->patience_ns < left || l->patience_ns > left + left / 128 + 1000000) {
        l->patience_ns = left + left / 256 + 500000;
        block_patience(l->fd, l->patience_ns, l->patience_ns);
    }
    return true;
}

static _Thread_local char room[READ_BYTES];

ssize_t link_get(struct link *l, int64_t deadline_ns)
{
    return !deadline_ns || link_patience(l, deadline_ns) ? sys_read(l->fd, room, sizeof room)
                                                         : -EAGAIN;
}

void link_feed(struct link *l, ssize_t got)
{
    if (got > 0)
        wire_feed(l->wire, (slice){room, (size_t)got});
    else if (got == 0)
        wire_eof(l->wire);
    else if (got != -EAGAIN)
        wire_broken(l->wire);
}

ssize_t link_read(struct link *l, int64_t deadline_ns)
{
    ssize_t got = link_get(l, deadline_ns);
    link_feed(l, got);
    return got;
}

int link_flush(struct link *l)
{
    do {
        wire_pump(l->wire);
        int code = block_write(l->fd, &l->out);
        if (code)
            return code;
        wire_wrote(l->wire);
        wire_pump(l->wire);
    } while (l->out.n);
    return 0;
}
