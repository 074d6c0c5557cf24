/* SPDX-License-Identifier: Apache-2.0
 *
 * steer: what somebody who watches wants of campaigns while they are driven. A value, set at any
 * moment in the thread of the loop; drive reads it between two orders, so nothing waits for it. A
 * severity or a budget needs none of this: it is changed where it is.
 *
 * 1. Paused: no run begins, those under way end, services stay up. The clocks of the campaigns, and of
 *    their budgets, stand still until they go on.
 * 2. A replay is alone, from its first run to its last, and comes between two things that a campaign
 *    tries: never between a failure and the look whether the system still works, which would blame the
 *    one for the other. Clocks stand still meanwhile. It leaves a system that works. */
#ifndef OUTFOX_CAMPAIGN_STEER_H
#define OUTFOX_CAMPAIGN_STEER_H

#include "campaign/campaign.h"

struct steer {
    bool paused;
    bool stop; /* all end as by a signal */
    bool stay; /* drive does not end when all are done: replays may come */

    /* That has begun (campaign_replay) and waits for its turn, or has it; NULL: none. When it is over
     * it is NULL again, `replayed` is called, and may set the next one. */
    struct campaign *replay;
    void (*replayed)(void *ctx, struct campaign *c, enum status status, const struct err *why);
    void *ctx;

    struct live *live; /* that is driven; drive's own */
};

/* It was changed: whoever waits looks at it now. */
void steer_poke(struct steer *s);

#endif
