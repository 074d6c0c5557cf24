/* SPDX-License-Identifier: Apache-2.0
 *
 * What our side (process.c), the keeper and its guards (keeper.c) say to each other. All of it goes over pairs
 * of SOCK_SEQPACKET sockets in small messages of fixed size, so nothing is ever half read.
 *
 *   we ==== one pair for all ====> keeper      a byte, and descriptors: start this
 *   we <=== one pair per process ===> guard    notes to us, numbers of signals to it
 *
 * The keeper forks a guard for each process, which takes over one end of that process's own pair.
 * The guard is the subreaper of its process: whatever the process starts stays below the guard,
 * also when it makes sessions of its own and its parents end. So it can always be found. */
#ifndef OUTFOX_IO_PROCESS_INT_H
#define OUTFOX_IO_PROCESS_INT_H

#include <stdint.h>
#include <sys/types.h>

/* What a request to start something carries. The text is the command, the directory ("": ours) and
 * the environment, each with a NUL behind it. */
enum spawn_fd { SPAWN_SOCKET, SPAWN_TEXT, SPAWN_OUTPUT, SPAWN_ERRORS, SPAWN_INPUT, SPAWN_FDS };

enum note_kind {
    NOTE_STARTED = 1, /* value: its process; more: its guard */
    NOTE_FAILED,      /* value: errno; more: enum spawn_step */
    NOTE_ENDED,       /* value: status as of waitpid */
    NOTE_GONE,        /* so are its descendants */
};

enum spawn_step { STEP_GUARD, STEP_FORK, STEP_TEXT, STEP_OUTPUT, STEP_DIR, STEP_EXEC, STEPS };

struct note {
    uint32_t kind;
    int32_t value, more;
};

/* What the keeper does until we are gone. Everything but `sock` is closed; all that it starts carries
 * the mark. Then what is under way may go on for its patience. */
_Noreturn void keeper_main(int sock, const char *mark, int64_t patience_ns);

/* The mark of what this process starts. */
enum { MARK_MAX = 64 };
void mark_print(pid_t pid, char out[MARK_MAX]);

/* Kills all that carries this mark; NULL: that of a process that has ended. How many there were.
 * Waits for their end, but not forever. */
uint32_t marked_end(const char *mark);

#endif
