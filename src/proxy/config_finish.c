/* SPDX-License-Identifier: Apache-2.0
 *
 * What must hold for a whole configuration, and its rules made from what was given: only now are
 * all proxies and all rules of `normalise` known. */
#include <stdio.h>

#include "proxy/config_int.h"
#include "proxy/rule_int.h"

int config_fail_at(const struct proxy_config *config, uint32_t line, uint32_t col,
                   const struct err *inner, struct err *e)
{
    if (line && config->source && !e->text[0])
        snprintf(e->source, sizeof e->source, "%s", config->source);
    return err_set(e, line, line ? col : inner->col, "%s", inner->text);
}

/* ---- proxies ---- */

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

static int proxy_check(const struct proxy_config *config, uint32_t i, struct err *e)
{
    const struct proxy_spec *spec = &config->proxies.at[i];
    if (!spec->listen.n)
        return err_set(e, 0, 0, "the proxy of \"%.*s\" needs an address to listen at (\"listen\")",
                       SHORT(spec->service));
    if (!spec->to.n)
        return err_set(e, 0, 0, "the proxy of \"%.*s\" needs the address of its service (\"to\")",
                       SHORT(spec->service));
    for (uint32_t k = 0; k < i; k++)
        if (same_address(config->proxies.at[k].listen, spec->listen) && port_of(spec->listen) != 0)
            return err_set(e, 0, 0,
                           "the proxies of \"%.*s\" and \"%.*s\" both listen at %.*s: give one of "
                           "them another port",
                           SHORT(config->proxies.at[k].service), SHORT(spec->service),
                           SHORT(spec->listen));
    return proxy_tls_check(spec, e);
}

/* ---- rules ---- */

/* The rule belongs to the proxy below which it is written. */
static int give_to_one(struct proxy_config *config, uint32_t proxy, struct rule *rule,
                       struct err *e)
{
    struct proxy_spec *spec = &config->proxies.at[proxy];
    if (rule->service.p[0] != '*' && !slice_eq(rule->service, spec->service))
        return err_set(
            e, 0, 0,
            "the rule is for \"%.*s\" but stands with \"%.*s\": leave the service out, or "
            "move the rule",
            SHORT(rule->service), SHORT(spec->service));
    rule->service = spec->service;
    rules_put(&spec->rules, rule);
    return 0;
}

static int service_unknown(const struct proxy_config *config, slice service, struct err *e)
{
    const char **names = mem_alloc((config->proxies.n + 1) * sizeof *names);
    for (uint32_t i = 0; i < config->proxies.n; i++)
        names[i] = config->proxies.at[i].service.p;
    err_set(e, 0, 0, "no proxy is for a service \"%.*s\"%s", SHORT(service),
            err_hint(service, names, config->proxies.n).text);
    mem_free(names);
    return -1;
}

/* The rule says itself where it belongs. */
static int give_by_service(struct proxy_config *config, struct rule *rule, struct err *e)
{
    uint32_t given = 0, n = config->proxies.n;
    if (rule->bare && n == 1)
        rule->service = config->proxies.at[0].service;
    else if (rule->bare)
        return err_set(e, 0, 0,
                       "there are %u proxies: write the service before the interface, or \"*\" for "
                       "all of them",
                       (unsigned)n);
    for (uint32_t i = 0; i < n; i++) {
        struct proxy_spec *spec = &config->proxies.at[i];
        if (rule->service.p[0] != '*' && !slice_eq(rule->service, spec->service))
            continue;
        rules_put(&spec->rules, rule);
        given++;
    }
    return given ? 0 : service_unknown(config, rule->service, e);
}

/* Where a rule was cut off by YAML, its end is missing. */
static const char *yaml_hint(const struct fault_source *fault, const struct err *inner)
{
    bool cut = fault->line && !inner->line && inner->col > slice_trim(fault->text).n;
    return cut ? " (in YAML, \" #\" starts a comment: put the rule in quotes)" : "";
}

static int rule_make(struct proxy_config *config, const struct fault_source *fault, struct err *e)
{
    struct rule *rule;
    struct err inner = {0}, whole = {0};
    int status = rule_add(&config->book, fault->text, &rule, &inner);
    if (status == 0 && fault->with)
        status = fault_with(config, rule, fault->with, &inner);
    if (status == 0)
        status = fault->proxy == UINT32_MAX ? give_by_service(config, rule, &inner)
                                            : give_to_one(config, fault->proxy, rule, &inner);
    if (status == 0)
        return 0;
    slice text = slice_trim(fault->text);
    err_set(&whole, 0, inner.col, "rule \"%.*s\": %s%s", SHORT(text), inner.text,
            yaml_hint(fault, &inner));
    return config_fail_at(config, inner.line ? inner.line : fault->line,
                          inner.line ? inner.col : fault->col, &whole, e);
}

static int rules_make(struct proxy_config *config, struct err *e)
{
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

int config_finish(struct proxy_config *config, struct err *e)
{
    if (config->proxies.n == 0)
        return err_set(e, 0, 0,
                       "there is no proxy: give --listen and --to, or a FILE with \"proxies\"");
    for (uint32_t i = 0; i < config->proxies.n; i++) {
        struct err inner = {0};
        if (proxy_check(config, i, &inner))
            return config_fail_at(config, config->proxies.at[i].line, config->proxies.at[i].col,
                                  &inner, e);
    }
    return rules_make(config, e);
}
