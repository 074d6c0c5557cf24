/* SPDX-License-Identifier: Apache-2.0
 *
 * A program as others write them, for tests/native/built: threads, children, jumps and libraries around
 * calls that can fail. Each failure that it meets is a line: what failed, and errno's text.
 *
 *     built MODE [WORD...] */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "outfox/abi.h"

static int out = -1;
static int volume; /* how much was written: what follows depends on it */

static void complain(const char *what)
{
    printf("%s: %s\n", what, strerror(errno));
    fflush(stdout);
}

static void flush_some(void)
{
    if (fdatasync(out))
        complain("fdatasync");
}

static void save_some(void)
{
    ssize_t n = write(out, "0123456789", 10);
    if (n < 0)
        complain("write");
    else if (n < 10)
        printf("write: %zd of 10\n", n);
    __atomic_fetch_add(&volume, 10, __ATOMIC_RELAXED);
    if (volume % 50 == 0)
        flush_some();
}

static void *save_often(void *n)
{
    for (intptr_t i = 0; i < (intptr_t)n; i++)
        save_some();
    return outfox_now ? NULL : n; /* the state of its loop is left */
}

static int mode_plain(char **word)
{
    save_often((void *)(intptr_t)strtol(word[0], NULL, 10));
    return outfox_now != NULL;
}

static int mode_threads(char **word)
{
    pthread_t thread[8];
    void *result;
    int wrong = 0;
    for (int i = 0; i < 8; i++)
        if (pthread_create(&thread[i], NULL, save_often,
                           (void *)(intptr_t)strtol(word[0], NULL, 10)))
            return 8;
    for (int i = 0; i < 8; i++)
        if (pthread_join(thread[i], &result) || !result)
            wrong++;
    return wrong;
}

/* Eight children save, as a server that makes a snapshot; so does the parent. */
static int mode_fork(char **word)
{
    int n = (int)strtol(word[0], NULL, 10), status;
    for (int i = 0; i < 8; i++) {
        pid_t child = fork();
        if (!child) {
            save_often((void *)(intptr_t)n);
            _exit(0);
        }
    }
    save_often((void *)(intptr_t)n);
    while (wait(&status) > 0 || errno == EINTR)
        if (status)
            return 8;
    return 0;
}

static jmp_buf back;

static void save_or_leave(void)
{
    if (write(out, "0123456789", 10) < 0)
        longjmp(back, errno);
}

static int mode_jump(char **word)
{
    volatile long rest = strtol(word[0], NULL, 10);
    int error = setjmp(back);
    if (error)
        printf("left: %s\n", strerror(error));
    while (rest-- > 0)
        save_or_leave();
    return 0;
}

static volatile int alarms;

static void on_alarm(int number)
{
    int kept = errno;
    alarms += number == SIGALRM && write(out, "!", 1) < 0 ? 1000 : 1;
    errno = kept;
}

static int mode_signals(char **word)
{
    struct itimerval each = {{0, 200}, {0, 200}}, none = {{0, 0}, {0, 0}};
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &each, NULL);
    while (alarms < strtol(word[0], NULL, 10))
        save_some();
    setitimer(ITIMER_REAL, &none, NULL);
    if (alarms >= 1000)
        printf("write: in a handler\n");
    return 0;
}

static int mode_library(char **word)
{
    long sum = 0;
    for (int i = 0; i < 50; i++) {
        void *library = dlopen(word[0], RTLD_NOW | RTLD_LOCAL);
        if (!library)
            return 8;
        long (*size_of)(const char *) = (long (*)(const char *))dlsym(library, "size_of");
        long size = size_of(".");
        if (size < 0)
            complain("library");
        sum += size;
        save_some();
        dlclose(library);
    }
    return sum ? 0 : 8;
}

/* Bytes to itself, and to a child: only the second can be lost. */
static int mode_pipes(char **word)
{
    int own[2], far[2], n = (int)strtol(word[0], NULL, 10);
    char byte;
    if (pipe(own) || pipe(far))
        return 8;
    pid_t child = fork();
    if (!child) {
        close(far[1]);
        while (read(far[0], &byte, 1) > 0) {
        }
        _exit(0);
    }
    close(far[0]);
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < n; i++) {
        if (write(own[1], "x", 1) != 1 || read(own[0], &byte, 1) != 1)
            complain("own pipe");
        if (write(far[1], "x", 1) != 1)
            complain("far pipe");
    }
    close(far[1]);
    waitpid(child, NULL, 0);
    return 0;
}

static const struct {
    const char *name;
    int (*run)(char **);
} modes[] = {{"plain", mode_plain}, {"threads", mode_threads}, {"fork", mode_fork},
             {"jump", mode_jump},   {"signals", mode_signals}, {"library", mode_library},
             {"pipes", mode_pipes}};

int main(int argc, char **argv)
{
    out = open("data", O_WRONLY | O_CREAT | O_APPEND, 0600);
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
        if (!strcmp(argv[1], modes[i].name))
            return modes[i].run(argv + 2);
    return 9;
}
