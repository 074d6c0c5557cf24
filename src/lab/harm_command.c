/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that the injector's commands make (plan/injector.h): what is done to a node's process, what
 * a script does and another one undoes, and what lasts as long as a command does.
 *
 * What leaves something behind is in the journal, and known to the undoer, before it is begun. It is
 * taken out after its undo has succeeded, never before. */
#include <signal.h>

#include "base/clock.h"
#include "lab/lab_int.h"

#define WITHIN_NS     SECONDS(10) /* of a command */
#define LEASE_MORE_NS SECONDS(60) /* beyond what is left of the run */

static void order(struct harm *h)
{
    const struct lab_node *n = h->node == PLAN_NONE ? NULL : &h->lab->nodes[h->node];
    const struct plan *p = h->lab->plan;
    injector_order(harm_event(h), n && n->voice ? voice_pid(n->voice) : 0,
                   n ? p->nodes.at[h->node].name : (slice){0}, p->seed, &h->order);
}

/* Where the fault happens; NULL: on this machine. */
static struct lab_host *host_of(const struct harm *h)
{
    return h->node == PLAN_NONE ? host_at(h->lab, harm_event(h)->host)
                                : h->lab->nodes[h->node].seat.host;
}

/* The variables of its commands: the run's, and where the node's disk is. */
static const struct text_pair *env_of(const struct harm *h, uint32_t *n)
{
    struct lab *lab = h->lab;
    slice disk = h->node == PLAN_NONE ? SLICE("") : lab->nodes[h->node].disk.mount;
    *n = lab->env.n;
    if (!disk.n)
        return lab->env.at;
    struct text_pair *all = arena_alloc(&lab->arena, (*n + 1) * sizeof *all);
    memcpy(all, lab->env.at, *n * sizeof *all);
    all[(*n)++] = (struct text_pair){SLICE("OUTFOX_DISK"), disk};
    return all;
}

/* Runs a command here, to its end. One of the plan reaches the nodes, as those of roles do. Not so an
 * undo when we are gone: the network is, too. */
static void run(struct harm *h, slice text,
                void (*done)(void *user, const struct command_result *r))
{
    struct command_request r = lab_request(h->lab, text, WITHIN_NS);
    if (!harm_event(h)->start.n) /* ours need no network */
        r.text = text;
    r.env = env_of(h, &r.n_env);
    h->command = command_start(h->lab->keeper, &r, done, h);
}

/* ---- processes ---- */

/* A command has ended the node, or could not. */
static void on_ordered(void *user, const struct command_result *r)
{
    struct harm *h = user;
    h->command = NULL;
    if (r->started && r->exit_code == 0) {
        harm_on(h);
        return;
    }
    h->lab->nodes[h->node].ordered = false;
    harm_fail(h, slice_last_line(r->output));
    harm_over(h);
}

/* The node is told that its end is ordered, then a command ends it, where it is. */
static void process_order(struct harm *h)
{
    struct lab *lab = h->lab;
    struct lab_node *n = &lab->nodes[h->node];
    struct lab_host *host = host_of(h);
    slice text = buf_slice(&h->order.start);
    if (!n->voice) {
        harm_fail(h, SLICE("the node is not running"));
        harm_over(h);
        return;
    }
    n->ordered = true;
    if (host) {
        text = host_setting(host, SLICE(""), lab->env.at, lab->env.n, text);
        text = host_wrap(host, CONNECT_RUN, text, SLICE(""), CONNECT_LEASE_S);
    }
    run(h, text, on_ordered);
}

static void process_begin(struct harm *h)
{
    order(h);
    if (h->order.start.n) {
        process_order(h);
        return;
    }
    node_kill(&h->lab->nodes[h->node], h->order.signal, harm_event(h)->injector->momentary);
    harm_on(h);
}

static void process_end(struct harm *h)
{
    if (!harm_event(h)->injector->momentary && h->lab->faults) /* after the run all nodes end */
        node_kill(&h->lab->nodes[h->node], SIGKILL, true);
    harm_over(h);
}

const struct harm_kind harm_process = {process_begin, process_end, false};

/* ---- scripts: their undo ---- */

/* The undo, so that it depends on nothing of ours. */
static void settle(struct harm *h)
{
    uint32_t n;
    const struct text_pair *env = env_of(h, &n);
    inject_order_settle(&h->order, h->lab->plan->dir, env, n);
}

/* Known to whoever undoes it if we cannot. */
static int harm_journal(struct harm *h, struct err *e)
{
    struct lab *lab = h->lab;
    struct buf what = BUF_INIT(1000), name = BUF_INIT(200);
    int64_t lease = lab->plan->duration_ns + LEASE_MORE_NS;
    buf_add(&name, harm_event(h)->name);
    injector_describe(harm_event(h), &what);
    int status = journal_begin(lab->journal, h->id, buf_text(&name), buf_text(&what),
                               buf_text(&h->order.undo), lease, e) ||
                         undoer_begin(lab->undoer, h->id, buf_text(&h->order.undo), lease, e)
                     ? -1
                     : 0;
    buf_deinit(&what);
    buf_deinit(&name);
    h->journalled = status == 0;
    return status;
}

static void on_begun(void *user, const struct command_result *r)
{
    struct harm *h = user;
    h->command = NULL;
    if (r->started && r->exit_code == 0) {
        harm_on(h);
        return;
    }
    harm_fail(h, r->timed_out ? SLICE("its command did not end within 10 s")
                 : r->error   ? slice_of(r->error)
                              : slice_last_line(r->output));
    harm_undo(h); /* it may have begun in part */
}

/* ---- scripts on a host ---- */

/* What counts it says so when it is undone: `struck N`, its last line. */
static void add_struck(struct harm *h, slice said)
{
    uint64_t n;
    if (slice_starts(said, SLICE("struck ")) &&
        slice_to_u64(slice_trim(slice_from(said, 7)), INT64_MAX, &n))
        harm_spell(h)->struck += n;
}

/* Its ward has ended. It has run the undo, unless the connection is lost: then it is run once more,
 * over another one. */
static void on_ward_ended(void *user, int status, const char *why)
{
    struct harm *h = user;
    bool undone = h->stage == HARM_ENDS && status == 0;
    h->hold = NULL;
    timer_stop(&h->lab->loop, &h->late);
    add_struck(h, slice_of(why));
    if (h->stage != HARM_ENDS)
        harm_fail(h, slice_of(why));
    if (undone)
        harm_over(h);
    else
        harm_undo(h);
}

static void on_ward_on(void *user, pid_t pid)
{
    struct harm *h = user;
    (void)pid;
    timer_stop(&h->lab->loop, &h->late);
    harm_on(h);
}

static const struct voice_events ward_events = {on_ward_on, NULL, on_ward_ended};

static void on_late(struct timer *t)
{
    struct harm *h = OWNER(t, struct harm, late);
    harm_fail(h, SLICE("its command did not end within 10 s"));
    voice_end(h->hold); /* which ends the command, and undoes it */
}

/* The commands as they are run there; the undo that is known here makes a connection of its own. */
static void ward_prepare(struct harm *h, struct lab_host *host)
{
    struct lab *lab = h->lab;
    slice start =
        host_setting(host, SLICE(""), lab->env.at, lab->env.n, buf_slice(&h->order.start));
    slice undo = host_setting(host, SLICE(""), lab->env.at, lab->env.n, buf_slice(&h->order.undo));
    slice ward = host_wrap(host, CONNECT_WARD, start, undo, CONNECT_LEASE_S);
    slice late = host_wrap(host, CONNECT_UNDO, undo, SLICE(""), 0);
    inject_order_deinit(&h->order);
    h->order = (struct inject_order){.start = BUF_INIT(2 * CONNECT_TEXT_MAX),
                                     .undo = BUF_INIT(UNDO_TEXT_MAX)};
    buf_add(&h->order.start, ward);
    buf_add(&h->order.undo, late);
    h->order.undo.full = h->order.undo.full || !ward.p || !late.p;
}

static void ward_begin(struct harm *h, struct lab_host *host)
{
    h->late.fire = on_late;
    timer_start(&h->lab->loop, &h->late, clock_ns() + WITHIN_NS);
    h->hold = host_voice(host, buf_slice(&h->order.start), -1, &ward_events, h);
}

/* ---- scripts ---- */

static void script_begin(struct harm *h)
{
    struct err err = {0};
    struct lab_host *host = host_of(h);
    order(h);
    if (harm_event(h)->injector->kind == INJECT_DISK && h->node != PLAN_NONE &&
        !h->lab->nodes[h->node].disk.mount.n)
        (void)err_set(&err, 0, 0, "the node has no disk of its own: add disk: data to it");
    if (host)
        ward_prepare(h, host);
    else
        settle(h);
    if (h->order.undo.full)
        (void)err_set(&err, 0, 0, "its commands, with all variables, are too long");
    if (err.text[0] || harm_journal(h, &err)) {
        harm_fail(h, slice_of(err.text));
        harm_over(h);
    } else if (host) {
        ward_begin(h, host);
    } else {
        run(h, buf_slice(&h->order.start), on_begun);
    }
}

static void on_undone(void *user, const struct command_result *r)
{
    struct harm *h = user;
    h->command = NULL;
    add_struck(h, slice_last_line(r->output));
    if (!r->started || r->exit_code != 0) {
        harm_fail(h,
                  slice_of(arena_printf(&h->lab->run->arena,
                                        "it could not be undone: %.*s; outfox doctor tries again",
                                        SLICE_ARG(slice_last_line(r->output)))));
        h->journalled = false; /* it stays in the journal */
    }
    harm_over(h);
}

static void script_end(struct harm *h)
{
    if (h->hold) /* on a host */
        voice_end(h->hold);
    else
        run(h, buf_slice(&h->order.undo), on_undone);
}

const struct harm_kind harm_script = {script_begin, script_end, true};

/* ---- commands that last ---- */

static void on_held(void *user, pid_t pid)
{
    (void)pid;
    harm_on(user);
}

static void on_hold_ended(void *user, int status, const char *why)
{
    struct harm *h = user;
    h->hold = NULL;
    if (h->stage != HARM_ENDS)
        harm_fail(h, status == -1 ? slice_of(why) : SLICE("it ended before its time"));
    harm_over(h);
}

static const struct voice_events hold_events = {on_held, NULL, on_hold_ended};

static void hold_begin(struct harm *h)
{
    struct lab *lab = h->lab;
    struct arena a = {0};
    struct lab_host *host = host_of(h);
    order(h);
    if (host) {
        slice text =
            host_setting(host, SLICE(""), lab->env.at, lab->env.n, buf_slice(&h->order.start));
        text = host_wrap(host, CONNECT_HOLD, text, SLICE(""), CONNECT_LEASE_S);
        if (text.p) {
            h->hold = host_voice(host, text, -1, &hold_events, h);
            return;
        }
        harm_fail(h, SLICE("its command, with all variables, is too long"));
        harm_over(h);
        return;
    }
    struct process_spec spec = {.command = buf_text(&h->order.start),
                                .dir = slice_copy(&a, lab->plan->dir).p,
                                .env = env_texts(&a, lab->env.at, lab->env.n)};
    h->hold = voice_start(lab->keeper, &spec, -1, &hold_events, h);
    arena_deinit(&a);
}

/* On a host it says itself when it has ended. */
static void hold_end(struct harm *h)
{
    if (h->hold && host_of(h)) {
        voice_end(h->hold);
        return;
    }
    if (h->hold)
        voice_abandon(h->hold);
    h->hold = NULL;
    harm_over(h);
}

const struct harm_kind harm_hold = {hold_begin, hold_end, true};
