/* SPDX-License-Identifier: Apache-2.0
 *
 * Reports of test runners in JUnit XML: which tests are in them. There is no standard, but all of
 * them have elements <testcase classname="..." name="...">, somewhere within suites. What came of the
 * tests is not read. */
#ifndef OUTFOX_DATA_JUNIT_H
#define OUTFOX_DATA_JUNIT_H

#include "base/err.h"
#include "data/keys.h"

enum { JUNIT_BYTES_MAX = 64 << 20, JUNIT_DEPTH_MAX = 100 };

/* Adds the tests of a report in their order, up to `most` of them: CLASSNAME#NAME, or NAME where
 * there is no class. The texts are copied to the arena. -1 with line and column: it is not XML, is
 * cut off, or nests too deep; it has a document type, which could hold entities that grow without
 * end; or it has no <testsuite>, so that it is no such report. */
int junit_read(slice xml, uint32_t most, struct arena *a, struct texts *tests,
               struct err *e) MUST_USE;

#endif
