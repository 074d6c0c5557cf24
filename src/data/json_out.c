/* SPDX-License-Identifier: Apache-2.0 */
#include "data/json_out.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/printable.h"

/* ---- strings and numbers ---- */

/* Brief: \n and its like for the control characters that have one. */
static void add_string(struct buf *out, slice s, bool brief)
{
    static const char letters[] = "\b\f\n\r\t", names[] = "bfnrt";
    size_t plain = 0; /* from here to i nothing needs a backslash */
    buf_addc(out, '"');
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c >= 0x20 && c != '"' && c != '\\')
            continue;
        printable_json((slice){s.p + plain, i - plain}, out);
        const char *letter = brief && c ? strchr(letters, c) : NULL;
        if (letter)
            buf_addf(out, "\\%c", names[letter - letters]);
        else if (c < 0x20)
            buf_addf(out, brief ? "\\u%04X" : "\\u%04x", (unsigned)c);
        else
            buf_addf(out, "\\%c", c);
        plain = i + 1;
    }
    if (plain < s.n)
        printable_json(slice_from(s, plain), out);
    buf_addc(out, '"');
}

void buf_add_json_string(struct buf *out, slice s)
{
    add_string(out, s, false);
}

/* The shortest text that is read back to the same number. */
static void add_number(struct buf *out, const struct node *number)
{
    slice exact = node_digits(number);
    double num = number->num;
    char text[64];
    if (exact.n) {
        buf_add(out, exact);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, num);
        if (!islessgreater(strtod(text, NULL), num))
            break;
    }
    if (fabs(num) < 1e17 && !islessgreater(num, floor(num)))
        snprintf(text, sizeof text, "%lld", (long long)num);
    buf_adds(out, text);
}

/* ---- what stands between values ---- */

static void add_line(struct json_out *j)
{
    buf_addc(j->to, '\n');
    for (uint32_t i = 0; i < j->depth; i++)
        buf_adds(j->to, "  ");
}

/* Everything in front of a value; `key` NULL: it has none, or has written it. */
static void add_key(struct json_out *j, const slice *key)
{
    if (j->at == JSON_AT_NEXT)
        buf_adds(j->to, j->style == JSON_SPACED ? ", " : ",");
    if (j->at != JSON_AT_VALUE && j->style == JSON_PRETTY && j->depth)
        add_line(j);
    j->at = JSON_AT_NEXT;
    if (!key)
        return;
    add_string(j->to, *key, j->style == JSON_PRETTY);
    buf_adds(j->to, j->style == JSON_COMPACT ? ":" : ": ");
}

static struct buf *before(struct json_out *j, const char *key)
{
    slice text = slice_of(key ? key : "");
    add_key(j, key ? &text : NULL);
    return j->to;
}

static void add_open(struct json_out *j, const char *key, char bracket)
{
    buf_addc(before(j, key), bracket);
    j->depth++;
    j->at = JSON_AT_FIRST;
}

static void add_close(struct json_out *j, char bracket)
{
    j->depth--;
    if (j->style == JSON_PRETTY && j->at == JSON_AT_NEXT)
        add_line(j);
    buf_addc(j->to, bracket);
    j->at = JSON_AT_NEXT;
}

/* ---- the face ---- */

void json_map(struct json_out *j, const char *key)
{
    add_open(j, key, '{');
}

void json_map_end(struct json_out *j)
{
    add_close(j, '}');
}

void json_list(struct json_out *j, const char *key)
{
    add_open(j, key, '[');
}

void json_list_end(struct json_out *j)
{
    add_close(j, ']');
}

void json_key(struct json_out *j, slice key)
{
    add_key(j, &key);
    j->at = JSON_AT_VALUE;
}

void json_str(struct json_out *j, const char *key, slice text)
{
    add_string(before(j, key), text, j->style == JSON_PRETTY);
}

void json_text(struct json_out *j, const char *key, const char *text)
{
    if (text)
        json_str(j, key, slice_of(text));
    else
        json_nil(j, key);
}

void json_take(struct json_out *j, const char *key, struct buf *text)
{
    json_str(j, key, buf_slice(text));
    buf_clear(text);
}

void json_int(struct json_out *j, const char *key, int64_t number)
{
    buf_addf(before(j, key), "%lld", (long long)number);
}

void json_uint(struct json_out *j, const char *key, uint64_t number)
{
    char digits[DIGITS_MOST];
    buf_add(before(j, key), slice_of_u64(number, digits));
}

void json_bool(struct json_out *j, const char *key, bool value)
{
    buf_adds(before(j, key), value ? "true" : "false");
}

void json_nil(struct json_out *j, const char *key)
{
    buf_adds(before(j, key), "null");
}

void json_num(struct json_out *j, const char *key, double number)
{
    if (fabs(number) < 9007199254740992.0 && !islessgreater(number, floor(number))) {
        json_int(j, key, (int64_t)number);
        return;
    }
    char text[64];
    snprintf(text, sizeof text, "%.15g", number);
    size_t digits = strcspn(text, "e");
    buf_add(before(j, key), (slice){text, digits});
    if (text[digits]) /* 1e+20 and 1e-07 are 1e20 and 1e-7 */
        buf_addf(j->to, "e%ld", strtol(text + digits + 1, NULL, 10));
}

void json_node(struct json_out *j, const char *key, const struct node *value)
{
    enum node_type type = value ? value->type : NODE_NULL;
    if (j->to->full)
        return;
    switch (type) {
    case NODE_NULL: json_nil(j, key); break;
    case NODE_BOOL: json_bool(j, key, value->boolean); break;
    case NODE_NUM: add_number(before(j, key), value); break;
    case NODE_STR: json_str(j, key, value->text); break;
    case NODE_LIST:
        json_list(j, key);
        for (uint32_t i = 0; i < value->n; i++)
            json_node(j, NULL, value->list[i]);
        json_list_end(j);
        break;
    case NODE_MAP:
        json_map(j, key);
        for (uint32_t i = 0; i < value->n; i++) {
            json_key(j, value->map[i].key);
            json_node(j, NULL, value->map[i].value);
        }
        json_map_end(j);
        break;
    }
}

void node_print(const struct node *node, struct buf *out)
{
    struct json_out j = json_out(out, JSON_SPACED);
    json_node(&j, NULL, node);
}
