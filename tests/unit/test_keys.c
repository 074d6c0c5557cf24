/* SPDX-License-Identifier: Apache-2.0
 *
 * The reader of maps by tables: every type, what is refused and where, keys of the command line, and
 * the schema. */
#include "data/keys.h"
#include "data/yaml.h"
#include "support/unit.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))
#define MS            INT64_C(1000000)

struct inner {
    uint16_t port;
    bool fast;
};

struct outer {
    slice text;
    const char *string;
    bool on;
    uint32_t count;
    uint64_t large;
    int64_t wait_ns;
    uint32_t colour;
    struct texts texts;
    struct text_pairs pairs;
    const struct node *any;
    struct inner inner;
    uint64_t sum;   /* of `numbers` */
    uint32_t named; /* pairs of `each` */
    uint32_t others;
    char order[16]; /* in which `first` and `last` were read */
};

static int add_number(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct outer *o = into;
    uint64_t n;
    if (!slice_to_u64(value->text, 100, &n))
        return keys_fail(r, value, "\"%s\" has numbers", key->name);
    o->sum += n;
    return 0;
}

static int add_pair(struct keys_reader *r, const struct key *key, void *into,
                    const struct node_pair *pair)
{
    struct outer *o = into;
    (void)key;
    o->named++;
    return keys_name(r, pair->key, pair->line, pair->col, "the name of a thing", false);
}

static int refuse_secret(struct keys_reader *r, const struct key *key, void *into,
                         const struct node_pair *pair)
{
    (void)key;
    (void)into;
    return slice_is(pair->key, "secret") ? err_set(r->e, pair->line, pair->col, "no secrets") : 0;
}

static int note_order(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct outer *o = into;
    (void)r;
    (void)value;
    strncat(o->order, key->name, 1);
    return 0;
}

static int check_text(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct outer *o = into;
    assert_true(slice_eq(o->text, value->text)); /* it was read before it is checked */
    return slice_is(value->text, "bad") ? keys_fail(r, value, "\"%s\" is bad", key->name) : 0;
}

static int take_slashes(struct keys_reader *r, const struct key *key, void *into,
                        const struct node_pair *pair)
{
    struct outer *o = into;
    (void)r;
    assert_null(key);
    o->others += pair->key.p[0] == '/';
    return pair->key.p[0] != '/';
}

static const char *const colours[] = {"red", "green", "on", NULL};

static const struct key inner_rows[] = {
    {"port", KEY_U16, offsetof(struct inner, port), .least = 1, .most = 65535, .doc = "a port"},
    {"fast", KEY_SWITCH, offsetof(struct inner, fast), .doc = "is it fast?"},
};
static const struct keys inner_keys = {"an inner", "inner", KEY_ROWS(inner_rows)};

static const struct key rows[] = {
    {"version", KEY_OTHER, .needed = "version: 1", .schema = "\"const\": 1", .doc = "the version"},
    {"text", KEY_TEXT, offsetof(struct outer, text), .read = check_text, .doc = "a \"text\""},
    {"string", KEY_STRING, offsetof(struct outer, string), .fallback = "none", .doc = "a string"},
    {"on", KEY_SWITCH, offsetof(struct outer, on), .doc = "a switch"},
    {"count", KEY_U32, offsetof(struct outer, count), .least = 2, .most = 9, .doc = "a count"},
    {"large", KEY_U64, offsetof(struct outer, large), .most = UINT64_MAX, .doc = "a number"},
    {"wait", KEY_DURATION, offsetof(struct outer, wait_ns), .least = 1, .doc = "a time"},
    {"colour", KEY_WORD, offsetof(struct outer, colour), .words = colours, .doc = "a colour"},
    {"texts", KEY_TEXTS, offsetof(struct outer, texts), .most = 3, .doc = "texts"},
    {"pairs", KEY_PAIRS, offsetof(struct outer, pairs), .pair = refuse_secret, .doc = "pairs"},
    {"any", KEY_NODE, offsetof(struct outer, any), .inner = &inner_keys, .doc = "a map"},
    {"inner", KEY_MAP, offsetof(struct outer, inner), .inner = &inner_keys, .doc = "an inner"},
    {"numbers", KEY_LIST, .least = 1, .most = 3, .alone = true, .read = add_number,
     .doc = "numbers"},
    {"each", KEY_EACH, .least = 1, .pair = add_pair, .inner = &inner_keys, .doc = "things"},
    {"first", KEY_OTHER, .read = note_order, .schema = "\"type\": \"null\"", .doc = "read first"},
    {"last", KEY_OTHER, .read = note_order, .schema = "\"type\": \"null\"", .doc = "read last"},
};
static const struct keys table = {"an outer", "outer", KEY_ROWS(rows)};
static const struct keys open_table = {"an open one", "open", KEY_ROWS(inner_rows),
                                       .other = take_slashes, .others = "/path"};

static int load(const struct keys *keys, const char *text, struct outer *out, struct arena *a,
                struct err *e)
{
    const struct node *root;
    struct keys_reader r = {.e = e, .arena = a};
    *out = (struct outer){0};
    return yaml_parse(slice_of(text), a, &root, e) || keys_read(&r, keys, out, root) ? -1 : 0;
}

static void done(struct outer *o, struct arena *a)
{
    vec_deinit(&o->texts);
    vec_deinit(&o->pairs);
    arena_deinit(a);
}

static void test_values(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct outer o;
    (void)state;
    if (load(&table,
             "last:\nversion: 1\ntext: a b\nstring: 5\non: off\ncount: 9\n"
             "large: 18446744073709551615\nwait: 200ms\ncolour: true\ntexts: [a, 2]\n"
             "pairs: { A: x, B: 1 }\nany: { z: 1 }\ninner: { port: 80, fast: on }\n"
             "numbers: [1, 2]\neach: { a: , b-1: }\nfirst:\n",
             &o, &a, &e))
        fail_msg("%u:%u: %s", (unsigned)e.line, (unsigned)e.col, e.text);
    assert_true(slice_is(o.text, "a b"));
    assert_string_equal(o.string, "5");
    assert_false(o.on);
    assert_int_equal(o.count, 9);
    assert_true(o.large == UINT64_MAX);
    assert_int_equal(o.wait_ns, 200 * MS);
    assert_int_equal(o.colour, 2);
    assert_int_equal(o.texts.n, 2);
    assert_true(slice_is(o.texts.at[1], "2"));
    assert_int_equal(o.pairs.n, 2);
    assert_true(slice_is(o.pairs.at[1].name, "B") && slice_is(o.pairs.at[1].value, "1"));
    assert_non_null(node_get(o.any, SLICE("z")));
    assert_int_equal(o.inner.port, 80);
    assert_true(o.inner.fast);
    assert_int_equal(o.sum, 3);
    assert_int_equal(o.named, 2);
    assert_string_equal(o.order, "fl"); /* as in the table, not as in the file */
    done(&o, &a);
    assert_int_equal(load(&table, "version: 1\nnumbers: 7", &o, &a, &e), 0);
    assert_int_equal(o.sum, 7);
    done(&o, &a);
}

#define V "version: 1\n"

static void test_errors(void **state)
{
    static const struct {
        const char *text;
        uint32_t line, col;
        const char *says;
    } cases[] = {
        {"[]", 1, 1, "an outer must be a map with the keys version, text, string ..., not a list"},
        {"text: x", 1, 1, "\"version: 1\" is missing from an outer"},
        {V "txt: x", 2, 1, "unknown key \"txt\" in an outer; did you mean \"text\"?"},
        {V "inner: { zzzzzz: 1 }", 2, 10,
         "unknown key \"zzzzzz\" in an inner; it takes port and fast"},
        {V "qqqqqqqqqqqq: 1", 2, 1, "; it takes version, text, string, on, count, "},
        {V "text: [a]", 2, 7,
         "\"text\" must be a value, not a list: put text with [ or { in quotes"},
        {V "text:", 2, 6, "\"text\" must be a value, not nothing"},
        {V "text: ''", 2, 7, "\"text\" is empty; set it or leave it out"},
        {V "text: bad", 2, 7, "\"text\" is bad"},
        {V "string: {}", 2, 9, "\"string\" must be a value, not a map"},
        {V "on: maybe", 2, 5, "\"on\" must be true or false, not \"maybe\""},
        {V "on: []", 2, 5, "\"on\" must be true or false, not a list"},
        {V "count: 1", 2, 8, "\"count\" must be a whole number from 2 to 9, not \"1\""},
        {V "count: 10", 2, 8, "from 2 to 9"},
        {V "count: 2.0", 2, 8, "from 2 to 9"},
        {V "count: []", 2, 8, "from 2 to 9, not a list"},
        {V "large: 18446744073709551616", 2, 8, "a whole number from 0 to"},
        {V "wait: 5", 2, 7,
         "\"wait\" must be a duration such as 200ms, 2s or 1m (at most 1000h), not \"5\""},
        {V "wait: 0s", 2, 7, "\"wait\" must be a duration greater than 0"},
        {V "wait: 1001h", 2, 7, "(at most 1000h), not \"1001h\""},
        {V "colour: gren", 2, 9,
         "\"colour\" must be red, green or on, not \"gren\"; did you mean \"green\"?"},
        {V "colour: false", 2, 9, "not \"off\""},
        {V "texts: a", 2, 8, "\"texts\" must be a list, not text"},
        {V "texts: [a, '']", 2, 12, "is empty"},
        {V "texts: [a, b, c, d]", 2, 8, "\"texts\" has more than 3 entries"},
        {V "pairs: { a: 1, secret: 2 }", 2, 16, "no secrets"},
        {V "pairs: { a: [] }", 2, 13, "\"a\" must be a value, not a list"},
        {V "any: 1", 2, 6, "\"any\" must be a map, not a number"},
        {V "inner: []", 2, 8, "\"inner\" must be a map, not a list"},
        {V "inner: { port: 0 }", 2, 16, "from 1 to 65535"},
        {V "numbers: []", 2, 10, "\"numbers\" must have 1 to 3 entries"},
        {V "numbers: [1, x]", 2, 14, "\"numbers\" has numbers"},
        {V "each: {}", 2, 7, "\"each\" must have 1 to 1000 entries"},
        {V "each: { 'a b': }", 2, 9,
         "\"a b\" cannot be the name of a thing; use 1 to 100 letters, digits, \"-\" or \"_\""},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct arena a = {0};
        struct err e = {0};
        struct outer o;
        if (!load(&table, cases[i].text, &o, &a, &e))
            fail_msg("\"%s\" was taken", cases[i].text);
        if (!strstr(e.text, cases[i].says) || e.line != cases[i].line || e.col != cases[i].col)
            fail_msg("\"%s\": %u:%u: \"%s\", not \"%s\"", cases[i].text, (unsigned)e.line,
                     (unsigned)e.col, e.text, cases[i].says);
        done(&o, &a);
    }
}

/* A map with names of people's own beside its keys. */
static void test_other_keys(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct outer o;
    (void)state;
    assert_int_equal(load(&open_table, "{ /a: 1, /b: 2 }", &o, &a, &e), 0);
    assert_int_equal(o.others, 2);
    done(&o, &a);
    assert_int_equal(load(&open_table, "{ /a: 1, c: 2 }", &o, &a, &e), -1);
    assert_string_equal(e.text, "unknown key \"c\" in an open one; it takes port, fast and /path");
    done(&o, &a);
}

static void test_set(void **state)
{
    struct arena a = {0};
    struct outer o = {0};
    static const char *const good[][2] = {
        {"text", "x"},          {"on", "on"},      {"count", "3"},   {"numbers", "1"},
        {"inner", "port = 80"}, {"inner", "fast"}, {"numbers", "2"}, {"wait", "1s"},
    };
    static const char *const bad[][3] = {
        {"txt", "x", "did you mean \"text\"?"},
        {"inner", "port", "\"inner\" is set with NAME=VALUE, not \"port\""},
        {"inner", "prt=1", "unknown key \"prt\" in an inner; did you mean \"port\"?"},
        {"inner", "port=x", "from 1 to 65535, not \"x\""},
        {"text", "", "is empty"},
    };
    (void)state;
    for (size_t i = 0; i < LENGTH(good); i++) {
        struct err e = {0};
        struct keys_reader r = {.e = &e, .arena = &a};
        char text[20];
        strcpy(text, good[i][1]); /* nothing of it is kept */
        if (keys_set(&r, &table, &o, slice_of(good[i][0]), slice_of(text)))
            fail_msg("%s %s: %s", good[i][0], good[i][1], e.text);
    }
    assert_true(slice_is(o.text, "x") && o.on && o.count == 3 && o.sum == 3);
    assert_true(o.inner.port == 80 && o.inner.fast && o.wait_ns == 1000 * MS);
    for (size_t i = 0; i < LENGTH(bad); i++) {
        struct err e = {0};
        struct keys_reader r = {.e = &e, .arena = &a};
        assert_int_equal(keys_set(&r, &table, &o, slice_of(bad[i][0]), slice_of(bad[i][1])), -1);
        if (!strstr(e.text, bad[i][2]) || e.line)
            fail_msg("%s %s: %s", bad[i][0], bad[i][1], e.text);
    }
    done(&o, &a);
}

/* It is JSON, has every key, and each table once. */
static void test_schema(void **state)
{
    struct arena a = {0};
    struct err e = {0};
    struct buf text = BUF_INIT(1 << 16);
    const struct node *root;
    (void)state;
    keys_schema(&table, "a file", &text);
    if (yaml_parse(buf_slice(&text), &a, &root, &e))
        fail_msg("%u:%u: %s", (unsigned)e.line, (unsigned)e.col, e.text);
    const struct node *properties = node_get(root, SLICE("properties"));
    for (size_t i = 0; i < LENGTH(rows); i++)
        assert_non_null(node_get(properties, slice_of(rows[i].name)));
    static const char *const places[][2] = {
        {"required/0", "version"},
        {"properties/string/description", "a string (default: none)"},
        {"properties/count/anyOf/0/maximum", "9"},
        {"properties/wait/$ref", "#/$defs/duration"},
        {"properties/colour/anyOf/0/enum/1", "green"},
        {"properties/colour/anyOf/0/enum/3", "true"},
        {"properties/texts/maxItems", "3"},
        {"properties/texts/items/$ref", "#/$defs/text"},
        {"properties/inner/$ref", "#/$defs/inner"},
        {"properties/any/$ref", "#/$defs/inner"},
        {"properties/numbers/anyOf/1/minItems", "1"},
        {"properties/each/additionalProperties/$ref", "#/$defs/inner"},
        {"$defs/inner/properties/fast/$ref", "#/$defs/switch"},
    };
    for (size_t i = 0; i < LENGTH(places); i++) {
        slice rest = slice_of(places[i][0]), word;
        const struct node *at = root;
        while (at && slice_cut(&rest, '/', &word)) {
            uint64_t n = 0;
            bool item = at->type == NODE_LIST && slice_to_u64(word, at->n - 1, &n);
            at = item ? at->list[n] : node_get(at, word);
        }
        if (!at || !slice_is(at->text, places[i][1]))
            fail_msg("%s is not %s", places[i][0], places[i][1]);
    }
    buf_deinit(&text);
    arena_deinit(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),     cmocka_unit_test(test_errors),
        cmocka_unit_test(test_other_keys), cmocka_unit_test(test_set),
        cmocka_unit_test(test_schema),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
