/* SPDX-License-Identifier: Apache-2.0
 *
 * Names, modes, interfaces and faultloads: identity, order, and text that is read back to what was
 * printed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/random.h"
#include "core/fault.h"
#include "core/interface.h"
#include "core/trace.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static uid parse_uid(struct names *names, const char *text)
{
    struct err e = {0};
    uid u = UID_NONE;
    if (uid_parse(names, slice_of(text), &u, &e))
        fail_msg("%s: %s", text, e.text);
    return u;
}

static mode parse_mode(const char *text)
{
    struct err e = {0};
    mode m = MODE_NONE;
    if (mode_parse(slice_of(text), &m, &e))
        fail_msg("%s: %s", text, e.text);
    return m;
}

static int sign(int c)
{
    return (c > 0) - (c < 0);
}

/* ---- names ---- */

static void test_interning(void **state)
{
    struct names names;
    char text[32];
    (void)state;
    names_init(&names);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 20000; i++) {
            snprintf(text, sizeof text, "s%u", (unsigned)i);
            assert_int_equal(names_sym(&names, slice_of(text)), i);
            uint32_t el = names_element(&names, (struct element){.service = i, .interface = i / 2});
            assert_int_equal(el, i);
            assert_int_equal(names_uid(&names, i / 3, el), i + 1);
        }
    for (uint32_t i = 0; i < 20000; i++) {
        snprintf(text, sizeof text, "s%u", (unsigned)i);
        assert_true(slice_is(names_text(&names, i), text));
        assert_int_equal(uid_parent(&names, i + 1), i / 3);
        assert_int_equal(uid_element(&names, i + 1)->service, i);
    }
    assert_int_equal(names_sym(&names, SLICE("")), names_sym(&names, (slice){NULL, 0}));
    assert_int_not_equal(names_sym(&names, (slice){"a\0b", 3}), names_sym(&names, SLICE("a")));
    names_deinit(&names);
}

/* Every field tells elements apart. */
static void test_elements(void **state)
{
    static const struct element rows[] = {
        {0, 0, 0, 0, 0}, {1, 0, 0, 0, 0}, {0, 1, 0, 0, 0},     {0, 0, 1, 0, 0},
        {0, 0, 0, 1, 0}, {0, 0, 0, 0, 1}, {0, 0, 0, 0, N_ANY}, {1, 1, 1, 1, 1},
    };
    struct names names;
    (void)state;
    names_init(&names);
    names_sym(&names, SLICE("zero"));
    names_sym(&names, SLICE("one"));
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < LENGTH(rows); i++)
            assert_int_equal(names_element(&names, rows[i]), i);
    for (uint32_t i = 0; i < LENGTH(rows); i++)
        for (uint32_t k = 0; k < LENGTH(rows); k++) {
            assert_int_equal(element_cmp(&names, i, k) == 0, i == k);
            assert_int_equal(sign(element_cmp(&names, i, k)), -sign(element_cmp(&names, k, i)));
        }
    names_deinit(&names);
}

static void test_uid_all(void **state)
{
    struct names names;
    (void)state;
    names_init(&names);
    uid first = parse_uid(&names, "a GET / > b GET /x {0000beef} ^00c0ffee");
    uid third = parse_uid(&names, "a GET / > b GET /x {0000beef} ^00c0ffee #2");
    uid other = parse_uid(&names, "a GET / > b GET /y");
    uid elsewhere = parse_uid(&names, "c GET / > b GET /x {0000beef} ^00c0ffee");
    uid all = parse_uid(&names, "a GET / > b GET /x {0000beef} ^00c0ffee #*");
    for (int round = 0; round < 2; round++) { /* the second time from memory */
        assert_int_equal(names_uid_all(&names, first), all);
        assert_int_equal(names_uid_all(&names, third), all);
        assert_int_equal(names_uid_all(&names, all), all);
        assert_int_not_equal(names_uid_all(&names, other), all);
        assert_int_not_equal(names_uid_all(&names, elsewhere), all);
    }
    names_deinit(&names);
}

static void test_uid_contains(void **state)
{
    struct names names;
    (void)state;
    names_init(&names);
    uid a = parse_uid(&names, "a GET /"), ab = parse_uid(&names, "a GET / > b GET /");
    uid abc = parse_uid(&names, "a GET / > b GET / > c GET /");
    uid ac = parse_uid(&names, "a GET / > c GET /"), b = parse_uid(&names, "b GET /");
    const struct {
        uid above, below;
        bool contains;
    } rows[] = {
        {a, a, true},     {a, ab, true},         {a, abc, true},       {ab, abc, true},
        {ab, a, false},   {abc, ab, false},      {ab, ac, false},      {b, ab, false},
        {ac, abc, false}, {UID_NONE, abc, true}, {a, UID_NONE, false},
    };
    for (size_t i = 0; i < LENGTH(rows); i++)
        if (uid_contains(&names, rows[i].above, rows[i].below) != rows[i].contains)
            fail_msg("row %d", (int)i);
    names_deinit(&names);
}

/* ---- random names ---- */

/* A word without blanks that begins with a letter. */
static void add_word(struct rng *rng, struct buf *out)
{
    static const char letters[] = "abcxyzABZ019-_.~[]{}()^#*&>:;%/\\\"'=+\x80\xff";
    buf_addc(out, letters[rng_below(rng, 9)]);
    for (uint32_t n = rng_below(rng, 6); n > 0; n--)
        buf_addc(out, letters[rng_below(rng, sizeof letters - 1)]);
}

/* An interface as interface_make makes it, of bytes of all kinds. */
static void add_interface(struct rng *rng, struct buf *out)
{
    static const slice methods[] = {{"GET", 3}, {"POST", 4}, {"", 0}};
    static const char bytes[] = "ab01 \t\r\n\x01\x7f\xc3\xa9?#*>:&{}^%/-[]~";
    slice method = methods[rng_below(rng, 3)];
    struct buf path = BUF_INIT(100);
    buf_adds(&path, method.n ? "/" : "pkg.Service/");
    for (uint32_t n = rng_below(rng, 12); n > 0; n--)
        buf_addc(&path, bytes[rng_below(rng, sizeof bytes - 1)]);
    interface_make(method, buf_slice(&path), NULL, out);
    buf_deinit(&path);
}

static struct element random_element(struct rng *rng, struct names *names, uint32_t variety)
{
    struct buf text = BUF_INIT(1000);
    struct element el = {0};
    struct rng own = {rng_below(rng, variety)}; /* few different ones, so that they meet again */
    add_word(&own, &text);
    el.service = names_sym(names, buf_slice(&text));
    buf_clear(&text);
    own = (struct rng){rng_below(rng, variety)};
    add_interface(&own, &text);
    el.interface = names_sym(names, buf_slice(&text));
    buf_deinit(&text);
    if (rng_below(rng, 3) == 0)
        el.payload = rng_below(rng, 2) ? 1 + rng_below(rng, 3) : UINT32_MAX - rng_below(rng, 3);
    if (rng_below(rng, 3) == 0)
        el.before = rng_below(rng, 2) ? 1 + rng_below(rng, 3) : UINT32_MAX - rng_below(rng, 3);
    if (rng_below(rng, 3) == 0)
        el.n = rng_below(rng, 2) ? rng_below(rng, 3) : N_ANY - rng_below(rng, 2);
    return el;
}

static uid random_uid(struct rng *rng, struct names *names, uint32_t variety)
{
    uid u = UID_NONE;
    for (uint32_t n = 1 + rng_below(rng, 5); n > 0; n--)
        u = names_uid(names, u, names_element(names, random_element(rng, names, variety)));
    return u;
}

static mode random_mode(struct rng *rng)
{
    static const char *const texts[] = {"500",
                                        "200",
                                        "599",
                                        "grpc:0",
                                        "grpc:16",
                                        "refuse",
                                        "reset",
                                        "close",
                                        "hold",
                                        "delay:1ms",
                                        "delay:2s",
                                        "delay:1500ms",
                                        "delay:4h",
                                        "lost-reply:503",
                                        "lost-reply:grpc:14",
                                        "lost-reply:hold",
                                        "lost-reply:reset",
                                        "lost-reply:goaway",
                                        "reset:1",
                                        "close:16777215",
                                        "delay-reply:1500ms",
                                        "slow:1",
                                        "truncate:0",
                                        "corrupt:empty",
                                        "corrupt:garbage",
                                        "corrupt:remove=a",
                                        "corrupt:remove=a/b/0",
                                        "corrupt:null=a:b&c>#d=e",
                                        "duplicate",
                                        "rst-stream:13",
                                        "goaway"};
    return parse_mode(texts[rng_below(rng, LENGTH(texts))]);
}

/* Print, parse, equal; and printed again the same. */
static void test_uid_round_trip(void **state)
{
    struct rng rng = {3};
    struct names names, others;
    struct err e = {0};
    (void)state;
    names_init(&names);
    names_init(&others);
    for (int i = 0; i < 20000; i++) {
        struct buf text = BUF_INIT(1 << 16), again = BUF_INIT(1 << 16);
        uid u = random_uid(&rng, &names, 1000), v = UID_NONE;
        uid_print(&names, u, &text);
        if (uid_parse(&names, buf_slice(&text), &v, &e) || u != v)
            fail_msg("\"%s\" is not read back: %s", buf_text(&text), e.text);
        assert_int_equal(uid_parse(&others, buf_slice(&text), &v, &e), 0);
        uid_print(&others, v, &again);
        assert_string_equal(buf_text(&text), buf_text(&again));
        buf_deinit(&text);
        buf_deinit(&again);
    }
    names_deinit(&names);
    names_deinit(&others);
}

/* ---- the order of names ---- */

enum { SORTED = 400 };
static const struct names *sorting;

static int compare_uids(const void *a, const void *b)
{
    const uid *x = a, *y = b;
    return uid_cmp(sorting, *x, *y);
}

/* The texts of uids in their order. */
static void add_sorted(const struct names *names, uid *uids, struct buf *out)
{
    sorting = names;
    qsort(uids, SORTED, sizeof *uids, compare_uids);
    for (int i = 0; i < SORTED; i++) {
        uid_print(names, uids[i], out);
        buf_addc(out, '\n');
        for (int k = 0; k < SORTED; k++) { /* total: equal exactly when the same, one way only */
            int c = uid_cmp(names, uids[i], uids[k]);
            if ((c == 0) != (uids[i] == uids[k]) || (i < k && c > 0) || (i > k && c < 0) ||
                sign(c) != -sign(uid_cmp(names, uids[k], uids[i])))
                fail_msg("%d and %d are not in order", i, k);
        }
    }
}

static void test_order(void **state)
{
    struct rng rng = {4};
    (void)state;
    for (int round = 0; round < 5; round++) {
        struct names forward, backward;
        uid uids[SORTED], others[SORTED];
        struct buf text[SORTED], one = BUF_INIT(1 << 20), other = BUF_INIT(1 << 20);
        struct err e = {0};
        names_init(&forward);
        names_init(&backward);
        for (int i = 0; i < SORTED; i++) {
            uids[i] = random_uid(&rng, &forward, 4);
            text[i] = BUF_INIT(1 << 12);
            uid_print(&forward, uids[i], &text[i]);
        }
        for (int i = SORTED; i-- > 0;) {
            assert_int_equal(uid_parse(&backward, buf_slice(&text[i]), &others[i], &e), 0);
            buf_deinit(&text[i]);
        }
        add_sorted(&forward, uids, &one);
        add_sorted(&backward, others, &other);
        assert_string_equal(buf_text(&one), buf_text(&other));
        buf_deinit(&one);
        buf_deinit(&other);
        names_deinit(&forward);
        names_deinit(&backward);
    }
}

static void test_order_known(void **state)
{
    /* each before the next */
    static const char *const rows[] = {
        "a GET /",
        "a GET / > a GET /",
        "a GET / > a GET / #1",
        "a GET / > a GET / #10",
        "a GET / > a GET / #*",
        "a GET / > a GET / {00000001}",
        "a GET / > a GET / {ffffffff}",
        "a GET / > a GET /x",
        "a GET / > a GET /x > z GET /",
        "a GET / > a POST /",
        "a GET / > b GET /",
        "a GET / #1",
        "a GET /a",
        "aa GET /",
        "b GET /",
    };
    struct names names;
    uid uids[LENGTH(rows)];
    (void)state;
    names_init(&names);
    for (size_t i = LENGTH(rows); i-- > 0;)
        uids[i] = parse_uid(&names, rows[i]);
    for (size_t i = 0; i < LENGTH(rows); i++)
        for (size_t k = 0; k < LENGTH(rows); k++)
            if (sign(uid_cmp(&names, uids[i], uids[k])) != (i > k) - (i < k))
                fail_msg("%s and %s", rows[i], rows[k]);
    names_deinit(&names);
}

/* ---- text of names ---- */

static void test_uid_text(void **state)
{
    static const struct {
        const char *text, *canonical; /* NULL: it is */
    } rows[] = {
        {"users GET /users/[id]/bookings > bookings GET /bookings/[name] #1", NULL},
        {"mail post.Office/Send", NULL},
        {"a GET /", NULL},
        {"a GET / {0123abcd}", NULL},
        {"a GET / ^0123abcd", NULL},
        {"a GET / {0123abcd} ^ffffffff #4294967294", NULL},
        {"a GET / #*", NULL},
        {"a * > * GET /x > * *", NULL},
        {"a pkg.S/M #2 > b /pkg.S/M", NULL},
        {"  a   GET \t /  >  b  GET\n/x  ", "a GET / > b GET /x"},
        {"a GET / #0", "a GET /"},
        {"a GET / #007", "a GET / #7"},
        {"a GET / #1 ^0123abcd {0123abcd}", "a GET / {0123abcd} ^0123abcd #1"},
        {"a GET /a>b", NULL},
        {"a GET /x:y&z", NULL},
    };
    struct names names;
    (void)state;
    names_init(&names);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(1000);
        uid_print(&names, parse_uid(&names, rows[i].text), &text);
        assert_string_equal(buf_text(&text), rows[i].canonical ? rows[i].canonical : rows[i].text);
        buf_deinit(&text);
    }
    names_deinit(&names);
}

static void test_uid_errors(void **state)
{
    static const char *const rows[] = {
        "",
        "   ",
        "a",
        ">",
        "a GET / >",
        "> a GET /",
        "a GET / > > b GET /",
        "a > b GET /",
        "a #1",
        "a {0123abcd}",
        "a GET / /",
        "a GET / x",
        "a GET / b GET /",
        "a GET / #",
        "a GET / #-1",
        "a GET / #1x",
        "a GET / #4294967295", /* that is N_ANY */
        "a GET / #99999999999999999999",
        "a GET / {}",
        "a GET / {123}",
        "a GET / {0123abcde}",
        "a GET / {0123ABCD}",
        "a GET / {0123abcg}",
        "a GET / {00000000}", /* that is: not part of the name */
        "a GET / ^",
        "a GET / ^123",
        "a GET / ^00000000",
        "a GET / : 503",
        "a GET / & b GET /",
        "a :",
    };
    struct names names;
    (void)state;
    names_init(&names);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        uid u;
        if (uid_parse(&names, slice_of(rows[i]), &u, &e) == 0)
            fail_msg("\"%s\" is accepted", rows[i]);
        assert_true(e.text[0]);
        if (e.col > strlen(rows[i]))
            fail_msg("\"%s\": column %u", rows[i], (unsigned)e.col);
    }
    names_deinit(&names);
}

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
    };
    (void)state;
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

/* ---- interfaces ---- */

static const char uuid[] = "0d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a10";

static void test_interface(void **state)
{
    static const struct {
        const char *method, *path, *made;
    } rows[] = {
        {"GET", "/", "GET /"},
        {"GET", "", "GET /"},
        {"GET", "?a=b", "GET /"},
        {"GET", "/a/b", "GET /a/b"},
        {"GET", "/a/", "GET /a/"},
        {"GET", "//a", "GET //a"},
        {"GET", "/42", "GET /[id]"},
        {"GET", "/a/42/b/0", "GET /a/[id]/b/[id]"},
        {"GET", "/00000000000000000000000000000000000000000042", "GET /[id]"},
        {"GET", "/42a", "GET /42a"},
        {"GET", "/a42", "GET /a42"},
        {"GET", "/-42", "GET /-42"},
        {"GET", "/4.2", "GET /4.2"},
        {"GET", "/42?x=1", "GET /[id]"},
        {"GET", "/a?x=/b/42", "GET /a"},
        {"GET", "/a?", "GET /a"},
        {"GET", "/0d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a10", "GET /[uuid]"},
        {"GET", "/0D3F5C1E-8A51-4C1C-9D5F-3F9F2F1C7A10/x", "GET /[uuid]/x"},
        {"GET", "/0d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a1", "GET /0d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a1"},
        {"GET", "/0d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a10a",
         "GET /0d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a10a"},
        {"GET", "/0d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a1g",
         "GET /0d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a1g"},
        {"GET", "/0d3f5c1e08a51-4c1c-9d5f-3f9f2f1c7a10",
         "GET /0d3f5c1e08a51-4c1c-9d5f-3f9f2f1c7a10"},
        {"GET", "/-d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a10",
         "GET /-d3f5c1e-8a51-4c1c-9d5f-3f9f2f1c7a10"},
        {"GET", "/a b\tc\x01\x7f", "GET /a%20b%09c%01%7F"},
        {"GET", "/a%20b", "GET /a%20b"},
        {"GET", "a/42", "GET /a/[id]"},
        {"GET", "/\xc3\xa9", "GET /\xc3\xa9"},
        {"G T", "/", "G%20T /"},
        {"", "pkg.Service/Method", "pkg.Service/Method"},
        {"", "pkg.Service/42", "pkg.Service/[id]"},
        {"", "", "/"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000);
        interface_make(slice_of(rows[i].method), slice_of(rows[i].path), NULL, &out);
        assert_string_equal(buf_text(&out), rows[i].made);
        buf_deinit(&out);
    }
    struct rewrite *none = rewrite_new();
    struct buf out = BUF_INIT(1000);
    buf_adds(&out, "before ");
    interface_make(SLICE("GET"), slice_of(uuid), none, &out);
    assert_string_equal(buf_text(&out), "before GET /[uuid]");
    buf_deinit(&out);
    rewrite_free(none);
    rewrite_free(NULL);
}

static void add_rule(struct rewrite *rules, const char *rule)
{
    struct err e = {0};
    if (rewrite_add(rules, slice_of(rule), &e))
        fail_msg("%s: %s", rule, e.text);
}

static void test_rewrite(void **state)
{
    static const struct {
        const char *rules[3], *path, *made;
    } rows[] = {
        {{"/v[0-9]+/ -> /[version]/"}, "/v2/users", "GET /[version]/users"},
        {{"/v[0-9]+/ -> /[version]/"}, "/users", "GET /users"},
        {{"order-[a-z0-9]+ -> [order]"},
         "/order-1/order-2/order-3",
         "GET /[order]/[order]/[order]"},
        {{"a -> b", "b -> c"}, "/ab", "GET /cc"}, /* in their order */
        {{"b -> c", "a -> b"}, "/ab", "GET /bc"},
        {{"^/a -> /x"}, "/a/a", "GET /x/a"}, /* the beginning is there once */
        {{"/$ -> /[end]"}, "/a/", "GET /a/[end]"},
        {{"$ -> /end"}, "/a", "GET /a/end"},
        {{"^ -> /start"}, "/a", "GET /start/a"},
        {{"[id] -> x"}, "/42", "GET /[xx]"}, /* after the digits, as a bracket expression */
        {{"\\[id\\] -> [number]"}, "/42", "GET /[number]"},
        {{"(a|b)+ -> c"}, "/aabbxab", "GET /cxc"},
        {{"secret -> "}, "/a/secretb", "GET /a/b"},
        {{"a -> b c"}, "/a", "GET /b%20c"},
        {{" a  ->  b "}, "/a", "GET /b"}, /* blanks around both do not count */
        {{"a -> b -> c"}, "/a", "GET /b%20->%20c"},
        {{"a -> aa"}, "/aa", "GET /aaaa"}, /* what was put in is not looked at again */
        {{"a -> \\0&"}, "/a", "GET /\\0&"},
        {{"\\? -> x"}, "/a?b", "GET /a"}, /* the query is gone by then */
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000);
        struct rewrite *rules = rewrite_new();
        for (int k = 0; k < 3 && rows[i].rules[k]; k++)
            add_rule(rules, rows[i].rules[k]);
        interface_make(SLICE("GET"), slice_of(rows[i].path), rules, &out);
        if (strcmp(buf_text(&out), rows[i].made) != 0)
            fail_msg("%s: %s is %s", rows[i].rules[0], rows[i].path, buf_text(&out));
        buf_deinit(&out);
        rewrite_free(rules);
    }
}

/* Expressions that match nothing at all: between which bytes is the library's business, but it
 * ends, and every byte that did not match is still there. */
static void test_rewrite_empty(void **state)
{
    static const struct {
        const char *rule, *path, *rest;
    } rows[] = {
        {"x* -> -", "/ab", "/ab"},    {"x* -> -", "/axxb", "/ab"}, {"b* -> -", "/abba", "/aa"},
        {"(a|) -> -", "/ab", "/b"},   {"() -> -", "/ab", "/ab"},   {".* -> -", "/ab", ""},
        {"(^|$) -> -", "/ab", "/ab"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf out = BUF_INIT(1000), rest = BUF_INIT(1000);
        struct rewrite *rules = rewrite_new();
        add_rule(rules, rows[i].rule);
        interface_make(SLICE(""), slice_of(rows[i].path), rules, &out);
        for (size_t k = 0; k < out.n; k++)
            if (out.p[k] != '-')
                buf_addc(&rest, out.p[k]);
        if (strcmp(buf_text(&rest), rows[i].rest) != 0 || rest.n == out.n)
            fail_msg("%s: %s is %s", rows[i].rule, rows[i].path, buf_text(&out));
        buf_deinit(&out);
        buf_deinit(&rest);
        rewrite_free(rules);
    }
}

static void test_rewrite_errors(void **state)
{
    static const char *const rows[] = {"",       "a",       "a->b",     "a ->",   " -> b",
                                       "( -> b", "[a -> b", "a{2 -> b", "\\ -> b"};
    struct rewrite *rules = rewrite_new();
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        if (rewrite_add(rules, slice_of(rows[i]), &e) == 0)
            fail_msg("\"%s\" is accepted", rows[i]);
        assert_true(e.text[0]);
    }
    char rule[600];
    struct err e = {0};
    memset(rule, 'a', sizeof rule);
    memcpy(rule + 510, " -> b", 6);
    assert_int_equal(rewrite_add(rules, slice_of(rule), &e), -1);
    rewrite_free(rules);
}

/* Long paths, many matches, results that grow: bounded, and no crash. */
static void test_rewrite_bounds(void **state)
{
    struct buf path = BUF_INIT(100000), out = BUF_INIT(1 << 20);
    struct rewrite *rules = rewrite_new();
    (void)state;
    for (int i = 0; i < 10; i++)
        add_rule(rules, "a -> aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    while (!path.full)
        buf_adds(&path, "/a");
    interface_make(SLICE("GET"), buf_slice(&path), rules, &out);
    assert_true(out.n <= 8192 + 4);
    buf_deinit(&path);
    buf_deinit(&out);
    rewrite_free(rules);
}

/* Processor time of naming a call with a path of n bytes, by a rule that looks to the end of the
 * path from every byte on. The best of several: a busy machine does not decide. */
static clock_t time_to_rewrite(const struct rewrite *rules, size_t n)
{
    clock_t best = 0;
    struct buf path = BUF_INIT(n);
    buf_addc(&path, '/');
    while (path.n < n)
        buf_addc(&path, 'a');
    for (int i = 0; i < 7; i++) {
        struct buf out = BUF_INIT(1 << 20);
        clock_t begun = clock();
        interface_make(SLICE("GET"), buf_slice(&path), rules, &out);
        clock_t spent = clock() - begun;
        best = i == 0 || spent < best ? spent : best;
        buf_deinit(&out);
    }
    buf_deinit(&path);
    return best;
}

static void test_rewrite_time(void **state)
{
    struct rewrite *rules = rewrite_new();
    (void)state;
    for (int i = 0; i < 4; i++)
        add_rule(rules, "(a|b)*c -> y");
    clock_t few = time_to_rewrite(rules, 2000), many = time_to_rewrite(rules, 8000);
    if (many > 9 * few) /* four times as long a path: it is sixteen times where time is a square */
        fail_msg("%ld, then %ld", (long)few, (long)many);
    rewrite_free(rules);
}

/* A long path is rewritten all over, and only its ends are ends. */
static void test_rewrite_long(void **state)
{
    struct buf path = BUF_INIT(8000), wanted = BUF_INIT(8000), out = BUF_INIT(8000);
    struct rewrite *rules = rewrite_new();
    (void)state;
    add_rule(rules, "^/x -> /first");
    add_rule(rules, "x$ -> last");
    add_rule(rules, "/v[0-9]+/ -> /[v]/");
    buf_adds(&path, "/x");
    buf_adds(&wanted, "GET /first");
    for (int i = 0; i < 500; i++) {
        buf_adds(&path, i % 2 ? "/x" : "/v12");
        buf_adds(&wanted, i % 2 ? i == 499 ? "/last" : "/x" : "/[v]");
    }
    interface_make(SLICE("GET"), buf_slice(&path), rules, &out);
    assert_string_equal(buf_text(&out), buf_text(&wanted));
    buf_clear(&out);
    add_rule(rules, "/x/.* -> /[rest]");
    interface_make(SLICE("GET"), buf_slice(&path), rules, &out);
    assert_string_equal(buf_text(&out), "GET /first/[v]/[rest]");
    buf_deinit(&path);
    buf_deinit(&wanted);
    buf_deinit(&out);
    rewrite_free(rules);
}

/* Whatever the rules do, the interface is a word after the method, so that a name with it can be
 * read back. */
static void test_rewrite_round_trip(void **state)
{
    static const struct {
        const char *rule, *path;
    } rows[] = {
        {"/v[0-9]+/ -> /", "/v1/a"}, {"a -> b c", "/a"}, {"/[a-z]+ -> ", "/a"}, {"^/ -> ", "/a/b"},
        {".* -> [any]", "/a"},       {"/a -> #1", "/a"}, {"/ -> >", "/"},       {"/ -> {", "/"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct names names;
        struct buf text = BUF_INIT(1000);
        struct rewrite *rules = rewrite_new();
        struct err e = {0};
        names_init(&names);
        add_rule(rules, rows[i].rule);
        interface_make(SLICE("GET"), slice_of(rows[i].path), rules, &text);
        struct element el = {names_sym(&names, SLICE("a")), names_sym(&names, buf_slice(&text)), 0,
                             0, 0};
        uid u = names_uid(&names, UID_NONE, names_element(&names, el)), again = UID_NONE;
        buf_clear(&text);
        uid_print(&names, u, &text);
        if (uid_parse(&names, buf_slice(&text), &again, &e) || again != u)
            fail_msg("rule \"%s\": the name \"%s\" is not read back: %s", rows[i].rule,
                     buf_text(&text), e.text);
        buf_deinit(&text);
        rewrite_free(rules);
        names_deinit(&names);
    }
}

/* ---- faultloads ---- */

struct faults {
    struct names names;
    struct faultloads fl;
};

static void faults_init(struct faults *f)
{
    names_init(&f->names);
    faultloads_init(&f->fl);
}

static void faults_deinit(struct faults *f)
{
    names_deinit(&f->names);
    faultloads_deinit(&f->fl);
}

static faultload parse_faultload(struct faults *f, const char *text)
{
    struct err e = {0};
    faultload result = FAULTLOAD_EMPTY;
    if (faultload_parse(&f->names, &f->fl, slice_of(text), &result, &e))
        fail_msg("%s: %s", text, e.text);
    return result;
}

static void test_faultload_text(void **state)
{
    static const struct {
        const char *text, *canonical;
        uint32_t size;
    } rows[] = {
        {"none", NULL, 0},
        {" none\n", "none", 0},
        {"a GET / > b GET /x : 503", NULL, 1},
        {"a GET / > b GET /x #* : lost-reply:reset", NULL, 1},
        {"a GET / > b GET /x : 503 & a GET / > b GET /x #1 : reset", NULL, 2},
        {"a GET / > b GET /x #1 : reset & a GET / > b GET /x : 503", NULL,
         2}, /* as it was written */
        {"a GET / > b GET /x : 503 & a GET / > b GET /x #* : 503", NULL, 2},
        {"  a  GET  /  :  status:503  ", "a GET / : 503", 1},
        {"a p.S/M {0123abcd} ^0123abcd #3 : delay:2000ms & b GET /:x : hold",
         "a p.S/M {0123abcd} ^0123abcd #3 : delay:2s & b GET /:x : hold", 2},
        {"payment down", NULL, 1},
        {" payment  down & a GET / : 503", "payment down & a GET / : 503", 2},
        {"a GET / > b GET /x : refuse & a down & b down", NULL, 3},
        {"a down : refuse", "a down", 1}, /* a call of that name would be the scenario's own */
        {"a down : 503 & a down #1 : refuse", NULL, 2},
        {"a GET / > b down : refuse", NULL, 1},
    };
    struct faults f;
    (void)state;
    faults_init(&f);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(1000);
        faultload load = parse_faultload(&f, rows[i].text);
        assert_int_equal(faultload_size(&f.fl, load), rows[i].size);
        faultload_print(&f.names, &f.fl, load, &text);
        assert_string_equal(buf_text(&text), rows[i].canonical ? rows[i].canonical : rows[i].text);
        buf_deinit(&text);
    }
    faults_deinit(&f);
}

static void test_faultload_errors(void **state)
{
    static const char *const rows[] = {
        "",
        "  ",
        "none & a GET / : 503",
        "a GET /",
        "a GET / :",
        "a GET / : nothing",
        "a GET / : 503 &",
        "a GET / : 503 & ",
        "& a GET / : 503",
        "a GET / : 503 b GET / : 503",
        "a GET / : 503 500",
        "a GET / & b GET / : 503",
        "a : 503",
        ": 503",
        "a GET / : 503 & a GET / : 503",
        "a GET / : 503 & b GET / : 503 & a GET / #0 : 500",
        "a GET /:503",
        "a GET / : 503& b GET / : 503",
        "down",
        "a down & a down",
        "a down b GET / : 503",
        "a down #1",
        "a* down",
        "> down",
        "a > b down",
        "payment signal STOP",
        "a -x- b",
        "a at read.c:7",
    };
    struct faults f;
    (void)state;
    faults_init(&f);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        faultload load;
        if (faultload_parse(&f.names, &f.fl, slice_of(rows[i]), &load, &e) == 0)
            fail_msg("\"%s\" is accepted", rows[i]);
        assert_true(e.text[0]);
    }
    faults_deinit(&f);
}

static void test_faultload_sets(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal, within; /* a in b */
    } rows[] = {
        {"none", "none", true, true},
        {"none", "a GET / : 503", false, true},
        {"a GET / : 503", "none", false, false},
        {"a GET / : 503", "a GET / : 503", true, true},
        {"a GET / : 503", "a GET / : 500", false, false},
        {"a GET / : 503", "a GET / #1 : 503", false, false},
        {"a down", "a down", true, true},
        {"a down", "b down", false, false},
        {"a down", "a GET / : refuse", false, false},
        {"a down & b GET / : 503", "b GET / : 503 & a down", true, true},
        {"a down", "b GET / : 503 & a down", false, true},
        {"a GET / : 503", "a GET / #* : 503", false, false},
        {"a GET / : 503", "b GET / : 503", false, false},
        {"a GET / : 503 & b GET / : 500", "b GET / : 500 & a GET / : 503", true, true},
        {"a GET / : 503 & b GET / : 500", "a GET / : 500 & b GET / : 503", false, false},
        {"b GET / : 500", "a GET / : 503 & b GET / : 500", false, true},
        {"a GET / : 503 & b GET / : 500", "b GET / : 500", false, false},
        {"a GET / : 503 & c GET / : 500", "a GET / : 503 & b GET / : 500", false, false},
    };
    struct faults f;
    (void)state;
    faults_init(&f);
    for (size_t i = 0; i < LENGTH(rows); i++) {
        faultload a = parse_faultload(&f, rows[i].a), b = parse_faultload(&f, rows[i].b);
        if (faultload_eq(&f.fl, a, b) != rows[i].equal ||
            faultload_eq(&f.fl, b, a) != rows[i].equal ||
            faultload_within(&f.fl, a, b) != rows[i].within)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        assert_true(faultload_eq(&f.fl, a, a) && faultload_within(&f.fl, b, b));
    }
    faults_deinit(&f);
}

static void test_faultload_at(void **state)
{
    struct faults f;
    (void)state;
    faults_init(&f);
    faultload load = parse_faultload(&f, "a GET / : 503 & b GET / #* : reset & c GET / : hold");
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "a GET /")), parse_mode("503"));
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "b GET / #*")),
                     parse_mode("reset"));
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "c GET /")), parse_mode("hold"));
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "b GET /")), MODE_NONE);
    assert_int_equal(faultload_at(&f.fl, load, parse_uid(&f.names, "a GET / #1")), MODE_NONE);
    assert_int_equal(faultload_at(&f.fl, FAULTLOAD_EMPTY, parse_uid(&f.names, "a GET /")),
                     MODE_NONE);
    faultload less = f.fl.rows.at[load].rest; /* the tree: others are built on it and it stays */
    faultload other = faultload_extend(
        &f.fl, less, (struct fault){parse_uid(&f.names, "d GET /"), parse_mode("500")});
    assert_int_equal(faultload_size(&f.fl, less), 2);
    assert_int_equal(faultload_size(&f.fl, other), 3);
    assert_true(faultload_within(&f.fl, less, other) && faultload_within(&f.fl, less, load));
    assert_false(faultload_within(&f.fl, other, load));
    faults_deinit(&f);
}

/* How calls fail: by the most special fault. */
static void test_faultload_mode(void **state)
{
    static const struct {
        const char *call, *mode, *point;
    } rows[] = {
        {"s GET / > a GET /", "refuse", "s GET / > a GET /"},
        {"s GET / > a GET /x > a p.S/M #3", "refuse", "s GET / > a GET /x > a p.S/M #3"},
        {"s GET / > a GET /x", "503", "s GET / > a GET /x"},
        {"s GET / > a GET /y #2", "reset", "s GET / > a GET /y #*"},
        {"s GET / > b GET /", NULL, "s GET / > b GET /"},
        {"s GET / > b down", NULL, "s GET / > b down"},
    };
    struct faults f;
    uid point;
    (void)state;
    faults_init(&f);
    faultload load = parse_faultload(
        &f, "s GET / > a GET /x : 503 & a down & s GET / > a GET /y #* : reset & c down");
    for (size_t i = 0; i < LENGTH(rows); i++) {
        mode wanted = rows[i].mode ? parse_mode(rows[i].mode) : MODE_NONE;
        mode m = faultload_mode(&f.names, &f.fl, load, parse_uid(&f.names, rows[i].call), &point);
        if (m != wanted || point != parse_uid(&f.names, rows[i].point))
            fail_msg("%s", rows[i].call);
    }
    faults_deinit(&f);
}

/* Random faultloads: read back, equal in any order, unequal to those with one change. */
static void test_faultload_round_trip(void **state)
{
    struct rng rng = {5};
    (void)state;
    for (int round = 0; round < 500; round++) {
        struct faults f;
        struct fault fault[8];
        uint32_t n = rng_below(&rng, 8);
        faultload forward = FAULTLOAD_EMPTY, backward = FAULTLOAD_EMPTY;
        struct buf text = BUF_INIT(1 << 16);
        faults_init(&f);
        for (uint32_t i = 0; i < n; i++) {
            do
                fault[i] = (struct fault){random_uid(&rng, &f.names, 50), random_mode(&rng)};
            while (faultload_at(&f.fl, forward, fault[i].point) != MODE_NONE);
            forward = faultload_extend(&f.fl, forward, fault[i]);
        }
        for (uint32_t i = n; i-- > 0;)
            backward = faultload_extend(&f.fl, backward, fault[i]);
        assert_true(faultload_eq(&f.fl, forward, backward));
        faultload_print(&f.names, &f.fl, forward, &text);
        faultload again = parse_faultload(&f, buf_text(&text));
        assert_true(faultload_eq(&f.fl, forward, again));
        if (n) {
            assert_true(faultload_within(&f.fl, f.fl.rows.at[backward].rest, forward));
            assert_false(faultload_within(&f.fl, forward, f.fl.rows.at[backward].rest));
        }
        buf_deinit(&text);
        faults_deinit(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interning),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_uid_all),
        cmocka_unit_test(test_uid_contains),
        cmocka_unit_test(test_uid_round_trip),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_known),
        cmocka_unit_test(test_uid_text),
        cmocka_unit_test(test_uid_errors),
        cmocka_unit_test(test_mode_rows),
        cmocka_unit_test(test_mode_text),
        cmocka_unit_test(test_mode_errors),
        cmocka_unit_test(test_mode_long),
        cmocka_unit_test(test_labels),
        cmocka_unit_test(test_outcomes),
        cmocka_unit_test(test_interface),
        cmocka_unit_test(test_rewrite),
        cmocka_unit_test(test_rewrite_errors),
        cmocka_unit_test(test_rewrite_empty),
        cmocka_unit_test(test_rewrite_bounds),
        cmocka_unit_test(test_rewrite_time),
        cmocka_unit_test(test_rewrite_long),
        cmocka_unit_test(test_rewrite_round_trip),
        cmocka_unit_test(test_faultload_text),
        cmocka_unit_test(test_faultload_errors),
        cmocka_unit_test(test_faultload_sets),
        cmocka_unit_test(test_faultload_at),
        cmocka_unit_test(test_faultload_mode),
        cmocka_unit_test(test_faultload_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
