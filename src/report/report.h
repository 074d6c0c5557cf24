/* SPDX-License-Identifier: Apache-2.0
 *
 * Printers. All of them print from values of core/ to a stream. */
#ifndef OUTFOX_REPORT_REPORT_H
#define OUTFOX_REPORT_REPORT_H

#include <stdio.h>

#include "base/node.h"
#include "core/run.h"
#include "core/summary.h"
#include "core/trace.h"
#include "report/style.h"

#define REPORT_SCHEMA_VERSION 1

/* The summary of an exploration, for people. */
void report_text(const struct summary *s, const struct style *style, FILE *out);

/* The same as one JSON document (docs/json.md). */
void report_json(const struct summary *s, FILE *out);

/* One run as a tree of calls. body: what the client received, or NULL. */
void report_tree(const struct trace *trace, const struct names *names,
                 const struct verdict *verdict, const struct node *body, const struct style *style,
                 FILE *out);

void report_tree_json(const char *system, const char *scenario, const struct trace *trace,
                      const struct names *names, const struct verdict *verdict,
                      const struct node *body, FILE *out);

void report_explanation_json(const char *system, const char *scenario, const struct names *names,
                             const struct faultloads *fl, faultload f, const struct explanation *x,
                             FILE *out);

/* An explanation, for people or as JSON. */
void report_explanation(const char *system, const char *scenario, const struct names *names,
                        const struct faultloads *fl, faultload f, const struct explanation *x,
                        bool json, FILE *out);

/* A run with faults, and how it differs from one without. */
void report_replay(const struct names *names, const struct run *plain, const struct run *faulty,
                   const struct style *style, FILE *out);

#endif
