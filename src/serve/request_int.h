/* SPDX-License-Identifier: Apache-2.0
 *
 * A request: what came in, what works for it, what goes out. */
#ifndef OUTFOX_SERVE_REQUEST_INT_H
#define OUTFOX_SERVE_REQUEST_INT_H

#include "serve/serve_int.h"

/* ---- request.c ---- */

struct request_arena {
    struct arena arena;
    struct request_arena *next;
};

struct request {
    struct serve *serve;
    uint32_t service; /* UINT32_MAX: control */
    atomic_uint refs;
    pthread_mutex_t lock; /* of `more` and `given` */
    struct arena arena;
    bool given; /* `arena`, to the handler */
    struct request_arena *more;

    slice method, target;
    bool grpc, head_only;
    bool foreign; /* a page of the web sent it */
    struct buf body;
    const struct field *fields; /* that go on to all calls */
    uint32_t n_fields, depth;
    uint64_t trace;

    /* of the connection: under its lock */
    struct stream *stream; /* NULL: it is gone */
    struct server_link *from;
    struct request *next; /* complete, to be handled */
    bool complete, too_large;

    /* the answer */
    uint16_t status;
    int grpc_status; /* -1: none */
    slice content_type;
    struct buf answer, grpc_message;
};

struct request *request_new(struct serve *s, uint32_t service);
struct request *request_hold(struct request *r);
void request_drop(struct request *r);

/* Takes the head of a request. */
void request_head(struct request *r, const struct head *h, bool multiplexed);
void request_data(struct request *r, slice bytes);

/* Has it handled: status, grpc_status, content_type and answer are set. */
void request_handle(struct request *r);

/* Sends the answer. */
void request_answer(struct request *r);

/* ---- control.c ---- */
void control_handle(struct request *r);

#endif
