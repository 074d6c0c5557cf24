/* SPDX-License-Identifier: Apache-2.0
 *
 * How the system reacts to one failing call, all else being fine. Of a run all of whose faults are
 * at or below one call (with its tries) that is known for this call, for the one that was made on
 * its behalf, and so on down to the fault itself: a failure below makes those above it fail as if
 * they had been made to. */

#include <assert.h>

#include "base/hash.h"
#include "judge/oracle_int.h"

enum { REACTION_FAULTS_MAX = 16, REACTIONS_MAX = 1 << 17 };

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

/* How often was the handler's call tried, and did all tries fail? False: it is not known whether
 * these are tries of one call, or faults make them fail in different ways; how often it is tried
 * then says nothing about a failure that lasts. */
static bool look_at_tries(const struct view *v, uint32_t handler, uint32_t first,
                          struct reaction *r)
{
    const struct calm *calm = &v->judge->calm;
    uint32_t made = 0, usual = 0, twin = v->twin.at[handler];
    bool all_failed = true, one_call = true, one_way = true;
    for (uint32_t k = 0; k < view_children(v, handler); k++) {
        uint32_t i = view_child(v, handler, k);
        const struct call *c = &v->calls[i];
        if (!view_equal(v, first, i))
            continue;
        made++;
        one_call &= !(c->flags & CALL_AMBIGUOUS);
        one_way &= !v->faults.at[i] || !call_failed(c) || call_way(c) == r->label;
        if (i < first)
            continue;
        all_failed &= call_failed(c);
        r->injected |= c->mode != MODE_NONE;
    }
    for (uint32_t k = 0; k < calm_children(calm, twin); k++)
        usual += names_uid_all(v->judge->opt.names, calm_child(calm, twin, k)->uid) == r->group;
    r->tries = 1 + (usual && made > usual ? made - usual : usual ? 0 : made - 1);
    r->persistent = r->tries == 1 || all_failed;
    return r->tries == 1 || (one_call && (one_way || !r->persistent));
}

enum alike reaction_alike(const struct judge *j, const struct reaction *r)
{
    const struct usual_answer *usual = answers_find(&j->calm.usual, r->request);
    if (r->same_body)
        return ALIKE_SAME;
    return usual && r->body != INTERN_NONE
               ? mask_compare(&usual->mask, intern_text(&j->pool, r->body))
               : ALIKE_UNKNOWN;
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
                         .status = v->run->verdict.status,
                         .body = INTERN_NONE,
                         .reply = v->calls[handler].reply,
                         .seen = v->calls[handler].seen,
                         .faultload = v->run->faultload,
                         .number = v->run->number};
    bool clear = look_at_tries(v, handler, first, &r);
    uint64_t key = reaction_key(group, r.label, r.persistent, r.injected);
    const uint32_t *at = map_get(&j->reaction_at, key);
    if ((at && !judge_prefers(j, r.faultload, j->reactions.at[*at].faultload)) ||
        (!at && j->reactions.n == REACTIONS_MAX) || !clear)
        return;
    const struct request *request = view_request(v, first);
    if (request) { /* what the client got in the end */
        r.status = request->status;
        r.request = v->calls[request->call].uid;
        r.same_body = request_alike(request) == ALIKE_SAME;
        if (outcome_ok(r.status) && !r.same_body && request->told)
            r.body = intern_put(&j->pool, request->body);
    }
    r.ok = outcome_ok(r.status);
    for (uint32_t k = 0; k < view_children(v, handler) && r.instead == UID_NONE; k++) {
        uint32_t other = view_child(v, handler, k);
        if (!view_equal(v, first, other) && !view_usual(v, other))
            r.instead = v->calls[other].uid;
    }
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
    if (v->n_faults == 0 || v->n_faults > REACTION_FAULTS_MAX || view_harmed(v))
        return;
    while (v->twin.at[handler] != CALL_NONE) {
        uint32_t first = CALL_NONE, sum = 0; /* with whose equal siblings all faults must be */
        for (uint32_t k = 0; k < view_children(v, handler); k++) {
            uint32_t c = view_child(v, handler, k);
            if (!v->faults.at[c])
                continue;
            first = first == CALL_NONE ? c : first;
            sum += view_equal(v, first, c) ? v->faults.at[c] : 0;
        }
        if (first == CALL_NONE || sum != v->n_faults)
            return;
        if (call_failed(&v->calls[first]))
            remember(v, handler, first);
        if (v->faults.at[first] != v->n_faults || v->calls[first].mode != MODE_NONE)
            return;
        handler = first;
    }
}

/* ---- contrasts ---- */

/* Only error answers are compared, and by how grave they are: 503 says that the work was not begun,
 * 502 and 504 that it may have been, 500 that it went wrong. Who passes over the former and not
 * the latter may have a reason. One pass: of every dependency the gravest error that is silent and
 * the mildest that shows are kept. If any two contrast, these do. */

enum { NOT_BEGUN = 1, PERHAPS, WENT_WRONG };

static const struct {
    outcome answer;
    int grave;
} answers[] = {
    {OUTCOME(OUT_STATUS, 503), NOT_BEGUN}, {OUTCOME(OUT_STATUS, 502), PERHAPS},
    {OUTCOME(OUT_STATUS, 504), PERHAPS},   {OUTCOME(OUT_STATUS, 500), WENT_WRONG},
    {OUTCOME(OUT_GRPC, 14), NOT_BEGUN},    {OUTCOME(OUT_GRPC, 4), PERHAPS},
    {OUTCOME(OUT_GRPC, 2), WENT_WRONG},    {OUTCOME(OUT_GRPC, 13), WENT_WRONG},
};

/* 0: nothing that can be compared. A label that is a mode is none: then there is more to the call
 * than its answer. */
static int grave(const struct reaction *r)
{
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].answer == r->label)
            return answers[i].grave;
    return 0;
}

struct pair {
    uint32_t silent, shows; /* reactions; UINT32_MAX: none yet */
};

/* Is a to be kept rather than b? sign 1: the graver, -1: the milder; then the smaller status, and
 * the one where the fault is at the call itself, so that the order of runs does not matter. */
static bool rather(const struct judge *j, uint32_t a, uint32_t b, int sign)
{
    if (b == UINT32_MAX)
        return true;
    const struct reaction *x = &j->reactions.at[a], *y = &j->reactions.at[b];
    int order = sign * (grave(x) - grave(y));
    if (order || x->label != y->label)
        return order ? order > 0 : x->label < y->label;
    return x->injected && !y->injected;
}

void contrast_find(struct judge *j,
                   enum contrast (*side)(const struct judge *j, const struct reaction *r),
                   void (*tell)(struct judge *j, const struct reaction *silent,
                                const struct reaction *shows))
{
    struct map at = {0}; /* group -> its pair */
    VEC(struct pair) pairs = {0};
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        enum contrast is = r->persistent && grave(r) ? side(j, r) : CONTRAST_NEITHER;
        if (is == CONTRAST_NEITHER)
            continue;
        uint32_t k = map_index(&at, r->group, pairs.n);
        if (k == pairs.n)
            vec_push(&pairs, (struct pair){UINT32_MAX, UINT32_MAX});
        assert(pairs.at); /* the linter cannot know */
        if (is == CONTRAST_SILENT && rather(j, i, pairs.at[k].silent, 1))
            pairs.at[k].silent = i;
        if (is == CONTRAST_SHOWS && rather(j, i, pairs.at[k].shows, -1))
            pairs.at[k].shows = i;
    }
    for (uint32_t k = 0; k < pairs.n; k++) {
        if (pairs.at[k].silent == UINT32_MAX || pairs.at[k].shows == UINT32_MAX)
            continue;
        const struct reaction *silent = &j->reactions.at[pairs.at[k].silent],
                              *shows = &j->reactions.at[pairs.at[k].shows];
        if (grave(silent) >= grave(shows))
            tell(j, silent, shows);
    }
    map_deinit(&at);
    vec_deinit(&pairs);
}
