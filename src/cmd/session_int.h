/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OUTFOX_CMD_SESSION_INT_H
#define OUTFOX_CMD_SESSION_INT_H

#include "cmd/session.h"

/* ---- session_options.c ---- */

/* See campaign_options. The origin must be taken before the command line is looked at. */
const char *session_options(struct session *s, uint32_t scenario);
const char *session_origin(struct session *s);

/* Does the command line say anything of the search? */
bool session_is_told(const struct args *a);

#endif
