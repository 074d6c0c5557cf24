/* SPDX-License-Identifier: Apache-2.0
 *
 * The oracles, each or a few a file oracle_*.c: how they say something, what they share, and what
 * judge.c calls of them. Functions of a view see one run, those of the judge conclude at the end. */
#ifndef OUTFOX_JUDGE_ORACLE_INT_H
#define OUTFOX_JUDGE_ORACLE_INT_H

#include "judge/judge_int.h"

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

struct contrast {
    /* Is the failure passed over in silence? Does it show? (Neither is possible.) */
    bool (*silent)(const struct judge *j, const struct reaction *r);
    bool (*shows)(const struct reaction *r);
    void (*tell)(struct judge *j, const struct reaction *silent, const struct reaction *shows);
};

/* Tells once of every dependency for which there are both. Only reactions to lasting failures
 * (every try failed) are shown to the functions. */
void contrast_find(struct judge *j, const struct contrast *c);

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

/* Their part of judge_doubts: the faultloads of which one more run would help. */
uint32_t pace_doubts(const struct judge *j, faultload *out, uint32_t n, uint32_t most);
uint32_t slow_doubts(const struct judge *j, faultload *out, uint32_t n, uint32_t most);
uint32_t wait_doubts(struct judge *j, faultload *out, uint32_t n, uint32_t most);

/* One more, unless it is among the n already; returns how many there are. */
uint32_t doubt_add(faultload *out, uint32_t n, faultload f);

/* A run that was made because of wait_doubts. */
void wait_learn(const struct view *v);

/* Frees what these remember; NULL: nothing. */
void slow_memory_free(struct slow_memory *m);
void waits_free(struct waits *w);

#endif
