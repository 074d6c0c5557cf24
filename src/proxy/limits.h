/* SPDX-License-Identifier: Apache-2.0
 *
 * What bounds the proxy: sizes, numbers and waits. Each is a row of limits.list, with its default
 * and the range in which it may be set (--limit NAME=VALUE, `limits:` in the file). */
#ifndef OUTFOX_PROXY_LIMITS_H
#define OUTFOX_PROXY_LIMITS_H

#include <stdint.h>

#include "data/keys.h"

struct limits {
#define LIMIT(id, name, kind, standard, least, most, doc) int64_t id;
#include "proxy/limits.list"
#undef LIMIT
};

extern const struct limits limits_default;

extern const struct keys limit_keys; /* that fill a struct limits */

/* "64KiB", "30s", "200". 0, or -1 for an unknown name, a value that is none, or one out of range.
 */
int limits_set(struct limits *limits, slice name, slice value, struct err *e) MUST_USE;

/* One line per limit: its name, its value here, and what it is. */
void limits_print(const struct limits *limits, struct buf *out);

#endif
