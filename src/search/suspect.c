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

/* How the call `got` differs from the planned one: the more alike, the better it explains. */
static enum suspect_cause compare(const struct element *planned, const struct element *got)
{
    if (planned->service != got->service)
        return CAUSE_UNKNOWN;
    if (planned->interface != got->interface)
        return CAUSE_INTERFACE;
    return planned->payload != got->payload ? CAUSE_PAYLOAD : CAUSE_COUNT;
}

static void find_cause(struct search *s, const struct trace *trace, struct suspect *out)
{
    static const int strength[] = {[CAUSE_UNKNOWN] = 0, [CAUSE_ABSENT] = 0,  [CAUSE_INTERFACE] = 1,
                                   [CAUSE_COUNT] = 2,   [CAUSE_PAYLOAD] = 3, [CAUSE_UNFIT] = 4};
    uid parent = uid_parent(s->names, out->point);
    bool handled = false;
    for (uint32_t i = 0; i < trace->calls.n; i++) {
        const struct call *c = &trace->calls.at[i];
        handled |= c->uid == parent;
        if (i == 0 || uid_parent(s->names, c->uid) != parent)
            continue;
        enum suspect_cause cause = c->uid == out->point ? CAUSE_UNFIT
                                                        : compare(uid_element(s->names, out->point),
                                                                  uid_element(s->names, c->uid));
        if (strength[cause] > strength[out->cause]) {
            out->cause = cause;
            out->other = c->uid;
        }
    }
    if (handled && out->cause == CAUSE_UNKNOWN)
        out->cause = CAUSE_ABSENT;
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
                                  .n = s->now.attempt + 1};
        find_cause(s, trace, &suspect);
        suspect_add(s, suspect);
        if (map_count(&s->unfired, shape(s->names, fault.point)) == UNFIRED_MAX)
            suspect_add(s, (struct suspect){.kind = SUSPECT_BLOCKED,
                                            .point = fault.point,
                                            .faultload = s->now.item.faultload,
                                            .n = UNFIRED_MAX,
                                            .cause = suspect.cause,
                                            .other = suspect.other});
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
    for (uid u = 0; u < s->seen_in.n; u++)
        if (s->seen_in.at[u] > 0 && s->seen_in.at[u] < s->baselines_done)
            suspect_add(
                s, (struct suspect){.kind = SUSPECT_MISSING, .point = u, .n = s->seen_in.at[u]});
}

const struct suspect *search_suspects(const struct search *s, uint32_t *n, uint64_t *total)
{
    *n = s->suspects.n;
    *total = s->n_suspects;
    return s->suspects.at;
}
