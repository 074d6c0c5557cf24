/* SPDX-License-Identifier: Apache-2.0
 *
 * Functions that find errors themselves, and can be made to fail at their entry.
 *
 * A function is one if it returns a constant where it has looked at something (not at what a call returned:
 * then it only passes an error on), does nothing else on that way that its caller could see, returns something
 * else on other ways, and if that constant is an error: by its sign, by what the function does before it returns
 * it, or by what callers in this unit do with it.
 *
 *   kind       constant        is an error if
 *   negative   -4095 .. -1     the function says so (logs, sets errno), also returns it when a call has failed, or
 *                              callers treat it as one
 *   null       NULL            callers treat it as one; or the function says so and no caller is here
 *   code       another         callers treat it as one, and the function does too
 *
 * Callers treat it as an error if what they do with that value, and not with others, is: to log, to end the program,
 * or to return an error. Not taken are comparators, iterators, predicates and what looks things up: that there is
 * no more, or no such thing, is no error. */
#include <llvm-c/DebugInfo.h>

#include "base/hash.h"
#include "cc.h"
#include "returns.h"

enum { ERROR_LEAST = -4095, LOOKS_MOST = 4 };

struct body {
    LLVMValueRef function;
    struct flow *flow;
    struct returns returns;
};

struct origins {
    struct unit *unit;
    VEC(struct body) body;
    struct map index; /* function -> body */
    struct map may, must_not;
};

/* What callers do with the value. */
struct callers {
    uint32_t n, tested, handled, passed_on;
};

struct verdict {
    LLVMValueRef value;
    enum outfox_reason reason; /* OUTFOX_REASON_NONE: it is no origin */
};

/* ---- names that say what a function is ---- */

static const char *const looks_up[] = {
    "find",   "lookup",  "search", "locate", "match", "contains", "exists", "next",
    "prev",   "iter",    "peek",   "first",  "last",  "head",     "tail",   "seek",
    "index",  "cmp",     "compar", "equal",  "hash",  "sort",     "scan",   "strchr",
    "strstr", "complet", "hint",   "order",  "skip",  "dup",      NULL};
static const char *const asks[] = {"is",    "has",  "can",   "should", "need",  "must",
                                   "check", "want", "allow", "in",     "empty", NULL};

/* Does the name begin with one of the words, alone (is_open, isOpen), or have it after its prefix (fooIsOpen)? */
static bool is_question(slice name)
{
    for (const char *const *w = asks; *w; w++) {
        size_t n = strlen(*w);
        for (size_t i = 0; i + n < name.n; i++) {
            if (strncasecmp(name.p + i, *w, n) != 0)
                continue;
            char before = i ? name.p[i - 1] : '_', at = name.p[i], after = name.p[i + n];
            bool begins = before == '_' || (is_lower(before) && is_upper(at));
            bool ends = after == '_' || is_upper(after) ||
                        (i == 0 && n == 2 && is_lower(after) && *w[0] == 'i' && (*w)[1] == 's');
            if (begins && ends)
                return true;
        }
    }
    return false;
}

/* getThingByName */
static bool is_by(slice name)
{
    for (size_t i = 1; i + 2 < name.n; i++)
        if ((name.p[i] == 'B' && name.p[i + 1] == 'y' && is_upper(name.p[i + 2])) ||
            (i + 3 < name.n && memcmp(name.p + i, "_by_", 4) == 0))
            return true;
    return false;
}

/* ---- what callers do ---- */

static bool holds(LLVMIntPredicate p, int64_t a, int64_t b)
{
    switch (p) {
    case LLVMIntEQ: return a == b;
    case LLVMIntNE: return a != b;
    case LLVMIntUGT: return (uint64_t)a > (uint64_t)b;
    case LLVMIntUGE: return (uint64_t)a >= (uint64_t)b;
    case LLVMIntULT: return (uint64_t)a < (uint64_t)b;
    case LLVMIntULE: return (uint64_t)a <= (uint64_t)b;
    case LLVMIntSGT: return a > b;
    case LLVMIntSGE: return a >= b;
    case LLVMIntSLT: return a < b;
    default: return a <= b;
    }
}

static int64_t number_of(LLVMValueRef constant)
{
    return LLVMIsAConstantInt(constant) ? LLVMConstIntGetSExtValue(constant) : 0;
}

static bool is_error_value(LLVMValueRef v, int64_t same)
{
    if (LLVMIsAConstantPointerNull(v))
        return true;
    int64_t n = number_of(v);
    return (n < 0 && n >= ERROR_LEAST) || n == same;
}

/* Is it what one does with an error, to go from block `at` to `to`? */
static bool is_handling(const struct body *b, uint32_t at, uint32_t to, int64_t value)
{
    static const char *const words[] = {"err",   "fail", "abort", "exit",
                                        "panic", "die",  "fatal", NULL};
    const struct flow *f = b->flow;
    if (f->dead[to])
        return true;
    for (uint32_t k = to, steps = 0; k < f->n && k != flow_stop(f, at) && steps < 32;
         k = f->ipdom[k], steps++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(f->block[k]); i;
             i = LLVMGetNextInstruction(i)) {
            LLVMValueRef target = is_call(i) ? call_target(i) : NULL;
            if (target && !is_intrinsic(target) && !is_pure(value_name(target)) &&
                (is_utterance(target) || name_has(value_name(target), words)))
                return true;
        }
    for (uint32_t i = 0; i < b->returns.path.n; i++) {
        const struct path *p = &b->returns.path.at[i];
        if (p->at == at && p->to == to && is_error_value(p->value, value))
            return true;
    }
    return false;
}

struct look {
    const struct origins *o;
    int64_t value; /* what the function may have returned */
    bool tested, handled, passed_on;
};

static void look_at_way(struct look *l, LLVMValueRef branch, LLVMBasicBlockRef to)
{
    LLVMBasicBlockRef from = LLVMGetInstructionParent(branch);
    const uint32_t *at = map_get(&l->o->index, (uintptr_t)LLVMGetBasicBlockParent(from));
    l->tested = true;
    if (!at)
        return;
    const struct body *b = &l->o->body.at[*at];
    l->handled =
        l->handled || is_handling(b, flow_index(b->flow, from), flow_index(b->flow, to), l->value);
}

/* A condition is known to be `is`. */
static void look_at_condition(struct look *l, LLVMValueRef condition, bool is, int depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(condition); u && depth > 0; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsABranchInst(user) && LLVMIsConditional(user))
            look_at_way(l, user, LLVMGetSuccessor(user, is ? 0 : 1));
        else if (LLVMIsAInstruction(user) && LLVMGetInstructionOpcode(user) == LLVMXor)
            look_at_condition(l, user, !is, depth - 1);
        else if (LLVMIsASelectInst(user) || LLVMIsAPHINode(user) || LLVMIsAZExtInst(user))
            l->tested = true;
    }
}

static void look_at_value(struct look *l, LLVMValueRef v, int depth)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u && depth > 0; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAICmpInst(user)) {
            bool first = LLVMGetOperand(user, 0) == v;
            LLVMValueRef other = LLVMGetOperand(user, first ? 1 : 0);
            l->tested = true;
            if (!LLVMIsAConstantInt(other) && !LLVMIsAConstantPointerNull(other))
                continue;
            bool is = first ? holds(LLVMGetICmpPredicate(user), l->value, number_of(other))
                            : holds(LLVMGetICmpPredicate(user), number_of(other), l->value);
            look_at_condition(l, user, is, 3);
        } else if (LLVMIsACastInst(user)) {
            if (LLVMGetTypeKind(LLVMTypeOf(user)) == LLVMIntegerTypeKind &&
                LLVMGetIntTypeWidth(LLVMTypeOf(user)) == 1)
                look_at_condition(l, user, l->value & 1, 3);
            look_at_value(l, user, depth - 1);
        } else if (LLVMIsABranchInst(user)) {
            look_at_condition(l, v, l->value & 1, 1);
        } else if (LLVMIsASwitchInst(user)) {
            l->tested = true;
        } else if (LLVMIsAReturnInst(user)) {
            l->passed_on = true;
        } else if (LLVMIsAPHINode(user)) {
            look_at_value(l, user, depth - 1);
        }
    }
}

static void look_at_callers(const struct origins *o, LLVMValueRef function, LLVMValueRef used,
                            int64_t value, struct callers *c)
{
    for (LLVMUseRef u = LLVMGetFirstUse(used); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAConstantExpr(user))
            look_at_callers(o, function, user, value, c);
        if (!is_call(user) || LLVMGetCalledValue(user) != used ||
            LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)) == function)
            continue;
        struct look l = {.o = o, .value = value};
        look_at_value(&l, user, LOOKS_MOST);
        c->n++;
        c->tested += l.tested;
        c->handled += l.handled;
        c->passed_on += l.passed_on && !l.tested;
    }
}

/* ---- comparators ---- */

/* Is its address given to something that sorts or searches? */
static bool is_given_to_sort(LLVMValueRef v)
{
    static const char *const words[] = {"sort", "bsearch", "search", "tree", "heap", "cmp", NULL};
    for (LLVMUseRef u = LLVMGetFirstUse(v); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if (LLVMIsAConstantExpr(user) && is_given_to_sort(user))
            return true;
        LLVMValueRef target =
            is_call(user) && LLVMGetCalledValue(user) != v ? call_target(user) : NULL;
        if (target && name_has(value_name(target), words))
            return true;
    }
    return false;
}

/* Two arguments of one type, and both -1 and 1. */
static bool is_comparator(const struct body *b)
{
    LLVMTypeRef type = LLVMGlobalGetValueType(b->function), of[16];
    unsigned n = LLVMCountParamTypes(type);
    if (is_given_to_sort(b->function))
        return true;
    if (n < 2 || n > 16)
        return false;
    LLVMGetParamTypes(type, of);
    bool less = false, more = false, same = false;
    for (unsigned i = 1; i < n; i++)
        same = same || of[i] == of[i - 1];
    for (uint32_t i = 0; i < b->returns.source.n; i++) {
        less = less || number_of(b->returns.source.at[i].value) == -1;
        more = more || number_of(b->returns.source.at[i].value) == 1;
    }
    return same && less && more;
}

/* ---- the verdict ---- */

/* What is known of one constant of a function. */
struct constant {
    LLVMValueRef value;
    uint32_t quiet,
        passed_on; /* ways: found by the function, without effects; after a call has failed */
    bool says;
};

static struct constant sum_up(const struct returns *r, LLVMValueRef value)
{
    struct constant c = {.value = value};
    for (uint32_t i = 0; i < r->path.n; i++) {
        const struct path *p = &r->path.at[i];
        if (p->value != value)
            continue;
        bool null = LLVMIsAConstantPointerNull(value);
        if (p->cause == CAUSE_CALL)
            c.passed_on++;
        else if (p->effects == 0 && p->cause != CAUSE_NONE && !(null && p->only_argument))
            c.quiet++;
        c.says = c.says || (p->cause != CAUSE_CALL && (p->says || p->sets_errno));
    }
    return c;
}

/* Can a number that is not negative be an error? Not where errors are negative, or where it is what else than yes
 * and no that 0 stands for; nor if it says that there was nothing to remove. */
static bool may_be_code(const struct body *b, int64_t value)
{
    static const char *const words[] = {"remove", "delete", "del", "rem", "unset", NULL};
    for (uint32_t i = 0; i < b->returns.source.n; i++) {
        int64_t n = number_of(b->returns.source.at[i].value);
        if (n < 0 || (value == 0 && n > 1))
            return false;
    }
    return !(value == 0 && (b->returns.others || name_has(value_name(b->function), words)));
}

static enum outfox_reason judge(const struct origins *o, const struct body *b, struct constant c)
{
    slice name = value_name(b->function);
    struct callers k = {0};
    if (!c.quiet || name_has(name, looks_up) || is_question(name))
        return OUTFOX_REASON_NONE;
    look_at_callers(o, b->function, b->function, number_of(c.value), &k);
    if ((k.tested + k.passed_on) * 2 < k.n)
        return OUTFOX_REASON_NONE;
    bool treated = k.handled > 0 && k.handled * 2 >= k.tested;
    int64_t n = number_of(c.value);
    if (LLVMIsAConstantPointerNull(c.value))
        return (treated || (c.says && !k.n)) && !is_by(name) ? OUTFOX_REASON_NULL
                                                             : OUTFOX_REASON_NONE;
    if (n < 0 && n >= ERROR_LEAST)
        return c.says || treated || (c.passed_on && !k.n) ? OUTFOX_REASON_NEGATIVE
                                                          : OUTFOX_REASON_NONE;
    return treated && (c.says || c.passed_on) && may_be_code(b, n) ? OUTFOX_REASON_CODE
                                                                   : OUTFOX_REASON_NONE;
}

static bool can_return_error(LLVMValueRef function)
{
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(function));
    LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind == LLVMPointerTypeKind ||
           (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 64);
}

static LLVMValueRef usual_error(LLVMValueRef function)
{
    LLVMTypeRef type = LLVMGetReturnType(LLVMGlobalGetValueType(function));
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind ? LLVMConstNull(type)
                                                        : LLVMConstInt(type, UINT64_MAX, true);
}

/* Of several constants: the one that the function finds on most ways. */
static struct verdict decide(const struct origins *o, const struct body *b)
{
    struct verdict best = {0};
    uint32_t most = 0;
    if (!can_return_error(b->function) || map_get(&o->must_not, (uintptr_t)b->function))
        return best;
    bool asked = map_get(&o->may, (uintptr_t)b->function) != NULL;
    const struct returns *r = &b->returns;
    bool comparator = is_comparator(b);
    for (uint32_t i = 0; i < r->source.n; i++) {
        LLVMValueRef value = r->source.at[i].value;
        bool other = r->others > 0;
        for (uint32_t k = 0; k < r->source.n; k++)
            other = other || r->source.at[k].value != value;
        struct constant c = sum_up(r, value);
        bool is_one = LLVMIsAConstantPointerNull(value) || number_of(value) < 0;
        enum outfox_reason reason = asked && is_one        ? OUTFOX_REASON_ANNOTATED
                                    : other && !comparator ? judge(o, b, c)
                                                           : OUTFOX_REASON_NONE;
        uint32_t weight = 1 + c.quiet + c.passed_on;
        if (reason != OUTFOX_REASON_NONE && weight > most) {
            best = (struct verdict){value, reason};
            most = weight;
        }
    }
    if (asked && best.reason != OUTFOX_REASON_ANNOTATED)
        best = (struct verdict){usual_error(b->function), OUTFOX_REASON_ANNOTATED};
    return best;
}

/* ---- annotations ---- */

static LLVMValueRef inner(LLVMValueRef constant)
{
    constant = strip_casts(constant);
    while (LLVMIsAConstantExpr(constant) && LLVMGetConstOpcode(constant) == LLVMGetElementPtr)
        constant = strip_casts(LLVMGetOperand(constant, 0));
    return constant;
}

static void read_annotations(struct origins *o)
{
    LLVMValueRef list = LLVMGetNamedGlobal(o->unit->module, "llvm.global.annotations");
    LLVMValueRef all = list ? LLVMGetInitializer(list) : NULL;
    for (int i = 0, n = all ? LLVMGetNumOperands(all) : 0; i < n; i++) {
        LLVMValueRef entry = LLVMGetOperand(all, (unsigned)i);
        LLVMValueRef function = inner(LLVMGetOperand(entry, 0));
        LLVMValueRef text = inner(LLVMGetOperand(entry, 1));
        LLVMValueRef bytes = LLVMIsAGlobalVariable(text) ? LLVMGetInitializer(text) : NULL;
        size_t length = 0;
        if (!bytes || !LLVMIsAFunction(function) || !LLVMIsConstantString(bytes))
            continue;
        const char *p = LLVMGetAsString(bytes, &length);
        slice s = {p, length && !p[length - 1] ? length - 1 : length};
        if (slice_is(s, "outfox:may-fail"))
            map_set(&o->may, (uintptr_t)function, 1);
        if (slice_is(s, "outfox:must-not-fail"))
            map_set(&o->must_not, (uintptr_t)function, 1);
    }
}

/* ---- rewriting ---- */

static LLVMValueRef site_record(struct unit *u, LLVMValueRef function, struct verdict v)
{
    enum {
        MAGIC,
        FILE_NAME,
        FUNCTION,
        CALLEE,
        LINE,
        COLUMN,
        KIND,
        SUBJECT,
        CAN,
        RESULT,
        ERRORS,
        REASON,
        ERROR,
        VALUE,
        NAMES
    };
    char file[4096] = "", name[4096];
    name_copy(function, name, sizeof name);
    unsigned line = unit_line(function, file, sizeof file, NULL);
    LLVMTypeRef type = u->site_type;
    LLVMValueRef record = unit_record(u, type, OUTFOX_SECTION_SITES), field[RECORD_FIELDS_MOST];
    unit_share(u, record, function, 0);
    unsigned n = record_begin(type, field);
    field[MAGIC] = number(type, MAGIC, OUTFOX_SITE);
    field[FILE_NAME] = unit_offset(u, record, FILE_NAME, unit_text(u, file));
    field[FUNCTION] = unit_offset(u, record, FUNCTION, unit_text(u, name));
    field[CALLEE] = unit_offset(u, record, CALLEE, unit_text(u, ""));
    field[LINE] = number(type, LINE, line);
    field[KIND] = number(type, KIND, OUTFOX_ORIGIN);
    field[CAN] = number(type, CAN, OUTFOX_ERROR);
    field[RESULT] = number(type, RESULT, OUTFOX_RESULT_VALUE);
    field[REASON] = number(type, REASON, v.reason);
    field[VALUE] = number(type, VALUE, (uint64_t)number_of(v.value));
    field[NAMES] = number(type, NAMES, unit_names(file, name, ""));
    LLVMSetInitializer(record, LLVMConstNamedStruct(type, field, n));
    return record;
}

/* Room in the stack belongs to the first block. */
static void move_room(LLVMBuilderRef b, LLVMBasicBlockRef from)
{
    for (LLVMValueRef i = LLVMGetFirstInstruction(from), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!LLVMIsAAllocaInst(i) || !LLVMIsAConstantInt(LLVMGetOperand(i, 0)))
            continue;
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(b, i);
    }
}

static LLVMValueRef call_hook(LLVMBuilderRef b, struct unit *u, LLVMValueRef site,
                              LLVMValueRef value)
{
    LLVMTypeRef of[5];
    LLVMGetParamTypes(u->hook_type, of);
    LLVMTypeRef of_address[] = {LLVMInt32TypeInContext(u->context)};
    LLVMTypeRef address_type = LLVMFunctionType(
        LLVMPointerType(LLVMInt8TypeInContext(u->context), 0), of_address, 1, false);
    LLVMValueRef address = LLVMGetNamedFunction(u->module, "llvm.returnaddress");
    if (!address)
        address = LLVMAddFunction(u->module, "llvm.returnaddress", address_type);
    LLVMValueRef level[] = {LLVMConstNull(of_address[0])};
    LLVMValueRef from = LLVMBuildCall2(b, address_type, address, level, 1, "");
    LLVMValueRef given[] = {LLVMConstPointerCast(site, of[0]), LLVMConstNull(of[1]),
                            LLVMConstNull(of[2]), LLVMBuildPointerCast(b, from, of[3], ""),
                            LLVMBuildPointerCast(b, value, of[4], "")};
    return LLVMBuildCall2(b, u->hook_type, u->hook, given, 5, "");
}

/* if (outfox_on && outfox_hook(&site, 0, NULL, return address, &value)) return its error; */
static void rewrite(struct unit *u, LLVMValueRef function, struct verdict v)
{
    LLVMBasicBlockRef old = LLVMGetEntryBasicBlock(function);
    LLVMBasicBlockRef entry = LLVMInsertBasicBlockInContext(u->context, old, "");
    LLVMBasicBlockRef ask = LLVMInsertBasicBlockInContext(u->context, old, "");
    LLVMBasicBlockRef fail = LLVMInsertBasicBlockInContext(u->context, old, "");
    LLVMBuilderRef b = LLVMCreateBuilderInContext(u->context);
    LLVMTypeRef word = LLVMInt64TypeInContext(u->context),
                half = LLVMInt32TypeInContext(u->context);
    LLVMMetadataRef of = LLVMGetSubprogram(function);
    LLVMPositionBuilderAtEnd(b, entry);
    move_room(b, old);
    if (of)
        LLVMSetCurrentDebugLocation2(b, LLVMDIBuilderCreateDebugLocation(
                                            u->context, LLVMDISubprogramGetLine(of), 0, of, NULL));
    LLVMValueRef value = LLVMBuildAlloca(b, word, "");
    LLVMValueRef on = LLVMBuildLoad2(b, half, u->on, "");
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, on, LLVMConstNull(half), ""), ask, old);
    LLVMPositionBuilderAtEnd(b, ask);
    LLVMValueRef answer = call_hook(b, u, site_record(u, function, v), value);
    LLVMBuildCondBr(b, LLVMBuildICmp(b, LLVMIntNE, answer, LLVMConstNull(half), ""), fail, old);
    LLVMPositionBuilderAtEnd(b, fail);
    LLVMBuildRet(b, v.value);
    LLVMDisposeBuilder(b);
}

static bool is_left_alone(LLVMValueRef f)
{
    return LLVMGetLinkage(f) == LLVMAvailableExternallyLinkage || slice_is(value_name(f), "main") ||
           slice_starts(value_name(f), SLICE("outfox.")) ||
           has_attribute(f, LLVMAttributeFunctionIndex, "naked") ||
           has_attribute(f, LLVMAttributeFunctionIndex, "presplitcoroutine") ||
           has_attribute(f, LLVMAttributeFunctionIndex, "readnone");
}

void origins_add(struct unit *u)
{
    struct origins o = {.unit = u};
    read_annotations(&o);
    for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f))
            continue;
        map_set(&o.index, (uintptr_t)f, o.body.n);
        vec_push(&o.body, (struct body){.function = f, .flow = flow_new(f)});
    }
    for (uint32_t i = 0; i < o.body.n; i++)
        returns_find(&o.body.at[i].returns, o.body.at[i].flow);
    struct verdict *verdict = mem_zero((o.body.n + 1) * sizeof *verdict);
    for (uint32_t i = 0; i < o.body.n; i++)
        if (!is_left_alone(o.body.at[i].function))
            verdict[i] = decide(&o, &o.body.at[i]);
    for (uint32_t i = 0; i < o.body.n; i++) {
        if (verdict[i].reason != OUTFOX_REASON_NONE)
            rewrite(u, o.body.at[i].function, verdict[i]);
        returns_deinit(&o.body.at[i].returns);
        flow_free(o.body.at[i].flow);
    }
    mem_free(verdict);
    vec_deinit(&o.body);
    map_deinit(&o.index);
    map_deinit(&o.may);
    map_deinit(&o.must_not);
}
