/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports that go to files of the user's choice; `-` is standard output. */
#ifndef OUTFOX_CMD_REPORT_FILE_H
#define OUTFOX_CMD_REPORT_FILE_H

#include "base/outlet.h"
#include "base/str.h"

bool report_to_stdout(const char *file);

/* The file must be writable, or the directory where it would be made: 0, or errno. */
int report_unwritable(const char *file);

/* Says why it cannot be written; the exit code. */
int report_refuse(const char *option, const char *file, int number);

/* 0, or an errno. */
int report_write(const char *file, enum outlet_kind kind, struct buf *text) MUST_USE;

/* Are these two names of one file that is there? */
bool report_same_file(const char *a, const char *b);

#endif
