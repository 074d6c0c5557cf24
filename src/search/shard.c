/* SPDX-License-Identifier: Apache-2.0
 *
 * Shards: several searches, each in a process of its own, share the work without talking to each
 * other. A faultload falls to the shard of its first fault in causal order.
 *
 * What a candidate adds comes after its causes, so all that grows out of a faultload has the same
 * first fault and stays in its shard. A handler's transcript depends on the faults below it, and on
 * those without which it is not reached at all: in the shard of the first of these, every step of
 * it is found. For that an edge that another shard will show must stay open here: what leads to it
 * after a fault of this shard may bring about what this shard must see. So shards do some work
 * twice, and each begins with the fault-free runs. */
#include "base/hash.h"
#include "search/search_int.h"

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
