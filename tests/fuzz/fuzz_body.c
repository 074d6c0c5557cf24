// SPDX-License-Identifier: Apache-2.0
//
// Two bodies that a client may receive, with a line feed between them: which errors does the first
// speak of? What is quoted is one line, and a body speaks of nothing that it does not say itself.
// What was learned without faults is like what is usual.

#include <stdbool.h>
#include <stdint.h>

#include "fuzz/must.h"
#include "judge/oracle_int.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void is_quoted(const struct mask *m, slice now)
{
    struct body_error error;
    bool keys = body_find_error(m, now, false, &error);
    MUST(!keys || body_find_error(m, now, true, &error));
    if (body_find_error(m, now, true, &error)) {
        size_t n = strnlen(error.quote, sizeof error.quote);
        MUST(n > 0 && n < sizeof error.quote);
        for (size_t i = 0; i < n; i++)
            MUST((unsigned char)error.quote[i] >= 0x20);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice all = {(const char *)data, size}, now = {all.p, slice_find(all, '\n')};
    slice was = slice_from(all, now.n + (now.n < size));
    struct body_error error;
    struct mask usual = {0}, same = {0};
    mask_learn(&usual, was, (int64_t)size);
    mask_learn(&same, now, 0);
    is_quoted(&usual, now);
    MUST(!body_find_error(&same, now, true, &error));
    mask_learn(&usual, now, (int64_t)size);
    MUST(mask_compare(&usual, now) != ALIKE_OTHER && mask_compare(&usual, was) != ALIKE_OTHER);
    MUST(!body_find_error(&usual, now, true, &error) || mask_compare(&usual, now) == ALIKE_UNKNOWN);
    mask_deinit(&usual);
    mask_deinit(&same);
    return 0;
}
