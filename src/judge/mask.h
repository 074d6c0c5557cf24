/* SPDX-License-Identifier: Apache-2.0
 *
 * mask: what of an answer is compared. It is learned from the answers to one request in the runs
 * without faults: what differs between them, or looks like a moment, says nothing about a fault.
 *
 * A place is a JSON pointer in which a star stands for any index of a list. Of text, also of one in
 * JSON, single words may differ. Applying a mask gives the answer as it would be if
 * its volatile values were those of the first fault-free run, so that whoever compares, compares
 * plainly.
 *
 * 1. A mask hides values, not that they are there: what is never null, empty or missing without
 *    faults is not hidden when it is so with one.
 * 2. It only grows, and depends on the answers it was shown and on nothing else. */
#ifndef OUTFOX_JUDGE_MASK_H
#define OUTFOX_JUDGE_MASK_H

#include "base/index.h"
#include "data/node.h"
#include "judge/judge.h"

struct mask {
    const struct judge_settings *set; /* NULL: nothing is said there */
    struct arena arena;
    slice body;              /* of the first fault-free run */
    const struct node *json; /* the same; NULL: it is no JSON */
    uint32_t runs;           /* that it was learned from */
    struct map marks;        /* of places, and of words in them */
    VEC(slice) names;        /* what is not compared, for people */
};

void mask_deinit(struct mask *m);

/* The answer of one more fault-free run, which was made at now_ns (0: not known). */
void mask_learn(struct mask *m, slice body, int64_t now_ns);

enum alike {
    ALIKE_SAME,
    ALIKE_OTHER,
    ALIKE_UNKNOWN, /* without faults nothing of it stays the same */
};

enum alike mask_compare(const struct mask *m, slice body);

/* Does one of these pointers mean a place? Their steps may be stars, or numbers for any index. */
bool pointers_mean(const struct texts *list, slice place);

/* Null, empty or, as NULL, missing. */
bool node_is_blank(const struct node *node);

/* The answer with what is volatile as it is in m->json; `now` stands at `pointer`. What lives as
 * long as the mask and what lives in the arena may be shared. */
const struct node *mask_apply(const struct mask *m, struct arena *a, slice pointer,
                              const struct node *now);

/* Is the value at this pointer volatile as a whole? */
bool mask_hides(const struct mask *m, slice pointer);

/* The same of text. */
slice mask_apply_text(const struct mask *m, struct arena *a, slice now);

/* ---- the client's requests: the scenario's own, or those that a command makes ---- */

/* What the client gets of one request without faults. */
struct usual_answer {
    uid request;
    outcome status;
    uint32_t runs;    /* that it was made in */
    struct mask mask; /* the body */
};

struct usual_answers {
    struct usual_answer *at;
    uint32_t n, cap;
};

struct request {
    uint32_t call;
    outcome status; /* what the client got */
    bool told;      /* the body is known */
    slice body;
    const struct usual_answer *usual; /* NULL: it does not ask for it without faults */
};

struct requests {
    struct request *at;
    uint32_t n, cap;
};

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
