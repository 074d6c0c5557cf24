/* SPDX-License-Identifier: Apache-2.0
 *
 * The judge, and the oracles, each or a few a file oracle_*.c: how they say something, what they
 * share, and what judge.c calls of them. Functions of a view see one run, those of the judge
 * conclude at the end. */
#ifndef OUTFOX_JUDGE_ORACLE_INT_H
#define OUTFOX_JUDGE_ORACLE_INT_H

#include "judge/judge_int.h"

/* ---- the judge: what is remembered over runs ---- */

/* How soon a call is made again after it failed, over all runs: oracle_retry.c. */
struct pace {
    int64_t least_ns;
    uint32_t n, late; /* how often; and so late that it is a wait in real runs, too */
    faultload again;  /* passed, and the call failed twice in the same way; FAULTLOAD_EMPTY: none */
};

/* An answer in which something is lost, for the end: by then more is known of what is usual. */
struct lost {
    uid path, request; /* of the call to blame (judge_path), and of the client */
    uint32_t body;     /* in the pool */
};

/* What was found in bodies, so that each is read once: oracle_body.c. */
enum { BODIES_REMEMBERED = 256 };
struct body_memory {
    uint64_t hash; /* 0: none yet */
    bool speaks;
};

/* What real runs show of a part that was slow with a fault at some call: oracle_slow.c. */
struct slow {
    uid part;
    uint64_t fault; /* of this kind */
    uint32_t runs;  /* that were slow */
    faultload faultload;
};
struct slow_memory {
    struct map faults; /* kind of fault -> runs */
    struct map at;     /* (part, fault) */
    VEC(struct slow) all;
};

/* A call that was given up, and for how long its handler waits for it: oracle_timeout.c. */
struct wait {
    uid call;
    mode mode;
    int64_t took_ns;
    bool tried; /* whether a call of its callee is waited for as long */
};

struct judge {
    struct judge_options opt;
    const struct judge_settings *set;
    int64_t limit_ns;  /* how long the scenario may take under one fault; 0: not said */
    struct arena keep; /* sentences */
    struct calm calm;
    struct intern pool; /* bodies */
    VEC(struct lost) lost;
    struct view view; /* reused from run to run */
    VEC(struct reaction) reactions;
    struct map reaction_at; /* (group, label, persistent, injected) */
    VEC(struct remark) said;
    VEC(uint64_t) said_in;   /* the last run that each was counted in */
    uint32_t n_given;        /* said[] that judge_news has looked at */
    VEC(struct remark) late; /* of oracles at the end: made anew each time */
    struct map said_at;      /* (oracle, subject) */
    struct map called;       /* services that were called, in whatever run */
    struct map decided;      /* (check, call): the call is left out when the check fails */
    struct map asked;        /* uid -> its request, where known; 0: not always the same */
    bool complete;
    VEC(uint8_t) effects;    /* by uid: enum effect + 1 */
    VEC(uid) paths;          /* by uid: judge_path, where it is known */
    struct dep_memory *deps; /* deps.c; NULL: no run was shown */
    struct body_memory bodies[BODIES_REMEMBERED];
    VEC(struct pace) paces;
    struct map pace_at; /* (call, outcome) */
    bool timed;         /* runs are real: times vary */
    struct slow_memory slow;
    VEC(struct wait) waits;
    struct map wait_at; /* judge_path of the call */
};

/* The effect of a call, remembered. */
enum effect judge_effect(struct judge *j, uid call);

/* The same with the first number everywhere: which try it is, or of which item, does not count. */
uid judge_path(struct judge *j, uid call);

/* Of two faultloads that show the same, is a to be shown rather than b? Whichever was run first. */
bool judge_prefers(const struct judge *j, faultload a, faultload b);

/* What this run says about dependencies. */
void deps_learn(const struct view *v);
void deps_memory_free(struct dep_memory *m); /* NULL: nothing */

/* ---- remarks: each thing is said once, with the smallest faultload that shows it ---- */

/* What is said once: something about a call (numbers on its path do not count). Where an oracle
 * has several things to say about one call, `which` tells them apart. A uid alone is a topic. */
typedef uint64_t topic;

static inline topic topic_of(uid call, uint32_t which)
{
    return (topic)which << 32 | call;
}

/* The run shows what the oracle says about this, and is counted. True: it is new, or this run shows
 * it with a smaller faultload: remark_write must follow. */
bool remark_due(const struct view *v, enum oracle o, topic t) MUST_USE;

/* v->calls[] as evidence, and the sentence. Roles live as long as the process. */
struct witness {
    uint32_t call;
    const char *role;
};
void remark_write(const struct view *v, enum oracle o, topic t, const struct witness *witness,
                  uint32_t n, const char *format, ...) __attribute__((format(printf, 6, 7)));

/* At the end, from reactions: the evidence is r's call and, where it has one, `instead`. */
void remark_conclude(struct judge *j, enum oracle o, topic t, const struct reaction *r,
                     const char *format, ...) __attribute__((format(printf, 5, 6)));

/* At the end: what runs have shown, to be taken back by `why` = NULL. The one about this; and the
 * next one of an oracle after r (NULL: the first). NULL: there is none. */
struct remark *remark_find(struct judge *j, enum oracle o, topic t);
struct remark *remark_next(struct judge *j, enum oracle o, const struct remark *r);

/* At the end: of what the oracle says about one thing, as `about` has it (UID_NONE: nothing that
 * concerns this), one remark is enough. The one with the smallest faultload stays. */
void remarks_pick(struct judge *j, enum oracle o, uid (*about)(const struct remark *r));

/* Was it said of some of the points of f already? The modes do not count: what one shows, others
 * show as well. */
bool remark_smaller(struct judge *j, enum oracle o, faultload f);

/* At the end: the larger one may have come first. */
void remarks_drop_larger(struct judge *j, enum oracle o);

/* ---- parts of sentences; they live as long as the judge ---- */

const char *say_name(struct judge *j, uid call); /* "SERVICE INTERFACE" */
const char *say_service(struct judge *j, uid call);
const char *say_outcome(struct judge *j, outcome o); /* "503", "timeout" ... */
const char *say_label(struct judge *j, label l);

/* How a call ended for its caller: "answered 503", "did not answer in time" ... */
const char *say_fate(struct judge *j, outcome seen);

/* ---- words: what is read out of paths, names of methods and bodies, and what answers say. A word
 * is a run of letters; `userError` and `user_error` have two ---- */

enum { WORD_MAX = 32 };

/* Something to look for: a word in small letters, and the one that must stand before it (NULL:
 * whatever). A list of them ends with a row of NULL. */
struct word {
    const char *word, *before;
};

/* The next word of *rest, in small letters and cut to WORD_MAX - 1 bytes; false: there is none. */
bool word_next(slice *rest, char out[WORD_MAX]);

/* The first row that the text has; NULL: none. */
const struct word *word_find(const struct word *list, slice text);

/* Does an interface sound like that of a health check? */
bool sounds_like_check(slice interface);

/* Does it sound as if it took something back, or put an end to it? DELETE, cancel, refund ... */
bool sounds_like_undo(slice interface);

/* Answers by which a service says that it could not do its work. */
bool answer_is_error(outcome o);

/* Answers that say that the request is wrong. Not: too late, too many, too early, and the failed
 * dependency, which is the truth; of gRPC not: resource exhausted, aborted. */
bool answer_blames(outcome o);

/* Does the body that a client received speak of an error that the fault-free one does not know?
 * Keys with a word of errors (error, exception, failed ...) under which something stands that was
 * not there before, and, with `values`, texts with such a word in new or changed places. What is no
 * JSON is compared by its words, with `values` only. Of bodies of any size and content; what is
 * volatile does not count. */
enum { BODY_QUOTE_MAX = 120 };
struct body_error {
    char quote[BODY_QUOTE_MAX]; /* as it stands in the body, printable and cut */
};
bool body_find_error(const struct mask *was, slice now, bool values, struct body_error *out);

/* ---- contrasts: of one dependency, an error answer that is passed over in silence, and another
 * one, no graver, that is not. Then the silence is not meant ---- */

enum contrast { CONTRAST_NEITHER, CONTRAST_SILENT, CONTRAST_SHOWS };

/* Tells once of every dependency for which there are both. Only reactions to lasting failures
 * (every try failed) are shown to `side`. */
void contrast_find(struct judge *j,
                   enum contrast (*side)(const struct judge *j, const struct reaction *r),
                   void (*tell)(struct judge *j, const struct reaction *silent,
                                const struct reaction *shows));

/* ---- the oracles ---- */

void oracle_cause(const struct view *v);     /* failure-without-cause */
void oracle_status(const struct view *v);    /* wrong-status: forwarded, and blamed on the caller */
void oracle_status_end(struct judge *j);     /* wrong-status: hidden in one mode, not in others */
void oracle_hidden(const struct view *v);    /* hidden-error: text of errors in the body */
void oracle_hidden_end(struct judge *j);     /* hidden-error: of hard dependencies */
void oracle_lost(const struct view *v);      /* lost-value */
void oracle_lost_end(struct judge *j);       /* lost-value: what hidden-error does not say */
void oracle_check(const struct view *v);     /* check-then-act */
void oracle_check_end(struct judge *j);      /* check-then-act: does the check decide? */
void oracle_retry(const struct view *v);     /* retry-without-effect */
void oracle_retry_end(struct judge *j);      /* retry-without-effect: is it the habit? */
void oracle_duplicate(const struct view *v); /* duplicate-effect */
void oracle_duplicate_end(struct judge *j);  /* duplicate-effect: of what is needed */
void oracle_storm(const struct view *v);     /* retry-storm, of one handler */
void oracle_storm_end(struct judge *j);      /* retry-storm, nested */
void oracle_uneven_end(struct judge *j);     /* uneven-retry, uneven-fallback */
void oracle_fallback(const struct view *v);  /* fallback-to-failed, fallback-worse */
void oracle_fallback_end(struct judge *j);   /* fallback-unreached */
void oracle_timeout(const struct view *v);   /* no-timeout, inverted-timeouts, over-limit */
void oracle_effects(const struct view *v);   /* partial-effects, and declared ones skipped */
void oracle_effects_end(struct judge *j);    /* skipped-effect, of hard dependencies */
void oracle_slow(const struct view *v);      /* slow-elsewhere */
void oracle_slow_end(struct judge *j);       /* slow-elsewhere: is it no chance? */

/* After this failure there is a wait before the call is made again, always. */
bool pace_waits(struct judge *j, uid call, outcome seen);

/* Faultloads of which one more run would help, each once: judge_doubts. */
struct doubts {
    faultload *at;
    uint32_t n, most;
};
void doubt_add(struct doubts *d, faultload f);
void pace_doubts(const struct judge *j, struct doubts *out);
void slow_doubts(const struct judge *j, struct doubts *out);
void wait_doubts(struct judge *j, struct doubts *out);

/* A run that was made because of wait_doubts. */
void wait_learn(const struct view *v);

#endif
