/* SPDX-License-Identifier: Apache-2.0
 *
 * What patterns of a system may name: its services, and calls as the rules of `normalise` name
 * them. */
#ifndef OUTFOX_CONFIG_CONFIG_WORDS_H
#define OUTFOX_CONFIG_CONFIG_WORDS_H

#include "config/config.h"
#include "core/pattern.h"

/* rules may be NULL. The list of services lives in the arena. */
struct vocabulary config_vocabulary(const struct campaign_config *c, struct names *names,
                                    const struct rewrite *rules, struct arena *a);

/* The rules of `normalise`, which were checked; rewrite_free. */
struct rewrite *config_rules(const struct campaign_config *c);

#endif
