/* SPDX-License-Identifier: Apache-2.0
 *
 * What can happen at a site depends on what its descriptor is at that moment: files do not lose their
 * peers, sockets have no bad sectors, and what does not wait cannot wait longer.
 *
 * 1. Nothing is remembered of a descriptor: the next moment it can be another.
 * 2. In doubt it is not possible. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "rt.h"
#include "sys.h"

enum {
    FDS_SEARCHED = 1024, /* for the other end of a pipe */
};

bool rt_may_ask(void)
{
    if (rt_self.trial->quiet >> rt_self.node & 1)
        return false;
    return SYS5(SYS_prctl, PR_GET_SECCOMP, 0, 0, 0, 0) == rt_self.filters;
}

/* ---- what a descriptor is ---- */

static uint32_t where_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
    case S_IFDIR:
    case S_IFBLK: return OUTFOX_ON_FILE;
    case S_IFSOCK: return OUTFOX_ON_SOCKET;
    case S_IFIFO: return OUTFOX_ON_PIPE;
    default: return OUTFOX_ON_OTHER;
    }
}

static int option_of(int fd, int name)
{
    int value = -1;
    unsigned length = sizeof(value);
    return SYS5(SYS_getsockopt, fd, SOL_SOCKET, name, &value, &length) ? -1 : value;
}

static bool can_wait(const struct rt_subject *s)
{
    if (s->where == OUTFOX_ON_FILE)
        return true;
    if (s->where != OUTFOX_ON_SOCKET && s->where != OUTFOX_ON_PIPE)
        return false;
    long flags = SYS3(SYS_fcntl, s->fd, F_GETFL, 0);
    return flags >= 0 && !(flags & O_NONBLOCK);
}

/* Datagrams come and go whole, and so do writes to pipes that fit into their buffer. */
static bool can_be_short(const struct rt_subject *s, unsigned long count)
{
    if (s->where == OUTFOX_ON_SOCKET)
        return option_of(s->fd, SO_TYPE) == SOCK_STREAM;
    if (s->where != OUTFOX_ON_PIPE || count > PIPE_BUF)
        return s->where != OUTFOX_ON_OTHER;
    long flags = SYS3(SYS_fcntl, s->fd, F_GETFL, 0);
    return flags >= 0 && (flags & O_ACCMODE) == O_RDONLY;
}

/* ---- what leads back to the process itself ---- */

static bool has_other_end(int fd)
{
    struct stat own, other;
    long flags = SYS3(SYS_fcntl, fd, F_GETFL, 0);
    if (flags < 0 || SYS2(SYS_fstat, fd, &own))
        return true;
    if ((flags & O_ACCMODE) == O_RDWR)
        return true;
    for (int i = 0; i < FDS_SEARCHED; i++) {
        if (i == fd || SYS2(SYS_fstat, i, &other) || other.st_ino != own.st_ino ||
            other.st_dev != own.st_dev)
            continue;
        long ways = SYS3(SYS_fcntl, i, F_GETFL, 0);
        if (ways >= 0 && (ways & O_ACCMODE) != (flags & O_ACCMODE))
            return true;
    }
    return false;
}

static bool is_event_counter(int fd)
{
    static const char wanted[] = "anon_inode:[eventfd]";
    char path[32] = "/proc/self/fd/", target[sizeof(wanted)];
    char digits[12], *digit = digits + sizeof(digits);
    *--digit = 0;
    for (unsigned n = (unsigned)fd; digit == digits + sizeof(digits) - 1 || n; n /= 10)
        *--digit = (char)('0' + n % 10);
    memcpy(path + strlen(path), digit, strlen(digit) + 1);
    long n = SYS4(SYS_readlinkat, AT_FDCWD, path, target, sizeof(target));
    return n == sizeof(wanted) - 1 && memcmp(target, wanted, sizeof(wanted) - 1) == 0;
}

static bool leads_back(const struct rt_subject *s)
{
    switch (s->where) {
    case OUTFOX_ON_PIPE: return has_other_end(s->fd);
    case OUTFOX_ON_SOCKET: return option_of(s->fd, SO_PEERCRED) == SYS1(SYS_getpid, 0);
    case OUTFOX_ON_OTHER: return is_event_counter(s->fd);
    default: return false;
    }
}

/* ---- what is possible ---- */

static bool has_descriptor(const struct outfox_site *site)
{
    return site->subject == OUTFOX_SUBJECT_FD || site->subject == OUTFOX_SUBJECT_STREAM;
}

static bool is_wanted(const struct outfox_site *site, unsigned n)
{
    return !rt_self.trial->error || rt_self.trial->error == site->error[n].number;
}

/* Where the errors are possible that the trial wants, or any of them. */
static uint32_t errors_where(const struct outfox_site *site)
{
    uint32_t all = 0;
    for (unsigned n = 0; n < site->errors && n < OUTFOX_ERRORS; n++)
        all |= is_wanted(site, n) ? site->error[n].where : 0;
    return all;
}

bool rt_error_fits(const struct outfox_site *site, unsigned n, const struct rt_subject *s)
{
    if (!is_wanted(site, n) || (site->error[n].number == EINTR && !s->waits))
        return false; /* who does not wait is not interrupted */
    if (s->where)
        return site->error[n].where & s->where;
    return !has_descriptor(site) || site->error[n].where == OUTFOX_ON_ANY;
}

/* Those that do not say by a number what has gone wrong have no list of errors. */
static bool has_wanted_error(const struct outfox_site *site)
{
    if (!site->errors)
        return site->result == OUTFOX_RESULT_VALUE && !rt_self.trial->error;
    return errors_where(site);
}

static bool has_error(const struct outfox_site *site, const struct rt_subject *s)
{
    if (!site->errors)
        return has_wanted_error(site);
    for (unsigned n = 0; n < site->errors && n < OUTFOX_ERRORS; n++)
        if (rt_error_fits(site, n, s))
            return true;
    return false;
}

bool rt_must_ask(const struct outfox_site *site, uint32_t acts)
{
    if (acts & (OUTFOX_DELAY | OUTFOX_SHORT))
        return true;
    return has_descriptor(site) ? errors_where(site) != OUTFOX_ON_ANY : rt_self.trial->error;
}

static int descriptor_of(const struct outfox_site *site, long subject)
{
    if (site->subject == OUTFOX_SUBJECT_FD)
        return (int)subject;
    int kept = errno;
    int fd = subject ? fileno((FILE *)subject) : -1; // NOLINT(performance-no-int-to-ptr)
    errno = kept;
    return fd;
}

uint32_t rt_possible(const struct outfox_site *site, long subject, const unsigned long *count,
                     uint32_t acts, bool strictly, struct rt_subject *out)
{
    struct stat st;
    *out = (struct rt_subject){.fd = -1, .waits = true};
    if (acts == OUTFOX_ERROR && !has_wanted_error(site))
        return 0;
    bool may_ask = rt_may_ask();
    if (has_descriptor(site) && may_ask) {
        out->fd = descriptor_of(site, subject);
        if (out->fd < 0 ? site->subject == OUTFOX_SUBJECT_FD || subject
                        : SYS2(SYS_fstat, out->fd, &st))
            return 0; /* it will fail by itself, or is no descriptor: a stream in memory */
        if (out->fd >= 0)
            out->where = where_of(st.st_mode);
    } else if (site->subject == OUTFOX_SUBJECT_PATH) {
        out->where = OUTFOX_ON_FILE;
    }
    if (strictly && out->fd >= 0 && leads_back(out))
        return 0;
    if (strictly && out->where & (OUTFOX_ON_SOCKET | OUTFOX_ON_PIPE))
        out->waits = can_wait(out);
    if (acts & OUTFOX_ERROR && !has_error(site, out))
        acts &= ~(uint32_t)OUTFOX_ERROR;
    if (acts & OUTFOX_DELAY && (!may_ask || (has_descriptor(site) && !can_wait(out))))
        acts &= ~(uint32_t)OUTFOX_DELAY;
    if (acts & OUTFOX_SHORT &&
        (!may_ask || !out->where || !count || *count < 2 || !can_be_short(out, *count)))
        acts &= ~(uint32_t)OUTFOX_SHORT;
    return acts;
}
