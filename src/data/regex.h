/* SPDX-License-Identifier: Apache-2.0
 *
 * Regular expressions that users write and that are held against what services answer. POSIX
 * extended ones, as of grep -E, with \d, \w, \s and their opposites; over bytes, without
 * back-references.
 *
 * The matcher of the C library takes minutes and gigabytes for some short expressions on some
 * texts. This one follows all ways at once (Thompson), so that its time is at most the length of
 * the text times the size of the expression, which is bounded, and its memory is that size. */
#ifndef OUTFOX_DATA_REGEX_H
#define OUTFOX_DATA_REGEX_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum { REGEX_BYTES_MAX = 500 };

struct regex;

/* 0 and *out, which lives in the arena; or -1 with a sentence and no place. */
int regex_parse(slice pattern, struct arena *a, const struct regex **out, struct err *e) MUST_USE;

/* Is there a match anywhere in the text? ^ and $ are its beginning and end. */
bool regex_found(const struct regex *r, slice text);

#endif
