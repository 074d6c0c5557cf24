/* SPDX-License-Identifier: Apache-2.0
 *
 * What a scenario came to: the answer to its request, or the end of its command. Values, made in
 * live and held against expectations here. */
#ifndef OUTFOX_FINDINGS_ANSWER_H
#define OUTFOX_FINDINGS_ANSWER_H

#include "core/mode.h"
#include "wire/message.h"

struct client_answer {
    outcome seen;            /* status, gRPC code, or refused, reset, closed, timeout */
    const struct head *head; /* of the answer; NULL: none */
    const struct head *trailers;
    slice body;
    bool cut;                 /* there was more of the body */
    const char *coded;        /* the body could not be decompressed: why; NULL: it is plain */
    const char *error;        /* for people; NULL: there was an answer */
    int64_t start_ns, end_ns; /* clock_ns; start: just before it is sent */
};

struct command_result {
    bool started;   /* else `error` says why not, or how it was lost */
    bool timed_out; /* it was killed at its deadline */
    int exit_code;  /* -1: ended by a signal */
    int signal;
    slice output; /* stdout and stderr as they came; the end of it */
    const char *error;
    int64_t start_ns, end_ns;
};

#endif
