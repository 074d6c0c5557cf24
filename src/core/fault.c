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

uint64_t faultload_key(const struct faultloads *fl, faultload f)
{
    uint64_t key = 0;
    for (; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest)
        key += fault_key(fl->rows.at[f].last);
    return key;
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

/* ---- kinds ---- */

/* "SERVICE WORD", or with one word more. */
static const struct kind_row {
    const char *word;
    bool more;
    enum fault_kind kind;
    const char *refused; /* NULL: it can be injected */
} kind_rows[] = {
    {"down", false, FAULT_SERVICE, NULL},
    {"signal", true, FAULT_CALL,
     "signals to services cannot be injected; write \"SERVICE down\" to refuse all calls to it"},
    {"-x-", true, FAULT_CALL,
     "links cannot be cut; write \"CALLER > SERVICE : refuse\" to refuse the calls between them"},
    {"at", true, FAULT_CALL,
     "places inside programs cannot be made to fail; write \"SERVICE METHOD /path : MODE\" to fail a "
     "call"},
};

enum { KIND_ROWS = sizeof kind_rows / sizeof *kind_rows };

enum fault_kind fault_kind_of(const struct names *names, struct fault f)
{
    if (f.point == UID_NONE || f.mode != mode_make(MODE_REFUSE, 0) ||
        uid_parent(names, f.point) != UID_NONE)
        return FAULT_CALL;
    const struct element *el = uid_element(names, f.point);
    slice service = names_text(names, el->service), word = names_text(names, el->interface);
    if (el->n || el->payload || el->before || slice_find(service, '*') < service.n)
        return FAULT_CALL;
    for (size_t i = 0; i < KIND_ROWS; i++)
        if (!kind_rows[i].refused && slice_is(word, kind_rows[i].word))
            return kind_rows[i].kind;
    return FAULT_CALL;
}

int fault_parse_other(struct names *names, slice text, struct fault *out, struct err *e)
{
    slice service, word, more;
    if (!slice_word(&text, &service) || slice_find(service, '*') < service.n ||
        (service.n == 1 && strchr(":>&", service.p[0])) || !slice_word(&text, &word))
        return 1;
    for (size_t i = 0; i < KIND_ROWS; i++) {
        const struct kind_row *row = &kind_rows[i];
        if (!slice_is(word, row->word))
            continue;
        if ((row->more && (!slice_word(&text, &more) || slice_is(more, ":"))) || slice_trim(text).n)
            return 1;
        if (row->refused)
            return err_set(e, 0, 0, "%s", row->refused);
        struct element el = {.service = names_sym(names, service),
                             .interface = names_sym(names, word)};
        *out = (struct fault){names_uid(names, UID_NONE, names_element(names, el)),
                              mode_make(MODE_REFUSE, 0)};
        return 0;
    }
    return 1;
}

mode faultload_mode(struct names *names, const struct faultloads *fl, faultload f, uid call,
                    uid *point)
{
    *point = call;
    mode m = faultload_at(fl, f, call);
    if (m != MODE_NONE)
        return m;
    *point = names_uid_all(names, call);
    m = faultload_at(fl, f, *point);
    if (m != MODE_NONE)
        return m;
    *point = call;
    for (; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest)
        if (fault_kind_of(names, fl->rows.at[f].last) == FAULT_SERVICE &&
            uid_element(names, fl->rows.at[f].last.point)->service ==
                uid_element(names, call)->service)
            return fl->rows.at[f].last.mode;
    return MODE_NONE;
}

/* ---- text ---- */

void fault_print(const struct names *names, struct fault f, struct buf *out)
{
    uid_print(names, f.point, out);
    if (fault_kind_of(names, f) != FAULT_CALL)
        return; /* it says all */
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

int faultload_parse(struct names *names, struct faultloads *fl, slice text, faultload *out,
                    struct err *e)
{
    text = slice_trim(text);
    *out = FAULTLOAD_EMPTY;
    if (slice_is(text, "none"))
        return 0;
    for (bool more = true; more;) {
        struct fault fault = {0};
        slice rest = text, word = {0};
        while ((more = slice_word(&rest, &word)) && !slice_is(word, "&"))
            ;
        slice one = {text.p, more ? (size_t)(word.p - text.p) : text.n};
        text = rest;
        int other = fault_parse_other(names, one, &fault, e);
        if (other < 0)
            return -1;
        if (other > 0) { /* CALL : MODE */
            rest = one;
            while (slice_word(&rest, &word) && !slice_is(word, ":"))
                ;
            if (!slice_is(word, ":"))
                return err_set(
                    e, 0, 0,
                    "a fault is written \"CALL : MODE\"; \" : MODE\" is missing in \"%.*s\"",
                    SHORT(one));
            if (uid_parse(names, (slice){one.p, (size_t)(word.p - one.p)}, &fault.point, e))
                return -1;
            if (!slice_word(&rest, &word))
                return err_set(e, 0, 0, "the mode is missing after \":\"");
            if (mode_parse(word, &fault.mode, e))
                return -1;
            if (slice_word(&rest, &word))
                return err_set(e, 0, 0, "expected \"&\" between two faults, not \"%.*s\"",
                               SHORT(word));
        }
        if (faultload_at(fl, *out, fault.point) != MODE_NONE)
            return err_set(e, 0, 0,
                           "two faults at one call: it can fail in only one way at a time");
        *out = faultload_extend(fl, *out, fault);
    }
    return 0;
}
