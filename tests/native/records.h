/* SPDX-License-Identifier: Apache-2.0
 *
 * Records written by hand, for tests that need the runtime and no compiler of ours: what `outfox cc` would
 * have left in the program, and the thunks of its calls. */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdint.h>

#include "outfox/abi.h"

#define IN_SECTION(name) __attribute__((section(name), used, aligned(32)))

/* SITE(name, kind, subject, can, result, value, errors...): its number in the section follows from where it
 * stands in the source. */
#define SITE(name_, kind_, subject_, can_, result_, value_, n_, ...)                               \
    static const struct outfox_site name_ IN_SECTION(OUTFOX_SECTION_SITES) = {                     \
        .magic = OUTFOX_SITE,                                                                      \
        .line = __LINE__,                                                                          \
        .kind = kind_,                                                                             \
        .subject = subject_,                                                                       \
        .can = can_,                                                                               \
        .result = result_,                                                                         \
        .errors = n_,                                                                              \
        .error = {__VA_ARGS__},                                                                    \
        .value = value_,                                                                           \
        .names = RECORDS_NAMES}

#define FUNCTION(name_)                                                                            \
    static struct outfox_function name_ IN_SECTION(OUTFOX_SECTION_FUNCTIONS) = {                   \
        .magic = OUTFOX_FUNCTION, .line = __LINE__, .names = RECORDS_NAMES}

#define STATE(name_, index_)                                                                       \
    static const struct outfox_state name_ IN_SECTION(OUTFOX_SECTION_STATES) = {                   \
        .magic = OUTFOX_STATE, .line = __LINE__, .index = index_}

#ifndef RECORDS_NAMES
#define RECORDS_NAMES 1
#endif

/* What a function with states does: at its entry, in each state, and when it is left. */
#define ENTER(function_)                                                                           \
    const struct outfox_state *elsewhere_,                                                         \
        *was_ = outfox_now, **state_ = (function_).enabled ? &outfox_now : &elsewhere_
#define IN_STATE(s_) (*state_ = &(s_))
#define LEAVE()      (outfox_now = was_)

/* What a thunk does before the call. */
#define HOOKED(site_, subject_, count_, value_)                                                    \
    (outfox_on &&                                                                                  \
     outfox_hook(&(site_), (long)(subject_), count_, __builtin_return_address(0), value_))

#endif
