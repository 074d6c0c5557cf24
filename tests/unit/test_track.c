/* SPDX-License-Identifier: Apache-2.0
 *
 * track: heads in, names and parents out. What is learned of them: test_lessons.c. */
#include "support/track_lab.h"

/* ---- levels ---- */

static void test_state(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin(&l);
    struct head at_a = asked(&l, r), at_b, from;
    /* a calls b twice at once, through an address that says nothing: each says for whom it acts */
    from = passed(&l, &at_a, STATE);
    struct call_fate first =
        arrive(&l, (struct arrival){.service = B, .caller = CALLER_UNKNOWN, .head = &from}, &at_b);
    struct call_fate second =
        arrive(&l, (struct arrival){.service = B, .caller = CALLER_UNKNOWN, .head = &from}, NULL);
    struct head from_b = passed(&l, &at_b, STATE);
    struct call_fate deep =
        arrive(&l, (struct arrival){.service = C, .caller = CALLER_UNKNOWN, .head = &from_b}, NULL);
    assert_int_equal(first.run, r->key);
    assert_name(&l, call_at(r, first.call)->uid, "a GET / > b GET /");
    assert_name(&l, call_at(r, second.call)->uid, "a GET / > b GET / #1");
    assert_name(&l, call_at(r, deep.call)->uid, "a GET / > b GET / > c GET /");
    assert_int_equal(call_at(r, deep.call)->parent, first.call);
    assert_int_equal(call_at(r, deep.call)->flags & CALL_AMBIGUOUS, 0);
    assert_int_equal((&l.lessons->facts[A])->by[TRACK_STATE], 2);
    assert_int_equal((&l.lessons->facts[B])->by[TRACK_STATE], 1);
    assert_int_equal(r->n_open, 3);
    ended(&l, deep);
    ended(&l, deep); /* twice is once */
    assert_int_equal(r->n_open, 2);
    finish(&l, r);
    assert_int_equal(l.trace.calls.n, 4);
    lab_close(&l);
}

/* A call that no head carries says for whom it is made by the same value. */
static void test_no_head(void **state)
{
    (void)state;
    struct lab l;
    struct call_fate fate, deep;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin(&l);
    struct track_arrival a = {.service = B,
                              .caller = CALLER_UNKNOWN,
                              .interface = SLICE("read"),
                              .context = {.run = r->key, .call = 0},
                              .start_ns = ++l.now};
    assert_ptr_equal(track_arrive(l.t, &a, &fate), r);
    assert_int_equal(fate.run, r->key);
    a.service = C;
    a.context.call = fate.call;
    assert_ptr_equal(track_arrive(l.t, &a, &deep), r);
    assert_name(&l, call_at(r, deep.call)->uid, "a GET / > b read > c read");
    assert_int_equal(call_at(r, deep.call)->flags, 0);
    a.context.run = 12345; /* of no run that is known */
    assert_null(track_arrive(l.t, &a, &deep));
    assert_int_equal(deep.run, 0);
    finish(&l, r);
    lab_close(&l);
}

static void test_trace(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin(&l);
    struct head at_a = asked(&l, r), from = passed(&l, &at_a, "x-b3-traceid"), at_b;
    struct call_fate b =
        arrive(&l, (struct arrival){.service = B, .caller = A, .head = &from}, &at_b);
    from = passed(&l, &at_b, "x-b3-traceid");
    struct call_fate c =
        arrive(&l, (struct arrival){.service = C, .caller = B, .head = &from}, NULL);
    assert_name(&l, call_at(r, c.call)->uid, "a GET / > b GET / > c GET /");
    assert_int_equal(call_at(r, c.call)->parent, b.call);
    assert_int_equal((&l.lessons->facts[B])->by[TRACK_TRACE], 1);
    /* a second call of b is open: for which of them does it act? */
    struct call_fate again =
        arrive(&l, (struct arrival){.service = B, .caller = A, .head = &from}, NULL);
    struct call_fate guess =
        arrive(&l, (struct arrival){.service = D, .caller = B, .head = &from}, NULL);
    assert_int_equal(call_at(r, guess.call)->parent, again.call);
    assert_true(call_at(r, guess.call)->flags & CALL_AMBIGUOUS);
    assert_int_equal((&l.lessons->facts[B])->ambiguous, 1);
    finish(&l, r);
    lab_close(&l);
}

static void test_none(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin(&l);
    struct call_fate b = arrive(&l, (struct arrival){.service = B, .caller = A}, NULL);
    l.owner = B; /* known by its process */
    struct call_fate c = arrive(&l, (struct arrival){.service = C, .caller = CALLER_UNKNOWN}, NULL);
    assert_int_equal(call_at(r, c.call)->parent, b.call);
    assert_int_equal((&l.lessons->facts[B])->by[TRACK_NONE], 1);
    l.owner = SERVICES; /* nobody knows: the scenario's own request, but that is a guess */
    struct call_fate d = arrive(&l, (struct arrival){.service = D, .caller = CALLER_UNKNOWN}, NULL);
    assert_int_equal(call_at(r, d.call)->parent, 0);
    assert_true(call_at(r, d.call)->flags & CALL_AMBIGUOUS);
    ended(&l, b);
    struct call_fate late =
        arrive(&l, (struct arrival){.service = D, .caller = B}, NULL); /* after its answer */
    assert_int_equal(call_at(r, late.call)->parent, b.call);
    assert_false(call_at(r, late.call)->flags & CALL_AMBIGUOUS);
    finish(&l, r);
    lab_close(&l);
}

/* What a call asked for: known where all of it was seen, at its arrival or at its end. */
static void test_asked(void **state)
{
    static const struct {
        const char *target, *key_name, *key, *body;
        bool whole;
        const char *later; /* the body, known at the end */
        char request, idempotency_key;
    } rows[] = {
        {"/a?x=1", "idempotency-key", "k1", "", true, NULL, 'a', 'a'},
        {"/a?x=1", "X-Idempotency-Key", "k1", "", true, NULL, 'a', 'a'},
        {"/a?x=2", "idempotency-key", "k2", "", true, NULL, 'b', 'b'},
        {"/a?x=1", "idempotency", "k2", "{}", true, NULL, 'c', '-'},
        {"/a?x=1", "Idempotency-Key", "", "", false, NULL, '-', '-'},
        {"/a?x=1", "none", "", "part", false, NULL, '-', '-'},
        {"/a?x=1", "none", "", "", false, "{}", 'c', '-'},
        {"/a?x=1", "none", "", "", false, "", 'a', '-'},
        {"/a?x=2", "none", "", "", true, "{}", 'b', '-'}, /* what was known is kept */
    };
    uint32_t request[4] = {0}, key[4] = {0}; /* by letter; the last: none */
    struct lab l;
    (void)state;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin(&l);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct field field = {slice_of(rows[i].key_name), slice_of(rows[i].key)};
        struct head head = {.target = slice_of(rows[i].target), .fields = &field, .n_fields = 1};
        struct arrival x = {
            .service = B, .caller = A, .head = &head, .body = rows[i].body, .whole = rows[i].whole};
        struct call_fate b = arrive(&l, x, NULL);
        if (rows[i].later)
            track_asked(l.t, b.run, b.call, head.target, slice_of(rows[i].later));
        ended(&l, b);
        const struct call *c = call_at(r, b.call);
        uint32_t *seen = &request[rows[i].request == '-' ? 3 : rows[i].request - 'a'];
        uint32_t *had = &key[rows[i].idempotency_key == '-' ? 3 : rows[i].idempotency_key - 'a'];
        *seen = *seen ? *seen : c->request;
        *had = *had ? *had : c->key;
        if (*seen != c->request || *had != c->key || !c->request != (rows[i].request == '-') ||
            !c->key != (rows[i].idempotency_key == '-'))
            fail_msg("row %zu: %x %x", i, (unsigned)c->request, (unsigned)c->key);
    }
    assert_true(request[0] != request[1] && request[1] != request[2] && request[0] != request[2]);
    assert_int_not_equal(key[0], key[1]);
    track_asked(l.t, 12345, 0, SLICE("/"), SLICE("")); /* of no run: nothing happens */
    finish(&l, r);
    lab_close(&l);
}

/* A level that is forced: nothing better is written or believed. */
static void test_forced(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){.best = TRACK_NONE});
    struct track_run *r = begin(&l);
    assert_int_equal(asked(&l, r).n_fields, 0);
    struct head at_b;
    arrive(&l, (struct arrival){.service = B, .caller = A}, &at_b);
    assert_int_equal(at_b.n_fields, 0);
    finish(&l, r);
    lab_close(&l);

    lab_open(&l, (struct track_options){.best = TRACK_TRACE});
    r = begin(&l);
    struct head at_a = asked(&l, r);
    assert_int_equal(passed(&l, &at_a, "tracestate baggage").n_fields, 0);
    assert_int_equal(passed(&l, &at_a, "traceparent").n_fields, 1);
    struct buf member = BUF_INIT(100);
    context_member(r->id, 0, &member);
    struct field ours[] = {{SLICE("tracestate"), buf_slice(&member)}};
    struct head says = {.fields = ours, .n_fields = 1};
    arrive(&l, (struct arrival){.service = B, .caller = A, .head = &says}, NULL);
    assert_int_equal((&l.lessons->facts[A])->by[TRACK_STATE], 0);
    buf_deinit(&member);
    finish(&l, r);
    lab_close(&l);
}

/* ---- several runs ---- */

static void test_several(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct track_run *one = begin_in(&l, 0, A, false), *two = begin_in(&l, 5, A, false);
    assert_true(one->key != two->key);
    struct head from_one = asked(&l, one), from_two = asked(&l, two);
    from_one = passed(&l, &from_one, STATE);
    from_two = passed(&l, &from_two, "x-request-id"); /* a trace id is enough to tell runs apart */
    assert_int_equal(
        arrive(&l, (struct arrival){.service = B, .caller = A, .head = &from_one}, NULL).run,
        one->key);
    assert_int_equal(
        arrive(&l, (struct arrival){.service = B, .caller = A, .head = &from_two}, NULL).run,
        two->key);
    /* what says nothing is of nobody, and that is noticed */
    struct head sent;
    assert_int_equal(arrive(&l, (struct arrival){.service = C, .caller = B}, &sent).run, 0);
    assert_int_equal(sent.n_fields, 0);
    assert_int_equal(l.lessons->lost, 1);
    assert_int_equal(l.lessons->lost_by, B);
    finish(&l, one);
    assert_int_equal(arrive(&l, (struct arrival){.service = C, .caller = B}, NULL).run, two->key);
    /* one that is only about to begin may be meant as well */
    assert_int_equal(
        arrive(&l, (struct arrival){.service = C, .caller = B, .crowded = true}, NULL).run, 0);
    assert_int_equal(l.lessons->lost, 2);
    /* somebody from outside is not of ours */
    assert_int_equal(
        arrive(&l, (struct arrival){.service = C, .caller = CALLER_UNKNOWN, .crowded = true}, NULL)
            .run,
        0);
    assert_int_equal(l.lessons->lost, 2);
    finish(&l, two);
    lab_close(&l);
}

/* Runs of two scenarios take turns, and side by side: what comes late, or says nothing, is counted
 * where it belongs, and payloads are looked at as each has learned. */
static void test_apart(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct lessons *first = l.lessons, *second = lessons_new(SERVICES);
    struct track_run *one = begin_in(&l, 0, A, false);
    l.lessons = second;
    struct track_run *two = begin_in(&l, 1, A, false);
    struct head of_one = asked(&l, one), of_two = asked(&l, two);
    of_one = passed(&l, &of_one, STATE);
    of_two = passed(&l, &of_two, STATE);
    arrive(&l, (struct arrival){.service = B, .caller = A, .head = &of_one}, NULL);
    assert_int_equal(first->facts[A].made, 1);
    assert_int_equal(second->facts[A].made, 0);
    arrive(&l, (struct arrival){.service = B, .caller = A}, NULL); /* whose? */
    assert_int_equal(first->lost, 1);
    assert_int_equal(second->lost, 1);
    first->decided = true;                                 /* no payload is part of names */
    assert_true(track_wants_body(l.t, B, SLICE("GET /"))); /* but the other is not sure of that */
    finish(&l, two);
    assert_false(track_wants_body(l.t, B, SLICE("GET /")));
    arrive(&l, (struct arrival){.service = C, .caller = A, .head = &of_two}, NULL);
    assert_int_equal(second->strays.n, 1);
    assert_int_equal(first->strays.n, 0);
    finish(&l, one);
    lessons_drop(second); /* gone, but not for what still comes of its run */
    arrive(&l, (struct arrival){.service = C, .caller = A, .head = &of_two}, NULL);
    l.lessons = first;
    lab_close(&l);
}

/* Each client has its doors; what comes to them when its run is not under way is let through. */
static void test_clients(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct track_run *one = begin_in(&l, 0, CALLER_CLIENT, false);
    struct track_run *two = begin_in(&l, 1, CALLER_CLIENT, false);
    struct head at_b;
    struct call_fate b =
        arrive(&l, (struct arrival){.service = B, .caller = CALLER_CLIENT | 1}, &at_b);
    assert_int_equal(b.run, two->key);
    assert_true(call_at(two, b.call)->flags & CALL_EXEMPT);
    assert_name(&l, call_at(two, b.call)->uid, "client GET / > b GET /");
    struct head from = passed(&l, &at_b, STATE);
    struct call_fate c =
        arrive(&l, (struct arrival){.service = C, .caller = B, .head = &from}, NULL);
    assert_false(call_at(two, c.call)->flags & CALL_EXEMPT);
    /* an address of the client that a service was given */
    struct call_fate d = arrive(
        &l, (struct arrival){.service = D, .caller = CALLER_CLIENT | 1, .head = &from}, NULL);
    assert_int_equal(call_at(two, d.call)->parent, b.call);
    assert_false(call_at(two, d.call)->flags & CALL_EXEMPT);
    assert_int_equal(
        arrive(&l, (struct arrival){.service = B, .caller = CALLER_CLIENT | 2}, NULL).run, 0);
    assert_int_equal(arrive(&l, (struct arrival){.service = B, .caller = CALLER_CLIENT}, NULL).run,
                     one->key);
    finish(&l, one);
    assert_int_equal(arrive(&l, (struct arrival){.service = B, .caller = CALLER_CLIENT}, NULL).run,
                     0);
    finish(&l, two);
    lab_close(&l);
}

/* Exempt calls are never failed, those below them are. */
static void test_plan(void **state)
{
    (void)state;
    struct lab l;
    struct err e = {0};
    lab_open(&l, (struct track_options){0});
    assert_int_equal(aim_add(&l.aim, ANY_VOCABULARY(&l.names), UID_NONE, SLICE("* * #* : 503"), &e),
                     0);
    struct track_run *r = begin_in(&l, 0, CALLER_CLIENT, false);
    struct head at_b;
    struct call_fate b = arrive(&l, (struct arrival){.service = B, .caller = CALLER_CLIENT}, &at_b);
    assert_int_equal(b.mode, MODE_NONE);
    struct head from = passed(&l, &at_b, STATE);
    struct call_fate c =
        arrive(&l, (struct arrival){.service = C, .caller = B, .head = &from}, NULL);
    assert_true(c.mode != MODE_NONE);
    track_ended(l.t, c.run, c.call, OUTCOME_OK, OUTCOME_OK, true, false, ++l.now);
    assert_int_equal(call_at(r, c.call)->mode, MODE_NONE); /* it did not come to it */
    finish(&l, r);
    lab_close(&l);
}

/* What arrives in a block is exempt, and so is all below it, also when that arrives later; names
 * are those of calls outside of blocks. */
static void test_blocks(void **state)
{
    (void)state;
    struct lab l;
    struct err e = {0};
    lab_open(&l, (struct track_options){0});
    assert_int_equal(aim_add(&l.aim, ANY_VOCABULARY(&l.names), UID_NONE, SLICE("* * #* : 503"), &e),
                     0);
    struct track_run *r = begin_in(&l, 0, CALLER_CLIENT, false);
    struct track_run *other = begin_in(&l, 1, CALLER_CLIENT, false);
    struct head at_b, at_c;
    assert_int_equal(r->blocks, 0);
    assert_false(track_unhush(r)); /* none is open */
    assert_true(track_hush(r) && track_hush(r));
    struct call_fate b = arrive(&l, (struct arrival){.service = B, .caller = CALLER_CLIENT}, &at_b);
    assert_true(track_unhush(r) && r->blocks > 0); /* the outer one */
    struct head from = passed(&l, &at_b, STATE);
    struct call_fate c =
        arrive(&l, (struct arrival){.service = C, .caller = B, .head = &from}, &at_c);
    assert_int_equal(c.mode, MODE_NONE);
    assert_true(call_at(r, c.call)->flags & CALL_EXEMPT);
    assert_true(call_at(r, c.call)->flags & CALL_HTTP);
    /* the other run is under way, too */
    struct head at_other;
    arrive(&l, (struct arrival){.service = B, .caller = CALLER_CLIENT | 1}, &at_other);
    struct head others = passed(&l, &at_other, STATE);
    assert_true(
        arrive(&l, (struct arrival){.service = C, .caller = B, .head = &others}, NULL).mode);
    assert_true(track_unhush(r) && r->blocks == 0 && !track_unhush(r));
    /* below a call of the block, but late */
    struct head late = passed(&l, &at_c, STATE);
    struct call_fate d =
        arrive(&l, (struct arrival){.service = D, .caller = C, .head = &late}, NULL);
    assert_int_equal(d.mode, MODE_NONE);
    assert_true(call_at(r, b.call)->flags & call_at(r, c.call)->flags & CALL_HUSHED);
    assert_true(call_at(r, d.call)->flags & CALL_HUSHED);
    assert_name(&l, call_at(r, d.call)->uid, "client GET / > b GET / > c GET / > d GET /");
    /* after it */
    b = arrive(&l, (struct arrival){.service = B, .caller = CALLER_CLIENT}, &at_b);
    assert_name(&l, call_at(r, b.call)->uid, "client GET / > b GET / #1");
    assert_false(call_at(r, b.call)->flags & CALL_HUSHED);
    from = passed(&l, &at_b, STATE);
    c = arrive(&l, (struct arrival){.service = C, .caller = B, .head = &from}, NULL);
    assert_true(c.mode != MODE_NONE);
    assert_false(call_at(r, c.call)->flags & CALL_EXEMPT);
    for (int i = 0; i < TRACK_BLOCKS_MAX; i++)
        assert_true(track_hush(r));
    assert_false(track_hush(r));
    finish(&l, r); /* hushed as it is */
    finish(&l, other);
    lab_close(&l);
}

static void test_strays(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin(&l);
    struct head from = asked(&l, r), sent;
    from = passed(&l, &from, STATE);
    struct call_fate open =
        arrive(&l, (struct arrival){.service = B, .caller = A, .head = &from}, NULL);
    finish(&l, r);
    assert_true(l.trace.calls.at[1].flags & CALL_OPEN);
    ended(&l, open); /* too late, and no harm */
    r = begin(&l);
    assert_int_equal(
        arrive(&l,
               (struct arrival){.service = B, .caller = A, .head = &from, .interface = "GET /x"},
               &sent)
            .run,
        0);
    assert_int_equal(sent.n_fields, from.n_fields);
    assert_int_equal(r->all.trace.calls.n, 1);
    assert_int_equal(l.lessons->strays.n, 1);
    assert_true(slice_is(l.lessons->strays.call, "b GET /x"));
    finish(&l, r);
    lab_close(&l);
}

/* Nothing says for which run it calls: when none is under way, it is late. */
static void test_nameless_strays(void **state)
{
    (void)state;
    struct lab l;
    struct arrival b = {.service = B, .caller = A, .idle = true};
    struct arrival from_b = {.service = C, .caller = B};
    lab_open(&l, (struct track_options){.best = TRACK_NONE});
    arrive(&l, b, NULL); /* before the first run: services that start call each other */
    assert_int_equal(l.lessons->strays.n, 0);
    struct track_run *r = begin(&l);
    assert_int_not_equal(arrive(&l, b, NULL).run, 0);
    int64_t answered = l.now + 1;
    finish(&l, r);
    b.idle = false;
    arrive(&l, b, NULL); /* a command is at work */
    b.idle = true;
    b.caller = CALLER_CLIENT;
    arrive(&l, b, NULL); /* not by a service */
    assert_int_equal(l.lessons->strays.n, 0);
    b.caller = A;
    l.now += 500;
    assert_int_equal(arrive(&l, b, NULL).run, 0);
    assert_int_equal(l.lessons->strays.n, 1);
    assert_int_equal(l.lessons->strays.late_ns, l.now - answered);
    assert_int_equal(l.lessons->strays.caller, A);
    from_b.idle = true; /* it was not called in any run, and says nothing either */
    arrive(&l, from_b, NULL);
    assert_int_equal(l.lessons->strays.n, 2);
    assert_true(slice_is(l.lessons->strays.call, "c GET /"));
    forget(&l);
    assert_int_equal(l.lessons->strays.n, 0);
    lab_close(&l);
}

static void test_late(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin(&l);
    arrive(&l, (struct arrival){.service = B, .caller = A}, NULL);
    assert_int_equal(r->late_ns, 0);
    track_answered(r, OUTCOME_OK, ++l.now);
    l.now += 1000;
    arrive(&l, (struct arrival){.service = B, .caller = A}, NULL);
    assert_in_range(r->late_ns, 1000, 1010);
    assert_int_equal(r->active_ns, l.now);
    track_end(l.t, r, &l.trace, ++l.now);
    lab_close(&l);
}

/* Calls that had not ended were handled, as far as anybody can tell: what is below them counts. */
static void test_open(void **state)
{
    (void)state;
    struct lab l;
    struct err e = {0};
    lab_open(&l, (struct track_options){0});
    assert_int_equal(aim_add(&l.aim, ANY_VOCABULARY(&l.names), UID_NONE, SLICE("c * : hold"), &e),
                     0);
    struct track_run *r = begin(&l);
    struct call_fate b = arrive(&l, (struct arrival){.service = B, .caller = A}, NULL);
    struct call_fate c = arrive(&l, (struct arrival){.service = C, .caller = B}, NULL);
    finish(&l, r);
    const struct call *calls = l.trace.calls.at;
    assert_true(calls[b.call].flags & calls[c.call].flags & CALL_OPEN);
    assert_true(calls[b.call].handled);
    assert_false(calls[c.call].handled);
    assert_true(calls[c.call].mode != MODE_NONE);
    assert_int_equal(calls[b.call].seen, OUTCOME(OUT_TIMEOUT, 0));
    for (uint32_t i = 0; i < l.trace.calls.n; i++)
        assert_true(calls[i].end_ns > calls[i].start_ns);
    lab_close(&l);
}

/* Calls that are broken off at the end count as open, and a fault that had not fired as none. */
static void test_cut(void **state)
{
    (void)state;
    struct lab l;
    struct err e = {0};
    lab_open(&l, (struct track_options){0});
    assert_int_equal(
        aim_add(&l.aim, ANY_VOCABULARY(&l.names), UID_NONE, SLICE("b * : lost-reply:503"), &e), 0);
    assert_int_equal(aim_add(&l.aim, ANY_VOCABULARY(&l.names), UID_NONE, SLICE("c * : hold"), &e),
                     0);
    struct track_run *r = begin(&l);
    struct call_fate b = arrive(&l, (struct arrival){.service = B, .caller = A}, NULL);
    struct call_fate c = arrive(&l, (struct arrival){.service = C, .caller = A}, NULL);
    r->cutting = true;
    track_ended(l.t, b.run, b.call, OUTCOME(OUT_CLOSED, 0), 0, true, false, ++l.now);
    track_ended(l.t, c.run, c.call, OUTCOME(OUT_CLOSED, 0), 0, false, true, ++l.now);
    assert_int_equal(r->n_open, 0);
    finish(&l, r);
    const struct call *calls = l.trace.calls.at;
    assert_true(calls[1].flags & CALL_OPEN && calls[2].flags & CALL_OPEN);
    assert_int_equal(calls[1].mode, MODE_NONE);
    assert_true(calls[1].handled);
    assert_true(calls[2].mode != MODE_NONE);
    assert_int_equal(outcome_kind(calls[2].seen), OUT_TIMEOUT);
    lab_close(&l);
}

static void test_ignore(void **state)
{
    (void)state;
    static const slice patterns[] = {
        {"* GET /health*", 14}, {"b *", 3}, {"c", 1}, {"d *tics*x", 9}};
    static const struct {
        uint32_t service;
        const char *interface;
        bool ignored;
    } cases[] = {
        {A, "GET /health", true},
        {A, "GET /healthy/x", true},
        {A, "POST /health", false},
        {A, "GET /heal", false},
        {B, "POST /anything", true},
        {C, "GET /", true},
        {D, "GET /metrics", false},
        {D, "GET /tics/x", true},
        {D, "GET /tics/tics/xx", true},
        {D, "GET /metticsxy", false},
        {A, "grpc.health.v1.Health/Check", true},
        {A, "my.health.v1/C", false},
    };
    struct lab l;
    lab_open(&l, (struct track_options){.ignore = patterns, .n_ignore = 4});
    struct track_run *r = begin(&l);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct arrival x = {
            .service = cases[i].service, .caller = A, .interface = cases[i].interface};
        if ((arrive(&l, x, NULL).run == 0) != cases[i].ignored)
            fail_msg("%s", cases[i].interface);
    }
    finish(&l, r);
    lab_close(&l);
}

/* Foreign members of tracestate stay, ours goes first; without a run nothing is touched at all. */
static void test_foreign(void **state)
{
    (void)state;
    struct lab l;
    struct field fields[] = {
        {SLICE("x-mine"), SLICE("1")},
        {SLICE("tracestate"), SLICE("vendor=1,other=2")},
        {SLICE("traceparent"), SLICE("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")}};
    struct head h = {.fields = fields, .n_fields = 3}, sent;
    lab_open(&l, (struct track_options){0});
    struct call_fate a = arrive(&l, (struct arrival){.service = B, .caller = A, .head = &h}, &sent);
    assert_int_equal(a.run, 0);
    assert_ptr_equal(sent.fields, fields);
    struct track_run *r = begin(&l);
    a = arrive(&l, (struct arrival){.service = B, .caller = A, .head = &h}, &sent);
    assert_int_equal(a.run, r->key);
    slice value = head_get(&sent, SLICE("tracestate"));
    assert_true(slice_starts(value, SLICE("outfox=")));
    assert_non_null(strstr(slice_copy(&l.arena, value).p, ",vendor=1,other=2"));
    assert_true(slice_is(head_get(&sent, SLICE("x-mine")), "1"));
    finish(&l, r);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_no_head),
        cmocka_unit_test(test_trace),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_asked),
        cmocka_unit_test(test_forced),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_clients),
        cmocka_unit_test(test_plan),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_strays),
        cmocka_unit_test(test_nameless_strays),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_open),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_ignore),
        cmocka_unit_test(test_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
