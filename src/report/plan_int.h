/* SPDX-License-Identifier: Apache-2.0
 *
 * Reading the document of a plan: what is not there, or of another type, is empty, 0 or false, so
 * that no printer has to ask. */
#ifndef OUTFOX_REPORT_PLAN_INT_H
#define OUTFOX_REPORT_PLAN_INT_H

#include "data/json.h"
#include "report/plan.h"

slice doc_text(const struct node *map, const char *key);
double doc_number(const struct node *map, const char *key);
bool doc_bool(const struct node *map, const char *key);
const struct node *doc_list(const struct node *map, const char *key); /* never NULL */

/* Milliseconds of the document as a duration for people: three digits that matter. */
void doc_add_ms(struct buf *out, double ms);

/* Of an expectation's answer. */
enum answer_verdict { ANSWER_HOLDS, ANSWER_VIOLATED, ANSWER_UNSURE };
enum answer_verdict doc_answer(const struct node *answer);

/* Is this run one with faults? */
bool doc_faulty(const struct node *run);

/* Why the run is not as planned: of a fault that did not happen, "freeze: its trigger did not fire";
 * the i-th such reason, or empty. */
bool doc_failed_fault(const struct node *run, uint32_t *i, struct buf *out);

/* The names of what is violated in runs of this kind, "availability, gap": each once. */
void doc_violated(const struct node *doc, bool faulty, struct buf *out);

/* "with the faults, not all that is expected holds": the verdict as a sentence. */
const char *doc_sentence(const struct node *doc);

/* "measures" and how collectors fared, of one run of a result. */
void plan_put_measures(struct json_out *j, const struct plan_result *result,
                       const struct plan_run *r);

#endif
