/* SPDX-License-Identifier: Apache-2.0
 *
 * Faults acted out on simulated calls. A mode that keeps the request from the service takes the
 * answer's place. A mode that lets it through changes the answer: when it comes, how much of it,
 * or what it says. Bodies are values here, not bytes; where bytes count, those of the value's JSON
 * do, and no body is 0 bytes. */
#include "sim/sim_int.h"

#include "base/clock.h"
#include "core/trace.h"

/* An answer on its way to the caller. */
struct answer {
    struct sim *sim;
    struct call *call;
    const struct node *body;
};

static uint32_t body_bytes(const struct node *body)
{
    struct buf text = BUF_INIT(BODY_BYTES_MAX);
    if (body->type != NODE_NULL)
        node_print(body, &text);
    uint32_t n = (uint32_t)text.n;
    buf_deinit(&text);
    return n;
}

static void act_late(struct answer *a)
{
    a->call->end_ns = later(a->call->end_ns, mode_delay_ns(a->call->mode));
}

static void act_slow(struct answer *a)
{
    int64_t bytes = body_bytes(a->body);
    a->call->end_ns = later(a->call->end_ns, SECONDS(bytes) / mode_argument(a->call->mode));
}

/* The body breaks off. One that has no more bytes than are let through comes as it was. */
static void act_cut(struct answer *a)
{
    if (body_bytes(a->body) <= mode_argument(a->call->mode))
        return;
    a->call->seen = OUTCOME(mode_kind(a->call->mode) == MODE_RESET ? OUT_RESET : OUT_CLOSED, 0);
    a->body = &node_null;
}

/* A message of gRPC is no JSON and has no fields that could be named. */
static void act_corrupt(struct answer *a)
{
    struct arena *arena = &a->sim->run_arena;
    slice field = mode_field(a->call->mode);
    bool json = outcome_kind(a->call->reply) != OUT_GRPC;
    if (a->body->type == NODE_NULL)
        return;
    switch (mode_corrupt(a->call->mode)) {
    case CORRUPT_EMPTY: a->body = &node_null; break;
    case CORRUPT_GARBAGE: a->body = node_str(arena, SLICE("}{ garbage ][")); break;
    case CORRUPT_REMOVE:
        a->body = json ? node_replace(arena, a->body, field, NULL) : a->body;
        break;
    case CORRUPT_NULL:
        a->body = json ? node_replace(arena, a->body, field, &node_null) : a->body;
        break;
    case CORRUPT_KINDS: break;
    }
}

/* What happens to the answer of a service that was reached; `duplicate` leaves it as it is. */
static void (*const acts[ACTS])(struct answer *a) = {
    [ACT_DELAY] = act_late, [ACT_LATE] = act_late,       [ACT_PACE] = act_slow,
    [ACT_CUT] = act_cut,    [ACT_CORRUPT] = act_corrupt,
};

/* A failure in place of an answer. */
static void act_instead(struct answer *a, int64_t timeout_ns)
{
    struct call *c = a->call;
    if (mode_act(c->mode) == ACT_HOLD)
        c->end_ns = later(c->start_ns, timeout_ns > 0 ? timeout_ns : SIM_HOLD_NS);
    else if (!c->handled)
        c->end_ns = later(c->end_ns, SIM_FAULT_NS);
    c->seen = mode_outcome(c->mode);
    a->body = outcome_kind(c->seen) == OUT_STATUS
                  ? node_str(&a->sim->run_arena, SLICE("Injected fault\n"))
                  : &node_null;
}

void fault_act(struct sim *sim, struct call *c, int64_t timeout_ns, const struct node **body)
{
    struct answer a = {.sim = sim, .call = c, .body = *body};
    enum mode_act act = mode_act(c->mode);
    if (act < ACT_REACHED)
        act_instead(&a, timeout_ns);
    else if (acts[act])
        acts[act](&a);
    *body = a.body;
}
