/* SPDX-License-Identifier: Apache-2.0
 *
 * One run as a tree of calls, in causal order; and one with faults next to one without, as a single
 * tree. There calls are the same when their uids are, and a mark stands before each line:
 *
 *   !  a fault was injected here
 *   +  the call is not made without faults
 *   -  the call is only made without faults
 *   ~  its caller sees something else than without faults */
#include "base/index.h"
#include "report/escape.h"
#include "report/report.h"

enum { NAME_COLUMNS = 66, NAME_LEAST = 20, LINES_MAX = 2000, BODY_SHOWN = 2048, BODY_LINES = 40 };

struct drawing {
    const struct names *names;
    const struct style *style;
    struct buf *out;
    uint32_t left; /* lines that may still be printed */
    uint32_t more; /* calls that had no line left */
};

static void add_outcome(const struct drawing *d, outcome o)
{
    buf_adds(d->out, outcome_ok(o) ? d->style->green : d->style->red);
    if (outcome_kind(o) == OUT_NONE)
        buf_adds(d->out, "not ended");
    else
        outcome_print(o, d->out);
    buf_adds(d->out, d->style->off);
}

/* mark: before the line, "" for none. was: what the caller saw in another run; OUT_NONE: the same.
 */
static void draw_line(struct drawing *d, const struct call *c, const char *mark, const char *indent,
                      const char *branch, outcome was)
{
    struct buf name = BUF_INIT(1 << 16);
    if (d->left == 0) {
        d->more++;
        return;
    }
    d->left--;
    element_print(d->names, uid_element(d->names, c->uid), &name);
    int width = NAME_COLUMNS - (int)(strlen(indent) + strlen(branch));
    buf_addf(d->out, "%s%s%s%-*s  ", mark, indent, branch, width > NAME_LEAST ? width : NAME_LEAST,
             buf_text(&name));
    add_outcome(d, c->seen);
    if (c->mode != MODE_NONE) {
        buf_adds(d->out, "  <- injected ");
        mode_print(c->mode, d->out);
    }
    if (c->mode != MODE_NONE && c->handled) {
        buf_adds(d->out, " (the service answered ");
        outcome_print(c->reply, d->out);
        buf_addc(d->out, ')');
    }
    if (was != OUTCOME(OUT_NONE, 0)) {
        buf_adds(d->out, "  (was ");
        outcome_print(was, d->out);
        buf_addc(d->out, ')');
    }
    buf_addc(d->out, '\n');
    buf_deinit(&name);
}

static void draw_end(const struct drawing *d, const char *indent)
{
    if (d->more)
        buf_addf(d->out, "%s... and %u more %s\n", indent, (unsigned)d->more,
                 plural(d->more, "call", "calls"));
}

/* ---- one run ---- */

static void draw_below(struct drawing *d, const struct trace *trace,
                       const struct trace_order *order, uint32_t call, const char *indent)
{
    uint32_t end = order->first.at[call + 1];
    for (uint32_t i = order->first.at[call]; i < end; i++) {
        bool last = i + 1 == end;
        struct buf deeper = BUF_INIT(1024);
        uint32_t child = order->child.at[i];
        draw_line(d, &trace->calls.at[child], "", indent, last ? "`- " : "|- ",
                  OUTCOME(OUT_NONE, 0));
        buf_addf(&deeper, "%s%s", indent, last ? "   " : "|  ");
        draw_below(d, trace, order, child, buf_text(&deeper));
        buf_deinit(&deeper);
    }
}

void report_calls(const struct trace *trace, const struct names *names, const char *indent,
                  uint32_t most, const struct style *style, struct buf *out)
{
    struct drawing d = {.names = names, .style = style, .out = out, .left = most};
    struct trace_order order = {0};
    if (trace->calls.n == 0)
        return;
    trace_order(trace, names, &order);
    draw_line(&d, &trace->calls.at[0], "", indent, "", OUTCOME(OUT_NONE, 0));
    draw_below(&d, trace, &order, 0, indent);
    draw_end(&d, indent);
    trace_order_deinit(&order);
}

void report_tree(const struct trace *trace, const struct names *names,
                 const struct verdict *verdict, const struct node *body, const struct style *style,
                 struct buf *out)
{
    report_calls(trace, names, "", UINT32_MAX, style, out);
    if (body && body->type != NODE_NULL) {
        buf_adds(out, "body: ");
        node_print(body, out);
        buf_addc(out, '\n');
    }
    if (verdict->pass)
        buf_addf(out, "%sas expected%s\n", style->green, style->off);
    else
        buf_addf(out, "%sNOT as expected%s: %s\n", style->red, style->off, verdict->why);
}

/* ---- one next to another ---- */

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
    draw_line(&x->d, c, mark_text[mark], indent, branch,
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
static void draw_both_below(struct comparing *x, uint32_t faulty, uint32_t plain,
                            const char *indent)
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
        draw_both_below(x, child.gone ? CALL_NONE : child.call, in_plain ? *in_plain : CALL_NONE,
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
        buf_adds(x->d.out, "no call was seen\n");
        return;
    }
    draw_call(x, &faulty->calls.at[0], false, "", "");
    draw_both_below(x, 0, plain, "");
    draw_end(&x->d, "");
}

/* ---- words ---- */

static void print_marks(const struct comparing *x, struct buf *out)
{
    static const char *const words[MARKS] = {NULL, "injected", "only with faults",
                                             "only without faults", "with another outcome"};
    const char *before = "calls: ";
    for (int i = 1; i < MARKS; i++) {
        if (!x->count[i])
            continue;
        buf_addf(out, "%s%u %s (%c)", before, (unsigned)x->count[i], words[i], mark_text[i][0]);
        before = ", ";
    }
    buf_adds(out, before[0] == ',' ? "\n" : "calls: as without faults\n");
}

/* The beginning, each line behind a bar: what a service says must not look like one of ours. */
static void print_body(slice body, struct buf *out)
{
    slice shown = {body.p, body.n < BODY_SHOWN ? body.n : BODY_SHOWN}, line;
    size_t told = 0;
    for (int i = 0; i < BODY_LINES && slice_cut(&shown, '\n', &line); i++) {
        told += line.n + 1;
        if (!shown.p && line.n == 0)
            break;
        buf_adds(out, "  | ");
        escape_line(line, out);
        buf_addc(out, '\n');
    }
    if (told < body.n)
        buf_addf(out, "  ... %zu bytes in all\n", body.n);
}

static void print_client(const struct run *run, const struct style *style, struct buf *out)
{
    bool command = outcome_kind(run->verdict.status) == OUT_EXIT;
    buf_addf(out, "%s %s", command ? "the command ended with" : "the client got", style->bold);
    outcome_print(run->verdict.status, out);
    buf_addf(out, "%s after ", style->off);
    buf_add_ns(out, run->took_ns < 1000000 ? run->took_ns : run->took_ns / 1000000 * 1000000);
    buf_adds(out, run->body.n ? ":\n" : "\n");
    print_body(run->body, out);
    if (run->event)
        buf_addf(out, "%s%s%s\n", style->red, run->event, style->off);
}

static void print_verdict(const struct run *plain, const struct run *faulty,
                          const struct style *style, struct buf *out)
{
    const struct verdict *v = &faulty->verdict;
    if (v->pass)
        buf_addf(out, "%sas expected%s\n", style->green, style->off);
    else
        buf_addf(out, "%sNOT as expected%s: %s%s%s%s\n", style->red, style->off, v->why,
                 v->detail ? " (" : "", v->detail ? v->detail : "", v->detail ? ")" : "");
    if (!plain->verdict.pass)
        buf_addf(out, "%sThe run without faults fails too%s: %s\n", style->yellow, style->off,
                 plain->verdict.why);
}

void report_replay(const struct summary *s, const struct run *plain, const struct run *faulty,
                   const struct style *style, struct buf *out)
{
    struct comparing x = {
        .d = {.names = s->names, .style = style, .out = out, .left = LINES_MAX},
    };
    side_init(&x.plain, &plain->trace, s->names);
    side_init(&x.faulty, &faulty->trace, s->names);
    draw_both(&x);
    buf_addc(out, '\n');
    print_marks(&x, out);
    print_client(faulty, style, out);
    print_verdict(plain, faulty, style, out);
    for (uint32_t i = 0; i < s->remarks.n; i++) {
        const struct remark *r = &s->remarks.at[i];
        buf_addf(out, "%s%s%s: %s: %s\n",
                 r->severity == SEVERITY_FINDING ? style->red : style->yellow,
                 severity_names[r->severity], style->off, r->oracle, r->why);
    }
    side_deinit(&x.plain);
    side_deinit(&x.faulty);
}

/* ---- findings ---- */

void report_shown(const struct replayed *r, const struct style *style, struct buf *out)
{
    struct buf why = BUF_INIT(1 << 12);
    escape_line(slice_of(r->why), &why);
    if (r->shows)
        buf_addf(out, "%sfinding %s shows again%s: %s\n", style->red, r->id, style->off,
                 buf_text(&why));
    else if (r->unsure)
        buf_addf(out, "%sfinding %s does not show here, which proves nothing%s: %s\n",
                 style->yellow, r->id, style->off,
                 r->unfired ? "not every fault fired"
                            : "one run alone cannot show it; run the campaign again");
    else
        buf_addf(out, "%sfinding %s does not show any more%s: %s\n", style->green, r->id,
                 style->off, buf_text(&why));
    buf_deinit(&why);
}

void report_replays(const struct replays *all, struct buf *out)
{
    uint32_t shown = 0, unsure = 0, n = all->list.n;
    for (uint32_t i = 0; i < n; i++) {
        shown += all->list.at[i].shows;
        unsure += all->list.at[i].unsure;
    }
    if (!n) {
        buf_adds(out, "the stored campaign has no findings\n");
        return;
    }
    uint32_t gone = n - shown - unsure;
    buf_addf(out, "%u finding%s replayed: %u show%s again", (unsigned)n, n == 1 ? "" : "s",
             (unsigned)shown, shown == 1 ? "s" : "");
    if (gone)
        buf_addf(out, ", %u %s not show any more", (unsigned)gone, gone == 1 ? "does" : "do");
    if (unsure)
        buf_addf(out, ", %u uncertain", (unsigned)unsure);
    buf_addc(out, '\n');
}
