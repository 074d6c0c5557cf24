/* SPDX-License-Identifier: Apache-2.0
 *
 * What a function returns on which of its ways: constants that it returns, the branches that decide that it does,
 * and what happens between such a branch and the return. */
#include "returns.h"

enum { PHIS_MOST = 8, BLOCKS_MOST = 64, VALUES_MOST = 128 };

/* ---- the constants ---- */

static void add_source(struct returns *r, LLVMValueRef value, uint32_t at, uint32_t to)
{
    if (LLVMIsUndef(value)) /* a way that is never gone */
        return;
    if (!LLVMIsAConstantInt(value) && !LLVMIsAConstantPointerNull(value)) {
        r->others++;
        return;
    }
    vec_push(&r->source, (struct source){value, at, to});
}

static void find_sources(struct returns *r, LLVMValueRef value, uint32_t at, uint32_t to, int depth)
{
    if (!LLVMIsAPHINode(value) || depth == 0) {
        add_source(r, value, at, to);
        return;
    }
    for (uint32_t i = 0; i < r->n_phis; i++)
        if (r->phi[i] == value)
            return;
    if (r->n_phis < PHIS_MOST)
        r->phi[r->n_phis++] = value;
    uint32_t block = flow_index(r->flow, LLVMGetInstructionParent(value));
    for (unsigned i = 0, n = LLVMCountIncoming(value); i < n; i++) {
        uint32_t from = flow_index(r->flow, LLVMGetIncomingBlock(value, i));
        if (!r->flow->dead[from])
            find_sources(r, LLVMGetIncomingValue(value, i), from, block, depth - 1);
    }
}

/* ---- what a condition depends on ---- */

static enum cause worse(enum cause a, enum cause b)
{
    return a > b ? a : b;
}

/* Of this value alone; where it follows from others, *follows. */
static enum cause cause_here(LLVMValueRef v, bool *follows)
{
    *follows = false;
    if (LLVMIsAArgument(v))
        return CAUSE_ARGUMENT;
    if (!LLVMIsAInstruction(v))
        return CAUSE_NONE;
    if (LLVMIsALoadInst(v)) {
        LLVMValueRef base = address_base(LLVMGetOperand(v, 0));
        LLVMValueRef target = is_call(base) ? call_target(base) : NULL;
        return target && slice_is(value_name(target), "__errno_location") ? CAUSE_CALL : CAUSE_OWN;
    }
    if (LLVMIsAAllocaInst(v))
        return CAUSE_OWN;
    bool call = is_call(v);
    LLVMValueRef target = call ? call_target(v) : NULL;
    if (call && !(target && (is_intrinsic(target) || is_pure(value_name(target)))))
        return CAUSE_CALL;
    *follows = true;
    return call ? CAUSE_OWN : CAUSE_NONE;
}

/* Each value is looked at once: those of a loop follow from each other. */
static enum cause cause_of(LLVMValueRef v)
{
    LLVMValueRef seen[VALUES_MOST] = {v};
    enum cause all = CAUSE_NONE;
    bool follows;
    for (uint32_t at = 0, n = 1; at < n; at++) {
        all = worse(all, cause_here(seen[at], &follows));
        int operands = !follows            ? 0
                       : is_call(seen[at]) ? (int)call_arguments(seen[at])
                                           : LLVMGetNumOperands(seen[at]);
        for (int i = 0; i < operands && n < VALUES_MOST; i++) {
            LLVMValueRef one = LLVMGetOperand(seen[at], (unsigned)i);
            uint32_t k = 0;
            while (k < n && seen[k] != one)
                k++;
            if (k == n)
                seen[n++] = one;
        }
    }
    return all;
}

/* Is it a question whether an argument is NULL? Who gets nothing and gives nothing back finds no error. */
static bool asks_for_argument(LLVMValueRef condition)
{
    if (!LLVMIsAICmpInst(condition))
        return false;
    LLVMValueRef a = LLVMGetOperand(condition, 0), b = LLVMGetOperand(condition, 1);
    return LLVMIsAArgument(a) && LLVMIsAConstantPointerNull(b);
}

/* ---- what happens on the way ---- */

bool is_utterance(LLVMValueRef target)
{
    static const char *const words[] = {"log",   "print", "warn",   "err",  "debug",
                                        "trace", "fatal", "report", "note", NULL};
    static const char *const others[] = {"login", "logical", "printable", NULL};
    slice name = value_name(target);
    LLVMTypeRef type = LLVMGlobalGetValueType(target);
    return name_has(name, words) && !name_has(name, others) &&
           (LLVMIsFunctionVarArg(type) ||
            LLVMGetTypeKind(LLVMGetReturnType(type)) == LLVMVoidTypeKind);
}

static bool tidies_up(LLVMValueRef target)
{
    static const char *const words[] = {
        "free",  "close", "unlock", "release", "destroy", "clean",   "delete", "decr",
        "unref", "put",   "deinit", "dispose", "cleanup", "discard", "unlink", NULL};
    return name_has(value_name(target), words);
}

/* Does a call get what its function got from its caller, or something of the program's? */
static bool touches_caller(LLVMValueRef call)
{
    for (unsigned i = 0, n = call_arguments(call); i < n; i++) {
        LLVMValueRef a = LLVMGetOperand(call, i);
        if (LLVMGetTypeKind(LLVMTypeOf(a)) != LLVMPointerTypeKind)
            continue;
        LLVMValueRef base = address_base(a);
        if (LLVMIsAArgument(base) || (LLVMIsAGlobalVariable(base) && !LLVMIsGlobalConstant(base)))
            return true;
    }
    return false;
}

static void look_at_instruction(LLVMValueRef i, struct path *p)
{
    if (LLVMIsAStoreInst(i)) {
        LLVMValueRef base = address_base(LLVMGetOperand(i, 1));
        LLVMValueRef target = is_call(base) ? call_target(base) : NULL;
        if (target && slice_is(value_name(target), "__errno_location"))
            p->sets_errno = true;
        else if (!LLVMIsAAllocaInst(base))
            p->effects++;
    } else if (is_call(i)) {
        LLVMValueRef target = call_target(i);
        if (!target)
            p->effects += touches_caller(i);
        else if (slice_starts(value_name(target), SLICE("outfox.")) || is_intrinsic(target) ||
                 is_pure(value_name(target)) || tidies_up(target))
            return;
        else if (is_utterance(target) && !touches_caller(i))
            p->says = true;
        else
            p->effects += touches_caller(i);
    }
}

/* What can happen from where a branch went (`to`) to the return. */
static void look_at_path(const struct returns *r, const struct source *s, struct control c,
                         struct path *p)
{
    const struct flow *f = r->flow;
    uint32_t n = 0, block[BLOCKS_MOST];
    if (c.to != s->to)
        block[n++] = c.to;
    for (uint32_t at = 0; at < n; at++) {
        uint32_t b = block[at];
        for (LLVMValueRef i = LLVMGetFirstInstruction(f->block[b]); i;
             i = LLVMGetNextInstruction(i))
            look_at_instruction(i, p);
        for (uint32_t e = f->first_to[b]; e < f->first_to[b + 1]; e++) {
            bool known = f->to[e] == s->to || f->to[e] == flow_stop(f, c.at) || n == BLOCKS_MOST;
            for (uint32_t k = 0; k < n && !known; k++)
                known = block[k] == f->to[e];
            if (!known)
                block[n++] = f->to[e];
        }
    }
}

static LLVMValueRef condition_of(const struct flow *f, uint32_t at)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(f->block[at]);
    if (LLVMIsABranchInst(end))
        return LLVMIsConditional(end) ? LLVMGetCondition(end) : NULL;
    return LLVMIsASwitchInst(end) ? LLVMGetOperand(end, 0) : NULL;
}

static void add_path(struct returns *r, const struct source *s, struct control c)
{
    LLVMValueRef condition = condition_of(r->flow, c.at);
    if (!condition)
        return;
    struct path p = {.value = s->value, .at = c.at, .to = c.to, .cause = cause_of(condition)};
    p.only_argument = asks_for_argument(condition);
    look_at_path(r, s, c, &p);
    vec_push(&r->path, p);
}

void returns_find(struct returns *r, const struct flow *flow)
{
    *r = (struct returns){.flow = flow};
    for (uint32_t b = 0; b < flow->n; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(flow->block[b]);
        if (end && LLVMIsAReturnInst(end) && LLVMGetNumOperands(end) == 1)
            find_sources(r, LLVMGetOperand(end, 0), b, flow->n, PHIS_MOST);
    }
    if (!r->source.n)
        return;
    struct controls *c = controls_new(flow);
    for (uint32_t i = 0; i < r->source.n; i++) {
        const struct source *s = &r->source.at[i];
        bool own = s->to < flow->n && flow->first_to[s->at + 1] - flow->first_to[s->at] > 1;
        if (own) {
            add_path(r, s, (struct control){s->at, s->to});
            continue;
        }
        for (uint32_t k = c->first[s->at]; k < c->first[s->at + 1]; k++)
            add_path(r, s, c->item[k]);
    }
    controls_free(c);
}

void returns_deinit(struct returns *r)
{
    vec_deinit(&r->source);
    vec_deinit(&r->path);
}
