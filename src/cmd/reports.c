/* SPDX-License-Identifier: Apache-2.0
 *
 * The reports of a campaign: which are wanted, where they go, and the exit code that follows; outfox
 * report, which makes them again from the store. The summary for people goes to standard output, unless another report is wanted there: then
 * nothing but that report is printed on it. GitHub gets annotations and a job summary without being
 * asked, because its environment says that it is there. */
#include "cmd/report_file.h"
#include "cmd/session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/outlet.h"
#include "page/html.h"
#include "page/page.h"
#include "report/compare.h"
#include "report/report.h"
#include "report/words.h"

typedef void (*printer)(const struct report_source *source, struct buf *out);

/* A report that goes to a file of the user's choice. */
struct wanted {
    const char *option, *file; /* NULL: not wanted */
    printer print;             /* NULL: it is written as it comes (run.c) */
    bool bytes;                /* it is harmless, and must arrive as it is */
};

enum { WANTED = 5 };

static void list_wanted(const struct args *args, struct wanted out[WANTED])
{
    out[0] = (struct wanted){"--json", args->json_file, report_campaign_json, false};
    out[1] = (struct wanted){"--junit", args->junit, report_junit, false};
    out[2] = (struct wanted){"--markdown", args->markdown, report_markdown, false};
    out[3] = (struct wanted){"--events", args->events, NULL, false};
    out[4] = (struct wanted){"--html", args->html, html_report, true};
}

/* ---- before ---- */

int reports_check(const struct args *args)
{
    struct wanted all[WANTED];
    const char *on_stdout = NULL;
    list_wanted(args, all);
    if (args->html && !page_html.n) {
        struct err e = {0};
        err_set(
            &e, 0, 0,
            "this outfox has no --html: it was built without its pages (make NO_UI=1); build it "
            "with Node, or use --json or --markdown");
        return cmd_fail(&e);
    }
    for (int i = 0; i < WANTED; i++) {
        struct err e = {0};
        const struct wanted *w = &all[i];
        if (!w->file)
            continue;
        if (report_to_stdout(w->file) && on_stdout) {
            err_set(&e, 0, 0, "%s and %s cannot both be standard output; give one of them a FILE",
                    on_stdout, w->option);
            return cmd_fail(&e);
        }
        if (report_to_stdout(w->file)) {
            on_stdout = w->option;
            continue;
        }
        int number = report_unwritable(w->file);
        if (number)
            return report_refuse(w->option, w->file, number);
    }
    return 0;
}

int reports_spare(struct session *s, struct err *e)
{
    const struct campaign_config *c = s->config;
    const struct {
        const char *file, *what;
    } sources[] = {{c->source, "the configuration"},
                   {c->simulate.n ? c->simulate.p : NULL, "the simulated system"},
                   {c->store.p, "the store"}};
    struct wanted all[WANTED];
    list_wanted(s->args, all);
    for (int i = 0; i < WANTED; i++)
        for (size_t k = 0; all[i].file && k < sizeof sources / sizeof *sources; k++)
            if (!report_to_stdout(all[i].file) && sources[k].file &&
                report_same_file(all[i].file, sources[k].file)) {
                err_set(e, 0, 0, "%s would overwrite %s, which is %s; give it another FILE",
                        all[i].option, all[i].file, sources[k].what);
                return EXIT_USAGE;
            }
    return 0;
}

/* ---- what the reports are made from ---- */

static int run_of(void *ctx, uint32_t scenario, faultload f, struct run *out)
{
    struct session *s = ctx;
    struct err ignored = {0};
    arena_reset(&s->shown);
    return campaign_run_of(s->campaigns.at[scenario], f, &s->shown, out, &ignored) ? 1 : 0;
}

static int runs_from(void *ctx, uint32_t scenario, uint64_t number, report_each each,
                     void *each_ctx)
{
    struct session *s = ctx;
    struct err ignored = {0};
    arena_reset(&s->read);
    return campaign_runs_from(s->campaigns.at[scenario], number, &s->read, each, each_ctx,
                              &ignored);
}

static int each_run(void *ctx, uint32_t scenario, report_each each, void *each_ctx)
{
    return runs_from(ctx, scenario, 1, each, each_ctx);
}

static void calls_of(void *ctx, uint32_t scenario, struct known_calls *out)
{
    const struct session *s = ctx;
    ledger_calls(s->ledgers.at[scenario], out);
}

static const struct ledger *ledger_of(void *ctx, uint32_t scenario)
{
    struct session *s = ctx;
    return s->ledgers.at[scenario];
}

static void deps_of(void *ctx, uint32_t scenario, struct deps *out)
{
    struct session *s = ctx;
    struct judge *judge = campaign_judge(s->campaigns.at[scenario]);
    if (judge)
        deps_build(judge, out);
}

static void sample_of(void *ctx, uint32_t scenario,
                      void (*take)(void *take_ctx, const struct explanations *all), void *take_ctx)
{
    struct session *s = ctx;
    faultload list[REPORT_SAMPLE];
    struct explanation why[REPORT_SAMPLE];
    uint32_t mark = s->faultloads.rows.n;
    uint32_t n =
        search_sample(campaign_search(s->campaigns.at[scenario]), REPORT_SAMPLE, list, why);
    for (uint32_t i = 0; i < n; i++)
        ledger_number_run(s->ledgers.at[scenario], &why[i]);
    struct explanations all = {campaign_summary(s->campaigns.at[scenario]), n, list, why};
    take(take_ctx, &all);
    faultloads_cut(&s->faultloads, mark);
}

static void suite_of(void *ctx, struct suite_coverage *out)
{
    struct session *s = ctx;
    VEC(const struct coverage *) list = {0};
    for (uint32_t i = 0; i < s->ledgers.n; i++)
        vec_push(&list, ledger_coverage(s->ledgers.at[i]));
    struct suite_facts facts = {.services = s->words.services, .n_services = s->words.n_services};
    struct arena scratch = {0};
    if (s->sim)
        sim_ways(s->sim, &scratch, &facts.ways);
    for (uint32_t i = 0; i < s->judging.wires.n && !s->sim; i++)
        vec_push(&facts.ways, (struct known_way){s->judging.wires.at[i].caller,
                                                 s->judging.wires.at[i].callee, SLICE("")});
    suite_cover(list.at, list.n, &facts, out);
    arena_deinit(&scratch);
    vec_deinit(&facts.ways);
    vec_deinit(&list);
}

static void add_option(struct buf *out, const char *option, const char *value)
{
    if (!value)
        return;
    buf_adds(out, option);
    words_quoted(slice_of(value), out);
}

/* The command that goes on: modes and assumptions are those of the store. */
static const char *resume_words(struct session *s)
{
    const struct args *args = s->args;
    struct buf text = BUF_INIT(1 << 16);
    buf_adds(&text, "outfox run");
    add_option(&text, " ", args->positional[0]);
    buf_adds(&text, " --resume");
    add_option(&text, " --store ", args->store);
    add_option(&text, " --identify ", args->identify);
    add_option(&text, " --scenario ", args->scenario);
    for (uint32_t i = 0; i < args->oracles.n; i++)
        add_option(&text, " --oracle ", args->oracles.at[i]);
    buf_adds(&text, args->contract ? " --contract" : "");
    return buf_keep(&text, &s->arena).p;
}

void reports_entitle(struct session *s, uint32_t i, struct summary *out)
{
    struct buf same = BUF_INIT(1 << 16); /* what a replay must say to find the same campaign */
    add_option(&same, " ", s->file);
    add_option(&same, " --store ", s->args->store);
    add_option(&same, " --identify ", s->args->identify);
    out->system = s->config->name.p;
    out->scenario = session_scenario(s, i);
    out->file = s->config->source;
    search_describe(&s->search, &s->arena, out);
    out->line = s->config->scenarios.at[s->scenarios.at[i]].line;
    out->ids = config_has_many(s->config) ? arena_printf(&s->arena, "%s/", out->scenario) : "";
    out->replay = buf_keep(&same, &s->arena).p;
    out->resume = resume_words(s);
}

struct summary *reports_title(struct session *s, uint32_t i)
{
    struct summary *out = campaign_summary(s->campaigns.at[i]);
    reports_entitle(s, i, out);
    return out;
}

const struct summary *reports_summary(struct session *s, uint32_t i)
{
    struct summary *out = reports_title(s, i);
    if (!out->runs_by_size.n && !out->stopped)
        out->stopped = "not-run"; /* that nothing was found is no news then */
    return campaign_finish(s->campaigns.at[i]);
}

/* The file as GitHub knows it: from the top of what was checked out. */
static const char *path_in_workspace(struct session *s)
{
    const char *top = getenv("GITHUB_WORKSPACE");
    char file[PATH_MAX], real_top[PATH_MAX];
    if (!top || !realpath(s->config->source, file) || !realpath(top, real_top))
        return NULL;
    slice rest = slice_of(file), prefix = slice_of(real_top);
    if (!slice_starts(rest, prefix) || rest.n < prefix.n + 2 || rest.p[prefix.n] != '/')
        return NULL;
    rest = slice_from(rest, prefix.n + 1);
    return arena_copy(&s->arena, rest.p, rest.n);
}

struct report_source reports_source(struct session *s, const struct summary *const *scenarios,
                                    const char *error)
{
    if (!s->oracles[0].name)
        oracles_about(&s->arena, s->oracles);
    return (struct report_source){.system = s->config->name.p,
                                  .file = s->config->source,
                                  .path = path_in_workspace(s),
                                  .version = outfox_version,
                                  .error = error,
                                  .n = s->campaigns.n,
                                  .scenarios = scenarios,
                                  .ctx = s,
                                  .run_of = run_of,
                                  .each_run = each_run,
                                  .runs_from = runs_from,
                                  .calls = calls_of,
                                  .ledger = ledger_of,
                                  .deps = deps_of,
                                  .sample = sample_of,
                                  .suite = suite_of,
                                  .oracles = s->oracles,
                                  .n_oracles = ORACLES};
}

/* ---- the end ---- */

int cmd_code(const struct summary *s)
{
    static const int codes[CONCLUSIONS] = {[CONCLUSION_OK] = EXIT_OK,
                                           [CONCLUSION_INCONCLUSIVE] = EXIT_INCONCLUSIVE,
                                           [CONCLUSION_FINDINGS] = EXIT_FINDINGS,
                                           [CONCLUSION_BROKEN] = EXIT_ENVIRONMENT};
    enum conclusion c = summary_conclusion(s);
    bool error = c == CONCLUSION_INCONCLUSIVE && s->stopped && strcmp(s->stopped, "error") == 0;
    return error ? EXIT_ENVIRONMENT : codes[c];
}

int cmd_worse(int a, int b)
{
    static const int order[] = {EXIT_ENVIRONMENT, EXIT_FINDINGS, EXIT_INCONCLUSIVE, EXIT_OK};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a;
}

/* 0, or an errno. */
static int write_report(const struct report_source *source, const char *file, enum outlet_kind kind,
                        printer print)
{
    struct buf text = BUF_INIT(SIZE_MAX);
    print(source, &text);
    int number = report_write(file, kind, &text);
    buf_deinit(&text);
    return number;
}

/* Nobody asked for it, so it is not an error when it does not work. */
static void tell_github(const struct report_source *source, const struct args *args, FILE *out)
{
    const char *there = getenv("GITHUB_ACTIONS"), *summary = getenv("GITHUB_STEP_SUMMARY");
    struct buf text = BUF_INIT(SIZE_MAX);
    if (!there || strcmp(there, "true") != 0)
        return;
    report_github(source, &text);
    (void)outlet_raw(out, buf_slice(&text)); /* commands indeed, and the text in them is harmless */
    buf_deinit(&text);
    if (!summary || !*summary || args->markdown)
        return;
    int number = write_report(source, summary, OUTLET_APPEND, report_markdown);
    if (number)
        fprintf(stderr, "outfox: the job summary %s cannot be written: %s\n", summary,
                strerror(number));
}

/* ---- an earlier campaign ---- */

int reports_earlier(struct session *s, struct err *e)
{
    const char *file = s->args->compare;
    struct buf bytes = BUF_INIT(JSON_BYTES_MAX);
    int code = 0;
    if (!file)
        return 0;
    int number = file_read(file, &bytes);
    if (number) {
        err_set(e, 0, 0, "%s cannot be read: %s; --compare takes a report of an earlier campaign",
                file, strerror(number));
        code = EXIT_USAGE;
    } else if (bytes.full) {
        err_set(e, 0, 0, "%s is too large to be compared with: more than %d MB", file,
                JSON_BYTES_MAX >> 20);
        code = EXIT_USAGE;
    } else if (compare_read(&s->arena, file, buf_slice(&bytes), &s->earlier, e)) {
        code = EXIT_USAGE;
    }
    buf_deinit(&bytes);
    return code;
}

int reports_compare(struct session *s, const struct report_source *source, struct arena *a,
                    struct comparison *out, struct err *e)
{
    struct buf text = BUF_INIT(SIZE_MAX);
    const struct node *now;
    report_campaign_json(source, &text);
    int failed = compare_read(a, "the report of this campaign", buf_slice(&text), &now, e);
    buf_deinit(&text);
    if (!failed)
        compare_make(out, s->args->compare, s->earlier, now);
    return failed;
}

int reports_make(struct session *s, const char *error)
{
    VEC(const struct summary *) scenarios = {0};
    struct wanted all[WANTED];
    struct comparison comparison = {0};
    struct err e = {0};
    struct buf text = BUF_INIT(SIZE_MAX);
    int code = EXIT_OK, failed = 0;
    FILE *other = stdout; /* for what no option has asked for */
    bool any = false;
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        struct event_sink sink = watch_sink(s);
        vec_push(&scenarios, reports_summary(s, i));
        summary_tell(scenarios.at[i], &sink);
        code = cmd_worse(code, cmd_code(scenarios.at[i]));
        any |= scenarios.at[i]->runs_by_size.n > 0;
    }
    struct report_source source = reports_source(s, scenarios.at, error);
    if (s->earlier && reports_compare(s, &source, &s->arena, &comparison, &e))
        cmd_fail(&e);
    else if (s->earlier)
        source.comparison = &comparison;
    list_wanted(s->args, all);
    for (int i = 0; i < WANTED; i++) {
        bool now = all[i].file && all[i].print;
        enum outlet_kind kind = all[i].bytes ? OUTLET_BYTES : OUTLET_TEXT;
        int number = now ? write_report(&source, all[i].file, kind, all[i].print) : 0;
        failed = number ? report_refuse(all[i].option, all[i].file, number) : failed;
        other = report_to_stdout(all[i].file) ? stderr : other;
    }
    if (other == stdout && (any || !error)) /* it was printed: what else is there to say? */
        report_text(&source, style_for(1, s->args->color), &text);
    cmd_print(&text, stdout);
    contracts_print(s, other);
    tell_github(&source, s->args, other);
    compare_deinit(&comparison);
    vec_deinit(&scenarios);
    return failed ? failed : code;
}

static int make_again(struct session *s, struct err *e)
{
    int code = reports_spare(s, e);
    code = code ? code : reports_earlier(s, e);
    code = code ? code : session_take_up(s, e);
    return code ? code : reports_make(s, NULL);
}

int cmd_report(const struct args *args)
{
    int code = reports_check(args);
    return code ? code : session_do(args, args->positional[0], false, make_again);
}
