/* SPDX-License-Identifier: Apache-2.0
 *
 * intern: texts that are kept once, and known by their numbers or addresses. Equal numbers, equal
 * texts. Zero-initialised is empty. */
#ifndef OUTFOX_BASE_INTERN_H
#define OUTFOX_BASE_INTERN_H

#include "base/index.h"
#include "base/str.h"

enum { INTERN_BYTES_MAX = 64 << 20 };

#define INTERN_NONE UINT32_MAX

struct intern {
    struct arena arena;
    VEC(slice) text; /* by number; with a NUL behind each */
    struct index index;
};

/* The number of this text; INTERN_NONE when there is no room for more. */
uint32_t intern_put(struct intern *x, slice text);

/* The same without a bound; a text that is new is copied to `keep`. */
uint32_t intern_put_in(struct intern *x, struct arena *keep, slice text);

/* The text as it is kept, always at the same address. Without a bound. */
const char *intern_keep(struct intern *x, slice text);

slice intern_text(const struct intern *x, uint32_t id);
void intern_deinit(struct intern *x);

#endif
