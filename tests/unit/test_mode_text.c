/* SPDX-License-Identifier: Apache-2.0
 *
 * The text of modes, read back to what was printed; and what a caller sees of a mode: outcomes, and
 * when an injected failure is the same as a genuine one. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/trace.h"
#include "support/core_lab.h"

/* ---- modes ---- */

static void check_mode_text(mode m)
{
    struct buf text = BUF_INIT(MODE_TEXT_MAX);
    mode_print(m, &text);
    assert_false(text.full);
    assert_int_equal(parse_mode(buf_text(&text)), m);
    buf_deinit(&text);
}

/* Every row of the table, with the ends of what its argument may be. */
static void test_mode_rows(void **state)
{
    static const struct {
        uint32_t argument;
        bool reached; /* whatever the row says */
    } arguments[ARG_KINDS][3] = {
        [ARG_STATUS] = {{200, 0}, {503, 0}, {599, 0}},
        [ARG_CODE] = {{0, 0}, {14, 0}, {16, 0}},
        [ARG_DURATION] = {{1, 0}, {2000, 0}, {0xffffff, 0}},
        [ARG_CUT] = {{0, 0}, {1, true}, {0xffffff, true}},
        [ARG_RATE] = {{1, 0}, {1000, 0}, {0xffffff, 0}},
        [ARG_BYTES] = {{0, 0}, {1, 0}, {0xffffff, 0}},
        [ARG_CORRUPT] = {{CORRUPT_EMPTY, 0}, {CORRUPT_GARBAGE, 0}, {CORRUPT_EMPTY, 0}},
        [ARG_ERROR] = {{0, 0}, {7, 0}, {13, 0}},
        [ARG_EVENT] = {{0, 0}, {1, 0}, {0, 0}},
    };
    (void)state;
    (void)parse_mode("event:first"); /* place 0 */
    (void)parse_mode("event:second");
    for (enum mode_kind kind = MODE_STATUS; kind < MODE_KINDS; kind++)
        for (int i = 0; i < 3; i++) {
            enum mode_argument argument = mode_rows[kind].argument;
            bool reached = mode_rows[kind].act >= ACT_REACHED || arguments[argument][i].reached;
            mode m = mode_make(kind, arguments[argument][i].argument);
            struct buf text = BUF_INIT(100);
            assert_int_equal(mode_kind(m), kind);
            assert_false(mode_lost(m));
            assert_int_equal(mode_without_lost(m), m);
            assert_int_equal(mode_reached(m), reached);
            assert_int_equal(outcome_kind(mode_outcome(m)) == OUT_NONE, reached);
            check_mode_text(m);
            buf_adds(&text, "lost-reply:");
            mode_print(m, &text);
            if (!reached) {
                mode lost = parse_mode(buf_text(&text));
                assert_true(mode_lost(lost) && mode_reached(lost));
                assert_int_equal(mode_without_lost(lost), m);
                assert_int_equal(mode_kind(lost), kind);
                assert_int_equal(mode_argument(lost), mode_argument(m));
                assert_int_equal(mode_outcome(lost), mode_outcome(m));
                check_mode_text(lost);
            } else {
                struct err e = {0};
                mode ignored;
                assert_int_equal(mode_parse(buf_slice(&text), &ignored, &e), -1);
            }
            buf_deinit(&text);
        }
}

static void test_mode_text(void **state)
{
    static const struct {
        const char *text, *canonical, *outcome, *label;
    } rows[] = {
        {"503", "503", "503", "503"},
        {" 503 ", "503", "503", "503"},
        {"status:503", "503", "503", "503"},
        {"200", "200", "200", "200"},
        {"grpc:14", "grpc:14", "grpc:14", "grpc:14"},
        {"refuse", "refuse", "refused", "refused"},
        {"reset", "reset", "reset", "reset"},
        {"close", "close", "closed", "closed"},
        {"hold", "hold", "timeout", "timeout"},
        {"delay:2000ms", "delay:2s", "unknown", "delay:2s"},
        {"delay:1m", "delay:60s", "unknown", "delay:60s"},
        {"delay:250ms", "delay:250ms", "unknown", "delay:250ms"},
        {"lost-reply:503", "lost-reply:503", "503", "lost-reply:503"},
        {"lost-reply:reset", "lost-reply:reset", "reset", "lost-reply:reset"},
        {"lost-reply:grpc:2", "lost-reply:grpc:2", "grpc:2", "lost-reply:grpc:2"},
        {"reset:100", "reset:100", "unknown", "reset:100"},
        {"close:007", "close:7", "unknown", "close:7"},
        {"delay-reply:1500us", "delay-reply:1ms", "unknown", "delay-reply:1ms"},
        {"slow:1024", "slow:1024", "unknown", "slow:1024"},
        {"truncate:0", "truncate:0", "unknown", "truncate:0"},
        {"corrupt:empty", "corrupt:empty", "unknown", "corrupt:empty"},
        {"corrupt:garbage", "corrupt:garbage", "unknown", "corrupt:garbage"},
        {"corrupt:remove=items/0/id", "corrupt:remove=items/0/id", "unknown",
         "corrupt:remove=items/0/id"},
        {" corrupt:null=a:b=c ", "corrupt:null=a:b=c", "unknown", "corrupt:null=a:b=c"},
        {"duplicate", "duplicate", "unknown", "duplicate"},
        {"rst-stream:0", "rst-stream:0", "reset", "rst-stream:0"},
        {"rst-stream:11", "rst-stream:11", "reset", "rst-stream:11"},
        {"goaway", "goaway", "closed", "goaway"},
        {"lost-reply:rst-stream:7", "lost-reply:rst-stream:7", "reset", "lost-reply:rst-stream:7"},
        {"lost-reply:goaway", "lost-reply:goaway", "closed", "lost-reply:goaway"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(100);
        mode m = parse_mode(rows[i].text);
        mode_print(m, &text);
        assert_string_equal(buf_text(&text), rows[i].canonical);
        buf_clear(&text);
        outcome_print(mode_outcome(m), &text);
        assert_string_equal(buf_text(&text), rows[i].outcome);
        buf_clear(&text);
        label_print(mode_label(m), &text);
        assert_string_equal(buf_text(&text), rows[i].label);
        buf_deinit(&text);
    }
    assert_int_equal(mode_delay_ns(parse_mode("delay:250ms")), 250000000);
    assert_int_equal(mode_delay_ns(parse_mode("delay:4h")), 4 * 3600 * 1000000000LL);
    assert_int_equal(mode_delay_ns(parse_mode("delay-reply:3s")), 3000000000);
    assert_int_equal(mode_delay_ns(parse_mode("503")), 0);
    assert_int_equal(mode_delay_ns(parse_mode("slow:503")), 0);
}

static void test_mode_errors(void **state)
{
    static const struct {
        const char *text, *word;
    } rows[] = {
        {"", "unknown mode"},
        {"none", "unknown mode"},
        {"99", "200 to 599"},
        {"100", "a final status, from 200 to 599"},
        {"101", "a final status, from 200 to 599"},
        {"199", "a final status, from 200 to 599"},
        {"600", "200 to 599"},
        {"4294967296", ""},
        {"18446744073709551616", ""},
        {"-1", "unknown mode"},
        {"5 03", ""},
        {"503:1", ""},
        {"status", "status"},
        {"status:", "status"},
        {"status:x", "status"},
        {"status:600", "status"},
        {"status:100", "a final status"},
        {"grpc", "gRPC code"},
        {"grpc:", "gRPC code"},
        {"grpc:17", "gRPC code"},
        {"grpc:-1", "gRPC code"},
        {"reset:", "nothing, or a number of bytes"},
        {"reset:0", "nothing, or a number of bytes"},
        {"reset:-1", "nothing, or a number of bytes"},
        {"reset:1s", "nothing, or a number of bytes"},
        {"reset:16777216", "1 to 16777215"},
        {"reset:18446744073709551617", "1 to 16777215"},
        {"close:0", "nothing, or a number of bytes"},
        {"refuse:x", "no argument"},
        {"hold:1s", "no argument"},
        {"delay", "duration"},
        {"delay:", "duration"},
        {"delay:0s", "duration"},
        {"delay:999us", "duration"},
        {"delay:5h", "duration"},
        {"delay:5", "duration"},
        {"delay:16777216ms", "duration"},
        {"delay:-1s", "duration"},
        {"rest", "\"reset\""},
        {"refused", "\"refuse\""},
        {"RESET", "unknown mode"},
        {"lost-reply", "lost-reply"},
        {"lost-reply:", ""},
        {"delay-reply", "duration"},
        {"delay-reply:0s", "duration"},
        {"slow", "bytes per second"},
        {"slow:", "bytes per second"},
        {"slow:0", "bytes per second"},
        {"slow:16777216", "1 to 16777215"},
        {"truncate", "a number of bytes"},
        {"truncate:", "a number of bytes"},
        {"truncate:x", "a number of bytes"},
        {"truncate:16777216", "0 to 16777215"},
        {"duplicate:2", "no argument"},
        {"duplicate:", "no argument"},
        {"goaway:1", "no argument"},
        {"rst-stream", "HTTP/2 error code"},
        {"rst-stream:", "HTTP/2 error code"},
        {"rst-stream:14", "0 to 13"},
        {"rst-stream:CANCEL", "0 to 13"},
        {"goawya", "\"goaway\""},
        {"corrupt", "one of empty, garbage"},
        {"corrupt:", "one of empty, garbage"},
        {"corrupt:emptyy", "one of empty, garbage"},
        {"corrupt:empty=", "one of empty, garbage"},
        {"corrupt:garbage=x", "one of empty, garbage"},
        {"corrupt:=x", "one of empty, garbage"},
        {"corrupt:remove", "a field"},
        {"corrupt:remove=", "a field"},
        {"corrupt:null=", "a field"},
        {"corrupt:null=/", "a field"},
        {"corrupt:null=/a", "a field"},
        {"corrupt:null=a/", "a field"},
        {"corrupt:null=a//b", "a field"},
        {"corrupt:null=a b", "without spaces"},
        {"corrupt:null=a\tb", "without spaces"},
        {"corrupt:null=a\x7f", "without spaces"},
        {"lost-reply:reset:100", "keeps the request from the service"},
        {"lost-reply:close:1", "keeps the request from the service"},
        {"lost-reply:truncate:1", "keeps the request from the service"},
        {"lost-reply:corrupt:empty", "keeps the request from the service"},
        {"lost-reply:duplicate", "keeps the request from the service"},
        {"lost-reply:slow:1", "keeps the request from the service"},
        {"lost-reply:reset:0", "nothing, or a number of bytes"},
        {"lost-reply:delay:2s", ""},
        {"lost-reply:lost-reply:503", ""},
        {"lost-reply:nothing", ""},
        {"lost-repy:503", "\"lost-reply\""},
        {"lost-reply", "lost-reply:503"},
        {"delay 2s", "\"delay:2s\""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        mode m;
        if (mode_parse(slice_of(rows[i].text), &m, &e) == 0)
            fail_msg("\"%s\" is accepted", rows[i].text);
        if (!e.text[0] || !strstr(e.text, rows[i].word))
            fail_msg("\"%s\": %s", rows[i].text, e.text);
    }
}

/* The text of a mode comes from people's files: whatever its length, it is an error and not a
 * crash. */
static void test_mode_long(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on with the tests */
        struct buf text = BUF_INIT(4 << 20);
        struct err e = {0};
        mode m;
        while (!text.full)
            buf_adds(&text, "lost-reply:");
        int result = mode_parse(buf_slice(&text), &m, &e);
        buf_deinit(&text);
        _exit(result == -1 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* What an injected and a genuine failure have in common. */
static void test_labels(void **state)
{
    static const struct {
        const char *mode;
        outcome genuine;
        bool same;
    } rows[] = {
        {"503", OUTCOME(OUT_STATUS, 503), true},
        {"503", OUTCOME(OUT_STATUS, 500), false},
        {"503", OUTCOME(OUT_GRPC, 503), false},
        {"200", OUTCOME_OK, true},
        {"grpc:14", OUTCOME(OUT_GRPC, 14), true},
        {"refuse", OUTCOME(OUT_REFUSED, 0), true},
        {"reset", OUTCOME(OUT_RESET, 0), true},
        {"close", OUTCOME(OUT_CLOSED, 0), true},
        {"hold", OUTCOME(OUT_TIMEOUT, 0), true},
        {"lost-reply:503", OUTCOME(OUT_STATUS, 503), false},
        {"lost-reply:hold", OUTCOME(OUT_TIMEOUT, 0), false},
        {"delay:2s", OUTCOME_OK, false},
        {"delay:2s", OUTCOME(OUT_TIMEOUT, 0), false},
        {"rst-stream:8", OUTCOME(OUT_RESET, 0), false},
        {"goaway", OUTCOME(OUT_CLOSED, 0), false},
        {"reset:1", OUTCOME(OUT_RESET, 0), false},
        {"close:1", OUTCOME(OUT_CLOSED, 0), false},
        {"truncate:1", OUTCOME(OUT_CLOSED, 0), false},
        {"duplicate", OUTCOME_OK, false},
        {"corrupt:empty", OUTCOME_OK, false},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mode m = parse_mode(rows[i].mode);
        struct call injected = {.mode = m, .seen = mode_outcome(m)};
        struct call genuine = {.mode = MODE_NONE, .seen = rows[i].genuine};
        assert_int_equal(call_label(&genuine), rows[i].genuine);
        assert_int_equal(call_label(&injected), mode_label(m));
        if ((call_label(&injected) == call_label(&genuine)) != rows[i].same)
            fail_msg("row %d: %s", (int)i, rows[i].mode);
        if (mode_reached(m))
            assert_int_equal(mode_label(m), LABEL_MODE | m);
    }
}

static void test_outcomes(void **state)
{
    static const struct {
        outcome o;
        bool ok, error;
        const char *text;
    } rows[] = {
        {OUTCOME(OUT_NONE, 0), false, false, "unknown"},
        {OUTCOME(OUT_STATUS, 100), false, false, "100"},
        {OUTCOME(OUT_STATUS, 199), false, false, "199"},
        {OUTCOME(OUT_STATUS, 200), true, false, "200"},
        {OUTCOME(OUT_STATUS, 299), true, false, "299"},
        {OUTCOME(OUT_STATUS, 300), false, false, "300"},
        {OUTCOME(OUT_STATUS, 404), false, false, "404"},
        {OUTCOME(OUT_STATUS, 499), false, false, "499"},
        {OUTCOME(OUT_STATUS, 500), false, true, "500"},
        {OUTCOME(OUT_STATUS, 599), false, true, "599"},
        {OUTCOME(OUT_GRPC, 0), true, false, "grpc:0"},
        {OUTCOME(OUT_GRPC, 1), false, true, "grpc:1"},
        {OUTCOME(OUT_REFUSED, 0), false, false, "refused"},
        {OUTCOME(OUT_RESET, 0), false, false, "reset"},
        {OUTCOME(OUT_CLOSED, 0), false, false, "closed"},
        {OUTCOME(OUT_TIMEOUT, 0), false, false, "timeout"},
        {OUTCOME(OUT_CANCELLED, 0), false, false, "cancelled"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(100);
        outcome_print(rows[i].o, &text);
        assert_string_equal(buf_text(&text), rows[i].text);
        assert_int_equal(outcome_ok(rows[i].o), rows[i].ok);
        assert_int_equal(outcome_error(rows[i].o), rows[i].error);
        buf_deinit(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mode_rows),   cmocka_unit_test(test_mode_text),
        cmocka_unit_test(test_mode_errors), cmocka_unit_test(test_mode_long),
        cmocka_unit_test(test_labels),      cmocka_unit_test(test_outcomes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
