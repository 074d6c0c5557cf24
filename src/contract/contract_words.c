/* SPDX-License-Identifier: Apache-2.0
 *
 * A behaviour as it would be declared: `unaffected`, or the status, what is different in the answer
 * and which effects there were; and what a human must decide about it. Equal behaviours give equal
 * texts, so whoever puts rules together compares these. */
#include "contract/contract_parts_int.h"

enum { POINTERS_MAX = 6, JSON_TEXT_MAX = 400, BODY_TEXT_MAX = 200, EFFECTS_SHOWN = 8 };

/* ---- what is different in an answer ---- */

struct difference {
    struct buf out;  /* "/a: 1, /b/0: 2" */
    struct buf path; /* so far */
    uint32_t n;
    bool hard; /* it cannot be said so: something is not there any more */
};

static void differ(struct difference *d, const struct node *is, const struct node *usual);

static void differ_below(struct difference *d, slice key, const struct node *is,
                         const struct node *usual)
{
    size_t n = d->path.n;
    pointer_add(&d->path, key);
    differ(d, is, usual);
    d->path.n = n;
}

static void differ_maps(struct difference *d, const struct node *is, const struct node *usual)
{
    for (uint32_t i = 0; i < usual->n; i++) {
        const struct node *there = node_get(is, usual->map[i].key);
        d->hard |= !there;
        if (there)
            differ_below(d, usual->map[i].key, there, usual->map[i].value);
    }
    for (uint32_t i = 0; i < is->n; i++)
        if (!node_get(usual, is->map[i].key))
            differ_below(d, is->map[i].key, is->map[i].value, NULL);
}

static void differ(struct difference *d, const struct node *is, const struct node *usual)
{
    if (d->hard || d->n > POINTERS_MAX || (usual && node_eq(is, usual)))
        return;
    if (usual && is->type == NODE_MAP && usual->type == NODE_MAP && is->n) {
        differ_maps(d, is, usual);
        return;
    }
    if (usual && is->type == NODE_LIST && usual->type == NODE_LIST && is->n == usual->n) {
        for (uint32_t i = 0; i < is->n; i++) {
            char digits[DIGITS_MOST];
            differ_below(d, slice_of_u64(i, digits), is->list[i], usual->list[i]);
        }
        return;
    }
    buf_adds(&d->out, d->n++ ? ", " : "");
    yaml_print(buf_slice(&d->path), true, &d->out);
    buf_adds(&d->out, ": ");
    node_print(is, &d->out);
}

static bool print_json(const struct node *is, const struct node *usual, struct buf *out)
{
    struct difference d = {.out = BUF_INIT(JSON_TEXT_MAX), .path = BUF_INIT(JSON_TEXT_MAX)};
    differ(&d, is, usual);
    bool good = !d.hard && d.n <= POINTERS_MAX && !d.out.full && !d.path.full && d.n;
    if (!good) { /* all of it, then */
        buf_clear(&d.out);
        d.out.full = false;
        buf_adds(&d.out, "\"\": ");
        node_print(is, &d.out);
        good = !d.out.full;
    }
    if (good)
        buf_addf(out, ", json: { %s }", buf_text(&d.out));
    buf_deinit(&d.out);
    buf_deinit(&d.path);
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
            "the command ends as without faults although its requests are answered in another "
            "way: is that good enough?";
        return;
    }
    if (alike == ALIKE_UNKNOWN) {
        *decide = "a success whose answer cannot be compared, because it differs from run to run "
                  "without faults: is it good enough?";
        return;
    }
    struct arena a = {0};
    const struct node *is = contract_json(c, b->body);
    slice text = mask_apply_text(m, &a, pool_text(&c->pool, b->body));
    *decide = "a success with another answer than without faults: is it good enough?";
    if (is && m->json && print_json(mask_apply(m, &a, (slice){0}, is), m->json, out)) {
        arena_deinit(&a);
        return;
    }
    if (!is && text.n <= BODY_TEXT_MAX) {
        buf_adds(out, ", body: ");
        buf_add_json_string(out, text);
    } else {
        *decide = "a success with another answer than without faults, too long to be written here";
    }
    arena_deinit(&a);
}

/* ---- effects ---- */

static bool any_effect(const struct contract *c, const struct behaviour *b)
{
    uint32_t n, sum = 0;
    const struct effect_counts *list = effects_list(c, b, &n);
    for (uint32_t i = 0; i < n; i++)
        sum += list[i].n;
    return sum > 0;
}

static void print_count(const struct contract *c, const struct behaviour *b, uid group,
                        uint32_t *shown, struct buf *out)
{
    struct buf name = BUF_INIT(2000);
    if ((*shown)++ >= EFFECTS_SHOWN)
        return;
    group_print(c, group, &name);
    buf_adds(out, *shown > 1 ? ", " : "{ ");
    yaml_print(buf_slice(&name), true, out);
    buf_addf(out, ": %u", (unsigned)effects_of(c, b, group));
    buf_deinit(&name);
}

/* By name: numbers of names depend on the order of appearance. */
static int group_cmp(const struct contract *c, uid a, uid b)
{
    return uid_cmp(c->opt.names, a, b);
}

/* All effects with their counts, those of fault-free runs and those of this one. */
static void print_counts(struct contract *c, const struct behaviour *b, struct buf *out)
{
    VEC(uid) groups = {0};
    uint32_t n, shown = 0;
    const struct effect_counts *list = effects_list(c, b, &n);
    for (uint32_t i = 0; i < c->usual.effects.n; i++)
        vec_push(&groups, c->usual.effects.at[i].group);
    for (uint32_t i = 0; i < n; i++) {
        bool known = false;
        for (uint32_t k = 0; k < c->usual.effects.n; k++)
            known |= c->usual.effects.at[k].group == list[i].group;
        if (!known)
            vec_push(&groups, list[i].group);
    }
    for (uint32_t i = 1; i < groups.n; i++)
        for (uint32_t k = i; k > 0 && group_cmp(c, groups.at[k - 1], groups.at[k]) > 0; k--) {
            uid swap = groups.at[k];
            groups.at[k] = groups.at[k - 1];
            groups.at[k - 1] = swap;
        }
    for (uint32_t i = 0; i < groups.n; i++) {
        uint32_t is = effects_of(c, b, groups.at[i]), low = 0, high = 0;
        for (uint32_t k = 0; k < c->usual.effects.n; k++)
            if (c->usual.effects.at[k].group == groups.at[i]) {
                low = c->usual.effects.at[k].low;
                high = c->usual.effects.at[k].high;
            }
        if (is < low || is > high)
            print_count(c, b, groups.at[i], &shown, out);
    }
    buf_adds(out, shown ? " }" : "same");
    vec_deinit(&groups);
}

static void print_effects(struct contract *c, const struct behaviour *b, const struct fault *faults,
                          uint32_t n, struct buf *out, const char **decide)
{
    struct buf why = BUF_INIT(200);
    bool any = any_effect(c, b), ok = outcome_ok(b->status) || b->status == c->usual.status;
    if (!any && !c->usual.effects.n)
        return;
    buf_adds(out, ", effects: ");
    bool same = effects_same(c, b, faults, n, NULL, &why);
    if (!any && (!ok || !same)) {
        buf_adds(out, "none");
        if (ok)
            *decide = "a success without the side effects that it has without faults: is it meant?";
    } else if (same) {
        buf_adds(out, "same");
    } else {
        print_counts(c, b, out);
        if (ok)
            *decide = "a success with other side effects than without faults: is it meant?";
    }
    if (!ok && any)
        *decide = "an error is answered although side effects were made: must they be undone?";
    buf_deinit(&why);
}

/* ---- the whole ---- */

static bool is_propagated(const struct behaviour *b, const struct fault *faults, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (mode_outcome(faults[i].mode) != b->status)
            return false;
    return n > 0;
}

bool behaviour_print(struct contract *c, const struct behaviour *b, const struct fault *faults,
                     uint32_t n, bool propagates, struct buf *out, const char **decide)
{
    struct buf why = BUF_INIT(200);
    bool same =
        b->ended && answer_alike(c, b) == ALIKE_SAME && unaffected_holds(c, b, faults, n, &why);
    buf_deinit(&why);
    *decide = NULL;
    if (!b->ended) {
        buf_adds(out, "the scenario does not end, or a service dies");
        return false;
    }
    if (same) {
        buf_adds(out, "unaffected");
        return true;
    }
    if (propagates && is_propagated(b, faults, n))
        buf_adds(out, "{ propagates: true");
    else if (outcome_kind(b->status) == OUT_EXIT)
        buf_addf(out, "{ status: exit %u", (unsigned)outcome_code(b->status));
    else {
        buf_adds(out, "{ status: ");
        outcome_print(b->status, out);
    }
    print_body(c, b, out, decide);
    print_effects(c, b, faults, n, out, decide);
    buf_adds(out, " }");
    return !out->full;
}
