/* SPDX-License-Identifier: Apache-2.0
 *
 * What instrumented programs hold, for people, for programs, and as graphs. All of it is text of others:
 * whatever a name is, it is printed in one line. */
#ifndef OUTFOX_REPORT_NATIVE_H
#define OUTFOX_REPORT_NATIVE_H

#include "native/native.h"
#include "report/report.h"

/* Which sites are meant: those with a file, function or callee like the pattern, in which `*` stands for
 * anything, and of this kind. */
struct native_filter {
    slice only;       /* empty: all */
    const char *kind; /* of native_kinds; NULL: all */
};

/* What --kind can say, up to NULL: calls, errors of the program's own, then what calls are about. */
extern const char *const native_kinds[];

/* Sources, for their lines: all of a file as records name it; p NULL: it is not to be had. It lives as long
 * as what is printed. */
struct native_sources {
    slice (*file)(void *ctx, slice name);
    void *ctx;
};

void report_sites(const struct native *list, uint32_t n, const struct native_filter *filter,
                  const struct style *style, struct buf *out);
void report_sites_json(const struct native *list, uint32_t n, const struct native_filter *filter,
                       struct buf *out);

/* only: tasks whose entry is like this pattern; empty: all. */
void report_states(const struct native *list, uint32_t n, slice only,
                   const struct native_sources *sources, const struct style *style,
                   struct buf *out);
void report_states_json(const struct native *list, uint32_t n, slice only, struct buf *out);

/* A cluster for each task, a box for each of its functions with the states in it. */
void report_states_dot(const struct native *list, uint32_t n, slice only, struct buf *out);

/* "error", "delay", "short", by bit; "file", "socket", "pipe", "other" likewise. */
extern const char *const native_acts[3], *const native_wheres[4];

#endif
