/* SPDX-License-Identifier: Apache-2.0 */
#include "report/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outlet.h"

const struct style style_plain = {"", "", "", "", "", ""};
const struct style style_colour = {"\033[1m",  "\033[31m", "\033[32m",
                                   "\033[33m", "\033[2m",  "\033[0m"};

bool style_terminal(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

const struct style *style_for(int fd, const char *when)
{
    const char *none = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
    bool wanted = strcmp(when, "always") == 0;
    if (strcmp(when, "auto") == 0 && !(none && none[0]))
        wanted = (force && force[0] && strcmp(force, "0") != 0) || style_terminal(fd);
    if (wanted)
        outlet_colours(fd);
    return wanted ? &style_colour : &style_plain;
}
