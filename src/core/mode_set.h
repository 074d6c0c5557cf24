/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of modes that have a name, and lists of modes as people write them: wherever a mode may be
 * listed, the name of a set may stand for all its modes.
 *
 * Modes of HTTP and of gRPC stand side by side in a set: which of them fit a call is known when the
 * call is seen (call_takes). */
#ifndef OUTFOX_CORE_MODE_SET_H
#define OUTFOX_CORE_MODE_SET_H

#include "core/mode.h"

enum mode_set_id { SET_ERRORS, SET_STANDARD, SET_THOROUGH, MODE_SETS };

struct mode_set {
    const char *name;
    const char *modes; /* as they are written, with commas */
    const char *doc;
};

extern const struct mode_set mode_sets[MODE_SETS];

enum { MODE_LIST_MAX = 64 };

struct mode_list {
    mode at[MODE_LIST_MAX];
    uint32_t n;
    uint64_t named; /* bit i: at[i] was named itself, not only by a set */
};

/* Adds a mode, or the modes of a set that are not there yet. 0, or -1 with a sentence in *e: there
 * is no such mode or set, the mode was named before, or the list is full. */
int mode_list_add(struct mode_list *list, slice word, struct err *e) MUST_USE;

/* Adds all modes of a set. There must be room for them. */
void mode_list_add_set(struct mode_list *list, enum mode_set_id set);

/* Takes out what a set has brought and no call with these flags (enum call_flag) can use. */
void mode_list_fit(struct mode_list *list, uint8_t flags);

#endif
