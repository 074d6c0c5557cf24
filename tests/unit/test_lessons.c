/* SPDX-License-Identifier: Apache-2.0
 *
 * track: what fault-free runs teach, and the names that calls get by it. */
#include "support/track_lab.h"

/* One fault-free run in which a calls b twice, with these bodies. */
static struct track_lesson *lesson(struct lab *l, const char *first, const char *second)
{
    struct track_run *r = begin_in(l, 0, A, true);
    ended(l, arrive(l, (struct arrival){.service = B, .caller = A, .body = first}, NULL));
    ended(l, arrive(l, (struct arrival){.service = B, .caller = A, .body = second}, NULL));
    track_answered(r, OUTCOME_OK, ++l->now);
    return track_end_learning(l->t, r, ++l->now);
}

static void learn(struct lab *l, struct track_lesson **lessons)
{
    lessons[0] = lesson(l, "{\"item\": 1, \"t\": 11}", "{\"item\": 2, \"t\": 12}");
    lessons[1] = lesson(l, "{\"item\": 2, \"t\": 13}", "{\"item\": 1, \"t\": 14}");
    lessons[2] = lesson(l, "{\"item\": 1, \"t\": 15}", "{\"item\": 2, \"t\": 16}");
    track_decide(l->t, l->lessons, lessons, 3);
}

static uid name_of(struct lab *l, struct arrival x)
{
    struct track_run *r = begin(l);
    struct call_fate a = arrive(l, x, NULL);
    uid u = call_at(r, a.call)->uid;
    finish(l, r);
    return u;
}

static void test_payload(void **state)
{
    (void)state;
    struct lab l;
    struct track_lesson *lessons[3];
    lab_open(&l, (struct track_options){0});
    assert_false(track_wants_body(l.t, B, SLICE("GET /"))); /* nothing is under way */
    learn(&l, lessons);
    struct trace first = {0}, second = {0};
    trace_copy(track_lesson_trace(lessons[0]), &first);
    trace_copy(track_lesson_trace(lessons[1]), &second);
    assert_int_equal(first.calls.at[1].uid, second.calls.at[2].uid); /* the order does not matter */
    assert_int_equal(first.calls.at[2].uid, second.calls.at[1].uid);
    assert_true(first.calls.at[1].uid != first.calls.at[2].uid);
    assert_int_equal(uid_element(&l.names, first.calls.at[2].uid)->n, 0);
    uid named = name_of(
        &l, (struct arrival){.service = B, .caller = A, .body = "{\"t\": 99, \"item\": 2}"});
    assert_int_equal(named, first.calls.at[2].uid);
    vec_deinit(&first.calls);
    vec_deinit(&second.calls);

    /* what was learned outlives the process */
    struct lab other;
    struct buf text = BUF_INIT(100000), again = BUF_INIT(100000);
    lab_open(&other, (struct track_options){0});
    lessons_print(l.lessons, &text);
    assert_int_equal(lessons_parse(other.lessons, buf_slice(&text)), 0);
    lessons_print(other.lessons, &again);
    assert_string_equal(buf_text(&text), buf_text(&again));
    uid there = name_of(
        &other, (struct arrival){.service = B, .caller = A, .body = "{\"t\": 9, \"item\": 2}"});
    assert_int_equal(uid_element(&other.names, there)->payload,
                     uid_element(&l.names, named)->payload);
    buf_deinit(&text);
    buf_deinit(&again);
    lab_close(&other);

    /* another scenario knows nothing of it */
    forget(&l);
    assert_int_equal((&l.lessons->facts[A])->made, 0);
    struct track_run *r = begin_in(&l, 0, A, true);
    assert_true(track_wants_body(l.t, B, SLICE("GET /")));
    assert_true(track_wants_body(l.t, C, SLICE("GET /")));
    finish(&l, r);
    for (int i = 0; i < 3; i++)
        track_lesson_free(lessons[i]);
    lab_close(&l);
}

/* ---- equal calls side by side ---- */

/* What a asks b for, in pairs: side by side, or one after the other. */
static struct track_lesson *pair_lesson(struct lab *l, const char *first, const char *second,
                                        bool side_by_side)
{
    struct head heads[2] = {{.target = slice_of(first)}, {.target = slice_of(second)}};
    struct track_run *r = begin_in(l, 0, A, true);
    struct call_fate calls[2];
    for (int i = 0; i < 2; i++) {
        calls[i] = arrive(
            l, (struct arrival){.service = B, .caller = A, .head = &heads[i], .whole = true}, NULL);
        if (!side_by_side)
            ended(l, calls[i]);
    }
    for (int i = 0; i < 2 && side_by_side; i++)
        ended(l, calls[i]);
    track_answered(r, OUTCOME_OK, ++l->now);
    return track_end_learning(l->t, r, ++l->now);
}

static uid target_name(struct lab *l, const char *target)
{
    struct head head = {.target = slice_of(target)};
    return name_of(l, (struct arrival){.service = B, .caller = A, .head = &head, .whole = true});
}

static void test_targets(void **state)
{
    static const struct {
        const char *what, *target[3][2];
        bool in_sequence, told;
    } rows[] = {
        {"paths", {{"/u/7", "/u/8"}, {"/u/8", "/u/7"}, {"/u/7", "/u/8"}}, false, true},
        {"queries",
         {{"/u?id=7&t=1", "/u?id=8&t=2"}, {"/u?t=3&id=8", "/u?id=7&t=4"}, {"/u?id=7", "/u?id=8"}},
         false,
         true},
        {"ids that are the same in every run",
         {{"/u/3f2504e0-4f89-41d3-9a0c-0305e82c3301", "/u/3f2504e0-4f89-41d3-9a0c-0305e82c3302"},
          {"/u/3f2504e0-4f89-41d3-9a0c-0305e82c3302", "/u/3f2504e0-4f89-41d3-9a0c-0305e82c3301"},
          {"/u/3f2504e0-4f89-41d3-9a0c-0305e82c3301", "/u/3f2504e0-4f89-41d3-9a0c-0305e82c3302"}},
         false,
         true},
        {"ids of each run", {{"/u/1", "/u/2"}, {"/u/3", "/u/4"}, {"/u/5", "/u/6"}}, false, false},
        {"nothing differs", {{"/u/7", "/u/7"}, {"/u/7", "/u/7"}, {"/u/7", "/u/7"}}, false, false},
        {"in sequence", {{"/u/7", "/u/8"}, {"/u/7", "/u/8"}, {"/u/7", "/u/8"}}, true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct lab l;
        struct track_lesson *lessons[3];
        lab_open(&l, (struct track_options){0});
        for (int k = 0; k < 3; k++)
            lessons[k] =
                pair_lesson(&l, rows[i].target[k][0], rows[i].target[k][1], !rows[i].in_sequence);
        track_decide(l.t, l.lessons, lessons, 3);
        const struct trace *first = track_lesson_trace(lessons[0]);
        const struct trace *second = track_lesson_trace(lessons[1]);
        uid a = first->calls.at[1].uid, b = first->calls.at[2].uid;
        if ((uid_element(&l.names, b)->n == 0) != rows[i].told)
            fail_msg("%s", rows[i].what);
        assert_true(a != b);
        if (rows[i].told) {
            assert_int_equal(second->calls.at[1].uid, b); /* whichever came first */
            assert_int_equal(second->calls.at[2].uid, a);
            assert_int_equal(target_name(&l, rows[i].target[0][0]), a);
            assert_int_equal(target_name(&l, rows[i].target[0][1]), b);
        } else {
            assert_int_equal(uid_element(&l.names, a)->payload, 0);
            assert_int_equal(target_name(&l, "/u/9"), a); /* as if nobody had looked */
        }
        for (int k = 0; k < 3; k++)
            track_lesson_free(lessons[k]);
        lab_close(&l);
    }
}

/* a asks b twice at once, and b, for each, c twice at once; the last of each pair first if so. */
static struct track_lesson *deep_lesson(struct lab *l, bool swapped)
{
    static const char *const above[] = {"/u/7", "/u/8"};
    static const char *const below[][2] = {{"/c/71", "/c/72"}, {"/c/81", "/c/82"}};
    struct track_run *r = begin_in(l, 0, A, true);
    struct head at_a = asked(l, r), at_b[2];
    struct call_fate calls[6];
    for (int i = 0; i < 2; i++) {
        struct head from = passed(l, &at_a, STATE);
        from.target = slice_of(above[i ^ swapped]);
        calls[i] = arrive(
            l, (struct arrival){.service = B, .caller = A, .head = &from, .whole = true}, &at_b[i]);
    }
    for (int i = 0; i < 4; i++) {
        struct head from = passed(l, &at_b[i / 2], STATE);
        from.target = slice_of(below[(i / 2) ^ swapped][(i % 2) ^ swapped]);
        calls[2 + i] = arrive(
            l, (struct arrival){.service = C, .caller = B, .head = &from, .whole = true}, NULL);
    }
    for (int i = 6; i-- > 0;)
        ended(l, calls[i]);
    track_answered(r, OUTCOME_OK, ++l->now);
    return track_end_learning(l->t, r, ++l->now);
}

/* What the handlers below do can only be compared when those are told apart. */
static void test_targets_below(void **state)
{
    static const uint32_t other[] = {0, 2, 1, 6, 5, 4, 3}; /* where a call is when swapped */
    struct lab l;
    struct track_lesson *lessons[3];
    (void)state;
    lab_open(&l, (struct track_options){0});
    for (int i = 0; i < 3; i++)
        lessons[i] = deep_lesson(&l, i == 1);
    track_decide(l.t, l.lessons, lessons, 3);
    const struct trace *first = track_lesson_trace(lessons[0]);
    const struct trace *second = track_lesson_trace(lessons[1]);
    for (uint32_t i = 1; i < 7; i++) {
        assert_int_equal(uid_element(&l.names, first->calls.at[i].uid)->n, 0);
        assert_int_equal(first->calls.at[i].uid, second->calls.at[other[i]].uid);
    }
    for (int i = 0; i < 3; i++)
        track_lesson_free(lessons[i]);
    lab_close(&l);
}

static void test_payload_options(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){.payload = TRACK_PAYLOAD_ON});
    uid one = name_of(&l, (struct arrival){.service = B, .caller = A, .body = "{\"x\": 1}"});
    assert_true(uid_element(&l.names, one)->payload != 0);
    assert_true(one !=
                name_of(&l, (struct arrival){.service = B, .caller = A, .body = "{\"x\": 2}"}));
    assert_int_equal(
        one, name_of(&l, (struct arrival){.service = B, .caller = A, .body = "{ \"x\":1 }"}));
    lab_close(&l);
    lab_open(&l, (struct track_options){.payload = TRACK_PAYLOAD_OFF});
    one = name_of(&l, (struct arrival){.service = B, .caller = A, .body = "{\"x\": 1}"});
    assert_int_equal(uid_element(&l.names, one)->payload, 0);
    lab_close(&l);
}

/* The siblings that had ended are part of the name, in whatever order they did. */
static void test_predecessors(void **state)
{
    (void)state;
    struct lab l;
    uint32_t before[3];
    lab_open(&l, (struct track_options){.predecessors = true});
    for (int i = 0; i < 3; i++) {
        struct track_run *r = begin(&l);
        uint32_t first = i == 1 ? C : B;
        struct call_fate x = arrive(&l, (struct arrival){.service = first, .caller = A}, NULL);
        assert_int_equal(uid_element(&l.names, call_at(r, x.call)->uid)->before, 0);
        struct call_fate y =
            arrive(&l, (struct arrival){.service = first == B ? C : B, .caller = A}, NULL);
        assert_int_equal(uid_element(&l.names, call_at(r, y.call)->uid)->before, 0);
        ended(&l, y);
        if (i < 2)
            ended(&l, x);
        struct call_fate d = arrive(&l, (struct arrival){.service = D, .caller = A}, NULL);
        before[i] = uid_element(&l.names, call_at(r, d.call)->uid)->before;
        finish(&l, r);
    }
    assert_true(before[0] != 0);
    assert_int_equal(before[0], before[1]);
    assert_true(before[2] != before[0]);
    lab_close(&l);
}

/* What the scenario's own request carries once it is known what is of use. */
static void test_dialects(void **state)
{
    (void)state;
    struct lab l;
    lab_open(&l, (struct track_options){0});
    struct track_run *r = begin_in(&l, 0, A, true);
    uint32_t all = asked(&l, r).n_fields;
    struct track_lesson *first = track_end_learning(l.t, r, ++l.now);
    track_decide(l.t, l.lessons, &first,
                 1); /* nobody called anybody: that may change when something fails */
    r = begin(&l);
    assert_int_equal(asked(&l, r).n_fields, all);
    finish(&l, r);
    forget(&l);
    r = begin_in(&l, 0, A, true);
    struct head from = asked(&l, r);
    from = passed(&l, &from, "b3");
    arrive(&l, (struct arrival){.service = B, .caller = A, .head = &from}, NULL);
    track_answered(r, OUTCOME_OK, ++l.now);
    struct track_lesson *second = track_end_learning(l.t, r, ++l.now);
    track_decide(l.t, l.lessons, &second, 1);
    r = begin(&l);
    struct head h = asked(&l, r);
    assert_true(h.n_fields > 0 && h.n_fields < all);
    assert_true(head_get(&h, SLICE("b3")).n > 0);
    finish(&l, r);
    track_lesson_free(first);
    track_lesson_free(second);
    lab_close(&l);
}

static void test_learned_text(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",          "dialects",           "dialects x\n",
        "dialect 1", "dialects 123456789", "dialects 1\nnonsense\n"};
    struct lab l;
    lab_open(&l, (struct track_options){0});
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(lessons_parse(l.lessons, slice_of(wrong[i])), -1);
    assert_int_equal(lessons_parse(l.lessons, SLICE("dialects 3")), 0);
    lab_close(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_payload),       cmocka_unit_test(test_targets),
        cmocka_unit_test(test_targets_below), cmocka_unit_test(test_payload_options),
        cmocka_unit_test(test_predecessors),  cmocka_unit_test(test_dialects),
        cmocka_unit_test(test_learned_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
