/* SPDX-License-Identifier: Apache-2.0
 *
 * The face of this room: oracles that need no code of the user's. A judge is shown every run that
 * was explored, in the order of observation and after its trace was aligned; at the end it says
 * what is wrong, each with the calls that show it and the smallest faultload.
 *
 * 1. Pure: no I/O, no clock. What it says depends on the runs it was shown, not on when.
 * 2. The first run it is shown is one without faults. Until then nothing is said.
 * 3. What it remembers is bounded by the number of points, not of runs. */
#ifndef OUTFOX_JUDGE_JUDGE_H
#define OUTFOX_JUDGE_JUDGE_H

#include "core/dependency.h"
#include "core/pattern.h"
#include "core/run.h"
#include "core/summary.h"
#include "data/keys.h"

enum oracle {
#define ORACLE(id, name, severity, says) ORACLE_##id,
#include "judge/oracle.list"
#undef ORACLE
    ORACLES
};

struct oracle_row {
    const char *name;
    enum severity severity; /* unless it is set otherwise */
    const char *says;
};

extern const struct oracle_row oracle_rows[ORACLES];

/* ORACLES: there is none of this name. */
enum oracle oracle_find(slice name);

/* Does it compare several runs with faults, so that one alone cannot show what it says? */
bool oracle_compares(enum oracle oracle);

/* ---- settings: what users say about their system, key `judge` of a file ---- */

/* How often calls that match may have had their effect: "at least low and at most high", when the
 * client saw `when` (OUT_NONE: always), else by the other two. */
struct effect_rule {
    struct pattern calls;
    bool counted; /* the rest is given */
    outcome when;
    uint32_t low, high;           /* high UINT32_MAX: any number */
    uint32_t else_low, else_high; /* when the client saw something else */
    char *text;                   /* as it is written; its own */
    uint32_t line, col;
};

struct undo_rule {
    struct pattern effect, undo;
};

/* JSON pointers into answers, in which a star stands for any step. */
/* To be used as a VEC; it has a name so that a table can say where one is. */
struct patterns {
    struct pattern *at;
    uint32_t n, cap;
};

struct judge_settings {
    enum severity severity[ORACLES];
    struct patterns reads;           /* no side effects, whatever the method says */
    struct patterns idempotent;      /* may be made twice */
    VEC(struct effect_rule) effects; /* side effects, and how often they must be made */
    VEC(struct undo_rule) undo;      /* what takes an effect back */
    struct texts volatile_;          /* what of answers is not compared */
    struct texts stable;             /* what is compared although it looks like a moment or an id */
    struct texts optional;           /* what may be null, empty or missing under faults */
    struct arena arena;              /* of these */
    int64_t limit_ns;                /* how long a scenario may take under one fault; 0: not said */
};

extern const struct keys judge_keys; /* of `judge` in outfox.yaml and in simulated systems */

/* Nothing is said: oracles as in their rows. */
void judge_settings_init(struct judge_settings *s);
void judge_settings_deinit(struct judge_settings *s);

/* Adds what the map of the key `judge` says; NULL: nothing is said. -1 with line and column; what
 * was read by then is in *out and is left to judge_settings_deinit. */
int judge_settings_load(const struct node *map, const struct vocabulary *v,
                        struct judge_settings *out, struct err *e) MUST_USE;

/* "PATTERN", or "PATTERN: COUNT [when status S] [, otherwise COUNT]"; COUNT: [exactly|at least|at
 * most] N, none, any. -1 leaves nothing to deinit. */
int effect_rule_parse(const struct vocabulary *v, slice text, struct effect_rule *out,
                      struct err *e) MUST_USE;
void effect_rule_deinit(struct effect_rule *r);

/* The same from a file: a text, or the map of one pair that YAML makes of one without quotes. -1
 * with line and column. */
int effect_rule_load(const struct node *node, const struct vocabulary *v, struct effect_rule *out,
                     struct err *e) MUST_USE;

/* How often the effect is to be had when the client saw `status`. */
struct effect_bounds {
    uint32_t low, high;
};
struct effect_bounds effect_rule_bounds(const struct effect_rule *r, outcome status);

/* Is the rule kept? *counted: the calls that match and had their effect. Rules without a count
 * always are. */
bool effect_rule_check(const struct effect_rule *r, const struct names *names,
                       const struct trace *trace, outcome status, uint32_t *counted);

/* Sets one from "NAME=off|warning|finding"; NAME may be `all`. */
int judge_settings_set(struct judge_settings *s, slice text, struct err *e) MUST_USE;

/* ---- judging ---- */

/* A pair of services of which the first can call the second, as far as the configuration says. */
struct judge_wire {
    slice caller, callee;
};

struct judge_options {
    struct names *names;
    struct faultloads *faultloads;
    const struct judge_settings *settings; /* lives as long as the judge */
    const struct judge_wire *wires;        /* likewise; none: not known */
    uint32_t n_wires;
    int64_t limit_ns; /* of this scenario; 0: that of the settings */
};

struct judge;

struct judge *judge_new(const struct judge_options *options);
void judge_free(struct judge *j);

/* A run of the search, fault-free ones included. */
void judge_run(struct judge *j, const struct run *run);

/* Any other run. Without faults: what answers are like is learned from it as well. With faults, as
 * judge_doubts asked for: does it take as long again, or is a call made again as soon? */
void judge_learn(struct judge *j, const struct run *run);

/* Faultloads that are worth a run (judge_learn) before judge_finish, because what was seen is a
 * matter of time: at most so many, known ones and new. Returns how many. */
uint32_t judge_doubts(struct judge *j, faultload *out, uint32_t most);

/* For those who do not want to wait for the end: the next thing said that is set to be a finding
 * and was not given before, or NULL; and what it counts for beside these findings. */
const struct remark *judge_news(struct judge *j);
enum severity judge_weigh(const struct judge *j, const struct remark *r, const struct summary *s);

/* Fills in out->remarks and out->volatile_; texts live as long as the judge. May be called again,
 * also after more runs: what it says depends on the runs alone. complete: nothing was left
 * untried. */
void judge_finish(struct judge *j, bool complete, struct summary *out);

/* The same in the middle, for whoever looks often: texts live as long as `keep`. */
void judge_look(struct judge *j, struct arena *keep, struct summary *out);

/* What something outside of this room saw of a service: it died, or leaks. */
void judge_note_service(struct judge *j, enum oracle oracle, slice service, faultload f,
                        uint64_t number, const char *why);

/* Which calls the scenario depends on, as far as is known by now; the caller calls deps_deinit.
 * Nothing when no run without faults was shown. */
void deps_build(const struct judge *j, struct deps *out);

/* ---- side effects ---- */

enum effect { EFFECT_READ, EFFECT_IDEMPOTENT, EFFECT_ONCE };

/* By the settings; else GET, HEAD and OPTIONS are reads, PUT and DELETE may be repeated, POST asks
 * where its path ends in a word such as search; of gRPC the method's name decides (Get, List ...
 * are reads). */
enum effect effect_of(const struct judge_settings *s, const struct names *names, uid call);

/* Is it among the side effects that the settings list? */
bool effect_listed(const struct judge_settings *s, const struct names *names, uid call);

#endif
