// SPDX-License-Identifier: Apache-2.0
//
// Two bodies that a client may receive, with a line feed between them: which errors does the first
// speak of? What is quoted is one line, and a body speaks of nothing that it does not say itself.

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/must.h"
#include "judge/body_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice all = {(const char *)data, size}, now = {all.p, slice_find(all, '\n')};
    slice was = slice_from(all, now.n + (now.n < size));
    struct body_error error;
    bool keys = body_find_error(now, was, false, &error);
    MUST(!keys || body_find_error(now, was, true, &error));
    if (body_find_error(now, was, true, &error)) {
        size_t n = strnlen(error.quote, sizeof error.quote);
        MUST(n > 0 && n < sizeof error.quote);
        for (size_t i = 0; i < n; i++)
            MUST((unsigned char)error.quote[i] >= 0x20);
    }
    MUST(!body_find_error(now, now, true, &error));
    return 0;
}
