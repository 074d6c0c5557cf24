/* SPDX-License-Identifier: Apache-2.0
 *
 * The interpreter's world outside of memory: calls, time and state are those of a sim_world. Only
 * what the file alone decides is decided here: services outside of the system, names that nobody
 * has, and the latency of a service.
 *
 * 1. Concurrent branches share nothing: each has its arena, its dice, its slots. Only those that
 *    have ended are looked at. */
#include "sim/handler.h"

#include "base/hash.h"
#include "sim/sim_int.h"

static void real_pause(struct frame *f, int64_t ns)
{
    if (ns > 0)
        f->env.world->sleep(f->env.world_ctx, ns);
}

static enum flow real_call(struct frame *f, const struct step *step, const struct ask *ask,
                           struct slot *out)
{
    const struct sim *sim = f->env.sim;
    struct target_text asked;
    *out = (struct slot){.value = &node_null, .called = true, .seen = OUTCOME(OUT_REFUSED, 0)};
    if (!target_split(ask->target, &asked))
        return FLOW_ON;
    uint32_t callee = sim_service_find(sim, asked.service);
    if (callee == UINT32_MAX && !asked.url)
        return FLOW_ON;
    if (callee != UINT32_MAX && sim->service[callee].external) {
        const struct sim_service *outside = &sim->service[callee]; /* nobody is asked */
        int64_t takes_ns = outside->latency_given ? outside->latency_ns : 0;
        bool late = step->ns > 0 && takes_ns > step->ns;
        if (!step->background) {
            out->seen = late ? OUTCOME(OUT_TIMEOUT, 0) : outside->external_reply;
            real_pause(f, late ? step->ns : takes_ns);
        }
        return FLOW_ON;
    }
    struct sim_call call = {.caller = f->service,
                            .callee = callee,
                            .host = asked.service,
                            .method = asked.method,
                            .path = asked.path,
                            .payload = ask->payload,
                            .key = ask->key,
                            .timeout_ns = step->ns,
                            .background = step->background};
    out->seen = f->env.world->call(f->env.world_ctx, &call, f->env.arena, &out->value);
    return FLOW_ON;
}

/* ---- branches ---- */

struct branch {
    struct frame frame;
    struct exec exec;
    struct err err;
    struct slot *after;
    enum flow flow;
};

struct group {
    const struct step *step;
    struct branch *branch;
};

static bool branch_run(void *arg, uint32_t i)
{
    struct group *g = arg;
    struct branch *b = &g->branch[i];
    size_t size = b->frame.n_slots * sizeof(struct slot);
    b->flow = run_steps(&b->frame, &g->step->branch[i]);
    if (size)
        memcpy(b->after, b->frame.env.slot, size);
    return b->flow != FLOW_ABORT && outcome_ok(b->frame.last_seen);
}

static enum flow real_branches(struct frame *f, const struct step *step, struct slot *after,
                               uint32_t *failed, outcome *seen)
{
    uint32_t n = step->n_branches;
    size_t size = f->n_slots * sizeof(struct slot);
    struct group *g = arena_alloc(f->env.arena, sizeof *g);
    *g = (struct group){step, arena_alloc(f->env.arena, n * sizeof *g->branch)};
    for (uint32_t i = 0; i < n; i++) {
        struct branch *b = &g->branch[i];
        *b =
            (struct branch){.frame = *f, .exec = *f->exec, .after = after + (size_t)i * f->n_slots};
        b->exec.rng.state = rng_next(&f->exec->rng);
        b->exec.err = &b->err;
        b->frame.exec = &b->exec;
        b->frame.last_seen = OUTCOME_OK;
        b->frame.env.rng = &b->exec.rng;
        b->frame.env.arena = f->env.world->arena(f->env.world_ctx);
        b->frame.env.slot = arena_alloc(b->frame.env.arena, size);
        if (size)
            memcpy(b->frame.env.slot, f->env.slot, size);
    }
    *failed = f->env.world->parallel(f->env.world_ctx, n, step->first_error, branch_run, g);
    if (*failed == UINT32_MAX)
        return FLOW_ON;
    const struct branch *b = &g->branch[*failed];
    *seen = b->frame.last_seen;
    if (b->flow != FLOW_ABORT)
        return FLOW_ON;
    *f->exec->err = b->err;
    return FLOW_ABORT;
}

static const struct exec_ops real_ops = {real_call, real_pause, real_branches};

/* ---- a request ---- */

int sim_handle(const struct sim *sim, const struct sim_world *world, void *ctx,
               const struct sim_request *r, outcome *reply, const struct node **body, struct err *e)
{
    const struct sim_service *service = &sim->service[r->service];
    struct arena *a = world->arena(ctx);
    struct exec exec = {.ops = &real_ops, .rng = {hash_mix(1, r->seed)}, .err = e};
    struct target t = {.service = r->service};
    struct frame f;
    *reply = OUTCOME(OUT_STATUS, 404);
    *body = &node_null;
    target_match(sim, a, r->method, slice_copy(a, r->path), true, &t);
    if (service->latency_given && service->latency_ns > 0)
        world->sleep(ctx, service->latency_ns);
    if (!t.endpoint)
        return 0;
    frame_init(&f, &exec, &t, a, r->payload);
    f.env.sim = sim;
    f.env.world = world;
    f.env.world_ctx = ctx;
    if (run_steps(&f, &t.endpoint->steps) == FLOW_ABORT)
        return -1;
    *reply = f.reply;
    *body = f.body;
    return 0;
}
