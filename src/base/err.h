/* SPDX-License-Identifier: Apache-2.0
 *
 * An error that a person reads: where (source, line, column) and what, with the remedy in the same
 * sentence. Used wherever people's text is read: YAML, faultloads, conditions, the command line.
 * Functions that take a `struct err *` return 0, or -1 with the error filled in. */
#ifndef OUTFOX_BASE_ERR_H
#define OUTFOX_BASE_ERR_H

#include <stdint.h>

#include "base/str.h"

struct err {
    char source[256];   /* file name, or "" */
    uint32_t line, col; /* 1-based; 0: no position */
    char text[512];
};

/* What came of something that can end in more ways than by an error. Functions that only fail or do
 * not return 0 or -1, which are STATUS_OK and STATUS_FAILED. */
enum status {
    STATUS_FAILED = -1, /* *e says why */
    STATUS_OK = 0,
    STATUS_INTERRUPTED, /* somebody wants to stop, or the time is over */
    STATUS_NONE,        /* there is nothing of the kind */
    STATUS_AGAIN,       /* what was seen is misread: all is to begin anew */
    STATUS_OTHER,       /* there is one, but not the one that was meant; *e says how it differs */
};

/* Fills *e and returns -1. The first error wins: a filled one is kept. */
int err_set(struct err *e, uint32_t line, uint32_t col, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "file:3:7: text" */
void err_print(const struct err *e, struct buf *out);

/* Gives an error that has no place the place of what was read; returns -1. For readers of text in
 * a file, which know no lines. */
int err_place(struct err *e, uint32_t line, uint32_t col);

/* For printf "%.*s": as much of a text as a message quotes. */
#define SHORT(s) (int)((s).n < 80 ? (s).n : 80), (s).p

/* The word of `words` that `wrong` was most likely meant to be, or NULL when none is near. */
const char *err_nearest(slice wrong, const char *const *words, size_t n);

/* The end of a message about it: `; did you mean "x"?`, or nothing. */
struct hint {
    char text[80];
};
struct hint err_hint(slice wrong, const char *const *words, size_t n);

#endif
