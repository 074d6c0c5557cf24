/* SPDX-License-Identifier: Apache-2.0
 *
 * Child processes and commands, with real ones: what they get, what they give, and that nothing is
 * left of them: not when they end, not when we lose interest, not when we are killed. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/procs.h"
#include "live/command.h"
#include "support/unit.h"

#define MS_NS 1000000LL
#define S_NS  1000000000LL

/* What happens is waited for so long: a busy machine is slow. What must not be waited for takes longer. */
#define PATIENCE_NS (60 * S_NS)

/* --- A loop with a keeper --------------------------------------------------------------------- */

struct world {
    struct loop l;
    struct keeper *k;
    struct timer tick;
    int64_t until_ns;
    bool (*over)(void *ctx);
    void *ctx;
    bool late;
};

static void world_init(struct world *w)
{
    struct err e = {0};
    *w = (struct world){0};
    assert_int_equal(keeper_new(&w->k, &e), 0);
    assert_int_equal(loop_init(&w->l, NULL), 0);
    assert_int_equal(keeper_attach(w->k, &w->l, &e), 0);
    assert_ptr_equal(keeper_loop(w->k), &w->l);
}

static void world_deinit(struct world *w)
{
    keeper_free(w->k);
    loop_deinit(&w->l);
}

static void on_tick(struct timer *t)
{
    struct world *w = OWNER(t, struct world, tick);
    w->late = w->l.now_ns > w->until_ns;
    if (w->late || w->over(w->ctx))
        loop_stop(&w->l);
    else
        timer_start(&w->l, &w->tick, w->l.now_ns + 2 * MS_NS);
}

/* Runs the loop until over(ctx); false: that took too long. */
static bool world_run(struct world *w, int64_t ns, bool (*over)(void *ctx), void *ctx)
{
    w->until_ns = clock_ns() + ns;
    w->over = over;
    w->ctx = ctx;
    w->tick.fire = on_tick;
    timer_start(&w->l, &w->tick, clock_ns());
    loop_run(&w->l);
    return !w->late;
}

static bool never(void *ctx)
{
    (void)ctx;
    return false;
}

/* --- Looking at the system -------------------------------------------------------------------- */

/* Every process that the tests start has this in its environment, so that none can hide. */
static char mark[64];

static char proc_text[1 << 16];

static size_t proc_file_read(pid_t pid, const char *file)
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    ssize_t n = read(fd, proc_text, sizeof proc_text);
    close(fd);
    return n > 0 ? (size_t)n : 0;
}

static bool has_mark(pid_t pid)
{
    return memmem(proc_text, proc_file_read(pid, "environ"), mark, strlen(mark)) != NULL;
}

/* Zombies, which have no command line, do not count: not everybody's init is quick. */
static bool is_alive(pid_t pid)
{
    return proc_file_read(pid, "cmdline") > 0;
}

/* Those that live; zombies have no environment. */
static int n_marked(void)
{
    struct procs f = {0};
    int n = 0;
    procs_read_family(&f, getpid());
    for (uint32_t i = 0; i < f.all.n; i++)
        n += has_mark(f.all.at[i].pid);
    procs_deinit(&f);
    return n;
}

static bool wait_marked(int wanted, int64_t ns)
{
    int64_t until_ns = clock_ns() + ns;
    while (n_marked() != wanted) {
        if (clock_ns() > until_ns)
            return false;
        (void)poll(NULL, 0, 5);
    }
    return true;
}

static uint32_t n_below(pid_t root)
{
    struct procs f = {0};
    uint32_t n = 0;
    procs_read_family(&f, root);
    for (uint32_t i = 0; i < f.all.n; i++)
        n += f.all.at[i].marked;
    procs_deinit(&f);
    return n;
}

/* The keeper alone; zombies would count as well. */
static bool only_keeper(void *ctx)
{
    (void)ctx;
    return n_below(getpid()) == 1;
}

static bool none_marked(void *ctx)
{
    (void)ctx;
    return n_marked() == 0;
}

static bool some_marked(void *ctx)
{
    (void)ctx;
    return n_marked() > 0;
}

/* The only child that we have is the keeper. */
static pid_t child_of(pid_t parent)
{
    struct procs f = {0};
    pid_t found = 0;
    procs_read_family(&f, parent);
    for (uint32_t i = 0; i < f.all.n; i++)
        if (f.all.at[i].parent == parent)
            found = f.all.at[i].pid;
    procs_deinit(&f);
    return found;
}

static int n_descriptors(void)
{
    int n = 0;
    DIR *dir = opendir("/proc/self/fd");
    assert_non_null(dir);
    while (readdir(dir))
        n++;
    (void)closedir(dir);
    return n;
}

/* --- Commands --------------------------------------------------------------------------------- */

struct told {
    struct command_result result;
    char output[COMMAND_OUTPUT_MAX + 1];
    char error[512];
    int times;
};

static void on_done(void *user, const struct command_result *result)
{
    struct told *t = user;
    t->times++;
    t->result = *result;
    assert_true(result->output.n <= COMMAND_OUTPUT_MAX);
    memcpy(t->output, result->output.p, result->output.n);
    t->output[result->output.n] = 0;
    (void)snprintf(t->error, sizeof t->error, "%s", result->error ? result->error : "");
}

static bool is_told(void *ctx)
{
    return ((const struct told *)ctx)->times > 0;
}

static struct told told;

static struct command *start(struct world *w, const char *text, int64_t timeout_ns)
{
    struct text_pair pair = {SLICE("MARK"), slice_of(mark)};
    struct command_request r = {
        .text = slice_of(text), .env = &pair, .n_env = 1, .timeout_ns = timeout_ns};
    memset(&told, 0, sizeof told);
    struct command *c = command_start(w->k, &r, on_done, &told);
    assert_int_equal(told.times, 0);
    return c;
}

static void run(struct world *w, const char *text, int64_t timeout_ns)
{
    (void)start(w, text, timeout_ns);
    assert_true(world_run(w, 2 * PATIENCE_NS, is_told, &told));
    assert_int_equal(told.times, 1);
}

static void gives_exit_code_output_and_times(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    int64_t before_ns = clock_ns();
    run(&w, "echo out; echo err >&2; sleep 0.05; exit 3", PATIENCE_NS);
    assert_true(told.result.started);
    assert_false(told.result.timed_out);
    assert_int_equal(told.result.exit_code, 3);
    assert_int_equal(told.result.signal, 0);
    assert_string_equal(told.output, "out\nerr\n");
    assert_string_equal(told.error, "");
    assert_true(told.result.start_ns >= before_ns);
    assert_true(told.result.end_ns - told.result.start_ns >= 50 * MS_NS);
    assert_true(told.result.end_ns <= clock_ns());
    run(&w, "kill -SEGV $$", PATIENCE_NS);
    assert_true(told.result.started);
    assert_int_equal(told.result.exit_code, -1);
    assert_int_equal(told.result.signal, SIGSEGV);
    run(&w, "no-such-program-at-all", PATIENCE_NS);
    assert_int_equal(told.result.exit_code, 127);
    assert_non_null(strstr(told.output, "no-such-program-at-all"));
    run(&w, "cat", PATIENCE_NS); /* nothing to read: it ends */
    assert_int_equal(told.result.exit_code, 0);
    world_deinit(&w);
}

static void gives_directory_and_environment(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    struct text_pair env[] = {{SLICE("A"), SLICE("one two")},
                              {SLICE("HOME"), SLICE("/nowhere")},
                              {SLICE("EMPTY"), {NULL, 0}}};
    struct command_request r = {.text = SLICE("pwd; echo \"$A,$HOME,${EMPTY-unset},$PATH\""),
                                .dir = SLICE("/usr"),
                                .env = env,
                                .n_env = 3,
                                .timeout_ns = PATIENCE_NS};
    memset(&told, 0, sizeof told);
    (void)command_start(w.k, &r, on_done, &told);
    assert_true(world_run(&w, 2 * PATIENCE_NS, is_told, &told));
    char wanted[8192];
    (void)snprintf(wanted, sizeof wanted, "/usr\none two,/nowhere,,%s\n", getenv("PATH"));
    assert_string_equal(told.error, "");
    assert_string_equal(told.output, wanted);

    memset(&told, 0, sizeof told);
    r.dir = SLICE("/no/such/directory");
    (void)command_start(w.k, &r, on_done, &told);
    assert_true(world_run(&w, 2 * PATIENCE_NS, is_told, &told));
    assert_false(told.result.started);
    assert_int_not_equal(told.result.exit_code, 0);
    assert_string_equal(told.error, "its directory /no/such/directory cannot be entered: "
                                    "No such file or directory");
    world_deinit(&w);
}

static void big_environments(void **state)
{
    (void)state;
    enum { PAIRS = 100, EACH = 10000, HUGE = 300000 };
    static char names[PAIRS][16], value[HUGE];
    struct text_pair env[PAIRS];
    struct world w;
    world_init(&w);
    memset(value, 'x', sizeof value);
    for (int i = 0; i < PAIRS; i++) {
        (void)snprintf(names[i], sizeof names[i], "BIG_%d", i);
        env[i] = (struct text_pair){slice_of(names[i]), {value, EACH}};
    }
    struct command_request r = {
        .text = SLICE("echo ${#BIG_99}"), .env = env, .n_env = PAIRS, .timeout_ns = PATIENCE_NS};
    memset(&told, 0, sizeof told);
    (void)command_start(w.k, &r, on_done, &told);
    assert_true(world_run(&w, 2 * PATIENCE_NS, is_told, &told));
    assert_string_equal(told.output, "10000\n");
    env[0].value.n = HUGE; /* more than Linux takes for one of them */
    memset(&told, 0, sizeof told);
    (void)command_start(w.k, &r, on_done, &told);
    assert_true(world_run(&w, 2 * PATIENCE_NS, is_told, &told));
    assert_false(told.result.started);
    assert_string_equal(told.error, "its command and environment are too long");
    world_deinit(&w);
}

static void keeps_the_end_of_much_output(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    run(&w, "head -c 30000000 /dev/zero | tr '\\0' x; printf END", PATIENCE_NS);
    assert_int_equal(told.result.exit_code, 0);
    assert_int_equal(told.result.output.n, COMMAND_OUTPUT_MAX);
    assert_string_equal(told.output + COMMAND_OUTPUT_MAX - 4, "xEND");
    run(&w, "head -c 65536 /dev/zero | tr '\\0' y", PATIENCE_NS);
    assert_int_equal(told.result.output.n, COMMAND_OUTPUT_MAX);
    assert_int_equal(strspn(told.output, "y"), COMMAND_OUTPUT_MAX);
    run(&w, "yes", 300 * MS_NS); /* without end */
    assert_true(told.result.timed_out);
    assert_int_equal(told.result.output.n, COMMAND_OUTPUT_MAX);
    world_deinit(&w);
}

static void ends_at_the_deadline(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    int64_t before_ns = clock_ns();
    run(&w, "trap '' TERM INT HUP; echo on; setsid sleep 71 & sleep 72; echo off", 200 * MS_NS);
    assert_true(clock_ns() - before_ns >= 200 * MS_NS);
    assert_true(clock_ns() - before_ns < PATIENCE_NS);
    assert_true(told.result.started);
    assert_true(told.result.timed_out);
    assert_int_equal(told.result.signal, SIGKILL);
    assert_string_equal(told.output, "on\n");
    assert_true(wait_marked(0, PATIENCE_NS));
    world_deinit(&w);
}

static void waits_shortly_for_late_output(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    int tries = 0; /* 30 ms may be more than 100 on a busy machine */
    do
        run(&w, "(sleep 0.03; echo late) & echo now", PATIENCE_NS);
    while (strcmp(told.output, "now\nlate\n") && ++tries < 50);
    assert_true(tries < 50);
    int64_t before_ns = clock_ns();
    run(&w, "sleep 73 & echo now", PATIENCE_NS); /* holds the pipe */
    assert_string_equal(told.output, "now\n");
    assert_int_equal(told.result.exit_code, 0);
    assert_true(clock_ns() - told.result.end_ns >= 90 * MS_NS); /* its own end, not the pipe's */
    assert_true(clock_ns() - before_ns < PATIENCE_NS);
    assert_true(wait_marked(0, PATIENCE_NS));
    world_deinit(&w);
}

static void cancelled_ones_are_silent(void **state)
{
    (void)state;
    struct world w;
    world_init(&w);
    struct command *c = start(&w, "sleep 74", 100 * MS_NS);
    command_cancel(c); /* before it runs */
    assert_false(world_run(&w, 200 * MS_NS, is_told, &told));
    c = start(&w, "sleep 75 & setsid sleep 76", 2 * S_NS);
    assert_true(world_run(&w, PATIENCE_NS, some_marked, NULL));
    assert_false(is_told(&told));
    command_cancel(c);
    assert_true(wait_marked(0, PATIENCE_NS));
    assert_false(world_run(&w, 2100 * MS_NS, is_told, &told)); /* also when its time is over */
    world_deinit(&w);
}

/* --- What processes inherit ------------------------------------------------------------------- */

static void inherits_nothing(void **state)
{
    (void)state;
    struct world w;
    int open_fd = open("/dev/zero", O_RDONLY); /* NOLINT: not close-on-exec, that is the point */
    assert_true(open_fd >= 0);
    sigset_t usr, before;
    (void)sigemptyset(&usr);
    (void)sigaddset(&usr, SIGUSR1);
    (void)sigprocmask(SIG_BLOCK, &usr, &before);
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    world_init(&w);
    sigset_t now;
    (void)sigprocmask(SIG_SETMASK, NULL, &now);
    assert_int_equal(sigismember(&now, SIGUSR1), 1); /* as it was */
    assert_int_equal(sigismember(&now, SIGTERM), sigismember(&before, SIGTERM));
    run(&w, "cd /proc/self/fd && echo *", PATIENCE_NS);
    assert_non_null(strstr("0 1 2\n0 1 2 3\n", told.output));
    run(&w, "readlink /proc/self/fd/0; grep -E '^Sig(Blk|Ign)' /proc/self/status", PATIENCE_NS);
    static const char begin[] = "/dev/null\nSigBlk:\t0000000000000000\nSigIgn:\t";
    assert_memory_equal(told.output, begin, sizeof begin - 1);
    uint64_t ignored = strtoull(told.output + sizeof begin - 1, NULL, 16);
    assert_int_equal(ignored & ~(UINT64_C(3) << 31), 0); /* 32 and 33 are the C library's own */
    run(&w, "echo $$; cut -d' ' -f5,6,7 /proc/$$/stat", PATIENCE_NS); /* group, session, no tty */
    int pid, group, session, terminal;
    char *at = told.output;
    pid = (int)strtol(at, &at, 10);
    group = (int)strtol(at, &at, 10);
    session = (int)strtol(at, &at, 10);
    terminal = (int)strtol(at, &at, 10);
    assert_int_equal(group, pid);
    assert_int_equal(session, pid);
    assert_int_equal(terminal, 0);
    world_deinit(&w);
    (void)sigprocmask(SIG_SETMASK, &before, NULL);
    (void)signal(SIGPIPE, old);
    close(open_fd);
}

/* --- Processes -------------------------------------------------------------------------------- */

struct seen {
    int started, failed, ended, gone, status;
    pid_t pid;
    char why[400];
};

static void on_started(struct process *p, pid_t pid)
{
    struct seen *s = process_user(p);
    s->started++;
    s->pid = pid;
    assert_int_equal(process_pid(p), pid);
    assert_true(process_guard(p) > 0);
}

static void on_failed(struct process *p, const char *why)
{
    struct seen *s = process_user(p);
    s->failed++;
    (void)snprintf(s->why, sizeof s->why, "%s", why);
    process_abandon(p); /* harmless */
}

static void on_ended(struct process *p, int status)
{
    struct seen *s = process_user(p);
    s->ended++;
    s->status = status;
}

static void on_gone(struct process *p)
{
    ((struct seen *)process_user(p))->gone++;
}

static const struct process_events with_gone = {on_started, on_failed, on_ended, on_gone};
static const struct process_events without_gone = {on_started, on_failed, on_ended, NULL};

static bool is_started(void *ctx)
{
    return ((const struct seen *)ctx)->started > 0;
}

static bool is_failed(void *ctx)
{
    return ((const struct seen *)ctx)->failed > 0;
}

static bool is_ended(void *ctx)
{
    return ((const struct seen *)ctx)->ended > 0;
}

static bool is_gone(void *ctx)
{
    return ((const struct seen *)ctx)->gone > 0;
}

static struct process *spawn(struct world *w, const char *command,
                             const struct process_events *events, struct seen *s)
{
    const char *env[] = {mark, NULL};
    struct process_spec spec = {.command = command, .env = env, .out_fd = 2};
    *s = (struct seen){0};
    struct process *p = process_start(w->k, &spec, events, s);
    assert_int_equal(process_pid(p), 0);
    return p;
}

static void passes_signals_on(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    world_init(&w);
    struct process *p = spawn(&w, "exec sleep 79", &with_gone, &s);
    process_signal(p, SIGTERM); /* waits until it runs */
    assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    assert_int_equal(s.started, 1);
    assert_true(WIFSIGNALED(s.status));
    assert_int_equal(WTERMSIG(s.status), SIGTERM);
    assert_int_equal(n_marked(), 0);

    p = spawn(&w, "sleep 80 & setsid sleep 78 & sleep 81", &with_gone, &s);
    assert_true(wait_marked(4, PATIENCE_NS)); /* a shell that is about to fork would lose it */
    process_signal(p, SIGTERM);
    assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    assert_int_equal(WTERMSIG(s.status), SIGTERM);
    assert_int_equal(n_marked(), 0);

    p = spawn(&w, "trap '' TERM; sleep 82; sleep 83", &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_started, &s));
    assert_int_equal(process_pid(p), s.pid);
    assert_true(wait_marked(2, PATIENCE_NS)); /* the shell has come to what is after its trap */
    process_signal(p, SIGTERM);
    assert_false(world_run(&w, 200 * MS_NS, is_ended, &s));
    process_signal(p, SIGKILL);
    assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    assert_int_equal(WTERMSIG(s.status), SIGKILL);
    world_deinit(&w);
}

/* What forks all the time gets away from one look at /proc, not from SIGKILL. */
static void kills_what_forks(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    world_init(&w);
    struct process *p = spawn(&w,
                              "i=0; while [ $i -lt 4 ]; do i=$((i+1)); setsid sh -c 'trap \"\" "
                              "TERM; while :; do setsid sh -c : & setsid sh -c : ; done' & done",
                              &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_ended, &s));
    (void)world_run(&w, 100 * MS_NS, never, NULL);
    process_signal(p, SIGKILL);
    assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    assert_int_equal(n_marked(), 0);
    world_deinit(&w);
}

/* The first process ends; what it left in a session of its own is still reached. */
static void tells_the_end_from_being_gone(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    world_init(&w);
    struct process *p = spawn(&w, "(setsid sleep 84 &) ; exit 7", &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_ended, &s));
    assert_int_equal(WEXITSTATUS(s.status), 7);
    assert_false(world_run(&w, 100 * MS_NS, is_gone, &s));
    assert_int_equal(n_marked(), 1);
    struct process_usage usage;
    assert_true(process_usage(p, &usage));
    assert_true(usage.descriptors >= 3);
    assert_true(usage.memory > 64 * 1024 && usage.memory < 64 * 1024 * 1024);
    process_signal(p, SIGTERM);
    assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    assert_int_equal(s.ended, 1);
    assert_int_equal(n_marked(), 0);

    (void)spawn(&w, "(setsid sleep 85 &) ; exit 8", &without_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_ended, &s));
    assert_true(world_run(&w, PATIENCE_NS, none_marked, NULL));
    assert_int_equal(s.gone, 0);
    world_deinit(&w);
}

/* The least time that it takes to look at a process, of many: a busy machine is fast now and then.
 */
static int64_t look_ns(const struct process *p)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < 60; i++) {
        struct process_usage usage;
        int64_t start = clock_ns();
        assert_true(process_usage(p, &usage));
        int64_t took = clock_ns() - start;
        least = took < least ? took : least;
    }
    return least;
}

/* What a service holds is looked at after runs: other processes of the machine must not cost. */
static void looks_at_a_family_alone(void **state)
{
    enum { OTHERS = 600, TIMES = 3 };
    (void)state;
    struct world w;
    struct seen s;
    pid_t others[OTHERS];
    struct procs f = {0};
    if (!procs_read_below(&f, getpid()))
        skip(); /* this kernel has no lists of children */
    world_init(&w);
    /* a shell, a child of it, and one in a session of its own whose parent is gone */
    struct process *p = spawn(
        &w, "(setsid sleep 86 &) ; sleep 87 & exec 5</dev/null 6</dev/null; wait", &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_started, &s));
    assert_true(wait_marked(3, PATIENCE_NS));
    assert_int_equal(n_below(process_guard(p)), 3);
    assert_true(procs_read_below(&f, process_guard(p)));
    assert_int_equal(f.all.n, 3);
    procs_deinit(&f);
    int64_t alone = look_ns(p);
    for (int i = 0; i < OTHERS; i++) {
        others[i] = fork();
        if (others[i] == 0) {
            (void)pause();
            _exit(0);
        }
    }
    int64_t crowded = look_ns(p);
    for (int i = 0; i < OTHERS; i++) {
        (void)kill(others[i], SIGKILL);
        (void)waitpid(others[i], NULL, 0);
    }
    print_message("# %lld us alone, %lld us with %d others\n", (long long)alone / 1000,
                  (long long)crowded / 1000, OTHERS);
    assert_true(crowded < TIMES * alone);
    process_signal(p, SIGKILL);
    assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    world_deinit(&w);
}

static void ignores_signals_of_people(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    world_init(&w);
    struct process *p = spawn(&w, "exec sleep 86", &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_started, &s));
    pid_t keeper = child_of(getpid());
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGTSTP};
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        assert_int_equal(kill(keeper, signals[i]), 0);
        assert_int_equal(kill(process_guard(p), signals[i]), 0);
    }
    assert_int_not_equal(getsid(keeper), getsid(0)); /* Ctrl-C does not reach it */
    assert_false(world_run(&w, 100 * MS_NS, is_ended, &s));
    process_signal(p, SIGINT);
    assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    assert_int_equal(WTERMSIG(s.status), SIGINT);
    run(&w, "echo alive", PATIENCE_NS);
    assert_string_equal(told.output, "alive\n");
    world_deinit(&w);
}

/* The end of the pipe is closed long before the command is over, and its number is used again. */
static void closes_its_output_early(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    world_init(&w);
    (void)start(&w, "exec >/dev/null 2>&1; sleep 0.3", 5 * S_NS);
    assert_false(world_run(&w, 150 * MS_NS, is_told, &told));
    (void)spawn(&w, "sleep 0.5", &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_told, &told));
    assert_int_equal(told.result.exit_code, 0);
    assert_string_equal(told.output, "");
    assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    world_deinit(&w);
}

/* --- Somebody kills what keeps ---------------------------------------------------------------- */

static void keeper_killed(void **state)
{
    (void)state;
    struct world w;
    struct seen s, other;
    world_init(&w);
    struct process *p = spawn(&w, "exec sleep 87", &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_started, &s));
    pid_t keeper = child_of(getpid());
    assert_int_equal(kill(keeper, SIGSTOP), 0);
    (void)spawn(&w, "sleep 88", &with_gone, &other); /* under way while it dies */
    assert_int_equal(kill(keeper, SIGKILL), 0);
    assert_true(world_run(&w, PATIENCE_NS, is_failed, &other));
    assert_non_null(strstr(other.why, "was killed"));
    (void)spawn(&w, "sleep 89", &with_gone, &other); /* afterwards */
    assert_int_equal(other.failed, 0);
    assert_true(world_run(&w, PATIENCE_NS, is_failed, &other));
    assert_non_null(strstr(other.why, "was killed"));
    run(&w, "true", PATIENCE_NS);
    assert_false(told.result.started);
    assert_non_null(strstr(told.error, "was killed"));
    process_signal(p, SIGTERM); /* what runs is still ours */
    assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    assert_int_equal(s.failed, 0);
    assert_int_equal(n_marked(), 0);
    world_deinit(&w);
}

static void guard_killed(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    world_init(&w);
    struct process *p = spawn(&w, "(setsid sleep 90 &); sleep 91; true", &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_started, &s));
    assert_true(wait_marked(3, PATIENCE_NS));
    assert_int_equal(kill(process_guard(p), SIGKILL), 0);
    assert_true(world_run(&w, PATIENCE_NS, is_failed, &s));
    assert_non_null(strstr(s.why, "was killed"));
    assert_true(wait_marked(0, PATIENCE_NS)); /* the keeper's work */
    run(&w, "echo alive", PATIENCE_NS);
    assert_string_equal(told.output, "alive\n");
    world_deinit(&w);
}

/* Starts services that try to get away, says so and waits to be killed. */
static _Noreturn void parent_main(int ready)
{
    static const char *const commands[] = {
        "sleep 100",
        "setsid sleep 101 & setsid setsid sh -c 'trap \"\" TERM HUP; sleep 102; sleep 103' & wait",
        "(setsid sh -c '(setsid sleep 104 &) ; sleep 105' &) ; exit 0",
        "while :; do sleep 0.2 & setsid sleep 0.1 & sleep 0.01; done",
    };
    enum { N = sizeof commands / sizeof *commands };
    struct world w;
    struct seen s[N];
    world_init(&w);
    for (int i = 0; i < N; i++)
        (void)spawn(&w, commands[i], &with_gone, &s[i]);
    (void)world_run(&w, 300 * MS_NS, never, NULL);
    if (write(ready, "r", 1) != 1)
        _exit(1);
    (void)world_run(&w, PATIENCE_NS, never, NULL);
    _exit(2);
}

static void nothing_outlives(bool keeper_first)
{
    int ends[2];
    char byte;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    pid_t parent = fork();
    if (parent == 0)
        parent_main(ends[1]);
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1);
    close(ends[0]);
    int marked = n_marked();
    for (int i = 0; i < 2000 && marked < 8; i++, marked = n_marked())
        (void)poll(NULL, 0, 5);
    assert_true(marked >= 8);
    pid_t keeper = child_of(parent);
    assert_true(is_alive(keeper));
    if (keeper_first)
        assert_int_equal(kill(keeper, SIGKILL), 0);
    assert_int_equal(kill(parent, SIGKILL), 0);
    int status;
    assert_int_equal(waitpid(parent, &status, 0), parent);
    assert_true(WIFSIGNALED(status));
    assert_true(wait_marked(0, PATIENCE_NS));
    for (int i = 0; i < 2000 && is_alive(keeper); i++)
        (void)poll(NULL, 0, 5);
    assert_false(is_alive(keeper));
}

static void nothing_outlives_us(void **state)
{
    (void)state;
    nothing_outlives(false);
}

static void nothing_outlives_us_and_the_keeper(void **state)
{
    (void)state;
    nothing_outlives(true);
}

static void count_clear(void *user)
{
    ++*(int *)user;
}

static bool is_counted(void *ctx)
{
    return *(int *)ctx > 0;
}

/* What was abandoned is over when all of it has ended, and not when it was told to: its guard, which
 * waits for that, sleeps here. */
static void the_abandoned_are_awaited(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    int cleared = 0;
    world_init(&w);
    keeper_tell(w.k, count_clear, &cleared);
    struct process *p = spawn(&w, "exec sleep 110", &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_started, &s));
    assert_true(keeper_is_clear(w.k));
    pid_t guard = process_guard(p);
    assert_int_equal(kill(guard, SIGSTOP), 0);
    process_abandon(p);
    assert_false(keeper_is_clear(w.k));
    (void)world_run(&w, 100 * MS_NS, never, NULL);
    assert_false(keeper_is_clear(w.k));
    assert_int_equal(cleared, 0);
    assert_int_equal(kill(guard, SIGCONT), 0);
    assert_true(world_run(&w, PATIENCE_NS, is_counted, &cleared));
    assert_true(keeper_is_clear(w.k));
    assert_int_equal(kill(s.pid, 0), -1);
    assert_int_equal(s.ended + s.gone + s.failed, 0);
    keeper_free(w.k);
    loop_deinit(&w.l);
}

/* --- Nothing piles up ------------------------------------------------------------------------- */

static void two_hundred_leave_nothing(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    world_init(&w);
    run(&w, "true", PATIENCE_NS);
    (void)world_run(&w, 50 * MS_NS, never, NULL);
    int before = n_descriptors();
    for (int i = 0; i < 200; i++) {
        if (i % 4 == 0) {
            run(&w, "(setsid true &); true", PATIENCE_NS);
            continue;
        }
        struct process *p = spawn(&w, "exec sleep 110", &with_gone, &s);
        if (i % 4 == 1) {
            process_abandon(p);
            continue;
        }
        assert_true(world_run(&w, PATIENCE_NS, is_started, &s));
        process_signal(p, i % 4 == 2 ? SIGTERM : SIGKILL);
        assert_true(world_run(&w, PATIENCE_NS, is_gone, &s));
    }
    assert_true(world_run(&w, 2 * PATIENCE_NS, only_keeper, NULL));
    assert_int_equal(n_marked(), 0);
    assert_int_equal(n_descriptors(), before);
    keeper_free(w.k);
    assert_int_equal(n_below(getpid()), 0);
    loop_deinit(&w.l);
}

static int n_done;

static void count_done(void *user, const struct command_result *result)
{
    (void)user;
    n_done += result->started && result->exit_code == 0 && slice_is(result->output, "x");
}

static bool is_all_done(void *ctx)
{
    return n_done == *(int *)ctx;
}

/* More requests than the keeper's socket holds. */
static void many_at_once(void **state)
{
    (void)state;
    struct world w;
    struct rlimit old, more;
    int wanted = 400;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    more = (struct rlimit){.rlim_cur = old.rlim_max < 4096 ? old.rlim_max : 4096,
                           .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &more), 0);
    world_init(&w);
    pid_t keeper = child_of(getpid());
    assert_int_equal(kill(keeper, SIGSTOP), 0);
    struct command_request r = {.text = SLICE("printf x"), .timeout_ns = PATIENCE_NS};
    n_done = 0;
    for (int i = 0; i < wanted; i++)
        (void)command_start(w.k, &r, count_done, NULL);
    (void)world_run(&w, 50 * MS_NS, never, NULL);
    assert_int_equal(n_done, 0);
    assert_int_equal(kill(keeper, SIGCONT), 0);
    assert_true(world_run(&w, PATIENCE_NS, is_all_done, &wanted));
    world_deinit(&w);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
}

static void no_descriptors_left(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    struct rlimit old, few;
    world_init(&w);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    for (rlim_t spare = 0; spare < 4; spare++) {
        int next = dup(0);
        close(next);
        few = (struct rlimit){.rlim_cur = (rlim_t)next + spare, .rlim_max = old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        run(&w, "true", PATIENCE_NS);
        assert_false(told.result.started);
        assert_non_null(strstr(told.error, "Too many open files"));
        (void)spawn(&w, "true", &with_gone, &s);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
        assert_true(world_run(&w, PATIENCE_NS, is_failed, &s));
        assert_non_null(strstr(s.why, "Too many open files"));
    }
    run(&w, "true", PATIENCE_NS);
    assert_int_equal(told.result.exit_code, 0);
    world_deinit(&w);
}

static void freed_while_they_run(void **state)
{
    (void)state;
    struct world w;
    struct seen s;
    world_init(&w);
    (void)spawn(&w, "trap '' TERM; sleep 120; sleep 121", &with_gone, &s);
    assert_true(world_run(&w, PATIENCE_NS, is_started, &s));
    struct command *c = start(&w, "setsid sleep 122", 50 * S_NS);
    (void)world_run(&w, 50 * MS_NS, never, NULL);
    command_cancel(c);
    world_deinit(&w);
    assert_int_equal(n_marked(), 0);
    assert_int_equal(s.ended, 0);
    struct err e = {0};
    struct keeper *k;
    assert_int_equal(keeper_new(&k, &e), 0); /* never attached */
    keeper_free(k);
    keeper_free(NULL);
}

int main(void)
{
    (void)snprintf(mark, sizeof mark, "MARK=outfox-test-%d", (int)getpid());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_exit_code_output_and_times),
        cmocka_unit_test(gives_directory_and_environment),
        cmocka_unit_test(big_environments),
        cmocka_unit_test(keeps_the_end_of_much_output),
        cmocka_unit_test(ends_at_the_deadline),
        cmocka_unit_test(waits_shortly_for_late_output),
        cmocka_unit_test(cancelled_ones_are_silent),
        cmocka_unit_test(inherits_nothing),
        cmocka_unit_test(passes_signals_on),
        cmocka_unit_test(kills_what_forks),
        cmocka_unit_test(tells_the_end_from_being_gone),
        cmocka_unit_test(looks_at_a_family_alone),
        cmocka_unit_test(ignores_signals_of_people),
        cmocka_unit_test(closes_its_output_early),
        cmocka_unit_test(keeper_killed),
        cmocka_unit_test(guard_killed),
        cmocka_unit_test(nothing_outlives_us),
        cmocka_unit_test(nothing_outlives_us_and_the_keeper),
        cmocka_unit_test(the_abandoned_are_awaited),
        cmocka_unit_test(two_hundred_leave_nothing),
        cmocka_unit_test(many_at_once),
        cmocka_unit_test(no_descriptors_left),
        cmocka_unit_test(freed_while_they_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
