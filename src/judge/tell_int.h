/* SPDX-License-Identifier: Apache-2.0
 *
 * How oracles say something, and the words for it. */
#ifndef OUTFOX_JUDGE_TELL_INT_H
#define OUTFOX_JUDGE_TELL_INT_H

#include "judge/judge_int.h"

/* What is said once: something about a call (numbers on its path do not count). Where an oracle
 * has several things to say about one call, `which` tells them apart. A uid alone is a topic. */
typedef uint64_t topic;

static inline topic topic_of(uid call, uint32_t which)
{
    return (topic)which << 32 | call;
}

/* The oracle says something about this because of this run. True: it is new, or this run
 * shows it with a smaller faultload: judge_tell must follow. */
bool judge_wants(struct judge *j, const struct view *v, enum oracle o, topic t) MUST_USE;

/* v->calls[] as evidence, and the sentence. Roles live as long as the process. */
struct witness {
    uint32_t call;
    const char *role;
};
void judge_tell(struct judge *j, const struct view *v, enum oracle o, topic t,
                const struct witness *witness, uint32_t n, const char *format, ...)
    __attribute__((format(printf, 7, 8)));

/* At the end, from reactions: the evidence is r's call and, where it has one, `instead`. */
void judge_conclude(struct judge *j, enum oracle o, topic t, const struct reaction *r,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

/* At the end: the sentence that was told, to be taken back (NULL) or said again; NULL: there is
 * none.
 */
const char **judge_said(struct judge *j, enum oracle o, topic t);

/* At the end: of what the oracle says about one thing, as `about` has it (UID_NONE: nothing that
 * concerns this), one remark is enough. The one with the smallest faultload stays. */
void judge_pick(struct judge *j, enum oracle o,
                uid (*about)(struct judge *j, const struct remark *r));

/* "SERVICE INTERFACE" of a call, for sentences; lives as long as the judge. */
const char *judge_name(struct judge *j, uid call);

/* "503", "timeout" ...; the service of a call; likewise. */
const char *judge_outcome(struct judge *j, outcome o);
const char *judge_label(struct judge *j, label l);
const char *judge_service(struct judge *j, uid call);

#endif
