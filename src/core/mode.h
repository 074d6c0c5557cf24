/* SPDX-License-Identifier: Apache-2.0
 *
 * mode: one way to fail. outcome: what the caller sees of a call. Both are small integers with one
 * text form each.
 *
 * A mode is a row of mode.list with an argument, optionally as `lost-reply:MODE`: the service gets
 * the request and does its work, and only then the caller is failed. An outcome is an HTTP status,
 * a gRPC code, or a way of not being answered.
 *
 * What stands in a transcript is a call's *label*. For a call that was left alone, and for a mode
 * that keeps the request from the service, the label is the outcome, so that an injected 503 and a
 * genuine one are the same edge. A mode that lets the service work has effects besides the outcome,
 * and its label is the mode itself. */
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
#define MODE(id, name, argument, reached, doc) MODE_##id,
#include "core/mode.list"
#undef MODE
    MODE_KINDS
};

enum mode_argument { ARG_NONE, ARG_STATUS, ARG_CODE, ARG_DURATION };

struct mode_row {
    const char *name;
    enum mode_argument argument;
    bool reached;
    const char *doc;
};

extern const struct mode_row mode_rows[MODE_KINDS];

enum outcome_kind {
    OUT_NONE,    /* not known (yet) */
    OUT_STATUS,  /* code: the status */
    OUT_GRPC,    /* code: the gRPC code */
    OUT_REFUSED, /* no connection */
    OUT_RESET,
    OUT_CLOSED,
    OUT_TIMEOUT,
    OUT_KINDS
};

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

/* 2xx, or gRPC code 0. */
bool outcome_ok(outcome o);

/* An answer that says: server error. */
bool outcome_error(outcome o);

void outcome_print(outcome o, struct buf *out);

/* The four that every search starts with unless told otherwise: 500, 502, 503, 504. */
extern const mode mode_defaults[4];

mode mode_make(enum mode_kind kind, uint32_t argument);

static inline enum mode_kind mode_kind(mode m)
{
    return (enum mode_kind)(m >> 24 & 31);
}

static inline uint32_t mode_argument(mode m)
{
    return m & 0xffffff;
}

/* How much later a delay lets the answer come. */
int64_t mode_delay_ns(mode m);

/* lost-reply? */
bool mode_lost(mode m);

/* Does the service get the request under this mode? */
bool mode_reached(mode m);

/* What the caller sees; OUT_NONE where that depends on the service (delay). */
outcome mode_outcome(mode m);
label mode_label(mode m);

void mode_print(mode m, struct buf *out);
int mode_parse(slice text, mode *out, struct err *e) MUST_USE;
void label_print(label l, struct buf *out);

#endif
