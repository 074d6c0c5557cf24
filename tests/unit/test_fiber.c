/* SPDX-License-Identifier: Apache-2.0
 *
 * Stories that wait, one at a time and in turns. */
#include "base/fiber.h"

#include <string.h>

#include "base/str.h"
#include "support/unit.h"

struct tale {
    struct fiber *fiber;
    struct buf *out;
    const char *name;
    int steps;
};

/* Waits in the middle of calls below each other, with something on the stack. */
static void step(const struct tale *t, int depth)
{
    char here[200];
    memset(here, depth, sizeof here);
    if (depth > 0)
        step(t, depth - 1);
    else
        fiber_wait(t->fiber);
    for (size_t i = 0; i < sizeof here; i++)
        assert_int_equal(here[i], depth);
}

static void tell(void *ctx)
{
    const struct tale *t = ctx;
    for (int i = 0; i < t->steps; i++) {
        buf_addf(t->out, "%s%d ", t->name, i);
        step(t, 20);
    }
    buf_addf(t->out, "%s. ", t->name);
}

static void test_turns(void **state)
{
    (void)state;
    struct buf out = BUF_INIT(1000);
    struct tale a = {.out = &out, .name = "a", .steps = 3},
                b = {.out = &out, .name = "b", .steps = 1};
    a.fiber = fiber_new(tell, &a);
    b.fiber = fiber_new(tell, &b);
    for (bool more = true; more;) {
        more = fiber_go(a.fiber);
        more |= fiber_go(b.fiber);
    }
    assert_string_equal(buf_text(&out), "a0 b0 a1 b. a2 a. ");
    assert_false(fiber_go(a.fiber)); /* it stays ended */
    fiber_free(a.fiber);
    fiber_free(b.fiber);
    fiber_free(fiber_new(tell, &a)); /* never begun */
    fiber_free(NULL);
    buf_deinit(&out);
}

/* As deep as on the main stack. */
static int deep(int n)
{
    volatile char room[1000];
    room[0] = (char)n;
    return n == 0 ? 0 : deep(n - 1) + (room[0] == (char)n);
}

static void dive(void *ctx)
{
    *(int *)ctx = deep(4000);
}

static void test_room(void **state)
{
    (void)state;
    int reached = 0;
    struct fiber *f = fiber_new(dive, &reached);
    assert_false(fiber_go(f));
    assert_int_equal(reached, 4000);
    fiber_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_turns),
        cmocka_unit_test(test_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
