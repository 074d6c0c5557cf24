/* SPDX-License-Identifier: Apache-2.0
 *
 * "deflate" is in the frame of zlib by the standard, and without any by the habit of some servers:
 * what is no zlib is tried as bare deflate. */
#include "wire/coding.h"

#include "base/pack.h"

slice coding_of(const struct head *h)
{
    slice name = slice_trim(head_get(h, SLICE("content-encoding")));
    return slice_eq_nocase(name, SLICE("identity")) ? (slice){0} : name;
}

const char *coding_decode(slice coding, slice body, struct buf *out)
{
    bool gzip = slice_eq_nocase(coding, SLICE("gzip")) || slice_eq_nocase(coding, SLICE("x-gzip"));
    if (!gzip && !slice_eq_nocase(coding, SLICE("deflate")))
        return "is compressed in a way that Outfox cannot read (it reads gzip and deflate): have "
               "the caller ask for gzip, or the service send it uncompressed";
    if (body.n > UINT32_MAX)
        return "is too large to decompress";
    int failed = pack_inflate(body, gzip ? PACK_GZIP : PACK_ZLIB, out);
    if (failed && !gzip && !out->full) {
        buf_clear(out);
        failed = pack_inflate(body, PACK_BARE, out);
    }
    if (out->full)
        return "is too large once it is decompressed";
    return failed ? "is marked as compressed, but cannot be decompressed" : NULL;
}
