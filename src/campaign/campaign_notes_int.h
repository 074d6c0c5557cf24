/* SPDX-License-Identifier: Apache-2.0
 *
 * What a campaign says about what it could not test: calls and modes that did not meet,
 * and calls that it could not tell apart. */
#ifndef OUTFOX_CAMPAIGN_CAMPAIGN_NOTES_INT_H
#define OUTFOX_CAMPAIGN_CAMPAIGN_NOTES_INT_H

#include "campaign/campaign_int.h"

/* ---- campaign_modes.c ---- */

/* Notes the calls of a run without faults that no mode fits, and the modes that fit none of them.
 */
void campaign_check_modes(struct campaign *c, const struct trace *trace);

/* Notes equal calls that were made at the same time: only chance tells them apart. */
void campaign_note_equal(struct campaign *c);

#endif
