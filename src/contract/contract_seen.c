/* SPDX-License-Identifier: Apache-2.0
 *
 * What runs have shown. The behaviour of a run is what a contract can speak about: the status, the
 * answer and which side effects were made. Equal behaviours have equal numbers. */
#include "contract/contract_int.h"

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

/* An effect that was had. */
struct had {
    uid call, group;
    uint32_t once; /* what it is recognised by when it is repeated; 0: nothing */
};

struct hads {
    VEC(struct had) list;
};

static void find_effects(struct contract *c, const struct trace *trace, struct hads *out)
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
        for (uint32_t m = 0; m < out->list.n && once && !again; m++)
            again = out->list.at[m].group == group && out->list.at[m].once == once;
        if (!again)
            vec_push(&out->list, (struct had){k->uid, group, once});
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
        buf_adds(detail, " did not have its effect, as it has without faults");
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

/* ---- runs ---- */

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

void behaviour_of(struct contract *c, const struct run *run, struct behaviour *out,
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
    struct hads had = {0};
    VEC(struct effect_counts) counts = {0}; /* sorted */
    find_effects(c, trace, &had);
    for (uint32_t i = 0; i < had.list.n; i++) {
        uid group = had.list.at[i].group;
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
    vec_deinit(&had.list);
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

static void learn_effects(struct contract *c, const struct run *run, const struct behaviour *b)
{
    uint32_t n;
    struct usual *u = &c->usual;
    const struct effect_counts *list = effects_list(c, b, &n);
    for (uint32_t i = 0; i < n; i++)
        learn_count(u, list[i].group, list[i].n, !u->known);
    for (uint32_t i = 0; i < u->effects.n; i++)
        learn_count(u, u->effects.at[i].group, effects_of(c, b, u->effects.at[i].group), false);
    if (u->known)
        return;
    struct hads had = {0};
    find_effects(c, &run->trace, &had);
    for (uint32_t i = 0; i < had.list.n; i++)
        vec_push(&u->calls, (struct usual_call){had.list.at[i].call, had.list.at[i].group});
    vec_deinit(&had.list);
}

void contract_learn(struct contract *c, const struct run *run)
{
    struct usual *u = &c->usual;
    struct behaviour b;
    struct fault faults[ENTRIES_MAX];
    uint32_t n;
    behaviour_of(c, run, &b, faults, &n);
    learn_effects(c, run, &b);
    if (!u->known) {
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
