/* SPDX-License-Identifier: Apache-2.0
 *
 * The way from a file to what it says:
 *
 *   bytes --image.c--> sections --records.c--> sites, functions, states
 *                         |
 *                         `--facts.c--> who calls, passes and keeps whom --tasks.c--> tasks */
#ifndef OUTFOX_NATIVE_NATIVE_INT_H
#define OUTFOX_NATIVE_NATIVE_INT_H

#include "base/index.h"
#include "native/native.h"

/* ---- image.c ---- */

/* A file of the linker, as bytes; all is inside of them. */
struct image {
    slice bytes;
    uint64_t segments, n_segments; /* offset of the program headers, and how many */
    uint64_t sections, n_sections; /* likewise; of the section headers */
    slice names;                   /* of sections */
};

/* A section, where it is in the file and in memory. */
struct section {
    slice bytes;
    uint64_t address;
    bool found, empty; /* empty: it has a size, but no bytes in this file */
};

/* 0, or -1 with *e: what the bytes are instead. */
int image_open(struct image *m, slice bytes, struct err *e) MUST_USE;

/* 0, or -1 with *e: it reaches beyond the file. !out->found: there is none. */
int image_section(const struct image *m, const char *name, struct section *out,
                  struct err *e) MUST_USE;

/* All that is loaded from the file from this address on; p NULL: nothing. */
slice image_at(const struct image *m, uint64_t address);

/* ---- records.c ---- */

/* Appends what the sections hold. 0, or -1 with *e: what is wrong with which record. */
int records_read(const struct image *m, struct native *n, struct err *e) MUST_USE;

/* ---- facts.c ---- */

/* A function that a unit defines. Of global ones that several units define (inline ones of C++), all are the
 * first. */
struct fact_function {
    slice name;
    uint32_t unit, line;
    bool local;
};

enum fact_kind { FACT_CALL, FACT_LOOP, FACT_PASSED, FACT_FORWARDS, FACT_STORED };

/* What is said of functions: indices of those that units define, NATIVE_NONE of others. */
struct fact {
    enum fact_kind kind;
    uint32_t function; /* who calls, forwards; whose address is passed, kept */
    uint32_t callee;
    slice to;               /* name of the callee, or of the place */
    uint32_t argument, own; /* of the callee; FACT_FORWARDS: own: of the caller */
};

struct facts {
    VEC(slice) units;
    VEC(struct fact_function) functions;
    VEC(struct fact) facts;
};

/* Lines that make no sense are passed over. Texts are those of `text`. */
void facts_read(struct facts *f, slice text);
void facts_deinit(struct facts *f);

/* ---- tasks.c ---- */

/* Finds the tasks of a program whose records are read, and which functions belong to them. */
void tasks_find(struct native *n, slice facts, const struct native_options *o);

#endif
