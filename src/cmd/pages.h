/* SPDX-License-Identifier: Apache-2.0
 *
 * Texts that are part of the program: the pages of docs/oracles, and the help texts of help.txt.
 * tools/pages brings them in when it is built. */
#ifndef OUTFOX_CMD_PAGES_H
#define OUTFOX_CMD_PAGES_H

#include "base/str.h"

/* Appends the page of this name: an oracle, a verb, "outfox", "exit codes". */
void page_add(const char *name, struct buf *out);

#endif
