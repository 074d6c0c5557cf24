/* SPDX-License-Identifier: Apache-2.0
 *
 * Sites: in the order of files and lines, each function once, then what can fail in it and how. */
#include <stdio.h>
#include <stdlib.h>

#include "data/json.h"
#include "plan/syscalls.h"
#include "report/escape.h"
#include "report/native.h"

enum { COLUMNS = 100, ERRORS_AT = 57 };

const char *const native_acts[3] = {"error", "delay", "short"};
const char *const native_wheres[4] = {"file", "socket", "pipe", "other"};

/* Names of kinds: first of sites, then of subjects by their numbers. */
static const char *const subjects[] = {[OUTFOX_SUBJECT_NONE] = "-",
                                       [OUTFOX_SUBJECT_FD] = "descriptor",
                                       [OUTFOX_SUBJECT_STREAM] = "stream",
                                       [OUTFOX_SUBJECT_PATH] = "path",
                                       [OUTFOX_SUBJECT_MEMORY] = "memory"};
const char *const native_kinds[] = {"call", "origin", "descriptor", "stream",
                                    "path", "memory", NULL};

static const char *const reasons[] = {[OUTFOX_REASON_NONE] = "",
                                      [OUTFOX_REASON_NEGATIVE] =
                                          ", as it does where it finds an error",
                                      [OUTFOX_REASON_NULL] = ", as it does where it finds an error",
                                      [OUTFOX_REASON_CODE] = ", which callers take for an error",
                                      [OUTFOX_REASON_ANNOTATED] = ", as the source says it may"};
static const char *const reason_words[] = {[OUTFOX_REASON_NONE] = "none",
                                           [OUTFOX_REASON_NEGATIVE] = "negative",
                                           [OUTFOX_REASON_NULL] = "null",
                                           [OUTFOX_REASON_CODE] = "code",
                                           [OUTFOX_REASON_ANNOTATED] = "annotated"};

static const char *kind_name(const struct native_site *s)
{
    return native_kinds[s->kind == OUTFOX_ORIGIN];
}

static bool wanted(const struct native_site *s, const struct native_filter *f)
{
    bool kind = !f->kind || strcmp(f->kind, kind_name(s)) == 0 ||
                strcmp(f->kind, subjects[s->subject]) == 0;
    return kind && (!f->only.n || slice_glob(f->only, s->file) ||
                    slice_glob(f->only, s->function) || slice_glob(f->only, s->callee));
}

/* ---- the order ---- */

static int in_source(const void *a, const void *b, void *ctx)
{
    const struct native *n = ctx;
    uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const struct native_site *x = &n->sites.at[i], *y = &n->sites.at[k];
    int order = slice_cmp(x->file, y->file);
    if (!order)
        order = x->line < y->line ? -1 : x->line > y->line;
    return order ? order : i < k ? -1 : i > k;
}

typedef VEC(uint32_t) numbers;

static void choose(const struct native *n, const struct native_filter *f, bool sorted, numbers *out)
{
    for (uint32_t i = 0; i < n->sites.n; i++)
        if (wanted(&n->sites.at[i], f))
            vec_push(out, i);
    if (sorted && out->n)
        qsort_r(out->at, out->n, sizeof *out->at, in_source, (void *)(uintptr_t)n);
}

/* ---- for people ---- */

/* A word of the list of errors; a line that is full is followed by one that begins below the first. */
static void add_word(struct buf *out, size_t *column, const char *word)
{
    size_t n = strlen(word);
    if (*column + 1 + n > COLUMNS && *column > ERRORS_AT) {
        buf_addf(out, "\n%*s", ERRORS_AT, "");
        *column = ERRORS_AT;
    } else if (*column > ERRORS_AT && *word != ';') {
        buf_addc(out, ' ');
        *column += 1;
    }
    buf_adds(out, word);
    *column += n;
}

static void error_name(int number, char room[32])
{
    const char *name = syscall_error_name(number);
    if (name)
        snprintf(room, 32, "%s", name);
    else
        snprintf(room, 32, "%d", number);
}

/* "on file, pipe:", or nothing where it is possible on all. */
static void add_where(struct buf *out, size_t *column, uint8_t where)
{
    bool more = false;
    if ((where & OUTFOX_ON_ANY) == OUTFOX_ON_ANY || !where)
        return;
    add_word(out, column, "on");
    for (uint32_t bit = 0; bit < 4; bit++)
        if (where >> bit & 1) {
            char word[16];
            more = (where & OUTFOX_ON_ANY) >> (bit + 1);
            snprintf(word, sizeof word, "%s%s", native_wheres[bit], more ? "," : ":");
            add_word(out, column, word);
        }
}

/* Errors, those possible everywhere first, then by what they are possible on. */
static void add_errors(const struct native_site *s, struct buf *out)
{
    size_t column = ERRORS_AT;
    bool told[OUTFOX_ERRORS] = {false};
    for (uint32_t round = 0; round < s->n_errors; round++) {
        uint32_t i = 0;
        while (i < s->n_errors &&
               (told[i] || (round == 0 && (s->error[i].where & OUTFOX_ON_ANY) != OUTFOX_ON_ANY)))
            i++;
        if (i == s->n_errors)
            continue;
        uint8_t where = s->error[i].where;
        if (column > ERRORS_AT)
            add_word(out, &column, ";");
        add_where(out, &column, where);
        for (; i < s->n_errors; i++) {
            char name[32];
            if (told[i] || s->error[i].where != where)
                continue;
            told[i] = true;
            error_name(s->error[i].number, name);
            add_word(out, &column, name);
        }
    }
}

/* A text in a column; one that is too long pushes what follows. */
static void add_cell(struct buf *out, slice text, int width)
{
    struct buf line = BUF_INIT(1 << 16);
    escape_line(text, &line);
    buf_addf(out, "%-*s ", width, buf_text(&line));
    buf_deinit(&line);
}

static void add_acts(const struct native_site *s, struct buf *out)
{
    struct buf acts = BUF_INIT(64);
    for (uint32_t bit = 0; bit < 3; bit++)
        if (s->can >> bit & 1)
            buf_addf(&acts, "%s%s", acts.n ? " " : "", native_acts[bit]);
    buf_addf(out, "%-18s", buf_text(&acts));
    buf_deinit(&acts);
}

static void add_site(const struct native_site *s, struct buf *out)
{
    buf_addf(out, "%8u  ", (unsigned)s->line);
    if (s->kind == OUTFOX_ORIGIN) {
        if (s->reason == OUTFOX_REASON_NULL)
            buf_addf(out, "returns NULL%s\n", reasons[s->reason]);
        else
            buf_addf(out, "returns %d%s\n", (int)s->value, reasons[s->reason]);
        return;
    }
    add_cell(out, s->callee, 16);
    buf_addf(out, "%-11s", subjects[s->subject]);
    add_acts(s, out);
    add_errors(s, out);
    while (out->n && out->p[out->n - 1] == ' ')
        out->n--;
    buf_addc(out, '\n');
}

static void add_function(slice name, struct arena *a, struct buf *out)
{
    buf_adds(out, "  ");
    escape_line(native_demangled(name, a), out);
    buf_addc(out, '\n');
}

/* "392 calls, 16 errors of its own; 150 on descriptors, ..." */
static void add_counts(const struct native *n, const numbers *shown, struct buf *out)
{
    uint32_t origins = 0, files = 0;
    slice file = {0};
    for (uint32_t i = 0; i < shown->n; i++) {
        const struct native_site *s = &n->sites.at[shown->at[i]];
        origins += s->kind == OUTFOX_ORIGIN;
        files += i == 0 || !slice_eq(file, s->file);
        file = s->file;
    }
    buf_addf(out, "%u %s in %u %s: %u %s of libraries, %u %s of its own", (unsigned)shown->n,
             plural(shown->n, "site", "sites"), (unsigned)files, plural(files, "file", "files"),
             (unsigned)(shown->n - origins), plural(shown->n - origins, "call", "calls"),
             (unsigned)origins, plural(origins, "function", "functions"));
    if (shown->n < n->sites.n)
        buf_addf(out, "; %u of all %u", (unsigned)shown->n, (unsigned)n->sites.n);
    buf_addc(out, '\n');
}

static void print_sites(const struct native *n, const struct native_filter *f,
                        const struct style *st, struct buf *out)
{
    numbers shown = {0};
    struct arena scratch = {0};
    slice file = {0}, function = {0};
    choose(n, f, true, &shown);
    for (uint32_t i = 0; i < shown.n; i++) {
        const struct native_site *s = &n->sites.at[shown.at[i]];
        bool other = i == 0 || !slice_eq(s->file, file);
        if (other) {
            buf_addf(out, "%s%s", i ? "\n" : "", st->bold);
            escape_line(s->file.n ? s->file : SLICE("(no debug information)"), out);
            buf_addf(out, "%s\n", st->off);
        }
        if (other || !slice_eq(s->function, function))
            add_function(s->function, &scratch, out);
        add_site(s, out);
        file = s->file;
        function = s->function;
    }
    buf_addf(out, "%s%s", shown.n ? "\n" : "", st->bold);
    escape_line(n->path, out);
    buf_addf(out, "%s: ", st->off);
    add_counts(n, &shown, out);
    vec_deinit(&shown);
    arena_deinit(&scratch);
}

void report_sites(const struct native *list, uint32_t n, const struct native_filter *filter,
                  const struct style *style, struct buf *out)
{
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_addc(out, '\n');
        print_sites(&list[i], filter, style, out);
    }
}

/* ---- for programs ---- */

static void json_bits(struct json_out *j, const char *key, uint32_t bits, const char *const *names,
                      uint32_t n)
{
    json_list(j, key);
    for (uint32_t i = 0; i < n; i++)
        if (bits >> i & 1)
            json_text(j, NULL, names[i]);
    json_list_end(j);
}

static void json_site(struct json_out *j, uint32_t index, const struct native_site *s)
{
    json_map(j, NULL);
    json_uint(j, "index", index);
    json_text(j, "kind", kind_name(s));
    json_str(j, "file", s->file);
    json_uint(j, "line", s->line);
    json_uint(j, "column", s->column);
    json_str(j, "function", s->function);
    json_str(j, "callee", s->callee);
    json_text(j, "subject", s->subject ? subjects[s->subject] : "none");
    json_bits(j, "can", s->can, native_acts, 3);
    json_int(j, "value", s->value);
    json_text(j, "reason", reason_words[s->reason]);
    json_list(j, "errors");
    for (uint32_t i = 0; i < s->n_errors; i++) {
        char name[32];
        error_name(s->error[i].number, name);
        json_map(j, NULL);
        json_text(j, "name", name);
        json_int(j, "number", s->error[i].number);
        json_bits(j, "on", s->error[i].where, native_wheres, 4);
        json_map_end(j);
    }
    json_list_end(j);
    json_map_end(j);
}

void report_sites_json(const struct native *list, uint32_t n, const struct native_filter *filter,
                       struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_uint(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_list(&j, "binaries");
    for (uint32_t i = 0; i < n; i++) {
        numbers shown = {0};
        char id[17];
        choose(&list[i], filter, false, &shown);
        snprintf(id, sizeof id, "%016llx", (unsigned long long)list[i].id);
        json_map(&j, NULL);
        json_str(&j, "path", list[i].path);
        json_text(&j, "id", id);
        json_uint(&j, "all", list[i].sites.n);
        json_list(&j, "sites");
        for (uint32_t k = 0; k < shown.n; k++)
            json_site(&j, shown.at[k], &list[i].sites.at[shown.at[k]]);
        json_list_end(&j);
        json_map_end(&j);
        vec_deinit(&shown);
    }
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
}
