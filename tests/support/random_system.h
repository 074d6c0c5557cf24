/* SPDX-License-Identifier: Apache-2.0
 *
 * Random simulated systems, as the nodes of their YAML: nested services, retries, fallbacks,
 * parallel groups and arbitrary decisions on outcomes. Equal seeds give equal systems. */
#ifndef OUTFOX_TESTS_RANDOM_SYSTEM_H
#define OUTFOX_TESTS_RANDOM_SYSTEM_H

#include "data/node.h"

const struct node *random_system(uint64_t seed, struct arena *a);

/* The same with latencies, pauses and timeouts: answers come too late under some faultloads. */
const struct node *random_timed_system(uint64_t seed, struct arena *a);

/* Is this system still one that shows the problem? Called with systems that may not even load. */
typedef bool still_wrong(const struct node *system, void *ctx);

/* Removes list items and map entries one by one, as long as the problem stays. */
const struct node *shrink_system(const struct node *system, struct arena *a, still_wrong *wrong,
                                 void *ctx);

#endif
