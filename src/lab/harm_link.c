/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults of links and of lookups: rules of the network, which we are ourselves. Nothing is left of them
 * when we end. */
#include "lab/lab_int.h"

static enum cable_deed deed_of(const struct plan_event *e)
{
    return slice_is(e->type, "partition") ? CABLE_DROP
           : slice_is(e->type, "reset")   ? CABLE_RESET
                                          : CABLE_WORSEN;
}

static void link_begin(struct harm *h)
{
    struct lab *lab = h->lab;
    const struct plan_spell *s = harm_spell(h);
    const struct plan_event *e = harm_event(h);
    const struct schedule_nodes aim = {s->nodes.at, s->nodes.n, s->nodes.cap};
    struct schedule_nodes others = {0};
    struct cable_rule rule = {.group = h->spell,
                              .member = (uint32_t)h->node,
                              .out = e->link.direction != LINK_IN,
                              .in = e->link.direction != LINK_OUT,
                              .deed = deed_of(e),
                              .latency_ns = e->link.latency_ns,
                              .jitter_ns = e->link.jitter_ns,
                              .loss = e->link.loss,
                              .bandwidth = e->link.bandwidth};
    schedule_from(lab->schedule, s->event, &aim, rule.member, &others);
    for (uint32_t i = 0; i < others.n; i++)
        cable_set_add(&rule.others, others.at[i]);
    if (!others.n) {
        harm_fail(h, SLICE("there is nobody on the other side"));
        harm_over(h);
    } else {
        h->rule = cable_add(lan_cable(lab->lan), &rule);
        harm_on(h);
    }
    mem_free(others.at);
}

static void link_end(struct harm *h)
{
    struct cable *w = lan_cable(h->lab->lan);
    harm_spell(h)->struck += cable_struck(w, h->rule);
    cable_remove(w, h->rule);
    harm_over(h);
}

const struct harm_kind harm_link = {link_begin, link_end, false};

/* ---- names ---- */

static void names_begin(struct harm *h)
{
    static const enum resolver_answer answers[] = {[LOOKUP_TRUE] = RESOLVER_TRUE,
                                                   [LOOKUP_NONE] = RESOLVER_NONE,
                                                   [LOOKUP_NXDOMAIN] = RESOLVER_NXDOMAIN,
                                                   [LOOKUP_SERVFAIL] = RESOLVER_SERVFAIL,
                                                   [LOOKUP_REFUSED] = RESOLVER_REFUSED};
    const struct plan_event *e = harm_event(h);
    struct resolver_rule rule = {
        .names = e->lookup, .answer = answers[e->answer], .latency_ns = e->link.latency_ns};
    const struct schedule_nodes nobody = {0};
    struct schedule_nodes who = {0};
    if (h->node == PLAN_NONE)
        schedule_from(h->lab->schedule, harm_spell(h)->event, &nobody, UINT32_MAX, &who);
    else
        vec_push(&who, (uint32_t)h->node);
    for (uint32_t i = 0; i < who.n; i++)
        cable_set_add(&rule.members, who.at[i]);
    mem_free(who.at);
    h->rule = resolver_add(lan_resolver(h->lab->lan), &rule);
    harm_on(h);
}

static void names_end(struct harm *h)
{
    struct resolver *r = lan_resolver(h->lab->lan);
    harm_spell(h)->struck += resolver_struck(r, h->rule);
    resolver_remove(r, h->rule);
    harm_over(h);
}

const struct harm_kind harm_names = {names_begin, names_end, false};
