/* SPDX-License-Identifier: Apache-2.0
 *
 * What the analyses of the compiler share: the graph of a function, what depends on what in it, and
 * names that people know. Nothing here changes a module. */
#ifndef OUTFOX_CC_ANALYSE_H
#define OUTFOX_CC_ANALYSE_H

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>

#include "base/index.h"
#include "base/str.h"
#include "base/vec.h"

struct values {
    LLVMValueRef *at;
    uint32_t n, cap;
};

/* ---- cfg.c: the graph of a function ----
 *
 * Edges are those of normal control flow. Unwinding is none, and neither is an edge to where nothing
 * but the program's end can follow (a failed assertion): what comes after a call that may throw, or
 * after an assertion, does not depend on it, in the sense of this analysis. */

#define FLOW_NONE UINT32_MAX

struct flow {
    LLVMValueRef function;
    uint32_t n;
    LLVMBasicBlockRef *block;
    struct map index;            /* of blocks */
    bool *dead;                  /* only the program's end follows */
    uint32_t *first_to, *to;     /* edges: to[first_to[b]] .. to[first_to[b + 1] - 1] */
    uint32_t *first_from, *from; /* the same, backwards */
    uint32_t *ipdom; /* the nearest block that all ways from here to an end meet; n: the end */
};

/* Of a function that has a body. */
struct flow *flow_new(LLVMValueRef function) MUST_USE;
void flow_free(struct flow *f);
uint32_t flow_index(const struct flow *f, LLVMBasicBlockRef block);

/* The blocks that certainly run when `block` does and whose running the branch at the end of `at`
 * decides: block, ipdom[block] ... before ipdom[at]. for (b = block; b != flow_stop(f, at); b = f->ipdom[b]) */
static inline uint32_t flow_stop(const struct flow *f, uint32_t at)
{
    return f->ipdom[at];
}

/* Which branches decide whether a block runs: the ends of blocks `at`, by their edges to `to`. */
struct control {
    uint32_t at, to;
};

struct controls {
    uint32_t *first; /* of block b: item[first[b]] .. item[first[b + 1] - 1] */
    struct control *item;
};

struct controls *controls_new(const struct flow *f) MUST_USE;
void controls_free(struct controls *c);

/* ---- depend.c: what depends on state variables ---- */

/* Is this an address of something that outlives the call: of a variable of the program, or of a field of
 * an object that is not the function's own? */
bool address_is_state(LLVMValueRef address);

/* The object that an address is in, through casts and offsets. */
LLVMValueRef address_base(LLVMValueRef address);

/* The values of a function that depend on state variables, each with the load that it has it from. */
struct taint {
    struct map source; /* value -> index of load */
    VEC(LLVMValueRef) load;
};

void taint_find(struct taint *t, LLVMValueRef function);
LLVMValueRef taint_of(const struct taint *t, LLVMValueRef value); /* NULL: it does not depend */
void taint_deinit(struct taint *t);

/* ---- calls.c: what calls are ---- */

/* The function that a call calls, through casts and aliases; NULL: it is not known. */
LLVMValueRef call_target(LLVMValueRef call);
bool is_call(LLVMValueRef v); /* call, invoke */
unsigned call_arguments(LLVMValueRef call);
slice value_name(LLVMValueRef v);
void name_copy(LLVMValueRef v, char *out, size_t room); /* cut, where it is longer */

/* A function of the compiler's own (llvm.*). */
bool is_intrinsic(LLVMValueRef function);

/* A function of the C library that looks at memory or changes memory that it is given, and does nothing else. */
bool is_pure(slice name);

/* Of C++'s standard library; the function of it that runs a thread. */
bool is_plumbing(slice name);
bool is_thread_run(slice name);

/* Does a word of the list (of small letters) occur in the name? */
bool name_has(slice name, const char *const *words);
bool has_attribute(LLVMValueRef function, unsigned at, const char *name);
LLVMValueRef strip_casts(LLVMValueRef v);

/* Records: all fields zero, returns how many there are; a number for one of them. */
enum { RECORD_FIELDS_MOST = 24 };
unsigned record_begin(LLVMTypeRef type, LLVMValueRef field[RECORD_FIELDS_MOST]);
LLVMValueRef number(LLVMTypeRef record, unsigned field, uint64_t value);

/* ---- fields.c: names of fields, from sources ---- */

struct fields {
    LLVMTargetDataRef layout;
    struct map known; /* variable and offset -> index of its text */
    VEC(slice) text;
    struct arena arena;
    struct buf path, source; /* of the file that was read last */
    slice rest, line;
    uint32_t at_line;
};

/* What the field at an offset of a variable is called, with the variable's name; "": nobody says so. */
slice fields_name(struct fields *f, LLVMValueRef global, uint64_t bytes);
void fields_deinit(struct fields *f);

/* How far an address is from its base; *outer: the type that it steps into. */
bool is_gep(LLVMValueRef v);
uint64_t gep_offset(LLVMTargetDataRef layout, LLVMValueRef gep, LLVMTypeRef *outer);

/* ---- names.c: names of state variables, from debug information ---- */

struct names {
    LLVMTargetDataRef layout;
    struct fields fields;
    struct map local; /* value -> index of its variable */
    VEC(LLVMValueRef) variable;
};

void names_init(struct names *n, LLVMModuleRef module);
void names_function(struct names *n, LLVMValueRef function); /* what follows is of this one */

/* What a load loads, as the source would say it: server.aof_state, link->node. */
void names_add(struct names *n, LLVMValueRef load, struct buf *out);

/* The field that an address is of, by the type it is a field of: aeEventLoop.beforesleep; or the variable. */
void names_field(struct names *n, LLVMValueRef address, struct buf *out);

/* Does it look like what is registered somewhere: is one of its arguments a void *, and does it return
 * nothing, a number, or void *? Only debug information tells. */
bool names_callback(LLVMValueRef function);
void names_deinit(struct names *n);

#endif
