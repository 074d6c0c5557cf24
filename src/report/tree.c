/* SPDX-License-Identifier: Apache-2.0
 *
 * One run as a tree of calls, in causal order; and one with faults next to one without, as a single
 * tree. There calls are the same when their uids are, and a mark stands before each line:
 *
 *   !  a fault was injected here
 *   +  the call is not made without faults
 *   -  the call is only made without faults
 *   ~  its caller sees something else than without faults
 *
 * The requests of a command are numbered, in the order of the run that is shown. */
#include "base/clock.h"
#include "base/index.h"
#include "report/escape.h"
#include "report/report.h"
#include "report/words.h"

enum { NAME_COLUMNS = 66, NAME_LEAST = 20, LINES_MAX = 2000, BODY_SHOWN = 2048, BODY_LINES = 40 };

enum mark { MARK_SAME, MARK_INJECTED, MARK_NEW, MARK_GONE, MARK_CHANGED, MARKS };

static const char *const mark_text[MARKS] = {"  ", "! ", "+ ", "- ", "~ "};
static const char *const mark_words[MARKS] = {NULL, "injected", "only with faults",
                                              "only without faults", "with a different outcome"};

/* One of the two runs. */
struct side {
    const struct trace *trace;
    struct trace_order order;
    struct map at; /* uid -> index of its call */
};

struct drawing {
    const struct names *names;
    const struct style *style;
    struct buf *out;
    uint32_t left; /* lines that may still be printed */
    uint32_t more; /* calls that had no line left */
    bool alone;    /* one run: it is next to itself, and has no marks */
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

/* ---- lines ---- */

/* number: of a request that a command made; 0: it is none. */
static void draw_line(struct drawing *d, const struct call *c, bool gone, uint32_t number,
                      const char *indent, const char *branch)
{
    struct buf name = BUF_INIT(1 << 16);
    const struct call *was = gone ? NULL : same_call(&d->plain, c);
    bool changed = was && was->seen != c->seen;
    enum mark mark = gone                   ? MARK_GONE
                     : c->mode != MODE_NONE ? MARK_INJECTED
                     : !was                 ? MARK_NEW
                     : changed              ? MARK_CHANGED
                                            : MARK_SAME;
    d->count[mark]++;
    if (d->left == 0) {
        d->more++;
        return;
    }
    d->left--;
    if (number)
        buf_addf(&name, "%u. ", (unsigned)number);
    element_print(d->names, uid_element(d->names, c->uid), &name);
    int width = NAME_COLUMNS - (int)(strlen(indent) + strlen(branch));
    buf_addf(d->out, "%s%s%s%-*s  ", d->alone ? "" : mark_text[mark], indent, branch,
             width > NAME_LEAST ? width : NAME_LEAST, buf_text(&name));
    buf_adds(d->out, outcome_ok(c->seen) ? d->style->green : d->style->red);
    if (outcome_kind(c->seen) == OUT_NONE)
        buf_adds(d->out, "not ended");
    else
        outcome_print(c->seen, d->out);
    buf_adds(d->out, d->style->off);
    if (c->mode != MODE_NONE) {
        buf_adds(d->out, "  <- injected ");
        mode_print(c->mode, d->out);
    }
    if (c->mode != MODE_NONE && c->handled)
        words_add(d->out, d->names, " (the service answered %o)", c->reply);
    if (changed)
        words_add(d->out, d->names, "  (was %o)", was->seen);
    buf_addc(d->out, '\n');
    buf_deinit(&name);
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

/* Where the children of a call begin; their end is that of the next call. */
static uint32_t first_of(const struct side *side, uint32_t call, uint32_t next)
{
    return call == CALL_NONE ? 0 : side->order.first.at[call + next];
}

static void merge(const struct drawing *d, uint32_t faulty, uint32_t plain, struct children *out)
{
    const struct call *old = d->plain.trace->calls.at, *new = d->faulty.trace->calls.at;
    const uint32_t *in_plain = d->plain.order.child.at, *in_faulty = d->faulty.order.child.at;
    uint32_t at = first_of(&d->plain, plain, 0), end = first_of(&d->plain, plain, 1);
    uint32_t i = first_of(&d->faulty, faulty, 0), n = first_of(&d->faulty, faulty, 1);
    for (bool more = true; more; i++) {
        more = i < n;
        uint32_t to = more ? at : end; /* those before this one; at the end the rest */
        for (uint32_t k = at; more && k < end && to == at; k++)
            to = old[in_plain[k]].uid == new[in_faulty[i]].uid ? k : to;
        for (; at < to; at++)
            if (!same_call(&d->faulty, &old[in_plain[at]]))
                vec_push(&out->list, (struct child){in_plain[at], true});
        if (more)
            vec_push(&out->list, (struct child){in_faulty[i], false});
    }
}

/* What is below a call of either run, or of both. */
static void draw_below(struct drawing *d, uint32_t faulty, uint32_t plain, const char *indent)
{
    struct children children = {0};
    uint32_t requests = 0;
    merge(d, faulty, plain, &children);
    for (uint32_t i = 0; i < children.list.n; i++) {
        struct child child = children.list.at[i];
        bool last = i + 1 == children.list.n;
        const struct side *side = child.gone ? &d->plain : &d->faulty;
        const struct call *c = &side->trace->calls.at[child.call];
        struct buf deeper = BUF_INIT(1024);
        bool request = !child.gone && call_is_request(c);
        requests += request;
        draw_line(d, c, child.gone, request ? requests : 0, indent, last ? "`- " : "|- ");
        buf_addf(&deeper, "%s%s", indent, last ? "   " : "|  ");
        const uint32_t *in_plain = child.gone ? &child.call : map_get(&d->plain.at, c->uid);
        draw_below(d, child.gone ? CALL_NONE : child.call, in_plain ? *in_plain : CALL_NONE,
                   buf_text(&deeper));
        buf_deinit(&deeper);
    }
    vec_deinit(&children.list);
}

static void draw(struct drawing *d, const struct trace *plain, const struct trace *faulty,
                 const char *indent)
{
    if (faulty->calls.n == 0)
        return;
    side_init(&d->plain, plain, d->names);
    side_init(&d->faulty, faulty, d->names);
    draw_line(d, &faulty->calls.at[0], false, 0, indent, "");
    draw_below(d, 0, plain->calls.n ? 0 : CALL_NONE, indent);
    if (d->more)
        buf_addf(d->out, "%s... and %u more %s\n", indent, (unsigned)d->more,
                 plural(d->more, "call", "calls"));
    side_deinit(&d->plain);
    side_deinit(&d->faulty);
}

/* ---- one run ---- */

void report_calls(const struct trace *trace, const struct names *names, const char *indent,
                  uint32_t most, const struct style *style, struct buf *out)
{
    struct drawing d = {.names = names, .style = style, .out = out, .left = most, .alone = true};
    draw(&d, trace, trace, indent);
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
        buf_addf(out, "  ... %zu bytes in total\n", body.n);
}

void report_replay(const struct summary *s, const struct run *plain, const struct run *faulty,
                   const struct style *style, struct buf *out)
{
    struct drawing d = {.names = s->names, .style = style, .out = out, .left = LINES_MAX};
    const struct verdict *v = &faulty->verdict;
    draw(&d, &plain->trace, &faulty->trace, "");
    buf_adds(out, faulty->trace.calls.n ? "\n" : "no call was seen\n\n");
    const char *before = "calls: ";
    for (int i = 1; i < MARKS; i++)
        if (d.count[i]) {
            buf_addf(out, "%s%u %s (%c)", before, (unsigned)d.count[i], mark_words[i],
                     mark_text[i][0]);
            before = ", ";
        }
    buf_adds(out, before[0] == ',' ? "\n" : "calls: as without faults\n");
    bool command = outcome_kind(v->status) == OUT_EXIT;
    buf_addf(out, "%s%s", command ? "the command ended with " : "the client got ", style->bold);
    words_got(v->status, out);
    buf_addf(out, "%s after ", style->off);
    buf_add_ns(out, faulty->took_ns < MS(1) ? faulty->took_ns : faulty->took_ns / MS(1) * MS(1));
    buf_adds(out, faulty->body.n ? ":\n" : "\n");
    print_body(faulty->body, out);
    if (faulty->event)
        buf_addf(out, "%s%s%s\n", style->red, faulty->event, style->off);
    if (v->pass)
        buf_addf(out, "%sas expected%s\n", style->green, style->off);
    else
        buf_addf(out, "%sNOT as expected%s: %s%s%s%s\n", style->red, style->off, v->why,
                 v->detail ? " (" : "", v->detail ? v->detail : "", v->detail ? ")" : "");
    if (!plain->verdict.pass)
        buf_addf(out, "%sThe run without faults fails too%s: %s\n", style->yellow, style->off,
                 plain->verdict.why);
    for (uint32_t i = 0; i < s->remarks.n; i++) {
        const struct remark *r = &s->remarks.at[i];
        buf_addf(out, "%s%s%s: %s: %s\n",
                 r->severity == SEVERITY_FINDING ? style->red : style->yellow,
                 severity_names[r->severity], style->off, r->oracle, r->why);
    }
}

/* ---- findings ---- */

void report_shown(const struct replayed *r, const struct style *style, struct buf *out)
{
    struct buf why = BUF_INIT(1 << 12);
    escape_line(slice_of(r->why), &why);
    if (r->shows)
        buf_addf(out, "%sfinding %s still occurs%s: %s\n", style->red, r->id, style->off,
                 buf_text(&why));
    else if (r->unsure)
        buf_addf(out, "%sfinding %s did not occur here, which proves nothing%s: %s\n",
                 style->yellow, r->id, style->off,
                 r->unfired ? "not every fault fired"
                            : "one run alone cannot show it; run the campaign again");
    else
        buf_addf(out, "%sfinding %s no longer occurs%s: %s\n", style->green, r->id, style->off,
                 buf_text(&why));
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
    buf_addf(out, "%u finding%s replayed: %u still occur%s", (unsigned)n, n == 1 ? "" : "s",
             (unsigned)shown, shown == 1 ? "s" : "");
    if (gone)
        buf_addf(out, ", %u no longer occur%s", (unsigned)gone, gone == 1 ? "s" : "");
    if (unsure)
        buf_addf(out, ", %u uncertain", (unsigned)unsure);
    buf_addc(out, '\n');
}
