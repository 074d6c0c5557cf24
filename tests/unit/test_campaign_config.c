/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of a campaign: what is read, what is refused and where, ${ENV}, placeholders.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/config.h"
#include "config/placeholder.h"
#include "data/json.h"
#include "data/node.h"
#include "search/search.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define SECOND        INT64_C(1000000000)

static struct campaign_config *parsed(const char *text)
{
    struct campaign_config *c;
    struct err e = {0};
    if (campaign_config_parse(slice_of(text), "conf/outfox.yaml", &c, &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
    assert_string_equal(e.text, "");
    return c;
}

/* A service and a scenario, so that the rest of a file can be looked at alone. */
#define BASE                                                                                       \
    "version: 1\n"                                                                                 \
    "services: { a: { run: x } }\n"                                                                \
    "scenarios: { s: { request: a GET / } }\n"

static void is_text(slice got, const char *wanted)
{
    assert_int_equal(got.p[got.n], 0);
    assert_string_equal(got.p, wanted);
}

/* ---- all keys ---- */

static const char whole[] =
    "version: 1\n"
    "name: cinema\n"
    "services:\n"
    "  users:\n"
    "    port: 5000\n"
    "    host: '::1'\n"
    "    run: python3 users.py --port {port} --at {host} {\"a\":{\"b\":1}}\n"
    "    dir: services/users\n"
    "    env: { BOOKINGS: '{url:bookings}', LEVEL: 3, GRPC: '{address:payments}', EMPTY: '' }\n"
    "    ready: GET /health?deep=1\n"
    "    ready-within: 1m\n"
    "    stop-within: 0s\n"
    "    listen: 127.0.0.1:0\n"
    "  bookings: { run: ./bookings, ready: none, tls: on, insecure: true }\n"
    "  payments: { address: 'payments.test:443', tls: true, ca: /etc/ca.pem }\n"
    "  cache: { address: 'unix:/run/cache', ready: tcp }\n"
    "scenarios:\n"
    "  by-url:\n"
    "    request: POST {url:users}/users?x=1\n"
    "    headers: { X-One: 1, accept: text/html }\n"
    "    body: { id: 7, tags: [a, true, null] }\n"
    "    before: ./reset {port:users}\n"
    "    after: ./clean\n"
    "    env: { AT: '{host:users}' }\n"
    "    dir: /tmp\n"
    "    timeout: 5s\n"
    "    limit: 700ms\n"
    "    expect:\n"
    "      status: [200, 3xx, 'grpc:0']\n"
    "      json: { /a~1b/0: Creed, /n: 1, '': { x: [] } }\n"
    "      headers: { content-type: application/json }\n"
    "      body: ''\n"
    "      contains: ok\n"
    "      within: 300ms\n"
    "    under-faults: { status: 503 }\n"
    "  by-name: { request: users GET /, body: plain text }\n"
    "  root: { request: 'GET {url:bookings}' }\n"
    "  query: { request: 'GET {url:bookings}?a=b', headers: { Content-Type: text/x }, body: [1] }\n"
    "  grpc: { request: payments shop.Pay/Charge }\n"
    "  command: { command: 'pytest -q', expect: { exit: 3, contains: passed } }\n"
    "modes: [503, reset, 'grpc:14', 'delay:2s']\n"
    "ignore: ['* GET /health', 'users *', 'payments grpc.health.v1.Health/*', 'cache * /x*']\n"
    "judge:\n"
    "  oracles: { leak: off }\n"
    "  effects: [ '${EFFECT:-users POST /x}: 1' ]\n"
    "search:\n"
    "  assume: [modes, retries]\n"
    "  max-faults: 3\n"
    "  t-way: 2\n"
    "  audit: 2.5\n"
    "  order: random\n"
    "  seed: 9\n"
    "  max-runs: 1000\n"
    "  budget: 10m\n"
    "  jobs: 4\n"
    "  baselines: 5\n"
    "  check-every: 0\n"
    "identify:\n"
    "  level: trace\n"
    "  payload: on\n"
    "  predecessors: true\n"
    "  normalise: ['/orders/[^/]+ -> /orders/[order]']\n"
    "  headers: [x-correlation-id]\n"
    "quiet: 20ms\n"
    "settle: 2s\n"
    "store: state/c.db\n"
    "logs: /var/log/x\n"
    "fault-header: off\n";

static void check_services(const struct campaign_config *c)
{
    assert_int_equal(c->services.n, 4);
    const struct service_spec *users = &c->services.at[0], *bookings = &c->services.at[1];
    is_text(users->name, "users");
    assert_int_equal(users->port, 5000);
    is_text(users->host, "::1");
    is_text(users->run, "python3 users.py --port {port} --at {host} {\"a\":{\"b\":1}}");
    is_text(users->dir, "conf/services/users");
    is_text(users->listen, "127.0.0.1:0");
    assert_int_equal(users->env.n, 4);
    is_text(users->env.at[0].name, "BOOKINGS");
    is_text(users->env.at[0].value, "{url:bookings}");
    is_text(users->env.at[1].value, "3");
    is_text(users->env.at[3].value, "");
    assert_int_equal(users->ready, READY_HTTP);
    is_text(users->ready_method, "GET");
    is_text(users->ready_target, "/health?deep=1");
    assert_int_equal(users->ready_ns, 60 * SECOND);
    assert_int_equal(users->stop_ns, 0);
    assert_int_equal(users->line, 4);
    assert_int_equal(users->col, 3);
    assert_int_equal(bookings->port, 0);
    is_text(bookings->host, "127.0.0.1");
    is_text(bookings->dir, "conf");
    is_text(bookings->address, "");
    is_text(bookings->listen, "");
    assert_int_equal(bookings->ready, READY_NONE);
    assert_int_equal(bookings->ready_ns, 30 * SECOND);
    assert_int_equal(bookings->stop_ns, 3 * SECOND);
    assert_true(bookings->tls && bookings->insecure);
    is_text(c->services.at[2].address, "payments.test:443");
    is_text(c->services.at[2].ca, "/etc/ca.pem");
    assert_true(c->services.at[2].tls && !c->services.at[2].insecure);
    is_text(c->services.at[3].address, "unix:/run/cache");
    assert_int_equal(c->services.at[3].ready, READY_TCP);
}

static void check_expect(const struct expect_spec *x)
{
    assert_true(x->given && x->has_body);
    assert_int_equal(x->status.n, 3);
    assert_true(x->status.at[0].low == 200 && x->status.at[0].high == 200);
    assert_true(x->status.at[1].low == 300 && x->status.at[1].high == 399);
    assert_true(x->status.at[2].grpc && x->status.at[2].low == 0 && x->status.at[2].high == 0);
    assert_int_equal(x->json.n, 3);
    is_text(x->json.at[0].pointer, "/a~1b/0");
    is_text(x->json.at[0].value->text, "Creed");
    assert_int_equal(x->json.at[0].line, 30);
    assert_int_equal(x->json.at[1].value->type, NODE_NUM);
    is_text(x->json.at[2].pointer, "");
    assert_int_equal(x->headers.n, 1);
    is_text(x->headers.at[0].value, "application/json");
    is_text(x->body, "");
    is_text(x->contains, "ok");
    assert_int_equal(x->within_ns, 300 * SECOND / 1000);
}

static void check_scenarios(const struct campaign_config *c)
{
    assert_int_equal(c->scenarios.n, 6);
    const struct scenario_spec *s = &c->scenarios.at[0];
    is_text(s->name, "by-url");
    assert_false(s->is_command);
    assert_int_equal(s->service, 0);
    is_text(s->method, "POST");
    is_text(s->target, "/users?x=1");
    assert_int_equal(s->headers.n, 2);
    is_text(s->headers.at[0].name, "X-One");
    is_text(s->body, "{\"id\": 7, \"tags\": [\"a\", true, null]}");
    is_text(s->content_type, "application/json");
    is_text(s->before, "./reset {port:users}");
    is_text(s->after, "./clean");
    is_text(s->dir, "/tmp");
    assert_int_equal(s->timeout_ns, 5 * SECOND);
    check_expect(&s->expect);
    assert_true(s->under_faults.given && s->under_faults.status.at[0].low == 503);
    is_text(c->scenarios.at[1].target, "/");
    is_text(c->scenarios.at[1].body, "plain text");
    is_text(c->scenarios.at[1].content_type, "");
    assert_false(c->scenarios.at[1].expect.given);
    assert_int_equal(c->scenarios.at[1].timeout_ns, 30 * SECOND);
    assert_int_equal(c->scenarios.at[2].service, 1);
    is_text(c->scenarios.at[2].target, "/");
    is_text(c->scenarios.at[3].target, "/?a=b");
    is_text(c->scenarios.at[3].content_type, "");
    assert_int_equal(c->scenarios.at[4].service, 2);
    is_text(c->scenarios.at[4].method, "");
    is_text(c->scenarios.at[4].target, "shop.Pay/Charge");
    assert_true(c->scenarios.at[5].is_command);
    is_text(c->scenarios.at[5].command, "pytest -q");
    is_text(c->scenarios.at[5].dir, "conf");
    assert_int_equal(c->scenarios.at[5].timeout_ns, 120 * SECOND);
    assert_int_equal(c->scenarios.at[5].expect.exit, 3);
}

static void test_whole(void **state)
{
    struct campaign_config *c = parsed(whole);
    struct buf modes = BUF_INIT(200);
    (void)state;
    is_text(c->name, "cinema");
    is_text(c->dir, "conf");
    check_services(c);
    check_scenarios(c);
    for (uint32_t i = 0; i < c->modes.n; i++) {
        mode_print(c->modes.at[i], &modes);
        buf_addc(&modes, ' ');
    }
    assert_string_equal(buf_text(&modes), "503 reset grpc:14 delay:2s ");
    buf_deinit(&modes);
    assert_int_equal(c->ignore.n, 4);
    is_text(node_at(c->judge, SLICE("effects/0"))->text, "users POST /x: 1");
    assert_int_equal(c->scenarios.at[0].limit_ns, 700 * SECOND / 1000);
    assert_int_equal(c->scenarios.at[1].limit_ns, 0);
    assert_int_equal(c->search.options.assume, 1u << REDUCE_MODES | 1u << REDUCE_RETRIES);
    assert_int_equal(c->search.options.max_faults, 3);
    assert_int_equal(c->search.options.t_way, 2);
    assert_true(c->search.options.audit > 2.4 && c->search.options.audit < 2.6);
    assert_int_equal(c->search.options.order, order_find(SLICE("random")));
    assert_int_equal(c->search.options.seed, 9);
    assert_int_equal(c->search.max_runs, 1000);
    assert_int_equal(c->search.budget_ns, 600 * SECOND);
    assert_int_equal(c->search.jobs, 4);
    assert_int_equal(c->search.options.baselines, 5);
    assert_int_equal(c->search.check_every, 0);
    assert_int_equal(c->identify.level, IDENTIFY_TRACE);
    assert_int_equal(c->identify.payload, PAYLOAD_ON);
    assert_true(c->identify.predecessors);
    is_text(c->identify.normalise.at[0], "/orders/[^/]+ -> /orders/[order]");
    is_text(c->identify.headers.at[0], "x-correlation-id");
    assert_int_equal(c->quiet_ns, SECOND / 50);
    assert_int_equal(c->settle_ns, 2 * SECOND);
    is_text(c->store, "conf/state/c.db");
    is_text(c->logs, "/var/log/x");
    assert_false(c->fault_header);
    assert_int_equal(config_service(c, SLICE("cache")), 3);
    assert_int_equal(config_service(c, SLICE("cach")), UINT32_MAX);
    assert_int_equal(config_scenario(c, SLICE("grpc")), 4);
    assert_int_equal(config_scenario(c, SLICE("")), UINT32_MAX);
    campaign_config_free(c);
}

static void test_defaults(void **state)
{
    struct campaign_config *c = parsed(BASE);
    (void)state;
    assert_int_equal(c->modes.n, 7);
    assert_false(c->modes_given);
    assert_int_equal(c->propagate.n, 3);
    assert_int_equal(c->search.options.assume, 0);
    assert_int_equal(c->search.options.order, order_find(SLICE("soon")));
    assert_int_equal(c->search.jobs, 1);
    assert_int_equal(c->search.options.baselines, 3);
    assert_int_equal(c->search.check_every, 100);
    assert_int_equal(c->identify.level, IDENTIFY_AUTO);
    assert_int_equal(c->identify.payload, PAYLOAD_AUTO);
    assert_int_equal(c->quiet_ns, -1);
    assert_int_equal(c->settle_ns, 5 * SECOND);
    is_text(c->store, "conf/.outfox/campaign.db");
    is_text(c->logs, "conf/.outfox/logs");
    is_text(c->simulate, "");
    assert_true(c->fault_header);
    assert_null(c->judge);
    campaign_config_free(c);
}

/* ---- variables for all ---- */

static const char *variable(const struct text_pairs *env, const char *name)
{
    const char *value = NULL;
    for (uint32_t i = 0; i < env->n; i++)
        if (slice_is(env->at[i].name, name)) {
            assert_null(value); /* nothing is there twice */
            value = env->at[i].value.p;
        }
    return value;
}

static void test_env_for_all(void **state)
{
    struct campaign_config *c = parsed("version: 1\n"
                                       "env: { LEVEL: debug, PORT: '{port}', A: '{url:a}' }\n"
                                       "services:\n"
                                       "  a: { run: x, env: { LEVEL: info, OWN: 1 } }\n"
                                       "  b: { run: x }\n"
                                       "  c: { address: 9000 }\n"
                                       "scenarios:\n"
                                       "  t: { command: x, env: { A: mine } }\n"
                                       "  r: { request: a GET /, before: x }\n");
    const struct text_pairs *a = &c->services.at[0].env, *b = &c->services.at[1].env;
    const struct text_pairs *t = &c->scenarios.at[0].env, *r = &c->scenarios.at[1].env;
    (void)state;
    assert_int_equal(a->n, 4);
    assert_string_equal(variable(a, "LEVEL"), "info"); /* its own wins */
    assert_string_equal(variable(a, "PORT"), "{port}");
    assert_string_equal(variable(b, "LEVEL"), "debug");
    assert_string_equal(variable(b, "A"), "{url:a}");
    assert_int_equal(c->services.at[2].env.n, 0); /* it is not started */
    assert_string_equal(variable(t, "A"), "mine");
    assert_string_equal(variable(t, "LEVEL"), "debug");
    assert_null(variable(t, "PORT")); /* a command listens nowhere */
    assert_string_equal(variable(r, "A"), "{url:a}");
    campaign_config_free(c);
}

/* ---- what is refused ---- */

static const struct refusal {
    const char *text;
    uint32_t line, col;
    const char *says; /* part of the message */
} refusals[] = {
    {"", 0, 0, "must be a map with the keys"},
    {"- 1", 1, 1, "not a list"},
    {"version: 2", 1, 10, "must be 1"},
    {"version: [1]", 1, 10, "must be 1"},
    {"services: { a: { run: x } }", 1, 1, "\"version: 1\" is missing"},
    {"version: 1", 1, 1, "\"services\" is missing"},
    {"version: 1\nservices: { a: { run: x } }", 1, 1, "\"scenarios\" is missing"},
    {BASE "simulate: x.yaml", 4, 11, "remove one"},
    {BASE "serch: {}", 4, 1,
     "unknown key \"serch\" in the configuration; did you mean \"search\"?"},
    {BASE "zzzzzz: {}", 4, 1, "unknown key \"zzzzzz\" in the configuration"},
    {BASE "name: a\nname: b", 5, 1, "given twice"},
    {BASE "env: { A: '{url:b}' }", 4, 11, "unknown service \"b\""},
    {BASE "env: { A: '{url}' }", 4, 11, "of which service?"},
    {BASE "env: [A]", 4, 6, "must be a map"},
    {BASE "name: [a]", 4, 7, "must be a value, not a list"},
    {BASE "name: ''", 4, 7, "is empty"},
    {BASE "name: \"a\\nb\"", 4, 7, "one line"},
    {BASE "store:", 4, 7, "must be a value, not nothing"},
    {BASE "fault-header: yes", 4, 15, "true or false, not \"yes\""},
    {BASE "settle: 5", 4, 9, "must be a duration such as"},
    {BASE "settle: 0s", 4, 9, "greater than 0"},
    {BASE "settle: 9999h", 4, 9, "at most 1000h"},
    {BASE "quiet: soon", 4, 8, "must be a duration"},
    {BASE "modes: { a: b }", 4, 8, "must be a list"},
    {BASE "modes: [error]", 4, 9, "did you mean \"errors\"?"},
    {BASE "modes: [errors, 500, reset, 500]", 4, 29, "\"500\" is listed twice"},
    {BASE "modes: []", 4, 8, "1 to 64"},
    {BASE "modes: [503, '503']", 4, 14, "\"503\" is listed twice"},
    {BASE "modes: [rest]", 4, 9, "reset"},
    {BASE "modes: [[503]]", 4, 9, "must be a value"},
    {BASE "ignore: ['* GET /x', 'b GET /x']", 4, 22, "unknown service \"b\""},
    {BASE "ignore: ['GET /x']", 4, 10, "unknown service \"GET\"; known services: a"},
    {BASE "ignore: ['a > a GET /x']", 4, 10, "SERVICE METHOD /path"},
    {BASE "ignore: ['a GET /x : 503']", 4, 10, "SERVICE METHOD /path"},
    {BASE "judge: { reads: ['b POST /x'] }", 4, 18, "unknown service \"b\"; known services: a"},
    {BASE "judge: { undo: { a POST /x: aa POST /y } }", 4, 29,
     "unknown service \"aa\"; known services: a"},
    {BASE "ignore: ['*']", 4, 10, "SERVICE METHOD /path"},
    {BASE "ignore: ['a GET x']", 4, 10, "unexpected \"x\""},
    {BASE "ignore: ['a GET /x y']", 4, 10, "unexpected \"y\""},
    {BASE "search: { assume: [mode] }", 4, 20, "not \"mode\"; did you mean \"modes\"?"},
    {BASE "search: { assume: modes }", 4, 19, "must be a list"},
    {BASE "search: { assume: [max-faults] }", 4, 20,
     "must be stateless, modes, modes-once or retries"},
    {BASE "search: { order: sized }", 4, 18, "did you mean \"size\"?"},
    {BASE "search: { t-way: 5 }", 4, 18, "from 2 to 4, not \"5\""},
    {BASE "search: { max-faults: 0 }", 4, 23, "from 1 to"},
    {BASE "search: { jobs: 1.5 }", 4, 17, "whole number"},
    {BASE "search: { jobs: -1 }", 4, 17, "whole number"},
    {BASE "search: { audit: 101 }", 4, 18, "from 0 to 100"},
    {BASE "search: { audit: few }", 4, 18, "from 0 to 100"},
    {BASE "search: { audit: '' }", 4, 18, "from 0 to 100"},
    {BASE "search: { budget: 0m }", 4, 19, "greater than 0"},
    {BASE "search: { max-fault: 1 }", 4, 11, "did you mean \"max-faults\"?"},
    {BASE "search: []", 4, 9, "must be a map"},
    {BASE "identify: { level: some }", 4, 20, "must be auto, state, trace or none"},
    {BASE "identify: { payload: maybe }", 4, 22, "must be auto, on or off"},
    {BASE "identify: { normalise: ['/a'] }", 4, 25, "->"},
    {BASE "identify: { normalise: ['/( -> x'] }", 4, 25, "/("},
    {BASE "identify: { headers: ['x y'] }", 4, 23, "not a valid header name"},
    {BASE "judge: []", 4, 8, "must be a map"},
    {BASE "judge: { efects: [] }", 4, 10,
     "unknown key \"efects\" in judge; did you mean \"effects\"?"},
    {BASE "judge: { oracles: { leek: off } }", 4, 21, "did you mean \"leak\"?"},
    {BASE "judge: { effects: [ 'a POST /: twice' ] }", 4, 21, "not \"twice\""},
};

/* A service in the place of `a`. */
#define SERVICE(text)                                                                              \
    "version: 1\nservices:\n  a: { run: x }\n  b: " text                                           \
    "\nscenarios: { s: { request: a GET / } }\n"

static const struct refusal service_refusals[] = {
    {"version: 1\nservices:\n  a: { run: x, ready: GTE / }", 3, 23, "did you mean \"GET\"?"},
    {"version: 1\nservices:\n  a: { run: x, listen: 7000 }\n  b: { run: x, listen: "
     "127.0.0.1:7000 }\nscenarios: { s: { request: a GET / } }",
     4, 3, "\"a\" and \"b\" have the same `listen` port 7000"},
    {"version: 1\nservices:\n  a: { run: x, listen: 7000 }\n  b: { run: x, listen: ':7000' }\n"
     "scenarios: { s: { request: a GET / } }",
     4, 3, "the same `listen`"},
    {"version: 1\nservices:\n  a: { address: 7000, listen: 7000 }\n"
     "scenarios: { s: { request: a GET / } }",
     3, 3, "is where \"a\" itself listens, port 7000"},
    {"version: 1\nservices:\n  a: { run: x, port: 7000 }\n  b: { run: x, listen: 7000 }\n"
     "scenarios: { s: { request: a GET / } }",
     4, 3, "`listen` of \"b\" is where \"a\" itself listens"},
    {"version: 1\nservices:\n\ta: { run: x }", 3, 1, "begins with a tab; indent with spaces"},
    {"version: 1\nservices: { a: { run: x {port} } }", 2, 25, "in quotes"},
    {SERVICE("run"), 4, 6,
     "a service must be a map with the keys port, host, address ..., not text"},
    {SERVICE("{}"), 4, 3, "\"b\" needs \"run\""},
    {SERVICE("{ port: 1 }"), 4, 8, "\"port\" cannot be used without \"run\""},
    {SERVICE("{ run: x, address: 'h:1' }"), 4, 16, "cannot be used with \"run\""},
    {SERVICE("{ address: 'h:1', port: 1 }"), 4, 8, "cannot be used with \"port\""},
    {SERVICE("{ address: 'h:1', env: { A: 1 } }"), 4, 24, "cannot be used without \"run\""},
    {SERVICE("{ run: x, ca: f }"), 4, 16, "cannot be used without \"tls\""},
    {SERVICE("{ run: x, port: 65536 }"), 4, 22, "from 0 to 65535"},
    {SERVICE("{ run: x, port: http }"), 4, 22, "whole number"},
    {SERVICE("{ run: x, host: 'a:1' }"), 4, 22, "a host name or an IP address"},
    {SERVICE("{ run: '' }"), 4, 13, "is empty"},
    {SERVICE("{ run: [a, b] }"), 4, 13, "must be a value, not a list"},
    {SERVICE("{ address: 'http://h:1/path' }"), 4, 17, "without a path"},
    {SERVICE("{ address: 'https://' }"), 4, 17, "https://HOST"},
    {SERVICE("{ address: 'h:1', listen: 'http://h:1' }"), 4, 32, "without http://"},
    {SERVICE("{ address: 'http://h:1', ca: f }"), 4, 31, "cannot be used without \"tls\""},
    {SERVICE("{ address: 'h:1', host-header: 'a/b' }"), 4, 37, "keep, NAME or NAME:PORT"},
    {SERVICE("{ address: 'h:0' }"), 4, 17, "HOST:PORT"},
    {SERVICE("{ address: 'h' }"), 4, 17, "HOST:PORT"},
    {SERVICE("{ address: 'h:70000' }"), 4, 17, "HOST:PORT"},
    {SERVICE("{ address: '[::1:80' }"), 4, 17, "HOST:PORT"},
    {SERVICE("{ address: 'unix:' }"), 4, 17, "unix:PATH"},
    {SERVICE("{ run: x, ready: http }"), 4, 23, "tcp, none or METHOD /path"},
    {SERVICE("{ run: x, ready: GET health }"), 4, 23, "tcp, none or METHOD /path"},
    {SERVICE("{ run: x, ready: GET /a b }"), 4, 23, "tcp, none or METHOD /path"},
    {SERVICE("{ run: x, env: { A: [1] } }"), 4, 26, "must be a value"},
    {SERVICE("{ run: x, env: { A=B: 1 } }"), 4, 23, "not a valid name of an environment variable"},
    {SERVICE("{ run: x, env: { A: } }"), 4, 26, "must be a value, not nothing"},
    {SERVICE("{ run: 'x {url:c}' }"), 4, 13, "unknown service \"c\""},
    {SERVICE("{ run: 'x {urll:a}' }"), 4, 13,
     "did you mean {url:a}? (write {{urll:a}} for the literal text)"},
    {SERVICE("{ run: 'x {url}' }"), 4, 13, "of which service? Write {url:NAME}"},
    {SERVICE("{ run: x, env: { A: '{port:c}' } }"), 4, 26, "unknown service \"c\""},
    {SERVICE("{ run: x, prot: 1 }"), 4, 16, "in a service; did you mean \"port\"?"},
    {"version: 1\nservices: { 'a b': { run: x } }\nscenarios: { s: { command: x } }", 2, 13,
     "letters, digits"},
    {"version: 1\nservices: {}\n", 2, 11, "1 to 500 entries"},
    {"version: 1\nservices: { a: { run: x, port: 1 }, b: { run: y, port: 1 } }\n"
     "scenarios: { s: { command: x } }",
     2, 37, "have the same port 1"},
    {"version: 1\nsimulate: { propagate: [a] }", 2, 11, "\"file\" is missing from simulate"},
    {"version: 1\nsimulate: ''", 2, 11, "is empty"},
    {"version: 1\nsimulate: { file: x, propagate: ['a b'] }", 2, 34, "not a valid header name"},
};

#define SCENARIO(text) "version: 1\nservices: { a: { run: x } }\nscenarios:\n  s: " text "\n"

static const struct refusal scenario_refusals[] = {
    {SCENARIO("{}"), 4, 3, "needs \"request\" or \"command\""},
    {SCENARIO("{ request: a GET /, command: x }"), 4, 3, "remove one"},
    {SCENARIO("{ request: GET / }"), 4, 17, "SERVICE METHOD /path"},
    {SCENARIO("{ request: /x }"), 4, 17, "SERVICE METHOD /path"},
    {SCENARIO("{ request: 'a GET / x' }"), 4, 17, "SERVICE METHOD /path"},
    {SCENARIO("{ request: 'GET http://h/x' }"), 4, 17, "write GET {url:a}/x"},
    {SCENARIO("{ request: 'GET https://h:443' }"), 4, 17, "write GET {url:a}"},
    {SCENARIO("{ request: a GTE / }"), 4, 17, "did you mean \"GET\"?"},
    {SCENARIO("{ request: a get / }"), 4, 17, "did you mean \"GET\"?"},
    {SCENARIO("{ request: 'PST {url:a}/' }"), 4, 17, "did you mean \"POST\"?"},
    {SCENARIO("{ request: 'GET {url:b}/x' }"), 4, 17, "unknown service \"b\""},
    {SCENARIO("{ request: 'GET {url:a}x' }"), 4, 17, "METHOD {url:SERVICE}/path"},
    {SCENARIO("{ request: 'GET {port:a}/x' }"), 4, 17, "METHOD {url:SERVICE}/path"},
    {SCENARIO("{ request: b GET / }"), 4, 17, "unknown service \"b\""},
    {SCENARIO("{ request: 'a GET x' }"), 4, 17, "the path of \"request\" must start with /"},
    {SCENARIO("{ request: 'a GET /\xc3\xa4' }"), 4, 17, "the path of \"request\""},
    {SCENARIO("{ request: 'a G:T /' }"), 4, 17, "SERVICE METHOD /path"},
    {SCENARIO("{ request: 'a Pay' }"), 4, 17, "package.Service/Method"},
    {SCENARIO("{ request: 'a Pay/' }"), 4, 17, "package.Service/Method"},
    {SCENARIO("{ request: 'a p/q/r' }"), 4, 17, "package.Service/Method"},
    {SCENARIO("{ request: [a] }"), 4, 17, "must be a value"},
    {SCENARIO("{ request: a GET /, body: }"), 4, 32, "must be a value, not nothing"},
    {SCENARIO("{ request: a GET /, headers: { 'a b': 1 } }"), 4, 37, "not a valid header name"},
    {SCENARIO("{ request: a GET /, headers: { A: \"x\\r\\ny\" } }"), 4, 40, "one line"},
    {SCENARIO("{ request: a GET /, headers: { Content-Length: 1 } }"), 4, 37, "remove it"},
    {SCENARIO("{ request: a GET /, timeout: 0s }"), 4, 35, "greater than 0"},
    {SCENARIO("{ command: x, body: y }"), 4, 20, "\"body\" applies to a scenario with \"request\""},
    {SCENARIO("{ command: 'x {port}' }"), 4, 17, "of which service? Write {port:NAME}"},
    {SCENARIO("{ command: x, before: '{url:b}' }"), 4, 28, "unknown service \"b\""},
    {SCENARIO("{ command: x, env: { A: '{url:b}' } }"), 4, 30, "unknown service \"b\""},
    {SCENARIO("{ command: x, expect: { status: 200 } }"), 4, 30, "with \"request\""},
    {SCENARIO("{ request: a GET /, expect: { exit: 0 } }"), 4, 36, "with \"command\""},
    {SCENARIO("{ request: a GET /, under-faults: { exit: 0 } }"), 4, 42, "with \"command\""},
    {SCENARIO("{ request: a GET /, expect: 200 }"), 4, 34, "must be a map"},
    {SCENARIO("{ request: a GET /, expect: { status: 99 } }"), 4, 44, "a status such as 200"},
    {SCENARIO("{ request: a GET /, expect: { status: 6xx } }"), 4, 44, "a status such as 200"},
    {SCENARIO("{ request: a GET /, expect: { status: [200, 'grpc:17'] } }"), 4, 50, "grpc:16"},
    {SCENARIO("{ request: a GET /, expect: { status: [] } }"), 4, 44, "1 to 100"},
    {SCENARIO("{ request: a GET /, expect: { status: 500-200 } }"), 4, 44, "400-499"},
    {SCENARIO("{ request: a GET /, expect: { where: { /a: atleast 5 } } }"), 4, 49,
     "did you mean \"at least\"?"},
    {SCENARIO("{ request: a GET /, expect: { where: { /a: 5 } } }"), 4, 49,
     "for equality use `json`"},
    {SCENARIO("{ request: a GET /, expect: { where: { /a: { b: 1 } } } }"), 4, 49,
     "a condition must be text"},
    {SCENARIO("{ request: a GET /, expect: { where: { a: present } } }"), 4, 45,
     "takes /pointer, header NAME"},
    {SCENARIO("{ request: a GET /, expect: { where: { header: present } } }"), 4, 45,
     "takes /pointer, header NAME"},
    {SCENARIO("{ request: a GET /, expect: { where: { output: empty } } }"), 4, 45, "write body"},
    {SCENARIO("{ command: x, expect: { where: { /a: empty } } }"), 4, 39, "takes output"},
    {SCENARIO("{ request: a GET /, expect: { where: { body: 'matches (' } } }"), 4, 51,
     "a ( is not closed by )"},
    {SCENARIO("{ request: a GET /, expect: { any-of: [{ status: 200 }] } }"), 4, 44,
     "2 to 20 entries"},
    {SCENARIO("{ request: a GET /, expect: { any-of: [200, 503] } }"), 4, 45,
     "a map such as { status: 503 }"},
    {SCENARIO("{ request: a GET /, expect: { any-of: [{ status: 200 }, { any-of: [] }] } }"), 4, 62,
     "cannot have its own \"any-of\""},
    {SCENARIO("{ request: a GET /, expect: { any-of: [{ status: 200 }, { exit: 1 }] } }"), 4, 64,
     "applies to a scenario with \"command\""},
    {SCENARIO("{ request: a GET /, expect: { status: 200, any-of: [{ status: 503 }, { body: x }] "
              "} }"),
     4, 68, "to all alternatives"},
    {SCENARIO("{ request: a GET /, expect: { json: { a/b: 1 } } }"), 4, 44, "not a JSON pointer"},
    {SCENARIO("{ request: a GET /, expect: { json: { /a~2: 1 } } }"), 4, 44, "not a JSON pointer"},
    {SCENARIO("{ request: a GET /, expect: { json: 1 } }"), 4, 42, "must be a map"},
    {SCENARIO("{ request: a GET /, expect: { body: { a: 1 } } }"), 4, 42, "write json:"},
    {SCENARIO("{ request: a GET /, expect: { within: 0ms } }"), 4, 44, "greater than 0"},
    {SCENARIO("{ command: x, expect: { exit: 256 } }"), 4, 36, "from 0 to 255"},
    {SCENARIO("{ request: a GET /, expects: {} }"), 4, 26, "did you mean \"expect\"?"},
    {SCENARIO("{ request: a GET /, expect: { statuss: 1 } }"), 4, 36, "in expect; did you mean"},
    {"version: 1\nservices: { a: { run: x } }\nscenarios: {}", 3, 12, "1 to 1000 entries"},
    {"version: 1\nservices: { a: { run: x } }\nscenarios: { 'x y': {} }", 3, 14, "letters, digits"},
};

static void check_refusals(const struct refusal *rows, size_t n)
{
    int wrong = 0;
    for (size_t i = 0; i < n; i++) {
        struct campaign_config *c;
        struct err e = {0};
        if (campaign_config_parse(slice_of(rows[i].text), "x.yaml", &c, &e) == 0)
            fail_msg("accepted: %s", rows[i].text);
        assert_null(c);
        assert_string_equal(e.source, "x.yaml");
        if (strstr(e.text, rows[i].says) && e.line == rows[i].line && e.col == rows[i].col)
            continue;
        print_message("%s\nsays %u:%u: %s\nnot %u:%u: %s\n", rows[i].text, e.line, e.col, e.text,
                      rows[i].line, rows[i].col, rows[i].says);
        wrong++;
    }
    assert_int_equal(wrong, 0);
}

static void test_refused(void **state)
{
    (void)state;
    check_refusals(refusals, LENGTH(refusals));
    check_refusals(service_refusals, LENGTH(service_refusals));
    check_refusals(scenario_refusals, LENGTH(scenario_refusals));
}

/* ---- the environment ---- */

static void test_environment(void **state)
{
    static const char text[] =
        "version: 1\n"
        "name: ${OUTFOX_TEST_A}-${OUTFOX_TEST_B:-two}-${OUTFOX_TEST_C:-3}\n"
        "services:\n"
        "  a: { run: 'echo $$PATH $${X} $$$$ $1 $(pwd) $', port: '${OUTFOX_TEST_P:-81}' }\n"
        "scenarios:\n"
        "  s:\n"
        "    request: a GET /\n"
        "    body: { price: '$$${OUTFOX_TEST_A}', list: [1, '${OUTFOX_TEST_A}'] }\n"
        "search: { audit: '${OUTFOX_TEST_P:-5}' }\n";
    (void)state;
    assert_int_equal(setenv("OUTFOX_TEST_A", "o$$ne{x}", 1), 0);
    assert_int_equal(setenv("OUTFOX_TEST_C", "", 1), 0);
    assert_int_equal(unsetenv("OUTFOX_TEST_B"), 0);
    struct campaign_config *c = parsed(text);
    is_text(c->name, "o$$ne{x}-two-3");
    is_text(c->services.at[0].run, "echo $PATH ${X} $$ $1 $(pwd) $");
    assert_int_equal(c->services.at[0].port, 81);
    is_text(c->scenarios.at[0].body, "{\"price\": \"$o$$ne{x}\", \"list\": [1, \"o$$ne{x}\"]}");
    assert_true(c->search.options.audit > 4.9 && c->search.options.audit < 5.1);
    campaign_config_free(c);
}

static void test_environment_refused(void **state)
{
    static const struct refusal rows[] = {
        {BASE "name: ${OUTFOX_TEST_B}", 4, 7, "variable OUTFOX_TEST_B is not set: set it"},
        {BASE "name: ${}", 4, 7, "neither ${NAME} nor"},
        {BASE "name: ${A%.*}", 4, 7, "write $${"},
        {BASE "name: ${1A}", 4, 7, "neither ${NAME} nor"},
        {BASE "name: ${A:x}", 4, 7, "neither ${NAME} nor"},
        {BASE "name: x${A", 4, 7, "\"${A\" has no }"},
        {SERVICE("{ run: '${OUTFOX_TEST_D:-{url:z}}' }"), 4, 13, "unknown service"},
    };
    (void)state;
    assert_int_equal(unsetenv("OUTFOX_TEST_B"), 0);
    assert_int_equal(unsetenv("OUTFOX_TEST_D"), 0);
    check_refusals(rows, LENGTH(rows));
}

/* 100 000 times 100 bytes would be 10 MB. */
static void test_environment_bound(void **state)
{
    struct buf text = BUF_INIT(1 << 20);
    struct campaign_config *c;
    struct err e = {0};
    char value[101] = "";
    (void)state;
    memset(value, 'x', sizeof value - 1);
    assert_int_equal(setenv("V", value, 1), 0);
    buf_adds(&text, BASE "ignore:\n");
    for (int i = 0; i < 100000; i++)
        buf_adds(&text, i % 1000 ? "${V}" : "\n  - x${V}");
    assert_int_not_equal(campaign_config_parse(buf_slice(&text), "x", &c, &e), 0);
    assert_non_null(strstr(e.text, "exceeds 4 MiB"));
    buf_deinit(&text);
}

/* ---- placeholders ---- */

static void test_placeholders(void **state)
{
    /* what is read, and what becomes of it: <KIND NAME> */
    static const char *const rows[][2] = {
        {"", ""},
        {"plain", "plain"},
        {"{port}", "<port >"},
        {"a{host}b{address:x}c{url:a-b_9}", "a<host >b<address x>c<url a-b_9>"},
        {"{{port}}", "{port}"},
        {"{{url:a}}", "{url:a}"},
        {"{{{port}}}", "{{port}}"},
        {"${port} $${port} {port}", "${port} $${port} <port >"},
        {"{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": 1}}"},
        {"{{.Names}} {{}} }} {{", "{{.Names}} {{}} }} {{"},
        {"awk '{print $1}' {a:b} {1:2} {a,b}", "awk '{print $1}' {a:b} {1:2} {a,b}"},
        {"{url:} {url:a b} {url:a", "{url:} {url:a b} {url:a"},
        {"{ports} {Port}", "{ports} {Port}"},
        {"{urll:x}{prt:y}", "<wrong url x><wrong port y>"},
        {"{{urll:x}}", "{urll:x}"},
        {"{{port}", "{<port >"},
        {"{port}}", "<port >}"},
        {"{port}{port}", "<port ><port >"},
    };
    static const char *const names[] = {"", "port", "host", "address", "url", "wrong", "text"};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(200);
        slice rest = slice_of(rows[i][0]), literal;
        struct placeholder p;
        while (placeholder_next(&rest, &literal, &p)) {
            buf_add(&out, literal);
            if (p.kind == PLACEHOLDER_TEXT)
                buf_add(&out, p.text);
            else if (p.kind != PLACEHOLDER_NONE)
                buf_addf(&out, "<%s %s%s%.*s>", names[p.kind], p.near ? p.near : "",
                         p.near ? " " : "", SLICE_ARG(p.name));
        }
        assert_string_equal(buf_text(&out), rows[i][1]);
        buf_deinit(&out);
    }
}

/* ---- files ---- */

static void file_write(const char *name, const char *text)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

static void test_simulate(void **state)
{
    struct campaign_config *c;
    struct err e = {0};
    (void)state;
    assert_int_equal(mkdir("sim", 0700), 0);
    file_write("sim/outfox.yaml", "version: 1\n"
                                  "simulate: { file: s.yaml, propagate: [b3] }\n"
                                  "scenarios: { s: { request: b GET /x } }\n");
    file_write("sim/s.yaml", "system: s\n"
                             "services: { a: { GET /: { call: b GET /x } }, b: { GET /x: } }\n"
                             "scenarios: { s: { request: a GET / } }\n");
    assert_int_equal(campaign_config_load("sim/outfox.yaml", &c, &e), 0);
    is_text(c->simulate, "sim/s.yaml");
    is_text(c->name, "sim");
    assert_int_equal(c->propagate.n, 1);
    assert_int_equal(c->services.n, 0);
    assert_int_equal(c->scenarios.at[0].service, 1);
    campaign_config_free(c);
    file_write("sim/outfox.yaml", "version: 1\nsimulate: s.yaml\n"
                                  "scenarios: { s: { command: 'x {url:c}' } }\n");
    assert_int_equal(campaign_config_load("sim/outfox.yaml", &c, &e), -1);
    assert_string_equal(e.text, "unknown service \"c\"; known services: a, b");
    assert_int_equal(e.line, 3);
    file_write("sim/outfox.yaml", "version: 1\nsimulate: s.yaml\n");
    e = (struct err){0};
    file_write("sim/s.yaml", "system: s\nservices: { b: { GET /x: { cal: b } } }\n");
    assert_int_equal(campaign_config_load("sim/outfox.yaml", &c, &e), -1);
    assert_string_equal(e.source, "sim/s.yaml");
    assert_int_equal(e.line, 2);
    unlink("sim/s.yaml");
    e = (struct err){0};
    assert_int_equal(campaign_config_load("sim/outfox.yaml", &c, &e), -1);
    assert_non_null(strstr(e.text, "cannot be read"));
    unlink("sim/outfox.yaml");
    rmdir("sim");
}

/* What the file of a simulated system says about judging counts, unless the other says something.
 */
static void test_simulate_judge(void **state)
{
    struct campaign_config *c;
    struct err e = {0};
    (void)state;
    assert_int_equal(mkdir("sim", 0700), 0);
    file_write("sim/outfox.yaml", "version: 1\nsimulate: s.yaml\n");
    file_write("sim/s.yaml", "system: s\njudge: { limit: 2s }\nservices: { a: { GET /: } }\n"
                             "scenarios: { s: { request: a GET / } }\n");
    assert_int_equal(campaign_config_load("sim/outfox.yaml", &c, &e), 0);
    is_text(node_get(c->judge, SLICE("limit"))->text, "2s");
    campaign_config_free(c);
    file_write("sim/outfox.yaml", "version: 1\nsimulate: s.yaml\njudge: { limit: 3s }\n");
    assert_int_equal(campaign_config_load("sim/outfox.yaml", &c, &e), 0);
    is_text(node_get(c->judge, SLICE("limit"))->text, "3s");
    campaign_config_free(c);
    file_write("sim/outfox.yaml", "version: 1\nsimulate: s.yaml\n");
    file_write("sim/s.yaml", "system: s\nservices: { a: { GET /: } }\n"
                             "judge: { limit: 2 }\nscenarios: { s: { request: a GET / } }\n");
    assert_int_equal(campaign_config_load("sim/outfox.yaml", &c, &e), -1);
    assert_string_equal(e.source, "sim/s.yaml");
    assert_int_equal(e.line, 3);
    unlink("sim/s.yaml");
    unlink("sim/outfox.yaml");
    rmdir("sim");
}

static void test_found_above(void **state)
{
    struct campaign_config *c;
    struct err e = {0};
    (void)state;
    file_write("outfox.yaml", BASE);
    assert_int_equal(mkdir("below", 0700), 0);
    assert_int_equal(chdir("below"), 0);
    assert_int_equal(campaign_config_load(NULL, &c, &e), 0);
    assert_string_equal(c->source, "../outfox.yaml");
    is_text(c->store, "../.outfox/campaign.db");
    assert_true(c->name.n > 0);
    campaign_config_free(c);
    assert_int_equal(chdir(".."), 0);
    unlink("outfox.yaml");
    rmdir("below");
}

static void test_not_found(void **state)
{
    struct campaign_config *c;
    struct err e = {0};
    (void)state;
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(campaign_config_load(NULL, &c, &e), -1);
    assert_null(c);
    assert_non_null(strstr(e.text, "outfox init"));
}

static void test_schema(void **state)
{
    struct buf text = BUF_INIT(1 << 20);
    struct arena a = {0};
    const struct node *doc = NULL;
    (void)state;
    campaign_config_schema(&text);
    assert_false(text.full);
    assert_int_equal(node_parse_json(&a, buf_slice(&text), &doc), 0);
    assert_non_null(pointer_at(doc, SLICE("/$defs/identify/properties/level")));
    arena_deinit(&a);
    buf_deinit(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_env_for_all),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_environment_refused),
        cmocka_unit_test(test_environment_bound),
        cmocka_unit_test(test_placeholders),
        cmocka_unit_test(test_simulate),
        cmocka_unit_test(test_simulate_judge),
        cmocka_unit_test(test_found_above),
        cmocka_unit_test(test_schema),
        cmocka_unit_test(test_not_found), /* last: it leaves the directory */
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
