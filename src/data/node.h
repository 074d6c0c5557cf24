/* SPDX-License-Identifier: Apache-2.0
 *
 * node: a JSON-like value. It is what a YAML file is read into (then it knows its line and column),
 * and what the simulator computes with. Nodes are immutable once built and live in an arena;
 * sharing is free. */
#ifndef OUTFOX_DATA_NODE_H
#define OUTFOX_DATA_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

enum node_type { NODE_NULL, NODE_BOOL, NODE_NUM, NODE_STR, NODE_LIST, NODE_MAP };

struct node {
    enum node_type type;
    uint32_t line, col; /* 1-based; 0: was not read from a file */
    uint32_t n;         /* items of a list or map */
    uint32_t depth;     /* levels below this one, as of node_seal */
    uint32_t weight;    /* nodes below this one, shared ones counted each time, as of node_seal */
    union {
        bool boolean;
        double num;
        const struct node **list;
        struct node_pair *map; /* keys are unique, in the order of the file */
    };
    slice text; /* scalars as they were written; the value of a string */
};

struct node_pair {
    slice key;
    uint32_t line, col;
    const struct node *value;
};

extern const struct node node_null, node_true, node_false;

const struct node *node_num(struct arena *a, double num);
const struct node *node_str(struct arena *a, slice text); /* text is not copied */

/* Empty, with room for n. The caller fills list[] or map[]. */
struct node *node_list(struct arena *a, uint32_t n);
struct node *node_map(struct arena *a, uint32_t n);

/* A deep copy: nothing of it is shared with the original. */
const struct node *node_copy(struct arena *a, const struct node *node);

/* Sets depth and weight of a filled list or map from those of its items. What is computed from
 * shared parts can be exponentially large to walk: whoever computes looks at these first. */
void node_seal(struct node *node);

/* The value under a key, or NULL (also when it is no map). */
const struct node *node_get(const struct node *map, slice key);

/* Follows a path of keys and indexes, "items/0/id"; node_null when something is not there. */
const struct node *node_at(const struct node *from, slice path);

/* The value with another one at such a path, or without the one there (NULL); `from` itself when
 * there is none. What is not on the path is shared. As deep as the path is long. */
const struct node *node_replace(struct arena *a, const struct node *from, slice path,
                                const struct node *value);

/* The digits of a whole number that is too large for a double to hold it exactly, as they were
 * written; empty: it is none, or it was computed. */
slice node_digits(const struct node *n);

/* Deep equality; 1 and 1.0 are equal, maps compare without order. Large whole numbers are equal
 * when their digits are. */
bool node_eq(const struct node *a, const struct node *b);

/* One-line JSON, as much of it as fits into the buffer (data/json.h writes longer documents). */
void node_print(const struct node *node, struct buf *out);

/* A JSON string literal: valid UTF-8 whatever comes in, harmless wherever it is printed. */
void buf_add_json_string(struct buf *out, slice s);

/* "a list", "a map", "a number" ... for messages */
const char *node_type_name(enum node_type type);

/* ---- JSON pointers, RFC 6901: /items/0/id; ~1 is a slash, ~0 a tilde, the empty one is the whole */

/* Is it one? */
bool pointer_valid(slice text);

/* Appends one step, escaped. */
void pointer_add(struct buf *path, slice key);

/* Takes the next step off *rest, a valid pointer, to *key, without its escapes. False: it had
 * ended. */
bool pointer_next(slice *rest, struct buf *key) MUST_USE;

/* The place in a list that a step means; false: none. (No zeros in front.) */
bool pointer_index(slice step, uint64_t *out) MUST_USE;

/* The value that a pointer leads to; NULL: there is none, or it is no pointer. */
const struct node *pointer_at(const struct node *from, slice pointer);

#endif
