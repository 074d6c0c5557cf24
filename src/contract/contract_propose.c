/* SPDX-License-Identifier: Apache-2.0
 *
 * Rules from what was seen: as few as say it all, and nothing that follows from others.
 *
 * What was seen is sorted by its *subject*, the interfaces that failed, small ones first. For each
 * subject of which something is not declared, rules are tried from the least precise form (the
 * interfaces alone) to the most precise one (payload, number, mode, path): the first form in which
 * all that was seen of the subject holds is taken. A rule is made by writing it and reading it, so
 * what is proposed is what is understood.
 *
 * 1. The order of the runs does not matter: everything is sorted by names.
 * 2. Rules that are proposed stand behind those of the file, and are taken away again. */
#include <stdlib.h>

#include "contract/contract_int.h"
#include "data/yaml.h"

enum { FORM_PAYLOAD = 1, FORM_NUMBER = 2, FORM_MODE = 4, FORM_CALLER = 8, FORM_PATH = 16 };

static const uint8_t forms[] = {
    0,
    FORM_PAYLOAD,
    FORM_NUMBER,
    FORM_MODE,
    FORM_CALLER,
    FORM_PAYLOAD | FORM_MODE,
    FORM_NUMBER | FORM_MODE,
    FORM_CALLER | FORM_MODE,
    FORM_CALLER | FORM_NUMBER,
    FORM_CALLER | FORM_PAYLOAD,
    FORM_PATH,
    FORM_PATH | FORM_MODE,
    FORM_PATH | FORM_NUMBER,
    FORM_PAYLOAD | FORM_NUMBER | FORM_MODE,
    FORM_PATH | FORM_PAYLOAD | FORM_NUMBER,
    FORM_PATH | FORM_PAYLOAD | FORM_NUMBER | FORM_MODE,
};

enum { FORMS = sizeof forms / sizeof *forms, LINE_MAX_BYTES = 64 << 10, NOT_USUAL = 1 << 24 };

/* ---- faults as a rule names them ---- */

static void print_step(const struct contract *c, uid u, uint8_t form, struct buf *out)
{
    struct element e = *uid_element(c->opt.names, u);
    struct element shown = {.service = e.service, .interface = e.interface};
    if (form & FORM_PAYLOAD) {
        shown.payload = e.payload;
        shown.before = e.before;
    }
    element_print(c->opt.names, &shown, out);
    if ((form & FORM_NUMBER) && e.n != N_ANY)
        buf_addf(out, " #%u", (unsigned)e.n);
}

static void print_path(const struct contract *c, uid u, uint32_t steps, uint8_t form,
                       struct buf *out)
{
    if (u == UID_NONE || steps == 0)
        return;
    print_path(c, uid_parent(c->opt.names, u), steps - 1, form, out);
    print_step(c, u, form & FORM_NUMBER, out);
    buf_adds(out, " > ");
}

static uint32_t print_fault(struct contract *c, struct fault f, uint8_t form)
{
    struct buf text = BUF_INIT(LINE_MAX_BYTES);
    uint32_t steps = form & FORM_PATH ? UINT32_MAX : form & FORM_CALLER ? 1 : 0;
    print_path(c, uid_parent(c->opt.names, f.point), steps, form, &text);
    print_step(c, f.point, form, &text);
    if (form & FORM_MODE) {
        buf_adds(&text, " : ");
        mode_print(f.mode, &text);
    }
    uint32_t id = intern_put(&c->pool, buf_slice(&text));
    buf_deinit(&text);
    return id;
}

/* The calls of a rule of this form about this observation, by number in the pool, sorted by text.
 */
struct calls {
    uint32_t at[ENTRIES_MAX], n;
};

static void calls_of(struct contract *c, const struct seen *s, uint8_t form, struct calls *out)
{
    out->n = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t id = print_fault(c, c->faults.at[s->first + i], form), k = 0;
        slice text = intern_text(&c->pool, id);
        while (k < out->n && slice_cmp(intern_text(&c->pool, out->at[k]), text) < 0)
            k++;
        if (k < out->n && out->at[k] == id)
            continue;
        memmove(out->at + k + 1, out->at + k, (out->n - k) * sizeof *out->at);
        out->at[k] = id;
        out->n++;
    }
}

/* ---- the order of what was seen ---- */

/* One observation, and what it is sorted by. */
struct sorted {
    const struct contract *c;
    const struct seen *seen;
    uint32_t subject, n_subject; /* the interfaces: a text, and how many */
    uint32_t first, sum;         /* of the places of these in the fault-free run */
    uint32_t text;               /* the faults in full */
};

static bool same_interface(const struct contract *c, uid a, uid b)
{
    const struct element *x = uid_element(c->opt.names, a), *y = uid_element(c->opt.names, b);
    return x->service == y->service && x->interface == y->interface;
}

static int sorted_cmp(const void *x, const void *y)
{
    const struct sorted *a = x, *b = y;
    const struct contract *c = a->c;
    if (a->n_subject != b->n_subject)
        return a->n_subject < b->n_subject ? -1 : 1;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->sum != b->sum)
        return a->sum < b->sum ? -1 : 1;
    if (a->subject != b->subject)
        return slice_cmp(intern_text(&c->pool, a->subject), intern_text(&c->pool, b->subject));
    if (a->seen->n != b->seen->n)
        return a->seen->n < b->seen->n ? -1 : 1;
    return slice_cmp(intern_text(&c->pool, a->text), intern_text(&c->pool, b->text));
}

/* The calls of an observation as one text. */
static uint32_t calls_text(struct contract *c, const struct seen *s, uint8_t form, uint32_t *n)
{
    struct calls all;
    struct buf text = BUF_INIT(LINE_MAX_BYTES);
    calls_of(c, s, form, &all);
    *n = all.n;
    for (uint32_t i = 0; i < all.n; i++) {
        buf_add(&text, intern_text(&c->pool, all.at[i]));
        buf_addc(&text, '\n');
    }
    uint32_t id = intern_put(&c->pool, buf_slice(&text));
    buf_deinit(&text);
    return id;
}

static struct sorted *sort_seen(struct contract *c)
{
    const struct trace *usual = &c->usual.trace;
    struct sorted *list = mem_zero((c->seen.n + 1) * sizeof *list);
    for (uint32_t i = 0; i < c->seen.n; i++) {
        struct sorted *s = &list[i];
        const struct fault *faults = c->faults.at + c->seen.at[i].first;
        uint32_t n;
        s->c = c;
        s->seen = &c->seen.at[i];
        s->subject = calls_text(c, s->seen, 0, &s->n_subject);
        s->text = calls_text(c, s->seen, FORM_PATH | FORM_PAYLOAD | FORM_NUMBER | FORM_MODE, &n);
        s->first = UINT32_MAX;
        for (uint32_t k = 0; k < s->seen->n; k++) {
            uint32_t before = 0, place = 0;
            while (!same_interface(c, faults[before].point, faults[k].point))
                before++;
            if (before < k)
                continue; /* each interface once */
            while (place < usual->calls.n &&
                   !same_interface(c, usual->calls.at[place].uid, faults[k].point))
                place++;
            place = place < usual->calls.n ? place : NOT_USUAL; /* not there: last */
            s->first = place < s->first ? place : s->first;
            s->sum += place;
        }
    }
    qsort(list, c->seen.n, sizeof *list, sorted_cmp);
    return list;
}

/* ---- rules ---- */

static void print_calls(const struct contract *c, const struct calls *calls, struct buf *out)
{
    buf_adds(out, calls->n > 1 ? "[ " : "");
    for (uint32_t i = 0; i < calls->n; i++) {
        buf_adds(out, i ? ", " : "");
        yaml_print(intern_text(&c->pool, calls->at[i]), calls->n > 1, out);
    }
    buf_adds(out, calls->n > 1 ? " ]" : "");
}

/* Adds a rule by writing and reading it. False: it is there already, or cannot be written. */
static bool add_rule(struct contract *c, const struct calls *calls, slice then, const char *decide)
{
    struct buf text = BUF_INIT(2 * LINE_MAX_BYTES);
    const struct node *node;
    struct err ignored = {0};
    buf_adds(&text, "fails: ");
    print_calls(c, calls, &text);
    buf_addf(&text, "\nthen: %.*s\n", SLICE_ARG(then));
    slice kept = slice_copy(&c->arena, buf_slice(&text));
    bool good = !text.full && c->rules.n < 2 * RULES_MAX;
    buf_deinit(&text);
    if (!good)
        return false;
    vec_push(&c->rules, (struct contract_rule){0});
    struct contract_rule *r = &vec_last(&c->rules);
    good = !yaml_parse(kept, &c->arena, &node, &ignored) && !rule_load(c, node, r, &ignored);
    for (uint32_t i = 0; i + 1 < c->rules.n && good; i++)
        good = !rule_same_calls(&c->rules.at[i], r);
    r->decide = decide;
    if (!good)
        rules_truncate(c, c->rules.n - 1);
    return good;
}

void rules_truncate(struct contract *c, uint32_t n)
{
    while (c->rules.n > n)
        rule_deinit(&c->rules.at[--c->rules.n]);
}

bool seen_holds(struct contract *c, const struct seen *s, bool *composed)
{
    struct resolution r;
    struct buf ignored = BUF_INIT(200);
    contract_resolve(c, c->faults.at + s->first, s->n, false, &r);
    struct faulty f = {c->faults.at + s->first, r.left, s->n, r.n_left};
    bool holds = r.rule && !r.other && then_holds(c, &r.rule->then, &s->behaviour, &f, &ignored);
    if (composed)
        *composed = !r.rule || r.composed;
    buf_deinit(&ignored);
    return holds;
}

/* ---- one subject ---- */

/* Observations that a rule of some form would be about. */
struct part {
    struct calls calls;
    uint32_t then[2]; /* declared by status, or by `propagates`; INTERN_NONE: not alike */
    const char *decide;
    uint32_t n;
};

struct subject {
    const struct sorted *at;
    uint32_t n;
    VEC(struct part) parts;
    VEC(uint32_t) part_of; /* by observation */
};

static void add_to_part(struct contract *c, struct subject *x, const struct seen *s, uint8_t form)
{
    struct calls calls;
    uint32_t k = 0;
    calls_of(c, s, form, &calls);
    while (k < x->parts.n &&
           (x->parts.at[k].calls.n != calls.n ||
            memcmp(x->parts.at[k].calls.at, calls.at, calls.n * sizeof *calls.at) != 0))
        k++;
    bool first = k == x->parts.n;
    if (first)
        vec_push(&x->parts, (struct part){.calls = calls});
    struct part *p = &x->parts.at[k];
    for (int way = 0; way < 2; way++) {
        const char *decide;
        struct buf text = BUF_INIT(THEN_TEXT_MAX);
        bool good = behaviour_print(c, &s->behaviour, c->faults.at + s->first, s->n, way == 1,
                                    &text, &decide);
        uint32_t id = good ? intern_put(&c->pool, buf_slice(&text)) : INTERN_NONE;
        p->then[way] = first || p->then[way] == id ? id : INTERN_NONE;
        p->decide = decide ? decide : p->decide;
        buf_deinit(&text);
    }
    p->n++;
    vec_push(&x->part_of, k);
}

/* In this form, do all observations of a part behave alike? Then each part has one text. */
static bool make_parts(struct contract *c, struct subject *x, uint8_t form)
{
    x->parts.n = x->part_of.n = 0;
    for (uint32_t i = 0; i < x->n; i++)
        add_to_part(c, x, x->at[i].seen, form);
    for (uint32_t i = 0; i < x->parts.n; i++) {
        struct part *p = &x->parts.at[i];
        if (p->then[0] == INTERN_NONE)
            p->then[0] = p->then[1];
        if (p->then[0] == INTERN_NONE)
            return false;
    }
    return x->parts.n > 0;
}

/* What most parts do: worth a rule of the interfaces alone, with the others as exceptions. */
static uint32_t common_then(const struct subject *x, uint8_t form)
{
    uint32_t best = INTERN_NONE, most = 0, least = form & FORM_NUMBER ? 1 : 2;
    for (uint32_t i = 0; i < x->parts.n; i++) {
        uint32_t parts = 0, n = 0;
        for (uint32_t k = 0; k < x->parts.n; k++)
            if (x->parts.at[k].then[0] == x->parts.at[i].then[0]) {
                parts++;
                n += x->parts.at[k].n;
            }
        if (parts >= least && n >= most) {
            most = n;
            best = x->parts.at[i].then[0];
        }
    }
    return best;
}

static bool all_hold(struct contract *c, const struct subject *x)
{
    for (uint32_t i = 0; i < x->n; i++)
        if (!seen_holds(c, x->at[i].seen, NULL))
            return false;
    return true;
}

/* Does this rule speak of tries that were never failed? "x fails: unaffected" does not follow from
 * one failed try after which the next one succeeded. */
static bool reaches_too_far(struct contract *c, const struct subject *x,
                            const struct contract_rule *rule)
{
    bool too_far = false;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct seen *s = x->at[i].seen;
        struct resolution r;
        contract_resolve(c, c->faults.at + s->first, s->n, false, &r);
        if (r.rule != rule)
            continue;
        if (s->again == UID_NONE)
            return false; /* every try was failed, and it holds */
        for (uint32_t k = 0; k < rule->fails.n; k++)
            too_far |= pattern_matches(&rule->fails.at[k].pattern, c->opt.names, s->again);
    }
    return too_far;
}

/* Rules of this form, so that all observations hold; false: they do not. */
static bool try_form(struct contract *c, struct subject *x, uint8_t form, bool general, bool last)
{
    uint32_t before = c->rules.n;
    if (!make_parts(c, x, form))
        return false;
    uint32_t common = general && form ? common_then(x, form) : INTERN_NONE;
    if (general && form && common == INTERN_NONE)
        return false;
    for (uint32_t i = 0; i < x->parts.n && common != INTERN_NONE; i++)
        if (x->parts.at[i].then[0] == common) {
            struct calls subject;
            calls_of(c, x->at[0].seen, 0, &subject);
            (void)add_rule(c, &subject, intern_text(&c->pool, common), x->parts.at[i].decide);
            common = INTERN_NONE;
        }
    for (uint32_t i = 0; i < x->parts.n; i++) {
        const struct part *p = &x->parts.at[i];
        bool holds = true;
        for (uint32_t k = 0; k < x->n && holds; k++)
            holds = x->part_of.at[k] != i || seen_holds(c, x->at[k].seen, NULL);
        if (!holds)
            (void)add_rule(c, &p->calls, intern_text(&c->pool, p->then[0]), p->decide);
    }
    bool good = all_hold(c, x);
    for (uint32_t i = before; i < c->rules.n && good && !last; i++)
        good = !reaches_too_far(c, x, &c->rules.at[i]);
    if (!good)
        rules_truncate(c, before);
    return good;
}

/* Does one of the failing calls alone lead to what this rule says of all of them? */
static bool like_one(struct contract *c, const struct seen *s, const struct contract_rule *rule)
{
    const struct fault *faults = c->faults.at + s->first;
    for (uint32_t k = 0; k < s->n; k++) {
        uint64_t group = group_of(c, faults, s->n, k);
        struct fault alone[ENTRIES_MAX];
        struct resolution r;
        uint32_t n = 0;
        for (uint32_t i = 0; i < s->n; i++)
            if (group >> i & 1)
                alone[n++] = faults[i];
        contract_resolve(c, alone, n, false, &r);
        if (r.rule && r.rule->then.text == rule->then.text)
            return true;
    }
    return false;
}

static void propose_subject(struct contract *c, struct subject *x)
{
    uint32_t before = c->rules.n;
    if (all_hold(c, x))
        return;
    bool found = false;
    for (uint32_t i = 0; i < FORMS && !found; i++)
        found = try_form(c, x, forms[i], true, false) || try_form(c, x, forms[i], false, false);
    if (!found)
        (void)try_form(c, x, forms[FORMS - 1], false, true);
    for (uint32_t i = before; i < c->rules.n && x->at[0].n_subject > 1; i++)
        if (!c->rules.at[i].decide && !like_one(c, x->at[0].seen, &c->rules.at[i]))
            c->rules.at[i].decide = "together they do something else than each alone: is it meant?";
}

/* ---- all ---- */

/* What rules are made from: all that was seen, but what a rule of the file speaks of itself, and
 * what follows from that, unless it is to be changed. What contains a call that alone is not as
 * declared is not to be declared before that is right. */
static uint32_t keep_seen(struct contract *c, const struct sorted *list, bool changed,
                          struct sorted *kept)
{
    struct map broken = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->seen.n; i++) {
        const struct seen *s = list[i].seen;
        const struct fault *faults = c->faults.at + s->first;
        if (!s->behaviour.ended || (c->opt.strict && !s->behaviour.pass))
            continue; /* no rule would make it right */
        bool composed, holds = seen_holds(c, s, &composed);
        if (!holds && !composed && !changed) {
            map_set(&broken, group_key(faults, s->n, UINT64_MAX), 1);
            continue;
        }
        bool tainted = false;
        for (uint32_t k = 0; k < s->n && !holds && !changed && !tainted; k++)
            tainted =
                map_get(&broken, group_key(faults, s->n, group_of(c, faults, s->n, k))) != NULL;
        if (!tainted)
            kept[n++] = list[i];
    }
    map_deinit(&broken);
    return n;
}

void propose_rules(struct contract *c, bool changed)
{
    struct sorted *list = sort_seen(c), *kept = mem_zero((c->seen.n + 1) * sizeof *kept);
    uint32_t n = keep_seen(c, list, changed, kept);
    for (uint32_t i = 0; i < n;) {
        struct subject x = {.at = &kept[i]};
        while (i + x.n < n && kept[i + x.n].subject == kept[i].subject)
            x.n++;
        propose_subject(c, &x);
        i += x.n;
        vec_deinit(&x.parts);
        vec_deinit(&x.part_of);
    }
    mem_free(list);
    mem_free(kept);
}
