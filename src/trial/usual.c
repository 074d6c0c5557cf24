/* SPDX-License-Identifier: Apache-2.0 */
#include "trial/usual_int.h"

#include "base/hash.h"
#include "plan/result.h"

bool usual_essential(const struct trials *t, const struct trial_op *op)
{
    for (uint32_t i = 0; i < t->essential.n; i++)
        if (slice_eq_nocase(t->essential.at[i], op->name))
            return true;
    return !t->essential.n;
}

static bool any_found(const struct trials_patterns *list, slice line)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (regex_found(list->at[i].regex, line))
            return true;
    return false;
}

bool usual_counts(const struct trials *t, slice line)
{
    return any_found(&t->checkers.log_patterns, line) && !any_found(&t->checkers.log_ignore, line);
}

uint64_t usual_shape(slice line)
{
    struct arena scratch = {0};
    uint64_t shape = hash_slice(plan_line_shape(&scratch, line));
    arena_deinit(&scratch);
    return shape;
}

struct usual *usual_new(const struct trials *t)
{
    struct usual *u = mem_zero(sizeof *u);
    u->trials = t;
    for (uint32_t i = 0; i < t->nodes.n; i++)
        vec_push(&u->nodes, (struct usual_node){0});
    for (uint32_t i = 0; i < t->phases.n; i++)
        for (uint32_t k = 0; k < t->phases.at[i].clients.n; k++)
            vec_push(&u->clients, (struct usual_client){0});
    return u;
}

void usual_free(struct usual *u)
{
    if (!u)
        return;
    vec_deinit(&u->clients);
    vec_deinit(&u->nodes);
    map_deinit(&u->lines);
    arena_deinit(&u->arena);
    mem_free(u);
}

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void learn_client(struct usual *u, struct usual_client *known, const struct trial_client *c)
{
    uint32_t failures = 0;
    for (uint32_t i = 0; i < c->ops.n; i++) {
        const struct trial_op *op = &c->ops.at[i];
        failures += !op->ok && usual_essential(u->trials, op);
        known->took_ns = op->took_ns > known->took_ns ? op->took_ns : known->took_ns;
    }
    known->failures = most(known->failures, failures);
    known->finished |= c->finished;
}

static void learn_node(struct usual *u, struct usual_node *known, const struct trial_node *n)
{
    known->threads = most(known->threads, n->threads);
    known->descriptors = most(known->descriptors, n->descriptors);
    known->hung |= n->hung;
    for (uint32_t i = 0; i < n->lines.n; i++)
        if (usual_counts(u->trials, n->lines.at[i].text))
            map_set(&u->lines, usual_shape(n->lines.at[i].text), 1);
}

/* The first thing that makes a trial without a fault say nothing. */
static void find_sick(struct usual *u, const struct trial_result *r)
{
    const struct trials *t = u->trials;
    if (r->broken.n)
        u->sick = slice_copy(&u->arena, r->broken);
    for (uint32_t i = 0; i < r->nodes.n && !u->sick.n; i++)
        if (r->nodes.at[i].ended)
            u->sick = slice_of(arena_printf(&u->arena, "the node %.*s ends without a fault",
                                            SLICE_ARG(t->nodes.at[i].name)));
    for (uint32_t i = 0; i < r->invariants.n && !u->sick.n; i++)
        if (r->invariants.at[i].asked && !r->invariants.at[i].holds)
            u->sick = slice_of(arena_printf(
                &u->arena, "the invariant \"%.*s\" does not hold without a fault: %.*s",
                SHORT(t->checkers.invariants.at[i].name), SHORT(r->invariants.at[i].said)));
    for (uint32_t i = 0; i < r->clients.n && !u->sick.n; i++) {
        const struct trial_client *c = &r->clients.at[i];
        const struct trials_phase *phase = &t->phases.at[c->phase];
        if (!c->finished)
            u->sick = slice_of(arena_printf(
                &u->arena,
                "the client %.*s of the phase %.*s does not finish without a fault: %.*s",
                SLICE_ARG(phase->clients.at[c->client].name), SHORT(phase->name), SHORT(c->said)));
    }
}

void usual_learn(struct usual *u, const struct trial_result *r)
{
    u->n++;
    find_sick(u, r);
    for (uint32_t i = 0; i < r->clients.n && i < u->clients.n; i++)
        learn_client(u, &u->clients.at[i], &r->clients.at[i]);
    for (uint32_t i = 0; i < r->nodes.n && i < u->nodes.n; i++)
        learn_node(u, &u->nodes.at[i], &r->nodes.at[i]);
}

slice usual_sick(const struct usual *u)
{
    return u->sick;
}
