/* SPDX-License-Identifier: Apache-2.0
 *
 * One run, in memory. Handlers are interpreted by recursion; time is a number that is passed along.
 * Concurrent branches are evaluated one after the other from the same start time, which gives the
 * same trace as interleaving them because handlers share nothing but state, and state changes in
 * the order of evaluation.
 *
 * 1. Every call takes at least 1ns, so that a call that ended before another started did so
 * visibly.
 * 2. A caller that times out goes on; what it called goes on too, and stays in the trace.
 * 3. Every loop and recursion is bounded by the SIM_*_MAX numbers; passing one aborts the run with
 * an error. */
#include "sim/sim_int.h"

#include "base/hash.h"

/* How a handler goes on after a step. */
enum flow { FLOW_ON, FLOW_REPLIED, FLOW_ABORT };

struct run {
    struct sim *sim;
    struct plan *plan;
    struct trace *trace;
    struct rng rng;
    uint32_t depth, steps;
    struct err *err;
};

/* A handler at work. */
struct frame {
    struct run *run;
    uint32_t service;
    uint32_t call; /* index of the call that it handles */
    uint32_t n_slots;
    struct env env;
    outcome last_seen; /* of the last call that it waited for: what a branch comes to */
    outcome reply;
    const struct node *body;
    VEC(uint32_t) children; /* calls that it made */
};

static enum flow run_steps(struct frame *f, const struct steps *steps);

/* ---- naming ---- */

static uint32_t payload_hash(const struct node *payload)
{
    struct buf text = BUF_INIT(1 << 16);
    node_print(payload, &text);
    uint32_t hash = hash_fold(hash_slice(buf_slice(&text)));
    buf_deinit(&text);
    return hash;
}

/* A hash of the siblings that had ended when a call starts: each with its highest n. */
static uint32_t before_hash(const struct frame *f, int64_t start_ns)
{
    const struct names *names = f->run->sim->names;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < f->children.n; i++) {
        const struct call *c = &f->run->trace->calls.at[f->children.at[i]];
        if (c->end_ns > start_ns)
            continue;
        const struct element *el = uid_element(names, c->uid);
        uint64_t key = hash_mix(hash_slice(names_text(names, el->service)),
                                hash_slice(names_text(names, el->interface)));
        sum += hash_mix(hash_mix(key, el->payload), el->n);
    }
    return sum ? hash_fold(sum) : 0;
}

static uid name_call(const struct frame *f, const struct target *t, const struct node *payload,
                     int64_t start_ns)
{
    struct sim *sim = f->run->sim;
    struct element el = {.service = sim->service[t->service].sym, .interface = t->interface};
    if (sim->name_payload && payload->type != NODE_NULL)
        el.payload = payload_hash(payload);
    for (uint32_t i = 0; i < f->children.n; i++) {
        const struct element *other =
            uid_element(sim->names, f->run->trace->calls.at[f->children.at[i]].uid);
        el.n += other->service == el.service && other->interface == el.interface &&
                other->payload == el.payload;
    }
    if (sim->name_before)
        el.before = before_hash(f, start_ns);
    return names_uid(sim->names, f->run->trace->calls.at[f->call].uid,
                     names_element(sim->names, el));
}

/* ---- calls ---- */

static enum flow abort_run(struct run *run, const char *what, int limit)
{
    err_set(run->err, 0, 0, "%s (the limit is %d)", what, limit);
    return FLOW_ABORT;
}

/* The work of a service for one call. Returns what it answers and when. */
static enum flow handle(struct run *run, const struct target *t, uint32_t call,
                        const struct node *payload, int64_t now_ns, outcome *reply,
                        const struct node **body, int64_t *end_ns)
{
    const struct service *service = &run->sim->service[t->service];
    *reply = t->endpoint ? OUTCOME_OK : OUTCOME(OUT_STATUS, 404);
    *body = &node_null;
    *end_ns = later(now_ns, service->latency_ns > 0 ? service->latency_ns : 1);
    if (!t->endpoint)
        return FLOW_ON;
    if (run->depth >= SIM_DEPTH_MAX)
        return abort_run(run, "calls nest too deeply", SIM_DEPTH_MAX);
    struct frame f = {.run = run,
                      .service = t->service,
                      .call = call,
                      .reply = OUTCOME_OK,
                      .body = &node_null,
                      .n_slots = t->endpoint->n_slots};
    f.env = (struct env){.sim = run->sim,
                         .rng = &run->rng,
                         .now_ns = *end_ns,
                         .payload = payload,
                         .body = &node_null};
    f.env.slot = arena_alloc(&run->sim->run_arena, t->endpoint->n_slots * sizeof *f.env.slot);
    for (uint32_t i = 0; i < t->endpoint->n_slots; i++)
        f.env.slot[i] = (struct slot){.value = i < t->n_params ? t->param[i] : &node_null};
    run->depth++;
    enum flow flow = run_steps(&f, &t->endpoint->steps);
    run->depth--;
    vec_deinit(&f.children);
    *reply = f.reply;
    *body = f.body;
    *end_ns = f.env.now_ns;
    return flow == FLOW_ABORT ? FLOW_ABORT : FLOW_ON;
}

/* A call to a service outside of the system: nobody sees it. */
static void call_external(const struct service *service, struct env *env, int64_t timeout_ns,
                          struct slot *out)
{
    bool late = timeout_ns > 0 && service->latency_ns > timeout_ns;
    out->seen = late ? OUTCOME(OUT_TIMEOUT, 0) : service->external_reply;
    env->now_ns = later(env->now_ns, late ? timeout_ns : service->latency_ns);
}

/* The caller waits no longer than its timeout. */
static void apply_timeout(struct call *c, int64_t timeout_ns, const struct node **body)
{
    bool answered =
        c->handled || mode_kind(c->mode) == MODE_HOLD; /* injected failures come at once */
    if (answered && timeout_ns > 0 && c->end_ns - c->start_ns > timeout_ns) {
        c->end_ns = later(c->start_ns, timeout_ns);
        c->seen = OUTCOME(OUT_TIMEOUT, 0);
    }
    if (outcome_kind(c->seen) == OUT_TIMEOUT)
        *body = &node_null;
}

/* One request to a service of the system, and its answer. The caller sent it at start_ns; it is on
 * its way since env->now_ns, which moves to the end of the call. */
static enum flow deliver(struct frame *f, const struct target *t, const struct node *payload,
                         int64_t start_ns, int64_t timeout_ns, struct slot *out,
                         struct call *record)
{
    struct run *run = f->run;
    if (run->trace->calls.n >= SIM_CALLS_MAX)
        return abort_run(run, "too many calls in one run", SIM_CALLS_MAX);
    struct call c = {.parent = f->call, .start_ns = start_ns, .end_ns = f->env.now_ns};
    c.uid = name_call(f, t, payload, c.start_ns);
    c.mode = plan_find(run->plan, run->sim->names, c.uid, &c.fault_point);
    c.handled = c.mode == MODE_NONE || mode_reached(c.mode);
    uint32_t index = run->trace->calls.n;
    vec_push(&run->trace->calls, c);
    const struct node *body = &node_null;
    if (c.handled) {
        if (handle(run, t, index, payload, c.end_ns, &c.reply, &body, &c.end_ns) == FLOW_ABORT)
            return FLOW_ABORT;
        c.seen = c.reply;
    }
    if (c.mode != MODE_NONE)
        fault_act(run->sim, &c, timeout_ns, &body);
    apply_timeout(&c, timeout_ns, &body);
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
static enum flow call_once(struct frame *f, const struct target *t, const struct node *payload,
                           int64_t timeout_ns, struct slot *out)
{
    struct call c;
    int64_t start_ns = f->env.now_ns;
    *out = (struct slot){.value = &node_null, .called = true};
    if (t->service == UINT32_MAX) {
        out->seen = OUTCOME(OUT_REFUSED, 0);
        return FLOW_ON;
    }
    const struct service *service = &f->run->sim->service[t->service];
    if (service->external) {
        call_external(service, &f->env, timeout_ns, out);
        return FLOW_ON;
    }
    if (deliver(f, t, payload, start_ns, timeout_ns, out, &c) == FLOW_ABORT)
        return FLOW_ABORT;
    if (mode_kind(c.mode) == MODE_DUPLICATE && outcome_kind(c.seen) != OUT_TIMEOUT)
        return deliver(f, t, payload, start_ns, timeout_ns, out, &c);
    return FLOW_ON;
}

static enum flow run_rules(struct frame *f, const struct on_rules *rules, outcome seen)
{
    for (uint32_t i = 0; i < rules->n; i++)
        if (oset_has(&rules->at[i].when, seen))
            return run_steps(f, &rules->at[i].steps);
    return FLOW_ON;
}

static enum flow step_call(struct frame *f, const struct step *step)
{
    slice text = node_as_text(expr_eval(step->value, &f->env), &f->run->sim->run_arena);
    struct target target = *target_find(f->run->sim, text);
    const struct node *payload = step->body ? expr_eval(step->body, &f->env) : &node_null;
    int64_t sent_ns = f->env.now_ns;
    struct slot answer;
    for (uint32_t try = 0;; try++) {
        if (call_once(f, &target, payload, step->ns, &answer) == FLOW_ABORT)
            return FLOW_ABORT;
        if (try >= step->retry.times || !oset_has(&step->retry.on, answer.seen))
            break;
        f->env.now_ns = later(f->env.now_ns, step->retry.delay_ns);
    }
    if (step->background) {
        f->env.now_ns = sent_ns;
        return FLOW_ON;
    }
    f->last_seen = answer.seen;
    if (step->slot != SLOT_NONE)
        f->env.slot[step->slot] = answer;
    return run_rules(f, &step->on, answer.seen);
}

/* ---- other steps ---- */

static bool slot_changed(const struct slot *a, const struct slot *b)
{
    return a->value != b->value || a->seen != b->seen || a->called != b->called;
}

/* The branches do not see each other's names; what they leave behind is put together at the end. A
 * group that goes on at the first error knows of no other branch than the failed one. Which one
 * counts as failed first is decided by the file's order, not by time: a handler decides by outcomes
 * alone (docs/search.md, the first assumption). */
static enum flow step_parallel(struct frame *f, const struct step *step)
{
    uint32_t n = f->n_slots, failed = UINT32_MAX;
    size_t size = n * sizeof(struct slot);
    struct slot *before = arena_alloc(&f->run->sim->run_arena, size);
    struct slot *after = arena_alloc(&f->run->sim->run_arena, size * step->n_branches);
    int64_t start_ns = f->env.now_ns, last_ns = start_ns, error_ns = INT64_MAX;
    outcome group = OUTCOME_OK;
    memcpy(before, f->env.slot, size);
    for (uint32_t i = 0; i < step->n_branches; i++) {
        f->env.now_ns = start_ns;
        f->last_seen = OUTCOME_OK;
        memcpy(f->env.slot, before, size);
        if (run_steps(f, &step->branch[i]) == FLOW_ABORT)
            return FLOW_ABORT;
        outcome seen = f->last_seen;
        memcpy(after + (size_t)i * n, f->env.slot, size);
        if (f->env.now_ns > last_ns)
            last_ns = f->env.now_ns;
        if (outcome_ok(seen))
            continue;
        if (failed == UINT32_MAX) {
            failed = i;
            group = seen;
        }
        if (f->env.now_ns < error_ns)
            error_ns = f->env.now_ns;
    }
    bool give_up = step->first_error && failed != UINT32_MAX;
    memcpy(f->env.slot, before, size);
    for (uint32_t i = 0; i < step->n_branches; i++)
        for (uint32_t k = 0; k < n && (!give_up || i == failed); k++)
            if (slot_changed(&after[i * n + k], &before[k]))
                f->env.slot[k] = after[i * n + k];
    f->env.now_ns = give_up ? error_ns : last_ns;
    return run_rules(f, &step->on, group);
}

static enum flow step_each(struct frame *f, const struct step *step)
{
    const struct node *list = expr_eval(step->value, &f->env);
    for (uint32_t i = 0; list->type == NODE_LIST && i < list->n; i++) {
        f->env.slot[step->slot].value = list->list[i];
        if (++f->run->steps > SIM_STEPS_MAX)
            return abort_run(f->run, "too many steps in one run", SIM_STEPS_MAX);
        enum flow flow = run_steps(f, &step->then);
        if (flow != FLOW_ON)
            return flow;
    }
    return FLOW_ON;
}

static enum flow step_shuffle(struct frame *f, const struct step *step)
{
    uint32_t *order = arena_alloc(&f->run->sim->run_arena, step->n_branches * sizeof *order);
    for (uint32_t i = 0; i < step->n_branches; i++) {
        uint32_t j = rng_below(&f->run->rng, i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < step->n_branches; i++) {
        enum flow flow = run_steps(f, &step->branch[order[i]]);
        if (flow != FLOW_ON)
            return flow;
    }
    return FLOW_ON;
}

static void step_reply(struct frame *f, const struct step *step)
{
    struct err ignored = {0};
    slice text = node_as_text(expr_eval(step->value, &f->env), &f->run->sim->run_arena);
    if (step->value->op == EX_CONST)
        text = step->value->constant->text;
    if (outcome_parse(text, &f->reply, &ignored))
        f->reply =
            OUTCOME(OUT_STATUS, 500); /* a computed status that is none: the handler is broken */
    f->body = step->body ? expr_eval(step->body, &f->env) : &node_null;
}

static enum flow run_step(struct frame *f, const struct step *step)
{
    switch (step->kind) {
    case STEP_CALL: return step_call(f, step);
    case STEP_PARALLEL: return step_parallel(f, step);
    case STEP_IF: return run_steps(f, expr_true(step->value, &f->env) ? &step->then : &step->other);
    case STEP_EACH: return step_each(f, step);
    case STEP_SET:
    case STEP_ADD:
    case STEP_APPEND: assign_run(&f->env, f->service, step); return FLOW_ON;
    case STEP_SLEEP: f->env.now_ns = later(f->env.now_ns, step->ns); return FLOW_ON;
    case STEP_CHOOSE: return run_steps(f, &step->branch[rng_below(&f->run->rng, step->n_branches)]);
    case STEP_SHUFFLE: return step_shuffle(f, step);
    case STEP_REPLY: step_reply(f, step); return FLOW_REPLIED;
    case STEP_KINDS: break;
    }
    return FLOW_ON;
}

static enum flow run_steps(struct frame *f, const struct steps *steps)
{
    enum flow flow = FLOW_ON;
    for (uint32_t i = 0; i < steps->n && flow == FLOW_ON; i++) {
        if (++f->run->steps > SIM_STEPS_MAX)
            return abort_run(f->run, "too many steps in one run", SIM_STEPS_MAX);
        if (f->run->sim->run_arena.used > SIM_BYTES_MAX)
            return abort_run(f->run, "too many bytes of values in one run", SIM_BYTES_MAX);
        flow = run_step(f, &steps->at[i]);
        if (f->env.overflow)
            return abort_run(f->run, "a value has too many parts", VALUE_NODES_MAX);
    }
    return flow;
}

/* ---- a run ---- */

static const struct node *node_copy(struct arena *a, const struct node *node)
{
    struct node *copy = arena_alloc(a, sizeof *copy);
    *copy = *node;
    copy->text = slice_copy(a, node->text);
    if (node->type == NODE_LIST) {
        copy->list = arena_alloc(a, node->n * sizeof *copy->list);
        for (uint32_t i = 0; i < node->n; i++)
            copy->list[i] = node_copy(a, node->list[i]);
    } else if (node->type == NODE_MAP) {
        copy->map = arena_alloc(a, node->n * sizeof *copy->map);
        for (uint32_t i = 0; i < node->n; i++)
            copy->map[i] = (struct node_pair){.key = slice_copy(a, node->map[i].key),
                                              .value = node_copy(a, node->map[i].value)};
    }
    return copy;
}

/* State at the start of a run: as at the end of the last one, or as in the file. */
static void prepare_state(struct sim *sim)
{
    struct arena *fresh = &sim->state_arena[0], last;
    arena_reset(fresh); /* of the run before the last one */
    for (uint32_t i = 0; i < sim->n_services; i++) {
        const struct node *init = sim->service[i].state;
        for (uint32_t k = 0; init && k < init->n; k++)
            sim->state[i][k] =
                sim->keep_state ? node_copy(fresh, sim->state[i][k]) : init->map[k].value;
    }
    last = sim->state_arena[1];
    sim->state_arena[1] = *fresh;
    sim->state_arena[0] = last;
}

static void judge(const struct scenario *sc, struct env *env, struct verdict *out)
{
    *out = (struct verdict){.pass = true, .status = env->status, .why = ""};
    for (uint32_t i = 0; i < sc->n_rules && out->pass; i++) {
        const struct rule *rule = &sc->rule[i];
        if (rule->when && !expr_true(rule->when, env))
            continue;
        out->pass = expr_true(rule->then, env);
        if (!out->pass)
            out->why = rule->say;
    }
}

/* Where the scenario's request goes. The text of a request has no references but constants. */
static struct target request_target(struct sim *sim, const struct scenario *sc)
{
    struct env env = {.sim = sim};
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

int sim_run(struct sim *sim, uint32_t scenario, struct plan *plan, uint64_t seed,
            struct trace *trace, struct verdict *verdict, const struct node **body_out,
            struct err *e)
{
    const struct scenario *sc = &sim->scenario[scenario];
    prepare_state(sim);
    arena_reset(&sim->run_arena);
    trace->calls.n = 0;
    struct run run = {
        .sim = sim, .plan = plan, .trace = trace, .rng = {hash_mix(1, seed)}, .err = e};
    struct env env = {
        .sim = sim, .rng = &run.rng, .payload = &node_null, .body = &node_null, .trace = trace};
    struct target t = request_target(sim, sc);
    if (t.service == UINT32_MAX)
        return err_set(e, sc->line, sc->col, "the request of the scenario goes to no service");
    const struct node *payload = sc->payload ? expr_eval(sc->payload, &env) : &node_null;
    struct call root = {.uid = request_uid(sim, &t), .parent = CALL_NONE, .handled = true};
    vec_push(&trace->calls, root);
    if (handle(&run, &t, 0, payload, 0, &root.reply, &env.body, &root.end_ns) == FLOW_ABORT)
        return -1;
    root.seen = root.reply;
    trace->calls.at[0] = root;
    env.status = root.seen;
    judge(sc, &env, verdict);
    if (body_out)
        *body_out = env.body;
    return 0;
}
