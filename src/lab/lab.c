/* SPDX-License-Identifier: Apache-2.0
 *
 * The story of a plan, and of each of its runs:
 *
 *   directory -> before -> nodes start, one after the other -> ready -> clients -> warm-up
 *             -> the clock of triggers starts; faults come and go -> duration is over
 *             -> faults end -> clients end -> settle -> commands check -> nodes end -> after
 *
 * 1. The story waits in lab_wait alone; meanwhile callbacks move everything.
 * 2. A run that cannot be carried out is broken, with the reason; it is never judged.
 * 3. However a run ends, no fault of it is on afterwards: it is ended here, or by the undoer. */
#include "lab/lab.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "io/sys.h"
#include "lab/collect_int.h"
#include "lab/doors.h"
#include "lab/socket.h"
#include "plan/wrap.h"

#define END_FAULTS_NS  SECONDS(30)
#define END_WITHIN_NS  SECONDS(20)
#define READY_AGAIN_NS MS(100)

/* ---- waiting ---- */

int64_t lab_now(const struct lab *lab)
{
    return lab->zero_ns ? clock_ns() - lab->zero_ns : -1;
}

static void on_deadline(struct timer *t)
{
    struct lab *lab = OWNER(t, struct lab, deadline);
    lab->late = true;
    loop_stop(&lab->loop);
}

static bool wait(struct lab *lab, bool (*done)(const struct lab *lab), int64_t most_ns, bool heed)
{
    lab->late = false;
    timer_start(&lab->loop, &lab->deadline, clock_ns() + most_ns);
    while (!done(lab) && !lab->late && !(heed && lab->signal))
        loop_run(&lab->loop);
    timer_stop(&lab->loop, &lab->deadline);
    return done(lab);
}

bool lab_wait(struct lab *lab, bool (*done)(const struct lab *lab), int64_t most_ns)
{
    return wait(lab, done, most_ns, true);
}

bool lab_outlast(struct lab *lab, bool (*done)(const struct lab *lab), int64_t most_ns)
{
    return wait(lab, done, most_ns, false);
}

static void on_signal(uv_signal_t *handle, int number)
{
    struct lab *lab = handle->loop->data;
    if (lab->signal) /* twice: at once. Keeper and undoer see to what is left */
        _exit(128 + number);
    lab->signal = number;
    loop_stop(&lab->loop);
}

/* ---- the schedule ---- */

static void on_tick(struct timer *t)
{
    lab_pump(OWNER(t, struct lab, tick));
}

void lab_pump(struct lab *lab)
{
    struct schedule_action a;
    while (lab->faults && schedule_take(lab->schedule, lab_now(lab), &a)) {
        if (a.act == SCHEDULE_BEGIN)
            harm_begin(lab, &a);
        else
            harm_end(lab, a.event);
    }
    int64_t next = lab->faults ? schedule_next_ns(lab->schedule) : INT64_MAX;
    if (next == INT64_MAX)
        timer_stop(&lab->loop, &lab->tick);
    else
        timer_start(&lab->loop, &lab->tick, lab->zero_ns + next);
}

/* Lines that are compared with those of the reference; few plans ask for any. */
static void line_keep(struct lab *lab, int32_t node, int32_t client, slice text)
{
    for (uint32_t i = 0; i < lab->plan->expects.n; i++) {
        const struct plan_expect *x = &lab->plan->expects.at[i];
        if (x->kind != EXPECT_NEW_LINES || !regex_found(x->regex, text))
            continue;
        if (lab->run->lines.n == PLAN_LINES_MAX)
            lab->run->truncated = true;
        else
            vec_push(&lab->run->lines, (struct plan_line){slice_copy(&lab->run->arena, text), node,
                                                          client, lab_now(lab)});
        return;
    }
}

static void saw(struct lab *lab, const struct sight *s)
{
    if (lab->watching && lab->options->saw)
        lab->options->saw(lab->options->user, s);
}

void lab_told(struct lab *lab, int32_t client, slice name, slice value)
{
    saw(lab, &(struct sight){SIGHT_EVENT, PLAN_NONE, client, name, value, 0});
    if (lab->faults)
        schedule_event(lab->schedule, lab_now(lab), client, name, value);
}

void lab_sample(struct lab *lab, slice metric, slice of, int32_t node, double value)
{
    double before;
    int64_t now = lab_now(lab);
    if (!lab->watching || !plan_measure(&lab->run->measures, metric, of, now, value, &before) ||
        !lab->faults)
        return;
    schedule_metric(lab->schedule, now, node, metric, of, value, before);
    lab_pump(lab);
}

void lab_spanned(struct lab *lab, int32_t node, slice span)
{
    saw(lab, &(struct sight){SIGHT_SPAN, node, PLAN_NONE, span, {0}, 0});
    if (!lab->faults)
        return;
    schedule_span(lab->schedule, lab_now(lab), node, span);
    lab_pump(lab);
}

void lab_called(struct lab *lab, uint32_t door, slice interface, uint32_t nth)
{
    const struct plan_door *d = &lab->plan->doors.at[door];
    saw(lab, &(struct sight){SIGHT_CALL, d->behind, PLAN_NONE, interface, d->name, nth});
    if (!lab->faults)
        return;
    schedule_call(lab->schedule, lab_now(lab), door, interface);
    lab_pump(lab);
}

void lab_connected(struct lab *lab, uint32_t door)
{
    if (!lab->faults)
        return;
    schedule_connection(lab->schedule, lab_now(lab), door);
    lab_pump(lab);
}

void lab_heard(struct lab *lab, int32_t node, int32_t client, slice text)
{
    line_keep(lab, node, client, text);
    bool sample = collect_heard(lab, node, client, text);
    if (node != PLAN_NONE && !sample)
        saw(lab, &(struct sight){SIGHT_LINE, node, client, text, {0}, 0});
    if (!lab->faults)
        return;
    schedule_line(lab->schedule, lab_now(lab), node, client, text);
    lab_pump(lab);
}

/* ---- where, and with what environment ---- */

static int run_fail(struct lab *lab, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int run_fail(struct lab *lab, const char *format, ...)
{
    struct buf why = BUF_INIT(2000);
    va_list args;
    va_start(args, format);
    buf_addv(&why, format, args);
    va_end(args);
    if (!lab->run->broken.n)
        lab->run->broken = slice_copy(&lab->run->arena, buf_slice(&why));
    buf_deinit(&why);
    return -1;
}

/* The plan's and the run's variables, the member's address, its own. */
static void seat_env(struct lab *lab, uint32_t member, slice disk, const struct text_pairs *own,
                     struct lab_seat *seat)
{
    uint32_t n = lab->env.n;
    struct text_pair *all = arena_alloc(&lab->arena, (n + own->n + 3) * sizeof *all);
    if (n)
        memcpy(all, lab->env.at, n * sizeof *all);
    all[n++] = (struct text_pair){SLICE("OUTFOX_NAME"), plan_member_name(lab->plan, member)};
    if (lab->lan) {
        struct buf address = BUF_INIT(32);
        lan_address(lab->lan, member, &address);
        all[n++] =
            (struct text_pair){SLICE("OUTFOX_IP"), slice_copy(&lab->arena, buf_slice(&address))};
        buf_deinit(&address);
    }
    if (disk.n)
        all[n++] = (struct text_pair){SLICE("OUTFOX_DISK"), disk};
    if (own->n)
        memcpy(all + n, own->at, own->n * sizeof *all);
    seat->env = all;
    seat->n_env = n + own->n;
}

/* The command as it is run in a member's place of the network. */
static slice placed(struct lab *lab, uint32_t member, slice text)
{
    if (!lab->lan || !text.n)
        return text;
    struct buf b = BUF_INIT(1 << 20);
    lan_place(lab->lan, member, text, &b);
    slice out = slice_copy(&lab->arena, buf_slice(&b));
    buf_deinit(&b);
    return out;
}

/* Where a member is: a command line here, whatever is behind it. `text` lasts, or has a limit. */
static slice seated(struct lab *lab, uint32_t member, const struct lab_seat *seat, slice dir,
                    slice text, int64_t within_ns)
{
    if (!seat->host || !text.n)
        return placed(lab, member, text);
    text = host_setting(seat->host, dir, seat->env, seat->n_env, text);
    return within_ns ? host_wrap(seat->host, CONNECT_RUN, text, SLICE(""),
                                 (uint32_t)(within_ns / SECONDS(1)) + CONNECT_LEASE_S)
                     : host_wrap(seat->host, CONNECT_HOLD, text, SLICE(""), CONNECT_LEASE_S);
}

/* On a host the variables are part of the command, and directories are there. */
static void seat_settle(struct lab *lab, struct lab_seat *seat, slice dir)
{
    seat->dir = dir.n && !seat->host ? dir : lab->plan->dir;
    if (seat->host)
        seat->n_env = 0;
}

static int take_seats(struct lab *lab)
{
    const struct plan *p = lab->plan;
    bool good = true;
    for (uint32_t i = 0; i < p->nodes.n; i++) {
        const struct plan_node *n = &p->nodes.at[i];
        struct lab_seat *seat = &lab->nodes[i].seat;
        seat->host = host_at(lab, n->host);
        seat_env(lab, i, lab->nodes[i].disk.mount, &n->env, seat);
        seat->command = seated(lab, i, seat, n->dir,
                               disk_start(&lab->nodes[i], wrap_start(p, i, &lab->arena)), 0);
        seat->ready = seated(lab, i, seat, n->dir, n->ready, PROBE_WITHIN_NS);
        seat_settle(lab, seat, n->dir);
        good = good && seat->command.p && seat->ready.n >= (n->ready.n > 0);
    }
    for (uint32_t i = 0; i < p->clients.n; i++) {
        const struct plan_client *c = &p->clients.at[i];
        struct lab_seat *seat = &lab->clients[i].seat;
        seat->host = host_at(lab, c->host);
        seat_env(lab, p->nodes.n + i, SLICE(""), &c->env, seat);
        seat->command =
            seated(lab, p->nodes.n + i, seat, c->dir, c->command, c->every_ns ? c->within_ns : 0);
        seat_settle(lab, seat, c->dir);
        good = good && seat->command.p;
    }
    return good ? 0
                : run_fail(lab,
                           "a command on a host, with all its variables, is longer than %d "
                           "bytes: put it into a script there",
                           CONNECT_TEXT_MAX);
}

struct command_request lab_request(struct lab *lab, slice text, int64_t within_ns)
{
    return (struct command_request){.text = placed(lab, LAN_OBSERVER, text),
                                    .dir = lab->plan->dir,
                                    .env = lab->env.at,
                                    .n_env = lab->env.n,
                                    .timeout_ns = within_ns};
}

struct voice *lab_voice(struct lab *lab, const struct lab_seat *seat, int log_fd,
                        const struct voice_events *events, void *user)
{
    if (seat->host)
        return host_voice(seat->host, seat->command, log_fd, events, user);
    struct arena a = {0};
    struct process_spec spec = {.command = slice_copy(&a, seat->command).p,
                                .dir = slice_copy(&a, seat->dir).p,
                                .env = env_texts(&a, seat->env, seat->n_env)};
    struct voice *v = voice_start(lab->keeper, &spec, log_fd, events, user);
    arena_deinit(&a);
    return v;
}

int lab_log(struct lab *lab, slice name)
{
    const char *path =
        arena_printf(&lab->arena, "%.*s/%.*s.log", SLICE_ARG(lab->dir), SLICE_ARG(name));
    return file_open_private(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st, (void)type, (void)at;
    return remove(path);
}

/* The socket by which others speak to the run, beside its directory. Without one a run goes on, unless
 * it needs it. */
static void open_control(struct lab *lab)
{
    struct arena *a = &lab->arena;
    struct err e = {0};
    const char *up =
        arena_printf(a, "%s/%.*s/control", lab->options->dir, SLICE_ARG(lab->plan->name));
    bool needed = false;
    lab->socket = lab_socket_open(lab, up, &e);
    for (uint32_t i = 0; i < lab->plan->events.n; i++)
        needed = needed || lab->plan->events.at[i].trigger.kind == TRIGGER_MANUAL;
    if (lab->socket) {
        int n = (int)lab->dir.n;
        while (n && lab->dir.p[n - 1] != '/')
            n--;
        slice path = slice_of(arena_printf(a, "%.*scontrol", n, lab->dir.p));
        vec_push(&lab->env, (struct text_pair){SLICE("OUTFOX_SOCKET"), path});
    } else if (needed) {
        (void)run_fail(lab, "%s", e.text);
    }
}

/* A directory of its own, which is empty, and variables that say where it is. */
static int open_directory(struct lab *lab)
{
    struct arena *a = &lab->arena;
    char base[PATH_MAX];
    const char *dir =
        arena_printf(a, "%s/%.*s/%s-%u", lab->options->dir, SLICE_ARG(lab->plan->name),
                     lab->run->reference ? "reference" : "faulty", lab->run->number);
    (void)nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    const char *inside = arena_printf(a, "%s/history.jsonl", dir);
    if (file_make_directories(inside) || !realpath(dir, base))
        return run_fail(lab, "the directory %s cannot be made: %s", dir, strerror(errno));
    lab->dir = slice_of(arena_copy(a, base, strlen(base)));
    lab->run->dir = slice_copy(&lab->run->arena, lab->dir);
    inside = arena_printf(a, "%s/history.jsonl", base);
    int fd = file_open_private(inside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    lab->history = fd < 0 ? NULL : fdopen(fd, "w");
    if (!lab->history)
        return run_fail(lab, "%s cannot be written: %s", inside, strerror(errno));
    open_control(lab);
    const struct text_pair own[] = {
        {SLICE("OUTFOX_DIR"), lab->dir},
        {SLICE("OUTFOX_BIN"), slice_of(file_program(a))},
        {SLICE("OUTFOX_HISTORY"), slice_of(inside)},
        {SLICE("OUTFOX_RUN"), slice_of(strrchr(dir, '/') + 1)},
        {SLICE("OUTFOX_SEED"), slice_of(arena_printf(a, "%" PRIu64, lab->plan->seed))},
    };
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        vec_push(&lab->env, own[i]);
    for (uint32_t i = 0; i < lab->plan->env.n; i++)
        vec_push(&lab->env, lab->plan->env.at[i]);
    return 0;
}

/* OUTFOX_IP_NAME: where each member is. */
static void name_addresses(struct lab *lab)
{
    struct arena *a = &lab->arena;
    for (uint32_t i = 0; i < plan_members(lab->plan); i++) {
        struct buf address = BUF_INIT(32);
        slice member = plan_member_name(lab->plan, i);
        char *name = arena_printf(a, "OUTFOX_IP_%.*s", SLICE_ARG(member));
        for (char *c = name; *c; c++)
            *c = *c == '-' ? '_' : *c;
        lan_address(lab->lan, i, &address);
        vec_push(&lab->env, (struct text_pair){slice_of(name), slice_copy(a, buf_slice(&address))});
        buf_deinit(&address);
    }
}

static int make_network(struct lab *lab, struct err *e)
{
    const struct plan *p = lab->plan;
    uint32_t n = plan_members(p);
    slice *names = arena_alloc(&lab->arena, (n + 1) * sizeof *names);
    for (uint32_t i = 0; i < n; i++)
        names[i] = plan_member_name(p, i);
    return lan_new(&lab->lan, &lab->loop, p->network, names, n, p->seed + lab->run->number,
                   arena_printf(&lab->arena, "%.*s/resolv.conf", SLICE_ARG(lab->dir)), e);
}

static int open_network(struct lab *lab)
{
    const struct plan *p = lab->plan;
    struct err e = {0};
    if (p->network && make_network(lab, &e))
        return run_fail(lab, "%s", e.text);
    if (lab->lan)
        name_addresses(lab);
    if (doors_open(lab, &e))
        return run_fail(lab, "%s", e.text);
    hosts_take(lab);
    disks_take(lab);
    if (collect_open(lab, &e)) /* which adds a variable */
        return run_fail(lab, "%s", e.text);
    if (take_seats(lab))
        return -1;
    return hosts_open(lab, &e) || disks_open(lab, &e) ? run_fail(lab, "%s", e.text) : 0;
}

/* Directories of nodes and clients, which may be named by variables of no shell: as they are. */
static int make_directories(struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++) {
        slice dir = lab->plan->nodes.at[i].dir;
        if (dir.n && !plan_is_far(lab->plan, lab->plan->nodes.at[i].host) &&
            file_make_directories(arena_printf(&lab->arena, "%.*s/x", SLICE_ARG(dir))))
            return run_fail(lab, "the directory %.*s cannot be made: %s", SLICE_ARG(dir),
                            strerror(errno));
    }
    return 0;
}

/* ---- commands to their ends ---- */

struct outcome {
    struct lab *lab;
    bool over, ok;
    struct buf said;
};

static bool is_stopping(const struct lab *lab)
{
    return lab->signal != 0;
}

static void on_command(void *user, const struct command_result *r)
{
    struct outcome *o = user;
    o->over = true;
    o->ok = r->started && r->exit_code == 0;
    if (r->timed_out)
        buf_adds(&o->said, "it did not end in time; ");
    else if (r->started && !o->ok)
        buf_addf(&o->said, "exit code %d: ", r->exit_code);
    buf_add(&o->said, r->error ? slice_of(r->error) : slice_last_line(r->output));
    loop_stop(&o->lab->loop);
}

/* Runs a command to its end. What it said last is in the run's arena. */
static bool run_command(struct lab *lab, slice text, int64_t within_ns, slice *said)
{
    struct outcome o = {.lab = lab, .said = BUF_INIT(2000)};
    struct command_request r = lab_request(lab, text, within_ns);
    struct command *c = command_start(lab->keeper, &r, on_command, &o);
    while (!o.over && !is_stopping(lab))
        loop_run(&lab->loop);
    if (!o.over)
        command_cancel(c);
    *said = slice_copy(&lab->run->arena, buf_slice(&o.said));
    buf_deinit(&o.said);
    return o.over && o.ok;
}

/* ---- the run ---- */

static bool never(const struct lab *lab)
{
    (void)lab;
    return false;
}

static bool node_is_up(const struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++)
        if (lab->nodes[i].failed || lab->run->broken.n)
            return true;
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++)
        if (lab->nodes[i].voice && !lab->nodes[i].ready)
            return false;
    return true;
}

static int start_nodes(struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++) {
        struct lab_node *n = &lab->nodes[i];
        const struct plan_node *p = &lab->plan->nodes.at[i];
        node_start(n);
        bool up = lab_wait(lab, node_is_up, p->ready_ns) && !n->failed && n->ready;
        if (!up && !lab->signal)
            return run_fail(lab, "the node %.*s is not ready: %s; its output is in %.*s/%.*s.log",
                            SLICE_ARG(p->name),
                            n->failed ? n->why : "`ready` did not succeed in time",
                            SLICE_ARG(lab->dir), SLICE_ARG(p->name));
    }
    return lab->signal ? -1 : 0;
}

/* The system as a whole, when all its nodes are ready: a cluster has its leader. */
static int await_ready(struct lab *lab)
{
    const struct plan *p = lab->plan;
    int64_t until = clock_ns() + p->ready_ns;
    slice said = {0}, last;
    while (p->ready.n && !lab->signal && !lab->run->broken.n) {
        int64_t left = until - clock_ns();
        if (left <= 0)
            return run_fail(lab, "the system is not ready: `ready` did not succeed in time%s%.*s",
                            said.n ? ": " : "", SLICE_ARG(said));
        if (run_command(lab, p->ready, left, &last))
            break;
        /* What was cut off has less to say than the try before. */
        if (!said.n || clock_ns() < until)
            said = last;
        (void)lab_wait(lab, never, READY_AGAIN_NS);
    }
    return lab->signal || lab->run->broken.n ? -1 : 0;
}

static bool client_is_over(const struct lab *lab)
{
    return lab->run->broken.n > 0;
}

/* From the first operation to the last. */
static int exercise(struct lab *lab)
{
    struct plan_run *run = lab->run;
    for (uint32_t i = 0; i < lab->plan->clients.n; i++)
        client_start(&lab->clients[i]);
    if (lab_wait(lab, client_is_over, lab->plan->warmup_ns) || lab->signal)
        return -1;
    lab->zero_ns = clock_ns();
    lab->faults = !run->reference;
    lab->watching = true;
    if (lab->faults)
        schedule_start(lab->schedule);
    lab_pump(lab);
    collect_start(lab);
    (void)lab_wait(lab, client_is_over, lab->plan->duration_ns);
    run->to_ns = lab_now(lab);
    lab->faults = lab->watching = false;
    collect_stop(lab);
    (void)lab_wait(lab, harm_none_moving, END_FAULTS_NS);
    harm_end_all(lab);
    if (!lab_wait(lab, harm_none_left, END_FAULTS_NS) && !lab->signal)
        (void)run_fail(lab, "faults could not be ended in time");
    for (uint32_t i = 0; i < lab->plan->clients.n; i++)
        client_stop(&lab->clients[i]);
    return lab->signal || run->broken.n ? -1 : 0;
}

static int check_commands(struct lab *lab)
{
    (void)lab_wait(lab, never, lab->plan->settle_ns);
    if (lab->history)
        (void)fflush(lab->history);
    for (uint32_t i = 0; i < lab->plan->expects.n && !lab->signal; i++) {
        const struct plan_expect *x = &lab->plan->expects.at[i];
        slice said;
        if (x->kind != EXPECT_COMMAND)
            continue;
        bool holds = run_command(lab, x->command, x->within_ns, &said);
        vec_push(&lab->run->checks, (struct plan_check){i, holds, said});
    }
    return lab->signal ? -1 : 0;
}

/* Events of a fault that never came are no result: what was to be seen was not. */
static void note_missing(struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->events.n && !lab->run->reference; i++) {
        const struct plan_event *e = &lab->plan->events.at[i];
        bool seen = e->trigger.chance < 1;
        for (uint32_t k = 0; k < lab->run->spells.n; k++)
            seen = seen || lab->run->spells.at[k].event == i;
        if (!seen)
            vec_push(&lab->run->spells,
                     (struct plan_spell){.event = i,
                                         .begin_ns = lab->run->to_ns,
                                         .end_ns = lab->run->to_ns,
                                         .failed = SLICE("its trigger did not fire")});
    }
}

static void close_places(struct lab *lab)
{
    struct err disks = {0}, hosts = {0};
    if (disks_close(lab, &disks))
        (void)run_fail(lab, "%s", disks.text);
    if (hosts_close(lab, &hosts))
        (void)run_fail(lab, "%s", hosts.text);
}

static void on_clear(void *user)
{
    loop_stop(user);
}

static bool nobody_is_left(const struct lab *lab)
{
    return keeper_is_clear(lab->keeper);
}

/* Ports and directories belong to what comes next: a killed process may need a while to end. */
static void end_members(struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->clients.n; i++)
        client_stop(&lab->clients[i]);
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++)
        node_stop(&lab->nodes[i]);
    if (!lab_outlast(lab, nobody_is_left, END_WITHIN_NS))
        (void)run_fail(lab,
                       "what it had started could not be ended: something waits for a disk, or "
                       "for a device, that does not answer");
}

static void run_story(struct lab *lab)
{
    slice said;
    const struct plan *p = lab->plan;
    if (open_directory(lab) || make_directories(lab) || open_network(lab)) {
        close_places(lab); /* one may be open */
        return;
    }
    if (p->before.n && !run_command(lab, p->before, p->within_ns, &said))
        (void)run_fail(lab, "`before` failed: %.*s", SLICE_ARG(said));
    else if (!start_nodes(lab) && !await_ready(lab) && !exercise(lab) && !check_commands(lab))
        note_missing(lab);
    end_members(lab);
    close_places(lab);
    if (p->after.n && !lab->signal && !run_command(lab, p->after, p->within_ns, &said))
        (void)run_fail(lab, "`after` failed: %.*s", SLICE_ARG(said));
}

static void run_close(struct lab *lab)
{
    lab_socket_close(lab->socket);
    lab->socket = NULL;
    tails_take(lab);
    collect_free(lab);
    doors_close(lab->doors);
    lab->doors = NULL;
    harm_free_all(lab);
    timer_stop(&lab->loop, &lab->tick);
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++)
        if (lab->nodes[i].log_fd >= 0)
            sys_close(lab->nodes[i].log_fd);
    for (uint32_t i = 0; i < lab->plan->clients.n; i++)
        if (lab->clients[i].log_fd >= 0)
            sys_close(lab->clients[i].log_fd);
    if (lab->history)
        (void)fclose(lab->history);
    lab->history = NULL;
    lan_free(lab->lan);
    lab->lan = NULL;
    schedule_free(lab->schedule);
    mem_free(lab->nodes);
    mem_free(lab->clients);
    mem_free(lab->hosts);
    lab->hosts = NULL;
    lab->env.n = 0;
    arena_reset(&lab->arena);
    lab->dir = (slice){0};
    lab->zero_ns = 0;
    lab->watching = false;
}

/* The runs without faults: our own, or those that were given. */
static struct plan_run *const *references(const struct lab *lab, uint32_t *n)
{
    struct plan_result *out = lab->result;
    *n = lab->options->n_references;
    if (*n)
        return lab->options->references;
    while (*n < out->runs.n && out->runs.at[*n]->reference)
        ++*n;
    return out->runs.at;
}

/* One run; false: there is to be no other. */
static bool run_one(struct lab *lab, bool reference, uint32_t number)
{
    struct plan_result *out = lab->result;
    struct plan_run *run = mem_zero(sizeof *run);
    run->reference = reference;
    run->first_failure.client = UINT32_MAX;
    run->number = number;
    vec_push(&out->runs, run);
    lab->run = run;
    lab->schedule = schedule_new(lab->plan, lab->plan->seed + number - 1);
    lab->nodes = mem_zero((lab->plan->nodes.n + 1) * sizeof *lab->nodes);
    lab->clients = mem_zero((lab->plan->clients.n + 1) * sizeof *lab->clients);
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++)
        lab->nodes[i] = (struct lab_node){.lab = lab, .index = i, .log_fd = -1};
    for (uint32_t i = 0; i < lab->plan->clients.n; i++)
        lab->clients[i] = (struct lab_client){.lab = lab, .index = i, .log_fd = -1};
    run_story(lab);
    run_close(lab);
    if (lab->signal) {
        out->signal = lab->signal;
        (void)run_fail(lab, "it was interrupted");
        return false;
    }
    uint32_t n;
    struct plan_run *const *given = references(lab, &n);
    if (!run->broken.n)
        plan_analyze(lab->plan, run, given, reference ? n - 1 : n);
    return !reference || plan_run_holds(run); /* what fails without faults says nothing with them */
}

static void run_all(struct lab *lab)
{
    const struct plan *p = lab->plan;
    uint32_t own = lab->options->n_references ? 0 : p->references;
    bool on = true;
    for (uint32_t i = 1; i <= own + p->repeats && on; i++) {
        bool reference = i <= own;
        uint32_t number = reference ? i : i - own;
        if (!reference && (lab->options->reference_only || !p->events.n))
            return;
        struct buf text = BUF_INIT(200);
        buf_addf(&text, "run %s-%u, about %gs", reference ? "reference" : "faulty", number,
                 (double)(p->warmup_ns + p->duration_ns + p->settle_ns) / 1e9);
        if (lab->options->say)
            lab->options->say(lab->options->user, buf_text(&text));
        buf_deinit(&text);
        on = run_one(lab, reference, number);
    }
}

static int lab_open(struct lab *lab, struct err *e)
{
    struct buf name = BUF_INIT(200);
    buf_add(&name, lab->plan->name);
    int status = keeper_new(&lab->keeper, e) || journal_open(&lab->journal, buf_text(&name), e) ||
                         undoer_new(&lab->undoer, lab->journal, e)
                     ? -1
                     : 0;
    buf_deinit(&name);
    if (status)
        return -1;
    int code = loop_init(&lab->loop, NULL);
    if (code)
        return err_set(e, 0, 0, "there can be no event loop: %s", strerror(-code));
    lab->loop.uv.data = lab;
    lab->deadline.fire = on_deadline;
    lab->tick.fire = on_tick;
    (void)uv_signal_init(&lab->loop.uv, &lab->on_int);
    (void)uv_signal_init(&lab->loop.uv, &lab->on_term);
    (void)uv_signal_start(&lab->on_int, on_signal, SIGINT);
    (void)uv_signal_start(&lab->on_term, on_signal, SIGTERM);
    status = keeper_attach(lab->keeper, &lab->loop, e);
    keeper_tell(lab->keeper, on_clear, &lab->loop);
    if (!status)
        run_all(lab);
    uv_close((uv_handle_t *)&lab->on_int, NULL);
    uv_close((uv_handle_t *)&lab->on_term, NULL);
    keeper_free(lab->keeper);
    lab->keeper = NULL;
    loop_deinit(&lab->loop);
    return status;
}

int lab_run(const struct plan *p, const struct lab_options *o, struct plan_result *out,
            struct err *e)
{
    struct lab lab = {.plan = p, .options = o, .result = out};
    int64_t begun = clock_ns();
    *out = (struct plan_result){.plan = p, .began_ns = clock_wall_ns()};
    int status = lab_open(&lab, e);
    undoer_free(lab.undoer); /* before the journal: it undoes what is left */
    journal_close(lab.journal);
    keeper_free(lab.keeper);
    arena_deinit(&lab.arena);
    vec_deinit(&lab.env);
    out->took_ns = clock_ns() - begun;
    return status;
}
