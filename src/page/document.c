/* SPDX-License-Identifier: Apache-2.0 */
#include "page/document.h"

#include "page/ledger_int.h"

/* ---- of the campaign ---- */

static enum status print_report(const struct report_source *source,
                                const struct document_place *place, struct buf *out, struct err *e)
{
    (void)place;
    (void)e;
    report_campaign_json(source, out);
    return STATUS_OK;
}

static enum status print_dependencies(const struct report_source *source,
                                      const struct document_place *place, struct buf *out,
                                      struct err *e)
{
    VEC(struct deps_report) list = {0};
    (void)place;
    (void)e;
    if (!source->deps)
        return STATUS_NONE;
    for (uint32_t i = 0; i < source->n; i++) {
        struct deps_report one = {.summary = source->scenarios[i]};
        source->deps(source->ctx, i, &one.deps);
        vec_push(&list, one);
    }
    report_deps_json(list.at, list.n, out);
    for (uint32_t i = 0; i < list.n; i++)
        deps_deinit(&list.at[i].deps);
    vec_deinit(&list);
    return STATUS_OK;
}

static enum status print_modes(const struct report_source *source,
                               const struct document_place *place, struct buf *out, struct err *e)
{
    (void)source;
    (void)place;
    (void)e;
    report_modes_json(out);
    return STATUS_OK;
}

static enum status print_oracles(const struct report_source *source,
                                 const struct document_place *place, struct buf *out, struct err *e)
{
    (void)place;
    (void)e;
    if (!source->oracles)
        return STATUS_NONE;
    report_oracles_json(source->oracles, source->n_oracles, out);
    return STATUS_OK;
}

/* ---- of a scenario ---- */

/* Where the sample goes, and what it is of. */
struct sample {
    const struct summary *of;
    struct buf *out;
};

static void print_sample(void *ctx, const struct explanations *all)
{
    const struct sample *sample = ctx;
    struct explanations titled = *all;
    titled.s = sample->of;
    report_sample_json(&titled, sample->out);
}

static enum status print_explanations(const struct report_source *source,
                                      const struct document_place *place, struct buf *out,
                                      struct err *e)
{
    struct sample sample = {source->scenarios[place->scenario], out};
    (void)e;
    if (!source->sample)
        return STATUS_NONE;
    source->sample(source->ctx, place->scenario, print_sample, &sample);
    return STATUS_OK;
}

/* ---- the table ---- */

const struct document_row document_rows[] = {
    {"report", OF_CAMPAIGN, "report", "What came of the campaign.", print_report},
    {"dependencies", OF_CAMPAIGN, "dependencies", "Which calls the scenarios depend on.",
     print_dependencies},
    {"handlers", OF_SCENARIO, "handlers", "What each handler does after each outcome.",
     handlers_print},
    {"runs", OF_SCENARIO, "runs", "All runs, a line each.", runs_print},
    {"runs", OF_PAGE, "calls-of-runs", "The calls of the runs of a page.", run_calls_print},
    {"explanations", OF_SCENARIO, "explanations", "Some of what was not run, and why.",
     print_explanations},
    {"modes", OF_CAMPAIGN, "modes", "The ways in which a call can fail.", print_modes},
    {"oracles", OF_CAMPAIGN, "oracles", "What is looked for in the runs.", print_oracles},
};

const uint32_t n_documents = sizeof document_rows / sizeof *document_rows;

uint32_t document_count(const struct report_source *source, const struct document_row *row,
                        uint32_t scenario)
{
    const struct ledger *l = ledger_of(source, scenario);
    if (row->of != OF_PAGE)
        return 1;
    return l ? (l->runs.n + DOCUMENT_PAGE - 1) / DOCUMENT_PAGE : 0;
}

void document_name(const struct document_row *row, const struct document_place *place,
                   struct buf *out)
{
    buf_adds(out, row->name);
    if (row->of != OF_CAMPAIGN)
        buf_addf(out, "/%u", (unsigned)place->scenario);
    if (row->of == OF_PAGE)
        buf_addf(out, "/%u", (unsigned)place->page);
}

/* A number as document_name writes it. */
static bool read_number(slice text, uint32_t *out)
{
    uint64_t number;
    if ((text.n > 1 && text.p[0] == '0') || !slice_to_u64(text, UINT32_MAX, &number))
        return false;
    *out = (uint32_t)number;
    return true;
}

const struct document_row *document_find(slice name, struct document_place *place)
{
    slice rest = name, word, numbers[2];
    uint32_t n = 0;
    *place = (struct document_place){0};
    if (!slice_cut(&rest, '/', &word))
        return NULL;
    while (n < 2 && slice_cut(&rest, '/', &numbers[n]))
        n++;
    if (rest.p || (n > 0 && !read_number(numbers[0], &place->scenario)) ||
        (n > 1 && !read_number(numbers[1], &place->page)))
        return NULL;
    for (uint32_t i = 0; i < n_documents; i++)
        if ((uint32_t)document_rows[i].of == n && slice_is(word, document_rows[i].name))
            return &document_rows[i];
    return NULL;
}

enum status document_print(const struct report_source *source, slice name, uint64_t from,
                           struct buf *out, struct err *e)
{
    struct document_place place;
    const struct document_row *row = document_find(name, &place);
    if (!row)
        return STATUS_NONE;
    place.from = from;
    if (row->of != OF_CAMPAIGN &&
        (place.scenario >= source->n || place.page >= document_count(source, row, place.scenario)))
        return STATUS_NONE;
    return row->print(source, &place, out, e);
}
