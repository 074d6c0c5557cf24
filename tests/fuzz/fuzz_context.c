// SPDX-License-Identifier: Apache-2.0
//
// Trace context: each line of the input is a field, `name: value`. The first byte chooses which
// dialects are written.
//
// 1. Whatever a request has, run and call are read back from what was written into it.
// 2. Fields that are none of ours stay, with their bytes and in their order; so do members of lists
//    as long as there is room.
// 3. Writing again changes nothing.

#include <stdint.h>

#include "fuzz/must.h"
#include "track/context.h"

enum { BYTES_MAX = 1 << 16, FIELDS_MAX = 256 };

static const struct trace_id ours = {1, 0xfedcba9876543210u};
static const slice custom[] = {{"x-mine", 6}, {"b3", 2}};

static bool is_ours(void *ctx, uint64_t run)
{
    MUST(run != 0);
    return run == ours.low || (run & *(const uint8_t *)ctx) != 0;
}

static uint32_t read_fields(slice text, struct field *fields)
{
    uint32_t n = 0;
    slice line;
    while (n < FIELDS_MAX && slice_cut(&text, '\n', &line)) {
        size_t colon = slice_find(line, ':');
        if (colon == line.n)
            continue;
        fields[n++] = (struct field){{line.p, colon}, slice_trim(slice_from(line, colon + 1))};
    }
    return n;
}

static bool is_list(slice name)
{
    return slice_eq_nocase(name, SLICE("tracestate")) || slice_eq_nocase(name, SLICE("baggage"));
}

// The fields before, lists apart, are a prefix of those after, lists apart.
static void check_others(const struct head *before, const struct head *after)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < before->n_fields; i++) {
        const struct field *f = &before->fields[i];
        if (is_list(f->name))
            continue;
        while (k < after->n_fields && is_list(after->fields[k].name))
            k++;
        MUST(k < after->n_fields && slice_eq(after->fields[k].name, f->name));
        MUST(after->fields[k].value.p == f->value.p && after->fields[k].value.n == f->value.n);
        k++;
    }
}

static void check_list(const struct head *after, slice name, uint32_t most)
{
    uint32_t lists = 0, members = 0;
    for (uint32_t i = 0; i < after->n_fields; i++) {
        slice rest = after->fields[i].value, part;
        if (!slice_eq_nocase(after->fields[i].name, name))
            continue;
        lists++;
        while (slice_cut(&rest, ',', &part)) {
            MUST(part.n > 0 && (members > 0) == !slice_starts(part, SLICE("outfox=f")));
            members++;
        }
    }
    MUST(lists == 1 && members >= 1 && members <= most);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct field fields[FIELDS_MAX];
    if (size < 2 || size > BYTES_MAX)
        return 0;
    uint8_t mask = data[1];
    uint32_t write = 1u << (data[0] & 1) | (uint32_t)data[0] << 2, call = data[1] * 0x01010101u;
    struct head before = {.fields = fields}, after = {0}, again = {0};
    struct context c;
    struct arena a = {0};
    before.n_fields = read_fields((slice){(const char *)data + 2, size - 2}, fields);
    context_read(&before, custom, 2, is_ours, &mask, &c);
    MUST((c.by == DIALECTS) == (c.run == 0) && c.seen < 1u << DIALECTS);
    MUST(c.by == DIALECTS || c.seen >> c.by & 1);
    MUST(c.call == UINT32_MAX || c.by <= DIALECT_BAGGAGE);
    context_write(&before, write, custom, 2, ours, call, &a, &after.fields, &after.n_fields);
    MUST(after.n_fields <= before.n_fields + 14);
    check_others(&before, &after);
    for (uint32_t i = 0; i < 2; i++)
        if (write >> i & 1)
            check_list(&after, i ? SLICE("baggage") : SLICE("tracestate"), i ? 64 : 32);
    uint8_t none = 0;
    context_read(&after, custom, 2, is_ours, &none, &c);
    MUST(c.run == ours.low && c.call == call && c.by == (data[0] & 1));
    context_write(&after, write, custom, 2, ours, call, &a, &again.fields, &again.n_fields);
    MUST(again.n_fields == after.n_fields);
    for (uint32_t i = 0; i < again.n_fields; i++)
        MUST(slice_eq(again.fields[i].value, after.fields[i].value));
    arena_deinit(&a);
    return 0;
}
