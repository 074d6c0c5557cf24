/* SPDX-License-Identifier: Apache-2.0
 *
 * partial-effects: the client gets an error, and something was done nevertheless. skipped-effect:
 * it gets a success, and something was not done.
 *
 * Where the user has said how often a call must have its effect, that decides. Else it is inferred:
 * a handler that saw its call succeed and answers with an error leaves the effect behind, unless a
 * call that it makes only then takes it back. And a call that is needed in one mode is not
 * unneeded in another.
 *
 * 1. A caller is blamed only for what it saw succeed: not for what a lost reply has kept from it.
 * 2. Taking back that was tried counts: what else could the caller do when that fails too?
 * 3. What the system can do without (its failure is absorbed) is nothing that must be taken back.
 *    While not all was tried, that is also assumed of what never failed.
 * 4. Of effects on behalf of each other only the topmost is told. */
#include "judge/oracle_int.h"

/* ---- what takes an effect back ---- */

/* By its name: DELETE, or cancel, refund ... of the same service. What is called without faults
 * too may be another thing that ends, unless it is the very one: a lock is released, come what may.
 * That has the same path, or one below it: PUT /locks/j, DELETE /locks/j. */
static bool undoes_by_name(const struct view *v, uint32_t effect, uint32_t i)
{
    slice done = view_interface(v, effect), undo = view_interface(v, i);
    if (view_service(v, effect) != view_service(v, i) || !sounds_like_undo(undo))
        return false;
    if (!view_usual(v, i))
        return true;
    size_t blank = slice_find(done, ' ');
    slice path = slice_from(done, blank), other = slice_from(undo, slice_find(undo, ' '));
    return blank < done.n && other.n >= path.n && memcmp(path.p, other.p, path.n) == 0 &&
           (other.n == path.n || other.p[path.n] == '/');
}

bool view_undoes(const struct view *v, uint32_t effect, uint32_t i)
{
    const struct judge_settings *s = v->judge->set;
    bool told = false, undo = false;
    for (uint32_t k = 0; k < s->undo.n && !undo; k++) {
        if (!pattern_matches(&s->undo.at[k].effect, v->names, v->calls[effect].uid))
            continue;
        told = true;
        undo = pattern_matches(&s->undo.at[k].undo, v->names, v->calls[i].uid);
    }
    return told ? undo : undoes_by_name(v, effect, i);
}

bool view_undone(const struct view *v, uint32_t effect, uint32_t until)
{
    for (uint32_t i = effect + 1; i < until; i++)
        if (view_undoes(v, effect, i))
            return true;
    return false;
}

/* ---- rules of the user ---- */

/* Has the user said how often this is done? */
static bool ruled(const struct judge *j, uid call)
{
    for (uint32_t i = 0; i < j->set->effects.n; i++)
        if (j->set->effects.at[i].counted &&
            pattern_matches(&j->set->effects.at[i].calls, j->opt.names, call))
            return true;
    return false;
}

static void add_witness(struct witness *w, uint32_t *n, uint32_t call, const char *role)
{
    for (uint32_t i = 0; i < *n; i++)
        if (w[i].call == call)
            return;
    if (*n < EVIDENCE_MAX)
        w[(*n)++] = (struct witness){call, role};
}

static void rule_see(const struct view *v, uint32_t rule)
{
    const struct effect_rule *r = &v->judge->set->effects.at[rule];
    struct judge *j = v->judge;
    outcome status = view_status(v);
    bool ok = outcome_ok(status);
    struct witness w[EVIDENCE_MAX];
    uint32_t n;
    if (effect_rule_check(r, v->names, &v->run->trace, status, &n))
        return;
    struct effect_bounds bounds = effect_rule_bounds(r, status);
    for (uint32_t i = 1; i < v->n && !ok && n > bounds.high;
         i++) /* what was taken back is not left */
        n -= call_done(&v->calls[i]) && pattern_matches(&r->calls, v->names, v->calls[i].uid) &&
             view_undone(v, i, v->n);
    if (n >= bounds.low && n <= bounds.high)
        return;
    enum oracle o = !ok && n > bounds.high ? ORACLE_PARTIAL_EFFECTS : ORACLE_SKIPPED_EFFECT;
    const struct trace *calm = &j->calm.trace;
    uid subject = v->calls[0].uid; /* the call that the rule is about without faults, else this */
    for (uint32_t i = calm->calls.n; i-- > 1;)
        if (pattern_matches(&r->calls, v->names, calm->calls.at[i].uid))
            subject = calm->calls.at[i].uid;
    topic t = topic_of(subject, rule + 1);
    if (!remark_due(v, o, t))
        return;
    uint32_t shown =
        0; /* the calls that match, whether they had their effect or not, then faults */
    for (uint32_t i = 1; i < v->n; i++)
        if (pattern_matches(&r->calls, v->names, v->calls[i].uid))
            add_witness(w, &shown, i, call_done(&v->calls[i]) ? "side effect" : "not done");
    for (uint32_t i = 1; i < v->n; i++)
        if (v->calls[i].mode != MODE_NONE)
            add_witness(w, &shown, i, "failed");
    remark_write(v, o, t, w, shown, "\"%s\" is violated: the client gets %s, and it was done %u %s",
                 r->text, say_outcome(j, status), (unsigned)n, plural(n, "time", "times"));
}

/* ---- effects that are left behind ---- */

/* A request of the client: the scenario's own, or one of a command. */
static bool is_request(const struct view *v, uint32_t i)
{
    return i == 0 || (v->calls[i].parent == 0 && v->calls[i].flags & CALL_EXEMPT);
}

/* The handler that knew of the effect and answered with an error, which has reached the client;
 * CALL_NONE: there is none. */
static uint32_t blamed(const struct view *v, uint32_t effect)
{
    uint32_t h = v->calls[effect].parent, top;
    while (outcome_ok(v->calls[h].reply)) {
        if (is_request(v, h) || call_failed(&v->calls[h]))
            return CALL_NONE;
        h = v->calls[h].parent;
    }
    for (top = h; !is_request(v, top);)
        top = v->calls[top].parent;
    uint32_t twin = v->twin.at[top];
    bool fine = twin != CALL_NONE && !call_failed(&v->judge->calm.trace.calls.at[twin]);
    return fine && call_failed(&v->calls[top]) ? h : CALL_NONE;
}

static void effect_see(const struct view *v, uint32_t i)
{
    struct judge *j = v->judge;
    const struct call *c = &v->calls[i];
    if (view_reads(v, i) || !call_done(c) || call_failed(c) || is_request(v, i))
        return;
    uint32_t handler = blamed(v, i), failure = CALL_NONE;
    if (handler == CALL_NONE || !view_usual(v, i) || view_undone(v, i, v->n))
        return;
    /* up to the handler: is a call that it is part of taken back, or an effect itself? */
    for (uint32_t k = c->parent; k != handler; k = v->calls[k].parent)
        if (!view_reads(v, k) || view_undone(v, k, v->n))
            return;
    if (ruled(j, c->uid) || !remark_due(v, ORACLE_PARTIAL_EFFECTS, c->uid))
        return;
    /* why the handler failed: the last of its calls that did, else a fault below it */
    uint32_t last = view_failure(v, handler, view_children(v, handler));
    if (last != CALL_NONE)
        failure = view_child(v, handler, last);
    for (uint32_t k = handler + 1; k < v->n && failure == CALL_NONE; k++)
        if (v->calls[k].mode != MODE_NONE && view_below(v, handler, k))
            failure = k;
    struct witness w[] = {{i, "side effect"}, {failure, "failed"}};
    remark_write(v, ORACLE_PARTIAL_EFFECTS, c->uid, w, failure == CALL_NONE ? 1 : 2,
                 "%s answers %s although %s was done, and nothing undoes it",
                 say_name(j, v->calls[handler].uid), say_outcome(j, v->calls[handler].reply),
                 say_name(j, c->uid));
}

void oracle_effects(const struct view *v)
{
    const struct judge_settings *s = v->judge->set;
    bool failed = false;
    if (v->run->flags & (RUN_HUNG | RUN_CRASHED | RUN_OUTLIVED))
        return; /* what was done is not known to the end */
    for (uint32_t i = 0; i < s->effects.n; i++)
        if (s->effects.at[i].counted)
            rule_see(v, i);
    for (uint32_t i = 0; i < v->requests.n; i++)
        failed |= !outcome_ok(v->requests.at[i].status);
    if (s->severity[ORACLE_PARTIAL_EFFECTS] == SEVERITY_OFF || !failed)
        return;
    for (uint32_t i = 1; i < v->n; i++)
        effect_see(v, i);
}

/* ---- at the end ---- */

/* The client does not notice that this call, with all its tries, has failed. */
static bool absorbed(const struct reaction *r)
{
    return r->persistent && outcome_ok(r->status) && outcome_ok(r->reply) && r->instead == UID_NONE;
}

/* The call did not happen, and the answer says as much as it does without faults. Not: an answer
 * that says that it is as one wants it already. */
static bool skips(const struct judge *j, const struct reaction *r)
{
    outcome o = label_outcome(r->label);
    bool reached = r->label & LABEL_MODE && mode_reached(r->label & ~LABEL_MODE);
    const struct usual_answer *usual = answers_find(&j->calm.usual, r->request);
    if (!absorbed(r) || reached || !usual || r->status != usual->status ||
        reaction_alike(j, r) != ALIKE_SAME)
        return false;
    bool gone =
        o == OUTCOME(OUT_STATUS, 404) || o == OUTCOME(OUT_STATUS, 410) || o == OUTCOME(OUT_GRPC, 5);
    slice interface = names_text(j->opt.names, uid_element(j->opt.names, r->call)->interface);
    return o != OUTCOME(OUT_STATUS, 409) && o != OUTCOME(OUT_GRPC, 6) &&
           !(gone && sounds_like_undo(interface));
}

/* What need not be taken back because it is not needed. Of what never failed, because not all was
 * tried, that is not known. */
static void unsay_unneeded(struct judge *j)
{
    enum { FAILED = 1, SOFT };
    struct map seen = {0};
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        if (absorbed(r) || !map_get(&seen, r->group))
            map_set(&seen, r->group, absorbed(r) ? SOFT : FAILED);
    }
    for (struct remark *r = NULL; (r = remark_next(j, ORACLE_PARTIAL_EFFECTS, r));) {
        uid call = r->evidence[0].call;
        const uint32_t *fate = map_get(&seen, names_uid_all(j->opt.names, call));
        bool needless = fate ? *fate == SOFT : !j->complete;
        if (needless && !effect_listed(j->set, j->opt.names, call))
            r->why = NULL;
    }
    map_deinit(&seen);
}

void oracle_effects_end(struct judge *j)
{
    struct map needed = {0}; /* group -> a reaction that shows it */
    unsay_unneeded(j);
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        enum outcome_kind kind = outcome_kind(label_outcome(r->label));
        /* an answer that says that it failed fails the client. A timeout would do so because it
         * takes time */
        if (r->persistent && !outcome_ok(r->status) && kind != OUT_NONE && kind != OUT_TIMEOUT &&
            kind != OUT_CANCELLED)
            (void)map_index(&needed, r->group, i);
    }
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        const uint32_t *at = map_get(&needed, r->group);
        if (!at || *at == UINT32_MAX || judge_effect(j, r->call) == EFFECT_READ || !skips(j, r) ||
            ruled(j, r->call))
            continue;
        const struct reaction *hard = &j->reactions.at[*at];
        map_set(&needed, r->group, UINT32_MAX); /* once is enough */
        remark_conclude(j, ORACLE_SKIPPED_EFFECT, r->call, r,
                        "%s is skipped when it fails with %s, and the client gets %s as if it had "
                        "been done; when it fails with %s, the client gets %s",
                        say_name(j, r->call), say_outcome(j, label_outcome(r->label)),
                        say_outcome(j, r->status), say_outcome(j, label_outcome(hard->label)),
                        say_outcome(j, hard->status));
    }
    map_deinit(&needed);
}
