/* SPDX-License-Identifier: Apache-2.0
 *
 * Text of others, made harmless for where it is printed (base/printable.h). Whatever comes in, what
 * goes out is valid UTF-8: bytes that are none become U+FFFD. */
#ifndef OUTFOX_REPORT_ESCAPE_H
#define OUTFOX_REPORT_ESCAPE_H

#include "base/str.h"

/* One line for a terminal or a log: what is hidden becomes '?'. */
void escape_line(slice text, struct buf *out);

/* XML 1.0, content and attributes alike. What XML cannot hold, even escaped, is left out. */
void escape_xml(slice text, struct buf *out);

/* One line of Markdown, in a table too, in which nothing has a meaning. */
void escape_markdown(slice text, struct buf *out);

/* A block of code in Markdown, with a fence that is in no way part of it. Ends with a newline. */
void escape_code(slice text, const char *language, struct buf *out);

/* Of a workflow command of GitHub: its message, or the value of a property. */
void escape_github(slice text, bool property, struct buf *out);

/* Adds a format in which each %s is a text that goes through `escape`; it knows nothing else. */
void escape_addf(struct buf *out, void (*escape)(slice text, struct buf *out), const char *format,
                 ...) __attribute__((format(printf, 3, 4)));

#endif
