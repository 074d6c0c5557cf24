/* SPDX-License-Identifier: Apache-2.0
 *
 * Failure plans in words, and as a picture of characters: what clients saw over time, with the
 * faults as bands below it. */
#include "report/plan.h"

#include <inttypes.h>
#include <stdio.h>

#include "data/json.h"
#include "plan/injector.h"
#include "report/escape.h"

enum { COLUMNS = 60 };

static void add_ms(struct buf *out, int64_t ns)
{
    buf_add_ns(out, ns / 1000000 * 1000000);
}

void plan_print_trigger(const struct plan *p, const struct plan_trigger *t, struct buf *out)
{
    (void)p;
    slice by = t->of.n ? t->of : SLICE("anybody");
    switch (t->kind) {
    case TRIGGER_TIME:
        add_ms(out, t->at_ns);
        buf_adds(out, " after the start");
        break;
    case TRIGGER_LINE:
        buf_addf(out, "when %.*s prints /%.*s/", SLICE_ARG(by), SLICE_ARG(t->pattern));
        break;
    case TRIGGER_EVENT:
        buf_addf(out, "at the event %.*s%s%.*s", SLICE_ARG(t->event), t->value.n ? " " : "",
                 SLICE_ARG(t->value));
        break;
    case TRIGGER_BEGAN: buf_addf(out, "when %.*s has begun", SLICE_ARG(t->other)); break;
    case TRIGGER_ENDED: buf_addf(out, "when %.*s has ended", SLICE_ARG(t->other)); break;
    }
    if (t->nth > 1)
        buf_addf(out, ", time %u", t->nth);
    if (t->delay_ns) {
        buf_adds(out, ", and ");
        add_ms(out, t->delay_ns);
        buf_adds(out, " more");
    }
    if (t->chance < 1)
        buf_addf(out, ", with a chance of %g", t->chance);
}

/* ---- what would be done ---- */

static void show_event(const struct plan *p, const struct plan_event *e, struct buf *out)
{
    buf_addf(out, "  %-16.*s ", SLICE_ARG(e->name));
    injector_describe(e, out);
    buf_adds(out, ": ");
    plan_print_trigger(p, &e->trigger, out);
    if (e->injector->momentary)
        buf_adds(out, ", once");
    else if (e->duration_ns) {
        buf_adds(out, ", for ");
        add_ms(out, e->duration_ns);
    } else
        buf_adds(out, ", until the run ends");
    if (e->until.n)
        buf_addf(out, ", or until the event %.*s", SLICE_ARG(e->until));
    buf_adds(out, "\n");
    if (e->injector->blast)
        buf_addf(out, "  %-16s touches %s\n", "", e->injector->blast);
    if (e->injector->tools[0])
        buf_addf(out, "  %-16s needs the commands %s\n", "", e->injector->tools);
}

void plan_print_show(const struct plan *p, struct buf *out)
{
    int64_t each = p->warmup_ns + p->duration_ns + p->settle_ns;
    uint32_t runs = p->references + (p->events.n ? p->repeats : 0);
    buf_addf(out, "plan %.*s%s%.*s\n", SLICE_ARG(p->name), p->about.n ? ": " : "",
             SLICE_ARG(p->about));
    buf_addf(out, "\nsystem: %u %s\n", p->nodes.n, plural(p->nodes.n, "node", "nodes"));
    for (uint32_t i = 0; i < p->nodes.n; i++)
        buf_addf(out, "  %-16.*s %.*s\n", SLICE_ARG(p->nodes.at[i].name),
                 SLICE_ARG(p->nodes.at[i].start));
    buf_addf(out, "\nclients: %u\n", p->clients.n);
    for (uint32_t i = 0; i < p->clients.n; i++)
        buf_addf(out, "  %-16.*s %.*s\n", SLICE_ARG(p->clients.at[i].name),
                 SLICE_ARG(p->clients.at[i].command));
    buf_addf(out, "\nfaults: %u, seed %" PRIu64 "\n", p->events.n, p->seed);
    for (uint32_t i = 0; i < p->events.n; i++)
        show_event(p, &p->events.at[i], out);
    buf_addf(out, "\n%u %s without faults, then %u with them: about ", p->references,
             plural(p->references, "run", "runs"), runs - p->references);
    add_ms(out, each * runs);
    buf_adds(out, ", and the time that nodes take to start\n");
}

/* ---- what came of it ---- */

struct column {
    uint32_t ok, failed;
};

static void count_columns(const struct plan_run *r, struct column *at)
{
    int64_t span = r->to_ns - r->from_ns;
    for (uint32_t i = 0; i < r->ops.n && span > 0; i++) {
        const struct plan_op *op = &r->ops.at[i];
        if (op->at_ns < r->from_ns || op->at_ns >= r->to_ns)
            continue;
        struct column *c = &at[(op->at_ns - r->from_ns) * COLUMNS / span];
        c->ok += op->ok;
        c->failed += !op->ok;
    }
}

static void add_row(struct buf *out, const char *name, const char *cells, const char *more)
{
    buf_addf(out, "    %-16.16s |%s| %s\n", name, cells, more);
}

static void draw_spell(const struct plan *p, const struct plan_run *r, const struct plan_spell *s,
                       struct buf *out)
{
    int64_t span = r->to_ns - r->from_ns;
    char cells[COLUMNS + 1], name[100];
    for (int i = 0; i < COLUMNS; i++) {
        int64_t from = r->from_ns + span * i / COLUMNS, to = r->from_ns + span * (i + 1) / COLUMNS;
        cells[i] = s->begin_ns < to && s->end_ns >= from ? '=' : ' ';
    }
    cells[COLUMNS] = 0;
    slice of = p->events.at[s->event].name;
    (void)snprintf(name, sizeof name, "%.*s", SHORT(of));
    struct buf nodes = BUF_INIT(500);
    for (uint32_t i = 0; i < s->nodes.n; i++)
        buf_addf(&nodes, "%s%.*s", i ? ", " : "", SLICE_ARG(p->nodes.at[s->nodes.at[i]].name));
    add_row(out, name, cells, buf_text(&nodes));
    buf_deinit(&nodes);
}

/* Successes as a height, failures as marks, faults as bands. */
static void draw(const struct plan *p, const struct plan_run *r, struct buf *out)
{
    static const char heights[] = " .:-=+*#";
    struct column at[COLUMNS] = {0};
    char ok[COLUMNS + 1] = {0}, failed[COLUMNS + 1] = {0};
    uint32_t most = 1, lost = 0;
    count_columns(r, at);
    for (int i = 0; i < COLUMNS; i++)
        most = at[i].ok > most ? at[i].ok : most;
    for (int i = 0; i < COLUMNS; i++) {
        ok[i] = heights[(at[i].ok * 7 + most - 1) / most];
        failed[i] = at[i].failed ? 'x' : ' ';
        lost += at[i].failed;
    }
    char text[400];
    double each_s = (double)(r->to_ns - r->from_ns) / 1e9 / COLUMNS;
    (void)snprintf(text, sizeof text, "# is %.0f/s", each_s > 0 ? most / each_s : 0);
    add_row(out, "succeeded", ok, text);
    (void)snprintf(text, sizeof text, "%u", lost);
    add_row(out, "failed", failed, text);
    for (uint32_t i = 0; i < r->spells.n; i++)
        if (!r->spells.at[i].failed.n)
            draw_spell(p, r, &r->spells.at[i], out);
}

static void print_run(const struct plan_result *result, const struct plan_run *r,
                      const struct style *style, struct buf *out)
{
    const struct plan *p = result->plan;
    bool holds = plan_run_holds(r);
    buf_addf(out, "%s%s-%u%s: %s%s%s\n", style->bold, r->reference ? "reference" : "faulty",
             r->number, style->off, holds ? style->green : style->red,
             r->broken.n ? "not carried out"
             : holds     ? "all holds"
                         : "NOT AS EXPECTED",
             style->off);
    if (r->broken.n) {
        buf_addf(out, "    %.*s\n", SLICE_ARG(r->broken));
        return;
    }
    draw(p, r, out);
    for (uint32_t i = 0; i < r->spells.n; i++)
        if (r->spells.at[i].failed.n)
            buf_addf(out, "  %snot sure%s  %.*s did not happen as planned: %.*s\n", style->yellow,
                     style->off, SLICE_ARG(p->events.at[r->spells.at[i].event].name),
                     SLICE_ARG(r->spells.at[i].failed));
    for (uint32_t i = 0; i < r->answers.n; i++) {
        const struct plan_answer *a = &r->answers.at[i];
        buf_addf(out, "  %s%s%s  %.*s: %.*s\n", a->holds ? style->green : style->red,
                 a->holds ? "holds   " : "VIOLATED", style->off,
                 SLICE_ARG(p->expects.at[a->expect].name), SLICE_ARG(a->seen));
    }
    if (r->truncated)
        buf_adds(out, "  more operations or lines came than are kept; the rest was left out\n");
    buf_addf(out, "  logs and history: %.*s\n", SLICE_ARG(r->dir));
}

void plan_print_text(const struct plan_result *r, const struct style *style, struct buf *out)
{
    for (uint32_t i = 0; i < r->runs.n; i++) {
        if (i)
            buf_adds(out, "\n");
        print_run(r, r->runs.at[i], style, out);
    }
    buf_adds(out, "\n");
    switch (plan_verdict(r)) {
    case PLAN_HOLDS:
        buf_addf(out, "%sall that is expected holds%s", style->green, style->off);
        break;
    case PLAN_VIOLATED:
        buf_addf(out, "%swith the faults, not all that is expected holds%s", style->red,
                 style->off);
        break;
    case PLAN_UNSURE:
        buf_addf(out, "%snot sure%s: the plan was not carried out as written", style->yellow,
                 style->off);
        break;
    case PLAN_SICK:
        buf_addf(out,
                 "%sthe system is not as expected without any fault%s: mend that first, or the "
                 "plan",
                 style->red, style->off);
        break;
    }
    buf_adds(out, "; took ");
    add_ms(out, r->took_ns);
    buf_adds(out, "\n");
}

/* ---- for programs ---- */

static void json_ms(struct json_out *j, const char *key, int64_t ns)
{
    json_num(j, key, (double)(ns / 1000) / 1000);
}

static void json_spell(struct json_out *j, const struct plan *p, const struct plan_spell *s)
{
    struct buf what = BUF_INIT(1000);
    injector_describe(&p->events.at[s->event], &what);
    json_map(j, NULL);
    json_str(j, "event", p->events.at[s->event].name);
    json_take(j, "what", &what);
    json_list(j, "nodes");
    for (uint32_t i = 0; i < s->nodes.n; i++)
        json_str(j, NULL, p->nodes.at[s->nodes.at[i]].name);
    json_list_end(j);
    json_ms(j, "begin_ms", s->begin_ns);
    json_ms(j, "end_ms", s->end_ns);
    if (s->failed.n)
        json_str(j, "failed", s->failed);
    json_map_end(j);
    buf_deinit(&what);
}

static void json_series(struct json_out *j, const struct plan_run *r)
{
    struct column at[COLUMNS] = {0};
    count_columns(r, at);
    json_list(j, "series");
    for (int i = 0; i < COLUMNS; i++) {
        json_map(j, NULL);
        json_ms(j, "at_ms", r->from_ns + (r->to_ns - r->from_ns) * i / COLUMNS);
        json_uint(j, "ok", at[i].ok);
        json_uint(j, "failed", at[i].failed);
        json_map_end(j);
    }
    json_list_end(j);
}

static void json_run(struct json_out *j, const struct plan *p, const struct plan_run *r)
{
    json_map(j, NULL);
    json_text(j, "kind", r->reference ? "reference" : "faulty");
    json_uint(j, "number", r->number);
    json_bool(j, "holds", plan_run_holds(r));
    if (r->broken.n)
        json_str(j, "broken", r->broken);
    json_str(j, "dir", r->dir);
    json_uint(j, "operations", r->ops.n);
    json_list(j, "faults");
    for (uint32_t i = 0; i < r->spells.n; i++)
        json_spell(j, p, &r->spells.at[i]);
    json_list_end(j);
    json_list(j, "expectations");
    for (uint32_t i = 0; i < r->answers.n; i++) {
        json_map(j, NULL);
        json_str(j, "name", p->expects.at[r->answers.at[i].expect].name);
        json_bool(j, "holds", r->answers.at[i].holds);
        json_str(j, "seen", r->answers.at[i].seen);
        json_map_end(j);
    }
    json_list_end(j);
    json_series(j, r);
    json_map_end(j);
}

void plan_print_json(const struct plan_result *r, struct buf *out)
{
    static const char *const verdicts[] = {"holds", "violated", "unsure", "sick"};
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_uint(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_str(&j, "plan", r->plan->name);
    json_uint(&j, "seed", r->plan->seed);
    json_text(&j, "verdict", verdicts[plan_verdict(r)]);
    json_ms(&j, "took_ms", r->took_ns);
    json_list(&j, "runs");
    for (uint32_t i = 0; i < r->runs.n; i++)
        json_run(&j, r->plan, r->runs.at[i]);
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
}
