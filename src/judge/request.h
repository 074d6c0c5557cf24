/* SPDX-License-Identifier: Apache-2.0
 *
 * The client's requests, and what it gets of them. A scenario is one request, or a command, whose
 * own calls are the requests. */
#ifndef OUTFOX_JUDGE_REQUEST_H
#define OUTFOX_JUDGE_REQUEST_H

#include "judge/mask.h"

struct view;

/* What the client gets of one request. */
struct usual_answer {
    uid request;
    outcome status;
    uint32_t runs;    /* that it was made in */
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

struct usual_answers {
    struct usual_answer *at;
    uint32_t n, cap;
};

struct requests {
    struct request *at;
    uint32_t n, cap;
};

/* The request on whose behalf a call is made; NULL: nobody's. */
const struct request *view_request(const struct view *v, uint32_t i);

/* What the client got in all: of its request, or of the first of several that failed; if none did,
 * how the scenario ended. */
outcome view_status(const struct view *v);

/* What the client got, compared with what it gets without faults. */
enum alike request_alike(const struct request *r);

/* Replaces what *out holds. What a command says of what it got is no answer: its own calls have
 * them. */
void requests_of(const struct run *run, struct requests *out);

/* One more fault-free run. An answer with another status is another answer, and teaches nothing
 * about this one. */
void answers_learn(struct usual_answers *list, const struct judge_settings *set,
                   const struct run *run);
void answers_deinit(struct usual_answers *list);

/* NULL: it is not made without faults. */
const struct usual_answer *answers_find(const struct usual_answers *list, uid request);

#endif
