/* SPDX-License-Identifier: Apache-2.0
 *
 * A judge, and runs that are made by hand for it: for what no simulated system does. */
#ifndef OUTFOX_TESTS_COURT_H
#define OUTFOX_TESTS_COURT_H

#include "judge/judge.h"

struct court {
    struct names names;
    struct faultloads faultloads;
    struct judge_settings settings;
    struct judge *judge;
    struct run run; /* the next one; as expected, and answered 200 */
    struct summary summary;
    uint8_t flags; /* of further calls, the first of a run left out */
};

void court_open(struct court *c);
void court_close(struct court *c);

/* One more call of the next run, answered 200; what else is special about it is set afterwards. */
struct call *court_add(struct court *c, uint32_t parent, const char *service, const char *interface,
                       uint32_t n, int64_t start_ns, int64_t took_ns);

/* The run is shown to the judge, and the next one is empty. */
void court_judge(struct court *c, faultload f);

#endif
