/* SPDX-License-Identifier: Apache-2.0
 *
 * Which rule speaks about the faults of a run?
 *
 * A rule covers a set of faults when each of them is meant by one of its calls, and each of its
 * calls means one of them. Of several the most precise one wins: the one that names more calls,
 * then by what it says of each call (entry_rank). Where none covers all faults, the rules about
 * each failing call alone are put together: those that leave the scenario unaffected are left out,
 * and what is left must agree, or be covered by a rule of its own.
 *
 * 1. A call and its further tries (#0, #1 ...) are one failing call, and so are the calls below
 *    them.
 * 2. Nothing here depends on the order of the faults, or of the rules but for which of two equal
 *    ones is named. */
#include "contract/contract_int.h"

/* ---- precision ---- */

enum { PART_ANY, PART_BEGINNING, PART_EXACT };

/* By how precise service and interface are: both exact 8, an interface of any service 5, some
 * interfaces of a service 4, a service 3, some interfaces of any service 1. */
static const uint8_t service_worth[] = {0, 1, 3}, interface_worth[] = {0, 1, 5};

static uint32_t part_rank(slice text, uint32_t *length)
{
    bool star = slice_find(text, '*') < text.n;
    if (star && text.n == 1)
        return PART_ANY;
    if (!star)
        return PART_EXACT;
    *length += (uint32_t)(text.n < 1000 ? text.n : 1000);
    return PART_BEGINNING;
}

/* Service and interface, payload, number, mode: what stands further to the left counts more. Of two
 * that are equal in that, the longer path is more precise. */
void entry_rank(const struct names *names, struct contract_entry *entry)
{
    const struct pattern *p = &entry->pattern;
    const struct element *e = &p->steps.at[p->steps.n - 1].element;
    uint32_t steps = 0, length = 0;
    for (uint32_t i = 0; i < p->steps.n; i++)
        steps += !p->steps.at[i].any_path;
    uint32_t interface = part_rank(names_text(names, e->interface), &length);
    uint32_t service = part_rank(names_text(names, e->service), &length);
    uint32_t payload = (e->payload != 0) + (e->before != 0);
    uint32_t worth = (uint32_t)service_worth[service] + interface_worth[interface];
    entry->rank = worth << 12 | payload << 8 | (uint32_t)(e->n != N_ANY) << 4 |
                  (uint32_t)(p->mode != MODE_NONE);
    entry->length = steps << 16 | (length < 0xffff ? length : 0xffff);
}

static int entry_cmp(const struct contract_entry *a, const struct contract_entry *b)
{
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->length == b->length ? 0 : a->length < b->length ? -1 : 1;
}

static bool entry_means(const struct contract *c, const struct contract_entry *entry,
                        struct fault f)
{
    return (entry->pattern.mode == MODE_NONE || entry->pattern.mode == f.mode) &&
           pattern_matches(&entry->pattern, c->opt.names, f.point);
}

/* The most precise call of the rule that means this fault; NULL: none does. */
static const struct contract_entry *rule_entry(const struct contract *c,
                                               const struct contract_rule *r, struct fault f)
{
    const struct contract_entry *best = NULL;
    for (uint32_t i = 0; i < r->fails.n; i++)
        if (entry_means(c, &r->fails.at[i], f) && (!best || entry_cmp(best, &r->fails.at[i]) < 0))
            best = &r->fails.at[i];
    return best;
}

/* Which of the faults (those of `among`, as bits) does the rule mean? 0 when one of its calls means
 * none of them. */
static uint64_t rule_covers(const struct contract *c, const struct contract_rule *r,
                            const struct fault *faults, uint32_t n, uint64_t among)
{
    uint64_t covered = 0;
    if (r->fails.n > n)
        return 0;
    for (uint32_t i = 0; i < r->fails.n; i++) {
        uint64_t means = 0;
        for (uint32_t k = 0; k < n; k++)
            if ((among >> k & 1) && entry_means(c, &r->fails.at[i], faults[k]))
                means |= 1ull << k;
        if (!means)
            return 0;
        covered |= means;
    }
    return covered;
}

/* Both cover these faults: which is more precise? 0: neither. */
static int rule_cmp(const struct contract *c, const struct contract_rule *a,
                    const struct contract_rule *b, const struct fault *faults, uint32_t n,
                    uint64_t covered)
{
    bool more = false, less = false;
    if (a->fails.n != b->fails.n)
        return a->fails.n < b->fails.n ? -1 : 1;
    for (uint32_t k = 0; k < n; k++) {
        if (!(covered >> k & 1))
            continue;
        int cmp = entry_cmp(rule_entry(c, a, faults[k]), rule_entry(c, b, faults[k]));
        more |= cmp > 0;
        less |= cmp < 0;
    }
    return more == less ? 0 : more ? 1 : -1;
}

/* ---- choosing ---- */

struct choice {
    struct contract_rule *rule, *other; /* other: as precise, and says something else */
    uint64_t covered;
};

/* Which faults a choice is about. */
struct question {
    const struct fault *faults;
    uint32_t n;
    uint64_t least, most; /* all of these must be covered, and only these */
    uint32_t calls;       /* the rule has at least so many */
};

/* 0: the rule is none of those that are asked for. */
static uint64_t answers(const struct contract *c, const struct question *q,
                        const struct contract_rule *r)
{
    uint64_t covered = r->fails.n < q->calls ? 0 : rule_covers(c, r, q->faults, q->n, q->most);
    return (covered & q->least) == q->least ? covered : 0;
}

/* Is the rule to be chosen rather than the best one? 0: neither. */
static int choice_cmp(const struct contract *c, const struct question *q,
                      const struct contract_rule *r, uint64_t covered, const struct choice *best)
{
    if (!best->rule)
        return 1;
    int more = __builtin_popcountll(covered) - __builtin_popcountll(best->covered);
    if (more)
        return more < 0 ? -1 : 1;
    return covered == best->covered ? rule_cmp(c, r, best->rule, q->faults, q->n, covered) : 0;
}

/* The rule that covers as many as possible, then as precisely as possible. What is as precise as
 * the best one is only known when that is: precision is no total order. */
static struct choice choose(const struct contract *c, const struct question *q)
{
    struct choice best = {0};
    bool doubt = false;
    for (uint32_t i = 0; i < c->rules.n; i++) {
        struct contract_rule *r = &c->rules.at[i];
        uint64_t covered = answers(c, q, r);
        int cmp = covered ? choice_cmp(c, q, r, covered, &best) : -1;
        if (cmp > 0)
            best = (struct choice){r, NULL, covered};
        doubt |= cmp == 0;
    }
    for (uint32_t i = 0; i < c->rules.n && doubt && !best.other; i++) {
        struct contract_rule *r = &c->rules.at[i];
        uint64_t covered = r->then.text == best.rule->then.text ? 0 : answers(c, q, r);
        if (covered && choice_cmp(c, q, r, covered, &best) == 0)
            best.other = r;
    }
    return best;
}

static uint64_t all_of(uint32_t n)
{
    return n == 64 ? UINT64_MAX : (1ull << n) - 1;
}

uint64_t group_of(const struct contract *c, const struct fault *faults, uint32_t n, uint32_t at)
{
    uint64_t group = 0;
    for (uint32_t k = 0; k < n; k++)
        if (uid_alike(c->opt.names, faults[k].point, faults[at].point))
            group |= 1ull << k;
    return group;
}

uint64_t group_key(const struct fault *faults, uint32_t n, uint64_t group)
{
    uint64_t key = 0;
    for (uint32_t k = 0; k < n; k++)
        if (group >> k & 1)
            key += fault_key(faults[k]);
    return key;
}

/* What the failing calls lead to, each alone. */
struct parts {
    uint64_t left;             /* faults of calls that do not leave the scenario unaffected */
    uint64_t undeclared;       /* those of the first call that has no rule */
    struct contract_rule *one; /* a rule of those that are left, or of any if none is */
    bool agree;                /* what is left has one outcome */
};

/* False: two rules are equally precise about one of them: *found. */
static bool look_at_parts(const struct contract *c, const struct fault *faults, uint32_t n,
                          bool use, struct parts *out, struct choice *found)
{
    uint64_t done = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (done >> k & 1)
            continue;
        uint64_t group = group_of(c, faults, n, k);
        done |= group;
        struct choice own = choose(c, &(struct question){faults, n, group, group, 1});
        if (own.other) {
            out->left = group;
            *found = own;
            return false;
        }
        if (!own.rule) { /* one that is only called after another failed has none, mostly */
            out->undeclared = out->undeclared ? out->undeclared : group;
            out->left |= group;
            continue;
        }
        own.rule->used += use;
        bool first = !out->one || out->one->then.unaffected;
        if (own.rule->then.unaffected) {
            out->one = out->one ? out->one : own.rule;
            continue;
        }
        out->agree &= first || own.rule->then.text == out->one->then.text;
        out->left |= group;
        out->one = first ? own.rule : out->one;
    }
    return true;
}

/* Where no rule speaks of all the faults: what follows from those about fewer. */
void contract_resolve(struct contract *c, const struct fault *faults, uint32_t n, bool use,
                      struct resolution *out)
{
    uint64_t all = all_of(n), left = all;
    *out = (struct resolution){0};
    bool alone = group_of(c, faults, n, 0) == all;
    /* a rule about one call does not speak of several: others may be more precise about each */
    struct choice found = choose(c, &(struct question){faults, n, all, all, alone ? 1 : 2});
    struct parts parts = {.agree = true};
    if (!found.rule && !alone) {
        out->composed = true;
        bool clear = look_at_parts(c, faults, n, use, &parts, &found);
        left = parts.left;
        if (clear) {
            found = choose(c, &(struct question){faults, n, parts.left, all, 2});
            if (!found.rule && !parts.undeclared && parts.agree)
                found.rule = parts.one;
            else if (!found.rule || found.other)
                found = (struct choice){0};
            left = !found.rule && parts.undeclared ? parts.undeclared : left;
        }
    }
    out->rule = found.rule;
    out->other = found.other;
    if (found.rule)
        found.rule->used += use;
    for (uint32_t k = 0; k < n; k++)
        if (left >> k & 1)
            out->left[out->n_left++] = faults[k];
}

/* ---- equality ---- */

static bool pattern_same(const struct pattern *a, const struct pattern *b)
{
    if (a->steps.n != b->steps.n || a->mode != b->mode)
        return false;
    for (uint32_t i = 0; i < a->steps.n; i++) {
        const struct pattern_step *x = &a->steps.at[i], *y = &b->steps.at[i];
        const struct element *p = &x->element, *q = &y->element;
        if (x->any_path != y->any_path)
            return false;
        if (!x->any_path && (p->service != q->service || p->interface != q->interface ||
                             p->payload != q->payload || p->before != q->before || p->n != q->n))
            return false;
    }
    return true;
}

static bool calls_within(const struct contract_rule *a, const struct contract_rule *b)
{
    for (uint32_t i = 0; i < a->fails.n; i++) {
        bool found = false;
        for (uint32_t k = 0; k < b->fails.n && !found; k++)
            found = pattern_same(&a->fails.at[i].pattern, &b->fails.at[k].pattern);
        if (!found)
            return false;
    }
    return true;
}

bool rule_same_calls(const struct contract_rule *a, const struct contract_rule *b)
{
    return a->fails.n == b->fails.n && calls_within(a, b) && calls_within(b, a);
}
