/* SPDX-License-Identifier: Apache-2.0
 *
 * One execution of a scenario.
 *
 *   RENEWING --> BEFORE --> ACTING --> SETTLING --> STATE --> AFTER --> DONE --> FREE, when
 *   live_wait has taken it
 *
 * Steps that a scenario does not have are passed over. SETTLING lasts until all calls of the run
 * have ended and none has begun for the quiet time, at the latest for `settle`; what is open then
 * is cut off, so that the next run begins with nothing under way. Who is cut off may well try again
 * or call somebody else: that is waited for a moment, and belongs to no run.
 *
 * 1. The run of the tracker exists from ACTING to the end of SETTLING.
 * 2. One timer per execution; what it means depends on the state.
 * 3. A result is filled in exactly once, when the state becomes DONE. */
#include "base/clock.h"
#include "data/json.h"
#include "data/secret.h"
#include "io/owner.h"
#include "live/execution_int.h"

enum { TURNS = 3 };

/* From a broken connection to the news of a death: of a service that listens no more; of one that
 * still does, because it is cleaning up, or because it does not die at all. Who is waited for in
 * vain so often breaks connections off as a habit. */
static const int64_t DEATH_NS = SECONDS(1), CLEANUP_NS = MS(500);
enum { SPARED_MAX = 3 };

/* So long nothing must be heard of those who were cut off before the next run begins. */
static const int64_t AFTERMATH_NS = MS(200);

static const struct scenario_spec *spec_of(const struct execution *x)
{
    return &x->live->config->scenarios.at[x->order.scenario];
}

static void go(struct execution *x, enum execution_state state);

/* It could not be executed at all. */
static void fail(struct execution *x, const char *what, const char *why)
{
    x->result.broken = true;
    err_set(&x->result.why, 0, 0, "%s: %s", what, why);
    go(x, EXECUTION_DONE);
}

/* ---- commands ---- */

static void on_side_command(void *user, const struct command_result *r)
{
    struct execution *x = user;
    struct buf text = BUF_INIT(300);
    bool before = x->state == EXECUTION_BEFORE;
    x->command = NULL;
    if (r->started && !r->timed_out && r->exit_code == 0) {
        go(x, before ? EXECUTION_ACTING : EXECUTION_DONE);
        return;
    }
    struct arena once = {0};
    slice end = secret_masked(&once, r->output, r->output.n * 2);
    if (end.n > 200)
        end = slice_from(end, end.n - 200);
    if (!r->started)
        buf_adds(&text, r->error ? r->error : "it could not be started");
    else if (r->timed_out)
        buf_adds(&text, "it took too long");
    else
        buf_addf(&text, "exit code %d: %.*s", r->exit_code, SLICE_ARG(slice_trim(end)));
    fail(x, before ? "the command `before` failed" : "the command `after` failed", buf_text(&text));
    buf_deinit(&text);
    arena_deinit(&once);
}

static void run_side_command(struct execution *x, slice text)
{
    command_run(x, text, on_side_command);
}

/* ---- the request or command ---- */

static void on_answer(void *user, const struct client_answer *a)
{
    struct execution *x = user;
    x->request = NULL;
    x->answer = *a;
    x->answer.head = a->head ? head_copy(&x->arena, a->head) : NULL;
    request_read_answer(x, a);
    x->answer.trailers = NULL;
    x->answer.error = a->error ? arena_copy(&x->arena, a->error, strlen(a->error)) : NULL;
    x->answered_ns = a->end_ns;
    if (outcome_kind(a->seen) == OUT_TIMEOUT)
        x->result.run.flags |= RUN_HUNG;
    track_answered(x->run, a->seen, a->end_ns);
    go(x, EXECUTION_SETTLING);
}

static void on_command(void *user, const struct command_result *r)
{
    struct execution *x = user;
    x->command = NULL;
    if (!r->started) {
        fail(x, "the command of the scenario could not be started", r->error ? r->error : "");
        return;
    }
    x->ended = *r;
    x->ended.output = slice_copy(&x->arena, r->output);
    x->answered_ns = r->end_ns;
    if (r->timed_out)
        x->result.run.flags |= RUN_HUNG;
    /* what a test thinks of what it saw is no answer of a service: it is always the same */
    track_answered(x->run, OUTCOME_OK, r->end_ns);
    go(x, EXECUTION_SETTLING);
}

static void act(struct execution *x)
{
    struct live *l = x->live;
    const struct scenario_spec *spec = spec_of(x);
    struct buf interface = BUF_INIT(1 << 14);
    x->begun_ns = clock_ns();
    x->result.run.wall_ns = clock_wall_ns();
    request_interface(l, spec, &interface);
    uint8_t flags = spec->is_command ? 0 : spec->method.n ? CALL_HTTP : CALL_GRPC;
    x->run = track_begin(l->tracker, x->slot, spec->is_command ? CALLER_CLIENT : spec->service,
                         buf_slice(&interface), flags, x->order.aim, x->order.lessons,
                         x->order.learning, x->begun_ns);
    x->result.trace_key = x->run->key;
    buf_deinit(&interface);
    if (spec->is_command)
        command_run(x, spec->command, on_command);
    else
        request_send(x, on_answer);
}

/* ---- the end of a run ---- */

/* The service of ours that this call was broken off by, of itself; UINT32_MAX: none. */
static uint32_t broken_off_by(const struct live *l, const struct call *c)
{
    enum outcome_kind kind = outcome_kind(c->reply);
    if (c->mode != MODE_NONE || (kind != OUT_RESET && kind != OUT_CLOSED && kind != OUT_REFUSED))
        return UINT32_MAX;
    slice name = names_text(l->opt.names, uid_element(l->opt.names, c->uid)->service);
    uint32_t service = config_service(l->config, name);
    bool ours = service != UINT32_MAX && l->config->services.at[service].run.n &&
                !addr_is_unix(&l->wiring->address[service]);
    return ours ? service : UINT32_MAX;
}

/* How long to wait for the news that a service has died. */
static int64_t death_wait(struct execution *x)
{
    const struct live *l = x->live;
    const struct trace *trace = &x->run->all.trace;
    int64_t wait = 0;
    x->dying = UINT32_MAX;
    for (uint32_t i = 0; i < trace->calls.n && !(x->result.run.flags & RUN_CRASHED); i++) {
        uint32_t service = broken_off_by(l, &trace->calls.at[i]);
        if (service == UINT32_MAX)
            continue;
        if (!owner_listening(&l->wiring->address[service]))
            wait = DEATH_NS;
        else if (l->spared[service] < SPARED_MAX && wait < CLEANUP_NS)
            wait = CLEANUP_NS;
        if (wait == CLEANUP_NS)
            x->dying = service;
    }
    return wait;
}

/* When there is nothing more to be waited for; INT64_MAX: not before an open call ends. */
static int64_t settled_ns(struct execution *x)
{
    if (x->run->n_open > 0)
        return INT64_MAX;
    int64_t last = x->run->active_ns;
    int64_t quiet = x->order.lessons->quiet_ns, death = death_wait(x);
    quiet = quiet > death ? quiet : death;
    return (last > x->answered_ns ? last : x->answered_ns) + quiet;
}

static void leave_run(struct execution *x, int64_t now)
{
    struct live *l = x->live;
    struct run *run = &x->result.run;
    if (l->config->connections == CONNECTIONS_FRESH)
        plane_part(l->plane);
    if (x->dying != UINT32_MAX && !(run->flags & RUN_CRASHED))
        l->spared[x->dying]++;
    x->result.late_ns = x->run->late_ns;
    run->took_ns = x->answered_ns - x->begun_ns;
    if (x->order.learning)
        x->result.lesson = track_end_learning(l->tracker, x->run, now);
    else
        track_end(l->tracker, x->run, &run->trace, now);
    x->run = NULL;
    bool ask = l->config->simulated_scenarios && sim_wants_state(l->opt.sim, x->order.scenario);
    go(x, ask ? EXECUTION_STATE : EXECUTION_AFTER);
}

/* The answer may be seen before a call that was made earlier: it is in the loop's hands only when
 * its connection was accepted, and read from. */
static bool looked_round(struct execution *x)
{
    if (x->turns == TURNS)
        return true;
    turn_start(x->live->loop, &x->turn);
    return false;
}

static void cut(struct execution *x, int64_t now)
{
    x->cut_ns = now;
    x->result.run.flags |= RUN_OUTLIVED;
    x->run->cutting = true;
    plane_cut(x->live->plane, x->run->key); /* their ends tell whether a fault had fired */
    timer_start(x->live->loop, &x->timer, now + AFTERMATH_NS);
}

/* The end of a run whose calls were cut off. */
static void calm(struct execution *x, int64_t now)
{
    int64_t heard = x->run->active_ns, latest = x->cut_ns + x->live->config->settle_ns;
    int64_t at = (heard > x->cut_ns ? heard : x->cut_ns) + AFTERMATH_NS;
    at = at < latest ? at : latest;
    if (now >= at)
        leave_run(x, x->cut_ns);
    else
        timer_start(x->live->loop, &x->timer, at);
}

static void settle(struct execution *x)
{
    int64_t now = clock_ns(), at = settled_ns(x);
    int64_t latest = x->answered_ns + x->live->config->settle_ns;
    if (x->cut_ns) {
        calm(x, now);
    } else if (now >= at || now >= latest) {
        if (!looked_round(x))
            return;
        if (x->run->n_open > 0)
            cut(x, now);
        else
            leave_run(x, now);
    } else {
        timer_start(x->live->loop, &x->timer, at < latest ? at : latest);
    }
}

/* The state of a simulated system decides about some expectations. */
static void on_state(void *user, const struct client_answer *a)
{
    struct execution *x = user;
    const struct node *state = NULL;
    x->request = NULL;
    slice bytes = slice_copy(&x->arena, a->body);
    if (a->error || node_parse_json(&x->arena, bytes, &state)) {
        fail(x, "the simulated system does not tell its state",
             a->error ? a->error : "what it says is no JSON");
        return;
    }
    execution_judge(x, state);
    go(x, EXECUTION_AFTER);
}

static void finish(struct execution *x)
{
    struct live *l = x->live;
    timer_stop(l->loop, &x->timer);
    turn_stop(l->loop, &x->turn);
    if (x->run) { /* it was broken off */
        track_end(l->tracker, x->run, &x->result.run.trace, clock_ns());
        x->run = NULL;
    }
    x->result.order = x->order;
    x->result.run.purpose = x->order.purpose;
    x->result.run.faultload = x->order.faultload;
    live_leave(l);
}

static void go(struct execution *x, enum execution_state state)
{
    const struct scenario_spec *spec = spec_of(x);
    enum execution_state from = x->state;
    x->state = state;
    switch (state) {
    case EXECUTION_RENEWING:
        if (!services_renew(x->live->services))
            go(x, EXECUTION_BEFORE);
        break;
    case EXECUTION_BEFORE:
        if (spec->before.n)
            run_side_command(x, spec->before);
        else
            go(x, EXECUTION_ACTING);
        break;
    case EXECUTION_ACTING: act(x); break;
    case EXECUTION_SETTLING: settle(x); break;
    case EXECUTION_STATE: request_state(x, on_state); break;
    case EXECUTION_AFTER:
        if (from == EXECUTION_SETTLING)
            execution_judge(x, NULL);
        if (spec->after.n)
            run_side_command(x, spec->after);
        else
            go(x, EXECUTION_DONE);
        break;
    case EXECUTION_DONE: finish(x); break;
    case EXECUTION_FREE: break;
    }
}

static void on_timer(struct timer *t)
{
    struct execution *x = OWNER(t, struct execution, timer);
    if (x->state == EXECUTION_SETTLING)
        settle(x);
}

static void on_turn(struct turn *t)
{
    struct execution *x = OWNER(t, struct execution, turn);
    x->turns++;
    if (x->state == EXECUTION_SETTLING)
        settle(x);
}

/* ---- from outside ---- */

void live_begin(struct live *l, const struct execution_order *order)
{
    uint32_t slot = 0;
    while (l->slot[slot].state != EXECUTION_FREE)
        slot++;
    struct execution *x = &l->slot[slot];
    struct arena arena = x->arena;
    arena_reset(&arena);
    *x = (struct execution){.live = l,
                            .slot = slot,
                            .order = *order,
                            .arena = arena,
                            .dying = UINT32_MAX,
                            .timer.fire = on_timer,
                            .turn.fire = on_turn};
    if (order->limit_ns)
        x->result.run.flags |= RUN_HURRIED;
    l->n_running++;
    go(x, EXECUTION_RENEWING);
}

void execution_poke(struct live *l, uint64_t run)
{
    for (uint32_t i = 0; i < l->opt.slots; i++) {
        struct execution *x = &l->slot[i];
        /* calls that are cut off when it leaves its run end without one */
        if (x->state == EXECUTION_SETTLING && x->run && x->run->key == run)
            timer_start(l->loop, &x->timer, l->loop->now_ns); /* after the events of now */
    }
}

void execution_keep(struct live *l, uint64_t run, uint32_t call, slice body)
{
    for (uint32_t i = 0; i < l->opt.slots; i++) {
        struct execution *x = &l->slot[i];
        struct run *r = &x->result.run;
        if (!x->run || x->run->key != run)
            continue;
        if (!r->answers)
            r->answers = arena_alloc(&x->arena, RUN_ANSWERS_MAX * sizeof *r->answers);
        if (r->n_answers == RUN_ANSWERS_MAX || x->kept + body.n > RUN_BODY_MAX)
            continue; /* part of an answer could not be compared */
        x->kept += body.n;
        r->answers[r->n_answers++] = slice_copy(&x->arena, body);
        x->run->all.trace.calls.at[call].answer = r->n_answers;
    }
}

void execution_note(struct live *l, uint64_t run, slice text)
{
    for (uint32_t i = 0; i < l->opt.slots; i++) {
        struct execution *x = &l->slot[i];
        if (x->run && x->run->key == run && !x->result.note)
            x->result.note = arena_copy(&x->arena, text.p, text.n);
    }
}

bool execution_renewed(struct live *l, const struct err *failure)
{
    for (uint32_t i = 0; i < l->opt.slots; i++) {
        struct execution *x = &l->slot[i];
        if (x->state != EXECUTION_RENEWING)
            continue;
        if (failure)
            fail(x, "restarting services before a run (`restart: each-run`) failed", failure->text);
        else
            go(x, EXECUTION_BEFORE);
        return true;
    }
    return false;
}

bool execution_hurt(struct live *l, const char *how, const struct err *lost)
{
    bool any = false;
    for (uint32_t i = 0; i < l->opt.slots; i++) {
        struct execution *x = &l->slot[i];
        bool runs = x->state == EXECUTION_RENEWING || x->state == EXECUTION_ACTING ||
                    x->state == EXECUTION_SETTLING;
        any |= runs;
        if (runs && lost) {
            x->result.broken = true;
            x->result.why = *lost;
        }
        if (!runs || x->result.run.event)
            continue;
        x->result.run.flags |= RUN_CRASHED;
        x->result.run.event = arena_copy(&x->arena, how, strlen(how));
        if (x->state == EXECUTION_SETTLING) {
            x->result.death_ns = clock_ns() - x->answered_ns;
            timer_start(l->loop, &x->timer, l->loop->now_ns);
        }
    }
    return any;
}

void execution_cancel(struct execution *x)
{
    struct live *l = x->live;
    if (x->state == EXECUTION_FREE)
        return;
    if (x->request)
        client_cancel(x->request);
    if (x->command)
        command_cancel(x->command);
    timer_stop(l->loop, &x->timer);
    turn_stop(l->loop, &x->turn);
    if (x->run) {
        uint64_t key = x->run->key;
        track_end(l->tracker, x->run, &x->result.run.trace, clock_ns());
        x->run = NULL; /* before the calls are cut off, whose ends are told to us */
        plane_cut(l->plane, key);
    }
    vec_deinit(&x->result.run.trace.calls);
    if (x->result.lesson)
        track_lesson_free(x->result.lesson);
    l->n_running--;
    struct arena arena = x->arena;
    *x = (struct execution){.arena = arena};
}
