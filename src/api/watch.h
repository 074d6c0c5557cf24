/* SPDX-License-Identifier: Apache-2.0
 *
 * watch: how far a campaign is, counted from its events. Pure; cheap enough for every event. What no
 * event tells is the host's to say (struct api_state). */
#ifndef OUTFOX_API_WATCH_H
#define OUTFOX_API_WATCH_H

#include "api/api.h"
#include "report/progress.h"

/* Upper bounds of the histogram of how long runs take, in nanoseconds. */
enum { WATCH_BUCKETS = 13 };
extern const int64_t watch_buckets[WATCH_BUCKETS];

struct watch_scenario {
    enum { WATCH_WAITING, WATCH_UNDER_WAY, WATCH_DONE } state;
    const char *verdict;      /* DONE */
    enum run_purpose purpose; /* of the run that began last */
    uint64_t runs, queued, findings, warnings, failed_runs;
    uint64_t max_runs;
    int64_t max_time_ns, at_ns, took_ns;
    struct pace pace;
    int64_t paced_ns; /* when the pace was noted last */
    /* what only grows, also when a campaign starts over */
    uint64_t all_runs, all_failed, all_calls;
    uint64_t bucket[WATCH_BUCKETS + 1]; /* runs that took no longer, and not below the one before */
    int64_t all_ns;
};

struct watch_flight {
    uint32_t scenario;
    faultload faultload;
    enum run_purpose purpose;
    int64_t since_ns;
};

struct watch {
    uint64_t version; /* another one after every event */
    uint32_t n;
    const char *const *names;
    struct watch_scenario *scenario;
    uint32_t current; /* whose run began last; n: none */
    int64_t began_ns; /* when the first event came; 0: none did */
    int64_t ended_ns; /* when the last scenario was done; 0: not yet */
    VEC(struct watch_flight) flights;
};

/* The names live as long. */
void watch_init(struct watch *w, const char *const *names, uint32_t n);
void watch_deinit(struct watch *w);

void watch_event(struct watch *w, const struct event *event, int64_t now_ns);

/* How long it has taken. */
int64_t watch_took(const struct watch *w, int64_t now_ns);

/* What it is doing, as far as events tell: starting, learning, exploring, confirming. */
const char *watch_doing(const struct watch *w);

#endif
