/* SPDX-License-Identifier: Apache-2.0
 *
 * The command line: verbs and options are rows of tables (verbs in main.c, options in args.c) that
 * also feed the help texts. */
#ifndef OUTFOX_CMD_CMD_H
#define OUTFOX_CMD_CMD_H

#include <limits.h>
#include <stdio.h>

#include "base/err.h"
#include "base/vec.h"
#include "core/mode.h"
#include "core/summary.h"
#include "judge/judge.h"
#include "report/report.h"
#include "search/search.h"

extern const char *const outfox_version, *const outfox_commit;

/* What the process ends with. Documented in README.md and docs/cli.md. */
enum exit_code {
    EXIT_OK = 0,            /* everything as expected */
    EXIT_FINDINGS = 1,      /* something breaks the scenario */
    EXIT_USAGE = 2,         /* the command line or a file is wrong */
    EXIT_ENVIRONMENT = 3,   /* the scenario fails without faults, or the output cannot be written */
    EXIT_INCONCLUSIVE = 4,  /* no finding, but the budget ended or something was unstable */
    EXIT_INTERRUPTED = 130, /* by SIGINT */
    EXIT_TERMINATED = 143,  /* by SIGTERM */
};

enum { POSITIONAL_MAX = 16 };

/* An option that is a setting of the configuration. */
struct setting {
    const char *name, *value; /* the option's name without dashes */
};

/* To be used as a VEC: what an option was given, each time. */
struct arg_list {
    const char **at;
    uint32_t n, cap;
};

struct args {
    const char *positional[POSITIONAL_MAX];
    uint32_t n_positional;
    char **command; /* "COMMAND...": all words from the first that is no option, then NULL */
    const char *scenario, *color;
    const char *search[SEARCH_OPTIONS]; /* what is said of each; NULL: nothing */
    const char *json_file, *junit, *markdown, *html, *compare, *since, *events, *store, *identify,
        *config;
    struct arg_list faults, oracles;
    VEC(struct setting) settings; /* in the order in which they were given */
    uint64_t max_runs, jobs;
    int64_t max_time_ns;
    bool json, quiet, quick, help, resume, fail_fast;
    bool schema, tests; /* validate */
    bool dot;           /* deps, states */
    bool reference;     /* plan run */
    bool to_yafi;       /* plan convert, and what it extends */
    const char *system;
    bool dry_run; /* doctor */
    bool contract, update;
    const char *all;                                      /* man */
    bool ui;                                              /* the live page, */
    const char *listen, *token_file, *tls_cert, *tls_key; /* and who may reach it */
};

struct verb {
    const char *name; /* one or two words */
    const char
        *positional; /* "FILE"; "[FILE]" may be left out; "COMMAND..." is all the rest, or, with
                               n_positional above 1, so many words at most */
    uint32_t n_positional;
    const char *about;                   /* one line; more of it, with examples, in help.txt */
    uint32_t options;                    /* bits of enum option_group */
    int (*run)(const struct args *args); /* NULL: reads its words itself */
};

/* Verbs of two words that begin with the same one. */
struct verb_group {
    const char *name;  /* their first word */
    const char *about; /* what they are about: "simulated systems" */
};

/* The group of a verb, or of a word alone; NULL: it is in none. */
const struct verb_group *verb_group_of(const char *name);

extern const struct verb_group verb_groups[];
extern const size_t n_verb_groups;
extern const struct verb verbs[];
extern const size_t n_verbs;

/* Which options a verb has. */
enum option_group {
    OPT_COMMON = 1,
    OPT_SCENARIO = 2,
    OPT_FAULT = 4,
    OPT_SEARCH = 8,
    OPT_PROXY = 16,
    OPT_VALIDATE = 32,
    OPT_JSON = 64,
    OPT_CAMPAIGN = 128, /* what a campaign is */
    OPT_RUN = 256,      /* how it is run, and reported */
    OPT_SERVE = 512,
    OPT_INIT = 1024,
    OPT_AGENT = 1 << 11,
    OPT_WATCH = 1 << 15, /* what is told while it lasts */
    OPT_DEPS = 1 << 16,
    OPT_CONTRACT = 1 << 20,
    OPT_LEARN = 1 << 21,
    OPT_MAN = 1 << 22,
    OPT_PLAN = 1 << 24,
    OPT_PLAN_CHECK = 1 << 25,
    OPT_DOCTOR = 1 << 26,
    OPT_HELP = INT_MIN,   /* the last bit: of verbs that pass all else on */
    OPT_DERIVE = 1 << 27, /* plans that are derived */
    OPT_PLAN_INIT = 1 << 28,
    OPT_CONVERT = 1 << 29,
    OPT_PLAN_REPORT = 1 << 17,
    OPT_UI = 1 << 23, /* where the page is, and for whom */
};

enum option_type {
    TYPE_FLAG,
    TYPE_TEXT,
    TYPE_LIST,
    TYPE_COUNT,
    TYPE_DURATION,
    TYPE_SEARCH, /* an option of a search; `field` is which */
    TYPE_SETTING
};

struct option_row {
    const char *name;     /* without the dashes */
    char letter;          /* 0: none */
    const char *argument; /* NULL: a flag */
    const char *help;
    uint32_t groups;
    enum option_type type;
    size_t field;
};

extern const struct option_row option_rows[];
extern const size_t n_options;

/* Reads the options of a verb. 0, or -1 with *e. */
int args_parse(struct args *args, const struct verb *verb, int argc, char **argv,
               struct err *e) MUST_USE;
void args_deinit(struct args *args);

/* What a usage line says behind the arguments: options may stand there, unless they would be those
 * of a command. */
const char *args_behind(const struct verb *verb);

/* The options of a verb, for its help. */
void args_help(uint32_t groups);

int cmd_sim_check(const struct args *args);
int cmd_sim_run(const struct args *args);
int cmd_sim_explore(const struct args *args);
int cmd_sim_serve(const struct args *args);
int cmd_sim_explain(const struct args *args);
int cmd_oracles(const struct args *args);
int cmd_modes(const struct args *args);
int cmd_ui(const struct args *args);
int cmd_schema(const struct args *args);
int cmd_proxy(const struct args *args);
int cmd_validate(const struct args *args);
int cmd_run(const struct args *args);
int cmd_replay(const struct args *args);
int cmd_explain(const struct args *args);
int cmd_report(const struct args *args);
int cmd_deps(const struct args *args);
int cmd_sim_deps(const struct args *args);
int cmd_init(const struct args *args);
int cmd_learn(const struct args *args);
int cmd_fault_injected(const struct args *args);
int cmd_calls(const struct args *args);
int cmd_no_faults(const struct args *args);
int cmd_man(const struct args *args);
int cmd_completion(const struct args *args);

/* outfox cc, outfox c++, with all words from the verb on. Returns only when there is no compiler. */
int cmd_cc(int argc, char **argv);

/* ---- the options of a search: args.c ---- */

/* What the command line says, over what *out holds already. Its modes are kept in *modes; of sets
 * those that fit calls with the flags `speaks`. */
int search_args(const struct args *args, uint8_t speaks, struct mode_list *modes,
                struct search_options *out, struct err *e) MUST_USE;

/* What it says of the seed alone; 0: nothing. */
uint64_t search_seed(const struct args *args);

/* Modes, order, seed and the assumptions in use, in words. */
void search_describe(const struct search_options *options, struct arena *arena,
                     struct summary *out);

/* ---- what verbs on stored campaigns and on simulated systems share: stored.c ---- */

/* Prints what becomes of faultloads in this search. s: names all of them. ledger: of the campaign's
 * runs; NULL: it has none but the search's. */
struct ledger;
void explain_print(const struct args *args, const struct summary *s, const struct search *search,
                   const struct ledger *ledger, const faultload *meant, uint32_t n);

/* Do the options of deps go together? 0, or an exit code after the error was printed. */
int deps_check(const struct args *args);

/* Prints dependencies as they are wanted; returns the exit code. */
struct deps_report;
int deps_print(const struct args *args, const struct deps_report *list, uint32_t n);

/* All oracles with their pages, in the order of their table (lists.c). */
void oracles_about(struct arena *a, struct report_oracle out[ORACLES]);

/* What a campaign ends with. */
int cmd_code(const struct summary *s);

/* The worse of two: a broken scenario, then findings, then what is not known. */
int cmd_worse(int a, int b);

/* ---- what is printed as JSON by a verb, and by its page ---- */

struct campaign_config;
void version_json(struct buf *out);
void validate_json(const struct campaign_config *config, struct buf *out);

/* ---- writing ---- */

/* Appends a text that is part of the program (tools/pages): the page of an oracle in docs/oracles,
 * or what help.txt says of a verb, "outfox" or "exit codes". */
void page_add(const char *name, struct buf *out);

/* Writes a file; force: also over one that is there. 0, or an exit code after the error was printed:
 * then there is no half of it. */
int cmd_write(const char *path, const struct buf *text, bool force);

/* Writes a report out, and frees it. */
void cmd_print(struct buf *text, FILE *out);

/* "outfox: " and the error on stderr; returns EXIT_USAGE. */
int cmd_fail(const struct err *e);

#endif
