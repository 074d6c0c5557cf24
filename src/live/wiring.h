/* SPDX-License-Identifier: Apache-2.0
 *
 * wiring: who reaches whom, and where. Every pair of a caller and a callee has a door of its own,
 * that is, a proxy with an address that nobody else was given, so that the address alone tells who
 * calls. Callers that we do not start share one door per service.
 *
 *   config --wiring_new--> ports chosen, doors listed --> plane listens --wiring_bind--> addresses
 *          known --> {url:NAME} can be expanded */
#ifndef OUTFOX_LIVE_WIRING_H
#define OUTFOX_LIVE_WIRING_H

#include "config/config.h"
#include "io/addr.h"
#include "io/tls.h"
#include "proxy/proxy.h"
#include "sim/sim.h"
#include "track/track.h"

struct wiring_door {
    uint32_t caller; /* a service, CALLER_CLIENT | slot, or CALLER_UNKNOWN */
    uint32_t callee;
    char address[64]; /* HOST:PORT, or unix:PATH, where it listens in fact */
};

struct wiring {
    const struct campaign_config *config;
    struct arena arena;
    slice *name;          /* of the services */
    struct addr *address; /* where they listen */
    uint32_t n_services;
    uint32_t slots; /* clients at a time */
    VEC(struct wiring_door) doors;
    VEC(int) held; /* descriptors that keep the ports that were chosen from other campaigns */
};

/* sim: the simulated system that stands for the services, or NULL. */
int wiring_new(const struct campaign_config *config, const struct sim *sim, uint32_t slots,
               struct wiring **out, struct err *e) MUST_USE;
void wiring_free(struct wiring *w);

/* The configuration of the proxies: one per door, in their order. */
int wiring_proxies(const struct wiring *w, struct proxy_config **out, struct err *e) MUST_USE;

/* What a service is called in Host and :authority: as its file says, or its address, without the
 * usual port. */
void wiring_authority(const struct wiring *w, uint32_t service, struct buf *out);

/* How to speak TLS to it; the name is put into *name, which lives as long. */
struct tls_client_options wiring_tls(const struct wiring *w, uint32_t service, struct buf *name);

/* The plane listens: takes the addresses over. */
void wiring_bind(struct wiring *w, const struct plane *plane);

/* Where this caller reaches this callee; NULL: by no door. */
const char *wiring_door(const struct wiring *w, uint32_t caller, uint32_t callee);

/* Expands the placeholders of a text of `caller`. 0, or -1 with *e. */
int wiring_expand(const struct wiring *w, uint32_t caller, slice text, struct buf *out,
                  struct err *e) MUST_USE;

#endif
