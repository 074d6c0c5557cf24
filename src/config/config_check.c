/* SPDX-License-Identifier: Apache-2.0
 *
 * What can be said only when all of a configuration is read: names of services, in placeholders, in
 * requests and in what is ignored; and what is not wrong, and will hardly work (`outfox validate`). */
#include <sys/stat.h>

#include "config/config_int.h"
#include "config/placeholder.h"
#include "config/reach.h"
#include "judge/judge.h"

static struct conf_reader *reading(const struct keys_reader *r)
{
    return r->ctx;
}

static bool known(const struct keys_reader *r, slice name)
{
    return reading(r)->any_name || config_service(reading(r)->c, name) != UINT32_MAX;
}

/* "there is no service ..." with the nearest name. */
static int service_unknown(struct keys_reader *r, uint32_t line, uint32_t col, slice name)
{
    struct arena arena = {0};
    struct vocabulary v = config_vocabulary(reading(r)->c, NULL, NULL, &arena);
    (void)!vocabulary_check(&v, name, r->e);
    arena_deinit(&arena);
    return err_place(r->e, line, col);
}

/* ---- placeholders ---- */

static int placeholder_check(struct keys_reader *r, const struct conf_text *t,
                             const struct placeholder *p)
{
    switch (p->kind) {
    case PLACEHOLDER_NONE:
    case PLACEHOLDER_TEXT: return 0;
    case PLACEHOLDER_WRONG:
        return err_set(r->e, t->line, t->col,
                       "\"%s\": %.*s is no placeholder; did you mean {%s:%.*s}? ({%.*s} is text)",
                       t->key, SHORT(p->text), p->near, SHORT(p->name), SHORT(p->text));
    case PLACEHOLDER_URL:
    case PLACEHOLDER_PORT:
    case PLACEHOLDER_HOST:
    case PLACEHOLDER_ADDRESS: break;
    }
    if (p->name.n)
        return known(r, p->name) ? 0 : service_unknown(r, t->line, t->col, p->name);
    if (t->own && p->kind != PLACEHOLDER_URL)
        return 0;
    slice word = {p->text.p + 1, p->text.n - 2};
    return err_set(r->e, t->line, t->col,
                   "\"%s\": %.*s of which service? Write {%.*s:NAME} ({%.*s} is text)", t->key,
                   SHORT(p->text), SHORT(word), SHORT(p->text));
}

static int text_check(struct keys_reader *r, const struct conf_text *t)
{
    slice rest = t->text, literal;
    struct placeholder p;
    while (placeholder_next(&rest, &literal, &p))
        if (placeholder_check(r, t, &p))
            return -1;
    return 0;
}

/* ---- requests ---- */

static const char request_forms[] = "METHOD {url:SERVICE}/path, SERVICE METHOD /path, or SERVICE "
                                    "package.Service/Method";

/* An address where a service belongs: a request to it would go past the proxies. */
static int request_elsewhere(struct keys_reader *r, const struct node *at, slice method, slice url)
{
    slice path = slice_from(url, slice_starts(url, SLICE("https://")) ? 8 : 7);
    path = slice_from(path, slice_find(path, '/'));
    return keys_fail(r, at, "\"request\" names a service, not an address: write %.*s {url:%s}%.*s",
                     SHORT(method),
                     reading(r)->c->services.n ? reading(r)->c->services.at[0].name.p : "NAME",
                     SHORT(path));
}

static int request_fail(struct keys_reader *r, const struct node *at)
{
    return keys_fail(r, at, "\"request\" is %s; not \"%.*s\"", request_forms, SHORT(at->text));
}

/* Of a simulated system whose file was not read every name is a service. */
static int request_service(struct keys_reader *r, const struct node *at, slice name,
                           struct scenario_spec *s)
{
    s->service = config_service(reading(r)->c, name);
    if (reading(r)->any_name && s->service == UINT32_MAX)
        s->service = 0;
    return s->service == UINT32_MAX ? service_unknown(r, at->line, at->col, name) : 0;
}

static int request_set(struct keys_reader *r, const struct node *at, slice method, slice target,
                       struct scenario_spec *s)
{
    if (!slice_is_token(method))
        return request_fail(r, at);
    if (conf_method(r, at, method))
        return -1;
    if (!conf_target_ok(target))
        return keys_fail(r, at,
                         "the path of \"request\" starts with / and is ASCII without blanks and #: "
                         "write other letters as %%XX, not \"%.*s\"",
                         SHORT(target));
    s->method = slice_copy(r->arena, method);
    s->target = slice_copy(r->arena, target);
    return 0;
}

/* METHOD {url:SERVICE}/path */
static int request_by_url(struct keys_reader *r, const struct node *at, slice method, slice url,
                          struct scenario_spec *s)
{
    struct placeholder p;
    slice literal, path = url;
    if (!placeholder_next(&path, &literal, &p) || literal.n || p.kind != PLACEHOLDER_URL ||
        !p.name.n)
        return request_fail(r, at);
    if (request_service(r, at, p.name, s))
        return -1;
    if (path.n && path.p[0] == '/')
        return request_set(r, at, method, path, s);
    struct buf target = BUF_INIT(1 << 16);
    buf_addc(&target, '/');
    buf_add(&target, path);
    int status = target.full || (path.n && path.p[0] != '?')
                     ? request_fail(r, at)
                     : request_set(r, at, method, buf_slice(&target), s);
    buf_deinit(&target);
    return status;
}

/* SERVICE package.Service/Method */
static int request_grpc(struct keys_reader *r, const struct node *at, slice service, slice target,
                        struct scenario_spec *s)
{
    size_t slash = slice_find(target, '/');
    bool ok = slash > 0 && slash + 1 < target.n &&
              slice_find(slice_from(target, slash + 1), '/') == target.n - slash - 1;
    for (size_t i = 0; ok && i < target.n; i++)
        ok = target.p[i] > 0x20 && target.p[i] < 0x7f && !strchr("{}:?#", target.p[i]);
    if (!ok)
        return request_fail(r, at);
    s->target = slice_copy(r->arena, target);
    return request_service(r, at, service, s);
}

static int request_read(struct keys_reader *r, const struct node *at, struct scenario_spec *s)
{
    slice rest = at->text, word[4] = {{0}};
    size_t n = 0;
    while (n < 4 && slice_word(&rest, &word[n]))
        n++;
    if (n == 3)
        return request_service(r, at, word[0], s) ? -1 : request_set(r, at, word[1], word[2], s);
    if (n != 2)
        return request_fail(r, at);
    if (slice_starts(word[1], SLICE("http://")) || slice_starts(word[1], SLICE("https://")))
        return request_elsewhere(r, at, word[0], word[1]);
    if (word[1].p[0] == '{')
        return request_by_url(r, at, word[0], word[1], s);
    return request_grpc(r, at, word[0], word[1], s);
}

/* ---- what is ignored ---- */

static int ignore_check(struct keys_reader *r, const struct vocabulary *v, const struct node *at)
{
    struct pattern p = {0};
    struct err inner = {0};
    int status = pattern_parse(&p, v, PATTERN_CALLS, at->text, &inner);
    const struct pattern_step *last = &p.steps.at[p.steps.n - 1];
    bool all = slice_is(slice_trim(at->text), "*");
    bool more = all || p.steps.n != 2 || p.mode != MODE_NONE || last->element.n != N_ANY ||
                last->element.payload || last->element.before;
    pattern_deinit(&p);
    if (status)
        return keys_fail(r, at, "\"ignore\": %s", inner.text);
    return more ? keys_fail(r, at,
                            "\"ignore\" has calls such as SERVICE METHOD /path, SERVICE "
                            "package.Service/Method or SERVICE, with * for any service, method and "
                            "part of a path; not \"%.*s\"",
                            SHORT(at->text))
                : 0;
}

int conf_judge_check(const struct campaign_config *c, const struct node *judge, struct err *e)
{
    struct names names;
    struct arena arena = {0};
    struct judge_settings settings;
    names_init(&names);
    judge_settings_init(&settings);
    struct vocabulary v = config_vocabulary(c, &names, NULL, &arena);
    int status = judge_settings_load(judge, &v, &settings, e);
    judge_settings_deinit(&settings);
    names_deinit(&names);
    arena_deinit(&arena);
    return status;
}

/* Patterns, which may name services: those of `ignore` and of `judge`. */
static int patterns_check(struct keys_reader *r)
{
    struct arena arena = {0};
    struct names names;
    int status = 0;
    names_init(&names);
    struct vocabulary v = config_vocabulary(reading(r)->c, &names, NULL, &arena);
    for (uint32_t i = 0; !status && reading(r)->ignore && i < reading(r)->ignore->n; i++)
        status = ignore_check(r, &v, reading(r)->ignore->list[i]);
    if (!status && reading(r)->c->judge)
        status = conf_judge_check(reading(r)->c, reading(r)->c->judge, r->e);
    names_deinit(&names);
    arena_deinit(&arena);
    return status;
}

/* ---- the whole ---- */

/* HOST:PORT, :PORT or PORT in parts; false: it is none of them, or any port will do. */
static bool listen_parts(slice listen, slice *host, uint64_t *port)
{
    size_t colon = listen.n;
    while (colon > 0 && listen.p[colon - 1] != ':')
        colon--;
    *host = colon == 0   ? SLICE("127.0.0.1")
            : colon == 1 ? SLICE("0.0.0.0")
                         : (slice){listen.p, colon - 1};
    return !slice_starts(listen, SLICE("unix:")) &&
           slice_to_u64(slice_from(listen, colon), 65535, port) && *port > 0;
}

static bool same_place(slice a, slice b)
{
    return slice_eq(a, b) || slice_is(a, "0.0.0.0") || slice_is(b, "0.0.0.0");
}

/* `listen` is the address of a proxy: nobody else can have it. */
static int listens_check(struct keys_reader *r)
{
    for (uint32_t i = 0; i < reading(r)->c->services.n; i++) {
        const struct service_spec *a = &reading(r)->c->services.at[i];
        slice host, other;
        uint64_t port, port_b;
        for (uint32_t k = 0; listen_parts(a->listen, &host, &port) && k < reading(r)->c->services.n;
             k++) {
            const struct service_spec *b = &reading(r)->c->services.at[k];
            if (k < i && listen_parts(b->listen, &other, &port_b) && port == port_b &&
                same_place(host, other))
                return err_set(r->e, a->line, a->col,
                               "the services \"%.*s\" and \"%.*s\" have the same `listen`, port "
                               "%u: each proxy needs an address of its own; change one",
                               SHORT(b->name), SHORT(a->name), (unsigned)port);
            bool itself = b->run.n ? b->port == port && same_place(host, b->host)
                                   : listen_parts(b->address, &other, &port_b) && port == port_b &&
                                         same_place(host, other);
            if (itself)
                return err_set(r->e, a->line, a->col,
                               "`listen` of \"%.*s\" is where \"%.*s\" itself listens, port %u: it "
                               "is the address of the proxy in front of it; give it another port",
                               SHORT(a->name), SHORT(b->name), (unsigned)port);
        }
    }
    return 0;
}

static int ports_check(struct keys_reader *r)
{
    for (uint32_t i = 0; i < reading(r)->c->services.n; i++)
        for (uint32_t k = 0; k < i; k++) {
            const struct service_spec *a = &reading(r)->c->services.at[i],
                                      *b = &reading(r)->c->services.at[k];
            if (a->run.n && b->run.n && a->port && a->port == b->port && slice_eq(a->host, b->host))
                return err_set(r->e, a->line, a->col,
                               "the services \"%.*s\" and \"%.*s\" have the same port %u: change "
                               "one, or leave it out and use {port}",
                               SHORT(b->name), SHORT(a->name), a->port);
        }
    return 0;
}

int conf_finish(struct keys_reader *r)
{
    struct conf_reader *c = r->ctx;
    for (uint32_t i = 0; i < c->texts.n; i++)
        if (text_check(r, &c->texts.at[i]))
            return -1;
    for (uint32_t i = 0; i < c->c->scenarios.n; i++)
        if (c->requests.at[i] && request_read(r, c->requests.at[i], &c->c->scenarios.at[i]))
            return -1;
    return ports_check(r) || listens_check(r) || patterns_check(r) ? -1 : 0;
}

/* ---- what is not wrong, and will hardly work ---- */

struct telling {
    void (*tell)(void *ctx, const char *text);
    void *ctx;
};

static void tell_once(const struct telling *t, struct buf *text)
{
    if (text->n)
        t->tell(t->ctx, buf_text(text));
    buf_deinit(text);
}

bool config_tells_port(const struct service_spec *s)
{
    bool told = !s->run.n || s->port || s->ready == READY_NONE || placeholder_own(s->run);
    for (uint32_t i = 0; i < s->env.n && !told; i++)
        told = placeholder_own(s->env.at[i].value);
    return told;
}

static void warn_port(const struct telling *t, const struct service_spec *s)
{
    struct buf text = BUF_INIT(600);
    if (!config_tells_port(s))
        buf_addf(&text,
                 "%s is not told where to listen: neither `run` nor `env` has {port}. Write it "
                 "where %s takes its port from, for example `env: { PORT: \"{port}\" }`; or add "
                 "`port: N` if it always listens on port N",
                 s->name.p, s->name.p);
    tell_once(t, &text);
}

static void warn_dir(const struct telling *t, const char *what, slice name, slice dir)
{
    struct stat about;
    struct buf text = BUF_INIT(600);
    if (dir.n && (stat(dir.p, &about) || !S_ISDIR(about.st_mode)))
        buf_addf(&text,
                 "`dir` of the %s %.*s: there is no directory %.*s. A path is relative to the "
                 "directory of this file",
                 what, SLICE_ARG(name), SLICE_ARG(dir));
    tell_once(t, &text);
}

void config_warn(const struct campaign_config *c, void (*tell)(void *ctx, const char *text),
                 void *ctx)
{
    struct telling t = {tell, ctx};
    for (uint32_t i = 0; i < c->services.n; i++) {
        warn_port(&t, &c->services.at[i]);
        if (c->services.at[i].run.n)
            warn_dir(&t, "service", c->services.at[i].name, c->services.at[i].dir);
    }
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        warn_dir(&t, "scenario", c->scenarios.at[i].name, c->scenarios.at[i].dir);
    reach_check(c, tell, ctx);
}
