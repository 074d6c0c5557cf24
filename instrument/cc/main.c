/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox-cc cc|c++ WORD...: a compiler. Sources become bitcode by clang, then objects by us (unit.c);
 * clang links them, with the runtime. All that is not about that is clang's, which is then run in our
 * place with the words that we were given.
 *
 * 1. What clang says and how it ends is what users see: we print nothing but what concerns us.
 * 2. Probes of configure scripts are compiled as clang does it: they ask about the system, and are many.
 *
 * The environment: OUTFOX_CC=off compiles and links without anything of ours; OUTFOX_CC_CLANG is the
 * clang that is run; OUTFOX_CC_EMIT=clang makes it emit all objects (to find out whose mistake it is). */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "argv.h"
#include "base/file.h"
#include "cc.h"
#include "run.h"

#ifndef CLANG
#define CLANG "clang"
#endif

enum { BITCODE_MOST = 1 << 30, EXIT_FAILED = 1, EXIT_SETUP = 127 };

struct compiler {
    struct arena arena;
    struct argv argv;
    const char *clang;
    const char *runtime;
    const char *const *words; /* as we were given them */
    int n_words;
    bool emit_clang;
};

/* Files that scripts make to find out about the system. */
static const char *const probes[] = {"conftest.*",
                                     "*/conftest.*",
                                     "*CMakeC*Compiler*",
                                     "*/CMakeFiles/CMakeTmp/*",
                                     "*/CMakeFiles/CMakeScratch/*",
                                     "*/meson-private/*"};

/* Links of which CMake reads the words; the runtime is none of the system's libraries. */
static const char *const sighted[] = {"*CMakeC*CompilerABI*"};

static bool any_fits(const char *const *patterns, size_t n, const char *text)
{
    for (size_t i = 0; i < n; i++)
        if (slice_glob(slice_of(patterns[i]), slice_of(text)))
            return true;
    return false;
}

static bool any_input_fits(const struct argv *a, const char *const *patterns, size_t n)
{
    for (uint32_t i = 0; i < a->words.n; i++)
        if (a->words.at[i].kind != WORD_OPTION && any_fits(patterns, n, a->words.at[i].text))
            return true;
    return false;
}

static bool is_probe(const struct argv *a)
{
    char directory[PATH_MAX];
    size_t n = sizeof probes / sizeof *probes;
    if (any_input_fits(a, probes, n))
        return true;
    if (!getcwd(directory, sizeof directory - 1))
        return false;
    size_t end = strlen(directory);
    memcpy(directory + end, "/", 2);
    return any_fits(probes, n, directory);
}

static void begin_command(struct command *c, const struct compiler *cc)
{
    command_add(c, cc->clang);
    if (cc->argv.cplusplus)
        command_add(c, "--driver-mode=g++");
}

static void add_word(struct command *c, const struct word *w)
{
    command_add(c, w->text);
    if (w->argument)
        command_add(c, w->argument);
}

/* The options of a step. */
static void add_options(struct command *c, const struct argv *a, unsigned step)
{
    for (uint32_t i = 0; i < a->words.n; i++)
        if (a->words.at[i].kind == WORD_OPTION && a->words.at[i].steps & step)
            add_word(c, &a->words.at[i]);
}

/* ---- link ---- */

/* clang must find its own words for inputs that are not there, or when there are none. */
static bool inputs_are_there(const struct argv *a)
{
    for (uint32_t i = 0; i < a->words.n; i++)
        if (a->words.at[i].kind != WORD_OPTION && strcmp(a->words.at[i].text, "-") != 0 &&
            access(a->words.at[i].text, F_OK))
            return false;
    return a->inputs > 0;
}

static bool has_runtime(const struct argv *a)
{
    return inputs_are_there(a) && !a->partial && !a->plain && (!a->no_libraries || a->names_libc) &&
           !any_input_fits(a, sighted, sizeof sighted / sizeof *sighted);
}

/* One runtime serves a process: programs show theirs to the libraries that they load. */
static void add_runtime(struct command *c, const struct compiler *cc)
{
    const char *linker = cc->argv.linker;
    if (!has_runtime(&cc->argv))
        return;
    command_add(c, "-Wl,--whole-archive");
    command_add(c, cc->runtime);
    command_add(c, "-Wl,--no-whole-archive");
    if (!cc->argv.shared && (!linker || strcmp(linker, "gold") != 0))
        command_add(c, "-Wl,--export-dynamic-symbol=outfox_rt1_*");
}

/* clang instead of us, with all words. ours: the runtime where it links, and no -flto. */
static int become_clang(struct compiler *cc, bool ours)
{
    struct command c = {0};
    begin_command(&c, cc);
    for (int i = 0; i < cc->n_words; i++)
        if (!ours || !cc->argv.lto || strncmp(cc->words[i], "-flto", 5) != 0)
            command_add(&c, cc->words[i]);
    if (ours && cc->argv.goal == GOAL_PROGRAM)
        add_runtime(&c, cc);
    int code = command_exec(&c);
    command_deinit(&c);
    return code;
}

/* objects: of the sources, in their order. */
static int link_program(struct compiler *cc, const char *const *objects)
{
    struct argv *a = &cc->argv;
    struct command c = {0};
    begin_command(&c, cc);
    for (uint32_t i = 0; i < a->words.n; i++) {
        struct word *w = &a->words.at[i];
        if (w->kind == WORD_SOURCE)
            command_add(&c, *objects++);
        else if (w->kind == WORD_INPUT || w->steps)
            add_word(&c, w);
    }
    if (a->output) {
        command_add(&c, "-o");
        command_add(&c, a->output);
    }
    command_add(&c, "-Wno-unused-command-line-argument"); /* what only compiles was used */
    add_runtime(&c, cc);
    int code = command_run(&c, NULL);
    command_deinit(&c);
    return code;
}

/* ---- compile ---- */

/* A path with another ending, without its directory when `base`. */
static const char *with_ending(struct compiler *cc, const char *path, const char *ending, bool base)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    const char *from = base ? name : path;
    return arena_printf(&cc->arena, "%.*s%s",
                        (int)((dot && dot > name ? dot : name + strlen(name)) - from), from,
                        ending);
}

/* clang would name them after the output, which here is a pipe. */
static void add_depends(struct command *c, struct compiler *cc, const struct word *source)
{
    struct argv *a = &cc->argv;
    if (!a->depends)
        return;
    if (!a->depends_file) {
        command_add(c, "-MF");
        command_add(c, a->output ? with_ending(cc, a->output, ".d", false)
                                 : with_ending(cc, source->text, ".d", true));
    }
    if (!a->depends_target) {
        command_add(c, "-MQ");
        command_add(c, a->output ? a->output : with_ending(cc, source->text, ".o", true));
    }
}

/* Likewise the files of --coverage; absolute, for programs run elsewhere. */
static void add_coverage(struct command *c, struct compiler *cc, const struct word *source)
{
    char directory[PATH_MAX];
    struct argv *a = &cc->argv;
    const char *ending[] = {".gcno", ".gcda"},
               *option[] = {"-coverage-notes-file", "-coverage-data-file"};
    if (!a->coverage || !getcwd(directory, sizeof directory))
        return;
    for (int i = 0; i < 2; i++) {
        const char *path = a->output && a->goal != GOAL_PROGRAM
                               ? with_ending(cc, a->output, ending[i], false)
                               : with_ending(cc, source->text, ending[i], true);
        command_add(c, "-Xclang");
        command_add(c, option[i]);
        command_add(c, "-Xclang");
        command_add(c, *path == '/' ? path : arena_printf(&cc->arena, "%s/%s", directory, path));
    }
}

/* Bitcode before anything is optimised, with lines and frame pointers. */
static int front_end(struct compiler *cc, const struct word *source, struct buf *bitcode)
{
    static const char *const ours[] = {"-emit-llvm",
                                       "-Xclang",
                                       "-disable-llvm-passes",
                                       "-Xclang",
                                       "-disable-O0-optnone",
                                       "-fno-omit-frame-pointer",
                                       "-mno-omit-leaf-frame-pointer",
                                       "-c",
                                       "-o",
                                       "-"};
    struct argv *a = &cc->argv;
    struct command c = {0};
    begin_command(&c, cc);
    add_options(&c, a, a->goal == GOAL_PROGRAM ? FRONT : FRONT | LINK); /* clang says: unused */
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        command_add(&c, ours[i]);
    if (!a->debug)
        command_add(&c, "-g");
    if (a->goal == GOAL_PROGRAM)
        command_add(&c, "-Wno-unused-command-line-argument");
    add_depends(&c, cc, source);
    add_coverage(&c, cc, source);
    command_add(&c, "-x");
    command_add(&c, source->language);
    command_add(&c, source->text);
    int code = command_run(&c, bitcode);
    command_deinit(&c);
    return code;
}

static int write_file(const char *path, const struct buf *bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    size_t done = 0;
    while (fd >= 0 && done < bytes->n) {
        ssize_t n = write(fd, bytes->p + done, bytes->n - done);
        if (n < 0 && errno != EINTR)
            break;
        done += n > 0 ? (size_t)n : 0;
    }
    if (fd < 0 || done < bytes->n || close(fd)) {
        fprintf(stderr, "outfox cc: %s cannot be written: %s\n", path, strerror(errno));
        return EXIT_FAILED;
    }
    return 0;
}

/* clang makes the object of our bitcode. */
static int back_end(struct compiler *cc, const struct buf *bitcode, const char *to)
{
    struct command c = {0};
    const char *from = scratch_file(".bc");
    if (!from || write_file(from, bitcode))
        return EXIT_FAILED;
    begin_command(&c, cc);
    add_options(&c, &cc->argv, BACK);
    command_add(&c, "-Wno-unused-command-line-argument");
    command_add(&c, cc->argv.goal == GOAL_ASSEMBLY ? "-S" : "-c");
    command_add(&c, "-o");
    command_add(&c, to);
    command_add(&c, "-x");
    command_add(&c, "ir");
    command_add(&c, from);
    int code = command_run(&c, NULL);
    command_deinit(&c);
    unlink(from);
    return code;
}

/* As if we were not there. */
static int by_clang_alone(struct compiler *cc, const struct word *source, const char *to)
{
    struct command c = {0};
    begin_command(&c, cc);
    add_options(&c, &cc->argv, COMPILE);
    add_depends(&c, cc, source);
    command_add(&c, cc->argv.goal == GOAL_ASSEMBLY ? "-S" : "-c");
    command_add(&c, "-o");
    command_add(&c, to);
    command_add(&c, "-x");
    command_add(&c, source->language);
    command_add(&c, source->text);
    int code = command_run(&c, NULL);
    command_deinit(&c);
    return code;
}

static int compile(struct compiler *cc, const struct word *source, const char *to)
{
    struct argv *a = &cc->argv;
    struct buf bitcode = BUF_INIT(BITCODE_MOST), made = BUF_INIT(BITCODE_MOST);
    struct err e = {0};
    struct unit_options o = {
        .file = source->text, .level = a->level, .debug = a->debug || a->coverage};
    o.by_clang = a->by_clang || cc->emit_clang || a->goal == GOAL_ASSEMBLY;
    int code = front_end(cc, source, &bitcode);
    if (!code) {
        switch (unit_compile(buf_slice(&bitcode), &o, &made, &e)) {
        case UNIT_OBJECT: code = write_file(to, &made); break;
        case UNIT_BITCODE: code = back_end(cc, &made, to); break;
        case UNIT_WRONG: code = by_clang_alone(cc, source, to); break;
        case UNIT_FAILED:
            fprintf(stderr, "outfox cc: %s: %s\n", source->text, e.text);
            code = EXIT_FAILED;
        }
    }
    buf_deinit(&bitcode);
    buf_deinit(&made);
    return code;
}

/* Where the object of a source goes; NULL: there is no place for it (which was said). */
static const char *place_of(struct compiler *cc, const struct word *source)
{
    struct argv *a = &cc->argv;
    if (a->goal == GOAL_PROGRAM)
        return scratch_file(".o");
    if (a->output)
        return a->output;
    return with_ending(cc, source->text, a->goal == GOAL_ASSEMBLY ? ".s" : ".o", true);
}

/* All sources, also behind one with errors, as clang has it; then the program. */
static int build(struct compiler *cc)
{
    struct argv *a = &cc->argv;
    const char **objects = arena_alloc(&cc->arena, a->sources * sizeof *objects);
    int worst = 0, n = 0;
    for (uint32_t i = 0; i < a->words.n; i++) {
        const struct word *w = &a->words.at[i];
        if (w->kind != WORD_SOURCE)
            continue;
        objects[n] = place_of(cc, w);
        int code = objects[n] ? compile(cc, w, objects[n]) : EXIT_FAILED;
        worst = worst ? worst : code;
        n++;
    }
    return worst || a->goal != GOAL_PROGRAM ? worst : link_program(cc, objects);
}

/* Several sources, one place for their objects; or other inputs besides: clang has to say what of it. */
static bool is_ours(const struct argv *a)
{
    if (a->goal == GOAL_OTHER || a->sources == 0)
        return false;
    return a->goal == GOAL_PROGRAM || (a->inputs == a->sources && (a->sources == 1 || !a->output));
}

static int compile_and_link(struct compiler *cc)
{
    struct argv *a = &cc->argv;
    const char *off = getenv("OUTFOX_CC");
    if (off && strcmp(off, "off") == 0)
        return become_clang(cc, false);
    if (!is_ours(a) || is_probe(a))
        return become_clang(cc, true);
    if (a->lto)
        fputs("outfox cc: -flto is left out: what is instrumented is optimised file by file\n",
              stderr);
    if (a->plain) {
        fprintf(stderr, "outfox cc: not instrumented, because of %s\n", a->plain);
        return become_clang(cc, false);
    }
    int code = build(cc);
    scratch_remove();
    return code;
}

int main(int argc, char **argv)
{
    struct compiler cc = {.clang = getenv("OUTFOX_CC_CLANG")};
    bool cplusplus = argc > 1 && strcmp(argv[1], "c++") == 0;
    if (argc < 2 || (!cplusplus && strcmp(argv[1], "cc") != 0)) {
        fputs("usage: outfox cc ARGUMENT..., outfox c++ ARGUMENT...\n", stderr);
        return EXIT_SETUP;
    }
    const char *emit = getenv("OUTFOX_CC_EMIT"), *program = file_program(&cc.arena);
    cc.emit_clang = emit && strcmp(emit, "clang") == 0;
    cc.clang = cc.clang && *cc.clang ? cc.clang : CLANG;
    cc.runtime =
        arena_printf(&cc.arena, "%.*s/liboutfox_rt.a",
                     (int)(strrchr(program, '/') ? strrchr(program, '/') - program : 0), program);
    cc.words = (const char *const *)argv + 2;
    cc.n_words = argc - 2;
    argv_read(&cc.argv, cplusplus, argc - 2, argv + 2, &cc.arena);
    int code = compile_and_link(&cc);
    argv_deinit(&cc.argv);
    arena_deinit(&cc.arena);
    return code;
}
