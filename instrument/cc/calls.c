/* SPDX-License-Identifier: Apache-2.0
 *
 * What calls are, as far as one unit tells. */
#include <stdlib.h>

#include "analyse.h"

LLVMValueRef strip_casts(LLVMValueRef v)
{
    for (;;) {
        if (LLVMIsAGlobalAlias(v)) {
            v = LLVMAliasGetAliasee(v);
            continue;
        }
        bool cast = LLVMIsACastInst(v) || LLVMIsAConstantExpr(v);
        LLVMOpcode op =
            cast ? LLVMIsACastInst(v) ? LLVMGetInstructionOpcode(v) : LLVMGetConstOpcode(v)
                 : LLVMRet;
        if (op != LLVMBitCast && op != LLVMAddrSpaceCast && op != LLVMPtrToInt &&
            op != LLVMIntToPtr)
            return v;
        v = LLVMGetOperand(v, 0);
    }
}

bool is_call(LLVMValueRef v)
{
    return LLVMIsACallInst(v) || LLVMIsAInvokeInst(v);
}

LLVMValueRef call_target(LLVMValueRef call)
{
    LLVMValueRef to = strip_casts(LLVMGetCalledValue(call));
    return LLVMIsAFunction(to) ? to : NULL;
}

unsigned call_arguments(LLVMValueRef call)
{
    return LLVMGetNumArgOperands(call);
}

/* As the linker knows it: clang marks names that are not to be changed with a first byte 1. */
slice value_name(LLVMValueRef v)
{
    size_t n = 0;
    const char *p = LLVMGetValueName2(v, &n);
    return n && *p == 1 ? (slice){p + 1, n - 1} : (slice){p, n};
}

void name_copy(LLVMValueRef v, char *out, size_t room)
{
    slice s = value_name(v);
    size_t n = s.n < room ? s.n : room - 1;
    memcpy(out, s.p, n);
    out[n] = 0;
}

bool is_intrinsic(LLVMValueRef function)
{
    return LLVMIsAFunction(function) && slice_starts(value_name(function), SLICE("llvm."));
}

/* Sorted. */
static const char *const pure[] = {
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "__isoc99_sscanf",
    "__memcpy_chk",
    "__memmove_chk",
    "__memset_chk",
    "__snprintf_chk",
    "__sprintf_chk",
    "__strcat_chk",
    "__strcpy_chk",
    "__vsnprintf_chk",
    "abs",
    "atof",
    "atoi",
    "atol",
    "atoll",
    "bcmp",
    "bsearch",
    "ceil",
    "exp",
    "fabs",
    "floor",
    "free",
    "gmtime_r",
    "htonl",
    "htons",
    "inet_ntop",
    "inet_pton",
    "isalnum",
    "isalpha",
    "isdigit",
    "isinf",
    "isnan",
    "isprint",
    "isspace",
    "isupper",
    "isxdigit",
    "labs",
    "llabs",
    "localtime_r",
    "log",
    "log10",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "memrchr",
    "memset",
    "ntohl",
    "ntohs",
    "pow",
    "qsort",
    "rand",
    "random",
    "round",
    "snprintf",
    "sprintf",
    "sqrt",
    "sscanf",
    "stpcpy",
    "strcasecmp",
    "strcat",
    "strchr",
    "strcmp",
    "strcoll",
    "strcpy",
    "strcspn",
    "strerror",
    "strerror_r",
    "strftime",
    "strlen",
    "strncasecmp",
    "strncat",
    "strncmp",
    "strncpy",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strsep",
    "strspn",
    "strstr",
    "strtod",
    "strtof",
    "strtok",
    "strtok_r",
    "strtol",
    "strtold",
    "strtoll",
    "strtoul",
    "strtoull",
    "tolower",
    "toupper",
    "trunc",
    "vsnprintf",
    "vsprintf",
};

static int by_name(const void *key, const void *item)
{
    return slice_cmp(*(const slice *)key, slice_of(*(const char *const *)item));
}

bool is_pure(slice name)
{
    return bsearch(&name, pure, sizeof pure / sizeof *pure, sizeof *pure, by_name) != NULL;
}

bool name_has(slice name, const char *const *words)
{
    for (; *words; words++) {
        slice word = slice_of(*words);
        for (size_t i = 0; i + word.n <= name.n; i++)
            if (strncasecmp(name.p + i, word.p, word.n) == 0)
                return true;
    }
    return false;
}

bool has_attribute(LLVMValueRef function, unsigned at, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    return kind && LLVMGetEnumAttributeAtIndex(function, at, kind);
}

unsigned record_begin(LLVMTypeRef type, LLVMValueRef field[RECORD_FIELDS_MOST])
{
    unsigned n = LLVMCountStructElementTypes(type);
    for (unsigned i = 0; i < n && i < RECORD_FIELDS_MOST; i++)
        field[i] = LLVMConstNull(LLVMStructGetTypeAtIndex(type, i));
    return n;
}

LLVMValueRef number(LLVMTypeRef record, unsigned field, uint64_t value)
{
    return LLVMConstInt(LLVMStructGetTypeAtIndex(record, field), value, true);
}

bool is_plumbing(slice name)
{
    return slice_starts(name, SLICE("_ZSt")) || slice_starts(name, SLICE("_ZNSt")) ||
           slice_starts(name, SLICE("_ZNKSt"));
}

bool is_thread_run(slice name)
{
    static const slice head = {"_ZNSt6thread11_State_impl", 25}, tail = {"6_M_runEv", 9};
    return slice_starts(name, head) && name.n > tail.n &&
           slice_eq(slice_from(name, name.n - tail.n), tail);
}
