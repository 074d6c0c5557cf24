/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of state variables as their source would say them: an address is followed back to a variable, and
 * the way is written down from there, with names of fields from debug information.
 *
 * llvm-c has no readers for most of that; its nodes are read by the places of their operands, which are
 * the same from LLVM 14 on:
 *   variables 1 name, 3 type; types 2 name, 3 base type (of a function: list of types), 4 elements;
 *   functions 4 type. A type without name is a pointer if it has a size, else a qualifier.
 * What does not fit is not named: then the type's name and an offset in bytes must do. */
#include <llvm-c/DebugInfo.h>

#include "analyse.h"

enum { DEPTH_MOST = 6, FIELDS_MOST = 20000 };
enum {
    VARIABLE_NAME = 1,
    TYPE_NAME = 2,
    TYPE_BASE = 3,
    VARIABLE_TYPE = 3,
    TYPE_ELEMENTS = 4,
    FUNCTION_TYPE = 4
};

/* ---- nodes ---- */

static LLVMMetadataKind kind_of(LLVMValueRef node)
{
    return LLVMGetMetadataKind(LLVMValueAsMetadata(node));
}

static unsigned n_operands(LLVMValueRef node)
{
    return node && LLVMIsAMDNode(node) ? LLVMGetMDNodeNumOperands(node) : 0;
}

/* Operand i of a node that has few; NULL: it has none there. */
static LLVMValueRef operand(LLVMValueRef node, unsigned i)
{
    LLVMValueRef all[32];
    unsigned n = n_operands(node);
    if (i >= n || n > 32)
        return NULL;
    LLVMGetMDNodeOperands(node, all);
    return all[i];
}

static slice text_of(LLVMValueRef node, unsigned i)
{
    LLVMValueRef text = operand(node, i);
    unsigned n = 0;
    if (!text || !LLVMIsAMDString(text))
        return SLICE("");
    const char *p = LLVMGetMDString(text, &n);
    return (slice){p, n};
}

static bool is_type(LLVMValueRef node)
{
    if (!node || !LLVMIsAMDNode(node))
        return false;
    LLVMMetadataKind kind = kind_of(node);
    return kind == LLVMDIDerivedTypeMetadataKind || kind == LLVMDICompositeTypeMetadataKind ||
           kind == LLVMDIBasicTypeMetadataKind || kind == LLVMDISubroutineTypeMetadataKind;
}

static uint64_t size_of(LLVMValueRef type)
{
    return LLVMDITypeGetSizeInBits(LLVMValueAsMetadata(type));
}

/* Without typedef, const and volatile. */
static LLVMValueRef bare(LLVMValueRef type)
{
    for (int i = 0; i < 16 && is_type(type) && kind_of(type) == LLVMDIDerivedTypeMetadataKind;
         i++) {
        if (size_of(type) != 0)
            return type;
        type = operand(type, TYPE_BASE);
    }
    return is_type(type) ? type : NULL;
}

/* What a pointer of this type points to; NULL: it is none. */
static LLVMValueRef pointed(LLVMValueRef type)
{
    type = bare(type);
    if (!type || kind_of(type) != LLVMDIDerivedTypeMetadataKind || text_of(type, TYPE_NAME).n)
        return NULL;
    return operand(type, TYPE_BASE);
}

/* ---- what is known of an address or a value: a text, and a type ---- */

struct known {
    struct buf *text;
    LLVMValueRef type; /* of the value, or of what is at the address; NULL: not known */
};

/* Adds the names of the fields that are `bits` into *type, which becomes the innermost one's. */
static bool add_fields(LLVMValueRef *type, uint64_t bits, const char *dot, struct buf *out)
{
    LLVMValueRef at = bare(*type);
    bool any = false;
    while (at && kind_of(at) == LLVMDICompositeTypeMetadataKind) {
        LLVMValueRef list = operand(at, TYPE_ELEMENTS), found = NULL;
        unsigned n = n_operands(list);
        if (n == 0 || n > FIELDS_MOST)
            break;
        LLVMValueRef *all = mem_alloc(n * sizeof *all);
        LLVMGetMDNodeOperands(list, all);
        if (kind_of(all[0]) == LLVMDISubrangeMetadataKind) { /* an array */
            LLVMValueRef item = bare(operand(at, TYPE_BASE));
            uint64_t size = item ? size_of(item) : 0;
            mem_free(all);
            if (!size)
                break;
            buf_adds(out, "[]");
            bits %= size;
            at = item;
            continue;
        }
        uint64_t from = 0;
        for (unsigned i = 0; i < n && !found; i++) {
            if (!all[i] || !is_type(all[i]) || kind_of(all[i]) != LLVMDIDerivedTypeMetadataKind)
                continue;
            from = LLVMDITypeGetOffsetInBits(LLVMValueAsMetadata(all[i]));
            if (from <= bits && bits < from + size_of(all[i]))
                found = all[i];
        }
        mem_free(all);
        if (!found)
            break;
        if (text_of(found, TYPE_NAME).n) {
            buf_adds(out, any ? "." : dot);
            buf_add(out, text_of(found, TYPE_NAME));
            any = true;
        }
        bits -= from;
        *type = operand(found, TYPE_BASE);
        at = bare(*type);
    }
    return any;
}

/* ---- offsets ---- */

static LLVMTypeRef step_into(LLVMTargetDataRef layout, LLVMTypeRef type, LLVMValueRef index,
                             uint64_t *bytes)
{
    bool number = LLVMIsAConstantInt(index);
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
        unsigned i = (unsigned)LLVMConstIntGetZExtValue(index);
        *bytes += LLVMOffsetOfElement(layout, type, i);
        return LLVMStructGetTypeAtIndex(type, i);
    }
    if (LLVMGetTypeKind(type) != LLVMArrayTypeKind && LLVMGetTypeKind(type) != LLVMVectorTypeKind)
        return type;
    LLVMTypeRef item = LLVMGetElementType(type);
    if (number)
        *bytes += LLVMConstIntGetZExtValue(index) * LLVMABISizeOfType(layout, item);
    return item;
}

bool is_gep(LLVMValueRef v)
{
    return LLVMIsAGetElementPtrInst(v) ||
           (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMGetElementPtr);
}

/* How far into its base an address is; *name: the struct that its outermost step goes into. */
uint64_t gep_offset(LLVMTargetDataRef layout, LLVMValueRef gep, LLVMTypeRef *outer)
{
    uint64_t bytes = 0;
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    *outer = type;
    LLVMValueRef first = LLVMGetOperand(gep, 1);
    if (LLVMIsAConstantInt(first) && LLVMTypeIsSized(type))
        bytes += (uint64_t)LLVMConstIntGetSExtValue(first) * LLVMABISizeOfType(layout, type);
    for (int i = 2; i < LLVMGetNumOperands(gep); i++)
        type = step_into(layout, type, LLVMGetOperand(gep, (unsigned)i), &bytes);
    return bytes;
}

static void add_type(LLVMTypeRef type, struct buf *out)
{
    const char *name = LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMGetStructName(type) : NULL;
    slice s = name ? slice_of(name) : SLICE("");
    static const char *const prefixes[] = {"struct.", "class.", "union."};
    for (size_t i = 0; i < 3; i++)
        if (slice_starts(s, slice_of(prefixes[i])))
            s = slice_from(s, strlen(prefixes[i]));
    buf_add(out, s.n ? s : SLICE("?"));
}

/* ---- from values to names ---- */

static LLVMValueRef add_value(struct names *n, LLVMValueRef v, struct buf *out, int depth);

/* The variable of a global, from its debug information; NULL: it has none. */
static LLVMValueRef global_variable(LLVMValueRef global)
{
    size_t count = 0;
    LLVMValueRef found = NULL;
    LLVMValueMetadataEntry *all = LLVMGlobalCopyAllMetadata(global, &count);
    for (unsigned i = 0; i < count && !found; i++) {
        LLVMMetadataRef m = LLVMValueMetadataEntriesGetMetadata(all, i);
        if (LLVMGetMetadataKind(m) == LLVMDIGlobalVariableExpressionMetadataKind)
            found = LLVMMetadataAsValue(LLVMGetTypeContext(LLVMTypeOf(global)),
                                        LLVMDIGlobalVariableExpressionGetVariable(m));
    }
    LLVMDisposeValueMetadataEntries(all);
    return found;
}

static LLVMValueRef add_global(LLVMValueRef global, struct buf *out)
{
    LLVMValueRef variable = global_variable(global);
    slice name = variable ? text_of(variable, VARIABLE_NAME) : value_name(global);
    buf_add(out, name.n ? name : value_name(global));
    return variable ? operand(variable, VARIABLE_TYPE) : NULL;
}

static LLVMValueRef local_variable(const struct names *n, LLVMValueRef v)
{
    const uint32_t *at = map_get(&n->local, (uintptr_t)v);
    return at ? n->variable.at[*at] : NULL;
}

static bool points_to_fields(LLVMValueRef variable)
{
    LLVMValueRef to = bare(pointed(operand(variable, VARIABLE_TYPE)));
    return to && kind_of(to) == LLVMDICompositeTypeMetadataKind;
}

/* Without casts, as far as a variable that points to a struct. */
static LLVMValueRef peel(const struct names *n, LLVMValueRef v)
{
    for (; LLVMIsACastInst(v); v = LLVMGetOperand(v, 0)) {
        LLVMValueRef variable = local_variable(n, v);
        if (variable && points_to_fields(variable))
            return v;
    }
    return strip_casts(v);
}

/* Writes what is at an address; returns its type. */
static LLVMValueRef add_address(struct names *n, LLVMValueRef p, struct buf *out, int depth)
{
    p = strip_casts(p);
    if (LLVMIsAGlobalVariable(p))
        return add_global(p, out);
    if (LLVMIsAAllocaInst(p)) {
        LLVMValueRef variable = local_variable(n, p);
        buf_add(out, variable ? text_of(variable, VARIABLE_NAME) : SLICE(""));
        return variable ? operand(variable, VARIABLE_TYPE) : NULL;
    }
    if (!is_gep(p) || depth == 0) {
        buf_addc(out, '*');
        return pointed(add_value(n, p, out, depth - 1));
    }
    /* Steps in a row are one. */
    uint64_t bytes = 0;
    LLVMTypeRef outer = NULL;
    while (is_gep(p)) {
        bytes += gep_offset(n->layout, p, &outer);
        p = peel(n, LLVMGetOperand(p, 0));
    }
    bool object = LLVMIsAGlobalVariable(p) || LLVMIsAAllocaInst(p);
    size_t before = out->n;
    LLVMValueRef type =
        object ? add_address(n, p, out, depth - 1) : pointed(add_value(n, p, out, depth - 1));
    if (out->n == before)
        add_type(outer, out);
    slice known = !type && LLVMIsAGlobalVariable(p) ? fields_name(&n->fields, p, bytes) : SLICE("");
    if (known.n) {
        buf_add(out, slice_from(known, value_name(p).n));
        return NULL;
    }
    if (!type || !add_fields(&type, bytes * 8, object || out->n == before ? "." : "->", out)) {
        buf_addf(out, "+%llu", (unsigned long long)bytes);
        return NULL;
    }
    return type;
}

/* The type that a function returns, by its debug information. */
static LLVMValueRef returned(LLVMValueRef function)
{
    LLVMMetadataRef sub = function ? LLVMGetSubprogram(function) : NULL;
    if (!sub)
        return NULL;
    LLVMValueRef node = LLVMMetadataAsValue(LLVMGetTypeContext(LLVMTypeOf(function)), sub);
    return operand(operand(operand(node, FUNCTION_TYPE), TYPE_BASE), 0);
}

/* Writes a value; returns its type. Nothing is written of one that has no name. */
static LLVMValueRef add_value(struct names *n, LLVMValueRef v, struct buf *out, int depth)
{
    LLVMValueRef variable = local_variable(n, v);
    while (!variable && LLVMIsACastInst(v)) {
        v = LLVMGetOperand(v, 0);
        variable = local_variable(n, v);
    }
    if (variable) {
        buf_add(out, text_of(variable, VARIABLE_NAME));
        return operand(variable, VARIABLE_TYPE);
    }
    v = strip_casts(v);
    if (LLVMIsALoadInst(v) && depth > 0)
        return add_address(n, LLVMGetOperand(v, 0), out, depth - 1);
    if (is_call(v) && call_target(v)) {
        buf_add(out, value_name(call_target(v)));
        buf_adds(out, "()");
        return returned(call_target(v));
    }
    if (LLVMIsAPHINode(v) && depth > 0)
        return add_value(n, LLVMGetIncomingValue(v, 0), out, depth - 1);
    if (LLVMIsAArgument(v))
        buf_add(out, value_name(v));
    return NULL;
}

static bool is_void_pointer(LLVMValueRef type)
{
    type = bare(type);
    return type && kind_of(type) == LLVMDIDerivedTypeMetadataKind && !text_of(type, TYPE_NAME).n &&
           !operand(type, TYPE_BASE);
}

bool names_callback(LLVMValueRef function)
{
    LLVMMetadataRef sub = LLVMGetSubprogram(function);
    if (!sub)
        return false;
    LLVMValueRef node = LLVMMetadataAsValue(LLVMGetTypeContext(LLVMTypeOf(function)), sub);
    LLVMValueRef types = operand(operand(node, FUNCTION_TYPE), TYPE_BASE);
    LLVMValueRef result = operand(types, 0);
    bool any = false;
    for (unsigned i = 1; i < n_operands(types); i++)
        any = any || is_void_pointer(operand(types, i));
    LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetReturnType(LLVMGlobalGetValueType(function)));
    return any &&
           (kind == LLVMVoidTypeKind || kind == LLVMIntegerTypeKind || is_void_pointer(result));
}

void names_add(struct names *n, LLVMValueRef load, struct buf *out)
{
    add_address(n, LLVMGetOperand(load, 0), out, DEPTH_MOST);
}

void names_field(struct names *n, LLVMValueRef address, struct buf *out)
{
    LLVMValueRef p = strip_casts(address), type;
    LLVMTypeRef outer;
    if (!is_gep(p)) {
        if (LLVMIsAGlobalVariable(p))
            add_global(p, out);
        return;
    }
    uint64_t bytes = gep_offset(n->layout, p, &outer);
    p = strip_casts(LLVMGetOperand(p, 0));
    if (LLVMIsAGlobalVariable(p)) {
        type = add_global(p, out);
    } else {
        struct buf unused = BUF_INIT(4096);
        type = pointed(add_value(n, p, &unused, DEPTH_MOST));
        buf_deinit(&unused);
        add_type(outer, out);
    }
    if (!type || !add_fields(&type, bytes * 8, ".", out))
        buf_addf(out, "+%llu", (unsigned long long)bytes);
}

void names_init(struct names *n, LLVMModuleRef module)
{
    *n = (struct names){.layout = LLVMGetModuleDataLayout(module)};
    n->fields.layout = n->layout;
}

/* Which values are which variables: the notes that clang leaves. Of several of a value the
 * first that points to a struct counts, else the last. */
void names_function(struct names *n, LLVMValueRef function)
{
    map_clear(&n->local);
    n->variable.n = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef target = LLVMIsACallInst(i) ? call_target(i) : NULL;
            if (!target || !slice_starts(value_name(target), SLICE("llvm.dbg.")))
                continue;
            if (LLVMGetNumArgOperands(i) != 3)
                continue;
            LLVMValueRef holder = LLVMGetOperand(i, 0), v = NULL;
            if (LLVMGetMetadataKind(LLVMValueAsMetadata(holder)) == LLVMLocalAsMetadataMetadataKind)
                LLVMGetMDNodeOperands(holder, &v);
            LLVMValueRef had = v ? local_variable(n, v) : NULL;
            if (!v || (had && points_to_fields(had)))
                continue;
            map_set(&n->local, (uintptr_t)v, n->variable.n);
            vec_push(&n->variable, LLVMGetOperand(i, 1));
        }
}

void names_deinit(struct names *n)
{
    map_deinit(&n->local);
    vec_deinit(&n->variable);
    fields_deinit(&n->fields);
}
