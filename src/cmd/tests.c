/* SPDX-License-Identifier: Apache-2.0
 *
 * The tests of a suite (`suite` in outfox.yaml): which scenarios a session has.
 *
 *   outfox run     asks their runner, also to resume: what it lists is what there is
 *   other verbs    take those of the store, by its names: they show what was run. The runner is asked
 *                  only where the store does not have what is wanted
 *
 * A campaign of a test has the fact "test": which test it is; empty: it was not listed any more when a
 * later campaign began. */
#include <unistd.h>

#include "cmd/session.h"
#include "config/suite.h"
#include "live/listing.h"

/* ---- from the store ---- */

/* Goes to the next stored campaign of a test, in the order in which they began; false: there is
 * none, or none can be read. */
struct stored_test {
    uint64_t campaign; /* 0: before the first */
    slice name, test;
};

static bool stored_next(struct store *store, struct arena *a, struct stored_test *at)
{
    struct err ignored = {0};
    while (!store_next(store, at->campaign, a, &at->campaign, &at->name, &ignored) && at->campaign)
        if (!store_get(store, at->campaign, SLICE("test"), a, &at->test, &ignored) && at->test.p)
            return true;
    return false;
}

static bool wanted_found(struct session *s)
{
    uint32_t n = s->config->scenarios.n;
    bool found = !s->args->scenario;
    for (uint32_t i = 0; i < n && !found; i++)
        found = tests_chosen(&s->config->scenarios.at[i], s->args->scenario);
    return found;
}

/* Whatever is wrong with the store is said by whoever needs it. */
static bool take_stored(struct session *s)
{
    struct campaign_config *c = s->config;
    struct store *store = NULL;
    struct err ignored = {0};
    struct stored_test at = {0};
    uint32_t own = c->scenarios.n;
    const char *path = s->args->store ? s->args->store : c->store.p;
    if (access(path, F_OK) || store_open(path, STORE_READ, &store, &ignored))
        return false;
    while (stored_next(store, &s->arena, &at))
        if (at.test.n)
            (void)!suite_add_named(c, at.name, at.test);
    store_close(store);
    if (c->scenarios.n > own && wanted_found(s))
        return true;
    c->scenarios.n = own; /* tests own nothing */
    return false;
}

bool tests_chosen(const struct scenario_spec *spec, const char *pattern)
{
    return slice_glob(slice_of(pattern), spec->name) || slice_is(spec->test, pattern);
}

int tests_take(struct session *s, bool ask, struct err *e)
{
    struct campaign_config *c = s->config;
    uint32_t own = c->scenarios.n;
    if (!c->suite.given || (!ask && take_stored(s)))
        return 0;
    if (listing_add(c, e))
        return EXIT_ENVIRONMENT;
    uint32_t n = c->scenarios.n - own;
    if (!s->args->quiet)
        fprintf(stderr, "outfox: the suite has %u %s\n", (unsigned)n, plural(n, "test", "tests"));
    return 0;
}

/* ---- what has changed since ---- */

struct changes {
    uint32_t n;
    struct buf names; /* as many as a line holds */
};

static void note_change(struct changes *c, slice name)
{
    enum { LISTED = 10 };
    if (++c->n <= LISTED)
        buf_addf(&c->names, "%s%.*s", c->n > 1 ? ", " : "", SLICE_ARG(name));
    else if (c->n == LISTED + 1)
        buf_adds(&c->names, " ...");
}

static void tell_change(struct changes *c, const char *one, const char *many)
{
    if (c->n)
        fprintf(stderr, "outfox: %u %s: %s\n", (unsigned)c->n, plural(c->n, one, many),
                buf_text(&c->names));
    buf_deinit(&c->names);
}

/* The listed test that a stored campaign is of. */
static bool is_listed(const struct session *s, const struct stored_test *at)
{
    uint32_t i = config_scenario(s->config, at->name);
    return i != UINT32_MAX && s->config->scenarios.at[i].test.n;
}

int tests_compare(struct session *s, struct err *e)
{
    struct changes gone = {.names = BUF_INIT(4096)}, new = {.names = BUF_INIT(4096)};
    struct stored_test at = {0};
    struct arena a = {0};
    uint64_t stored = 0;
    bool any = false;
    int status = 0;
    while (!status && s->config->suite.given && stored_next(s->store, &a, &at)) {
        any = true;
        slice now = SLICE("");
        if (is_listed(s, &at))
            now = s->config->scenarios.at[config_scenario(s->config, at.name)].test;
        else if (at.test.n)
            note_change(&gone, at.name);
        if (!now.n != !at.test.n)
            status = store_set(s->store, at.campaign, SLICE("test"), now, e);
    }
    for (uint32_t i = 0; any && !status && i < s->scenarios.n; i++) {
        const struct scenario_spec *spec = &s->config->scenarios.at[s->scenarios.at[i]];
        if (spec->test.n)
            status = store_find(s->store, spec->name, &stored, e);
        if (spec->test.n && !status && !stored)
            note_change(&new, spec->name);
    }
    if (!s->args->resume)
        gone.n = new.n = 0; /* nothing is taken up */
    tell_change(&gone, "test of the stored campaign is not listed any more and is left out",
                "tests of the stored campaign are not listed any more and are left out");
    tell_change(&new, "test is new since the campaign began and is explored from its beginning",
                "tests are new since the campaign began and are explored from their beginning");
    arena_deinit(&a);
    return status;
}
