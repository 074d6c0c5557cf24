/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox schema: the JSON Schemas of all that outfox prints as JSON, and of outfox.yaml. */
#include "page/schema.h"

#include "api/api.h"
#include "cmd/cmd.h"
#include "config/config.h"
#include "plan/plan.h"
#include "trial/trial.h"

/* Made of the table of keys, and of the table of routes; the others are files. */
static const char CONFIG[] = "config", OPENAPI[] = "openapi", PLAN[] = "plan", TRIALS[] = "trials";

enum { NAMES_MAX = 100 };

static void list(struct buf *out)
{
    struct arena a = {0};
    buf_addf(out, "%-16s %s\n", CONFIG, "The configuration, outfox.yaml.");
    buf_addf(out, "%-16s %s\n", PLAN, "A failure plan, for outfox plan.");
    buf_addf(out, "%-16s %s\n", TRIALS, "A file of trials, for outfox trials.");
    buf_addf(out, "%-16s %s\n", OPENAPI, "The API of `outfox run --ui`: an OpenAPI 3.1 document.");
    for (const char *name = schema_next(NULL); name; name = schema_next(name))
        buf_addf(out, "%-16s %s\n", name, schema_about(name, &a));
    arena_deinit(&a);
}

static int unknown(const char *given)
{
    const char *names[NAMES_MAX] = {CONFIG, OPENAPI, PLAN, TRIALS};
    uint32_t n = 4;
    for (const char *name = schema_next(NULL); name && n < NAMES_MAX; name = schema_next(name))
        names[n++] = name;
    fprintf(stderr, "outfox: there is no schema \"%s\"; outfox schema lists them%s\n", given,
            err_hint(slice_of(given), names, n).text);
    return EXIT_USAGE;
}

int cmd_schema(const struct args *args)
{
    const char *name = args->positional[0];
    struct buf out = BUF_INIT(SIZE_MAX);
    if (!name)
        list(&out);
    else if (strcmp(name, CONFIG) == 0)
        campaign_config_schema(&out);
    else if (strcmp(name, OPENAPI) == 0)
        api_openapi(outfox_version, &out);
    else if (strcmp(name, PLAN) == 0)
        plan_schema(&out);
    else if (strcmp(name, TRIALS) == 0)
        trials_schema(&out);
    else if (!schema_print(name, &out))
        return unknown(name);
    cmd_print(&out, stdout);
    return EXIT_OK;
}
