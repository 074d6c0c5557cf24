/* SPDX-License-Identifier: Apache-2.0
 *
 * A campaign that is judged by a contract: where runs meet it, and what is kept of it. All of this
 * does nothing without one. */
#include "campaign/campaign_int.h"

/* What is called in blocks (campaign_tested) is nothing that the contract is about. */

static void learn_tested(struct campaign *c, const struct run *run)
{
    struct run tested = campaign_tested(run);
    contract_learn(c->opt.contract, &tested);
    vec_deinit(&tested.trace.calls);
}

static void judge_tested(struct campaign *c, struct run *run)
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
        learn_tested(c, &runs[i]);
    for (uint32_t i = 0; i < n; i++)
        judge_tested(c, &runs[i]);
}

void campaign_contract_replay(struct campaign *c, struct run *run)
{
    if (c->opt.contract && !contract_ready(c->opt.contract))
        learn_tested(c, run);
    campaign_contract_judge(c, run);
}

void campaign_contract_judge(struct campaign *c, struct run *run)
{
    if (c->opt.contract && !c->opt.contract_watches)
        judge_tested(c, run);
}

void campaign_contract_note(struct campaign *c, const struct run *tested, bool restored)
{
    struct contract *contract = c->opt.contract;
    bool calm = tested->purpose == RUN_CHECK && run_expected(tested);
    if (!contract)
        return;
    if (restored && tested->purpose == RUN_BASELINE)
        contract_learn(contract, tested);
    if (calm)
        contract_learn_answer(contract, tested);
    else if (tested->purpose == RUN_SEARCH)
        contract_note(contract, tested);
    if (restored && !c->opt.contract_watches) { /* its verdict stays, but the contract remembers */
        struct run copy = *tested;              /* which calls are not as declared by themselves */
        contract_judge(contract, &copy);
    }
}

/* ---- the end ---- */

static void add_note(void *ctx, const char *text)
{
    campaign_note(ctx, "%s", text);
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

static slice hash_text(struct campaign *c)
{
    return slice_of(
        arena_printf(&c->keep, "%016llx", (unsigned long long)contract_hash(c->opt.contract)));
}

int campaign_contract_begin(struct campaign *c, struct err *e)
{
    return c->opt.contract ? store_set(c->opt.store, c->id, SLICE("contract"), hash_text(c), e) : 0;
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
    if (store_get(c->opt.store, c->id, SLICE("contract"), &c->keep, &then, e) ||
        store_get(c->opt.store, c->id, SLICE("contract-lines"), &c->keep, &lines, e))
        return -1;
    c->had_contract = then.p != NULL;
    if (lines.p)
        c->lines = lines.p;
    if (!c->opt.contract || c->opt.contract_watches)
        return 0;
    if (then.p && slice_eq(then, hash_text(c)))
        return 0;
    err_set(e, 0, 0,
            "the campaign of \"%s\" was made %s, so its runs would be judged by two contracts; "
            "start over without --resume",
            c->spec->name.p, then.p ? "with a different contract" : "without --contract");
    return STATUS_OTHER;
}

bool campaign_had_contract(const struct campaign *c)
{
    return c->had_contract;
}
