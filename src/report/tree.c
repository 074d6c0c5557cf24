/* SPDX-License-Identifier: Apache-2.0
 *
 * One run as a tree of calls, in causal order. */
#include "report/report.h"

struct drawing {
    const struct trace *trace;
    const struct names *names;
    const struct style *style;
    struct trace_order order;
    uint32_t left; /* lines that may still be printed */
    uint32_t more; /* calls that had no line left */
    FILE *out;
};

static void print_line(const struct drawing *d, const struct call *c, const char *indent,
                       const char *branch)
{
    struct buf name = BUF_INIT(1 << 16), seen = BUF_INIT(256);
    element_print(d->names, uid_element(d->names, c->uid), &name);
    outcome_print(c->seen, &seen);
    int width = 66 - (int)(strlen(indent) + strlen(branch));
    fprintf(d->out, "%s%s%-*s  %s%s%s", indent, branch, width > 20 ? width : 20, buf_text(&name),
            outcome_ok(c->seen) ? d->style->green : d->style->red, buf_text(&seen), d->style->off);
    if (c->mode != MODE_NONE) {
        buf_clear(&seen);
        mode_print(c->mode, &seen);
        fprintf(d->out, "  <- injected %s", buf_text(&seen));
        if (c->handled) {
            buf_clear(&seen);
            outcome_print(c->reply, &seen);
            fprintf(d->out, " (the service answered %s)", buf_text(&seen));
        }
    }
    fputc('\n', d->out);
    buf_deinit(&name);
    buf_deinit(&seen);
}

static void print_below(struct drawing *d, uint32_t call, const char *indent)
{
    uint32_t end = d->order.first.at[call + 1];
    for (uint32_t i = d->order.first.at[call]; i < end; i++) {
        bool last = i + 1 == end;
        struct buf deeper = BUF_INIT(1024);
        uint32_t child = d->order.child.at[i];
        if (d->left > 0) {
            d->left--;
            print_line(d, &d->trace->calls.at[child], indent, last ? "`- " : "|- ");
        } else {
            d->more++;
        }
        buf_addf(&deeper, "%s%s", indent, last ? "   " : "|  ");
        print_below(d, child, buf_text(&deeper));
        buf_deinit(&deeper);
    }
}

void report_calls(const struct trace *trace, const struct names *names, const char *indent,
                  uint32_t most, const struct style *style, FILE *out)
{
    struct drawing d = {.trace = trace, .names = names, .style = style, .left = most, .out = out};
    if (trace->calls.n == 0)
        return;
    trace_order(trace, names, &d.order);
    print_line(&d, &trace->calls.at[0], indent, "");
    print_below(&d, 0, indent);
    trace_order_deinit(&d.order);
    if (d.more)
        fprintf(out, "%s... and %u more calls\n", indent, (unsigned)d.more);
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
