/* SPDX-License-Identifier: Apache-2.0
 *
 * Paths as requests carry them. In the file any text may be a value, and so part of a path; on the
 * wire what is no plain byte of a URL is written %XX. */
#include "base/percent.h"
#include "sim/handler.h"
#include "sim/sim_int.h"

slice path_decode(struct arena *a, slice s)
{
    if (slice_find(s, '%') == s.n)
        return s;
    struct buf text = BUF_INIT(s.n);
    (void)percent_decode(s, false, &text);
    return buf_keep(&text, a);
}

static bool is_plain(char c)
{
    return c > 0x20 && c < 0x7f && !memchr("\"<>\\^`{|}%#", c, 11);
}

slice sim_path_encode(struct arena *a, slice path)
{
    size_t plain = 0;
    while (plain < path.n && is_plain(path.p[plain]))
        plain++;
    if (plain == path.n)
        return path;
    struct buf text = BUF_INIT(path.n * 3);
    percent_encode(path, is_plain, &text);
    return buf_keep(&text, a);
}
