/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of the summary for people: text.c (all of an exploration), text_campaign.c. */
#ifndef OUTFOX_REPORT_TEXT_INT_H
#define OUTFOX_REPORT_TEXT_INT_H

#include "report/report.h"

enum { FINDINGS_SHOWN = 20 };

/* "no finding, but inconclusive: the budget of runs was used up" */
void text_verdict(const struct summary *s, const struct style *st, FILE *out);

/* How much can fail, and how much of that was run. */
void text_what(const struct summary *s, FILE *out);

/* How many findings were left out, if any. */
/* How to go on, where it ended early. */
void text_resume(const struct summary *s, const struct style *st, FILE *out);

void text_more(const struct summary *s, FILE *out);

/* What oracles say: findings, then warnings. source: NULL, or where the runs of the scenario are.
 */
void text_remarks(const struct report_source *source, uint32_t scenario, const struct summary *s,
                  const struct style *st, FILE *out);

/* Why runs could not be relied on, and what helps. */
void text_unsure(const struct summary *s, const struct style *st, FILE *out);
void text_figures(const struct summary *s, FILE *out);
void text_untried(const struct summary *s, const struct style *st, FILE *out);

/* How the calls of each service are identified. */
void text_levels(const struct summary *s, FILE *out);
void text_volatile(const struct summary *s, FILE *out);

#endif
