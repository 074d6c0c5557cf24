/* SPDX-License-Identifier: Apache-2.0
 *
 * What a contract says of runs, in sentences. */
#include "contract/contract_int.h"

enum { WHY_MAX = 2000, DETAIL_MAX = 400 };

/* A sentence that lives as long as the contract. */
static const char *contract_say(struct contract *c, const struct buf *text)
{
    uint32_t id = intern_put(&c->pool, buf_slice(text));
    return id == INTERN_NONE ? "the contract does not hold" : intern_text(&c->pool, id).p;
}

/* ---- runs ---- */

/* "a GET /x fails", "a GET /x and b POST /y fail together" */
static void print_calls(const struct contract *c, const struct fault *faults, uint32_t n,
                        struct buf *out)
{
    uint32_t shown = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct element *e = uid_element(c->opt.names, faults[i].point);
        bool again = false;
        for (uint32_t k = 0; k < i && !again; k++) {
            const struct element *o = uid_element(c->opt.names, faults[k].point);
            again = o->service == e->service && o->interface == e->interface &&
                    o->payload == e->payload;
        }
        if (again)
            continue;
        struct element bare = {
            .service = e->service, .interface = e->interface, .payload = e->payload};
        buf_adds(out, shown++ ? " and " : "");
        element_print(c->opt.names, &bare, out);
    }
    buf_adds(out, shown > 1 ? " fail together" : " fails");
}

static void judge_faulty(struct contract *c, const struct behaviour *b, const struct fault *faults,
                         uint32_t n, struct buf *why, struct buf *detail)
{
    struct resolution r;
    contract_resolve(c, faults, n, false, &r);
    const struct fault *left = r.n_left ? r.left : faults;
    uint32_t n_left = r.n_left ? r.n_left : n;
    if (r.other) {
        buf_addf(why,
                 "the contract is ambiguous: the rules of lines %u and %u are equally precise and "
                 "say different things when ",
                 (unsigned)r.rule->line, (unsigned)r.other->line);
        print_calls(c, left, n_left, why);
        return;
    }
    if (!r.rule) {
        const char *decide;
        buf_adds(why, "the contract does not say what happens when ");
        print_calls(c, left, n_left, why);
        buf_adds(detail, "seen: ");
        (void)behaviour_print(c, b, faults, n, false, detail, &decide);
        return;
    }
    struct faulty f = {faults, r.left, n, r.n_left};
    if (then_holds(c, &r.rule->then, b, &f, detail))
        return;
    for (uint32_t k = 0; k < n && r.composed; k++) {
        /* one of the calls is not as declared when it fails alone: this is the same, once more */
        const uint32_t *known =
            map_get(&c->broken, group_key(faults, n, group_of(c, faults, n, k)));
        if (known) {
            buf_add(why, intern_text(&c->pool, *known));
            return;
        }
    }
    buf_addf(why, "not what the contract %s line %u: when ",
             r.composed ? "says and implies in" : "says in", (unsigned)r.rule->line);
    print_calls(c, faults, n, why);
    buf_adds(why, ", then ");
    then_print(c, &r.rule->then, why);
    uint64_t group = group_of(c, faults, n, 0);
    if (group == (n == 64 ? UINT64_MAX : (1ull << n) - 1))
        map_set(&c->broken, group_key(faults, n, group), intern_put(&c->pool, buf_slice(why)));
}

/* Says why in *why; nothing: all is as declared. A dependency that fails by itself: nothing can be
 * said about what its failing leads to. */
static void judge_calm(struct contract *c, const struct run *run, const struct behaviour *b,
                       struct buf *why, struct buf *detail)
{
    struct faulty none = {0};
    for (uint32_t i = 1; i < run->trace.calls.n; i++) {
        const struct call *k = &run->trace.calls.at[i];
        enum outcome_kind kind = outcome_kind(k->seen);
        bool answered = kind == OUT_STATUS || kind == OUT_GRPC;
        if ((k->flags & (CALL_EXEMPT | CALL_OPEN)) || kind == OUT_NONE || kind == OUT_CANCELLED ||
            (answered && !outcome_error(k->seen)))
            continue;
        element_print(c->opt.names, uid_element(c->opt.names, k->uid), why);
        buf_adds(why, " fails without any fault");
        buf_adds(detail, "its caller sees ");
        outcome_print(k->seen, detail);
        return;
    }
    if (!c->without.line || then_holds(c, &c->without, b, &none, detail))
        return;
    buf_addf(why, "not what the contract says in line %u: without faults, ",
             (unsigned)c->without.line);
    then_print(c, &c->without, why);
}

void contract_judge(struct contract *c, struct run *run)
{
    struct behaviour b;
    struct fault faults[ENTRIES_MAX];
    uint32_t n;
    if (!c->usual.known)
        return;
    behaviour_of(c, run, &b, faults, &n);
    if (!b.ended || (!b.pass && (n == 0 || c->opt.strict)))
        return; /* its verdict stays */
    struct buf why = BUF_INIT(WHY_MAX), detail = BUF_INIT(DETAIL_MAX);
    if (n == 0)
        judge_calm(c, run, &b, &why, &detail);
    else
        judge_faulty(c, &b, faults, n, &why, &detail);
    for (uint32_t i = 0; i < c->effects.n && !why.n; i++) { /* that are counted in every run */
        const struct effect_rule *r = &c->effects.at[i];
        uint32_t count = 0;
        if (effect_rule_check(r, c->opt.names, &run->trace, run->verdict.status, &count))
            continue;
        buf_addf(&why, "not what the contract says in line %u: %s", (unsigned)r->line, r->text);
        buf_addf(&detail, "it was done %u %s, status ", (unsigned)count,
                 plural(count, "time", "times"));
        outcome_print(run->verdict.status, &detail);
    }
    run->flags |= RUN_CONTRACT | (b.pass ? 0 : RUN_UNEXPECTED);
    run->verdict.pass = why.n == 0;
    run->verdict.why = why.n ? contract_say(c, &why) : "";
    run->verdict.detail = why.n && detail.n ? contract_say(c, &detail) : NULL;
    buf_deinit(&why);
    buf_deinit(&detail);
}

uint64_t contract_hash(const struct contract *c)
{
    return c->hash;
}

/* ---- the end ---- */

static void print_rule(const struct contract *c, const struct contract_rule *r, struct buf *out)
{
    buf_addf(out, "the rule in line %u of %s (", (unsigned)r->line, c->opt.file);
    for (uint32_t i = 0; i < r->fails.n; i++)
        buf_addf(out, "%s%.*s", i ? " and " : "when ", SLICE_ARG(r->fails.at[i].text));
    buf_adds(out, r->fails.n > 1 ? " fail, then " : " fails, then ");
    then_print(c, &r->then, out);
    buf_adds(out, ")");
}

static void say_hidden(struct contract *c, const struct remark *remark,
                       void (*say)(void *ctx, const char *text), void *ctx)
{
    struct fault faults[ENTRIES_MAX];
    uint32_t n = 0;
    struct resolution r;
    const struct faultloads *fl = c->opt.faultloads;
    for (faultload f = remark->faultload; f != FAULTLOAD_EMPTY && n < ENTRIES_MAX;
         f = fl->rows.at[f].rest)
        faults[n++] = fl->rows.at[f].last;
    if (!n)
        return;
    contract_resolve(c, faults, n, false, &r);
    if (!r.rule || r.other)
        return;
    for (uint32_t i = 0; i < c->seen.n; i++) {
        const struct seen *s = &c->seen.at[i];
        if (s->n == n &&
            group_key(c->faults.at + s->first, n, UINT64_MAX) == group_key(faults, n, UINT64_MAX) &&
            !seen_holds(c, s, NULL))
            return; /* a run with these faults was not as declared: that is said already */
    }
    struct buf text = BUF_INIT(WHY_MAX);
    print_rule(c, r.rule, &text);
    buf_addf(&text, " declares what the oracle %s objects to: %s", remark->oracle, remark->why);
    say(ctx, buf_text(&text));
    buf_deinit(&text);
}

void contract_remark(struct contract *c, bool complete, const struct summary *summary,
                     void (*say)(void *ctx, const char *text), void *ctx)
{
    if (c->opt.undecided) {
        struct buf text = BUF_INIT(WHY_MAX);
        bool one = c->opt.undecided == 1;
        buf_addf(&text,
                 "WARNING: %u %s of %s %s still undecided, %s line %u: what %s may be a bug. "
                 "Decide, then delete the comment `# decide`",
                 (unsigned)c->opt.undecided, one ? "rule" : "rules", c->opt.file,
                 one ? "is" : "are", one ? "in" : "the first in", (unsigned)c->opt.undecided_line,
                 one ? "it allows" : "they allow");
        say(ctx, buf_text(&text));
        buf_deinit(&text);
    }
    for (uint32_t i = 0; i < summary->remarks.n; i++)
        if (summary->remarks.at[i].severity != SEVERITY_OFF)
            say_hidden(c, &summary->remarks.at[i], say, ctx);
    if (c->usual.answer.runs && mask_hides(&c->usual.answer, (slice){0}))
        say(ctx, "without faults the answer as a whole differs from run to run, and cannot be "
                 "compared: where the contract says `unaffected`, only status and effects are");
    for (uint32_t i = 0; i < c->rules.n && complete; i++) {
        if (c->rules.at[i].used)
            continue;
        struct buf text = BUF_INIT(WHY_MAX);
        print_rule(c, &c->rules.at[i], &text);
        buf_adds(&text, " was never used: nothing that was tried is what it speaks of");
        say(ctx, buf_text(&text));
        buf_deinit(&text);
    }
}
