/* SPDX-License-Identifier: Apache-2.0
 *
 * What a scenario came to: the answer to its request (http/answer.h), or the end of its command.
 * Values, made in live and held against expectations here. */
#ifndef OUTFOX_FINDINGS_ANSWER_H
#define OUTFOX_FINDINGS_ANSWER_H

#include "http/answer.h"

struct command_result {
    bool started;   /* else `error` says why not, or how it was lost */
    bool timed_out; /* it was killed at its deadline */
    int exit_code;  /* -1: ended by a signal */
    int signal;
    slice output; /* stdout and stderr as they came; the end of it */
    const char *error;
    int64_t start_ns, end_ns;
};

#endif
