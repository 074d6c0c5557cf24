/* SPDX-License-Identifier: Apache-2.0
 *
 * A host: where nodes and clients of a plan run. */
#ifndef OUTFOX_PLAN_HOST_H
#define OUTFOX_PLAN_HOST_H

#include "data/keys.h"

struct plan_place {
    uint32_t line, col;
};

struct connector;

struct plan_host {
    slice name, via;
    const struct connector *connector;
    slice address, user, container, pod, space;
    slice key, known_hosts, token_file, ca; /* files of this machine, absolute once checked */
    slice fingerprint;
    uint16_t port;
    slice dir; /* there: each run makes a directory of its own in it */
    struct texts tags;
    const struct node *written;
    struct plan_place at;
};

#endif
