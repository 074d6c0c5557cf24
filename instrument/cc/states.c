/* SPDX-License-Identifier: Apache-2.0
 *
 * Abstract states, after Legolas: a block is one when a branch on a state variable decides that it runs,
 * and when it does something: calls a function, or changes state. What follows such a branch whichever
 * way it went is none. The beginning of a function is state 0.
 *
 *   int work(struct job *j) {                            now = state 0
 *       if (j->step == READING)    <- depends on j->step
 *           n = fill(j);           <- calls              now = state 1
 *       else
 *           n = 0;                 <- does nothing
 *       return n;                                        now = what it was before
 *   }
 *
 * 1. Only where a function's record says `enabled` its states go to outfox_now. It looks each time, since that is
 *    cheaper for the many whose states do not count than to remember.
 * 2. Whichever way a function is left, what was in outfox_now before is there again: by return, by a tail call, by an
 *    exception. Who catches an exception puts back what was when it called; functions without states
 *    do that too, since those that an exception passes by do nothing.
 * 3. Not so after longjmp: the state is that of the function that jumped, until the next. Functions that call setjmp
 *    have no states, since what they keep in registers is not defined when it returns again.
 * 4. Functions from which no hook can be reached have none: nobody could tell. */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>

#include "cc.h"
#include "returns.h"

enum { STATES_MOST = UINT16_MAX, NAME_MOST = 200, STATES_OF_A_STEP = 8 };

struct candidate {
    LLVMValueRef function;
    struct flow *flow;
    bool out;   /* calls what may hold a hook */
    bool alone; /* must be left alone */
};

struct states {
    struct unit *unit;
    struct names names;
    VEC(struct candidate) all;
    struct map index; /* function -> index of candidate */
};

/* A block that is to be one. */
struct found {
    uint32_t block;
    LLVMValueRef load; /* of the state variable */
    LLVMValueRef branch;
};

/* ---- which functions ---- */

static bool is_setjmp(LLVMValueRef function)
{
    static const char *const names[] = {"setjmp",  "_setjmp", "sigsetjmp",  "__sigsetjmp",
                                        "savectx", "vfork",   "getcontext", NULL};
    for (const char *const *n = names; *n; n++)
        if (slice_is(value_name(function), *n))
            return true;
    return has_attribute(function, LLVMAttributeFunctionIndex, "returns_twice");
}

static bool must_be_left_alone(LLVMValueRef function)
{
    if (LLVMGetLinkage(function) == LLVMAvailableExternallyLinkage ||
        has_attribute(function, LLVMAttributeFunctionIndex, "naked") ||
        has_attribute(function, LLVMAttributeFunctionIndex, "presplitcoroutine"))
        return true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef target = is_call(i) ? call_target(i) : NULL;
            if (target &&
                (is_setjmp(target) || slice_starts(value_name(target), SLICE("llvm.coro."))))
                return true;
        }
    return false;
}

/* Is a call one that may come to a hook? UNIT: when the function that it calls, one of this unit, does. */
enum reach { NOWHERE, UNIT, OUT };

static enum reach call_reaches(LLVMValueRef call)
{
    LLVMValueRef target = call_target(call);
    if (!target)
        return LLVMIsAInlineAsm(LLVMGetCalledValue(call)) ? NOWHERE : OUT;
    if (!LLVMIsDeclaration(target))
        return UNIT;
    return is_intrinsic(target) || is_pure(value_name(target)) ? NOWHERE : OUT;
}

static bool finds_way_out(const struct states *s, const struct candidate *c)
{
    for (uint32_t b = 0; b < c->flow->n; b++) {
        if (c->flow->dead[b])
            continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(c->flow->block[b]); i;
             i = LLVMGetNextInstruction(i)) {
            enum reach reach = is_call(i) ? call_reaches(i) : NOWHERE;
            if (reach == OUT)
                return true;
            const uint32_t *at =
                reach == UNIT ? map_get(&s->index, (uintptr_t)call_target(i)) : NULL;
            if (at && s->all.at[*at].out)
                return true;
        }
    }
    return false;
}

static void list_functions(struct states *s)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(s->unit->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        map_set(&s->index, (uintptr_t)f, s->all.n);
        vec_push(&s->all, (struct candidate){
                              .function = f, .flow = flow_new(f), .alone = must_be_left_alone(f)});
    }
    for (bool more = true; more;) {
        more = false;
        for (uint32_t i = 0; i < s->all.n; i++)
            if (!s->all.at[i].out && finds_way_out(s, &s->all.at[i]))
                s->all.at[i].out = more = true;
    }
}

/* ---- which blocks ---- */

/* Is it called only for somebody to read what it returns? */
static bool is_told(LLVMValueRef call)
{
    bool any = false;
    for (LLVMUseRef u = LLVMGetFirstUse(call); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u), target = is_call(user) ? call_target(user) : NULL;
        if (!target || !(is_utterance(target) || is_intrinsic(target)))
            return false;
        any = any || is_utterance(target);
    }
    return any;
}

static bool is_action(LLVMValueRef i)
{
    switch (LLVMGetInstructionOpcode(i)) {
    case LLVMStore: return address_is_state(LLVMGetOperand(i, 1));
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return address_is_state(LLVMGetOperand(i, 0));
    case LLVMCall:
    case LLVMInvoke:
        return call_reaches(i) != NOWHERE && !is_told(i) &&
               !(call_target(i) && is_utterance(call_target(i)));
    default: return false;
    }
}

static bool acts(LLVMBasicBlockRef block)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        if (is_action(i))
            return true;
    return false;
}

/* What decides which way the end of a block goes; NULL: it goes one way only. */
static LLVMValueRef decision(LLVMBasicBlockRef block)
{
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    if (!end)
        return NULL;
    switch (LLVMGetInstructionOpcode(end)) {
    case LLVMBr: return LLVMIsConditional(end) ? LLVMGetCondition(end) : NULL;
    case LLVMSwitch:
    case LLVMIndirectBr: return LLVMGetOperand(end, 0);
    default: return NULL;
    }
}

typedef VEC(struct found) found_list;

/* The blocks in the order of the function. */
static void find_states(const struct candidate *c, found_list *out)
{
    const struct flow *f = c->flow;
    struct taint taint = {0};
    taint_find(&taint, c->function);
    bool *active = mem_zero(f->n + 1);
    struct found *at = mem_zero((f->n + 1) * sizeof *at);
    for (uint32_t b = 0; b < f->n && taint.load.n; b++)
        active[b] = acts(f->block[b]);
    for (uint32_t b = 0; b < f->n; b++) {
        LLVMValueRef on = decision(f->block[b]), load = on ? taint_of(&taint, on) : NULL;
        if (!load || f->dead[b])
            continue;
        for (uint32_t e = f->first_to[b]; e < f->first_to[b + 1]; e++) {
            bool any = false;
            for (uint32_t k = f->to[e]; k != flow_stop(f, b) && k < f->n && !any; k = f->ipdom[k])
                any = active[k];
            if (any && !at[f->to[e]].load)
                at[f->to[e]] =
                    (struct found){f->to[e], load, LLVMGetBasicBlockTerminator(f->block[b])};
        }
    }
    for (uint32_t b = 0; b < f->n && out->n < STATES_MOST; b++)
        if (at[b].load)
            vec_push(out, at[b]);
    mem_free(active);
    mem_free(at);
    taint_deinit(&taint);
}

/* ---- records ---- */

static bool address_taken(LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAConstantExpr(user) ? address_taken(user)
                                      : !(is_call(user) && LLVMGetCalledValue(user) == v))
            return true;
    }
    return false;
}

static uint32_t flags_of(LLVMValueRef function)
{
    LLVMLinkage linkage = LLVMGetLinkage(function);
    bool local = linkage == LLVMInternalLinkage || linkage == LLVMPrivateLinkage;
    return (local ? OUTFOX_FUNCTION_LOCAL : 0) |
           (address_taken(function) ? OUTFOX_FUNCTION_ADDRESS : 0) |
           (slice_is(value_name(function), "main") ? OUTFOX_FUNCTION_MAIN : 0);
}

static LLVMValueRef function_record(struct unit *u, LLVMValueRef function)
{
    enum { MAGIC, FILE_NAME, NAME, LINE, FLAGS, ENABLED, NAMES };
    char file[4096] = "", name[4096];
    LLVMTypeRef type = u->function_type;
    LLVMValueRef record = unit_record(u, type, OUTFOX_SECTION_FUNCTIONS);
    unit_share(u, record, function, 0);
    name_copy(function, name, sizeof name);
    uint64_t line = unit_line(function, file, sizeof file, NULL);
    LLVMValueRef field[RECORD_FIELDS_MOST];
    unsigned n = record_begin(type, field);
    field[MAGIC] = number(type, MAGIC, OUTFOX_FUNCTION);
    field[FILE_NAME] = unit_offset(u, record, FILE_NAME, unit_text(u, file));
    field[NAME] = unit_offset(u, record, NAME, unit_text(u, name));
    field[LINE] = number(type, LINE, line);
    field[FLAGS] = number(type, FLAGS, flags_of(function));
    field[NAMES] = number(type, NAMES, unit_names(file, name, ""));
    LLVMSetExternallyInitialized(record, true); /* the runtime writes to it */
    LLVMSetInitializer(record, LLVMConstNamedStruct(type, field, n));
    return record;
}

static unsigned line_of(struct unit *u, LLVMBasicBlockRef block)
{
    (void)u;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef target = is_call(i) ? call_target(i) : NULL;
        unsigned line = target && is_intrinsic(target) ? 0 : unit_line(i, NULL, 0, NULL);
        if (line)
            return line;
    }
    return 0;
}

/* A state of a function: `index` 0 is its beginning, of which nothing is found. */
static LLVMValueRef state_record(struct states *s, const struct candidate *c, LLVMValueRef owner,
                                 const struct found *found, uint32_t index)
{
    enum { MAGIC, FUNCTION, VARIABLE, LINE, BRANCH, INDEX };
    struct unit *u = s->unit;
    LLVMTypeRef type = u->state_type;
    struct buf name = BUF_INIT(NAME_MOST);
    uint64_t line =
        found ? line_of(u, c->flow->block[found->block]) : unit_line(c->function, NULL, 0, NULL);
    if (found)
        names_add(&s->names, found->load, &name);
    LLVMValueRef record = unit_record(u, type, OUTFOX_SECTION_STATES);
    unit_share(u, record, c->function, index);
    LLVMValueRef field[RECORD_FIELDS_MOST];
    unsigned n = record_begin(type, field);
    field[MAGIC] = number(type, MAGIC, OUTFOX_STATE);
    field[FUNCTION] = unit_offset(u, record, FUNCTION, owner);
    field[VARIABLE] = unit_offset(u, record, VARIABLE, unit_text(u, buf_text(&name)));
    field[LINE] = number(type, LINE, line);
    field[BRANCH] = number(type, BRANCH, found ? unit_line(found->branch, NULL, 0, NULL) : 0);
    field[INDEX] = number(type, INDEX, index);
    LLVMSetInitializer(record, LLVMConstNamedStruct(type, field, n));
    buf_deinit(&name);
    return record;
}

/* ---- rewriting ---- */

/* A function while it is rewritten. What it does about states is in small functions of ours that are inlined always:
 * each looks whether the states count, so that functions whose states do not keep nothing in registers. */
struct emission {
    struct unit *unit;
    LLVMBuilderRef builder;
    LLVMTypeRef pointer;  /* of outfox_now: to a state */
    LLVMValueRef enabled; /* where the function's record says it */
    LLVMValueRef saved;   /* what was in outfox_now */
    LLVMValueRef mine;    /* the state that it is in; NULL: it does not catch anything */
};

static void set_unlikely(struct unit *u, LLVMValueRef branch)
{
    LLVMTypeRef word = LLVMInt32TypeInContext(u->context);
    LLVMMetadataRef of[] = {LLVMMDStringInContext2(u->context, "branch_weights", 14),
                            LLVMValueAsMetadata(LLVMConstInt(word, 1, false)),
                            LLVMValueAsMetadata(LLVMConstInt(word, 2000, false))};
    LLVMMetadataRef weights = LLVMMDNodeInContext2(u->context, of, 3);
    LLVMSetMetadata(branch, LLVMGetMDKindIDInContext(u->context, "prof", 4),
                    LLVMMetadataAsValue(u->context, weights));
}

static LLVMValueRef first_place(LLVMBasicBlockRef block)
{
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(i) || LLVMIsALandingPadInst(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* Before a return; but where a call must be the last thing that is done, before that. */
static LLVMValueRef last_place(LLVMValueRef end)
{
    LLVMValueRef before = LLVMGetPreviousInstruction(end);
    if (before && LLVMIsACastInst(before))
        before = LLVMGetPreviousInstruction(before);
    return LLVMIsAReturnInst(end) && before && LLVMIsACallInst(before) && LLVMIsTailCall(before)
               ? before
               : end;
}

static bool has_pads(LLVMValueRef function, bool that_catch)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALandingPadInst(i) && (!that_catch || LLVMGetNumClauses(i) > 0))
                return true;
    return false;
}

/* "put": if (*enabled) outfox_now = state; "get": *enabled ? outfox_now : NULL. */
static LLVMValueRef piece(struct unit *u, LLVMTypeRef pointer, LLVMTypeRef word, bool get)
{
    const char *name = get ? "outfox.get" : "outfox.put";
    LLVMValueRef f = LLVMGetNamedFunction(u->module, name);
    if (f)
        return f;
    LLVMTypeRef of[] = {LLVMPointerType(word, 0), pointer};
    LLVMTypeRef result = get ? pointer : LLVMVoidTypeInContext(u->context);
    f = LLVMAddFunction(u->module, name, LLVMFunctionType(result, of, 2, false));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    unsigned always = LLVMGetEnumAttributeKindForName("alwaysinline", 12);
    LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(u->context, always, 0));
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(u->context, f, "");
    LLVMBasicBlockRef yes = LLVMAppendBasicBlockInContext(u->context, f, "");
    LLVMBasicBlockRef no = LLVMAppendBasicBlockInContext(u->context, f, "");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->context);
    LLVMPositionBuilderAtEnd(b, entry);
    LLVMValueRef is = LLVMBuildICmp(b, LLVMIntNE, LLVMBuildLoad2(b, word, LLVMGetParam(f, 0), ""),
                                    LLVMConstNull(word), "");
    set_unlikely(u, LLVMBuildCondBr(b, is, yes, no));
    LLVMPositionBuilderAtEnd(b, yes);
    LLVMValueRef was = get ? LLVMBuildLoad2(b, pointer, u->now, "") : NULL;
    if (!get)
        LLVMBuildStore(b, LLVMGetParam(f, 1), u->now);
    LLVMBuildBr(b, no);
    LLVMPositionBuilderAtEnd(b, no);
    if (get) {
        LLVMValueRef phi = LLVMBuildPhi(b, pointer, ""), values[] = {LLVMGetParam(f, 1), was};
        LLVMBasicBlockRef from[] = {entry, yes};
        LLVMAddIncoming(phi, values, from, 2);
        LLVMBuildRet(b, phi);
    } else {
        LLVMBuildRetVoid(b);
    }
    LLVMDisposeBuilder(b);
    return f;
}

static LLVMValueRef call_piece(struct emission *e, bool get, LLVMValueRef with)
{
    LLVMTypeRef word = LLVMInt32TypeInContext(e->unit->context);
    LLVMValueRef f = piece(e->unit, e->pointer, word, get), given[] = {e->enabled, with};
    return LLVMBuildCall2(e->builder, LLVMGlobalGetValueType(f), f, given, 2, "");
}

static void put(struct emission *e, LLVMValueRef state)
{
    LLVMValueRef value = LLVMConstPointerCast(state, e->pointer);
    call_piece(e, false, value);
    if (e->mine)
        LLVMBuildStore(e->builder, value, e->mine);
}

static void begin(struct emission *e, LLVMValueRef function)
{
    LLVMPositionBuilderBefore(e->builder, first_place(LLVMGetEntryBasicBlock(function)));
    LLVMSetCurrentDebugLocation2(e->builder, NULL);
}

static void enter(struct emission *e, LLVMValueRef function, LLVMValueRef owner)
{
    enum { ENABLED = 5 };
    begin(e, function);
    e->mine = has_pads(function, false) ? LLVMBuildAlloca(e->builder, e->pointer, "") : NULL;
    e->enabled = LLVMBuildStructGEP2(e->builder, e->unit->function_type, owner, ENABLED, "");
    e->saved = call_piece(e, true, LLVMConstNull(e->pointer));
}

/* outfox_now = value, if the states count; those of a function without states always do. */
static void put_back(struct emission *e, LLVMValueRef value)
{
    if (e->enabled)
        call_piece(e, false, value);
    else
        LLVMBuildStore(e->builder, value, e->unit->now);
}

/* What is put back when the function is left, and when an exception is caught in it. */
static void leave(struct emission *e, LLVMValueRef function)
{
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        LLVMValueRef pad = LLVMGetFirstInstruction(b);
        while (pad && LLVMIsAPHINode(pad))
            pad = LLVMGetNextInstruction(pad);
        if (pad && LLVMIsALandingPadInst(pad) && e->mine) {
            LLVMPositionBuilderBefore(e->builder, first_place(b));
            put_back(e, LLVMBuildLoad2(e->builder, e->pointer, e->mine, ""));
        }
        if (e->enabled && end && (LLVMIsAReturnInst(end) || LLVMIsAResumeInst(end))) {
            LLVMPositionBuilderBefore(e->builder, last_place(end));
            put_back(e, e->saved);
        }
    }
}

/* A function without states of its own that catches exceptions. */
static void keep_when_caught(struct unit *u, LLVMValueRef function)
{
    struct emission e = {.unit = u,
                         .builder = LLVMCreateBuilderInContext(u->context),
                         .pointer = LLVMGlobalGetValueType(u->now)};
    begin(&e, function);
    e.mine = LLVMBuildAlloca(e.builder, e.pointer, "");
    LLVMBuildStore(e.builder, LLVMBuildLoad2(e.builder, e.pointer, u->now, ""), e.mine);
    leave(&e, function);
    LLVMDisposeBuilder(e.builder);
}

static void rewrite(struct states *s, const struct candidate *c, const found_list *found)
{
    struct unit *u = s->unit;
    struct emission e = {.unit = u,
                         .builder = LLVMCreateBuilderInContext(u->context),
                         .pointer = LLVMGlobalGetValueType(u->now)};
    LLVMValueRef owner = function_record(u, c->function);
    LLVMValueRef *state = mem_alloc((found->n + 1) * sizeof *state);
    names_function(&s->names, c->function);
    for (uint32_t i = 0; i <= found->n; i++)
        state[i] = state_record(s, c, owner, i ? &found->at[i - 1] : NULL, i);
    enter(&e, c->function, owner);
    put(&e, state[0]);
    for (uint32_t i = 0; i < found->n; i++) {
        LLVMPositionBuilderBefore(e.builder, first_place(c->flow->block[found->at[i].block]));
        put(&e, state[i + 1]);
    }
    leave(&e, c->function);
    mem_free(state);
    LLVMDisposeBuilder(e.builder);
}

/* Is it given away while the program runs: to a call, or into a field? Or called by the standard library's
 * templates? What stands in a table of constants only is the method of something. */
static bool is_registered(LLVMValueRef v)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAConstantExpr(user) && is_registered(user))
            return true;
        if (!LLVMIsAInstruction(user))
            continue;
        LLVMValueRef in = LLVMGetBasicBlockParent(LLVMGetInstructionParent(user));
        if (!is_call(user) || LLVMGetCalledValue(user) != v || is_plumbing(value_name(in)))
            return true;
    }
    return false;
}

/* Is it worth its cost? A task, or what may be one for others; else a function that has many states, as a step of
 * a task that is one by itself. What is called for every request has few. */
static bool is_worth_it(const struct candidate *c, const found_list *found)
{
    uint32_t flags = flags_of(c->function);
    LLVMTypeRef result = LLVMGetReturnType(LLVMGlobalGetValueType(c->function));
    LLVMTypeKind kind = LLVMGetTypeKind(result);
    bool runs = kind == LLVMIntegerTypeKind
                    ? LLVMGetIntTypeWidth(result) == 32
                    : kind == LLVMVoidTypeKind || kind == LLVMPointerTypeKind;
    if (flags & OUTFOX_FUNCTION_MAIN || is_thread_run(value_name(c->function)))
        return true;
    if (is_plumbing(value_name(c->function)))
        return false;
    if (runs && is_registered(c->function))
        return true;
    bool known = flags & OUTFOX_FUNCTION_LOCAL;
    return found->n + 1 >= STATES_OF_A_STEP || (found->n && !known && names_callback(c->function));
}

static void add_to(struct states *s, const struct candidate *c)
{
    found_list found = {0};
    if (c->alone)
        return;
    if (c->out)
        find_states(c, &found);
    if (c->out && is_worth_it(c, &found)) {
        rewrite(s, c, &found);
    } else if (has_pads(c->function, true)) {
        keep_when_caught(s->unit, c->function);
    }
    vec_deinit(&found);
}

void states_add(struct unit *u)
{
    struct states s = {.unit = u};
    names_init(&s.names, u->module);
    list_functions(&s);
    for (uint32_t i = 0; i < s.all.n; i++)
        add_to(&s, &s.all.at[i]);
    for (uint32_t i = 0; i < s.all.n; i++)
        flow_free(s.all.at[i].flow);
    vec_deinit(&s.all);
    map_deinit(&s.index);
    names_deinit(&s.names);
}
