/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox modes: the tables of modes and of sets of them, for people and as JSON. */
#include "cmd/cmd.h"
#include "core/mode_set.h"
#include "data/json_out.h"
#include "report/report.h"

static const char *const argument_names[ARG_KINDS] = {
    [ARG_NONE] = "",          [ARG_STATUS] = ":STATUS", [ARG_CODE] = ":CODE",
    [ARG_DURATION] = ":TIME", [ARG_CUT] = "[:BYTES]",   [ARG_RATE] = ":RATE",
    [ARG_BYTES] = ":BYTES",   [ARG_CORRUPT] = ":WHAT",  [ARG_ERROR] = ":CODE",
};

static const char lost_reply[] =
    "The service gets the request and does its work; then the caller is failed by MODE.";

static void add_json_mode(struct json_out *j, const char *name, const char *argument,
                          const char *doc)
{
    json_map(j, NULL);
    json_text(j, "name", name);
    json_text(j, "argument", argument);
    json_text(j, "doc", doc);
    json_map_end(j);
}

static void print_json(struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_list(&j, "modes");
    for (enum mode_kind k = MODE_STATUS; k < MODE_KINDS; k++)
        add_json_mode(&j, mode_rows[k].name, argument_names[mode_rows[k].argument],
                      mode_rows[k].doc);
    add_json_mode(&j, "lost-reply", ":MODE", lost_reply);
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
    json_map_end(&j);
    buf_addc(out, '\n');
}

static void print_text(struct buf *out)
{
    struct buf name = BUF_INIT(100);
    for (enum mode_kind k = MODE_STATUS; k < MODE_KINDS; k++) {
        buf_clear(&name);
        buf_addf(&name, "%s%s", mode_rows[k].name, argument_names[mode_rows[k].argument]);
        buf_addf(out, "%-16s %s\n", buf_text(&name), mode_rows[k].doc);
    }
    buf_deinit(&name);
    buf_addf(out, "%-16s %s\n\nsets of modes, which can be listed like modes:\n", "lost-reply:MODE",
             lost_reply);
    for (size_t i = 0; i < MODE_SETS; i++) {
        slice modes = slice_of(mode_sets[i].modes), word;
        buf_addf(out, "%-16s ", mode_sets[i].name);
        for (const char *between = ""; slice_cut(&modes, ',', &word); between = ", ") {
            buf_adds(out, between);
            buf_add(out, slice_trim(word));
        }
        buf_addf(out, "\n%-16s %s\n", "", mode_sets[i].doc);
    }
}

int cmd_modes(const struct args *args)
{
    struct buf out = BUF_INIT(SIZE_MAX);
    if (args->json)
        print_json(&out);
    else
        print_text(&out);
    cmd_print(&out, stdout);
    return EXIT_OK;
}
