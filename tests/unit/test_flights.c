/* SPDX-License-Identifier: Apache-2.0
 * more-in-soak
 *
 * Several runs under way, runs that are forgotten, campaigns that are resumed: over random systems
 * and the corpus, what comes of it is the same as one run after the other. */

#include <stdio.h>
#include <stdlib.h>

#include "base/hash.h"
#include "base/random.h"
#include "support/lab.h"
#include "support/random_system.h"
#include "support/unit.h"

enum {
    SYSTEMS = 300,
    RUNS_MAX = 60 /* of a random system that is worth resuming at every place */
};

/* Where a system comes from: one of these. */
struct source {
    const struct node *node;
    const char *text, *path;
};

/* A search in a lab of its own, and what it showed, in a form that other labs understand. */
struct trial {
    struct lab lab;
    struct search *search;
    struct map facts;  /* (handler, transcript, reply), as hashes of their text */
    struct map whys;   /* (why, status) of failing runs */
    struct map counts; /* faultloads, as hashes of their text -> how often they were observed */
    uint64_t n_wasted; /* runs that were made ahead of a turn that never came */
};

static void trial_init(struct trial *t, const struct source *source, struct search_options options)
{
    struct err e = {0};
    *t = (struct trial){0};
    int failed = source->node   ? lab_init(&t->lab, source->node, &e)
                 : source->path ? lab_init_file(&t->lab, source->path, &e)
                                : lab_init_text(&t->lab, source->text, &e);
    if (failed)
        fail_msg("%u:%u: %s", e.line, e.col, e.text);
    struct search_options own = lab_options(&t->lab);
    options.modes = own.modes;
    options.n_modes = own.n_modes;
    t->search = search_new(&t->lab.names, &t->lab.fl, &options);
}

static void trial_deinit(struct trial *t)
{
    search_free(t->search);
    map_deinit(&t->facts);
    map_deinit(&t->whys);
    map_deinit(&t->counts);
    lab_deinit(&t->lab);
}

static void add_fact(struct trial *t, uint32_t handler)
{
    const struct lab *lab = &t->lab;
    struct buf text = BUF_INIT(1 << 16);
    uid_print(&lab->names, lab->trace.calls.at[handler].uid, &text);
    for (uint32_t i = lab->order.first.at[handler]; i < lab->order.first.at[handler + 1]; i++) {
        const struct call *c = &lab->trace.calls.at[lab->order.child.at[i]];
        buf_addc(&text, '|');
        element_print(&lab->names, uid_element(&lab->names, c->uid), &text);
        buf_addc(&text, '=');
        label_print(call_label(c), &text);
    }
    buf_addc(&text, '|');
    outcome_print(lab->trace.calls.at[handler].reply, &text);
    map_count(&t->facts, hash_slice(buf_slice(&text)));
    buf_deinit(&text);
}

static void run_and_observe(struct trial *t, faultload f)
{
    struct lab *lab = &t->lab;
    struct buf text = BUF_INIT(1 << 16);
    lab_run(lab, f);
    faultload_print(&lab->names, &lab->fl, f, &text);
    map_count(&t->counts, hash_slice(buf_slice(&text)));
    buf_deinit(&text);
    trace_order(&lab->trace, &lab->names, &lab->order);
    for (uint32_t i = 0; i < lab->trace.calls.n; i++)
        if (lab->trace.calls.at[i].handled)
            add_fact(t, i);
    if (!lab->verdict.pass)
        map_count(&t->whys, hash_mix(hash_slice(slice_of(lab->verdict.why)), lab->verdict.status));
    search_observe(t->search, f, &lab->trace, &lab->verdict);
}

typedef VEC(faultload) faultload_list;

static faultload take_out(faultload_list *list, uint32_t i)
{
    faultload f = list->at[i];
    for (list->n--; i < list->n; i++)
        list->at[i] = list->at[i + 1];
    return f;
}

/* Observes what has ended and has its turn, at most so many; what has lost it goes. */
static uint64_t observe_ended(struct trial *t, faultload_list *ended, uint64_t most)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < ended->n && n < most;) {
        enum search_turn turn = search_turn(t->search, ended->at[i]);
        if (turn == TURN_LATER) {
            i++;
            continue;
        }
        faultload f = take_out(ended, i);
        t->n_wasted += turn == TURN_NEVER;
        if (turn == TURN_NOW) {
            run_and_observe(t, f);
            n++;
            i = 0;
        }
    }
    return n;
}

/* Up to `width` runs under way, which end in random order; one in `forget` (0: none) is forgotten.
 * Ends after max_runs observations (0: no bound); what is under way then is forgotten too. */
static void drive(struct trial *t, uint32_t width, struct rng *rng, uint32_t forget,
                  uint64_t max_runs)
{
    faultload_list flying = {0}, ended = {0};
    faultload f;
    uint64_t left = max_runs ? max_runs : UINT64_MAX;
    while (left > 0) {
        while (flying.n < width && search_next(t->search, &f))
            vec_push(&flying, f);
        assert_true(search_done(t->search) || flying.n > 0);
        if (flying.n == 0)
            break;
        f = take_out(&flying, rng_below(rng, flying.n));
        if (forget && rng_below(rng, forget) == 0) {
            search_forget(t->search, f);
            continue;
        }
        if (search_turn(t->search, f) != TURN_NOW)
            lab_run(&t->lab, f); /* what it calls gets its names now */
        vec_push(&ended, f);
        left -= observe_ended(t, &ended, left);
    }
    for (uint32_t i = 0; i < flying.n; i++)
        search_forget(t->search, flying.at[i]);
    for (uint32_t i = 0; i < ended.n; i++)
        search_forget(t->search, ended.at[i]);
    vec_deinit(&flying);
    vec_deinit(&ended);
}

/* Observes the first k runs of `past` as a store would give them: as text, by nobody asked for. */
static void observe_past(struct trial *t, const struct trial *past, uint32_t k)
{
    uint32_t n;
    const struct search_run *runs = search_runs(past->search, &n);
    struct err e = {0};
    for (uint32_t i = 0; i < k; i++) {
        struct buf text = BUF_INIT(1 << 16);
        faultload f;
        faultload_print(&past->lab.names, &past->lab.fl, runs[i].faultload, &text);
        if (faultload_parse(&t->lab.names, &t->lab.fl, buf_slice(&text), &f, &e))
            fail_msg("%s", e.text);
        run_and_observe(t, f);
        buf_deinit(&text);
    }
}

static bool within(const struct map *a, const struct map *b)
{
    for (uint32_t i = 0; i < a->items.n; i++)
        if (!map_get(b, a->items.at[i].key))
            return false;
    return true;
}

static bool equal(const struct map *a, const struct map *b)
{
    return a->items.n == b->items.n && within(a, b);
}

static bool same_counts(const struct map *a, const struct map *b)
{
    if (!equal(a, b))
        return false;
    for (uint32_t i = 0; i < a->items.n; i++)
        if (*map_get(b, a->items.at[i].key) != a->items.at[i].value)
            return false;
    return true;
}

/* Was a faultload run more often than it should be? */
static bool repeated(const struct trial *t, uint32_t baselines)
{
    for (uint32_t i = 0; i < t->counts.items.n; i++) {
        bool none = t->counts.items.at[i].key == hash_slice(SLICE("none"));
        if (t->counts.items.at[i].value != (none ? baselines : 1))
            return true;
    }
    return false;
}

static uint64_t suspects(const struct trial *t)
{
    uint32_t n;
    uint64_t total;
    search_suspects(t->search, &n, &total);
    return total;
}

/* The same way to the same end? */
static const char *same_course(const struct trial *a, const struct trial *b)
{
    struct search_stats x = {0}, y = {0};
    uint32_t n, m;
    const struct search_run *ra = search_runs(a->search, &n), *rb = search_runs(b->search, &m);
    search_stats(a->search, &x);
    search_stats(b->search, &y);
    if (n != m)
        return "another number of runs";
    for (uint32_t i = 0; i < n; i++)
        if (ra[i].purpose != rb[i].purpose || ra[i].fired != rb[i].fired ||
            ra[i].status != rb[i].status)
            return "another run";
    if (x.points != y.points || x.conditional != y.conditional || x.runs != y.runs ||
        x.repeats != y.repeats || x.audited != y.audited || x.edges != y.edges ||
        x.transcripts != y.transcripts || x.dropped != y.dropped || x.queued != y.queued ||
        x.complete != y.complete || memcmp(x.skipped, y.skipped, sizeof x.skipped) != 0)
        return "other figures";
    if (!same_counts(&a->counts, &b->counts))
        return "other faultloads";
    if (suspects(a) != suspects(b))
        return "other suspects";
    return same_counts(&a->facts, &b->facts) && same_counts(&a->whys, &b->whys) ? NULL
                                                                                : "other results";
}

static const char *same_end(const struct trial *one, const struct trial *many, uint32_t baselines)
{
    struct search_stats stats;
    search_stats(many->search, &stats);
    if (!stats.complete)
        return "it did not end";
    if (suspects(many))
        return "something was suspect in a deterministic system";
    if (repeated(many, baselines))
        return "a run was repeated";
    if (!equal(&one->facts, &many->facts))
        return "other facts";
    return equal(&one->whys, &many->whys) ? NULL : "other findings";
}

/* ---- claims, each of one system ---- */

typedef const char *claim(const struct source *source, struct rng *rng);

static uint32_t lineage(void)
{
    return order_find(SLICE("lineage"));
}

/* Several at once, in this order, end as one after the other by size. */
static const char *width(const struct source *source, struct rng *rng, uint32_t order)
{
    static const uint32_t widths[] = {2, 8};
    struct search_options options = {.baselines = 3};
    struct trial one, many;
    const char *wrong = NULL;
    trial_init(&one, source, options);
    drive(&one, 1, rng, 0, 0);
    options.order = order;
    for (size_t i = 0; i < sizeof widths / sizeof *widths && !wrong; i++) {
        trial_init(&many, source, options);
        drive(&many, widths[i], rng, i ? 4 : 0, 0);
        wrong = same_end(&one, &many, 3);
        trial_deinit(&many);
    }
    trial_deinit(&one);
    return wrong;
}

static const char *claim_width(const struct source *source, struct rng *rng)
{
    return width(source, rng, 0);
}

static const char *claim_width_lineage(const struct source *source, struct rng *rng)
{
    return width(source, rng, lineage());
}

/* Stopped anywhere with several runs under way, and gone on with. */
static const char *resume_many(const struct source *source, struct rng *rng, uint32_t order)
{
    struct search_options options = {.baselines = 2};
    struct trial one, first, rest;
    const char *wrong = NULL;
    trial_init(&one, source, options);
    drive(&one, 1, rng, 0, 0);
    options.order = order;
    uint32_t n;
    search_runs(one.search, &n);
    for (int round = 0; round < 4 && !wrong; round++) {
        trial_init(&first, source, options);
        trial_init(&rest, source, options);
        drive(&first, 8, rng, 0, 1 + rng_below(rng, n));
        search_runs(first.search, &n);
        observe_past(&rest, &first, n);
        drive(&rest, 8, rng, 0, 0);
        wrong = same_end(&one, &rest, 2);
        trial_deinit(&first);
        trial_deinit(&rest);
    }
    trial_deinit(&one);
    return wrong;
}

static const char *claim_resume_many(const struct source *source, struct rng *rng)
{
    return resume_many(source, rng, 0);
}

static const char *claim_resume_many_lineage(const struct source *source, struct rng *rng)
{
    return resume_many(source, rng, lineage());
}

/* Stopped after every run, and gone on with: exactly the same runs. */
static const char *resume(const struct source *source, struct rng *rng,
                          struct search_options options, uint32_t step)
{
    struct trial whole, resumed;
    const char *wrong = NULL;
    uint32_t n;
    trial_init(&whole, source, options);
    drive(&whole, 1, rng, 0, RUNS_MAX);
    search_runs(whole.search, &n);
    for (uint32_t k = 0; k <= n && !wrong; k += step) {
        trial_init(&resumed, source, options);
        observe_past(&resumed, &whole, k);
        if (k < RUNS_MAX)
            drive(&resumed, 1, rng, 0, RUNS_MAX - k);
        if (k < RUNS_MAX)
            wrong = same_course(&whole, &resumed);
        trial_deinit(&resumed);
    }
    trial_deinit(&whole);
    return wrong;
}

static const char *claim_resume(const struct source *source, struct rng *rng)
{
    return resume(source, rng, (struct search_options){.baselines = 2}, 1);
}

static const char *claim_resume_random(const struct source *source, struct rng *rng)
{
    return resume(source, rng, (struct search_options){.baselines = 1, .order = 2, .seed = 5}, 3);
}

static const char *claim_resume_lineage(const struct source *source, struct rng *rng)
{
    return resume(source, rng, (struct search_options){.baselines = 2, .order = lineage()}, 1);
}

static const char *claim_resume_reduced(const struct source *source, struct rng *rng)
{
    static const struct search_options rows[] = {
        {.assume = 1u << REDUCE_STATELESS, .audit = 50},
        {.assume = 1u << REDUCE_MODES, .audit = 50},
        {.assume = 1u << REDUCE_MODES_ONCE, .audit = 50},
        {.assume = 1u << REDUCE_RETRIES, .audit = 50},
        {.assume = 1u << REDUCE_MAX_FAULTS, .max_faults = 2, .audit = 20},
        {.assume = 1u << REDUCE_T_WAY, .t_way = 2, .audit = 50},
        {.assume = 1u << REDUCE_MODES_ONCE | 1u << REDUCE_RETRIES | 1u << REDUCE_STATELESS},
    };
    const char *wrong = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && !wrong; i++)
        wrong = resume(source, rng, rows[i], 5);
    return wrong;
}

static void add_all(struct map *to, const struct map *from)
{
    for (uint32_t i = 0; i < from->items.n; i++)
        map_count(to, from->items.at[i].key);
}

/* Shards together show what one search alone does, and no run is in two of them. */
static const char *claim_shards(const struct source *source, struct rng *rng)
{
    static const uint32_t shards[] = {2, 3, 7};
    struct trial alone, part;
    const char *wrong = NULL;
    trial_init(&alone, source, (struct search_options){.baselines = 1});
    drive(&alone, 1, rng, 0, 0);
    for (size_t i = 0; i < sizeof shards / sizeof *shards && !wrong; i++) {
        struct trial all = {0}; /* only its maps */
        for (uint32_t k = 0; k < shards[i] && !wrong; k++) {
            trial_init(&part, source,
                       (struct search_options){.baselines = 1, .shard = k, .shards = shards[i]});
            drive(&part, 1 + (uint32_t)i * 3, rng, 0, 0);
            if (suspects(&part) || repeated(&part, 1))
                wrong = "something was suspect, or run twice";
            add_all(&all.facts, &part.facts);
            add_all(&all.whys, &part.whys);
            add_all(&all.counts, &part.counts);
            trial_deinit(&part);
        }
        for (uint32_t k = 0; k < all.counts.items.n && !wrong; k++)
            if (all.counts.items.at[k].value > 1 &&
                all.counts.items.at[k].key != hash_slice(SLICE("none")))
                wrong = "a run is in two shards";
        if (!wrong && !equal(&alone.facts, &all.facts))
            wrong = "other facts";
        if (!wrong && !equal(&alone.whys, &all.whys))
            wrong = "other findings";
        map_deinit(&all.facts);
        map_deinit(&all.whys);
        map_deinit(&all.counts);
    }
    trial_deinit(&alone);
    return wrong;
}

/* Phases wait for what is under way: t-way combines when all single faults were seen, and audits
 * come last. */
static const char *in_phases(const struct trial *t, bool t_way)
{
    uint32_t n;
    const struct search_run *runs = search_runs(t->search, &n);
    for (uint32_t i = 1; i < n; i++) {
        uint32_t size = faultload_size(&t->lab.fl, runs[i].faultload);
        uint32_t before = faultload_size(&t->lab.fl, runs[i - 1].faultload);
        if (runs[i].purpose < runs[i - 1].purpose)
            return "an audit before its time";
        if (t_way && runs[i].purpose == FOR_SEARCH && size == 1 && before > 1)
            return "a combination before all single faults were seen";
    }
    return NULL;
}

/* A reduced search with several at once, some forgotten, ends, and shows nothing that the exact one
 * does not; and so it does when it is resumed. */
static const char *claim_reduced_many(const struct source *source, struct rng *rng)
{
    struct search_options options = {.audit = 30};
    struct trial exact, first, rest;
    struct search_stats stats;
    const char *wrong = NULL;
    uint32_t n;
    trial_init(&exact, source, (struct search_options){.baselines = 1});
    drive(&exact, 1, rng, 0, 0);
    for (enum reduction r = 0; r < REDUCTIONS && !wrong; r++) {
        options.assume = 1u << r;
        options.max_faults = options.t_way = 2;
        trial_init(&first, source, options);
        trial_init(&rest, source, options);
        drive(&first, 4, rng, 5, 1 + rng_below(rng, 50));
        search_runs(first.search, &n);
        observe_past(&rest, &first, n);
        drive(&rest, 4, rng, 5, 0);
        search_stats(rest.search, &stats);
        wrong = in_phases(&first, r == REDUCE_T_WAY);
        if (!stats.complete)
            wrong = "it did not end";
        else if (!within(&rest.facts, &exact.facts))
            wrong = "a reduced search showed what the exact one did not";
        trial_deinit(&first);
        trial_deinit(&rest);
    }
    trial_deinit(&exact);
    return wrong;
}

/* Under every reduction and in every order, the same runs are observed one after the other however
 * many are under way. */
static const char *claim_reduced_width(const struct source *source, struct rng *rng)
{
    static const uint32_t widths[] = {2, 4, 8};
    const char *wrong = NULL;
    for (uint32_t r = 0; r < REDUCTIONS && !wrong; r++) {
        struct search_options options = {.assume = 1u << r,
                                         .max_faults = 2,
                                         .t_way = 2,
                                         .baselines = 1,
                                         .audit = 20,
                                         .order = rng_below(rng, order_count)};
        struct trial one, many;
        trial_init(&one, source, options);
        drive(&one, 1, rng, 0, 0);
        for (size_t i = 0; i < sizeof widths / sizeof *widths && !wrong; i++) {
            trial_init(&many, source, options);
            drive(&many, widths[i], rng, i == 1 ? 5 : 0, 0);
            wrong = same_course(&one, &many);
            trial_deinit(&many);
        }
        if (wrong)
            print_error("%s\n", reduction_rows[r].name);
        trial_deinit(&one);
    }
    return wrong;
}

/* ---- the runner ---- */

/* Is it small enough to be tried in many ways, and large enough to be worth it? */
static bool fits(const struct source *source)
{
    struct trial t;
    struct rng rng = {0};
    uint32_t n;
    trial_init(&t, source, (struct search_options){.baselines = 1});
    drive(&t, 1, &rng, 0, RUNS_MAX);
    search_runs(t.search, &n);
    trial_deinit(&t);
    return n > 4 && n < RUNS_MAX;
}

static void for_systems(claim *check, uint32_t n)
{
    struct rng rng = {3};
    for (uint64_t seed = 0; n > 0; seed++) {
        struct arena a = {0};
        struct source source = {.node = random_system(seed, &a)};
        const char *wrong = NULL;
        if (fits(&source)) {
            wrong = check(&source, &rng);
            n--;
        }
        if (wrong) {
            struct buf text = BUF_INIT(1 << 20);
            node_print(source.node, &text);
            print_error("seed %llu: %s\n%s\n", (unsigned long long)seed, wrong, buf_text(&text));
            fail();
        }
        arena_deinit(&a);
    }
}

#define TEST(name, n)                                                                              \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        for_systems(claim_##name, volume(n));                                                      \
    }

TEST(width, SYSTEMS)
TEST(width_lineage, SYSTEMS)
TEST(resume_lineage, SYSTEMS / 4)
TEST(resume_many_lineage, SYSTEMS / 2)
TEST(resume, SYSTEMS / 4)
TEST(resume_many, SYSTEMS / 2)
TEST(resume_random, SYSTEMS / 3)
TEST(resume_reduced, SYSTEMS / 6)
TEST(reduced_many, SYSTEMS / 4)
TEST(reduced_width, SYSTEMS)
TEST(shards, SYSTEMS)

static void test_corpus(void **state)
{
    static const char *const names[] = {"audible",  "cinema-1", "cinema-2", "cinema-3",
                                        "cinema-4", "cinema-5", "cinema-6", "cinema-7",
                                        "cinema-8", "expedia",  "mailchimp"};
    const char *top = getenv("TOP");
    struct rng rng = {4};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[500];
        snprintf(path, sizeof path, "%s/examples/corpus/%s.yaml", top ? top : ".", names[i]);
        struct source source = {.path = path};
        const char *wrong = claim_width(&source, &rng);
        if (!wrong)
            wrong = claim_shards(&source, &rng);
        if (!wrong)
            wrong = claim_resume_many(&source, &rng);
        if (!wrong)
            wrong = resume(&source, &rng, (struct search_options){.baselines = 3}, 7);
        if (wrong)
            fail_msg("%s: %s", names[i], wrong);
    }
}

/* ---- systems that do not do the same twice ---- */

static const char *const unstable[] = {
    "system: x\nidentify: { payload: on }\nservices:\n"
    "  top:\n    GET /:\n      - call: a POST /\n        payload: { id: \"{random}\" }\n"
    "        on: { failed: { call: b GET / } }\n      - call: c GET /\n"
    "  a: { POST /: }\n  b: { GET /: }\n  c: { GET /: }\n"
    "scenarios: { main: { request: top GET / } }\n",
    "system: x\nservices:\n"
    "  top:\n    GET /:\n      - choose:\n          - [ { call: a GET / } ]\n"
    "          - [ { call: b GET / } ]\n      - call: c GET /\n"
    "  a: { GET /: }\n  b: { GET /: }\n  c: { GET /: }\n"
    "scenarios: { main: { request: top GET / } }\n",
};

/* Attempts count as such after a resumption too, and none is given once too often. */
static void test_unstable(void **state)
{
    struct rng rng = {5};
    (void)state;
    for (size_t i = 0; i < sizeof unstable / sizeof *unstable; i++) {
        struct source source = {.text = unstable[i]};
        struct trial t;
        struct search_stats stats;
        const char *wrong = resume(&source, &rng, (struct search_options){.baselines = 3}, 1);
        if (wrong)
            fail_msg("%zu: %s", i, wrong);
        trial_init(&t, &source, (struct search_options){0});
        drive(&t, 8, &rng, 6, 5000);
        search_stats(t.search, &stats);
        assert_true(stats.complete);
        assert_true(suspects(&t) > 0);
        assert_true(stats.repeats > 2);
        trial_deinit(&t);
    }
}

/* ---- by hand ---- */

static const char *const two_calls = "system: x\nmodes: [503]\nservices:\n"
                                     "  top: { GET /: [ { call: a GET / }, { call: b GET / } ] }\n"
                                     "  a: { GET /: }\n  b: { GET /: }\n"
                                     "scenarios: { main: { request: top GET / } }\n";

/* Nothing but fault-free runs until all of them were observed. */
static void test_baselines(void **state)
{
    struct source source = {.text = two_calls};
    struct trial t;
    faultload f;
    (void)state;
    trial_init(&t, &source, (struct search_options){.baselines = 3});
    for (int i = 0; i < 3; i++) {
        assert_true(search_next(t.search, &f));
        assert_int_equal(f, FAULTLOAD_EMPTY);
    }
    assert_false(search_next(t.search, &f));
    assert_false(search_done(t.search));
    run_and_observe(&t, FAULTLOAD_EMPTY);
    run_and_observe(&t, FAULTLOAD_EMPTY);
    assert_false(search_next(t.search, &f));
    search_forget(t.search, FAULTLOAD_EMPTY);
    assert_true(search_next(t.search, &f));
    assert_int_equal(f, FAULTLOAD_EMPTY);
    assert_false(search_next(t.search, &f));
    run_and_observe(&t, FAULTLOAD_EMPTY);
    assert_true(search_next(t.search, &f));
    assert_int_equal(faultload_size(&t.lab.fl, f), 1);
    trial_deinit(&t);
}

/* A faultload that is queued and was observed out of turn is not run; one that nobody would have
 * asked for does no harm. */
static void test_strangers(void **state)
{
    static const char *const past[] = {
        "none",
        "none",
        "none",
        "top GET / > b GET / : 503",
        "top GET / > b GET / : 500",                             /* a mode that is not in use */
        "top GET / > c GET / : 503",                             /* a call that nobody makes */
        "top GET / > a GET / : 503 & top GET / > b GET / : 503", /* before its causes */
        "top GET / > b GET / : 500 & top GET / > a GET / : 503", /* not in causal order */
        "none"};
    struct source source = {.text = two_calls};
    struct trial t;
    struct err e = {0};
    struct rng rng = {6};
    struct search_stats stats;
    faultload f;
    (void)state;
    trial_init(&t, &source, (struct search_options){0});
    for (size_t i = 0; i < sizeof past / sizeof *past; i++) {
        assert_int_equal(faultload_parse(&t.lab.names, &t.lab.fl, slice_of(past[i]), &f, &e), 0);
        run_and_observe(&t, f);
    }
    assert_true(search_next(t.search, &f)); /* the attempt that did not fire comes again, or a */
    search_forget(t.search, f);
    drive(&t, 2, &rng, 0, 0);
    search_stats(t.search, &stats);
    assert_true(stats.complete);
    assert_int_equal(stats.runs, 1 + 5); /* a alone has nothing to show any more */
    for (uint32_t i = 0; i < t.counts.items.n; i++)
        assert_true(t.counts.items.at[i].value == 1 || t.counts.items.at[i].value == 3 ||
                    t.counts.items.at[i].value == 4);
    search_forget(t.search, f); /* of nothing under way */
    assert_true(search_done(t.search));
    trial_deinit(&t);
}

/* All attempts of a faultload were made before it would have been queued: it is not run again. */
static void test_early(void **state)
{
    struct source source = {.text = two_calls};
    struct trial t;
    struct err e = {0};
    struct rng rng = {7};
    struct search_stats stats;
    faultload f;
    (void)state;
    trial_init(&t, &source, (struct search_options){0});
    assert_int_equal(
        faultload_parse(&t.lab.names, &t.lab.fl, SLICE("top GET / > a GET / : 503"), &f, &e), 0);
    lab_run(&t.lab, FAULTLOAD_EMPTY);
    for (int i = 0; i < 3; i++)
        search_observe(t.search, f, &t.lab.trace, &t.lab.verdict);
    assert_int_equal(suspects(&t), 1);
    drive(&t, 1, &rng, 0, 0);
    search_stats(t.search, &stats);
    assert_true(stats.complete);
    assert_int_equal(stats.runs, 3); /* a, in vain; none; b */
    assert_int_equal(stats.repeats, 4);
    trial_deinit(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_baselines),      cmocka_unit_test(test_strangers),
        cmocka_unit_test(test_early),          cmocka_unit_test(test_width),
        cmocka_unit_test(test_resume),         cmocka_unit_test(test_resume_many),
        cmocka_unit_test(test_resume_random),  cmocka_unit_test(test_resume_reduced),
        cmocka_unit_test(test_reduced_many),   cmocka_unit_test(test_shards),
        cmocka_unit_test(test_reduced_width),  cmocka_unit_test(test_corpus),
        cmocka_unit_test(test_unstable),       cmocka_unit_test(test_width_lineage),
        cmocka_unit_test(test_resume_lineage), cmocka_unit_test(test_resume_many_lineage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
