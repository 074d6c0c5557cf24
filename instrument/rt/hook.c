/* SPDX-License-Identifier: Apache-2.0
 *
 * A hit of a site: whether it is a request, its count, and whether the rule grants it.
 *
 * 1. Most hits end after a look at `armed`; those that count take some tens of nanoseconds and no system
 *    call. What is rare (the first hits of a point, a grant) may take more.
 * 2. All that is believed of the file here are numbers; none of them becomes an address. */
#include "rt.h"

static inline bool is_in(uintptr_t p, uintptr_t start, uintptr_t end)
{
    return p >= start && p < end;
}

static inline bool has_site(const struct rt_part *p, const struct outfox_site *site)
{
    return is_in((uintptr_t)site, (uintptr_t)p->sites, (uintptr_t)p->sites_end);
}

static inline bool has_state(const struct rt_part *p, const struct outfox_state *state)
{
    return is_in((uintptr_t)state, (uintptr_t)p->states, (uintptr_t)p->states_end);
}

static inline uint32_t part_count(void)
{
    return __atomic_load_n(&rt_self.n_parts, __ATOMIC_ACQUIRE);
}

static const struct rt_part *part_of_site(const struct outfox_site *site)
{
    for (uint32_t i = 0, n = part_count(); i < n; i++)
        if (has_site(&rt_self.part[i], site))
            return &rt_self.part[i];
    return NULL;
}

static const struct rt_part *part_of_state(const struct outfox_state *state)
{
    for (uint32_t i = 0, n = part_count(); i < n; i++)
        if (has_state(&rt_self.part[i], state))
            return &rt_self.part[i];
    return NULL;
}

const struct rt_part *rt_part_of_code(const void *address)
{
    for (uint32_t i = 0, n = part_count(); i < n; i++) {
        const struct rt_part *p = &rt_self.part[i];
        if (is_in((uintptr_t)address, p->code, p->code_end))
            return p;
    }
    return NULL;
}

/* Where a hit belongs. State and caller are nearly always of the module that the site is of. */
static inline void locate(struct outfox_point *p, const struct rt_part *own,
                          const struct outfox_site *site, const struct outfox_state *state,
                          const void *caller)
{
    const struct rt_part *of_state = NULL, *of_caller = own;
    if (state)
        of_state = has_state(own, state) ? own : part_of_state(state);
    if (!is_in((uintptr_t)caller, own->code, own->code_end))
        of_caller = rt_part_of_code(caller);
    p->node = (uint16_t)rt_self.node;
    p->module = own->module;
    p->site = (uint32_t)(site - own->sites);
    p->state_module = of_state ? of_state->module : OUTFOX_NO_MODULE;
    p->state = of_state ? (uint32_t)(state - of_state->states) : OUTFOX_NO_STATE;
    p->caller_module = of_caller ? of_caller->module : OUTFOX_NO_MODULE;
    p->caller = of_caller ? (uintptr_t)caller - of_caller->bias : 0;
}

static uint32_t acts_wanted(const struct outfox_trial *t, const struct outfox_site *site,
                            const unsigned long *count)
{
    uint32_t acts = site->can & (t->act ? t->act : UINT32_MAX);
    return count && *count > 1 ? acts : acts & ~(uint32_t)OUTFOX_SHORT;
}

/* Whether a state has had its fault, in this trial or before; NULL: nobody keeps that. */
static uint8_t *seen_of(const struct outfox_state *state)
{
    const struct rt_part *p = state ? part_of_state(state) : NULL;
    return p && p->seen ? &p->seen[state - p->states] : NULL;
}

/* place: its key says which point it is. */
static bool grants(const struct outfox_trial *t, const struct outfox_point *place, uint32_t nth,
                   uint64_t request)
{
    const uint8_t *seen;
    switch (t->rule) {
    case OUTFOX_RULE_POINT: return place->key == t->key && nth >= t->nth;
    case OUTFOX_RULE_REQUEST: return request >= t->nth;
    case OUTFOX_RULE_STATE:
        return OUTFOX_STATE_KEY(place->node, place->state_module, place->state) == t->key &&
               (rt_random(place->key, nth, 0) & UINT32_MAX) < t->chance;
    case OUTFOX_RULE_NEW:
        seen = seen_of(outfox_now);
        return seen && !__atomic_load_n(seen, __ATOMIC_RELAXED);
    default: return false;
    }
}

/* A place that is not in the table: is a hit of it a request? *point: entered, or NULL if it is full. */
static __attribute__((noinline)) bool is_first_request(const struct outfox_site *site, long subject,
                                                       const unsigned long *count, uint32_t acts,
                                                       struct outfox_point *place,
                                                       struct outfox_point **point)
{
    struct rt_subject s;
    if (rt_must_ask(site, acts) && !rt_possible(site, subject, count, acts, false, &s))
        return false;
    *point = rt_point_enter(place);
    return true;
}

int rt_hook(const struct outfox_site *site, long subject, unsigned long *count, const void *caller,
            long *value)
{
    struct outfox_trial *t = rt_self.trial;
    if (!t || !__atomic_load_n(&t->armed, __ATOMIC_ACQUIRE) || !(t->nodes >> rt_self.node & 1))
        return 0;
    const struct rt_part *own = part_of_site(site);
    uint32_t acts = acts_wanted(t, site, count);
    if (!own || !acts || (own->muted && own->muted[site - own->sites]))
        return 0;

    struct outfox_point place;
    locate(&place, own, site, outfox_now, caller);
    struct outfox_point *point = rt_point_find(&place);
    if (!point && !is_first_request(site, subject, count, acts, &place, &point))
        return 0;
    uint32_t nth;
    if (point)
        nth = __atomic_add_fetch(&point->requests, 1, __ATOMIC_RELAXED);
    else
        nth = (uint32_t)__atomic_add_fetch(&t->lost, 1, __ATOMIC_RELAXED);
    uint64_t request = 0;
    if (t->rule == OUTFOX_RULE_NONE || t->rule == OUTFOX_RULE_REQUEST)
        request = __atomic_add_fetch(&t->requests, 1, __ATOMIC_RELAXED);
    if (t->rule == OUTFOX_RULE_NONE || __atomic_load_n(&t->claimed, __ATOMIC_RELAXED))
        return 0;

    place.key = point ? point->key : outfox_point_key(&place);
    if (!grants(t, &place, nth, request))
        return 0;
    struct rt_request r = {.site = site,
                           .place = &place,
                           .nth = nth,
                           .request = request,
                           .subject = subject,
                           .count = count,
                           .frame = __builtin_frame_address(0),
                           .caller = caller,
                           .seen = t->rule == OUTFOX_RULE_NEW ? seen_of(outfox_now) : NULL};
    return rt_inject(&r, acts, value);
}
