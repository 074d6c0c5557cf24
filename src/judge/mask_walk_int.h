/* SPDX-License-Identifier: Apache-2.0
 *
 * Walks over answers: what learning and applying a mask share. */
#ifndef OUTFOX_JUDGE_MASK_WALK_INT_H
#define OUTFOX_JUDGE_MASK_WALK_INT_H

#include "judge/mask.h"

enum mark {
    MARK_VARIES = 1,    /* the value differs between fault-free runs, or looks like a moment */
    MARK_BLANK = 2,     /* it is null, empty or missing in some of them */
    MARK_UNORDERED = 4, /* a list whose elements come in any order */
    MARK_LOOKS = 8,     /* like a generated id: believed while there is one run to learn from */
};

enum {
    MASK_PATH_MAX = 1000, /* bytes; deeper places count as one */
    MASK_LIST_MAX = 200,  /* elements whose order is looked at */
};

/* Where a walk is. */
struct walk {
    struct mask *m;
    struct arena *a; /* for what is made */
    struct buf path; /* without indexes */
    int64_t now_ns;
};

struct walk walk_new(const struct mask *m, struct arena *a);

/* Goes one step down; walk_leave, with what it gave, goes back. */
size_t walk_enter(struct walk *w, slice key);
void walk_leave(struct walk *w, size_t n);

/* What stands for this place, and for a word in it. */
uint64_t walk_place(const struct walk *w);
uint64_t walk_word(const struct walk *w, uint32_t i);

/* What is known of this place. What the user lists as volatile is not compared at all. */
uint32_t walk_marks(const struct walk *w);

/* `now` as it would be without its volatile values. was NULL: it is not there without faults. now
 * NULL: it is not there now; NULL: nor need it be. */
const struct node *walk_apply(struct walk *w, const struct node *was, const struct node *now);

/* Elements of a list that are there without faults come to the place that they have there. */
void walk_reorder(struct walk *w, const struct node *was, struct node *out);

/* The next word of a text, or one byte between words. False: it has ended. */
bool text_next(slice *rest, slice *out);
bool text_in_word(char c);

#endif
