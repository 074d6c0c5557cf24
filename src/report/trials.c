/* SPDX-License-Identifier: Apache-2.0
 *
 * The document of trials, read again and printed: for people, for CI, for browsers. What is not there, or
 * of another type, is empty, 0 or false. */
#include "report/trials.h"

#include "data/json.h"
#include "report/escape.h"
#include "report/plan_int.h"

int trials_document_read(struct arena *a, const char *file, slice bytes, const struct node **out,
                         struct err *e)
{
    if (node_parse_json(a, bytes, out) || !slice_is(doc_text(*out, "kind"), "trials"))
        return err_set(e, 0, 0,
                       "%s is no result of trials; outfox trials run FILE makes one, as "
                       ".outfox/trials/NAME/result.json",
                       file);
    if (doc_number(*out, "schema_version") > REPORT_SCHEMA_VERSION)
        return err_set(e, 0, 0, "%s was written by a later version of outfox", file);
    return 0;
}

static uint64_t whole(const struct node *map, const char *key)
{
    double n = doc_number(map, key);
    return n > 0 ? (uint64_t)n : 0;
}

const struct node *trials_document_finding(const struct node *doc, uint64_t number)
{
    const struct node *findings = doc_list(doc, "findings");
    for (uint32_t i = 0; i < findings->n; i++)
        if (whole(findings->list[i], "number") == number)
            return findings->list[i];
    return NULL;
}

/* ---- words ---- */

static const struct node *map_at(const struct node *map, const char *key)
{
    const struct node *value = node_get(map, slice_of(key));
    return value && value->type == NODE_MAP ? value : &node_null;
}

static void add_place(const struct node *p, struct buf *out)
{
    slice function = doc_text(p, "function"), file = doc_text(p, "file");
    escape_line(function.n ? function : SLICE("?"), out);
    if (file.n) {
        buf_adds(out, "  ");
        escape_line(file, out);
        buf_addf(out, ":%.0f", doc_number(p, "line"));
    }
}

/* "again 3 of 3; it shows in other states (2 of 2), not with other errors (0 of 3)" */
static void add_confirmed(const struct node *f, struct buf *out)
{
    static const struct {
        const char *key, *words;
    } rows[] = {{"state", "in other states"},
                {"caller", "for other callers"},
                {"nth", "at other times"},
                {"error", "with other errors"},
                {"site", "at other sites in the same state"}};
    const struct node *again = map_at(f, "again"), *varied = map_at(f, "varied");
    buf_addf(out, "again: %.0f of %.0f", doc_number(again, "shown"), doc_number(again, "tried"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct node *v = map_at(varied, rows[i].key);
        if (doc_number(v, "tried") > 0)
            buf_addf(out, "; %s: %.0f of %.0f", rows[i].words, doc_number(v, "shown"),
                     doc_number(v, "tried"));
    }
}

static void add_found_by(const struct node *f, struct buf *out)
{
    const struct node *by = doc_list(f, "found_by");
    for (uint32_t i = 0; i < by->n; i++) {
        buf_addf(out, "%s%.*s (%.*s) after ", i ? ", " : "", SHORT(doc_text(by->list[i], "policy")),
                 SHORT(doc_text(by->list[i], "experiment")));
        uint64_t n = whole(by->list[i], "after_trials");
        buf_addf(out, "%llu %s", (unsigned long long)n, plural(n, "trial", "trials"));
    }
}

static void add_state(const struct node *fault, struct buf *out)
{
    const struct node *state = map_at(fault, "state");
    slice variable = doc_text(fault, "variable"), task = doc_text(fault, "task");
    if (!doc_text(state, "function").n)
        return;
    add_place(state, out);
    if (variable.n) {
        buf_adds(out, ", by ");
        escape_line(variable, out);
    }
    if (task.n) {
        buf_adds(out, "; task ");
        escape_line(task, out);
        buf_adds(out, ", ");
        escape_line(doc_text(fault, "why"), out);
    }
}

/* What could have failed; where nothing did, so that nobody takes silence for health. */
static void add_met(const struct node *doc, struct buf *out)
{
    const struct node *met = map_at(doc, "met");
    uint64_t trials = whole(met, "trials"), sites = whole(met, "sites"),
             states = whole(met, "states"), requests = whole(met, "requests");
    if (trials && !doc_text(doc, "sick").n)
        buf_addf(
            out,
            "%llu %s without faults: %llu times something could have failed, at %llu %s, in %llu %s\n",
            (unsigned long long)trials, plural(trials, "trial", "trials"),
            (unsigned long long)requests, (unsigned long long)sites, plural(sites, "site", "sites"),
            (unsigned long long)states, plural(states, "state", "states"));
    if (doc_bool(doc, "made_nothing") && !doc_text(doc, "sick").n)
        buf_adds(
            out,
            "NOT SURE: no fault was made. What clients do reaches nothing that can fail once the nodes are ready: let "
            "them do more, or look at only, except and experiments (outfox sites lists what can fail)\n");
}

/* "20 tolerated, 8 expected, 2 suspicious": of the trials of a policy. */
static void add_verdicts(const struct node *leg, struct buf *out)
{
    static const char *const names[] = {"tolerated", "expected", "suspicious"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        buf_addf(out, "%s%.0f %s", i ? ", " : ": ", doc_number(map_at(leg, "verdicts"), names[i]),
                 names[i]);
}

static void add_summary(const struct node *doc, struct buf *out)
{
    const struct node *legs = doc_list(doc, "policies"), *counts = map_at(doc, "counts");
    add_met(doc, out);
    uint64_t control = whole(counts, "control"), bad = whole(counts, "control_suspicious");
    if (control)
        buf_addf(out, "control: %llu without faults, %llu suspicious\n",
                 (unsigned long long)control, (unsigned long long)bad);
    for (uint32_t i = 0; i < legs->n; i++) {
        const struct node *leg = legs->list[i];
        uint64_t n = whole(leg, "trials");
        buf_addf(out, "%.*s (%.*s): %llu %s, a fault made in %.0f", SHORT(doc_text(leg, "policy")),
                 SHORT(doc_text(leg, "experiment")), (unsigned long long)n,
                 plural(n, "trial", "trials"), doc_number(leg, "injected"));
        if (n)
            add_verdicts(leg, out);
        slice end = doc_text(leg, "end");
        if (end.n)
            buf_addf(out, "; over: %.*s", SHORT(end));
        buf_addc(out, '\n');
    }
}

/* After how many trials a policy had a finding; 0: it had not. */
static uint64_t trials_until(const struct node *finding, const struct node *leg)
{
    const struct node *by = doc_list(finding, "found_by");
    for (uint32_t i = 0; i < by->n; i++)
        if (slice_eq(doc_text(by->list[i], "policy"), doc_text(leg, "policy")) &&
            slice_eq(doc_text(by->list[i], "experiment"), doc_text(leg, "experiment")))
            return whole(by->list[i], "after_trials");
    return 0;
}

/* A row for each finding, a column for each policy, if there are several to compare. */
static void add_race(const struct node *doc, struct buf *out)
{
    const struct node *legs = doc_list(doc, "policies"), *findings = doc_list(doc, "findings");
    char digits[DIGITS_MOST];
    if (legs->n < 2 || !findings->n)
        return;
    buf_adds(out, "\ntrials until found");
    for (uint32_t k = 0; k < legs->n; k++) {
        struct buf name = BUF_INIT(200);
        buf_addf(&name, "%.*s (%.*s)", SHORT(doc_text(legs->list[k], "policy")),
                 SHORT(doc_text(legs->list[k], "experiment")));
        buf_addf(out, "  %18s", buf_text(&name));
        buf_deinit(&name);
    }
    for (uint32_t i = 0; i < findings->n; i++) {
        buf_addf(out, "\n%17.0f.", doc_number(findings->list[i], "number"));
        for (uint32_t k = 0; k < legs->n; k++) {
            uint64_t n = trials_until(findings->list[i], legs->list[k]);
            slice shown = n ? slice_of_u64(n, digits) : SLICE("-");
            buf_addf(out, "  %18.*s", SLICE_ARG(shown));
        }
    }
    buf_addc(out, '\n');
}

/* ---- for people ---- */

static void text_finding(const struct node *doc, const struct node *f, const struct style *style,
                         struct buf *out)
{
    const struct node *fault = map_at(f, "fault"), *seen = doc_list(f, "seen"),
                      *stack = doc_list(fault, "stack");
    slice node = doc_text(fault, "node"), logs = doc_text(f, "logs");
    buf_addf(out, "\n%s%.0f. ", style->bold, doc_number(f, "number"));
    escape_line(doc_text(f, "title"), out);
    buf_addf(out, "%s\n   fault  ", style->off);
    escape_line(doc_text(fault, "what"), out);
    if (node.n)
        buf_addf(out, ", on %.*s", SHORT(node));
    for (uint32_t i = 0; i < seen->n; i++) {
        buf_adds(out, "\n   seen   ");
        escape_line(seen->list[i]->text, out);
    }
    buf_adds(out, "\n   state  ");
    add_state(fault, out);
    for (uint32_t i = 0; i < stack->n; i++) {
        buf_addf(out, "\n   %s  ", i ? "     " : "stack");
        add_place(stack->list[i], out);
    }
    buf_adds(out, "\n   ");
    add_confirmed(f, out);
    buf_adds(out, "\n   found by ");
    add_found_by(f, out);
    buf_addf(out, "\n   replay: outfox replay %.*s/%.0f", SLICE_ARG(doc_text(doc, "trials_of")),
             doc_number(f, "number"));
    buf_adds(out, "\n   logs: ");
    escape_line(logs, out);
    buf_addc(out, '\n');
}

void trials_document_text(const struct node *doc, const struct style *style, struct buf *out)
{
    const struct node *findings = doc_list(doc, "findings");
    slice sick = doc_text(doc, "sick"), end = doc_text(doc, "end");
    buf_addf(out, "%s", style->bold);
    escape_line(doc_text(doc, "trials_of"), out);
    buf_addf(out, ": %u %s%s, ", findings->n, plural(findings->n, "finding", "findings"),
             style->off);
    doc_add_ms(out, doc_number(doc, "took_ms"));
    buf_addc(out, '\n');
    if (sick.n) {
        buf_addf(out, "%sthe system is not well without faults:%s ", style->red, style->off);
        escape_line(sick, out);
        buf_addc(out, '\n');
    }
    if (end.n) {
        escape_line(end, out);
        buf_addc(out, '\n');
    }
    add_summary(doc, out);
    for (uint32_t i = 0; i < findings->n; i++)
        text_finding(doc, findings->list[i], style, out);
    add_race(doc, out);
}

/* ---- Markdown ---- */

static void code(const struct buf *text, struct buf *out)
{
    escape_code(buf_slice(text), "", out);
}

void trials_document_markdown(const struct node *doc, struct buf *out)
{
    const struct node *findings = doc_list(doc, "findings");
    struct buf text = BUF_INIT(1 << 20);
    buf_adds(out, "## Trials of ");
    escape_markdown(doc_text(doc, "trials_of"), out);
    buf_addf(out, ": %u %s\n\n", findings->n, plural(findings->n, "finding", "findings"));
    if (doc_text(doc, "sick").n) {
        buf_adds(out, ":x: the system is not well without faults: ");
        escape_markdown(doc_text(doc, "sick"), out);
        buf_adds(out, "\n\n");
    }
    add_summary(doc, &text);
    add_race(doc, &text);
    code(&text, out);
    for (uint32_t i = 0; i < findings->n; i++) {
        buf_clear(&text);
        text_finding(doc, findings->list[i], &style_plain, &text);
        buf_addf(out, "\n### %.0f. ", doc_number(findings->list[i], "number"));
        escape_markdown(doc_text(findings->list[i], "title"), out);
        buf_adds(out, "\n\n");
        code(&text, out);
    }
    buf_deinit(&text);
}

/* ---- JUnit ---- */

static void junit_case(const struct node *doc, const struct node *f, struct buf *out)
{
    struct buf text = BUF_INIT(1 << 20);
    buf_adds(out, "    <testcase classname=\"");
    escape_xml(doc_text(doc, "trials_of"), out);
    buf_adds(out, "\" name=\"");
    escape_xml(doc_text(f, "title"), out);
    buf_adds(out, "\">\n      <failure message=\"");
    escape_xml(doc_text(map_at(f, "fault"), "what"), out);
    buf_adds(out, "\" type=\"");
    escape_xml(doc_text(f, "symptom"), out);
    buf_adds(out, "\">");
    text_finding(doc, f, &style_plain, &text);
    escape_xml(buf_slice(&text), out);
    buf_adds(out, "</failure>\n    </testcase>\n");
    buf_deinit(&text);
}

void trials_document_junit(const struct node *doc, struct buf *out)
{
    const struct node *findings = doc_list(doc, "findings");
    bool sick = doc_text(doc, "sick").n > 0;
    uint32_t tests = findings->n ? findings->n : 1;
    buf_addf(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n  <testsuite name=\"");
    escape_xml(doc_text(doc, "trials_of"), out);
    buf_addf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"%d\" time=\"%.3f\">\n", tests,
             findings->n, sick, doc_number(doc, "took_ms") / 1e3);
    for (uint32_t i = 0; i < findings->n; i++)
        junit_case(doc, findings->list[i], out);
    if (!findings->n) {
        buf_adds(out, "    <testcase classname=\"");
        escape_xml(doc_text(doc, "trials_of"), out);
        buf_adds(out, "\" name=\"faults inside its processes\">");
        if (sick) {
            buf_adds(out, "<error message=\"");
            escape_xml(doc_text(doc, "sick"), out);
            buf_adds(out, "\"/>");
        }
        buf_adds(out, "</testcase>\n");
    }
    buf_adds(out, "  </testsuite>\n</testsuites>\n");
}

/* ---- for browsers ---- */

/* A page of its own: nothing is loaded, nothing runs. */
void trials_document_html(const struct node *doc, struct buf *out)
{
    const struct node *findings = doc_list(doc, "findings");
    struct buf text = BUF_INIT(1 << 20);
    buf_adds(out,
             "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Trials of ");
    escape_xml(doc_text(doc, "trials_of"), out);
    buf_adds(out, "</title>\n<meta name=\"viewport\" content=\"width=device-width\">\n"
                  "<style>body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;"
                  "padding:0 1rem}pre{overflow:auto;background:#f4f4f4;color:#111;padding:1rem}"
                  "</style></head>\n<body><h1>Trials of ");
    escape_xml(doc_text(doc, "trials_of"), out);
    buf_addf(out, "</h1>\n<p>%u %s</p>\n<pre>", findings->n,
             plural(findings->n, "finding", "findings"));
    add_summary(doc, &text);
    add_race(doc, &text);
    escape_xml(buf_slice(&text), out);
    buf_adds(out, "</pre>\n");
    for (uint32_t i = 0; i < findings->n; i++) {
        buf_clear(&text);
        text_finding(doc, findings->list[i], &style_plain, &text);
        buf_addf(out, "<h2>%.0f. ", doc_number(findings->list[i], "number"));
        escape_xml(doc_text(findings->list[i], "title"), out);
        buf_adds(out, "</h2>\n<pre>");
        escape_xml(buf_slice(&text), out);
        buf_adds(out, "</pre>\n");
    }
    buf_adds(out, "</body></html>\n");
    buf_deinit(&text);
}
