/* SPDX-License-Identifier: Apache-2.0
 *
 * uneven-retry: a handler tries one call again after a failure, and not another of the same kind.
 * uneven-fallback: a handler goes on without some of the things that it reads, and not without
 * others.
 *
 * Both compare how one handler reacts to the same failure (label) of different calls that it makes
 * without faults. What others do is the measure: it shows that the handler was meant to survive
 * such a failure.
 *
 * 1. A call with an effect that must not be repeated is never said to lack a retry.
 * 2. Not everybody repeats what went wrong within the service (500), so nothing is said of that
 *    where the call is tried again after other failures.
 * 3. One read that a handler cannot do without may be what it is for. So uneven-fallback speaks
 *    only where at least two reads are needed, and at least two others are not.
 * 4. That an order goes on without discounts says nothing about the cart. What is absorbed counts
 *    where it is of the same kind (the same interface of another service), or where somebody cared
 *    to ask another service instead. */
#include <assert.h>

#include "base/hash.h"
#include "judge/oracle_int.h"

enum { HABIT = 2 }; /* so many make a habit */

/* What a handler does when one of its calls fails in a certain way. */
struct habit {
    uid tried[2][2];           /* [is a read]: siblings that are tried again */
    uint32_t needed, absorbed; /* reads, by what becomes of the handler when they fail for good;
                                  absorbed ones only where they are a measure */
    uid one;                   /* that is absorbed */
};

struct habits {
    struct judge *judge;
    struct map at; /* (handler, interface, label) */
    VEC(struct habit) all;
    struct map tried; /* groups that are tried again after some failure */
};

/* ---- the siblings of a call ---- */

/* What is known of a call's failing so, by what it came to. */
static const struct reaction *known(const struct judge *j, uid group, label l, bool persistent)
{
    const struct reaction *r = reaction_find(j, group, l, persistent, true);
    return r ? r : reaction_find(j, group, l, persistent, false);
}

/* The k-th call that the handler of r's call makes without faults, as a group; UID_NONE: there are
 * no more. */
static uid sibling(const struct judge *j, const struct reaction *r, uint32_t k)
{
    uint32_t handler = calm_find(&j->calm, uid_parent(j->opt.names, r->group));
    if (handler == CALL_NONE || k >= calm_children(&j->calm, handler))
        return UID_NONE;
    const struct call *c = calm_child(&j->calm, handler, k);
    if (c->flags & CALL_EXEMPT)
        return UID_NONE; /* the handler is the scenario's client, a test */
    return names_uid_all(j->opt.names, c->uid);
}

/* A failure that may be over soon. One that says what is wrong with the request (404, say) is an
 * answer, to which calls may well be handled differently. */
static bool transient(label l)
{
    outcome o = label_outcome(l);
    uint32_t code = outcome_code(o);
    const uint32_t grpc = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8 | 1u << 10 | 1u << 13 | 1u << 14;
    if (outcome_kind(o) == OUT_STATUS)
        return code == 408 || code == 429 || (code >= 500 && code != 501 && code != 505);
    return outcome_kind(o) != OUT_GRPC || (code < 32 && grpc >> code & 1);
}

/* ---- habits ---- */

/* A try at once is no measure: that it is made at all may be the mistake (retry-without-effect). */
static bool waits_and_tries(struct judge *j, const struct reaction *r)
{
    return r && r->tries > 1 && pace_waits(j, r->call, r->saw);
}

static sym interface_of(const struct judge *j, uid call)
{
    return uid_element(j->opt.names, call)->interface;
}

static struct habit learn_habit(struct judge *j, const struct reaction *r)
{
    struct habit h = {0};
    uid group;
    struct map seen = {0}; /* equal siblings are one group */
    for (uint32_t k = 0; (group = sibling(j, r, k)) != UID_NONE; k++) {
        enum effect kind = judge_effect(j, group);
        uid *tried = h.tried[kind == EFFECT_READ]; /* two: one of them is not r's call itself */
        if (kind == EFFECT_ONCE || map_count(&seen, group) > 1)
            continue;
        /* what is taken back or given up is tried again by those who try nothing else */
        if (tried[1] == UID_NONE &&
            (waits_and_tries(j, known(j, group, r->label, true)) ||
             waits_and_tries(j, known(j, group, r->label, false))) &&
            !sounds_like_undo(names_text(j->opt.names, interface_of(j, group))))
            tried[tried[0] != UID_NONE] = group;
        const struct reaction *x = known(j, group, r->label, true);
        if (!x || kind != EFFECT_READ)
            continue;
        bool same_kind = interface_of(j, group) == interface_of(j, r->group);
        bool absorbed = outcome_ok(x->reply) && (same_kind || x->instead != UID_NONE);
        h.one = absorbed && h.one == UID_NONE ? x->group : h.one;
        h.absorbed += absorbed;
        h.needed += !outcome_ok(x->reply);
    }
    map_deinit(&seen);
    return h;
}

/* Of the handler that made r's call, when a call fails as that did, and by what r's is measured. */
static const struct habit *habit_of(struct habits *all, const struct reaction *r)
{
    uint64_t key = hash_mix(hash_mix(uid_parent(all->judge->opt.names, r->group), r->label),
                            interface_of(all->judge, r->group));
    uint32_t at = map_index(&all->at, key, all->all.n);
    if (at == all->all.n)
        vec_push(&all->all, learn_habit(all->judge, r));
    assert(at < all->all.n);
    return &all->all.at[at];
}

/* ---- uneven-retry ---- */

/* The sibling that is tried again where r's call is not; UID_NONE: there is none. */
static uid retry_missing(struct habits *all, const struct reaction *r)
{
    struct judge *j = all->judge;
    enum effect kind = judge_effect(j, r->call);
    if (r->tries > 1 || outcome_ok(r->reply) || r->instead != UID_NONE || kind == EFFECT_ONCE ||
        !transient(r->label) ||
        calm_equal(j, r->call, 0) != 1) /* in a loop a try may be taken for the next item */
        return UID_NONE;
    /* not a failure to be reached: the service had the request, and broke */
    bool broke = r->label == OUTCOME(OUT_STATUS, 500) || r->label == OUTCOME(OUT_GRPC, 2) ||
                 r->label == OUTCOME(OUT_GRPC, 13);
    if (broke && map_get(&all->tried, r->group))
        return UID_NONE;
    const uid *tried = habit_of(all, r)->tried[kind == EFFECT_READ];
    return tried[0] == r->group ? tried[1] : tried[0];
}

/* ---- uneven-fallback ---- */

/* The calls that r's handler cannot do without, "a, b or c", where r's is the first of them: they
 * are one decision, and told as one. shown: by group, the reaction that shows best that it lacks a
 * fallback; but: groups that are absorbed in another mode, where it depends on the mode. */
static void tell_fallback(struct habits *all, const struct map *shown, const struct map *but,
                          const struct reaction *r)
{
    struct judge *j = all->judge;
    const struct habit *h = habit_of(all, r);
    VEC(uid) lacking = {0};
    struct map seen = {0};
    uid group;
    for (uint32_t k = 0; (group = sibling(j, r, k)) != UID_NONE; k++) {
        const uint32_t *at = map_get(shown, group);
        if (at && j->reactions.at[*at].reply == r->reply && !map_get(but, group) &&
            map_count(&seen, group) == 1)
            vec_push(&lacking, j->reactions.at[*at].call);
    }
    struct buf calls = BUF_INIT(1 << 12);
    for (uint32_t i = 0; i < lacking.n; i++)
        buf_addf(&calls, "%s%s",
                 i == 0              ? ""
                 : i + 1 < lacking.n ? ", "
                                     : " or ",
                 say_name(j, lacking.at[i]));
    if (lacking.n && lacking.at[0] == r->call)
        remark_conclude(j, ORACLE_UNEVEN_FALLBACK, r->call, r,
                        "%s answers %s when %s fails, but goes on without %s and %u other%s",
                        say_service(j, uid_parent(j->opt.names, r->group)),
                        say_outcome(j, r->reply), buf_text(&calls), say_name(j, h->one),
                        h->absorbed - 1, h->absorbed == 2 ? "" : "s");
    buf_deinit(&calls);
    map_deinit(&seen);
    vec_deinit(&lacking);
}

/* ---- both ---- */

/* Of several labels that show it, the same one is said whatever the order of the runs was. */
static void pick(struct judge *j, struct map *picked, uint32_t i)
{
    const uint32_t *at = map_get(picked, j->reactions.at[i].group);
    if (!at || j->reactions.at[i].label < j->reactions.at[*at].label)
        map_set(picked, j->reactions.at[i].group, i);
}

void oracle_uneven_end(struct judge *j)
{
    struct habits all = {.judge = j};
    struct map retry = {0}, fallback = {0}, absorbed = {0};
    for (uint32_t i = 0; i < j->reactions.n; i++)
        if (waits_and_tries(j, &j->reactions.at[i]))
            map_set(&all.tried, j->reactions.at[i].group, 1);
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        if (r->persistent && outcome_ok(r->reply))
            map_set(&absorbed, r->group, 1);
        if (retry_missing(&all, r) != UID_NONE)
            pick(j, &retry, i);
        if (!r->persistent || r->tries > 1 || r->instead != UID_NONE || outcome_ok(r->reply) ||
            r->ok || !transient(r->label) || judge_effect(j, r->call) != EFFECT_READ)
            continue;
        const struct habit *h = habit_of(&all, r);
        if (h->needed >= HABIT && h->absorbed >= HABIT)
            pick(j, &fallback, i);
    }
    for (uint32_t i = 0; i < j->reactions.n; i++) {
        const struct reaction *r = &j->reactions.at[i];
        const uint32_t *a = map_get(&retry, r->group), *b = map_get(&fallback, r->group);
        if (a && *a == i)
            remark_conclude(j, ORACLE_UNEVEN_RETRY, r->call, r,
                            "%s retries %s after %s, but not %s, and answers %s",
                            say_service(j, uid_parent(j->opt.names, r->group)),
                            say_name(j, retry_missing(&all, r)), say_label(j, r->label),
                            say_name(j, r->call), say_outcome(j, r->reply));
        if (b && *b == i)
            tell_fallback(&all, &fallback, &absorbed, r);
    }
    map_deinit(&retry);
    map_deinit(&fallback);
    map_deinit(&absorbed);
    map_deinit(&all.at);
    map_deinit(&all.tried);
    vec_deinit(&all.all);
}
