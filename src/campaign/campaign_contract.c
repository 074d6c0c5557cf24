/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign that is judged by a contract: where runs meet it, and what is kept of it. All of this
 * does nothing without one. */
#include "campaign/campaign_int.h"

/* What is called in blocks is nothing that the contract is about. */

static void learn(struct campaign *c, const struct run *run)
{
    struct run tested = campaign_tested(run);
    contract_learn(c->opt.contract, &tested);
    vec_deinit(&tested.trace.calls);
}

static void judge(struct campaign *c, struct run *run)
{
    struct run tested = campaign_tested(run);
    contract_judge(c->opt.contract, &tested);
    run->verdict = tested.verdict;
    run->flags = tested.flags;
    vec_deinit(&tested.trace.calls);
}

void campaign_contract_learn(struct campaign *c, struct run *runs, uint32_t n)
{
    if (!c->opt.contract)
        return;
    for (uint32_t i = 0; i < n; i++)
        learn(c, &runs[i]);
    for (uint32_t i = 0; i < n; i++)
        judge(c, &runs[i]);
}

void campaign_contract_replay(struct campaign *c, struct run *run)
{
    if (c->opt.contract && !contract_ready(c->opt.contract))
        learn(c, run);
    campaign_contract_judge(c, run);
}

void campaign_contract_judge(struct campaign *c, struct run *run)
{
    if (c->opt.contract && !c->opt.contract_watches)
        judge(c, run);
}

void campaign_contract_note(struct campaign *c, const struct run *run)
{
    bool calm = run->purpose == RUN_CHECK && run_expected(run);
    if (!c->opt.contract || (run->purpose != RUN_SEARCH && !calm))
        return;
    struct run tested = campaign_tested(run);
    if (calm)
        contract_learn_answer(c->opt.contract, &tested);
    else
        contract_note(c->opt.contract, &tested);
    vec_deinit(&tested.trace.calls);
}

/* A run that is stored: its verdict stays. */
void campaign_contract_restore(struct campaign *c, const struct run *run)
{
    if (c->opt.contract && run->purpose == RUN_BASELINE)
        learn(c, run);
    campaign_contract_note(c, run);
    struct run copy = *run; /* it remembers which calls are not as declared by themselves */
    campaign_contract_judge(c, &copy);
}

/* ---- the end ---- */

static void add_note(void *ctx, const char *text)
{
    campaign_note(ctx, text);
}

void campaign_contract_finish(struct campaign *c)
{
    struct buf lines = BUF_INIT(4 << 20);
    if (!c->opt.contract || c->opt.contract_watches || !contract_ready(c->opt.contract))
        return;
    bool complete = search_done(c->search) && c->opt.search.shards <= 1 && !c->summary.broken;
    contract_remark(c->opt.contract, complete, &c->summary, add_note, c);
    (void)contract_propose(c->opt.contract, &lines);
    c->lines = buf_keep(&lines, &c->keep).p;
}

const char *campaign_lines(const struct campaign *c)
{
    return c->lines ? c->lines : "";
}

/* ---- the store ---- */

static void print_hash(const struct campaign *c, struct buf *out)
{
    buf_addf(out, "%016llx", (unsigned long long)contract_hash(c->opt.contract));
}

int campaign_contract_begin(struct campaign *c, struct err *e)
{
    struct buf hash = BUF_INIT(20);
    if (!c->opt.contract)
        return 0;
    print_hash(c, &hash);
    int failed = store_set(c->opt.store, c->id, SLICE("contract"), buf_slice(&hash), e);
    buf_deinit(&hash);
    return failed;
}

int campaign_contract_keep(struct campaign *c, struct err *e)
{
    if (!c->lines || !c->opt.store)
        return 0;
    return store_set(c->opt.store, c->id, SLICE("contract-lines"), slice_of(c->lines), e);
}

int campaign_contract_check(struct campaign *c, struct err *e)
{
    slice then, lines;
    struct buf now = BUF_INIT(20);
    if (store_get(c->opt.store, c->id, SLICE("contract"), &c->keep, &then, e) ||
        store_get(c->opt.store, c->id, SLICE("contract-lines"), &c->keep, &lines, e))
        return -1;
    c->had_contract = then.p != NULL;
    if (lines.p)
        c->lines = lines.p;
    if (!c->opt.contract || c->opt.contract_watches)
        return 0;
    print_hash(c, &now);
    bool same = then.p && slice_eq(then, buf_slice(&now));
    buf_deinit(&now);
    if (same)
        return 0;
    err_set(e, 0, 0,
            "the campaign of \"%s\" was made %s: start anew without --resume, since its runs "
            "would be judged by two contracts",
            c->spec->name.p,
            then.p ? "with a contract that said something else" : "without --contract");
    return STATUS_OTHER;
}

bool campaign_had_contract(const struct campaign *c)
{
    return c->had_contract;
}
