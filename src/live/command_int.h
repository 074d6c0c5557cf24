/* SPDX-License-Identifier: Apache-2.0
 *
 * What commands and services have in common. */
#ifndef OUTFOX_LIVE_COMMAND_INT_H
#define OUTFOX_LIVE_COMMAND_INT_H

#include "config/config.h"

/* "NAME=VALUE" of each, and NULL. */
const char *const *env_texts(struct arena *a, const struct text_pair *env, uint32_t n);

#endif
