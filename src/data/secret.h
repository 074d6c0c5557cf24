/* SPDX-License-Identifier: Apache-2.0
 *
 * Secrets: what stands behind a name such as password, token or authorization is taken out of texts
 * before anything keeps or prints them. Texts are answers, output of commands and lines of logs, so
 * no format is assumed: wherever a name is followed by `:` or `=`, in JSON at any depth, in forms,
 * queries, headers and log lines, its value becomes [secret]. So does the password of a URL.
 *
 * 1. Equal stays equal, and there stays there: an empty value, null, true and false are left.
 * 2. JSON stays JSON, and doing it twice changes nothing of it. It takes time in proportion to the
 *    text.
 *
 * Which names count is one table for the whole process; it changes before anything is masked. */
#ifndef OUTFOX_DATA_SECRET_H
#define OUTFOX_DATA_SECRET_H

#include "base/arena.h"
#include "base/str.h"

#define SECRET "[secret]"

/* Does a header, field or variable of this name hold a secret? A name counts when its words do:
 * x-api-key, apiKey and MY_API_KEY are api-key, accessToken is token, tokenizer is not. */
bool secret_name(slice name);

/* The same of a JSON pointer: is one of its parts such a name? */
bool secret_pointer(slice pointer);

/* Appends the text without its secrets. */
void secret_mask(slice text, struct buf *out);

/* The same in `a`, at most `most` bytes; the text itself when there are none in it. */
slice secret_masked(struct arena *a, slice text, size_t most);

/* Further names are secret; names are not, not even as part of others. The texts must stay. */
enum { SECRET_NAMES_MAX = 200 };
void secret_hide(slice name);
void secret_show(slice name);

#endif
