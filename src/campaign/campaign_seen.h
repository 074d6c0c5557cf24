/* SPDX-License-Identifier: Apache-2.0
 *
 * What came through the proxies in the runs of a campaign, and who was seen to go past them. */
#ifndef OUTFOX_CAMPAIGN_CAMPAIGN_SEEN_H
#define OUTFOX_CAMPAIGN_CAMPAIGN_SEEN_H

#include "base/index.h"
#include "core/run.h"
#include "io/owner.h"

#define DIRECT_SOMEBODY UINT32_MAX

struct seen {
    struct map reached;       /* symbols of services that a call came to, in any run */
    uint64_t calls;           /* that services made, in all runs */
    struct owner_links links; /* to the services' own addresses, before the first run */
    uint32_t *direct; /* of each service: who called it past the proxies, + 1; DIRECT_SOMEBODY: not
                         known; 0: nobody was seen. NULL: nobody has looked */
};

void seen_deinit(struct seen *s);

struct campaign;

/* Takes note of who was called. */
void campaign_seen(struct campaign *c, const struct run *run);

/* Round the fault-free runs: looks who connects to the services' own addresses meanwhile. */
void campaign_watch(struct campaign *c);
void campaign_watched(struct campaign *c);

/* Says in the summary why nothing is proved, unless there are calls that can fail. */
void campaign_doubt(struct campaign *c, bool can_fail);

/* A note for services that no call reached, with what to do. */
void campaign_note_unseen(struct campaign *c);

#endif
