/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a trial: what was seen, made by the rig; what is suspicious about it and what that
 * means, added by judge.h. Moments are nanoseconds since the trial was armed; -1 where something did
 * not happen. All texts live in the result's arena.
 *
 *     rig: nodes, clients, lines, points, injection  -->  symptoms  -->  verdict  -->  a finding
 *
 * 1. A result says what was seen, not what was meant: a client that was not started has no
 *    operations and did not finish.
 * 2. `broken` says that the trial as such went wrong (a node did not become ready, and nothing had
 *    been injected): then nothing is concluded from it. */
#ifndef OUTFOX_TRIAL_RESULT_H
#define OUTFOX_TRIAL_RESULT_H

#include "trial/policy.h"

enum { TRIAL_OPS_MAX = 100000, TRIAL_LINES_MAX = 20000 }; /* of a client; of a node */

/* One operation of a client, in the order of their ends. */
struct trial_op {
    int64_t at_ns; /* when it ended */
    int64_t took_ns;
    slice name; /* the first word of what it says: SET; empty: it says nothing */
    bool ok;
};

struct trial_client {
    uint32_t phase, client; /* places in trials.phases and in its clients */
    bool started;
    bool finished; /* ended by itself in time, a command with exit code 0 */
    bool late;     /* it was killed because the time of the phase was over */
    int status;    /* of a command, as of waitpid */
    int64_t began_ns, ended_ns;
    VEC(struct trial_op) ops;
    slice said; /* by its first failure, or its last line if it did not finish */
};

enum trial_alive { ALIVE_NOT_ASKED, ALIVE_YES, ALIVE_NO };

enum trial_back {
    BACK_NOT_TRIED,
    BACK_READY, /* started once more on its data, it became ready */
    BACK_NOT,
};

struct trial_log_line {
    int64_t at_ns;
    slice text;
};

struct trial_node {
    bool ended; /* by itself, before the trial was over */
    int status; /* as of waitpid */
    int64_t ended_ns;
    enum trial_back back;
    enum trial_alive alive;        /* at the end, clients or not; of one that ended: NOT_ASKED */
    bool hung;                     /* it did not end when it was told to, and was killed */
    uint32_t threads, descriptors; /* at the end; 0: not known */
    VEC(struct trial_log_line)
    lines; /* of all that it printed and of its logs, since it was armed */
};

struct trial_place {
    slice function, file; /* empty: not known */
    uint32_t line;
};

/* outfox_injection in words. */
struct trial_injection {
    bool done;
    struct outfox_injection raw;
    int64_t at_ns;
    struct trial_place site;       /* the function that has the site */
    slice callee;                  /* empty: the function itself, an origin */
    struct trial_place state;      /* its function and block; function empty: in no state */
    slice variable;                /* that the state is about; empty: a beginning */
    slice task;                    /* "bioProcessBackgroundJobs"; empty: not known */
    slice why;                     /* it is a task: "thread (pthread_create)" */
    VEC(struct trial_place) stack; /* from the site's function outwards */
};

struct trial_invariant {
    bool asked, holds;
    slice said; /* the last line that it printed */
};

/* ---- what is wrong ---- */

/* In the order of their weight: the first one of a trial names its finding. */
enum symptom_kind {
#define SYMPTOM(ID, name, doc) SYMPTOM_##ID,
#include "trial/symptom.list"
    SYMPTOMS
};

struct trial_symptom {
    enum symptom_kind kind;
    uint32_t nodes;  /* bits: that show it */
    int32_t phase;   /* TRIALS_NONE: none in particular */
    slice text;      /* what was seen, a sentence */
    uint64_t shape;  /* the same for the same thing in another trial */
    bool suspicious; /* else it is as it should be, or says nothing by itself; `why` */
    const char *why;
};

enum trial_verdict {
    VERDICT_NONE,      /* not judged yet */
    VERDICT_TOLERATED, /* nobody noticed */
    VERDICT_EXPECTED,  /* noticed, and as it should be: `reason` says why */
    VERDICT_SUSPICIOUS,
    VERDICT_NOT_INJECTED, /* the request that was meant did not come */
    VERDICT_NOT_SURE,     /* the trial as such went wrong */
    VERDICTS
};

struct trial_result {
    struct arena arena;
    struct trial_order order;
    int64_t began_ns;                       /* wall time */
    int64_t took_ns;                        /* of the whole trial */
    int64_t over_ns;                        /* when the last phase had ended */
    slice broken;                           /* why it says nothing; empty: it does */
    slice dir;                              /* where its logs are */
    VEC(struct trial_node) nodes;           /* as trials.nodes */
    VEC(struct trial_client) clients;       /* all of all phases, in their order */
    VEC(struct trial_invariant) invariants; /* as trials.checkers.invariants */
    VEC(struct outfox_point) points;
    uint64_t requests, lost;
    uint32_t attached; /* processes that took part; 0 of a trial that should have some: broken */
    bool truncated;    /* more operations or lines than are kept */
    struct trial_injection injection;

    /* by judge.h */
    VEC(struct trial_symptom) symptoms;
    enum trial_verdict verdict;
    slice reason;
    uint32_t finding; /* which one it belongs to; UINT32_MAX: none */
};

/* For as many nodes, clients and invariants as there are: the rig fills them in. */
struct trial_result *trial_result_new(const struct trials *t, const struct trial_order *order);
void trial_result_free(struct trial_result *r);

/* Gives back what only judges need of a trial that is not suspicious: operations, lines, points. */
void trial_result_trim(struct trial_result *r);

/* The place of a client in `clients`. */
uint32_t trial_client_at(const struct trials *t, uint32_t phase, uint32_t client);

struct trial_seen trial_result_seen(const struct trial_result *r);

const char *trial_verdict_name(enum trial_verdict v);
const char *trial_purpose_name(enum trial_purpose p);
const char *symptom_name(enum symptom_kind k);
const char *symptom_doc(enum symptom_kind k);

#endif
