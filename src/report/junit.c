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
#include "report/campaign_int.h"
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

static enum finding_kind kind_of(uint32_t flags)
{
    return flags & RUN_CRASHED    ? FINDING_CRASH
           : flags & RUN_HUNG     ? FINDING_HANG
           : flags & RUN_CONTRACT ? FINDING_CONTRACT
                                  : FINDING_EXPECTATION;
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
                           .kind = kind_of(run->flags),
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

static void put(FILE *out, const char *text)
{
    struct buf escaped = BUF_INIT(6 * TEXT_MAX);
    escape_xml(slice_of(text), &escaped);
    fputs(buf_text(&escaped), out);
    buf_deinit(&escaped);
}

static void put_seconds(FILE *out, int64_t ns)
{
    ns = ns < 0 ? 0 : ns;
    fprintf(out, "%lld.%06lld", (long long)(ns / 1000000000), (long long)(ns / 1000 % 1000000));
}

static void put_property(FILE *out, const char *name, const char *value)
{
    fprintf(out, "      <property name=\"%s\" value=\"", name);
    put(out, value);
    fputs("\"/>\n", out);
}

static void put_count(FILE *out, const char *name, uint64_t value)
{
    char digits[DIGITS_MOST + 1];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)value);
    put_property(out, name, digits);
}

static void put_properties(const struct suite *x, FILE *out)
{
    const struct summary *s = x->s;
    struct buf modes = BUF_INIT(TEXT_MAX);
    for (uint32_t i = 0; i < s->n_modes; i++) {
        if (i)
            buf_adds(&modes, ", ");
        mode_print(s->modes[i], &modes);
    }
    fputs("    <properties>\n", out);
    put_property(out, "version", x->source->version);
    put_property(out, "file", x->source->file);
    put_property(out, "verdict", report_verdict(s));
    put_property(out, "modes", buf_text(&modes));
    struct buf untried = BUF_INIT(TEXT_MAX);
    if (words_untried(s, &untried))
        put_property(out, "not_tried", buf_text(&untried));
    buf_deinit(&untried);
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
    fputs("    </properties>\n", out);
    buf_deinit(&modes);
}

/* In words; the faultload itself where the words are those of another case too. */
static void put_name(struct suite *x, const struct junit_case *c, FILE *out)
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
    put(out, buf_text(&name));
    buf_deinit(&name);
}

static void put_failure(const struct suite *x, const struct junit_case *c, FILE *out)
{
    bool broken = c->faultload == FAULTLOAD_EMPTY && x->s->broken;
    bool flaky = c->finding && c->finding->state == FINDING_FLAKY &&
                 faultload_eq(x->s->faultloads, c->finding->faultload, c->faultload);
    struct buf text = BUF_INIT(TEXT_MAX);
    fprintf(out, "      <%s type=\"%s\" message=\"", broken ? "error" : "failure",
            broken  ? "broken"
            : flaky ? "flaky"
                    : finding_kind_names[c->kind]);
    put(out, c->why);
    fputs("\">", out);
    if (c->finding) {
        buf_adds(&text, "finding ");
        words_id(x->s, c->finding, &text);
        buf_addf(&text, ": %s, %s\n", words_kind(c->finding->kind), words_state(c->finding->state));
    }
    if (c->detail)
        buf_addf(&text, "%s\n", c->detail);
    buf_adds(&text, "faultload: ");
    faultload_print(x->s->names, x->s->faultloads, c->faultload, &text);
    if (c->finding && c->finding->log &&
        faultload_eq(x->s->faultloads, c->finding->faultload, c->faultload))
        buf_addf(&text, "\nlog of %s:\n%s", c->finding->log_of, c->finding->log);
    put(out, buf_text(&text));
    fprintf(out, "</%s>\n      <system-out>replay: ", broken ? "error" : "failure");
    buf_clear(&text);
    if (c->finding && faultload_eq(x->s->faultloads, c->finding->faultload, c->faultload))
        words_replay(x->s, c->finding, &text);
    else
        words_replay_faultload(x->s, c->faultload, &text);
    put(out, buf_text(&text));
    fputs("</system-out>\n", out);
    buf_deinit(&text);
}

static void put_classname(const struct suite *x, FILE *out)
{
    fputs("\" classname=\"", out);
    put(out, x->s->system);
    fputc('.', out);
    put(out, x->s->scenario);
}

static void put_case(struct suite *x, const struct junit_case *c, FILE *out)
{
    fputs("    <testcase name=\"", out);
    put_name(x, c, out);
    put_classname(x, out);
    fputs("\" time=\"", out);
    put_seconds(out, c->took_ns);
    if (!c->why) {
        fputs("\"/>\n", out);
        return;
    }
    fputs("\">\n", out);
    put_failure(x, c, out);
    fputs("    </testcase>\n", out);
}

/* ---- what oracles say ---- */

/* All but the sentence and the command. */
static void put_remark_text(const struct suite *x, const struct remark *r, FILE *out)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    buf_adds(&text, "when ");
    words_remark_when(x->s, r, NULL, NULL, &text);
    for (uint32_t i = 0; i < r->n_evidence; i++) {
        buf_addc(&text, '\n');
        words_evidence(x->s, r, i, &text);
    }
    buf_adds(&text, "\nabout: ");
    words_about(r, &text);
    buf_adds(&text, "\nfaultload: ");
    faultload_print(x->s->names, x->s->faultloads, r->faultload, &text);
    put(out, buf_text(&text));
    buf_deinit(&text);
}

static void put_remark_replay(const struct suite *x, const struct remark *r, FILE *out)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    buf_adds(&text, "replay: ");
    words_remark_replay(x->s, r, &text);
    put(out, buf_text(&text));
    buf_deinit(&text);
}

static void put_remark(struct suite *x, const struct remark *r, FILE *out)
{
    struct buf name = BUF_INIT(NAME_MAX_BYTES);
    words_remark(r, &name);
    uint32_t same = map_count(&x->names, hash_slice(buf_slice(&name)));
    fputs("    <testcase name=\"", out);
    put(out, buf_text(&name));
    if (same > 1)
        fprintf(out, " (%u)", (unsigned)same);
    put_classname(x, out);
    fprintf(out, "\" time=\"0\">\n      <failure type=\"%s\" message=\"", r->oracle);
    put(out, r->why);
    fputs("\">", out);
    put_remark_text(x, r, out);
    fputs("</failure>\n      <system-out>", out);
    put_remark_replay(x, r, out);
    fputs("</system-out>\n    </testcase>\n", out);
    buf_deinit(&name);
}

static void put_notes(const struct suite *x, FILE *out)
{
    for (uint32_t i = 0; i < x->s->notes.n; i++) {
        put(out, x->s->notes.at[i]);
        fputc('\n', out);
    }
}

static void put_warnings(const struct suite *x, FILE *out)
{
    fputs("    <system-out>", out);
    put_notes(x, out);
    for (uint32_t i = 0; i < x->s->remarks.n; i++) {
        const struct remark *r = &x->s->remarks.at[i];
        struct buf title = BUF_INIT(NAME_MAX_BYTES);
        if (r->severity != SEVERITY_WARNING)
            continue;
        words_remark(r, &title);
        fputs("warning: ", out);
        put(out, buf_text(&title));
        fputc('\n', out);
        put_remark_text(x, r, out);
        fputc('\n', out);
        put_remark_replay(x, r, out);
        fputs("\n\n", out);
        buf_deinit(&title);
    }
    if (x->s->more_remarks)
        fprintf(out, "... and %llu more\n", (unsigned long long)x->s->more_remarks);
    fputs("</system-out>\n", out);
}

/* ---- suites ---- */

/* It could not go on: that is no fault of the scenario. */
static void put_error(const struct suite *x, FILE *out)
{
    fputs("    <testcase name=\"the campaign goes on to its end", out);
    put_classname(x, out);
    fputs("\" time=\"0\">\n      <error type=\"environment\" message=\"", out);
    put(out, x->source->error ? x->source->error : words_stopped(x->s->stopped));
    fputs("\"/>\n    </testcase>\n", out);
}

static void put_doubt(const struct suite *x, FILE *out)
{
    fputs("    <testcase name=\"the campaign is conclusive", out);
    put_classname(x, out);
    fputs("\" time=\"0\">\n      <error type=\"inconclusive\" message=\"", out);
    put(out, x->s->doubt ? x->s->doubt : words_unsure(x->s));
    fputs("\">", out);
    if (words_resume(x->s)) {
        fputs("to go on from there: ", out);
        put(out, words_resume(x->s));
        fputc('\n', out);
    }
    for (uint32_t i = 0; i < x->s->reasons.n; i++) {
        struct buf text = BUF_INIT(1 << 16);
        words_reason_line(x->s, &x->s->reasons.at[i], &text);
        put(out, buf_text(&text));
        fputc('\n', out);
        buf_deinit(&text);
    }
    put_notes(x, out);
    fputs("</error>\n    </testcase>\n", out);
}

static void put_counts(FILE *out, uint64_t tests, uint64_t failures, uint64_t errors, int64_t ns)
{
    fprintf(out, "\" tests=\"%llu\" failures=\"%llu\" errors=\"%llu\" skipped=\"0\" time=\"",
            (unsigned long long)tests, (unsigned long long)failures, (unsigned long long)errors);
    put_seconds(out, ns);
    fputs("\">\n", out);
}

static uint64_t tests_of(const struct suite *x)
{
    return x->cases.n + x->remarks + gave_up(x) + doubtful(x);
}

static void put_suite(struct suite *x, FILE *out)
{
    fputs("  <testsuite name=\"", out);
    put(out, x->s->scenario);
    put_counts(out, tests_of(x), x->failures, x->errors, x->took_ns);
    put_properties(x, out);
    for (uint32_t i = 0; i < x->cases.n; i++)
        put_case(x, &x->cases.at[i], out);
    for (uint32_t i = 0; i < x->s->remarks.n; i++)
        if (x->s->remarks.at[i].severity == SEVERITY_FINDING)
            put_remark(x, &x->s->remarks.at[i], out);
    if (gave_up(x))
        put_error(x, out);
    if (doubtful(x))
        put_doubt(x, out);
    if (summary_warnings(x->s) || x->s->notes.n)
        put_warnings(x, out);
    fputs("  </testsuite>\n", out);
}

void report_junit(const struct report_source *source, FILE *out)
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
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"", out);
    put(out, source->system);
    put_counts(out, tests, failures, errors, took_ns);
    for (uint32_t i = 0; i < source->n; i++) {
        put_suite(&suites[i], out);
        suite_deinit(&suites[i]);
    }
    fputs("</testsuites>\n", out);
    mem_free(suites);
}
