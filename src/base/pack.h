/* SPDX-License-Identifier: Apache-2.0
 *
 * pack: bytes made smaller (zlib, RFC 1950 to 1952), and made text (base64, RFC 4648); and back. */
#ifndef OUTFOX_BASE_PACK_H
#define OUTFOX_BASE_PACK_H

#include "base/str.h"

/* What stands around the deflated bytes: zlib's own frame, that of gzip (which may be there several
 * times, one behind the other), or none. */
enum pack_frame { PACK_ZLIB, PACK_GZIP, PACK_BARE };

/* Adds the bytes to *out in the frame of zlib, as small as they get. What does not fit is lost, as
 * of any buffer. */
void pack_deflate(slice bytes, struct buf *out);

/* Adds what was packed to *out, never past its bound, however much it would become. Bytes are right
 * or wrong as a whole: 0, or -1 when they end early, go on behind their end, or `out` is full. */
int pack_inflate(slice packed, enum pack_frame frame, struct buf *out) MUST_USE;

/* Base64 with the usual alphabet, padded, without line breaks. */
void pack_base64(slice bytes, struct buf *out);

/* 0, or -1 when it is not exactly that, or `out` is full. */
int pack_base64_decode(slice text, struct buf *out) MUST_USE;

#endif
