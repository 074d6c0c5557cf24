/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox modes, outfox oracles: the tables of modes, of sets of them and of oracles, or the page of
 * one oracle; for people, and as JSON. */
#include "cmd/cmd.h"
#include "judge/judge.h"

int cmd_modes(const struct args *args)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    (args->json ? report_modes_json : report_modes)(&out);
    cmd_print(&out, stdout);
    return EXIT_OK;
}

void oracles_about(struct arena *a, struct report_oracle out[ORACLES])
{
    for (uint32_t i = 0; i < ORACLES; i++) {
        const struct oracle_row *o = &oracle_rows[i];
        struct buf page = BUF_INIT(1 << 16);
        page_add(o->name, &page);
        out[i] = (struct report_oracle){o->name, o->says, o->severity, buf_keep(&page, a).p};
    }
}

static int oracles_as_json(uint32_t from, uint32_t to, struct buf *out)
{
    struct report_oracle all[ORACLES];
    struct arena arena = {0};
    oracles_about(&arena, all);
    report_oracles_json(all + from, to - from, out);
    arena_deinit(&arena);
    cmd_print(out, stdout);
    return EXIT_OK;
}

int cmd_oracles(const struct args *args)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    const char *name = args->positional[0];
    uint32_t from = 0, to = ORACLES;
    if (name) {
        while (from < ORACLES && strcmp(oracle_rows[from].name, name) != 0)
            from++;
        to = from + 1;
    }
    if (from == ORACLES) {
        const char *names[ORACLES];
        for (uint32_t i = 0; i < ORACLES; i++)
            names[i] = oracle_rows[i].name;
        fprintf(stderr, "outfox: there is no oracle \"%s\"; outfox oracles lists them%s\n", name,
                err_hint(slice_of(name), names, ORACLES).text);
        return EXIT_USAGE;
    }
    if (args->json)
        return oracles_as_json(from, to, &out);
    if (name) {
        buf_addf(&out, "%s (%s)\n\n", name, severity_names[oracle_rows[from].severity]);
        page_add(name, &out);
    }
    for (uint32_t i = 0; i < ORACLES && !name; i++)
        buf_addf(&out, "%-22s %-8s %s\n", oracle_rows[i].name,
                 severity_names[oracle_rows[i].severity], oracle_rows[i].says);
    cmd_print(&out, stdout);
    return EXIT_OK;
}
