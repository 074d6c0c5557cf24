/* SPDX-License-Identifier: Apache-2.0
 *
 * The options of a search as text: read from the command line, kept with a campaign, and taken up
 * from there. One function that reads, and one case of print_value, for each row of option.list.
 *
 * 1. Printed and taken up again, options are the same.
 * 2. A store is input: what the command line would refuse is refused there, too. */
#include <stdio.h>
#include <stdlib.h>

#include "search/search.h"

enum { SHARDS_MAX = 10000 }; /* on the command line */

struct reading {
    const char *name; /* of the option */
    struct mode_list *modes;
    struct search_options *out;
    bool stored; /* lists have blanks between their items, and nothing said is 0 */
    struct err *e;
};

static bool next_item(const struct reading *r, slice *rest, slice *item)
{
    bool more = r->stored ? slice_word(rest, item) : slice_cut(rest, ',', item);
    *item = more ? slice_trim(*item) : *item;
    return more;
}

/* "a, b or c" */
static const char *list_names(struct buf *out, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_addf(out, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", names[i]);
    return buf_text(out);
}

static int read_number(const struct reading *r, slice text, bool zero, uint64_t most, uint64_t *out)
{
    zero |= r->stored;
    if (slice_to_u64(text, r->stored ? most : INT64_MAX, out) && (*out || zero)) {
        *out = *out < most ? *out : most;
        return 0;
    }
    return err_set(r->e, 0, 0, "--%s takes a whole number%s, not \"%.*s\"", r->name,
                   zero ? "" : " greater than 0", SLICE_ARG(text));
}

/* ---- one by one ---- */

static int read_modes(const struct reading *r, slice text)
{
    slice word;
    for (*r->modes = (struct mode_list){0}; next_item(r, &text, &word);)
        if (mode_list_add(r->modes, word, r->e))
            return -1;
    r->out->modes = r->modes->at;
    r->out->n_modes = r->modes->n;
    return r->stored && r->modes->n == 0 ? -1 : 0;
}

static int read_assume(const struct reading *r, slice text)
{
    slice word;
    for (r->out->assume = 0; next_item(r, &text, &word);) {
        const char *names[REDUCTIONS];
        size_t n = 0;
        uint32_t bit = 0;
        for (enum reduction i = 0; i < REDUCTIONS; i++) {
            if (!reduction_rows[i].flag && !r->stored)
                continue;
            names[n++] = reduction_rows[i].name;
            bit |= slice_is(word, reduction_rows[i].name) ? 1u << i : 0;
        }
        if (!bit) {
            struct buf known = BUF_INIT(200);
            err_set(r->e, 0, 0, "--assume takes %s, not \"%.*s\"%s", list_names(&known, names, n),
                    SLICE_ARG(word), err_hint(word, names, n).text);
            buf_deinit(&known);
            return -1;
        }
        r->out->assume |= bit;
    }
    return 0;
}

static int read_max_faults(const struct reading *r, slice text)
{
    uint64_t n;
    if (read_number(r, text, false, UINT32_MAX, &n))
        return -1;
    r->out->max_faults = (uint32_t)n;
    return 0;
}

static int read_t_way(const struct reading *r, slice text)
{
    uint64_t n;
    if (read_number(r, text, false, UINT32_MAX, &n))
        return -1;
    r->out->t_way = (uint32_t)n;
    return n == 0 || (n >= 2 && n <= 4) ? 0 : err_set(r->e, 0, 0, "--t-way takes 2, 3 or 4");
}

static int read_audit(const struct reading *r, slice text)
{
    char number[40], *end;
    snprintf(number, sizeof number, "%.*s", (int)(text.n < 39 ? text.n : 39), text.p);
    double value = strtod(number, &end);
    bool whole = end > number && (!*end || (!r->stored && strcmp(end, "%") == 0));
    if (!whole || !(value >= 0 && value <= 100))
        return err_set(r->e, 0, 0, "--audit takes a percentage from 0 to 100, not \"%.*s\"",
                       SLICE_ARG(text));
    r->out->audit = value;
    return 0;
}

static int read_order(const struct reading *r, slice text)
{
    r->out->order = order_find(text);
    if (r->out->order < order_count)
        return 0;
    const char *names[16];
    uint32_t n = 0;
    struct buf known = BUF_INIT(200);
    for (; n < order_count && n < 16; n++)
        names[n] = order_rows[n].name;
    err_set(r->e, 0, 0, "--order takes %s, not \"%.*s\"", list_names(&known, names, n),
            SLICE_ARG(text));
    buf_deinit(&known);
    return -1;
}

static int read_seed(const struct reading *r, slice text)
{
    return read_number(r, text, true, UINT64_MAX, &r->out->seed);
}

/* People count from 1; 0/0 is kept where there is one alone. */
static int read_shard(const struct reading *r, slice text)
{
    slice rest = text, part;
    uint64_t i = 0, n = 0;
    slice_cut(&rest, '/', &part);
    bool numbers = rest.p && slice_to_u64(part, UINT32_MAX, &i) &&
                   slice_to_u64(rest, r->stored ? UINT32_MAX : SHARDS_MAX, &n);
    bool valid = numbers && (r->stored ? (n ? i < n : i == 0) : i >= 1 && i <= n);
    if (!valid)
        return err_set(r->e, 0, 0, "--shard takes I/N with 1 <= I <= N, such as 2/4, not \"%.*s\"",
                       SLICE_ARG(text));
    r->out->shard = (uint32_t)i - !r->stored;
    r->out->shards = (uint32_t)n;
    return 0;
}

/* The value as it is kept with a campaign. */
static void print_value(enum search_option option, const struct search_options *o, struct buf *out)
{
    switch (option) {
    case SEARCH_MODES:
        for (uint32_t i = 0; i < o->n_modes; i++) {
            buf_addc(out, ' ');
            mode_print(o->modes[i], out);
        }
        break;
    case SEARCH_ASSUME:
        for (enum reduction r = 0; r < REDUCTIONS; r++)
            if (o->assume >> r & 1)
                buf_addf(out, " %s", reduction_rows[r].name);
        break;
    case SEARCH_MAX_FAULTS: buf_addf(out, " %u", (unsigned)o->max_faults); break;
    case SEARCH_T_WAY: buf_addf(out, " %u", (unsigned)o->t_way); break;
    case SEARCH_AUDIT: buf_addf(out, " %g", o->audit); break;
    case SEARCH_ORDER: buf_addf(out, " %s", order_rows[o->order].name); break;
    case SEARCH_SEED: buf_addf(out, " %llu", (unsigned long long)o->seed); break;
    case SEARCH_SHARD: buf_addf(out, " %u/%u", (unsigned)o->shard, (unsigned)o->shards); break;
    case SEARCH_OPTIONS: break;
    }
}

/* ---- all of them ---- */

static const struct {
    const char *name;
    int (*read)(const struct reading *r, slice text);
} rows[SEARCH_OPTIONS] = {
#define SEARCH_OPTION(ID, id, name, ...) {name, read_##id},
#include "search/option.list"
#undef SEARCH_OPTION
};

uint32_t order_find(slice name)
{
    uint32_t i = 0;
    while (i < order_count && !slice_is(name, order_rows[i].name))
        i++;
    return i;
}

int search_option_read(enum search_option option, slice text, struct mode_list *modes,
                       struct search_options *out, struct err *e)
{
    struct reading r = {rows[option].name, modes, out, false, e};
    return rows[option].read(&r, text);
}

void search_options_print(const struct search_options *o, struct buf *out)
{
    for (enum search_option i = 0; i < SEARCH_OPTIONS; i++) {
        buf_addf(out, "%s:", rows[i].name);
        print_value(i, o, out);
        buf_addc(out, '\n');
    }
    buf_addf(out, "baselines: %u\n", (unsigned)o->baselines);
}

bool search_options_restore(slice name, slice value, struct mode_list *modes,
                            struct search_options *out)
{
    struct err refused = {0};
    for (uint32_t i = 0; i < SEARCH_OPTIONS; i++)
        if (slice_is(name, rows[i].name))
            return rows[i].read(&(struct reading){rows[i].name, modes, out, true, &refused},
                                value) == 0;
    return true;
}
