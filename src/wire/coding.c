/* SPDX-License-Identifier: Apache-2.0
 *
 * zlib reads both formats. "deflate" is one of zlib's own by the standard, and without its frame by
 * the habit of some servers: what is no zlib is tried as bare deflate.
 *
 * 1. The output never passes the buffer's bound, however much the input would become.
 * 2. A body is right or wrong as a whole: one that ends early, or goes on behind its end, is
 *    wrong. (A body of gzip may be several members.) */
#include "wire/coding.h"

#define ZLIB_CONST /* what is read is not changed */
#include <zlib.h>

enum { WINDOW = 15, WINDOW_GZIP = 15 + 16, WINDOW_BARE = -15, STEP = 16 * 1024 };

slice coding_of(const struct head *h)
{
    slice name = slice_trim(head_get(h, SLICE("content-encoding")));
    return slice_eq_nocase(name, SLICE("identity")) ? (slice){0} : name;
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

static int inflate_all(slice body, int window, struct buf *out)
{
    z_stream z = {.next_in = (const Bytef *)body.p, .avail_in = (uInt)body.n};
    if (inflateInit2(&z, window) != Z_OK)
        return -1;
    int failed = inflate_member(&z, out);
    while (!failed && z.avail_in && window == WINDOW_GZIP && inflateReset(&z) == Z_OK)
        failed = inflate_member(&z, out);
    failed |= z.avail_in > 0;
    inflateEnd(&z);
    return failed ? -1 : 0;
}

const char *coding_decode(slice coding, slice body, struct buf *out)
{
    bool gzip = slice_eq_nocase(coding, SLICE("gzip")) || slice_eq_nocase(coding, SLICE("x-gzip"));
    if (!gzip && !slice_eq_nocase(coding, SLICE("deflate")))
        return "is compressed in a way that Outfox cannot read (it reads gzip and deflate): have "
               "the caller ask for gzip, or the service send it uncompressed";
    if (body.n > UINT32_MAX)
        return "is too large to decompress";
    int failed = inflate_all(body, gzip ? WINDOW_GZIP : WINDOW, out);
    if (failed && !gzip && !out->full) {
        buf_clear(out);
        failed = inflate_all(body, WINDOW_BARE, out);
    }
    if (out->full)
        return "is too large once it is decompressed";
    return failed ? "is marked as compressed, but cannot be decompressed" : NULL;
}
