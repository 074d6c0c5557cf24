/* SPDX-License-Identifier: Apache-2.0
 *
 * What others have shown of handlers that are met here, too: searches of other scenarios, or an
 * earlier campaign (knowledge.h).
 *
 * 1. An edge that somebody has shown is not run here. Whoever showed it follows up what comes after
 *    it, with at least as many faults to spare.
 * 2. What callers may see of a handler is known from all of them: its answers that no mode gives
 *    meet the places from which it is called here (replies.c).
 * 3. So as long as others go on, something may turn up that is to be done here. A search with
 *    nothing left waits for them, asleep until there is news.
 * 4. Where a handler is seen to do otherwise than is known of it, what was skipped because of that is
 *    queued after all.
 *
 * Shards and t-way explore each for themselves: there, who skips what cannot be told by edges. */
#include "search/shared_int.h"

void shared_open(struct search *s)
{
    const struct suite *suite = s->opt.suite;
    struct knowledge *all = suite ? suite->knowledge : s->opt.knowledge;
    s->facts = &s->own_facts;
    s->known.scenario = s->opt.seat + 1;
    if (!all || s->opt.shards > 1 || ASSUMES(s, REDUCE_T_WAY))
        return;
    struct buf name = BUF_INIT(40);
    buf_addf(&name, "%u", (unsigned)s->opt.seat);
    s->known.all = all;
    s->known.scenario =
        knowledge_scenario(all, s->opt.scenario ? slice_of(s->opt.scenario) : buf_slice(&name));
    buf_deinit(&name);
    if (s->opt.knowledge)
        s->opt.assume |= 1u << REDUCE_SINCE;
    if (suite)
        s->facts = &s->opt.suite->facts;
    (void)knowledge_contradictions(all, &s->known.told);
}

void shared_close(struct search *s)
{
    if (s->known.all)
        knowledge_forget(s->known.all, s->known.scenario);
    map_deinit(&s->known.root_of);
    vec_deinit(&s->known.skipped);
    vec_deinit(&s->known.verify);
}

void search_retire(struct search *s, bool retired)
{
    s->known.retired = retired;
}

void search_verify(struct search *s, const faultload *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        vec_push(&s->known.verify, list[i]);
}

/* ---- what they have shown ---- */

static uint64_t path_of(struct search *s, uint32_t node)
{
    const struct tree_node *n = &s->tree.nodes.at[node];
    if (n->parent == NODE_NONE)
        return knowledge_root(s->known.all, s->names, s->known.scenario, n->element);
    return knowledge_step(path_of(s, n->parent), n->element, n->label);
}

enum reduction shared_shows(struct search *s, uint32_t edge, uint32_t faults)
{
    struct known_edge known;
    if (!knowledge_edge(s->known.all, path_of(s, edge), &known) || known.by == s->known.scenario ||
        known.leads || (ASSUMES(s, REDUCE_MAX_FAULTS) && known.faults > faults))
        return REDUCTIONS;
    return known.by == SHOWN_EARLIER ? REDUCE_SINCE : REDUCE_STATELESS;
}

void shared_skip(struct search *s, struct frontier_item item, enum reduction why)
{
    if (s->tree.nodes.at[item.edge].state != EDGE_SKIPPED)
        vec_push(&s->known.skipped, item);
    skip_edge(s, item, why);
}

bool shared_final(const struct search *s, uint32_t edge)
{
    uint8_t why = s->tree.nodes.at[edge].why;
    return s->known.all && !ASSUMES(s, REDUCE_MAX_FAULTS) &&
           (why == REDUCE_STATELESS || why == REDUCE_SINCE);
}

uint64_t shared_key(struct search *s, uid handler)
{
    return s->known.all ? knowledge_root(s->known.all, s->names, s->known.scenario, handler)
                        : tree_key(&s->tree, s->names, handler);
}

/* ---- what this one shows ---- */

static void learn(struct search *s, const struct trace *trace, const struct trace_order *order,
                  bool follow)
{
    struct lesson lesson = {.scenario = s->known.scenario,
                            .faultload = s->now.item.faultload,
                            .trace = trace,
                            .order = order,
                            .follow = follow};
    uint32_t n;
    knowledge_learn(s->known.all, s->names, s->fl, &lesson);
    const struct contradiction *list = knowledge_contradictions(s->known.all, &n);
    for (; s->known.told < n; s->known.told++) {
        const struct contradiction *c = &list[s->known.told];
        if (c->scenario == s->known.scenario && c->by != SHOWN_EARLIER)
            suspect_add(s, (struct suspect){.kind = SUSPECT_AUDIT,
                                            .faultload = c->faultload,
                                            .point = c->handler,
                                            .reduction = reduction_rows[REDUCE_STATELESS].name,
                                            .what = "a handler that went on otherwise in another "
                                                    "scenario"});
    }
}

void shared_learn(struct search *s, const struct trace *trace, bool follow)
{
    if (!s->known.all)
        return;
    learn(s, trace, &s->reading.order, follow);
}

void shared_check(struct search *s, const struct trace *trace)
{
    learn(s, trace, NULL, false);
}

/* ---- what follows from it ---- */

static void meet_reply(struct search *s, uint32_t root, const struct known_reply *reply)
{
    if (reply->by != s->known.scenario &&
        knowledge_trusts_reply(s->known.all, s->names, s->fl, reply))
        replies_add_known(s, root, reply->outcome, reply->cause);
}

void shared_meet(struct search *s, uint32_t root, uid callee)
{
    if (!s->known.all)
        return;
    uint32_t n = s->known.root_of.items.n;
    uint64_t path = knowledge_root(s->known.all, s->names, s->known.scenario, callee);
    (void)map_index(&s->known.root_of, path, root);
    if (s->known.root_of.items.n == n)
        return;
    uint32_t all;
    for (uint32_t i = knowledge_first_reply(s->known.all, path); i;) {
        const struct known_reply *reply = &knowledge_replies(s->known.all, &all)[i - 1];
        i = reply->next;
        meet_reply(s, root, reply);
    }
}

void shared_take(struct search *s)
{
    uint32_t n;
    if (!s->known.all || s->known.news == knowledge_news(s->known.all))
        return;
    s->known.news = knowledge_news(s->known.all);
    const struct known_reply *list = knowledge_replies(s->known.all, &n);
    for (; s->known.replies < n; s->known.replies++) {
        const uint32_t *root = map_get(&s->known.root_of, list[s->known.replies].root);
        if (root)
            meet_reply(s, *root, &list[s->known.replies]);
    }
}

bool shared_advance(struct search *s)
{
    uint32_t kept = 0;
    bool queued = false;
    for (uint32_t i = 0; i < s->known.skipped.n; i++) {
        struct frontier_item item = s->known.skipped.at[i];
        uint8_t state = s->tree.nodes.at[item.edge].state;
        if (state == EDGE_SKIPPED &&
            shared_shows(s, item.edge, faultload_size(s->fl, item.faultload)) != REDUCTIONS) {
            s->known.skipped.at[kept++] = item;
        } else if (state == EDGE_SKIPPED) {
            search_queue(s, item);
            queued = true;
        }
    }
    s->known.skipped.n = kept;
    return queued;
}

/* ---- waiting ---- */

bool shared_waits(const struct search *s)
{
    const struct suite *suite = s->opt.suite;
    if (!s->known.all || !suite || s->known.retired)
        return false;
    for (uint32_t i = 0; i < suite->searches.n; i++) {
        const struct search *other = suite->searches.at[i];
        if (other && other != s && !other->known.retired &&
            (!other->known.idle || other->known.news != knowledge_news(s->known.all)))
            return true;
    }
    return false;
}

bool shared_sleeps(const struct search *s)
{
    return s->known.idle && s->known.all && s->known.news == knowledge_news(s->known.all) &&
           shared_waits(s);
}
