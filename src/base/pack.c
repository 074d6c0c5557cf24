/* SPDX-License-Identifier: Apache-2.0 */
#include "base/pack.h"

#define ZLIB_CONST /* what is read is not changed */
#include <zlib.h>

enum { STEP = 16 * 1024, MEMORY = 9 };

/* ---- smaller ---- */

static const int windows[] = {[PACK_ZLIB] = 15, [PACK_GZIP] = 15 + 16, [PACK_BARE] = -15};

void pack_deflate(slice bytes, struct buf *out)
{
    char piece[STEP];
    z_stream z = {.next_in = (const Bytef *)bytes.p};
    int code = deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, windows[PACK_ZLIB], MEMORY,
                            Z_DEFAULT_STRATEGY);
    if (code != Z_OK)
        mem_oom(); /* nothing else can be wrong with these settings */
    while (code == Z_OK) {
        /* zlib counts in 32 bits */
        size_t left = bytes.n - z.total_in;
        z.avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left;
        bool last = z.avail_in == left;
        z.next_out = (Bytef *)piece;
        z.avail_out = sizeof piece;
        code = deflate(&z, last ? Z_FINISH : Z_NO_FLUSH);
        buf_add(out, (slice){piece, sizeof piece - z.avail_out});
    }
    deflateEnd(&z);
}

/* 0: there it ends. */
static int inflate_member(z_stream *z, struct buf *out)
{
    char piece[STEP];
    int code = Z_OK;
    while (code == Z_OK && !out->full) {
        z->next_out = (Bytef *)piece;
        z->avail_out = sizeof piece;
        code = inflate(z, Z_NO_FLUSH);
        buf_add(out, (slice){piece, sizeof piece - z->avail_out});
    }
    return code == Z_STREAM_END && !out->full ? 0 : -1;
}

int pack_inflate(slice packed, enum pack_frame frame, struct buf *out)
{
    z_stream z = {.next_in = (const Bytef *)packed.p, .avail_in = (uInt)packed.n};
    if (packed.n > UINT32_MAX || inflateInit2(&z, windows[frame]) != Z_OK)
        return -1;
    int failed = inflate_member(&z, out);
    while (!failed && z.avail_in && frame == PACK_GZIP && inflateReset(&z) == Z_OK)
        failed = inflate_member(&z, out);
    failed |= z.avail_in > 0;
    inflateEnd(&z);
    return failed ? -1 : 0;
}

/* ---- text ---- */

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void pack_base64(slice bytes, struct buf *out)
{
    const uint8_t *p = (const uint8_t *)bytes.p;
    for (size_t i = 0; i < bytes.n; i += 3) {
        size_t n = bytes.n - i < 3 ? bytes.n - i : 3; /* that are there, of these three */
        uint32_t bits = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
                        (n > 2 ? (uint32_t)p[i + 2] : 0);
        char four[] = {alphabet[bits >> 18], alphabet[bits >> 12 & 63], alphabet[bits >> 6 & 63],
                       alphabet[bits & 63]};
        memset(four + n + 1, '=', 3 - n);
        buf_add(out, (slice){four, sizeof four});
    }
}

static int value_of(char c)
{
    return is_upper(c)   ? c - 'A'
           : is_lower(c) ? c - 'a' + 26
           : is_digit(c) ? c - '0' + 52
           : c == '+'    ? 62
           : c == '/'    ? 63
                         : -1;
}

int pack_base64_decode(slice text, struct buf *out)
{
    if (text.n % 4)
        return -1;
    for (size_t i = 0; i < text.n; i += 4) {
        const char *four = text.p + i;
        bool last = i + 4 == text.n;
        size_t n = !last || four[3] != '=' ? 3 : four[2] != '=' ? 2 : 1; /* bytes in it */
        uint32_t bits = 0;
        for (size_t k = 0; k < n + 1; k++) {
            int value = value_of(four[k]);
            if (value < 0)
                return -1;
            bits |= (uint32_t)value << (18 - 6 * k);
        }
        if (bits & (n == 1 ? 0xffffu : n == 2 ? 0xffu : 0))
            return -1; /* bits that nobody reads */
        char three[] = {(char)(bits >> 16), (char)(bits >> 8 & 0xff), (char)(bits & 0xff)};
        buf_add(out, (slice){three, n});
    }
    return out->full ? -1 : 0;
}
