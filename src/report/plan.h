/* SPDX-License-Identifier: Apache-2.0
 *
 * Failure plans for readers: what a plan would do, and what came of it. */
#ifndef OUTFOX_REPORT_PLAN_H
#define OUTFOX_REPORT_PLAN_H

#include "plan/result.h"
#include "report/report.h"

/* What would be done, to whom, with which rights, for how long. Nothing is touched. */
void plan_print_show(const struct plan *p, struct buf *out);

/* All that came of it. */
void plan_print_text(const struct plan_result *r, const struct style *style, struct buf *out);
void plan_print_json(const struct plan_result *r, struct buf *out);

/* "3s after the start", "when redis1 prints /promoted/, the 2nd time": a trigger in words. */
void plan_print_trigger(const struct plan *p, const struct plan_trigger *t, struct buf *out);

#endif
