/* SPDX-License-Identifier: Apache-2.0
 *
 * Printers. All of them print from values of core/ to text that grows: only cmd writes it out, and a
 * page may serve it as well. */
#ifndef OUTFOX_REPORT_REPORT_H
#define OUTFOX_REPORT_REPORT_H

#include "core/coverage.h"
#include "core/dependency.h"
#include "core/run.h"
#include "core/summary.h"
#include "core/trace.h"
#include "data/node.h"

#define REPORT_SCHEMA_VERSION 1

enum { REPORT_SAMPLE = 100 };

/* Colours, or none: marks around words, which are empty without colour. */
struct style {
    const char *bold, *red, *green, *yellow, *dim, *off;
};

extern const struct style style_plain, style_colour;

/* A terminal on which a line can be rewritten? */
bool style_terminal(int fd);

/* "auto", "always" or "never"; auto: a terminal, TERM not dumb, NO_COLOR empty. CLICOLOR_FORCE
 * forces. */
const struct style *style_for(int fd, const char *when);

/* Is given one run, which lives during the call; 0: go on. Leaves *e alone. */
typedef int (*report_each)(void *ctx, const struct run *run, struct err *e);

struct comparison;
struct explanations;
struct ledger;
struct report_oracle;

/* A call that was seen in some run. */
struct known_call {
    const struct names *names;
    uid call;
    bool conditional; /* the first run without faults did not make it */
    uint64_t runs;    /* without faults that made it */
    int64_t took_ns;  /* the median of those; 0: there are none */
};

/* In the order of their names; some may be missing. To be used as a VEC. */
struct known_calls {
    struct known_call *at;
    uint32_t n, cap;
    uint64_t total;
};

/* What came of a campaign, or of exploring one scenario: its scenarios, and the runs behind them. */
struct report_source {
    const char *system, *file, *version; /* of campaigns alone; else NULL */
    const char *path;  /* of the file, from the top of the repository; NULL: as in `file` */
    const char *error; /* why it could not go on; NULL: it could */
    uint32_t n;
    const struct summary *const *scenarios;
    void *ctx;
    /* The run that shows a faultload, as it is stored. 0: the caller frees its trace.calls; what
     * else it points to lives until the next call. 1: there is none. May be NULL. */
    int (*run_of)(void *ctx, uint32_t scenario, faultload f, struct run *out);
    /* All runs of a scenario in their order, until `each` ends it. -1: they cannot be read. May be
     * NULL. */
    int (*each_run)(void *ctx, uint32_t scenario, report_each each, void *each_ctx);
    /* The same from the run with this number on. May be NULL. */
    int (*runs_from)(void *ctx, uint32_t scenario, uint64_t number, report_each each,
                     void *each_ctx);
    /* The calls that there are, for vec_deinit. May be NULL. */
    void (*calls)(void *ctx, uint32_t scenario, struct known_calls *out);
    /* What is remembered of its runs (page/ledger.h); NULL: nothing is. May be NULL. */
    const struct ledger *(*ledger)(void *ctx, uint32_t scenario);
    /* Its dependencies, for deps_deinit. May be NULL. */
    void (*deps)(void *ctx, uint32_t scenario, struct deps *out);
    /* Gives `take` some faultloads that were not run, REPORT_SAMPLE at most, and why; they live
     * during the call. May be NULL. */
    void (*sample)(void *ctx, uint32_t scenario,
                   void (*take)(void *take_ctx, const struct explanations *all), void *take_ctx);
    /* What its scenarios cover, for suite_coverage_deinit. May be NULL; asked of several alone. */
    void (*suite)(void *ctx, struct suite_coverage *out);
    const struct comparison *comparison; /* with an earlier campaign; NULL: none is wanted */
    const struct report_oracle *oracles; /* all that there are */
    uint32_t n_oracles;
};

/* What an oracle is. */
struct report_oracle {
    const char *name, *doc;
    enum severity severity; /* unless somebody chooses another */
    const char *page;       /* all of it, as text */
};

/* For people. */
void report_text(const struct report_source *source, const struct style *style, struct buf *out);

/* A finding as it comes, of the expectation (r NULL) or an oracle's (f NULL): what fails, then
 * what, how to see it again. The last line has no newline. plain, seen: a run without faults and
 * one that shows it, or NULL. */
void report_found(const struct summary *s, const struct finding *f, const struct remark *r,
                  const struct trace *plain, const struct trace *seen, const struct style *style,
                  struct buf *out);

/* One JSON document (docs/json.md): of a campaign, or of one scenario that was explored. */
void report_campaign_json(const struct report_source *source, struct buf *out);
void report_json(const struct summary *s, struct buf *out);

/* JUnit XML, Markdown, and annotations for GitHub (docs/reports.md). */
void report_junit(const struct report_source *source, struct buf *out);
void report_markdown(const struct report_source *source, struct buf *out);
void report_github(const struct report_source *source, struct buf *out);

/* "ok", "findings", "inconclusive" or "broken". */
const char *report_verdict(const struct summary *s);

/* The worst verdict of all scenarios. */
const char *report_worst(const struct report_source *source);

/* One run as a tree of calls. body: what the client received, or NULL. */
void report_tree(const struct trace *trace, const struct names *names,
                 const struct verdict *verdict, const struct node *body, const struct style *style,
                 struct buf *out);

/* The tree alone, with `indent` before each line and at most `most` lines. */
void report_calls(const struct trace *trace, const struct names *names, const char *indent,
                  uint32_t most, const struct style *style, struct buf *out);

void report_tree_json(const char *system, const char *scenario, const struct trace *trace,
                      const struct names *names, const struct verdict *verdict,
                      const struct node *body, struct buf *out);

/* Explanations of the faultloads that were meant, one at least. */
struct explanations {
    const struct summary *s; /* names them */
    uint32_t n;
    const faultload *faultload;
    const struct explanation *explanation;
};

/* For people; as JSON. */
void report_explanations(const struct explanations *all, struct buf *out);
void report_explanations_json(const struct explanations *all, struct buf *out);
void report_sample_json(const struct explanations *all, struct buf *out);

/* A run with faults, how it differs from one without, and what oracles say of it (of the summary
 * its names and remarks are read). */
void report_replay(const struct summary *s, const struct run *plain, const struct run *faulty,
                   const struct style *style, struct buf *out);

/* What came of a replay. */
struct replayed {
    const char *id, *why; /* of the finding, and its sentence; NULL: it was a faultload as text */
    const char *scenario;
    faultload faultload;
    bool shows;  /* the finding shows again */
    bool wrong;  /* that, or something else is wrong */
    bool damage; /* the system stays broken */
    bool unfired;
    bool unsure; /* it does not show, but that proves nothing */
};

struct replays {
    const char *system;
    const struct names *names;
    const struct faultloads *faultloads;
    VEC(struct replayed) list;
};

void report_replay_json(const char *system, const struct summary *s, const struct replayed *result,
                        const struct run *plain, const struct run *faulty, struct buf *out);

/* Does the finding show again? One line. */
void report_shown(const struct replayed *result, const struct style *style, struct buf *out);

/* How many of all findings do: one line after theirs; the JSON document. */
void report_replays(const struct replays *all, struct buf *out);
void report_replays_json(const struct replays *all, struct buf *out);

/* Dependencies of one scenario. The summary tells what was explored, and how far. */
struct deps_report {
    const struct summary *summary;
    struct deps deps;
};

/* A matrix of dependencies and modes for each scenario; one JSON document; one directed graph for
 * Graphviz, of which several scenarios are clusters. */
void report_deps_text(const struct deps_report *list, uint32_t n, const struct style *style,
                      struct buf *out);
void report_deps_json(const struct deps_report *list, uint32_t n, struct buf *out);
void report_deps_dot(const struct deps_report *list, uint32_t n, struct buf *out);

/* What there is: ways to fail, for people and as JSON; oracles, as JSON. */
void report_modes(struct buf *out);
void report_modes_json(struct buf *out);
void report_oracles_json(const struct report_oracle *list, uint32_t n, struct buf *out);

/* What changed in a file, line by line. */
void report_difference(const char *file, slice before, slice after, struct buf *out);

#endif
