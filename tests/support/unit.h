/* SPDX-License-Identifier: Apache-2.0
 *
 * cmocka with what it wants to be included before it. */
#ifndef OUTFOX_TESTS_UNIT_H
#define OUTFOX_TESTS_UNIT_H

// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#endif
