/* SPDX-License-Identifier: Apache-2.0
 *
 * The inside of a campaign: campaign.c (the story), _learn.c (fault-free runs and what they teach),
 * _confirm.c (findings made small and sure), _notes.c (what could not be tested), _store.c (kept and
 * restored), _contract.c (judged by one), and those of campaign_trust_int.h. */
#ifndef OUTFOX_CAMPAIGN_CAMPAIGN_INT_H
#define OUTFOX_CAMPAIGN_CAMPAIGN_INT_H

#include "base/fiber.h"
#include "base/index.h"
#include "campaign/campaign.h"
#include "campaign/campaign_trust_int.h"
#include "findings/tally.h"
#include "io/owner.h"
#include "store/journal.h"

#define DIRECT_SOMEBODY UINT32_MAX

enum { RECENT_RUNS = 8, RECENT_KEPT = 16, BLASTS_MAX = 10, HEALS_MAX = 10, JOBS_MAX = 64 };

/* What came through the proxies in the runs, and who was seen to go past them. */
struct seen {
    struct map reached;       /* symbols of services that a call came to, in any run */
    uint64_t calls;           /* that services made, in all runs */
    struct owner_links links; /* to the services' own addresses, before the first run */
    uint32_t *direct; /* of each service: who called it past the proxies, + 1; DIRECT_SOMEBODY: not
                         known; 0: nobody was seen. NULL: nobody has looked */
};

/* A run that is under way. */
struct slot {
    bool used;
    faultload given; /* by the search; FAULTLOAD_EMPTY: it did not ask for this run */
    struct aim aim;
};

struct campaign {
    struct campaign_options opt;
    const struct scenario_spec *spec;
    struct search *search;
    struct tally *tally;
    struct judge *judge; /* NULL: nobody judges */
    struct summary summary;
    struct overlaps overlaps;
    struct lessons *lessons; /* what was learned of its calls; NULL: nothing yet */
    struct slot slot[JOBS_MAX];
    VEC(struct landed) landed; /* in the order in which they ended */
    uint64_t id;               /* in the store */
    struct journal *journal;   /* what later campaigns learn from; NULL: nothing is kept */
    uint64_t journal_last;     /* the last run that is in the store's */
    uint64_t number;           /* of the last run */
    uint64_t since_check;
    struct campaign_share *share, alone; /* `alone` when it shares nothing */
    uint32_t jobs;                       /* that are possible */
    bool learned;
    bool begun;    /* that it begins was told */
    bool finished; /* the summary is filled in, */
    struct {       /* and had this before */
        uint32_t notes;
        const char *doubt;
    } before_end;
    bool ended;        /* nothing is left, and the findings are confirmed */
    uint64_t lost;     /* calls that belonged to nobody, so far */
    struct arena keep; /* sentences and notes */
    struct arena held; /* a run that waits to be believed */
    VEC(struct known) known;
    struct map known_at; /* key of a faultload -> known */
    VEC(struct blast) blasts;
    uint32_t blasts_told, remarks_told[ORACLES];
    struct map told;               /* findings that were told as they came */
    faultload recent[RECENT_KEPT]; /* the last ones, a ring */
    uint32_t n_recent;
    int64_t start_ns;    /* of this process */
    slice lesson, quiet; /* what the store says was learned; p == NULL: nothing */
    uint64_t n_hiccups;  /* runs that failed by themselves, and were repeated */
    const char *hiccup;  /* what one of them was like */
    uint64_t n_outlived; /* runs with calls that were cut off; one of those calls */
    uid outlived;
    struct seen seen; /* what came through the proxies, and what did not */
    struct late late;
    struct limit limit;
    struct steady steady;
    int64_t death_ns;    /* of the last run: so long after the answer a service died; 0: none did */
    struct usage *usage; /* of each service; NULL: none was looked at */
    int64_t sampled_ns;  /* what looking at them took */
    const struct target *target; /* NULL: none, now */
    struct fiber *story;         /* what it does, step by step; NULL: nothing yet */
    enum status (*script)(struct campaign *c, struct err *e); /* which story that is */
    struct order order;                                       /* what is wanted, */
    struct answer answer;                                     /* and what came of it */
    uint32_t running;                                         /* runs under way */
    int64_t deadline_ns;                                      /* 0: none */
    bool stop;                                                /* somebody wants it to end */
    enum status ended_with;                                   /* when the story is over, */
    struct err failure;                                       /* and why it failed */
    struct replay_of {
        faultload faultload;
        const char *const *patterns;
        uint32_t n_patterns;
        struct replay *out;
    } replay;
    struct restoring *restoring; /* next to others; NULL: it is not */
    const char *lines;           /* that are missing in the contract; NULL: not known */
    bool had_contract;           /* what was restored was judged by one */
};

/* ---- campaign.c ---- */

/* So long nothing of it could be done: its clock, and that of its budget, stood still. */
void campaign_stood(struct campaign *c, int64_t ns);

/* Tells what happened; this adds the scenario, the time, and how far the campaign is. */
void campaign_send(struct campaign *c, struct event event);

/* It begins, unless that was told. resumed: with runs of an earlier process. */
void campaign_send_begin(struct campaign *c, bool resumed);

/* The last of the levels in the summary is known. */
void campaign_send_level(struct campaign *c);

/* Wants this done, and waits for what comes of it. */
enum status campaign_want(struct campaign *c, struct order order, struct err *e);

/* Begins what the script says (campaign_begin). */
void campaign_start(struct campaign *c, const struct target *target,
                    enum status (*script)(struct campaign *c, struct err *e));

/* Does somebody want to stop, or is the time over? */
bool campaign_is_over(const struct campaign *c);

/* Begins a run of this faultload, of the scenario of `of`, which may be another's; or any. */
void campaign_run(struct campaign *c, const struct campaign *of, faultload f,
                  enum run_purpose purpose, bool alone);
void campaign_order_run(struct campaign *c, const struct execution_order *run, bool alone);

/* The next run that ended, whatever it was; its slot is free. 0, 1: interrupted, -1 with *e: it could
 * not be made. The trace is the caller's, all else lives until the next one. */
int campaign_take(struct campaign *c, const struct execution_result **out, struct err *e) MUST_USE;

/* The same of a run with faults, or of one that checks: what it says of late things is learned. */
int campaign_take_run(struct campaign *c, struct run *out, struct err *e) MUST_USE;

/* Gives up what is under way, and what waits for its turn; the search may ask for it again. */
void campaign_abandon(struct campaign *c);

/* Runs one faultload, alone, on a system whose dead services were started again, and waits for it.
 * 0, 1: interrupted, -1 with *e. The trace is the caller's. */
int campaign_run_alone(struct campaign *c, faultload f, enum run_purpose purpose, struct run *out,
                       struct err *e) MUST_USE;

/* The same, and takes note of it (campaign_observe). What *out points to lives until the next run, but
 * for its trace, which is gone. */
int campaign_try(struct campaign *c, faultload f, enum run_purpose purpose, struct run *out,
                 struct err *e) MUST_USE;

/* What a run points to is overwritten by later ones: here it is copied. */
void campaign_hold(struct arena *a, struct run *run);

/* The run as search and judge see it: without what was called in blocks (CALL_HUSHED), which may
 * depend on state, time and chance as it likes. The trace is the caller's. */
struct run campaign_tested(const struct run *run);

/* For people: a command's own line says how it ended. */
void campaign_title(const struct campaign *c, struct run *run);

/* Takes note of a run: numbered, stored, and absorbed: when the search asked for it, it, the tally and
 * the judge see it; of a check, and of a run that was made once more, the judge learns. */
int campaign_observe(struct campaign *c, struct run *run, struct err *e) MUST_USE;
void campaign_absorb(struct campaign *c, struct run *run, bool restored);

/* What is known of a faultload, whatever the order of its faults; NULL: nothing. */
struct known *campaign_known(struct campaign *c, faultload f);

/* The findings, in the light of all runs so far; then what the oracles say. */
void campaign_sort(struct campaign *c);
void campaign_conclude(struct campaign *c);

/* ---- campaign_notes.c ---- */

/* A sentence for whoever reads the report, once. */
void campaign_note(struct campaign *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Notes the calls of a run without faults that no mode fits, and the modes that fit none of them. */
void campaign_check_modes(struct campaign *c, const struct trace *trace);

/* Takes note of who was called. */
void campaign_seen(struct campaign *c, const struct run *run);

/* Round the fault-free runs: looks who connects to the services' own addresses meanwhile. */
void campaign_watch(struct campaign *c);
void campaign_watched(struct campaign *c);

/* Says in the summary why nothing is proved, unless there are calls that can fail. */
void campaign_doubt(struct campaign *c, bool can_fail);

/* A note for services that no call reached, with what to do; for what an earlier campaign knew and is not so. */
void campaign_note_unseen(struct campaign *c);
void campaign_note_since(struct campaign *c);

/* Those, equal calls that only chance tells apart, and lines of outfox.yaml that had no effect: at the
 * end, while the system is live. */
void campaign_note_untested(struct campaign *c);

/* ---- campaign_contract.c ---- */

/* The fault-free runs of the beginning. */
void campaign_contract_learn(struct campaign *c, struct run *runs, uint32_t n);

/* Where a run is taken; where it is absorbed, without what is hushed in it; when all were. */
void campaign_contract_replay(struct campaign *c, struct run *run);
void campaign_contract_judge(struct campaign *c, struct run *run);
void campaign_contract_note(struct campaign *c, const struct run *tested, bool restored);
void campaign_contract_finish(struct campaign *c);

/* In the store: as the campaign begins, ends, and is restored (as of campaign_restore). */
int campaign_contract_begin(struct campaign *c, struct err *e) MUST_USE;
int campaign_contract_keep(struct campaign *c, struct err *e) MUST_USE;
int campaign_contract_check(struct campaign *c, struct err *e) MUST_USE;

/* ---- campaign_learn.c ---- */

/* The fault-free runs. */
int campaign_learn(struct campaign *c, struct err *e) MUST_USE;

/* ---- campaign_store.c ---- */

/* Begins in the store; tells the live system what an earlier process has learned. */
int campaign_open_store(struct campaign *c, struct err *e) MUST_USE;
int campaign_teach(struct campaign *c, struct err *e) MUST_USE;

int campaign_keep(struct campaign *c, const struct run *run, struct err *e) MUST_USE;
int campaign_keep_facts(struct campaign *c, struct err *e) MUST_USE;
int campaign_keep_stop(struct campaign *c, struct err *e) MUST_USE;
int campaign_keep_findings(struct campaign *c, struct err *e) MUST_USE;
int campaign_keep_blasts(struct campaign *c, struct err *e) MUST_USE;
int campaign_keep_hiccups(struct campaign *c, struct err *e) MUST_USE;

/* Nothing is left to be done. */
int campaign_keep_end(struct campaign *c, struct err *e) MUST_USE;

/* ---- campaign_journal.c ---- */

/* Begins the journal, or goes on with it; a run that the search was shown; what is left, at the end. */
int campaign_journal_begin(struct campaign *c, struct err *e) MUST_USE;
void campaign_journal_add(struct campaign *c, const struct run *tested);
int campaign_journal_keep(struct campaign *c, struct err *e) MUST_USE;

#endif
