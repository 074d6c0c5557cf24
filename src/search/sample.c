/* SPDX-License-Identifier: Apache-2.0
 *
 * Examples of what was not run. Nobody can read 244 million explanations; some of each kind say as
 * much. Faultloads are made up from what was seen, evenly over all that can be made up so: one
 * fault, two of them, and what was run with one fault more. Of each kind of answer the first are
 * kept, then as many of each as there is room for. */
#include "search/search_int.h"

enum { SAMPLE_TRIES = 400 /* of each way to make one up */ };

struct sample_item {
    faultload base;
    uint32_t n; /* faults that are added to it */
    struct fault fault[2];
    struct explanation why;
};

struct sample_kind {
    struct explanation like;
    VEC(struct sample_item) items;
};

struct sample {
    const struct search *s;
    uint32_t most;
    VEC(struct fault) faults; /* that can be injected at calls that were seen */
    struct map ran;           /* keys of faultloads: those that were run or made up already */
    VEC(struct sample_kind) kinds;
};

static faultload make_up(const struct sample *x, const struct sample_item *item)
{
    faultload f = item->base;
    for (uint32_t i = 0; i < item->n; i++)
        f = faultload_extend(x->s->fl, f, item->fault[i]);
    return f;
}

static struct sample_kind *kind_of(struct sample *x, const struct explanation *why)
{
    for (uint32_t i = 0; i < x->kinds.n; i++) {
        const struct explanation *like = &x->kinds.at[i].like;
        if (like->kind == why->kind && like->policy == why->policy &&
            like->reduction == why->reduction)
            return &x->kinds.at[i];
    }
    vec_push(&x->kinds, (struct sample_kind){.like = *why});
    return &vec_last(&x->kinds);
}

static void consider(struct sample *x, struct sample_item item)
{
    struct faultloads *fl = x->s->fl;
    uint32_t mark = fl->rows.n;
    for (uint32_t i = 0; i < item.n; i++)
        for (uint32_t k = 0; k <= i; k++)
            if (k < i ? item.fault[k].point == item.fault[i].point
                      : faultload_at(fl, item.base, item.fault[i].point) != MODE_NONE)
                return; /* two faults at one call */
    faultload f = make_up(x, &item);
    if (map_count(&x->ran, faultload_key(fl, f)) == 1) {
        explain_predict(x->s, f, true, &item.why);
        if (item.why.run != UINT32_MAX)
            item.why.run_faultload = x->s->runs.at[item.why.run].faultload;
        struct sample_kind *kind = kind_of(x, &item.why);
        if (kind->items.n < x->most)
            vec_push(&kind->items, item);
    }
    faultloads_cut(fl, mark);
}

static void list_faults(struct sample *x)
{
    const struct search *s = x->s;
    for (uid u = 1; u < s->seen_in.n; u++)
        for (uint32_t m = 0; m < s->opt.n_modes && search_point(s, u); m++)
            if (search_takes(s, u, s->opt.modes[m]))
                vec_push(&x->faults, (struct fault){u, s->opt.modes[m]});
}

/* The k-th of SAMPLE_TRIES that lie evenly among n; of fewer, the k-th. */
static uint64_t evenly(uint64_t k, uint64_t n)
{
    return n <= SAMPLE_TRIES ? k : k * n / SAMPLE_TRIES;
}

static void make_all_up(struct sample *x)
{
    const struct search *s = x->s;
    uint64_t n = x->faults.n, pairs = n * n, more = n * s->runs.n;
    for (uint64_t k = 0; k < SAMPLE_TRIES && k < n; k++)
        consider(x, (struct sample_item){.n = 1, .fault = {x->faults.at[evenly(k, n)]}});
    for (uint64_t k = 0; k < SAMPLE_TRIES && k < pairs; k++) {
        uint64_t at = evenly(k, pairs), a = at / n, b = at % n;
        consider(x, (struct sample_item){.n = 2, .fault = {x->faults.at[a], x->faults.at[b]}});
    }
    for (uint64_t k = 0; k < SAMPLE_TRIES && k < more; k++) {
        uint64_t at = evenly(k, more);
        consider(x, (struct sample_item){.base = s->runs.at[at / n].faultload,
                                         .n = 1,
                                         .fault = {x->faults.at[at % n]}});
    }
}

uint32_t search_sample(const struct search *s, uint32_t most, faultload *out,
                       struct explanation *why)
{
    struct sample x = {.s = s, .most = most};
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->runs.n; i++)
        map_count(&x.ran, faultload_key(s->fl, s->runs.at[i].faultload));
    list_faults(&x);
    make_all_up(&x);
    for (uint32_t k = 0; k < most && n < most;
         k++) /* the first of each kind, then the second ... */
        for (uint32_t i = 0; i < x.kinds.n && n < most; i++) {
            const struct sample_kind *kind = &x.kinds.at[i];
            if (k >= kind->items.n)
                continue;
            out[n] = make_up(&x, &kind->items.at[k]);
            why[n++] = kind->items.at[k].why;
        }
    for (uint32_t i = 0; i < x.kinds.n; i++)
        vec_deinit(&x.kinds.at[i].items);
    vec_deinit(&x.kinds);
    vec_deinit(&x.faults);
    map_deinit(&x.ran);
    return n;
}
