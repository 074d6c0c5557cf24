/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults that are on; what each kind does is in harm_*.c. An event harms each
 * of its nodes; a spell is all of that, from the moment when the last of them has begun to the
 * moment when the last has ended.
 *
 *   asked (a role) --> begins --> on --> ends --> over
 *                          `-- failed: what has begun is undone, and the run says so
 *
 * 1. What leaves something behind is in the journal, and known to the undoer, before it is begun.
 * 2. An undo is taken out of the journal after it has succeeded, never before. */
#include "lab/lab_int.h"

#define ASK_WITHIN_NS SECONDS(5)

struct plan_spell *harm_spell(const struct harm *h)
{
    return &h->lab->run->spells.at[h->spell];
}

const struct plan_event *harm_event(const struct harm *h)
{
    return &h->lab->plan->events.at[harm_spell(h)->event];
}

static const struct harm_kind *kind_of(const struct lab *lab, uint32_t event)
{
    static const struct harm_kind *const kinds[] = {
        [INJECT_PROCESS] = &harm_process, [INJECT_SCRIPT] = &harm_script,
        [INJECT_DISK] = &harm_script,     [INJECT_HOLD] = &harm_hold,
        [INJECT_LINK] = &harm_link,       [INJECT_NAMES] = &harm_names,
        [INJECT_DOOR] = &harm_door};
    return kinds[lab->plan->events.at[event].injector->kind];
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
        const char *untouched = lab->plan->events.at[s->event].injector->untouched;
        if (!s->failed.n && untouched && !s->struck) /* what nothing met says nothing */
            s->failed = slice_of(untouched);
    }
    loop_stop(&lab->loop);
    lab_pump(lab);
}

void harm_over(struct harm *h)
{
    if (h->journalled) {
        journal_end(h->lab->journal, h->id);
        undoer_ended(h->lab->undoer, h->id);
        h->journalled = false;
    }
    h->stage = HARM_OVER;
    spell_moved(h->lab, h->spell);
}

void harm_fail(struct harm *h, slice why)
{
    struct plan_spell *s = harm_spell(h);
    if (!s->failed.n)
        s->failed = slice_copy(&h->lab->run->arena, why.n ? why : SLICE("it failed"));
}

void harm_on(struct harm *h)
{
    h->stage = HARM_ON;
    spell_moved(h->lab, h->spell);
}

/* ---- the end ---- */

void harm_undo(struct harm *h)
{
    h->stage = HARM_ENDS;
    kind_of(h->lab, harm_spell(h)->event)->end(h);
}

void harm_end(struct lab *lab, uint32_t event)
{
    for (struct harm *h = lab->harms, *next; h; h = next) {
        next = h->next;
        if (h->stage == HARM_ON && harm_spell(h)->event == event)
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

static void harm_do(struct harm *h)
{
    const struct harm_kind *kind = kind_of(h->lab, harm_spell(h)->event);
    if (kind->running && h->node != PLAN_NONE && !h->lab->nodes[h->node].voice) {
        harm_fail(h, SLICE("the node is not running"));
        harm_over(h);
    } else {
        kind->begin(h);
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
    struct command_request r = lab_request(lab, lab->plan->roles.at[t->role].find, ASK_WITHIN_NS);
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
        timer_stop(&lab->loop, &h->late);
        mem_free(h->at_door);
        inject_order_deinit(&h->order);
        mem_free(h);
    }
}
