/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox plan fire, outfox plan tell: words for a run that is under way (lab/socket.c). */
#include <stdlib.h>

#include "cmd/plan.h"
#include "cmd/plan_report.h"
#include "lab/lab.h"
#include "plan/plan.h"

enum { TOLD_BYTES_MAX = 64 * 1024, SAID_BYTES_MAX = 64 * 1024 };

/* Sends it, and prints what there is to say. Its exit code. */
static int send_lines(const char *path, const struct buf *lines)
{
    struct buf said = BUF_INIT(SAID_BYTES_MAX);
    struct err e = {0};
    int code = lab_tell(path, buf_slice(lines), &said, &e) ? EXIT_ENVIRONMENT : EXIT_OK;
    slice rest = buf_slice(&said), line, wrong = SLICE("wrong: ");
    if (code)
        (void)cmd_fail(&e);
    while (rest.n && slice_cut(&rest, '\n', &line)) {
        bool bad = slice_starts(line, wrong);
        slice text = bad ? slice_from(line, wrong.n) : line;
        if (bad)
            code = EXIT_USAGE;
        if (text.n)
            fprintf(bad ? stderr : stdout, "%s%.*s\n", bad ? "outfox: " : "", SLICE_ARG(text));
    }
    buf_deinit(&said);
    return code;
}

/* Where a run of this plan listens. PLAN: its name, or its file. */
static int find_socket(const char *which, struct buf *out)
{
    struct plan p;
    struct err e = {0};
    const char *dot = strrchr(which, '.');
    bool file = strchr(which, '/') || (dot && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")));
    if (!file) {
        buf_addf(out, PLAN_DIR "/%s/control", which);
        return EXIT_OK;
    }
    int failed = plan_load(&p, which, &e);
    buf_addf(out, PLAN_DIR "/%.*s/control", SLICE_ARG(p.name));
    plan_free(&p);
    return failed ? cmd_fail(&e) : EXIT_OK;
}

int cmd_plan_fire(const struct args *args)
{
    struct buf path = BUF_INIT(4096), lines = BUF_INIT(TOLD_BYTES_MAX);
    int code = find_socket(args->positional[0], &path);
    buf_addf(&lines, "fire %s\n", args->n_positional > 1 ? args->positional[1] : "");
    code = code ? code : send_lines(buf_text(&path), &lines);
    buf_deinit(&path);
    buf_deinit(&lines);
    return code;
}

int cmd_plan_tell(const struct args *args)
{
    const char *path = getenv("OUTFOX_SOCKET"), *name = getenv("OUTFOX_NAME");
    struct buf lines = BUF_INIT(TOLD_BYTES_MAX);
    if (!path || !*path) {
        fprintf(stderr,
                "outfox: plan tell is for nodes and clients of a plan on this machine: there "
                "is no OUTFOX_SOCKET\n");
        return EXIT_USAGE;
    }
    if (name)
        buf_addf(&lines, "as %s\n", name);
    for (char **word = args->command; *word; word++)
        buf_addf(&lines, "%s%s", word == args->command ? "" : " ", *word);
    buf_addc(&lines, '\n');
    int code = lines.full ? EXIT_USAGE : send_lines(path, &lines);
    buf_deinit(&lines);
    return code;
}
