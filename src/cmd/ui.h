/* SPDX-License-Identifier: Apache-2.0
 *
 * ui: the page that watches a session, and what it wants of it. The host of the room api: documents
 * from the campaigns as they stand, commands by a value that steers them, replays one by one.
 *
 *   ui_open --> [ui_ready, ui_begins, ui_ended ...] --> ui_rests --> [ui_serve] --> ui_close
 *
 * 1. It has a loop of its own, from the beginning to the end of the session; while a system is live
 *    that loop is turned with the system's.
 * 2. Whoever watches changes nothing by that: what comes of a campaign is the same. */
#ifndef OUTFOX_CMD_UI_H
#define OUTFOX_CMD_UI_H

#include "api/api.h"
#include "campaign/steer.h"
#include "cmd/session.h"

/* A replay that somebody asked for. */
struct ui_replay {
    uint64_t id;
    enum api_replay state;
    struct replay_subject subject;
    struct campaign *campaign; /* while it has begun */
    struct contract *contract; /* its own; NULL: none */
    struct replay replay;
    struct buf text; /* DONE */
    struct err why;  /* FAILED */
};

struct ui {
    struct session *s;
    struct loop loop;
    struct api *api;
    struct api_host host;
    struct steer steer;
    struct target target; /* while the system is live */
    enum api_phase phase; /* STARTING, RUNNING, FINISHED or FAILED */
    const char *error;    /* why it failed; NULL: it did not */
    bool stays;           /* after the end of its campaigns */
    bool served;          /* they are at their end */
    bool more;            /* their budget was raised then */
    bool muted;           /* what the campaigns say now was told before */
    bool has_bounds;      /* the budget was changed, to */
    uint64_t max_runs;    /* this */
    int64_t max_time_ns;  /* and this */
    uint64_t version;     /* of all that reports are made from */
    VEC(bool) ended;      /* by campaign */
    VEC(bool) titled;     /* its summary has its names */
    VEC(struct campaign_view) views;
    VEC(const char *) scenarios;
    struct api_oracle oracles[ORACLES];
    VEC(struct ui_replay *) replays;
    uint64_t last_replay;
    struct timer idle; /* how long the system may be up for nothing */
    uv_signal_t on_int, on_term;
    int signal; /* that came while it served, or 0 */
};

/* ---- ui.c ---- */

/* Do the options go together? Asked before anything runs. 0, or an exit code after the error was
 * printed. */
int ui_check(const struct args *args);

/* Listens, when the campaigns are made; s->ui is the page then. stays: after their end, too. */
int ui_open(struct session *s, bool stays, struct err *e) MUST_USE;
void ui_close(struct ui *ui); /* accepts NULL */

/* Tells where it is. */
void ui_tell(const struct ui *ui);

/* All that is told of the campaigns; nothing where there is no page (NULL). */
void ui_event(struct ui *ui, const struct event *event);

/* The system is live, or (before it is closed) no longer. */
void ui_ready(struct ui *ui);
void ui_gone(struct ui *ui);

/* The i-th campaign begins; has ended. All have: error is why they could not go on, or NULL. */
void ui_begins(struct ui *ui, uint32_t i);
void ui_ended(struct ui *ui, uint32_t i);
void ui_rests(struct ui *ui, const char *error);

/* Answers when nothing is left to be explored, until a signal comes; the system is started where a
 * replay needs it, and ended when nobody does. True: the budget was raised, and the campaigns go on. */
bool ui_serve(struct ui *ui);

/* ---- ui_host.c ---- */

/* What the api asks. */
struct api_host ui_host(struct ui *ui);

/* What came of the i-th scenario by now, to be read before anything goes on. */
const struct summary *ui_summary(struct ui *ui, uint32_t i);

/* ---- ui_replay.c ---- */

enum api_result replay_ask(struct ui *ui, const struct api_command *c, uint64_t *id, struct err *e);

/* The next one begins, if there is one and the system is there for it. */
void replay_next(struct ui *ui);

/* Does one wait, or is under way? */
bool replay_waits(const struct ui *ui);

/* They cannot be made; one that has begun will begin again. */
void replay_fail(struct ui *ui, const struct err *why);
void replay_take_back(struct ui *ui);

void replay_free_all(struct ui *ui);

#endif
