/* SPDX-License-Identifier: Apache-2.0
 *
 * The reports of a campaign: which are wanted, where they go, and the exit code that follows; outfox
 * report, which makes them again from the store. The summary for people goes to standard output, unless another report is wanted there: then
 * nothing but that report is printed on it. GitHub gets annotations and a job summary without being
 * asked, because its environment says that it is there. */
#include "cmd/session.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/outlet.h"
#include "report/report.h"
#include "report/words.h"

typedef void (*printer)(const struct report_source *source, struct buf *out);

/* A report that goes to a file of the user's choice. */
struct wanted {
    const char *option, *file; /* NULL: not wanted */
    printer print;             /* NULL: it is written as it comes (watch.c) */
};

enum { WANTED = 4 };

static void list_wanted(const struct args *args, struct wanted out[WANTED])
{
    out[0] = (struct wanted){"--json", args->json_file, report_campaign_json};
    out[1] = (struct wanted){"--junit", args->junit, report_junit};
    out[2] = (struct wanted){"--markdown", args->markdown, report_markdown};
    out[3] = (struct wanted){"--events", args->events, NULL};
}

static bool is_stdout(const char *file)
{
    return file && strcmp(file, "-") == 0;
}

/* ---- before ---- */

int reports_refuse(const char *option, const char *file, int number)
{
    struct err e = {0};
    err_set(&e, 0, 0, "the report %s cannot be written: %s; give %s another FILE", file,
            number == ENXIO ? "no program reads from this pipe" : strerror(number), option);
    cmd_fail(&e);
    return EXIT_ENVIRONMENT;
}

int reports_check(const struct args *args)
{
    struct wanted all[WANTED];
    const char *on_stdout = NULL;
    list_wanted(args, all);
    for (int i = 0; i < WANTED; i++) {
        struct err e = {0};
        const struct wanted *w = &all[i];
        if (!w->file)
            continue;
        if (is_stdout(w->file) && on_stdout) {
            err_set(&e, 0, 0, "%s and %s cannot both be standard output; give one of them a FILE",
                    on_stdout, w->option);
            return cmd_fail(&e);
        }
        if (is_stdout(w->file)) {
            on_stdout = w->option;
            continue;
        }
        /* the file must be writable, or the directory where it would be made */
        char dir[PATH_MAX] = ".";
        const char *slash = strrchr(w->file, '/'), *where = w->file;
        size_t n = slash == w->file ? 1 : slash ? (size_t)(slash - w->file) : 0;
        int need = W_OK;
        if (access(w->file, F_OK)) {
            if (n >= sizeof dir)
                return reports_refuse(w->option, w->file, ENAMETOOLONG);
            memcpy(dir, w->file, n);
            where = dir;
            need = W_OK | X_OK;
        }
        if (access(where, need))
            return reports_refuse(w->option, w->file, errno);
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

static int each_run(void *ctx, uint32_t scenario, report_each each, void *each_ctx)
{
    struct session *s = ctx;
    struct err ignored = {0};
    uint64_t campaign;
    if (store_find(s->store, slice_of(session_scenario(s, scenario)), &campaign, &ignored))
        return -1;
    return campaign ? store_each_run(s->store, campaign, &s->names, &s->faultloads, &s->arena, each,
                                     each_ctx, &ignored)
                    : 0;
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

struct summary *reports_title(struct session *s, uint32_t i)
{
    struct summary *out = campaign_summary(s->campaigns.at[i]);
    struct buf same = BUF_INIT(1 << 16); /* what a replay must say to find the same campaign */
    add_option(&same, " ", s->file);
    add_option(&same, " --store ", s->args->store);
    add_option(&same, " --identify ", s->args->identify);
    out->system = s->config->name.p;
    out->scenario = session_scenario(s, i);
    out->file = s->config->source;
    search_describe(&s->search, &s->arena, out);
    out->line = s->config->scenarios.at[s->scenarios.at[i]].line;
    out->ids = s->config->scenarios.n > 1 ? arena_printf(&s->arena, "%s/", out->scenario) : "";
    out->replay = buf_keep(&same, &s->arena).p;
    out->resume = resume_words(s);
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
static int write_report(const struct report_source *source, const char *file, bool append,
                        printer print)
{
    struct buf text = BUF_INIT(SIZE_MAX);
    errno = 0;
    FILE *out = is_stdout(file) ? stdout : outlet_open(file, append);
    if (!out)
        return errno ? errno : EIO;
    print(source, &text);
    cmd_print(&text, out);
    if (out == stdout)
        return 0; /* main sees what fails */
    bool failed = fflush(out) || ferror(out);
    int number = errno;
    failed |= fclose(out) != 0;
    return !failed ? 0 : number ? number : EIO;
}

/* Nobody asked for it, so it is not an error when it does not work. */
static void tell_github(const struct report_source *source, const struct args *args, FILE *out)
{
    const char *there = getenv("GITHUB_ACTIONS"), *summary = getenv("GITHUB_STEP_SUMMARY");
    struct buf text = BUF_INIT(SIZE_MAX);
    if (!there || strcmp(there, "true") != 0)
        return;
    report_github(source, &text);
    outlet_raw(out, buf_slice(&text)); /* commands indeed, and the text in them is harmless */
    buf_deinit(&text);
    if (!summary || !*summary || args->markdown)
        return;
    int number = write_report(source, summary, true, report_markdown);
    if (number)
        fprintf(stderr, "outfox: the job summary %s cannot be written: %s\n", summary,
                strerror(number));
}

int reports_make(struct session *s, const char *error)
{
    VEC(const struct summary *) scenarios = {0};
    struct wanted all[WANTED];
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
    struct report_source source = {.system = s->config->name.p,
                                   .file = s->config->source,
                                   .path = path_in_workspace(s),
                                   .version = outfox_version,
                                   .error = error,
                                   .n = scenarios.n,
                                   .scenarios = scenarios.at,
                                   .ctx = s,
                                   .run_of = run_of,
                                   .each_run = each_run};
    list_wanted(s->args, all);
    for (int i = 0; i < WANTED; i++) {
        bool now = all[i].file && all[i].print;
        int number = now ? write_report(&source, all[i].file, false, all[i].print) : 0;
        failed = number ? reports_refuse(all[i].option, all[i].file, number) : failed;
        other = is_stdout(all[i].file) ? stderr : other;
    }
    if (other == stdout && (any || !error)) /* it was printed: what else is there to say? */
        report_text(&source, style_for(1, s->args->color), &text);
    cmd_print(&text, stdout);
    contracts_print(s, other);
    tell_github(&source, s->args, other);
    vec_deinit(&scenarios);
    return failed ? failed : code;
}

static int make_again(struct session *s, struct err *e)
{
    int code = session_take_up(s, e);
    return code ? code : reports_make(s, NULL);
}

int cmd_report(const struct args *args)
{
    int code = reports_check(args);
    return code ? code : session_do(args, args->positional[0], make_again);
}
