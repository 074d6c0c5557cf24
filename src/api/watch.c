/* SPDX-License-Identifier: Apache-2.0 */
#include "api/watch.h"

#include "base/clock.h"

enum { FLIGHTS_MAX = 1024 }; /* no campaign has as many jobs */

#define PACE_NS MS(100)

const int64_t watch_buckets[WATCH_BUCKETS] = {
    MS(1),   MS(2),   MS(5),      MS(10),     MS(20),      MS(50),      MS(100),
    MS(200), MS(500), SECONDS(1), SECONDS(5), SECONDS(10), SECONDS(60),
};

void watch_init(struct watch *w, const char *const *names, uint32_t n)
{
    *w = (struct watch){.version = 1,
                        .n = n,
                        .names = names,
                        .current = n,
                        .scenario = n ? mem_zero(n * sizeof *w->scenario) : NULL};
}

void watch_deinit(struct watch *w)
{
    mem_free(w->scenario);
    vec_deinit(&w->flights);
}

static uint32_t scenario_of(const struct watch *w, const char *name)
{
    uint32_t i = 0;
    while (i < w->n && (!name || strcmp(w->names[i], name) != 0))
        i++;
    return i;
}

/* Forgets the first run under way that is the one, or all of a scenario. */
static void land(struct watch *w, uint32_t scenario, const struct event *one)
{
    for (uint32_t i = 0; i < w->flights.n;) {
        const struct watch_flight *f = &w->flights.at[i];
        if (f->scenario != scenario ||
            (one && (f->faultload != one->faultload || f->purpose != one->purpose))) {
            i++;
            continue;
        }
        memmove(&w->flights.at[i], &w->flights.at[i + 1],
                (--w->flights.n - i) * sizeof *w->flights.at);
        if (one)
            return;
    }
}

static void note_pace(struct watch_scenario *s, int64_t now_ns)
{
    if (s->pace.begun && now_ns - s->paced_ns < PACE_NS)
        return;
    s->paced_ns = now_ns;
    pace_note(&s->pace, s->runs, s->queued, now_ns);
}

static void count_run(struct watch_scenario *s, const struct event *event)
{
    uint32_t i = 0;
    while (i < WATCH_BUCKETS && event->took_ns > watch_buckets[i])
        i++;
    s->bucket[i]++;
    s->all_runs++;
    s->all_failed += !event->pass;
    s->all_calls += event->calls;
    s->all_ns += event->took_ns;
}

static void begin_again(struct watch_scenario *s)
{
    s->state = WATCH_UNDER_WAY;
    s->verdict = NULL;
    s->runs = s->queued = s->findings = s->warnings = s->failed_runs = 0;
    s->pace = (struct pace){0};
}

static void end(struct watch *w, struct watch_scenario *s, const struct event *event,
                int64_t now_ns)
{
    bool all = true;
    s->state = WATCH_DONE;
    s->verdict = conclusion_names[event->conclusion];
    s->took_ns = event->took_ns;
    for (uint32_t i = 0; i < w->n; i++)
        all &= w->scenario[i].state == WATCH_DONE;
    w->ended_ns = all ? now_ns : 0;
}

/* How far it is, as these events say. */
static void note_figures(struct watch_scenario *s, const struct event *event, int64_t now_ns)
{
    s->runs = event->runs;
    s->queued = event->queued;
    s->findings = event->found;
    s->failed_runs = event->type == EVENT_RUN_BEGINS ? s->failed_runs : event->failed;
    note_pace(s, now_ns);
}

void watch_event(struct watch *w, const struct event *event, int64_t now_ns)
{
    uint32_t i = scenario_of(w, event->scenario);
    w->version++;
    w->began_ns = w->began_ns ? w->began_ns : now_ns;
    if (i == w->n)
        return;
    struct watch_scenario *s = &w->scenario[i];
    s->at_ns = event->at_ns;
    switch (event->type) {
    case EVENT_CAMPAIGN:
        s->max_runs = event->max_runs;
        s->max_time_ns = event->max_time_ns;
        begin_again(s);
        break;
    case EVENT_AGAIN:
        begin_again(s);
        land(w, i, NULL);
        break;
    case EVENT_LEARNED: s->purpose = RUN_SEARCH; break;
    case EVENT_RUN_BEGINS:
        w->current = i;
        s->purpose = event->purpose;
        note_figures(s, event, now_ns);
        if (w->flights.n < FLIGHTS_MAX)
            vec_push(&w->flights,
                     (struct watch_flight){i, event->faultload, event->purpose, now_ns});
        break;
    case EVENT_RUN:
        count_run(s, event);
        note_figures(s, event, now_ns);
        land(w, i, event);
        break;
    case EVENT_REMARK: s->warnings += event->severity == SEVERITY_WARNING; break;
    case EVENT_REPORT:
        s->warnings = 0; /* all are told once more */
        land(w, i, NULL);
        break;
    case EVENT_END:
        note_figures(s, event, now_ns);
        end(w, s, event, now_ns);
        break;
    default: break;
    }
}

int64_t watch_took(const struct watch *w, int64_t now_ns)
{
    int64_t took = w->began_ns ? (w->ended_ns ? w->ended_ns : now_ns) - w->began_ns : 0;
    for (uint32_t i = 0; i < w->n; i++) /* of a stored campaign no more than that is known */
        took = w->scenario[i].took_ns > took ? w->scenario[i].took_ns : took;
    return took;
}

const char *watch_doing(const struct watch *w)
{
    if (w->current == w->n)
        return w->began_ns ? "learning" : "starting";
    switch (w->scenario[w->current].purpose) {
    case RUN_BASELINE: return "learning";
    case RUN_SHRINK:
    case RUN_CONFIRM: return "confirming";
    default: return "exploring";
    }
}
