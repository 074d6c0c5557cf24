/* SPDX-License-Identifier: Apache-2.0
 *
 * What is not run here: skipped by a reduction, or left to other shards; and the audit, which runs a
 * share of what was skipped after all. (t-way is a story of its own: reduce_tway.c.)
 *
 * What is skipped is not kept. A bounded search skips far more than it runs: after the last fault
 * that it may inject, every mode of every call that follows. So there is neither an edge nor a
 * faultload for it. It is counted, and the prefix before the call remembers that this was done, and
 * which reduction it was (for explain). */
#include "base/hash.h"
#include "search/shared_int.h"

const struct reduction_row reduction_rows[REDUCTIONS] = {
    [REDUCE_STATELESS] =
        {"stateless",
         "the same endpoint with the same payload behaves the same wherever it is called from",
         true},
    [REDUCE_MODES] = {"modes",
                      "modes with the same effect keep having the same effect when further faults "
                      "are added",
                      true},
    [REDUCE_MODES_ONCE] =
        {"modes-once",
         "modes that are alike at a call in one context are alike there in every context", true},
    [REDUCE_RETRIES] = {"retries", "a retry loop matters only when it fails once or forever", true},
    [REDUCE_MAX_FAULTS] = {"max-faults",
                           "nothing that takes more than this many simultaneous faults matters",
                           false},
    [REDUCE_T_WAY] =
        {"t-way", "calls whose failures are absorbed affect each other at most this many at a time",
         false},
    [REDUCE_SINCE] = {"since",
                      "services that have not changed do what they did in the earlier campaign",
                      false},
};

/* ---- shards ---- */

/* Several searches, each in a process of its own, share the work without talking to each other. A
 * faultload falls to the shard of its first fault in causal order.
 *
 * What a candidate adds comes after its causes, so all that grows out of a faultload has the same
 * first fault and stays in its shard. A handler's transcript depends on the faults below it, and on
 * those without which it is not reached at all: in the shard of the first of these, every step of
 * it is found. For that an edge that another shard will show must stay open here: what leads to it
 * after a fault of this shard may bring about what this shard must see. So shards do some work
 * twice, and each begins with the fault-free runs. */

/* By text, so that all processes agree. A lasting fault goes with the single one that it replaces;
 * under `modes`, those of one call stay together, to be compared. */
static uint32_t shard_of(struct search *s, struct fault fault)
{
    struct buf text = BUF_INIT(1 << 16);
    struct element el = *uid_element(s->names, fault.point);
    if (el.n == N_ANY) {
        el.n = 0;
        uid parent = uid_parent(s->names, fault.point);
        fault.point = names_uid(s->names, parent, names_element(s->names, el));
    }
    if (ASSUMES(s, REDUCE_MODES))
        uid_print(s->names, fault.point, &text);
    else
        fault_print(s->names, fault, &text);
    uint32_t shard = (uint32_t)(hash_slice(buf_slice(&text)) % s->opt.shards);
    buf_deinit(&text);
    return shard;
}

bool shard_elsewhere(struct search *s, faultload causes, struct fault fault)
{
    if (s->opt.shards < 2)
        return false;
    struct fault first = fault;
    for (faultload f = causes; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest)
        first = s->fl->rows.at[f].last;
    uint64_t key = fault_number(first);
    const uint32_t *known = map_get(&s->shard_of, key);
    uint32_t shard = known ? *known : shard_of(s, first);
    if (!known)
        map_set(&s->shard_of, key, shard);
    if (shard == s->opt.shard)
        return false;
    map_count(&s->elsewhere, faultload_key(s->fl, causes) + fault_key(fault));
    return true;
}

/* ---- skipping ---- */

/* Counts something skipped. True: the audit has drawn it. */
static bool count_skip(struct search *s, enum reduction why)
{
    s->n_skipped[why]++;
    /* what an earlier campaign has shown is not among the facts: there, only what was taken from it */
    if (s->opt.audit <= 0 || (ASSUMES(s, REDUCE_SINCE) && why != REDUCE_SINCE))
        return false;
    double draw = (double)(rng_next(&s->audit_rng) >> 11) / (double)(1ull << 53) * 100;
    return draw < s->opt.audit;
}

void audit_add(struct search *s, faultload f, enum reduction why)
{
    vec_push(&s->to_audit, (struct audit_item){{f, NODE_NONE}, why});
}

void skip_faultload(struct search *s, faultload f, enum reduction why)
{
    if (count_skip(s, why))
        audit_add(s, f, why);
}

static void skip_faults(struct search *s, faultload causes, struct fault fault, enum reduction why)
{
    if (count_skip(s, why))
        audit_add(s, faultload_extend(s->fl, causes, fault), why);
}

void skip_edge(struct search *s, struct frontier_item item, enum reduction why)
{
    struct tree_node *edge = &s->tree.nodes.at[item.edge];
    bool again = edge->state == EDGE_SKIPPED;
    edge->state = EDGE_SKIPPED;
    edge->why = (uint8_t)why;
    if (!again)
        skip_faultload(s, item.faultload, why);
}

bool skip_unmade(struct search *s, uint32_t node, enum reduction why)
{
    s->tree.nodes.at[node].left_out = (uint8_t)(why + 1);
    return count_skip(s, why);
}

void skip_mode(struct search *s, uint32_t node, faultload causes, struct fault fault,
               enum reduction why)
{
    s->tree.nodes.at[node].left_out = (uint8_t)(why + 1);
    skip_faults(s, causes, fault, why);
}

static bool full(const struct search *s, faultload causes)
{
    return ASSUMES(s, REDUCE_MAX_FAULTS) && faultload_size(s->fl, causes) >= s->opt.max_faults;
}

bool skip_beyond(const struct search *s, uint32_t faults)
{
    return ASSUMES(s, REDUCE_MAX_FAULTS) && !ASSUMES(s, REDUCE_RETRIES) && s->opt.shards < 2 &&
           faults > s->opt.max_faults;
}

bool skip_whole(struct search *s, const struct trace *trace, uint32_t call, bool duplicate)
{
    const struct call *c = &trace->calls.at[call];
    uint32_t node = s->reading.node.at[call], element = s->names->uids.at[c->uid].element;
    faultload causes = s->reading.prefix.at[s->reading.causes.at[call]];
    if (!duplicate && !full(s, causes))
        return false;
    if (ASSUMES(s, REDUCE_RETRIES)) {
        /* A fault at a call that is made in any case, and behind no lasting fault, is what it is;
         * all others are looked at one by one. */
        bool one_by_one = !s->happy.at[c->uid];
        for (faultload f = causes; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest)
            one_by_one |= uid_element(s->names, s->fl->rows.at[f].last.point)->n == N_ANY;
        if (one_by_one)
            return false;
    }
    bool counted = s->tree.nodes.at[node].counted;
    for (uint32_t i = 0; i < s->opt.n_modes; i++) {
        struct fault fault = {c->uid, s->opt.modes[i]};
        if (!call_takes(c, fault.mode))
            continue;
        uint32_t edge = tree_find(&s->tree, node, element, mode_label(fault.mode));
        if ((edge != NODE_NONE && s->tree.nodes.at[edge].state != EDGE_NEW) ||
            shard_elsewhere(s, causes, fault))
            continue;
        if (!counted)
            skip_mode(s, node, causes, fault, duplicate ? REDUCE_MODES : REDUCE_MAX_FAULTS);
        s->tree.nodes.at[node].counted = true;
    }
    return true;
}

/* ---- stateless ---- */

/* Handlers of the same service and interface, with the same payload, share one tree, wherever they
 * are called from (tree_key). So an edge that was seen or queued for one of them is not tried for
 * another. What is not tried that way is counted here, once for every call and prefix, so that it
 * can be audited. */
void stateless_skip(struct search *s, const struct trace *trace, uint32_t call)
{
    const struct call *c = &trace->calls.at[call];
    uint32_t node = s->reading.node.at[call];
    uid handler = uid_parent(s->names, c->uid);
    uint32_t root = tree_root(&s->tree, s->names, handler);
    if (s->tree.nodes.at[root].element == handler || /* the one that the tree was made for */
        map_count(&s->stateless, hash_mix(c->uid, node)) > 1)
        return;
    for (uint32_t i = 0; i < s->opt.n_modes; i++) {
        struct fault fault = {c->uid, s->opt.modes[i]};
        if (!call_takes(c, fault.mode) || mode_label(fault.mode) == call_label(c))
            continue;
        uint32_t edge =
            tree_find(&s->tree, node, s->names->uids.at[c->uid].element, mode_label(fault.mode));
        faultload causes = s->reading.prefix.at[s->reading.causes.at[call]];
        if (edge != NODE_NONE && s->tree.nodes.at[edge].state != EDGE_NEW &&
            !shard_elsewhere(s, causes, fault))
            skip_faults(s, causes, fault, REDUCE_STATELESS);
    }
}

/* ---- modes and modes-once ---- */

/* Two runs that differ only in the mode of their last fault are alike when everything but the
 * outcome of that one call is the same. Under `modes`, the second of two alike runs counts but is
 * not combined further. Under `modes-once`, modes found alike at a point in the first context in
 * which all of them were tried are tried in no other context: there one of them speaks for its
 * class. */

static uint64_t class_key(uid point, mode m)
{
    return (uint64_t)point << 32 | m;
}

bool modes_duplicate(struct search *s, const struct trace *trace, const struct verdict *verdict)
{
    if (s->now.item.faultload == FAULTLOAD_EMPTY)
        return false;
    struct faultload_row row = s->fl->rows.at[s->now.item.faultload];
    uint64_t signature = reading_signature(s, trace, row.last.point, false);
    uint64_t context = hash_mix(faultload_key(s->fl, row.rest) + row.last.point, verdict->pass);
    uint64_t key = hash_mix(context, signature);
    const uint32_t *known = map_get(&s->mode_signatures, key);
    mode alike = known ? *known : row.last.mode;
    if (!map_get(&s->mode_classes, class_key(row.last.point, row.last.mode))) {
        map_set(&s->mode_classes, class_key(row.last.point, row.last.mode), alike);
        map_count(&s->mode_classes, class_key(row.last.point, MODE_NONE));
    }
    if (!known)
        map_set(&s->mode_signatures, key, row.last.mode);
    return alike != row.last.mode;
}

mode modes_alike(const struct search *s, struct fault fault)
{
    const uint32_t *alike = map_get(&s->mode_classes, class_key(fault.point, fault.mode));
    return alike ? *alike : fault.mode;
}

bool modes_once_skips(const struct search *s, faultload f)
{
    const struct faultload_row *row = &s->fl->rows.at[f];
    const uint32_t *n = map_get(&s->mode_classes, class_key(row->last.point, MODE_NONE));
    return row->size >= 2 && n && *n == search_modes(s, row->last.point) &&
           modes_alike(s, row->last) != row->last.mode;
}

/* ---- retries ---- */

/* A call is a retry when only a fault brings it about and it repeats, in the same handler, a call
 * that failed. What may happen at it is then either nothing (the first failure was transient) or the
 * same failure again, and again: a lasting fault, written #*, that stands in place of the first
 * one. */

/* The first of the calls of the same handler that `call` repeats, each of which failed before the
 * next one; CALL_NONE: it repeats none. Equal calls stand in the order of their n, so one way back
 * meets all of them. */
static uint32_t origin_of(const struct search *s, const struct trace *trace, uint32_t call)
{
    const struct reading *r = &s->reading;
    const struct call *c = &trace->calls.at[call];
    uint32_t origin = CALL_NONE, first = r->order.first.at[c->parent];
    for (uint32_t i = r->order.first.at[c->parent + 1]; i-- > first;) {
        const struct call *b = &trace->calls.at[r->order.child.at[i]];
        const struct element *el = uid_element(s->names, c->uid);
        const struct element *other = uid_element(s->names, b->uid);
        if (el->n == 0 || s->happy.at[c->uid])
            break; /* it is made without faults, too */
        if (other->service != el->service || other->interface != el->interface ||
            other->payload != el->payload || other->n + 1 != el->n)
            continue;
        if (outcome_ok(b->seen) || b->end_ns > c->start_ns)
            break;
        origin = r->order.child.at[i];
        c = b;
    }
    return origin;
}

/* Would a lasting fault here keep a fault at this point from firing? */
static bool hidden_by(struct search *s, uid lasting, uid point)
{
    for (uid u = point; u != UID_NONE; u = uid_parent(s->names, u))
        if (names_uid_all(s->names, u) == lasting)
            return true;
    return false;
}

/* The causes of `call` with a lasting fault in place of all that made the tries before it fail. */
static void make_lasting(struct search *s, uint32_t call, uid first, struct candidate *c)
{
    struct reading *r = &s->reading;
    struct fault last = {names_uid_all(s->names, first), c->fault.mode};
    uid lasting = last.point;
    search_set_flags(s, lasting, s->flags.at[first]);
    c->causes = FAULTLOAD_EMPTY;
    for (uint32_t i = 0; i < r->causes.at[call]; i++) {
        if (hidden_by(s, lasting, r->fired.at[i].point))
            continue;
        c->causes = faultload_extend(s->fl, c->causes, last);
        last = r->fired.at[i];
    }
    c->fault = last;
}

/* May turn the candidate into a lasting fault; false: skip it. `call` is the one whose outcome the
 * candidate's edge is about. */
static bool retries_admit(struct search *s, const struct trace *trace, uint32_t call,
                          struct candidate *c)
{
    for (faultload f = c->causes; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        uid point = s->fl->rows.at[f].last.point;
        if (uid_element(s->names, point)->n == N_ANY &&
            hidden_by(s, point, uid_parent(s->names, c->fault.point)))
            return false; /* below a call that a lasting fault hits already */
    }
    uint32_t first = call == CALL_NONE ? CALL_NONE : origin_of(s, trace, call);
    if (first == CALL_NONE)
        return true;
    const struct call *origin = &trace->calls.at[first];
    if (uid_element(s->names, origin->uid)->n > 0)
        return true; /* the handler makes this call for other reasons too, which #* would hit */
    label wanted = s->tree.nodes.at[c->edge].label;
    if (c->fault.point != trace->calls.at[call].uid) /* brought about from below */
        return wanted == call_label(origin) || (!(wanted & LABEL_MODE) && outcome_ok(wanted));
    if (wanted != call_label(origin))
        return false;
    make_lasting(s, call, origin->uid, c);
    return true;
}

/* ---- all of them ---- */

enum reduction reduce(struct search *s, const struct trace *trace, uint32_t call, bool duplicate,
                      struct candidate *c)
{
    struct candidate built = *c;
    if (ASSUMES(s, REDUCE_RETRIES) && !retries_admit(s, trace, call, &built))
        return REDUCE_RETRIES;
    bool lasting = built.fault.point != c->fault.point;
    struct candidate single = *c;
    *c = built;
    if (duplicate)
        return REDUCE_MODES;
    if (full(s, c->causes))
        return REDUCE_MAX_FAULTS;
    if (lasting) /* tried in its place */
        skip_faults(s, single.causes, single.fault, REDUCE_RETRIES);
    return REDUCTIONS;
}

/* ---- the audit ---- */

/* A random share of what reductions skipped is run after all, when everything else is done. If the
 * assumption holds, such a run shows nothing that the others did not: no new call, no new answer of
 * a handler, no new verdict. Reductions that change only how a transcript is labelled must not even
 * show a new transcript, with all failures read as one. Facts are kept as 64-bit hashes. */

enum fact { FACT_CALL = 1, FACT_REPLY, FACT_VERDICT, FACT_SHAPE };

static const char *const fact_words[] = {
    [FACT_CALL] = "a call that no other run made",
    [FACT_REPLY] = "an answer that this handler gave in no other run",
    [FACT_VERDICT] = "a verdict that no other run had",
    [FACT_SHAPE] = "a sequence of calls that this handler made in no other run",
};

/* Which calls are the same call, as far as the reductions in use are concerned: under `retries` it
 * does not matter which try it is, so each call of the path is the first of its equals. */
static uid alike(struct search *s, uid u)
{
    if (u == UID_NONE || !ASSUMES(s, REDUCE_RETRIES))
        return u;
    struct element el = *uid_element(s->names, u);
    el.n = 0;
    uid parent = alike(s, uid_parent(s->names, u));
    return names_uid(s->names, parent, names_element(s->names, el));
}

/* Adds a fact; reports it when it is new in an audited run. */
static bool add_fact(struct search *s, enum fact fact, uint64_t hash, uid point)
{
    hash = hash_mix(fact, hash);
    if (map_get(s->facts, hash))
        return false;
    map_set(s->facts, hash, 1);
    /* under these a skipped run's transcripts are known but for which failure it was */
    bool keeps_shapes = s->now.audited == REDUCE_STATELESS || s->now.audited == REDUCE_MODES ||
                        s->now.audited == REDUCE_MODES_ONCE;
    if (s->now.purpose != FOR_AUDIT || (fact == FACT_SHAPE && !keeps_shapes))
        return false;
    suspect_add(s, (struct suspect){.kind = SUSPECT_AUDIT,
                                    .faultload = s->now.item.faultload,
                                    .point = point,
                                    .reduction = reduction_rows[s->now.audited].name,
                                    .what = fact_words[fact]});
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
    if (ASSUMES(s, REDUCE_SINCE))
        return; /* it is held against what is known: shared_learn */
    for (uint32_t i = 1; i < trace->calls.n && !new; i++) {
        uid u = alike(s, trace->calls.at[i].uid);
        uint64_t key = shared_key(s, uid_parent(s->names, u));
        new = add_fact(s, FACT_CALL, hash_mix(key, s->names->uids.at[u].element),
                       trace->calls.at[i].uid);
    }
    for (uint32_t i = 0; i < s->reading.handlers.n && !new; i++) {
        uint32_t handler = s->reading.handlers.at[i];
        const struct call *c = &trace->calls.at[handler];
        uint64_t key = shared_key(s, alike(s, c->uid));
        new = add_fact(s, FACT_REPLY, hash_mix(key, c->reply), c->uid) ||
              add_fact(s, FACT_SHAPE, hash_mix(key, shape_of(s, trace, handler)), c->uid);
    }
    if (!new)
        add_fact(
            s, FACT_VERDICT,
            hash_mix(hash_slice(slice_of(verdict->why)),
                     (uint64_t)s->known.scenario << 34 | (verdict->status * 2 + verdict->pass)),
            trace->calls.at[0].uid);
}
