/* SPDX-License-Identifier: Apache-2.0
 *
 * outfox plan init, outfox plan convert: plans that are written for people, from a list of processes,
 * an outfox.yaml, a compose file or a fault model of YAFI. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/printable.h"
#include "cmd/plan.h"
#include "config/config.h"
#include "data/yaml.h"
#include "plan/starter.h"
#include "plan/yafi.h"

/* ---- from outfox.yaml ---- */

enum { PORT_FIRST = 7601 }; /* of services that have none: a plan chooses nothing by itself */

static uint32_t port_of(const struct campaign_config *c, uint32_t service)
{
    const struct service_spec *s = &c->services.at[service];
    return s->port ? s->port : PORT_FIRST + service;
}

static void add_place(const struct campaign_config *c, uint32_t service, struct buf *out)
{
    const struct service_spec *s = &c->services.at[service];
    if (s->address.n)
        buf_add(out, s->address);
    else
        buf_addf(out, "%.*s:%u", SLICE_ARG(s->host), port_of(c, service));
}

/* {port}, {address}, {url:NAME}; anything else stays as it is, for people to see. */
static bool add_placeholder(const struct campaign_config *c, uint32_t service, slice word,
                            struct buf *out)
{
    bool url = slice_starts(word, SLICE("url:"));
    if (slice_is(word, "port")) {
        buf_addf(out, "%u", port_of(c, service));
        return true;
    }
    if (slice_is(word, "address")) {
        add_place(c, service, out);
        return true;
    }
    for (uint32_t i = 0; i < c->services.n && url; i++)
        if (slice_eq(slice_from(word, 4), c->services.at[i].name)) {
            buf_adds(out, c->services.at[i].tls ? "https://" : "http://");
            add_place(c, i, out);
            return true;
        }
    return false;
}

static void add_expanded(const struct campaign_config *c, uint32_t service, slice text,
                         struct buf *out)
{
    while (text.n) {
        size_t open = slice_find(text, '{'), n = slice_find(slice_from(text, open), '}');
        buf_add(out, (slice){text.p, open});
        text = slice_from(text, open);
        if (n == text.n || !n || !add_placeholder(c, service, (slice){text.p + 1, n - 1}, out)) {
            buf_add(out, (slice){text.p, text.n ? 1 : 0});
            n = 0;
        }
        text = slice_from(text, text.n ? n + 1 : 0);
    }
}

static void add_env(const struct campaign_config *c, uint32_t service, const struct text_pairs *env,
                    struct buf *out)
{
    for (uint32_t i = 0; i < env->n; i++) {
        struct buf value = BUF_INIT(1 << 16);
        add_expanded(c, service, env->at[i].value, &value);
        buf_addf(out, "%.*s=", SLICE_ARG(env->at[i].name));
        buf_add_shell(out, buf_slice(&value));
        buf_addc(out, ' ');
        buf_deinit(&value);
    }
}

static void add_dir(slice dir, struct buf *out)
{
    if (!dir.n || slice_is(dir, "."))
        return;
    buf_adds(out, "cd ");
    buf_add_shell(out, dir);
    buf_adds(out, " && ");
}

static void take_service(struct plan_starter *s, const struct campaign_config *c, uint32_t i)
{
    const struct service_spec *service = &c->services.at[i];
    struct buf start = BUF_INIT(1 << 16), ready = BUF_INIT(1 << 12);
    if (!service->run.n)
        return; /* it runs already: a plan has no hold of it */
    add_dir(service->dir, &start);
    add_env(c, i, &service->env, &start);
    add_expanded(c, i, service->run, &start);
    if (service->ready == READY_HTTP) {
        buf_addf(&ready, "curl -fsS -m 2 -o /dev/null -X %.*s http%s://",
                 SLICE_ARG(service->ready_method), service->tls ? "s" : "");
        add_place(c, i, &ready);
        buf_add(&ready, service->ready_target);
    } else if (service->ready == READY_TCP) {
        buf_adds(&ready, "curl -sS -m 2 -o /dev/null telnet://");
        add_place(c, i, &ready);
        buf_adds(&ready, " </dev/null");
    }
    vec_push(&s->nodes, (struct plan_starter_node){service->name, buf_keep(&start, &s->arena),
                                                   buf_keep(&ready, &s->arena)});
}

static void take_scenario(struct plan_starter *s, const struct campaign_config *c,
                          const struct scenario_spec *scenario)
{
    struct buf command = BUF_INIT(1 << 16);
    if (scenario->is_command) {
        add_dir(scenario->dir, &command);
        add_env(c, 0, &scenario->env, &command);
        add_expanded(c, 0, scenario->command, &command);
    } else if (scenario->method.n) {
        buf_addf(&command, "curl -fsS -m 5 -o /dev/null -X %.*s", SLICE_ARG(scenario->method));
        for (uint32_t i = 0; i < scenario->headers.n; i++) {
            struct buf header = BUF_INIT(1 << 14);
            buf_addf(&header, "%.*s: %.*s", SLICE_ARG(scenario->headers.at[i].name),
                     SLICE_ARG(scenario->headers.at[i].value));
            buf_adds(&command, " -H ");
            buf_add_shell(&command, buf_slice(&header));
            buf_deinit(&header);
        }
        if (scenario->body.n) {
            buf_adds(&command, " --data-binary ");
            buf_add_shell(&command, scenario->body);
        }
        struct buf url = BUF_INIT(1 << 14);
        buf_adds(&url, c->services.at[scenario->service].tls ? "https://" : "http://");
        add_place(c, scenario->service, &url);
        buf_add(&url, scenario->target);
        buf_addc(&command, ' ');
        buf_add_shell(&command, buf_slice(&url));
        buf_deinit(&url);
    }
    if (command.n)
        plan_starter_client(s, scenario->name, buf_keep(&command, &s->arena));
}

static void take_config(struct plan_starter *s, const struct campaign_config *c)
{
    s->name = name_valid(c->name, true) ? slice_copy(&s->arena, c->name) : s->name;
    for (uint32_t i = 0; i < c->services.n; i++)
        take_service(s, c, i);
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        take_scenario(s, c, &c->scenarios.at[i]);
}

/* ---- plan init ---- */

struct init {
    struct plan_starter starter;
    struct campaign_config *config; /* what was read of it is in use until the end */
    bool force;
};

static int take_setting(struct init *in, const struct setting *o, struct err *e)
{
    slice value = slice_of(o->value ? o->value : "");
    if (!text_is_utf8(value))
        return err_set(e, 0, 0, "--%s is not UTF-8", o->name);
    if (strcmp(o->name, "node") == 0)
        return plan_starter_node(&in->starter, value, e);
    if (strcmp(o->name, "client") == 0)
        plan_starter_client(&in->starter, SLICE(""), value);
    else if (strcmp(o->name, "compose") == 0)
        return plan_starter_compose(&in->starter, o->value, e);
    else if (strcmp(o->name, "from") == 0 && !in->config) {
        if (campaign_config_load(o->value, &in->config, e))
            return -1;
        take_config(&in->starter, in->config);
    } else
        in->force = true;
    return 0;
}

int cmd_plan_init(const struct args *args)
{
    const char *file = args->n_positional ? args->positional[0] : "plan.yaml";
    bool on_stdout = strcmp(file, "-") == 0;
    struct init in = {.starter = {.name = SLICE("first")}};
    struct buf text = BUF_INIT(1 << 20);
    struct err e = {0};
    int status = 0, code;
    for (uint32_t i = 0; i < args->settings.n && !status; i++)
        status = take_setting(&in, &args->settings.at[i], &e);
    if (!status && !in.starter.nodes.n && !in.starter.containers.n)
        status = err_set(&e, 0, 0,
                         "say what the system is: --node NAME=COMMAND, --from outfox.yaml or "
                         "--compose FILE");
    status = status || plan_starter_text(&in.starter, &text, &e) ? -1 : 0;
    if (!status && !on_stdout && !in.force && access(file, F_OK) == 0)
        status = err_set(&e, 0, 0, "%s already exists; use --force to replace it", file);
    code = status ? cmd_fail(&e) : EXIT_OK;
    if (!status && on_stdout)
        cmd_print(&text, stdout);
    else if (!status)
        code = cmd_write(file, &text, in.force);
    if (!code && !on_stdout)
        printf("wrote %s; read it, then run: outfox plan show %s\n", file, file);
    buf_deinit(&text);
    plan_starter_deinit(&in.starter);
    if (in.config)
        campaign_config_free(in.config);
    return code;
}

/* ---- plan convert ---- */

static int from_model(const char *path, const char *system, struct buf *out, struct err *e)
{
    struct arena a = {0};
    const struct node *model;
    struct plan p;
    int status =
        yaml_load(path, &a, &model, e) || yafi_to_plan(model, "yafi", system, out, e) ? -1 : 0;
    if (!status &&
        !system) { /* with one it cannot be checked before the file is where it will be */
        status = plan_parse(&p, buf_slice(out), e);
        plan_free(&p);
    }
    arena_deinit(&a);
    return status;
}

static int to_model(const char *path, struct buf *out, struct err *e)
{
    struct plan p;
    struct buf lost = BUF_INIT(1 << 16);
    int status = plan_load(&p, path, e);
    if (!status)
        yafi_from_plan(&p, out, &lost);
    plan_free(&p);
    if (lost.n)
        fprintf(stderr, "%s", buf_text(&lost));
    buf_deinit(&lost);
    return status;
}

int cmd_plan_convert(const struct args *args)
{
    struct buf out = BUF_INIT(1 << 24);
    struct err e = {0};
    int status = args->to_yafi ? to_model(args->positional[0], &out, &e)
                               : from_model(args->positional[0], args->system, &out, &e);
    int code = status ? cmd_fail(&e) : EXIT_OK;
    if (!status)
        cmd_print(&out, stdout);
    buf_deinit(&out);
    return code;
}
