/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections of clients. The thread of a connection reads. A request of HTTP/1.1 it handles
 * itself; those of HTTP/2, of which many may be open, are given to others.
 *
 *   bytes -> wire -> requests that are complete -> handled -> answered -> flushed
 *
 * 1. The lock is held wherever the wire is touched, and never while a request is handled. */
#include "serve/serve_int.h"

#include "io/blocking.h"

enum { STREAMS_MAX = 1000 };

struct server_link {
    struct block_link *link;
    struct serve *serve;
    uint32_t service;
    pthread_mutex_t lock;
    pthread_cond_t done; /* with the lock: `jobs` is 0 */
    uint32_t jobs;
    struct request *ready, **ready_last; /* complete, in the order of arrival */
};

static const struct wire_limits limits = {.head_bytes = 64 * 1024,
                                          .head_fields = 200,
                                          .streams = STREAMS_MAX,
                                          .resets = 10000,
                                          .interims = 100};

/* ---- events of the wire ---- */

static void complete(struct request *r)
{
    struct server_link *sl = r->from;
    r->complete = true;
    request_hold(r);
    *sl->ready_last = r;
    sl->ready_last = &r->next;
}

static void on_head(struct stream *s, const struct head *h, bool end)
{
    const struct block_link *l = s->wire->owner;
    struct server_link *sl = l->user;
    struct request *r = request_new(sl->serve, sl->service, h, s->wire->ops->multiplexed);
    r->from = sl;
    r->stream = s;
    s->user = r;
    if (end)
        complete(r);
    else if (h->expects)
        stream_head(s, &(struct head){.status = 100}, false);
}

static void on_data(struct stream *s, slice bytes)
{
    struct request *r = s->user;
    buf_add(&r->body, bytes);
    r->too_large |= r->body.full;
    stream_consume(s, bytes.n);
}

static void on_end(struct stream *s, const struct head *trailers)
{
    struct request *r = s->user;
    (void)trailers;
    if (!r->complete)
        complete(r);
}

static void on_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    struct request *r = s->user;
    (void)why;
    (void)code;
    r->stream = NULL;
    request_drop(r);
}

static void on_sent(struct stream *s, size_t n)
{
    (void)s;
    (void)n;
}

static const struct wire_events events = {on_head, on_data, on_end, on_abort, on_sent};

/* ---- requests ---- */

/* With the lock: the answer is given to the wire, and the stream let go. */
static void answer(struct request *r)
{
    request_answer(r);
    if (!r->stream)
        return; /* gone, and with it the wire's reference */
    struct stream *s = r->stream;
    r->stream = NULL;
    s->user = NULL;
    stream_release(s);
    request_drop(r);
}

static void handle_apart(void *arg)
{
    struct request *r = arg;
    struct server_link *sl = r->from;
    request_handle(r);
    pthread_mutex_lock(&sl->lock);
    answer(r);
    if (block_link_flush(sl->link) != 0)
        block_end(sl->link->fd); /* its own thread finds out */
    if (--sl->jobs == 0)
        pthread_cond_signal(&sl->done);
    pthread_mutex_unlock(&sl->lock);
    request_drop(r);
}

/* With the lock, which is open while a request is handled here. */
static void handle_ready(struct server_link *sl)
{
    bool apart = sl->link->wire->ops->multiplexed;
    while (sl->ready) {
        struct request *r = sl->ready;
        sl->ready = r->next;
        if (!sl->ready)
            sl->ready_last = &sl->ready;
        if (apart) {
            sl->jobs++;
            if (crew_give(sl->serve->crew, handle_apart, r))
                continue;
            sl->jobs--; /* all hands are busy: lend one */
        }
        pthread_mutex_unlock(&sl->lock);
        request_handle(r);
        pthread_mutex_lock(&sl->lock);
        answer(r);
        request_drop(r);
    }
}

/* ---- a connection ---- */

/* With the lock: requests are handled, what is to be sent is. False: the connection is at its end.
 */
static bool go_on(struct server_link *sl)
{
    struct wire *w = sl->link->wire;
    for (;;) {
        handle_ready(sl);
        if (block_link_flush(sl->link) != 0 || w->finish != FINISH_NOT)
            return false;
        if (!w->resume)
            return true;
        wire_resume(w);
    }
}

void server_serve(struct serve *s, int fd, uint32_t service)
{
    struct server_link sl = {.serve = s, .service = service};
    sl.ready_last = &sl.ready;
    pthread_mutex_init(&sl.lock, NULL);
    pthread_cond_init(&sl.done, NULL);
    block_init(fd);
    sl.link = block_link_new(&s->links, fd, SERVE_SILENCE_NS, SERVE_WAIT_NS);
    sl.link->user = &sl;
    if (block_link_accept(sl.link, &events, &limits)) {
        ssize_t got = 1;
        pthread_mutex_lock(&sl.lock);
        while (go_on(&sl) && got > 0) {
            pthread_mutex_unlock(&sl.lock);
            got = block_link_get(sl.link, 0);
            pthread_mutex_lock(&sl.lock);
            block_link_feed(sl.link, got);
        }
        wire_broken(sl.link->wire);
        handle_ready(&sl);
        while (sl.jobs)
            pthread_cond_wait(&sl.done, &sl.lock);
        pthread_mutex_unlock(&sl.lock);
    }
    block_link_free(sl.link);
    pthread_cond_destroy(&sl.done);
    pthread_mutex_destroy(&sl.lock);
}
