/* SPDX-License-Identifier: Apache-2.0
 *
 * Cases for src/wire: text files that say which bytes a peer sends, what the owner of the streams
 * does, and what is to come of it. tests/wire/README.md describes their form. */
#ifndef OUTFOX_TESTS_WIRE_CASE_H
#define OUTFOX_TESTS_WIRE_CASE_H

#include "base/err.h"
#include "base/vec.h"
#include "wire/wire.h"

enum wire_step_kind { STEP_FEED, STEP_ACT, STEP_EOF, STEP_BROKEN, STEP_SHUTDOWN, STEP_PART };

struct wire_step {
    enum wire_step_kind kind;
    slice text; /* the bytes to feed, or the actions of the owner */
};

struct wire_case {
    const char *name; /* "FILE:LINE NAME" */
    /* given */
    bool server, h2;
    bool bare;      /* HTTP/2: the peer's preface and SETTINGS are part of the case */
    bool hands_off; /* the owner neither consumes nor releases by itself */
    bool all;       /* HTTP/2: SETTINGS and WINDOW_UPDATE count too */
    struct wire_limits limits;
    slice on_head, on_end; /* what the owner does at these events */
    VEC(struct wire_step) steps;
    /* expected */
    slice events, out; /* lines; HTTP/1.1: out is bytes */
    slice refused;     /* "400 Bad Request": `out` ends with this refusal */
    slice passed;      /* p == NULL: not said */
    enum wire_finish finish;
    slice error;   /* empty: none; `*`: any */
    uint32_t open; /* streams left */
    slice reading; /* "yes", "no"; empty: not said */
};

struct wire_cases {
    struct arena arena;
    VEC(struct wire_case) list;
};

/* What a case has when it says nothing. */
void wire_case_init(struct wire_case *c);
void wire_case_deinit(struct wire_case *c);

/* Reads the cases of a file. 0, or -1 with *e. */
int wire_cases_load(struct wire_cases *cases, const char *path, struct err *e) MUST_USE;
void wire_cases_deinit(struct wire_cases *cases);

#endif
