/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes of the system: started, probed until they are ready, ended. A node that ends without
 * being told is a death, which the run keeps. */
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

#include "lab/lab_int.h"

#define PROBE_AGAIN_NS MS(50)

static const struct plan_node *plan_of(const struct lab_node *n)
{
    return &n->lab->plan->nodes.at[n->index];
}

static void node_fail(struct lab_node *n, const char *why)
{
    n->failed = true;
    (void)snprintf(n->why, sizeof n->why, "%s", why);
    loop_stop(&n->lab->loop);
}

static void node_ready(struct lab_node *n)
{
    n->ready = true;
    loop_stop(&n->lab->loop);
}

static void on_probed(void *user, const struct command_result *r)
{
    struct lab_node *n = user;
    n->probe = NULL;
    if (r->started && r->exit_code == 0)
        node_ready(n);
    else
        timer_start(&n->lab->loop, &n->again, n->lab->loop.now_ns + PROBE_AGAIN_NS);
}

static void on_again(struct timer *t)
{
    struct lab_node *n = OWNER(t, struct lab_node, again);
    struct command_request r = {.text = n->seat.ready,
                                .dir = n->seat.dir,
                                .env = n->seat.env,
                                .n_env = n->seat.n_env,
                                .timeout_ns = PROBE_WITHIN_NS};
    n->probe = command_start(n->lab->keeper, &r, on_probed, n);
}

static void on_started(void *user, pid_t pid)
{
    struct lab_node *n = user;
    (void)pid;
    if (plan_of(n)->ready.n)
        timer_start(&n->lab->loop, &n->again, n->lab->loop.now_ns);
    else
        node_ready(n);
}

static void on_line(void *user, slice text)
{
    struct lab_node *n = user;
    lab_heard(n->lab, (int32_t)n->index, PLAN_NONE, text);
}

static void on_ended(void *user, int status, const char *why)
{
    struct lab_node *n = user;
    struct lab *lab = n->lab;
    n->voice = NULL;
    timer_stop(&lab->loop, &n->again);
    if (status == -1) {
        node_fail(n, why);
    } else if (n->renewed) {
        node_start(n);
    } else if (!n->ordered) {
        if (!n->ready)
            node_fail(n, *why ? why : "it ended, and had printed nothing");
        vec_push(&lab->run->deaths, (struct plan_death){n->index, lab_now(lab), status});
    }
    loop_stop(&lab->loop);
}

static const struct voice_events events = {on_started, on_line, on_ended};

void node_start(struct lab_node *n)
{
    const struct plan_node *p = plan_of(n);
    n->ordered = n->renewed = n->ready = n->failed = false;
    n->again.fire = on_again;
    if (n->log_fd < 0)
        n->log_fd = lab_log(n->lab, p->name);
    n->voice = lab_voice(n->lab, &n->seat, n->log_fd, &events, n);
}

void node_kill(struct lab_node *n, int signal, bool again)
{
    n->ordered = true;
    n->renewed = again;
    if (n->voice && n->seat.host)
        host_signal(n->seat.host, voice_pid(n->voice), signal);
    else if (n->voice)
        voice_signal(n->voice, signal);
    else if (again)
        node_start(n);
}

void node_stop(struct lab_node *n)
{
    timer_stop(&n->lab->loop, &n->again);
    if (n->probe)
        command_cancel(n->probe);
    n->probe = NULL;
    if (n->voice)
        voice_abandon(n->voice);
    n->voice = NULL;
}
