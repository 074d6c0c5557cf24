/* SPDX-License-Identifier: Apache-2.0
 *
 * What is remembered of runs to know dependencies: deps_learn.c fills it in, deps.c reads it.
 *
 * A run says something about a dependency when all its faults are at or below calls of it, whatever
 * their numbers; or, of one that is only called after faults, all but those that lead to it. */
#ifndef OUTFOX_JUDGE_DEPS_INT_H
#define OUTFOX_JUDGE_DEPS_INT_H

#include "core/dependency.h"
#include "judge/judge_int.h"

/* A call that is made without faults. */
struct dep_usual {
    uid call;
    uint32_t siblings; /* how often one handler makes it */
    outcome seen;
    bool exempt;
};

/* A call that is only made with faults. */
struct dep_extra {
    uid call;
    faultload after;
    uint64_t cause; /* a number for the calls that are faulted in it */
    bool fails;     /* the request, of that alone */
    struct dep_causes causes;
};

/* deps_cause.c: adds one, unless what is known already is enough for it. */
void dep_causes_add(const struct names *names, struct dep_causes *all, const struct dep_cause *c);

struct dep_fact {
    uid call;
    uint32_t worth; /* a run that shows it better replaces it */
    struct dep_way way;
};

struct dep_memory {
    VEC(struct dep_usual) usual;
    VEC(struct dep_extra) extra;
    VEC(struct dep_fact) facts;
    VEC(struct dep_pair) both;     /* the only ones that were faulted in a run that failed */
    struct map usual_at, extra_at; /* call */
    struct map made;               /* (cause, call): it is made then, if nothing else fails */
    struct map fact_at;            /* (call, label, lasting) */
    struct map both_at;            /* (call, call) */
};

#endif
