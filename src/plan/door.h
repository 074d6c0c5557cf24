/* SPDX-License-Identifier: Apache-2.0
 *
 * Doors of a plan: proxies of ours, and what happens at them. */
#ifndef OUTFOX_PLAN_DOOR_H
#define OUTFOX_PLAN_DOOR_H

#include "core/mode.h"
#include "plan/host.h"

enum plan_protocol { DOOR_TCP, DOOR_HTTP };

/* A proxy of ours, which lasts as long as a run: clients call it instead of a service. */
struct plan_door {
    slice name, listen, to;
    enum plan_protocol protocol;
    slice node;     /* who is behind it; empty: nobody that is known, */
    int32_t behind; /* which this is */
    struct plan_place at;
};

/* What happens at a door, besides what a link has too. */
struct plan_steer {
    slice door;
    uint32_t at_door;
    uint64_t slice, bytes;
    int64_t pause_ns, close_ns;
    uint32_t nth, every; /* connections or calls; 0: all */
    slice calls;         /* as of triggers; empty: all */
    mode mode;
    double chance;
};

#endif
