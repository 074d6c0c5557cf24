/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox plan report, and the reports of outfox plan run: both print from the document alone, one
 * from the disk, the other from memory. The result of a plan is a file that people can read, find
 * and copy, beside the logs of its runs; it is replaced as a whole when all is over. */
#include "cmd/plan_report.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cmd/plan.h"
#include "cmd/report_file.h"
#include "data/json.h"
#include "page/html.h"
#include "page/page.h"
#include "report/plan.h"

#define RESULT "result.json"

/* ---- which result is meant ---- */

static bool is_there(const char *path, bool directory)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode) == directory;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The names of all plans that have a result, "a, b, c"; how many. */
static uint32_t list_names(struct buf *out)
{
    struct arena a = {0};
    VEC(const char *) names = {0};
    DIR *dir = opendir(PLAN_DIR);
    for (struct dirent *one; dir && (one = readdir(dir));) {
        const char *path = arena_printf(&a, PLAN_DIR "/%s/" RESULT, one->d_name);
        if (one->d_name[0] != '.' && is_there(path, false))
            vec_push(&names, arena_copy(&a, one->d_name, strlen(one->d_name)));
    }
    if (dir)
        (void)closedir(dir);
    if (names.n)
        qsort(names.at, names.n, sizeof *names.at, compare_names);
    for (uint32_t i = 0; i < names.n; i++)
        buf_addf(out, "%s%s", i ? ", " : "", names.at[i]);
    uint32_t found = names.n;
    vec_deinit(&names);
    arena_deinit(&a);
    return found;
}

/* Of a plan's file: its name. */
static int name_of_plan(const char *file, struct buf *out, struct err *e)
{
    struct plan p;
    int code = plan_load(&p, file, e);
    if (!code)
        buf_addf(out, PLAN_DIR "/%.*s/" RESULT, SLICE_ARG(p.name));
    plan_free(&p);
    return code;
}

static bool is_yaml(const char *file)
{
    const char *dot = strrchr(file, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0);
}

/* The only one that there is. */
static int find_only(struct buf *out, struct err *e)
{
    struct buf names = BUF_INIT(2000);
    uint32_t n = list_names(&names);
    if (n == 1)
        buf_addf(out, PLAN_DIR "/%s/" RESULT, buf_text(&names));
    else if (n)
        err_set(e, 0, 0, "there are results of several plans, name one: %s", buf_text(&names));
    else
        err_set(e, 0, 0, "there is no result in " PLAN_DIR "; outfox plan run FILE makes one");
    buf_deinit(&names);
    return n == 1 ? 0 : -1;
}

/* The file that is meant by a plan's name or file, a directory, or a file: 0, or -1 with *e. */
static int find_result(const char *which, struct buf *out, struct err *e)
{
    struct buf names = BUF_INIT(2000);
    if (!which)
        return find_only(out, e);
    if (is_there(which, true)) {
        buf_addf(out, "%s/" RESULT, which);
    } else if (is_there(which, false) && is_yaml(which)) {
        if (name_of_plan(which, out, e))
            return -1;
    } else if (is_there(which, false) || strchr(which, '/')) {
        buf_adds(out, which);
    } else {
        buf_addf(out, PLAN_DIR "/%s/" RESULT, which);
    }
    if (is_there(buf_text(out), false))
        return 0;
    uint32_t n = list_names(&names);
    err_set(e, 0, 0, "there is no result of a failure plan at %s; %s%s", buf_text(out),
            n ? "there are results of " : "outfox plan run FILE makes one", buf_text(&names));
    buf_deinit(&names);
    return -1;
}

/* Reads it. 0, or an exit code after the error was printed. */
static int read_result(const char *which, struct arena *a, const struct node **out, slice *json)
{
    struct err e = {0};
    struct buf path = BUF_INIT(PATH_MAX), bytes = BUF_INIT(JSON_BYTES_MAX);
    int status = find_result(which, &path, &e);
    if (!status) {
        const char *file = arena_copy(a, buf_text(&path), path.n);
        int number = file_read(file, &bytes);
        if (number)
            status = err_set(&e, 0, 0, "%s cannot be read: %s", file, strerror(number));
        else if (bytes.full)
            status =
                err_set(&e, 0, 0, "%s is too large: more than %d MB", file, JSON_BYTES_MAX >> 20);
        else
            status = plan_document_read(a, file, buf_keep(&bytes, a), out, json, &e);
    }
    buf_deinit(&path);
    buf_deinit(&bytes);
    return status ? cmd_fail(&e) : EXIT_OK;
}

/* ---- which reports are wanted ---- */

struct wanted {
    const char *option, *file;
    void (*print)(const struct node *doc, struct buf *out); /* NULL: the page */
};

enum { WANTED = 3 };

static void list_wanted(const struct args *args, struct wanted out[WANTED])
{
    out[0] = (struct wanted){"--junit", args->junit, plan_document_junit};
    out[1] = (struct wanted){"--markdown", args->markdown, plan_document_markdown};
    out[2] = (struct wanted){"--html", args->html, NULL};
}

int plan_reports_open(struct plan_reports *r, const struct args *args)
{
    struct wanted all[WANTED];
    struct err e = {0};
    const char *on_stdout = args->json ? "--json" : NULL;
    slice ignored;
    *r = (struct plan_reports){.args = args};
    list_wanted(args, all);
    if (args->html && !page_html.n) {
        err_set(&e, 0, 0,
                "this outfox has no --html: it was built without its pages (make NO_UI=1); build "
                "it with Node, or use --json or --markdown");
        return cmd_fail(&e);
    }
    for (int i = 0; i < WANTED; i++) {
        bool here = report_to_stdout(all[i].file);
        int number = all[i].file && !here ? report_unwritable(all[i].file) : 0;
        if (here && on_stdout) {
            err_set(&e, 0, 0, "%s and %s cannot both be standard output; give %s a FILE", on_stdout,
                    all[i].option, all[i].option);
            return cmd_fail(&e);
        }
        if (number)
            return report_refuse(all[i].option, all[i].file, number);
        if (all[i].file && args->n_positional &&
            report_same_file(all[i].file, args->positional[0])) {
            err_set(&e, 0, 0, "%s would overwrite %s; give it another FILE", all[i].option,
                    all[i].file);
            return cmd_fail(&e);
        }
        on_stdout = here ? all[i].option : on_stdout;
    }
    int code = args->compare ? read_result(args->compare, &r->arena, &r->other, &ignored) : EXIT_OK;
    if (code)
        plan_reports_close(r);
    return code;
}

void plan_reports_close(struct plan_reports *r)
{
    arena_deinit(&r->arena);
}

/* ---- what comes of it ---- */

static int code_of(const struct node *doc)
{
    static const int codes[] = {[PLAN_HOLDS] = EXIT_OK,
                                [PLAN_VIOLATED] = EXIT_FINDINGS,
                                [PLAN_UNSURE] = EXIT_INCONCLUSIVE,
                                [PLAN_SICK] = EXIT_ENVIRONMENT};
    return codes[plan_document_verdict(doc)];
}

static void print_text(const struct plan_reports *r, FILE *out)
{
    const struct style *style = style_for(outlet_fd(out), r->args->color);
    struct buf text = BUF_INIT(SIZE_MAX);
    plan_document_text(r->doc, style, &text);
    if (r->other) {
        buf_addc(&text, '\n');
        plan_document_compare(r->doc, r->other, style, &text);
    }
    cmd_print(&text, out);
}

/* Nobody asked for it, so it is not an error when it does not work. */
static void tell_github(const struct plan_reports *r, FILE *out)
{
    const char *there = getenv("GITHUB_ACTIONS"), *summary = getenv("GITHUB_STEP_SUMMARY");
    struct buf text = BUF_INIT(SIZE_MAX);
    if (!there || strcmp(there, "true") != 0)
        return;
    plan_document_github(r->doc, &text);
    (void)outlet_raw(out, buf_slice(&text)); /* commands indeed, and the text in them is harmless */
    buf_clear(&text);
    if (summary && *summary && !r->args->markdown) {
        plan_document_markdown(r->doc, &text);
        int number = report_write(summary, OUTLET_APPEND, &text);
        if (number)
            fprintf(stderr, "outfox: the job summary %s cannot be written: %s\n", summary,
                    strerror(number));
    }
    buf_deinit(&text);
}

/* Prints all that is wanted from r->doc; the exit code, that of the verdict unless one fails. */
static int print_all(const struct plan_reports *r)
{
    struct wanted all[WANTED];
    int failed = 0;
    bool taken = r->args->json;
    list_wanted(r->args, all);
    for (int i = 0; i < WANTED; i++) {
        struct buf text = BUF_INIT(SIZE_MAX);
        if (!all[i].file)
            continue;
        if (all[i].print)
            all[i].print(r->doc, &text);
        else
            html_plan(r->json, &text);
        int number = report_write(all[i].file, all[i].print ? OUTLET_TEXT : OUTLET_BYTES, &text);
        failed = number ? report_refuse(all[i].option, all[i].file, number) : failed;
        taken |= report_to_stdout(all[i].file);
        buf_deinit(&text);
    }
    if (r->args->json) {
        struct buf text = BUF_INIT(SIZE_MAX);
        buf_add(&text, r->json);
        buf_addc(&text, '\n');
        cmd_print(&text, stdout);
    }
    if (!taken)
        print_text(r, stdout);
    else if (r->other)
        print_text(r, stderr);
    tell_github(r, taken ? stderr : stdout);
    return failed ? failed : code_of(r->doc);
}

/* Beside the directories of its runs. */
static int keep(const struct plan_result *result, slice json)
{
    struct buf path = BUF_INIT(PATH_MAX), text = BUF_INIT(SIZE_MAX);
    buf_addf(&path, PLAN_DIR "/%.*s/" RESULT, SLICE_ARG(result->plan->name));
    buf_add(&text, json);
    buf_addc(&text, '\n');
    int number = file_make_directories(buf_text(&path))
                     ? errno
                     : file_replace(buf_text(&path), buf_slice(&text));
    if (number)
        fprintf(stderr,
                "outfox: the result cannot be kept in %s: %s; outfox plan report will not find "
                "it\n",
                buf_text(&path), strerror(number));
    buf_deinit(&path);
    buf_deinit(&text);
    return number ? EXIT_ENVIRONMENT : EXIT_OK;
}

int plan_reports_made(struct plan_reports *r, const struct plan_result *result)
{
    struct buf text = BUF_INIT(SIZE_MAX);
    struct err e = {0};
    plan_print_json(result, outfox_version, &text);
    if (plan_document_read(&r->arena, "the result", buf_keep(&text, &r->arena), &r->doc, &r->json,
                           &e)) {
        (void)cmd_fail(&e);
        return EXIT_ENVIRONMENT;
    }
    int kept = keep(result, r->json), code = print_all(r);
    code = kept && code != EXIT_FINDINGS ? kept : code;
    return result->signal ? 128 + result->signal : code;
}

int cmd_plan_report(const struct args *args)
{
    struct plan_reports r;
    int code = plan_reports_open(&r, args);
    if (code)
        return code;
    code = read_result(args->n_positional ? args->positional[0] : NULL, &r.arena, &r.doc, &r.json);
    if (!code)
        code = print_all(&r);
    plan_reports_close(&r);
    return code;
}
