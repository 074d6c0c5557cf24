/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of judging: what is known.
 *
 *   view       one run, indexed: what oracles about a single run read
 *   calm       the run without faults, which views are compared with
 *   reaction   how the system reacts to one failing call, all else being fine: what is remembered
 *              over runs, and what oracles about the whole campaign read
 *
 * The judge itself, and what oracles say and share, is in oracle_int.h. */
#ifndef OUTFOX_JUDGE_JUDGE_INT_H
#define OUTFOX_JUDGE_JUDGE_INT_H

#include "base/index.h"
#include "judge/judge.h"
#include "judge/mask.h"

/* ---- one run ---- */

struct view {
    struct judge *judge;
    const struct names *names;
    const struct run *run;
    const struct call *calls; /* calls[0] is the scenario's own request */
    uint32_t n;
    VEC(struct call) filled;  /* the calls, where something is known of them from other runs */
    struct trace_order order; /* the calls of each handler, in causal order */
    VEC(uint32_t) first;      /* the first of the equal calls of its handler, */
    struct map first_of;      /* by their kind, see view.c */
    VEC(uint32_t) twin;       /* the same call of the first fault-free run; CALL_NONE: not there */
    VEC(uint32_t) faults;     /* how many faults fired at a call and below it */
    uint32_t n_faults;        /* in all */
    struct requests requests;
};

/* The calls that calls[i]'s handler made: view_child(v, i, k) for k < view_children(v, i). */
static inline uint32_t view_children(const struct view *v, uint32_t i)
{
    return v->order.first.at[i + 1] - v->order.first.at[i];
}
static inline uint32_t view_child(const struct view *v, uint32_t i, uint32_t k)
{
    return v->order.child.at[v->order.first.at[i] + k];
}

static inline sym view_service(const struct view *v, uint32_t i)
{
    return uid_element(v->names, v->calls[i].uid)->service;
}
static inline slice view_interface(const struct view *v, uint32_t i)
{
    return names_text(v->names, uid_element(v->names, v->calls[i].uid)->interface);
}

/* Its caller did not get a success. */
static inline bool call_failed(const struct call *c)
{
    return !outcome_ok(c->seen);
}

/* The service did its work: it was reached, and answered with success. */
static inline bool call_done(const struct call *c)
{
    return c->handled && outcome_ok(c->reply);
}

/* A service made it, and it is known which: not the scenario's client, and not by a guess. */
static inline bool call_sure(const struct call *c)
{
    return !(c->flags & (CALL_EXEMPT | CALL_AMBIGUOUS));
}
static inline int64_t call_took(const struct call *c)
{
    return c->end_ns - c->start_ns;
}

/* What a caller sees of a call with this label; OUT_NONE where that depends on the service. */
static inline outcome label_outcome(label l)
{
    return l & LABEL_MODE ? mode_outcome(l & ~LABEL_MODE) : l;
}

/* Was an event of a plan met? Then any service may be harmed, whatever the call was. */
bool view_harmed(const struct view *v);

/* Is calls[above] an ancestor of calls[i], or the same? */
bool view_below(const struct view *v, uint32_t above, uint32_t i);

/* Calls that are equal but for their number: the same service, interface, payload and caller. */
static inline bool view_equal(const struct view *v, uint32_t a, uint32_t b)
{
    return v->first.at[a] == v->first.at[b];
}

/* Does its handler make calls[i] without faults, too, whatever its number? */
bool view_usual(const struct view *v, uint32_t i);

/* Has calls[i] no effect? */
bool view_reads(const struct view *v, uint32_t i);

/* Does calls[i], which is made only now, take the effect of an earlier call back, or try to? */
bool view_undoes(const struct view *v, uint32_t effect, uint32_t i);

/* Does a call after calls[effect] and before calls[until] take its effect back, or try to? */
bool view_undone(const struct view *v, uint32_t effect, uint32_t until);

/* Did calls[i] fail, and was it tried again with success, so that its caller has what it wanted? */
bool view_made_good(const struct view *v, uint32_t i);

/* The last of the handler's first n calls that failed and was not made good; its place among them,
 * or CALL_NONE. What ended after the handler had answered is no reason for its answer. */
uint32_t view_failure(const struct view *v, uint32_t handler, uint32_t n);

/* The request of the client on whose behalf a call is made; NULL: nobody's. */
const struct request *view_request(const struct view *v, uint32_t i);

/* What the client got in all: of its request, or of the first of several that failed; if none did,
 * how the scenario ended. */
outcome view_status(const struct view *v);

/* What the client got, compared with what it gets without faults. */
enum alike request_alike(const struct request *r);

/* Replaces what *v holds. */
void view_make(struct judge *j, const struct run *run, struct view *v);
void view_deinit(struct view *v);

/* ---- the run without faults ---- */

struct calm {
    bool known;
    struct trace trace;
    struct trace_order order;
    struct map at, made;        /* uid -> index; kind of a call, see view.c -> how many */
    VEC(int64_t) took;          /* the longest of the fault-free runs, by index */
    outcome status;             /* of the run */
    struct usual_answers usual; /* of each request */
};

/* The index of a call in the fault-free trace; CALL_NONE: it is not there. */
uint32_t calm_find(const struct calm *c, uid call);

/* The calls that the handler at this index makes: calm_child(c, i, k) for k < calm_children(c, i). */
static inline uint32_t calm_children(const struct calm *c, uint32_t i)
{
    return c->order.first.at[i + 1] - c->order.first.at[i];
}
static inline const struct call *calm_child(const struct calm *c, uint32_t i, uint32_t k)
{
    return &c->trace.calls.at[c->order.child.at[c->order.first.at[i] + k]];
}

/* How many calls equal to this one its handler makes without faults; of those of which it is known,
 * only the ones that ask for the same (request 0: whatever they ask for). */
uint32_t calm_equal(const struct judge *j, uid call, uint32_t request);

/* One more fault-free run. */
void calm_learn(struct judge *j, const struct run *run);
void calm_deinit(struct calm *c);

/* ---- over all runs ---- */

/* How the system reacts when one call fails, alone: all faults of the run are at it or below it.
 * A call that is tried again is one with its tries. */
struct reaction {
    uid group;       /* its uid with n = N_ANY */
    uid call;        /* the first try */
    label label;     /* how that failed */
    outcome saw;     /* what its caller saw of that */
    uint32_t tries;  /* how often it was made */
    bool persistent; /* every try failed, and those with faults in the same way */
    bool injected;   /* a fault fired at it; else it failed because of one below */
    bool ok, pass;   /* the client got a success; the scenario's expectation held */
    outcome status;  /* what the client got */
    uid request;     /* which it had asked for */
    uint32_t body;   /* what it received, in the pool; INTERN_NONE: not known ... */
    bool same_body;  /* ... or what it receives without faults */
    outcome reply;   /* what the handler that made it answered */
    outcome seen;    /* what the caller of that handler saw of it */
    uid instead;     /* the first other call that this handler makes only then; UID_NONE: none */
    faultload faultload;
    uint64_t number; /* of the run */
};

/* NULL: no such reaction was seen. */
const struct reaction *reaction_find(const struct judge *j, uid group, label label, bool persistent,
                                     bool injected);

/* The handler that makes this call was seen to answer with success when it fails, with all its
 * tries, and to do nothing instead: it can do without. (That the client does not notice is not
 * enough: it may be tried again above.) */
bool reaction_soft(const struct judge *j, uid call);

/* What the client received, compared as far as is known by now what is volatile. */
enum alike reaction_alike(const struct judge *j, const struct reaction *r);

/* Remembers how the system reacted in this run, where one call failed alone. */
void reaction_learn(const struct view *v);

#endif
