/* SPDX-License-Identifier: Apache-2.0 */
#include "http/blocking.h"

#include <errno.h>

#include "base/clock.h"
#include "io/blocking.h"
#include "io/sys.h"
#include "wire/grpc.h"

enum {
    READ_BYTES = 64 * 1024,
    READS_MOST = 100, /* of what a peer said while nobody called it */
};

static const int64_t IDLE_NS = SECONDS(30); /* a kept connection without a call */
static const int64_t WAIT_NS = SECONDS(60); /* at first; calls have deadlines */

/* ---- all links ---- */

void block_links_init(struct block_links *set)
{
    pthread_condattr_t attr;
    pthread_mutex_init(&set->lock, NULL);
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&set->ending, &attr);
    pthread_condattr_destroy(&attr);
    atomic_init(&set->ended, false);
}

void block_links_end(struct block_links *set)
{
    atomic_store(&set->ended, true);
    pthread_mutex_lock(&set->lock);
    for (struct block_link *l = set->all; l; l = l->all_next)
        block_end(l->fd);
    pthread_cond_broadcast(&set->ending);
    pthread_mutex_unlock(&set->lock);
}

void block_links_deinit(struct block_links *set)
{
    pthread_cond_destroy(&set->ending);
    pthread_mutex_destroy(&set->lock);
}

void block_links_sleep(struct block_links *set, int64_t ns)
{
    int64_t until_ns = clock_ns() + ns;
    struct timespec until = {.tv_sec = until_ns / SECONDS(1), .tv_nsec = until_ns % SECONDS(1)};
    pthread_mutex_lock(&set->lock);
    while (!atomic_load(&set->ended) &&
           pthread_cond_timedwait(&set->ending, &set->lock, &until) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&set->lock);
}

/* ---- one link ---- */

struct block_link *block_link_new(struct block_links *set, int fd, int64_t read_ns,
                                  int64_t write_ns)
{
    struct block_link *l = mem_zero(sizeof *l);
    l->set = set;
    l->fd = fd;
    l->out = CHAIN_INIT(&l->blocks);
    l->patience_ns = read_ns;
    block_patience(fd, read_ns, write_ns);
    pthread_mutex_lock(&set->lock);
    l->all_next = set->all;
    l->all_self = &set->all;
    if (l->all_next)
        l->all_next->all_self = &l->all_next;
    set->all = l;
    bool late = atomic_load(&set->ended);
    pthread_mutex_unlock(&set->lock);
    if (late)
        block_end(fd);
    return l;
}

void block_link_free(struct block_link *l)
{
    pthread_mutex_lock(&l->set->lock);
    *l->all_self = l->all_next;
    if (l->all_next)
        l->all_next->all_self = l->all_self;
    pthread_mutex_unlock(&l->set->lock);
    if (l->wire && l->wire->finish == FINISH_RESET)
        sys_linger_reset(l->fd);
    sys_close(l->fd);
    wire_free(l->wire);
    chain_clear(&l->out);
    blocks_deinit(&l->blocks);
    mem_free(l);
}

static void speak(struct block_link *l, bool server, bool h2, const struct wire_events *events,
                  const struct wire_limits *limits)
{
    l->wire = (h2 ? h2_new : h1_new)(server, events, limits, &l->out);
    l->wire->owner = l;
}

bool block_link_accept(struct block_link *l, const struct wire_events *events,
                       const struct wire_limits *limits)
{
    char room[4096];
    size_t n = 0;
    int which = 0;
    while (!which) {
        ssize_t got = sys_read(l->fd, room + n, sizeof room - n);
        if (got <= 0)
            return false;
        n += (size_t)got;
        which = wire_sniff((slice){room, n});
    }
    speak(l, true, which == 2, events, limits);
    wire_feed(l->wire, (slice){room, n});
    return true;
}

/* Lets reads and writes wait until this deadline; false: it has passed. The patience of the socket
 * is set only when it must change: it is a little longer than asked for, so that the next call,
 * which asks for the same, finds it as it needs it. */
static bool set_patience(struct block_link *l, int64_t deadline_ns)
{
    int64_t left = deadline_ns - clock_ns();
    if (left <= 0)
        return false;
    if (l->patience_ns < left || l->patience_ns > left + left / 128 + MS(1)) {
        l->patience_ns = left + left / 256 + 500000;
        block_patience(l->fd, l->patience_ns, l->patience_ns);
    }
    return true;
}

static _Thread_local char room[READ_BYTES];

ssize_t block_link_get(struct block_link *l, int64_t deadline_ns)
{
    return !deadline_ns || set_patience(l, deadline_ns) ? sys_read(l->fd, room, sizeof room)
                                                        : -EAGAIN;
}

void block_link_feed(struct block_link *l, ssize_t got)
{
    if (got > 0)
        wire_feed(l->wire, (slice){room, (size_t)got});
    else if (got == 0)
        wire_eof(l->wire);
    else if (got != -EAGAIN)
        wire_broken(l->wire);
}

int block_link_flush(struct block_link *l)
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

/* ---- calls ---- */

/* A call under way. */
struct attempt {
    struct stream *stream; /* NULL: gone */
    struct collector *in;
    struct arena *arena;
    bool grpc, done;
    outcome seen;
};

static void attempt_end(struct attempt *c, outcome seen)
{
    c->done = true;
    c->seen = seen;
}

static void on_head(struct stream *s, const struct head *h, bool end)
{
    struct attempt *c = s->user;
    if (collect_head(c->in, h, c->arena) && end)
        attempt_end(c, collect_outcome(c->in, c->grpc));
}

static void on_data(struct stream *s, slice bytes)
{
    struct attempt *c = s->user;
    collect_data(c->in, bytes);
    stream_consume(s, bytes.n);
}

static void on_end(struct stream *s, const struct head *trailers)
{
    struct attempt *c = s->user;
    if (trailers)
        c->in->trailers = head_copy(c->arena, trailers);
    attempt_end(c, collect_outcome(c->in, c->grpc));
}

static void on_abort(struct stream *s, enum wire_cut why, uint32_t code)
{
    static const enum outcome_kind kinds[] = {[CUT_CLOSED] = OUT_CLOSED,
                                              [CUT_RESET] = OUT_RESET,
                                              [CUT_REFUSED] = OUT_REFUSED,
                                              [CUT_BAD] = OUT_CLOSED,
                                              [CUT_LIMIT] = OUT_CLOSED};
    struct attempt *c = s->user;
    (void)code;
    c->stream = NULL;
    attempt_end(c, OUTCOME(kinds[why], 0));
}

static const struct wire_events events = {on_head, on_data, on_end, on_abort, stream_sent_ignored};

/* Can it take a call? What an HTTP/2 peer said meanwhile is read first. */
static bool is_usable(struct block_link *l, int64_t now_ns)
{
    if (now_ns - l->idle_ns > IDLE_NS)
        return false;
    for (int i = 0; !sys_quiet(l->fd); i++) {
        if (!l->wire->ops->multiplexed || i == READS_MOST)
            return false;
        ssize_t got = block_link_get(l, now_ns + SECONDS(1));
        block_link_feed(l, got);
        if (got <= 0)
            return false;
    }
    return l->wire->finish == FINISH_NOT && !l->wire->closing && wire_room(l->wire) > 0;
}

/* A kept one, or a new one; NULL: *seen says why there is none. */
static struct block_link *take_link(struct block_links *set, struct block_peer *p,
                                    int64_t deadline_ns, outcome *seen)
{
    static const struct wire_limits limits = {.head_bytes = 64 * 1024,
                                              .head_fields = 200,
                                              .streams = 100,
                                              .resets = 1000,
                                              .interims = 100};
    for (;;) {
        pthread_mutex_lock(&set->lock);
        struct block_link *l = p->kept;
        if (l)
            p->kept = l->next;
        pthread_mutex_unlock(&set->lock);
        if (!l)
            break;
        if (is_usable(l, clock_ns()))
            return l;
        block_link_free(l);
    }
    int fd = atomic_load(&set->ended) ? -ECONNREFUSED : block_connect(&p->addr, deadline_ns);
    if (fd < 0) {
        enum outcome_kind kind = fd == -ETIMEDOUT    ? OUT_TIMEOUT
                                 : fd == -ECONNRESET ? OUT_RESET
                                                     : OUT_REFUSED;
        *seen = OUTCOME(kind, 0);
        return NULL;
    }
    struct block_link *l = block_link_new(set, fd, WAIT_NS, WAIT_NS);
    speak(l, false, p->h2, &events, &limits);
    return l;
}

static void keep_or_free(struct block_peer *p, struct block_link *l)
{
    bool sound = l->wire->finish == FINISH_NOT && !l->wire->closing && wire_idle(l->wire);
    if (sound && l->wire->ops->multiplexed)
        sound = block_link_flush(l) == 0; /* acknowledgements */
    if (!sound || atomic_load(&l->set->ended)) {
        block_link_free(l);
        return;
    }
    l->idle_ns = clock_ns();
    pthread_mutex_lock(&l->set->lock);
    l->next = p->kept;
    p->kept = l;
    pthread_mutex_unlock(&l->set->lock);
}

void block_peer_deinit(struct block_peer *p)
{
    while (p->kept) {
        struct block_link *l = p->kept;
        p->kept = l->next;
        block_link_free(l);
    }
}

/* Sends what the wire has; when that does not work, the call is over. */
static void send_all(struct block_link *l, struct attempt *c, int64_t deadline_ns)
{
    int code = set_patience(l, deadline_ns) ? block_link_flush(l) : -EAGAIN;
    if (code == 0 || c->done)
        return;
    if (code == -EAGAIN)
        attempt_end(c, OUTCOME(OUT_TIMEOUT, 0));
    else
        wire_broken(l->wire);
}

outcome block_call(struct block_links *set, struct block_peer *p, const struct head *h, slice body,
                   int64_t deadline_ns, struct arena *a, struct collector *in)
{
    struct attempt c = {.in = in, .arena = a, .grpc = p->h2};
    struct block_link *l = take_link(set, p, deadline_ns, &c.seen);
    if (!l)
        return c.seen;
    c.stream = stream_open(l->wire);
    c.stream->user = &c;
    bool end = !c.grpc && body.n == 0;
    stream_head(c.stream, h, end);
    if (c.grpc) {
        char prefix[GRPC_PREFIX];
        grpc_prefix((uint32_t)body.n, prefix);
        stream_data(c.stream, (slice){prefix, sizeof prefix});
    }
    if (c.stream && body.n)
        stream_data(c.stream, body);
    if (c.stream && !end)
        stream_end(c.stream, NULL);
    send_all(l, &c, deadline_ns);
    while (!c.done) {
        ssize_t got = block_link_get(l, deadline_ns);
        block_link_feed(l, got);
        if (c.done)
            break;
        if (got == -EAGAIN)
            attempt_end(&c, OUTCOME(OUT_TIMEOUT, 0));
        else if (got <= 0)
            attempt_end(&c, OUTCOME(got == 0 ? OUT_CLOSED : OUT_RESET, 0));
        else if (in->kept.full) /* more than we take */
            attempt_end(&c, OUTCOME(OUT_CLOSED, 0));
        else if (l->wire->ops->multiplexed)
            send_all(l, &c, deadline_ns);
    }
    enum outcome_kind kind = outcome_kind(c.seen);
    if (kind == OUT_STATUS || kind == OUT_GRPC) {
        if (c.stream)
            stream_release(c.stream);
        keep_or_free(p, l);
    } else {
        if (c.stream)
            stream_abort(c.stream, FINISH_NOT, 8 /* CANCEL */);
        block_link_free(l);
    }
    return c.seen;
}
