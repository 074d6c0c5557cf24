/* SPDX-License-Identifier: Apache-2.0 */
#include "io/procs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "io/sys.h"

enum { STAT_MAX = 1024 };

static bool next_pid(slice *rest, pid_t *out)
{
    slice word;
    uint64_t number;
    if (!slice_word(rest, &word) || !slice_to_u64(word, INT32_MAX, &number))
        return false;
    *out = (pid_t)number;
    return true;
}

/* "PID (NAME) STATE PARENT GROUP SESSION ..."; a name may have blanks and parentheses in it. */
static bool stat_parse(slice text, struct proc *out)
{
    size_t end = text.n;
    while (end > 0 && text.p[end - 1] != ')')
        end--;
    slice state, rest = slice_from(text, end);
    if (end == 0 || !slice_word(&rest, &state))
        return false;
    out->alive = !memchr("ZXx", state.p[0], 3);
    return next_pid(&rest, &out->parent) && next_pid(&rest, &out->group) &&
           next_pid(&rest, &out->session);
}

bool proc_read(pid_t pid, struct proc *out)
{
    char path[64], text[STAT_MAX];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t n = sys_read(fd, text, sizeof text);
    sys_close(fd);
    *out = (struct proc){.pid = pid};
    return n > 0 && stat_parse((slice){text, (size_t)n}, out);
}

void procs_read(struct procs *out)
{
    out->all.n = 0;
    DIR *dir = opendir("/proc");
    if (!dir)
        return;
    for (const struct dirent *d; (d = readdir(dir));) {
        uint64_t pid;
        struct proc p;
        if (slice_to_u64(slice_of(d->d_name), INT32_MAX, &pid) && proc_read((pid_t)pid, &p))
            vec_push(&out->all, p);
    }
    (void)closedir(dir);
}

void procs_deinit(struct procs *p)
{
    vec_deinit(&p->all);
}
