/* SPDX-License-Identifier: Apache-2.0
 *
 * since: what an earlier campaign knows of the services, for one that builds on it (--since).
 *
 *   an earlier store --journals--> knowledge, of which only that of unchanged services is trusted
 *                    --findings--> runs that verify, with a few others
 *                    --journals--> the new campaign's own store, so that this can be built on, too
 *
 * 1. A service counts as unchanged only if its identity (live/identity.h) is that of the earlier
 *    campaign. Nothing of the others is trusted; nor of what calls them, where they answer as they never
 *    did.
 * 2. Only a campaign that came to its end, and was made with the same options, is built on: what it
 *    does not know cannot happen. Another scenario is explored in full, and why is said.
 * 3. All of it is read before anything is written: the earlier store may be the new one.
 * 4. A campaign that goes on finds in its own store what it was built on. */
#ifndef OUTFOX_CAMPAIGN_SINCE_H
#define OUTFOX_CAMPAIGN_SINCE_H

#include "live/identity.h"
#include "search/knowledge.h"
#include "search/search.h"
#include "store/store.h"

/* What concerns one scenario. */
struct since_part {
    const char *scenario;
    const char *full;  /* why nothing is known of it; NULL: something is */
    bool client;       /* its request, test or expectations have changed */
    uint64_t runs;     /* of earlier campaigns that are known */
    uint32_t findings; /* of the earlier campaign: they come first in */
    VEC(faultload) verify;
    VEC(slice) chunks; /* of journals so far */
};

struct since_change {
    const char *service, *why;
};

struct since {
    struct arena keep;
    const char *file; /* NULL: it was taken up again */
    struct knowledge *knowledge;
    VEC(struct since_part) parts; /* as many as scenarios */
    VEC(struct since_change) changed;
    uint32_t services;
};

struct since_options {
    const struct campaign_config *config;
    struct names *names;
    struct faultloads *faultloads;
    bool stateless;
    const struct since_scenario {
        slice name;
        const char *options; /* as of campaign_options */
    } * scenarios;
    uint32_t n;
    const struct identities *identities;
};

/* From an earlier store; since_free is due either way. -1: it cannot be read. */
int since_open(struct since *out, const char *file, const struct since_options *o,
               struct err *e) MUST_USE;

/* From the campaign's own, when it is taken up again. */
int since_recall(struct since *out, struct store *store, const struct since_options *o,
                 struct err *e) MUST_USE;
void since_free(struct since *s);

/* Of any scenario, anything. */
bool since_knows(const struct since *s);

/* Keeps with a campaign, which has begun in the store, what it was built on. */
int since_keep(const struct since *s, uint32_t part, struct store *store, uint64_t campaign,
               const struct names *names, const struct faultloads *fl, struct err *e) MUST_USE;

/* At its end: what was found to have changed although nothing said so. */
int since_keep_refuted(const struct since *s, struct store *store, uint64_t campaign,
                       const struct names *names, struct err *e) MUST_USE;

/* For people: what is trusted, and what is explored anew, and why; a sentence or two. */
void since_print(const struct since *s, struct buf *out);

#endif
