/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox modes: the tables of modes and of sets of them, for people and as JSON. */
#include "cmd/cmd.h"
#include "core/mode_set.h"
#include "data/node.h"
#include "report/report.h"

static const char *const argument_names[ARG_KINDS] = {
    [ARG_NONE] = "",          [ARG_STATUS] = ":STATUS", [ARG_CODE] = ":CODE",
    [ARG_DURATION] = ":TIME", [ARG_CUT] = "[:BYTES]",   [ARG_RATE] = ":RATE",
    [ARG_BYTES] = ":BYTES",   [ARG_CORRUPT] = ":WHAT",  [ARG_ERROR] = ":CODE",
};

static const char lost_reply[] =
    "The service gets the request and does its work; then the caller is failed by MODE.";

static void print_mode(const char *name, const char *argument, const char *doc, bool json,
                       bool last)
{
    struct buf text = BUF_INIT(1000);
    if (json) {
        buf_add_json_string(&text, slice_of(doc));
        printf("    { \"name\": \"%s\", \"argument\": \"%s\", \"doc\": %s }%s\n", name, argument,
               buf_text(&text), last ? "" : ",");
    } else {
        buf_addf(&text, "%s%s", name, argument);
        printf("%-16s %s\n", buf_text(&text), doc);
    }
    buf_deinit(&text);
}

static void print_modes(slice modes, bool json)
{
    slice word;
    for (const char *between = ""; slice_cut(&modes, ',', &word); between = ", ") {
        word = slice_trim(word);
        printf(json ? "%s\"%.*s\"" : "%s%.*s", between, SLICE_ARG(word));
    }
}

static void print_set(const struct mode_set *set, bool json, bool last)
{
    printf(json ? "    { \"name\": \"%s\", \"modes\": [" : "%-16s ", set->name);
    print_modes(slice_of(set->modes), json);
    if (json)
        printf("], \"doc\": \"%s\" }%s\n", set->doc, last ? "" : ",");
    else
        printf("\n%-16s %s\n", "", set->doc);
}

int cmd_modes(const struct args *args)
{
    if (args->json)
        printf("{\n  \"schema_version\": %d,\n  \"modes\": [\n", REPORT_SCHEMA_VERSION);
    for (enum mode_kind k = MODE_STATUS; k < MODE_KINDS; k++)
        print_mode(mode_rows[k].name, argument_names[mode_rows[k].argument], mode_rows[k].doc,
                   args->json, false);
    print_mode("lost-reply", ":MODE", lost_reply, args->json, true);
    puts(args->json ? "  ],\n  \"sets\": [" : "\nsets of modes, which can be listed like modes:");
    for (size_t i = 0; i < MODE_SETS; i++)
        print_set(&mode_sets[i], args->json, i + 1 == MODE_SETS);
    if (args->json)
        puts("  ]\n}");
    return EXIT_OK;
}
