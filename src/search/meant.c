/* SPDX-License-Identifier: Apache-2.0
 *
 * What people mean who write a faultload by hand, or copy the name of a call from a report: the
 * points that were seen and match. */
#include "search/search_int.h"

struct points {
    VEC(uid) list;
};

/* `#*` is a point of its own; what is at most one of several siblings is one each. */
static void find_points(const struct search *s, const struct pattern *p, struct points *out)
{
    struct names *names = s->names;
    bool all = p->steps.at[p->steps.n - 1].element.n == N_ANY;
    uint32_t n = names->uids.n; /* asking for `all` makes more of them */
    for (uid u = 1; u < n; u++) {
        if (!search_point(s, u) || !pattern_matches(p, names, u))
            continue;
        uid point = all ? names_uid_all(names, u) : u;
        bool known = false;
        for (uint32_t i = 0; i < out->list.n && !known; i++)
            known = out->list.at[i] == point;
        if (!known)
            vec_push(&out->list, point);
    }
}

/* The points of one fault. A full name that was not seen, of calls that were, is a point as well:
 * it is explained that nobody saw it. */
static int read_points(const struct search *s, const struct vocabulary *v, uid request, slice text,
                       mode *m, struct points *out, struct err *e)
{
    struct pattern p = {0};
    struct fault other;
    uid point;
    int kind = fault_parse_other(s->names, text, &other, e);
    int status = kind < 0 ? -1 : pattern_parse(&p, v, PATTERN_FAULT, text, e);
    if (!status)
        status = pattern_seen(&p, s->names, e) ? -1 : 0;
    if (!status && !kind) {
        *m = other.mode;
        vec_push(&out->list, other.point);
    } else if (!status) {
        *m = p.mode;
        pattern_anchor(&p, s->names, request);
        find_points(s, &p, out);
    }
    pattern_deinit(&p);
    if (status || out->list.n)
        return status;
    slice rest = text, word = {0};
    while (slice_word(&rest, &word) && !slice_is(word, ":"))
        ;
    if (uid_parse(s->names, (slice){text.p, (size_t)(word.p - text.p)}, &point, e))
        return -1;
    vec_push(&out->list, point);
    return 0;
}

/* Each of the faultloads with each of the points. */
static int combine(const struct search *s, const struct points *points, mode m,
                   faultload out[MEANT_MAX], uint32_t *n, struct err *e)
{
    faultload all[MEANT_MAX];
    uint32_t made = 0;
    for (uint32_t i = 0; i < *n; i++)
        for (uint32_t k = 0; k < points->list.n; k++) {
            uid point = points->list.at[k];
            if (faultload_at(s->fl, out[i], point) != MODE_NONE)
                continue; /* it can fail in only one way at a time */
            if (made == MEANT_MAX)
                return err_set(e, 0, 0,
                               "this means more than %d combinations of calls: name the callers, "
                               "as in \"CALLER > CALL : MODE\"",
                               MEANT_MAX);
            all[made++] = faultload_extend(s->fl, out[i], (struct fault){point, m});
        }
    if (!made)
        return err_set(e, 0, 0, "two faults at one call: it can fail in only one way at a time");
    memcpy(out, all, made * sizeof *all);
    *n = made;
    return 0;
}

int search_meant(const struct search *s, const struct vocabulary *v, uid request, slice text,
                 faultload out[MEANT_MAX], uint32_t *n, struct err *e)
{
    slice fault;
    int status = 0;
    *n = 1;
    out[0] = FAULTLOAD_EMPTY;
    text = slice_trim(text);
    if (slice_is(text, "none"))
        return 0;
    if (!text.n)
        return err_set(e, 0, 0, "a faultload is written \"CALL : MODE\", or \"none\"");
    while (!status && pattern_cut(&text, &fault)) {
        struct points points = {0};
        mode m = MODE_NONE;
        status = read_points(s, v, request, fault, &m, &points, e);
        if (!status)
            status = combine(s, &points, m, out, n, e);
        vec_deinit(&points.list);
    }
    return status;
}
