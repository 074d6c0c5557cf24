// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a file of trials.
//
// 1. What is refused is refused with a sentence.
// 2. What is accepted can be shown; all its variables have values, all operations a text; and all its
//    trials can be carried out, whatever comes of them: each order is one that programs understand,
//    and the agenda comes to its end.

#include <stdint.h>

#include "base/hash.h"
#include "fuzz/must.h"
#include "trial/agenda.h"

enum { BYTES_MAX = 64 << 10, TRIALS_MOST = 60 };

static void expand_all(const struct trials *t)
{
    uint16_t ports[TRIALS_PORTS_MAX];
    slice dirs[TRIALS_NODES_MAX];
    struct buf out = BUF_INIT(1 << 20);
    for (uint32_t i = 0; i < TRIALS_PORTS_MAX; i++)
        ports[i] = (uint16_t)(10000 + i);
    for (uint32_t i = 0; i < TRIALS_NODES_MAX; i++)
        dirs[i] = SLICE("/d");
    const struct trials_seats seats = {ports, dirs};
    trials_print(t, &out);
    for (uint32_t i = 0; i < t->nodes.n; i++)
        trials_expand(t, &seats, i, t->nodes.at[i].start, &out);
    for (uint32_t i = 0; i < t->phases.n; i++)
        for (uint32_t k = 0; k < t->phases.at[i].clients.n; k++) {
            const struct trials_client *c = &t->phases.at[i].clients.at[k];
            MUST(c->node < t->nodes.n);
            MUST(c->talk == TALKS_COMMAND || (uint32_t)c->at_port < t->ports.n);
            if (c->talk != TALKS_COMMAND && c->value_bytes < 1000)
                trials_operation(c, 3, &out);
        }
    buf_deinit(&out);
}

/* A result like any, out of dice: nodes end, clients fail or hang, faults are made or not. */
static struct trial_result *dream(const struct trials *t, const struct trial_order *o,
                                  struct rng *dice)
{
    struct trial_result *r = trial_result_new(t, o);
    bool harmed = o->rule != OUTFOX_RULE_NONE;
    for (uint32_t i = 0; i < 4; i++) {
        struct outfox_point p = {.state = rng_below(dice, 3), .site = rng_below(dice, 3)};
        p.key = outfox_point_key(&p);
        p.requests = rng_below(dice, 4);
        vec_push(&r->points, p);
        r->requests += p.requests;
    }
    r->injection.done = harmed && rng_below(dice, 4);
    r->injection.raw = (struct outfox_injection){.done = 1, .point = r->points.at[0]};
    r->injection.at_ns = 5;
    for (uint32_t i = 0; harmed && i < r->nodes.n; i++) {
        r->nodes.at[i].ended = !rng_below(dice, 3);
        r->nodes.at[i].status = (int)rng_below(dice, 1 << 16);
        r->nodes.at[i].alive = (enum trial_alive)rng_below(dice, 3);
        vec_push(&r->nodes.at[i].lines, (struct trial_log_line){1, SLICE("error 1")});
    }
    for (uint32_t i = 0; i < r->clients.n; i++) {
        struct trial_client *c = &r->clients.at[i];
        c->started = true;
        c->finished = !harmed || rng_below(dice, 2);
        c->late = !c->finished && rng_below(dice, 2);
        for (uint32_t k = 0; k < 6; k++)
            vec_push(&c->ops, (struct trial_op){k * 1000000, 1000, SLICE("SET"),
                                                !harmed || rng_below(dice, 2)});
    }
    return r;
}

static void carry_out(const struct trials *t, uint64_t seed)
{
    struct agenda *a = agenda_new(t, NULL, NULL);
    struct rng dice = {seed};
    struct trial_order o;
    uint32_t n = 0;
    while (agenda_next(a, 0, &o) == AGENDA_ORDER) {
        struct trial_order again;
        struct buf text = BUF_INIT(200);
        struct err e = {0};
        MUST(o.number == ++n && o.act && o.rule <= OUTFOX_RULE_REQUEST);
        if (o.rule == OUTFOX_RULE_POINT) {
            trial_order_print(&o, &text);
            MUST(trial_order_read(buf_slice(&text), &again, &e) == 0);
            MUST(again.key == o.key && again.nth == o.nth && again.act == o.act);
        }
        buf_deinit(&text);
        agenda_took(a, dream(t, &o, &dice));
        if (n == TRIALS_MOST)
            agenda_stop(a, "enough");
    }
    MUST(agenda_view(a).n_results == n);
    agenda_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trials t;
    struct err e = {0};
    slice text = {(const char *)data, size};
    if (size > BYTES_MAX)
        return 0;
    int status = trials_parse(&t, text, &e);
    MUST((status == 0) == !e.text[0]);
    if (!status) {
        expand_all(&t);
        carry_out(&t, hash_slice(text));
    }
    trials_free(&t);
    return 0;
}
