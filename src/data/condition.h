/* SPDX-License-Identifier: Apache-2.0
 *
 * condition: what must hold of a value that is not simply equal to another, in words that users
 * write: "present", "at least 10", "matches ^[0-9]+$". The table in condition.c is the language. */
#ifndef OUTFOX_DATA_CONDITION_H
#define OUTFOX_DATA_CONDITION_H

#include "data/node.h"
#include "data/regex.h"

struct condition {
    uint32_t kind;  /* a row of the table */
    slice argument; /* what stands behind its words */
    double low, high;
    const struct node *other;  /* of `not`: the value that it must not have */
    const struct regex *regex; /* of `matches` */
};

/* Reads one; the text must outlive it, what it points to is in the arena. 0, or -1 with a sentence
 * that lists what can be written, and no place. */
int condition_parse(slice text, struct arena *a, struct condition *out, struct err *e) MUST_USE;

/* NULL: there is no value. Of a text, `matches` looks at the first 64 KiB. */
bool condition_holds(const struct condition *c, const struct node *value);

/* Does it ask for numbers? Then a text that is one should be given as one. */
bool condition_is_numeric(const struct condition *c);

/* What is to be said of a value of which it does not hold: "is not at least 10". */
void condition_refusal(const struct condition *c, struct buf *out);

#endif
