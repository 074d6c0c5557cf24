/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of exploring a plan, for readers. */
#ifndef OUTFOX_REPORT_EXPLORED_H
#define OUTFOX_REPORT_EXPLORED_H

#include "plan/explored.h"
#include "report/report.h"

void explored_print_text(const struct plan_explored *x, const struct style *style, struct buf *out);
void explored_print_json(const struct plan_explored *x, struct buf *out);

#endif
