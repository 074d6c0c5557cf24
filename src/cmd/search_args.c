/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a search, from the command line to numbers and back to words. */
#include "cmd/search_args.h"

static int parse_modes(const char *text, struct mode_list *out, struct err *e)
{
    slice rest = slice_of(text), word;
    *out = (struct mode_list){0};
    while (slice_cut(&rest, ',', &word))
        if (mode_list_add(out, word, e))
            return -1;
    return 0;
}

static int parse_assume(const char *list, uint32_t *bits, struct err *e)
{
    slice rest = slice_of(list), word;
    while (slice_cut(&rest, ',', &word)) {
        const char *names[REDUCTIONS];
        size_t n = 0;
        bool found = false;
        word = slice_trim(word);
        for (enum reduction r = 0; r < REDUCTIONS; r++) {
            if (!reduction_rows[r].flag)
                continue;
            names[n++] = reduction_rows[r].name;
            if (slice_is(word, reduction_rows[r].name)) {
                *bits |= 1u << r;
                found = true;
            }
        }
        if (!found)
            return err_set(
                e, 0, 0, "--assume knows stateless, modes, modes-once and retries, not \"%.*s\"%s",
                SLICE_ARG(word), err_hint(word, names, n).text);
    }
    return 0;
}

static int parse_order(const char *name, uint32_t *out, struct err *e)
{
    for (*out = 0; *out < order_count; ++*out)
        if (strcmp(name, order_rows[*out].name) == 0)
            return 0;
    return err_set(e, 0, 0, "--order is size, soon, depth or random, not \"%s\"", name);
}

#define QUICK (1u << REDUCE_MODES_ONCE | 1u << REDUCE_RETRIES | 1u << REDUCE_MAX_FAULTS)

bool search_is_quick(const struct search_options *options)
{
    return (options->assume & QUICK) == QUICK;
}

/* What --quick stands for: few runs of each kind. Any of it can be said otherwise. */
static void be_quick(struct mode_list *modes, struct search_options *out)
{
    *modes = (struct mode_list){0};
    mode_list_add_set(modes, SET_STANDARD);
    out->assume = QUICK;
    out->max_faults = 2;
    out->t_way = 0;
}

/* --quick and --modes. */
static int mode_args(const struct args *args, uint8_t speaks, struct mode_list *modes,
                     struct search_options *out, struct err *e)
{
    if (args->quick)
        be_quick(modes, out);
    if (args->modes && parse_modes(args->modes, modes, e))
        return -1;
    if (args->modes || args->quick) {
        mode_list_fit(modes, speaks);
        out->modes = modes->at;
        out->n_modes = modes->n;
    }
    if (args->assume) /* in place of what was assumed so far */
        out->assume = args->quick ? 1u << REDUCE_MAX_FAULTS : 0;
    return 0;
}

int search_args(const struct args *args, uint8_t speaks, struct mode_list *modes,
                struct search_options *out, struct err *e)
{
    if (args->audit > 0)
        out->audit = args->audit;
    if (args->seed)
        out->seed = args->seed;
    if (mode_args(args, speaks, modes, out, e))
        return -1;
    if ((args->assume && parse_assume(args->assume, &out->assume, e)) ||
        (args->order && parse_order(args->order, &out->order, e)))
        return -1;
    if (args->t_way && (args->t_way < 2 || args->t_way > 4))
        return err_set(e, 0, 0, "--t-way takes 2, 3 or 4");
    if (args->max_faults) {
        out->assume |= 1u << REDUCE_MAX_FAULTS;
        out->max_faults = args->max_faults > UINT32_MAX ? UINT32_MAX : (uint32_t)args->max_faults;
    }
    if (args->t_way) {
        out->assume |= 1u << REDUCE_T_WAY;
        out->t_way = (uint32_t)args->t_way;
    }
    if (out->t_way == 4 && out->n_modes > FOUR_WAY_MODES_MAX)
        return err_set(e, 0, 0,
                       "4-way takes at most %u modes, not %u: any four calls alone would need more "
                       "than a million runs; name fewer modes, or use 3-way",
                       (unsigned)FOUR_WAY_MODES_MAX, (unsigned)out->n_modes);
    if (args->audit > 0 && !out->assume)
        return err_set(
            e, 0, 0,
            "--audit runs what reductions skip, and none is in use: add --assume, --max-faults or --t-way");
    return 0;
}

/* The assumptions in use, in words. */
void search_assumptions(const struct search_options *options, struct arena *arena,
                        struct summary *summary)
{
    for (enum reduction r = 0; r < REDUCTIONS; r++) {
        if (!(options->assume >> r & 1))
            continue;
        struct buf text = BUF_INIT(1000);
        buf_addf(&text, "%s", reduction_rows[r].name);
        if (r == REDUCE_MAX_FAULTS)
            buf_addf(&text, " %u", (unsigned)options->max_faults);
        if (r == REDUCE_T_WAY)
            buf_addf(&text, " %u", (unsigned)options->t_way);
        buf_addf(&text, ": %s", reduction_rows[r].assumption);
        vec_push(&summary->assumptions, arena_copy(arena, text.p, text.n));
        buf_deinit(&text);
    }
}
