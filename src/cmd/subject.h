/* SPDX-License-Identifier: Apache-2.0
 *
 * subject: what the verbs replay and explain are asked about. A finding by its number, all
 * findings, or a faultload as text, on the command line or in a file. */
#ifndef OUTFOX_CMD_SUBJECT_H
#define OUTFOX_CMD_SUBJECT_H

#include "cmd/session.h"

/* One faultload. */
struct subject {
    uint32_t campaign;  /* which of the session's */
    const char *id;     /* of the finding, as reports have it; NULL: it is none */
    const char *why;    /* the finding's sentence */
    enum oracle oracle; /* whose finding it is; ORACLES: no oracle's */
    faultload faultload;
    VEC(const char *) patterns; /* what somebody wrote */
};

struct subjects {
    VEC(struct subject) list;
    bool all; /* findings were asked for */
};

/* WHAT: `3`, `SCENARIO/3`, `all`, `CALL : MODE & ...`, `none` or `@FILE`. no_store: why there is no
 * store, when there is none. 0, or -1 with *e; what was read is left to subjects_deinit. */
int subjects_read(struct session *s, const char *what, const char *no_store, struct subjects *out,
                  struct err *e) MUST_USE;
void subjects_deinit(struct subjects *subjects);

/* The text of a faultload that is no number: as it was given, or from its file. */
int subject_text(struct session *s, const char *what, slice *out, struct err *e) MUST_USE;

#endif
