/* SPDX-License-Identifier: Apache-2.0
 *
 * Contracts as files: what is missing in one, and a whole one. */
#include "contract/contract_propose_int.h"

void rule_print(const struct contract *c, const struct contract_rule *r, uint32_t indent, bool kind,
                struct buf *out)
{
    int blanks = (int)indent;
    if (r->decide)
        buf_addf(out, "%*s# decide: %s\n", blanks, "", r->decide);
    buf_addf(out, "%*s- fails: ", blanks, "");
    buf_adds(out, r->fails.n > 1 ? "[ " : "");
    for (uint32_t i = 0; i < r->fails.n; i++) {
        buf_adds(out, i ? ", " : "");
        yaml_print(r->fails.at[i].text, r->fails.n > 1, out);
    }
    buf_adds(out, r->fails.n > 1 ? " ]" : "");
    if (kind && !r->then.unaffected) {
        bool soft = false;
        for (uint32_t i = 0; i < r->then.status.n; i++)
            soft |= outcome_ok(OUTCOME(r->then.status.at[i].kind, r->then.status.at[i].low)) ||
                    (r->then.status.at[i].kind == OUT_EXIT && r->then.status.at[i].low == 0);
        buf_adds(out, soft ? "  # soft" : "  # hard");
    }
    buf_addf(out, "\n%*s  then: ", blanks, "");
    then_print(c, &r->then, out);
    buf_addc(out, '\n');
}

/* What stands above the rules of a file. */
void head_print(const struct contract *c, struct buf *out)
{
    if (!c->has_scenario) {
        buf_adds(out, "scenario: ");
        yaml_print(slice_of(c->opt.scenario), false, out);
        buf_addc(out, '\n');
    }
    if (!c->without.line && c->usual.known) {
        buf_adds(out, "without-faults: { status: ");
        if (outcome_kind(c->usual.status) == OUT_EXIT)
            buf_addf(out, "exit %u", (unsigned)outcome_code(c->usual.status));
        else
            outcome_print(c->usual.status, out);
        buf_adds(out, " }\n");
    }
    buf_adds(out, "when:\n");
}

uint32_t contract_propose(struct contract *c, struct buf *out)
{
    uint32_t own = c->rules.n;
    propose_rules(c, false);
    uint32_t n = c->rules.n - own, indent = c->when_col ? c->when_col - 1 : 2;
    if (n && !c->has_when)
        head_print(c, out);
    for (uint32_t i = own; i < c->rules.n; i++)
        rule_print(c, &c->rules.at[i], indent, false, out);
    rules_truncate(c, own);
    return n;
}

void contract_print(struct contract *c, struct buf *out)
{
    uint32_t own = c->rules.n;
    if (own == 0)
        propose_rules(c, true);
    buf_addf(out, "# What was seen when calls failed (docs/contracts.md). Is it what is wanted?\n");
    head_print(c, out);
    for (uint32_t i = 0; i < c->rules.n; i++)
        rule_print(c, &c->rules.at[i], 2, true, out);
    rules_truncate(c, own);
}
