/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/agenda.h"

#include <stdio.h>

enum {
    LEGS_MAX = TRIALS_POLICIES_MAX * 3,
    BROKEN_MOST = 10, /* so many trials in a row say nothing: then no more are made */
    IDLE_MOST = 3,    /* the same of a policy's, if nothing can be done in them */
};

struct agenda {
    const struct trials *trials;
    policy_errors *errors;
    void *user;
    struct usual *usual;
    struct findings *findings;
    VEC(struct trial_result *) results;
    struct agenda_leg leg[LEGS_MAX];
    struct trial_policy *policy[LEGS_MAX]; /* as leg */
    uint64_t asked_in_leg[LEGS_MAX];
    uint32_t n_legs, at_leg;
    uint32_t references, control; /* how many there are to be */
    uint32_t asked_references, told_references, asked_control;
    uint32_t under_way, under_way_of_leg, number;
    struct trial_order replay;
    uint32_t replays, asked_replays;
    uint32_t broken; /* in a row */
    struct agenda_met met;
    VEC(uint64_t) met_sites, met_states; /* each once */
    const char *stopped;
    char why[200];
    slice sick;
};

static const enum outfox_act all_acts[] = {OUTFOX_ERROR, OUTFOX_DELAY, OUTFOX_SHORT};

/* Bits of the nodes that may be harmed. */
static uint64_t harmed_nodes(const struct trials *t)
{
    uint64_t nodes = 0;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        nodes |= t->nodes.at[i].harmed ? UINT64_C(1) << i : 0;
    return nodes;
}

static void add_leg(struct agenda *a, const struct policy_ops *ops, enum outfox_act act)
{
    const struct trials *t = a->trials;
    const struct policy_setup setup = {.seed = t->seed,
                                       .act = act,
                                       .delay_ns = t->delay_ns,
                                       .nodes = harmed_nodes(t),
                                       .budget = t->budget,
                                       .epsilon = t->epsilon,
                                       .errors = a->errors,
                                       .user = a->user};
    a->leg[a->n_legs] = (struct agenda_leg){.policy = ops, .act = act};
    a->policy[a->n_legs++] = policy_new(ops, &setup);
}

static struct agenda *create(const struct trials *t, policy_errors *errors, void *user)
{
    struct agenda *a = mem_zero(sizeof *a);
    a->trials = t;
    a->errors = errors;
    a->user = user;
    a->usual = usual_new(t);
    a->findings = findings_new(t, errors, user);
    a->references = t->references;
    return a;
}

struct agenda *agenda_new(const struct trials *t, policy_errors *errors, void *user)
{
    struct agenda *a = create(t, errors, user);
    uint32_t acts = 0;
    a->control = t->control;
    for (uint32_t i = 0; i < t->policy_names.n; i++)
        for (uint32_t k = 0; k < sizeof all_acts / sizeof *all_acts; k++)
            if (t->acts & all_acts[k] && a->n_legs < LEGS_MAX)
                add_leg(a, policy_find(t->policy_names.at[i]), all_acts[k]);
    for (uint32_t k = 0; k < sizeof all_acts / sizeof *all_acts; k++)
        acts += (t->acts & all_acts[k]) != 0;
    a->references = a->references > acts ? a->references : acts; /* each knows its requests */
    return a;
}

struct agenda *agenda_new_replay(const struct trials *t, const struct trial_order *point,
                                 uint32_t repeats)
{
    struct agenda *a = create(t, NULL, NULL);
    a->replay = *point;
    a->replay.purpose = TRIAL_REPLAY;
    a->replays = repeats;
    return a;
}

void agenda_free(struct agenda *a)
{
    if (!a)
        return;
    for (uint32_t i = 0; i < a->n_legs; i++)
        policy_free(a->policy[i]);
    for (uint32_t i = 0; i < a->results.n; i++)
        trial_result_free(a->results.at[i]);
    vec_deinit(&a->results);
    vec_deinit(&a->met_sites);
    vec_deinit(&a->met_states);
    findings_free(a->findings);
    usual_free(a->usual);
    mem_free(a);
}

/* ---- what is next ---- */

static enum agenda_answer give(struct agenda *a, struct trial_order *out)
{
    out->number = ++a->number;
    a->under_way++;
    return AGENDA_ORDER;
}

/* The experiment that the nth trial without a fault counts requests for. */
static enum outfox_act nth_act(const struct trials *t, uint32_t n)
{
    enum outfox_act acts[3] = {OUTFOX_ERROR};
    uint32_t known = 0;
    for (uint32_t i = 0; i < 3; i++)
        if (t->acts & all_acts[i])
            acts[known++] = all_acts[i];
    return acts[n % (known ? known : 1)];
}

static enum agenda_answer give_quiet(struct agenda *a, enum trial_purpose purpose, uint32_t n,
                                     struct trial_order *out)
{
    *out = (struct trial_order){.purpose = purpose,
                                .leg = UINT32_MAX,
                                .finding = UINT32_MAX,
                                .rule = OUTFOX_RULE_NONE,
                                .act = a->replays ? a->replay.act : nth_act(a->trials, n),
                                .nodes = harmed_nodes(a->trials)};
    return give(a, out);
}

static void end_leg(struct agenda *a, slice why)
{
    a->leg[a->at_leg].over = true;
    a->leg[a->at_leg].why = why;
    a->at_leg++;
}

static slice idle_words(enum outfox_act act)
{
    return act == OUTFOX_DELAY   ? SLICE("nothing was met that can block, and so be late")
           : act == OUTFOX_SHORT ? SLICE("nothing was met that can do less than it is asked for")
                                 : SLICE("nothing was met that can fail");
}

/* A trial of the leg whose turn it is, or of the first one after it that wants one. */
static enum agenda_answer next_of_legs(struct agenda *a, struct trial_order *out)
{
    while (a->at_leg < a->n_legs) {
        uint32_t at = a->at_leg;
        uint64_t nth = a->asked_in_leg[at] + 1;
        *out = (struct trial_order){.purpose = TRIAL_EXPLORE,
                                    .leg = at,
                                    .in_leg = nth,
                                    .finding = UINT32_MAX,
                                    .seed = outfox_mix(a->trials->seed, nth)};
        if (a->leg[at].idle >= IDLE_MOST) {
            end_leg(a, idle_words(a->leg[at].act));
        } else if (nth > a->trials->max_trials) {
            end_leg(a, SLICE("all its trials were made"));
        } else if (policy_next(a->policy[at], out)) {
            a->asked_in_leg[at] = nth;
            a->under_way_of_leg++;
            return give(a, out);
        } else if (a->under_way_of_leg) {
            return AGENDA_WAIT; /* which may teach it more */
        } else {
            end_leg(a, SLICE("it has nothing left to try"));
        }
    }
    return a->under_way ? AGENDA_WAIT : AGENDA_OVER;
}

static enum agenda_answer next_replay(struct agenda *a, struct trial_order *out)
{
    if (a->asked_replays == a->replays)
        return a->under_way ? AGENDA_WAIT : AGENDA_OVER;
    a->asked_replays++;
    *out = a->replay;
    return give(a, out);
}

enum agenda_answer agenda_next(struct agenda *a, int64_t now_ns, struct trial_order *out)
{
    if (!a->stopped && now_ns >= a->trials->max_time_ns)
        agenda_stop(a, "the time for all trials is over");
    if (a->stopped)
        return a->under_way ? AGENDA_WAIT : AGENDA_OVER;
    if (a->asked_references < a->references)
        return give_quiet(a, TRIAL_REFERENCE, a->asked_references++, out);
    if (a->told_references < a->references)
        return AGENDA_WAIT;
    if (a->replays)
        return next_replay(a, out);
    if (a->asked_control < a->control)
        return give_quiet(a, TRIAL_CONTROL, a->asked_control++, out);
    *out = (struct trial_order){0};
    if (findings_next(a->findings, out))
        return give(a, out);
    return next_of_legs(a, out);
}

void agenda_stop(struct agenda *a, const char *why)
{
    if (a->stopped)
        return;
    (void)snprintf(a->why, sizeof a->why, "%s", why);
    a->stopped = a->why;
    while (a->at_leg < a->n_legs)
        end_leg(a, slice_of(a->stopped));
}

bool agenda_knows(const struct agenda *a, const struct trial_order *order, uint64_t state)
{
    return order->leg < a->n_legs && policy_knows(a->policy[order->leg], state);
}

/* ---- what came of it ---- */

static bool is_among(const uint64_t *all, uint32_t n, uint64_t one)
{
    for (uint32_t i = 0; i < n; i++)
        if (all[i] == one)
            return true;
    return false;
}

static void meet(struct agenda *a, const struct trial_seen *seen)
{
    for (uint32_t i = 0; i < seen->n_points; i++) {
        const struct outfox_point *p = &seen->point[i];
        uint64_t site = (uint64_t)p->module << 32 | p->site, state = policy_state(p);
        if (!is_among(a->met_sites.at, a->met_sites.n, site))
            vec_push(&a->met_sites, site);
        if (!is_among(a->met_states.at, a->met_states.n, state))
            vec_push(&a->met_states, state);
    }
    a->met = (struct agenda_met){.requests = a->met.requests + seen->requests,
                                 .sites = a->met_sites.n,
                                 .states = a->met_states.n,
                                 .trials = a->met.trials + 1};
}

/* All legs of its experiment know of a trial without a fault. */
static void took_reference(struct agenda *a, struct trial_result *r)
{
    struct trial_seen seen = trial_result_seen(r);
    usual_learn(a->usual, r);
    for (uint32_t i = 0; i < a->n_legs; i++)
        if (a->leg[i].act == r->order.act)
            policy_took(a->policy[i], &r->order, &seen);
    meet(a, &seen);
    a->told_references++;
    a->sick = usual_sick(a->usual);
    if (a->sick.n)
        agenda_stop(a, "trials without faults are not as they should be");
    else if (a->told_references == a->references && !a->met.requests && a->n_legs)
        agenda_stop(a, "nothing that can fail was met");
}

static void took_exploring(struct agenda *a, struct trial_result *r)
{
    struct trial_seen seen = trial_result_seen(r);
    struct agenda_leg *leg = &a->leg[r->order.leg];
    a->under_way_of_leg--;
    policy_took(a->policy[r->order.leg], &r->order, &seen);
    leg->trials++;
    leg->injected += r->injection.done;
    leg->suspicious += r->verdict == VERDICT_SUSPICIOUS;
    leg->idle = seen.requests || r->injection.done || r->broken.n ? 0 : leg->idle + 1;
    leg->counts[r->verdict]++;
    if (r->verdict == VERDICT_SUSPICIOUS && r->injection.done)
        findings_add(a->findings, r);
}

void agenda_took(struct agenda *a, struct trial_result *r)
{
    a->under_way--;
    vec_push(&a->results, r);
    if (r->order.purpose == TRIAL_REFERENCE)
        took_reference(a, r);
    trial_judge(a->trials, a->usual, r);
    findings_learn(a->findings, r);
    a->broken = r->broken.n ? a->broken + 1 : 0;
    switch (r->order.purpose) {
    case TRIAL_EXPLORE: took_exploring(a, r); break;
    case TRIAL_AGAIN:
    case TRIAL_VARY: findings_took(a->findings, r); break;
    case TRIAL_REFERENCE:
    case TRIAL_CONTROL:
    case TRIAL_REPLAY:
    case TRIAL_PURPOSES: break;
    }
    trial_result_trim(r);
    if (a->broken == BROKEN_MOST)
        agenda_stop(a, "ten trials in a row could not be carried out");
}

struct agenda_view agenda_view(const struct agenda *a)
{
    return (struct agenda_view){.trials = a->trials,
                                .result = a->results.at,
                                .n_results = a->results.n,
                                .leg = a->leg,
                                .n_legs = a->n_legs,
                                .findings = a->findings,
                                .met = a->met,
                                .stopped = a->stopped ? slice_of(a->stopped) : (slice){0},
                                .sick = a->sick};
}

bool agenda_made_nothing(const struct agenda_view *v)
{
    for (uint32_t i = 0; i < v->n_legs; i++)
        if (v->leg[i].injected)
            return false;
    return v->n_legs > 0;
}
