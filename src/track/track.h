/* SPDX-License-Identifier: Apache-2.0
 *
 * The face of this room: the calls of the runs that are under way. A call arrives; the tracker
 * finds out to which run it belongs and on behalf of which other call it is made, names it, looks
 * it up in the run's aim, and keeps one record of it.
 *
 * How the call above is known (docs/identification.md):
 *
 *   state   the request carries our key in tracestate or baggage: run and call
 *   trace   the request carries a trace id: the run. The call is the open one of the calling
 *           service
 *   none    there is one run at a time. The call is the open one of the calling service
 *
 * The calling service is known by the address that it dialled, else by the process that has the
 * other end of the connection. Where several of its calls are open, the newest is taken, and the
 * record says that this was a guess (CALL_AMBIGUOUS).
 *
 * 1. Every call of a run has exactly one record in its trace, from its arrival on; records are in
 *    the order of arrival.
 * 2. The name of a call depends on its parent, its service, its interface, what tells its request
 *    apart where that is part of names, and its equal siblings before it; on nothing else.
 * 3. What belongs to no run is not touched.
 * 4. What the client of a command calls itself is never failed, nor is anything in a block.
 * 5. What a browser gets by itself (track/browser.h) and nobody else is called for is in no trace
 *    of a run that has ended. */
#ifndef OUTFOX_TRACK_TRACK_H
#define OUTFOX_TRACK_TRACK_H

#include "core/aim.h"
#include "core/trace.h"
#include "track/context.h"
#include "track/payload.h"

enum track_level { TRACK_STATE, TRACK_TRACE, TRACK_NONE, TRACK_LEVELS };

extern const char *const track_level_names[TRACK_LEVELS];
/* Who calls: a service, the client of the run in this slot, or whoever it may be. */
#define CALLER_CLIENT  0x80000000u
#define CALLER_UNKNOWN UINT32_MAX

enum track_payload { TRACK_PAYLOAD_AUTO, TRACK_PAYLOAD_ON, TRACK_PAYLOAD_OFF };

struct track_options {
    struct names *names;
    const slice *services; /* their names; indexes are what the functions here call a service */
    uint32_t n_services;
    enum track_level best; /* nothing better is looked for: TRACK_STATE: everything */
    enum track_payload payload;
    bool predecessors;
    const slice *custom; /* further headers with a trace id */
    uint32_t n_custom;
    const struct rewrite *rules; /* by which calls are named */
    const slice *ignore;         /* patterns of calls that are let through unseen */
    uint32_t n_ignore;
    uint64_t seed; /* of trace ids */
};

struct tracker;
struct tracker *tracker_new(const struct track_options *options);
void tracker_free(struct tracker *t);
bool track_ignores(const struct tracker *t, uint32_t i); /* did that pattern match a call? */

/* ---- runs ---- */

struct lessons;

/* What is known of a call besides its record. */
struct track_call {
    uint32_t service; /* that was called; CALLER_CLIENT: a command */
    sym interface;
    uint32_t payload;           /* its hash, where it is part of the name */
    uint32_t first, last, next; /* calls made on behalf of it; the next of its parent; CALL_NONE */
    bool open;
    bool file;             /* of a page, unless something is called on behalf of it */
    struct payload fields; /* of a learning run */
};

/* A trace with what is needed to name its calls. */
struct track_calls {
    struct trace trace; /* times count from the run's beginning */
    VEC(struct track_call) calls;
};

/* A run that is under way. Others read it, and set `cutting` alone. */
struct track_run {
    struct trace_id id;
    uint64_t key;    /* id.low: identifies it while it is under way */
    uint64_t secret; /* what its test must know to ask about it. It is in no request to a service */
    uint32_t slot;
    struct aim *aim;
    struct lessons *lessons; /* held */
    bool learning;
    struct track_calls all; /* so far */
    uint32_t n_open;        /* calls, the scenario's own not counted */
    uint32_t blocks;        /* that are open: nothing is injected */
    bool answered;
    /* The calls that are open are about to be broken off: their ends are no answers, and count as
     * open (CALL_OPEN). Calls that come from now on are let through, and are none of the run's. */
    bool cutting;
    int64_t start_ns, answered_ns;
    int64_t active_ns; /* when the last of its calls began or ended */
    int64_t late_ns; /* after the answer: the longest time without a call, until one began; or 0 */
};

/* Begins a run: `aim` decides about its calls, and what they show is counted among the lessons,
 * which also say what is known of such calls. slot: of its client, below 64. The first record is
 * the scenario's own request to `service`, or, with CALLER_CLIENT, a command that makes requests of
 * its own. learning: payloads are kept, to decide about names. */
struct track_run *track_begin(struct tracker *t, uint32_t slot, uint32_t service, slice interface,
                              uint8_t flags, struct aim *aim, struct lessons *lessons,
                              bool learning, int64_t now_ns);

/* The run that is under way with this secret; NULL: none. */
struct track_run *track_find_secret(const struct tracker *t, uint64_t secret);

/* The scenario's own request has ended. */
void track_answered(struct track_run *r, outcome seen, int64_t now_ns);

/* Blocks in which nothing is injected; they nest. A call that arrives while one is open is exempt
 * and hushed, and so is whatever is called on behalf of it, also later. Names do not depend on it.
 */
enum { TRACK_BLOCKS_MAX = 1000 };

bool track_hush(struct track_run *r);   /* begins one; false: too many */
bool track_unhush(struct track_run *r); /* ends one; false: none is open */

/* Ends the run and frees it: its trace goes to *out. What is still open is marked (CALL_OPEN). */
void track_end(struct tracker *t, struct track_run *r, struct trace *out, int64_t now_ns);

/* ---- calls ---- */

/* A call, as it arrives, whatever carries it: an HTTP head or anything else that can say for whom
 * it is made. */
struct track_arrival {
    uint32_t service; /* that is called */
    uint32_t caller;  /* by the address it dialled */
    slice interface;
    uint8_t flags;                   /* CALL_HTTP ...: what it is */
    struct context context;          /* what it says of its run; all zero: nothing */
    slice target, content_type, key; /* what is asked, and its idempotency key */
    slice body;                      /* as far as track_wants_body asked for it */
    bool whole;                      /* that is all of it; of gRPC, the first message */
    bool by_browser; /* its client has not asked for it: a file of a page, or a question before */
    int64_t start_ns;
    bool crowded; /* others are under way, or about to begin: what says nothing is of no run */
    bool idle;    /* nothing is under way that calls services, a run or a command */
    /* Could the other end of the connection be this service's? Asked where the address says
     * nothing. */
    bool (*owns)(void *ctx, uint32_t service);
    void *ctx;
};

bool track_wants_body(const struct tracker *t, uint32_t service, slice interface);

/* Is this call of no interest, as far as is known: a file that somebody's browser gets? */
bool track_is_file(const struct track_call *c);

/* Its run, with what becomes of it; NULL: it belongs to none, and *fate is all zero. */
struct track_run *track_arrive(struct tracker *t, const struct track_arrival *a,
                               struct call_fate *fate);

/* Fills in what the head of a request says: its context, and what is asked. */
void track_read_head(struct tracker *t, const struct head *h, struct track_arrival *a);

/* Replaces the fields of a request by those with which it goes on as this call of its run, so that
 * calls on behalf of it are known. said: what it said itself; NULL: it is the scenario's own. */
void track_write_head(const struct tracker *t, const struct track_run *r, uint32_t call,
                      const struct context *said, struct head *h, struct arena *a);

/* Its body is known only now: what was asked is kept, if it was not known before. To be called
 * before track_ended. */
void track_asked(struct tracker *t, uint64_t run, uint32_t call, slice target, slice body);

/* When the client went on after a request that ends at end_ns: with its next one, if that came when
 * the head of the answer was there (told_ns; 0: it never was). A page goes on with the head, and its
 * browser gets the rest meanwhile: such requests follow each other, and do not overlap. */
int64_t track_went_on(const struct tracker *t, uint64_t run, uint32_t call, int64_t told_ns,
                      int64_t end_ns);

/* It ended. Nothing happens when its run has ended before. */
void track_ended(struct tracker *t, uint64_t run, uint32_t call, outcome seen, outcome reply,
                 bool handled, bool fired, int64_t now_ns);

/* ---- what was learned ---- */

/* How the calls that a service makes were identified. */
struct track_facts {
    uint64_t made;             /* calls that it made */
    uint64_t by[TRACK_LEVELS]; /* by level */
    uint64_t ambiguous;
    uint32_t dialects; /* bits: what its calls carried of ours */
    uint64_t received; /* calls to it */
    uint64_t ignored;  /* calls to it that were let through, during runs */
};

/* Calls that came for a run that had ended. A service that does not say for which run it calls is
 * known to be late when no run is under way: of the last one, at the earliest. */
struct track_strays {
    uint64_t n;
    int64_t late_ns; /* the latest: so long after the answer of its run, at least, */
    slice call;      /* which call that was: "b GET /x", */
    uint32_t caller; /* and by which service; CALLER_UNKNOWN */
};

/* What is learned and counted of the calls of one scenario: a value of whoever explores it, given to
 * each of its runs. Scenarios learn apart, also when their runs take turns. The tracker holds those
 * of runs that have ended, too: calls may come late. */
struct lessons {
    uint32_t holders;
    uint32_t n_services;
    struct track_facts *facts; /* by service */
    struct track_strays strays;
    uint64_t lost;    /* calls that said nothing while several runs were under way: whose? */
    uint32_t lost_by; /* the service that made the first of them */
    int64_t quiet_ns; /* so long after the answer calls may still begin: runs wait for them */
    bool decided;     /* which payloads are part of names, */
    struct payload_rules *payloads;
    uint32_t dialects; /* and what to write into the scenario's own request */
    struct arena arena;
};

struct lessons *lessons_new(uint32_t n_services);
void lessons_drop(struct lessons *l); /* accepts NULL */

/* The learning runs are over: decides which payloads are part of names, and names the calls of
 * these traces anew. `runs` were ended with track_end_learning, in their order. */
struct track_lesson; /* what a learning run leaves behind */
struct track_lesson *track_end_learning(struct tracker *t, struct track_run *r, int64_t now_ns);
void track_decide(const struct tracker *t, struct lessons *out, struct track_lesson *const *runs,
                  uint32_t n);
const struct trace *track_lesson_trace(const struct track_lesson *l);
void track_lesson_free(struct track_lesson *l);

/* What was learned, as text, and back (a resumed campaign). */
void lessons_print(const struct lessons *l, struct buf *out);
int lessons_parse(struct lessons *l, slice text) MUST_USE;

#endif
