/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduction `stateless`: handlers of the same service and interface, with the same payload, share
 * one tree, wherever they are called from (tree_key). So an edge that was seen or queued for one of
 * them is not tried for another. What is not tried that way is counted here, once for every call
 * and prefix, so that it can be audited. */
#include "search/search_int.h"

#include "base/hash.h"

void stateless_skip(struct search *s, const struct trace *trace, uint32_t call)
{
    const struct call *c = &trace->calls.at[call];
    uint32_t node = s->reading.node.at[call];
    uid handler = uid_parent(s->names, c->uid);
    uint32_t root = tree_root(&s->tree, s->names, handler);
    if (s->tree.nodes.at[root].element == handler) /* the one that the tree was made for */
        return;
    if (map_count(&s->stateless, hash_mix(c->uid, node)) > 1)
        return;
    for (uint32_t i = 0; i < s->opt.n_modes; i++) {
        mode m = s->opt.modes[i];
        if (!call_takes(c, m))
            continue;
        uint32_t edge = tree_find(&s->tree, node, s->names->uids.at[c->uid].element, mode_label(m));
        bool known = edge != NODE_NONE && s->tree.nodes.at[edge].state != EDGE_NEW;
        if (!known || mode_label(m) == call_label(c))
            continue;
        faultload causes = s->reading.prefix.at[s->reading.causes.at[call]];
        if (shard_elsewhere(s, causes, (struct fault){c->uid, m}))
            continue;
        faultload f = faultload_extend(s->fl, causes, (struct fault){c->uid, m});
        search_count_skip(s, (struct frontier_item){f, NODE_NONE}, REDUCE_STATELESS);
    }
}
