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
#include <ctype.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/index.h"
#include "core/interface.h"
#include "data/json.h"
#include "data/secret.h"
#include "io/owner.h"
#include "live/live_int.h"
#include "wire/coding.h"

enum {
    TURNS = 3,            /* of the loop, after which all calls before the answer are known */
    SPARED_MAX = 3,       /* see DEATH_NS */
    ANSWER_MAX = 8 << 20, /* what expectations see of a body; less is stored */
};

static const int64_t STATE_NS = SECONDS(5);

/* From a broken connection to the news of a death: of a service that listens no more; of one that
 * still does, because it is cleaning up, or because it does not die at all. Who is waited for in
 * vain so often breaks connections off as a habit. */
static const int64_t DEATH_NS = SECONDS(1), CLEANUP_NS = MS(500);

/* So long nothing must be heard of those who were cut off before the next run begins. */
static const int64_t AFTERMATH_NS = MS(200);

static const struct scenario_spec *spec_of(const struct execution *x)
{
    return &x->live->config->scenarios.at[x->order.scenario];
}

/* ---- what it sends ---- */

/* The interface of a scenario's own request; of a command, a name for it. */
static void request_interface(const struct live *l, const struct scenario_spec *spec,
                              struct buf *out)
{
    if (spec->is_command)
        buf_addf(out, "scenario/%.*s", SLICE_ARG(spec->name));
    else
        interface_make(spec->method, spec->target, spec->method.n ? l->opt.words->rules : NULL,
                       out);
}

/* How long the scenario's own request or command may take. */
static int64_t limit_of(const struct execution *x)
{
    return x->order.limit_ns ? x->order.limit_ns : spec_of(x)->timeout_ns;
}

/* Sends the scenario's request, with the context of the run. */
static void request_send(struct execution *x, void (*done)(void *, const struct client_answer *))
{
    struct live *l = x->live;
    const struct scenario_spec *spec = spec_of(x);
    bool grpc = spec->method.n == 0;
    struct field *own = arena_alloc(&x->arena, (spec->headers.n + 2) * sizeof *own);
    uint32_t n = 0;
    for (uint32_t i = 0; i < spec->headers.n; i++)
        own[n++] = (struct field){spec->headers.at[i].name, spec->headers.at[i].value};
    if (spec->content_type.n)
        own[n++] = (struct field){SLICE("content-type"), spec->content_type};
    struct buf target = BUF_INIT(1 << 16), authority = BUF_INIT(300);
    buf_addf(&target, "%s%.*s", grpc ? "/" : "", SLICE_ARG(spec->target));
    wiring_authority(l->wiring, spec->service, &authority);
    struct head head = {.method = grpc ? SLICE("POST") : spec->method,
                        .scheme = l->tls[spec->service] ? SLICE("https") : SLICE("http"),
                        .authority = buf_slice(&authority),
                        .target = buf_slice(&target),
                        .fields = own,
                        .n_fields = n};
    track_write_head(l->tracker, x->run, 0, NULL, &head, &x->arena);
    struct client_request r = {.to = &l->wiring->address[spec->service],
                               .tls = l->tls[spec->service],
                               .grpc = grpc,
                               .head = &head,
                               .body = spec->body,
                               .timeout_ns = limit_of(x),
                               .body_max = ANSWER_MAX};
    x->request = client_send(l->client, &r, done, x);
    buf_deinit(&target);
    buf_deinit(&authority);
}

/* Asks a simulated system for its state in this run. */
static void request_state(struct execution *x, void (*done)(void *, const struct client_answer *))
{
    struct live *l = x->live;
    struct head head = {.method = SLICE("GET"),
                        .scheme = SLICE("http"),
                        .authority = SLICE("localhost"),
                        .target = slice_of(arena_printf(&x->arena, "/state?trace=%016llx",
                                                        (unsigned long long)x->result.trace_key))};
    struct client_request r = {.to = &l->wiring->address[l->sim_process],
                               .head = &head,
                               .timeout_ns = STATE_NS,
                               .body_max = 16 << 20};
    x->request = client_send(l->client, &r, done, x);
}

struct environment {
    struct arena *arena;
    VEC(struct text_pair) pairs;
};

static void add_pair(struct environment *env, const char *name, slice value)
{
    vec_push(&env->pairs, (struct text_pair){slice_copy(env->arena, slice_of(name)),
                                             slice_copy(env->arena, value)});
}

static void add_context(struct environment *env, const struct track_run *run)
{
    struct buf text = BUF_INIT(200);
    add_pair(env, "OUTFOX_RUN",
             slice_of(arena_printf(env->arena, "%016llx", (unsigned long long)run->secret)));
    context_traceparent(run->id, &text);
    add_pair(env, "TRACEPARENT", buf_slice(&text));
    buf_clear(&text);
    context_member(run->id, 0, &text);
    add_pair(env, "TRACESTATE", buf_slice(&text));
    add_pair(env, "BAGGAGE", buf_slice(&text));
    buf_deinit(&text);
}

/* Runs a command of the scenario, with its environment. */
static void command_run(struct execution *x, slice text,
                        void (*done)(void *, const struct command_result *))
{
    struct live *l = x->live;
    const struct wiring *w = l->wiring;
    const struct scenario_spec *spec = spec_of(x);
    struct environment env = {.arena = &x->arena};
    struct buf value = BUF_INIT(1 << 16), name = BUF_INIT(200);
    struct err e = {0};
    buf_adds(&value, "http://");
    addr_print(&l->control.at, &value);
    add_pair(&env, "OUTFOX_CONTROL", buf_slice(&value));
    /* so that a test finds `outfox fault-injected` even where outfox is not installed */
    const char *path = getenv("PATH"), *slash = strrchr(l->opt.program, '/');
    if (!path)
        path = "";
    if (slash)
        add_pair(&env, "PATH",
                 slice_of(arena_printf(&x->arena, "%s%s%.*s", path, *path ? ":" : "",
                                       (int)(slash - l->opt.program), l->opt.program)));
    for (uint32_t i = 0; i < w->n_services; i++) { /* OUTFOX_URL_PAYMENT_SERVICE=http://... */
        const char *door = wiring_door(w, CALLER_CLIENT | x->slot, i);
        if (!door)
            continue;
        buf_clear(&name);
        buf_adds(&name, "OUTFOX_URL_");
        for (size_t k = 0; k < w->name[i].n; k++) {
            unsigned char c = (unsigned char)w->name[i].p[k];
            buf_addc(&name, isalnum(c) ? (char)toupper(c) : '_');
        }
        add_pair(&env, buf_text(&name), slice_of(arena_printf(&x->arena, "http://%s", door)));
    }
    if (spec->test.n)
        add_pair(&env, "OUTFOX_TEST", spec->test);
    if (x->run)
        add_context(&env, x->run);
    /* placeholders were checked when the file was read: these cannot fail */
    int failed = 0;
    for (uint32_t i = 0; i < spec->env.n && !failed; i++) {
        buf_clear(&value);
        failed = wiring_expand(w, CALLER_CLIENT | x->slot, spec->env.at[i].value, &value, &e);
        add_pair(&env, spec->env.at[i].name.p, buf_slice(&value));
    }
    buf_clear(&value);
    if (failed || wiring_expand(w, CALLER_CLIENT | x->slot, text, &value, &e))
        buf_addf(&value, "echo '%s' >&2; exit 125", e.text);
    struct command_request r = {.text = buf_slice(&value),
                                .dir = spec->dir.n ? spec->dir : l->config->dir,
                                .env = env.pairs.at,
                                .n_env = env.pairs.n,
                                .timeout_ns = x->run ? limit_of(x) : spec->timeout_ns};
    x->command = command_start(l->keeper, &r, done, x);
    vec_deinit(&env.pairs);
    buf_deinit(&value);
    buf_deinit(&name);
}

/* ---- the verdict ---- */

/* What its answer, or its command, comes to. A run that was not answered in time, and one in which
 * a service died, has failed whatever else holds. state: of a simulated system, or NULL. */
static void execution_judge(struct execution *x, const struct node *state)
{
    struct run *run = &x->result.run;
    struct verdict *v = &run->verdict;
    const struct live *l = x->live;
    const struct scenario_spec *spec = spec_of(x);
    const struct trace *trace =
        x->result.lesson ? track_lesson_trace(x->result.lesson) : &run->trace;
    bool fired = false;
    for (uint32_t i = 0; i < trace->calls.n; i++)
        fired |= trace->calls.at[i].mode != MODE_NONE;
    const struct expect_spec *expect =
        spec->under_faults.given && fired ? &spec->under_faults : &spec->expect;
    run->body = spec->is_command ? x->ended.output : x->answer.body;
    if (run->body.n > RUN_BODY_MAX)
        run->body.n = RUN_BODY_MAX;
    if (l->config->simulated_scenarios) {
        const struct node *body = &node_null;
        if (x->answer.body.n && node_parse_json(&x->arena, x->answer.body, &body))
            body = node_str(&x->arena, x->answer.body);
        sim_judge(l->opt.sim, x->order.scenario, x->answer.seen, body, trace, state, v);
    } else if (spec->is_command) {
        const struct command_result *r = &x->ended;
        expect_command(expect, r, l->opt.sentences, &x->arena, v);
        v->status = r->timed_out        ? OUTCOME(OUT_TIMEOUT, 0)
                    : r->exit_code >= 0 ? OUTCOME(OUT_EXIT, r->exit_code)
                                        : OUTCOME(OUT_EXIT, 128 + r->signal); /* as shells count */
    } else {
        expect_answer(expect, &x->answer, l->opt.sentences, &x->arena, v);
    }
    /* from here on nobody needs the secrets that services told, and all that follows is kept */
    run->body = secret_masked(&x->arena, run->body, RUN_BODY_MAX);
    for (uint32_t i = 0; i < run->n_answers; i++)
        run->answers[i] = secret_masked(&x->arena, run->answers[i], RUN_BODY_MAX);
    if (run->flags & RUN_HUNG) {
        struct buf why = BUF_INIT(400);
        buf_adds(&why, "the scenario does not end within ");
        buf_add_ns(&why, spec->timeout_ns); /* one finding, also of a run with less time */
        v->pass = false;
        v->why = intern_keep(l->opt.sentences, buf_slice(&why));
        buf_deinit(&why);
    }
    if (run->flags & RUN_CRASHED) {
        slice who = slice_of(run->event);
        const char *bracket = strstr(run->event, " (");
        if (bracket)
            who.n = (size_t)(bracket - run->event);
        v->pass = false;
        v->why = intern_keep(l->opt.sentences, who);
        v->detail = run->event;
    }
}

/* ---- steps ---- */

static void go(struct execution *x, enum execution_state state);

/* It could not be executed at all. */
static void fail(struct execution *x, const char *what, const char *why)
{
    x->result.broken = true;
    err_set(&x->result.why, 0, 0, "%s: %s", what, why);
    go(x, EXECUTION_DONE);
}

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
        buf_addf(&text, "exit code %d%s%.*s", r->exit_code,
                 slice_trim(end).n ? ": " : ", and says nothing", SLICE_ARG(slice_trim(end)));
    fail(x, before ? "the command `before` failed" : "the command `after` failed", buf_text(&text));
    buf_deinit(&text);
    arena_deinit(&once);
}

static void on_answer(void *user, const struct client_answer *a)
{
    struct execution *x = user;
    x->request = NULL;
    x->answer = *a;
    x->answer.head = a->head ? head_copy(&x->arena, a->head) : NULL;
    /* the body as it is to be read: without its compression, where that can be undone */
    slice coding = a->head && a->body.n ? coding_of(a->head) : (slice){0};
    struct buf plain = BUF_INIT(ANSWER_MAX);
    const char *why = coding.n ? coding_decode(coding, a->body, &plain) : NULL;
    x->answer.body = slice_copy(&x->arena, coding.n && !why ? buf_slice(&plain) : a->body);
    if (why)
        x->answer.coded = arena_printf(&x->arena, "the answer (%.*s) %s", SLICE_ARG(coding), why);
    buf_deinit(&plain);
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

static void begin_acting(struct execution *x)
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

/* How long to wait for the news that a service of ours has died: one that broke a call off, of
 * itself. */
static int64_t death_wait(struct execution *x)
{
    const struct live *l = x->live;
    const struct trace *trace = &x->run->all.trace;
    int64_t wait = 0;
    x->dying = UINT32_MAX;
    for (uint32_t i = 0; i < trace->calls.n && !(x->result.run.flags & RUN_CRASHED); i++) {
        const struct call *c = &trace->calls.at[i];
        enum outcome_kind kind = outcome_kind(c->reply);
        if (c->mode != MODE_NONE ||
            (kind != OUT_RESET && kind != OUT_CLOSED && kind != OUT_REFUSED))
            continue;
        slice name = names_text(l->opt.names, uid_element(l->opt.names, c->uid)->service);
        uint32_t service = config_service(l->config, name);
        if (service == UINT32_MAX || !l->config->services.at[service].run.n ||
            addr_is_unix(&l->wiring->address[service]) || services_was_ended(l->services, service))
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
    go(x, ask                                      ? EXECUTION_STATE
          : l->events && events_end_all(l->events) ? EXECUTION_MENDING
                                                   : EXECUTION_AFTER);
}

/* Looks whether the run is over; else a timer or a turn of the loop looks again. */
static void settle(struct execution *x)
{
    struct live *l = x->live;
    int64_t now = clock_ns(), heard = x->run->active_ns, at = INT64_MAX;
    bool open = x->run->n_open > 0;
    int64_t death = open ? 0 : death_wait(x);
    if (x->cut_ns) { /* its calls were cut off: until nothing more is heard of that */
        int64_t latest = x->cut_ns + l->config->settle_ns;
        at = (heard > x->cut_ns ? heard : x->cut_ns) + AFTERMATH_NS;
        at = at < latest ? at : latest;
        if (now >= at)
            leave_run(x, x->cut_ns);
        else
            timer_start(l->loop, &x->timer, at);
        return;
    }
    if (!open) { /* else not before an open call ends */
        int64_t quiet = x->order.lessons->quiet_ns;
        at = (heard > x->answered_ns ? heard : x->answered_ns) + (quiet > death ? quiet : death);
    }
    int64_t latest = x->answered_ns + l->config->settle_ns;
    at = at < latest ? at : latest;
    if (now < at) {
        timer_start(l->loop, &x->timer, at);
    } else if (x->turns < TURNS) {
        /* the answer may be seen before a call that was made earlier: it is in the loop's hands
         * only when its connection was accepted, and read from */
        turn_start(l->loop, &x->turn);
    } else if (!open) {
        leave_run(x, now);
    } else {
        x->cut_ns = now;
        x->result.run.flags |= RUN_OUTLIVED;
        x->run->cutting = true;
        plane_cut(l->plane, x->run->key); /* their ends tell whether a fault had fired */
        timer_start(l->loop, &x->timer, now + AFTERMATH_NS);
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
        fail(x, "the simulated system does not report its state",
             a->error ? a->error : "its answer is not valid JSON");
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
            command_run(x, spec->before, on_side_command);
        else
            go(x, EXECUTION_ACTING);
        break;
    case EXECUTION_ACTING: begin_acting(x); break;
    case EXECUTION_SETTLING: settle(x); break;
    case EXECUTION_MENDING: break; /* until execution_mended */
    case EXECUTION_STATE: request_state(x, on_state); break;
    case EXECUTION_AFTER:
        if (from != EXECUTION_STATE)
            execution_judge(x, NULL);
        if (spec->after.n)
            command_run(x, spec->after, on_side_command);
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

uid live_request(struct live *l, uint32_t scenario)
{
    const struct scenario_spec *spec = &l->config->scenarios.at[scenario];
    struct names *names = l->opt.names;
    struct buf interface = BUF_INIT(1 << 14);
    request_interface(l, spec, &interface);
    struct element el = {
        .service =
            names_sym(names, spec->is_command ? SLICE("client") : l->wiring->name[spec->service]),
        .interface = names_sym(names, buf_slice(&interface))};
    buf_deinit(&interface);
    return names_uid(names, UID_NONE, names_element(names, el));
}

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

/* The execution of this run of the tracker; NULL: it has ended. */
static struct execution *execution_of(struct live *l, uint64_t run)
{
    for (uint32_t i = 0; i < l->opt.slots; i++)
        if (l->slot[i].run && l->slot[i].run->key == run)
            return &l->slot[i];
    return NULL;
}

void execution_poke(struct live *l, uint64_t run)
{
    struct execution *x = execution_of(l, run); /* none: it was cut off when it left its run */
    if (x && x->state == EXECUTION_SETTLING)
        timer_start(l->loop, &x->timer, l->loop->now_ns); /* after the events of now */
}

void execution_keep(struct live *l, uint64_t run, uint32_t call, slice body)
{
    struct execution *x = execution_of(l, run);
    struct run *r = x ? &x->result.run : NULL;
    if (!r || r->n_answers == RUN_ANSWERS_MAX || x->kept + body.n > RUN_BODY_MAX)
        return; /* part of an answer could not be compared */
    if (track_is_file(&x->run->all.calls.at[call]))
        return;
    if (!r->answers)
        r->answers = arena_alloc(&x->arena, RUN_ANSWERS_MAX * sizeof *r->answers);
    x->kept += body.n;
    r->answers[r->n_answers++] = slice_copy(&x->arena, body);
    x->run->all.trace.calls.at[call].answer = r->n_answers;
}

void execution_note(struct live *l, uint64_t run, slice text)
{
    struct execution *x = execution_of(l, run);
    if (x && !x->result.note)
        x->result.note = arena_copy(&x->arena, text.p, text.n);
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

void execution_mended(struct live *l)
{
    for (uint32_t i = 0; i < l->opt.slots; i++)
        if (l->slot[i].state == EXECUTION_MENDING)
            go(&l->slot[i], EXECUTION_AFTER);
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
