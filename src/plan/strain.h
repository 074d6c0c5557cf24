/* SPDX-License-Identifier: Apache-2.0
 *
 * What a fault does to a link of the plan's network, or to a node's disk. */
#ifndef OUTFOX_PLAN_STRAIN_H
#define OUTFOX_PLAN_STRAIN_H

#include "base/str.h"

enum plan_direction { LINK_BOTH, LINK_OUT, LINK_IN }; /* of the target's packets */

/* What happens to packets of a link. */
struct plan_link {
    enum plan_direction direction;
    int64_t latency_ns, jitter_ns;
    double loss;        /* of packets, 0 to 1 */
    uint64_t bandwidth; /* bytes per second; 0: as it is */
};

/* What a disk of a node's own does to whoever uses it. */
struct plan_disk {
    uint32_t operation; /* of plan_operations */
    slice file;         /* a pattern; empty: any */
};

/* How wrong the clock of a node is. */
struct plan_clock {
    int64_t offset_ns, drift_ppb; /* drift: what it gains, in parts of 10^9 */
};

/* What a node has at most; 0: as much as it likes. */
struct plan_limit {
    uint32_t cpu; /* percent of one */
    uint32_t processes;
    uint64_t memory; /* bytes */
};

#endif
