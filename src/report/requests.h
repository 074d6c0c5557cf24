/* SPDX-License-Identifier: Apache-2.0
 *
 * requests: what a command asks for as the client, in the run without faults: each request with the
 * calls below it, and with what is wrong when some of those fail. So a report of a test that makes
 * many requests, in a browser or not, can be read request by request. */
#ifndef OUTFOX_REPORT_REQUESTS_H
#define OUTFOX_REPORT_REQUESTS_H

#include "report/report.h"

struct told_request {
    uint32_t number; /* from 1, in causal order */
    uid call;
    outcome seen;
    uint32_t calls;             /* below it */
    VEC(const char *) findings; /* the ids of those with a fault below it */
};

/* Zero-initialised is empty. */
struct told_requests {
    VEC(struct told_request) list; /* none: the scenario is no command, or no run can be read */
    struct arena keep;
};

void requests_tell(const struct report_source *source, uint32_t scenario,
                   struct told_requests *out);
void requests_forget(struct told_requests *all);

/* For people, a line for each of the first; nothing where there are less than two. */
void requests_text(const struct report_source *source, uint32_t scenario, struct buf *out);

#endif
