/* SPDX-License-Identifier: Apache-2.0
 *
 * `suite`: scenarios that are tests of a runner. The file says how tests are listed and how one of
 * them is run; which there are is known when they were listed. Pure: who lists them is elsewhere
 * (live/listing.h).
 *
 * 1. A test is the text by which its runner knows it. No shell ever reads that text: {test} in
 *    commands becomes "$OUTFOX_TEST", and the test is the value of that variable.
 * 2. A scenario's name is made of its test, so that people recognise it: of the part that names it
 *    (behind the file or class), or, where several tests have that, of all of it, or with a hash of
 *    it. Names do not depend on what `only` and `skip` choose, nor on the order of the tests.
 * 3. All else of a test is that of `each`, shared. */
#include "base/clock.h"
#include "base/hash.h"
#include "base/index.h"
#include "config/config_int.h"
#include "config/suite.h"
#include "data/node.h"

/* ---- the keys ---- */

/* {test} becomes a variable of the shell. In quotes that would be other text, or would end them. */
static int put_variable(struct keys_reader *r, const char *key, const struct node *at, slice *text)
{
    static const slice mark = {"{test}", 6};
    struct buf out = BUF_INIT(1 << 20);
    char quote = 0;
    int status = 0;
    for (size_t i = 0; i < text->n && !status; i++) {
        char c = text->p[i];
        bool escaped = c == '\\' && quote != '\'' && i + 1 < text->n;
        if (c == quote)
            quote = 0;
        else if (!quote && (c == '\'' || c == '"'))
            quote = c;
        if (!slice_starts(slice_from(*text, i), mark) || (i && text->p[i - 1] == '$')) {
            buf_add(&out, (slice){text->p + i, escaped ? 2 : 1});
            i += escaped;
            continue;
        }
        buf_adds(&out, "\"$OUTFOX_TEST\"");
        i += mark.n - 1;
        if (quote)
            status = keys_fail(r, at,
                               "\"%s\": {test} is one word for the shell already: write it without "
                               "quotes round it, as in ^{test}$, or $OUTFOX_TEST in double quotes",
                               key);
    }
    *text = buf_keep(&out, r->arena);
    return status;
}

static bool names_test(slice text)
{
    static const slice variable = {"OUTFOX_TEST", 11};
    bool found = false;
    for (size_t i = 0; i < text.n && !found; i++)
        found = slice_starts(slice_from(text, i), variable);
    return found;
}

static int read_each(struct keys_reader *r, const struct key *key, void *into,
                     const struct node *value)
{
    static const char *const others[] = {"request", "contract"};
    struct conf_reader *c = r->ctx;
    struct suite_spec *suite = into;
    struct scenario_spec *s = &suite->each;
    if (keys_want(r, key->name, value, NODE_MAP))
        return -1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (node_get(value, slice_of(others[i])))
            return keys_fail(r, node_get(value, slice_of(others[i])),
                             "\"%s\" of a suite cannot have \"%s\": %s", key->name, others[i],
                             i ? "each test has its own, resilience/NAME.yaml"
                               : "its \"command\" runs a test");
    vec_push(&c->requests, NULL);
    int status = conf_scenario_read(r, s, value);
    c->requests.n--;
    if (status)
        return -1;
    struct {
        const char *key;
        slice *text;
    } commands[] = {{"command", &s->command}, {"before", &s->before}, {"after", &s->after}};
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        const struct node *at = node_get(value, slice_of(commands[i].key));
        if (at && put_variable(r, commands[i].key, at, commands[i].text))
            return -1;
    }
    return names_test(s->command)
               ? 0
               : keys_fail(r, node_get(value, SLICE("command")),
                           "\"command\" does not say which test to run: put {test} where its "
                           "runner takes the name of one");
}

static int read_junit(struct keys_reader *r, const struct key *key, void *into,
                      const struct node *value)
{
    return slice_is(value->text, "-") ? 0 : as_path(r, key, into, value);
}

/* clang-format off */
static const struct key suite_rows[] = {
    {"list", KEY_TEXT, offsetof(struct suite_spec, list), .read = as_command,
     .doc = "command that prints the tests, one in each line, run by /bin/sh with dir and env of each"},
    {"list-within", KEY_DURATION, offsetof(struct suite_spec, list_ns), .least = 1,
     .fallback = "2m", .doc = "time limit of list"},
    {"junit", KEY_TEXT, offsetof(struct suite_spec, junit), .read = read_junit,
     .doc = "take the tests from JUnit XML instead: files, as in target/surefire-reports/*.xml, or - for what list prints"},
    {"only", KEY_TEXTS, offsetof(struct suite_spec, only),
     .fallback = "all", .doc = "tests to take, with * for any text: tests/*::*"},
    {"skip", KEY_TEXTS, offsetof(struct suite_spec, skip),
     .fallback = "none", .doc = "tests to leave out, likewise"},
    {"each", KEY_OTHER, .read = read_each, .inner = &scenario_keys, .needed = "each",
     .schema = "\"$ref\": \"#/$defs/scenario\"",
     .doc = "the scenario that each test is: command with {test} in it, env, before ...; required"},
};
const struct keys suite_keys = {"suite", "suite", KEY_ROWS(suite_rows),
    .schema = "\"anyOf\": [{\"required\": [\"list\"]}, {\"required\": [\"junit\"]}]"};
/* clang-format on */

int conf_suite(struct keys_reader *r, const struct key *key, void *into, const struct node *value)
{
    struct campaign_config *c = into;
    struct suite_spec *s = &c->suite;
    if (keys_want(r, key->name, value, NODE_MAP))
        return -1;
    ((struct conf_reader *)r->ctx)->own = false;
    *s = (struct suite_spec){.given = true,
                             .list = SLICE(""),
                             .list_ns = SECONDS(120),
                             .junit = SLICE(""),
                             .line = value->line,
                             .col = value->col};
    s->each = conf_scenario_new(c, SLICE("each"), value->line, value->col);
    if (keys_read(r, &suite_keys, s, value))
        return -1;
    if (!s->list.n && (!s->junit.n || slice_is(s->junit, "-")))
        return keys_fail(r, value,
                         "\"%s\" needs \"list\", the command that prints the tests, or \"junit\", "
                         "reports in which they are",
                         key->name);
    return 0;
}

/* ---- tests ---- */

void suite_lines(slice out, struct texts *tests)
{
    slice line;
    while (tests->n < TESTS_MAX && slice_cut(&out, '\n', &line)) {
        line = slice_trim(line);
        if (line.n)
            vec_push(tests, line);
    }
}

static bool matches(const struct texts *patterns, slice test)
{
    bool found = false;
    for (uint32_t i = 0; i < patterns->n && !found; i++)
        found = slice_glob(patterns->at[i], test);
    return found;
}

/* ---- names ---- */

/* FILE::name, CLASS#name, FILE > GROUP > name: the last part; what stands in brackets is a
 * parameter, and no place to cut. "issue #3" has no such part. */
static slice last_part(slice test)
{
    size_t end = slice_find(test, '['), from = 0;
    for (size_t i = 1; i + 1 < end; i++) {
        char c = test.p[i], before = test.p[i - 1], next = test.p[i + 1];
        if (c == '#' && (is_letter(before) || is_digit(before)) && is_letter(next))
            from = i + 1;
        else if (i + 2 < end && ((c == ':' && next == ':') || (c == ' ' && next == '>')))
            from = i + 2;
    }
    return slice_from(test, from);
}

/* Letters, digits and _ as they are, one - for all else between them. */
static void add_clean(slice text, struct buf *out)
{
    bool gap = false;
    size_t start = out->n;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (!is_letter(c) && !is_digit(c) && c != '_') {
            gap = true;
            continue;
        }
        if (gap && out->n > start)
            buf_addc(out, '-');
        gap = false;
        buf_addc(out, c);
    }
}

/* How names are made, the most readable first. */
enum name_form { FORM_PART, FORM_WHOLE, FORM_HASH, FORMS };

static void name_print(slice test, enum name_form form, struct buf *out)
{
    enum { PART_MOST = NAME_BYTES_MAX - 20 }; /* a hash and a number go with it */
    buf_clear(out);
    add_clean(form == FORM_WHOLE ? test : last_part(test), out);
    if (form != FORM_HASH)
        return;
    if (!out->n)
        buf_adds(out, "test");
    if (out->n > PART_MOST)
        out->n = PART_MOST;
    buf_addf(out, "-%08x", (unsigned)hash_fold(hash_slice(test)));
}

struct naming {
    struct campaign_config *c;
    struct map counts[FORMS]; /* how many tests would have this name */
    struct intern taken;      /* names of scenarios */
    struct buf name;
};

static bool is_taken(struct naming *x, slice name)
{
    uint32_t n = x->taken.text.n;
    return intern_put(&x->taken, name) != n;
}

static slice name_of(struct naming *x, slice test)
{
    for (enum name_form form = 0; form < FORMS; form++) {
        name_print(test, form, &x->name);
        slice name = buf_slice(&x->name);
        const uint32_t *n = map_get(&x->counts[form], hash_slice(name));
        bool alone = form == FORM_HASH || (n && *n == 1 && name_valid(name, false));
        if (alone && !is_taken(x, name))
            return slice_copy(&x->c->arena, name);
    }
    size_t n = x->name.n; /* another has the same hash, or was named so in the file */
    for (unsigned k = 2; is_taken(x, buf_slice(&x->name)); k++) {
        x->name.n = n;
        buf_addf(&x->name, "-%u", k);
    }
    return slice_copy(&x->c->arena, buf_slice(&x->name));
}

/* ---- scenarios ---- */

static void add_scenario(struct campaign_config *c, slice name, slice test)
{
    struct scenario_spec s = c->suite.each;
    s.name = name;
    s.test = slice_copy(&c->arena, test);
    s.line = c->suite.line;
    s.col = c->suite.col;
    vec_push(&c->scenarios, s);
}

static int test_check(const struct campaign_config *c, slice test, struct err *e)
{
    if (test.n > TEST_BYTES_MAX)
        return err_set(e, c->suite.line, c->suite.col,
                       "the test \"%.*s...\" has %zu bytes, more than %d: leave it out with "
                       "\"skip\"",
                       SHORT(test), test.n, TEST_BYTES_MAX);
    if (slice_find(test, 0) < test.n)
        return err_set(e, c->suite.line, c->suite.col,
                       "the test \"%.*s\" has a NUL byte in its name: leave it out with \"skip\"",
                       SHORT(test));
    return 0;
}

/* Each test once; the names that they would have are counted. */
static void count_names(struct naming *x, const struct texts *tests, struct texts *once)
{
    struct intern seen = {0};
    for (uint32_t i = 0; i < tests->n; i++) {
        uint32_t n = seen.text.n;
        if (tests->at[i].n > TEST_BYTES_MAX || intern_put(&seen, tests->at[i]) == n) {
            vec_push(once, tests->at[i]);
            for (enum name_form form = 0; form < FORM_HASH; form++) {
                name_print(tests->at[i], form, &x->name);
                map_count(&x->counts[form], hash_slice(buf_slice(&x->name)));
            }
        }
    }
    intern_deinit(&seen);
}

static int add_all(struct naming *x, const struct texts *once, struct err *e)
{
    struct campaign_config *c = x->c;
    uint32_t added = 0;
    for (uint32_t i = 0; i < once->n; i++) {
        slice test = once->at[i], name = name_of(x, test);
        if ((c->suite.only.n && !matches(&c->suite.only, test)) || matches(&c->suite.skip, test))
            continue;
        if (test_check(c, test, e))
            return -1;
        if (c->scenarios.n >= SCENARIOS_MAX)
            return err_set(e, c->suite.line, c->suite.col,
                           "the suite has more than %d tests: choose some with \"only\" and "
                           "\"skip\"",
                           SCENARIOS_MAX);
        add_scenario(c, name, test);
        added++;
    }
    if (added)
        return 0;
    return once->n
               ? err_set(e, c->suite.line, c->suite.col,
                         "none of the %u %s that are listed is chosen by \"only\" and \"skip\"; "
                         "the first is \"%.*s\"",
                         (unsigned)once->n, plural(once->n, "test", "tests"), SHORT(once->at[0]))
               : err_set(e, c->suite.line, c->suite.col, "no test is listed");
}

int suite_add(struct campaign_config *c, const struct texts *tests, struct err *e)
{
    struct naming x = {.c = c, .name = BUF_INIT(1 << 20)};
    struct texts once = {0};
    for (uint32_t i = 0; i < c->scenarios.n; i++)
        (void)is_taken(&x, c->scenarios.at[i].name);
    count_names(&x, tests, &once);
    int status = add_all(&x, &once, e);
    for (enum name_form form = 0; form < FORMS; form++)
        map_deinit(&x.counts[form]);
    intern_deinit(&x.taken);
    buf_deinit(&x.name);
    vec_deinit(&once);
    return status;
}

int suite_add_named(struct campaign_config *c, slice name, slice test)
{
    struct err ignored = {0};
    if (!test.n || !name_valid(name, false) || test_check(c, test, &ignored) ||
        c->scenarios.n >= SCENARIOS_MAX || config_scenario(c, name) != UINT32_MAX)
        return -1;
    add_scenario(c, slice_copy(&c->arena, name), test);
    return 0;
}
