/* SPDX-License-Identifier: Apache-2.0
 *
 * The compiler: clang's front end makes bitcode before anything is optimised, we add sites, states and
 * facts to it, and LLVM makes the object of it, in one process.
 *
 *   argv.c      what the words of a command line mean
 *   main.c      the steps: front end, unit, emission, link       run.c: the programs that carry them out
 *   unit.c      one module: read, instrumented, verified, optimised, emitted      relax.c: its relocations
 *   sites.c     calls that can fail become calls of thunks      calls.list: which those are
 *   origins.c   functions that can find an error themselves fail at their entry
 *   states.c    stores that say which state a task is in
 *   analyse.h   what these share: cfg.c control dependence, depend.c data dependence, returns.c what is
 *               returned and why, names.c names of state variables, calls.c what calls are
 *   facts.c     what outfox needs to know of a unit to find tasks over all of them
 *
 * What is instrumented in what order: states and origins are analysed before sites are rewritten, so that no
 * analysis sees thunks. */
#ifndef OUTFOX_CC_CC_H
#define OUTFOX_CC_CC_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/err.h"
#include "base/hash.h"
#include "outfox/abi.h"

/* A module while it is being instrumented. */
struct unit {
    LLVMContextRef context;
    LLVMModuleRef module;
    const char *file; /* as it was named on the command line */

    /* declarations of the runtime, and types of records; filled by unit.c */
    LLVMTypeRef site_type, state_type, function_type;
    LLVMValueRef on, now, hook; /* outfox_on, outfox_now, outfox_hook */
    LLVMTypeRef hook_type;
};

/* Each adds what its file is about. They never fail: what they do not understand stays as it is. */
void facts_add(struct unit *u); /* first: it sees the program as it was written */
void states_add(struct unit *u);
void origins_add(struct unit *u);
void sites_add(struct unit *u);

/* A text in the module's constants; the offset from the field of a record (a constant of 32 bits). */
LLVMValueRef unit_text(struct unit *u, const char *text);
LLVMValueRef unit_offset(struct unit *u, LLVMValueRef record, unsigned field, LLVMValueRef to);

/* A record of `type` in `section`, without an initialiser: who needs offsets into it names it first. */
LLVMValueRef unit_record(struct unit *u, LLVMTypeRef type, const char *section);

/* `names` of a record: a hash of its texts. */
static inline uint32_t unit_names(const char *a, const char *b, const char *c)
{
    return hash_fold(hash_mix(hash_mix(hash_slice(slice_of(a)), hash_slice(slice_of(b))),
                              hash_slice(slice_of(c))));
}

/* A function that several units may define (inline, a template) has its records once in a program: what
 * differs between two of a section and a function is `index`. */
void unit_share(struct unit *u, LLVMValueRef record, LLVMValueRef function, unsigned index);

/* What a unit is to become. */
struct unit_options {
    const char *file;
    const char *level; /* of optimisation: "0" to "3", "s", "z" */
    bool debug;        /* debug information is kept; else it only tells us lines */
    bool by_clang;     /* clang makes the object: bitcode is wanted */
    bool plain;        /* not to be instrumented */
};

enum unit_result {
    UNIT_OBJECT, /* *out is an object */
    UNIT_BITCODE, /* *out is bitcode that clang can make it of, and that tells what is wrong, if anything is */
    UNIT_WRONG,  /* there are mistakes in the source that only show now, as in inline assembler */
    UNIT_FAILED, /* *e says why */
};

/* relax.c: what clang asks of linkers and LLVM's C interface does not. */
void unit_relax(struct buf *object);

/* From clang's bitcode to an object, in process. */
enum unit_result unit_compile(slice bitcode, const struct unit_options *o, struct buf *out,
                              struct err *e) MUST_USE;

/* File and line of an instruction, or of a function; line 0: not known. The file is copied. */
unsigned unit_line(LLVMValueRef v, char *file, size_t room, unsigned *column);

#endif
