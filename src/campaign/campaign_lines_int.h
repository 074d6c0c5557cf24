/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of outfox.yaml that had no effect. */
#ifndef OUTFOX_CAMPAIGN_CAMPAIGN_LINES_INT_H
#define OUTFOX_CAMPAIGN_CAMPAIGN_LINES_INT_H

#include "campaign/campaign_int.h"

/* A note for each, once nothing is left to be tried; the system is live. */
void campaign_note_lines(struct campaign *c);

#endif
