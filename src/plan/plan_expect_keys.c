/* SPDX-License-Identifier: Apache-2.0
 *
 * The keys of expectations: each says one thing. */
#include "base/clock.h"
#include "plan/plan_int.h"

static int read_percentile(struct keys_reader *r, const struct key *key, void *into,
                           const struct node *value)
{
    return keys_number(r, key->name, value, 0, 100, key_field(key, into));
}

/* What a kind's own key holds. */
enum value_kind {
    VALUE_PERCENT,
    VALUE_COUNT,
    VALUE_FACTOR,
    VALUE_DURATION,
    VALUE_PATTERN,
    VALUE_TRUE,
    VALUE_COMMAND,
    VALUE_METRIC
};

static const struct {
    const char *key;
    enum plan_expect_kind kind;
    enum value_kind value;
} expect_kinds[] = {
    {"availability", EXPECT_AVAILABILITY, VALUE_PERCENT},
    {"lost", EXPECT_LOST, VALUE_COUNT},
    {"gap", EXPECT_GAP, VALUE_DURATION},
    {"recovery", EXPECT_RECOVERY, VALUE_DURATION},
    {"latency", EXPECT_LATENCY, VALUE_DURATION},
    {"slowdown", EXPECT_SLOWDOWN, VALUE_FACTOR},
    {"new-lines", EXPECT_NEW_LINES, VALUE_PATTERN},
    {"alive", EXPECT_ALIVE, VALUE_TRUE},
    {"command", EXPECT_COMMAND, VALUE_COMMAND},
    {"metric", EXPECT_METRIC, VALUE_METRIC},
};

static const struct {
    const char *key;
    enum plan_bound bound;
    bool factor; /* the number is one, above 0 */
} bounds[] = {
    {"most", BOUND_MOST, false},    {"least", BOUND_LEAST, false}, {"equals", BOUND_EQUALS, false},
    {"growth", BOUND_GROWTH, true}, {"ratio", BOUND_RATIO, true},
};

/* What holds of a metric: one of them. */
static int read_bound(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    struct plan_expect *x = into;
    size_t i = 0;
    while (strcmp(bounds[i].key, key->name) != 0)
        i++;
    if (x->bound)
        return keys_fail(
            r, value,
            "an expectation of a metric has one of most, least, equals, growth and ratio");
    x->bound = bounds[i].bound;
    return bounds[i].factor ? keys_number(r, key->name, value, 1e-6, 1e6, &x->number)
                            : plan_read_value(r, key->name, value, &x->number);
}

/* The key that says what is expected: the only one of its kind in the map. */
static int read_expected(struct keys_reader *r, const struct key *key, void *into,
                         const struct node *value)
{
    struct plan_expect *x = into;
    size_t i = 0;
    while (strcmp(expect_kinds[i].key, key->name) != 0)
        i++;
    if (x->name.n)
        return keys_fail(r, value, "an expectation says one thing: \"%.*s\" and \"%s\" are two",
                         SHORT(x->name), key->name);
    x->kind = expect_kinds[i].kind;
    x->name = slice_of(expect_kinds[i].key);
    switch (expect_kinds[i].value) {
    case VALUE_PERCENT: return keys_number(r, key->name, value, 0, 100, &x->number);
    case VALUE_COUNT: return keys_number(r, key->name, value, 0, 1e9, &x->number);
    case VALUE_FACTOR: return keys_number(r, key->name, value, 1, 1e6, &x->number);
    case VALUE_DURATION: return keys_duration(r, key, value, &x->most_ns);
    case VALUE_PATTERN: return keys_regex(r, key->name, value, &x->pattern, &x->regex);
    case VALUE_TRUE:
        return value->type == NODE_BOOL && value->boolean
                   ? 0
                   : keys_fail(r, value, "\"%s\" can only be true", key->name);
    case VALUE_COMMAND: x->command = value->text; return keys_want_scalar(r, key->name, value);
    case VALUE_METRIC:
        x->metric = value->text;
        x->name = slice_of(arena_printf(r->arena, "metric %.*s", SLICE_ARG(x->metric)));
        return keys_want_scalar(r, key->name, value);
    }
    return 0;
}

#define EXPECTED(key, schema_, doc_)                                                               \
    {                                                                                              \
        (key), KEY_OTHER, .most = UINT64_C(1000) * 3600 * 1000000000, .read = read_expected,       \
                          .schema = (schema_), .doc = (doc_)                                       \
    }

/* clang-format off */
static const struct key expect_rows[] = {
    EXPECTED("availability", AS_NUMBER, "percent of the operations that succeed, at least"),
    EXPECTED("lost", AS_NUMBER, "operations that fail, at most"),
    EXPECTED("gap", AS_TEXT, "longest time without a success, at most"),
    EXPECTED("recovery", AS_TEXT, "time from the end of the last fault to the first success, at most"),
    EXPECTED("latency", AS_TEXT, "a percentile of the time that operations take, at most"),
    EXPECTED("slowdown", AS_NUMBER, "the same as a multiple of the reference, at most; with a confidence of 95 %"),
    EXPECTED("new-lines", AS_TEXT, "regular expression: no line with it that no reference run has printed"),
    EXPECTED("alive", "\"const\": true", "no node ends by itself"),
    EXPECTED("command", AS_TEXT, "run when all is over and the system has settled: it succeeds"),
    EXPECTED("metric", AS_TEXT, "what is measured is as most, least, equals, growth or ratio says; without a sample it does not hold"),
    {"most", KEY_OTHER, .read = read_bound, .schema = AS_VALUE, .doc = "of metric: each sample, at most; 64M is 64 MiB"},
    {"least", KEY_OTHER, .read = read_bound, .schema = AS_VALUE, .doc = "of metric: each sample, at least"},
    {"equals", KEY_OTHER, .read = read_bound, .schema = AS_VALUE, .doc = "of metric: each sample is this"},
    {"growth", KEY_OTHER, .read = read_bound, .schema = AS_NUMBER,
     .doc = "of metric: at the end of the run so many times what it was at the beginning, at most"},
    {"ratio", KEY_OTHER, .read = read_bound, .schema = AS_NUMBER,
     .doc = "of metric: a percentile of the samples as a multiple of the reference, at most; with a confidence of 95 %"},
    {"name", KEY_TEXT, offsetof(struct plan_expect, called),
     .fallback = "what it expects", .doc = "what it is called in reports"},
    {"percentile", KEY_OTHER, offsetof(struct plan_expect, percentile), .read = read_percentile, .schema = AS_NUMBER,
     .fallback = "99; of ratio, 50", .doc = "of latency, slowdown and ratio"},
    {"within", KEY_DURATION, offsetof(struct plan_expect, within_ns), .least = 1,
     .fallback = "30s", .doc = "time limit of command"},
    {"of", KEY_TEXT, offsetof(struct plan_expect, of),
     .fallback = "all", .doc = "only operations of this client; of metric: only whose samples they are"},
};
const struct keys plan_expect_keys = {"an expectation", "expect", KEY_ROWS(expect_rows)};
/* clang-format on */

int plan_read_expect(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    struct plan *p = into;
    struct plan_expect x = {.at = plan_place_of(value),
                            .percentile = -1,
                            .within_ns = SECONDS(30),
                            .client = PLAN_NONE};
    if (keys_want(r, key->name, value, NODE_MAP) || keys_read(r, &plan_expect_keys, &x, value))
        return -1;
    if (!x.name.n)
        return keys_fail(r, value,
                         "an expectation needs one of availability, lost, gap, recovery, "
                         "latency, slowdown, new-lines, alive, command and metric");
    if (!x.bound != (x.kind != EXPECT_METRIC))
        return keys_fail(
            r, value,
            x.bound ? "\"%.*s\" has no bound of a metric: most, least, equals, growth and ratio "
                      "belong to metric"
                    : "\"%.*s\" needs one of most, least, equals, growth and ratio",
            SHORT(x.name));
    if (x.percentile < 0)
        x.percentile = x.kind == EXPECT_METRIC ? 50 : 99;
    vec_push(&p->expects, x);
    return 0;
}

slice plan_expect_called(const struct plan_expect *x)
{
    return x->called.n ? x->called : x->name;
}
