/* SPDX-License-Identifier: Apache-2.0
 *
 * Bytes as text that a person can read and write in a case file:
 *
 *   \r \n \t \\      as in C
 *   \x0d             one byte
 *   \(ab\)*1000      what is between, a thousand times */
#ifndef OUTFOX_TESTS_WIRE_TEXT_H
#define OUTFOX_TESTS_WIRE_TEXT_H

#include "base/str.h"

/* Appends the bytes that `text` stands for; false when it is malformed. */
bool text_unescape(slice text, struct buf *out) MUST_USE;

/* Appends bytes so that they can be read; long runs of one byte become repetitions. A LF also ends
 * the line. */
void text_escape(slice bytes, struct buf *out);

/* Cuts the part before the first ` | ` off *rest, trimmed; false when there is none left. */
bool text_cut_bar(slice *rest, slice *part);

/* `name: value`, where the name may start with a colon. */
bool text_cut_name(slice text, slice *name, slice *value);

#endif
