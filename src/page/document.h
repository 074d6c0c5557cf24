/* SPDX-License-Identifier: Apache-2.0
 *
 * Documents: all that a page shows, each one JSON with a name. A report for browsers holds them, a
 * server answers with them (`/api/v1/NAME`); both know of them from this table alone.
 *
 *   report            NAME           of the whole campaign
 *   handlers/0        NAME/S         of a scenario, by its place in the report
 *   runs/0/3          NAME/S/P       of one page of its runs, DOCUMENT_PAGE of them */
#ifndef OUTFOX_PAGE_DOCUMENT_H
#define OUTFOX_PAGE_DOCUMENT_H

#include "report/report.h"

enum { DOCUMENT_PAGE = 200, DOCUMENT_NAME_MAX = 64 };

enum document_of { OF_CAMPAIGN, OF_SCENARIO, OF_PAGE };

/* Which document is meant. */
struct document_place {
    uint32_t scenario, page;
    uint64_t from; /* of `runs`: those from this number on; 0: all */
};

struct document_row {
    const char *name;
    enum document_of of;
    const char *schema; /* name of its JSON Schema */
    const char *about;  /* one line */
    enum status (*print)(const struct report_source *source, const struct document_place *place,
                         struct buf *out, struct err *e);
};

extern const struct document_row document_rows[];
extern const uint32_t n_documents;

/* How many documents of this kind there are for a scenario: 1, or the pages of its runs. */
uint32_t document_count(const struct report_source *source, const struct document_row *row,
                        uint32_t scenario);

/* "runs/0/3" */
void document_name(const struct document_row *row, const struct document_place *place,
                   struct buf *out);

/* The row that a name stands for, and *place; NULL: none does. The numbers in it may be beyond what
 * there is. */
const struct document_row *document_find(slice name, struct document_place *place);

/* Prints the document of this name. STATUS_NONE: there is none, or this source does not have it.
 * STATUS_FAILED: it cannot be read, *e says why. from: as of document_place. */
enum status document_print(const struct report_source *source, slice name, uint64_t from,
                           struct buf *out, struct err *e) MUST_USE;

#endif
