/* SPDX-License-Identifier: Apache-2.0
 *
 * Who runs the proxies. Reading order of this room: plane.c (a configuration made ready, and all
 * that run it), worker.c (a thread with its listeners and connections), then exchange.c (one call:
 * what the caller sends, and faults instead of the service), answer.c (what the service sends, and
 * faults in that), tunnel.c (a connection of whatever protocol), log.c (the name of a call, and what is
 * written down).
 *
 * A worker shares nothing with other workers but what is immutable (setup) or made for it (tallies
 * of rules, counts of names, the log file). */
#ifndef OUTFOX_PROXY_WORKER_INT_H
#define OUTFOX_PROXY_WORKER_INT_H

#include <pthread.h>
#include <stdatomic.h>

#include "http/link.h"
#include "proxy/config.h"

struct plane;
struct exchange;
struct tunnel;
struct steer;
struct upstream;

/* ---- plane.c ---- */

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

/* Do both mean the same listening socket? */
bool same_listener(const struct proxy_spec *a, const struct proxy_spec *b);

struct setup *setup_hold(struct setup *s);
void setup_drop(struct setup *s);

/* ---- worker.c ---- */

/* A setup as one worker uses it: it stays until the last call that began under it has ended. */
struct generation {
    struct setup *setup;
    uint32_t users; /* exchanges and links, and 1 while it is the worker's current one */
    struct link_terms callers, services;
    struct upstream *upstream; /* one per door */
};

/* A listening socket of one worker, whatever setup is current. */
struct site {
    struct listener listener;
    struct worker *worker;
    uint32_t door; /* in the current setup */
    bool gone;     /* the current setup has it no more; it stays until the worker ends */
    bool told_foreign, told_silent; /* what clients did here, each once */
    bool spoken;                    /* calls have come: its clients know HTTP */
    struct steer *steers;           /* what is done to its connections (steer.h) */
    uint32_t down;                  /* how many of them refuse connections */
};

struct worker {
    struct loop loop;
    struct plane *plane;
    uint32_t index;
    struct generation *current;
    VEC(struct site *) sites;
    struct link *links;         /* all of them */
    struct exchange *exchanges; /* those under way */
    struct tunnel *tunnels;     /* likewise: connections of doors that pass bytes on */
    struct exchange *spare;     /* to be used again */
    uint32_t n_spare;
    struct timer sweep, drain, log_due;
    int64_t logged_ns;  /* when lines were last written */
    int64_t drain_ns;   /* when what is left is cut off */
    struct buf log;     /* lines not written yet */
    struct buf scratch; /* for text in the making */
    bool stopping;
    uint64_t seed; /* of garbage, and of jitter, with: */
    uint64_t n_tunnels;
    pthread_t thread;
    _Atomic(struct setup *) next;        /* to be taken up; set by the plane */
    _Atomic(const struct setup *) taken; /* the last that was */
    _Atomic int stop;                    /* 1: drain, 2: at once */
    _Atomic bool ended;
};

/* 0, or -1. Takes up the setup; somebody else runs its loop, or it runs in a thread of its own. */
int worker_init(struct worker *w, struct plane *plane, uint32_t index, struct setup *setup,
                struct err *e) MUST_USE;
int worker_start(struct worker *w, struct plane *plane, uint32_t index, struct setup *setup,
                 struct err *e) MUST_USE;

/* After it ended. */
void worker_join(struct worker *w);

struct generation *generation_hold(struct generation *g);
void generation_drop(struct generation *g);

/* A link or exchange is gone: a worker that is stopping may be done. */
void worker_check_done(struct worker *w);

/* What streams tell: exchange.c's and answer.c's. */
extern const struct wire_events down_events, up_events;

struct caller {
    struct link link; /* first: it frees the whole */
    struct site *site;
    struct generation *generation;
    uint32_t memo; /* the director's */
};

static inline struct caller *caller_of(struct link *l)
{
    return OWNER(l, struct caller, link);
}

/* Connections to one service, for one worker. */
struct upstream {
    struct link_pool pool;
    struct worker *worker;
    struct generation *generation;
    uint32_t door;
};

static inline struct upstream *upstream_of(const struct link *l)
{
    return OWNER(l->pool, struct upstream, pool);
}

struct plane {
    struct setup *setup; /* the current one */
    struct naming *naming;
    struct worker *worker;
    uint32_t n_workers;
    _Atomic uint32_t n_clients; /* connections of clients, over all workers */
    _Atomic int64_t warned_ns;
    void (*warn)(void *ctx, const char *text);
    void *warn_ctx;
    const struct director *director; /* NULL: the rules decide */
    bool embedded;                   /* its one worker runs in the caller's thread */
};

/* A sentence for whoever runs the proxy, at most one a second. service: NULL, or whose it is. */
void plane_warn(struct plane *p, const char *service, const char *text);

/* ---- log.c ---- */

/* How often each call was seen. naming_count: how many of this name came before it. */
struct naming *naming_new(void);
void naming_free(struct naming *naming);
uint32_t naming_count(struct naming *naming, slice service, slice interface, uint32_t payload);

/* What is written down of a call that has ended. */
struct call_record {
    slice service, interface, protocol;
    uint32_t payload, n;
    slice fault; /* its name; empty: none */
    mode mode;   /* MODE_NONE: it is none of those */
    bool fired, resent;
    outcome seen, reply;
    int64_t start_ns, forward_ns, answer_ns; /* answer_ns 0: there was none */
    uint64_t request_bytes, response_bytes;
    const char *error; /* NULL: none */
};

/* One line. There is a log. */
void record_call(struct worker *w, const struct call_record *r);

/* `-` is standard output. Accepted as NULL by close, failed and left_out: there is no log. */
int log_open(const char *path, struct log **out, struct err *e) MUST_USE;
void log_close(struct log *log);

/* Could something not be written? And how many lines are not there, because nobody read them in
 * time, or because they were too long? */
bool log_failed(const struct log *log);
uint64_t log_left_out(const struct log *log);

/* Takes all lines, and writes what can be written now; true: something waits for its reader. Of all
 * workers. */
bool log_flush(struct log *log, struct buf *lines);

/* Waits for the reader for a moment, unless *stop is or becomes 2; what is left is left out. */
void log_end(struct log *log, const _Atomic int *stop);

#endif
