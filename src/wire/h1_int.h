/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads of HTTP/1.1 (h1_head.c), for the connection that they come and go on (h1.c). */
#ifndef OUTFOX_WIRE_H1_INT_H
#define OUTFOX_WIRE_H1_INT_H

#include "wire/wire.h"

enum { H1_FIELDS_MAX = 512 };

/* A refusal: the status that a server answers with, and why. */
struct h1_refusal {
    uint16_t status;
    const char *text; /* static */
};

/* How far the search for the end of a head came: where the line begins that is not whole yet, and
 * up to where it was looked at. */
struct h1_scan {
    size_t line, seen;
};

/* Looks for the blank line that ends a head or trailers. *scan: how far earlier calls came, zero at
 * first. Returns the length including the blank line, 0 when it takes more bytes, or -1 when a line
 * is not as strict reading wants it: it ends in CRLF, has no other CR, LF, NUL or control bytes,
 * and is no continuation of the line before. */
int64_t h1_find_end(slice bytes, struct h1_scan *scan, struct h1_refusal *why);

struct h1_head {
    struct head head;
    bool keep_alive; /* the sender would go on with this connection */
    bool chunked;
    bool must_close; /* of a response: the body ends with the connection, unless it has none */
    struct field fields[H1_FIELDS_MAX];
};

/* Parses a head that h1_find_end found. 0, or -1 with *why. */
int h1_head_parse(slice bytes, bool request, uint32_t fields_max, struct h1_head *out,
                  struct h1_refusal *why) MUST_USE;

struct h1_trailers {
    struct head head;
    struct field fields[H1_FIELDS_MAX];
};

/* The same for trailers. What concerns framing, routing or the connection is left out. */
int h1_trailers_parse(slice lines, uint32_t most, struct h1_trailers *out,
                      struct h1_refusal *why) MUST_USE;

struct h1_style {
    bool chunked;    /* Transfer-Encoding: chunked */
    bool close;      /* Connection: close */
    bool keep_alive; /* Connection: keep-alive, for HTTP/1.0 */
};

void h1_print_head(struct chain *out, const struct head *h, const struct h1_style *style);

/* The last chunk, with trailers when there are any. */
void h1_print_last_chunk(struct chain *out, const struct head *trailers);
void h1_print_chunk(struct chain *out, slice bytes);

#endif
