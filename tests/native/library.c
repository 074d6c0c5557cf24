/* SPDX-License-Identifier: Apache-2.0
 *
 * A shared library with records of its own and a runtime; -DRECORDS_NAMES=N makes others of it. */
#include <errno.h>
#include <stddef.h>

#include "records.h"

int library_hit(void);

SITE(site, OUTFOX_ORIGIN, OUTFOX_SUBJECT_NONE, OUTFOX_ERROR, OUTFOX_RESULT_VALUE, -6, 0, {0, 0});

__attribute__((visibility("default"))) int library_hit(void)
{
    long value;
    return HOOKED(site, 0, NULL, &value);
}
