/* SPDX-License-Identifier: Apache-2.0
 *
 * The loop's second half: search_observe reads the trace into the trees and queues, for every call
 * and mode, the edge that nobody has seen yet. (The first half, search_next, is in flight.c.)
 *
 * 1. A queued faultload is causes(c) + one fault at c, or the faults below c that make it answer
 *    so: everything in it fires when the system is deterministic.
 * 2. No faultload is queued twice; repeats are counted apart. (A row of t-way of which not all
 *    fired counts as the faults that did.)
 * 3. A run whose faults did not all fire adds what it showed to the trees, but nothing is
 *    concluded from it. */
#include "search/shared_int.h"

#include "base/hash.h"

struct search *search_new(struct names *names, struct faultloads *fl,
                          const struct search_options *options)
{
    struct search *s = mem_zero(sizeof *s);
    s->names = names;
    s->fl = fl;
    s->opt = *options;
    if (!s->opt.baselines)
        s->opt.baselines = 3;
    if (!s->opt.attempts)
        s->opt.attempts = 3;
    if (ASSUMES(s, REDUCE_MODES_ONCE))
        s->opt.assume |= 1u << REDUCE_MODES;
    s->audit_rng.state = options->seed + 1;
    s->tree.stateless = ASSUMES(s, REDUCE_STATELESS);
    vec_push(&s->tree.nodes, (struct tree_node){0});
    frontier_init(&s->frontier, order_ops[options->order], options->seed);
    suite_join(s);
    shared_open(s);
    if (s->frontier.ops->open)
        s->frontier.ops->open(s);
    return s;
}

void search_free(struct search *s)
{
    if (!s)
        return;
    if (s->frontier.ops->close)
        s->frontier.ops->close(s);
    shared_close(s);
    suite_leave(s);
    vec_deinit(&s->tree.nodes);
    vec_deinit(&s->tree.root_of);
    frontier_deinit(&s->frontier);
    trace_order_deinit(&s->reading.order);
    vec_deinit(&s->reading.post);
    vec_deinit(&s->reading.node);
    vec_deinit(&s->reading.causes);
    vec_deinit(&s->reading.below);
    vec_deinit(&s->reading.busy);
    vec_deinit(&s->reading.fired);
    vec_deinit(&s->reading.prefix);
    vec_deinit(&s->reading.handlers);
    vec_deinit(&s->flights.list);
    vec_deinit(&s->flights.ahead);
    map_deinit(&s->flights.early);
    vec_deinit(&s->runs);
    vec_deinit(&s->seen_in);
    vec_deinit(&s->shown);
    vec_deinit(&s->last);
    vec_deinit(&s->happy);
    vec_deinit(&s->flags);
    vec_deinit(&s->replies.rows);
    vec_deinit(&s->replies.prefixes);
    map_deinit(&s->replies.row_of);
    map_deinit(&s->replies.prefix_of);
    map_deinit(&s->late.tries);
    map_deinit(&s->late.ran);
    map_deinit(&s->late.waited);
    vec_deinit(&s->suspects);
    map_deinit(&s->unfired);
    vec_deinit(&s->to_audit);
    map_deinit(&s->own_facts);
    map_deinit(&s->mode_signatures);
    map_deinit(&s->mode_classes);
    map_deinit(&s->stateless);
    map_deinit(&s->queued);
    tway_deinit(&s->tway);
    map_deinit(&s->shard_of);
    map_deinit(&s->elsewhere);
    mem_free(s);
}

/* ---- what can fail ---- */

void search_set_flags(struct search *s, uid u, uint8_t flags)
{
    while (s->flags.n <= u)
        vec_push(&s->flags, 0);
    s->flags.at[u] = flags;
}

bool search_point(const struct search *s, uid u)
{
    return u < s->seen_in.n && s->seen_in.at[u] > 0 && !(s->flags.at[u] & CALL_EXEMPT);
}

bool search_takes(const struct search *s, uid u, mode m)
{
    return u >= s->flags.n || call_flags_take(s->flags.at[u], m);
}

uint32_t search_modes(const struct search *s, uid u)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->opt.n_modes; i++)
        n += search_takes(s, u, s->opt.modes[i]);
    return n;
}

/* ---- observe ---- */

void search_queue(struct search *s, struct frontier_item item)
{
    if (item.edge != NODE_NONE)
        s->tree.nodes.at[item.edge].state = EDGE_QUEUED;
    frontier_push(&s->frontier, item, s->frontier.ops->score(s, item.faultload));
}

/* A candidate is admitted, built as the reductions want it, and placed: skipped, kept for a later
 * phase of t-way, or queued. */
void search_consider(struct search *s, const struct trace *trace, uint32_t call, struct candidate c,
                     bool duplicate)
{
    uint8_t state = s->tree.nodes.at[c.edge].state;
    bool tried = state == EDGE_MISSED || state == EDGE_LATE || state == EDGE_UNKNOWN;
    if (state == EDGE_SEEN || state == EDGE_QUEUED || (tried && !c.again) ||
        shard_elsewhere(s, c.causes, c.fault))
        return;

    enum reduction why = reduce(s, trace, call, duplicate, &c);
    if (why != REDUCTIONS && state == EDGE_SKIPPED)
        return; /* skipped before, and counted then */
    struct frontier_item item = {faultload_extend(s->fl, c.causes, c.fault), c.edge};
    enum reduction shown = REDUCTIONS;
    if (why == REDUCTIONS && s->known.all)
        shown = shared_shows(s, c.edge, faultload_size(s->fl, item.faultload));
    if (shown != REDUCTIONS) {
        shared_skip(s, item, shown);
        return;
    }
    enum tway_answer answer = TWAY_RUN;
    if (why == REDUCTIONS && ASSUMES(s, REDUCE_T_WAY))
        answer = tway_ask(s, item.faultload);

    if (why != REDUCTIONS || answer == TWAY_SKIP) {
        skip_edge(s, item, why != REDUCTIONS ? why : REDUCE_T_WAY);
    } else if (answer == TWAY_WAIT) {
        s->tree.nodes.at[item.edge].state = EDGE_QUEUED;
        vec_push(&s->tway.waiting, item);
    } else {
        /* Nearly always an edge has a faultload of its own. But a lasting fault stands for many,
         * faults below a call may show themselves to its caller in two ways (an answer, or a
         * timeout before it), and where names or steps change from run to run, new prefixes ask for
         * the same faultload again. */
        uint32_t times = map_count(&s->queued, faultload_key(s->fl, item.faultload));
        if (times > (s->n_suspects ? s->opt.attempts : 1) && !c.again)
            s->tree.nodes.at[item.edge].state = EDGE_MISSED; /* unless that shows it too */
        else
            search_queue(s, item);
    }
}

/* All modes of one call, and all that its callee may answer. */
static void expand(struct search *s, const struct trace *trace, uint32_t call, bool duplicate)
{
    const struct call *c = &trace->calls.at[call];
    uint32_t node = s->reading.node.at[call], element = s->names->uids.at[c->uid].element;
    if (suspect_blocks(s, c->uid))
        return;
    replies_expand(s, trace, call, duplicate);
    if (ASSUMES(s, REDUCE_STATELESS))
        stateless_skip(s, trace, call);
    if (s->tree.nodes.at[node].expanded || skip_whole(s, trace, call, duplicate))
        return;
    bool final = !duplicate, skips = false;
    faultload causes = s->reading.prefix.at[s->reading.causes.at[call]];
    struct tway_call waiting = {node, c->uid, causes, 0};
    for (uint32_t i = 0; i < s->opt.n_modes; i++) {
        struct fault fault = {c->uid, s->opt.modes[i]};
        enum tway_answer answer = TWAY_RUN;
        if (!call_takes(c, fault.mode))
            continue;
        if (ASSUMES(s, REDUCE_T_WAY) && !duplicate)
            answer = tway_ask_more(s, causes, fault);
        if (answer != TWAY_RUN && tway_may_be_factors(s, causes, fault)) {
            /* it waits for its phase, or is skipped: neither makes an edge */
            uint32_t edge = tree_find(&s->tree, node, element, mode_label(fault.mode));
            if ((edge != NODE_NONE && s->tree.nodes.at[edge].state != EDGE_NEW) ||
                shard_elsewhere(s, causes, fault))
                continue;
            waiting.modes |= (uint64_t)(answer == TWAY_WAIT) << i;
            skips |= answer == TWAY_SKIP;
            if (answer == TWAY_SKIP && !s->tree.nodes.at[node].counted)
                skip_mode(s, node, causes, fault, REDUCE_T_WAY);
            continue;
        }
        uint32_t edge = tree_child(&s->tree, node, element, mode_label(fault.mode));
        search_consider(s, trace, call,
                        (struct candidate){.edge = edge, .fault = fault, .causes = causes},
                        duplicate);
        uint8_t state = s->tree.nodes.at[edge].state;
        final &= state != EDGE_NEW && (state != EDGE_SKIPPED || shared_final(s, edge));
    }
    if (waiting.modes && !s->tree.nodes.at[node].waits) {
        s->tree.nodes.at[node].waits = true;
        s->tway.n_waiting += (uint64_t)__builtin_popcountll(waiting.modes);
        vec_push(&s->tway.calls, waiting);
    }
    s->tree.nodes.at[node].counted |= skips;
    /* an unstable handler may make another call next time */
    s->tree.nodes.at[node].expanded = final && !s->tree.nodes.at[node].unstable;
}

static bool fired_at(const struct trace *trace, uid point)
{
    uint32_t i = 0;
    while (i < trace->calls.n &&
           (trace->calls.at[i].mode == MODE_NONE || trace->calls.at[i].fault_point != point))
        i++;
    return i < trace->calls.n;
}

/* A run that verifies is held against what is known, and that is all: its faults are not the causes of a
 * single step, so what it shows says nothing of what would follow without the last of them. */
static void observe_check(struct search *s, const struct trace *trace,
                          const struct verdict *verdict)
{
    struct search_run run = {.faultload = s->now.item.faultload,
                             .happened = s->now.item.faultload,
                             .status = verdict->status,
                             .pass = verdict->pass,
                             .purpose = FOR_VERIFY,
                             .repeat = s->now.attempt > 0};
    run.size = run.hits = faultload_size(s->fl, run.faultload);
    for (faultload f = run.faultload; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest)
        run.hits -= !fired_at(trace, s->fl->rows.at[f].last.point);
    run.fired = run.hits == run.size;
    s->n_repeats += run.repeat;
    s->n_runs += !run.repeat;
    vec_push(&s->runs, run);
    if (run.fired || s->now.attempt + 1 == s->opt.attempts) {
        shared_check(s, trace);
        return;
    }
    s->now.attempt++;
    s->now.running = false;
    vec_push(&s->flights.list, s->now);
}

void search_observe(struct search *s, faultload f, const struct trace *trace,
                    const struct verdict *verdict)
{
    s->now = flight_land(s, f);
    suite_went(s);
    if (s->now.purpose == FOR_VERIFY) {
        observe_check(s, trace, verdict);
        return;
    }
    reading_fill(s, trace);

    /* Did all that was planned happen? The rows of t-way are guesses: such a run was one of the
     * faults that did fire. What nobody asked for is brought into causal order. */
    faultload happened = s->reading.prefix.at[s->reading.fired.n];
    bool fired = suspect_all_fired(s);
    bool row = s->now.purpose == FOR_SEARCH && s->now.item.edge == NODE_NONE && !s->now.stranger;
    bool strange = fired && s->now.stranger &&
                   faultload_size(s->fl, s->now.item.faultload) == s->reading.fired.n;
    if ((row && !fired) || strange)
        s->now.item.faultload = happened;
    fired |= row;

    struct search_run run = {.faultload = s->now.item.faultload,
                             .happened = happened,
                             .status = verdict->status,
                             .pass = verdict->pass,
                             .fired = fired,
                             .purpose = s->now.purpose};
    run.size = faultload_size(s->fl, run.faultload);
    run.hits = faultload_size(s->fl, run.happened);
    run.repeat = s->now.attempt > 0 || (s->now.purpose == FOR_BASELINE && s->baselines_done > 0);
    s->n_repeats += run.repeat;
    s->n_audited += !run.repeat && s->now.purpose == FOR_AUDIT;
    s->n_runs += !run.repeat && s->now.purpose != FOR_AUDIT;
    vec_push(&s->runs, run);
    if (s->frontier.ops->observed)
        s->frontier.ops->observed(s, s->now.item, trace, verdict);

    if (!fired) {
        struct flight again = s->now;
        again.running = false;
        if (++again.attempt < s->opt.attempts) /* as often as is allowed */
            vec_push(&s->flights.list, again);
        else
            suspect_not_fired(s, trace);
        return;
    }
    late_observe(s, trace);
    if (s->opt.audit > 0)
        audit_observe(s, trace, verdict);
    bool audit = s->now.purpose == FOR_AUDIT;
    bool duplicate = !audit && ASSUMES(s, REDUCE_MODES) && modes_duplicate(s, trace, verdict);
    shared_learn(s, trace, !duplicate && !audit);
    if (audit)
        return;
    if (ASSUMES(s, REDUCE_T_WAY))
        tway_observe(s, f, trace, duplicate);
    for (uint32_t i = 0; i < s->reading.post.n; i++)
        expand(s, trace, s->reading.post.at[i], duplicate);
    if (s->now.purpose == FOR_BASELINE && ++s->baselines_done == s->opt.baselines)
        suspect_baselines(s);
}

/* ---- what came of it ---- */

void search_progress(const struct search *s, uint64_t *runs, uint64_t *queued)
{
    *runs = s->n_runs;
    *queued = s->frontier.n + s->tway.n_waiting + s->tway.waiting.n + flights_waiting(s);
}

void search_stats(const struct search *s, struct search_stats *out)
{
    *out = (struct search_stats){.repeats = s->n_repeats,
                                 .audited = s->n_audited,
                                 .edges = s->tree.edges,
                                 .transcripts = s->tree.transcripts,
                                 .dropped = s->n_dropped,
                                 .elsewhere = s->elsewhere.items.n,
                                 .complete = search_done(s)};
    search_progress(s, &out->runs, &out->queued);
    memcpy(out->skipped, s->n_skipped, sizeof out->skipped);
    for (uint32_t u = 0; u < s->seen_in.n; u++) {
        out->points += search_point(s, u);
        out->conditional += search_point(s, u) && !s->happy.at[u];
    }
}

const struct search_run *search_runs(const struct search *s, uint32_t *n)
{
    *n = s->runs.n;
    return s->runs.at;
}

const struct search_run *search_last(const struct search *s)
{
    return &vec_last(&s->runs);
}
