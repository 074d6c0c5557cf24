/* SPDX-License-Identifier: Apache-2.0
 *
 * Berge's step: the minimal hitting sets that hit the new support too stay what they are. One that
 * misses it is extended by each of its points. What comes of that hits everything; it is minimal
 * when each point is needed, that is, when some support is hit by this point alone:
 *
 *   supports  a b    a c                 sets  {a} {b c}
 *   new       b d                        {b c} stays; {a} becomes {a b}, {a d}
 *   {a b}     b is needed for "b d", a for "a c": minimal
 *
 * 1. Every set that is listed hits every column that is used, and needs each of its points.
 * 2. No set is listed twice: an extended set has exactly one point of the new support, and without
 *    it is the set that it came from.
 * 3. A set that ceases to hit everything never does again; one that is minimal stays so as long as it
 *    hits everything. So nothing but the missed ones must be looked at.
 * 4. No support is part of another: the larger one says nothing that the smaller one does not. */
#include "search/hitting.h"

#include <string.h>

/* Extensions that are looked at in one step, at most: time has a bound too. */
enum { TRIES_MAX = 1 << 15 };

static bool bit(const uint64_t *bits, uint32_t i)
{
    return bits[i / 64] >> i % 64 & 1;
}

/* The supports with this point. */
static const uint64_t *row(const struct hitting *h, uint32_t point)
{
    return &h->table.at[(size_t)point * h->words];
}

void hitting_init(struct hitting *h, uint32_t most)
{
    *h = (struct hitting){.most = most, .complete = true};
    vec_push(&h->sets, (struct hitting_set){0});
}

void hitting_deinit(struct hitting *h)
{
    vec_deinit(&h->sets);
    vec_deinit(&h->points);
    vec_deinit(&h->table);
    vec_deinit(&h->used);
    vec_deinit(&h->own);
    vec_deinit(&h->in);
    vec_deinit(&h->once);
    vec_deinit(&h->old_points);
    vec_deinit(&h->kept);
    vec_deinit(&h->missed);
}

/* ---- the table ---- */

/* Room for this point: a row without a bit. */
static void add_rows(struct hitting *h, uint32_t point)
{
    for (; h->n_points <= point; h->n_points++) {
        for (uint32_t w = 0; w < h->words; w++)
            vec_push(&h->table, 0);
        if (h->n_points % 64 == 0)
            vec_push(&h->in, 0);
    }
}

/* Twice as many columns. */
static void add_columns(struct hitting *h)
{
    uint32_t words = h->words ? 2 * h->words : 1;
    while (h->table.n < (size_t)h->n_points * words)
        vec_push(&h->table, 0);
    for (uint32_t p = h->n_points;
         p-- > 0;) /* the last first: none is overwritten before it moves */
        for (uint32_t w = words; w-- > 0;)
            h->table.at[(size_t)p * words + w] =
                w < h->words ? h->table.at[(size_t)p * h->words + w] : 0;
    h->words = words;
    while (h->used.n < words) {
        vec_push(&h->used, 0);
        vec_push(&h->once, 0);
    }
}

/* The columns that have every point of the new support, and so say no more than it does, are free
 * again. */
static void drop_larger(struct hitting *h)
{
    for (uint32_t w = 0; w < h->words; w++) {
        uint64_t larger = h->used.at[w];
        for (uint32_t i = 0; i < h->own.n && larger; i++)
            larger &= row(h, h->own.at[i])[w];
        if (!larger)
            continue;
        h->used.at[w] &= ~larger;
        for (uint32_t p = 0; p < h->n_points; p++)
            h->table.at[(size_t)p * h->words + w] &= ~larger;
    }
}

/* Is an earlier support part of the new one? */
static bool has_smaller(const struct hitting *h)
{
    for (uint32_t w = 0; w < h->words; w++) {
        uint64_t outside = 0; /* supports with a point that the new one does not have */
        for (uint32_t p = 0; p < h->n_points; p++)
            if (!bit(h->in.at, p))
                outside |= row(h, p)[w];
        if (h->used.at[w] & ~outside)
            return true;
    }
    return false;
}

/* A column for the new support; false: there are as many as may be. */
static bool fill_column(struct hitting *h)
{
    uint32_t w = 0;
    while (w < h->words && h->used.at[w] == UINT64_MAX)
        w++;
    if (w == h->words && w * 64 >= HITTING_SUPPORTS_MAX)
        return false;
    if (w == h->words)
        add_columns(h);
    uint64_t column = ~h->used.at[w] & (h->used.at[w] + 1); /* the lowest that is free */
    h->used.at[w] |= column;
    for (uint32_t i = 0; i < h->own.n; i++)
        h->table.at[(size_t)h->own.at[i] * h->words + w] |= column;
    return true;
}

/* ---- the step ---- */

/* Reads the new support: `own` and `in`. */
static void take_points(struct hitting *h, const uint32_t *points, uint32_t n)
{
    h->own.n = 0;
    for (uint32_t i = 0; i < h->in.n; i++)
        h->in.at[i] = 0;
    for (uint32_t i = 0; i < n; i++) {
        add_rows(h, points[i]);
        if (bit(h->in.at, points[i]))
            continue;
        h->in.at[points[i] / 64] |= 1ull << points[i] % 64;
        vec_push(&h->own, points[i]);
    }
}

/* Parts the list in those that hit the new support and those that miss it. */
static void part_sets(struct hitting *h)
{
    h->kept.n = h->missed.n = 0;
    for (uint32_t i = 0; i < h->sets.n; i++) {
        struct hitting_set set = h->sets.at[i];
        uint32_t k = 0;
        while (k < set.n && !bit(h->in.at, h->points.at[set.first + k]))
            k++;
        if (k < set.n)
            vec_push(&h->kept, set);
        else
            vec_push(&h->missed, set);
    }
}

/* Fills `once` for this set of the step before. */
static void fill_once(struct hitting *h, struct hitting_set set)
{
    for (uint32_t w = 0; w < h->words; w++) {
        uint64_t hit = 0, twice = 0;
        for (uint32_t i = 0; i < set.n; i++) {
            uint64_t supports = row(h, h->old_points.at[set.first + i])[w];
            twice |= hit & supports;
            hit |= supports;
        }
        h->once.at[w] = hit & ~twice;
    }
}

/* With `more` added, is each point of this set still needed? `once` is of the set. */
static bool all_needed(const struct hitting *h, struct hitting_set set, uint32_t more)
{
    const uint64_t *added = row(h, more);
    for (uint32_t i = 0; i < set.n; i++) {
        const uint64_t *supports = row(h, h->old_points.at[set.first + i]);
        uint64_t needed = 0;
        for (uint32_t w = 0; w < h->words; w++)
            needed |= supports[w] & h->once.at[w] & ~added[w];
        if (!needed)
            return false;
    }
    return true;
}

/* Lists a set of the step before. */
static void list_set(struct hitting *h, struct hitting_set set, uint32_t born)
{
    vec_push(&h->sets, (struct hitting_set){h->points.n, set.n, born});
    for (uint32_t i = 0; i < set.n; i++)
        vec_push(&h->points, h->old_points.at[set.first + i]);
}

/* Lists it with each point of the new support with which it is minimal. False: no more fit. */
static bool extend(struct hitting *h, struct hitting_set set, uint32_t *tries)
{
    fill_once(h, set);
    for (uint32_t i = 0; i < h->own.n; i++) {
        if ((*tries)++ == TRIES_MAX)
            return false;
        if (!all_needed(h, set, h->own.at[i]))
            continue;
        if (h->sets.n >= h->most)
            return false;
        list_set(h, set, h->steps);
        vec_push(&h->points, h->own.at[i]);
        vec_last(&h->sets).n++;
    }
    return true;
}

/* Makes the list anew, smallest first, of those that were kept and of what comes of the others. */
static void list_again(struct hitting *h)
{
    uint32_t k = 0, tries = 0;
    bool room = true;
    h->old_points.n = 0;
    for (uint32_t i = 0; i < h->points.n; i++)
        vec_push(&h->old_points, h->points.at[i]);
    h->sets.n = h->points.n = 0;
    for (uint32_t m = 0; m < h->missed.n && room; m++) {
        for (; k < h->kept.n && h->kept.at[k].n <= h->missed.at[m].n + 1; k++)
            list_set(h, h->kept.at[k], h->kept.at[k].born);
        room = extend(h, h->missed.at[m], &tries);
    }
    for (; k < h->kept.n && h->sets.n < h->most; k++)
        list_set(h, h->kept.at[k], h->kept.at[k].born);
    h->complete &= room && k == h->kept.n;
}

bool hitting_add(struct hitting *h, const uint32_t *points, uint32_t n)
{
    take_points(h, points, n);
    part_sets(h);
    /* Of all minimal hitting sets one misses the new support, unless it contains an earlier one. */
    if (h->missed.n == 0 && (h->complete || has_smaller(h)))
        return false;
    drop_larger(h);
    if (!fill_column(h)) {
        h->complete = false;
        return false;
    }
    h->steps++;
    if (h->missed.n > 0)
        list_again(h);
    return true;
}

void hitting_join(struct hitting *h, uint32_t point, const uint32_t *others, uint32_t n)
{
    add_rows(h, point);
    for (uint32_t w = 0; w < h->words; w++) {
        uint64_t supports = 0;
        for (uint32_t i = 0; i < n; i++)
            supports |= others[i] < h->n_points ? row(h, others[i])[w] : 0;
        h->table.at[(size_t)point * h->words + w] |= supports;
        h->complete &= supports == 0;
    }
}

enum hitting_answer hitting_ask(const struct hitting *h, const uint32_t *points, uint32_t n)
{
    uint64_t needed = 0; /* a bit for each point */
    for (uint32_t w = 0; w < h->words; w++) {
        uint64_t hit = 0, twice = 0;
        for (uint32_t i = 0; i < n; i++) {
            uint64_t supports = points[i] < h->n_points ? row(h, points[i])[w] : 0;
            twice |= hit & supports;
            hit |= supports;
        }
        if (hit != h->used.at[w])
            return HITS_NOT_ALL;
        for (uint32_t i = 0; i < n && i < 64; i++)
            if (points[i] < h->n_points && row(h, points[i])[w] & ~twice)
                needed |= 1ull << i;
    }
    uint32_t count = (uint32_t)__builtin_popcountll(needed);
    return count == n ? HITS_MINIMALLY : HITS_ALL;
}
