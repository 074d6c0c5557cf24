/* SPDX-License-Identifier: Apache-2.0
 *
 * The file: nodes of YAML to the keys of config.c, each error with its place. */
#include <stdio.h>

#include "data/yaml.h"
#include "proxy/config_int.h"
#include "proxy/rule_int.h"

static bool is_value(const struct node *node)
{
    return node->type != NODE_NULL && node->type != NODE_LIST && node->type != NODE_MAP;
}

static int want(const struct node *node, enum node_type type, slice what, struct err *e)
{
    if (node->type == type)
        return 0;
    return err_set(e, node->line, node->col, "\"%.*s\" must be %s, not %s", SHORT(what),
                   node_type_name(type), node_type_name(node->type));
}

static int want_value(const struct node *node, slice what, struct err *e)
{
    if (is_value(node))
        return 0;
    return err_set(e, node->line, node->col, "\"%.*s\" must be a value, not %s%s", SHORT(what),
                   node_type_name(node->type),
                   node->type == NODE_NULL ? "" : ": put text with [ or { in quotes");
}

/* ---- keys of the whole ---- */

static int set_at(struct proxy_config *config, const struct config_key *key,
                  const struct node *node, slice value, struct err *e)
{
    struct err inner = {0};
    if (key->set(config, value, &inner))
        return err_set(e, node->line, node->col, "%s", inner.text);
    return 0;
}

static int set_list(struct proxy_config *config, const struct config_key *key,
                    const struct node *node, struct err *e)
{
    if (want(node, NODE_LIST, slice_of(key->name), e))
        return -1;
    for (uint32_t i = 0; i < node->n; i++)
        if (want_value(node->list[i], slice_of(key->name), e) ||
            set_at(config, key, node->list[i], node->list[i]->text, e))
            return -1;
    return 0;
}

static int set_map(struct proxy_config *config, const struct config_key *key,
                   const struct node *node, struct err *e)
{
    if (want(node, NODE_MAP, slice_of(key->name), e))
        return -1;
    for (uint32_t i = 0; i < node->n; i++) {
        const struct node_pair *pair = &node->map[i];
        if (want_value(pair->value, pair->key, e))
            return -1;
        struct buf text = BUF_INIT(1000);
        buf_addf(&text, "%.*s=%.*s", SLICE_ARG(pair->key), SLICE_ARG(pair->value->text));
        int status = set_at(config, key, pair->value, buf_slice(&text), e);
        buf_deinit(&text);
        if (status)
            return -1;
    }
    return 0;
}

static int set_key(struct proxy_config *config, const struct config_key *key,
                   const struct node *node, struct err *e)
{
    switch (key->shape) {
    case SHAPE_LIST: return set_list(config, key, node, e);
    case SHAPE_MAP: return set_map(config, key, node, e);
    case SHAPE_ONE: break;
    }
    return want_value(node, slice_of(key->name), e) || set_at(config, key, node, node->text, e) ? -1
                                                                                                : 0;
}

/* ---- faults ---- */

static const char *const fault_keys[] = {"fault", "id", "body", "message", "headers"};

static bool is_fault_key(slice key)
{
    for (size_t i = 0; i < sizeof fault_keys / sizeof *fault_keys; i++)
        if (slice_is(key, fault_keys[i]))
            return true;
    return false;
}

/* Without quotes YAML reads `POST /charge : 503` as a map of one pair. */
static bool is_split_rule(const struct node *node)
{
    return node->type == NODE_MAP && node->n == 1 && is_value(node->map[0].value) &&
           !is_fault_key(node->map[0].key);
}

static slice join_rule(struct arena *a, const struct node_pair *pair)
{
    struct buf text = BUF_INIT(YAML_BYTES_MAX + 8);
    buf_addf(&text, "%.*s : %.*s", SLICE_ARG(pair->key), SLICE_ARG(pair->value->text));
    slice copy = slice_copy(a, buf_slice(&text));
    buf_deinit(&text);
    return copy;
}

static int fault_read(struct proxy_config *config, uint32_t proxy, const struct node *node,
                      struct err *e)
{
    struct fault_source fault = {
        .text = node->text, .proxy = proxy, .line = node->line, .col = node->col};
    if (is_split_rule(node)) {
        fault.text = join_rule(&config->arena, &node->map[0]);
    } else if (node->type == NODE_MAP) {
        const struct node *text = node_get(node, SLICE("fault"));
        struct err inner = {0};
        for (uint32_t i = 0; i < node->n; i++)
            if (!is_fault_key(node->map[i].key)) {
                key_unknown(node->map[i].key, "a fault", fault_keys, 5, &inner);
                return err_set(e, node->map[i].line, node->map[i].col, "%s", inner.text);
            }
        if (!text)
            return err_set(e, node->line, node->col, "\"fault\" is missing: the text of the rule");
        if (want_value(text, SLICE("fault"), e))
            return -1;
        fault.text = text->text;
        fault.line = text->line;
        fault.col = text->col;
        fault.with = node;
    } else if (want_value(node, SLICE("faults"), e)) {
        return -1;
    }
    vec_push(&config->faults, fault);
    return 0;
}

static int fields_read(struct proxy_config *config, struct rule *rule, const struct node *map,
                       struct err *e)
{
    if (want(map, NODE_MAP, SLICE("headers"), e))
        return -1;
    for (uint32_t i = 0; i < map->n; i++) {
        const struct node_pair *pair = &map->map[i];
        struct err inner = {0};
        if (want_value(pair->value, pair->key, e))
            return -1;
        if (rule_add_field(&config->book, rule, pair->key, pair->value->text, &inner))
            return err_set(e, pair->line, pair->col, "%s", inner.text);
    }
    return 0;
}

int fault_with(struct proxy_config *config, struct rule *rule, const struct node *with,
               struct err *e)
{
    static const struct {
        const char *key;
        int (*set)(struct rulebook *book, struct rule *rule, slice value, struct err *e);
    } rows[] = {{"id", rule_set_id}, {"body", rule_set_body}, {"message", rule_set_message}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct node *value = node_get(with, slice_of(rows[i].key));
        struct err inner = {0};
        if (!value)
            continue;
        if (want_value(value, slice_of(rows[i].key), e))
            return -1;
        if (rows[i].set(&config->book, rule, value->text, &inner))
            return err_set(e, value->line, value->col, "%s", inner.text);
    }
    const struct node *headers = node_get(with, SLICE("headers"));
    return headers ? fields_read(config, rule, headers, e) : 0;
}

/* ---- proxies ---- */

static int faults_read(struct proxy_config *config, uint32_t proxy, const struct node *list,
                       struct err *e)
{
    if (want(list, NODE_LIST, SLICE("faults"), e))
        return -1;
    for (uint32_t i = 0; i < list->n; i++)
        if (fault_read(config, proxy, list->list[i], e))
            return -1;
    return 0;
}

static int proxy_key_read(struct proxy_config *config, uint32_t proxy, const struct node_pair *pair,
                          struct err *e)
{
    const char *names[PROXY_KEYS + 1] = {[PROXY_KEYS] = "faults"};
    struct err inner = {0};
    bool known = false;
    if (slice_is(pair->key, "faults"))
        return faults_read(config, proxy, pair->value, e);
    for (size_t i = 0; i < PROXY_KEYS; i++) {
        names[i] = proxy_key_names[i];
        known |= slice_is(pair->key, names[i]);
    }
    if (!known && key_unknown(pair->key, "a proxy", names, PROXY_KEYS + 1, &inner))
        return err_set(e, pair->line, pair->col, "%s", inner.text);
    if (want_value(pair->value, pair->key, e))
        return -1;
    if (proxy_set(config, proxy, pair->key, pair->value->text, &inner))
        return err_set(e, pair->value->line, pair->value->col, "%s", inner.text);
    return 0;
}

static int proxies_read(struct proxy_config *config, const struct node *list, struct err *e)
{
    if (want(list, NODE_LIST, SLICE("proxies"), e))
        return -1;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct node *map = list->list[i];
        struct err inner = {0};
        if (map->type != NODE_MAP)
            return err_set(e, map->line, map->col,
                           "a proxy is a map with the keys service, listen, to ..., not %s",
                           node_type_name(map->type));
        int proxy = config_add_proxy(config, &inner);
        if (proxy < 0)
            return err_set(e, map->line, map->col, "%s", inner.text);
        config->proxies.at[proxy].line = map->line;
        config->proxies.at[proxy].col = map->col;
        for (uint32_t k = 0; k < map->n; k++)
            if (proxy_key_read(config, (uint32_t)proxy, &map->map[k], e))
                return -1;
    }
    return 0;
}

/* ---- the file ---- */

static int pair_read(struct proxy_config *config, const struct node_pair *pair, struct err *e)
{
    const char *names[CONFIG_KEYS + 1] = {[CONFIG_KEYS] = "proxies"};
    struct err inner = {0};
    if (slice_is(pair->key, "proxies"))
        return proxies_read(config, pair->value, e);
    for (size_t i = 0; i < CONFIG_KEYS; i++) {
        if (slice_is(pair->key, config_keys[i].name))
            return set_key(config, &config_keys[i], pair->value, e);
        names[i] = config_keys[i].name;
    }
    key_unknown(pair->key, "the configuration", names, CONFIG_KEYS + 1, &inner);
    return err_set(e, pair->line, pair->col, "%s", inner.text);
}

int config_read(struct proxy_config *config, const struct node *root, struct err *e)
{
    if (root->type != NODE_MAP)
        return err_set(e, root->line, root->col,
                       "a configuration is a map with the keys proxies, log ..., not %s",
                       node_type_name(root->type));
    for (uint32_t i = 0; i < root->n; i++)
        if (pair_read(config, &root->map[i], e))
            return -1;
    return 0;
}

/* Rules have in them what YAML takes for its own. */
static void add_hint(struct err *e)
{
    size_t n = strlen(e->text);
    if (strstr(e->text, "mapping values are not allowed") || strstr(e->text, "scanning an alias"))
        snprintf(e->text + n, sizeof e->text - n, ": put rules in quotes");
}

int config_load(struct proxy_config *config, const char *path, struct err *e)
{
    const struct node *root;
    if (yaml_load(path, &config->arena, &root, e)) {
        add_hint(e);
        return -1;
    }
    config->source = arena_copy(&config->arena, e->source, strlen(e->source));
    if (config_read(config, root, e))
        return -1;
    e->source[0] = 0; /* what comes next is not of the file */
    return 0;
}
