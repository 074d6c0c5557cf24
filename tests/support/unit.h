/* SPDX-License-Identifier: Apache-2.0
 *
 * cmocka with what it wants to be included before it; and how much of something random to do. */
#ifndef OUTFOX_TESTS_UNIT_H
#define OUTFOX_TESTS_UNIT_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* How often to do something that is random or repeated: n / 2 times in `make test`, less in `make
 * check` and where a sanitizer makes it slow, 4 n times in `make soak`; VOLUME says which. Whatever is claimed must hold for each of these numbers. A program that asks has a line
 * more-in-soak in its head. */
static inline uint32_t volume(uint32_t n)
{
    const char *level = getenv("VOLUME");
    bool soak = level && strcmp(level, "soak") == 0;
#ifdef SANITIZED
    return soak ? n : n / 10;
#else
    bool check = level && strcmp(level, "check") == 0;
    return soak ? 4 * n : check ? n / 5 : n / 2;
#endif
}

#endif
