/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox oracles: the table of oracles, for people and as JSON. */
#include "cmd/cmd.h"
#include "judge/judge.h"
#include "report/report.h"

int cmd_oracles(const struct args *args)
{
    if (args->json)
        printf("{\n  \"schema_version\": %d,\n  \"oracles\": [\n", REPORT_SCHEMA_VERSION);
    for (uint32_t i = 0; i < ORACLES; i++) {
        const struct oracle_row *o = &oracle_rows[i];
        printf(args->json ? "    { \"name\": \"%s\", \"severity\": \"%s\", \"doc\": \"%s\" }%s\n"
                          : "%-22s %-8s %s%s\n",
               o->name, severity_names[o->severity], o->says,
               args->json && i + 1 < ORACLES ? "," : "");
    }
    if (args->json)
        puts("  ]\n}");
    return EXIT_OK;
}
