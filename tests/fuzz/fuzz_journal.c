// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what an earlier campaign left: the first byte says whether a chunk of its journal, or the
// identities of its services.
//
// 1. What is read of a damaged chunk can be learned from, whatever it says.
// 2. Identities that are read are printed as they were; one that says that there is none is the same as no other.

#include <stdint.h>

#include "fuzz/must.h"
#include "live/identity.h"
#include "search/knowledge.h"
#include "store/journal.h"

enum { BYTES_MAX = 64 << 10, VERIFY_MAX = 20 };

struct reader {
    struct names names;
    struct faultloads fl;
    struct knowledge *knowledge;
    uint32_t runs;
};

static int learn(void *ctx, const struct journal_entry *entry)
{
    struct reader *r = ctx;
    struct lesson lesson = {.scenario = knowledge_scenario(r->knowledge, SLICE("one")),
                            .faultload = entry->faultload,
                            .trace = entry->trace,
                            .stale = entry->marks,
                            .keep = true,
                            .follow = r->runs++ % 4 != 3};
    knowledge_learn(r->knowledge, &r->names, &r->fl, &lesson);
    return 0;
}

static void check_journal(slice chunk, bool stateless)
{
    struct reader r = {.knowledge = knowledge_new(stateless)};
    faultload verify[VERIFY_MAX];
    struct knowledge_stats stats;
    names_init(&r.names);
    faultloads_init(&r.fl);
    int status = journal_read(chunk, &r.names, &r.fl, learn, &r);
    MUST(status == 0 || status == -1);
    knowledge_age(r.knowledge);
    MUST(knowledge_verify(r.knowledge, knowledge_scenario(r.knowledge, SLICE("one")), VERIFY_MAX,
                          verify) <= VERIFY_MAX);
    knowledge_stats(r.knowledge, &stats);
    MUST(stats.trusted_handlers <= stats.handlers && stats.trusted_edges <= stats.edges);
    knowledge_free(r.knowledge);
    faultloads_deinit(&r.fl);
    names_deinit(&r.names);
}

static void check_identities(slice text)
{
    struct identities x = {0}, again = {0};
    struct buf a = BUF_INIT(1 << 20), b = BUF_INIT(1 << 20), why = BUF_INIT(1 << 16);
    if (identities_parse(&x, text)) {
        identities_print(&x, &a);
        MUST(identities_parse(&again, buf_slice(&a)));
        identities_print(&again, &b);
        MUST(slice_eq(buf_slice(&a), buf_slice(&b)));
        for (uint32_t i = 0; i < x.list.n; i++)
            MUST(!identity_same(&x.list.at[i], &again.list.at[i], &why) || !x.list.at[i].none);
    }
    identities_deinit(&x);
    identities_deinit(&again);
    buf_deinit(&a);
    buf_deinit(&b);
    buf_deinit(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > BYTES_MAX)
        return 0;
    slice rest = {(const char *)data + 1, size - 1};
    if (data[0] % 3 == 2)
        check_identities(rest);
    else
        check_journal(rest, data[0] % 3);
    return 0;
}
