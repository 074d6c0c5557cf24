/* SPDX-License-Identifier: Apache-2.0 */
#include "report/style.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/outlet.h"

const struct style style_plain = {"", "", "", "", "", ""};
const struct style style_colour = {"\033[1m",  "\033[31m", "\033[32m",
                                   "\033[33m", "\033[2m",  "\033[0m"};

static bool set(const char *name)
{
    const char *value = getenv(name);
    return value && value[0];
}

bool style_terminal(int fd)
{
    const char *term = getenv("TERM");
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

static bool has_colours(int fd, const char *when)
{
    if (strcmp(when, "always") == 0)
        return true;
    if (strcmp(when, "never") == 0 || set("NO_COLOR"))
        return false;
    const char *force = getenv("CLICOLOR_FORCE");
    return (force && force[0] && strcmp(force, "0") != 0) || style_terminal(fd);
}

const struct style *style_for(int fd, const char *when)
{
    if (!has_colours(fd, when))
        return &style_plain;
    outlet_colours(fd);
    return &style_colour;
}
