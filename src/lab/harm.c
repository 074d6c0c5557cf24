/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that are on. An event harms each of its nodes; a spell is all of that, from the moment when
 * the last of them has begun to the moment when the last has ended.
 *
 *   asked (a role) --> begins --> on --> ends --> over
 *                          `-- failed: what has begun is undone, and the run says so
 *
 * 1. What leaves something behind is in the journal, and known to the undoer, before it is begun.
 * 2. An undo is taken out of the journal after it has succeeded, never before. */
#include <signal.h>

#include "lab/lab_int.h"

#define BEGIN_WITHIN_NS SECONDS(10)
#define ASK_WITHIN_NS   SECONDS(5)
#define LEASE_MORE_NS   SECONDS(60) /* beyond what is left of the run */

static struct plan_spell *spell_of(const struct harm *h)
{
    return &h->lab->run->spells.at[h->spell];
}

static const struct plan_event *event_of(const struct harm *h)
{
    return &h->lab->plan->events.at[spell_of(h)->event];
}

/* Are all harms of this spell past the stage? */
static bool all_past(const struct lab *lab, uint32_t spell, int stage)
{
    for (const struct harm *h = lab->harms; h; h = h->next)
        if (h->spell == spell && (int)h->stage <= stage)
            return false;
    return true;
}

static void spell_moved(struct lab *lab, uint32_t spell)
{
    struct plan_spell *s = &lab->run->spells.at[spell];
    int64_t now = lab_now(lab);
    if (s->begin_ns == INT64_MAX && all_past(lab, spell, HARM_BEGINS)) {
        s->begin_ns = now;
        if (s->failed.n)
            schedule_failed(lab->schedule, s->event);
        else
            schedule_began(lab->schedule, now, s->event);
    }
    if (s->end_ns == INT64_MAX && all_past(lab, spell, HARM_ENDS)) {
        s->end_ns = now;
        if (!s->failed.n)
            schedule_ended(lab->schedule, now, s->event);
    }
    loop_stop(&lab->loop);
    lab_pump(lab);
}

static void harm_over(struct harm *h)
{
    if (h->journalled) {
        journal_end(h->lab->journal, h->id);
        undoer_ended(h->lab->undoer, h->id);
        h->journalled = false;
    }
    h->stage = HARM_OVER;
    spell_moved(h->lab, h->spell);
}

static void spell_fail(struct harm *h, slice why)
{
    struct plan_spell *s = spell_of(h);
    if (!s->failed.n)
        s->failed = slice_copy(&h->lab->run->arena, why.n ? why : SLICE("it failed"));
}

/* ---- the end ---- */

static void on_undone(void *user, const struct command_result *r)
{
    struct harm *h = user;
    h->command = NULL;
    if (r->started && r->exit_code == 0) {
        harm_over(h);
        return;
    }
    slice said = slice_last_line(r->output);
    spell_fail(h, slice_of(arena_printf(&h->lab->run->arena,
                                        "it could not be undone: %.*s; outfox doctor tries again",
                                        SLICE_ARG(said))));
    h->journalled = false; /* it stays in the journal */
    harm_over(h);
}

static void harm_undo(struct harm *h)
{
    const struct plan_event *e = event_of(h);
    struct lab *lab = h->lab;
    h->stage = HARM_ENDS;
    if (e->injector->kind == INJECT_PROCESS) {
        struct lab_node *n = &lab->nodes[h->node];
        if (!e->injector->momentary && lab->faults) /* at the end of a run all nodes end */
            node_kill(n, SIGKILL, true);
        harm_over(h);
    } else if (h->order.undo.n) {
        struct command_request r = {.text = buf_slice(&h->order.undo),
                                    .dir = lab->plan->dir,
                                    .timeout_ns = BEGIN_WITHIN_NS};
        r.env = lab_env(lab, NULL, &r.n_env);
        h->command = command_start(lab->keeper, &r, on_undone, h);
    } else {
        if (h->hold)
            voice_abandon(h->hold);
        h->hold = NULL;
        harm_over(h);
    }
}

void harm_end(struct lab *lab, uint32_t event)
{
    for (struct harm *h = lab->harms, *next; h; h = next) {
        next = h->next;
        if (h->stage == HARM_ON && spell_of(h)->event == event)
            harm_undo(h);
    }
}

void harm_end_all(struct lab *lab)
{
    for (struct harm *h = lab->harms, *next; h; h = next) {
        next = h->next;
        if (h->stage == HARM_ON)
            harm_undo(h);
    }
}

/* ---- the begin ---- */

static void harm_on(struct harm *h)
{
    h->stage = HARM_ON;
    spell_moved(h->lab, h->spell);
}

static void on_begun(void *user, const struct command_result *r)
{
    struct harm *h = user;
    h->command = NULL;
    if (r->started && r->exit_code == 0) {
        harm_on(h);
        return;
    }
    spell_fail(h, r->timed_out ? SLICE("its command did not end within 10 s")
                  : r->error   ? slice_of(r->error)
                               : slice_last_line(r->output));
    harm_undo(h); /* it may have begun in part */
}

static void on_held(void *user, pid_t pid)
{
    (void)pid;
    harm_on(user);
}

static void on_hold_ended(void *user, int status, const char *why)
{
    struct harm *h = user;
    h->hold = NULL;
    spell_fail(h, status == -1 ? slice_of(why) : SLICE("it ended before its time"));
    harm_over(h);
}

static const struct voice_events hold_events = {on_held, NULL, on_hold_ended};

/* The undo, so that it depends on nothing of ours: where it is run, and with which variables. */
static void undo_complete(struct harm *h)
{
    struct buf all = BUF_INIT(UNDO_TEXT_MAX);
    uint32_t n;
    const struct text_pair *env = lab_env(h->lab, NULL, &n);
    buf_adds(&all, "cd ");
    buf_add_shell(&all, h->lab->plan->dir);
    buf_adds(&all, " || exit 1\n");
    for (uint32_t i = 0; i < n; i++) {
        buf_addf(&all, "export %.*s=", SLICE_ARG(env[i].name));
        buf_add_shell(&all, env[i].value);
        buf_addc(&all, '\n');
    }
    buf_add(&all, buf_slice(&h->order.undo));
    buf_deinit(&h->order.undo);
    h->order.undo = all;
}

/* Known to whoever undoes it if we cannot. */
static int harm_journal(struct harm *h, struct err *e)
{
    struct lab *lab = h->lab;
    struct buf what = BUF_INIT(1000), name = BUF_INIT(200);
    int64_t lease = lab->plan->duration_ns + LEASE_MORE_NS;
    buf_add(&name, event_of(h)->name);
    injector_describe(event_of(h), &what);
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

static void harm_hold(struct harm *h)
{
    struct lab *lab = h->lab;
    struct arena a = {0};
    uint32_t n_env;
    const struct text_pair *env = lab_env(lab, NULL, &n_env);
    struct process_spec spec = {.command = buf_text(&h->order.start),
                                .dir = slice_copy(&a, lab->plan->dir).p,
                                .env = env_texts(&a, env, n_env)};
    h->hold = voice_start(lab->keeper, &spec, -1, &hold_events, h);
    arena_deinit(&a);
}

static void harm_do(struct harm *h)
{
    struct lab *lab = h->lab;
    const struct plan_event *e = event_of(h);
    struct lab_node *n = h->node == PLAN_NONE ? NULL : &lab->nodes[h->node];
    struct err err = {0};
    if (n && !n->voice && e->injector->kind != INJECT_PROCESS) {
        spell_fail(h, SLICE("the node is not running"));
        harm_over(h);
        return;
    }
    injector_order(e, n && n->voice ? voice_pid(n->voice) : 0, &h->order);
    if (h->order.undo.n)
        undo_complete(h);
    if (e->injector->kind == INJECT_PROCESS) {
        node_kill(n, h->order.signal, e->injector->momentary);
        harm_on(h);
    } else if (h->order.undo.n && harm_journal(h, &err)) {
        spell_fail(h, slice_of(err.text));
        harm_over(h);
    } else if (e->injector->kind == INJECT_HOLD) {
        harm_hold(h);
    } else {
        struct command_request r = {.text = buf_slice(&h->order.start),
                                    .dir = lab->plan->dir,
                                    .timeout_ns = BEGIN_WITHIN_NS};
        r.env = lab_env(lab, NULL, &r.n_env);
        h->command = command_start(lab->keeper, &r, on_begun, h);
    }
}

static struct harm *harm_new(struct lab *lab, uint32_t spell, int32_t node)
{
    struct harm *h = mem_zero(sizeof *h);
    h->lab = lab;
    h->id = lab->next_id++;
    h->spell = spell;
    h->node = node;
    h->next = lab->harms;
    lab->harms = h;
    return h;
}

/* The event happens now, to whom its target means. */
static void spell_begin(struct lab *lab, const struct schedule_action *a, int32_t role, slice why)
{
    const struct plan_event *e = &lab->plan->events.at[a->event];
    struct schedule_nodes aim = {0};
    uint32_t spell = lab->run->spells.n, first = lab->next_id;
    struct plan_spell s = {.event = a->event, .begin_ns = INT64_MAX, .end_ns = INT64_MAX};
    schedule_aim(lab->schedule, a, role, &aim);
    for (uint32_t i = 0; i < aim.n; i++)
        vec_push(&s.nodes, aim.at[i]);
    if (e->target.kind != TARGET_NONE && !aim.n) {
        s.failed = why.n ? why : SLICE("its trigger fired on no node");
        s.begin_ns = s.end_ns = lab_now(lab);
        schedule_failed(lab->schedule, a->event);
    }
    vec_push(&lab->run->spells, s);
    if (!s.failed.n) {
        if (!aim.n)
            harm_new(lab, spell, PLAN_NONE);
        for (uint32_t i = 0; i < aim.n; i++)
            harm_new(lab, spell, (int32_t)aim.at[i]);
        for (struct harm *h = lab->harms, *next; h; h = next) { /* all are known before one moves */
            next = h->next;
            if (h->id >= first && h->spell == spell)
                harm_do(h);
        }
    }
    mem_free(aim.at);
}

/* ---- roles ---- */

static void asking_free(struct asking *q)
{
    for (struct asking **at = &q->lab->askings; *at; at = &(*at)->next)
        if (*at == q) {
            *at = q->next;
            break;
        }
    if (q->command)
        command_cancel(q->command);
    mem_free(q);
}

static void on_asked(void *user, const struct command_result *r)
{
    struct asking *q = user;
    struct lab *lab = q->lab;
    const struct plan_role *role =
        &lab->plan->roles.at[lab->plan->events.at[q->action.event].target.role];
    slice said = slice_last_line(r->output);
    int32_t node = r->started && r->exit_code == 0 ? plan_node(lab->plan, said) : PLAN_NONE;
    slice why = slice_of(
        arena_printf(&lab->run->arena, "nobody is %.*s: its command %s \"%.*s\", which is no node",
                     SLICE_ARG(role->name),
                     r->timed_out ? "did not end, and had printed" : "printed", SHORT(said)));
    struct schedule_action action = q->action;
    q->command = NULL;
    asking_free(q);
    if (lab->faults)
        spell_begin(lab, &action, node, why);
}

void harm_begin(struct lab *lab, const struct schedule_action *a)
{
    const struct plan_target *t = &lab->plan->events.at[a->event].target;
    if (t->kind != TARGET_ROLE) {
        spell_begin(lab, a, PLAN_NONE, SLICE(""));
        return;
    }
    struct asking *q = mem_zero(sizeof *q);
    q->lab = lab;
    q->action = *a;
    q->next = lab->askings;
    lab->askings = q;
    struct command_request r = {.text = lab->plan->roles.at[t->role].find,
                                .dir = lab->plan->dir,
                                .timeout_ns = ASK_WITHIN_NS};
    r.env = lab_env(lab, NULL, &r.n_env);
    q->command = command_start(lab->keeper, &r, on_asked, q);
}

/* ---- all of them ---- */

bool harm_none_moving(const struct lab *lab)
{
    for (const struct harm *h = lab->harms; h; h = h->next)
        if (h->stage == HARM_BEGINS || h->stage == HARM_ENDS)
            return false;
    return !lab->askings;
}

bool harm_none_left(const struct lab *lab)
{
    for (const struct harm *h = lab->harms; h; h = h->next)
        if (h->stage != HARM_OVER)
            return false;
    return true;
}

void harm_free_all(struct lab *lab)
{
    while (lab->askings)
        asking_free(lab->askings);
    while (lab->harms) {
        struct harm *h = lab->harms;
        lab->harms = h->next;
        if (h->command)
            command_cancel(h->command);
        if (h->hold)
            voice_abandon(h->hold);
        inject_order_deinit(&h->order);
        mem_free(h);
    }
}
