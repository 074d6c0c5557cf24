/* SPDX-License-Identifier: Apache-2.0
 *
 * The document of a plan, read again: from JSON, or from an HTML report that holds it. The file may
 * be anything; what it is instead is said. */
#include <math.h>

#include "base/clock.h"
#include "base/pack.h"
#include "data/json.h"
#include "report/plan_int.h"

#define MARK "id=\"outfox:plan-result\">"

static const struct node nothing = {.type = NODE_LIST};

/* ---- what is in it ---- */

static const struct node *get(const struct node *map, const char *key, enum node_type type)
{
    const struct node *value = node_get(map, slice_of(key));
    return value && value->type == type ? value : NULL;
}

slice doc_text(const struct node *map, const char *key)
{
    const struct node *value = get(map, key, NODE_STR);
    return value ? value->text : SLICE("");
}

double doc_number(const struct node *map, const char *key)
{
    const struct node *value = get(map, key, NODE_NUM);
    return value && fabs(value->num) < 1e15 ? value->num : 0;
}

bool doc_bool(const struct node *map, const char *key)
{
    const struct node *value = get(map, key, NODE_BOOL);
    return value && value->boolean;
}

const struct node *doc_list(const struct node *map, const char *key)
{
    const struct node *value = get(map, key, NODE_LIST);
    return value ? value : &nothing;
}

void doc_add_ms(struct buf *out, double ms)
{
    int64_t ns = fabs(ms) < 1e12 ? llround(fabs(ms) * 1e6) : 0, step = 1;
    while (ns / step >= 1000 && step < SECONDS(1))
        step *= 10;
    ns = (ns + step / 2) / step * step;
    if (ms < 0 && ns)
        buf_addc(out, '-');
    if (ns)
        buf_add_ns(out, ns);
    else
        buf_adds(out, "0s");
}

enum answer_verdict doc_answer(const struct node *answer)
{
    slice verdict = doc_text(answer, "verdict");
    return slice_is(verdict, "unsure") ? ANSWER_UNSURE
           : doc_bool(answer, "holds") ? ANSWER_HOLDS
                                       : ANSWER_VIOLATED;
}

bool doc_faulty(const struct node *run)
{
    return slice_is(doc_text(run, "kind"), "faulty");
}

bool doc_failed_fault(const struct node *run, uint32_t *i, struct buf *out)
{
    const struct node *faults = doc_list(run, "faults");
    while (*i < faults->n) {
        const struct node *fault = faults->list[(*i)++];
        slice why = doc_text(fault, "failed");
        if (!why.n)
            continue;
        buf_add(out, doc_text(fault, "event"));
        buf_adds(out, " did not happen as planned: ");
        buf_add(out, why);
        return true;
    }
    return false;
}

void doc_violated(const struct node *doc, bool faulty, struct buf *out)
{
    const struct node *runs = doc_list(doc, "runs");
    VEC(slice) names = {0};
    for (uint32_t i = 0; i < runs->n; i++) {
        const struct node *answers = doc_list(runs->list[i], "expectations");
        for (uint32_t k = 0; doc_faulty(runs->list[i]) == faulty && k < answers->n; k++) {
            slice name = doc_text(answers->list[k], "name");
            bool known = doc_answer(answers->list[k]) != ANSWER_VIOLATED;
            for (uint32_t m = 0; m < names.n; m++)
                known = known || slice_eq(names.at[m], name);
            if (!known)
                vec_push(&names, name);
        }
    }
    for (uint32_t m = 0; m < names.n; m++) {
        buf_adds(out, m ? ", " : "");
        buf_add(out, names.at[m]);
    }
    vec_deinit(&names);
}

enum plan_verdict plan_document_verdict(const struct node *doc)
{
    slice verdict = doc_text(doc, "verdict");
    return slice_is(verdict, "holds")      ? PLAN_HOLDS
           : slice_is(verdict, "violated") ? PLAN_VIOLATED
           : slice_is(verdict, "sick")     ? PLAN_SICK
                                           : PLAN_UNSURE;
}

const char *doc_sentence(const struct node *doc)
{
    switch (plan_document_verdict(doc)) {
    case PLAN_HOLDS: return "all that is expected holds";
    case PLAN_VIOLATED: return "with the faults, not all that is expected holds";
    case PLAN_SICK:
        return "the system is not as expected without any fault: mend that first, or the plan";
    case PLAN_UNSURE: break;
    }
    return doc_number(doc, "signal") > 0 ? "not sure: it was interrupted"
                                         : "not sure: the plan was not carried out as written";
}

/* ---- where it comes from ---- */

/* The document in an HTML report. STATUS_NONE: it is none of a plan. */
static enum status unpack(struct arena *a, const char *file, slice html, slice *out, struct err *e)
{
    const char *at = memmem(html.p, html.n, MARK, sizeof MARK - 1);
    if (!at)
        return STATUS_NONE;
    struct buf packed = BUF_INIT(JSON_BYTES_MAX), text = BUF_INIT(JSON_BYTES_MAX);
    html = slice_from(html, (size_t)(at - html.p) + sizeof MARK - 1);
    html.n = slice_find(html, '<');
    int failed = pack_base64_decode(slice_trim(html), &packed) ||
                 pack_inflate(buf_slice(&packed), PACK_ZLIB, &text);
    buf_deinit(&packed);
    *out = buf_keep(&text, a);
    if (failed)
        return err_set(e, 0, 0, "%s is an HTML report that is damaged; make another one", file);
    return STATUS_OK;
}

static int check(const char *file, const struct node *doc, struct err *e)
{
    const struct node *version = node_get(doc, SLICE("schema_version"));
    bool other = version && version->type == NODE_NUM && version->num > REPORT_SCHEMA_VERSION;
    if (node_get(doc, SLICE("scenarios")))
        return err_set(e, 0, 0,
                       "%s is a report of a campaign, not of a failure plan: outfox report prints "
                       "the last campaign again",
                       file);
    if (other)
        return err_set(e, 0, 0,
                       "%s has schema_version %.*s, but this outfox reads %d: use the outfox that "
                       "wrote it, or a later one",
                       file, (int)(version->text.n < 20 ? version->text.n : 20), version->text.p,
                       REPORT_SCHEMA_VERSION);
    if (!version || !doc_text(doc, "plan").n || !doc_text(doc, "verdict").n ||
        !get(doc, "runs", NODE_LIST))
        return err_set(e, 0, 0,
                       "%s is not the result of a failure plan; outfox plan run writes one to "
                       ".outfox/plans/NAME/result.json",
                       file);
    return 0;
}

int plan_document_read(struct arena *a, const char *file, slice bytes, const struct node **out,
                       slice *json, struct err *e)
{
    slice text = slice_trim(bytes);
    enum status html = STATUS_OK;
    if (slice_starts(text, SLICE("SQLite format 3")))
        return err_set(e, 0, 0,
                       "%s is a stored campaign, not the result of a failure plan: outfox report "
                       "--store %s prints it again",
                       file, file);
    if (slice_starts(text, SLICE("<")))
        html = unpack(a, file, text, &text, e);
    if (html == STATUS_FAILED)
        return -1;
    if (html == STATUS_NONE)
        return err_set(e, 0, 0, "%s is HTML, but no report of a failure plan", file);
    if (node_parse_json(a, text, out))
        return err_set(e, 0, 0,
                       "%s is no result of a failure plan: it is not JSON, it is cut short, or it "
                       "is too large",
                       file);
    *json = text;
    return check(file, *out, e);
}
