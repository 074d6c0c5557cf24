/* SPDX-License-Identifier: Apache-2.0
 *
 * What a campaign says about what it could not test: calls and modes that did not meet. */
#ifndef OUTFOX_CAMPAIGN_CAMPAIGN_NOTES_INT_H
#define OUTFOX_CAMPAIGN_CAMPAIGN_NOTES_INT_H

#include "campaign/campaign_int.h"

/* ---- campaign_seen.c ---- */

/* Takes note of who was called. */
void campaign_seen(struct campaign *c, const struct run *run);

/* Says in the summary why nothing is proved, unless there are calls that can fail. */
void campaign_doubt(struct campaign *c, bool can_fail);

/* A note for services that no call reached, with what to do. */
void campaign_note_unseen(struct campaign *c);

/* ---- campaign_modes.c ---- */

/* Notes the calls of a run without faults that no mode fits, and the modes that fit none of them.
 */
void campaign_check_modes(struct campaign *c, const struct trace *trace);

#endif
