// SPDX-License-Identifier: Apache-2.0
//
// What gRPC adds to HTTP/2, from a peer that sends anything: messages with their prefixes, fields.
//
// 1. Where messages end does not depend on how the bytes were cut, and agrees with a reader that
//    has all of them at once.
// 2. An encoded message is printable, and decodes to what it was.
// 3. A status is one of gRPC's.

#include <stdint.h>

#include "fuzz/must.h"
#include "wire/grpc.h"

/* Does the stream end between messages? */
static bool grpc_whole(const struct grpc_framing *f)
{
    return f->have == 0 && f->left == 0;
}

// How many whole messages there are, and whether the bytes end behind one.
static uint64_t count(slice bytes, bool *whole)
{
    uint64_t n = 0;
    for (;;) {
        *whole = bytes.n == 0;
        if (bytes.n < GRPC_PREFIX)
            return n;
        const uint8_t *p = (const uint8_t *)bytes.p;
        size_t size = (size_t)p[1] << 24 | (size_t)p[2] << 16 | (size_t)p[3] << 8 | p[4];
        if (bytes.n - GRPC_PREFIX < size)
            return n;
        bytes = slice_from(bytes, GRPC_PREFIX + size);
        n++;
    }
}

static void check_framing(slice bytes, size_t step)
{
    struct grpc_framing f = {0};
    bool whole;
    uint64_t n = count(bytes, &whole);
    for (size_t at = 0; at < bytes.n;) {
        size_t piece = bytes.n - at < step ? bytes.n - at : step;
        uint64_t before = f.messages;
        size_t took = grpc_feed(&f, (slice){bytes.p + at, piece});
        MUST(took > 0 && took <= piece);
        MUST(f.messages == before + 1 ? grpc_whole(&f) : took == piece && f.messages == before);
        at += took;
    }
    MUST(f.messages == n && grpc_whole(&f) == whole);
}

static int hex(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static void check_message(slice text)
{
    struct buf out = BUF_INIT(1 << 20);
    size_t n = 0;
    grpc_message_encode(text, &out);
    for (size_t i = 0; i < out.n; i++, n++) {
        MUST(out.p[i] >= ' ' && out.p[i] <= '~' && n < text.n);
        int byte = out.p[i];
        if (byte == '%') {
            MUST(i + 2 < out.n && hex(out.p[i + 1]) >= 0 && hex(out.p[i + 2]) >= 0);
            byte = hex(out.p[i + 1]) * 16 + hex(out.p[i + 2]);
            i += 2;
        }
        MUST((char)byte == text.p[n]);
    }
    MUST(n == text.n);
    buf_deinit(&out);
}

static void check_fields(slice text)
{
    struct field f[] = {{SLICE("Grpc-Status"), text}, {SLICE("content-type"), text}};
    struct head h = {.fields = f, .n_fields = 2};
    int code = grpc_status(&h);
    MUST(code >= -1 && code <= 16);
    if (grpc_is_call(&h))
        MUST(text.n >= 16);
    slice interface = grpc_interface(text);
    MUST(interface.n <= text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 1 << 16)
        return 0;
    slice bytes = {(const char *)data + 1, size - 1};
    check_framing(bytes, data[0] + 1u);
    check_framing(bytes, SIZE_MAX);
    check_message(bytes);
    check_fields(bytes);
    for (uint32_t status = 0; status < 700; status += data[0] + 1u)
        MUST(grpc_of_status(status) <= 16);
    return 0;
}
