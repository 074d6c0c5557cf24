/* SPDX-License-Identifier: Apache-2.0 */
#include "search/frontier.h"

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

static const struct order_row rows[] = {
    {"size", "fewest faults first, so that a finding is minimal when it is first seen", false},
    {"depth", "follows the newest discovery: deep combinations early", false},
    {"random", "any queued faultload, drawn with --seed", false},
    {"soon", "fewest failing calls first, with all their tries; what makes callers wait later",
     true},
};

static const struct {
    void (*push)(struct frontier *f, struct frontier_item item, uint32_t size);
    struct frontier_item (*pop)(struct frontier *f);
    struct frontier_item (*peek)(const struct frontier *f, uint64_t after);
} ops[] = {{push_by_size, pop_by_size, peek_by_size},
           {push_last, pop_last, peek_last},
           {push_last, pop_random, peek_random},
           {push_by_size, pop_by_size, peek_by_size}};

const struct order_row *const order_rows = rows;
const uint32_t order_count = sizeof rows / sizeof *rows;

void frontier_init(struct frontier *f, uint32_t order, uint64_t seed)
{
    *f = (struct frontier){.order = order, .rng = {seed}};
}

void frontier_deinit(struct frontier *f)
{
    for (uint32_t i = 0; i < f->buckets.n; i++)
        vec_deinit(&f->buckets.at[i].items);
    vec_deinit(&f->buckets);
}

void frontier_push(struct frontier *f, struct frontier_item item, uint32_t size)
{
    ops[f->order].push(f, item, size);
    f->n++;
}

bool frontier_pop(struct frontier *f, struct frontier_item *out)
{
    if (f->n == 0)
        return false;
    f->n--;
    *out = ops[f->order].pop(f);
    return true;
}

bool frontier_peek(const struct frontier *f, uint64_t after, struct frontier_item *out)
{
    if (after >= f->n)
        return false;
    *out = ops[f->order].peek(f, after);
    return true;
}
