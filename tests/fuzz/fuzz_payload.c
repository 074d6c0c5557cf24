// SPDX-License-Identifier: Apache-2.0
//
// Payloads. The first byte chooses: a body (of JSON, a form, protobuf or something else), lines
// that are calls of fault-free runs, or the text of what was learned.
//
// 1. Fields are bounded and sorted, and the same for the same body whatever was read before.
// 2. JSON means the same however it is written: sorted and indented it has the same fields.
// 3. What is used tells siblings apart, in runs that agree. Printed and parsed it decides the same.

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/printable.h"
#include "data/json.h"
#include "fuzz/must.h"
#include "track/payload.h"

enum { BYTES_MAX = 1 << 16, CALLS_MAX = 64 };

static const int64_t now = INT64_C(1700000000) * 1000000000;

static bool same(const struct payload *a, const struct payload *b)
{
    bool equal = a->fields.n == b->fields.n;
    for (uint32_t i = 0; equal && i < a->fields.n; i++)
        equal = a->fields.at[i].path == b->fields.at[i].path &&
                a->fields.at[i].value == b->fields.at[i].value &&
                a->fields.at[i].volatile_ == b->fields.at[i].volatile_;
    return equal;
}

// The same value, written in another way: keys backwards, a line per item, all letters escaped.
static void rewrite(const struct node *node, struct buf *out)
{
    if (node->type == NODE_STR) {
        slice rest = node->text;
        buf_addc(out, '"');
        while (rest.n) {
            uint32_t c = glyph_take(&rest).code;
            if (c >= 0x10000)
                buf_addf(out, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)),
                         (unsigned)(0xdc00 + ((c - 0x10000) & 0x3ff)));
            else
                buf_addf(out, "\\u%04X", (unsigned)c);
        }
        buf_addc(out, '"');
    } else if (node->type == NODE_LIST) {
        buf_adds(out, "[\n");
        for (uint32_t i = 0; i < node->n; i++) {
            rewrite(node->list[i], out);
            buf_adds(out, i + 1 < node->n ? " ,\n" : "\n");
        }
        buf_addc(out, ']');
    } else if (node->type == NODE_MAP) {
        buf_adds(out, "{\n");
        for (uint32_t i = node->n; i-- > 0;) {
            struct node key = {.type = NODE_STR, .text = node->map[i].key};
            rewrite(&key, out);
            buf_adds(out, " : ");
            rewrite(node->map[i].value, out);
            buf_adds(out, i ? " ,\n" : "\n");
        }
        buf_addc(out, '}');
    } else {
        node_print(node, out);
    }
}

static void check_rewritten(slice body, const struct payload *p)
{
    struct arena a = {0};
    const struct node *json;
    struct buf text = BUF_INIT(1 << 20);
    struct payload again = {.fields = {0}};
    if (node_parse_json(&a, body, &json) == 0 && p->fields.n > 1) {
        rewrite(json, &text);
        payload_read(SLICE("text/json"), buf_slice(&text), now, &again);
        MUST(text.full || same(p, &again));
    }
    payload_deinit(&again);
    buf_deinit(&text);
    arena_deinit(&a);
}

static void read_body(uint8_t kind, slice body)
{
    static const char *const types[] = {"application/json", "application/x-www-form-urlencoded",
                                        "application/grpc", "text/plain", ""};
    slice type = slice_of(types[kind % 5]);
    struct payload p = {.fields = {0}}, again = {.fields = {0}};
    payload_read(type, body, now, &p);
    MUST((p.fields.n == 0) == (body.n == 0));
    MUST(p.fields.n <= PAYLOAD_FIELDS_MAX);
    MUST((payload_hash_all(&p) == 0) == (p.fields.n == 0));
    for (uint32_t i = 1; i < p.fields.n; i++)
        MUST(p.fields.at[i - 1].path <= p.fields.at[i].path);
    payload_read(SLICE("application/json"), SLICE("{\"a\":[1,2,3]}"), now, &again);
    payload_read(type, body, now, &again);
    MUST(same(&p, &again));
    if (kind == 0)
        check_rewritten(body, &p);
    payload_deinit(&p);
    payload_deinit(&again);
}

static void check_text(const struct payload_rules *r, const uint64_t *interfaces, uint32_t n)
{
    struct buf text = BUF_INIT(1 << 24), second = BUF_INIT(1 << 24);
    struct payload_rules *again = payload_rules_new();
    payload_rules_print(r, &text);
    MUST(payload_rules_parse(again, buf_slice(&text)) == 0);
    payload_rules_print(again, &second);
    MUST(slice_eq(buf_slice(&text), buf_slice(&second)));
    for (uint32_t i = 0; i < n; i++)
        MUST(payload_used(r, interfaces[i]) == payload_used(again, interfaces[i]));
    payload_rules_free(again);
    buf_deinit(&text);
    buf_deinit(&second);
}

// RUN INTERFACE PLACE and a body, a byte each but for the body, per line.
static void learn(slice text)
{
    struct payload_rules *r = payload_rules_new();
    struct payload p[CALLS_MAX];
    uint64_t interface[CALLS_MAX];
    uint32_t n = 0;
    slice line;
    while (n < CALLS_MAX && slice_cut(&text, '\n', &line)) {
        if (line.n < 3)
            continue;
        p[n] = (struct payload){.fields = {0}};
        interface[n] = (uint8_t)line.p[1] % 4;
        payload_read((slice){0}, slice_from(line, 3), now, &p[n]);
        payload_read_target(slice_from(line, 3), now, &p[n]);
        payload_learn(r, (uint8_t)line.p[0] % 4, interface[n], (uint8_t)line.p[2] % 4, n, &p[n],
                      interface[n] % 2 != 0);
        n++;
    }
    payload_decide(r);
    uint32_t differ[4] = {0}, first[4] = {0};
    bool met[4] = {false};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = (uint32_t)interface[i], h = payload_hash_of(r, k, &p[i]);
        MUST(h == 0 || (payload_used(r, k) && p[i].fields.n > 0));
        differ[k] += met[k] && h != first[k];
        first[k] = met[k] ? first[k] : h;
        met[k] = true;
    }
    for (uint32_t k = 0; k < 4; k++)
        MUST(!payload_used(r, k) || differ[k] > 0);
    check_text(r, interface, n);
    for (uint32_t i = 0; i < n; i++)
        payload_deinit(&p[i]);
    payload_rules_free(r);
}

static void parse(slice text)
{
    struct payload_rules *r = payload_rules_new();
    if (payload_rules_parse(r, text) == 0)
        check_text(r, NULL, 0);
    payload_rules_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > BYTES_MAX)
        return 0;
    slice rest = {(const char *)data + 1, size - 1};
    if (data[0] == 'L')
        learn(rest);
    else if (data[0] == 'T')
        parse(rest);
    else
        read_body(data[0] % 5, rest);
    return 0;
}
