/* SPDX-License-Identifier: Apache-2.0
 *
 * Maps of files that people write, read by tables. A row is a key: which type its value has, within
 * which bounds, where it goes, what holds without it, and a sentence about it. From the rows come
 *
 *   keys_read     the values, in a struct
 *   errors        with their place: unknown keys with the nearest known one, keys that are missing,
 *                 values of another type or out of bounds
 *   keys_set      the same for one key of the command line
 *   keys_schema   the JSON Schema, for editors and for the checks of the documents
 *
 * 1. Rows are read in the order of the table, whatever the order of the file: one may rely on those
 *    above it.
 * 2. Texts are not copied: what is read lives as long as the nodes (those of keys_set: as the arena).
 * 3. After an error the struct is filled as far as the reading came; it can be freed as a whole. */
#ifndef OUTFOX_DATA_KEYS_H
#define OUTFOX_DATA_KEYS_H

#include "base/err.h"
#include "base/vec.h"
#include "data/node.h"
#include "data/regex.h"

enum key_type {
    KEY_OTHER,  /* by `read` alone */
    KEY_TEXT,   /* slice; any scalar, not empty */
    KEY_STRING, /* the same as const char * */
    KEY_SWITCH, /* bool: true or false, on or off */
    KEY_U16,    /* whole numbers from `least` to `most` */
    KEY_U32,
    KEY_U64,
    KEY_DURATION, /* int64_t ns, from `least` to `most` (0: 1000h) */
    KEY_WORD,     /* uint32_t or an enum: which of its words */
    KEY_TEXTS,    /* struct texts: a list of texts */
    KEY_PAIRS,    /* struct text_pairs: a map of texts, each looked at by `pair` first */
    KEY_NODE,     /* const struct node *: a map, as it is */
    KEY_MAP,      /* a map, by the table `inner`; `field` is where its struct begins */
    KEY_LIST,     /* a list with `least` to `most` (0: 1000) items, each taken by `read` */
    KEY_EACH,     /* a map with `least` to `most` (0: 1000) pairs of people's own, each by `pair` */
};

/* To be used as a VEC; they have a name so that a row can say where one is. */
struct texts {
    slice *at;
    uint32_t n, cap;
};
struct text_pair {
    slice name, value;
};
struct text_pairs {
    struct text_pair *at;
    uint32_t n, cap;
};

struct keys_reader {
    struct err *e;
    struct arena *arena; /* for what keys_set and the functions of the rows keep */
    void *ctx;           /* whatever else the functions of the rows need */
};

struct key;
typedef int key_read(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value);
typedef int key_pair(struct keys_reader *r, const struct key *key, void *into,
                     const struct node_pair *pair);

struct key {
    const char *name;
    enum key_type type;
    size_t field; /* in the struct that the table fills */
    uint64_t least, most;
    const struct keys *inner;
    const char *const *words;      /* KEY_WORD: all that it can be, up to NULL */
    const char *(*word)(size_t i); /* the same by a function */
    bool alone;                    /* KEY_LIST: one item may stand without a list */
    key_read *read; /* reads the value, or an item; of other types: checks what was read */
    key_pair *pair;
    const char *needed;   /* it must be there, written so: "version: 1" */
    const char *schema;   /* of its value, or of an item: where the type does not say it */
    const char *fallback; /* what holds without it, for people; NULL: nothing */
    const char *doc;
    size_t given; /* where a bool is that becomes true with the key; 0: there is none */
};

/* What a map may have. */
struct keys {
    const char *what; /* "a service", for messages */
    const char *name; /* of its definition in the schema */
    const struct key *row;
    size_t n;
    const char *schema; /* what holds between its keys; NULL: nothing */
    key_pair *other;    /* takes keys that have no row (its `key` is NULL); 1: it is unknown */
    const char *others; /* how those are written, for messages */
};

/* {"a service", "service", KEY_ROWS(service_rows)} */
#define KEY_ROWS(rows) .row = (rows), .n = sizeof(rows) / sizeof *(rows)

/* Reads a map into a struct. 0, or -1 with the error. */
int keys_read(struct keys_reader *r, const struct keys *keys, void *into,
              const struct node *map) MUST_USE;

/* Sets one key from the command line; of a list and of a map (NAME=VALUE; NAME alone turns a switch
 * on) one item. */
int keys_set(struct keys_reader *r, const struct keys *keys, void *into, slice key,
             slice text) MUST_USE;

const struct key *keys_find(const struct keys *keys, slice name);

/* ---- for the functions of rows ---- */

static inline void *key_field(const struct key *key, void *into)
{
    return (char *)into + key->field;
}

/* Sets the error at the place of a value; -1. */
int keys_fail(struct keys_reader *r, const struct node *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Is it this type? Is it text, a number, true or false? 0 or -1. */
int keys_want(struct keys_reader *r, const char *key, const struct node *value,
              enum node_type type) MUST_USE;
int keys_want_scalar(struct keys_reader *r, const char *key, const struct node *value) MUST_USE;

int keys_duration(struct keys_reader *r, const struct key *key, const struct node *value,
                  int64_t *out) MUST_USE;

/* Which of the key's words it is. */
int keys_word(struct keys_reader *r, const struct key *key, const struct node *value,
              uint32_t *out) MUST_USE;

/* A number from least to most; a regular expression, and its text. */
int keys_number(struct keys_reader *r, const char *key, const struct node *value, double least,
                double most, double *out) MUST_USE;
int keys_regex(struct keys_reader *r, const char *key, const struct node *value, slice *pattern,
               const struct regex **out) MUST_USE;

/* A name that people give to something of theirs: letters, digits, "-", "_" and perhaps ".". `what`
 * as in "the name of a service". */
enum { NAME_BYTES_MAX = 100 };
bool name_valid(slice name, bool dots);
int keys_name(struct keys_reader *r, slice name, uint32_t line, uint32_t col, const char *what,
              bool dots) MUST_USE;

/* ---- the schema ---- */

/* JSON Schema (draft 2020-12) of a file whose map has these keys. What it refuses the program
 * refuses too, not the other way round. */
void keys_schema(const struct keys *keys, const char *title, struct buf *out);

#endif
