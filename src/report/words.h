/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentences that a tired person understands. */
#ifndef OUTFOX_REPORT_WORDS_H
#define OUTFOX_REPORT_WORDS_H

#include "core/summary.h"

/* "payment POST /charge answers 500, 502 or 503 and cart GET /items is reset": a finding's faults.
 */
void words_finding(const struct summary *s, const struct finding *finding, struct buf *out);

/* Why an exploration ended before it was done, for example "it was interrupted". */
const char *words_stopped(const char *by);

/* "200 or 503": what the client saw. */
void words_statuses(const struct finding *finding, struct buf *out);

/* "users GET /users/[id] > bookings GET /bookings": from the caller, as far as needed to know
 * which. */
void words_call(const struct names *names, uid u, struct buf *out);

void words_suspect(const struct summary *s, const struct suspect *x, struct buf *out);

void words_explanation(const struct names *names, const struct faultloads *fl,
                       const struct explanation *x, struct buf *out);

/* "impossible", "redundant" ...; the name of a policy. Also used in JSON. */
const char *explain_name(enum explain_kind kind);
const char *policy_name(enum policy policy);
const char *suspect_name(enum suspect_kind kind);

/* outfox sim run FILE --fault '...' ..., ready to paste. */
void words_replay(const struct summary *s, const struct finding *finding, struct buf *out);

/* 1234567 as 1,234,567; large ones as 1.2e+27. */
void words_number(double n, struct buf *out);

#endif
