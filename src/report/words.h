/* SPDX-License-Identifier: Apache-2.0
 *
 * Sentences that a tired person understands. */
#ifndef OUTFOX_REPORT_WORDS_H
#define OUTFOX_REPORT_WORDS_H

#include "core/dependency.h"
#include "core/summary.h"
#include "core/trace.h"

/* A sentence, in which stand for what is said behind the format:
 *
 *   %c  a call, as words_call has it        %o  an outcome         %u  a number of 32 bits
 *   %e  a call, its last element alone      %l  a label            %s  text
 *   %v  the service of a call; "the client" for none               %m  a mode, as words_mode has it */
void words_add(struct buf *out, const struct names *names, const char *format, ...);

/* "payment POST /charge answers 500, 502 or 503 and cart GET /items is reset": a finding's faults;
 * from a run without faults and one that shows it (or NULL) what became of retries, too: "and its
 * retry succeeds". */
void words_finding(const struct summary *s, const struct finding *finding,
                   const struct trace *plain, const struct trace *seen, struct buf *out);

/* What a client gets: "503", "a closed connection". */
void words_got(outcome o, struct buf *out);

/* "an expectation does not hold"; "confirmed by a second run". */
extern const char *const words_kind[FINDING_KINDS], *const words_state[FINDING_STATES];

/* Why an exploration ended before it was done, for example "it was interrupted". */
const char *words_stopped(const char *by);

/* The command that goes on with what ended early; NULL: nothing is left, or it would end as before.
 */
const char *words_resume(const struct summary *s);

/* Why "no finding" proves nothing (summary_unsure): "it was interrupted"; NULL: it does. */
const char *words_unsure(const struct summary *s);

/* "users GET /users/[id] > bookings GET /bookings": from the caller, as far as needed to know
 * which. */
void words_call(const struct names *names, uid u, struct buf *out);

/* What a caller sees under this mode, as a verb: "answers 503". */
void words_mode(mode m, struct buf *out);

void words_suspect(const struct summary *s, const struct suspect *x, struct buf *out);

/* "circuit breaker"; what was seen of it, a sentence; "21 times, for example when ...". */
const char *words_reason_title(const struct reason *r);
void words_reason(const struct summary *s, const struct reason *r, struct buf *out);
void words_reason_seen(const struct summary *s, const struct reason *r, struct buf *out);

/* Title, sentence and what helps, in one line. */
void words_reason_line(const struct summary *s, const struct reason *r, struct buf *out);

/* A line for outfox.yaml, and where it belongs: "to the service front". */
struct remedy {
    struct buf line, where;
    const char *verb; /* "add", "or"; where the cause is not known "try", "then" */
};

/* The i-th thing that may help, in the order to try them; false: there is none. */
bool words_remedy(const struct summary *s, const struct reason *r, uint32_t i, struct remedy *out);
void remedy_deinit(struct remedy *r);

void words_explanation(const struct names *names, const struct faultloads *fl,
                       const struct explanation *x, struct buf *out);

/* "impossible", "redundant" ...; also used in JSON. */
extern const char *const explain_names[EXPLAIN_KINDS], *const policy_names[POLICIES],
                                                           *const suspect_names[SUSPECT_KINDS];

/* "3", or "checkout/3": what the finding with this number, from 1, is replayed by. Those of oracles are
 * numbered behind those of the expectation. */
void words_id(const struct summary *s, uint64_t number, struct buf *out);
uint64_t words_finding_number(const struct summary *s, const struct finding *finding);

/* outfox replay ID, or outfox sim run FILE --fault '...' ..., ready to paste. */
void words_replay(const struct summary *s, const struct finding *finding, struct buf *out);

/* The same for any faultload of a campaign. */
void words_replay_faultload(const struct summary *s, faultload f, struct buf *out);

/* The same for the faultload of a run, by what there is: number: of the run, from 1; 0: not known.
 */
void words_replay_run(const struct summary *s, faultload f, uint64_t number, struct buf *out);

/* A word for a shell, in quotes where it needs them. */
void words_quoted(slice word, struct buf *out);

/* 1234567 as 1,234,567; large ones as 1.2e+27. */
void words_number(double n, struct buf *out);

/* What becomes of the request when a dependency fails, and why: "users calls it again". */
void words_dep(const struct summary *s, const struct dep *d, struct buf *out);

/* What was not tried, with the command that tries it. False: nothing is said. */
bool words_untried(const struct summary *s, struct buf *out);

#endif
