/* SPDX-License-Identifier: Apache-2.0
 *
 * The body that a client received, compared with that of the fault-free run: does it speak of an
 * error that the other does not know? */
#ifndef OUTFOX_JUDGE_BODY_INT_H
#define OUTFOX_JUDGE_BODY_INT_H

#include "judge/mask.h"

enum { BODY_QUOTE_MAX = 120 };

/* What was found: as it stands in the body, printable and cut. */
struct body_error {
    char quote[BODY_QUOTE_MAX];
};

/* Keys with a word of errors (error, exception, failed ...) under which something stands that was
 * not there before, and, with `values`, texts with such a word in new or changed places. What is no
 * JSON is compared by its words, with `values` only. Of bodies of any size and content; what is
 * volatile does not count. */
bool body_find_error(const struct mask *was, slice now, bool values, struct body_error *out);

/* What was found in bodies, so that each is read once. */
enum { BODIES_REMEMBERED = 256 };
struct body_memory {
    uint64_t hash; /* 0: none yet */
    bool speaks;
};

#endif
