/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of a plan for the summary of a CI job, as Markdown; and annotations for GitHub, at the
 * lines of the plan. What does not fit is left out and counted. */
#include "report/escape.h"
#include "report/plan_int.h"

enum { RUNS_MAX = 100, FAULTS_MAX = 100, SENTENCE_MAX = 2000, ANNOTATIONS_MAX = 10 };

/* A sentence: bounded, and one line. */
static void add_sentence(slice text, struct buf *out)
{
    struct buf escaped = BUF_INIT(SENTENCE_MAX);
    escape_markdown(text, &escaped);
    buf_add(out, buf_slice(&escaped));
    if (escaped.full)
        buf_adds(out, " ...");
    buf_deinit(&escaped);
}

static void add_code(slice text, struct buf *out)
{
    struct buf code = BUF_INIT(SIZE_MAX);
    escape_code(text, "", &code);
    buf_add(out, buf_slice(&code));
    buf_deinit(&code);
}

static void add_answers(const struct node *run, struct buf *out)
{
    static const char *const signs[] = {":white_check_mark: holds", ":x: **violated**",
                                        ":warning: not sure"};
    const struct node *answers = doc_list(run, "expectations");
    if (answers->n)
        buf_adds(out, "| expectation | | seen |\n|---|---|---|\n");
    for (uint32_t i = 0; i < answers->n; i++) {
        buf_adds(out, "| ");
        add_sentence(doc_text(answers->list[i], "name"), out);
        buf_addf(out, " | %s | ", signs[doc_answer(answers->list[i])]);
        add_sentence(doc_text(answers->list[i], "seen"), out);
        buf_adds(out, " |\n");
    }
    buf_addc(out, '\n');
}

static void add_faults(const struct node *run, struct buf *out)
{
    const struct node *faults = doc_list(run, "faults");
    for (uint32_t i = 0; i < faults->n && i < FAULTS_MAX; i++) {
        const struct node *fault = faults->list[i];
        slice failed = doc_text(fault, "failed");
        buf_adds(out, "- ");
        add_sentence(doc_text(fault, "event"), out);
        buf_adds(out, ": ");
        add_sentence(doc_text(fault, "what"), out);
        if (failed.n) {
            buf_adds(out, ". :warning: It did not happen as planned: ");
            add_sentence(failed, out);
        } else {
            buf_adds(out, ", from ");
            doc_add_ms(out, doc_number(fault, "begin_ms"));
            buf_adds(out, " to ");
            doc_add_ms(out, doc_number(fault, "end_ms"));
            buf_addf(out, "; %.0f of %.0f operations failed meanwhile",
                     doc_number(fault, "failures"), doc_number(fault, "operations"));
        }
        buf_addc(out, '\n');
    }
    if (faults->n > FAULTS_MAX)
        buf_addf(out, "- ... and %u more\n", faults->n - FAULTS_MAX);
    if (faults->n)
        buf_addc(out, '\n');
}

static void add_run(const struct node *run, struct buf *out)
{
    slice broken = doc_text(run, "broken");
    buf_adds(out, "### ");
    add_sentence(doc_text(run, "name"), out);
    buf_addf(out, ": %s\n\n",
             broken.n                 ? "not carried out"
             : doc_bool(run, "holds") ? "all holds"
                                      : "not as expected");
    if (broken.n) {
        add_sentence(broken, out);
        buf_adds(out, "\n\n");
        return;
    }
    buf_addf(out, "%.0f operations, %.0f failed", doc_number(run, "operations"),
             doc_number(run, "failures"));
    const struct node *latency = node_get(run, SLICE("latency"));
    if (latency && latency->type == NODE_MAP) {
        buf_adds(out, "; latency p50 ");
        doc_add_ms(out, doc_number(latency, "p50_ms"));
        buf_adds(out, ", p99 ");
        doc_add_ms(out, doc_number(latency, "p99_ms"));
    }
    buf_adds(out, "\n\n");
    add_faults(run, out);
    add_answers(run, out);
}

void plan_document_markdown(const struct node *doc, struct buf *out)
{
    static const char *const signs[] = {[PLAN_HOLDS] = ":white_check_mark:",
                                        [PLAN_VIOLATED] = ":x:",
                                        [PLAN_UNSURE] = ":warning:",
                                        [PLAN_SICK] = ":x:"};
    const struct node *runs = doc_list(doc, "runs");
    buf_adds(out, "## Failure plan ");
    add_sentence(doc_text(doc, "plan"), out);
    buf_addf(out, "\n\n%s %s\n\n", signs[plan_document_verdict(doc)], doc_sentence(doc));
    if (doc_text(doc, "about").n) {
        add_sentence(doc_text(doc, "about"), out);
        buf_adds(out, "\n\n");
    }
    for (uint32_t i = 0; i < runs->n && i < RUNS_MAX; i++)
        add_run(runs->list[i], out);
    if (runs->n > RUNS_MAX)
        buf_addf(out, "... and %u more runs\n\n", runs->n - RUNS_MAX);
    add_code(doc_text(doc, "command"), out);
}

/* ---- annotations ---- */

static void annotate(const struct node *doc, bool warning, double line, slice title, slice message,
                     struct buf *out)
{
    buf_addf(out, "::%s file=", warning ? "warning" : "error");
    escape_github(doc_text(doc, "file"), true, out);
    buf_addf(out, ",line=%.0f,title=", line >= 1 ? line : 1);
    escape_github(title, true, out);
    buf_adds(out, "::");
    escape_github(message, false, out);
    buf_addc(out, '\n');
}

static void annotate_run(const struct node *doc, const struct node *run, uint32_t *n,
                         struct buf *out)
{
    const struct node *answers = doc_list(run, "expectations");
    slice plan = doc_text(doc, "plan"), name = doc_text(run, "name");
    struct buf title = BUF_INIT(SENTENCE_MAX), why = BUF_INIT(SENTENCE_MAX);
    buf_add(&why, doc_text(run, "broken"));
    for (uint32_t i = 0; why.n || doc_failed_fault(run, &i, &why); buf_clear(&why)) {
        buf_clear(&title);
        buf_addf(&title, "%.*s / %.*s is inconclusive", SLICE_ARG(plan), SLICE_ARG(name));
        if ((*n)++ < ANNOTATIONS_MAX)
            annotate(doc, true, 1, buf_slice(&title), buf_slice(&why), out);
    }
    for (uint32_t i = 0; i < answers->n; i++) {
        enum answer_verdict v = doc_answer(answers->list[i]);
        slice expect = doc_text(answers->list[i], "name");
        if (v == ANSWER_HOLDS || (*n)++ >= ANNOTATIONS_MAX)
            continue;
        buf_clear(&title);
        buf_addf(&title, "%.*s / %.*s: %.*s %s", SLICE_ARG(plan), SLICE_ARG(name),
                 SLICE_ARG(expect), v == ANSWER_UNSURE ? "is not sure" : "is violated");
        annotate(doc, v == ANSWER_UNSURE, doc_number(answers->list[i], "line"), buf_slice(&title),
                 doc_text(answers->list[i], "seen"), out);
    }
    buf_deinit(&title);
    buf_deinit(&why);
}

void plan_document_github(const struct node *doc, struct buf *out)
{
    const struct node *runs = doc_list(doc, "runs");
    uint32_t n = 0;
    for (uint32_t i = 0; i < runs->n; i++)
        annotate_run(doc, runs->list[i], &n, out);
    if (n > ANNOTATIONS_MAX)
        buf_addf(out, "::notice title=outfox::%u more %s no annotation\n", n - ANNOTATIONS_MAX,
                 plural(n - ANNOTATIONS_MAX, "sentence has", "sentences have"));
}
