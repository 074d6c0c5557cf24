/* SPDX-License-Identifier: Apache-2.0 */
#include "http/answer.h"

#include "wire/grpc.h"

bool collect_head(struct collector *c, const struct head *h, struct arena *a)
{
    if (h->status < 200)
        return false;
    c->head = head_copy(a, h);
    return true;
}

void collect_data(struct collector *c, slice bytes)
{
    c->got += bytes.n;
    if (!c->kept.full)
        buf_add(&c->kept, bytes);
}

outcome collect_outcome(const struct collector *c, bool grpc)
{
    int code = c->trailers ? grpc_status(c->trailers) : -1;
    if (code < 0)
        code = grpc_status(c->head);
    if (grpc && code < 0 && c->head->status / 100 == 2)
        code = (int)grpc_of_status(c->head->status); /* no success: it was not said */
    return code >= 0 ? OUTCOME(OUT_GRPC, code) : OUTCOME(OUT_STATUS, c->head->status);
}

slice collect_body(const struct collector *c, bool grpc, bool *cut)
{
    slice all = buf_slice(&c->kept);
    *cut = c->got > all.n;
    if (!grpc)
        return all;
    *cut = c->got > 0;
    if (all.n < GRPC_PREFIX)
        return (slice){"", 0};
    uint32_t n = 0;
    for (int i = 1; i < GRPC_PREFIX; i++)
        n = n << 8 | (uint8_t)all.p[i];
    slice message = slice_from(all, GRPC_PREFIX);
    *cut = c->got != GRPC_PREFIX + (uint64_t)n || message.n < n;
    if (message.n > n)
        message.n = n;
    return message;
}
