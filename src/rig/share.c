/* SPDX-License-Identifier: Apache-2.0
 *
 * The file, from its beginning:
 *
 *     struct outfox_trial | points | of each known module: enabled, muted, seen
 *
 * Its name has our process in it, for people; whether we live says the lock alone. */
#include "rig/share.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/random.h"
#include "io/sys.h"

enum { POINTS = 1 << 14 };

#define MEMORY     "/dev/shm"
#define PREFIX     "outfox-trial-"
#define SOCKET_END ".wink"

struct share {
    int fd;
    size_t bytes;
    struct outfox_trial *trial;
    int socket;
    uint32_t n_modules;
    const struct share_module *modules;
    char path[PATH_MAX];
};

static size_t aligned(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static size_t bytes_of(const struct share_spec *spec)
{
    size_t n = aligned(sizeof(struct outfox_trial)) + POINTS * sizeof(struct outfox_point);
    for (uint32_t i = 0; i < spec->n_modules; i++) {
        const struct share_module *m = &spec->modules[i];
        n += aligned(m->functions) + aligned(m->sites) + aligned((size_t)m->states * OUTFOX_NODES);
    }
    return n;
}

/* ---- making it ---- */

static int make_file(struct share *s, const char *dir, struct err *e)
{
    (void)snprintf(s->path, sizeof s->path, "%s/" PREFIX "%d-%08llx", dir, getpid(),
                   (unsigned long long)(random_key() & 0xffffffff));
    s->fd = open(s->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (s->fd < 0)
        return err_set(e, 0, 0, "the shared file of a trial cannot be made in %s: %s", dir,
                       strerror(errno));
    (void)flock(s->fd, LOCK_EX | LOCK_NB);
    int number = posix_fallocate(s->fd, 0, (off_t)s->bytes);
    if (number)
        return err_set(e, 0, 0,
                       "the shared file of a trial (%zu KB) cannot be made in %s: %s; make room "
                       "there, or make it larger: mount -o remount,size=64M %s",
                       s->bytes / 1024 + 1, dir, strerror(number), dir);
    void *at = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
    if (at == MAP_FAILED)
        return err_set(e, 0, 0, "the shared file %s cannot be mapped: %s", s->path,
                       strerror(errno));
    s->trial = at;
    return 0;
}

/* Without one (its path is too long, say) trials go on: nothing depends on winks. */
static void open_socket(struct share *s)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    size_t n = strlen(s->path);
    if (n + sizeof SOCKET_END > sizeof to.sun_path)
        return;
    memcpy(to.sun_path, s->path, n);
    memcpy(to.sun_path + n, SOCKET_END, sizeof SOCKET_END);
    s->socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->socket >= 0 && bind(s->socket, (const struct sockaddr *)&to, sizeof to) == 0)
        memcpy(s->trial->socket, to.sun_path, n + sizeof SOCKET_END);
}

/* An array for the file; its offset, and 0 for none. */
static uint64_t put(struct share *s, size_t *at, const uint8_t *bytes, size_t n)
{
    if (!bytes || !n)
        return 0;
    size_t offset = *at;
    memcpy((char *)s->trial + offset, bytes, n);
    *at += aligned(n);
    return offset;
}

static void put_modules(struct share *s, const struct share_spec *spec, size_t at)
{
    for (uint32_t i = 0; i < spec->n_modules; i++) {
        const struct share_module *m = &spec->modules[i];
        struct outfox_module_entry *to = &s->trial->module[i];
        slice path =
            m->path.n < OUTFOX_PATH ? m->path : slice_from(m->path, m->path.n - (OUTFOX_PATH - 1));
        to->id = m->id;
        to->sites = m->sites;
        to->states = m->states;
        to->functions = m->functions;
        memcpy(to->path, path.p, path.n);
        to->enabled = put(s, &at, m->enabled, m->functions);
        to->muted = put(s, &at, m->muted, m->sites);
        to->seen = put(s, &at, m->seen, (size_t)m->states * OUTFOX_NODES);
        to->filled = 1;
    }
}

int share_open(const char *dir, const struct share_spec *spec, struct share **out, struct err *e)
{
    struct share *s = mem_zero(sizeof *s);
    s->bytes = bytes_of(spec);
    s->n_modules = spec->n_modules;
    s->socket = -1;
    s->modules = spec->modules;
    s->fd = -1;
    if (make_file(s, dir ? dir : MEMORY, e)) {
        share_free(s);
        return -1;
    }
    struct outfox_trial *t = s->trial;
    t->abi = OUTFOX_ABI;
    t->bytes = s->bytes;
    t->rule = spec->rule;
    t->act = spec->act;
    t->chance = spec->chance;
    t->key = spec->key;
    t->nth = spec->nth;
    t->seed = spec->seed;
    t->error = spec->error;
    t->delay_ns = (uint64_t)spec->delay_ns;
    t->nodes = spec->nodes;
    t->n_points = POINTS;
    t->points = aligned(sizeof *t);
    open_socket(s);
    put_modules(s, spec, t->points + POINTS * sizeof(struct outfox_point));
    __atomic_store_n(&t->magic, OUTFOX_TRIAL_MAGIC, __ATOMIC_RELEASE);
    *out = s;
    return 0;
}

const char *share_path(const struct share *s)
{
    return s->path;
}

void share_arm(struct share *s, bool on)
{
    __atomic_store_n(&s->trial->armed, on, __ATOMIC_SEQ_CST);
}

bool share_hear(struct share *s)
{
    struct outfox_event event;
    while (s->socket >= 0 && recv(s->socket, &event, sizeof event, 0) >= 0)
        ;
    return __atomic_load_n(&s->trial->claimed, __ATOMIC_ACQUIRE) != 0;
}

/* ---- reading it ---- */

static int compare_points(const void *a, const void *b)
{
    const struct outfox_point *x = a, *y = b;
    return x->key < y->key ? -1 : x->key > y->key;
}

/* Does it name modules, and what is in them, that there are? */
static bool point_holds(const struct outfox_point *p, const struct share_report *r)
{
    bool stateless = p->state == UINT32_MAX;
    return p->module < r->n_modules && p->site < r->modules[p->module].sites &&
           p->node < OUTFOX_NODES &&
           (stateless ||
            (p->state_module < r->n_modules && p->state < r->modules[p->state_module].states)) &&
           (p->caller_module == UINT16_MAX || p->caller_module < r->n_modules);
}

static void read_points(const struct share *s, struct arena *a, struct share_report *out)
{
    const struct outfox_point *from =
        (const void *)((const char *)s->trial + aligned(sizeof(struct outfox_trial)));
    out->points = arena_alloc(a, POINTS * sizeof *out->points);
    for (uint32_t i = 0; i < POINTS; i++) {
        if (!__atomic_load_n(&from[i].filled, __ATOMIC_ACQUIRE) || !from[i].key)
            continue;
        struct outfox_point p = from[i];
        if (point_holds(&p, out))
            out->points[out->n_points++] = p;
    }
    qsort(out->points, out->n_points, sizeof *out->points, compare_points);
}

static void read_modules(const struct share *s, struct arena *a, struct share_report *out)
{
    out->modules = arena_zero(a, OUTFOX_MODULES * sizeof *out->modules);
    for (uint32_t i = 0; i < OUTFOX_MODULES; i++) {
        const struct outfox_module_entry *m = &s->trial->module[i];
        struct share_module *to = &out->modules[i];
        if (!__atomic_load_n(&m->filled, __ATOMIC_ACQUIRE))
            break;
        out->n_modules++;
        if (i < s->n_modules) {
            *to = s->modules[i];
            continue;
        }
        size_t n = strnlen(m->path, sizeof m->path);
        *to = (struct share_module){.id = m->id,
                                    .path = {arena_copy(a, m->path, n), n},
                                    .sites = m->sites,
                                    .states = m->states,
                                    .functions = m->functions};
    }
}

void share_read(const struct share *s, struct arena *a, struct share_report *out)
{
    const struct outfox_trial *t = s->trial;
    *out = (struct share_report){
        .requests = t->requests, .lost = t->lost, .attached = t->attached, .refused = t->refused};
    read_modules(s, a, out);
    read_points(s, a, out);
    if (t->rule != OUTFOX_RULE_NONE &&
        t->rule != OUTFOX_RULE_REQUEST) { /* nobody counts all of them */
        out->requests = out->lost;
        for (uint32_t i = 0; i < out->n_points; i++)
            out->requests += out->points[i].requests;
    }
    if (!t->claimed || !__atomic_load_n(&t->injection.done, __ATOMIC_ACQUIRE))
        return;
    out->injection = t->injection;
    out->injected = point_holds(&out->injection.point, out);
    if (out->injection.frames > OUTFOX_FRAMES)
        out->injection.frames = OUTFOX_FRAMES;
    for (uint32_t i = 0; i < out->injection.frames; i++)
        if (out->injection.frame[i].module >= out->n_modules)
            out->injection.frame[i].module = UINT16_MAX;
}

/* The file and its socket. */
static bool remove_both(int dir, const char *path)
{
    struct buf socket = BUF_INIT(PATH_MAX);
    buf_addf(&socket, "%s" SOCKET_END, path);
    (void)unlinkat(dir, buf_text(&socket), 0);
    buf_deinit(&socket);
    return unlinkat(dir, path, 0) == 0;
}

void share_free(struct share *s)
{
    if (!s)
        return;
    if (s->trial)
        (void)munmap(s->trial, s->bytes);
    if (s->fd >= 0) {
        remove_both(AT_FDCWD, s->path);
        sys_close(s->fd);
    }
    if (s->socket >= 0)
        sys_close(s->socket);
    mem_free(s);
}

uint32_t share_clear_up(const char *dir)
{
    uint32_t n = 0;
    struct dirent *one;
    DIR *d = opendir(dir ? dir : MEMORY);
    if (!d)
        return 0;
    while ((one = readdir(d))) {
        if (!slice_starts(slice_of(one->d_name), SLICE(PREFIX)))
            continue;
        int fd = openat(dirfd(d), one->d_name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd < 0)
            continue;
        n += flock(fd, LOCK_EX | LOCK_NB) == 0 && remove_both(dirfd(d), one->d_name);
        sys_close(fd);
    }
    (void)closedir(d);
    return n;
}
