/* SPDX-License-Identifier: Apache-2.0
 *
 * Sets of modes, and lists in which sets and modes stand side by side. */
#include "core/mode.h"

#include <stdio.h>

#include "core/trace.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* "a b" -> the list, as it is printed; the error where it is refused. */
static void print_list(const char *words, uint8_t flags, struct buf *out)
{
    struct mode_list list = {0};
    struct err e = {0};
    slice rest = slice_of(words), word;
    buf_clear(out);
    while (slice_word(&rest, &word))
        if (mode_list_add(&list, word, &e)) {
            buf_adds(out, e.text);
            return;
        }
    mode_list_fit(&list, flags);
    for (uint32_t i = 0; i < list.n; i++) {
        buf_adds(out, i ? " " : "");
        mode_print(list.at[i], out);
    }
}

static void test_lists(void **state)
{
    static const struct {
        const char *words;
        uint8_t flags;
        const char *printed;
    } rows[] = {
        {"errors", 0, "500 502 503 504 grpc:13 grpc:14 grpc:4"},
        {"errors", CALL_HTTP, "500 502 503 504"},
        {"errors", CALL_GRPC, "grpc:13 grpc:14 grpc:4"},
        {"errors", CALL_HTTP | CALL_GRPC, "500 502 503 504 grpc:13 grpc:14 grpc:4"},
        {"standard", CALL_HTTP, "503 reset lost-reply:503 hold"},
        {"standard", CALL_GRPC, "grpc:14 reset lost-reply:grpc:14 hold"},
        /* what is named itself stays, whatever is spoken */
        {"503 grpc:14", CALL_HTTP, "503 grpc:14"},
        {"standard grpc:14", CALL_HTTP, "503 grpc:14 reset lost-reply:503 hold"},
        {"grpc:14 standard", CALL_HTTP, "grpc:14 503 reset lost-reply:503 hold"},
        /* a set may repeat, a mode may not */
        {"errors standard", CALL_HTTP, "500 502 503 504 reset lost-reply:503 hold"},
        {"standard standard", CALL_HTTP, "503 reset lost-reply:503 hold"},
        {"503 reset 503", 0, "mode \"503\" is listed twice"},
        {"errors 503 503", 0, "mode \"503\" is listed twice"},
        {"standart", 0, "unknown set of modes \"standart\"; did you mean \"standard\"?"},
        {"lost-reply:errors", 0, "unknown mode \"errors\"; `outfox modes` lists them"},
    };
    struct buf text = BUF_INIT(2000);
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        print_list(rows[i].words, rows[i].flags, &text);
        assert_string_equal(buf_text(&text), rows[i].printed);
    }
    buf_deinit(&text);
}

/* Each set is right as it is written, and `thorough` leaves out nothing of the smaller ones. (The
 * delays and 404 of `intellift` are of a paper, not what every system should be tried with.) */
static void test_sets(void **state)
{
    struct buf text = BUF_INIT(2000);
    (void)state;
    for (size_t i = 0; i < MODE_SETS; i++) {
        struct mode_list list = {0}, thorough = {0};
        mode_list_add_set(&list, (enum mode_set_id)i);
        mode_list_add_set(&thorough, SET_THOROUGH);
        uint32_t n = thorough.n;
        mode_list_add_set(&thorough, (enum mode_set_id)i);
        assert_true(thorough.n == n || i > SET_THOROUGH);
        buf_clear(&text);
        for (uint32_t k = 0; k < list.n; k++) {
            buf_adds(&text, k ? ", " : "");
            mode_print(list.at[k], &text);
        }
        assert_string_equal(buf_text(&text), mode_sets[i].modes);
    }
    buf_deinit(&text);
}

static void test_full(void **state)
{
    struct mode_list list = {0};
    struct err e = {0};
    (void)state;
    for (uint32_t i = 0; i < MODE_LIST_MAX; i++) {
        char word[8];
        snprintf(word, sizeof word, "%u", 400 + i);
        assert_int_equal(mode_list_add(&list, slice_of(word), &e), 0);
    }
    assert_int_equal(mode_list_add(&list, SLICE("standard"), &e), -1);
    assert_string_equal(e.text, "more than 64 modes are listed");
    assert_int_equal(list.n, MODE_LIST_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_full),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
