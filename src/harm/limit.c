/* SPDX-License-Identifier: Apache-2.0
 *
 * A node with less of everything: `limit on PID KEY=NUMBER...` and `limit off PID`. A control group
 * is made for it, with the limits, and its processes are moved there; children are born in it.
 *
 *   version 1: the group is below that where the node is, in the tree of each controller
 *   version 2: beside it, or above, where the controllers are given to children. (A group that has
 *              processes can give them to none.)
 *
 * 1. The group has a name of its own fault, by which the undo finds it: it remembers nothing.
 * 2. Processes go back to where they came from: the parent; in version 2 that where outfox is itself,
 *    which is where nodes are started. Then the group is removed, with what is in it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "harm/cgroup.h"
#include "harm/family.h"
#include "harm/harm_int.h"
#include "io/sys.h"

enum { TEXT_BYTES_MOST = 1 << 20, DEPTH_MOST = 32, TRIES_MOST = 100, AGAIN_US = 10000, ROOM = 300 };

/* A number N of percent, of bytes, of processes, as each version takes it. */
struct control {
    const char *key, *controller, *file[2], *more[2];
    uint64_t times;
};

static const struct control controls[] = {
    /* microseconds of each period of 100 ms */
    {"cpu", "cpu", {"cpu.cfs_quota_us", "cpu.max"}, {"", " 100000"}, 1000},
    {"memory", "memory", {"memory.limit_in_bytes", "memory.max"}, {"", ""}, 1},
    {"processes", "pids", {"pids.max", "pids.max"}, {"", ""}, 1},
};
enum { CONTROLS = sizeof controls / sizeof *controls };

struct limits {
    char name[40]; /* of the group */
    uint64_t number[CONTROLS];
    struct cgroup at[CONTROLS]; /* where the group is, and then it itself */
    struct buf mounts;
};

/* ---- files ---- */

static bool read_text(const char *path, struct buf *out)
{
    out->n = 0;
    return file_read(path, out) == 0;
}

static bool write_text(const char *dir, const char *file, const char *text)
{
    char path[CGROUP_PATH_MOST + ROOM];
    (void)snprintf(path, sizeof path, "%s/%s", dir, file);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool written = write(fd, text, strlen(text)) >= 0;
    int reason = errno;
    sys_close(fd);
    errno = reason;
    return written;
}

static bool move(const char *dir, pid_t pid)
{
    char text[DIGITS_MOST + 1];
    (void)snprintf(text, sizeof text, "%d", (int)pid);
    return write_text(dir, "cgroup.procs", text) || errno == ESRCH;
}

static int refused(const char *what, const char *dir, struct err *e)
{
    int reason = errno;
    return err_set(e, 0, 0,
                   "%s %.200s: %s; needed are root, and control groups that may be written (in a "
                   "container: --privileged, or /sys/fs/cgroup mounted for writing)",
                   what, dir, strerror(reason));
}

/* ---- on ---- */

/* A parent that gives its children the controller: here, or above. */
static bool climb(struct cgroup *g, const char *controller)
{
    struct buf given = BUF_INIT(TEXT_BYTES_MOST);
    bool found = false, more = strcmp(g->dir, g->mount) == 0 || cgroup_up(g->dir, g->mount);
    while (more && !found) {
        char path[CGROUP_PATH_MOST + ROOM];
        (void)snprintf(path, sizeof path, "%s/cgroup.subtree_control", g->dir);
        found = read_text(path, &given) && cgroup_has(buf_slice(&given), ' ', controller);
        more = !found && cgroup_up(g->dir, g->mount);
    }
    buf_deinit(&given);
    return found;
}

static int make_one(struct limits *l, uint32_t i, slice groups, struct err *e)
{
    const struct control *c = &controls[i];
    struct cgroup *g = &l->at[i];
    char text[60];
    if (!cgroup_find(buf_slice(&l->mounts), groups, c->controller, g) ||
        (g->second && !climb(g, c->controller)))
        return err_set(e, 0, 0,
                       "%s: there is no control group with the controller %s for it; mount "
                       "/sys/fs/cgroup, or let systemd delegate it (Delegate=yes)",
                       c->key, c->controller);
    size_t n = strlen(g->dir);
    int more = snprintf(g->dir + n, sizeof g->dir - n, "/%s", l->name);
    if (more < 0 || (size_t)more >= sizeof g->dir - n)
        return err_set(e, 0, 0, "the path of the control group %.200s is too long", g->dir);
    if (mkdir(g->dir, 0755) && errno != EEXIST)
        return refused("the control group cannot be made:", g->dir, e);
    (void)snprintf(text, sizeof text, "%" PRIu64 "%s", l->number[i] * c->times, c->more[g->second]);
    return write_text(g->dir, c->file[g->second], text)
               ? 0
               : refused("the limit cannot be set:", g->dir, e);
}

/* Moves a process to all groups that it is not in. */
static int move_there(void *user, const struct proc *p, struct err *e)
{
    struct limits *l = user;
    struct buf groups = BUF_INIT(TEXT_BYTES_MOST);
    char path[40];
    int done = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", (int)p->pid);
    if (!read_text(path, &groups))
        done = err_set(e, 0, 0, "%s cannot be read", path);
    for (uint32_t i = 0; i < CONTROLS && done >= 0; i++) {
        struct cgroup now;
        if (!l->number[i] ||
            !cgroup_find(buf_slice(&l->mounts), buf_slice(&groups), controls[i].controller, &now) ||
            strcmp(now.dir, l->at[i].dir) == 0)
            continue;
        done = move(l->at[i].dir, p->pid) ? 1 : refused("a process cannot be moved:", now.dir, e);
    }
    buf_deinit(&groups);
    return done;
}

static int limit_on(struct limits *l, pid_t root, struct err *e)
{
    struct buf groups = BUF_INIT(TEXT_BYTES_MOST);
    char path[40];
    int status = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/cgroup", (int)root);
    if (!read_text(path, &groups))
        status = err_set(e, 0, 0, "this kernel has no control groups (%s)", path);
    for (uint32_t i = 0; i < CONTROLS && !status; i++)
        if (l->number[i])
            status = make_one(l, i, buf_slice(&groups), e);
    buf_deinit(&groups);
    return status ? -1 : family_each(root, move_there, l, e);
}

/* ---- off ---- */

/* Moves all of a group away: until none is left, for there may be new ones. */
static bool clear(const char *dir, const char *home)
{
    char path[CGROUP_PATH_MOST + ROOM];
    struct buf text = BUF_INIT(TEXT_BYTES_MOST);
    bool good = true, left = true;
    (void)snprintf(path, sizeof path, "%s/cgroup.procs", dir);
    for (int i = 0; good && left && i < TRIES_MOST; i++) {
        good = read_text(path, &text);
        slice rest = buf_slice(&text), line;
        left = rest.n > 0;
        while (good && slice_cut(&rest, '\n', &line)) {
            uint64_t pid;
            if (slice_to_u64(line, INT32_MAX, &pid) && pid)
                good = move(home, (pid_t)pid);
        }
    }
    buf_deinit(&text);
    return good && !left;
}

/* Calls it for each directory in this one; stops where it fails. */
static int each_inside(const char *dir, int (*one)(void *user, const char *dir, const char *name),
                       void *user)
{
    char path[CGROUP_PATH_MOST + ROOM];
    DIR *d = opendir(dir);
    int status = 0;
    for (struct dirent *at; d && status == 0 && (at = readdir(d));) {
        if (at->d_type != DT_DIR || at->d_name[0] == '.')
            continue;
        int n = snprintf(path, sizeof path, "%s/%s", dir, at->d_name);
        if (n > 0 && n < CGROUP_PATH_MOST)
            status = one(user, path, at->d_name);
    }
    if (d)
        (void)closedir(d);
    return status;
}

/* What is in it first: a node may have made groups of its own there. */
static int remove_group(void *user, const char *dir, const char *name)
{
    const char *home = user;
    int tries = 0;
    (void)name;
    if (each_inside(dir, remove_group, user) || !clear(dir, home))
        return -1;
    while (rmdir(dir)) { /* it is busy while processes in it end */
        if (errno == ENOENT)
            return 0;
        if (errno != EBUSY || ++tries > TRIES_MOST)
            return -1;
        (void)usleep(AGAIN_US);
    }
    return 0;
}

struct search {
    const struct limits *l;
    char *own; /* version 2: where outfox is */
    uint32_t depth;
    struct err *e;
};

static int seek(void *user, const char *dir, const char *name)
{
    struct search *s = user;
    char home[CGROUP_PATH_MOST + ROOM];
    if (strcmp(name, s->l->name) != 0) {
        if (s->depth == DEPTH_MOST)
            return 0;
        s->depth++;
        int status = each_inside(dir, seek, s);
        s->depth--;
        return status;
    }
    (void)snprintf(home, sizeof home, "%s", dir);
    *strrchr(home, '/') = 0;
    if (remove_group(s->own ? s->own : home, dir, name))
        return refused("the control group cannot be removed:", dir, s->e);
    return 0;
}

static int limit_off(struct limits *l, struct err *e)
{
    struct buf groups = BUF_INIT(TEXT_BYTES_MOST);
    slice rest = buf_slice(&l->mounts), controllers;
    struct cgroup g, own;
    int status = 0;
    (void)read_text("/proc/self/cgroup", &groups);
    while (status == 0 && cgroup_mount(&rest, &g, &controllers)) {
        bool second = g.second && cgroup_find(buf_slice(&l->mounts), buf_slice(&groups), "", &own);
        struct search s = {l, second ? own.dir : NULL, 0, e};
        status = each_inside(g.mount, seek, &s);
    }
    buf_deinit(&groups);
    return status;
}

/* ---- words ---- */

static int take(struct limits *l, const char *word, struct err *e)
{
    slice rest = slice_of(word), key;
    uint64_t number;
    if (slice_cut(&rest, '=', &key) && slice_to_u64(rest, INT64_MAX / 1000, &number) && number)
        for (uint32_t i = 0; i < CONTROLS; i++)
            if (slice_is(key, controls[i].key)) {
                l->number[i] = number;
                return 0;
            }
    return err_set(e, 0, 0, "\"%.50s\" is no limit", word);
}

int harm_limit(int argc, char **argv, struct buf *said, struct err *e)
{
    struct limits *l = mem_zero(sizeof *l);
    bool on = argc > 2 && strcmp(argv[0], "on") == 0;
    bool off = argc == 2 && strcmp(argv[0], "off") == 0;
    int status = on || off ? 0 : err_set(e, 0, 0, "usage: on PID KEY=NUMBER..., or off PID");
    pid_t root = status ? -1 : on ? family_root(argv[1], e) : family_number(argv[1], e);
    (void)said;
    for (int i = 2; i < argc && root > 0 && !status; i++)
        status = take(l, argv[i], e);
    if (root > 0 && !status) {
        l->mounts = BUF_INIT(TEXT_BYTES_MOST);
        (void)snprintf(l->name, sizeof l->name, "outfox-%016" PRIx64, family_tag(root));
        (void)read_text("/proc/self/mountinfo", &l->mounts);
        status = on ? limit_on(l, root, e) : limit_off(l, e);
        buf_deinit(&l->mounts);
    }
    mem_free(l);
    return root > 0 ? status : -1;
}
