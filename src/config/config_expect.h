/* SPDX-License-Identifier: Apache-2.0
 *
 * What outfox.yaml expects of an answer, or of the end of a command: `expect` and `under-faults`
 * (docs/config.md). Part of config.h; expect.h judges by it. */
#ifndef OUTFOX_CONFIG_CONFIG_EXPECT_H
#define OUTFOX_CONFIG_CONFIG_EXPECT_H

#include "base/vec.h"
#include "data/condition.h"
#include "data/keys.h"

enum { ALTERNATIVES_MAX = 20 };

struct expect_status {
    bool grpc;
    uint32_t low, high;
};

struct expect_value {
    slice pointer; /* JSON pointer, RFC 6901 */
    const struct node *value;
    uint32_t line, col;
};

/* What a condition is about. */
enum expect_about { ABOUT_JSON, ABOUT_HEADER, ABOUT_BODY };

struct expect_where {
    enum expect_about about;
    slice name; /* a JSON pointer, or the name of a header */
    struct condition condition;
};

/* What must hold of the answer, or of a command. */
struct expect_spec {
    bool given;
    VEC(struct expect_status) status; /* any of; none given: 200 to 299, or gRPC 0 */
    VEC(struct expect_value) json;    /* all of */
    struct text_pairs headers;        /* all of: value equal */
    VEC(struct expect_where) where;   /* all of */
    bool has_body;
    slice body;        /* the whole body */
    slice contains;    /* empty: nothing */
    int64_t within_ns; /* 0: any time */
    uint32_t exit;     /* of a command; default 0 */
    bool exit_given;   /* in alternatives this makes a difference */

    /* One of these must hold as well; none given: nothing more. They have none themselves. What is
     * said neither here nor there of the status and of the exit code is asked of each of them as
     * without alternatives. */
    VEC(struct expect_spec) any_of;
};

#endif
