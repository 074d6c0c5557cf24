/* SPDX-License-Identifier: Apache-2.0
 *
 * What is not run here: skipped by a reduction, or left to other shards.
 *
 * What is skipped, and not kept. A bounded search skips far more than it runs: after the last fault
 * that it may inject, every mode of every call that follows. So there is neither an edge nor a
 * faultload for it. It is counted, and the prefix before the call remembers that this was done, and
 * which reduction it was (for explain). */
#include "base/hash.h"
#include "search/search_int.h"

/* ---- shards ---- */

/* Shards: several searches, each in a process of its own, share the work without talking to each
 * other. A faultload falls to the shard of its first fault in causal order.
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

/* Under `retries` a fault at a call that is made in any case, and behind no lasting fault, is what
 * it is; all others are looked at one by one. */
static bool retries_have_a_say(const struct search *s, uid call, faultload causes)
{
    if (!ASSUMES(s, REDUCE_RETRIES))
        return false;
    bool say = !s->happy.at[call];
    for (faultload f = causes; f != FAULTLOAD_EMPTY && !say; f = s->fl->rows.at[f].rest)
        say = uid_element(s->names, s->fl->rows.at[f].last.point)->n == N_ANY;
    return say;
}

static enum reduction whole(const struct search *s, uid call, faultload causes, bool duplicate)
{
    if (retries_have_a_say(s, call, causes))
        return REDUCTIONS;
    if (duplicate)
        return REDUCE_MODES;
    bool full = ASSUMES(s, REDUCE_MAX_FAULTS) && faultload_size(s->fl, causes) >= s->opt.max_faults;
    return full ? REDUCE_MAX_FAULTS : REDUCTIONS;
}

bool skip_beyond(const struct search *s, uint32_t faults)
{
    return ASSUMES(s, REDUCE_MAX_FAULTS) && !ASSUMES(s, REDUCE_RETRIES) && s->opt.shards < 2 &&
           faults > s->opt.max_faults;
}

bool skip_unmade(struct search *s, uint32_t node, enum reduction why)
{
    s->tree.nodes.at[node].left_out = (uint8_t)(why + 1);
    s->n_skipped[why]++;
    return audit_draws(s);
}

void skip_mode(struct search *s, uint32_t node, faultload causes, struct fault fault,
               enum reduction why)
{
    if (skip_unmade(s, node, why))
        audit_add(s, faultload_extend(s->fl, causes, fault), why);
}

bool skip_whole(struct search *s, const struct trace *trace, uint32_t call, bool duplicate)
{
    const struct call *c = &trace->calls.at[call];
    uint32_t node = s->reading.node.at[call], element = s->names->uids.at[c->uid].element;
    faultload causes = s->reading.prefix.at[s->reading.causes.at[call]];
    enum reduction why = whole(s, c->uid, causes, duplicate);
    bool counted = s->tree.nodes.at[node].counted;
    if (why == REDUCTIONS)
        return false;
    for (uint32_t i = 0; i < s->opt.n_modes; i++) {
        struct fault fault = {c->uid, s->opt.modes[i]};
        if (!call_takes(c, fault.mode))
            continue;
        uint32_t edge = tree_find(&s->tree, node, element, mode_label(fault.mode));
        if ((edge != NODE_NONE && s->tree.nodes.at[edge].state != EDGE_NEW) ||
            shard_elsewhere(s, causes, fault))
            continue;
        if (!counted)
            skip_mode(s, node, causes, fault, why);
        s->tree.nodes.at[node].counted = true;
    }
    return true;
}
