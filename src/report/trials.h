/* SPDX-License-Identifier: Apache-2.0
 *
 * Trials for readers. As with plans, what came of them is one document: what programs get, what is kept
 * on disk, and all that every other report is printed from. */
#ifndef OUTFOX_REPORT_TRIALS_H
#define OUTFOX_REPORT_TRIALS_H

#include "data/node.h"
#include "report/report.h"
#include "trial/agenda.h"

/* The document. version: of this program; end: why there was no more, or empty. */
void trials_print_json(const struct agenda_view *v, const char *version, int64_t took_ns, slice end,
                       struct buf *out);

/* One trial in a line: for progress, and for the journal as JSON. */
void trials_line(const struct trial_result *r, struct buf *out);
void trials_line_json(const struct trial_result *r, struct buf *out);

/* "EIO of fdatasync in sync_once (pair.c:33), request 1": what was made. */
void trials_add_fault(const struct trial_injection *in, enum outfox_act act, struct buf *out);

/* Reads such a document. 0, or -1 with *e. */
int trials_document_read(struct arena *a, const char *file, slice bytes, const struct node **out,
                         struct err *e) MUST_USE;
/* The finding with this number; NULL: there is none. */
const struct node *trials_document_finding(const struct node *doc, uint64_t number);

void trials_document_text(const struct node *doc, const struct style *style, struct buf *out);
void trials_document_markdown(const struct node *doc, struct buf *out);
void trials_document_junit(const struct node *doc, struct buf *out);
void trials_document_html(const struct node *doc, struct buf *out);

#endif
