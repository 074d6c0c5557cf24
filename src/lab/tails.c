/* SPDX-License-Identifier: Apache-2.0
 *
 * The ends of logs. Reports quote them, and the next run of the same name empties the directory. */
#include <fcntl.h>
#include <unistd.h>

#include "io/sys.h"
#include "lab/lab_int.h"

enum { TAIL_BYTES = 4096, TAIL_LINES = 20 };

/* The last lines of what was read from the end of a file; `whole`: nothing was in front of it. */
static slice last_lines(slice text, bool whole)
{
    size_t from = text.n;
    for (uint32_t lines = 0; from > 0; from--)
        if (text.p[from - 1] == '\n' && from < text.n && ++lines == TAIL_LINES)
            break;
    if (from == 0 && !whole) { /* the first line is cut */
        size_t end = slice_find(text, '\n');
        from = end < text.n ? end + 1 : 0;
    }
    return slice_from(text, from);
}

static void take(struct lab *lab, slice name)
{
    char bytes[TAIL_BYTES];
    struct arena *a = &lab->run->arena;
    const char *path =
        arena_printf(&lab->arena, "%.*s/%.*s.log", SLICE_ARG(lab->dir), SLICE_ARG(name));
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return;
    off_t end = lseek(fd, 0, SEEK_END), from = end > TAIL_BYTES ? end - TAIL_BYTES : 0;
    ssize_t n = pread(fd, bytes, sizeof bytes, from);
    sys_close(fd);
    if (n <= 0)
        return;
    slice text = last_lines((slice){bytes, (size_t)n}, from == 0);
    vec_push(&lab->run->tails, (struct plan_tail){name, slice_copy(a, text)});
}

void tails_take(struct lab *lab)
{
    for (uint32_t i = 0; lab->dir.n && i < lab->plan->nodes.n; i++)
        take(lab, lab->plan->nodes.at[i].name);
    for (uint32_t i = 0; lab->dir.n && i < lab->plan->clients.n; i++)
        take(lab, lab->plan->clients.at[i].name);
}
