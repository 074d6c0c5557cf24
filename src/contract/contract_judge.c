/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs show, and what a contract says of them, in sentences. The behaviour of a run is what a
 * contract can speak about: the status, the answer and which side effects were made. Equal
 * behaviours have equal numbers. */
#include "contract/contract_int.h"

enum { WHY_MAX = 2000, DETAIL_MAX = 400 };

/* ---- effects ---- */

/* What the contract says goes before what the configuration says. */
static enum effect effect_at(struct contract *c, uid call)
{
    static const struct judge_settings nothing;
    while (c->effect.n <= call)
        vec_push(&c->effect, 0);
    if (c->effect.at[call])
        return (enum effect)(c->effect.at[call] - 1);
    enum effect e = effect_of(c->opt.settings ? c->opt.settings : &nothing, c->opt.names, call);
    for (uint32_t i = 0; i < c->effects.n && e == EFFECT_READ; i++)
        if (pattern_matches(&c->effects.at[i].calls, c->opt.names, call))
            e = EFFECT_ONCE;
    for (uint32_t i = 0; i < c->reads.n && e != EFFECT_READ; i++)
        if (pattern_matches(&c->reads.at[i], c->opt.names, call))
            e = EFFECT_READ;
    c->effect.at[call] = (uint8_t)(e + 1);
    return e;
}

void group_print(const struct contract *c, uid group, struct buf *out)
{
    element_print(c->opt.names, uid_element(c->opt.names, group), out);
}

static void find_effects(struct contract *c, const struct trace *trace, struct effects_had *out)
{
    for (uint32_t i = 1; i < trace->calls.n; i++) {
        const struct call *k = &trace->calls.at[i];
        if (!k->handled || !outcome_ok(k->reply) || (k->flags & CALL_EXEMPT))
            continue;
        enum effect e = effect_at(c, k->uid);
        if (e == EFFECT_READ)
            continue;
        const struct element *full = uid_element(c->opt.names, k->uid);
        struct element bare = {.service = full->service, .interface = full->interface};
        uid group = names_uid(c->opt.names, UID_NONE, names_element(c->opt.names, bare));
        uint32_t once = e == EFFECT_IDEMPOTENT ? (k->request ? k->request : 1) : k->key;
        bool again = false;
        for (uint32_t m = 0; m < out->n && once && !again; m++)
            again = out->at[m].group == group && out->at[m].once == once;
        if (!again)
            vec_push(out, (struct effect_had){k->uid, group, once});
    }
}

const struct effect_counts *effects_list(const struct contract *c, const struct behaviour *b,
                                         uint32_t *n)
{
    slice text = intern_text(&c->pool, b->effects);
    *n = (uint32_t)(text.n / sizeof(struct effect_counts));
    return (const struct effect_counts *)(const void *)text.p;
}

uint32_t effects_of(const struct contract *c, const struct behaviour *b, uid group)
{
    uint32_t n;
    const struct effect_counts *list = effects_list(c, b, &n);
    for (uint32_t i = 0; i < n; i++)
        if (list[i].group == group)
            return list[i].n;
    return 0;
}

/* Is this call one that was failed, or below one? */
static bool was_failed(struct contract *c, uid call, const struct fault *faults, uint32_t n)
{
    for (uid u = call; u != UID_NONE; u = uid_parent(c->opt.names, u))
        for (uint32_t i = 0; i < n; i++)
            if (u == faults[i].point || names_uid_all(c->opt.names, u) == faults[i].point)
                return true;
    return false;
}

static bool counted_apart(const struct contract *c, const struct contract_then *but, uid group)
{
    for (uint32_t i = 0; but && i < but->counts.n; i++)
        if (pattern_matches(&but->counts.at[i].calls, c->opt.names, group))
            return true;
    return false;
}

static bool tell_count(const struct contract *c, uid group, uint32_t is, uint32_t usual,
                       struct buf *detail)
{
    group_print(c, group, detail);
    if (is == 0)
        buf_adds(detail, " did not have the effect it has without faults");
    else
        buf_addf(detail, " had its effect %u %s, not %u as without faults", (unsigned)is,
                 plural(is, "time", "times"), (unsigned)usual);
    return false;
}

bool effects_same(struct contract *c, const struct behaviour *b, const struct fault *faults,
                  uint32_t n, const struct contract_then *but, struct buf *detail)
{
    uint32_t n_list;
    const struct usual *u = &c->usual;
    for (uint32_t i = 0; i < u->effects.n; i++) {
        const struct usual_effect *e = &u->effects.at[i];
        uint32_t lost = 0, is = effects_of(c, b, e->group);
        for (uint32_t k = 0; k < u->calls.n; k++)
            lost +=
                u->calls.at[k].group == e->group && was_failed(c, u->calls.at[k].call, faults, n);
        if ((is > e->high || is + lost < e->low) && !counted_apart(c, but, e->group))
            return tell_count(c, e->group, is, e->high, detail);
    }
    const struct effect_counts *list = effects_list(c, b, &n_list);
    for (uint32_t i = 0; i < n_list; i++) {
        bool usual = false;
        for (uint32_t k = 0; k < u->effects.n; k++)
            usual |= u->effects.at[k].group == list[i].group;
        if (!usual && list[i].n && !counted_apart(c, but, list[i].group))
            return tell_count(c, list[i].group, list[i].n, 0, detail);
    }
    return true;
}

/* ---- what runs show ---- */

/* What a command asked for itself, and got. */
static uint32_t put_asked(struct contract *c, const struct run *run)
{
    struct requests all = {0};
    struct buf list = BUF_INIT(1 << 20);
    requests_of(run, &all);
    for (uint32_t i = 0; i < all.n; i++) {
        const struct request *r = &all.at[i];
        struct asked asked = {run->trace.calls.at[r->call].uid, r->status,
                              r->told ? intern_put(&c->pool, r->body) : INTERN_NONE};
        buf_add(&list, (slice){(const char *)&asked, sizeof asked});
    }
    uint32_t id = list.full ? INTERN_NONE : intern_put(&c->pool, buf_slice(&list));
    vec_deinit(&all);
    buf_deinit(&list);
    return id;
}

const struct asked *asked_find(const struct contract *c, const struct behaviour *b, uid request)
{
    slice text = intern_text(&c->pool, b->asked);
    const struct asked *list = (const struct asked *)(const void *)text.p;
    for (size_t i = 0; i < text.n / sizeof *list; i++)
        if (list[i].request == request)
            return &list[i];
    return NULL;
}

/* What this run shows; *faults: those that fired, at most ENTRIES_MAX. */
static void behaviour_of(struct contract *c, const struct run *run, struct behaviour *out,
                         struct fault faults[ENTRIES_MAX], uint32_t *n)
{
    const struct trace *trace = &run->trace;
    *n = 0;
    for (uint32_t i = 0; i < trace->calls.n && *n < ENTRIES_MAX; i++) {
        const struct call *k = &trace->calls.at[i];
        bool known = k->mode == MODE_NONE;
        for (uint32_t m = 0; m < *n && !known; m++)
            known = faults[m].point == k->fault_point && faults[m].mode == k->mode;
        if (!known)
            faults[(*n)++] = (struct fault){k->fault_point, k->mode};
    }
    struct effects_had had = {0};
    VEC(struct effect_counts) counts = {0}; /* sorted */
    find_effects(c, trace, &had);
    for (uint32_t i = 0; i < had.n; i++) {
        uid group = had.at[i].group;
        uint32_t k = 0;
        while (k < counts.n && counts.at[k].group < group)
            k++;
        if (k == counts.n || counts.at[k].group != group) {
            vec_push(&counts, (struct effect_counts){0});
            memmove(counts.at + k + 1, counts.at + k, (counts.n - 1 - k) * sizeof *counts.at);
            counts.at[k] = (struct effect_counts){.group = group};
        }
        counts.at[k].n++;
    }
    slice counted = {(const char *)counts.at, counts.n * sizeof *counts.at};
    bool command = outcome_kind(run->verdict.status) == OUT_EXIT;
    *out = (struct behaviour){.status = run->verdict.status,
                              .body = command ? INTERN_NONE : intern_put(&c->pool, run->body),
                              .asked = command ? put_asked(c, run) : INTERN_NONE,
                              .effects = intern_put(&c->pool, counted),
                              .pass = run_expected(run),
                              .ended = !(run->flags & (RUN_HUNG | RUN_CRASHED))};
    vec_deinit(&had);
    vec_deinit(&counts);
}

static void learn_count(struct usual *u, uid group, uint32_t n, bool first)
{
    for (uint32_t i = 0; i < u->effects.n; i++) {
        struct usual_effect *e = &u->effects.at[i];
        if (e->group != group)
            continue;
        e->low = n < e->low ? n : e->low;
        e->high = n > e->high ? n : e->high;
        return;
    }
    vec_push(&u->effects, (struct usual_effect){group, first ? n : 0, n});
}

void contract_learn(struct contract *c, const struct run *run)
{
    struct usual *u = &c->usual;
    struct behaviour b;
    struct fault faults[ENTRIES_MAX];
    uint32_t n, n_had;
    behaviour_of(c, run, &b, faults, &n);
    const struct effect_counts *had = effects_list(c, &b, &n_had);
    for (uint32_t i = 0; i < n_had; i++)
        learn_count(u, had[i].group, had[i].n, !u->known);
    for (uint32_t i = 0; i < u->effects.n; i++)
        learn_count(u, u->effects.at[i].group, effects_of(c, &b, u->effects.at[i].group), false);
    if (!u->known) {
        find_effects(c, &run->trace, &u->calls);
        u->known = true;
        u->status = b.status;
        u->answer.set = c->opt.settings;
        trace_copy(&run->trace, &u->trace);
    }
    contract_learn_answer(c, run);
}

void contract_learn_answer(struct contract *c, const struct run *run)
{
    struct usual *u = &c->usual;
    if (!u->known || run->verdict.status != u->status)
        return;
    if (outcome_kind(u->status) != OUT_EXIT)
        mask_learn(&u->answer, run->body, run->wall_ns);
    else
        answers_learn(&u->asked, c->opt.settings, run);
    u->runs++;
}

bool contract_ready(const struct contract *c)
{
    return c->usual.known;
}

void contract_note(struct contract *c, const struct run *run)
{
    struct fault faults[ENTRIES_MAX];
    struct seen seen = {.first = c->faults.n};
    struct resolution r;
    behaviour_of(c, run, &seen.behaviour, faults, &seen.n);
    if (!c->usual.known || !seen.n || c->seen.n == SEEN_MAX)
        return;
    contract_resolve(c, faults, seen.n, true, &r);
    for (uint32_t i = 0; i < run->trace.calls.n && seen.again == UID_NONE; i++) {
        const struct call *k = &run->trace.calls.at[i];
        uint32_t m = 0, usual = 0; /* is it made only because an equal one failed? */
        while (m < seen.n && !uid_alike(c->opt.names, k->uid, faults[m].point))
            m++;
        while (usual < c->usual.trace.calls.n && c->usual.trace.calls.at[usual].uid != k->uid)
            usual++;
        if (k->mode == MODE_NONE && m < seen.n && usual == c->usual.trace.calls.n)
            seen.again = k->uid;
    }
    for (uint32_t i = 0; i < seen.n; i++)
        vec_push(&c->faults, faults[i]);
    vec_push(&c->seen, seen);
}

void contract_forget(struct contract *c)
{
    vec_deinit(&c->usual.trace.calls);
    vec_deinit(&c->usual.effects);
    vec_deinit(&c->usual.calls);
    c->usual = (struct usual){0};
    c->faults.n = c->seen.n = 0;
    map_deinit(&c->broken);
    for (uint32_t i = 0; i < c->rules.n; i++)
        c->rules.at[i].used = 0;
}

/* ---- what is said of them ---- */

/* A sentence that lives as long as the contract. */
static const char *contract_say(struct contract *c, const struct buf *text)
{
    uint32_t id = intern_put(&c->pool, buf_slice(text));
    return id == INTERN_NONE ? "the contract does not hold" : intern_text(&c->pool, id).p;
}

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
             r.composed ? "says and implies on" : "says on", (unsigned)r.rule->line);
    print_calls(c, faults, n, why);
    buf_adds(why, ", then ");
    then_print(&r.rule->then, why);
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
    buf_addf(why, "not what the contract says on line %u: without faults, ",
             (unsigned)c->without.line);
    then_print(&c->without, why);
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
        buf_addf(&why, "not what the contract says on line %u: %s", (unsigned)r->line, r->text);
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
    buf_addf(out, "the rule on line %u of %s (", (unsigned)r->line, c->opt.file);
    for (uint32_t i = 0; i < r->fails.n; i++)
        buf_addf(out, "%s%.*s", i ? " and " : "when ", SLICE_ARG(r->fails.at[i].text));
    buf_adds(out, r->fails.n > 1 ? " fail, then " : " fails, then ");
    then_print(&r->then, out);
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
    buf_addf(&text, " allows what the oracle %s objects to: %s", remark->oracle, remark->why);
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
                 one ? "is" : "are", one ? "on" : "the first on", (unsigned)c->opt.undecided_line,
                 one ? "it allows" : "they allow");
        say(ctx, buf_text(&text));
        buf_deinit(&text);
    }
    for (uint32_t i = 0; i < summary->remarks.n; i++)
        if (summary->remarks.at[i].severity != SEVERITY_OFF)
            say_hidden(c, &summary->remarks.at[i], say, ctx);
    if (c->usual.answer.runs && mask_hides(&c->usual.answer, (slice){0}))
        say(ctx, "without faults the whole answer differs from run to run and cannot be compared: "
                 "where the contract says `unaffected`, only status and effects are checked");
    for (uint32_t i = 0; i < c->rules.n && complete; i++) {
        if (c->rules.at[i].used)
            continue;
        struct buf text = BUF_INIT(WHY_MAX);
        print_rule(c, &c->rules.at[i], &text);
        buf_adds(&text, " was never used: nothing that was tried matches it");
        say(ctx, buf_text(&text));
        buf_deinit(&text);
    }
}
