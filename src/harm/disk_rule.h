/* SPDX-License-Identifier: Apache-2.0
 *
 * What the faults of a disk do to one operation on it. Pure: the caller has the clock and the lock.
 *
 *   operation --> rules that are on --> later, with an error, with less room, or as it is
 *
 * Rules come as lines of text (disk_rule_parse), the first of which is the deed:
 *
 *   full        room=BYTES
 *   slow        latency=NS jitter=NS bandwidth=BYTES operations=WORD,WORD file=GLOB
 *   error       error=NUMBER times=N operations=WORD,WORD file=GLOB
 *   read-only
 *   lost-sync
 */
#ifndef OUTFOX_HARM_DISK_RULE_H
#define OUTFOX_HARM_DISK_RULE_H

#include "base/err.h"
#include "base/random.h"
#include "base/vec.h"

enum { DISK_NAME_MAX = 100, DISK_FILE_MAX = 1000, DISK_RULES_MAX = 100, DISK_BLOCK = 4096 };

/* What an operation does: one or more of these. */
enum {
    DISK_READ = 1,
    DISK_WRITE = 2, /* the content of a file: also its size */
    DISK_SYNC = 4,
    DISK_OPEN = 8,
    DISK_CHANGE = 16, /* of names and their attributes: made, renamed, removed ... */
    DISK_ALL = 31
};

enum disk_deed { DISK_FULL, DISK_SLOW, DISK_ERROR, DISK_READ_ONLY, DISK_LOST_SYNC };

struct disk_rule {
    char name[DISK_NAME_MAX + 1];
    enum disk_deed deed;
    unsigned does;                 /* ERROR and SLOW: of operations that do one of these */
    char file[DISK_FILE_MAX + 1];  /* and to files whose path is like this; "": any */
    int error;                     /* ERROR: errno */
    uint64_t times;                /* ERROR: so often, at most */
    int64_t latency_ns, jitter_ns; /* SLOW */
    uint64_t bandwidth;            /* SLOW: bytes per second; 0: any */
    int64_t free_ns;               /* when what was moved before is through */
    uint64_t room;                 /* FULL: bytes that are left */
    uint64_t struck;               /* operations that it touched */
};

struct disk_rules {
    VEC(struct disk_rule) list;
    struct rng rng;
};

/* 0, or -1 with *e. */
int disk_rule_parse(struct disk_rule *r, slice name, slice text, struct err *e) MUST_USE;

struct disk_op {
    unsigned does;
    bool changes;   /* a disk that can only be read refuses it */
    slice path;     /* below the disk's root; asked for where disk_rules_name holds */
    uint64_t bytes; /* it moves */
    uint64_t grows; /* bytes of room that it needs */
};

struct disk_fate {
    int error;        /* 0, or errno */
    int64_t until_ns; /* it is to wait until then, and then to be done; 0: at once */
    uint64_t room;    /* of what it needs: less than `grows` where it is a write that gets a part */
    bool lost;        /* a sync that is not to be made, and says that it was */
};

/* Does a rule look at paths? */
bool disk_rules_name(const struct disk_rules *rules);
struct disk_rule *disk_rules_find(struct disk_rules *rules, slice name); /* or NULL */
struct disk_rule *disk_rules_doing(struct disk_rules *rules, enum disk_deed deed);

/* What becomes of an operation at this moment. */
void disk_decide(struct disk_rules *rules, const struct disk_op *op, int64_t now_ns,
                 struct disk_fate *out);

/* So many bytes are free again. */
void disk_freed(struct disk_rules *rules, uint64_t bytes);

#endif
