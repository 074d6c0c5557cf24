/* SPDX-License-Identifier: Apache-2.0
 *
 * The story of a trial:
 *
 *   place -> before -> shared file -> nodes start side by side -> all are ready -> ARMED
 *         -> phase after phase, its clients side by side -> not armed
 *         -> nodes that have ended are started again -> settle -> alive? -> counted -> invariants
 *         -> nodes end -> after -> the shared file is read
 *
 * 1. A trial that cannot be carried out is broken, with the reason; what was under way is ended all the
 *    same.
 * 2. A trial that has met a program that nobody knew is made again, with its states enabled.
 * 3. The fault happens while it is armed, or not at all. */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

#include "rig/rig_int.h"

#define TICK_NS         MS(50)
#define TERM_NS         SECONDS(3)
#define KILL_NS         SECONDS(20)
#define READY_LATE_NS   SECONDS(15) /* nodes know their own time limits */
#define RESTART_MOST_NS SECONDS(30)

enum { TRIES = 3 };

/* ---- waiting ---- */

int64_t slot_now(const struct slot *s)
{
    return s->armed_ns ? clock_ns() - s->armed_ns : -1;
}

int slot_broken(struct slot *s, const char *format, ...)
{
    va_list args;
    char text[600];
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (!s->result->broken.n)
        s->result->broken = slice_copy(&s->result->arena, slice_of(text));
    return -1;
}

static void on_turn(struct turn *t)
{
    struct slot *s = OWNER(t, struct slot, turn);
    if (!s->over && !fiber_go(s->fiber)) {
        s->over = true;
        if (--s->rig->n_live == 0)
            loop_stop(&s->rig->loop);
    }
}

void slot_wake(struct slot *s)
{
    s->turn.fire = on_turn;
    turn_start(&s->rig->loop, &s->turn);
}

static void on_deadline(struct timer *t)
{
    struct slot *s = OWNER(t, struct slot, deadline);
    s->late = true;
    slot_wake(s);
}

static bool wait(struct slot *s, bool (*done)(const struct slot *s), int64_t most_ns, bool heed)
{
    s->late = false;
    s->deadline.fire = on_deadline;
    timer_start(&s->rig->loop, &s->deadline, clock_ns() + most_ns);
    while (!done(s) && !s->late && !(heed && s->rig->signal))
        fiber_wait(s->fiber);
    timer_stop(&s->rig->loop, &s->deadline);
    return done(s) && !(heed && s->rig->signal);
}

bool slot_wait(struct slot *s, bool (*done)(const struct slot *s), int64_t most_ns)
{
    return wait(s, done, most_ns, true);
}

bool slot_outlast(struct slot *s, bool (*done)(const struct slot *s), int64_t most_ns)
{
    return wait(s, done, most_ns, false);
}

static bool never(const struct slot *s)
{
    (void)s;
    return false;
}

/* ---- commands ---- */

static bool no_command(const struct slot *s)
{
    return s->command == NULL;
}

static void on_command(void *user, const struct command_result *r)
{
    struct slot *s = user;
    s->command = NULL;
    s->command_ok = r->started && r->exit_code == 0;
    slice said = r->timed_out ? SLICE("it did not end in time") : slice_last_line(r->output);
    s->command_said = slice_copy(&s->result->arena, r->started ? said : slice_of(r->error));
    slot_wake(s);
}

/* Of no node. Did it succeed? */
static bool run_command(struct slot *s, slice text, int64_t within_ns)
{
    struct command_request r = {
        .text = place_expand(s, 0, text), .dir = s->rig->trials->dir, .timeout_ns = within_ns};
    r.env = place_env(s, UINT32_MAX, NULL, &r.n_env);
    s->command_ok = false;
    s->command_said = (slice){0};
    s->command = command_start(s->rig->keeper, &r, on_command, s);
    if (!slot_wait(s, no_command, within_ns + SECONDS(10)) && s->command) {
        command_cancel(s->command);
        s->command = NULL;
        return false;
    }
    return s->command_ok;
}

/* ---- nodes ---- */

static bool ready_or_failed(const struct slot *s)
{
    bool all = true;
    for (uint32_t i = 0; i < s->rig->trials->nodes.n; i++) {
        if (s->nodes[i].failed)
            return true;
        all = all && s->nodes[i].ready;
    }
    return all;
}

static bool one_ended(const struct slot *s)
{
    for (uint32_t i = 0; i < s->rig->trials->nodes.n; i++)
        if (s->nodes[i].failed && s->nodes[i].ended)
            return true;
    return false;
}

static int64_t ready_most(const struct trials *t)
{
    int64_t most = 0;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        most = t->nodes.at[i].ready_ns > most ? t->nodes.at[i].ready_ns : most;
    return most;
}

static int start_nodes(struct slot *s)
{
    const struct trials *t = s->rig->trials;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        rig_node_start(&s->nodes[i]);
    (void)slot_wait(s, ready_or_failed, ready_most(t) + READY_LATE_NS);
    if (s->rig->signal)
        return -1;
    for (uint32_t i = 0; i < t->nodes.n; i++) {
        const struct rig_node *n = &s->nodes[i];
        if (n->failed)
            return slot_broken(s, "node %.*s: %s; what it printed is in %.*s/%.*s.log",
                               SLICE_ARG(t->nodes.at[i].name), n->why, SLICE_ARG(s->result->dir),
                               SLICE_ARG(t->nodes.at[i].name));
    }
    return ready_or_failed(s) ? 0 : slot_broken(s, "the nodes were not ready in time");
}

static bool nodes_gone(const struct slot *s)
{
    for (uint32_t i = 0; i < s->rig->trials->nodes.n; i++)
        if (s->nodes[i].process)
            return false;
    return true;
}

static bool nodes_ended(const struct slot *s)
{
    for (uint32_t i = 0; i < s->rig->trials->nodes.n; i++)
        if (s->nodes[i].process && !s->nodes[i].ended)
            return false;
    return true;
}

static void end_nodes(struct slot *s)
{
    uint32_t n = s->rig->trials->nodes.n;
    for (uint32_t i = 0; i < n; i++)
        rig_node_end(&s->nodes[i], SIGTERM);
    if (!slot_wait(s, nodes_ended, TERM_NS))
        for (uint32_t i = 0; i < n && !s->rig->signal; i++)
            s->result->nodes.at[i].hung = s->nodes[i].process && !s->nodes[i].ended;
    for (uint32_t i = 0; i < n; i++)
        rig_node_end(&s->nodes[i], SIGKILL);
    if (!slot_outlast(s, nodes_gone, KILL_NS))
        (void)slot_broken(s, "processes of it could not be ended: they wait for a disk, or for a "
                             "device, that does not answer");
}

static bool one_gone(const struct slot *s)
{
    for (uint32_t i = 0; i < s->rig->trials->nodes.n; i++)
        if (s->nodes[i].ordered && s->nodes[i].process)
            return false;
    return true;
}

/* Nodes that have ended by themselves, once more, on what they have left. */
static void restart_nodes(struct slot *s)
{
    const struct trials *t = s->rig->trials;
    bool any = false;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (s->result->nodes.at[i].ended) {
            any = true;
            rig_node_end(&s->nodes[i], SIGKILL);
        }
    if (!any || !slot_wait(s, one_gone, KILL_NS))
        return;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (s->result->nodes.at[i].ended) {
            s->result->nodes.at[i].back = BACK_NOT;
            rig_node_start(&s->nodes[i]);
        }
    int64_t most = ready_most(t);
    (void)slot_wait(s, ready_or_failed, most < RESTART_MOST_NS ? most : RESTART_MOST_NS);
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (s->result->nodes.at[i].ended && s->nodes[i].ready)
            s->result->nodes.at[i].back = BACK_READY;
}

/* ---- what is done with them ---- */

static bool clients_over(const struct slot *s)
{
    for (uint32_t i = 0; i < s->n_clients; i++)
        if (!s->clients[i].over)
            return false;
    return true;
}

/* Did all of its clients finish? */
static bool run_phase(struct slot *s, uint32_t phase)
{
    const struct trials_phase *p = &s->rig->trials->phases.at[phase];
    bool whole = true;
    s->clients = arena_zero(&s->arena, (p->clients.n + 1) * sizeof *s->clients);
    s->n_clients = p->clients.n;
    for (uint32_t i = 0; i < p->clients.n; i++) {
        s->clients[i] = (struct rig_client){.slot = s,
                                            .at = trial_client_at(s->rig->trials, phase, i),
                                            .what = &p->clients.at[i],
                                            .log_fd = -1};
        rig_client_start(&s->clients[i]);
    }
    (void)slot_wait(s, clients_over, p->within_ns);
    for (uint32_t i = 0; i < s->n_clients; i++) {
        rig_client_stop(&s->clients[i]);
        whole = whole && s->result->clients.at[s->clients[i].at].finished;
    }
    return whole;
}

static void on_tick(struct timer *t)
{
    struct slot *s = OWNER(t, struct slot, tick);
    share_hear(s->share);
    for (uint32_t i = 0; i < s->rig->trials->nodes.n; i++)
        follow_read(&s->nodes[i]);
    timer_start(&s->rig->loop, t, s->rig->loop.now_ns + TICK_NS);
}

static void exercise(struct slot *s)
{
    const struct trials *t = s->rig->trials;
    bool whole = true;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        follow_begin(&s->nodes[i]);
    s->following = true;
    s->tick.fire = on_tick;
    timer_start(&s->rig->loop, &s->tick, s->rig->loop.now_ns + TICK_NS);
    s->armed_ns = clock_ns();
    share_arm(s->share, true);
    for (uint32_t i = 0; i < t->phases.n && !s->rig->signal; i++)
        if (whole || t->phases.at[i].always)
            whole = run_phase(s, i) && whole;
    share_arm(s->share, false);
    s->result->over_ns = slot_now(s);
}

static bool all_answered(const struct slot *s)
{
    for (uint32_t i = 0; i < s->rig->trials->nodes.n; i++)
        if (s->nodes[i].asking)
            return false;
    return true;
}

static bool may_be_asked(const struct slot *s, uint32_t i)
{
    const struct trials_alive *a = &s->rig->trials->nodes.at[i].alive;
    return (a->talk != TALKS_COMMAND || a->command.n) && !s->result->nodes.at[i].ended;
}

static void ask_nodes(struct slot *s)
{
    const struct trials *t = s->rig->trials;
    int64_t most = 0;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (may_be_asked(s, i)) {
            most = t->nodes.at[i].alive.within_ns > most ? t->nodes.at[i].alive.within_ns : most;
            rig_node_ask(&s->nodes[i]);
        }
    (void)slot_wait(s, all_answered, most + SECONDS(5));
    for (uint32_t i = 0; i < t->nodes.n; i++)
        if (may_be_asked(s, i))
            s->result->nodes.at[i].alive =
                !s->nodes[i].asking && s->nodes[i].answered ? ALIVE_YES : ALIVE_NO;
}

/* What is left of it all, without faults. */
static void look(struct slot *s)
{
    const struct trials *t = s->rig->trials;
    if (t->checkers.restart)
        restart_nodes(s);
    if (t->settle_ns)
        (void)slot_wait(s, never, t->settle_ns);
    ask_nodes(s);
    for (uint32_t i = 0; i < t->nodes.n; i++)
        rig_node_count(&s->nodes[i]);
    for (uint32_t i = 0; i < t->checkers.invariants.n && !s->rig->signal; i++) {
        const struct trials_invariant *v = &t->checkers.invariants.at[i];
        struct trial_invariant *to = &s->result->invariants.at[i];
        to->holds = run_command(s, v->command, v->within_ns);
        to->said = s->command_said;
        to->asked = true;
    }
}

/* ---- the shared file ---- */

static bool knows(void *user, uint64_t state)
{
    const struct slot *s = user;
    return agenda_knows(s->rig->agenda, &s->order, state);
}

static int make_share(struct slot *s)
{
    const struct trial_order *o = &s->order;
    struct err e = {0};
    struct share_spec spec = {.rule = o->rule,
                              .act = o->act,
                              .chance = o->chance,
                              .key = o->key,
                              .nth = o->nth,
                              .seed = o->seed,
                              .error = o->error,
                              .delay_ns = o->delay_ns,
                              .nodes = o->nodes};
    programs_share(s->rig->programs, &s->arena, o->rule == OUTFOX_RULE_NEW ? knows : NULL, s,
                   &spec);
    s->n_known = spec.n_modules;
    if (share_open(s->rig->options->memory, &spec, &s->share, &e))
        return slot_broken(s, "%s", e.text);
    return 0;
}

/* What the processes have written there. 1: the trial is to be made again. */
static int read_share(struct slot *s)
{
    struct share_report report;
    struct trial_result *r = s->result;
    struct err e = {0};
    share_read(s->share, &s->arena, &report);
    if (programs_take(s->rig->programs, &report, &e) < 0)
        return slot_broken(s, "%s", e.text);
    for (uint32_t i = 0; i < report.n_points; i++)
        vec_push(&r->points, report.points[i]);
    r->requests = report.requests;
    r->lost = report.lost;
    r->attached = report.attached;
    r->injection.done = report.injected;
    r->injection.raw = report.injection;
    r->injection.at_ns = report.injected ? report.injection.at_ns - s->armed_ns : -1;
    if (report.refused)
        return slot_broken(s,
                           "a program was built for version %u of the interface, and this is %d: "
                           "build it anew with this outfox cc",
                           report.refused, OUTFOX_ABI);
    if (!report.attached && !r->broken.n)
        return slot_broken(s, "no process of it took part: build its programs with outfox cc, and "
                              "leave " OUTFOX_ENV_TRIAL " in their environment");
    programs_tell(s->rig->programs, r);
    return report.n_modules > s->n_known;
}

/* ---- all of it ---- */

static void trial_close(struct slot *s)
{
    uint32_t n = s->nodes ? s->rig->trials->nodes.n : 0;
    timer_stop(&s->rig->loop, &s->tick);
    for (uint32_t i = 0; i < n; i++) {
        if (s->following)
            follow_end(&s->nodes[i]);
        rig_node_free(&s->nodes[i]);
    }
    s->following = false;
    share_free(s->share);
    s->share = NULL;
    s->nodes = NULL;
}

/* 1: once more. */
static int trial_once(struct slot *s)
{
    const struct trials *t = s->rig->trials;
    int64_t began = clock_ns();
    int again = 0;
    s->armed_ns = 0;
    s->result = trial_result_new(t, &s->order);
    s->result->began_ns = clock_wall_ns();
    s->result->dir = slice_of(
        arena_printf(&s->result->arena, "%.*s/%06u", SLICE_ARG(s->rig->dir), s->order.number));
    s->nodes = arena_zero(&s->arena, (t->nodes.n + 1) * sizeof *s->nodes);
    for (uint32_t i = 0; i < t->nodes.n; i++)
        s->nodes[i] = (struct rig_node){.slot = s, .index = i, .log_fd = -1};
    if (place_make(s) == 0) {
        if (t->before.n && !run_command(s, t->before, t->within_ns))
            (void)slot_broken(s, "before failed: %.*s", SLICE_ARG(s->command_said));
        else if (!make_share(s) && !start_nodes(s)) {
            exercise(s);
            if (!s->rig->signal)
                look(s);
        } else {
            again = one_ended(s); /* a port may have been taken meanwhile */
        }
        end_nodes(s);
        if (t->after.n && !s->rig->signal && !run_command(s, t->after, t->within_ns))
            (void)slot_broken(s, "after failed: %.*s", SLICE_ARG(s->command_said));
        if (s->armed_ns && read_share(s) == 1)
            again = 1;
    }
    trial_close(s);
    s->result->took_ns = clock_ns() - began;
    return again && !s->rig->signal;
}

static bool is_worth(const struct trial_result *r)
{
    return r->verdict == VERDICT_SUSPICIOUS || r->broken.n ||
           (r->order.purpose <= TRIAL_CONTROL && r->order.number == 1);
}

static void trial(struct slot *s)
{
    struct rig *rig = s->rig;
    for (int i = 1; trial_once(s) && i < TRIES; i++) {
        trial_result_free(s->result);
        arena_reset(&s->arena);
    }
    struct trial_result *r = s->result;
    if (rig->signal)
        (void)slot_broken(s, "it was interrupted");
    agenda_took(rig->agenda, r);
    if (is_worth(r) && !rig->signal)
        place_keep(s);
    place_drop(s);
    s->result = NULL;
    arena_reset(&s->arena);
    if (rig->options->told && !rig->signal)
        rig->options->told(rig->options->user, r);
    rig->news++;
    for (uint32_t i = 0; i < rig->n_slots; i++)
        if (rig->slots[i].idle)
            slot_wake(&rig->slots[i]);
}

void slot_tell(void *slot)
{
    struct slot *s = slot;
    struct rig *rig = s->rig;
    while (!rig->signal) {
        uint64_t news = rig->news;
        enum agenda_answer answer = agenda_next(rig->agenda, clock_ns() - rig->began_ns, &s->order);
        if (answer == AGENDA_OVER)
            return;
        if (answer == AGENDA_ORDER) {
            trial(s);
            continue;
        }
        s->idle = true;
        while (rig->news == news && !rig->signal)
            fiber_wait(s->fiber);
        s->idle = false;
    }
}
