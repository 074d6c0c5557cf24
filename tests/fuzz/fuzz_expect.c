// SPDX-License-Identifier: Apache-2.0
//
// What a service answers, judged. The input is a JSON pointer or a condition, a newline, and a
// body.
//
// 1. A verdict that does not pass has a sentence and a short, printable detail.
// 2. The same answer gives the same sentence, at the same address.
// 3. A condition that can be read either holds or has words for why it does not; one that cannot
// has
//    an error. It never holds together with its opposite.
// 4. Every member and every item of a JSON value is found by its pointer, and equals itself.

#include <stdint.h>
#include <string.h>

#include "data/json.h"
#include "data/node.h"
#include "findings/expect.h"
#include "fuzz/must.h"

enum { DEPTH_MAX = 50 };

static void check_words(const struct verdict *v)
{
    MUST(v->pass == (v->why[0] == 0));
    MUST(!v->pass || !v->detail);
    if (!v->detail)
        return;
    MUST(strlen(v->detail) <= EXPECT_DETAIL_MAX);
    for (const char *p = v->detail; *p; p++)
        MUST((unsigned char)*p >= ' ' && *p != 127);
}

static void judge(const struct expect_spec *spec, slice body, struct intern *keep)
{
    struct arena once = {0};
    struct verdict v[2];
    struct client_answer a = {.seen = OUTCOME_OK, .body = body};
    struct command_result r = {.started = true, .output = body, .exit_code = (int)(body.n % 3)};
    for (int i = 0; i < 2; i++) {
        expect_answer(spec, &a, keep, &once, &v[i]);
        check_words(&v[i]);
    }
    MUST(v[0].pass == v[1].pass && v[0].why[0] == v[1].why[0]);
    MUST(v[0].pass || v[0].why == v[1].why);
    expect_command(spec, &r, keep, &once, &v[0]);
    check_words(&v[0]);
    arena_deinit(&once);
}

// The first line as a condition: on the body, on all of it as JSON, on a header, as an alternative.
static void judge_condition(slice text, slice body, struct intern *keep)
{
    struct arena a = {0};
    struct err e = {0};
    struct condition c = {0};
    const struct node *value = NULL;
    bool right = condition_parse(text, &a, &c, &e) == 0;
    MUST(right == !e.text[0]);
    struct expect_where where[] = {
        {ABOUT_BODY, {0}, c}, {ABOUT_JSON, {"", 0}, c}, {ABOUT_HEADER, {"etag", 4}, c}};
    struct expect_spec any[2] = {{.where = {where, 2, 2}},
                                 {.status = {&(struct expect_status){false, 503, 503}, 1, 1}}};
    const struct expect_spec specs[] = {{.where = {where, 3, 3}}, {.any_of = {any, 2, 2}}};
    for (size_t i = 0; right && i < 2; i++)
        judge(&specs[i], body, keep);
    if (right && node_parse_json(&a, body, &value) == 0) {
        struct condition present, absent;
        MUST(condition_parse(SLICE("present"), &a, &present, &e) == 0);
        MUST(condition_parse(SLICE("absent"), &a, &absent, &e) == 0);
        MUST(condition_holds(&present, value) && !condition_holds(&absent, value));
        (void)condition_holds(&c, value);
    }
    if (right) {
        struct buf words = BUF_INIT(1 << 16);
        condition_refusal(&c, &words);
        MUST(words.n > 0);
        buf_deinit(&words);
    }
    arena_deinit(&a);
}

static void add_step(struct buf *pointer, slice key)
{
    buf_addc(pointer, '/');
    for (size_t i = 0; i < key.n; i++) {
        if (key.p[i] == '~')
            buf_adds(pointer, "~0");
        else if (key.p[i] == '/')
            buf_adds(pointer, "~1");
        else
            buf_addc(pointer, key.p[i]);
    }
}

// `at` is what `pointer` leads to from `root`.
static void check_below(const struct node *root, const struct node *at, struct buf *pointer,
                        int depth)
{
    MUST(pointer_at(root, buf_slice(pointer)) == at);
    if (depth == DEPTH_MAX || (at->type != NODE_LIST && at->type != NODE_MAP))
        return;
    size_t before = pointer->n;
    for (uint32_t i = 0; i < at->n; i++) {
        char digits[DIGITS_MOST];
        bool map = at->type == NODE_MAP;
        add_step(pointer, map ? at->map[i].key : slice_of_u64(i, digits));
        check_below(root, map ? at->map[i].value : at->list[i], pointer, depth + 1);
        pointer->n = before;
    }
}

// A scalar equals one that was made of its value alone.
static void check_scalar(const struct node *value)
{
    struct node node = {.type = value->type};
    if (value->type == NODE_STR)
        node.text = value->text;
    else if (value->type == NODE_NUM)
        node.num = value->num;
    else if (value->type == NODE_BOOL)
        node.boolean = value->boolean;
    else
        node.type = NODE_NULL;
    bool scalar = value->type != NODE_LIST && value->type != NODE_MAP;
    MUST(node_eq(value, &node) == scalar);
    MUST(node_eq(value, value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 1 << 12)
        return 0;
    slice rest = {(const char *)data, size}, pointer = {0};
    (void)slice_cut(&rest, '\n', &pointer);
    slice body = rest.p ? rest : (slice){"", 0};
    static const struct node wanted = {.type = NODE_STR, .text = {"x", 1}};
    struct expect_value value = {.pointer = pointer, .value = &wanted};
    struct text_pair pair = {pointer, body};
    const struct expect_spec specs[] = {
        {.json = {&value, 1, 1}},
        {.contains = pointer},
        {.has_body = true, .body = pointer},
        {.headers = {&pair, 1, 1}},
        {.status = {&(struct expect_status){true, 0, 1}, 1, 1}},
    };
    struct intern keep = {.text = {0}};
    for (size_t i = 0; i < sizeof specs / sizeof *specs; i++)
        judge(&specs[i], body, &keep);
    judge_condition(pointer, body, &keep);
    intern_deinit(&keep);
    struct arena a = {0};
    const struct node *doc = NULL;
    if (node_parse_json(&a, body, &doc) == 0) {
        struct buf path = BUF_INIT(1 << 20);
        check_below(doc, doc, &path, 0);
        check_scalar(doc);
        buf_deinit(&path);
    }
    arena_deinit(&a);
    return 0;
}
