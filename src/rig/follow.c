/* SPDX-License-Identifier: Apache-2.0
 *
 * Logs are read a few times each second, so their lines have a moment that is nearly true: what a node
 * prints goes to a file, and none ever waits for us. */
#include <fcntl.h>
#include <unistd.h>

#include "io/sys.h"
#include "rig/rig_int.h"

enum { LINE_MAX_BYTES = 1000, READS_MOST = 64 };

static void line_add(struct rig_node *n, struct follow *f)
{
    struct trial_result *r = n->slot->result;
    struct trial_node *to = &r->nodes.at[n->index];
    slice text = slice_trim(buf_slice(&f->line));
    if (to->lines.n == TRIAL_LINES_MAX)
        r->truncated = true;
    else if (text.n)
        vec_push(&to->lines,
                 (struct trial_log_line){slot_now(n->slot), slice_copy(&r->arena, text)});
    buf_clear(&f->line);
}

static void bytes_add(struct rig_node *n, struct follow *f, slice bytes)
{
    slice rest = bytes, part;
    while (rest.p && slice_cut(&rest, '\n', &part)) {
        buf_add(&f->line, part);
        if (rest.p)
            line_add(n, f);
    }
}

static void read_one(struct rig_node *n, struct follow *f)
{
    char part[16 * 1024];
    if (f->fd < 0)
        f->fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    for (int i = 0; f->fd >= 0 && i < READS_MOST; i++) {
        ssize_t got = pread(f->fd, part, sizeof part, f->at);
        if (got <= 0)
            return;
        f->at += got;
        bytes_add(n, f, (slice){part, (size_t)got});
    }
}

static void add(struct rig_node *n, const char *path)
{
    struct follow f = {.path = path, .line = BUF_INIT(LINE_MAX_BYTES)};
    f.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    off_t end = f.fd >= 0 ? lseek(f.fd, 0, SEEK_END) : 0;
    f.at = end > 0 ? end : 0;
    vec_push(&n->follows, f);
}

void follow_begin(struct rig_node *n)
{
    struct slot *s = n->slot;
    const struct trials_node *what = &s->rig->trials->nodes.at[n->index];
    add(n, n->log);
    for (uint32_t i = 0; i < what->logs.n; i++)
        add(n, arena_printf(&s->arena, "%.*s/%.*s", SLICE_ARG(s->dir[n->index]),
                            SLICE_ARG(what->logs.at[i])));
}

void follow_read(struct rig_node *n)
{
    for (uint32_t i = 0; i < n->follows.n; i++)
        read_one(n, &n->follows.at[i]);
}

void follow_end(struct rig_node *n)
{
    follow_read(n);
    for (uint32_t i = 0; i < n->follows.n; i++) {
        struct follow *f = &n->follows.at[i];
        if (f->line.n)
            line_add(n, f);
        if (f->fd >= 0)
            sys_close(f->fd);
        buf_deinit(&f->line);
    }
    vec_deinit(&n->follows);
}
