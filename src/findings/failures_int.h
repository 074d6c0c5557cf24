/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of failures: failures.c (what a failure is, and which are the same), failures_sort.c
 * (findings made of them). */
#ifndef OUTFOX_FINDINGS_FAILURES_INT_H
#define OUTFOX_FINDINGS_FAILURES_INT_H

#include "base/index.h"
#include "findings/failures.h"

/* A call that was made to fail. */
struct hit {
    uid call, point; /* point: that of the fault, which may stand for several calls */
    mode mode;
    uid top;   /* the highest caller that was seen to fail because of it, or the call itself */
    label way; /* in which that failed */
    bool again, told; /* an earlier hit has its point, its top */
};

/* Hits at tries of one call. */
struct place {
    uint64_t key;   /* of the call, whichever try it is */
    uid call;       /* the first of the tries that failed of it */
    mode last;      /* how the last of them was hit */
    uint32_t tries; /* in that run, hit or not */
    uint32_t hits;  /* tries that were hit, or failed because of a fault below */
    bool always;    /* none of them succeeded */
    bool same;      /* all hits are of one mode */
};

struct failure {
    faultload faultload;
    const char *why, *detail;
    outcome status;
    uint32_t number;
    enum finding_kind kind;
    bool shrunk;
    uint32_t n_hits, n_places;
    struct hit *hits; /* in the order of the trace */
    struct place *places;
    uint64_t mask; /* a bit of each place's key */
};

/* Failures put into groups, each of which is a finding. */
struct sorting {
    VEC(uint32_t) heads; /* the failure that stands for each group */
    struct map at;       /* symptom and places -> group */
    struct map failed;   /* symptom and faults, and symptom and what callers saw of them */
};

struct failures {
    const struct names *names;
    const struct faultloads *fl;
    VEC(struct failure) list;
    struct map own; /* calls that came after a success of the one before them, by key and number */
    struct map met; /* and by uid */
    struct sorting now;
    struct arena keep, scratch;
};

/* The same for all tries of a call, and of its callers. */
uint64_t failures_call_key(const struct failures *f, uid u);

/* The place with this key; NULL: there is none. */
struct place *failure_place(const struct failure *x, uint64_t key);

/* A key of its symptom and places. */
uint64_t failure_key(const struct failure *x);

/* Keys of the hits at the places of `head` and below them (NULL: of all): the faults, and what
 * their callers saw of them. False: all hits are there. */
bool failure_hits(const struct failures *f, const struct failure *x, const struct failure *head,
                  uint64_t *faults, uint64_t *seen);

/* The group that it belongs to, or UINT32_MAX. */
uint32_t failure_group(const struct failures *f, const struct sorting *s, const struct failure *x);

void sorting_deinit(struct sorting *s);

#endif
