/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox oracles: the table of oracles, or the page of one, for people and as JSON. The pages are
 * those of docs/oracles (pages.h). */
#include "cmd/cmd.h"
#include "cmd/pages.h"
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

static void print_json(const struct oracle_row *o, bool page, bool last)
{
    printf("    { \"name\": \"%s\", \"severity\": \"%s\", \"doc\": \"%s\"", o->name,
           severity_names[o->severity], o->says);
    if (page) {
        struct buf text = BUF_INIT(1 << 16), quoted = BUF_INIT(1 << 17);
        page_add(o->name, &text);
        buf_add_json_string(&quoted, buf_slice(&text));
        printf(", \"page\": %s", buf_text(&quoted));
        buf_deinit(&text);
        buf_deinit(&quoted);
    }
    printf(" }%s\n", last ? "" : ",");
}

static void print_page(const struct oracle_row *o)
{
    struct buf text = BUF_INIT(1 << 16);
    page_add(o->name, &text);
    printf("%s (%s)\n\n%s", o->name, severity_names[o->severity], buf_text(&text));
    buf_deinit(&text);
}

int cmd_oracles(const struct args *args)
{
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
        printf("{\n  \"schema_version\": %d,\n  \"oracles\": [\n", REPORT_SCHEMA_VERSION);
    for (uint32_t i = from; i < to; i++) {
        const struct oracle_row *o = &oracle_rows[i];
        if (args->json)
            print_json(o, name != NULL, i + 1 == to);
        else if (name)
            print_page(o);
        else
            printf("%-22s %-8s %s\n", o->name, severity_names[o->severity], o->says);
    }
    if (args->json)
        puts("  ]\n}");
    return EXIT_OK;
}
