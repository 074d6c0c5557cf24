/* SPDX-License-Identifier: Apache-2.0
 *
 * How the system reacts to one failing call, all else being fine. Of a run all of whose faults are
 * at or below one call (with its tries) that is known for this call, for the one that was made on
 * its behalf, and so on down to the fault itself: a failure below makes those above it fail as if
 * they had been made to. */
#include "base/hash.h"
#include "judge/view_int.h"

enum { REACTION_FAULTS_MAX = 16, REACTIONS_MAX = 1 << 17 };

/* The first call of the handler with whose equal siblings all faults of the run are; CALL_NONE:
 * they are spread over several. */
static uint32_t faulty_group(const struct view *v, uint32_t handler)
{
    uint32_t n = view_children(v, handler), first = CALL_NONE, sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t c = view_child(v, handler, k);
        if (!v->faults.at[c])
            continue;
        if (first != CALL_NONE && !view_equal(v, first, c))
            return CALL_NONE;
        first = first == CALL_NONE ? c : first;
        sum += v->faults.at[c];
    }
    return sum == v->n_faults ? first : CALL_NONE;
}

/* The first other call that the handler makes only then. */
static uid look_round(const struct view *v, uint32_t handler, uint32_t first)
{
    for (uint32_t k = 0; k < view_children(v, handler); k++) {
        uint32_t c = view_child(v, handler, k);
        if (!view_equal(v, first, c) && !view_usual(v, handler, v->calls[c].uid))
            return v->calls[c].uid;
    }
    return UID_NONE;
}

static uint64_t reaction_key(uid group, label l, bool persistent, bool injected)
{
    return hash_mix(hash_mix(group, l), (uint64_t)persistent << 1 | injected);
}

const struct reaction *reaction_find(const struct judge *j, uid group, label l, bool persistent,
                                     bool injected)
{
    const uint32_t *at = map_get(&j->reaction_at, reaction_key(group, l, persistent, injected));
    return at ? &j->reactions.at[*at] : NULL;
}

bool reaction_soft(const struct judge *j, uid call)
{
    uid group = names_uid_all(j->opt.names, call);
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        if (r->group == group && r->persistent && outcome_ok(r->reply) && r->instead == UID_NONE)
            return true;
    }
    return false;
}

/* Is it not known whether these are tries of one call, or do faults make them fail in different
 * ways? How often it is tried then says nothing about a failure that lasts. */
static bool unclear(const struct view *v, uint32_t handler, uint32_t first, bool persistent)
{
    for (uint32_t k = 0; k < view_children(v, handler); k++) {
        const struct call *c = &v->calls[view_child(v, handler, k)];
        if (!view_equal(v, first, view_child(v, handler, k)))
            continue;
        if (c->flags & CALL_AMBIGUOUS)
            return true;
        if (persistent && v->faults.at[view_child(v, handler, k)] && call_failed(c) &&
            call_way(c) != call_way(&v->calls[first]))
            return true;
    }
    return false;
}

/* Its tries: how many more equal calls there are than without faults. (In a loop over items the
 * next of them is no try of the one that failed.) */
static void look_at_tries(const struct view *v, uint32_t handler, uint32_t first,
                          struct reaction *r)
{
    uint32_t n = view_children(v, handler), made = 0, usual = 0;
    const struct base *b = &v->judge->base;
    bool all_failed = true;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t c = view_child(v, handler, k);
        if (!view_equal(v, first, c))
            continue;
        made++;
        if (c < first)
            continue;
        all_failed &= call_failed(&v->calls[c]);
        r->injected |= v->calls[c].mode != MODE_NONE;
    }
    uint32_t twin = v->twin.at[handler];
    for (uint32_t k = b->order.first.at[twin]; k < b->order.first.at[twin + 1]; k++)
        usual += names_uid_all(v->judge->opt.names, b->trace.calls.at[b->order.child.at[k]].uid) ==
                 r->group;
    r->tries = 1 + (usual && made > usual ? made - usual : usual ? 0 : made - 1);
    r->persistent = r->tries == 1 || all_failed;
}

enum alike reaction_alike(const struct judge *j, const struct reaction *r)
{
    const struct usual_answer *usual = answers_find(&j->base.usual, r->request);
    if (r->same_body)
        return ALIKE_SAME;
    return usual && r->body != POOL_NONE ? mask_compare(&usual->mask, pool_text(&j->pool, r->body))
                                         : ALIKE_UNKNOWN;
}

/* What the client got in the end. */
static void look_at_answer(const struct view *v, uint32_t first, struct reaction *r)
{
    const struct request *request = view_request(v, first);
    r->status = request ? request->status : v->run->verdict.status;
    r->ok = outcome_ok(r->status);
    r->body = POOL_NONE;
    if (!request)
        return;
    r->request = v->calls[request->call].uid;
    r->same_body = request_alike(request) == ALIKE_SAME;
    if (r->ok && !r->same_body && request->told)
        r->body = pool_put(&v->judge->pool, request->body);
}

static void remember(const struct view *v, uint32_t handler, uint32_t first)
{
    struct judge *j = v->judge;
    const struct call *c = &v->calls[first];
    uid group = names_uid_all(j->opt.names, c->uid);
    struct reaction r = {.group = group,
                         .call = c->uid,
                         .label = call_way(c),
                         .saw = c->seen,
                         .pass = run_expected(v->run),
                         .reply = v->calls[handler].reply,
                         .seen = v->calls[handler].seen,
                         .faultload = v->run->faultload,
                         .number = v->run->number};
    look_at_tries(v, handler, first, &r);
    uint64_t key = reaction_key(group, r.label, r.persistent, r.injected);
    const uint32_t *at = map_get(&j->reaction_at, key);
    if ((at && !judge_precedes(j, r.faultload, j->reactions.at[*at].faultload)) ||
        (!at && j->reactions.n == REACTIONS_MAX) ||
        (r.tries > 1 && unclear(v, handler, first, r.persistent)))
        return;
    look_at_answer(v, first, &r);
    r.instead = look_round(v, handler, first);
    if (at) {
        j->reactions.at[*at] = r;
        return;
    }
    map_set(&j->reaction_at, key, j->reactions.n);
    vec_push(&j->reactions, r);
}

void reaction_learn(const struct view *v)
{
    uint32_t handler = 0;
    if (v->n_faults == 0 || v->n_faults > REACTION_FAULTS_MAX)
        return;
    while (v->twin.at[handler] != CALL_NONE) {
        uint32_t first = faulty_group(v, handler);
        if (first == CALL_NONE)
            return;
        if (call_failed(&v->calls[first]))
            remember(v, handler, first);
        if (v->faults.at[first] != v->n_faults || v->calls[first].mode != MODE_NONE)
            return;
        handler = first;
    }
}
