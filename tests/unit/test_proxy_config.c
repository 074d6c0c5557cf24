/* SPDX-License-Identifier: Apache-2.0
 *
 * The configuration of the proxy: the file, the command line's way in, limits, and what is refused,
 * with its place. */
#include <stdio.h>
#include <unistd.h>

#include "proxy/config.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define FILE_NAME     "proxy.yaml"
#define SECOND        INT64_C(1000000000)

static void file_write(const char *text)
{
    FILE *f = fopen(FILE_NAME, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

/* Reads the text as a file, all the way to the rules. */
static int load(struct proxy_config *config, const char *text, struct err *e)
{
    file_write(text);
    int status = config_load(config, FILE_NAME, e) || config_finish(config, e) ? -1 : 0;
    unlink(FILE_NAME);
    return status;
}

static struct proxy_config *loaded(const char *text)
{
    struct proxy_config *config = config_new();
    struct err e = {0};
    if (load(config, text, &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
    assert_string_equal(e.source, "");
    return config;
}

static const struct rule *call(struct proxy_config *config, uint32_t proxy, const char *interface)
{
    struct proxy_spec *spec = &config->proxies.at[proxy];
    struct request_facts facts = {.service = spec->service, .interface = slice_of(interface)};
    return rules_find(&spec->rules, &facts);
}

static void set(struct proxy_config *config, const char *key, const char *value)
{
    struct err e = {0};
    if (config_set(config, slice_of(key), slice_of(value), &e))
        fail_msg("%s %s: %s", key, value, e.text);
}

/* A proxy from pairs of key and value, up to NULL. */
static uint32_t proxy(struct proxy_config *config, const char *const *pairs)
{
    struct err e = {0};
    int i = config_add_proxy(config, &e);
    assert_true(i >= 0);
    for (; pairs[0]; pairs += 2)
        if (proxy_set(config, (uint32_t)i, slice_of(pairs[0]), slice_of(pairs[1]), &e))
            fail_msg("%s %s: %s", pairs[0], pairs[1], e.text);
    return (uint32_t)i;
}

static void finish(struct proxy_config *config)
{
    struct err e = {0};
    if (config_finish(config, &e))
        fail_msg("%s", e.text);
}

/* ---- the file ---- */

static const char whole[] = "proxies:\n"
                            "  - service: payment\n"
                            "    listen: 127.0.0.1:8001\n"
                            "    to: http://127.0.0.1:9001/\n"
                            "    faults:\n"
                            "      - 'POST /charge #0 : 503'\n"
                            "      - fault: 'POST /charge #1-3 : 503'\n"
                            "        id: flaky-charge\n"
                            "        body: '{\"error\": \"try later\"}'\n"
                            "        message: not now\n"
                            "        headers: { retry-after: 1, x-a: b c }\n"
                            "      - GET /v7/orders : reset\n"
                            "  - service: cart\n"
                            "    listen: https://localhost:8002\n"
                            "    to: https://cart.internal:443\n"
                            "    cert: c.pem\n"
                            "    key: k.pem\n"
                            "    client-ca: ca.pem\n"
                            "    to-ca: t.pem\n"
                            "    to-cert: tc.pem\n"
                            "    to-key: tk.pem\n"
                            "    to-name: cart\n"
                            "    insecure: on\n"
                            "    faults: ['cart * : delay:1s', '* /a : 503']\n"
                            "  - listen: https://unix:/run/a/b:0\n"
                            "    to: 'unix:@x'\n"
                            "    test-cert: out.pem\n"
                            "log: calls.jsonl\n"
                            "workers: 4\n"
                            "seed: 9\n"
                            "identify: { payload: on }\n"
                            "normalise: ['/v[0-9]+/ -> /[version]/']\n"
                            "fault-header: off\n"
                            "limits: { idle: 30s, head-bytes: 32KiB }\n";

static void check_cart(const struct proxy_spec *cart)
{
    assert_true(cart->listen_tls && cart->to_tls && cart->insecure);
    assert_string_equal(cart->listen.p, "localhost:8002");
    assert_string_equal(cart->to.p, "cart.internal:443");
    assert_string_equal(cart->cert, "c.pem");
    assert_string_equal(cart->key, "k.pem");
    assert_null(cart->test_cert);
    assert_string_equal(cart->client_ca, "ca.pem");
    assert_string_equal(cart->to_ca, "t.pem");
    assert_string_equal(cart->to_cert, "tc.pem");
    assert_string_equal(cart->to_key, "tk.pem");
    assert_string_equal(cart->to_name, "cart");
    assert_int_equal(cart->rules.list.n, 2);
}

static void test_whole(void **state)
{
    struct proxy_config *config = loaded(whole);
    (void)state;
    assert_int_equal(config->proxies.n, 3);
    const struct proxy_spec *payment = &config->proxies.at[0], *last = &config->proxies.at[2];
    assert_string_equal(payment->service.p, "payment");
    assert_string_equal(payment->listen.p, "127.0.0.1:8001");
    assert_string_equal(payment->to.p, "127.0.0.1:9001");
    assert_false(payment->listen_tls || payment->to_tls || payment->insecure);
    assert_null(payment->cert);
    check_cart(&config->proxies.at[1]);
    assert_string_equal(last->service.p, "service");
    assert_string_equal(last->listen.p, "unix:/run/a/b:0");
    assert_string_equal(last->to.p, "unix:@x");
    assert_string_equal(last->test_cert, "out.pem");

    assert_string_equal(config->log, "calls.jsonl");
    assert_int_equal(config->workers, 4);
    assert_int_equal(config->seed, 9);
    assert_true(config->identify_payload);
    assert_false(config->fault_header);
    assert_int_equal(config->limits.idle_ns, 30 * SECOND);
    assert_int_equal(config->limits.head_bytes, 32 * 1024);
    assert_int_equal(config->limits.hold_ns, limits_default.hold_ns);
    config_free(config);
}

static void test_rules_of_the_file(void **state)
{
    struct proxy_config *config = loaded(whole);
    (void)state;
    assert_int_equal(config->book.list.n, 5);
    assert_string_equal(call(config, 0, "POST /charge")->id.p, "1");
    assert_string_equal(call(config, 1, "POST /charge")->id.p, "4");
    const struct rule *rule = call(config, 0, "POST /charge");
    assert_string_equal(rule->id.p, "flaky-charge");
    assert_string_equal(rule->dress.body.p, "{\"error\": \"try later\"}");
    assert_string_equal(rule->dress.message.p, "not now");
    assert_int_equal(rule->dress.n_fields, 2);
    assert_string_equal(rule->dress.fields[0].name.p, "retry-after");
    assert_string_equal(rule->dress.fields[0].value.p, "1");
    assert_string_equal(rule->dress.fields[1].value.p, "b c");
    rule = call(config, 0, "GET /[version]/orders");
    assert_string_equal(rule->id.p, "3");
    assert_string_equal(rule->text.p, "GET /v7/orders : reset");
    assert_null(call(config, 2, "POST /charge"));
    config_free(config);
}

static void test_defaults(void **state)
{
    struct proxy_config *config = loaded("proxies: [{ listen: 8001, to: localhost:9001 }]\n");
    (void)state;
    assert_string_equal(config->proxies.at[0].service.p, "service");
    assert_string_equal(config->proxies.at[0].listen.p, "8001");
    assert_null(config->log);
    assert_int_equal(config->workers, 1);
    assert_int_equal(config->seed, 0);
    assert_false(config->identify_payload);
    assert_true(config->fault_header);
    assert_memory_equal(&config->limits, &limits_default, sizeof limits_default);
    assert_int_equal(config->book.list.n, 0);
    config_free(config);
}

#define ONE(more) "proxies:\n  - { listen: 8001, to: 9001" more " }\n"

static void test_errors_of_the_file(void **state)
{
    static const struct {
        const char *text;
        uint32_t line, col;
        const char *says;
    } rows[] = {
        {"", 0, 0, "a configuration must be a map"},
        {"- a\n", 1, 1, "a configuration must be a map"},
        {"proxies: 3\n", 1, 10, "\"proxies\" must be a list"},
        {"proxies: []\n", 0, 0, "no proxy is configured"},
        {"log: x\n", 0, 0, "no proxy is configured"},
        {"proxies:\n  - 3\n", 2, 5, "a proxy must be a map"},
        {"proxies:\n  - listen: 8001\n", 2, 5, "(\"to\")"},
        {"proxies:\n  - to: 8001\n", 2, 5, "(\"listen\")"},
        {"proxis: []\n", 1, 1, "did you mean \"proxies\"?"},
        {ONE(", servce: x"), 2, 31, "did you mean \"service\"?"},
        {ONE(", fualts: []"), 2, 31, "did you mean \"faults\"?"},
        {ONE(", service: a b"), 2, 40, "the name of a service"},
        {ONE(", service: ''"), 2, 40, "the name of a service"},
        {ONE(", service: [a]"), 2, 40, "must be a value, not a list"},
        {ONE(", cert:"), 2, 37, "must be a value, not nothing"},
        {ONE(", insecure: yes"), 2, 41, "true or false"},
        {ONE(", insecure: on"), 2, 5, "\"insecure\" is for TLS: write \"to\" as https://9001"},
        {ONE(", cert: a"), 2, 5, "\"cert\" is for TLS: write \"listen\" as https://8001"},
        {ONE(", client-ca: a"), 2, 5, "\"client-ca\" is for TLS"},
        {ONE(", to-name: a"), 2, 5, "\"to-name\" is for TLS"},
        {ONE("") "workers: 0\n", 3, 10, "from 1 to 256"},
        {ONE("") "workers: many\n", 3, 10, "from 1 to 256"},
        {ONE("") "seed: -1\n", 3, 7, "a whole number"},
        {ONE("") "log:\n", 3, 5, "must be a value"},
        {ONE("") "fault-header: maybe\n", 3, 15, "true or false"},
        {ONE("") "identify: { payload: x }\n", 3, 22, "true or false"},
        {ONE("") "identify: { predecessors: on }\n", 3, 13,
         "\"predecessors\" in identify; it takes payload"},
        {ONE("") "limits: { idel: 3s }\n", 3, 11, "did you mean \"idle\"?"},
        {ONE("") "limits: { idle: 3 }\n", 3, 17, "a time such as"},
        {ONE("") "limits: [idle]\n", 3, 9, "must be a map"},
        {ONE("") "normalise: ['/v[0-9+/ -> x']\n", 3, 13, "not a regular expression"},
        {ONE("") "normalise: x -> y\n", 3, 12, "must be a list"},
        {ONE(", faults: 3"), 2, 39, "\"faults\" must be a list"},
        {ONE(", faults: [[a]]"), 2, 40, "must be a value"},
        {ONE(", faults: ['GET /a : 50x']"), 2, 40, "unknown mode \"50x\""},
        {ONE(", faults: [{ falt: 'GET /a : 503', id: x }]"), 2, 42, "did you mean \"fault\"?"},
        {ONE(", faults: [{ id: x }]"), 2, 40, "\"fault: RULE\" is missing from a fault"},
        {ONE(", faults: [{ fault: 'GET /a : 503', id: 7 }]"), 2, 69, "invalid id"},
        {ONE(", faults: [{ fault: 'GET /a : 503 id=a', id: b }]"), 2, 74, "\"id\" twice"},
        {ONE(", faults: [{ fault: 'GET /a : 503', headers: 3 }]"), 2, 74, "must be a map"},
        {ONE(", faults: [{ fault: 'GET /a : 503', headers: { 'a b': 3 } }]"), 2, 76,
         "valid header name"},
        {ONE(", faults: [{ fault: 'GET /a : reset', body: x }]"), 2, 73,
         "does not fit the mode \"reset\""},
        {ONE(", faults: ['cart GET /a : 503']"), 2, 40, "is listed under \"service\""},
        {ONE(", faults: ['* : 503 id=a', '* : 503 id=a']"), 2, 56, "two rules have the id \"a\""},
        /* what YAML makes of rules without quotes */
        {"proxies:\n  - listen: 1\n    to: 2\n    faults:\n      - POST /a #0 : 503\n", 5, 9,
         "put the rule in quotes"},
        {"proxies:\n  - listen: 1\n    to: 2\n    faults:\n      - fault: POST /a #0 : 503\n", 5,
         16, "put the rule in quotes"},
        {"proxies:\n  - listen: 1\n    to: 2\n    faults:\n      - POST /a : 503 body='a #b'\n", 5,
         9, "put the rule in quotes"},
        {"proxies:\n  - listen: 1\n    to: 2\n    faults:\n      - fault: POST /a : 503\n", 5, 24,
         "put rules in quotes"},
        {"proxies:\n  - listen: 1\n    to: 2\n    faults:\n      - * : 503\n", 5, 10,
         "put rules in quotes"},
        {"proxies: [{ listen: 1, to: 2 }, { listen: 1, to: 3, service: b }]\n", 1, 33,
         "\"service\" and \"b\" both listen on 1"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct proxy_config *config = config_new();
        struct err e = {0};
        if (load(config, rows[i].text, &e) == 0)
            fail_msg("%s: was accepted", rows[i].text);
        if (!strstr(e.text, rows[i].says))
            fail_msg("%s: \"%s\", nothing of \"%s\"", rows[i].text, e.text, rows[i].says);
        if (e.line != rows[i].line || (e.line && e.col != rows[i].col))
            fail_msg("%s: \"%s\" at %u:%u", rows[i].text, e.text, e.line, e.col);
        if (e.line)
            assert_string_equal(e.source, FILE_NAME);
        if (!strstr(rows[i].says, "in quotes"))
            assert_null(strstr(e.text, "comment"));
        config_free(config);
    }
}

static void test_no_file(void **state)
{
    struct proxy_config *config = config_new();
    struct err e = {0};
    (void)state;
    assert_int_equal(config_load(config, "not-there.yaml", &e), -1);
    assert_string_equal(e.source, "not-there.yaml");
    config_free(config);
}

/* ---- addresses ---- */

static void test_addresses(void **state)
{
    static const struct {
        const char *text, *rest; /* NULL: is refused */
        bool tls;
    } rows[] = {
        {"127.0.0.1:8001", "127.0.0.1:8001", false},
        {"http://127.0.0.1:8001", "127.0.0.1:8001", false},
        {"http://127.0.0.1:8001/", "127.0.0.1:8001", false},
        {" https://[::1]:8001 ", "[::1]:8001", true},
        {"8001", "8001", false},
        {":8001", ":8001", false},
        {"unix:/a/b/", "unix:/a/b/", false},
        {"https://unix:/a/b", "unix:/a/b", true},
        {"unix:@a", "unix:@a", false},
        {"", NULL, false},
        {"https://", NULL, false},
        {"http:///", NULL, false},
        {"a:1 b", NULL, false},
        {"ftp://a:1", NULL, false},
        {"https://http://a:1", NULL, false},
        {"http://a:1/path", NULL, false},
        {"a:1//", NULL, false},
    };
    static const char *const keys[] = {"listen", "to"};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows) * 2; i++) {
        struct proxy_config *config = config_new();
        struct err e = {0};
        const char *text = rows[i / 2].text, *rest = rows[i / 2].rest;
        assert_int_equal(config_add_proxy(config, &e), 0);
        const struct proxy_spec *spec = &config->proxies.at[0];
        int status = proxy_set(config, 0, slice_of(keys[i % 2]), slice_of(text), &e);
        if (status != (rest ? 0 : -1))
            fail_msg("\"%s\" was %s %s", text, rest ? "refused" : "accepted", e.text);
        if (!rest)
            assert_non_null(strstr(e.text, keys[i % 2]));
        else
            assert_string_equal((i % 2 ? spec->to : spec->listen).p, rest);
        if (rest)
            assert_int_equal(i % 2 ? spec->to_tls : spec->listen_tls, rows[i / 2].tls);
        config_free(config);
    }
}

static void test_same_address(void **state)
{
    static const struct {
        const char *a, *b;
        bool same;
    } rows[] = {
        {"127.0.0.1:8001", "127.0.0.1:8001", true},
        {"127.0.0.1:8001", "https://127.0.0.1:8001", true},
        {"127.0.0.1:8001", "127.0.0.1:8002", false},
        {"8001", "127.0.0.1:8001", true},
        {"127.0.0.1:8001", "8001", true},
        {"8001", "[::1]:8001", false},
        {"127.0.0.1:0", "127.0.0.1:0", false},
        {"0", "0", false},
        {"unix:/a", "unix:/a", true},
        {"unix:/a:0", "unix:/a:0", true},
        {"unix:/a", "unix:/b", false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct proxy_config *config = config_new();
        struct err e = {0};
        proxy(config, (const char *const[]){"listen", rows[i].a, "to", "1", NULL});
        proxy(config, (const char *const[]){"listen", rows[i].b, "to", "1", NULL});
        if (config_finish(config, &e) != (rows[i].same ? -1 : 0))
            fail_msg("%s and %s: %s", rows[i].a, rows[i].b, e.text);
        config_free(config);
    }
}

/* ---- the command line ---- */

static void test_command_line(void **state)
{
    struct proxy_config *config = config_new();
    (void)state;
    config_add_fault(config, SLICE("GET /v1/a #0 : 503")); /* before what decides about it */
    config_add_fault(config, SLICE("payment GET /b : 502"));
    proxy(config,
          (const char *const[]){"listen", "http://127.0.0.1:0", "to", "https://a:1", "service",
                                "payment", "insecure", "on", "to", "https://b:1", NULL});
    set(config, "normalise", "/v[0-9]+/ -> /[version]/");
    set(config, "limits", "idle=5s");
    set(config, "limits", "idle=6s");
    set(config, "limits", "payload = 1MiB");
    set(config, "identify", "payload");
    set(config, "fault-header", "off");
    set(config, "workers", "2");
    set(config, "log", "-");
    finish(config);
    assert_string_equal(config->proxies.at[0].to.p, "b:1");
    assert_int_equal(config->limits.idle_ns, 6 * SECOND);
    assert_int_equal(config->limits.payload, 1 << 20);
    assert_true(config->identify_payload);
    assert_false(config->fault_header);
    assert_int_equal(config->workers, 2);
    assert_string_equal(config->log, "-");
    assert_string_equal(call(config, 0, "GET /[version]/a")->id.p, "1");
    assert_null(call(config, 0, "GET /[version]/a"));
    assert_string_equal(call(config, 0, "GET /b")->id.p, "2");
    config_free(config);
}

/* Rules of the command line next to a file of several proxies. */
static void test_rules_by_service(void **state)
{
    static const char two[] = "proxies:\n"
                              "  - { service: a, listen: 1, to: 2, faults: ['GET /x #0 : 500'] }\n"
                              "  - { service: b, listen: 3, to: 4 }\n"
                              "  - { service: b, listen: 5, to: 4 }\n";
    struct proxy_config *config = config_new();
    struct err e = {0};
    (void)state;
    file_write(two);
    assert_int_equal(config_load(config, FILE_NAME, &e), 0);
    unlink(FILE_NAME);
    config_add_fault(config, SLICE("* GET /x #1 : 501"));
    config_add_fault(config, SLICE("b GET /x : 502"));
    finish(config);
    assert_int_equal(config->book.list.n, 3);
    assert_int_equal(config->proxies.at[0].rules.list.n, 2);
    assert_int_equal(config->proxies.at[1].rules.list.n, 2);
    assert_string_equal(call(config, 0, "GET /x")->id.p, "1");
    assert_string_equal(call(config, 1, "GET /x")->id.p, "2"); /* one count for all proxies */
    assert_string_equal(call(config, 2, "GET /x")->id.p, "3");
    assert_int_equal(rule_count_seen(config->book.list.at[0]), 1);
    assert_int_equal(rule_count_seen(config->book.list.at[1]), 3);
    assert_int_equal(rule_count_seen(config->book.list.at[2]), 2);
    config_free(config);
}

static void test_errors_of_rules(void **state)
{
    static const struct {
        const char *rule;
        uint32_t proxies;
        const char *says;
    } rows[] = {
        {"GET /a : 503", 2, "there are 2 proxies"},
        {"paymnt GET /a : 503", 2, "did you mean \"payment\"?"},
        {"other GET /a : 503", 1, "there is no proxy for service \"other\""},
        {"GET /a : 50", 1, "rule \"GET /a : 50\": "},
        {"GET /a", 1, "the mode is missing: a rule ends with \" : MODE\", such as \" : 503\""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct proxy_config *config = config_new();
        struct err e = {0};
        for (uint32_t k = 0; k < rows[i].proxies; k++)
            proxy(config, (const char *const[]){"listen", "0", "to", "1", "service",
                                                k ? "cart" : "payment", NULL});
        config_add_fault(config, slice_of(rows[i].rule));
        assert_int_equal(config_finish(config, &e), -1);
        if (!strstr(e.text, rows[i].says))
            fail_msg("%s: \"%s\", nothing of \"%s\"", rows[i].rule, e.text, rows[i].says);
        assert_null(strstr(e.text, "YAML"));
        assert_int_equal(e.line, 0);
        config_free(config);
    }
}

static void test_tls_keys(void **state)
{
    static const struct {
        const char *pairs[9];
        const char *says; /* NULL: is fine */
    } rows[] = {
        {{"listen", "https://0", "to", "1", NULL}, "needs a certificate"},
        {{"listen", "https://0", "to", "1", "cert", "a", NULL}, NULL},
        {{"listen", "https://0", "to", "1", "test-cert", "a", NULL}, NULL},
        {{"listen", "https://0", "to", "1", "key", "a", NULL}, "\"key\" without \"cert\""},
        {{"listen", "https://0", "to", "1", "to-key", "a", NULL}, "\"to-key\" is for TLS"},
        {{"listen", "0", "to", "https://1", "to-key", "a", NULL}, "\"to-key\" without \"to-cert\""},
        {{"listen", "0", "to", "https://1", "to-cert", "a", NULL}, NULL},
        {{"listen", "0", "to", "https://1", "test-cert", "a", NULL}, "\"test-cert\" is for TLS"},
        {{"listen", "https://0", "to", "1", "test-cert", "a", "cert", "b", NULL}, "remove one"},
        {{"listen", "0", "to", "1", "insecure", "off", NULL}, NULL},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct proxy_config *config = config_new();
        struct err e = {0};
        proxy(config, rows[i].pairs);
        if (config_finish(config, &e) != (rows[i].says ? -1 : 0))
            fail_msg("row %zu: %s", i, e.text);
        if (rows[i].says && !strstr(e.text, rows[i].says))
            fail_msg("row %zu: \"%s\", nothing of \"%s\"", i, e.text, rows[i].says);
        config_free(config);
    }
}

static void test_unknown_keys(void **state)
{
    struct proxy_config *config = config_new();
    struct err e = {0}, e2 = {0};
    (void)state;
    assert_int_equal(config_set(config, SLICE("worker"), SLICE("1"), &e), -1);
    assert_non_null(strstr(e.text, "did you mean \"workers\"?"));
    assert_int_equal(config_add_proxy(config, &e), 0);
    assert_int_equal(proxy_set(config, 0, SLICE("to-cer"), SLICE("1"), &e2), -1);
    assert_non_null(strstr(e2.text, "did you mean \"to-cert\"?"));
    config_free(config);
}

static void test_reload(void **state)
{
    struct proxy_config *old = loaded(whole), *new;
    (void)state;
    rulebook_start(&old->book, 5 * SECOND);
    for (int i = 0; i < 2; i++)
        rule_fired(call(old, 0, "POST /charge"));
    new = loaded(whole);
    rulebook_inherit(&new->book, &old->book);
    rulebook_start(&new->book, 50 * SECOND);
    config_free(old);
    for (uint32_t i = 0; i < new->book.list.n; i++)
        assert_int_equal(new->book.list.at[i]->tally->since_ns, 5 * SECOND);
    assert_int_equal(rule_count_fired(new->book.list.at[0]), 1);
    assert_int_equal(rule_count_seen(new->book.list.at[1]), 2);
    assert_int_equal(call(new, 0, "POST /charge")->number, 2);
    assert_int_equal(call(new, 0, "POST /charge")->number, 2);
    assert_null(call(new, 0, "POST /charge"));
    config_free(new);
}

/* Rules that read the same are told apart by their service. */
static void test_reload_in_another_order(void **state)
{
    struct proxy_config *old =
        loaded("proxies:\n"
               "  - { service: a, listen: 1, to: 2, faults: [GET /x : 500] }\n"
               "  - { service: b, listen: 3, to: 4, faults: [GET /x : 500] }\n");
    (void)state;
    rule_fired(call(old, 1, "GET /x"));
    struct proxy_config *new =
        loaded("proxies:\n"
               "  - { service: b, listen: 3, to: 4, faults: [GET /x : 500] }\n"
               "  - { service: a, listen: 1, to: 2, faults: [GET /x : 500] }\n");
    rulebook_inherit(&new->book, &old->book);
    config_free(old);
    assert_int_equal(rule_count_fired(new->book.list.at[0]), 1);
    assert_int_equal(rule_count_fired(new->book.list.at[1]), 0);
    config_free(new);
}

/* ---- limits ---- */

static void test_limits(void **state)
{
    static const struct {
        const char *name, *value;
        int64_t is; /* -1: is refused */
        size_t field;
    } rows[] = {
        {"head-bytes", "65536", 65536, offsetof(struct limits, head_bytes)},
        {"head-bytes", "64KiB", 65536, offsetof(struct limits, head_bytes)},
        {"head-bytes", "1MiB", 1 << 20, offsetof(struct limits, head_bytes)},
        {"head-bytes", "2MiB", -1, offsetof(struct limits, head_bytes)},
        {"head-bytes", "1023", -1, offsetof(struct limits, head_bytes)},
        {"head-bytes", "64kb", -1, offsetof(struct limits, head_bytes)},
        {"head-bytes", "KiB", -1, offsetof(struct limits, head_bytes)},
        {"head-bytes", "9999999999999999MiB", -1, offsetof(struct limits, head_bytes)},
        {"head-fields", "20", 20, offsetof(struct limits, head_fields)},
        {"head-fields", "20KiB", -1, offsetof(struct limits, head_fields)},
        {"head-fields", "-1", -1, offsetof(struct limits, head_fields)},
        {"streams", "1", 1, offsetof(struct limits, streams)},
        {"streams", "0", -1, offsetof(struct limits, streams)},
        {"idle", "30s", 30 * SECOND, offsetof(struct limits, idle_ns)},
        {"idle", "200ms", SECOND / 5, offsetof(struct limits, idle_ns)},
        {"idle", "30", -1, offsetof(struct limits, idle_ns)},
        {"idle", "0s", -1, offsetof(struct limits, idle_ns)},
        {"idle", "", -1, offsetof(struct limits, idle_ns)},
        {"drain", "0s", 0, offsetof(struct limits, drain_ns)},
        {"payload", "0", 0, offsetof(struct limits, payload)},
        {"nothing", "1", -1, offsetof(struct limits, payload)},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct limits limits = limits_default;
        struct err e = {0};
        int status = limits_set(&limits, slice_of(rows[i].name), slice_of(rows[i].value), &e);
        if (status != (rows[i].is < 0 ? -1 : 0))
            fail_msg("%s=%s: %d %s", rows[i].name, rows[i].value, status, e.text);
        int64_t value;
        memcpy(&value, (char *)&limits + rows[i].field, sizeof value);
        if (status == 0)
            assert_int_equal(value, rows[i].is);
        else
            assert_memory_equal(&limits, &limits_default, sizeof limits);
    }
}

/* The defaults, as they are printed, are what they are documented to be, and read back. */
static void test_limits_print(void **state)
{
    static const char *const shown[] = {
        "head-bytes 64KiB",
        "head-fields 200",
        "connections 20000",
        "streams 256",
        "resets 1000",
        "interims 100",
        "head-time 30s",
        "idle 75s",
        "stall 5m",
        "total 24h",
        "connect 10s",
        "hold 1m",
        "drain 10s",
        "payload 64KiB",
        "payload-wait 1s",
        "upstream-idle 1m",
        "upstream-connections 4096",
    };
    struct buf out = BUF_INIT(1 << 16);
    (void)state;
    limits_print(&limits_default, &out);
    slice rest = buf_slice(&out), line, name, value;
    for (size_t i = 0; i < LENGTH(shown); i++) {
        struct limits limits = {0};
        struct err e = {0};
        struct buf text = BUF_INIT(100);
        assert_true(slice_cut(&rest, '\n', &line));
        assert_true(slice_word(&line, &name) && slice_word(&line, &value));
        assert_true(slice_trim(line).n > 5);
        buf_addf(&text, "%.*s %.*s", SLICE_ARG(name), SLICE_ARG(value));
        assert_string_equal(buf_text(&text), shown[i]);
        buf_deinit(&text);
        assert_int_equal(limits_set(&limits, name, value, &e), 0);
    }
    assert_int_equal(rest.n, 0);
    buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_rules_of_the_file),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_errors_of_the_file),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_same_address),
        cmocka_unit_test(test_command_line),
        cmocka_unit_test(test_rules_by_service),
        cmocka_unit_test(test_errors_of_rules),
        cmocka_unit_test(test_tls_keys),
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_reload),
        cmocka_unit_test(test_reload_in_another_order),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_limits_print),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
