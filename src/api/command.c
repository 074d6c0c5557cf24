/* SPDX-License-Identifier: Apache-2.0
 *
 * What is asked of a campaign: the bodies, by tables of keys (data/keys.h) that the OpenAPI document
 * shows as well; the host does it. */
#include "api/api_int.h"
#include "data/json.h"

const char *const api_command_names[API_COMMANDS] = {
    [API_PAUSE] = "pause",   [API_RESUME] = "resume", [API_STOP] = "stop",
    [API_BUDGET] = "budget", [API_ORACLE] = "oracle", [API_REPLAY] = "replay",
};

/* ---- bodies ---- */

/* A count; null: no bound. */
static int read_runs(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct api_command *c = into;
    c->has_runs = true;
    if (value->type == NODE_NULL)
        return 0;
    if (keys_want(r, key->name, value, NODE_NUM))
        return -1;
    if (!slice_to_u64(value->text, UINT32_MAX, &c->max_runs))
        return keys_fail(r, value, "\"%s\" must be a whole number from 0, or null: no bound",
                         key->name);
    return 0;
}

/* A duration; null: no bound. */
static int read_time(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct api_command *c = into;
    c->has_time = true;
    return value->type == NODE_NULL ? 0 : keys_duration(r, key, value, &c->max_time_ns);
}

static int read_number(struct keys_reader *r, const struct key *key, void *into,
                       const struct node *value)
{
    uint64_t number;
    if (keys_want(r, key->name, value, NODE_NUM))
        return -1;
    if (!slice_to_u64(value->text, UINT32_MAX, &number) || number < key->least)
        return keys_fail(r, value, "\"%s\" must be a whole number from %llu", key->name,
                         (unsigned long long)key->least);
    if (strcmp(key->name, "run") == 0)
        *(uint64_t *)key_field(key, into) = number;
    else
        *(uint32_t *)key_field(key, into) = (uint32_t)number;
    return 0;
}

static int read_text(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    if (keys_want(r, key->name, value, NODE_STR))
        return -1;
    *(slice *)key_field(key, into) = value->text;
    return 0;
}

static int read_severity(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct api_command *c = into;
    uint32_t i = 0;
    while (i < SEVERITIES && !(value->type == NODE_STR && slice_is(value->text, severity_names[i])))
        i++;
    if (i == SEVERITIES)
        return keys_fail(r, value, "\"%s\" must be \"off\", \"warning\" or \"finding\"", key->name);
    c->severity = (enum severity)i;
    return 0;
}

#define AT(member)  offsetof(struct api_command, member)
#define COUNT(from) "\"type\": \"integer\", \"minimum\": " #from ", \"maximum\": 4294967295"

static const struct key budget_rows[] = {
    {.name = "max_runs",
     .read = read_runs,
     .schema = "\"type\": [\"integer\", \"null\"], \"minimum\": 0, \"maximum\": 4294967295",
     .doc = "runs of each scenario, those that were made included; null or 0: no bound"},
    {.name = "max_time",
     .read = read_time,
     .schema = "\"type\": [\"string\", \"null\"], \"pattern\": \"^[0-9]+(ns|us|ms|s|m|h)$\"",
     .doc = "time of each scenario from its beginning, such as 10m; null: no bound"},
};

static const struct key oracle_rows[] = {
    {.name = "severity",
     .read = read_severity,
     .needed = "severity",
     .schema = "\"enum\": [\"off\", \"warning\", \"finding\"]",
     .doc = "what it says counts as"},
};

static const struct key replay_rows[] = {
    {.name = "scenario",
     .read = read_number,
     .field = AT(scenario),
     .schema = COUNT(0),
     .doc = "its place in the report; without it the first"},
    {.name = "finding",
     .read = read_text,
     .field = AT(finding),
     .schema = "\"type\": \"string\"",
     .doc = "the id of a finding: F1"},
    {.name = "run",
     .read = read_number,
     .field = AT(run),
     .least = 1,
     .schema = COUNT(1),
     .doc = "the number of a stored run"},
    {.name = "faultload",
     .read = read_text,
     .field = AT(faultload),
     .schema = "\"type\": \"string\"",
     .doc = "a faultload as reports print it; none: without faults"},
};

const struct keys no_keys = {.what = "the body", .name = "nothing"};
const struct keys budget_keys = {"the body", "budget", KEY_ROWS(budget_rows),
                                 .schema = "\"minProperties\": 1"};
const struct keys oracle_keys = {"the body", "oracle", KEY_ROWS(oracle_rows)};
const struct keys replay_keys = {
    "the body", "replay", KEY_ROWS(replay_rows),
    .schema = "\"oneOf\": [{\"required\": [\"finding\"]}, {\"required\": [\"run\"]}, "
              "{\"required\": [\"faultload\"]}]"};

int command_read(const struct asked *k, slice body, struct arena *a, struct api_command *out,
                 struct err *e)
{
    struct keys_reader r = {.e = e, .arena = a};
    const struct node *map;
    *out = (struct api_command){.kind = (enum api_command_kind)k->route->kind,
                                .oracle = k->text[VALUE_NAME]};
    if (!slice_trim(body).n)
        body = SLICE("{}");
    if (node_parse_json(a, body, &map))
        return err_set(e, 0, 0, "the body is not JSON");
    if (map->type != NODE_MAP)
        return err_set(e, 0, 0, "the body must be a JSON object, not %s",
                       node_type_name(map->type));
    if (keys_read(&r, k->route->body, out, map))
        return -1;
    if (out->kind == API_BUDGET && !out->has_runs && !out->has_time)
        return err_set(e, 0, 0, "the body sets nothing; give \"max_runs\", \"max_time\" or both");
    int which = (out->finding.p != NULL) + (out->run != 0) + (out->faultload.p != NULL);
    if (out->kind == API_REPLAY && which != 1)
        return err_set(e, 0, 0, "give one of \"finding\", \"run\" and \"faultload\"");
    return 0;
}

/* ---- answers ---- */

void answer_command(struct asking *k)
{
    const struct api_host *host = k->api->o.host;
    struct api_command c;
    struct err e = {0};
    struct buf place = BUF_INIT(100), text = BUF_INIT(1000);
    uint64_t id = 0;
    if (command_read(&k->asked, k->q->body, &k->arena, &c, &e)) {
        answer_error(k->q, 400, e.text);
        return;
    }
    enum api_result result = host->command(host->ctx, &c, &id, &e);
    if (result != API_OK) {
        answer_result(k->q, result, &e);
        return;
    }
    api_changed(k->api);
    if (c.kind != API_REPLAY) {
        answer_campaign(k);
        return;
    }
    struct json_out j = json_out(&text, JSON_COMPACT);
    json_map(&j, NULL);
    json_uint(&j, "id", id);
    json_map_end(&j);
    buf_addf(&place, "/api/v1/replays/%llu", (unsigned long long)id);
    server_field(k->q, "location", buf_text(&place));
    answer_text(k->q, 202, "application/json", buf_slice(&text));
    buf_deinit(&place);
    buf_deinit(&text);
}

void answer_replay(struct asking *k)
{
    static const char *const states[] = {NULL, "waiting", "running", "done", "failed"};
    const struct api_host *host = k->api->o.host;
    struct err e = {0};
    struct buf result = BUF_INIT(API_DOCUMENT_MAX), text = BUF_INIT(API_DOCUMENT_MAX);
    uint64_t id = k->asked.number[VALUE_ID];
    enum api_replay state = host->replay(host->ctx, id, &result, &e);
    if (state == API_REPLAY_NONE) {
        answer_error(k->q, 404, "there is no such replay; POST /api/v1/replays begins one");
    } else {
        buf_addf(&text, "{\"schema_version\":1,\"id\":%llu,\"state\":\"%s\",\"error\":",
                 (unsigned long long)id, states[state]);
        if (state == API_REPLAY_FAILED)
            buf_add_json_string(&text, slice_of(e.text));
        else
            buf_adds(&text, "null");
        buf_adds(&text, ",\"result\":");
        buf_add(&text, state == API_REPLAY_DONE ? slice_trim(buf_slice(&result)) : SLICE("null"));
        buf_adds(&text, "}");
        answer_text(k->q, 200, "application/json", buf_slice(&text));
    }
    buf_deinit(&result);
    buf_deinit(&text);
}
