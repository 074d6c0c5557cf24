/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of the file and of its services, with all that is known about them: the reader, the JSON
 * Schema and the checks of docs/config.md go by these rows. Scenarios are config_scenario.c, `suite`
 * is config_suite.c, `judge` judge/settings.c. Addresses are checked by their form alone: names are resolved when a campaign
 * begins. */
#include <stdlib.h>

#include "base/clock.h"
#include "config/config_int.h"
#include "core/interface.h"
#include "judge/judge.h"

const char *const identify_level_names[5] = {"auto", "state", "trace", "none"};
const char *const identify_payload_names[4] = {"auto", "on", "off"};
const char *const connections_names[3] = {"fresh", "reuse"};
static const char *const restart_names[3] = {"when-dead", "each-run"};

static const char *order_word(size_t i)
{
    return i < order_count ? order_rows[i].name : NULL;
}

static enum reduction reduction_of(size_t i)
{
    for (enum reduction k = 0; k < REDUCTIONS; k++)
        if (reduction_rows[k].flag && i-- == 0)
            return k;
    return REDUCTIONS;
}

static const char *reduction_word(size_t i)
{
    enum reduction k = reduction_of(i);
    return k < REDUCTIONS ? reduction_rows[k].name : NULL;
}

/* ---- texts ---- */

bool conf_target_ok(slice target)
{
    bool ok = target.n > 0 && target.p[0] == '/';
    for (size_t i = 0; ok && i < target.n; i++)
        ok = target.p[i] > 0x20 && target.p[i] < 0x7f && target.p[i] != '#';
    return ok;
}

slice conf_path(struct campaign_config *c, slice path)
{
    if (path.p[0] == '/' || slice_is(c->dir, "."))
        return slice_copy(&c->arena, path);
    struct buf joined = BUF_INIT(1 << 24);
    buf_add(&joined, c->dir);
    if (c->dir.p[c->dir.n - 1] != '/')
        buf_addc(&joined, '/');
    buf_add(&joined, path);
    return buf_keep(&joined, &c->arena);
}

int conf_method(struct keys_reader *r, const struct node *at, slice method)
{
    static const char *const known[] = {
        "GET",     "HEAD",  "POST",     "PUT",       "DELETE", "PATCH", "OPTIONS",
        "TRACE",   "QUERY", "PROPFIND", "PROPPATCH", "MKCOL",  "COPY",  "MOVE",
        "LOCK",    "LINK",  "UNLOCK",   "UNLINK",    "REPORT", "PURGE", "SEARCH",
        "CONNECT", "BIND",  "UNBIND",   "REBIND",    "ACL",    "MERGE", "CHECKOUT"};
    char upper[16] = "";
    for (size_t i = 0; i < method.n && i + 1 < sizeof upper; i++)
        upper[i] = (char)(is_lower(method.p[i]) ? method.p[i] - 32 : method.p[i]);
    const char *near = err_nearest(slice_of(upper), known, sizeof known / sizeof *known);
    if (!near || slice_is(method, near))
        return 0;
    return keys_fail(r, at, "unknown method \"%.*s\"; did you mean \"%s\"?", SHORT(method), near);
}

int as_path(struct keys_reader *r, const struct key *key, void *into, const struct node *value)
{
    struct conf_reader *c = r->ctx;
    *(slice *)key_field(key, into) = conf_path(c->c, value->text);
    return 0;
}

/* Its placeholders are checked when all services are known. */
int as_command(struct keys_reader *r, const struct key *key, void *into, const struct node *value)
{
    struct conf_reader *c = r->ctx;
    (void)into;
    vec_push(&c->texts,
             (struct conf_text){value->text, key->name, c->own, value->line, value->col});
    return 0;
}

int as_variable(struct keys_reader *r, const struct key *key, void *into,
                const struct node_pair *pair)
{
    if (!pair->key.n || slice_find(pair->key, '=') < pair->key.n)
        return err_set(r->e, pair->line, pair->col,
                       "\"%.*s\" is not a valid name of an environment variable", SHORT(pair->key));
    return as_command(r, key, into, pair->value);
}

/* ---- a service ---- */

static bool is_host(slice host)
{
    bool ok = host.n > 0 && host.n <= 253;
    for (size_t i = 0; ok && i < host.n; i++) {
        char c = host.p[i];
        ok = is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
    }
    return ok;
}

static bool is_ipv6(slice host)
{
    size_t colons = 0;
    bool ok = true;
    for (size_t i = 0; ok && i < host.n; i++) {
        ok = host.p[i] && strchr("0123456789abcdefABCDEF:.%", host.p[i]);
        colons += host.p[i] == ':';
    }
    return ok && colons >= 2;
}

/* HOST:PORT, [IPV6]:PORT, :PORT, PORT. */
static bool is_address(slice text, uint64_t least_port)
{
    uint64_t port;
    size_t colon = text.n;
    while (colon > 0 && text.p[colon - 1] != ':')
        colon--;
    if (!slice_to_u64(slice_from(text, colon), 65535, &port) || port < least_port)
        return false;
    if (colon < 2)
        return true;
    slice host = {text.p, colon - 1};
    if (host.p[0] == '[' && host.p[host.n - 1] == ']')
        return is_ipv6((slice){host.p + 1, host.n - 2});
    return is_host(host);
}

/* https://HOST and http://HOST, with or without a port: the rest follows from the scheme. */
static int read_url(struct keys_reader *r, const struct key *key, struct service_spec *s,
                    const struct node *value)
{
    bool tls = slice_starts(value->text, SLICE("https://"));
    slice rest = slice_from(value->text, tls ? 8 : 7);
    if (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    size_t bracket = slice_find(rest, ']');
    slice behind = slice_from(rest, bracket < rest.n ? bracket : 0);
    struct buf text = BUF_INIT(400);
    buf_add(&text, rest);
    if (slice_find(behind, ':') == behind.n)
        buf_adds(&text, tls ? ":443" : ":80");
    bool ok = rest.n && rest.p[0] != ':' && slice_find(rest, '/') == rest.n &&
              is_address(buf_slice(&text), true);
    s->address = slice_copy(r->arena, buf_slice(&text));
    s->tls |= tls;
    buf_deinit(&text);
    return ok ? 0
              : keys_fail(r, value,
                          "\"%s\" must be HOST:PORT or https://HOST without a path, not \"%.*s\"",
                          key->name, SHORT(value->text));
}

static int read_address(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    bool listens = strcmp(key->name, "listen") == 0; /* port 0: any */
    slice text = value->text;
    if (slice_starts(text, SLICE("http://")) || slice_starts(text, SLICE("https://"))) {
        if (!listens)
            return read_url(r, key, into, value);
        return keys_fail(r, value, "\"%s\" must be HOST:PORT without http://, not \"%.*s\"",
                         key->name, SHORT(text));
    }
    if (slice_starts(text, SLICE("unix:")) ? text.n > 5 : is_address(text, !listens))
        return 0;
    return keys_fail(r, value,
                     "\"%s\" must be HOST:PORT, [IPV6]:PORT, PORT or unix:PATH, not \"%.*s\"",
                     key->name, SHORT(text));
}

static int check_host(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    (void)into;
    if (is_host(value->text) || is_ipv6(value->text))
        return 0;
    return keys_fail(r, value, "\"%s\" must be a host name or an IP address, not \"%.*s\"",
                     key->name, SHORT(value->text));
}

static int check_host_header(struct keys_reader *r, const struct key *key, void *into,
                             const struct node *value)
{
    (void)into;
    slice text = value->text;
    if (is_host(text) || is_address(text, true))
        return 0;
    return keys_fail(r, value, "\"%s\" must be keep, NAME or NAME:PORT, not \"%.*s\"", key->name,
                     SHORT(text));
}

static int read_ready(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct service_spec *s = into;
    slice rest = value->text, method, target, more;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    if (slice_is(rest, "tcp") || slice_is(rest, "none")) {
        s->ready = slice_is(rest, "tcp") ? READY_TCP : READY_NONE;
        return 0;
    }
    if (!slice_word(&rest, &method) || !slice_word(&rest, &target) || slice_word(&rest, &more) ||
        !slice_is_token(method) || !conf_target_ok(target))
        return keys_fail(r, value, "\"%s\" must be tcp, none or METHOD /path, not \"%.*s\"",
                         key->name, SHORT(value->text));
    if (conf_method(r, value, method))
        return -1;
    s->ready = READY_HTTP;
    s->ready_method = slice_copy(r->arena, method);
    s->ready_target = slice_copy(r->arena, target);
    return 0;
}

/* One line, to be printed and kept. */
static int check_line(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    (void)into;
    bool ok = value->text.n <= 100;
    for (size_t i = 0; i < value->text.n; i++)
        ok &= (unsigned char)value->text.p[i] >= 0x20 && value->text.p[i] != 0x7f;
    return ok ? 0 : keys_fail(r, value, "\"%s\" must be one line of at most 100 bytes", key->name);
}

static int read_files(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct texts *files = key_field(key, into);
    for (uint32_t i = 0; i < files->n; i++) {
        if (!files->at[i].n)
            return keys_fail(r, value->list[i], "\"%s\": a path is empty", key->name);
        files->at[i] = conf_path(((struct conf_reader *)r->ctx)->c, files->at[i]);
    }
    return 0;
}

/* clang-format off */
static const struct key service_rows[] = {
    {"port", KEY_U16, offsetof(struct service_spec, port), .least = 0, .most = 65535,
     .fallback = "0", .doc = "port that it listens on; 0: a free one, passed as {port}"},
    {"host", KEY_TEXT, offsetof(struct service_spec, host), .read = check_host,
     .fallback = "127.0.0.1", .doc = "address that it listens on"},
    {"address", KEY_TEXT, offsetof(struct service_spec, address), .read = read_address,
     .doc = "for a service that is already running: HOST:PORT or unix:PATH"},
    {"tls", KEY_SWITCH, offsetof(struct service_spec, tls),
     .fallback = "false", .doc = "the service uses TLS"},
    {"host-header", KEY_TEXT, offsetof(struct service_spec, host_header), .read = check_host_header,
     .fallback = "the address's", .doc = "Host header that it receives: NAME, or keep for the one the caller sent"},
    {"insecure", KEY_SWITCH, offsetof(struct service_spec, insecure),
     .fallback = "false", .doc = "do not verify its certificate"},
    {"ca", KEY_TEXT, offsetof(struct service_spec, ca), .read = as_path,
     .fallback = "the system's", .doc = "CA of its certificate, a PEM file"},
    {"listen", KEY_TEXT, offsetof(struct service_spec, listen), .read = read_address,
     .fallback = "any port", .doc = "address of its proxy, for callers that Outfox does not start"},
    {"run", KEY_TEXT, offsetof(struct service_spec, run), .read = as_command,
     .doc = "command that starts it, run by /bin/sh"},
    {"dir", KEY_TEXT, offsetof(struct service_spec, dir), .read = as_path,
     .fallback = "the file's directory", .doc = "working directory of the command"},
    {"env", KEY_PAIRS, offsetof(struct service_spec, env), .pair = as_variable,
     .doc = "environment variables of the command"},
    {"ready", KEY_OTHER, .read = read_ready, .schema = "\"type\": \"string\"",
     .fallback = "tcp", .doc = "when it is ready: tcp (it accepts connections), none (immediately), or a request such as GET /health that must return 2xx or 3xx"},
    {"ready-within", KEY_DURATION, offsetof(struct service_spec, ready_ns), .least = 1,
     .fallback = "30s", .doc = "time to become ready"},
    {"stop-within", KEY_DURATION, offsetof(struct service_spec, stop_ns), .least = 0,
     .fallback = "3s", .doc = "time to exit after SIGTERM"},
    {"restart", KEY_WORD, offsetof(struct service_spec, restart), .words = restart_names,
     .fallback = "when-dead", .doc = "each-run: restart it before every run, so that caches and circuit breakers in it forget earlier runs; when-dead: only when it has died"},
    {"version", KEY_TEXT, offsetof(struct service_spec, version), .read = check_line,
     .fallback = "by its files", .doc = "what tells this version of it from others, for --since: a number, a tag, a commit"},
    {"files", KEY_TEXTS, offsetof(struct service_spec, files), .most = 100, .read = read_files,
     .fallback = "those that run names", .doc = "what it is made of, for --since: files, directories and patterns such as src/*.py"},
};
static const struct keys service_keys = {"a service", "service", KEY_ROWS(service_rows),
    .schema = "\"oneOf\": [{\"required\": [\"run\"]}, {\"required\": [\"address\"]}]"};
/* clang-format on */

/* Keys that mean nothing without another, or beside it. */
static const struct pairing {
    const char *key, *other;
    bool together; /* only together; else never */
    const char *why;
} pairings[] = {
    {"address", "run", false, "a service that Outfox starts has \"port\" and \"host\""},
    {"address", "port", false, "the address already has a port"},
    {"address", "host", false, "the address already has a host"},
    {"port", "run", true, "for a service that is already running, set \"address: 127.0.0.1:PORT\""},
    {"host", "run", true, "for a service that is already running, set \"address: HOST:PORT\""},
    {"dir", "run", true, "it applies to the command"},
    {"files", "version", false, "a version already says which one it is"},
    {"env", "run", true, "it applies to the command"},
    {"stop-within", "run", true, "Outfox stops only what it starts"},
    {"restart", "run", true,
     "Outfox restarts only what it starts; reset its state with `before` of the scenario"},
};

static const struct node_pair *pair_of(const struct node *map, const char *key)
{
    for (uint32_t i = 0; i < map->n; i++)
        if (slice_is(map->map[i].key, key))
            return &map->map[i];
    return NULL;
}

static int service_check(struct keys_reader *r, const struct service_spec *s,
                         const struct node *map)
{
    for (size_t i = 0; i < sizeof pairings / sizeof *pairings; i++) {
        const struct pairing *p = &pairings[i];
        const struct node_pair *key = pair_of(map, p->key);
        if (key && !pair_of(map, p->other) == p->together)
            return err_set(r->e, key->line, key->col, "\"%s\" cannot be used %s \"%s\": %s", p->key,
                           p->together ? "without" : "with", p->other, p->why);
    }
    for (int i = 0; i < 2 && !s->tls; i++) {
        const char *name = i ? "ca" : "insecure";
        const struct node_pair *key = pair_of(map, name);
        if (key)
            return err_set(r->e, key->line, key->col,
                           "\"%s\" cannot be used without \"tls\": it applies to certificates",
                           name);
    }
    if (s->run.n || s->address.n)
        return 0;
    return err_set(r->e, s->line, s->col,
                   "service \"%.*s\" needs \"run\", the command that starts it, or "
                   "\"address\", where it is already running",
                   SHORT(s->name));
}

struct service_spec conf_service(const struct campaign_config *c, const struct node_pair *pair)
{
    slice none = SLICE("");
    return (struct service_spec){.name = pair->key,
                                 .host = SLICE("127.0.0.1"),
                                 .address = none,
                                 .ca = none,
                                 .host_header = none,
                                 .listen = none,
                                 .run = none,
                                 .dir = c->dir,
                                 .ready_method = none,
                                 .ready_target = none,
                                 .ready_ns = SECONDS(30),
                                 .stop_ns = SECONDS(3),
                                 .line = pair->line,
                                 .col = pair->col};
}

static int add_service(struct keys_reader *r, const struct key *key, void *into,
                       const struct node_pair *pair)
{
    struct campaign_config *c = into;
    struct service_spec s = conf_service(c, pair);
    (void)key;
    int status = keys_name(r, pair->key, pair->line, pair->col, "the name of a service", false) ||
                         keys_read(r, &service_keys, &s, pair->value)
                     ? -1
                     : service_check(r, &s, pair->value);
    vec_push(&c->services, s); /* also a wrong one: its vectors are freed with the whole */
    return status;
}

/* ---- the file ---- */

static int read_version(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    (void)into;
    if (slice_is(value->text, "1"))
        return 0;
    return keys_fail(r, value, "\"%s\" must be 1, the only version of this format", key->name);
}

static int add_mode(struct keys_reader *r, const struct key *key, void *into,
                    const struct node *value)
{
    struct campaign_config *c = into;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    return mode_list_add(&c->modes, value->text, r->e) ? err_place(r->e, value->line, value->col)
                                                       : 0;
}

static int keep_ignore(struct keys_reader *r, const struct key *key, void *into,
                       const struct node *value)
{
    (void)key;
    (void)into;
    ((struct conf_reader *)r->ctx)->ignore = value; /* checked when all services are known */
    return 0;
}

static int add_assume(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct campaign_config *c = into;
    uint32_t word;
    if (keys_word(r, key, value, &word))
        return -1;
    c->search.options.assume |= 1u << reduction_of(word);
    return 0;
}

static int read_audit(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct campaign_config *c = into;
    char *end;
    if (keys_want_scalar(r, key->name, value))
        return -1;
    double number = strtod(value->text.p, &end);
    if (!value->text.n || *end || !(number >= 0 && number <= 100))
        return keys_fail(r, value, "\"%s\" must be a percentage from 0 to 100, not \"%.*s\"",
                         key->name, SHORT(value->text));
    c->search.options.audit = number;
    return 0;
}

static int read_quiet(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct campaign_config *c = into;
    c->quiet_ns = -1;
    return slice_is(value->text, "auto") ? 0 : keys_duration(r, key, value, &c->quiet_ns);
}

static int check_normalise(struct keys_reader *r, const struct key *key, void *into,
                           const struct node *value)
{
    struct rewrite *rules = rewrite_new();
    int status = 0;
    (void)key;
    (void)into;
    for (uint32_t i = 0; status == 0 && i < value->n; i++) {
        if (rewrite_add(rules, value->list[i]->text, r->e))
            status = err_place(r->e, value->list[i]->line, value->list[i]->col);
    }
    rewrite_free(rules);
    return status;
}

static int check_fields(struct keys_reader *r, const struct key *key, void *into,
                        const struct node *value)
{
    (void)into;
    for (uint32_t i = 0; i < value->n; i++)
        if (!slice_is_token(value->list[i]->text))
            return keys_fail(r, value->list[i], "\"%s\": \"%.*s\" is not a valid header name",
                             key->name, SHORT(value->list[i]->text));
    return 0;
}

/* clang-format off */
static const struct key simulate_rows[] = {
    {"file", KEY_TEXT, offsetof(struct campaign_config, simulate), .read = as_path, .needed = "file",
     .doc = "the file; required"},
    {"propagate", KEY_TEXTS, offsetof(struct campaign_config, propagate), .read = check_fields,
     .fallback = "traceparent, tracestate, baggage", .doc = "headers that its services propagate"},
};
static const struct keys simulate_keys = {"simulate", "simulate", KEY_ROWS(simulate_rows)};
/* clang-format on */

static int read_simulate(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct campaign_config *c = into;
    if (value->type == NODE_MAP)
        return keys_read(r, &simulate_keys, c, value);
    if (keys_want_scalar(r, key->name, value))
        return -1;
    if (!value->text.n)
        return keys_fail(r, value, "\"%s\" is empty: name the file of a simulated system",
                         key->name);
    c->simulate = conf_path(c, value->text);
    return 0;
}

/* clang-format off */
#define SCALAR "\"type\": [\"string\", \"integer\"]"

static const struct key search_rows[] = {
    {"assume", KEY_LIST, .read = add_assume, .word = reduction_word,
     .fallback = "none", .doc = "reductions: less work, each under an assumption"},
    {"max-faults", KEY_U32, offsetof(struct campaign_config, search.options.max_faults), .least = 1, .most = UINT32_MAX,
     .fallback = "no bound", .doc = "at most this many faults at a time"},
    {"t-way", KEY_U32, offsetof(struct campaign_config, search.options.t_way), .least = 2, .most = 4,
     .fallback = "off", .doc = "combine faults that are absorbed on their own: every 2, 3 or 4 of them"},
    {"audit", KEY_OTHER, .read = read_audit,
     .schema = "\"type\": \"number\", \"minimum\": 0, \"maximum\": 100",
     .fallback = "0", .doc = "percentage of what the reductions skip that is run anyway, and compared"},
    {"order", KEY_WORD, offsetof(struct campaign_config, search.options.order), .word = order_word,
     .given = offsetof(struct campaign_config, search.order_given),
     .fallback = "soon; auto of several scenarios", .doc = "which faultload is tried next"},
    {"seed", KEY_U64, offsetof(struct campaign_config, search.options.seed), .least = 0, .most = INT64_MAX,
     .fallback = "0", .doc = "seed for everything random"},
    {"max-runs", KEY_U64, offsetof(struct campaign_config, search.max_runs), .least = 1, .most = INT64_MAX,
     .fallback = "no bound", .doc = "stop after this many runs, of all scenarios together"},
    {"budget", KEY_DURATION, offsetof(struct campaign_config, search.budget_ns), .least = 1,
     .fallback = "no bound", .doc = "stop after this time"},
    {"jobs", KEY_U32, offsetof(struct campaign_config, search.jobs), .least = 1, .most = 64,
     .fallback = "1", .doc = "runs at a time, if the services propagate a trace context"},
    {"baselines", KEY_U32, offsetof(struct campaign_config, search.options.baselines), .least = 1, .most = 16,
     .fallback = "3", .doc = "fault-free runs at the start, to learn what is stable"},
    {"check-every", KEY_U32, offsetof(struct campaign_config, search.check_every), .least = 0, .most = UINT32_MAX,
     .fallback = "100", .doc = "runs between fault-free checks that the system still works; 0: never"},
};
static const struct keys search_keys = {"search", "search", KEY_ROWS(search_rows)};

static const struct key identify_rows[] = {
    {"level", KEY_WORD, offsetof(struct campaign_config, identify.level), .words = identify_level_names,
     .fallback = "auto", .doc = "how the caller of a call is identified; auto detects it"},
    {"payload", KEY_WORD, offsetof(struct campaign_config, identify.payload), .words = identify_payload_names,
     .fallback = "auto", .doc = "is the body part of a call's name? auto: where it is stable and tells calls apart"},
    {"predecessors", KEY_SWITCH, offsetof(struct campaign_config, identify.predecessors),
     .fallback = "false", .doc = "are earlier calls part of a call's name?"},
    {"normalise", KEY_TEXTS, offsetof(struct campaign_config, identify.normalise), .most = 100, .read = check_normalise,
     .fallback = "none", .doc = "rules REGEX -> TEXT for paths"},
    {"headers", KEY_TEXTS, offsetof(struct campaign_config, identify.headers), .read = check_fields,
     .fallback = "none", .doc = "additional headers that carry a trace id"},
};
static const struct keys identify_keys = {"identify", "identify", KEY_ROWS(identify_rows)};

static const struct key secrets_rows[] = {
    {"hide", KEY_TEXTS, offsetof(struct campaign_config, secrets.hide), .read = check_fields,
     .fallback = "none", .doc = "additional names whose values are stored and printed as [secret]"},
    {"show", KEY_TEXTS, offsetof(struct campaign_config, secrets.show), .read = check_fields,
     .fallback = "none", .doc = "names that are not secret"},
};
static const struct keys secrets_keys = {"secrets", "secrets", KEY_ROWS(secrets_rows)};

static const struct key config_rows[] = {
    {"version", KEY_OTHER, .read = read_version, .needed = "version: 1", .schema = "\"const\": 1",
     .doc = "version of the file format: 1; required"},
    {"name", KEY_TEXT, offsetof(struct campaign_config, name), .read = check_line,
     .fallback = "the directory's name", .doc = "name of the system, in reports"},
    {"env", KEY_PAIRS, offsetof(struct campaign_config, env), .pair = as_variable,
     .doc = "environment variables of all commands and all services with run; their own env takes precedence"},
    {"services", KEY_EACH, .least = 1, .most = SERVICES_MAX, .pair = add_service, .inner = &service_keys,
     .doc = "the services, by name"},
    {"simulate", KEY_OTHER, .read = read_simulate, .inner = &simulate_keys,
     .schema = "\"anyOf\": [{\"type\": \"string\"}, {\"$ref\": \"#/$defs/simulate\"}]",
     .doc = "instead of services: the file of a simulated system, run as real servers"},
    {"scenarios", KEY_EACH, .least = 1, .most = SCENARIOS_MAX, .pair = conf_scenario, .inner = &scenario_keys,
     .fallback = "for a simulated system: those in its file", .doc = "what to exercise, by name"},
    {"suite", KEY_OTHER, .read = conf_suite, .inner = &suite_keys, .schema = "\"$ref\": \"#/$defs/suite\"",
     .fallback = "none", .doc = "tests of a runner, each of which is a scenario"},
    {"modes", KEY_LIST, .least = 1, .most = MODE_LIST_MAX, .alone = true, .read = add_mode, .schema = SCALAR,
     .given = offsetof(struct campaign_config, modes_given),
     .fallback = "errors", .doc = "ways to fail, or sets of them: errors, standard, thorough, intellift"},
    {"plan", KEY_TEXT, offsetof(struct campaign_config, plan_file), .read = as_path,
     .fallback = "none", .doc = "a failure plan whose events are modes, event:NAME: its nodes are services of the same name"},
    {"ignore", KEY_TEXTS, offsetof(struct campaign_config, ignore), .read = keep_ignore,
     .fallback = "none", .doc = "calls that are passed through and never faulted: SERVICE INTERFACE, with *"},
    {"search", KEY_MAP, .inner = &search_keys,
     .fallback = "exact", .doc = "how combinations are searched"},
    {"identify", KEY_MAP, .inner = &identify_keys,
     .fallback = "detected", .doc = "how calls are named"},
    {"judge", KEY_NODE, offsetof(struct campaign_config, judge), .inner = &judge_keys,
     .fallback = "for a simulated system: as in its file", .doc = "what the oracles need to know, and how severe their remarks are"},
    {"secrets", KEY_MAP, .inner = &secrets_keys,
     .fallback = "password, token, cookie ...", .doc = "names of headers, fields and variables whose values are not stored"},
    {"quiet", KEY_OTHER, .read = read_quiet,
     .schema = "\"anyOf\": [{\"const\": \"auto\"}, {\"$ref\": \"#/$defs/duration\"}]",
     .fallback = "auto", .doc = "how long to wait after the answer for calls that begin later; auto learns it"},
    {"settle", KEY_DURATION, offsetof(struct campaign_config, settle_ns), .least = 1,
     .fallback = "5s", .doc = "how long to wait at the end of a run for open calls"},
    {"store", KEY_TEXT, offsetof(struct campaign_config, store), .read = as_path,
     .fallback = ".outfox/campaign.db", .doc = "file that stores runs and findings"},
    {"logs", KEY_TEXT, offsetof(struct campaign_config, logs), .read = as_path,
     .fallback = ".outfox/logs", .doc = "directory for the output of services"},
    {"connections", KEY_WORD, offsetof(struct campaign_config, connections), .words = connections_names,
     .fallback = "fresh", .doc = "fresh: every call has its own connection; reuse: connections are kept open, as in a pool"},
    {"fault-header", KEY_SWITCH, offsetof(struct campaign_config, fault_header),
     .fallback = "true", .doc = "injected answers carry the header x-outfox-fault"},
};
const struct keys config_keys = {"the configuration", "config", KEY_ROWS(config_rows),
    .schema = "\"oneOf\": [{\"required\": [\"services\"], \"anyOf\": [{\"required\": [\"scenarios\"]}, {\"required\": [\"suite\"]}]}, {\"required\": [\"simulate\"]}]"};
/* clang-format on */

void campaign_config_schema(struct buf *out)
{
    keys_schema(&config_keys, "outfox.yaml", out);
}
