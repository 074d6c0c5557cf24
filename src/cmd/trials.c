/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox trials: carried out, checked, replayed, reported on again.
 *
 *     .outfox/trials/NAME/result.json     the document; what all reports are printed from
 *     .outfox/trials/NAME/journal.jsonl   a line for each trial, as soon as it is over
 *     .outfox/trials/NAME/000012/         logs of a trial that was suspicious
 *
 * The document is replaced as a whole, now and then and at the end: after kill -9 it has all but the last
 * seconds. */
#include "cmd/trials.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "cmd/report_file.h"
#include "data/json.h"
#include "report/trials.h"
#include "rig/rig.h"

#define TRIALS_DIR  ".outfox/trials"
#define RESULT      "result.json"
#define KEEP_NS     SECONDS(5)
#define PROGRESS_NS SECONDS(10)

/* ---- which reports are wanted ---- */

static const struct wanted {
    const char *option;
    enum outlet_kind kind;
    void (*print)(const struct node *doc, struct buf *out);
} wanted[] = {
    {"--junit", OUTLET_BYTES, trials_document_junit},
    {"--markdown", OUTLET_TEXT, trials_document_markdown},
    {"--html", OUTLET_BYTES, trials_document_html},
};

static const char *file_of(const struct args *args, size_t i)
{
    const char *const all[] = {args->junit, args->markdown, args->html};
    return all[i];
}

/* 0, or an exit code after the error was printed: before anything is started. */
static int check_reports(const struct args *args)
{
    const char *on_stdout = args->json ? "--json" : NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const char *file = file_of(args, i);
        if (!file)
            continue;
        bool here = report_to_stdout(file);
        int number = here ? 0 : report_unwritable(file);
        struct err e = {0};
        if (number)
            return report_refuse(wanted[i].option, file, number);
        if (here && on_stdout) {
            err_set(&e, 0, 0, "%s and %s cannot both be standard output; give %s a FILE", on_stdout,
                    wanted[i].option, wanted[i].option);
            return cmd_fail(&e);
        }
        on_stdout = here ? wanted[i].option : on_stdout;
    }
    return EXIT_OK;
}

/* All reports that are wanted, and text where nothing else goes to stdout. */
static int print_reports(const struct args *args, const struct node *doc, slice json)
{
    bool taken = args->json;
    int code = EXIT_OK;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const char *file = file_of(args, i);
        struct buf text = BUF_INIT(SIZE_MAX);
        if (!file)
            continue;
        wanted[i].print(doc, &text);
        taken = taken || report_to_stdout(file);
        int number = report_write(file, wanted[i].kind, &text);
        if (number) {
            (void)report_refuse(wanted[i].option, file, number);
            code = EXIT_ENVIRONMENT;
        }
        buf_deinit(&text);
    }
    struct buf text = BUF_INIT(SIZE_MAX);
    if (args->json)
        buf_add(&text, json);
    else if (!taken)
        trials_document_text(doc, style_for(1, args->color), &text);
    cmd_print(&text, stdout);
    return code;
}

/* ---- a run of trials ---- */

struct trials_session {
    const struct args *args;
    struct trials trials;
    struct agenda *agenda;
    struct programs *programs;
    const char *dir;
    int journal;
    int64_t began_ns, kept_ns, told_ns;
    uint32_t n;
    uint32_t unsure; /* trials that say nothing */
    bool replays;    /* nothing is kept */
    slice until; /* exploring ends with a suspicious trial whose line has this; empty: it goes on */
    struct arena arena;
};

static void document(const struct trials_session *s, slice end, struct buf *out)
{
    struct agenda_view v = agenda_view(s->agenda);
    trials_print_json(&v, outfox_version, clock_ns() - s->began_ns, end, out);
}

/* 0, or errno. */
static int keep(struct trials_session *s, slice json)
{
    const char *path = arena_printf(&s->arena, "%s/" RESULT, s->dir);
    s->kept_ns = clock_ns();
    return file_make_directories(path) ? errno : file_replace(path, json);
}

static void journal_add(struct trials_session *s, const struct trial_result *r)
{
    struct buf line = BUF_INIT(1 << 20);
    if (s->journal < 0 && !s->replays) /* only now: until then another outfox may hold the place */
        s->journal = file_open_private(arena_printf(&s->arena, "%s/journal.jsonl", s->dir),
                                       O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_APPEND);
    trials_line_json(r, &line);
    buf_addc(&line, '\n');
    if (s->journal >= 0 && write(s->journal, line.p, line.n) < 0 && !s->args->quiet)
        fprintf(stderr, "outfox: the journal cannot be written: %s\n", strerror(errno));
    buf_deinit(&line);
}

/* How many trials there will be at most, as far as is known. */
static uint64_t trials_most(const struct trials_session *s)
{
    struct agenda_view v = agenda_view(s->agenda);
    uint64_t n = s->trials.references + s->trials.control;
    for (uint32_t i = 0; i < v.n_legs; i++)
        n += v.leg[i].over ? v.leg[i].trials : s->trials.max_trials;
    return n;
}

static void progress(struct trials_session *s)
{
    struct agenda_view v = agenda_view(s->agenda);
    int64_t now = clock_ns(), spent = now - s->began_ns;
    uint64_t most = trials_most(s), left = most > s->n ? most - s->n : 0;
    int64_t rest = spent / s->n * (int64_t)left;
    if (s->trials.max_time_ns && rest > s->trials.max_time_ns - spent)
        rest = s->trials.max_time_ns - spent;
    s->told_ns = now;
    fprintf(stderr, "outfox: %u of about %llu trials, %u %s, about %llds left\n", s->n,
            (unsigned long long)most, findings_n(v.findings),
            plural(findings_n(v.findings), "finding", "findings"),
            (long long)((rest > 0 ? rest : 0) / SECONDS(1)));
}

static void tell_suspicious(struct trials_session *s, const struct trial_result *r)
{
    struct buf line = BUF_INIT(4000);
    trials_line(r, &line);
    if (!s->args->quiet && !s->replays) /* a replay tells of each at its end */
        fprintf(stderr, "outfox: %s\n", buf_text(&line));
    if (s->until.n && r->order.purpose == TRIAL_EXPLORE && slice_glob(s->until, buf_slice(&line)))
        agenda_stop(s->agenda, "what was looked for is found");
    buf_deinit(&line);
}

static void told(void *user, const struct trial_result *r)
{
    struct trials_session *s = user;
    s->n++;
    s->unsure += r->verdict == VERDICT_NOT_SURE;
    journal_add(s, r);
    if (r->verdict == VERDICT_SUSPICIOUS || r->broken.n)
        tell_suspicious(s, r);
    if (!s->args->quiet && !s->replays && clock_ns() - s->told_ns > PROGRESS_NS)
        progress(s);
    if (!s->replays && clock_ns() - s->kept_ns > KEEP_NS) {
        struct buf json = BUF_INIT(JSON_BYTES_MAX);
        document(s, SLICE("under way, or killed"), &json);
        (void)keep(s, buf_slice(&json));
        buf_deinit(&json);
    }
}

/* What the command line says over the file. */
static int apply(struct trials_session *s, struct err *e)
{
    const struct args *args = s->args;
    struct trials *t = &s->trials;
    bool first = true;
    for (uint32_t i = 0; i < args->settings.n; i++) {
        const struct setting *g = &args->settings.at[i];
        if (strcmp(g->name, "seed") == 0 && !slice_to_u64(slice_of(g->value), UINT64_MAX, &t->seed))
            return err_set(e, 0, 0, "--seed takes a number, not \"%s\"", g->value);
        if (strcmp(g->name, "until") == 0)
            s->until = slice_of(arena_printf(&s->arena, "*%s*", g->value));
        if (strcmp(g->name, "policy") != 0)
            continue;
        if (!policy_find(slice_of(g->value)))
            return err_set(e, 0, 0,
                           "there is no policy \"%s\"; outfox trials check FILE shows "
                           "which there are",
                           g->value);
        if (first)
            t->policy_names.n = 0;
        first = false;
        vec_push(&t->policy_names, slice_of(g->value));
    }
    t->max_trials = args->max_runs ? args->max_runs : t->max_trials;
    t->max_time_ns = args->max_time_ns ? args->max_time_ns : t->max_time_ns;
    t->parallel = args->jobs ? (uint32_t)(args->jobs < 64 ? args->jobs : 64) : t->parallel;
    return 0;
}

static int open_file(struct trials_session *s, const char *file, struct err *e)
{
    if (trials_load(&s->trials, file, e) || apply(s, e))
        return -1;
    s->programs = programs_new(&s->trials);
    s->dir = arena_printf(&s->arena, TRIALS_DIR "/%.*s", SLICE_ARG(s->trials.name));
    s->journal = -1;
    return programs_read(s->programs, e);
}

static void close_all(struct trials_session *s)
{
    if (s->journal >= 0)
        (void)close(s->journal);
    agenda_free(s->agenda);
    programs_free(s->programs);
    trials_free(&s->trials);
    arena_deinit(&s->arena);
}

static int run_code(const struct trials_session *s, int signal)
{
    struct agenda_view v = agenda_view(s->agenda);
    if (signal)
        return 128 + signal;
    if (v.sick.n)
        return EXIT_ENVIRONMENT;
    if (findings_n(v.findings))
        return EXIT_FINDINGS;
    return s->unsure || agenda_made_nothing(&v) ? EXIT_INCONCLUSIVE : EXIT_OK;
}

static enum status carry_out(struct trials_session *s, const char *dir, int *signal, struct err *e)
{
    struct rig_options o = {.dir = dir, .told = told, .user = s};
    s->began_ns = s->kept_ns = s->told_ns = clock_ns();
    return rig_run(&s->trials, s->agenda, s->programs, &o, signal, e);
}

/* Reads what was written just now, so that a report printed later says the same. */
static int report_on(struct trials_session *s, slice json, int code)
{
    const struct node *doc;
    struct err e = {0};
    int number = keep(s, json);
    if (number) {
        fprintf(stderr, "outfox: the result cannot be kept in %s: %s\n", s->dir, strerror(number));
        code = EXIT_ENVIRONMENT;
    }
    if (trials_document_read(&s->arena, RESULT, json, &doc, &e))
        return cmd_fail(&e);
    int printed = print_reports(s->args, doc, json);
    return printed ? printed : code;
}

int cmd_trials_run(const struct args *args)
{
    struct trials_session s = {.args = args, .journal = -1};
    struct err e = {0};
    struct buf json = BUF_INIT(JSON_BYTES_MAX);
    int signal = 0, code = check_reports(args);
    if (code)
        return code;
    if (open_file(&s, args->positional[0], &e)) {
        close_all(&s);
        return cmd_fail(&e);
    }
    s.agenda = agenda_new(&s.trials, programs_errors, s.programs);
    enum status status = carry_out(&s, s.dir, &signal, &e);
    if (status == STATUS_FAILED) {
        (void)cmd_fail(&e);
        close_all(&s);
        return EXIT_ENVIRONMENT;
    }
    document(&s, signal ? SLICE("it was interrupted") : SLICE(""), &json);
    code = report_on(&s, buf_slice(&json), run_code(&s, signal));
    buf_deinit(&json);
    close_all(&s);
    return code;
}

int cmd_trials_check(const struct args *args)
{
    struct trials_session s = {.args = args, .journal = -1};
    struct err e = {0};
    struct buf out = BUF_INIT(SIZE_MAX);
    if (args->schema) {
        trials_schema(&out);
        cmd_print(&out, stdout);
        return EXIT_OK;
    }
    if (!args->n_positional) {
        fprintf(stderr, "outfox: trials check needs FILE, or --schema\n");
        return EXIT_USAGE;
    }
    int code = open_file(&s, args->positional[0], &e) ? cmd_fail(&e) : EXIT_OK;
    if (!code) {
        trials_print(&s.trials, &out);
        for (uint32_t i = 0; i < programs_n(s.programs); i++) {
            const struct native *n = programs_at(s.programs, i);
            buf_addf(&out, "  %.*s: %u sites, %u states, %u tasks\n", SLICE_ARG(n->path),
                     n->sites.n, n->states.n, n->tasks.n);
        }
        if (!programs_n(s.programs))
            buf_adds(&out, "  not known before the first trial; `binary` of a node names them\n");
    }
    cmd_print(&out, stdout);
    close_all(&s);
    return code;
}

/* ---- what is kept ---- */

/* A directory, a file, or a name of trials. */
static void find_result(const char *which, struct buf *out)
{
    if (access(which, F_OK) == 0 && strchr(which, '.'))
        buf_adds(out, which);
    else
        buf_addf(out, TRIALS_DIR "/%s/" RESULT, which);
}

static int read_result(struct arena *a, const char *which, const struct node **doc, slice *json,
                       struct err *e)
{
    struct buf path = BUF_INIT(PATH_MAX), bytes = BUF_INIT(JSON_BYTES_MAX);
    find_result(which, &path);
    int number = file_read(buf_text(&path), &bytes);
    int status = number ? err_set(e, 0, 0,
                                  "there is no result of trials at %s (%s); outfox trials run FILE "
                                  "makes one",
                                  buf_text(&path), strerror(number))
                        : 0;
    *json = buf_keep(&bytes, a);
    if (!status)
        status = trials_document_read(a, buf_text(&path), *json, doc, e);
    buf_deinit(&path);
    return status;
}

int cmd_trials_report(const struct args *args)
{
    struct arena a = {0};
    struct err e = {0};
    const struct node *doc = NULL;
    slice json = {0};
    int code = check_reports(args);
    if (!code && read_result(&a, args->positional[0], &doc, &json, &e))
        code = cmd_fail(&e);
    if (!code)
        code = print_reports(args, doc, json);
    arena_deinit(&a);
    return code;
}

/* ---- a finding once more ---- */

static bool split(const char *what, slice *name, uint64_t *number)
{
    slice text = slice_of(what);
    const char *slash = memrchr(text.p, '/', text.n);
    if (!slash)
        return false;
    *name = (slice){text.p, (size_t)(slash - text.p)};
    return name->n && slice_to_u64(slice_from(text, name->n + 1), UINT32_MAX, number);
}

bool trials_finding_named(const char *what)
{
    slice name;
    uint64_t number;
    struct buf path = BUF_INIT(PATH_MAX);
    if (!split(what, &name, &number))
        return false;
    buf_addf(&path, TRIALS_DIR "/%.*s/" RESULT, SLICE_ARG(name));
    bool is = access(buf_text(&path), R_OK) == 0;
    buf_deinit(&path);
    return is;
}

/* The file of the finding, and what is asked for. */
static int find_order(struct arena *a, const char *what, const char **file, const char **title,
                      struct trial_order *order, struct err *e)
{
    slice name, json;
    uint64_t number;
    const struct node *doc;
    if (!split(what, &name, &number))
        return err_set(e, 0, 0, "\"%s\" is no finding of trials; write NAME/NUMBER, as reports do",
                       what);
    if (read_result(a, arena_copy(a, name.p, name.n), &doc, &json, e))
        return -1;
    const struct node *f = trials_document_finding(doc, number);
    if (!f)
        return err_set(e, 0, 0, "%.*s has no finding %llu", SLICE_ARG(name),
                       (unsigned long long)number);
    const struct node *path = node_get(doc, SLICE("file")), *dir = node_get(doc, SLICE("dir"));
    const struct node *text = node_get(f, SLICE("replay")), *said = node_get(f, SLICE("title"));
    if (!path || !dir || !text || !said || path->type != NODE_STR || text->type != NODE_STR)
        return err_set(e, 0, 0, "the result of %.*s does not say how to replay it",
                       SLICE_ARG(name));
    const char *slash = memrchr(path->text.p, '/', path->text.n);
    slice last = slash ? slice_from(path->text, (size_t)(slash + 1 - path->text.p)) : path->text;
    *file = arena_printf(a, "%.*s/%.*s", SLICE_ARG(dir->text), SLICE_ARG(last));
    *title = arena_copy(a, said->text.p, said->text.n);
    return trial_order_read(text->text, order, e);
}

static int replay_code(const struct trials_session *s, const char *title)
{
    struct agenda_view v = agenda_view(s->agenda);
    uint32_t tried = 0, shown = 0;
    for (uint32_t i = 0; i < v.n_results; i++) {
        const struct trial_result *r = v.result[i];
        if (r->order.purpose != TRIAL_REPLAY)
            continue;
        struct buf line = BUF_INIT(4000);
        tried += r->injection.done;
        shown += r->verdict == VERDICT_SUSPICIOUS;
        trials_line(r, &line);
        buf_addc(&line, '\n');
        cmd_print(&line, stdout);
    }
    if (v.sick.n) {
        printf("the system is not well without faults: %.*s\n", SLICE_ARG(v.sick));
        return EXIT_ENVIRONMENT;
    }
    printf("%s: shown by %u of %u %s in which the fault was made\n", title, shown, tried,
           plural(tried, "trial", "trials"));
    return shown ? EXIT_FINDINGS : tried ? EXIT_OK : EXIT_INCONCLUSIVE;
}

int cmd_trials_replay(const struct args *args)
{
    struct trials_session s = {.args = args, .journal = -1};
    struct trial_order order = {0};
    struct err e = {0};
    const char *file = NULL, *title = NULL;
    int signal = 0, code;
    if (find_order(&s.arena, args->positional[0], &file, &title, &order, &e) ||
        open_file(&s, file, &e)) {
        code = cmd_fail(&e);
    } else {
        s.agenda = agenda_new_replay(&s.trials, &order, s.trials.repeats ? s.trials.repeats : 1);
        s.replays = true;
        const char *dir = arena_printf(&s.arena, "%s/replay", s.dir);
        enum status status = carry_out(&s, dir, &signal, &e);
        if (status == STATUS_FAILED) {
            (void)cmd_fail(&e);
            code = EXIT_ENVIRONMENT;
        } else {
            code = signal ? 128 + signal : replay_code(&s, title);
        }
    }
    close_all(&s);
    return code;
}
