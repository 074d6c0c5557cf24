// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what a peer of an agent sends. The first byte says how they are cut into readings.
//
// 1. However they are cut, the same frames come, and the same end.
// 2. No frame is of a kind that may not come, or larger than its kind allows; what is kept is bounded.

#include <stdint.h>
#include <string.h>

#include "agent/frame.h"
#include "base/token.h"
#include "fuzz/must.h"

// What came of it: a sum over all frames, and whether the last bytes made sense.
struct sum {
    uint64_t frames, bytes;
    bool wrong;
};

static struct sum take(const char *data, size_t size, size_t step)
{
    struct frames f = {0};
    struct sum s = {0};
    for (size_t at = 0; at < size && !s.wrong; at += step) {
        slice in = {data + at, size - at < step ? size - at : step};
        struct frame one;
        enum frame_step got;
        const char *may = s.frames == 0 ? "H" : s.frames == 1 ? "R" : "IEOXCN";
        uint32_t version;
        slice token;
        int code;
        while ((got = frames_take(&f, may, &in, &one)) == FRAME_WHOLE) {
            MUST(strchr(may, (char)one.kind));
            MUST(one.bytes.n <= FRAME_RUN_MAX);
            MUST(one.kind != FRAME_HELLO || one.bytes.n <= 2 + TOKEN_MOST);
            if (one.kind == FRAME_HELLO && frame_read_hello(one.bytes, &version, &token))
                MUST(token.n == one.bytes.n - 2 && version <= UINT16_MAX);
            if (one.kind == FRAME_CODE && frame_read_code(one.bytes, &code))
                MUST(code >= 0 && code <= 255);
            for (size_t i = 0; i < one.bytes.n; i++)
                s.bytes = s.bytes * 31 + (uint8_t)one.bytes.p[i];
            s.frames++;
            may = s.frames == 1 ? "R" : "IEOXCN";
        }
        MUST(got == FRAME_WRONG || in.n == 0);
        s.wrong = got == FRAME_WRONG;
        MUST(f.bytes.n <= FRAME_HEAD + FRAME_RUN_MAX);
    }
    frames_deinit(&f);
    return s;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1)
        return 0;
    char *copy = mem_alloc(size); // exactly as long as the input, for the sanitizer
    memcpy(copy, data, size);
    struct sum whole = take(copy + 1, size - 1, size), cut = take(copy + 1, size - 1, 1 + data[0]);
    MUST(whole.frames == cut.frames && whole.bytes == cut.bytes && whole.wrong == cut.wrong);
    mem_free(copy);
    return 0;
}
