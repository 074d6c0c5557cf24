/* SPDX-License-Identifier: Apache-2.0 */
#include "io/foreground.h"

#include <errno.h>
#include <spawn.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

static void awaited(sigset_t *set)
{
    static const int signals[] = {SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    sigemptyset(set);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaddset(set, signals[i]);
}

void foreground_hold(struct foreground *f)
{
    sigset_t set;
    awaited(&set);
    (void)signal(SIGCHLD, SIG_DFL); /* ignored, there would be no end to wait for */
    (void)sigprocmask(SIG_BLOCK, &set, &f->before);
}

/* We ignore SIGPIPE; the command is to have it as everybody has. */
static int spawn(const struct foreground *f, char *const *argv, pid_t *pid)
{
    posix_spawnattr_t attr;
    sigset_t pipe;
    int code = posix_spawnattr_init(&attr);
    if (code)
        return code;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    code = posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!code)
        code = posix_spawnattr_setsigmask(&attr, &f->before);
    if (!code)
        code = posix_spawnattr_setsigdefault(&attr, &pipe);
    if (!code)
        code = posix_spawnp(pid, argv[0], NULL, &attr, argv, environ);
    (void)posix_spawnattr_destroy(&attr);
    return code;
}

int foreground_run(const struct foreground *f, char *const *argv, struct err *e)
{
    sigset_t set;
    pid_t pid;
    int status, code = spawn(f, argv, &pid);
    if (code) {
        (void)err_set(e, 0, 0, "cannot run \"%s\": %s", argv[0], strerror(code));
        return code == ENOENT ? 127 : 126;
    }
    awaited(&set);
    while (waitpid(pid, &status, WNOHANG) != pid) {
        siginfo_t info;
        int got = sigwaitinfo(&set, &info);
        /* what a terminal sends, it sends to the command as well */
        if (got > 0 && got != SIGCHLD && info.si_code != SI_KERNEL)
            (void)kill(pid, got);
    }
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
