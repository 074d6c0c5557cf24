/* SPDX-License-Identifier: Apache-2.0
 *
 * What a session says on standard error while it lasts. */
#include "base/clock.h"
#include "cmd/session.h"

static struct progress *watched; /* the line that is redrawn on standard error, if there is one */

void session_watch(struct progress *line)
{
    watched = line;
}

void session_note(const char *text)
{
    struct buf line = BUF_INIT(4096);
    buf_addf(&line, "outfox: %s", text);
    if (watched)
        progress_note(watched, buf_text(&line));
    else
        fprintf(stderr, "%s\n", buf_text(&line));
    buf_deinit(&line);
}

void session_clear_up(void)
{
    uint32_t n = live_clear_up();
    if (n)
        fprintf(stderr,
                "outfox: ended %u %s that an earlier outfox left behind when it was killed\n",
                (unsigned)n, plural(n, "process", "processes"));
}

void session_waiting(const char *text)
{
    if (watched)
        progress_waiting(watched, text, clock_ns());
}
