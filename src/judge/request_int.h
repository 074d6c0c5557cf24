/* SPDX-License-Identifier: Apache-2.0
 *
 * The client's requests, and what it gets of them. A scenario is one request, or a command, whose
 * own calls are the requests. */
#ifndef OUTFOX_JUDGE_REQUEST_INT_H
#define OUTFOX_JUDGE_REQUEST_INT_H

#include "judge/mask_int.h"

struct view;
struct base;

/* What the client gets of one request. */
struct usual_answer {
    uid request;
    outcome status;
    struct mask mask; /* the body */
};

/* A request of the client: the scenario's own, or one that a command makes. */
struct request {
    uint32_t call;
    outcome status; /* what the client got */
    bool told;      /* the body is known */
    slice body;
    const struct usual_answer
        *usual; /* what it gets without faults; NULL: it does not ask for it then */
};

struct requests {
    struct request *at;
    uint32_t n, cap;
};

/* The request on whose behalf a call is made; NULL: nobody's. */
const struct request *view_request(const struct view *v, uint32_t i);

/* What the client got, compared with what it gets without faults. */
enum alike request_alike(const struct request *r);

/* NULL: it is not made without faults. */
const struct usual_answer *base_usual(const struct base *b, uid request);

/* An answer in which something is lost, for the end: by then more is known of what is usual. */
struct lost {
    uid path, request; /* of the call to blame (judge_path), and of the client */
    uint32_t body;     /* in the pool */
};

#endif
