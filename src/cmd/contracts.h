/* SPDX-License-Identifier: Apache-2.0
 *
 * The contracts of a session's scenarios: where their files are, and what is missing in them. */
#ifndef OUTFOX_CMD_CONTRACTS_H
#define OUTFOX_CMD_CONTRACTS_H

#include <stdio.h>

#include "cmd/session.h"

/* The file of the session's i-th scenario. */
const char *contracts_file(struct session *s, uint32_t i);

/* Loads all of them, before the campaigns are made; a file that is not there is an empty contract,
 * and so is every one unless `read`. -1 with file, line and column. */
int contracts_load(struct session *s, bool read, struct err *e) MUST_USE;
void contracts_free(struct session *s);

/* Was one of the stored campaigns judged by a contract? */
bool contracts_were_used(struct session *s);

/* The lines that are missing, if any. */
void contracts_print(struct session *s, FILE *out);

#endif
