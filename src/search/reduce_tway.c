/* SPDX-License-Identifier: Apache-2.0
 *
 * Reduction `t-way`. A single fault is *absorbed* at a call when that call, and what is below it,
 * is all that differs from the run without faults. Calls of one handler whose faults are absorbed
 * are independent factors, and a value of a factor is an outcome that a single fault brings about.
 * Their combinations are not tried one by one but as rows of a covering array: every t of them take
 * all their values together in some run. Three phases, each begins when the frontier is empty:
 *
 *   SINGLES   combinations wait; single faults show what is absorbed
 *   ROWS      the rows are run; combinations of factors wait, all others are searched exactly
 *   CHECKED   a combination whose every t faults did fire together in some run is skipped; what
 *             a row failed to show, one fault keeping another from firing, is searched exactly
 *
 * 1. Only calls of one handler are combined: calls of different ones meet in the outcomes that
 *    their handlers pass up, and those are explored anyway.
 * 2. No more runs than without: a row shows a transcript of its handler that no run has shown, and
 *    all of these would have been shown. Rows of which that is not so are not run.
 * 3. What waits is kept call by call, without an edge or a faultload for each of its modes; what is
 *    skipped is not kept at all.
 * 4. That a combination was shown need not be looked up while all rows fired as planned. A value
 *    that once did not is in *doubt*, and combinations with it are looked up. */
#include "search/search_int.h"

#include "base/hash.h"

enum { SETS_WORD = 64 };

/* ---- factors and their values ---- */

static struct tway_value *value_of(const struct tway *t, struct fault fault)
{
    const uint32_t *at = map_get(&t->value_of, fault_number(fault));
    return at ? &t->values.at[*at] : NULL;
}

static uint32_t group_of(const struct tway *t, const struct tway_value *value)
{
    return t->factors.at[value->factor].group;
}

/* The group that all faults of f belong to, or TWAY_MIXED. Asked for the faults before each call of
 * a run, one call after the other, so the answer before is mostly that of all but the last. */
static uint32_t common_group(struct search *s, faultload f)
{
    struct tway_memo *memo = &s->tway.memo;
    uint32_t group = TWAY_ANY;
    for (faultload k = f; k != FAULTLOAD_EMPTY && group != TWAY_MIXED; k = s->fl->rows.at[k].rest) {
        if (k == memo->faultload) {
            bool agrees = group == TWAY_ANY || memo->group == group;
            group = agrees ? memo->group : TWAY_MIXED;
            break;
        }
        const struct tway_value *value = value_of(&s->tway, s->fl->rows.at[k].last);
        uint32_t own = value ? group_of(&s->tway, value) : TWAY_MIXED;
        group = group == TWAY_ANY || group == own ? own : TWAY_MIXED;
    }
    *memo = (struct tway_memo){f, group};
    return group;
}

/* ---- what was shown ---- */

static void doubt(struct search *s, struct fault fault)
{
    struct tway_value *value = value_of(&s->tway, fault);
    if (!value)
        return;
    value->doubt = true;
    s->tway.groups.at[group_of(&s->tway, value)].doubt = true;
}

void tway_doubt(struct search *s, faultload f)
{
    for (; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest)
        doubt(s, s->fl->rows.at[f].last);
}

/* Did some run have all of these values? */
static bool together(struct tway_value *const *chosen, uint32_t n)
{
    for (uint32_t w = 0; w < chosen[0]->runs.n; w++) {
        uint64_t runs = chosen[0]->runs.at[w];
        for (uint32_t i = 1; i < n && runs; i++)
            runs &= w < chosen[i]->runs.n ? chosen[i]->runs.at[w] : 0;
        if (runs)
            return true;
    }
    return false;
}

/* Is every choice of values from `from` on, up to k with the chosen ones, shown? The doubtful come
 * first, so that the rest of a choice without any need not be looked at. */
static bool covered(struct tway_value *const *all, uint32_t n, uint32_t from,
                    struct tway_value **chosen, uint32_t have, uint32_t k, bool doubtful)
{
    if (have == k)
        return !doubtful || together(chosen, k);
    for (uint32_t i = from; i + (k - have) <= n; i++) {
        if (!doubtful && !all[i]->doubt)
            return true;
        chosen[have] = all[i];
        if (!covered(all, n, i + 1, chosen, have + 1, k, doubtful || all[i]->doubt))
            return false;
    }
    return true;
}

/* Is every t of the causes and this value shown? The causes fired together in the run from which
 * this was thought of, so only choices with the value count. */
static bool all_shown(const struct search *s, faultload causes, struct tway_value *value)
{
    const struct tway *t = &s->tway;
    uint32_t n = faultload_size(s->fl, causes), first = 0, last = n;
    uint32_t k = n + 1 < s->opt.t_way ? n + 1 : s->opt.t_way;
    struct tway_value **all = mem_alloc(n * sizeof *all), *chosen[TWAY_MAX] = {value};
    for (faultload f = causes; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        struct tway_value *cause = value_of(t, s->fl->rows.at[f].last);
        if (cause) /* always: they are of the value's group */
            all[cause->doubt ? first++ : --last] = cause;
    }
    bool shown = first == last && covered(all, n, 0, chosen, 1, k, value->doubt);
    mem_free(all);
    return shown;
}

/* ---- asked about a faultload ---- */

bool tway_may_be_factors(const struct search *s, faultload causes, struct fault fault)
{
    if (s->tway.phase != TWAY_SINGLES)
        return true; /* nothing else waits or is skipped then */
    bool may = search_happy(s, fault.point);
    for (faultload f = causes; f != FAULTLOAD_EMPTY && may; f = s->fl->rows.at[f].rest)
        may = search_happy(s, s->fl->rows.at[f].last.point);
    return may;
}

enum tway_answer tway_ask_more(struct search *s, faultload causes, struct fault fault)
{
    const struct tway *t = &s->tway;
    if (causes == FAULTLOAD_EMPTY)
        return TWAY_RUN;
    if (t->phase == TWAY_SINGLES)
        return TWAY_WAIT;
    struct tway_value *value = value_of(t, fault);
    if (!value || common_group(s, causes) != group_of(t, value))
        return TWAY_RUN;
    if (t->phase == TWAY_ROWS)
        return TWAY_WAIT;
    bool doubt = t->groups.at[group_of(t, value)].doubt;
    return !doubt || all_shown(s, causes, value) ? TWAY_SKIP : TWAY_RUN;
}

enum tway_answer tway_ask(struct search *s, faultload f)
{
    return tway_ask_more(s, s->fl->rows.at[f].rest, s->fl->rows.at[f].last);
}

/* Does the row soon leave what was seen of its handler? Nearly all do, which saves a prediction. */
static bool soon_new(struct search *s, faultload row, uid handler)
{
    struct tway *t = &s->tway;
    for (faultload f = row; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        const struct tway_value *value = value_of(t, s->fl->rows.at[f].last);
        if (value)
            t->factors.at[value->factor].planned = (struct tway_plan){row, value->label};
    }
    const struct tree *tree = &s->tree;
    uint32_t node = tree_find_root(tree, s->names, handler);
    while (node != NODE_NONE && tree->nodes.at[node].child != NODE_NONE) {
        uint32_t element = tree->nodes.at[tree->nodes.at[node].child].element;
        uid call = names_uid(s->names, handler, element);
        const uint32_t *factor = map_get(&t->factor_of, call), *usual = map_get(&t->usual, call);
        const struct tway_plan *plan = factor ? &t->factors.at[*factor].planned : NULL;
        if (!usual)
            return false; /* not known */
        uint32_t edge =
            tree_find(tree, node, element, plan && plan->row == row ? plan->label : *usual);
        if (edge == NODE_NONE || tree->nodes.at[edge].state != EDGE_SEEN)
            return true;
        node = edge;
    }
    return false;
}

bool tway_row_shows_nothing(struct search *s, faultload row)
{
    const struct tway_value *value = value_of(&s->tway, s->fl->rows.at[row].last);
    uid point = value ? s->tway.factors.at[value->factor].point : UID_NONE;
    if (!value || soon_new(s, row, uid_parent(s->names, point)))
        return false;
    struct explanation why;
    explain_predict(s, row, false, &why);
    return why.kind == EXPLAIN_IMPOSSIBLE || why.kind == EXPLAIN_REDUNDANT;
}

/* ---- observed ---- */

static void add_value(struct search *s, uid point, label l, struct fault fault)
{
    struct tway *t = &s->tway;
    uint64_t key = hash_mix(point, l);
    const uint32_t *known = map_get(&t->outcome_of, key);
    const uint32_t *factor = map_get(&t->factor_of, point);
    if (!factor) {
        map_set(&t->factor_of, point, t->factors.n);
        vec_push(&t->factors, (struct tway_factor){.point = point});
    }
    if (!known) {
        map_set(&t->outcome_of, key, t->values.n);
        struct tway_value value = {
            .factor = *map_get(&t->factor_of, point), .label = l, .fault = fault};
        for (uint32_t i = 0; i < s->opt.n_modes; i++) /* at the call itself, if any mode does it */
            if (mode_label(s->opt.modes[i]) == l && search_takes(s, point, s->opt.modes[i]))
                value.fault = (struct fault){point, s->opt.modes[i]};
        map_set(&t->value_of, fault_number(value.fault), t->values.n);
        vec_push(&t->values, value);
    }
    map_set(&t->value_of, fault_number(fault), *map_get(&t->outcome_of, key));
}

/* The innermost call at which this single fault is absorbed, from its own outwards. */
static void observe_single(struct search *s, const struct trace *trace, bool duplicate)
{
    faultload f = s->now.item.faultload;
    struct tway *t = &s->tway;
    if (f == FAULTLOAD_EMPTY) {
        for (uint32_t i = 1; i < trace->calls.n; i++) {
            uid u = trace->calls.at[i].uid;
            map_set(&t->baseline, u, hash_fold(reading_signature(s, trace, u, true)));
            map_set(&t->usual, u, call_label(&trace->calls.at[i]));
        }
        return;
    }
    if (faultload_size(s->fl, f) != 1)
        return;
    struct fault fault = s->fl->rows.at[f].last;
    mode alike = duplicate ? modes_alike(s, fault) : fault.mode;
    const struct tway_value *same = value_of(t, (struct fault){fault.point, alike});
    if (same) { /* under `modes`, one speaks for all that are alike */
        map_set(&t->value_of, fault_number(fault), (uint32_t)(same - t->values.at));
        return;
    }
    for (uid u = fault.point; u != UID_NONE; u = uid_parent(s->names, u)) {
        const uint32_t *normal = map_get(&t->baseline, u);
        if (!normal || *normal != hash_fold(reading_signature(s, trace, u, true)))
            continue;
        uint32_t i = 1;
        while (i < trace->calls.n && trace->calls.at[i].uid != u)
            i++;
        if (i < trace->calls.n && call_label(&trace->calls.at[i]) != *map_get(&t->usual, u))
            add_value(s, u, call_label(&trace->calls.at[i]), fault);
        return; /* else its caller does not even notice */
    }
}

void tway_observe(struct search *s, faultload planned, const struct trace *trace, bool duplicate)
{
    struct tway *t = &s->tway;
    if (t->phase == TWAY_SINGLES) {
        observe_single(s, trace, duplicate);
        return;
    }
    uint32_t word = t->n_runs / SETS_WORD;
    uint64_t bit = 1ull << t->n_runs % SETS_WORD;
    for (uint32_t i = 0; i < s->reading.fired.n; i++) {
        struct tway_value *value = value_of(t, s->reading.fired.at[i]);
        while (value && value->runs.n <= word)
            vec_push(&value->runs, 0);
        if (value)
            value->runs.at[word] |= bit;
    }
    for (faultload f = planned; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        const struct tway_value *value = value_of(t, s->fl->rows.at[f].last);
        bool shown = value && value->runs.n > word && value->runs.at[word] & bit;
        if (!shown)
            doubt(s, s->fl->rows.at[f].last);
    }
    t->n_runs++;
}

/* ---- phases ---- */

struct rows {
    struct search *s;
    const struct tway_group *group;
    struct map queued;
};

static void queue_row(void *ctx, const uint32_t *values)
{
    struct rows *rows = ctx;
    struct search *s = rows->s;
    faultload f = FAULTLOAD_EMPTY;
    for (uint32_t i = 0; i < rows->group->factors.n; i++) {
        const struct tway_factor *factor = &s->tway.factors.at[rows->group->factors.at[i]];
        if (values[i] > 0) /* 0: not failed */
            f = faultload_extend(s->fl, f,
                                 s->tway.values.at[factor->values.at[values[i] - 1]].fault);
    }
    if (map_count(&rows->queued, faultload_key(s->fl, f)) > 1)
        return;
    if (ASSUMES(s, REDUCE_MAX_FAULTS) && faultload_size(s->fl, f) > s->opt.max_faults)
        tway_doubt(s, f);
    else
        search_queue(s, (struct frontier_item){f, NODE_NONE});
}

/* Factors of one handler are a group; each group has its rows. */
static void queue_rows(struct search *s)
{
    struct tway *t = &s->tway;
    struct map group_at = {0};
    for (uint32_t i = 0; i < t->factors.n; i++) {
        uid handler = uid_parent(s->names, t->factors.at[i].point);
        const uint32_t *at = map_get(&group_at, handler);
        t->factors.at[i].group = at ? *at : t->groups.n;
        if (!at) {
            map_set(&group_at, handler, t->groups.n);
            vec_push(&t->groups, (struct tway_group){0});
        }
        vec_push(&t->groups.at[t->factors.at[i].group].factors, i);
    }
    map_deinit(&group_at);
    for (uint32_t i = 0; i < t->values.n; i++)
        vec_push(&t->factors.at[t->values.at[i].factor].values, i);
    for (uint32_t g = 0; g < t->groups.n; g++) {
        struct rows rows = {.s = s, .group = &t->groups.at[g]};
        uint32_t n = rows.group->factors.n;
        uint32_t *n_values = mem_alloc(n * sizeof *n_values);
        for (uint32_t i = 0; i < n; i++)
            n_values[i] = t->factors.at[rows.group->factors.at[i]].values.n + 1;
        uint32_t strength = s->opt.t_way < n ? s->opt.t_way : n;
        bool exact = n >= 2 && !covering_array(n_values, n, strength, queue_row, &rows);
        for (uint32_t i = 0; i < t->values.n && exact; i++) /* more modes than are allowed */
            if (group_of(t, &t->values.at[i]) == g)
                doubt(s, t->values.at[i].fault);
        mem_free(n_values);
        map_deinit(&rows.queued);
    }
}

/* ---- what waits ---- */

/* Asks again for one mode of a call that waits. What a row has shown already is skipped all the
 * same, and not dropped: the row had further faults, so what follows when they are absent may be
 * news. */
static bool ask_mode(struct search *s, const struct tway_call *w, mode m)
{
    struct fault fault = {w->call, m};
    uint32_t element = s->names->uids.at[w->call].element;
    enum tway_answer answer = tway_ask_more(s, w->causes, fault);
    if (answer == TWAY_WAIT)
        return false;
    uint32_t edge = tree_find(&s->tree, w->node, element, mode_label(m));
    uint8_t state = edge == NODE_NONE ? EDGE_NEW : s->tree.nodes.at[edge].state;
    if (answer == TWAY_SKIP && state != EDGE_QUEUED) {
        skip_mode(s, w->node, w->causes, fault, REDUCE_T_WAY);
    } else if (state == EDGE_SEEN) {
        s->n_dropped++;
    } else if (answer == TWAY_RUN) {
        struct candidate c = {.edge = tree_child(&s->tree, w->node, element, mode_label(m)),
                              .fault = fault,
                              .causes = w->causes};
        search_consider(s, NULL, CALL_NONE, c, false);
    }
    return true;
}

bool tway_advance(struct search *s)
{
    struct tway *t = &s->tway;
    uint32_t kept = 0;
    if (t->phase == TWAY_CHECKED)
        return false;
    if (t->phase == TWAY_SINGLES)
        queue_rows(s);
    t->phase++;
    for (uint32_t i = 0; i < t->calls.n; i++) {
        struct tway_call w = t->calls.at[i];
        for (uint32_t k = 0; k < s->opt.n_modes; k++)
            if (w.modes >> k & 1 && ask_mode(s, &w, s->opt.modes[k])) {
                w.modes &= ~(1ull << k);
                t->n_waiting--;
            }
        if (w.modes)
            t->calls.at[kept++] = w;
        else
            s->tree.nodes.at[w.node].counted = true;
    }
    t->calls.n = kept;
    kept = 0;
    for (uint32_t i = 0; i < t->waiting.n; i++) { /* the same for what waits one by one */
        struct frontier_item item = t->waiting.at[i];
        bool seen = s->tree.nodes.at[item.edge].state == EDGE_SEEN;
        enum tway_answer answer = tway_ask(s, item.faultload);
        if (answer == TWAY_WAIT)
            t->waiting.at[kept++] = item;
        else if (answer == TWAY_SKIP && seen)
            skip_faultload(s, item.faultload, REDUCE_T_WAY);
        else if (answer == TWAY_SKIP)
            skip_edge(s, item, REDUCE_T_WAY);
        else if (seen)
            s->n_dropped++;
        else
            search_queue(s, item);
    }
    t->waiting.n = kept;
    return true;
}

void tway_deinit(struct tway *t)
{
    vec_deinit(&t->waiting);
    vec_deinit(&t->calls);
    for (uint32_t i = 0; i < t->factors.n; i++)
        vec_deinit(&t->factors.at[i].values);
    for (uint32_t i = 0; i < t->values.n; i++)
        vec_deinit(&t->values.at[i].runs);
    for (uint32_t i = 0; i < t->groups.n; i++)
        vec_deinit(&t->groups.at[i].factors);
    vec_deinit(&t->factors);
    vec_deinit(&t->values);
    vec_deinit(&t->groups);
    map_deinit(&t->baseline);
    map_deinit(&t->usual);
    map_deinit(&t->factor_of);
    map_deinit(&t->value_of);
    map_deinit(&t->outcome_of);
}
