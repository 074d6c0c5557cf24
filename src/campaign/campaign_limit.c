/* SPDX-License-Identifier: Apache-2.0
 *
 * How long a run may take. A hang is one only after the scenario's whole timeout, and where one
 * combination of faults hangs, many do: each would cost that long. So when one has hung, runs with
 * faults are given a multiple of what the slowest answer took.
 *
 * 1. A hang that would be a new finding is run again with the whole timeout: what is told has been
 *    waited for that long at least once, and one that was only slow raises the limit.
 * 2. Runs without faults, and those that make a finding smaller, are never hurried: what would be
 *    concluded from them is not looked at again.
 * 3. A `timeout` in the file is what its author wants for every run.
 * 4. All is learned from runs that were observed, so a campaign that is resumed knows the same. */
#include "campaign/campaign_int.h"

#include "base/clock.h"

enum { TIMES_SLOWEST = 3 };

static const int64_t LEAST_NS = SECONDS(3);

void campaign_learn_limit(struct campaign *c, const struct run *run)
{
    struct limit *l = &c->limit;
    bool hung = run->flags & RUN_HUNG, hurried = run->flags & RUN_HURRIED;
    l->hung |= hung && !hurried;
    l->hurried += hurried;
    if (!hung && run->took_ns > l->slowest_ns)
        l->slowest_ns = run->took_ns;
}

static int64_t learned_ns(const struct campaign *c)
{
    int64_t ns = TIMES_SLOWEST * c->limit.slowest_ns;
    return ns > LEAST_NS ? ns : LEAST_NS;
}

int64_t campaign_limit(const struct campaign *c, faultload f, enum run_purpose purpose)
{
    bool may = purpose == RUN_SEARCH || purpose == RUN_AUDIT || purpose == RUN_CONFIRM;
    if (!may || f == FAULTLOAD_EMPTY || !c->limit.hung || c->limit.patient ||
        c->spec->timeout_given || learned_ns(c) >= c->spec->timeout_ns)
        return 0;
    return learned_ns(c);
}

bool campaign_cut_short(const struct campaign *c, const struct run *run)
{
    return run->flags & RUN_HURRIED && run->flags & RUN_HUNG && tally_is_new(c->tally, run);
}

void campaign_note_limit(struct campaign *c)
{
    struct buf text = BUF_INIT(600);
    if (!c->limit.hurried)
        return;
    buf_adds(&text, "a run hung for ");
    buf_add_ns(&text, c->spec->timeout_ns);
    buf_adds(&text, ", so later ones were given less, ");
    buf_add_ns(&text, learned_ns(c) / MS(100) * MS(100));
    buf_adds(&text,
             " at the end. A hang at calls that were not known to hang was run again with the "
             "full time. `timeout: ");
    buf_add_ns(&text, c->spec->timeout_ns);
    buf_adds(&text, "` in the scenario gives every run that long");
    campaign_note(c, buf_text(&text));
    buf_deinit(&text);
}
