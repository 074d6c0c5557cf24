/* SPDX-License-Identifier: Apache-2.0
 *
 * What an instrumented program says about itself: its sites, functions and states, read from its file,
 * and what follows from its facts: which functions are tasks, and which states belong to them.
 *
 * 1. A file is hostile: nothing of it is believed without bounds, and the program is never run.
 * 2. What is read is in the order of the records, so indices mean the same here, in the program and in
 *    the file that they share while a trial lasts. */
#ifndef OUTFOX_NATIVE_NATIVE_H
#define OUTFOX_NATIVE_NATIVE_H

#include "base/arena.h"
#include "base/err.h"
#include "base/vec.h"
#include "outfox/abi.h"

#define NATIVE_NONE UINT32_MAX

/* Texts live in the arena of the binary. Indices are those of the records, as everywhere. */
struct native_site {
    slice file, function, callee;
    uint32_t line, column;
    enum outfox_site_kind kind;
    enum outfox_subject subject;
    uint8_t can;
    enum outfox_result result;
    uint32_t n_errors;
    struct native_error {
        int number;
        uint8_t where;
    } error[OUTFOX_ERRORS];
    enum outfox_reason reason;
    int32_t value; /* what is returned */
};

struct native_function {
    slice file, name; /* name: of the linker; C++ names are demangled where people read them */
    uint32_t line, flags;
    uint32_t first_state, n_states; /* of its states: these of `native.states` */
    uint32_t task;  /* the task that it belongs to (the nearest one), or NATIVE_NONE */
    uint32_t depth; /* from that task's entry: 0 is the entry itself */
    uint32_t
        caller; /* index of the function that it was reached from; NATIVE_NONE: of none with a record */
};

struct native_state {
    uint32_t function; /* index */
    slice variable;
    uint32_t line, branch, index;
};

/* What runs by itself: a thread, a callback, main. */
struct native_task {
    uint32_t function; /* index of its entry; NATIVE_NONE: the entry has no record, so no states */
    slice name, file;  /* of the entry */
    uint32_t line;
    slice why; /* "thread (pthread_create)", "callback (aeCreateFileEvent)", "main" */
};

struct native {
    struct arena arena;
    slice path;
    uint64_t id;    /* outfox_part_id */
    bool has_lines; /* of code addresses: it has debug information */
    bool has_facts; /* else only main is known to be a task */
    VEC(struct native_site) sites;
    VEC(struct native_function) functions;
    VEC(struct native_state) states;
    VEC(struct native_task) tasks;
};

/* How tasks are found: who registers functions, in which argument, and what they are then. The table of
 * the room (registrar.list) holds what is known of libraries; users add to it. */
struct native_registrar {
    slice function;    /* name; each * in it stands for anything */
    uint32_t argument; /* from 0; NATIVE_STORED: the name is of a place where functions are kept */
    slice kind;        /* "thread", "callback" */
};

#define NATIVE_STORED UINT32_MAX
enum { NATIVE_DEPTH = 2, NATIVE_DEPTH_MAX = 16 };

struct native_options {
    const struct native_registrar *registrars;
    uint32_t n_registrars;
    uint32_t depth; /* direct calls are followed so far; NATIVE_DEPTH where users say nothing */
};

/* "aeCreateFileEvent 3 callback", or "redisCommandTable stored handler". Its texts are those of `text`. */
int native_registrar_parse(slice text, struct native_registrar *out, struct err *e) MUST_USE;

/* Reads a program or a shared library. 0, or -1 with *e: what it is instead, and the remedy. native_free
 * may be called in either case. */
int native_read(const char *path, const struct native_options *o, struct native *out,
                struct err *e) MUST_USE;

/* The same of the bytes of such a file. */
int native_parse(slice bytes, const struct native_options *o, struct native *out,
                 struct err *e) MUST_USE;
void native_free(struct native *n);

/* Where an address (from where it is loaded) is: function and source line, as far as they are known. An
 * address to which a call returns is behind the call: ask for the one before it. */
struct native_place {
    slice function, file; /* empty: not known */
    uint32_t line;
};
struct native_symbols;
struct native_symbols *native_symbols_open(const char *path); /* NULL: cannot be read */
struct native_place native_place(struct native_symbols *s, uint64_t address);

/* The same with the functions into which that one was inlined, innermost first; at least one. */
uint32_t native_places(struct native_symbols *s, uint64_t address, struct native_place *out,
                       uint32_t most);
void native_symbols_free(struct native_symbols *s);

/* A linker's name as people write it: "shop::cart::add(int)". Others stay as they are, and so do all where
 * there is no C++ library. */
slice native_demangled(slice name, struct arena *a);

#endif
