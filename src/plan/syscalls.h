/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls that faults may meet: which there are, how they may fail, and what a fault does to
 * which of them (a rule), with its text form. Pure; numbers of calls are harm/'s. */
#ifndef OUTFOX_PLAN_SYSCALLS_H
#define OUTFOX_PLAN_SYSCALLS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

enum syscall_id {
#define SYSCALL(name, group, fd, dir, path, paths, moves, errors) SYSCALL_##name,
#include "plan/syscalls.list"
#undef SYSCALL
    SYSCALLS
};

/* How the bytes of a call are found in its arguments. */
enum syscall_moves {
    MOVES_NONE,
    MOVES_READ, /* descriptor, buffer, size */
    MOVES_WRITE,
    MOVES_READ_AT, /* and the place in the file */
    MOVES_WRITE_AT,
    MOVES_READ_V, /* descriptor, iovecs, how many of them */
    MOVES_WRITE_V,
    MOVES_READ_V_AT,
    MOVES_WRITE_V_AT,
    MOVES_SEND, /* descriptor, buffer, size, flags */
    MOVES_RECEIVE,
};

struct syscall_row {
    const char *name, *group;    /* group: NULL, none */
    int8_t fd, dir, path, paths; /* as syscalls.list says */
    enum syscall_moves moves;
    const char *errors;
};
extern const struct syscall_row syscall_rows[SYSCALLS];

struct syscall_set {
    uint64_t bits[(SYSCALLS + 63) / 64];
};

static inline void syscall_set_add(struct syscall_set *s, uint32_t id)
{
    s->bits[id / 64] |= UINT64_C(1) << id % 64;
}

static inline bool syscall_set_has(const struct syscall_set *s, uint32_t id)
{
    return s->bits[id / 64] >> id % 64 & 1;
}

bool syscall_set_empty(const struct syscall_set *s);

/* Adds the call of this name, or all of the group; false: there is none. */
bool syscall_set_named(struct syscall_set *s, slice word);

/* All names, then all groups, up to NULL. */
const char *const *syscall_words(void);

/* The number of an error's name, 0: none; the name of a number, NULL: none. */
int syscall_error(slice name);
const char *syscall_error_name(int number);

/* Kinds of descriptors; a call without one is of no kind. */
enum { FD_FILE = 1, FD_PIPE = 2, FD_SOCKET = 4, FD_ANY = 8 };

/* On which kinds of descriptors the call may fail so; FD_ANY: whatever it is; 0: it never does. */
uint32_t syscall_fails(enum syscall_id id, int error);

/* What a fault does to calls. A call is met when it is one of `calls`, and descriptor and path are as
 * they must be; it is struck from the nth that is met on, `times` times, each time by chance. */
struct syscall_rule {
    struct syscall_set calls;
    int error;           /* 0: it is done */
    int64_t latency_ns;  /* before it is */
    uint32_t part;       /* of its bytes, in millionths, are moved; 0: all */
    int32_t fd;          /* -1: any */
    slice path;          /* empty: any; else as syscall_path_meant says */
    uint32_t nth, times; /* times 0: always */
    uint32_t chance;     /* in millionths */
    uint64_t seed;       /* of chance */
};
#define SYSCALL_MILLION 1000000u
enum { SYSCALL_PATH_MAX = 1000 };

/* Is a file of this path meant? A pattern (`*`: anything) names a file, or a directory with all that
 * is in it; one that does not begin with "/" or "*" may begin anywhere below "/". */
bool syscall_path_meant(slice pattern, slice path);

/* The rule as words without newlines; 0, or -1 with *e. `r->path` is in the arena. */
void syscall_rule_print(const struct syscall_rule *r, struct buf *out);
int syscall_rule_parse(slice text, struct arena *a, struct syscall_rule *r, struct err *e) MUST_USE;

#endif
