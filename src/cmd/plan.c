/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox plan, outfox doctor: failure plans, and what killed ones have left. */
#include "cmd/plan.h"
#include "cmd/plan_report.h"
#include "data/json.h"
#include "harm/journal.h"
#include "lab/explore.h"
#include "lab/lab.h"
#include "plan/injector.h"
#include "report/explored.h"
#include "report/plan.h"

static int plan_open(const struct args *args, struct plan *p)
{
    struct err e = {0};
    if (plan_load(p, args->positional[0], &e) == 0)
        return EXIT_OK;
    plan_free(p);
    return cmd_fail(&e);
}

int cmd_plan_check(const struct args *args)
{
    struct plan p;
    if (args->schema) {
        struct buf out = BUF_INIT(SIZE_MAX);
        plan_schema(&out);
        cmd_print(&out, stdout);
        return EXIT_OK;
    }
    if (!args->n_positional) {
        fprintf(stderr, "outfox: plan check needs FILE, or --schema\n");
        return EXIT_USAGE;
    }
    int code = plan_open(args, &p);
    if (code)
        return code;
    printf("%s: ok: %u %s, %u %s, %u %s, %u %s\n", args->positional[0], p.nodes.n,
           plural(p.nodes.n, "node", "nodes"), p.clients.n,
           plural(p.clients.n, "client", "clients"), p.events.n,
           plural(p.events.n, "event", "events"), p.expects.n,
           plural(p.expects.n, "expectation", "expectations"));
    plan_free(&p);
    return EXIT_OK;
}

int cmd_plan_show(const struct args *args)
{
    struct plan p;
    struct buf out = BUF_INIT(SIZE_MAX);
    int code = plan_open(args, &p);
    if (code)
        return code;
    plan_print_show(&p, &out);
    cmd_print(&out, stdout);
    plan_free(&p);
    return EXIT_OK;
}

int cmd_plan_faults(const struct args *args)
{
    struct buf out = BUF_INIT(1 << 16);
    struct json_out j = json_out(&out, JSON_PRETTY);
    if (args->json) {
        json_map(&j, NULL);
        json_uint(&j, "schema_version", REPORT_SCHEMA_VERSION);
        json_list(&j, "faults");
    }
    for (size_t i = 0; i < n_injectors; i++) {
        const struct injector *in = &injectors[i];
        if (!args->json) {
            buf_addf(&out, "%-10s  %s\n", in->name, in->about);
            continue;
        }
        json_map(&j, NULL);
        json_text(&j, "name", in->name);
        json_text(&j, "about", in->about);
        json_map_end(&j);
    }
    if (args->json) {
        json_list_end(&j);
        json_map_end(&j);
        buf_addc(&out, '\n');
    }
    cmd_print(&out, stdout);
    return EXIT_OK;
}

/* A call, the group that it is in, whether it can be short, its errors. */
static void print_call(const struct syscall_row *row, bool json, struct json_out *j,
                       struct buf *out)
{
    bool is_short = row->moves != MOVES_NONE;
    slice rest = slice_of(row->errors), word;
    if (!json) {
        buf_addf(out, "%-18s %-12s %-6s %s\n", row->name, row->group ? row->group : "",
                 is_short ? "short" : "", row->errors);
        return;
    }
    json_map(j, NULL);
    json_text(j, "name", row->name);
    json_text(j, "group", row->group);
    json_bool(j, "short", is_short);
    json_list(j, "errors");
    while (slice_word(&rest, &word)) {
        word.n = slice_find(word, ':');
        json_str(j, NULL, word);
    }
    json_list_end(j);
    json_map_end(j);
}

int cmd_plan_calls(const struct args *args)
{
    struct buf out = BUF_INIT(1 << 16);
    struct json_out j = json_out(&out, JSON_PRETTY);
    if (args->json) {
        json_map(&j, NULL);
        json_uint(&j, "schema_version", REPORT_SCHEMA_VERSION);
        json_list(&j, "calls");
    } else {
        buf_adds(&out, "call               group               errors, and on which descriptors\n");
    }
    for (size_t i = 0; i < SYSCALLS; i++)
        print_call(&syscall_rows[i], args->json, &j, &out);
    if (args->json) {
        json_list_end(&j);
        json_map_end(&j);
        buf_addc(&out, '\n');
    }
    cmd_print(&out, stdout);
    return EXIT_OK;
}

static void say(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "outfox: %s\n", text);
}

int cmd_plan_run(const struct args *args)
{
    struct plan p;
    struct plan_result r;
    struct plan_reports reports;
    struct err e = {0};
    struct lab_options o = {
        .dir = PLAN_DIR, .reference_only = args->reference, .say = args->quiet ? NULL : say};
    int code = plan_reports_open(&reports, args);
    if (code)
        return code;
    code = plan_open(args, &p);
    if (code) {
        plan_reports_close(&reports);
        return code;
    }
    if (lab_run(&p, &o, &r, &e)) {
        (void)cmd_fail(&e);
        code = EXIT_ENVIRONMENT;
    } else {
        code = plan_reports_made(&reports, &r);
    }
    plan_reports_close(&reports);
    plan_result_deinit(&r);
    plan_free(&p);
    return code;
}

static int explore_code(const struct plan_explored *x)
{
    bool unsure = x->end == EXPLORE_RUNS || x->end == EXPLORE_TIME;
    if (x->signal)
        return 128 + x->signal;
    if (x->end == EXPLORE_SICK)
        return EXIT_ENVIRONMENT;
    for (uint32_t i = 0; i < x->trials.n; i++) {
        if (x->trials.at[i].violated)
            return EXIT_FINDINGS;
        unsure = unsure || x->trials.at[i].verdict == PLAN_UNSURE;
    }
    return unsure ? EXIT_INCONCLUSIVE : EXIT_OK;
}

int cmd_plan_explore(const struct args *args)
{
    struct plan p;
    struct plan_explored x;
    struct err e = {0};
    struct buf out = BUF_INIT(SIZE_MAX);
    struct lab_options o = {.dir = ".outfox/plans", .say = args->quiet ? NULL : say};
    int code = plan_open(args, &p);
    if (code)
        return code;
    p.explore.max_runs = args->max_runs ? args->max_runs : p.explore.max_runs;
    p.explore.max_time_ns = args->max_time_ns ? args->max_time_ns : p.explore.max_time_ns;
    if (lab_explore(&p, args->positional[0], &o, &x, &e)) {
        (void)cmd_fail(&e);
        code = EXIT_ENVIRONMENT;
    } else {
        if (args->json)
            explored_print_json(&x, &out);
        else
            explored_print_text(&x, style_for(1, args->color), &out);
        code = explore_code(&x);
    }
    cmd_print(&out, stdout);
    plan_explored_deinit(&x);
    plan_free(&p);
    return code;
}

/* ---- doctor ---- */

static bool undo_one(const struct orphan *o)
{
    struct buf said = BUF_INIT(2000);
    struct err e = {0};
    bool undone = journal_undo(o, &said, &e) == 0;
    printf("%s: %s (%s): %s%s\n", o->plan, o->event, o->what,
           undone ? "undone" : "NOT undone: ", undone ? "" : e.text);
    buf_deinit(&said);
    return undone;
}

int cmd_doctor(const struct args *args)
{
    struct arena a = {0};
    struct orphans list = {0};
    struct err e = {0};
    uint32_t left = 0;
    if (journal_orphans(&a, &list, &e)) {
        arena_deinit(&a);
        return cmd_fail(&e);
    }
    for (uint32_t i = 0; i < list.n; i++) {
        const struct orphan *o = &list.at[i];
        if (args->dry_run)
            printf("%s: %s (%s) is left; it is undone by: %s\n", o->plan, o->event, o->what,
                   o->undo);
        left += args->dry_run || !undo_one(o);
    }
    if (list.under_way)
        printf("%u %s under way, left alone\n", list.under_way,
               plural(list.under_way, "plan is", "plans are"));
    if (list.unread)
        printf("%u %s cannot be read: written by a later version, or open to others\n", list.unread,
               plural(list.unread, "journal", "journals"));
    if (!list.n)
        printf("nothing is left of earlier plans\n");
    arena_deinit(&a);
    return left || list.unread ? EXIT_FINDINGS : EXIT_OK;
}
