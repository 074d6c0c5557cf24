// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a text with secrets in it.
//
// 1. What was JSON is JSON afterwards, and doing it twice changes nothing.
// 2. There is always room in a few times the length.

#include <stdint.h>

#include "data/json.h"
#include "data/secret.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 16 << 10 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice text = {(const char *)data, size};
    struct buf once = BUF_INIT(16 * BYTES_MAX), twice = BUF_INIT(16 * BYTES_MAX);
    struct arena a = {0};
    const struct node *node;
    if (size > BYTES_MAX)
        return 0;
    secret_mask(text, &once);
    secret_mask(buf_slice(&once), &twice);
    MUST(!once.full);
    if (node_parse_json(&a, text, &node) == 0) {
        MUST(node_parse_json(&a, buf_slice(&once), &node) == 0);
        MUST(slice_eq(buf_slice(&once), buf_slice(&twice)));
    }
    arena_deinit(&a);
    buf_deinit(&once);
    buf_deinit(&twice);
    return 0;
}
