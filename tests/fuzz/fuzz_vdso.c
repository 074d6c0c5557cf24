// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an image of the vDSO.
//
// 1. Nothing outside of it is read.
// 2. What is found is inside of it: whole words of functions, an instruction.

#include <stdint.h>
#include <string.h>

#include "fuzz/must.h"
#include "harm/vdso.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct vdso v;
    struct err e = {0};
    uint8_t *copy = mem_alloc(size ? size : 1); /* exactly as long, for the sanitizer */
    memcpy(copy, data, size);
    if (vdso_parse(copy, size, &v, &e) == 0) {
        MUST(v.spare <= size && v.n == size);
        for (uint32_t i = 0; i < STUB_ENTRIES; i++)
            MUST(v.entry[i] && v.entry[i] + VDSO_WORD <= v.spare);
        MUST(!v.syscall || (copy[v.syscall] == 0x0f && copy[v.syscall + 1] == 0x05));
    } else {
        MUST(e.text[0]);
    }
    mem_free(copy);
    return 0;
}
