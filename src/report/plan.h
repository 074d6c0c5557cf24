/* SPDX-License-Identifier: Apache-2.0
 *
 * Failure plans for readers: what a plan would do, and what came of it.
 *
 *     struct plan_result  --plan_print_json-->  the document  --plan_document_read-->  nodes
 *                                                                                       |
 *                                     text, JUnit, Markdown, annotations, comparison <--'
 *
 * What came of a plan is one document (schemas/plan-result.json). It is what programs get, what is
 * kept on disk, and all that every other report is printed from. So a report that is printed again
 * later cannot say anything else than the first one did. */
#ifndef OUTFOX_REPORT_PLAN_H
#define OUTFOX_REPORT_PLAN_H

#include "base/err.h"
#include "data/node.h"
#include "plan/result.h"
#include "report/report.h"

/* What would be done, to whom, with which rights, for how long. Nothing is touched. */
void plan_print_show(const struct plan *p, struct buf *out);

/* "3s after the start", "when redis1 prints /promoted/, the 2nd time": a trigger in words. */
void plan_print_trigger(const struct plan *p, const struct plan_trigger *t, struct buf *out);

/* ---- what came of it ---- */

/* The document. version: of this program. */
void plan_print_json(const struct plan_result *r, const char *version, struct buf *out);

/* Reads one, out of JSON or out of an HTML report that holds it; `file` is what messages call it.
 * The nodes live in `a`, *json is the document as it was. 0, or -1 with *e: what it is instead, and
 * the remedy. */
int plan_document_read(struct arena *a, const char *file, slice bytes, const struct node **out,
                       slice *json, struct err *e) MUST_USE;

enum plan_verdict plan_document_verdict(const struct node *doc);

/* For people; `other`: an earlier one that it is compared with, or NULL. */
void plan_document_text(const struct node *doc, const struct style *style, struct buf *out);
/* The same of a result that is not kept. */
void plan_print_text(const struct plan_result *r, const struct style *style, struct buf *out);

void plan_document_compare(const struct node *doc, const struct node *other,
                           const struct style *style, struct buf *out);

void plan_document_junit(const struct node *doc, struct buf *out);
void plan_document_markdown(const struct node *doc, struct buf *out);
void plan_document_github(const struct node *doc, struct buf *out);

#endif
