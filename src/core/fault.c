/* SPDX-License-Identifier: Apache-2.0 */
#include "core/fault.h"

void faultloads_init(struct faultloads *fl)
{
    *fl = (struct faultloads){0};
    vec_push(&fl->rows, (struct faultload_row){0});
}

void faultloads_deinit(struct faultloads *fl)
{
    vec_deinit(&fl->rows);
}

faultload faultload_extend(struct faultloads *fl, faultload rest, struct fault last)
{
    vec_push(&fl->rows, (struct faultload_row){rest, fl->rows.at[rest].size + 1, last});
    return fl->rows.n - 1;
}

mode faultload_at(const struct faultloads *fl, faultload f, uid point)
{
    for (; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest)
        if (fl->rows.at[f].last.point == point)
            return fl->rows.at[f].last.mode;
    return MODE_NONE;
}

bool faultload_within(const struct faultloads *fl, faultload a, faultload b)
{
    for (; a != FAULTLOAD_EMPTY && a != b; a = fl->rows.at[a].rest)
        if (faultload_at(fl, b, fl->rows.at[a].last.point) != fl->rows.at[a].last.mode)
            return false;
    return true;
}

bool faultload_eq(const struct faultloads *fl, faultload a, faultload b)
{
    return a == b || (faultload_size(fl, a) == faultload_size(fl, b) && faultload_within(fl, a, b));
}

void fault_print(const struct names *names, struct fault f, struct buf *out)
{
    uid_print(names, f.point, out);
    buf_adds(out, " : ");
    mode_print(f.mode, out);
}

void faultload_print(const struct names *names, const struct faultloads *fl, faultload f,
                     struct buf *out)
{
    const struct faultload_row *row = &fl->rows.at[f];
    if (f == FAULTLOAD_EMPTY) {
        buf_adds(out, "none");
        return;
    }
    if (row->rest != FAULTLOAD_EMPTY) {
        faultload_print(names, fl, row->rest, out);
        buf_adds(out, " & ");
    }
    fault_print(names, row->last, out);
}

/* Reads `uid : mode` and the `&` behind it, if there is one. */
static int parse_fault(struct names *names, slice *text, struct fault *out, bool *more,
                       struct err *e)
{
    slice rest = *text, word = {0};
    while (slice_word(&rest, &word) && !slice_is(word, ":"))
        ;
    if (!slice_is(word, ":"))
        return err_set(e, 0, 0,
                       "a fault is written \"CALL : MODE\"; \" : MODE\" is missing in \"%.*s\"",
                       SHORT(*text));
    if (uid_parse(names, (slice){text->p, (size_t)(word.p - text->p)}, &out->point, e))
        return -1;
    if (!slice_word(&rest, &word))
        return err_set(e, 0, 0, "the mode is missing after \":\"");
    if (mode_parse(word, &out->mode, e))
        return -1;
    *more = slice_word(&rest, &word);
    if (*more && !slice_is(word, "&"))
        return err_set(e, 0, 0, "\"&\" was expected between two faults, not \"%.*s\"", SHORT(word));
    *text = rest;
    return 0;
}

int faultload_parse(struct names *names, struct faultloads *fl, slice text, faultload *out,
                    struct err *e)
{
    text = slice_trim(text);
    *out = FAULTLOAD_EMPTY;
    if (slice_is(text, "none"))
        return 0;
    for (bool more = true; more;) {
        struct fault fault = {0};
        if (parse_fault(names, &text, &fault, &more, e))
            return -1;
        if (faultload_at(fl, *out, fault.point) != MODE_NONE)
            return err_set(e, 0, 0,
                           "two faults at one call: it can fail in only one way at a time");
        *out = faultload_extend(fl, *out, fault);
    }
    return 0;
}
