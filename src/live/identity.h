/* SPDX-License-Identifier: Apache-2.0
 *
 * The identity of services: what tells whether a service is the one that it was in an earlier
 * campaign (--since). It is made of parts, each with a hash, so that a change can be told by name:
 *
 *   version   what outfox.yaml says of it: then nothing else is looked at
 *   command   its command line and its variables, as they stand in the file
 *   a file    its content: those of `files`, else those that the command names
 *   a section its part of a simulated system's file, and what all services there share
 *
 * 1. A service of which nothing is known that is its own has none, with a sentence that says what to
 *    do: one that Outfox does not start, and one whose command names only programs in PATH, which run
 *    something else (`npm start`). It is never taken for unchanged.
 * 2. Paths are relative to the file's directory, so that a checkout elsewhere has the same identity.
 * 3. Reading is bounded: files, bytes, levels of directories. What exceeds that has no identity. */
#ifndef OUTFOX_LIVE_IDENTITY_H
#define OUTFOX_LIVE_IDENTITY_H

#include "config/config.h"

enum {
    IDENTITY_FILES_MAX = 20000, /* of a service */
    IDENTITY_DEPTH_MAX = 40,    /* levels of directories */
    IDENTITY_PARTS_MAX = 64,    /* that are kept by name; files beyond that are one part */
};
#define IDENTITY_BYTES_MAX ((uint64_t)2 << 30) /* of all files of a service */

struct identity_part {
    const char *name;
    uint64_t hash;
};

struct identity {
    const char *service;
    const char *version; /* NULL: its parts count */
    const char *none;    /* why it has none, and the remedy; NULL: it has one */
    VEC(struct identity_part) parts;
};

struct identities {
    struct arena keep; /* all text */
    VEC(struct identity) list;
};

/* Those of all services of a configuration, in their order. simulated: the simulated system's file,
 * or NULL. Zero-initialised is empty. */
void identities_take(struct identities *out, const struct campaign_config *c,
                     const struct node *simulated);
void identities_deinit(struct identities *x);

/* NULL: there is no such service. */
const struct identity *identities_find(const struct identities *x, slice service);

/* As they are kept with a campaign; and back. False: it is damaged. */
void identities_print(const struct identities *x, struct buf *out);
bool identities_parse(struct identities *out, slice text) MUST_USE;

/* Is it the same service? If not, why: "payment.py has changed". was: NULL: it was not there. */
bool identity_same(const struct identity *was, const struct identity *is, struct buf *why) MUST_USE;

#endif
