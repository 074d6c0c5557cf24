/* SPDX-License-Identifier: Apache-2.0
 *
 * A granted request: it is claimed, noted with where it happened, told to outfox, and done.
 *
 * 1. What is asked of the system comes before the claim: a fault that turns out to be impossible, or that
 *    nobody would see because outfox has died, leaves the trial as it was.
 * 2. Frames are followed by their pointers. Code without them leaves anything in the register, so memory is
 *    read only after the kernel has said that it can be. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>

#include "rt.h"
#include "sys.h"

enum { LOOK_NS = 50000000 }; /* how often a delay looks whether the trial has ended */

/* ---- the wink ---- */

/* A socket to outfox, -1: there is none. *is_dead: there is a path, and nobody behind it. */
static int reach(bool *is_dead)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    _Static_assert(sizeof(to.sun_path) == OUTFOX_SOCKET, "a path is as long as they are");
    memcpy(to.sun_path, rt_self.trial->socket, sizeof(to.sun_path));
    to.sun_path[sizeof(to.sun_path) - 1] = 0;
    *is_dead = false;
    if (!to.sun_path[0])
        return -1;
    long fd = SYS3(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    long result = SYS3(SYS_connect, fd, &to, sizeof(to));
    if (result == 0)
        return (int)fd;
    *is_dead = result == -ECONNREFUSED;
    SYS1(SYS_close, fd);
    return -1;
}

static void tell(int fd, uint32_t kind)
{
    struct outfox_event e = {.abi = OUTFOX_ABI, .kind = kind, .node = rt_self.node};
    e.pid = (int32_t)SYS1(SYS_getpid, 0);
    SYS6(SYS_sendto, fd, &e, sizeof(e), MSG_DONTWAIT | MSG_NOSIGNAL, 0, 0);
    SYS1(SYS_close, fd);
}

void rt_wink(uint32_t kind)
{
    bool is_dead;
    int fd = reach(&is_dead);
    if (fd >= 0)
        tell(fd, kind);
}

/* ---- frames ---- */

/* The kernel reads a set of signals before it finds that it was not told what to do with it. */
static bool can_read(uintptr_t address)
{
    const int nothing = -1;
    return SYS4(SYS_rt_sigprocmask, nothing, address, 0, 8) != -EFAULT;
}

static void put_frame(struct outfox_injection *i, const void *address)
{
    const struct rt_part *p = rt_part_of_code(address);
    i->frame[i->frames++] = (struct outfox_frame){
        .module = p ? p->module : OUTFOX_NO_MODULE,
        .address = (uintptr_t)address - (p ? p->bias : 0),
    };
}

/* frame: of the hook. Its second word leads into the function of the site. */
static void put_frames(struct outfox_injection *i, const struct rt_request *r, bool may_ask)
{
    i->frames = 0;
    const void *const *frame = r->frame;
    put_frame(i, frame[1]);
    if (!may_ask) {
        put_frame(i, r->caller);
        return;
    }
    while (i->frames < OUTFOX_FRAMES) {
        const void *const *outer = frame[0];
        uintptr_t address = (uintptr_t)outer;
        if (!outer || outer == frame || address % sizeof(void *) || !can_read(address) ||
            !can_read(address + sizeof(void *)) || !outer[1])
            return;
        put_frame(i, outer[1]);
        frame = outer;
    }
}

/* ---- what is done ---- */

static int64_t now_ns(void)
{
    struct timespec ts;
    if (clock_gettime(CLOCK_MONOTONIC, &ts))
        return 0;
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void delay(uint64_t ns)
{
    int64_t until = ns > INT64_MAX / 2 ? INT64_MAX : now_ns() + (int64_t)ns;
    while (__atomic_load_n(&rt_self.trial->armed, __ATOMIC_ACQUIRE)) {
        int64_t rest = until - now_ns();
        if (rest <= 0)
            return;
        struct timespec step = {.tv_nsec = rest < LOOK_NS ? (long)rest : LOOK_NS};
        SYS4(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &step, 0);
    }
}

/* One of the errors that are possible there, by chance; 0: the site has none to choose from. */
static int choose_error(const struct rt_request *r, const struct rt_subject *s)
{
    const struct outfox_site *site = r->site;
    int fit[OUTFOX_ERRORS];
    unsigned n = 0;
    for (unsigned i = 0; i < site->errors && i < OUTFOX_ERRORS; i++)
        if (rt_error_fits(site, i, s))
            fit[n++] = site->error[i].number;
    return n ? fit[rt_random(r->place->key, r->nth, 1) % n] : 0;
}

static void note(struct outfox_injection *i, const struct rt_request *r, uint32_t act,
                 const struct rt_subject *s, bool may_ask)
{
    i->act = act;
    i->point = *r->place;
    memset(i->point.reserved, 0, sizeof(i->point.reserved));
    i->point.filled = 1;
    i->point.requests = r->nth;
    i->error = act == OUTFOX_ERROR ? choose_error(r, s) : 0;
    i->pid = may_ask ? (int32_t)SYS1(SYS_getpid, 0) : 0;
    i->tid = may_ask ? (int32_t)SYS1(SYS_gettid, 0) : 0;
    i->where = s->where;
    i->at_ns = now_ns();
    i->asked = r->count ? *r->count : 0;
    i->given = i->asked;
    if (act == OUTFOX_SHORT)
        i->given = 1 + rt_random(r->place->key, r->nth, 2) % (i->asked - 1);
    i->request = r->request;
    put_frames(i, r, may_ask);
    __atomic_store_n(&i->done, 1, __ATOMIC_RELEASE);
}

/* What ferror looks at: the first word of a FILE, in glibc and in musl. */
enum { STREAM_ERROR = 0x20 };

static int fail(const struct rt_request *r, int error, long *value)
{
    const struct outfox_site *site = r->site;
    if (site->subject == OUTFOX_SUBJECT_STREAM && r->subject)
        *(int *)r->subject |= STREAM_ERROR; // NOLINT
    *value = site->result == OUTFOX_RESULT_NUMBER ? error : site->value;
    if (site->result == OUTFOX_RESULT_ERRNO)
        errno = error;
    return 1;
}

int rt_inject(const struct rt_request *r, uint32_t acts, long *value)
{
    struct outfox_trial *t = rt_self.trial;
    struct rt_subject s;
    bool is_dead = false, may_ask = rt_may_ask();
    acts = rt_possible(r->site, r->subject, r->count, acts, true, &s);
    if (!acts)
        return 0;
    uint32_t act = acts & -acts, nobody = 0;
    int socket = may_ask ? reach(&is_dead) : -1;
    if (is_dead)
        __atomic_store_n(&t->armed, 0, __ATOMIC_RELEASE);
    bool is_ours = !is_dead && __atomic_compare_exchange_n(&t->claimed, &nobody, 1, false,
                                                           __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    if (!is_ours) {
        if (socket >= 0)
            SYS1(SYS_close, socket);
        return 0;
    }
    if (r->seen)
        __atomic_store_n(r->seen, 1, __ATOMIC_RELAXED);
    struct outfox_injection *i = &t->injection;
    note(i, r, act, &s, may_ask);
    int error = i->error;
    unsigned long given = i->given;
    if (socket >= 0)
        tell(socket, OUTFOX_EVENT_INJECTED);
    if (act == OUTFOX_ERROR)
        return fail(r, error, value);
    if (act == OUTFOX_DELAY)
        delay(t->delay_ns);
    else
        *r->count = given;
    return 0;
}
