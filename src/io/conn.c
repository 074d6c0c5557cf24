/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections. The way of a byte that comes: libuv says that the socket is readable, it is read
 * into the loop's buffer, `bytes`. The way of a byte that goes: `out`, conn_touch, and after the
 * events of this batch one writev.
 *
 * 1. A message costs no allocation and no call of libuv. What libuv watches for changes when a
 *    write blocks or unblocks, and when bytes come that nobody wants: reading is stopped lazily, so
 *    that stopping and starting it again between two messages is free.
 * 2. libuv drops a socket from its set when it watches for nothing, and a reset would pass unseen.
 *    So a connection that neither reads nor waits to write watches for urgent data, which hardly
 *    anybody sends: errors are reported along. What comes then without being an error (a unix
 *    socket whose peer closed, urgent data after all) would be reported forever: such a
 *    connection turns `quiet`, and watches for nothing.
 * 3. Every event may close its own connection and any other. A closed one keeps its memory until
 *    libuv is done with it and it has left the list of those touched.
 * 4. A socket that is closed while there are bytes to read sends RST, and the peer then loses what
 *    it has not read yet; so the end of our bytes is said by FIN, and for a moment the peer's are
 *    read and dropped.
 *
 *     CLOSING    until all is written: at most CLOSE_MOST_NS, and while there is progress within
 *                STALL_NS, or within what was left of the owner's deadline if that is more
 *     LINGERING  until the peer's FIN: at most LINGER_NS
 *     both       at most DROP_MOST bytes are dropped */
#include "io/conn.h"

#include <errno.h>
#include <sys/ioctl.h>

#include "io/sys.h"

#define CLOSE_MOST_NS SECONDS(600)
#define STALL_NS      SECONDS(5)
#define LINGER_NS     SECONDS(1)

enum {
    READS_MOST = 4,   /* per event, each of LOOP_READ_BYTES */
    PIECES_MOST = 32, /* per write */
    PASSES_MOST = 8,  /* over what is touched, before the loop looks for events again */
    TLS_RECORD = 16 * 1024,
    DROP_MOST = 1024 * 1024,
};

/* --- What libuv watches for ----------------------------------------------------------------- */

static bool wants_bytes(const struct conn *c)
{
    return c->reading && !c->eof && c->state >= CONN_OPEN && c->state < CONN_CLOSED;
}

static int wanted(const struct conn *c)
{
    if (c->state == CONN_CONNECTING)
        return UV_WRITABLE;
    if (c->state == CONN_SHAKING)
        return c->tls_to_write ? UV_WRITABLE : UV_READABLE;
    if (c->failed)
        return 0;
    int events = 0;
    bool lazily = (c->armed & UV_READABLE) && !c->noisy;
    if (wants_bytes(c) || lazily)
        events |= UV_READABLE;
    if (c->blocked || c->tls_to_write)
        events |= UV_WRITABLE;
    return events || c->quiet ? events : UV_PRIORITIZED;
}

static void on_poll(uv_poll_t *h, int status, int events);

static void conn_watch(struct conn *c)
{
    if (c->state == CONN_CLOSED || c->fd < 0)
        return;
    int events = wanted(c);
    if (events == c->armed)
        return;
    c->armed = (uint8_t)events;
    (void)uv_poll_start(&c->poll, events, on_poll);
}

/* --- Ending --------------------------------------------------------------------------------- */

static void conn_release(struct conn *c);

/* Bytes that the peer has not acknowledged. A slow peer makes progress here long before the socket
 * becomes writable again. */
static size_t unacknowledged(const struct conn *c)
{
    return c->out.n + sys_unsent(c->fd);
}

static void nobody_ignores(struct conn *c)
{
    (void)c;
}

static void nobody_drops(struct conn *c, slice bytes)
{
    c->dropped += bytes.n;
    if (c->dropped <= DROP_MOST)
        return;
    if (c->state == CONN_LINGERING)
        conn_release(c);
    else
        c->reading = false; /* what is left to write may still go out */
}

static void nobody_sees_end(struct conn *c)
{
    if (c->state == CONN_LINGERING)
        conn_release(c);
}

static void nobody_misses(struct conn *c, enum conn_gone why, const char *text)
{
    (void)c, (void)why, (void)text;
}

static void nobody_waits(struct conn *c)
{
    if (c->state == CONN_CLOSING) {
        size_t left = unacknowledged(c);
        if (left < c->left && c->loop->now_ns < c->until_ns) {
            c->left = left;
            conn_expire(c, c->loop->now_ns + c->patience_ns);
        } else {
            conn_reset(c); /* a FIN here would make a part look like the whole */
        }
    } else {
        conn_release(c);
    }
}

static const struct conn_events nobody = {
    .ready = nobody_ignores,
    .bytes = nobody_drops,
    .eof = nobody_sees_end,
    .flush = nobody_ignores,
    .wrote = nobody_ignores,
    .gone = nobody_misses,
    .expired = nobody_waits,
};

static void conn_free(struct conn *c)
{
    c->loop->n_handles--;
    mem_free(c);
}

static void on_closed(uv_handle_t *h)
{
    struct conn *c = h->data;
    c->dead = true;
    if (!c->touched)
        conn_free(c);
}

/* Closes the socket; no event follows. The memory goes when libuv is done with it, or when the
 * connection, touched, is next to be flushed. */
static void conn_release(struct conn *c)
{
    if (c->state == CONN_CLOSED)
        return;
    c->state = CONN_CLOSED;
    c->events = &nobody;
    timer_stop(c->loop, &c->deadline);
    chain_clear(&c->out);
    tls_free(c->tls);
    c->tls = NULL;
    if (c->fd < 0) {
        c->dead = true;
        conn_touch(c); /* the next flush frees it */
        return;
    }
    uv_close((uv_handle_t *)&c->poll, on_closed);
    sys_close(c->fd);
    c->fd = -1;
}

/* Says `gone`, with the words for an errno, and releases. */
static void conn_gone(struct conn *c, int code)
{
    static const enum conn_gone whys[] = {
        [CONN_CONNECTING] = GONE_CONNECT, [CONN_SHAKING] = GONE_TLS,
        [CONN_FRESH] = GONE_RESET,        [CONN_OPEN] = GONE_RESET,
        [CONN_CLOSING] = GONE_RESET,      [CONN_LINGERING] = GONE_RESET,
    };
    const struct conn_events *events = c->events;
    const char *text = c->tls && code == EPROTO ? tls_error(c->tls) : "";
    c->events = &nobody;
    events->gone(c, whys[c->state], *text ? text : strerror(code));
    conn_release(c);
}

static bool has_unread(const struct conn *c)
{
    int n = 0;
    if (c->eof)
        return false;
    return (c->tls && tls_pending(c->tls)) || (ioctl(c->fd, FIONREAD, &n) == 0 && n > 0);
}

/* The connection broke. What a service said before that is still worth something to its caller, so
 * it is read first, now or when the owner reads again, and `failed` is set; a client that left wants
 * no answer. Else the connection is gone. */
static void conn_break(struct conn *c, int code)
{
    if (c->state != CONN_OPEN || !c->dialled || c->failed || !has_unread(c)) {
        conn_gone(c, c->failed ? c->failed : code);
        return;
    }
    c->failed = code;
    c->blocked = c->tls_to_write = false;
    chain_clear(&c->out);
    c->read_due = true;
    if (c->reading)
        conn_touch(c);
}

/* Says that no more follows. False: the peer is gone. */
static bool say_end(struct conn *c)
{
    if (c->tls)
        tls_close(c->tls);
    return shutdown(c->fd, SHUT_WR) == 0;
}

/* All was written: CLOSING -> LINGERING or CLOSED. */
static void conn_finish(struct conn *c)
{
    if (!say_end(c) || c->eof || c->dropped > DROP_MOST) {
        conn_release(c);
        return;
    }
    c->state = CONN_LINGERING;
    conn_expire(c, c->loop->now_ns + LINGER_NS);
}

/* --- Reading -------------------------------------------------------------------------------- */

/* Like read(2) into the loop's buffer: whole records, as many as are there and fit. Adds to *n how
 * many bytes came: some may have come before an error or the end. */
static ssize_t read_tls(struct conn *c, size_t *n)
{
    ssize_t got;
    do {
        got = tls_read(c->tls, c->loop->read_bytes + *n, LOOP_READ_BYTES - *n);
        if (got > 0)
            *n += (size_t)got;
    } while (got > 0 && *n + TLS_RECORD <= LOOP_READ_BYTES &&
             (got == TLS_RECORD || tls_pending(c->tls)));
    c->tls_to_write = got == TLS_AGAIN_WRITE;
    if (got == TLS_CLOSED)
        return 0;
    if (got < 0)
        return got == TLS_FAILED ? -EPROTO : -EAGAIN;
    return got;
}

/* Reading came to an end: 0, or -errno. */
static void conn_ended(struct conn *c, ssize_t got)
{
    bool orderly =
        got == -EPIPE && !c->failed; /* FIN came first, and RST for what we sent after it */
    if (got < 0 && !orderly) {
        conn_break(c, (int)-got);
    } else if (c->failed) {
        conn_gone(c, c->failed);
    } else {
        c->eof = c->noisy = true; /* the end is readable for ever */
        c->events->eof(c);
    }
}

/* Reads once, and again while the buffer gets full. A short read has drained the socket; were it
 * not so, libuv would tell. False: nothing was there. */
static bool conn_take(struct conn *c)
{
    for (int i = 0; i < READS_MOST; i++) {
        size_t n = 0;
        ssize_t got =
            c->tls ? read_tls(c, &n) : sys_read(c->fd, c->loop->read_bytes, LOOP_READ_BYTES);
        if (!c->tls && got > 0)
            n = (size_t)got;
        if (n > 0)
            c->events->bytes(c, (slice){c->loop->read_bytes, n});
        if (!wants_bytes(c)) {
            c->read_due = c->tls || c->failed;
            return true;
        }
        if (got == -EAGAIN && !c->failed)
            return n > 0;
        if (got <= 0) {
            conn_ended(c, got);
            return true;
        }
        if (n + (c->tls ? TLS_RECORD : 1) <= LOOP_READ_BYTES && !c->failed)
            break;
    }
    if (c->failed || (c->tls && tls_pending(c->tls))) {
        c->read_due = true;
        conn_touch(c);
    }
    return true;
}

/* --- Writing -------------------------------------------------------------------------------- */

/* Encrypts and writes pieces until the socket takes no more. Without renegotiation a write never
 * waits for a read. */
static ssize_t send_tls(struct conn *c, const struct iovec *iov, int n)
{
    ssize_t sent = 0;
    for (int i = 0; i < n; i++) {
        for (size_t at = 0; at < iov[i].iov_len;) {
            const char *from = (const char *)iov[i].iov_base + at;
            ssize_t put = tls_write(c->tls, from, iov[i].iov_len - at);
            if (put <= 0 && sent > 0)
                return sent;
            if (put <= 0)
                return put == TLS_AGAIN_WRITE ? -EAGAIN : -EPROTO;
            sent += put;
            at += (size_t)put;
        }
    }
    return sent;
}

/* One write of the first pieces of `out`. */
static void conn_send(struct conn *c)
{
    struct iovec iov[PIECES_MOST];
    int n = chain_iov(&c->out, iov, PIECES_MOST);
    size_t asked = 0;
    for (int i = 0; i < n; i++)
        asked += iov[i].iov_len;
    ssize_t sent = c->tls ? send_tls(c, iov, n) : sys_writev(c->fd, iov, n);
    if (sent < 0 && sent != -EAGAIN) {
        conn_break(c, (int)-sent);
        return;
    }
    if (sent < (ssize_t)asked)
        c->blocked = true; /* a short write has filled the socket */
    if (sent <= 0)
        return;
    chain_drop(&c->out, (size_t)sent);
    if (c->out.n && !c->blocked)
        conn_touch(c);
}

/* --- Becoming open -------------------------------------------------------------------------- */

static int socket_error(const struct conn *c)
{
    int code = 0;
    socklen_t n = sizeof code;
    if (getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &code, &n))
        return errno;
    return code;
}

static void conn_opened(struct conn *c)
{
    c->state = CONN_OPEN;
    c->read_due = c->tls && tls_pending(c->tls);
    c->events->ready(c);
}

static void conn_advance(struct conn *c)
{
    if (c->state == CONN_CONNECTING) {
        int code = socket_error(c);
        if (code) {
            conn_gone(c, code);
            return;
        }
        c->state = c->tls ? CONN_SHAKING : CONN_FRESH;
    }
    int got = c->state == CONN_SHAKING ? tls_handshake(c->tls) : 0;
    c->tls_to_write = got == TLS_AGAIN_WRITE;
    if (got == 0)
        conn_opened(c);
    else if (got != TLS_AGAIN_READ && got != TLS_AGAIN_WRITE)
        conn_gone(c, EPROTO);
}

/* --- Events of the loop --------------------------------------------------------------------- */

/* libuv saw an error, and no longer watches. Reading finds bytes first, and then the error. */
static void on_error(struct conn *c)
{
    if (c->state == CONN_CLOSED || (wants_bytes(c) && conn_take(c)))
        return;
    int code = socket_error(c);
    conn_break(c, code ? code : ECONNRESET);
}

static void on_poll(uv_poll_t *h, int status, int events)
{
    struct conn *c = h->data;
    loop_batch(c->loop);
    if (status < 0)
        c->armed = 0;
    if (c->state < CONN_OPEN) {
        enum conn_state before = c->state;
        conn_advance(c);
        if (status < 0 && c->state == before)
            on_error(c);
        if (c->state >= CONN_OPEN)
            conn_touch(c);
    } else if (status < 0) {
        on_error(c);
    } else if (events & UV_PRIORITIZED) { /* watched for alone */
        int code = socket_error(c);
        if (code)
            conn_break(c, code);
        else
            c->quiet = true;
    } else {
        if (events & UV_WRITABLE) {
            c->blocked = false;
            c->read_due |= c->tls_to_write;
            c->tls_to_write = false;
            conn_touch(c);
        }
        if ((events & UV_READABLE) && wants_bytes(c))
            (void)conn_take(c);
        else if (events & UV_READABLE)
            c->noisy = true;
    }
    conn_watch(c);
}

static void on_deadline(struct timer *t)
{
    struct conn *c = OWNER(t, struct conn, deadline);
    if (c->expires_ns == 0)
        return;
    if (c->expires_ns > c->loop->now_ns) {
        timer_start(c->loop, t, c->expires_ns);
        return;
    }
    c->expires_ns = 0;
    c->events->expired(c);
}

static void conn_flush(struct conn *c)
{
    c->touched = false;
    if (c->state == CONN_CLOSED) {
        if (c->dead)
            conn_free(c);
        return;
    }
    if (c->fd < 0) {
        conn_gone(c, c->failed);
        return;
    }
    if (c->state < CONN_FRESH)
        return;
    if (c->state == CONN_FRESH)
        conn_opened(c);
    if (c->read_due && wants_bytes(c)) {
        c->read_due = false;
        (void)conn_take(c);
    }
    if (c->state < CONN_CLOSED && !c->blocked) {
        c->events->flush(c);
        if (c->failed)
            chain_clear(&c->out);
        else if (c->out.n)
            conn_send(c);
        if (c->state == CONN_OPEN && c->shut_due && c->out.n == 0) {
            c->shut_due = false;
            (void)say_end(c); /* a peer that is gone is told by `gone` */
        }
        if (c->state == CONN_OPEN)
            c->events->wrote(c);
        if (c->state == CONN_CLOSING && c->out.n == 0)
            conn_finish(c);
    }
    conn_watch(c);
}

void conns_flush(struct loop *l)
{
    for (int i = 0; i < PASSES_MOST && l->touched; i++) {
        struct conn *c = l->touched;
        l->touched = l->last_touched = NULL;
        while (c) {
            struct conn *next = c->next_touched;
            conn_flush(c);
            c = next;
        }
    }
}

static void drop(uv_handle_t *h, void *arg)
{
    (void)arg;
    if (h->type == UV_POLL && h->data)
        conn_release(h->data);
}

void conns_drop(struct loop *l)
{
    uv_walk(&l->uv, drop, NULL);
}

/* --- Functions ------------------------------------------------------------------------------ */

static struct conn *conn_new(struct loop *l, int fd, enum conn_state state,
                             const struct conn_events *events, void *user)
{
    int code = errno; /* why there is no fd */
    struct conn *c = mem_zero(sizeof *c);
    c->loop = l;
    c->events = events;
    c->user = user;
    c->out = CHAIN_INIT(&l->blocks);
    c->deadline.fire = on_deadline;
    c->fd = fd;
    c->state = state;
    l->n_handles++;
    if (fd < 0) {
        c->failed = code;
        return c;
    }
    int failed = uv_poll_init(&l->uv, &c->poll, fd);
    c->poll.data = c;
    if (failed) {
        sys_close(fd);
        c->fd = -1;
        c->failed = -failed;
    }
    return c;
}

struct conn *conn_accept(struct loop *l, int fd, struct tls_context *ctx,
                         const struct conn_events *events, void *user)
{
    struct conn *c = conn_new(l, fd, ctx ? CONN_SHAKING : CONN_FRESH, events, user);
    if (c->fd >= 0 && ctx)
        c->tls = tls_new(ctx, fd, ALPN_NONE);
    if (c->fd >= 0 && ctx)
        conn_watch(c);
    else
        conn_touch(c);
    return c;
}

struct conn *conn_connect(struct loop *l, const struct addr *to, struct tls_context *ctx,
                          enum tls_alpn alpn, const struct conn_events *events, void *user)
{
    struct conn *c = conn_new(l, addr_connect(to), CONN_CONNECTING, events, user);
    c->dialled = true;
    if (c->fd < 0) {
        conn_touch(c);
        return c;
    }
    if (ctx)
        c->tls = tls_new(ctx, c->fd, alpn);
    conn_watch(c);
    return c;
}

void conn_read(struct conn *c, bool on)
{
    if (c->reading == on)
        return;
    c->reading = on;
    if (!on)
        return;
    c->noisy = c->quiet = false;
    if (c->read_due)
        conn_touch(c);
    if (c->state >= CONN_OPEN)
        conn_watch(c);
}

void conn_touch(struct conn *c)
{
    if (c->touched)
        return;
    c->touched = true;
    c->next_touched = NULL;
    if (c->loop->touched)
        c->loop->last_touched->next_touched = c;
    else
        c->loop->touched = c;
    c->loop->last_touched = c;
}

void conn_expire(struct conn *c, int64_t at_ns)
{
    c->expires_ns = at_ns;
    if (at_ns == 0 || c->state == CONN_CLOSED)
        return;
    if (c->deadline.at_ns == 0 || at_ns < c->deadline.at_ns)
        timer_start(c->loop, &c->deadline, at_ns);
}

void conn_shut(struct conn *c)
{
    c->shut_due = true;
    conn_touch(c);
}

void conn_close(struct conn *c)
{
    if (c->state >= CONN_CLOSING)
        return;
    if (c->state < CONN_OPEN || c->failed) {
        conn_release(c);
        return;
    }
    loop_batch(c->loop);
    c->state = CONN_CLOSING;
    c->events = &nobody;
    int64_t now_ns = c->loop->now_ns, owners_ns = c->expires_ns - now_ns;
    c->patience_ns = owners_ns > CLOSE_MOST_NS ? CLOSE_MOST_NS
                     : owners_ns > STALL_NS    ? owners_ns
                                               : STALL_NS;
    c->until_ns = now_ns + CLOSE_MOST_NS;
    c->left = unacknowledged(c);
    conn_expire(c, now_ns + c->patience_ns);
    conn_read(c, true);
    conn_touch(c);
}

void conn_leave(struct conn *c)
{
    if (c->state != CONN_OPEN || c->tls || c->out.n || has_unread(c))
        conn_close(c);
    else
        conn_release(c);
}

void conn_reset(struct conn *c)
{
    if (c->state == CONN_CLOSED)
        return;
    if (c->fd >= 0)
        sys_linger_reset(c->fd);
    conn_release(c);
}
