/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths as requests carry them. In the file any text may be a value, and so part of a path; on the
 * wire what is no plain byte of a URL is written %XX. */
#include "sim/handler.h"
#include "sim/sim_int.h"

slice path_decode(struct arena *a, slice s)
{
    if (slice_find(s, '%') == s.n)
        return s;
    char *text = arena_alloc(a, s.n + 1), *to = text;
    for (size_t i = 0; i < s.n; i++) {
        bool code = s.p[i] == '%' && i + 2 < s.n && hex_digit(s.p[i + 1]) >= 0 &&
                    hex_digit(s.p[i + 2]) >= 0;
        int byte = code ? hex_digit(s.p[i + 1]) << 4 | hex_digit(s.p[i + 2]) : s.p[i];
        *to++ = (char)byte;
        i += code ? 2 : 0;
    }
    return (slice){text, (size_t)(to - text)};
}

static bool is_plain(char c)
{
    return c > 0x20 && c < 0x7f && !memchr("\"<>\\^`{|}%#", c, 11);
}

slice sim_path_encode(struct arena *a, slice path)
{
    static const char digits[] = "0123456789ABCDEF";
    size_t odd = 0;
    for (size_t i = 0; i < path.n; i++)
        odd += !is_plain(path.p[i]);
    if (!odd)
        return path;
    char *text = arena_alloc(a, path.n + 2 * odd + 1), *to = text;
    for (size_t i = 0; i < path.n; i++) {
        unsigned char c = (unsigned char)path.p[i];
        if (is_plain(path.p[i])) {
            *to++ = path.p[i];
            continue;
        }
        *to++ = '%';
        *to++ = digits[c >> 4];
        *to++ = digits[c & 15];
    }
    return (slice){text, (size_t)(to - text)};
}
