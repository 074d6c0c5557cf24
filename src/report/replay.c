/* SPDX-License-Identifier: Apache-2.0
 *
 * One run with faults next to one without, as a single tree of calls. Calls are the same when their
 * uids are. A mark stands before each line:
 *
 *   !  a fault was injected here
 *   +  the call is not made without faults
 *   -  the call is only made without faults
 *   ~  its caller sees something else than without faults */
#include "base/index.h"
#include "report/escape.h"
#include "report/tree_int.h"
#include "report/words.h"

enum { LINES_MAX = 2000, BODY_SHOWN = 2048, BODY_LINES = 40 };

enum mark { MARK_SAME, MARK_INJECTED, MARK_NEW, MARK_GONE, MARK_CHANGED, MARKS };

static const char *const mark_text[MARKS] = {"  ", "! ", "+ ", "- ", "~ "};

/* One of the two runs. */
struct side {
    const struct trace *trace;
    struct trace_order order;
    struct map at; /* uid -> index of its call */
};

struct comparing {
    struct drawing d;
    struct side plain, faulty;
    uint32_t count[MARKS];
};

static void side_init(struct side *side, const struct trace *trace, const struct names *names)
{
    *side = (struct side){.trace = trace};
    trace_order(trace, names, &side->order);
    for (uint32_t i = trace->calls.n; i > 0; i--)
        map_set(&side->at, trace->calls.at[i - 1].uid, i - 1);
}

static void side_deinit(struct side *side)
{
    trace_order_deinit(&side->order);
    map_deinit(&side->at);
}

static const struct call *same_call(const struct side *side, const struct call *c)
{
    const uint32_t *at = map_get(&side->at, c->uid);
    return at ? &side->trace->calls.at[*at] : NULL;
}

static void draw_call(struct comparing *x, const struct call *c, bool gone, const char *indent,
                      const char *branch)
{
    const struct call *was = gone ? NULL : same_call(&x->plain, c);
    bool changed = was && was->seen != c->seen;
    enum mark mark = gone                   ? MARK_GONE
                     : c->mode != MODE_NONE ? MARK_INJECTED
                     : !was                 ? MARK_NEW
                     : changed              ? MARK_CHANGED
                                            : MARK_SAME;
    x->count[mark]++;
    tree_line(&x->d, c, mark_text[mark], indent, branch,
              changed ? was->seen : OUTCOME(OUT_NONE, 0));
}

/* The calls of one handler: those of the run with faults in their order, and between them those
 * that are gone, each before what followed it. */
struct children {
    VEC(struct child {
        uint32_t call;
        bool gone;
    })
    list;
};

static uint32_t children_of(const struct side *side, uint32_t call, const uint32_t **out)
{
    if (call == CALL_NONE)
        return 0;
    uint32_t first = side->order.first.at[call];
    *out = side->order.child.at + first;
    return side->order.first.at[call + 1] - first;
}

/* Adds those of the plain run up to one (or all) that are gone; returns how far it came. */
static uint32_t add_gone(const struct comparing *x, const uint32_t *plain, uint32_t from,
                         uint32_t to, struct children *out)
{
    for (; from < to; from++)
        if (!same_call(&x->faulty, &x->plain.trace->calls.at[plain[from]]))
            vec_push(&out->list, (struct child){plain[from], true});
    return from;
}

static void merge(const struct comparing *x, uint32_t faulty, uint32_t plain, struct children *out)
{
    const uint32_t *in_faulty = NULL, *in_plain = NULL;
    uint32_t n = children_of(&x->faulty, faulty, &in_faulty), done = 0;
    uint32_t n_plain = children_of(&x->plain, plain, &in_plain);
    for (uint32_t i = 0; i < n; i++) {
        uid u = x->faulty.trace->calls.at[in_faulty[i]].uid;
        for (uint32_t k = done; k < n_plain; k++)
            if (x->plain.trace->calls.at[in_plain[k]].uid == u) {
                done = add_gone(x, in_plain, done, k, out);
                break;
            }
        vec_push(&out->list, (struct child){in_faulty[i], false});
    }
    add_gone(x, in_plain, done, n_plain, out);
}

/* What is below a call of either run, or of both. */
static void draw_below(struct comparing *x, uint32_t faulty, uint32_t plain, const char *indent)
{
    struct children children = {0};
    merge(x, faulty, plain, &children);
    for (uint32_t i = 0; i < children.list.n; i++) {
        struct child child = children.list.at[i];
        bool last = i + 1 == children.list.n;
        const struct side *side = child.gone ? &x->plain : &x->faulty;
        const struct call *c = &side->trace->calls.at[child.call];
        struct buf deeper = BUF_INIT(1024);
        draw_call(x, c, child.gone, indent, last ? "`- " : "|- ");
        buf_addf(&deeper, "%s%s", indent, last ? "   " : "|  ");
        const uint32_t *in_plain = child.gone ? &child.call : map_get(&x->plain.at, c->uid);
        draw_below(x, child.gone ? CALL_NONE : child.call, in_plain ? *in_plain : CALL_NONE,
                   buf_text(&deeper));
        buf_deinit(&deeper);
    }
    vec_deinit(&children.list);
}

static void draw_both(struct comparing *x)
{
    const struct trace *faulty = x->faulty.trace;
    uint32_t plain = x->plain.trace->calls.n ? 0 : CALL_NONE;
    if (faulty->calls.n == 0) {
        fputs("no call was seen\n", x->d.out);
        return;
    }
    draw_call(x, &faulty->calls.at[0], false, "", "");
    draw_below(x, 0, plain, "");
    tree_end(&x->d, "");
}

/* ---- words ---- */

static void print_marks(const struct comparing *x, FILE *out)
{
    static const char *const words[MARKS] = {NULL, "injected", "only with faults",
                                             "only without faults", "with another outcome"};
    const char *before = "calls: ";
    for (int i = 1; i < MARKS; i++) {
        if (!x->count[i])
            continue;
        fprintf(out, "%s%u %s (%c)", before, (unsigned)x->count[i], words[i], mark_text[i][0]);
        before = ", ";
    }
    fputs(before[0] == ',' ? "\n" : "calls: as without faults\n", out);
}

/* The beginning, each line behind a bar: what a service says must not look like one of ours. */
static void print_body(slice body, FILE *out)
{
    slice shown = {body.p, body.n < BODY_SHOWN ? body.n : BODY_SHOWN}, line;
    size_t told = 0;
    for (int i = 0; i < BODY_LINES && slice_cut(&shown, '\n', &line); i++) {
        struct buf text = BUF_INIT(4 * BODY_SHOWN);
        told += line.n + 1;
        if (!shown.p && line.n == 0)
            break;
        escape_line(line, &text);
        fprintf(out, "  | %s\n", buf_text(&text));
        buf_deinit(&text);
    }
    if (told < body.n)
        fprintf(out, "  ... %zu bytes in all\n", body.n);
}

static void print_client(const struct run *run, const struct style *style, FILE *out)
{
    struct buf text = BUF_INIT(256);
    bool command = outcome_kind(run->verdict.status) == OUT_EXIT;
    outcome_print(run->verdict.status, &text);
    fprintf(out, "%s %s%s%s after ", command ? "the command ended with" : "the client got",
            style->bold, buf_text(&text), style->off);
    buf_clear(&text);
    buf_add_ns(&text, run->took_ns < 1000000 ? run->took_ns : run->took_ns / 1000000 * 1000000);
    fprintf(out, "%s%s\n", buf_text(&text), run->body.n ? ":" : "");
    print_body(run->body, out);
    if (run->event)
        fprintf(out, "%s%s%s\n", style->red, run->event, style->off);
    buf_deinit(&text);
}

static void print_verdict(const struct run *plain, const struct run *faulty,
                          const struct style *style, FILE *out)
{
    const struct verdict *v = &faulty->verdict;
    if (v->pass)
        fprintf(out, "%sas expected%s\n", style->green, style->off);
    else
        fprintf(out, "%sNOT as expected%s: %s%s%s%s\n", style->red, style->off, v->why,
                v->detail ? " (" : "", v->detail ? v->detail : "", v->detail ? ")" : "");
    if (!plain->verdict.pass)
        fprintf(out, "%sThe run without faults fails too%s: %s\n", style->yellow, style->off,
                plain->verdict.why);
}

static void print_remarks(const struct summary *s, const struct style *style, FILE *out)
{
    for (uint32_t i = 0; i < s->remarks.n; i++) {
        const struct remark *r = &s->remarks.at[i];
        struct buf text = BUF_INIT(1 << 12);
        words_remark(r, &text);
        fprintf(out, "%s%s%s: %s\n", r->severity == SEVERITY_FINDING ? style->red : style->yellow,
                severity_names[r->severity], style->off, buf_text(&text));
        buf_deinit(&text);
    }
}

void report_replay(const struct summary *s, const struct run *plain, const struct run *faulty,
                   const struct style *style, FILE *out)
{
    struct comparing x = {
        .d = {.names = s->names, .style = style, .out = out, .left = LINES_MAX},
    };
    side_init(&x.plain, &plain->trace, s->names);
    side_init(&x.faulty, &faulty->trace, s->names);
    draw_both(&x);
    fputc('\n', out);
    print_marks(&x, out);
    print_client(faulty, style, out);
    print_verdict(plain, faulty, style, out);
    print_remarks(s, style, out);
    side_deinit(&x.plain);
    side_deinit(&x.faulty);
}

/* ---- findings ---- */

void report_shown(const struct replayed *r, const struct style *style, FILE *out)
{
    struct buf why = BUF_INIT(1 << 12);
    escape_line(slice_of(r->why), &why);
    if (r->shows)
        fprintf(out, "%sfinding %s shows again%s: %s\n", style->red, r->id, style->off,
                buf_text(&why));
    else if (r->unsure)
        fprintf(out, "%sfinding %s does not show here, which proves nothing%s: %s\n", style->yellow,
                r->id, style->off,
                r->unfired ? "not every fault fired"
                           : "one run alone cannot show it; run the campaign again");
    else
        fprintf(out, "%sfinding %s does not show any more%s: %s\n", style->green, r->id, style->off,
                buf_text(&why));
    buf_deinit(&why);
}

void report_replays(const struct replays *all, bool json, FILE *out)
{
    uint32_t shown = 0, unsure = 0, n = all->list.n;
    if (json) {
        report_replays_json(all, out);
        return;
    }
    for (uint32_t i = 0; i < n; i++) {
        shown += all->list.at[i].shows;
        unsure += all->list.at[i].unsure;
    }
    if (!n) {
        fputs("the stored campaign has no findings\n", out);
        return;
    }
    uint32_t gone = n - shown - unsure;
    fprintf(out, "%u finding%s replayed: %u show%s again", (unsigned)n, n == 1 ? "" : "s",
            (unsigned)shown, shown == 1 ? "s" : "");
    if (gone)
        fprintf(out, ", %u %s not show any more", (unsigned)gone, gone == 1 ? "does" : "do");
    if (unsure)
        fprintf(out, ", %u uncertain", (unsigned)unsure);
    fputc('\n', out);
}
