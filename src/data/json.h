/* SPDX-License-Identifier: Apache-2.0
 *
 * JSON: bytes to nodes, and the one writer.
 *
 * What is read is strict RFC 8259: one value with nothing but blanks around it, in UTF-8 without
 * surrogates.
 *
 * The writer appends to a buffer, in the order of the calls, and puts commas, blanks and brackets
 * where they belong:
 *
 *     struct json_out j = json_out(&text, JSON_PRETTY);
 *     json_map(&j, NULL);
 *     json_text(&j, "system", name);
 *     json_list(&j, "runs");
 *     for (...)
 *         json_uint(&j, NULL, runs[i]);
 *     json_list_end(&j);
 *     json_map_end(&j);
 *
 * 1. A value takes its key with it: NULL in a list, for the whole, and after json_key.
 * 2. Strings are valid UTF-8 whatever comes in (U+FFFD for a byte that is none), and harmless
 *    wherever they are printed (base/printable.h).
 * 3. What is written is JSON as long as begins and ends are paired and the buffer is not full. */
#ifndef OUTFOX_DATA_JSON_H
#define OUTFOX_DATA_JSON_H

#include "data/node.h"

enum {
    JSON_DEPTH_MAX = 64,
    JSON_NODES_MAX = 1 << 20,
    JSON_BYTES_MAX = 64 << 20,
};

/* 0, or -1 when it is not JSON, a key is there twice, or a bound is passed; *out is untouched then.
 * The nodes live in the arena; numbers and strings without escapes are slices of `bytes`, which
 * must live as long. */
int node_parse_json(struct arena *a, slice bytes, const struct node **out) MUST_USE;

/* ---- writing ---- */

/*  JSON_COMPACT   {"a":1,"b":[2,3]}        lines for programs
 *  JSON_SPACED    {"a": 1, "b": [2, 3]}    one line for people
 *  JSON_PRETTY    two blanks per level, a line per value; \n for a newline instead of \u000a */
enum json_style { JSON_COMPACT, JSON_SPACED, JSON_PRETTY };

struct json_out {
    struct buf *to;
    enum json_style style;
    uint32_t depth;
    enum { JSON_AT_FIRST, JSON_AT_NEXT, JSON_AT_VALUE } at; /* what comes; VALUE: of a key */
};

static inline struct json_out json_out(struct buf *to, enum json_style style)
{
    return (struct json_out){.to = to, .style = style};
}

void json_map(struct json_out *j, const char *key);
void json_map_end(struct json_out *j);
void json_list(struct json_out *j, const char *key);
void json_list_end(struct json_out *j);

/* A key that is no literal; its value comes next, with NULL for a key. */
void json_key(struct json_out *j, slice key);

void json_str(struct json_out *j, const char *key, slice text);
void json_text(struct json_out *j, const char *key, const char *text); /* null for NULL */
void json_take(struct json_out *j, const char *key, struct buf *text); /* which is cleared */
void json_int(struct json_out *j, const char *key, int64_t number);
void json_uint(struct json_out *j, const char *key, uint64_t number);
void json_bool(struct json_out *j, const char *key, bool value);
void json_nil(struct json_out *j, const char *key);

/* A figure: whole numbers below 2^53 as such, others with 15 digits. Finite ones only. */
void json_num(struct json_out *j, const char *key, double number);

/* A whole value, numbers in the shortest form that reads back the same; null for NULL. */
void json_node(struct json_out *j, const char *key, const struct node *value);

#endif
