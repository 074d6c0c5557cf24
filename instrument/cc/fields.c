/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of fields of variables that are defined in another unit: debug information does not tell the
 * type of these. But it tells the line and column of each access, and the source is there to be read: a
 * field is called what is written there. Accesses in macros point to where the macro is used, and name nothing; the
 * same field elsewhere in the unit mostly does. */
#include <llvm-c/DebugInfo.h>
#include <stdio.h>

#include "analyse.h"
#include "base/file.h"
#include "base/hash.h"

enum { SOURCE_MOST = 16 << 20, TEXT_MOST = 120, STEPS_MOST = 5 };

static bool is_word(char c)
{
    return is_letter(c) || is_digit(c) || c == '_';
}

/* ---- lines of sources ---- */

static slice line_of(struct fields *f, LLVMValueRef at, unsigned line)
{
    unsigned n_dir = 0, n_file = 0;
    const char *dir = LLVMGetDebugLocDirectory(at, &n_dir);
    const char *file = LLVMGetDebugLocFilename(at, &n_file);
    struct buf path = BUF_INIT(8192);
    if (n_file && *file != '/')
        buf_addf(&path, "%.*s/", (int)n_dir, dir);
    buf_add(&path, (slice){file, n_file});
    if (!slice_eq(buf_slice(&path), buf_slice(&f->path))) {
        buf_deinit(&f->path);
        buf_clear(&f->source);
        f->path = path;
        f->source.max = SOURCE_MOST;
        f->at_line = 0;
        if (file_read(buf_text(&path), &f->source) != 0)
            buf_clear(&f->source);
    } else {
        buf_deinit(&path);
    }
    if (line < f->at_line || f->at_line == 0) {
        f->rest = buf_slice(&f->source);
        f->at_line = 0;
    }
    while (f->at_line < line && slice_cut(&f->rest, '\n', &f->line))
        f->at_line++;
    return f->at_line == line ? f->line : SLICE("");
}

/* The access at byte `at` of a line: names, dots, arrows and indices, in which `at` is the beginning or
 * the last name. */
static slice access_at(slice line, size_t at)
{
    size_t from = at, to = at;
    while (from > 0) {
        if (is_word(line.p[from - 1]) || line.p[from - 1] == '.')
            from--;
        else if (from > 1 && line.p[from - 1] == '>' && line.p[from - 2] == '-')
            from -= 2;
        else
            break;
    }
    while (to < line.n && (is_word(line.p[to]) || line.p[to] == '.'))
        to++;
    return (slice){line.p + from, to - from};
}

/* ---- where a variable is accessed ---- */

static uint64_t key_of(LLVMValueRef global, uint64_t bytes)
{
    return hash_mix((uintptr_t)global, bytes + 1);
}

static void learn(struct fields *f, LLVMValueRef global, uint64_t bytes, LLVMValueRef access)
{
    LLVMMetadataRef at = LLVMInstructionGetDebugLoc(access);
    if (!at || map_get(&f->known, key_of(global, bytes)))
        return;
    unsigned column = LLVMDILocationGetColumn(at);
    slice line = line_of(f, access, LLVMDILocationGetLine(at)), name = value_name(global);
    if (column == 0 || column > line.n)
        return;
    slice text = access_at(line, column - 1);
    if (text.n > TEXT_MOST || text.n < name.n + 2 || !slice_starts(text, name) ||
        text.p[name.n] != '.')
        return;
    map_set(&f->known, key_of(global, bytes), f->text.n);
    vec_push(&f->text, slice_copy(&f->arena, text));
}

static void visit(struct fields *f, LLVMValueRef global, LLVMValueRef v, uint64_t bytes, int steps)
{
    for (LLVMUseRef u = LLVMGetFirstUse(v); u && steps > 0; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        LLVMTypeRef outer;
        if (is_gep(user) && LLVMGetOperand(user, 0) == v)
            visit(f, global, user, bytes + gep_offset(f->layout, user, &outer), steps - 1);
        else if (LLVMIsACastInst(user) || LLVMIsAConstantExpr(user))
            visit(f, global, user, bytes, steps - 1);
        else if (LLVMIsALoadInst(user) || (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == v))
            learn(f, global, bytes, user);
    }
}

slice fields_name(struct fields *f, LLVMValueRef global, uint64_t bytes)
{
    if (!map_get(&f->known, key_of(global, UINT64_MAX - 1))) {
        map_set(&f->known, key_of(global, UINT64_MAX - 1), 0);
        visit(f, global, global, 0, STEPS_MOST);
    }
    const uint32_t *at = map_get(&f->known, key_of(global, bytes));
    return at ? f->text.at[*at] : SLICE("");
}

void fields_deinit(struct fields *f)
{
    buf_deinit(&f->path);
    buf_deinit(&f->source);
    map_deinit(&f->known);
    vec_deinit(&f->text);
    arena_deinit(&f->arena);
}
