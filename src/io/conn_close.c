/* SPDX-License-Identifier: Apache-2.0
 *
 * How connections end. A socket that is closed while there are bytes to read sends RST, and the
 * peer then loses what it has not read yet; so the end of our bytes is said by FIN, and for a
 * moment the peer's are read and dropped.
 *
 *     CLOSING    until all is written: at most CLOSE_MOST_NS, and while there is progress within
 *                STALL_NS, or within what was left of the owner's deadline if that is more
 *     LINGERING  until the peer's FIN: at most LINGER_NS
 *     both       at most DROP_MOST bytes are dropped */
#include <errno.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "base/clock.h"
#include "io/conn_int.h"
#include "io/sys.h"

#define CLOSE_MOST_NS SECONDS(600)
#define STALL_NS      SECONDS(5)
#define LINGER_NS     SECONDS(1)

enum { DROP_MOST = 1024 * 1024 };

/* Bytes that the peer has not acknowledged. A slow peer makes progress here long before the socket
 * becomes writable again. */
static size_t unsent(const struct conn *c)
{
    int n = 0;
    if (ioctl(c->fd, SIOCOUTQ, &n) || n < 0)
        n = 0;
    return c->out.n + (size_t)n;
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
        size_t left = unsent(c);
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

const struct conn_events conn_nobody = {
    .ready = nobody_ignores,
    .bytes = nobody_drops,
    .eof = nobody_sees_end,
    .flush = nobody_ignores,
    .wrote = nobody_ignores,
    .gone = nobody_misses,
    .expired = nobody_waits,
};

void conn_free(struct conn *c)
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

void conn_release(struct conn *c)
{
    if (c->state == CONN_CLOSED)
        return;
    c->state = CONN_CLOSED;
    c->events = &conn_nobody;
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

void conn_gone(struct conn *c, int code)
{
    static const enum conn_gone whys[] = {
        [CONN_CONNECTING] = GONE_CONNECT, [CONN_SHAKING] = GONE_TLS,
        [CONN_FRESH] = GONE_RESET,        [CONN_OPEN] = GONE_RESET,
        [CONN_CLOSING] = GONE_RESET,      [CONN_LINGERING] = GONE_RESET,
    };
    const struct conn_events *events = c->events;
    const char *text = c->tls && code == EPROTO ? tls_error(c->tls) : "";
    c->events = &conn_nobody;
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

void conn_break(struct conn *c, int code)
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

void conn_finish(struct conn *c)
{
    if (c->tls)
        tls_close(c->tls);
    if (shutdown(c->fd, SHUT_WR) || c->eof || c->dropped > DROP_MOST) {
        conn_release(c);
        return;
    }
    c->state = CONN_LINGERING;
    conn_expire(c, c->loop->now_ns + LINGER_NS);
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
    c->events = &conn_nobody;
    int64_t now_ns = c->loop->now_ns, owners_ns = c->expires_ns - now_ns;
    c->patience_ns = owners_ns > CLOSE_MOST_NS ? CLOSE_MOST_NS
                     : owners_ns > STALL_NS    ? owners_ns
                                               : STALL_NS;
    c->until_ns = now_ns + CLOSE_MOST_NS;
    c->left = unsent(c);
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
