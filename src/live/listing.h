/* SPDX-License-Identifier: Apache-2.0
 *
 * The tests of a suite, asked of their runner: the command `list` is run to its end, and what it
 * prints, or the reports that are there then, are read. Nothing else of the system runs meanwhile, so
 * the addresses of services in its environment are those of nobody: 127.0.0.1, port 1. */
#ifndef OUTFOX_LIVE_LISTING_H
#define OUTFOX_LIVE_LISTING_H

#include "config/config.h"

enum { LISTING_BYTES_MAX = 16 << 20 };

/* Adds the tests of the configuration's suite to its scenarios (suite_add). 0, or -1 with what the command
 * said: it failed, took too long, printed too much or nothing; a report cannot be read. Blocks up to
 * `list-within`. A signal meanwhile ends us and what was started. */
int listing_add(struct campaign_config *c, struct err *e) MUST_USE;

#endif
