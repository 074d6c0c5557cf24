/* SPDX-License-Identifier: Apache-2.0
 *
 * A command: a process, the pipe that it prints into, and a deadline.
 *
 *   start --> started --> ended --> (end of output, or LATE_NS) --> done
 *                 `-- deadline: killed --> ended, or KILL_NS --> done
 *
 * 1. Output that comes after the end is waited for, shortly: what the command has left behind may
 *    hold the pipe for ever. Then it is killed.
 * 2. Of the output OUTPUT_ROOM bytes are kept at most, and no event reads without a bound: a
 *    command that prints without end costs time of its own, not ours.
 * 3. `done` is called by command_finish alone, once. */
#include "live/command.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "io/sys.h"

enum {
    OUTPUT_ROOM = 2 * COMMAND_OUTPUT_MAX, /* when it is full, the older half goes */
    READS_MOST = 16,                      /* per event */
};

#define LATE_NS MS(100)
#define KILL_NS SECONDS(2)

/* The watch on the pipe. `data` of a loop's polls belongs to io/conn.c. */
struct watch {
    uv_poll_t poll; /* first, so that its address is the watch's */
    struct command *command;
};

struct command {
    struct watch *watch; /* NULL: the output has ended */
    int fd;              /* our end of the pipe; -1: so it has */
    struct loop *loop;
    struct process *process; /* NULL: over */
    struct timer timer;      /* the deadline; after it or the end: how long we wait */
    struct command_result result;
    bool ended;
    char *output; /* OUTPUT_ROOM; NULL: nothing came yet */
    size_t n;
    char error[512];
    void (*done)(void *user, const struct command_result *result);
    void *user;
};

static void on_closed(uv_handle_t *h)
{
    mem_free(h);
}

/* The handle goes before the descriptor: closing it later would make libuv forget another one that
 * has got the same number meanwhile. */
static void output_close(struct command *c)
{
    if (c->watch)
        uv_close((uv_handle_t *)&c->watch->poll, on_closed);
    c->watch = NULL;
    if (c->fd >= 0)
        sys_close(c->fd);
    c->fd = -1;
}

void command_cancel(struct command *c)
{
    timer_stop(c->loop, &c->timer);
    if (c->process)
        process_abandon(c->process);
    output_close(c);
    mem_free(c->output);
    mem_free(c);
}

_Static_assert((int)LOOP_READ_BYTES <= (int)COMMAND_OUTPUT_MAX, "one reading fits into the room");

/* Takes what is there, up to a bound. */
static void output_read(struct command *c)
{
    for (int i = 0; i < READS_MOST && c->fd >= 0; i++) {
        ssize_t got = sys_read(c->fd, c->loop->read_bytes, LOOP_READ_BYTES);
        if (got == -EAGAIN)
            return;
        if (got <= 0) {
            output_close(c);
            return;
        }
        if (!c->output)
            c->output = mem_alloc(OUTPUT_ROOM);
        if (c->n + (size_t)got > OUTPUT_ROOM) { /* one reading is at most half of the room */
            size_t keep = c->n < COMMAND_OUTPUT_MAX ? c->n : COMMAND_OUTPUT_MAX;
            memmove(c->output, c->output + c->n - keep, keep);
            c->n = keep;
        }
        memcpy(c->output + c->n, c->loop->read_bytes, (size_t)got);
        c->n += (size_t)got;
    }
}

static void command_finish(struct command *c)
{
    output_read(c);
    size_t n = c->n < COMMAND_OUTPUT_MAX ? c->n : COMMAND_OUTPUT_MAX;
    c->result.output = n ? (slice){c->output + c->n - n, n} : SLICE("");
    if (!c->result.end_ns)
        c->result.end_ns = clock_ns();
    c->result.error = c->error[0] ? c->error : NULL;
    timer_stop(c->loop, &c->timer);
    if (c->process) /* before `done`: what it has left behind is not to meet what comes next */
        process_abandon(c->process);
    c->process = NULL;
    c->done(c->user, &c->result);
    command_cancel(c);
}

static void on_output(uv_poll_t *h, int status, int events)
{
    (void)events;
    struct command *c = ((struct watch *)h)->command;
    loop_batch(c->loop);
    if (status < 0)
        output_close(c);
    else
        output_read(c);
    if (c->ended && c->fd < 0)
        command_finish(c);
}

static void on_timer(struct timer *t)
{
    struct command *c = OWNER(t, struct command, timer);
    if (c->ended || c->result.timed_out || !c->process) {
        command_finish(c);
        return;
    }
    c->result.timed_out = true;
    if (!c->result.started)
        (void)snprintf(c->error, sizeof c->error, "it was not started in time");
    process_signal(c->process, SIGKILL);
    timer_start(c->loop, &c->timer, c->loop->now_ns + KILL_NS);
}

static void on_started(struct process *p, pid_t pid)
{
    (void)pid;
    struct command *c = process_user(p);
    c->result.started = true;
}

static void on_failed(struct process *p, const char *why)
{
    struct command *c = process_user(p);
    c->process = NULL;
    c->result.started = false; /* or lost: nobody knows how it ended, so it did not run */
    (void)snprintf(c->error, sizeof c->error, "%.*s", (int)sizeof c->error - 1, why);
    command_finish(c);
}

static void on_ended(struct process *p, int status)
{
    struct command *c = process_user(p);
    c->ended = true;
    c->result.end_ns = clock_ns();
    c->result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    c->result.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    output_read(c);
    if (c->fd < 0)
        command_finish(c);
    else
        timer_start(c->loop, &c->timer, c->loop->now_ns + LATE_NS);
}

static void on_gone(struct process *p)
{
    struct command *c = process_user(p);
    c->process = NULL; /* the end of its output is near */
}

static const struct process_events events = {
    .started = on_started, .failed = on_failed, .ended = on_ended, .gone = on_gone};

const char *const *env_texts(struct arena *a, const struct text_pair *env, uint32_t n)
{
    const char **texts = arena_alloc(a, (n + 1) * sizeof *texts);
    for (uint32_t i = 0; i < n; i++)
        texts[i] = arena_printf(a, "%.*s=%.*s", SLICE_ARG(env[i].name), SLICE_ARG(env[i].value));
    texts[n] = NULL;
    return texts;
}

/* The pipe, whose other end is returned; -1 with errno. */
static int output_open(struct command *c)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    struct watch *watch = mem_zero(sizeof *watch);
    watch->command = c;
    int code = uv_poll_init(&c->loop->uv, &watch->poll, ends[0]); /* makes this end non-blocking */
    if (code == 0) {
        c->watch = watch;
        c->fd = ends[0];
        code = uv_poll_start(&watch->poll, UV_READABLE, on_output);
    } else {
        mem_free(watch);
        sys_close(ends[0]);
    }
    if (code == 0)
        return ends[1];
    sys_close(ends[1]);
    errno = -code;
    return -1;
}

struct command *command_start(struct keeper *k, const struct command_request *r,
                              void (*done)(void *user, const struct command_result *result),
                              void *user)
{
    assert(r->timeout_ns > 0);
    struct command *c = mem_zero(sizeof *c);
    *c = (struct command){.fd = -1, .loop = keeper_loop(k), .done = done, .user = user};
    c->result.start_ns = clock_ns();
    c->result.exit_code = -1;
    c->timer.fire = on_timer;
    int out = output_open(c);
    if (out < 0) {
        (void)snprintf(c->error, sizeof c->error, "its output cannot be read: %s", strerror(errno));
        timer_start(c->loop, &c->timer, c->result.start_ns);
        return c;
    }
    struct arena a = {0};
    struct process_spec spec = {
        .command = slice_copy(&a, r->text).p,
        .dir = r->dir.n ? slice_copy(&a, r->dir).p : NULL,
        .env = env_texts(&a, r->env, r->n_env),
        .out_fd = out,
        .apart = r->apart,
        .stdout_fd = r->stdout_fd,
    };
    c->process = process_start(k, &spec, &events, c);
    sys_close(out);
    arena_deinit(&a);
    timer_start(c->loop, &c->timer, c->result.start_ns + r->timeout_ns);
    return c;
}
