/* SPDX-License-Identifier: Apache-2.0
 *
 * Two results of plans beside each other: what holds no longer, what holds now, and the figures. A
 * plan may have several runs with faults: an expectation holds when it holds in all of them, and a
 * figure is the median of them. */
#include <math.h>
#include <stdlib.h>

#include "report/plan_int.h"

enum { NAME_WIDTH = 24, FIGURE_WIDTH = 12 };

static const double UNKNOWN = -1;

/* To be used as a VEC. */
struct expected {
    slice *at;
    uint32_t n, cap;
};

/* ---- expectations ---- */

/* The worst of all runs with faults; -1: nobody says anything of it. */
static int worst(const struct node *doc, slice name)
{
    static const int rank[] = {[ANSWER_HOLDS] = 0, [ANSWER_UNSURE] = 1, [ANSWER_VIOLATED] = 2};
    const struct node *runs = doc_list(doc, "runs");
    int found = -1;
    for (uint32_t i = 0; i < runs->n; i++) {
        const struct node *answers = doc_list(runs->list[i], "expectations");
        for (uint32_t k = 0; doc_faulty(runs->list[i]) && k < answers->n; k++) {
            enum answer_verdict v = doc_answer(answers->list[k]);
            if (slice_eq(doc_text(answers->list[k], "name"), name) &&
                (found < 0 || rank[v] > rank[found]))
                found = (int)v;
        }
    }
    return found;
}

static void take_names(const struct node *doc, struct expected *out)
{
    const struct node *runs = doc_list(doc, "runs");
    for (uint32_t i = 0; i < runs->n; i++) {
        const struct node *answers = doc_list(runs->list[i], "expectations");
        for (uint32_t k = 0; doc_faulty(runs->list[i]) && k < answers->n; k++) {
            slice name = doc_text(answers->list[k], "name");
            bool known = false;
            for (uint32_t m = 0; m < out->n && !known; m++)
                known = slice_eq(out->at[m], name);
            if (!known)
                vec_push(out, name);
        }
    }
}

/* What has become of an expectation: what it was, and is; below 0: it is not there. */
static const char *change_word(int was, int now)
{
    return now < 0               ? "NOT CHECKED"
           : was < 0             ? "NEW        "
           : now == ANSWER_HOLDS ? "HOLDS NOW  "
           : was == ANSWER_HOLDS ? "NO LONGER  "
                                 : "CHANGED    ";
}

static void compare_answers(const struct node *doc, const struct node *other,
                            const struct style *style, struct buf *out)
{
    static const char *const states[] = {"held", "was violated", "was not sure"};
    static const char *const words[] = {"holds", "is violated", "is not sure"};
    struct expected names = {0};
    uint32_t same = 0;
    take_names(doc, &names);
    take_names(other, &names);
    for (uint32_t i = 0; i < names.n; i++) {
        int now = worst(doc, names.at[i]), was = worst(other, names.at[i]);
        same += now == was;
        if (now == was)
            continue;
        bool better = now == ANSWER_HOLDS, gone = now < 0;
        const char *colour = gone || was < 0 ? "" : better ? style->green : style->red;
        buf_addf(out, "  %s%s%s  %.*s: ", colour, change_word(was, now), *colour ? style->off : "",
                 SLICE_ARG(names.at[i]));
        buf_addf(out, "%s%s%s\n", was < 0 ? "was not expected" : states[was], gone ? "" : ", ",
                 gone ? "" : words[now]);
    }
    if (same)
        buf_addf(out, "  %u %s as before\n", same,
                 plural(same, "expectation is", "expectations are"));
    vec_deinit(&names);
}

/* ---- figures ---- */

static double rate_of(const struct node *run)
{
    double s = (doc_number(run, "to_ms") - doc_number(run, "from_ms")) / 1e3;
    return s > 0 ? doc_number(run, "operations") / s : UNKNOWN;
}

static double failed_of(const struct node *run)
{
    double n = doc_number(run, "operations");
    return n > 0 ? 100 * doc_number(run, "failures") / n : UNKNOWN;
}

static double latency_of(const struct node *run, const char *key)
{
    const struct node *latency = node_get(run, SLICE("latency"));
    return latency && latency->type == NODE_MAP ? doc_number(latency, key) : UNKNOWN;
}

static double p50_of(const struct node *run)
{
    return latency_of(run, "p50_ms");
}

static double p99_of(const struct node *run)
{
    return latency_of(run, "p99_ms");
}

/* The longest stretch of columns without a success, as precise as these are. */
static double gap_of(const struct node *run)
{
    const struct node *series = doc_list(run, "series");
    double since = doc_number(run, "from_ms"), most = 0;
    for (uint32_t i = 0; i < series->n; i++) {
        double end =
            i + 1 < series->n ? doc_number(series->list[i + 1], "at_ms") : doc_number(run, "to_ms");
        if (doc_number(series->list[i], "ok") > 0)
            since = end;
        most = fmax(most, end - since);
    }
    return series->n ? most : UNKNOWN;
}

static const struct {
    const char *name;
    double (*of)(const struct node *run);
    bool ms;
} figures[] = {{"operations per second", rate_of, false},
               {"failed, percent", failed_of, false},
               {"latency p50", p50_of, true},
               {"latency p99", p99_of, true},
               {"without a success, about", gap_of, true}};

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* UNKNOWN: there are none. */
static double median_of(const struct node *doc, bool faulty, double (*of)(const struct node *run))
{
    const struct node *runs = doc_list(doc, "runs");
    VEC(double) values = {0};
    for (uint32_t i = 0; i < runs->n; i++) {
        double value = doc_faulty(runs->list[i]) == faulty && !doc_text(runs->list[i], "broken").n
                           ? of(runs->list[i])
                           : UNKNOWN;
        if (value >= 0)
            vec_push(&values, value);
    }
    double median = UNKNOWN;
    if (values.n) {
        qsort(values.at, values.n, sizeof *values.at, compare_doubles);
        median = values.at[(values.n - 1) / 2];
    }
    vec_deinit(&values);
    return median;
}

static void add_figure(struct buf *out, double value, bool ms)
{
    struct buf text = BUF_INIT(40);
    if (value < 0)
        buf_addc(&text, '-');
    else if (ms)
        doc_add_ms(&text, value);
    else
        buf_addf(&text, "%.*f", value < 10 ? 2 : value < 100 ? 1 : 0, value);
    buf_addf(out, "%*s", FIGURE_WIDTH, buf_text(&text));
    buf_deinit(&text);
}

static void compare_figures(const struct node *doc, const struct node *other, struct buf *out)
{
    buf_addf(out, "  %-*s%*s%*s%*s%*s\n", NAME_WIDTH, "", FIGURE_WIDTH, "faulty was", FIGURE_WIDTH,
             "is", 16, "reference was", FIGURE_WIDTH, "is");
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        buf_addf(out, "  %-*s", NAME_WIDTH, figures[i].name);
        add_figure(out, median_of(other, true, figures[i].of), figures[i].ms);
        add_figure(out, median_of(doc, true, figures[i].of), figures[i].ms);
        buf_addf(out, "%*s", 16 - FIGURE_WIDTH, "");
        add_figure(out, median_of(other, false, figures[i].of), figures[i].ms);
        add_figure(out, median_of(doc, false, figures[i].of), figures[i].ms);
        buf_addc(out, '\n');
    }
}

void plan_document_compare(const struct node *doc, const struct node *other,
                           const struct style *style, struct buf *out)
{
    slice was = doc_text(other, "verdict"), now = doc_text(doc, "verdict");
    slice plan = doc_text(doc, "plan"), earlier = doc_text(other, "plan");
    slice began = doc_text(other, "began");
    buf_addf(out, "%scompared with%s %.*s of %.*s: %.*s then, %.*s now\n", style->bold, style->off,
             SLICE_ARG(earlier), SLICE_ARG(began), SLICE_ARG(was), SLICE_ARG(now));
    if (!slice_eq(plan, earlier))
        buf_addf(out, "  this is %.*s, another plan\n", SLICE_ARG(plan));
    compare_answers(doc, other, style, out);
    compare_figures(doc, other, out);
}
