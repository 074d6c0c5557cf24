/* SPDX-License-Identifier: Apache-2.0
 *
 * Dependencies of scenarios, for people, for programs and for Graphviz. */
#ifndef OUTFOX_REPORT_DEPS_H
#define OUTFOX_REPORT_DEPS_H

#include "core/dependency.h"
#include "core/summary.h"
#include "report/style.h"

/* Of one scenario. The summary tells what was explored, and how far. */
struct deps_report {
    const struct summary *summary;
    struct deps deps;
};

/* A matrix of dependencies and modes for each scenario. */
void report_deps_text(const struct deps_report *list, uint32_t n, const struct style *style,
                      struct buf *out);

/* One JSON document (docs/json.md). */
void report_deps_json(const struct deps_report *list, uint32_t n, struct buf *out);

/* One directed graph; several scenarios are clusters of it. */
void report_deps_dot(const struct deps_report *list, uint32_t n, struct buf *out);

/* ---- words ---- */

/* "users > bookings GET /bookings/[id]" */
void words_dep_call(const struct names *names, uid u, struct buf *out);

/* What becomes of the request when it fails, and why: "users calls it again". */
void words_dep(const struct summary *s, const struct dep *d, struct buf *out);

#endif
