/* SPDX-License-Identifier: Apache-2.0
 *
 * HTTP/2 on one connection, as a server or as a client: the wire itself, and the life of its
 * streams. nghttp2 does frames, header compression and flow control; h2_int.h says how the two fit
 * together. How a wire ends:
 *
 *     open --GOAWAY came or was sent--> closing --last stream gone, all written--> finish
 *     open, closing --h2_fail--> failed --GOAWAY written--> finish
 *     any --h2_eof, h2_broken--> dead, and finish at once */
#include "wire/h2_int.h"

#include <assert.h>
#include <stdalign.h>

/* ---- the memory of a session ----
 *
 * A call costs nghttp2 some twenty small pieces, allocated and freed again in the same few sizes: a
 * wire keeps them, by size, for its next calls.
 *
 * 1. A piece has its size in front of it, since nghttp2 does not say it when it frees.
 * 2. At most KEPT_MAX bytes are kept; none where a sanitizer watches over what was freed.
 * 3. What is in use is counted: frames that wait for a peer that does not read are part of it. */

/* What stands in front of the bytes that nghttp2 gets. */
struct h2_piece {
    alignas(max_align_t) struct h2_piece *next; /* while it is kept */
    size_t size;
};

#ifdef SANITIZED
enum { UNIT = 32, KEPT_MAX = 0 };
#else
enum { UNIT = 32, KEPT_MAX = 32 * 1024 };
#endif

/* Of which size it is, in units; H2_CLASSES and more: too large to be kept. */
static size_t class_of(size_t size)
{
    return size / UNIT + 1;
}

static void *piece_alloc(size_t size, void *user)
{
    struct h2_pool *pool = user;
    size_t class = class_of(size);
    bool large = class >= H2_CLASSES;
    struct h2_piece *piece = large ? NULL : pool->free[class];
    if (piece) {
        pool->free[class] = piece->next;
        pool->kept -= class * UNIT;
    } else {
        piece = mem_alloc(sizeof *piece + (large ? size : class * UNIT));
    }
    piece->size = size;
    pool->used += size;
    return piece + 1;
}

static void piece_free(void *p, void *user)
{
    struct h2_pool *pool = user;
    if (!p)
        return;
    struct h2_piece *piece = (struct h2_piece *)p - 1;
    size_t class = class_of(piece->size);
    pool->used -= piece->size;
    if (class >= H2_CLASSES || pool->kept + class * UNIT > KEPT_MAX) {
        mem_free(piece);
        return;
    }
    piece->next = pool->free[class];
    pool->free[class] = piece;
    pool->kept += class * UNIT;
}

static void *piece_zero(size_t count, size_t size, void *user)
{
    if (size && count > SIZE_MAX / size)
        mem_oom();
    return memset(piece_alloc(count * size, user), 0, count * size);
}

/* nghttp2 grows only its tables and buffers, seldom. */
static void *piece_grow(void *p, size_t size, void *user)
{
    void *larger = piece_alloc(size, user);
    if (!p)
        return larger;
    size_t before = ((struct h2_piece *)p - 1)->size;
    memcpy(larger, p, size < before ? size : before);
    piece_free(p, user);
    return larger;
}

static void pool_deinit(struct h2_pool *pool)
{
    for (size_t i = 0; i < H2_CLASSES; i++)
        while (pool->free[i]) {
            struct h2_piece *piece = pool->free[i];
            pool->free[i] = piece->next;
            mem_free(piece);
        }
}

/* ---- streams ---- */

struct h2_stream *h2_stream_new(struct h2 *h)
{
    struct h2_stream *s = h->unused;
    if (s) {
        h->unused = s->next;
        h->n_unused--;
        *s = (struct h2_stream){.trailers = {s->trailers.nva, 0, s->trailers.cap}};
    } else {
        s = mem_zero(sizeof *s);
    }
    s->stream.wire = &h->wire;
    s->body = CHAIN_INIT(h->wire.out->blocks);
    s->next = h->streams;
    if (s->next)
        s->next->prev = s;
    h->streams = s;
    s->counted = true;
    h->wire.n_streams++;
    return s;
}

static void stream_uncount(struct h2_stream *s)
{
    if (s->counted)
        s->stream.wire->n_streams--;
    s->counted = false;
}

static void stream_free(struct h2_stream *s)
{
    mem_free(s->trailers.nva);
    mem_free(s);
}

void h2_stream_drop(struct h2_stream *s)
{
    struct h2 *h = h2_of(s->stream.wire);
    if (s->held || s->live || s->todo || s->pins)
        return;
    if (s->prev)
        s->prev->next = s->next;
    else
        h->streams = s->next;
    if (s->next)
        s->next->prev = s->prev;
    stream_uncount(s);
    chain_clear(&s->body);
    if (h->n_unused == H2_STREAMS_KEPT || s->trailers.cap > H2_BLOCK_KEPT) {
        stream_free(s);
        return;
    }
    s->next = h->unused;
    h->unused = s;
    h->n_unused++;
}

void h2_todo(struct h2_stream *s)
{
    struct h2 *h = h2_of(s->stream.wire);
    if (s->todo)
        return;
    s->todo = true;
    s->next_todo = NULL;
    if (h->todo)
        h->todo_last->next_todo = s;
    else
        h->todo = s;
    h->todo_last = s;
}

void h2_settle(struct h2 *h)
{
    while (h->todo) {
        struct h2_stream *s = h->todo;
        h->todo = s->next_todo;
        s->todo = false;
        size_t n = s->sent;
        s->sent = 0;
        s->pins++; /* it outlives what the events do */
        if (n && h2_listens(s))
            h->wire.events->sent(&s->stream, n);
        if (s->cut_ready && !h->dead)
            h2_cut(s, s->cut_code);
        s->cut_ready = false;
        if (s->aborted && s->held) {
            s->held = false;
            if (s->stream.user)
                h->wire.events->abort(&s->stream, s->why, s->code);
            s->stream.user = NULL;
        }
        s->pins--;
        h2_stream_drop(s);
    }
}

void h2_lose(struct h2_stream *s, enum wire_cut why, uint32_t code)
{
    if (!s->held || s->aborted)
        return;
    s->aborted = true;
    s->why = why;
    s->code = code;
    h2_todo(s);
}

/* ---- the end ---- */

static void lose_all(struct h2 *h, enum wire_cut why)
{
    for (struct h2_stream *s = h->streams; s; s = s->next) {
        h2_lose(s, why, 0);
        stream_uncount(s);
    }
}

void h2_fail(struct h2 *h, enum wire_cut why, uint32_t code, const char *text)
{
    if (h->failed || h->dead)
        return;
    h->failed = true;
    h->wire.closing = true;
    h->wire.error = text;
    if (nghttp2_session_terminate_session(h->session, code))
        mem_oom();
    lose_all(h, why);
}

/* The number never grows from one GOAWAY to the next. */
void h2_submit_goaway(struct h2 *h, int32_t last_id)
{
    if (h->dead || h->failed)
        return;
    if (last_id < 0)
        last_id = 0;
    if (last_id < h->goaway_id)
        h->goaway_id = last_id;
    h->wire.closing = true;
    if (nghttp2_submit_goaway(h->session, NGHTTP2_FLAG_NONE, h->goaway_id, NGHTTP2_NO_ERROR, NULL,
                              0))
        mem_oom();
}

static void die(struct h2 *h, enum wire_cut why, enum wire_finish how)
{
    if (h->dead)
        return;
    h->dead = true;
    h->wire.closing = true;
    h->wire.finish = how;
    lose_all(h, why);
    h2_settle(h);
}

void h2_check_finish(struct h2 *h)
{
    struct wire *w = &h->wire;
    bool over = h->failed || (w->closing && w->n_streams == 0);
    if (over && !w->finish && !h->busy && !h->todo && !nghttp2_session_want_write(h->session))
        w->finish = FINISH_CLOSE;
}

/* ---- from the connection below ---- */

static void h2_eof(struct wire *w)
{
    die(h2_of(w), CUT_CLOSED, FINISH_CLOSE);
}

static void h2_broken(struct wire *w)
{
    die(h2_of(w), CUT_RESET, FINISH_RESET);
}

/* A peer that makes us answer but does not read is not listened to. `out` is not filled while the
 * connection below is blocked, so what is behind it counts. */
static bool h2_reads(const struct wire *w)
{
    const struct h2 *h = (const struct h2 *)w;
    size_t most = H2_MEMORY_MAX + (size_t)w->limits->streams * H2_STREAM_MEMORY;
    return !w->finish && !h->failed && !h->paused && h->pool.used < most &&
           nghttp2_session_get_outbound_queue_size(h->session) < H2_FRAMES_MAX;
}

static void h2_pump(struct wire *w)
{
    struct h2 *h = h2_of(w);
    if (h->busy || h->pumping || h->dead)
        return;
    h->pumping = true;
    bool more = true;
    while (more && !h->dead) {
        const uint8_t *bytes;
        ssize_t n = 0;
        h->busy = true;
        while (w->out->n < H2_OUT_MAX && (n = nghttp2_session_mem_send(h->session, &bytes)) > 0)
            chain_add(w->out, (slice){(const char *)bytes, (size_t)n});
        h->busy = false;
        h->full = w->out->n >= H2_OUT_MAX;
        if (n < 0) /* nghttp2 is at its end */
            die(h, CUT_BAD, FINISH_CLOSE);
        more = h->todo != NULL;
        h2_settle(h);
    }
    h->pumping = false;
    h2_check_finish(h);
}

static void h2_wrote(struct wire *w)
{
    if (h2_of(w)->full && w->out->n < H2_OUT_MAX)
        w->resume = true; /* there is room again: pump once more */
}

static bool h2_idle(const struct wire *w)
{
    return w->n_streams == 0;
}

static uint32_t h2_room(const struct wire *w)
{
    const struct h2 *h = (const struct h2 *)w;
    if (w->closing || w->finish)
        return 0;
    uint32_t most =
        nghttp2_session_get_remote_settings(h->session, NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS);
    if (most > H2_STREAMS_MAX)
        most = H2_STREAMS_MAX;
    return most > w->n_streams ? most - w->n_streams : 0;
}

static void h2_shutdown(struct wire *w)
{
    struct h2 *h = h2_of(w);
    h2_submit_goaway(h, nghttp2_session_get_last_proc_stream_id(h->session));
    h2_check_finish(h);
}

static void h2_part(struct wire *w)
{
    struct h2 *h = h2_of(w);
    if (h->dead || h->failed || w->closing)
        return;
    if (nghttp2_submit_shutdown_notice(h->session))
        mem_oom();
}

static struct stream *h2_open(struct wire *w)
{
    struct h2_stream *s = h2_stream_new(h2_of(w));
    s->held = true;
    return &s->stream;
}

static void h2_free(struct wire *w)
{
    struct h2 *h = h2_of(w);
    assert(!h->busy && !h->pumping);
    nghttp2_session_del(h->session);
    pool_deinit(&h->pool);
    while (h->streams) {
        struct h2_stream *s = h->streams;
        h->streams = s->next;
        chain_clear(&s->body);
        stream_free(s);
    }
    while (h->unused) {
        struct h2_stream *s = h->unused;
        h->unused = s->next;
        stream_free(s);
    }
    arena_deinit(&h->text);
    vec_deinit(&h->fields);
    vec_deinit(&h->nva);
    buf_deinit(&h->reason);
    buf_deinit(&h->in);
    mem_free(h);
}

static const struct wire_ops h2_ops = {
    .name = "HTTP/2",
    .multiplexed = true,
    .feed = h2_feed,
    .eof = h2_eof,
    .broken = h2_broken,
    .resume = h2_resume,
    .reads = h2_reads,
    .pump = h2_pump,
    .wrote = h2_wrote,
    .idle = h2_idle,
    .room = h2_room,
    .shutdown = h2_shutdown,
    .part = h2_part,
    .open = h2_open,
    .head = h2_send_head,
    .data = h2_send_data,
    .end = h2_send_end,
    .abort = h2_abort,
    .goaway = h2_goaway,
    .consume = h2_consume,
    .release = h2_release,
    .free = h2_free,
};

/* ---- the beginning ---- */

/* Frames of a head that may follow its first, whatever its size. nghttp2 counts a frame whose head
 * arrives in pieces once for each piece. */
enum { CONTINUATIONS = 64 };

/* As memory never runs out without an end of the process, none of nghttp2's functions fails for
 * want of it. */
static nghttp2_session *session_new(struct h2 *h, bool server)
{
    nghttp2_mem memory = {&h->pool, piece_alloc, piece_free, piece_zero, piece_grow};
    nghttp2_session *session = NULL;
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *option;
    if (nghttp2_session_callbacks_new(&callbacks) || nghttp2_option_new(&option))
        mem_oom();
    h2_set_recv_callbacks(callbacks);
    h2_set_send_callbacks(callbacks);
    nghttp2_option_set_no_auto_window_update(option, 1);
    nghttp2_option_set_no_closed_streams(option, 1);
    nghttp2_option_set_max_send_header_block_length(option, H2_HEAD_OUT_MAX);
    nghttp2_option_set_max_continuations(option, CONTINUATIONS + h->wire.limits->head_bytes / 1024);
    /* wire_limits.resets bounds these, without a clock */
    nghttp2_option_set_stream_reset_rate_limit(option, UINT64_MAX, UINT64_MAX);
    int failed = (server ? nghttp2_session_server_new3
                         : nghttp2_session_client_new3)(&session, callbacks, h, option, &memory);
    if (failed)
        mem_oom();
    nghttp2_option_del(option);
    nghttp2_session_callbacks_del(callbacks);
    return session;
}

struct wire *h2_new(bool server, const struct wire_events *events, const struct wire_limits *limits,
                    struct chain *out)
{
    struct h2 *h = mem_zero(sizeof *h);
    h->wire = (struct wire){
        .ops = &h2_ops, .events = events, .limits = limits, .out = out, .server = server};
    h->session = session_new(h, server);
    h->goaway_id = INT32_MAX;
    h->reason = BUF_INIT(256);
    h->in = BUF_INIT(H2_IN_MAX);
    h->waste_most = (size_t)limits->head_bytes * H2_WASTE_HEADS;
    h->closed.walk.skip = server ? NGHTTP2_CLIENT_MAGIC_LEN : 0;
    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WIRE_WINDOW},
        {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits->head_bytes},
        server ? (nghttp2_settings_entry){NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits->streams}
               : (nghttp2_settings_entry){NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
    };
    if (nghttp2_submit_settings(h->session, NGHTTP2_FLAG_NONE, settings,
                                sizeof settings / sizeof *settings) ||
        nghttp2_session_set_local_window_size(h->session, NGHTTP2_FLAG_NONE, 0, H2_WINDOW))
        mem_oom();
    return &h->wire;
}
