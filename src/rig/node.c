/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes of the system:
 *
 *   start --> started --> probed until ready --> (ended by itself) --> ended --> gone
 *                                            `-- told to end -----------^
 *
 * 1. A node is ready when its command `ready` succeeds; without one, when the built-in question of
 *    `alive` is answered; without that, when it was started.
 * 2. What it prints goes straight to its log. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "base/file.h"
#include "io/procs.h"
#include "io/sys.h"
#include "rig/rig_int.h"

#define PROBE_WITHIN_NS SECONDS(5)
#define PROBE_AGAIN_NS  MS(20)

static const struct trials_node *what_of(const struct rig_node *n)
{
    return &n->slot->rig->trials->nodes.at[n->index];
}

static void node_fail(struct rig_node *n, const char *why)
{
    n->failed = true;
    (void)snprintf(n->why, sizeof n->why, "%s", why);
    slot_wake(n->slot);
}

static void node_ready(struct rig_node *n)
{
    n->ready = true;
    slot_wake(n->slot);
}

static void again(struct rig_node *n)
{
    struct loop *l = &n->slot->rig->loop;
    if (clock_ns() > n->ready_by_ns) {
        struct buf why = BUF_INIT(200);
        buf_adds(&why, "it was not ready within ");
        buf_add_ns(&why, what_of(n)->ready_ns);
        buf_adds(&why, " (ready-within)");
        node_fail(n, buf_text(&why));
        buf_deinit(&why);
        return;
    }
    timer_start(l, &n->again, l->now_ns + PROBE_AGAIN_NS);
}

/* ---- questions ---- */

static void answered(struct rig_node *n, bool yes)
{
    if (n->asking) {
        n->asking = false;
        n->answered = yes;
        slot_wake(n->slot);
    } else if (yes) {
        node_ready(n);
    } else {
        again(n);
    }
}

static void on_command(void *user, const struct command_result *r)
{
    struct rig_node *n = user;
    n->probe = NULL;
    answered(n, r->started && r->exit_code == 0);
}

static void on_call(void *user, const struct call_result *r)
{
    answered(user, r->end == CALL_OK);
}

static void ask_command(struct rig_node *n, slice text, int64_t within_ns)
{
    struct slot *s = n->slot;
    struct command_request r = {.text = place_expand(s, n->index, text),
                                .dir = s->rig->trials->dir,
                                .timeout_ns = within_ns};
    r.env = place_env(s, n->index, &what_of(n)->env, &r.n_env);
    n->probe = command_start(s->rig->keeper, &r, on_command, n);
}

static void ask_built_in(struct rig_node *n, int64_t within_ns)
{
    const struct trials_alive *a = &what_of(n)->alive;
    bool redis = a->talk == TALKS_REDIS;
    if (!n->asked)
        n->asked =
            caller_new(&n->slot->rig->loop, talk_find(redis ? SLICE("redis") : SLICE("memcached")),
                       n->slot->port[a->at_port], on_call, n);
    caller_ask(n->asked, redis ? SLICE("PING") : SLICE("version"), within_ns);
}

/* The next try of whether it is ready. */
static void on_again(struct timer *t)
{
    struct rig_node *n = OWNER(t, struct rig_node, again);
    int64_t left = n->ready_by_ns - clock_ns();
    int64_t within = left > PROBE_WITHIN_NS ? PROBE_WITHIN_NS : left > MS(1) ? left : MS(1);
    if (what_of(n)->ready.n)
        ask_command(n, what_of(n)->ready, within);
    else
        ask_built_in(n, within);
}

static void stop_asking(struct rig_node *n)
{
    timer_stop(&n->slot->rig->loop, &n->again);
    if (n->probe)
        command_cancel(n->probe);
    n->probe = NULL;
    caller_free(n->asked);
    n->asked = NULL;
}

void rig_node_ask(struct rig_node *n)
{
    const struct trials_alive *a = &what_of(n)->alive;
    stop_asking(n);
    n->asking = true;
    n->answered = false;
    if (a->talk == TALKS_COMMAND)
        ask_command(n, a->command, a->within_ns);
    else
        ask_built_in(n, a->within_ns);
}

/* ---- its process ---- */

static void on_started(struct process *p, pid_t pid)
{
    struct rig_node *n = process_user(p);
    (void)pid;
    if (what_of(n)->ready.n || what_of(n)->alive.talk != TALKS_COMMAND)
        timer_start(&n->slot->rig->loop, &n->again, n->slot->rig->loop.now_ns);
    else
        node_ready(n);
}

static void on_failed(struct process *p, const char *why)
{
    struct rig_node *n = process_user(p);
    n->process = NULL;
    n->ended = true;
    node_fail(n, why);
}

static void on_ended(struct process *p, int status)
{
    struct rig_node *n = process_user(p);
    struct trial_node *to = &n->slot->result->nodes.at[n->index];
    n->ended = true;
    if (!n->ordered && !to->ended && to->back == BACK_NOT_TRIED) {
        to->ended = true;
        to->status = status;
        to->ended_ns = slot_now(n->slot);
    }
    if (!n->asking)
        timer_stop(&n->slot->rig->loop, &n->again);
    if (!n->ordered && !n->ready) {
        char why[100];
        (void)snprintf(why, sizeof why, "it ended before it was ready, with %s %d",
                       WIFSIGNALED(status) ? "signal" : "exit code",
                       WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        stop_asking(n);
        node_fail(n, why);
    }
    slot_wake(n->slot);
}

static void on_gone(struct process *p)
{
    struct rig_node *n = process_user(p);
    n->process = NULL;
    slot_wake(n->slot);
}

static const struct process_events events = {on_started, on_failed, on_ended, on_gone};

/* Its environment: that of its place, and what the runtime looks for. */
static const char *const *environment(struct rig_node *n)
{
    struct slot *s = n->slot;
    struct arena *a = &s->arena;
    uint32_t count;
    const struct text_pair *env = place_env(s, n->index, &what_of(n)->env, &count);
    struct text_pair *all = arena_alloc(a, (count + 2) * sizeof *all);
    if (count)
        memcpy(all, env, count * sizeof *all);
    all[count++] = (struct text_pair){SLICE(OUTFOX_ENV_TRIAL), slice_of(share_path(s->share))};
    all[count++] =
        (struct text_pair){SLICE(OUTFOX_ENV_NODE), slice_of(arena_printf(a, "%u", n->index))};
    return env_texts(a, all, count);
}

void rig_node_start(struct rig_node *n)
{
    struct slot *s = n->slot;
    const struct trials_node *what = what_of(n);
    n->again.fire = on_again;
    n->ready = n->failed = n->ordered = n->ended = n->asking = false;
    n->why[0] = 0;
    n->ready_by_ns = clock_ns() + what->ready_ns;
    if (!n->log)
        n->log =
            arena_printf(&s->arena, "%.*s/%.*s.log", SLICE_ARG(s->base), SLICE_ARG(what->name));
    n->log_fd = file_open_private(n->log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
    if (n->log_fd < 0) {
        n->ended = true;
        node_fail(n, "its log cannot be written");
        return;
    }
    slice dir = what->dir.n ? place_expand(s, n->index, what->dir) : s->dir[n->index];
    if (dir.p[0] != '/')
        dir = slice_of(
            arena_printf(&s->arena, "%.*s/%.*s", SLICE_ARG(s->rig->trials->dir), SLICE_ARG(dir)));
    slice command = place_expand(s, n->index, what->start);
    struct process_spec spec = {.command = arena_copy(&s->arena, command.p, command.n),
                                .dir = arena_copy(&s->arena, dir.p, dir.n),
                                .env = environment(n),
                                .out_fd = n->log_fd};
    n->process = process_start(s->rig->keeper, &spec, &events, n);
    sys_close(n->log_fd);
    n->log_fd = -1;
}

void rig_node_end(struct rig_node *n, int signal)
{
    n->ordered = true;
    stop_asking(n);
    if (n->process)
        process_signal(n->process, signal);
}

void rig_node_count(struct rig_node *n)
{
    struct trial_node *to = &n->slot->result->nodes.at[n->index];
    struct procs family = {0};
    if (n->process && !n->ended && procs_read_below(&family, process_guard(n->process)))
        for (uint32_t i = 0; i < family.all.n; i++) {
            struct proc_usage u;
            if (!family.all.at[i].marked || !proc_usage(family.all.at[i].pid, &u))
                continue;
            to->threads = u.threads > to->threads ? u.threads : to->threads;
            to->descriptors = u.descriptors > to->descriptors ? u.descriptors : to->descriptors;
        }
    procs_deinit(&family);
}

void rig_node_free(struct rig_node *n)
{
    stop_asking(n);
    if (n->process)
        process_abandon(n->process);
    n->process = NULL;
}
