/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of calls, and the interfaces in them: identity, order, and text that is read back to what was
 * printed. */
#include "support/core_lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

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
        cmocka_unit_test(test_interface),
        cmocka_unit_test(test_rewrite),
        cmocka_unit_test(test_rewrite_errors),
        cmocka_unit_test(test_rewrite_empty),
        cmocka_unit_test(test_rewrite_bounds),
        cmocka_unit_test(test_rewrite_time),
        cmocka_unit_test(test_rewrite_long),
        cmocka_unit_test(test_rewrite_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
