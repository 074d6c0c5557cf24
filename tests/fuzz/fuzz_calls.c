// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as the file that says which calls of a node are harmed: as it is, and with the hash that makes
// it look whole.
//
// 1. What cannot be read holds nothing; what can be read is printed, and read again, as the same.
// 2. Rules that were read are held against calls: their counts are never outside of the table.

#include <inttypes.h>
#include <stdint.h>

#include "base/hash.h"
#include "fuzz/must.h"
#include "harm/calls_int.h"

static uint32_t any_kind(void *user)
{
    (void)user;
    return FD_FILE;
}

static bool any_path(void *user, slice path)
{
    (void)user;
    return syscall_path_meant(path, SLICE("/var/lib/db/one.aof"));
}

static void hold(const struct calls_state *s)
{
    static struct calls_count counts[CALLS_SLOTS];
    struct calls_verdict v;
    for (uint32_t id = 0; id < SYSCALLS; id++) {
        struct calls_view call = {(enum syscall_id)id, 7, any_kind, any_path, NULL};
        calls_decide(s, counts, &call, &v);
        MUST(v.n <= s->n && !(v.error && v.part) && v.latency_ns >= 0);
    }
}

static void read_as(slice text)
{
    struct calls_state s, back;
    struct err e = {0};
    struct buf once = BUF_INIT(1 << 20), again = BUF_INIT(1 << 20);
    if (calls_state_parse(text, &s, &e)) {
        MUST(!s.n && e.text[0]);
        calls_state_free(&s);
        return;
    }
    hold(&s);
    calls_state_print(&s, &once);
    MUST(calls_state_parse(buf_slice(&once), &back, &e) == 0 && back.n == s.n);
    calls_state_print(&back, &again);
    MUST(slice_eq(buf_slice(&once), buf_slice(&again)));
    calls_state_free(&s);
    calls_state_free(&back);
    buf_deinit(&once);
    buf_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf whole = BUF_INIT(CALLS_STATE_MAX);
    slice text = {(const char *)data, size};
    if (size > CALLS_STATE_MAX / 2)
        return 0;
    read_as(text);
    buf_add(&whole, text);
    buf_addf(&whole, "end %016" PRIx64 "\n", hash_slice(text));
    read_as(buf_slice(&whole));
    buf_deinit(&whole);
    return 0;
}
