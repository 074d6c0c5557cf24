/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign that is made up, to print reports from: one scenario, its runs and its findings. */
#ifndef OUTFOX_TESTS_REPORT_DESK_H
#define OUTFOX_TESTS_REPORT_DESK_H

#include "report/report.h"

/* A call in few words. */
struct desk_call {
    const char *uid, *seen, *injected; /* NULL: nothing was */
};

enum { DESK_CALLS = 8 };

struct desk {
    struct names names;
    struct faultloads fl;
    struct arena text;
    struct summary summary;
    const struct summary *scenarios[2];
    VEC(struct run) runs;
    struct report_source source;
};

void desk_init(struct desk *d);
void desk_deinit(struct desk *d);

/* A faultload from its text. */
faultload desk_load(struct desk *d, const char *text);

/* Calls of a trace, callers first; the first without a uid ends them. */
void desk_calls(struct desk *d, const struct desk_call *calls, struct trace *out);

/* A run as it is stored; why: NULL when it passed. */
struct run *desk_run(struct desk *d, faultload f, const char *why, const struct desk_call *calls);

struct finding *desk_finding(struct desk *d, faultload f, const char *why);

/* What an oracle says, shown by two calls: `call`, which was failed, and `other`, which succeeded.
 */
struct remark *desk_remark(struct desk *d, const char *oracle, enum severity severity,
                           const char *why, const char *call, const char *other);

/* What a report prints; lives as long as the desk. */
const char *desk_print(struct desk *d, void (*print)(const struct report_source *, struct buf *));

/* How often the words stand in the text. */
uint32_t text_count(const char *text, const char *words);

/* Fails, and shows the text, when they do not. */
void assert_has(const char *text, const char *words);

#endif
