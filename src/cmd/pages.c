/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/pages.h"

/* In any order; lines of a page stand together. */
static const struct page_line {
    const char *page, *text;
} page_lines[] = {
#define LINE(page, text) {page, text},
#include "cmd/pages.list"
#undef LINE
};

void page_add(const char *name, struct buf *out)
{
    for (size_t i = 0; i < sizeof page_lines / sizeof *page_lines; i++)
        if (strcmp(page_lines[i].page, name) == 0)
            buf_addf(out, "%s\n", page_lines[i].text);
}
