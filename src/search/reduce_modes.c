/* SPDX-License-Identifier: Apache-2.0
 *
 * Reductions `modes` and `modes-once`. Two runs that differ only in the mode of their last fault
 * are alike when everything but the outcome of that one call is the same. Under `modes`, the second
 * of two alike runs counts but is not combined further. Under `modes-once`, modes found alike at a
 * point in the first context in which all of them were tried are tried in no other context: there
 * one of them speaks for its class. */
#include "search/search_int.h"

#include "base/hash.h"

static uint64_t class_key(uid point, mode m)
{
    return (uint64_t)point << 32 | m;
}

bool modes_duplicate(struct search *s, const struct trace *trace, const struct verdict *verdict)
{
    if (s->now.item.faultload == FAULTLOAD_EMPTY)
        return false;
    struct faultload_row row = s->fl->rows.at[s->now.item.faultload];
    uint64_t signature = reading_signature(s, trace, row.last.point, false);
    uint64_t context = hash_mix(faultload_key(s->fl, row.rest) + row.last.point, verdict->pass);
    uint64_t key = hash_mix(context, signature);
    const uint32_t *known = map_get(&s->mode_signatures, key);
    mode alike = known ? *known : row.last.mode;
    if (!map_get(&s->mode_classes, class_key(row.last.point, row.last.mode))) {
        map_set(&s->mode_classes, class_key(row.last.point, row.last.mode), alike);
        map_count(&s->mode_classes, class_key(row.last.point, MODE_NONE));
    }
    if (!known)
        map_set(&s->mode_signatures, key, row.last.mode);
    return alike != row.last.mode;
}

bool modes_once_skips(const struct search *s, faultload f)
{
    const struct faultload_row *row = &s->fl->rows.at[f];
    if (row->size < 2)
        return false;
    const uint32_t *n = map_get(&s->mode_classes, class_key(row->last.point, MODE_NONE));
    const uint32_t *alike = map_get(&s->mode_classes, class_key(row->last.point, row->last.mode));
    return n && *n == search_modes(s, row->last.point) && alike && *alike != row->last.mode;
}

mode modes_alike(const struct search *s, struct fault fault)
{
    const uint32_t *alike = map_get(&s->mode_classes, class_key(fault.point, fault.mode));
    return alike ? *alike : fault.mode;
}
