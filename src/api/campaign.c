/* SPDX-License-Identifier: Apache-2.0
 *
 * The state of the campaign in words: the document `campaign`, and figures for Prometheus. */
#include "api/api_int.h"
#include "base/clock.h"
#include "core/fault.h"
#include "data/json.h"
#include "report/report.h"

static const char *const states[] = {"starting", "learning", "exploring", "confirming",
                                     "paused",   "stopping", "finished",  "failed"};

static const char *state_name(const struct api *a, const struct api_state *s)
{
    switch (s->phase) {
    case API_STARTING: return "starting";
    case API_RUNNING: return watch_doing(&a->watch);
    case API_PAUSED: return "paused";
    case API_STOPPING: return "stopping";
    case API_FINISHED: return "finished";
    case API_FAILED: return "failed";
    }
    return "failed";
}

/* ---- the document ---- */

/* What is left of it, if anybody knows. */
static void print_left(struct json_out *j, const struct watch_scenario *s,
                       const struct api_state *state, int64_t now_ns)
{
    uint64_t max_runs = state->has_bounds ? state->max_runs : s->max_runs;
    int64_t max_time_ns = state->has_bounds ? state->max_time_ns : s->max_time_ns, left_ns = 0;
    bool lasts = s->state == WATCH_UNDER_WAY && state->phase != API_PAUSED;
    double rate = lasts ? pace_rate(&s->pace, s->runs, now_ns) : 0;
    struct progress_facts facts = {.runs = s->runs,
                                   .queued = s->queued,
                                   .findings = s->findings,
                                   .elapsed_ns = s->at_ns,
                                   .max_time_ns = max_time_ns,
                                   .max_runs = max_runs,
                                   .growing = pace_grows(&s->pace)};
    enum progress_left left = lasts ? progress_left(&facts, rate, &left_ns) : LEFT_UNKNOWN;
    json_num(j, "runs_per_second", rate > 0 ? rate : 0);
    if (left == LEFT_UNKNOWN)
        json_nil(j, "left_ns");
    else
        json_int(j, "left_ns", left_ns);
    json_bool(j, "left_at_least", left == LEFT_AT_LEAST);
    json_uint(j, "max_runs", max_runs);
    json_int(j, "max_time_ns", max_time_ns);
}

static void print_scenario(struct json_out *j, const char *name, const struct watch_scenario *s,
                           const struct api_state *state, int64_t now_ns)
{
    static const char *const names[] = {"waiting", "running", "done"};
    json_map(j, NULL);
    json_text(j, "scenario", name);
    json_text(j, "state", names[s->state]);
    json_text(j, "verdict", s->verdict);
    json_uint(j, "runs", s->runs);
    json_uint(j, "queued", s->queued);
    json_uint(j, "findings", s->findings);
    json_uint(j, "warnings", s->warnings);
    json_uint(j, "failed_runs", s->failed_runs);
    print_left(j, s, state, now_ns);
    json_map_end(j);
}

static void print_flights(struct json_out *j, const struct api *a, int64_t now_ns)
{
    struct buf text = BUF_INIT(64 * 1024);
    json_list(j, "in_flight");
    for (uint32_t i = 0; i < a->watch.flights.n; i++) {
        const struct watch_flight *f = &a->watch.flights.at[i];
        json_map(j, NULL);
        json_text(j, "scenario", a->o.scenarios[f->scenario]);
        faultload_print(a->o.names, a->o.faultloads, f->faultload, &text);
        json_take(j, "faultload", &text);
        json_text(j, "purpose", run_purpose_names[f->purpose]);
        json_int(j, "since_ns", now_ns - f->since_ns);
        json_map_end(j);
    }
    json_list_end(j);
    buf_deinit(&text);
}

static void print_choices(struct json_out *j, const struct api_state *state)
{
    json_list(j, "oracles");
    for (uint32_t i = 0; i < state->n_oracles; i++) {
        json_map(j, NULL);
        json_text(j, "name", state->oracles[i].name);
        json_text(j, "severity", severity_names[state->oracles[i].severity]);
        json_map_end(j);
    }
    json_list_end(j);
    json_list(j, "commands");
    for (uint32_t i = 0; i < API_COMMANDS; i++)
        if (state->commands >> i & 1)
            json_text(j, NULL, api_command_names[i]);
    json_list_end(j);
}

void campaign_print(const struct api *a, struct buf *out)
{
    const struct watch *w = &a->watch;
    int64_t now_ns = clock_ns();
    struct api_state state = {0};
    a->o.host->state(a->o.host->ctx, &state);
    bool lasts = state.phase != API_FINISHED && state.phase != API_FAILED;
    struct json_out j = json_out(out, JSON_COMPACT);
    json_map(&j, NULL);
    json_uint(&j, "schema_version", REPORT_SCHEMA_VERSION);
    json_text(&j, "system", a->o.system);
    json_text(&j, "file", a->o.file);
    json_text(&j, "version", a->o.version);
    json_text(&j, "state", state_name(a, &state));
    json_text(&j, "error", state.error);
    if (lasts && w->current < w->n)
        json_uint(&j, "scenario", w->current);
    else
        json_nil(&j, "scenario");
    json_int(&j, "took_ns", watch_took(w, now_ns));
    json_list(&j, "scenarios");
    for (uint32_t i = 0; i < w->n; i++)
        print_scenario(&j, w->names[i], &w->scenario[i], &state, now_ns);
    json_list_end(&j);
    print_flights(&j, a, now_ns);
    print_choices(&j, &state);
    json_map_end(&j);
}

/* ---- figures ---- */

static void family(struct buf *out, const char *name, const char *type, const char *about)
{
    buf_addf(out, "# HELP outfox_%s %s\n# TYPE outfox_%s %s\n", name, about, name, type);
}

/* The value of a label: backslash, quote and newline are escaped; what cannot be shown is not. */
static void add_label(struct buf *out, const char *name, const char *text)
{
    buf_addf(out, "%s=\"", name);
    for (const char *c = text ? text : ""; *c; c++) {
        if (*c == '\n')
            buf_adds(out, "\\n");
        else if (*c == '\\' || *c == '"')
            buf_addf(out, "\\%c", *c);
        else
            buf_addc(out, *c);
    }
    buf_addc(out, '"');
}

static void sample(struct buf *out, const char *name, const char *scenario, double value)
{
    buf_addf(out, "outfox_%s{", name);
    add_label(out, "scenario", scenario);
    buf_addf(out, "} %.17g\n", value);
}

static void print_histogram(struct buf *out, const struct watch *w)
{
    family(out, "run_seconds", "histogram", "How long runs took.");
    for (uint32_t i = 0; i < w->n; i++) {
        const struct watch_scenario *s = &w->scenario[i];
        uint64_t sum = 0;
        for (uint32_t b = 0; b <= WATCH_BUCKETS; b++) {
            sum += s->bucket[b];
            buf_adds(out, "outfox_run_seconds_bucket{");
            add_label(out, "scenario", w->names[i]);
            if (b < WATCH_BUCKETS)
                buf_addf(out, ",le=\"%g\"} %llu\n", (double)watch_buckets[b] / 1e9,
                         (unsigned long long)sum);
            else
                buf_addf(out, ",le=\"+Inf\"} %llu\n", (unsigned long long)sum);
        }
        sample(out, "run_seconds_sum", w->names[i], (double)s->all_ns / 1e9);
        sample(out, "run_seconds_count", w->names[i], (double)sum);
    }
}

static void print_whole(const struct api *a, const struct api_state *state, struct buf *out)
{
    const char *now = state_name(a, state);
    family(out, "info", "gauge", "The program and the system that it explores.");
    buf_adds(out, "outfox_info{");
    add_label(out, "version", a->o.version);
    buf_addc(out, ',');
    add_label(out, "system", a->o.system);
    buf_adds(out, "} 1\n");
    family(out, "campaign_state", "gauge", "1 for what the campaign is doing.");
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        buf_addf(out, "outfox_campaign_state{state=\"%s\"} %d\n", states[i],
                 strcmp(states[i], now) == 0);
    family(out, "ready", "gauge", "1 while the services of the system are up.");
    buf_addf(out, "outfox_ready %d\n", state->ready);
    family(out, "runs_in_flight", "gauge", "Runs under way.");
    buf_addf(out, "outfox_runs_in_flight %u\n", a->watch.flights.n);
    family(out, "event_streams", "gauge", "Readers of /api/v1/events.");
    buf_addf(out, "outfox_event_streams %u\n", api_listeners(a));
}

void metrics_print(const struct api *a, struct buf *out)
{
    static const struct {
        const char *name, *type;
        size_t at;
        const char *about;
    } rows[] = {
#define ROW(name, type, field, about) {name, type, offsetof(struct watch_scenario, field), about}
        ROW("runs_total", "counter", all_runs, "Runs, all of them."),
        ROW("failed_runs_total", "counter", all_failed, "Runs that were not as expected."),
        ROW("calls_total", "counter", all_calls, "Calls of all runs."),
        ROW("findings", "gauge", findings, "Findings so far."),
        ROW("warnings", "gauge", warnings, "Warnings of oracles, counted at the end."),
        ROW("queue", "gauge", queued, "Faultloads that wait to be run."),
#undef ROW
    };
    const struct watch *w = &a->watch;
    int64_t now_ns = clock_ns();
    struct api_state state = {0};
    a->o.host->state(a->o.host->ctx, &state);
    print_whole(a, &state, out);
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        family(out, rows[r].name, rows[r].type, rows[r].about);
        for (uint32_t i = 0; i < w->n; i++)
            sample(out, rows[r].name, w->names[i],
                   (double)*(const uint64_t *)(const void *)((const char *)&w->scenario[i] +
                                                             rows[r].at));
    }
    family(out, "runs_per_second", "gauge", "How fast it goes.");
    for (uint32_t i = 0; i < w->n; i++) {
        const struct watch_scenario *s = &w->scenario[i];
        double rate = s->state == WATCH_UNDER_WAY ? pace_rate(&s->pace, s->runs, now_ns) : 0;
        sample(out, "runs_per_second", w->names[i], rate > 0 ? rate : 0);
    }
    print_histogram(out, w);
}
