/* SPDX-License-Identifier: Apache-2.0
 *
 * Connections are registered once, edge-triggered, for both directions: a request then costs one
 * epoll_wait, one read and one write. */
#include "serve.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    BACKLOG = 1024,
    EVENTS = 128,
    GONE = EPOLLRDHUP | EPOLLHUP | EPOLLERR, /* may come with the last bytes, then not again */
};

struct link {
    int fd;
    void *conn;
};

static int listen_any(void)
{
    struct sockaddr_in addr = {.sin_family = AF_INET};
    socklen_t size = sizeof addr;
    addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&addr, size) || listen(fd, BACKLOG) ||
        getsockname(fd, (struct sockaddr *)&addr, &size)) {
        perror("origin: listen");
        return -1;
    }
    printf("listening on 127.0.0.1:%u\n", (unsigned)ntohs(addr.sin_port));
    fflush(stdout);
    return fd;
}

static void accept_all(const struct service *service, int poll_fd, int listen_fd)
{
    int fd, on = 1;
    while ((fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        struct link *link = malloc(sizeof *link);
        if (link)
            *link = (struct link){fd, service->open(fd)};
        struct epoll_event event = {EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, {.ptr = link}};
        if (link && link->conn && epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
            continue;
        if (link && link->conn)
            service->close(link->conn);
        free(link);
        close(fd);
    }
}

int serve(const struct service *service)
{
    int listen_fd = listen_any(), poll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {EPOLLIN, {.ptr = NULL}}, events[EVENTS];
    if (listen_fd < 0 || poll_fd < 0 || epoll_ctl(poll_fd, EPOLL_CTL_ADD, listen_fd, &event))
        return 1;
    for (;;) {
        int n = epoll_wait(poll_fd, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            struct link *link = events[i].data.ptr;
            if (!link) {
                accept_all(service, poll_fd, listen_fd);
            } else if (!service->ready(link->conn) || events[i].events & GONE) {
                service->close(link->conn);
                close(link->fd);
                free(link);
            }
        }
    }
}
