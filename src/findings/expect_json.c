/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "data/pointer.h"
#include "findings/expect_int.h"

json_t *expect_json_parse(slice text, json_error_t *e)
{
    enum { FLAGS = JSON_DECODE_ANY | JSON_ALLOW_NUL };
    json_t *doc = json_loadb(text.n ? text.p : "", text.n, FLAGS, e);
    if (!doc && json_error_code(e) == json_error_numeric_overflow) /* 2^64 is JSON as well */
        doc = json_loadb(text.p, text.n, FLAGS | JSON_DECODE_INT_AS_REAL, e);
    return doc;
}

/* ---- pointers ---- */

const json_t *expect_json_at(const json_t *from, slice pointer)
{
    struct buf key = BUF_INIT(pointer.n + 1);
    uint64_t i;
    if (!pointer_valid(pointer))
        from = NULL;
    while (from && pointer_next(&pointer, &key)) {
        if (json_is_array(from))
            from = pointer_index(buf_slice(&key), &i) ? json_array_get(from, (size_t)i) : NULL;
        else
            from = json_object_getn(from, buf_text(&key), key.n);
    }
    buf_deinit(&key);
    return from;
}

/* ---- equality ---- */

/* A double does not tell large whole numbers apart, but their digits do. */
static bool number_is(const json_t *value, const struct node *expected)
{
    enum { EXACT_BITS = 53 };
    double got = json_number_value(value);
    if (!json_is_number(value) || isnan(expected->num) || islessgreater(got, expected->num))
        return false;
    if (!json_is_integer(value) || fabs(got) < ldexp(1, EXACT_BITS) || expected->text.n == 0)
        return true;
    struct buf digits = BUF_INIT(32);
    buf_addf(&digits, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    bool whole = true; /* or something like 1e20, which is not that exact itself */
    for (size_t i = 0; i < expected->text.n; i++)
        whole &= strchr("+-0123456789", expected->text.p[i]) != NULL;
    bool same = !whole || slice_eq(buf_slice(&digits), expected->text);
    buf_deinit(&digits);
    return same;
}

static bool list_is(const json_t *value, const struct node *expected)
{
    if (!json_is_array(value) || json_array_size(value) != expected->n)
        return false;
    for (uint32_t i = 0; i < expected->n; i++)
        if (!expect_json_is(json_array_get(value, i), expected->list[i]))
            return false;
    return true;
}

static bool map_is(const json_t *value, const struct node *expected)
{
    if (!json_is_object(value) || json_object_size(value) != expected->n)
        return false;
    for (uint32_t i = 0; i < expected->n; i++) {
        slice key = expected->map[i].key;
        const json_t *item = json_object_getn(value, key.p, key.n);
        if (!item || !expect_json_is(item, expected->map[i].value))
            return false;
    }
    return true;
}

bool expect_json_is(const json_t *value, const struct node *expected)
{
    switch (expected->type) {
    case NODE_NULL: return json_is_null(value);
    case NODE_BOOL: return json_is_boolean(value) && json_is_true(value) == expected->boolean;
    case NODE_NUM: return number_is(value, expected);
    case NODE_STR:
        return json_is_string(value) &&
               slice_eq((slice){json_string_value(value), json_string_length(value)},
                        expected->text);
    case NODE_LIST: return list_is(value, expected);
    case NODE_MAP: return map_is(value, expected);
    }
    return false;
}
