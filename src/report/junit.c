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
#include "base/hash.h"
#include "base/index.h"
#include "report/card.h"
#include "report/escape.h"
#include "report/words.h"

enum { CASES_MAX = 10000, NAME_MAX_BYTES = 2000, TEXT_MAX = 1 << 16 };

struct junit_case {
    faultload faultload;
    const char *why, *detail; /* NULL: it passed; nothing to add */
    const struct finding *finding;
    enum finding_kind kind;
    int64_t took_ns;
    uint64_t number;
};

struct suite {
    const struct report_source *source;
    const struct summary *s;
    uint32_t scenario;
    struct arena keep;
    VEC(struct junit_case) cases;
    struct map at;    /* key of a faultload -> case */
    struct map names; /* hash of a name -> how often */
    uint32_t remarks; /* of oracles, as findings */
    uint32_t failures, errors, left_out;
    int64_t took_ns;
    bool unread; /* the runs could not be read in full */
};

/* ---- collecting ---- */

/* A number for the set of faults, whatever their order. (Mixed into 0, different faults never give
 * equal terms.) */
static uint64_t key_of(const struct faultloads *fl, faultload f)
{
    uint64_t key = 1;
    for (; f != FAULTLOAD_EMPTY; f = fl->rows.at[f].rest)
        key += hash_mix(0, (uint64_t)fl->rows.at[f].last.point << 32 | fl->rows.at[f].last.mode);
    return key;
}

static const char *keep_text(struct suite *x, const char *text)
{
    return text ? arena_copy(&x->keep, text, strlen(text)) : NULL;
}

static int collect_run(void *ctx, const struct run *run)
{
    static const bool counts[RUN_PURPOSES] = {
        [RUN_BASELINE] = true, [RUN_SEARCH] = true, [RUN_AUDIT] = true, [RUN_SHRINK] = true};
    struct suite *x = ctx;
    uint64_t key = key_of(x->s->faultloads, run->faultload);
    if (run->purpose >= RUN_PURPOSES || !counts[run->purpose] || map_get(&x->at, key))
        return 0;
    map_set(&x->at, key, x->cases.n);
    struct junit_case c = {.faultload = run->faultload,
                           .kind = finding_kind_of(run->flags),
                           .took_ns = run->took_ns,
                           .number = run->number};
    if (!run->verdict.pass) {
        c.why = keep_text(x, run->verdict.why);
        c.detail = keep_text(x, run->verdict.detail);
    }
    vec_push(&x->cases, c);
    return 0;
}

/* The case of a faultload, made where there is none. */
static struct junit_case *case_of(struct suite *x, faultload f, const struct finding *finding)
{
    uint64_t key = key_of(x->s->faultloads, f);
    const uint32_t *at = map_get(&x->at, key);
    if (at)
        return &x->cases.at[*at];
    map_set(&x->at, key, x->cases.n);
    vec_push(&x->cases, (struct junit_case){.faultload = f, .number = finding->number});
    return &vec_last(&x->cases);
}

static void collect_findings(struct suite *x)
{
    for (uint32_t i = 0; i < x->s->findings.n; i++) {
        const struct finding *f = &x->s->findings.at[i];
        struct junit_case *c = case_of(x, f->faultload, f);
        if (!c->why) {
            c->why = f->why;
            c->detail = f->detail;
        }
        if (!c->finding) {
            c->finding = f;
            c->kind = f->kind;
        }
        for (uint32_t k = 0; k < f->alike.n; k++) {
            const uint32_t *at = map_get(&x->at, key_of(x->s->faultloads, f->alike.at[k]));
            if (at && x->cases.at[*at].why && !x->cases.at[*at].finding)
                x->cases.at[*at].finding = f;
        }
    }
}

/* A larger faultload that fails for the same reason belongs to the finding within it. */
static const struct finding *finding_within(const struct suite *x, const struct junit_case *c)
{
    for (uint32_t i = 0; i < x->s->findings.n; i++) {
        const struct finding *f = &x->s->findings.at[i];
        if (strcmp(f->why, c->why) == 0 &&
            faultload_within(x->s->faultloads, f->faultload, c->faultload))
            return f;
    }
    return NULL;
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
        if (c->why && !c->finding)
            c->finding = finding_within(x, c);
        x->cases.at[n++] = *c;
    }
    x->cases.n = n;
    x->errors += gave_up(x) + doubtful(x);
    for (uint32_t i = 0; i < x->s->remarks.n; i++)
        x->remarks += x->s->remarks.at[i].severity == SEVERITY_FINDING;
    x->failures += x->remarks;
}

static void suite_deinit(struct suite *x)
{
    vec_deinit(&x->cases);
    map_deinit(&x->at);
    map_deinit(&x->names);
    arena_deinit(&x->keep);
}

/* ---- printing ---- */

/* Text that means nothing in XML. */
static void put(struct buf *out, const char *text)
{
    struct buf escaped = BUF_INIT(6 * TEXT_MAX);
    escape_xml(slice_of(text), &escaped);
    buf_add(out, buf_slice(&escaped));
    buf_deinit(&escaped);
}

static void put_seconds(struct buf *out, int64_t ns)
{
    ns = ns < 0 ? 0 : ns;
    buf_addf(out, "%lld.%06lld", (long long)(ns / 1000000000), (long long)(ns / 1000 % 1000000));
}

static void put_property(struct buf *out, const char *name, const char *value)
{
    buf_addf(out, "      <property name=\"%s\" value=\"", name);
    put(out, value);
    buf_adds(out, "\"/>\n");
}

static void put_count(struct buf *out, const char *name, uint64_t value)
{
    buf_addf(out, "      <property name=\"%s\" value=\"%llu\"/>\n", name,
             (unsigned long long)value);
}

static void put_properties(const struct suite *x, struct buf *out)
{
    const struct summary *s = x->s;
    struct buf modes = BUF_INIT(TEXT_MAX), untried = BUF_INIT(TEXT_MAX);
    for (uint32_t i = 0; i < s->n_modes; i++) {
        buf_adds(&modes, i ? ", " : "");
        mode_print(s->modes[i], &modes);
    }
    buf_adds(out, "    <properties>\n");
    put_property(out, "version", x->source->version);
    put_property(out, "file", x->source->file);
    put_property(out, "verdict", report_verdict(s));
    put_property(out, "modes", buf_text(&modes));
    if (words_untried(s, &untried))
        put_property(out, "not_tried", buf_text(&untried));
    put_property(out, "order", s->order);
    put_count(out, "seed", s->seed);
    put_count(out, "runs", s->runs);
    put_count(out, "points", s->points);
    if (s->stopped)
        put_property(out, "stopped_by", s->stopped);
    if (summary_warnings(s))
        put_count(out, "warnings", summary_warnings(s));
    if (x->left_out)
        put_count(out, "cases_left_out", x->left_out);
    if (x->unread)
        put_property(out, "incomplete", "not all runs could be read from the store");
    buf_adds(out, "    </properties>\n");
    buf_deinit(&modes);
    buf_deinit(&untried);
}

/* A case up to its time, which follows. */
static void open_case(const struct suite *x, const char *name, struct buf *out)
{
    buf_adds(out, "    <testcase name=\"");
    put(out, name);
    buf_adds(out, "\" classname=\"");
    put(out, x->s->system);
    buf_addc(out, '.');
    put(out, x->s->scenario);
    buf_adds(out, "\" time=\"");
}

/* What is wrong with a case, up to what else is said of it, which follows. */
static void open_fault(const char *element, const char *type, const char *message, struct buf *out)
{
    buf_addf(out, "\">\n      <%s type=\"%s\" message=\"", element, type);
    put(out, message);
    buf_adds(out, "\">");
}

static void put_failure(const struct suite *x, const struct junit_case *c, struct buf *out)
{
    const struct finding *f = c->finding;
    bool broken = c->faultload == FAULTLOAD_EMPTY && x->s->broken;
    bool same = f && faultload_eq(x->s->faultloads, f->faultload, c->faultload);
    bool flaky = same && f->state == FINDING_FLAKY;
    const char *element = broken ? "error" : "failure";
    struct buf text = BUF_INIT(TEXT_MAX);
    open_fault(element,
               broken  ? "broken"
               : flaky ? "flaky"
                       : finding_kind_names[c->kind],
               c->why, out);
    if (f) {
        buf_adds(&text, "finding ");
        words_id(x->s, f, &text);
        buf_addf(&text, ": %s, %s\n", words_kind(f->kind), words_state(f->state));
    }
    if (c->detail)
        buf_addf(&text, "%s\n", c->detail);
    buf_adds(&text, "faultload: ");
    faultload_print(x->s->names, x->s->faultloads, c->faultload, &text);
    if (same && f->log)
        buf_addf(&text, "\nlog of %s:\n%s", f->log_of, f->log);
    put(out, buf_text(&text));
    buf_clear(&text);
    if (same)
        words_replay(x->s, f, &text);
    else
        words_replay_faultload(x->s, c->faultload, &text);
    buf_addf(out, "</%s>\n      <system-out>replay: ", element);
    put(out, buf_text(&text));
    buf_adds(out, "</system-out>\n    </testcase>\n");
    buf_deinit(&text);
}

/* In words; by the faultload itself where the words are those of another case too. */
static void put_case(struct suite *x, const struct junit_case *c, struct buf *out)
{
    struct buf name = BUF_INIT(NAME_MAX_BYTES);
    struct finding only = {.faultload = c->faultload};
    if (c->faultload == FAULTLOAD_EMPTY)
        buf_adds(&name, "without faults");
    else
        words_finding(x->s, &only, &name);
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

/* ---- what oracles say ---- */

/* All but the sentence and the command. */
static void put_card_text(const struct card *c, struct buf *out)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    buf_addf(&text, "when %s", c->when);
    for (uint32_t i = 0; i < c->n_evidence; i++)
        buf_addf(&text, "\n%s", c->evidence[i]);
    buf_addf(&text, "\nabout: %s\nfaultload: %s", c->about, c->faultload);
    put(out, buf_text(&text));
    buf_deinit(&text);
}

static void put_remark(struct suite *x, const struct card *c, struct buf *out)
{
    struct buf name = BUF_INIT(NAME_MAX_BYTES);
    buf_adds(&name, c->title);
    uint32_t same = map_count(&x->names, hash_slice(buf_slice(&name)));
    name.max += DIGITS_MOST;
    if (same > 1)
        buf_addf(&name, " (%u)", (unsigned)same);
    open_case(x, buf_text(&name), out);
    buf_addc(out, '0');
    open_fault("failure", c->remark->oracle, c->remark->why, out);
    put_card_text(c, out);
    buf_adds(out, "</failure>\n      <system-out>replay: ");
    put(out, c->replay);
    buf_adds(out, "</system-out>\n    </testcase>\n");
    buf_deinit(&name);
}

static void put_notes(const struct suite *x, struct buf *out)
{
    for (uint32_t i = 0; i < x->s->notes.n; i++) {
        put(out, x->s->notes.at[i]);
        buf_addc(out, '\n');
    }
}

static void put_warning(const struct card *c, struct buf *out)
{
    buf_adds(out, "warning: ");
    put(out, c->title);
    buf_addc(out, '\n');
    put_card_text(c, out);
    buf_adds(out, "\nreplay: ");
    put(out, c->replay);
    buf_adds(out, "\n\n");
}

/* Those of a severity. */
static void put_remarks(struct suite *x, enum severity severity, struct buf *out)
{
    for (uint32_t i = 0; i < x->s->remarks.n; i++) {
        struct card c;
        if (x->s->remarks.at[i].severity != severity)
            continue;
        card_remark(&c, x->source, x->scenario, i);
        if (c.warning)
            put_warning(&c, out);
        else
            put_remark(x, &c, out);
        card_deinit(&c);
    }
}

/* ---- suites ---- */

/* It could not go on: that is no fault of the scenario. */
static void put_error(const struct suite *x, struct buf *out)
{
    open_case(x, "the campaign goes on to its end", out);
    buf_adds(out, "0\">\n      <error type=\"environment\" message=\"");
    put(out, x->source->error ? x->source->error : words_stopped(x->s->stopped));
    buf_adds(out, "\"/>\n    </testcase>\n");
}

static void put_doubt(const struct suite *x, struct buf *out)
{
    const char *resume = words_resume(x->s);
    open_case(x, "the campaign is conclusive", out);
    buf_addc(out, '0');
    open_fault("error", "inconclusive", x->s->doubt ? x->s->doubt : words_unsure(x->s), out);
    if (resume) {
        buf_adds(out, "to go on from there: ");
        put(out, resume);
        buf_addc(out, '\n');
    }
    for (uint32_t i = 0; i < x->s->reasons.n; i++) {
        struct buf text = BUF_INIT(TEXT_MAX);
        words_reason_line(x->s, &x->s->reasons.at[i], &text);
        put(out, buf_text(&text));
        buf_addc(out, '\n');
        buf_deinit(&text);
    }
    put_notes(x, out);
    buf_adds(out, "</error>\n    </testcase>\n");
}

static void put_counts(struct buf *out, uint64_t tests, uint64_t failures, uint64_t errors,
                       int64_t ns)
{
    buf_addf(out, "\" tests=\"%llu\" failures=\"%llu\" errors=\"%llu\" skipped=\"0\" time=\"",
             (unsigned long long)tests, (unsigned long long)failures, (unsigned long long)errors);
    put_seconds(out, ns);
    buf_adds(out, "\">\n");
}

static uint64_t tests_of(const struct suite *x)
{
    return x->cases.n + x->remarks + gave_up(x) + doubtful(x);
}

static void put_suite(struct suite *x, struct buf *out)
{
    buf_adds(out, "  <testsuite name=\"");
    put(out, x->s->scenario);
    put_counts(out, tests_of(x), x->failures, x->errors, x->took_ns);
    put_properties(x, out);
    for (uint32_t i = 0; i < x->cases.n; i++)
        put_case(x, &x->cases.at[i], out);
    put_remarks(x, SEVERITY_FINDING, out);
    if (gave_up(x))
        put_error(x, out);
    if (doubtful(x))
        put_doubt(x, out);
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
    for (uint32_t i = 0; i < source->n; i++) {
        suites[i] = (struct suite){.source = source, .s = source->scenarios[i], .scenario = i};
        collect(&suites[i]);
        tests += tests_of(&suites[i]);
        failures += suites[i].failures;
        errors += suites[i].errors;
        took_ns += suites[i].took_ns;
    }
    buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"");
    put(out, source->system);
    put_counts(out, tests, failures, errors, took_ns);
    for (uint32_t i = 0; i < source->n; i++) {
        put_suite(&suites[i], out);
        suite_deinit(&suites[i]);
    }
    buf_adds(out, "</testsuites>\n");
    mem_free(suites);
}
