/* SPDX-License-Identifier: Apache-2.0
 *
 * api: a campaign as others see it over HTTP: the page, its documents, what happens, and what may be
 * asked of it. docs/api.md is the reference; route.list has the routes, one row each, and feeds the
 * router, the OpenAPI document and that page.
 *
 *     request --> who asks? --> route --> host -------> document, command, replay
 *                 access.c      route.c   (struct api_host, of whoever has the campaign)
 *     event ----> api_event --> watch.c  state of the campaign: /campaign, /metrics, `state`
 *                           \-> feed.c   ring of events: /events
 *
 * 1. It lives on a loop, answers before it returns, and waits for nobody: no reader, however slow or
 *    many, holds the campaign up or makes memory grow without a bound (docs/limits.md).
 * 2. A GET changes nothing. What changes something is a POST with a body of JSON, which no page of
 *    another origin can send.
 * 3. Without a token it listens at loopback addresses alone, and answers to their names alone.
 * 4. Nothing is formatted while nobody listens. */
#ifndef OUTFOX_API_API_H
#define OUTFOX_API_API_H

#include "core/event.h"
#include "io/addr.h"
#include "io/loop.h"

struct api;

/* ---- what the host is asked ---- */

/* Documents that the host prints, each as the command line does (docs/json.md). */
enum api_kind {
    API_REPORT,
    API_DEPENDENCIES,
    API_HANDLERS,     /* of a scenario */
    API_RUNS,         /* of a scenario, from a number on */
    API_CALLS,        /* of the runs of a page of a scenario */
    API_EXPLANATIONS, /* of a scenario: a sample */
    API_EXPLAIN,      /* of a scenario and a faultload as text */
    API_MODES,
    API_ORACLES,
    API_VALIDATE,
    API_VERSION,
    API_KINDS
};

struct api_document {
    enum api_kind kind;
    uint32_t scenario; /* its place in the report, from 0 */
    uint32_t page;     /* CALLS */
    uint64_t from;     /* RUNS: the number of the first run; 0 and 1: all */
    slice faultload;   /* EXPLAIN */
};

/* What may be asked of a campaign. */
enum api_command_kind {
    API_PAUSE,  /* no run begins until it is resumed; those under way end */
    API_RESUME, /* goes on */
    API_STOP,   /* ends as by Ctrl-C: what is known is reported */
    API_BUDGET, /* new bounds of every scenario */
    API_ORACLE, /* another severity of an oracle, from now on */
    API_REPLAY, /* run a finding, a stored run or a faultload once more, between others */
    API_COMMANDS
};

extern const char
    *const api_command_names[API_COMMANDS]; /* pause resume stop budget oracle replay */

struct api_command {
    enum api_command_kind kind;
    bool has_runs, has_time; /* BUDGET: which of the two is set anew */
    uint64_t max_runs;       /* 0: no bound */
    int64_t max_time_ns;     /* 0: no bound */
    slice oracle;            /* ORACLE: its name, as it was written: there may be none such */
    enum severity severity;
    uint32_t scenario; /* REPLAY: its place in the report; and one of the following three */
    slice finding;     /* its id: F1, W2; p NULL: not this one */
    uint64_t run;      /* the number of a stored run; 0: not this one */
    slice faultload;   /* as text, "none" without faults; p NULL: not this one */
};

/* How a question was answered. All but OK come with a sentence in *e, and *out is not looked at. */
enum api_result {
    API_OK,
    API_BAD,     /* what was asked cannot be: a name that is not there, a faultload that is none */
    API_NONE,    /* there is no such document, or there never will be */
    API_NOT_NOW, /* it can be asked at other times: resume what is not paused */
    API_LATER,   /* not ready yet: the system starts */
    API_BROKEN,  /* it should have worked: the store cannot be read */
    API_RESULTS
};

enum api_phase {
    API_STARTING, /* the system is */
    API_RUNNING,  /* what exactly, the events tell: learning, exploring, confirming */
    API_PAUSED,
    API_STOPPING,
    API_FINISHED,
    API_FAILED,
};

struct api_oracle {
    const char *name;
    enum severity severity;
};

/* What no event tells. Texts live until the next call of the host. */
struct api_state {
    enum api_phase phase;
    const char *error;   /* why it failed, for people; NULL: it did not */
    bool ready;          /* the services of the system are up; of a stored campaign: always */
    uint32_t commands;   /* those that make sense now: bits 1 << enum api_command_kind */
    bool has_bounds;     /* the next two say more than the events of the campaign: they were
                                    changed since (API_BUDGET) */
    uint64_t max_runs;   /* 0: no bound */
    int64_t max_time_ns; /* 0: no bound */
    uint32_t n_oracles;  /* that the campaign judges by */
    const struct api_oracle *oracles;
};

/* How far a replay is. */
enum api_replay {
    API_REPLAY_NONE,
    API_REPLAY_WAITING,
    API_REPLAY_RUNNING,
    API_REPLAY_DONE,
    API_REPLAY_FAILED
};

/* Whoever has the campaign. Every function answers at once. */
struct api_host {
    void *ctx;
    void (*state)(void *ctx, struct api_state *out);
    /* A number that is another one whenever the document is; 0: it may be another one each time.
     * Cheap: it is asked before each printing, which is left out where the client has that one. */
    uint64_t (*version)(void *ctx, const struct api_document *d);
    enum api_result (*document)(void *ctx, const struct api_document *d, struct buf *out,
                                struct err *e);
    /* REPLAY: *id is given a number, from 1, that api_replayed and `replay` know it by. */
    enum api_result (*command)(void *ctx, const struct api_command *c, uint64_t *id, struct err *e);
    /* DONE: *out gets the document of `outfox replay --json`; FAILED: *e says why. */
    enum api_replay (*replay)(void *ctx, uint64_t id, struct buf *out, struct err *e);
};

/* ---- the server ---- */

struct api_options {
    struct loop *loop;
    const struct api_host *host;
    const char *listen;   /* an address as of io/addr.h; NULL: 127.0.0.1, any free port */
    const char *what;     /* the option that named it, for messages: "--listen" */
    const char *token;    /* who knows it may ask; NULL: everybody at a loopback address */
    const char *tls_cert; /* PEM files; NULL: no TLS */
    const char *tls_key;  /* NULL: in the file of tls_cert */
    const char *system;   /* name of the system, */
    const char *file;     /* its file, */
    const char *version;  /* and the version of this program */
    uint32_t n_scenarios; /* of the report, in its order */
    const char *const *scenarios;
    const struct names *names; /* of what events and faultloads name */
    const struct faultloads *faultloads;
    /* 0 of the following: the usual */
    uint32_t streams;    /* of events, at once: 1024 */
    int64_t patience_ns; /* for a head, a body, and a reader that takes nothing: 30 s */
};

/* Listens. What the options point to lives as long; the texts of listen, token and the files are
 * copied. 0, or -1 with the cause and the remedy. */
int api_new(const struct api_options *o, struct api **out, struct err *e) MUST_USE;

/* Ends what is open. Accepts NULL. The loop turns once more before it ends. */
void api_free(struct api *a);

/* Where a browser finds it: "http://127.0.0.1:43567/". With a token: "...#token=TOKEN", which the
 * browser keeps to itself. */
const char *api_address(const struct api *a);

/* Does it listen at every address of this machine? Then api_address is the one for this machine. */
bool api_is_everywhere(const struct api *a);

/* Something happened in the campaign: the sink of events hands all of them on. Cheap where nobody
 * listens. A stored campaign is told as EVENT_CAMPAIGN and summary_tell for each scenario. */
void api_event(struct api *a, const struct event *event);

/* What api_host.state says is another than before: it was paused, or is ready. */
void api_changed(struct api *a);

/* A replay is at its end; who listens is told. */
void api_replayed(struct api *a, uint64_t id);

/* How many listen to events. */
uint32_t api_listeners(const struct api *a);

/* The OpenAPI 3.1 document of all routes. */
void api_openapi(const char *version, struct buf *out);

#endif
