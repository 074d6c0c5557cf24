/* SPDX-License-Identifier: Apache-2.0
 *
 * The order `soon`: what may show a mistake at little cost comes first. A rank is twice the number
 * of things that fail, where a call that fails in the same way at every try is one thing: most
 * mistakes show when something is down, and a retry only hides that for a try. Somebody who waits
 * for an answer that does not come takes as long as a hundred other runs: such faultloads come
 * after those with one fault more. So the ranks are
 *
 *   2 one thing   4 two   5 one, and somebody waits   6 three   7 two, and somebody waits   8 ...
 *
 * A part of a faultload never has a higher rank than the whole, so a finding is minimal when it is
 * first seen, but for tries that need not fail; those are found when it is shrunk. */
#include "search/search_int.h"

/* Does `fault` do to a try what another fault of f does to the try before? Only faults bring tries
 * about: equal calls that are made in any case are things of their own. */
static bool goes_on(const struct search *s, faultload f, struct fault fault)
{
    const struct element *el = uid_element(s->names, fault.point);
    if (el->n == 0 || el->n == N_ANY || (fault.point < s->happy.n && s->happy.at[fault.point]))
        return false;
    for (; f != FAULTLOAD_EMPTY; f = s->fl->rows.at[f].rest) {
        struct fault other = s->fl->rows.at[f].last;
        const struct element *before = uid_element(s->names, other.point);
        if (other.mode == fault.mode && before->n + 1 == el->n && before->service == el->service &&
            before->interface == el->interface && before->payload == el->payload &&
            uid_parent(s->names, other.point) == uid_parent(s->names, fault.point))
            return true;
    }
    return false;
}

uint32_t rank_of(const struct search *s, faultload f)
{
    uint32_t things = 0;
    bool waits = false;
    for (faultload at = f; at != FAULTLOAD_EMPTY; at = s->fl->rows.at[at].rest) {
        struct fault fault = s->fl->rows.at[at].last;
        things += !goes_on(s, f, fault);
        waits |= mode_waits(fault.mode);
    }
    return 2 * things + (waits ? 3 : 0);
}
