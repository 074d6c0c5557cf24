/* SPDX-License-Identifier: Apache-2.0
 *
 * Handlers in a world outside of memory (sim/handler.h), and judging runs that were made elsewhere.
 * The world here is a small one: a call is a request to sim_handle, branches come one after the
 * other. Random systems must answer there as they do in memory, with and without a fault. */
#include "sim/handler.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/sim_int.h"
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

enum { SYSTEMS = 400, ARENAS = 4096 };

struct world {
    struct sim *sim;
    slice broken; /* "SERVICE INTERFACE" that answers 503 */
    struct arena arena[ARENAS];
    uint32_t n_arenas;
    const struct node ***state;
    int64_t slept_ns;
};

static const struct sim_world small_world;

static outcome world_call(void *ctx, const struct sim_call *call, struct arena *a,
                          const struct node **body)
{
    struct world *w = ctx;
    struct buf name = BUF_INIT(1000);
    slice path = sim_path_encode(a, call->path);
    buf_addf(&name, "%s ", w->sim->service[call->callee].name.p);
    interface_make(call->method, call->path, w->sim->rewrite, &name);
    bool broken = slice_eq(buf_slice(&name), w->broken);
    buf_deinit(&name);
    if (broken) {
        *body = node_str(a, SLICE("Injected fault\n"));
        return OUTCOME(OUT_STATUS, 503);
    }
    struct sim_request r = {.service = call->callee,
                            .method = call->method,
                            .path = {path.p, slice_find(path, '?')},
                            .payload = call->payload,
                            .seed = 1};
    outcome reply;
    struct err e = {0};
    if (sim_handle(w->sim, &small_world, w, &r, &reply, body, &e))
        fail_msg("%s", e.text);
    return reply;
}

static void world_sleep(void *ctx, int64_t ns)
{
    struct world *w = ctx;
    w->slept_ns += ns;
}

static uint32_t world_parallel(void *ctx, uint32_t n, bool first_error,
                               bool (*job)(void *arg, uint32_t i), void *arg)
{
    uint32_t failed = UINT32_MAX;
    (void)ctx;
    (void)first_error;
    for (uint32_t i = 0; i < n; i++)
        if (!job(arg, i) && failed == UINT32_MAX)
            failed = i;
    return failed;
}

static struct arena *world_arena(void *ctx)
{
    struct world *w = ctx;
    assert_true(w->n_arenas < ARENAS);
    return &w->arena[w->n_arenas++];
}

static const struct node **world_state_begin(void *ctx, uint32_t service)
{
    struct world *w = ctx;
    return w->state[service];
}

static void world_state_end(void *ctx, uint32_t service, uint32_t slot)
{
    (void)ctx;
    (void)service;
    (void)slot;
}

static const struct sim_world small_world = {world_call,  world_sleep,       world_parallel,
                                             world_arena, world_state_begin, world_state_end};

static struct world *world_new(struct sim *sim)
{
    struct world *w = mem_zero(sizeof *w);
    struct arena *a = &w->arena[w->n_arenas++];
    w->sim = sim;
    w->state = arena_zero(a, sim->n_services * sizeof *w->state);
    for (uint32_t i = 0; i < sim->n_services; i++) {
        const struct node *init = sim->service[i].state;
        w->state[i] = arena_zero(a, (init ? init->n : 0) * sizeof **w->state);
        for (uint32_t k = 0; init && k < init->n; k++)
            w->state[i][k] = init->map[k].value;
    }
    return w;
}

static void world_free(struct world *w)
{
    for (uint32_t i = 0; i < w->n_arenas; i++)
        arena_deinit(&w->arena[i]);
    mem_free(w);
}

/* {service: {name: value}} */
static const struct node *state_node(const struct sim *sim, const struct node ***state,
                                     struct arena *a)
{
    struct node *all = node_map(a, sim->n_services);
    for (uint32_t i = 0; i < sim->n_services; i++) {
        const struct node *init = sim->service[i].state;
        uint32_t n = init ? init->n : 0;
        struct node *one = node_map(a, n);
        for (uint32_t k = 0; k < n; k++)
            one->map[k] = (struct node_pair){.key = init->map[k].key, .value = state[i][k]};
        all->map[i] = (struct node_pair){.key = sim->service[i].name, .value = one};
    }
    return all;
}

/* The scenario's request, made in the small world. */
static outcome request(struct world *w, const struct node **body)
{
    struct arena *a = world_arena(w);
    struct sim_call call = {.payload = &node_null};
    slice payload;
    sim_request_parts(w->sim, 0, a, &call.callee, &call.method, &call.path, &payload);
    const struct sim_scenario *sc = &w->sim->scenario[0];
    struct env env = {.sim = w->sim, .arena = a};
    if (sc->payload)
        call.payload = expr_eval(sc->payload, &env);
    assert_int_equal(payload.n == 0, call.payload->type == NODE_NULL);
    return world_call(w, &call, a, body);
}

static void compare(struct lab *lab, slice broken, const char *what)
{
    const struct node *in_memory, *outside;
    struct err e = {0};
    if (sim_run(lab->sim, 0, &lab->aim, 1, &lab->trace, &lab->verdict, &in_memory, &e))
        fail_msg("%s", e.text);
    struct world *w = world_new(lab->sim);
    w->broken = broken;
    outcome reply = request(w, &outside);
    if (reply != lab->verdict.status || !node_eq(in_memory, outside))
        fail_msg("%s, %.*s: %u instead of %u", what, SLICE_ARG(broken), (unsigned)reply,
                 (unsigned)lab->verdict.status);
    struct verdict again;
    sim_judge(lab->sim, 0, reply, outside, &lab->trace,
              state_node(lab->sim, w->state, &w->arena[0]), &again);
    assert_int_equal(again.pass, lab->verdict.pass);
    assert_string_equal(again.why, lab->verdict.why);
    world_free(w);
}

/* Without a fault, and with each service that was called broken for good. */
static uint32_t compare_all(struct lab *lab, const char *what)
{
    struct trace first = {0};
    uint32_t n = 1;
    compare(lab, SLICE(""), what);
    first = lab->trace;
    lab->trace = (struct trace){0};
    for (uint32_t i = 1; i < first.calls.n; i++, n++) {
        const struct element *el = uid_element(&lab->names, first.calls.at[i].uid);
        struct buf name = BUF_INIT(1000), fault = BUF_INIT(1000);
        struct err e = {0};
        struct aim none = lab->aim;
        buf_addf(&name, "%.*s %.*s", SLICE_ARG(names_text(&lab->names, el->service)),
                 SLICE_ARG(names_text(&lab->names, el->interface)));
        buf_addf(&fault, "%s #* : 503", buf_text(&name));
        lab->aim = (struct aim){0};
        if (aim_add(&lab->aim, ANY_VOCABULARY(&lab->names), UID_NONE, buf_slice(&fault), &e))
            fail_msg("%s", e.text);
        compare(lab, buf_slice(&name), what);
        aim_deinit(&lab->aim);
        lab->aim = none;
        buf_deinit(&name);
        buf_deinit(&fault);
    }
    vec_deinit(&first.calls);
    return n;
}

static void test_random_systems(void **state)
{
    uint32_t n = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= SYSTEMS; seed++) {
        struct arena a = {0};
        struct lab lab;
        struct err e = {0};
        char what[32];
        snprintf(what, sizeof what, "seed %u", (unsigned)seed);
        if (lab_init(&lab, random_system(seed, &a), &e))
            fail_msg("%s", e.text);
        n += compare_all(&lab, what);
        lab_deinit(&lab);
        arena_deinit(&a);
    }
    assert_true(n > SYSTEMS * 2);
}

static void test_examples(void **state)
{
    static const char *const files[] = {"shop/shop",       "shop/shop-fixed", "corpus/mailchimp",
                                        "corpus/expedia",  "corpus/netflix",  "corpus/audible",
                                        "corpus/cinema-3", "corpus/cinema-6"};
    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct lab lab;
        struct err e = {0};
        struct buf path = BUF_INIT(4096);
        buf_addf(&path, "%s/examples/%s.yaml", getenv("TOP") ? getenv("TOP") : ".", files[i]);
        if (lab_init_file(&lab, buf_text(&path), &e))
            fail_msg("%s", e.text);
        compare_all(&lab, files[i]);
        lab_deinit(&lab);
        buf_deinit(&path);
    }
}

static const char system_text[] =
    "system: small\n"
    "services:\n"
    "  a:\n"
    "    state: { n: 0 }\n"
    "    GET /static: [ { call: b GET /x } ]\n"
    "    GET /url: [ { call: 'GET {url:c}/y' } ]\n"
    "    GET /deep:\n"
    "      - if: state.n == 1\n"
    "        then: [ { each: '{payload}', as: i, do: [ { parallel: [ { call: d m.D/Do } ] } ] } ]\n"
    "  b: { GET /x: { sleep: 3s }, latency: 2s }\n"
    "  c: { GET /y: [ { call: 'GET {payload/url}' } ] }\n"
    "  d:\n"
    "    m.D/Do:\n"
    "    GET /z/{p}: { reply: 200, body: '{p}' }\n"
    "  e: { GET /any: [ { call: '{payload} GET /x' } ] }\n"
    "  out: { external: 404, latency: 1s }\n"
    "scenarios:\n"
    "  plain: { request: 'd GET /z/a b%?q=1', payload: { x: [1] } }\n"
    "  grpc:\n"
    "    request: d m.D/Do\n"
    "    expect: [ { when: faults.b == 1 and faults == 2, then: a.state.n == 2 and body/x == 1, "
    "say: broken } ]\n";

static void load(struct lab *lab)
{
    struct err e = {0};
    if (lab_init_text(lab, system_text, &e))
        fail_msg("%u:%u: %s", (unsigned)e.line, (unsigned)e.col, e.text);
}

static void test_services(void **state)
{
    static const char *const names[] = {"a", "b", "c", "d", "e", "out"};
    /* who may call whom: a row is a caller */
    static const char *const may[] = {".XXX..", "......", "XXXXXX", "......", "XXXXXX", "......"};
    struct lab lab;
    (void)state;
    load(&lab);
    assert_int_equal(lab.sim->n_services, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_string_equal(lab.sim->service[i].name.p, names[i]);
        assert_int_equal(lab.sim->service[i].external, i == 5);
        assert_int_equal(sim_service_find(lab.sim, slice_of(names[i])), i);
        for (uint32_t k = 0; k < 6; k++)
            if (sim_may_call(lab.sim, i, k) != (may[i][k] == 'X'))
                fail_msg("%s may call %s?", names[i], names[k]);
    }
    assert_int_equal(sim_service_find(lab.sim, SLICE("aa")), UINT32_MAX);
    lab_deinit(&lab);
}

static void test_parts(void **state)
{
    struct lab lab;
    uint32_t service;
    slice method, target, payload;
    (void)state;
    load(&lab);
    sim_request_parts(lab.sim, 0, &lab.arena, &service, &method, &target, &payload);
    assert_int_equal(service, 3);
    assert_true(slice_is(method, "GET"));
    assert_true(slice_is(target, "/z/a%20b%25?q=1"));
    assert_true(slice_is(payload, "{\"x\": [1]}"));
    sim_request_parts(lab.sim, 1, &lab.arena, &service, &method, &target, &payload);
    assert_int_equal(service, 3);
    assert_true(slice_is(method, "") && slice_is(target, "m.D/Do") && payload.n == 0);
    lab_deinit(&lab);
}

static uid point(struct lab *lab, const char *text)
{
    uid u;
    struct err e = {0};
    if (uid_parse(&lab->names, slice_of(text), &u, &e))
        fail_msg("%s", e.text);
    return u;
}

static void test_judge(void **state)
{
    struct lab lab;
    struct verdict v;
    struct trace trace = {0};
    (void)state;
    load(&lab);
    assert_false(sim_wants_state(lab.sim, 0));
    assert_true(sim_wants_state(lab.sim, 1));
    mode failed = mode_make(MODE_RESET, 0);
    vec_push(&trace.calls, (struct call){.uid = point(&lab, "d m.D/Do")});
    vec_push(&trace.calls,
             (struct call){.uid = point(&lab, "d m.D/Do > b GET /x"), .mode = failed});
    sim_judge(lab.sim, 1, OUTCOME_OK, NULL, &trace, NULL, &v);
    assert_true(v.pass); /* one fault: the rule does not apply */
    assert_int_equal(v.status, OUTCOME_OK);
    vec_push(&trace.calls,
             (struct call){.uid = point(&lab, "d m.D/Do > c GET /y"), .mode = failed});
    sim_judge(lab.sim, 1, OUTCOME_OK, NULL, &trace, NULL, &v);
    assert_false(v.pass);
    assert_string_equal(v.why, "broken");
    struct node *inner = node_map(&lab.arena, 1), *outer = node_map(&lab.arena, 1);
    struct node *body = node_map(&lab.arena, 1);
    inner->map[0] = (struct node_pair){.key = SLICE("n"), .value = node_num(&lab.arena, 2)};
    outer->map[0] = (struct node_pair){.key = SLICE("a"), .value = inner};
    body->map[0] = (struct node_pair){.key = SLICE("x"), .value = node_num(&lab.arena, 1)};
    sim_judge(lab.sim, 1, OUTCOME_OK, body, &trace, outer, &v);
    assert_true(v.pass);
    sim_judge(lab.sim, 1, OUTCOME_OK, body, &trace, &node_null, &v);
    assert_false(v.pass);
    vec_deinit(&trace.calls);
    lab_deinit(&lab);
}

/* Latency that the file gives, sleep, and who answers what. */
static void test_requests(void **state)
{
    static const struct {
        uint32_t service;
        const char *method, *path;
        uint32_t status;
        int64_t slept_s;
        const char *body;
    } rows[] = {
        {1, "GET", "/x", 200, 5, "null"},
        {1, "GET", "/none", 404, 2, "null"},
        {3, "GET", "/z/a%20%zz%2", 200, 0, "\"a %zz%2\""},
        {3, "GET", "/z/a%2Fb", 200, 0, "\"a/b\""},
        {3, "POST", "/z/a", 404, 0, "null"},
        {3, "", "m.D/Do", 200, 0, "null"},
        {3, "", "m.D/Do/", 404, 0, "null"},
        {0, "GET", "", 404, 0, "null"},
    };
    struct lab lab;
    (void)state;
    load(&lab);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world *w = world_new(lab.sim);
        struct sim_request r = {.service = rows[i].service,
                                .method = slice_of(rows[i].method),
                                .path = slice_of(rows[i].path),
                                .payload = &node_null};
        struct buf text = BUF_INIT(1000);
        const struct node *body;
        outcome reply;
        struct err e = {0};
        assert_int_equal(sim_handle(lab.sim, &small_world, w, &r, &reply, &body, &e), 0);
        node_print(body, &text);
        assert_int_equal(reply, OUTCOME(OUT_STATUS, rows[i].status));
        assert_int_equal(w->slept_ns, rows[i].slept_s * 1000000000);
        assert_string_equal(buf_text(&text), rows[i].body);
        buf_deinit(&text);
        world_free(w);
    }
    lab_deinit(&lab);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_systems), cmocka_unit_test(test_examples),
        cmocka_unit_test(test_services),       cmocka_unit_test(test_parts),
        cmocka_unit_test(test_judge),          cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
