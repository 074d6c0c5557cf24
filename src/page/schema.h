/* SPDX-License-Identifier: Apache-2.0
 *
 * schema: the JSON Schemas of all documents, which are part of the program.
 *
 * In schemas/ there is a file for each document. What several of them have is in common.json, by
 * references. They are printed in two ways, both complete in themselves: one alone, with what it
 * refers to inside, and all of them as components of an OpenAPI document.
 *
 *     in the files                                         alone          as components
 *     #/$defs/level                                        #/$defs/level  #/components/schemas/level
 *     urn:outfox:schema:common:1#/$defs/call               #/$defs/call   #/components/schemas/call
 *     urn:outfox:schema:report:1                           #/$defs/report #/components/schemas/report
 *
 * For that, no name is that of two definitions, or of a definition and a file. */
#ifndef OUTFOX_PAGE_SCHEMA_H
#define OUTFOX_PAGE_SCHEMA_H

#include <stdbool.h>

#include "data/json.h"

/* The name after this one, in the order of the alphabet, common left out. NULL: the first; and after
 * the last. */
const char *schema_next(const char *name);

/* What a schema says of its document in a sentence, in the arena; NULL: there is none of this name. */
const char *schema_about(const char *name, struct arena *a);

/* Appends a schema that needs no other; false: there is none of this name. */
bool schema_print(const char *name, struct buf *out);

/* All of them, as members of a map that the caller has begun. */
void schema_components(struct json_out *j);

#endif
