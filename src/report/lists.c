/* SPDX-License-Identifier: Apache-2.0
 *
 * What there is to choose from: ways to fail, sets of them, and oracles. */
#include "data/json.h"
#include "report/report.h"

static struct json_out begin_document(struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_int(&j, "schema_version", REPORT_SCHEMA_VERSION);
    return j;
}

static void end_document(struct json_out *j)
{
    json_map_end(j);
    buf_addc(j->to, '\n');
}

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
        [ARG_EVENT] = ":NAME",
    };
    for (enum mode_kind k = MODE_STATUS; k < MODE_KINDS; k++)
        print_mode(j, out, mode_rows[k].name, arguments[mode_rows[k].argument], mode_rows[k].doc);
    print_mode(
        j, out, "lost-reply", ":MODE",
        "The service gets the request and does its work, but the caller sees MODE instead of the "
        "answer.");
}

void report_modes(struct buf *out)
{
    print_modes(NULL, out);
    buf_adds(out, "\nsets of modes, which can stand wherever modes are listed:\n");
    for (size_t i = 0; i < MODE_SETS; i++) {
        slice modes = slice_of(mode_sets[i].modes), word;
        buf_addf(out, "%-16s ", mode_sets[i].name);
        for (const char *between = ""; slice_cut(&modes, ',', &word); between = ", ") {
            buf_adds(out, between);
            buf_add(out, slice_trim(word));
        }
        buf_addf(out, "\n%-16s %s\n", "", mode_sets[i].doc);
    }
    buf_adds(
        out,
        "\nfaults of a service as a whole, which are written SERVICE and one of these words:\n");
    for (size_t i = 0; i < SERVICE_IDS; i++)
        buf_addf(out, "%-16s %s\n", service_fault_rows[i].word, service_fault_rows[i].doc);
}

void report_modes_json(struct buf *out)
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
    json_list(&j, "services");
    for (size_t i = 0; i < SERVICE_IDS; i++) {
        json_map(&j, NULL);
        json_text(&j, "name", service_fault_rows[i].word);
        json_text(&j, "doc", service_fault_rows[i].doc);
        json_map_end(&j);
    }
    json_list_end(&j);
    end_document(&j);
}

void report_oracles_json(const struct report_oracle *list, uint32_t n, struct buf *out)
{
    struct json_out j = begin_document(out);
    json_list(&j, "oracles");
    for (uint32_t i = 0; i < n; i++) {
        json_map(&j, NULL);
        json_text(&j, "name", list[i].name);
        json_text(&j, "severity", severity_names[list[i].severity]);
        json_text(&j, "doc", list[i].doc);
        json_text(&j, "page", list[i].page);
        json_map_end(&j);
    }
    json_list_end(&j);
    end_document(&j);
}
