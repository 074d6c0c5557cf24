/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of a campaign: outfox.yaml (docs/config.md). Every key is a row of a table that
 * also feeds the JSON Schema and the checks of the documentation.
 *
 * 1. All text lives in the configuration's arena and is NUL-terminated.
 * 2. ${ENV} and ${ENV:-default} are expanded when the file is read, in every text value; $$ is a
 *    dollar sign. An unset variable without a default is an error that names it.
 * 3. {port}, {url:NAME} ... are left as they are: they are expanded when a campaign begins
 *    (wiring.h), but unknown ones and unknown NAMEs are errors when the file is read.
 * 4. Commands and paths are relative to the directory of the file. Paths in it (dir, ca, store,
 *    logs, simulate) are joined with that directory already: they are opened as they are.
 * 5. With `simulate` there are no services here: `service` of a request is the place of a service
 *    in that file, which was read once to check it and the names. Its modes, judge, normalise and
 *    identify count where this file says nothing. */
#ifndef OUTFOX_CONFIG_CONFIG_H
#define OUTFOX_CONFIG_CONFIG_H

#include "base/err.h"
#include "base/vec.h"
#include "core/mode.h"
#include "core/pattern.h"
#include "data/condition.h"
#include "data/keys.h"
#include "plan/plan.h"
#include "search/search.h"

enum { SERVICES_MAX = 500, SCENARIOS_MAX = 1000, ALTERNATIVES_MAX = 20 };

enum ready_kind {
    READY_TCP,  /* something accepts connections at its port */
    READY_HTTP, /* ready_target answers 2xx or 3xx */
    READY_NONE, /* as soon as it runs */
};

enum restart {
    RESTART_DEAD,     /* when it died */
    RESTART_EACH_RUN, /* before every run too: nothing that it remembers outlives one */
};

struct service_spec {
    slice name;
    slice host;         /* where it listens; "127.0.0.1" unless its address says otherwise */
    uint16_t port;      /* 0: a free one is chosen for it */
    slice address;      /* of one that runs already: HOST:PORT or unix:PATH; empty: host and port */
    bool tls, insecure; /* the service speaks TLS; its certificate is not checked */
    slice ca;           /* file; empty: the system's */
    slice host_header;  /* Host that it gets; "keep": the caller's; empty: that of its address, or,
                           of a service that we start, the caller's */
    slice listen;       /* where the proxy listens for callers that we do not start; empty: nowhere,
                           unless the service has an address: then 127.0.0.1, any port */
    slice run;          /* command; empty: it runs already */
    slice dir;          /* working directory */
    struct text_pairs env;
    enum ready_kind ready;
    slice ready_method, ready_target; /* READY_HTTP */
    int64_t ready_ns;                 /* deadline; default 30s */
    int64_t stop_ns;                  /* from SIGTERM to SIGKILL; default 3s */
    enum restart restart;
    slice version;      /* what tells it from an earlier one (live/identity.h); empty: not given */
    struct texts files; /* what it is made of: paths and patterns; none: what the command names */
    uint32_t line, col;
};

struct expect_status {
    bool grpc;
    uint32_t low, high;
};

struct expect_value {
    slice pointer; /* JSON pointer, RFC 6901 */
    const struct node *value;
    uint32_t line, col;
};

/* What a condition is about. */
enum expect_about { ABOUT_JSON, ABOUT_HEADER, ABOUT_BODY };

struct expect_where {
    enum expect_about about;
    slice name; /* a JSON pointer, or the name of a header */
    struct condition condition;
};

/* What must hold of the answer, or of a command: `expect` and `under-faults`. */
struct expect_spec {
    bool given;
    VEC(struct expect_status) status; /* any of; none given: 200 to 299, or gRPC 0 */
    VEC(struct expect_value) json;    /* all of */
    struct text_pairs headers;        /* all of: value equal */
    VEC(struct expect_where) where;   /* all of */
    bool has_body;
    slice body;        /* the whole body */
    slice contains;    /* empty: nothing */
    int64_t within_ns; /* 0: any time */
    uint32_t exit;     /* of a command; default 0 */
    bool exit_given;   /* in alternatives this makes a difference */

    /* One of these must hold as well; none given: nothing more. They have none themselves. What is
     * said neither here nor there of the status and of the exit code is asked of each of them as
     * without alternatives. */
    VEC(struct expect_spec) any_of;
};

struct scenario_spec {
    slice name;
    bool is_command;
    /* request: METHOD URL, or SERVICE METHOD /path, or SERVICE package.Service/Method (gRPC) */
    uint32_t service; /* that the request goes to, index into services */
    slice method;     /* empty: gRPC */
    slice target;     /* path and query, or package.Service/Method */
    struct text_pairs headers;
    slice body; /* as it is sent; a map or list in the file becomes JSON (and its content type) */
    slice content_type;
    slice command; /* run with /bin/sh -c */
    slice dir;
    struct text_pairs env;           /* of the commands */
    slice before, after;             /* commands round every run; empty: none */
    int64_t timeout_ns;              /* of a run; default 30s (command: 2m) */
    bool timeout_given;              /* the file says so: every run has that long */
    int64_t limit_ns;                /* how long it may take under one fault; 0: as `judge` says */
    struct expect_spec expect;       /* without faults, and with them unless the next is given */
    struct expect_spec under_faults; /* when a fault was injected */
    slice contract; /* its file; empty: resilience/NAME.yaml beside the configuration */
    slice test;     /* of a suite: which one it is; empty: the file has this scenario. All else of a
                       test but its name is shared with the others of the suite */
    uint32_t line, col;
};

/* Scenarios that are tests of a runner. They are not known when the file is read: `list` is run
 * when a campaign begins (live/listing.h), and each test becomes a scenario then. */
struct suite_spec {
    bool given;
    slice list;              /* command that prints the tests; empty: the reports alone tell them */
    int64_t list_ns;         /* its deadline; default 2m */
    slice junit;             /* pattern of JUnit XML reports that hold the tests; "-": `list` prints
                                one; empty: `list` prints a test in each line */
    struct texts only, skip; /* patterns with *; none: all, nothing */
    struct scenario_spec each; /* what all tests have; its command has $OUTFOX_TEST for {test} */
    uint32_t line, col;
};

enum identify_level { IDENTIFY_AUTO, IDENTIFY_STATE, IDENTIFY_TRACE, IDENTIFY_NONE };
enum identify_payload { PAYLOAD_AUTO, PAYLOAD_ON, PAYLOAD_OFF };

extern const char *const identify_level_names[5];   /* auto state trace none NULL */
extern const char *const identify_payload_names[4]; /* auto on off NULL */

enum connections { CONNECTIONS_FRESH, CONNECTIONS_REUSE };

extern const char *const connections_names[3]; /* fresh reuse NULL */

struct campaign_config {
    struct arena arena;
    const char *source; /* the file */
    slice dir;          /* its directory */
    slice name;         /* of the system; default: of the directory */

    /* Of all services that we start and of all commands: it is in the `env` of each already, where
     * that does not say otherwise. */
    struct text_pairs env;
    VEC(struct service_spec) services;
    VEC(struct scenario_spec) scenarios;   /* empty with simulate: then those of the file */
    slice simulate;                        /* file of a simulated system, served; empty: none */
    struct texts propagate;                /* simulate: headers that its services pass on; default
                                              traceparent, tracestate, baggage */
    struct suite_spec suite;               /* its tests are added to the scenarios */
    bool modes_given, simulated_scenarios; /* the scenarios are those of the simulated system */
    struct mode_list modes;                /* default: the set errors */
    slice plan_file;     /* a failure plan whose events are modes, event:NAME; empty: none */
    struct plan *plan;   /* as it was read; NULL: not */
    struct texts ignore; /* "SERVICE INTERFACE" with *: calls that are let through unseen */
    struct {
        struct texts hide, show;
    } secrets; /* names, besides those of data/secret.h */
    struct {
        struct search_options options; /* without modes; default: order soon, 3 baselines */
        bool order_given;
        uint64_t max_runs;    /* 0: no bound */
        int64_t budget_ns;    /* 0: none */
        uint32_t jobs;        /* default 1 */
        uint32_t check_every; /* runs between checks without faults; default 100; 0: never */
    } search;
    struct {
        enum identify_level level;
        enum identify_payload payload;
        bool predecessors;
        struct texts normalise; /* "REGEX -> TEXT", as of outfox proxy */
        struct texts headers;   /* further headers that carry a trace id */
    } identify;
    const struct node *judge; /* for judge_settings_load, which has taken it; NULL: nothing is said
                               */
    int64_t quiet_ns;  /* after the answer, to wait for calls that begin later; -1: learned */
    int64_t settle_ns; /* how long open calls are waited for at the end of a run; default 5s */
    slice store;       /* default .outfox/campaign.db in the directory of the file */
    slice logs;        /* default .outfox/logs */
    bool fault_header; /* x-outfox-fault in injected answers; default on */
    enum connections connections; /* does each call have a connection of its own? default yes */
};

/* Reads and checks a file; NULL path: outfox.yaml in the working directory or one above it. 0, or
 * -1 with file, line, column and the nearest name. */
int campaign_config_load(const char *path, struct campaign_config **out, struct err *e) MUST_USE;
void campaign_config_free(struct campaign_config *c);

/* The same from text, without a look at any file: of a simulated system no service is known, and
 * every NAME is taken for one. `source` is for messages and outlives the configuration. */
int campaign_config_parse(slice text, const char *source, struct campaign_config **out,
                          struct err *e) MUST_USE;

/* The first service that is started anew before each run; NULL: none is. */
const struct service_spec *config_renewed(const struct campaign_config *c);

/* UINT32_MAX: there is none. */
uint32_t config_service(const struct campaign_config *c, slice name);
uint32_t config_scenario(const struct campaign_config *c, slice name);

/* Are scenarios told apart by their names in what is printed? Where there is one, that is not needed. */
bool config_has_many(const struct campaign_config *c);

/* Do these modes that are events (event:NAME) mean something, and can they be carried out here? 0, or
 * -1 with *e. */
int config_check_modes(const struct campaign_config *c, const mode *modes, uint32_t n,
                       struct err *e) MUST_USE;

/* Does it know where to listen: by a port that is fixed, or by {port}, {address} in its texts?
 * Those that are not waited for may listen nowhere. */
bool config_tells_port(const struct service_spec *s);

/* What patterns of the system may name: its services, and calls as the rules of `normalise` (may be
 * NULL) name them. The list of services lives in the arena. */
struct vocabulary config_vocabulary(const struct campaign_config *c, struct names *names,
                                    const struct rewrite *rules, struct arena *a);

/* The rules of `normalise`, which were checked; rewrite_free. */
struct rewrite *config_rules(const struct campaign_config *c);

/* What is not wrong with it, and will hardly work: tells a sentence for each, what is the matter and
 * what to change. Looks at directories. For `outfox validate`. */
void config_warn(const struct campaign_config *c, void (*tell)(void *ctx, const char *text),
                 void *ctx);

/* The JSON Schema of the file, made from the tables. */
void campaign_config_schema(struct buf *out);

#endif
