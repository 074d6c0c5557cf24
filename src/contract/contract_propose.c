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
 * A file is changed where behaviour changed, and nowhere else: the value behind a `then` is replaced
 * in place, rules that are missing are added behind the last one. Comments, order and layout of the
 * rest stay as they are.
 *
 * 1. The order of the runs does not matter: everything is sorted by names.
 * 2. Rules that are proposed stand behind those of the file, and are taken away again.
 * 3. A changed file is read again before it is given out: it is a contract, or an error. */
#include <stdlib.h>

#include "contract/contract_int.h"
#include "data/node.h"
#include "data/yaml.h"

enum { FORM_PAYLOAD = 1, FORM_NUMBER = 2, FORM_MODE = 4, FORM_CALLER = 8, FORM_PATH = 16 };

static const uint8_t forms[] = {0,
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
                                FORM_PATH | FORM_PAYLOAD | FORM_NUMBER | FORM_MODE};

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
    const uint32_t order[][2] = {
        {a->n_subject, b->n_subject}, {a->first, b->first}, {a->sum, b->sum}};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i][0] != order[i][1])
            return order[i][0] < order[i][1] ? -1 : 1;
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

static void rules_truncate(struct contract *c, uint32_t n)
{
    while (c->rules.n > n)
        rule_deinit(&c->rules.at[--c->rules.n]);
}

/* Adds a rule by writing and reading it. False: it is there already, or cannot be written. */
static bool add_rule(struct contract *c, const struct calls *calls, slice then, const char *decide)
{
    struct buf text = BUF_INIT(2 * LINE_MAX_BYTES);
    const struct node *node;
    struct err ignored = {0};
    buf_adds(&text, "fails: [ ");
    for (uint32_t i = 0; i < calls->n; i++) {
        buf_adds(&text, i ? ", " : "");
        yaml_print(intern_text(&c->pool, calls->at[i]), true, &text);
    }
    buf_addf(&text, " ]\nthen: %.*s\n", SLICE_ARG(then));
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

bool seen_holds(struct contract *c, const struct seen *s, bool *composed)
{
    struct resolution r;
    contract_resolve(c, c->faults.at + s->first, s->n, false, &r);
    struct faulty f = {c->faults.at + s->first, r.left, s->n, r.n_left};
    bool holds = r.rule && !r.other && then_holds(c, &r.rule->then, &s->behaviour, &f, &c->unread);
    if (composed)
        *composed = !r.rule || r.composed;
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

/* How this observation would be declared, in the pool; INTERN_NONE: it cannot be. */
static uint32_t declare(struct contract *c, const struct seen *s, bool propagates,
                        const char **decide)
{
    struct buf text = BUF_INIT(THEN_TEXT_MAX);
    bool good =
        behaviour_print(c, &s->behaviour, c->faults.at + s->first, s->n, propagates, &text, decide);
    uint32_t id = good ? intern_put(&c->pool, buf_slice(&text)) : INTERN_NONE;
    buf_deinit(&text);
    return id;
}

/* In this form, do all observations of a part behave alike? Then each part has one text. */
static bool make_parts(struct contract *c, struct subject *x, uint8_t form)
{
    x->parts.n = x->part_of.n = 0;
    for (uint32_t i = 0; i < x->n; i++) {
        const struct seen *s = x->at[i].seen;
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
            uint32_t id = declare(c, s, way == 1, &decide);
            p->then[way] = first || p->then[way] == id ? id : INTERN_NONE;
            p->decide = decide ? decide : p->decide;
        }
        p->n++;
        vec_push(&x->part_of, k);
    }
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
            c->rules.at[i].decide =
                "together they behave differently than each alone: is that intended?";
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

/* Appends rules for what was seen and is not declared; changed: also for what is not as declared. */
static void propose_rules(struct contract *c, bool changed)
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

/* ---- printing: what is missing in a file, and a whole one ---- */

/* kind: a comment says what kind of dependency it is. */
static void rule_print(const struct contract_rule *r, uint32_t indent, bool kind, struct buf *out)
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
    then_print(&r->then, out);
    buf_addc(out, '\n');
}

/* What stands above the rules of a file. */
static void head_print(const struct contract *c, struct buf *out)
{
    if (!c->has_scenario) {
        buf_adds(out, "scenario: ");
        yaml_print(slice_of(c->opt.scenario), false, out);
        buf_addc(out, '\n');
    }
    if (!c->without.line && c->usual.known) {
        buf_adds(out, "without-faults: { status: ");
        contract_print_status(c->usual.status, out);
        buf_adds(out, " }\n");
    }
    buf_adds(out, "when:\n");
}

/* The rules from `own` on, as they are added to the file. */
static void print_added(const struct contract *c, uint32_t own, bool kind, struct buf *out)
{
    if (c->rules.n > own && !c->has_when)
        head_print(c, out);
    for (uint32_t i = own; i < c->rules.n; i++)
        rule_print(&c->rules.at[i], c->when_col ? c->when_col - 1 : 2, kind, out);
}

uint32_t contract_propose(struct contract *c, struct buf *out)
{
    uint32_t own = c->rules.n;
    propose_rules(c, false);
    uint32_t n = c->rules.n - own;
    print_added(c, own, false, out);
    rules_truncate(c, own);
    return n;
}

void contract_print(struct contract *c, struct buf *out)
{
    uint32_t own = c->rules.n;
    if (own == 0)
        propose_rules(c, true);
    buf_addf(out, "# What happened when calls failed (docs/contracts.md). Is it what you want?\n");
    head_print(c, out);
    for (uint32_t i = 0; i < c->rules.n; i++)
        rule_print(&c->rules.at[i], 2, true, out);
    rules_truncate(c, own);
}

/* ---- places in a text ---- */

static size_t line_end(slice text, size_t at)
{
    return at + slice_find(slice_from(text, at), '\n');
}

/* Lines and columns count from 1, columns in characters; the end of the text when there is none. */
static size_t place_at(slice text, uint32_t line, uint32_t col)
{
    size_t at = 0;
    for (uint32_t i = 1; i < line && at < text.n; i++) {
        at = line_end(text, at);
        at += at < text.n;
    }
    for (uint32_t i = 1; i < col && at < text.n && text.p[at] != '\n'; i++) {
        at++;
        while (at < text.n && (text.p[at] & 0xc0) == 0x80)
            at++;
    }
    return at;
}

/* Behind the bracket that closes the one at `at`. */
static size_t flow_end(slice text, size_t at)
{
    uint32_t depth = 0;
    char quote = 0;
    for (; at < text.n; at++) {
        char ch = text.p[at];
        if (quote) {
            at += quote == '"' && ch == '\\';
            quote = ch == quote ? 0 : quote;
        } else if (ch == '"' || ch == '\'') {
            quote = ch;
        } else if (ch == '{' || ch == '[') {
            depth++;
        } else if ((ch == '}' || ch == ']') && --depth == 0) {
            return at + 1;
        }
    }
    return text.n;
}

static size_t indent_at(slice text, size_t start)
{
    size_t n = 0;
    while (start + n < text.n && text.p[start + n] == ' ')
        n++;
    return n;
}

/* Behind the last line with content that belongs to a block whose lines are indented by at least
 * `indent`, and those of a list by exactly that, too. */
static size_t block_end(slice text, size_t from, size_t indent, bool list)
{
    size_t end = line_end(text, from);
    for (size_t at = end; at < text.n;) {
        size_t start = at + 1, n = indent_at(text, start), first = start + n;
        at = start < text.n ? line_end(text, start) : text.n;
        if (first >= text.n || strchr("\n\r#", text.p[first]))
            continue; /* nothing but blanks and a comment */
        if (n < indent || (list && n == indent && text.p[first] != '-'))
            break;
        end = at;
    }
    return end;
}

/* Behind the value that begins here. */
static size_t value_end(slice text, size_t from)
{
    if (from < text.n && (text.p[from] == '{' || text.p[from] == '['))
        return flow_end(text, from);
    size_t start = from;
    while (start > 0 && text.p[start - 1] != '\n')
        start--;
    bool block = start + indent_at(text, start) == from; /* it is the first on its line */
    if (block)
        return block_end(text, from, from - start, false);
    size_t end = line_end(text, from);
    for (size_t i = from; i + 1 < end; i++)
        if (text.p[i] == ' ' && text.p[i + 1] == '#')
            end = i;
    while (end > from && (text.p[end - 1] == ' ' || text.p[end - 1] == '\r'))
        end--;
    return end;
}

/* ---- what changed ---- */

/* A value of the file that is replaced. */
struct edit {
    size_t from, to;
    uint32_t text; /* in the pool */
};

struct edits {
    struct edit *at;
    uint32_t n, cap;
};

/* What a rule should say by now, in either way (see behaviour_print): what most of the runs that it
 * speaks of did. INTERN_NONE: what it says. */
static uint32_t changed_then(struct contract *c, const struct contract_rule *rule)
{
    struct map count[2];
    uint32_t best[2] = {INTERN_NONE, INTERN_NONE}, most[2] = {0}, n = 0;
    bool any = false;
    memset(count, 0, sizeof count);
    for (uint32_t i = 0; i < c->seen.n; i++) {
        const struct seen *s = &c->seen.at[i];
        const struct fault *faults = c->faults.at + s->first;
        struct resolution r;
        contract_resolve(c, faults, s->n, false, &r);
        if (!s->behaviour.ended || r.rule != rule || r.other || r.composed)
            continue;
        struct faulty f = {faults, r.left, s->n, r.n_left};
        any |= !then_holds(c, &rule->then, &s->behaviour, &f, &c->unread);
        n++;
        for (int way = 0; way < 2; way++) {
            const char *decide;
            uint32_t id = declare(c, s, way == 1, &decide);
            uint32_t k = id == INTERN_NONE ? 0 : map_count(&count[way], id);
            best[way] = k > most[way] ? id : best[way];
            most[way] = k > most[way] ? k : most[way];
        }
    }
    map_deinit(&count[0]);
    map_deinit(&count[1]);
    int way = most[0] < n && most[1] > most[0];
    return any ? best[way] : INTERN_NONE;
}

static void replace_then(struct contract *c, slice text, struct contract_then *then, uint32_t by,
                         bool usual, struct edits *edits)
{
    struct contract_then now = {0};
    const struct node *node;
    struct err ignored = {0};
    size_t from = place_at(text, then->line, then->col);
    if (yaml_parse(intern_text(&c->pool, by), &c->arena, &node, &ignored) ||
        then_load(c, node, usual, &now, &ignored)) {
        then_deinit(&now);
        return;
    }
    vec_push(edits, (struct edit){from, value_end(text, from), by});
    now.line = then->line;
    now.col = then->col;
    then_deinit(then);
    *then = now;
}

static uint32_t usual_text(struct contract *c)
{
    const struct contract_then *w = &c->without;
    struct buf text = BUF_INIT(THEN_TEXT_MAX);
    const struct node *root = w->json.n ? c->usual.answer.json : NULL;
    buf_adds(&text, "{ status: ");
    contract_print_status(c->usual.status, &text);
    uint32_t shown = 0;
    for (uint32_t i = 0; i < w->json.n && root; i++) {
        const struct node *is = pointer_at(root, w->json.at[i].pointer);
        if (!is)
            continue;
        buf_adds(&text, shown++ ? ", " : ", json: { ");
        yaml_print(w->json.at[i].pointer, true, &text);
        buf_adds(&text, ": ");
        node_print(is, &text);
    }
    buf_adds(&text, shown ? " } }" : " }");
    uint32_t id = text.full ? INTERN_NONE : intern_put(&c->pool, buf_slice(&text));
    buf_deinit(&text);
    return id;
}

static void find_edits(struct contract *c, slice text, struct edits *edits)
{
    struct behaviour usual = {.status = c->usual.status,
                              .body = intern_put(&c->pool, c->usual.answer.body),
                              .pass = true};
    struct faulty none = {0};
    if (c->without.line && !then_holds(c, &c->without, &usual, &none, &c->unread)) {
        uint32_t by = usual_text(c);
        if (by != INTERN_NONE)
            replace_then(c, text, &c->without, by, true, edits);
    }
    for (uint32_t i = 0; i < c->rules.n; i++) {
        uint32_t by = changed_then(c, &c->rules.at[i]);
        if (by != INTERN_NONE && by != c->rules.at[i].then.text)
            replace_then(c, text, &c->rules.at[i].then, by, false, edits);
    }
}

/* ---- the new text ---- */

/* Where rules are added: behind the last one, or behind a `when:` without any; else at the end. */
static size_t add_place(const struct contract *c, slice text)
{
    if (c->when_col)
        return block_end(text, place_at(text, c->when_at, c->when_col), c->when_col - 1, true);
    for (size_t at = 0; c->has_when && at < text.n; at = line_end(text, at) + 1)
        if (slice_starts(slice_from(text, at), SLICE("when:")))
            return line_end(text, at);
    return text.n;
}

/* The text with the edits in it and the rules from `own` on added. */
static void write_text(struct contract *c, slice text, const struct edits *edits, uint32_t own,
                       struct buf *out)
{
    size_t at = 0, add = c->rules.n > own ? add_place(c, text) : SIZE_MAX;
    for (;;) {
        const struct edit *next = NULL; /* the first that is left */
        for (uint32_t i = 0; i < edits->n; i++)
            if (edits->at[i].from >= at && (!next || edits->at[i].from < next->from))
                next = &edits->at[i];
        size_t to = next ? next->from : text.n;
        if (add != SIZE_MAX && add <= to && add >= at) {
            buf_add(out, (slice){text.p + at, add - at});
            if (out->n && out->p[out->n - 1] != '\n')
                buf_addc(out, '\n');
            print_added(c, own, true, out);
            at = add + (add < text.n && text.p[add] == '\n');
            add = SIZE_MAX;
            continue;
        }
        buf_add(out, (slice){text.p + at, to - at});
        if (!next)
            break;
        buf_add(out, intern_text(&c->pool, next->text));
        at = next->to;
    }
}

bool contract_update(struct contract *c, slice text, struct buf *out, struct err *e)
{
    struct edits edits = {0};
    struct arena arena = {0};
    const struct node *root;
    struct contract *again = NULL;
    struct err why = {0};
    uint32_t own = c->rules.n;
    if (!c->empty)
        find_edits(c, text, &edits);
    propose_rules(c, true);
    write_text(c, text, &edits, own, out);
    rules_truncate(c, own);
    vec_deinit(&edits);
    bool good = !out->full && !yaml_parse(buf_slice(out), &arena, &root, &why) &&
                !contract_load(&c->opt, root, &again, &why);
    if (!good)
        err_set(
            e, 0, 0,
            "%s cannot be updated in place (%s): write `when` as a list with a dash before each "
            "rule",
            c->opt.file, why.text);
    contract_free(again);
    arena_deinit(&arena);
    return good;
}
