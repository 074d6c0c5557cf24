/* SPDX-License-Identifier: Apache-2.0
 *
 * session: a configuration, its scenarios and their campaigns, as the verbs run, replay, learn,
 * explain, deps and report need them; and what those share. */
#ifndef OUTFOX_CMD_SESSION_H
#define OUTFOX_CMD_SESSION_H

#include "base/index.h"
#include "campaign/campaign.h"
#include "campaign/since.h"
#include "cmd/cmd.h"
#include "live/identity.h"
#include "page/ledger.h"
#include "report/progress.h"

/* What is told while it lasts: progress and findings as they come on standard error, and all of it
 * as lines of JSON (--events). */
struct watch {
    struct progress *progress; /* NULL: nobody looks at that */
    struct intern warned;      /* what was warned of: it is said once, however often it happens */
    FILE *events;              /* NULL: nobody wants them */
    int failed;                /* why they could not be written, as errno; 0: they could */
};

struct session {
    const struct args *args;
    const char *file; /* as it was named; NULL: it was not */
    struct campaign_config *config;
    struct arena arena;
    struct arena shown; /* the last run that a report has asked for */
    struct arena read;  /* what the runs need that it reads one after the other */
    struct names names;
    struct faultloads faultloads;
    struct rewrite *rules;        /* by which calls are named */
    struct vocabulary words;      /* what patterns may name */
    struct intern sentences;      /* why runs failed */
    struct sim *sim;              /* NULL: real services */
    const struct node *simulated; /* its file, or NULL */
    struct identities identities; /* of the services: taken when campaigns begin */
    struct since since;           /* what the campaigns build on; */
    const char *trusts;           /* how that is told, or NULL */
    struct store *store;
    struct live *live;
    struct mode_list modes; /* of the command line, or of the campaign that is stored */
    struct search_options search;
    const char *origin; /* as of campaign_options */
    struct judging judging;
    uint32_t jobs;
    VEC(uint32_t) scenarios;          /* that were chosen */
    VEC(struct campaign *) campaigns; /* one each, */
    struct suite *suite;              /* which take turns by it; NULL: there is one */
    struct campaign_share share;
    VEC(struct ledger *) ledgers;     /* of their runs, one each */
    VEC(struct contract *) contracts; /* one each, or none at all */
    bool contract_watches;            /* as of campaign_options */
    const char *program;
    const struct node *earlier; /* the document to compare with; NULL: none */
    int signal;                 /* that has ended it, or 0 */
    struct watch watch;
    struct ui *ui;                         /* the page that watches it (ui.h); NULL: none */
    struct report_oracle oracles[ORACLES]; /* all of them, for reports */
};

/* Reads everything, starts nothing, lets the verb do its work, and closes. An exit code: the verb's,
 * after its error was printed if there is one. ask: as of tests_take. */
int session_do(const struct args *args, const char *file, bool ask,
               int (*verb)(struct session *s, struct err *e));

/* What the stored campaign was made with, where the command line says nothing else: so that it can
 * be resumed and reported without saying all of it again. 0, or an exit code, with *e. */
int session_adopt(struct session *s, struct err *e) MUST_USE;

/* What an earlier campaign knows (--since); or, of one that is taken up again, what it was built on,
 * after session_adopt. 0, or an exit code, with *e. */
int session_since(struct session *s, struct err *e) MUST_USE;
int session_recall(struct session *s, struct err *e) MUST_USE;

/* Opens the store, makes the campaigns, and takes up what is stored of them. 0, or an exit code. */
int session_take_up(struct session *s, struct err *e) MUST_USE;

/* Ends, and says so, what an outfox left behind that was killed. */
void session_clear_up(void);

/* Starts the system, after session_clear_up. 0, or an exit code, with *e; that of a signal that
 * came meanwhile. */
int session_start(struct session *s, struct err *e) MUST_USE;

/* Ends it; nothing where none was started. */
void session_end(struct session *s);

/* A campaign in which something of a scenario is replayed, while the session's own may be under way:
 * nobody hears of it. contract: of its own, or NULL. */
struct campaign *session_replayer(struct session *s, uint32_t i, struct contract *contract);

/* A campaign for each scenario. */
void session_make_campaigns(struct session *s);

/* Forgets them: others can be made. */
void session_drop_campaigns(struct session *s);

/* Takes up what the store has of them; *left: is there anything to be done? 0, or an exit code,
 * with *e. */
int session_restore(struct session *s, bool *left, struct err *e) MUST_USE;

const char *session_scenario(const struct session *s, uint32_t i);

/* What campaigns and the live system are given (run.c). Warnings are told in any case. */
struct event_sink watch_sink(struct session *s);

/* ---- tests.c ---- */

/* Adds the tests of the file's suite to its scenarios, if it has one: those that their runner lists
 * (ask), else those of the store, unless it has none that is wanted. 0, or an exit code, with *e. */
int tests_take(struct session *s, bool ask, struct err *e) MUST_USE;

/* Is it meant by --scenario: its name, a pattern of names with *, or its test? */
bool tests_chosen(const struct scenario_spec *spec, const char *pattern);

/* Holds the tests that were listed against those of the store, which is written: which are gone is noted
 * there and, to resume, told, and so is which are new. -1 with *e. */
int tests_compare(struct session *s, struct err *e) MUST_USE;

/* ---- contracts.c ---- */

/* Loads the contracts of all scenarios, before the campaigns are made; a file that is not there is
 * an empty contract, and so is every one unless `read`. -1 with file, line and column. */
int contracts_load(struct session *s, bool read, struct err *e) MUST_USE;

/* That of one scenario, for the caller alone. */
int contracts_load_one(struct session *s, uint32_t i, bool read, struct contract **out,
                       struct err *e) MUST_USE;
void contracts_free(struct session *s);

/* Was one of the stored campaigns judged by a contract? */
bool contracts_were_used(struct session *s);

/* The lines that are missing in them, if any. */
void contracts_print(struct session *s, FILE *out);

/* ---- reports.c ---- */

/* Can the reports be written where they are wanted? Asked before anything runs, so that hours of
 * work are not lost to a misspelt directory. 0, or an exit code after the error was printed. */
int reports_check(const struct args *args);

/* Refuses to write a report over what the campaign is read from: with its FILE forgotten, an option
 * takes the configuration for it. 0, or an exit code, with *e. */
int reports_spare(struct session *s, struct err *e) MUST_USE;

/* Reads the report to compare with, if one is wanted: before anything runs, and before that very
 * file may be written. 0, or an exit code, with *e. */
int reports_earlier(struct session *s, struct err *e) MUST_USE;

/* Holds what is reported against that earlier report, which is there: both are documents then, this one
 * in the arena. -1, with *e: it is too large for that. */
struct comparison;
int reports_compare(struct session *s, const struct report_source *source, struct arena *a,
                    struct comparison *out, struct err *e) MUST_USE;

/* Puts the names of the i-th scenario into a summary: system, scenario, how findings are numbered and
 * replayed; into that of its campaign. */
void reports_entitle(struct session *s, uint32_t i, struct summary *out);
struct summary *reports_title(struct session *s, uint32_t i);

/* What came of a scenario, by all that reports print. */
const struct summary *reports_summary(struct session *s, uint32_t i);

/* What reports and pages are made from, as long as the session lives. error: why the campaigns could
 * not go on, or NULL. */
struct report_source reports_source(struct session *s, const struct summary *const *scenarios,
                                    const char *error);

/* Makes all reports from the campaigns of the session. error: why they could not go on, or NULL.
 * Returns the exit code. */
int reports_make(struct session *s, const char *error);

/* ---- stored.c ---- */

/* What becomes of a faultload as text in the search of the i-th campaign, as far as it is: the
 * document of `outfox explain --json`. -1 with *e: nothing that was seen is meant. */
int explain_json(struct session *s, uint32_t i, slice text, struct buf *out,
                 struct err *e) MUST_USE;

/* ---- replay.c ---- */

/* What is replayed: one faultload. */
struct replay_subject {
    uint32_t campaign;  /* which of the session's */
    const char *id;     /* of the finding, as reports have it; NULL: it is none */
    const char *why;    /* the finding's sentence */
    enum oracle oracle; /* whose finding it is; ORACLES: no oracle's */
    faultload faultload;
    VEC(const char *) patterns; /* what somebody wrote; the receiver's */
};

/* The finding of this number, as reports count. False: there is none. */
bool subject_finding(struct session *s, uint32_t campaign, const struct summary *summary,
                     uint32_t id, struct replay_subject *out);

/* A faultload as people write it: faults joined by &, each of which may be a pattern. Before anything
 * is started for it. -1 with *e; patterns are the receiver's all the same. */
int subject_faults(struct session *s, slice text, struct replay_subject *out,
                   struct err *e) MUST_USE;

/* What came of it in a campaign that was made for it, as one JSON document. */
void replay_json(struct session *s, struct campaign *c, const struct replay_subject *subject,
                 const struct replay *r, struct buf *out);
void replay_deinit(struct replay *r);

/* What names a finding: 3, of the first scenario, or SCENARIO/3. False, and nothing is set: it does not. */
bool subject_id(const struct session *s, slice what, uint32_t *campaign, uint32_t *id);

/* The text of a faultload: as it was given, or from @FILE. */
int subject_text(struct session *s, const char *what, slice *out, struct err *e) MUST_USE;

#endif
