/* SPDX-License-Identifier: Apache-2.0
 *
 * What the files of this room share. Reading order: setup.c (a configuration made ready), worker.c
 * (a thread with its listeners), link.c (a connection that speaks HTTP), exchange.c (one call),
 * with act.c (faults instead of the service), reply.c (faults in the service's answer), upstream.c
 * (connections to services) and record.c (what is written down about a call).
 *
 * A worker shares nothing with other workers but what is immutable (setup) or made for it (tallies
 * of rules, counts of names, the log file). */
#ifndef OUTFOX_PROXY_PROXY_INT_H
#define OUTFOX_PROXY_PROXY_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "core/mode.h"
#include "io/conn.h"
#include "proxy/config.h"
#include "proxy/rule.h"
#include "wire/grpc.h"
#include "wire/wire.h"

/* HTTP/2 error codes that are used here. */
enum { H2_INTERNAL_ERROR = 2, H2_REFUSED_STREAM = 7, H2_CANCEL = 8 };

/* ---- setup.c ---- */

/* One proxy, ready to run. */
struct door {
    const struct proxy_spec *spec;
    struct addr listen, to;
    struct tls_context *listen_tls, *to_tls; /* NULL: plain */
    int *fd;                                 /* one listening socket per worker; -1: it has one */
};

/* A configuration made ready: addresses resolved, certificates loaded, sockets bound. Immutable but
 * for `refs` and the descriptors, which each worker takes for itself. */
struct setup {
    _Atomic uint32_t refs;
    struct proxy_config *config;
    struct door *door;
    uint32_t n_doors, workers;
    struct wire_limits wire_limits;
    struct naming *naming; /* shared by successive setups */
    struct log *log;       /* NULL: none */
};

/* Takes the configuration over. What `old` (NULL: none) listens at already is taken from there. */
int setup_new(struct proxy_config *config, const struct setup *old, struct setup **out,
              struct err *e) MUST_USE;
struct setup *setup_hold(struct setup *s);
void setup_drop(struct setup *s);

/* ---- worker.c ---- */

/* A setup as one worker uses it: it stays until the last call that began under it has ended. */
struct generation {
    struct setup *setup;
    uint32_t users;            /* exchanges and links, and 1 while it is the worker's current one */
    struct upstream *upstream; /* one per door */
};

/* A listening socket of one worker, whatever setup is current. */
struct site {
    struct listener listener;
    struct worker *worker;
    uint32_t door; /* in the current setup */
    bool gone;     /* the current setup has it no more; it stays until the worker ends */
};

struct worker {
    struct loop loop;
    struct plane *plane;
    uint32_t index;
    struct generation *current;
    VEC(struct site *) sites;
    struct link *links;         /* all of them */
    struct exchange *exchanges; /* those under way */
    struct exchange *spare;     /* to be used again */
    uint32_t n_spare;
    struct timer sweep, drain;
    int64_t drain_ns; /* when what is left is cut off */
    struct buf log;     /* lines not written yet */
    struct buf scratch; /* for text in the making */
    bool stopping;
    uint64_t seed; /* of garbage */
    pthread_t thread;
    _Atomic(struct setup *) next; /* to be taken up; set by the plane */
    _Atomic int stop;             /* 1: drain, 2: at once */
    _Atomic bool ended;
};

/* 0, or -1. Takes up the setup, then runs in a thread of its own. */
int worker_start(struct worker *w, struct plane *plane, uint32_t index, struct setup *setup,
                 struct err *e) MUST_USE;

/* After it ended. */
void worker_join(struct worker *w);

struct generation *generation_hold(struct generation *g);
void generation_drop(struct generation *g);

/* A link or exchange is gone: a worker that is stopping may be done. */
void worker_check_done(struct worker *w);

/* ---- plane.c ---- */

struct plane {
    struct setup *setup; /* the current one */
    struct naming *naming;
    struct worker *worker;
    uint32_t n_workers;
    _Atomic uint32_t n_clients; /* connections of clients, over all workers */
    _Atomic int64_t warned_ns;
    void (*warn)(const char *text);
};

/* A sentence for whoever runs the proxy, at most one a second. */
void plane_warn(struct plane *p, const char *service, const char *text);

/* ---- link.c ---- */

/* A connection with a wire on it: to a client (server side), or to a service. */
struct link {
    struct worker *worker;
    struct conn *conn;
    struct wire *wire; /* NULL: not known yet which protocol */
    struct link *next, **self;
    struct site *site;         /* of a client's */
    struct upstream *upstream; /* of a service's */
    struct generation *generation;
    struct link *next_idle, **idle_self; /* in upstream->idle or upstream->shared */
    char sniffed[24];
    uint8_t n_sniffed;
    bool heading;    /* the deadline of a head is running */
    bool used;       /* upstream: it has served a call before */
    bool ready;      /* the connection stands */
    bool failed;     /* upstream: it never came to stand */
    const char *why; /* then: why; valid during the event */
};

void link_accept(struct site *site, int fd);
struct link *link_connect(struct upstream *u, bool h2);

/* There is something to write. */
static inline void link_touch(struct link *l)
{
    conn_touch(l->conn);
}

/* The same; and whether to read may have changed. */
void link_refresh(struct link *l);

static inline struct link *link_of(const struct stream *s)
{
    return s->wire->owner;
}

/* No new calls on it; closes it when none is left. */
void link_shutdown(struct link *l);
void link_kill(struct link *l);

/* ---- upstream.c ---- */

/* Connections to one service. */
struct upstream {
    struct worker *worker;
    struct generation *generation;
    uint32_t door;
    struct link *idle;   /* HTTP/1.1, not in use; the last used first */
    struct link *shared; /* HTTP/2 */
    uint32_t n_links;
};

/* A stream to the service, on a connection that is there or is being made; NULL when there are too
 * many. fresh: on a new connection. */
struct stream *upstream_open(struct upstream *u, bool h2, bool fresh);

/* A link of a service was written or read: is it idle now? */
void upstream_settle(struct link *l);
void upstream_forget(struct link *l);
void upstream_close(struct upstream *u);

/* ---- exchange.c ---- */

enum exchange_state {
    EX_COLLECT, /* the body is waited for, to name the call */
    EX_WAIT,    /* a fault lets it wait before it is forwarded */
    EX_FORWARD, /* with the service */
    EX_HELD,    /* a fault keeps the caller waiting */
    EX_DONE,
};

struct exchange {
    struct exchange *next, **self;
    struct worker *worker;
    struct generation *generation;
    uint32_t door;
    enum exchange_state state;
    struct stream *down, *up; /* to the caller, to the service; NULL: none (any more) */
    struct timer timer;
    struct arena arena; /* holds all text below */

    struct head *request;
    struct head *request_trailers;
    struct chain body; /* of the request, as far as it is kept */
    bool grpc, h2;
    bool request_ended, replayable, continued;
    uint64_t request_bytes;
    uint64_t passed;   /* bytes of the body that have left for the service, in this attempt */
    uint64_t consumed; /* as the caller's wire was told */
    uint64_t unread;   /* bytes of the answer that the service's wire was not told of yet */
    uint32_t attempts;

    const struct rule *rule;
    mode mode; /* what is being acted out; MODE_NONE: nothing (any more) */
    bool fired, retried;
    slice interface; /* "" unless calls are named */
    uint32_t payload, n;

    const struct reply_way *way; /* what happens to the service's answer */
    struct head *answer;         /* kept by a way that holds it */
    struct head *answer_trailers;
    struct chain held; /* body of the answer, kept */
    bool answer_begun, answer_ended, tunnel;
    bool told;               /* the caller has got a final head */
    uint64_t response_bytes; /* to the caller */
    uint64_t budget;         /* of ways that count bytes */
    struct grpc_framing framing;
    uint64_t dice;

    outcome seen, reply;
    int64_t start_ns, forward_ns, answer_ns, active_ns;
    const char *error; /* in the arena, or static; NULL: none */
};

extern const struct wire_events down_events, up_events;

/* Brings the call to the service, or again. */
void exchange_forward(struct exchange *x);

/* Done with the service, for now or for good. */
void exchange_leave(struct exchange *x);

/* n bytes of the answer are done with. */
void exchange_consume(struct exchange *x, size_t n);

/* The end of a call, whatever it was: one record, both streams let go, the memory used again. */
void exchange_finish(struct exchange *x, outcome seen);

/* Answers in place of the service. */
void exchange_answer(struct exchange *x, const struct head *h, slice body, outcome seen);

/* A failure of our own or of the service, in words: 502 or 504, UNAVAILABLE or DEADLINE_EXCEEDED.
 */
void exchange_fail(struct exchange *x, uint16_t status, const char *text);

/* Breaks the caller's stream off and finishes. */
void exchange_break(struct exchange *x, enum wire_finish how, uint32_t code, outcome seen);

/* What becomes of the answer, one step each. They finish the exchange at its end. */
void exchange_pass_head(struct exchange *x, const struct head *h, bool end);
void exchange_pass_data(struct exchange *x, slice bytes);
void exchange_pass_end(struct exchange *x, const struct head *trailers);

static inline const struct setup *exchange_setup(const struct exchange *x)
{
    return x->generation->setup;
}

static inline const struct limits *exchange_limits(const struct exchange *x)
{
    return &x->generation->setup->config->limits;
}

/* Every second: calls that stall or last too long. */
void exchange_sweep(struct worker *w);

/* ---- act.c ---- */

/* A rule was found for the call: acts out its mode, or lets it go on. */
void act_begin(struct exchange *x);

/* lost-reply, duplicate: the service has answered once. */
void act_after_reply(struct exchange *x);

/* ---- reply.c ---- */

/* What happens to the service's answer on its way to the caller. */
struct reply_way {
    void (*head)(struct exchange *x, const struct head *h, bool end);
    void (*data)(struct exchange *x, slice bytes);
    void (*end)(struct exchange *x, const struct head *trailers);
    void (*tick)(struct exchange *x); /* the timer fired */
    bool takes_over;                  /* data counts as consumed at once, not when passed on */
};

extern const struct reply_way way_pass, way_drop;
const struct reply_way *reply_way_for(mode m);

/* ---- record.c ---- */

struct naming *naming_new(void);
void naming_free(struct naming *naming);

/* Names the call: interface and n. */
void record_name(struct exchange *x);
uint32_t record_count(struct exchange *x);

/* One line, when there is a log. */
void record_call(struct exchange *x);

int log_open(const char *path, struct log **out, struct err *e) MUST_USE;
void log_close(struct log *log);
bool log_failed(const struct log *log);
void log_flush(struct log *log, struct buf *lines);

#endif
