/* SPDX-License-Identifier: Apache-2.0
 *
 * What is not wrong with a configuration, and will hardly work: for `outfox validate`. */
#ifndef OUTFOX_CONFIG_CONFIG_WARN_H
#define OUTFOX_CONFIG_CONFIG_WARN_H

#include "config/config.h"

/* Tells a sentence for each: what is the matter, and what to change. Looks at directories. */
void config_warn(const struct campaign_config *c, void (*tell)(void *ctx, const char *text),
                 void *ctx);

#endif
