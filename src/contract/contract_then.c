/* SPDX-License-Identifier: Apache-2.0
 *
 * What a rule says: does it hold, how is it written, and how would a behaviour be declared. Equal
 * behaviours give equal texts, so whoever puts rules together compares these. */
#include "contract/contract_int.h"
#include "data/json.h"
#include "data/node.h"

enum { SHOWN_MAX = 120, POINTERS_MAX = 6, JSON_TEXT_MAX = 400, BODY_TEXT_MAX = 200 };
enum { EFFECTS_SHOWN = 8 };

/* ---- JSON ---- */

/* A body as JSON; NULL: it is none. */
static const struct node *contract_json(struct contract *c, uint32_t body)
{
    static const struct node no_json;
    if (body == INTERN_NONE)
        return NULL;
    while (c->parsed.n <= body)
        vec_push(&c->parsed, NULL);
    if (!c->parsed.at[body]) {
        const struct node *root = &no_json;
        if (node_parse_json(&c->pool.arena, intern_text(&c->pool, body), &root))
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

void contract_print_status(outcome o, struct buf *out)
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
            contract_print_status(OUTCOME(s->kind, s->low), out);
    }
}

static void add_text(slice text, struct buf *out)
{
    buf_add_json_string(out, (slice){text.p, text.n < SHOWN_MAX ? text.n : SHOWN_MAX});
    if (text.n > SHOWN_MAX)
        buf_adds(out, "...");
}

static void tell_answer(slice is, slice want, struct buf *detail)
{
    buf_adds(detail, "the answer is ");
    add_text(is, detail);
    buf_adds(detail, ", not ");
    add_text(want, detail);
}

static void tell_status(outcome is, struct buf *detail)
{
    buf_adds(detail, "the status is ");
    contract_print_status(is, detail);
    buf_adds(detail, ", not ");
}

/* "/total is null, not 12" */
static void tell_value(slice pointer, const struct node *is, const struct node *want,
                       struct buf *detail)
{
    buf_addf(detail, "%.*s is ", SLICE_ARG(pointer.n ? pointer : SLICE("the answer")));
    add_value(is, detail);
    buf_adds(detail, ", not ");
    add_value(want, detail);
}

/* ---- where answers differ ---- */

/* NULL: it is not there. */
struct difference {
    slice pointer;
    const struct node *is, *usual;
};

struct differences {
    struct arena *a;
    struct buf path; /* so far */
    struct difference at[POINTERS_MAX + 1];
    uint32_t n; /* more than POINTERS_MAX: these, and perhaps others */
};

static void find_differences(struct differences *d, const struct node *is, const struct node *usual)
{
    if (d->n > POINTERS_MAX || (is && usual && node_eq(is, usual)))
        return;
    bool alike = is && usual && is->type == usual->type;
    bool maps = alike && is->type == NODE_MAP && is->n;
    bool lists = alike && is->type == NODE_LIST && is->n == usual->n;
    size_t n = d->path.n;
    for (uint32_t i = 0; maps && i < usual->n + is->n; i++) {
        bool known = i < usual->n;
        const struct node_pair *pair = known ? &usual->map[i] : &is->map[i - usual->n];
        const struct node *other = node_get(known ? is : usual, pair->key);
        if (!known && other)
            continue; /* seen by now */
        pointer_add(&d->path, pair->key);
        find_differences(d, known ? other : pair->value, known ? pair->value : NULL);
        d->path.n = n;
    }
    for (uint32_t i = 0; lists && i < is->n; i++) {
        char digits[DIGITS_MOST];
        pointer_add(&d->path, slice_of_u64(i, digits));
        find_differences(d, is->list[i], usual->list[i]);
        d->path.n = n;
    }
    if (!maps && !lists)
        d->at[d->n++] = (struct difference){slice_copy(d->a, buf_slice(&d->path)), is, usual};
}

/* ---- holding ---- */

static bool json_holds(struct contract *c, const struct contract_then *t, const struct behaviour *b,
                       struct buf *detail)
{
    const struct node *root = t->json.n ? contract_json(c, b->body) : NULL;
    if (t->json.n && !root) {
        buf_adds(detail, "the answer is not JSON");
        return false;
    }
    const struct mask *m = &c->usual.answer;
    struct arena a = {0};
    bool eq = true;
    for (uint32_t i = 0; i < t->json.n && eq; i++) {
        const struct contract_value *v = &t->json.at[i];
        const struct node *is = pointer_at(root, v->pointer);
        eq = is && node_eq(is, v->value);
        /* what is volatile in a value is not compared; one that is so as a whole was named all the
         * same, and is */
        if (!eq && is && !mask_hides(m, v->pointer))
            eq =
                node_eq(mask_apply(m, &a, v->pointer, is), mask_apply(m, &a, v->pointer, v->value));
        if (!eq)
            tell_value(v->pointer, is, v->value, detail);
    }
    arena_deinit(&a);
    return eq;
}

static bool body_holds(struct contract *c, const struct contract_then *t, const struct behaviour *b,
                       struct buf *detail)
{
    const struct mask *m = &c->usual.answer;
    if (!t->body)
        return true;
    struct arena a = {0};
    slice is = b->body == INTERN_NONE ? SLICE("") : intern_text(&c->pool, b->body);
    slice want = t->body->text;
    bool same = b->body != INTERN_NONE &&
                (slice_eq(is, want) ||
                 (!m->json && slice_eq(mask_apply_text(m, &a, is), mask_apply_text(m, &a, want))));
    arena_deinit(&a);
    if (!same)
        tell_answer(is, want, detail);
    return same;
}

static bool effects_hold(struct contract *c, const struct contract_then *t,
                         const struct behaviour *b, const struct fault *faults, uint32_t n,
                         struct buf *detail)
{
    uint32_t n_had;
    const struct effect_counts *had = effects_list(c, b, &n_had);
    for (uint32_t i = 0; i < n_had && t->effects == EFFECTS_NONE; i++)
        if (had[i].n) {
            group_print(c, had[i].group, detail);
            buf_adds(detail, " had its effect");
            return false;
        }
    for (uint32_t i = 0; i < t->counts.n && t->effects == EFFECTS_COUNTS; i++) {
        const struct contract_count *want = &t->counts.at[i];
        uint32_t is = 0;
        for (uint32_t k = 0; k < n_had; k++)
            if (pattern_matches(&want->calls, c->opt.names, had[k].group))
                is += had[k].n;
        if (is == want->n)
            continue;
        buf_addf(detail, "%.*s had its effect %u %s, not %u", SLICE_ARG(want->text), (unsigned)is,
                 plural(is, "time", "times"), (unsigned)want->n);
        return false;
    }
    if (t->effects == EFFECTS_SAME || t->effects == EFFECTS_COUNTS)
        return effects_same(c, b, faults, n, t->effects == EFFECTS_COUNTS ? t : NULL, detail);
    return true;
}

/* The answers to a command's own requests, those that it makes in every run without faults. *other:
 * the first that is another one. */
static enum alike asked_alike(const struct contract *c, const struct behaviour *b,
                              const struct usual_answer **other)
{
    const struct usual_answers *list = &c->usual.asked;
    enum alike all = ALIKE_SAME;
    for (uint32_t i = 0; i < list->n && b->asked != INTERN_NONE; i++) {
        const struct usual_answer *u = &list->at[i];
        const struct asked *is = asked_find(c, b, u->request);
        enum alike one = !is || is->status != u->status ? ALIKE_OTHER
                         : is->body == INTERN_NONE
                             ? ALIKE_UNKNOWN
                             : mask_compare(&u->mask, intern_text(&c->pool, is->body));
        *other = u;
        if (u->runs == c->usual.runs && one == ALIKE_OTHER)
            return ALIKE_OTHER;
        all = one == ALIKE_SAME ? all : ALIKE_UNKNOWN;
    }
    return all;
}

/* The answer, compared with that without faults. */
static enum alike answer_alike(const struct contract *c, const struct behaviour *b)
{
    const struct usual_answer *other;
    if (outcome_kind(b->status) == OUT_EXIT)
        return asked_alike(c, b, &other);
    return b->body == INTERN_NONE ? ALIKE_UNKNOWN
                                  : mask_compare(&c->usual.answer, intern_text(&c->pool, b->body));
}

/* What cannot be compared is taken for the same. */
static bool same_body(struct contract *c, const struct behaviour *b, struct buf *detail)
{
    const struct mask *m = &c->usual.answer;
    const struct usual_answer *u = NULL;
    if (answer_alike(c, b) != ALIKE_OTHER)
        return true;
    if (outcome_kind(b->status) == OUT_EXIT) {
        (void)asked_alike(c, b, &u);
        const struct asked *is = asked_find(c, b, u->request);
        element_print(c->opt.names, uid_element(c->opt.names, u->request), detail);
        if (!is) {
            buf_adds(detail, " is not requested, although it is without faults");
        } else if (is->status != u->status) {
            buf_adds(detail, " answers ");
            contract_print_status(is->status, detail);
            buf_adds(detail, " to the command, not ");
            contract_print_status(u->status, detail);
            buf_adds(detail, " as without faults");
        } else {
            buf_adds(detail, " gives the command a different answer than without faults: ");
            add_text(intern_text(&c->pool, is->body), detail);
        }
        return false;
    }
    const struct node *is = contract_json(c, b->body);
    struct arena a = {0};
    struct differences d = {.a = &a, .path = BUF_INIT(JSON_TEXT_MAX)};
    if (is && m->json)
        find_differences(&d, mask_apply(m, &a, (slice){0}, is), m->json);
    if (d.n)
        tell_value(d.at[0].pointer, d.at[0].is, d.at[0].usual, detail);
    else
        tell_answer(b->body == INTERN_NONE ? SLICE("") : intern_text(&c->pool, b->body), m->body,
                    detail);
    buf_adds(detail, " as without faults");
    buf_deinit(&d.path);
    arena_deinit(&a);
    return false;
}

static bool unaffected_holds(struct contract *c, const struct behaviour *b,
                             const struct fault *faults, uint32_t n, struct buf *detail)
{
    if (b->status != c->usual.status) {
        tell_status(b->status, detail);
        contract_print_status(c->usual.status, detail);
        return false;
    }
    if (!same_body(c, b, detail))
        return false;
    if (!b->pass)
        buf_adds(detail, "what the scenario expects does not hold");
    return b->pass && effects_same(c, b, faults, n, NULL, detail);
}

bool then_holds(struct contract *c, const struct contract_then *then, const struct behaviour *b,
                const struct faulty *f, struct buf *detail)
{
    bool propagated = !then->propagates;
    if (then->unaffected)
        return unaffected_holds(c, b, f->all, f->n, detail);
    for (uint32_t i = 0; i < f->n_left && !propagated; i++)
        propagated = mode_outcome(f->left[i].mode) == b->status;
    if (!propagated) {
        tell_status(b->status, detail);
        buf_adds(detail, "the one that was injected");
        return false;
    }
    bool status = then->status.n == 0;
    for (uint32_t i = 0; i < then->status.n && !status; i++) {
        const struct contract_status *s = &then->status.at[i];
        uint32_t code = outcome_code(b->status);
        status = s->kind == outcome_kind(b->status) && code >= s->low && code <= s->high;
    }
    if (!status) {
        tell_status(b->status, detail);
        add_statuses(then, " or ", detail);
        return false;
    }
    return json_holds(c, then, b, detail) && body_holds(c, then, b, detail) &&
           effects_hold(c, then, b, f->all, f->n, detail);
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

/* One of "{ a POST /x: 1, b PUT /y: 0 }", which the caller closes. */
static void print_count(slice call, uint32_t n, bool first, struct buf *out)
{
    buf_adds(out, first ? "{ " : ", ");
    yaml_print(call, true, out);
    buf_addf(out, ": %u", (unsigned)n);
}

void then_print(const struct contract_then *then, struct buf *out)
{
    bool any = false;
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
    if (then->effects != EFFECTS_ANY)
        print_key("effects", &any, out);
    if (then->effects == EFFECTS_NONE || then->effects == EFFECTS_SAME)
        buf_adds(out, then->effects == EFFECTS_NONE ? "none" : "same");
    for (uint32_t i = 0; i < then->counts.n && then->effects == EFFECTS_COUNTS; i++)
        print_count(then->counts.at[i].text, then->counts.at[i].n, i == 0, out);
    buf_adds(out, then->effects == EFFECTS_COUNTS ? " } }" : " }");
}

/* ---- a behaviour as it would be declared: what is different in its answer ---- */

static bool print_json(const struct node *is, const struct node *usual, struct buf *out)
{
    struct arena a = {0};
    struct differences d = {.a = &a, .path = BUF_INIT(JSON_TEXT_MAX)};
    struct buf text = BUF_INIT(JSON_TEXT_MAX); /* "/a: 1, /b/0: 2" */
    find_differences(&d, is, usual);
    bool good = d.n && d.n <= POINTERS_MAX && !d.path.full;
    for (uint32_t i = 0; i < d.n && good; i++) {
        buf_adds(&text, i ? ", " : "");
        yaml_print(d.at[i].pointer, true, &text);
        buf_adds(&text, ": ");
        if (d.at[i].is)
            node_print(d.at[i].is, &text);
        good = d.at[i].is && !text.full; /* what is not there any more cannot be said so */
    }
    if (!good) { /* all of it, then */
        buf_clear(&text);
        text.full = false;
        buf_adds(&text, "\"\": ");
        node_print(is, &text);
        good = !text.full;
    }
    if (good)
        buf_addf(out, ", json: { %s }", buf_text(&text));
    buf_deinit(&text);
    buf_deinit(&d.path);
    arena_deinit(&a);
    return good;
}

/* *decide is set where the answer is another one than without faults. */
static void print_body(struct contract *c, const struct behaviour *b, struct buf *out,
                       const char **decide)
{
    const struct mask *m = &c->usual.answer;
    enum alike alike = answer_alike(c, b);
    bool command = b->status == c->usual.status && outcome_kind(b->status) == OUT_EXIT;
    if ((!outcome_ok(b->status) && !command) || alike == ALIKE_SAME)
        return;
    if (command && alike == ALIKE_OTHER) {
        *decide =
            "the command ends as without faults although its requests get different answers: is "
            "that good enough?";
        return;
    }
    if (alike == ALIKE_UNKNOWN) {
        *decide = "a success whose answer cannot be compared, because it differs from run to run "
                  "without faults: is it good enough?";
        return;
    }
    struct arena a = {0};
    const struct node *is = contract_json(c, b->body);
    slice text = mask_apply_text(m, &a, intern_text(&c->pool, b->body));
    *decide = "a success with a different answer than without faults: is it good enough?";
    bool written = is && m->json && print_json(mask_apply(m, &a, (slice){0}, is), m->json, out);
    if (!is && text.n <= BODY_TEXT_MAX) {
        buf_adds(out, ", body: ");
        buf_add_json_string(out, text);
    } else if (!written) {
        *decide = "a success with a different answer than without faults, too long to show here";
    }
    arena_deinit(&a);
}

/* ---- a behaviour as it would be declared: its effects ---- */

/* All effects with their counts that are not as usual, those of fault-free runs and those of this
 * one; sorted by name, because numbers of names depend on the order of appearance. */
static void print_counts(struct contract *c, const struct behaviour *b, struct buf *out)
{
    const struct names *names = c->opt.names;
    VEC(struct usual_effect) all = {0};
    uint32_t n, shown = 0;
    const struct effect_counts *list = effects_list(c, b, &n);
    for (uint32_t i = 0; i < c->usual.effects.n; i++)
        vec_push(&all, c->usual.effects.at[i]);
    for (uint32_t i = 0; i < n; i++) {
        bool known = false;
        for (uint32_t k = 0; k < c->usual.effects.n; k++)
            known |= c->usual.effects.at[k].group == list[i].group;
        if (!known)
            vec_push(&all, (struct usual_effect){list[i].group, 0, 0});
    }
    for (uint32_t i = 1; i < all.n; i++)
        for (uint32_t k = i; k > 0 && uid_cmp(names, all.at[k - 1].group, all.at[k].group) > 0;
             k--) {
            struct usual_effect swap = all.at[k];
            all.at[k] = all.at[k - 1];
            all.at[k - 1] = swap;
        }
    for (uint32_t i = 0; i < all.n && shown < EFFECTS_SHOWN; i++) {
        uint32_t is = effects_of(c, b, all.at[i].group);
        if (is >= all.at[i].low && is <= all.at[i].high)
            continue;
        struct buf name = BUF_INIT(2000);
        group_print(c, all.at[i].group, &name);
        print_count(buf_slice(&name), is, shown++ == 0, out);
        buf_deinit(&name);
    }
    buf_adds(out, shown ? " }" : "same");
    vec_deinit(&all);
}

static void print_effects(struct contract *c, const struct behaviour *b, const struct fault *faults,
                          uint32_t n, struct buf *out, const char **decide)
{
    uint32_t n_had;
    const struct effect_counts *had = effects_list(c, b, &n_had);
    bool any = false, ok = outcome_ok(b->status) || b->status == c->usual.status;
    for (uint32_t i = 0; i < n_had; i++)
        any |= had[i].n > 0;
    if (!any && !c->usual.effects.n)
        return;
    buf_adds(out, ", effects: ");
    bool same = effects_same(c, b, faults, n, NULL, &c->unread);
    if (!any && (!ok || !same)) {
        buf_adds(out, "none");
        if (ok)
            *decide = "a success without the side effects it has without faults: is that intended?";
    } else if (same) {
        buf_adds(out, "same");
    } else {
        print_counts(c, b, out);
        if (ok)
            *decide =
                "a success with different side effects than without faults: is that intended?";
    }
    if (!ok && any)
        *decide = "an error although side effects happened: must they be undone?";
}

bool behaviour_print(struct contract *c, const struct behaviour *b, const struct fault *faults,
                     uint32_t n, bool propagates, struct buf *out, const char **decide)
{
    *decide = NULL;
    if (!b->ended) {
        buf_adds(out, "the scenario does not end, or a service dies");
        return false;
    }
    if (answer_alike(c, b) == ALIKE_SAME && unaffected_holds(c, b, faults, n, &c->unread)) {
        buf_adds(out, "unaffected");
        return true;
    }
    for (uint32_t i = 0; i < n; i++)
        propagates &= mode_outcome(faults[i].mode) == b->status;
    if (propagates && n > 0) {
        buf_adds(out, "{ propagates: true");
    } else {
        buf_adds(out, "{ status: ");
        contract_print_status(b->status, out);
    }
    print_body(c, b, out, decide);
    print_effects(c, b, faults, n, out, decide);
    buf_adds(out, " }");
    return !out->full;
}
