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

void faultloads_cut(struct faultloads *fl, uint32_t n)
{
    fl->rows.n = n;
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

/* ---- services ---- */

/* "SERVICE WORD MORE" that cannot be injected, and what to write instead. */
static const struct {
    const char *word, *instead;
} refused[] = {
    {"signal",
     "signals to services cannot be injected; write \"SERVICE down\" to refuse all calls to "
     "it, or \"SERVICE crashing\" to break them off"},
    {"-x-",
     "links cannot be cut; write \"CALLER > SERVICE : refuse\" to refuse the calls between them"},
    {"at",
     "places inside programs cannot be made to fail; write \"SERVICE METHOD /path : MODE\" to "
     "fail a call"},
};

enum { REFUSED = sizeof refused / sizeof *refused };

struct service_fault fault_service(const struct names *names, struct fault f)
{
    struct service_fault none = {0};
    if (f.point == UID_NONE || uid_parent(names, f.point) != UID_NONE)
        return none;
    const struct element *el = uid_element(names, f.point);
    slice service = names_text(names, el->service);
    if (el->n || el->payload || el->before || slice_find(service, '*') < service.n)
        return none;
    struct service_fault how = service_fault_read(names_text(names, el->interface));
    return how.row && how.row->http == f.mode ? how : none;
}

struct fault fault_of_service(struct names *names, sym service, struct service_fault how)
{
    struct buf word = BUF_INIT(64);
    service_fault_print(how, &word);
    struct element el = {.service = service, .interface = names_sym(names, buf_slice(&word))};
    buf_deinit(&word);
    return (struct fault){names_uid(names, UID_NONE, names_element(names, el)), how.row->http};
}

int fault_parse_other(struct names *names, slice text, struct fault *out, struct err *e)
{
    slice service, word, more;
    if (!slice_word(&text, &service) || slice_find(service, '*') < service.n ||
        (service.n == 1 && strchr(":>&", service.p[0])) || !slice_word(&text, &word))
        return 1;
    struct service_fault how = service_fault_read(word);
    if (how.row && !slice_trim(text).n) {
        *out = fault_of_service(names, names_sym(names, service), how);
        return 0;
    }
    bool one_more = slice_word(&text, &more) && !slice_is(more, ":") && !slice_trim(text).n;
    for (size_t i = 0; i < REFUSED && one_more; i++)
        if (slice_is(word, refused[i].word))
            return err_set(e, 0, 0, "%s", refused[i].instead);
    return 1;
}

mode faultload_mode(struct names *names, const struct faultloads *fl, faultload f, uid call,
                    uint8_t flags, uid *point)
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
    for (; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest) {
        struct fault fault = fl->rows.at[f].last;
        struct service_fault how = fault_service(names, fault);
        if (how.row &&
            uid_element(names, fault.point)->service == uid_element(names, call)->service)
            return service_fault_mode(how, names, call, flags);
    }
    return MODE_NONE;
}

bool faultload_of_services(const struct names *names, const struct faultloads *fl, faultload f)
{
    while (f != FAULTLOAD_EMPTY && !fault_service(names, fl->rows.at[f].last).row)
        f = fl->rows.at[f].rest;
    return f != FAULTLOAD_EMPTY;
}

/* Is there a fault at this point, or one of the same service as a whole? */
static const char *collides(const struct names *names, const struct faultloads *fl, faultload f,
                            struct fault fault)
{
    if (faultload_at(fl, f, fault.point) != MODE_NONE)
        return "two faults at one call: it can fail in only one way at a time";
    for (; f != FAULTLOAD_EMPTY && fault_service(names, fault).row; f = fl->rows.at[f].rest)
        if (fault_service(names, fl->rows.at[f].last).row &&
            uid_element(names, fl->rows.at[f].last.point)->service ==
                uid_element(names, fault.point)->service)
            return "two faults of one service: it can fail as a whole in only one way at a time";
    return NULL;
}

/* ---- text ---- */

void fault_print(const struct names *names, struct fault f, struct buf *out)
{
    uid_print(names, f.point, out);
    if (fault_service(names, f).row)
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
        const char *wrong = collides(names, fl, *out, fault);
        if (wrong)
            return err_set(e, 0, 0, "%s", wrong);
        *out = faultload_extend(fl, *out, fault);
    }
    return 0;
}
