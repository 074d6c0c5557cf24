/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/grpc.h"

#include "base/str.h"

bool grpc_is_call(const struct head *h)
{
    const slice type = SLICE("application/grpc");
    slice value = head_get(h, SLICE("content-type"));
    if (h->status || value.n < type.n || !slice_eq_nocase((slice){value.p, type.n}, type))
        return false;
    return value.n == type.n || memchr("+; \t", value.p[type.n], 4) != NULL;
}

slice grpc_interface(slice target)
{
    if (target.n && target.p[0] == '/')
        target = slice_from(target, 1);
    target.n = slice_find(target, '?');
    return target;
}

/* ---- codes ---- */

enum { CODE_UNKNOWN = 2, CODE_LAST = 16 };

uint32_t grpc_of_status(uint32_t status)
{
    static const struct {
        uint16_t status;
        uint8_t code;
    } rows[] = {{400, 13}, {401, 16}, {403, 7},  {404, 12},
                {429, 14}, {502, 13}, {503, 14}, {504, 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].status == status)
            return rows[i].code;
    return CODE_UNKNOWN;
}

int grpc_status(const struct head *h)
{
    uint64_t code;
    if (!slice_to_u64(head_get(h, SLICE("grpc-status")), CODE_LAST, &code))
        return -1;
    return (int)code;
}

/* ---- fields ---- */

static bool is_plain(char c)
{
    return c >= ' ' && c <= '~' && c != '%';
}

void grpc_message_encode(slice text, struct buf *out)
{
    percent_encode(text, is_plain, out);
}

/* ---- messages ---- */

size_t grpc_feed(struct grpc_framing *f, slice bytes)
{
    size_t at = 0;
    while (at < bytes.n && f->have < GRPC_PREFIX) {
        uint8_t byte = (uint8_t)bytes.p[at++];
        if (f->have++ > 0) /* the first one says whether it is compressed */
            f->prefix = f->prefix << 8 | byte;
        f->left = f->prefix;
    }
    if (f->have < GRPC_PREFIX)
        return at;
    size_t n = bytes.n - at < f->left ? bytes.n - at : f->left;
    f->left -= (uint32_t)n;
    if (f->left == 0) {
        f->have = f->prefix = 0;
        f->messages++;
    }
    return at + n;
}

void grpc_prefix(uint32_t n, char to[GRPC_PREFIX])
{
    to[0] = 0;
    for (uint32_t i = 1; i < GRPC_PREFIX; i++)
        to[i] = (char)(n >> (8 * (GRPC_PREFIX - 1 - i)));
}
