/* SPDX-License-Identifier: Apache-2.0
 *
 * session: a configuration, its scenarios and their campaigns, as the verbs run, replay, explain
 * and report need them. */
#ifndef OUTFOX_CMD_SESSION_H
#define OUTFOX_CMD_SESSION_H

#include "base/intern.h"
#include "campaign/campaign.h"
#include "cmd/search_args.h"
#include "cmd/watch.h"

struct session {
    const struct args *args;
    const char *file; /* as it was named; NULL: it was not */
    struct campaign_config *config;
    struct arena arena;
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
    int signal;         /* that has ended it, or 0 */
    struct watch watch; /* what is told while it lasts, and to whom */
};

/* Reads everything; nothing is started. 0, or an exit code after the error was printed. */
int session_open(struct session *s, const struct args *args, const char *file);
void session_close(struct session *s);

int session_open_store(struct session *s, enum store_access access, struct err *e) MUST_USE;

/* What the stored campaign was made with, where the command line says nothing else: so that it can
 * be resumed and reported without saying all of it again. 0, or an exit code, with *e. */
int session_adopt(struct session *s, struct err *e) MUST_USE;

/* Opens, takes up what is stored, lets `tell` print from it, and closes. An exit code. */
int session_stored(const struct args *args, const char *file, int (*tell)(struct session *s));

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

#endif
