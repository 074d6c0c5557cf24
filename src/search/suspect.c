/* SPDX-License-Identifier: Apache-2.0
 *
 * Nondeterminism. What did not come out as planned is tried again a bounded number of times,
 * recorded with a cause where one can be seen, and never counted as a pass.
 *
 * A call whose name changes from run to run (a random identifier in its path or payload) would make
 * new points and new prefixes in every run. When faults at calls of one handler to one service have
 * failed to fire UNFIRED_MAX times, only those of them that came back at least once are followed
 * up; and once anything was suspect, no faultload is queued more often than it would be attempted.
 * So every search ends. */
#include "search/search_int.h"

#include <string.h>

#include "base/hash.h"

enum { UNFIRED_MAX = 8 };

void suspect_add(struct search *s, struct suspect suspect)
{
    s->n_suspects++;
    if (s->suspects.n < SUSPECTS_MAX)
        vec_push(&s->suspects, suspect);
}

static bool fired(const struct reading *r, struct fault fault)
{
    for (uint32_t i = 0; i < r->fired.n; i++)
        if (r->fired.at[i].point == fault.point && r->fired.at[i].mode == fault.mode)
            return true;
    return false;
}

bool suspect_all_fired(struct search *s)
{
    if (vec_last(&s->reading.prefix) == s->now.item.faultload)
        return true; /* these very faults, in this order */
    for (faultload f = s->now.item.faultload; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest)
        if (!fired(&s->reading, s->fl->rows.at[f].last))
            return false;
    return true;
}

static uint64_t shape(const struct names *names, uid u)
{
    return hash_mix(uid_parent(names, u), uid_element(names, u)->service);
}

/* ---- causes ---- */

/* "GET /orders/7" and "GET /orders/8": the same method, and as many parts. */
static bool alike(slice a, slice b)
{
    size_t parts[2] = {0}, space = slice_find(a, ' ');
    for (size_t i = 0; i < a.n; i++)
        parts[0] += a.p[i] == '/';
    for (size_t i = 0; i < b.n; i++)
        parts[1] += b.p[i] == '/';
    return parts[0] == parts[1] && slice_find(b, ' ') == space &&
           (space == a.n || memcmp(a.p, b.p, space) == 0);
}

static uint32_t shown(const struct search *s, uid u)
{
    return u < s->shown.n ? s->shown.at[u] : 0;
}

/* How the call `got` differs from the planned one: the more alike, the better it explains. Calls
 * that are made side by side without faults do not stand for each other. */
static enum suspect_cause compare(const struct search *s, uid planned, uid got)
{
    const struct element *a = uid_element(s->names, planned), *b = uid_element(s->names, got);
    if (a->service != b->service)
        return CAUSE_UNKNOWN;
    if (a->interface != b->interface)
        return shown(s, planned) & shown(s, got) || !alike(names_text(s->names, a->interface),
                                                           names_text(s->names, b->interface))
                   ? CAUSE_UNKNOWN
                   : CAUSE_INTERFACE;
    return a->payload != b->payload ? CAUSE_PAYLOAD : CAUSE_COUNT;
}

static void consider(const struct search *s, struct suspect *out, uid got)
{
    static const int strength[] = {[CAUSE_UNKNOWN] = 0, [CAUSE_ABSENT] = 0,  [CAUSE_INTERFACE] = 1,
                                   [CAUSE_COUNT] = 2,   [CAUSE_PAYLOAD] = 3, [CAUSE_UNFIT] = 4};
    enum suspect_cause cause = got == out->call ? CAUSE_UNFIT : compare(s, out->call, got);
    if (strength[cause] > strength[out->cause]) {
        out->cause = cause;
        out->other = got;
    }
}

/* What came of the last call of this caller to this service, whichever it was? */
static enum suspect_last last_of(const struct search *s, uid u)
{
    uint32_t last = 0;
    for (uid other = 1; other < s->last.n; other++)
        if (s->last.at[other] > last && uid_parent(s->names, other) == uid_parent(s->names, u) &&
            uid_element(s->names, other)->service == uid_element(s->names, u)->service)
            last = s->last.at[other];
    return last == 0 ? LAST_NOT_KNOWN : last & 1 ? LAST_FAILED : LAST_OK;
}

/* Why was out->call not made in this run? Its caller is in it. */
static void find_cause(const struct search *s, const struct trace *trace, struct suspect *out)
{
    uid parent = uid_parent(s->names, out->call);
    out->cause = CAUSE_UNKNOWN;
    for (uint32_t i = 1; i < trace->calls.n; i++)
        if (uid_parent(s->names, trace->calls.at[i].uid) == parent)
            consider(s, out, trace->calls.at[i].uid);
    if (out->cause == CAUSE_UNKNOWN)
        out->cause = CAUSE_ABSENT;
    if (s->suspects.n < SUSPECTS_MAX) /* it is kept */
        out->last = last_of(s, out->call);
}

static bool is_in(const struct trace *trace, uid u)
{
    for (uint32_t i = 0; i < trace->calls.n; i++)
        if (trace->calls.at[i].uid == u)
            return true;
    return false;
}

void suspect_steps(struct search *s, const struct trace *trace)
{
    for (; s->explained < s->suspects.n; s->explained++) {
        struct suspect *x = &s->suspects.at[s->explained];
        if (x->kind != SUSPECT_STEP || x->call == UID_NONE || x->cause == CAUSE_EXTRA)
            continue;
        find_cause(s, trace, x);
        x->last = last_of(s, x->call);
        if (x->cause == CAUSE_UNFIT)
            x->cause = CAUSE_ORDER;
    }
}

void suspect_not_fired(struct search *s, const struct trace *trace)
{
    for (faultload f = s->now.item.faultload; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        struct fault fault = s->fl->rows.at[f].last;
        if (fired(&s->reading, fault))
            continue;
        struct suspect suspect = {.kind = SUSPECT_NOT_FIRED,
                                  .faultload = s->now.item.faultload,
                                  .point = fault.point,
                                  .call = fault.point,
                                  .n = s->now.attempt + 1};
        /* the call for want of which it was not made: it, or one above it */
        for (uid up = uid_parent(s->names, suspect.call);
             uid_parent(s->names, up) != UID_NONE && !is_in(trace, up);
             up = uid_parent(s->names, up))
            suspect.call = up;
        find_cause(s, trace, &suspect);
        suspect_add(s, suspect);
        if (map_count(&s->unfired, shape(s->names, fault.point)) == UNFIRED_MAX)
            suspect_add(s, (struct suspect){.kind = SUSPECT_BLOCKED,
                                            .point = fault.point,
                                            .faultload = s->now.item.faultload,
                                            .n = UNFIRED_MAX,
                                            .cause = suspect.cause,
                                            .call = suspect.call,
                                            .other = suspect.other,
                                            .last = suspect.last});
    }
}

bool suspect_blocks(const struct search *s, uid u)
{
    if (s->unfired.items.n == 0 || u >= s->seen_in.n || s->seen_in.at[u] != 1)
        return false;
    const uint32_t *n = map_get(&s->unfired, shape(s->names, u));
    return n && *n >= UNFIRED_MAX;
}

void suspect_baselines(struct search *s)
{
    for (uid u = 0; u < s->seen_in.n; u++) {
        struct suspect suspect = {.kind = SUSPECT_MISSING,
                                  .point = u,
                                  .call = u,
                                  .n = s->seen_in.at[u],
                                  .shown = s->shown.at[u],
                                  .of = s->baselines_done};
        if (s->seen_in.at[u] == 0 || s->seen_in.at[u] >= s->baselines_done)
            continue;
        /* it is not in every fault-free run: does another one stand for it in the others? */
        for (uid v = 1; v < s->shown.n && s->suspects.n < SUSPECTS_MAX; v++)
            if (v != u && s->shown.at[v] && !(s->shown.at[v] & suspect.shown) &&
                uid_parent(s->names, v) == uid_parent(s->names, u) &&
                compare(s, u, v) != CAUSE_COUNT)
                consider(s, &suspect, v);
        suspect_add(s, suspect);
    }
}

const struct suspect *search_suspects(const struct search *s, uint32_t *n, uint64_t *total)
{
    *n = s->suspects.n;
    *total = s->n_suspects;
    return s->suspects.at;
}
