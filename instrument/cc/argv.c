/* SPDX-License-Identifier: Apache-2.0
 *
 * The words of a command line. Options are rows: how they are written, who is given them, what they
 * mean to us. The first row that fits counts, so special ones stand above general ones.
 *
 * 1. What is not in the table belongs to all steps and to clang (BY_CLANG): nothing is lost but time. */
#include "argv.h"

#include <string.h>

#include "base/file.h"

/* How an option is written. */
enum form {
    EXACT,    /* -c */
    JOINED,   /* -O2: begins so */
    SEPARATE, /* -Xlinker WORD */
    EITHER,   /* -Idir, or -I dir */
};

enum effect {
    NOTHING,
    TO_OBJECT,
    TO_ASSEMBLY,
    TO_OTHER, /* clang does it alone */
    OUTPUT,
    LANGUAGE,
    LEVEL,
    DEBUG,
    NO_DEBUG,
    BY_CLANG, /* says how objects are made */
    PLAIN,    /* cannot be had together with instrumentation */
    LTO,      /* is left out */
    NO_LTO,
    DEPENDS,
    DEPENDS_FILE,
    DEPENDS_TARGET,
    DEPENDS_WP,
    COVERAGE,
    NO_LIBRARIES,
    LIBRARY,
    SHARED,
    PARTIAL,
    LINKER,
};

struct option {
    const char *text;
    enum form form;
    unsigned steps;
    enum effect effect;
};

static const struct option options[] = {
    /* what is wanted */
    {"-c", EXACT, 0, TO_OBJECT},
    {"-S", EXACT, 0, TO_ASSEMBLY},
    {"-o", EITHER, 0, OUTPUT},
    {"-x", EITHER, 0, LANGUAGE},
    {"-E", EXACT, ALL, TO_OTHER},
    {"-M", EXACT, ALL, TO_OTHER},
    {"-MM", EXACT, ALL, TO_OTHER},
    {"-fsyntax-only", EXACT, ALL, TO_OTHER},
    {"-emit-llvm", EXACT, ALL, TO_OTHER},
    {"-emit-ast", EXACT, ALL, TO_OTHER},
    {"--analyze", EXACT, ALL, TO_OTHER},
    {"-cc1", JOINED, ALL, TO_OTHER},
    {"-###", EXACT, ALL, TO_OTHER},
    {"--version", EXACT, ALL, TO_OTHER},
    {"--help", JOINED, ALL, TO_OTHER},
    {"-dump", JOINED, ALL, TO_OTHER},
    {"-print-", JOINED, ALL, TO_OTHER},
    {"--print-", JOINED, ALL, TO_OTHER},

    /* files that make(1) reads */
    {"-MD", EXACT, FRONT, DEPENDS},
    {"-MMD", EXACT, FRONT, DEPENDS},
    {"-MF", EITHER, FRONT, DEPENDS_FILE},
    {"-MT", EITHER, FRONT, DEPENDS_TARGET},
    {"-MQ", EITHER, FRONT, DEPENDS_TARGET},
    {"-MJ", EITHER, FRONT, NOTHING},
    {"-M", JOINED, FRONT, NOTHING}, /* -MP, -MG, -MV */
    {"-Wp,-MD,", JOINED, FRONT, DEPENDS_WP},
    {"-Wp,-MMD,", JOINED, FRONT, DEPENDS_WP},

    /* the preprocessor, and the language */
    {"-Wp,", JOINED, FRONT, NOTHING},
    {"-Xpreprocessor", SEPARATE, FRONT, NOTHING},
    {"-D", EITHER, FRONT, NOTHING},
    {"-U", EITHER, FRONT, NOTHING},
    {"-I", EITHER, FRONT, NOTHING},
    {"-include-pch", SEPARATE, FRONT, NOTHING},
    {"-include", EITHER, FRONT, NOTHING},
    {"-imacros", EITHER, FRONT, NOTHING},
    {"-isystem", EITHER, FRONT, NOTHING},
    {"-iquote", EITHER, FRONT, NOTHING},
    {"-idirafter", EITHER, FRONT, NOTHING},
    {"-iprefix", EITHER, FRONT, NOTHING},
    {"-iwithprefixbefore", EITHER, FRONT, NOTHING},
    {"-iwithprefix", EITHER, FRONT, NOTHING},
    {"-cxx-isystem", EITHER, FRONT, NOTHING},
    {"-isysroot", EITHER, ALL, NOTHING},
    {"-nostdinc", JOINED, FRONT, NOTHING},
    {"-undef", EXACT, FRONT, NOTHING},
    {"-trigraphs", EXACT, FRONT, NOTHING},
    {"-ansi", EXACT, FRONT, NOTHING},
    {"-std=", JOINED, FRONT, NOTHING},
    {"--std=", JOINED, FRONT, NOTHING},
    {"-pedantic", JOINED, FRONT, NOTHING},
    {"-P", EXACT, FRONT, NOTHING},
    {"-H", EXACT, FRONT, NOTHING},
    {"-w", EXACT, COMPILE, NOTHING},

    /* the linker */
    {"-Wl,", JOINED, LINK, NOTHING},
    {"-Xlinker", SEPARATE, LINK, NOTHING},
    {"-lc", EXACT, LINK, LIBRARY},
    {"-l", EITHER, LINK, NOTHING},
    {"-L", EITHER, LINK, NOTHING},
    {"-z", SEPARATE, LINK, NOTHING},
    {"-u", EITHER, LINK, NOTHING},
    {"-T", EITHER, LINK, NOTHING},
    {"-e", SEPARATE, LINK, NOTHING},
    {"-rpath", SEPARATE, LINK, NOTHING},
    {"-rdynamic", EXACT, LINK, NOTHING},
    {"-shared", EXACT, LINK, SHARED},
    {"-shared-libgcc", EXACT, LINK, NOTHING},
    {"-static-libgcc", EXACT, LINK, NOTHING},
    {"-static-libstdc++", EXACT, LINK, NOTHING},
    {"-static", JOINED, ALL, NOTHING}, /* -static-pie */
    {"-pie", EXACT, ALL, NOTHING},
    {"-no-pie", EXACT, ALL, NOTHING},
    {"-nopie", EXACT, ALL, NOTHING},
    {"-s", EXACT, LINK, NOTHING},
    {"-r", EXACT, LINK, PARTIAL},
    {"-nostdlib", EXACT, LINK, NO_LIBRARIES},
    {"-nodefaultlibs", EXACT, LINK, NO_LIBRARIES},
    {"-nostartfiles", EXACT, LINK, NOTHING},
    {"-nostdlib++", EXACT, LINK, NOTHING},
    {"-fuse-ld=", JOINED, LINK, LINKER},

    /* warnings; the assembler's options come before they do */
    {"-Wa,", JOINED, BACK, BY_CLANG},
    {"-Xassembler", SEPARATE, BACK, BY_CLANG},
    {"-W", JOINED, COMPILE, NOTHING},

    /* debug information */
    {"-g0", EXACT, COMPILE, NO_DEBUG},
    {"-ggdb0", EXACT, COMPILE, NO_DEBUG},
    {"-gz", JOINED, ALL, BY_CLANG},
    {"-gsplit-dwarf", JOINED, COMPILE, BY_CLANG},
    {"-gno-", JOINED, COMPILE, NOTHING},
    {"-gstrict-dwarf", EXACT, COMPILE, NOTHING},
    {"-grecord-", JOINED, COMPILE, NOTHING},
    {"-g", JOINED, COMPILE, DEBUG},

    /* code: all of these are in the bitcode, as attributes of functions or of the module */
    {"-Ofast", EXACT, COMPILE, BY_CLANG},
    {"-O", JOINED, COMPILE, LEVEL},
    {"-pthread", EXACT, ALL, NOTHING},
    {"-pipe", EXACT, 0, NOTHING},
    {"-m64", EXACT, ALL, NOTHING},
    {"-march=", JOINED, COMPILE, NOTHING},
    {"-mtune=", JOINED, COMPILE, NOTHING},
    {"-mcmodel=", JOINED, COMPILE, NOTHING},
    {"-mcpu=", JOINED, COMPILE, NOTHING},
    {"-msse", JOINED, COMPILE, NOTHING},
    {"-mno-sse", JOINED, COMPILE, NOTHING},
    {"-mssse3", EXACT, COMPILE, NOTHING},
    {"-mavx", JOINED, COMPILE, NOTHING},
    {"-mpopcnt", EXACT, COMPILE, NOTHING},
    {"-mpclmul", EXACT, COMPILE, NOTHING},
    {"-maes", EXACT, COMPILE, NOTHING},
    {"-mbmi", JOINED, COMPILE, NOTHING},
    {"-mcrc32", EXACT, COMPILE, NOTHING},
    {"-mcx16", EXACT, COMPILE, NOTHING},
    {"-mno-omit-leaf-frame-pointer", EXACT, COMPILE, NOTHING},
    {"-momit-leaf-frame-pointer", EXACT, COMPILE, NOTHING},
    {"-fPIC", EXACT, COMPILE, NOTHING},
    {"-fpic", EXACT, COMPILE, NOTHING},
    {"-fPIE", EXACT, COMPILE, NOTHING},
    {"-fpie", EXACT, COMPILE, NOTHING},
    {"-fno-PIC", EXACT, COMPILE, NOTHING},
    {"-fno-pic", EXACT, COMPILE, NOTHING},
    {"-fno-PIE", EXACT, COMPILE, NOTHING},
    {"-fno-pie", EXACT, COMPILE, NOTHING},
    {"-fno-plt", EXACT, COMPILE, NOTHING},
    {"-fcommon", EXACT, COMPILE, NOTHING},
    {"-fno-common", EXACT, COMPILE, NOTHING},
    {"-fvisibility", JOINED, COMPILE, NOTHING},
    {"-fstack-protector", JOINED, COMPILE, NOTHING},
    {"-fno-stack-protector", EXACT, COMPILE, NOTHING},
    {"-fstack-clash-protection", EXACT, COMPILE, NOTHING},
    {"-fcf-protection", JOINED, COMPILE, NOTHING},
    {"-fomit-frame-pointer", EXACT, COMPILE, NOTHING},
    {"-fno-omit-frame-pointer", EXACT, COMPILE, NOTHING},
    {"-fstrict-", JOINED, COMPILE, NOTHING},
    {"-fno-strict-", JOINED, COMPILE, NOTHING},
    {"-fwrapv", EXACT, COMPILE, NOTHING},
    {"-fno-wrapv", EXACT, COMPILE, NOTHING},
    {"-ftrapv", EXACT, COMPILE, NOTHING},
    {"-fexceptions", EXACT, COMPILE, NOTHING},
    {"-fno-exceptions", EXACT, COMPILE, NOTHING},
    {"-frtti", EXACT, COMPILE, NOTHING},
    {"-fno-rtti", EXACT, COMPILE, NOTHING},
    {"-fpermissive", EXACT, COMPILE, NOTHING},
    {"-fsigned-char", EXACT, COMPILE, NOTHING},
    {"-funsigned-char", EXACT, COMPILE, NOTHING},
    {"-fshort-enums", EXACT, COMPILE, NOTHING},
    {"-fms-extensions", EXACT, COMPILE, NOTHING},
    {"-fgnu89-inline", EXACT, COMPILE, NOTHING},
    {"-fno-inline", EXACT, COMPILE, NOTHING},
    {"-finline-functions", EXACT, COMPILE, NOTHING},
    {"-funroll-loops", EXACT, COMPILE, NOTHING},
    {"-fbuiltin", EXACT, COMPILE, NOTHING},
    {"-fno-builtin", JOINED, COMPILE, NOTHING},
    {"-ffreestanding", EXACT, COMPILE, NOTHING},
    {"-fhosted", EXACT, COMPILE, NOTHING},
    {"-fno-math-errno", EXACT, COMPILE, NOTHING},
    {"-fno-delete-null-pointer-checks", EXACT, COMPILE, NOTHING},
    {"-fno-optimize-sibling-calls", EXACT, COMPILE, NOTHING},
    {"-fno-threadsafe-statics", EXACT, COMPILE, NOTHING},
    {"-fno-semantic-interposition", EXACT, COMPILE, NOTHING},
    {"-ftls-model=", JOINED, COMPILE, NOTHING},
    {"-funwind-tables", EXACT, COMPILE, NOTHING},
    {"-fasynchronous-unwind-tables", EXACT, COMPILE, NOTHING},
    {"-fno-asynchronous-unwind-tables", EXACT, COMPILE, NOTHING},
    {"-ftrivial-auto-var-init=", JOINED, COMPILE, NOTHING},
    {"-ftemplate-", JOINED, COMPILE, NOTHING},
    {"-fconstexpr-", JOINED, COMPILE, NOTHING},
    {"-fmacro-prefix-map=", JOINED, COMPILE, NOTHING},
    {"-fdebug-prefix-map=", JOINED, COMPILE, NOTHING},
    {"-ffile-prefix-map=", JOINED, COMPILE, NOTHING},
    {"-fdiagnostics-", JOINED, COMPILE, NOTHING},
    {"-fno-diagnostics-", JOINED, COMPILE, NOTHING},
    {"-fcolor-diagnostics", EXACT, COMPILE, NOTHING},
    {"-fno-color-diagnostics", EXACT, COMPILE, NOTHING},
    {"-fansi-escape-codes", EXACT, COMPILE, NOTHING},
    {"-fmessage-length", JOINED, COMPILE, NOTHING},
    {"-fno-lto", EXACT, 0, NO_LTO},
    {"-flto", JOINED, 0, LTO},
    {"-ffat-lto-objects", EXACT, 0, NOTHING},
    {"-fno-fat-lto-objects", EXACT, 0, NOTHING},
    {"-fwhole-program-vtables", EXACT, 0, NOTHING}, /* an error without -flto */

    /* counts what is run, in files that are named after objects */
    {"--coverage", EXACT, ALL, COVERAGE},
    {"-coverage", EXACT, ALL, COVERAGE},
    {"-fprofile-arcs", EXACT, ALL, COVERAGE},
    {"-ftest-coverage", EXACT, ALL, COVERAGE},

    /* what is not for programs that can be instrumented */
    {"-save-temps", JOINED, ALL, PLAIN},
    {"--save-temps", JOINED, ALL, PLAIN},
    {"-m32", EXACT, ALL, PLAIN},
    {"-mx32", EXACT, ALL, PLAIN},
    {"-target", SEPARATE, ALL, PLAIN},
    {"--target=", JOINED, ALL, PLAIN},
    {"-arch", SEPARATE, ALL, PLAIN},
    {"-fmodules", JOINED, ALL, PLAIN},
    {"--cuda", JOINED, ALL, PLAIN},

    /* others that take a word */
    {"-Xclang", SEPARATE, COMPILE, BY_CLANG},
    {"-mllvm", SEPARATE, COMPILE, BY_CLANG},
    {"-Xanalyzer", SEPARATE, FRONT, NOTHING},
    {"--param", SEPARATE, COMPILE, NOTHING},
    {"--sysroot", SEPARATE, ALL, NOTHING},
    {"--sysroot=", JOINED, ALL, NOTHING},
    {"-B", EITHER, ALL, NOTHING},
    {"-working-directory", SEPARATE, ALL, PLAIN},
    {"-ivfsoverlay", SEPARATE, FRONT, NOTHING},
    {"-F", EITHER, ALL, NOTHING},
    {"-framework", SEPARATE, LINK, NOTHING},
    {"-G", SEPARATE, ALL, NOTHING},
    {"-A", SEPARATE, FRONT, NOTHING},
    {"-v", EXACT, ALL, NOTHING},
    {"-Qunused-arguments", EXACT, ALL, NOTHING},
};

/* Endings of source files, and their languages as for -x. NULL: those that are not instrumented, but may
 * stand beside others; ALONE: clang has no objects to make of them. */
static const char ALONE[] = "";

static const struct {
    const char *ending, *language;
} endings[] = {
    {"c", "c"},
    {"i", "cpp-output"},
    {"cc", "c++"},
    {"cpp", "c++"},
    {"cxx", "c++"},
    {"c++", "c++"},
    {"C", "c++"},
    {"cp", "c++"},
    {"CPP", "c++"},
    {"CC", "c++"},
    {"ii", "c++-cpp-output"},
    {"s", NULL},
    {"S", NULL},
    {"sx", NULL},
    {"asm", NULL},
    {"ll", NULL},
    {"bc", NULL},
    {"m", NULL},
    {"mm", NULL},
    {"h", ALONE},
    {"hh", ALONE},
    {"hpp", ALONE},
    {"hxx", ALONE},
    {"H", ALONE},
};

/* Languages that are instrumented, when -x says so. */
static const char *const languages[] = {"c", "c++", "cpp-output", "c++-cpp-output"};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static bool fits(const struct option *o, const char *word)
{
    return o->form == EXACT || o->form == SEPARATE ? strcmp(word, o->text) == 0
                                                   : begins(word, o->text);
}

static const struct option *find_option(const char *word)
{
    static const struct option unknown = {"", EXACT, ALL, BY_CLANG};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (fits(&options[i], word))
            return &options[i];
    return &unknown;
}

static const char *level_of(const char *word)
{
    const char *l = word + 2;
    return *l == 0 || *l == 'g' ? "1" : *l >= '4' && *l <= '9' ? "3" : l;
}

/* What an option does besides being handed on. value: its argument, however written. */
static void apply(struct argv *a, const struct option *o, const char *word, const char *value)
{
    switch (o->effect) {
    case NOTHING:
    case LANGUAGE: break; /* the reader keeps it */
    case TO_OBJECT: a->goal = a->goal == GOAL_OTHER ? GOAL_OTHER : GOAL_OBJECT; break;
    case TO_ASSEMBLY: a->goal = a->goal == GOAL_OTHER ? GOAL_OTHER : GOAL_ASSEMBLY; break;
    case TO_OTHER: a->goal = GOAL_OTHER; break;
    case OUTPUT: a->output = value; break;
    case LEVEL: a->level = level_of(word); break;
    case DEBUG: a->debug = true; break;
    case NO_DEBUG: a->debug = false; break;
    case PLAIN: a->plain = word; break;
    case LTO: a->lto = true; break;
    case NO_LTO: a->lto = false; break;
    case DEPENDS: a->depends = true; break;
    case DEPENDS_WP: a->depends = a->depends_file = true; break;
    case DEPENDS_TARGET: a->depends_target = true; break;
    case DEPENDS_FILE:
        a->depends_file = true;
        if (strcmp(value, "-") == 0 || strcmp(value, "/dev/stdout") == 0)
            a->plain = word; /* the front end's output is ours */
        break;
    case COVERAGE: a->coverage = a->by_clang = true; break;
    case NO_LIBRARIES: a->no_libraries = true; break;
    case LIBRARY: a->names_libc = true; break;
    case SHARED: a->shared = true; break;
    case PARTIAL: a->partial = true; break;
    case LINKER: a->linker = word + strlen(o->text); break;
    case BY_CLANG:
        a->by_clang = true;
        if (strcmp(word, "-Ofast") == 0)
            a->level = "3";
        break;
    }
}

/* As for -x; NULL: not one that we instrument. said: by -x; NULL: nothing. */
static const char *language_of(const char *path, const char *said)
{
    for (size_t i = 0; said && i < sizeof languages / sizeof *languages; i++)
        if (strcmp(said, languages[i]) == 0)
            return languages[i];
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    for (size_t i = 0; !said && dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot + 1, endings[i].ending) == 0)
            return endings[i].language;
    return NULL;
}

static void add_input(struct argv *a, const char *path, const char *said)
{
    struct word w = {.text = path, .kind = WORD_INPUT, .steps = ALL};
    if (said && strcmp(said, "none") == 0)
        said = NULL;
    const char *language = language_of(path, said);
    if (language == ALONE)
        a->goal = GOAL_OTHER;
    else if (!language && said)
        a->plain = "-x"; /* it would have to be said again, in front of this one alone */
    else if (language) {
        w.kind = WORD_SOURCE;
        w.language = a->cplusplus && !said && strcmp(language, "c") == 0 ? "c++" : language;
        a->sources++;
    }
    a->inputs++;
    vec_push(&a->words, w);
}

/* To be used as a VEC. */
struct texts {
    const char **at;
    uint32_t n, cap;
};

/* The words of a response file: blanks separate, quotes and backslashes keep. */
static void split(slice text, struct arena *arena, struct texts *out)
{
    static const char blanks[] = " \t\r\n";
    for (size_t i = 0; i < text.n;) {
        if (strchr(blanks, text.p[i])) {
            i++;
            continue;
        }
        char *word = arena_alloc(arena, text.n - i + 1), quote = 0;
        size_t n = 0;
        for (; i < text.n && (quote || !strchr(blanks, text.p[i])); i++) {
            char c = text.p[i];
            if (c == '\\' && i + 1 < text.n)
                word[n++] = text.p[++i];
            else if (quote && c == quote)
                quote = 0;
            else if (!quote && (c == '"' || c == '\''))
                quote = c;
            else
                word[n++] = c;
        }
        word[n] = 0;
        vec_push(out, word);
    }
}

enum { NESTED_MOST = 20, RESPONSE_MOST = 64 << 20 };

/* Puts the words of response files where their names are. One that cannot be read stays, for clang to
 * say so. */
static void expand(struct texts *out, char *const *words, int n, int depth, struct arena *arena)
{
    for (int i = 0; i < n; i++) {
        struct buf text = BUF_INIT(RESPONSE_MOST);
        struct texts inner = {0};
        if (words[i][0] != '@' || depth == NESTED_MOST || file_read(words[i] + 1, &text)) {
            vec_push(out, words[i]);
        } else {
            split(buf_slice(&text), arena, &inner);
            expand(out, (char *const *)(const void *)inner.at, (int)inner.n, depth + 1, arena);
        }
        vec_deinit(&inner);
        buf_deinit(&text);
    }
}

/* One option, and the word behind it where it takes that. Returns how many words it is; 0: its argument
 * is missing. */
static uint32_t read_option(struct argv *a, const struct texts *all, uint32_t i, const char **said)
{
    const char *word = all->at[i], *value = NULL;
    const struct option *o = find_option(word);
    struct word w = {.text = word, .kind = WORD_OPTION, .steps = o->steps};
    bool joined = o->form == EITHER && word[strlen(o->text)];
    bool separate = o->form == SEPARATE || (o->form == EITHER && !joined);
    if (separate) {
        if (i + 1 == all->n)
            return 0;
        value = w.argument = all->at[i + 1];
    } else {
        value = word + strlen(o->text);
    }
    if (o->effect == LANGUAGE)
        *said = value;
    apply(a, o, word, value);
    vec_push(&a->words, w);
    return separate ? 2 : 1;
}

void argv_read(struct argv *out, bool cplusplus, int n, char **words, struct arena *arena)
{
    struct texts all = {0};
    const char *said = NULL; /* by -x */
    *out = (struct argv){.goal = GOAL_PROGRAM, .level = "0", .cplusplus = cplusplus};
    expand(&all, words, n, 0, arena);
    for (uint32_t i = 0, taken; i < all.n; i += taken) {
        const char *word = all.at[i];
        taken = 1;
        if (word[0] != '-' || !word[1])
            add_input(out, word, said);
        else
            taken = read_option(out, &all, i, &said);
        if (!taken) {
            out->goal = GOAL_OTHER; /* clang says what is missing */
            break;
        }
    }
    vec_deinit(&all);
}

void argv_deinit(struct argv *a)
{
    vec_deinit(&a->words);
}
