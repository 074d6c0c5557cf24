// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a page of samples, and each line of them as a line of a node.
//
// 1. What is told is a name that is part of the text, within its bound, and a finite value.
// 2. A sample written again as a metric line is the same sample.

#include <math.h>
#include <stdint.h>

#include "data/exposition.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 64 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice text = {(const char *)data, size < BYTES_MAX ? size : BYTES_MAX};
    struct exposition x = {.rest = text};
    struct exposition_sample s, again;
    while (exposition_next(&x, &s)) {
        struct buf line = BUF_INIT(1000);
        MUST(s.name.n && s.name.n <= EXPOSITION_NAME_MAX && isfinite(s.value));
        MUST(s.name.p >= text.p && s.name.p + s.name.n <= text.p + text.n);
        buf_addf(&line, "metric %.*s %.17g", SLICE_ARG(s.name), s.value);
        if (!memchr(s.name.p, 0, s.name.n)) {
            MUST(exposition_line(buf_slice(&line), &again));
            MUST(slice_eq(again.name, s.name) && !islessgreater(again.value, s.value));
        }
        buf_deinit(&line);
    }
    (void)!exposition_line(text, &s);
    return 0;
}
