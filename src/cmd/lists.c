/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox modes, outfox oracles: the tables of modes, of sets of them and of oracles, or the page of
 * one oracle; for people, and as JSON. */
#include "cmd/cmd.h"
#include "data/json.h"
#include "judge/judge.h"
#include "report/report.h"

/* A document with one list, or several. */
static struct json_out begin_document(struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    return j;
}

static int end_document(struct json_out *j, struct buf *out)
{
    json_map_end(j);
    buf_addc(out, '\n');
    cmd_print(out, stdout);
    return EXIT_OK;
}

/* ---- modes ---- */

/* A mode as JSON, or (j NULL) as a line. */
static void print_mode(struct json_out *j, struct buf *out, const char *name, const char *argument,
                       const char *doc)
{
    if (!j) {
        int width = 16 - (int)strlen(name);
        buf_addf(out, "%s%-*s %s\n", name, width > 0 ? width : 0, argument, doc);
        return;
    }
    json_map(j, NULL);
    json_text(j, "name", name);
    json_text(j, "argument", argument);
    json_text(j, "doc", doc);
    json_map_end(j);
}

static void print_modes(struct json_out *j, struct buf *out)
{
    static const char *const arguments[ARG_KINDS] = {
        [ARG_NONE] = "",          [ARG_STATUS] = ":STATUS", [ARG_CODE] = ":CODE",
        [ARG_DURATION] = ":TIME", [ARG_CUT] = "[:BYTES]",   [ARG_RATE] = ":RATE",
        [ARG_BYTES] = ":BYTES",   [ARG_CORRUPT] = ":WHAT",  [ARG_ERROR] = ":CODE",
    };
    for (enum mode_kind k = MODE_STATUS; k < MODE_KINDS; k++)
        print_mode(j, out, mode_rows[k].name, arguments[mode_rows[k].argument], mode_rows[k].doc);
    print_mode(
        j, out, "lost-reply", ":MODE",
        "The service gets the request and does its work, but the caller sees MODE instead of the "
        "answer.");
}

static int modes_as_json(struct buf *out)
{
    struct json_out j = begin_document(out);
    json_list(&j, "modes");
    print_modes(&j, out);
    json_list_end(&j);
    json_list(&j, "sets");
    for (size_t i = 0; i < MODE_SETS; i++) {
        slice modes = slice_of(mode_sets[i].modes), word;
        json_map(&j, NULL);
        json_text(&j, "name", mode_sets[i].name);
        json_list(&j, "modes");
        while (slice_cut(&modes, ',', &word))
            json_str(&j, NULL, slice_trim(word));
        json_list_end(&j);
        json_text(&j, "doc", mode_sets[i].doc);
        json_map_end(&j);
    }
    json_list_end(&j);
    return end_document(&j, out);
}

int cmd_modes(const struct args *args)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    if (args->json)
        return modes_as_json(&out);
    print_modes(NULL, &out);
    buf_adds(&out, "\nsets of modes, which can stand wherever modes are listed:\n");
    for (size_t i = 0; i < MODE_SETS; i++) {
        slice modes = slice_of(mode_sets[i].modes), word;
        buf_addf(&out, "%-16s ", mode_sets[i].name);
        for (const char *between = ""; slice_cut(&modes, ',', &word); between = ", ") {
            buf_adds(&out, between);
            buf_add(&out, slice_trim(word));
        }
        buf_addf(&out, "\n%-16s %s\n", "", mode_sets[i].doc);
    }
    cmd_print(&out, stdout);
    return EXIT_OK;
}

/* ---- oracles ---- */

static int oracles_as_json(uint32_t from, uint32_t to, bool pages, struct buf *out)
{
    struct json_out j = begin_document(out);
    json_list(&j, "oracles");
    for (uint32_t i = from; i < to; i++) {
        const struct oracle_row *o = &oracle_rows[i];
        json_map(&j, NULL);
        json_text(&j, "name", o->name);
        json_text(&j, "severity", severity_names[o->severity]);
        json_text(&j, "doc", o->says);
        if (pages) {
            struct buf text = BUF_INIT(1 << 16);
            page_add(o->name, &text);
            json_take(&j, "page", &text);
            buf_deinit(&text);
        }
        json_map_end(&j);
    }
    json_list_end(&j);
    return end_document(&j, out);
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
        return oracles_as_json(from, to, name != NULL, &out);
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
