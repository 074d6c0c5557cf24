/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal of faults. Lines are written by one write(2) each to a file that is open for
 * appending, so the run and its undoer may both write.
 *
 * 1. A line that was cut short (a full disk, say) stays cut: the next one begins behind a newline.
 * 2. Readers take what they understand. What is no line of ours is passed over.
 * 3. A script is only run from a file, in a directory, that nobody but us can write to.
 * 4. Nobody unlocks: locks end with the last descriptor. So the file is unlinked while it is locked,
 *    and who has just locked one looks whether it still has a name. */
#include "harm/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/printable.h"
#include "base/random.h"
#include "base/vec.h"
#include "data/json.h"
#include "io/sys.h"

enum {
    VERSION = 1,
    PATH_BYTES_MAX = 4096,
    FILE_BYTES_MAX = 16 * 1024 * 1024,
    BEGIN_BYTES_MAX =
        15 * 1024 * 1024, /* no fault begins beyond: there is room to end those before */
    LINE_BYTES_MAX = 1024 * 1024,
    SAID_BYTES_MAX = 4096,
    STEP_MS = 10,
    OTHERS_WRITE = 022,
};

#define SUFFIX   ".jsonl"
#define ELSE_SET "set XDG_STATE_HOME to a directory of your own"

struct journal {
    int fd;
    char *path;
    VEC(uint32_t) active; /* ids of what began and did not end */
};

int64_t undo_bound_ns = SECONDS(10);

/* How long what was killed may take to be gone. */
#define KILLED_NS SECONDS(2)

/* ---- the directory ---- */

/* Is it a directory of ours, also when a link leads there? 0, or -1: it is not; or not there, with
 * *absent. */
static int directory_check(const char *path, bool *absent, struct err *e)
{
    struct stat link, there;
    *absent = false;
    if (lstat(path, &link) || stat(path, &there)) {
        *absent = errno == ENOENT;
        return *absent ? -1 : err_set(e, 0, 0, "cannot open %.200s: %s", path, strerror(errno));
    }
    if (link.st_uid != geteuid() || there.st_uid != geteuid())
        return err_set(e, 0, 0, "%.200s belongs to another user: " ELSE_SET, path);
    if (!S_ISDIR(there.st_mode))
        return err_set(e, 0, 0, "%.200s is no directory: remove it, or " ELSE_SET, path);
    if (there.st_mode & OTHERS_WRITE && chmod(path, there.st_mode & 07777 & ~OTHERS_WRITE))
        return err_set(e, 0, 0, "cannot close %.200s to others: %s", path, strerror(errno));
    return 0;
}

/* The directory of journals, without a slash behind it. STATUS_NONE: there is none. */
static enum status directory_print(struct buf *out, bool make, struct err *e)
{
    bool absent;
    file_state_home(out);
    struct buf below = BUF_INIT(PATH_BYTES_MAX);
    buf_addf(&below, "%s/faults/", buf_text(out));
    enum status result = STATUS_OK;
    if (below.full)
        result = err_set(e, 0, 0, "the path of your state directory is too long: " ELSE_SET);
    else if (make && file_make_directories(buf_text(&below)))
        result = err_set(e, 0, 0, "cannot create %.200s: %s; " ELSE_SET, buf_text(&below),
                         strerror(errno));
    if (result == STATUS_OK && directory_check(buf_text(out), &absent, e))
        result = absent && !make ? STATUS_NONE : STATUS_FAILED;
    buf_adds(out, "/faults");
    if (result == STATUS_OK && directory_check(buf_text(out), &absent, e))
        result = absent && !make ? STATUS_NONE : STATUS_FAILED;
    buf_deinit(&below);
    if (result == STATUS_FAILED)
        (void)err_set(e, 0, 0, "%.200s has vanished: start again", buf_text(out));
    return result;
}

/* ---- lines ---- */

/* Appends one line, by one write. 0, or errno. */
static int line_append(int fd, struct buf *line, off_t most)
{
    struct stat file;
    char last = '\n';
    if (line->full)
        return EFBIG;
    if (fstat(fd, &file))
        return errno;
    if (file.st_size > most)
        return EFBIG;
    bool cut = file.st_size > 0 && pread(fd, &last, 1, file.st_size - 1) == 1 && last != '\n';
    struct buf all = BUF_INIT(LINE_BYTES_MAX + 2);
    buf_adds(&all, cut ? "\n" : "");
    buf_add(&all, buf_slice(line));
    buf_addc(&all, '\n');
    ssize_t put;
    do
        put = write(fd, all.p, all.n);
    while (put < 0 && errno == EINTR);
    int code = put == (ssize_t)all.n ? 0 : put < 0 ? errno : ENOSPC;
    buf_deinit(&all);
    return code;
}

bool journal_end_at(int fd, uint32_t id)
{
    struct buf line = BUF_INIT(LINE_BYTES_MAX);
    struct json_out o = json_out(&line, JSON_COMPACT);
    json_map(&o, NULL);
    json_uint(&o, "end", id);
    json_map_end(&o);
    bool written = line_append(fd, &line, FILE_BYTES_MAX) == 0;
    buf_deinit(&line);
    return written;
}

static int head_append(int fd, const char *plan)
{
    struct buf line = BUF_INIT(LINE_BYTES_MAX);
    struct json_out o = json_out(&line, JSON_COMPACT);
    json_map(&o, NULL);
    json_uint(&o, "v", VERSION);
    json_text(&o, "plan", plan);
    json_int(&o, "pid", getpid());
    json_int(&o, "begun", clock_wall_ns());
    json_map_end(&o);
    int code = line_append(fd, &line, FILE_BYTES_MAX);
    buf_deinit(&line);
    return code ? code : fdatasync(fd) ? errno : 0;
}

/* ---- writing a journal ---- */

/* Makes names last, too; where that cannot be, what was killed is still found. */
static void directory_sync(const char *dir)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    (void)fsync(fd);
    sys_close(fd);
}

/* A file that is locked before anybody can find it. -1 with errno. */
static int file_make(const char *dir, const char *path, const char *plan)
{
    struct buf hidden = BUF_INIT(PATH_BYTES_MAX);
    buf_addf(&hidden, "%s/.%s", dir, path + strlen(dir) + 1);
    int fd = file_open_private(buf_text(&hidden), O_RDWR | O_APPEND | O_EXCL | O_CLOEXEC);
    int code = fd < 0 ? errno : 0;
    if (fd >= 0) {
        code = flock(fd, LOCK_EX | LOCK_NB) ? errno : head_append(fd, plan);
        if (!code && rename(buf_text(&hidden), path))
            code = errno;
        if (code) {
            (void)unlink(buf_text(&hidden));
            sys_close(fd);
        }
    }
    buf_deinit(&hidden);
    errno = code;
    return code ? -1 : fd;
}

int journal_open(struct journal **out, const char *plan, struct err *e)
{
    struct buf dir = BUF_INIT(PATH_BYTES_MAX), path = BUF_INIT(PATH_BYTES_MAX);
    enum status found = directory_print(&dir, true, e);
    int fd = -1;
    if (found == STATUS_OK) {
        buf_addf(&path, "%s/%d-%016llx" SUFFIX, buf_text(&dir), (int)getpid(),
                 (unsigned long long)random_key());
        fd = file_make(buf_text(&dir), buf_text(&path), plan);
        if (fd < 0)
            (void)err_set(e, 0, 0, "cannot create %.200s: %s; " ELSE_SET, buf_text(&path),
                          strerror(errno));
    }
    if (fd >= 0) {
        directory_sync(buf_text(&dir));
        struct journal *j = mem_zero(sizeof *j);
        j->fd = fd;
        j->path = mem_alloc(path.n + 1);
        memcpy(j->path, path.p, path.n + 1);
        *out = j;
    }
    buf_deinit(&dir);
    buf_deinit(&path);
    return fd < 0 ? -1 : 0;
}

/* Its place among those under way, or their number. */
static uint32_t active_find(const struct journal *j, uint32_t id)
{
    uint32_t i = 0;
    while (i < j->active.n && j->active.at[i] != id)
        i++;
    return i;
}

int journal_begin(struct journal *j, uint32_t id, const char *event, const char *what,
                  const char *undo, int64_t lease_ns, struct err *e)
{
    if (strlen(undo) > UNDO_TEXT_MAX)
        return err_set(e, 0, 0, "the undo script of %.100s is longer than %d bytes: shorten it",
                       event, UNDO_TEXT_MAX);
    if (!text_is_utf8(slice_of(undo)))
        return err_set(e, 0, 0, "the undo script of %.100s is not UTF-8: write it in UTF-8", event);
    if (active_find(j, id) < j->active.n)
        return err_set(e, 0, 0, "%.100s: fault %u is under way already", event, id);
    struct buf line = BUF_INIT(LINE_BYTES_MAX);
    struct json_out o = json_out(&line, JSON_COMPACT);
    json_map(&o, NULL);
    json_uint(&o, "begin", id);
    json_text(&o, "event", event);
    json_text(&o, "what", what);
    json_text(&o, "undo", undo);
    json_int(&o, "lease_ns", lease_ns);
    json_int(&o, "at", clock_wall_ns());
    json_map_end(&o);
    int code = line_append(j->fd, &line, BEGIN_BYTES_MAX);
    buf_deinit(&line);
    if (!code && fdatasync(j->fd))
        code = errno;
    if (code)
        return err_set(e, 0, 0,
                       "cannot note %.100s in %.200s: %s; without a note it is not started", event,
                       j->path, strerror(code));
    vec_push(&j->active, id);
    return 0;
}

void journal_end(struct journal *j, uint32_t id)
{
    uint32_t i = active_find(j, id);
    if (i == j->active.n)
        return;
    j->active.at[i] = vec_last(&j->active);
    j->active.n--;
    (void)journal_end_at(j->fd, id); /* else it is undone twice, at worst */
}

void journal_close(struct journal *j)
{
    if (!j)
        return;
    if (!j->active.n)
        (void)unlink(j->path); /* the undoer may have done so */
    sys_close(j->fd);
    vec_deinit(&j->active);
    mem_free(j->path);
    mem_free(j);
}

int journal_fd(const struct journal *j)
{
    return j->fd;
}

const char *journal_path(const struct journal *j)
{
    return j->path;
}

/* ---- undo scripts ---- */

/* Becomes the script. Descriptors but the standard ones close by themselves. */
static _Noreturn void script_main(const char *script, int out_fd)
{
    (void)setsid();
    int null = open("/dev/null", O_RDONLY);
    if (null < 0 || dup2(null, 0) != 0 || dup2(out_fd, 1) != 1 || dup2(out_fd, 2) != 2 ||
        chdir("/"))
        _exit(126);
    if (null > 2)
        sys_close(null);
    for (int i = 1; i < NSIG; i++)
        (void)signal(i, SIG_DFL); /* those that cannot be set need not be */
    sigset_t none;
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)execl("/bin/sh", "sh", "-c", script, (char *)NULL);
    _exit(127);
}

bool undo_start(struct undo *u, const char *script, int out_fd)
{
    pid_t pid = _Fork(); /* not fork: libuv would close descriptors by number (io/keeper.c) */
    if (pid == 0)
        script_main(script, out_fd);
    *u = (struct undo){.pid = pid > 0 ? pid : 0, .until_ns = clock_ns() + undo_bound_ns};
    return pid > 0;
}

enum undo_state undo_check(struct undo *u)
{
    pid_t got = waitpid(u->pid, &u->status, WNOHANG);
    if (got == u->pid)
        return WIFEXITED(u->status) && WEXITSTATUS(u->status) == 0 ? UNDO_DONE : UNDO_FAILED;
    if (got < 0 && errno != EINTR)
        return UNDO_FAILED;
    if (clock_ns() < u->until_ns)
        return UNDO_RUNS;
    if (u->late) /* what waits for a broken disk cannot be killed */
        return UNDO_FAILED;
    (void)kill(-u->pid, SIGKILL);
    u->late = true;
    u->until_ns = clock_ns() + KILLED_NS;
    return UNDO_RUNS;
}

/* Reads what has come, but not forever; keeps the end of it. */
static void output_take(int fd, struct buf *kept)
{
    enum { PIECES_MOST = 64 };
    char piece[SAID_BYTES_MAX / 2];
    for (int i = 0; i < PIECES_MOST; i++) {
        ssize_t n = sys_read(fd, piece, sizeof piece);
        if (n <= 0)
            return;
        if (kept->n + (size_t)n > SAID_BYTES_MAX) {
            size_t keep = kept->n < SAID_BYTES_MAX / 2 ? kept->n : SAID_BYTES_MAX / 2;
            memmove(kept->p, kept->p + kept->n - keep, keep);
            kept->n = keep;
        }
        buf_add(kept, (slice){piece, (size_t)n});
    }
}

/* The last line that is not blank, made harmless. */
static void last_line(slice text, struct buf *out)
{
    slice line, last = {0};
    while (slice_cut(&text, '\n', &line))
        if (slice_trim(line).n)
            last = slice_trim(line);
    struct printable p = {0};
    printable_add(&p, last, out);
}

/* Runs a script to its end. */
static enum undo_state script_run(struct undo *u, const char *script, struct buf *said)
{
    int ends[2];
    struct buf kept = BUF_INIT(2 * SAID_BYTES_MAX);
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return UNDO_FAILED;
    (void)fcntl(ends[1], F_SETFL, 0); /* the script's end waits for us as usual */
    enum undo_state state = undo_start(u, script, ends[1]) ? UNDO_RUNS : UNDO_FAILED;
    sys_close(ends[1]);
    while (state == UNDO_RUNS) {
        struct pollfd p = {.fd = ends[0], .events = POLLIN};
        if (poll(&p, 1, STEP_MS) > 0 && !(p.revents & POLLIN))
            (void)poll(NULL, 0, STEP_MS); /* it has closed its output, and runs */
        output_take(ends[0], &kept);
        state = undo_check(u);
    }
    output_take(ends[0], &kept);
    sys_close(ends[0]);
    last_line(buf_slice(&kept), said);
    buf_deinit(&kept);
    return state;
}

/* ---- reading journals ---- */

/* The text under a key in the arena; NULL: there is none that is a text without NUL. */
static const char *text_at(struct arena *a, const struct node *map, slice key)
{
    const struct node *n = node_get(map, key);
    if (!n || n->type != NODE_STR || slice_find(n->text, '\0') < n->text.n)
        return NULL;
    return arena_copy(a, n->text.p, n->text.n);
}

static bool number_at(const struct node *map, slice key, uint64_t most, uint64_t *out)
{
    const struct node *n = node_get(map, key);
    return n && n->type == NODE_NUM && slice_to_u64(n->text, most, out);
}

/* What is read of one file. */
struct reading {
    struct arena *a;
    const char *path, *plan; /* plan: NULL without a first line of this version */
    VEC(struct orphan) active;
};

static void end_take(struct reading *r, uint32_t id)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < r->active.n; i++)
        if (r->active.at[i].id != id)
            r->active.at[n++] = r->active.at[i];
    r->active.n = n;
}

static void line_take(struct reading *r, const struct node *line, uint32_t number)
{
    uint64_t id, at = 0;
    if (number == 1) {
        const char *plan = text_at(r->a, line, SLICE("plan"));
        r->plan = number_at(line, SLICE("v"), VERSION, &id) && id == VERSION ? plan : NULL;
    } else if (number_at(line, SLICE("end"), UINT32_MAX, &id)) {
        end_take(r, (uint32_t)id);
    } else if (number_at(line, SLICE("begin"), UINT32_MAX, &id)) {
        struct orphan o = {.path = r->path, .plan = r->plan, .id = (uint32_t)id, .line = number};
        (void)number_at(line, SLICE("at"), INT64_MAX, &at);
        o.began_ns = (int64_t)at;
        o.event = text_at(r->a, line, SLICE("event"));
        o.what = text_at(r->a, line, SLICE("what"));
        o.undo = text_at(r->a, line, SLICE("undo"));
        if (o.event && o.what && o.undo)
            vec_push(&r->active, o);
    }
}

/* Reads all of a journal; false: it is none of this version. */
static bool journal_scan(int fd, struct reading *r)
{
    char piece[16 * 1024];
    struct buf all = BUF_INIT(FILE_BYTES_MAX);
    struct arena scratch = {0};
    ssize_t n;
    if (lseek(fd, 0, SEEK_SET) == 0)
        while (!all.full && (n = sys_read(fd, piece, sizeof piece)) > 0)
            buf_add(&all, (slice){piece, (size_t)n});
    slice rest = buf_slice(&all), text;
    for (uint32_t number = 1; rest.n && slice_cut(&rest, '\n', &text); number++) {
        const struct node *line;
        if (node_parse_json(&scratch, text, &line) == 0)
            line_take(r, line, number);
        if (!r->plan) /* also when its first line is no JSON */
            break;
        arena_reset(&scratch);
    }
    arena_deinit(&scratch);
    buf_deinit(&all);
    return r->plan;
}

/* Opens and locks. A descriptor, or -1 with errno: EWOULDBLOCK: somebody has it; ENOENT: it is gone;
 * EPERM: somebody else could have written it. */
static int file_take(const char *path)
{
    struct stat file;
    int fd = open(path, O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return -1;
    int code = fstat(fd, &file) ? errno : 0;
    if (!code &&
        (!S_ISREG(file.st_mode) || file.st_uid != geteuid() || file.st_mode & OTHERS_WRITE))
        code = EPERM;
    if (!code && flock(fd, LOCK_EX | LOCK_NB))
        code = errno;
    if (!code && (fstat(fd, &file) || file.st_nlink == 0)) /* removed by who had it before */
        code = ENOENT;
    if (!code)
        return fd;
    sys_close(fd);
    errno = code;
    return -1;
}

static void file_list(struct arena *a, const char *path, struct orphans *out)
{
    int fd = file_take(path);
    if (fd < 0) {
        out->under_way += errno == EWOULDBLOCK;
        out->unread += errno != EWOULDBLOCK && errno != ENOENT;
        return;
    }
    struct reading r = {.a = a, .path = path};
    bool known = journal_scan(fd, &r);
    if (!known)
        out->unread++;
    else if (!r.active.n) /* it was killed just before it would have removed it */
        (void)unlink(path);
    for (uint32_t i = 0; known && i < r.active.n; i++) {
        out->at = arena_grown(a, out->at, out->n, sizeof *out->at);
        out->at[out->n++] = r.active.at[i];
    }
    vec_deinit(&r.active);
    sys_close(fd);
}

static int orphan_order(const void *left, const void *right)
{
    const struct orphan *a = left, *b = right;
    int by_path = strcmp(a->path, b->path);
    return by_path ? by_path : (a->line < b->line) - (a->line > b->line);
}

int journal_orphans(struct arena *a, struct orphans *out, struct err *e)
{
    struct buf dir = BUF_INIT(PATH_BYTES_MAX);
    *out = (struct orphans){0};
    enum status found = directory_print(&dir, false, e);
    DIR *d = found == STATUS_OK ? opendir(buf_text(&dir)) : NULL;
    if (found == STATUS_OK && !d)
        found = err_set(e, 0, 0, "cannot read %.200s: %s", buf_text(&dir), strerror(errno));
    for (const struct dirent *entry; d && (entry = readdir(d));) {
        slice name = slice_of(entry->d_name);
        if (*name.p != '.' && slice_glob(SLICE("*" SUFFIX), name))
            file_list(a, arena_printf(a, "%s/%s", buf_text(&dir), entry->d_name), out);
    }
    if (d)
        (void)closedir(d);
    if (out->n)
        qsort(out->at, out->n, sizeof *out->at, orphan_order);
    buf_deinit(&dir);
    return found == STATUS_FAILED ? -1 : 0;
}

/* Says why a script has failed. */
static int failure(const struct orphan *o, const struct undo *u, const struct buf *said,
                   struct err *e)
{
    const char *colon = said->n ? ": " : "";
    slice last = buf_slice(said);
    if (!u->pid)
        return err_set(e, 0, 0, "cannot undo %.100s: no process could be created; try again",
                       o->event);
    if (u->late)
        return err_set(e, 0, 0, "the undo of %.100s did not end in time and was killed%s%.*s",
                       o->event, colon, SHORT(last));
    if (WIFSIGNALED(u->status))
        return err_set(e, 0, 0, "the undo of %.100s was ended by signal %d%s%.*s", o->event,
                       WTERMSIG(u->status), colon, SHORT(last));
    return err_set(e, 0, 0, "the undo of %.100s failed with exit code %d%s%.*s", o->event,
                   WEXITSTATUS(u->status), colon, SHORT(last));
}

int journal_undo(const struct orphan *o, struct buf *said, struct err *e)
{
    struct arena scratch = {0};
    struct undo u = {0};
    int result = 0, fd = file_take(o->path);
    if (fd < 0 && errno == ENOENT) /* all of it was undone meanwhile */
        return 0;
    if (fd < 0)
        return err_set(e, 0, 0, "cannot open %.200s: %s", o->path,
                       errno == EWOULDBLOCK ? "another outfox has it; try again later"
                                            : strerror(errno));
    struct reading r = {.a = &scratch, .path = o->path};
    bool known = journal_scan(fd, &r), waits = false;
    for (uint32_t i = 0; i < r.active.n; i++)
        waits = waits || r.active.at[i].id == o->id;
    if (waits && script_run(&u, o->undo, said) != UNDO_DONE)
        result = failure(o, &u, said, e);
    if (waits && result == 0) {
        end_take(&r, o->id);
        if (!journal_end_at(fd, o->id) && r.active.n)
            result = err_set(e, 0, 0, "%.100s is undone, but %.200s cannot be written", o->event,
                             o->path);
    }
    if (known && !r.active.n)
        (void)unlink(o->path);
    vec_deinit(&r.active);
    arena_deinit(&scratch);
    sys_close(fd);
    return result;
}
