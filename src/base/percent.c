/* SPDX-License-Identifier: Apache-2.0 */
#include "base/percent.h"

bool percent_decode(slice text, bool form, struct buf *out)
{
    bool good = true;
    for (size_t i = 0; i < text.n; i++) {
        uint64_t byte;
        bool code = text.p[i] == '%';
        if (code && i + 2 < text.n && slice_to_hex((slice){text.p + i + 1, 2}, &byte)) {
            buf_addc(out, (char)byte);
            i += 2;
            continue;
        }
        good &= !code;
        buf_addc(out, form && text.p[i] == '+' ? ' ' : text.p[i]);
    }
    return good;
}
