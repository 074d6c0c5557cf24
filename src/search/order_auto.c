/* SPDX-License-Identifier: Apache-2.0
 *
 * The order `auto`: a search begins with `lineage` and goes on with `fitness`, which at the end takes
 * the smallest of what is left. Both learn from every run; what is queued is with one of them.
 *
 * Scenarios of a suite share services, and what a service does when a call fails is seldom another
 * thing in another scenario. So a hypothesis is run at once only if no run of any scenario has failed
 * calls at the same sites. One that is known so far is left to `fitness`, which tries it elsewhere when
 * it broke something.
 *
 * 1. While there are hypotheses that are worth a run, one of them is `next`, and nothing else is given.
 * 2. When there is none, all that is queued goes to `fitness`, for ever.
 * 3. Of a suite, searches that have a `next` come first. */
#include "base/hash.h"
#include "search/fitness.h"
#include "search/lineage.h"
#include "search/search_int.h"

enum part { PART_LINEAGE, PART_FITNESS, PARTS };

static const struct order_ops *const parts[PARTS] = {&lineage_ops, &fitness_ops};

/* In frontier.own. */
struct both {
    struct search *search;
    void *own[PARTS];   /* what would be in frontier.own if there were only this part */
    enum part now;      /* it takes what is queued */
    uint64_t n_lineage; /* queued there, without `next` */
    bool has_next;      /* else `next` says nothing */
    struct frontier_item next;
};

/* A part finds its own in frontier.own while it is asked. */
static struct both *lend(struct frontier *f, enum part part)
{
    struct both *both = f->own;
    f->own = both->own[part];
    return both;
}

static void open_auto(struct search *s)
{
    struct both *both = mem_zero(sizeof *both);
    both->search = s;
    lineage_ops.open(s);
    both->own[PART_LINEAGE] = s->frontier.own;
    fitness_open(s, REST_BY_SCORE);
    both->own[PART_FITNESS] = s->frontier.own;
    s->frontier.own = both;
}

static void close_auto(struct search *s)
{
    for (enum part part = 0; part < PARTS; part++) {
        struct both *both = lend(&s->frontier, part);
        parts[part]->close(s);
        s->frontier.own = both;
    }
    mem_free(s->frontier.own);
    s->frontier.own = NULL;
}

static void push_to(struct frontier *f, enum part part, struct frontier_item item, uint32_t score)
{
    struct both *both = lend(f, part);
    parts[part]->push(f, item, score);
    f->own = both;
    both->n_lineage += part == PART_LINEAGE;
}

static void push_auto(struct frontier *f, struct frontier_item item, uint32_t score)
{
    push_to(f, ((const struct both *)f->own)->now, item, score);
}

/* The same for all faultloads at the same sites. */
static uint64_t sites_key(const struct search *s, faultload f)
{
    uint64_t sum = 0;
    for (; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        uid point = s->fl->rows.at[f].last.point, caller = uid_parent(s->names, point);
        const struct element *el = uid_element(s->names, point);
        sym from = caller == UID_NONE ? 0 : uid_element(s->names, caller)->service;
        sum += hash_mix(hash_mix(from, el->service), el->interface);
    }
    return sum;
}

static void leave_to_fitness(struct both *both, struct frontier_item item)
{
    push_to(&both->search->frontier, PART_FITNESS, item, soon_score(both->search, item.faultload));
}

/* Finds the next hypothesis that is worth a run, if there is one. */
static void advance(struct both *both)
{
    struct lineage *l = both->own[PART_LINEAGE];
    struct fitness *fit = fitness_of(both->own[PART_FITNESS]);
    if (both->now == PART_FITNESS)
        return;
    for (;;) {
        uint32_t size;
        if (both->has_next) {
            if (!fitness_known(fit, sites_key(both->search, both->next.faultload)))
                return;
            both->has_next = false;
            leave_to_fitness(both, both->next);
        }
        if (both->n_lineage == 0)
            return;
        if (lineage_next_tier(l, &size) != TIER_HYPOTHESIS)
            break;
        both->next = lineage_pop(l);
        both->n_lineage--;
        both->has_next = true;
    }
    both->now = PART_FITNESS;
    for (; both->n_lineage > 0; both->n_lineage--)
        leave_to_fitness(both, lineage_pop(l));
}

static struct frontier_item pop_auto(struct frontier *f)
{
    struct both *both = f->own;
    advance(both);
    if (both->has_next) {
        both->has_next = false;
        return both->next;
    }
    lend(f, PART_FITNESS);
    struct frontier_item item = fitness_ops.pop(f);
    f->own = both;
    return item;
}

static struct frontier_item peek_auto(const struct frontier *f, uint64_t after)
{
    const struct both *both = f->own;
    struct frontier part = *f; /* it is only looked at */
    if (both->has_next && after-- == 0)
        return both->next;
    enum part in = after < both->n_lineage ? PART_LINEAGE : PART_FITNESS;
    part.own = both->own[in];
    return parts[in]->peek(&part, in == PART_FITNESS ? after - both->n_lineage : after);
}

static bool take_auto(struct search *s, faultload f, struct frontier_item *out)
{
    struct both *both = s->frontier.own;
    bool taken = both->has_next && faultload_eq(s->fl, both->next.faultload, f);
    if (taken) {
        both->has_next = false;
        *out = both->next;
    }
    for (enum part part = 0; part < PARTS && !taken; part++) {
        lend(&s->frontier, part);
        taken = parts[part]->take(s, f, out);
        s->frontier.own = both;
        both->n_lineage -= taken && part == PART_LINEAGE;
    }
    return taken;
}

static void observed_auto(struct search *s, struct frontier_item item, const struct trace *trace,
                          const struct verdict *verdict)
{
    for (enum part part = 0; part < PARTS; part++) {
        struct both *both = lend(&s->frontier, part);
        parts[part]->observed(s, item, trace, verdict);
        s->frontier.own = both;
    }
    const struct both *both = s->frontier.own;
    if (search_last(s)->fired)
        fitness_know(fitness_of(both->own[PART_FITNESS]), sites_key(s, item.faultload));
}

/* Those with a hypothesis, the smallest first. */
static uint64_t rank_auto(const struct search *s)
{
    const struct both *both = s->frontier.own;
    return both->has_next ? faultload_size(s->fl, both->next.faultload) : UINT64_MAX;
}

static uint32_t choose_auto(struct suite *suite, const bool *ready)
{
    bool hypotheses = false;
    for (uint32_t i = 0; i < suite->searches.n; i++)
        if (ready[i] && suite->searches.at[i] && suite->searches.at[i]->frontier.n > 0) {
            struct both *both = suite->searches.at[i]->frontier.own;
            advance(both);
            hypotheses |= both->has_next;
        }
    return hypotheses ? suite_lowest(suite, ready, rank_auto) : fitness_ops.choose(suite, ready);
}

const struct order_ops auto_ops = {
    .open = open_auto,
    .close = close_auto,
    .score = soon_score,
    .push = push_auto,
    .pop = pop_auto,
    .peek = peek_auto,
    .take = take_auto,
    .observed = observed_auto,
    .choose = choose_auto,
};
