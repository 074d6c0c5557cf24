/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams of the C library with a writer of our own (fopencookie).
 *
 * 1. A descriptor is written to when it is ready for it, never more than a pipe takes at once. We
 *    do not make it non-blocking: it is shared with whoever started us.
 * 2. Lines are lost as a whole as far as that can be; where some are missing is said in their
 *    place, as soon as somebody reads again. */
#include "base/outlet.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"
#include "base/printable.h"

enum {
    STREAM_BUFFER = 16 * 1024,
    PATIENCE_MS = 250, /* longer would hold up calls that are being judged */
    STANDARD = 3,      /* descriptors 0 to 2 */
    GROWTH = 3,        /* a byte becomes at most so many */
};

struct outlet {
    int fd;
    bool own;       /* the descriptor is closed with the stream */
    bool raw;       /* nothing is filtered */
    bool droppable; /* what nobody reads may be lost */
    bool deaf;      /* somebody did not read for a while: not waited for any more */
    bool gone;      /* nobody will read it */
    uint64_t lost;  /* lines */
    struct printable filter;
};

static struct outlet standard[STANDARD];
static FILE *stream_of[STANDARD];

/* Waits until something can be written, but so that SIGINT and SIGTERM end us: whoever took them is
 * not there while we are here. */
static void wait_endable(struct pollfd *p)
{
    struct sigaction end = {.sa_handler = SIG_DFL}, before[2];
    sigset_t both, masked;
    (void)sigemptyset(&both);
    (void)sigaddset(&both, SIGINT);
    (void)sigaddset(&both, SIGTERM);
    (void)sigaction(SIGINT, &end, &before[0]);
    (void)sigaction(SIGTERM, &end, &before[1]);
    (void)pthread_sigmask(SIG_UNBLOCK, &both, &masked);
    (void)poll(p, 1, -1);
    (void)pthread_sigmask(SIG_SETMASK, &masked, NULL);
    (void)sigaction(SIGINT, &before[0], NULL);
    (void)sigaction(SIGTERM, &before[1], NULL);
}

static bool is_writable(struct outlet *o)
{
    struct pollfd p = {.fd = o->fd, .events = POLLOUT};
    if (poll(&p, 1, o->droppable && !o->deaf ? PATIENCE_MS : 0) > 0)
        return true;
    if (o->droppable)
        o->deaf = true;
    else
        wait_endable(&p);
    return !o->droppable;
}

/* Takes off *bytes what could be written. 0, EAGAIN: nobody reads; or another errno. */
static int put(struct outlet *o, slice *bytes)
{
    while (bytes->n) {
        if (!is_writable(o))
            return EAGAIN;
        ssize_t n = write(o->fd, bytes->p, bytes->n < PIPE_BUF ? bytes->n : PIPE_BUF);
        if (n >= 0)
            *bytes = slice_from(*bytes, (size_t)n);
        else if (errno != EINTR && errno != EAGAIN)
            return errno;
    }
    return 0;
}

/* What may be lost has a line in front that says how much was, if anything. */
static int deliver(struct outlet *o, slice bytes)
{
    if (!o->droppable)
        return put(o, &bytes);
    struct buf text = BUF_INIT(bytes.n + 128);
    if (o->lost)
        buf_addf(&text, "\noutfox: %llu %s missing here: not read in time\n",
                 (unsigned long long)o->lost, o->lost == 1 ? "line is" : "lines are");
    buf_add(&text, bytes);
    slice left = buf_slice(&text);
    int error = o->gone ? 0 : put(o, &left);
    o->gone = o->gone || (error && error != EAGAIN);
    if (left.n <= bytes.n)
        o->lost = 0;
    o->deaf = error == EAGAIN;
    slice missing = left.n < bytes.n ? left : bytes;
    for (size_t i = 0; o->deaf && i < missing.n; i++)
        o->lost += missing.p[i] == '\n';
    buf_deinit(&text);
    return 0;
}

static ssize_t on_write(void *cookie, const char *bytes, size_t n)
{
    struct outlet *o = cookie;
    struct buf shown = BUF_INIT(GROWTH * n + sizeof o->filter.held * GROWTH);
    if (!o->raw)
        printable_add(&o->filter, (slice){bytes, n}, &shown);
    int error = deliver(o, o->raw ? (slice){bytes, n} : buf_slice(&shown));
    buf_deinit(&shown);
    if (!error)
        return (ssize_t)n;
    errno = error;
    return 0;
}

static int on_close(void *cookie)
{
    struct outlet *o = cookie;
    int rc = 0;
    if (o->own) {
        rc = close(o->fd);
        mem_free(o);
    }
    return rc;
}

static FILE *stream_new(struct outlet *o)
{
    FILE *f = fopencookie(o, "w", (cookie_io_functions_t){.write = on_write, .close = on_close});
    if (f)
        (void)setvbuf(f, NULL, o->droppable || isatty(o->fd) ? _IOLBF : _IOFBF, STREAM_BUFFER);
    return f;
}

static void standard_open(int fd, FILE **stream)
{
    standard[fd] = (struct outlet){.fd = fd, .droppable = fd == STDERR_FILENO};
    FILE *f = stream_new(&standard[fd]);
    if (f) /* the C library lets these be set like any variable */
        *stream = stream_of[fd] = f;
}

void outlet_init(void)
{
    standard_open(STDOUT_FILENO, &stdout);
    standard_open(STDERR_FILENO, &stderr);
}

void outlet_colours(int fd)
{
    if (fd > 0 && fd < STANDARD)
        standard[fd].filter.colours = true;
}

int outlet_fd(FILE *stream)
{
    for (int fd = STDOUT_FILENO; fd < STANDARD; fd++)
        if (stream && stream_of[fd] == stream)
            return fd;
    return fileno(stream);
}

int outlet_raw(FILE *stream, slice bytes)
{
    (void)fflush(stream);
    for (int fd = STDOUT_FILENO; fd < STANDARD; fd++)
        if (stream_of[fd] == stream)
            return deliver(&standard[fd], bytes);
    errno = 0;
    bool failed = fwrite(bytes.p, 1, bytes.n, stream) != bytes.n || fflush(stream);
    return !failed ? 0 : errno ? errno : EIO;
}

FILE *outlet_open(const char *path, enum outlet_kind kind)
{
    bool append = kind == OUTLET_APPEND;
    int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | (append ? O_APPEND : O_TRUNC);
    /* it does not wait for the reader of a pipe; what is appended to is read by others */
    int fd =
        append ? open(path, flags | O_NONBLOCK, 0666) : file_open_private(path, flags | O_NONBLOCK);
    if (fd < 0)
        return NULL;
    (void)fcntl(fd, F_SETFL, flags & O_APPEND);
    struct outlet *o = mem_zero(sizeof *o);
    *o = (struct outlet){.fd = fd, .own = true, .raw = kind == OUTLET_BYTES};
    FILE *f = stream_new(o);
    if (!f) {
        (void)close(fd);
        mem_free(o);
    }
    return f;
}
