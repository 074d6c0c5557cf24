/* SPDX-License-Identifier: Apache-2.0
 *
 * A program with records of its own (records.h) that does as it is told: tests/native/rt builds and runs it.
 *
 *     program MODE [WORD...]      the modes are in the table at the end
 *
 * Each hit of a site that it reports is a line: what the call returned, errno, the count that was left, and
 * how long it took in milliseconds. The numbers of sites, states and functions are known to the script. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "records.h"

enum { ALL = OUTFOX_ERROR | OUTFOX_DELAY | OUTFOX_SHORT };

SITE(write_site, OUTFOX_CALL, OUTFOX_SUBJECT_FD, ALL, OUTFOX_RESULT_ERRNO, -1, 3,
     {EIO, OUTFOX_ON_FILE}, {EPIPE, OUTFOX_ON_PIPE}, {ECONNRESET, OUTFOX_ON_SOCKET});
SITE(any_site, OUTFOX_CALL, OUTFOX_SUBJECT_FD, ALL, OUTFOX_RESULT_ERRNO, -1, 1,
     {ENOMEM, OUTFOX_ON_ANY});
SITE(open_site, OUTFOX_CALL, OUTFOX_SUBJECT_PATH, OUTFOX_ERROR | OUTFOX_DELAY, OUTFOX_RESULT_ERRNO,
     -1, 2, {EMFILE, OUTFOX_ON_ANY}, {ENFILE, OUTFOX_ON_ANY});
SITE(malloc_site, OUTFOX_CALL, OUTFOX_SUBJECT_MEMORY, OUTFOX_ERROR, OUTFOX_RESULT_ERRNO, 0, 1,
     {ENOMEM, OUTFOX_ON_ANY});
SITE(thread_site, OUTFOX_CALL, OUTFOX_SUBJECT_NONE, OUTFOX_ERROR, OUTFOX_RESULT_NUMBER, 0, 1,
     {EAGAIN, OUTFOX_ON_ANY});
SITE(origin_site, OUTFOX_ORIGIN, OUTFOX_SUBJECT_NONE, OUTFOX_ERROR, OUTFOX_RESULT_VALUE, -5, 0,
     {0, 0});
SITE(stream_site, OUTFOX_CALL, OUTFOX_SUBJECT_STREAM, OUTFOX_ERROR | OUTFOX_DELAY,
     OUTFOX_RESULT_ERRNO, -1, 1, {ENOSPC, OUTFOX_ON_FILE});
SITE(never_site, OUTFOX_CALL, OUTFOX_SUBJECT_NONE, 0, OUTFOX_RESULT_ERRNO, -1, 0, {0, 0});

static const struct {
    const char *name;
    const struct outfox_site *site;
} sites[] = {{"write", &write_site},   {"any", &any_site},       {"open", &open_site},
             {"malloc", &malloc_site}, {"thread", &thread_site}, {"origin", &origin_site},
             {"stream", &stream_site}, {"never", &never_site}};

FUNCTION(first);
FUNCTION(second);
STATE(first_begin, 0);
STATE(first_loop, 1);
STATE(second_begin, 0);
STATE(second_loop, 1);

static double now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

/* ---- subjects ---- */

static int tcp_pair(int *other)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0), one = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&at, sizeof(at)) || listen(listener, 1) ||
        getsockname(listener, (struct sockaddr *)&at, &length) ||
        connect(one, (struct sockaddr *)&at, length))
        exit(9);
    *other = accept(listener, NULL, NULL);
    close(listener);
    return one;
}

/* Of a pipe whose other end another process has; it ends when we do. */
static int far_pipe(void)
{
    int fd[2];
    if (pipe(fd))
        exit(9);
    if (!fork()) {
        char sink[64];
        close(fd[1]);
        while (read(fd[0], sink, sizeof(sink)) > 0) {
        }
        _exit(0);
    }
    close(fd[0]);
    return fd[1];
}

static long make_subject(const char *name)
{
    int fd[2] = {-1, -1};
    if (!strcmp(name, "file"))
        return open("data", O_RDWR | O_CREAT, 0600);
    if (!strcmp(name, "directory"))
        return open(".", O_RDONLY);
    if (!strcmp(name, "tcp"))
        return tcp_pair(&fd[0]);
    if (!strcmp(name, "tcp-nonblocking")) {
        fd[1] = tcp_pair(&fd[0]);
        fcntl(fd[1], F_SETFL, O_NONBLOCK);
        return fd[1];
    }
    if (!strcmp(name, "udp"))
        return socket(AF_INET, SOCK_DGRAM, 0);
    if (!strcmp(name, "pipe"))
        return far_pipe();
    if (!strcmp(name, "own-pipe"))
        return pipe(fd) ? -1 : fd[1];
    if (!strcmp(name, "own-sockets"))
        return socketpair(AF_UNIX, SOCK_STREAM, 0, fd) ? -1 : fd[1];
    if (!strcmp(name, "event"))
        return eventfd(0, 0);
    if (!strcmp(name, "null"))
        return open("/dev/null", O_RDWR);
    if (!strcmp(name, "stream"))
        return (long)fopen("data", "w");
    if (!strcmp(name, "memory")) {
        static char text[64];
        return (long)fmemopen(text, sizeof(text), "w");
    }
    return strcmp(name, "closed") ? 0 : 999;
}

static const struct outfox_site *site_of(const char *name)
{
    for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
        if (!strcmp(sites[i].name, name))
            return sites[i].site;
    exit(9);
}

/* ---- hits ---- */

static __attribute__((noinline)) void report(const struct outfox_site *site, long subject,
                                             unsigned long count)
{
    long value = 0;
    errno = 77;
    double start = now_ms();
    int is_done = HOOKED(*site, subject, &count, &value);
    int error = errno;
    if (!is_done)
        value = 0;
    printf("%d %ld %d %lu %.1f\n", is_done, value, error, count, now_ms() - start);
    fflush(stdout);
}

/* Counts, and does not speak. */
static __attribute__((noinline)) int hit(const struct outfox_site *site, long subject)
{
    long value;
    unsigned long count = 100;
    return HOOKED(*site, subject, &count, &value);
}

static __attribute__((noinline)) int in_first(long n, const struct outfox_site *site, long subject)
{
    int failed = 0;
    ENTER(first);
    IN_STATE(first_begin);
    failed += hit(site, subject);
    for (long i = 0; i < n; i++) {
        IN_STATE(first_loop);
        failed += hit(site, subject);
    }
    LEAVE();
    return failed;
}

static __attribute__((noinline)) int in_second(long n, const struct outfox_site *site, long subject)
{
    int failed = 0;
    ENTER(second);
    IN_STATE(second_begin);
    failed += in_first(n, site, subject);
    IN_STATE(second_loop);
    failed += hit(site, subject);
    LEAVE();
    return failed;
}

/* hits SITE SUBJECT N [COUNT] */
static int mode_hits(char **word)
{
    const struct outfox_site *site = site_of(word[0]);
    long subject = make_subject(word[1]);
    unsigned long count = word[3] ? strtoul(word[3], NULL, 10) : 100;
    for (long i = 0, n = strtol(word[2], NULL, 10); i < n; i++)
        report(site, subject, count);
    return 0;
}

/* states N: N rounds of second(first(3)), and a hit without a state */
static int mode_states(char **word)
{
    int failed = 0;
    for (long i = 0, n = strtol(word[0], NULL, 10); i < n; i++)
        failed += in_second(3, &thread_site, 0) + hit(&origin_site, 0);
    printf("%d\n", failed);
    return 0;
}

/* wait N: as states, when the script has armed it; tells when it is ready, and how it went */
static int mode_wait(char **word)
{
    printf("ready\n");
    fflush(stdout);
    if (getchar() == EOF)
        return 8;
    return mode_states(word);
}

/* spin MS: hits as fast as it can, for so long; the number of faults it had */
static int mode_spin(char **word)
{
    int failed = 0;
    for (double end = now_ms() + strtod(word[0], NULL); now_ms() < end;)
        for (int i = 0; i < 100; i++)
            failed += hit(&thread_site, 0);
    printf("%d\n", failed);
    return 0;
}

/* ---- processes and threads ---- */

static int mode_fork(char **word)
{
    int status, failed = in_first(10, &thread_site, 0);
    for (int i = 0; i < 8; i++)
        if (!fork())
            _exit(in_second(98, &thread_site, 0));
    for (int i = 0; i < 8 && wait(&status) > 0; i++)
        failed += WEXITSTATUS(status);
    printf("%d\n", failed);
    return word[0] != NULL;
}

static void *run_thread(void *n)
{
    return (void *)(intptr_t)in_first((intptr_t)n, &thread_site, 0);
}

static int mode_threads(char **word)
{
    pthread_t thread[8];
    intptr_t failed = 0;
    for (int i = 0; i < 8; i++)
        pthread_create(&thread[i], NULL, run_thread, (void *)(intptr_t)strtol(word[0], NULL, 10));
    for (int i = 0; i < 8; i++) {
        void *result;
        pthread_join(thread[i], &result);
        failed += (intptr_t)result;
    }
    printf("%d\n", (int)failed);
    return 0;
}

static volatile int handled, handled_failed;

static void on_alarm(int number)
{
    (void)number;
    handled++;
    handled_failed += hit(&thread_site, 0);
}

/* signals N: hits in a handler, between N hits outside of it; prints how many there were */
static int mode_signals(char **word)
{
    struct sigaction act = {.sa_handler = on_alarm};
    struct itimerval each = {{0, 100}, {0, 100}}, none = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &act, NULL);
    setitimer(ITIMER_REAL, &each, NULL);
    int failed = 0;
    long n = strtol(word[0], NULL, 10);
    for (long i = 0; i < n || handled<50; i++, n = i> n ? i : n)
        failed += hit(&thread_site, 0);
    setitimer(ITIMER_REAL, &none, NULL);
    printf("%ld %d\n", n + handled, failed + handled_failed);
    return 0;
}

static int mode_exec(char **word)
{
    int failed = hit(&thread_site, 0);
    if (failed)
        return 7;
    execl("/proc/self/exe", "program", "states", word[0], NULL);
    return 8;
}

static int mode_vfork(char **word)
{
    int status = 0, failed = 0;
    char *const again[] = {"program", "states", "1", NULL};
    extern char **environ;
    pid_t pid = vfork(); // NOLINT
    if (!pid)
        _exit(hit(&thread_site, 0));
    waitpid(pid, &status, 0);
    failed += WEXITSTATUS(status) + hit(&thread_site, 0);
    if (posix_spawn(&pid, "/proc/self/exe", NULL, NULL, again, environ))
        return 8;
    waitpid(pid, &status, 0);
    printf("%d\n", failed);
    return word[0] != NULL;
}

/* daemon DIRECTORY: away from all that could be needed again; the file alone can tell */
static int mode_daemon(char **word)
{
    clearenv();
    if (fork())
        _exit(0);
    setsid();
    for (int fd = 0; fd < 1024; fd++)
        close(fd);
    if (chdir(word[0]) || chroot(".") || setgid(65534) || setuid(65534))
        return 8;
    in_second(3, &thread_site, 0);
    return 0;
}

static int mode_closed(char **word)
{
    long file = make_subject("file");
    for (int fd = 0; fd < 3; fd++)
        close(fd);
    int failed = hit(&write_site, file);
    return failed == 1 && open(".", O_RDONLY) == 0 ? 0 : 7 + (word[0] != NULL);
}

/* race N FILE PATH: N trials, each on a copy of FILE, in two processes that begin together */
static int mode_race(char **word)
{
    extern char **environ;
    int fd = open(word[1], O_RDONLY), wrong = 0;
    struct outfox_trial *t = NULL;
    off_t size = lseek(fd, 0, SEEK_END);
    void *copy = malloc((size_t)size);
    if (pread(fd, copy, (size_t)size, 0) != size)
        return 8;
    int own = open(word[2], O_RDWR | O_CREAT, 0600);
    if (ftruncate(own, size))
        return 8;
    t = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, own, 0);
    setenv("OUTFOX_TRIAL", word[2], 1);
    for (long i = 0, n = strtol(word[0], NULL, 10); i < n; i++) {
        char *const racer[] = {"program", "racer", word[2], NULL};
        pid_t pid[2];
        int status, faults = 0;
        memcpy(t, copy, (size_t)size);
        for (int k = 0; k < 2; k++)
            if (posix_spawn(&pid[k], "/proc/self/exe", NULL, NULL, racer, environ))
                return 8;
        while (__atomic_load_n(&t->attached, __ATOMIC_ACQUIRE) < 2)
            sched_yield();
        __atomic_store_n(&t->armed, 1, __ATOMIC_RELEASE);
        for (int k = 0; k < 2; k++) {
            waitpid(pid[k], &status, 0);
            faults += WIFEXITED(status) ? WEXITSTATUS(status) : 100;
        }
        wrong += faults != 1 || !t->injection.done || t->requests != 40;
    }
    printf("%d\n", wrong);
    return 0;
}

static int mode_racer(char **word)
{
    int failed = 0, fd = open(word[0], O_RDWR);
    struct outfox_trial *t = mmap(NULL, sizeof(*t), PROT_READ, MAP_SHARED, fd, 0);
    while (!__atomic_load_n(&t->armed, __ATOMIC_ACQUIRE))
        sched_yield();
    for (int i = 0; i < 20; i++)
        failed += hit(&thread_site, 0);
    return failed;
}

/* ---- stacks ---- */

static ucontext_t outside, inside;
static int inside_failed;

static void run_inside(void)
{
    inside_failed = hit(&origin_site, 0);
}

/* stack: a hit on a small stack with nothing above it, then one on the stack of a signal handler */
static int mode_coroutine(char **word)
{
    size_t page = 4096;
    char *area = mmap(NULL, 6 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    mprotect(area + page, 4 * page, PROT_READ | PROT_WRITE);
    getcontext(&inside);
    inside.uc_stack.ss_sp = area + page;
    inside.uc_stack.ss_size = 4 * page;
    inside.uc_link = &outside;
    makecontext(&inside, run_inside, 0);
    swapcontext(&outside, &inside);
    printf("%d\n", inside_failed);
    return word[0] != NULL;
}

static int mode_altstack(char **word)
{
    stack_t stack = {.ss_sp = malloc(8192), .ss_size = 8192};
    struct sigaction act = {.sa_handler = on_alarm, .sa_flags = SA_ONSTACK};
    sigaltstack(&stack, NULL);
    sigaction(SIGALRM, &act, NULL);
    raise(SIGALRM);
    printf("%d\n", handled_failed);
    return word[0] != NULL;
}

#if defined(__x86_64__)
/* A hit from code that has no frame pointer, and anything in its register. */
int hit_with_frame(uintptr_t frame, const struct outfox_site *site, long *value);
__asm__(".pushsection .text\n"
        "hit_with_frame: push %rbp\n"
        "mov %rdi, %rbp\n"
        "mov %rsi, %rdi\n"
        "mov %rdx, %r8\n"
        "xor %esi, %esi\n"
        "xor %edx, %edx\n"
        "xor %ecx, %ecx\n"
        "call outfox_rt1_hook\n"
        "pop %rbp\n"
        "ret\n"
        ".popsection\n");

static int mode_frame(char **word)
{
    long value;
    printf("%d\n", hit_with_frame(strtoul(word[0], NULL, 16), &origin_site, &value));
    return 0;
}
#endif

static __attribute__((noinline)) int third_level(void)
{
    int failed = hit(&origin_site, 0);
    __asm__ volatile("");
    return failed;
}

static __attribute__((noinline)) int second_level(void)
{
    int failed = third_level();
    __asm__ volatile("");
    return failed;
}

static int mode_levels(char **word)
{
    int failed = second_level();
    __asm__ volatile("");
    printf("%d\n", failed);
    return word[0] != NULL;
}

/* ---- filters for system calls ---- */

/* Ends the process at each call that is not (or that is, when `listed` is not 0) in the list. */
static void filter(const int *calls, size_t n, int listed)
{
    struct sock_filter code[64];
    unsigned short at = 0;
    code[at++] =
        (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (size_t i = 0; i < n; i++)
        code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i],
                                                  (unsigned char)(n - i), 0);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed ? SECCOMP_RET_ALLOW
                                                                      : SECCOMP_RET_KILL_PROCESS);
    code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, listed ? SECCOMP_RET_KILL_PROCESS
                                                                      : SECCOMP_RET_ALLOW);
    struct sock_fprog program = {at, code};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(8);
}

/* forbidden SITE: what a server would not do after its start is forbidden, but asking about itself is not */
static int mode_forbidden(char **word)
{
    static const int calls[] = {
        SYS_mprotect, SYS_socket,  SYS_connect,         SYS_sendto, SYS_mmap,
        SYS_openat,   SYS_gettid,  SYS_getsockopt,      SYS_fcntl,  SYS_readlinkat,
        SYS_fstat,    SYS_mincore, SYS_process_vm_readv};
    long file = make_subject("file");
    filter(calls, sizeof(calls) / sizeof(calls[0]), 1);
    int failed = hit(site_of(word[0]), file);
    _exit(failed ? 0 : 7);
}

/* allowed SITE: nothing but what it does itself, and that is to end */
static int mode_allowed(char **word)
{
    static const int calls[] = {SYS_exit_group, SYS_write};
    long file = make_subject("file");
    const struct outfox_site *site = site_of(word[0]);
    filter(calls, 2, 0);
    int failed = hit(site, file);
    _exit(failed ? 0 : 7);
}

/* ---- libraries ---- */

/* library FLAGS TIMES PATH...: loads each, has it hit, and unloads it again */
static int mode_library(char **word)
{
    int flags = strtol(word[0], NULL, 10) ? RTLD_NOW | RTLD_DEEPBIND : RTLD_NOW, failed = 0;
    ENTER(first);
    IN_STATE(first_loop);
    for (long i = 0, n = strtol(word[1], NULL, 10); i < n; i++)
        for (char **path = word + 2; *path; path++) {
            void *library = dlopen(*path, flags | RTLD_LOCAL);
            if (!library) {
                fprintf(stderr, "%s\n", dlerror());
                return 8;
            }
            int (*library_hit)(void) = (int (*)(void))dlsym(library, "library_hit");
            failed += library_hit();
            dlclose(library);
            failed += hit(&origin_site, 0);
        }
    LEAVE();
    printf("%d\n", failed);
    return 0;
}

/* id: whether it takes part, its identity, and the numbers of its records */
static int mode_id(char **word)
{
    extern const struct outfox_site __start_outfox_sites[], __stop_outfox_sites[];
    extern const struct outfox_state __start_outfox_states[], __stop_outfox_states[];
    extern struct outfox_function __start_outfox_functions[], __stop_outfox_functions[];
    struct outfox_part part = {
        .sites = __start_outfox_sites,
        .sites_end = __stop_outfox_sites,
        .states = __start_outfox_states,
        .states_end = __stop_outfox_states,
        .functions = __start_outfox_functions,
        .functions_end = __stop_outfox_functions,
    };
    printf("{\"on\": %d, \"id\": %llu, \"sizes\": [%zu, %zu, %zu, %zu]", outfox_on,
           (unsigned long long)outfox_part_id(&part), sizeof(struct outfox_trial),
           sizeof(struct outfox_injection), sizeof(struct outfox_point),
           sizeof(struct outfox_module_entry));
    for (size_t i = 0; i < sizeof(sites) / sizeof(sites[0]); i++)
        printf(", \"%s\": %d", sites[i].name, (int)(sites[i].site - part.sites));
    printf(", \"first\": %d, \"second\": %d", (int)(&first - part.functions),
           (int)(&second - part.functions));
    printf(", \"states\": [%d, %d, %d, %d]}\n", (int)(&first_begin - part.states),
           (int)(&first_loop - part.states), (int)(&second_begin - part.states),
           (int)(&second_loop - part.states));
    return word[0] != NULL;
}

static const struct {
    const char *name;
    int (*run)(char **);
} modes[] = {
    {"hits", mode_hits},           {"states", mode_states},
    {"wait", mode_wait},           {"spin", mode_spin},
    {"fork", mode_fork},           {"threads", mode_threads},
    {"signals", mode_signals},     {"exec", mode_exec},
    {"vfork", mode_vfork},         {"daemon", mode_daemon},
    {"closed", mode_closed},       {"race", mode_race},
    {"racer", mode_racer},         {"coroutine", mode_coroutine},
    {"altstack", mode_altstack},   {"levels", mode_levels},
    {"forbidden", mode_forbidden}, {"allowed", mode_allowed},
    {"library", mode_library},     {"id", mode_id},
#if defined(__x86_64__)
    {"frame", mode_frame},
#endif
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(modes) / sizeof(modes[0]); i++)
        if (!strcmp(argv[1], modes[i].name))
            return modes[i].run(argv + 2);
    return 9;
}
