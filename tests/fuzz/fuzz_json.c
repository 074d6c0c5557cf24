// SPDX-License-Identifier: Apache-2.0
//
// JSON from a service that answers anything. What is read is printed and read again: the same.

#include <stdint.h>

#include "data/json.h"
#include "fuzz/must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    const struct node *one = NULL, *two = NULL;
    if (node_parse_json(&a, (slice){(const char *)data, size}, &one) == 0) {
        struct buf text = BUF_INIT(1 << 24);
        node_print(one, &text);
        MUST(one->depth < JSON_DEPTH_MAX);
        MUST(text.full || node_parse_json(&a, buf_slice(&text), &two) == 0);
        MUST(text.full || node_eq(one, two));
        buf_deinit(&text);
    }
    arena_deinit(&a);
    return 0;
}
