/* SPDX-License-Identifier: Apache-2.0
 *
 * event: what happens in a campaign, as values to one sink. Progress, findings as they come, and
 * `--events FILE` read it; whoever wants to watch a campaign needs nothing else.
 *
 *   campaign, [run-begins, run]*, learned, [run-begins, run, finding, remark, note ...]*,
 *   report, [finding, remark, reason, skip]*, end
 *
 * 1. A run that was restored from a store is told like one that was made, and says so.
 * 2. A finding is told as soon as it is known, and again when it was shrunk and run once more. All
 *    that the report says of findings, remarks and what was skipped follows between `report` and
 *    `end`, and takes the place of what was told before.
 * 3. The text of an event is one line of JSON (docs/json.md). It says enough to count with: the
 *    events of a campaign, taken by summary_event, give the figures of its summary. */
#ifndef OUTFOX_CORE_EVENT_H
#define OUTFOX_CORE_EVENT_H

#include "base/arena.h"
#include "core/run.h"
#include "core/summary.h"

enum { EVENT_VERSION = 1 };

enum event_type {
    EVENT_CAMPAIGN,   /* it begins */
    EVENT_AGAIN,      /* it starts over: what was seen so far was misread */
    EVENT_LEARNED,    /* the fault-free runs are over */
    EVENT_LEVEL,      /* how the calls of one service are known */
    EVENT_RUN_BEGINS, /* a run is under way */
    EVENT_RUN,        /* it ended, and counts */
    EVENT_FINDING,
    EVENT_REMARK,  /* what an oracle says */
    EVENT_REASON,  /* why some runs cannot be relied on */
    EVENT_SKIP,    /* what a policy or a reduction saved */
    EVENT_NOTE,    /* for whoever reads the report */
    EVENT_WARNING, /* for whoever watches */
    EVENT_WAITING, /* what is waited for, now and then; for whoever watches */
    EVENT_DIED,    /* a service */
    EVENT_RESTARTED,
    EVENT_REPORT, /* what follows is what its report says */
    EVENT_END,
    EVENT_TYPES
};

extern const char *const event_type_names[EVENT_TYPES];

/* What a run counts as in the figures of the search. */
enum event_counted {
    COUNTED_NOT, /* the campaign asked for it, not the search */
    COUNTED_RUN,
    COUNTED_REPEAT,
    COUNTED_AUDIT,
    COUNTED_KINDS
};

/* How far a finding or remark is: just seen; made sure of, as well as may be in passing; as it is
 * reported. */
enum event_stage { STAGE_FOUND, STAGE_TOLD, STAGE_FINAL, STAGES };

/* Fields that a type does not have are zero; event.c has the table. Texts live during the call. */
struct event {
    enum event_type type;
    int64_t at_ns;             /* since the campaign began, in this process */
    const char *scenario;      /* NULL: it is of the whole system */
    const char *system, *file; /* CAMPAIGN */
    const char *modes, *order; /* modes with commas */
    uint64_t max_runs;         /* 0: no bound */
    int64_t max_time_ns;
    bool resumed;                 /* runs of an earlier process follow */
    uint64_t number;              /* of a run, from 1 */
    enum run_purpose purpose;     /* of a run */
    faultload faultload;          /* of a run, finding or remark */
    bool pass;                    /* RUN */
    outcome status;               /* what the client saw */
    const char *why, *detail;     /* of a verdict, finding or remark; of the end: `broken` */
    const char *text;             /* a sentence: of a note, a death, a skip; a service's level */
    int64_t took_ns;              /* RUN, END */
    uint64_t calls;               /* RUN: made; LEVEL: that it made */
    bool hung, crashed, repeated; /* RUN: of its flags */
    bool restored;                /* RUN: of an earlier process */
    enum event_counted counted;   /* RUN: as what, */
    bool fired;                   /* did all planned faults fire, */
    uint64_t size, hits;          /* and how many are counted, and did */
    uint64_t runs, queued, found; /* RUN, RUN_BEGINS, END: how far it is; of FINDING: its runs */
    enum event_stage stage;       /* FINDING, REMARK */
    enum finding_kind kind;       /* FINDING */
    enum finding_state state;     /* FINDING */
    uint64_t key;                 /* FINDING, until it is final: the same of one finding */
    const char *name;             /* of an oracle, a reason, a policy or a service */
    enum severity severity;       /* REMARK */
    uint64_t times;               /* REASON */
    double figure;                /* SKIP: how many; END: the space */
    const char *stopped, *doubt;  /* END: as of the summary, */
    enum conclusion conclusion;   /* with what it comes to, */
    uint64_t points, conditional, transcripts, suspects; /* and its figures */
    uint64_t failed;                                     /* RUN, END: runs that failed, so far */

    /* in this process alone: what it is about, in full */
    const struct run *run; /* RUN */
    const struct finding *as_finding;
    const struct remark *as_remark;
};

/* Who is told. A sink without a function is one that nobody listens to. */
struct event_sink {
    void *ctx;
    void (*take)(void *ctx, const struct event *event);
};

static inline void event_send(const struct event_sink *sink, const struct event *event)
{
    if (sink && sink->take)
        sink->take(sink->ctx, event);
}

/* Events of these two; whoever sends them adds when, of which scenario, and a key. */
struct event event_of_finding(const struct finding *f, enum event_stage stage);
struct event event_of_remark(const struct remark *r, enum event_stage stage);

/* One line of JSON, without its end. */
void event_print(const struct event *event, const struct names *names, const struct faultloads *fl,
                 struct buf *out);

/* The same back; texts are in the arena. -1: it is no event, or of another version. */
int event_parse(slice line, struct names *names, struct faultloads *fl, struct arena *a,
                struct event *out, struct err *e) MUST_USE;

/* All that the report of a finished summary says, from EVENT_REPORT to EVENT_END. */
void summary_tell(const struct summary *s, const struct event_sink *sink);

/* Takes an event into a summary that was zero before the first: at the end it has the figures,
 * findings, remarks and notes of the summary that the campaign made itself. What no event tells
 * stays zero: calls and modes of findings, evidence, suspects one by one. Texts are copied into the
 * arena. */
void summary_event(struct summary *out, const struct event *event, struct arena *a);

#endif
