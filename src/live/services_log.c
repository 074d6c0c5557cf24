/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the output of services goes, and the sentences about them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "data/secret.h"
#include "io/sys.h"
#include "live/services_int.h"

enum { PATH_MOST = 4096, TAIL_READ = 4096, TAIL_MOST = 260, TAIL_LINES = 4, LOG_MOST_MIB = 64 };

#define TRIM_NS MS(500)

/* --- Files ------------------------------------------------------------------------------------ */

/* Why what is open there cannot be a log; NULL: it can. A directory that somebody else has filled
 * (a repository, say) must not make us write elsewhere, nor wait for the reader of a pipe. */
static const char *log_fault(int fd)
{
    struct stat st;
    if (fd < 0)
        return errno == ELOOP   ? "it is a symbolic link"
               : errno == ENXIO ? "it is a pipe"
                                : strerror(errno);
    if (fstat(fd, &st))
        return strerror(errno);
    return !S_ISREG(st.st_mode)                       ? "it is not a regular file"
           : geteuid() != 0 && st.st_uid != geteuid() ? "it belongs to another user"
           : st.st_nlink > 1                          ? "it has more than one name (hard link)"
                                                      : NULL;
}

static int log_open(const struct service *s, struct err *e)
{
    int flags = O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;
    int fd = file_open_private(s->log, flags);
    const char *fault = log_fault(fd);
    if (!fault)
        return fd;
    service_err(s, e,
                "cannot use its log file %s: %s; remove it, or set \"logs\" in outfox.yaml to "
                "another directory",
                s->log, fault);
    if (fd >= 0)
        sys_close(fd);
    return -1;
}

static void on_trim(struct timer *t)
{
    service_logs_watch(OWNER(t, struct services, trim));
}

/* Empties those that have become too long. The service goes on at the beginning: it appends. */
void service_logs_watch(struct services *all)
{
    for (uint32_t i = 0; i < all->n; i++) {
        struct stat st;
        struct err ignored = {0};
        const struct service *s = &all->at[i];
        if (!s->log || stat(s->log, &st) || st.st_size <= (off_t)LOG_MOST_MIB << 20)
            continue;
        int fd = log_open(s, &ignored);
        if (fd < 0)
            continue;
        if (ftruncate(fd, 0) == 0)
            (void)dprintf(fd, "--- emptied by outfox: it was longer than %d MiB ---\n",
                          LOG_MOST_MIB);
        sys_close(fd);
    }
    all->trim.fire = on_trim;
    timer_start(all->loop, &all->trim, all->loop->now_ns + TRIM_NS);
}

int service_logs_make(struct services *all, struct err *e)
{
    const char *dir = all->config->logs.n ? all->config->logs.p : ".";
    struct buf path = BUF_INIT(PATH_MOST);
    buf_addf(&path, "%s/", dir);
    int failed = file_make_directories(buf_text(&path));
    buf_deinit(&path);
    if (failed)
        return err_set(e, 0, 0,
                       "the directory for log files, %s, cannot be created: %s; set \"logs\" to "
                       "another one",
                       dir, strerror(errno));
    for (uint32_t i = 0; i < all->n; i++) {
        struct service *s = &all->at[i];
        if (s->spec->run.n == 0)
            continue;
        path = BUF_INIT(PATH_MOST);
        slice name = s->spec->name;
        buf_addf(&path, "%s/", dir);
        for (size_t k = 0; k < name.n; k++) /* one that is none of a file loses its slashes */
            buf_addc(&path, name.p[k] == '/' || (k == 0 && name.p[k] == '.') ? '_' : name.p[k]);
        buf_adds(&path, ".log");
        s->log = path.p; /* the buffer's memory becomes the service's */
        int fd = log_open(s, e);
        if (fd < 0)
            return -1;
        bool emptied = ftruncate(fd, 0) == 0;
        sys_close(fd);
        if (!emptied)
            return err_set(e, 0, 0, "the log file %s cannot be emptied: %s", s->log,
                           strerror(errno));
    }
    return 0;
}

int service_log_open(struct service *s, struct err *e)
{
    static const char line[] = "--- started again by outfox ---\n";
    int fd = log_open(s, e);
    if (fd >= 0 && s->starts++ > 0 && write(fd, line, sizeof line - 1) < 0)
        return fd; /* the disk is full: the service may still work */
    return fd;
}

/* --- Sentences -------------------------------------------------------------------------------- */

void status_print(int status, struct buf *out)
{
    if (WIFEXITED(status)) {
        buf_addf(out, "exit code %d", WEXITSTATUS(status));
        return;
    }
    const char *name = strsignal(WTERMSIG(status));
    buf_addf(out, "signal %d, ", WTERMSIG(status));
    buf_addc(out, (char)(name[0] | 0x20)); /* "Segmentation fault" */
    buf_adds(out, name + 1);
}

void service_err(const struct service *s, struct err *e, const char *format, ...)
{
    struct buf text = BUF_INIT(sizeof e->text);
    va_list args;
    va_start(args, format);
    buf_addv(&text, format, args);
    va_end(args);
    (void)err_set(e, s->spec->line, s->spec->col, "service %.*s %s", SLICE_ARG(s->spec->name),
                  buf_text(&text));
    if (s->spec->line && s->all->config->source)
        (void)snprintf(e->source, sizeof e->source, "%s", s->all->config->source);
    buf_deinit(&text);
}

/* The last lines of a log, of what comes after `from`, without secrets and trimmed, in *text: as
 * many as are asked for, and as fit into so many bytes. */
static slice log_tail(const struct service *s, off_t from, uint32_t lines, size_t bytes,
                      struct buf *text)
{
    char room[TAIL_READ];
    ssize_t n = -1;
    int fd = open(s->log, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
    off_t end = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
    if (from > end)
        from = 0; /* it was emptied meanwhile */
    if (end - from > TAIL_READ)
        from = end - TAIL_READ;
    if (end >= 0 && lseek(fd, from, SEEK_SET) >= 0)
        n = sys_read(fd, room, TAIL_READ);
    if (fd >= 0)
        sys_close(fd);
    secret_mask((slice){room, n > 0 ? (size_t)n : 0}, text);
    slice all = slice_trim(buf_slice(text));
    size_t at = all.n;
    for (uint32_t seen = 0; at > 0 && all.n - at < bytes; at--)
        if (all.p[at - 1] == '\n' && ++seen == lines)
            break;
    return slice_from(all, at);
}

void service_log_print(const struct service *s, struct buf *out)
{
    struct buf text = BUF_INIT(2 * TAIL_READ);
    slice rest = log_tail(s, 0, TAIL_LINES, TAIL_MOST, &text), line;
    while (rest.n && ((unsigned char)rest.p[0] & 0xc0) == 0x80)
        rest = slice_from(rest, 1); /* not in the middle of a character */
    buf_addf(out, "; see %s", s->log);
    const char *between = rest.n ? ", which ends with: " : "";
    for (bool more = rest.n > 0; more && slice_cut(&rest, '\n', &line);) {
        line = slice_trim(line);
        if (line.n == 0)
            continue;
        buf_adds(out, between);
        buf_add(out, line);
        between = " | ";
    }
    buf_deinit(&text);
}

/* --- What was written during a run ------------------------------------------------------------ */

void services_log_mark(struct services *s)
{
    for (uint32_t i = 0; i < s->n; i++) {
        struct stat st;
        s->at[i].log_at = s->at[i].log && stat(s->at[i].log, &st) == 0 ? (int64_t)st.st_size : 0;
    }
}

void services_log_since(const struct services *s, uint32_t service, uint32_t most, struct buf *out)
{
    const struct service *one = &s->at[service];
    struct buf text = BUF_INIT(2 * TAIL_READ);
    if (one->log)
        buf_add(out, log_tail(one, (off_t)one->log_at, most, SIZE_MAX, &text));
    buf_deinit(&text);
}
