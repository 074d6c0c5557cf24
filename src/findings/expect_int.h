/* SPDX-License-Identifier: Apache-2.0
 *
 * The parts of judging: expect.c asks the questions, expect_json.c looks into JSON, expect_words.c
 * prints what is expected and what is there. */
#ifndef OUTFOX_FINDINGS_EXPECT_INT_H
#define OUTFOX_FINDINGS_EXPECT_INT_H

#include <jansson.h>

#include "findings/expect.h"

enum { EXPECT_VALUE_MAX = 120, EXPECT_DETAIL_MAX = 300 };

/* ---- expect_json.c ---- */

/* Any JSON text; NULL with *e when it is none. */
json_t *expect_json_parse(slice text, json_error_t *e);

/* The value that a JSON pointer (RFC 6901) leads to; NULL: there is none. */
const json_t *expect_json_at(const json_t *from, slice pointer);

/* Deep equality; 1 and 1.0 are equal, objects compare without order. */
bool expect_json_is(const json_t *value, const struct node *expected);

/* ---- expect_words.c ---- */

/* Takes secrets out of both; what `why` says from `from` on is one as a whole (0: nothing is). */
void expect_hide(struct buf *why, struct buf *detail, size_t from);

/* At most `most` bytes of the text, whole characters, "..." where some are left out. */
void expect_add_brief(struct buf *out, slice text, size_t most);

/* The same in quotes. Bytes that are no UTF-8 become '?'. */
void expect_add_quoted(struct buf *out, slice text, size_t most);

/* "200, 201 or 404", "2xx", "gRPC 0" */
void expect_add_statuses(struct buf *out, const struct expect_status *status, uint32_t n);

/* "503", "gRPC 14", "refused" */
void expect_add_outcome(struct buf *out, outcome o);

void expect_add_json(struct buf *out, const json_t *value, size_t most);
void expect_add_node(struct buf *out, const struct node *value, size_t most);

#endif
