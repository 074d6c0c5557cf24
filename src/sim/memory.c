/* SPDX-License-Identifier: Apache-2.0
 *
 * One run, in memory: a call is handled by recursion, time is a number that is passed along.
 * Concurrent branches are evaluated one after the other from the same start time, which gives the
 * same trace as interleaving them because handlers share nothing but state, and state changes in
 * the order of evaluation.
 *
 * 1. Every call takes at least 1ns, so that a call that ended before another started did so
 *    visibly.
 * 2. A caller that times out goes on; what it called goes on too, and stays in the trace. */
#include "base/hash.h"
#include "sim/sim_int.h"

struct run {
    struct exec exec; /* first: frames know it by this */
    struct sim *sim;
    struct aim *aim;
    struct trace *trace;
    uint32_t depth;
};

static struct run *run_of(const struct frame *f)
{
    return OWNER(f->exec, struct run, exec);
}

/* Time stops in the far future rather than overflow. */
static int64_t later(int64_t now_ns, int64_t by_ns)
{
    return now_ns > INT64_MAX / 2 ? now_ns : now_ns + by_ns;
}

/* ---- naming ---- */

/* A hash of a value: equal ones have the same. */
static uint64_t value_hash(const struct node *node)
{
    uint64_t hash = node->type;
    uint64_t bits = 0;
    switch (node->type) {
    case NODE_NULL: return hash;
    case NODE_BOOL: return hash_mix(hash, node->boolean);
    case NODE_NUM: memcpy(&bits, &node->num, sizeof bits); return hash_mix(hash, bits);
    case NODE_STR: return hash_mix(hash, hash_slice(node->text));
    case NODE_LIST:
        for (uint32_t i = 0; i < node->n; i++)
            hash = hash_mix(hash, value_hash(node->list[i]));
        return hash;
    case NODE_MAP:
        for (uint32_t i = 0; i < node->n; i++)
            hash = hash_mix(hash_mix(hash, hash_slice(node->map[i].key)),
                            value_hash(node->map[i].value));
        return hash;
    }
    return hash;
}

static uid name_call(const struct frame *f, const struct target *t, const struct node *payload,
                     int64_t start_ns)
{
    struct run *run = run_of(f);
    struct names *names = run->sim->names;
    struct element el = {.service = run->sim->service[t->service].sym, .interface = t->interface};
    if (run->sim->name_payload && payload->type != NODE_NULL) {
        struct buf text = BUF_INIT(1 << 16);
        node_print(payload, &text);
        el.payload = hash_fold(hash_slice(buf_slice(&text)));
        buf_deinit(&text);
    }
    uint32_t first = names_element(names, el);
    el.n = map_count(&run->sim->equal, (uint64_t)f->call << 32 | first) - 1;
    if (run->sim->name_before) { /* the siblings that have ended by now, each with its highest n */
        uint64_t sum = 0;
        for (uint32_t i = 0; i < f->children.n; i++) {
            const struct call *c = &run->trace->calls.at[f->children.at[i]];
            if (c->end_ns <= start_ns)
                sum += element_hash(names, uid_element(names, c->uid));
        }
        el.before = sum ? hash_fold(sum) : 0;
    }
    return names_uid(names, run->trace->calls.at[f->call].uid, names_element(names, el));
}

/* ---- faults ---- */

static uint32_t body_bytes(const struct node *body)
{
    struct buf text = BUF_INIT(BODY_BYTES_MAX);
    if (body->type != NODE_NULL)
        node_print(body, &text);
    uint32_t n = (uint32_t)text.n;
    buf_deinit(&text);
    return n;
}

/* The body of an answer that was changed. A message of gRPC is no JSON and has no fields that could
 * be named. */
static const struct node *corrupted(const struct call *c, struct arena *a, const struct node *body)
{
    bool json = outcome_kind(c->reply) != OUT_GRPC;
    if (body->type == NODE_NULL)
        return body;
    switch (mode_corrupt(c->mode)) {
    case CORRUPT_EMPTY: return &node_null;
    case CORRUPT_GARBAGE: return node_str(a, SLICE("}{ garbage ]["));
    case CORRUPT_REMOVE: return json ? node_replace(a, body, mode_field(c->mode), NULL) : body;
    case CORRUPT_NULL: return json ? node_replace(a, body, mode_field(c->mode), &node_null) : body;
    case CORRUPT_KINDS: break;
    }
    return body;
}

/* What the caller gets at a call where a fault fires: sets c->seen, c->end_ns and *body. A mode that
 * keeps the request from the service takes the answer's place; c->end_ns is when the request would
 * have arrived. A mode that lets it through changes the service's answer: when it comes, how much
 * of it, or what it says. Bodies are values here, not bytes; where bytes count, those of the value's
 * JSON do, and no body is 0 bytes. */
static void act_fault(struct sim *sim, struct call *c, int64_t timeout_ns, const struct node **body)
{
    enum mode_act act = mode_act(c->mode);
    uint32_t argument = mode_argument(c->mode);
    switch (act) {
    case ACT_ANSWER:
    case ACT_BREAK:
    case ACT_GOAWAY:
    case ACT_HOLD:
        if (act == ACT_HOLD)
            c->end_ns = later(c->start_ns, timeout_ns > 0 ? timeout_ns : SIM_HOLD_NS);
        else if (!c->handled)
            c->end_ns = later(c->end_ns, SIM_FAULT_NS);
        c->seen = mode_outcome(c->mode);
        *body = outcome_kind(c->seen) == OUT_STATUS
                    ? node_str(&sim->run_arena, SLICE("Injected fault\n"))
                    : &node_null;
        break;
    case ACT_DELAY:
    case ACT_LATE: c->end_ns = later(c->end_ns, mode_delay_ns(c->mode)); break;
    case ACT_PACE:
        c->end_ns = later(c->end_ns, SECONDS((int64_t)body_bytes(*body)) / argument);
        break;
    case ACT_CUT: /* a body with no more bytes than are let through comes as it was */
        if (body_bytes(*body) > argument) {
            c->seen = OUTCOME(mode_kind(c->mode) == MODE_RESET ? OUT_RESET : OUT_CLOSED, 0);
            *body = &node_null;
        }
        break;
    case ACT_CORRUPT: *body = corrupted(c, &sim->run_arena, *body); break;
    case ACT_TWICE:
    case ACT_EVENT:
    case ACTS: break;
    }
}

/* ---- calls ---- */

/* What is sent to a service: a call's request, and what is recorded of it. */
struct sent {
    const struct node *payload;
    uint32_t request, key;
    int64_t start_ns, timeout_ns;
};

/* The work of a service for call number `call` of the trace, which arrives at c->end_ns: sets what it
 * answers and when. */
static enum flow handle(struct run *run, const struct target *t, uint32_t call,
                        const struct node *payload, struct call *c, const struct node **body)
{
    const struct sim_service *service = &run->sim->service[t->service];
    c->reply = c->seen = OUTCOME(OUT_STATUS, 404);
    c->end_ns = later(c->end_ns, service->latency_ns > 0 ? service->latency_ns : 1);
    if (!t->endpoint)
        return FLOW_ON;
    if (run->depth >= SIM_DEPTH_MAX)
        return abort_run(&run->exec, "calls nest too deeply", SIM_DEPTH_MAX);
    struct frame f;
    frame_init(&f, &run->exec, t, &run->sim->run_arena, payload);
    f.call = call;
    f.env.sim = run->sim;
    f.env.state = run->sim->state;
    f.env.now_ns = c->end_ns;
    run->depth++;
    enum flow flow = run_steps(&f, &t->endpoint->steps);
    run->depth--;
    vec_deinit(&f.children);
    c->reply = c->seen = f.reply;
    c->end_ns = f.env.now_ns;
    *body = f.body;
    return flow == FLOW_ABORT ? FLOW_ABORT : FLOW_ON;
}

/* One request to a service of the system, and its answer. It is on its way since env->now_ns, which
 * moves to the end of the call. */
static enum flow deliver(struct frame *f, const struct target *t, const struct sent *sent,
                         struct slot *out, struct call *record)
{
    struct run *run = run_of(f);
    if (run->trace->calls.n >= SIM_CALLS_MAX)
        return abort_run(&run->exec, "too many calls in one run", SIM_CALLS_MAX);
    struct call c = {.parent = f->call,
                     .request = sent->request,
                     .key = sent->key,
                     .start_ns = sent->start_ns,
                     .end_ns = f->env.now_ns};
    c.uid = name_call(f, t, sent->payload, c.start_ns);
    c.mode = aim_find(run->aim, run->sim->names, c.uid, c.flags, &c.fault_point);
    if (mode_act(c.mode) == ACT_EVENT) /* by hand; nothing here can be harmed: it does not fire */
        c.mode = MODE_NONE;
    c.handled = c.mode == MODE_NONE || mode_reached(c.mode);
    uint32_t index = run->trace->calls.n;
    vec_push(&run->trace->calls, c);
    const struct node *body = &node_null;
    if (c.handled && handle(run, t, index, sent->payload, &c, &body) == FLOW_ABORT)
        return FLOW_ABORT;
    if (c.mode != MODE_NONE)
        act_fault(run->sim, &c, sent->timeout_ns, &body);
    /* The caller waits no longer than its timeout; injected failures come at once. */
    bool awaited = c.handled || mode_act(c.mode) == ACT_HOLD;
    if (awaited && sent->timeout_ns > 0 && c.end_ns - c.start_ns > sent->timeout_ns) {
        c.end_ns = later(c.start_ns, sent->timeout_ns);
        c.seen = OUTCOME(OUT_TIMEOUT, 0);
    }
    if (outcome_kind(c.seen) == OUT_TIMEOUT)
        body = &node_null;
    run->trace->calls.at[index] = c;
    vec_push(&f->children, index);
    f->env.now_ns = c.end_ns;
    out->seen = c.seen;
    out->value = body;
    *record = c;
    return FLOW_ON;
}

/* What a handler calls once.
 *
 * Under `duplicate` the request arrives once more when the first answer is there, unless the caller
 * has gone by then. The copy is a call of its own, the next #n: a handler's calls and its answer
 * are one transcript, and two of them in one would not be. It can be failed like any other call,
 * but is not duplicated again. It counts as started with the first, as the caller sent only one:
 * so its place among the caller's calls does not depend on how long the first took. */
static enum flow memory_call(struct frame *f, const struct step *step, const struct ask *ask,
                             struct slot *out)
{
    struct sim *sim = run_of(f)->sim;
    struct target target = *target_find(sim, ask->target);
    struct sent sent = {.payload = ask->payload,
                        .request =
                            hash_fold(hash_mix(hash_slice(ask->target), value_hash(ask->payload))),
                        .key = ask->key.n ? hash_fold(hash_slice(ask->key)) : 0,
                        .start_ns = f->env.now_ns,
                        .timeout_ns = step->ns};
    struct call c = {0};
    *out = (struct slot){.value = &node_null, .called = true, .seen = OUTCOME(OUT_REFUSED, 0)};
    if (target.service == UINT32_MAX)
        return FLOW_ON;
    const struct sim_service *service = &sim->service[target.service];
    if (service->external) { /* nobody sees it */
        bool late = step->ns > 0 && service->latency_ns > step->ns;
        out->seen = late ? OUTCOME(OUT_TIMEOUT, 0) : service->external_reply;
        f->env.now_ns = later(f->env.now_ns, late ? step->ns : service->latency_ns);
        return FLOW_ON;
    }
    if (deliver(f, &target, &sent, out, &c) == FLOW_ABORT)
        return FLOW_ABORT;
    if (mode_act(c.mode) == ACT_TWICE && outcome_kind(c.seen) != OUT_TIMEOUT)
        return deliver(f, &target, &sent, out, &c);
    return FLOW_ON;
}

static void memory_pause(struct frame *f, int64_t ns)
{
    f->env.now_ns = later(f->env.now_ns, ns);
}

/* One after the other, each from the same start. */
static enum flow memory_branches(struct frame *f, const struct step *step, struct slot *after,
                                 uint32_t *failed, outcome *seen)
{
    uint32_t n = f->n_slots;
    size_t size = n * sizeof(struct slot);
    struct slot *before = arena_alloc(f->env.arena, size);
    int64_t start_ns = f->env.now_ns, last_ns = start_ns, error_ns = INT64_MAX;
    memcpy(before, f->env.slot, size);
    for (uint32_t i = 0; i < step->n_branches; i++) {
        f->env.now_ns = start_ns;
        f->last_seen = OUTCOME_OK;
        memcpy(f->env.slot, before, size);
        if (run_steps(f, &step->branch[i]) == FLOW_ABORT)
            return FLOW_ABORT;
        memcpy(after + (size_t)i * n, f->env.slot, size);
        if (f->env.now_ns > last_ns)
            last_ns = f->env.now_ns;
        if (outcome_ok(f->last_seen))
            continue;
        if (*failed == UINT32_MAX) {
            *failed = i;
            *seen = f->last_seen;
        }
        if (f->env.now_ns < error_ns)
            error_ns = f->env.now_ns;
    }
    f->env.now_ns = step->first_error && *failed != UINT32_MAX ? error_ns : last_ns;
    return FLOW_ON;
}

static const struct exec_ops memory_ops = {memory_call, memory_pause, memory_branches};

/* ---- a run ---- */

/* Where the scenario's request goes. The text of a request has no references but constants. */
static struct target request_target(struct sim *sim, const struct sim_scenario *sc)
{
    struct env env = {.sim = sim, .arena = &sim->run_arena};
    return *target_find(sim, node_as_text(expr_eval(sc->request, &env), &sim->run_arena));
}

static uid request_uid(struct sim *sim, const struct target *t)
{
    struct element el = {.service = sim->service[t->service].sym, .interface = t->interface};
    return names_uid(sim->names, UID_NONE, names_element(sim->names, el));
}

uid sim_request(struct sim *sim, uint32_t scenario)
{
    struct target t = request_target(sim, &sim->scenario[scenario]);
    return t.service == UINT32_MAX ? UID_NONE : request_uid(sim, &t);
}

int sim_run(struct sim *sim, uint32_t scenario, struct aim *aim, uint64_t seed, struct trace *trace,
            struct verdict *verdict, const struct node **body_out, struct err *e)
{
    const struct sim_scenario *sc = &sim->scenario[scenario];
    /* state: as at the end of the last run, or as in the file */
    struct arena last = sim->state_arena[1];
    arena_reset(&sim->state_arena[0]); /* of the run before the last one */
    for (uint32_t i = 0; i < sim->n_services; i++) {
        const struct node *init = sim->service[i].state;
        for (uint32_t k = 0; init && k < init->n; k++)
            sim->state[i][k] = sim->keep_state ? node_copy(&sim->state_arena[0], sim->state[i][k])
                                               : init->map[k].value;
    }
    sim->state_arena[1] = sim->state_arena[0];
    sim->state_arena[0] = last;
    arena_reset(&sim->run_arena);
    trace->calls.n = 0;
    map_clear(&sim->equal);
    struct run run = {.exec = {.ops = &memory_ops, .rng = {hash_mix(1, seed)}, .err = e},
                      .sim = sim,
                      .aim = aim,
                      .trace = trace};
    struct env env = {.sim = sim,
                      .arena = &sim->run_arena,
                      .rng = &run.exec.rng,
                      .state = sim->state,
                      .payload = &node_null,
                      .body = &node_null,
                      .trace = trace};
    struct target t = request_target(sim, sc);
    if (t.service == UINT32_MAX)
        return err_set(e, sc->line, sc->col,
                       "the request of the scenario does not go to any service");
    const struct node *payload = sc->payload ? expr_eval(sc->payload, &env) : &node_null;
    struct call root = {.uid = request_uid(sim, &t), .parent = CALL_NONE, .handled = true};
    vec_push(&trace->calls, root);
    if (handle(&run, &t, 0, payload, &root, &env.body) == FLOW_ABORT)
        return -1;
    trace->calls.at[0] = root;
    env.status = root.seen;
    scenario_judge(sc, &env, verdict);
    if (body_out)
        *body_out = env.body;
    return 0;
}
