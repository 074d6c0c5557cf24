/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * Decision trees of handlers as they are printed. Whatever was folded, the tree says what the runs
 * say: every transcript leads through it, with exactly the runs that are told, and nothing else
 * does. */
#include "data/yaml.h"
#include "page/ledger_int.h"
#include "support/ledger_lab.h"
#include "support/random_system.h"
#include "support/unit.h"

/* ---- a document held against the runs ---- */

/* A branch of a node, with the runs that took it. */
struct taken {
    const struct node *branch;
    uint64_t runs, shown[SHOWN_MAX];
};

struct reader {
    struct ledger_lab *l;
    const struct node *handler; /* the one that is being walked */
    struct map at;              /* (handler, node, branch) -> place in taken */
    VEC(struct taken) taken;
    struct buf text;
};

static bool is_text(const struct node *value, struct buf *text)
{
    bool same = value && value->type == NODE_STR && slice_eq(value->text, buf_slice(text));
    buf_clear(text);
    return same;
}

static void take(struct reader *r, uint64_t place, const struct node *branch, uint64_t number)
{
    uint32_t at = map_index(&r->at, place, r->taken.n);
    if (at == r->taken.n)
        vec_push(&r->taken, (struct taken){.branch = branch});
    struct taken *t = &r->taken.at[at];
    if (t->runs < SHOWN_MAX)
        t->shown[t->runs] = number;
    t->runs++;
}

/* The branch for this call and outcome (call NULL: for this reply), of which there is one; *next:
 * the node behind it. */
static void follow(struct reader *r, uint32_t handler, uint32_t *node, const struct call *call,
                   outcome reply, uint64_t number)
{
    const struct node *branches =
        node_get(node_get(r->handler, SLICE("nodes"))->list[*node], SLICE("branches"));
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < branches->n; i++) {
        const struct node *b = branches->list[i], *outcomes = node_get(b, SLICE("outcomes"));
        if (call)
            element_print(&r->l->lab.names, uid_element(&r->l->lab.names, call->uid), &r->text);
        else
            outcome_print(reply, &r->text);
        if (!is_text(node_get(b, call ? SLICE("call") : SLICE("reply")), &r->text))
            continue;
        for (uint32_t k = 0; k < outcomes->n; k++) {
            label_print(call ? call_label(call) : reply, &r->text);
            if (!is_text(outcomes->list[k], &r->text))
                continue;
            assert_int_equal(found, UINT32_MAX); /* what is next is not said twice */
            found = i;
        }
    }
    assert_int_not_equal(found, UINT32_MAX);
    const struct node *branch = branches->list[found];
    take(r, (uint64_t)handler << 40 | (uint64_t)*node << 16 | found, branch, number);
    if (call)
        *node = (uint32_t)number_at(branch, "to");
}

static uint32_t find_handler(struct reader *r, const struct node *handlers, uid call)
{
    for (uint32_t i = 0; i < handlers->n; i++) {
        uid_print(&r->l->lab.names, call, &r->text);
        if (is_text(node_get(handlers->list[i], SLICE("call")), &r->text))
            return i;
    }
    fail_msg("a handler is missing");
    return 0;
}

/* How many branches a document has. */
static uint32_t count_branches(const struct node *handlers)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < handlers->n; i++) {
        const struct node *nodes = node_get(handlers->list[i], SLICE("nodes"));
        for (uint32_t k = 0; k < nodes->n; k++)
            n += node_get(nodes->list[k], SLICE("branches"))->n;
    }
    return n;
}

/* Every run through the trees; then each branch has the runs that went that way, and there is none
 * that no run went. `most`: only the first runs count. */
static void hold_against_runs(struct ledger_lab *l, const struct node *document, uint32_t most)
{
    struct reader r = {.l = l, .text = BUF_INIT(1 << 16)};
    const struct node *handlers = value_at(document, "handlers");
    struct trace_order order = {0};
    for (uint32_t i = 0; i < most; i++) {
        const struct trace *trace = &l->runs.at[i].trace;
        trace_order(trace, &l->lab.names, &order);
        for (uint32_t h = 0; h < trace->calls.n; h++) {
            if (!trace->calls.at[h].handled)
                continue;
            uint32_t node = 0, at = find_handler(&r, handlers, trace->calls.at[h].uid);
            r.handler = handlers->list[at];
            for (uint32_t c = order.first.at[h]; c < order.first.at[h + 1]; c++)
                follow(&r, at, &node, &trace->calls.at[order.child.at[c]], 0, l->runs.at[i].number);
            follow(&r, at, &node, NULL, trace->calls.at[h].reply, l->runs.at[i].number);
        }
    }
    assert_int_equal(r.taken.n, count_branches(handlers));
    for (uint32_t i = 0; i < r.taken.n; i++) {
        const struct taken *t = &r.taken.at[i];
        const struct node *shown = value_at(t->branch, "shown");
        assert_int_equal(number_at(t->branch, "runs"), t->runs);
        assert_int_equal(shown->n, t->runs < SHOWN_MAX ? t->runs : SHOWN_MAX);
        for (uint32_t k = 0; k < shown->n; k++)
            assert_int_equal((int64_t)shown->list[k]->num, t->shown[k]);
    }
    trace_order_deinit(&order);
    map_deinit(&r.at);
    vec_deinit(&r.taken);
    buf_deinit(&r.text);
}

/* No two nodes of a handler say the same of what comes next. */
static void assert_folded(const struct node *document)
{
    const struct node *handlers = value_at(document, "handlers");
    for (uint32_t i = 0; i < handlers->n; i++) {
        const struct node *nodes = node_get(handlers->list[i], SLICE("nodes"));
        for (uint32_t a = 0; a < nodes->n; a++)
            for (uint32_t b = 0; b < a; b++) {
                const struct node *x = node_get(nodes->list[a], SLICE("branches"));
                const struct node *y = node_get(nodes->list[b], SLICE("branches"));
                bool same = x->n == y->n;
                for (uint32_t k = 0; k < x->n && same; k++)
                    for (int field = 0; field < 4 && same; field++) {
                        static const slice keys[] = {
                            {"call", 4}, {"reply", 5}, {"outcomes", 8}, {"to", 2}};
                        const struct node *v = node_get(x->list[k], keys[field]);
                        const struct node *w = node_get(y->list[k], keys[field]);
                        same = (!v && !w) || (v && w && node_eq(v, w));
                    }
                assert_false(same);
            }
    }
}

static uint64_t sum_of(const struct node *document, const char *field)
{
    uint64_t sum = 0;
    const struct node *handlers = value_at(document, "handlers");
    for (uint32_t i = 0; i < handlers->n; i++)
        sum += (uint64_t)number_at(handlers->list[i], field);
    return sum;
}

static void hold(struct ledger_lab *l)
{
    struct search_stats stats;
    const struct node *document = ledger_lab_read(l, "handlers/0", 0);
    assert_non_null(document);
    hold_against_runs(l, document, l->runs.n);
    assert_folded(document);
    search_stats(l->search, &stats);
    assert_int_equal(ledger_transcripts(l->ledger), stats.transcripts);
    assert_int_equal(sum_of(document, "transcripts"), stats.transcripts);
    assert_int_equal(number_at(document, "left_out"), 0);
}

/* ---- systems ---- */

static void test_corpus(void **state)
{
    (void)state;
    static const char *const files[] = {
        "cinema-1", "cinema-2", "cinema-3", "cinema-4",  "cinema-5",     "cinema-6", "cinema-7",
        "cinema-8", "audible",  "expedia",  "mailchimp", "netflix-bugs", "netflix"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct ledger_lab l;
        struct buf path = BUF_INIT(200);
        buf_addf(&path, "examples/corpus/%s.yaml", files[i]);
        ledger_lab_init_file(&l, buf_text(&path));
        struct search_options options = lab_options(&l.lab);
        ledger_lab_explore(&l, &options, 0);
        hold(&l);
        ledger_lab_deinit(&l);
        buf_deinit(&path);
    }
}

static void test_shop(void **state)
{
    (void)state;
    struct ledger_lab l;
    ledger_lab_init_file(&l, "examples/shop/shop.yaml");
    struct search_options options = lab_options(&l.lab);
    ledger_lab_explore(&l, &options, 0);
    hold(&l);
    ledger_lab_deinit(&l);
}

static void test_random(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= volume(200); seed++) {
        struct arena arena = {0};
        struct ledger_lab l;
        ledger_lab_init(&l,
                        seed % 2 ? random_system(seed, &arena) : random_timed_system(seed, &arena));
        struct search_options options = lab_options(&l.lab);
        ledger_lab_explore(&l, &options, 400);
        hold(&l);
        ledger_lab_deinit(&l);
        arena_deinit(&arena);
    }
}

/* Both calls are made whatever becomes of the other: five outcomes each, in two branches. */
static const char absorbs[] = "system: absorbs\n"
                              "modes: [500, 502, 503, reset]\n"
                              "services:\n"
                              "  top:\n"
                              "    GET /:\n"
                              "      - call: a GET /\n"
                              "      - { call: b GET /, on: { failed: { reply: 503 } } }\n"
                              "  a: { GET /: }\n"
                              "  b: { GET /: }\n"
                              "scenarios: { main: { request: top GET / } }\n";

static void test_folded(void **state)
{
    (void)state;
    struct ledger_lab l;
    ledger_lab_init_text(&l, absorbs);
    struct search_options options = lab_options(&l.lab);
    ledger_lab_explore(&l, &options, 0);
    hold(&l);
    const struct node *top = value_at(ledger_lab_read(&l, "handlers/0", 0), "handlers/0");
    assert_true(slice_is(value_at(top, "handler")->text, "top GET /"));
    assert_true(slice_is(value_at(top, "service")->text, "top"));
    assert_int_equal(number_at(top, "runs"), 25);
    assert_int_equal(number_at(top, "transcripts"), 25);
    /* what is known: nothing, a's outcome, that b worked, that it did not */
    const struct node *nodes = value_at(top, "nodes");
    assert_int_equal(nodes->n, 4);
    assert_int_equal(value_at(nodes->list[0], "branches")->n, 1);
    assert_int_equal(value_at(nodes->list[0], "branches/0/outcomes")->n, 5);
    assert_true(slice_is(value_at(nodes->list[0], "branches/0/call")->text, "a GET /"));
    const struct node *after = nodes->list[number_at(nodes->list[0], "branches/0/to")];
    assert_int_equal(value_at(after, "branches")->n, 2);
    assert_int_equal(value_at(after, "branches/0/outcomes")->n, 1);
    assert_int_equal(number_at(after, "branches/0/runs"), 5);
    assert_int_equal(value_at(after, "branches/1/outcomes")->n, 4);
    assert_int_equal(number_at(after, "branches/1/runs"), 20);
    const struct node *bad = nodes->list[number_at(after, "branches/1/to")];
    assert_true(slice_is(value_at(bad, "branches/0/reply")->text, "503"));
    ledger_lab_deinit(&l);
}

/* Runs that the search has not asked for are no part of it; and a campaign that starts over knows
 * nothing of what was before. */
static void test_what_counts(void **state)
{
    (void)state;
    struct ledger_lab l;
    ledger_lab_init_text(&l, absorbs);
    struct search_options options = lab_options(&l.lab);
    ledger_lab_explore(&l, &options, 3);
    const struct node *before = ledger_lab_read(&l, "handlers/0", 0);
    uint64_t version = ledger_version(l.ledger);
    ledger_lab_run(&l, FAULTLOAD_EMPTY, RUN_CHECK);
    assert_true(node_eq(ledger_lab_read(&l, "handlers/0", 0), before));
    assert_int_equal(ledger_runs(l.ledger), 4);
    assert_int_not_equal(ledger_version(l.ledger), version);
    version = ledger_version(l.ledger);
    ledger_event(l.ledger, &(struct event){.type = EVENT_AGAIN});
    assert_int_equal(value_at(ledger_lab_read(&l, "handlers/0", 0), "handlers")->n, 0);
    assert_int_equal(ledger_runs(l.ledger), 0);
    assert_int_not_equal(ledger_version(l.ledger), version);
    ledger_lab_deinit(&l);
}

/* There is room for so much: what was seen before goes on being counted, what is new is left out,
 * and that is said. */
static void test_bound(void **state)
{
    (void)state;
    struct ledger_lab l;
    ledger_lab_init_text(&l, absorbs);
    struct search_options options = lab_options(&l.lab);
    ledger_lab_explore(&l, &options, 5);
    struct ledger *ledger = l.ledger;
    ledger->handlers.most = ledger->handlers.nodes.n + ledger->handlers.ends.n;
    const struct node *before = ledger_lab_read(&l, "handlers/0", 0);
    ledger_lab_explore(&l, &options, 0);
    const struct node *after = ledger_lab_read(&l, "handlers/0", 0);
    assert_int_equal(ledger->handlers.nodes.n + ledger->handlers.ends.n, ledger->handlers.most);
    assert_int_equal(number_at(after, "left_out"), 20);
    assert_int_equal(sum_of(after, "transcripts"), sum_of(before, "transcripts"));
    assert_int_equal(number_at(after, "handlers/0/runs"), 25);
    ledger_lab_deinit(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_corpus),      cmocka_unit_test(test_shop),
        cmocka_unit_test(test_random),      cmocka_unit_test(test_folded),
        cmocka_unit_test(test_what_counts), cmocka_unit_test(test_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
