/* SPDX-License-Identifier: Apache-2.0
 *
 * server: answers requests on a loop, HTTP/1.1 and HTTP/2, by a table of routes.
 *
 *     head --> route --+--[body, where the route takes one]--> handle --+--> server_answer
 *                      |                                               +--> server_begin,
 *                      +--> 404, 405, 413, 408: `refuse`                    server_send*, server_end
 *
 * 1. A handler is called once for a request, never waits, and answers before it returns, or begins
 *    an answer then that it goes on with later.
 * 2. An answer that was begun ends by server_end, or by `gone`, exactly once: the client has left,
 *    it takes nothing for too long, or the server is freed.
 * 3. What the client has not taken yet is bounded: server_send refuses what is too much, and takes
 *    nothing of it. So a slow reader loses whole events, and costs nobody else anything.
 * 4. Who asks is for the handler to judge: `local` is false for pages of the web that reach this
 *    address by a browser, or by a name that was made to lead here (Host, Origin,
 *    Sec-Fetch-Site). */
#ifndef OUTFOX_HTTP_SERVER_H
#define OUTFOX_HTTP_SERVER_H

#include "io/addr.h"
#include "io/loop.h"
#include "io/tls.h"
#include "wire/message.h"

struct server;

struct server_request {
    void *ctx; /* of the options */
    const struct head *head;
    slice path, query; /* the target's; as they came, percent-encoded */
    slice body;        /* "" where the route takes none */
    bool local;        /* a program of this machine asks, not a page of the web */
};

struct server_route {
    const char *method; /* NULL: any */
    const char *path;   /* whole, or up to a * at its end */
    size_t body_max;    /* bytes that it takes; 0: a body is not waited for, but dropped */
    void (*handle)(struct server_request *q);
};

struct server_options {
    struct loop *loop;
    const struct server_route *routes; /* the first that fits */
    uint32_t n_routes;
    void *ctx;
    struct tls_context *tls; /* NULL: plain. The server holds it, too */
    /* Answers what came to no handler, `why` is a line; NULL: as plain text. */
    void (*refuse)(struct server_request *q, uint16_t status, const char *why);
    /* 0 of the following: the usual */
    uint32_t connections; /* at once; more are closed as they come: 100 */
    size_t queue;         /* bytes of an answer that wait for its reader: 256 KiB */
    int64_t patience_ns;  /* for a head, a body, and a reader that takes nothing: 30 s */
};

/* Listens at *at, whose port is known then. 0, or -1 with the cause and the remedy. */
int server_new(const struct server_options *o, struct addr *at, struct server **out,
               struct err *e) MUST_USE;

/* Ends what is open. Not from within a handler or `gone`. Accepts NULL. */
void server_free(struct server *s);

/* A field of the answer's head, which has not begun: at most SERVER_FIELDS, both copied. */
enum { SERVER_FIELDS = 16 };
void server_field(struct server_request *q, const char *name, const char *value);

/* The whole answer. type: Content-Type; NULL where there is no body. */
void server_answer(struct server_request *q, uint16_t status, const char *type, slice body);

/* Begins an answer that comes in parts, such as server-sent events. `gone` and `room` get `user`;
 * room (NULL: nobody wants to know) says that all that was sent has left. */
void server_begin(struct server_request *q, uint16_t status, const char *type,
                  void (*gone)(void *user), void (*room)(void *user), void *user);

/* False: the reader is so slow that it would be too much; nothing of it is sent. */
bool server_send(struct server_request *q, slice bytes) MUST_USE;
void server_end(struct server_request *q);

#endif
