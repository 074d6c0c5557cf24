/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line of a compiler, understood as far as needed: which words are sources, which of them
 * must be handed to which step, and what is asked for. What a word means is a row of a table in argv.c.
 *
 * 1. A word that is not known is handed to every step, and makes clang emit the object: it knows. */
#ifndef OUTFOX_CC_ARGV_H
#define OUTFOX_CC_ARGV_H

#include "base/arena.h"
#include "base/vec.h"

#include <stdbool.h>

/* The steps. clang makes bitcode of a source (front), an object of bitcode where we cannot do it alone
 * (back), and a program of objects (link). */
enum { FRONT = 1, BACK = 2, LINK = 4, COMPILE = FRONT | BACK, ALL = COMPILE | LINK };

enum word_kind { WORD_OPTION, WORD_SOURCE, WORD_INPUT };

struct word {
    const char *text, *argument; /* argument: the next word, where the option takes one; or NULL */
    enum word_kind kind;
    unsigned steps;       /* of an option: who is given it */
    const char *language; /* of a source: as for -x; NULL: none that we instrument */
};

/* What is to come of the command. */
enum goal {
    GOAL_PROGRAM,  /* a program or a shared library: what is compiled is linked */
    GOAL_OBJECT,   /* -c */
    GOAL_ASSEMBLY, /* -S */
    GOAL_OTHER,    /* what only clang does: -E, -M, --version ... */
};

struct argv {
    VEC(struct word) words;
    enum goal goal;
    const char *output; /* of -o; NULL: not given */
    const char *level;  /* of -O: "0" to "3", "s", "z" */
    const char *plain;  /* what keeps us from instrumenting: an option; NULL: nothing does */
    const char *linker; /* of -fuse-ld=; NULL: the usual one */
    unsigned sources;   /* that can be instrumented */
    unsigned inputs;    /* all that is no option */
    bool debug;         /* debug information is wanted */
    bool by_clang; /* an option says how objects are made that only clang knows how to follow */
    bool depends;  /* -MD, -MMD */
    bool depends_file, depends_target;
    bool coverage;        /* --coverage and its kind */
    bool lto;             /* was asked for, and is left out */
    bool no_libraries;    /* -nostdlib, -nodefaultlibs */
    bool names_libc;      /* -lc */
    bool shared, partial; /* -shared; -r */
    bool cplusplus;
};

/* Reads words[0..n-1], those behind the compiler's name; response files too. What is wrong with them
 * clang has to say: then the goal is GOAL_OTHER. */
void argv_read(struct argv *out, bool cplusplus, int n, char **words, struct arena *arena);
void argv_deinit(struct argv *a);

#endif
