// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a text with secrets in it.
//
// 1. What was JSON is JSON afterwards (keys that differed in a secret alone may have become one), and
//    doing it twice changes nothing.
// 2. There is always room in a few times the length.

#include <stdint.h>

#include "data/json.h"
#include "data/secret.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 16 << 10 };

// Numbers what was hidden, so that equal keys differ again.
static void number(slice text, struct buf *out)
{
    slice word = SLICE(SECRET);
    unsigned n = 0;
    while (text.n) {
        size_t step = slice_starts(text, word) ? word.n : 1;
        buf_add(out, (slice){text.p, step});
        if (step == word.n)
            buf_addf(out, "%u", n++);
        text = slice_from(text, step);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice text = {(const char *)data, size};
    struct buf once = BUF_INIT(16 * BYTES_MAX), twice = BUF_INIT(16 * BYTES_MAX);
    struct buf numbered = BUF_INIT(32 * BYTES_MAX);
    struct arena a = {0};
    const struct node *node;
    if (size > BYTES_MAX)
        return 0;
    secret_mask(text, &once);
    secret_mask(buf_slice(&once), &twice);
    MUST(!once.full);
    if (node_parse_json(&a, text, &node) == 0) {
        number(buf_slice(&once), &numbered);
        MUST(node_parse_json(&a, buf_slice(&numbered), &node) == 0);
        MUST(slice_eq(buf_slice(&once), buf_slice(&twice)));
    }
    arena_deinit(&a);
    buf_deinit(&once);
    buf_deinit(&twice);
    buf_deinit(&numbered);
    return 0;
}
