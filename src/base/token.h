/* SPDX-License-Identifier: Apache-2.0
 *
 * Tokens: a secret text that whoever asks must know. */
#ifndef OUTFOX_BASE_TOKEN_H
#define OUTFOX_BASE_TOKEN_H

#include "base/err.h"

enum { TOKEN_LEAST = 16, TOKEN_MOST = 1000 };

/* Long enough, and printable, so that HTTP and environments carry it? 0, or -1 with the cause and the
 * remedy. */
int token_check(slice token, struct err *e) MUST_USE;

/* In a time that does not depend on where they differ. */
bool token_same(slice a, slice b);

/* What a file says, without blanks around it, kept by the arena. `what` names the option in
 * messages: "--token-file". 0, or -1. */
int token_read(const char *path, const char *what, struct arena *a, slice *out,
               struct err *e) MUST_USE;

/* A new one that nobody can guess. */
void token_make(struct buf *out);

#endif
