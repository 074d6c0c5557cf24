/* SPDX-License-Identifier: Apache-2.0
 *
 * live/wiring: who gets a door to whom, which ports are chosen, and what placeholders become.
 */
#include <stdio.h>

#include "live/wiring.h"

#include <string.h>

#include "support/unit.h"

#define HEAD "version: 1\n"
#define ASK  "scenarios: { ask: { request: \"GET {url:a}/\" } }\n"

struct lab {
    struct campaign_config *config;
    struct wiring *w;
    struct err e;
};

static void lab_open(struct lab *l, const char *yaml, uint32_t slots)
{
    *l = (struct lab){0};
    if (campaign_config_parse(slice_of(yaml), "test", &l->config, &l->e) ||
        wiring_new(l->config, NULL, slots, &l->w, &l->e))
        fail_msg("%s", l->e.text);
}

static void lab_close(struct lab *l)
{
    wiring_free(l->w);
    campaign_config_free(l->config);
}

static const char services[] =
    HEAD "services:\n"
         "  a: { run: \"a {port} {url:b}\", env: { C: \"{address:c} {url:b}\" } }\n"
         "  b: { run: b, port: 10999 }\n"
         "  c: { address: \"127.0.0.1:10998\" }\n"
         "  d: { run: d, listen: \"127.0.0.1:0\" }\n" ASK;

static uint32_t count(const struct wiring *w, uint32_t caller)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->doors.n; i++)
        n += w->doors.at[i].caller == caller;
    return n;
}

static void test_doors(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, services, 3);
    assert_non_null(wiring_door(l.w, 0, 1));
    assert_non_null(wiring_door(l.w, 0, 2));
    assert_int_equal(count(l.w, 0), 2); /* b is named twice, and has one door */
    assert_int_equal(count(l.w, 1), 0);
    assert_non_null(wiring_door(l.w, CALLER_UNKNOWN, 2)); /* not started by us */
    assert_non_null(wiring_door(l.w, CALLER_UNKNOWN, 3)); /* because the file says so */
    assert_null(wiring_door(l.w, CALLER_UNKNOWN, 1));
    assert_int_equal(count(l.w, CALLER_CLIENT), 0); /* requests need none */
    lab_close(&l);
}

/* What a service is called: in requests of the scenario, and in those that doors pass on. */
static void test_authority(void **state)
{
    static const struct {
        const char *service, *authority, *passed; /* NULL: the caller's stays */
    } rows[] = {
        {"{ address: \"127.0.0.1:8080\" }", "127.0.0.1:8080", "127.0.0.1:8080"},
        {"{ address: \"localhost:80\" }", "localhost", "localhost"},
        {"{ address: \"localhost:443\" }", "localhost:443", "localhost:443"},
        {"{ address: \"https://localhost\" }", "localhost", "localhost"},
        {"{ address: \"https://localhost/\" }", "localhost", "localhost"},
        {"{ address: \"https://localhost:8443\" }", "localhost:8443", "localhost:8443"},
        {"{ address: \"http://127.0.0.1\" }", "127.0.0.1", "127.0.0.1"},
        {"{ address: \"https://[::1]\" }", "[::1]", "[::1]"},
        {"{ address: \"[::1]:9\" }", "[::1]:9", "[::1]:9"},
        {"{ address: \"unix:/x\" }", "localhost", "localhost"},
        {"{ address: \"localhost:443\", tls: true }", "localhost", "localhost"},
        {"{ address: \"localhost:9\", host-header: keep }", "localhost:9", NULL},
        {"{ address: \"localhost:9\", host-header: api.test }", "api.test", "api.test"},
        {"{ run: x, port: 10997 }", "127.0.0.1:10997", NULL},
        {"{ run: x, port: 10997, host-header: \"api.test:1\" }", "api.test:1", "api.test:1"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l;
        struct buf yaml = BUF_INIT(1000), text = BUF_INIT(200);
        struct proxy_config *proxies;
        buf_addf(&yaml, HEAD "services:\n  a: %s\n  b: { run: \"{url:a}\" }\n" ASK,
                 rows[i].service);
        lab_open(&l, buf_text(&yaml), 1);
        wiring_authority(l.w, 0, &text);
        assert_string_equal(buf_text(&text), rows[i].authority);
        assert_int_equal(wiring_proxies(l.w, &proxies, &l.e), 0);
        for (uint32_t k = 0; k < l.w->doors.n; k++)
            if (l.w->doors.at[k].caller == 1)
                assert_true(
                    slice_is(proxies->proxies.at[k].host, rows[i].passed ? rows[i].passed : ""));
        config_free(proxies);
        buf_deinit(&yaml);
        buf_deinit(&text);
        lab_close(&l);
    }
}

static void test_client_doors(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l,
             HEAD "services: { a: { run: a }, b: { run: b } }\n"
                  "scenarios: { ask: { command: \"x {url:a}\" } }\n",
             3);
    for (uint32_t slot = 0; slot < 3; slot++)
        assert_int_equal(count(l.w, CALLER_CLIENT | slot), 2);
    assert_int_equal(count(l.w, CALLER_CLIENT | 3), 0);
    lab_close(&l);
}

static void test_ports(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, services, 1);
    assert_int_equal(addr_port(&l.w->address[1]), 10999);
    assert_int_equal(addr_port(&l.w->address[2]), 10998);
    uint32_t a = addr_port(&l.w->address[0]), d = addr_port(&l.w->address[3]);
    assert_in_range(a, 10000, 32000); /* nothing that asks for any port gets these */
    assert_in_range(d, 10000, 32000);
    assert_true(a != d);
    lab_close(&l);
}

/* A port in use is not chosen, wherever it is looked for: many services, all different. */
static void test_many_ports(void **state)
{
    (void)state;
    struct lab l;
    struct buf text = BUF_INIT(100000);
    buf_adds(&text, HEAD "services:\n  a: { run: a }\n");
    for (int i = 0; i < 200; i++)
        buf_addf(&text, "  s%d: { run: s }\n", i);
    buf_adds(&text, ASK);
    lab_open(&l, buf_text(&text), 1);
    for (uint32_t i = 0; i < l.w->n_services; i++)
        for (uint32_t k = 0; k < i; k++)
            assert_true(addr_port(&l.w->address[i]) != addr_port(&l.w->address[k]));
    buf_deinit(&text);
    lab_close(&l);
}

/* Two campaigns at a time, before any of their services listens, have no port in common. (Of 400
 * random ones of 22,000 each, seven would be.) */
static void test_two_campaigns(void **state)
{
    (void)state;
    struct lab one, two;
    struct buf text = BUF_INIT(100000);
    buf_adds(&text, HEAD "services:\n  a: { run: a }\n");
    for (int i = 0; i < 399; i++)
        buf_addf(&text, "  s%d: { run: s }\n", i);
    buf_adds(&text, ASK);
    lab_open(&one, buf_text(&text), 1);
    lab_open(&two, buf_text(&text), 1);
    for (uint32_t i = 0; i < one.w->n_services; i++)
        for (uint32_t k = 0; k < two.w->n_services; k++)
            assert_true(addr_port(&one.w->address[i]) != addr_port(&two.w->address[k]));
    lab_close(&one);
    lab_close(&two);
    buf_deinit(&text);
}

static void assert_expands(const struct lab *l, uint32_t caller, const char *text,
                           const char *wanted)
{
    struct buf out = BUF_INIT(1000);
    struct err e = {0};
    int status = wiring_expand(l->w, caller, slice_of(text), &out, &e);
    if (!wanted)
        assert_int_equal(status, -1);
    else if (status || strcmp(buf_text(&out), wanted) != 0)
        fail_msg("%s: %s, not %s (%s)", text, buf_text(&out), wanted, e.text);
    buf_deinit(&out);
}

static void test_placeholders(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, services, 1);
    for (uint32_t i = 0; i < l.w->doors.n; i++) /* as if the plane listened */
        if (l.w->doors.at[i].caller == 0)
            snprintf(l.w->doors.at[i].address, sizeof l.w->doors.at[i].address, "%s",
                     l.w->doors.at[i].callee == 1 ? "127.0.0.1:41" : "[::1]:42");
    assert_expands(&l, 0, "{url:b}", "http://127.0.0.1:41");
    assert_expands(&l, 0, "x {address:b} {host:b} {port:b} y", "x 127.0.0.1:41 127.0.0.1 41 y");
    assert_expands(&l, 0, "{url:c} {host:c} {port:c}", "http://[::1]:42 [::1] 42");
    assert_expands(&l, 1, "{port} {host} {address} {url}",
                   "10999 127.0.0.1 127.0.0.1:10999 http://127.0.0.1:10999");
    assert_expands(&l, 1, "{{port}} ${port} {} {x} {\"a\": 1}", "{port} ${port} {} {x} {\"a\": 1}");
    assert_expands(&l, 1, "", "");
    assert_expands(&l, 1, "{url:a}", NULL); /* b was given no door to a */
    assert_expands(&l, CALLER_CLIENT, "{url:a}", NULL);
    lab_close(&l);
}

static void test_proxies(void **state)
{
    (void)state;
    struct lab l;
    struct proxy_config *proxies = NULL;
    lab_open(&l, services, 1);
    if (wiring_proxies(l.w, &proxies, &l.e))
        fail_msg("%s", l.e.text);
    config_free(proxies);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_doors),        cmocka_unit_test(test_authority),
        cmocka_unit_test(test_client_doors), cmocka_unit_test(test_ports),
        cmocka_unit_test(test_many_ports),   cmocka_unit_test(test_two_campaigns),
        cmocka_unit_test(test_placeholders), cmocka_unit_test(test_proxies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
