/* SPDX-License-Identifier: Apache-2.0
 *
 * compare: two campaigns held against each other. What is new, fixed, gone or changed: findings,
 * warnings, calls, dependencies, and how long calls take.
 *
 * 1. It is a function of two documents (outfox run --json, docs/json.md): numbers of findings and
 *    the order of lists mean nothing, and what a document does not have is not compared, and said.
 * 2. What is not there is only fixed, or gone, if the campaign would have shown it: one that ended
 *    early, or tried fewer modes, has just not seen it.
 * 3. The earlier document comes from a file: it may hold anything. */
#ifndef OUTFOX_REPORT_COMPARE_H
#define OUTFOX_REPORT_COMPARE_H

#include "base/err.h"
#include "base/vec.h"
#include "data/json.h"

struct style;

enum change {
    CHANGE_NEW,
    CHANGE_FIXED,  /* a finding or a warning is gone */
    CHANGE_GONE,   /* anything else is */
    CHANGE_UNSEEN, /* it was not seen, which proves nothing */
    CHANGE_CHANGED,
    CHANGES
};

extern const char *const change_names[CHANGES]; /* new fixed gone not-seen changed */

/* What is compared, in the order in which it is told. */
enum subject {
    SUBJECT_FINDING, /* of the expectation, a contract, or an oracle */
    SUBJECT_WARNING,
    SUBJECT_CALL,
    SUBJECT_DEPENDENCY,
    SUBJECT_PAIR,    /* two dependencies that are absorbed, but not together */
    SUBJECT_LATENCY, /* of a call, without faults */
    SUBJECTS
};

extern const char *const subject_fields[SUBJECTS]; /* of the document: findings warnings ... */

enum { DIFFERENCES_MAX = 8 };

/* A field of something that is there before and after. */
struct difference {
    const char *field;
    slice before, after; /* as text; empty: null */
};

struct changed {
    enum change change;
    const struct node *before, *after; /* as in the documents; NULL: it is not there */
    uint32_t n;
    struct difference differences[DIFFERENCES_MAX];
};

struct compared_scenario {
    slice name;
    const struct node *before, *after; /* NULL: it is not there */
    VEC(struct changed) lists[SUBJECTS];
    VEC(const char *) notes; /* sentences: what could not be compared, and what proves little */
};

struct comparison {
    const char *file;                        /* of the earlier document, as it was named */
    const struct node *before, *after;       /* the documents */
    VEC(struct compared_scenario) scenarios; /* as they are now, then those that are gone */
    VEC(const char *) notes;
    struct arena arena;
};

/* The document in a report of either kind, JSON or HTML. 0, or -1 with *e: what `file` is instead,
 * and what to do. The nodes are in the arena, with the bytes they need. */
int compare_read(struct arena *a, const char *file, slice bytes, const struct node **out,
                 struct err *e) MUST_USE;

/* The documents must live as long as what is made of them. */
void compare_make(struct comparison *out, const char *file, const struct node *before,
                  const struct node *after);
void compare_deinit(struct comparison *c);

/* Does nothing differ that was compared? */
bool compare_same(const struct comparison *c);

/* A section of the summary for people, and of the Markdown report; a value of a JSON document. */
void compare_text(const struct comparison *c, const struct style *style, struct buf *out);
void compare_markdown(const struct comparison *c, struct buf *out);
void compare_put(const struct comparison *c, struct json_out *j, const char *key);

#endif
