/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of events, both ways by one table; and what they come to. */
#include "core/event.h"

#include "data/json.h"

const char *const event_type_names[EVENT_TYPES] = {
    [EVENT_CAMPAIGN] = "campaign",
    [EVENT_AGAIN] = "again",
    [EVENT_LEARNED] = "learned",
    [EVENT_LEVEL] = "level",
    [EVENT_RUN_BEGINS] = "run-begins",
    [EVENT_RUN] = "run",
    [EVENT_FINDING] = "finding",
    [EVENT_REMARK] = "remark",
    [EVENT_REASON] = "reason",
    [EVENT_SKIP] = "skip",
    [EVENT_NOTE] = "note",
    [EVENT_WARNING] = "warning",
    [EVENT_WAITING] = "waiting",
    [EVENT_DIED] = "died",
    [EVENT_RESTARTED] = "restarted",
    [EVENT_REPORT] = "report",
    [EVENT_END] = "end",
};

static const char *const counted_names[COUNTED_KINDS] = {"no", "run", "repeat", "audit"};
static const char *const stage_names[STAGES] = {"found", "told", "final"};

/* ---- fields ---- */

enum field_kind {
    FIELD_TEXT,   /* const char *; NULL: it is left out */
    FIELD_COUNT,  /* uint64_t, and int64_t that is never negative */
    FIELD_KEY,    /* uint64_t of which every bit counts: in hex, as text */
    FIELD_FIGURE, /* double */
    FIELD_FLAG,   /* bool */
    FIELD_NAME,   /* an enum with a table of names */
    FIELD_FAULTS, /* faultload */
    FIELD_STATUS, /* outcome */
};

#define ON(type)   (1u << EVENT_##type)
#define ALL_EVENTS (~0u)

static const struct field_row {
    const char *name;
    enum field_kind kind;
    size_t at;
    uint32_t types; /* that have it */
    const char *const *names;
    uint32_t n_names;
} rows[] = {
#define FIELD(name, kind, member, types)                                                           \
    {                                                                                              \
        name, FIELD_##kind, offsetof(struct event, member), types, NULL, 0                         \
    }
#define NAMES(name, member, types, table, n)                                                       \
    {                                                                                              \
        name, FIELD_NAME, offsetof(struct event, member), types, table, n                          \
    }
    FIELD("scenario", TEXT, scenario, ALL_EVENTS),
    FIELD("at_ns", COUNT, at_ns, ALL_EVENTS),
    FIELD("system", TEXT, system, ON(CAMPAIGN)),
    FIELD("file", TEXT, file, ON(CAMPAIGN)),
    FIELD("modes", TEXT, modes, ON(CAMPAIGN)),
    FIELD("order", TEXT, order, ON(CAMPAIGN)),
    FIELD("max_runs", COUNT, max_runs, ON(CAMPAIGN)),
    FIELD("max_time_ns", COUNT, max_time_ns, ON(CAMPAIGN)),
    FIELD("resumed", FLAG, resumed, ON(CAMPAIGN)),
    FIELD("number", COUNT, number, ON(RUN) | ON(FINDING) | ON(REMARK)),
    NAMES("purpose", purpose, ON(RUN_BEGINS) | ON(RUN), run_purpose_names, RUN_PURPOSES),
    FIELD("faultload", FAULTS, faultload, ON(RUN_BEGINS) | ON(RUN) | ON(FINDING) | ON(REMARK)),
    FIELD("pass", FLAG, pass, ON(RUN)),
    FIELD("status", STATUS, status, ON(RUN)),
    FIELD("why", TEXT, why, ON(RUN) | ON(FINDING) | ON(REMARK)),
    FIELD("broken", TEXT, why, ON(END)),
    FIELD("detail", TEXT, detail, ON(RUN) | ON(FINDING)),
    FIELD("took_ns", COUNT, took_ns, ON(RUN) | ON(END)),
    FIELD("calls", COUNT, calls, ON(RUN) | ON(LEVEL)),
    FIELD("hung", FLAG, hung, ON(RUN)),
    FIELD("crashed", FLAG, crashed, ON(RUN)),
    FIELD("repeated", FLAG, repeated, ON(RUN)),
    FIELD("restored", FLAG, restored, ON(RUN)),
    NAMES("counted", counted, ON(RUN), counted_names, COUNTED_KINDS),
    FIELD("fired", FLAG, fired, ON(RUN)),
    FIELD("size", COUNT, size, ON(RUN)),
    FIELD("hits", COUNT, hits, ON(RUN)),
    FIELD("runs", COUNT, runs,
          ON(RUN_BEGINS) | ON(RUN) | ON(FINDING) | ON(REMARK) | ON(LEARNED) | ON(END)),
    FIELD("queued", COUNT, queued, ON(RUN_BEGINS) | ON(RUN) | ON(END)),
    FIELD("findings", COUNT, found, ON(RUN_BEGINS) | ON(RUN) | ON(END)),
    NAMES("stage", stage, ON(FINDING) | ON(REMARK), stage_names, STAGES),
    NAMES("kind", kind, ON(FINDING), finding_kind_names, FINDING_KINDS),
    NAMES("state", state, ON(FINDING), finding_state_names, FINDING_STATES),
    FIELD("key", KEY, key, ON(FINDING)),
    FIELD("oracle", TEXT, name, ON(REMARK)),
    FIELD("name", TEXT, name, ON(REASON) | ON(SKIP)),
    FIELD("service", TEXT, name, ON(LEVEL)),
    FIELD("level", TEXT, text, ON(LEVEL)),
    NAMES("severity", severity, ON(REMARK), severity_names, SEVERITIES),
    FIELD("times", COUNT, times, ON(REASON)),
    FIELD("combinations", FIGURE, figure, ON(SKIP)),
    FIELD("text", TEXT, text,
          ON(NOTE) | ON(WARNING) | ON(WAITING) | ON(DIED) | ON(AGAIN) | ON(SKIP)),
    FIELD("stopped", TEXT, stopped, ON(END)),
    FIELD("doubt", TEXT, doubt, ON(END)),
    NAMES("conclusion", conclusion, ON(END), conclusion_names, CONCLUSIONS),
    FIELD("space", FIGURE, figure, ON(END)),
    FIELD("points", COUNT, points, ON(END)),
    FIELD("conditional", COUNT, conditional, ON(END)),
    FIELD("transcripts", COUNT, transcripts, ON(END)),
    FIELD("suspects", COUNT, suspects, ON(END)),
    FIELD("failed_runs", COUNT, failed, ON(RUN) | ON(END)),
};

enum { ROWS = sizeof rows / sizeof *rows };

/* ---- to text ---- */

void event_print(const struct event *event, const struct names *names, const struct faultloads *fl,
                 struct buf *out)
{
    struct json_out j = json_out(out, JSON_SPACED);
    json_map(&j, NULL);
    json_text(&j, "outfox", "event");
    json_uint(&j, "version", EVENT_VERSION);
    json_text(&j, "type", event_type_names[event->type]);
    struct buf text = BUF_INIT(1 << 20);
    for (const struct field_row *row = rows; row < rows + ROWS; row++) {
        const void *at = (const char *)event + row->at;
        if (!(row->types >> event->type & 1))
            continue;
        switch (row->kind) {
        case FIELD_TEXT:
            if (*(const char *const *)at)
                json_text(&j, row->name, *(const char *const *)at);
            break;
        case FIELD_COUNT: json_uint(&j, row->name, *(const uint64_t *)at); break;
        case FIELD_FIGURE: json_num(&j, row->name, *(const double *)at); break;
        case FIELD_FLAG: json_bool(&j, row->name, *(const bool *)at); break;
        case FIELD_NAME: json_text(&j, row->name, row->names[*(const uint32_t *)at]); break;
        case FIELD_KEY: buf_addf(&text, "%llx", (unsigned long long)*(const uint64_t *)at); break;
        case FIELD_FAULTS: faultload_print(names, fl, *(const faultload *)at, &text); break;
        case FIELD_STATUS: outcome_print(*(const outcome *)at, &text); break;
        }
        if (text.n)
            json_take(&j, row->name, &text);
    }
    buf_deinit(&text);
    json_map_end(&j);
}

/* ---- back ---- */

/* The number of a name in a table; UINT32_MAX: none. */
static uint32_t number_of(slice name, const char *const *names, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (slice_is(name, names[i]))
            return i;
    return UINT32_MAX;
}

static bool parse_value(const struct field_row *row, const struct node *value, void *at,
                        struct names *names, struct faultloads *fl, struct arena *a)
{
    static const enum node_type types[] = {
        [FIELD_TEXT] = NODE_STR,   [FIELD_COUNT] = NODE_NUM,  [FIELD_KEY] = NODE_STR,
        [FIELD_FLAG] = NODE_BOOL,  [FIELD_FIGURE] = NODE_NUM, [FIELD_NAME] = NODE_STR,
        [FIELD_FAULTS] = NODE_STR, [FIELD_STATUS] = NODE_STR};
    struct err ignored = {0};
    if (value->type != types[row->kind])
        return false;
    switch (row->kind) {
    case FIELD_TEXT: *(const char **)at = slice_copy(a, value->text).p; return true;
    case FIELD_KEY: return slice_to_hex(value->text, at);
    case FIELD_FIGURE: *(double *)at = value->num; return true;
    case FIELD_FLAG: *(bool *)at = value->boolean; return true;
    case FIELD_FAULTS: return !faultload_parse(names, fl, value->text, at, &ignored);
    case FIELD_STATUS: return outcome_read(value->text, at);
    case FIELD_NAME:
        *(uint32_t *)at = number_of(value->text, row->names, row->n_names);
        return *(uint32_t *)at != UINT32_MAX;
    case FIELD_COUNT: {
        bool fits = value->num >= 0 && value->num < 0x1p63;
        *(uint64_t *)at = fits ? (uint64_t)value->num : 0;
        return fits;
    }
    }
    return false;
}

int event_parse(slice line, struct names *names, struct faultloads *fl, struct arena *a,
                struct event *out, struct err *e)
{
    const struct node *map;
    *out = (struct event){0};
    if (node_parse_json(a, line, &map) || map->type != NODE_MAP)
        return err_set(e, 0, 0, "an event must be one line with a JSON object");
    const struct node *is = node_get(map, SLICE("outfox")), *type = node_get(map, SLICE("type"));
    const struct node *version = node_get(map, SLICE("version"));
    if (!is || is->type != NODE_STR || !slice_is(is->text, "event") || !type ||
        type->type != NODE_STR || !version || version->type != NODE_NUM)
        return err_set(e, 0, 0, "not an outfox event");
    if (version->num > EVENT_VERSION)
        return err_set(e, 0, 0, "event version %g is not supported; this outfox reads version %d",
                       version->num, EVENT_VERSION);
    uint32_t number = number_of(type->text, event_type_names, EVENT_TYPES);
    if (number == UINT32_MAX)
        return err_set(e, 0, 0, "unknown event \"%.*s\"", SLICE_ARG(type->text));
    out->type = number;
    for (const struct field_row *row = rows; row < rows + ROWS; row++) {
        const struct node *value = node_get(map, slice_of(row->name));
        if (value && row->types >> number & 1 &&
            !parse_value(row, value, (char *)out + row->at, names, fl, a))
            return err_set(e, 0, 0, "invalid field \"%s\" in event \"%s\"", row->name,
                           event_type_names[number]);
    }
    return 0;
}

/* ---- from a summary, and to one ---- */

struct event event_of_finding(const struct finding *f, enum event_stage stage)
{
    return (struct event){.type = EVENT_FINDING,
                          .stage = stage,
                          .faultload = f->faultload,
                          .why = f->why,
                          .detail = f->detail,
                          .kind = f->kind,
                          .state = f->state,
                          .number = f->number,
                          .runs = f->runs,
                          .as_finding = f};
}

struct event event_of_remark(const struct remark *r, enum event_stage stage)
{
    return (struct event){.type = EVENT_REMARK,
                          .stage = stage,
                          .name = r->oracle,
                          .severity = r->severity,
                          .why = r->why,
                          .faultload = r->faultload,
                          .number = r->number,
                          .runs = r->runs,
                          .as_remark = r};
}

void summary_tell(const struct summary *s, const struct event_sink *sink)
{
    const struct event plain = {.scenario = s->scenario, .at_ns = s->took_ns};
    struct event event = plain;
    event.type = EVENT_REPORT;
    event_send(sink, &event);
    for (uint32_t i = 0; i < s->findings.n; i++) {
        event = event_of_finding(&s->findings.at[i], STAGE_FINAL);
        event.scenario = s->scenario;
        event_send(sink, &event);
    }
    for (uint32_t i = 0; i < s->remarks.n; i++) {
        event = event_of_remark(&s->remarks.at[i], STAGE_FINAL);
        event.scenario = s->scenario;
        event_send(sink, &event);
    }
    event = plain;
    event.type = EVENT_REASON;
    for (uint32_t i = 0; i < s->reasons.n; i++) {
        event.name = reason_names[s->reasons.at[i].kind];
        event.times = s->reasons.at[i].times;
        event_send(sink, &event);
    }
    event = plain;
    event.type = EVENT_SKIP;
    for (uint32_t i = 0; i < s->skipped.n; i++) {
        event.name = s->skipped.at[i].name;
        event.text = s->skipped.at[i].why;
        event.figure = s->skipped.at[i].n;
        event_send(sink, &event);
    }
    event = (struct event){.type = EVENT_END,
                           .scenario = s->scenario,
                           .at_ns = s->took_ns,
                           .stopped = s->stopped,
                           .doubt = s->doubt,
                           .why = s->broken,
                           .conclusion = summary_conclusion(s),
                           .took_ns = s->took_ns,
                           .figure = s->space,
                           .runs = s->runs,
                           .queued = s->queued,
                           .found = summary_wrong(s),
                           .points = s->points,
                           .conditional = s->conditional,
                           .transcripts = s->transcripts,
                           .suspects = s->all_suspects,
                           .failed = s->failed_runs};
    event_send(sink, &event);
}

static const char *keep(struct arena *a, const char *text)
{
    return text ? arena_copy(a, text, strlen(text)) : NULL;
}

static void count_run(struct summary *out, const struct event *event)
{
    out->runs += event->counted == COUNTED_RUN;
    out->repeats += event->counted == COUNTED_REPEAT;
    out->audited += event->counted == COUNTED_AUDIT;
    if (event->counted == COUNTED_NOT)
        return;
    bool baseline = event->purpose == RUN_BASELINE;
    if (event->fired && event->counted != COUNTED_AUDIT &&
        !(baseline && event->counted == COUNTED_REPEAT)) {
        while (out->runs_by_size.n <= event->size)
            vec_push(&out->runs_by_size, 0);
        out->runs_by_size.at[event->size]++;
        summary_count(out, event->status, event->pass);
    }
    out->failed_runs += !event->pass && (event->hits > 0 || baseline);
}

void summary_event(struct summary *out, const struct event *event, struct arena *a)
{
    switch (event->type) {
    case EVENT_CAMPAIGN:
        out->system = keep(a, event->system);
        out->scenario = keep(a, event->scenario);
        out->file = keep(a, event->file);
        out->order = keep(a, event->order);
        break;
    case EVENT_AGAIN: {
        struct summary fresh = {out->system, out->scenario, out->file, .order = out->order};
        summary_deinit(out);
        *out = fresh;
        break;
    }
    case EVENT_LEVEL:
        vec_push(&out->levels, (struct summary_level){.service = keep(a, event->name),
                                                      .calls = event->calls,
                                                      .level = keep(a, event->text)});
        break;
    case EVENT_RUN: count_run(out, event); break;
    case EVENT_FINDING:
        if (event->stage != STAGE_FOUND)
            vec_push(&out->findings, (struct finding){.faultload = event->faultload,
                                                      .why = keep(a, event->why),
                                                      .detail = keep(a, event->detail),
                                                      .kind = event->kind,
                                                      .state = event->state,
                                                      .number = event->number,
                                                      .runs = event->runs});
        break;
    case EVENT_REMARK:
        vec_push(&out->remarks, (struct remark){.oracle = keep(a, event->name),
                                                .severity = event->severity,
                                                .why = keep(a, event->why),
                                                .faultload = event->faultload,
                                                .number = event->number,
                                                .runs = event->runs});
        break;
    case EVENT_SKIP:
        vec_push(&out->skipped,
                 (struct summary_skip){keep(a, event->name), keep(a, event->text), event->figure});
        break;
    case EVENT_NOTE: vec_push(&out->notes, keep(a, event->text)); break;
    case EVENT_REPORT: out->findings.n = out->remarks.n = out->skipped.n = 0; break;
    case EVENT_END:
        out->stopped = keep(a, event->stopped);
        out->doubt = keep(a, event->doubt);
        out->broken = keep(a, event->why);
        out->space = event->figure;
        out->points = (uint32_t)event->points;
        out->conditional = (uint32_t)event->conditional;
        out->transcripts = event->transcripts;
        out->queued = event->queued;
        out->all_suspects = event->suspects;
        out->took_ns = event->took_ns;
        break;
    default: break; /* for those who watch */
    }
}
