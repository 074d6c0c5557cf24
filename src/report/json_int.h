/* SPDX-License-Identifier: Apache-2.0
 *
 * Parts of JSON documents: json.c (values, and documents about one scenario), json_campaign.c. */
#ifndef OUTFOX_REPORT_JSON_INT_H
#define OUTFOX_REPORT_JSON_INT_H

#include <jansson.h>

#include "report/report.h"

/* The text of the buffer, which is cleared. Bytes that are not UTF-8 become '?'. */
json_t *doc_take(struct buf *b);

/* null for NULL. */
json_t *doc_text(const char *text);

json_t *doc_outcome(outcome o);
json_t *doc_faultload(const struct names *names, const struct faultloads *fl, faultload f);
json_t *doc_remarks(const struct report_source *source, uint32_t scenario);
json_t *doc_finding(const struct summary *s, const struct finding *f);

/* The scenario's own request, with all calls below it; null when there is none. */
json_t *doc_trace(const struct trace *trace, const struct names *names);

/* Verdict, figures, findings (taken over) and what is suspect. */
void doc_summary(json_t *doc, const struct report_source *source, uint32_t scenario,
                 json_t *findings);

/* Prints and frees. */
void doc_print(json_t *doc, struct buf *out);

#endif
