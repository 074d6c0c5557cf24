// SPDX-License-Identifier: Apache-2.0
//
// Compressed bodies from a service that sends anything. The first byte says which coding, and how
// much room there is.
//
// 1. Nothing passes the bound.
// 2. Where it can be read, it is read the same again, and with more room too.

#include <stdint.h>

#include "fuzz/must.h"
#include "wire/coding.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const codings[] = {"gzip", "deflate", "x-gzip", "br"};
    if (size == 0)
        return 0;
    slice body = {(const char *)data + 1, size - 1}, coding = slice_of(codings[data[0] & 3]);
    size_t room = 16 + (size_t)(data[0] >> 2) * 1024;
    struct buf once = BUF_INIT(room), again = BUF_INIT(room + 4096);
    const char *why = coding_decode(coding, body, &once);
    MUST(once.n <= room);
    if (!why) {
        MUST(!coding_decode(coding, body, &again));
        MUST(slice_eq(buf_slice(&once), buf_slice(&again)));
    }
    buf_deinit(&once);
    buf_deinit(&again);
    return 0;
}
