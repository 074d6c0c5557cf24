// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as what a test runner prints: the first byte says whether lines or JUnit XML.
//
// 1. A list that is refused is refused with a sentence.
// 2. Every scenario that is made of one has a name that is valid and differs from all others, and a
//    test that can be the value of a variable.

#include <stdint.h>

#include "config/suite.h"
#include "data/junit.h"
#include "fuzz/must.h"

enum { BYTES_MAX = 64 << 10, COMPARED_MAX = 200 };

static void check(const struct campaign_config *c)
{
    for (uint32_t i = 0; i < c->scenarios.n; i++) {
        const struct scenario_spec *s = &c->scenarios.at[i];
        MUST(name_valid(s->name, false) && s->is_command);
        MUST(s->test.n && s->test.n <= TEST_BYTES_MAX && strlen(s->test.p) == s->test.n);
        for (uint32_t k = 0; k < i && k < COMPARED_MAX; k++) {
            MUST(!slice_eq(c->scenarios.at[k].name, s->name));
            MUST(!slice_eq(c->scenarios.at[k].test, s->test));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char file[] = "version: 1\nservices: { a: { run: x } }\n"
                               "suite: { list: l, skip: ['no*'], each: { command: 'r {test}' } }\n";
    if (size == 0 || size > BYTES_MAX)
        return 0;
    struct campaign_config *c;
    struct err e = {0};
    struct arena a = {0};
    struct texts tests = {0};
    slice text = {(const char *)data + 1, size - 1};
    MUST(campaign_config_parse(slice_of(file), "f.yaml", &c, &e) == 0);
    int status = 0;
    if (data[0] % 2)
        suite_lines(text, &tests);
    else
        status = junit_read(text, TESTS_MAX, &a, &tests, &e);
    if (!status)
        status = suite_add(c, &tests, &e);
    MUST((status == 0) == !e.text[0]);
    check(c);
    vec_deinit(&tests);
    arena_deinit(&a);
    campaign_config_free(c);
    return 0;
}
