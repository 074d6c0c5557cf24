/* SPDX-License-Identifier: Apache-2.0
 *
 * Programs that are run, and files that do not outlive us. */
#include "run.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/vec.h"

void command_add(struct command *c, const char *word)
{
    vec_push(c, word);
}

void command_deinit(struct command *c)
{
    vec_deinit(c);
}

static int cannot_start(const char *program, int error)
{
    fprintf(stderr,
            "outfox cc: %s cannot be started: %s; install it (Debian: apt install clang), or name "
            "one in OUTFOX_CC_CLANG\n",
            program, strerror(error));
    return 127;
}

static char **words_of(struct command *c)
{
    command_add(c, NULL);
    c->n--;
    return (char **)(void *)c->at;
}

static void read_all(int fd, struct buf *out)
{
    static char piece[1 << 16];
    for (;;) {
        ssize_t n = read(fd, piece, sizeof piece);
        if (n > 0)
            buf_add(out, (slice){piece, (size_t)n});
        else if (n == 0 || errno != EINTR)
            return;
    }
}

static int wait_for(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 127;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int command_run(struct command *c, struct buf *out)
{
    int ends[2] = {-1, -1};
    pid_t pid;
    posix_spawn_file_actions_t actions;
    if (out && pipe2(ends, O_CLOEXEC))
        return cannot_start(c->at[0], errno);
    posix_spawn_file_actions_init(&actions);
    if (out)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    int error = posix_spawnp(&pid, c->at[0], &actions, NULL, words_of(c), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (out)
        close(ends[1]);
    if (!error && out)
        read_all(ends[0], out);
    if (out)
        close(ends[0]);
    return error ? cannot_start(c->at[0], error) : wait_for(pid);
}

int command_exec(struct command *c)
{
    execvp(c->at[0], words_of(c));
    return cannot_start(c->at[0], errno);
}

/* ---- files that do not outlive us ---- */

enum { SCRATCH_MOST = 4096 };

/* Read by the handler of signals: an entry is whole before it is counted. */
static char *scratch[SCRATCH_MOST];
static volatile sig_atomic_t n_scratch;

void scratch_remove(void)
{
    for (int i = 0; i < n_scratch; i++)
        unlink(scratch[i]);
}

static void ended(int number)
{
    scratch_remove();
    signal(number, SIG_DFL);
    raise(number);
}

const char *scratch_file(const char *ending)
{
    static char room[PATH_MAX];
    const char *directory = getenv("TMPDIR");
    if (n_scratch == 0) {
        signal(SIGINT, ended);
        signal(SIGTERM, ended);
        signal(SIGHUP, ended);
    }
    snprintf(room, sizeof room, "%s/outfox-XXXXXX%s", directory ? directory : "/tmp", ending);
    int fd = n_scratch < SCRATCH_MOST ? mkostemps(room, (int)strlen(ending), O_CLOEXEC) : -1;
    if (fd < 0) {
        fprintf(stderr, "outfox cc: no temporary file can be made (%s): %s; set TMPDIR\n", room,
                strerror(errno));
        return NULL;
    }
    close(fd);
    char *path = mem_alloc(strlen(room) + 1);
    memcpy(path, room, strlen(room) + 1);
    scratch[n_scratch] = path;
    n_scratch = n_scratch + 1;
    return path;
}
