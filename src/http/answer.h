/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of a request: the answer, or why there is none. A value. */
#ifndef OUTFOX_HTTP_ANSWER_H
#define OUTFOX_HTTP_ANSWER_H

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

#endif
