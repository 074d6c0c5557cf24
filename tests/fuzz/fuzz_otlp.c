// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as traces, in both forms: the first byte says which.
//
// 1. Names are within the bytes (of JSON: are readable), and no call took less than no time.
// 2. What is refused is refused with a sentence.

#include <stdint.h>

#include "data/otlp.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 256 << 10 };

struct told {
    slice body; /* of protobuf */
    uint64_t sum;
    uint32_t n;
};

static bool is_inside(slice whole, slice part)
{
    return part.n == 0 || (part.p >= whole.p && part.p + part.n <= whole.p + whole.n);
}

static void take(void *user, const struct otlp_span *s)
{
    struct told *t = user;
    MUST(s->took_ns >= 0 && t->n++ < OTLP_SPANS_MAX);
    if (t->body.p)
        MUST(is_inside(t->body, s->service) && is_inside(t->body, s->name));
    for (size_t i = 0; i < s->name.n; i++)
        t->sum += (uint8_t)s->name.p[i];
    for (size_t i = 0; i < s->service.n; i++)
        t->sum += (uint8_t)s->service.p[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err e = {0};
    struct told t = {0};
    if (size == 0 || size > BYTES_MAX)
        return 0;
    slice body = {(const char *)data + 1, size - 1};
    bool json = *data == 'j';
    t.body = json ? (slice){0} : body;
    int status = json ? otlp_read_json(body, take, &t, &e) : otlp_read_protobuf(body, take, &t, &e);
    MUST((status == 0) == !e.text[0]);
    return 0;
}
