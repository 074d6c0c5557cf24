/* SPDX-License-Identifier: Apache-2.0
 *
 * Lines of a tree of calls: tree.c (one run), replay.c (one run next to another). */
#ifndef OUTFOX_REPORT_TREE_INT_H
#define OUTFOX_REPORT_TREE_INT_H

#include "report/report.h"

struct drawing {
    const struct names *names;
    const struct style *style;
    FILE *out;        /* where lines go; NULL: */
    struct buf *text; /* there */
    uint32_t left;    /* lines that may still be printed */
    uint32_t more;    /* calls that had no line left */
};

/* mark: before the line, "" for none. was: what the caller saw in another run; OUT_NONE: the same.
 */
void tree_line(struct drawing *d, const struct call *c, const char *mark, const char *indent,
               const char *branch, outcome was);

/* How many calls had no line left, if any. */
void tree_end(const struct drawing *d, const char *indent);

/* A tree of calls as text. */
void tree_text(const struct trace *trace, const struct names *names, uint32_t most,
               struct buf *out);

#endif
