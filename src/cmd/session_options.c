/* SPDX-License-Identifier: Apache-2.0
 *
 * What a campaign was made with, as text, and back. It is kept with the campaign:
 *
 *   options   what determines its runs, by file and command line; equal when it is taken up again
 *   origin    the services, and what the file alone says of the search. Where the command line says
 *             nothing, the options are adopted from the store; a file that was changed since then
 *             is told from one that was not by this */
#include "cmd/session_int.h"

#include "base/hash.h"
#include "data/condition.h"

/* ---- as text ---- */

static void print_expect(const struct expect_spec *x, struct buf *out)
{
    for (uint32_t i = 0; i < x->status.n; i++)
        buf_addf(out, " %s%u-%u", x->status.at[i].grpc ? "grpc:" : "",
                 (unsigned)x->status.at[i].low, (unsigned)x->status.at[i].high);
    for (uint32_t i = 0; i < x->json.n; i++) {
        buf_addf(out, " %s=", x->json.at[i].pointer.p);
        node_print(x->json.at[i].value, out);
    }
    for (uint32_t i = 0; i < x->headers.n; i++)
        buf_addf(out, " %s:%s", x->headers.at[i].name.p, x->headers.at[i].value.p);
    buf_addf(out, " %d%s %s %lld %u", x->has_body, x->has_body ? x->body.p : "",
             x->contains.n ? x->contains.p : "", (long long)x->within_ns, (unsigned)x->exit);
    for (uint32_t i = 0; i < x->where.n; i++) {
        buf_addf(out, " where %d %.*s ", (int)x->where.at[i].about, SLICE_ARG(x->where.at[i].name));
        condition_refusal(&x->where.at[i].condition, out);
    }
    for (uint32_t i = 0; i < x->any_of.n; i++) {
        buf_adds(out, " or");
        print_expect(&x->any_of.at[i], out);
    }
}

static void print_scenario(const struct scenario_spec *spec, struct buf *out)
{
    struct buf text = BUF_INIT(1 << 20);
    buf_addf(&text, "%u %.*s %.*s %.*s %.*s %.*s", (unsigned)spec->service, SLICE_ARG(spec->method),
             SLICE_ARG(spec->target), SLICE_ARG(spec->command), SLICE_ARG(spec->before),
             SLICE_ARG(spec->after));
    for (uint32_t i = 0; i < spec->headers.n; i++)
        buf_addf(&text, " %s:%s", spec->headers.at[i].name.p, spec->headers.at[i].value.p);
    buf_addf(&text, " %.*s %lld ", SLICE_ARG(spec->content_type), (long long)spec->timeout_ns);
    buf_add(&text, spec->body);
    print_expect(&spec->expect, &text);
    if (spec->under_faults.given)
        print_expect(&spec->under_faults, &text);
    buf_addf(out, "scenario: %016llx\n", (unsigned long long)hash_slice(buf_slice(&text)));
    buf_deinit(&text);
}

const char *session_options(struct session *s, uint32_t scenario)
{
    const struct campaign_config *c = s->config;
    struct buf text = BUF_INIT(1 << 20);
    search_options_print(&s->search, &text);
    buf_addf(&text, "identify: %s payload=%s predecessors=%d\n",
             identify_level_names[c->identify.level], identify_payload_names[c->identify.payload],
             c->identify.predecessors);
    if (c->connections != CONNECTIONS_FRESH) /* campaigns before there was a choice go on too */
        buf_addf(&text, "connections: %s\n", connections_names[c->connections]);
    for (uint32_t i = 0; i < c->services.n; i++)
        if (c->services.at[i].restart == RESTART_EACH_RUN)
            buf_addf(&text, "restart: %s\n", c->services.at[i].name.p);
    for (uint32_t i = 0; i < c->identify.normalise.n; i++)
        buf_addf(&text, "normalise: %s\n", c->identify.normalise.at[i].p);
    for (uint32_t i = 0; i < c->ignore.n; i++)
        buf_addf(&text, "ignore: %s\n", c->ignore.at[i].p);
    print_scenario(&c->scenarios.at[scenario], &text);
    return buf_keep(&text, &s->arena).p;
}

const char *session_origin(struct session *s)
{
    const struct campaign_config *c = s->config;
    struct buf text = BUF_INIT(1 << 20);
    buf_adds(&text, "services:");
    for (uint32_t i = 0; i < c->services.n; i++)
        buf_addf(&text, " %s", c->services.at[i].name.p);
    buf_addc(&text, '\n');
    search_options_print(&s->search, &text);
    return buf_keep(&text, &s->arena).p;
}

/* ---- and back ---- */

bool session_is_told(const struct args *a)
{
    bool told = a->quick;
    for (uint32_t i = 0; i < SEARCH_OPTIONS; i++)
        told |= a->search[i] != NULL;
    return told;
}

int session_adopt(struct session *s, struct err *e)
{
    if (session_is_told(s->args))
        return 0;
    uint64_t campaign = 0;
    slice text = {0}, line, name;
    const char *scenario = "";
    for (uint32_t i = 0; i < s->scenarios.n && !campaign; i++)
        if (store_find(s->store, slice_of(scenario = session_scenario(s, i)), &campaign, e))
            return EXIT_ENVIRONMENT;
    if (campaign && store_get(s->store, campaign, SLICE("options"), &s->arena, &text, e))
        return EXIT_ENVIRONMENT;
    while (slice_cut(&text, '\n', &line)) {
        slice_cut(&line, ':', &name);
        if (line.p && !search_options_restore(name, slice_trim(line), &s->modes, &s->search)) {
            err_set(e, 0, 0,
                    "%s is damaged or was edited (the campaign of \"%s\" has \"%.*s: %.*s\"); "
                    "remove it, or restore a copy",
                    s->config->store.p, scenario, SLICE_ARG(name), SHORT(line));
            return EXIT_ENVIRONMENT;
        }
    }
    return 0;
}
