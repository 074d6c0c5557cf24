/* SPDX-License-Identifier: Apache-2.0
 *
 * What context.c and context_dialect.c share: the table of headers that carry a trace. */
#ifndef OUTFOX_TRACK_CONTEXT_INT_H
#define OUTFOX_TRACK_CONTEXT_INT_H

#include "track/context.h"

enum { HEADER_TEXT_MOST = 96 }; /* no header that is printed here is longer */

struct dialect_header {
    slice name;
    enum dialect dialect;
    /* False: malformed, or it names no trace. NULL: it goes with another one, or is a list. */
    bool (*parse)(slice value, struct trace_id *id);
    /* Prints at `at` and returns the end. NULL: a list. */
    char *(*print)(struct trace_id id, char *at);
};

enum { DIALECT_HEADERS = 12 };
extern const struct dialect_header dialect_headers[DIALECT_HEADERS];

/* The row of this name in any case; NULL: the header is none of ours. */
const struct dialect_header *dialect_header_of(slice name);

/* 32 hex digits, also as a UUID. */
bool dialect_parse_plain(slice value, struct trace_id *id);
char *dialect_print_plain(struct trace_id id, char *at);

/* All of s, 1 to `most` hex digits of any case. */
bool dialect_parse_hex(slice s, size_t most, struct trace_id *id);

/* `digits` hex digits. */
char *dialect_print_hex(uint64_t number, uint32_t digits, char *at);

#endif
