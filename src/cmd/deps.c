/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox deps: which calls the scenarios of a stored campaign depend on. */
#include "cmd/deps.h"

#include "cmd/reports.h"

int deps_check(const struct args *args)
{
    struct err e = {0};
    if (!args->json || !args->dot)
        return 0;
    err_set(&e, 0, 0, "--json and --dot cannot both be printed: leave one of them out");
    return cmd_fail(&e);
}

/* A scenario that is broken says nothing about faults; one that was not done leaves some unknown.
 */
static int code_of(const struct summary *s)
{
    return s->broken ? EXIT_ENVIRONMENT : summary_unsure(s) ? EXIT_INCONCLUSIVE : 0;
}

int deps_print(const struct args *args, const struct deps_report *list, uint32_t n)
{
    int code = EXIT_OK;
    struct buf out = BUF_INIT(SIZE_MAX);
    for (uint32_t i = 0; i < n; i++)
        code = cmd_worse(code, code_of(list[i].summary));
    if (args->json)
        report_deps_json(list, n, &out);
    else if (args->dot)
        report_deps_dot(list, n, &out);
    else
        report_deps_text(list, n, style_for(1, args->color), &out);
    cmd_print(&out, stdout);
    return code;
}

static int print_session(struct session *s)
{
    VEC(struct deps_report) list = {0};
    for (uint32_t i = 0; i < s->campaigns.n; i++) {
        struct deps_report one = {.summary = reports_summary(s, i)};
        if (campaign_judge(s->campaigns.at[i]))
            deps_build(campaign_judge(s->campaigns.at[i]), &one.deps);
        vec_push(&list, one);
    }
    int code = deps_print(s->args, list.at, list.n);
    for (uint32_t i = 0; i < list.n; i++)
        deps_deinit(&list.at[i].deps);
    vec_deinit(&list);
    return code;
}

int cmd_deps(const struct args *args)
{
    int code = deps_check(args);
    return code ? code : session_stored(args, args->positional[0], print_session);
}
