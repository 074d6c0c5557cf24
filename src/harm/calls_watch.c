/* SPDX-License-Identifier: Apache-2.0
 *
 * The watcher: one loop that takes calls and answers them. A call that comes late waits in a heap;
 * nobody else waits for it.
 *
 * All that must outlive a watcher is in memory that it shares with whoever takes its place: the call in
 * its hands, those that wait, the counts. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "harm/calls_int.h"
#include "io/sys.h"

/* ---- what is armed ---- */

/* Read anew before each answer; what cannot be read is not obeyed, and what was stays. */
static const struct calls_state *state_now(void)
{
    static char text[CALLS_STATE_MAX], before[CALLS_STATE_MAX];
    static size_t n_before;
    static struct calls_state state;
    struct calls_state next;
    struct err e = {0};
    ssize_t n = pread(CALLS_STATE_FD, text, sizeof text, 0);
    if (n < 0 || ((size_t)n == n_before && memcmp(text, before, n_before) == 0))
        return &state;
    memcpy(before, text, (size_t)n);
    n_before = (size_t)n;
    if (calls_state_parse((slice){text, (size_t)n}, &next, &e)) {
        calls_state_free(&next);
        return &state;
    }
    calls_state_free(&state);
    state = next;
    return &state;
}

/* ---- calls that wait ---- */

static void late_swap(struct calls_late *a, struct calls_late *b)
{
    struct calls_late c = *a;
    *a = *b;
    *b = c;
}

static void late_push(struct calls_watch *w, const struct calls_late *l)
{
    uint32_t at = w->n_late;
    w->late[at] = *l;
    w->n_late++;
    for (; at && w->late[at].due_ns < w->late[(at - 1) / 2].due_ns; at = (at - 1) / 2)
        late_swap(&w->late[at], &w->late[(at - 1) / 2]);
}

static void late_pop(struct calls_watch *w)
{
    uint32_t at = 0;
    w->late[0] = w->late[--w->n_late];
    for (;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < w->n_late; child++)
            if (w->late[child].due_ns < w->late[least].due_ns)
                least = child;
        if (least == at)
            return;
        late_swap(&w->late[at], &w->late[least]);
        at = least;
    }
}

/* ---- answers ---- */

static void answer_send(const struct seccomp_notif *n, int64_t value, int error, bool go_on)
{
    struct seccomp_notif_resp r = {.id = n->id,
                                   .val = value,
                                   .error = -error,
                                   .flags = go_on ? SECCOMP_USER_NOTIF_FLAG_CONTINUE : 0};
    while (ioctl(CALLS_LISTENER_FD, SECCOMP_IOCTL_NOTIF_SEND, &r) && errno == EINTR)
        continue; /* whoever is gone (ENOENT) needs no answer */
}

/* A full disk loses counts: then the fault says that it met nothing. */
static void count_write(const struct calls_watch *w, uint32_t slot)
{
    const struct calls_count *count = &w->counts[slot];
    if (pwrite(CALLS_COUNTS_FD, count, sizeof *count, (off_t)(slot * sizeof *count)) < 0)
        return;
}

/* What could not be moved in part goes on as it is, and was not struck. */
static int64_t move(struct calls_watch *w, const struct seccomp_notif *n, enum syscall_id id,
                    uint32_t part, uint32_t slot)
{
    int64_t moved = calls_move(CALLS_LISTENER_FD, n, syscall_rows[id].moves, part);
    if (!moved) {
        w->counts[slot].struck--;
        count_write(w, slot);
    }
    return moved;
}

static void answer(struct calls_watch *w, const struct seccomp_notif *n, int error, uint32_t part,
                   uint32_t slot)
{
    enum syscall_id id = calls_of_number(n->data.nr);
    int64_t moved = part && id < SYSCALLS ? move(w, n, id, part, slot) : 0;
    if (error &&
        id == SYSCALL_brk) /* it says so by an end of the heap that is not beyond the asked */
        answer_send(n, 0, 0, false);
    else if (error || moved < 0)
        answer_send(n, 0, error ? error : (int)-moved, false);
    else
        answer_send(n, moved, 0, moved == 0);
}

/* Said once, in the node's own log. */
static void say_blind(const struct seccomp_notif *n)
{
    static bool said;
    char text[300];
    int length =
        snprintf(text, sizeof text,
                 "outfox: process %u cannot be looked into, so faults of its calls that name "
                 "a path, or move a part, do not meet it: run as root, or set "
                 "/proc/sys/kernel/yama/ptrace_scope to 0\n",
                 n->pid);
    if (!said && length > 0 && write(STDERR_FILENO, text, (size_t)length) < 0)
        return;
    said = true;
}

/* brk(0) asks, and cannot fail. */
static bool is_harmless(const struct seccomp_notif *n, enum syscall_id id)
{
    return id == SYSCALLS || (id == SYSCALL_brk && !n->data.args[0]);
}

static void decide(struct calls_watch *w, const struct seccomp_notif *n, struct calls_verdict *v)
{
    enum syscall_id id = calls_of_number(n->data.nr);
    const struct calls_state *s = state_now();
    v->error = 0;
    v->part = v->slot = v->n = 0;
    v->latency_ns = 0;
    if (!s->n || is_harmless(n, id))
        return;
    struct calls_look look = {.notif = n, .row = &syscall_rows[id]};
    struct calls_view view = {.id = id,
                              .fd = look.row->fd < 0 ? -1 : (int)n->data.args[look.row->fd],
                              .kind = calls_kind,
                              .meant = calls_meant,
                              .user = &look};
    calls_decide(s, w->counts, &view, v);
    for (uint32_t i = 0; i < v->n; i++)
        count_write(w, v->slots[i]);
    if (look.blind)
        say_blind(n);
}

static void take(struct calls_watch *w)
{
    struct calls_verdict v;
    const struct seccomp_notif *n = &w->now.notif;
    decide(w, n, &v);
    if (v.latency_ns)
        late_push(w, &(struct calls_late){clock_ns() + v.latency_ns, *n, v.error, v.part, v.slot});
    else
        answer(w, n, v.error, v.part, v.slot);
    w->busy = 0;
}

/* One call, if there is one. */
static bool receive(struct calls_watch *w)
{
    memset(w->now.room, 0, sizeof w->now.room);
    w->busy = 1;
    bool got = ioctl(CALLS_LISTENER_FD, SECCOMP_IOCTL_NOTIF_RECV, &w->now) == 0;
    if (got)
        take(w);
    w->busy = 0;
    return got;
}

_Noreturn void calls_watch_run(struct calls_watch *w)
{
    if (w->busy && w->now.notif.id) /* the one before us had it in its hands */
        answer(w, &w->now.notif, 0, 0, 0);
    w->busy = 0;
    w->ready = 1;
    for (;;) {
        struct pollfd wait = {.fd = CALLS_LISTENER_FD, .events = POLLIN};
        int64_t left = w->n_late ? w->late[0].due_ns - clock_ns() : SECONDS(60);
        left = left < 0 ? 0 : left;
        struct timespec most = {.tv_sec = left / SECONDS(1), .tv_nsec = left % SECONDS(1)};
        bool full = w->n_late == CALLS_LATE_MAX;
        int ready = ppoll(&wait, full ? 0 : 1, &most, NULL);
        while (w->n_late && w->late[0].due_ns <= clock_ns()) {
            struct calls_late due = w->late[0];
            late_pop(w);
            answer(w, &due.notif, due.error, due.part, due.slot);
        }
        if (ready > 0 && wait.revents & POLLIN)
            (void)receive(w);
        else if (ready > 0 && wait.revents & (POLLHUP | POLLERR | POLLNVAL))
            _exit(0); /* nobody is left who could call */
    }
}
