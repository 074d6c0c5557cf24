/* SPDX-License-Identifier: Apache-2.0
 *
 * reach: who is told where a service is, as far as the file says. A call can be made to fail only
 * when its caller was given {url:NAME}, the address of a proxy, and not the service's own. Pure. */
#ifndef OUTFOX_CONFIG_REACH_H
#define OUTFOX_CONFIG_REACH_H

#include "config/config.h"

struct reach {
    bool given; /* to a service, by a placeholder; or to callers that we do not start: `listen` */
    bool asked; /* a scenario's request goes to it, or a command may call it */
    uint32_t told; /* a service that is told its own address; UINT32_MAX: none is */
    slice before;  /* what stands before that: the variable; empty: nothing does */
    slice literal; /* the address as it is written there: http://127.0.0.1:7788 */
    bool in_env;   /* there: in `env`, else in `run` */
};

void reach_of(const struct campaign_config *c, uint32_t service, struct reach *out);

/* What is wrong, in words, and what to change, so that calls to this service come through Outfox.
 * Adds nothing when the file is as it should be. */
void reach_remedy(const struct campaign_config *c, uint32_t service, struct buf *out);

/* Tells a sentence for each service whose calls cannot come through Outfox. */
void reach_check(const struct campaign_config *c, void (*tell)(void *ctx, const char *text),
                 void *ctx);

#endif
