/* SPDX-License-Identifier: Apache-2.0
 *
 * The room base: slices, buffers, arenas, vectors, tables, errors, random numbers and nodes. */
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/random.h"
#include "data/node.h"
#include "data/yaml.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

/* ---- slices ---- */

static void test_slice_cut(void **state)
{
    static const struct {
        const char *text;
        char at;
        const char *parts; /* joined with | */
    } rows[] = {
        {"a,b,,c", ',', "a|b||c|"}, {"abc", ',', "abc|"}, {"", ',', "|"},         {",", ',', "||"},
        {"a,", ',', "a||"},         {",a", ',', "|a|"},   {"/a/b", '/', "|a|b|"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        slice rest = slice_of(rows[i].text), part;
        struct buf parts = BUF_INIT(100);
        while (slice_cut(&rest, rows[i].at, &part)) {
            buf_add(&parts, part);
            buf_addc(&parts, '|');
        }
        assert_string_equal(buf_text(&parts), rows[i].parts);
        assert_null(rest.p);
        buf_deinit(&parts);
    }
}

static void test_slice_word(void **state)
{
    static const struct {
        const char *text, *words; /* joined with | */
    } rows[] = {
        {"", ""},
        {" \t\r\n ", ""},
        {"one", "one|"},
        {" one ", "one|"},
        {"a  bb\tccc\r\nd", "a|bb|ccc|d|"},
        {"a>b > c", "a>b|>|c|"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        slice rest = slice_of(rows[i].text), word;
        struct buf words = BUF_INIT(100);
        while (slice_word(&rest, &word)) {
            buf_add(&words, word);
            buf_addc(&words, '|');
        }
        assert_string_equal(buf_text(&words), rows[i].words);
        assert_int_equal(word.n, 0); /* callers look at it after the last word */
        assert_false(slice_word(&rest, &word));
        buf_deinit(&words);
    }
}

static void test_slice_compare(void **state)
{
    static const struct {
        const char *a, *b;
        int order;
    } rows[] = {
        {"", "", 0},    {"", "a", -1},  {"a", "a", 0},          {"a", "b", -1},     {"a", "aa", -1},
        {"b", "aa", 1}, {"A", "a", -1}, {"a\x7f", "a\x80", -1}, {"/a", "/a/b", -1},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        slice a = slice_of(rows[i].a), b = slice_of(rows[i].b);
        int c = slice_cmp(a, b), d = slice_cmp(b, a);
        assert_int_equal((c > 0) - (c < 0), rows[i].order);
        assert_int_equal((d > 0) - (d < 0), -rows[i].order);
        assert_int_equal(slice_eq(a, b), rows[i].order == 0);
        assert_int_equal(slice_is(a, rows[i].b), rows[i].order == 0);
    }
    assert_true(slice_eq((slice){NULL, 0}, SLICE("")));
    assert_int_equal(slice_cmp((slice){NULL, 0}, SLICE("")), 0);
    assert_true(slice_starts(SLICE("abc"), SLICE("ab")));
    assert_true(slice_starts(SLICE("abc"), SLICE("abc")));
    assert_false(slice_starts(SLICE("ab"), SLICE("abc")));
    assert_false(slice_starts(SLICE("xbc"), SLICE("ab")));
}

static void test_slice_trim_find(void **state)
{
    static const struct {
        const char *text, *trimmed;
    } rows[] = {{"", ""}, {"  ", ""}, {"\t a b\r\n", "a b"}, {"a", "a"}, {"a ", "a"}, {"\na", "a"}};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_true(slice_is(slice_trim(slice_of(rows[i].text)), rows[i].trimmed));
    assert_int_equal(slice_find(SLICE("a:b:"), ':'), 1);
    assert_int_equal(slice_find(SLICE("ab"), ':'), 2);
    assert_int_equal(slice_find((slice){NULL, 0}, ':'), 0);
}

static void test_slice_to_u64(void **state)
{
    static const struct {
        const char *text;
        uint64_t max;
        bool ok;
        uint64_t value;
    } rows[] = {
        {"0", 0, true, 0},
        {"599", 599, true, 599},
        {"600", 599, false, 0},
        {"00000000000000000000000000007", 9, true, 7},
        {"18446744073709551615", UINT64_MAX, true, UINT64_MAX},
        {"18446744073709551614", UINT64_MAX - 1, true, UINT64_MAX - 1},
        {"18446744073709551615", UINT64_MAX - 1, false, 0},
        {"18446744073709551616", UINT64_MAX, false, 0}, /* 2^64 */
        {"18446744073709551625", UINT64_MAX, false, 0},
        {"28446744073709551615", UINT64_MAX, false, 0},
        {"184467440737095516150", UINT64_MAX, false, 0},
        {"36893488147419103239", UINT64_MAX, false, 0}, /* 7 modulo 2^64 */
        {"", 9, false, 0},
        {"-1", 9, false, 0},
        {"+1", 9, false, 0},
        {" 1", 9, false, 0},
        {"1 ", 9, false, 0},
        {"1a", 9, false, 0},
        {"0x1", 9, false, 0},
        {"1.0", 9, false, 0},
        {"/", 9, false, 0}, /* the bytes around the digits */
        {":", 9, false, 0},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        uint64_t value = 4711;
        bool ok = slice_to_u64(slice_of(rows[i].text), rows[i].max, &value);
        if (ok != rows[i].ok || value != (ok ? rows[i].value : 4711))
            fail_msg("\"%s\": %d, %llu", rows[i].text, ok, (unsigned long long)value);
    }
}

static void test_slice_to_ns(void **state)
{
    static const struct {
        const char *text;
        int64_t ns; /* -1: refused */
    } rows[] = {
        {"1ns", 1},
        {"1us", 1000},
        {"1ms", 1000000},
        {"1s", 1000000000},
        {"1m", 60000000000},
        {"1h", 3600000000000},
        {"0s", 0},
        {"0250ms", 250000000},
        {"9223372036854775807ns", INT64_MAX},
        {"9223372036854775808ns", -1},
        {"9223372036854775us", 9223372036854775000},
        {"9223372036854776us", -1},
        {"9223372036s", 9223372036000000000},
        {"9223372037s", -1},
        {"153722867m", 9223372020000000000},
        {"153722868m", -1},
        {"2562047h", 9223369200000000000},
        {"2562048h", -1},
        {"18446744073709551616s", -1}, /* 0 modulo 2^64 */
        {"", -1},
        {"s", -1},
        {"5", -1},
        {"5 s", -1},
        {" 5s", -1},
        {"5s ", -1},
        {"1.5s", -1},
        {"-1s", -1},
        {"+1s", -1},
        {"1S", -1},
        {"1min", -1},
        {"1sec", -1},
        {"1d", -1},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        int64_t ns = -1;
        bool ok = slice_to_ns(slice_of(rows[i].text), &ns);
        if (ok != (rows[i].ns >= 0) || (ok && ns != rows[i].ns))
            fail_msg("\"%s\": %d, %lld", rows[i].text, ok, (long long)ns);
    }
}

static void test_add_ns(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {
        {0, "0ns"},           {1, "1ns"},           {250000, "250us"},     {20000000, "20ms"},
        {1500000000, "1.5s"}, {120000000000, "2m"}, {3600000000000, "1h"}, {5400000000000, "1.5h"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf text = BUF_INIT(40);
        buf_add_ns(&text, rows[i].ns);
        assert_string_equal(buf_text(&text), rows[i].text);
        buf_deinit(&text);
    }
}

/* ---- buffers ---- */

static void check_buf(const struct buf *b, slice all)
{
    assert_true(b->n <= b->max);
    assert_int_equal(b->n, all.n < b->max ? all.n : b->max);
    assert_int_equal(b->full, all.n > b->max);
    assert_int_equal(strlen(buf_text(b)), b->n);
    assert_memory_equal(buf_text(b), all.p, b->n);
    assert_true(!b->p || b->cap > b->n);
}

/* Random additions to buffers with every bound, compared with all that was added. */
static void test_buf_bound(void **state)
{
    static const char text[] = "the quick brown fox jumps over the lazy dog";
    struct rng rng = {1};
    (void)state;
    for (size_t max = 0; max < 200; max++) {
        struct buf b = BUF_INIT(max);
        char all[1200];
        size_t n = 0;
        assert_string_equal(buf_text(&b), "");
        while (n < 1000) {
            size_t from = rng_below(&rng, sizeof text - 1);
            slice part = {text + from, rng_below(&rng, (uint32_t)(sizeof text - from))};
            uint32_t how = rng_below(&rng, 4);
            if (how == 3)
                part = (slice){text, 1};
            memcpy(all + n, part.p, part.n);
            n += part.n;
            if (how == 0)
                buf_add(&b, part);
            else if (how == 1)
                buf_addf(&b, "%.*s", SLICE_ARG(part));
            else if (how == 2)
                buf_addf(&b, "%.*s%s", SLICE_ARG(part), "");
            else
                buf_addc(&b, *part.p);
            check_buf(&b, (slice){all, n});
        }
        buf_clear(&b);
        check_buf(&b, SLICE(""));
        buf_adds(&b, "x");
        check_buf(&b, SLICE("x"));
        buf_deinit(&b);
        assert_int_equal(b.max, max);
        check_buf(&b, SLICE(""));
    }
}

static void test_buf_large(void **state)
{
    struct buf b = BUF_INIT(1 << 20);
    (void)state;
    for (int i = 0; i < 300000; i++)
        buf_addf(&b, "%04d", i % 10000);
    assert_int_equal(b.n, 1 << 20);
    assert_true(b.full);
    assert_memory_equal(b.p + (1 << 20) - 4, "2143", 4);
    assert_int_equal(b.p[b.n], 0);
    buf_deinit(&b);
}

/* ---- memory ---- */

static void test_arena_alignment(void **state)
{
    struct arena a = {0};
    (void)state;
    for (int round = 0; round < 3; round++) {
        for (size_t size = 0; size < 300; size++) {
            char *p = arena_alloc(&a, size);
            assert_int_equal((uintptr_t)p % alignof(max_align_t), 0);
            memset(p, 0xee,
                   size); /* in its bounds, says ASan, or overlapping, says the next test */
        }
        arena_reset(&a);
    }
    arena_deinit(&a);
    assert_null(a.chunk);
}

static void test_arena_apart(void **state)
{
    enum { BLOCKS = 3000 };
    static unsigned char *block[BLOCKS];
    static uint32_t size[BLOCKS];
    struct arena a = {0};
    struct rng rng = {2};
    (void)state;
    for (int round = 0; round < 3; round++) {
        for (uint32_t i = 0; i < BLOCKS; i++) {
            /* some larger than every chunk */
            size[i] = i % 500 == 499 ? 3u << 20 : rng_below(&rng, i % 50 ? 100 : 20000);
            block[i] = arena_zero(&a, size[i]);
            for (uint32_t k = 0; k < size[i]; k += 97)
                assert_int_equal(block[i][k], 0);
            memset(block[i], (int)(i % 255) + 1, size[i]);
        }
        for (uint32_t i = 0; i < BLOCKS; i++)
            for (uint32_t k = 0; k < size[i]; k++)
                if (block[i][k] != i % 255 + 1)
                    fail_msg("block %u was overwritten", (unsigned)i);
        arena_reset(&a);
    }
    arena_deinit(&a);
    arena_deinit(&a); /* nothing left to do */
}

/* After a reset the memory is used again. */
static void test_arena_reset(void **state)
{
    struct arena a = {0};
    (void)state;
    arena_reset(&a);
    char *first = arena_alloc(&a, 100);
    arena_reset(&a);
    char *again = arena_alloc(&a, 100);
    assert_ptr_equal(first, again);
    struct arena_chunk *chunk = NULL;
    for (int i = 0; i < 20; i++) {
        for (int k = 0; k < 1000; k++)
            memset(arena_alloc(&a, 100), 1, 100);
        if (i > 10)
            assert_ptr_equal(a.chunk, chunk); /* the next run allocates nothing */
        chunk = a.chunk;
        arena_reset(&a);
    }
    arena_deinit(&a);
}

/* Nothing is also an allocation: it may be given to memset, and the arena need not have a chunk. */
static void test_arena_nothing(void **state)
{
    struct arena a = {0};
    (void)state;
    char *nothing = arena_alloc(&a, 0);
    assert_non_null(nothing);
    arena_deinit(&a);
    assert_non_null(arena_zero(&a, 0));
    arena_deinit(&a);
    assert_string_equal(arena_copy(&a, NULL, 0), "");
    arena_deinit(&a);
}

static void test_arena_copy(void **state)
{
    struct arena a = {0};
    (void)state;
    char *copy = arena_copy(&a, "a\0bc", 3);
    assert_memory_equal(copy, "a\0b\0", 4);
    slice s = slice_copy(&a, SLICE("xyz"));
    assert_int_equal(s.n, 3);
    assert_string_equal(s.p, "xyz");
    arena_deinit(&a);
}

struct triple {
    uint32_t a;
    uint64_t b;
    char c;
};

static void test_vec(void **state)
{
    VEC(struct triple) v = {0};
    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        vec_push(&v, (struct triple){i, (uint64_t)i << 30, (char)(i % 100)});
        assert_int_equal(vec_last(&v).a, i);
        assert_true(v.cap >= v.n);
    }
    assert_int_equal(v.n, 100000);
    for (uint32_t i = 0; i < v.n; i++)
        assert_true(v.at[i].a == i && v.at[i].b == (uint64_t)i << 30 &&
                    v.at[i].c == (char)(i % 100));
    vec_deinit(&v);
    assert_true(v.at == NULL && v.n == 0 && v.cap == 0);
    vec_push(&v, (struct triple){7, 8, 9});
    assert_int_equal(v.at[0].b, 8);
    vec_deinit(&v);
}

/* ---- tables ---- */

enum { KEYS = 100000 };

/* Keys that are alike in their low or high half, small ones and large ones. */
static uint64_t key_of(uint32_t i)
{
    switch (i % 4) {
    case 0: return i;
    case 1: return (uint64_t)i << 32;
    case 2: return UINT64_MAX - i;
    default: return (uint64_t)i << 32 | i;
    }
}

static void test_map(void **state)
{
    struct map m = {0};
    (void)state;
    assert_null(map_get(&m, 0));
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_null(map_get(&m, key_of(i)));
        map_set(&m, key_of(i), i);
        assert_int_equal(*map_get(&m, key_of(i)), i);
    }
    assert_int_equal(m.items.n, KEYS);
    assert_true(m.index.n <= (m.index.mask + 1) / 4 * 3);
    for (uint32_t i = 0; i < KEYS; i++) {
        assert_int_equal(*map_get(&m, key_of(i)), i);
        assert_null(map_get(&m, key_of(i + KEYS)));
    }
    for (uint32_t i = 0; i < KEYS; i += 3)
        map_set(&m, key_of(i), UINT32_MAX - i);
    assert_int_equal(m.items.n, KEYS);
    for (uint32_t i = 0; i < KEYS; i++)
        assert_int_equal(*map_get(&m, key_of(i)), i % 3 ? i : UINT32_MAX - i);
    map_deinit(&m);
    assert_null(map_get(&m, 0));
}

static void test_map_count(void **state)
{
    struct map m = {0};
    (void)state;
    for (uint32_t round = 1; round <= 3; round++)
        for (uint32_t i = 0; i < 1000; i++)
            assert_int_equal(map_count(&m, key_of(i)), round);
    map_set(&m, 5000, 0);
    assert_int_equal(map_count(&m, 5000), 1);
    assert_int_equal(m.items.n, 1001);
    map_deinit(&m);
}

static bool number_eq(const void *owner, uint32_t id, const void *key)
{
    const uint32_t *numbers = owner, *k = key;
    return numbers[id] == *k;
}

/* All keys have one of few hashes: the comparison decides. */
static void test_index_collisions(void **state)
{
    enum { N = 2000 };
    static uint32_t numbers[N];
    for (uint64_t hashes = 1; hashes <= 3; hashes++) {
        struct index x = {0};
        for (uint32_t i = 0; i < N; i++) {
            numbers[i] = i * 7;
            assert_int_equal(index_get(&x, i % hashes, number_eq, numbers, &numbers[i]),
                             INDEX_NONE);
            index_put(&x, i % hashes, i);
        }
        for (uint32_t i = 0; i < N; i++) {
            uint32_t unknown = i * 7 + 1;
            assert_int_equal(index_get(&x, i % hashes, number_eq, numbers, &numbers[i]), i);
            assert_int_equal(index_get(&x, i % hashes, number_eq, numbers, &unknown), INDEX_NONE);
        }
        index_deinit(&x);
    }
    (void)state;
}

/* Hashes are stored, so they are the same everywhere and for ever. */
static void test_hash(void **state)
{
    (void)state;
    assert_int_equal(hash_slice(SLICE("")), 0x2d06800538d394c2);
    assert_int_equal(hash_slice((slice){NULL, 0}), 0x2d06800538d394c2);
    assert_int_not_equal(hash_slice(SLICE("a")), hash_slice(SLICE("b")));
    assert_int_not_equal(hash_mix(1, 2), hash_mix(2, 1));
    assert_int_equal(hash_fold(0), 1);
    assert_int_equal(hash_fold(0x500000005), 1);
    assert_int_equal(hash_fold(0x100000000), 1);
    assert_int_equal(hash_fold(7), 7);
}

static void test_rng(void **state)
{
    /* the sequence of splitmix64 for this seed, as published */
    static const uint64_t known[] = {6457827717110365317u, 3203168211198807973u,
                                     9817491932198370423u, 4593380528125082431u,
                                     16408922859458223821u};
    struct rng r = {1234567};
    (void)state;
    for (size_t i = 0; i < LENGTH(known); i++)
        assert_int_equal(rng_next(&r), known[i]);
    for (uint32_t bound = 1; bound < 40; bound++) {
        uint64_t seen = 0;
        for (int i = 0; i < 2000; i++) {
            uint32_t n = rng_below(&r, bound);
            assert_true(n < bound);
            seen |= 1ull << n;
        }
        assert_int_equal(seen, (1ull << bound) - 1); /* each of them comes */
    }
    for (int i = 0; i < 100; i++)
        assert_true(rng_below(&r, UINT32_MAX) < UINT32_MAX);
}

/* ---- errors ---- */

static void test_err_nearest(void **state)
{
    static const char *const words[] = {"call", "reply", "parallel", "background", "as", "add", ""};
    static const char long_word[] =
        "paralleleleleleleleleleleleleleleleleleleleleleleleleleleleleel";
    static const struct {
        const char *wrong, *nearest;
    } rows[] = {
        {"cal", "call"},
        {"calls", "call"},
        {"paralel", "parallel"},
        {"call", "call"},
        {"rely", "reply"},
        {"bakground", "background"},
        {"xyzzy", NULL},
        {"", NULL},
        {"q", NULL},
        {"ad", "as"},
        {long_word, NULL},
        {"Reply", "reply"},
        {"parallel ", "parallel"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const char *nearest = err_nearest(slice_of(rows[i].wrong), words, LENGTH(words));
        if (!nearest != !rows[i].nearest || (nearest && strcmp(nearest, rows[i].nearest) != 0))
            fail_msg("\"%s\": %s", rows[i].wrong, nearest ? nearest : "nothing");
    }
    assert_null(err_nearest(SLICE("a"), words, 0));
}

static void test_err_print(void **state)
{
    static const struct {
        const char *before, *source;
        uint32_t line, col;
        const char *printed;
    } rows[] = {
        {"", "", 0, 0, "text"},
        {"", "file", 0, 0, "file: text"},
        {"", "file", 3, 7, "file:3:7: text"},
        {"", "", 3, 7, "3:7: text"},
        {"error: ", "file", 3, 7, "error: file:3:7: text"},
        {"error: ", "", 0, 0, "error: text"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct err e = {0};
        struct buf out = BUF_INIT(1000);
        snprintf(e.source, sizeof e.source, "%s", rows[i].source);
        assert_int_equal(err_set(&e, rows[i].line, rows[i].col, "%s", "text"), -1);
        buf_adds(&out, rows[i].before);
        err_print(&e, &out);
        assert_string_equal(buf_text(&out), rows[i].printed);
        buf_deinit(&out);
    }
}

static void test_err_set(void **state)
{
    struct err e = {0};
    char many[2000];
    (void)state;
    assert_int_equal(err_set(&e, 1, 2, "first"), -1);
    assert_int_equal(err_set(&e, 3, 4, "second"), -1);
    assert_string_equal(e.text, "first");
    assert_true(e.line == 1 && e.col == 2);
    memset(many, 'x', sizeof many - 1);
    many[sizeof many - 1] = 0;
    e = (struct err){0};
    assert_int_equal(err_set(&e, 0, 0, "%s", many), -1);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

/* ---- nodes ---- */

static const struct node *read_node(struct arena *a, const char *yaml)
{
    const struct node *node;
    struct err e = {0};
    if (yaml_parse(slice_of(yaml), a, &node, &e))
        fail_msg("%s: %s", yaml, e.text);
    return node;
}

static void test_node_at(void **state)
{
    static const char from[] =
        "{ a: [ { id: 7 }, [ x ] ], b: { '': 1, '0': zero }, c: null, d: [] }";
    static const struct {
        const char *path, *json;
    } rows[] = {
        {"a/0/id", "7"},
        {"a/1/0", "\"x\""},
        {"a/1", "[\"x\"]"},
        {"a/2", "null"},
        {"a/-1", "null"},
        {"a/x", "null"},
        {"a/18446744073709551616", "null"},
        {"b/0", "\"zero\""},
        {"b//", "1"},
        {"c", "null"},
        {"c/x", "null"},
        {"d", "[]"},
        {"d/0", "null"},
        {"e", "null"},
        {"e/f/g", "null"},
        {"a/0/id/x", "null"},
        {"A", "null"},
    };
    struct arena a = {0};
    const struct node *root = read_node(&a, from);
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf json = BUF_INIT(200);
        node_print(node_at(root, slice_of(rows[i].path)), &json);
        if (strcmp(buf_text(&json), rows[i].json) != 0)
            fail_msg("%s: %s", rows[i].path, buf_text(&json));
        buf_deinit(&json);
    }
    assert_ptr_equal(node_at(root, SLICE("")), root);
    assert_ptr_equal(node_at(root, (slice){NULL, 0}), root);
    assert_ptr_equal(node_at(NULL, SLICE("a")), &node_null);
    assert_null(node_get(root, SLICE("e")));
    assert_null(node_get(NULL, SLICE("e")));
    assert_null(node_get(node_get(root, SLICE("a")), SLICE("0"))); /* a list */
    arena_deinit(&a);
}

static void test_node_eq(void **state)
{
    static const struct {
        const char *a, *b;
        bool equal;
    } rows[] = {
        {"1", "1.0", true},
        {"1", "'1'", false},
        {"-0.0", "0", true},
        {"1", "true", false},
        {"null", "~", true},
        {"null", "''", false},
        {"null", "false", false},
        {"null", "[]", false},
        {"[]", "{}", false},
        {"x", "'x'", true},
        {"x", "X", false},
        {"true", "true", true},
        {"true", "false", false},
        {"[1, 2]", "[1, 2.0]", true},
        {"[1, 2]", "[2, 1]", false},
        {"[1, 2]", "[1, 2, 3]", false},
        {"{ a: 1, b: 2 }", "{ b: 2, a: 1 }", true},
        {"{ a: 1, b: 2 }", "{ a: 1, b: 3 }", false},
        {"{ a: 1, b: 2 }", "{ a: 1, c: 2 }", false},
        {"{ a: 1 }", "{ a: 1, b: 2 }", false},
        {"{ a: null }", "{ b: null }", false},
        {"{ a: { b: [ { c: 1 } ] } }", "{ a: { b: [ { c: 1 } ] } }", true},
        {"{ a: { b: [ { c: 1 } ] } }", "{ a: { b: [ { c: 2 } ] } }", false},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        const struct node *x = read_node(&a, rows[i].a), *y = read_node(&a, rows[i].b);
        if (node_eq(x, y) != rows[i].equal || node_eq(y, x) != rows[i].equal)
            fail_msg("%s and %s", rows[i].a, rows[i].b);
        assert_true(node_eq(x, x));
    }
    arena_deinit(&a);
}

static void test_node_print(void **state)
{
    static const struct {
        const char *yaml, *json;
    } rows[] = {
        {"", "null"},
        {"true", "true"},
        {"false", "false"},
        {"0", "0"},
        {"-1.50", "-1.5"},
        {"200", "200"},
        {"1e3", "1000"},
        {"0.1", "0.1"},
        {"123456789012345", "123456789012345"},
        {"[]", "[]"},
        {"{}", "{}"},
        {"[1, [2, []], {}]", "[1, [2, []], {}]"},
        {"{ b: 1, a: { x: y } }", "{\"b\": 1, \"a\": {\"x\": \"y\"}}"},
        {"'a \"b\" \\c'", "\"a \\\"b\\\" \\\\c\""},
        {"\"a\\nb\\tc\\x01\\x1f\"", "\"a\\u000ab\\u0009c\\u0001\\u001f\""},
        {"\"\\x7f / \\u00e9\"", "\"\\u007f / \xc3\xa9\""},
        {"{ 'k\"': 1 }", "{\"k\\\"\": 1}"},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf json = BUF_INIT(1000);
        node_print(read_node(&a, rows[i].yaml), &json);
        if (strcmp(buf_text(&json), rows[i].json) != 0)
            fail_msg("%s: %s", rows[i].yaml, buf_text(&json));
        buf_deinit(&json);
    }
    struct buf zero = BUF_INIT(100);
    buf_add_json_string(&zero, (slice){"a\0b", 3});
    assert_string_equal(buf_text(&zero), "\"a\\u0000b\"");
    buf_deinit(&zero);
    arena_deinit(&a);
}

/* A number that is printed is the number that is read: the 16 digits of a card are an id like any
 * other. */
static void test_node_print_numbers(void **state)
{
    static const struct {
        double num;
        const char *json; /* NULL: any text of this number */
    } rows[] = {
        {4111111111111111, "4111111111111111"},
        {9007199254740991, "9007199254740991"},
        {0.1, "0.1"},
        {1.0 / 3, NULL},
        {1.7976931348623157e308, NULL},
        {5e-324, NULL},
        {-123456.789, "-123456.789"},
    };
    struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < LENGTH(rows); i++) {
        struct buf json = BUF_INIT(1000);
        node_print(node_num(&a, rows[i].num), &json);
        double again = strtod(buf_text(&json), NULL);
        if (memcmp(&again, &rows[i].num, sizeof again) != 0 ||
            (rows[i].json && strcmp(rows[i].json, buf_text(&json)) != 0))
            fail_msg("%.17g is printed as %s", rows[i].num, buf_text(&json));
        buf_deinit(&json);
    }
    arena_deinit(&a);
}

static void test_node_make(void **state)
{
    struct arena a = {0};
    struct node *list = node_list(&a, 2), *map = node_map(&a, 1);
    struct buf json = BUF_INIT(100);
    (void)state;
    map->map[0] = (struct node_pair){.key = SLICE("k"), .value = node_str(&a, SLICE("v"))};
    list->list[0] = node_num(&a, -2);
    list->list[1] = map;
    node_print(list, &json);
    assert_string_equal(buf_text(&json), "[-2, {\"k\": \"v\"}]");
    buf_clear(&json);
    node_print(node_list(&a, 0), &json);
    node_print(node_map(&a, 0), &json);
    assert_string_equal(buf_text(&json), "[]{}");
    for (enum node_type t = NODE_NULL; t <= NODE_MAP; t++)
        assert_true(strlen(node_type_name(t)) > 3);
    buf_deinit(&json);
    arena_deinit(&a);
}

static void test_pointer(void **state)
{
    static const char *const wrong[] = {"a", "a/b", "/a~", "/~2", "/a~/b", "~0"};
    struct buf key = BUF_INIT(100), all = BUF_INIT(100);
    uint64_t i;
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_false(pointer_valid(slice_of(wrong[k])));
    slice rest = SLICE("/a~1b/~0//~01/0");
    assert_true(pointer_valid(rest));
    while (pointer_next(&rest, &key))
        buf_addf(&all, "<%s>", buf_text(&key));
    assert_string_equal(buf_text(&all), "<a/b><~><><~1><0>");
    rest = SLICE("");
    assert_true(pointer_valid(rest));
    assert_false(pointer_next(&rest, &key)); /* the whole */
    assert_true(pointer_index(SLICE("0"), &i) && i == 0);
    assert_true(pointer_index(SLICE("10"), &i) && i == 10);
    assert_false(pointer_index(SLICE("01"), &i));
    assert_false(pointer_index(SLICE("-"), &i));
    assert_false(pointer_index(SLICE(""), &i));
    buf_deinit(&key);
    buf_deinit(&all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slice_cut),     cmocka_unit_test(test_slice_word),
        cmocka_unit_test(test_slice_compare), cmocka_unit_test(test_slice_trim_find),
        cmocka_unit_test(test_slice_to_u64),  cmocka_unit_test(test_slice_to_ns),
        cmocka_unit_test(test_add_ns),        cmocka_unit_test(test_buf_bound),
        cmocka_unit_test(test_buf_large),     cmocka_unit_test(test_arena_alignment),
        cmocka_unit_test(test_arena_apart),   cmocka_unit_test(test_arena_reset),
        cmocka_unit_test(test_arena_nothing), cmocka_unit_test(test_arena_copy),
        cmocka_unit_test(test_vec),           cmocka_unit_test(test_map),
        cmocka_unit_test(test_map_count),     cmocka_unit_test(test_index_collisions),
        cmocka_unit_test(test_hash),          cmocka_unit_test(test_rng),
        cmocka_unit_test(test_err_nearest),   cmocka_unit_test(test_err_print),
        cmocka_unit_test(test_err_set),       cmocka_unit_test(test_pointer),
        cmocka_unit_test(test_node_at),       cmocka_unit_test(test_node_eq),
        cmocka_unit_test(test_node_print),    cmocka_unit_test(test_node_print_numbers),
        cmocka_unit_test(test_node_make),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
