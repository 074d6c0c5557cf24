/* SPDX-License-Identifier: Apache-2.0 */
#include "core/run.h"

const char *const run_purpose_names[RUN_PURPOSES] = {
    [RUN_BASELINE] = "baseline", [RUN_SEARCH] = "search", [RUN_AUDIT] = "audit",
    [RUN_CHECK] = "check",       [RUN_SHRINK] = "shrink", [RUN_CONFIRM] = "confirm",
    [RUN_REPLAY] = "replay",
};

const char *const run_flag_names[RUN_FLAGS] = {"hung",     "crashed",    "outlived", "repeated",
                                               "contract", "unexpected", "hurried"};
const char *const call_flag_names[CALL_FLAGS] = {"exempt", "http",   "grpc", "ambiguous",
                                                 "open",   "hushed", "http2"};
