// SPDX-License-Identifier: Apache-2.0
//
// What people say about their system for the oracles: the input as one side effect with its count,
// each of its lines as NAME=severity, and all of it as the map of the key `judge`.
//
// 1. What is refused is refused with a sentence.
// 2. A rule that is accepted prints as a text that reads back as the same rule, and prints the same
// again. Its bounds are in order.
// 3. Whatever was said of calls, a call has one kind of effect; one among `reads` reads.

#include <stdint.h>

#include "data/yaml.h"
#include "fuzz/must.h"
#include "support/effect_text.h"

enum { BYTES_MAX = 16 << 10 };

static void check_rule(const struct effect_rule *r)
{
    MUST(r->low <= r->high && r->else_low <= r->else_high);
    MUST(r->counted || (r->low == 0 && r->high == UINT32_MAX));
    for (int other = 0; other < 2; other++) {
        outcome status = other ? OUTCOME(OUT_STATUS, 599) : OUTCOME_OK;
        MUST(effect_rule_bounds(r, status).low <= effect_rule_bounds(r, status).high);
    }
}

static void read_rule(struct names *names, slice text)
{
    struct effect_rule rule, back;
    struct err e = {0};
    struct buf printed = BUF_INIT(1 << 16), again = BUF_INIT(1 << 16);
    if (effect_rule_parse(ANY_VOCABULARY(names), text, &rule, &e)) {
        MUST(e.text[0]);
        return;
    }
    check_rule(&rule);
    effect_rule_print(&rule, &printed);
    MUST(effect_rule_parse(ANY_VOCABULARY(names), buf_slice(&printed), &back, &e) == 0);
    effect_rule_print(&back, &again);
    MUST(slice_eq(buf_slice(&printed), buf_slice(&again)));
    MUST(rule.counted == back.counted && rule.when == back.when && rule.low == back.low &&
         rule.high == back.high && rule.else_low == back.else_low &&
         rule.else_high == back.else_high && rule.calls.steps.n == back.calls.steps.n);
    effect_rule_deinit(&rule);
    effect_rule_deinit(&back);
    buf_deinit(&printed);
    buf_deinit(&again);
}

static void read_set(struct judge_settings *s, slice text)
{
    struct err e = {0};
    MUST((judge_settings_set(s, text, &e) == 0) == !e.text[0]);
    for (uint32_t i = 0; i < ORACLES; i++)
        MUST(s->severity[i] < SEVERITIES);
}

static void check_settings(const struct judge_settings *s, struct names *names)
{
    static const char *const calls[] = {"a GET /x", "a GET / > b POST /y", "c p.S/GetOrCreate"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct err e = {0};
        uid u = UID_NONE;
        MUST(uid_parse(names, slice_of(calls[i]), &u, &e) == 0);
        enum effect effect = effect_of(s, names, u);
        for (uint32_t k = 0; k < s->reads.n; k++)
            MUST(effect == EFFECT_READ || !pattern_matches(&s->reads.at[k], names, u));
    }
    for (uint32_t i = 0; i < s->effects.n; i++)
        check_rule(&s->effects.at[i]);
    MUST(s->limit_ns >= 0);
}

static void read_map(struct names *names, slice text)
{
    struct arena arena = {0};
    struct judge_settings settings;
    struct err e = {0};
    const struct node *root = NULL;
    judge_settings_init(&settings);
    if (yaml_parse(text, &arena, &root, &e) == 0) {
        MUST((judge_settings_load(root, ANY_VOCABULARY(names), &settings, &e) == 0) == !e.text[0]);
        check_settings(&settings, names);
    }
    judge_settings_deinit(&settings);
    arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > BYTES_MAX)
        return 0;
    slice text = {(const char *)data, size}, rest = text, line;
    struct judge_settings settings;
    struct names names;
    names_init(&names);
    judge_settings_init(&settings);
    read_rule(&names, text);
    while (slice_cut(&rest, '\n', &line)) {
        read_rule(&names, line);
        read_set(&settings, line);
    }
    read_map(&names, text);
    judge_settings_deinit(&settings);
    names_deinit(&names);
    return 0;
}
