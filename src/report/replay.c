/* SPDX-License-Identifier: Apache-2.0
 *
 * One run with faults, and how it differs from the run without. */
#include "report/report.h"

void report_replay(const struct names *names, const struct run *plain, const struct run *faulty,
                   const struct style *style, FILE *out)
{
    (void)plain;
    report_tree(&faulty->trace, names, &faulty->verdict, NULL, style, out);
}
