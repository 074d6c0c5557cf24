/* SPDX-License-Identifier: Apache-2.0
 *
 * session: a configuration, its scenarios and their campaigns, as the verbs run, replay, learn,
 * explain, deps and report need them; and what those share. */
#ifndef OUTFOX_CMD_SESSION_H
#define OUTFOX_CMD_SESSION_H

#include "base/index.h"
#include "campaign/campaign.h"
#include "cmd/cmd.h"
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
    struct names names;
    struct faultloads faultloads;
    struct rewrite *rules;   /* by which calls are named */
    struct vocabulary words; /* what patterns may name */
    struct intern sentences; /* why runs failed */
    struct sim *sim;         /* NULL: real services */
    struct store *store;
    struct live *live;
    struct mode_list modes; /* of the command line, or of the campaign that is stored */
    struct search_options search;
    const char *origin; /* as of campaign_options */
    struct judging judging;
    uint32_t jobs;
    VEC(uint32_t) scenarios;          /* that were chosen */
    VEC(struct campaign *) campaigns; /* one each */
    VEC(struct contract *) contracts; /* one each, or none at all */
    bool contract_watches;            /* as of campaign_options */
    const char *program;
    int signal; /* that has ended it, or 0 */
    struct watch watch;
};

/* Reads everything, starts nothing, lets the verb do its work, and closes. An exit code: the verb's,
 * after its error was printed if there is one. */
int session_do(const struct args *args, const char *file,
               int (*verb)(struct session *s, struct err *e));

/* What the stored campaign was made with, where the command line says nothing else: so that it can
 * be resumed and reported without saying all of it again. 0, or an exit code, with *e. */
int session_adopt(struct session *s, struct err *e) MUST_USE;

/* Opens the store, makes the campaigns, and takes up what is stored of them. 0, or an exit code. */
int session_take_up(struct session *s, struct err *e) MUST_USE;

/* Ends, and says so, what an outfox left behind that was killed. */
void session_clear_up(void);

/* Starts the system, after session_clear_up. 0, or an exit code, with *e; that of a signal that
 * came meanwhile. */
int session_start(struct session *s, struct err *e) MUST_USE;

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

/* ---- contracts.c ---- */

/* Loads the contracts of all scenarios, before the campaigns are made; a file that is not there is
 * an empty contract, and so is every one unless `read`. -1 with file, line and column. */
int contracts_load(struct session *s, bool read, struct err *e) MUST_USE;
void contracts_free(struct session *s);

/* Was one of the stored campaigns judged by a contract? */
bool contracts_were_used(struct session *s);

/* The lines that are missing in them, if any. */
void contracts_print(struct session *s, FILE *out);

/* ---- reports.c ---- */

/* Can the reports be written where they are wanted? Asked before anything runs, so that hours of
 * work are not lost to a misspelt directory. 0, or an exit code after the error was printed. */
int reports_check(const struct args *args);

/* A report cannot be written there: an exit code, after the error was printed. */
int reports_refuse(const char *option, const char *file, int number);

/* The summary with its names: system, scenario, how findings are numbered and replayed. */
struct summary *reports_title(struct session *s, uint32_t i);

/* What came of a scenario, by all that reports print. */
const struct summary *reports_summary(struct session *s, uint32_t i);

/* Makes all reports from the campaigns of the session. error: why they could not go on, or NULL.
 * Returns the exit code. */
int reports_make(struct session *s, const char *error);

/* ---- replay.c ---- */

/* The text of a faultload: as it was given, or from @FILE. */
int subject_text(struct session *s, const char *what, slice *out, struct err *e) MUST_USE;

#endif
