/* SPDX-License-Identifier: Apache-2.0
 *
 * A file of trials: the nodes of a system, what clients do with it phase by phase, what may fail in
 * its programs, who chooses what fails, and what counts as suspicious. Read from YAML by tables of
 * keys, checked as a whole. Values only: rig/ carries them out.
 *
 *   version: 1
 *   trials: kv
 *   nodes:
 *     a: { start: "exec ./kv {port:client}", ports: [client], data: seeds/a, alive: { redis: client } }
 *   workload:
 *     - { phase: write, each: { redis: client, operations: ["SET {key} {value}"], count: 50 } }
 *   experiments: { error: true, delay: 3s }
 *   policies: [bsrr]
 *
 * One trial: all nodes start in directories of their own, made anew; when all are ready the trial is
 * armed; phases follow each other, and in each its clients run side by side; when the last has ended
 * nothing is armed any longer, nodes are asked and counted, invariants are held, and all is ended.
 *
 * 1. What trials_load accepts can be carried out: all names mean something, every variable has a
 *    value, every built-in client knows its port.
 * 2. Nodes, phases and clients are known by their places in the vectors from then on; a node's place
 *    is its number in the shared file.
 * 3. Whether a port is free and a program instrumented is not known here. */
#ifndef OUTFOX_TRIAL_TRIAL_H
#define OUTFOX_TRIAL_TRIAL_H

#include "base/err.h"
#include "base/vec.h"
#include "data/keys.h"
#include "data/regex.h"
#include "outfox/abi.h"
#include "plan/host.h"

enum {
    TRIALS_NODES_MAX = OUTFOX_NODES,
    TRIALS_PHASES_MAX = 20,
    TRIALS_CLIENTS_MAX = 100, /* of a phase */
    TRIALS_PORTS_MAX = 100,   /* of all nodes */
    TRIALS_POLICIES_MAX = 8,
    TRIALS_NONE = -1
};

/* What speaks a protocol without a command. */
enum trials_talk { TALKS_COMMAND, TALKS_REDIS, TALKS_MEMCACHED };

/* By which a node says that it is alive: a command that succeeds, or a PING (redis), a version
 * (memcached) that is answered. */
struct trials_alive {
    enum trials_talk talk; /* COMMAND with an empty command: it is not asked */
    slice command, port;
    int32_t at_port; /* in trials.ports; TRIALS_NONE: of a command */
    int64_t within_ns;
};

struct trials_node {
    slice name;
    slice start;         /* for /bin/sh -c; stays in the foreground */
    slice ready;         /* tried until it succeeds; empty: ready when started */
    int64_t ready_ns;    /* time limit of ready */
    slice data;          /* directory that is copied to be the node's; empty: that begins empty */
    slice dir;           /* where it runs; empty: the directory of its own, {dir} */
    struct texts binary; /* instrumented programs and libraries; empty: what `start` runs */
    struct texts ports;  /* names; each is a port that is free */
    struct texts logs;   /* files in its directory, besides what it prints */
    struct text_pairs env;
    struct trials_alive alive;
    bool harmed; /* may faults be made in it? */
    const struct node *written;
    struct plan_place at;
};

struct trials_port {
    uint32_t node;
    slice name;
};

/* A client of one node. */
struct trials_client {
    slice name;
    slice of;      /* its node, as written; */
    uint32_t node; /* which this is */
    enum trials_talk talk;
    slice command; /* COMMAND: ends by itself, 0 is success; says ok, fail as in plan/said.h */
    slice port;
    int32_t at_port;
    struct texts operations; /* in turn: words, in which {key}, {value}, {n} stand for them */
    uint32_t keys;           /* different ones: key0, key1 ... of which {key} is each in turn */
    uint32_t value_bytes;
    uint32_t count;     /* operations */
    int64_t every_ns;   /* between the beginnings of two; 0: one after the other */
    int64_t timeout_ns; /* of one operation */
    struct text_pairs env;
    const struct node *written;
    struct plan_place at;
};

struct trials_phase {
    slice name;
    int64_t within_ns; /* a client that has not ended by then is stuck, and is killed */
    bool always;       /* also if an earlier phase failed */
    VEC(struct trials_client) clients;
    struct plan_place at;
};

/* Holds when all phases are over. */
struct trials_invariant {
    slice name, command;
    int64_t within_ns;
    struct plan_place at;
};

struct trials_pattern {
    slice text;
    const struct regex *regex;
};

struct trials_patterns {
    struct trials_pattern *at;
    uint32_t n, cap;
};

struct trials_checkers {
    bool crash, client, log, resources;
    bool restart;       /* a node that has ended is started once more, on its data */
    struct texts clean; /* exit codes of a clean end; of none: all up to 125 */
    struct trials_patterns log_patterns; /* lines that count: warnings and errors */
    struct trials_patterns log_ignore;
    uint32_t threads, descriptors; /* more than any reference had, so many are no growth */
    int64_t slow_ns;               /* an operation that takes longer than any did, and than this */
    VEC(struct trials_invariant) invariants;
};

struct trials_registrar {
    slice function, kind;
    uint32_t argument;
};

struct trials {
    struct arena arena;
    uint32_t version;
    slice file, name, about;
    slice dir; /* of the file, absolute: commands are run there, and `data` is found there */
    const struct node *root;
    struct text_pairs env; /* of all commands */
    slice before, after;   /* commands, of each trial */
    int64_t within_ns;     /* of these two */
    VEC(struct trials_node) nodes;
    VEC(struct trials_port) ports;
    VEC(struct trials_phase) phases;
    struct texts essential; /* names of operations whose failure counts; empty: of all */
    int64_t settle_ns;      /* between the last phase and invariants, alive, resources */
    struct trials_checkers checkers;

    uint32_t acts; /* bits of outfox_act: the experiments */
    int64_t delay_ns;
    struct texts policy_names; /* as written, at least one; rows of policies (policy.h) */
    uint32_t budget;           /* bsrr */
    double epsilon;
    uint32_t references; /* without faults, to learn what is usual */
    uint32_t control;    /* without faults, judged as if there were one */
    uint32_t repeats;    /* of a trial that is suspicious */
    uint64_t max_trials; /* of each policy and experiment */
    int64_t max_time_ns; /* of all */
    uint64_t seed;
    uint32_t parallel;                   /* trials at a time */
    struct texts harmed;                 /* names of nodes; empty: all */
    struct trials_patterns only, except; /* FILE:FUNCTION:CALLEE, each for slice_glob; no regex */
    VEC(struct trials_registrar) registrars; /* besides those that native/ knows */
    uint32_t depth;                          /* of direct calls that belong to a task */
};

/* Reads and checks a file ("-": standard input), or its text. 0, or -1 with *e; to be freed in any
 * case. */
int trials_load(struct trials *t, const char *path, struct err *e) MUST_USE;
int trials_parse(struct trials *t, slice text, struct err *e) MUST_USE;
void trials_free(struct trials *t);

/* The JSON Schema of such files. */
void trials_schema(struct buf *out);

/* What was understood, for people: outfox trials check. */
void trials_print(const struct trials *t, struct buf *out);

/* The place of a name; TRIALS_NONE: there is none. */
int32_t trials_node(const struct trials *t, slice name);
int32_t trials_port(const struct trials *t, uint32_t node, slice name);

/* May a site be harmed? As only and except say; callee of an origin: empty. */
bool trials_site_wanted(const struct trials *t, slice file, slice function, slice callee);

/* ---- variables: {port:NAME} {port:NODE.NAME} {dir} {dir:NODE} {node} ---- */

/* What a trial gives its nodes. */
struct trials_seats {
    const uint16_t *port; /* as trials.ports */
    const slice *dir;     /* as trials.nodes */
};

/* The text with values of variables, as seen from a node (that of the client, too). */
void trials_expand(const struct trials *t, const struct trials_seats *seats, uint32_t node,
                   slice text, struct buf *out);

/* The same as variables of the environment, one NAME=VALUE after the other through `add`:
 * OUTFOX_DIR, OUTFOX_NAME, OUTFOX_PORT_NAME of the node itself, OUTFOX_DIR_NODE and
 * OUTFOX_PORT_NODE_NAME of all; capitals, with _ for what is no letter and no digit. */
void trials_env(const struct trials *t, const struct trials_seats *seats, uint32_t node,
                void (*add)(void *user, slice name, slice value), void *user);

/* Operation `n` (from 0) of a built-in client: its text with key, value and n. */
void trials_operation(const struct trials_client *c, uint32_t n, struct buf *out);

#endif
