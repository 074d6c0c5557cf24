/* SPDX-License-Identifier: Apache-2.0
 *
 * The journal of a campaign: what goes in comes out, in another process too; what is damaged is refused
 * and never more than that. */
#include "base/random.h"
#include "store/journal.h"
#include "support/store_lab.h"

enum { RUNS = 40 };

/* What is read, held against what was written. */
struct reading {
    struct store_world *w; /* of the writer */
    struct names *names;   /* of the reader */
    struct faultloads *fl;
    uint64_t runs;
};

static void text_of(const struct names *names, uid u, struct buf *out)
{
    buf_clear(out);
    if (u != UID_NONE)
        uid_print(names, u, out);
}

static void same_uid(struct reading *r, uid was, uid is)
{
    struct buf a = BUF_INIT(1 << 16), b = BUF_INIT(1 << 16);
    text_of(&r->w->names, was, &a);
    text_of(r->names, is, &b);
    assert_true(slice_eq(buf_slice(&a), buf_slice(&b)));
    buf_deinit(&a);
    buf_deinit(&b);
}

static uint8_t mark_of(uint64_t run, uint32_t call)
{
    return run % 5 ? (uint8_t)((run + call) % 2) : JOURNAL_TELLS;
}

static int compare(void *ctx, const struct journal_entry *entry)
{
    struct reading *r = ctx;
    struct run run = store_case_run(r->w, ++r->runs);
    struct buf a = BUF_INIT(1 << 16), b = BUF_INIT(1 << 16);
    faultload_print(&r->w->names, &r->w->fl, run.faultload, &a);
    faultload_print(r->names, r->fl, entry->faultload, &b);
    assert_string_equal(buf_text(&a), buf_text(&b));
    assert_int_equal(entry->trace->calls.n, run.trace.calls.n);
    for (uint32_t i = 0; i < run.trace.calls.n; i++) {
        const struct call *was = &run.trace.calls.at[i], *is = &entry->trace->calls.at[i];
        same_uid(r, was->uid, is->uid);
        same_uid(r, was->fault_point, is->fault_point);
        assert_int_equal(was->parent, is->parent);
        assert_int_equal(was->mode, is->mode);
        assert_int_equal(was->seen, is->seen);
        assert_int_equal(was->reply, is->reply);
        assert_int_equal(was->handled, is->handled);
        assert_int_equal(was->flags, is->flags);
        assert_int_equal(entry->marks[i], mark_of(r->runs, i));
        assert_true(was->start_ns == is->start_ns && was->end_ns == is->end_ns);
    }
    vec_deinit(&run.trace.calls);
    buf_deinit(&a);
    buf_deinit(&b);
    return 0;
}

static struct journal *write_runs(struct store_world *w)
{
    struct journal *j = journal_new(&w->names, &w->fl);
    for (uint64_t i = 1; i <= RUNS; i++) {
        struct run run = store_case_run(w, i);
        uint8_t *marks = mem_zero(run.trace.calls.n);
        for (uint32_t k = 0; k < run.trace.calls.n; k++)
            marks[k] = mark_of(i, k);
        struct journal_entry entry = {run.faultload, &run.trace, i % 5 ? marks : NULL};
        assert_true(journal_add(j, &entry));
        mem_free(marks);
        vec_deinit(&run.trace.calls);
    }
    return j;
}

static void test_round_trip(void **state)
{
    struct store_world w;
    struct names names;
    struct faultloads fl;
    (void)state;
    store_world_init(&w);
    names_init(&names);
    faultloads_init(&fl);
    struct journal *j = write_runs(&w);
    struct reading r = {.w = &w, .names = &names, .fl = &fl};
    assert_int_equal(journal_read(journal_chunk(j), &names, &fl, compare, &r), 0);
    assert_int_equal(r.runs, RUNS);
    journal_clear(j); /* the next chunk can be read alone */
    assert_int_equal(journal_chunk(j).n, 0);
    journal_free(j);
    faultloads_deinit(&fl);
    names_deinit(&names);
    store_world_deinit(&w);
}

static int count(void *ctx, const struct journal_entry *entry)
{
    (void)entry;
    ++*(uint64_t *)ctx;
    return 0;
}

/* Whatever stands there: no crash, no run that cannot be. Cut off anywhere within an entry, refused. */
static void test_damage(void **state)
{
    struct store_world w;
    struct rng rng = {7};
    uint64_t n = 0, refused = 0;
    (void)state;
    store_world_init(&w);
    struct journal *j = write_runs(&w);
    slice chunk = journal_chunk(j);
    for (uint32_t i = 0; i < 3000; i++) {
        struct names names;
        struct faultloads fl;
        char *copy = mem_alloc(chunk.n);
        memcpy(copy, chunk.p, chunk.n);
        names_init(&names);
        faultloads_init(&fl);
        for (uint32_t k = 0; k <= i % 3; k++)
            copy[rng_below(&rng, (uint32_t)chunk.n)] = (char)rng_below(&rng, 256);
        slice cut = {copy, i % 4 ? chunk.n : rng_below(&rng, (uint32_t)chunk.n)};
        refused += journal_read(cut, &names, &fl, count, &n) != 0;
        faultloads_deinit(&fl);
        names_deinit(&names);
        mem_free(copy);
    }
    assert_true(refused > 1000);
    journal_free(j);
    store_world_deinit(&w);
}

static int add_up(void *ctx, uint64_t last, slice chunk, struct err *e)
{
    (void)e;
    ((uint64_t *)ctx)[0] += last;
    ((uint64_t *)ctx)[1] += chunk.n;
    return 0;
}

static void test_store(void **state)
{
    struct store *s;
    struct err e = {0};
    uint64_t campaign, seen[2] = {0};
    (void)state;
    assert_int_equal(store_open(PATH, STORE_WRITE, &s, &e), 0);
    assert_int_equal(store_begin(s, SLICE("checkout"), &campaign, &e), 0);
    assert_int_equal(journal_keep(s, campaign, 0, SLICE("abc"), &e), 0);
    assert_int_equal(journal_keep(s, campaign, 7, SLICE("defgh"), &e), 0);
    assert_int_equal(journal_each(s, campaign, add_up, seen, &e), 0);
    assert_true(seen[0] == 7 && seen[1] == 8);
    assert_int_equal(store_begin(s, SLICE("checkout"), &campaign, &e), 0); /* all of it is gone */
    assert_int_equal(journal_each(s, campaign, add_up, seen, &e), 0);
    assert_true(seen[0] == 7 && seen[1] == 8);
    store_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_damage),
                                       cmocka_unit_test_setup_teardown(test_store, enter, leave)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
