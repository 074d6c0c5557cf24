/* SPDX-License-Identifier: Apache-2.0
 *
 * What became of a request: the answer, or why there is none. A value; and how it is collected from
 * the events of a stream, whoever waits for it and however. */
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

struct collector {
    const struct head *head, *trailers; /* NULL: not seen (yet); in the arena */
    struct buf kept;                    /* the body, as far as there is room */
    uint64_t got;                       /* bytes of it */
};

/* A head: false for an interim one, which is no answer. */
bool collect_head(struct collector *c, const struct head *h, struct arena *a);
void collect_data(struct collector *c, slice bytes);

/* What the complete answer says: its gRPC code, of gRPC always, else its status. */
outcome collect_outcome(const struct collector *c, bool grpc);

/* The body; of gRPC, the first message. *cut: there was more. */
slice collect_body(const struct collector *c, bool grpc, bool *cut);

#endif
