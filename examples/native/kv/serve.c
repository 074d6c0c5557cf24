/* SPDX-License-Identifier: Apache-2.0
 *
 * Clients: one loop, epoll, a handler for each descriptor. It never blocks: who has to wait for a write or
 * a snapshot is in a table of waiting connections, and the loop looks at it when it is woken. */
#include "kv.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

typedef void handler(void *of, uint32_t events);

struct source {
    handler *handle;
    void *of;
    int fd;
};

static struct {
    int epoll, wake, listener;
    int full; /* a connection could not be taken: there is no place */
    struct source listening, waking, source[MAX_CONNS];
    struct conn conn[MAX_CONNS];
} loop = {.epoll = -1, .wake = -1, .listener = -1};

static int loop_add(struct source *s, int fd, handler *handle, void *of)
{
    *s = (struct source){.handle = handle, .of = of, .fd = fd};
    struct epoll_event e = {.events = EPOLLIN, .data = {.ptr = s}};
    return epoll_ctl(loop.epoll, EPOLL_CTL_ADD, fd, &e);
}

void loop_wake(void)
{
    uint64_t one = 1;
    if (loop.wake >= 0 && write(loop.wake, &one, sizeof one) < 0 && errno != EAGAIN)
        say(WARN, "cannot wake the loop: %s; it looks by itself soon", strerror(errno));
}

/* ---- connections ---- */

int conn_number(const struct conn *c)
{
    return (int)(c - loop.conn);
}

static void conn_forget(struct conn *c)
{
    epoll_ctl(loop.epoll, EPOLL_CTL_DEL, c->fd, NULL);
    free(c->out.data);
    unsigned generation = c->generation + 1;
    memset(c, 0, sizeof *c);
    c->generation = generation;
    c->fd = -1;
}

static void conn_close(struct conn *c)
{
    int fd = c->fd;
    conn_forget(c);
    close(fd);
}

void serve_wait(struct conn *c, enum waiting for_what, uint64_t number, int ms)
{
    c->waiting = for_what;
    c->waits_for = number;
    c->deadline_ms = now_ms() + ms;
}

/* A line that makes the connection a follower's: it is the leader's threads' from then on. */
static void conn_attach(struct conn *c, int id, uint64_t lsn)
{
    int fd = c->fd;
    if (id < 0 || id >= MAX_PEERS || node.role != LEADER) {
        conn_close(c);
        return;
    }
    conn_forget(c);
    if (leader_attach(fd, id, lsn) < 0)
        close(fd);
}

/* Sends what it can; 0, or -1: the connection is gone. */
static int conn_flush(struct conn *c)
{
    while (c->sent < c->out.n) {
        ssize_t n =
            send(c->fd, c->out.data + c->sent, c->out.n - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno != EAGAIN) {
            conn_close(c);
            return -1;
        }
        if (n < 0)
            break;
        c->sent += (size_t)n;
    }
    int left = c->sent < c->out.n;
    if (!left)
        c->out.n = c->sent = 0;
    struct epoll_event e = {.events = left ? EPOLLIN | EPOLLOUT : EPOLLIN,
                            .data = {.ptr = &loop.source[conn_number(c)]}};
    if (left && epoll_ctl(loop.epoll, EPOLL_CTL_MOD, c->fd, &e) < 0) {
        conn_close(c);
        return -1;
    }
    return 0;
}

/* Runs the lines that are whole, until one has to wait. */
static void conn_lines(struct conn *c)
{
    int id;
    unsigned long long lsn;
    char *end;
    while (c->fd >= 0 && c->waiting == WAIT_NOTHING && (end = memchr(c->in, '\n', c->in_n))) {
        char line[sizeof c->in];
        size_t n = (size_t)(end - c->in);
        memcpy(line, c->in, n);
        line[n && line[n - 1] == '\r' ? n - 1 : n] = 0;
        c->in_n -= n + 1;
        memmove(c->in, end + 1, c->in_n);
        if (sync_line(line, &id, &lsn)) {
            conn_attach(c, id, lsn);
            return;
        }
        command_run(c, line);
        if (conn_flush(c) < 0)
            return;
        if (c->waiting == WAIT_CLOSE)
            conn_close(c);
    }
}

static void on_client(void *of, uint32_t events)
{
    struct conn *c = of;
    if (c->fd < 0)
        return;
    if ((events & EPOLLOUT) && conn_flush(c) < 0)
        return;
    if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
        return;
    ssize_t n = recv(c->fd, c->in + c->in_n, sizeof c->in - c->in_n, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        conn_close(c);
        return;
    }
    c->in_n += (size_t)n;
    conn_lines(c);
    if (c->in_n == sizeof c->in)
        conn_close(c); /* no line is so long */
}

static void on_listener(void *of, uint32_t events)
{
    (void)of, (void)events;
    int fd = accept4(loop.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
        if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            say(WARN, "cannot accept: %s; tried again", strerror(errno));
        return;
    }
    int i = 0, one = 1;
    while (i < MAX_CONNS && loop.conn[i].fd >= 0)
        i++;
    loop.full = i == MAX_CONNS;
    if (loop.full) {
        say(WARN, "there are already %d connections", MAX_CONNS);
        close(fd);
        return;
    }
    if (setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) < 0 ||
        loop_add(&loop.source[i], fd, on_client, &loop.conn[i]) < 0) {
        say(WARN, "cannot serve a connection: %s", strerror(errno));
        close(fd);
        return;
    }
    loop.conn[i].fd = fd;
}

/* ---- those who wait ---- */

static void conn_answer(struct conn *c, const char *text)
{
    c->waiting = WAIT_NOTHING;
    if (bytes_add(&c->out, text, strlen(text)) < 0) {
        conn_close(c);
        return;
    }
    if (conn_flush(c) == 0)
        conn_lines(c);
}

static void conn_look(struct conn *c, uint64_t commit, uint64_t answered, uint64_t failed)
{
    if (c->waiting == WAIT_COMMIT && c->waits_for <= commit)
        conn_answer(c, "OK\n");
    else if (c->waiting == WAIT_SNAPSHOT && c->waits_for <= answered)
        conn_answer(c, c->snapshots_failed == failed ? "OK\n" : "ERR the snapshot failed\n");
    else if (c->waiting != WAIT_NOTHING && c->deadline_ms < now_ms())
        conn_answer(c, "ERR it takes too long\n");
}

static void look(void)
{
    struct done d;
    while (writer_done(&d)) {
        struct conn *c = &loop.conn[d.conn];
        if (c->fd < 0 || c->generation != d.generation || c->waiting != WAIT_LSN)
            continue;
        if (d.lsn) {
            c->waiting = WAIT_COMMIT;
            c->waits_for = d.lsn;
        } else {
            conn_answer(c, "ERR the journal takes no writes\n");
        }
    }
    pthread_mutex_lock(&journal.lock);
    uint64_t commit = journal.commit;
    pthread_mutex_unlock(&journal.lock);
    pthread_mutex_lock(&snapshots.lock);
    uint64_t answered = snapshots.answered, failed = snapshots.failed;
    pthread_mutex_unlock(&snapshots.lock);
    for (int i = 0; i < MAX_CONNS; i++)
        if (loop.conn[i].fd >= 0 && loop.conn[i].waiting != WAIT_NOTHING)
            conn_look(&loop.conn[i], commit, answered, failed);
}

static void on_wake(void *of, uint32_t events)
{
    uint64_t n;
    (void)of, (void)events;
    if (read(loop.wake, &n, sizeof n) < 0 && errno != EAGAIN)
        say(WARN, "the loop was woken in vain: %s", strerror(errno));
}

/* ---- the loop ---- */

int serve_open(int port)
{
    for (int i = 0; i < MAX_CONNS; i++)
        loop.conn[i].fd = -1;
    loop.epoll = epoll_create1(EPOLL_CLOEXEC);
    loop.wake = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    loop.listener = net_listen(port);
    if (loop.epoll < 0 || loop.wake < 0 || loop.listener < 0)
        return -1;
    if (loop_add(&loop.listening, loop.listener, on_listener, NULL) < 0 ||
        loop_add(&loop.waking, loop.wake, on_wake, NULL) < 0)
        return -1;
    return 0;
}

void serve_run(void)
{
    struct epoll_event event[16];
    while (!node.stopping) {
        int n = epoll_wait(loop.epoll, event, 16, BEAT_MS);
        if (n < 0 && errno != EINTR) {
            say(WARN, "cannot wait for clients: %s", strerror(errno));
            pause_ms(5);
        }
        for (int i = 0; i < n; i++) {
            struct source *s = event[i].data.ptr;
            s->handle(s->of, event[i].events);
        }
        look();
    }
    for (int i = 0; i < MAX_CONNS; i++)
        if (loop.conn[i].fd >= 0)
            conn_close(&loop.conn[i]);
    close(loop.listener);
}
