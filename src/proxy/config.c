/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys of the configuration and of a proxy, as tables; what must hold for the whole. */
#include "proxy/config.h"

#include <stdio.h>

#include "proxy/config_int.h"
#include "proxy/rule_int.h"

struct proxy_config *config_new(void)
{
    struct proxy_config *config = mem_zero(sizeof *config);
    config->workers = 1;
    config->fault_header = true;
    config->normalise = rewrite_new();
    config->limits = limits_default;
    return config;
}

void config_free(struct proxy_config *config)
{
    if (!config)
        return;
    for (uint32_t i = 0; i < config->proxies.n; i++)
        rules_deinit(&config->proxies.at[i].rules);
    vec_deinit(&config->proxies);
    vec_deinit(&config->faults);
    rulebook_deinit(&config->book);
    rewrite_free(config->normalise);
    arena_deinit(&config->arena);
    mem_free(config);
}

int key_unknown(slice key, const char *what, const char *const *names, size_t n, struct err *e)
{
    return err_set(e, 0, 0, "unknown key \"%.*s\" in %s%s", SHORT(key), what,
                   err_hint(key, names, n).text);
}

int switch_read(const char *key, slice value, bool *out, struct err *e)
{
    *out = slice_is(value, "on") || slice_is(value, "true");
    if (*out || slice_is(value, "off") || slice_is(value, "false"))
        return 0;
    return err_set(e, 0, 0, "\"%s\" is on or off, not \"%.*s\"", key, SHORT(value));
}

/* ---- keys of the whole ---- */

static int log_set(struct proxy_config *config, slice value, struct err *e)
{
    if (!value.n)
        return err_set(e, 0, 0, "\"log\" is empty: name a file, or \"-\" for standard output");
    config->log = arena_copy(&config->arena, value.p, value.n);
    return 0;
}

static int workers_set(struct proxy_config *config, slice value, struct err *e)
{
    uint64_t number;
    if (!slice_to_u64(value, WORKERS_MAX, &number) || number == 0)
        return err_set(e, 0, 0, "\"workers\" is a number from 1 to %d, not \"%.*s\"", WORKERS_MAX,
                       SHORT(value));
    config->workers = (uint32_t)number;
    return 0;
}

static int seed_set(struct proxy_config *config, slice value, struct err *e)
{
    if (slice_to_u64(value, INT64_MAX, &config->seed))
        return 0;
    return err_set(e, 0, 0, "\"seed\" is a whole number, not \"%.*s\"", SHORT(value));
}

static int fault_header_set(struct proxy_config *config, slice value, struct err *e)
{
    return switch_read("fault-header", value, &config->fault_header, e);
}

/* NAME=VALUE; false when there is no `=`. */
static bool pair_cut(slice text, slice *name, slice *value)
{
    size_t equals = slice_find(text, '=');
    *name = slice_trim((slice){text.p, equals});
    *value = equals < text.n ? slice_trim(slice_from(text, equals + 1)) : SLICE("");
    return equals < text.n;
}

static int identify_set(struct proxy_config *config, slice text, struct err *e)
{
    slice name, value;
    if (!pair_cut(text, &name, &value))
        value = SLICE("on");
    if (!slice_is(name, "payload"))
        return err_set(e, 0, 0, "a call can be identified by its \"payload\", not by \"%.*s\"",
                       SHORT(name));
    return switch_read("payload", value, &config->identify_payload, e);
}

static int limits_key_set(struct proxy_config *config, slice text, struct err *e)
{
    slice name, value;
    if (!pair_cut(text, &name, &value))
        return err_set(e, 0, 0, "a limit is set by NAME=VALUE, such as idle=30s, not \"%.*s\"",
                       SHORT(text));
    return limits_set(&config->limits, name, value, e);
}

static int normalise_set(struct proxy_config *config, slice value, struct err *e)
{
    if (config->n_normalise == NORMALISE_MAX)
        return err_set(e, 0, 0, "\"normalise\" has more than %d rules", NORMALISE_MAX);
    config->n_normalise++;
    return rewrite_add(config->normalise, value, e);
}

const struct config_key config_keys[CONFIG_KEYS] = {
    {"log", SHAPE_ONE, log_set},
    {"workers", SHAPE_ONE, workers_set},
    {"seed", SHAPE_ONE, seed_set},
    {"identify", SHAPE_MAP, identify_set},
    {"normalise", SHAPE_LIST, normalise_set},
    {"fault-header", SHAPE_ONE, fault_header_set},
    {"limits", SHAPE_MAP, limits_key_set},
};

bool config_is_key(slice key)
{
    for (size_t i = 0; i < CONFIG_KEYS; i++)
        if (slice_is(key, config_keys[i].name))
            return true;
    return false;
}

int config_set(struct proxy_config *config, slice key, slice value, struct err *e)
{
    const char *names[CONFIG_KEYS];
    for (size_t i = 0; i < CONFIG_KEYS; i++) {
        if (slice_is(key, config_keys[i].name))
            return config_keys[i].set(config, value, e);
        names[i] = config_keys[i].name;
    }
    return key_unknown(key, "the configuration", names, CONFIG_KEYS, e);
}

/* ---- keys of a proxy ---- */

enum proxy_key_type { KEY_SERVICE, KEY_LISTEN, KEY_TO, KEY_TEXT, KEY_SWITCH };
enum side { SIDE_ANY, SIDE_LISTEN, SIDE_TO }; /* which side must be https */

#define PROXY_KEY_LIST(KEY)                                                                        \
    KEY("service", KEY_SERVICE, SIDE_ANY, service)                                                 \
    KEY("listen", KEY_LISTEN, SIDE_ANY, listen)                                                    \
    KEY("to", KEY_TO, SIDE_ANY, to)                                                                \
    KEY("cert", KEY_TEXT, SIDE_LISTEN, cert)                                                       \
    KEY("key", KEY_TEXT, SIDE_LISTEN, key)                                                         \
    KEY("test-cert", KEY_TEXT, SIDE_LISTEN, test_cert)                                             \
    KEY("client-ca", KEY_TEXT, SIDE_LISTEN, client_ca)                                             \
    KEY("http1", KEY_SWITCH, SIDE_LISTEN, http1)                                                   \
    KEY("to-ca", KEY_TEXT, SIDE_TO, to_ca)                                                         \
    KEY("to-cert", KEY_TEXT, SIDE_TO, to_cert)                                                     \
    KEY("to-key", KEY_TEXT, SIDE_TO, to_key)                                                       \
    KEY("to-name", KEY_TEXT, SIDE_TO, to_name)                                                     \
    KEY("insecure", KEY_SWITCH, SIDE_TO, insecure)

static const struct proxy_key {
    enum proxy_key_type type;
    enum side side;
    size_t field;
} proxy_keys[PROXY_KEYS] = {
#define KEY(name, type, side, field) {type, side, offsetof(struct proxy_spec, field)},
    PROXY_KEY_LIST(KEY)
#undef KEY
};

const char *const proxy_key_names[PROXY_KEYS] = {
#define KEY(name, type, side, field) name,
    PROXY_KEY_LIST(KEY)
#undef KEY
};

static void *key_field(struct proxy_spec *spec, const struct proxy_key *key)
{
    return (char *)spec + key->field;
}

int config_add_proxy(struct proxy_config *config, struct err *e)
{
    if (config->proxies.n == PROXIES_MAX)
        return err_set(e, 0, 0, "more than %d proxies", PROXIES_MAX);
    vec_push(&config->proxies, (struct proxy_spec){.service = SLICE("service")});
    return (int)config->proxies.n - 1;
}

static int service_set(struct proxy_config *config, slice value, slice *out, struct err *e)
{
    if (!service_name_valid(value))
        return err_set(
            e, 0, 0,
            "the name of a service has 1 to 100 letters, digits, \"_\", \".\" and \"-\"; "
            "\"%.*s\" has not",
            SHORT(value));
    *out = slice_copy(&config->arena, value);
    return 0;
}

static bool has_blank(slice s)
{
    slice word;
    slice_word(&s, &word);
    return slice_trim(s).n > 0;
}

/* Takes the scheme off; the rest is for io/addr.h to read, when the proxy starts. */
static int address_set(struct proxy_config *config, const char *key, slice value, slice *out,
                       bool *tls, struct err *e)
{
    static const struct {
        slice text;
        bool tls;
    } schemes[] = {{{"http://", 7}, false}, {{"https://", 8}, true}};
    slice rest = slice_trim(value);
    *tls = false;
    for (size_t i = 0; i < 2; i++)
        if (slice_starts(rest, schemes[i].text)) {
            rest = slice_from(rest, schemes[i].text.n);
            *tls = schemes[i].tls;
            break;
        }
    bool is_unix = slice_starts(rest, SLICE("unix:"));
    size_t colon = slice_find(rest, ':');
    if (slice_starts(slice_from(rest, colon), SLICE("://")))
        return err_set(e, 0, 0, "\"%s\": \"%.*s\" starts with http://, https:// or the address",
                       key, SHORT(value));
    if (!is_unix && rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    if (rest.n == 0 || has_blank(rest))
        return err_set(e, 0, 0,
                       "\"%s\" is an address such as 127.0.0.1:8001 or https://127.0.0.1:8001, not "
                       "\"%.*s\"",
                       key, SHORT(value));
    if (!is_unix && slice_find(rest, '/') < rest.n)
        return err_set(e, 0, 0, "\"%s\": calls keep their own path; leave that of \"%.*s\" out",
                       key, SHORT(value));
    *out = slice_copy(&config->arena, rest);
    return 0;
}

int proxy_set(struct proxy_config *config, uint32_t proxy, slice key, slice value, struct err *e)
{
    struct proxy_spec *spec = &config->proxies.at[proxy];
    size_t i = 0;
    while (i < PROXY_KEYS && !slice_is(key, proxy_key_names[i]))
        i++;
    if (i == PROXY_KEYS)
        return key_unknown(key, "a proxy", proxy_key_names, PROXY_KEYS, e);
    void *field = key_field(spec, &proxy_keys[i]);
    switch (proxy_keys[i].type) {
    case KEY_SERVICE: return service_set(config, value, field, e);
    case KEY_LISTEN: return address_set(config, "listen", value, field, &spec->listen_tls, e);
    case KEY_TO: return address_set(config, "to", value, field, &spec->to_tls, e);
    case KEY_SWITCH: return switch_read(proxy_key_names[i], value, field, e);
    case KEY_TEXT: break;
    }
    if (value.n == 0)
        return err_set(e, 0, 0, "\"%s\" is empty", proxy_key_names[i]);
    *(const char **)field = arena_copy(&config->arena, value.p, value.n);
    return 0;
}

static bool key_given(struct proxy_spec *spec, const struct proxy_key *key)
{
    const void *field = key_field(spec, key);
    return key->type == KEY_SWITCH ? *(const bool *)field : *(const char *const *)field != NULL;
}

static int pair_check(const char *key, const char *cert, const char *key_name,
                      const char *cert_name, struct err *e)
{
    if (!key || cert)
        return 0;
    return err_set(e, 0, 0, "\"%s\" without \"%s\": give the certificate too", key_name, cert_name);
}

int proxy_tls_check(const struct proxy_spec *spec, struct err *e)
{
    struct proxy_spec copy = *spec;
    const struct {
        const char *key;
        slice address;
        bool tls;
    } sides[] = {[SIDE_LISTEN] = {"listen", spec->listen, spec->listen_tls},
                 [SIDE_TO] = {"to", spec->to, spec->to_tls}};
    for (size_t i = 0; i < PROXY_KEYS; i++) {
        enum side side = proxy_keys[i].side;
        if (side != SIDE_ANY && !sides[side].tls && key_given(&copy, &proxy_keys[i]))
            return err_set(e, 0, 0, "\"%s\" is for TLS: write \"%s\" as https://%.*s",
                           proxy_key_names[i], sides[side].key, SHORT(sides[side].address));
    }
    if (spec->test_cert && spec->cert)
        return err_set(e, 0, 0,
                       "\"test-cert\" is where a generated certificate is written to; with "
                       "\"cert\" none is generated: leave one of them out");
    if (pair_check(spec->key, spec->cert, "key", "cert", e) ||
        pair_check(spec->to_key, spec->to_cert, "to-key", "to-cert", e))
        return -1;
    if (spec->listen_tls && !spec->test_cert && !spec->cert)
        return err_set(e, 0, 0,
                       "https://%.*s needs a certificate: \"cert\" names one, \"test-cert\" a file "
                       "to which a generated one is written",
                       SHORT(spec->listen));
    return 0;
}

void config_add_fault(struct proxy_config *config, slice text)
{
    struct fault_source fault = {.text = slice_copy(&config->arena, text), .proxy = UINT32_MAX};
    vec_push(&config->faults, fault);
}
