/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox oracles: the table of oracles, or the page of one, for people and as JSON. The pages are
 * those of docs/oracles (pages.h). */
#include "cmd/cmd.h"
#include "cmd/pages.h"
#include "data/json_out.h"
#include "judge/judge.h"
#include "report/report.h"

static int unknown_oracle(const char *name)
{
    const char *names[ORACLES];
    for (uint32_t i = 0; i < ORACLES; i++)
        names[i] = oracle_rows[i].name;
    fprintf(stderr, "outfox: there is no oracle \"%s\"; outfox oracles lists them%s\n", name,
            err_hint(slice_of(name), names, ORACLES).text);
    return EXIT_USAGE;
}

static void add_json(struct json_out *j, const struct oracle_row *o, bool page)
{
    json_map(j, NULL);
    json_text(j, "name", o->name);
    json_text(j, "severity", severity_names[o->severity]);
    json_text(j, "doc", o->says);
    if (page) {
        struct buf text = BUF_INIT(1 << 16);
        page_add(o->name, &text);
        json_take(j, "page", &text);
        buf_deinit(&text);
    }
    json_map_end(j);
}

static void print_json(uint32_t from, uint32_t to, bool page, struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_list(&j, "oracles");
    for (uint32_t i = from; i < to; i++)
        add_json(&j, &oracle_rows[i], page);
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
}

int cmd_oracles(const struct args *args)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    const char *name = args->positional[0];
    uint32_t from = 0, to = ORACLES;
    if (name) {
        while (from < ORACLES && strcmp(oracle_rows[from].name, name) != 0)
            from++;
        if (from == ORACLES)
            return unknown_oracle(name);
        to = from + 1;
    }
    if (args->json)
        print_json(from, to, name != NULL, &out);
    for (uint32_t i = from; i < to && !args->json; i++) {
        const struct oracle_row *o = &oracle_rows[i];
        const char *severity = severity_names[o->severity];
        if (!name) {
            buf_addf(&out, "%-22s %-8s %s\n", o->name, severity, o->says);
        } else {
            buf_addf(&out, "%s (%s)\n\n", o->name, severity);
            page_add(o->name, &out);
        }
    }
    cmd_print(&out, stdout);
    return EXIT_OK;
}
