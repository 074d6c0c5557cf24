/* SPDX-License-Identifier: Apache-2.0
 *
 * Colours, or none. Reports write marks around words; without colour the marks are empty. */
#ifndef OUTFOX_REPORT_STYLE_H
#define OUTFOX_REPORT_STYLE_H

#include <stdbool.h>

struct style {
    const char *bold, *red, *green, *yellow, *dim, *off;
};

extern const struct style style_plain, style_colour;

/* A terminal on which a line can be rewritten? */
bool style_terminal(int fd);

/* "auto", "always" or "never"; auto: a terminal, TERM not dumb, NO_COLOR empty. CLICOLOR_FORCE
 * forces. */
const struct style *style_for(int fd, const char *when);

#endif
