// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a packet to the name server of a plan's network.
//
// 1. Nothing outside of it is read.
// 2. An answer goes back to whoever asked, and is no question itself: nobody talks for ever.

#include <stdint.h>
#include <string.h>

#include "fuzz/must.h"
#include "lab/resolver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const slice names[] = {{"a", 1}, {"db-1", 4}};
    struct resolver r = {.names = names, .n = 2, .network = 0xc6124d00};
    struct resolver_rule rule = {.names = SLICE("d*"), .answer = RESOLVER_SERVFAIL};
    uint8_t answer[RESOLVER_PACKET_MAX], again[RESOLVER_PACKET_MAX];
    uint8_t *copy = mem_alloc(size ? size : 1); /* exactly as long, for the sanitizer */
    int64_t late;
    cable_set_add(&rule.members, 0);
    (void)resolver_add(&r, &rule);
    memcpy(copy, data, size);
    bool asked = resolver_is_asked(copy, size);
    size_t n = resolver_answer(&r, size & 1, copy, size, answer, &late);
    MUST(asked || !n);
    MUST(n <= sizeof answer && late == 0);
    if (n) {
        MUST(!memcmp(answer + 16, copy + 12, 4) && !memcmp(answer + 12, copy + 16, 4));
        MUST(!resolver_answer(&r, 0, answer, n, again, &late));
    }
    mem_free(copy);
    resolver_deinit(&r);
    return 0;
}
