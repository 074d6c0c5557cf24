/* SPDX-License-Identifier: Apache-2.0
 *
 * Why runs may not be what they seem, a part of the inside of a campaign: campaign_trust.c (runs that
 * have ended: is a failure to be believed? how long may one take? do services leak?),
 * campaign_late.c (what comes after the end of its run; does the campaign get anywhere?),
 * campaign_confirm.c (findings made small and sure). Included by campaign_int.h. */
#ifndef OUTFOX_CAMPAIGN_CAMPAIGN_TRUST_INT_H
#define OUTFOX_CAMPAIGN_CAMPAIGN_TRUST_INT_H

#include "base/arena.h"
#include "base/err.h"
#include "core/run.h"

struct campaign;

enum { QUIET_MAX_MS = 2000 }; /* so long runs wait for late calls by themselves */

/* ---- campaign_late.c ---- */

/* What is known of things that come after the end of their run. */
struct late {
    int64_t quiet_ns;  /* so long runs wait, at least; 0: nothing was late */
    char why[400];     /* what was late: "gateway calls b GET /b 61ms after the answer" */
    uint64_t strays;   /* that were dealt with */
    uid call;          /* one that was seen in its run by luck, since runs did not wait for it; */
    int64_t seen_ns;   /* how late it was. UID_NONE: there is none */
    uint64_t suspects; /* at the last look: what the search found suspect, */
    uint32_t runs;     /* and the runs it had observed */
    uint32_t in_vain;  /* looks that found nothing, */
    uint32_t skip;     /* and how many are therefore left out */
    uint32_t starts;   /* how often the campaign started over */
    int64_t usual_ns;  /* how long runs wait without any of this */
    int64_t pause_ns;  /* the longest that a handler worked in a run without calling anybody */
    bool given_up;     /* it did not help */
};

/* Are there late calls that nobody has dealt with? */
bool campaign_is_late(const struct campaign *c);

/* While nothing is running: are calls late? last: nothing is left to be run. 0, STATUS_AGAIN, 1:
 * interrupted, -1. */
int campaign_look_late(struct campaign *c, bool last, struct err *e) MUST_USE;

/* How long runs wait where calls are so late, with room; those of this campaign from now on. */
int64_t campaign_quiet_for(int64_t late_ns);
void campaign_learn_late(struct campaign *c, const struct trace *trace, int64_t late_ns);

/* How slow services are, and how long they wait before they try again. */
void campaign_learn_pause(struct campaign *c, const struct run *run);

/* Something was so late: runs of the next start wait for it. False: they do not, since the file
 * says how long they wait, or they wait as long as they may. */
bool campaign_wait_longer(struct campaign *c, int64_t late_ns) MUST_USE;

/* What was late is the death of a service: "payment died (signal 11); see FILE". */
void campaign_explain_death(struct campaign *c, const char *how);

/* Notes: it started over; calls that nobody waited for; calls that were still open at the end. */
void campaign_note_late(struct campaign *c);
void campaign_note_strays(struct campaign *c);
void campaign_note_outlived(struct campaign *c);

struct steady {
    uint32_t runs;            /* of the search that were looked at */
    uint32_t looked, unfired; /* of the current window */
    const char *stopped;      /* why it is no use to go on; NULL: it is */
};

/* Why it is no use to go on, as summary.stopped; NULL: it is. A note says more. */
const char *campaign_gets_nowhere(struct campaign *c);

/* Does a run without faults show that a service calls another all the time? */
void campaign_look_polled(struct campaign *c, const struct trace *trace);

/* ---- campaign_trust.c ---- */

/* A faultload whose result is known. */
struct known {
    faultload faultload;
    const char *why;   /* NULL: it passed */
    uint64_t number;   /* of the run */
    bool tried;        /* it was run once more, to confirm it */
    const char *again; /* why it failed then; NULL: it passed */
};

/* After this faultload the system stayed broken. */
struct blast {
    faultload faultload;
    const char *why;
    uint64_t number;
    bool certain; /* it was seen again */
};

/* A run that has ended and waits for its turn. */
struct landed {
    struct run run;
    struct arena arena; /* what it points to */
    bool alone;         /* when it ended no other was under way */
    bool waited;        /* others came before it */
    bool doubt;         /* it may not have been seen in full */
};

/* Waits for a run to end; all that have their turn then are looked at and observed. 0, 1:
 * interrupted, -1 with *e, STATUS_AGAIN. */
int campaign_step(struct campaign *c, struct err *e) MUST_USE;

/* Gives up what waits for its turn; the search may ask for it again. */
void campaign_drop_landed(struct campaign *c);

/* How long runs may take. */
struct limit {
    int64_t slowest_ns; /* that a run with an answer took */
    bool hung;          /* a run has used up all the time it had, and had no answer */
    bool patient;       /* the next run is given all of it */
    uint64_t hurried;   /* runs that were given less */
};

/* A run was observed: what does it say about how long others need? */
void campaign_learn_limit(struct campaign *c, const struct run *run);

/* How long such a run is given; 0: as long as the scenario says. */
int64_t campaign_limit(const struct campaign *c, faultload f, enum run_purpose purpose);
void campaign_note_limit(struct campaign *c);

/* A run of this faultload has ended: it may be what broke the system. */
void campaign_ran(struct campaign *c, faultload f);

/* Says in the summary that runs have failed by themselves. */
void campaign_note_hiccups(struct campaign *c);

/* A fault-free run now and then; `last`: after any run with faults. */
int campaign_check(struct campaign *c, bool last, struct err *e) MUST_USE;

/* Is a fault-free run due, or a service to be started again? */
bool campaign_is_due(const struct campaign *c);

/* Services that died are started again. 0, 1: interrupted, -1. */
int campaign_heal(struct campaign *c, bool all, struct err *e) MUST_USE;

/* Looks what the services hold, if it is time for it. */
void campaign_sample(struct campaign *c);

/* Tells the judge which of them leak. broken: they are about to be started again. */
void campaign_tell_leaks(struct campaign *c, bool broken);

/* ---- campaign_confirm.c ---- */

/* Keeps what services wrote during this run, which was alone. */
int campaign_keep_log(struct campaign *c, const struct run *run, struct err *e) MUST_USE;

/* Shrinks and confirms the findings. */
int campaign_confirm(struct campaign *c, struct err *e) MUST_USE;

/* A run has failed in a new way, and nothing is under way: makes sure of it, and tells it. */
int campaign_announce(struct campaign *c, struct err *e) MUST_USE;

/* A run was observed: tells what is a finding of an oracle and was not told before. */
void campaign_announce_remarks(struct campaign *c);

/* Which findings were confirmed, as far as that is known. */
void campaign_settle(struct campaign *c);

#endif
