/* SPDX-License-Identifier: Apache-2.0
 *
 * message: the head of a request or response as every protocol has it. Parsed once at the edge;
 * what lies in the middle knows no other form. */
#ifndef OUTFOX_WIRE_MESSAGE_H
#define OUTFOX_WIRE_MESSAGE_H

#include "base/arena.h"
#include "base/str.h"

struct field {
    slice name, value; /* name in the case of the sender; compare with slice_eq_nocase */
};

/* The head of a request or response, or trailers (then only fields mean something). Fields that
 * belong to one connection alone (Connection and what it names, Keep-Alive, Proxy-Connection,
 * Transfer-Encoding, Upgrade, TE, HTTP2-Settings; of HTTP/2 `te: trailers` is) and Content-Length
 * are not among the fields; what they said is in the rest. Host is `authority`. */
struct head {
    uint16_t status;                         /* of a response; 0: a request */
    slice method, scheme, authority, target; /* of a request. target: path and query, or `*` */
    const struct field *fields;
    uint32_t n_fields;
    bool has_length; /* length is known and told: Content-Length */
    uint64_t length;
    bool bodiless; /* nothing follows whatever the length says (HEAD, 204, 304, 1xx, END_STREAM) */
    slice upgrade; /* Upgrade: of a request or a 101; empty: none */
    bool expects;  /* Expect: 100-continue */
    bool te;       /* HTTP/1.1: TE: trailers, which concerns one connection only */
    bool http10;   /* an HTTP/1.0 peer sent it */
    slice reason;  /* HTTP/1.1: the reason phrase; may be empty */
};

/* What such a field is about. */
enum field_kind {
    FIELD_ORDINARY, /* a field like any other */
    FIELD_DROPPED,
    FIELD_CONNECTION,
    FIELD_ENCODING,
    FIELD_LENGTH,
    FIELD_UPGRADE,
    FIELD_TE,
    FIELD_HOST,
    FIELD_EXPECT,
};

/* The length alone says of nearly all fields that they are ordinary ones. */
enum field_kind field_kind_of_length(slice name);
static inline enum field_kind field_kind(slice name)
{
    enum { LENGTHS = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 10 | 1 << 14 | 1 << 16 | 1 << 17 };
    return name.n <= 17 && LENGTHS >> name.n & 1 ? field_kind_of_length(name) : FIELD_ORDINARY;
}

/* The value of the first field of this name (any case), or an empty slice with p == NULL. */
slice head_get(const struct head *h, slice name);

/* Was this request sent by a program, to an address of this machine? Not so where it names a host
 * of the web (a name that was made to lead here), or says that a page of another origin sent it. */
bool head_is_local(const struct head *h);

/* Does nothing change when this request is sent twice (RFC 9110, 9.2.2)? */
bool head_idempotent(const struct head *h);

/* A deep copy. */
struct head *head_copy(struct arena *a, const struct head *h);

#endif
