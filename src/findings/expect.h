/* SPDX-License-Identifier: Apache-2.0
 *
 * Does an answer, or the end of a command, meet the expectation? Pure. `why` is a sentence that is
 * equal for equal reasons ("the status is not 200", "/0/title is not \"Creed\""); `detail` says
 * what it was instead. Both live in the arenas given. */
#ifndef OUTFOX_FINDINGS_EXPECT_H
#define OUTFOX_FINDINGS_EXPECT_H

#include "base/index.h"
#include "config/config.h"
#include "core/trace.h"
#include "http/answer.h"

enum { EXPECT_DETAIL_MAX = 300 };

/* How the command of a scenario ended; the answer to a request is http/answer.h. */
struct command_result {
    bool started;   /* else `error` says why not, or how it was lost */
    bool timed_out; /* it was killed at its deadline */
    int exit_code;  /* -1: ended by a signal */
    int signal;
    slice output; /* stdout and stderr as they came; the end of it */
    const char *error;
    int64_t start_ns, end_ns;
};

/* `keep` holds `why`, the same text at the same address for equal reasons as long as it lives. `once`
 * holds `detail`. */
void expect_answer(const struct expect_spec *spec, const struct client_answer *a,
                   struct intern *keep, struct arena *once, struct verdict *out);
void expect_command(const struct expect_spec *spec, const struct command_result *r,
                    struct intern *keep, struct arena *once, struct verdict *out);

/* At most `most` bytes of the text, whole characters on one line, "..." where some are left out. */
void expect_add_brief(struct buf *out, slice text, size_t most);

#endif
