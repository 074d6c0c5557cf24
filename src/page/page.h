/* SPDX-License-Identifier: Apache-2.0
 *
 * page: the one page that shows campaigns, built from ui/: the report in a file has documents where
 * PAGE_MARK stands, the live page asks its server for them. */
#ifndef OUTFOX_PAGE_PAGE_H
#define OUTFOX_PAGE_PAGE_H

#include "base/str.h"

#define PAGE_MARK "<!--documents-->"

/* Empty: built without it (make NO_UI=1). */
extern const slice page_html;

#endif
