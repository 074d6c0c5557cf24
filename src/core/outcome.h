/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of outcomes, read back. */
#ifndef OUTFOX_CORE_OUTCOME_H
#define OUTFOX_CORE_OUTCOME_H

#include "core/mode.h"

/* What outcome_print prints, back to the outcome: any status or gRPC code that a service may answer
 * with, and the words for not being answered. False when the text is none. (What people write in
 * the file of a simulated system is narrower, see sim.) */
bool outcome_read(slice text, outcome *out) MUST_USE;

#endif
