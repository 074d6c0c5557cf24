/* SPDX-License-Identifier: Apache-2.0
 *
 * The schema of a campaign file, as the steps that lead from an empty file to the newest version.
 * Step i leads from version i to i + 1 (PRAGMA user_version). A step that was released does not
 * change any more: append. */
#ifndef OUTFOX_STORE_SCHEMA_H
#define OUTFOX_STORE_SCHEMA_H

#include <stdint.h>

/* PRAGMA application_id: "OFOX". Tells our files from those of other programs. */
enum { SCHEMA_APPLICATION = 0x4f464f58 };

struct schema {
    const char *const *steps;
    uint32_t version; /* how many there are */
};

extern const struct schema schema_newest;

#endif
