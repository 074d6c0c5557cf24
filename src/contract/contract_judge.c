/* SPDX-License-Identifier: Apache-2.0
 *
 * What a contract says of runs, in sentences. */
#include "contract/contract_propose_int.h"

enum { WHY_MAX = 2000, DETAIL_MAX = 400 };

/* A sentence that lives as long as the contract. */
static const char *contract_say(struct contract *c, const struct buf *text)
{
    uint32_t id = pool_put(&c->pool, buf_slice(text));
    return id == POOL_NONE ? "the contract does not hold" : pool_text(&c->pool, id).p;
}

static void set_verdict(struct contract *c, struct verdict *v, const struct buf *why,
                        const struct buf *detail)
{
    v->pass = why->n == 0;
    v->why = why->n ? contract_say(c, why) : "";
    v->detail = detail->n ? contract_say(c, detail) : NULL;
}

/* ---- without faults ---- */

/* A dependency that fails by itself: nothing can be said about what its failing leads to. */
static void check_clean(const struct contract *c, const struct run *run, struct buf *why,
                        struct buf *detail)
{
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
}

static void judge_plain(struct contract *c, const struct run *run, const struct behaviour *b,
                        struct buf *why, struct buf *detail)
{
    struct faulty none = {0};
    check_clean(c, run, why, detail);
    if (why->n || !c->without.line || then_holds(c, &c->without, b, &none, detail))
        return;
    buf_addf(why, "not what the contract says in line %u: without faults, ",
             (unsigned)c->without.line);
    then_print(c, &c->without, why);
}

/* ---- effects that are counted in every run ---- */

static void judge_effects(struct contract *c, const struct run *run, struct buf *why,
                          struct buf *detail)
{
    for (uint32_t i = 0; i < c->effects.n && !why->n; i++) {
        const struct effect_rule *r = &c->effects.at[i];
        uint32_t n = 0;
        if (effect_rule_check(r, c->opt.names, &run->trace, run->verdict.status, &n))
            continue;
        buf_addf(why, "not what the contract says in line %u: %s", (unsigned)r->line, r->text);
        buf_addf(detail, "it was done %u %s, status ", (unsigned)n, plural(n, "time", "times"));
        outcome_print(run->verdict.status, detail);
    }
}

/* ---- with faults ---- */

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

static void tell_ambiguous(const struct contract *c, const struct resolution *r,
                           const struct fault *faults, uint32_t n, struct buf *why)
{
    buf_addf(why,
             "the contract is ambiguous: the rules of lines %u and %u are equally precise and say "
             "different things when ",
             (unsigned)r->rule->line, (unsigned)r->other->line);
    print_calls(c, faults, n, why);
}

static void tell_undeclared(struct contract *c, const struct behaviour *b,
                            const struct resolution *r, const struct fault *faults, uint32_t n,
                            struct buf *why, struct buf *detail)
{
    const char *decide;
    buf_adds(why, "the contract does not say what happens when ");
    print_calls(c, r->n_left ? r->left : faults, r->n_left ? r->n_left : n, why);
    buf_adds(detail, "seen: ");
    (void)behaviour_print(c, b, faults, n, false, detail, &decide);
}

/* One of the calls is not as declared when it fails alone: then this is the same, once more. */
static bool tell_known(const struct contract *c, const struct fault *faults, uint32_t n,
                       struct buf *why)
{
    for (uint32_t k = 0; k < n; k++) {
        uint64_t group = group_of(c, faults, n, k);
        const uint32_t *known = map_get(&c->broken, group_key(faults, n, group));
        if (!known)
            continue;
        buf_add(why, pool_text(&c->pool, *known));
        return true;
    }
    return false;
}

/* Says why in *why; nothing: all is as declared. */
static void judge_faulty(struct contract *c, const struct behaviour *b, const struct fault *faults,
                         uint32_t n, struct buf *why, struct buf *detail)
{
    struct resolution r;
    contract_resolve(c, faults, n, false, &r);
    if (r.other) {
        tell_ambiguous(c, &r, r.n_left ? r.left : faults, r.n_left ? r.n_left : n, why);
        return;
    }
    if (!r.rule) {
        tell_undeclared(c, b, &r, faults, n, why, detail);
        return;
    }
    struct faulty f = {faults, r.left, n, r.n_left};
    if (then_holds(c, &r.rule->then, b, &f, detail) ||
        (r.composed && tell_known(c, faults, n, why)))
        return;
    buf_addf(why, "not what the contract %s line %u: when ",
             r.composed ? "says and implies in" : "says in", (unsigned)r.rule->line);
    print_calls(c, faults, n, why);
    buf_adds(why, ", then ");
    then_print(c, &r.rule->then, why);
    uint64_t group = group_of(c, faults, n, 0);
    if (group == (n == 64 ? UINT64_MAX : (1ull << n) - 1))
        map_set(&c->broken, group_key(faults, n, group), pool_put(&c->pool, buf_slice(why)));
}

void contract_judge(struct contract *c, struct run *run)
{
    struct behaviour b;
    struct fault faults[ENTRIES_MAX];
    uint32_t n;
    struct buf why = BUF_INIT(WHY_MAX), detail = BUF_INIT(DETAIL_MAX);
    if (!c->usual.known)
        return;
    behaviour_of(c, run, &b, faults, &n);
    bool stays = !b.ended || (!b.pass && (n == 0 || c->opt.strict));
    if (!stays) {
        if (n == 0)
            judge_plain(c, run, &b, &why, &detail);
        else
            judge_faulty(c, &b, faults, n, &why, &detail);
        if (!why.n)
            judge_effects(c, run, &why, &detail);
        if (!why.n)
            buf_clear(&detail);
        run->flags |= RUN_CONTRACT | (b.pass ? 0 : RUN_UNEXPECTED);
        set_verdict(c, &run->verdict, &why, &detail);
    }
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

/* Was a run with these faults not as declared? Then that is said already. */
static bool was_broken(struct contract *c, const struct fault *faults, uint32_t n)
{
    uint64_t key = group_key(faults, n, UINT64_MAX);
    for (uint32_t i = 0; i < c->seen.n; i++) {
        const struct seen *s = &c->seen.at[i];
        if (s->n == n && group_key(c->faults.at + s->first, n, UINT64_MAX) == key &&
            !seen_holds(c, s, NULL))
            return true;
    }
    return false;
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
    if (!r.rule || r.other || was_broken(c, faults, n))
        return;
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
