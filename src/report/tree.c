/* SPDX-License-Identifier: Apache-2.0
 *
 * One run as a tree of calls, in causal order. */
#include "report/tree_int.h"

enum { NAME_COLUMNS = 66, NAME_LEAST = 20 };

static void emit(const struct drawing *d, const struct buf *line)
{
    if (d->out)
        fputs(buf_text(line), d->out);
    else if (d->text)
        buf_add(d->text, buf_slice(line));
}

static void add_outcome(const struct drawing *d, outcome o, struct buf *line)
{
    buf_adds(line, outcome_ok(o) ? d->style->green : d->style->red);
    if (outcome_kind(o) == OUT_NONE)
        buf_adds(line, "not ended");
    else
        outcome_print(o, line);
    buf_adds(line, d->style->off);
}

static void add_injected(const struct call *c, struct buf *line)
{
    buf_adds(line, "  <- injected ");
    mode_print(c->mode, line);
    if (c->handled) {
        buf_adds(line, " (the service answered ");
        outcome_print(c->reply, line);
        buf_addc(line, ')');
    }
}

void tree_line(struct drawing *d, const struct call *c, const char *mark, const char *indent,
               const char *branch, outcome was)
{
    struct buf line = BUF_INIT(1 << 17), name = BUF_INIT(1 << 16);
    if (d->left == 0) {
        d->more++;
        return;
    }
    d->left--;
    element_print(d->names, uid_element(d->names, c->uid), &name);
    int width = NAME_COLUMNS - (int)(strlen(indent) + strlen(branch));
    buf_addf(&line, "%s%s%s%-*s  ", mark, indent, branch, width > NAME_LEAST ? width : NAME_LEAST,
             buf_text(&name));
    add_outcome(d, c->seen, &line);
    if (c->mode != MODE_NONE)
        add_injected(c, &line);
    if (was != OUTCOME(OUT_NONE, 0)) {
        buf_adds(&line, "  (was ");
        outcome_print(was, &line);
        buf_addc(&line, ')');
    }
    buf_addc(&line, '\n');
    emit(d, &line);
    buf_deinit(&line);
    buf_deinit(&name);
}

void tree_end(const struct drawing *d, const char *indent)
{
    struct buf line = BUF_INIT(1 << 12);
    if (!d->more)
        return;
    buf_addf(&line, "%s... and %u more %s\n", indent, (unsigned)d->more,
             plural(d->more, "call", "calls"));
    emit(d, &line);
    buf_deinit(&line);
}

static void draw_below(struct drawing *d, const struct trace *trace,
                       const struct trace_order *order, uint32_t call, const char *indent)
{
    uint32_t end = order->first.at[call + 1];
    for (uint32_t i = order->first.at[call]; i < end; i++) {
        bool last = i + 1 == end;
        struct buf deeper = BUF_INIT(1024);
        uint32_t child = order->child.at[i];
        tree_line(d, &trace->calls.at[child], "", indent, last ? "`- " : "|- ",
                  OUTCOME(OUT_NONE, 0));
        buf_addf(&deeper, "%s%s", indent, last ? "   " : "|  ");
        draw_below(d, trace, order, child, buf_text(&deeper));
        buf_deinit(&deeper);
    }
}

static void draw(struct drawing *d, const struct trace *trace, const char *indent)
{
    struct trace_order order = {0};
    if (trace->calls.n == 0)
        return;
    trace_order(trace, d->names, &order);
    tree_line(d, &trace->calls.at[0], "", indent, "", OUTCOME(OUT_NONE, 0));
    draw_below(d, trace, &order, 0, indent);
    tree_end(d, indent);
    trace_order_deinit(&order);
}

void tree_text(const struct trace *trace, const struct names *names, uint32_t most, struct buf *out)
{
    struct drawing d = {.names = names, .style = &style_plain, .text = out, .left = most};
    draw(&d, trace, "");
}

void report_calls(const struct trace *trace, const struct names *names, const char *indent,
                  uint32_t most, const struct style *style, FILE *out)
{
    struct drawing d = {.names = names, .style = style, .out = out, .left = most};
    draw(&d, trace, indent);
}

void report_tree(const struct trace *trace, const struct names *names,
                 const struct verdict *verdict, const struct node *body, const struct style *style,
                 FILE *out)
{
    report_calls(trace, names, "", UINT32_MAX, style, out);
    if (body && body->type != NODE_NULL) {
        struct buf text = BUF_INIT(1 << 20);
        node_print(body, &text);
        fprintf(out, "body: %s\n", buf_text(&text));
        buf_deinit(&text);
    }
    if (verdict->pass)
        fprintf(out, "%sas expected%s\n", style->green, style->off);
    else
        fprintf(out, "%sNOT as expected%s: %s\n", style->red, style->off, verdict->why);
}
