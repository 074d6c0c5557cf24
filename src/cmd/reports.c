/* SPDX-License-Identifier: Apache-2.0
 *
 * The summary for people goes to standard output, unless another report is wanted there: then
 * nothing but that report is printed on it. GitHub gets annotations and a job summary without being
 * asked, because its environment says that it is there. */
#include "cmd/reports.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/outlet.h"
#include "cmd/contracts.h"
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

static int refuse_file(const struct wanted *w, int number)
{
    return reports_refuse(w->option, w->file, number);
}

static int check_file(const struct wanted *w)
{
    char dir[4096];
    if (access(w->file, F_OK) == 0)
        return access(w->file, W_OK) ? refuse_file(w, errno) : 0;
    const char *slash = strrchr(w->file, '/');
    size_t n = slash ? (size_t)(slash - w->file) : 0;
    if (n >= sizeof dir)
        return refuse_file(w, ENAMETOOLONG);
    memcpy(dir, w->file, n);
    dir[n] = 0;
    const char *where = n ? dir : slash ? "/" : ".";
    return access(where, W_OK | X_OK) ? refuse_file(w, errno) : 0;
}

int reports_check(const struct args *args)
{
    struct wanted all[WANTED];
    const char *on_stdout = NULL;
    int code = 0;
    list_wanted(args, all);
    for (int i = 0; i < WANTED && !code; i++) {
        struct err e = {0};
        if (!all[i].file)
            continue;
        if (!is_stdout(all[i].file)) {
            code = check_file(&all[i]);
            continue;
        }
        if (on_stdout) {
            err_set(&e, 0, 0, "%s and %s cannot both be standard output: give one of them a FILE",
                    on_stdout, all[i].option);
            code = cmd_fail(&e);
        }
        on_stdout = all[i].option;
    }
    return code;
}

/* ---- what the reports are made from ---- */

struct making {
    struct session *session;
    struct arena run; /* the last run that was asked for */
    struct report_source source;
    VEC(const struct summary *) scenarios;
};

static int run_of(void *ctx, uint32_t scenario, faultload f, struct run *out)
{
    struct making *m = ctx;
    struct err ignored = {0};
    arena_reset(&m->run);
    return campaign_run_of(m->session->campaigns.at[scenario], f, &m->run, out, &ignored) ? 1 : 0;
}

struct passing {
    int (*each)(void *ctx, const struct run *run);
    void *ctx;
};

static int pass_run(void *ctx, const struct run *run, struct err *e)
{
    const struct passing *p = ctx;
    (void)e;
    return p->each(p->ctx, run);
}

static int each_run(void *ctx, uint32_t scenario, int (*each)(void *each_ctx, const struct run *),
                    void *each_ctx)
{
    struct making *m = ctx;
    struct session *s = m->session;
    struct passing passing = {each, each_ctx};
    struct err ignored = {0};
    uint64_t campaign;
    if (store_find(s->store, slice_of(session_scenario(s, scenario)), &campaign, &ignored))
        return -1;
    if (!campaign)
        return 0;
    return store_each_run(s->store, campaign, &s->names, &s->faultloads, &s->arena, pass_run,
                          &passing, &ignored);
}

/* What a replay command must say so that it finds the same campaign. */
static const char *replay_words(struct session *s)
{
    const struct args *args = s->args;
    struct buf text = BUF_INIT(1 << 16);
    if (s->file) {
        buf_addc(&text, ' ');
        words_quoted(slice_of(s->file), &text);
    }
    if (args->store) {
        buf_adds(&text, " --store ");
        words_quoted(slice_of(args->store), &text);
    }
    if (args->identify) {
        buf_adds(&text, " --identify ");
        words_quoted(slice_of(args->identify), &text);
    }
    const char *out = arena_copy(&s->arena, buf_text(&text), text.n);
    buf_deinit(&text);
    return out;
}

static void add_option(struct buf *out, const char *option, const char *value)
{
    if (!value)
        return;
    buf_addf(out, " %s ", option);
    words_quoted(slice_of(value), out);
}

/* The command that goes on: modes and assumptions are those of the store. */
static const char *resume_words(struct session *s)
{
    const struct args *args = s->args;
    struct buf text = BUF_INIT(1 << 16);
    buf_adds(&text, "outfox run");
    if (args->positional[0]) {
        buf_addc(&text, ' ');
        words_quoted(slice_of(args->positional[0]), &text);
    }
    buf_adds(&text, " --resume");
    add_option(&text, "--store", args->store);
    add_option(&text, "--identify", args->identify);
    add_option(&text, "--scenario", args->scenario);
    for (uint32_t i = 0; i < args->oracles.n; i++)
        add_option(&text, "--oracle", args->oracles.at[i]);
    buf_adds(&text, args->contract ? " --contract" : "");
    const char *out = arena_copy(&s->arena, buf_text(&text), text.n);
    buf_deinit(&text);
    return out;
}

static const char *id_prefix(struct session *s, uint32_t i)
{
    struct buf text = BUF_INIT(1 << 12);
    if (s->config->scenarios.n > 1)
        buf_addf(&text, "%s/", session_scenario(s, i));
    const char *out = arena_copy(&s->arena, buf_text(&text), text.n);
    buf_deinit(&text);
    return out;
}

struct summary *reports_title(struct session *s, uint32_t i)
{
    struct summary *out = campaign_summary(s->campaigns.at[i]);
    out->system = s->config->name.p;
    out->scenario = session_scenario(s, i);
    out->file = s->config->source;
    out->modes = s->search.modes;
    out->n_modes = s->search.n_modes;
    out->order = order_rows[s->search.order].name;
    out->seed = s->search.seed;
    out->quick = search_is_quick(&s->search);
    out->shard = s->search.shard;
    out->shards = s->search.shards;
    out->line = s->config->scenarios.at[s->scenarios.at[i]].line;
    out->ids = id_prefix(s, i);
    out->replay = replay_words(s);
    out->resume = resume_words(s);
    return out;
}

const struct summary *reports_summary(struct session *s, uint32_t i)
{
    struct summary *out = reports_title(s, i);
    if (!out->runs_by_size.n && !out->stopped)
        out->stopped = "not-run"; /* that nothing was found is no news then */
    if (!out->assumptions.n)
        search_assumptions(&s->search, &s->arena, out);
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

static void making_init(struct making *m, struct session *s, const char *error)
{
    *m = (struct making){.session = s};
    for (uint32_t i = 0; i < s->campaigns.n; i++)
        vec_push(&m->scenarios, reports_summary(s, i));
    m->source = (struct report_source){.system = s->config->name.p,
                                       .file = s->config->source,
                                       .path = path_in_workspace(s),
                                       .version = outfox_version,
                                       .error = error,
                                       .n = m->scenarios.n,
                                       .scenarios = m->scenarios.at,
                                       .ctx = m,
                                       .run_of = run_of,
                                       .each_run = each_run};
}

static void making_deinit(struct making *m)
{
    vec_deinit(&m->scenarios);
    arena_deinit(&m->run);
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
static int write_file(const struct report_source *source, const char *file, bool append,
                      printer print)
{
    struct buf text = BUF_INIT(SIZE_MAX);
    errno = 0;
    FILE *out = outlet_open(file, append);
    if (!out)
        return errno ? errno : EIO;
    print(source, &text);
    cmd_print(&text, out);
    bool failed = fflush(out) || ferror(out);
    int number = errno;
    failed |= fclose(out) != 0;
    return !failed ? 0 : number ? number : EIO;
}

/* Was all of it written? 0, or an exit code. */
static int write_wanted(const struct making *m, bool *on_stdout)
{
    struct wanted all[WANTED];
    int code = 0;
    list_wanted(m->session->args, all);
    for (int i = 0; i < WANTED; i++) {
        if (!all[i].file)
            continue;
        *on_stdout |= is_stdout(all[i].file);
        if (all[i].print && is_stdout(all[i].file)) {
            struct buf text = BUF_INIT(SIZE_MAX);
            all[i].print(&m->source, &text);
            cmd_print(&text, stdout);
        }
        if (!all[i].print || is_stdout(all[i].file))
            continue;
        int number = write_file(&m->source, all[i].file, false, all[i].print);
        if (number)
            code = refuse_file(&all[i], number);
    }
    return code;
}

/* Nobody asked for it, so it is not an error when it does not work. */
static void tell_github(const struct making *m, FILE *out)
{
    const char *there = getenv("GITHUB_ACTIONS"), *summary = getenv("GITHUB_STEP_SUMMARY");
    if (!there || strcmp(there, "true") != 0)
        return;
    struct buf text = BUF_INIT(SIZE_MAX);
    report_github(&m->source, &text);
    outlet_raw(out, buf_slice(&text)); /* commands indeed, and the text in them is harmless */
    buf_deinit(&text);
    if (!summary || !*summary || m->session->args->markdown)
        return;
    int number = write_file(&m->source, summary, true, report_markdown);
    if (number)
        fprintf(stderr, "outfox: the job summary %s cannot be written: %s\n", summary,
                strerror(number));
}

int reports_make(struct session *s, const char *error)
{
    struct making m;
    int code = EXIT_OK;
    bool on_stdout = false, any = false;
    making_init(&m, s, error);
    for (uint32_t i = 0; i < m.scenarios.n; i++) {
        struct event_sink sink = watch_sink(s);
        summary_tell(m.scenarios.at[i], &sink);
        code = cmd_worse(code, cmd_code(m.scenarios.at[i]));
        any |= m.scenarios.at[i]->runs_by_size.n > 0;
    }
    int failed = write_wanted(&m, &on_stdout);
    struct buf text = BUF_INIT(SIZE_MAX);
    if (!on_stdout && (any || !error)) /* the error was printed: what else is there to say? */
        report_text(&m.source, style_for(1, s->args->color), &text);
    cmd_print(&text, stdout);
    contracts_print(s, on_stdout ? stderr : stdout);
    tell_github(&m, on_stdout ? stderr : stdout);
    making_deinit(&m);
    return failed ? failed : code;
}
