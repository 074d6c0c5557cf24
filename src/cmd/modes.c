/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox modes: the table of modes, for people and as JSON. */
#include "base/node.h"
#include "cmd/cmd.h"
#include "core/mode.h"
#include "report/report.h"

static const char *const argument_names[] = {
    [ARG_NONE] = "", [ARG_STATUS] = ":STATUS", [ARG_CODE] = ":CODE", [ARG_DURATION] = ":TIME"};

int cmd_modes(const struct args *args)
{
    if (args->json)
        printf("{\n  \"schema_version\": %d,\n  \"modes\": [\n", REPORT_SCHEMA_VERSION);
    for (enum mode_kind k = MODE_STATUS; k < MODE_KINDS; k++) {
        const struct mode_row *row = &mode_rows[k];
        if (args->json) {
            struct buf doc = BUF_INIT(1000);
            buf_add_json_string(&doc, slice_of(row->doc));
            printf("    { \"name\": \"%s\", \"argument\": \"%s\", \"doc\": %s }%s\n", row->name,
                   argument_names[row->argument], buf_text(&doc), k + 1 < MODE_KINDS ? "," : "");
            buf_deinit(&doc);
        } else {
            char name[32];
            snprintf(name, sizeof name, "%s%s", row->name, argument_names[row->argument]);
            printf("%-16s %s\n", name, row->doc);
        }
    }
    if (args->json)
        printf("  ]\n}\n");
    else
        printf("%-16s The service gets the request and does its work; then the caller is failed by "
               "MODE.\n",
               "lost-reply:MODE");
    return EXIT_OK;
}
