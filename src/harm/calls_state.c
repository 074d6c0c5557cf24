/* SPDX-License-Identifier: Apache-2.0
 *
 * What is armed on a node, as a file that watchers read before each answer:
 *
 *     outfox-calls 1 NEXT-SLOT
 *     SLOT NAME RULE              for each rule; NAME percent-coded
 *     end HASH                    of all before
 *
 * 1. It is written in place, under a lock; who reads it meanwhile sees a wrong hash, and keeps what it
 *    has read before.
 * 2. A slot is never used twice, so counts begin at 0 without being set. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "harm/calls_int.h"
#include "harm/harm_int.h"
#include "io/sys.h"

#define HEAD            "outfox-calls 1 "
#define WATCHED_NS      SECONDS(5) /* a node that is being started again is watched soon */
#define WATCHED_STEP_MS 10

/* ---- as text ---- */

static bool is_plain(char c)
{
    return c > ' ' && c < 127 && c != '%';
}

void calls_state_print(const struct calls_state *s, struct buf *out)
{
    buf_addf(out, HEAD "%u\n", s->next);
    for (uint32_t i = 0; i < s->n; i++) {
        buf_addf(out, "%u ", s->at[i].slot);
        percent_encode(s->at[i].name, is_plain, out);
        buf_addc(out, ' ');
        syscall_rule_print(&s->at[i].rule, out);
        buf_addc(out, '\n');
    }
    buf_addf(out, "end %016" PRIx64 "\n", hash_slice(buf_slice(out)));
}

static int parse_rule(slice line, struct calls_state *out, struct err *e)
{
    slice word, name;
    uint64_t slot;
    if (out->n == CALLS_RULES_MAX || !slice_word(&line, &word) ||
        !slice_to_u64(word, CALLS_SLOTS - 1, &slot) || slot >= out->next ||
        !slice_word(&line, &name) || name.n > CALLS_NAME_MAX)
        return err_set(e, 0, 0, "it was not written by this program");
    struct calls_armed *a = &out->at[out->n];
    struct buf b = BUF_INIT(CALLS_NAME_MAX);
    bool good = percent_decode(name, false, &b);
    *a = (struct calls_armed){.name = buf_keep(&b, &out->arena), .slot = (uint32_t)slot};
    if (!good || syscall_rule_parse(line, &out->arena, &a->rule, e))
        return err_set(e, 0, 0, "it was not written by this program");
    out->n++;
    return 0;
}

/* Cuts the last line off, which has the hash of all before. */
static bool cut_hash(slice *text)
{
    enum { END_BYTES = 4 + 16 + 1 };
    uint64_t hash;
    if (text->n < END_BYTES || text->p[text->n - 1] != '\n')
        return false;
    slice end = slice_from(*text, text->n - END_BYTES);
    text->n -= END_BYTES;
    return slice_starts(end, SLICE("end ")) && slice_to_hex((slice){end.p + 4, 16}, &hash) &&
           hash == hash_slice(*text);
}

static int state_read(slice text, struct calls_state *out, struct err *e)
{
    slice line;
    uint64_t next;
    if (!cut_hash(&text) || !slice_cut(&text, '\n', &line) || !slice_starts(line, SLICE(HEAD)) ||
        !slice_to_u64(slice_from(line, sizeof HEAD - 1), CALLS_SLOTS, &next))
        return err_set(e, 0, 0, "it was not written by this program");
    out->next = (uint32_t)next;
    while (slice_cut(&text, '\n', &line) && (line.n || text.p))
        if (parse_rule(line, out, e))
            return -1;
    return 0;
}

int calls_state_parse(slice text, struct calls_state *out, struct err *e)
{
    out->arena = (struct arena){0};
    out->n = out->next = 0;
    if (text.n && state_read(text, out, e)) {
        out->n = 0;
        return -1;
    }
    return 0;
}

void calls_state_free(struct calls_state *s)
{
    arena_deinit(&s->arena);
    s->n = 0;
}

const char *calls_counts_path(struct arena *a, const char *state)
{
    return arena_printf(a, "%s.n", state);
}

/* ---- as a file ---- */

struct state_file {
    struct arena arena;
    const char *path;
    int fd; /* locked */
    struct calls_state state;
};

static void file_close(struct state_file *f)
{
    if (f->fd >= 0)
        sys_close(f->fd);
    calls_state_free(&f->state);
    arena_deinit(&f->arena);
}

static int state_load(struct state_file *f, struct err *e)
{
    struct buf text = BUF_INIT(CALLS_STATE_MAX);
    char piece[4096];
    for (ssize_t n; (n = sys_read(f->fd, piece, sizeof piece)) > 0 && !text.full;)
        buf_add(&text, (slice){piece, (size_t)n});
    int status = text.full ? err_set(e, 0, 0, "it was not written by this program")
                           : calls_state_parse(buf_slice(&text), &f->state, e);
    buf_deinit(&text);
    return status;
}

/* 1: there is no such file. */
static int file_open(struct state_file *f, const char *path)
{
    *f = (struct state_file){.path = path, .fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)};
    if (f->fd < 0)
        return errno == ENOENT || errno == ENOTDIR ? 1 : -1;
    return flock(f->fd, LOCK_EX);
}

static int file_write(struct state_file *f, struct err *e)
{
    struct buf text = BUF_INIT(CALLS_STATE_MAX);
    calls_state_print(&f->state, &text);
    bool good = !text.full && pwrite(f->fd, buf_text(&text), text.n, 0) == (ssize_t)text.n &&
                ftruncate(f->fd, (off_t)text.n) == 0;
    int status = text.full ? err_set(e, 0, 0, "there are too many rules on this node")
                 : good    ? 0
                           : err_set(e, 0, 0, "%s cannot be written: %s", f->path, strerror(errno));
    buf_deinit(&text);
    return status;
}

/* Does anybody watch? Watchers hold a lock on the counts. */
static bool is_watched(const char *counts)
{
    int fd = open(counts, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool watched = flock(fd, LOCK_EX | LOCK_NB) != 0;
    sys_close(fd);
    return watched;
}

static int await_watched(const char *path, struct err *e)
{
    struct arena a = {0};
    const char *counts = calls_counts_path(&a, path);
    int64_t until = clock_ns() + WATCHED_NS;
    bool watched;
    while (!(watched = is_watched(counts)) && clock_ns() < until)
        (void)poll(NULL, 0, WATCHED_STEP_MS);
    arena_deinit(&a);
    return watched ? 0
                   : err_set(e, 0, 0,
                             "nobody watches the system calls of this node: was it started in "
                             "another way, or has its watcher been killed?");
}

static struct calls_armed *find(struct calls_state *s, slice name)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (slice_eq(s->at[i].name, name))
            return &s->at[i];
    return NULL;
}

static int arm(struct state_file *f, slice name, const struct syscall_rule *rule, struct err *e)
{
    struct calls_state *s = &f->state;
    struct calls_armed *a = find(s, name);
    if (!a && (s->n == CALLS_RULES_MAX || s->next == CALLS_SLOTS))
        return err_set(e, 0, 0,
                       "a node can have %d faults of system calls at once, and %d in a run",
                       CALLS_RULES_MAX, CALLS_SLOTS);
    if (!a) {
        a = &s->at[s->n++];
        a->slot = s->next++;
    }
    a->name = name;
    a->rule = *rule;
    return file_write(f, e);
}

int calls_arm(int argc, char **argv, struct buf *said, struct err *e)
{
    struct state_file f;
    struct syscall_rule rule;
    struct arena a = {0};
    int status = -1;
    (void)said;
    if (argc != 3)
        return err_set(e, 0, 0, "it needs FILE NAME RULE");
    if (syscall_rule_parse(slice_of(argv[2]), &a, &rule, e) || await_watched(argv[0], e)) {
        arena_deinit(&a);
        return -1;
    }
    if (file_open(&f, argv[0]))
        (void)err_set(e, 0, 0, "%s cannot be opened: %s", argv[0], strerror(errno));
    else if (state_load(&f, e))
        e->col = 0;
    else
        status = arm(&f, slice_of(argv[1]), &rule, e);
    file_close(&f);
    arena_deinit(&a);
    return status;
}

/* What the rule has struck, by the counts that its watcher writes. */
static uint64_t struck_by(const char *path, uint32_t slot)
{
    struct arena a = {0};
    struct calls_count count = {0};
    int fd = open(calls_counts_path(&a, path), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd >= 0 &&
        pread(fd, &count, sizeof count, (off_t)(slot * sizeof count)) != (ssize_t)sizeof count)
        count.struck = 0;
    if (fd >= 0)
        sys_close(fd);
    arena_deinit(&a);
    return count.struck;
}

/* What is not there, or not on, is undone. What nobody can read is emptied: that is no rule at all. */
int calls_disarm(int argc, char **argv, struct buf *said, struct err *e)
{
    struct state_file f;
    uint64_t struck = 0;
    int status = 0;
    if (argc != 2)
        return err_set(e, 0, 0, "it needs FILE NAME");
    int there = file_open(&f, argv[0]);
    if (there < 0)
        status = err_set(e, 0, 0, "%s cannot be opened: %s", argv[0], strerror(errno));
    struct err unread = {0};
    struct calls_armed *a = NULL;
    if (there == 0 && state_load(&f, &unread))
        status = ftruncate(f.fd, 0)
                     ? err_set(e, 0, 0, "%s cannot be written: %s", argv[0], strerror(errno))
                     : 0;
    else if (there == 0)
        a = find(&f.state, slice_of(argv[1]));
    if (a) {
        uint32_t slot = a->slot;
        *a = f.state.at[--f.state.n];
        status = file_write(&f, e);
        struck = struck_by(argv[0], slot);
    }
    file_close(&f);
    buf_addf(said, "struck %" PRIu64 "\n", struck);
    return status;
}
