/* SPDX-License-Identifier: Apache-2.0
 *
 * Keys of the configuration and of a proxy, as tables, read from a file or from the command line;
 * what must hold for the whole; and the rules, made at the end, when all proxies and all rules of
 * `normalise` are known. */
#include "proxy/config.h"

#include <stdio.h>

#include "base/clock.h"
#include "data/keys.h"
#include "data/yaml.h"

/* ---- limits ---- */

#define KIB INT64_C(1024)
#define MIB (1024 * KIB)

enum limit_kind { COUNT, BYTES, TIME };

static const enum limit_kind limit_kinds[] = {
#define LIMIT(id, name, kind, standard, least, most, doc) kind,
#include "proxy/limits.list"
#undef LIMIT
};

static key_read read_limit;

static const struct key limit_rows[] = {
#define LIMIT(id, key, kind, standard, from, to, about)                                            \
    {key, KEY_OTHER, offsetof(struct limits, id), (from), (to), .read = read_limit, .doc = (about)},
#include "proxy/limits.list"
#undef LIMIT
};

static const struct keys limit_keys = {"limits", "limits", KEY_ROWS(limit_rows)};

const struct limits limits_default = {
#define LIMIT(id, name, kind, standard, least, most, doc) .id = (standard),
#include "proxy/limits.list"
#undef LIMIT
};

static const char *const examples[] = {"a number", "a size such as 64KiB or 1MiB",
                                       "a time such as 200ms, 30s or 5m"};

/* Largest first; the last one of a kind is written when no other divides the value. */
static const struct unit {
    enum limit_kind kind;
    const char *name;
    int64_t size;
} units[] = {
    {BYTES, "MiB", MIB},     {BYTES, "KiB", KIB},     {BYTES, "", 1},      {TIME, "h", HOURS(1)},
    {TIME, "m", MINUTES(1)}, {TIME, "s", SECONDS(1)}, {TIME, "ms", MS(1)}, {COUNT, "", 1},
};

enum { UNITS = sizeof units / sizeof *units };

/* "64KiB", "30s", "200". */
static bool value_read(enum limit_kind kind, slice text, int64_t *out)
{
    uint64_t number;
    size_t digits = 0;
    if (kind == TIME)
        return slice_to_ns(text, out);
    while (digits < text.n && text.p[digits] >= '0' && text.p[digits] <= '9')
        digits++;
    for (size_t i = 0; i < UNITS; i++)
        if (units[i].kind == kind && slice_is(slice_from(text, digits), units[i].name))
            return slice_to_u64((slice){text.p, digits}, INT64_MAX, &number) &&
                   !__builtin_mul_overflow((int64_t)number, units[i].size, out);
    return false;
}

static void value_print(enum limit_kind kind, int64_t value, struct buf *out)
{
    const struct unit *unit = NULL;
    for (size_t i = 0; i < UNITS && (!unit || value == 0 || value % unit->size); i++)
        if (units[i].kind == kind)
            unit = &units[i];
    if (unit)
        buf_addf(out, "%lld%s", (long long)(value / unit->size), unit->name);
}

static int read_limit(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    enum limit_kind kind = limit_kinds[key - limit_rows];
    int64_t number, least = (int64_t)key->least, most = (int64_t)key->most;
    if (value_read(kind, value->text, &number) && number >= least && number <= most) {
        *(int64_t *)key_field(key, into) = number;
        return 0;
    }
    struct buf range = BUF_INIT(100);
    value_print(kind, least, &range);
    buf_adds(&range, " to ");
    value_print(kind, most, &range);
    keys_fail(r, value, "the limit \"%s\" takes %s, from %s, not \"%.*s\"", key->name,
              examples[kind], buf_text(&range), SHORT(value->text));
    buf_deinit(&range);
    return -1;
}

int limits_set(struct limits *limits, slice name, slice value, struct err *e)
{
    struct arena arena = {0};
    struct keys_reader r = {.e = e, .arena = &arena};
    int status = keys_set(&r, &limit_keys, limits, name, value);
    arena_deinit(&arena);
    return status;
}

void limits_print(const struct limits *limits, struct buf *out)
{
    for (size_t i = 0; i < limit_keys.n; i++) {
        struct buf text = BUF_INIT(40);
        int64_t value;
        memcpy(&value, (const char *)limits + limit_rows[i].field, sizeof value);
        value_print(limit_kinds[i], value, &text);
        buf_addf(out, "  %-22s %-7s %s\n", limit_rows[i].name, buf_text(&text), limit_rows[i].doc);
        buf_deinit(&text);
    }
}

/* ---- the beginning and the end ---- */

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

/* ---- faults ---- */

static int read_fault_text(struct keys_reader *r, const struct key *key, void *into,
                           const struct node *value)
{
    struct fault_source *fault = into;
    fault->text = value->text;
    fault->line = value->line;
    fault->col = value->col;
    return keys_want_scalar(r, key->name, value);
}

static int keep_value(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    *(const struct node **)key_field(key, into) = value;
    return keys_want_scalar(r, key->name, value);
}

static const struct key fault_rows[] = {
    {"fault", KEY_OTHER, .read = read_fault_text, .needed = "fault: RULE", .doc = "the rule"},
    {"id", KEY_OTHER, offsetof(struct fault_source, id), .read = keep_value,
     .fallback = "its number", .doc = "name of the rule, in logs"},
    {"body", KEY_OTHER, offsetof(struct fault_source, body), .read = keep_value,
     .doc = "body of the injected answer"},
    {"message", KEY_OTHER, offsetof(struct fault_source, message), .read = keep_value,
     .doc = "grpc-message of the injected answer"},
    {"headers", KEY_NODE, offsetof(struct fault_source, headers),
     .doc = "headers of the injected answer"},
};
static const struct keys fault_keys = {"a fault", "fault", KEY_ROWS(fault_rows)};

static int read_fault(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct proxy_config *config = r->ctx;
    struct fault_source fault = {.text = value->text,
                                 .proxy =
                                     (uint32_t)((struct proxy_spec *)into - config->proxies.at),
                                 .line = value->line,
                                 .col = value->col};
    const struct node_pair *pair = value->type == NODE_MAP && value->n == 1 ? value->map : NULL;
    if (pair && pair->value->type != NODE_NULL && pair->value->type != NODE_LIST &&
        pair->value->type != NODE_MAP && !keys_find(&fault_keys, pair->key)) {
        /* without quotes YAML reads `POST /charge : 503` as a map of one pair */
        struct buf text = BUF_INIT(YAML_BYTES_MAX + 8);
        buf_addf(&text, "%.*s : %.*s", SLICE_ARG(pair->key), SLICE_ARG(pair->value->text));
        fault.text = buf_keep(&text, &config->arena);
    } else if (value->type == NODE_MAP ? keys_read(r, &fault_keys, &fault, value)
                                       : keys_want_scalar(r, key->name, value)) {
        return -1;
    }
    vec_push(&config->faults, fault);
    return 0;
}

void config_add_fault(struct proxy_config *config, slice text)
{
    struct fault_source fault = {.text = slice_copy(&config->arena, text), .proxy = UINT32_MAX};
    vec_push(&config->faults, fault);
}

/* ---- a proxy ---- */

static int read_service(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    struct proxy_spec *spec = into;
    spec->service = value->text;
    return keys_want_scalar(r, key->name, value) ||
                   keys_name(r, value->text, value->line, value->col, "the name of a service", true)
               ? -1
               : 0;
}

/* Takes the scheme off; the rest is for io/addr.h to read, when the proxy starts. */
static int read_address(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    struct proxy_spec *spec = into;
    slice rest = slice_trim(value->text), *out = key_field(key, into);
    if (keys_want_scalar(r, key->name, value))
        return -1;
    bool tls = slice_starts(rest, SLICE("https://")), tcp = slice_starts(rest, SLICE("tcp://"));
    if (tls || tcp || slice_starts(rest, SLICE("http://")))
        rest = slice_from(rest, tls ? 8 : tcp ? 6 : 7);
    *(out == &spec->to ? &spec->to_tls : &spec->listen_tls) = tls;
    *(out == &spec->to ? &spec->to_tcp : &spec->tcp) = tcp;
    if (slice_starts(rest, SLICE("tcp:")))
        return keys_fail(r, value, "\"%s\": write tcp:// with two slashes, not \"%.*s\"", key->name,
                         SHORT(value->text));
    bool is_unix = slice_starts(rest, SLICE("unix:"));
    size_t colon = slice_find(rest, ':');
    if (slice_starts(slice_from(rest, colon), SLICE("://")))
        return keys_fail(
            r, value, "\"%s\": \"%.*s\" must start with http://, https://, tcp:// or the address",
            key->name, SHORT(value->text));
    if (!is_unix && rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    slice behind = rest, word;
    slice_word(&behind, &word);
    if (rest.n == 0 || slice_trim(behind).n > 0) /* empty, or with a blank in it */
        return keys_fail(
            r, value,
            "\"%s\" must be an address such as 127.0.0.1:8001 or https://127.0.0.1:8001, not "
            "\"%.*s\"",
            key->name, SHORT(value->text));
    if (!is_unix && slice_find(rest, '/') < rest.n)
        return keys_fail(r, value,
                         "\"%s\": calls keep their own path; remove the path from \"%.*s\"",
                         key->name, SHORT(value->text));
    *out = slice_copy(r->arena, rest);
    return 0;
}

/* clang-format off */
static const struct key proxy_rows[] = {
    {"service", KEY_OTHER, .read = read_service, .fallback = "service", .doc = "name of the service"},
    {"listen", KEY_OTHER, offsetof(struct proxy_spec, listen), .read = read_address, .doc = "address at which callers reach it"},
    {"to", KEY_OTHER, offsetof(struct proxy_spec, to), .read = read_address, .doc = "address of the service"},
    {"cert", KEY_STRING, offsetof(struct proxy_spec, cert), .doc = "certificate for callers, PEM"},
    {"key", KEY_STRING, offsetof(struct proxy_spec, key), .doc = "its key, unless the certificate's file contains it"},
    {"test-cert", KEY_STRING, offsetof(struct proxy_spec, test_cert), .doc = "file to which a generated certificate is written"},
    {"client-ca", KEY_STRING, offsetof(struct proxy_spec, client_ca), .doc = "authority that the certificates of callers must come from"},
    {"http1", KEY_SWITCH, offsetof(struct proxy_spec, http1), .doc = "offer TLS clients only HTTP/1.1"},
    {"to-ca", KEY_STRING, offsetof(struct proxy_spec, to_ca), .fallback = "the system's", .doc = "authority of the service's certificate"},
    {"to-cert", KEY_STRING, offsetof(struct proxy_spec, to_cert), .doc = "certificate for the service"},
    {"to-key", KEY_STRING, offsetof(struct proxy_spec, to_key), .doc = "its key"},
    {"to-name", KEY_STRING, offsetof(struct proxy_spec, to_name), .fallback = "the host of the address", .doc = "name in the service's certificate"},
    {"insecure", KEY_SWITCH, offsetof(struct proxy_spec, insecure), .doc = "do not verify the service's certificate"},
    {"faults", KEY_LIST, .most = UINT32_MAX, .read = read_fault, .doc = "rules for calls to this service"},
};
/* clang-format on */
static const struct keys proxy_keys = {"a proxy", "proxy", KEY_ROWS(proxy_rows)};

int config_add_proxy(struct proxy_config *config, struct err *e)
{
    if (config->proxies.n == PROXIES_MAX)
        return err_set(e, 0, 0, "more than %d proxies", PROXIES_MAX);
    vec_push(&config->proxies, (struct proxy_spec){.service = SLICE("service")});
    return (int)config->proxies.n - 1;
}

static int read_proxy(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct proxy_config *config = into;
    (void)key;
    if (config_add_proxy(config, r->e) < 0)
        return err_place(r->e, value->line, value->col);
    struct proxy_spec *spec = &vec_last(&config->proxies);
    spec->line = value->line;
    spec->col = value->col;
    return keys_read(r, &proxy_keys, spec, value);
}

/* ---- the whole ---- */

static int add_normalise(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct proxy_config *config = into;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    if (config->n_normalise++ == NORMALISE_MAX)
        return keys_fail(r, value, "\"%s\" has more than %d rules", key->name, NORMALISE_MAX);
    return rewrite_add(config->normalise, value->text, r->e)
               ? err_place(r->e, value->line, value->col)
               : 0;
}

static const struct key identify_rows[] = {
    {"payload", KEY_SWITCH, offsetof(struct proxy_config, identify_payload), .fallback = "off",
     .doc = "make the body part of a call's name"},
};
static const struct keys identify_keys = {"identify", "identify", KEY_ROWS(identify_rows)};

/* clang-format off */
static const struct key config_rows[] = {
    {"proxies", KEY_LIST, .most = PROXIES_MAX, .read = read_proxy, .inner = &proxy_keys, .doc = "the proxies"},
    {"log", KEY_STRING, offsetof(struct proxy_config, log), .doc = "file to which calls are written; -: standard output"},
    {"workers", KEY_U32, offsetof(struct proxy_config, workers), .least = 1, .most = WORKERS_MAX, .fallback = "1", .doc = "threads"},
    {"seed", KEY_U64, offsetof(struct proxy_config, seed), .most = INT64_MAX, .fallback = "0", .doc = "seed for random choices"},
    {"identify", KEY_MAP, .inner = &identify_keys, .doc = "how calls are named"},
    {"normalise", KEY_LIST, .most = NORMALISE_MAX, .read = add_normalise, .doc = "rules REGEX -> TEXT for paths"},
    {"fault-header", KEY_SWITCH, offsetof(struct proxy_config, fault_header), .fallback = "on", .doc = "injected answers carry the header x-outfox-fault"},
    {"limits", KEY_MAP, offsetof(struct proxy_config, limits), .inner = &limit_keys, .doc = "limits of the proxy"},
};
/* clang-format on */
static const struct keys config_keys = {"a configuration", "proxy-file", KEY_ROWS(config_rows)};

bool config_is_key(slice key)
{
    return keys_find(&config_keys, key) != NULL;
}

int config_set(struct proxy_config *config, slice key, slice value, struct err *e)
{
    struct keys_reader r = {e, &config->arena, config};
    return keys_set(&r, &config_keys, config, key, value);
}

int proxy_set(struct proxy_config *config, uint32_t proxy, slice key, slice value, struct err *e)
{
    struct keys_reader r = {e, &config->arena, config};
    return keys_set(&r, &proxy_keys, &config->proxies.at[proxy], key, value);
}

int config_read(struct proxy_config *config, const struct node *root, struct err *e)
{
    struct keys_reader r = {e, &config->arena, config};
    return keys_read(&r, &config_keys, config, root);
}

int config_load(struct proxy_config *config, const char *path, struct err *e)
{
    const struct node *root;
    if (yaml_load(path, &config->arena, &root, e)) {
        size_t n = strlen(e->text); /* rules have in them what YAML takes for its own */
        if (strstr(e->text, "mapping values are not allowed") ||
            strstr(e->text, "scanning an alias"))
            snprintf(e->text + n, sizeof e->text - n, ": put rules in quotes");
        return -1;
    }
    config->source = arena_copy(&config->arena, e->source, strlen(e->source));
    if (config_read(config, root, e))
        return -1;
    e->source[0] = 0; /* what comes next is not of the file */
    return 0;
}

/* ---- what must hold for the whole ---- */

int config_fail_at(const struct proxy_config *config, uint32_t line, uint32_t col,
                   const struct err *inner, struct err *e)
{
    if (line && config->source && !e->text[0])
        snprintf(e->source, sizeof e->source, "%s", config->source);
    return err_set(e, line, line ? col : inner->col, "%s", inner->text);
}

/* The port of an address, or -1 where there is none to be seen. */
static int64_t port_of(slice address)
{
    uint64_t port;
    size_t from = address.n;
    while (from > 0 && address.p[from - 1] != ':')
        from--;
    if (slice_starts(address, SLICE("unix:")) ||
        !slice_to_u64(slice_from(address, from), 65535, &port))
        return -1;
    return (int64_t)port;
}

/* As text only: what names resolve to is seen when the proxy starts. */
static bool same_address(slice a, slice b)
{
    uint64_t port;
    bool a_short = slice_to_u64(a, 65535, &port), b_short = slice_to_u64(b, 65535, &port);
    if (a_short != b_short) { /* 8001 is 127.0.0.1:8001 */
        slice local = SLICE("127.0.0.1:"), full = a_short ? b : a;
        return slice_starts(full, local) && port_of(a) == port_of(b);
    }
    return slice_eq(a, b);
}

/* Keys that need https:// on their side. */
static const struct {
    const char *name;
    bool to; /* towards the service, else towards callers */
} tls_keys[] = {
    {"cert", false},   {"key", false},     {"test-cert", false}, {"client-ca", false},
    {"http1", false},  {"to-ca", true},    {"to-cert", true},    {"to-key", true},
    {"to-name", true}, {"insecure", true},
};

/* Bytes are passed on as they come, those of TLS too. */
static int tcp_check(const struct proxy_spec *spec, struct err *e)
{
    if (spec->to_tcp && !spec->tcp)
        return err_set(e, 0, 0, "\"to\" is tcp://, and \"listen\" is not: write tcp://%.*s there",
                       SHORT(spec->listen));
    if (spec->tcp && spec->to_tls)
        return err_set(e, 0, 0,
                       "\"listen\" is tcp://, which passes TLS on as it is: write \"to\" without "
                       "https://, as %.*s",
                       SHORT(spec->to));
    return 0;
}

static int tls_check(const struct proxy_spec *spec, struct err *e)
{
    for (size_t i = 0; i < sizeof tls_keys / sizeof *tls_keys; i++) {
        const struct key *key = keys_find(&proxy_keys, slice_of(tls_keys[i].name));
        const char *field = (const char *)spec + key->field;
        static const void *const none;
        bool given =
            memcmp(field, &none, key->type == KEY_SWITCH ? sizeof(bool) : sizeof none) != 0;
        if (given && spec->tcp)
            return err_set(
                e, 0, 0, "\"%s\" is for TLS, which a proxy of tcp:// passes on as it is: remove it",
                key->name);
        if (given && !(tls_keys[i].to ? spec->to_tls : spec->listen_tls))
            return err_set(e, 0, 0, "\"%s\" is for TLS: write \"%s\" as https://%.*s", key->name,
                           tls_keys[i].to ? "to" : "listen",
                           SHORT(tls_keys[i].to ? spec->to : spec->listen));
    }
    if (spec->test_cert && spec->cert)
        return err_set(
            e, 0, 0,
            "\"test-cert\" is the file for a generated certificate, but \"cert\" is set and none "
            "is generated: remove one of them");
    bool own = spec->key && !spec->cert;
    if (own || (spec->to_key && !spec->to_cert))
        return err_set(e, 0, 0, "\"%s\" without \"%s\": give the certificate too",
                       own ? "key" : "to-key", own ? "cert" : "to-cert");
    if (spec->listen_tls && !spec->test_cert && !spec->cert)
        return err_set(
            e, 0, 0,
            "https://%.*s needs a certificate: set \"cert\" to one, or \"test-cert\" to a file "
            "for a generated one",
            SHORT(spec->listen));
    return 0;
}

static int proxy_check(const struct proxy_config *config, uint32_t i, struct err *e)
{
    const struct proxy_spec *spec = &config->proxies.at[i];
    if (!spec->listen.n)
        return err_set(e, 0, 0, "the proxy of \"%.*s\" needs an address to listen on (\"listen\")",
                       SHORT(spec->service));
    if (!spec->to.n && !spec->at)
        return err_set(e, 0, 0, "the proxy of \"%.*s\" needs the address of its service (\"to\")",
                       SHORT(spec->service));
    for (uint32_t k = 0; k < i; k++)
        if (same_address(config->proxies.at[k].listen, spec->listen) && port_of(spec->listen) != 0)
            return err_set(
                e, 0, 0,
                "the proxies of \"%.*s\" and \"%.*s\" both listen on %.*s: change the port of one "
                "of them",
                SHORT(config->proxies.at[k].service), SHORT(spec->service), SHORT(spec->listen));
    return tcp_check(spec, e) || tls_check(spec, e) ? -1 : 0;
}

/* ---- rules ---- */

/* What can happen to a connection, whatever is said on it. */
static bool fits_connection(mode m)
{
    enum mode_act act = mode_act(m);
    if (mode_rows[mode_kind(m)].at != AT_ANY || act == ACT_CORRUPT || act == ACT_TWICE)
        return false;
    return !mode_lost(m) || act == ACT_BREAK || act == ACT_HOLD;
}

/* Does it make sense at this proxy? */
static int rule_check(const struct rule *rule, const struct proxy_spec *spec, struct err *e)
{
    bool named = slice_is(rule->interface, RULE_TCP) && !rule->open;
    bool any = rule->open && !rule->interface.n && !rule->any_method;
    if (mode_act(rule->mode) == ACT_EVENT)
        return err_set(e, 0, 0,
                       "\"event\" is a mode of outfox run: a proxy alone knows no events of plans");
    if (!spec->tcp)
        return named
                   ? err_set(e, 0, 0,
                             "\"" RULE_TCP "\" is a connection, and this proxy knows calls: let it "
                             "listen on tcp://%.*s, or name a call",
                             SHORT(spec->listen))
                   : 0;
    if ((!any && !named) || rule->n_headers || rule->payload)
        return err_set(
            e, 0, 0,
            "a connection (tcp://) has no interface, headers or payload: write \"" RULE_TCP
            "\" in place of all that, and a count if not every one is meant");
    if (fits_connection(rule->mode))
        return 0;
    struct buf text = BUF_INIT(MODE_TEXT_MAX);
    mode_print(rule->mode, &text);
    err_set(e, 0, 0,
            "%s cannot happen to a connection (tcp://); what can: refuse, reset, close, truncate, "
            "hold, delay, delay-reply, slow, and lost-reply with refuse, reset, close or hold",
            buf_text(&text));
    buf_deinit(&text);
    return -1;
}

/* To the proxy below which it is written, or to those that its SERVICE says. */
static int give_rule(struct proxy_config *config, struct rule *rule, uint32_t proxy, struct err *e)
{
    uint32_t n = config->proxies.n, given = 0;
    struct proxy_spec *spec = config->proxies.at, *one = proxy < n ? &spec[proxy] : NULL;
    bool any = rule->service.p[0] == '*', failed = false;
    struct err unfit = {0};
    if (one && !any && !slice_eq(rule->service, one->service))
        return err_set(
            e, 0, 0,
            "the rule is for \"%.*s\" but is listed under \"%.*s\": remove the service from it, "
            "or move the rule",
            SHORT(rule->service), SHORT(one->service));
    if (!one && rule->bare && n > 1)
        return err_set(
            e, 0, 0,
            "there are %u proxies: put the service in front of the interface, or \"*\" for all of "
            "them",
            (unsigned)n);
    if (one || rule->bare) {
        one = one ? one : spec;
        rule->service = one->service;
        rules_put(&one->rules, rule);
        return rule_check(rule, one, e);
    }
    const char **names = mem_alloc((n + 1) * sizeof *names);
    for (uint32_t i = 0; i < n; i++) {
        names[i] = spec[i].service.p;
        if (!any && !slice_eq(rule->service, spec[i].service))
            continue;
        if (rule_check(rule, &spec[i], &unfit)) { /* "*" means those that it fits */
            failed = failed || !any;
            continue;
        }
        rules_put(&spec[i].rules, rule);
        given++;
    }
    if (unfit.text[0] && (failed || !given))
        err_set(e, 0, 0, "%s", unfit.text);
    else if (!given)
        err_set(e, 0, 0, "there is no proxy for service \"%.*s\"%s", SHORT(rule->service),
                err_hint(rule->service, names, n).text);
    mem_free(names);
    return given && !failed ? 0 : -1;
}

/* What stands beside the text of the rule. */
static int dress_rule(struct proxy_config *config, struct rule *rule,
                      const struct fault_source *fault, struct err *e)
{
    const struct {
        const struct node *value;
        int (*set)(struct rulebook *book, struct rule *rule, slice value, struct err *e);
    } parts[] = {
        {fault->id, rule_set_id}, {fault->body, rule_set_body}, {fault->message, rule_set_message}};
    struct keys_reader r = {.e = e};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].value && parts[i].set(&config->book, rule, parts[i].value->text, e))
            return err_place(e, parts[i].value->line, parts[i].value->col);
    for (uint32_t i = 0; fault->headers && i < fault->headers->n; i++) {
        const struct node_pair *pair = &fault->headers->map[i];
        if (keys_want_scalar(&r, pair->key.p, pair->value))
            return -1;
        if (rule_add_field(&config->book, rule, pair->key, pair->value->text, e))
            return err_place(e, pair->line, pair->col);
    }
    return 0;
}

static int rule_make(struct proxy_config *config, const struct fault_source *fault, struct err *e)
{
    struct rule *rule;
    struct err inner = {0}, whole = {0};
    int status = rule_add(&config->book, fault->text, &rule, &inner);
    if (status == 0)
        status = dress_rule(config, rule, fault, &inner);
    if (status == 0)
        status = give_rule(config, rule, fault->proxy, &inner);
    if (status == 0)
        return 0;
    slice text = slice_trim(fault->text);
    bool cut = fault->line && !inner.line && inner.col > text.n; /* by YAML: its end is missing */
    err_set(&whole, 0, inner.col, "rule \"%.*s\": %s%s", SHORT(text), inner.text,
            cut ? " (in YAML, \" #\" starts a comment: put the rule in quotes)" : "");
    return config_fail_at(config, inner.line ? inner.line : fault->line,
                          inner.line ? inner.col : fault->col, &whole, e);
}

int config_finish(struct proxy_config *config, struct err *e)
{
    if (config->proxies.n == 0)
        return err_set(
            e, 0, 0,
            "no proxy is configured: set --listen and --to, or give a FILE with \"proxies\"");
    for (uint32_t i = 0; i < config->proxies.n; i++) {
        struct err inner = {0};
        if (proxy_check(config, i, &inner))
            return config_fail_at(config, config->proxies.at[i].line, config->proxies.at[i].col,
                                  &inner, e);
    }
    const struct rule *wrong = NULL;
    struct err inner = {0};
    config->book.normalise = config->normalise;
    for (uint32_t i = 0; i < config->faults.n; i++)
        if (rule_make(config, &config->faults.at[i], e))
            return -1;
    if (rulebook_seal(&config->book, config->seed, &wrong, &inner) == 0)
        return 0;
    const struct fault_source *fault = &config->faults.at[wrong ? wrong->number - 1 : 0];
    return config_fail_at(config, fault->line, fault->col, &inner, e);
}
