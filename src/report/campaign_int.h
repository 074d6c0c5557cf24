/* SPDX-License-Identifier: Apache-2.0
 *
 * What the reports of a campaign share. */
#ifndef OUTFOX_REPORT_CAMPAIGN_INT_H
#define OUTFOX_REPORT_CAMPAIGN_INT_H

#include "report/report.h"

/* The calls of a run without faults and of one that shows a finding; NULL: not known. */
struct report_runs {
    const struct trace *plain, *seen;
    struct trace plain_trace, seen_trace;
};

void report_runs(const struct report_source *source, uint32_t scenario,
                 const struct finding *finding, struct report_runs *out);
void report_runs_deinit(struct report_runs *runs);

/* Runs per second; 0: not known. */
double report_rate(const struct summary *s);

#endif
