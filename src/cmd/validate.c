/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"
#include "config/config.h"
#include "data/json_out.h"
#include "report/report.h"

static void print_schema(void)
{
    struct buf schema = BUF_INIT(1 << 20);
    campaign_config_schema(&schema);
    fputs(buf_text(&schema), stdout);
    buf_deinit(&schema);
}

static uint32_t started(const struct campaign_config *c)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->services.n; i++)
        n += c->services.at[i].run.n > 0;
    return n;
}

static void print_ok(const struct campaign_config *c)
{
    struct buf text = BUF_INIT(2000);
    if (c->simulate.n)
        buf_addf(&text, "the simulated system %s, ", c->simulate.p);
    else
        buf_addf(&text, "%u service%s (%u started by Outfox), ", c->services.n,
                 plural(c->services.n, "", "s"), started(c));
    if (c->scenarios.n)
        buf_addf(&text, "%u scenario%s, ", c->scenarios.n, plural(c->scenarios.n, "", "s"));
    else
        buf_adds(&text, "its scenarios, ");
    printf("%s: right: %s%u mode%s\n", c->source, buf_text(&text), c->modes.n,
           plural(c->modes.n, "", "s"));
    buf_deinit(&text);
}

static void warn(void *ctx, const char *text)
{
    const struct campaign_config *c = ctx;
    fprintf(stderr, "outfox: %s: warning: %s\n", c->source, text);
}

static void add_warning(void *ctx, const char *text)
{
    json_text(ctx, NULL, text);
}

static void print_json(struct campaign_config *c)
{
    struct buf text = BUF_INIT(SIZE_MAX);
    struct json_out j = json_out(&text, JSON_PRETTY);
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_text(&j, "file", c->source);
    json_str(&j, "name", c->name);
    json_uint(&j, "services", c->services.n);
    json_uint(&j, "started", started(c));
    json_bool(&j, "simulated", c->simulate.n > 0);
    json_uint(&j, "scenarios", c->scenarios.n);
    json_uint(&j, "modes", c->modes.n);
    json_list(&j, "warnings");
    config_warn(c, add_warning, &j);
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(&text, '\n');
    cmd_print(&text, stdout);
}

int cmd_validate(const struct args *args)
{
    struct campaign_config *c;
    struct err e = {0};
    if (args->schema) {
        print_schema();
        return EXIT_OK;
    }
    if (campaign_config_load(args->positional[0], &c, &e))
        return cmd_fail(&e);
    if (args->json) {
        print_json(c);
    } else {
        config_warn(c, warn, c);
        print_ok(c);
    }
    campaign_config_free(c);
    return EXIT_OK;
}
