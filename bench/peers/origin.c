/* SPDX-License-Identifier: Apache-2.0
 *
 * The service behind the proxies in the HTTP/1.1 benchmark: the same small answer to every request,
 * keep-alive, pipelining.
 *
 *  1. The answer is constant, so what is still to be sent is two numbers: answers owed, and how
 *     much of the first of them has gone out.
 *  2. A request is a head up to its blank line and as many bytes of body as its content-length
 * says. Chunked requests are not understood, and nothing is checked: the clients are ours.
 *  3. Nothing is read while an answer cannot be sent. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "serve.h"

enum { IN_BYTES = 16384, COPIES = 64 };

#define ANSWER                                                                                     \
    "HTTP/1.1 200 OK\r\nServer: origin\r\nContent-Type: application/json\r\n"                      \
    "Content-Length: 12\r\n\r\n{\"ok\":true}\n"
#define ANSWER_BYTES (sizeof ANSWER - 1)

struct conn {
    int fd;
    size_t owed;   /* answers not sent completely */
    size_t gone;   /* bytes of the first of them that were sent */
    size_t body;   /* bytes of a request's body that are still to be skipped */
    size_t filled; /* of `in`: the beginning of a head */
    char in[IN_BYTES];
};

static char answers[COPIES * ANSWER_BYTES];

/* The value of content-length in a head, else 0. */
static size_t body_bytes(const char *head, size_t size)
{
    static const char name[] = "\r\ncontent-length:";
    size_t n = sizeof name - 1;
    for (size_t i = 0; i + n < size; i++)
        if (head[i] == '\r' && strncasecmp(head + i, name, n) == 0)
            return strtoul(head + i + n, NULL, 10);
    return 0;
}

/* Takes the complete requests out of the buffer; each is one more answer owed. */
static void take_requests(struct conn *c)
{
    char *at = c->in, *end = c->in + c->filled;
    for (;;) {
        size_t skip = c->body < (size_t)(end - at) ? c->body : (size_t)(end - at);
        at += skip;
        c->body -= skip;
        char *blank = memmem(at, (size_t)(end - at), "\r\n\r\n", 4);
        if (c->body || !blank)
            break;
        c->body = body_bytes(at, (size_t)(blank + 4 - at));
        c->owed++;
        at = blank + 4;
    }
    c->filled = (size_t)(end - at);
    memmove(c->in, at, c->filled);
}

/* False: the connection is broken. What could not be sent stays owed. */
static bool send_answers(struct conn *c)
{
    while (c->owed) {
        size_t copies = c->owed < COPIES ? c->owed : COPIES;
        ssize_t n = send(c->fd, answers + c->gone, copies * ANSWER_BYTES - c->gone, MSG_NOSIGNAL);
        if (n < 0)
            return errno == EAGAIN;
        size_t sent = c->gone + (size_t)n;
        c->owed -= sent / ANSWER_BYTES;
        c->gone = sent % ANSWER_BYTES;
    }
    return true;
}

static bool ready(void *conn)
{
    struct conn *c = conn;
    for (;;) {
        if (!send_answers(c))
            return false;
        if (c->owed)
            return true;
        size_t room = IN_BYTES - c->filled;
        if (room == 0)
            return false;
        ssize_t n = recv(c->fd, c->in + c->filled, room, 0);
        if (n <= 0)
            return n < 0 && errno == EAGAIN;
        c->filled += (size_t)n;
        take_requests(c);
        if ((size_t)n < room)
            return send_answers(c);
    }
}

static void *open_conn(int fd)
{
    struct conn *c = calloc(1, sizeof *c);
    if (c)
        c->fd = fd;
    return c;
}

int main(void)
{
    for (size_t i = 0; i < COPIES; i++)
        memcpy(answers + i * ANSWER_BYTES, ANSWER, ANSWER_BYTES);
    return serve(&(struct service){open_conn, ready, free});
}
