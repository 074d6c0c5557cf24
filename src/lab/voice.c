/* SPDX-License-Identifier: Apache-2.0
 *
 * A voice: a process and the pipe that it prints into.
 *
 * 1. `ended` comes once, when the process has ended and what it had printed was read.
 * 2. One on a host (`far`) is a process here too, the connector's. Its first line says which process
 *    it is there, and its input, which we hold, says every few seconds that we live.
 * 3. Lines are bounded, and no event reads without a bound: one that prints without end costs time
 *    of its own, not ours. */
#include "lab/voice.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/sys.h"
#include "plan/connector.h"

enum { READS_MOST = 16 };

/* The watch on the pipe. `data` of a loop's polls belongs to io/conn.c. */
struct watch {
    uv_poll_t poll; /* first, so that its address is the watch's */
    struct voice *voice;
};

struct voice {
    struct loop *loop;
    struct process *process; /* NULL: over */
    struct watch *watch;     /* NULL: the output has ended */
    int fd, log_fd;
    const struct voice_events *events;
    void *user;
    char why[256]; /* it could not be started; or what it printed last */
    pid_t far;     /* its process on the host; 0: it has not said so yet */
    int in_fd;     /* our end of its input; -1: it has none */
    bool is_far;
    struct timer beat;   /* the next word on it */
    struct timer failed; /* it could not be started: said from the loop */
    size_t n;
    char line[VOICE_LINE_MAX];
};

static void on_closed(uv_handle_t *h)
{
    mem_free(h);
}

static void output_close(struct voice *w)
{
    if (w->watch)
        uv_close((uv_handle_t *)&w->watch->poll, on_closed);
    w->watch = NULL;
    if (w->fd >= 0)
        sys_close(w->fd);
    w->fd = -1;
}

void voice_end(struct voice *w)
{
    timer_stop(w->loop, &w->beat);
    if (w->in_fd >= 0)
        sys_close(w->in_fd);
    w->in_fd = -1;
}

/* Nobody reads it any more: then the end is near, and says so itself. */
static void on_beat(struct timer *t)
{
    struct voice *w = OWNER(t, struct voice, beat);
    if (write(w->in_fd, "\n", 1) < 0 && errno != EAGAIN)
        voice_end(w);
    else
        timer_start(w->loop, &w->beat, w->loop->now_ns + SECONDS(CONNECT_BEAT_S));
}

void voice_abandon(struct voice *w)
{
    voice_end(w);
    timer_stop(w->loop, &w->failed);
    if (w->process)
        process_abandon(w->process);
    output_close(w);
    mem_free(w);
}

/* Logs are for people to look at afterwards: a full disk is no reason to stop. */
static void log_add(const struct voice *w, slice bytes)
{
    while (w->log_fd >= 0 && bytes.n) {
        ssize_t put = write(w->log_fd, bytes.p, bytes.n);
        if (put <= 0)
            return;
        bytes = slice_from(bytes, (size_t)put);
    }
}

/* Is this the line that says which process it is there? */
static bool line_is_ours(struct voice *w, slice text)
{
    uint64_t pid;
    if (!w->is_far || w->far || !slice_starts(text, SLICE("outfox-on ")) ||
        !slice_to_u64(slice_trim(slice_from(text, 10)), INT32_MAX, &pid) || !pid)
        return false;
    w->far = (pid_t)pid;
    if (w->events->started)
        w->events->started(w->user, w->far);
    return true;
}

static void line_say(struct voice *w)
{
    slice text = {w->line, w->n};
    w->n = 0;
    if (line_is_ours(w, text))
        return;
    if (w->is_far) {
        log_add(w, text);
        log_add(w, SLICE("\n"));
    }
    if (text.n && text.p[text.n - 1] == '\r')
        text.n--;
    if (slice_trim(text).n)
        (void)snprintf(w->why, sizeof w->why, "%.*s", (int)(text.n < 200 ? text.n : 200), text.p);
    if (w->events->line)
        w->events->line(w->user, text);
}

static void lines_take(struct voice *w, slice bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        if (bytes.p[i] == '\n' || w->n == sizeof w->line)
            line_say(w);
        if (bytes.p[i] != '\n')
            w->line[w->n++] = bytes.p[i];
    }
}

static void output_read(struct voice *w)
{
    for (int i = 0; i < READS_MOST && w->fd >= 0; i++) {
        ssize_t got = sys_read(w->fd, w->loop->read_bytes, LOOP_READ_BYTES);
        if (got == -EAGAIN)
            return;
        if (got <= 0) {
            output_close(w);
            return;
        }
        slice bytes = {w->loop->read_bytes, (size_t)got};
        if (!w->is_far) /* of a host without the line that is ours: by lines */
            log_add(w, bytes);
        lines_take(w, bytes);
    }
}

static void on_output(uv_poll_t *h, int status, int events)
{
    (void)events;
    struct voice *w = ((struct watch *)h)->voice;
    loop_batch(w->loop);
    if (status < 0)
        output_close(w);
    else
        output_read(w);
}

static void finish(struct voice *w, int status, const char *why)
{
    void (*ended)(void *, int, const char *) = w->events->ended;
    void *user = w->user;
    char said[sizeof w->why];
    output_read(w);
    if (w->n)
        line_say(w);
    (void)snprintf(said, sizeof said, "%s", why ? why : w->why);
    voice_abandon(w);
    ended(user, status, said);
}

static void on_started(struct process *p, pid_t pid)
{
    struct voice *w = process_user(p);
    if (w->events->started && !w->is_far)
        w->events->started(w->user, pid);
}

static void on_failed(struct process *p, const char *why)
{
    struct voice *w = process_user(p);
    w->process = NULL;
    finish(w, -1, why);
}

static void on_ended(struct process *p, int status)
{
    struct voice *w = process_user(p);
    w->process = NULL;
    if (w->is_far && WIFEXITED(status) && WEXITSTATUS(status) > 128)
        status = WEXITSTATUS(status) & 127; /* there a signal has ended it */
    finish(w, status, NULL);
}

static const struct process_events process_events = {
    .started = on_started, .failed = on_failed, .ended = on_ended};

static void on_no_pipe(struct timer *t)
{
    struct voice *w = OWNER(t, struct voice, failed);
    finish(w, -1, w->why);
}

/* The pipe, whose other end is returned; -1 with errno. */
static int output_open(struct voice *w)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC))
        return -1;
    struct watch *watch = mem_zero(sizeof *watch);
    watch->voice = w;
    int code = uv_poll_init(&w->loop->uv, &watch->poll, ends[0]); /* makes this end non-blocking */
    if (code) {
        mem_free(watch);
        sys_close(ends[0]);
        sys_close(ends[1]);
        errno = -code;
        return -1;
    }
    w->watch = watch;
    w->fd = ends[0];
    (void)uv_poll_start(&watch->poll, UV_READABLE, on_output);
    return ends[1];
}

/* Its input: *theirs is the end that it gets. */
static bool input_open(struct voice *w, int *theirs)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return false;
    *theirs = ends[0];
    (void)fcntl(ends[0], F_SETFL, 0);
    w->in_fd = ends[1];
    w->beat.fire = on_beat;
    timer_start(w->loop, &w->beat, w->loop->now_ns + SECONDS(CONNECT_BEAT_S));
    return true;
}

struct voice *voice_start(struct keeper *k, const struct process_spec *spec, int log_fd,
                          const struct voice_events *events, void *user)
{
    struct voice *w = mem_zero(sizeof *w);
    w->loop = keeper_loop(k);
    w->fd = w->in_fd = -1;
    w->log_fd = log_fd;
    w->is_far = spec->fed;
    w->events = events;
    w->user = user;
    w->failed.fire = on_no_pipe;
    int in = -1, out = output_open(w);
    if (out < 0 || (spec->fed && !input_open(w, &in))) {
        if (out >= 0)
            sys_close(out);
        (void)snprintf(w->why, sizeof w->why, "its output cannot be read: %s", strerror(errno));
        timer_start(w->loop, &w->failed, w->loop->now_ns);
        return w;
    }
    struct process_spec own = *spec;
    own.out_fd = out;
    own.in_fd = in;
    w->process = process_start(k, &own, &process_events, w);
    sys_close(out);
    if (in >= 0)
        sys_close(in);
    return w;
}

void voice_signal(struct voice *w, int signal)
{
    if (w->process)
        process_signal(w->process, signal);
}

pid_t voice_pid(const struct voice *w)
{
    return w->is_far ? w->far : w->process ? process_pid(w->process) : 0;
}

pid_t voice_guard(const struct voice *w)
{
    return w->process ? process_guard(w->process) : 0;
}
