/* SPDX-License-Identifier: Apache-2.0
 *
 * Covering arrays: rows of values such that any t factors take every combination of their values in
 * some row. Rows with at most one value other than 0 are taken as given. Equal arguments give equal
 * rows. Three ways, from the fewest rows to the fewest steps:
 *
 *   greedy   A row starts from a combination that is still missing; every further factor takes the
 *            value that covers most missing combinations together with what the row has already,
 *            ties drawn by lot. The best of several such rows is kept. It knows every combination,
 *            so it is for few factors.
 *   folded   Many factors share the columns of a small array, several times over and each time
 *            shared out differently, so that any t of them once have columns of their own. Factor i
 *            is the polynomial over GF(p) whose coefficients are the digits of i in base p; time x
 *            gives it the column of its value at x. Two polynomials of degree < d meet in fewer
 *            than d points, t of them in at most C(t,2) (d-1): one time more is enough. Rows grow
 *            with the logarithm of the number of factors.
 *   direct   Row r is the polynomial with the digits of r in base q as its t coefficients, column x
 *            its value at x: through any t points goes exactly one. For so many values that
 *            greedy knows too much even about the smallest array to fold into. */
#include "search/search_int.h"

enum { T_MAX = 4, TUPLES_MAX = 1 << 19, WORK_MAX = 1 << 17, ROWS_TRIED = 32, ROWS_MAX = 1 << 20 };

#define UNSET UINT32_MAX /* no value chosen yet */

struct covering {
    const uint32_t *n_values;
    uint32_t n, t;
    VEC(struct subset {
        uint32_t factor[T_MAX];
        uint32_t first; /* of its combinations, in covered[] */
    })
    subsets;
    VEC(uint32_t) of;       /* factor by factor: the subsets that it is in, */
    VEC(uint32_t) of_first; /* and where each factor's begin */
    VEC(bool) covered;      /* by subset and combination of values */
    uint32_t missing, next; /* no combination before `next` is missing */
    struct rng rng;
};

static void add_subsets(struct covering *c, struct subset *part, uint32_t k, uint32_t from)
{
    if (k == c->t) {
        uint32_t size = 1;
        for (uint32_t i = 0; i < c->t; i++)
            size *= c->n_values[part->factor[i]];
        part->first = c->covered.n;
        vec_push(&c->subsets, *part);
        for (uint32_t i = 0; i < size; i++)
            vec_push(&c->covered, false);
        return;
    }
    for (uint32_t f = from; f < c->n; f++) {
        part->factor[k] = f;
        add_subsets(c, part, k + 1, f + 1);
    }
}

static void list_subsets(struct covering *c)
{
    for (uint32_t f = 0; f <= c->n; f++)
        vec_push(&c->of_first, 0);
    for (uint32_t i = 0; i < c->subsets.n; i++)
        for (uint32_t k = 0; k < c->t; k++) {
            c->of_first.at[c->subsets.at[i].factor[k] + 1]++;
            vec_push(&c->of, 0);
        }
    for (uint32_t f = 0; f < c->n; f++)
        c->of_first.at[f + 1] += c->of_first.at[f];
    for (uint32_t i = c->subsets.n; i-- > 0;) /* fills each part from its end, which moves */
        for (uint32_t k = 0; k < c->t; k++)
            c->of.at[--c->of_first.at[c->subsets.at[i].factor[k] + 1]] = i;
    for (uint32_t f = 0; f < c->n; f++) /* every end is where its part begins now */
        c->of_first.at[f] = c->of_first.at[f + 1];
    c->of_first.at[c->n] = c->of.n;
}

/* Where the row's values of a subset stand in covered[]; UNSET when one is not chosen yet. */
static uint32_t place(const struct covering *c, const struct subset *subset, const uint32_t *row)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->t; i++) {
        uint32_t value = row[subset->factor[i]];
        if (value == UNSET)
            return UNSET;
        at = at * c->n_values[subset->factor[i]] + value;
    }
    return subset->first + at;
}

static void choose_value(struct covering *c, uint32_t *row, uint32_t factor)
{
    uint32_t best = 0, best_gain = 0, ties = 0;
    for (uint32_t v = 0; v < c->n_values[factor]; v++) {
        uint32_t gain = 0;
        row[factor] = v;
        for (uint32_t i = c->of_first.at[factor]; i < c->of_first.at[factor + 1]; i++) {
            uint32_t at = place(c, &c->subsets.at[c->of.at[i]], row);
            gain += at != UNSET && !c->covered.at[at];
        }
        ties = gain > best_gain ? 1 : ties + (gain == best_gain);
        if (gain > best_gain || (gain == best_gain && rng_below(&c->rng, ties) == 0))
            best = v;
        if (gain > best_gain)
            best_gain = gain;
    }
    row[factor] = best;
}

/* How many missing combinations a row has; with `mark`, they are missing no more. */
static uint32_t cover(struct covering *c, const uint32_t *row, bool mark)
{
    uint32_t gain = 0;
    for (uint32_t i = 0; i < c->subsets.n; i++) {
        uint32_t at = place(c, &c->subsets.at[i], row);
        gain += !c->covered.at[at];
        if (mark)
            c->covered.at[at] = true;
    }
    c->missing -= mark ? gain : 0;
    return gain;
}

/* Fills best[] with the best of several rows. */
static void best_row(struct covering *c, uint32_t *row, uint32_t *best)
{
    uint32_t best_gain = 0;
    uint32_t tries = WORK_MAX / (c->covered.n + 1) + 1;
    if (tries > ROWS_TRIED)
        tries = ROWS_TRIED;
    for (uint32_t k = 0; k < tries; k++) {
        uint32_t shift = rng_below(&c->rng, c->n);
        for (uint32_t f = 0; f < c->n; f++)
            row[f] = UNSET;
        while (c->covered.at[c->next])
            c->next++;
        uint32_t first = 0; /* the subset whose combination is missing: the row begins with that */
        while (first + 1 < c->subsets.n && c->subsets.at[first + 1].first <= c->next)
            first++;
        const struct subset *subset = &c->subsets.at[first];
        for (uint32_t i = c->t, at = c->next - subset->first; i-- > 0;) {
            uint32_t n = c->n_values[subset->factor[i]];
            row[subset->factor[i]] = at % n;
            at /= n;
        }
        for (uint32_t i = 0; i < c->n; i++) {
            uint32_t f = (i + shift) % c->n;
            if (row[f] == UNSET)
                choose_value(c, row, f);
        }
        uint32_t gain = cover(c, row, false);
        if (gain > best_gain) {
            best_gain = gain;
            memcpy(best, row, c->n * sizeof *row);
        }
    }
}

/* ---- the three ways ---- */

/* How many combinations there are of the values of t out of n factors, at most `most` + 1. */
static uint64_t tuples(const uint32_t *n_values, uint32_t n, uint32_t t, uint64_t most)
{
    uint64_t sum[T_MAX + 1] = {1}; /* by size: over all subsets of the factors so far */
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = t; k > 0; k--) {
            sum[k] += sum[k - 1] * n_values[i];
            sum[k] = sum[k] > most ? most + 1 : sum[k];
        }
    return sum[t];
}

static void greedy(const uint32_t *n_values, uint32_t n, uint32_t t, covering_row *emit, void *ctx)
{
    struct covering c = {.n_values = n_values, .n = n, .t = t};
    struct subset part = {0};
    add_subsets(&c, &part, 0, 0);
    list_subsets(&c);
    uint32_t *row = mem_alloc(n * sizeof *row), *best = mem_alloc(n * sizeof *best);
    c.missing = c.covered.n;
    for (uint32_t i = 0; i < c.subsets.n; i++) { /* given: rows with at most one value but 0 */
        const struct subset *subset = &c.subsets.at[i];
        uint32_t step = 1; /* from one value to the next */
        c.covered.at[subset->first] = true;
        c.missing--;
        for (uint32_t k = t; k-- > 0; step *= n_values[subset->factor[k]])
            for (uint32_t v = 1; v < n_values[subset->factor[k]]; v++, c.missing--)
                c.covered.at[subset->first + v * step] = true;
    }
    while (c.missing > 0) {
        best_row(&c, row, best);
        cover(&c, best, true);
        emit(ctx, best);
    }
    mem_free(row);
    mem_free(best);
    vec_deinit(&c.subsets);
    vec_deinit(&c.of);
    vec_deinit(&c.of_first);
    vec_deinit(&c.covered);
}

static uint32_t prime_from(uint32_t n)
{
    for (;; n++) {
        uint32_t d = 2;
        while (d * d <= n && n % d)
            d++;
        if (n > 1 && d * d > n)
            return n;
    }
}

/* The polynomial whose coefficients are the digits of `digits`, at x. */
static uint32_t polynomial(uint64_t digits, uint32_t x, uint32_t p)
{
    uint64_t sum = 0, power = 1;
    for (; digits; digits /= p, power = power * x % p)
        sum += digits % p * power;
    return (uint32_t)(sum % p);
}

static void by_polynomials(uint32_t q, uint32_t n, uint32_t t, covering_row *emit, void *ctx)
{
    uint64_t rows = 1;
    uint32_t *row = mem_alloc(n * sizeof *row);
    for (uint32_t i = 0; i < t; i++)
        rows *= q;
    for (uint64_t r = 1; r < rows; r++) {
        for (uint32_t x = 0; x < n; x++)
            row[x] = polynomial(r, x, q);
        emit(ctx, row);
    }
    mem_free(row);
}

/* How n factors are folded: `times` times into `columns` columns. */
struct fold {
    const uint32_t *n_values;
    uint32_t n, columns, times;
    uint32_t *row;
    covering_row *emit;
    void *ctx;
};

/* Into how few columns, with polynomials of d coefficients. False: into no fewer than n. */
static bool fold_into(struct fold *fold, uint32_t t, uint32_t d)
{
    uint64_t room = 0;
    fold->times = t * (t - 1) / 2 * (d - 1) + 1;
    for (fold->columns = fold->times - 1; room < fold->n && fold->columns < fold->n;) {
        fold->columns = prime_from(fold->columns + 1);
        room = 1;
        for (uint32_t i = 0; i < d && room < fold->n; i++)
            room *= fold->columns;
    }
    return fold->columns < fold->n;
}

static void unfold_row(void *ctx, const uint32_t *values)
{
    struct fold *fold = ctx;
    for (uint32_t x = 0; x < fold->times; x++) {
        uint32_t others = 0;
        for (uint32_t i = 0; i < fold->n; i++) {
            uint32_t column = fold->times > 1 ? polynomial(i, x, fold->columns) : i;
            fold->row[i] = values[column] % fold->n_values[i];
            others += fold->row[i] > 0;
        }
        if (others > 1)
            fold->emit(fold->ctx, fold->row);
    }
}

/* In as few columns as greedy can do; else in as few as there are values. */
static void folded(struct fold *fold, uint32_t t, uint32_t most)
{
    uint32_t *uniform = mem_alloc(fold->n * sizeof *uniform), q = prime_from(most);
    bool fits = false;
    for (uint32_t i = 0; i < fold->n; i++)
        uniform[i] = most;
    for (uint32_t d = 2; !fits && fold_into(fold, t, d); d++)
        fits = tuples(uniform, fold->columns, t, TUPLES_MAX) <= TUPLES_MAX;
    if (!fits && (fold->n <= q || !fold_into(fold, t, 2))) {
        fold->columns = fold->n;
        fold->times = 1;
    }
    for (uint32_t d = 3; !fits && fold->columns > q && fold->times < q;)
        if (!fold_into(fold, t, d++))
            break;
    fold->row = mem_alloc(fold->n * sizeof *fold->row);
    if (fits)
        greedy(uniform, fold->columns, t, unfold_row, fold);
    else
        by_polynomials(fold->columns > q ? prime_from(fold->columns) : q, fold->columns, t,
                       unfold_row, fold);
    mem_free(fold->row);
    mem_free(uniform);
}

bool covering_array(const uint32_t *n_values, uint32_t n, uint32_t t, covering_row *emit, void *ctx)
{
    uint32_t most = 1;
    uint64_t least = 1; /* rows of any such array */
    t = t < T_MAX ? t : T_MAX;
    if (n < t)
        return true;
    for (uint32_t i = 0; i < n; i++)
        most = n_values[i] > most ? n_values[i] : most;
    for (uint32_t i = 0; i < t && least <= ROWS_MAX; i++)
        least *= most;
    struct fold fold = {.n_values = n_values, .n = n, .emit = emit, .ctx = ctx};
    bool few = tuples(n_values, n, t, TUPLES_MAX) <= TUPLES_MAX;
    if (few)
        greedy(n_values, n, t, emit, ctx);
    else if (least <= ROWS_MAX)
        folded(&fold, t, most);
    return few || least <= ROWS_MAX;
}
