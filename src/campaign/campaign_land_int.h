/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs that have ended, a part of the inside of a campaign: campaign_land.c. Included by
 * campaign_int.h. */
#ifndef OUTFOX_CAMPAIGN_CAMPAIGN_LAND_INT_H
#define OUTFOX_CAMPAIGN_CAMPAIGN_LAND_INT_H

#include "base/arena.h"
#include "base/err.h"
#include "core/run.h"

struct campaign;

/* A run that has ended and waits for its turn. */
struct landed {
    struct run run;
    struct arena arena; /* what it points to */
    bool alone;         /* when it ended no other was under way */
    bool waited;        /* others came before it */
    bool doubt;         /* it may not have been seen in full */
    bool news;          /* it failed in a new way */
};

/* Waits for a run to end; all that have their turn then are looked at and observed. 0, 1:
 * interrupted, -1 with *e, STATUS_AGAIN. */
int campaign_step(struct campaign *c, struct err *e) MUST_USE;

/* Gives up what waits for its turn; the search may ask for it again. */
void campaign_drop_landed(struct campaign *c);

#endif
