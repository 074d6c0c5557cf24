/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox plan, outfox doctor: failure plans, and what killed ones have left. */
#include "report/plan.h"
#include "cmd/cmd.h"
#include "data/json.h"
#include "lab/journal.h"
#include "lab/lab.h"
#include "plan/injector.h"

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

static void say(void *user, const char *text)
{
    (void)user;
    fprintf(stderr, "outfox: %s\n", text);
}

static int code_of(const struct plan_result *r)
{
    static const int codes[] = {[PLAN_HOLDS] = EXIT_OK,
                                [PLAN_VIOLATED] = EXIT_FINDINGS,
                                [PLAN_UNSURE] = EXIT_INCONCLUSIVE,
                                [PLAN_SICK] = EXIT_ENVIRONMENT};
    return r->signal ? 128 + r->signal : codes[plan_verdict(r)];
}

int cmd_plan_run(const struct args *args)
{
    struct plan p;
    struct plan_result r;
    struct err e = {0};
    struct buf out = BUF_INIT(SIZE_MAX);
    struct lab_options o = {
        .dir = ".outfox/plans", .reference_only = args->reference, .say = args->quiet ? NULL : say};
    int code = plan_open(args, &p);
    if (code)
        return code;
    if (lab_run(&p, &o, &r, &e)) {
        (void)cmd_fail(&e);
        code = EXIT_ENVIRONMENT;
    } else {
        if (args->json)
            plan_print_json(&r, &out);
        else
            plan_print_text(&r, style_for(1, args->color), &out);
        code = code_of(&r);
    }
    cmd_print(&out, stdout);
    plan_result_deinit(&r);
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
