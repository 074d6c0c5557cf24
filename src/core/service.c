/* SPDX-License-Identifier: Apache-2.0 */
#include "core/service.h"

#include "base/hash.h"
#include "core/trace.h"

const struct service_row service_fault_rows[SERVICE_IDS] = {
#define SERVICE(id, word, http, grpc, late, doc) {word, http, grpc, late, doc},
#include "core/service.list"
#undef SERVICE
};

struct service_fault service_fault_read(slice word)
{
    for (enum service_id i = 0; i < SERVICE_IDS; i++) {
        const struct service_row *row = &service_fault_rows[i];
        slice name = slice_of(row->word);
        uint64_t dice;
        if (slice_eq(word, name))
            return (struct service_fault){row, 0};
        if (row->late && slice_starts(word, name) && word.n > name.n + 1 && word.p[name.n] == ':' &&
            word.p[name.n + 1] != '0' &&
            slice_to_u64(slice_from(word, name.n + 1), UINT64_MAX, &dice))
            return (struct service_fault){row, dice};
    }
    return (struct service_fault){0};
}

void service_fault_print(struct service_fault how, struct buf *out)
{
    buf_adds(out, how.row->word);
    if (how.dice)
        buf_addf(out, ":%llu", (unsigned long long)how.dice);
}

mode service_fault_mode(struct service_fault how, const struct names *names, uid call,
                        uint8_t flags)
{
    struct buf text = BUF_INIT(1 << 16);
    uint64_t thrown = 0;
    if (how.row->late) {
        uid_print(names, call, &text);
        thrown = hash_mix(how.dice, hash_slice(buf_slice(&text)));
        buf_deinit(&text);
    }
    if (how.row->late && thrown % 100 < how.row->late)
        return service_fault_rows[SERVICE_SLOW].http;
    return flags & CALL_GRPC ? how.row->grpc : how.row->http;
}
