/* SPDX-License-Identifier: Apache-2.0
 *
 * Clocks that are wrong: `clock on PID OFFSET-NS DRIFT-PPB` and `clock off PID`.
 *
 * Programs read the time of day by three functions of the vDSO, whatever they are written in. In the
 * processes of a node the first word of each becomes a jump to a stub (harm/stub.h), which is put
 * into the vDSO's last page, behind all that is needed there:
 *
 *   before  | gettimeofday: A.... | clock_gettime: B.... | time: C.... | headers | 0000000000 |
 *   after   | gettimeofday: J.... | clock_gettime: J.... | time: J.... | headers | 00 | stub  |
 *
 * A child inherits that with its parent's memory; a program that is begun (exec) has a new vDSO.
 *
 * 1. A process is whole at any instant, also when we are killed: the stub is there before the first
 *    jump to it, and each jump is one word. No thread is in the middle of such a word meanwhile.
 * 2. The undo writes the words back. The stub stays, without a tag: a thread may be in the middle of
 *    it, and nobody comes to it any more.
 * 3. Whose clock is changed says the tag at its end, so the undo needs to remember nothing, and a
 *    number that is another process's by now does no harm. */
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "harm/family.h"
#include "harm/grip.h"
#include "harm/harm_int.h"
#include "harm/vdso.h"
#include "io/sys.h"

enum { TRIES_MOST = 200, AGAIN_US = 500 };

struct change {
    struct vdso own;
    slice stub; /* with no clock in it */
    struct stub_clock clock;
    uint32_t n; /* processes */
    int64_t longest_ns;
};

static uint64_t stub_place(const struct change *c)
{
    return c->own.n - c->stub.n;
}

/* The tag of a process, without disturbing it; 0: it has none, or cannot be looked at. */
static uint64_t tag_of(const struct change *c, pid_t pid, uint64_t base)
{
    char path[40];
    uint64_t tag = 0;
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (pread(fd, &tag, sizeof tag, (off_t)(base + c->own.n - sizeof tag)) != sizeof tag)
        tag = 0;
    sys_close(fd);
    return tag;
}

/* The word that jumps to the stub of this entry, and goes on like the one that it replaces. */
static void jump(const struct change *c, uint32_t entry, uint8_t word[VDSO_WORD])
{
    enum { JUMP_BYTES = 5 };
    uint32_t from = c->own.entry[entry] + JUMP_BYTES;
    uint32_t way = (uint32_t)stub_place(c) + stub_entry_at(entry) - from;
    memcpy(word, c->own.image + c->own.entry[entry], VDSO_WORD);
    word[0] = 0xe9;
    memcpy(word + 1, &way, sizeof way);
}

/* Is any thread in the middle of what becomes a jump? */
static bool in_the_way(const struct change *c, const struct grip *g, uint64_t base)
{
    for (uint32_t i = 0; i < g->threads.n; i++) {
        uint64_t at = grip_at(g, i) - base;
        for (uint32_t k = 0; k < STUB_ENTRIES; k++)
            if (at > c->own.entry[k] && at < c->own.entry[k] + VDSO_WORD)
                return true;
    }
    return false;
}

/* Is it the image that we know, but for what an earlier fault has left? */
static int look(const struct change *c, const struct grip *g, uint64_t base, struct err *e)
{
    uint8_t *image = mem_alloc(c->own.n);
    struct stub_clock clock;
    int status = grip_read(g, base, image, c->own.n, e);
    memcpy(&clock, image + c->own.n - sizeof clock, sizeof clock);
    if (status == 0 && clock.tag)
        status = err_set(e, 0, 0, "the clock of the process %d is changed by another fault",
                         (int)g->pid);
    else if (status == 0 && memcmp(image, c->own.image, stub_place(c)) != 0)
        status = err_set(e, 0, 0,
                         "the vDSO of the process %d is not that of outfox: it is a 32-bit "
                         "program, or something else has changed it",
                         (int)g->pid);
    mem_free(image);
    return status;
}

static int put(const struct change *c, const struct grip *g, uint64_t base, struct err *e)
{
    size_t code = c->stub.n - sizeof c->clock;
    if (grip_write(g, base + stub_place(c), c->stub.p, code, e) ||
        grip_write(g, base + stub_place(c) + code, &c->clock, sizeof c->clock, e))
        return -1;
    for (uint32_t i = 0; i < STUB_ENTRIES; i++) {
        uint8_t word[VDSO_WORD];
        jump(c, i, word);
        if (grip_write(g, base + c->own.entry[i], word, sizeof word, e))
            return -1;
    }
    return 0;
}

static int take_back(const struct change *c, const struct grip *g, uint64_t base, struct err *e)
{
    static const uint64_t none = 0;
    for (uint32_t i = 0; i < STUB_ENTRIES; i++)
        if (grip_write(g, base + c->own.entry[i], c->own.image + c->own.entry[i], VDSO_WORD, e))
            return -1;
    return grip_write(g, base + c->own.n - sizeof none, &none, sizeof none, e);
}

static void let_go(struct change *c, struct grip *g)
{
    int64_t held = grip_end(g);
    c->longest_ns = held > c->longest_ns ? held : c->longest_ns;
}

/* 1: done; 0: it is gone, or a thread is in the way; -1: *e. */
static int try_on(struct change *c, pid_t pid, uint64_t base, struct err *e)
{
    struct grip g;
    enum status status = grip_take(&g, pid, e);
    int done = status == STATUS_FAILED ? -1 : 0;
    if (status == STATUS_OK && !in_the_way(c, &g, base))
        done = look(c, &g, base, e) || put(c, &g, base, e) ? -1 : 1;
    let_go(c, &g);
    return done;
}

static int clock_on(void *user, const struct proc *p, struct err *e)
{
    struct change *c = user;
    int done = 0;
    uint64_t base = vdso_want(p->pid, e);
    if (!base)
        return -1;
    if (tag_of(c, p->pid, base) == c->clock.tag)
        return 0;
    for (int i = 0; i < TRIES_MOST && !done; i++) {
        if (i)
            (void)usleep(AGAIN_US);
        done = try_on(c, p->pid, base, e);
    }
    c->n += done > 0;
    return done ? done
                : err_set(e, 0, 0, "a thread of the process %d is always reading the clock",
                          (int)p->pid);
}

static int clock_off(void *user, const struct proc *p, struct err *e)
{
    struct change *c = user;
    struct grip g;
    uint64_t base = vdso_base(p->pid);
    if (!base || tag_of(c, p->pid, base) != c->clock.tag)
        return 0;
    enum status status = grip_take(&g, p->pid, e);
    int done = status == STATUS_FAILED                                 ? -1
               : status == STATUS_OK && take_back(c, &g, base, e) == 0 ? 1
               : status == STATUS_OK                                   ? -1
                                                                       : 0;
    let_go(c, &g);
    c->n += done > 0;
    return done;
}

static int prepare(struct change *c, struct err *e)
{
    *c = (struct change){.stub = stub_code()};
    if (!c->stub.n)
        return err_set(e, 0, 0, "clocks can be changed on x86-64 alone");
    if (vdso_own(&c->own, e))
        return -1;
    if (c->own.n - c->own.spare < c->stub.n)
        return err_set(e, 0, 0, "the vDSO of this kernel has no room for %zu bytes", c->stub.n);
    return 0;
}

static int number(const char *word, int64_t *out, struct err *e)
{
    slice text = slice_of(word);
    uint64_t size;
    bool less = slice_starts(text, SLICE("-"));
    if (!slice_to_u64(slice_from(text, less), INT64_MAX, &size))
        return err_set(e, 0, 0, "\"%.50s\" is no number", word);
    *out = less ? -(int64_t)size : (int64_t)size;
    return 0;
}

static void say(const struct change *c, struct buf *said)
{
    buf_addf(said, "%u %s, each stood still for at most %.1f ms\n", c->n,
             plural(c->n, "process", "processes"), (double)c->longest_ns / 1e6);
}

int harm_clock(int argc, char **argv, struct buf *said, struct err *e)
{
    struct change c;
    bool on = argc == 4 && strcmp(argv[0], "on") == 0;
    bool off = argc == 2 && strcmp(argv[0], "off") == 0;
    int64_t ppb = 0;
    if (!on && !off)
        return err_set(e, 0, 0, "usage: on PID OFFSET-NS DRIFT-PPB, or off PID");
    pid_t root = on ? family_root(argv[1], e) : family_number(argv[1], e);
    if (root < 0 || prepare(&c, e))
        return -1;
    c.clock.tag = family_tag(root);
    if (on && (number(argv[2], &c.clock.offset_ns, e) || number(argv[3], &ppb, e)))
        return -1;
    c.clock.since_ns = clock_wall_ns();
    c.clock.drift = (int64_t)llround((double)ppb / 1e9 * 4294967296.0);
    int status = on ? family_each(root, clock_on, &c, e) : family_everybody(clock_off, &c, e);
    say(&c, said);
    return status;
}
