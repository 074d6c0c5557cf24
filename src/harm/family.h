/* SPDX-License-Identifier: Apache-2.0
 *
 * The processes of a node: its own one, all below it, and its process group. Processes come and go
 * while something is done to them, so they are looked at until none is left to whom it was not. */
#ifndef OUTFOX_HARM_FAMILY_H
#define OUTFOX_HARM_FAMILY_H

#include "base/err.h"
#include "io/procs.h"

/* Does it to one process: 1: done; 0: there was nothing to do; or -1 with *e. */
typedef int family_do(void *user, const struct proc *p, struct err *e);

/* For each, again and again, until a round in which there was nothing to do. What is gone meanwhile
 * is no error. 0, or -1 with *e. */
int family_each(pid_t root, family_do *one, void *user, struct err *e) MUST_USE;

/* The same for all processes of the machine. */
int family_everybody(family_do *one, void *user, struct err *e) MUST_USE;

/* ---- words of commands ---- */

/* A process that is there: its number, or -1 with *e. */
pid_t family_root(const char *word, struct err *e);

/* The number alone: for an undo, by when it may be gone, or be another's. */
pid_t family_number(const char *word, struct err *e);

/* What tells faults on this process apart from those of other runs; never 0. */
uint64_t family_tag(pid_t root);

#endif
