// SPDX-License-Identifier: Apache-2.0
//
// What a fuzz target claims of every input.
#ifndef OUTFOX_TESTS_FUZZ_MUST_H
#define OUTFOX_TESTS_FUZZ_MUST_H

#include <stdio.h>
#include <stdlib.h>

#define MUST(condition)                                                                            \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);         \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#endif
