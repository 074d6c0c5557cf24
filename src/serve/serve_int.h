/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of serve/. Threads wait for sockets (http/blocking.h) and for each other; each comes
 * from the crew.
 *
 *   serve.c      options, listening, accepting, stopping
 *   server.c     requests that come in, one after the other (HTTP/1.1) or many at once (HTTP/2),
 *                also those to the control port
 *   world.c      what a handler does: values as bytes, calls on kept connections, waiting, branches
 *   state.c      what services remember, per trace
 *
 *   accept --> connection --> request --sim_handle--> world --> (another server)
 *
 * 1. A link is used by one thread at a time: under its lock where there are several.
 * 2. A request lives as long as a thread works for it: every job holds a reference.
 * 3. After block_links_end no wait begins, and all that had begun come back. */
#ifndef OUTFOX_SERVE_SERVE_INT_H
#define OUTFOX_SERVE_SERVE_INT_H

#include "base/clock.h"
#include "base/vec.h"
#include "http/blocking.h"
#include "io/crew.h"
#include "serve/serve.h"
#include "sim/handler.h"

enum {
    SERVE_THREADS_MAX = 4000,
    SERVE_BODY_MAX = 16 << 20, /* bytes of a body, either way */
    SERVE_DEPTH_MAX = 64,      /* calls below each other */
    SERVE_VALUE_MAX = 10000,   /* parts of a value that is received */
    SERVE_PEERS_MAX = 1000,    /* addresses that came as data */
    SERVE_STATES_MAX = 256,    /* traces whose state is kept */
    SERVE_PROPAGATE_MAX = 32,  /* names of headers */
};

#define SERVE_WAIT_NS SECONDS(60) /* for an answer, where no timeout is given */

#define SERVE_SILENCE_NS SECONDS(600) /* of a client on a connection */

#define SERVE_DEPTH_FIELD SLICE("outfox-depth")

struct request;

/* ---- state.c ---- */

struct states;
struct states *states_new(const struct sim *sim);
void states_free(struct states *st);
const struct node **states_begin(struct states *st, uint64_t trace, uint32_t service);
void states_end(struct states *st, uint64_t trace, uint32_t service, uint32_t slot);
void states_reset(struct states *st);
void states_forget(struct states *st, uint64_t trace);

/* {service: {name: value}} of the services in `served`; of trace 0 where there is none of this. */
void states_print(struct states *st, uint64_t trace, const bool *served, struct buf *out);

/* ---- server.c ---- */

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

struct request *request_hold(struct request *r);
void request_drop(struct request *r);

/* Serves a connection to the end. */
void server_serve(struct serve *s, int fd, uint32_t service);

/* ---- world.c ---- */

extern const struct sim_world serve_world; /* ctx: struct request */

struct peer;
void peers_free(struct serve *s);

/* What is no JSON is text; nothing is null. */
const struct node *body_parse(struct arena *a, slice bytes);

/* The value as JSON, with http://SERVICE at the beginning of a text replaced by where `service`
 * reaches it; nothing for null. */
void body_print(const struct serve *s, uint32_t service, const struct node *value, struct arena *a,
                struct buf *out);

/* ---- serve.c ---- */

struct route {
    uint32_t caller; /* UINT32_MAX: all */
    uint32_t callee;
    struct addr addr;
    slice authority;
};

struct port {
    uint32_t service; /* UINT32_MAX: control */
    struct addr addr;
    int fd;
};

struct serve {
    const struct sim *sim;
    struct arena arena; /* of the options */
    bool *served;       /* by service */
    bool chosen;        /* --service was given */
    uint16_t *port;     /* by service; 0: any */
    VEC(struct route) routes;
    slice propagate[SERVE_PROPAGATE_MAX];
    uint32_t n_propagate;
    bool control;
    uint16_t control_port;
    VEC(struct port) ports; /* that are listened at */

    struct states *states;
    pthread_mutex_t peers_lock; /* of the list */
    VEC(struct peer *) peers;   /* those who were called */
    struct crew *crew;
    atomic_uint_fast64_t seed;
    struct block_links links;
};

/* Where `caller` reaches `callee`; NULL: nowhere. */
const struct route *serve_route(const struct serve *s, uint32_t caller, uint32_t callee);

#endif
