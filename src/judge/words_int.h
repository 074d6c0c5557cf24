/* SPDX-License-Identifier: Apache-2.0
 *
 * Words: what is read out of paths, names of methods and bodies, what answers say, and how the fate
 * of a call is put into words. A word is a run of letters; `userError` and `user_error` have two.
 */
#ifndef OUTFOX_JUDGE_WORDS_INT_H
#define OUTFOX_JUDGE_WORDS_INT_H

#include "judge/judge_int.h"

enum { WORD_MAX = 32 };

/* Something to look for: a word in small letters, and the one that must stand before it (NULL:
 * whatever). A list of them ends with a row of NULL. */
struct word {
    const char *word, *before;
};

/* The next word of *rest, in small letters and cut to WORD_MAX - 1 bytes; false: there is none. */
bool word_next(slice *rest, char out[WORD_MAX]);

/* The first row that the text has; NULL: none. */
const struct word *words_find(const struct word *list, slice text);

/* Does an interface look like that of a health check? */
bool words_check(slice interface);

/* Does it sound as if it took something back, or put an end to it? DELETE, cancel, refund ... */
bool words_undo(slice interface);

/* Answers by which a service says that it could not do its work. */
bool answer_is_error(outcome o);

/* Answers that say that the request is wrong. Not: too late, too many, too early, and the failed
 * dependency, which is the truth; of gRPC not: resource exhausted, aborted. */
bool answer_blames(outcome o);

/* How a call ended for its caller: "answered 503", "did not answer in time" ... */
const char *words_fate(struct judge *j, outcome seen);

#endif
