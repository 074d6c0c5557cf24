/* SPDX-License-Identifier: Apache-2.0
 *
 * Side effects: which calls have them, how often they must be made, and what users say of them. */
#include "data/yaml.h"
#include "support/effect_text.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static uid call_of(struct names *names, const char *text)
{
    struct err e = {0};
    uid u = UID_NONE;
    if (uid_parse(names, slice_of(text), &u, &e))
        fail_msg("%s: %s", text, e.text);
    return u;
}

/* ---- rules ---- */

static void test_rules_are_read_back(void **state)
{
    static const struct {
        const char *text, *printed;
    } rows[] = {
        {"payment POST /charge", NULL},
        {"payment", NULL},
        {"  shop * >   payment POST  /charge ", "shop * > payment POST /charge"},
        {"payment POST /charge: 1", "payment POST /charge: exactly 1"},
        {"payment POST /charge : 1", "payment POST /charge: exactly 1"},
        {"payment POST /charge: none", NULL},
        {"payment POST /charge: 0", "payment POST /charge: none"},
        {"payment POST /charge: any", NULL},
        {"payment POST /v1/charges:cancel: at least 2", NULL},
        {"pay.Payments.Pay pay.Payments/Charge: at most 1 when status grpc:0", NULL},
        {"payment POST /charge: exactly 1 when status 200, otherwise 0",
         "payment POST /charge: exactly 1 when status 200, otherwise none"},
        {"payment POST /charge:\tat  least 1 when status 200 otherwise at most 2",
         "payment POST /charge: at least 1 when status 200, otherwise at most 2"},
        {"payment POST /charge: 1 when status 200 , otherwise any",
         "payment POST /charge: exactly 1 when status 200"},
    };
    struct names names;
    (void)state;
    names_init(&names);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const char *printed = rows[i].printed ? rows[i].printed : rows[i].text;
        slice text = slice_of(rows[i].text);
        for (int again = 0; again < 2; again++) {
            struct err e = {0};
            struct effect_rule rule;
            struct buf out = BUF_INIT(1000);
            if (effect_rule_parse(ANY_VOCABULARY(&names), text, &rule, &e))
                fail_msg("%s: %s", rows[i].text, e.text);
            effect_rule_print(&rule, &out);
            assert_string_equal(buf_text(&out), printed);
            effect_rule_deinit(&rule);
            buf_deinit(&out);
            text = slice_of(printed);
        }
    }
    names_deinit(&names);
}

static void test_bad_rules(void **state)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {"", "a call is missing"},
        {"payment POST /charge:",
         "expected a number, \"exactly N\", \"at least N\", \"at most N\", \"none\" "
         "or \"any\" at the end"},
        {"payment POST /charge : reset", "expected a number, \"exactly N\""},
        {"payment POST /charge: exactly", "expected a number up to 1000000 at the end"},
        {"payment POST /charge: exactly -1", "expected a number up to 1000000, not \"-1\""},
        {"payment POST /charge: 1000001", "not \"1000001\""},
        {"payment POST /charge: at", "not \"at\""},
        {"payment POST /charge: at once 1", "not \"at\""},
        {"payment POST /charge: 1 when",
         "expected \"status\" and the status the client sees at the end"},
        {"payment POST /charge: 1 when 200",
         "expected \"status\" and the status the client sees, not"},
        {"payment POST /charge: 1 when status",
         "expected a status from 100 to 599 or grpc:0 to grpc:16 at the end"},
        {"payment POST /charge: 1 when status 99", "not \"99\""},
        {"payment POST /charge: 1 when status 600", "not \"600\""},
        {"payment POST /charge: 1 when status grpc:17", "not \"grpc:17\""},
        {"payment POST /charge: 1 when status reset", "not \"reset\""},
        {"payment POST /charge: 1, otherwise 0", "\"otherwise\" must follow \"when status\""},
        {"payment POST /charge: 1 when status 200,", "expected \"otherwise\" at the end"},
        {"payment POST /charge: 1 when status 200, else 0", "expected \"otherwise\", not"},
        {"payment POST /charge: 1 when status 200, otherwise", "\"any\" at the end"},
        {"payment POST /charge: 1 when status 200, otherwise 0 please",
         "expected nothing more, not"},
        {"payment POST /charge: 1 please", "expected \"when status\", not \"please\""},
        {"payment POST /charge please", "may follow the path"},
    };
    struct names names;
    (void)state;
    names_init(&names);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        struct effect_rule rule;
        if (!effect_rule_parse(ANY_VOCABULARY(&names), slice_of(rows[i].text), &rule, &e))
            fail_msg("\"%s\" was taken", rows[i].text);
        if (!strstr(e.text, rows[i].says))
            fail_msg("\"%s\": \"%s\" does not say \"%s\"", rows[i].text, e.text, rows[i].says);
    }
    names_deinit(&names);
}

/* `n` calls of payment that had their effect, and one each that did not: not reached, and refused
 * by the service. */
static void fill(struct trace *trace, struct names *names, uint32_t n)
{
    trace->calls.n = 0;
    uid charge = call_of(names, "shop POST /buy > payment POST /charge");
    struct call root = {.uid = call_of(names, "shop POST /buy"),
                        .parent = CALL_NONE,
                        .handled = true,
                        .reply = OUTCOME_OK,
                        .seen = OUTCOME_OK};
    struct call c = {.uid = charge, .handled = true, .reply = OUTCOME_OK, .seen = OUTCOME_OK};
    vec_push(&trace->calls, root);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&trace->calls, c);
    c.reply = OUTCOME(OUT_STATUS, 409);
    vec_push(&trace->calls, c);
    c.handled = false;
    c.reply = OUTCOME_OK;
    vec_push(&trace->calls, c);
}

static void test_rules_are_checked(void **state)
{
    static const struct {
        const char *rule;
        uint32_t n;
        uint32_t status;
        bool kept;
    } rows[] = {
        {"payment POST /charge", 7, 200, true},
        {"payment: 1", 1, 200, true},
        {"payment: 1", 0, 200, false},
        {"payment: 1", 2, 503, false},
        {"payment: at least 2", 1, 200, false},
        {"payment: at least 2", 3, 200, true},
        {"payment: at most 2", 2, 200, true},
        {"payment: at most 2", 3, 200, false},
        {"payment: 1 when status 200", 0, 503, true},
        {"payment: 1 when status 200", 9, 503, true},
        {"payment: 1 when status 200, otherwise 0", 0, 503, true},
        {"payment: 1 when status 200, otherwise 0", 1, 503, false},
        {"payment: 1 when status 200, otherwise 0", 0, 200, false},
        {"payment: 1 when status 201, otherwise 0", 1, 200, false},
        {"shop: 1", 0, 200, false}, /* the scenario's own request is no call of the system */
    };
    struct names names;
    struct trace trace = {0};
    (void)state;
    names_init(&names);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        struct effect_rule rule;
        uint32_t counted = 99;
        assert_int_equal(
            effect_rule_parse(ANY_VOCABULARY(&names), slice_of(rows[i].rule), &rule, &e), 0);
        fill(&trace, &names, rows[i].n);
        if (effect_rule_check(&rule, &names, &trace, OUTCOME(OUT_STATUS, rows[i].status),
                              &counted) != rows[i].kept)
            fail_msg("row %zu: %s", i, rows[i].rule);
        assert_int_equal(counted, rule.counted ? rows[i].n : 0);
        effect_rule_deinit(&rule);
    }
    vec_deinit(&trace.calls);
    names_deinit(&names);
}

/* ---- which calls have effects ---- */

static void test_effects_by_name(void **state)
{
    static const struct {
        const char *interface;
        enum effect effect;
    } rows[] = {
        {"GET /x", EFFECT_READ},
        {"HEAD /x", EFFECT_READ},
        {"OPTIONS /x", EFFECT_READ},
        {"TRACE /x", EFFECT_READ},
        {"PUT /x", EFFECT_IDEMPOTENT},
        {"DELETE /x", EFFECT_IDEMPOTENT},
        {"POST /get", EFFECT_ONCE},
        {"POST /search", EFFECT_READ},
        {"POST /v1/users:search", EFFECT_READ},
        {"POST /quotes", EFFECT_READ},
        {"POST /alerts/quote", EFFECT_ONCE},
        {"POST /quotes/[id]", EFFECT_READ},
        {"POST /quotes/[id]/", EFFECT_READ},
        {"POST /shipping-costs", EFFECT_READ},
        {"POST /shippingCosts", EFFECT_READ},
        {"POST /api/getQuote", EFFECT_READ},
        {"POST /quotes/[id]/accept", EFFECT_ONCE},
        {"POST /oauth2/token", EFFECT_READ},
        {"POST /orders/[id]/cancel", EFFECT_IDEMPOTENT},
        {"POST /v1/charges/c1:void", EFFECT_IDEMPOTENT},
        {"POST /charges/[id]/refund", EFFECT_ONCE},
        {"POST /search-index", EFFECT_ONCE},
        {"POST /research", EFFECT_ONCE},
        {"POST /discount", EFFECT_ONCE},
        {"POST /accounts", EFFECT_ONCE},
        {"PATCH /prices", EFFECT_ONCE},
        {"POST /", EFFECT_ONCE},
        {"POST /[id]", EFFECT_ONCE},
        {"POST *", EFFECT_ONCE},
        {"PATCH /x", EFFECT_ONCE},
        {"BREW /x", EFFECT_ONCE},
        {"shop.Users/Get", EFFECT_READ},
        {"shop.Users/GetUser", EFFECT_READ},
        {"shop.Users/getUser", EFFECT_READ},
        {"shop.Users/get_user", EFFECT_READ},
        {"shop.Users/Get2", EFFECT_READ},
        {"shop.Users/Getaway", EFFECT_ONCE},
        {"shop.Users/BatchGetUsers", EFFECT_READ},
        {"shop.Users/Batch", EFFECT_ONCE},
        {"shop.Users/BatchCreateUsers", EFFECT_ONCE},
        {"shop.Users/GetOrCreate", EFFECT_ONCE},
        {"shop.Users/FindOneAndUpdate", EFFECT_ONCE},
        {"shop.Users/GetUsersAndGroups", EFFECT_READ},
        {"shop.Users/ListOrders", EFFECT_READ},
        {"shop.Users/Checkout", EFFECT_ONCE},
        {"shop.Users/CheckOut", EFFECT_ONCE},
        {"shop.Users/CheckStock", EFFECT_READ},
        {"shop.Users/Issue", EFFECT_ONCE},
        {"shop.Users/IsOpen", EFFECT_READ},
        {"shop.Users/SetAddress", EFFECT_IDEMPOTENT},
        {"shop.Users/Settle", EFFECT_ONCE},
        {"shop.Users/DeleteUser", EFFECT_IDEMPOTENT},
        {"shop.Users/CancelOrder", EFFECT_IDEMPOTENT},
        {"shop.Users/ReleaseStock", EFFECT_ONCE},
        {"shop.Users/Login", EFFECT_READ},
        {"shop.Users/UpdateUser", EFFECT_ONCE},
        {"shop.Users/PlaceOrder", EFFECT_ONCE},
        {"shop.GetUsers/Place", EFFECT_ONCE},
    };
    struct names names;
    struct judge_settings settings;
    (void)state;
    names_init(&names);
    judge_settings_init(&settings);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct element el = {.service = names_sym(&names, SLICE("a")),
                             .interface = names_sym(&names, slice_of(rows[i].interface))};
        uid u = names_uid(&names, UID_NONE, names_element(&names, el));
        if (effect_of(&settings, &names, u) != rows[i].effect)
            fail_msg("%s: not %d", rows[i].interface, (int)rows[i].effect);
    }
    judge_settings_deinit(&settings);
    names_deinit(&names);
}

/* ---- settings ---- */

struct desk {
    struct arena arena;
    struct names names;
    struct judge_settings settings;
};

static int load(struct desk *d, const char *text, struct err *e)
{
    const struct node *root = NULL;
    *d = (struct desk){0};
    names_init(&d->names);
    judge_settings_init(&d->settings);
    if (yaml_parse(slice_of(text), &d->arena, &root, e))
        fail_msg("%s: %s", text, e->text);
    return judge_settings_load(root, ANY_VOCABULARY(&d->names), &d->settings, e);
}

static void desk_deinit(struct desk *d)
{
    judge_settings_deinit(&d->settings);
    names_deinit(&d->names);
    arena_deinit(&d->arena);
}

static const char all_settings[] =
    "oracles: { partial-effects: finding, all: off, leak: warning }\n"
    "reads: [ '* POST /search', b GET /bump ]\n"
    "idempotent: [ a POST /set ]\n"
    "effects:\n"
    "  - b GET /bump\n"
    "  - a GET /next\n"
    "  - a POST /set\n"
    "  - a POST /pay: exactly 1 when status 200, otherwise 0\n"
    "  - a POST /log: 2\n"
    "  - 'a PUT /x: at least 1'\n"
    "undo: { a POST /pay: a POST /back, a > b: b POST /off }\n"
    "limit: 1500ms\n";

static void test_settings(void **state)
{
    static const struct {
        const char *call;
        enum effect effect;
    } rows[] = {
        {"a POST /search", EFFECT_READ},        {"b GET /bump", EFFECT_READ}, /* reads win */
        {"a GET /next", EFFECT_ONCE},           {"a POST /set", EFFECT_IDEMPOTENT},
        {"a PUT /x", EFFECT_IDEMPOTENT},        {"a GET /else", EFFECT_READ},
        {"s GET / > a GET /next", EFFECT_ONCE}, {"b POST /set", EFFECT_ONCE},
    };
    struct desk d;
    struct err e = {0};
    (void)state;
    if (load(&d, all_settings, &e))
        fail_msg("%u:%u: %s", (unsigned)e.line, (unsigned)e.col, e.text);
    for (uint32_t i = 0; i < ORACLES; i++)
        assert_int_equal(d.settings.severity[i], i == ORACLE_PARTIAL_EFFECTS ? SEVERITY_FINDING
                                                 : i == ORACLE_LEAK          ? SEVERITY_WARNING
                                                                             : SEVERITY_OFF);
    assert_int_equal(d.settings.effects.n, 6);
    assert_string_equal(d.settings.effects.at[3].text,
                        "a POST /pay: exactly 1 when status 200, otherwise 0");
    assert_int_equal(d.settings.effects.at[3].line, 8);
    assert_int_equal(d.settings.effects.at[3].col, 5);
    assert_int_equal(d.settings.effects.at[4].low, 2);
    assert_false(d.settings.effects.at[0].counted);
    assert_int_equal(d.settings.undo.n, 2);
    assert_true(pattern_matches(&d.settings.undo.at[1].effect, &d.names,
                                call_of(&d.names, "a GET / > b POST /on")));
    assert_true(pattern_matches(&d.settings.undo.at[1].undo, &d.names,
                                call_of(&d.names, "a GET / > b POST /off")));
    assert_int_equal(d.settings.limit_ns, 1500000000);
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (effect_of(&d.settings, &d.names, call_of(&d.names, rows[i].call)) != rows[i].effect)
            fail_msg("%s: not %d", rows[i].call, (int)rows[i].effect);
    desk_deinit(&d);
}

static void test_no_settings(void **state)
{
    struct desk d;
    struct err e = {0};
    (void)state;
    assert_int_equal(load(&d, "{}", &e), 0);
    assert_int_equal(judge_settings_load(NULL, ANY_VOCABULARY(&d.names), &d.settings, &e), 0);
    for (uint32_t i = 0; i < ORACLES; i++)
        assert_int_equal(d.settings.severity[i], oracle_rows[i].severity);
    assert_int_equal(d.settings.limit_ns, 0);
    desk_deinit(&d);
}

static void test_bad_settings(void **state)
{
    static const struct {
        const char *text;
        uint32_t line, col;
        const char *says;
    } rows[] = {
        {"[]", 1, 1,
         "judge must be a map with the keys oracles, reads, idempotent ..., not a list"},
        {"oracle: {}", 1, 1, "did you mean \"oracles\"?"},
        {"oracles: off", 1, 10, "\"oracles\" must be a map"},
        {"oracles: { partial-efects: off }", 1, 12,
         "unknown oracle \"partial-efects\"; run `outfox oracles` for a list; did you mean \"partial-effects\"?"},
        {"oracles:\n  leak: warnin", 2, 9, "finding; did you mean \"warning\"?"},
        {"oracles: { all: [] }", 1, 17, "unknown severity \"\""},
        {"reads: '* GET *'", 1, 8, "\"reads\" must be a list, not text"},
        {"reads: [ 'a POST /x y' ]", 1, 10, "may follow the path"},
        {"reads: [ [] ]", 1, 10, "\"reads\" must list calls such as"},
        {"idempotent: [ 'a POST /x : reset' ]", 1, 15, "a call takes no mode here"},
        {"idempotent: [ {a: b} ]", 1, 15, "\"idempotent\" must list calls such as"},
        {"effects: { a: b }", 1, 10, "\"effects\" must be a list, not a map"},
        {"effects:\n  - a POST /x\n  - a POST /y: often", 3, 5, "\"any\", not \"often\""},
        {"effects: [ [] ]", 1, 12, "a side effect must be"},
        {"effects: [ { a: 1, b: 2 } ]", 1, 12, "not a map"},
        {"effects: [ 5 ]", 1, 12, "not a number"},
        {"undo: [ a ]", 1, 7, "\"undo\" must be a map, not a list"},
        {"undo: { a POST /x y: a POST /z }", 1, 9, "may follow the path"},
        {"undo: { a POST /x: [ a ] }", 1, 20, "\"undo\" must list calls such as"},
        {"undo: { a POST /x: '' }", 1, 20, "a call is missing"},
        {"limit: soon", 1, 8, "must be a duration"},
        {"limit: 0s", 1, 8, "must be a duration"},
        {"limit: [1s]", 1, 8, "must be a duration"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct desk d;
        struct err e = {0};
        if (!load(&d, rows[i].text, &e))
            fail_msg("\"%s\" was taken", rows[i].text);
        if (!strstr(e.text, rows[i].says) || e.line != rows[i].line || e.col != rows[i].col)
            fail_msg("\"%s\": %u:%u: \"%s\", not \"%s\"", rows[i].text, (unsigned)e.line,
                     (unsigned)e.col, e.text, rows[i].says);
        desk_deinit(&d);
    }
}

static void test_too_many(void **state)
{
    struct desk d;
    struct err e = {0};
    struct buf text = BUF_INIT(1 << 20);
    (void)state;
    buf_adds(&text, "reads: [");
    for (int i = 0; i < 1001; i++)
        buf_addf(&text, "a%d,", i);
    buf_adds(&text, "]");
    assert_int_equal(load(&d, buf_text(&text), &e), -1);
    assert_non_null(strstr(e.text, "more than 1000"));
    desk_deinit(&d);
    buf_deinit(&text);
}

static void test_set(void **state)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"leak", "use NAME=off"},           {"leek=off", "did you mean \"leak\"?"},
        {"leak=", "unknown severity \"\""}, {"leak=on", "use off, warning or finding"},
        {"=off", "unknown oracle \"\""},    {"", "invalid oracle setting \"\": use"},
    };
    struct judge_settings s;
    struct err e = {0};
    (void)state;
    judge_settings_init(&s);
    assert_int_equal(judge_settings_set(&s, SLICE("all=off"), &e), 0);
    assert_int_equal(judge_settings_set(&s, SLICE(" leak = finding "), &e), 0);
    for (uint32_t i = 0; i < ORACLES; i++)
        assert_int_equal(s.severity[i], i == ORACLE_LEAK ? SEVERITY_FINDING : SEVERITY_OFF);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        e = (struct err){0};
        if (!judge_settings_set(&s, slice_of(bad[i].text), &e) || !strstr(e.text, bad[i].says))
            fail_msg("\"%s\": \"%s\"", bad[i].text, e.text);
    }
    judge_settings_deinit(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules_are_read_back),
        cmocka_unit_test(test_bad_rules),
        cmocka_unit_test(test_rules_are_checked),
        cmocka_unit_test(test_effects_by_name),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_no_settings),
        cmocka_unit_test(test_bad_settings),
        cmocka_unit_test(test_too_many),
        cmocka_unit_test(test_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
