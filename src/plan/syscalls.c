/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of system calls, and rules as text: `call=fsync,fdatasync error=EIO nth=2`. */
#include "plan/syscalls.h"

#include <errno.h>

#include "base/clock.h"

/* clang-format off */
const struct syscall_row syscall_rows[SYSCALLS] = {
#define SYSCALL(name, group, fd, dir, path, paths, moves, errors) \
    {#name, group, fd, dir, path, paths, MOVES_##moves, errors},
#include "plan/syscalls.list"
#undef SYSCALL
};

static const struct {
    const char *name;
    int number;
} error_rows[] = {
#define ERROR(name) {#name, name}
    ERROR(E2BIG), ERROR(EACCES), ERROR(EADDRINUSE), ERROR(EADDRNOTAVAIL), ERROR(EAGAIN),
    ERROR(EBUSY), ERROR(ECONNABORTED), ERROR(ECONNREFUSED), ERROR(ECONNRESET), ERROR(EDQUOT),
    ERROR(EFBIG), ERROR(EHOSTUNREACH), ERROR(EINTR), ERROR(EIO), ERROR(EMFILE), ERROR(ENETUNREACH),
    ERROR(ENFILE), ERROR(ENOBUFS), ERROR(ENOENT), ERROR(ENOLCK), ERROR(ENOMEM), ERROR(ENOSPC),
    ERROR(ENOSYS), ERROR(EOPNOTSUPP), ERROR(EPERM), ERROR(EPIPE), ERROR(EROFS), ERROR(ETIMEDOUT),
    ERROR(ETXTBSY), ERROR(EXDEV),
#undef ERROR
};
/* clang-format on */

bool syscall_set_empty(const struct syscall_set *s)
{
    for (size_t i = 0; i < sizeof s->bits / sizeof *s->bits; i++)
        if (s->bits[i])
            return false;
    return true;
}

bool syscall_set_named(struct syscall_set *s, slice word)
{
    bool found = false;
    for (uint32_t i = 0; i < SYSCALLS; i++) {
        const struct syscall_row *row = &syscall_rows[i];
        if (!slice_is(word, row->name) && !(row->group && slice_is(word, row->group)))
            continue;
        syscall_set_add(s, i);
        found = true;
    }
    return found;
}

const char *const *syscall_words(void)
{
    static const char *words[2 * SYSCALLS + 1];
    size_t n = 0;
    for (uint32_t i = 0; i < SYSCALLS; i++)
        words[n++] = syscall_rows[i].name;
    for (uint32_t i = 0; i < SYSCALLS; i++) { /* those of a group stand together */
        const char *group = syscall_rows[i].group;
        if (group && strcmp(group, words[n - 1]) != 0)
            words[n++] = group;
    }
    words[n] = NULL;
    return words;
}

int syscall_error(slice name)
{
    for (size_t i = 0; i < sizeof error_rows / sizeof *error_rows; i++)
        if (slice_is(name, error_rows[i].name))
            return error_rows[i].number;
    return 0;
}

const char *syscall_error_name(int number)
{
    for (size_t i = 0; i < sizeof error_rows / sizeof *error_rows; i++)
        if (number == error_rows[i].number)
            return error_rows[i].name;
    return NULL;
}

static uint32_t kinds_of(slice words)
{
    static const struct {
        const char *word;
        uint32_t kind;
    } kinds[] = {{"file", FD_FILE}, {"pipe", FD_PIPE}, {"socket", FD_SOCKET}};
    uint32_t all = 0;
    for (slice word; slice_cut(&words, ',', &word);)
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            if (slice_is(word, kinds[i].word))
                all |= kinds[i].kind;
    return all;
}

uint32_t syscall_fails(enum syscall_id id, int error)
{
    slice rest = slice_of(syscall_rows[id].errors), word, name;
    while (slice_word(&rest, &word)) {
        (void)slice_cut(&word, ':', &name);
        if (syscall_error(name) == error)
            return word.p && word.n ? kinds_of(word) : FD_ANY;
    }
    return 0;
}

bool syscall_path_meant(slice pattern, slice path)
{
    struct buf below = BUF_INIT(SYSCALL_PATH_MAX + 10);
    bool anywhere = pattern.n && pattern.p[0] != '/' && pattern.p[0] != '*';
    while (pattern.n > 1 && pattern.p[pattern.n - 1] == '/')
        pattern.n--;
    buf_adds(&below, anywhere ? "*/" : "");
    buf_add(&below, pattern);
    bool meant = slice_glob(buf_slice(&below), path);
    buf_adds(&below, "/*");
    meant = meant || slice_glob(buf_slice(&below), path);
    buf_deinit(&below);
    return meant;
}

/* ---- rules as text ---- */

static bool is_plain(char c)
{
    return (c > ' ' && c < 127 && c != '%') || (unsigned char)c > 127;
}

void syscall_rule_print(const struct syscall_rule *r, struct buf *out)
{
    const char *between = "call=";
    for (uint32_t i = 0; i < SYSCALLS; i++)
        if (syscall_set_has(&r->calls, i)) {
            buf_addf(out, "%s%s", between, syscall_rows[i].name);
            between = ",";
        }
    if (r->error)
        buf_addf(out, " error=%s", syscall_error_name(r->error));
    if (r->latency_ns)
        buf_addf(out, " latency=%lld", (long long)r->latency_ns);
    if (r->part)
        buf_addf(out, " part=%u", r->part);
    if (r->fd >= 0)
        buf_addf(out, " fd=%d", r->fd);
    buf_addf(out, " nth=%u times=%u chance=%u seed=%llu", r->nth, r->times, r->chance,
             (unsigned long long)r->seed);
    if (r->path.n) {
        buf_adds(out, " path=");
        percent_encode(r->path, is_plain, out);
    }
}

static bool read_calls(slice names, struct syscall_set *out)
{
    bool good = true;
    for (slice name; slice_cut(&names, ',', &name);)
        good = syscall_set_named(out, name) && good;
    return good;
}

static bool read_path(slice text, struct arena *a, slice *out)
{
    struct buf b = BUF_INIT(SYSCALL_PATH_MAX);
    bool good = percent_decode(text, false, &b) && !b.full && b.n;
    *out = buf_keep(&b, a);
    return good;
}

enum { LATENCY_MAX_S = 3600 };

/* One word NAME=VALUE. */
static bool read_word(slice word, struct arena *a, struct syscall_rule *r)
{
    uint64_t number = 0;
    slice name;
    (void)slice_cut(&word, '=', &name);
    if (!word.p)
        return false;
    if (slice_is(name, "call"))
        return read_calls(word, &r->calls);
    if (slice_is(name, "error"))
        return (r->error = syscall_error(word)) != 0;
    if (slice_is(name, "path"))
        return read_path(word, a, &r->path);
    if (slice_is(name, "latency")) {
        bool good = slice_to_u64(word, (uint64_t)SECONDS(LATENCY_MAX_S), &number);
        r->latency_ns = (int64_t)number;
        return good;
    }
    if (slice_is(name, "fd")) {
        bool good = slice_to_u64(word, INT32_MAX, &number);
        r->fd = (int32_t)number;
        return good;
    }
    if (slice_is(name, "seed"))
        return slice_to_u64(word, UINT64_MAX, &r->seed);
    struct {
        const char *name;
        uint32_t *into;
        uint64_t most;
    } rows[] = {{"part", &r->part, SYSCALL_MILLION - 1},
                {"chance", &r->chance, SYSCALL_MILLION},
                {"nth", &r->nth, UINT32_MAX},
                {"times", &r->times, UINT32_MAX}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (slice_is(name, rows[i].name) && slice_to_u64(word, rows[i].most, &number)) {
            *rows[i].into = (uint32_t)number;
            return true;
        }
    return false;
}

int syscall_rule_parse(slice text, struct arena *a, struct syscall_rule *r, struct err *e)
{
    *r = (struct syscall_rule){.fd = -1, .nth = 1, .chance = SYSCALL_MILLION};
    for (slice word; slice_word(&text, &word);)
        if (!read_word(word, a, r))
            return err_set(e, 0, 0, "a rule cannot have \"%.*s\"", SHORT(word));
    if (syscall_set_empty(&r->calls) || !r->nth || (r->error && r->part) ||
        (!r->error && !r->part && !r->latency_ns))
        return err_set(e, 0, 0, "a rule names calls, and what becomes of them");
    return 0;
}
