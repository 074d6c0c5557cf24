/* SPDX-License-Identifier: Apache-2.0
 *
 * html: the report for browsers, put together of the page and documents. */
#ifndef OUTFOX_PAGE_HTML_H
#define OUTFOX_PAGE_HTML_H

#include "report/report.h"

/* One file for a browser, with all documents in it. Only with a page (page.h). */
void html_report(const struct report_source *source, struct buf *out);

/* The same of what came of a failure plan: its document (report/plan.h). */
void html_plan(slice document, struct buf *out);

/* Adds the page with all documents where PAGE_MARK stands in it; pages of runs only as long as all
 * of it stays below `most` bytes. */
void html_compose(const struct report_source *source, slice page, size_t most, struct buf *out);

#endif
