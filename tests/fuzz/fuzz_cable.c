// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a packet of a node.
//
// 1. Nothing outside of it is read.
// 2. A reset is answered by nothing: two of ours never talk to each other for ever.

#include <stdint.h>
#include <string.h>

#include "fuzz/must.h"
#include "lab/cable.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t back[CABLE_RESET_BYTES], on[CABLE_RESET_BYTES], more[2][CABLE_RESET_BYTES];
    uint8_t *copy =
        mem_alloc(size ? size : 1); /* exactly as long as the packet, for the sanitizer */
    memcpy(copy, data, size);
    uint32_t to = cable_destination(copy, size);
    if (cable_resets(copy, size, back, on)) {
        MUST(to == cable_destination(on, sizeof on));
        MUST(!memcmp(back + 12, on + 16, 4) && !memcmp(back + 16, on + 12, 4));
        MUST(!cable_resets(back, sizeof back, more[0], more[1]));
        MUST(!cable_resets(on, sizeof on, more[0], more[1]));
    }
    mem_free(copy);
    return 0;
}
