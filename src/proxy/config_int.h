/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTFOX_PROXY_CONFIG_INT_H
#define OUTFOX_PROXY_CONFIG_INT_H

#include "proxy/config.h"

/* Puts an error to a place of the file, or leaves it where it is when line is 0. */
int config_fail_at(const struct proxy_config *config, uint32_t line, uint32_t col,
                   const struct err *inner, struct err *e);

#endif
