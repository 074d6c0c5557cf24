/* SPDX-License-Identifier: Apache-2.0
 *
 * Explorations in words: what breaks the system, each with a plan to run again; then how much was
 * tried, and what was not. */
#include "report/explored.h"

#include <inttypes.h>

#include "data/json.h"
#include "plan/injector.h"
#include "report/plan.h"

/* The events of a candidate in words, a line each. */
static void add_events(const struct plan_explored *x, const struct candidate *c, const char *indent,
                       struct buf *out)
{
    struct plan p;
    struct err e = {0};
    if (!plan_with_events(&p, x->plan, c->events, &e))
        for (uint32_t i = 0; i < p.events.n; i++) {
            const struct plan_event *event = &p.events.at[i];
            buf_adds(out, indent);
            injector_describe(event, out);
            buf_adds(out, ": ");
            plan_print_trigger(&p, &event->trigger, out);
            if (event->duration_ns) {
                buf_adds(out, ", for ");
                buf_add_ns(out, event->duration_ns);
            }
            buf_addc(out, '\n');
        }
    plan_free(&p);
}

static uint32_t count_like(const struct plan_explored *x, uint32_t trial)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->trials.n; i++)
        n += x->trials.at[i].like == (int32_t)trial;
    return n;
}

static void print_finding(const struct plan_explored *x, uint32_t trial, uint32_t number,
                          const struct style *style, struct buf *out)
{
    const struct plan_trial *t = &x->trials.at[trial];
    uint32_t like = count_like(x, trial);
    buf_addf(out, "%sFINDING %u%s  %.*s\n", style->red, number, style->off, SLICE_ARG(t->what));
    add_events(x, t->candidate, "    ", out);
    buf_addf(out, "    %s%.*s%s\n", style->red, SLICE_ARG(t->seen), style->off);
    buf_addf(out, "    in %u of %u runs; derived from: %.*s\n", t->violated, t->runs,
             SLICE_ARG(t->candidate->why));
    if (t->file.n)
        buf_addf(out, "    again: outfox plan run %.*s\n", SLICE_ARG(t->file));
    if (like)
        buf_addf(out, "    %u more like it:\n", like);
    for (uint32_t i = 0; i < x->trials.n && like; i++) {
        const struct plan_trial *other = &x->trials.at[i];
        if (other->like == (int32_t)trial)
            buf_addf(out, "      %.*s, %.*s: %.*s\n", SLICE_ARG(other->what),
                     SLICE_ARG(other->candidate->why), SLICE_ARG(other->file));
    }
    buf_addc(out, '\n');
}

static void print_unsure(const struct plan_explored *x, const struct style *style, struct buf *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->trials.n; i++) {
        const struct plan_trial *t = &x->trials.at[i];
        if (t->verdict != PLAN_UNSURE)
            continue;
        if (!n++)
            buf_addf(out, "%snot sure%s\n", style->yellow, style->off);
        buf_addf(out, "    %.*s, %.*s: %.*s\n", SLICE_ARG(t->what), SLICE_ARG(t->candidate->why),
                 SLICE_ARG(t->seen));
    }
    if (n)
        buf_addc(out, '\n');
}

static const char *end_words(const struct plan_explored *x)
{
    static const char *const words[] = {
        [EXPLORE_ALL] = "nothing new is left to try",
        [EXPLORE_RUNS] = "ended by max-runs: there is more to try",
        [EXPLORE_TIME] = "ended by max-time: there is more to try",
        [EXPLORE_SICK] =
            "the system is not as expected without any fault: mend that first, or the plan",
        [EXPLORE_SIGNAL] = "interrupted",
    };
    return words[x->end];
}

void explored_print_text(const struct plan_explored *x, const struct style *style, struct buf *out)
{
    struct derive_count n = derive_count(x->derive);
    uint32_t findings = 0;
    if (x->end == EXPLORE_SICK)
        plan_print_text(&x->reference, style, out);
    for (uint32_t i = 0; i < x->trials.n; i++)
        if (x->trials.at[i].violated && x->trials.at[i].like == PLAN_NONE)
            print_finding(x, i, ++findings, style, out);
    print_unsure(x, style, out);
    if (x->end == EXPLORE_SICK)
        return;
    buf_addf(out, "%u %s; %u of %u plans tried in %" PRIu64 " runs, ", findings,
             plural(findings, "finding", "findings"), x->trials.n, n.candidates, x->runs);
    buf_add_ns(out, x->took_ns / 1000000 * 1000000);
    buf_addf(out, "; %u kinds of lines and events seen; %s\n", n.sights, end_words(x));
    if (n.left_out)
        buf_adds(out, "more could be derived than is kept; the rest was left out\n");
}

void explored_print_json(const struct plan_explored *x, struct buf *out)
{
    static const char *const verdicts[] = {"holds", "violated", "unsure", "sick"};
    static const char *const ends[] = {"all", "max-runs", "max-time", "sick", "interrupted"};
    struct derive_count n = derive_count(x->derive);
    struct json_out j = json_out(out, JSON_PRETTY);
    json_map(&j, NULL);
    json_uint(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_str(&j, "plan", x->plan->name);
    json_text(&j, "end", ends[x->end]);
    json_num(&j, "took_ms", (double)(x->took_ns / 1000) / 1000);
    json_uint(&j, "runs", x->runs);
    json_uint(&j, "candidates", n.candidates);
    json_uint(&j, "sights", n.sights);
    json_list(&j, "trials");
    for (uint32_t i = 0; i < x->trials.n; i++) {
        const struct plan_trial *t = &x->trials.at[i];
        json_map(&j, NULL);
        json_text(&j, "verdict", verdicts[t->verdict]);
        json_str(&j, "why", t->candidate->why);
        json_node(&j, "events", t->candidate->events);
        json_uint(&j, "runs", t->runs);
        json_uint(&j, "violated", t->violated);
        if (t->seen.n)
            json_str(&j, "seen", t->seen);
        if (t->file.n)
            json_str(&j, "file", t->file);
        if (t->like != PLAN_NONE)
            json_uint(&j, "like", (uint64_t)t->like);
        json_map_end(&j);
    }
    json_list_end(&j);
    json_map_end(&j);
    buf_addc(out, '\n');
}
