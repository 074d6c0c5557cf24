/* SPDX-License-Identifier: Apache-2.0
 *
 * YAML to nodes, with line and column. Strict and bounded: one document, no duplicate keys, no
 * anchors, aliases or tags (so no alias bombs), at most YAML_BYTES_MAX bytes and YAML_DEPTH_MAX
 * levels. */
#ifndef OUTFOX_DATA_YAML_H
#define OUTFOX_DATA_YAML_H

#include "base/err.h"
#include "data/node.h"

enum { YAML_BYTES_MAX = 4 << 20, YAML_DEPTH_MAX = 64 };

/* The nodes live in `a`. 0, or -1 with *e. */
int yaml_parse(slice text, struct arena *a, const struct node **out, struct err *e) MUST_USE;

/* Reads a file ("-": standard input), sets e->source to its name and parses it. */
int yaml_load(const char *path, struct arena *a, const struct node **out, struct err *e) MUST_USE;

#endif
