/* SPDX-License-Identifier: Apache-2.0
 *
 * JUnit XML: a test suite for each scenario, a test case for each faultload that was run.
 *
 * 1. A faultload is one case, however often it was run: the first run that the search, or the
 *    shrinking of a finding, asked for decides.
 * 2. Every finding has a failing case, an oracle's too; warnings and notes are output of the suite.
 * 3. No two cases of a suite have the same name.
 * 4. Where passing cases prove nothing (summary.doubt, reasons), one more case is an error.
 * 5. With more than CASES_MAX cases only those are printed that fail, and a property says so. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/index.h"
#include "report/card.h"
#include "report/escape.h"
#include "report/suite.h"
#include "report/words.h"

enum { CASES_MAX = 10000, NAME_MAX_BYTES = 2000, TEXT_MAX = 1 << 16 };

struct junit_case {
    faultload faultload;
    const char *why, *detail; /* NULL: it passed; nothing to add */
    const struct finding *finding;
    enum finding_kind kind;
    int64_t took_ns;
};

struct suite {
    const struct report_source *source;
    const struct summary *s;
    uint32_t scenario;
    const struct suite_scenario *covers; /* NULL: not known */
    struct arena keep;
    VEC(struct junit_case) cases;
    struct map at;    /* key of a faultload -> case */
    struct map names; /* hash of a name -> how often */
    uint64_t tests, failures, errors, left_out;
    int64_t took_ns;
    bool unread; /* the runs could not be read in full */
};

/* ---- collecting ---- */

static const char *keep_text(struct suite *x, const char *text)
{
    return text ? arena_copy(&x->keep, text, strlen(text)) : NULL;
}

static int collect_run(void *ctx, const struct run *run, struct err *e)
{
    static const bool counts[RUN_PURPOSES] = {
        [RUN_BASELINE] = true, [RUN_SEARCH] = true, [RUN_AUDIT] = true, [RUN_SHRINK] = true};
    struct suite *x = ctx;
    (void)e;
    uint64_t key = faultload_key(x->s->faultloads, run->faultload);
    if (run->purpose >= RUN_PURPOSES || !counts[run->purpose] || map_get(&x->at, key))
        return 0;
    map_set(&x->at, key, x->cases.n);
    struct junit_case c = {
        .faultload = run->faultload, .kind = finding_kind_of(run->flags), .took_ns = run->took_ns};
    if (!run->verdict.pass) {
        c.why = keep_text(x, run->verdict.why);
        c.detail = keep_text(x, run->verdict.detail);
    }
    vec_push(&x->cases, c);
    return 0;
}

/* The case of a faultload; NULL: there is none. */
static struct junit_case *case_of(const struct suite *x, faultload f)
{
    const uint32_t *at = map_get(&x->at, faultload_key(x->s->faultloads, f));
    return at ? &x->cases.at[*at] : NULL;
}

static void collect_findings(struct suite *x)
{
    for (uint32_t i = 0; i < x->s->findings.n; i++) {
        const struct finding *f = &x->s->findings.at[i];
        struct junit_case *c = case_of(x, f->faultload);
        if (!c) {
            map_set(&x->at, faultload_key(x->s->faultloads, f->faultload), x->cases.n);
            vec_push(&x->cases, (struct junit_case){.faultload = f->faultload});
            c = &vec_last(&x->cases);
        }
        if (!c->why) {
            c->why = f->why;
            c->detail = f->detail;
        }
        if (!c->finding) {
            c->finding = f;
            c->kind = f->kind;
        }
        for (uint32_t k = 0; k < f->alike.n; k++) {
            c = case_of(x, f->alike.at[k]);
            if (c && c->why && !c->finding)
                c->finding = f;
        }
    }
}

/* Did something besides the system end it? */
static bool gave_up(const struct suite *x)
{
    const char *by = x->s->stopped ? x->s->stopped : "";
    return strcmp(by, "error") == 0 || strcmp(by, "not-run") == 0;
}

/* Passing cases prove nothing: a budget ended, something was not stable, nothing could fail. A
 * suite is not green where the exit code is not 0. */
static bool doubtful(const struct suite *x)
{
    bool inconclusive = summary_conclusion(x->s) == CONCLUSION_INCONCLUSIVE;
    return (inconclusive || x->s->doubt || x->s->reasons.n) && !x->s->broken && !gave_up(x);
}

static void collect(struct suite *x)
{
    const struct report_source *source = x->source;
    if (source->each_run && source->each_run(source->ctx, x->scenario, collect_run, x))
        x->unread = true;
    collect_findings(x);
    bool failing_only = x->cases.n > CASES_MAX;
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->cases.n; i++) {
        struct junit_case *c = &x->cases.at[i];
        x->took_ns += c->took_ns;
        if (n == CASES_MAX || (failing_only && !c->why)) {
            x->left_out++;
            continue;
        }
        if (c->why && c->faultload == FAULTLOAD_EMPTY && x->s->broken)
            x->errors++;
        else if (c->why)
            x->failures++;
        /* a larger faultload that fails for the same reason belongs to the finding within it */
        for (uint32_t k = 0; c->why && !c->finding && k < x->s->findings.n; k++) {
            const struct finding *f = &x->s->findings.at[k];
            if (strcmp(f->why, c->why) == 0 &&
                faultload_within(x->s->faultloads, f->faultload, c->faultload))
                c->finding = f;
        }
        x->cases.at[n++] = *c;
    }
    x->cases.n = n;
    uint32_t remarks = summary_wrong(x->s) - x->s->findings.n;
    x->errors += gave_up(x) + doubtful(x);
    x->failures += remarks;
    x->tests = n + remarks + gave_up(x) + doubtful(x);
}

/* ---- printing ---- */

static void add_text(slice text, struct buf *out)
{
    struct buf escaped = BUF_INIT(6 * TEXT_MAX);
    escape_xml(text, &escaped);
    buf_add(out, buf_slice(&escaped));
    buf_deinit(&escaped);
}

/* XML, in which each %s is a text that means nothing in it. */
#define put(out, ...) escape_addf(out, add_text, __VA_ARGS__)

static void put_seconds(struct buf *out, int64_t ns)
{
    ns = ns < 0 ? 0 : ns;
    buf_addf(out, "%lld.%06lld", (long long)(ns / SECONDS(1)), (long long)(ns / 1000 % 1000000));
}

#define PROPERTY "      <property name=\"%s\" value=\"%s\"/>\n"

static void put_count(struct buf *out, const char *name, uint64_t value)
{
    char digits[DIGITS_MOST + 1] = {0};
    put(out, PROPERTY, name, slice_of_u64(value, digits).p);
}

static void put_properties(const struct suite *x, struct buf *out)
{
    const struct summary *s = x->s;
    struct buf text = BUF_INIT(TEXT_MAX);
    for (uint32_t i = 0; i < s->n_modes; i++) {
        buf_adds(&text, i ? ", " : "");
        mode_print(s->modes[i], &text);
    }
    buf_adds(out, "    <properties>\n");
    put(out, PROPERTY, "version", x->source->version);
    put(out, PROPERTY, "file", x->source->file);
    put(out, PROPERTY, "verdict", report_verdict(s));
    put(out, PROPERTY, "modes", buf_text(&text));
    buf_clear(&text);
    if (words_untried(s, &text))
        put(out, PROPERTY, "not_tried", buf_text(&text));
    put(out, PROPERTY, "order", s->order);
    put_count(out, "seed", s->seed);
    put_count(out, "runs", s->runs);
    put_count(out, "points", s->points);
    if (x->covers) {
        put_count(out, "calls", x->covers->shows->calls.n);
        put_count(out, "handlers", x->covers->shows->handlers.n);
        put_count(out, "edges", x->covers->shows->edges.items.n);
        put_count(out, "only_edges", x->covers->only_edges);
        put(out, PROPERTY, "adds_nothing", x->covers->adds_nothing ? "true" : "false");
    }
    if (s->stopped)
        put(out, PROPERTY, "stopped_by", s->stopped);
    if (summary_warnings(s))
        put_count(out, "warnings", summary_warnings(s));
    if (x->left_out)
        put_count(out, "cases_left_out", x->left_out);
    if (x->unread)
        put(out, PROPERTY, "incomplete", "not all runs could be read from the store");
    buf_adds(out, "    </properties>\n");
    buf_deinit(&text);
}

/* A case up to its time, which follows. */
static void open_case(const struct suite *x, const char *name, struct buf *out)
{
    put(out, "    <testcase name=\"%s\" classname=\"%s.%s\" time=\"", name, x->s->system,
        x->s->scenario);
}

static void put_failure(const struct suite *x, const struct junit_case *c, struct buf *out)
{
    const struct finding *f = c->finding;
    bool broken = c->faultload == FAULTLOAD_EMPTY && x->s->broken;
    bool same = f && faultload_eq(x->s->faultloads, f->faultload, c->faultload);
    bool flaky = same && f->state == FINDING_FLAKY;
    const char *element = broken ? "error" : "failure";
    struct buf text = BUF_INIT(TEXT_MAX), replay = BUF_INIT(TEXT_MAX);
    if (f) {
        buf_adds(&text, "finding ");
        words_id(x->s, words_finding_number(x->s, f), &text);
        buf_addf(&text, ": %s, %s\n", words_kind[f->kind], words_state[f->state]);
    }
    if (c->detail)
        buf_addf(&text, "%s\n", c->detail);
    buf_adds(&text, "faultload: ");
    faultload_print(x->s->names, x->s->faultloads, c->faultload, &text);
    struct log_end log = same ? f->log : broken ? x->s->broken_log : (struct log_end){0};
    if (log.lines)
        buf_addf(&text, "\nlog of %s:\n%s", log.service, log.lines);
    if (same)
        words_replay(x->s, f, &replay);
    else
        words_replay_faultload(x->s, c->faultload, &replay);
    put(out,
        "\">\n      <%s type=\"%s\" message=\"%s\">%s</%s>\n"
        "      <system-out>replay: %s</system-out>\n    </testcase>\n",
        element,
        broken  ? "broken"
        : flaky ? "flaky"
                : finding_kind_names[c->kind],
        c->why, buf_text(&text), element, buf_text(&replay));
    buf_deinit(&text);
    buf_deinit(&replay);
}

/* In words; by the faultload itself where the words are those of another case too. */
static void put_case(struct suite *x, const struct junit_case *c, struct buf *out)
{
    struct buf name = BUF_INIT(NAME_MAX_BYTES);
    struct finding only = {.faultload = c->faultload};
    if (c->faultload == FAULTLOAD_EMPTY)
        buf_adds(&name, "without faults");
    else
        words_finding(x->s, &only, NULL, NULL, &name);
    if (name.full || map_count(&x->names, hash_slice(buf_slice(&name))) > 1) {
        buf_clear(&name);
        name.full = false;
        name.max = TEXT_MAX;
        faultload_print(x->s->names, x->s->faultloads, c->faultload, &name);
    }
    open_case(x, buf_text(&name), out);
    put_seconds(out, c->took_ns);
    if (c->why)
        put_failure(x, c, out);
    else
        buf_adds(out, "\"/>\n");
    buf_deinit(&name);
}

/* What oracles say: a case of its own, or a warning among the output of the suite. */
static void put_card(struct suite *x, const struct card *c, struct buf *out)
{
    struct buf text = BUF_INIT(TEXT_MAX), name = BUF_INIT(NAME_MAX_BYTES);
    buf_addf(&text, "when %s", c->when);
    for (uint32_t i = 0; i < c->n_during; i++)
        buf_addf(&text, "\nduring %s", c->during[i].text);
    for (uint32_t i = 0; i < c->n_evidence; i++)
        buf_addf(&text, "\n%s", c->evidence[i]);
    buf_addf(&text, "\nabout: %s\nfaultload: %s", c->about, c->faultload);
    buf_adds(&name, c->title);
    if (c->warning) {
        put(out, "warning: %s\n%s\nreplay: %s\n\n", buf_text(&name), buf_text(&text), c->replay);
    } else {
        uint32_t same = map_count(&x->names, hash_slice(buf_slice(&name)));
        name.max += DIGITS_MOST;
        if (same > 1)
            buf_addf(&name, " (%u)", (unsigned)same);
        open_case(x, buf_text(&name), out);
        put(out,
            "0\">\n      <failure type=\"%s\" message=\"%s\">%s</failure>\n"
            "      <system-out>replay: %s</system-out>\n    </testcase>\n",
            c->remark->oracle, c->remark->why, buf_text(&text), c->replay);
    }
    buf_deinit(&text);
    buf_deinit(&name);
}

static void put_remarks(struct suite *x, enum severity severity, struct buf *out)
{
    for (uint32_t i = 0; i < x->s->remarks.n; i++) {
        struct card c;
        if (x->s->remarks.at[i].severity != severity)
            continue;
        card_remark(&c, x->source, x->scenario, i);
        put_card(x, &c, out);
        card_deinit(&c);
    }
}

static void put_notes(const struct suite *x, struct buf *out)
{
    for (uint32_t i = 0; i < x->s->notes.n; i++)
        put(out, "%s\n", x->s->notes.at[i]);
}

/* ---- suites ---- */

/* It could not go on: that is no fault of the scenario. Or what passes proves nothing. */
static void put_errors(const struct suite *x, struct buf *out)
{
    const struct summary *s = x->s;
    if (gave_up(x)) {
        open_case(x, "campaign completes", out);
        put(out, "0\">\n      <error type=\"environment\" message=\"%s\"/>\n    </testcase>\n",
            x->source->error ? x->source->error : words_stopped(s->stopped));
    }
    if (!doubtful(x))
        return;
    open_case(x, "campaign is conclusive", out);
    put(out, "0\">\n      <error type=\"inconclusive\" message=\"%s\">",
        s->doubt ? s->doubt : words_unsure(s));
    if (words_resume(s))
        put(out, "to continue: %s\n", words_resume(s));
    for (uint32_t i = 0; i < s->reasons.n; i++) {
        struct buf text = BUF_INIT(TEXT_MAX);
        words_reason_line(s, &s->reasons.at[i], &text);
        put(out, "%s\n", buf_text(&text));
        buf_deinit(&text);
    }
    put_notes(x, out);
    buf_adds(out, "</error>\n    </testcase>\n");
}

/* more: attributes of suites alone; the plugin xUnit of Jenkins refuses files that have others. */
static void put_counts(struct buf *out, uint64_t tests, uint64_t failures, uint64_t errors,
                       const char *more, int64_t ns)
{
    buf_addf(out, "\" tests=\"%llu\" failures=\"%llu\" errors=\"%llu\"%s time=\"",
             (unsigned long long)tests, (unsigned long long)failures, (unsigned long long)errors,
             more);
    put_seconds(out, ns);
    buf_adds(out, "\">\n");
}

static void put_suite(struct suite *x, struct buf *out)
{
    put(out, "  <testsuite name=\"%s", x->s->scenario);
    put_counts(out, x->tests, x->failures, x->errors, " skipped=\"0\"", x->took_ns);
    put_properties(x, out);
    for (uint32_t i = 0; i < x->cases.n; i++)
        put_case(x, &x->cases.at[i], out);
    put_remarks(x, SEVERITY_FINDING, out);
    put_errors(x, out);
    if (summary_warnings(x->s) || x->s->notes.n) {
        buf_adds(out, "    <system-out>");
        put_notes(x, out);
        put_remarks(x, SEVERITY_WARNING, out);
        if (x->s->more_remarks)
            buf_addf(out, "... and %llu more\n", (unsigned long long)x->s->more_remarks);
        buf_adds(out, "</system-out>\n");
    }
    buf_adds(out, "  </testsuite>\n");
}

void report_junit(const struct report_source *source, struct buf *out)
{
    struct suite *suites = mem_zero((source->n + 1) * sizeof *suites);
    uint64_t tests = 0, failures = 0, errors = 0;
    int64_t took_ns = 0;
    struct suite_coverage together;
    bool known = suite_of(source, &together);
    for (uint32_t i = 0; i < source->n; i++) {
        suites[i] = (struct suite){.source = source, .s = source->scenarios[i], .scenario = i};
        suites[i].covers = known ? &together.scenarios.at[i] : NULL;
        collect(&suites[i]);
        tests += suites[i].tests;
        failures += suites[i].failures;
        errors += suites[i].errors;
        took_ns += suites[i].took_ns;
    }
    put(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"%s", source->system);
    put_counts(out, tests, failures, errors, "", took_ns);
    for (uint32_t i = 0; i < source->n; i++) {
        put_suite(&suites[i], out);
        vec_deinit(&suites[i].cases);
        map_deinit(&suites[i].at);
        map_deinit(&suites[i].names);
        arena_deinit(&suites[i].keep);
    }
    buf_adds(out, "</testsuites>\n");
    suite_coverage_deinit(&together);
    mem_free(suites);
}
