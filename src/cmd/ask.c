/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox fault-injected, calls and no-faults: what a test asks of the campaign that runs it. The same
 * test must work without one, where no fault is ever injected: then nothing is an error that has an
 * answer. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "live/ask.h"

enum { SAY_YES = 0, SAY_NO = 1 }; /* as exit codes */

/* Is there a run that the question is about? The commands `before` and `after` belong to none. */
static bool in_run(struct ask *ask)
{
    ask->control = getenv("OUTFOX_CONTROL");
    ask->run = getenv("OUTFOX_RUN");
    return ask->control && *ask->control && ask->run && *ask->run;
}

static int fail(int status, const struct err *e)
{
    (void)cmd_fail(e);
    return status == 400 ? EXIT_USAGE : EXIT_ENVIRONMENT;
}

static struct ask question(const struct args *args, const char *what)
{
    return (struct ask){.method = "GET",
                        .what = what,
                        .field = what,
                        .pattern = args->n_positional ? slice_of(args->positional[0]) : (slice){0}};
}

int cmd_fault_injected(const struct args *args)
{
    struct ask ask = question(args, "injected");
    const struct node *answer = NULL;
    struct arena a = {0};
    struct err e = {0};
    if (!in_run(&ask))
        return SAY_NO;
    int status = ask_control(&ask, &a, &answer, &e), code = SAY_NO;
    if (status != 200)
        code = fail(status, &e);
    else if (node_eq(answer, &node_true))
        code = SAY_YES;
    arena_deinit(&a);
    return code;
}

int cmd_calls(const struct args *args)
{
    struct ask ask = question(args, "calls");
    const struct node *answer = NULL;
    struct arena a = {0};
    struct err e = {0};
    int status = 0, code = EXIT_OK;
    if (in_run(&ask))
        status = ask_control(&ask, &a, &answer, &e);
    else
        (void)err_set(&e, 0, 0,
                      "calls are only counted during a campaign, which sets OUTFOX_CONTROL and "
                      "OUTFOX_RUN for a scenario's command");
    if (status == 200)
        printf("%.0f\n", answer->num);
    else
        code = fail(status, &e);
    arena_deinit(&a);
    return code;
}

int cmd_no_faults(const struct args *args)
{
    struct ask ask = {0};
    struct err e = {0};
    int code = EXIT_OK;
    if (!in_run(&ask))
        ask.run = NULL;
    if (!ask_hush(ask.control, ask.run, args->command, &code, &e))
        return fail(0, &e);
    if (e.text[0])
        (void)cmd_fail(&e);
    return e.text[0] && code == EXIT_OK ? EXIT_ENVIRONMENT : code;
}
