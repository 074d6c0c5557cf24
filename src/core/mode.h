/* SPDX-License-Identifier: Apache-2.0
 *
 * mode: one way to fail. outcome: what the caller sees of a call. Both are small integers with one
 * text form each.
 *
 * A mode is a row of mode.list with an argument, optionally as `lost-reply:MODE`: the service gets
 * the request and does its work, and only then the caller is failed. An outcome is an HTTP status,
 * a gRPC code, or a way of not being answered.
 *
 * The FIELD of `corrupt:remove=FIELD` and the NAME of `event:NAME` do not fit into a number. They
 * are kept in a table of the process, to which parsing adds and from which nothing is ever taken,
 * and the mode holds its place there. So equal modes are equal numbers, but the number of such a mode means nothing in
 * another process: text is the form that is stored. Any thread may parse and read at any time.
 *
 * What stands in a transcript is a call's *label*. For a call that was left alone, and for a mode
 * that keeps the request from the service, the label is the outcome, so that an injected 503 and a
 * genuine one are the same edge. A mode that lets the service work has effects besides the outcome,
 * and its label is the mode itself. So is that of `rst-stream` and `goaway`: callers of HTTP/2 see
 * more of them than of a reset, for example that they may send the call again.
 *
 * mode_set: modes that have a name together. mode_list: modes as people list them; wherever one may
 * be listed, the name of a set may stand for all its modes. Modes of HTTP and of gRPC stand side by
 * side in a set: which of them fit a call is known when the call is seen (call_takes). */
#ifndef OUTFOX_CORE_MODE_H
#define OUTFOX_CORE_MODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

typedef uint32_t mode;    /* lost 1 bit | kind 5 bits | argument 24 bits; 0: no fault */
typedef uint32_t outcome; /* kind 6 bits | code 24 bits */
typedef uint32_t label;   /* an outcome, or LABEL_MODE | mode */

#define MODE_NONE  0u
#define LABEL_MODE (1u << 31)

enum mode_kind {
    MODE_KIND_NONE,
#define MODE(id, name, argument, act, outcome, at, verb, doc) MODE_##id,
#include "core/mode.list"
#undef MODE
    MODE_KINDS
};

enum mode_argument {
    ARG_NONE,
    ARG_STATUS,   /* a final HTTP status */
    ARG_CODE,     /* a gRPC code */
    ARG_DURATION, /* milliseconds */
    ARG_CUT,      /* bytes of the answer's body, or nothing (0): no answer at all */
    ARG_RATE,     /* bytes per second */
    ARG_BYTES,
    ARG_CORRUPT, /* what is done to the body, and to which field */
    ARG_ERROR,   /* an HTTP/2 error code */
    ARG_EVENT,   /* the name of an event of a plan */
    ARG_KINDS
};

enum {
    MODE_ARGUMENT_MAX = 0xffffff,
    MODE_FIELD_MAX = 200,   /* bytes of a FIELD */
    MODE_FIELDS_MAX = 4096, /* different ones in a process */
    MODE_TEXT_MAX = 256     /* no mode's text is as long */
};

/* What `corrupt` does to the body. */
enum mode_corrupt { CORRUPT_EMPTY, CORRUPT_GARBAGE, CORRUPT_REMOVE, CORRUPT_NULL, CORRUPT_KINDS };

enum outcome_kind {
    OUT_NONE,    /* not known (yet) */
    OUT_STATUS,  /* code: the status */
    OUT_GRPC,    /* code: the gRPC code */
    OUT_REFUSED, /* no connection */
    OUT_RESET,
    OUT_CLOSED,
    OUT_TIMEOUT,
    OUT_CANCELLED, /* the caller left */
    OUT_EXIT,      /* not of a call: a command ended with this code */
    OUT_KINDS
};

/* What is done to a call. From ACT_REACHED on the service gets the request. */
enum mode_act {
    ACT_ANSWER, /* answered in place of the service */
    ACT_BREAK,  /* broken off */
    ACT_GOAWAY, /* broken off with its connection */
    ACT_HOLD,   /* not answered */
    ACT_REACHED,
    ACT_DELAY = ACT_REACHED, /* held before the service gets it */
    ACT_LATE,                /* the answer is held, */
    ACT_PACE,                /* or comes slowly, */
    ACT_CUT,                 /* or breaks off, */
    ACT_CORRUPT,             /* or is changed */
    ACT_TWICE,               /* given to the service twice */
    ACT_EVENT,               /* it goes on when something else has begun */
    ACTS
};

/* Calls that a mode makes sense at. */
enum mode_at { AT_ANY, AT_HTTP, AT_GRPC, AT_HTTP2 /* gRPC is HTTP/2, too */ };

struct mode_row {
    const char *name;
    enum mode_argument argument;
    enum mode_act act;
    enum outcome_kind outcome;
    enum mode_at at;
    const char *verb, *doc;
};

extern const struct mode_row mode_rows[MODE_KINDS];

#define OUTCOME(kind, code) ((outcome)(kind) << 24 | (outcome)(code))
#define OUTCOME_OK          OUTCOME(OUT_STATUS, 200)

static inline enum outcome_kind outcome_kind(outcome o)
{
    return (enum outcome_kind)(o >> 24);
}

static inline uint32_t outcome_code(outcome o)
{
    return o & 0xffffff;
}

/* 2xx, gRPC code 0, or a command that ended with 0. */
bool outcome_ok(outcome o);

/* An answer that says: server error. */
bool outcome_error(outcome o);

void outcome_print(outcome o, struct buf *out);

/* What outcome_print prints, back to the outcome: any status or gRPC code that a service may answer
 * with, and the words for not being answered. False when the text is none. (What people write in
 * the file of a simulated system is narrower, see sim.) */
bool outcome_read(slice text, outcome *out) MUST_USE;

/* A mode of this kind, as a constant for tables; at run time, cut to what fits. */
#define MODE_OF(kind, argument) ((mode)(kind) << 24 | (mode)(argument))
mode mode_make(enum mode_kind kind, uint32_t argument);

static inline enum mode_kind mode_kind(mode m)
{
    return (enum mode_kind)(m >> 24 & 31);
}

static inline uint32_t mode_argument(mode m)
{
    return m & 0xffffff;
}

/* How much later `delay` and `delay-reply` let the answer come; 0 for the others. */
int64_t mode_delay_ns(mode m);

/* Of a mode `corrupt`: what it does, and the FIELD that it does it to, a path such as "a/b/0"
 * (empty for those without one). The text stays as long as the process. */
enum mode_corrupt mode_corrupt(mode m);
slice mode_field(mode m);

/* Of a mode `event`: its NAME; "" of others. The text stays as long as the process. */
slice mode_event(mode m);

/* What is done: `reset:100` cuts, `reset` breaks off. The MODE of lost-reply is what counts. */
enum mode_act mode_act(mode m);

/* Does the caller wait for longer than the service takes? */
bool mode_waits(mode m);

/* lost-reply? */
bool mode_lost(mode m);

/* The MODE of lost-reply:MODE; others are returned as they are. */
mode mode_without_lost(mode m);

/* Does the service get the request under this mode? (`reset:100` needs its answer, `reset` does
 * not.) */
bool mode_reached(mode m);

/* What the caller sees; OUT_NONE where that depends on what the service answers (delay, reset:100).
 */
outcome mode_outcome(mode m);
label mode_label(mode m);

void mode_print(mode m, struct buf *out);

/* The text of a mode, blanks around it allowed. 0, or -1 with a sentence in *e. */
int mode_parse(slice text, mode *out, struct err *e) MUST_USE;
void label_print(label l, struct buf *out);

/* ---- sets and lists ---- */

enum mode_set_id { SET_ERRORS, SET_STANDARD, SET_THOROUGH, SET_INTELLIFT, MODE_SETS };

struct mode_set {
    const char *name;
    const char *modes; /* as they are written, with commas */
    const char *doc;
};

extern const struct mode_set mode_sets[MODE_SETS];

enum { MODE_LIST_MAX = 64 };

struct mode_list {
    mode at[MODE_LIST_MAX];
    uint32_t n;
    uint64_t named; /* bit i: at[i] was named itself, not only by a set */
};

/* Adds a mode, or the modes of a set that are not there yet. 0, or -1 with a sentence in *e: there
 * is no such mode or set, the mode was named before, or the list is full. */
int mode_list_add(struct mode_list *list, slice word, struct err *e) MUST_USE;

/* Adds all modes of a set. There must be room for them. */
void mode_list_add_set(struct mode_list *list, enum mode_set_id set);

/* Takes out what a set has brought and no call with these flags (enum call_flag) can use. */
void mode_list_fit(struct mode_list *list, uint8_t flags);

#endif
