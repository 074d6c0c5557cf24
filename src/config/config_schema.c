/* SPDX-License-Identifier: Apache-2.0
 *
 * The JSON Schema (draft 2020-12) of the configuration, from the rows of config_keys.c. It is for
 * editors: what it refuses the program refuses too, not the other way round. Other readers of YAML
 * take `on` for true, and any value may be a text with ${ENV}. */
#include "config/config_int.h"

static const char *const type_schemas[CONF_TYPES] = {
    [CONF_TEXT] = "\"$ref\": \"#/$defs/text\"",
    [CONF_PATH] = "\"$ref\": \"#/$defs/text\"",
    [CONF_COMMAND] = "\"$ref\": \"#/$defs/text\"",
    [CONF_SWITCH] = "\"$ref\": \"#/$defs/switch\"",
    [CONF_DURATION] = "\"$ref\": \"#/$defs/duration\"",
    [CONF_TEXTS] = "\"type\": \"array\", \"items\": {\"$ref\": \"#/$defs/text\"}",
    [CONF_ENV] = "\"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#/$defs/text\"}",
    [CONF_FIELDS] = "\"type\": \"object\", \"additionalProperties\": {\"$ref\": \"#/$defs/text\"}",
};

static const char shared[] =
    "    \"text\": {\"type\": [\"string\", \"number\", \"boolean\"]},\n"
    "    \"env\": {\"type\": \"string\", \"pattern\": \"\\\\$\\\\{\"},\n"
    "    \"switch\": {\"anyOf\": [{\"enum\": [true, false, \"on\", \"off\"]}, {\"$ref\": "
    "\"#/$defs/env\"}]},\n"
    "    \"duration\": {\"anyOf\": [{\"type\": \"string\", \"pattern\": "
    "\"^[0-9]+(ns|us|ms|s|m|h)$\"}, {\"$ref\": \"#/$defs/env\"}]}";

/* What holds between the keys of a map. */
static const char *const place_schemas[CONF_PLACES] = {
    [IN_FILE] = ("\"required\": [\"version\"], \"oneOf\": [{\"required\": [\"services\", "
                 "\"scenarios\"]}, {\"required\": [\"simulate\"]}]"),
    [IN_SIMULATE] = "\"required\": [\"file\"]",
    [IN_SERVICE] = "\"oneOf\": [{\"required\": [\"run\"]}, {\"required\": [\"address\"]}]",
    [IN_SCENARIO] = "\"oneOf\": [{\"required\": [\"request\"]}, {\"required\": [\"command\"]}]",
};

static const char *const place_defs[CONF_PLACES] = {
    [IN_SIMULATE] = "simulate", [IN_SERVICE] = "service", [IN_SCENARIO] = "scenario",
    [IN_EXPECT] = "expect",     [IN_SEARCH] = "search",   [IN_IDENTIFY] = "identify",
    [IN_JUDGE] = "judge",       [IN_SECRETS] = "secrets",
};

static void add_words(const struct conf_key *key, struct buf *out)
{
    buf_adds(out, "\"enum\": [");
    for (size_t i = 0; key->words(i); i++)
        buf_addf(out, "%s\"%s\"", i ? ", " : "", key->words(i));
    if (key->type == CONF_WORD && strcmp(key->words(1), "on") == 0)
        buf_adds(out, ", true, false");
    buf_adds(out, "]");
}

static void add_value(const struct conf_key *key, struct buf *out)
{
    static const char or_env[] = "}, {\"$ref\": \"#/$defs/env\"}]";
    if (key->type == CONF_MAP) {
        buf_addf(out, "\"$ref\": \"#/$defs/%s\"", place_defs[key->inner]);
    } else if (key->type == CONF_WORDS) {
        buf_adds(out, "\"type\": \"array\", \"items\": {\"anyOf\": [{");
        add_words(key, out);
        buf_addf(out, "%s}", or_env);
    } else if (key->words) {
        buf_adds(out, "\"anyOf\": [{");
        add_words(key, out);
        buf_adds(out, or_env);
    } else if (key->type == CONF_U16 || key->type == CONF_U32 || key->type == CONF_U64) {
        buf_addf(out, "\"anyOf\": [{\"type\": \"integer\", \"minimum\": %llu, \"maximum\": %llu%s",
                 (unsigned long long)key->least, (unsigned long long)key->most, or_env);
    } else {
        buf_adds(out, key->schema ? key->schema : type_schemas[key->type]);
    }
}

static void add_keys(enum conf_place place, const char *indent, struct buf *out)
{
    bool first = true;
    buf_addf(out, "%s\"type\": \"object\",\n", indent);
    if (place_schemas[place])
        buf_addf(out, "%s%s,\n", indent, place_schemas[place]);
    buf_addf(out, "%s\"additionalProperties\": false,\n%s\"properties\": {\n", indent, indent);
    for (size_t i = 0; i < conf_key_count; i++) {
        const struct conf_key *key = &conf_keys[i];
        if (key->place != place)
            continue;
        buf_addf(out, "%s%s  \"%s\": {\"description\": ", first ? "" : ",\n", indent, key->name);
        struct buf about = BUF_INIT(1000);
        buf_adds(&about, key->doc);
        if (key->fallback[0])
            buf_addf(&about, " (default: %s)", key->fallback);
        buf_add_json_string(out, buf_slice(&about));
        buf_deinit(&about);
        buf_adds(out, ", ");
        add_value(key, out);
        buf_adds(out, "}");
        first = false;
    }
    buf_addf(out, "\n%s}", indent);
}

void campaign_config_schema(struct buf *out)
{
    buf_adds(out, "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                  "  \"title\": \"outfox.yaml\",\n");
    add_keys(IN_FILE, "  ", out);
    buf_addf(out, ",\n  \"$defs\": {\n%s", shared);
    for (enum conf_place place = 0; place < CONF_PLACES; place++) {
        if (!place_defs[place])
            continue;
        buf_addf(out, ",\n    \"%s\": {\n", place_defs[place]);
        add_keys(place, "      ", out);
        buf_adds(out, "\n    }");
    }
    buf_adds(out, "\n  }\n}\n");
}
