/* SPDX-License-Identifier: Apache-2.0
 *
 * How things are matched: calls, dependencies and pairs by name. Findings and what oracles say by
 * their sentence and the calls that fail, whatever the mode and the try; in passes, the strictest
 * first, so that one whose smallest faultload has changed is still the same finding. */
#include "report/compare.h"

#include <stdlib.h>

#include "core/fault.h"

enum {
    ITEMS_MAX = 1000, /* findings of a scenario, and what oracles say; documents have 500 */
    LATENCY_RUNS = 3, /* without faults, of each campaign */
    LATENCY_NS = 5000000
};

#define LATENCY_RATIO 1.5

const char *const change_names[CHANGES] = {[CHANGE_NEW] = "new",
                                           [CHANGE_FIXED] = "fixed",
                                           [CHANGE_GONE] = "gone",
                                           [CHANGE_UNSEEN] = "not-seen",
                                           [CHANGE_CHANGED] = "changed"};

const char *const subject_fields[SUBJECTS] = {
    [SUBJECT_FINDING] = "findings", [SUBJECT_WARNING] = "warnings",
    [SUBJECT_CALL] = "calls",       [SUBJECT_DEPENDENCY] = "dependencies",
    [SUBJECT_PAIR] = "pairs",       [SUBJECT_LATENCY] = "latency"};

/* ---- documents ---- */

static const struct node *field(const struct node *map, const char *key)
{
    const struct node *value = node_get(map, slice_of(key));
    return value ? value : &node_null;
}

/* Empty for what is no text. */
static slice text_of(const struct node *map, const char *key)
{
    const struct node *value = field(map, key);
    return value->type == NODE_STR ? value->text : (slice){0};
}

/* 0 for what is no number. */
static double number_of(const struct node *map, const char *key)
{
    const struct node *value = field(map, key);
    return value->type == NODE_NUM ? value->num : 0;
}

/* The number of items; 0 for what is no list. */
static uint32_t length(const struct node *list)
{
    return list && list->type == NODE_LIST ? list->n : 0;
}

/* Is the text in the list? */
static bool has_text(const struct node *list, slice text)
{
    for (uint32_t i = 0; i < length(list); i++)
        if (list->list[i]->type == NODE_STR && slice_eq(list->list[i]->text, text))
            return true;
    return false;
}

/* ---- one scenario ---- */

/* A comparison in the making. */
struct making {
    struct arena *arena;
    const char *file;
    const struct node *before, *after;
    struct compared_scenario *to;
    bool narrower; /* what is not seen now may still be there */
    bool lost;     /* leaks are; that was said */
};

static struct changed *add(struct making *m, enum subject subject, enum change change,
                           const struct node *before, const struct node *after)
{
    vec_push(&m->to->lists[subject],
             (struct changed){.change = change, .before = before, .after = after});
    return &vec_last(&m->to->lists[subject]);
}

static void add_note(struct making *m, struct buf *text)
{
    vec_push(&m->to->notes, buf_keep(text, m->arena).p);
}

static void add_difference(struct changed *c, const char *name, slice before, slice after)
{
    if (!slice_eq(before, after) && c->n < DIFFERENCES_MAX)
        c->differences[c->n++] = (struct difference){name, before, after};
}

/* A field of both, whatever it is, as text. */
static slice shown(struct arena *a, const struct node *value)
{
    struct buf text = BUF_INIT(1 << 16);
    if (value->type == NODE_STR)
        return value->text;
    if (value->type == NODE_NULL)
        return (slice){0};
    node_print(value, &text);
    return buf_keep(&text, a);
}

static void compare_fields(struct making *m, struct changed *c, const char *const *names)
{
    for (; *names; names++)
        add_difference(c, *names, shown(m->arena, field(c->before, *names)),
                       shown(m->arena, field(c->after, *names)));
}

/* What was changed and turned out to be the same. */
static void drop_same(struct making *m, enum subject subject)
{
    if (vec_last(&m->to->lists[subject]).n == 0)
        m->to->lists[subject].n--;
}

/* ---- how far each campaign looked ---- */

/* "it did not try 503, reset": the modes or assumptions of `list` that `other` does not have. */
static void add_missing(struct buf *out, const char *words, const struct node *list,
                        const struct node *other)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < length(list); i++) {
        slice text = list->list[i]->type == NODE_STR ? list->list[i]->text : (slice){0};
        if (!text.n || has_text(other, text))
            continue;
        size_t colon = slice_find(text, ':');
        if (colon + 1 < text.n && text.p[colon + 1] == ' ')
            text.n = colon; /* of an assumption its name, without the sentence */
        buf_adds(out, n++ ? ", " : out->n ? "; " : "");
        buf_adds(out, n > 1 ? "" : words);
        buf_add(out, text);
    }
}

/* Why a campaign may not show what another one does; nothing: it would. */
static void add_limits(struct buf *out, const struct node *s, const struct node *other)
{
    if (text_of(s, "broken").n)
        buf_adds(out, "the scenario failed without any fault");
    else
        buf_add(out, text_of(s, "inconclusive"));
    add_missing(out, "it did not try ", field(other, "modes"), field(s, "modes"));
    add_missing(out, "it assumed ", field(s, "assumptions"), field(other, "assumptions"));
    if (number_of(s, "more_findings") > 0)
        buf_adds(out, out->n ? "; its document does not list all findings"
                             : "its document does not list all findings");
}

/* Has anything become of anything that way? */
static bool has_change(const struct compared_scenario *s, enum change change)
{
    for (int k = 0; k < SUBJECTS; k++)
        for (uint32_t i = 0; i < s->lists[k].n; i++)
            if (s->lists[k].at[i].change == change)
                return true;
    return false;
}

/* Says why what is not seen, or new, proves little, where there is such a thing. */
static void add_limit_notes(struct making *m)
{
    static const struct {
        enum change change;
        const char *words;
    } kinds[] = {{CHANGE_UNSEEN, "what this campaign has not seen may still be there: "},
                 {CHANGE_NEW, "what is new may be older than it seems, because of the earlier "
                              "campaign: "}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct buf note = BUF_INIT(8192);
        bool now = kinds[i].change == CHANGE_UNSEEN;
        add_limits(&note, now ? m->after : m->before, now ? m->before : m->after);
        if (note.n && has_change(m->to, kinds[i].change))
            vec_push(&m->to->notes,
                     arena_printf(m->arena, "%s%s", kinds[i].words, buf_text(&note)));
        buf_deinit(&note);
    }
}

static bool is_narrower(const struct making *m)
{
    struct buf limits = BUF_INIT(8192);
    add_limits(&limits, m->after, m->before);
    bool narrower = limits.n > 0;
    buf_deinit(&limits);
    return narrower;
}

/* ---- findings, and what oracles say ---- */

struct item {
    const struct node *node;
    bool remark; /* what an oracle says */
    slice oracle, why;
    VEC(uid) calls; /* that fail, without numbers; in order, each once */
    bool known;     /* the calls are: the faultload could be read */
    bool taken;
};

struct items {
    VEC(struct item) list;
};

/* Names that both documents share, so that equal calls are equal numbers. */
struct desk {
    struct names names;
    struct faultloads faultloads;
};

/* The path with the first number everywhere. */
static uid without_numbers(struct names *names, uid u)
{
    VEC(struct element) path = {0};
    uid out = UID_NONE;
    for (; u != UID_NONE; u = uid_parent(names, u))
        vec_push(&path, *uid_element(names, u));
    while (path.n) {
        struct element e = path.at[--path.n];
        e.n = 0;
        out = names_uid(names, out, names_element(names, e));
    }
    vec_deinit(&path);
    return out;
}

static int by_number(const void *a, const void *b)
{
    uid x = *(const uid *)a, y = *(const uid *)b;
    return x < y ? -1 : x > y;
}

static void read_calls(struct desk *desk, struct item *item)
{
    struct err ignored = {0};
    faultload f = FAULTLOAD_EMPTY;
    uint32_t n = 0;
    item->known = faultload_parse(&desk->names, &desk->faultloads, text_of(item->node, "faultload"),
                                  &f, &ignored) == 0;
    if (!item->known)
        return;
    for (; f != FAULTLOAD_EMPTY; f = desk->faultloads.rows.at[f].rest)
        vec_push(&item->calls,
                 without_numbers(&desk->names, desk->faultloads.rows.at[f].last.point));
    if (item->calls.n)
        qsort(item->calls.at, item->calls.n, sizeof *item->calls.at, by_number);
    for (uint32_t i = 0; i < item->calls.n; i++)
        if (n == 0 || item->calls.at[n - 1] != item->calls.at[i])
            item->calls.at[n++] = item->calls.at[i];
    item->calls.n = n;
}

static void read_items(struct desk *desk, const struct node *scenario, struct items *out)
{
    for (int remark = 0; remark < 2; remark++) {
        const struct node *list = field(scenario, remark ? "remarks" : "findings");
        for (uint32_t i = 0; i < length(list) && out->list.n < ITEMS_MAX; i++) {
            const struct node *node = list->list[i];
            struct item item = {.node = node,
                                .remark = remark,
                                .oracle = text_of(node, "oracle"),
                                .why = text_of(node, "why")};
            read_calls(desk, &item);
            vec_push(&out->list, item);
        }
    }
}

static void items_deinit(struct items *items)
{
    for (uint32_t i = 0; i < items->list.n; i++)
        vec_deinit(&items->list.at[i].calls);
    vec_deinit(&items->list);
}

/* Are all calls of a among those of b? */
static bool within(const struct item *a, const struct item *b)
{
    uint32_t k = 0;
    for (uint32_t i = 0; i < a->calls.n; i++) {
        while (k < b->calls.n && b->calls.at[k] < a->calls.at[i])
            k++;
        if (k == b->calls.n || b->calls.at[k] != a->calls.at[i])
            return false;
    }
    return true;
}

/* The passes: each asks for less than the one before it. */
enum { PASSES = 3 };

static bool matches(const struct item *a, const struct item *b, int pass)
{
    bool known = a->known && b->known;
    bool within_one = known && (within(a, b) || within(b, a));
    bool equal = known && within(a, b) && within(b, a);
    bool said = slice_eq(a->why, b->why);
    if (a->remark != b->remark || (a->remark && !slice_eq(a->oracle, b->oracle)))
        return false;
    switch (pass) {
    case 0: return said && equal;
    case 1: return said && (a->remark || within_one);
    default: return a->remark && equal; /* their sentences name modes */
    }
}

static bool severe(const struct node *node)
{
    slice severity = text_of(node, "severity");
    return !severity.n || slice_is(severity, "finding");
}

static enum subject subject_of(const struct node *before, const struct node *after)
{
    return (before && severe(before)) || (after && severe(after)) ? SUBJECT_FINDING
                                                                  : SUBJECT_WARNING;
}

static int by_text(const void *a, const void *b)
{
    return slice_cmp(*(const slice *)a, *(const slice *)b);
}

/* "200, 503": what the client saw, in whatever order. */
static slice statuses_of(struct arena *a, const struct node *finding)
{
    const struct node *list = field(finding, "statuses");
    VEC(slice) all = {0};
    struct buf text = BUF_INIT(4096);
    for (uint32_t i = 0; i < length(list); i++)
        if (list->list[i]->type == NODE_STR)
            vec_push(&all, list->list[i]->text);
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, by_text);
    for (uint32_t i = 0; i < all.n; i++) {
        buf_adds(&text, i ? ", " : "");
        buf_add(&text, all.at[i]);
    }
    vec_deinit(&all);
    return buf_keep(&text, a);
}

static void compare_item(struct making *m, const struct item *before, const struct item *after)
{
    static const char *const fields[] = {"why",  "kind",      "state", "severity",
                                         "when", "faultload", NULL};
    enum subject subject = subject_of(before->node, after->node);
    struct changed *c = add(m, subject, CHANGE_CHANGED, before->node, after->node);
    compare_fields(m, c, fields);
    add_difference(c, "statuses", statuses_of(m->arena, before->node),
                   statuses_of(m->arena, after->node));
    drop_same(m, subject);
}

/* It was there: is it fixed? */
static void add_missing_item(struct making *m, const struct item *item)
{
    /* what services hold is only known while they run, and a report from the store took no time */
    bool lost = slice_is(item->oracle, "leak") && number_of(m->after, "took_ns") <= 0;
    enum change change = m->narrower || lost ? CHANGE_UNSEEN : CHANGE_FIXED;
    struct buf note = BUF_INIT(256);
    if (lost && !m->lost) {
        m->lost = true;
        buf_adds(&note,
                 "leaks are not known: this report is made from the store, which does not keep "
                 "what services hold; compare with outfox run --compare");
        add_note(m, &note);
    }
    add(m, subject_of(item->node, NULL), change, item->node, NULL);
}

static void compare_items(struct making *m)
{
    struct desk desk = {0};
    struct items before = {0}, after = {0};
    names_init(&desk.names);
    faultloads_init(&desk.faultloads);
    read_items(&desk, m->before, &before);
    read_items(&desk, m->after, &after);
    for (int pass = 0; pass < PASSES; pass++)
        for (uint32_t i = 0; i < after.list.n; i++)
            for (uint32_t k = 0; k < before.list.n && !after.list.at[i].taken; k++) {
                struct item *a = &after.list.at[i], *b = &before.list.at[k];
                if (b->taken || !matches(a, b, pass))
                    continue;
                a->taken = b->taken = true;
                compare_item(m, b, a);
            }
    for (uint32_t i = 0; i < after.list.n; i++)
        if (!after.list.at[i].taken)
            add(m, subject_of(NULL, after.list.at[i].node), CHANGE_NEW, NULL,
                after.list.at[i].node);
    for (uint32_t i = 0; i < before.list.n; i++)
        if (!before.list.at[i].taken)
            add_missing_item(m, &before.list.at[i]);
    items_deinit(&before);
    items_deinit(&after);
    faultloads_deinit(&desk.faultloads);
    names_deinit(&desk.names);
}

/* ---- what is matched by name ---- */

/* Where a name stands in each list; NULL: nowhere. */
struct place {
    const struct node *before, *after;
};

struct places {
    struct intern names;
    VEC(struct place) list; /* by the number of the name: in the order of `after`, then the rest */
};

/* Of a pair: both, in the order of their text. */
static void add_name(const struct node *thing, struct buf *out)
{
    const struct node *calls = field(thing, "calls");
    buf_add(out, text_of(thing, "call"));
    if (out->n || length(calls) != 2 || calls->list[0]->type != NODE_STR ||
        calls->list[1]->type != NODE_STR)
        return;
    slice a = calls->list[0]->text, b = calls->list[1]->text;
    bool ordered = slice_cmp(a, b) <= 0;
    buf_add(out, ordered ? a : b);
    buf_adds(out, " & ");
    buf_add(out, ordered ? b : a);
}

static void places_add(struct places *p, const struct node *list, bool after)
{
    for (uint32_t i = 0; i < length(list); i++) {
        struct buf name = BUF_INIT(1 << 20);
        add_name(list->list[i], &name);
        uint32_t id = name.n ? intern_put(&p->names, buf_slice(&name)) : INTERN_NONE;
        buf_deinit(&name);
        if (id == INTERN_NONE)
            continue;
        if (id == p->list.n)
            vec_push(&p->list, (struct place){0});
        const struct node **at = after ? &p->list.at[id].after : &p->list.at[id].before;
        *at = *at ? *at : list->list[i];
    }
}

static void places_init(struct places *p, const struct making *m, const char *name)
{
    *p = (struct places){0};
    places_add(p, field(m->after, name), true);
    places_add(p, field(m->before, name), false);
}

static void places_deinit(struct places *p)
{
    intern_deinit(&p->names);
    vec_deinit(&p->list);
}

/* Do both documents have the list? Otherwise that is said. */
static bool both_have(struct making *m, const char *name, const char *what, const char *remedy)
{
    struct buf note = BUF_INIT(4096);
    bool before = field(m->before, name)->type == NODE_LIST;
    if (before && field(m->after, name)->type == NODE_LIST)
        return true;
    buf_addf(&note, "%s not compared: %s does not list them%s", what,
             before ? "this campaign" : m->file, before ? "" : remedy);
    add_note(m, &note);
    return false;
}

static bool only_after_faults(const struct node *call)
{
    const struct node *value = field(call, "conditional");
    return value->type == NODE_BOOL && value->boolean;
}

static void compare_latency(struct making *m, const struct place *p)
{
    const struct node *a = field(p->before, "took_ns"), *b = field(p->after, "took_ns");
    if (a->type != NODE_NUM || b->type != NODE_NUM || number_of(p->before, "runs") < LATENCY_RUNS ||
        number_of(p->after, "runs") < LATENCY_RUNS)
        return;
    double less = a->num < b->num ? a->num : b->num, more = a->num < b->num ? b->num : a->num;
    if (more - less > LATENCY_NS && more > LATENCY_RATIO * less)
        add(m, SUBJECT_LATENCY, CHANGE_CHANGED, p->before, p->after);
}

static void compare_calls(struct making *m)
{
    static const char *const fields[] = {"conditional", NULL};
    struct places all;
    if (!both_have(m, "calls", "calls and their latency were",
                   "; a report that this version of outfox writes does"))
        return;
    places_init(&all, m, "calls");
    for (uint32_t i = 0; i < all.list.n; i++) {
        const struct place *p = &all.list.at[i];
        if (!p->before) {
            add(m, SUBJECT_CALL, CHANGE_NEW, NULL, p->after);
        } else if (!p->after) {
            bool unseen = m->narrower && only_after_faults(p->before);
            add(m, SUBJECT_CALL, unseen ? CHANGE_UNSEEN : CHANGE_GONE, p->before, NULL);
        } else {
            compare_fields(m, add(m, SUBJECT_CALL, CHANGE_CHANGED, p->before, p->after), fields);
            drop_same(m, SUBJECT_CALL);
            compare_latency(m, p);
        }
    }
    places_deinit(&all);
}

/* It never failed alone, so nothing is known of it. */
static bool unknown(const struct node *dependency)
{
    return slice_is(text_of(dependency, "kind"), "unknown");
}

static void compare_dependencies(struct making *m)
{
    static const char *const fields[] = {"kind",    "absorbed_by", "absorbed_in",
                                         "instead", "retried",     NULL};
    struct places all;
    if (!both_have(m, "dependencies", "dependencies were",
                   "; a report that this version of outfox writes does"))
        return;
    places_init(&all, m, "dependencies");
    for (uint32_t i = 0; i < all.list.n; i++) {
        const struct place *p = &all.list.at[i];
        if (!p->before) {
            add(m, SUBJECT_DEPENDENCY, CHANGE_NEW, NULL, p->after);
        } else if (!p->after) {
            add(m, SUBJECT_DEPENDENCY, m->narrower ? CHANGE_UNSEEN : CHANGE_GONE, p->before, NULL);
        } else if (!unknown(p->before) && !unknown(p->after)) {
            compare_fields(m, add(m, SUBJECT_DEPENDENCY, CHANGE_CHANGED, p->before, p->after),
                           fields);
            drop_same(m, SUBJECT_DEPENDENCY);
        }
    }
    places_deinit(&all);
    places_init(&all, m, "pairs");
    for (uint32_t i = 0; i < all.list.n; i++) {
        const struct place *p = &all.list.at[i];
        if (!p->before)
            add(m, SUBJECT_PAIR, CHANGE_NEW, NULL, p->after);
        else if (!p->after)
            add(m, SUBJECT_PAIR, m->narrower ? CHANGE_UNSEEN : CHANGE_GONE, p->before, NULL);
    }
    places_deinit(&all);
}

/* ---- the whole ---- */

/* The scenario of this name; NULL: there is none. */
static const struct node *scenario_of(const struct node *document, slice name)
{
    const struct node *list = field(document, "scenarios");
    for (uint32_t i = 0; i < length(list); i++)
        if (slice_eq(text_of(list->list[i], "scenario"), name))
            return list->list[i];
    return NULL;
}

static void compare_scenario(struct comparison *c, slice name, const struct node *before,
                             const struct node *after)
{
    struct compared_scenario s = {.name = name, .before = before, .after = after};
    struct making m = {
        .arena = &c->arena, .file = c->file, .before = before, .after = after, .to = &s};
    if (before && after) {
        m.narrower = is_narrower(&m);
        compare_items(&m);
        compare_calls(&m);
        compare_dependencies(&m);
        add_limit_notes(&m);
    }
    vec_push(&c->scenarios, s);
}

void compare_make(struct comparison *out, const char *file, const struct node *before,
                  const struct node *after)
{
    const struct node *now = field(after, "scenarios"), *then = field(before, "scenarios");
    slice old = text_of(before, "system"), new = text_of(after, "system");
    *out = (struct comparison){.file = file, .before = before, .after = after};
    if (!slice_eq(old, new)) {
        struct buf note = BUF_INIT(4096);
        buf_addf(&note, "%s is of the system \"%.*s\", not of \"%.*s\"", file, SHORT(old),
                 SHORT(new));
        vec_push(&out->notes, buf_keep(&note, &out->arena).p);
    }
    for (uint32_t i = 0; i < length(now); i++) {
        slice name = text_of(now->list[i], "scenario");
        compare_scenario(out, name, scenario_of(before, name), now->list[i]);
    }
    for (uint32_t i = 0; i < length(then); i++) {
        slice name = text_of(then->list[i], "scenario");
        if (!scenario_of(after, name))
            compare_scenario(out, name, then->list[i], NULL);
    }
}

void compare_deinit(struct comparison *c)
{
    for (uint32_t i = 0; i < c->scenarios.n; i++) {
        for (int k = 0; k < SUBJECTS; k++)
            vec_deinit(&c->scenarios.at[i].lists[k]);
        vec_deinit(&c->scenarios.at[i].notes);
    }
    vec_deinit(&c->scenarios);
    vec_deinit(&c->notes);
    arena_deinit(&c->arena);
}

bool compare_same(const struct comparison *c)
{
    for (uint32_t i = 0; i < c->scenarios.n; i++) {
        const struct compared_scenario *s = &c->scenarios.at[i];
        if (!s->before || !s->after ||
            !slice_eq(text_of(s->before, "verdict"), text_of(s->after, "verdict")))
            return false;
        for (int k = 0; k < SUBJECTS; k++)
            if (s->lists[k].n)
                return false;
    }
    return true;
}
