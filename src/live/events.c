/* SPDX-License-Identifier: Apache-2.0
 *
 * Events of a plan in a campaign. An event harms each of its services: a deed for each. */
#include "live/events.h"

#include <signal.h>

#include "base/clock.h"
#include "base/file.h"
#include "harm/undoer.h"
#include "live/live_int.h"
#include "plan/injector.h"
#include "proxy/proxy.h"

#define WITHIN_NS SECONDS(10)   /* of a command */
#define LEASE_NS  SECONDS(3600) /* no run is longer */

enum stage { DEED_BEGINS, DEED_ON, DEED_ENDS, DEED_OVER };

/* What an event does to one service, or to none. */
struct deed {
    struct events *all;
    struct deed *next;
    const struct plan_event *event;
    uint32_t id, service; /* service: UINT32_MAX: none */
    uint64_t run;         /* whose call waits for it */
    enum stage stage;
    bool failed, journalled;
    struct command *command;
    struct timer over; /* its duration */
    struct inject_order order;
};

struct events {
    struct live *live;
    const struct plan *plan;
    struct journal *journal;
    struct undoer *undoer;
    struct loop *loop; /* NULL: not attached */
    struct keeper *keeper;
    struct services *services;
    struct arena arena;
    VEC(struct text_pair) env;
    struct deed *deeds;
    uint32_t next_id;
    bool mending; /* somebody waits for the end of all */
};

static void deed_end(struct deed *d);

/* ---- how it goes ---- */

/* Are all deeds of this event past the stage? */
static bool all_past(const struct events *all, const struct plan_event *ev, enum stage stage,
                     bool *failed)
{
    for (const struct deed *d = all->deeds; d; d = d->next) {
        if (d->event == ev && d->stage <= stage)
            return false;
        *failed |= d->event == ev && d->failed;
    }
    return true;
}

static bool none_left(const struct events *all)
{
    for (const struct deed *d = all->deeds; d; d = d->next)
        if (d->stage != DEED_OVER)
            return false;
    return true;
}

static void deeds_free(struct events *all)
{
    while (all->deeds) {
        struct deed *d = all->deeds;
        all->deeds = d->next;
        if (d->command)
            command_cancel(d->command);
        timer_stop(all->loop, &d->over);
        inject_order_deinit(&d->order);
        mem_free(d);
    }
}

/* Calls that wait go on; or all is over, and so is the run. */
static void look(struct events *all, const struct deed *moved)
{
    bool failed = false;
    if (moved->run && all_past(all, moved->event, DEED_BEGINS, &failed))
        plane_go_on(all->live->plane, moved->run, !failed);
    if (!all->mending || !none_left(all))
        return;
    all->mending = false;
    deeds_free(all);
    execution_mended(all->live);
}

static void deed_on(struct deed *d)
{
    d->stage = DEED_ON;
    if (d->all->mending) { /* the run did not wait for it: its caller was what has ended */
        deed_end(d);
        return;
    }
    if (d->event->duration_ns)
        timer_start(d->all->loop, &d->over, clock_ns() + d->event->duration_ns);
    look(d->all, d);
}

static void deed_over(struct deed *d)
{
    if (d->journalled) {
        journal_end(d->all->journal, d->id);
        undoer_ended(d->all->undoer, d->id);
    }
    d->journalled = false;
    d->stage = DEED_OVER;
    look(d->all, d);
}

static void deed_fail(struct deed *d, slice why)
{
    struct buf text = BUF_INIT(1000);
    buf_addf(&text, "the event %.*s could not begin: %.*s", SLICE_ARG(d->event->name),
             SLICE_ARG(why.n ? why : SLICE("its command failed")));
    execution_note(d->all->live, d->run, buf_slice(&text));
    buf_deinit(&text);
    d->failed = true;
}

static void on_over(struct timer *t)
{
    struct deed *d = OWNER(t, struct deed, over);
    if (d->stage == DEED_ON)
        deed_end(d);
}

/* ---- commands to their ends ---- */

static void run(struct deed *d, const struct buf *text, int64_t within_ns,
                void (*done)(void *user, const struct command_result *r))
{
    struct events *all = d->all;
    struct command_request r = {.text = buf_slice(text),
                                .dir = all->plan->dir,
                                .env = all->env.at,
                                .n_env = all->env.n,
                                .timeout_ns = within_ns};
    d->command = command_start(all->keeper, &r, done, d);
}

static bool succeeded(const struct command_result *r)
{
    return r->started && r->exit_code == 0;
}

/* ---- processes ---- */

void events_over(struct events *all, uint32_t service)
{
    struct deed *d = all->deeds;
    while (d) {
        bool its = d->service == service && d->stage == DEED_BEGINS &&
                   d->event->injector->kind == INJECT_PROCESS;
        if (its)
            deed_on(d); /* which may be the end of all of them */
        d = its ? all->deeds : d->next;
    }
}

/* A command has ended the service, which says so itself, or could not. */
static void on_ordered(void *user, const struct command_result *r)
{
    struct deed *d = user;
    d->command = NULL;
    if (succeeded(r))
        return;
    deed_fail(d, slice_last_line(r->output));
    deed_over(d);
}

static void process_begin(struct deed *d)
{
    if (!services_end(d->all->services, d->service, d->order.signal,
                      d->event->injector->momentary)) {
        deed_fail(d, SLICE("the service is not running"));
        deed_over(d);
    } else if (d->order.start.n) {
        run(d, &d->order.start, WITHIN_NS, on_ordered);
    }
}

/* ---- commands ---- */

static void on_undone(void *user, const struct command_result *r)
{
    struct deed *d = user;
    d->command = NULL;
    if (!succeeded(r))
        d->journalled = false; /* it stays in the journal, for outfox doctor */
    deed_over(d);
}

static void on_begun(void *user, const struct command_result *r)
{
    struct deed *d = user;
    d->command = NULL;
    if (succeeded(r)) {
        deed_on(d);
        return;
    }
    deed_fail(d, r->timed_out ? SLICE("its command did not end within 10 s")
                 : r->error   ? slice_of(r->error)
                              : slice_last_line(r->output));
    deed_end(d); /* it may have begun in part */
}

static int deed_journal(struct deed *d, struct err *e)
{
    struct events *all = d->all;
    struct buf what = BUF_INIT(1000), name = BUF_INIT(200);
    buf_add(&name, d->event->name);
    injector_describe(d->event, &what);
    int status = journal_begin(all->journal, d->id, buf_text(&name), buf_text(&what),
                               buf_text(&d->order.undo), LEASE_NS, e) ||
                         undoer_begin(all->undoer, d->id, buf_text(&d->order.undo), LEASE_NS, e)
                     ? -1
                     : 0;
    buf_deinit(&what);
    buf_deinit(&name);
    d->journalled = status == 0;
    return status;
}

static void script_begin(struct deed *d)
{
    struct err e = {0};
    inject_order_settle(&d->order, d->all->plan->dir, d->all->env.at, d->all->env.n);
    if (d->order.undo.full)
        (void)err_set(&e, 0, 0, "its commands, with all variables, are too long");
    if (e.text[0] || deed_journal(d, &e)) {
        deed_fail(d, slice_of(e.text));
        deed_over(d);
        return;
    }
    run(d, &d->order.start, WITHIN_NS, on_begun);
}

/* A command that lasts as long as the event does. */
static void on_hold_ended(void *user, const struct command_result *r)
{
    struct deed *d = user;
    (void)r;
    d->command = NULL;
    deed_over(d);
}

static void hold_begin(struct deed *d)
{
    run(d, &d->order.start, LEASE_NS, on_hold_ended);
    deed_on(d);
}

/* ---- beginning and end ---- */

static void deed_begin(struct deed *d)
{
    const struct events *all = d->all;
    pid_t pid = d->service == UINT32_MAX ? 0 : services_pid(all->services, d->service);
    if (d->service != UINT32_MAX && services_was_ended(all->services, d->service) && !pid) {
        deed_on(d); /* another event of this run has ended it: there is nothing left to harm */
        return;
    }
    injector_order(d->event, pid, (slice){0}, 0, &d->order);
    switch (d->event->injector->kind) {
    case INJECT_PROCESS: process_begin(d); break;
    case INJECT_HOLD: hold_begin(d); break;
    default:
        if (d->service == UINT32_MAX || pid) {
            script_begin(d);
            break;
        }
        deed_fail(d, SLICE("the service is not running"));
        deed_over(d);
    }
}

static void deed_end(struct deed *d)
{
    d->stage = DEED_ENDS;
    timer_stop(d->all->loop, &d->over);
    if (d->journalled) {
        run(d, &d->order.undo, WITHIN_NS, on_undone);
        return;
    }
    if (d->command)
        command_cancel(d->command);
    d->command = NULL;
    deed_over(d); /* a service that was ended is started before the next run */
}

static struct deed *deed_new(struct events *all, const struct plan_event *ev, uint32_t service,
                             uint64_t run)
{
    struct deed *d = mem_zero(sizeof *d);
    d->all = all;
    d->event = ev;
    d->id = all->next_id++;
    d->service = service;
    d->run = run;
    d->over.fire = on_over;
    d->next = all->deeds;
    all->deeds = d;
    return d;
}

void events_begin(struct events *all, slice name, uint32_t callee, uint64_t run)
{
    int32_t found = plan_event(all->plan, name);
    if (found == PLAN_NONE) { /* of a stored run whose plan says something else now */
        plane_go_on(all->live->plane, run, false);
        return;
    }
    const struct plan_event *ev = &all->plan->events.at[found];
    struct deed *before = all->deeds;
    for (struct deed *d = before; d; d = d->next)
        if (d->event == ev) { /* another call has met it: then it is on, or about to be */
            look(all, d);
            return;
        }
    if (ev->target.kind == TARGET_NONE)
        (void)deed_new(all, ev, UINT32_MAX, run);
    else if (ev->target.kind == TARGET_MATCH_TRIGGER)
        (void)deed_new(all, ev, callee, run);
    for (uint32_t i = 0; i < ev->target.nodes.n; i++) {
        slice node = all->plan->nodes.at[ev->target.nodes.at[i]].name;
        (void)deed_new(all, ev, config_service(all->live->config, node), run);
    }
    for (struct deed *d = all->deeds, *next; d != before; d = next) { /* all are known first */
        next = d->next;
        deed_begin(d);
    }
}

bool events_any(const struct events *all)
{
    return all->deeds != NULL;
}

bool events_end_all(struct events *all)
{
    all->mending = false; /* so that nobody is told from within */
    for (struct deed *d = all->deeds; d; d = d->next) {
        d->run = 0;
        if (d->stage == DEED_ON)
            deed_end(d);
    }
    if (none_left(all))
        deeds_free(all);
    all->mending = all->deeds != NULL;
    return all->mending;
}

/* ---- open and closed ---- */

int events_new(struct live *l, struct events **out, struct err *e)
{
    struct events *all = mem_zero(sizeof *all);
    all->live = l;
    all->plan = l->config->plan;
    struct buf name = BUF_INIT(200);
    buf_add(&name, all->plan->name);
    vec_push(&all->env,
             ((struct text_pair){SLICE("OUTFOX_BIN"), slice_of(file_program(&all->arena))}));
    vec_push(&all->env, ((struct text_pair){SLICE("OUTFOX_DIR"), l->config->logs}));
    for (uint32_t i = 0; i < all->plan->env.n; i++)
        vec_push(&all->env, all->plan->env.at[i]);
    int status =
        journal_open(&all->journal, buf_text(&name), e) || undoer_new(&all->undoer, all->journal, e)
            ? -1
            : 0;
    buf_deinit(&name);
    *out = all;
    return status;
}

void events_attach(struct events *all, struct loop *loop, struct keeper *k, struct services *s)
{
    all->loop = loop;
    all->keeper = k;
    all->services = s;
}

void events_free(struct events *all)
{
    if (!all)
        return;
    if (all->loop)
        deeds_free(all);
    undoer_free(all->undoer); /* before the journal: it undoes what is left */
    journal_close(all->journal);
    arena_deinit(&all->arena);
    vec_deinit(&all->env);
    mem_free(all);
}
