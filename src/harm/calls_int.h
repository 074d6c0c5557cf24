/* SPDX-License-Identifier: Apache-2.0
 *
 * System calls of a node, harmed: seccomp tells a watcher of ours of each call that a fault of the
 * plan names, and the call waits for its answer.
 *
 *   calls.c          the node's start: the filter is installed, the watcher forked, the program run
 *   calls_watch.c    the watcher: an answer to each call, now or later
 *   calls_rules.c    which answer: what is armed, held against a call. Pure
 *   calls_look.c     what is known of a call only from its process: paths, kinds of descriptors
 *   calls_move.c     a part of a read or write, done instead of the process
 *   calls_state.c    what is armed now: a file, and how it is changed
 *   calls_filter.c   numbers of calls on this machine; the filter as a BPF program
 *
 * 1. A call of which nothing is known, or about which anything goes wrong, goes on as if nobody
 *    watched. Only a rule that is armed changes one.
 * 2. The watcher is no child of the program and not in its group: whatever the program waits for, and
 *    whoever is frozen or killed with it, it is not that.
 * 3. Nobody watching would mean ENOSYS for each such call, so a second process waits for the end of
 *    the watcher and takes its place. What was under way is in memory that both share.
 * 4. The file that says what is armed may hold anything: what cannot be read is not obeyed. */
#ifndef OUTFOX_HARM_CALLS_INT_H
#define OUTFOX_HARM_CALLS_INT_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdatomic.h>

#include "base/err.h"
#include "plan/syscalls.h"

enum {
    CALLS_RULES_MAX = 64,    /* armed at once on a node */
    CALLS_SLOTS = 1024,      /* and in its whole life */
    CALLS_NAME_MAX = 400,    /* of a rule, as it is written in the file */
    CALLS_STATE_MAX = 65536, /* bytes of that file */
    CALLS_LATE_MAX = 4096,   /* calls that wait; more of them wait in the kernel */
    CALLS_PART_MAX = 1 << 20,
    CALLS_FILTER_MAX = SYSCALLS + 8,
};

/* ---- numbers, filter ---- */

/* The number of the call on this machine; -1: it has no such call. */
int calls_number(enum syscall_id id);

/* The call of this number, or SYSCALLS. */
enum syscall_id calls_of_number(int number);

/* The BPF program that tells of these calls, and lets all others pass; how long it is. */
uint32_t calls_filter(const struct syscall_set *calls, struct sock_filter out[CALLS_FILTER_MAX]);

/* ---- what is armed ---- */

struct calls_armed {
    slice name;
    uint32_t slot; /* of its counts; no other rule has had it */
    struct syscall_rule rule;
};

struct calls_state {
    struct arena arena;
    uint32_t next; /* slot */
    uint32_t n;
    struct calls_armed at[CALLS_RULES_MAX];
};

/* No text at all is a state without rules. 0, or -1 with *e: then it holds nothing. To be freed in any
 * case. */
int calls_state_parse(slice text, struct calls_state *out, struct err *e) MUST_USE;
void calls_state_print(const struct calls_state *s, struct buf *out);
void calls_state_free(struct calls_state *s);

/* The file beside it with what rules have struck: a struct calls_count for each slot. */
const char *calls_counts_path(struct arena *a, const char *state);

/* ---- which answer ---- */

struct calls_count {
    uint64_t met, struck;
};

/* A call, as rules see it. */
struct calls_view {
    enum syscall_id id;
    int64_t fd;                   /* -1: it has none */
    uint32_t (*kind)(void *user); /* of its descriptor; 0: not known */
    bool (*meant)(void *user, slice path);
    void *user;
};

struct calls_verdict {
    int error;     /* 0: none */
    uint32_t part; /* in millionths; 0: all */
    uint32_t slot; /* of the rule that says so */
    int64_t latency_ns;
    uint32_t n, slots[CALLS_RULES_MAX]; /* whose counts have changed */
};

/* What becomes of the call: the first rule with an error or a part says which, latencies add up.
 * Counts. */
void calls_decide(const struct calls_state *s, struct calls_count counts[CALLS_SLOTS],
                  const struct calls_view *call, struct calls_verdict *out);

/* ---- its process ---- */

struct calls_look {
    const struct seccomp_notif *notif;
    const struct syscall_row *row;
    bool blind; /* its process could not be looked into */
};

/* For struct calls_view; user is a struct calls_look. */
uint32_t calls_kind(void *user);
bool calls_meant(void *user, slice path);

/* Bytes of the process: true when all were read, or written. */
struct iovec;
bool calls_fetch(uint32_t pid, void *to, size_t n, const struct iovec *from, size_t n_from);
bool calls_store(uint32_t pid, const void *from, size_t n, const struct iovec *to, size_t n_to);

/* Does a part of the call. What it returns: bytes, or -errno; 0: it cannot be done by us. */
int64_t calls_move(int listener, const struct seccomp_notif *n, enum syscall_moves moves,
                   uint32_t part);

/* ---- the watcher ---- */

/* A call that is answered later. */
struct calls_late {
    int64_t due_ns;
    struct seccomp_notif notif;
    int error;
    uint32_t part, slot;
};

/* What a watcher leaves to the next one: shared memory. */
struct calls_watch {
    _Atomic int listener; /* its descriptor; -1: not yet; -2: there will be none */
    _Atomic int ready;
    _Atomic int keeper; /* its pid */
    _Atomic int busy;   /* `now` waits for its answer */
    union {
        struct seccomp_notif notif;
        char room[512]; /* for kernels that say more */
    } now;
    struct calls_count counts[CALLS_SLOTS];
    uint32_t n_late;
    struct calls_late late[CALLS_LATE_MAX]; /* a heap by due_ns */
};

/* Descriptors of a watcher. */
enum { CALLS_LISTENER_FD = 3, CALLS_STATE_FD, CALLS_COUNTS_FD, CALLS_FDS };

/* Answers calls until nobody is left who makes any. */
_Noreturn void calls_watch_run(struct calls_watch *w);

#endif
