/* SPDX-License-Identifier: Apache-2.0
 *
 * The instrumented programs and libraries of a system, as outfox knows them: read from their files
 * before the first trial, or when a trial has met one that was not known.
 *
 * 1. Each has one number for good: keys of points and of states mean the same in all trials. */
#ifndef OUTFOX_RIG_PROGRAMS_H
#define OUTFOX_RIG_PROGRAMS_H

#include "native/native.h"
#include "rig/share.h"
#include "trial/result.h"

struct programs;

struct programs *programs_new(const struct trials *t);
void programs_free(struct programs *p);

/* Those that the file names, and those that its nodes start; each of `only` and `except` must be about
 * something. 0, or -1 with *e: one that is named is not instrumented, say. */
int programs_read(struct programs *p, struct err *e) MUST_USE;

uint32_t programs_n(const struct programs *p);
const struct native *programs_at(const struct programs *p, uint32_t i);

/* For the shared file: what is enabled and muted in each, and which states are `seen` (by `knows`, which
 * may be NULL). In the arena. */
void programs_share(const struct programs *p, struct arena *a,
                    bool (*knows)(void *user, uint64_t state), void *user, struct share_spec *out);

/* Makes the numbers of what a trial has shown those of all trials; modules that nobody knew are read.
 * 1: some were read; 0: all were known; -1 with *e: one cannot be known. */
int programs_take(struct programs *p, struct share_report *r, struct err *e) MUST_USE;

/* What a file says of what was made, in words. Texts are copied to the arena of the result. */
void programs_tell(const struct programs *p, struct trial_result *r);

/* As of policies: the errors of a site that are possible; user: the programs. */
policy_errors programs_errors;

#endif
