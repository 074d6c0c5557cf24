/* SPDX-License-Identifier: Apache-2.0 */
#include "io/procs.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "io/sys.h"

enum { STAT_MAX = 1024, STAT_BETWEEN = 15, CHILDREN_STEP = 4096, FAMILY_MAX = 10000 };

static bool next_pid(slice *rest, pid_t *out)
{
    slice word;
    uint64_t number;
    if (!slice_word(rest, &word) || !slice_to_u64(word, INT32_MAX, &number))
        return false;
    *out = (pid_t)number;
    return true;
}

/* "PID (NAME) STATE PARENT GROUP SESSION ... START ..."; a name may have blanks and parentheses in
 * it. The words behind the name, and the state. */
static bool stat_words(slice text, slice *state, slice *rest)
{
    size_t end = text.n;
    while (end > 0 && text.p[end - 1] != ')')
        end--;
    *rest = slice_from(text, end);
    return end > 0 && slice_word(rest, state);
}

/* The number that comes after so many words. */
static bool number_after(slice *rest, int words, uint64_t *out)
{
    slice word;
    while (words-- > 0)
        if (!slice_word(rest, &word))
            return false;
    return slice_word(rest, &word) && slice_to_u64(word, UINT64_MAX, out);
}

static bool stat_parse(slice text, struct proc *out)
{
    slice state, rest;
    if (!stat_words(text, &state, &rest))
        return false;
    out->alive = !memchr("ZXx", state.p[0], 3);
    return next_pid(&rest, &out->parent) && next_pid(&rest, &out->group) &&
           next_pid(&rest, &out->session) && number_after(&rest, STAT_BETWEEN, &out->start);
}

/* /proc/PID/stat in `text`; an empty slice: there is no such process. */
static slice stat_read(pid_t pid, char text[STAT_MAX])
{
    char path[64];
    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return (slice){text, 0};
    ssize_t n = sys_read(fd, text, STAT_MAX);
    sys_close(fd);
    return (slice){text, n > 0 ? (size_t)n : 0};
}

bool proc_read(pid_t pid, struct proc *out)
{
    char text[STAT_MAX];
    *out = (struct proc){.pid = pid};
    return stat_parse(stat_read(pid, text), out);
}

/* 0: it is not ours to look at, or has ended. */
static uint32_t descriptors_of(pid_t pid)
{
    char path[64];
    uint32_t n = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/fd", (int)pid);
    DIR *dir = opendir(path);
    if (!dir)
        return 0;
    for (const struct dirent *d; (d = readdir(dir));)
        n += d->d_name[0] != '.';
    (void)closedir(dir);
    return n;
}

bool proc_usage(pid_t pid, struct proc_usage *out)
{
    char text[STAT_MAX];
    slice state, rest;
    uint64_t user, kernel, threads, pages;
    int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
    *out = (struct proc_usage){0};
    /* after the state: parent ... utime, stime, 4 more, threads, one more, start, size, resident */
    if (!stat_words(stat_read(pid, text), &state, &rest) || !number_after(&rest, 10, &user) ||
        !number_after(&rest, 0, &kernel) || !number_after(&rest, 4, &threads) ||
        !number_after(&rest, 1, &out->start) || !number_after(&rest, 1, &pages))
        return false;
    out->cpu_ns = (int64_t)(user + kernel) * tick_ns;
    out->memory = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    out->threads = (uint32_t)threads;
    out->descriptors = descriptors_of(pid);
    return true;
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

/* The children of one thread; false: there is no list. A list is read to its end: it has no size.
 */
static bool thread_children(pid_t pid, pid_t thread, struct procs *out)
{
    char path[96], text[CHILDREN_STEP];
    (void)snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)thread);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    size_t kept = 0; /* of a number that the last piece ended in */
    for (ssize_t n; (n = sys_read(fd, text + kept, sizeof text - kept)) > 0;) {
        slice rest = {text, kept + (size_t)n};
        size_t whole = rest.n;
        while (whole > 0 && text[whole - 1] != ' ')
            whole--;
        slice numbers = {text, whole};
        for (pid_t child; next_pid(&numbers, &child);)
            vec_push(&out->all, (struct proc){.pid = child, .parent = pid, .marked = true});
        kept = rest.n - whole;
        memmove(text, text + whole, kept);
    }
    sys_close(fd);
    return true;
}

bool procs_read_below(struct procs *out, pid_t root)
{
    bool known = false;
    out->all.n = 0;
    for (uint32_t i = 0; i <= out->all.n && i < FAMILY_MAX; i++) {
        pid_t pid = i ? out->all.at[i - 1].pid : root;
        char path[64];
        (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
        DIR *dir = opendir(path);
        for (const struct dirent *d; dir && (d = readdir(dir));) {
            uint64_t thread;
            if (slice_to_u64(slice_of(d->d_name), INT32_MAX, &thread))
                known |= thread_children(pid, (pid_t)thread, out);
        }
        if (dir)
            (void)closedir(dir);
    }
    return known;
}

void procs_read_family(struct procs *out, pid_t root)
{
    procs_read(out);
    /* as often through the list as the family has members, who are few */
    VEC(pid_t) found = {0};
    vec_push(&found, root);
    for (uint32_t i = 0; i < found.n; i++) {
        for (uint32_t j = 0; j < out->all.n; j++) {
            struct proc *r = &out->all.at[j];
            if (r->marked || r->parent != found.at[i])
                continue;
            r->marked = true;
            vec_push(&found, r->pid);
        }
    }
    vec_deinit(&found);
}

void procs_deinit(struct procs *p)
{
    vec_deinit(&p->all);
}
