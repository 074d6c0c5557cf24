/* SPDX-License-Identifier: Apache-2.0
 *
 * Contracts as files: printed, and changed where behaviour changed, and nowhere else. The value
 * behind a `then` is replaced in place, rules that are missing are added behind the last one. Comments, order and layout of the
 * rest stay as they are.
 *
 * 1. What comes out is read again before it is given out: it is a contract, or an error. */
#include "contract/contract_int.h"
#include "data/pointer.h"
#include "data/yaml.h"

/* ---- printing: what is missing in a file, and a whole one ---- */

/* kind: a comment says what kind of dependency it is. */
static void rule_print(const struct contract *c, const struct contract_rule *r, uint32_t indent,
                       bool kind, struct buf *out)
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
    then_print(c, &r->then, out);
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

uint32_t contract_propose(struct contract *c, struct buf *out)
{
    uint32_t own = c->rules.n;
    propose_rules(c, false);
    uint32_t n = c->rules.n - own, indent = c->when_col ? c->when_col - 1 : 2;
    if (n && !c->has_when)
        head_print(c, out);
    for (uint32_t i = own; i < c->rules.n; i++)
        rule_print(c, &c->rules.at[i], indent, false, out);
    rules_truncate(c, own);
    return n;
}

void contract_print(struct contract *c, struct buf *out)
{
    uint32_t own = c->rules.n;
    if (own == 0)
        propose_rules(c, true);
    buf_addf(out, "# What was seen when calls failed (docs/contracts.md). Is it what is wanted?\n");
    head_print(c, out);
    for (uint32_t i = 0; i < c->rules.n; i++)
        rule_print(c, &c->rules.at[i], 2, true, out);
    rules_truncate(c, own);
}

/* ---- places in a text ---- */

/* Where a line begins, from 1; the end of the text when there is none. */
static size_t line_start(slice text, uint32_t line)
{
    size_t at = 0;
    for (uint32_t i = 1; i < line && at < text.n; i++) {
        at += slice_find(slice_from(text, at), '\n');
        at += at < text.n;
    }
    return at;
}

static size_t line_end(slice text, size_t at)
{
    return at + slice_find(slice_from(text, at), '\n');
}

/* Columns count characters. */
static size_t place_at(slice text, uint32_t line, uint32_t col)
{
    size_t at = line_start(text, line);
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

/* Is there something besides blanks and a comment on the line that begins here? */
static bool has_content(slice text, size_t start)
{
    size_t at = start + indent_at(text, start);
    return at < text.n && text.p[at] != '\n' && text.p[at] != '\r' && text.p[at] != '#';
}

/* Behind the last line with content that belongs to a block whose lines are indented by at least
 * `indent`, and those of a list by exactly that, too. */
static size_t block_end(slice text, size_t from, size_t indent, bool list)
{
    size_t end = line_end(text, from);
    for (size_t at = end; at < text.n;) {
        size_t start = at + 1, n = indent_at(text, start);
        at = start < text.n ? line_end(text, start) : text.n;
        if (start >= text.n || !has_content(text, start))
            continue;
        if (n < indent || (list && n == indent && text.p[start + n] != '-'))
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
    VEC(struct edit) list;
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
        struct buf ignored = BUF_INIT(200);
        any |= !then_holds(c, &rule->then, &s->behaviour, &f, &ignored);
        buf_deinit(&ignored);
        n++;
        for (int way = 0; way < 2; way++) {
            const char *decide;
            struct buf text = BUF_INIT(THEN_TEXT_MAX);
            if (behaviour_print(c, &s->behaviour, faults, s->n, way == 1, &text, &decide)) {
                uint32_t id = intern_put(&c->pool, buf_slice(&text));
                uint32_t k = map_count(&count[way], id);
                best[way] = k > most[way] ? id : best[way];
                most[way] = k > most[way] ? k : most[way];
            }
            buf_deinit(&text);
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
    vec_push(&edits->list, (struct edit){from, value_end(text, from), by});
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
    struct buf ignored = BUF_INIT(200);
    if (c->without.line && !then_holds(c, &c->without, &usual, &none, &ignored)) {
        uint32_t by = usual_text(c);
        if (by != INTERN_NONE)
            replace_then(c, text, &c->without, by, true, edits);
    }
    for (uint32_t i = 0; i < c->rules.n; i++) {
        uint32_t by = changed_then(c, &c->rules.at[i]);
        if (by != INTERN_NONE && by != c->rules.at[i].then.text)
            replace_then(c, text, &c->rules.at[i].then, by, false, edits);
    }
    buf_deinit(&ignored);
}

/* ---- the new text ---- */

/* Where rules are added; text.n: at the end. */
static size_t add_place(const struct contract *c, slice text)
{
    if (c->when_col)
        return block_end(text, place_at(text, c->when_at, c->when_col), c->when_col - 1, true);
    for (size_t at = 0; c->has_when && at < text.n; at = line_end(text, at) + 1)
        if (slice_starts(slice_from(text, at), SLICE("when:")))
            return line_end(text, at);
    return text.n;
}

static void write_text(struct contract *c, slice text, const struct edits *edits, uint32_t own,
                       struct buf *out)
{
    size_t at = 0, add = c->rules.n > own ? add_place(c, text) : SIZE_MAX;
    for (;;) {
        const struct edit *next = NULL; /* the first that is left */
        for (uint32_t i = 0; i < edits->list.n; i++)
            if (edits->list.at[i].from >= at && (!next || edits->list.at[i].from < next->from))
                next = &edits->list.at[i];
        size_t to = next ? next->from : text.n;
        if (add != SIZE_MAX && add <= to && add >= at) {
            buf_add(out, (slice){text.p + at, add - at});
            if (out->n && out->p[out->n - 1] != '\n')
                buf_addc(out, '\n');
            if (!c->has_when)
                head_print(c, out);
            for (uint32_t i = own; i < c->rules.n; i++)
                rule_print(c, &c->rules.at[i], c->when_col ? c->when_col - 1 : 2, true, out);
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

static bool is_contract(const struct contract *c, const struct buf *text, struct err *e)
{
    struct arena arena = {0};
    const struct node *root;
    struct contract *again = NULL;
    bool good = !text->full && !yaml_parse(buf_slice(text), &arena, &root, e) &&
                !contract_load(&c->opt, root, &again, e);
    contract_free(again);
    arena_deinit(&arena);
    if (!good) {
        struct err first = *e;
        *e = (struct err){0};
        err_set(e, 0, 0,
                "%s is written in a way that cannot be changed here (%s): write `when` as a list "
                "with a dash before each rule",
                c->opt.file, first.text);
    }
    return good;
}

bool contract_update(struct contract *c, slice text, struct buf *out, struct err *e)
{
    struct edits edits = {0};
    uint32_t own = c->rules.n;
    if (!c->empty)
        find_edits(c, text, &edits);
    propose_rules(c, true);
    write_text(c, text, &edits, own, out);
    rules_truncate(c, own);
    vec_deinit(&edits.list);
    return is_contract(c, out, e);
}
