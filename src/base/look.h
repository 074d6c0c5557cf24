/* SPDX-License-Identifier: Apache-2.0
 *
 * Does a value look like a moment near now or like a generated id? Comparing runs finds most of
 * what changes; looks find what happens to be equal in runs that follow closely, and what is seen
 * too seldom to be compared.
 *
 * "Near" is generous, because what expires some weeks from now changes just as the time does. */
#ifndef OUTFOX_BASE_LOOK_H
#define OUTFOX_BASE_LOOK_H

#include "base/str.h"

/* Seconds, milliseconds, microseconds or nanoseconds since 1970. now_ns: likewise, of the wall
 * clock. */
bool look_integer(int64_t number, int64_t now_ns);
bool look_real(double number, int64_t now_ns);

/* The same as text, or ISO 8601 with a time of day. */
bool look_moment(slice text, int64_t now_ns);

/* UUID, ULID, long random hex. */
bool look_id(slice text, int64_t now_ns);

#endif
