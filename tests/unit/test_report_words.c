/* SPDX-License-Identifier: Apache-2.0
 *
 * Findings in words, and the commands that replay them. */
#include "report/words.h"

#include "support/report_desk.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

#define A "a GET /"
#define B A " > b GET /b"
#define C B " > c GET /c"

static const struct {
    const char *faultload;
    struct desk_call plain[DESK_CALLS], seen[DESK_CALLS];
    const char *words;
} retries[] = {
    {B " : 503",
     {{A, "200", 0}, {B, "200", 0}},
     {{A, "500", 0}, {B, "503", "503"}},
     "b GET /b answers 503"},
    {B " : 503",
     {{A, "200", 0}, {B, "200", 0}},
     {{A, "200", 0}, {B, "503", "503"}, {B " #1", "200", 0}},
     "b GET /b answers 503, and its retry succeeds"},
    {B " : 503",
     {{A, "200", 0}, {B, "200", 0}},
     {{A, "200", 0}, {B, "503", "503"}, {B " #1", "404", 0}},
     "b GET /b answers 503, and its retry ends with 404"},
    /* called twice without faults too: that is no retry */
    {B " : 503",
     {{A, "200", 0}, {B, "200", 0}, {B " #1", "200", 0}},
     {{A, "200", 0}, {B, "503", "503"}, {B " #1", "200", 0}},
     "b GET /b answers 503"},
    {B " : 503 & " B " #1 : 503",
     {{A, "200", 0}, {B, "200", 0}},
     {{A, "500", 0}, {B, "503", "503"}, {B " #1", "503", "503"}},
     "b GET /b answers 503 at every try"},
    {B " : 503 & " B " #1 : reset",
     {{A, "200", 0}, {B, "200", 0}},
     {{A, "500", 0}, {B, "503", "503"}, {B " #1", "503", "reset"}},
     "b GET /b answers 503, and its retry resets the connection"},
    {B " : 503 & " B " #1 : 503 & " B " #2 : 503",
     {{A, "200", 0}, {B, "200", 0}},
     {{A, "500", 0}, {B, "503", "503"}, {B " #1", "503", "503"}, {B " #2", "503", "503"}},
     "b GET /b answers 503 at every try"},
    {B " : 503 & " B " #1 : 503",
     {{A, "200", 0}, {B, "200", 0}},
     {{A, "500", 0}, {B, "503", "503"}, {B " #1", "503", "503"}, {B " #2", "200", 0}},
     "b GET /b answers 503 at 2 tries, and its second retry succeeds"},
    /* it is the caller that is called again */
    {C " : 503",
     {{A, "200", 0}, {B, "200", 0}, {C, "200", 0}},
     {{A, "200", 0}, {B, "500", 0}, {C, "503", "503"}, {B " #1", "200", 0}},
     "b > c GET /c answers 503, and the retry of b GET /b succeeds"},
    /* nothing is known of runs */
    {B " : 503 & " B " #1 : 503", {{0}}, {{0}}, "b GET /b answers 503 and b GET /b #1 answers 503"},
};

static void test_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < LENGTH(retries); i++) {
        struct desk d;
        struct trace plain = {0}, seen = {0};
        struct buf out = BUF_INIT(1000);
        desk_init(&d);
        struct finding f = {.faultload = desk_load(&d, retries[i].faultload)};
        desk_calls(&d, retries[i].plain, &plain);
        desk_calls(&d, retries[i].seen, &seen);
        bool known = plain.calls.n > 0;
        words_finding(&d.summary, &f, known ? &plain : NULL, known ? &seen : NULL, &out);
        assert_string_equal(buf_text(&out), retries[i].words);
        buf_deinit(&out);
        vec_deinit(&plain.calls);
        vec_deinit(&seen.calls);
        desk_deinit(&d);
    }
}

static void test_replay_words(void **state)
{
    (void)state;
    static const struct {
        const char *ids, *scenario, *replay, *wanted, *by_faultload;
    } rows[] = {
        {"", "buy", "", "outfox replay 1", "outfox replay 'a GET / > b GET /b : 503'"},
        {"buy/", "buy", " my.yaml", "outfox replay buy/1 my.yaml",
         "outfox replay 'a GET / > b GET /b : 503' my.yaml --scenario buy"},
        {"it's me/", "it's me", "", "outfox replay 'it'\\''s me/1'",
         "outfox replay 'a GET / > b GET /b : 503' --scenario 'it'\\''s me'"},
        {NULL, "buy", NULL,
         "outfox sim run outfox.yaml --scenario buy --fault 'a GET / > b GET /b : 503'",
         "outfox replay 'a GET / > b GET /b : 503'"},
    };
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct desk d;
        struct buf out = BUF_INIT(1000);
        desk_init(&d);
        d.summary.ids = rows[i].ids;
        d.summary.scenario = rows[i].scenario;
        d.summary.replay = rows[i].replay;
        const struct finding *f = desk_finding(&d, desk_load(&d, B " : 503"), "it breaks");
        words_replay(&d.summary, f, &out);
        assert_string_equal(buf_text(&out), rows[i].wanted);
        buf_clear(&out);
        words_replay_faultload(&d.summary, f->faultload, &out);
        assert_string_equal(buf_text(&out), rows[i].by_faultload);
        buf_deinit(&out);
        desk_deinit(&d);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_replay_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
