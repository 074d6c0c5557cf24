/* SPDX-License-Identifier: Apache-2.0
 *
 * State variables and what depends on them: data dependence over SSA values, forwards from the loads
 * of state, breadth first, so that a value is known by the load that is nearest to it. Through memory
 * of the function's own it does not go: mem2reg has made values of what matters. */
#include "analyse.h"

/* Variables of the C library, which say nothing about the state of a program. */
static bool is_foreign(LLVMValueRef global)
{
    static const char *const names[] = {
        "stdin",  "stdout", "stderr",          "environ",           "optarg", "optind", "opterr",
        "optopt", "errno",  "stack_chk_guard", "__stack_chk_guard", NULL};
    slice name = value_name(global);
    if (slice_starts(name, SLICE("outfox_")))
        return true;
    for (const char *const *n = names; *n; n++)
        if (slice_is(name, *n))
            return true;
    return false;
}

static LLVMOpcode opcode_of(LLVMValueRef v)
{
    return LLVMIsAInstruction(v)    ? LLVMGetInstructionOpcode(v)
           : LLVMIsAConstantExpr(v) ? LLVMGetConstOpcode(v)
                                    : LLVMRet;
}

LLVMValueRef address_base(LLVMValueRef address)
{
    for (;;) {
        address = strip_casts(address);
        if (opcode_of(address) != LLVMGetElementPtr)
            return address;
        address = LLVMGetOperand(address, 0);
    }
}

/* An argument that the caller has made for the call: a copy of a struct, or room for the result. */
static bool is_own_argument(LLVMValueRef v)
{
    if (!LLVMIsAArgument(v))
        return false;
    LLVMValueRef function = LLVMGetParamParent(v);
    for (unsigned i = 0, n = LLVMCountParams(function); i < n; i++) {
        if (LLVMGetParam(function, i) != v)
            continue;
        return has_attribute(function, i + 1, "byval") || has_attribute(function, i + 1, "sret");
    }
    return false;
}

bool address_is_state(LLVMValueRef address)
{
    bool field = false;
    for (;;) {
        address = strip_casts(address);
        if (opcode_of(address) != LLVMGetElementPtr)
            break;
        LLVMTypeRef type = LLVMGetGEPSourceElementType(address);
        field = field || LLVMGetTypeKind(type) == LLVMStructTypeKind;
        address = LLVMGetOperand(address, 0);
    }
    if (LLVMIsAGlobalVariable(address))
        return !LLVMIsGlobalConstant(address) && !is_foreign(address) &&
               LLVMGetLinkage(address) != LLVMPrivateLinkage;
    return field && !LLVMIsAAllocaInst(address) && !is_own_argument(address) &&
           !LLVMIsAConstant(address);
}

/* Does the value of `user` follow from that of `v`, which it uses? */
static bool passes_on(LLVMValueRef user, LLVMValueRef v)
{
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMStore:
    case LLVMBr:
    case LLVMSwitch:
    case LLVMRet:
    case LLVMIndirectBr:
    case LLVMResume:
    case LLVMUnreachable:
    case LLVMAlloca:
    case LLVMFence:
    case LLVMLandingPad: return false;
    case LLVMCall:
    case LLVMInvoke:
        return LLVMGetTypeKind(LLVMTypeOf(user)) != LLVMVoidTypeKind &&
               LLVMGetCalledValue(user) != v;
    default: return true;
    }
}

static void taint_add(struct taint *t, struct values *work, LLVMValueRef v, uint32_t load)
{
    if (map_get(&t->source, (uintptr_t)v))
        return;
    map_set(&t->source, (uintptr_t)v, load);
    vec_push(work, v);
}

void taint_find(struct taint *t, LLVMValueRef function)
{
    struct values work = {0};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsALoadInst(i) || !address_is_state(LLVMGetOperand(i, 0)))
                continue;
            taint_add(t, &work, i, t->load.n);
            vec_push(&t->load, i);
        }
    for (uint32_t at = 0; at < work.n; at++) {
        uint32_t load = *map_get(&t->source, (uintptr_t)work.at[at]);
        for (LLVMUseRef u = LLVMGetFirstUse(work.at[at]); u; u = LLVMGetNextUse(u)) {
            LLVMValueRef user = LLVMGetUser(u);
            if (LLVMIsAInstruction(user) && passes_on(user, work.at[at]))
                taint_add(t, &work, user, load);
        }
    }
    vec_deinit(&work);
}

LLVMValueRef taint_of(const struct taint *t, LLVMValueRef value)
{
    const uint32_t *at = map_get(&t->source, (uintptr_t)value);
    return at ? t->load.at[*at] : NULL;
}

void taint_deinit(struct taint *t)
{
    map_deinit(&t->source);
    vec_deinit(&t->load);
}
