/* SPDX-License-Identifier: Apache-2.0
 *
 * Contracts: reading, precision, composition, sentences, what is proposed, and what an update
 * changes. Runs are made up here: faults as text, status, body, and which effects were had. */
#include <stdio.h>

#include "contract/contract.h"
#include "data/yaml.h"
#include "support/unit.h"

#define ROOT "gate POST /buy > "

struct world {
    struct arena arena;
    struct names names;
    struct vocabulary words;
    struct faultloads fl;
    struct contract *c;
    struct err e;
    bool strict;
};

static const char *const services[] = {"gate", "user", "cart", "pricing", "mail"};

static int load(struct world *w, const char *text)
{
    const struct node *root;
    w->words = (struct vocabulary){.names = &w->names, .services = services, .n_services = 5};
    struct contract_options o = {.names = &w->names,
                                 .words = &w->words,
                                 .faultloads = &w->fl,
                                 .scenario = "buy",
                                 .file = "buy.yaml",
                                 .strict = w->strict};
    slice copy = slice_copy(&w->arena, slice_of(text));
    w->e = (struct err){0};
    contract_free(w->c);
    w->c = NULL;
    return yaml_parse(copy, &w->arena, &root, &w->e) || contract_load(&o, root, &w->c, &w->e) ? -1
                                                                                              : 0;
}

static int set_up(void **state)
{
    struct world *w = mem_zero(sizeof *w);
    names_init(&w->names);
    faultloads_init(&w->fl);
    *state = w;
    return 0;
}

static int tear_down(void **state)
{
    struct world *w = *state;
    contract_free(w->c);
    faultloads_deinit(&w->fl);
    names_deinit(&w->names);
    arena_deinit(&w->arena);
    mem_free(w);
    return 0;
}

/* ---- runs ---- */

struct given {
    const char *faults; /* "CALL : MODE & ...", each below ROOT; "": none */
    uint32_t status;
    const char *body;
    const char *done; /* "CALL; CALL": calls that had their effect */
};

static void add_call(struct world *w, struct run *r, slice call, mode m)
{
    struct buf path = BUF_INIT(1000);
    struct err e = {0};
    uid u;
    buf_addf(&path, ROOT "%.*s", SLICE_ARG(slice_trim(call)));
    assert_int_equal(uid_parse(&w->names, buf_slice(&path), &u, &e), 0);
    buf_deinit(&path);
    bool reached = m == MODE_NONE || mode_reached(m);
    vec_push(&r->trace.calls, (struct call){.uid = u,
                                            .mode = m,
                                            .fault_point = u,
                                            .seen = m ? mode_outcome(m) : OUTCOME_OK,
                                            .handled = reached,
                                            .reply = OUTCOME_OK});
}

static void make(struct world *w, const struct given *g, struct run *r)
{
    slice rest = slice_of(g->faults), part;
    struct err e = {0};
    uid root;
    *r = (struct run){.purpose = RUN_SEARCH,
                      .body = slice_of(g->body),
                      .verdict = {true, OUTCOME(OUT_STATUS, g->status), "", NULL}};
    assert_int_equal(uid_parse(&w->names, SLICE("gate POST /buy"), &root, &e), 0);
    vec_push(&r->trace.calls, (struct call){.uid = root, .parent = CALL_NONE});
    while (rest.n && slice_cut(&rest, '&', &part)) {
        size_t colon = 0;
        mode m;
        for (size_t i = 0; i + 2 < part.n && !colon; i++)
            colon = memcmp(part.p + i, " : ", 3) == 0 ? i : 0;
        assert_int_equal(mode_parse(slice_from(part, colon + 3), &m, &e), 0);
        add_call(w, r, (slice){part.p, colon}, m);
    }
    rest = slice_of(g->done);
    while (rest.n && slice_cut(&rest, ';', &part))
        add_call(w, r, part, MODE_NONE);
}

#define BODY   "{\"total\": 9000, \"user\": \"ann\"}"
#define FULL   "{\"total\": 10000, \"user\": \"ann\"}"
#define DONE   "cart PUT /discount; mail POST /notice"
#define NOTICE "mail POST /notice"

static void learn(struct world *w)
{
    struct run r;
    for (int i = 0; i < 2; i++) {
        make(w, &(struct given){"", 200, BODY, "user GET /me; cart GET /cart; " DONE}, &r);
        contract_learn(w->c, &r);
        vec_deinit(&r.trace.calls);
    }
}

/* NULL: it passes. */
static const char *why(struct world *w, struct given g)
{
    struct run r;
    make(w, &g, &r);
    contract_judge(w->c, &r);
    contract_note(w->c, &r);
    struct buf text = BUF_INIT(4000);
    if (!r.verdict.pass)
        buf_addf(&text, "%s%s%s", r.verdict.why, r.verdict.detail ? " | " : "",
                 r.verdict.detail ? r.verdict.detail : "");
    const char *out = r.verdict.pass ? NULL : arena_copy(&w->arena, buf_text(&text), text.n);
    buf_deinit(&text);
    vec_deinit(&r.trace.calls);
    return out;
}

#define PASSES(w, ...)     assert_null(why(w, (struct given){__VA_ARGS__}))
#define SAYS(w, text, ...) assert_string_equal(why(w, (struct given){__VA_ARGS__}), text)

static void must_load(struct world *w, const char *text)
{
    if (load(w, text))
        fail_msg("%u:%u: %s", (unsigned)w->e.line, (unsigned)w->e.col, w->e.text);
    learn(w);
}

/* ---- reading ---- */

static const struct {
    const char *text;
    uint32_t line, col;
    const char *says;
} bad[] = {
    {"- a", 1, 1,
     "a contract must be a map with the keys scenario, without-faults, when ..., not a list"},
    {"wen: []", 1, 1, "unknown key \"wen\" in a contract; did you mean \"when\"?"},
    {"scenario: bye", 1, 11, "this file is the contract of scenario \"buy\": use that name"},
    {"scenario: buy\nscenario: buy", 2, 1, NULL},
    {"when: { a: b }", 1, 7, "\"when\" must be a list, not a map"},
    {"when:\n  - user", 2, 5, "a rule must be a map with the keys fails, then, not text"},
    {"when:\n  - fails: user", 2, 5, "\"then: unaffected\" is missing from a rule"},
    {"when:\n  - then: unaffected", 2, 5, "\"fails: CALL\" is missing from a rule"},
    {"when:\n  - fail: user\n    then: unaffected", 2, 5,
     "unknown key \"fail\" in a rule; did you mean \"fails\"?"},
    {"when:\n  - fails: usr\n    then: unaffected", 2, 12,
     "unknown service \"usr\"; did you mean \"user\"?"},
    {"when:\n  - fails: [ user, crt ]\n    then: unaffected", 2, 20,
     "unknown service \"crt\"; did you mean \"cart\"?"},
    {"when:\n  - fails: []\n    then: unaffected", 2, 12, "\"fails\" must have 1 to 64 entries"},
    {"when:\n  - fails: [ user, user ]\n    then: unaffected", 2, 20,
     "\"user\" is in this list twice"},
    {"when:\n  - fails: { user: 503 }\n    then: unaffected", 2, 12,
     "\"fails\" must be a list, not a map"},
    {"when:\n  - fails: \"user : 5o3\"\n    then: unaffected", 2, 12, NULL},
    {"when:\n  - fails: \"user GET /me : \"\n    then: unaffected", 2, 12,
     "the mode is missing after \":\""},
    {"when:\n  - fails: user\n    then: unafected", 3, 11,
     "\"then\" must be unaffected, or a map such as { status: 503 }, not unafected"},
    {"when:\n  - fails: user\n    then: {}", 3, 11,
     "\"then\" must be unaffected, or a map such as { status: 503 }, not a map"},
    {"when:\n  - fails: user\n    then: { stats: 503 }", 3, 13,
     "unknown key \"stats\" in then; did you mean \"status\"?"},
    {"when:\n  - fails: user\n    then: { status: 999 }", 3, 21,
     "\"999\" is not a status: use 503, 5xx, grpc:14, exit 1 or timeout"},
    {"when:\n  - fails: user\n    then: { status: exit 300 }", 3, 21,
     "\"exit 300\" is not a status: use 503, 5xx, grpc:14, exit 1 or timeout"},
    {"when:\n  - fails: user\n    then: { status: [] }", 3, 21,
     "\"status\" must have 1 to 1000 entries"},
    {"when:\n  - fails: user\n    then: { status: { a: 1 } }", 3, 21,
     "\"status\" must be a list, not a map"},
    {"when:\n  - fails: user\n    then: { json: 5 }", 3, 19,
     "\"json\" must be a map, not a number"},
    {"when:\n  - fails: user\n    then: { json: { total: 5 } }", 3, 21,
     "\"total\" is not a JSON pointer: start it with a slash, and write ~ as ~0"},
    {"when:\n  - fails: user\n    then: { json: { /a~2: 5 } }", 3, 21,
     "\"/a~2\" is not a JSON pointer: start it with a slash, and write ~ as ~0"},
    {"when:\n  - fails: user\n    then: { body: [ 1 ] }", 3, 19,
     "\"body\" must be text, not a list; use \"json\" to compare values"},
    {"when:\n  - fails: user\n    then: { effects: some }", 3, 22,
     "\"effects\" must be none, same, or a map of calls and numbers"},
    {"when:\n  - fails: user\n    then: { effects: { cart PUT /x: two } }", 3, 37,
     "how often \"cart PUT /x\" has its effect must be a whole number"},
    {"when:\n  - fails: user\n    then: { effects: { \"gate > cart PUT /x\": 1 } }", 3, 24,
     "effects are counted by service and interface; \"gate > cart PUT /x\" names more than that"},
    {"when:\n  - fails: user\n    then: { propagates: false }", 3, 25,
     "\"propagates\" must be true, or left out"},
    {"when:\n  - fails: user\n    then: { propagates: true, status: 503 }", 3, 11,
     "\"propagates\" sets the status: remove \"status\""},
    {"when:\n  - fails: \"user : delay:2s\"\n    then: { propagates: true }", 2, 5,
     "this mode has no status to propagate"},
    {"when:\n  - fails: user\n    then: unaffected\n  - fails: user\n    then: { status: 503 }", 4,
     5, "this rule names the same calls as the one on line 2: keep one"},
    {"when:\n  - fails: [ user, cart ]\n    then: unaffected\n"
     "  - fails: [ cart, user ]\n    then: unaffected",
     4, 5, "this rule names the same calls as the one on line 2: keep one"},
    {"without-faults: unaffected", 1, 17,
     "\"without-faults\" must be a map such as { status: 200 }, not unaffected"},
    {"without-faults: { effects: none }", 1, 28,
     "effects without faults are what the others are compared with: put rules about them under "
     "the key \"effects\" of the file"},
    {"without-faults: { propagates: true }", 1, 31,
     "\"propagates\" must be true, or left out; without faults there is nothing to propagate"},
    {"reads: user", 1, 8, "\"reads\" must be a list, not text"},
    {"reads: [ \"user : 503\" ]", 1, 10, "a call that reads takes no mode: remove it"},
    {"effects: user", 1, 10, "\"effects\" must be a list, not text"},
    {"effects:\n  - \"mail POST /notice: exactly many\"", 2, 5, NULL},
};

static void bad_files_are_refused_with_their_place(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(load(w, bad[i].text), -1);
        if (w->e.line != bad[i].line || w->e.col != bad[i].col ||
            (bad[i].says && strcmp(bad[i].says, w->e.text) != 0) || !w->e.text[0])
            fail_msg("%s\n  gives %u:%u: %s\n  not   %u:%u: %s", bad[i].text, (unsigned)w->e.line,
                     (unsigned)w->e.col, w->e.text, (unsigned)bad[i].line, (unsigned)bad[i].col,
                     bad[i].says ? bad[i].says : "(anything)");
    }
}

static void an_empty_file_is_an_empty_contract(void **state)
{
    struct world *w = *state;
    must_load(w, "# nothing yet\n");
    SAYS(w, "the contract does not say what happens when user GET /me fails | seen: unaffected",
         "user GET /me : 503", 200, BODY, DONE);
}

/* ---- precision ---- */

static void the_most_precise_rule_wins(void **state)
{
    struct world *w = *state;
    must_load(w, "when:\n"
                 "  - { fails: '*', then: { status: 500 } }\n"
                 "  - { fails: '* : 504', then: { status: 501 } }\n"
                 "  - { fails: cart, then: { status: 502 } }\n"
                 "  - { fails: 'cart : 504', then: { status: 503 } }\n"
                 "  - { fails: cart GET *, then: { status: 504 } }\n"
                 "  - { fails: cart GET /cart, then: { status: 505 } }\n"
                 "  - { fails: 'cart GET /cart : 504', then: { status: 506 } }\n"
                 "  - { fails: 'cart GET /cart {0000000a}', then: { status: 507 } }\n"
                 "  - { fails: 'cart GET /cart {0000000a} : 504', then: { status: 508 } }\n"
                 "  - { fails: gate > cart PUT /x, then: { status: 509 } }\n"
                 "  - { fails: cart PUT /x, then: { status: 510 } }\n");
    static const struct {
        const char *faults;
        uint32_t status;
    } cases[] = {
        {"user GET /me : 503", 500},
        {"user GET /me : 504", 501},
        {"cart DELETE /cart : 503", 502},
        {"cart DELETE /cart : 504", 503},
        {"cart GET /other : 504", 504},
        {"cart GET /cart : 503", 505},
        {"cart GET /cart : 504", 506},
        {"cart GET /cart {0000000a} : 503", 507},
        {"cart GET /cart {0000000a} : 504", 508},
        {"cart GET /cart {0000000b} : 503", 505},
        {"cart PUT /x : 503", 509},
        {"pricing GET /p > cart PUT /x : 503", 510},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PASSES(w, cases[i].faults, cases[i].status, "", "");
        assert_non_null(why(w, (struct given){cases[i].faults, cases[i].status + 20, "", ""}));
    }
}

static void ambiguity_names_both_rules(void **state)
{
    struct world *w = *state;
    must_load(w, "when:\n"
                 "  - fails: gate > pricing > cart GET /cart\n"
                 "    then: { status: 500 }\n"
                 "  - fails: \"* > pricing GET /p > cart GET /cart\"\n"
                 "    then: { status: 502 }\n");
    /* the first has the longer path; a third as long as it makes it ambiguous */
    PASSES(w, "pricing GET /p > cart GET /cart : 503", 500, "", "");
    must_load(w, "when:\n"
                 "  - fails: pricing > cart GET /cart\n"
                 "    then: { status: 500 }\n"
                 "  - fails: pricing GET /p > cart GET /cart\n"
                 "    then: { status: 502 }\n");
    SAYS(w,
         "the contract is ambiguous: the rules of lines 2 and 4 are equally precise and say "
         "different things when cart GET /cart fails",
         "pricing GET /p > cart GET /cart : 503", 500, "", "");
    must_load(w, "when:\n"
                 "  - fails: pricing > cart GET /cart\n"
                 "    then: { status: 500 }\n"
                 "  - fails: pricing GET /p > cart GET /cart\n"
                 "    then: { status: 500 }\n");
    PASSES(w, "pricing GET /p > cart GET /cart : 503", 500, "", "");
}

/* Precision of combinations is no total order: the order of the rules must not hide that. */
static void ambiguity_does_not_depend_on_the_order(void **state)
{
    static const char *const rules[] = {
        "  - { fails: [ user GET /me, cart ], then: { status: 500 } }\n",
        "  - { fails: [ user, cart GET /cart ], then: { status: 501 } }\n",
        "  - { fails: [ 'user GET /me : 503', cart ], then: { status: 502 } }\n",
    };
    static const uint8_t orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}};
    struct world *w = *state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        char text[400];
        snprintf(text, sizeof text, "when:\n%s%s%s", rules[orders[i][0]], rules[orders[i][1]],
                 rules[orders[i][2]]);
        must_load(w, text);
        const char *said =
            why(w, (struct given){"user GET /me : 503 & cart GET /cart : 503", 502, "", ""});
        assert_non_null(said);
        assert_non_null(strstr(said, "ambiguous"));
    }
}

/* ---- what holds ---- */

static void unaffected_means_all_of_it(void **state)
{
    struct world *w = *state;
    must_load(w, "when:\n  - fails: '*'\n    then: unaffected\n");
    PASSES(w, "user GET /me : 503", 200, BODY, DONE);
    PASSES(w, "user GET /me : 503", 200, "{\"user\": \"ann\", \"total\": 9e3}", DONE);
    PASSES(w, "mail POST /notice : 503", 200, BODY, "cart PUT /discount");
    PASSES(w, "mail POST /notice : lost-reply:503", 200, BODY, "cart PUT /discount");
    SAYS(w,
         "not what the contract says on line 2: when user GET /me fails, then unaffected | the "
         "status is 503, not 200",
         "user GET /me : 503", 503, BODY, DONE);
    SAYS(w,
         "not what the contract says on line 2: when user GET /me fails, then unaffected | /total "
         "is 10000, not 9000 as without faults",
         "user GET /me : 504", 200, FULL, DONE);
    SAYS(w,
         "not what the contract says on line 2: when user GET /me fails, then unaffected | mail "
         "POST /notice did not have the effect it has without faults",
         "user GET /me : 500", 200, BODY, "cart PUT /discount");
    SAYS(w,
         "not what the contract says on line 2: when cart GET /cart fails, then unaffected | mail "
         "POST /notice had its effect 2 times, not 1 as without faults",
         "cart GET /cart : 500", 200, BODY, DONE "; " NOTICE " #1");
    SAYS(w,
         "not what the contract says on line 2: when mail POST /notice fails, then unaffected | "
         "mail POST /notice had its effect 2 times, not 1 as without faults",
         "mail POST /notice : lost-reply:503", 200, BODY, DONE " #1");
}

static void every_key_of_then_is_held(void **state)
{
    struct world *w = *state;
    must_load(w, "when:\n"
                 "  - fails: user\n"
                 "    then: { status: [ 404, 5xx ], effects: none }\n"
                 "  - fails: cart GET /cart\n"
                 "    then: { propagates: true }\n"
                 "  - fails: pricing\n"
                 "    then: { status: 200, json: { /total: 10000, /list/0/a~1b: x } }\n"
                 "  - fails: mail\n"
                 "    then: { body: hello, effects: { cart PUT /discount: 0 } }\n"
                 "reads: [ gate > cart POST /search ]\n"
                 "effects:\n"
                 "  - \"cart PUT /discount: at most 1\"\n");
    PASSES(w, "user GET /me : 503", 404, "", "");
    PASSES(w, "user GET /me : 503", 599, "", "cart POST /search");
    SAYS(w,
         "not what the contract says on line 2: when user GET /me fails, then { status: [404, "
         "5xx], effects: none } | the status is 200, not 404 or 5xx",
         "user GET /me : 503", 200, "", "");
    SAYS(w,
         "not what the contract says on line 2: when user GET /me fails, then { status: [404, "
         "5xx], effects: none } | cart PUT /discount had its effect",
         "user GET /me : 503", 503, "", "cart PUT /discount");
    PASSES(w, "cart GET /cart : 503", 503, "", "");
    PASSES(w, "cart GET /cart : 504", 504, "", "");
    SAYS(w,
         "not what the contract says on line 4: when cart GET /cart fails, then { propagates: "
         "true } | the status is 503, not the one that was injected",
         "cart GET /cart : 504", 503, "", "");
    PASSES(w, "pricing GET /p : 503", 200, "{\"total\": 10000, \"list\": [{\"a/b\": \"x\"}]}", "");
    SAYS(w,
         "not what the contract says on line 6: when pricing GET /p fails, then { status: 200, "
         "json: { /total: 10000, /list/0/a~1b: \"x\" } } | /list/0/a~1b is missing, not \"x\"",
         "pricing GET /p : 503", 200, "{\"total\": 10000, \"list\": []}", "");
    PASSES(w, "mail POST /notice : 503", 200, "hello", "");
    SAYS(w,
         "not what the contract says on line 8: when mail POST /notice fails, then { body: "
         "\"hello\", effects: { cart PUT /discount: 0 } } | cart PUT /discount had its effect 1 "
         "time, not 0",
         "mail POST /notice : 503", 200, "hello", "cart PUT /discount");
    SAYS(w,
         "not what the contract says on line 12: cart PUT /discount: at most 1 | it was done 2 "
         "times, status 200",
         "pricing GET /p : 503", 200, "{\"total\": 10000, \"list\": [{\"a/b\": \"x\"}]}",
         "cart PUT /discount; cart PUT /discount #1");
}

static void fault_free_runs_must_be_clean(void **state)
{
    struct world *w = *state;
    struct run r;
    must_load(w, "without-faults: { status: 200, json: { /total: 9000 } }\n");
    PASSES(w, "", 200, BODY, DONE);
    SAYS(w,
         "not what the contract says on line 1: without faults, { status: 200, json: { /total: "
         "9000 } } | /total is 10000, not 9000",
         "", 200, FULL, DONE);
    make(w, &(struct given){"", 200, BODY, DONE}, &r);
    r.trace.calls.at[1].seen = OUTCOME(OUT_STATUS, 502);
    contract_judge(w->c, &r);
    assert_false(r.verdict.pass);
    assert_string_equal(r.verdict.why, "cart PUT /discount fails without any fault");
    assert_string_equal(r.verdict.detail, "its caller sees 502");
    vec_deinit(&r.trace.calls);
}

static void what_fails_by_itself_is_not_excused(void **state)
{
    struct world *w = *state;
    struct run r;
    must_load(w, "when:\n  - fails: '*'\n    then: { status: 200 }\n");
    make(w, &(struct given){"user GET /me : 503", 200, BODY, DONE}, &r);
    r.flags = RUN_HUNG;
    r.verdict.pass = false;
    r.verdict.why = "the scenario does not end";
    contract_judge(w->c, &r);
    assert_false(r.verdict.pass);
    assert_string_equal(r.verdict.why, "the scenario does not end");
    r.flags = 0; /* but what the scenario expects gives way to what is declared */
    contract_judge(w->c, &r);
    assert_true(r.verdict.pass);
    assert_int_equal(r.flags, RUN_CONTRACT | RUN_UNEXPECTED);
    vec_deinit(&r.trace.calls);
}

/* What is written for faults must hold whatever a rule says. */
static void what_must_hold_under_faults_stays(void **state)
{
    struct world *w = *state;
    struct run r;
    w->strict = true;
    must_load(w, "when:\n  - fails: '*'\n    then: { status: 200 }\n");
    make(w, &(struct given){"user GET /me : 503", 200, BODY, DONE}, &r);
    r.verdict.pass = false;
    r.verdict.why = "the status is not 503";
    contract_judge(w->c, &r);
    assert_string_equal(r.verdict.why, "the status is not 503");
    vec_deinit(&r.trace.calls);
}

/* A command has an exit code, and what it prints is not compared. */
static void commands_are_declared_by_their_exit_code(void **state)
{
    struct world *w = *state;
    struct run r;
    struct buf text = BUF_INIT(1 << 16);
    assert_int_equal(load(w, "when:\n  - fails: user\n    then: { status: exit 0 }\n"), 0);
    for (uint32_t i = 0; i < 3; i++) {
        const char *faults = i == 0   ? ""
                             : i == 1 ? "user GET /me : 503"
                                      : "mail POST /notice : 503";
        make(w, &(struct given){faults, 0, i ? "1.2 s" : "1.3 s", ""}, &r);
        r.verdict.status = OUTCOME(OUT_EXIT, i == 2 ? 7 : 0);
        if (i == 0)
            contract_learn(w->c, &r);
        contract_judge(w->c, &r);
        contract_note(w->c, &r);
        assert_int_equal(r.verdict.pass, i < 2);
        vec_deinit(&r.trace.calls);
    }
    contract_propose(w->c, &text);
    assert_string_equal(buf_text(&text), "  - fails: mail POST /notice\n"
                                         "    then: { status: exit 7 }\n");
    buf_deinit(&text);
}

/* ---- composition ---- */

#define COMPOSED                                                                                   \
    "when:\n"                                                                                      \
    "  - fails: user\n"                                                                            \
    "    then: { status: 503 }\n"                                                                  \
    "  - fails: pricing\n"                                                                         \
    "    then: { status: 200, json: { /total: 10000 } }\n"                                         \
    "  - fails: cart PUT /discount\n"                                                              \
    "    then: { status: 200, json: { /total: 10000 } }\n"                                         \
    "  - fails: mail\n"                                                                            \
    "    then: unaffected\n"                                                                       \
    "  - fails: cart GET /cart\n"                                                                  \
    "    then: unaffected\n"

static void faults_are_composed(void **state)
{
    struct world *w = *state;
    must_load(w, COMPOSED);
    /* nothing is left; one outcome is left; equal ones are */
    PASSES(w, "mail POST /notice : 503 & cart GET /cart : 504", 200, BODY, "cart PUT /discount");
    PASSES(w, "mail POST /notice : 503 & user GET /me : 504", 503, "", "");
    PASSES(w, "pricing GET /p : 503 & cart PUT /discount : 503", 200, FULL, "");
    PASSES(w, "pricing GET /p : 503 & cart PUT /discount : 503 & mail POST /notice : 500", 200,
           FULL, "");
    SAYS(w,
         "not what the contract says and implies on line 2: when mail POST /notice and user GET "
         "/me fail together, then { status: 503 } | the status is 200, not 503",
         "mail POST /notice : 503 & user GET /me : 504", 200, BODY, "");
    SAYS(w,
         "the contract does not say what happens when user GET /me and pricing GET /p fail "
         "together | seen: { status: 503, effects: none }",
         "user GET /me : 503 & pricing GET /p : 503 & mail POST /notice : 503", 503, "", "");
    must_load(w, COMPOSED "  - fails: [ user, pricing ]\n"
                          "    then: { status: 500 }\n"
                          "  - fails: [ user, pricing, \"cart GET /cart : 504\" ]\n"
                          "    then: { status: 501 }\n");
    PASSES(w, "user GET /me : 503 & pricing GET /p : 503", 500, "", "");
    PASSES(w, "user GET /me : 503 & pricing GET /p : 503 & mail POST /notice : 503", 500, "", "");
    PASSES(w, "user GET /me : 503 & cart GET /cart : 504 & pricing GET /p : 503", 501, "", "");
    PASSES(w, "user GET /me : 503 & cart GET /cart : 503 & pricing GET /p : 503", 500, "", "");
}

static void proposes(struct world *w, const char *wanted)
{
    struct buf text = BUF_INIT(1 << 16);
    contract_propose(w->c, &text);
    assert_string_equal(buf_text(&text), wanted);
    buf_deinit(&text);
}

static void see(struct world *w, const struct given *runs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        (void)why(w, runs[i]);
}

/* A call that is only made after another failed cannot fail alone. */
static void a_fallback_is_declared_with_what_it_stands_in_for(void **state)
{
    static const struct given runs[] = {
        {"user GET /me : 503", 200, BODY, DONE},
        {"mail POST /notice : 503", 200, BODY, "cart PUT /discount"},
        {"user GET /me : 503 & cart GET /names : 503", 503, "", ""},
        {"user GET /me : 503 & cart GET /names : 503 & mail POST /notice : 503", 503, "", ""},
    };
    struct world *w = *state;
    must_load(w, "when:\n");
    see(w, runs, 4);
    proposes(w, "  - fails: user GET /me\n"
                "    then: unaffected\n"
                "  - fails: mail POST /notice\n"
                "    then: unaffected\n"
                "  # decide: together they behave differently than each alone: is that intended?\n"
                "  - fails: [ cart GET /names, user GET /me ]\n"
                "    then: { status: 503, effects: none }\n");
    must_load(w, "when:\n  - { fails: [ user, cart ], then: { status: 503 } }\n"
                 "  - { fails: mail, then: unaffected }\n"
                 "  - { fails: user, then: unaffected }\n");
    PASSES(w, "user GET /me : 503 & cart GET /names : 503 & mail POST /notice : 503", 503, "", "");
    must_load(w, "when:\n  - { fails: cart, then: { status: 503 } }\n"
                 "  - { fails: mail, then: unaffected }\n"
                 "  - { fails: user, then: unaffected }\n");
    PASSES(w, "user GET /me : 503 & cart GET /names : 503 & mail POST /notice : 503", 503, "", "");
}

/* It says which of two answers is given when both calls fail, and there is nothing to wonder at. */
static void one_of_two_outcomes_is_not_something_else(void **state)
{
    static const struct given runs[] = {
        {"user GET /me : 503", 503, "", ""},
        {"cart GET /cart : 503", 502, "", ""},
        {"user GET /me : 503 & cart GET /cart : 503", 502, "", ""},
    };
    struct world *w = *state;
    must_load(w, "when:\n");
    see(w, runs, 3);
    proposes(w, "  - fails: user GET /me\n"
                "    then: { status: 503, effects: none }\n"
                "  - fails: cart GET /cart\n"
                "    then: { status: 502, effects: none }\n"
                "  - fails: [ cart GET /cart, user GET /me ]\n"
                "    then: { status: 502, effects: none }\n");
}

static void tries_are_one_failing_call(void **state)
{
    struct world *w = *state;
    must_load(w, "when:\n"
                 "  - fails: \"user GET /me #0\"\n"
                 "    then: unaffected\n"
                 "  - fails: user GET /me\n"
                 "    then: { status: 503 }\n"
                 "  - fails: mail\n"
                 "    then: unaffected\n");
    PASSES(w, "user GET /me : 503", 200, BODY, DONE);
    PASSES(w, "user GET /me : 503 & user GET /me #1 : 504", 503, "", "");
    PASSES(w, "user GET /me : 503 & user GET /me #1 : 504 & mail POST /notice : 503", 503, "", "");
    assert_non_null(
        why(w, (struct given){"user GET /me : 503 & user GET /me #1 : 504", 200, BODY, DONE}));
}

/* What is wrong with a call alone is said once, not again with every combination. */
static void a_broken_rule_is_one_reason(void **state)
{
    struct world *w = *state;
    must_load(w, COMPOSED);
    const char *alone = why(w, (struct given){"cart GET /cart : 503", 200, FULL, DONE});
    const char *both = why(w, (struct given){"cart GET /cart : 503 & mail POST /notice : 503", 200,
                                             FULL, "cart PUT /discount"});
    assert_non_null(alone);
    assert_string_equal(alone, both);
    const char *other = why(w, (struct given){"cart GET /cart : 504 & mail POST /notice : 503", 200,
                                              FULL, "cart PUT /discount"});
    assert_non_null(strstr(other, "implies"));
}

/* ---- proposing ---- */

static void lines_are_grouped(void **state)
{
    static const struct given runs[] = {
        {"user GET /me : 503", 503, "", ""},
        {"user GET /me : 500", 503, "", ""},
        {"cart GET /cart : 503", 503, "", ""},
        {"cart GET /cart : 500", 500, "", ""},
        {"pricing GET /p : 503", 200, FULL, NOTICE},
        {"pricing GET /p : 500", 200, FULL, NOTICE},
        {"pricing GET /p : delay:1s", 200, BODY, DONE},
        {"mail POST /notice : 503", 200, BODY, "cart PUT /discount"},
        {"mail POST /notice : 500", 200, BODY, DONE},
        {"mail POST /notice : 503 & pricing GET /p : 503", 200, FULL, ""},
        {"mail POST /notice : 500 & user GET /me : 503", 503, "", ""},
    };
    static const char *const lines =
        "scenario: buy\n"
        "without-faults: { status: 200 }\n"
        "when:\n"
        "  - fails: user GET /me\n"
        "    then: { status: 503, effects: none }\n"
        "  - fails: cart GET /cart\n"
        "    then: { propagates: true, effects: none }\n"
        "  - fails: mail POST /notice\n"
        "    then: unaffected\n"
        "  # decide: a success with different side effects than without faults: is that intended?\n"
        "  - fails: pricing GET /p\n"
        "    then: { status: 200, json: { /total: 10000 }, effects: { cart PUT /discount: 0 } }\n"
        "  - fails: \"pricing GET /p : delay:1s\"\n"
        "    then: unaffected\n";
    struct world *w = *state;
    const uint32_t n = sizeof runs / sizeof *runs;
    must_load(w, "");
    see(w, runs, n);
    proposes(w, lines);
    must_load(w, "");
    for (uint32_t i = n; i-- > 0;) /* in whatever order */
        see(w, &runs[i], 1);
    proposes(w, lines);
    must_load(w, lines);
    for (uint32_t i = 0; i < n; i++)
        assert_null(why(w, runs[i]));
    proposes(w, "");
}

static void combinations_are_proposed_where_they_are_not_implied(void **state)
{
    static const struct given runs[] = {
        {"pricing GET /a : 503", 200, "{\"total\": 9500, \"user\": \"ann\"}", DONE},
        {"pricing GET /b : 503", 200, BODY, DONE},
        {"pricing GET /c : 503", 200, BODY, DONE},
        {"pricing GET /a : 503 & pricing GET /b : 503", 200, "{\"total\": 9900, \"user\": \"ann\"}",
         DONE},
        {"pricing GET /a : 503 & pricing GET /c : 503", 200, "{\"total\": 9500, \"user\": \"ann\"}",
         DONE},
        {"pricing GET /b : 503 & pricing GET /c : 503", 200, BODY, DONE},
        {"pricing GET /a : 503 & pricing GET /b : 503 & pricing GET /c : 503", 200, FULL, DONE},
    };
    struct world *w = *state;
    must_load(w, "when:\n");
    see(w, runs, 7);
    proposes(
        w, "  # decide: a success with a different answer than without faults: is it good enough?\n"
           "  - fails: pricing GET /a\n"
           "    then: { status: 200, json: { /total: 9500 }, effects: same }\n"
           "  - fails: pricing GET /b\n"
           "    then: unaffected\n"
           "  - fails: pricing GET /c\n"
           "    then: unaffected\n"
           "  # decide: a success with a different answer than without faults: is it good enough?\n"
           "  - fails: [ pricing GET /a, pricing GET /b ]\n"
           "    then: { status: 200, json: { /total: 9900 }, effects: same }\n"
           "  # decide: a success with a different answer than without faults: is it good enough?\n"
           "  - fails: [ pricing GET /a, pricing GET /b, pricing GET /c ]\n"
           "    then: { status: 200, json: { /total: 10000 }, effects: same }\n");
}

static void tries_payloads_and_callers_are_told_apart(void **state)
{
    static const struct given runs[] = {
        {"user GET /me : 503", 200, BODY, DONE "; user GET /me #1"},
        {"user GET /me : 503 & user GET /me #1 : 503", 503, "", ""},
        {"cart GET /cart {0000000a} : 503", 503, "", ""},
        {"cart GET /cart {0000000b} : 503", 200, BODY, DONE},
        {"pricing GET /p > mail POST /x : 503", 503, "", ""},
        {"mail POST /x : 503", 200, BODY, DONE},
        {"pricing GET /q > user GET /t : 503", 200, BODY, DONE "; pricing GET /q #1 > user GET /t"},
        {"pricing GET /q > user GET /t : 503 & pricing GET /q #1 > user GET /t : 503", 503, "", ""},
    };
    struct world *w = *state;
    must_load(w, "when:\n");
    see(w, runs, 8);
    proposes(w, "  - fails: user GET /me\n"
                "    then: { status: 503, effects: none }\n"
                "  - fails: \"user GET /me #0\"\n"
                "    then: unaffected\n"
                "  - fails: cart GET /cart {0000000a}\n"
                "    then: { status: 503, effects: none }\n"
                "  - fails: cart GET /cart {0000000b}\n"
                "    then: unaffected\n"
                "  - fails: gate POST /buy > mail POST /x\n"
                "    then: unaffected\n"
                "  - fails: pricing GET /p > mail POST /x\n"
                "    then: { status: 503, effects: none }\n"
                "  - fails: user GET /t\n"
                "    then: { status: 503, effects: none }\n"
                "  - fails: \"pricing GET /q #0 > user GET /t #0\"\n"
                "    then: unaffected\n");
}

/* After a failed try the next one succeeded: that nothing happens when all fail does not follow. */
static void a_rule_does_not_reach_further_than_what_was_seen(void **state)
{
    static const struct given runs[] = {
        {"user GET /t : 503", 200, BODY, DONE "; user GET /t #1"},
        {"pricing GET /q > user GET /u : 503", 200, BODY, DONE "; pricing GET /q #1 > user GET /u"},
    };
    struct world *w = *state;
    must_load(w, "when:\n");
    see(w, runs, 2);
    proposes(w, "  - fails: \"user GET /t #0\"\n"
                "    then: unaffected\n"
                "  - fails: \"pricing GET /q #0 > user GET /u #0\"\n"
                "    then: unaffected\n");
}

/* What a rule speaks of itself is a finding, not a line to add; nor is what follows from it. */
static void what_differs_is_not_proposed(void **state)
{
    static const struct given runs[] = {
        {"cart GET /cart : 503", 200, FULL, DONE},
        {"cart GET /cart : 503 & mail POST /notice : 503", 200, FULL, "cart PUT /discount"},
        {"user GET /me : 503", 503, "", ""},
    };
    struct world *w = *state;
    must_load(w, COMPOSED);
    see(w, runs, 3);
    proposes(w, "");
}

/* ---- the end ---- */

struct heard {
    struct buf text;
};

static void hear(void *ctx, const char *text)
{
    struct heard *h = ctx;
    buf_addf(&h->text, "%s\n", text);
}

static void stale_rules_and_hidden_remarks_are_said(void **state)
{
    struct world *w = *state;
    struct heard h = {BUF_INIT(1 << 14)};
    struct summary summary = {0};
    faultload f;
    must_load(w, COMPOSED);
    PASSES(w, "user GET /me : 503", 503, "", "");
    PASSES(w, "pricing GET /p : 503 & cart GET /cart : 503", 200, FULL, "");
    PASSES(w, "cart PUT /discount : 503", 200, FULL, "");
    contract_remark(w->c, false, &summary, hear, &h);
    assert_string_equal(buf_text(&h.text), "");
    contract_remark(w->c, true, &summary, hear, &h);
    assert_string_equal(buf_text(&h.text),
                        "the rule on line 8 of buy.yaml (when mail fails, then unaffected) was "
                        "never used: nothing that was tried matches it\n");
    buf_clear(&h.text);
    assert_int_equal(
        faultload_parse(&w->names, &w->fl, SLICE(ROOT "user GET /me : 503"), &f, &w->e), 0);
    vec_push(&summary.remarks, (struct remark){.oracle = "wrong-status",
                                               .severity = SEVERITY_WARNING,
                                               .why = "it is wrong",
                                               .faultload = f});
    contract_remark(w->c, false, &summary, hear, &h);
    assert_string_equal(buf_text(&h.text),
                        "the rule on line 2 of buy.yaml (when user fails, then { status: 503 }) "
                        "allows what the oracle wrong-status objects to: it is wrong\n");
    (void)why(w, (struct given){"user GET /me : 503", 200, BODY, DONE}); /* by now it differs */
    buf_clear(&h.text);
    contract_remark(w->c, false, &summary, hear, &h);
    assert_string_equal(buf_text(&h.text), "");
    vec_deinit(&summary.remarks);
    buf_deinit(&h.text);
}

static void updates(struct world *w, const char *text, const char *wanted)
{
    struct buf out = BUF_INIT(1 << 16);
    struct err e = {0};
    bool done = contract_update(w->c, slice_of(text), &out, &e);
    if (!done)
        fail_msg("%s", e.text);
    assert_string_equal(buf_text(&out), wanted);
    buf_deinit(&out);
}

static void an_update_changes_what_changed(void **state)
{
    static const char *const before = "# ours\n"
                                      "scenario: buy\n"
                                      "without-faults: { status: 201 } # created\n"
                                      "when:\n"
                                      "  # hard\n"
                                      "  - fails: user      # the account\n"
                                      "    then: { status: [ 500, 503 ],\n"
                                      "            effects: none }   # as agreed\n"
                                      "\n"
                                      "  - fails: mail\n"
                                      "    then: unaffected # nobody notices\n"
                                      "  - fails: cart GET /cart\n"
                                      "    then:\n"
                                      "      status: 404\n"
                                      "      # not there\n"
                                      "      effects: none\n"
                                      "  - then: unaffected\n"
                                      "    fails: cart PUT /discount\n"
                                      "  # the end\n"
                                      "reads: [ \"* GET *\" ]";
    static const char *const after =
        "# ours\n"
        "scenario: buy\n"
        "without-faults: { status: 200 } # created\n"
        "when:\n"
        "  # hard\n"
        "  - fails: user      # the account\n"
        "    then: { status: 502, effects: none }   # as agreed\n"
        "\n"
        "  - fails: mail\n"
        "    then: unaffected # nobody notices\n"
        "  - fails: cart GET /cart\n"
        "    then:\n"
        "      unaffected\n"
        "  - then: { status: 200, json: { /total: 10000 }, effects: same }\n"
        "    fails: cart PUT /discount\n"
        "  - fails: pricing GET /p  # hard\n"
        "    then: { status: 503, effects: none }\n"
        "  # the end\n"
        "reads: [ \"* GET *\" ]";
    static const struct given runs[] = {
        {"user GET /me : 503", 502, "", ""},
        {"mail POST /notice : 503", 200, BODY, "cart PUT /discount"},
        {"cart GET /cart : 503", 200, BODY, DONE},
        {"cart PUT /discount : 503", 200, FULL, NOTICE},
        {"pricing GET /p : 503", 503, "", ""},
    };
    struct world *w = *state;
    must_load(w, before);
    see(w, runs, 5);
    updates(w, before, after);
    must_load(w, after);
    see(w, runs, 5);
    updates(w, after, after);
}

static void an_update_that_cannot_be_made_is_an_error(void **state)
{
    static const char *const text = "when: [ { fails: user, then: unaffected } ]\n";
    struct world *w = *state;
    struct buf out = BUF_INIT(1 << 16);
    struct err e = {0};
    must_load(w, text);
    (void)why(w, (struct given){"pricing GET /p : 503", 503, "", ""});
    assert_false(contract_update(w->c, slice_of(text), &out, &e));
    assert_non_null(strstr(e.text, "write `when` as a list with a dash before each rule"));
    buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(bad_files_are_refused_with_their_place),
        TEST(an_empty_file_is_an_empty_contract),
        TEST(the_most_precise_rule_wins),
        TEST(ambiguity_names_both_rules),
        TEST(ambiguity_does_not_depend_on_the_order),
        TEST(one_of_two_outcomes_is_not_something_else),
        TEST(unaffected_means_all_of_it),
        TEST(every_key_of_then_is_held),
        TEST(fault_free_runs_must_be_clean),
        TEST(what_fails_by_itself_is_not_excused),
        TEST(what_must_hold_under_faults_stays),
        TEST(commands_are_declared_by_their_exit_code),
        TEST(faults_are_composed),
        TEST(tries_are_one_failing_call),
        TEST(a_fallback_is_declared_with_what_it_stands_in_for),
        TEST(a_broken_rule_is_one_reason),
        TEST(lines_are_grouped),
        TEST(combinations_are_proposed_where_they_are_not_implied),
        TEST(tries_payloads_and_callers_are_told_apart),
        TEST(a_rule_does_not_reach_further_than_what_was_seen),
        TEST(what_differs_is_not_proposed),
        TEST(stale_rules_and_hidden_remarks_are_said),
        TEST(an_update_changes_what_changed),
        TEST(an_update_that_cannot_be_made_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
