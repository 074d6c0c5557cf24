/* SPDX-License-Identifier: Apache-2.0
 *
 * What came of trials: each checker with what it sees and what it does not, verdicts, findings, and
 * the agenda from the first trial to the last. */
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "report/trials.h"
#include "support/unit.h"
#include "trial/agenda.h"

#define LENGTH(of) (sizeof(of) / sizeof *(of))

static const char file[] =
    "version: 1\ntrials: kv\nnodes:\n  a: { start: x }\n  b: { start: x }\nworkload:\n"
    "  - { phase: write, each: { command: x } }\n"
    "  - { phase: read, always: true, each: { command: x } }\n"
    "essential: [SET, GET]\nexperiments: { error: true }\nreferences: 2\nmax-trials: 20\n"
    "checkers: { invariants: [ { name: whole, command: x } ], slow: 200ms, clean: [0, 1] }\n";

static void load(struct trials *t, const char *text)
{
    struct err e = {0};
    if (trials_parse(t, slice_of(text), &e))
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
}

/* ---- trials, written down ---- */

enum { CLIENTS = 4, FAULT_MS = 15 };

/* Of a client: S and s a SET that succeeds or fails, G and g a GET, w one that does not count, L a SET
 * that takes half a second, each 10ms after the other; at the end ! it is stuck, - it gave up. NULL: it
 * was not started. */
static void add_ops(struct trial_client *c, const char *text)
{
    int64_t at = c->phase * MS(1000);
    c->started = text != NULL;
    c->finished = text != NULL;
    for (const char *p = text; p && *p; p++) {
        if (*p == '!' || *p == '-') {
            c->finished = false;
            c->late = *p == '!';
            continue;
        }
        int64_t took = *p == 'L' ? MS(500) : MS(10);
        at += took;
        bool ok = *p != 's' && *p != 'g' && *p != 'w';
        slice name = *p == 'G' || *p == 'g' ? SLICE("GET")
                     : *p == 'w'            ? SLICE("INFO")
                                            : SLICE("SET");
        vec_push(&c->ops, (struct trial_op){at, took, name, ok});
        if (!ok && !c->said.n)
            c->said = SLICE("refused");
    }
}

static const char *const calm[CLIENTS] = {"SSSSSSSS", "SSSSSSSS", "GGGG", "GGGG"};

static struct trial_result *make(const struct trials *t, const struct trial_order *o, int harmed,
                                 const char *const clients[CLIENTS])
{
    struct trial_result *r = trial_result_new(t, o);
    for (uint32_t i = 0; i < CLIENTS; i++)
        add_ops(&r->clients.at[i], clients[i]);
    for (uint32_t i = 0; i < 2; i++) {
        r->nodes.at[i].alive = ALIVE_YES;
        r->nodes.at[i].threads = 4;
        r->nodes.at[i].descriptors = 20;
        vec_push(&r->nodes.at[i].lines, (struct trial_log_line){0, SLICE("warning 17 of 0x3f")});
    }
    r->invariants.at[0] = (struct trial_invariant){.asked = true, .holds = true};
    r->requests = 10;
    if (harmed < 0)
        return r;
    r->injection.done = true;
    r->injection.at_ns = MS(FAULT_MS);
    r->injection.callee = SLICE("fsync");
    r->injection.site.function = SLICE("flush");
    r->injection.raw = (struct outfox_injection){
        .done = 1, .act = o->act, .error = 5, .point = {.node = (uint16_t)harmed, .requests = 1}};
    r->injection.raw.point.key = outfox_point_key(&r->injection.raw.point);
    vec_push(&r->injection.stack, (struct trial_place){.function = SLICE("flush")});
    vec_push(&r->injection.stack, (struct trial_place){.function = SLICE("job")});
    return r;
}

static const struct trial_order quiet = {.rule = OUTFOX_RULE_NONE, .act = OUTFOX_ERROR};
static const struct trial_order error = {.rule = OUTFOX_RULE_STATE, .act = OUTFOX_ERROR};
static const struct trial_order delay = {
    .rule = OUTFOX_RULE_STATE, .act = OUTFOX_DELAY, .delay_ns = SECONDS(3)};

/* ---- what a trial means ---- */

static void says(struct trial_result *r, uint32_t node)
{
    vec_push(&r->nodes.at[node].lines, (struct trial_log_line){1, SLICE("ERROR: no sync")});
}

static void end(struct trial_result *r, uint32_t node, int status, enum trial_back back)
{
    r->nodes.at[node].ended = true;
    r->nodes.at[node].status = status;
    r->nodes.at[node].back = back;
    r->nodes.at[node].alive = ALIVE_NOT_ASKED;
}

static void logs(struct trial_result *r)
{
    says(r, 0);
}

static void gives_up(struct trial_result *r)
{
    says(r, 0);
    end(r, 0, 1 << 8, BACK_READY);
}

static void gives_up_badly(struct trial_result *r)
{
    says(r, 0);
    end(r, 0, 1 << 8, BACK_NOT);
}

static void ends_silently(struct trial_result *r)
{
    end(r, 0, 1 << 8, BACK_READY);
}

static void ends_oddly(struct trial_result *r)
{
    says(r, 0);
    end(r, 0, 3 << 8, BACK_READY);
}

static void crashes(struct trial_result *r)
{
    end(r, 0, SIGSEGV, BACK_READY);
}

static void crashes_in_shell(struct trial_result *r)
{
    end(r, 0, (128 + SIGABRT) << 8, BACK_READY);
}

static void other_ends(struct trial_result *r)
{
    says(r, 1);
    end(r, 1, 1 << 8, BACK_READY);
}

static void breaks_invariant(struct trial_result *r)
{
    r->invariants.at[0].holds = false;
}

static void leaks(struct trial_result *r)
{
    r->nodes.at[1].threads = 40;
}

static void leaks_a_little(struct trial_result *r)
{
    r->nodes.at[1].threads = 6;
    r->nodes.at[1].descriptors = 29;
}

static void hangs(struct trial_result *r)
{
    r->nodes.at[0].hung = true;
}

static void is_dead(struct trial_result *r)
{
    r->nodes.at[0].alive = ALIVE_NO;
}

static void is_broken(struct trial_result *r)
{
    r->broken = SLICE("a did not become ready");
}

static void was_not_hit(struct trial_result *r)
{
    r->injection.done = false;
}

static const struct {
    const char *what;
    const struct trial_order *order;
    int harmed;
    const char *clients[CLIENTS];
    void (*more)(struct trial_result *r);
    enum trial_verdict verdict;
    enum symptom_kind first; /* SYMPTOMS: none */
} cases[] = {
    {"nothing", &error, 0, {"SSSS", "SSSS", "GG", "GG"}, NULL, VERDICT_TOLERATED, SYMPTOMS},
    {"a line", &error, 0, {"SSSS", "SSSS", "GG", "GG"}, logs, VERDICT_TOLERATED, SYMPTOM_LOG},
    {"no fault",
     &error,
     0,
     {"SSSS", "SSSS", "GG", "GG"},
     was_not_hit,
     VERDICT_NOT_INJECTED,
     SYMPTOMS},
    {"no fault, wrong",
     &error,
     0,
     {"Ssss!", "SSSS", "GG", "GG"},
     was_not_hit,
     VERDICT_NOT_SURE,
     SYMPTOM_LASTS},
    {"broken", &error, 0, {NULL, NULL, NULL, NULL}, is_broken, VERDICT_NOT_SURE, SYMPTOMS},
    {"one failure where it was made",
     &error,
     0,
     {"SsSSSS", "SSSS", "GG", "GG"},
     NULL,
     VERDICT_EXPECTED,
     SYMPTOM_FAILURES},
    {"what fails before the fault",
     &error,
     0,
     {"sSSSSS", "SSSS", "GG", "GG"},
     NULL,
     VERDICT_TOLERATED,
     SYMPTOMS},
    {"what does not count",
     &error,
     0,
     {"SwwwwwS", "SSSS", "GG", "GG"},
     NULL,
     VERDICT_TOLERATED,
     SYMPTOMS},
    {"one failure elsewhere",
     &error,
     0,
     {"SSSS", "SsSSSS", "GG", "GG"},
     NULL,
     VERDICT_EXPECTED,
     SYMPTOM_OTHERS_FAIL},
    {"failures elsewhere alone",
     &error,
     0,
     {"SSSSSSS", "SsssssS", "GG", "GG"},
     NULL,
     VERDICT_SUSPICIOUS,
     SYMPTOM_OTHERS_FAIL},
    {"refused to the end",
     &error,
     0,
     {"SSssssss", "SSSSSS", "GG", "GG"},
     NULL,
     VERDICT_SUSPICIOUS,
     SYMPTOM_LASTS},
    {"refused to the end, for all",
     &error,
     0,
     {"SSssssss", "SSssssss", "GG", "GG"},
     NULL,
     VERDICT_SUSPICIOUS,
     SYMPTOM_LASTS},
    {"refused to the end, and dead",
     &error,
     0,
     {"SSsss", "SSSSSS", "ggg", "GG"},
     is_dead,
     VERDICT_SUSPICIOUS,
     SYMPTOM_LASTS},
    {"a stuck client",
     &error,
     0,
     {"SSSS", "SS!", "GG", "GG"},
     NULL,
     VERDICT_SUSPICIOUS,
     SYMPTOM_OTHERS_FAIL},
    {"a stuck client where it was made",
     &error,
     0,
     {"SS!", "SSSS", "GG", "GG"},
     NULL,
     VERDICT_SUSPICIOUS,
     SYMPTOM_ALIVE_FAILS},
    {"the same, not alive",
     &error,
     0,
     {"SS!", "SSSS", "GG", "GG"},
     is_dead,
     VERDICT_SUSPICIOUS,
     SYMPTOM_SUBSET},
    {"all are stuck",
     &error,
     0,
     {"SS!", "SS!", "GG", "GG"},
     is_dead,
     VERDICT_SUSPICIOUS,
     SYMPTOM_ALIVE_FAILS},
    {"a client gives up at once",
     &error,
     0,
     {"Ss-", "SSSS", "GG", "GG"},
     NULL,
     VERDICT_EXPECTED,
     SYMPTOM_SUBSET},
    {"an outage that heals at once",
     &error,
     0,
     {"SsssssSS", "SSSSSS", "GG", "GG"},
     NULL,
     VERDICT_EXPECTED,
     SYMPTOM_FAILURES},
    {"a long outage",
     &error,
     0,
     {"SsssssssssssssssssssssssssssssssssS", "SSSSSS", "GG", "GG"},
     NULL,
     VERDICT_SUSPICIOUS,
     SYMPTOM_FAILURES},
    {"a delay that is waited for",
     &delay,
     0,
     {"SsssssssssssssssssssssssssssssssssS", "SSSSSS", "GG", "GG"},
     NULL,
     VERDICT_EXPECTED,
     SYMPTOM_FAILURES},
    {"a delay that holds up a part",
     &delay,
     0,
     {"SsGsGsGsGSS", "SSSSSS", "GG", "GG"},
     NULL,
     VERDICT_SUSPICIOUS,
     SYMPTOM_FAILURES},
    {"slow", &delay, 0, {"SLSS", "SSSSSS", "GG", "GG"}, NULL, VERDICT_EXPECTED, SYMPTOM_SLOW},
    {"clean end",
     &error,
     0,
     {"Sssss-", "SSSS", NULL, "GG"},
     gives_up,
     VERDICT_EXPECTED,
     SYMPTOM_SUBSET},
    {"clean end, its clients wait",
     &error,
     0,
     {"S!", "SSSS", NULL, "GG"},
     gives_up,
     VERDICT_EXPECTED,
     SYMPTOM_SUBSET},
    {"clean end, others are refused",
     &error,
     0,
     {"Ssss-", "SSssss", "ggg-", "ggg"},
     gives_up,
     VERDICT_EXPECTED,
     SYMPTOM_LASTS},
    {"clean end, others are stuck",
     &error,
     0,
     {"Ssss-", "SS!", NULL, "GG"},
     gives_up,
     VERDICT_SUSPICIOUS,
     SYMPTOM_ALIVE_FAILS},
    {"an end without return",
     &error,
     0,
     {"Ssss-", "SSSS", NULL, "GG"},
     gives_up_badly,
     VERDICT_SUSPICIOUS,
     SYMPTOM_NOT_BACK},
    {"a silent end",
     &error,
     0,
     {"Ssss-", "SSSS", NULL, "GG"},
     ends_silently,
     VERDICT_SUSPICIOUS,
     SYMPTOM_EXIT},
    {"an end with another code",
     &error,
     0,
     {"Ssss-", "SSSS", NULL, "GG"},
     ends_oddly,
     VERDICT_SUSPICIOUS,
     SYMPTOM_EXIT},
    {"a crash",
     &error,
     0,
     {"Ssss-", "SSSS", NULL, "GG"},
     crashes,
     VERDICT_SUSPICIOUS,
     SYMPTOM_CRASH},
    {"a crash, as a shell tells it",
     &error,
     0,
     {"Ssss-", "SSSS", NULL, "GG"},
     crashes_in_shell,
     VERDICT_SUSPICIOUS,
     SYMPTOM_CRASH},
    {"the other one ends",
     &error,
     0,
     {"SSSS", "Ss-", "GG", "GG"},
     other_ends,
     VERDICT_SUSPICIOUS,
     SYMPTOM_EXIT_OTHER},
    {"an invariant",
     &error,
     0,
     {"SSSS", "SSSS", "GG", "GG"},
     breaks_invariant,
     VERDICT_SUSPICIOUS,
     SYMPTOM_INVARIANT},
    {"threads",
     &error,
     0,
     {"SSSS", "SSSS", "GG", "GG"},
     leaks,
     VERDICT_SUSPICIOUS,
     SYMPTOM_THREADS},
    {"few threads more",
     &error,
     0,
     {"SSSS", "SSSS", "GG", "GG"},
     leaks_a_little,
     VERDICT_TOLERATED,
     SYMPTOMS},
    {"it does not end",
     &error,
     0,
     {"SSSS", "SSSS", "GG", "GG"},
     hangs,
     VERDICT_SUSPICIOUS,
     SYMPTOM_HUNG},
    {"control", &quiet, -1, {"SSSSS", "SSSSS", "GG", "GG"}, NULL, VERDICT_TOLERATED, SYMPTOMS},
    {"control that fails",
     &quiet,
     -1,
     {"SSsssss", "SSSSS", "GG", "GG"},
     NULL,
     VERDICT_SUSPICIOUS,
     SYMPTOM_LASTS},
};

static struct usual *learn(const struct trials *t)
{
    struct usual *u = usual_new(t);
    for (uint32_t i = 0; i < 2; i++) {
        struct trial_result *r = make(t, &quiet, -1, calm);
        usual_learn(u, r);
        trial_result_free(r);
    }
    assert_int_equal(usual_sick(u).n, 0);
    return u;
}

static void test_verdicts(void **state)
{
    struct trials t;
    (void)state;
    load(&t, file);
    struct usual *u = learn(&t);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct trial_result *r = make(&t, cases[i].order, cases[i].harmed, cases[i].clients);
        if (cases[i].more)
            cases[i].more(r);
        trial_judge(&t, u, r);
        enum symptom_kind first = r->symptoms.n ? r->symptoms.at[0].kind : SYMPTOMS;
        if (r->verdict != cases[i].verdict || first != cases[i].first)
            fail_msg("%s: %s (%.*s), %s", cases[i].what, trial_verdict_name(r->verdict),
                     SLICE_ARG(r->reason), first < SYMPTOMS ? symptom_name(first) : "no symptom");
        assert_true(r->reason.n > 0);
        trial_result_trim(r);
        trial_result_free(r);
    }
    usual_free(u);
    trials_free(&t);
}

/* Trials without faults that say nothing. */
static void test_sick(void **state)
{
    static const struct {
        const char *clients[CLIENTS];
        void (*more)(struct trial_result *r);
        const char *says;
    } sick[] = {
        {{"SS!", "SSSS", "GG", "GG"}, NULL, "does not finish"},
        {{"SSSS", "SSSS", "GG", "GG"}, crashes, "ends without a fault"},
        {{"SSSS", "SSSS", "GG", "GG"}, breaks_invariant, "does not hold"},
        {{NULL, NULL, NULL, NULL}, is_broken, "ready"},
    };
    struct trials t;
    (void)state;
    load(&t, file);
    for (size_t i = 0; i < LENGTH(sick); i++) {
        struct usual *u = usual_new(&t);
        struct trial_result *r = make(&t, &quiet, -1, sick[i].clients);
        sick[i].more ? sick[i].more(r) : (void)0;
        usual_learn(u, r);
        assert_non_null(
            memmem(usual_sick(u).p, usual_sick(u).n, sick[i].says, strlen(sick[i].says)));
        trial_result_free(r);
        usual_free(u);
    }
    trials_free(&t);
}

/* Each symptom has a ruling that holds whatever the facts are. */
static void test_rulings(void **state)
{
    struct ruling_row row;
    bool last[SYMPTOMS] = {false};
    (void)state;
    for (uint32_t i = 0; trial_ruling(i, &row); i++) {
        assert_false(last[row.kind]); /* rows behind it would never be reached */
        last[row.kind] = strcmp(row.when, "always") == 0 || strcmp(row.when, "else") == 0;
        assert_true(row.why && *row.why);
    }
    for (uint32_t k = 0; k < SYMPTOMS; k++)
        assert_true(last[k] && *symptom_name(k) && *symptom_doc(k));
}

/* ---- the agenda ---- */

/* A system with points 0 to 9, two requests of each, in states 0 to 4: an error at a point of state 3
 * sticks, whoever calls and whenever; one at point 8 ends node b, but only once. */
enum { POINTS = 10 };

struct system {
    const struct trials *t;
    struct agenda *a;
    bool ended_once;
    uint32_t by_purpose[TRIAL_PURPOSES];
};

static struct outfox_point point_at(uint32_t i)
{
    struct outfox_point p = {.site = i < 8 ? i / 2 : i, .state = i / 2, .caller = 1 + i % 2};
    p.key = outfox_point_key(&p);
    p.requests = 2;
    return p;
}

static uint32_t errors_of(void *user, uint32_t module, uint32_t site, int errors[OUTFOX_ERRORS])
{
    (void)user, (void)module, (void)site;
    errors[0] = 5;
    errors[1] = 28;
    return 2;
}

/* Which point an order harms; POINTS: none. */
static uint32_t hit_by(const struct system *s, const struct trial_order *o)
{
    for (uint32_t i = 0; i < POINTS; i++) {
        struct outfox_point p = point_at(i);
        if ((o->rule == OUTFOX_RULE_POINT && p.key == o->key && o->nth <= 2) ||
            (o->rule == OUTFOX_RULE_STATE && policy_state(&p) == o->key) ||
            (o->rule == OUTFOX_RULE_NEW && !agenda_knows(s->a, o, policy_state(&p))) ||
            (o->rule == OUTFOX_RULE_REQUEST && (o->nth - 1) / 2 == i))
            return i;
    }
    return POINTS;
}

static struct trial_result *carry_out(struct system *s, const struct trial_order *o)
{
    static const char *const stuck[CLIENTS] = {"SSssssss", "SSSSSS", "GG", "GG"};
    uint32_t hit = hit_by(s, o);
    bool sticks = hit / 2 == 3;
    struct trial_result *r = make(s->t, o, hit < POINTS ? 0 : -1, sticks ? stuck : calm);
    for (uint32_t i = 0; i < POINTS; i++)
        vec_push(&r->points, point_at(i));
    if (hit < POINTS) {
        struct outfox_point p = point_at(hit);
        p.requests = o->rule == OUTFOX_RULE_POINT ? (uint32_t)o->nth : 1;
        r->injection.raw.point = p;
    }
    if (hit == 8 && !s->ended_once) {
        other_ends(r);
        s->ended_once = true;
    }
    return r;
}

/* All trials, some at a time; in how many steps. */
static uint32_t go(struct system *s, uint32_t at_a_time)
{
    struct trial_order under_way[8];
    uint32_t n = 0, trials = 0;
    for (;;) {
        enum agenda_answer answer = AGENDA_WAIT;
        while (n < at_a_time &&
               (answer = agenda_next(s->a, trials * MS(100), &under_way[n])) == AGENDA_ORDER) {
            assert_int_equal(under_way[n].number, ++trials);
            s->by_purpose[under_way[n++].purpose]++;
        }
        if (answer == AGENDA_OVER)
            break;
        assert_true(n > 0);
        struct trial_order o = under_way[0];
        memmove(under_way, under_way + 1, --n * sizeof *under_way);
        agenda_took(s->a, carry_out(s, &o));
    }
    assert_int_equal(n, 0);
    return trials;
}

static void check_found(const struct agenda_view *v)
{
    const struct trial_finding *one = NULL, *other = NULL;
    for (uint32_t i = 0; i < findings_n(v->findings); i++) {
        const struct trial_finding *f = findings_at(v->findings, i);
        assert_true(f->done);
        if (f->symptom == SYMPTOM_LASTS)
            one = f;
        else
            other = f;
    }
    assert_true(findings_n(v->findings) == 2 && one && other);
    assert_true(one->again_tried == 3 && one->again_shown == 3);
    assert_true(other->again_tried == 3 && other->again_shown == 0);
    assert_non_null(memmem(one->title.p, one->title.n, "EIO of fsync in flush: ", 23));
    const struct finding_variation *caller = &one->varied[VARY_CALLER],
                                   *nth = &one->varied[VARY_NTH], *code = &one->varied[VARY_ERROR];
    assert_true(caller->tried == 1 && caller->shown == 1);
    assert_true(nth->tried == 1 && nth->shown == 1);
    assert_true(code->tried == 1 && code->shown == 1);
    assert_int_equal(one->varied[VARY_STATE].tried, 0); /* no other state has that site */
    assert_true(finding_trials(one, 0) >= 1);
    assert_int_equal(finding_trials(one, 7), 0);
}

static void test_agenda(void **state)
{
    static const char *const names[] = {"bsrr", "new-state", "exhaustive"};
    (void)state;
    for (uint32_t i = 0; i < LENGTH(names); i++)
        for (uint32_t at_a_time = 1; at_a_time < 4; at_a_time++) {
            struct trials t;
            struct buf text = BUF_INIT(4000);
            buf_addf(&text, "%scontrol: 5\npolicies: %s\n", file, names[i]);
            load(&t, buf_text(&text));
            struct system s = {.t = &t, .a = agenda_new(&t, errors_of, NULL)};
            uint32_t trials = go(&s, at_a_time);
            struct agenda_view v = agenda_view(s.a);
            assert_int_equal(v.n_results, trials);
            assert_true(s.by_purpose[TRIAL_REFERENCE] == 2 && s.by_purpose[TRIAL_CONTROL] == 5);
            assert_true(v.n_legs == 1 && v.leg[0].over && v.leg[0].why.n && !v.sick.n);
            assert_int_equal(v.leg[0].trials, s.by_purpose[TRIAL_EXPLORE]);
            if (strcmp(names[i], "new-state") != 0)
                check_found(&v);
            agenda_free(s.a);
            trials_free(&t);
            buf_deinit(&text);
        }
}

/* Two policies and two experiments are four legs; the time ends them. */
static void test_legs(void **state)
{
    struct trials t;
    struct buf text = BUF_INIT(4000);
    (void)state;
    buf_addf(&text, "%spolicies: [random, bsrr]\nmax-time: 2s\n", file);
    load(&t, buf_text(&text));
    t.acts = OUTFOX_ERROR | OUTFOX_SHORT;
    t.repeats = 0;
    struct system s = {.t = &t, .a = agenda_new(&t, NULL, NULL)};
    (void)go(&s, 1);
    struct agenda_view v = agenda_view(s.a);
    assert_int_equal(v.n_legs, 4);
    assert_true(v.leg[0].trials > 0 && v.leg[3].over && v.leg[3].trials == 0);
    assert_true(v.stopped.n > 0);
    assert_int_equal(s.by_purpose[TRIAL_AGAIN] + s.by_purpose[TRIAL_VARY], 0);
    agenda_free(s.a);
    trials_free(&t);
    buf_deinit(&text);
}

/* The document says what the agenda knows, and the text what the document says. */
static void test_report(void **state)
{
    struct trials t;
    struct buf text = BUF_INIT(4000), json = BUF_INIT(1 << 20), out = BUF_INIT(1 << 20);
    struct arena arena = {0};
    const struct node *doc;
    struct err e = {0};
    (void)state;
    buf_addf(&text, "%spolicies: [exhaustive, bsrr]\ncontrol: 2\n", file);
    load(&t, buf_text(&text));
    struct system s = {.t = &t, .a = agenda_new(&t, errors_of, NULL)};
    (void)go(&s, 1);
    struct agenda_view v = agenda_view(s.a);
    trials_print_json(&v, "0", SECONDS(3), (slice){0}, &json);
    assert_int_equal(trials_document_read(&arena, "x", buf_slice(&json), &doc, &e), 0);
    trials_document_text(doc, &style_plain, &out);
    const char *says = buf_text(&out);
    assert_non_null(strstr(says, "control: 2 without faults, 0 suspicious"));
    assert_non_null(strstr(says, "EIO of fsync in flush: operations fail from the fault"));
    assert_non_null(strstr(says, "again: 3 of 3"));
    assert_non_null(strstr(says, "trials until found  exhaustive (error)        bsrr (error)\n"));
    agenda_free(s.a);
    buf_deinit(&text);
    buf_deinit(&json);
    buf_deinit(&out);
    arena_deinit(&arena);
    trials_free(&t);
}

static void test_replay(void **state)
{
    struct trial_order o, again;
    struct buf text = BUF_INIT(200);
    struct err e = {0};
    struct trials t;
    (void)state;
    load(&t, file);
    assert_int_equal(trial_order_read(SLICE("1f00ba44:3:error:5:7"), &o, &e), 0);
    assert_true(o.key == 0x1f00ba44 && o.nth == 3 && o.error == 5 && o.seed == 7);
    trial_order_print(&o, &text);
    assert_int_equal(trial_order_read(buf_slice(&text), &again, &e), 0);
    assert_memory_equal(&o, &again, sizeof o);
    assert_int_equal(trial_order_read(SLICE("1f:1:delay:3s:0"), &o, &e), 0);
    assert_true(o.act == OUTFOX_DELAY && o.delay_ns == SECONDS(3));
    static const char *const wrong[] = {"",
                                        "1",
                                        "0:1:error:5:0",
                                        "1:0:error:5:0",
                                        "1:1:eror:5:0",
                                        "1:1:delay:5:0",
                                        "1:1:error:5:0:0",
                                        "x:1:error:5:0"};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        memset(&e, 0, sizeof e);
        assert_int_equal(trial_order_read(slice_of(wrong[i]), &again, &e), -1);
        assert_true(e.text[0]);
    }
    struct outfox_point p = point_at(6);
    o = (struct trial_order){
        .rule = OUTFOX_RULE_POINT, .act = OUTFOX_ERROR, .key = p.key, .nth = 1};
    struct system s = {.t = &t, .a = agenda_new_replay(&t, &o, 3)};
    (void)go(&s, 2);
    assert_int_equal(s.by_purpose[TRIAL_REPLAY], 3);
    struct agenda_view v = agenda_view(s.a);
    assert_int_equal(v.result[v.n_results - 1]->verdict, VERDICT_SUSPICIOUS);
    agenda_free(s.a);
    buf_deinit(&text);
    trials_free(&t);
}

/* References that are not well end all; so do trials that cannot be carried out. */
static void test_stopped(void **state)
{
    struct trials t;
    struct trial_order o;
    (void)state;
    load(&t, file);
    struct agenda *a = agenda_new(&t, NULL, NULL);
    assert_int_equal(agenda_next(a, 0, &o), AGENDA_ORDER);
    struct trial_result *r = make(&t, &o, -1, calm);
    crashes(r);
    agenda_took(a, r);
    assert_int_equal(agenda_next(a, 0, &o), AGENDA_OVER);
    assert_true(agenda_view(a).sick.n > 0);
    agenda_free(a);

    a = agenda_new(&t, NULL, NULL);
    uint32_t n = 0;
    for (; agenda_next(a, 0, &o) == AGENDA_ORDER; n++) {
        r = make(&t, &o, -1, calm);
        r->broken = n < 2 ? (slice){0} : SLICE("a did not start");
        agenda_took(a, r);
    }
    assert_int_equal(n, 12);
    assert_true(agenda_view(a).stopped.n && !agenda_view(a).sick.n);
    agenda_free(a);
    trials_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rulings), cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_sick),    cmocka_unit_test(test_agenda),
        cmocka_unit_test(test_legs),    cmocka_unit_test(test_replay),
        cmocka_unit_test(test_stopped), cmocka_unit_test(test_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
