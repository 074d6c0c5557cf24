/* SPDX-License-Identifier: Apache-2.0
 *
 * JUnit XML of a plan: a test suite for each run, a test case for each expectation.
 *
 * 1. In a run with faults a violated expectation is a failure. Without faults it is an error: the
 *    system, or the plan, is to be mended first.
 * 2. What could not be told is an error of the type inconclusive: of an expectation, of a fault
 *    that did not happen as planned, of a run that was not carried out.
 * 3. Runs with faults that were not made at all are one suite of skipped cases.
 * 4. No two cases of a suite have the same name. */
#include "base/hash.h"
#include "base/index.h"
#include "report/escape.h"
#include "report/plan_int.h"

enum { TEXT_MAX = 1 << 16 };

struct junit {
    const struct node *doc;
    struct buf *out;
    struct map names; /* hash of a case's name -> how often, in this suite */
};

/* Cases of a suite. */
struct junit_counts {
    uint32_t tests, failures, errors, skipped;
    double ms;
};

static void add_text(slice text, struct buf *out)
{
    struct buf escaped = BUF_INIT(6 * TEXT_MAX);
    escape_xml(text, &escaped);
    buf_add(out, buf_slice(&escaped));
    buf_deinit(&escaped);
}

static void put_attribute(struct buf *out, const char *name, slice value)
{
    buf_addf(out, " %s=\"", name);
    add_text(value, out);
    buf_addc(out, '"');
}

static void put_counts(struct buf *out, const struct junit_counts *c, bool suite)
{
    buf_addf(out, " tests=\"%u\" failures=\"%u\" errors=\"%u\"", c->tests, c->failures, c->errors);
    if (suite)
        buf_addf(out, " skipped=\"%u\"", c->skipped);
    buf_addf(out, " time=\"%.3f\">\n", c->ms / 1e3);
}

static void open_case(struct junit *x, slice run, slice name)
{
    struct buf text = BUF_INIT(TEXT_MAX);
    slice plan = doc_text(x->doc, "plan");
    uint32_t same = map_count(&x->names, hash_slice(name));
    buf_add(&text, name);
    if (same > 1)
        buf_addf(&text, " (%u)", same);
    buf_adds(x->out, "    <testcase");
    put_attribute(x->out, "name", buf_slice(&text));
    buf_clear(&text);
    buf_addf(&text, "%.*s.%.*s", SLICE_ARG(plan), SLICE_ARG(run));
    put_attribute(x->out, "classname", buf_slice(&text));
    buf_adds(x->out, " time=\"0\"");
    buf_deinit(&text);
}

/* The end of a case, with what is wrong; more: lines below it. */
static void close_case(struct junit *x, const char *element, const char *type, slice message,
                       slice more)
{
    buf_addf(x->out, ">\n      <%s", element);
    if (*type)
        buf_addf(x->out, " type=\"%s\"", type);
    put_attribute(x->out, "message", message);
    buf_addc(x->out, '>');
    add_text(more, x->out);
    buf_addf(x->out, "</%s>\n    </testcase>\n", element);
}

/* The faults of a run and where its logs are. */
static void describe(const struct node *run, struct buf *out)
{
    const struct node *faults = doc_list(run, "faults");
    slice dir = doc_text(run, "dir");
    for (uint32_t i = 0; i < faults->n; i++) {
        slice event = doc_text(faults->list[i], "event"), what = doc_text(faults->list[i], "what");
        if (doc_text(faults->list[i], "failed").n)
            continue;
        buf_addf(out, "fault %.*s: %.*s, from ", SLICE_ARG(event), SLICE_ARG(what));
        doc_add_ms(out, doc_number(faults->list[i], "begin_ms"));
        buf_adds(out, " to ");
        doc_add_ms(out, doc_number(faults->list[i], "end_ms"));
        buf_addc(out, '\n');
    }
    if (dir.n)
        buf_addf(out, "logs and history: %.*s\n", SLICE_ARG(dir));
}

static void put_answer(struct junit *x, const struct node *run, const struct node *answer)
{
    slice seen = doc_text(answer, "seen");
    struct buf more = BUF_INIT(TEXT_MAX);
    bool unsure = doc_answer(answer) == ANSWER_UNSURE, faulty = doc_faulty(run);
    open_case(x, doc_text(run, "name"), doc_text(answer, "name"));
    if (doc_answer(answer) == ANSWER_HOLDS) {
        buf_adds(x->out, ">\n      <system-out>");
        add_text(seen, x->out);
        buf_adds(x->out, "</system-out>\n    </testcase>\n");
    } else {
        describe(run, &more);
        close_case(x, faulty && !unsure ? "failure" : "error",
                   unsure   ? "inconclusive"
                   : faulty ? "violated"
                            : "without-faults",
                   seen, buf_slice(&more));
    }
    buf_deinit(&more);
}

/* That the run was carried out as planned is a case of its own, where it was not. */
static void put_doubts(struct junit *x, const struct node *run)
{
    struct buf why = BUF_INIT(TEXT_MAX), more = BUF_INIT(TEXT_MAX);
    slice broken = doc_text(run, "broken");
    if (broken.n)
        buf_add(&why, broken);
    for (uint32_t i = 0, n = 0; !broken.n && doc_failed_fault(run, &i, n ? &more : &why); n++)
        if (n)
            buf_addc(&more, '\n');
    if (why.n) {
        describe(run, &more);
        open_case(x, doc_text(run, "name"), SLICE("carried out as planned"));
        close_case(x, "error", broken.n ? "environment" : "inconclusive", buf_slice(&why),
                   buf_slice(&more));
    }
    buf_deinit(&why);
    buf_deinit(&more);
}

static struct junit_counts count(const struct node *run)
{
    const struct node *answers = doc_list(run, "expectations");
    struct junit_counts c = {.tests = answers->n};
    struct buf ignored = BUF_INIT(TEXT_MAX);
    uint32_t i = 0;
    for (uint32_t k = 0; k < answers->n; k++) {
        bool failure = doc_answer(answers->list[k]) == ANSWER_VIOLATED && doc_faulty(run);
        c.failures += failure;
        c.errors += !failure && doc_answer(answers->list[k]) != ANSWER_HOLDS;
    }
    bool doubt = doc_text(run, "broken").n || doc_failed_fault(run, &i, &ignored);
    c.tests += doubt;
    c.errors += doubt;
    c.ms = doc_number(run, "to_ms") - doc_number(run, "from_ms");
    c.ms = c.ms > 0 ? c.ms : 0;
    buf_deinit(&ignored);
    return c;
}

static void put_property(struct buf *out, const char *name, slice value)
{
    buf_adds(out, "      <property");
    put_attribute(out, "name", slice_of(name));
    put_attribute(out, "value", value);
    buf_adds(out, "/>\n");
}

static void put_properties(struct junit *x, const struct node *run)
{
    struct buf text = BUF_INIT(100);
    buf_adds(x->out, "    <properties>\n");
    put_property(x->out, "version", doc_text(x->doc, "outfox"));
    put_property(x->out, "file", doc_text(x->doc, "file"));
    put_property(x->out, "verdict", doc_text(x->doc, "verdict"));
    buf_addf(&text, "%.0f", doc_number(x->doc, "seed"));
    put_property(x->out, "seed", buf_slice(&text));
    buf_clear(&text);
    buf_addf(&text, "%.0f", doc_number(run, "operations"));
    put_property(x->out, "operations", buf_slice(&text));
    buf_clear(&text);
    buf_addf(&text, "%.0f", doc_number(run, "failures"));
    put_property(x->out, "failures", buf_slice(&text));
    put_property(x->out, "command", doc_text(x->doc, "command"));
    buf_adds(x->out, "    </properties>\n");
    buf_deinit(&text);
}

static void put_suite(struct junit *x, const struct node *run)
{
    const struct node *answers = doc_list(run, "expectations");
    struct junit_counts c = count(run);
    buf_adds(x->out, "  <testsuite");
    put_attribute(x->out, "name", doc_text(run, "name"));
    put_counts(x->out, &c, true);
    put_properties(x, run);
    for (uint32_t i = 0; i < answers->n; i++)
        put_answer(x, run, answers->list[i]);
    put_doubts(x, run);
    buf_adds(x->out, "  </testsuite>\n");
    map_deinit(&x->names);
    x->names = (struct map){0};
}

/* The expectations of runs with faults, none of which was made: those of the first run; NULL: there
 * were such runs, or there were to be none. */
static const struct node *skipped(const struct node *doc)
{
    const struct node *runs = doc_list(doc, "runs");
    for (uint32_t i = 0; i < runs->n; i++)
        if (doc_faulty(runs->list[i]))
            return NULL;
    bool wanted = plan_document_verdict(doc) != PLAN_HOLDS && doc_list(doc, "events")->n;
    return wanted && runs->n ? doc_list(runs->list[0], "expectations") : NULL;
}

static void put_skipped(struct junit *x, const struct node *answers)
{
    struct junit_counts c = {.tests = answers->n, .skipped = answers->n};
    buf_adds(x->out, "  <testsuite name=\"faulty-1\"");
    put_counts(x->out, &c, true);
    for (uint32_t i = 0; i < answers->n; i++) {
        open_case(x, SLICE("faulty-1"), doc_text(answers->list[i], "name"));
        buf_adds(x->out, ">\n      <skipped message=\"not run: ");
        add_text(slice_of(doc_sentence(x->doc)), x->out);
        buf_adds(x->out, "\"/>\n    </testcase>\n");
    }
    buf_adds(x->out, "  </testsuite>\n");
}

void plan_document_junit(const struct node *doc, struct buf *out)
{
    struct junit x = {.doc = doc, .out = out};
    const struct node *runs = doc_list(doc, "runs"), *left = skipped(doc);
    struct junit_counts all = {.tests = left ? left->n : 0};
    for (uint32_t i = 0; i < runs->n; i++) {
        struct junit_counts c = count(runs->list[i]);
        all.tests += c.tests;
        all.failures += c.failures;
        all.errors += c.errors;
        all.ms += c.ms;
    }
    buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    put_attribute(out, "name", doc_text(doc, "plan"));
    put_counts(out, &all, false);
    for (uint32_t i = 0; i < runs->n; i++)
        put_suite(&x, runs->list[i]);
    if (left && left->n)
        put_skipped(&x, left);
    map_deinit(&x.names);
    buf_adds(out, "</testsuites>\n");
}
