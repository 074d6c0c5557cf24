/* SPDX-License-Identifier: Apache-2.0
 *
 * A failure plan: which processes make up a system, what clients do with it, which faults happen
 * when and to whom, and what must hold all the same. Read from a YAML file by tables of keys,
 * checked as a whole. Values only: lab/ carries them out.
 *
 * 1. What plan_load accepts can be carried out: all names mean something, every trigger can fire,
 *    every fault knows how it is undone.
 * 2. Nodes, clients and events are known by their places in the vectors from then on. */
#ifndef OUTFOX_PLAN_PLAN_H
#define OUTFOX_PLAN_PLAN_H

#include "base/err.h"
#include "base/vec.h"
#include "data/keys.h"
#include "data/regex.h"

enum { PLAN_NODES_MAX = 200, PLAN_CLIENTS_MAX = 200, PLAN_EVENTS_MAX = 1000, PLAN_NONE = -1 };

struct plan_place {
    uint32_t line, col;
};

/* A process of the system. */
struct plan_node {
    slice name;
    slice start; /* for /bin/sh -c; stays in the foreground */
    slice ready; /* tried until it succeeds; empty: ready when started */
    slice dir;
    int64_t ready_ns;
    struct texts tags;
    struct text_pairs env;
    struct plan_place at;
};

/* A node that is found when it is needed: the command prints its name. */
struct plan_role {
    slice name, find;
    struct plan_place at;
};

/* What exercises the system. Either the command is run again and again, and each time is one
 * operation; or it runs as long as the run does and says so itself (lab/client.h). */
struct plan_client {
    slice name, command, dir;
    int64_t every_ns;  /* > 0: the command is run this often */
    int64_t within_ns; /* and must end within this time */
    struct text_pairs env;
    struct plan_place at;
};

enum plan_target_kind {
    TARGET_NONE, /* the fault has none: exec */
    TARGET_ALL,
    TARGET_ANY, /* one of them, by the seed */
    TARGET_SET,
    TARGET_ROLE,          /* whoever it is at that moment */
    TARGET_MATCH_TRIGGER, /* the node on which the trigger fired */
    TARGET_NOT_TRIGGER,   /* all others */
};

struct plan_target {
    enum plan_target_kind kind;
    struct texts names;  /* as written: names and tag:NAME */
    VEC(uint32_t) nodes; /* those that are meant; of ALL and ANY: to choose from */
    uint32_t role;
    struct plan_place at;
};

enum plan_trigger_kind {
    TRIGGER_TIME,  /* `at` after the clients were started */
    TRIGGER_LINE,  /* a node or a client prints something */
    TRIGGER_EVENT, /* a client says that something happened */
    TRIGGER_BEGAN, /* another fault began */
    TRIGGER_ENDED,
};

struct plan_trigger {
    enum plan_trigger_kind kind;
    int64_t at_ns;
    slice pattern; /* a line */
    const struct regex *regex;
    slice event, value; /* of a client; value empty: any */
    slice other;        /* the name of another fault, */
    uint32_t after;     /* which this is */
    slice of;           /* only what this node or client prints */
    int32_t node, client;
    uint32_t nth; /* the nth time that it holds, from 1 */
    int64_t delay_ns;
    double chance; /* of doing it when it fires: dice of the seed */
    struct plan_place place;
};

struct injector;

/* A conditional event: what is done, to whom, when, for how long. */
struct plan_event {
    slice name;
    const struct injector *injector;
    slice start, undo; /* exec: commands */
    slice path, size;  /* disk */
    uint32_t count;    /* cpu: how many processes */
    slice type;
    struct plan_target target;
    struct plan_trigger trigger;
    int64_t duration_ns; /* 0: until the run ends */
    slice until;         /* the name of an event of a client that ends it earlier */
    struct plan_place at;
};

/* What must hold of a run. */
enum plan_expect_kind {
    EXPECT_AVAILABILITY, /* percent of operations that succeed, at least */
    EXPECT_LOST,         /* operations that fail, at most */
    EXPECT_GAP,          /* longest time without a success, at most */
    EXPECT_RECOVERY,     /* from the end of the last fault to the first success, at most */
    EXPECT_LATENCY,      /* a percentile of successful operations, at most */
    EXPECT_SLOWDOWN,     /* against the reference: factor of a percentile, at most */
    EXPECT_NEW_LINES,    /* lines that match and were in no reference run, at most */
    EXPECT_ALIVE,        /* no node ends that nobody ended */
    EXPECT_COMMAND,      /* succeeds after the run */
};

struct plan_expect {
    slice name; /* as it is called in reports */
    enum plan_expect_kind kind;
    double number;   /* percent, count, factor */
    int64_t most_ns; /* GAP, RECOVERY, LATENCY */
    double percentile;
    slice command, pattern;
    const struct regex *regex;
    int64_t within_ns; /* COMMAND */
    int32_t client;    /* only operations of this one; PLAN_NONE: of all */
    slice of;
    struct plan_place at;
};

struct plan {
    struct arena arena;
    uint32_t version;
    slice dir; /* of the file: commands are run there */
    slice name;
    slice about;
    uint64_t seed;
    uint32_t references, repeats;
    int64_t warmup_ns;   /* of the clients, before the clock of triggers starts */
    int64_t duration_ns; /* of a run, from then on */
    int64_t settle_ns;   /* after it, without faults and clients, before commands check */
    slice before, after; /* each run */
    int64_t within_ns;   /* before and after */
    struct text_pairs env;
    VEC(struct plan_node) nodes;
    VEC(struct plan_role) roles;
    VEC(struct plan_client) clients;
    VEC(struct plan_event) events;
    VEC(struct plan_expect) expects;
};

/* Reads and checks a file ("-": standard input), or its text. 0, or -1 with *e; to be freed in any
 * case. */
int plan_parse(struct plan *p, slice text, struct err *e) MUST_USE;
int plan_load(struct plan *p, const char *path, struct err *e) MUST_USE;
void plan_free(struct plan *p);

/* The JSON Schema of such files. */
void plan_schema(struct buf *out);

/* The node, client or event of this name; PLAN_NONE: there is none. */
int32_t plan_node(const struct plan *p, slice name);
int32_t plan_client(const struct plan *p, slice name);
int32_t plan_event(const struct plan *p, slice name);

#endif
