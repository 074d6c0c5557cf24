/* SPDX-License-Identifier: Apache-2.0
 *
 * Percent-coding: bytes that may not stand where they are written become %XX. Which ones is the
 * caller's to say, so encoding is inline. */
#ifndef OUTFOX_BASE_PERCENT_H
#define OUTFOX_BASE_PERCENT_H

#include "base/str.h"

static inline void percent_add(struct buf *out, char c)
{
    static const char digits[] = "0123456789ABCDEF";
    char text[] = {'%', digits[(uint8_t)c >> 4], digits[(uint8_t)c & 15]};
    buf_add(out, (slice){text, sizeof text});
}

/* `plain`: the byte is written as it is. */
static inline void percent_encode(slice text, bool (*plain)(char c), struct buf *out)
{
    for (size_t i = 0; i < text.n; i++) {
        if (plain(text.p[i]))
            buf_addc(out, text.p[i]);
        else
            percent_add(out, text.p[i]);
    }
}

/* form: + is a blank. False: somewhere no two digits follow a %, which then means itself. */
bool percent_decode(slice text, bool form, struct buf *out);

#endif
