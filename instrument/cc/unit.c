/* SPDX-License-Identifier: Apache-2.0
 *
 * One unit: bitcode in, an object out. Between the two it is instrumented, verified, optimised as it was
 * asked for, and emitted for the machine that its own bitcode names.
 *
 * 1. What does not verify is compiled as if we were not there, and we say so: a mistake of ours costs
 *    users sites, and no program.
 * 2. When LLVM has anything to tell while it emits, clang emits instead: its words are what users know. */
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <stdio.h>

#include "base/hash.h"
#include "cc.h"

/* What LLVM calls a module that is read. */
static const char MODULE_NAME[] = "unit";

/* ---- what the steps of instrumentation share ---- */

LLVMValueRef unit_text(struct unit *u, const char *text)
{
    char name[40];
    snprintf(name, sizeof name, "outfox.text.%016llx",
             (unsigned long long)hash_slice(slice_of(text)));
    LLVMValueRef global = LLVMGetNamedGlobal(u->module, name);
    if (global)
        return global;
    LLVMValueRef bytes = LLVMConstStringInContext(u->context, text, (unsigned)strlen(text), false);
    global = LLVMAddGlobal(u->module, LLVMTypeOf(bytes), name);
    LLVMSetInitializer(global, bytes);
    LLVMSetGlobalConstant(global, true);
    LLVMSetLinkage(global, LLVMPrivateLinkage);
    LLVMSetUnnamedAddress(global, LLVMGlobalUnnamedAddr);
    LLVMSetAlignment(global, 1);
    return global;
}

LLVMValueRef unit_offset(struct unit *u, LLVMValueRef record, unsigned field, LLVMValueRef to)
{
    LLVMTypeRef word = LLVMInt64TypeInContext(u->context),
                half = LLVMInt32TypeInContext(u->context);
    LLVMValueRef path[] = {LLVMConstInt(half, 0, false), LLVMConstInt(half, field, false)};
    LLVMValueRef from = LLVMConstInBoundsGEP2(LLVMGlobalGetValueType(record), record, path, 2);
    LLVMValueRef distance =
        LLVMConstSub(LLVMConstPtrToInt(to, word), LLVMConstPtrToInt(from, word));
    return LLVMConstTrunc(distance, half);
}

LLVMValueRef unit_record(struct unit *u, LLVMTypeRef type, const char *section)
{
    LLVMValueRef global = LLVMAddGlobal(u->module, type, "outfox.record");
    LLVMSetLinkage(global, LLVMInternalLinkage);
    LLVMSetSection(global, section);
    LLVMSetGlobalConstant(global, strcmp(section, OUTFOX_SECTION_FUNCTIONS) != 0); /* enabled */
    LLVMSetAlignment(global, 4); /* one behind the other, as an array */
    return global;
}

void unit_share(struct unit *u, LLVMValueRef record, LLVMValueRef function, unsigned index)
{
    LLVMLinkage linkage = LLVMGetLinkage(function);
    struct buf name = BUF_INIT(1 << 20);
    if (linkage != LLVMLinkOnceODRLinkage && linkage != LLVMLinkOnceAnyLinkage &&
        linkage != LLVMWeakODRLinkage && linkage != LLVMWeakAnyLinkage)
        return;
    buf_addf(&name, "%s.%s.%u", LLVMGetSection(record), LLVMGetValueName(function), index);
    LLVMSetValueName2(record, buf_text(&name), name.n);
    LLVMSetLinkage(record, LLVMLinkOnceODRLinkage);
    LLVMSetVisibility(record, LLVMHiddenVisibility);
    LLVMComdatRef comdat = LLVMGetOrInsertComdat(u->module, buf_text(&name));
    LLVMSetComdat(record, comdat);
    buf_deinit(&name);
}

/* Texts of the system's headers stand for functions of the C library: a line there tells nobody
 * anything. */
static bool is_system(const char *file, unsigned n)
{
    return slice_starts((slice){file, n}, SLICE("/usr/include/"));
}

static unsigned location_line(LLVMMetadataRef at, char *file, size_t room, unsigned *column)
{
    unsigned n = 0;
    for (;;) {
        LLVMMetadataRef of = LLVMDIScopeGetFile(LLVMDILocationGetScope(at));
        const char *name = of ? LLVMDIFileGetFilename(of, &n) : "";
        LLVMMetadataRef outer = LLVMDILocationGetInlinedAt(at);
        if (!outer || !is_system(name, n)) {
            snprintf(file, room, "%.*s", (int)n, name);
            break;
        }
        at = outer;
    }
    if (column)
        *column = LLVMDILocationGetColumn(at);
    return LLVMDILocationGetLine(at);
}

unsigned unit_line(LLVMValueRef v, char *file, size_t room, unsigned *column)
{
    unsigned n = 0;
    if (room)
        *file = 0;
    if (column)
        *column = 0;
    if (LLVMIsAInstruction(v)) {
        LLVMMetadataRef at = LLVMInstructionGetDebugLoc(v);
        return at ? location_line(at, file, room, column) : 0;
    }
    LLVMMetadataRef of = LLVMIsAFunction(v) ? LLVMGetSubprogram(v) : NULL;
    if (!of)
        return 0;
    LLVMMetadataRef in = LLVMDIScopeGetFile(of);
    const char *name = in ? LLVMDIFileGetFilename(in, &n) : "";
    snprintf(file, room, "%.*s", (int)n, name);
    return LLVMDISubprogramGetLine(of);
}

/* The struct of abi.h with this name: `words` leading fields of 32 bits, then bytes that only the size
 * tells. */
static LLVMTypeRef named_struct(struct unit *u, const char *name, LLVMTypeRef *fields, unsigned n)
{
    LLVMTypeRef type = LLVMStructCreateNamed(u->context, name);
    LLVMStructSetBody(type, fields, n, false);
    return type;
}

static void declare_types(struct unit *u)
{
    LLVMTypeRef w = LLVMInt32TypeInContext(u->context), h = LLVMInt16TypeInContext(u->context),
                b = LLVMInt8TypeInContext(u->context);
    LLVMTypeRef pair[] = {b, b};
    LLVMTypeRef errors =
        LLVMArrayType(LLVMStructTypeInContext(u->context, pair, 2, false), OUTFOX_ERRORS);
    LLVMTypeRef reserved = LLVMArrayType(w, 2);
    LLVMTypeRef site[] = {w, w, w, w, w, h, b, b, b, b, b, b, errors, w, w, w};
    LLVMTypeRef state[] = {w, w, w, w, w, h, h, reserved};
    LLVMTypeRef function[] = {w, w, w, w, w, w, w, w};
    u->site_type = named_struct(u, "outfox.site", site, 16);
    u->state_type = named_struct(u, "outfox.state", state, 8);
    u->function_type = named_struct(u, "outfox.function", function, 8);
}

#define NAME_(x) #x
#define NAME(x)  NAME_(x)

/* Of the program itself: a program is linked with a runtime, so code that can only be part of one reaches
 * it directly. */
static LLVMValueRef declare_variable(struct unit *u, LLVMTypeRef type, const char *name)
{
    LLVMValueRef v = LLVMGetNamedGlobal(u->module, name);
    return v ? v : LLVMAddGlobal(u->module, type, name);
}

static unsigned long long module_flag(LLVMModuleRef m, const char *name)
{
    LLVMMetadataRef flag = LLVMGetModuleFlag(m, name, strlen(name));
    if (!flag)
        return 0;
    LLVMValueRef value = LLVMMetadataAsValue(LLVMGetModuleContext(m), flag);
    LLVMValueRef number = LLVMGetNumOperands(value) ? LLVMGetOperand(value, 0) : value;
    return number && LLVMIsAConstantInt(number) ? LLVMConstIntGetZExtValue(number) : 0;
}

static void declare_runtime(struct unit *u)
{
    LLVMTypeRef b = LLVMPointerType(LLVMInt8TypeInContext(u->context), 0),
                word = LLVMInt64TypeInContext(u->context),
                half = LLVMInt32TypeInContext(u->context);
    LLVMTypeRef of_hook[] = {LLVMPointerType(u->site_type, 0), word, LLVMPointerType(word, 0), b,
                             LLVMPointerType(word, 0)};
    u->hook_type = LLVMFunctionType(half, of_hook, 5, false);
    u->on = declare_variable(u, half, NAME(outfox_on));
    u->now = declare_variable(u, LLVMPointerType(u->state_type, 0), NAME(outfox_now));
    LLVMSetThreadLocalMode(u->now, LLVMInitialExecTLSModel); /* nobody is called to find it */
    u->hook = LLVMGetNamedFunction(u->module, NAME(outfox_hook));
    if (!u->hook)
        u->hook = LLVMAddFunction(u->module, NAME(outfox_hook), u->hook_type);
}

/* ---- the steps ---- */

static void take_error(LLVMErrorRef error, struct err *e)
{
    if (!error)
        return;
    char *text = LLVMGetErrorMessage(error);
    err_set(e, 0, 0, "%s", text);
    LLVMDisposeErrorMessage(text);
}

/* level: of optimisation, which decides about loops as clang's does. */
static void run_passes(LLVMModuleRef m, const char *passes, LLVMTargetMachineRef machine,
                       char level, struct err *e)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    bool more = level != '0' && level != '1';
    LLVMPassBuilderOptionsSetSLPVectorization(options, more);
    LLVMPassBuilderOptionsSetLoopVectorization(options, more && level != 'z');
    LLVMPassBuilderOptionsSetLoopUnrolling(options, more);
    LLVMPassBuilderOptionsSetLoopInterleaving(options, more);
    take_error(LLVMRunPasses(m, passes, machine, options), e);
    LLVMDisposePassBuilderOptions(options);
}

static void instrument(struct unit *u)
{
    struct err e = {0};
    run_passes(u->module, "function(mem2reg)", NULL, '0', &e);
    if (e.text[0])
        return;
    declare_types(u);
    declare_runtime(u);
    facts_add(u);
    states_add(u);
    origins_add(u);
    sites_add(u);
}

/* NULL: not ours to read, as that of a newer clang. */
static LLVMModuleRef read_module(LLVMContextRef context, slice bitcode)
{
    LLVMModuleRef m = NULL;
    LLVMMemoryBufferRef bytes =
        LLVMCreateMemoryBufferWithMemoryRange(bitcode.p, bitcode.n, MODULE_NAME, false);
    if (LLVMParseBitcodeInContext2(context, bytes, &m))
        m = NULL;
    LLVMDisposeMemoryBuffer(bytes);
    return m;
}

/* The module, instrumented where that is possible. */
static LLVMModuleRef make_module(LLVMContextRef context, slice bitcode,
                                 const struct unit_options *o)
{
    LLVMModuleRef m = read_module(context, bitcode);
    if (!m || o->plain)
        return m;
    struct unit u = {.context = context, .module = m, .file = o->file};
    char *wrong = NULL;
    instrument(&u);
    if (LLVMVerifyModule(m, LLVMReturnStatusAction, &wrong)) {
        fprintf(
            stderr,
            "outfox cc: %s: compiled without sites and states, for what came of adding them does "
            "not hold together: %.200s\n",
            o->file, wrong);
        LLVMDisposeModule(m);
        m = read_module(context, bitcode);
    }
    LLVMDisposeMessage(wrong);
    return m;
}

/* ---- emission ---- */

/* The function that another one's attributes are those of the command line. */
static const char *attribute_of(LLVMModuleRef m, const char *name, unsigned *n)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f)) {
        LLVMAttributeRef a = LLVMIsDeclaration(f)
                                 ? NULL
                                 : LLVMGetStringAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                                                                 name, (unsigned)strlen(name));
        if (a)
            return LLVMGetStringAttributeValue(a, n);
    }
    *n = 0;
    return "";
}

static LLVMCodeModel code_model(LLVMModuleRef m)
{
    /* as CodeModel::Model counts them */
    static const LLVMCodeModel models[] = {LLVMCodeModelDefault, LLVMCodeModelSmall,
                                           LLVMCodeModelKernel, LLVMCodeModelMedium,
                                           LLVMCodeModelLarge};
    unsigned long long model = module_flag(m, "Code Model");
    return model < sizeof models / sizeof *models ? models[model] : LLVMCodeModelDefault;
}

static LLVMTargetMachineRef make_machine(LLVMModuleRef m, char level)
{
    LLVMTargetRef target;
    char *wrong = NULL, cpu[64];
    const char *triple = LLVMGetTarget(m);
    if (LLVMGetTargetFromTriple(triple, &target, &wrong)) {
        LLVMDisposeMessage(wrong);
        return NULL;
    }
    LLVMCodeGenOptLevel code = level == '0'   ? LLVMCodeGenLevelNone
                               : level == '1' ? LLVMCodeGenLevelLess
                               : level == '3' ? LLVMCodeGenLevelAggressive
                                              : LLVMCodeGenLevelDefault;
    unsigned n;
    const char *name = attribute_of(m, "target-cpu", &n);
    snprintf(cpu, sizeof cpu, "%.*s", (int)n, name); /* features: each function tells its own */
    LLVMRelocMode relocation = module_flag(m, "PIC Level") ? LLVMRelocPIC : LLVMRelocStatic;
    return LLVMCreateTargetMachine(target, triple, cpu, "", code, relocation, code_model(m));
}

/* LLVM's C interface makes machines that would put constructors into .ctors, where linkers other than
 * GNU's leave them: here each becomes a pointer in .init_array, as clang does it. */
static void place_constructor(LLVMModuleRef m, LLVMValueRef entry, const char *section)
{
    char name[64];
    LLVMValueRef priority = LLVMGetOperand(entry, 0), function = LLVMGetOperand(entry, 1),
                 with = LLVMGetNumOperands(entry) > 2 ? LLVMGetOperand(entry, 2) : NULL;
    unsigned long long n = LLVMConstIntGetZExtValue(priority);
    if (LLVMIsNull(function))
        return;
    if (n == 65535)
        snprintf(name, sizeof name, "%s", section);
    else
        snprintf(name, sizeof name, "%s.%05llu", section, n);
    LLVMValueRef pointer = LLVMAddGlobal(m, LLVMTypeOf(function), "outfox.constructor");
    LLVMSetInitializer(pointer, function);
    LLVMSetLinkage(pointer, LLVMPrivateLinkage);
    LLVMSetSection(pointer, name);
    LLVMSetAlignment(pointer, 8);
    if (with && LLVMIsAConstantExpr(with))
        with = LLVMGetOperand(with, 0); /* a cast */
    if (with && LLVMIsAGlobalValue(with) && LLVMGetComdat(with))
        LLVMSetComdat(pointer, LLVMGetComdat(with));
}

static void place_constructors(LLVMModuleRef m, const char *list, const char *section)
{
    LLVMValueRef all = LLVMGetNamedGlobal(m, list);
    LLVMValueRef entries = all ? LLVMGetInitializer(all) : NULL;
    if (!entries)
        return;
    for (int i = 0; i < LLVMGetNumOperands(entries); i++)
        place_constructor(m, LLVMGetOperand(entries, (unsigned)i), section);
    LLVMDeleteGlobal(all);
}

/* What LLVM had to tell so far. */
struct told {
    bool warnings, errors;
};

static void hear(LLVMDiagnosticInfoRef info, void *told)
{
    struct told *t = told;
    t->errors |= LLVMGetDiagInfoSeverity(info) == LLVMDSError;
    t->warnings |= LLVMGetDiagInfoSeverity(info) == LLVMDSWarning;
}

static int emit(LLVMModuleRef m, const char *level, struct buf *out, struct err *e)
{
    char passes[40], *wrong = NULL;
    LLVMMemoryBufferRef object = NULL;
    LLVMTargetMachineRef machine = make_machine(m, *level);
    if (!machine)
        return err_set(e, 0, 0, "LLVM does not know the machine \"%s\"", LLVMGetTarget(m));
    snprintf(passes, sizeof passes, "default<O%c>", *level);
    run_passes(m, passes, machine, *level, e);
    place_constructors(m, "llvm.global_ctors", ".init_array");
    place_constructors(m, "llvm.global_dtors", ".fini_array");
    if (!e->text[0] &&
        LLVMTargetMachineEmitToMemoryBuffer(machine, m, LLVMObjectFile, &wrong, &object))
        err_set(e, 0, 0, "%s", wrong);
    LLVMDisposeMessage(wrong);
    if (object && !e->text[0])
        buf_add(out, (slice){LLVMGetBufferStart(object), LLVMGetBufferSize(object)});
    unit_relax(out);
    if (object)
        LLVMDisposeMemoryBuffer(object);
    LLVMDisposeTargetMachine(machine);
    return e->text[0] ? -1 : 0;
}

static void begin_llvm(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInitializeNativeAsmParser();
}

static void keep_bitcode(LLVMModuleRef m, struct buf *out)
{
    LLVMMemoryBufferRef bytes = LLVMWriteBitcodeToMemoryBuffer(m);
    buf_clear(out);
    buf_add(out, (slice){LLVMGetBufferStart(bytes), LLVMGetBufferSize(bytes)});
    LLVMDisposeMemoryBuffer(bytes);
}

enum unit_result unit_compile(slice bitcode, const struct unit_options *o, struct buf *out,
                              struct err *e)
{
    struct told told = {0};
    enum unit_result result = UNIT_OBJECT;
    LLVMContextRef context = LLVMContextCreate();
    LLVMContextSetDiagnosticHandler(context, hear, &told);
    begin_llvm();
    LLVMModuleRef m = make_module(context, bitcode, o);
    if (m && !o->debug)
        LLVMStripModuleDebugInfo(m);
    if (!m) {
        err_set(e, 0, 0,
                "clang's bitcode cannot be read: is it clang %d? OUTFOX_CC_CLANG names another one",
                CLANG_MAJOR);
        result = UNIT_FAILED;
    } else if (o->by_clang) {
        keep_bitcode(m, out);
        result = UNIT_BITCODE;
    } else if (emit(m, o->level, out, e)) {
        result = UNIT_FAILED;
    }
    if (m)
        LLVMDisposeModule(m);
    LLVMContextDispose(context);
    if (told.errors)
        return UNIT_WRONG;
    if (!m || o->by_clang || (result == UNIT_OBJECT && !told.warnings))
        return result;
    struct unit_options again = *o; /* clang emits it */
    again.by_clang = true;
    *e = (struct err){0};
    return unit_compile(bitcode, &again, out, e);
}
