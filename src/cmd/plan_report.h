/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of failure plans: kept, found again, written where they are wanted. */
#ifndef OUTFOX_CMD_PLAN_REPORT_H
#define OUTFOX_CMD_PLAN_REPORT_H

#include "cmd/cmd.h"
#include "data/node.h"
#include "plan/result.h"

/* Where plans keep their runs and results, NAME/result.json. */
#define PLAN_DIR ".outfox/plans"

struct plan_reports {
    const struct args *args;
    struct arena arena;
    const struct node *doc, *other; /* other: to be compared with; NULL: nothing */
    slice json;                     /* the document */
};

/* Before anything is carried out: can all reports be written? Reads what is to be compared with. 0,
 * or an exit code after the error was printed; to be closed in any case but that. */
int plan_reports_open(struct plan_reports *r, const struct args *args);

/* Keeps what came of a plan, and writes all reports; the exit code. */
int plan_reports_made(struct plan_reports *r, const struct plan_result *result);

void plan_reports_close(struct plan_reports *r);

#endif
