/* SPDX-License-Identifier: Apache-2.0 */
#include "core/outcome.h"

enum { CODE_MAX = 0xffffff, WORD_MAX = 16 };

bool outcome_read(slice text, outcome *out)
{
    uint64_t code;
    slice grpc = SLICE("grpc:"), exit = SLICE("exit:");
    if (slice_to_u64(text, CODE_MAX, &code)) {
        *out = OUTCOME(OUT_STATUS, code);
        return true;
    }
    if (slice_starts(text, grpc) && slice_to_u64(slice_from(text, grpc.n), CODE_MAX, &code)) {
        *out = OUTCOME(OUT_GRPC, code);
        return true;
    }
    if (slice_starts(text, exit) && slice_to_u64(slice_from(text, exit.n), CODE_MAX, &code)) {
        *out = OUTCOME(OUT_EXIT, code);
        return true;
    }
    bool found = false;
    struct buf word = BUF_INIT(WORD_MAX);
    for (uint32_t kind = 0; kind < OUT_KINDS && !found; kind++) {
        if (kind == OUT_STATUS || kind == OUT_GRPC || kind == OUT_EXIT)
            continue;
        buf_clear(&word);
        *out = OUTCOME(kind, 0);
        outcome_print(*out, &word);
        found = slice_eq(buf_slice(&word), text);
    }
    buf_deinit(&word);
    return found;
}
