/* SPDX-License-Identifier: Apache-2.0
 *
 * What a campaign leaves to later ones: its journal (store/journal.h). A run is added to it when the
 * search has seen it, and chunk by chunk it goes to the store. After a crash the runs behind the last
 * chunk are added again as they are restored.
 *
 * Not every run is worth it: one whose faults did not all fire proves nothing, and what an audit shows is
 * not followed up, so that a later campaign must not rely on it. */
#include "campaign/campaign_int.h"

static int see_last(void *ctx, uint64_t last, slice chunk, struct err *e)
{
    struct campaign *c = ctx;
    (void)chunk;
    (void)e;
    c->journal_last = last > c->journal_last ? last : c->journal_last;
    return 0;
}

int campaign_journal_begin(struct campaign *c, struct err *e)
{
    if (!c->opt.store || !store_writable(c->opt.store))
        return 0;
    journal_free(c->journal);
    c->journal = journal_new(c->opt.names, c->opt.faultloads);
    c->journal_last = 0;
    return journal_each(c->opt.store, c->id, see_last, c, e);
}

void campaign_journal_add(struct campaign *c, const struct run *tested)
{
    const struct search_run *seen = search_last(c->search);
    struct journal_entry entry = {.faultload = seen->happened, .trace = &tested->trace};
    if (!c->journal || tested->number <= c->journal_last || !seen->fired ||
        seen->purpose == FOR_AUDIT || seen->purpose == FOR_VERIFY ||
        journal_add(c->journal, &entry))
        return;
    journal_free(
        c->journal); /* a run of megabytes: whoever comes later reads the runs themselves */
    c->journal = NULL;
}

int campaign_journal_keep(struct campaign *c, struct err *e)
{
    if (!c->journal || !journal_chunk(c->journal).n)
        return 0;
    if (journal_keep(c->opt.store, c->id, c->number, journal_chunk(c->journal), e))
        return -1;
    c->journal_last = c->number;
    journal_clear(c->journal);
    return 0;
}
