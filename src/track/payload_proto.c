/* SPDX-License-Identifier: Apache-2.0
 *
 * Protobuf without a schema: a message is a list of (number, wire type, value), and a value of
 * bytes is a text, a message or just bytes, whichever it looks like. That guess may be wrong, but
 * it is the same guess for the same bytes; where bytes change from run to run, so does what they
 * look like, and comparing the runs leaves them out.
 *
 * 1. A message is read to its last byte or not at all. Groups, which nobody uses any more, are not
 *    read.
 * 2. The n-th value of a number has index n: repeated fields are lists.
 * 3. A message never starts with the byte 0 or 1 (there is no field 0); the prefix of gRPC always
 *    does. So both forms of a body can be told apart. */
#include "track/payload_int.h"

enum { PREFIX = 5, PROTO_DEPTH_MAX = 32 };
enum wire_type { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

/* ---- pieces ---- */

static bool cut_varint(slice *rest, uint64_t *out)
{
    uint64_t x = 0;
    for (size_t i = 0; i < rest->n && i < 10; i++) {
        uint64_t byte = (uint8_t)rest->p[i];
        if (i == 9 && byte > 1)
            return false;
        x |= (byte & 0x7f) << (7 * i);
        if (byte & 0x80)
            continue;
        *rest = slice_from(*rest, i + 1);
        *out = x;
        return true;
    }
    return false;
}

/* Little-endian. */
static bool cut_fixed(slice *rest, size_t n, uint64_t *out)
{
    uint64_t x = 0;
    if (rest->n < n)
        return false;
    for (size_t i = n; i-- > 0;)
        x = x << 8 | (uint8_t)rest->p[i];
    *rest = slice_from(*rest, n);
    *out = x;
    return true;
}

static bool cut_bytes(slice *rest, slice *out)
{
    uint64_t n;
    if (!cut_varint(rest, &n) || n > rest->n)
        return false;
    *out = (slice){rest->p, n};
    *rest = slice_from(*rest, n);
    return true;
}

/* UTF-8 without control characters. Which of the longer forms are allowed is nothing that a guess
 * depends on. */
static bool is_text(slice s)
{
    size_t more = 0;
    for (size_t i = 0; i < s.n; i++) {
        uint8_t c = (uint8_t)s.p[i];
        bool follows = (c & 0xc0) == 0x80;
        if (follows != (more > 0) || c < 0x20 || c == 0x7f || c > 0xf4)
            return false;
        if (follows)
            more--;
        else
            more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    }
    return more == 0;
}

/* ---- messages ---- */

static bool message_walk(struct leaves *l, uint64_t path, slice message, uint32_t depth);

static void bytes_add(struct leaves *l, uint64_t path, slice bytes, uint32_t depth)
{
    uint32_t before = l->list.n;
    if (is_text(bytes)) {
        leaves_add_text(l, path, bytes);
        return;
    }
    if (message_walk(l, path, bytes, depth))
        return;
    l->list.n = before;
    leaves_add_bytes(l, path, bytes);
}

/* 64 bits may be a double: whether they look like a moment is asked of both. */
static void fixed64_add(struct leaves *l, uint64_t path, uint64_t bits)
{
    double real;
    memcpy(&real, &bits, sizeof real);
    leaves_add_integer(l, path, (int64_t)bits);
    vec_last(&l->list).volatile_ |= look_real(real, l->now_ns);
}

/* One value of a field; false: malformed. */
static bool value_cut(struct leaves *l, uint64_t path, uint32_t type, slice *rest, uint32_t depth)
{
    uint64_t number;
    slice bytes;
    switch (type) {
    case WIRE_VARINT:
        if (!cut_varint(rest, &number))
            return false;
        leaves_add_integer(l, path, (int64_t)number);
        return true;
    case WIRE_64:
        if (!cut_fixed(rest, 8, &number))
            return false;
        fixed64_add(l, path, number);
        return true;
    case WIRE_32:
        if (!cut_fixed(rest, 4, &number))
            return false;
        leaves_add_integer(l, path, (int64_t)number);
        return true;
    case WIRE_BYTES:
        if (!cut_bytes(rest, &bytes))
            return false;
        bytes_add(l, path, bytes, depth);
        return true;
    default: return false;
    }
}

static bool message_walk(struct leaves *l, uint64_t path, slice message, uint32_t depth)
{
    if (depth == 0)
        return false;
    if (message.n == 0)
        leaves_add_word(l, path, "{}");
    while (message.n) {
        uint64_t tag;
        if (!cut_varint(&message, &tag) || tag >> 3 == 0 || tag > UINT32_MAX)
            return false;
        uint64_t field = path_index(path, tag);
        field = path_index(field, map_count(&l->seen, field));
        if (!value_cut(l, field, (uint32_t)tag & 7, &message, depth - 1))
            return false;
    }
    return true;
}

bool proto_read(struct leaves *l, slice body)
{
    if ((uint8_t)body.p[0] > 1)
        return message_walk(l, path_index(0, 0), body, PROTO_DEPTH_MAX);
    for (uint64_t i = 0; body.n; i++) {
        if (body.n < PREFIX || body.p[0] != 0) /* 1: compressed */
            return false;
        uint64_t n = 0;
        for (size_t k = 1; k < PREFIX; k++)
            n = n << 8 | (uint8_t)body.p[k];
        body = slice_from(body, PREFIX);
        if (n > body.n || !message_walk(l, path_index(0, i), (slice){body.p, n}, PROTO_DEPTH_MAX))
            return false;
        body = slice_from(body, n);
    }
    return true;
}
