/* SPDX-License-Identifier: Apache-2.0
 *
 * The story of a plan, and of each of its runs:
 *
 *   directory -> before -> nodes start, one after the other -> clients -> warm-up
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
#include "lab/lab_int.h"

#define END_FAULTS_NS SECONDS(30)

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

bool lab_wait(struct lab *lab, bool (*done)(const struct lab *lab), int64_t most_ns)
{
    lab->late = false;
    timer_start(&lab->loop, &lab->deadline, clock_ns() + most_ns);
    while (!done(lab) && !lab->late && !lab->signal)
        loop_run(&lab->loop);
    timer_stop(&lab->loop, &lab->deadline);
    return done(lab);
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
            vec_push(&lab->run->lines,
                     (struct plan_line){slice_copy(&lab->run->arena, text), node, client});
        return;
    }
}

void lab_heard(struct lab *lab, int32_t node, int32_t client, slice text)
{
    line_keep(lab, node, client, text);
    if (!lab->faults)
        return;
    schedule_line(lab->schedule, lab_now(lab), node, client, text);
    lab_pump(lab);
}

/* ---- where, and with what environment ---- */

const struct text_pair *lab_env(struct lab *lab, const struct text_pairs *own, uint32_t *n)
{
    *n = lab->env.n;
    if (!own || !own->n)
        return lab->env.at;
    struct text_pair *all = arena_alloc(&lab->arena, (lab->env.n + own->n) * sizeof *all);
    memcpy(all, lab->env.at, lab->env.n * sizeof *all);
    memcpy(all + lab->env.n, own->at, own->n * sizeof *all);
    *n += own->n;
    return all;
}

slice lab_dir(struct lab *lab, slice own)
{
    return own.n ? own : lab->plan->dir;
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
    const struct text_pair own[] = {
        {SLICE("OUTFOX_DIR"), lab->dir},
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

/* Directories of nodes and clients, which may be named by variables of no shell: as they are. */
static int make_directories(struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++) {
        slice dir = lab->plan->nodes.at[i].dir;
        if (dir.n && file_make_directories(arena_printf(&lab->arena, "%.*s/x", SLICE_ARG(dir))))
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
    struct command_request r = {.text = text, .dir = lab->plan->dir, .timeout_ns = within_ns};
    r.env = lab_env(lab, NULL, &r.n_env);
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

static bool node_is_up(const struct lab *lab)
{
    for (uint32_t i = 0; i < lab->plan->nodes.n; i++)
        if (lab->nodes[i].failed)
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
    if (lab->faults)
        schedule_start(lab->schedule);
    lab_pump(lab);
    (void)lab_wait(lab, client_is_over, lab->plan->duration_ns);
    run->to_ns = lab_now(lab);
    lab->faults = false;
    (void)lab_wait(lab, harm_none_moving, END_FAULTS_NS);
    harm_end_all(lab);
    if (!lab_wait(lab, harm_none_left, END_FAULTS_NS) && !lab->signal)
        (void)run_fail(lab, "faults could not be ended in time");
    for (uint32_t i = 0; i < lab->plan->clients.n; i++)
        client_stop(&lab->clients[i]);
    return lab->signal || run->broken.n ? -1 : 0;
}

static bool never(const struct lab *lab)
{
    (void)lab;
    return false;
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

static void run_story(struct lab *lab)
{
    slice said;
    const struct plan *p = lab->plan;
    if (open_directory(lab) || make_directories(lab))
        return;
    if (p->before.n && !run_command(lab, p->before, p->within_ns, &said))
        (void)run_fail(lab, "`before` failed: %.*s", SLICE_ARG(said));
    else if (!start_nodes(lab) && !exercise(lab) && !check_commands(lab))
        note_missing(lab);
    for (uint32_t i = 0; i < p->clients.n; i++)
        client_stop(&lab->clients[i]);
    for (uint32_t i = 0; i < p->nodes.n; i++)
        node_stop(&lab->nodes[i]);
    if (p->after.n && !lab->signal && !run_command(lab, p->after, p->within_ns, &said))
        (void)run_fail(lab, "`after` failed: %.*s", SLICE_ARG(said));
}

static void run_close(struct lab *lab)
{
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
    schedule_free(lab->schedule);
    mem_free(lab->nodes);
    mem_free(lab->clients);
    lab->env.n = 0;
    arena_reset(&lab->arena);
    lab->zero_ns = 0;
}

/* One run; false: there is to be no other. */
static bool run_one(struct lab *lab, bool reference, uint32_t number)
{
    struct plan_result *out = lab->result;
    struct plan_run *run = mem_zero(sizeof *run);
    run->reference = reference;
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
    uint32_t references = 0;
    while (references < out->runs.n - 1 && out->runs.at[references]->reference)
        references++;
    if (!run->broken.n)
        plan_analyze(lab->plan, run, out->runs.at, references);
    return !reference || plan_run_holds(run); /* what fails without faults says nothing with them */
}

static void run_all(struct lab *lab)
{
    const struct plan *p = lab->plan;
    bool on = true;
    for (uint32_t i = 1; i <= p->references + p->repeats && on; i++) {
        bool reference = i <= p->references;
        uint32_t number = reference ? i : i - p->references;
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
    *out = (struct plan_result){.plan = p};
    int status = lab_open(&lab, e);
    undoer_free(lab.undoer); /* before the journal: it undoes what is left */
    journal_close(lab.journal);
    keeper_free(lab.keeper);
    arena_deinit(&lab.arena);
    vec_deinit(&lab.env);
    out->took_ns = clock_ns() - begun;
    return status;
}
