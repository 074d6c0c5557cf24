/* SPDX-License-Identifier: Apache-2.0 */
#include "search/lineage.h"
#include "search/search_int.h"

static struct frontier_bucket *bucket(struct frontier *f, uint32_t i)
{
    while (f->buckets.n <= i)
        vec_push(&f->buckets, (struct frontier_bucket){0});
    return &f->buckets.at[i];
}

/* Smallest first, equal sizes (or ranks) in order of discovery: one queue per size. */
static void push_by_size(struct frontier *f, struct frontier_item item, uint32_t size)
{
    struct frontier_bucket *b = bucket(f, size);
    vec_push(&b->items, item);
    if (size < f->first)
        f->first = size;
}

static struct frontier_item pop_by_size(struct frontier *f)
{
    while (f->buckets.at[f->first].head == f->buckets.at[f->first].items.n)
        f->first++;
    struct frontier_bucket *b = &f->buckets.at[f->first];
    struct frontier_item item = b->items.at[b->head++];
    if (b->head == b->items.n) {
        vec_deinit(&b->items);
        b->head = 0;
    }
    return item;
}

static struct frontier_item peek_by_size(const struct frontier *f, uint64_t after)
{
    const struct frontier_bucket *b = &f->buckets.at[f->first];
    for (; after >= b->items.n - b->head; b++)
        after -= b->items.n - b->head;
    return b->items.at[b->head + after];
}

/* The size (or rank) of the next. */
static uint64_t rank_by_size(const struct search *s)
{
    const struct frontier *f = &s->frontier;
    uint32_t i = f->first;
    while (f->buckets.at[i].head == f->buckets.at[i].items.n)
        i++;
    return i;
}

static void push_last(struct frontier *f, struct frontier_item item, uint32_t size)
{
    (void)size;
    vec_push(&bucket(f, 0)->items, item);
}

static struct frontier_item pop_last(struct frontier *f)
{
    struct frontier_bucket *b = &f->buckets.at[0];
    return b->items.at[--b->items.n];
}

static struct frontier_item peek_last(const struct frontier *f, uint64_t after)
{
    const struct frontier_bucket *b = &f->buckets.at[0];
    return b->items.at[b->items.n - 1 - after];
}

static struct frontier_item pop_random(struct frontier *f)
{
    struct frontier_bucket *b = &f->buckets.at[0];
    uint32_t i = rng_below(&f->rng, b->items.n);
    struct frontier_item item = b->items.at[i];
    b->items.at[i] = vec_last(&b->items);
    b->items.n--;
    return item;
}

/* Without looking where pop_random would have moved items. */
static struct frontier_item peek_random(const struct frontier *f, uint64_t after)
{
    const struct frontier_bucket *b = &f->buckets.at[0];
    struct rng rng = f->rng;
    for (uint64_t k = 0; k < after; k++)
        (void)rng_below(&rng, (uint32_t)(b->items.n - k));
    return b->items.at[rng_below(&rng, (uint32_t)(b->items.n - after))];
}

/* Any of the items of all searches. */
static uint32_t choose_random(struct suite *suite, const bool *ready)
{
    uint64_t all = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < suite->searches.n; i++)
        if (ready[i] && suite_queued(suite, i)) {
            all += suite_queued(suite, i);
            last = i;
        }
    uint64_t at = rng_next(&suite->rng) % (all ? all : 1);
    for (uint32_t i = 0; i < last; i++)
        if (ready[i]) {
            uint64_t n = suite_queued(suite, i);
            if (at < n)
                return i;
            at -= n;
        }
    return last;
}

/* ---- the order `soon` ---- */

/* What may show a mistake at little cost comes first. A rank is twice the number
 * of things that fail, where a call that fails in the same way at every try is one thing: most
 * mistakes show when something is down, and a retry only hides that for a try. Somebody who waits
 * for an answer that does not come takes as long as a hundred other runs: such faultloads come
 * after those with one fault more. So the ranks are
 *
 *   2 one thing   4 two   5 one, and somebody waits   6 three   7 two, and somebody waits   8 ...
 *
 * A part of a faultload never has a higher rank than the whole, so a finding is minimal when it is
 * first seen, but for tries that need not fail; those are found when it is shrunk. */

/* Does `fault` do to a try what another fault of f does to the try before? Only faults bring tries
 * about: equal calls that are made in any case are things of their own. */
static bool goes_on(const struct search *s, faultload f, struct fault fault)
{
    const struct element *el = uid_element(s->names, fault.point);
    if (el->n == 0 || el->n == N_ANY || search_happy(s, fault.point))
        return false;
    for (; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        struct fault other = s->fl->rows.at[f].last;
        const struct element *before = uid_element(s->names, other.point);
        if (other.mode == fault.mode && before->n + 1 == el->n && before->service == el->service &&
            before->interface == el->interface && before->payload == el->payload &&
            uid_parent(s->names, other.point) == uid_parent(s->names, fault.point))
            return true;
    }
    return false;
}

uint32_t soon_score(const struct search *s, faultload f)
{
    uint32_t things = 0;
    bool waits = false;
    for (faultload at = f; at != FAULTLOAD_EMPTY; at = s->fl->rows.at[at].rest) {
        struct fault fault = s->fl->rows.at[at].last;
        things += !goes_on(s, f, fault);
        waits |= mode_waits(fault.mode);
    }
    return 2 * things + (waits ? 3 : 0);
}

/* ---- all of them ---- */

static uint32_t size_of(const struct search *s, faultload f)
{
    return faultload_size(s->fl, f);
}

static const struct order_row rows[] = {
    {"size"},   /* fewest faults first, so that a finding is minimal when it is first seen */
    {"depth"},  /* follows the newest discovery: deep combinations early */
    {"random"}, /* any of them, by --seed */
    {"soon"}, /* fewest failing calls first, with all their tries; what makes callers wait later */
    {"lineage"}, /* what hits every way to the good outcome that was seen (lineage.h) */
    {"fitness"}, /* what is like runs that broke something, over a suite (fitness.h) */
    {"auto"},    /* lineage, then fitness, then the smallest (order_auto.c) */
};

static const struct order_ops by_size = {.score = size_of,
                                         .push = push_by_size,
                                         .pop = pop_by_size,
                                         .peek = peek_by_size,
                                         .rank = rank_by_size};

static const struct order_ops by_depth = {
    .score = size_of, .push = push_last, .pop = pop_last, .peek = peek_last};

static const struct order_ops at_random = {.score = size_of,
                                           .push = push_last,
                                           .pop = pop_random,
                                           .peek = peek_random,
                                           .choose = choose_random};

static const struct order_ops soon = {.score = soon_score,
                                      .push = push_by_size,
                                      .pop = pop_by_size,
                                      .peek = peek_by_size,
                                      .rank = rank_by_size};

static const struct order_ops *const ops[] = {&by_size,     &by_depth,    &at_random, &soon,
                                              &lineage_ops, &fitness_ops, &auto_ops};

const struct order_ops *const *const order_ops = ops;
const struct order_row *const order_rows = rows;
const uint32_t order_count = sizeof rows / sizeof *rows;

void frontier_init(struct frontier *f, const struct order_ops *with, uint64_t seed)
{
    *f = (struct frontier){.ops = with, .rng = {seed}};
}

void frontier_deinit(struct frontier *f)
{
    for (uint32_t i = 0; i < f->buckets.n; i++)
        vec_deinit(&f->buckets.at[i].items);
    vec_deinit(&f->buckets);
}

void frontier_push(struct frontier *f, struct frontier_item item, uint32_t score)
{
    f->ops->push(f, item, score);
    f->n++;
}

bool frontier_pop(struct frontier *f, struct frontier_item *out)
{
    if (f->n == 0)
        return false;
    f->n--;
    *out = f->ops->pop(f);
    return true;
}

bool frontier_take(struct search *s, faultload f, struct frontier_item *out)
{
    if (!s->frontier.ops->take || !s->frontier.ops->take(s, f, out))
        return false;
    s->frontier.n--;
    return true;
}

bool frontier_peek(const struct frontier *f, uint64_t after, struct frontier_item *out)
{
    if (after >= f->n)
        return false;
    *out = f->ops->peek(f, after);
    return true;
}
