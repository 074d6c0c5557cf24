/* SPDX-License-Identifier: Apache-2.0
 *
 * Processes that run out of descriptors: `descriptors on PID MORE` and `descriptors off PID`. Each
 * process of the node can open so many more, by a lower soft limit (RLIMIT_NOFILE): the system gives
 * the lowest number that is free, and the limit is the first number that it must not give.
 *
 * What the limits were is in a file of the run's directory, a line for each process, before they are
 * changed. A child that is born meanwhile has the limit of its parent, and no line: it gets back what
 * its parent had. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "harm/family.h"
#include "harm/harm_int.h"

enum { NOTE_BYTES_MOST = 1 << 20, NUMBERS_MOST = 1 << 20 };

/* What one process had, and has. */
struct had {
    pid_t pid;
    uint64_t start, old, now;
};

struct shortage {
    char path[4200]; /* of the file */
    uint32_t more;
    VEC(struct had) all;
};

static int refused(pid_t pid, struct err *e)
{
    int reason = errno;
    return err_set(e, 0, 0,
                   "the limits of the process %d cannot be changed: %s; needed is to be its user, "
                   "or root with CAP_SYS_RESOURCE",
                   (int)pid, strerror(reason));
}

/* The limit with which it can open `more`: by the numbers that it has in use. */
static int limit_for(pid_t pid, uint32_t more, uint64_t *limit, struct err *e)
{
    char path[40];
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return refused(pid, e);
    uint8_t *used = mem_zero(NUMBERS_MOST);
    for (struct dirent *d; (d = readdir(dir));) {
        uint64_t fd;
        if (slice_to_u64(slice_of(d->d_name), NUMBERS_MOST - 1, &fd))
            used[fd] = 1;
    }
    (void)closedir(dir);
    uint64_t at = 0;
    for (uint32_t left = more; at < NUMBERS_MOST && (left || used[at]); at++)
        left -= !used[at];
    mem_free(used);
    *limit = at;
    return 0;
}

static struct had *find(struct shortage *s, const struct proc *p)
{
    for (uint32_t i = 0; i < s->all.n; i++)
        if (s->all.at[i].pid == p->pid && s->all.at[i].start == p->start)
            return &s->all.at[i];
    return NULL;
}

static int note(struct shortage *s, const struct had *h, struct err *e)
{
    char line[120];
    int n = snprintf(line, sizeof line, "%d %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (int)h->pid,
                     h->start, h->old, h->now);
    int fd = file_open_private(s->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC);
    bool written = fd >= 0 && write(fd, line, (size_t)n) == n;
    int reason = errno;
    if (fd >= 0)
        (void)close(fd);
    vec_push(&s->all, *h);
    return written ? 0
                   : err_set(e, 0, 0, "%.300s cannot be written: %s", s->path, strerror(reason));
}

static int lower(void *user, const struct proc *p, struct err *e)
{
    struct shortage *s = user;
    struct rlimit limit;
    struct had h = {.pid = p->pid, .start = p->start};
    if (find(s, p))
        return 0;
    if (limit_for(p->pid, s->more, &h.now, e))
        return -1;
    if (prlimit(p->pid, RLIMIT_NOFILE, NULL, &limit))
        return refused(p->pid, e);
    h.old = limit.rlim_cur;
    for (uint32_t i = 0; i < s->all.n; i++) /* a child of one whose limit is low already */
        if (s->all.at[i].pid == p->parent && s->all.at[i].now == h.old)
            h.old = s->all.at[i].old;
    if (h.now > limit.rlim_max)
        h.now = limit.rlim_max;
    if (note(s, &h, e))
        return -1;
    limit.rlim_cur = h.now;
    return prlimit(p->pid, RLIMIT_NOFILE, &limit, NULL) ? refused(p->pid, e) : 1;
}

static int give_back(const struct had *h, pid_t pid, struct err *e)
{
    struct rlimit limit;
    if (prlimit(pid, RLIMIT_NOFILE, NULL, &limit))
        return refused(pid, e);
    if (limit.rlim_cur != h->now) /* given back, or the process has chosen another one */
        return 0;
    limit.rlim_cur = h->old < limit.rlim_max ? h->old : limit.rlim_max;
    if (limit.rlim_cur == h->now)
        return 0;
    return prlimit(pid, RLIMIT_NOFILE, &limit, NULL) ? refused(pid, e) : 1;
}

static int raise_again(void *user, const struct proc *p, struct err *e)
{
    struct shortage *s = user;
    const struct had *h = find(s, p);
    if (h)
        return give_back(h, p->pid, e);
    for (uint32_t i = 0; p->marked && i < s->all.n; i++) { /* born meanwhile */
        int done = s->all.at[i].start <= p->start ? give_back(&s->all.at[i], p->pid, e) : 0;
        if (done)
            return done;
    }
    return 0;
}

/* Reads the file; there is none when nothing was changed. */
static int notes_read(struct shortage *s, struct err *e)
{
    struct buf text = BUF_INIT(NOTE_BYTES_MOST);
    int code = file_read(s->path, &text);
    slice rest = buf_slice(&text), line;
    while (slice_cut(&rest, '\n', &line)) {
        uint64_t number[4];
        slice word;
        uint32_t n = 0;
        while (n < 4 && slice_word(&line, &word) && slice_to_u64(word, UINT64_MAX, &number[n]))
            n++;
        if (n == 4)
            vec_push(&s->all, (struct had){(pid_t)number[0], number[1], number[2], number[3]});
    }
    buf_deinit(&text);
    return !code || code == ENOENT
               ? 0
               : err_set(e, 0, 0, "%.300s cannot be read: %s", s->path, strerror(code));
}

/* Everybody's parents: those whose process is not there any more have left children behind. */
static int undo(struct shortage *s, pid_t root, struct err *e)
{
    struct proc p;
    if (notes_read(s, e))
        return -1;
    bool same = false; /* is the number still that process's? */
    if (proc_read(root, &p))
        same = find(s, &p) != NULL;
    for (uint32_t i = 0; i < s->all.n; i++) {
        const struct had *h = &s->all.at[i];
        if (proc_read(h->pid, &p) && p.alive && p.start == h->start && give_back(h, h->pid, e) < 0)
            return -1;
    }
    if (same && family_each(root, raise_again, s, e))
        return -1;
    (void)unlink(s->path);
    return 0;
}

int harm_descriptors(int argc, char **argv, struct buf *said, struct err *e)
{
    struct shortage s = {.more = 0};
    const char *dir = getenv("OUTFOX_DIR");
    uint64_t more = 0;
    bool on = argc == 3 && strcmp(argv[0], "on") == 0 &&
              slice_to_u64(slice_of(argv[2]), NUMBERS_MOST / 2, &more);
    bool off = argc == 2 && strcmp(argv[0], "off") == 0;
    (void)said;
    if (!on && !off)
        return err_set(e, 0, 0, "usage: on PID MORE, or off PID");
    pid_t root = on ? family_root(argv[1], e) : family_number(argv[1], e);
    if (root < 0)
        return -1;
    s.more = (uint32_t)more;
    (void)snprintf(s.path, sizeof s.path, "%.4000s/.descriptors-%d", dir ? dir : "/tmp", (int)root);
    int status = on ? family_each(root, lower, &s, e) : undo(&s, root, e);
    vec_deinit(&s.all);
    return status;
}
