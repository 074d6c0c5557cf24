/* SPDX-License-Identifier: Apache-2.0
 *
 * drive: campaigns carried out on a live system. */
#ifndef OUTFOX_CAMPAIGN_DRIVE_H
#define OUTFOX_CAMPAIGN_DRIVE_H

#include "campaign/campaign.h"

/* What a campaign asks about the system; `live` outlives it. */
struct target drive_target(struct live *live);

/* Goes on with campaigns that have begun until all are done. They take turns: with one run at a
 * time, one run each. The first that fails ends with *e; the others go on. */
enum status drive(struct live *live, struct campaign *const *campaigns, uint32_t n,
                  struct err *e) MUST_USE;

#endif
