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
#include "plan/collect.h"
#include "plan/door.h"
#include "plan/expect.h"
#include "plan/host.h"
#include "plan/strain.h"
#include "plan/syscalls.h"

enum {
    PLAN_HOSTS_MAX = 100,
    PLAN_NODES_MAX = 200,
    PLAN_DOORS_MAX = 100,
    PLAN_CLIENTS_MAX = 200,
    PLAN_EVENTS_MAX = 1000,
    PLAN_NONE = -1
};

/* A process of the system. */
struct plan_node {
    slice name;
    slice start; /* for /bin/sh -c; stays in the foreground */
    slice ready; /* tried until it succeeds; empty: ready when started */
    slice dir;
    slice disk; /* a directory in the run's that is a disk of its own; empty: it has none */
    int64_t ready_ns;
    struct texts tags;
    struct text_pairs env;
    slice on;     /* the name of a host, */
    int32_t host; /* which this is; PLAN_NONE: this machine */
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
    slice on; /* as of nodes */
    int32_t host;
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
    TRIGGER_METRIC,     /* a sample crosses a bound */
    TRIGGER_SPAN,       /* a service tells of a call, by a trace */
    TRIGGER_CALL,       /* arrives at a door of HTTP */
    TRIGGER_CONNECTION, /* comes to a door of TCP */
    TRIGGER_MANUAL,     /* somebody says so: outfox plan fire */
};

struct plan_trigger {
    enum plan_trigger_kind kind;
    bool manual;
    const struct node *written;
    int64_t at_ns;
    slice pattern; /* a line */
    const struct regex *regex;
    slice event, value; /* of a client; value empty: any */
    slice other;        /* the name of another fault, */
    uint32_t after;     /* which this is */
    slice metric, span; /* span: SERVICE NAME, in which a * stands for anything */
    double above, below;
    bool has_above, has_below;
    slice of; /* only what this node or client prints */
    int32_t node, client;
    slice calls;     /* which: METHOD /path, a pattern for slice_glob */
    slice door;      /* of a call: empty, any */
    int32_t at_door; /* which this is; PLAN_NONE: any */
    uint32_t nth;    /* the nth time that it holds, from 1 */
    int64_t delay_ns;
    double chance; /* of doing it when it fires: dice of the seed */
    struct plan_place place;
};

enum inject_answer { LOOKUP_NONE, LOOKUP_NXDOMAIN, LOOKUP_SERVFAIL, LOOKUP_REFUSED, LOOKUP_TRUE };

/* The other side of a link that is harmed. Members of the network are the nodes, then the clients. */
enum plan_from_kind {
    FROM_OTHERS, /* all members that are no targets; of target: all, all */
    FROM_ALL,    /* all other members: those that are targets too */
    FROM_NODES,  /* all other nodes: the same */
    FROM_ANY,    /* one node that is no target, by the seed */
    FROM_SET,
};

struct plan_from {
    enum plan_from_kind kind;
    struct texts names; /* as written */
    VEC(uint32_t) members;
    struct plan_place at;
};

/* A conditional event: what is done, to whom, when, for how long. */
struct plan_event {
    slice name;
    const struct injector *injector;
    const struct node *fault; /* as written */
    slice start, undo;        /* exec: commands */
    slice path, size;         /* disk */
    uint32_t count;           /* cpu: how many processes */
    uint32_t signal;          /* kill and signal: its place among plan_signals */
    uint32_t code, more;      /* exit; descriptors */
    struct plan_clock clock;
    struct plan_limit limit;
    slice on; /* of faults without a target: where */
    int32_t host;
    struct plan_from from;
    struct plan_link link;
    struct plan_disk disk; /* and of link: latency ...; of calls: error, times */
    slice lookup;          /* dns: a pattern of names; empty: all */
    enum inject_answer answer;
    struct syscall_rule calls; /* syscall: its latency is link's, its path `path` */
    const struct node *called; /* as written */
    struct plan_steer steer;
    slice type;
    struct plan_target target;
    struct plan_trigger trigger;
    int64_t duration_ns; /* 0: until the run ends */
    slice until;         /* the name of an event of a client that ends it earlier */
    struct plan_place at;
};

/* Which other plans are derived from this one (plan/derive.h). */
struct plan_explore {
    VEC(const struct node *) faults; /* events without triggers, as written */
    uint32_t slots, most_faults, repeat;
    uint32_t door_calls; /* of each interface, so many are triggers */
    bool lines, events, calls, pairs;
    struct texts commands;
    uint64_t max_runs;
    int64_t max_time_ns;
};

struct plan {
    struct arena arena;
    uint32_t version;
    slice file;              /* as it was named; empty: it was read from text alone */
    slice text;              /* as written; empty: it is not known */
    const struct node *root; /* as it was read, with its base */
    slice dir;               /* of the file, or of that which it extends: commands are run there */
    slice name, about;
    slice extends; /* the file of another plan; empty: none */
    uint64_t seed;
    uint32_t references, repeats;
    int64_t warmup_ns;   /* of the clients, before the clock of triggers starts */
    int64_t duration_ns; /* of a run, from then on */
    int64_t settle_ns;   /* after it, without faults and clients, before commands check */
    slice before, after; /* each run */
    int64_t within_ns;   /* before and after */
    slice ready;         /* the system as a whole, when all nodes are; empty: it is then */
    int64_t ready_ns;
    struct text_pairs env;
    uint32_t network; /* A.B.C.0 as a number; 0: nodes share the network of this machine */
    VEC(struct plan_host) hosts;
    VEC(struct plan_node) nodes;
    VEC(struct plan_door) doors;
    VEC(struct plan_role) roles;
    VEC(struct plan_client) clients;
    VEC(struct plan_event) events;
    VEC(struct plan_expect) expects;
    VEC(struct plan_collect) collects;
    struct plan_explore explore;
    bool derived; /* from another plan, which has checked what it explores */
};

/* Reads and checks a file ("-": standard input), or its text. 0, or -1 with *e; to be freed in any
 * case. */
int plan_parse(struct plan *p, slice text, struct err *e) MUST_USE;
int plan_load(struct plan *p, const char *path, struct err *e) MUST_USE;

/* The plan with other events, a list of maps. It shares what the plan has read, which must live as
 * long. 0, or -1 with *e; to be freed in any case. */
int plan_with_events(struct plan *out, const struct plan *p, const struct node *events,
                     struct err *e) MUST_USE;
void plan_free(struct plan *p);

/* The JSON Schema of such files. */
void plan_schema(struct buf *out);

/* Members of the network: nodes, then clients. Their addresses; that of whoever looks on, which no
 * fault of the plan reaches. */
uint32_t plan_members(const struct plan *p);
slice plan_member_name(const struct plan *p, uint32_t member);
enum { PLAN_MEMBERS_MAX = 253 };

/* What an expectation is called in reports. */
slice plan_expect_called(const struct plan_expect *x);

/* Is this host another place than this machine? */
bool plan_is_far(const struct plan *p, int32_t host);

/* The node, client or event of this name; PLAN_NONE: there is none. */
int32_t plan_node(const struct plan *p, slice name);
int32_t plan_client(const struct plan *p, slice name);
int32_t plan_event(const struct plan *p, slice name);

#endif
