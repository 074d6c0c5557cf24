/* SPDX-License-Identifier: Apache-2.0
 *
 * suite: what the scenarios of a campaign cover, of each and of all together, as a part of reports. There
 * is none where there is one scenario, or the source does not know. */
#ifndef OUTFOX_REPORT_SUITE_H
#define OUTFOX_REPORT_SUITE_H

#include "data/json.h"
#include "report/report.h"

/* False: there is none. Else *out is for suite_coverage_deinit. */
bool suite_of(const struct report_source *source, struct suite_coverage *out);

/* A section of the summary for people, and of the Markdown report; a value of a JSON document, null
 * where there is none. */
void suite_text(const struct report_source *source, const struct style *style, struct buf *out);
void suite_markdown(const struct report_source *source, struct buf *out);
void suite_put(const struct report_source *source, struct json_out *j, const char *key);

#endif
