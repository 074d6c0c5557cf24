/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign/config.h"
#include "cmd/cmd.h"

static void print_schema(void)
{
    struct buf schema = BUF_INIT(1 << 20);
    campaign_config_schema(&schema);
    fputs(buf_text(&schema), stdout);
    buf_deinit(&schema);
}

/* "3 services (2 started by Outfox)" */
static void add_services(const struct campaign_config *c, struct buf *out)
{
    uint32_t started = 0;
    for (uint32_t i = 0; i < c->services.n; i++)
        started += c->services.at[i].run.n > 0;
    buf_addf(out, "%u service%s (", c->services.n, c->services.n == 1 ? "" : "s");
    if (c->simulate.n)
        buf_adds(out, "simulated)");
    else
        buf_addf(out, "%u started by Outfox)", started);
}

static void print_ok(const struct campaign_config *c)
{
    struct buf text = BUF_INIT(1000);
    add_services(c, &text);
    if (c->scenarios.n)
        buf_addf(&text, ", %u scenario%s", c->scenarios.n, c->scenarios.n == 1 ? "" : "s");
    else
        buf_adds(&text, ", the scenarios of the simulated system");
    printf("%s: ok: %s, %u modes\n", c->source, buf_text(&text), c->modes.n);
    buf_deinit(&text);
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
    print_ok(c);
    campaign_config_free(c);
    return EXIT_OK;
}
