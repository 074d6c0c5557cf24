/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of HTTP/1.1: a head is found (h1_lines.c), parsed by llhttp (h1_head.c) and printed
 * (h1_print.c); a body is unwrapped (h1_body.c); h1.c puts them together on a connection. */
#ifndef OUTFOX_WIRE_H1_INT_H
#define OUTFOX_WIRE_H1_INT_H

#include "wire/wire.h"

enum { H1_FIELDS_MAX = 512 };

/* A refusal: the status that a server answers with, and why. */
struct h1_refusal {
    uint16_t status;
    const char *text; /* static */
};

/* ---- h1_lines.c ---- */

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

/* Cuts a line `name: value` of checked lines; false at the blank line. */
bool h1_cut_field(slice *lines, struct field *out);

/* Is this a field name: not empty, and nothing but the characters of a token? */
bool h1_is_token(slice s);

/* Nothing but what a host and its port consist of; no user, no list. May be empty. */
bool h1_is_authority(slice s);

/* ---- h1_head.c ---- */

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

/* Does a field of this name concern framing, routing or this connection? Trailers have none. */
bool h1_is_known(slice name);

/* ---- h1_body.c ---- */

enum h1_body_kind { BODY_NONE, BODY_LENGTH, BODY_CHUNKED, BODY_CLOSE };

struct h1_body {
    enum h1_body_kind kind;
    uint64_t left; /* of the length, or of the chunk */
    uint8_t state; /* of BODY_CHUNKED, see h1_body.c */
    uint8_t digits;
    uint32_t extensions; /* bytes of chunk extensions so far */
};

enum h1_step {
    STEP_MORE,     /* all bytes were taken */
    STEP_DATA,     /* *data is a piece of the body */
    STEP_TRAILERS, /* trailers, or the blank line for none, come next */
    STEP_END,
    STEP_BAD,
};

/* Takes one piece off *bytes. */
enum h1_step h1_body_step(struct h1_body *b, slice *bytes, slice *data);

/* ---- h1_print.c ---- */

struct h1_style {
    bool chunked;    /* Transfer-Encoding: chunked */
    bool close;      /* Connection: close */
    bool keep_alive; /* Connection: keep-alive, for HTTP/1.0 */
};

void h1_print_head(struct chain *out, const struct head *h, const struct h1_style *style);

/* The last chunk, with trailers when there are any. */
void h1_print_last_chunk(struct chain *out, const struct head *trailers);
void h1_print_chunk(struct chain *out, slice bytes);

/* "Bad Gateway"; "" for what has no name. */
const char *h1_reason(uint16_t status);

/* ---- h1.c, h1_send.c ---- */

enum h1_in_state { IN_HEAD, IN_BODY, IN_DONE, IN_TUNNEL };
enum h1_out_state { OUT_HEAD, OUT_BODY, OUT_DONE, OUT_TUNNEL };

enum {
    H1_WAITING_MAX = 64 * 1024, /* bytes in `in` after which reading stops */
    H1_OUT_MAX = 256 * 1024,    /* bytes in `out`, likewise */
    H1_TURN = 64,               /* requests that are taken in one turn */
};

struct h1 {
    struct wire wire;
    struct stream stream;
    struct buf in;
    struct h1_scan scan; /* of a head in the making */
    enum h1_in_state in_state;
    enum h1_out_state out_state;
    struct h1_body body;
    uint64_t out_left; /* of the length that was told */
    struct wire_interims interims;
    size_t unread; /* given to the owner, not consumed */
    size_t unsent; /* given by the owner, still in `out` */
    bool live;
    bool keep;      /* another exchange may follow on this connection */
    bool peer10;    /* server: the request was HTTP/1.0 */
    bool head_only; /* the request is a HEAD */
    bool asked_upgrade;
    bool awaits_continue; /* server: the client waits for a 100 before it sends its body */
    bool skipped_blank;
    bool clogged;                               /* a request waits until the peer reads more */
    bool out_chunked, out_counted, out_dropped; /* framing of what is sent; dropped: no body */
};

static inline struct h1 *h1_of(struct wire *w)
{
    return (struct h1 *)w; /* the first member */
}

/* The connection is to end. The first reason counts. */
void h1_finish(struct h1 *h, enum wire_finish how);

/* On to the next exchange, when this one is over in both directions. */
void h1_turn(struct h1 *h);

/* What the owner of the stream calls; rows of h1_ops. */
struct stream *h1_open(struct wire *w);
void h1_send_head(struct stream *s, const struct head *head, bool end);
void h1_send_data(struct stream *s, slice bytes);
void h1_send_end(struct stream *s, const struct head *trailers);
void h1_abort(struct stream *s, enum wire_finish how, uint32_t code);
void h1_goaway(struct stream *s);
void h1_consume(struct stream *s, size_t n);
void h1_release(struct stream *s);

#endif
