/* SPDX-License-Identifier: Apache-2.0
 *
 * coding: bodies that are compressed (Content-Encoding), as far as somebody here must read them:
 * gzip and deflate. What is passed on is passed on as it came. */
#ifndef OUTFOX_WIRE_CODING_H
#define OUTFOX_WIRE_CODING_H

#include "base/str.h"
#include "wire/message.h"

/* How the body of this message is coded; empty: not at all. */
slice coding_of(const struct head *h);

/* Adds the plain body to *out, whose bound also bounds what a small body may become. NULL, or why
 * not, for people: "is compressed with br ..."; *out then holds nothing of use. */
const char *coding_decode(slice coding, slice body, struct buf *out);

#endif
