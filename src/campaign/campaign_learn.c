/* SPDX-License-Identifier: Apache-2.0
 *
 * The fault-free runs, one after the other, and what they teach: whether the scenario passes at
 * all, which payloads are part of names, how the services pass the context on, and how long after
 * the answer calls may still begin. */
#include "campaign/campaign_int.h"

#include "base/clock.h"

enum { LEARNING_QUIET_MS = 100, LESSONS_MAX = 16 };

struct baselines {
    struct track_lesson *lesson[LESSONS_MAX];
    struct run run[LESSONS_MAX];
    uint32_t n;
    int64_t late_ns;
};

static int one_run(struct campaign *c, struct baselines *all, struct err *e)
{
    const struct execution_result *r;
    c->target->log_mark(c->target->live);
    campaign_run(c, c, FAULTLOAD_EMPTY, RUN_BASELINE, true);
    int status = campaign_take(c, &r, e);
    if (status)
        return status;
    all->run[all->n] = r->run;
    campaign_hold(&c->keep, &all->run[all->n]);
    if (r->late_ns > all->late_ns)
        all->late_ns = r->late_ns;
    all->lesson[all->n++] = r->lesson;
    return 0;
}

/* How well each service tells for whom it calls. */
static void learn_levels(struct campaign *c)
{
    const struct campaign_config *config = c->opt.config;
    for (uint32_t i = 0; i < config->services.n; i++) {
        const struct track_facts *f = &c->lessons->facts[i];
        const char *name = config->services.at[i].name.p, *note = NULL;
        if (!f->made)
            continue;
        enum track_level level = f->by[TRACK_NONE]    ? TRACK_NONE
                                 : f->by[TRACK_TRACE] ? TRACK_TRACE
                                                      : TRACK_STATE;
        if (f->ambiguous)
            note = arena_printf(&c->keep,
                                "%s makes calls while it handles several requests and does not "
                                "say for which one, so the caller was guessed. Make it pass on "
                                "traceparent and tracestate",
                                name);
        else if (level == TRACK_NONE)
            note = arena_printf(&c->keep,
                                "%s loses the trace context: its calls were identified by the "
                                "address they arrived at, so runs are made one at a time. Make it "
                                "pass on traceparent and tracestate (any OpenTelemetry SDK does)",
                                name);
        vec_push(&c->summary.levels, (struct summary_level){.service = name,
                                                            .calls = f->made,
                                                            .level = track_level_names[level],
                                                            .note = note});
        campaign_send_level(c);
        if (level == TRACK_NONE && c->jobs > 1) {
            c->jobs = 1;
            campaign_note(c, "--jobs needs services that pass on the trace context, so runs are "
                             "made one at a time");
        }
    }
}

/* A level that was asked for, and that a service does not reach. */
static int check_level(struct campaign *c, struct err *e)
{
    enum identify_level wanted = c->opt.config->identify.level;
    for (uint32_t i = 0; i < c->summary.levels.n; i++) {
        const struct summary_level *l = &c->summary.levels.at[i];
        bool state = strcmp(l->level, track_level_names[TRACK_STATE]) == 0;
        bool none = strcmp(l->level, track_level_names[TRACK_NONE]) == 0;
        if (wanted == IDENTIFY_STATE && !state)
            return err_set(e, 0, 0,
                           "%s does not pass on what the level `state` needs (traceparent and "
                           "tracestate, or baggage); add that, or let Outfox choose the level "
                           "(--identify auto)",
                           l->service);
        if (wanted == IDENTIFY_TRACE && none)
            return err_set(e, 0, 0,
                           "%s does not pass on a trace id, which the level `trace` needs; add "
                           "that, or let Outfox choose the level (--identify auto)",
                           l->service);
    }
    return 0;
}

static int observe_lessons(struct campaign *c, struct baselines *all, struct err *e)
{
    if (c->target->tracker)
        track_decide(c->target->tracker, c->lessons, all->lesson, all->n);
    for (uint32_t i = 0; i < all->n; i++) {
        struct run *run = &all->run[i];
        if (all->lesson[i]) {
            run->trace = (struct trace){0};
            trace_copy(track_lesson_trace(all->lesson[i]), &run->trace);
        }
        overlaps_learn(&c->overlaps, c->opt.names, &run->trace);
    }
    campaign_contract_learn(c, all->run, all->n);
    if (c->opt.config->quiet_ns < 0) { /* late calls are waited for in later runs, with some room */
        int64_t quiet = campaign_quiet_for(all->late_ns);
        if (!c->late.starts)
            c->late.usual_ns = quiet;
        c->lessons->quiet_ns = quiet > c->late.quiet_ns ? quiet : c->late.quiet_ns;
    }
    learn_levels(c);
    const struct service_spec *renewed = config_renewed(c->opt.config);
    if (renewed && c->opt.jobs > 1)
        campaign_note(c,
                      "%s is restarted before each run (`restart: each-run`), so runs are made "
                      "one at a time, whatever --jobs says",
                      renewed->name.p);
    else if (c->opt.config->plan && c->opt.jobs > 1)
        campaign_note(c,
                      "events of the plan harm services that all runs share, so runs are made one "
                      "at a time, whatever --jobs says");
    campaign_look_polled(c, &all->run[0].trace);
    campaign_check_modes(c, &all->run[0].trace);
    if (all->n > 1 && !all->run[all->n - 1].verdict.pass)
        campaign_note(c, "without faults the scenario passed at first and failed later: does it "
                         "leave state behind? Use the command `before` to reset it");
    int status = check_level(c, e);
    if (!status)
        status = campaign_keep_facts(c, e);
    for (uint32_t i = 0; i < all->n; i++) {
        struct run *run = &all->run[i];
        if (!status)
            status = campaign_observe(c, run, e);
        if (!run->verdict.pass && !c->summary.broken) {
            c->summary.broken = run->verdict.why;
            c->summary.broken_detail = run->verdict.detail;
            if (!status)
                status = campaign_keep_log(c, run, e);
        }
        vec_deinit(&run->trace.calls);
    }
    c->learned = true;
    campaign_send(c, (struct event){.type = EVENT_LEARNED, .runs = all->n});
    return status;
}

int campaign_learn(struct campaign *c, struct err *e)
{
    struct baselines all = {0};
    uint32_t n = c->opt.search.baselines ? c->opt.search.baselines : 3;
    n = n < LESSONS_MAX ? n : LESSONS_MAX;
    int64_t quiet = MS(LEARNING_QUIET_MS);
    int status = 0;
    quiet = quiet > c->late.quiet_ns ? quiet : c->late.quiet_ns;
    if (c->opt.config->quiet_ns >= 0)
        quiet = c->opt.config->quiet_ns;
    lessons_drop(c->lessons);
    c->lessons = lessons_new(c->opt.config->services.n);
    c->lost = 0;
    c->lessons->quiet_ns = quiet;
    campaign_watch(c);
    while (status == 0 && all.n < n) {
        status = one_run(c, &all, e);
        if (status == 0 && !all.run[all.n - 1].verdict.pass)
            break; /* nothing can be learned of a scenario that fails by itself */
    }
    campaign_watched(c);
    if (status == 0 && all.n)
        status = observe_lessons(c, &all, e);
    for (uint32_t i = 0; i < all.n; i++)
        if (all.lesson[i])
            track_lesson_free(all.lesson[i]);
    return status;
}
