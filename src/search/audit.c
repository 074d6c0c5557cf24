/* SPDX-License-Identifier: Apache-2.0
 *
 * The audit: a random share of what reductions skipped is run after all, when everything else is
 * done. If the assumption holds, such a run shows nothing that the others did not: no new call, no
 * new answer of a handler, no new verdict. Reductions that change only how a transcript is labelled
 * must not even show a new transcript, with all failures read as one. Facts are kept as 64-bit
 * hashes. */
#include "search/search_int.h"

#include "base/hash.h"

enum fact { FACT_CALL = 1, FACT_REPLY, FACT_VERDICT, FACT_SHAPE };

static const struct {
    enum fact fact;
    const char *what;
} fact_rows[] = {
    {FACT_CALL, "a call that no other run made"},
    {FACT_REPLY, "an answer that this handler gave in no other run"},
    {FACT_VERDICT, "a verdict that no other run had"},
    {FACT_SHAPE, "a course of calls that this handler took in no other run"},
};

/* Under these a skipped run's transcripts are known but for which failure it was. */
static bool keeps_shapes(enum reduction r)
{
    return r == REDUCE_STATELESS || r == REDUCE_MODES || r == REDUCE_MODES_ONCE;
}

bool audit_draws(struct search *s)
{
    if (s->opt.audit <= 0)
        return false;
    double draw = (double)(rng_next(&s->audit_rng) >> 11) / (double)(1ull << 53) * 100;
    return draw < s->opt.audit;
}

void audit_add(struct search *s, faultload f, enum reduction why)
{
    vec_push(&s->to_audit, (struct audit_item){{f, NODE_NONE}, why});
}

/* The path with the first of equal siblings in place of each: under `retries` it does not matter
 * which try it is. */
static uid first_of(struct search *s, uid u)
{
    if (u == UID_NONE)
        return u;
    struct element el = *uid_element(s->names, u);
    el.n = 0;
    uid parent = first_of(s, uid_parent(s->names, u));
    return names_uid(s->names, parent, names_element(s->names, el));
}

/* Which calls are the same call, as far as the reductions in use are concerned. */
static uid alike(struct search *s, uid u)
{
    return ASSUMES(s, REDUCE_RETRIES) ? first_of(s, u) : u;
}

/* Adds a fact; reports it when it is new in an audited run. */
static bool learn(struct search *s, enum fact fact, uint64_t hash, uid point)
{
    hash = hash_mix(fact, hash);
    if (map_get(&s->facts, hash))
        return false;
    map_set(&s->facts, hash, 1);
    if (s->now.purpose != FOR_AUDIT || (fact == FACT_SHAPE && !keeps_shapes(s->now.audited)))
        return false;
    suspect_add(s, (struct suspect){.kind = SUSPECT_AUDIT,
                                    .faultload = s->now.item.faultload,
                                    .point = point,
                                    .reduction = reduction_rows[s->now.audited].name,
                                    .what = fact_rows[fact - 1].what});
    return true;
}

static uint64_t shape_of(const struct search *s, const struct trace *trace, uint32_t handler)
{
    const struct reading *r = &s->reading;
    uint64_t hash = trace->calls.at[handler].reply;
    for (uint32_t i = r->order.first.at[handler]; i < r->order.first.at[handler + 1]; i++) {
        const struct call *c = &trace->calls.at[r->order.child.at[i]];
        label l = call_label(c);
        bool failed = l & LABEL_MODE ? !mode_reached(l & ~LABEL_MODE) : !outcome_ok(l);
        hash = hash_mix(hash, s->names->uids.at[c->uid].element);
        hash = hash_mix(hash, failed ? UINT32_MAX : l);
    }
    return hash;
}

void audit_observe(struct search *s, const struct trace *trace, const struct verdict *verdict)
{
    bool new = false; /* one disagreement per run is enough to tell */
    for (uint32_t i = 1; i < trace->calls.n && !new; i++) {
        uid u = alike(s, trace->calls.at[i].uid);
        uint32_t key = tree_key(&s->tree, s->names, uid_parent(s->names, u));
        new = learn(s, FACT_CALL, hash_mix(key, s->names->uids.at[u].element),
                    trace->calls.at[i].uid);
    }
    for (uint32_t i = 0; i < s->reading.handlers.n && !new; i++) {
        uint32_t handler = s->reading.handlers.at[i];
        const struct call *c = &trace->calls.at[handler];
        uint64_t key = tree_key(&s->tree, s->names, alike(s, c->uid));
        new = learn(s, FACT_REPLY, hash_mix(key, c->reply), c->uid) ||
              learn(s, FACT_SHAPE, hash_mix(key, shape_of(s, trace, handler)), c->uid);
    }
    if (!new)
        learn(s, FACT_VERDICT,
              hash_mix(hash_slice(slice_of(verdict->why)), verdict->status * 2 + verdict->pass),
              trace->calls.at[0].uid);
}
