/* SPDX-License-Identifier: Apache-2.0
 *
 * What instrumented programs and outfox know of each other: the records that a compiler leaves in a
 * program, and the memory that its processes share with outfox while a trial lasts. Anything that
 * writes these records and reads this memory can be an instrumenter.
 *
 *   outfox cc --> program: sections of records --> outfox sites, outfox states
 *                    |                                   |
 *                 runtime  <== one shared file ==>  outfox trials
 *
 * 1. Records tell all about themselves: who reads them needs no table of functions.
 * 2. A decision needs no question: the file says what is armed, the process decides and says what it
 *    did. One fault in a trial: who changes `claimed` from 0 to 1 may inject, and nobody else.
 * 3. Between "armed" and "over" outfox writes nothing that processes read but `armed`. A process that
 *    has lost outfox runs on, unharmed and unharming.
 *    Whatever is wrong with the file, a process runs as if it were not instrumented: it believes no
 *    number of the file before it has held it against the file's size.
 * 4. The first 32 bytes of the file, and the first 4 of a record, mean the same in every version.
 * 5. Texts are found by offsets from the field that holds them, so records need no relocations. */
#ifndef OUTFOX_ABI_H
#define OUTFOX_ABI_H

#include <stdint.h>

#define OUTFOX_ABI 1

/* The variables that a process finds in its environment: the path of the shared file; its node's
 * number, in decimal; without the first it runs as if it were not instrumented. */
#define OUTFOX_ENV_TRIAL "OUTFOX_TRIAL"
#define OUTFOX_ENV_NODE  "OUTFOX_NODE"

/* For sources that want to say it themselves (they need not): this function may be made to return
 * its error, whatever the analysis thinks of it, or never. */
#define OUTFOX_MAY_FAIL __attribute__((annotate("outfox:may-fail")))
#define OUTFOX_MUST_NOT __attribute__((annotate("outfox:must-not-fail")))

/* ---- what a compiler leaves in a program ---- */

#define OUTFOX_SECTION_SITES     "outfox_sites"
#define OUTFOX_SECTION_STATES    "outfox_states"
#define OUTFOX_SECTION_FUNCTIONS "outfox_functions"
#define OUTFOX_SECTION_FACTS     "outfox_facts"

/* The first word of each record: its kind and this version. */
#define OUTFOX_SITE     (0x0f517e00u + OUTFOX_ABI)
#define OUTFOX_STATE    (0x0f57a700u + OUTFOX_ABI)
#define OUTFOX_FUNCTION (0x0ff01c00u + OUTFOX_ABI)

/* What fails at a site. */
enum outfox_site_kind {
    OUTFOX_CALL = 1, /* a call of a function of the system's libraries */
    OUTFOX_ORIGIN =
        2, /* a function of the program that can find an error itself: fails at its entry */
};

/* What the call is about; it says what `subject` of the hook is. */
enum outfox_subject {
    OUTFOX_SUBJECT_NONE,
    OUTFOX_SUBJECT_FD,     /* a descriptor: file, socket or pipe is told apart when it happens */
    OUTFOX_SUBJECT_STREAM, /* a FILE * */
    OUTFOX_SUBJECT_PATH,
    OUTFOX_SUBJECT_MEMORY,
};

/* What can be done at it: bits. */
enum outfox_act {
    OUTFOX_ERROR = 1, /* it returns an error, and does nothing */
    OUTFOX_DELAY = 2, /* it does what it should, later */
    OUTFOX_SHORT = 4, /* it does less than it was asked for */
};

/* How it says that it has failed. */
enum outfox_result {
    OUTFOX_RESULT_ERRNO = 1, /* returns `value`, and errno says why */
    OUTFOX_RESULT_NUMBER,    /* returns the error's number itself, as pthread_create does */
    OUTFOX_RESULT_VALUE,     /* returns `value`; errno stays as it is */
};

/* Where an error is possible: bits. */
enum outfox_where {
    OUTFOX_ON_FILE = 1,
    OUTFOX_ON_SOCKET = 2,
    OUTFOX_ON_PIPE = 4,
    OUTFOX_ON_OTHER = 8, /* epoll, eventfd, terminals ... */
    OUTFOX_ON_ANY = 15,
};

enum { OUTFOX_ERRORS = 12 };

struct outfox_site {
    uint32_t magic;                 /* OUTFOX_SITE */
    int32_t file, function, callee; /* texts: at &field + field; callee of an origin: "" */
    uint32_t line;                  /* 0: not known */
    uint16_t column;
    uint8_t kind;    /* outfox_site_kind */
    uint8_t subject; /* outfox_subject */
    uint8_t can;     /* bits of outfox_act */
    uint8_t result;  /* outfox_result */
    uint8_t errors;  /* so many of: */
    uint8_t reason;  /* of an origin, why it counts as one: outfox_reason */
    struct {
        uint8_t number; /* errno */
        uint8_t where;  /* bits of outfox_where */
    } error[OUTFOX_ERRORS];
    int32_t value; /* what is returned; a pointer: 0 */
    uint32_t
        names; /* a hash of the three texts, any: it tells apart what the same lines of two files
                       say. 0: none */
    uint32_t reserved;
};

enum outfox_reason {
    OUTFOX_REASON_NONE,
    OUTFOX_REASON_NEGATIVE,  /* returns a negative constant where it finds something wrong */
    OUTFOX_REASON_NULL,      /* returns NULL there, and callers treat that as an error */
    OUTFOX_REASON_CODE,      /* returns a constant that callers treat as an error */
    OUTFOX_REASON_ANNOTATED, /* the source says so */
};

/* A function that has states, or that others may run as a task. */
struct outfox_function {
    uint32_t magic;     /* OUTFOX_FUNCTION */
    int32_t file, name; /* texts */
    uint32_t line;
    uint32_t flags;   /* bits of outfox_function_flag */
    uint32_t enabled; /* 1: its states count. The runtime writes it, so its section is writable */
    uint32_t names;   /* as of a site */
    uint32_t reserved;
};

enum outfox_function_flag {
    OUTFOX_FUNCTION_LOCAL = 1,   /* static */
    OUTFOX_FUNCTION_ADDRESS = 2, /* its address is taken in its unit */
    OUTFOX_FUNCTION_MAIN = 4,
};

/* A block that a function enters because of a state variable; or its beginning. */
struct outfox_state {
    uint32_t magic;   /* OUTFOX_STATE */
    int32_t function; /* its struct outfox_function, at &function + function */
    int32_t variable; /* text: the state variable, as "server.aof_state"; "" for a beginning */
    uint32_t line;    /* of the block; 0: not known */
    uint32_t branch;  /* line of the branch; 0: a beginning, or not known */
    uint16_t index;   /* in its function, from 0: its beginning */
    uint16_t flags;   /* 0 */
    uint32_t reserved[2];
};

/* OUTFOX_SECTION_FACTS is text that is not loaded: lines, a unit after the other, words separated by
 * tabs. Names are those of the linker.
 *
 *   unit     FILE                       what follows is of this unit, until the next
 *   function NAME LINE local|global     it is defined here
 *   call     CALLER CALLEE              a direct call; each pair once
 *   passed   CALLER CALLEE N FUNCTION   a function's address is argument N (from 0) of a call
 *   stored   WHERE FUNCTION             it is kept: in a global's initialiser or a field, WHERE is its name
 *   forwards CALLER M CALLEE N          CALLER gives its own parameter M, a function, on as argument N: what
 *                                       wraps pthread_create starts threads
 *   loop     CALLER CALLEE              a call in a loop of CALLER, of a function of others that waits (by
 *                                       its name: epoll_wait, poll); each pair once
 *
 * An unknown first word is skipped. */

/* ---- what a process has of the runtime ---- */

#ifdef __cplusplus
extern "C" {
#endif

/* The names carry the version, so that parts of a program that were built with another one have a
 * runtime of their own. Each program and shared library brings a runtime; the first that is loaded serves
 * all. For that its data are unique symbols (STB_GNU_UNIQUE), found also across dlopen with RTLD_LOCAL;
 * a program shows its own to what it loads later if it is linked with
 *     -Wl,--export-dynamic-symbol=outfox_rt1_*
 * Without that, what it loads with dlopen has a runtime of its own, to which the states of the program
 * are not known; faults are still one in a trial, for the file says so. */
#define outfox_on     outfox_rt1_on
#define outfox_now    outfox_rt1_now
#define outfox_hook   outfox_rt1_hook
#define outfox_module outfox_rt1_module
#define outfox_gone   outfox_rt1_gone

/* Not 0: this process takes part in a trial. Code looks before it calls the hook. */
extern int outfox_on;

/* The state that this thread is in; NULL: in none. A function whose record is not enabled writes
 * elsewhere. On return a function restores what was. Signal handlers read it: no model but initial-exec,
 * which calls nobody. */
extern __thread const struct outfox_state *outfox_now __attribute__((tls_model("initial-exec")));

/* Before the call of a site. subject: a descriptor, a FILE * or 0. count: NULL, or how much the call
 * is asked for, which may be made less. caller: where the function with the site returns to.
 * 0: go on, errno is as it was. Else the call must not be made: errno is set where `result` of the site
 * says so, and *value is what is to be returned. It may be called from signal handlers, between vfork
 * and exec, and on any stack (it needs 1 KiB of it); it waits for nobody unless the fault is a delay. */
int outfox_hook(const struct outfox_site *site, long subject, unsigned long *count,
                const void *caller, long *value);

/* Each program and shared library says at its start what it has, and before it is unloaded that it goes.
 * bias: what an address has more than in the file of the module, where it is 0 if the module is loaded
 * where it was linked to. An unknown one: code and code_end are NULL. */
struct outfox_part {
    const struct outfox_site *sites, *sites_end;
    const struct outfox_state *states, *states_end;
    struct outfox_function *functions, *functions_end;
    const char *code, *code_end; /* where it is loaded */
    uintptr_t bias;
};
void outfox_module(const struct outfox_part *part);
void outfox_gone(const struct outfox_part *part);

#ifdef __cplusplus
}
#endif

/* ---- the shared file ---- */

#define OUTFOX_TRIAL_MAGIC 0x316c616972746f66ull /* "fotrial1" in memory */

enum {
    OUTFOX_NODES = 16,
    OUTFOX_MODULES = 32,
    OUTFOX_FRAMES = 24,
    OUTFOX_PATH = 240,
    OUTFOX_SOCKET = 108,
    OUTFOX_PROBES = 64,
};

#define OUTFOX_NO_MODULE UINT16_MAX
#define OUTFOX_NO_STATE  UINT32_MAX

/* Which request is granted. A request is a hit of a site, while the trial is armed, at which what the
 * rule wants (`act`) is possible. What a descriptor is takes a system call to know. So it is asked at the
 * first hits of a point, until it was possible once: from then on hits of the point are requests. It is
 * asked again, and more strictly (is it a pipe to oneself?), before a request is granted; a request at
 * which it is not possible is passed over, and the next one that the rule allows may be granted. */
enum outfox_rule {
    OUTFOX_RULE_NONE,  /* none: they are counted. `act` may have several bits, 0 stands for all */
    OUTFOX_RULE_POINT, /* the nth of the point whose key is `key`, or a later one */
    OUTFOX_RULE_STATE, /* in the state `key`: each with the chance `chance`, by seed, point and nth */
    OUTFOX_RULE_NEW,   /* the first in a state whose `seen` is 0; who has claimed sets it to 1 */
    OUTFOX_RULE_REQUEST, /* the nth request of all, or a later one */
};

/* A state of a node: the key of OUTFOX_RULE_STATE. state: index in the module, UINT32_MAX: none. */
#define OUTFOX_STATE_KEY(node, module, state)                                                      \
    ((uint64_t)(node) << 48 | (uint64_t)(module) << 32 | (uint32_t)(state))

/* What is counted: requests of a site, in a state, for a caller. In a table of `n_points` (a power of
 * two) from `points` on (a multiple of 64: threads that count different points shall not share a line of
 * the cache): open addressing, the first place is key % n_points, then the next ones, OUTFOX_PROBES in
 * all. Who changes `key` from 0 to its own fills the rest and sets `filled`. */
struct outfox_point {
    uint64_t key;    /* outfox_point_key; 0: free */
    uint64_t caller; /* address in the file of `caller_module`; 0: in none that we know */
    uint32_t filled;
    uint32_t requests;
    uint16_t node, module, state_module, caller_module; /* OUTFOX_NO_MODULE: none */
    uint32_t site, state;                               /* indices; OUTFOX_NO_STATE */
    uint64_t reserved[3];
};

static inline uint64_t outfox_mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

static inline uint64_t outfox_point_key(const struct outfox_point *p)
{
    uint64_t h = outfox_mix(0x6f7574666f78ull, (uint64_t)p->node << 32 | p->module);
    h = outfox_mix(h, (uint64_t)p->site << 32 | p->state);
    h = outfox_mix(h, (uint64_t)p->state_module << 32 | p->caller_module);
    h = outfox_mix(h, p->caller);
    return h ? h : 1;
}

/* A program or shared library. Known ones are entered by outfox before the trial, with what is enabled
 * in them; others by the process that meets them first. */
struct outfox_module_entry {
    uint64_t id; /* outfox_part_id; 0: free */
    uint32_t filled;
    uint32_t sites, states, functions;
    uint64_t
        enabled; /* offset in the file: a byte for each function, 1: its states count; 0: none do */
    uint64_t muted; /* likewise for each site, 1: never a request; 0: none is */
    uint64_t seen;  /* likewise for each state of node 0, then of node 1 ...; 0: not kept */
    uint64_t reserved;
    char path[OUTFOX_PATH]; /* of the file; longer ones: its end */
};

/* The same in every process and every run of the same file: of the records, which hold no addresses. */
static inline uint64_t outfox_part_id(const struct outfox_part *part)
{
    uint64_t h = OUTFOX_TRIAL_MAGIC;
    for (const struct outfox_site *s = part->sites; s < part->sites_end; s++)
        h = outfox_mix(outfox_mix(h, (uint64_t)s->line << 32 | (uint64_t)s->column << 16 |
                                         (uint64_t)s->kind << 8 | s->errors),
                       s->names);
    h = outfox_mix(h, (uint64_t)(part->sites_end - part->sites) << 32 |
                          (uint64_t)(part->states_end - part->states));
    for (const struct outfox_state *s = part->states; s < part->states_end; s++)
        h = outfox_mix(h, (uint64_t)s->line << 32 | s->branch);
    for (const struct outfox_function *f = part->functions; f < part->functions_end; f++)
        h = outfox_mix(h, (uint64_t)f->line << 32 | f->names);
    return h ? h : 1;
}

/* Where a call returns to: the call is before it. */
struct outfox_frame {
    uint16_t module; /* OUTFOX_NO_MODULE: in none of ours */
    uint16_t reserved[3];
    uint64_t address; /* in the file of the module; without one: in the process */
};

/* What was done, written by who has claimed it; whole when `done` is 1. */
struct outfox_injection {
    uint32_t done;
    uint32_t act;              /* outfox_act */
    struct outfox_point point; /* `requests`: which of the point it was, from 1 */
    int32_t error;             /* errno; 0: none */
    int32_t pid, tid;          /* 0: not known */
    uint32_t where;        /* outfox_where: what the subject was; 0: no descriptor, or not known */
    int64_t at_ns;         /* CLOCK_MONOTONIC */
    uint64_t asked, given; /* OUTFOX_SHORT: how much */
    uint64_t request;      /* which of all; 0: not counted */
    uint32_t frames;
    uint32_t reserved;
    struct outfox_frame frame[OUTFOX_FRAMES]; /* from the site's function outwards */
};

struct outfox_trial {
    uint64_t magic;   /* OUTFOX_TRIAL_MAGIC */
    uint32_t abi;     /* OUTFOX_ABI of outfox */
    uint32_t refused; /* the version of a runtime that did not take part because of that; 0: none */
    uint64_t bytes;   /* of the file */
    uint64_t reserved;

    /* What outfox says. All but `armed` is written while that is 0. */
    uint32_t
        armed;     /* 1: requests count and may be granted; 0 before all nodes are ready, and at the
                        end: delays end then. Processes that find outfox dead set it to 0, too */
    uint32_t rule; /* outfox_rule */
    uint32_t act;  /* one of outfox_act */
    uint32_t chance; /* of 2^32 */
    uint64_t key, nth, seed;
    uint64_t delay_ns;
    int32_t error; /* OUTFOX_ERROR: this one alone, where it is possible; 0: any, by the seed */
    uint32_t reserved2;
    uint64_t nodes; /* bits: the nodes that may be harmed */
    uint64_t quiet; /* bits: nodes whose processes have filters for system calls, which may end them
                       when they make one that is not theirs: no delays and short counts, no errors
                       that depend on what a descriptor is, two frames, no process number, no wink */
    uint64_t points; /* offset */
    uint32_t n_points;
    uint32_t reserved_1;
    char socket[OUTFOX_SOCKET]; /* path of a datagram socket for struct outfox_event; empty: none */
    uint32_t reserved_2[7];

    /* At 256. What processes change, on a line of the cache that holds nothing else. */
    uint64_t
        requests;  /* so far; rules but NONE and REQUEST do without: then it is the points' sum */
    uint64_t lost; /* not counted by point: the table was full */
    uint32_t claimed;  /* 1: somebody injects or has injected */
    uint32_t attached; /* processes that took part; what they have forked is not counted */
    uint64_t reserved_3[5];

    struct outfox_injection injection;
    struct outfox_module_entry module[OUTFOX_MODULES];
};

/* A wink; all that matters is in the file. */
enum outfox_event_kind { OUTFOX_EVENT_UP = 1, OUTFOX_EVENT_INJECTED = 2 };

struct outfox_event {
    uint32_t abi, kind;
    int32_t pid;
    uint32_t node;
};

#endif
