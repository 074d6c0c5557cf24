/* SPDX-License-Identifier: Apache-2.0
 *
 * The compiler: clang's front end makes bitcode before anything is optimised, we add sites, states and
 * facts to it, and LLVM makes the object of it, in one process.
 *
 *   argv.c      what the words of a command line mean
 *   main.c      the steps: front end, unit, emission, link
 *   unit.c      one module: read, instrumented, verified, optimised, emitted
 *   sites.c     calls that can fail become calls of thunks      calls.list: which those are
 *   origins.c   functions that can find an error themselves fail at their entry
 *   states.c    stores that say which state a task is in         cfg.c, depend.c: control and data dependence
 *   facts.c     what outfox needs to know of a unit to find tasks over all of them
 *
 * What is instrumented in what order: states and origins are analysed before sites are rewritten, so that no
 * analysis sees thunks. */
#ifndef OUTFOX_CC_CC_H
#define OUTFOX_CC_CC_H

#include <llvm-c/Core.h>
#include <stdbool.h>

#include "base/err.h"
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

/* File and line of an instruction, or of a function; line 0: not known. The file is copied. */
unsigned unit_line(LLVMValueRef v, char *file, size_t room, unsigned *column);

#endif
