/* SPDX-License-Identifier: Apache-2.0
 *
 * The start: the file of the trial is found, checked and mapped, and each module finds its entry in it.
 * It happens before the program's own code, in constructors, which the dynamic linker calls one at a time.
 *
 * 1. Nothing is left behind but the mapping: no descriptor that a program could close or hand on, no path
 *    that is needed again. So it does not matter if the program closes all, clears its environment, changes
 *    its user or its root.
 * 2. A page of the file that its file system has no room for would end the process when it is touched, so
 *    room is asked for first. What is truncated later still does: nobody may.
 * 3. A program that has more rights than who started it (setuid) takes no part. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>

#include "rt.h"
#include "sys.h"

struct rt_self rt_self;

/* What means the same in all versions. */
struct head {
    uint64_t magic;
    uint32_t abi, refused;
    uint64_t bytes, reserved;
};
_Static_assert(offsetof(struct outfox_trial, refused) == offsetof(struct head, refused), "head");
_Static_assert(offsetof(struct outfox_trial, armed) == sizeof(struct head), "head");

/* ---- the file ---- */

/* An offset of the file, or NULL: not so many bytes are there. */
static void *at(uint64_t offset, uint64_t bytes)
{
    uint64_t size = rt_self.bytes;
    if (offset < sizeof(struct outfox_trial) || offset > size || bytes > size - offset)
        return NULL;
    return (char *)rt_self.trial + offset;
}

static bool has_head(int fd, uint64_t size)
{
    struct head head;
    if (size < sizeof(head) || SYS4(SYS_pread64, fd, &head, sizeof(head), 0) != sizeof(head) ||
        head.magic != OUTFOX_TRIAL_MAGIC || head.bytes != size)
        return false;
    if (head.abi == OUTFOX_ABI)
        return size >= sizeof(struct outfox_trial);
    uint32_t own = OUTFOX_ABI;
    SYS4(SYS_pwrite64, fd, &own, sizeof(own), offsetof(struct head, refused));
    return false;
}

/* Whether all of the file has its place on the disk, or in memory. */
static bool has_room(int fd, const struct stat *st)
{
    long result = SYS4(SYS_fallocate, fd, FALLOC_FL_KEEP_SIZE, 0, st->st_size);
    return result == 0 || (result == -EOPNOTSUPP && st->st_blocks * 512 >= st->st_size);
}

static void map(int fd)
{
    struct stat st;
    if (SYS2(SYS_fstat, fd, &st) || !S_ISREG(st.st_mode) || !has_head(fd, (uint64_t)st.st_size) ||
        !has_room(fd, &st))
        return;
    long address = SYS6(SYS_mmap, 0, st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (address < 0 && address > -4096)
        return;
    rt_self.trial = (void *)address; // NOLINT(performance-no-int-to-ptr)
    rt_self.bytes = (uint64_t)st.st_size;
    uint64_t offset = rt_self.trial->points;
    uint32_t n = rt_self.trial->n_points;
    rt_self.points = at(offset, (uint64_t)n * sizeof(struct outfox_point));
    rt_self.points_mask = n - 1;
    if (n && !(n & (n - 1)) && rt_self.points && !(offset % sizeof(struct outfox_point)))
        return;
    SYS2(SYS_munmap, address, st.st_size);
    rt_self.trial = NULL;
}

/* A number of one or two digits, or -1. */
static int node_of(const char *text)
{
    if (!text)
        return 0;
    unsigned n = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9' && c - text < 2; c++)
        n = n * 10 + (unsigned)(*c - '0');
    return c > text && !*c && n < OUTFOX_NODES ? (int)n : -1;
}

static void attach(void)
{
    const char *path = secure_getenv(OUTFOX_ENV_TRIAL);
    int node = node_of(secure_getenv(OUTFOX_ENV_NODE));
    if (!path || !*path || node < 0)
        return;
    int flags = O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY; /* it may be a FIFO, or a terminal */
    long fd = SYS4(SYS_openat, AT_FDCWD, path, flags, 0);
    if (fd < 0)
        return;
    rt_self.node = (uint32_t)node;
    map((int)fd);
    SYS1(SYS_close, fd);
    if (rt_self.trial)
        rt_self.filters = (int)SYS5(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0);
}

/* ---- modules ---- */

/* Of a line of /proc/PID/maps, the path, if the address is in what it is about. */
static bool take_path(const char *line, const char *end, uintptr_t address, char *path)
{
    uintptr_t bound[2] = {0, 0};
    const char *c = line;
    for (int i = 0; i < 2; i++, c++)
        for (; c < end && *c != '-' && *c != ' '; c++)
            bound[i] = bound[i] << 4 | (uintptr_t)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
    if (address < bound[0] || address >= bound[1])
        return false;
    const char *name = memchr(line, '/', (size_t)(end - line));
    if (!name)
        return true;
    if (end - name >= OUTFOX_PATH)
        name = end - (OUTFOX_PATH - 1);
    memcpy(path, name, (size_t)(end - name));
    return true;
}

/* The file that the address is mapped from; `path` stays as it is if that cannot be known. */
static void find_path(const void *address, char *path)
{
    char text[4608]; /* a line with the longest path */
    size_t have = 0;
    long n, fd = SYS4(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    bool is_found = fd < 0;
    while (!is_found && (n = SYS3(SYS_read, fd, text + have, sizeof(text) - have)) > 0) {
        have += (size_t)n;
        char *line = text, *end;
        while (!is_found && (end = memchr(line, '\n', (size_t)(text + have - line)))) {
            is_found = take_path(line, end, (uintptr_t)address, path);
            line = end + 1;
        }
        have = line == text && have == sizeof(text) ? 0 : (size_t)(text + have - line);
        memmove(text, line, have);
    }
    if (fd >= 0)
        SYS1(SYS_close, fd);
}

static void fill_entry(struct outfox_module_entry *e, const struct outfox_part *part)
{
    e->sites = (uint32_t)(part->sites_end - part->sites);
    e->states = (uint32_t)(part->states_end - part->states);
    e->functions = (uint32_t)(part->functions_end - part->functions);
    e->enabled = e->muted = e->seen = 0;
    const void *any = part->code;
    any = any ? any : part->sites;
    any = any ? any : part->states;
    find_path(any ? any : part->functions, e->path);
    __atomic_store_n(&e->filled, 1, __ATOMIC_RELEASE);
}

/* The entry of a module: found, or made; NULL: there is no room, or it is of another module. */
static struct outfox_module_entry *find_entry(uint64_t id, const struct outfox_part *part)
{
    for (int i = 0; i < OUTFOX_MODULES; i++) {
        struct outfox_module_entry *e = &rt_self.trial->module[i];
        uint64_t seen = 0;
        if (__atomic_compare_exchange_n(&e->id, &seen, id, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE)) {
            fill_entry(e, part);
            return e;
        }
        if (seen != id)
            continue;
        /* What another process is about to fill has nothing enabled, muted or seen. */
        bool is_same = !__atomic_load_n(&e->filled, __ATOMIC_ACQUIRE) ||
                       (e->sites == (uint32_t)(part->sites_end - part->sites) &&
                        e->states == (uint32_t)(part->states_end - part->states) &&
                        e->functions == (uint32_t)(part->functions_end - part->functions));
        return is_same ? e : NULL;
    }
    return NULL;
}

static void enable(struct outfox_part *part, const uint8_t *enabled)
{
    for (struct outfox_function *f = part->functions; f < part->functions_end; f++)
        f->enabled = enabled && enabled[f - part->functions] ? 1 : 0;
}

/* The place for a part: its own, if it was here before. */
static struct rt_part *find_place(uint64_t id)
{
    for (uint32_t i = 0; i < rt_self.n_parts; i++) {
        struct rt_part *p = &rt_self.part[i];
        if (p->id == id && !p->sites_end && !p->states_end)
            return p;
    }
    return rt_self.n_parts < RT_PARTS ? &rt_self.part[rt_self.n_parts] : NULL;
}

static bool add(struct outfox_part part)
{
    uint64_t id = outfox_part_id(&part);
    struct rt_part *p = find_place(id);
    struct outfox_module_entry *e = p ? find_entry(id, &part) : NULL;
    if (!e)
        return false;
    bool is_filled = __atomic_load_n(&e->filled, __ATOMIC_ACQUIRE);
    size_t sites = (size_t)(part.sites_end - part.sites);
    size_t states = (size_t)(part.states_end - part.states);
    size_t functions = (size_t)(part.functions_end - part.functions);
    enable(&part, is_filled ? at(e->enabled, functions) : NULL);
    p->id = id;
    p->module = (uint16_t)(e - rt_self.trial->module);
    p->muted = is_filled ? at(e->muted, sites) : NULL;
    uint8_t *seen = is_filled ? at(e->seen, states * OUTFOX_NODES) : NULL;
    p->seen = seen ? seen + rt_self.node * states : NULL;
    p->code = (uintptr_t)part.code;
    p->code_end = (uintptr_t)part.code_end;
    p->bias = part.bias;
    p->sites = part.sites;
    p->states = part.states;
    __atomic_store_n(&p->states_end, part.states_end, __ATOMIC_RELEASE);
    __atomic_store_n(&p->sites_end, part.sites_end, __ATOMIC_RELEASE);
    if (p == &rt_self.part[rt_self.n_parts])
        __atomic_store_n(&rt_self.n_parts, rt_self.n_parts + 1, __ATOMIC_RELEASE);
    return true;
}

void rt_module(const struct outfox_part *part)
{
    if (!rt_self.has_tried)
        attach();
    rt_self.has_tried = true;
    if (!rt_self.trial || !add(*part) || outfox_on)
        return;
    __atomic_fetch_add(&rt_self.trial->attached, 1, __ATOMIC_RELAXED);
    outfox_on = 1;
    rt_wink(OUTFOX_EVENT_UP);
}

void rt_gone(const struct outfox_part *part)
{
    for (uint32_t i = 0; i < rt_self.n_parts; i++) {
        struct rt_part *p = &rt_self.part[i];
        if (p->sites != part->sites || p->states != part->states ||
            p->code != (uintptr_t)part->code)
            continue;
        p->sites_end = p->sites = NULL;
        p->states_end = p->states = NULL;
        p->code_end = p->code = 0;
    }
}
