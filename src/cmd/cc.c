/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox cc, outfox c++: the compiler is a program of its own, outfox-cc, for it alone needs LLVM. It
 * stands beside this one (as it is built) or in ../lib/outfox (as it is installed). */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/cmd.h"

enum { EXIT_NOT_THERE = 127 };

int cmd_cc(int argc, char **argv)
{
    static const char *const places[] = {"", "../lib/outfox/"};
    struct arena a = {0};
    const char *program = file_program(&a), *slash = strrchr(program, '/');
    char **words = arena_alloc(&a, (size_t)(argc + 2) * sizeof *words);
    memcpy(words + 1, argv, (size_t)argc * sizeof *words);
    words[argc + 1] = NULL;
    signal(SIGPIPE, SIG_DFL); /* as main found it: clang expects that */
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        words[0] = arena_printf(&a, "%.*s%soutfox-cc", slash ? (int)(slash + 1 - program) : 0,
                                program, places[i]);
        execv(words[0], words);
        if (errno != ENOENT)
            break;
    }
    fprintf(
        stderr,
        "outfox %s: the compiler %s cannot be run: %s; install llvm-dev and clang (14 or later) "
        "and build outfox again: make\n",
        argv[0], words[0], strerror(errno));
    arena_deinit(&a);
    return EXIT_NOT_THERE;
}
