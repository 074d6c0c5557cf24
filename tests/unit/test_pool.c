/* SPDX-License-Identifier: Apache-2.0
 *
 * When may a request be sent again? The rule of http/link.h, as a table. */
#include "http/link.h"
#include "support/unit.h"

/* A request that could be sent again if the rule allowed it: on a connection that had served others,
 * none of its answer seen, all of it still there. Each row says what is different. */
static const struct {
    const char *what;
    bool again;
    struct resend facts;
} rows[] = {
#define STALE .tries = 1, .whole = true, .pooled = true, .ended = true
    /* a kept connection that turns out to be stale */
    {"GET, closed", true, {.why = CUT_CLOSED, STALE, .repeatable = true}},
    {"GET, reset", true, {.why = CUT_RESET, STALE, .repeatable = true}},
    {"POST, closed, perhaps taken", false, {.why = CUT_CLOSED, STALE}},
    {"POST, closed, not a byte taken", true, {.why = CUT_CLOSED, STALE, .untouched = true}},
    {"POST, reset: proves nothing", false, {.why = CUT_RESET, STALE, .untouched = true}},
    {"GET, only its stream was reset",
     false,
     {.why = CUT_RESET, .tries = 1, .whole = true, .pooled = true, .repeatable = true}},
    {"an answer that makes no sense", false, {.why = CUT_BAD, STALE, .repeatable = true}},
    {"an answer beyond a limit", false, {.why = CUT_LIMIT, STALE, .repeatable = true}},
    /* a new connection is not stale: the service has ended the call */
    {"GET, closed, new connection",
     false,
     {.why = CUT_CLOSED, .tries = 1, .whole = true, .ended = true, .repeatable = true}},
    {"POST, closed, new connection, not a byte taken",
     false,
     {.why = CUT_CLOSED, .tries = 1, .whole = true, .ended = true, .untouched = true}},
    {"GET, cannot be reached",
     false,
     {.why = CUT_RESET, STALE, .failed = true, .repeatable = true}},
    /* the service says that it did not look at it */
    {"POST, refused", true, {.why = CUT_REFUSED, .tries = 1, .whole = true}},
    {"POST, refused, second time", true, {.why = CUT_REFUSED, .tries = 2, .whole = true}},
    {"POST, refused, third time", false, {.why = CUT_REFUSED, .tries = 3, .whole = true}},
    {"POST, refused, alone", false, {.why = CUT_REFUSED, .tries = 1, .whole = true, .alone = true}},
    /* what no cause outweighs */
    {"GET, the answer has begun",
     false,
     {.why = CUT_CLOSED, STALE, .repeatable = true, .begun = true}},
    {"POST, refused, the answer has begun",
     false,
     {.why = CUT_REFUSED, .tries = 1, .whole = true, .begun = true}},
    {"GET, its body is not kept",
     false,
     {.why = CUT_CLOSED, .tries = 1, .pooled = true, .ended = true, .repeatable = true}},
    {"GET, third try",
     false,
     {.why = CUT_CLOSED,
      .tries = 3,
      .whole = true,
      .pooled = true,
      .ended = true,
      .repeatable = true}},
    {"GET, a connection of its own",
     false,
     {.why = CUT_CLOSED, STALE, .repeatable = true, .alone = true}},
};

static void test_resend(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (resend_allowed(&rows[i].facts) != rows[i].again)
            fail_msg("%s: sent again is %s", rows[i].what, rows[i].again ? "false" : "true");
}

/* Of all that could be known: without a cause it is never sent again, and what is sent again when
 * doing it twice may do harm was refused, or not touched. */
static void test_resend_is_safe(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 1 << 8; bits++)
        for (uint32_t tries = 1; tries < 5; tries++)
            for (int why = CUT_CLOSED; why <= CUT_LIMIT; why++) {
                struct resend r = {.why = (enum wire_cut)why,
                                   .tries = tries,
                                   .repeatable = bits & 1,
                                   .begun = bits & 2,
                                   .whole = bits & 4,
                                   .pooled = bits & 8,
                                   .alone = bits & 16,
                                   .failed = bits & 32,
                                   .ended = bits & 64,
                                   .untouched = bits & 128};
                if (!resend_allowed(&r))
                    continue;
                assert_false(r.begun || r.alone || r.failed);
                assert_true(r.whole && tries < 3);
                assert_true(why == CUT_REFUSED || r.pooled);
                assert_true(r.repeatable || why == CUT_REFUSED || r.untouched);
                assert_true(why != CUT_BAD && why != CUT_LIMIT);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resend),
        cmocka_unit_test(test_resend_is_safe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
