/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that can fail. Each call of a function of calls.list becomes the call of a thunk, a function of
 * the call's own type that is inlined there:
 *
 *     T thunk(args) {
 *         if (outfox_on) {
 *             unsigned long count = <the argument that says how much>;
 *             if (outfox_hook(&site, subject, &count, <where the caller returns to>, &value))
 *                 return (T)value;
 *             <that argument> = count;
 *         }
 *         return real(args);
 *     }
 *
 * 1. At the call only the callee changes: its place in the source, its attributes and where it unwinds to
 *    stay. Only calls of variadic functions are built anew, for a thunk cannot hand on what it does not know.
 * 2. The system's function is meant, not one of the program with its name; a call whose types do not fit the
 *    table is left alone. */
#include <errno.h>
#include <llvm-c/DebugInfo.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/vec.h"
#include "cc.h"

enum {
    ERROR = OUTFOX_ERROR,
    DELAY = OUTFOX_DELAY,
    SHORT = OUTFOX_SHORT,
    DISK = OUTFOX_ON_FILE,
    SOCKET = OUTFOX_ON_SOCKET,
    PIPE = OUTFOX_ON_PIPE,
    OTHER = OUTFOX_ON_OTHER,
    ANY = OUTFOX_ON_ANY,
};

/* Which values of an argument make it a call that can fail in this way. */
enum when { ALWAYS, LOCKS /* of fcntl */ };

struct row {
    const char *name;
    uint8_t subject;
    int8_t at, count;
    uint8_t result, can;
    int32_t value;
    bool rare;
    int8_t condition; /* the argument that `when` is about */
    enum when when;
    struct {
        uint8_t number, where;
    } error[OUTFOX_ERRORS];
};

#define ROW(name, subject, at, count, result, value, can, rare, condition, when, ...)              \
    {#name,                                                                                        \
     OUTFOX_SUBJECT_##subject,                                                                     \
     at,                                                                                           \
     count,                                                                                        \
     OUTFOX_RESULT_##result,                                                                       \
     can,                                                                                          \
     value,                                                                                        \
     rare,                                                                                         \
     condition,                                                                                    \
     when,                                                                                         \
     {__VA_ARGS__}},
#define CALL(name, subject, at, count, result, value, can, ...)                                    \
    ROW(name, subject, at, count, result, value, can, false, 0, ALWAYS, __VA_ARGS__)
#define RARE(name, subject, at, count, result, value, can, ...)                                    \
    ROW(name, subject, at, count, result, value, can, true, 0, ALWAYS, __VA_ARGS__)
#define CALL_IF(name, subject, at, count, result, value, can, condition, when, ...)                \
    ROW(name, subject, at, count, result, value, can, false, condition, when, __VA_ARGS__)
#define ALIAS(name, of)

static const struct row rows[] = {
#include "calls.list"
};

#define CALL(...)
#define CALL_IF(...)
#define RARE(...)
#define ALIAS(name, of) {#name, #of},

static const struct {
    const char *name, *of;
} aliases[] = {
#include "calls.list"
};

/* ---- which calls ---- */

/* A function that the program calls, and its row. */
struct callee {
    LLVMValueRef function;
    const struct row *row;
};

struct site {
    LLVMValueRef call, caller;
    const struct row *row;
};

struct sites {
    VEC(struct callee) callees;
    VEC(struct site) all;
};

static const struct row *find_row(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i].name, name) == 0)
            name = aliases[i].of;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

/* Functions that headers define for what the library has (fortified ones) are the library's too; clang
 * calls some of them NAME.inline. */
static bool is_library(LLVMValueRef f)
{
    return LLVMIsDeclaration(f) || LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage;
}

static const struct row *row_of(LLVMValueRef function)
{
    char name[64];
    size_t n;
    const char *text = LLVMGetValueName2(function, &n);
    slice s = {text, n};
    if (n && *text == '\1') /* a name from asm("...") */
        s = slice_from(s, 1);
    static const slice ending = {".inline", 7};
    if (s.n > ending.n && slice_is(slice_from(s, s.n - ending.n), ending.p))
        s.n -= ending.n;
    if (s.n >= sizeof name || !is_library(function))
        return NULL;
    memcpy(name, s.p, s.n);
    name[s.n] = 0;
    const struct row *row = find_row(name);
    const char *memory = getenv("OUTFOX_CC_MEMORY");
    return row && row->rare && !(memory && strcmp(memory, "1") == 0) ? NULL : row;
}

static LLVMValueRef argument(LLVMValueRef call, int i)
{
    return i >= 0 && (unsigned)i < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, (unsigned)i)
                                                               : NULL;
}

static LLVMTypeKind kind_of(LLVMValueRef v)
{
    return v ? LLVMGetTypeKind(LLVMTypeOf(v)) : LLVMVoidTypeKind;
}

static bool condition_holds(const struct row *row, LLVMValueRef call)
{
    static const unsigned long long locks[] = {6, 7, 37, 38}; /* F_SETLK, F_SETLKW, and F_OFD_ */
    LLVMValueRef v = argument(call, row->condition);
    if (row->when == ALWAYS)
        return true;
    if (!v || !LLVMIsAConstantInt(v))
        return false;
    for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
        if (LLVMConstIntGetZExtValue(v) == locks[i])
            return true;
    return false;
}

/* Do the call's types fit the row? */
static bool row_fits(const struct row *row, LLVMValueRef call)
{
    LLVMTypeKind result = LLVMGetTypeKind(LLVMTypeOf(call));
    LLVMTypeKind subject = kind_of(argument(call, row->at));
    if (result != LLVMIntegerTypeKind && result != LLVMPointerTypeKind)
        return false;
    if (row->subject == OUTFOX_SUBJECT_FD && subject != LLVMIntegerTypeKind)
        return false;
    if (row->subject == OUTFOX_SUBJECT_STREAM && subject != LLVMPointerTypeKind)
        return false;
    if (row->count >= 0 && kind_of(argument(call, row->count)) != LLVMIntegerTypeKind)
        return false;
    return condition_holds(row, call);
}

/* clang marks only calls that must be tail calls, before anything is optimised. */
static bool is_plain_call(LLVMValueRef i)
{
    return (LLVMIsACallInst(i) && !LLVMIsTailCall(i)) || LLVMIsAInvokeInst(i);
}

static void find_in(struct sites *s, LLVMValueRef f)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef called = is_plain_call(i) ? LLVMGetCalledValue(i) : NULL;
            for (uint32_t k = 0; called && k < s->callees.n; k++)
                if (s->callees.at[k].function == called && row_fits(s->callees.at[k].row, i))
                    vec_push(&s->all, (struct site){i, f, s->callees.at[k].row});
        }
}

/* Resolvers of ifuncs run before a process is linked. */
static bool is_resolver(const struct unit *u, LLVMValueRef f)
{
    for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(u->module); i; i = LLVMGetNextGlobalIFunc(i)) {
        LLVMValueRef r = LLVMGetGlobalIFuncResolver(i);
        if (r == f || (LLVMIsAConstantExpr(r) && LLVMGetOperand(r, 0) == f))
            return true;
    }
    return false;
}

static bool has_attribute(LLVMValueRef f, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return LLVMGetEnumAttributeAtIndex(f, LLVMAttributeFunctionIndex, kind) != NULL;
}

static void find_sites(const struct unit *u, struct sites *s)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f; f = LLVMGetNextFunction(f)) {
        const struct row *row = row_of(f);
        if (row)
            vec_push(&s->callees, (struct callee){f, row});
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(u->module); s->callees.n && f;
         f = LLVMGetNextFunction(f))
        if (!is_library(f) && !has_attribute(f, "naked") && !is_resolver(u, f))
            find_in(s, f);
}

/* ---- records ---- */

static LLVMValueRef number(struct unit *u, unsigned bits, unsigned long long value)
{
    return LLVMConstInt(LLVMIntTypeInContext(u->context, bits), value, false);
}

static LLVMValueRef errors_of(struct unit *u, const struct row *row, unsigned *n)
{
    LLVMValueRef pairs[OUTFOX_ERRORS];
    *n = 0;
    for (unsigned i = 0; i < OUTFOX_ERRORS; i++) {
        LLVMValueRef pair[] = {number(u, 8, row->error[i].number),
                               number(u, 8, row->error[i].where)};
        pairs[i] = LLVMConstStructInContext(u->context, pair, 2, false);
        *n += row->error[i].number != 0;
    }
    return LLVMConstArray(LLVMTypeOf(pairs[0]), pairs, OUTFOX_ERRORS);
}

static LLVMValueRef make_record(struct unit *u, const struct site *s, unsigned index)
{
    char file[4096];
    const char *function = LLVMGetValueName(s->caller);
    unsigned column, errors, line = unit_line(s->call, file, sizeof file, &column);
    if (!line && !unit_line(s->caller, file, sizeof file, NULL))
        snprintf(file, sizeof file, "%s", u->file);
    LLVMValueRef record = unit_record(u, u->site_type, OUTFOX_SECTION_SITES);
    LLVMValueRef all_errors = errors_of(u, s->row, &errors);
    LLVMValueRef fields[] = {
        number(u, 32, OUTFOX_SITE),
        unit_offset(u, record, 1, unit_text(u, file)),
        unit_offset(u, record, 2, unit_text(u, function)),
        unit_offset(u, record, 3, unit_text(u, s->row->name)),
        number(u, 32, line),
        number(u, 16, column),
        number(u, 8, OUTFOX_CALL),
        number(u, 8, s->row->subject),
        number(u, 8, s->row->can),
        number(u, 8, s->row->result),
        number(u, 8, errors),
        number(u, 8, OUTFOX_REASON_NONE),
        all_errors,
        number(u, 32, (uint32_t)s->row->value),
        number(u, 32, unit_names(file, function, s->row->name)),
        number(u, 32, 0),
    };
    LLVMSetInitializer(record, LLVMConstNamedStruct(u->site_type, fields, 16));
    unit_share(u, record, s->caller, index);
    return record;
}

/* ---- thunks ---- */

/* A thunk while it is built. */
struct thunk {
    struct unit *u;
    const struct site *site;
    LLVMBuilderRef b;
    LLVMValueRef function, record;
    LLVMTypeRef word;          /* 64 bits */
    LLVMValueRef count, value; /* what the hook may change; what it wants returned */
};

static LLVMTypeRef type_of_thunk(LLVMValueRef call, bool *variadic)
{
    LLVMTypeRef types[64], of_call = LLVMGetCalledFunctionType(call);
    unsigned n = LLVMGetNumArgOperands(call);
    *variadic = LLVMIsFunctionVarArg(of_call);
    if (!*variadic)
        return of_call;
    if (n > sizeof types / sizeof *types)
        return NULL;
    for (unsigned i = 0; i < n; i++)
        types[i] = LLVMTypeOf(LLVMGetOperand(call, i));
    return LLVMFunctionType(LLVMGetReturnType(of_call), types, n, false);
}

static void add_attribute(LLVMValueRef f, LLVMContextRef c, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex, LLVMCreateEnumAttribute(c, kind, 0));
}

/* What the command line says of all code (machine, frame pointer) holds for the thunk as for its
 * caller. */
static void copy_strings(LLVMValueRef from, LLVMValueRef to)
{
    LLVMAttributeRef all[128];
    unsigned n = LLVMGetAttributeCountAtIndex(from, LLVMAttributeFunctionIndex);
    if (n > sizeof all / sizeof *all)
        return;
    LLVMGetAttributesAtIndex(from, LLVMAttributeFunctionIndex, all);
    for (unsigned i = 0; i < n; i++)
        if (LLVMIsStringAttribute(all[i]))
            LLVMAddAttributeAtIndex(to, LLVMAttributeFunctionIndex, all[i]);
}

static void copy_call_attributes(LLVMValueRef from, LLVMValueRef to)
{
    LLVMAttributeRef all[64];
    int last = (int)LLVMGetNumArgOperands(from);
    for (int at = LLVMAttributeFunctionIndex; at <= last; at++) {
        unsigned n = LLVMGetCallSiteAttributeCount(from, (unsigned)at);
        if (n > sizeof all / sizeof *all)
            continue;
        LLVMGetCallSiteAttributes(from, (unsigned)at, all);
        for (unsigned i = 0; i < n; i++)
            LLVMAddCallSiteAttribute(to, (unsigned)at, all[i]);
    }
}

static void set_unlikely(struct unit *u, LLVMValueRef branch)
{
    LLVMMetadataRef parts[] = {
        LLVMMDStringInContext2(u->context, "branch_weights", strlen("branch_weights")),
        LLVMValueAsMetadata(number(u, 32, 1)), LLVMValueAsMetadata(number(u, 32, 2000))};
    LLVMMetadataRef node = LLVMMDNodeInContext2(u->context, parts, 3);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(u->context, "prof", 4),
                    LLVMMetadataAsValue(u->context, node));
}

static LLVMValueRef subject_of(const struct thunk *t)
{
    const struct row *row = t->site->row;
    if (row->subject == OUTFOX_SUBJECT_FD)
        return LLVMBuildSExtOrBitCast(t->b, LLVMGetParam(t->function, (unsigned)row->at), t->word,
                                      "subject");
    if (row->subject == OUTFOX_SUBJECT_STREAM)
        return LLVMBuildPtrToInt(t->b, LLVMGetParam(t->function, (unsigned)row->at), t->word,
                                 "subject");
    return LLVMConstNull(t->word);
}

/* llvm.returnaddress(0): in the function into which the thunk is inlined. */
static LLVMValueRef return_address(struct thunk *t)
{
    LLVMTypeRef bytes = LLVMPointerType(LLVMInt8TypeInContext(t->u->context), 0),
                half = LLVMInt32TypeInContext(t->u->context);
    LLVMTypeRef type = LLVMFunctionType(bytes, &half, 1, false);
    LLVMValueRef zero = LLVMConstNull(half);
    LLVMValueRef f = LLVMGetNamedFunction(t->u->module, "llvm.returnaddress");
    if (!f)
        f = LLVMAddFunction(t->u->module, "llvm.returnaddress", type);
    return LLVMBuildCall2(t->b, type, f, &zero, 1, "caller");
}

static LLVMValueRef ask_hook(struct thunk *t)
{
    LLVMTypeRef pointer = LLVMPointerType(t->word, 0);
    LLVMValueRef count = t->count ? t->count : LLVMConstNull(pointer);
    LLVMValueRef args[] = {t->record, subject_of(t), count, return_address(t), t->value};
    LLVMValueRef call = LLVMBuildCall2(t->b, t->u->hook_type, t->u->hook, args, 5, "stop");
    unsigned kind = LLVMGetEnumAttributeKindForName("nounwind", 8);
    LLVMAddCallSiteAttribute(call, (unsigned)LLVMAttributeFunctionIndex,
                             LLVMCreateEnumAttribute(t->u->context, kind, 0));
    return LLVMBuildICmp(t->b, LLVMIntNE, call, LLVMConstNull(LLVMTypeOf(call)), "stopped");
}

static void return_value(struct thunk *t, LLVMTypeRef result)
{
    LLVMValueRef v = LLVMBuildLoad2(t->b, t->word, t->value, "given");
    LLVMBuildRet(t->b, LLVMGetTypeKind(result) == LLVMPointerTypeKind
                           ? LLVMBuildIntToPtr(t->b, v, result, "")
                           : LLVMBuildIntCast2(t->b, v, result, true, ""));
}

/* The call as it was, with what the hook has left of the count. */
static void call_real(struct thunk *t, LLVMValueRef count)
{
    LLVMValueRef args[64], call = t->site->call;
    unsigned n = LLVMCountParams(t->function);
    LLVMGetParams(t->function, args);
    if (count)
        args[t->site->row->count] = count;
    LLVMValueRef real = LLVMBuildCall2(t->b, LLVMGetCalledFunctionType(call),
                                       LLVMGetCalledValue(call), args, n, "");
    LLVMSetInstructionCallConv(real, LLVMGetInstructionCallConv(call));
    copy_call_attributes(call, real);
    LLVMBuildRet(t->b, real);
}

static LLVMBasicBlockRef add_block(struct thunk *t, const char *name)
{
    return LLVMAppendBasicBlockInContext(t->u->context, t->function, name);
}

static void build_thunk(struct thunk *t)
{
    LLVMBasicBlockRef entry = add_block(t, "entry"), ask = add_block(t, "ask"),
                      stop = add_block(t, "stop"), go = add_block(t, "go"),
                      real = add_block(t, "real");
    int at = t->site->row->count;
    LLVMValueRef asked = at >= 0 ? LLVMGetParam(t->function, (unsigned)at) : NULL, count = NULL;
    LLVMTypeRef half = LLVMInt32TypeInContext(t->u->context);

    LLVMPositionBuilderAtEnd(t->b, entry);
    t->value = LLVMBuildAlloca(t->b, t->word, "value");
    t->count = asked ? LLVMBuildAlloca(t->b, t->word, "count") : NULL;
    LLVMValueRef on = LLVMBuildLoad2(t->b, half, t->u->on, "on");
    LLVMValueRef is_on = LLVMBuildICmp(t->b, LLVMIntNE, on, LLVMConstNull(half), "is_on");
    set_unlikely(t->u, LLVMBuildCondBr(t->b, is_on, ask, real));

    LLVMPositionBuilderAtEnd(t->b, ask);
    if (asked)
        LLVMBuildStore(t->b, LLVMBuildIntCast2(t->b, asked, t->word, false, ""), t->count);
    LLVMBuildCondBr(t->b, ask_hook(t), stop, go);

    LLVMPositionBuilderAtEnd(t->b, stop);
    return_value(t, LLVMTypeOf(t->site->call));

    LLVMPositionBuilderAtEnd(t->b, go);
    LLVMValueRef left = NULL;
    if (asked)
        left = LLVMBuildIntCast2(t->b, LLVMBuildLoad2(t->b, t->word, t->count, ""),
                                 LLVMTypeOf(asked), false, "left");
    LLVMBuildBr(t->b, real);

    LLVMPositionBuilderAtEnd(t->b, real);
    if (asked) {
        LLVMValueRef values[] = {asked, left};
        LLVMBasicBlockRef from[] = {entry, go};
        count = LLVMBuildPhi(t->b, LLVMTypeOf(asked), "count");
        LLVMAddIncoming(count, values, from, 2);
    }
    call_real(t, count);
}

/* The call of a variadic function becomes one of a thunk with just these arguments. */
static void replace_call(struct thunk *t, LLVMTypeRef type)
{
    LLVMValueRef args[64], old = t->site->call, new;
    unsigned n = LLVMGetNumArgOperands(old);
    for (unsigned i = 0; i < n; i++)
        args[i] = LLVMGetOperand(old, i);
    LLVMPositionBuilderBefore(t->b, old);
    new = LLVMIsAInvokeInst(old)
              ? LLVMBuildInvoke2(t->b, type, t->function, args, n, LLVMGetNormalDest(old),
                                 LLVMGetUnwindDest(old), "")
              : LLVMBuildCall2(t->b, type, t->function, args, n, "");
    copy_call_attributes(old, new);
    LLVMInstructionSetDebugLoc(new, LLVMInstructionGetDebugLoc(old));
    LLVMReplaceAllUsesWith(old, new);
    LLVMInstructionEraseFromParent(old);
}

static void add_thunk(struct unit *u, const struct site *s, unsigned index)
{
    bool variadic;
    LLVMTypeRef type = type_of_thunk(s->call, &variadic);
    if (!type)
        return;
    struct thunk t = {.u = u, .site = s, .word = LLVMInt64TypeInContext(u->context)};
    t.b = LLVMCreateBuilderInContext(u->context);
    t.record = make_record(u, s, index);
    t.function = LLVMAddFunction(u->module, "outfox.call", type);
    LLVMSetLinkage(t.function, LLVMInternalLinkage);
    LLVMSetFunctionCallConv(t.function, LLVMGetInstructionCallConv(s->call));
    add_attribute(t.function, u->context, "alwaysinline");
    copy_strings(s->caller, t.function);
    build_thunk(&t);
    if (variadic)
        replace_call(&t, type);
    else
        LLVMSetOperand(s->call, (unsigned)LLVMGetNumOperands(s->call) - 1, t.function);
    LLVMDisposeBuilder(t.b);
}

void sites_add(struct unit *u)
{
    struct sites s = {0};
    LLVMValueRef caller = NULL;
    unsigned index = 0;
    find_sites(u, &s);
    for (uint32_t i = 0; i < s.all.n; i++) {
        index = s.all.at[i].caller == caller ? index + 1 : 0;
        caller = s.all.at[i].caller;
        add_thunk(u, &s.all.at[i], index);
    }
    vec_deinit(&s.callees);
    vec_deinit(&s.all);
}
