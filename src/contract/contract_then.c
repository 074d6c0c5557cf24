/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rule says: does it hold, and how is it written. */
#include "contract/contract_parts_int.h"
#include "data/json.h"
#include "data/pointer.h"

enum { SHOWN_MAX = 120 };

/* ---- JSON ---- */

const struct node *contract_json(struct contract *c, uint32_t body)
{
    static const struct node no_json;
    if (body == POOL_NONE)
        return NULL;
    while (c->parsed.n <= body)
        vec_push(&c->parsed, NULL);
    if (!c->parsed.at[body]) {
        const struct node *root = &no_json;
        if (node_parse_json(&c->pool.arena, pool_text(&c->pool, body), &root))
            root = &no_json;
        c->parsed.at[body] = root;
    }
    return c->parsed.at[body] == &no_json ? NULL : c->parsed.at[body];
}

/* ---- words ---- */

static void add_value(const struct node *value, struct buf *out)
{
    struct buf text = BUF_INIT(SHOWN_MAX);
    if (!value) {
        buf_adds(out, "missing");
        return;
    }
    node_print(value, &text);
    buf_addf(out, "%s%s", buf_text(&text), text.full ? "..." : "");
    buf_deinit(&text);
}

static void add_text(slice text, struct buf *out)
{
    buf_add_json_string(out, (slice){text.p, text.n < SHOWN_MAX ? text.n : SHOWN_MAX});
    if (text.n > SHOWN_MAX)
        buf_adds(out, "...");
}

static void add_outcome(outcome o, struct buf *out)
{
    if (outcome_kind(o) == OUT_EXIT)
        buf_addf(out, "exit %u", (unsigned)outcome_code(o));
    else
        outcome_print(o, out);
}

static void add_statuses(const struct contract_then *t, const char *join, struct buf *out)
{
    for (uint32_t i = 0; i < t->status.n; i++) {
        const struct contract_status *s = &t->status.at[i];
        buf_adds(out, i ? join : "");
        if (s->low != s->high)
            buf_addf(out, "%uxx", (unsigned)(s->low / 100));
        else
            add_outcome(OUTCOME(s->kind, s->low), out);
    }
}

/* ---- holding ---- */

static bool has_status(const struct contract_then *t, outcome o)
{
    for (uint32_t i = 0; i < t->status.n; i++)
        if (t->status.at[i].kind == outcome_kind(o) && outcome_code(o) >= t->status.at[i].low &&
            outcome_code(o) <= t->status.at[i].high)
            return true;
    return t->status.n == 0;
}

static bool status_holds(const struct contract_then *t, const struct behaviour *b,
                         struct buf *detail)
{
    if (has_status(t, b->status))
        return true;
    buf_adds(detail, "the status is ");
    add_outcome(b->status, detail);
    buf_adds(detail, ", not ");
    add_statuses(t, " or ", detail);
    return false;
}

static bool propagates_holds(const struct behaviour *b, const struct fault *faults, uint32_t n,
                             struct buf *detail)
{
    for (uint32_t i = 0; i < n; i++)
        if (mode_outcome(faults[i].mode) == b->status)
            return true;
    buf_adds(detail, "the status is ");
    add_outcome(b->status, detail);
    buf_adds(detail, ", not the one that was injected");
    return false;
}

/* What is volatile in a value is not compared; one that is so as a whole was named all the same,
 * and is. */
static bool value_eq(const struct contract *c, const struct contract_value *v,
                     const struct node *is)
{
    const struct mask *m = &c->usual.answer;
    struct arena a = {0};
    bool eq = node_eq(is, v->value);
    if (!eq && !mask_hides(m, v->pointer))
        eq = node_eq(mask_apply(m, &a, v->pointer, is), mask_apply(m, &a, v->pointer, v->value));
    arena_deinit(&a);
    return eq;
}

static bool json_holds(struct contract *c, const struct contract_then *t, const struct behaviour *b,
                       struct buf *detail)
{
    const struct node *root = t->json.n ? contract_json(c, b->body) : NULL;
    if (t->json.n && !root) {
        buf_adds(detail, "the answer is no JSON");
        return false;
    }
    for (uint32_t i = 0; i < t->json.n; i++) {
        const struct contract_value *v = &t->json.at[i];
        const struct node *is = pointer_at(root, v->pointer);
        if (is && value_eq(c, v, is))
            continue;
        buf_addf(detail, "%.*s is ", SLICE_ARG(v->pointer.n ? v->pointer : SLICE("the answer")));
        add_value(is, detail);
        buf_adds(detail, ", not ");
        add_value(v->value, detail);
        return false;
    }
    return true;
}

static bool text_eq(const struct contract *c, slice is, slice want)
{
    const struct mask *m = &c->usual.answer;
    struct arena a = {0};
    bool eq = slice_eq(is, want) ||
              (!m->json && slice_eq(mask_apply_text(m, &a, is), mask_apply_text(m, &a, want)));
    arena_deinit(&a);
    return eq;
}

static bool body_holds(struct contract *c, const struct contract_then *t, const struct behaviour *b,
                       struct buf *detail)
{
    if (!t->body ||
        (b->body != POOL_NONE && text_eq(c, pool_text(&c->pool, b->body), t->body->text)))
        return true;
    buf_adds(detail, "the answer is ");
    add_text(b->body == POOL_NONE ? SLICE("") : pool_text(&c->pool, b->body), detail);
    buf_adds(detail, ", not ");
    add_text(t->body->text, detail);
    return false;
}

/* Of the calls that the rule counts. */
static bool counts_hold(struct contract *c, const struct contract_then *t,
                        const struct behaviour *b, struct buf *detail)
{
    uint32_t n;
    const struct effect_counts *list = effects_list(c, b, &n);
    for (uint32_t i = 0; i < t->counts.n; i++) {
        const struct contract_count *want = &t->counts.at[i];
        uint32_t is = 0;
        for (uint32_t k = 0; k < n; k++)
            if (pattern_matches(&want->calls, c->opt.names, list[k].group))
                is += list[k].n;
        if (is == want->n)
            continue;
        buf_addf(detail, "%.*s had its effect %u %s, not %u", SLICE_ARG(want->text), (unsigned)is,
                 plural(is, "time", "times"), (unsigned)want->n);
        return false;
    }
    return true;
}

static bool none_holds(struct contract *c, const struct behaviour *b, struct buf *detail)
{
    uint32_t n;
    const struct effect_counts *list = effects_list(c, b, &n);
    for (uint32_t i = 0; i < n; i++)
        if (list[i].n) {
            group_print(c, list[i].group, detail);
            buf_adds(detail, " had its effect");
            return false;
        }
    return true;
}

static bool effects_hold(struct contract *c, const struct contract_then *t,
                         const struct behaviour *b, const struct fault *faults, uint32_t n,
                         struct buf *detail)
{
    switch (t->effects) {
    case EFFECTS_ANY: return true;
    case EFFECTS_NONE: return none_holds(c, b, detail);
    case EFFECTS_SAME: return effects_same(c, b, faults, n, NULL, detail);
    case EFFECTS_COUNTS:
        return counts_hold(c, t, b, detail) && effects_same(c, b, faults, n, t, detail);
    }
    return true;
}

/* Which value of the answer is another one? */
static void tell_difference(const struct node *is, const struct node *usual, struct buf *path,
                            struct buf *detail)
{
    size_t n = path->n;
    if (is && usual && is->type == NODE_MAP && usual->type == NODE_MAP)
        for (uint32_t i = 0; i < usual->n && !detail->n; i++) {
            const struct node *there = node_get(is, usual->map[i].key);
            if (there && node_eq(there, usual->map[i].value))
                continue;
            buf_addf(path, "/%.*s", SLICE_ARG(usual->map[i].key));
            tell_difference(there, usual->map[i].value, path, detail);
            path->n = n;
        }
    if (is && usual && is->type == NODE_LIST && usual->type == NODE_LIST && is->n == usual->n)
        for (uint32_t i = 0; i < usual->n && !detail->n; i++) {
            if (node_eq(is->list[i], usual->list[i]))
                continue;
            buf_addf(path, "/%u", (unsigned)i);
            tell_difference(is->list[i], usual->list[i], path, detail);
            path->n = n;
        }
    if (detail->n)
        return;
    buf_addf(detail, "%.*s is ", path->n ? (int)path->n : 10, path->n ? path->p : "the answer");
    add_value(is, detail);
    buf_adds(detail, ", not ");
    add_value(usual, detail);
    buf_adds(detail, " as without faults");
}

/* The answers to a command's own requests, those that it makes in every run without faults. *other:
 * the first that is another one. */
static enum alike asked_alike(const struct contract *c, const struct behaviour *b,
                              const struct usual_answer **other)
{
    const struct usual_answers *list = &c->usual.asked;
    enum alike all = ALIKE_SAME;
    for (uint32_t i = 0; i < list->n && b->asked != POOL_NONE; i++) {
        const struct usual_answer *u = &list->at[i];
        const struct asked *is = asked_find(c, b, u->request);
        enum alike one = !is || is->status != u->status ? ALIKE_OTHER
                         : is->body == POOL_NONE
                             ? ALIKE_UNKNOWN
                             : mask_compare(&u->mask, pool_text(&c->pool, is->body));
        *other = u;
        if (u->runs == c->usual.runs && one == ALIKE_OTHER)
            return ALIKE_OTHER;
        all = one == ALIKE_SAME ? all : ALIKE_UNKNOWN;
    }
    return all;
}

static void tell_asked(struct contract *c, const struct behaviour *b, struct buf *detail)
{
    const struct usual_answer *u = NULL;
    if (asked_alike(c, b, &u) != ALIKE_OTHER)
        return;
    const struct asked *is = asked_find(c, b, u->request);
    element_print(c->opt.names, uid_element(c->opt.names, u->request), detail);
    if (!is) {
        buf_adds(detail, " is not asked for, as it is without faults");
    } else if (is->status != u->status) {
        buf_adds(detail, " answers ");
        add_outcome(is->status, detail);
        buf_adds(detail, " to the command, not ");
        add_outcome(u->status, detail);
        buf_adds(detail, " as without faults");
    } else {
        buf_adds(detail, " gives the command another answer than without faults: ");
        add_text(pool_text(&c->pool, is->body), detail);
    }
}

enum alike answer_alike(const struct contract *c, const struct behaviour *b)
{
    const struct usual_answer *other;
    if (outcome_kind(b->status) == OUT_EXIT)
        return asked_alike(c, b, &other);
    return b->body == POOL_NONE ? ALIKE_UNKNOWN
                                : mask_compare(&c->usual.answer, pool_text(&c->pool, b->body));
}

/* What cannot be compared is taken for the same. */
static bool same_body(struct contract *c, const struct behaviour *b, struct buf *detail)
{
    const struct mask *m = &c->usual.answer;
    if (answer_alike(c, b) != ALIKE_OTHER)
        return true;
    if (outcome_kind(b->status) == OUT_EXIT) {
        tell_asked(c, b, detail);
        return false;
    }
    const struct node *is = contract_json(c, b->body);
    if (is && m->json) {
        struct buf path = BUF_INIT(400);
        struct arena a = {0};
        tell_difference(mask_apply(m, &a, (slice){0}, is), m->json, &path, detail);
        buf_deinit(&path);
        arena_deinit(&a);
        return false;
    }
    buf_adds(detail, "the answer is ");
    add_text(b->body == POOL_NONE ? SLICE("") : pool_text(&c->pool, b->body), detail);
    buf_adds(detail, ", not ");
    add_text(m->body, detail);
    buf_adds(detail, " as without faults");
    return false;
}

bool unaffected_holds(struct contract *c, const struct behaviour *b, const struct fault *faults,
                      uint32_t n, struct buf *detail)
{
    if (b->status != c->usual.status) {
        buf_adds(detail, "the status is ");
        add_outcome(b->status, detail);
        buf_adds(detail, ", not ");
        add_outcome(c->usual.status, detail);
        return false;
    }
    if (!same_body(c, b, detail))
        return false;
    if (!b->pass) {
        buf_adds(detail, "what the scenario expects does not hold");
        return false;
    }
    return effects_same(c, b, faults, n, NULL, detail);
}

bool then_holds(struct contract *c, const struct contract_then *then, const struct behaviour *b,
                const struct faulty *f, struct buf *detail)
{
    if (then->unaffected)
        return unaffected_holds(c, b, f->all, f->n, detail);
    return (!then->propagates || propagates_holds(b, f->left, f->n_left, detail)) &&
           status_holds(then, b, detail) && json_holds(c, then, b, detail) &&
           body_holds(c, then, b, detail) && effects_hold(c, then, b, f->all, f->n, detail);
}

/* ---- writing ---- */

static bool is_plain(slice text, bool flow)
{
    static const char first[] = "!&*-?:,[]{}#|>@`\"'%=~ \t";
    if (!text.n || strchr(first, text.p[0]) || text.p[text.n - 1] == ' ' ||
        text.p[text.n - 1] == ':')
        return false;
    for (size_t i = 0; i < text.n; i++) {
        unsigned char ch = (unsigned char)text.p[i];
        char next = i + 1 < text.n ? text.p[i + 1] : ' ';
        if (ch < 0x20 || ch >= 0x7f || (ch == ':' && (next == ' ' || flow)) ||
            (ch == ' ' && next == '#') || (flow && strchr(",[]{}", ch)))
            return false;
    }
    return true;
}

void yaml_print(slice text, bool flow, struct buf *out)
{
    if (is_plain(text, flow))
        buf_add(out, text);
    else
        buf_add_json_string(out, text);
}

static void print_key(const char *name, bool *any, struct buf *out)
{
    buf_addf(out, "%s%s: ", *any ? ", " : "{ ", name);
    *any = true;
}

static void print_effects(const struct contract_then *t, struct buf *out)
{
    if (t->effects != EFFECTS_COUNTS) {
        buf_adds(out, t->effects == EFFECTS_NONE ? "none" : "same");
        return;
    }
    for (uint32_t i = 0; i < t->counts.n; i++) {
        buf_adds(out, i ? ", " : "{ ");
        yaml_print(t->counts.at[i].text, true, out);
        buf_addf(out, ": %u", (unsigned)t->counts.at[i].n);
    }
    buf_adds(out, " }");
}

void then_print(const struct contract *c, const struct contract_then *then, struct buf *out)
{
    bool any = false;
    (void)c;
    if (then->unaffected) {
        buf_adds(out, "unaffected");
        return;
    }
    if (then->propagates) {
        print_key("propagates", &any, out);
        buf_adds(out, "true");
    }
    if (then->status.n) {
        print_key("status", &any, out);
        buf_adds(out, then->status.n > 1 ? "[" : "");
        add_statuses(then, ", ", out);
        buf_adds(out, then->status.n > 1 ? "]" : "");
    }
    if (then->json.n)
        print_key("json", &any, out);
    for (uint32_t i = 0; i < then->json.n; i++) {
        buf_adds(out, i ? ", " : "{ ");
        yaml_print(then->json.at[i].pointer, true, out);
        buf_adds(out, ": ");
        node_print(then->json.at[i].value, out);
    }
    buf_adds(out, then->json.n ? " }" : "");
    if (then->body) {
        print_key("body", &any, out);
        buf_add_json_string(out, then->body->text);
    }
    if (then->effects != EFFECTS_ANY) {
        print_key("effects", &any, out);
        print_effects(then, out);
    }
    buf_adds(out, " }");
}
