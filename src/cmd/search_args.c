/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a search, from the command line to numbers and back to words. */
#include "cmd/search_args.h"

#define QUICK (1u << REDUCE_MODES_ONCE | 1u << REDUCE_RETRIES | 1u << REDUCE_MAX_FAULTS)

int search_args(const struct args *args, uint8_t speaks, struct mode_list *modes,
                struct search_options *out, struct err *e)
{
    if (args->quick) { /* few runs of each kind; any of it can be said otherwise */
        *modes = (struct mode_list){0};
        mode_list_add_set(modes, SET_STANDARD);
        out->modes = modes->at;
        out->assume = QUICK;
        out->max_faults = 2;
        out->t_way = 0;
    }
    for (enum search_option i = 0; i < SEARCH_OPTIONS; i++)
        if (args->search[i] && search_option_read(i, slice_of(args->search[i]), modes, out, e))
            return -1;
    if (out->modes == modes->at) {
        mode_list_fit(modes, speaks);
        out->n_modes = modes->n;
    }
    /* --assume stands in place of what was assumed so far */
    if (args->search[SEARCH_MAX_FAULTS] || (args->search[SEARCH_ASSUME] && args->quick))
        out->assume |= 1u << REDUCE_MAX_FAULTS;
    if (args->search[SEARCH_T_WAY])
        out->assume |= 1u << REDUCE_T_WAY;
    if (out->t_way == 4 && out->n_modes > FOUR_WAY_MODES_MAX)
        return err_set(e, 0, 0,
                       "4-way takes at most %u modes, not %u: any four calls alone would need more "
                       "than a million runs; name fewer modes, or use 3-way",
                       (unsigned)FOUR_WAY_MODES_MAX, (unsigned)out->n_modes);
    if (args->search[SEARCH_AUDIT] && out->audit > 0 && !out->assume)
        return err_set(
            e, 0, 0,
            "--audit runs what reductions skip, and none is in use: add --assume, --max-faults or --t-way");
    return 0;
}

void search_describe(const struct search_options *options, struct arena *arena, struct summary *out)
{
    bool told = out->assumptions.n > 0;
    out->modes = options->modes;
    out->n_modes = options->n_modes;
    out->order = order_rows[options->order].name;
    out->seed = options->seed;
    out->quick = (options->assume & QUICK) == QUICK;
    out->shard = options->shard;
    out->shards = options->shards;
    for (enum reduction r = 0; r < REDUCTIONS && !told; r++) {
        if (!(options->assume >> r & 1))
            continue;
        struct buf text = BUF_INIT(1000);
        buf_addf(&text, "%s", reduction_rows[r].name);
        if (r == REDUCE_MAX_FAULTS)
            buf_addf(&text, " %u", (unsigned)options->max_faults);
        if (r == REDUCE_T_WAY)
            buf_addf(&text, " %u", (unsigned)options->t_way);
        buf_addf(&text, ": %s", reduction_rows[r].assumption);
        vec_push(&out->assumptions, arena_copy(arena, text.p, text.n));
        buf_deinit(&text);
    }
}

uint64_t search_seed(const struct args *args)
{
    const char *text = args->search[SEARCH_SEED];
    uint64_t seed = 0;
    return text && slice_to_u64(slice_of(text), INT64_MAX, &seed) ? seed : 0;
}
