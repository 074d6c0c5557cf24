/* SPDX-License-Identifier: Apache-2.0
 *
 * The document of trials, and single trials in a line. */
#include <errno.h>

#include "data/json.h"
#include "report/trials.h"

enum { TRIALS_LISTED = 20000 };

static const char *const varied[VARY_WHATS] = {"state", "caller", "nth", "error", "site"};

static const char *act_name(enum outfox_act act)
{
    return act == OUTFOX_DELAY ? "delay" : act == OUTFOX_SHORT ? "short" : "error";
}

/* EIO and its like, as people know them. */
static const char *error_name(int number)
{
    const char *name = strerrorname_np(number);
    return name ? name : "an error";
}

static void add_place(struct buf *out, const struct trial_place *p)
{
    buf_addf(out, "%.*s", SLICE_ARG(p->function));
    if (p->file.n && p->line)
        buf_addf(out, " (%.*s:%u)", SLICE_ARG(p->file), p->line);
}

void trials_add_fault(const struct trial_injection *in, enum outfox_act act, struct buf *out)
{
    if (!in->done) {
        buf_adds(out, "no fault");
        return;
    }
    if (act == OUTFOX_ERROR && in->raw.error)
        buf_addf(out, "%s of ", error_name(in->raw.error));
    else if (act == OUTFOX_ERROR)
        buf_adds(out, "failure of ");
    else if (act == OUTFOX_DELAY)
        buf_adds(out, "delay of ");
    else
        buf_addf(out, "%llu of %llu bytes in ", (unsigned long long)in->raw.given,
                 (unsigned long long)in->raw.asked);
    if (in->callee.n)
        buf_addf(out, "%.*s in ", SLICE_ARG(in->callee));
    add_place(out, &in->site);
    buf_addf(out, ", request %u", in->raw.point.requests);
}

/* ---- a trial ---- */

void trials_line(const struct trial_result *r, struct buf *out)
{
    buf_addf(out, "trial %u (%s): %s", r->order.number, trial_purpose_name(r->order.purpose),
             trial_verdict_name(r->verdict));
    if (r->broken.n)
        buf_addf(out, ": %.*s", SLICE_ARG(r->broken));
    if (r->injection.done) {
        buf_adds(out, ": ");
        trials_add_fault(&r->injection, r->order.act, out);
    }
    for (uint32_t i = 0; i < r->symptoms.n && r->verdict == VERDICT_SUSPICIOUS; i++)
        buf_addf(out, "; %s: %.*s", symptom_name(r->symptoms.at[i].kind),
                 SLICE_ARG(r->symptoms.at[i].text));
}

static void put_place(struct json_out *j, const char *key, const struct trial_place *p)
{
    json_map(j, key);
    json_str(j, "function", p->function);
    json_str(j, "file", p->file);
    json_uint(j, "line", p->line);
    json_map_end(j);
}

static void put_injection(struct json_out *j, const struct trials *t, const struct trial_result *r)
{
    const struct trial_injection *in = &r->injection;
    struct buf text = BUF_INIT(4000);
    uint32_t node = in->raw.point.node;
    json_map(j, "fault");
    trials_add_fault(in, r->order.act, &text);
    json_take(j, "what", &text);
    buf_deinit(&text);
    if (t && node < t->nodes.n)
        json_str(j, "node", t->nodes.at[node].name);
    json_text(j, "act", act_name(r->order.act));
    json_text(j, "error", in->raw.error ? error_name(in->raw.error) : NULL);
    json_num(j, "at_ms", (double)in->at_ns / 1e6);
    put_place(j, "site", &in->site);
    json_str(j, "callee", in->callee);
    put_place(j, "state", &in->state);
    json_str(j, "variable", in->variable);
    json_str(j, "task", in->task);
    json_str(j, "why", in->why);
    json_list(j, "stack");
    for (uint32_t i = 0; i < in->stack.n; i++)
        put_place(j, NULL, &in->stack.at[i]);
    json_list_end(j);
    json_map_end(j);
}

static void put_trial(struct json_out *j, const struct trials *t, const struct trial_result *r,
                      bool whole)
{
    json_map(j, NULL);
    json_uint(j, "number", r->order.number);
    json_text(j, "purpose", trial_purpose_name(r->order.purpose));
    json_text(j, "verdict", trial_verdict_name(r->verdict));
    json_str(j, "reason", r->reason);
    json_str(j, "broken", r->broken);
    json_num(j, "took_ms", (double)r->took_ns / 1e6);
    json_uint(j, "requests", r->requests);
    if (r->finding != UINT32_MAX)
        json_uint(j, "finding", r->finding + 1);
    if (r->injection.done)
        put_injection(j, t, r);
    if (whole || r->verdict == VERDICT_SUSPICIOUS) {
        json_list(j, "symptoms");
        for (uint32_t i = 0; i < r->symptoms.n; i++) {
            json_map(j, NULL);
            json_text(j, "name", symptom_name(r->symptoms.at[i].kind));
            json_str(j, "text", r->symptoms.at[i].text);
            json_map_end(j);
        }
        json_list_end(j);
    }
    json_map_end(j);
}

void trials_line_json(const struct trial_result *r, struct buf *out)
{
    struct json_out j = json_out(out, JSON_COMPACT);
    put_trial(&j, NULL, r, true);
}

/* ---- all of them ---- */

static void put_leg(struct json_out *j, const struct agenda_leg *leg)
{
    json_map(j, NULL);
    json_text(j, "policy", leg->policy->name);
    json_text(j, "experiment", act_name(leg->act));
    json_uint(j, "trials", leg->trials);
    json_uint(j, "injected", leg->injected);
    json_uint(j, "suspicious", leg->suspicious);
    json_map(j, "verdicts");
    for (int v = VERDICT_TOLERATED; v < VERDICTS; v++)
        json_uint(j, trial_verdict_name(v), leg->counts[v]);
    json_map_end(j);
    json_str(j, "end", leg->why);
    json_map_end(j);
}

static void put_found_by(struct json_out *j, const struct agenda_view *v,
                         const struct trial_finding *f)
{
    json_list(j, "found_by");
    for (uint32_t i = 0; i < v->n_legs; i++) {
        uint64_t n = finding_trials(f, i);
        if (!n)
            continue;
        json_map(j, NULL);
        json_text(j, "policy", v->leg[i].policy->name);
        json_text(j, "experiment", act_name(v->leg[i].act));
        json_uint(j, "after_trials", n);
        json_map_end(j);
    }
    json_list_end(j);
}

static void put_finding(struct json_out *j, const struct agenda_view *v,
                        const struct trial_finding *f)
{
    struct buf order = BUF_INIT(400);
    json_map(j, NULL);
    json_uint(j, "number", f->number);
    json_str(j, "title", f->title);
    json_text(j, "symptom", symptom_name(f->symptom));
    json_text(j, "about", symptom_doc(f->symptom));
    put_injection(j, v->trials, f->first);
    json_list(j, "seen");
    for (uint32_t i = 0; i < f->first->symptoms.n; i++)
        json_str(j, NULL, f->first->symptoms.at[i].text);
    json_list_end(j);
    json_list(j, "trials");
    for (uint32_t i = 0; i < f->seen.n; i++)
        json_uint(j, NULL, f->seen.at[i]->order.number);
    json_list_end(j);
    put_found_by(j, v, f);
    json_map(j, "again");
    json_uint(j, "tried", f->again_tried);
    json_uint(j, "shown", f->again_shown);
    json_map_end(j);
    json_map(j, "varied");
    for (int i = 0; i < VARY_WHATS; i++) {
        json_map(j, varied[i]);
        json_uint(j, "tried", f->varied[i].tried);
        json_uint(j, "shown", f->varied[i].shown);
        json_map_end(j);
    }
    json_map_end(j);
    json_bool(j, "done", f->done);
    json_str(j, "logs", f->first->dir);
    trial_order_print(&f->replay, &order);
    json_take(j, "replay", &order);
    json_map_end(j);
    buf_deinit(&order);
}

static void put_counts(struct json_out *j, const struct agenda_view *v)
{
    uint64_t of[TRIAL_PURPOSES] = {0}, bad[TRIAL_PURPOSES] = {0}, verdicts[VERDICTS] = {0};
    for (uint32_t i = 0; i < v->n_results; i++) {
        const struct trial_result *r = v->result[i];
        of[r->order.purpose]++;
        bad[r->order.purpose] += r->verdict == VERDICT_SUSPICIOUS;
        verdicts[r->verdict] += r->order.purpose == TRIAL_EXPLORE;
    }
    json_map(j, "counts");
    for (int p = 0; p < TRIAL_PURPOSES; p++)
        json_uint(j, trial_purpose_name(p), of[p]);
    json_uint(j, "control_suspicious", bad[TRIAL_CONTROL]);
    json_map_end(j);
    json_map(j, "verdicts");
    for (int i = VERDICT_TOLERATED; i < VERDICTS; i++)
        json_uint(j, trial_verdict_name(i), verdicts[i]);
    json_map_end(j);
}

void trials_print_json(const struct agenda_view *v, const char *version, int64_t took_ns, slice end,
                       struct buf *out)
{
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_uint(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_text(&j, "kind", "trials");
    json_text(&j, "version", version);
    json_str(&j, "trials_of", v->trials->name);
    json_str(&j, "file", v->trials->file);
    json_str(&j, "dir", v->trials->dir);
    json_uint(&j, "seed", v->trials->seed);
    json_num(&j, "took_ms", (double)took_ns / 1e6);
    json_str(&j, "sick", v->sick);
    json_str(&j, "end", end);
    put_counts(&j, v);
    json_map(&j, "met");
    json_uint(&j, "trials", v->met.trials);
    json_uint(&j, "requests", v->met.requests);
    json_uint(&j, "sites", v->met.sites);
    json_uint(&j, "states", v->met.states);
    json_map_end(&j);
    json_bool(&j, "made_nothing", agenda_made_nothing(v));
    json_list(&j, "policies");
    for (uint32_t i = 0; i < v->n_legs; i++)
        put_leg(&j, &v->leg[i]);
    json_list_end(&j);
    json_list(&j, "findings");
    for (uint32_t i = 0; i < findings_n(v->findings); i++)
        put_finding(&j, v, findings_at(v->findings, i));
    json_list_end(&j);
    json_list(&j, "trials");
    for (uint32_t i = 0; i < v->n_results && i < TRIALS_LISTED; i++)
        put_trial(&j, v->trials, v->result[i], false);
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
}
