/* SPDX-License-Identifier: Apache-2.0
 *
 * Lineage: what did the good outcome rest on? The calls that succeeded in a run that came to it are a
 * support of it. To lose the outcome, one call of every support must fail: a set of points that hits
 * all supports is a hypothesis of how to break the scenario, and if no point of it can be left out it
 * is a minimal one (hitting.h). Each run that comes to the good outcome in spite of its faults, by a
 * copy, another try or without, adds a support and so makes the hypotheses better.
 *
 * Here the queued faultloads are ranked by that. Those that fail the same points, in whatever modes,
 * are a group, and a group is in one of four tiers:
 *
 *   hypothesis  its points are a minimal hypothesis, and none of its modes was tried
 *   hits        they hit every support: other modes of hypotheses, and more points than needed
 *   rest        some support stays whole: it is known how the system gets along without these points
 *   superset    a part of these points has broken the scenario alone
 *
 * Within a tier the fewest points come first, then what was tried least often, then what was found
 * first. Nothing is left out. */
#ifndef OUTFOX_SEARCH_LINEAGE_H
#define OUTFOX_SEARCH_LINEAGE_H

#include "search/frontier.h"

enum lineage_tier { TIER_HYPOTHESIS, TIER_HITS, TIER_REST, TIER_SUPERSET };

struct lineage;

struct lineage *lineage_new(struct search *s);
void lineage_free(struct lineage *l);

void lineage_push(struct lineage *l, struct frontier_item item);

/* The next, of which there is one. */
struct frontier_item lineage_pop(struct lineage *l);

/* The one with these faults, wherever it is; false: it is not queued. */
bool lineage_take(struct lineage *l, faultload f, struct frontier_item *out);

/* What would be popped after so many others, of which there are enough. */
struct frontier_item lineage_peek(struct lineage *l, uint64_t after);

/* The tier of the next, and how many points it has. */
enum lineage_tier lineage_next_tier(struct lineage *l, uint32_t *size);

/* The last run of the search, of this item, is taken into account. */
void lineage_observed(struct lineage *l, struct frontier_item item, const struct trace *trace,
                      const struct verdict *verdict);

extern const struct order_ops lineage_ops;

#endif
