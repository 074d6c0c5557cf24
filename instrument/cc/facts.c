/* SPDX-License-Identifier: Apache-2.0
 *
 * Facts: who is defined in this unit, who calls whom, and where addresses of functions go: into which
 * argument of which call, which global, which field. They are text in a section that is not loaded;
 * the linker puts those of all units behind each other, and outfox reads them from the program, to
 * find tasks over all of it. abi.h says how they are written. */
#include <llvm-c/Core.h>

#include "analyse.h"
#include "base/hash.h"
#include "cc.h"

enum { FACTS_MOST = 64 << 20, THREAD_STEPS_MOST = 64 };

struct facts {
    struct unit *unit;
    struct names names;
    struct buf text;
    struct map said; /* hashes of calls that are written */
};

static void add_word(struct facts *f, slice word)
{
    buf_addc(&f->text, '\t');
    buf_add(&f->text, word.n ? word : SLICE("?"));
}

static void add_call(struct facts *f, slice caller, slice callee)
{
    uint64_t pair = hash_mix(hash_slice(caller), hash_slice(callee));
    if (map_count(&f->said, pair) > 1)
        return;
    buf_adds(&f->text, "call");
    add_word(f, caller);
    add_word(f, callee);
    buf_addc(&f->text, '\n');
}

/* ---- addresses of functions ---- */

/* The functions that a value can be, as far as one sees: each(context, function). */
typedef void function_each(void *context, LLVMValueRef function);

static void each_function(LLVMValueRef v, int depth, function_each *each, void *context)
{
    v = strip_casts(v);
    if (LLVMIsAFunction(v)) {
        if (!is_intrinsic(v))
            each(context, v);
        return;
    }
    if (depth == 0)
        return;
    if (LLVMIsASelectInst(v)) {
        each_function(LLVMGetOperand(v, 1), depth - 1, each, context);
        each_function(LLVMGetOperand(v, 2), depth - 1, each, context);
    } else if (LLVMIsAPHINode(v)) {
        for (unsigned i = 0, n = LLVMCountIncoming(v); i < n; i++)
            each_function(LLVMGetIncomingValue(v, i), depth - 1, each, context);
    }
}

struct place {
    struct facts *facts;
    slice caller, callee; /* of an argument */
    unsigned argument;
    slice where; /* of what is stored */
};

static void say_passed(void *context, LLVMValueRef function)
{
    struct place *p = context;
    char digits[DIGITS_MOST];
    buf_adds(&p->facts->text, "passed");
    add_word(p->facts, p->caller);
    add_word(p->facts, p->callee);
    add_word(p->facts, slice_of_u64(p->argument, digits));
    add_word(p->facts, value_name(function));
    buf_addc(&p->facts->text, '\n');
}

static void say_stored(void *context, LLVMValueRef function)
{
    struct place *p = context;
    buf_adds(&p->facts->text, "stored");
    add_word(p->facts, p->where);
    add_word(p->facts, value_name(function));
    buf_addc(&p->facts->text, '\n');
}

static bool may_be_function(LLVMValueRef v)
{
    return LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMPointerTypeKind;
}

/* Which parameter of its function a value is; -1: none. */
static int parameter_of(LLVMValueRef function, LLVMValueRef v)
{
    unsigned i = 0, n = LLVMCountParams(function);
    v = strip_casts(v);
    while (LLVMIsAArgument(v) && i < n && LLVMGetParam(function, i) != v)
        i++;
    return LLVMIsAArgument(v) && i < n ? (int)i : -1;
}

/* A pointer to data can be no function. LLVM 15 and later do not say to what a pointer is. */
static bool may_point_to_function(LLVMTypeRef pointer)
{
#if CLANG_MAJOR < 15
    LLVMTypeRef to = LLVMGetElementType(pointer);
    return LLVMGetTypeKind(to) == LLVMFunctionTypeKind;
#else
    (void)pointer;
    return true;
#endif
}

static void say_forwards(struct facts *f, LLVMValueRef caller, slice callee, unsigned argument,
                         LLVMValueRef v)
{
    char own_digits[DIGITS_MOST], digits[DIGITS_MOST];
    int own = parameter_of(caller, v);
    if (own < 0 || !may_point_to_function(LLVMTypeOf(LLVMGetParam(caller, (unsigned)own))))
        return;
    uint64_t said = hash_mix(hash_mix(hash_slice(value_name(caller)), hash_slice(callee)),
                             2 + ((uint64_t)own << 32 | argument));
    if (map_count(&f->said, said) > 1)
        return;
    buf_adds(&f->text, "forwards");
    add_word(f, value_name(caller));
    add_word(f, slice_of_u64((uint64_t)own, own_digits));
    add_word(f, callee);
    add_word(f, slice_of_u64(argument, digits));
    buf_addc(&f->text, '\n');
}

/* ---- loops that wait ---- */

/* Does the flow of control come back to this block? */
static bool in_loop(LLVMBasicBlockRef block)
{
    struct map seen = {0};
    VEC(LLVMBasicBlockRef) work = {0};
    bool found = false;
    vec_push(&work, block);
    while (work.n && !found) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(work.at[--work.n]);
        for (unsigned i = 0, n = end ? LLVMGetNumSuccessors(end) : 0; i < n; i++) {
            LLVMBasicBlockRef to = LLVMGetSuccessor(end, i);
            found = found || to == block;
            if (map_count(&seen, (uint64_t)(uintptr_t)to) == 1)
                vec_push(&work, to);
        }
    }
    vec_deinit(&work);
    map_deinit(&seen);
    return found;
}

static void add_loop(struct facts *f, LLVMValueRef caller, slice callee, LLVMValueRef call)
{
    static const char *const waits[] = {"wait", "poll", NULL};
    uint64_t pair = hash_mix(hash_mix(hash_slice(value_name(caller)), hash_slice(callee)), 1);
    if (!name_has(callee, waits) || !in_loop(LLVMGetInstructionParent(call)) ||
        map_count(&f->said, pair) > 1)
        return;
    buf_adds(&f->text, "loop");
    add_word(f, value_name(caller));
    add_word(f, callee);
    buf_addc(&f->text, '\n');
}

/* ---- calls ---- */

static void add_call_facts(struct facts *f, LLVMValueRef caller, LLVMValueRef call)
{
    LLVMValueRef target = call_target(call);
    if (target && is_intrinsic(target))
        return;
    slice callee = target ? value_name(target) : SLICE("*");
    if (target && !is_pure(callee))
        add_call(f, value_name(caller), callee);
    if (target && LLVMIsDeclaration(target))
        add_loop(f, caller, callee, call);
    for (unsigned i = 0, n = call_arguments(call); i < n; i++) {
        struct place p = {f, value_name(caller), callee, i, SLICE("")};
        if (!may_be_function(LLVMGetOperand(call, i)))
            continue;
        each_function(LLVMGetOperand(call, i), 2, say_passed, &p);
        if (target)
            say_forwards(f, caller, callee, i, LLVMGetOperand(call, i));
    }
}

static void add_store_facts(struct facts *f, LLVMValueRef store)
{
    LLVMValueRef value = LLVMGetOperand(store, 0);
    if (!may_be_function(value))
        return;
    LLVMValueRef bare = strip_casts(value);
    if (!LLVMIsAFunction(bare) && !LLVMIsASelectInst(bare) && !LLVMIsAPHINode(bare))
        return;
    struct buf where = BUF_INIT(1000);
    names_field(&f->names, LLVMGetOperand(store, 1), &where);
    struct place p = {.facts = f, .where = buf_slice(&where)};
    each_function(value, 2, say_stored, &p);
    buf_deinit(&where);
}

/* What is in a constant, and in what that holds. */
static void add_constant_facts(struct place *p, LLVMValueRef constant)
{
    LLVMValueRef bare = strip_casts(constant);
    if (LLVMIsAFunction(bare)) {
        say_stored(p, bare);
    } else if (LLVMIsAConstantArray(bare) || LLVMIsAConstantStruct(bare)) {
        for (int i = 0, n = LLVMGetNumOperands(bare); i < n; i++)
            add_constant_facts(p, LLVMGetOperand(bare, (unsigned)i));
    }
}

/* ---- C++ threads ---- */

/* What a thread of the standard library runs is some calls of its templates away: said as if it were called
 * directly, so that a bounded depth reaches it. */
static void add_thread_facts(struct facts *f, LLVMValueRef run)
{
    struct values work = {0};
    vec_push(&work, run);
    for (uint32_t at = 0; at < work.n && work.n < THREAD_STEPS_MOST; at++)
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(work.at[at]); b;
             b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
                LLVMValueRef target = is_call(i) ? call_target(i) : NULL;
                if (!target || LLVMIsDeclaration(target))
                    continue;
                if (is_plumbing(value_name(target)))
                    vec_push(&work, target);
                else
                    add_call(f, value_name(run), value_name(target));
            }
    vec_deinit(&work);
}

/* ---- the section ---- */

/* As the assembler reads it, a line of it for each of ours. */
static void emit(struct facts *f)
{
    struct buf out = BUF_INIT(4 * (size_t)FACTS_MOST);
    buf_adds(&out, "\t.pushsection " OUTFOX_SECTION_FACTS ",\"\",@progbits\n");
    slice rest = buf_slice(&f->text), line;
    while (slice_cut(&rest, '\n', &line)) {
        if (!line.n)
            continue;
        buf_adds(&out, "\t.ascii \"");
        for (size_t i = 0; i < line.n; i++) {
            uint8_t c = (uint8_t)line.p[i];
            if (c < ' ' || c >= 127 || c == '"' || c == '\\')
                buf_addf(&out, "\\%03o", c);
            else
                buf_addc(&out, (char)c);
        }
        buf_adds(&out, "\\n\"\n");
    }
    buf_adds(&out, "\t.popsection\n");
    LLVMAppendModuleInlineAsm(f->unit->module, out.p, out.n);
    buf_deinit(&out);
}

static void add_function_facts(struct facts *f, LLVMValueRef function)
{
    char digits[DIGITS_MOST];
    LLVMLinkage linkage = LLVMGetLinkage(function);
    bool local = linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
    buf_adds(&f->text, "function");
    add_word(f, value_name(function));
    add_word(f, slice_of_u64(unit_line(function, NULL, 0, NULL), digits));
    add_word(f, local ? SLICE("local") : SLICE("global"));
    buf_addc(&f->text, '\n');
    names_function(&f->names, function);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (is_call(i))
                add_call_facts(f, function, i);
            else if (LLVMIsAStoreInst(i))
                add_store_facts(f, i);
        }
    if (is_thread_run(value_name(function)))
        add_thread_facts(f, function);
}

void facts_add(struct unit *u)
{
    struct facts f = {.unit = u, .text = BUF_INIT(FACTS_MOST)};
    names_init(&f.names, u->module);
    buf_adds(&f.text, "unit");
    add_word(&f, slice_of(u->file));
    buf_addc(&f.text, '\n');
    for (LLVMValueRef v = LLVMGetFirstFunction(u->module); v; v = LLVMGetNextFunction(v))
        if (!LLVMIsDeclaration(v) && LLVMGetLinkage(v) != LLVMAvailableExternallyLinkage)
            add_function_facts(&f, v);
    for (LLVMValueRef v = LLVMGetFirstGlobal(u->module); v; v = LLVMGetNextGlobal(v)) {
        slice name = value_name(v);
        struct place p = {.facts = &f, .where = name};
        LLVMValueRef initial = LLVMIsDeclaration(v) ? NULL : LLVMGetInitializer(v);
        bool own = slice_starts(name, SLICE("llvm.")) && !slice_is(name, "llvm.global_ctors");
        if (initial && !own)
            add_constant_facts(&p, initial);
    }
    emit(&f);
    buf_deinit(&f.text);
    map_deinit(&f.said);
    names_deinit(&f.names);
}
