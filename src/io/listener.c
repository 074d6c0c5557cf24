/* SPDX-License-Identifier: Apache-2.0
 *
 * Listeners. A listening socket without descriptors to spare stays readable, so it is not watched
 * for a moment when accepting fails: the clients wait in the kernel's queue. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/clock.h"
#include "io/conn.h"
#include "io/sys.h"

enum { ACCEPTS_MOST = 64 }; /* per event, so that open connections get their turn */

#define RETRY_NS MS(100)

/* The client was gone before it was accepted; see accept(2) for the errors of its network. */
static bool is_clients_fault(int code)
{
    static const int codes[] = {-ECONNABORTED, -EPROTO, -EPERM,        -ENETDOWN,   -ENOPROTOOPT,
                                -EHOSTDOWN,    -ENONET, -EHOSTUNREACH, -EOPNOTSUPP, -ENETUNREACH};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (code == codes[i])
            return true;
    return false;
}

static void on_poll(uv_poll_t *h, int status, int events);

static void watch(struct listener *l)
{
    if (l->fd < 0 || l->retry.at_ns || l->refuses)
        (void)uv_poll_stop(&l->poll);
    else
        (void)uv_poll_start(&l->poll, UV_READABLE, on_poll);
}

static void on_retry(struct timer *t)
{
    watch(OWNER(t, struct listener, retry));
}

static void rest(struct listener *l)
{
    timer_start(l->loop, &l->retry, l->loop->now_ns + RETRY_NS);
    watch(l);
}

static void on_poll(uv_poll_t *h, int status, int events)
{
    (void)events;
    struct listener *l = (struct listener *)h;
    loop_batch(l->loop);
    if (status < 0) {
        rest(l);
        return;
    }
    for (int i = 0; i < ACCEPTS_MOST && l->fd >= 0; i++) {
        int fd = sys_accept(l->fd);
        if (fd >= 0) {
            l->accepted(l, fd);
        } else if (fd == -EAGAIN) {
            return;
        } else if (!is_clients_fault(fd)) {
            rest(l);
            return;
        }
    }
}

static void on_closed(uv_handle_t *h)
{
    struct listener *l = (struct listener *)h;
    l->loop->n_handles--;
    if (l->closed)
        l->closed(l);
}

int listener_init(struct listener *l, struct loop *loop, int fd,
                  void (*accepted)(struct listener *, int fd), void *user)
{
    *l = (struct listener){
        .loop = loop, .fd = fd, .accepted = accepted, .user = user, .retry.fire = on_retry};
    int failed = uv_poll_init(&loop->uv, &l->poll, fd);
    if (failed) {
        sys_close(fd);
        l->fd = -1;
        return failed;
    }
    /* Linux hands the option on to what is accepted; a unix socket has none, and needs none. */
    int on = 1;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    loop->n_handles++;
    watch(l);
    return 0;
}

/* On Linux a socket that listens can be shut down, and then be told to listen anew. Its port stays its
 * own if somebody chose it; one that the system chose is taken once more, at once. */
int listener_refuse(struct listener *l)
{
    struct sockaddr_storage at;
    socklen_t n = sizeof at;
    if (getsockname(l->fd, (struct sockaddr *)&at, &n) || shutdown(l->fd, SHUT_RD))
        return -errno;
    (void)bind(l->fd, (struct sockaddr *)&at, n); /* EINVAL: it still has it */
    timer_stop(l->loop, &l->retry);
    l->refuses = true;
    watch(l);
    return 0;
}

int listener_again(struct listener *l)
{
    if (listen(l->fd, LISTEN_BACKLOG))
        return -errno;
    l->refuses = false;
    watch(l);
    return 0;
}

void listener_close(struct listener *l, void (*closed)(struct listener *l))
{
    if (l->fd < 0)
        return;
    l->closed = closed;
    timer_stop(l->loop, &l->retry);
    uv_close((uv_handle_t *)&l->poll, on_closed);
    sys_close(l->fd);
    l->fd = -1;
}
