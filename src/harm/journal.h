/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal of faults: which ones a run has begun, and how each is undone. It is what is left when
 * the run and its undoer (harm/undoer.h) were both killed: `outfox doctor` finds it and undoes the
 * rest. One file per run, PID-RANDOMHEX.jsonl, in
 *
 *     $XDG_STATE_HOME/outfox/faults, else $HOME/.local/state/outfox/faults,
 *     else /var/tmp/outfox-UID/faults
 *
 * of lines that are only ever appended:
 *
 *     {"v":1,"plan":"NAME","pid":123,"begun":WALL_NS}
 *     {"begin":1,"event":"kill-leader","what":"stops redis1","undo":"...","lease_ns":N,"at":WALL_NS}
 *     {"end":1}
 *
 * 1. A fault is in the file, and the file on the disk, before the fault is started.
 * 2. The file is locked (flock) as long as the run or its undoer lives: the lock is of the open file,
 *    which both share. So an unlocked one is nobody's. It is locked before it has its name.
 * 3. A run that has undone everything leaves no file.
 * 4. An undo script is for /bin/sh -c, runs in / without a terminal, and must be idempotent: it may
 *    run again after it has succeeded, and when its fault never came to be. It depends on nothing
 *    but itself: absolute paths, no variables of the run. */
#ifndef OUTFOX_HARM_JOURNAL_H
#define OUTFOX_HARM_JOURNAL_H

#include <sys/types.h>

#include "base/err.h"

enum { UNDO_TEXT_MAX = 64 * 1024 };

struct journal;

int journal_open(struct journal **out, const char *plan, struct err *e) MUST_USE;

/* Before the fault is started, and before undoer_begin. No two faults under way have one id. `undo`
 * is UTF-8. `lease_ns` is a duration; 0: none. */
int journal_begin(struct journal *j, uint32_t id, const char *event, const char *what,
                  const char *undo, int64_t lease_ns, struct err *e) MUST_USE;

/* After it was undone, or when it was not started after all. */
void journal_end(struct journal *j, uint32_t id);

/* Removes the file when nothing is under way. After undoer_free. */
void journal_close(struct journal *j);

int journal_fd(const struct journal *j);
const char *journal_path(const struct journal *j);

/* Appends an end to a journal that is open elsewhere. False: it could not be written. */
bool journal_end_at(int fd, uint32_t id);

/* ---- undo scripts ---- */

/* A script that runs in a session of its own. */
struct undo {
    pid_t pid;        /* 0: none */
    int64_t until_ns; /* then it is killed, or, late, given up */
    bool late;        /* it was killed */
    int status;       /* as of waitpid, once it has ended */
};

enum undo_state { UNDO_RUNS, UNDO_DONE, UNDO_FAILED };

/* Starts a script whose output goes to `out_fd`. False: it could not be started, with errno. */
bool undo_start(struct undo *u, const char *script, int out_fd) MUST_USE;

/* Looks after it: to be called again and again until it has ended. */
enum undo_state undo_check(struct undo *u) MUST_USE;

/* How long a script may take, then its process group is killed. For tests to change. */
extern int64_t undo_bound_ns;

/* ---- what killed runs have left ---- */

/* A fault that began and did not end. */
struct orphan {
    const char *path; /* its journal */
    const char *plan, *event, *what, *undo;
    int64_t began_ns; /* wall time */
    uint32_t id, line;
};

struct orphans {
    struct orphan *at; /* in the arena; those of a run newest first, which is the order to undo */
    uint32_t n;
    uint32_t under_way; /* journals of runs that live, which were left alone */
    uint32_t unread; /* journals of a later version, or that somebody else can write to: likewise */
};

/* No directory is no orphans. Journals without any fault to undo are removed. */
int journal_orphans(struct arena *a, struct orphans *out, struct err *e) MUST_USE;

/* Undoes one, which takes up to `undo_bound_ns`; removes its journal when it was the last one.
 * `said` gets the last line of the script's output. -1: the script failed, or somebody else is at it
 * now; the fault stays in the journal. One that was undone meanwhile is no error. */
int journal_undo(const struct orphan *o, struct buf *said, struct err *e) MUST_USE;

#endif
